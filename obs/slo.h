/* slo.h - the watcher's memory: what happened in the last minutes, what was found of it, and what is to be said.
 * Belongs to one actor. About once a minute, and before it evaluates, that rolls: what the cells hold more than at the last
 * roll goes to the minute of this roll; the time of a level is spread evenly over the time between the two. All it has
 * is allocated at the start: 18 KB for each minute of the window, and 0.7 MB. A restart begins with empty windows.
 *
 * Windows (dn_window): the current minute and those before it, so many in all.
 * - tick_budget, job_latency: p95 of the window. saturation, queue_pressure: by time, if half of the window was watched.
 *   queue_pressure also if each whole minute of a whole window was above the one before, by a tenth of depth_avg_max in all.
 * - cutoff_miss_rate: of the window. Where that is in doubt, for it has fewer than three misses, the last day is asked,
 *   and then the last three: so an installation of five users, or of one, hears of it within three days when all
 *   are missed. What was warned of over one of these spans recovers over the same one.
 * - cutoff_burn_fast, cutoff_burn_slow: only with an objective; from the first breach on, but not before the shorter window was
 *   watched in full.
 * The rules are in slo_rules.h. */
#ifndef DIURNAL_OBS_SLO_H
#define DIURNAL_OBS_SLO_H

#include "slo_cells.h"
#include "slo_rules.h"

typedef enum dn_slo_name {
    DN_SLO_TICK_BUDGET,
    DN_SLO_SATURATION,
    DN_SLO_QUEUE_PRESSURE,
    DN_SLO_JOB_LATENCY,
    DN_SLO_CUTOFF_MISS_RATE,
    DN_SLO_CUTOFF_BURN_FAST,
    DN_SLO_CUTOFF_BURN_SLOW,
    DN_SLO_NAMES /* how many */
} dn_slo_name;

/* "tick_budget". Never NULL. */
const char *dn_slo_text(dn_slo_name name);

typedef struct dn_slo_config {
    uint32_t window_minutes;     /* 1 to 1440 */
    uint32_t breach_consecutive; /* 1 or more */
    double   tick_budget_ms, sat_ratio, depth_avg_max, job_p95_max_ms,
        cutoff_rate_max;     /* 0 or more */
    double cutoff_objective; /* the share to be served, above 0 and below 1; 0: no burn rates */
    bool   tick_budget_off;  /* in replay, where ticks take no time */
} dn_slo_config;

typedef struct dn_slo_status {
    bool           on;
    bool           breached; /* warned of, and not recovered; no verdict and doubt leave it */
    bool           measured; /* else there is no value */
    dn_slo_verdict verdict;  /* of the last evaluation */
    uint32_t       streak;   /* evaluations in a row */
    double         value, threshold; /* ms, share, items, ms, share, times the budget */
    uint32_t       window_minutes;   /* what the value was measured over */
    int64_t since_ns; /* monotonic: breached, or not, since then; the first roll at the earliest */
    /* queue_pressure: it rose all through the window, by so much. */
    bool   rising;
    double rise;
    /* cutoff_miss_rate and the burn rates (of their longer window). worst_due: the minute of the day with most misses,
     * -1 without any; of equals the earliest. */
    uint64_t misses, finalizations, worst_misses;
    int32_t  worst_due;
} dn_slo_status;

/* At most one of each SLO an evaluation; breached as in its status now. */
typedef struct dn_slo_change {
    dn_slo_name name;
    bool        breached;
} dn_slo_change;

typedef struct dn_slo dn_slo;

/* DN_EINVAL: a number of the config is out of its range. DN_ENOMEM. On DN_OK the caller owns *out_slo; else it is untouched. */
DN_MUST_USE int dn_slo_new(const dn_slo_config *config, dn_slo **out_slo);
void            dn_slo_free(dn_slo *slo);

/* The first roll only remembers what the cells hold. mono_ns: an instant before the last one counts as that. */
void dn_slo_roll(dn_slo *slo, const dn_slo_cells *cells, int64_t mono_ns);

/* Right after a roll of the same instant. Returns how many changes it wrote. */
size_t dn_slo_evaluate(dn_slo *slo, int64_t mono_ns, dn_slo_change out_changes[DN_SLO_NAMES]);

/* As of the last evaluation. Borrowed for as long as the slo lives. */
const dn_slo_status *dn_slo_status_borrow(const dn_slo *slo, dn_slo_name name);

#endif
