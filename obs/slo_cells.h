/* slo_cells.h - what the handlers of telemetry fill and the watcher reads: counts since the process began.
 * Every function may be called while the watcher reads. Each of the three groups below has one thread that writes it, and
 * cache lines of its own: whoever emits those events is an actor, which lives on one loop. So nothing here is a locked
 * instruction. 24 KB. */
#ifndef DIURNAL_OBS_SLO_CELLS_H
#define DIURNAL_OBS_SLO_CELLS_H

#include "meter.h"
#include "sketch.h"

enum { DN_SLO_DUES = 1440, DN_SLO_LINE = 64 };

/* Zeroed nothing has happened yet. Counts wrap: what is meant is the difference of two readings. */
typedef struct dn_slo_cells {
    /* The planner's and the queue's loop. */
    _Alignas(DN_SLO_LINE) dn_sketch_cells tick_us;
    dn_meter depth;
    /* The executor's. */
    _Alignas(DN_SLO_LINE) dn_sketch_cells job_us;
    dn_meter in_flight;
    /* The store's. */
    _Alignas(DN_SLO_LINE) _Atomic(uint32_t) successes;
    _Atomic(uint32_t) cutoffs_all;          /* nothing new here: nothing new below */
    _Atomic(uint32_t) cutoffs[DN_SLO_DUES]; /* by the minute that was due */
} dn_slo_cells;

/* sched.tick.stop, sched.job.stop. Less than nothing counts as nothing. */
void dn_slo_tick_took(dn_slo_cells *cells, int64_t duration_us);
void dn_slo_job_took(dn_slo_cells *cells, int64_t duration_us);

/* sched.queue.depth, sched.executor.in_flight: so it is from now on. now_ns: monotonic. One writer each. */
void dn_slo_depth_is(dn_slo_cells *cells, uint64_t depth, int64_t now_ns);
void dn_slo_in_flight_is(dn_slo_cells *cells, uint64_t in_flight, uint64_t max_concurrency,
                         int64_t now_ns);

/* sched.finalize. due_bucket: below 1440. A day that was missed unseen is no cutoff: it has its own warning. */
void dn_slo_succeeded(dn_slo_cells *cells);
void dn_slo_cut_off(dn_slo_cells *cells, uint32_t due_bucket);

#endif
