/* loop.h - an actor and a loop as the runtime sees them, and what its files do for one another.
 * Unless a line says "Any thread.", all of it belongs to the loop's own thread. */
#ifndef DIURNAL_ACTOR_LOOP_H
#define DIURNAL_ACTOR_LOOP_H

#include "diurnal/runtime.h"
#include "inbox.h"
#include "msg.h"
#include "slab.h"
#include "wheel.h"

#include <setjmp.h>
#include <stdatomic.h>

typedef struct dn_loop dn_loop;

/* ---- Addresses ----
 * name bit 63 | loop 56..62 | incarnation 24..55 | slot 0..23. A name's slot is its number. */
#define REF_NAME_BIT   (1ULL << 63)
#define REF_LOOP_SHIFT 56
#define REF_GEN_SHIFT  24
#define REF_SLOT_MASK  0xffffffU
#define REF_VOID       ((dn_ref){~0ULL}) /* of a slot where nobody lives: no address is equal to it */

enum { ACTORS_MAX = 1 << 22, MESSAGES_MAX = 1 << 23, TIMERS_MAX = 1 << 23 };

/* Downwards, of an instant before 1970 too: it is asked for with nearly every event. Not of the least of all numbers, or
 * one within 2 ms of it. */
#define MS_BIAS INT64_C(9223372036853)
static inline int64_t ms_floor(int64_t ns) {
    return (int64_t)(((uint64_t)ns + (uint64_t)MS_BIAS * 1000000) / 1000000) - MS_BIAS;
}

static inline uint32_t ref_slot(dn_ref ref) { return (uint32_t)ref.bits & REF_SLOT_MASK; }
static inline uint32_t ref_gen(dn_ref ref) { return (uint32_t)(ref.bits >> REF_GEN_SHIFT); }
static inline uint32_t ref_loop(dn_ref ref) { return (uint32_t)(ref.bits >> REF_LOOP_SHIFT); }

/* ---- What an actor holds ---- */

/* Numbers instead of pointers where they do: a million timers are then 56 MB and not 64. A timer's number is its
 * place in its slab, + 1; TIMER_WALL is set where that is the slab of the wall timers. */
typedef struct timer {
    wheel_entry entry; /* entry.user: see below */
    uint64_t    value;
    uint32_t    actor;      /* slot */
    uint32_t    next, prev; /* in the actor's list; 0: none */
} timer;
_Static_assert(sizeof(timer) == 56, "a timer is to fit a cache line, with room to spare");

/* wall_timer bit 31 | how many us before entry.due_ms it is due, 21..30 | the kind it sends, 0..20; kind 0: it
 * ends a call. */
#define TIMER_WALL        0x80000000U
#define TIMER_KIND_MASK   0x001fffffU
#define TIMER_EARLY_SHIFT 21
_Static_assert(DN_KIND_MAX <= TIMER_KIND_MASK, "a timer has room for every kind");

typedef struct wall_timer wall_timer;
struct wall_timer {
    timer        base;
    wall_timer  *next; /* the loop's list of all of them */
    wall_timer **link;
    int64_t      wall_ms;
};

typedef struct watch watch;
struct watch {
    watch   *next; /* the watcher's list */
    watch  **link;
    dn_self *watcher; /* NULL: this record is free */
    dn_ref   target;
    dn_msg  *block;  /* in the target's list; NULL if that is on another loop, or has become DOWN */
    dn_msg  *cancel; /* target on another loop: the message that will withdraw the watch */
    uint32_t gen;
    bool     kills; /* the target ends with the watcher */
};

typedef struct owned owned;
struct owned {
    owned *next;
    void  *thing;
    void (*release)(void *thing);
};

typedef struct arena_chunk arena_chunk;
struct arena_chunk {
    arena_chunk *next;
    size_t       total; /* handed out by this and all older chunks */
    uint32_t     used, size;
    bool         pooled;
};
enum { ARENA_CHUNK = 4096 };

/* ---- An actor ---- */

enum phase {
    PHASE_FREE,
    PHASE_INIT,     /* init has not answered yet */
    PHASE_STARTING, /* it has answered DN_PENDING */
    PHASE_ALIVE,
    PHASE_ENDING,
    PHASE_GONE, /* ended, but still in the run queue */
};

enum actor_flag {
    ACTOR_STOPPING = 1, /* a stop was taken up: an end by DN_STOP is DN_ESHUTDOWN */
    ACTOR_ROOT = 2,
    ACTOR_CLOCK = 4,     /* wants DN_MSG_CLOCK */
    ACTOR_DOOMED = 8,    /* fails with DN_ENOMEM at its next turn */
    ACTOR_WAITED = 16,   /* somebody waits for room in its lane */
    ACTOR_NAMED = 32,    /* shown is the text of a name_slot */
    ACTOR_FLUSHES = 64,  /* its class has a flush */
    ACTOR_URGENT = 128,  /* something goes first: the system lane, doom, or it is gone */
    ACTOR_COUNTED = 256, /* this turn handled messages from other loops: l->counted */
    /* A turn is more than messages. */
    ACTOR_ATTENTION = ACTOR_WAITED | ACTOR_FLUSHES | ACTOR_URGENT | ACTOR_COUNTED,
};

struct dn_self {
    /* What a send and a turn use: one cache line. */
    dn_self        *run_next; /* NULL: neither in the run queue nor in its turn */
    dn_msg         *user_head, *user_tail;
    const dn_class *actor_class;
    void           *state;
    dn_ref          ref;   /* REF_VOID: the slot is free */
    uint32_t        depth; /* waiting messages from its own loop, without exempt ones */
    uint32_t        depth_max;
    uint32_t        depth_peak;
    uint16_t        flags;
    uint8_t         phase;

    dn_loop              *loop;
    _Atomic(const char *) shown;    /* its name, else its class's; the stall detector reads it */
    dn_msg               *sys_last; /* of a ring: its next is the first */
    uint64_t              handled;
    uint64_t              flushed;   /* handled, at the last flush */
    uint32_t              far_depth; /* waiting messages that came from other loops */
    uint32_t              far_peak;  /* most of both sorts, as seen when one of those came */
    uint32_t              timers;    /* number of its newest; 0: none */
    uint32_t              longest_us, longest_kind;
    int64_t               busy_ns;
    dn_msg               *held;
    owned                *owned;
    dn_msg               *watchers; /* blocks of those who watch it */
    watch                *watches;
    dn_msg               *room_waiters;
    dn_msg               *start_ack; /* while starting: what tells the starter */
    arena_chunk          *arena;
};
_Static_assert(offsetof(dn_self, loop) == 64, "the busy part of an actor is one cache line");
_Static_assert(sizeof(dn_self) == 192, "an actor is three cache lines");

/* The system lane. */
static inline void sys_put(dn_self *a, dn_msg *m) {
    m->next = m;
    if (a->sys_last) {
        m->next = a->sys_last->next;
        a->sys_last->next = m;
    }
    a->sys_last = m;
}

static inline dn_msg *sys_take(dn_self *a) {
    dn_msg *const last = a->sys_last;

    if (!last) return NULL;
    dn_msg *const first = last->next;
    if (first == last) a->sys_last = NULL;
    else last->next = first->next;
    return first;
}

static inline bool actor_lives(const dn_self *a) { return a->ref.bits != REF_VOID.bits; }

/* What other threads may see of the actor in a slot: its incarnation, and how many messages from other loops wait for it.
 * A sender on another loop counts its message in here before it pushes it. */
typedef struct admission {
    _Atomic(uint64_t) gen_waiting; /* incarnation << 32 | messages counted in and not yet handled */
    _Atomic(uint32_t) waiting_max;
} admission;

/* ---- A loop ---- */

/* What differs between a thread with a real clock and a simulation. */
typedef struct driver {
    void (*read_clock)(dn_loop *l); /* sets mono_ns, wall_offset_ns, boot_offset_ns */
    uint64_t (*random)(dn_loop *l);
    void (*wake)(dn_loop *l); /* Any thread. */

    /* Simulation only; NULL otherwise. */
    void (*spawned)(dn_loop *l, const dn_self *a);
    void (*ended)(dn_loop *l, const dn_self *a, dn_ref was, int reason);
    bool (*handling)(dn_loop *l, dn_self *a, const dn_msg *m); /* true: it fails here */
    /* DN_OK: not taken. DN_PENDING: taken, it delivers it later itself. DN_EFULL, for what is not exempt. */
    int (*takes)(dn_loop *l, dn_msg *m);
    /* True: this timer, which is due and has left the wheel, has been held (wheel_hold) for later. */
    bool (*holds)(dn_loop *l, timer *t);
} driver;

enum {
    STATE_CLASSES = 7, /* 16 << i bytes each */
    BODY_SIZES = 4,
    TURN_MESSAGES = 64,
    POLL_NS = 200 * 1000,
    /* A handler that takes longer than EXACT_READINGS readings of the clock is timed alone. Shorter handlers share a
     * window of at most WINDOW_MAX messages, because a reading costs more than most of them. */
    EXACT_READINGS = 10,
    WINDOW_MAX = 64,
    RETURN_BATCH = 32,
};

struct dn_loop {
    dn_self  *run_head; /* RUN_END: nobody is ready */
    dn_self **run_tail;
    bool      poll_due;         /* POLL_NS have passed since polled_ns */
    bool      simulated;        /* the driver is that of a simulation */
    uint32_t  until_clock;      /* messages left of the window */
    uint32_t  window;           /* messages of it in all */
    uint32_t  stride;           /* how long a window is at most now */
    uint32_t  jitter;           /* state of the generator that varies their length */
    int64_t   exact_ns;         /* EXACT_READINGS on this machine */
    dn_msg   *handling;         /* NULL: none, or it has been kept, answered or sent on */
    dn_msg   *handling_outside; /* the same, while something guarded runs inside its handler */
    jmp_buf  *jump;             /* where a failing actor goes; NULL: no actor runs */
    int64_t   mono_ns;
    uint32_t  counted; /* messages handled in this turn that are still counted in its admission */

    _Atomic(dn_self *) running;       /* read by the stall detector */
    _Atomic(uint64_t)  windows;       /* likewise: begun so far */
    _Atomic(uint32_t)  handling_kind; /* likewise */

    slab    messages; /* outlives loop_done: see rt_done */
    slab    actors, admissions, timers, wall_timers, watches, owneds, chunks;
    slab    states[STATE_CLASSES];
    uint8_t index;

    struct {
        slab_block *first;
        uint32_t    len;
    } bodies[BODY_SIZES]; /* kept, by size: see body.c */

    wheel      *wheel;
    wall_timer *walls;
    int64_t     wall_offset_ns, boot_offset_ns; /* against mono_ns */
    int64_t     polled_ns;

    trail pushed[DN_LOOPS_MAX]; /* to the inbox of each loop */
    struct {
        dn_msg  *first, *last;
        uint32_t len;
        trail    trail;
    } returns[DN_LOOPS_MAX]; /* blocks on their way home */

    const driver *driver;
    void         *driver_data;
    dn_runtime   *runtime;
    const char   *name;
    uint32_t      releasing; /* release functions under way, one inside the other */
    int           fail_code; /* of the failure under way */
    char          fail_why[DN_CRASH_WHY_MAX];

    /* Counts for the report. */
    uint64_t        handled; /* by actors that have ended */
    uint64_t        spawned, ended, crashed, full, dead_letters, unhandled, late_replies;
    uint64_t        expired_calls, exempt, wakeups, crash_points;
    int64_t         unattributed_ns;
    size_t          large_bytes;
    dn_crash_report crashes[DN_CRASHES_KEPT];
    uint64_t        clock_watchers;
    uint64_t        inspections; /* asked for by actors of this loop */

    /* Any thread. */
    inbox             inbox;
    inbox             returned; /* blocks of this loop that come home */
    _Atomic(uint32_t) admissions_len;
};

/* The loop whose thread this is, or NULL. */
extern _Thread_local dn_loop *this_loop;

DN_MUST_USE int loop_init(dn_loop *l, dn_runtime *rt, uint8_t index, const char *name,
                          const driver *d, void *driver_data);
/* Between two runs: no actor runs, and the run queue is whole at both ends. */
bool loop_is_sound(const dn_loop *l);
void loop_drop_inbox(dn_loop *l); /* at the end: nobody is left to get any of it */
void loop_done(dn_loop *l);       /* all its actors have ended; frees all but its messages */

/* Runs actors until none is ready or POLL_NS have passed since polled_ns. */
void loop_run(dn_loop *l);
/* For the simulation: one turn of at most `budget` messages for the actor that is `nth` in the run queue. */
void     loop_run_nth(dn_loop *l, uint32_t nth, int budget);
uint32_t loop_ready(const dn_loop *l); /* counts; for the simulation */
void     loop_take_inbox(dn_loop *l);
void     loop_send_returns(dn_loop *l);
/* Reads the clock outside any handler; time up to now is nobody's. */
void loop_new_window(dn_loop *l, bool exact);
/* Ends every actor that is left, without terminate unless orderly. */
void loop_end_all(dn_loop *l);

/* The end of the run queue: not NULL, so that run_next also says "is queued". */
#define RUN_END ((dn_self *)(uintptr_t)1)

/* Put it at the end of the run queue, unless it is there or in its turn. */
static inline void actor_schedule(dn_loop *l, dn_self *a) {
    if (a->run_next) return;
    a->run_next = RUN_END;
    *l->run_tail = a;
    l->run_tail = &a->run_next;
}

static inline void loop_no_ready(dn_loop *l) {
    l->run_head = RUN_END;
    l->run_tail = &l->run_head;
}

static inline bool loop_has_ready(const dn_loop *l) { return l->run_head != RUN_END; }

/* The actor at that address if it lives on this loop now. */
static inline dn_self *actor_find(const dn_loop *l, dn_ref ref) {
    dn_self *a = (dn_self *)(void *)l->actors.base + ref_slot(ref);

    /* No dereference past what was ever handed out: an address may be anything. */
    return (char *)a < l->actors.fresh && a->ref.bits == ref.bits ? a : NULL;
}

static inline admission *admission_at(const dn_loop *l, uint32_t slot) {
    return (admission *)(void *)l->admissions.base + slot;
}

/* Does the actor of that address live? Any thread. */
static inline bool admission_open(const dn_loop *there, dn_ref ref) {
    /* Pairs with the release in actor_take. */
    if (ref_slot(ref) >= atomic_load_explicit(&there->admissions_len, memory_order_acquire))
        return false;
    const uint64_t seen = atomic_load_explicit(&admission_at(there, ref_slot(ref))->gen_waiting,
                                               memory_order_relaxed);
    return (uint32_t)(seen >> 32) == ref_gen(ref);
}

/* ---- life.c ---- */
bool            actor_is_sound(const dn_self *a); /* one that lives */
DN_MUST_USE int actor_spawn(dn_loop *l, dn_self *parent, dn_ref starter, const dn_spawn_spec *spec,
                            dn_msg *ack, uint16_t flags, dn_ref *out_ref);
/* Not while a is in the middle of its turn. */
void actor_end(dn_loop *l, dn_self *a, int reason, const char *why, bool orderly);
void actor_bury_gone(dn_loop *l, dn_self *a); /* PHASE_GONE; in its turn, or its turn has come */
void actor_ask_to_end(dn_loop *l, dn_msg *m, dn_ref who, uint32_t kind);
/* l->fail_code and fail_why say what happened; kind is that of the message being handled, or 0. */
void crash_record(dn_loop *l, const dn_self *a, uint32_t kind);
void fail_set(dn_loop *l, int code, const char *why);
/* Calls back so that a failure of `a` in there comes back here; false: it failed, and that has been
 * recorded. */
bool actor_guarded(dn_loop *l, dn_self *a, void (*call)(void *context), void *context);
/* The same for what a message owns; who runs now, if anybody does, is blamed and goes on. Any thread. */
void              release_guarded(void (*release)(void *thing), void *thing);
struct name_slot *actor_name_slot(const dn_self *a); /* NULL: it has no name */

static inline const char *actor_shown(const dn_self *a) {
    return atomic_load_explicit(&a->shown, memory_order_relaxed);
}
static inline void actor_show(dn_self *a, const char *text) {
    /* release: pairs with the stall detector, which reads the text on a thread of its own. */
    atomic_store_explicit(&a->shown, text, memory_order_release);
}

static inline void actor_doom(dn_loop *l, dn_self *a) {
    a->flags |= ACTOR_DOOMED | ACTOR_URGENT;
    actor_schedule(l, a);
}
void actor_answer_start(dn_loop *l, dn_self *a, int status);
void spawn_arrived(dn_loop *l, dn_msg *m);

/* ---- send.c ---- */
dn_msg *msg_take_slow(dn_loop *l);
void    msg_free_slow(dn_loop *l, dn_msg *m);

/* NULL: no memory. The envelope is clean, the body has no bytes. */
static inline dn_msg *msg_take(dn_loop *l) {
    dn_msg *m = l->messages.free ? slab_take(&l->messages) : msg_take_slow(l);

    if (!m) return NULL;
    m->flags = 0;
    m->state = MSG_SENT;
    m->inline_size = 0;
    return m;
}

/* A request must not end here: see msg_let_go. */
static inline void msg_free(dn_loop *l, dn_msg *m) {
    if (m->flags & MSG_LARGE || m->home != l->index) msg_free_slow(l, m);
    else slab_give(&l->messages, m);
}

/* Lets a message go: an unanswered request fails its call with status. */
void msg_let_go(dn_loop *l, dn_msg *m, int status);
/* Brings a message that is exempt from bounds to m->to, wherever that is. */
void msg_route(dn_loop *l, dn_msg *m);
/* A message has reached this loop, from another one or after a delay. */
void msg_arrive(dn_loop *l, dn_msg *m);
void msg_push(dn_loop *l, dn_self *a, dn_msg *m);
/* A whole message; a request keeps its caller. On DN_OK it is gone. */
DN_MUST_USE int msg_send_on(dn_self *self, dn_ref to, dn_msg *m);
void            msg_uncount(dn_loop *l, dn_msg *m);
void            msg_hold(dn_self *a, dn_msg *m);
void            msg_unhold(dn_self *a, dn_msg *m);
void            lane_discard(dn_loop *l, dn_self *a, dn_ref was); /* a's address is void already */
void            room_check(dn_loop *l, dn_self *a);
_Noreturn void  fail_nomem(void);

/* ---- call.c ---- */
/* A reply has come: is that call still open? Closes it. */
bool call_close(dn_loop *l, dn_self *a, uint64_t id);
void call_fail(dn_loop *l, dn_msg *m, int status); /* m: the request */

/* ---- timer.c ---- */
void timers_expire(dn_loop *l); /* by mono_ns */
/* Those of a chain that wheel_expire or wheel_let_go has handed out become messages. */
void    timers_fire(dn_loop *l, wheel_entry *first);
void    timers_drop_all(dn_loop *l, dn_self *a);
int64_t timers_next_ns(const dn_loop *l); /* INT64_MAX: never */
int64_t loop_now_ms(const dn_loop *l);    /* wall clock */
/* The wall clock has been set: from now on it stands so far from the steady one. */
void timers_wall_stepped(dn_loop *l, int64_t wall_offset_ns, int64_t boot_offset_ns);
/* The armed timer of that id, if it is a's. */
timer   *timer_find(const dn_loop *l, const dn_self *a, uint64_t id);
uint64_t timer_id(const dn_loop *l, const timer *t);
timer   *timer_arm(dn_loop *l, dn_self *a, int64_t due_ns, uint32_t kind, uint64_t value);
static inline uint32_t timer_kind(const timer *t) { return t->entry.user & TIMER_KIND_MASK; }
void                   timer_drop(dn_loop *l, timer *t);

/* ---- watch.c ---- */
DN_MUST_USE int watch_new(dn_loop *l, dn_self *watcher, dn_self *local_target, dn_ref target,
                          uint64_t tag, bool link, uint64_t *out_id);
/* Of a target on this loop. links: from now on it also ends with its watcher. quiet: nothing is told of an end with DN_OK. */
void            watch_child(dn_loop *l, uint64_t id, bool links, bool quiet);
uint64_t        watch_promise(dn_loop *l, dn_self *watcher); /* 0: no memory */
DN_MUST_USE int watch_fulfil(dn_loop *l, dn_self *target, dn_ref watcher, uint64_t id,
                             uint64_t tag);
void            watch_unsay(dn_loop *l, dn_self *target, dn_ref watcher, uint64_t id);
void            watch_arrived(dn_loop *l, dn_self *target, dn_msg *block);
void            watch_bounce(dn_loop *l, dn_msg *block, int reason, const char *why);
void            watch_withdrawn(dn_loop *l, dn_self *target, dn_msg *m);
bool            watch_close(dn_loop *l, uint64_t id);
void            watches_drop_all(dn_loop *l, dn_self *a);
void            watchers_tell(dn_loop *l, dn_self *a, dn_ref was, int reason, const char *why);

/* ---- heap.c ---- */
void *state_take(dn_loop *l, size_t size);
void  state_give(dn_loop *l, void *state, size_t size);
void  arena_drop(dn_loop *l, dn_self *a);
void  owned_release_all(dn_loop *l, dn_self *a);

/* ---- inspect.c ---- */
void inspect_arrived(dn_loop *l, dn_msg *m);

/* Cuts what does not fit. */
static inline void text_copy(char *to, size_t size, const char *from) {
    size_t i = 0;

    for (; i + 1 < size && from[i]; i++) to[i] = from[i];
    to[i] = '\0';
}

/* ---- notice.c ---- */
void notice(const dn_loop *l, dn_notice_kind kind, const char *actor, uint32_t msg_kind, int reason,
            int64_t amount, const char *why);
/* Of things that may come in floods: the first few, then at each doubling. */
bool notice_worth(uint64_t count);

#endif
