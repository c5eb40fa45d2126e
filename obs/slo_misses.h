/* slo_misses.h - which minute of the day missed most, over any of the last minutes, in bounded memory.
 * A list of (minute, due, misses), the newest 32,768 of them: a due time is cut off in one minute or two a day, so that is
 * three days of any ordinary kind, and 22 minutes if every due time missed in each. What is older is forgotten, for this
 * question only. One thread. */
#ifndef DIURNAL_OBS_SLO_MISSES_H
#define DIURNAL_OBS_SLO_MISSES_H

#include "slo_cells.h"

enum { DN_SLO_MISSES_KEPT = 32768 };

typedef struct dn_slo_miss {
    int64_t  minute;
    uint32_t due, count;
} dn_slo_miss;

/* Zeroed it is empty. */
typedef struct dn_slo_misses {
    uint64_t    put; /* how many ever */
    uint64_t    sums[DN_SLO_DUES];
    dn_slo_miss kept[DN_SLO_MISSES_KEPT];
} dn_slo_misses;

/* Minutes never go back. */
void dn_slo_misses_put(dn_slo_misses *m, int64_t minute, uint32_t due, uint32_t count);

/* The due time with most misses in minutes from `from` on, and how many; of equals the earliest. -1: there is none. */
int32_t dn_slo_misses_worst(dn_slo_misses *m, int64_t from, uint64_t *out_count);

#endif
