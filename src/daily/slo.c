/* slo.c - the rows, as seed 003 §11.4 asks for them, and two burn rates. */
#include "slo.h"

#include "base/civil.h"

#include <string.h>

/* ---- Sources ---- */

static bool is_success(dn_value status) { return strcmp(status.text, "success") == 0; }

static void due_text(uint32_t due, char text[8]) { dn_due_write(due, text); }

static const dn_slo_group by_due = {"due_bucket", "due", "due_misses", due_text};

static const dn_slo_source
    ticks = {"sched.tick.stop", DN_SLO_DURATIONS, .value = {"duration_ms", DN_REAL}},
    jobs = {"sched.job.stop", DN_SLO_DURATIONS, .value = {"duration_ms", DN_REAL}},
    queue = {"sched.queue.depth", DN_SLO_LEVEL, .value = {"depth", DN_INTEGER}},
    slots = {"sched.executor.in_flight", DN_SLO_LEVEL, .value = {"in_flight", DN_INTEGER},
             .ceiling = "max_concurrency"},
    /* A day that was missed while the daemon was down is no finalization: it has its own warning. */
    days = {"sched.finalize", DN_SLO_OUTCOMES, .value = {"status", DN_TEXT}, .is_good = is_success,
            .group = &by_due};

/* ---- Rows ---- */

enum { HOUR = 60, DAY = 24 * HOUR };

/* clang-format off: rows of a table */
void dn_daily_slo_init(dn_daily_slo *slo, const dn_daily_slo_config *c) {
    const double     budget = 1 - c->cutoff_objective;
    const bool       no_budget = c->cutoff_objective == 0;
    const dn_slo_row rows[DN_DAILY_SLOS] = {
        [DN_DAILY_TICK_BUDGET] = {"tick_budget", "Time a tick takes to plan, 95th percentile",
                                  "p95", &ticks, dn_slo_judge_quantile, DN_SLO_MS,
                                  c->tick_budget_ms, .share = 0.95, .off = c->tick_budget_off},
        [DN_DAILY_SATURATION] = {"saturation", "Share of the time without a free slot",
                                 "no free slot", &slots, dn_slo_judge_full, DN_SLO_SHARE,
                                 c->sat_ratio},
        [DN_DAILY_QUEUE_PRESSURE] = {"queue_pressure", "Users waiting, mean over time",
                                     "mean depth", &queue, dn_slo_judge_mean, DN_SLO_COUNT,
                                     c->depth_avg_max},
        [DN_DAILY_JOB_LATENCY] = {"job_latency", "Time a job runs, 95th percentile", "p95", &jobs,
                                  dn_slo_judge_quantile, DN_SLO_MS, c->job_p95_max_ms,
                                  .share = 0.95},
        [DN_DAILY_CUTOFF_MISS_RATE] = {"cutoff_miss_rate",
                                       "Share of users that missed their cutoff", "missed", &days,
                                       dn_slo_judge_ratio, DN_SLO_SHARE, c->cutoff_rate_max,
                                       .widens = true},
        /* The SRE workbook's pairs for a budget of 30 days: 2 % of it in an hour, 10 % in three days. */
        [DN_DAILY_CUTOFF_BURN_FAST] = {"cutoff_burn_fast",
                                       "Burn rate of the cutoff budget, over an hour and 5 minutes",
                                       "burn rate", &days, dn_slo_judge_burn, DN_SLO_TIMES,
                                       /* limit: */ 14.4, HOUR, /* consecutive: */ 1,
                                       .short_minutes = 5, .share = budget, .off = no_budget},
        [DN_DAILY_CUTOFF_BURN_SLOW] = {"cutoff_burn_slow",
                                       "Burn rate of the cutoff budget, over 3 days and 6 hours",
                                       "burn rate", &days, dn_slo_judge_burn, DN_SLO_TIMES,
                                       /* limit: */ 1, 3 * DAY, /* consecutive: */ 1,
                                       .short_minutes = 6 * HOUR, .share = budget,
                                       .off = no_budget},
    };
    /* clang-format on */

    slo->config = *c;
    for (int i = 0; i < DN_DAILY_SLOS; i++) {
        slo->rows[i] = rows[i];
        if (rows[i].window_minutes > 0) continue;
        slo->rows[i].window_minutes = c->window_minutes;
        slo->rows[i].consecutive = c->breach_consecutive;
    }
    slo->watcher = (dn_slo_watcher_config){
        .rows = slo->rows, .rows_len = DN_DAILY_SLOS, .eval_ms = c->eval_ms};
}
