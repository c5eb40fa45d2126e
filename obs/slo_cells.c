/* slo_cells.c - one add or one set for each event. relaxed: no count says anything about another. */
#include "slo_cells.h"

#include <assert.h>

void dn_slo_tick_took(dn_slo_cells *cells, int64_t duration_us) {
    dn_sketch_add(&cells->tick_us, duration_us > 0 ? (uint64_t)duration_us : 0);
}

void dn_slo_job_took(dn_slo_cells *cells, int64_t duration_us) {
    dn_sketch_add(&cells->job_us, duration_us > 0 ? (uint64_t)duration_us : 0);
}

void dn_slo_depth_is(dn_slo_cells *cells, uint64_t depth, int64_t now_ns) {
    dn_meter_set(&cells->depth, depth, /* max: */ 0, now_ns);
}

void dn_slo_in_flight_is(dn_slo_cells *cells, uint64_t in_flight, uint64_t max_concurrency,
                         int64_t now_ns) {
    dn_meter_set(&cells->in_flight, in_flight, max_concurrency, now_ns);
}

void dn_slo_succeeded(dn_slo_cells *cells) {
    atomic_fetch_add_explicit(&cells->successes, 1, memory_order_relaxed);
}

void dn_slo_cut_off(dn_slo_cells *cells, uint32_t due_bucket) {
    assert(due_bucket < DN_SLO_DUES);
    atomic_fetch_add_explicit(&cells->cutoffs[due_bucket], 1, memory_order_relaxed);
}
