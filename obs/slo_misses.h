/* slo_misses.h - which group had most bad outcomes, over any of the last minutes, in bounded memory.
 * A list of (minute, group, count); only the newest 32,768 are kept. It reaches back days if a group has bad outcomes in
 * one minute or two a day, and 22 minutes if every group has some in each. One thread. */
#ifndef DIURNAL_OBS_SLO_MISSES_H
#define DIURNAL_OBS_SLO_MISSES_H

#include "diurnal/base.h"

enum { DN_SLO_GROUPS = 1440, DN_SLO_MISSES_KEPT = 32768 };

typedef struct dn_slo_miss {
    int64_t  minute;
    uint32_t group, count;
} dn_slo_miss;

/* Zeroed it is empty. */
typedef struct dn_slo_misses {
    uint64_t    put; /* entries ever put */
    uint64_t    sums[DN_SLO_GROUPS];
    dn_slo_miss kept[DN_SLO_MISSES_KEPT];
} dn_slo_misses;

/* Minutes never go back. */
void dn_slo_misses_put(dn_slo_misses *m, int64_t minute, uint32_t group, uint32_t count);

/* The group with most bad outcomes in minutes from `from` on, and how many; of equals the lowest. -1: there is none. */
int32_t dn_slo_misses_worst(dn_slo_misses *m, int64_t from, uint64_t *out_count);

#endif
