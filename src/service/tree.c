/* tree.c - who is there, who starts before whom, and who goes down with whom. */
#include "execution.h"
#include "executor.h"
#include "hooks.h"
#include "kv.h"
#include "queue.h"
#include "service.h"
#include "tick.h"

#include <assert.h>
#include <string.h>

const char *const dn_service_loops[] = {"main", "run", "store"};

#define SERVICE_CORE "core"
#define SERVICE_EDGE "edge"

enum { INTENSITY = 10, PERIOD_MS = 60000, MARGIN_MS = 10000, WRITE_MS = 60000 };

static dn_child_spec child(const char *name, const dn_class *cls, const char *loop,
                           const dn_service_config *config) {
    return (dn_child_spec){
        .name = name,
        .cls = cls,
        .config = config,
        .loop = loop,
        .shutdown_ms = MARGIN_MS,
        .backoff = {.min_ms = 100, .max_ms = 10000, .stable_ms = 60000},
    };
}

/* What stands later believes what stands earlier, and starts again with it. */
static size_t make_core(const dn_service_config *c, dn_service_tree *t) {
    size_t len = 0;

    /* It is the executor that keeps to K. Tasks whose jobs have stopped may still be there, with their last message to
     * handle, when others are started in their place: a bound here would refuse those. */
    t->tasks = (dn_dynamic_spec){.cls = &dn_execution_class, .shutdown_ms = MARGIN_MS};
    dn_child_spec writer = child(ACTOR_KV, &dn_kv_class, "store", c);
    writer.shutdown_ms = WRITE_MS; /* all that stands in its line */
    t->core_children[len++] = writer;
    t->core_children[len++] = child(ACTOR_QUEUE, &dn_queue_class, "main", c);
    dn_child_spec tasks = dn_dynamic_child(ACTOR_EXECUTIONS, &t->tasks);
    tasks.loop = "run"; /* with the executor, and the runner */
    t->core_children[len++] = tasks;
    dn_child_spec executor = child(ACTOR_EXECUTOR, &dn_executor_class, "run", c);
    executor.shutdown_ms = c->shutdown_grace_ms + MARGIN_MS;
    t->core_children[len++] = executor;
    t->core_children[len++] = child(ACTOR_TICK, &dn_tick_class, "main", c);
    if (c->has_hook) t->core_children[len++] = child(ACTOR_HOOKS, &dn_hooks_class, "run", c);
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
