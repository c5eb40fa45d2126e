/* slo_misses.c - the list of bad outcomes by group. */
#include "slo_misses.h"

#include <string.h>

void dn_slo_misses_put(dn_slo_misses *m, int64_t minute, uint32_t group, uint32_t count) {
    m->kept[m->put++ % DN_SLO_MISSES_KEPT] = (dn_slo_miss){minute, group, count};
}

int32_t dn_slo_misses_worst(dn_slo_misses *m, int64_t from, uint64_t *out_count) {
    const uint64_t len = m->put < DN_SLO_MISSES_KEPT ? m->put : DN_SLO_MISSES_KEPT;
    int32_t        worst = -1;
    uint64_t       most = 0;

    *out_count = 0;
    if (len == 0 || m->kept[(m->put - 1) % DN_SLO_MISSES_KEPT].minute < from) return -1;
    memset(m->sums, 0, sizeof m->sums);
    for (uint64_t i = 1; i <= len; i++) {
        const dn_slo_miss *miss = &m->kept[(m->put - i) % DN_SLO_MISSES_KEPT];
        if (miss->minute < from) break;
        m->sums[miss->group] += miss->count;
    }
    for (int32_t group = 0; group < DN_SLO_GROUPS; group++) {
        if (m->sums[group] <= most) continue;
        worst = group;
        most = m->sums[group];
    }
    *out_count = most;
    return worst;
}
