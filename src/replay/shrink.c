/* shrink.c - see shrink.h. First how jobs come out is written down as it was, so that it stays the same whatever else is
 * left out. Then halves, quarters and so on are left out of what there is, until nothing more can be. */
#include "shrink.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

typedef struct shrinking {
    const shrink_config *config;
    shrunk               best;
    unsigned             rule;
    int                  failed; /* no memory */

    plan_answer *jobs; /* of the run that is being watched */
    size_t       jobs_len, jobs_cap;
} shrinking;

/* ---- Trying ---- */

static bool may_go_on(const shrinking *s) {
    return s->failed == DN_OK && s->best.runs < s->config->runs_max;
}

static bool tell(void *context, event *e) {
    const shrinking *s = context;

    return !s->config->tell || s->config->tell(s->config->context, e);
}

static void user(void *context, check_final *u) {
    const shrinking *s = context;

    if (s->config->user) s->config->user(s->config->context, u);
}

static int run(shrinking *s, const plan *p, const simulate_watch *watch,
               simulate_verdict *out_verdict) {
    if (s->config->begins) s->config->begins(s->config->context);
    s->best.runs++;
    return simulate_run(p, watch, out_verdict);
}

/* Takes the plan: if it breaks that rule too, it is the best so far; else it is given back. */
static bool try_take(shrinking *s, plan *p) {
    const simulate_watch watch = {.tell = tell, .user = user, .context = s};
    simulate_verdict     verdict = {0};

    s->failed = run(s, p, &watch, &verdict);
    if (s->failed || !verdict.broken || verdict.rule != s->rule) {
        plan_done(p);
        return false;
    }
    plan_done(&s->best.plan);
    s->best.plan = *p;
    s->best.verdict = verdict;
    return true;
}

static bool begin(shrinking *s, plan *out_plan) {
    if (!may_go_on(s)) return false;
    s->failed = plan_copy(&s->best.plan, out_plan);
    return s->failed == DN_OK;
}

/* ---- Lists ---- */

typedef void (*leave_out)(plan *p, size_t at, size_t len);
typedef size_t (*length)(const plan *p);

static void leave_out_ops(plan *p, size_t at, size_t len) {
    memmove(p->ops + at, p->ops + at + len, (p->ops_len - at - len) * sizeof *p->ops);
    p->ops_len -= len;
}
static size_t ops_length(const plan *p) { return p->ops_len; }

static void leave_out_answers(plan *p, size_t at, size_t len) {
    memmove(p->answers + at, p->answers + at + len,
            (p->answers_len - at - len) * sizeof *p->answers);
    p->answers_len -= len;
}
static size_t answers_length(const plan *p) { return p->answers_len; }

/* True: something could be left out. */
static bool shorten_list(shrinking *s, length length_of, leave_out out) {
    bool any = false;
    plan p;

    for (size_t size = length_of(&s->best.plan); size > 0; size /= 2) {
        for (size_t at = 0; at < length_of(&s->best.plan);) {
            const size_t left = length_of(&s->best.plan) - at;
            const size_t len = size < left ? size : left;
            if (!begin(s, &p)) return any;
            out(&p, at, len);
            if (try_take(s, &p)) any = true;
            else at += len;
        }
    }
    return any;
}

/* ---- Settings ---- */

static void no_faults(plan *p) {
    p->faults = (dn_sim_faults){0};
    p->lag_ms = 0;
}
static void no_delays(plan *p) { p->faults.delay_ppm = 0; }
static void no_doubles(plan *p) { p->faults.double_reply_ppm = 0; }
static void no_slow_turns(plan *p) { p->faults.slow_turn_ppm = 0; }
static void in_order(plan *p) { p->any_order = false; }
static void ticks_stand_still(plan *p) { p->ticks_move = false; }
static void no_hooks(plan *p) { p->hooks = false; }
static void a_day_less(plan *p) {
    if (p->calm_ms <= DN_DAY_MS) return;
    p->calm_ms -= DN_DAY_MS;
    p->settings.end_ms -= DN_DAY_MS;
}
static void no_calm(plan *p) { p->settings.end_ms = p->settings.start_ms + p->calm_ms; }

static bool simplify(shrinking *s) {
    static void (*const ways[])(plan *) = {no_faults,     no_delays,  no_doubles,
                                           no_slow_turns, in_order,   ticks_stand_still,
                                           no_hooks,      a_day_less, no_calm};
    bool any = false;
    plan p;

    for (size_t i = 0; i < sizeof ways / sizeof *ways && begin(s, &p); i++) {
        const plan *was = &s->best.plan;
        ways[i](&p);
        /* Bytes between the fields may differ where none of them does: that costs a run more.
         * NOLINTNEXTLINE(bugprone-suspicious-memory-comparison,cert-exp42-c,cert-flp37-c) */
        const bool same = memcmp(&p.faults, &was->faults, sizeof p.faults) == 0 &&
                          p.lag_ms == was->lag_ms && p.any_order == was->any_order &&
                          p.ticks_move == was->ticks_move && p.hooks == was->hooks &&
                          p.settings.end_ms == was->settings.end_ms;
        if (same) plan_done(&p);
        else any |= try_take(s, &p);
    }
    return any;
}

/* ---- Jobs ---- */

static void write_down(void *context, const plan_answer *a) {
    shrinking *s = context;

    if (DN_ARRAY_RESERVE(s->jobs, s->jobs_cap, s->jobs_len + 1) < 0) {
        s->failed = DN_ENOMEM;
        return;
    }
    s->jobs[s->jobs_len++] = *a;
}

/* Of one that came up twice, in two lives of the process, the first holds. */
static void without_doubles(plan *p) {
    size_t kept = 0;

    for (size_t i = 0; i < p->answers_len; i++) {
        const plan_answer *a = &p->answers[i];
        bool               known = false;
        for (size_t k = 0; k < kept && !known; k++)
            known = p->answers[k].user == a->user && p->answers[k].day == a->day &&
                    p->answers[k].attempt == a->attempt;
        if (!known) p->answers[kept++] = *a;
    }
    p->answers_len = kept;
}

static void keep_answers(shrinking *s) {
    const simulate_watch watch = {.tell = tell, .user = user, .job = write_down, .context = s};
    simulate_verdict     verdict;
    plan                 p;

    if (!begin(s, &p)) return;
    const int rc = run(s, &p, &watch, &verdict);
    if (rc < 0) s->failed = rc;
    free(p.answers);
    p.answers = s->jobs;
    p.answers_len = s->jobs_len;
    p.has_answers = true;
    s->jobs = NULL;
    without_doubles(&p);
    if (s->failed) plan_done(&p);
    else (void)try_take(s, &p);
}

/* ---- All of it ---- */

int shrink(const plan *p, const simulate_verdict *verdict, const shrink_config *config,
           shrunk *out_shrunk) {
    shrinking s = {.config = config, .rule = verdict->rule};

    s.best.verdict = *verdict;
    s.failed = plan_copy(p, &s.best.plan);
    if (s.failed) return s.failed;
    (void)shorten_list(&s, ops_length, leave_out_ops);
    (void)simplify(&s);
    keep_answers(&s);
    for (bool more = true; more && may_go_on(&s);) {
        more = simplify(&s);
        more |= shorten_list(&s, ops_length, leave_out_ops);
        more |= shorten_list(&s, answers_length, leave_out_answers);
    }
    if (s.failed) {
        plan_done(&s.best.plan);
        return s.failed;
    }
    *out_shrunk = s.best;
    return DN_OK;
}
