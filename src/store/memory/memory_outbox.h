/* memory_outbox.h - the outbox in memory: hooks by number, and their order by when they are due.
 * Numbers rise, and hooks leave in about the order they came: both arrays grow at their ends and are given back from
 * the front. */
#ifndef DIURNAL_STORE_MEMORY_MEMORY_OUTBOX_H
#define DIURNAL_STORE_MEMORY_MEMORY_OUTBOX_H

#include "domain/daily.h"

typedef struct outbox_hook {
    uint64_t user;  /* 0: gone */
    uint64_t older; /* the same user's hook before this one, 0: none; it may be gone */
    int64_t  next_ms;
    dn_day   day;
    uint32_t context_epoch;
    uint16_t due, attempts;
} outbox_hook;

/* A place in the order. It holds only while its hook is there and is due just then. */
typedef struct outbox_place {
    int64_t  next_ms;
    uint64_t n;
} outbox_place;

typedef struct outbox {
    outbox_hook  *hooks; /* of the numbers first.. */
    uint64_t      first;
    size_t        len, cap;
    size_t        gone;  /* so many in front are no more */
    outbox_place *order; /* sorted by next_ms, then by number */
    size_t        order_len, order_cap;
    size_t        begin; /* no place before it holds */
    size_t        alive; /* hooks that are there */
} outbox;

void outbox_init(outbox *o);
void outbox_done(outbox *o);

/* Room for so many more hooks, and for as many hooks to change their places. */
DN_MUST_USE int outbox_reserve(outbox *o, size_t hooks, size_t moves);

/* Adds a hook and returns its number. */
uint64_t outbox_add(outbox *o, outbox_hook hook);
bool     outbox_remove(outbox *o, uint64_t n); /* false: there is none */
bool     outbox_move(outbox *o, uint64_t n, uint16_t attempts, int64_t next_ms);
/* That hook and all older ones of the same user. */
void outbox_remove_user(outbox *o, uint64_t user, uint64_t newest);

/* The next hook in the order, from *at on (0: the first); NULL: no more. Borrowed until the outbox changes. */
const outbox_hook *outbox_next_borrow(const outbox *o, size_t *at, uint64_t *out_n);

#endif
