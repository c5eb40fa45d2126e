/* pipe.h - packs many entries into one message and sends it to one actor.
 * A pipe gathers entries and sends them when a message is full or the pipe is flushed. If the receiver's mailbox is
 * full, the messages wait in the pipe, in order: no entry is lost and no actor blocks. This is the backpressure between
 * two actors. */
#ifndef DIURNAL_ACTOR_PIPE_H
#define DIURNAL_ACTOR_PIPE_H

#include "diurnal/actor.h"

#include <assert.h>
#include <string.h>

/* ---- Reading ---- */

/* The distance from an entry of that size to the next one. */
static inline size_t dn_pipe_stride(size_t size) { return (size + 7) & ~(size_t)7; }

/* for (DN_PIPE_EACH(dn_x, x, msg)) …; DN_PIPE_EACH_ID is for entries that end with an id. */
#define DN_PIPE_END_(type, msg)                                                                    \
    ((const type *)(const void *)((const char *)dn_msg_body_borrow(msg) + dn_msg_size(msg)))
#define DN_PIPE_EACH(type, entry, msg)                                                             \
    const type *entry = dn_msg_body_borrow(msg), *entry##_end = DN_PIPE_END_(type, msg);           \
    entry < entry##_end;                                                                           \
    entry++
#define DN_PIPE_EACH_ID(type, entry, msg)                                                          \
    const type *entry = dn_msg_body_borrow(msg), *entry##_end = DN_PIPE_END_(type, msg);           \
    entry < entry##_end;                                                                           \
    entry = (const type *)(const void *)((const char *)entry +                                     \
                                         dn_pipe_stride(sizeof *entry + entry->id_len))

/* ---- Writing ---- */

enum { DN_PIPE_BYTES = 16384 };

/* Releases what an entry owns (a reference to a blob, say) and returns the distance to the next entry. */
typedef size_t dn_pipe_release_fn(void *entry);

/* `waiting` grows as the sender goes on adding, so a sender bounds it by adding only what it has in hand. */
typedef struct dn_pipe {
    dn_ref              to;
    uint32_t            kind;
    uint32_t            len;     /* bytes gathered */
    unsigned char      *bytes;   /* NULL: none yet, or the last message took them */
    dn_pipe_release_fn *release; /* NULL: entries own nothing */
    dn_msg            **waiting; /* for a place in the mailbox; oldest first */
    size_t              waiting_len, waiting_cap;
} dn_pipe;

/* Call in init. name: the receiver's. */
void dn_pipe_init(dn_self *self, dn_pipe *p, const char *name, uint32_t kind);

/* The same for entries that own something: a message that is dropped, or has been handled, releases all its entries.
 * A receiver that keeps what an entry owns takes a reference of its own. */
void dn_pipe_init_owning(dn_self *self, dn_pipe *p, const char *name, uint32_t kind,
                         dn_pipe_release_fn *release);

/* For dn_pipe_add alone: sends what has been gathered and makes place for the next entry. */
void dn_pipe_turn(dn_self *self, dn_pipe *p);

/* Adds an entry of size bytes and returns it. Fill all of it before the next call on the pipe. The bytes between its end
 * and the next entry are zero. */
static inline void *dn_pipe_add(dn_self *self, dn_pipe *p, size_t size) {
    const size_t stride = dn_pipe_stride(size);

    assert(size > 0 && stride <= DN_PIPE_BYTES);
    if (!p->bytes || p->len + stride > DN_PIPE_BYTES) dn_pipe_turn(self, p);
    void *entry = p->bytes + p->len;
    memset((char *)entry + stride - 8, 0, 8);
    p->len += (uint32_t)stride;
    return entry;
}

/* Sends what has been gathered. Call it in the flush of the class, or at the end of a handler. */
void dn_pipe_flush(dn_self *self, dn_pipe *p);

/* Drops what has not been sent and leads the pipe to another actor. */
void dn_pipe_redirect(dn_self *self, dn_pipe *p, dn_ref to);

/* Call it for each pipe when DN_MSG_ROOM comes. */
void dn_pipe_on_room(dn_self *self, dn_pipe *p);

/* True: the receiver has taken all messages so far. A sender stops making work for it while this is false. */
static inline bool dn_pipe_is_free(const dn_pipe *p) { return p->waiting_len == 0; }

#endif
