/* check_own.h - the checker's own state, and what its parts know of each other. */
#ifndef DIURNAL_REPLAY_CHECK_OWN_H
#define DIURNAL_REPLAY_CHECK_OWN_H

#include "check.h"
#include "check_order.h"
#include "check_users.h"
#include "check_wheel.h"

enum { CHECK_TEXTS = 100, CHECK_TEXT = 400, CHECK_TALLIES = 4 };
enum { CHECK_RESTART_MS = 10000 }; /* actors that ended are there again */
#define CHECK_ALL UINT64_MAX /* instead of a user's number: it is about nobody in particular */

typedef struct check_run {
    int64_t  since_ms; /* steady */
    uint32_t n;        /* CHECK_NOBODY: free */
    uint32_t next_free;
} check_run;

/* How many users have a row for a day; never too many. */
typedef struct check_tally {
    dn_day   day;
    uint32_t len;
} check_tally;

/* A tick that was said, until all that comes of it must have been said too. */
typedef struct check_pending {
    bool     any, demands;   /* demands: nothing came between that would excuse it */
    bool     all;            /* everybody was looked at */
    bool     date;           /* it was the first of its date */
    int64_t  begun_ms;       /* steady */
    int64_t  said_ms;        /* steady */
    int64_t  from_ms, to_ms; /* wall: the tick before, and this one */
    dn_day   today;
    uint64_t cutoffs;
} check_pending;

struct check {
    check_config config;
    int64_t      window_ms, retry_ms;
    bool         starved; /* no memory: nothing more is looked at */

    int64_t now_ms, wall_ms; /* of the instant that is being told; steady, wall */
    dn_day  today;
    int64_t
        full_tick_ms; /* the latest tick, by the wall, while the store was not well; CHECK_NEVER */
    int64_t upset_ms; /* steady: the clock stepped, or an actor crashed, last */
    int64_t stepped_ms;     /* steady: the clock did, last */
    int64_t before_step_ms; /* wall: the latest instant from which it did, since the last tick */
    int64_t unsaid_ms;      /* the clock stepped by so much that no event has told yet */

    check_users users;
    check_wheel wheel;
    check_order order;
    check_tally tallies[CHECK_TALLIES];
    int64_t    *changed_ms; /* by n; only if there is a lag */
    size_t      changed_cap;

    check_run *runs;
    size_t     runs_cap;
    uint32_t   runs_len, runs_free, running;
    int64_t    oldest_ms; /* none of the runs began before that */
    uint32_t   queued;
    int64_t  idle_ms; /* since when a slot is free and somebody waits; CHECK_NEVER: it is not so */
    uint32_t oks, ok_n, gone_oks;
    int64_t  ok_ms; /* likewise, an ok in hand and a store that is well */

    bool    up, shaken; /* shaken: an actor crashed, and no tick was said since */
    bool    mending;    /* one has, and who is new now has not been told yet */
    int64_t up_ms, shaken_ms;
    bool    full;    /* a commit failed, and none has succeeded since */
    int64_t well_ms; /* steady: when one did, last; CHECK_NEVER */
    int64_t fails_until_ms;

    bool          irregular; /* the next tick is to look at everybody */
    bool          stepped;   /* the clock did, since the last tick */
    bool          ticked;    /* since the process is up */
    int64_t       tick_ms, tick_wall_ms;
    dn_day        tick_date, latest_date; /* latest: any tick of this boot */
    uint64_t      enqueued, ignored;      /* since the last tick */
    uint64_t      cutoffs;                /* written since that was judged */
    bool          disturbed;              /* in this instant the store changed its mind */
    check_pending pending;
    uint32_t     *closing; /* to be judged with it */
    size_t        closing_len, closing_cap;

    uint32_t looked_at; /* at the end */

    uint64_t    counts[CHECK_RULES];
    uint32_t    texts_len;
    char        texts[CHECK_TEXTS][CHECK_TEXT];
    const char *text_list[CHECK_TEXTS];
};

/* check_say.c. What was seen, and what would be right. day: DN_DAY_NONE if it is about none. Cold: nearly every run is
 * as it had to be, and what leads here is to stand in nobody's way. */
void check_say(check *c, check_rule rule, uint64_t n, dn_day day, const char *format, ...)
    __attribute__((format(printf, 5, 6), cold));

/* check.c */
static inline bool check_store_is_well(const check *c) {
    return !c->full && c->now_ms >= c->fails_until_ms;
}
/* Something about this user was so new then that not everybody need have known it. */
static inline bool check_was_new(const check *c, uint64_t n, int64_t then_ms) {
    return c->config.lag_ms > 0 && n < c->changed_cap &&
           then_ms - c->changed_ms[n] <= c->config.lag_ms;
}
static inline bool check_is_new(const check *c, uint64_t n) {
    return check_was_new(c, n, c->now_ms);
}
/* Or of something about all that is so: a step of the clock, an actor that ended. */
static inline bool check_is_recent(const check *c, uint64_t n) {
    return check_is_new(c, n) ||
           (c->config.lag_ms > 0 && c->now_ms - c->upset_ms <= c->config.lag_ms);
}
void check_changed(check *c, uint64_t n);
void check_look_soon(check *c, uint64_t n, int64_t since_ms);
void check_excuse(check *c); /* what the last tick asked for may come to nothing */

/* An ok for that day, of an actor that ended, may still be on its way to the disk. */
static inline bool check_may_have_ok(const check_person *p, dn_day day) {
    return (p->days[0].day == day && (p->maybe_ok & 1U)) ||
           (p->days[1].day == day && (p->maybe_ok & 2U));
}
/* The same of that day or one behind it, which closes both: the clock may have stepped back. */
static inline bool check_may_be_closed(const check_person *p, dn_day day) {
    return (p->days[0].day >= day && (p->maybe_ok & 1U)) ||
           (p->days[1].day >= day && (p->maybe_ok & 2U));
}
static inline void check_has_no_ok(check_person *p, dn_day day) {
    for (unsigned i = 0; i < 2; i++)
        if (p->days[i].day == day) p->maybe_ok &= (uint8_t) ~(1U << i);
}

static inline bool check_is_closed(const check_person *p, dn_day day) {
    return day <= p->last_day || day < p->starts_on;
}
static inline bool check_is_open(const check *c, const check_person *p, dn_day day,
                                 int64_t wall_ms) {
    const int64_t cutoff = check_cutoff(p->due, day);

    return cutoff - c->window_ms <= wall_ms && wall_ms < cutoff;
}

/* check.c */
void check_time_is(check *c, const event *e);
void check_says_the_dead(check *c, const dn_happening *h);
/* An event of the actors begins: it is that instant, and they live. False: it is not looked at. */
static inline bool check_begins(check *c, const event *e) {
    if (__builtin_expect(c->starved, 0)) return false;
    if (e->steady_ms != c->now_ms || e->t_ms != c->wall_ms) check_time_is(c, e);
    if (__builtin_expect(c->up, 1)) return true;
    check_says_the_dead(c, e->h);
    return false;
}

/* check_job.c */
void                  check_on_ignored(check *c, const dn_happening *h);
void                  check_on_expired(check *c, const dn_happening *h);
static inline int64_t check_minute_of(const check_person *p) {
    return check_order_minute(p->due, p->days[0].day);
}
static inline void check_out_of_queue(check *c, check_person *p) {
    if (c->queued > 0) c->queued--;
    check_order_drop(&c->order, check_minute_of(p), p->days[0].asked_ms == c->now_ms);
    p->state = CHECK_IDLE;
}
void check_ok_is_settled(check *c, check_person *p);
void check_runs_end(check *c);     /* whoever ran them is gone */
void check_overdue_runs(check *c); /* every slot taken is given back */

/* check_day.c */
void check_on_late(check *c, const dn_happening *h);
void check_on_missed(check *c, const dn_happening *h);

/* check_tick.c */
void check_on_tick(check *c, const event *e);
void check_settle(check *c); /* the tick that was said last */
void check_drop(check *c);   /* that tick: what it asked for is lost */

#endif
