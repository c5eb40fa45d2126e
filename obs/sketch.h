/* sketch.h - how values are spread, in little memory, and where their quantiles lie.
 * Values are whole numbers below 2^40; of microseconds that is twelve days, and what is more counts as the largest. Each
 * octave has 64 buckets of one width. A quantile is the middle of its bucket: at most 0.79 % (1 in 128) away from the value of
 * that rank, whatever the distribution; below 128 it is exact. A t-digest was tried: 31 % wrong at two humps.
 * A sketch is 9 KB, and never more. */
#ifndef DIURNAL_OBS_SKETCH_H
#define DIURNAL_OBS_SKETCH_H

#include "diurnal/base.h"

#include <stdatomic.h>

enum {
    DN_SKETCH_STEP_BITS = 6,
    DN_SKETCH_VALUE_BITS = 40,
    DN_SKETCH_BUCKETS = (DN_SKETCH_VALUE_BITS - DN_SKETCH_STEP_BITS + 1) << DN_SKETCH_STEP_BITS,
};
#define DN_SKETCH_VALUE_MAX ((UINT64_C(1) << DN_SKETCH_VALUE_BITS) - 1)

/* What is filled: by any thread, for ever. Zeroed it is empty. A bucket wraps, which a difference does not feel as long as
 * fewer than 2^32 values of one bucket lie between two snapshots. */
typedef struct dn_sketch_cells {
    _Atomic(uint64_t) rows; /* a bit for each 64 buckets that were ever added to */
    _Atomic(uint32_t) counts[DN_SKETCH_BUCKETS];
} dn_sketch_cells;

/* What is looked at: one thread's own. Zeroed it is empty. Values lie close together as a rule, so whoever goes through
 * one goes through a few rows of it. */
typedef struct dn_sketch {
    uint64_t rows; /* those without their bit are all zeros */
    uint32_t counts[DN_SKETCH_BUCKETS];
} dn_sketch;

/* Below 2^7 each value has its own bucket; above, the seven highest bits name it. */
static inline uint32_t dn_sketch_bucket(uint64_t value) {
    if (value > DN_SKETCH_VALUE_MAX) value = DN_SKETCH_VALUE_MAX;
    if (value < 1U << DN_SKETCH_STEP_BITS) return (uint32_t)value;
    const uint32_t octave = 63U - (uint32_t)__builtin_clzll(value) - DN_SKETCH_STEP_BITS;
    return (octave << DN_SKETCH_STEP_BITS) + (uint32_t)(value >> octave);
}

static inline uint64_t dn_sketch_row_bit(uint32_t bucket) {
    return UINT64_C(1) << (bucket >> DN_SKETCH_STEP_BITS);
}

/* Whoever reads a count before its row's bit is there finds it with the next snapshot. */
static inline void dn_sketch_mark_(dn_sketch_cells *cells, uint32_t bucket) {
    const uint64_t bit = dn_sketch_row_bit(bucket);

    if (!(atomic_load_explicit(&cells->rows, memory_order_relaxed) & bit))
        atomic_fetch_or_explicit(&cells->rows, bit, memory_order_relaxed);
}

/* Any thread. relaxed: a count says nothing about any other memory. */
static inline void dn_sketch_add(dn_sketch_cells *cells, uint64_t value) {
    const uint32_t bucket = dn_sketch_bucket(value);

    dn_sketch_mark_(cells, bucket);
    atomic_fetch_add_explicit(&cells->counts[bucket], 1, memory_order_relaxed);
}

/* As dn_sketch_add, where no other thread adds to these cells: without a locked instruction. */
static inline void dn_sketch_add_alone(dn_sketch_cells *cells, uint64_t value) {
    const uint32_t     bucket = dn_sketch_bucket(value);
    _Atomic(uint32_t) *count = &cells->counts[bucket];

    dn_sketch_mark_(cells, bucket);
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

/* So many of one bucket; at most UINT32_MAX. */
static inline void dn_sketch_put(dn_sketch *s, uint32_t bucket, uint32_t count) {
    const uint32_t sum = s->counts[bucket] + count;

    s->rows |= dn_sketch_row_bit(bucket);
    s->counts[bucket] = sum < count ? UINT32_MAX : sum;
}

/* Empty again, which it need not have been: it was a sketch, or zeroed. */
void dn_sketch_clear(dn_sketch *s);

/* Any thread. A value added meanwhile is in this snapshot or in the next. out: a sketch, or zeroed. */
void dn_sketch_snapshot(const dn_sketch_cells *cells, dn_sketch *out);

/* What has come to the cells since they were as in `seen` (zeroed: ever), which becomes as they are; returns how many. Any
 * thread; a value added meanwhile comes now, or the next time. out: a sketch, or zeroed. */
uint64_t dn_sketch_take(const dn_sketch_cells *cells, dn_sketch *seen, dn_sketch *out);

/* Adds what the other has. A bucket that would hold 2^32 stays at 2^32 - 1. */
void dn_sketch_merge(dn_sketch *into, const dn_sketch *other);

uint64_t dn_sketch_count(const dn_sketch *s);
/* How many values lie in buckets wholly above it: none of them is equal to it. */
uint64_t dn_sketch_above(const dn_sketch *s, uint64_t value);

/* The bounds, both within, of the bucket with the value of rank ceil(share * count); share from 0 (the least) to 1; count:
 * how many it has. False: it is empty, and nothing is written. */
typedef struct dn_sketch_range {
    uint64_t low, high;
} dn_sketch_range;
bool dn_sketch_quantile_range(const dn_sketch *s, uint64_t count, double share,
                              dn_sketch_range *out);
/* Its middle: the quantile. */
bool dn_sketch_quantile(const dn_sketch *s, double share, uint64_t *out);
/* The same of values that are units, for who knows the most of them: a bucket's middle may lie beyond it, and is not said. */
bool dn_sketch_quantile_within(const dn_sketch *s, double share, double unit, double most,
                               double *out);

/* Of one bucket. */
dn_sketch_range dn_sketch_bounds(uint32_t bucket);

#endif
