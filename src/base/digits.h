/* digits.h - whole numbers as they are written, into a buffer that has room. Here, to be part of the loop that calls. */
#ifndef DIURNAL_BASE_DIGITS_H
#define DIURNAL_BASE_DIGITS_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { DN_DIGITS_MAX = 20 }; /* of the longest, its sign counted; no NUL comes behind */

static const char dn_digits_pairs[] = "0001020304050607080910111213141516171819"
                                      "2021222324252627282930313233343536373839"
                                      "4041424344454647484950515253545556575859"
                                      "6061626364656667686970717273747576777879"
                                      "8081828384858687888990919293949596979899";

/* Of 0 to 99: with a zero in front, and without. */
static inline char *dn_digits_pair(char *at, uint32_t value) {
    memcpy(at, &dn_digits_pairs[value * 2], 2);
    return at + 2;
}
static inline char *dn_digits_short(char *at, uint32_t value) {
    if (value >= 10) return dn_digits_pair(at, value);
    *at = (char)('0' + value);
    return at + 1;
}

/* Returns where it ended. Most are short: those of four digits at most are written without a loop. Of the others the
 * length is counted first, so that each digit goes where it belongs. */
static inline char *dn_digits_write(char *at, int64_t value) {
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    size_t   len = 1;

    if ((uint64_t)value < 100) return dn_digits_short(at, (uint32_t)value);
    if ((uint64_t)value < 10000) {
        const uint32_t small = (uint32_t)value;
        return dn_digits_pair(dn_digits_short(at, small / 100), small % 100);
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
