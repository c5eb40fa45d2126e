/* Runs of a scheduler that is as plain as it can be, drawn at random: the checker finds nothing in them; and with one
 * event left out, said twice or changed, it finds that.
 * The scheduler here goes from instant to instant, and at each looks at everything: no queue but a search, no timers. */
#include "check.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000)
#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)
#define NEVER  INT64_MIN

enum {
    IDS = 12,
    DAYS = 16, /* that may come up: from FIRST on */
    FIRST = 20450,
    RUN_DAYS = 3,
    STEP_MS = 5000, /* the instants there are */
    EVENTS_MAX = 400000,
    LINE_MAX = 500,
};

/* ---- What is drawn ---- */

typedef struct faults {
    bool crashes, steps, full, changes, actors;
} faults;

static int64_t pick(uint64_t *random, int64_t len) {
    return (int64_t)(test_random(random) % (uint64_t)len);
}
static bool one_in(uint64_t *random, int64_t len) { return pick(random, len) == 0; }

/* ---- The log ---- */

typedef struct entry {
    event        e;
    dn_happening h;
} entry;

typedef struct user {
    bool            exists, queued, running, ok_waits;
    uint64_t        n;
    uint32_t        due;
    dn_day          last_day, starts_on, recorded, day; /* day: that it is queued or runs for */
    dn_daily_status status;
    int64_t         last_run_ms, since_ms, until_ms; /* steady */
    uint32_t        epoch;
    dn_outcome      outcome;
    uint64_t        run_n;
    uint32_t        run_attempt;
    uint32_t        attempts[DAYS];
    int64_t         asked_ms[DAYS];
    uint64_t        order;
} user;

typedef struct written {
    int             id;
    uint64_t        n;
    dn_day          day;
    dn_daily_status status;
    int64_t         at_ms;
} written;

typedef struct world {
    check_config config;
    faults       faults;
    uint64_t     random;
    int64_t      now_ms, off_ms, fails_until_ms, back_ms; /* back_ms: NEVER: it is up */
    int64_t      whole_ms;                                /* when the actors are all there again */
    bool         works;                                   /* until then: all but the planner */
    user         users[IDS];
    uint64_t     numbers, orders;
    written      line[LINE_MAX];
    int          line_len;
    bool         full, fresh; /* fresh: something joined the line */
    uint32_t     enqueued, ignored, cutoffs;
    entry       *log;
    size_t       len;
} world;

static char ids[IDS][4] = {"u0", "u1", "u2", "u3", "u4",  "u5",
                           "u6", "u7", "u8", "u9", "u10", "u11"};

static int64_t wall(const world *w) { return w->config.start_ms + w->off_ms + w->now_ms; }
static dn_day  date(const world *w) { return (dn_day)(wall(w) / DAY); }

static void tell(world *w, event e) {
    CHECK(w->len < EVENTS_MAX);
    entry *at = &w->log[w->len++];

    e.t_ms = wall(w);
    e.steady_ms = w->now_ms;
    if (e.h) at->h = *e.h;
    at->e = e;
}

static void say(world *w, int id, dn_happening h) {
    h.at_ms = wall(w);
    if (id >= 0) {
        h.id = ids[id];
        h.id_len = (uint8_t)strlen(ids[id]);
        if (h.registration == 0) h.registration = w->users[id].n;
    }
    tell(w, (event){.kind = h.kind, .h = &h});
}
#define SAY(w, id, what, ...) say(w, id, (dn_happening){.kind = DN_HAPPENED_##what, __VA_ARGS__})

/* ---- The rule ---- */

static int64_t cutoff_of(const user *u, dn_day day) { return day * DAY + u->due * MINUTE; }
static int64_t start_of(const world *w, const user *u, dn_day day) {
    return cutoff_of(u, day) - w->config.window_minutes * MINUTE;
}
static bool is_final(const user *u, dn_day day) { return u->last_day >= day || day < u->starts_on; }

static bool is_failing(const world *w) { return w->now_ms < w->fails_until_ms; }

/* ---- Writing ---- */

static void write_one(world *w, const written *x) {
    user *u = &w->users[x->id];

    if (!u->exists || u->n != x->n) {
        if (x->status == DN_DAILY_SUCCESS) u->ok_waits = false;
        return;
    }
    if (x->status == DN_DAILY_MISSED) {
        if (is_final(u, x->day) || u->recorded >= x->day) return; /* a write that stood before it */
        SAY(w, x->id, MISSED, .day = x->day, .due = u->due);
        u->recorded = x->day;
        return;
    }
    if (x->status == DN_DAILY_SUCCESS) u->ok_waits = false;
    if (is_final(u, x->day)) {
        if (x->status == DN_DAILY_SUCCESS)
            SAY(w, x->id, LATE_SUCCESS, .day = x->day, .due = u->due);
        return;
    }
    if (x->status == DN_DAILY_CUTOFF && wall(w) < cutoff_of(u, x->day)) return;
    u->last_day = x->day;
    if (u->recorded < x->day) u->recorded = x->day;
    u->status = x->status;
    if (x->status == DN_DAILY_SUCCESS) u->last_run_ms = x->at_ms;
    else u->epoch++;
    SAY(w, x->id, FINALIZED, .day = x->day, .due = u->due, .status = x->status);
}

static void commit(world *w) {
    if (w->line_len == 0) return;
    if (is_failing(w)) {
        if (!w->full) SAY(w, -1, STORE_FAILED);
        w->full = true;
        return;
    }
    if (w->full) SAY(w, -1, STORE_WELL);
    w->full = false;
    for (int i = 0; i < w->line_len; i++) write_one(w, &w->line[i]);
    w->line_len = 0;
}

static void join(world *w, written x) {
    for (int i = 0; i < w->line_len; i++)
        if (w->line[i].n == x.n && w->line[i].day == x.day && w->line[i].status == x.status) return;
    CHECK(w->line_len < LINE_MAX);
    w->line[w->line_len++] = x;
    w->fresh = true;
}

/* ---- What happens to the process ---- */

static void forget(world *w) {
    for (int i = 0; i < IDS; i++) {
        user *u = &w->users[i];
        u->queued = u->running = u->ok_waits = false;
        memset(u->attempts, 0, sizeof u->attempts);
        for (int d = 0; d < DAYS; d++) u->asked_ms[d] = NEVER;
    }
    w->line_len = 0;
    w->full = false;
    w->whole_ms = w->now_ms;
    w->enqueued = w->ignored = w->cutoffs = 0;
}

/* An actor restarts with every actor that stands before it: kv, executions, executor, queue, tick. A new queue remembers
 * nothing but the successes that wait in kv. */
static void actor_crashes(world *w) {
    static const char *const names[] = {"tick", "queue", "executor", "executions", "kv"};
    const int64_t            which = pick(&w->random, 5);

    tell(w, (event){.kind = EVENT_ACTOR_CRASH, .name = names[which]});
    for (int i = 0; i < IDS && which > 0; i++) {
        user *u = &w->users[i];
        u->running = u->queued = false;
        memset(u->attempts, 0, sizeof u->attempts);
        for (int d = 0; d < DAYS; d++) u->asked_ms[d] = NEVER;
        if (which == 4) u->ok_waits = false;
    }
    if (which == 4) {
        w->line_len = 0;
        w->full = false;
    }
    w->works = which == 0;
    w->whole_ms = w->now_ms + STEP_MS * (1 + pick(&w->random, 2));
}

static void put(world *w, int id) {
    user    *u = &w->users[id];
    uint32_t due = (uint32_t)pick(&w->random, 1440);

    if (one_in(&w->random, 3)) due = (uint32_t)pick(&w->random, 3) * 480;
    if (one_in(&w->random, 3)) due = (uint32_t)((wall(w) / MINUTE + pick(&w->random, 30)) % 1440);
    if (!u->exists) {
        u->exists = true;
        u->n = ++w->numbers;
        u->last_day = u->recorded = DN_DAY_NONE;
        u->status = DN_DAILY_NONE;
        u->last_run_ms = NEVER;
        u->epoch = 0;
        u->starts_on = date(w) + (one_in(&w->random, 3) ? 1 : 0);
        memset(u->attempts, 0, sizeof u->attempts);
    }
    u->due = due;
    SAY(w, id, SET, .due = u->due, .starts_on = u->starts_on);
}

static void leave(world *w, int id) {
    user *u = &w->users[id];

    SAY(w, id, REMOVED);
    u->exists = u->queued = false;
}

static void lines(world *w) {
    const faults *f = &w->faults;

    if (f->steps && one_in(&w->random, 3000)) {
        const int64_t steps[] = {HOUR, -HOUR, 30 * SECOND, -90 * SECOND, DAY, -DAY, 3 * HOUR};
        const int64_t ms = steps[pick(&w->random, 7)];
        if (wall(w) + ms > FIRST * DAY + DAY && wall(w) + ms < (FIRST + DAYS - 6) * DAY) {
            w->off_ms += ms;
            if (w->back_ms == NEVER) SAY(w, -1, CLOCK, .step_ms = ms);
        }
    }
    if (f->full && one_in(&w->random, 4000)) {
        const int64_t ms = (1 + pick(&w->random, 1800)) * SECOND;
        if (w->fails_until_ms < w->now_ms + ms) w->fails_until_ms = w->now_ms + ms;
        tell(w, (event){.kind = EVENT_STORE_FAILS, .for_ms = ms});
    }
    if (f->crashes && w->back_ms == NEVER && one_in(&w->random, 3000)) {
        tell(w, (event){.kind = EVENT_CRASH});
        forget(w);
        w->back_ms = w->now_ms + STEP_MS * (1 + pick(&w->random, 1000));
    }
    if (f->actors && w->back_ms == NEVER && w->now_ms >= w->whole_ms && one_in(&w->random, 3000))
        actor_crashes(w);
    if (w->back_ms != NEVER || is_failing(w) || w->full) return;
    if (!f->changes || !one_in(&w->random, 300)) return;
    const int id = (int)pick(&w->random, IDS);
    if (w->users[id].exists && one_in(&w->random, 3)) leave(w, id);
    else put(w, id);
}

/* ---- Jobs ---- */

static int running(const world *w) {
    int len = 0;

    for (int i = 0; i < IDS; i++) len += w->users[i].running;
    return len;
}

static void begin(world *w, int id) {
    user         *u = &w->users[id];
    const int64_t timeout = w->config.job_timeout_ms;

    u->queued = false;
    u->running = true;
    u->since_ms = w->now_ms;
    u->run_n = u->n;
    u->until_ms =
        w->now_ms + STEP_MS * pick(&w->random, one_in(&w->random, 2) ? 3 : timeout / STEP_MS);
    u->outcome = one_in(&w->random, 3) ? DN_OUTCOME_OK : DN_OUTCOME_ERROR;
    if (one_in(&w->random, 6)) {
        u->until_ms = w->now_ms + timeout;
        if (one_in(&w->random, 2)) u->outcome = DN_OUTCOME_TIMEOUT;
    }
    u->run_attempt = ++u->attempts[u->day - FIRST];
    SAY(w, id, STARTED, .day = u->day, .attempt = u->run_attempt);
}

static void hand_out(world *w) {
    for (;;) {
        int first = -1;
        for (int i = 0; i < IDS; i++) {
            const user *u = &w->users[i];
            if (!u->queued) continue;
            const user *b = first < 0 ? NULL : &w->users[first];
            if (!b || cutoff_of(u, u->day) < cutoff_of(b, b->day) ||
                (cutoff_of(u, u->day) == cutoff_of(b, b->day) && u->order < b->order))
                first = i;
        }
        if (first < 0 || running(w) >= (int)w->config.max_concurrency) return;
        user *u = &w->users[first];
        if (is_final(u, u->day) || wall(w) < start_of(w, u, u->day) ||
            wall(w) >= cutoff_of(u, u->day)) {
            u->queued = false;
            SAY(w, first, EXPIRED, .day = u->day);
        } else {
            begin(w, first);
        }
    }
}

static void finish(world *w, int id) {
    user *u = &w->users[id];

    u->running = false;
    SAY(w, id, STOPPED, .registration = u->run_n, .day = u->day, .outcome = u->outcome,
        .attempt = u->run_attempt, .duration_ms = w->now_ms - u->since_ms,
        .error_class = u->outcome == DN_OUTCOME_ERROR ? DN_CLASS_REQ : DN_CLASS_NONE);
    if (u->outcome == DN_OUTCOME_OK) {
        u->ok_waits = true;
        join(w, (written){id, u->run_n, u->day, DN_DAILY_SUCCESS, wall(w)});
        commit(w);
    }
    hand_out(w);
}

/* A job that takes no time ends at the instant it begins. */
static void finish_all(world *w) {
    for (bool any = true; any;) {
        any = false;
        for (int i = 0; i < IDS; i++)
            if (w->users[i].running && w->users[i].until_ms <= w->now_ms) {
                finish(w, i);
                any = true;
            }
    }
}

/* ---- A tick ---- */

static void try(world *w, int id, dn_day day) {
    user    *u = &w->users[id];
    int64_t *asked_ms = &u->asked_ms[day - FIRST];

    if (u->queued || u->running || u->ok_waits) {
        w->ignored++;
        SAY(w, id, IGNORED, .day = day, .reason = "dedupe");
    } else if (*asked_ms != NEVER &&
               w->now_ms < *asked_ms + w->config.retry_delay_minutes * MINUTE) {
        w->ignored++;
        SAY(w, id, IGNORED, .day = day, .reason = "throttle");
    } else {
        *asked_ms = w->now_ms;
        u->queued = true;
        u->day = day;
        u->order = ++w->orders;
        w->enqueued++;
        SAY(w, id, ENQUEUED, .day = day);
    }
}

static void plan(world *w, int id) {
    user        *u = &w->users[id];
    const dn_day t = date(w);

    for (dn_day d = u->starts_on; d < t; d++)
        if (!is_final(u, d) && d > u->recorded)
            join(w, (written){id, u->n, d, DN_DAILY_MISSED, wall(w)});
    if (!is_final(u, t) && wall(w) >= cutoff_of(u, t)) {
        w->cutoffs++;
        join(w, (written){id, u->n, t, DN_DAILY_CUTOFF, wall(w)});
    } else if (!is_final(u, t) && start_of(w, u, t) <= wall(w)) {
        try(w, id, t);
    } else if (is_final(u, t) && start_of(w, u, t + 1) <= wall(w) && !is_final(u, t + 1)) {
        try(w, id, t + 1);
    }
}

static void tick(world *w) {
    for (int i = 0; i < IDS; i++)
        if (w->users[i].exists) plan(w, i);
    SAY(w, -1, TICK, .eligible = w->enqueued + w->ignored, .enqueued = w->enqueued,
        .cutoffs = w->cutoffs);
    w->enqueued = w->ignored = w->cutoffs = 0;
    commit(w);
    hand_out(w);
    finish_all(w);
}

static void run(world *w) {
    forget(w);
    for (int i = 0; i < IDS - 1; i++) put(w, i);
    for (w->now_ms = 0; w->now_ms < RUN_DAYS * DAY; w->now_ms += STEP_MS) {
        const bool back = w->now_ms == w->back_ms;
        if (back) {
            w->back_ms = NEVER;
            tell(w, (event){.kind = EVENT_RESTART});
        }
        lines(w);
        if (w->back_ms != NEVER) continue;
        if (w->now_ms < w->whole_ms && !w->works) {
            commit(w);
            continue;
        }
        hand_out(w);
        finish_all(w);
        commit(w);
        if (w->now_ms < w->whole_ms) continue;
        if (back || w->now_ms == w->whole_ms || w->now_ms % w->config.tick_ms == 0) tick(w);
    }
}

/* ---- Looking at it ---- */

static world *drawn(uint64_t seed, faults f) {
    world *w = calloc(1, sizeof *w);

    CHECK(w);
    w->log = calloc(EVENTS_MAX, sizeof *w->log);
    CHECK(w->log);
    w->faults = f;
    w->random = seed;
    w->back_ms = NEVER;
    w->config = (check_config){
        .start_ms = (FIRST + 4) * DAY + pick(&w->random, 24) * HOUR,
        .ticks_stand_still = true,
        .tick_ms = one_in(&w->random, 4) ? 5 * MINUTE : MINUTE,
        .job_timeout_ms = one_in(&w->random, 2) ? MINUTE : (1 + pick(&w->random, 20)) * MINUTE,
        .window_minutes = one_in(&w->random, 3) ? (uint32_t)(1 + pick(&w->random, 1440)) : 60,
        .retry_delay_minutes = one_in(&w->random, 3) ? (uint32_t)pick(&w->random, 200) : 10,
        .max_concurrency = (uint32_t)(1 + pick(&w->random, 4)),
    };
    run(w);
    return w;
}

static void drop(world *w) {
    free(w->log);
    free(w);
}

static check *begun(const world *w) {
    check *c;

    CHECK_INT(check_new(&w->config, &c), DN_OK);
    return c;
}

static void show(check *c, const entry *x) {
    event e = x->e;

    if (e.h) e.h = &x->h;
    check_event(c, &e);
}

static void ends(check *c, const world *w) {
    for (int i = 0; i < IDS; i++) {
        const user       *u = &w->users[i];
        const check_final f = {u->n,      u->due,         u->last_day, u->starts_on,
                               u->status, u->last_run_ms, u->epoch};
        if (u->exists) check_user(c, &f);
    }
    CHECK_INT(check_end(c, RUN_DAYS * DAY), DN_OK);
}

static void nothing_is_found(const world *w) {
    check             *c = begun(w);
    const char *const *texts;

    for (size_t i = 0; i < w->len; i++) show(c, &w->log[i]);
    ends(c, w);
    const size_t len = check_violations(c, &texts);
    CHECK_MSG(len == 0, "W %u, R %u, K %u, tick %lld: %s", w->config.window_minutes,
              w->config.retry_delay_minutes, w->config.max_concurrency,
              (long long)w->config.tick_ms, texts[0]);
    check_free(c);
}

static void runs_keep_every_rule(faults f) {
    uint64_t seed = test_seed();

    for (int i = 0; i < 60 / TEST_SLOW_FACTOR; i++) {
        world *w = drawn(test_random(&seed), f);
        nothing_is_found(w);
        drop(w);
    }
}

TEST(a_run_without_faults_keeps_every_rule) { runs_keep_every_rule((faults){0}); }
TEST(a_run_with_crashes_keeps_every_rule) { runs_keep_every_rule((faults){.crashes = true}); }
TEST(a_run_with_clock_steps_keeps_every_rule) { runs_keep_every_rule((faults){.steps = true}); }
TEST(a_run_with_a_full_disk_keeps_every_rule) { runs_keep_every_rule((faults){.full = true}); }
TEST(a_run_with_users_that_come_and_go_keeps_every_rule) {
    runs_keep_every_rule((faults){.changes = true});
}
TEST(a_run_with_actors_that_crash_keeps_every_rule) {
    runs_keep_every_rule((faults){.actors = true});
}
TEST(a_run_with_all_of_it_keeps_every_rule) {
    runs_keep_every_rule(
        (faults){.crashes = true, .steps = true, .full = true, .changes = true, .actors = true});
}

/* ---- And breaks them, one event left out, said twice or changed ---- */

typedef enum change {
    LEFT_OUT,
    TWICE,
    OF_ANOTHER_DAY,
    OF_ANOTHER_USER,
    WITH_ANOTHER_NUMBER
} change;

/* Is it found, wherever it happens? A registration may be followed by another before anybody is due, a disk that
 * fails need not be written to, and a success or a throttle may be forgotten in a crash. */
static bool is_always_found(unsigned kind, change how) {
    switch (kind) {
    case DN_HAPPENED_TICK: return how == LEFT_OUT || how == TWICE || how == WITH_ANOTHER_NUMBER;
    case DN_HAPPENED_IGNORED: return how != OF_ANOTHER_USER; /* who may be ignored just as well */
    case DN_HAPPENED_ENQUEUED:
    case DN_HAPPENED_EXPIRED:
    case DN_HAPPENED_FINALIZED:
    case DN_HAPPENED_LATE_SUCCESS: return true;
    case DN_HAPPENED_MISSED: return how != LEFT_OUT; /* the clock may step back into the day */
    case DN_HAPPENED_STARTED:
    case DN_HAPPENED_STOPPED: return true;
    case DN_HAPPENED_REMOVED: return how == TWICE;
    case DN_HAPPENED_CLOCK: return how == LEFT_OUT || how == TWICE || how == WITH_ANOTHER_NUMBER;
    case EVENT_CRASH:
    case EVENT_RESTART: return how == LEFT_OUT || how == TWICE;
    default: return false;
    }
}

/* Was the user removed before that event? Then nothing is written for it, whatever its attempt comes to. */
static bool is_of_nobody(const world *w, size_t at) {
    for (size_t i = 0; i < at; i++)
        if (w->log[i].e.kind == DN_HAPPENED_REMOVED &&
            w->log[i].h.registration == w->log[at].h.registration)
            return true;
    return false;
}

/* False: that cannot be done to it. of_nobody: only the duration of a stop can be wrong. */
static bool changed(entry *x, change how, bool of_nobody) {
    dn_happening *h = &x->h;

    if (how == LEFT_OUT || how == TWICE) return true;
    if (how == OF_ANOTHER_DAY) h->day++;
    if (how == OF_ANOTHER_USER) h->registration++;
    if (how != WITH_ANOTHER_NUMBER) return true;
    switch (h->kind) {
    case DN_HAPPENED_TICK: h->enqueued++; return true;
    case DN_HAPPENED_IGNORED: h->reason = *h->reason == 'd' ? "throttle" : "dedupe"; return true;
    case DN_HAPPENED_STARTED: h->attempt++; return true;
    case DN_HAPPENED_STOPPED:
        if (h->attempt % 2 || of_nobody) h->duration_ms++;
        else h->outcome = h->outcome == DN_OUTCOME_OK ? DN_OUTCOME_TIMEOUT : DN_OUTCOME_OK;
        return true;
    case DN_HAPPENED_FINALIZED:
        if (h->due % 2) h->due--;
        else h->status = h->status == DN_DAILY_SUCCESS ? DN_DAILY_CUTOFF : DN_DAILY_SUCCESS;
        return true;
    case DN_HAPPENED_CLOCK: h->step_ms++; return true;
    default: return false;
    }
}

static void is_found(const world *w, size_t at, change how) {
    entry  x = w->log[at];
    check *c;

    if (!is_always_found(x.e.kind, how) || !changed(&x, how, is_of_nobody(w, at))) return;
    c = begun(w);
    for (size_t i = 0; i < at; i++) show(c, &w->log[i]);
    for (int k = how == LEFT_OUT ? 0 : how == TWICE ? 2 : 1; k > 0; k--) show(c, &x);
    for (size_t i = at + 1; i < w->len; i++) show(c, &w->log[i]);
    ends(c, w);
    CHECK_MSG(check_violations_len(c) > 0,
              "nothing is found, with event %zu of %zu changed (%d): kind %u, n %llu", at, w->len,
              (int)how, x.e.kind, (unsigned long long)x.h.registration);
    check_free(c);
}

/* With a crash behind it much may be forgotten that would have come to light: faults without crashes, therefore, and not
 * the last of a run. */
static void each_is_found(change how, faults f) {
    uint64_t seed = test_seed();

    for (int i = 0; i < 20 / TEST_SLOW_FACTOR; i++) {
        world *w = drawn(test_random(&seed), f);
        for (int k = 0; k < 50; k++) is_found(w, (size_t)pick(&seed, (int64_t)w->len * 2 / 3), how);
        drop(w);
    }
}

static const faults all_but_crashes = {.steps = true, .full = true, .changes = true};

TEST(an_event_that_is_left_out_is_found) { each_is_found(LEFT_OUT, all_but_crashes); }
TEST(an_event_that_is_said_twice_is_found) { each_is_found(TWICE, all_but_crashes); }
TEST(an_event_of_another_day_is_found) { each_is_found(OF_ANOTHER_DAY, all_but_crashes); }
TEST(an_event_of_another_user_is_found) { each_is_found(OF_ANOTHER_USER, all_but_crashes); }
TEST(an_event_with_another_number_is_found) { each_is_found(WITH_ANOTHER_NUMBER, all_but_crashes); }
