/* execution.h - one attempt under way, an actor of its own. */
#ifndef DIURNAL_ENGINE_EXECUTION_H
#define DIURNAL_ENGINE_EXECUTION_H

#include "executor.h"
#include "messages.h"

/* What all executions of a type share. It belongs to the executor: an execution does not read it after the executor has
 * ended. */
typedef struct dn_execution_terms {
    dn_runner          *runner;
    const dn_work_type *type;
} dn_execution_terms;

typedef struct dn_execution_brief {
    dn_ref                    executor, source;
    const dn_execution_terms *terms;
    dn_blob                  *body; /* the executor's reference */
    uint64_t                  tag;  /* returns in dn_executed */
    uint64_t                  subject;
    int64_t                   opens_ms, closes_ms, timeout_ms;
    uint16_t                  key_len;
    char                      key[];
} dn_execution_brief;

extern const dn_class dn_execution_class; /* config: dn_execution_brief */

#endif
