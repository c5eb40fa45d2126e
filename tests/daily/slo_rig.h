/* slo_rig.h - a watcher without an actor: minutes are played into the cells by a plan, and at the end of each it evaluates.
 * Seeded; time is moved by hand. */
#ifndef DIURNAL_TESTS_OBS_SLO_RIG_H
#define DIURNAL_TESTS_OBS_SLO_RIG_H

#include "obs/slo.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

#define MINUTE_NS (INT64_C(60) * 1000 * 1000000)
enum { SLICES = 6, SLOTS = 64 };

/* What happens in one minute, evenly over it. Zeroed: nothing, and both levels are 0. */
typedef struct plan {
    uint32_t ticks, tick_ms;
    uint32_t jobs, job_ms, slow_jobs, slow_ms;
    uint64_t depth_from, depth_to;
    uint32_t full_mille; /* of the time all slots are taken, */
    uint32_t flickers;   /* in so many pieces a minute; 0: one a slice */
    uint32_t successes, misses, due;
    bool     no_levels; /* nobody tells them */
    bool     rolls_each_slice;
} plan;

typedef struct rig {
    dn_slo_cells *cells;
    dn_slo       *slo;
    dn_slo_config config;
    int64_t       now_ns;
    int           evaluations;
    int           warned[DN_SLO_NAMES], recovered[DN_SLO_NAMES]; /* how often */
    int warned_at[DN_SLO_NAMES], recovered_at[DN_SLO_NAMES];     /* the last evaluation that did */
} rig;

static const dn_slo_config rig_defaults = {
    .window_minutes = 15,
    .breach_consecutive = 3,
    .tick_budget_ms = 300,
    .sat_ratio = 0.8,
    .depth_avg_max = 10000,
    .job_p95_max_ms = 30000,
    .cutoff_rate_max = 0.01,
};

static inline void rig_restart_watcher(rig *r) {
    dn_slo_free(r->slo);
    r->slo = NULL;
    for (int i = 0; i < DN_SLO_NAMES; i++) r->warned[i] = r->recovered[i] = 0;
    CHECK_INT(dn_slo_new(&r->config, &r->slo), DN_OK);
    dn_slo_roll(r->slo, r->cells, r->now_ns);
}

static inline void rig_restart_daemon(rig *r) {
    memset(r->cells, 0, sizeof *r->cells);
    rig_restart_watcher(r);
}

static inline rig *rig_with(const dn_slo_config *config) {
    rig *r = calloc(1, sizeof *r);

    CHECK(r);
    r->cells = aligned_alloc(_Alignof(dn_slo_cells), sizeof *r->cells);
    CHECK(r->cells);
    r->config = *config;
    r->now_ns = 1000 * MINUTE_NS;
    rig_restart_daemon(r);
    return r;
}

static inline rig *rig_new(void) { return rig_with(&rig_defaults); }

static inline void rig_free(rig *r) {
    dn_slo_free(r->slo);
    free(r->cells);
    free(r);
}

static inline const dn_slo_status *rig_status(const rig *r, dn_slo_name name) {
    return dn_slo_status_borrow(r->slo, name);
}

static inline void rig_evaluate(rig *r) {
    dn_slo_change changes[DN_SLO_NAMES];

    dn_slo_roll(r->slo, r->cells, r->now_ns);
    const size_t len = dn_slo_evaluate(r->slo, r->now_ns, changes);
    for (size_t i = 0; i < len; i++) {
        const dn_slo_name name = changes[i].name;
        CHECK_INT(rig_status(r, name)->breached, changes[i].breached);
        if (changes[i].breached) r->warned[name]++, r->warned_at[name] = r->evaluations;
        else r->recovered[name]++, r->recovered_at[name] = r->evaluations;
        CHECK_INT(r->warned[name] - r->recovered[name], changes[i].breached);
    }
    r->evaluations++;
}

/* How many of n fall into a slice. */
static inline uint32_t rig_part(uint32_t n, uint32_t slice) {
    return n * (slice + 1) / SLICES - n * slice / SLICES;
}

static inline void rig_levels(rig *r, const plan *p, uint32_t slice, int64_t from_ns) {
    const int64_t  length_ns = MINUTE_NS / SLICES;
    const uint32_t pieces = p->flickers > 0 ? (p->flickers + SLICES - 1) / SLICES : 1;
    const int64_t  rise = (int64_t)p->depth_to - (int64_t)p->depth_from;

    if (p->no_levels) return;
    dn_slo_depth_is(
        r->cells,
        (uint64_t)((int64_t)p->depth_from + rise * (int64_t)(slice * 2 + 1) / (SLICES * 2)),
        from_ns);
    for (uint32_t i = 0; i < pieces; i++) {
        const int64_t at_ns = from_ns + length_ns * i / pieces;
        if (p->full_mille > 0) dn_slo_in_flight_is(r->cells, SLOTS, SLOTS, at_ns);
        if (p->full_mille < 1000)
            dn_slo_in_flight_is(r->cells, SLOTS / 3, SLOTS,
                                at_ns + length_ns / pieces * p->full_mille / 1000);
    }
}

/* A sixth of a minute. */
static inline void rig_slice(rig *r, const plan *p, uint32_t slice) {
    for (uint32_t i = 0; i < rig_part(p->ticks, slice); i++)
        dn_slo_tick_took(r->cells, p->tick_ms * INT64_C(1000));
    for (uint32_t i = 0; i < rig_part(p->jobs, slice); i++)
        dn_slo_job_took(r->cells, p->job_ms * INT64_C(1000));
    for (uint32_t i = 0; i < rig_part(p->slow_jobs, slice); i++)
        dn_slo_job_took(r->cells, p->slow_ms * INT64_C(1000));
    for (uint32_t i = 0; i < rig_part(p->successes, slice); i++) dn_slo_succeeded(r->cells);
    for (uint32_t i = 0; i < rig_part(p->misses, slice); i++) dn_slo_cut_off(r->cells, p->due);
    rig_levels(r, p, slice, r->now_ns);
    r->now_ns += MINUTE_NS / SLICES;
    if (p->rolls_each_slice) dn_slo_roll(r->slo, r->cells, r->now_ns);
}

static inline void rig_minutes(rig *r, int minutes, plan p) {
    for (; minutes > 0; minutes--) {
        for (uint32_t slice = 0; slice < SLICES; slice++) rig_slice(r, &p, slice);
        rig_evaluate(r);
    }
}

#endif
