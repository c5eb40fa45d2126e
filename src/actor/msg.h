/* msg.h - what a message is inside: 48 bytes of envelope, 80 of body, in two cache lines.
 * A body that does not fit is an owned pointer with its release. A block belongs to the pool of the loop
 * that made it (its home) and goes back there when the last owner lets it go; a reply travels in the
 * block of its request, and DN_MSG_DOWN in the block that stood for the watch, so neither can fail for
 * want of memory. */
#ifndef DIURNAL_ACTOR_MSG_H
#define DIURNAL_ACTOR_MSG_H

#include "diurnal/actor.h"

#include <assert.h>
#include <string.h>

enum { MSG_SIZE = 128, MSG_INLINE_MAX = 80, MSG_NOT_INLINE = 255 };

enum msg_flag {
    MSG_LARGE = 1,    /* the body is a msg_large */
    MSG_REQUEST = 2,  /* somebody waits for an answer */
    MSG_REPLY = 4,    /* ends a call: handled only if that call is still open */
    MSG_WATCH = 8,    /* ends a watch, as DN_MSG_DOWN does: handled only if that still stands */
    MSG_COUNTED = 16, /* came from another loop and is counted in the actor's admission */
    MSG_SYSTEM = 32,  /* for the runtime, about an actor: goes before the user lane */
    MSG_CONTROL =
        64, /* for the runtime: on the way, for the loop itself and for no actor; in a user lane,
                         a stop that waits its turn */
    MSG_EXEMPT = 128, /* not bounded by the lane */
};

enum msg_state {
    MSG_SENT, /* in a lane, an inbox, being handled, or free */
    MSG_HELD, /* an actor's: on its list of held messages */
};

/* Kinds of the system lane and of control messages. */
enum {
    SYS_STOP = 0x40000000,
    SYS_KILL,
    SYS_WATCH,       /* the block of a watch: in the list of the watched, then DN_MSG_DOWN */
    SYS_LINK,        /* likewise, but what becomes of it is SYS_KILL */
    SYS_WATCH_QUIET, /* as SYS_WATCH, but nothing becomes of it if the end is a normal one */
    SYS_WATCH_MUTE,  /* likewise, whatever the end: withdrawn, but its other half still kills */
    SYS_UNWATCH,
    SYS_ROOM, /* waits in the list of a full actor, then DN_MSG_ROOM */
    CTL_SPAWN,
    CTL_INSPECT,
    CTL_CLOCK, /* msg_clock */
};

typedef struct msg_large {
    void  *body;
    size_t size;
    void (*release)(void *body);
} msg_large;

typedef struct msg_clock {
    int64_t wall_offset_ns, boot_offset_ns;
} msg_clock;

enum { MSG_NO_HOME = 255 }; /* made by a thread that is no loop: from the system's allocator */

struct dn_msg {
    dn_msg *next;
    union {
        dn_ref  to;   /* on the way */
        dn_msg *prev; /* in a list of held messages or of watches */
    };
    dn_ref   from;
    uint32_t kind;
    uint8_t  flags;
    uint8_t  state;
    uint8_t  home;
    uint8_t  inline_size; /* MSG_NOT_INLINE: large */
    uint64_t call;        /* of a request or reply: the call; of a watch or a start: the watch */
    union {
        int64_t deadline_ns; /* of a request */
        dn_msg *ahead; /* between loops: one that will be wanted soon after this one; only a hint */
    };
    union {
        _Alignas(16) unsigned char inline_body[MSG_INLINE_MAX];
        msg_large large;
        uint64_t  words[MSG_INLINE_MAX / 8];
    };
};

_Static_assert(sizeof(struct dn_msg) == MSG_SIZE, "a message is two cache lines");

static inline size_t msg_size(const dn_msg *m) {
    return m->flags & MSG_LARGE ? m->large.size : m->inline_size;
}

static inline void *msg_body(dn_msg *m) {
    return m->flags & MSG_LARGE ? m->large.body : m->inline_body;
}

/* Copies a body in. DN_ENOMEM only where it does not fit inline; m is then without a body. */
DN_MUST_USE int msg_set_body(dn_msg *m, const void *body, size_t size);

/* A body of the runtime's own, which always fits. */
static inline void msg_set_small(dn_msg *m, const void *body, size_t size) {
    assert(size <= MSG_INLINE_MAX);
    m->inline_size = (uint8_t)size;
    memcpy(m->inline_body, body, size);
}

static inline void msg_set_large(dn_msg *m, void *body, size_t size, void (*release)(void *body)) {
    m->large = (msg_large){.body = body, .size = size, .release = release};
    m->flags |= MSG_LARGE;
    m->inline_size = MSG_NOT_INLINE;
}

/* Frees what a large body owns. */
void msg_large_release(const msg_large *large);

/* The same, and leaves the message without one. */
void msg_drop_body(dn_msg *m);

#endif
