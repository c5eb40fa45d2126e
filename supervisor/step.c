/* step.c - what takes several children and several messages: start them in order, stop them in reverse.
 * A step keeps a cursor and nothing else; whatever happened to a child, it goes on from there by
 * looking at the child in front of it. So every message may simply call the "on" function. */
#include "sup.h"

#include <assert.h>
#include <stdio.h>

void sup_step_boot_failed(dn_self *self, sup *s, sup_child *c) {
    char why[DN_CRASH_WHY_MAX];

    snprintf(why, sizeof why, "%s did not start", c->spec->name);
    sup_step_end(self, s, c->reason, why);
}

void sup_step_boot(dn_self *self, sup *s) {
    s->phase = SUP_BOOTING;
    s->from = s->cursor = 0;
    for (uint32_t i = 0; i < s->len; i++) s->children[i].state = CHILD_WAITING;
    sup_step_start_on(self, s);
}

static void started_all(dn_self *self, sup *s) {
    s->phase = SUP_STEADY;
    if (!s->init_pending) return;
    s->init_pending = false;
    dn_init_done(self, DN_OK);
}

/* Starts what waits, one wholly before the next. */
void sup_step_start_on(dn_self *self, sup *s) {
    assert(s->phase == SUP_BOOTING || s->phase == SUP_STARTING);
    for (; s->cursor < s->len; s->cursor++) {
        sup_child *c = &s->children[s->cursor];

        if (c->state == CHILD_WAITING && sup_child_start(self, s, c) == CHILD_FAILED) {
            if (s->phase == SUP_BOOTING) sup_step_boot_failed(self, s, c);
            else sup_on_failed(self, s, c);
            return;
        }
        if (c->state == CHILD_STARTING || c->state == CHILD_STOPPING) return;
    }
    started_all(self, s);
}

static void stopped_all(dn_self *self, sup *s) {
    if (s->phase == SUP_ENDING) return; /* sup_settle sees it */
    /* One that failed meanwhile and stands before these: they are not to start without it. */
    s->phase = SUP_STEADY;
    for (uint32_t i = 0; i < s->from && s->noted > 0; i++) {
        sup_child *c = &s->children[i];

        if (c->state != CHILD_NOTED) continue;
        sup_child_rest(self, s, c);
        if (sup_follow_up(self, s, c)) return; /* a step that covers this one too, or the end */
    }
    s->phase = SUP_STARTING;
    s->cursor = s->from;
    sup_step_start_on(self, s);
}

/* What a child that does not run becomes when the step has come past it. */
static void leave_behind(dn_self *self, sup *s, sup_child *c) {
    sup_child_rest(self, s, c);
    if (s->phase == SUP_STOPPING && c->state == CHILD_ABSENT && !c->held) c->state = CHILD_WAITING;
}

/* Stops what runs, one wholly before the one started before it. */
void sup_step_stop_on(dn_self *self, sup *s) {
    const uint32_t down_to = s->phase == SUP_ENDING ? 0 : s->from;

    assert(s->phase == SUP_STOPPING || s->phase == SUP_ENDING);
    for (; s->cursor > down_to; s->cursor--) {
        sup_child *c = &s->children[s->cursor - 1];

        if (c->state == CHILD_STARTING || c->state == CHILD_RUNNING || c->state == CHILD_STOPPING) {
            sup_child_stop(self, s, c);
            return;
        }
        leave_behind(self, s, c);
    }
    stopped_all(self, s);
}

static void step_timer_disarm(dn_self *self, sup *s) {
    if (s->step_timer == 0) return;
    (void)dn_timer_cancel(self, s->step_timer);
    s->step_timer = 0;
    s->step_timer_no++; /* it may have fired already */
}

static void step_timer_arm(dn_self *self, sup *s, int64_t due_ns) {
    step_timer_disarm(self, s);
    s->step_due_ns = due_ns;
    s->step_timer_no++;
    s->step_timer =
        dn_timer_at_mono(self, due_ns, DN_SUP_TIMER, sup_tag(SUP_NO_CHILD, s->step_timer_no));
}

void sup_step_due(dn_self *self, sup *s) {
    step_timer_disarm(self, s);
    s->phase = SUP_STOPPING;
    s->cursor = s->len;
    sup_step_stop_on(self, s);
}

void sup_step_begin(dn_self *self, sup *s, uint32_t from, int64_t delay_ms, bool later) {
    s->from = from;
    if (delay_ms == 0 && !later) {
        sup_step_due(self, s);
        return;
    }
    s->phase = SUP_DELAYING;
    step_timer_arm(self, s, dn_mono_ns(self) + delay_ms * 1000000);
}

/* No child starts before its own backoff is over: the later instant counts. */
void sup_step_join(dn_self *self, sup *s, uint32_t from, int64_t delay_ms) {
    const int64_t due_ns = dn_mono_ns(self) + delay_ms * 1000000;

    assert(s->phase == SUP_DELAYING);
    if (from < s->from) s->from = from;
    if (due_ns > s->step_due_ns) step_timer_arm(self, s, due_ns);
}

void sup_step_call_off_if_idle(dn_self *self, sup *s) {
    assert(s->phase == SUP_DELAYING);
    for (uint32_t i = s->from; i < s->len; i++)
        if (s->children[i].state == CHILD_WAITING) return;
    step_timer_disarm(self, s);
    s->phase = SUP_STEADY;
}

void sup_step_end(dn_self *self, sup *s, int code, const char *why) {
    if (s->phase == SUP_ENDING) return;
    step_timer_disarm(self, s);
    s->phase = SUP_ENDING;
    s->cursor = s->len;
    s->end_code = code;
    snprintf(s->end_why, sizeof s->end_why, "%s", why);
    sup_step_stop_on(self, s);
}
