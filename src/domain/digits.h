/* digits.h - whole numbers as they are written, into a buffer that has room. Here, to be part of the loop that calls. */
#ifndef DIURNAL_DOMAIN_DIGITS_H
#define DIURNAL_DOMAIN_DIGITS_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

enum { DN_DIGITS_MAX = 20 }; /* of the longest, its sign counted; no NUL comes behind */

/* Returns where it ended. Most are short: those of four digits at most are written without a loop. Of the others the
 * length is counted first, so that each digit goes where it belongs. */
static inline char *dn_digits_write(char *at, int64_t value) {
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    size_t   len = 1;

    if (left < 10000 && value >= 0) {
        const uint32_t small = (uint32_t)left, tens = small / 10, hundreds = small / 100;
        if (small >= 1000) *at++ = (char)('0' + small / 1000);
        if (small >= 100) *at++ = (char)('0' + hundreds - small / 1000 * 10);
        if (small >= 10) *at++ = (char)('0' + tens - hundreds * 10);
        *at++ = (char)('0' + small - tens * 10);
        return at;
    }
    if (value < 0) *at++ = '-';
    for (uint64_t rest = left; rest >= 10; rest /= 10) len++;
    for (size_t i = len; i > 0; left /= 10) at[--i] = (char)('0' + left % 10);
    return at + len;
}

/* So many digits, with zeros in front. It has no more. */
static inline char *dn_digits_pad(char *at, uint32_t value, size_t len) {
    for (size_t i = len; i > 0; value /= 10) at[--i] = (char)('0' + value % 10);
    assert(value == 0);
    return at + len;
}

#endif
