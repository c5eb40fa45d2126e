/* prom_sample.c - the cells that the whole program adds to, and the bounds of histograms.
 * Nothing here waits for anybody: through a bound handle an increment is a load and a store in the thread's own row, else
 * one relaxed atomic add. Whole numbers are added to an integer, so they cost no loop and lose nothing behind 2^53. */
#include "log.h"
#include "prom_cells.h"
#include "prom_internal.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define WHOLE_MAX 4294967296.0 /* larger steps go to the rest: no counter ever wraps */

enum { BUCKETS_MAX = 1000 };

double prom_double_of(uint64_t bits) {
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t bits_of(double value) {
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void add_double(_Atomic uint64_t *cell, double value) {
    uint64_t old = atomic_load_explicit(cell, memory_order_relaxed);

    while (!atomic_compare_exchange_weak_explicit(cell, &old, bits_of(prom_double_of(old) + value),
                                                  memory_order_relaxed, memory_order_relaxed)) {}
}

/* ---- Counters and gauges ---- */

static void add_whole(prom_metric_sample_t *self, uint64_t whole) {
    /* acquire: pairs with the release of prom_metric.c, behind which the cell is zero. */
    const uint32_t cell = atomic_load_explicit(&self->cell, memory_order_acquire);
    prom_row      *row = cell ? prom_row_mine() : NULL;

    if (row) prom_cell_set(row, cell, prom_cell_get(row, cell) + whole);
    else atomic_fetch_add_explicit(&self->whole, whole, memory_order_relaxed);
}

int prom_metric_sample_add(prom_metric_sample_t *self, double r_value) {
    if (!self || !(r_value >= 0)) return 1; /* no number is not >= 0 either */
    if (self->type == PROM_GAUGE) {
        add_double(&self->rest, r_value);
        return 0;
    }
    if (r_value <= WHOLE_MAX) {
        const int64_t whole = (int64_t)r_value;
        if ((double)whole == r_value) {
            add_whole(self, (uint64_t)whole);
            return 0;
        }
    }
    if (isinf(r_value)) return 1; /* nothing could be counted after it */
    add_double(&self->rest, r_value);
    return 0;
}

int prom_metric_sample_sub(prom_metric_sample_t *self, double r_value) {
    if (!self || self->type != PROM_GAUGE || isnan(r_value)) return 1;
    add_double(&self->rest, -r_value);
    return 0;
}

void prom_sample_store(prom_metric_sample_t *sample, double total) {
    atomic_store_explicit(&sample->rest, bits_of(total), memory_order_relaxed);
}

int prom_metric_sample_set(prom_metric_sample_t *self, double r_value) {
    if (!self || self->type != PROM_GAUGE) return 1;
    prom_sample_store(self, r_value);
    return 0;
}

uint64_t prom_sample_whole(const prom_metric_sample_t *sample) {
    const uint32_t cell = atomic_load_explicit(&sample->cell, memory_order_acquire);
    const uint64_t shared = atomic_load_explicit(&sample->whole, memory_order_relaxed);

    return cell ? shared + prom_cell_sum(cell) : shared;
}

double prom_sample_rest(const prom_metric_sample_t *sample) {
    return prom_double_of(atomic_load_explicit(&sample->rest, memory_order_relaxed));
}

/* ---- Histograms ---- */

int prom_metric_sample_histogram_observe(prom_metric_sample_histogram_t *self, double value) {
    if (!self || !(value >= 0)) return 1;
    const prom_histogram_buckets_t *buckets = self->metric->buckets;
    int                             low = 0, high = buckets->count;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (value <= buckets->upper_bounds[middle]) high = middle;
        else low = middle + 1;
    }
    const uint32_t first = atomic_load_explicit(&self->first_cell, memory_order_acquire);
    prom_row      *row = first ? prom_row_mine() : NULL;
    if (row) {
        const uint32_t bucket = first + 1 + (uint32_t)low;
        prom_cell_set(row, bucket, prom_cell_get(row, bucket) + 1);
        prom_cell_set(row, first, bits_of(prom_double_of(prom_cell_get(row, first)) + value));
        return 0;
    }
    atomic_fetch_add_explicit(&self->counts[low], 1, memory_order_relaxed);
    add_double(&self->sum, value);
    return 0;
}

uint64_t prom_histogram_count(const prom_metric_sample_histogram_t *histogram, int bucket) {
    const uint32_t first = atomic_load_explicit(&histogram->first_cell, memory_order_acquire);
    const uint64_t shared = atomic_load_explicit(&histogram->counts[bucket], memory_order_relaxed);

    return first ? shared + prom_cell_sum(first + 1 + (uint32_t)bucket) : shared;
}

double prom_histogram_sum(const prom_metric_sample_histogram_t *histogram) {
    const uint32_t first = atomic_load_explicit(&histogram->first_cell, memory_order_acquire);
    const double   shared =
        prom_double_of(atomic_load_explicit(&histogram->sum, memory_order_relaxed));

    return first ? shared + prom_cell_sum_real(first) : shared;
}

/* ---- Bounds ---- */

static const double default_bounds[] = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
static prom_histogram_buckets_t default_buckets = {
    .count = sizeof default_bounds / sizeof *default_bounds, .upper_bounds = default_bounds};
prom_histogram_buckets_t *prom_histogram_default_buckets = &default_buckets;

/* The bounds are still to be set. */
static prom_histogram_buckets_t *buckets_new(size_t count, size_t least, double **out_bounds) {
    if (count < least || count > BUCKETS_MAX) {
        dn_log(DN_LOG_ERROR, "metrics.refused", "%zu buckets: want %zu to %d", count, least,
               BUCKETS_MAX);
        return NULL;
    }
    prom_histogram_buckets_t *self = malloc(sizeof *self);
    double                   *bounds = malloc(count * sizeof *bounds);
    if (!self || !bounds) {
        free(self);
        free(bounds);
        return NULL;
    }
    *self = (prom_histogram_buckets_t){.count = (int)count, .upper_bounds = bounds};
    *out_bounds = bounds;
    return self;
}

prom_histogram_buckets_t *prom_histogram_buckets_new(size_t count, double bucket, ...) {
    double                   *bounds;
    prom_histogram_buckets_t *self = buckets_new(count, 1, &bounds);
    va_list                   rest;

    if (!self) return NULL;
    bounds[0] = bucket;
    va_start(rest, bucket);
    for (size_t i = 1; i < count; i++) bounds[i] = va_arg(rest, double);
    va_end(rest);
    return self;
}

prom_histogram_buckets_t *prom_histogram_buckets_linear(double start, double width, size_t count) {
    double                   *bounds;
    prom_histogram_buckets_t *self = buckets_new(count, 2, &bounds);

    if (!self) return NULL;
    for (size_t i = 0; i < count; i++) bounds[i] = start + width * (double)i;
    return self;
}

prom_histogram_buckets_t *prom_histogram_buckets_exponential(double start, double factor,
                                                             size_t count) {
    double                   *bounds;
    prom_histogram_buckets_t *self;

    if (!(start > 0) || !(factor > 1)) {
        dn_log(DN_LOG_ERROR, "metrics.refused",
               "exponential buckets from %g by %g: want a start above 0 and a factor above 1",
               start, factor);
        return NULL;
    }
    self = buckets_new(count, 1, &bounds);
    if (!self) return NULL;
    bounds[0] = start;
    for (size_t i = 1; i < count; i++) bounds[i] = bounds[i - 1] * factor;
    return self;
}

int prom_histogram_buckets_destroy(prom_histogram_buckets_t *self) {
    if (!self || self == &default_buckets) return 0;
    free((double *)self->upper_bounds);
    free(self);
    return 0;
}

size_t prom_histogram_buckets_count(prom_histogram_buckets_t *self) { return (size_t)self->count; }
