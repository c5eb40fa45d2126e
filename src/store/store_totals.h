/* store_totals.h - counts by day.
 * A sorted array: a store has a few days that change, and a few thousand that do not. */
#ifndef DIURNAL_STORE_STORE_TOTALS_H
#define DIURNAL_STORE_STORE_TOTALS_H

#include "store/daily.h"

typedef struct totals {
    dn_day_totals *days; /* sorted by day */
    size_t         len, cap;
    size_t         last; /* where the day asked for last stands: most ask for the same again */
} totals;

void totals_done(totals *t);

/* Room for so many days that are not there yet. */
DN_MUST_USE int totals_reserve(totals *t, size_t days);

/* The counts of a day, until the next call. *out_new, which may be NULL: it was not there, and they are zero. Room
 * for it must have been reserved. */
dn_day_totals *totals_at_borrow(totals *t, dn_day day, bool *out_new);

/* Where the first day stands that is not before `day`. */
size_t totals_from(const totals *t, dn_day day);

/* One more of that status. */
void totals_count(dn_day_totals *of_day, dn_daily_status status);
/* One that was missed was not, after all. Without a ledger that is not known for certain: never below zero. */
void totals_unmiss(dn_day_totals *of_day);

#endif
