/* task.h - one attempt under way, an actor of its own. */
#ifndef DIURNAL_SERVICE_TASK_H
#define DIURNAL_SERVICE_TASK_H

#include "journal.h"
#include "messages.h"

/* What a task is told. The runner is the executor's: a task whose executor is gone does not touch it. */
typedef struct dn_task_brief {
    dn_ref            executor;
    dn_runner        *runner;
    const dn_journal *journal;
    uint64_t          n;
    uint32_t          slot, use; /* come back in dn_task_outcome */
    int64_t           timeout_ms;
    int64_t           cutoff_ms; /* not to begin then, or later */
    dn_run_type       type;
    dn_day            day;
    uint32_t          due, attempt, context_epoch;
    uint8_t           id_len;
    char              id[];
} dn_task_brief;

extern const dn_class dn_task_class; /* config: dn_task_brief */

#endif
