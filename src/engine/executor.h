/* executor.h - runs the work of all sources, never more at once than there are slots. */
#ifndef DIURNAL_ENGINE_EXECUTOR_H
#define DIURNAL_ENGINE_EXECUTOR_H

#include "diurnal/actor.h"
#include "runner/runner.h"

/* How work of one type is run. */
typedef struct dn_work_type {
    const char             *name;
    const dn_runner_config *runner;
    /* Called in the handler of the execution, at the instant its run begins. May be NULL. */
    void (*begins)(const void *context, dn_self *self, uint64_t subject, const dn_blob *body);
    const void *context;
} dn_work_type;

/* Slots come in pools: sources of one pool share its slots, and no pool waits for another. */
typedef enum dn_slot_pool {
    DN_SLOTS_JOBS,       /* max_concurrency: the daily path and the rail */
    DN_SLOTS_DELIVERIES, /* what the daemon itself delivers */
    DN_SLOT_POOLS,
} dn_slot_pool;

/* An actor that gives work. */
typedef struct dn_source_spec {
    const char  *actor; /* its name */
    dn_slot_pool pool;
    uint32_t     weight; /* its share of the pool, while others of the pool want slots too */
} dn_source_spec;

enum { DN_WORK_TYPES_MAX = 8, DN_SOURCES_MAX = 8 };

typedef struct dn_executor_config {
    dn_work_type   types[DN_WORK_TYPES_MAX];
    size_t         types_len;
    dn_source_spec sources[DN_SOURCES_MAX];
    size_t         sources_len;
    uint32_t       slots[DN_SLOT_POOLS];
    int64_t        report_ms; /* in_flight is emitted at least this often */
} dn_executor_config;

extern const dn_class dn_executor_class; /* config: dn_executor_config */

#endif
