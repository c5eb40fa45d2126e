/* msg.c - message bodies, and the accessors the public header promises. */
#include "msg.h"

#include "body.h"
#include "loop.h"
#include "mem.h"

#include <string.h>

void msg_large_release(const msg_large *large) {
    if (large->release == body_release) body_free(large->body, large->size);
    else if (large->release == mem_free) mem_free(large->body);
    else if (large->release) release_guarded(large->release, large->body);
}

void msg_drop_body(dn_msg *m) {
    const msg_large was = m->large;
    const bool      large = m->flags & MSG_LARGE;

    m->inline_size = 0;
    m->flags &=
        (uint8_t)~MSG_LARGE; /* before it is released: whatever happens there, it is not again */
    if (large) msg_large_release(&was);
}

inline int msg_set_body(dn_msg *m, const void *body, size_t size) {
    m->inline_size = 0;
    if (size <= MSG_INLINE_MAX) {
        m->inline_size = (uint8_t)size;
        if (size > 0)
            memmove(m->inline_body, body, size); /* a reply may be a part of its request */
        return DN_OK;
    }
    void *copy = body_new(size);
    if (!copy) return DN_ENOMEM;
    memcpy(copy, body, size);
    msg_set_large(m, copy, size, body_release);
    return DN_OK;
}

uint32_t dn_msg_kind(const dn_msg *msg) { return msg->kind; }

size_t dn_msg_size(const dn_msg *msg) { return msg_size(msg); }

dn_ref dn_msg_from(const dn_msg *msg) { return msg->from; }

const void *dn_msg_body_borrow(const dn_msg *msg) {
    return msg->flags & MSG_LARGE ? msg->large.body : msg->inline_body;
}

/* inline: as dn_send, for the linker. */
inline const void *dn_msg_body_sized_borrow(const dn_msg *msg, size_t size) {
    if (msg_size(msg) != size) dn_fail("a message's body is not of the type its handler expects");
    return dn_msg_body_borrow(msg);
}

void *dn_msg_body(dn_msg *msg) { return msg_body(msg); }

bool dn_msg_is_request(const dn_msg *msg) { return msg->flags & MSG_REQUEST; }

dn_call_id dn_msg_call(const dn_msg *msg) {
    /* A call that ran out of time is told by its timer, which is no reply. */
    const bool has_one = msg->flags & (MSG_REQUEST | MSG_REPLY) ||
                         msg->kind == DN_MSG_CALL_FAILED || msg->kind == DN_MSG_REPORT;

    return has_one ? msg->call : 0;
}

int64_t dn_msg_deadline(const dn_msg *msg) {
    return msg->flags & MSG_REQUEST ? msg->deadline_ns : INT64_MAX;
}
