/* send.c - how a message gets from one actor to another.
 * On one loop it is a push to the receiver's lane. To another loop it is counted in at the receiver's admission (is it
 * alive, has it room?), pushed to that loop's inbox, and the loop is woken if it sleeps. A message that cannot be
 * delivered is counted, and if it is a request, its call fails. */
#include "body.h"
#include "mem.h"
#include "rt.h"

#include <assert.h>
#include <string.h>

void fail_nomem(void) { dn_fail_code(DN_ENOMEM, "out of memory"); }

/* ---- Blocks ---- */

/* The pool is empty: what has come home, else fresh memory. */
dn_msg *msg_take_slow(dn_loop *l) {
    dn_msg *first = inbox_take_newest_first(&l->returned), *next;

    if (!first) {
        first = slab_take_slow(&l->messages);
        if (first) first->home = l->index; /* for good: a block always comes back to its pool */
        return first;
    }
    for (dn_msg *m = first->next; m; m = next) {
        next = m->next;
        slab_give(&l->messages, m);
    }
    return first;
}

static void return_home(dn_loop *l, dn_msg *m) {
    const uint8_t home = m->home;

    if (home == MSG_NO_HOME) {
        mem_free(m);
        return;
    }
    trail_mark(&l->returns[home].trail, m);
    m->next = l->returns[home].first;
    l->returns[home].first = m;
    if (l->returns[home].len++ == 0) l->returns[home].last = m;
    if (l->returns[home].len < RETURN_BATCH) return;
    inbox_push_chain(&l->runtime->loops[home]->returned, m, l->returns[home].last);
    l->returns[home].first = NULL;
    l->returns[home].len = 0;
}

void loop_send_returns(dn_loop *l) {
    for (uint32_t i = 0; i < l->runtime->loops_len; i++) {
        if (l->returns[i].len == 0) continue;
        inbox_push_chain(&l->runtime->loops[i]->returned, l->returns[i].first, l->returns[i].last);
        l->returns[i].first = NULL;
        l->returns[i].len = 0;
    }
}

void msg_free_slow(dn_loop *l, dn_msg *m) {
    if (m->flags & MSG_LARGE) msg_drop_body(m);
    if (m->home == l->index) slab_give(&l->messages, m);
    else return_home(l, m);
}

void msg_let_go(dn_loop *l, dn_msg *m, int status) {
    if (m->flags & MSG_REQUEST) call_fail(l, m, status);
    else msg_free(l, m);
}

/* ---- Lanes ---- */

static void note_near(dn_self *a) {
    if (++a->depth > a->depth_peak) a->depth_peak = a->depth;
}

static void note_far(dn_self *a) {
    const uint32_t both = a->depth + ++a->far_depth;

    if (both > a->far_peak) a->far_peak = both;
}

static void lane_put(dn_self *a, dn_msg *m) {
    m->next = NULL;
    if (a->user_head) a->user_tail->next = m;
    else a->user_head = m;
    a->user_tail = m;
}

/* At the end of its lane. */
void msg_push(dn_loop *l, dn_self *a, dn_msg *m) {
    if (m->flags & MSG_SYSTEM && m->kind == SYS_STOP && a->actor_class->drains)
        m->flags = MSG_CONTROL | MSG_EXEMPT; /* it takes its place among the others */
    if (m->flags & MSG_SYSTEM) {
        sys_put(a, m);
        a->flags |= ACTOR_URGENT;
        l->exempt++;
    } else {
        lane_put(a, m);
        if (m->flags & MSG_EXEMPT) l->exempt++;
        else if (!(m->flags & MSG_COUNTED)) note_near(a);
        else note_far(a);
    }
    actor_schedule(l, a);
}

void msg_uncount(dn_loop *l, dn_msg *m) {
    if (!(m->flags & MSG_COUNTED)) return;
    m->flags &= (uint8_t)~MSG_COUNTED;
    const uint32_t slot = ref_slot(m->to);
    /* relaxed: the count bounds memory, it orders nothing. */
    atomic_fetch_sub_explicit(&admission_at(l, slot)->gen_waiting, 1, memory_order_relaxed);
    /* The admission is the slot's: m may have taken a place of the actor that lives there now. */
    dn_self *a = slab_at(&l->actors, slot);
    if (actor_lives(a) && a->flags & ACTOR_WAITED) room_check(l, a);
}

static void count_dead_letter(dn_loop *l, uint32_t kind) {
    l->dead_letters++;
    if (notice_worth(l->dead_letters))
        notice(l, DN_NOTICE_DEAD_LETTERS, "", kind, DN_EDEAD, (int64_t)l->dead_letters,
               "a message for an actor that is not alive");
}

/* A message whose receiver is not alive, on the loop where it would have been. */
static void msg_bury(dn_loop *l, dn_msg *m) {
    msg_uncount(l, m);
    switch (m->kind) {
    case SYS_WATCH:
    case SYS_LINK: watch_bounce(l, m, DN_EDEAD, ""); return;
    case SYS_ROOM: {
        const dn_room room = {.who = m->to};
        const dn_ref  waiter = m->from;
        m->from = m->to;
        m->to = waiter;
        m->kind = DN_MSG_ROOM;
        m->flags = MSG_EXEMPT;
        msg_set_small(m, &room, sizeof room);
        msg_route(l, m);
        return;
    }
    case SYS_STOP:
    case SYS_KILL:
    case SYS_UNWATCH: msg_free(l, m); return;
    default:
        if (m->flags & MSG_REPLY) l->late_replies++;
        else if (!(m->flags & MSG_WATCH)) count_dead_letter(l, m->kind);
        msg_let_go(l, m, DN_EDEAD);
    }
}

/* A message for an actor of this loop that is alive. */
static void msg_accept(dn_loop *l, dn_self *a, dn_msg *m) {
    switch (m->kind) {
    case SYS_WATCH:
    case SYS_LINK: watch_arrived(l, a, m); return;
    case SYS_UNWATCH: watch_withdrawn(l, a, m); return;
    case SYS_ROOM:
        m->next = a->room_waiters;
        a->room_waiters = m;
        a->flags |= ACTOR_WAITED;
        room_check(l, a);
        return;
    default: msg_push(l, a, m);
    }
}

static void clock_arrived(dn_loop *l, dn_msg *m) {
    const msg_clock *clock = (const msg_clock *)(const void *)m->inline_body;
    const int64_t    step_ns = clock->wall_offset_ns - l->wall_offset_ns;

    assert(m->kind == CTL_CLOCK);
    /* Told twice, it is still one step. */
    if (step_ns >= 1000000 || step_ns <= -1000000)
        timers_wall_stepped(l, clock->wall_offset_ns, clock->boot_offset_ns);
    msg_free(l, m);
}

void msg_arrive(dn_loop *l, dn_msg *m) {
    if (m->flags & MSG_CONTROL) {
        if (m->kind == CTL_SPAWN) spawn_arrived(l, m);
        else if (m->kind == CTL_INSPECT) inspect_arrived(l, m);
        else clock_arrived(l, m);
        return;
    }
    dn_self *a = actor_find(l, m->to);
    if (a) msg_accept(l, a, m);
    else msg_bury(l, m);
}

void loop_take_inbox(dn_loop *l) {
    dn_msg *m = inbox_take(&l->inbox), *next;

    for (; m; m = next) {
        next = m->next;
        msg_arrive(l, m);
    }
}

void msg_route(dn_loop *l, dn_msg *m) {
    const uint32_t index = ref_loop(m->to);

    m->state = MSG_SENT;
    if (index != l->index) {
        if (index < l->runtime->loops_len) rt_push(l->runtime->loops[index], m);
        else msg_bury(l, m); /* DN_NOBODY has a loop too; this is no address at all */
        return;
    }
    if (l->driver->takes && l->driver->takes(l, m) != DN_OK) return;
    msg_arrive(l, m);
}

/* ---- Sending within bounds ---- */

/* Counts a message in, unless it is exempt. DN_EDEAD or DN_EFULL: it may not be sent. Any thread. */
static int admission_enter(dn_loop *there, dn_ref to, bool exempt) {
    if (!admission_open(there, to)) return DN_EDEAD;
    if (exempt) return DN_OK;
    admission     *d = admission_at(there, ref_slot(to));
    const uint32_t max = atomic_load_explicit(&d->waiting_max, memory_order_relaxed);
    uint64_t       seen = atomic_load_explicit(&d->gen_waiting, memory_order_relaxed);
    /* Not by an addition that is taken back if there is no room: an actor that waits for room could miss it. */
    do {
        if ((uint32_t)(seen >> 32) != ref_gen(to)) return DN_EDEAD;
        if ((uint32_t)seen >= max) return DN_EFULL;
    } while (!atomic_compare_exchange_weak_explicit(&d->gen_waiting, &seen, seen + 1,
                                                    memory_order_relaxed, memory_order_relaxed));
    return DN_OK;
}

static int refused(dn_loop *l, uint32_t kind, int rc) {
    if (rc == DN_EFULL) l->full++;
    else count_dead_letter(l, kind);
    return rc;
}

static int send_near(dn_loop *l, dn_self *a, dn_msg *m) {
    if (a->depth >= a->depth_max) return DN_EFULL;
    const int rc = l->simulated ? l->driver->takes(l, m) : DN_OK;
    if (rc == DN_OK) msg_push(l, a, m);
    return rc == DN_PENDING ? DN_OK : rc; /* DN_PENDING: the simulation's wire has it */
}

static int send_far(dn_loop *l, uint32_t index, dn_msg *m) {
    dn_loop  *there = l->runtime->loops[index];
    const int rc = admission_enter(there, m->to, /* exempt= */ false);

    if (rc < 0) return rc;
    m->flags |= MSG_COUNTED;
    if (!(m->flags & MSG_REQUEST)) trail_mark(&l->pushed[index], m);
    rt_push(there, m);
    return DN_OK;
}

/* Sends an actor's own message, within the bounds of the receiver. On DN_OK the message is gone. */
static int send(dn_loop *l, dn_ref to, dn_msg *m) {
    to = rt_resolve(l->runtime, to);
    const uint32_t index = ref_loop(to);
    m->to = to;
    if (dn_ref_is_nobody(to) || index >= l->runtime->loops_len) return DN_EDEAD;
    if (index != l->index) return send_far(l, index, m);
    dn_self *a = actor_find(l, to);
    return a ? send_near(l, a, m) : DN_EDEAD;
}

/* noinline, as the two below: bench/actors bounds a hop at 150 instructions. The common way of a send calls nothing, and
 * without these inlined into it saves no registers. */
static __attribute__((noinline)) int send_failed(dn_loop *l, dn_msg *m, int rc) {
    const uint32_t kind = m->kind;

    msg_free(l, m);
    return refused(l, kind, rc);
}

static __attribute__((noinline)) int send_any_or_free(dn_loop *l, dn_ref to, dn_msg *m) {
    const int rc = send(l, to, m);

    return rc == DN_OK ? rc : send_failed(l, m, rc);
}

static __attribute__((noinline)) int send_or_free(dn_loop *l, dn_ref to, dn_msg *m) {
    dn_self *a = actor_find(l, to);

    if (!a || l->simulated) return send_any_or_free(l, to, m);
    if (a->depth >= a->depth_max) return send_failed(l, m, DN_EFULL);
    lane_put(a, m);
    note_near(a);
    actor_schedule(l, a);
    return DN_OK;
}

/* inline, for the same bound: the linker's optimiser then copies a body of a known size without a call. */
inline int dn_send(dn_self *self, dn_ref to, uint32_t kind, const void *body, size_t size) {
    dn_loop *l = self->loop;
    dn_msg  *m = msg_take(l);

    assert(kind > 0 && kind <= DN_KIND_MAX && "message kinds go from 1 to DN_KIND_MAX");
    if (!m) fail_nomem();
    m->from = self->ref;
    m->kind = kind;
    if (msg_set_body(m, body, size) < 0) {
        msg_free(l, m);
        fail_nomem();
    }
    return send_or_free(l, to, m);
}

/* ---- Messages an actor holds ---- */

void msg_hold(dn_self *a, dn_msg *m) {
    m->state = MSG_HELD;
    m->prev = NULL;
    m->next = a->held;
    if (a->held) a->held->prev = m;
    a->held = m;
}

void msg_unhold(dn_self *a, dn_msg *m) {
    assert(m->state == MSG_HELD && "this message was sent, answered or freed before");
    /* Its block may have become a message that another actor holds. */
    assert((m->prev ? m->prev->next == m : a->held == m) &&
           "this message was sent, answered or freed before");
    if (m->prev) m->prev->next = m->next;
    else a->held = m->next;
    if (m->next) m->next->prev = m->prev;
    m->state = MSG_SENT;
}

dn_msg *dn_msg_new(dn_self *self, uint32_t kind, size_t size) {
    assert(kind > 0 && kind <= DN_KIND_MAX && "message kinds go from 1 to DN_KIND_MAX");
    if (size > MSG_INLINE_MAX) {
        void *body = body_new_zeroed(size);
        if (!body) fail_nomem();
        return dn_msg_new_take(self, kind, body, size, body_release);
    }
    dn_msg *m = msg_take(self->loop);
    if (!m) fail_nomem();
    m->from = self->ref;
    m->kind = kind;
    m->inline_size = (uint8_t)size;
    memset(m->inline_body, 0, size);
    msg_hold(self, m);
    return m;
}

dn_msg *dn_msg_new_take(dn_self *self, uint32_t kind, void *body, size_t size,
                        void (*release)(void *body)) {
    dn_msg *m = msg_take(self->loop);

    assert(kind > 0 && kind <= DN_KIND_MAX && "message kinds go from 1 to DN_KIND_MAX");
    if (!m) {
        if (release == body_release) body_free(body, size);
        else if (release) release_guarded(release, body);
        fail_nomem();
    }
    m->from = self->ref;
    m->kind = kind;
    msg_set_large(m, body, size, release);
    msg_hold(self, m);
    return m;
}

void dn_msg_free(dn_self *self, dn_msg *msg) {
    msg_unhold(self, msg);
    msg_let_go(self->loop, msg, DN_EUNANSWERED);
}

dn_msg *dn_msg_keep(dn_self *self, const dn_msg *msg) {
    dn_loop *l = self->loop;
    dn_msg  *m = l->handling;

    assert(m == msg && "only the message being handled can be kept, and only once");
    l->handling = NULL;
    msg_hold(self, m);
    return m;
}

int msg_send_on(dn_self *self, dn_ref to, dn_msg *m) {
    dn_loop *l = self->loop;

    assert(m->kind <= DN_KIND_MAX && "the runtime's own messages are not sent on");
    const dn_ref  from = m->from; /* if it cannot be sent, it stays what it was */
    const uint8_t flags = m->flags;
    if (!(flags & MSG_REQUEST)) m->from = self->ref;
    m->flags &= (uint8_t)(MSG_LARGE | MSG_REQUEST);
    const int rc = send(l, to, m);
    if (rc == DN_OK) return rc;
    m->from = from;
    m->flags = flags;
    return refused(l, m->kind, rc);
}

int dn_send_take(dn_self *self, dn_ref to, dn_msg *msg) {
    msg_unhold(self, msg);
    const int rc = msg_send_on(self, to, msg);
    if (rc < 0) msg_hold(self, msg);
    return rc;
}

int dn_forward(dn_self *self, dn_ref to, const dn_msg *handled) {
    dn_loop *l = self->loop;
    dn_msg  *m = l->handling;

    assert(m == handled && "only the message being handled can be forwarded, and only once");
    assert(m->kind <= DN_KIND_MAX && "the runtime's own messages are not forwarded");
    const int rc = msg_send_on(self, to, m);
    if (rc == DN_OK) l->handling = NULL;
    return rc;
}

/* ---- From outside ---- */

static dn_msg *outside_msg(void) {
    dn_msg *m = mem_alloc(sizeof *m);

    if (m) {
        m->state = MSG_SENT;
        m->home = MSG_NO_HOME;
    }
    return m;
}

static dn_msg *post_new(dn_loop *l, dn_ref to, uint32_t kind) {
    assert(kind > 0 && kind <= DN_KIND_MAX && "message kinds go from 1 to DN_KIND_MAX");
    dn_msg *m = l ? msg_take(l) : outside_msg();

    if (!m) return NULL;
    m->from = DN_NOBODY;
    m->kind = kind;
    m->to = to;
    return m;
}

static void post_free(dn_loop *l, dn_msg *m) {
    if (l) {
        msg_free(l, m);
        return;
    }
    msg_drop_body(m);
    mem_free(m);
}

/* On DN_OK alone m is gone. */
static int post_on(dn_runtime *rt, dn_loop *l, dn_msg *m) {
    const dn_ref to = m->to;

    if (l) {
        const int rc = send(l, to, m);
        return rc == DN_OK || rc == DN_ENOMEM ? rc : refused(l, m->kind, rc);
    }
    dn_loop  *there = rt->loops[ref_loop(to)];
    const int rc = admission_enter(there, to, false);
    if (rc < 0) return rc;
    m->flags |= MSG_COUNTED;
    rt_push(there, m);
    return DN_OK;
}

static dn_loop *loop_of_here(const dn_runtime *rt) {
    return this_loop && this_loop->runtime == rt ? this_loop : NULL;
}

static bool post_resolve(dn_runtime *rt, dn_ref *to) {
    *to = rt_resolve(rt, *to);
    return !dn_ref_is_nobody(*to) && ref_loop(*to) < rt->loops_len;
}

int dn_post(dn_runtime *rt, dn_ref to, uint32_t kind, const void *body, size_t size) {
    dn_loop *l = loop_of_here(rt);

    if (!post_resolve(rt, &to)) return DN_EDEAD;
    dn_msg *m = post_new(l, to, kind);
    if (!m) return DN_ENOMEM;
    int rc = msg_set_body(m, body, size);
    if (rc == DN_OK) rc = post_on(rt, l, m);
    if (rc < 0) post_free(l, m);
    return rc;
}

int dn_post_take(dn_runtime *rt, dn_ref to, uint32_t kind, void *body, size_t size,
                 void (*release)(void *body)) {
    dn_loop *l = loop_of_here(rt);

    if (!post_resolve(rt, &to)) return DN_EDEAD;
    dn_msg *m = post_new(l, to, kind);
    if (!m) return DN_ENOMEM;
    msg_set_large(m, body, size, release);
    const int rc = post_on(rt, l, m);
    if (rc == DN_OK) return rc;
    msg_set_large(m, body, size, NULL); /* it stays its owner's */
    post_free(l, m);
    return rc;
}

/* ---- Room ---- */

/* Tells those who wait once half of both ways in is free. */
void room_check(dn_loop *l, dn_self *a) {
    const uint32_t waiting = (uint32_t)atomic_load_explicit(
        &admission_at(l, ref_slot(a->ref))->gen_waiting, memory_order_relaxed);

    if (a->depth > a->depth_max / 2 || waiting > a->depth_max / 2) return;
    dn_msg *m = a->room_waiters, *next;
    a->room_waiters = NULL;
    a->flags &= (uint16_t)~ACTOR_WAITED;
    for (; m; m = next) {
        next = m->next;
        const dn_room room = {.who = a->ref};
        m->to = m->from;
        m->from = a->ref;
        m->kind = DN_MSG_ROOM;
        m->flags = MSG_EXEMPT;
        msg_set_small(m, &room, sizeof room);
        msg_route(l, m);
    }
}

int dn_wait_room(dn_self *self, dn_ref to) {
    dn_loop *l = self->loop;
    dn_msg  *m = msg_take(l);

    if (!m) fail_nomem();
    to = rt_resolve(l->runtime, to);
    m->to = to;
    m->from = self->ref;
    m->kind = SYS_ROOM;
    m->flags = MSG_SYSTEM | MSG_EXEMPT;
    const bool here = ref_loop(to) == l->index;
    int        rc = DN_OK;
    if (dn_ref_is_nobody(to) || ref_loop(to) >= l->runtime->loops_len) rc = DN_EDEAD;
    else if (here) rc = actor_find(l, to) ? DN_OK : DN_EDEAD;
    else rc = admission_enter(l->runtime->loops[ref_loop(to)], to, /* exempt= */ true);
    if (rc < 0) {
        msg_free(l, m);
        return rc;
    }
    if (here) msg_arrive(l, m);
    else rt_push(l->runtime->loops[ref_loop(to)], m);
    return DN_OK;
}

/* What was in the mailbox of an actor that has ended. */
void lane_discard(dn_loop *l, dn_self *a, dn_ref was) {
    dn_msg *m, *next;

    while ((m = sys_take(a))) msg_free(l, m);
    for (m = a->user_head; m; m = next) {
        next = m->next;
        m->to = was;
        msg_bury(l, m);
    }
    for (m = a->room_waiters; m; m = next) {
        next = m->next;
        m->to = was;
        msg_bury(l, m);
    }
    for (m = a->held; m; m = next) {
        next = m->next;
        msg_let_go(l, m, DN_EDEAD);
    }
    a->user_head = a->user_tail = a->room_waiters = a->held = NULL;
    a->depth = a->far_depth = 0;
}
