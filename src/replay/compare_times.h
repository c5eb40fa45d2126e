/* compare_times.h - how long something took, many times: a sketch that does not spoil a comparison. Two runs may take
 * exactly as long but for a second job, and then must not differ by what a bucket is wide: so each bucket knows its least
 * and most value, and where these are one, a quantile is exact. */
#ifndef DIURNAL_REPLAY_COMPARE_TIMES_H
#define DIURNAL_REPLAY_COMPARE_TIMES_H

#include "obs/sketch.h"

/* Milliseconds. Zeroed it is empty. */
typedef struct compare_times {
    dn_sketch sketch;
    uint64_t  least[DN_SKETCH_BUCKETS], most[DN_SKETCH_BUCKETS]; /* of buckets that have any */
    uint64_t  longest_ms;
} compare_times;

void compare_times_put(compare_times *t, uint64_t ms);
/* share: 0 to 1. Within 1 %; 0 of nothing. */
uint64_t compare_times_quantile(const compare_times *t, double share);

#endif
