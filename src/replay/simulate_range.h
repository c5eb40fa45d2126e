/* simulate_range.h - many seeds, each a plan and a run, on all cores.
 * Each worker is a process of its own: what they have in common is nothing, and a run that takes the process with it is
 * told from one that was judged. What comes of it depends on the seeds alone: the first that fails is the least. */
#ifndef DIURNAL_REPLAY_SIMULATE_RANGE_H
#define DIURNAL_REPLAY_SIMULATE_RANGE_H

#include "simulate.h"

typedef struct simulate_range {
    uint64_t    first, last; /* both are run */
    plan_bounds bounds;
    uint32_t    workers; /* 0: one for each core */
    int64_t     for_ms;  /* no longer than that; 0: to the last */
    /* NULL, or how many are done. */
    void (*progress)(void *context, uint64_t done);
    void                *context;
    const volatile bool *stop; /* NULL, or set by a signal: the workers are ended */
} simulate_range;

typedef struct simulate_found {
    uint64_t         done; /* seeds, of all workers */
    bool             any;  /* one failed */
    uint64_t         seed; /* the least of those */
    simulate_verdict verdict;
    int              signal; /* it did not come to a verdict: it was ended by this */
    simulate_counts  counts;
} simulate_found;

/* DN_EIO: no process, or no pipe. DN_ENOMEM. */
DN_MUST_USE int simulate_seeds(const simulate_range *range, simulate_found *out_found);

/* One seed, in this process. */
DN_MUST_USE int simulate_seed(uint64_t seed, const plan_bounds *bounds, simulate_counts *counts,
                              simulate_verdict *out_verdict);

#endif
