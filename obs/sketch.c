/* sketch.c - snapshots of a sketch, and what can be read from them. */
#include "sketch.h"

#include <assert.h>
#include <string.h>

enum { STEPS = 1 << DN_SKETCH_STEP_BITS };

dn_sketch_range dn_sketch_bounds(uint32_t bucket) {
    assert(bucket < DN_SKETCH_BUCKETS);
    if (bucket < 2 * STEPS) return (dn_sketch_range){bucket, bucket};
    const uint32_t octave = bucket / STEPS - 1;
    const uint64_t low = (uint64_t)(bucket - octave * STEPS) << octave;
    return (dn_sketch_range){low, low + (UINT64_C(1) << octave) - 1};
}

/* for (EACH_ROW(rows)): the first bucket of each row that has its bit. */
#define EACH_ROW(of)                                                                               \
    uint64_t rows_left = (of);                                                                     \
    rows_left > 0;                                                                                 \
    rows_left &= rows_left - 1
#define FIRST_OF_ROW ((uint32_t)__builtin_ctzll(rows_left) << DN_SKETCH_STEP_BITS)

static void rows_clear(dn_sketch *s, uint64_t rows) {
    for (EACH_ROW(rows & s->rows)) memset(&s->counts[FIRST_OF_ROW], 0, STEPS * sizeof *s->counts);
    s->rows &= ~rows;
}

void dn_sketch_clear(dn_sketch *s) { rows_clear(s, s->rows); }

void dn_sketch_snapshot(const dn_sketch_cells *cells, dn_sketch *out) {
    const uint64_t rows = atomic_load_explicit(&cells->rows, memory_order_relaxed);

    rows_clear(out, ~rows);
    for (EACH_ROW(rows)) {
        const uint32_t first = FIRST_OF_ROW;
        for (uint32_t i = first; i < first + STEPS; i++)
            out->counts[i] = atomic_load_explicit(&cells->counts[i], memory_order_relaxed);
    }
    out->rows = rows;
}

uint64_t dn_sketch_take(const dn_sketch_cells *cells, dn_sketch *seen, dn_sketch *out) {
    const uint64_t rows = atomic_load_explicit(&cells->rows, memory_order_relaxed);
    uint64_t       count = 0, came = 0;

    rows_clear(out, ~rows);
    for (EACH_ROW(rows)) {
        const uint32_t first = FIRST_OF_ROW;
        uint64_t       row = 0;
        for (uint32_t i = first; i < first + STEPS; i++) {
            const uint32_t now = atomic_load_explicit(&cells->counts[i], memory_order_relaxed);
            out->counts[i] = now - seen->counts[i];
            seen->counts[i] = now;
            row += out->counts[i];
        }
        if (row > 0) came |= rows_left & -rows_left;
        count += row;
    }
    seen->rows = rows;
    out->rows = came;
    return count;
}

void dn_sketch_merge(dn_sketch *into, const dn_sketch *other) {
    for (EACH_ROW(other->rows)) {
        const uint32_t first = FIRST_OF_ROW;
        for (uint32_t i = first; i < first + STEPS; i++) {
            const uint32_t sum = into->counts[i] + other->counts[i];
            into->counts[i] = sum < other->counts[i] ? UINT32_MAX : sum;
        }
    }
    into->rows |= other->rows;
}

/* In that bucket and above; DN_SKETCH_BUCKETS: none is there. */
static uint64_t count_from(const dn_sketch *s, uint32_t bucket) {
    uint64_t count = 0;

    for (EACH_ROW(s->rows & -dn_sketch_row_bit(bucket))) {
        const uint32_t first = FIRST_OF_ROW;
        for (uint32_t i = bucket > first ? bucket : first; i < first + STEPS; i++)
            count += s->counts[i];
    }
    return count;
}

uint64_t dn_sketch_count(const dn_sketch *s) { return count_from(s, 0); }

uint64_t dn_sketch_above(const dn_sketch *s, uint64_t value) {
    return count_from(s, dn_sketch_bucket(value) + 1);
}

/* The bucket with the value of that rank, from 1; there are as many. */
static uint32_t bucket_of_rank(const dn_sketch *s, uint64_t rank) {
    uint64_t seen = 0;

    for (EACH_ROW(s->rows)) {
        const uint32_t first = FIRST_OF_ROW;
        for (uint32_t i = first; i < first + STEPS; i++)
            if ((seen += s->counts[i]) >= rank) return i;
    }
    assert(false && "a sketch has fewer values than it counted");
    return 0;
}

bool dn_sketch_quantile_range(const dn_sketch *s, uint64_t count, double share,
                              dn_sketch_range *out) {
    assert(share >= 0 && share <= 1);
    if (count == 0) return false;
    /* 0.95 of 20 is 19, though the product may be a little more: hence the small step back. */
    const double exact = share * (double)count * (1 - 1e-15);
    uint64_t     rank = (uint64_t)exact;
    if ((double)rank < exact || rank == 0) rank++;
    *out = dn_sketch_bounds(bucket_of_rank(s, rank));
    return true;
}

bool dn_sketch_quantile(const dn_sketch *s, double share, uint64_t *out) {
    dn_sketch_range range;

    if (!dn_sketch_quantile_range(s, dn_sketch_count(s), share, &range)) return false;
    *out = range.low + (range.high - range.low + 1) / 2;
    return true;
}

bool dn_sketch_quantile_within(const dn_sketch *s, double share, double unit, double most,
                               double *out) {
    uint64_t value;

    if (!dn_sketch_quantile(s, share, &value)) return false;
    *out = (double)value * unit < most ? (double)value * unit : most;
    return true;
}
