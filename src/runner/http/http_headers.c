/* http_headers.c - see http_headers.h. */
#include "http_headers.h"

#include <curl/curl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { VALUE_MAX = 127, DIGITS_READ = 12 /* of seconds: 31,000 years */ };

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* A whole number, and with `thousandths` behind a point also parts of it, rounded up. -1: it is none. */
static int64_t number_read(const char *text, bool thousandths) {
    int64_t  value = 0;
    unsigned digits = 0, scale = thousandths ? 1000 : 1;
    bool     more = false;

    for (; is_digit(*text) && digits <= DIGITS_READ; text++, digits++)
        value = value * 10 + (*text - '0');
    if (digits == 0 || digits > DIGITS_READ) return -1;
    value *= scale;
    if (thousandths && *text == '.')
        for (text++; is_digit(*text); text++) {
            scale /= 10;
            value += scale * (unsigned)(*text - '0');
            more = more || (scale == 0 && *text != '0');
        }
    return *text ? -1 : value + more;
}

static int64_t retry_after_read(const char *text, int64_t now_ms) {
    const int64_t ms = number_read(text, /* thousandths= */ true);

    if (ms >= 0 || is_digit(*text)) return ms;
    const int64_t at_s = curl_getdate(text, NULL);
    if (at_s < 0) return -1;
    return at_s * 1000 > now_ms ? at_s * 1000 - now_ms : 0;
}

/* What follows the name and the colon, without blanks around it; NULL: it is another header, or the value is too long. */
static const char *value_of(const char *name, const char *line, size_t len,
                            char value[VALUE_MAX + 1]) {
    const size_t name_len = strlen(name);

    if (len <= name_len || line[name_len] != ':' || strncasecmp(line, name, name_len) != 0)
        return NULL;
    line += name_len + 1;
    len -= name_len + 1;
    while (len > 0 && strchr(" \t\r\n", line[len - 1])) len--;
    while (len > 0 && strchr(" \t", *line)) line++, len--;
    if (len > VALUE_MAX || memchr(line, '\0', len)) return NULL;
    memcpy(value, line, len);
    value[len] = '\0';
    return value;
}

static void forget(dn_run_answer *a) {
    a->retry_after_ms = a->rate_limit_remaining = a->rate_limit_reset_ms = -1;
    a->rate_limit_bucket[0] = '\0';
    a->rate_limit_global = false;
}

void http_header_read(dn_run_answer *a, const char *line, size_t len, int64_t now_ms) {
    char        text[VALUE_MAX + 1];
    const char *value;

    if (len > 5 && memcmp(line, "HTTP/", 5) == 0) forget(a);
    else if (len < 2 || !strchr("RrXx", *line)) return; /* most are none of these */
    else if ((value = value_of("Retry-After", line, len, text)))
        a->retry_after_ms = retry_after_read(value, now_ms);
    else if ((value = value_of("X-RateLimit-Remaining", line, len, text)))
        a->rate_limit_remaining = number_read(value, /* thousandths= */ false);
    else if ((value = value_of("X-RateLimit-Reset-After", line, len, text)))
        a->rate_limit_reset_ms = number_read(value, /* thousandths= */ true);
    else if ((value = value_of("X-RateLimit-Bucket", line, len, text)))
        (void)snprintf(a->rate_limit_bucket, sizeof a->rate_limit_bucket, "%s", value);
    else if ((value = value_of("X-RateLimit-Global", line, len, text)))
        a->rate_limit_global = strcasecmp(value, "true") == 0;
}

bool http_type_is_json(const char *content_type) {
    const size_t len = content_type ? strcspn(content_type, "; \t") : 0;

    if (len == strlen("application/json") &&
        strncasecmp(content_type, "application/json", len) == 0)
        return true;
    return len > 5 && strncasecmp(content_type + len - 5, "+json", 5) == 0;
}
