/* memory_outbox.h - the outbox in memory: hooks by id, and an index of them by due time.
 * Ids rise and hooks leave in about the order they came, so both arrays grow at the end and shrink from the front. */
#ifndef DIURNAL_STORE_MEMORY_MEMORY_OUTBOX_H
#define DIURNAL_STORE_MEMORY_MEMORY_OUTBOX_H

#include "domain/daily_rule.h"

typedef struct outbox_hook {
    uint64_t user;  /* 0: deleted */
    uint64_t older; /* the same user's previous hook, 0: none; it may be deleted */
    int64_t  next_ms;
    dn_day   day;
    uint32_t context_epoch;
    uint16_t due, attempts;
} outbox_hook;

/* An entry of the index by due time. It is stale if its hook is deleted or due at another time. */
typedef struct outbox_place {
    int64_t  next_ms;
    uint64_t n;
} outbox_place;

typedef struct outbox {
    outbox_hook  *hooks; /* of the ids first.. */
    uint64_t      first;
    size_t        len, cap;
    size_t        gone;  /* deleted hooks at the front */
    outbox_place *order; /* sorted by next_ms, then by id */
    size_t        order_len, order_cap;
    size_t        begin; /* all entries before it are stale */
    size_t        alive; /* hooks that are not deleted */
} outbox;

void outbox_init(outbox *o);
void outbox_done(outbox *o);

/* Makes room for so many new hooks and so many moves. */
DN_MUST_USE int outbox_reserve(outbox *o, size_t hooks, size_t moves);

/* Adds a hook and returns its id. */
uint64_t outbox_add(outbox *o, outbox_hook hook);
bool     outbox_remove(outbox *o, uint64_t n); /* false: no such hook */
bool     outbox_move(outbox *o, uint64_t n, uint16_t attempts, int64_t next_ms);
/* Removes this hook and all older ones of the same user. */
void outbox_remove_user(outbox *o, uint64_t user, uint64_t newest);

/* The next hook by due time, from *at on (0: the first); NULL: no more. Borrowed until the outbox changes. */
const outbox_hook *outbox_next_borrow(const outbox *o, size_t *at, uint64_t *out_n);

#endif
