/* send.c - how a message gets from one actor to another.
 * On one loop it is a push to a plain list. To another loop it is a look at the receiver's door (alive?
 * room?), a push to that loop's inbox, and a wake-up if it sleeps. What cannot be delivered is
 * buried: counted, and if somebody waits for an answer, answered. */
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

    if (!first) return slab_take_slow(&l->messages);
    if (!SLAB_GUARDS) { /* they are linked as the pool links them: no need to touch them now */
        l->messages.free = (slab_block *)(void *)first->next;
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
    msg_drop_body(m);
    if (m->home == l->index) slab_give(&l->messages, m);
    else return_home(l, m);
}

void msg_let_go(dn_loop *l, dn_msg *m, int status) {
    if (m->flags & MSG_REQUEST) call_fail(l, m, status);
    else msg_free(l, m);
}

/* ---- Lanes ---- */

static inline void note_near(dn_self *a) {
    if (++a->depth > a->depth_peak) a->depth_peak = a->depth;
}

static inline void note_far(dn_self *a) {
    const uint32_t both = a->depth + ++a->far_depth;

    if (both > a->far_peak) a->far_peak = both;
}

static inline void lane_put(dn_self *a, dn_msg *m) {
    m->next = NULL;
    if (a->user_head) a->user_tail->next = m;
    else a->user_head = m;
    a->user_tail = m;
    a->flags |= ACTOR_SEVERAL;
}

/* Behind the last one of its lane. */
void msg_push(dn_loop *l, dn_self *a, dn_msg *m) {
    if (__builtin_expect(m->flags & MSG_SYSTEM, 0) && m->kind == SYS_STOP && a->cls->drains)
        m->flags = MSG_CONTROL | MSG_EXEMPT; /* it takes its place among the others */
    if (__builtin_expect(m->flags & MSG_SYSTEM, 0)) {
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
    atomic_fetch_sub_explicit(&door_at(l, slot)->gen_waiting, 1, memory_order_relaxed);
    /* The door is the slot's: m may have stood in the way of who lives there now, and has no turn. */
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
        if (next) __builtin_prefetch(next->next);
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

/* May a message go through that door? If so it is counted in. Any thread. */
static int door_enter(dn_loop *there, dn_ref to, bool exempt) {
    if (!door_alive(there, to)) return DN_EDEAD;
    if (exempt) return DN_OK;
    door          *d = door_at(there, ref_slot(to));
    const uint32_t max = atomic_load_explicit(&d->waiting_max, memory_order_relaxed);
    uint64_t       seen = atomic_load_explicit(&d->gen_waiting, memory_order_relaxed);
    /* Counted only if it goes in: a count put up and taken back could hide room from who waits for it. */
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

/* Every send that is not to an actor of the same loop by its own address, and all of them in a
 * simulation that is not calm. On DN_OK the message is gone. */
static int send_far(dn_loop *l, dn_ref to, dn_msg *m) {
    to = rt_resolve(l->runtime, to);
    const uint32_t index = ref_loop(to);
    if (dn_ref_is_nobody(to) || index >= l->runtime->loops_len) return DN_EDEAD;

    m->to = to;
    if (index != l->index) {
        dn_loop  *there = l->runtime->loops[index];
        const int rc = door_enter(there, to, false);
        if (rc < 0) return rc;
        m->flags |= MSG_COUNTED;
        if (!(m->flags & MSG_REQUEST)) trail_mark(&l->pushed[index], m);
        rt_push(there, m);
        return DN_OK;
    }
    dn_self *a = actor_find(l, to);
    if (!a) return DN_EDEAD;
    if (a->depth >= a->depth_max) return DN_EFULL;
    const int taken = l->driver->takes ? l->driver->takes(l, m) : DN_OK;
    if (taken != DN_OK) return taken == DN_PENDING ? DN_OK : taken;
    msg_push(l, a, m);
    return DN_OK;
}

/* The address of an actor of another loop, or a name, finds a slot here too, but nobody of that address. */
static inline dn_self *near_target(const dn_loop *l, dn_ref to) {
    dn_self *a = (dn_self *)(void *)l->actors.base + ref_slot(to);

    return (char *)a < l->near_end && a->ref.bits == to.bits ? a : NULL;
}

/* The short way: same loop, own address, alive, and idle: there is room, and nothing waits. */
static inline void send_idle(dn_loop *l, dn_self *a, dn_msg *m) {
    m->next = NULL;
    a->user_head = a->user_tail = m;
    a->depth = 1;
    actor_queue(l, a);
}

/* The same to who is in the run queue, or runs, and has room. */
static inline void send_busy(dn_self *a, dn_msg *m) {
    lane_put(a, m);
    a->depth++;
}

static __attribute__((noinline)) int send_slow(dn_self *self, dn_ref to, uint32_t kind,
                                               const void *body, size_t size) {
    dn_loop *l = self->loop;
    dn_msg  *m = msg_take(l);

    if (!m) fail_nomem();
    /* It has come home from another core, and so have those after it. */
    __builtin_prefetch(m->ahead);
    m->from = self->ref;
    m->kind = kind;
    if (msg_set_body(m, body, size) < 0) {
        msg_free(l, m);
        fail_nomem();
    }
    const int rc = send_far(l, to, m);
    if (rc == DN_OK) return DN_OK;
    msg_free(l, m);
    return refused(l, kind, rc);
}

/* A jump into a row of copies costs less than a call. At most ten words. */
static inline void copy_words(uint64_t *to, const void *from, size_t words) {
    const uint64_t *w = from;

    switch (words) {
    case 10: memcpy(to + 9, w + 9, 8); __attribute__((fallthrough));
    case 9: memcpy(to + 8, w + 8, 8); __attribute__((fallthrough));
    case 8: memcpy(to + 7, w + 7, 8); __attribute__((fallthrough));
    case 7: memcpy(to + 6, w + 6, 8); __attribute__((fallthrough));
    case 6: memcpy(to + 5, w + 5, 8); __attribute__((fallthrough));
    case 5: memcpy(to + 4, w + 4, 8); __attribute__((fallthrough));
    case 4: memcpy(to + 3, w + 3, 8); __attribute__((fallthrough));
    case 3: memcpy(to + 2, w + 2, 8); __attribute__((fallthrough));
    case 2: memcpy(to + 1, w + 1, 8); __attribute__((fallthrough));
    case 1: memcpy(to, w, 8); __attribute__((fallthrough));
    default: break;
    }
}

static inline void write_plain(dn_self *self, dn_loop *l, dn_msg *m, uint32_t kind,
                               const void *body, size_t size) {
    slab_pop(&l->messages, m);
    m->head = l->plain_head | msg_head(kind, msg_meta(0, 0, 0, size));
    m->from = self->ref;
    if (size == 8) memcpy(m->words, body, 8);
    else if (size == 16) memcpy(m->words, body, 16);
    else copy_words(m->words, body, size / 8);
}

static inline bool is_short(size_t size) { return size <= MSG_INLINE_MAX && size % 8 == 0; }

/* Whoever it is for is not idle here, or it is no plain message, or how long it is is known only now. */
static __attribute__((noinline)) int send_any(dn_self *self, dn_ref to, uint32_t kind,
                                              const void *body, size_t size) {
    dn_loop *l = this_loop;
    dn_self *a = near_target(l, to);
    dn_msg  *m = slab_peek(&l->messages);

    if (!a || !m || a->depth >= a->depth_peak || !is_short(size))
        return send_slow(self, to, kind, body, size);
    write_plain(self, l, m, kind, body, size);
    if (a->run_next) send_busy(a, m);
    else send_idle(l, a, m);
    return DN_OK;
}

/* Declared inline for the link-time optimiser: where the size is known, half of this is decided. */
inline int dn_send(dn_self *self, dn_ref to, uint32_t kind, const void *body, size_t size) {
    dn_loop *l = this_loop; /* self's, without touching self's second line */
    dn_self *a = near_target(l, to);
    dn_msg  *m = slab_peek(&l->messages);

    assert(kind > 0 && kind <= DN_KIND_MAX && "message kinds go from 1 to DN_KIND_MAX");
    if (!__builtin_constant_p(size) || !is_short(size)) return send_any(self, to, kind, body, size);
    if (__builtin_expect(!a || !m || a->run_next, 0)) return send_any(self, to, kind, body, size);
    write_plain(self, l, m, kind, body, size);
    send_idle(l, a, m);
    return DN_OK;
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
    dn_self *a = near_target(l, to);
    if (a && a->depth < a->depth_peak) {
        if (a->run_next) send_busy(a, m);
        else send_idle(l, a, m);
        a->flags |= ACTOR_SEVERAL; /* a request, or what another loop made, is not plain */
        return DN_OK;
    }
    const int rc = send_far(l, to, m);
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
        const int rc = send_far(l, to, m);
        return rc == DN_OK || rc == DN_ENOMEM ? rc : refused(l, m->kind, rc);
    }
    dn_loop  *there = rt->loops[ref_loop(to)];
    const int rc = door_enter(there, to, false);
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
        &door_at(l, ref_slot(a->ref))->gen_waiting, memory_order_relaxed);

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
    else rc = door_enter(l->runtime->loops[ref_loop(to)], to, /* exempt= */ true);
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
