/* text.c - text of others, judged and shown with care.
 * Whatever is refused is quoted to whoever gave it, in a terminal or a log: its bytes must not get there as they
 * are, or a file could clear the screen and write another sentence in place of ours. */
#include "text.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_MAX = 96, NAME_MAX_LEN = 48 };

static bool     is_printable(uint32_t c);
static unsigned distance(const char *a, size_t a_len, const char *b, size_t b_len);
static char     plain(char c);

const char *dn_text_quoted(const char *bytes, size_t len, char out[DN_TEXT_QUOTED]) {
    size_t at = 0, used = 0;

    static_assert(SHOWN_MAX + sizeof "\"\"..." + 4 < DN_TEXT_QUOTED, "the longest fits");
    out[used++] = '"';
    while (at < len && used < SHOWN_MAX) {
        uint32_t     c;
        const size_t c_len = dn_utf8_read(bytes + at, len - at, &c);

        if (c_len == 0 || !is_printable(c)) {
            used += (size_t)snprintf(out + used, 5, "\\x%02x", (uint8_t)bytes[at]);
            at++;
            continue;
        }
        memcpy(out + used, bytes + at, c_len);
        used += c_len;
        at += c_len;
    }
    memcpy(out + used, at < len ? "...\"" : "\"", at < len ? 5 : 2);
    return out;
}

const char *dn_text_fault(const char *bytes, size_t len) {
    for (size_t at = 0; at < len;) {
        uint32_t     c;
        const size_t c_len = dn_utf8_read(bytes + at, len - at, &c);

        if (c_len == 0) return "is not UTF-8";
        if (!is_printable(c)) return "has a control character in it";
        at += c_len;
    }
    return NULL;
}

int dn_refuse(int code, char *why, size_t size, const char *format, ...) {
    va_list args;

    assert(size > 0);
    if (!why) return code;
    va_start(args, format);
    (void)vsnprintf(why, size, format, args);
    va_end(args);
    for (; *why; why++)
        if ((unsigned char)*why < 0x20 || *why == 0x7f) *why = ' ';
    return code;
}

const char *dn_text_nearest(const char *wrong, size_t wrong_len, const char *const *names,
                            size_t len) {
    const char *nearest = NULL;
    unsigned    least = (unsigned)(wrong_len < 3 ? 1 : 1 + wrong_len / 3);

    if (wrong_len == 0 || wrong_len > NAME_MAX_LEN) return NULL;
    for (size_t i = 0; i < len; i++) {
        const unsigned d = distance(wrong, wrong_len, names[i], strlen(names[i]));

        if (d > least || (nearest && d == least)) continue;
        nearest = names[i];
        least = d;
    }
    return nearest;
}

/* Not a control character (C0, DEL, C1), nor one of those that turn the direction of what follows. */
static bool is_printable(uint32_t c) {
    if (c < 0x20 || (c >= 0x7f && c < 0xa0)) return false;
    return !(c >= 0x202a && c <= 0x202e) && !(c >= 0x2066 && c <= 0x2069);
}

/* Letters put in, left out or replaced to get from one name to the other; two that changed places count as one. */
static unsigned distance(const char *a, size_t a_len, const char *b, size_t b_len) {
    unsigned rows[3][NAME_MAX_LEN + 1];

    assert(a_len <= NAME_MAX_LEN);
    assert(b_len <= NAME_MAX_LEN);
    for (size_t j = 0; j <= b_len; j++) rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= a_len; i++) {
        unsigned *const       row = rows[i % 3];
        const unsigned *const above = rows[(i + 2) % 3], *const above2 = rows[(i + 1) % 3];

        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b_len; j++) {
            const char ca = plain(a[i - 1]), cb = plain(b[j - 1]);
            unsigned   best = above[j - 1] + (ca != cb);

            if (above[j] + 1 < best) best = above[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            if (i > 1 && j > 1 && ca == plain(b[j - 2]) && plain(a[i - 2]) == cb &&
                above2[j - 2] + 1 < best)
                best = above2[j - 2] + 1;
            row[j] = best;
        }
    }
    return rows[a_len % 3][b_len];
}

/* tick-ms, TICK_MS and tick_ms are as near to each other as can be. */
static char plain(char c) {
    if (c == '-') return '_';
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* The table 3-7 of the Unicode standard: a first byte says how many follow, and for four of them the second
 * byte has a narrower range, which rules out overlong forms, surrogates and what lies above U+10FFFF. */
size_t dn_utf8_read(const char *text, size_t len, uint32_t *out_char) {
    const uint8_t first = len > 0 ? (uint8_t)text[0] : 0x80;
    uint8_t       min = 0x80, max = 0xbf;
    size_t        more;
    uint32_t      c;

    if (first < 0x80) {
        *out_char = first;
        return 1;
    }
    if (first < 0xc2 || first > 0xf4) return 0;
    more = first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    if (len <= more) return 0;
    if (first == 0xe0) min = 0xa0;
    if (first == 0xed) max = 0x9f;
    if (first == 0xf0) min = 0x90;
    if (first == 0xf4) max = 0x8f;
    c = first & (0x3fu >> more);
    for (size_t i = 1; i <= more; i++) {
        const uint8_t byte = (uint8_t)text[i];

        if (byte < min || byte > max) return 0;
        c = c << 6 | (byte & 0x3f);
        min = 0x80, max = 0xbf;
    }
    assert(c >= 0x80);
    assert(c <= 0x10ffff);
    *out_char = c;
    return more + 1;
}
