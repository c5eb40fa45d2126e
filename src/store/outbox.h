/* outbox.h - the outbox: hooks that wait to be delivered.
 * The transaction that finalizes a day as cutoff adds the hook, so no committed cutoff lacks one. Types and reads;
 * writes go through dn_store_write (store.h). */
#ifndef DIURNAL_STORE_OUTBOX_H
#define DIURNAL_STORE_OUTBOX_H

#include "domain/daily_rule.h"

typedef struct dn_store dn_store;

typedef struct dn_hook {
    uint64_t id; /* never reused */
    dn_day   day;
    uint32_t due, context_epoch; /* of the user at the cutoff */
    uint16_t attempts;
    int64_t  next_ms; /* earliest next attempt, by the outbox clock */
    uint8_t  user_id_len;
    char     user_id[DN_ID_MAX + 1];
} dn_hook;

/* Reads the hooks due at now_ms, the longest due first. *out_next_ms: when the next of the others is due, INT64_MAX if
 * there is none. */
DN_MUST_USE int dn_store_outbox(dn_store *store, int64_t now_ms, dn_hook *hooks, size_t max,
                                size_t *out_len, int64_t *out_next_ms);

/* The delay after that many attempts: 1 s, 2 s, 4 s ... at most 1 h. */
int64_t dn_hook_delay_ms(uint16_t attempts);

/* Where the outbox clock starts. This clock is the caller's: it is set here once and then runs with the steady clock,
 * so that a step of the wall clock moves no hook. It starts at wall_ms, or later if some hook would otherwise wait
 * longer than its delay because the wall clock was set back. */
DN_MUST_USE int dn_store_outbox_clock(dn_store *store, int64_t wall_ms, int64_t *out_ms);

#endif
