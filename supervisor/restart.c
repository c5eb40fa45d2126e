/* restart.c - what follows from the end of a child: nothing, a restart, or the end of all. */
#include "sup.h"

#include <stdio.h>

bool sup_is_restarted(dn_restart restart, int reason) {
    switch (restart) {
    case DN_PERMANENT: return true;
    case DN_TRANSIENT: return reason != DN_OK && reason != DN_ESHUTDOWN;
    case DN_TEMPORARY: return false;
    }
    return false;
}

/* Its next delay. A child that never came up has not been stable. */
static int64_t next_delay_ms(sup_child *c, int64_t now_ns, bool was_up) {
    const dn_backoff *b = &c->spec->backoff;

    if (b->min_ms == 0) return 0;
    if (was_up && sup_backoff_is_over(b, (now_ns - c->up_ns) / 1000000)) c->failures = 0;
    if (c->failures < UINT32_MAX) c->failures++;
    return sup_backoff_ms(b, c->failures);
}

static uint32_t step_from(const sup *s, const sup_child *c) {
    return s->spec->strategy == DN_ONE_FOR_ALL ? 0 : sup_index(s, c);
}

/* False: it was one restart too many, and the supervisor is ending. */
static bool count(dn_self *self, sup *s, sup_child *c, int64_t now_ns) {
    char why[DN_CRASH_WHY_MAX];

    if (sup_intensity_allows(self, &s->intensity, now_ns)) {
        s->restarts++;
        return true;
    }
    snprintf(why, sizeof why, "too many restarts, the last of %s", c->spec->name);
    sup_step_end(self, s, DN_EINTENSITY, why);
    return false;
}

/* A failed restart is not tried again in the same handler: a stop request may be waiting. */
static void restart(dn_self *self, sup *s, sup_child *c, bool was_up) {
    const int64_t now_ns = dn_mono_ns(self);
    int64_t       delay_ms;

    if (!count(self, s, c, now_ns)) return;
    delay_ms = next_delay_ms(c, now_ns, was_up);
    if (s->spec->strategy != DN_ONE_FOR_ONE) {
        c->state = CHILD_WAITING;
        sup_step_begin(self, s, step_from(s, c), delay_ms, /* later= */ !was_up);
    } else if (delay_ms > 0 || !was_up) {
        sup_child_wait(self, s, c, delay_ms);
    } else {
        sup_happened(self, s, c, sup_child_start(self, s, c));
    }
}

/* True: the supervisor is ending. */
static bool shut_down_if_significant(dn_self *self, sup *s, const sup_child *c) {
    if (!c->spec->significant || s->spec->auto_shutdown == DN_NEVER) return false;
    if (s->spec->auto_shutdown == DN_ALL_SIGNIFICANT)
        for (uint32_t i = 0; i < s->len; i++) {
            const sup_child *other = &s->children[i];

            if (other->spec->significant && other->state != CHILD_ABSENT &&
                other->state != CHILD_GONE)
                return false;
        }
    sup_step_end(self, s, DN_STOP, "");
    return true;
}

bool sup_follow_up(dn_self *self, sup *s, sup_child *c) {
    if (!sup_is_restarted(c->spec->restart, c->reason)) return shut_down_if_significant(self, s, c);
    restart(self, s, c, /* was_up= */ true);
    return true;
}

void sup_on_ended(dn_self *self, sup *s, sup_child *c) { (void)sup_follow_up(self, s, c); }

void sup_on_failed(dn_self *self, sup *s, sup_child *c) {
    restart(self, s, c, /* was_up= */ false);
}

void sup_on_ended_delaying(dn_self *self, sup *s, sup_child *c) {
    const int64_t now_ns = dn_mono_ns(self);

    if (!sup_is_restarted(c->spec->restart, c->reason)) {
        (void)shut_down_if_significant(self, s, c);
        return;
    }
    if (step_from(s, c) < s->from && !count(self, s, c, now_ns)) return;
    c->state = CHILD_WAITING;
    sup_step_join(self, s, step_from(s, c), next_delay_ms(c, now_ns, true));
}
