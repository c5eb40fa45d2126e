/* store_totals.c - see store_totals.h. */
#include "store_totals.h"

#include "base/array.h"
#include "base/day_rows.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void totals_done(totals *t) {
    free(t->days);
    *t = (totals){0};
}

int totals_reserve(totals *t, size_t days) {
    return DN_ARRAY_RESERVE(t->days, t->cap, t->len + days);
}

size_t totals_from(const totals *t, dn_day day) {
    return dn_day_rows_from(t->days, sizeof *t->days, t->len, day);
}

dn_day_totals *totals_at_borrow(totals *t, dn_day day, bool *out_new) {
    if (out_new) *out_new = false;
    if (t->last < t->len && t->days[t->last].day == day) return &t->days[t->last];

    const size_t at = totals_from(t, day);
    if (at == t->len || t->days[at].day != day) {
        assert(t->len < t->cap);
        memmove(&t->days[at + 1], &t->days[at], (t->len - at) * sizeof *t->days);
        t->days[at] = (dn_day_totals){.day = day};
        t->len++;
        if (out_new) *out_new = true;
    }
    t->last = at;
    return &t->days[at];
}

void totals_count(dn_day_totals *of_day, dn_daily_status status) {
    assert(status != DN_DAILY_NONE);
    if (status == DN_DAILY_SUCCESS) of_day->success++;
    else if (status == DN_DAILY_CUTOFF) of_day->cutoff++;
    else of_day->missed++;
}

void totals_unmiss(dn_day_totals *of_day) {
    if (of_day->missed > 0) of_day->missed--;
}
