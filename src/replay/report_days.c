/* report_days.c - which days are kept, and how they ended. */
#include "report_days.h"

#include "base/day_rows.h"

#include <assert.h>
#include <string.h>

static uint64_t misses(const day_row *row) { return row->ends[DAY_CUTOFF] + row->ends[DAY_MISSED]; }

/* Of those between the first and the last, the one with fewest misses: of equals the earliest. */
static int32_t strip_of_least(days *d) {
    day_row *least = NULL;

    for (uint32_t i = DAYS_FIRST; i + DAYS_LAST < d->len; i++) {
        day_row *row = &d->rows[i];
        if (row->strip >= 0 && (!least || misses(row) < misses(least))) least = row;
    }
    assert(least); /* there are more strips than first and last days */
    const int32_t strip = least->strip;
    least->strip = -1;
    memset(&d->strips[strip], 0, sizeof d->strips[strip]);
    return strip;
}

/* NULL: there is no room. A day whose strip went to another gets none again: half of it would be told for the whole. */
static day_row *row_found(days *d, dn_day day) {
    const size_t place = dn_day_rows_from(d->rows, sizeof *d->rows, d->len, day);
    day_row     *row = &d->rows[place];
    if (place == d->len || row->day != day) {
        if (d->len == DAYS_LEN) return NULL;
        memmove(row + 1, row, (d->len - place) * sizeof *row);
        d->len++;
        *row = (day_row){.day = day, .strip = -1};
        row->strip = d->strips_len < DAYS_STRIPS ? (int32_t)d->strips_len++ : strip_of_least(d);
    }
    d->last = (uint32_t)place;
    return row;
}

static inline day_row *row_of(days *d, dn_day day) {
    if (d->last < d->len && d->rows[d->last].day == day) return &d->rows[d->last];
    return row_found(d, day);
}

static void keep_example(day_example *kept, const dn_happening *h, day_end end) {
    assert(h->id_len > 0 && "of a miss the user is told");
    if (kept->id_len > 0) return;
    *kept = (day_example){.day = h->day, .end = end, .id_len = h->id_len};
    memcpy(kept->id, h->id, h->id_len);
}

void days_end(days *d, const dn_happening *h, day_end end, uint64_t times) {
    assert(h->due < DN_DAY_MINUTES);
    assert(h->id_len <= DN_ID_MAX);
    d->all[h->due][end] += times;
    if (end == DAY_CUTOFF || end == DAY_MISSED) keep_example(&d->examples[h->due], h, end);
    day_row *row = row_of(d, h->day);
    if (!row) {
        d->left_out += times;
        return;
    }
    row->ends[end] += times;
    if (row->strip >= 0) d->strips[row->strip].ends[h->due][end] += (uint32_t)times;
}

void days_start(days *d, dn_day day, uint64_t times) {
    day_row *row = row_of(d, day);

    if (row) row->starts += times;
    else d->left_out += times;
}
