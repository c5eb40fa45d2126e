/* pending.h - users that a trace registers, changes or removes, until that is committed.
 * They are handed to kv in their order, a few thousand ahead of what is committed; what a crash of the process took from
 * kv's line is handed to it anew. */
#ifndef DIURNAL_REPLAY_PENDING_H
#define DIURNAL_REPLAY_PENDING_H

#include "trace/trace.h"

typedef struct pending_op pending_op;

/* A place in what waits: so many operations from the first, and so many users of that one. */
typedef struct pending_place {
    size_t   op;
    uint32_t user;
} pending_place;

typedef struct pending {
    pending_op **
        ops; /* a ring's worth would do; what is done is moved away when there is room for as much */
    size_t        len, cap;
    pending_place done, sent;
    uint64_t      ahead; /* users sent and not done */
} pending;

void            pending_free(pending *p);
DN_MUST_USE int pending_add(pending *p, const trace_op *op); /* USER, USERS or REMOVE */

/* The next message for kv: its kind, and its body of at most PENDING_BYTES. 0: nothing, for now. */
enum { PENDING_BYTES = 16384, PENDING_AHEAD_MAX = 16384 };
size_t pending_next(pending *p, uint32_t *out_kind, void *body);

/* Committed: a registration or a removal of that id. */
void pending_is_set(pending *p);
void pending_is_removed(pending *p, const char *id, size_t id_len);

/* Whoever was handed anything is gone. */
void pending_again(pending *p);

#endif
