/* handoff.h - one thread fills batches of memory, another takes what is in them.
 * For work of which nothing comes back to who hands it on, and which is too much to be sent as messages. The batches stand in
 * a ring, so the two meet once a batch; who fills waits where the other is a whole ring behind. */
#ifndef DIURNAL_HANDOFF_H
#define DIURNAL_HANDOFF_H

#include "diurnal/base.h"

typedef struct dn_handoff dn_handoff;

/* On the thread of its own: one batch after the other, in the order they were given. */
typedef void dn_handoff_take(void *context, const void *batch, size_t len);

/* DN_ENOMEM: no memory, or no thread. */
DN_MUST_USE int dn_handoff_new(size_t batches, size_t bytes, dn_handoff_take *take, void *context,
                               dn_handoff **out_handoff);
/* Accepts NULL; what was given and not taken is dropped. */
void dn_handoff_free(dn_handoff *handoff);

/* The batch to be filled, for the one thread that fills; aligned for anything. It waits until there is one. */
void *dn_handoff_batch(dn_handoff *handoff);
/* It has len bytes, and is the other thread's from now on. */
void dn_handoff_give(dn_handoff *handoff, size_t len);

/* All that was given has been taken, and what the other thread wrote is the caller's to read until the next is given. */
void dn_handoff_settle(dn_handoff *handoff);

/* May this process run on more than one processor at a time? */
bool dn_handoff_has_room(void);

#endif
