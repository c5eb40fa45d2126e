/* slo.h - the SLOs of the daily path, as rows for obs/slo_watcher.h. */
#ifndef DIURNAL_DAILY_SLO_H
#define DIURNAL_DAILY_SLO_H

#include "obs/slo_watcher.h"

/* The rows, in this order. The last two are on only with an objective. */
enum {
    DN_DAILY_TICK_BUDGET,
    DN_DAILY_SATURATION,
    DN_DAILY_QUEUE_PRESSURE,
    DN_DAILY_JOB_LATENCY,
    DN_DAILY_CUTOFF_MISS_RATE,
    DN_DAILY_CUTOFF_BURN_FAST,
    DN_DAILY_CUTOFF_BURN_SLOW,
    DN_DAILY_SLOS
};

/* As the settings of the same names. */
typedef struct dn_daily_slo_config {
    int64_t  eval_ms;
    uint32_t window_minutes, breach_consecutive;
    double   tick_budget_ms, sat_ratio, depth_avg_max, job_p95_max_ms, cutoff_rate_max;
    double   cutoff_objective; /* the share of users to be served; 0: no burn rates */
    bool     tick_budget_off;  /* in replay, where ticks take no time */
} dn_daily_slo_config;

typedef struct dn_daily_slo {
    dn_daily_slo_config   config;
    dn_slo_row            rows[DN_DAILY_SLOS];
    dn_slo_watcher_config watcher; /* refers to rows, so a copy of the whole is of no use */
} dn_daily_slo;

/* Numbers out of their range are refused when the watcher starts. */
void dn_daily_slo_init(dn_daily_slo *slo, const dn_daily_slo_config *config);

#endif
