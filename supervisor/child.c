/* child.c - one child's life: spawned, up, asked to stop, killed, gone.
 * It turns messages about a child into events (sup_event) and decides nothing: what follows from an
 * event is the table's business (supervisor.c). No new attempt is made before the last one is
 * known to be over, so there is never more than one actor to a child. */
#include "sup.h"

#include <assert.h>

static void timer_arm(dn_self *self, sup *s, sup_child *c, int64_t delay_ms) {
    c->timer_no++;
    c->timer = dn_timer_after(self, delay_ms, DN_SUP_TIMER, sup_tag(sup_index(s, c), c->timer_no));
}

static void timer_disarm(dn_self *self, sup_child *c) {
    if (c->timer == 0) return;
    (void)dn_timer_cancel(self, c->timer);
    c->timer = 0;
    c->timer_no++; /* it may have fired already, and wait in the mailbox */
}

static void went(dn_self *self, sup_child *c, int reason) {
    timer_disarm(self, c);
    c->who = DN_NOBODY;
    c->reason = reason;
    c->state = c->spec->restart == DN_TEMPORARY ? CHILD_GONE : CHILD_ABSENT;
}

static sup_event came_up(dn_self *self, sup *s, sup_child *c) {
    c->state = CHILD_RUNNING;
    c->up_ns = dn_mono_ns(self);
    c->starts++;
    s->started++;
    return CHILD_UP;
}

static sup_event came_to_nothing(dn_self *self, sup_child *c, int status) {
    went(self, c, status);
    return status == DN_STOP ? CHILD_DECLINED : CHILD_FAILED;
}

sup_event sup_child_start(dn_self *self, sup *s, sup_child *c) {
    int rc;

    assert(c->state == CHILD_ABSENT || c->state == CHILD_WAITING);
    c->attempt++;
    const dn_spawn_spec spawn = {
        .actor_class = c->spec->actor_class,
        .config = c->spec->config,
        .name = c->spec->name,
        .loop = c->spec->loop,
        .tag = sup_tag(sup_index(s, c), c->attempt),
        .monitored = true,
        .linked = true,
    };
    rc = dn_spawn(self, &spawn, &c->who);
    if (rc == DN_OK) return came_up(self, s, c);
    if (rc != DN_PENDING) return came_to_nothing(self, c, rc);
    c->state = CHILD_STARTING;
    if (sup_start_ms(c->spec) >= 0) timer_arm(self, s, c, sup_start_ms(c->spec));
    return CHILD_NOTHING;
}

/* On its way to another loop it has no address yet: then it is asked when it has one. Never by its name: as
 * long as it is not there, that may be a stranger's. */
static void ask_to_end(dn_self *self, const sup_child *c) {
    if (dn_ref_is_nobody(c->who)) return;
    sup_if_there(c->killed ? dn_kill(self, c->who) : dn_stop(self, c->who));
}

static void ask_to_die(dn_self *self, sup_child *c) {
    c->killed = true;
    timer_disarm(self, c);
    ask_to_end(self, c);
}

void sup_child_stop(dn_self *self, sup *s, sup_child *c) {
    const int64_t shutdown_ms = sup_shutdown_ms(c->spec->shutdown_ms);

    if (c->state == CHILD_STOPPING) {
        c->late = false; /* its end was to count as a failed start: not any more */
        return;
    }
    assert(c->state == CHILD_STARTING || c->state == CHILD_RUNNING);
    timer_disarm(self, c);
    c->state = CHILD_STOPPING;
    c->late = false;
    c->killed = false;
    if (shutdown_ms == 0) {
        ask_to_die(self, c);
        return;
    }
    ask_to_end(self, c);
    if (shutdown_ms > 0) timer_arm(self, s, c, shutdown_ms);
}

static sup_event stopped(dn_self *self, sup_child *c, int reason) {
    const bool late = c->late;

    went(self, c, late ? DN_ETIME : reason);
    return late ? CHILD_FAILED : CHILD_STOPPED;
}

void sup_child_on_starting(dn_self *self, sup_child *c, dn_ref who) {
    assert(c->state == CHILD_STARTING || c->state == CHILD_STOPPING);
    c->who = who;
    if (c->state == CHILD_STOPPING) ask_to_end(self, c);
}

sup_event sup_child_on_started(dn_self *self, sup *s, sup_child *c, const dn_started *started) {
    assert(c->state == CHILD_STARTING || c->state == CHILD_STOPPING);
    if (started->status != DN_OK) {
        if (c->state == CHILD_STOPPING) return stopped(self, c, started->status);
        return came_to_nothing(self, c, started->status);
    }
    if (c->state == CHILD_STARTING) {
        c->who = started->who;
        timer_disarm(self, c);
        return came_up(self, s, c);
    }
    /* In spite of it all it is up. If this is the first that is heard of it, it was not asked yet. */
    if (dn_ref_is_nobody(c->who)) sup_child_on_starting(self, c, started->who);
    return CHILD_NOTHING;
}

sup_event sup_child_on_down(dn_self *self, sup *s, sup_child *c, const dn_down *down) {
    (void)s;
    if (c->state == CHILD_STOPPING) return stopped(self, c, down->reason);
    if (c->state != CHILD_RUNNING) return CHILD_NOTHING;
    went(self, c, down->reason);
    return CHILD_ENDED;
}

sup_event sup_child_on_timer(dn_self *self, sup_child *c) {
    c->timer = 0;
    switch (c->state) {
    case CHILD_WAITING: return CHILD_DUE;
    case CHILD_STARTING:
        c->state = CHILD_STOPPING;
        c->late = true;
        ask_to_die(self, c);
        return CHILD_NOTHING;
    case CHILD_STOPPING: ask_to_die(self, c); return CHILD_NOTHING;
    case CHILD_ABSENT:
    case CHILD_RUNNING:
    case CHILD_NOTED:
    case CHILD_GONE: break;
    }
    return CHILD_NOTHING;
}

void sup_child_wait(dn_self *self, sup *s, sup_child *c, int64_t delay_ms) {
    c->state = CHILD_WAITING;
    timer_arm(self, s, c, delay_ms);
}

void sup_child_note(sup *s, sup_child *c) {
    c->state = CHILD_NOTED;
    s->noted++;
}

void sup_child_rest(dn_self *self, sup *s, sup_child *c) {
    if (c->state == CHILD_NOTED) s->noted--;
    timer_disarm(self, c);
    c->state = c->spec->restart == DN_TEMPORARY ? CHILD_GONE : CHILD_ABSENT;
}
