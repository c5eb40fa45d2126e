/* http_uri.c - see http_uri.h. */
#include "http_uri.h"

#include <string.h>

static int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    return (c | 0x20) - 'a' + 10;
}

int http_uri_decode(http_text text, bool in_query, char *out, size_t max, size_t *out_len) {
    size_t len = 0;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if (len == max) return DN_EINVAL;
        if (c == '+' && in_query) c = ' ';
        if (c == '%') {
            c = (char)(digit_of(text.at[i + 1]) * 16 + digit_of(text.at[i + 2]));
            i += 2;
        }
        out[len++] = c;
    }
    *out_len = len;
    return DN_OK;
}

bool http_query_next(http_text *rest, http_text *out_name, http_text *out_value) {
    while (rest->len > 0) {
        const char *const end = rest->at + rest->len;
        const char       *mark = memchr(rest->at, '&', rest->len);
        const char *const stop = mark ? mark : end;
        const http_text   pair = {rest->at, (size_t)(stop - rest->at)};

        *rest = mark ? (http_text){mark + 1, (size_t)(end - mark - 1)} : (http_text){end, 0};
        if (pair.len == 0) continue;
        const char *equals = memchr(pair.at, '=', pair.len);
        *out_name = (http_text){pair.at, equals ? (size_t)(equals - pair.at) : pair.len};
        *out_value = (http_text){0};
        if (equals) *out_value = (http_text){equals + 1, (size_t)(stop - equals - 1)};
        return true;
    }
    return false;
}
