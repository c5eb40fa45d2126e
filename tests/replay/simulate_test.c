/* What is drawn from a seed, run, judged and made short. */
#include "draw_text.h"
#include "replay/replay.h"
#include "shrink.h"
#include "simulate_range.h"

#include "obs/log.h"
#include "test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { USERS = 12, DAYS = 3, SHORT = 4 };

static plan_bounds bounds_of(uint32_t faults) {
    dn_log_threshold(DN_LOG_NONE);
    return (plan_bounds){.users = USERS, .days = DAYS, .faults = faults};
}

static simulate_verdict run_seed(uint64_t seed, uint32_t faults, simulate_counts *counts) {
    const plan_bounds bounds = bounds_of(faults);
    simulate_verdict  verdict;

    CHECK_INT(simulate_seed(seed, &bounds, counts, &verdict), DN_OK);
    return verdict;
}

static void keeps_every_rule(uint64_t seed, const simulate_verdict *v) {
    CHECK_MSG(!v->broken, "seed %llu: %s", (unsigned long long)seed, v->text);
}

/* ---- A run is its seed's ---- */

TEST(a_seed_gives_one_run_and_no_other) {
    for (uint64_t seed = 1; seed <= 12; seed++) {
        const simulate_verdict once = run_seed(seed, PLAN_ALL, NULL);
        const simulate_verdict again = run_seed(seed, PLAN_ALL, NULL);
        CHECK_UINT(once.hash, again.hash);
        CHECK(run_seed(seed + 1, PLAN_ALL, NULL).hash != once.hash);
    }
}

TEST(the_first_seeds_break_no_rule) {
    for (uint64_t seed = 1; seed <= 200 / TEST_SLOW_FACTOR; seed++) {
        const simulate_verdict v = run_seed(seed, PLAN_ALL, NULL);
        keeps_every_rule(seed, &v);
    }
}

TEST(without_faults_nothing_goes_wrong) {
    simulate_counts n = {0};

    for (uint64_t seed = 1; seed <= 20; seed++) {
        const simulate_verdict v = run_seed(seed, 0, &n);
        keeps_every_rule(seed, &v);
    }
    CHECK_UINT(n.seeds, 20);
    CHECK_UINT(n.crashes + n.actor_ends + n.clock_steps + n.full + n.store_errors + n.outage_jobs +
                   n.delays + n.doubles + n.slow_turns + n.removed_busy + n.missed,
               n.missed);
    CHECK(n.successes > 0);
    CHECK(n.cutoffs > 0);
}

/* ---- What is rare happens ---- */

static void each_happened(const simulate_counts *n) {
#define HAPPENED(name, text) CHECK_MSG(n->name > 0, "it never happened: %s", text);
    SIMULATE_COUNTS(HAPPENED)
#undef HAPPENED
}

/* As many seeds as that takes: too many for a build that is slow, which others find no more in. */
TEST(each_rare_thing_happens) {
    simulate_counts n = {0};

    if (test_under_sanitizer()) return;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        const simulate_verdict v = run_seed(seed, PLAN_ALL, &n);
        keeps_every_rule(seed, &v);
    }
    each_happened(&n);
}

static simulate_counts counts_of(plan_fault fault) {
    simulate_counts n = {0};

    for (uint64_t seed = 1; seed <= 40; seed++) (void)run_seed(seed, 1U << fault, &n);
    return n;
}

TEST(each_fault_is_what_it_is_called) {
    if (test_under_sanitizer()) return;
    CHECK(counts_of(PLAN_CRASH_FAULT).crashes > 0);
    CHECK(counts_of(PLAN_ACTOR_FAULT).actor_ends > 0);
    CHECK(counts_of(PLAN_DELAY_FAULT).delays > 0);
    CHECK(counts_of(PLAN_DOUBLE_FAULT).doubles > 0);
    CHECK(counts_of(PLAN_SLOW_FAULT).slow_turns > 0);
    CHECK(counts_of(PLAN_CLOCK_FAULT).clock_steps > 0);
    const simulate_counts store = counts_of(PLAN_STORE_FAULT);
    CHECK(store.full + store.store_errors + store.store_errors_after > 0);
    CHECK(counts_of(PLAN_OUTAGE_FAULT).outage_jobs > 0);
    CHECK_UINT(counts_of(PLAN_OUTAGE_FAULT).crashes, 0);
}

/* ---- Seeds that failed once ---- */

static uint32_t faults_of(char *list) {
    uint32_t faults = 0;

    if (strcmp(list, "all") == 0) return PLAN_ALL;
    for (char *one; (one = strsep(&list, ","));) {
        unsigned i = 0;
        while (i < PLAN_FAULTS && strcmp(one, plan_fault_name((plan_fault)i)) != 0) i++;
        CHECK_MSG(i < PLAN_FAULTS, "there is no fault %s", one);
        faults |= 1U << i;
    }
    return faults;
}

TEST(no_seed_that_ever_failed_fails_again) {
    FILE              *file = fopen(DIURNAL_SEEDS, "r");
    char               line[400], list[100];
    unsigned long long seed;
    unsigned           users, days, seeds = 0;

    CHECK(file);
    while (fgets(line, sizeof line, file)) {
        if (*line == '#' || *line == '\n') continue;
        /* NOLINTNEXTLINE(cert-err34-c): a file of ours */
        CHECK_MSG(sscanf(line, "%llu %u %u %99s", &seed, &users, &days, list) == 4, "%s", line);
        plan_bounds bounds = bounds_of(faults_of(list));
        bounds.users = users;
        bounds.days = days;
        simulate_verdict v;
        CHECK_INT(simulate_seed(seed, &bounds, NULL, &v), DN_OK);
        keeps_every_rule(seed, &v);
        seeds++;
    }
    (void)fclose(file);
    CHECK(seeds > 0);
}

/* What those seeds found, without depending on what is drawn from them: one user, and one thing that goes wrong when
 * its window opens, an hour after the beginning. */
static plan by_hand(uint64_t seed, plan_op op) {
    const plan_bounds bounds = bounds_of(0);
    plan              p;

    CHECK_INT(plan_draw(seed, &bounds, &p), DN_OK);
    p.settings.start_ms -= p.settings.start_ms % DN_DAY_MS;
    p.settings.tick_ms = DN_MINUTE_MS;
    p.settings.window_minutes = 60;
    p.settings.end_ms = p.settings.start_ms + DN_DAY_MS;
    p.settings.job_timeout_ms = DN_MINUTE_MS;
    p.calm_ms = DN_DAY_MS / 2;
    p.mix = (plan_mix){0};
    p.any_order = true;
    p.ticks_move = false;
    p.ops[0] = (plan_op){.kind = PLAN_USER, .due = 120};
    p.ops[1] = op;
    p.ops[1].at_ms += 60 * DN_MINUTE_MS;
    p.ops_len = 2;
    return p;
}

static void plan_keeps_every_rule(plan *p) {
    simulate_verdict v;

    CHECK_INT(simulate_run(p, NULL, &v), DN_OK);
    keeps_every_rule(p->seed, &v);
    plan_done(p);
}

TEST(a_clock_that_steps_back_on_the_way_to_a_job_keeps_it_from_beginning) {
    for (uint64_t seed = 1; seed <= 60; seed++) {
        plan p = by_hand(
            seed,
            (plan_op){.kind = PLAN_CLOCK, .at_ms = 1 + (int64_t)seed % 20, .ms = -DN_MINUTE_MS});
        p.faults = (dn_sim_faults){.delay_ppm = 1000000, .delay_ms_max = 10};
        p.lag_ms = 120;
        plan_keeps_every_rule(&p);
    }
}

TEST(a_task_whose_starter_ends_is_no_attempt) {
    for (uint64_t seed = 1; seed <= 60; seed++) {
        plan p = by_hand(seed, (plan_op){.kind = PLAN_ACTOR_CRASH,
                                         .at_ms = -DN_MINUTE_MS,
                                         .how = 2, /* tasks */
                                         .nth = 1 + (uint32_t)seed % 4});
        CHECK_STR(plan_actors[p.ops[1].how], "executions");
        plan_keeps_every_rule(&p);
    }
}

/* It is removed and there again while its first attempt runs, which fails; the next one does not. */
TEST(who_is_registered_again_has_none_of_the_errors_of_the_one_before) {
    plan p =
        by_hand(1, (plan_op){.kind = PLAN_OUTAGE, .how = PLAN_FAILS_LATE, .ms = 1000, .nth = 1});

    p.settings.retry_delay_minutes = 0;
    p.ops[2] = (plan_op){.kind = PLAN_REMOVE, .at_ms = 60 * DN_MINUTE_MS + 20000};
    p.ops[3] = (plan_op){.kind = PLAN_USER, .at_ms = 60 * DN_MINUTE_MS + 30000, .due = 120};
    p.ops_len = 4;
    plan_keeps_every_rule(&p);
}

/* ---- Worlds that are wrong ---- */

static const uint32_t of_a_trace = 1U << PLAN_USERS_FAULT | 1U << PLAN_CLOCK_FAULT;

typedef struct wrong {
    unsigned finalized; /* in this run */
} wrong;

static void begins(void *context) { ((wrong *)context)->finalized = 0; }

/* The third finalization is never said. */
static bool forgets_a_finalization(void *context, event *e) {
    wrong *w = context;

    return e->kind != DN_HAPPENED_FINALIZED || ++w->finalized != 3;
}

/* The store has lost the last day of u5. */
static void loses_a_commit(void *context, check_final *u) {
    (void)context;
    if (u->n % 3 != 0 || u->last_day == DN_DAY_NONE) return;
    u->last_day--;
}

/* With users who come and go, so that there is something to leave out. */
static shrunk made_short(const shrink_config *config, const simulate_watch *watch, unsigned rule) {
    const plan_bounds bounds = bounds_of(of_a_trace);
    simulate_verdict  verdict = {0};
    shrunk            least;
    plan              p;

    CHECK_INT(plan_draw(7, &bounds, &p), DN_OK);
    CHECK_INT(simulate_run(&p, watch, &verdict), DN_OK);
    CHECK(verdict.broken);
    CHECK_MSG(verdict.rule == rule, "%s", verdict.text);
    CHECK_INT(shrink(&p, &verdict, config, &least), DN_OK);
    CHECK(p.ops_len > SHORT);
    CHECK_MSG(least.plan.ops_len <= SHORT, "%zu operations", least.plan.ops_len);
    CHECK_MSG(least.plan.answers_len <= SHORT, "%zu answers", least.plan.answers_len);
    CHECK_UINT(least.verdict.rule, rule);
    plan_done(&p);
    return least;
}

TEST(a_journal_that_drops_a_finalization_is_caught_and_made_short) {
    wrong                w = {0};
    const simulate_watch watch = {.tell = forgets_a_finalization, .context = &w};
    const shrink_config  config = {
         .runs_max = 1000, .tell = forgets_a_finalization, .begins = begins, .context = &w};
    shrunk least = made_short(&config, &watch, CHECK_I6);

    plan_done(&least.plan);
}

TEST(a_store_that_loses_an_acknowledged_commit_is_caught_and_made_short) {
    const simulate_watch watch = {.user = loses_a_commit};
    const shrink_config  config = {.runs_max = 1000, .user = loses_a_commit};
    shrunk               least = made_short(&config, &watch, CHECK_I5);

    plan_done(&least.plan);
}

TEST(what_is_shortened_stops_after_as_many_runs_as_it_may_take) {
    const simulate_watch watch = {.user = loses_a_commit};
    const shrink_config  config = {.runs_max = 5, .user = loses_a_commit};
    const plan_bounds    bounds = bounds_of(PLAN_ALL);
    simulate_verdict     verdict = {0};
    shrunk               least;
    plan                 p;

    CHECK_INT(plan_draw(7, &bounds, &p), DN_OK);
    CHECK_INT(simulate_run(&p, &watch, &verdict), DN_OK);
    CHECK_INT(shrink(&p, &verdict, &config, &least), DN_OK);
    CHECK(least.runs <= 5);
    CHECK(least.verdict.broken);
    plan_done(&least.plan);
    plan_done(&p);
}

/* ---- As lines ---- */

TEST(a_plan_of_what_a_trace_can_say_is_a_trace) {
    const plan_bounds bounds = bounds_of(of_a_trace);
    char              path[] = "/tmp/diurnal-simulate-XXXXXX", why[REPLAY_WHY] = "";
    plan              p;
    replay           *run;

    CHECK_INT(plan_draw(3, &bounds, &p), DN_OK);
    CHECK(!plan_is_trace(&p)); /* its outcomes are not written down */
    p.has_answers = true;
    p.ticks_move = false;
    CHECK(plan_is_trace(&p));
    FILE *file = fdopen(mkstemp(path), "w");
    CHECK(file);
    plan_write(&p, file);
    (void)fclose(file);
    const replay_config config = {.trace = path, .version = "test"};
    const int           rc = replay_run(&config, &run, why);
    (void)unlink(path);
    CHECK_MSG(rc == DN_OK, "%s", why);
    CHECK_UINT(replay_result_borrow(run)->violations, 0);
    CHECK(replay_result_borrow(run)->totals.success > 0);
    replay_free(run);
    plan_done(&p);
}

TEST(a_crash_at_a_step_is_nothing_a_trace_can_say) {
    const plan_bounds bounds = bounds_of(of_a_trace);
    plan              p;

    CHECK_INT(plan_draw(3, &bounds, &p), DN_OK);
    p.has_answers = true;
    p.ticks_move = false;
    p.ops[p.ops_len - 1].kind = PLAN_CRASH_SOON;
    CHECK(!plan_is_trace(&p));
    plan_done(&p);
}

/* ---- Many ---- */

TEST(several_workers_do_every_seed_once) {
    const simulate_range range = {
        .first = 5, .last = 45, .bounds = bounds_of(PLAN_ALL), .workers = 3};
    simulate_found  found;
    simulate_counts alone = {0};

    CHECK_INT(simulate_seeds(&range, &found), DN_OK);
    CHECK(!found.any);
    CHECK_UINT(found.done, 41);
    for (uint64_t seed = 5; seed <= 45; seed++) (void)run_seed(seed, PLAN_ALL, &alone);
    CHECK_INT(memcmp(&alone, &found.counts, sizeof alone), 0);
}

/* A worker has used up its time on the processor, and the system ends it. */
TEST(a_seed_that_takes_its_process_with_it_is_told) {
    const simulate_range range = {
        .first = 1, .last = 1U << 30, .bounds = bounds_of(PLAN_ALL), .workers = 1};
    const struct rlimit second = {.rlim_cur = 1, .rlim_max = 2};
    simulate_found      found;

    CHECK_INT(setrlimit(RLIMIT_CPU, &second), 0);
    CHECK_INT(simulate_seeds(&range, &found), DN_OK);
    CHECK(found.any);
    CHECK_INT(found.signal, SIGXCPU);
    CHECK(found.seed >= 1 + found.done / 16 * 16);
}

TEST(it_is_over_when_its_time_is) {
    const simulate_range range = {
        .first = 1, .last = UINT64_MAX, .bounds = bounds_of(PLAN_ALL), .workers = 2, .for_ms = 200};
    simulate_found found;

    CHECK_INT(simulate_seeds(&range, &found), DN_OK);
    CHECK(!found.any);
    CHECK(found.done > 0);
}

TEST(who_is_told_to_stop_stops) {
    const volatile bool  stop = true;
    const simulate_range range = {
        .first = 1, .last = UINT64_MAX, .bounds = bounds_of(PLAN_ALL), .workers = 2, .stop = &stop};
    simulate_found found;

    CHECK_INT(simulate_seeds(&range, &found), DN_OK);
    CHECK(!found.any);
}
