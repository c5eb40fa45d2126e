/* loop.c - turns: whose, how long, and what happens when one fails.
 * The jump point is set once for a whole run of turns, not for each message: a failure jumps here, the
 * actor that was running is ended, and the run goes on. So containment costs nothing while nothing
 * fails. */
#include "loop.h"

#include "body.h"
#include "diurnal/sim.h"
#include "mem.h"
#include "rt.h"

#include <assert.h>
#include <string.h>

_Thread_local dn_loop *this_loop;

/* ---- Beginning and end ---- */

static int slabs_init(dn_loop *l) {
    int rc = slab_init(&l->messages, MSG_SIZE, MESSAGES_MAX, /* guarded= */ true);

    if (rc == DN_OK) rc = slab_init(&l->actors, sizeof(dn_self), ACTORS_MAX, false);
    if (rc == DN_OK) rc = slab_init(&l->admissions, sizeof(admission), ACTORS_MAX, false);
    if (rc == DN_OK) rc = slab_init(&l->timers, sizeof(timer), TIMERS_MAX, false);
    if (rc == DN_OK) rc = slab_init(&l->wall_timers, sizeof(wall_timer), ACTORS_MAX, false);
    if (rc == DN_OK) rc = slab_init(&l->watches, sizeof(watch), TIMERS_MAX, false);
    if (rc == DN_OK) rc = slab_init(&l->owneds, sizeof(owned), TIMERS_MAX, true);
    if (rc == DN_OK) rc = slab_init(&l->chunks, ARENA_CHUNK, ACTORS_MAX, true);
    for (int i = 0; i < STATE_CLASSES && rc == DN_OK; i++)
        rc = slab_init(&l->states[i], 16U << i, ACTORS_MAX, true);
    return rc;
}

static size_t wheel_bytes(void) { return (sizeof(wheel) + 4095) / 4096 * 4096; }

/* What one reading of the clock costs: 25 ns on most machines, 300 on some. */
static int64_t reading_ns(dn_loop *l) {
    int64_t least_ns = INT64_MAX;

    for (int i = 0; i < 8; i++) {
        const int64_t before_ns = l->mono_ns;
        l->driver->read_clock(l);
        if (i > 0 && l->mono_ns - before_ns < least_ns) least_ns = l->mono_ns - before_ns;
    }
    return least_ns;
}

int loop_init(dn_loop *l, dn_runtime *rt, uint8_t index, const char *label, const driver *d,
              void *driver_data) {
    memset(l, 0, sizeof *l);
    l->runtime = rt;
    l->index = index;
    loop_no_ready(l);
    l->name = label;
    l->driver = d;
    l->simulated = d->handling != NULL;
    l->driver_data = driver_data;
    int rc = slabs_init(l);
    if (rc == DN_OK) {
        l->wheel = mem_reserve(wheel_bytes());
        if (!l->wheel || !mem_commit(l->wheel, wheel_bytes())) rc = DN_ENOMEM;
    }
    if (rc < 0) {
        loop_done(l);
        slab_done(&l->messages);
        return rc;
    }
    l->exact_ns = EXACT_READINGS * reading_ns(l);
    if (l->exact_ns == 0) l->exact_ns = 1; /* a clock that stands still: every handler is brief */
    wheel_init(l->wheel, l->mono_ns / 1000000);
    l->stride = l->window = l->until_clock = 1;
    l->polled_ns = l->mono_ns;
    assert(loop_is_sound(l));
    return DN_OK;
}

bool loop_is_sound(const dn_loop *l) {
    if (l->jump || l->handling || l->handling_outside || l->counted > 0) return false;
    if (atomic_load_explicit(&l->running, memory_order_relaxed)) return false;
    if (l->until_clock == 0 || l->until_clock > l->window) return false;
    return (l->run_head == RUN_END) == (l->run_tail == &l->run_head) && *l->run_tail == RUN_END;
}

void loop_drop_inbox(dn_loop *l) {
    dn_msg *m = inbox_take(&l->inbox), *next;

    for (; m; m = next) {
        next = m->next;
        msg_drop_body(m);
        if (m->home == MSG_NO_HOME) mem_free(m);
    }
}

void loop_done(dn_loop *l) {
    loop_drop_inbox(l);
    bodies_done(l);
    if (l->wheel) mem_unreserve(l->wheel, wheel_bytes());
    l->wheel = NULL;
    slab_done(&l->actors);
    slab_done(&l->admissions);
    slab_done(&l->timers);
    slab_done(&l->wall_timers);
    slab_done(&l->watches);
    slab_done(&l->owneds);
    slab_done(&l->chunks);
    for (int i = 0; i < STATE_CLASSES; i++) slab_done(&l->states[i]);
}

/* ---- Time in handlers ---- */

static void window_begin(dn_loop *l) {
    uint32_t len = l->stride;

    /* Of many short handlers the one at the end of a window is charged with it: let that not be the same
     * one every time. */
    if (len >= 4) {
        l->jitter = l->jitter * 1664525U + 1013904223U;
        len -= (l->jitter >> 24) % (len / 4);
    }
    l->window = l->until_clock = len;
    /* relaxed: the stall detector looks whether it changes. */
    atomic_store_explicit(&l->windows, atomic_load_explicit(&l->windows, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

static void note_longest(dn_self *a, int64_t took_ns, uint32_t kind) {
    const uint32_t us =
        took_ns < (int64_t)UINT32_MAX * 1000 ? (uint32_t)(took_ns / 1000) : UINT32_MAX;

    if (us <= a->longest_us) return;
    a->longest_us = us;
    a->longest_kind = kind;
}

static void look_whether_to_poll(dn_loop *l) {
    if (l->mono_ns - l->polled_ns >= POLL_NS) l->poll_due = true;
}

static void window_end(dn_loop *l, dn_self *a, uint32_t kind) {
    const int64_t before_ns = l->mono_ns;

    l->driver->read_clock(l);
    const int64_t took_ns = l->mono_ns - before_ns;
    const bool    brief = took_ns < (int64_t)l->window * l->exact_ns;
    if (l->window == 1 || brief) a->busy_ns += took_ns;
    else l->unattributed_ns += took_ns;
    if (l->window == 1) note_longest(a, took_ns, kind);
    l->stride = !brief ? 1 : l->stride * 2 < WINDOW_MAX ? l->stride * 2 : WINDOW_MAX;
    look_whether_to_poll(l);
    window_begin(l);
}

void loop_new_window(dn_loop *l, bool exact) {
    l->driver->read_clock(l);
    if (exact) l->stride = 1;
    window_begin(l);
}

/* ---- A turn ---- */

static void unhandled(dn_loop *l, const dn_self *a, const dn_msg *m) {
    l->unhandled++;
    if (notice_worth(l->unhandled))
        notice(l, DN_NOTICE_UNHANDLED, actor_shown(a), m->kind, DN_OK, (int64_t)l->unhandled,
               "no handler for a message");
}

static inline int dispatch(dn_loop *l, dn_self *a, const dn_msg *m, uint32_t kind) {
    const dn_handler *row = a->actor_class->handlers.rows;
    size_t            left = a->actor_class->handlers.len;

    for (; left > 0; left--, row++) {
        if (row->kind == kind) return row->handle(a, a->state, m);
    }
    if (a->actor_class->handlers.len > 0 && row[-1].kind == DN_KIND_ANY)
        return row[-1].handle(a, a->state, m);
    if (kind != DN_MSG_STARTING) unhandled(l, a, m);
    return DN_OK;
}

/* Messages from other loops that this turn has handled wait no longer. */
static void admission_settle(dn_loop *l, const dn_self *a) {
    if (l->counted == 0) return;
    admission *d = admission_at(l, slab_index(&l->actors, a));
    /* relaxed: it bounds memory, it orders nothing. */
    atomic_fetch_sub_explicit(&d->gen_waiting, l->counted, memory_order_relaxed);
    l->counted = 0;
}

/* The running actor ends: by its own wish, a stop, a kill or a failure. What it does at its end may take long, so the
 * clock is read afterwards: the time is not charged to the next actor, and the loop polls if it is due. */
static void turn_ends_actor(dn_loop *l, dn_self *a, int reason, const char *why, bool orderly) {
    const bool does_something = a->actor_class->terminate || a->owned;

    admission_settle(l, a);
    actor_end(l, a, reason, why, orderly);
    actor_bury_gone(l, a);
    if (!does_something) return;
    loop_new_window(l, /* exact= */ false);
    look_whether_to_poll(l);
}

static void turn_crashed(dn_loop *l, dn_self *a, uint32_t kind) {
    crash_record(l, a, kind);
    turn_ends_actor(l, a, l->fail_code, l->fail_why, /* orderly= */ false);
}

/* What a handler answered, if it was not DN_OK. */
static void turn_answered(dn_loop *l, dn_self *a, int rc, uint32_t kind) {
    if (rc == DN_STOP) {
        turn_ends_actor(l, a, a->flags & ACTOR_STOPPING ? DN_ESHUTDOWN : DN_OK, "", true);
        return;
    }
    if (rc < 0) fail_set(l, rc, dn_error_text(rc));
    else fail_set(l, DN_EINVAL, "a handler answers DN_OK, DN_STOP or a negative code");
    turn_crashed(l, a, kind);
}

/* False: it has ended. */
static bool take_stop(dn_loop *l, dn_self *a) {
    a->flags |= ACTOR_STOPPING;
    atomic_store_explicit(&l->handling_kind, 0, memory_order_relaxed);
    const int rc = a->actor_class->stopping ? a->actor_class->stopping(a, a->state) : DN_STOP;
    if (a->actor_class->stopping) window_end(l, a, 0);
    if (rc == DN_OK) return true;
    turn_answered(l, a, rc, 0);
    return false;
}

/* False: it has ended. */
static bool system_lane(dn_loop *l, dn_self *a) {
    dn_msg *m;

    while ((m = sys_take(a))) {
        const bool kill = m->kind == SYS_KILL;

        msg_free(l, m);
        if (kill) {
            turn_ends_actor(l, a, DN_EKILLED, "", /* orderly= */ false);
            return false;
        }
        if (!take_stop(l, a)) return false;
    }
    return true;
}

/* What goes before its messages. False: there is no actor any more. */
static bool urgent(dn_loop *l, dn_self *a) {
    if (a->phase == PHASE_GONE) {
        actor_bury_gone(l, a);
        return false;
    }
    if (a->flags & ACTOR_DOOMED) {
        fail_set(l, DN_ENOMEM, "no memory for a message of the runtime's own");
        turn_crashed(l, a, 0);
        return false;
    }
    if (!system_lane(l, a)) return false;
    a->flags &= (uint16_t)~ACTOR_URGENT;
    return true;
}

typedef enum verdict { HANDLE, DROPPED, ENDED } verdict;

static void lane_uncount(dn_loop *l, dn_self *a, dn_msg *m) {
    if (m->flags & MSG_COUNTED) {
        m->flags &= (uint8_t)~MSG_COUNTED;
        l->counted++;
        a->far_depth--;
        a->flags |= ACTOR_COUNTED;
    } else if (!(m->flags & MSG_EXEMPT)) {
        a->depth--;
    }
}

/* What the runtime does with a message that has any flag, before a handler sees it. */
static verdict judge(dn_loop *l, dn_self *a, dn_msg *m) {
    bool wanted = true;

    lane_uncount(l, a, m);
    if (m->flags & MSG_CONTROL) {
        msg_free(l, m);
        return take_stop(l, a) ? DROPPED : ENDED;
    }
    if (m->flags & MSG_REQUEST && l->mono_ns >= m->deadline_ns) {
        l->expired_calls++;
        call_fail(l, m, DN_ETIME);
        return DROPPED;
    }
    if (m->flags & MSG_REPLY) wanted = call_close(l, a, m->call);
    else if (m->flags & MSG_WATCH) /* who withdrew the watch of a start still waits for the start */
        wanted = watch_close(l, m->call) || m->kind == DN_MSG_STARTED;
    if (wanted) return HANDLE;
    msg_free(l, m);
    return DROPPED;
}

static uint32_t flush_max(const dn_self *a) {
    return a->actor_class->flush_max ? a->actor_class->flush_max : DN_FLUSH_MAX_DEFAULT;
}

/* A turn ends when a flush is due. */
static int flush_budget(const dn_self *a, int budget) {
    const uint64_t left = flush_max(a) - (a->handled - a->flushed);

    return left < (uint64_t)budget ? (int)left : budget;
}

/* False: it has ended. */
static bool turn_flush(dn_loop *l, dn_self *a) {
    const uint64_t unflushed = a->handled - a->flushed;

    if (unflushed == 0 || (a->user_head && unflushed < flush_max(a))) return true;
    a->flushed = a->handled;
    atomic_store_explicit(&l->handling_kind, 0, memory_order_relaxed);
    const int rc = a->actor_class->flush(a, a->state);
    if (--l->until_clock == 0) window_end(l, a, 0);
    if (rc == DN_OK) return true;
    turn_answered(l, a, rc, 0);
    return false;
}

/* What a handler has not kept, answered or sent on. */
static inline void message_drop(dn_loop *l, dn_msg *m, int rc) {
    l->handling = NULL;
    if (m->flags == 0 && m->home == l->index) slab_give(&l->messages, m);
    else msg_let_go(l, m, rc < 0 ? DN_EDEAD : DN_EUNANSWERED);
}

/* False: it has ended. */
static inline bool turn_message(dn_loop *l, dn_self *a, dn_msg *m) {
    const uint32_t kind = m->kind;

    if (m->flags == 0) {
        a->depth--;
    } else {
        const verdict v = judge(l, a, m);
        if (v != HANDLE) return v == DROPPED;
    }
    l->handling = m;
    atomic_store_explicit(&l->handling_kind, kind, memory_order_relaxed);
    if (l->simulated && l->driver->handling(l, a, m)) dn_fail("a fault of the simulation");
    const int rc = dispatch(l, a, m, kind);
    a->handled++;
    if (l->handling) message_drop(l, l->handling, rc);
    if (--l->until_clock == 0) window_end(l, a, kind);
    if (rc == DN_OK) return true;
    turn_answered(l, a, rc, kind);
    return false;
}

/* The end of a turn, for an actor with ACTOR_ATTENTION. False: it has ended, or is queued again. */
static bool turn_ends(dn_loop *l, dn_self *a) {
    if (a->flags & ACTOR_FLUSHES && !turn_flush(l, a)) return false;
    admission_settle(l, a);
    a->flags &= (uint16_t)~ACTOR_COUNTED;
    if (a->flags & ACTOR_WAITED) room_check(l, a);
    if (!(a->flags & ACTOR_URGENT)) return true;
    a->run_next = NULL;
    actor_schedule(l, a);
    return false;
}

/* A turn: first what is urgent, then at most `budget` messages of the user lane, then flush and room. */
static inline void turn(dn_loop *l, dn_self *a, int budget) {
    /* relaxed: the stall detector reads it, and nothing else depends on it. */
    atomic_store_explicit(&l->running, a, memory_order_relaxed);
    if (a->flags & ACTOR_ATTENTION) {
        if (a->flags & ACTOR_URGENT && !urgent(l, a)) return;
        if (a->flags & ACTOR_FLUSHES) budget = flush_budget(a, budget);
    }
    for (dn_msg *m; (m = a->user_head) && budget > 0; budget--) {
        a->user_head = m->next;
        if (!turn_message(l, a, m)) return;
    }
    if (a->flags & ACTOR_ATTENTION && !turn_ends(l, a)) return;
    a->run_next = NULL;
    if (a->user_head) actor_schedule(l, a);
}

/* ---- A run of turns ---- */

/* A failure has jumped out of the turn of l->running. */
static void recover(dn_loop *l) {
    dn_self *a = atomic_load_explicit(&l->running, memory_order_relaxed);
    dn_msg  *m = l->handling;
    /* Not m's: it may have been kept, answered or sent on by now. */
    const uint32_t kind = atomic_load_explicit(&l->handling_kind, memory_order_relaxed);

    if (m) {
        l->handling = NULL;
        a->handled++;
        msg_let_go(l, m, DN_EDEAD);
    }
    window_end(l, a, kind); /* however many are left of it: who starts it again goes by the clock */
    turn_crashed(l, a, kind);
}

/* Its run_next stays not NULL: while it runs, sends to it need not queue it. */
static dn_self *run_take(dn_loop *l, dn_self **at) {
    dn_self *a = *at;

    *at = a->run_next;
    if (*at == RUN_END) l->run_tail = at;
    a->run_next = RUN_END;
    return a;
}

static void run_over(dn_loop *l) {
    l->jump = NULL;
    atomic_store_explicit(&l->running, NULL, memory_order_relaxed);
}

/* noinline, as run_take_nth: a longjmp may change the local variables of the function that called setjmp. */
static __attribute__((noinline)) void run_turns(dn_loop *l) {
    while (!l->poll_due && loop_has_ready(l)) turn(l, run_take(l, &l->run_head), TURN_MESSAGES);
}

void loop_run(dn_loop *l) {
    jmp_buf jump;

    assert(loop_is_sound(l));
    if (!loop_has_ready(l)) return;
    /* cppcheck-suppress autoVariables; taken back by run_over, before this frame goes */
    l->jump = &jump;
    if (_setjmp(jump) != 0) recover(l);
    l->crash_points++;
    run_turns(l);
    run_over(l);
    assert(loop_is_sound(l));
}

uint32_t loop_ready(const dn_loop *l) {
    uint32_t len = 0;

    for (const dn_self *a = l->run_head; a != RUN_END; a = a->run_next) len++;
    return len;
}

static __attribute__((noinline)) dn_self *run_take_nth(dn_loop *l, uint32_t nth) {
    dn_self **at = &l->run_head;

    for (; nth > 0; nth--) at = &(*at)->run_next;
    return run_take(l, at);
}

void loop_run_nth(dn_loop *l, uint32_t nth, int budget) {
    jmp_buf jump;

    assert(loop_is_sound(l));
    dn_self *a = run_take_nth(l, nth);

    /* cppcheck-suppress autoVariables; taken back by run_over, before this frame goes */
    l->jump = &jump;
    if (_setjmp(jump) != 0) recover(l);
    else turn(l, a, budget);
    run_over(l);
    assert(loop_is_sound(l));
}
