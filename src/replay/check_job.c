/* check_job.c - from the queue to the end of a job. */
#include "check_own.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

/* How the state of a user reads in a sentence. */
static const char *state_text(const check_person *p) {
    switch ((check_state)p->state) {
    case CHECK_IDLE: return "neither queued nor running";
    case CHECK_QUEUED: return "queued";
    case CHECK_RUNNING: return "running";
    case CHECK_OK_WAITS: return "running until its success is written";
    }
    return "";
}

/* What has waited for the disk comes there all at once, at any instant, and beside whatever happens then: who asks, or
 * begins, does not know yet. */
static bool is_closed_just_now(const check *c, const check_person *p, const dn_happening *h) {
    return c->well_ms == c->now_ms && p->last_day == h->day &&
           c->users.records[h->registration].closed_ms == (uint32_t)c->now_ms;
}
/* For whom nobody was running, so that the queue may take it. */
static bool is_cut_just_now(const check *c, const check_person *p, const dn_happening *h) {
    return (p->flags & CHECK_CUT) && is_closed_just_now(c, p, h);
}
static bool is_set_just_now(const check *c, const dn_happening *h) {
    return c->well_ms == c->now_ms &&
           c->users.records[h->registration].set_ms == (uint32_t)c->now_ms;
}

/* Of one that is not registered, or not any more. */
static __attribute__((noinline)) check_person *
known_before(check *c, check_person *p, const dn_happening *h, const char *what) {
    if (p && (check_is_recent(c, h->registration) || is_set_just_now(c, h))) return p;
    if (p && p->state != CHECK_IDLE) return p; /* removed, and its job goes on */
    check_say(c, CHECK_LOG, h->registration, h->day,
              "%s, but there is no such user: right is nothing of nobody", what);
    return NULL;
}

/* NULL, and it is said: nobody the log knows of. */
static inline check_person *known(check *c, const dn_happening *h, const char *what) {
    check_person *p = check_person_of(&c->users, h->registration);

    return __builtin_expect(check_lives(p), 1) ? p : known_before(c, p, h, what);
}

static void look_after_throttle(check *c, check_person *p, uint64_t n) {
    const int64_t ends_ms =
        p->days[0].asked_ms == CHECK_NEVER ? c->now_ms : p->days[0].asked_ms + c->retry_ms;

    if (ends_ms <= c->now_ms) check_look_soon(c, n, c->now_ms);
    else if (check_wheel_add(&c->wheel, &c->users, (uint32_t)n, ends_ms) < 0) c->starved = true;
}

/* It neither waits nor runs any more: a tick has to ask for it again, once it may. */
static void is_idle(check *c, check_person *p, uint64_t n) {
    p->state = CHECK_IDLE;
    check_changed(c, n);
    if (check_lives(p)) {
        look_after_throttle(c, p, n);
    } else {
        const uint32_t heir = c->users.records[n].heir;
        if (heir == CHECK_NOBODY) return;
        check_changed(c, heir);
        check_look_soon(c, heir, c->now_ms);
    }
}

/* ---- Into the queue ---- */

/* It asks for something else now. */
static __attribute__((noinline)) void judge_other_asking(check *c, const check_person *p,
                                                         const dn_happening *h, check_want w,
                                                         const char *what) {
    const int64_t lag = c->config.lag_ms;
    char          day[CHECK_DAY_TEXT];

    if (is_cut_just_now(c, p, h) || is_set_just_now(c, h)) return;
    if (lag > 0) {
        if (check_is_recent(c, h->registration)) return;
        w = check_wants(p->due, p->last_day, p->starts_on, c->window_ms,
                        check_date(c->wall_ms - lag), c->wall_ms - lag);
        if (w.need == CHECK_NEED_TRY && w.day == h->day) return;
    }
    if (check_is_closed(p, h->day))
        check_say(c, CHECK_CLOSED, h->registration, h->day,
                  "%s, but the day is finalized (last_date %s): right is nothing", what,
                  check_day_text(p->last_day, day));
    else
        check_say(c, CHECK_WINDOW, h->registration, h->day,
                  "%s, but the rule asks for %s%s with due %02u:%02u", what,
                  w.need == CHECK_NEED_TRY ? "an attempt for "
                  : w.need                 ? "a cutoff of "
                                           : "nothing on ",
                  check_day_text(w.day, day), p->due / 60U, p->due % 60U);
}

/* Did the rule ask for an attempt for that day, at a tick that ends about now? */
static inline void judge_asking(check *c, const check_person *p, const dn_happening *h,
                                const char *what) {
    const check_want w =
        check_wants(p->due, p->last_day, p->starts_on, c->window_ms, c->today, c->wall_ms);

    if (w.need != CHECK_NEED_TRY || w.day != h->day) judge_other_asking(c, p, h, w, what);
}

/* One that was removed. */
static check_tries *stays_with_its_id(check *c, const dn_happening *h) {
    if (check_users_stay(&c->users, (uint32_t)h->registration, c->now_ms, c->retry_ms) < 0)
        c->starved = true;
    return check_users_bequeath(&c->users, (uint32_t)h->registration, h->day);
}

void check_enqueued(check *c, const event *e) {
    if (!check_begins(c, e)) return;
    const dn_happening *h = e->h;
    check_person       *p = known(c, h, "enqueued");
    bool                fresh;

    if (!p) return;
    c->enqueued++;
    judge_asking(c, p, h, "enqueued");
    const check_person *busy = check_busy(&c->users, p);
    if (busy && !check_is_recent(c, h->registration)) {
        check_say(c, CHECK_OVERLAP, h->registration, h->day,
                  "enqueued, but it is %s: right is to ignore it (dedupe)", state_text(busy));
    }
    if (p->state == CHECK_QUEUED) check_out_of_queue(c, p);
    if (p->state != CHECK_IDLE) return; /* it runs on */
    check_tries *t = check_tries_open(p, h->day, &fresh);
    /* It counts from tick to tick, and where messages take time a plan comes later behind its tick than another. */
    const int64_t least_ms = c->retry_ms - c->config.lag_ms;
    if (t->asked_ms != CHECK_NEVER && c->now_ms - t->asked_ms < least_ms)
        check_say(c, CHECK_SPACING, h->registration, h->day,
                  "enqueued %lld ms after it was last: right is not before %lld ms",
                  (long long)(c->now_ms - t->asked_ms), (long long)least_ms);
    t->asked_ms = c->now_ms;
    if (!check_lives(p)) {
        check_tries *of_heir = stays_with_its_id(c, h);
        if (of_heir) of_heir->asked_ms = c->now_ms;
    }
    p->state = CHECK_QUEUED;
    c->queued++;
    check_order_add(&c->order, check_minute_of(p));
    if (fresh) check_minute_begun(&c->users.minutes[p->due], h->day);
}

void check_on_ignored(check *c, const dn_happening *h) {
    check_person *p = known(c, h, "ignored");

    if (!p) return;
    c->ignored++;
    if (is_closed_just_now(c, p, h) && h->reason && strcmp(h->reason, "dedupe") == 0) return;
    judge_asking(c, p, h, "asked for");
    if (check_is_recent(c, h->registration) || is_set_just_now(c, h)) return;
    const check_person *busy = check_busy(&c->users, p);
    const check_tries  *t = check_tries_of(p, h->day);
    const bool          throttled =
        t && t->asked_ms != CHECK_NEVER && c->now_ms - t->asked_ms < c->retry_ms + c->config.lag_ms;
    if (busy || p->maybe_ok) {
        if (h->reason && strcmp(h->reason, "dedupe") == 0) return;
        if (!busy && throttled) return;
        check_say(c, CHECK_IGNORED, h->registration, h->day,
                  "ignored for \"%s\", but it is %s: right is \"dedupe\"",
                  h->reason ? h->reason : "", state_text(busy ? busy : p));
        return;
    }
    if (throttled && h->reason && strcmp(h->reason, "throttle") == 0) return;
    check_say(c, CHECK_IGNORED, h->registration, h->day,
              "ignored for \"%s\", but it is %s%s: right is %s", h->reason ? h->reason : "",
              state_text(p),
              throttled ? " and was enqueued too lately" : " and was not enqueued lately",
              throttled ? "\"throttle\"" : "to enqueue it");
}

static bool waits(const check_person *p, dn_day day) {
    return p->state == CHECK_QUEUED && p->days[0].day == day;
}

void check_on_expired(check *c, const dn_happening *h) {
    check_person *p = check_person_of(&c->users, h->registration);

    if (!p || !waits(p, h->day)) {
        if (p && check_is_recent(c, h->registration)) return;
        check_say(c, CHECK_EXPIRED, h->registration, h->day,
                  "dropped, but it was not queued for that day");
        return;
    }
    if (check_lives(p) && !check_is_closed(p, h->day) && check_is_open(c, p, h->day, c->wall_ms) &&
        !check_is_recent(c, h->registration))
        check_say(c, CHECK_EXPIRED, h->registration, h->day,
                  "dropped, but its window is open (due %02u:%02u) and the day is not finalized: "
                  "right is to "
                  "start it",
                  p->due / 60U, p->due % 60U);
    if (p->state == CHECK_QUEUED) check_out_of_queue(c, p);
    is_idle(c, p, h->registration);
}

/* ---- Runs ---- */

static bool run_begins(check *c, check_person *p, uint64_t n) {
    uint32_t at = c->runs_free;

    if (at == CHECK_NOBODY) {
        if (DN_ARRAY_RESERVE(c->runs, c->runs_cap, c->runs_len + 1) < 0) {
            c->starved = true;
            return false;
        }
        at = c->runs_len++;
    } else {
        c->runs_free = c->runs[at].next_free;
    }
    c->runs[at] = (check_run){.since_ms = c->now_ms, .n = (uint32_t)n};
    p->run = at;
    c->running++;
    return true;
}

static void run_ends(check *c, const check_person *p) {
    c->runs[p->run].n = CHECK_NOBODY;
    c->runs[p->run].next_free = c->runs_free;
    c->runs_free = p->run;
    c->running--;
}

void check_runs_end(check *c) {
    c->runs_len = c->running = 0;
    c->runs_free = CHECK_NOBODY;
    c->oks = c->gone_oks = 0;
}

void check_overdue_runs(check *c) {
    const int64_t most_ms = c->config.job_timeout_ms + c->config.lag_ms;

    if (c->now_ms - c->oldest_ms <= most_ms) return;
    c->oldest_ms = c->now_ms;
    for (uint32_t i = 0; i < c->runs_len; i++) {
        check_run *r = &c->runs[i];
        if (r->n == CHECK_NOBODY || r->since_ms == INT64_MAX) continue;
        if (c->now_ms - r->since_ms <= most_ms) {
            if (r->since_ms < c->oldest_ms) c->oldest_ms = r->since_ms;
            continue;
        }
        check_say(
            c, CHECK_STOP, r->n, c->users.people[r->n].days[0].day,
            "its job has run for %lld ms: right is a stop after %lld ms, and its slot given back",
            (long long)(c->now_ms - r->since_ms), (long long)c->config.job_timeout_ms);
        r->since_ms = INT64_MAX; /* said once */
    }
}

/* ---- Start ---- */

/* What there is to say against its being the turn of that one at all. */
static void judge_turn(check *c, check_person *p, const dn_happening *h) {
    const bool recent = check_is_new(c, h->registration); /* a step or a crash excuses no start */

    if (!waits(p, h->day) && !(recent && !check_lives(p)))
        check_say(c, CHECK_LOG, h->registration, h->day,
                  "a start, but it was not queued for that day");
    if (check_is_closed(p, h->day) && !recent && !is_closed_just_now(c, p, h) &&
        !is_set_just_now(c, h))
        check_say(c, CHECK_CLOSED, h->registration, h->day,
                  "a start, but the day is finalized: right is to drop it");
    if (!check_is_open(c, p, h->day, h->at_ms) && !recent && !is_set_just_now(c, h))
        check_say(c, CHECK_WINDOW, h->registration, h->day,
                  "a start outside its window: right is within %lld minutes before %02u:%02u",
                  (long long)(c->window_ms / CHECK_MINUTE), p->due / 60U, p->due % 60U);
}

/* As many as are counted; those behind them bear the number of the last. */
enum { ATTEMPTS_COUNTED = 65535 };

static void count_start(check *c, check_tries *t, const dn_happening *h) {
    const uint32_t least = t->starts < ATTEMPTS_COUNTED ? t->starts + 1 : ATTEMPTS_COUNTED;

    if (h->attempt != least)
        check_say(c, CHECK_LOG, h->registration, h->day, "attempt %u starts: right is attempt %u",
                  h->attempt, least);
    t->starts = h->attempt;
}

void check_started(check *c, const event *e) {
    if (!check_begins(c, e)) return;
    const dn_happening *h = e->h;
    check_person       *p = known(c, h, "a start");
    bool                fresh;

    if (!p) return;
    const check_person *busy = check_busy(&c->users, p);
    if (busy && busy->state != CHECK_QUEUED) {
        check_say(c, CHECK_OVERLAP, h->registration, h->day,
                  "a start, but it is %s: right is one attempt at a time", state_text(busy));
        if (busy == p) return;
    }
    judge_turn(c, p, h);
    if (p->state == CHECK_QUEUED) {
        check_order_began(&c->order, check_minute_of(p), (uint32_t)h->registration);
        check_out_of_queue(c, p);
    }
    count_start(c, check_tries_open(p, h->day, &fresh), h);
    if (!run_begins(c, p, h->registration)) return;
    p->state = CHECK_RUNNING;
    if (!check_lives(p)) (void)stays_with_its_id(c, h);
    if (c->running > c->config.max_concurrency)
        check_say(c, CHECK_I3, h->registration, h->day, "%u attempts run: right is %u at most",
                  c->running, c->config.max_concurrency);
}

/* ---- Stop ---- */

static void judge_stop(check *c, const check_person *p, const dn_happening *h) {
    const int64_t lag = c->config.lag_ms, most = c->config.job_timeout_ms;
    const int64_t since = c->runs[p->run].since_ms;
    const int64_t off = since == INT64_MAX ? 0 : h->duration_ms - (c->now_ms - since);

    if (h->day != p->days[0].day || h->attempt != p->days[0].starts)
        check_say(c, CHECK_STOP, h->registration, h->day,
                  "attempt %u stopped: right is attempt %u, the one that runs", h->attempt,
                  p->days[0].starts);
    if (off > lag || off < -lag)
        check_say(c, CHECK_STOP, h->registration, h->day,
                  "duration_ms %lld: right is %lld, the time since its start",
                  (long long)h->duration_ms, (long long)(c->now_ms - since));
    if (h->duration_ms > most + lag || (h->outcome == DN_OUTCOME_TIMEOUT && h->duration_ms < most))
        check_say(c, CHECK_STOP, h->registration, h->day,
                  "a stop as %s after %lld ms: right is as timeout after %lld ms",
                  h->outcome == DN_OUTCOME_TIMEOUT ? "timeout" : "finished",
                  (long long)h->duration_ms, (long long)most);
    if (h->outcome != DN_OUTCOME_OK && h->outcome != DN_OUTCOME_ERROR &&
        h->outcome != DN_OUTCOME_TIMEOUT)
        check_say(c, CHECK_STOP, h->registration, h->day,
                  "result %d: right is ok, error or timeout", (int)h->outcome);
    if ((h->outcome == DN_OUTCOME_ERROR) !=
        (h->error_class >= DN_CLASS_REQ && h->error_class <= DN_CLASS_UNKNOWN))
        check_say(c, CHECK_STOP, h->registration, h->day,
                  "error class %d: right is one of four for an error, else none",
                  (int)h->error_class);
}

/* The success goes into the line of the one who writes, behind a cutoff that was asked for while the disk was full. */
static void ok_in_hand(check *c, check_person *p, const dn_happening *h) {
    const bool    well = check_store_is_well(c);
    const int64_t cutoff = check_cutoff(p->due, h->day);
    /* Where messages take time a tick of about now may be before it, and find a disk that is full only then. */
    const bool crossed = c->config.lag_ms > 0 && h->at_ms >= cutoff - c->config.lag_ms;
    const bool behind =
        crossed ||
        (!well && ((c->ticked && c->tick_date == h->day && c->tick_wall_ms >= cutoff) ||
                   (c->full_tick_ms >= cutoff && check_date(c->full_tick_ms) == h->day)));

    if (!check_lives(p)) {
        /* Nothing will be written, and nothing said; but its id is busy until then. */
        if (well) is_idle(c, p, h->registration);
        else c->gone_oks++;
        return;
    }
    const bool apart = !well || c->config.lag_ms > 0;
    p->flags &= (uint16_t) ~(CHECK_BEHIND | CHECK_OK_APART);
    if (behind) p->flags |= CHECK_BEHIND;
    if (apart) {
        p->flags |= CHECK_OK_APART;
        c->users.records[h->registration].ok_ms = h->at_ms;
    }
    c->oks++;
    c->ok_n = (uint32_t)h->registration;
}

void check_stopped(check *c, const event *e) {
    if (!check_begins(c, e)) return;
    const dn_happening *h = e->h;
    check_person       *p = check_person_of(&c->users, h->registration);

    if (!p || p->state != CHECK_RUNNING) {
        check_say(c, CHECK_STOP, h->registration, h->day, "a stop, but no attempt was running");
        return;
    }
    judge_stop(c, p, h);
    run_ends(c, p);
    check_changed(c, h->registration);
    if (h->outcome == DN_OUTCOME_OK) {
        p->state = CHECK_OK_WAITS;
        ok_in_hand(c, p, h);
    } else {
        is_idle(c, p, h->registration);
    }
}

void check_ok_is_settled(check *c, check_person *p) {
    p->state = CHECK_IDLE;
    if (c->oks > 0) c->oks--;
}
