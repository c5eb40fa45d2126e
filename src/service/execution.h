/* task.h - one attempt under way, an actor of its own. */
#ifndef DIURNAL_SERVICE_EXECUTION_H
#define DIURNAL_SERVICE_EXECUTION_H

#include "journal.h"
#include "messages.h"

/* What all tasks of an executor have in common. It is the executor's: whose executor is gone does not touch it. */
typedef struct dn_execution_terms {
    dn_runner        *runner;
    const dn_journal *journal;
    int64_t           timeout_ms;
    uint32_t          window_minutes;
} dn_execution_terms;

/* What a task is told. */
typedef struct dn_execution_brief {
    dn_ref                    executor;
    const dn_execution_terms *terms;
    uint64_t                  n;
    uint64_t                  tag; /* comes back in dn_execution_outcome */
    dn_day                    day;
    uint32_t                  attempt, context_epoch;
    uint16_t                  due; /* not to begin outside its window */
    uint8_t                   id_len;
    char                      id[];
} dn_execution_brief;

extern const dn_class dn_execution_class; /* config: dn_execution_brief */

#endif
