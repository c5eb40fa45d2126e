/* text_out.c - see text_out.h. */
#include "text_out.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/digits.h"

char *text_out_number(char *at, int64_t value) { return dn_digits_write(at, value); }

void text_out_time(char *at, uint32_t ms) {
    at = dn_digits_pair(at, ms / 3600000) + 1;
    at = dn_digits_pair(at, ms / 60000 % 60) + 1;
    at = dn_digits_pair(at, ms / 1000 % 60) + 1;
    (void)dn_digits_pad(at, ms % 1000, 3);
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

static char *escaped(char *at, unsigned char c) {
    static const char hex[] = "0123456789abcdef";

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
    return at;
}

/* The last bytes, fewer than eight. Read by pieces of fixed size that overlap: they agree where they do. */
static uint64_t rest_of(const char *text, size_t len) {
    uint32_t first, last;

    if (len >= 4) {
        memcpy(&first, text, sizeof first);
        memcpy(&last, text + len - sizeof last, sizeof last);
        return first | (uint64_t)last << (len - sizeof last) * 8;
    }
    const unsigned char *at = (const unsigned char *)text;
    return at[0] | (uint64_t)at[len / 2] << len / 2 * 8 | (uint64_t)at[len - 1] << (len - 1) * 8;
}

/* Apart: hardly any id wants it, and what is plain is then put without a register to be saved. */
static __attribute__((noinline, cold)) char *put_escaped(char *at, uint64_t eight, size_t len) {
    for (size_t i = 0; i < len; i++) at = escaped(at, (unsigned char)(eight >> i * 8));
    return at;
}

/* Eight bytes of text, or the last of them: all eight are written, and those behind len will be written over. */
static inline char *put_eight(char *at, uint64_t eight, uint64_t looked_at, size_t len) {
    if (dn_text_may_escape(looked_at)) return put_escaped(at, eight, len);
    memcpy(at, &eight, sizeof eight);
    return at + len;
}

char *text_out_string(char *at, const char *text, size_t len) {
    *at++ = '"';
    for (uint64_t eight; len >= sizeof eight; text += sizeof eight, len -= sizeof eight) {
        memcpy(&eight, text, sizeof eight);
        at = put_eight(at, eight, eight, sizeof eight);
    }
    if (len > 0) {
        const uint64_t rest = rest_of(text, len);
        at = put_eight(at, rest, rest | DN_TEXT_EACH('@') << len * 8, len);
    }
    *at++ = '"';
    return at;
}
