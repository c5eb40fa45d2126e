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
    if (rc == DN_OK) rc = slab_init(&l->doors, sizeof(door), ACTORS_MAX, false);
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
    l->plain_meta = msg_meta(0, MSG_SENT, index, 0);
    l->plain_head = msg_head(0, l->plain_meta);
    loop_no_ready(l);
    l->name = label;
    l->driver = d;
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
    return DN_OK;
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
    slab_done(&l->doors);
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

static __attribute__((noinline)) void window_end(dn_loop *l, dn_self *a, uint32_t kind) {
    const int64_t before_ns = l->mono_ns;

    l->driver->read_clock(l);
    const int64_t took_ns = l->mono_ns - before_ns;
    const bool    brief = took_ns < (int64_t)l->window * l->exact_ns;
    if (l->window == 1 || brief) a->busy_ns += took_ns;
    else l->unattributed_ns += took_ns;
    if (l->window == 1) note_longest(a, took_ns, kind);
    const bool     tiny = took_ns < (int64_t)l->window * l->exact_ns / EXACT_READINGS;
    const uint32_t max = tiny ? WINDOW_LONGEST : WINDOW_MAX;
    l->stride = !brief ? 1 : l->stride * 2 < max ? l->stride * 2 : max;
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

static __attribute__((noinline)) int dispatch_any(dn_loop *l, dn_self *a, const dn_msg *m,
                                                  uint32_t kind) {
    const dn_handler *row = a->cls->handlers.rows;
    size_t            left = a->cls->handlers.len;

    for (; left > 0; left--, row++) {
        if (row->kind == kind) return row->handle(a, a->state, m);
    }
    if (a->cls->handlers.len > 0 && row[-1].kind == DN_KIND_ANY)
        return row[-1].handle(a, a->state, m);
    if (kind != DN_MSG_STARTING) unhandled(l, a, m);
    return DN_OK;
}

/* The first row stands apart: a class that is sent a great many messages of one kind puts that kind there. */
static inline int dispatch(dn_loop *l, dn_self *a, const dn_msg *m, uint32_t kind) {
    const dn_handler *first = a->first;

    if (__builtin_expect(first->kind == kind, 1)) return first->handle(a, a->state, m);
    return dispatch_any(l, a, m, kind);
}

/* What the turn took through the door leaves it. */
static void door_settle(dn_loop *l, const dn_self *a) {
    door *d = door_at(l, slab_index(&l->actors, a));

    /* relaxed: it bounds memory, it orders nothing. */
    atomic_fetch_sub_explicit(&d->gen_waiting, l->counted, memory_order_relaxed);
    l->counted = 0;
}

/* The actor that is running ends: by its own wish, a stop, a kill or a failure. What it does at its end may take long,
 * and is not to be late for whoever is told of it, nor his time. */
static void turn_ends_actor(dn_loop *l, dn_self *a, int reason, const char *why, bool orderly) {
    const bool does_something = a->cls->terminate || a->owned;

    if (l->counted > 0) door_settle(l, a);
    actor_end(l, a, reason, why, orderly);
    actor_bury_gone(l, a);
    if (!does_something || l->calm) return; /* in a simulation no time has passed */
    loop_new_window(l, /* exact= */ false);
    look_whether_to_poll(l); /* a thousand stops end no window */
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
    const int rc = a->cls->stopping ? a->cls->stopping(a, a->state) : DN_STOP;
    if (a->cls->stopping) window_end(l, a, 0);
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
static __attribute__((noinline)) bool urgent(dn_loop *l, dn_self *a) {
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

typedef enum admission { ADMITTED, DROPPED, ENDED } admission;

/* What has to be looked at before a handler sees the message. */
static __attribute__((noinline)) admission admit(dn_loop *l, dn_self *a, dn_msg *m) {
    bool wanted = true;

    if (m->flags & MSG_COUNTED) {
        m->flags &= (uint8_t)~MSG_COUNTED;
        l->counted++;
        a->far_depth--;
        a->flags |= ACTOR_COUNTED;
    } else if (!(m->flags & MSG_EXEMPT)) {
        a->depth--;
    }
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
    if (wanted) return ADMITTED;
    msg_free(l, m);
    return DROPPED;
}

/* What a simulation is to know of a message that is about to be handled. True: the receiver fails instead. */
static inline bool fault_of_simulation(dn_loop *l, dn_self *a, const dn_msg *m) {
    if (!l->calm) return l->driver->handling(l, a, m);
    l->calm->handled++;
    l->calm->steps++;
    return false;
}

/* Whatever is left of m afterwards is l->handling. */
static inline int handle(dn_loop *l, dn_self *a, dn_msg *m, uint32_t kind, bool simulated) {
    l->handling = m;
    atomic_store_explicit(&l->handling_kind, kind, memory_order_relaxed);
    if (simulated && fault_of_simulation(l, a, m)) dn_fail("a fault of the simulation");
    const int rc = dispatch(l, a, m, kind);
    actor_count_handled(a);
    return rc;
}

static inline uint32_t flush_max(const dn_self *a) {
    return a->cls->flush_max ? a->cls->flush_max : DN_FLUSH_MAX_DEFAULT;
}

/* A turn ends where a flush is due. */
static inline int flush_budget(const dn_self *a, int budget) {
    const uint32_t left = flush_max(a) - (a->handled - a->flushed);

    return left < (uint32_t)budget ? (int)left : budget;
}

/* False: it has ended. */
static bool turn_flush(dn_loop *l, dn_self *a) {
    const uint32_t unflushed = a->handled - a->flushed;

    if (unflushed == 0 || (a->user_head && unflushed < flush_max(a))) return true;
    a->flushed = a->handled;
    atomic_store_explicit(&l->handling_kind, 0, memory_order_relaxed);
    const int rc = a->cls->flush(a, a->state);
    if (--l->until_clock == 0) window_end(l, a, 0);
    if (rc == DN_OK) return true;
    turn_answered(l, a, rc, 0);
    return false;
}

/* It leaves the run queue, unless there is more for it to do. */
static inline void turn_over(dn_loop *l, dn_self *a, bool more) {
    a->run_next = NULL;
    if (__builtin_expect(more, 0)) actor_schedule(l, a);
}

/* The end of a turn of which more is to be seen to than that. */
enum { ACTOR_LINGERS = ACTOR_FLUSHES | ACTOR_WAITED | ACTOR_COUNTED | ACTOR_URGENT };
static __attribute__((noinline)) void turn_lingers(dn_loop *l, dn_self *a) {
    if (a->flags & ACTOR_FLUSHES && !turn_flush(l, a)) return;
    if (l->counted > 0) door_settle(l, a);
    a->flags &= (uint16_t)~ACTOR_COUNTED;
    if (a->flags & ACTOR_WAITED) room_check(l, a);
    turn_over(l, a, a->user_head || a->flags & ACTOR_URGENT);
}

/* What comes after any handler. False: it has ended. */
static inline bool handled(dn_loop *l, dn_self *a, int rc, uint32_t kind) {
    if (__builtin_expect(--l->until_clock == 0, 0)) window_end(l, a, kind);
    if (__builtin_expect(rc == DN_OK, 1)) return true;
    turn_answered(l, a, rc, kind);
    return false;
}

/* A message about which there is more to see to than its handler. False: it has ended. */
static __attribute__((noinline)) bool handle_special(dn_loop *l, dn_self *a, dn_msg *m,
                                                     bool simulated) {
    const uint32_t  kind = m->kind;
    const admission how = admit(l, a, m);

    if (how != ADMITTED) return how == DROPPED;
    const int rc = handle(l, a, m, kind, simulated);
    /* Else it has been kept, answered or sent on. */
    if (l->handling) msg_let_go(l, DN_TAKE(l->handling), rc < 0 ? DN_EDEAD : DN_EUNANSWERED);
    return handled(l, a, rc, kind);
}

/* Of this loop, and nothing special about it: its block goes back as it came. */
static inline void plain_over(dn_loop *l, dn_msg *m) {
    if (__builtin_expect(l->handling != m, 0)) return; /* it has been kept or sent on */
    l->handling = NULL;
    slab_give(&l->messages, m);
}

static inline bool handle_plain(dn_loop *l, dn_self *a, dn_msg *m, bool simulated) {
    const uint32_t kind = m->kind;

    a->depth -= !(m->flags & MSG_EXEMPT);
    const int rc = handle(l, a, m, kind, simulated);
    plain_over(l, m);
    return handled(l, a, rc, kind);
}

/* Or a timer's: that is exempt from bounds, and otherwise as plain. */
static inline bool is_plain(const dn_loop *l, const dn_msg *m) {
    const uint32_t mask = msg_meta((uint8_t)~MSG_EXEMPT, 0, 0xff, 0);

    return (m->meta & mask) == (l->plain_meta & mask);
}

/* What its user lane has for it, of at most `budget` messages, and the end of the turn. */
static inline void turn_of_lane(dn_loop *l, dn_self *a, int budget, bool simulated) {
    dn_msg *m = a->user_head;

    while (__builtin_expect(m != NULL, 1)) {
        a->user_head = m->next;
        if (__builtin_expect(is_plain(l, m), 1)) {
            if (!handle_plain(l, a, m, simulated)) return;
        } else if (!handle_special(l, a, m, simulated)) {
            return;
        }
        m = a->user_head;
        if (__builtin_expect(!m, 1) || --budget <= 0) break;
    }

    if (!m) a->flags &= (uint16_t)~ACTOR_SEVERAL;
    if (__builtin_expect(a->flags & ACTOR_LINGERS, 0)) turn_lingers(l, a);
    else turn_over(l, a, m != NULL);
}

static inline void turn(dn_loop *l, dn_self *a, int budget, bool simulated) {
    /* relaxed: the stall detector wants to know, and nothing else depends on it. */
    atomic_store_explicit(&l->running, a, memory_order_relaxed);
    if (__builtin_expect(a->flags & (ACTOR_URGENT | ACTOR_FLUSHES), 0)) {
        if (a->flags & ACTOR_URGENT && !urgent(l, a)) return;
        if (a->flags & ACTOR_FLUSHES) budget = flush_budget(a, budget);
    }
    turn_of_lane(l, a, budget, simulated);
}

static __attribute__((noinline)) void turn_long(dn_loop *l, dn_self *a) {
    turn(l, a, TURN_MESSAGES, /* simulated= */ false);
}

/* What is left of a turn behind its first message. */
static __attribute__((noinline)) void turn_goes_on(dn_loop *l, dn_self *a, int rc, uint32_t kind) {
    if (l->until_clock == 0) window_end(l, a, kind);
    if (rc == DN_OK) turn_of_lane(l, a, TURN_MESSAGES - 1, /* simulated= */ false);
    else turn_answered(l, a, rc, kind);
}

/* In a busy loop nearly every turn is that of a single plain message and nothing else, as its flags say. False: it was
 * not, and the time to poll may have come. */
static inline bool turn_brief(dn_loop *l, dn_self *a) {
    if (__builtin_expect(a->flags & (ACTOR_URGENT | ACTOR_FLUSHES | ACTOR_SEVERAL), 0)) {
        turn_long(l, a);
        return false;
    }
    /* relaxed: see turn. */
    atomic_store_explicit(&l->running, a, memory_order_relaxed);
    dn_msg *const  m = a->user_head;
    const uint32_t kind = m->kind;
    a->user_head = NULL;
    a->depth = 0;
    const int rc = handle(l, a, m, kind, /* simulated= */ false);
    plain_over(l, m);
    if (__builtin_expect(--l->until_clock == 0, 0) || __builtin_expect(rc != DN_OK, 0) ||
        __builtin_expect(a->flags & (ACTOR_LINGERS | ACTOR_SEVERAL), 0)) {
        turn_goes_on(l, a, rc, kind);
        return false;
    }
    a->run_next = NULL;
    return true;
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
        actor_count_handled(a);
        msg_let_go(l, m, DN_EDEAD);
    }
    window_end(l, a, kind); /* however many are left of it: who starts it again goes by the clock */
    turn_crashed(l, a, kind);
}

/* The first in the queue leaves it. Its run_next stays: while it runs, sends to it need not queue it. */
static inline void run_unqueue(dn_loop *l, const dn_self *first) {
    l->run_head = first->run_next;
    if (__builtin_expect(l->run_head == RUN_END, 0)) l->run_tail = &l->run_head;
}

static void run_over(dn_loop *l) {
    l->jump = NULL;
    atomic_store_explicit(&l->running, NULL, memory_order_relaxed);
}

/* Apart from loop_run, because a function that calls setjmp keeps nothing in registers. Who comes next is one of them:
 * sends put others behind it, and read back from the loop it would wait for all that a handler writes. */
static __attribute__((noinline)) void run_turns(dn_loop *l) {
    dn_self *a = l->run_head;
    bool     poll = l->poll_due;

    while (!poll && a != RUN_END) {
        dn_self *next = a->run_next;

        run_unqueue(l, a);
        if (next != RUN_END) {
            __builtin_prefetch(next->user_head);
            __builtin_prefetch(next->state);
        }
        if (__builtin_expect(!turn_brief(l, a), 0)) poll = l->poll_due;
        a = next != RUN_END ? next : l->run_head;
    }
}

void loop_run(dn_loop *l) {
    jmp_buf jump;

    if (!loop_has_ready(l)) return;
    /* cppcheck-suppress autoVariables; taken back by run_over, before this frame goes */
    l->jump = &jump;
    if (_setjmp(jump) != 0) recover(l);
    l->crash_points++;
    run_turns(l);
    run_over(l);
}

uint32_t loop_ready(const dn_loop *l) {
    uint32_t len = 0;

    for (const dn_self *a = l->run_head; a != RUN_END; a = a->run_next) len++;
    return len;
}

/* Apart, or a compiler sees its variables between setjmp and longjmp. */
static __attribute__((noinline)) dn_self *run_take_nth(dn_loop *l, uint32_t nth) {
    dn_self **at = &l->run_head;

    for (; nth > 0; nth--) at = &(*at)->run_next;
    dn_self *a = *at;
    *at = a->run_next;
    if (*at == RUN_END) l->run_tail = at;
    a->run_next = RUN_END;
    return a;
}

void loop_run_nth(dn_loop *l, uint32_t nth, int budget) {
    jmp_buf  jump;
    dn_self *a = run_take_nth(l, nth);

    /* cppcheck-suppress autoVariables; taken back by run_over, before this frame goes */
    l->jump = &jump;
    if (_setjmp(jump) != 0) recover(l);
    else turn(l, a, budget, /* simulated= */ true);
    run_over(l);
}

static __attribute__((noinline)) void run_turns_while(dn_loop *l, const bool *go_on,
                                                      uint64_t *turns) {
    while (*go_on && loop_has_ready(l) && !l->runtime->root_ended) {
        dn_self *a = l->run_head;
        run_unqueue(l, a);
        if (loop_has_ready(l)) __builtin_prefetch(l->run_head->user_head);
        turn(l, a, TURN_MESSAGES, /* simulated= */ true);
        ++*turns;
    }
}

void loop_run_while(dn_loop *l, const bool *go_on, uint64_t *turns) {
    jmp_buf jump;

    /* cppcheck-suppress autoVariables; taken back by run_over, before this frame goes */
    l->jump = &jump;
    if (_setjmp(jump) != 0) {
        recover(l);
        ++*turns;
    }
    run_turns_while(l, go_on, turns);
    run_over(l);
}
