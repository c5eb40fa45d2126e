/* daily_path.h - the daily path: its settings, its actors, and what it adds to kv and to the executor. */
#ifndef DIURNAL_DAILY_DAILY_PATH_H
#define DIURNAL_DAILY_DAILY_PATH_H

#include "engine/executor.h"
#include "engine/kv.h"
#include "engine/outbox_source.h"
#include "journal.h"

/* How much the actors do at once. 0: the most, which each names beside its use. A simulation crosses small bounds with
 * few users. */
typedef struct dn_daily_bounds {
    uint32_t slice_looks, slice_plans, plans; /* tick */
    uint32_t page_users;                      /* kv */
    uint32_t lookups, expired, swept, offers; /* queue */
} dn_daily_bounds;

/* Set before start, and borrowed for the life of the runtime. */
typedef struct dn_daily_config {
    int64_t         tick_ms;
    uint32_t        window_minutes;
    uint32_t        retry_delay_minutes;
    int64_t         job_timeout_ms;
    int64_t         shutdown_grace_ms;
    uint32_t        ledger_days;
    bool            ticks_stand_still; /* replay: steps of the wall clock do not move ticks */
    bool            has_hook;          /* each cutoff puts a hook into the outbox */
    uint16_t        work_type;         /* of its work: an index into dn_executor_config.types */
    dn_daily_bounds bounds;

    const dn_journal *journal; /* NULL: nobody listens */
} dn_daily_config;

extern const dn_class dn_tick_class;  /* the planner; config: dn_daily_config */
extern const dn_class dn_queue_class; /* config: dn_daily_config */

/* What kv gets: users, ledger, totals. */
dn_kv_part dn_daily_part(const dn_daily_config *config);

/* How a user's job is run. */
dn_work_type dn_daily_work_type(const dn_daily_config *config, const dn_runner_config *runner);

/* dn_outbox_config.request: what a runner is asked for a cutoff. */
int dn_daily_hook_request(const dn_hook *hook, int64_t deadline_ms, dn_outbox_request *out_request);

#endif
