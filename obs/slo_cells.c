/* slo_cells.c - one addition or one set for each event. relaxed: no count says anything about another. */
#include "slo_cells.h"

#include <assert.h>

/* A store is enough: nobody else writes it. */
static void count_one(_Atomic(uint32_t) *count) {
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

void dn_slo_tick_took(dn_slo_cells *cells, int64_t duration_us) {
    dn_sketch_add_alone(&cells->tick_us, duration_us > 0 ? (uint64_t)duration_us : 0);
}

void dn_slo_job_took(dn_slo_cells *cells, int64_t duration_us) {
    dn_sketch_add_alone(&cells->job_us, duration_us > 0 ? (uint64_t)duration_us : 0);
}

void dn_slo_depth_is(dn_slo_cells *cells, uint64_t depth, int64_t now_ns) {
    dn_meter_set(&cells->depth, depth, /* max: */ 0, now_ns);
}

void dn_slo_in_flight_is(dn_slo_cells *cells, uint64_t in_flight, uint64_t max_concurrency,
                         int64_t now_ns) {
    dn_meter_set(&cells->in_flight, in_flight, max_concurrency, now_ns);
}

void dn_slo_succeeded(dn_slo_cells *cells) { count_one(&cells->successes); }

void dn_slo_cut_off(dn_slo_cells *cells, uint32_t due_bucket) {
    assert(due_bucket < DN_SLO_DUES);
    count_one(&cells->cutoffs[due_bucket]);
    /* release: whoever sees this one sees the one above. */
    atomic_store_explicit(&cells->cutoffs_all,
                          atomic_load_explicit(&cells->cutoffs_all, memory_order_relaxed) + 1,
                          memory_order_release);
}
