/* check.c - told one event after the other: which instant it is, who is alive, and to whom each event belongs.
 * Much can only be judged when an instant is over, for what it causes is told in any order: instant_ends. */
#include "check_own.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

enum { STORE_RETRY_MS = 5000, USERS_MOST = 1 << 30 };

/* ---- New ---- */

static bool is_sound(const check_config *f) {
    return f->tick_ms > 0 && f->tick_ms <= CHECK_DAY && f->window_minutes >= 1 &&
           f->window_minutes <= 1440 && f->retry_delay_minutes <= 1440 && f->max_concurrency > 0 &&
           f->job_timeout_ms > 0 && f->lag_ms >= 0;
}

int check_new(const check_config *config, check **out_check) {
    if (!is_sound(config)) return DN_EINVAL;
    check *c = calloc(1, sizeof *c);
    if (!c) return DN_ENOMEM;
    c->config = *config;
    c->window_ms = config->window_minutes * CHECK_MINUTE;
    c->retry_ms = config->retry_delay_minutes * CHECK_MINUTE;
    c->wall_ms = config->start_ms;
    c->today = check_date(c->wall_ms);
    c->upset_ms = c->stepped_ms = c->shaken_ms = INT64_MIN / 2;
    c->full_tick_ms = CHECK_NEVER;
    c->tick_date = c->latest_date = DN_DAY_NONE;
    c->up = c->irregular = true;
    c->idle_ms = c->ok_ms = c->fails_until_ms = c->well_ms = CHECK_NEVER;
    for (int i = 0; i < CHECK_TALLIES; i++) c->tallies[i].day = DN_DAY_NONE;
    check_users_init(&c->users);
    check_order_clear(&c->order);
    check_runs_end(c);
    if (check_wheel_init(&c->wheel, config->tick_ms, c->retry_ms) < 0) {
        check_free(c);
        return DN_ENOMEM;
    }
    *out_check = c;
    return DN_OK;
}

void check_free(check *c) {
    if (!c) return;
    check_users_done(&c->users);
    check_wheel_done(&c->wheel);
    free(c->changed_ms);
    free(c->runs);
    free(c->closing);
    free(c);
}

/* ---- For the parts ---- */

void check_changed(check *c, uint64_t n) {
    if (c->config.lag_ms == 0) return;
    if (n >= c->changed_cap) {
        size_t i = c->changed_cap;
        if (DN_ARRAY_RESERVE(c->changed_ms, c->changed_cap, (size_t)n + 1) < 0) {
            c->starved = true;
            return;
        }
        for (; i < c->changed_cap; i++) c->changed_ms[i] = INT64_MIN / 2;
    }
    c->changed_ms[n] = c->now_ms;
}

void check_look_soon(check *c, uint64_t n, int64_t since_ms) {
    if (check_wheel_soon(&c->wheel, (uint32_t)n, since_ms) < 0) c->starved = true;
}

void check_excuse(check *c) {
    c->pending.demands = false;
    c->irregular = c->disturbed = true;
}

/* ---- The end of an instant ---- */

static void judge_slots(check *c, int64_t next_ms) {
    if (!c->up || c->mending || c->queued == 0 || c->running >= c->config.max_concurrency) {
        c->idle_ms = CHECK_NEVER;
        return;
    }
    if (c->idle_ms == CHECK_NEVER) c->idle_ms = c->now_ms;
    if (c->idle_ms == INT64_MAX || next_ms - c->idle_ms <= c->config.lag_ms) return;
    check_say(
        c, CHECK_I2, CHECK_ALL, DN_DAY_NONE,
        "%u run of at most %u, and %u wait: right is that no slot is free while somebody waits",
        c->running, c->config.max_concurrency, c->queued);
    c->idle_ms = INT64_MAX; /* said once */
}

static void judge_oks(check *c, int64_t next_ms) {
    if (!c->up || c->mending || c->oks == 0 || !check_store_is_well(c)) {
        c->ok_ms = CHECK_NEVER;
        return;
    }
    if (c->ok_ms == CHECK_NEVER) c->ok_ms = c->now_ms;
    if (c->ok_ms == INT64_MAX || next_ms - c->ok_ms <= c->config.lag_ms) return;
    check_say(c, CHECK_I6, c->ok_n, DN_DAY_NONE,
              "an attempt was ok, the store is well, and nothing was written: right is success or "
              "a late success");
    c->ok_ms = INT64_MAX;
}

static void judge_order(check *c) {
    int64_t  minute, later;
    uint32_t n;
    char     instant[CHECK_INSTANT_TEXT];

    if (!check_order_ends(&c->order, &minute, &later, &n) || c->config.lag_ms > 0) return;
    check_say(c, CHECK_ORDER, n, (dn_day)check_floor(later, 1440),
              "it starts, while somebody with the cutoff %s still waits: right is the earliest "
              "cutoff first",
              check_instant_text(minute * CHECK_MINUTE, instant));
}

/* How long it may be until there is a tick. */
static int64_t tick_due_ms(const check *c) {
    const bool    strict = c->config.lag_ms == 0 && (c->config.ticks_stand_still || !c->stepped);
    const int64_t every = c->config.tick_ms;
    int64_t       due = c->ticked ? c->tick_ms + (strict ? every : 2 * every)
                                  : c->up_ms + (c->config.lag_ms == 0 ? 0 : 2 * every);

    /* Each step may put it off by as much as an interval. */
    if (c->stepped && !c->config.ticks_stand_still && due < c->upset_ms + every)
        due = c->upset_ms + every;
    if (c->shaken && due < c->shaken_ms + 2 * every + CHECK_RESTART_MS)
        due = c->shaken_ms + 2 * every + CHECK_RESTART_MS;
    return due + c->config.lag_ms;
}

static void judge_ticks(check *c, int64_t next_ms) {
    const int64_t due = tick_due_ms(c);

    if (!c->up || next_ms <= due) return;
    check_say(c, CHECK_I4, CHECK_ALL, DN_DAY_NONE,
              "no tick for %lld ms and more: right is one within %lld ms",
              (long long)(next_ms - (c->ticked ? c->tick_ms : c->up_ms)),
              (long long)(due - (c->ticked ? c->tick_ms : c->up_ms)));
    c->tick_ms = next_ms; /* said once for each that is missing */
    c->ticked = true;
    c->irregular = true;
}

static void judge_store(check *c, int64_t next_ms) {
    if (!c->full || c->fails_until_ms == CHECK_NEVER ||
        next_ms <= c->fails_until_ms + STORE_RETRY_MS + c->config.lag_ms)
        return;
    check_say(c, CHECK_I6, CHECK_ALL, DN_DAY_NONE,
              "the store has been well again for more than %d ms, and what waits was not written",
              STORE_RETRY_MS);
    c->fails_until_ms = CHECK_NEVER;
}

static void instant_ends(check *c, int64_t next_ms) {
    if (c->pending.any && next_ms > c->pending.said_ms + c->config.lag_ms) check_settle(c);
    judge_slots(c, next_ms);
    judge_oks(c, next_ms);
    judge_order(c);
    judge_ticks(c, next_ms);
    judge_store(c, next_ms);
    if (c->cutoffs > 0 && !c->pending.any && c->config.lag_ms == 0) {
        if (!c->disturbed && !c->shaken && check_store_is_well(c))
            check_say(c, CHECK_TICK, CHECK_ALL, DN_DAY_NONE,
                      "cutoffs were written, and there was no tick: right is at a tick");
        c->cutoffs = 0;
    }
    c->disturbed = false;
    if (c->unsaid_ms != 0 && c->up && !c->shaken && c->config.lag_ms == 0)
        check_say(c, CHECK_LOG, CHECK_ALL, DN_DAY_NONE,
                  "the wall clock stepped by %lld ms that no event tells of",
                  (long long)c->unsaid_ms);
    c->unsaid_ms = 0;
}

/* ---- Time ---- */

/* A planner that ended may have had a tick before the clock stepped, of which nobody has told; what it asked for may wait
 * for the disk. */
static void unsaid_tick(check *c) {
    const int64_t at_ms = c->before_step_ms;

    if (c->full_tick_ms < at_ms) c->full_tick_ms = at_ms;
    if (c->latest_date < check_date(at_ms)) c->latest_date = check_date(at_ms);
}

__attribute__((noinline)) void check_time_is(check *c, const event *e) {
    const int64_t until_ms = c->wall_ms + e->steady_ms - c->now_ms;
    const int64_t stepped_ms = e->t_ms - until_ms;

    if (e->steady_ms < c->now_ms) {
        check_say(c, CHECK_LOG, CHECK_ALL, DN_DAY_NONE, "steady time goes back by %lld ms",
                  (long long)(c->now_ms - e->steady_ms));
        return;
    }
    if (e->steady_ms > c->now_ms) instant_ends(c, e->steady_ms);
    c->now_ms = e->steady_ms;
    c->wall_ms = e->t_ms;
    c->today = check_date(e->t_ms);
    if (stepped_ms == 0) return;
    if (!c->stepped || c->before_step_ms < until_ms) c->before_step_ms = until_ms;
    c->irregular = c->stepped = true;
    c->upset_ms = c->stepped_ms = e->steady_ms;
    c->unsaid_ms += stepped_ms;
    if (c->shaken) unsaid_tick(c);
}

/* ---- Life ---- */

static void on_crash(check *c) {
    if (!c->up)
        check_say(c, CHECK_LOG, CHECK_ALL, DN_DAY_NONE, "a crash of a process that was down");
    c->up = c->full = c->shaken = c->mending = false;
    c->full_tick_ms = CHECK_NEVER;
    c->users.process = ++c->users.era;
    c->queued = 0;
    check_order_clear(&c->order);
    check_runs_end(c);
    check_excuse(c);
    check_drop(c);
}

static void on_restart(check *c) {
    if (c->up)
        check_say(c, CHECK_LOG, CHECK_ALL, DN_DAY_NONE, "a restart of a process that was up");
    c->up = true;
    c->up_ms = c->now_ms;
    c->ticked = false;
    c->latest_date = DN_DAY_NONE;
    c->irregular = true;
    c->unsaid_ms = 0; /* the clock of a machine on which nobody listened */
    c->enqueued = c->ignored = 0;
}

static void is_shaken(check *c) {
    if (c->stepped) unsaid_tick(c);
    c->shaken = true;
    c->shaken_ms = c->upset_ms = c->now_ms;
    check_excuse(c);
}

/* kv, executions, executor, queue, tick: each restarts all that stand after it. So with any of them but tick the queue's
 * memory is gone, and every run ends. */
static void on_actor_crash(check *c, const char *name) {
    is_shaken(c);
    c->mending = false;
    if (strcmp(name, "tick") == 0) return;
    c->users.era++;
    c->queued = 0;
    check_order_clear(&c->order);
    check_runs_end(c);
    if (strcmp(name, "kv") != 0) return;
    c->users.process = c->users.era; /* its line is gone, with every ok in it */
    c->full = false;
    c->full_tick_ms = CHECK_NEVER;
}

/* Until the next one is told some are new and some are not, and what they think of each other need not be so. */
static void on_actor_ends(check *c) {
    c->mending = true;
    is_shaken(c);
}

static void on_store_fails(check *c, int64_t for_ms) {
    if (c->fails_until_ms < c->now_ms + for_ms) c->fails_until_ms = c->now_ms + for_ms;
    check_excuse(c);
}

/* What a tick of just now asked for waits with the rest. */
static void on_store_failed(check *c) {
    if (c->ticked && c->now_ms - c->tick_ms <= c->config.lag_ms &&
        c->full_tick_ms < c->tick_wall_ms)
        c->full_tick_ms = c->tick_wall_ms;
    c->full = true;
    check_excuse(c);
}

/* Those who were removed while an ok was in hand are nobody's business any more. */
static void on_store_well(check *c) {
    c->full = false;
    c->well_ms = c->now_ms;
    check_excuse(c);
    for (uint32_t n = 0; c->gone_oks > 0 && n < c->users.end; n++) {
        check_person *p = check_person_of(&c->users, n);
        if (check_lives(p) || p->state != CHECK_OK_WAITS) continue;
        p->state = CHECK_IDLE;
        c->gone_oks--;
        if (c->users.records[n].heir != CHECK_NOBODY)
            check_look_soon(c, c->users.records[n].heir, c->now_ms);
    }
}

/* ---- Users ---- */

/* The earliest first day that a change may give. */
static dn_day least_first_day(const check *c, const check_person *p) {
    const dn_day open = p->last_day >= c->today ? p->last_day + 1 : c->today;

    return p->starts_on < open ? p->starts_on : open;
}

static void on_set(check *c, const dn_happening *h) {
    check_person *p = check_person_of(&c->users, h->registration);
    char          day[CHECK_DAY_TEXT];

    if (h->registration == 0 || h->registration >= USERS_MOST || h->due >= 1440) {
        check_say(c, CHECK_LOG, h->registration, DN_DAY_NONE,
                  "registered as number %llu, due at minute %u: no user is so",
                  (unsigned long long)h->registration, h->due);
        return;
    }
    if (!check_lives(p) && h->starts_on < c->today)
        check_say(c, CHECK_LOG, h->registration, DN_DAY_NONE,
                  "begins on %s: right is not before it is registered",
                  check_day_text(h->starts_on, day));
    if (check_lives(p) && h->starts_on < least_first_day(c, p))
        check_say(c, CHECK_LOG, h->registration, DN_DAY_NONE,
                  "begins on %s: right is not before today, nor before the day after the last one "
                  "that is finalized, unless it did",
                  check_day_text(h->starts_on, day));
    const bool queued = check_lives(p) && p->state == CHECK_QUEUED;
    if (queued) check_out_of_queue(c, p);
    if (check_users_put(&c->users, (uint32_t)h->registration, h->due, h->starts_on, h->id,
                        h->id_len) < 0) {
        c->starved = true;
        return;
    }
    if (queued) {
        p->state = CHECK_QUEUED;
        c->queued++;
        check_order_add(&c->order, check_order_minute(h->due, p->days[0].day));
    }
    c->users.records[h->registration].set_ms = (uint32_t)c->now_ms;
    check_changed(c, h->registration);
    check_look_soon(c, h->registration, c->now_ms);
}

/* One that was there before the run. */
static void on_user(check *c, const dn_user *u) {
    if (u->registration >= USERS_MOST ||
        check_users_put(&c->users, (uint32_t)u->registration, u->due, u->starts_on, u->id,
                        u->id_len) < 0) {
        c->starved = true;
        return;
    }
    check_person *p = check_person_of(&c->users, u->registration);
    check_record *r = &c->users.records[u->registration];
    p->last_day = u->last_day;
    p->recorded = u->recorded;
    if (u->status == DN_DAILY_SUCCESS) p->flags |= CHECK_SUCCESS;
    if (u->status == DN_DAILY_CUTOFF) p->flags |= CHECK_CUT;
    r->last_run_ms = u->last_run_ms;
    r->epoch = u->context_epoch;
    check_changed(c, u->registration);
    check_look_soon(c, u->registration, c->now_ms);
}

static void on_removed(check *c, const dn_happening *h) {
    check_person *p = check_person_of(&c->users, h->registration);

    if (!check_lives(p)) {
        check_say(c, CHECK_LOG, h->registration, DN_DAY_NONE, "removed, but there is no such user");
        return;
    }
    if (p->state == CHECK_QUEUED) check_out_of_queue(c, p);
    if (p->state == CHECK_OK_WAITS) {
        if (c->oks > 0) c->oks--;
        if (check_store_is_well(c)) p->state = CHECK_IDLE;
        else c->gone_oks++;
    }
    for (int i = 0; i < CHECK_TALLIES; i++) c->tallies[i].day = DN_DAY_NONE;
    if (check_users_remove(&c->users, (uint32_t)h->registration, c->now_ms, c->retry_ms) < 0)
        c->starved = true;
    c->users.records[h->registration].set_ms = (uint32_t)c->now_ms;
    check_changed(c, h->registration);
}

/* Its removal has been said, and took it out of the queue; unless it came there later, where messages take time. */
static void on_dropped(check *c, const dn_happening *h) {
    check_person *p = check_person_of(&c->users, h->registration);

    if (p && !check_lives(p) && p->state == CHECK_QUEUED) check_out_of_queue(c, p);
}

/* ---- Events ---- */

void check_says_the_dead(check *c, const dn_happening *h) {
    check_say(c, CHECK_LOG, h->registration, h->day,
              "something happened while the process was down");
}

static void on_happening(check *c, const event *e) {
    const dn_happening *h = e->h;

    switch (h->kind) {
    case DN_HAPPENED_TICK: check_on_tick(c, e); return;
    case DN_HAPPENED_IGNORED: check_on_ignored(c, h); return;
    case DN_HAPPENED_ENQUEUED: check_enqueued(c, e); return;
    case DN_HAPPENED_EXPIRED: check_on_expired(c, h); return;
    case DN_HAPPENED_STARTED: check_started(c, e); return;
    case DN_HAPPENED_STOPPED: check_stopped(c, e); return;
    case DN_HAPPENED_FINALIZED: check_finalized(c, e); return;
    case DN_HAPPENED_LATE_SUCCESS: check_on_late(c, h); return;
    case DN_HAPPENED_MISSED: check_on_missed(c, h); return;
    case DN_HAPPENED_SET: on_set(c, h); return;
    case DN_HAPPENED_REMOVED: on_removed(c, h); return;
    case DN_HAPPENED_DROPPED: on_dropped(c, h); return;
    case DN_HAPPENED_STORE_FAILED: on_store_failed(c); return;
    case DN_HAPPENED_STORE_WELL: on_store_well(c); return;
    case DN_HAPPENED_CLOCK: c->unsaid_ms -= h->step_ms; return;
    case DN_HAPPENED_TICK_BEGINS:
    case DN_HAPPENINGS: break;
    }
}

void check_event(check *c, const event *e) {
    if (c->starved) return;
    if (e->steady_ms != c->now_ms || e->t_ms != c->wall_ms) check_time_is(c, e);
    if (e->kind < DN_HAPPENINGS) {
        if (c->up || e->kind == DN_HAPPENED_CLOCK) on_happening(c, e);
        else check_says_the_dead(c, e->h);
        return;
    }
    switch (e->kind) {
    case EVENT_CRASH: on_crash(c); break;
    case EVENT_RESTART: on_restart(c); break;
    case EVENT_STORE_FAILS: on_store_fails(c, e->for_ms); break;
    case EVENT_USER: on_user(c, e->user); break;
    case EVENT_ACTOR_ENDS: on_actor_ends(c); break;
    case EVENT_ACTOR_CRASH: on_actor_crash(c, e->name); break;
    default: break; /* EVENT_SLO: watched elsewhere */
    }
}

int check_end(check *c, int64_t steady_ms) {
    if (c->starved) return DN_ENOMEM;
    if (steady_ms > c->now_ms) {
        instant_ends(c, steady_ms);
        c->wall_ms += steady_ms - c->now_ms;
        c->now_ms = steady_ms;
    }
    check_overdue_runs(c);
    if (c->looked_at > 0 && c->looked_at != c->users.live)
        check_say(c, CHECK_I5, CHECK_ALL, DN_DAY_NONE, "%u users in the store: right is %u",
                  c->looked_at, c->users.live);
    return c->starved ? DN_ENOMEM : DN_OK;
}
