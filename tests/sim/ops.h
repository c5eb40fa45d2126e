/* ops.h - an interpreter of operations on the runtime, executed by actors in a simulation, beside a model
 * of what must come of them.
 *
 * Numbers come from a source: a generator (random_ops_test.c) or the bytes of a fuzzer (fuzz/ops_fuzz.c).
 * They decide what each actor does when a message comes: send, call, answer, keep, forward, watch,
 * arm, own, fail and so on; and what the world around does: post, step the clock, turn faults on and
 * off, run a while. The model is in arrays outside the actors and shares nothing with the core. At all
 * times it checks:
 *     bodies         each is released exactly once, and arrives unchanged
 *     order          what one actor sends another is handled in that order, and nothing in between is lost
 *     bounds         a lane takes what it should and no more
 *     calls          each ends exactly once, by its deadline; a reply is of that call
 *     watches        at most one DOWN, exactly one if not withdrawn, with the right reason, behind all else
 *     timers         not early, not late, once, in the order of arming, not after a cancel
 *     what is owned  released exactly once, at the end of its owner, newest first
 *     memory         what dn_alloc gave stays as it was written
 *     lives          spawned - ended = alive; names are held by one; the linked go with their parent
 *
 * Whoever includes this defines OPS_CHECK(cond, format, ...) first. */
#ifndef DIURNAL_TESTS_SIM_OPS_H
#define DIURNAL_TESTS_SIM_OPS_H

#include "diurnal/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Where numbers come from ---- */

typedef struct ops_source {
    uint64_t       random; /* if bytes is NULL */
    const uint8_t *bytes;
    size_t         len;
    uint64_t       left; /* operations still to be done */
} ops_source;

/* ---- The model ---- */

enum {
    ACTORS = 4096,  /* per episode; what comes beyond is not started */
    ALIVE_MAX = 40, /* at one time */
    RECORDS = 16384,
    NAMES = 6,
    CLASSES = 6,
    KEPT_MAX = 6,
    OPS_NESTED = 3,
    OPS_MS = 1000000, /* ns */
    DATA_PATTERN = 0x5a,
};

enum {           /* kinds of messages */
       K_GO = 1, /* from the world: do so many operations */
       K_DATA,
       K_REQUEST,
       K_REPLY,
       K_TIMER,
};

typedef struct m_actor m_actor;
struct m_actor {
    dn_ref   ref;
    int      cls, parent, depth; /* of nested inits */
    int      name;               /* -1: none */
    bool     linked, live, pending, ended, must_end;
    bool     up;                     /* its pending start was done */
    bool     stop_asked, kill_asked; /* it may end for that reason */
    bool     knows_clock;
    int64_t  clock_due; /* DN_MSG_CLOCK it is still to get */
    int      start;     /* the start that STARTED will tell of; -1 */
    uint64_t number;    /* the simulation's */
    int      reason;
    bool     reason_known;
    int      inbox; /* head of what was sent to it and not handled, oldest first */
    int      inbox_tail;
    uint32_t bounded, bounded_sure; /* of these: within bounds; and surely still in the lane */
    uint32_t gos;                   /* K_GO of the world's, on the way */
    struct {
        dn_msg *m;
        int     record;
    } kept[KEPT_MAX];
    int            owned; /* newest */
    int64_t        last_due;
    uint64_t       last_armed;
    uint32_t       reports;
    unsigned char *memory; /* from dn_alloc, the latest */
    uint32_t       memory_size;
    uint8_t        memory_pattern;
    size_t         memory_sum;
};

typedef enum msg_fate { M_NEW, M_SENT, M_HANDLED, M_KEPT, M_OVER } msg_fate;

typedef struct m_msg {
    msg_fate fate;
    int      from, to; /* from: the one who sent it last; -1: the world */
    int      next;
    int      call; /* of a request or a reply; -1 */
    bool     droppable, exempt, was_reply;
    uint32_t size;
    int      releases; /* of its body; -1: it has no release of ours */
} m_msg;

typedef enum call_fate { C_OPEN, C_ENDED, C_CANCELLED } call_fate;

typedef struct m_call {
    call_fate  fate;
    dn_call_id id;
    int        caller, request;
    int64_t    deadline_ns;
    bool       may_fail_yet; /* cancelled when its time was up already */
} m_call;

typedef enum watch_fate { W_STANDS, W_WITHDRAWN, W_TOLD } watch_fate;

typedef struct m_watch {
    watch_fate  fate;
    dn_watch_id id;
    int         watcher, target; /* target -1: nobody there */
    bool        by_spawn;
    bool        was_dead;
} m_watch;

typedef enum timer_fate { T_ARMED, T_FIRED, T_CANCELLED } timer_fate;

typedef struct m_timer {
    timer_fate  fate;
    dn_timer_id id;
    int         owner;
    bool        wall;
    int64_t     due; /* ns of the steady clock, or ms of the wall clock */
    int64_t     armed_ns;
    uint64_t    order;
} m_timer;

typedef struct m_owned {
    int  owner, older;
    bool disowned;
    bool sentinel; /* of the actor itself */
    int  releases;
} m_owned;

typedef struct m_start {
    int  starter, child, told;
    bool pending;
} m_start;

typedef struct m_room {
    int waiter, target, due;
} m_room;

typedef struct ops_counts {
    uint64_t ops, episodes, boots, ended[3], sent, full, dead, calls, replies, failed[3], downs,
        fired, cancelled, released, crashes, process_crashes, started, rooms, clocks, reports, kept,
        forwarded, refused, settled;
} ops_counts;

typedef struct ops {
    ops_source    source;
    dn_sim       *sim;
    bool          quiet;   /* no more operations: things settle */
    bool          delays;  /* messages may be held up */
    bool          refuses; /* memory may be refused */
    bool          faults;  /* anything else of the simulation */
    int           nested;
    dn_sim_faults fault_rates;

    m_actor actors[ACTORS];
    int     actors_len;
    int     alive[ALIVE_MAX * 2];
    int     alive_len;
    int     holder[NAMES];
    int     root;

    m_msg   msgs[RECORDS];
    m_call  calls[RECORDS];
    m_watch watches[RECORDS];
    m_timer timers[RECORDS];
    m_owned owned[RECORDS];
    m_start starts[RECORDS];
    m_room  rooms[RECORDS];
    int     msgs_len, calls_len, watches_len, timers_len, owned_len, starts_len, rooms_len;

    uint64_t   armed_order;
    uint64_t   last_spawned, spawned, ended; /* by the simulation's events */
    int64_t    wall_before, wall_step_ns; /* the wall clock before it stepped, and when that was */
    ops_counts counts;
} ops;

static ops o;

static inline uint64_t ops_next(void) {
    if (!o.source.bytes) {
        uint64_t z = (o.source.random += 0x9e3779b97f4a7c15U);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31);
    }
    if (o.source.len == 0) {
        o.source.left = 0;
        return 0;
    }
    uint64_t value = *o.source.bytes++;
    o.source.len--;
    if (o.source.len > 0) {
        value |= (uint64_t)*o.source.bytes++ << 8;
        o.source.len--;
    }
    return value;
}

/* Below max. */
static inline uint32_t pick(uint32_t max) { return (uint32_t)(ops_next() % max); }
static inline bool     one_in(uint32_t n) { return pick(n) == 0; }

static inline bool records_left(void) {
    const int max = RECORDS - 64;

    return o.actors_len < ACTORS - 64 && o.msgs_len < max && o.calls_len < max &&
           o.watches_len < max && o.timers_len < max && o.owned_len < max && o.starts_len < max &&
           o.rooms_len < max;
}

static inline m_actor *me_of(const void *state) { return &o.actors[*(const int *)state]; }
static inline int      number_of_me(const m_actor *a) { return (int)(a - o.actors); }

static inline int actor_by_ref(dn_ref ref) {
    for (int i = o.actors_len; i-- > 0;)
        if (dn_ref_equal(o.actors[i].ref, ref)) return i;
    return -1;
}

/* Anybody there has ever been, but mostly somebody who is alive. */
static inline int somebody(void) {
    if (o.alive_len > 0 && !one_in(12)) return o.alive[pick((uint32_t)o.alive_len)];
    return o.actors_len > 0 ? (int)pick((uint32_t)o.actors_len) : -1;
}

/* By address or by name. *out_to: who that is in the model; -1: nobody alive. */
static inline dn_ref some_ref(dn_self *self, int *out_to) {
    if (one_in(8)) {
        static const char *const names[NAMES] = {"a", "b", "c", "d", "e", "f"};
        const int                n = (int)pick(NAMES);
        *out_to = o.holder[n];
        const dn_ref ref = dn_name(self, names[n]);
        const dn_ref now = dn_whereis(self, ref);
        OPS_CHECK(*out_to < 0 ? dn_ref_is_nobody(now) : dn_ref_equal(now, o.actors[*out_to].ref),
                  "name %s is held by another one", names[n]);
        return ref;
    }
    const int who = somebody();
    *out_to = who >= 0 && o.actors[who].live ? who : -1;
    return who >= 0 ? o.actors[who].ref : DN_NOBODY;
}

/* ---- Bodies ---- */

typedef struct body {
    uint32_t      record, filler;
    unsigned char bytes[];
} body;

enum { BODY_MIN = 16, BODY_MAX = 4000 };

static inline uint32_t some_size(void) {
    const uint32_t how = pick(8);

    if (how < 4) return BODY_MIN + pick(65); /* 80 is the most that is inline */
    if (how < 6) return 79 + pick(4);
    return BODY_MIN + pick(BODY_MAX - BODY_MIN);
}

static inline unsigned char pattern_at(int record, uint32_t at) {
    return (unsigned char)((uint32_t)record * 31U + at);
}

static inline void body_fill(void *memory, int record, uint32_t size) {
    body *b = memory;

    b->record = (uint32_t)record;
    b->filler = size;
    for (uint32_t i = sizeof *b; i < size; i++)
        ((unsigned char *)memory)[i] = pattern_at(record, i);
}

static inline void body_release(void *memory) {
    const body *b = memory;
    m_msg      *r = &o.msgs[b->record];

    OPS_CHECK(b->record < (uint32_t)o.msgs_len, "a body that is none is released");
    OPS_CHECK(r->releases == 0, "body %u is released twice", b->record);
    r->releases++;
    o.counts.released++;
    free(memory);
}

/* ---- What is on the way to whom ---- */

static inline int msg_record(int from, uint32_t size) {
    const int at = o.msgs_len++;

    o.msgs[at] =
        (m_msg){.from = from, .to = -1, .next = -1, .call = -1, .size = size, .releases = -1};
    return at;
}

static inline void inbox_put(int at, int from, int to, bool droppable, bool exempt) {
    m_msg   *r = &o.msgs[at];
    m_actor *a = &o.actors[to];

    r->fate = M_SENT;
    r->from = from;
    r->to = to;
    r->next = -1;
    r->droppable = droppable;
    r->exempt = exempt;
    if (a->inbox < 0) a->inbox = at;
    else o.msgs[a->inbox_tail].next = at;
    a->inbox_tail = at;
    if (exempt) return;
    a->bounded++;
    if (!droppable) a->bounded_sure++;
}

static inline void inbox_unlink(m_actor *a, int at, int before) {
    m_msg *r = &o.msgs[at];

    if (before < 0) a->inbox = r->next;
    else o.msgs[before].next = r->next;
    if (a->inbox_tail == at) a->inbox_tail = before;
    if (r->exempt) return;
    a->bounded--;
    if (!r->droppable) a->bounded_sure--;
}

/* Its turn has come: whatever the same one sent before must have been handled, or dropped for a reason. */
static inline void inbox_take(m_actor *a, int at) {
    const int from = o.msgs[at].from;
    int       before = -1;

    OPS_CHECK(o.msgs[at].fate == M_SENT, "message %d is handled in state %d", at, o.msgs[at].fate);
    OPS_CHECK(&o.actors[o.msgs[at].to] == a, "message %d came to %d instead of %d", at,
              number_of_me(a), o.msgs[at].to);
    for (int i = a->inbox; i != at; i = o.msgs[i].next) {
        OPS_CHECK(i >= 0, "message %d is not on its way to %d", at, number_of_me(a));
        if (o.msgs[i].from != from) {
            before = i;
            continue;
        }
        OPS_CHECK(o.msgs[i].droppable, "message %d from %d to %d overtook %d", at, from,
                  number_of_me(a), i);
        inbox_unlink(a, i, before);
        o.msgs[i].fate = M_OVER;
    }
    inbox_unlink(a, at, before);
    o.msgs[at].fate = M_HANDLED;
}

/* ---- Ends ---- */

static inline uint32_t bound_of(const m_actor *a);

static inline void actor_is_over(int at) {
    m_actor *a = &o.actors[at];

    OPS_CHECK(!a->ended, "actor %d ends twice", at);
    a->ended = true;
    a->live = a->pending = false;
    for (int i = 0; i < o.watches_len && a->start >= 0 && !a->up; i++)
        if (o.watches[i].by_spawn && o.watches[i].target == at)
            o.watches[i].fate = W_WITHDRAWN; /* to its starter it never was */
    if (a->name >= 0) {
        OPS_CHECK(o.holder[a->name] == at, "a name is held by two");
        o.holder[a->name] = -1;
    }
    for (int i = 0; i < o.alive_len; i++)
        if (o.alive[i] == at) o.alive[i] = o.alive[--o.alive_len];
    for (int i = 0; i < o.actors_len; i++)
        if (o.actors[i].linked && o.actors[i].parent == at)
            o.actors[i].must_end = o.actors[i].kill_asked = true;
}

static inline void owned_release(void *thing) {
    m_owned *w = thing;

    OPS_CHECK(!w->disowned, "something disowned is released");
    OPS_CHECK(w->releases == 0, "something owned is released twice");
    OPS_CHECK(&o.owned[o.actors[w->owner].owned] == w, "not the newest owned thing is released");
    w->releases++;
    o.counts.released++;
    o.actors[w->owner].owned = w->older;
    if (w->sentinel) actor_is_over(w->owner);
    else if ((w - o.owned) % 41 == 7) dn_fail("a release that fails");
}

static inline m_owned *owned_record(int owner, bool sentinel) {
    m_owned *w = &o.owned[o.owned_len];

    *w = (m_owned){.owner = owner, .older = o.actors[owner].owned, .sentinel = sentinel};
    o.actors[owner].owned = o.owned_len++;
    return w;
}

/* ---- The classes ---- */

typedef enum init_plan {
    INIT_OK,
    INIT_OPS,
    INIT_PENDING,
    INIT_STOP,
    INIT_CODE,
    INIT_FAIL
} init_plan;

typedef struct ops_config {
    int       actor;
    init_plan plan;
} ops_config;

typedef struct ops_state {
    int      actor;
    uint32_t handled_unflushed;
    bool     stopping;
} ops_state;

static inline int  ops_init(dn_self *self, void *state, const void *config);
static inline int  ops_on(dn_self *self, void *state, const dn_msg *msg);
static inline int  ops_flush(dn_self *self, void *state);
static inline int  ops_stopping(dn_self *self, void *state);
static inline void ops_terminate(dn_self *self, void *state);

static const dn_handler ops_handlers[] = {{DN_KIND_ANY, ops_on}};

enum { CLS_ROOT = 5, FLUSH_MAX = 5 };

static const dn_class ops_classes[CLASSES] = {
    {.name = "plain",
     .state_size = sizeof(ops_state),
     .init = ops_init,
     .mailbox_max = 16,
     .heap_max = 8192,
     .handlers = DN_SLICE(ops_handlers)},
    {.name = "small",
     .state_size = sizeof(ops_state),
     .init = ops_init,
     .mailbox_max = 3,
     .heap_max = 300,
     .handlers = DN_SLICE(ops_handlers),
     .terminate = ops_terminate},
    {.name = "flushes",
     .state_size = 5000,
     .init = ops_init,
     .flush = ops_flush,
     .mailbox_max = 32,
     .flush_max = FLUSH_MAX,
     .handlers = DN_SLICE(ops_handlers)},
    {.name = "drains",
     .state_size = 200,
     .init = ops_init,
     .drains = true,
     .mailbox_max = 16,
     .handlers = DN_SLICE(ops_handlers),
     .terminate = ops_terminate},
    {.name = "lingers",
     .state_size = 40,
     .init = ops_init,
     .stopping = ops_stopping,
     .mailbox_max = 1,
     .handlers = DN_SLICE(ops_handlers),
     .terminate = ops_terminate,
     .flush = ops_flush},
    {.name = "root",
     .state_size = sizeof(ops_state),
     .init = ops_init,
     .mailbox_max = 4096,
     .heap_max = 1 << 30,
     .handlers = DN_SLICE(ops_handlers)},
};

static inline uint32_t bound_of(const m_actor *a) { return ops_classes[a->cls].mailbox_max; }

static inline void ops_do(dn_self *self, m_actor *me, uint32_t count);

static inline int ops_init(dn_self *self, void *state, const void *config) {
    const ops_config *c = config;
    ops_state        *st = state;
    m_actor          *me = &o.actors[c->actor];

    st->actor = c->actor;
    me->ref = dn_self_ref(self);
    me->number = o.last_spawned;
    me->live = true;
    OPS_CHECK(actor_by_ref(me->ref) == c->actor, "an address is given twice");
    if (me->name >= 0) {
        OPS_CHECK(o.holder[me->name] < 0, "a name is given to two");
        o.holder[me->name] = c->actor;
    }
    OPS_CHECK(o.alive_len < ALIVE_MAX * 2, "too many are alive");
    o.alive[o.alive_len++] = c->actor;
    dn_own(self, owned_record(c->actor, true), owned_release);
    if (c->plan != INIT_OK && c->plan != INIT_STOP && o.nested < OPS_NESTED) {
        o.nested++;
        ops_do(self, me, pick(3));
        o.nested--;
    }
    switch (c->plan) {
    case INIT_OK:
    case INIT_OPS: return DN_OK;
    case INIT_PENDING: me->pending = true; return DN_PENDING;
    case INIT_STOP: return DN_STOP;
    case INIT_CODE: return DN_EIO;
    case INIT_FAIL: dn_fail("a start that fails");
    }
    return DN_EINVAL;
}

static inline int ops_flush(dn_self *self, void *state) {
    ops_state *st = state;

    OPS_CHECK(st->handled_unflushed > 0, "a flush of nothing");
    st->handled_unflushed = 0;
    if (o.quiet) return DN_OK;
    ops_do(self, me_of(state), pick(2));
    return one_in(60) ? DN_EIO : one_in(60) ? DN_STOP : DN_OK;
}

/* Ends by a timer later, or at once. */
static inline int ops_stopping(dn_self *self, void *state) {
    ops_state *st = state;

    if (st->stopping || (!o.quiet && one_in(3))) return DN_STOP;
    if (!o.quiet && one_in(8)) return DN_EIO;
    st->stopping = true;
    dn_timer_after(self, 5, K_TIMER, UINT64_MAX);
    return DN_OK;
}

static inline void ops_terminate(dn_self *self, void *state) {
    me_of(state)->pending = false; /* too late to say that it is up */
    if (o.quiet) return;
    ops_do(self, me_of(state), pick(2));
    if (one_in(16)) dn_fail("an end that fails");
}

/* ---- Operations ---- */

static inline void sent(int rc, int record, int from, int to, bool droppable) {
    m_actor *a = to >= 0 ? &o.actors[to] : NULL;

    switch (rc) {
    case DN_OK:
        OPS_CHECK(a && a->live, "sent to nobody: %d", to);
        OPS_CHECK(a->bounded_sure < (o.delays || a->gos ? 2 : 1) * bound_of(a),
                  "%u of %u in the lane of %d, and one more fits", a->bounded_sure, bound_of(a),
                  to);
        inbox_put(record, from, to, droppable, /* exempt= */ false);
        o.counts.sent++;
        break;
    case DN_EFULL:
        OPS_CHECK(a && a->live, "full is nobody");
        /* Under delays what the turn under way has taken counts until it ends. */
        OPS_CHECK(o.delays || a->bounded + a->gos >= bound_of(a),
                  "%u of %u in the lane of %d, and it is full", a->bounded, bound_of(a), to);
        o.counts.full++;
        break;
    case DN_EDEAD:
        OPS_CHECK(!a, "%d is dead to a sender, and it is not", to);
        o.counts.dead++;
        break;
    default: OPS_CHECK(false, "a send answers %d", rc);
    }
}

static inline void op_send(dn_self *self, m_actor *me) {
    int            to;
    const dn_ref   ref = some_ref(self, &to);
    const uint32_t size = some_size();
    const int      at = msg_record(number_of_me(me), size);

    switch (pick(3)) {
    case 0: {
        unsigned char memory[BODY_MAX];
        body_fill(memory, at, size);
        const int rc = dn_send(self, ref, K_DATA, memory, size);
        sent(rc, at, number_of_me(me), to, false);
        return;
    }
    case 1: {
        dn_msg *m = dn_msg_new(self, K_DATA, size);
        body_fill(dn_msg_body(m), at, size);
        const int rc = dn_send_take(self, ref, m);
        sent(rc, at, number_of_me(me), to, false);
        if (rc < 0) dn_msg_free(self, m);
        return;
    }
    default: {
        void *memory = malloc(size);
        OPS_CHECK(memory, "no memory for the test itself");
        body_fill(memory, at, size);
        o.msgs[at].releases = 0;
        dn_msg *m = dn_msg_new_take(self, K_DATA, memory, size, body_release);
        if (one_in(16)) return; /* it is self's, and goes with self */
        const int rc = dn_send_take(self, ref, m);
        sent(rc, at, number_of_me(me), to, false);
        if (rc < 0) dn_msg_free(self, m);
    }
    }
}

static inline void op_call(dn_self *self, m_actor *me) {
    int            to;
    const dn_ref   ref = some_ref(self, &to);
    const uint32_t size = some_size();
    const int64_t  timeout_ms = one_in(10) ? INT64_MAX / 2 : (int64_t)pick(60);
    const int      at = msg_record(number_of_me(me), size);
    unsigned char  memory[BODY_MAX];
    dn_call_id     id = 0;

    body_fill(memory, at, size);
    const int rc = dn_call(self, ref, K_REQUEST, memory, size, timeout_ms, &id);
    if (rc == DN_OK) {
        OPS_CHECK(id != 0, "a call without an id");
        for (int i = o.calls_len < 100 ? 0 : o.calls_len - 100; i < o.calls_len; i++)
            OPS_CHECK(o.calls[i].id != id || o.calls[i].fate != C_OPEN || o.calls[i].caller < 0 ||
                          o.actors[o.calls[i].caller].ended,
                      "two open calls with one id");
        o.msgs[at].call = o.calls_len;
        o.calls[o.calls_len++] = (m_call){
            .id = id,
            .caller = number_of_me(me),
            .request = at,
            .deadline_ns = timeout_ms > INT64_MAX / OPS_MS / 2
                               ? INT64_MAX
                               : dn_mono_ns(self) + timeout_ms * OPS_MS,
        };
        o.counts.calls++;
    }
    sent(rc, at, number_of_me(me), to, /* droppable= */ true);
}

static inline void op_call_cancel(dn_self *self, m_actor *me) {
    if (o.calls_len == 0) return;
    const int near = o.calls_len < 32 ? o.calls_len : 32;
    m_call   *c = &o.calls[o.calls_len - 1 - (int)pick((uint32_t)near)];

    dn_call_cancel(self, c->id);
    if (c->caller != number_of_me(me) || c->fate != C_OPEN) return; /* harmless */
    c->fate = C_CANCELLED;
    c->may_fail_yet = dn_mono_ns(self) >= c->deadline_ns;
}

/* Answers a request, handled or kept. */
static inline void answer(dn_self *self, m_actor *me, const dn_msg *request, int record) {
    m_msg *const   asked = &o.msgs[record];
    const int      caller = asked->call >= 0 ? o.calls[asked->call].caller : -1;
    const uint32_t size = some_size();
    const int      at = msg_record(number_of_me(me), size);
    unsigned char  memory[BODY_MAX];

    OPS_CHECK(dn_msg_call(request) == o.calls[asked->call].id, "a request of another call");
    body_fill(memory, at, size);
    o.msgs[at].call = asked->call;
    o.msgs[at].was_reply = true;
    /* Before the answer, for a crash may be the last thing it does. */
    const bool there = o.actors[caller].live;
    dn_reply(self, request, K_REPLY, memory, size);
    asked->fate = M_OVER;
    if (there) inbox_put(at, number_of_me(me), caller, /* droppable= */ true, /* exempt= */ true);
    o.counts.replies++;
}

static inline int some_kept(const m_actor *me) {
    for (int i = 0, at = (int)pick(KEPT_MAX); i < KEPT_MAX; i++, at = (at + 1) % KEPT_MAX)
        if (me->kept[at].m) return at;
    return -1;
}

static inline void op_kept(dn_self *self, m_actor *me) {
    const int at = some_kept(me);

    if (at < 0) return;
    dn_msg *const m = me->kept[at].m;
    const int     record = me->kept[at].record;
    const bool    request = dn_msg_is_request(m);
    OPS_CHECK(request == (o.msgs[record].call >= 0 && !o.msgs[record].was_reply),
              "request or not?");
    switch (pick(3)) {
    case 0:
        if (request) {
            me->kept[at].m = NULL;
            answer(self, me, m, record);
            return;
        }
        break;
    case 1: {
        int          to;
        const dn_ref ref = some_ref(self, &to);
        if (dn_msg_kind(m) != K_DATA && !request) break;
        const int rc = dn_send_take(self, ref, m);
        if (rc == DN_OK) me->kept[at].m = NULL;
        sent(rc, record, number_of_me(me), to, request);
        o.counts.forwarded += rc == DN_OK;
        return;
    }
    default: break;
    }
    me->kept[at].m = NULL;
    o.msgs[record].fate = M_OVER;
    dn_msg_free(self, m);
}

static inline void op_monitor(dn_self *self, m_actor *me) {
    int          to;
    const dn_ref ref = some_ref(self, &to);
    const int    at = o.watches_len;

    const dn_watch_id id = dn_monitor(self, ref, (uint64_t)at);
    OPS_CHECK(id != 0, "a watch without an id");
    o.watches_len++;
    o.watches[at] =
        (m_watch){.id = id, .watcher = number_of_me(me), .target = to, .was_dead = to < 0};
}

static inline void op_demonitor(dn_self *self, m_actor *me) {
    if (o.watches_len == 0) return;
    const int near = o.watches_len < 32 ? o.watches_len : 32;
    m_watch  *w = &o.watches[o.watches_len - 1 - (int)pick((uint32_t)near)];

    dn_demonitor(self, w->id);
    if (w->id && w->watcher == number_of_me(me) && w->fate == W_STANDS) w->fate = W_WITHDRAWN;
}

static inline void op_timer(dn_self *self, m_actor *me) {
    const int     at = o.timers_len;
    m_timer      *t = &o.timers[at];
    const int64_t delay_ms =
        one_in(40) ? INT64_MAX / 4 : (int64_t)(one_in(3) ? pick(4) : pick(300)) - 1;
    const int64_t now_ns = dn_mono_ns(self);

    *t = (m_timer){.owner = number_of_me(me), .armed_ns = now_ns, .order = o.armed_order};
    const int64_t far_ns = delay_ms > INT64_MAX / OPS_MS ? INT64_MAX : now_ns + delay_ms * OPS_MS;
    switch (pick(3)) {
    case 0:
        t->due = far_ns;
        t->id = dn_timer_after(self, delay_ms, K_TIMER, (uint64_t)at);
        break;
    case 1:
        t->due = far_ns < INT64_MAX ? far_ns - (int64_t)pick(3) * 400000 : far_ns;
        t->id = dn_timer_at_mono(self, t->due, K_TIMER, (uint64_t)at);
        break;
    default:
        t->wall = true;
        t->due = delay_ms > INT64_MAX / OPS_MS ? delay_ms : dn_now_ms(self) + delay_ms;
        t->id = dn_timer_at_wall(self, t->due, K_TIMER, (uint64_t)at);
    }
    OPS_CHECK(t->id != 0, "a timer without an id");
    o.armed_order++;
    o.timers_len++;
}

static inline int64_t ms_up_ns(int64_t ns) {
    return ns > INT64_MAX - OPS_MS ? INT64_MAX : (ns + OPS_MS - 1) / OPS_MS * OPS_MS;
}

/* When it fires at the latest: only for timers of the steady clock. */
static inline int64_t latest_ns(const m_timer *t) {
    const int64_t due_ns = t->due > 0 ? ms_up_ns(t->due) : 0;

    return due_ns > t->armed_ns ? due_ns : t->armed_ns;
}

static inline void op_cancel(dn_self *self, m_actor *me) {
    if (o.timers_len == 0) return;
    const int  near = o.timers_len < 32 ? o.timers_len : 32;
    m_timer   *t = &o.timers[o.timers_len - 1 - (int)pick((uint32_t)near)];
    const bool mine = t->owner == number_of_me(me) && t->id;
    const bool was = dn_timer_cancel(self, t->id);

    OPS_CHECK(!was || (mine && t->fate == T_ARMED), "a timer that was not armed is cancelled");
    if (was) {
        t->fate = T_CANCELLED;
        o.counts.cancelled++;
    } else if (mine && t->fate == T_ARMED) {
        /* Its message must be waiting: its time has come. */
        OPS_CHECK(t->wall || t->due <= dn_mono_ns(self), "an armed timer is not cancelled");
    }
}

static inline void op_own(dn_self *self, m_actor *me) {
    m_owned *w = owned_record(number_of_me(me), false);

    dn_own(self, w, owned_release);
}

static inline void op_disown(dn_self *self, m_actor *me) {
    int at = me->owned, newer = -1;

    for (uint32_t skip = pick(3); skip > 0 && at >= 0; skip--) {
        newer = at;
        at = o.owned[at].older;
    }
    if (at < 0 || o.owned[at].sentinel) {
        int nothing;
        OPS_CHECK(!dn_disown(self, &nothing), "it owns what it never had");
        return;
    }
    OPS_CHECK(dn_disown(self, &o.owned[at]), "it does not own what it has");
    o.owned[at].disowned = true;
    if (newer < 0) me->owned = o.owned[at].older;
    else o.owned[newer].older = o.owned[at].older;
}

static inline void memory_check(const m_actor *me) {
    for (uint32_t i = 0; i < me->memory_size; i++)
        OPS_CHECK(me->memory[i] == me->memory_pattern, "memory of %d has changed",
                  number_of_me(me));
}

static inline void op_alloc(dn_self *self, m_actor *me) {
    const size_t   max = ops_classes[me->cls].heap_max ? ops_classes[me->cls].heap_max : 1 << 20;
    const uint32_t size = one_in(4) ? 1 + pick(6000) : 1 + pick(100);

    memory_check(me);
    unsigned char *memory = dn_alloc(self, size);
    OPS_CHECK((uintptr_t)memory % 16 == 0, "memory that is not aligned");
    me->memory_sum += size; /* the least it may count */
    OPS_CHECK(me->memory_sum <= max, "%zu bytes from a heap of %zu", me->memory_sum, max);
    for (uint32_t i = 0; i < size; i++) OPS_CHECK(memory[i] == 0, "memory that is not zero");
    me->memory = memory;
    me->memory_size = size;
    me->memory_pattern = (uint8_t)ops_next();
    memset(memory, me->memory_pattern, size);
}

static inline void op_spawn(dn_self *self, m_actor *me) {
    static const char *const names[NAMES] = {"a", "b", "c", "d", "e", "f"};

    if (o.alive_len >= ALIVE_MAX || o.nested >= OPS_NESTED) return;
    const int  at = o.actors_len++;
    m_actor   *a = &o.actors[at];
    ops_config config = {.actor = at, .plan = (init_plan)(one_in(3) ? pick(6) : INIT_OK)};
    *a = (m_actor){
        .cls = (int)pick(CLS_ROOT),
        .parent = number_of_me(me),
        .name = one_in(4) ? (int)pick(NAMES) : -1,
        .linked = one_in(3),
        .start = -1,
        .inbox = -1,
        .inbox_tail = -1,
        .owned = -1,
    };
    const bool monitored = one_in(2);
    const int  start = o.starts_len++;
    const int  watch = monitored ? o.watches_len++ : -1;
    /* STARTED and DOWN come back with the same tag: the number of the watch, if there is one. */
    const dn_spawn_spec spec = {
        .actor_class = &ops_classes[a->cls],
        .config = &config,
        .config_size = one_in(2) ? sizeof config : 0,
        .name = a->name >= 0 ? names[a->name] : NULL,
        .tag = (uint64_t)start << 32 | (uint32_t)watch,
        .monitored = monitored,
        .linked = a->linked,
    };
    const bool name_held = a->name >= 0 && o.holder[a->name] >= 0;
    dn_ref     ref = DN_NOBODY;

    o.starts[start] = (m_start){.starter = number_of_me(me), .child = at};
    if (monitored) o.watches[watch] = (m_watch){.fate = W_WITHDRAWN, .watcher = -1, .target = -1};
    const int nested = o.nested;
    const int rc = dn_spawn(self, &spec, &ref);
    o.nested = nested; /* an init that fails does not count itself out */
    switch (rc) {
    case DN_OK:
        OPS_CHECK(!name_held && (config.plan == INIT_OK || config.plan == INIT_OPS),
                  "a start too many");
        OPS_CHECK(a->live && dn_ref_equal(ref, a->ref), "started is another one");
        break;
    case DN_PENDING:
        OPS_CHECK(config.plan == INIT_PENDING && a->live, "pending is what was not to be");
        OPS_CHECK(dn_ref_equal(ref, a->ref), "pending is another one");
        o.starts[start].pending = true;
        a->start = start;
        break;
    case DN_EEXIST: OPS_CHECK(name_held, "the name is free"); break;
    case DN_ENOMEM:
    case DN_EINVAL:
        OPS_CHECK(o.refuses, "memory is there");
        break; /* dn_name says EINVAL to that */
    default:
        OPS_CHECK(!a->live, "what failed to start is alive");
        OPS_CHECK((rc == DN_STOP && config.plan == INIT_STOP) ||
                      (rc == DN_EIO && config.plan == INIT_CODE) ||
                      (rc == DN_EFAILED && config.plan != INIT_OK && config.plan != INIT_STOP),
                  "a start of plan %d answers %d", (int)config.plan, rc);
    }
    if (rc != DN_OK && rc != DN_PENDING) {
        a->ended = true;
        a->live = false;
        return;
    }
    if (monitored)
        o.watches[watch] = (m_watch){.watcher = number_of_me(me), .target = at, .by_spawn = true};
}

static inline void op_end_other(dn_self *self, m_actor *me, bool kill) {
    int          to;
    const dn_ref ref = some_ref(self, &to);

    if (to == o.root) return;
    (void)me;
    const int rc = kill ? dn_kill(self, ref) : dn_stop(self, ref);
    OPS_CHECK(rc == (to >= 0 ? DN_OK : DN_EDEAD), "an end asked for: %d", rc);
    if (to < 0) return;
    o.actors[to].must_end = true;
    if (kill) o.actors[to].kill_asked = true;
    else o.actors[to].stop_asked = true;
}

static inline void op_wait_room(dn_self *self, m_actor *me) {
    int          to;
    const dn_ref ref = some_ref(self, &to);
    const int    rc = dn_wait_room(self, ref);

    OPS_CHECK(rc == (to >= 0 ? DN_OK : DN_EDEAD), "room asked for: %d", rc);
    if (rc < 0) return;
    for (int i = 0; i < o.rooms_len; i++)
        if (o.rooms[i].waiter == number_of_me(me) && o.rooms[i].target == to) {
            o.rooms[i].due++;
            return;
        }
    o.rooms[o.rooms_len++] = (m_room){.waiter = number_of_me(me), .target = to, .due = 1};
}

static inline void op_init_done(dn_self *self, m_actor *me) {
    if (!me->pending) return;
    me->pending = false;
    dn_init_done(self, o.quiet || !one_in(4) ? DN_OK : DN_EIO);
    me->up = true;
}

static inline void op_watch_clock(dn_self *self, m_actor *me) {
    dn_watch_clock(self);
    me->knows_clock = true;
}

static inline void op_inspect(dn_self *self, m_actor *me) {
    dn_inspect(self, one_in(2) ? "main" : NULL, pick(64));
    me->reports++;
}

static inline void op_post(dn_self *self, m_actor *me) {
    int            to;
    const dn_ref   ref = some_ref(self, &to);
    const uint32_t size = some_size();
    const int      at = msg_record(number_of_me(me), size);
    unsigned char  memory[BODY_MAX];

    body_fill(memory, at, size);
    const int rc = dn_post(dn_self_runtime(self), ref, K_DATA, memory, size);
    if (rc == DN_ENOMEM) OPS_CHECK(o.refuses, "memory is there");
    else sent(rc, at, number_of_me(me), to, false);
}

static inline void ops_do(dn_self *self, m_actor *me, uint32_t count) {
    for (; count > 0 && o.source.left > 0 && records_left(); count--) {
        o.source.left--;
        o.counts.ops++;
        switch (pick(40)) {
        case 0:
        case 1:
        case 2:
        case 3:
        case 4:
        case 5: op_send(self, me); break;
        case 6:
        case 7:
        case 8:
        case 9: op_call(self, me); break;
        case 10: op_call_cancel(self, me); break;
        case 11:
        case 12:
        case 13: op_kept(self, me); break;
        case 14:
        case 15: op_monitor(self, me); break;
        case 16: op_demonitor(self, me); break;
        case 17:
        case 18:
        case 19:
        case 20: op_timer(self, me); break;
        case 21:
        case 22: op_cancel(self, me); break;
        case 23:
        case 24: op_own(self, me); break;
        case 25: op_disown(self, me); break;
        case 26: op_alloc(self, me); break;
        case 27:
        case 28:
        case 29:
        case 30: op_spawn(self, me); break;
        case 31: op_end_other(self, me, false); break;
        case 32:
            if (one_in(2)) op_end_other(self, me, true);
            break;
        case 33: op_wait_room(self, me); break;
        case 34: op_init_done(self, me); break;
        case 35: op_watch_clock(self, me); break;
        case 36: op_inspect(self, me); break;
        case 37: op_post(self, me); break;
        case 38:
            if (number_of_me(me) != o.root && one_in(4)) dn_fail("an operation that fails");
            break;
        default:
            OPS_CHECK(strcmp(dn_self_name(self), "") != 0, "no name at all");
            OPS_CHECK(dn_ref_equal(dn_self_ref(self), me->ref), "its own address has changed");
        }
    }
}

/* ---- What comes ---- */

static inline void got_down(m_actor *me, const dn_msg *msg) {
    const dn_down *d = DN_BODY(dn_down, msg);
    const uint32_t at = (uint32_t)d->tag;
    m_watch       *w = &o.watches[at];

    OPS_CHECK(at < (uint32_t)o.watches_len, "DOWN of no watch");
    OPS_CHECK(w->watcher == number_of_me(me), "DOWN for %d came to %d", w->watcher,
              number_of_me(me));
    OPS_CHECK(w->fate == W_STANDS, "DOWN of watch %u in state %d", at, w->fate);
    w->fate = W_TOLD;
    o.counts.downs++;
    if (w->target < 0) {
        OPS_CHECK(d->reason == DN_EDEAD, "nobody ended with %d", d->reason);
        return;
    }
    const m_actor *target = &o.actors[w->target];
    OPS_CHECK(target->ended, "DOWN of %d, which is alive", w->target);
    OPS_CHECK(dn_ref_equal(d->who, target->ref), "DOWN of another one");
    OPS_CHECK(target->reason_known && target->reason == d->reason, "ended with %d, told %d",
              target->reason, d->reason);
    OPS_CHECK((d->reason == DN_EFAILED) ==
                  (strstr(d->why, "fails") || strstr(d->why, "fault") || strstr(d->why, "heap")),
              "failed with the words '%s'", d->why);
    for (int i = me->inbox; i >= 0; i = o.msgs[i].next)
        OPS_CHECK(o.msgs[i].from != w->target || o.msgs[i].droppable,
                  "DOWN of %d overtook message %d", w->target, i);
}

static inline void got_started(m_actor *me, const dn_msg *msg) {
    const dn_started *st = DN_BODY(dn_started, msg);
    m_start          *start = &o.starts[st->tag >> 32];

    OPS_CHECK((int)(st->tag >> 32) < o.starts_len && start->pending, "STARTED of no start");
    OPS_CHECK(start->starter == number_of_me(me), "STARTED to a stranger");
    OPS_CHECK(start->told++ == 0, "STARTED twice");
    o.counts.started++;
    if (st->status == DN_OK) {
        OPS_CHECK(dn_ref_equal(st->who, o.actors[start->child].ref), "STARTED another one");
        OPS_CHECK(!o.actors[start->child].pending, "STARTED what is pending");
    } else {
        OPS_CHECK(o.actors[start->child].ended, "a start failed, and it is alive");
    }
}

static inline m_call *call_by_id(const m_actor *me, dn_call_id id) {
    for (int i = o.calls_len; i-- > 0;)
        if (o.calls[i].id == id && o.calls[i].caller == number_of_me(me)) return &o.calls[i];
    OPS_CHECK(false, "the end of no call of %d", number_of_me(me));
    return NULL;
}

static inline void got_call_failed(dn_self *self, m_actor *me, const dn_msg *msg) {
    const dn_call_failed *f = DN_BODY(dn_call_failed, msg);
    m_call               *c = call_by_id(me, f->id);

    OPS_CHECK(dn_msg_call(msg) == f->id, "a failure of another call");
    OPS_CHECK(c->fate == C_OPEN || (c->fate == C_CANCELLED && c->may_fail_yet),
              "a call ends again, by status %d", f->status);
    c->may_fail_yet = false;
    if (c->fate == C_OPEN) c->fate = C_ENDED;
    switch (f->status) {
    case DN_ETIME:
        OPS_CHECK(dn_mono_ns(self) >= c->deadline_ns, "a call is out of time before its time");
        o.counts.failed[0]++;
        break;
    case DN_EDEAD: o.counts.failed[1]++; break;
    case DN_EUNANSWERED: o.counts.failed[2]++; break;
    default: OPS_CHECK(false, "a call fails with %d", f->status);
    }
}

static inline void got_reply(dn_self *self, m_actor *me, const dn_msg *msg, const m_msg *r) {
    m_call *c = call_by_id(me, dn_msg_call(msg));

    OPS_CHECK(&o.calls[r->call] == c, "the answer to another call");
    OPS_CHECK(c->fate == C_OPEN, "an answer to a call in state %d", c->fate);
    c->fate = C_ENDED;
    /* When its timer fires the call is over before anything that comes then is looked at. */
    OPS_CHECK(dn_mono_ns(self) < ms_up_ns(c->deadline_ns), "an answer after the deadline");
}

static inline void got_timer(dn_self *self, m_actor *me, const dn_msg *msg) {
    const uint64_t at = *DN_BODY(uint64_t, msg);
    const int64_t  now_ns = dn_mono_ns(self);
    m_timer       *t = &o.timers[at];

    OPS_CHECK(at < (uint64_t)o.timers_len && t->owner == number_of_me(me),
              "a timer of another one");
    OPS_CHECK(t->fate == T_ARMED, "timer %d fires in state %d", (int)at, t->fate);
    t->fate = T_FIRED;
    o.counts.fired++;
    if (t->wall) {
        int64_t wall_ms = dn_now_ms(self);
        if (o.wall_step_ns == dn_mono_ns(self) && o.wall_before > wall_ms) wall_ms = o.wall_before;
        /* While it waits behind a slow turn the wall clock may be set back. */
        OPS_CHECK(o.faults || wall_ms >= t->due, "a wall timer fires %lld ms early",
                  (long long)(t->due - wall_ms));
        return;
    }
    OPS_CHECK(now_ns >= t->due, "a timer fires %lld ns early", (long long)(t->due - now_ns));
    /* Behind a slow turn it comes as late as that makes it. */
    OPS_CHECK(o.faults || now_ns <= latest_ns(t), "a timer fires %lld ns late",
              (long long)(now_ns - latest_ns(t)));
    /* Those that were due before they were armed come in any order. */
    if (t->due < t->armed_ns) return;
    OPS_CHECK(me->last_due != t->due || me->last_armed <= t->order,
              "timer %d for %lld, armed at %lld as number %llu, fires after number %llu", (int)at,
              (long long)t->due, (long long)t->armed_ns, (unsigned long long)t->order,
              (unsigned long long)me->last_armed - 1);
    me->last_due = t->due;
    me->last_armed = t->order + 1;
}

static inline void got_report(const m_actor *me, const dn_msg *msg) {
    const dn_report *r = dn_msg_body_borrow(msg);

    (void)me;
    o.counts.reports++;
    if (dn_msg_size(msg) == 0) {
        o.counts.refused++;
        return;
    }
    OPS_CHECK(dn_msg_size(msg) >= sizeof *r, "half a report");
    OPS_CHECK(r->actors == r->spawned - r->ended, "%llu alive of %llu - %llu",
              (unsigned long long)r->actors, (unsigned long long)r->spawned,
              (unsigned long long)r->ended);
    OPS_CHECK(r->actors_len <= r->actors, "more rows than actors");
    bool nameless = false;
    for (size_t i = 0; i < r->actors_len; i++) {
        const int at = actor_by_ref(r->rows[i].who);
        OPS_CHECK(at >= 0 || r->rows[i].handled == 0, "a report of a stranger");
        if (at < 0) continue;
        OPS_CHECK(strcmp(r->rows[i].actor_class, ops_classes[o.actors[at].cls].name) == 0,
                  "another class");
        if (o.actors[at].name < 0) nameless = true;
        else OPS_CHECK(!nameless, "the named do not come first");
    }
}

/* A handler's answer; most often that all is well. */
static inline int some_answer(const m_actor *me) {
    if (number_of_me(me) == o.root) return DN_OK;
    switch (pick(64)) {
    case 0: return DN_STOP;
    case 1: return DN_EIO;
    case 2: return one_in(4) ? 7 : DN_OK; /* which is no answer: a crash */
    default: return DN_OK;
    }
}

/* Data and requests: what carries a body of ours. */
static inline void got_message(dn_self *self, m_actor *me, const dn_msg *msg) {
    const body *b = dn_msg_body_borrow(msg);

    OPS_CHECK(dn_msg_size(msg) >= BODY_MIN && b->record < (uint32_t)o.msgs_len,
              "a message of nobody's");
    const int at = (int)b->record;
    m_msg    *r = &o.msgs[at];
    OPS_CHECK(dn_msg_size(msg) == r->size, "message %d has another size", at);
    for (uint32_t i = sizeof *b; i < r->size; i++)
        OPS_CHECK(b->bytes[i - sizeof *b] == pattern_at(at, i), "message %d has changed", at);
    OPS_CHECK(r->releases <= 0, "message %d is released already", at);
    const bool reply = dn_msg_kind(msg) == K_REPLY;
    inbox_take(me, at);
    OPS_CHECK(dn_msg_is_request(msg) == (dn_msg_kind(msg) == K_REQUEST), "a request that is none");
    if (reply) {
        got_reply(self, me, msg, r);
        return;
    }
    if (dn_msg_is_request(msg)) {
        const m_call *c = &o.calls[r->call];
        OPS_CHECK(c->id == dn_msg_call(msg), "a request of another call");
        OPS_CHECK(dn_ref_equal(dn_msg_from(msg), o.actors[c->caller].ref), "another caller");
        OPS_CHECK(dn_msg_deadline(msg) == c->deadline_ns || c->deadline_ns == INT64_MAX,
                  "another deadline");
        OPS_CHECK(dn_mono_ns(self) < c->deadline_ns, "an expired request is handled");
    }
    if (o.quiet) return;

    switch (pick(8)) {
    case 0:
    case 1: /* keep it */
        for (int i = 0; i < KEPT_MAX; i++) {
            if (me->kept[i].m) continue;
            r->fate = M_KEPT;
            me->kept[i].record = at;
            me->kept[i].m = dn_msg_keep(self, msg);
            o.counts.kept++;
            return;
        }
        break;
    case 2: { /* send it on */
        int          to;
        const dn_ref ref = some_ref(self, &to);
        const bool   request = dn_msg_is_request(msg);
        const int    rc = dn_forward(self, ref, msg);
        sent(rc, at, number_of_me(me), to, request);
        o.counts.forwarded += rc == DN_OK;
        return;
    }
    case 3:
    case 4:
    case 5:
        if (dn_msg_is_request(msg)) answer(self, me, msg, at);
        break;
    default: break;
    }
}

static inline int ops_on(dn_self *self, void *state, const dn_msg *msg) {
    ops_state *st = state;
    m_actor   *me = me_of(state);
    /* Not to be asked later: the message may be another's by then. */
    const uint32_t kind = dn_msg_kind(msg);

    OPS_CHECK(me->live && dn_ref_equal(me->ref, dn_self_ref(self)), "a dead actor handles");
    o.nested = 0;
    st->handled_unflushed++;
    if (me->cls == 2)
        OPS_CHECK(st->handled_unflushed <= FLUSH_MAX, "%u messages without a flush",
                  st->handled_unflushed);
    switch (kind) {
    case K_GO: me->gos--; break;
    case K_TIMER:
        if (*DN_BODY(uint64_t, msg) == UINT64_MAX) return DN_STOP; /* of ops_stopping */
        got_timer(self, me, msg);
        break;
    case DN_MSG_DOWN: got_down(me, msg); break;
    case DN_MSG_STARTED: got_started(me, msg); break;
    case DN_MSG_CALL_FAILED: got_call_failed(self, me, msg); break;
    case DN_MSG_REPORT:
        OPS_CHECK(me->reports > 0, "a report not asked for");
        me->reports--;
        got_report(me, msg);
        break;
    case DN_MSG_CLOCK:
        OPS_CHECK(me->clock_due > 0, "the clock did not step");
        me->clock_due--;
        o.counts.clocks++;
        break;
    case DN_MSG_ROOM: {
        const dn_ref who = DN_BODY(dn_room, msg)->who;
        bool         found = false;
        for (int i = 0; i < o.rooms_len && !found; i++)
            if (o.rooms[i].waiter == number_of_me(me) && o.rooms[i].due > 0 &&
                dn_ref_equal(o.actors[o.rooms[i].target].ref, who)) {
                o.rooms[i].due--;
                found = true;
            }
        OPS_CHECK(found, "room that nobody waits for");
        o.counts.rooms++;
        break;
    }
    default: got_message(self, me, msg);
    }
    if (o.quiet) {
        /* Nothing is begun any more; what was begun comes to its end. */
        if (me->pending) op_init_done(self, me);
        return DN_OK;
    }
    ops_do(self, me, kind == K_GO ? 1 + pick(4) : pick(3));
    return some_answer(me);
}

/* ---- The world around ---- */

static inline void ops_on_event(void *context, const dn_sim_event *e) {
    (void)context;
    switch (e->kind) {
    case DN_SIM_SPAWN:
        o.last_spawned = e->actor;
        o.spawned++;
        break;
    case DN_SIM_END:
        o.ended++;
        o.counts.ended[e->detail == DN_OK ? 0 : e->detail == DN_EKILLED ? 1 : 2]++;
        for (int i = o.actors_len; i-- > 0;) {
            m_actor *a = &o.actors[i];
            if (a->number != e->actor) continue;
            OPS_CHECK(a->ended && !a->reason_known, "actor %d ends again", i);
            OPS_CHECK(e->detail != DN_ESHUTDOWN || a->stop_asked, "nobody asked %d to stop", i);
            OPS_CHECK(e->detail != DN_EKILLED || a->kill_asked, "nobody killed %d", i);
            a->reason = (int)e->detail;
            a->reason_known = true;
            break;
        }
        break;
    case DN_SIM_WALL_STEP:
        /* The latest that the wall clock has shown at this instant. */
        if (o.wall_step_ns != e->mono_ns || o.wall_before < e->wall_ms - e->detail)
            o.wall_before = e->wall_ms - e->detail;
        o.wall_step_ns = e->mono_ns;
        for (int i = 0; i < o.actors_len; i++)
            if (o.actors[i].live && o.actors[i].knows_clock) o.actors[i].clock_due++;
        break;
    case DN_SIM_CRASH_ACTOR: o.counts.crashes++; break;
    default: break;
    }
}

/* Nothing is ready, and all that could come has come. */
static inline void ops_check_settled(void) {
    const int64_t now_ms = dn_sim_mono_ms(o.sim), now_ns = now_ms * OPS_MS;
    const int64_t wall_ms = dn_sim_wall_ms(o.sim);

    o.counts.settled++;
    OPS_CHECK(o.spawned - o.ended == (uint64_t)o.alive_len, "%llu spawned, %llu ended, %d alive",
              (unsigned long long)o.spawned, (unsigned long long)o.ended, o.alive_len);
    for (int i = 0; i < o.actors_len; i++) {
        const m_actor *a = &o.actors[i];
        if (!a->live) continue;
        OPS_CHECK(!a->must_end, "actor %d was to end, and has not", i);
        OPS_CHECK(a->clock_due == 0, "a step of the clock was not told to %d", i);
        OPS_CHECK(a->reports == 0, "a report did not come");
        for (int m = a->inbox; m >= 0; m = o.msgs[m].next)
            OPS_CHECK(o.msgs[m].droppable, "message %d from %d to %d was lost", m, o.msgs[m].from,
                      i);
    }
    for (int i = 0; i < o.calls_len; i++) {
        const m_call *c = &o.calls[i];
        if (c->fate != C_OPEN || !o.actors[c->caller].live) continue;
        const m_msg *r = &o.msgs[c->request];
        OPS_CHECK(c->deadline_ns > now_ns, "call %d is out of time and has not ended", i);
        OPS_CHECK(r->fate == M_KEPT && o.actors[r->to].live,
                  "call %d has not ended, and nobody has the request", i);
    }
    for (int i = 0; i < o.watches_len; i++) {
        const m_watch *w = &o.watches[i];
        if (w->fate != W_STANDS || !o.actors[w->watcher].live) continue;
        OPS_CHECK(w->target >= 0 && o.actors[w->target].live, "no DOWN of watch %d", i);
    }
    for (int i = 0; i < o.timers_len; i++) {
        const m_timer *t = &o.timers[i];
        if (t->fate != T_ARMED || !o.actors[t->owner].live) continue;
        OPS_CHECK(t->due > (t->wall ? wall_ms : now_ns), "timer %d has not fired", i);
    }
    for (int i = 0; i < o.starts_len; i++) {
        const m_start *st = &o.starts[i];
        if (!st->pending || !o.actors[st->starter].live) continue;
        OPS_CHECK(st->told == 1 || (o.actors[st->child].live && o.actors[st->child].pending),
                  "no STARTED of start %d", i);
    }
    for (int i = 0; i < o.rooms_len; i++)
        OPS_CHECK(o.rooms[i].due == 0 || !o.actors[o.rooms[i].waiter].live, "no room for %d",
                  o.rooms[i].waiter);
    for (int i = 0; i < NAMES; i++)
        OPS_CHECK(o.holder[i] < 0 || o.actors[o.holder[i]].live, "a dead actor holds a name");
}

/* The process is gone: so is everything in it. */
static inline void ops_check_over(void) {
    for (int i = 0; i < o.actors_len; i++)
        OPS_CHECK(o.actors[i].ended, "actor %d outlives its process", i);
    for (int i = 0; i < o.owned_len; i++)
        OPS_CHECK(o.owned[i].releases == (o.owned[i].disowned ? 0 : 1), "owned %d: %d releases", i,
                  o.owned[i].releases);
    for (int i = 0; i < o.msgs_len; i++)
        OPS_CHECK(o.msgs[i].releases != 0, "the body of message %d is not released", i);
}

static inline void ops_boot(void) {
    static ops_config config;

    o.actors_len = o.alive_len = 0;
    o.msgs_len = o.calls_len = o.watches_len = o.timers_len = 0;
    o.owned_len = o.starts_len = o.rooms_len = 0;
    o.spawned = o.ended = o.last_spawned = 0;
    o.nested = 0;
    o.wall_step_ns = -1;
    for (int i = 0; i < NAMES; i++) o.holder[i] = -1;
    o.root = o.actors_len++;
    o.actors[o.root] = (m_actor){.cls = CLS_ROOT,
                                 .parent = -1,
                                 .name = -1,
                                 .start = -1,
                                 .inbox = -1,
                                 .inbox_tail = -1,
                                 .owned = -1};
    config = (ops_config){.actor = o.root, .plan = INIT_OK};
    const dn_spawn_spec root = {.actor_class = &ops_classes[CLS_ROOT], .config = &config};
    const int           rc = dn_sim_boot(o.sim, &root);
    OPS_CHECK(rc == DN_OK, "the root does not start: %d", rc);
    o.counts.boots++;
}

static inline void ops_set_faults(void) {
    o.fault_rates = (dn_sim_faults){0};
    if (o.delays) {
        o.fault_rates.delay_ppm = 100000;
        o.fault_rates.delay_ms_max = 40;
        o.fault_rates.double_reply_ppm = 100000;
    }
    if (o.faults) {
        o.fault_rates.crash_actor_ppm = 2000;
        o.fault_rates.crash_process_ppm = 100;
        o.fault_rates.step_wall_ppm = 5000;
        o.fault_rates.step_wall_ms_max = 200;
        o.fault_rates.slow_turn_ppm = 10000;
        o.fault_rates.slow_turn_ms_max = 30;
    }
    if (o.refuses) o.fault_rates.fail_alloc_ppm = 20000;
    dn_sim_set_faults(o.sim, &o.fault_rates);
}

/* Runs until the steady clock has moved on by so much. False: the process is no more. */
static inline bool ops_run(int64_t ms) {
    const dn_sim_end end = dn_sim_run(o.sim, dn_sim_mono_ms(o.sim) + ms);

    if (end == DN_SIM_TIME_UP || end == DN_SIM_IDLE) return true;
    OPS_CHECK(end == DN_SIM_CRASHED || o.refuses || o.faults || o.actors[o.root].must_end,
              "the root has ended: %d", dn_sim_root_reason(o.sim));
    o.counts.process_crashes += end == DN_SIM_CRASHED;
    ops_check_over();
    return false;
}

static inline void ops_post_go(void) {
    const int at = one_in(3) || o.alive_len == 0 ? o.root : o.alive[pick((uint32_t)o.alive_len)];

    if (dn_post(dn_sim_runtime(o.sim), o.actors[at].ref, K_GO, NULL, 0) == DN_OK)
        o.actors[at].gos++;
}

/* Lets everything come to its end, and looks. False: there is no process any more. */
static inline bool ops_settle(void) {
    static const dn_sim_faults none;

    dn_sim_set_faults(o.sim, &none);
    o.quiet = true;
    const bool alive = ops_run(2000);
    if (alive) ops_check_settled();
    o.quiet = false;
    ops_set_faults();
    return alive;
}

/* One process after the other, until as many operations are done or the records are used up. */
static inline void ops_episode(uint64_t seed) {
    const dn_sim_config config = {.seed = seed, .wall_ms = 5000, .on_event = ops_on_event};

    OPS_CHECK(dn_sim_new(&config, &o.sim) == DN_OK, "no simulation");
    o.counts.episodes++;
    o.delays = one_in(2);
    o.refuses = false;
    o.faults = one_in(3);
    ops_set_faults();
    ops_boot();
    while (o.source.left > 0 && records_left()) {
        bool alive = true;
        for (uint32_t posts = 1 + pick(4); posts > 0; posts--) ops_post_go();
        switch (pick(32)) {
        case 0: dn_sim_step_wall(o.sim, (int64_t)pick(400) - 200); break;
        case 1:
            o.refuses = !o.refuses;
            ops_set_faults();
            break;
        case 2: alive = ops_settle(); break;
        case 3: alive = ops_run(0); break;
        default: alive = ops_run((int64_t)pick(20)); break;
        }
        if (!alive) ops_boot();
    }
    if (ops_settle()) {
        static const dn_sim_faults none;
        dn_sim_set_faults(o.sim, &none);
        o.quiet = true;
        o.actors[o.root].must_end = o.actors[o.root].stop_asked = true;
        dn_sim_stop(o.sim);
        OPS_CHECK(dn_sim_run(o.sim, dn_sim_mono_ms(o.sim) + 10) == DN_SIM_ENDED,
                  "a stopped root goes on");
        OPS_CHECK(dn_sim_root_reason(o.sim) == DN_ESHUTDOWN, "the root ended with %d",
                  dn_sim_root_reason(o.sim));
        ops_check_over();
        o.quiet = false;
    }
    dn_sim_free(DN_TAKE(o.sim));
}

#endif
