/* explain.h - what happened to a user and what comes next, in plain sentences. A function of its arguments: no clock. Any
 * thread. */
#ifndef DIURNAL_API_EXPLAIN_H
#define DIURNAL_API_EXPLAIN_H

#include "daily/daily_messages.h"

#include <jansson.h>

typedef struct dn_facts {
    dn_user              user;
    const dn_ledger_row *rows; /* newest first */
    size_t               rows_len;
    dn_queued_user       queued;
    uint32_t             window_minutes;
    uint32_t             ledger_days;
    int64_t              now_ms;
    dn_day               day; /* asked for; DN_DAY_NONE: yesterday, today, and what comes next */
} dn_facts;

/* An array of sentences, the caller's. NULL: out of memory. */
json_t *dn_explain(const dn_facts *facts);

#endif
