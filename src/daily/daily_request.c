/* daily_request.c - see daily_request.h. Seven fields in a fixed order, written and read by hand, because every attempt
 * writes them and every simulated attempt reads them. */
#include "daily_request.h"

#include "base/digits.h"

#include <assert.h>
#include <string.h>

/* With every byte of the id escaped as \u00XX. */
enum { BODY_MAX = 256 + 6 * DN_ID_MAX };

static const char hex_lower[] = "0123456789abcdef";
static const char hex_upper[] = "0123456789ABCDEF";

#define PUT(at, literal)                                                                           \
    ((void)memcpy(at, literal, sizeof(literal) - 1), (at) + sizeof(literal) - 1)

static bool request_is_sound(const dn_daily_request *r) {
    return r->id_len > 0 && r->id_len <= DN_ID_MAX && r->due < DN_DAY_MINUTES;
}

/* The day that was written or read last: nearly all requests of a minute are for one day. */
static _Thread_local struct {
    dn_day day;
    char   text[DN_DAY_TEXT];
} last = {.day = DN_DAY_NONE};

/* ---- Writing ---- */

/* Escapes what JSON demands, and nothing more: an id is UTF-8 already. */
static char *put_text(char *at, const char *text, size_t len) {
    for (size_t i = 0; i < len; i++) {
        const unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\') {
            *at++ = '\\';
            *at++ = (char)c;
        } else if (c < 0x20 || c == 0x7f) {
            at = PUT(at, "\\u00");
            *at++ = hex_lower[c >> 4];
            *at++ = hex_lower[c & 15];
        } else {
            *at++ = (char)c;
        }
    }
    return at;
}

/* With its end. */
static char *put_day(char *at, dn_day day) {
    if (day != last.day) {
        dn_day_write(day, last.text);
        last.day = day;
    }
    memcpy(at, last.text, DN_DAY_TEXT);
    return at + DN_DAY_TEXT - 1;
}

static char *put_due(char *at, uint32_t due) {
    at = dn_digits_pair(at, due / 60);
    *at++ = ':';
    return dn_digits_pair(at, due % 60);
}

/* As dn_instant_write. */
static char *put_instant(char *at, int64_t ms) {
    const dn_day   day = dn_day_of_ms(ms);
    const uint32_t of_day = (uint32_t)(ms - dn_day_start_ms(day));
    const uint32_t second = of_day / 1000;

    at = put_day(at, day);
    *at++ = 'T';
    at = put_due(at, second / 60);
    *at++ = ':';
    at = dn_digits_pair(at, second % 60);
    *at++ = '.';
    *at++ = (char)('0' + of_day % 1000 / 100);
    at = dn_digits_pair(at, of_day % 100);
    *at++ = 'Z';
    return at;
}

static size_t body_write(const dn_daily_request *r, char body[BODY_MAX]) {
    char *at = body;

    at = r->type == DN_REQUEST_CUTOFF ? PUT(at, "{\"type\":\"daily.cutoff\",\"user_id\":\"")
                                      : PUT(at, "{\"type\":\"daily.run\",\"user_id\":\"");
    at = put_text(at, r->id, r->id_len);
    at = PUT(at, "\",\"day\":\"");
    at = put_day(at, r->day);
    at = PUT(at, "\",\"due\":\"");
    at = put_due(at, r->due);
    at = PUT(at, "\",\"attempt\":");
    at = dn_digits_write(at, r->attempt);
    at = PUT(at, ",\"context_epoch\":");
    at = dn_digits_write(at, r->context_epoch);
    at = PUT(at, ",\"deadline\":\"");
    at = put_instant(at, r->deadline_ms);
    at = PUT(at, "\"}");
    return (size_t)(at - body);
}

dn_blob *dn_daily_request_new(const dn_daily_request *r) {
    char body[BODY_MAX];

    assert(request_is_sound(r));
    const size_t len = body_write(r, body);
    assert(len <= sizeof body);
    return dn_blob_of(body, len);
}

size_t dn_daily_request_key(const dn_daily_request *r, char key[DN_DAILY_KEY_MAX]) {
    char *at = r->type == DN_REQUEST_CUTOFF ? PUT(key, "cutoff:") : PUT(key, "daily:");

    assert(request_is_sound(r));
    for (size_t i = 0; i < r->id_len; i++) {
        const unsigned char c = (unsigned char)r->id[i];
        if (c > 0x20 && c < 0x7f && c != '%') {
            *at++ = (char)c;
        } else {
            *at++ = '%';
            *at++ = hex_upper[c >> 4];
            *at++ = hex_upper[c & 15];
        }
    }
    *at++ = ':';
    at = put_day(at, r->day);
    assert(at < key + DN_DAILY_KEY_MAX);
    return (size_t)(at - key);
}

/* ---- Reading ---- */

/* What is left of a body. */
typedef struct reader {
    const char *at, *end;
} reader;

static inline bool skip(reader *r, const char *literal, size_t len) {
    if ((size_t)(r->end - r->at) < len || memcmp(r->at, literal, len) != 0) return false;
    r->at += len;
    return true;
}
#define SKIP(r, literal) skip(r, literal, sizeof(literal) - 1)

static int hex_value(char c) {
    const char *digit = c ? strchr(hex_lower, c) : NULL;

    return digit ? (int)(digit - hex_lower) : -1;
}

/* One character behind a backslash, or -1. */
static int escaped_read(reader *r) {
    if (SKIP(r, "\"")) return '"';
    if (SKIP(r, "\\")) return '\\';
    if (!SKIP(r, "u00") || r->end - r->at < 2) return -1;
    const int high = hex_value(r->at[0]), low = hex_value(r->at[1]);
    if (high < 0 || low < 0) return -1;
    r->at += 2;
    return high << 4 | low;
}

/* Up to the quote that ends it, which is read too. */
static bool id_read(reader *r, char id[DN_ID_MAX], size_t *out_len) {
    size_t len = 0;

    for (; r->at < r->end && *r->at != '"'; len++) {
        int c = (unsigned char)*r->at++;
        if (c == '\\') c = escaped_read(r);
        if (c < 0 || len == DN_ID_MAX) return false;
        id[len] = (char)c;
    }
    *out_len = len;
    return len > 0 && SKIP(r, "\"");
}

static bool number_read(reader *r, uint32_t *out_value) {
    const char *begin = r->at;
    uint64_t    value = 0;

    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9' && value <= UINT32_MAX; r->at++)
        value = value * 10 + (uint64_t)(*r->at - '0');
    *out_value = (uint32_t)value;
    return r->at > begin && value <= UINT32_MAX;
}

static bool day_read(reader *r, dn_day *out_day) {
    if (r->end - r->at < DN_DAY_TEXT - 1) return false;
    if (last.day == DN_DAY_NONE || memcmp(r->at, last.text, DN_DAY_TEXT - 1) != 0) {
        if (dn_day_read(r->at, DN_DAY_TEXT - 1, &last.day) < 0) return false;
        memcpy(last.text, r->at, DN_DAY_TEXT - 1);
    }
    *out_day = last.day;
    r->at += DN_DAY_TEXT - 1;
    return true;
}

static bool due_read(reader *r, uint32_t *out_due) {
    if (r->end - r->at < DN_DUE_TEXT - 1) return false;
    if (dn_due_read(r->at, DN_DUE_TEXT - 1, out_due) < 0) return false;
    r->at += DN_DUE_TEXT - 1;
    return true;
}

static bool type_read(reader *r, dn_daily_request_type *out_type) {
    if (!SKIP(r, "{\"type\":\"daily.")) return false;
    *out_type = SKIP(r, "cutoff\"") ? DN_REQUEST_CUTOFF : DN_REQUEST_RUN;
    return *out_type == DN_REQUEST_CUTOFF || SKIP(r, "run\"");
}

int dn_daily_request_read(const char *bytes, size_t len, char id[DN_ID_MAX],
                          dn_daily_request *out_request) {
    reader           r = {bytes, bytes + len};
    dn_daily_request q = {.id = id};

    if (!type_read(&r, &q.type)) return DN_EINVAL;
    if (!SKIP(&r, ",\"user_id\":\"") || !id_read(&r, id, &q.id_len)) return DN_EINVAL;
    if (!SKIP(&r, ",\"day\":\"") || !day_read(&r, &q.day)) return DN_EINVAL;
    if (!SKIP(&r, "\",\"due\":\"") || !due_read(&r, &q.due)) return DN_EINVAL;
    if (!SKIP(&r, "\",\"attempt\":") || !number_read(&r, &q.attempt)) return DN_EINVAL;
    if (!SKIP(&r, ",\"context_epoch\":") || !number_read(&r, &q.context_epoch)) return DN_EINVAL;
    if (!SKIP(&r, ",\"deadline\":\"") || r.end - r.at != DN_INSTANT_TEXT - 1 + 2) return DN_EINVAL;
    assert(request_is_sound(&q));
    *out_request = q;
    return DN_OK;
}
