/* service.h - the daily service as a whole: its settings, its tree, and what an embedding program calls. */
#ifndef DIURNAL_SERVICE_SERVICE_H
#define DIURNAL_SERVICE_SERVICE_H

#include "diurnal/supervisor.h"
#include "runner/runner.h"
#include "service/journal.h"
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
    bool     ticks_stand_still; /* replay: ticks are not moved by steps of the wall clock */

    dn_store        *store; /* kv's alone from the start of the runtime to its end */
    dn_runner_config runner;
    dn_runner_config hook; /* cutoff hooks */
    bool             has_hook;

    const dn_journal *journal; /* NULL: nobody listens */
    /* Who is to see all of it: starts before the core and ends behind it. NULL: nobody */
    const dn_child_spec *witness;

    /* The store has failed in a way that nobody can go on from. Does not return where there is a process to
     * end; a simulation crashes its own. */
    void (*fatal)(void *context, const char *why);
    void *fatal_context;

    bool *
        all_written; /* true from when kv has ended, if it left no write behind. NULL: nobody asks */
} dn_service_config;

/* The loops the service wants, the first one being the caller's. */
extern const char *const dn_service_loops[];
enum { DN_SERVICE_LOOPS = 3 };

/* The tree, whose root is a supervisor of the spec `top`, by the name of DN_SERVICE_TOP: `core` with the daily path, and beside it `edge` with
 * what may come and go without a job noticing. The specs live here. */
typedef struct dn_service_tree {
    dn_child_spec      core_children[8], top_children[3];
    dn_supervisor_spec core, edge, top;
    dn_dynamic_spec    tasks;
} dn_service_tree;

#define DN_SERVICE_TOP "top"

/* edge: children of the edge supervisor, or none. */
void dn_service_tree_make(const dn_service_config *config, const dn_child_spec *edge,
                          size_t edge_len, dn_service_tree *out_tree);

/* Who starts an actor of that name and class, and stops with it; NULL: nobody, it is the root. */
const char *dn_service_supervisor_of(const dn_service_config *config, const char *name,
                                     const char *cls);

#endif
