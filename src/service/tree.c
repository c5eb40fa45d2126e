/* tree.c - the tree of actors: which starts before which, and which restart together.
 * Only this file knows all paths. An actor that stands later in `core` believes what stands earlier, so it restarts with
 * it: the sources of work after the executor, everything after kv. */
#include "daily/daily_messages.h"
#include "engine/execution.h"
#include "service.h"

#include <assert.h>
#include <string.h>

const char *const dn_service_loops[] = {"main", "run", "store"};

#define SERVICE_CORE "core"
#define SERVICE_EDGE "edge"

enum { INTENSITY = 10, PERIOD_MS = 60000, MARGIN_MS = 10000, WRITE_MS = 60000 };
enum { WORK_DAILY, WORK_HOOK };

/* ---- The settings of each actor ---- */

static void make_settings(const dn_service_config *c, dn_service_tree *t) {
    t->daily = (dn_daily_config){
        .tick_ms = c->tick_ms,
        .window_minutes = c->window_minutes,
        .retry_delay_minutes = c->retry_delay_minutes,
        .job_timeout_ms = c->job_timeout_ms,
        .shutdown_grace_ms = c->shutdown_grace_ms,
        .ledger_days = c->ledger_days,
        .ticks_stand_still = c->ticks_stand_still,
        .has_hook = c->has_hook,
        .work_type = WORK_DAILY,
        .bounds = c->daily_bounds,
        .journal = c->journal,
    };
    t->daily_part = dn_daily_part(&t->daily);
    t->kv = (dn_kv_config){
        .bounds = c->kv_bounds,
        .store = c->store,
        .parts = {&dn_kv_common_part, &dn_kv_backup_part, &t->daily_part},
        .parts_len = 3,
        .fatal = c->fatal,
        .fatal_context = c->fatal_context,
        .all_written = c->all_written,
    };
    t->outbox = (dn_outbox_config){
        .type = WORK_HOOK, .timeout_ms = c->job_timeout_ms, .request = dn_daily_hook_request};
    t->executor = (dn_executor_config){
        .types[WORK_DAILY] = dn_daily_work_type(&t->daily, &c->runner),
        .types_len = 1,
        .sources = {{ACTOR_QUEUE, DN_SLOTS_JOBS, 1}, {ACTOR_OUTBOX, DN_SLOTS_DELIVERIES, 1}},
        .sources_len = c->has_hook ? 2 : 1,
        .slots = {[DN_SLOTS_JOBS] = c->max_concurrency,
                  [DN_SLOTS_DELIVERIES] = c->has_hook ? DN_OUTBOX_SLOTS : 0},
        .report_ms = c->tick_ms,
    };
    if (!c->has_hook) return;
    t->executor.types[WORK_HOOK] = (dn_work_type){.name = "hook", .runner = &c->hook};
    t->executor.types_len = 2;
}

/* ---- The actors ---- */

static dn_child_spec child(const char *name, const dn_class *cls, const char *loop,
                           const void *config) {
    return (dn_child_spec){
        .name = name,
        .actor_class = cls,
        .config = config,
        .loop = loop,
        .shutdown_ms = MARGIN_MS,
        .backoff = {.min_ms = 100, .max_ms = 10000, .stable_ms = 60000},
    };
}

static size_t make_core(const dn_service_config *c, dn_service_tree *t) {
    size_t len = 0;

    make_settings(c, t);
    dn_child_spec writer = child(ACTOR_KV, &dn_kv_class, "store", &t->kv);
    writer.shutdown_ms = WRITE_MS; /* long enough to write everything that waits in it */
    t->core_children[len++] = writer;
    /* The executor keeps to its slots. An execution whose run has stopped may still have its last message to handle when
     * another is started in its place: a bound here would refuse that one. */
    t->executions = (dn_dynamic_spec){.actor_class = &dn_execution_class, .shutdown_ms = MARGIN_MS};
    dn_child_spec executions = dn_dynamic_child(ACTOR_EXECUTIONS, &t->executions);
    executions.loop = "run"; /* with the executor and the runners */
    t->core_children[len++] = executions;
    t->core_children[len++] = child(ACTOR_EXECUTOR, &dn_executor_class, "run", &t->executor);
    dn_child_spec queue = child(ACTOR_QUEUE, &dn_queue_class, "main", &t->daily);
    queue.shutdown_ms = c->shutdown_grace_ms + MARGIN_MS; /* it waits for what runs */
    t->core_children[len++] = queue;
    t->core_children[len++] = child(ACTOR_TICK, &dn_tick_class, "main", &t->daily);
    if (c->has_hook)
        t->core_children[len++] = child(ACTOR_OUTBOX, &dn_outbox_class, "run", &t->outbox);
    assert(len <= DN_CORE_CHILDREN);
    return len;
}

void dn_service_tree_make(const dn_service_config *config, const dn_child_spec *edge,
                          size_t edge_len, dn_service_tree *out_tree) {
    dn_service_tree *t = out_tree;
    size_t           len = 0;

    t->core = (dn_supervisor_spec){
        .strategy = DN_REST_FOR_ONE, .intensity = INTENSITY, .period_ms = PERIOD_MS};
    t->core.children.rows = t->core_children;
    t->core.children.len = make_core(config, t);
    t->edge = (dn_supervisor_spec){
        .strategy = DN_ONE_FOR_ONE, .intensity = INTENSITY, .period_ms = PERIOD_MS};
    t->edge.children.rows = edge;
    t->edge.children.len = edge_len;
    if (config->witness) t->top_children[len++] = *config->witness;
    t->top_children[len++] = dn_supervisor_child(SERVICE_CORE, &t->core);
    if (edge_len > 0) t->top_children[len++] = dn_supervisor_child(SERVICE_EDGE, &t->edge);
    assert(len <= DN_TOP_CHILDREN);
    t->top = (dn_supervisor_spec){
        .strategy = DN_ONE_FOR_ONE, .intensity = INTENSITY, .period_ms = PERIOD_MS};
    t->top.children.rows = t->top_children;
    t->top.children.len = len;
}

const char *dn_service_supervisor_of(const dn_service_config *config, const char *name,
                                     const char *cls) {
    dn_service_tree t;
    const size_t    len = make_core(config, &t);

    if (strcmp(name, DN_SERVICE_TOP) == 0) return NULL;
    if (strcmp(name, SERVICE_CORE) == 0 || strcmp(name, SERVICE_EDGE) == 0) return DN_SERVICE_TOP;
    if (config->witness && strcmp(name, config->witness->name) == 0) return DN_SERVICE_TOP;
    if (strcmp(cls, dn_execution_class.name) == 0) return ACTOR_EXECUTIONS;
    for (size_t i = 0; i < len; i++)
        if (strcmp(name, t.core_children[i].name) == 0) return SERVICE_CORE;
    return SERVICE_EDGE;
}
