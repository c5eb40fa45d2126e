/* slo_rig.h - the SLOs of the daily path without an actor: a plan plays minutes into their histories, each ends with an
 * evaluation. Seeded; time is moved by hand. */
#ifndef DIURNAL_TESTS_DAILY_SLO_RIG_H
#define DIURNAL_TESTS_DAILY_SLO_RIG_H

#include "daily/slo.h"
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
    dn_slo_table *slos;
    dn_daily_slo  daily;
    int64_t       now_ns;
    int           evaluations;
    int           warned[DN_DAILY_SLOS], recovered[DN_DAILY_SLOS]; /* how often */
    int warned_at[DN_DAILY_SLOS], recovered_at[DN_DAILY_SLOS]; /* the last evaluation that did */
} rig;

static const dn_daily_slo_config rig_defaults = {
    .window_minutes = 15,
    .breach_consecutive = 3,
    .tick_budget_ms = 300,
    .sat_ratio = 0.8,
    .depth_avg_max = 10000,
    .job_p95_max_ms = 30000,
    .cutoff_rate_max = 0.01,
};

static inline int rig_table(const dn_daily_slo *daily, int64_t now_ns, dn_slo_table **out) {
    return dn_slo_table_new(daily->rows, DN_DAILY_SLOS, now_ns, out);
}

static inline void rig_restart(rig *r) {
    dn_slo_table_free(r->slos);
    r->slos = NULL;
    for (int i = 0; i < DN_DAILY_SLOS; i++) r->warned[i] = r->recovered[i] = 0;
    CHECK_INT(rig_table(&r->daily, r->now_ns, &r->slos), DN_OK);
}

static inline rig *rig_with(const dn_daily_slo_config *config) {
    rig *r = calloc(1, sizeof *r);

    CHECK(r);
    dn_daily_slo_init(&r->daily, config);
    r->now_ns = 1000 * MINUTE_NS;
    rig_restart(r);
    return r;
}

static inline rig *rig_new(void) { return rig_with(&rig_defaults); }

static inline void rig_free(rig *r) {
    dn_slo_table_free(r->slos);
    free(r);
}

static inline const dn_slo_status *rig_status(const rig *r, size_t name) {
    return dn_slo_table_status_borrow(r->slos, name);
}

static inline dn_slo_history *rig_history(const rig *r, size_t name) {
    return dn_slo_table_history_borrow(r->slos, name);
}

/* What the miss rate was computed from. */
static inline dn_slo_outcomes rig_outcomes(const rig *r) {
    return dn_slo_history_outcomes(rig_history(r, DN_DAILY_CUTOFF_MISS_RATE),
                                   rig_status(r, DN_DAILY_CUTOFF_MISS_RATE)->minutes);
}

static inline void rig_evaluate(rig *r) {
    size_t changed[DN_SLO_ROWS_MAX];

    const size_t len = dn_slo_table_evaluate(r->slos, r->now_ns, changed);
    for (size_t i = 0; i < len; i++) {
        const size_t name = changed[i];
        const bool   breached = rig_status(r, name)->breached;
        if (breached) r->warned[name]++, r->warned_at[name] = r->evaluations;
        else r->recovered[name]++, r->recovered_at[name] = r->evaluations;
        CHECK_INT(r->warned[name] - r->recovered[name], breached);
    }
    r->evaluations++;
}

/* How many of n fall into a slice. */
static inline uint32_t rig_part(uint32_t n, uint32_t slice) {
    return n * (slice + 1) / SLICES - n * slice / SLICES;
}

static inline void rig_levels(rig *r, const plan *p, uint32_t slice, int64_t from_ns) {
    const int64_t   length_ns = MINUTE_NS / SLICES;
    const uint32_t  pieces = p->flickers > 0 ? (p->flickers + SLICES - 1) / SLICES : 1;
    dn_slo_history *slots = rig_history(r, DN_DAILY_SATURATION);
    const int64_t   rise = (int64_t)p->depth_to - (int64_t)p->depth_from;

    if (p->no_levels) return;
    dn_slo_level_is(
        rig_history(r, DN_DAILY_QUEUE_PRESSURE),
        (uint64_t)((int64_t)p->depth_from + rise * (int64_t)(slice * 2 + 1) / (SLICES * 2)),
        /* ceiling: */ 0, from_ns);
    for (uint32_t i = 0; i < pieces; i++) {
        const int64_t at_ns = from_ns + length_ns * i / pieces;
        if (p->full_mille > 0) dn_slo_level_is(slots, SLOTS, SLOTS, at_ns);
        if (p->full_mille < 1000)
            dn_slo_level_is(slots, SLOTS / 3, SLOTS,
                            at_ns + length_ns / pieces * p->full_mille / 1000);
    }
}

/* Three rows listen to the same event. */
static inline void rig_ended(rig *r, bool good, uint32_t due) {
    for (size_t name = DN_DAILY_CUTOFF_MISS_RATE; name < DN_DAILY_SLOS; name++)
        if (rig_history(r, name)) dn_slo_ended(rig_history(r, name), good, due);
}

/* A sixth of a minute. */
static inline void rig_slice(rig *r, const plan *p, uint32_t slice) {
    dn_slo_history *jobs = rig_history(r, DN_DAILY_JOB_LATENCY);

    for (uint32_t i = 0; i < rig_part(p->ticks, slice) && !r->daily.config.tick_budget_off; i++)
        dn_slo_took(rig_history(r, DN_DAILY_TICK_BUDGET), p->tick_ms * INT64_C(1000));
    for (uint32_t i = 0; i < rig_part(p->jobs, slice); i++)
        dn_slo_took(jobs, p->job_ms * INT64_C(1000));
    for (uint32_t i = 0; i < rig_part(p->slow_jobs, slice); i++)
        dn_slo_took(jobs, p->slow_ms * INT64_C(1000));
    for (uint32_t i = 0; i < rig_part(p->successes, slice); i++) rig_ended(r, true, p->due);
    for (uint32_t i = 0; i < rig_part(p->misses, slice); i++) rig_ended(r, false, p->due);
    rig_levels(r, p, slice, r->now_ns);
    r->now_ns += MINUTE_NS / SLICES;
    if (p->rolls_each_slice) dn_slo_table_roll(r->slos, r->now_ns);
}

static inline void rig_minutes(rig *r, int minutes, plan p) {
    for (; minutes > 0; minutes--) {
        for (uint32_t slice = 0; slice < SLICES; slice++) rig_slice(r, &p, slice);
        rig_evaluate(r);
    }
}

#endif
