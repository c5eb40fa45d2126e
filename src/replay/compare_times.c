/* compare_times.c - see compare_times.h. */
#include "compare_times.h"

void compare_times_put(compare_times *t, uint64_t ms) {
    const uint32_t bucket = dn_sketch_bucket(ms);
    const bool     first = t->sketch.counts[bucket] == 0;

    dn_sketch_put(&t->sketch, bucket, 1);
    if (first || ms < t->least[bucket]) t->least[bucket] = ms;
    if (first || ms > t->most[bucket]) t->most[bucket] = ms;
    if (ms > t->longest_ms) t->longest_ms = ms;
}

uint64_t compare_times_quantile(const compare_times *t, double share) {
    uint64_t ms;

    if (!dn_sketch_quantile(&t->sketch, share, &ms)) return 0;
    const uint32_t bucket = dn_sketch_bucket(ms);
    if (ms < t->least[bucket]) return t->least[bucket];
    return ms > t->most[bucket] ? t->most[bucket] : ms;
}
