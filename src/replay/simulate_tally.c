/* simulate_tally.c - see simulate_tally.h. */
#include "simulate_tally.h"

#include <stdlib.h>
#include <string.h>

enum { SNAPPED_MS = 2 };

int tally_init(tally *t, const plan *p) {
    *t = (tally){.len = p->users, .max_concurrency = (uint32_t)p->settings.max_concurrency};
    t->people = calloc(p->users, sizeof *t->people);
    if (!t->people) return DN_ENOMEM;
    for (uint32_t i = 0; i < t->len; i++) t->people[i].last_day = DN_DAY_NONE;
    t->counts.seeds = 1;
    t->counts.herds = p->users > PLAN_HERD;
    t->counts.small_bounds = p->kv_bounds.writes > 0;
    return DN_OK;
}

void tally_done(tally *t) {
    free(t->people);
    *t = (tally){0};
}

uint32_t tally_user_of(const char *id, size_t id_len) {
    uint32_t n = 0;

    if (id_len < 2 || *id != 'u') return UINT32_MAX;
    for (size_t i = 1; i < id_len; i++) n = n * 10 + (uint32_t)(id[i] - '0');
    return n;
}

void simulate_counts_add(simulate_counts *to, const simulate_counts *from) {
#define ADD(name, text) to->name += from->name;
    SIMULATE_COUNTS(ADD)
#undef ADD
}

static int64_t cutoff_of(const tally_person *p, dn_day day) {
    return (int64_t)day * DN_DAY_MS + (int64_t)p->due * DN_MINUTE_MS;
}

static bool is_busy(const tally_person *p) { return p->queued || p->running || p->has_ok; }

/* ---- What the world does ---- */

static void forget(tally *t) {
    for (uint32_t i = 0; i < t->len; i++)
        t->people[i].queued = t->people[i].running = t->people[i].has_ok = false;
    t->running = 0;
}

static bool any_ok(const tally *t) {
    for (uint32_t i = 0; i < t->len; i++)
        if (t->people[i].has_ok) return true;
    return false;
}

static void on_crash(tally *t, const event *e) {
    t->counts.crashes++;
    t->down_ms = e->steady_ms;
    t->counts.crash_with_ok += any_ok(t);
    t->counts.crash_running += t->running > 0;
    t->full = false;
    forget(t);
}

static void on_actor_end(tally *t, const char *name) {
    t->counts.actor_ends++;
    t->counts.actor_with_ok += any_ok(t);
    if (strcmp(name, "tick") != 0) forget(t);
}

static void on_step(tally *t, const event *e) {
    const int64_t before_ms = e->t_ms - e->h->step_ms;
    const dn_day  date = dn_day_of_ms(before_ms);

    t->counts.clock_steps++;
    for (uint32_t i = 0; i < t->len; i++) {
        const tally_person *p = &t->people[i];
        if (p->running && before_ms < cutoff_of(p, p->day) && e->t_ms >= cutoff_of(p, p->day)) {
            t->counts.over_cutoff++;
            break;
        }
    }
    for (uint32_t i = 0; i < t->len && t->full; i++) {
        const int64_t cutoff_ms = cutoff_of(&t->people[i], date);
        if (before_ms < cutoff_ms || e->t_ms >= cutoff_ms) continue;
        t->counts.back_while_full++;
        break;
    }
    for (uint32_t i = 0; i < t->len && dn_day_of_ms(e->t_ms) < date; i++)
        if (t->people[i].last_day == date) {
            t->counts.back_over_midnight++;
            break;
        }
}

/* ---- What the actors say ---- */

static void on_stopped(tally *t, tally_person *p, const dn_happening *h) {
    const int64_t from_cutoff_ms = h->at_ms - cutoff_of(p, h->day);

    if (p->running) t->running--;
    p->running = false;
    p->has_ok = h->outcome == DN_OUTCOME_OK && p->n == h->registration;
    t->counts.timeouts += h->outcome == DN_OUTCOME_TIMEOUT;
    t->counts.snapped += from_cutoff_ms >= -SNAPPED_MS && from_cutoff_ms <= SNAPPED_MS;
    t->counts.full_with_ok += p->has_ok && t->full;
}

static void on_finalized(tally *t, tally_person *p, const dn_happening *h) {
    if (h->status == DN_DAILY_SUCCESS) {
        t->counts.successes++;
        t->counts.ok_after_cutoff += h->at_ms >= cutoff_of(p, h->day);
        p->has_ok = false;
    } else {
        t->counts.cutoffs++;
        t->counts.cutoff_running += p->running && p->day == h->day;
    }
    p->last_day = h->day;
}

static void on_set(tally *t, tally_person *p, const dn_happening *h) {
    if (p->n == h->registration) {
        t->counts.changed_queued += is_busy(p) && p->due != h->due;
        t->counts.first_day_moved += p->starts_on != h->starts_on;
    } else {
        t->counts.back_busy += p->n > 0 && p->running;
        p->has_ok = false;
        p->last_day = DN_DAY_NONE;
    }
    p->n = h->registration;
    p->due = h->due;
    p->starts_on = h->starts_on;
}

static void on_started(tally *t, tally_person *p, const dn_happening *h) {
    t->counts.starts++;
    p->queued = false;
    if (!p->running) t->running++;
    p->running = true;
    p->day = h->day;
    t->counts.slots_full += t->running == t->max_concurrency;
    t->counts.many_slots += t->running > 8;
}

static void on_person(tally *t, tally_person *p, const dn_happening *h) {
    switch (h->kind) {
    case DN_HAPPENED_IGNORED:
        *(*h->reason == 'd' ? &t->counts.deduped : &t->counts.throttled) += 1;
        break;
    case DN_HAPPENED_ENQUEUED:
        p->queued = true;
        p->day = h->day;
        break;
    case DN_HAPPENED_EXPIRED:
        t->counts.expired++;
        p->queued = false;
        break;
    case DN_HAPPENED_STARTED: on_started(t, p, h); break;
    case DN_HAPPENED_STOPPED: on_stopped(t, p, h); break;
    case DN_HAPPENED_FINALIZED: on_finalized(t, p, h); break;
    case DN_HAPPENED_LATE_SUCCESS:
        t->counts.late++;
        p->has_ok = false;
        break;
    case DN_HAPPENED_MISSED: t->counts.missed++; break;
    case DN_HAPPENED_SET: on_set(t, p, h); break;
    case DN_HAPPENED_REMOVED:
        t->counts.removed_busy += is_busy(p);
        p->queued = p->has_ok = false;
        break;
    default: break;
    }
}

static void on_happening(tally *t, const event *e) {
    const dn_happening *h = e->h;

    switch (h->kind) {
    case DN_HAPPENED_TICK: t->counts.ticks++; return;
    case DN_HAPPENED_CLOCK: on_step(t, e); return;
    case DN_HAPPENED_STORE_FAILED:
        t->counts.full++;
        t->full = true;
        return;
    case DN_HAPPENED_STORE_WELL: t->full = false; return;
    default: break;
    }
    const uint32_t user = tally_user_of(h->id, h->id_len);
    if (user < t->len) on_person(t, &t->people[user], h);
}

void tally_tell(tally *t, const event *e) {
    if (e->kind < DN_HAPPENINGS) on_happening(t, e);
    else if (e->kind == EVENT_CRASH) on_crash(t, e);
    else if (e->kind == EVENT_RESTART)
        t->counts.days_down += e->steady_ms - t->down_ms >= DN_DAY_MS;
    else if (e->kind == EVENT_ACTOR_CRASH) on_actor_end(t, e->name);
}
