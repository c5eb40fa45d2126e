/* draw.c - see draw.h. Every draw is made whether it is used or not where that costs nothing, so that a fault less does
 * not make a run another one altogether. */
#include "draw.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

#define MS_SECOND INT64_C(1000)
#define MS_MINUTE (60 * MS_SECOND)
#define MS_HOUR   (60 * MS_MINUTE)

enum { FIRST_DAY = 20513, NEAR_MS = 2, OPS_LEAST = 32 };

const char *const plan_actors[PLAN_ACTORS] = {"kv",   "queue",     "executions", "executor",
                                              "tick", "execution", "outbox"};

const char *plan_fault_name(plan_fault fault) {
    static const char *const names[PLAN_FAULTS] = {"crash", "actor", "delay",  "double", "slow",
                                                   "clock", "store", "outage", "users"};
    return names[fault];
}

/* ---- Drawing ---- */

uint64_t plan_random(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15U);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

static int64_t below(uint64_t *r, int64_t len) { return (int64_t)(plan_random(r) % (uint64_t)len); }
static bool    one_in(uint64_t *r, int64_t len) { return below(r, len) == 0; }
static int64_t between(uint64_t *r, int64_t least, int64_t most) {
    return least + below(r, most - least + 1);
}
static int64_t near_ms(uint64_t *r) { return between(r, -NEAR_MS, NEAR_MS); }

#define ONE_OF(r, ...)                                                                             \
    ((const int64_t[]){__VA_ARGS__}[below(                                                         \
        r, (int64_t)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)))])

/* ---- The plan's lists ---- */

static int add(plan *p, plan_op op) {
    if (DN_ARRAY_RESERVE(p->ops, p->ops_cap, p->ops_len + 1) < 0) return DN_ENOMEM;
    if (op.at_ms < 0) op.at_ms = 0;
    p->ops[p->ops_len++] = op;
    return DN_OK;
}

void plan_done(plan *p) {
    free(p->ops);
    free(p->answers);
    *p = (plan){0};
}

static void *copy_of(const void *rows, size_t size) {
    void *copy = malloc(size ? size : 1);

    if (copy && size) memcpy(copy, rows, size);
    return copy;
}

int plan_copy(const plan *from, plan *out_plan) {
    plan to = *from;

    to.ops = copy_of(from->ops, from->ops_len * sizeof *from->ops);
    to.ops_cap = from->ops_len;
    to.answers = copy_of(from->answers, from->answers_len * sizeof *from->answers);
    if (!to.ops || !to.answers) {
        plan_done(&to);
        return DN_ENOMEM;
    }
    *out_plan = to;
    return DN_OK;
}

/* What happens at one instant stays in the order in which it was drawn. */
static void sort_ops(plan *p) {
    for (size_t i = 1; i < p->ops_len; i++) {
        const plan_op op = p->ops[i];
        size_t        at = i;
        for (; at > 0 && p->ops[at - 1].at_ms > op.at_ms; at--) p->ops[at] = p->ops[at - 1];
        p->ops[at] = op;
    }
}

/* ---- Settings ---- */

static void draw_settings(plan *p, uint64_t *r, uint32_t days) {
    trace_settings *s = &p->settings;
    const int64_t   day_ms = (FIRST_DAY + below(r, 300)) * DN_DAY_MS;

    *s = (trace_settings){
        .start_ms = day_ms,
        .tick_ms = MS_MINUTE,
        .window_minutes = one_in(r, 3) ? between(r, 1, 1440) : 60,
        .retry_delay_minutes = one_in(r, 3) ? between(r, 0, 200) : 10,
        .max_concurrency = one_in(r, 2) ? between(r, 1, 3) : between(r, 1, 8),
        .job_timeout_ms = MS_MINUTE,
        .ledger_days = 35,
        .slo_eval_ms = MS_HOUR,
        .slo_window_minutes = 15,
        .breach_consecutive = 3,
        .sat_ratio = 0.8,
        .depth_avg_max = 10000,
        .job_p95_max_ms = 30000,
        .cutoff_rate_max = 0.01,
        .otherwise = {.result = ANSWER_OK, .duration_ms = 500},
    };
    switch (below(r, 4)) {
    case 0: break;
    case 1: s->start_ms += below(r, 1440) * MS_MINUTE; break;
    case 2: s->start_ms += 1439 * MS_MINUTE; break;
    default: s->start_ms += below(r, DN_DAY_MS); break;
    }
    s->end_ms = s->start_ms + days * DN_DAY_MS;
    p->calm_ms = (days - 1) * DN_DAY_MS;
    /* Most of what a run costs are its ticks, and what can go wrong goes wrong between few of them as well. */
    if (!one_in(r, 6)) s->tick_ms = MS_MINUTE * ONE_OF(r, 5, 5, 7, 10, 10, 15, 20, 30, 60);
    else if (one_in(r, 16)) s->tick_ms = MS_SECOND * ONE_OF(r, 30, 45);
    if (one_in(r, 2)) s->job_timeout_ms = one_in(r, 2) ? MS_SECOND : between(r, 1, 60) * MS_MINUTE;
    if (s->job_timeout_ms > s->window_minutes * MS_MINUTE)
        s->job_timeout_ms = s->window_minutes * MS_MINUTE;
}

/* Minutes at which much comes together: one that all share, those around midnight, or any. */
static uint32_t draw_due(const plan *p, uint64_t *r) {
    uint64_t      shared = p->seed;
    const int64_t together = below(&shared, 1440);

    switch (below(r, 4)) {
    case 0: return (uint32_t)together;
    case 1: return (uint32_t)((together + between(r, 0, 3)) % 1440);
    case 2: return (uint32_t)ONE_OF(r, 0, 0, 1, 20, 59, 60, 1380, 1430, 1439);
    default: return (uint32_t)below(r, 1440);
    }
}

/* ---- Instants ---- */

static uint32_t due_of(const plan *p, uint32_t user) {
    for (size_t i = 0; i < p->ops_len; i++)
        if (p->ops[i].kind == PLAN_USER && p->ops[i].user == user) return p->ops[i].due;
    return 0;
}

/* Near a cutoff, the beginning of a window, a tick, midnight, or anywhere, before the calm. */
static int64_t draw_instant(const plan *p, uint64_t *r) {
    const trace_settings *s = &p->settings;
    const int64_t         due = due_of(p, (uint32_t)below(r, p->users));
    const int64_t         day_ms = below(r, p->calm_ms / DN_DAY_MS + 1) * DN_DAY_MS;
    const int64_t         midnight_ms = s->start_ms - s->start_ms % DN_DAY_MS + day_ms;
    const int64_t         cutoff_ms = midnight_ms + due * MS_MINUTE;
    int64_t               at_ms = 0;

    switch (below(r, 8)) {
    case 0:
    case 1: at_ms = cutoff_ms + near_ms(r); break;
    case 2: at_ms = cutoff_ms - below(r, s->job_timeout_ms + 1); break;
    case 3: at_ms = cutoff_ms - s->window_minutes * MS_MINUTE + near_ms(r); break;
    case 4: at_ms = cutoff_ms - below(r, s->window_minutes * MS_MINUTE); break;
    case 5: at_ms = midnight_ms + near_ms(r); break;
    case 6:
        at_ms = s->start_ms + below(r, p->calm_ms);
        at_ms += near_ms(r) - at_ms % s->tick_ms;
        break;
    default: at_ms = s->start_ms + below(r, p->calm_ms); break;
    }
    at_ms -= s->start_ms;
    return at_ms < 0 || at_ms >= p->calm_ms ? below(r, p->calm_ms) : at_ms;
}

/* Most are short; some are as long as half an hour. Over by the time of the calm. */
static int64_t draw_length(const plan *p, uint64_t *r, int64_t at_ms) {
    const int64_t most[] = {1, 100, MS_SECOND, MS_MINUTE, 10 * MS_MINUTE, 30 * MS_MINUTE};
    int64_t       ms = 1 + below(r, most[below(r, 6)]);

    if (one_in(r, 8)) ms += p->settings.tick_ms - ms % p->settings.tick_ms + near_ms(r);
    if (ms > p->calm_ms - at_ms) ms = p->calm_ms - at_ms;
    return ms > 0 ? ms : 1;
}

/* The first tick that sees a window open, or its cutoff come, if no step moves them. */
static int64_t draw_deciding_tick(const plan *p, uint64_t *r, uint32_t user) {
    const trace_settings *s = &p->settings;
    const int64_t         day_ms = below(r, p->calm_ms / DN_DAY_MS + 1) * DN_DAY_MS;
    int64_t at_ms = s->start_ms - s->start_ms % DN_DAY_MS + day_ms + due_of(p, user) * MS_MINUTE;

    if (one_in(r, 2)) at_ms -= s->window_minutes * MS_MINUTE;
    at_ms += s->tick_ms - 1 - (at_ms - 1) % s->tick_ms - s->start_ms;
    return at_ms < 0 || at_ms >= p->calm_ms ? below(r, p->calm_ms) : at_ms;
}

/* ---- Faults ---- */

static int add_crashes(plan *p, uint64_t *r) {
    int rc = DN_OK;

    for (int64_t i = between(r, 1, 5); rc == DN_OK && i > 0; i--) {
        plan_op op = {.kind = PLAN_CRASH, .at_ms = draw_instant(p, r)};
        if (one_in(r, 2)) op.kind = PLAN_CRASH_SOON;
        if (one_in(r, 3)) op.kind = PLAN_COMMIT;
        op.how = one_in(r, 2) ? PLAN_CRASH_BEFORE : PLAN_CRASH_AFTER;
        op.nth = (uint32_t)(op.kind == PLAN_COMMIT ? between(r, 1, 3)
                            : one_in(r, 2)         ? between(r, 1, 60)
                                                   : between(r, 1, 1000));
        op.ms = draw_length(p, r, op.at_ms);
        rc = add(p, op);
    }
    return rc;
}

static int add_actor_crashes(plan *p, uint64_t *r) {
    int rc = DN_OK;

    for (int64_t i = between(r, 1, 6); rc == DN_OK && i > 0; i--)
        rc = add(p, (plan_op){.kind = PLAN_ACTOR_CRASH,
                              .at_ms = draw_instant(p, r),
                              .how = (uint8_t)below(r, PLAN_HOOKS),
                              .nth = (uint32_t)between(r, 1, one_in(r, 2) ? 4 : 30)});
    return rc;
}

/* A step, and mostly one back. */
static int add_steps(plan *p, uint64_t *r) {
    int rc = DN_OK;

    for (int64_t i = between(r, 1, 3); rc == DN_OK && i > 0; i--) {
        plan_op op = {.kind = PLAN_CLOCK, .at_ms = draw_instant(p, r)};
        op.ms = ONE_OF(r, 1, 30 * MS_SECOND, MS_MINUTE, MS_HOUR, DN_DAY_MS,
                       MS_MINUTE * p->settings.window_minutes, below(r, 3 * MS_HOUR) + 1,
                       p->settings.tick_ms);
        if (one_in(r, 2)) op.ms = -op.ms;
        rc = add(p, op);
        op.at_ms += draw_length(p, r, op.at_ms);
        op.ms = -op.ms + (one_in(r, 3) ? near_ms(r) : 0);
        if (rc == DN_OK && op.ms != 0 && !one_in(r, 5)) rc = add(p, op);
    }
    return rc;
}

static int add_store_faults(plan *p, uint64_t *r) {
    int rc = DN_OK;

    for (int64_t i = between(r, 1, 4); rc == DN_OK && i > 0; i--) {
        plan_op op = {.kind = PLAN_STORE_FAILS, .at_ms = draw_instant(p, r)};
        op.ms = draw_length(p, r, op.at_ms);
        op.how = one_in(r, 2) ? PLAN_ERROR_BEFORE : PLAN_ERROR_AFTER;
        op.nth = (uint32_t)between(r, 1, 3);
        if (one_in(r, 4)) op.kind = PLAN_COMMIT;
        rc = add(p, op);
    }
    return rc;
}

static int add_outages(plan *p, uint64_t *r) {
    int rc = DN_OK;

    for (int64_t i = between(r, 1, 4); rc == DN_OK && i > 0; i--) {
        plan_op op = {.kind = PLAN_OUTAGE, .at_ms = draw_instant(p, r)};
        op.ms = MS_SECOND + below(r, one_in(r, 2) ? 30 * MS_MINUTE : MS_MINUTE);
        op.at_ms -= below(r, op.ms); /* over the instant, and not behind it */
        op.how = (uint8_t)below(r, PLAN_OUTAGES);
        op.nth = (uint32_t)between(r, 1, 3);
        op.user = (uint32_t)below(r, op.nth);
        rc = add(p, op);
    }
    return rc;
}

static int add_changes(plan *p, uint64_t *r) {
    int rc = DN_OK;

    for (int64_t i = between(r, 1, 2 + p->users); rc == DN_OK && i > 0; i--) {
        plan_op    op = {.kind = PLAN_USER,
                         .at_ms = draw_instant(p, r),
                         .user = (uint32_t)below(r, p->users),
                         .due = draw_due(p, r)};
        const bool goes = one_in(r, 2), returns = one_in(r, 2);
        if (goes) op.kind = PLAN_REMOVE;
        rc = add(p, op);
        op.kind = PLAN_USER;
        op.at_ms += one_in(r, 2) ? below(r, 3) : draw_length(p, r, op.at_ms);
        if (rc == DN_OK && goes && returns && op.at_ms < p->calm_ms) rc = add(p, op);
    }
    return rc;
}

/* Another due, or none any more, on its way to the planner while that decides about the old one. */
static int add_crossing(plan *p, uint64_t *r) {
    const uint32_t user = (uint32_t)below(r, p->users);
    const int64_t  lead_ms = below(r, ONE_OF(r, 1, 2, 2, 6, 50));
    plan_op        op = {.kind = PLAN_USER,
                         .at_ms = draw_deciding_tick(p, r, user) - lead_ms,
                         .user = user,
                         .due = (due_of(p, user) + (uint32_t)between(r, 1, 200)) % 1440};

    if (one_in(r, 4)) op.kind = PLAN_REMOVE;
    return add(p, op);
}

/* An actor ends while what another one has decided is on its way to the disk, or waits for it. */
static int add_end_with_ok(plan *p, uint64_t *r) {
    plan_op full = {.kind = PLAN_STORE_FAILS,
                    .at_ms = draw_deciding_tick(p, r, (uint32_t)below(r, p->users))};
    plan_op ends = {
        .kind = PLAN_ACTOR_CRASH, .at_ms = full.at_ms, .nth = (uint32_t)between(r, 1, 8)};

    ends.how = (uint8_t)between(r, 1, PLAN_HOOKS - 2);
    full.ms = draw_length(p, r, full.at_ms);
    ends.at_ms += one_in(r, 2) ? near_ms(r) : below(r, full.ms);
    const int rc = add(p, ends);
    return rc == DN_OK && !one_in(r, 4) ? add(p, full) : rc;
}

/* The clock steps while what was decided at a tick is on its way to a task, and goes back later. */
static int add_step_on_the_way(plan *p, uint64_t *r) {
    const int64_t tick_ms = draw_deciding_tick(p, r, (uint32_t)below(r, p->users));
    plan_op       op = {.kind = PLAN_CLOCK,
                        .at_ms = tick_ms + below(r, ONE_OF(r, 1, 2, 6, 50)),
                        .ms = ONE_OF(r, 1, 1000, MS_MINUTE, MS_HOUR)};

    if (!one_in(r, 3)) op.ms = -op.ms;
    const int rc = add(p, op);
    op.at_ms += draw_length(p, r, op.at_ms);
    op.ms = -op.ms;
    return rc == DN_OK ? add(p, op) : rc;
}

/* Two things at once that are rare together, where one guard alone stands between them and a wrong end. */
static int add_close_calls(plan *p, uint64_t *r, uint32_t on) {
    const bool ends = on & 1U << PLAN_ACTOR_FAULT && on & 1U << PLAN_STORE_FAULT;
    int        rc = DN_OK;

    for (int64_t i = between(r, 1, 16); rc == DN_OK && i > 0; i--) {
        const int64_t which = below(r, 3);
        if (which == 0 && on & 1U << PLAN_USERS_FAULT) rc = add_crossing(p, r);
        else if (which == 1 && on & 1U << PLAN_CLOCK_FAULT) rc = add_step_on_the_way(p, r);
        else if (which == 2 && ends) rc = add_end_with_ok(p, r);
    }
    return rc;
}

static int draw_hooks(plan *p, uint64_t *r, uint32_t on) {
    int rc = DN_OK;

    p->hooks = one_in(r, 4);
    for (int64_t i = between(r, 0, 3); rc == DN_OK && p->hooks && i > 0; i--) {
        const plan_op ends = {.kind = PLAN_ACTOR_CRASH,
                              .at_ms = draw_instant(p, r),
                              .how = PLAN_HOOKS,
                              .nth = (uint32_t)between(r, 1, 8)};
        if (on & 1U << PLAN_ACTOR_FAULT) rc = add(p, ends);
    }
    return rc;
}

/* Who is told, while there, to begin tomorrow. */
static int add_first_days(plan *p, uint64_t *r) {
    int rc = DN_OK;

    for (int64_t i = between(r, 1, 3); rc == DN_OK && i > 0; i--) {
        const uint32_t user = (uint32_t)below(r, p->users);
        plan_op        op = {.kind = PLAN_USER,
                             .at_ms = one_in(r, 2) ? 0 : draw_instant(p, r),
                             .user = user,
                             .due = due_of(p, user)};
        op.ms = (p->settings.start_ms + op.at_ms) / DN_DAY_MS + 1;
        rc = add(p, op);
    }
    return rc;
}

/* Many are due together, more than there are slots, for their jobs take long and come to nothing; and some of them are
 * due otherwise while they wait, or come when the others have been tried. */
static int add_crowd(plan *p, uint64_t *r, uint32_t on) {
    const trace_settings *s = &p->settings;
    const uint32_t        due = due_of(p, (uint32_t)below(r, p->users));
    const int64_t         window_ms = s->window_minutes * MS_MINUTE;
    const int64_t         day_ms = below(r, p->calm_ms / DN_DAY_MS + 1) * DN_DAY_MS;
    const int64_t         opens_ms = day_ms + due * MS_MINUTE - window_ms - s->start_ms % DN_DAY_MS;
    int                   rc = DN_OK;

    if (on & 1U << PLAN_OUTAGE_FAULT)
        rc = add(p, (plan_op){.kind = PLAN_OUTAGE,
                              .at_ms = opens_ms,
                              .ms = window_ms,
                              .how = PLAN_FAILS_LATE,
                              .nth = 1});
    for (int64_t i = between(r, 2, p->users + 1); rc == DN_OK && i > 0; i--)
        rc = add(p, (plan_op){.kind = PLAN_USER,
                              .at_ms = opens_ms - below(r, MS_HOUR),
                              .user = (uint32_t)below(r, p->users),
                              .due = (due + (uint32_t)below(r, 3)) % 1440});
    for (int64_t i = between(r, 1, 6); rc == DN_OK && i > 0; i--)
        rc =
            add(p, (plan_op){.kind = PLAN_USER,
                             .at_ms = opens_ms + below(r, window_ms),
                             .user = (uint32_t)below(r, p->users),
                             .due = (due + (uint32_t)ONE_OF(r, 0, 0, 1, 2, below(r, 200))) % 1440});
    return rc;
}

/* A planner ends when it has asked for what is another thing meanwhile, and before it can tell of that. */
static int add_end_of_planner(plan *p, uint64_t *r) {
    int rc = DN_OK;

    for (int64_t i = between(r, 1, 4); rc == DN_OK && i > 0; i--) {
        rc = add_crossing(p, r);
        if (rc < 0) return rc;
        const plan_op crossing = p->ops[p->ops_len - 1];
        rc = add(p, (plan_op){.kind = PLAN_ACTOR_CRASH,
                              .at_ms = crossing.at_ms,
                              .how = PLAN_TICK,
                              .nth = (uint32_t)between(r, 1, 6)});
    }
    return rc;
}

/* The way of a word gets longer with small slices, pages and transactions, so these need runs without delays. */
static void draw_bounds(plan *p, uint64_t *r) {
    const bool            small = one_in(r, 2);
    const bool            shortest = small && p->lag_ms == 0;
    const dn_daily_bounds daily = {
        .slice_looks = (uint32_t)ONE_OF(r, 1, 2, 5, 60),
        .slice_plans = (uint32_t)ONE_OF(r, 1, 2, 5),
        .plans = (uint32_t)ONE_OF(r, 1, 2, 3),
        .page_users = (uint32_t)ONE_OF(r, 1, 2, 3, 7),
        .lookups = (uint32_t)ONE_OF(r, 1, 2, 3),
        .expired = (uint32_t)ONE_OF(r, 1, 2),
        .swept = (uint32_t)ONE_OF(r, 1, 2, 5),
        .offers = (uint32_t)ONE_OF(r, 1, 2, 3),
    };
    const dn_kv_bounds kv = {(uint32_t)ONE_OF(r, 1, 2, 3, 5), (uint32_t)ONE_OF(r, 1, 2, 5)};

    if (shortest) p->daily_bounds = daily;
    else if (small)
        p->daily_bounds = (dn_daily_bounds){.plans = daily.plans, .lookups = daily.lookups};
    if (shortest) p->kv_bounds = kv;
}

/* Far more slots than the default, and in some seeds a herd for them: tables grow, and messages are full. Where messages
 * take time, one of many slots is always on its way, and nothing says that none is lost. */
static int draw_herd(plan *p, uint64_t *r) {
    const uint32_t before = p->users;
    int            rc = DN_OK;

    const int64_t slots = one_in(r, 32) ? between(r, 9, 64) : p->settings.max_concurrency;
    if (p->lag_ms == 0) p->settings.max_concurrency = slots;
    if (p->seed % PLAN_HERDS != 100) return DN_OK;
    p->users += PLAN_HERD;
    p->faults = (dn_sim_faults){0};
    p->lag_ms = 0;
    p->settings.max_concurrency = 64;
    for (uint32_t i = before; rc == DN_OK && i < p->users; i++)
        rc = add(p, (plan_op){.kind = PLAN_USER, .user = i, .due = draw_due(p, r)});
    return rc;
}

/* A first day in the past, then another one, sooner or later. */
static int add_moved_first_days(plan *p, uint64_t *r) {
    int rc = DN_OK;

    for (int64_t i = between(r, 2, 8); rc == DN_OK && i > 0; i--) {
        const uint32_t user = (uint32_t)below(r, p->users < 4 ? p->users : 4);
        plan_op        op = {.kind = PLAN_USER,
                             .at_ms = one_in(r, 4) ? 0 : draw_instant(p, r),
                             .user = user,
                             .due = due_of(p, user)};
        op.ms = (p->settings.start_ms + op.at_ms) / DN_DAY_MS + between(r, -2, 2);
        rc = add(p, op);
    }
    return rc;
}

/* The disk is full from before a cutoff until after the tick that decides it, and meanwhile the clock goes back. */
static int add_full_over_cutoff(plan *p, uint64_t *r) {
    const uint32_t user = (uint32_t)below(r, p->users);
    const int64_t  tick_ms = draw_deciding_tick(p, r, user);
    plan_op        full = {.kind = PLAN_STORE_FAILS, .at_ms = tick_ms - below(r, MS_MINUTE)};
    plan_op        step = {.kind = PLAN_CLOCK, .ms = -ONE_OF(r, MS_MINUTE, MS_HOUR, DN_DAY_MS)};

    full.ms = MS_MINUTE + 2 * p->settings.tick_ms + below(r, 30 * MS_MINUTE);
    if (full.ms > p->calm_ms - full.at_ms) full.ms = p->calm_ms - full.at_ms;
    step.at_ms = tick_ms + 1 + below(r, full.ms);
    int rc = add(p, full);
    if (rc == DN_OK) rc = add(p, step);
    step.at_ms += draw_length(p, r, step.at_ms);
    step.ms = -step.ms;
    return rc == DN_OK && !one_in(r, 4) ? add(p, step) : rc;
}

/* Removed and registered again, while a plan for the first of the two is under way. */
static int add_quick_return(plan *p, uint64_t *r) {
    const uint32_t user = (uint32_t)below(r, p->users);
    plan_op        op = {.kind = PLAN_REMOVE,
                         .at_ms = draw_deciding_tick(p, r, user) - below(r, ONE_OF(r, 1, 2, 6)),
                         .user = user};
    const int      rc = add(p, op);

    op.kind = PLAN_USER;
    op.at_ms += below(r, 2);
    op.due = due_of(p, user);
    return rc == DN_OK ? add(p, op) : rc;
}

static int add_days_down(plan *p, uint64_t *r) {
    plan_op op = {.kind = PLAN_CRASH, .at_ms = below(r, p->calm_ms)};

    op.ms = below(r, p->calm_ms - op.at_ms) + 1;
    return add(p, op);
}

/* What takes days, or more than one of them. */
static int draw_long(plan *p, uint64_t *r, uint32_t on) {
    int rc = DN_OK;

    if (one_in(r, 2)) p->settings.ledger_days = between(r, 1, 3);
    if (one_in(r, 6) && on & 1U << PLAN_USERS_FAULT) rc = add_moved_first_days(p, r);
    for (int64_t i = below(r, 6); rc == DN_OK && i > 0 && on & 1U << PLAN_USERS_FAULT; i--)
        rc = add_quick_return(p, r);
    if (rc == DN_OK && one_in(r, 6) && on & 1U << PLAN_CRASH_FAULT) rc = add_days_down(p, r);
    if (rc == DN_OK && one_in(r, 4) && on & 1U << PLAN_CLOCK_FAULT && on & 1U << PLAN_STORE_FAULT)
        rc = add_full_over_cutoff(p, r);
    return rc;
}

/* From a stream of its own: so what came later makes no other seed another one. */
static int draw_more(plan *p, uint32_t on) {
    const bool users = on & 1U << PLAN_USERS_FAULT;
    uint64_t   state = p->seed ^ 0x686f6f6b73U, *r = &state;
    int        rc = draw_hooks(p, r, on);

    if (rc == DN_OK && one_in(r, 8) && users) rc = add_first_days(p, r);
    /* Whose turn it was is looked at where messages take no time, which is seldom. */
    const bool crowd = one_in(r, p->lag_ms > 0 ? 8 : 2);
    if (rc == DN_OK && crowd && users) rc = add_crowd(p, r, on);
    if (rc == DN_OK && one_in(r, 8) && users && on & 1U << PLAN_ACTOR_FAULT)
        rc = add_end_of_planner(p, r);
    return rc;
}

static void draw_delays(plan *p, uint64_t *r, uint32_t on) {
    dn_sim_faults *f = &p->faults;

    f->delay_ppm = (uint32_t)ONE_OF(r, 1000, 20000, 200000);
    f->delay_ms_max = ONE_OF(r, 1, 5, 50, 200);
    f->double_reply_ppm = (uint32_t)ONE_OF(r, 10000, 200000);
    f->slow_turn_ppm = (uint32_t)ONE_OF(r, 1000, 20000);
    f->slow_turn_ms_max = ONE_OF(r, 1, 5, 50);
    if (!(on & 1U << PLAN_DELAY_FAULT)) f->delay_ppm = 0;
    if (!(on & 1U << PLAN_DOUBLE_FAULT)) f->double_reply_ppm = 0;
    if (!(on & 1U << PLAN_SLOW_FAULT)) f->slow_turn_ppm = 0;
    /* The longest way has a dozen steps. Behind a reply that comes twice waits what its sender sends later. */
    if (f->delay_ppm > 0 || f->double_reply_ppm > 0) p->lag_ms += 12 * f->delay_ms_max;
    if (f->slow_turn_ppm > 0) p->lag_ms += 24 * f->slow_turn_ms_max;
}

static int draw_faults(plan *p, uint64_t *r, uint32_t on) {
    typedef int (*adder)(plan *, uint64_t *);
    static const struct {
        plan_fault fault;
        adder      add;
    } adders[] = {
        {PLAN_USERS_FAULT, add_changes},  {PLAN_CRASH_FAULT, add_crashes},
        {PLAN_CLOCK_FAULT, add_steps},    {PLAN_ACTOR_FAULT, add_actor_crashes},
        {PLAN_OUTAGE_FAULT, add_outages}, {PLAN_STORE_FAULT, add_store_faults},
    };
    int rc = DN_OK;

    draw_delays(p, r, on);
    for (size_t i = 0; rc == DN_OK && i < sizeof adders / sizeof *adders; i++) {
        uint64_t own = plan_random(r);
        if (on & 1U << adders[i].fault) rc = adders[i].add(p, &own);
    }
    uint64_t own = plan_random(r);
    return rc == DN_OK && one_in(&own, 4) ? add_close_calls(p, &own, on) : rc;
}

/* ---- All of it ---- */

static int draw_users(plan *p, uint64_t *r) {
    const int64_t some = one_in(r, 4) ? between(r, 1, p->users) : p->users;
    int           rc = DN_OK;

    for (uint32_t i = 0; rc == DN_OK && i < some; i++)
        rc = add(p, (plan_op){.kind = PLAN_USER, .user = i, .due = draw_due(p, r)});
    return rc;
}

static void draw_mix(plan *p, uint64_t *r) {
    p->mix = (plan_mix){
        .error = (uint8_t)ONE_OF(r, 0, 20, 128),
        .hang = (uint8_t)ONE_OF(r, 0, 10, 60),
        .crash = (uint8_t)ONE_OF(r, 0, 0, 30),
        .snapped = (uint8_t)ONE_OF(r, 0, 60, 128),
        .is_long = (uint8_t)ONE_OF(r, 0, 60, 128),
    };
}

int plan_draw(uint64_t seed, const plan_bounds *bounds, plan *out_plan) {
    plan     p = {.seed = seed, .users = bounds->users};
    uint64_t state = seed, *r = &state;

    (void)plan_random(r);
    draw_settings(&p, r, bounds->days);
    draw_mix(&p, r);
    p.any_order = !one_in(r, 4);
    p.ticks_move = one_in(r, 2);
    const uint32_t on = (uint32_t)plan_random(r) & bounds->faults;
    int            rc = draw_users(&p, r);
    if (rc == DN_OK) rc = draw_faults(&p, r, on);
    if (rc == DN_OK) rc = draw_more(&p, on);
    uint64_t more = seed ^ 0x626f756e6473U;
    if (rc == DN_OK) draw_bounds(&p, &more);
    if (rc == DN_OK) rc = draw_herd(&p, &more);
    if (rc == DN_OK) rc = draw_long(&p, &more, on);
    if (rc < 0) {
        plan_done(&p);
        return rc;
    }
    sort_ops(&p);
    *out_plan = p;
    return DN_OK;
}

/* ---- Jobs ---- */

/* How long until an instant that matters, or so; negative: it has been. */
static int64_t until_it_matters(const plan *p, const plan_job *job, uint64_t *r) {
    const int64_t cutoff_ms = (int64_t)job->day * DN_DAY_MS + job->due * MS_MINUTE;
    const int64_t midnight_ms = job->wall_ms - job->wall_ms % DN_DAY_MS + DN_DAY_MS;

    switch (below(r, 5)) {
    case 0:
    case 1: return cutoff_ms - job->wall_ms + near_ms(r);
    case 2: return p->settings.job_timeout_ms + near_ms(r);
    case 3: return job->next_tick_ms - job->wall_ms + near_ms(r);
    default: return midnight_ms - job->wall_ms + near_ms(r);
    }
}

static answer drawn_answer(const plan *p, const plan_job *job) {
    uint64_t state = p->seed ^ (uint64_t)job->user * 0x9e3779b97f4a7c15U ^
                     (uint64_t)job->day * 0xbf58476d1ce4e5b9U ^
                     (uint64_t)job->attempt * 0x94d049bb133111ebU;
    uint64_t     *r = &state;
    const int64_t timeout_ms = p->settings.job_timeout_ms;
    int64_t       kind = below(r, 256), takes = below(r, 256), ms = below(r, 3) * below(r, 1000);
    answer        a = {.result = ANSWER_OK};

    if ((kind -= p->mix.error) < 0) {
        a.result = ANSWER_ERROR;
        a.cls = DN_CLASS_REQ + (dn_error_class)below(r, 4);
    } else if ((kind -= p->mix.hang) < 0) {
        a.result = ANSWER_HANG;
    } else if (kind - p->mix.crash < 0) {
        a.result = ANSWER_CRASH;
    }
    if ((takes -= p->mix.is_long) < 0) {
        ms = below(r, timeout_ms + timeout_ms / 8 + 2);
    } else if (takes - p->mix.snapped < 0) {
        const int64_t until_ms = until_it_matters(p, job, r);
        if (until_ms >= 0 && until_ms <= timeout_ms + NEAR_MS) ms = until_ms;
    }
    a.duration_ms = (uint32_t)ms;
    return a;
}

static answer away(const plan *p, const plan_op *outage) {
    const int64_t timeout_ms = p->settings.job_timeout_ms;

    switch ((plan_outage)outage->how) {
    case PLAN_FAILS_AT_ONCE: return (answer){.result = ANSWER_ERROR, .cls = DN_CLASS_REQ};
    case PLAN_FAILS_LATE:
        return (answer){
            .result = ANSWER_ERROR, .cls = DN_CLASS_LLM, .duration_ms = (uint32_t)(timeout_ms - 1)};
    case PLAN_HANGS: return (answer){.result = ANSWER_HANG};
    case PLAN_TASK_CRASHES: return (answer){.result = ANSWER_CRASH};
    case PLAN_TAKES_LONG:
    case PLAN_OUTAGES: break;
    }
    return (answer){.result = ANSWER_OK, .duration_ms = (uint32_t)timeout_ms};
}

static answer kept_answer(const plan *p, const plan_job *job) {
    for (size_t i = 0; i < p->answers_len; i++) {
        const plan_answer *a = &p->answers[i];
        if (a->user == job->user && a->day == job->day && a->attempt == job->attempt) return a->is;
    }
    return p->settings.otherwise;
}

answer plan_hook_answer_of(const plan *p, const plan_job *delivery) {
    uint64_t state = ~p->seed ^ (uint64_t)delivery->user * 0x9e3779b97f4a7c15U ^
                     (uint64_t)delivery->day * 0xbf58476d1ce4e5b9U ^
                     (uint64_t)delivery->attempt * 0x94d049bb133111ebU;
    uint64_t      *r = &state;
    const uint32_t ms = (uint32_t)(below(r, 3) * below(r, 1000));

    if (delivery->calm) return (answer){.result = ANSWER_OK, .duration_ms = 1};
    if (one_in(r, 4))
        return (answer){.result = ANSWER_ERROR, .cls = DN_CLASS_REQ, .duration_ms = ms};
    return (answer){.result = one_in(r, 16) ? ANSWER_HANG : ANSWER_OK, .duration_ms = ms};
}

answer plan_answer_of(const plan *p, const plan_job *job, const plan_op *outage) {
    if (p->has_answers) return kept_answer(p, job); /* as it was in an outage and in the calm too */
    if (job->calm) return (answer){.result = ANSWER_OK, .duration_ms = 1};
    return outage ? away(p, outage) : drawn_answer(p, job);
}
