/* store_totals.h - counts by day, in a sorted array: few days change, and there are a few thousand at most. */
#ifndef DIURNAL_STORE_STORE_TOTALS_H
#define DIURNAL_STORE_STORE_TOTALS_H

#include "store/daily.h"

typedef struct totals {
    dn_day_totals *days; /* sorted by day */
    size_t         len, cap;
    size_t         last; /* index of the day found last, which is mostly the next one asked for */
} totals;

void totals_done(totals *t);

/* Makes room for so many new days. */
DN_MUST_USE int totals_reserve(totals *t, size_t days);

/* The counts of a day, borrowed until the next call. *out_new, which may be NULL: the day is new, and its counts are zero.
 * Room for it must have been reserved. */
dn_day_totals *totals_at_borrow(totals *t, dn_day day, bool *out_new);

/* The index of the first day that is not before `day`. */
size_t totals_from(const totals *t, dn_day day);

/* Adds one of that status. */
void totals_count(dn_day_totals *of_day, dn_daily_status status);
/* Takes back one `missed`. Never below zero, because without a ledger it is an assumption. */
void totals_unmiss(dn_day_totals *of_day);

#endif
