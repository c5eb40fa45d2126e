/* timer.c - an actor's timers on its loop's wheel.
 * The wheel knows milliseconds, rounded up, so that no timer fires early. While only a few are due in the
 * coming millisecond each of them fires at its own microsecond; where they crowd, that would be a
 * wake-up for each, and they wait for the millisecond together. A timer for an instant of the wall clock
 * is also kept in a list of such, and armed anew when that clock steps. */
#include "clock.h"
#include "rt.h"

#include <assert.h>

enum { NS_PER_MS = 1000000, NS_PER_US = 1000, CROWD = 8 };

static int64_t ms_up(int64_t ns) { return ns / NS_PER_MS + (ns % NS_PER_MS > 0); }

static int64_t saturating_add(int64_t a, int64_t b) {
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? (b > 0 ? INT64_MAX : INT64_MIN) : sum;
}

static inline void timer_set_due(timer *t, int64_t due_ns, uint32_t kind) {
    const int64_t due_ms = ms_up(due_ns);
    /* The last millisecond of all time has no end in nanoseconds; nobody waits for it. */
    const int64_t early_ns = due_ms > INT64_MAX / NS_PER_MS ? 0 : due_ms * NS_PER_MS - due_ns;

    t->entry.due_ms = due_ms;
    t->entry.user = kind;
    if (early_ns > 0) t->entry.user |= (uint32_t)(early_ns / NS_PER_US) << TIMER_EARLY_SHIFT;
}

static int64_t timer_due_ns(const timer *t) {
    const uint32_t early_us = (t->entry.user & ~TIMER_WALL) >> TIMER_EARLY_SHIFT;

    return t->entry.due_ms * NS_PER_MS - (int64_t)early_us * NS_PER_US;
}

/* ---- Numbers ---- */

static inline uint32_t timer_number(const dn_loop *l, const timer *t) {
    if (t->entry.user & TIMER_WALL) {
        const wall_timer *first = (const wall_timer *)(const void *)l->wall_timers.base;
        return TIMER_WALL | (uint32_t)((const wall_timer *)t - first + 1);
    }
    return (uint32_t)(t - (const timer *)(const void *)l->timers.base + 1);
}

/* The number of one that exists. */
static inline timer *timer_at(const dn_loop *l, uint32_t number) {
    const uint32_t at = (number & ~TIMER_WALL) - 1;

    if (number & TIMER_WALL) return &((wall_timer *)(void *)l->wall_timers.base)[at].base;
    return (timer *)(void *)l->timers.base + at;
}

uint64_t timer_id(const dn_loop *l, const timer *t) {
    return (uint64_t)timer_number(l, t) << 32 | t->entry.seq;
}

timer *timer_find(const dn_loop *l, const dn_self *a, uint64_t id) {
    const uint32_t number = (uint32_t)(id >> 32);

    if (!slab_knows(number & TIMER_WALL ? &l->wall_timers : &l->timers, (number & ~TIMER_WALL) - 1))
        return NULL;
    timer *t = timer_at(l, number);
    return wheel_is_armed(&t->entry) && t->entry.seq == (uint32_t)id && t->actor == ref_slot(a->ref)
               ? t
               : NULL;
}

/* ---- Arming and disarming ---- */

static inline void timer_start(dn_loop *l, dn_self *a, timer *t, int64_t due_ns, uint32_t kind,
                               uint64_t value) {
    t->actor = ref_slot(a->ref);
    t->value = value;
    timer_set_due(t, due_ns, kind);
    wheel_arm(l->wheel, &t->entry);
    const uint32_t number = timer_number(l, t);
    t->prev = 0;
    t->next = a->timers;
    if (t->next) timer_at(l, t->next)->prev = number;
    a->timers = number;
}

static inline void timer_unlist(dn_loop *l, dn_self *a, const timer *t) {
    if (t->prev) timer_at(l, t->prev)->next = t->next;
    else a->timers = t->next;
    if (t->next) timer_at(l, t->next)->prev = t->prev;
}

static inline dn_self *timer_actor(const dn_loop *l, const timer *t) {
    return (dn_self *)(void *)l->actors.base + t->actor;
}

timer *timer_arm(dn_loop *l, dn_self *a, int64_t due_ns, uint32_t kind, uint64_t value) {
    timer *t = slab_take(&l->timers);

    if (t) timer_start(l, a, t, due_ns, kind, value);
    return t;
}

/* A record that has left the wheel and its actor's list. */
static void timer_give(dn_loop *l, timer *t) {
    if (t->entry.user & TIMER_WALL) {
        wall_timer *w = (wall_timer *)t;
        *w->link = w->next;
        if (w->next) w->next->link = w->link;
        slab_give(&l->wall_timers, w);
        return;
    }
    slab_give(&l->timers, t);
}

void timer_drop(dn_loop *l, timer *t) {
    wheel_cancel(l->wheel, &t->entry);
    timer_unlist(l, timer_actor(l, t), t);
    timer_give(l, t);
}

/* Also when a's address is void already. */
void timers_drop_all(dn_loop *l, dn_self *a) {
    while (a->timers) timer_drop(l, timer_at(l, a->timers));
}

/* ---- Expiry ---- */

static void timer_fire(dn_loop *l, timer *t) {
    dn_self       *a = timer_actor(l, t);
    const uint32_t kind = timer_kind(t);
    dn_msg        *m = msg_take(l);

    timer_unlist(l, a, t);
    if (!m) {
        /* An alarm that cannot be given must not be lost in silence: the actor fails instead. */
        actor_doom(l, a);
        timer_give(l, t);
        return;
    }
    m->from = a->ref;
    m->kind = kind;
    m->flags = MSG_EXEMPT;
    if (kind == 0) {
        const dn_call_failed failed = {.id = timer_id(l, t), .status = DN_ETIME};
        m->kind = DN_MSG_CALL_FAILED;
        m->call = failed.id;
        msg_set_small(m, &failed, sizeof failed);
    } else {
        m->words[0] = t->value;
        m->inline_size = sizeof t->value;
    }
    timer_give(l, t);
    msg_push(l, a, m);
}

void timers_fire(dn_loop *l, wheel_entry *first) {
    wheel_entry *next;

    for (wheel_entry *e = first; e; e = next) {
        next = e->next;
        timer_fire(l, (timer *)e);
    }
}

static void timers_due(dn_loop *l, wheel_entry *first) {
    wheel_entry *next;

    if (!l->driver->holds) {
        timers_fire(l, first);
        return;
    }
    for (wheel_entry *e = first; e; e = next) {
        next = e->next;
        if (!l->driver->holds(l, (timer *)e)) timer_fire(l, (timer *)e);
    }
}

/* The entries of the coming millisecond if they are few; else NULL. */
static const wheel_entry *sparse_at(const dn_loop *l, int64_t ms) {
    const wheel_entry *first = wheel_at_ms(l->wheel, ms), *e = first;

    for (int i = 0; i < CROWD && e; i++) e = e->next;
    return e ? NULL : first;
}

/* Of a few, the one due first; of those due together, the one armed first. */
static const timer *first_due(const wheel_entry *e) {
    const timer *first = (const timer *)e;

    for (e = e->next; e; e = e->next) {
        const timer  *t = (const timer *)e;
        const int64_t later_ns = timer_due_ns(t) - timer_due_ns(first);
        if (later_ns < 0 || (later_ns == 0 && (int32_t)(e->seq - first->entry.seq) < 0)) first = t;
    }
    return first;
}

static void expire_within_ms(dn_loop *l) {
    const int64_t      ms = l->mono_ns / NS_PER_MS + 1;
    const wheel_entry *sparse;

    while ((sparse = sparse_at(l, ms))) {
        timer *t = (timer *)(uintptr_t)first_due(sparse);
        if (timer_due_ns(t) > l->mono_ns) return;
        wheel_cancel(l->wheel, &t->entry);
        timers_due(l, &t->entry);
    }
}

void timers_expire(dn_loop *l) {
    const int64_t now_ms = l->mono_ns / NS_PER_MS;
    wheel_entry  *due;

    while ((due = wheel_expire(l->wheel, now_ms))) timers_due(l, due);
    expire_within_ms(l);
}

int64_t timers_next_ns(const dn_loop *l) {
    const int64_t ms = wheel_next_ms(l->wheel);

    if (ms > INT64_MAX / NS_PER_MS) return INT64_MAX;
    const wheel_entry *sparse = sparse_at(l, ms);
    return sparse ? timer_due_ns(first_due(sparse)) : ms * NS_PER_MS;
}

/* ---- The wall clock ---- */

static int64_t wall_due_ns(const dn_loop *l, int64_t wall_ms) {
    if (wall_ms > INT64_MAX / NS_PER_MS) return INT64_MAX;
    if (wall_ms < INT64_MIN / NS_PER_MS) return INT64_MIN;
    return saturating_add(wall_ms * NS_PER_MS, -l->wall_offset_ns);
}

static void tell_step(dn_loop *l, int64_t step_ms) {
    const dn_clock_step step = {.step_ms = step_ms};

    for (char *at = l->actors.base; at < l->actors.fresh; at += l->actors.size) {
        dn_self *a = (dn_self *)(void *)at;
        if (!actor_lives(a) || !(a->flags & ACTOR_CLOCK)) continue;
        dn_msg *m = msg_take(l);
        if (!m) {
            actor_doom(l, a);
            continue;
        }
        m->from = DN_NOBODY;
        m->kind = DN_MSG_CLOCK;
        m->flags = MSG_EXEMPT;
        msg_set_small(m, &step, sizeof step);
        msg_push(l, a, m);
    }
}

void timers_wall_stepped(dn_loop *l, int64_t wall_offset_ns, int64_t boot_offset_ns) {
    const int64_t step_ns = wall_offset_ns - l->wall_offset_ns;

    l->wall_offset_ns = wall_offset_ns;
    l->boot_offset_ns = boot_offset_ns;
    for (wall_timer *w = l->walls; w; w = w->next) {
        wheel_cancel(l->wheel, &w->base.entry);
        timer_set_due(&w->base, wall_due_ns(l, w->wall_ms), timer_kind(&w->base) | TIMER_WALL);
        /* Its place among those of the same millisecond, and half of its id: both stay as they were. */
        const uint32_t seq = w->base.entry.seq;
        wheel_arm(l->wheel, &w->base.entry);
        w->base.entry.seq = seq;
    }
    notice(l, DN_NOTICE_CLOCK_STEP, "", 0, DN_OK, step_ns / NS_PER_MS, "the wall clock stepped");
    if (l->clock_watchers > 0) tell_step(l, step_ns / NS_PER_MS);
}

/* ---- The public side ---- */

static void check_kind(uint32_t kind) {
    assert(kind > 0 && kind <= DN_KIND_MAX && "message kinds go from 1 to DN_KIND_MAX");
    (void)kind;
}

dn_timer_id dn_timer_at_mono(dn_self *self, int64_t mono_ns, uint32_t kind, uint64_t value) {
    dn_loop *l = self->loop;

    check_kind(kind);
    timer *t = timer_arm(l, self, mono_ns, kind, value);
    if (!t) fail_nomem();
    return timer_id(l, t);
}

dn_timer_id dn_timer_after(dn_self *self, int64_t delay_ms, uint32_t kind, uint64_t value) {
    int64_t delay_ns, due_ns;

    if (delay_ms < 0) delay_ms = 0;
    if (__builtin_mul_overflow(delay_ms, (int64_t)NS_PER_MS, &delay_ns) ||
        __builtin_add_overflow(self->loop->mono_ns, delay_ns, &due_ns))
        due_ns = INT64_MAX;
    return dn_timer_at_mono(self, due_ns, kind, value);
}

dn_timer_id dn_timer_at_wall(dn_self *self, int64_t wall_ms, uint32_t kind, uint64_t value) {
    dn_loop *l = self->loop;

    check_kind(kind);
    wall_timer *w = slab_take(&l->wall_timers);
    if (!w) fail_nomem();
    w->wall_ms = wall_ms;
    timer_start(l, self, &w->base, wall_due_ns(l, wall_ms), kind | TIMER_WALL, value);
    w->next = l->walls;
    w->link = &l->walls;
    if (w->next) w->next->link = &w->next;
    l->walls = w;
    return timer_id(l, &w->base);
}

bool dn_timer_cancel(dn_self *self, dn_timer_id id) {
    dn_loop *l = self->loop;
    timer   *t = timer_find(l, self, id);

    if (!t || timer_kind(t) == 0) return false; /* a call is ended by dn_call_cancel */
    timer_drop(l, t);
    return true;
}

void dn_watch_clock(dn_self *self) {
    if (self->flags & ACTOR_CLOCK) return;
    self->flags |= ACTOR_CLOCK;
    self->loop->clock_watchers++;
}

int64_t dn_mono_ns(const dn_self *self) { return self->loop->mono_ns; }

int64_t dn_read_mono_ns(const dn_self *self) {
    dn_loop *const l = self->loop;
    const int64_t  mono_ns = l->mono_ns, wall_ns = l->wall_offset_ns, boot_ns = l->boot_offset_ns;

    l->driver->read_clock(l);
    const int64_t now_ns = l->mono_ns;
    l->mono_ns = mono_ns;
    l->wall_offset_ns = wall_ns;
    l->boot_offset_ns = boot_ns;
    return now_ns;
}

int64_t dn_thread_mono_ns(void) { return this_loop ? this_loop->mono_ns : clock_mono_ns(); }

int64_t dn_thread_now_ms(void) {
    return this_loop ? loop_now_ms(this_loop)
                     : (clock_mono_ns() + clock_read_offsets().wall_ns) / NS_PER_MS;
}

int64_t dn_boot_ns(const dn_self *self) { return self->loop->mono_ns + self->loop->boot_offset_ns; }

int64_t loop_now_ms(const dn_loop *l) { return ms_floor(l->mono_ns + l->wall_offset_ns); }

int64_t dn_now_ms(const dn_self *self) { return loop_now_ms(self->loop); }
