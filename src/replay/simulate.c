/* simulate.c - see simulate.h. The plan's operations are done to a world (world.h) at their instants; what is told of it
 * goes to the checker and to who counts. */
#include "simulate.h"

#include "check_rule.h"
#include "simulate_hooks.h"
#include "simulate_rest.h"
#include "simulate_tally.h"
#include "simulate_unreported.h"
#include "users_out.h"
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COMMITS_MAX = 32, ID_TEXT = 16, STEP_MS = 3600000 };

/* What is to happen at a commit. */
typedef struct ordered {
    uint32_t left;
    uint8_t  how;
    int64_t  down_ms;
} ordered;

typedef struct simulation {
    const plan           *plan;
    const simulate_watch *watch; /* may be NULL */
    world                *world;
    world_wild            wild;
    check                *check;
    tally                 tally;
    rest                  rest;
    hooks_watch           hooks;
    untold                untold;
    int64_t               now_ms; /* steady: of what was told last */
    size_t                done;   /* operations */
    ordered               orders[COMMITS_MAX];
    const ordered        *at_this; /* commit */
    bool                  calm;
    int64_t               calm_wall_ms;
    uint64_t calm_crashes; /* of actors, until then: what was ordered may come later still */
    simulate_verdict verdict;
    int              failed;
} simulation;

const char *simulate_rule_name(unsigned rule) {
    if (rule == SIMULATE_SETTLES) return "settles";
    if (rule == SIMULATE_HOOK) return "hook";
    return rule == SIMULATE_STOPS ? "stops" : check_rule_name((check_rule)rule);
}

/* ---- Telling ---- */

static void say(simulation *s, unsigned rule, const char *text) {
    if (s->verdict.broken) return;
    s->verdict.broken = true;
    s->verdict.rule = rule;
    (void)snprintf(s->verdict.text, sizeof s->verdict.text, "%s", text);
}

/* A cutoff was reached in the calm. Did its window lie wholly there, with ticks enough? Then it was to be a success. */
static void judge_settled(simulation *s, const dn_happening *h) {
    const trace_settings *t = &s->plan->settings;
    const int64_t         window_ms = t->window_minutes * DN_MINUTE_MS;
    const int64_t         cutoff_ms = (int64_t)h->day * DN_DAY_MS + (int64_t)h->due * DN_MINUTE_MS;
    /* A throttle, what was under way, a restart and a full disk may reach into it. */
    const int64_t free_ms = s->calm_wall_ms + t->retry_delay_minutes * DN_MINUTE_MS +
                            t->job_timeout_ms + 30 * DN_MINUTE_MS + 2 * t->tick_ms;
    const bool long_enough = window_ms >= 2 * t->tick_ms + s->plan->users * 1000;
    char       text[SIMULATE_TEXT], day_text[CHECK_DAY_TEXT];

    if (world_counts_borrow(s->world)->actor_crashes > s->calm_crashes) return;
    if (cutoff_ms - window_ms < free_ms || !long_enough) return;
    (void)snprintf(text, sizeof text,
                   "settles: user %.*s day %s: cutoff_reached, in a window (due %02u:%02u) without "
                   "any fault: right is success",
                   h->id_len, h->id, check_day_text(h->day, day_text), h->due / 60U, h->due % 60U);
    say(s, SIMULATE_SETTLES, text);
}

static void say_rest(void *context, unsigned rule, const char *text) { say(context, rule, text); }

static void say_hook(void *context, const char *text) { say(context, SIMULATE_HOOK, text); }

static void judge(simulation *s, const event *e) {
    event told = *e;

    if (s->watch && s->watch->tell && !s->watch->tell(s->watch->context, &told)) return;
    tally_tell(&s->tally, &told);
    check_event(s->check, &told);
    rest_tell(&s->rest, &told);
    hooks_watch_tell(&s->hooks, &told);
}

static void judge_untold(void *context, const dn_happening *h) {
    simulation *s = context;

    judge(s, &(event){.kind = h->kind, .t_ms = h->at_ms, .steady_ms = s->now_ms, .h = h});
}

static void tell(void *context, const event *e) {
    simulation *s = context;

    s->now_ms = e->steady_ms;
    if (e->kind == EVENT_CRASH && s->untold.is_due) {
        const int told = unreported_tell(&s->untold, world_store_borrow(s->world),
                                         world_wall_ms(s->world), judge_untold, s);
        if (told < 0) s->failed = told;
        s->tally.counts.crash_untold += told > 0;
    }
    judge(s, e);
    if (s->calm && e->kind == DN_HAPPENED_FINALIZED && e->h->status == DN_DAILY_CUTOFF)
        judge_settled(s, e->h);
}

/* ---- Commits ---- */

static const ordered *order_of_this_commit(simulation *s) {
    const ordered *due = NULL;

    for (int i = 0; i < COMMITS_MAX; i++) {
        if (s->orders[i].left == 0) continue;
        if (--s->orders[i].left == 0) due = &s->orders[i];
    }
    return due;
}

static int before_commit(simulation *s) {
    s->at_this = s->calm ? NULL : order_of_this_commit(s);
    if (!s->at_this) return DN_OK;
    world_down_for(s->world, s->at_this->down_ms);
    switch ((plan_commit)s->at_this->how) {
    case PLAN_CRASH_BEFORE:
        s->tally.counts.crash_before_commit++;
        world_crash(s->world, s->at_this->down_ms);
        return DN_OK;
    case PLAN_ERROR_BEFORE: s->tally.counts.store_errors++; return DN_EIO;
    case PLAN_CRASH_AFTER:
    case PLAN_ERROR_AFTER:
    case PLAN_COMMITS: break;
    }
    const int rc = unreported_before(&s->untold, world_store_borrow(s->world));
    if (rc < 0) s->failed = rc;
    return DN_OK;
}

static int commit(void *context, bool after) {
    simulation *s = context;

    if (!after) return before_commit(s);
    if (!s->at_this) return DN_OK;
    if (s->at_this->how == PLAN_CRASH_AFTER) world_crash(s->world, s->at_this->down_ms);
    s->tally.counts.store_errors_after++;
    return DN_EIO;
}

static void order_commit(simulation *s, const plan_op *op) {
    for (int i = 0; i < COMMITS_MAX; i++) {
        if (s->orders[i].left > 0) continue;
        s->orders[i] = (ordered){op->nth, op->how, op->ms};
        return;
    }
}

/* ---- Jobs ---- */

static const plan_op *outage_of(const simulation *s, uint32_t user, int64_t now_ms) {
    for (size_t i = s->done; i-- > 0;) {
        const plan_op *op = &s->plan->ops[i];
        if (op->kind == PLAN_OUTAGE && now_ms < op->at_ms + op->ms && user % op->nth == op->user)
            return op;
    }
    return NULL;
}

static int64_t next_tick_ms(const simulation *s, int64_t wall_ms, int64_t now_ms) {
    const int64_t every_ms = s->plan->settings.tick_ms;
    const int64_t line_ms = s->plan->ticks_move ? wall_ms : s->plan->settings.start_ms + now_ms;

    return wall_ms + every_ms - line_ms % every_ms;
}

static answer job(void *context, const dn_daily_request *r, int64_t wall_ms) {
    simulation   *s = context;
    const int64_t now_ms = wall_ms - world_wall_ms(s->world) + world_steady_ms(s->world);
    plan_job      j = {
             .user = tally_user_of(r->id, r->id_len),
             .due = r->due,
             .attempt = r->attempt,
             .day = r->day,
             .wall_ms = wall_ms,
             .next_tick_ms = next_tick_ms(s, wall_ms, now_ms),
             .calm = s->calm,
    };
    const plan_op    *outage = outage_of(s, j.user, now_ms);
    const plan_answer a = {
        .user = j.user,
        .attempt = j.attempt,
        .day = j.day,
        .is = plan_answer_of(s->plan, &j, outage),
    };

    rest_job(&s->rest, r, &a.is);
    s->tally.counts.outage_jobs += outage != NULL && !s->calm;
    if (s->watch && s->watch->job) s->watch->job(s->watch->context, &a);
    return a.is;
}

static answer hook(void *context, const dn_daily_request *r) {
    simulation    *s = context;
    const plan_job delivery = {
        .user = tally_user_of(r->id, r->id_len),
        .attempt = r->attempt,
        .day = r->day,
        .calm = s->calm,
    };
    const answer a = plan_hook_answer_of(s->plan, &delivery);
    const bool   ok = a.result == ANSWER_OK;

    *(ok ? &s->tally.counts.hooks : &s->tally.counts.hook_failures) += 1;
    hooks_watch_delivers(&s->hooks, r, ok);
    return a;
}

/* ---- The run ---- */

static int do_users(simulation *s, const plan_op *op) {
    char      id[ID_TEXT];
    const int len = snprintf(id, sizeof id, "u%u", op->user);

    return world_take(
        s->world,
        &(trace_op){
            .kind = op->kind == PLAN_USER ? TRACE_USER : TRACE_REMOVE,
            .id = id,
            .id_len = (size_t)len,
            .due = op->due,
            .count = 1,
            .starts_on = op->kind == PLAN_USER && op->ms != 0 ? (dn_day)op->ms : DN_DAY_NONE,
        });
}

/* Not into the calm, though a plan that was made shorter asks for it. */
static int64_t down_ms_of(const simulation *s, const plan_op *op) {
    const int64_t most_ms = s->plan->calm_ms - op->at_ms;

    return op->ms < most_ms ? op->ms : most_ms;
}

static int do_op(simulation *s, const plan_op *op) {
    switch (op->kind) {
    case PLAN_USER:
    case PLAN_REMOVE: return do_users(s, op);
    case PLAN_CRASH: world_crash(s->world, down_ms_of(s, op)); return DN_OK;
    case PLAN_CRASH_SOON: world_crash_in(s->world, op->nth, op->ms); return DN_OK;
    case PLAN_COMMIT: order_commit(s, op); return DN_OK;
    case PLAN_ACTOR_CRASH: world_crash_actor(s->world, plan_actors[op->how], op->nth); return DN_OK;
    case PLAN_CLOCK: return world_take(s->world, &(trace_op){.kind = TRACE_CLOCK, .ms = op->ms});
    case PLAN_STORE_FAILS:
        return world_take(s->world, &(trace_op){.kind = TRACE_STORE_FAILS, .ms = op->ms});
    case PLAN_OUTAGE: return DN_OK; /* jobs ask for it */
    }
    return DN_EINVAL;
}

static int begin_calm(simulation *s) {
    const int rc = world_until(s->world, s->plan->calm_ms);

    s->calm = true;
    s->calm_wall_ms = world_wall_ms(s->world);
    s->calm_crashes = world_counts_borrow(s->world)->actor_crashes;
    world_calm(s->world);
    return rc;
}

/* In steps, because what was in the line of a kv that ended is handed on at each. */
static int calm(simulation *s) {
    const int64_t end_ms = s->plan->settings.end_ms - s->plan->settings.start_ms;
    int           rc = DN_OK;

    for (int64_t at_ms = s->plan->calm_ms; rc == DN_OK && at_ms < end_ms;) {
        if (check_violations_len(s->check) > 0) return DN_OK;
        at_ms = at_ms + STEP_MS < end_ms ? at_ms + STEP_MS : end_ms;
        rc = world_until(s->world, at_ms);
    }
    return rc;
}

static int run(simulation *s) {
    const plan *p = s->plan;
    int         rc = world_begin(s->world);

    while (rc == DN_OK && s->done < p->ops_len && check_violations_len(s->check) == 0) {
        const plan_op *op = &p->ops[s->done];
        if (op->at_ms >= p->calm_ms) break;
        rc = world_until(s->world, op->at_ms);
        s->done++;
        if (rc == DN_OK) rc = do_op(s, op);
    }
    return rc == DN_OK ? begin_calm(s) : rc;
}

/* ---- After it ---- */

static void look_at(simulation *s, const dn_user *u) {
    check_final end = {
        .n = u->registration,
        .due = u->due,
        .last_day = u->last_day,
        .starts_on = u->starts_on,
        .status = u->last_day == DN_DAY_NONE ? DN_DAILY_NONE : u->status,
        .last_run_ms = u->last_run_ms,
        .context_epoch = u->context_epoch,
    };

    if (s->watch && s->watch->user) s->watch->user(s->watch->context, &end);
    check_user(s->check, &end);
}

static void look(void *context, const dn_user *users, size_t len) {
    for (size_t i = 0; i < len; i++) look_at(context, &users[i]);
}

static unsigned rule_of(const char *text) {
    const size_t len = strcspn(text, ":");

    for (unsigned i = 0; i < CHECK_RULES; i++) {
        const char *name = check_rule_name((check_rule)i);
        if (strlen(name) == len && memcmp(text, name, len) == 0) return i;
    }
    return CHECK_LOG;
}

static int judge_all(simulation *s) {
    const trace_settings *t = &s->plan->settings;
    const char *const    *texts;
    int                   rc = DN_OK;

    if (check_violations_len(s->check) == 0) {
        rc = users_out_look(world_store_borrow(s->world), look, s);
        if (rc == DN_OK) rc = check_end(s->check, t->end_ms - t->start_ms);
    }
    if (rc == DN_OK && check_violations_len(s->check) == 0) {
        rest_end(&s->rest, s->done, world_steady_ms(s->world), world_wall_ms(s->world),
                 world_counts_borrow(s->world)->actor_crashes == s->calm_crashes);
        s->tally.counts.rows_forgotten = s->rest.forgotten;
    }
    if (rc == DN_OK && s->plan->hooks)
        rc = hooks_watch_end(&s->hooks, world_store_borrow(s->world), t->end_ms - t->start_ms,
                             world_wall_ms(s->world));
    if (check_violations(s->check, &texts) > 0) {
        s->verdict.broken = false; /* what the checker says comes before what follows from it */
        say(s, rule_of(texts[0]), texts[0]);
    }
    return rc;
}

static void count(simulation *s) {
    const dn_sim_counts *c = world_counts_borrow(s->world);

    if (!s->watch || !s->watch->counts) return;
    s->tally.counts.delays = c->delays;
    s->tally.counts.doubles = c->doubled_replies;
    s->tally.counts.slow_turns = c->slow_turns;
    simulate_counts_add(s->watch->counts, &s->tally.counts);
}

/* ---- All of it ---- */

static bool has(const plan *p, plan_op_kind kind) {
    for (size_t i = 0; i < p->ops_len; i++)
        if (p->ops[i].kind == kind) return true;
    return false;
}

static int prepare(simulation *s) {
    const plan           *p = s->plan;
    const trace_settings *t = &p->settings;
    const check_config    rules = {
           .start_ms = t->start_ms,
           .tick_ms = t->tick_ms,
           .job_timeout_ms = t->job_timeout_ms,
           .window_minutes = (uint32_t)t->window_minutes,
           .retry_delay_minutes = (uint32_t)t->retry_delay_minutes,
           .max_concurrency = (uint32_t)t->max_concurrency,
           .ticks_stand_still = !p->ticks_move,
           .lag_ms = p->lag_ms,
    };
    s->wild = (world_wild){
        .faults = p->faults,
        .any_order = p->any_order,
        .unranked = p->lag_ms > 0,
        .ticks_move = p->ticks_move,
        .kv_bounds = p->kv_bounds,
        .daily_bounds = p->daily_bounds,
        .tell_actors = has(p, PLAN_ACTOR_CRASH),
        .job = job,
        .hook = p->hooks ? hook : NULL,
        .commit = has(p, PLAN_COMMIT) ? commit : NULL,
    };
    const world_config setup = {
        .settings = t,
        .seed = p->seed,
        .wild = &s->wild,
        .tell = tell,
        .context = s,
    };
    int rc = tally_init(&s->tally, p);
    s->hooks = (hooks_watch){.plan = p, .say = say_hook, .context = s};
    if (rc == DN_OK) rc = hooks_watch_init(&s->hooks);
    if (rc == DN_OK) rc = check_new(&rules, &s->check);
    if (rc == DN_OK) rc = world_new(&setup, &s->world);
    if (rc < 0) return rc;
    s->rest =
        (rest){.plan = p, .store = world_store_borrow(s->world), .say = say_rest, .context = s};
    return rest_init(&s->rest);
}

int simulate_run(const plan *p, const simulate_watch *watch, simulate_verdict *out_verdict) {
    simulation s = {.plan = p, .watch = watch};
    int        rc = prepare(&s);

    if (rc == DN_OK) {
        rc = run(&s);
        if (rc == DN_OK) rc = calm(&s);
        if (rc < 0 && rc != DN_ENOMEM) {
            say(&s, SIMULATE_STOPS, dn_error_text(rc));
            rc = DN_OK;
        } else if (rc == DN_OK) {
            rc = judge_all(&s);
        }
    }
    if (rc == DN_OK) rc = s.failed;
    if (rc == DN_OK) {
        s.verdict.hash = world_hash(s.world);
        count(&s);
        *out_verdict = s.verdict;
    }
    world_free(s.world);
    check_free(s.check);
    tally_done(&s.tally);
    rest_done(&s.rest);
    hooks_watch_done(&s.hooks);
    unreported_done(&s.untold);
    return rc;
}
