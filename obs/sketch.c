/* sketch.c - snapshots of a sketch, and what can be read from them. */
#include "sketch.h"

#include <assert.h>

enum { STEPS = 1 << DN_SKETCH_STEP_BITS };

dn_sketch_range dn_sketch_bounds(uint32_t bucket) {
    assert(bucket < DN_SKETCH_BUCKETS);
    if (bucket < 2 * STEPS) return (dn_sketch_range){bucket, bucket};
    const uint32_t octave = bucket / STEPS - 1;
    const uint64_t low = (uint64_t)(bucket - octave * STEPS) << octave;
    return (dn_sketch_range){low, low + (UINT64_C(1) << octave) - 1};
}

void dn_sketch_snapshot(const dn_sketch_cells *cells, dn_sketch *out) {
    for (uint32_t i = 0; i < DN_SKETCH_BUCKETS; i++)
        out->counts[i] = atomic_load_explicit(&cells->counts[i], memory_order_relaxed);
}

uint64_t dn_sketch_between(const dn_sketch *before, const dn_sketch *after, dn_sketch *out) {
    uint64_t count = 0;

    for (uint32_t i = 0; i < DN_SKETCH_BUCKETS; i++) {
        out->counts[i] = after->counts[i] - before->counts[i];
        count += out->counts[i];
    }
    return count;
}

void dn_sketch_merge(dn_sketch *into, const dn_sketch *other) {
    for (uint32_t i = 0; i < DN_SKETCH_BUCKETS; i++) {
        const uint32_t sum = into->counts[i] + other->counts[i];
        into->counts[i] = sum < other->counts[i] ? UINT32_MAX : sum;
    }
}

static uint64_t count_from(const dn_sketch *s, uint32_t bucket) {
    uint64_t count = 0;

    for (; bucket < DN_SKETCH_BUCKETS; bucket++) count += s->counts[bucket];
    return count;
}

uint64_t dn_sketch_count(const dn_sketch *s) { return count_from(s, 0); }

uint64_t dn_sketch_above(const dn_sketch *s, uint64_t value) {
    return count_from(s, dn_sketch_bucket(value) + 1);
}

bool dn_sketch_quantile_range(const dn_sketch *s, double share, dn_sketch_range *out) {
    const uint64_t count = dn_sketch_count(s);
    uint32_t       bucket = 0;

    assert(share >= 0 && share <= 1);
    if (count == 0) return false;
    /* 0.95 of 20 is 19, though the product may be a little more: hence the small step back. */
    const double exact = share * (double)count * (1 - 1e-15);
    uint64_t     rank = (uint64_t)exact;
    if ((double)rank < exact || rank == 0) rank++;
    for (uint64_t seen = s->counts[0]; seen < rank; seen += s->counts[bucket]) bucket++;
    *out = dn_sketch_bounds(bucket);
    return true;
}

bool dn_sketch_quantile(const dn_sketch *s, double share, uint64_t *out) {
    dn_sketch_range range;

    if (!dn_sketch_quantile_range(s, share, &range)) return false;
    *out = range.low + (range.high - range.low + 1) / 2;
    return true;
}
