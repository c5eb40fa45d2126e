/* check_tick.c - did this tick do all it had to?
 * What falls due falls due at a minute: of a tick that follows another one in its time only those are looked at whose
 * window opened or whose cutoff came in between, and of those nobody if their number says that all is well; besides,
 * those whose throttle has ended. After anything unusual everybody is looked at.
 * Attempts are judged when the tick is said, which is after the queue took them; finalizations and missed days when all
 * that the tick caused must have been told (check_settle). */
#include "check_own.h"

#include "base/array.h"

#include <stdlib.h>

enum { MINUTES_MOST = 720 };

static void judge_later(check *c, check_person *p, uint32_t n) {
    if (p->flags & CHECK_JUDGED) return;
    if (DN_ARRAY_RESERVE(c->closing, c->closing_cap, c->closing_len + 1) < 0) {
        c->starved = true;
        return;
    }
    p->flags |= CHECK_JUDGED;
    c->closing[c->closing_len++] = n;
}

/* ---- Attempts ---- */

/* The tick that began at begun_ms had to ask for an attempt; unless one is under way, or was asked for too lately. */
static void judge_try(check *c, check_person *p, uint32_t n, dn_day day, int64_t begun_ms) {
    if (check_busy(&c->users, p)) return; /* its end brings it here again */
    const bool maybe = check_may_be_closed(p, day);
    /* It was busy with the cutoff of the day before. */
    const bool cut = (p->flags & CHECK_CUT) && p->last_day == day - 1 &&
                     c->users.records[n].closed_ms == (uint32_t)begun_ms;
    /* The first write of the tick may be what brings a registration that has waited to the disk. */
    if (maybe || cut || c->disturbed) {
        check_look_soon(c, n, begun_ms + 1);
        return;
    }
    const check_tries *t = check_tries_of(p, day);
    const int64_t      asked_ms = t ? t->asked_ms : CHECK_NEVER;
    const int64_t      free_ms = asked_ms + c->retry_ms + c->config.lag_ms;
    if (asked_ms != CHECK_NEVER && free_ms > begun_ms) {
        if (check_wheel_add(&c->wheel, &c->users, n, free_ms) < 0) c->starved = true;
    } else if (asked_ms != CHECK_NEVER && asked_ms >= begun_ms) {
        check_look_soon(c, n, asked_ms + 1);
    } else {
        check_say(c, CHECK_I2, n, day,
                  "its window is open (due %02u:%02u), it neither waits nor runs, and the tick did "
                  "not ask for it: "
                  "right is an attempt",
                  p->due / 60U, p->due % 60U);
    }
}

static bool lacks_a_row(const check_person *p, dn_day today) {
    const dn_day has = p->last_day > p->recorded ? p->last_day : p->recorded;

    return p->starts_on < today && has < today - 1;
}

static void look(check *c, uint32_t n, int64_t begun_ms) {
    check_person *p = check_person_of(&c->users, n);

    if (!check_lives(p)) return;
    if (check_is_recent(c, n) || check_was_new(c, n, begun_ms)) {
        check_look_soon(c, n, c->now_ms);
        return;
    }
    const check_want w = check_wants(p->due, p->last_day, p->starts_on, c->window_ms,
                                     c->pending.today, c->pending.to_ms);
    if (w.need == CHECK_NEED_TRY) judge_try(c, p, n, w.day, begun_ms);
    if (w.need == CHECK_NEED_CLOSE || lacks_a_row(p, c->pending.today)) judge_later(c, p, n);
}

static void look_at_all(check *c, int64_t begun_ms) {
    for (uint32_t n = 0; n < c->users.end; n++) look(c, n, begun_ms);
}

/* Those whose window has opened since the tick before. */
static void look_at_opened(check *c, int64_t begun_ms) {
    const check_pending *t = &c->pending;
    const int64_t        last = check_floor(t->to_ms + c->window_ms, CHECK_MINUTE);

    for (int64_t m = check_floor(t->from_ms + c->window_ms, CHECK_MINUTE) + 1; m <= last; m++) {
        const dn_day        day = (dn_day)check_floor(m, 1440);
        const check_minute *minute = &c->users.minutes[m - (int64_t)day * 1440];
        if (minute->begun_day == day && minute->begun == minute->len) continue;
        for (uint32_t i = 0; i < minute->len; i++) look(c, minute->rows[i], begun_ms);
    }
}

/* Nobody has to be looked at one by one where everybody is: `all`. */
static void look_at_waiting(check *c, int64_t begun_ms, bool all) {
    check_wheel  *w = &c->wheel;
    const int64_t known_ms = begun_ms - c->config.lag_ms;
    uint32_t      n;

    while (check_wheel_turn(w, begun_ms, &n)) {
        while (n != CHECK_NOBODY) {
            const uint32_t at = n;
            n = c->users.people[at].next;
            c->users.people[at].flags &= (uint16_t)~CHECK_IN_WHEEL;
            if (!all) look(c, at, begun_ms);
        }
    }
    /* Looking adds to the list: those are for the next tick. */
    const size_t len = w->soon_len;
    size_t       kept = 0;
    for (size_t i = 0; i < len && !all; i++)
        if (w->soon[i].since_ms <= known_ms) look(c, w->soon[i].n, begun_ms);
    for (size_t i = 0; i < w->soon_len; i++)
        if (i >= len || w->soon[i].since_ms > known_ms) w->soon[kept++] = w->soon[i];
    w->soon_len = kept;
}

/* ---- A tick ---- */

static void judge_numbers(check *c, const dn_happening *h) {
    if (c->config.lag_ms > 0 || c->shaken) return;
    if (h->enqueued != c->enqueued)
        check_say(c, CHECK_TICK, CHECK_ALL, DN_DAY_NONE, "a tick says enqueued %llu: right is %llu",
                  (unsigned long long)h->enqueued, (unsigned long long)c->enqueued);
    const uint64_t eligible = c->enqueued + c->ignored;
    if (h->eligible != eligible)
        check_say(c, CHECK_TICK, CHECK_ALL, DN_DAY_NONE,
                  "a tick says eligible_in_window %llu: right is %llu",
                  (unsigned long long)h->eligible, (unsigned long long)eligible);
}

/* Where messages take time a process may come back just before a tick, and has its first one close to the next: what
 * the one before caused need not have been said yet, and is judged with what this one causes. */
static bool is_too_new(const check *c) {
    return c->config.lag_ms > 0 && c->pending.any &&
           c->now_ms <= c->pending.said_ms + c->config.lag_ms;
}

void check_on_tick(check *c, const event *e) {
    const dn_happening *h = e->h;
    const int64_t       lag_ms = c->config.lag_ms;
    const int64_t       passed_ms = e->t_ms > h->at_ms ? e->t_ms - h->at_ms : 0;
    const int64_t       took_ms = c->stepped && passed_ms > lag_ms ? lag_ms : passed_ms;
    const int64_t       begun_ms = c->now_ms - took_ms;
    const dn_day        today = check_date(h->at_ms);

    const bool goes_on = is_too_new(c);
    if (!goes_on) check_settle(c);
    if (took_ms > lag_ms)
        check_say(c, CHECK_I4, CHECK_ALL, DN_DAY_NONE,
                  "a tick took %lld ms: right is to wait for nobody", (long long)took_ms);
    if (c->ticked && !c->shaken && begun_ms <= c->tick_ms && lag_ms == 0)
        check_say(c, CHECK_TICK, CHECK_ALL, DN_DAY_NONE,
                  "a second tick at this instant: right is one");
    judge_numbers(c, h);
    const bool well = check_store_is_well(c) && !c->disturbed;
    const bool all = c->irregular || !c->ticked || h->at_ms < c->tick_wall_ms ||
                     h->at_ms - c->tick_wall_ms > MINUTES_MOST * CHECK_MINUTE;
    c->pending = (check_pending){
        .any = true,
        .demands = well && !c->mending,
        .all = all || (goes_on && c->pending.all),
        .date = today != c->tick_date || (goes_on && c->pending.date),
        .begun_ms = begun_ms,
        .said_ms = c->now_ms,
        .from_ms = goes_on ? c->pending.from_ms : c->tick_wall_ms,
        .to_ms = h->at_ms,
        .today = today,
        .cutoffs = h->cutoffs,
    };
    look_at_waiting(c, begun_ms, all);
    if (all) {
        look_at_all(c, begun_ms);
        check_users_recount(&c->users);
    } else {
        look_at_opened(c, begun_ms);
    }
    check_overdue_runs(c);
    c->irregular = !c->pending.demands;
    if (well) c->full_tick_ms = CHECK_NEVER;
    else if (c->full_tick_ms < h->at_ms) c->full_tick_ms = h->at_ms;
    c->ticked = true;
    c->stepped = false;
    c->shaken = c->mending;
    c->tick_ms = begun_ms;
    c->tick_wall_ms = h->at_ms;
    c->tick_date = today;
    if (c->latest_date < today) c->latest_date = today;
    c->enqueued = c->ignored = 0;
    const int64_t opens = check_floor(h->at_ms + c->config.tick_ms + c->window_ms, CHECK_MINUTE);
    check_users_fetch(&c->users, (uint32_t)(opens - check_floor(opens, 1440) * 1440));
}

/* ---- What came of it ---- */

static void judge(check *c, uint32_t n) {
    const check_pending *t = &c->pending;
    check_person        *p = check_person_of(&c->users, n);
    char                 day[CHECK_DAY_TEXT];

    if (!check_lives(p)) return;
    /* What has come since the tick began, or only just before, it need not have known. */
    if (check_is_recent(c, n) || check_was_new(c, n, t->begun_ms)) {
        check_look_soon(c, n, c->now_ms);
        return;
    }
    const check_want w =
        check_wants(p->due, p->last_day, p->starts_on, c->window_ms, t->today, t->to_ms);
    if (w.need == CHECK_NEED_CLOSE)
        check_say(c, CHECK_I6, n, w.day,
                  "a tick saw its cutoff (due %02u:%02u), and it is not finalized: right is one "
                  "finalization",
                  p->due / 60U, p->due % 60U);
    if (lacks_a_row(p, t->today))
        check_say(c, CHECK_MISSED, n, t->today - 1,
                  "a tick of %s saw that the day had ended without one, and there is no row of it",
                  check_day_text(t->today, day));
}

/* Those whose cutoff has come since the tick before. */
static void judge_closed(check *c) {
    const check_pending *t = &c->pending;
    const int64_t        last = check_floor(t->to_ms, CHECK_MINUTE);

    for (int64_t m = check_floor(t->from_ms, CHECK_MINUTE) + 1; m <= last; m++) {
        const dn_day        day = (dn_day)check_floor(m, 1440);
        const check_minute *minute = &c->users.minutes[m - (int64_t)day * 1440];
        if (minute->done_day == day && minute->done == minute->len) continue;
        for (uint32_t i = 0; i < minute->len; i++)
            if (!(c->users.people[minute->rows[i]].flags & CHECK_JUDGED)) judge(c, minute->rows[i]);
    }
}

static void judge_rows(check *c) {
    const dn_day       before = c->pending.today - 1;
    const check_tally *t = &c->tallies[(uint32_t)before % CHECK_TALLIES];

    if (t->day == before && t->len == c->users.live) return;
    for (uint32_t n = 0; n < c->users.end; n++) {
        const check_person *p = &c->users.people[n];
        if (!(p->flags & CHECK_JUDGED) && lacks_a_row(p, before + 1)) judge(c, n);
    }
}

void check_drop(check *c) {
    for (size_t i = 0; i < c->closing_len; i++)
        c->users.people[c->closing[i]].flags &= (uint16_t)~CHECK_JUDGED;
    c->closing_len = 0;
    c->cutoffs = 0;
    c->pending.any = false;
}

void check_settle(check *c) {
    check_pending *t = &c->pending;

    if (!t->any) return;
    if (t->demands) {
        for (size_t i = 0; i < c->closing_len; i++) judge(c, c->closing[i]);
        if (!t->all) judge_closed(c);
        if (!t->all && t->date) judge_rows(c);
        if (c->config.lag_ms == 0 && t->cutoffs != c->cutoffs)
            check_say(c, CHECK_TICK, CHECK_ALL, DN_DAY_NONE,
                      "a tick says cutoff_finalized %llu: right is %llu",
                      (unsigned long long)t->cutoffs, (unsigned long long)c->cutoffs);
    }
    check_drop(c);
}
