/* day_rows.h - rows that are sorted by day. Their type is the caller's; its first field is the dn_day. */
#ifndef DIURNAL_BASE_DAY_ROWS_H
#define DIURNAL_BASE_DAY_ROWS_H

#include "civil.h"

#include <stddef.h>

/* Where the first row stands that is not before the day; len: there is none. */
static inline size_t dn_day_rows_from(const void *rows, size_t row_bytes, size_t len, dn_day day) {
    size_t low = 0, high = len;

    while (low < high) {
        const size_t  middle = low + (high - low) / 2;
        const dn_day *there = (const void *)((const char *)rows + middle * row_bytes);
        if (*there < day) low = middle + 1;
        else high = middle;
    }
    return low;
}

#endif
