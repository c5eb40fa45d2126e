/* text_out.c - see text_out.h. */
#include "text_out.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

char *text_out_number(char *at, int64_t value) {
    char     digits[20];
    size_t   len = 0;
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

    if (value < 0) *at++ = '-';
    do digits[len++] = (char)('0' + left % 10);
    while ((left /= 10) > 0);
    while (len > 0) *at++ = digits[--len];
    return at;
}

char *text_out_real(char *at, double value) {
    if (!isfinite(value)) return text_out_words(at, "null");
    for (int digits = 1; digits <= 17; digits++) {
        const int len = sprintf(at, "%.*g", digits, value);
        if (digits == 17 || strtod(at, NULL) == value) return at + len;
    }
    return at;
}

static bool is_plain(unsigned char c) { return c >= 0x20 && c != '"' && c != '\\'; }

char *text_out_string(char *at, const char *text, size_t len) {
    static const char hex[] = "0123456789abcdef";

    *at++ = '"';
    for (size_t i = 0; i < len; i++) {
        const unsigned char c = (unsigned char)text[i];
        if (is_plain(c)) {
            *at++ = (char)c;
        } else if (c == '"' || c == '\\') {
            *at++ = '\\';
            *at++ = (char)c;
        } else {
            at = text_out_words(at, "\\u00");
            *at++ = hex[c >> 4];
            *at++ = hex[c & 15];
        }
    }
    *at++ = '"';
    return at;
}
