/* service.h - the whole service: its settings, its tree of actors, and what an embedding program calls. */
#ifndef DIURNAL_SERVICE_SERVICE_H
#define DIURNAL_SERVICE_SERVICE_H

#include "daily/daily_path.h"
#include "diurnal/supervisor.h"
#include "runner/runner.h"
#include "store/store.h"

/* Set before start, and borrowed for the life of the runtime. */
typedef struct dn_service_config {
    int64_t  tick_ms;
    uint32_t window_minutes;
    uint32_t retry_delay_minutes;
    uint32_t max_concurrency;
    int64_t  job_timeout_ms;
    int64_t  shutdown_grace_ms;
    uint32_t ledger_days;
    bool     ticks_stand_still; /* replay: steps of the wall clock do not move ticks */

    dn_store        *store; /* kv's alone from the start of the runtime to its end */
    dn_runner_config runner;
    dn_runner_config hook; /* cutoff hooks */
    bool             has_hook;

    dn_kv_bounds    kv_bounds;
    dn_daily_bounds daily_bounds;

    const dn_journal *journal; /* NULL: nobody listens */
    /* An actor that sees all of it: it starts before the core and ends after it. May be NULL. */
    const dn_child_spec *witness;

    /* The store has failed for good. Does not return where there is a process to end; a simulation crashes its own. */
    void (*fatal)(void *context, const char *why);
    void *fatal_context;

    bool *all_written; /* set to true when kv has ended and left no write behind. May be NULL */
} dn_service_config;

/* The loops the service wants, the first one being the caller's. */
extern const char *const dn_service_loops[];
enum { DN_SERVICE_LOOPS = 3 };

enum { DN_CORE_CHILDREN = 6, DN_TOP_CHILDREN = 3 };

/* The tree: its root is a supervisor of the spec `top`, named DN_SERVICE_TOP; under it `core` with the actors that run
 * work, and `edge` with actors that may come and go without work noticing. The specs and settings live here. */
typedef struct dn_service_tree {
    dn_child_spec      core_children[DN_CORE_CHILDREN], top_children[DN_TOP_CHILDREN];
    dn_supervisor_spec core, edge, top;
    dn_dynamic_spec    executions;
    dn_kv_part         daily_part;
    dn_kv_config       kv;
    dn_executor_config executor;
    dn_outbox_config   outbox;
    dn_daily_config    daily;
} dn_service_tree;

#define DN_SERVICE_TOP "top"

/* edge: children of the edge supervisor, or none. */
void dn_service_tree_make(const dn_service_config *config, const dn_child_spec *edge,
                          size_t edge_len, dn_service_tree *out_tree);

/* The supervisor of an actor of that name and class; NULL: it is the root. */
const char *dn_service_supervisor_of(const dn_service_config *config, const char *name,
                                     const char *cls);

#endif
