/* pack.h - many entries in one message, and the way they go.
 * A pipe gathers entries for one receiver and sends them when there are enough of them, or when it is flushed. If the
 * receiver's mailbox is full they wait here, in order, until it has room: so nothing is lost and nobody blocks. */
#ifndef DIURNAL_ACTOR_PIPE_H
#define DIURNAL_ACTOR_PIPE_H

#include "diurnal/actor.h"

#include <assert.h>
#include <string.h>

/* ---- Reading ---- */

/* Where the entry after one of so many bytes begins. */
static inline size_t dn_pipe_stride(size_t size) { return (size + 7) & ~(size_t)7; }

/* for (DN_PIPE_EACH(dn_x, x, msg)) … ; the other one for entries that end with an id. */
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

enum { DN_PIPE_BYTES = 16384, DN_PIPE_WAITING_MAX = 64 };

/* Who makes more work only while the pipe is free cannot come to the end of `waiting`; who does not, fails there. */
typedef struct dn_pipe {
    dn_ref         to;
    uint32_t       kind;
    uint32_t       len;                    /* bytes gathered */
    unsigned char *bytes;                  /* NULL: none yet, or they have gone as they were */
    dn_msg  *waiting[DN_PIPE_WAITING_MAX]; /* the receiver had no room for them; oldest first */
    uint32_t waiting_len;
} dn_pipe;

/* In init. name: the receiver's. */
void dn_pipe_init(dn_self *self, dn_pipe *p, const char *name, uint32_t kind);

/* For dn_pipe_add alone: sends what has been gathered, and has room for the next. */
void dn_pipe_turn(dn_self *self, dn_pipe *p);

/* Room for an entry of so many bytes: all of them are to be filled before anything else is done with the pipe. Up to
 * where the next begins there are zeros behind it. */
static inline void *dn_pipe_add(dn_self *self, dn_pipe *p, size_t size) {
    const size_t room = dn_pipe_stride(size);

    assert(size > 0 && room <= DN_PIPE_BYTES);
    if (!p->bytes || p->len + room > DN_PIPE_BYTES) dn_pipe_turn(self, p);
    void *entry = p->bytes + p->len;
    memset((char *)entry + room - 8, 0, 8);
    p->len += (uint32_t)room;
    return entry;
}

/* Sends what has been gathered. In the flush of the class, or at the end of a handler. */
void dn_pipe_flush(dn_self *self, dn_pipe *p);

/* From now on it leads to that one; what was gathered and has not gone is dropped. */
void dn_pipe_redirect(dn_self *self, dn_pipe *p, dn_ref to);

/* To be called for each pipe when DN_MSG_ROOM comes. */
void dn_pipe_on_room(dn_self *self, dn_pipe *p);

/* Has the receiver taken everything so far? Who makes work for it stops until it has. */
static inline bool dn_pipe_is_free(const dn_pipe *p) { return p->waiting_len == 0; }

#endif
