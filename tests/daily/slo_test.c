/* slo_test.c - the rules of the SLOs, one promise at a time. tests/daily/slo_series_test.c has the long run. */
#include "obs/slo.h"
#include "slo_rig.h"
#include "starving.h"

#include <pthread.h>
#include <string.h>

/* ---- Few are too few ---- */

TEST(one_missed_of_one_is_not_a_hundred_percent) {
    rig *r = rig_new();

    rig_minutes(r, 60, (plan){.misses = 0});
    rig_minutes(r, 1, (plan){.misses = 1});
    rig_minutes(r, 60, (plan){.misses = 0});
    CHECK_INT(r->warned[DN_SLO_CUTOFF_MISS_RATE], 0);
    rig_free(r);
}

TEST(three_missed_of_three_are) {
    rig *r = rig_new();

    rig_minutes(r, 1, (plan){.misses = 3});
    rig_minutes(r, 2, (plan){.misses = 0});
    CHECK_INT(r->warned[DN_SLO_CUTOFF_MISS_RATE], 1);
    rig_free(r);
}

static void days_of_a_user_who_is_missed(rig *r, int users, int days) {
    for (int day = 0; day < days; day++) {
        for (int user = 0; user < users; user++) {
            rig_minutes(r, 1, (plan){.misses = 1});
            rig_minutes(r, 1440 / users - 1, (plan){.misses = 0});
        }
    }
}

TEST(five_users_far_apart_who_are_all_missed_are_heard_of_on_the_same_day) {
    rig *r = rig_new();

    days_of_a_user_who_is_missed(r, 5, 1);
    CHECK_INT(r->warned[DN_SLO_CUTOFF_MISS_RATE], 1);
    CHECK_UINT(rig_status(r, DN_SLO_CUTOFF_MISS_RATE)->window_minutes, 1440);
    rig_free(r);
}

TEST(one_user_who_is_missed_every_day_is_heard_of_on_the_third) {
    rig *r = rig_new();

    days_of_a_user_who_is_missed(r, 1, 2);
    CHECK_INT(r->warned[DN_SLO_CUTOFF_MISS_RATE], 0);
    days_of_a_user_who_is_missed(r, 1, 1);
    CHECK_INT(r->warned[DN_SLO_CUTOFF_MISS_RATE], 1);
    CHECK_UINT(rig_status(r, DN_SLO_CUTOFF_MISS_RATE)->window_minutes, 3 * 1440);
    rig_free(r);
}

TEST(a_warning_over_a_day_is_not_taken_back_by_a_quarter_of_an_hour) {
    rig *r = rig_new();

    days_of_a_user_who_is_missed(r, 5, 1);
    rig_minutes(r, 60, (plan){.successes = 1});
    CHECK_INT(r->recovered[DN_SLO_CUTOFF_MISS_RATE], 0);
    rig_minutes(r, 1440, (plan){.successes = 1});
    CHECK_INT(r->recovered[DN_SLO_CUTOFF_MISS_RATE], 1);
    rig_free(r);
}

TEST(two_slow_jobs_of_two_are_in_doubt_and_a_third_is_not) {
    rig *r = rig_new();

    rig_minutes(r, 1, (plan){.slow_jobs = 2, .slow_ms = 60000});
    rig_minutes(r, 10, (plan){.jobs = 0});
    CHECK_INT(rig_status(r, DN_SLO_JOB_LATENCY)->verdict, DN_SLO_DOUBT);
    CHECK_INT(r->warned[DN_SLO_JOB_LATENCY], 0);
    rig_minutes(r, 1, (plan){.slow_jobs = 1, .slow_ms = 60000});
    CHECK_INT(rig_status(r, DN_SLO_JOB_LATENCY)->verdict, DN_SLO_BREACH);
    CHECK_INT(r->warned[DN_SLO_JOB_LATENCY], 1);
    rig_free(r);
}

TEST(a_queue_or_saturation_watched_for_less_than_half_a_window_has_no_verdict) {
    rig       *r = rig_new();
    const plan full = {.depth_from = 90000, .depth_to = 90000, .full_mille = 1000};

    rig_minutes(r, 5, full);
    CHECK_INT(rig_status(r, DN_SLO_SATURATION)->verdict, DN_SLO_NO_VERDICT);
    CHECK_INT(rig_status(r, DN_SLO_QUEUE_PRESSURE)->verdict, DN_SLO_NO_VERDICT);
    rig_minutes(r, 5, full);
    CHECK_INT(rig_status(r, DN_SLO_SATURATION)->verdict, DN_SLO_BREACH);
    CHECK_INT(rig_status(r, DN_SLO_QUEUE_PRESSURE)->verdict, DN_SLO_BREACH);
    rig_free(r);
}

/* ---- What is measured ---- */

TEST(without_anything_there_is_no_verdict_and_no_value) {
    rig *r = rig_new();

    rig_minutes(r, 30, (plan){.no_levels = true});
    for (dn_slo_name name = 0; name < DN_SLO_NAMES; name++) {
        CHECK_INT(rig_status(r, name)->verdict, DN_SLO_NO_VERDICT);
        CHECK(!rig_status(r, name)->measured);
        CHECK(!rig_status(r, name)->breached);
    }
    rig_free(r);
}

TEST(jobs_that_all_end_exactly_at_the_threshold_are_fine) {
    rig *r = rig_new();

    rig_minutes(r, 30, (plan){.jobs = 20, .job_ms = 30000});
    CHECK_INT(rig_status(r, DN_SLO_JOB_LATENCY)->verdict, DN_SLO_FINE);
    CHECK(rig_status(r, DN_SLO_JOB_LATENCY)->value <= 30000);
    rig_free(r);
}

TEST(the_95th_percentile_is_told_within_a_percent) {
    rig *r = rig_new();

    rig_minutes(r, 30, (plan){.jobs = 93, .job_ms = 10, .slow_jobs = 7, .slow_ms = 20000});
    CHECK(rig_status(r, DN_SLO_JOB_LATENCY)->value > 19800);
    CHECK(rig_status(r, DN_SLO_JOB_LATENCY)->value < 20200);
    rig_free(r);
}

TEST(saturation_weighs_time_and_not_events) {
    rig *r = rig_new();

    /* Full for half of the time, in two hundred flickers a minute; then all of the time, in one event. */
    rig_minutes(r, 20, (plan){.full_mille = 500, .flickers = 200});
    const double half = rig_status(r, DN_SLO_SATURATION)->value;
    CHECK_MSG(half > 0.49 && half < 0.51, "it is %f", half);
    rig_minutes(r, 20, (plan){.full_mille = 1000});
    CHECK(rig_status(r, DN_SLO_SATURATION)->value > 0.999);
    CHECK_INT(r->warned[DN_SLO_SATURATION], 1);
    rig_free(r);
}

TEST(the_minute_that_missed_most_is_named_until_it_leaves_the_window) {
    rig *r = rig_new();

    rig_minutes(r, 1, (plan){.misses = 7, .successes = 1, .due = 100});
    rig_minutes(r, 1, (plan){.misses = 9, .successes = 1, .due = 1439});
    rig_minutes(r, 1, (plan){.misses = 4, .successes = 1, .due = 100});
    const dn_slo_status *s = rig_status(r, DN_SLO_CUTOFF_MISS_RATE);
    CHECK_INT(s->worst_due, 100);
    CHECK_UINT(s->worst_misses, 11);
    CHECK_UINT(s->misses, 20);
    CHECK_UINT(s->finalizations, 23);
    rig_minutes(r, 13, (plan){.successes = 1});
    CHECK_INT(s->worst_due, 1439);
    CHECK_UINT(s->worst_misses, 9);
    rig_minutes(r, 4, (plan){.successes = 1});
    CHECK_INT(s->worst_due, -1);
    CHECK_UINT(s->worst_misses, 0);
    rig_free(r);
}

TEST(a_queue_that_rises_all_through_the_window_is_named_though_its_average_is_low) {
    rig                 *r = rig_new();
    const dn_slo_status *s = rig_status(r, DN_SLO_QUEUE_PRESSURE);

    for (uint64_t i = 0; i < 30; i++)
        rig_minutes(r, 1, (plan){.depth_from = i * 100, .depth_to = (i + 1) * 100});
    CHECK_INT(r->warned[DN_SLO_QUEUE_PRESSURE], 1);
    CHECK(s->rising);
    CHECK_MSG(s->rise > 1300 && s->rise < 1500, "it is %f", s->rise);
    CHECK(s->value < s->threshold);
    rig_minutes(r, 3, (plan){.depth_from = 3000, .depth_to = 3000});
    CHECK(!s->rising);
    CHECK_INT(r->recovered[DN_SLO_QUEUE_PRESSURE], 1);
    rig_free(r);
}

/* ---- Warnings and recoveries ---- */

TEST(all_who_were_due_in_one_minute_and_missed_are_heard_of_though_nothing_follows) {
    rig *r = rig_new();

    rig_minutes(r, 20, (plan){.misses = 0});
    rig_minutes(r, 1, (plan){.misses = 1000});
    rig_minutes(r, 2, (plan){.misses = 0});
    CHECK_INT(r->warned[DN_SLO_CUTOFF_MISS_RATE], 1);
    rig_free(r);
}

TEST(silence_is_no_recovery) {
    rig *r = rig_new();

    rig_minutes(r, 3, (plan){.misses = 100});
    rig_minutes(r, 300, (plan){.misses = 0});
    const dn_slo_status *s = rig_status(r, DN_SLO_CUTOFF_MISS_RATE);
    CHECK(s->breached);
    CHECK_INT(s->verdict, DN_SLO_NO_VERDICT);
    CHECK_INT(r->recovered[DN_SLO_CUTOFF_MISS_RATE], 0);
    const int64_t before_ns = r->now_ns;
    rig_minutes(r, 30, (plan){.successes = 1});
    CHECK(!s->breached);
    CHECK_INT(r->recovered[DN_SLO_CUTOFF_MISS_RATE], 1);
    CHECK(s->since_ns > before_ns && s->since_ns <= before_ns + 2 * MINUTE_NS);
    rig_free(r);
}

TEST(what_lasts_is_said_once_and_so_is_its_end) {
    rig       *r = rig_new();
    const plan bad = {.ticks = 6, .tick_ms = 900}, good = {.ticks = 6, .tick_ms = 9};

    for (int round = 1; round <= 3; round++) {
        rig_minutes(r, 40, bad);
        CHECK_INT(r->warned[DN_SLO_TICK_BUDGET], round);
        rig_minutes(r, 40, good);
        CHECK_INT(r->recovered[DN_SLO_TICK_BUDGET], round);
    }
    rig_free(r);
}

TEST(a_streak_is_as_long_as_it_was_asked_to_be) {
    for (uint32_t consecutive = 1; consecutive < 9; consecutive++) {
        dn_slo_config config = rig_defaults;
        config.breach_consecutive = consecutive;
        rig *r = rig_with(&config);
        rig_minutes(r, (int)consecutive - 1, (plan){.misses = 50});
        CHECK_INT(r->warned[DN_SLO_CUTOFF_MISS_RATE], 0);
        CHECK_UINT(rig_status(r, DN_SLO_CUTOFF_MISS_RATE)->streak, consecutive - 1);
        rig_minutes(r, 1, (plan){.misses = 50});
        CHECK_INT(r->warned[DN_SLO_CUTOFF_MISS_RATE], 1);
        rig_free(r);
    }
}

TEST(a_streak_ends_with_the_window_that_it_was_seen_in) {
    rig       *r = rig_new();
    const plan good = {.jobs = 60, .job_ms = 9}, bad = {.slow_jobs = 60, .slow_ms = 50000};

    rig_minutes(r, 20, good);
    rig_minutes(r, 2, bad);
    CHECK_UINT(rig_status(r, DN_SLO_JOB_LATENCY)->streak, 2);
    rig_minutes(r, 1, good);
    CHECK_UINT(rig_status(r, DN_SLO_JOB_LATENCY)->streak, 2);
    r->now_ns += 20 * MINUTE_NS; /* nothing of all that is left */
    rig_minutes(r, 1, (plan){.jobs = 0});
    CHECK_INT(rig_status(r, DN_SLO_JOB_LATENCY)->verdict, DN_SLO_NO_VERDICT);
    CHECK_UINT(rig_status(r, DN_SLO_JOB_LATENCY)->streak, 0);
    rig_minutes(r, 1, bad);
    CHECK_INT(r->warned[DN_SLO_JOB_LATENCY], 0);
    rig_free(r);
}

TEST(a_few_in_a_hundred_all_day_long_are_heard_of_though_no_window_has_three) {
    rig *r = rig_new();

    for (int i = 0; i < 4; i++) {
        rig_minutes(r, 29, (plan){.successes = 1});
        rig_minutes(r, 1, (plan){.misses = 1});
    }
    rig_minutes(r, 20, (plan){.successes = 1});
    CHECK_INT(r->warned[DN_SLO_CUTOFF_MISS_RATE], 1);
    rig_free(r);
}

TEST(most_of_a_window_is_more_than_half_of_it) {
    const dn_slo_level half = {.watched_us = 100, .full_us = 50};
    const dn_slo_level more = {.watched_us = 100, .full_us = 51};

    CHECK(!dn_slo_judge_saturation(&half, 0.8, 0).mostly);
    CHECK(dn_slo_judge_saturation(&more, 0.8, 0).mostly);
    CHECK(!dn_slo_judge_rate(5, 10, 0.01).mostly);
    CHECK(dn_slo_judge_rate(6, 10, 0.01).mostly);
}

TEST(what_is_off_is_never_judged) {
    dn_slo_config config = rig_defaults;
    config.tick_budget_off = true;
    rig *r = rig_with(&config);

    rig_minutes(r, 30, (plan){.ticks = 6, .tick_ms = 9000, .misses = 100});
    CHECK(!rig_status(r, DN_SLO_TICK_BUDGET)->on);
    CHECK_INT(r->warned[DN_SLO_TICK_BUDGET], 0);
    CHECK(!rig_status(r, DN_SLO_CUTOFF_BURN_FAST)->on);
    CHECK_INT(r->warned[DN_SLO_CUTOFF_BURN_FAST] + r->warned[DN_SLO_CUTOFF_BURN_SLOW], 0);
    CHECK_INT(r->warned[DN_SLO_CUTOFF_MISS_RATE], 1);
    rig_free(r);
}

/* ---- The budget ---- */

static rig *rig_of_three_nines(void) {
    dn_slo_config config = rig_defaults;

    config.cutoff_objective = 0.999;
    return rig_with(&config);
}

TEST(a_fast_burn_is_one_that_matters_and_is_still_going_on) {
    rig                 *r = rig_of_three_nines();
    const dn_slo_status *s = rig_status(r, DN_SLO_CUTOFF_BURN_FAST);

    rig_minutes(r, 120, (plan){.successes = 1000});
    rig_minutes(r, 4, (plan){.successes = 800, .misses = 200}); /* 1.33 % of the hour: 13.3 */
    CHECK_INT(r->warned[DN_SLO_CUTOFF_BURN_FAST], 0);
    CHECK(s->value > 13.2 && s->value < 13.5);
    rig_minutes(r, 1, (plan){.successes = 800, .misses = 200});
    CHECK_INT(r->warned[DN_SLO_CUTOFF_BURN_FAST], 1);
    CHECK_INT(r->warned[DN_SLO_CUTOFF_BURN_SLOW], 0);
    rig_minutes(r, 6,
                (plan){.successes = 1000}); /* the hour still has them; the five minutes have not */
    CHECK_INT(r->recovered[DN_SLO_CUTOFF_BURN_FAST], 1);
    rig_free(r);
}

TEST(a_slow_burn_is_seen_in_six_hours_and_three_days) {
    rig *r = rig_of_three_nines();

    rig_minutes(r, 1000, (plan){.successes = 500});
    rig_minutes(r, 361, (plan){.successes = 497, .misses = 3}); /* 6, and 1.6 */
    CHECK_INT(r->warned[DN_SLO_CUTOFF_BURN_SLOW], 1);
    CHECK_INT(r->warned[DN_SLO_CUTOFF_BURN_FAST], 0);
    CHECK_INT(r->warned[DN_SLO_CUTOFF_MISS_RATE], 0);
    rig_free(r);
}

TEST(a_burn_rate_waits_until_its_shorter_window_was_watched) {
    rig *r = rig_of_three_nines();

    rig_minutes(r, 4, (plan){.misses = 100});
    CHECK_INT(r->warned[DN_SLO_CUTOFF_BURN_FAST], 0);
    rig_minutes(r, 1, (plan){.misses = 100});
    CHECK_INT(r->warned[DN_SLO_CUTOFF_BURN_FAST], 1);
    CHECK_INT(r->warned[DN_SLO_CUTOFF_BURN_SLOW], 0);
    rig_free(r);
}

/* ---- Rolling ---- */

TEST(a_watcher_that_starts_later_does_not_judge_what_was_before) {
    rig *r = rig_new();

    for (int i = 0; i < 1000; i++) dn_slo_cut_off(r->cells, 5);
    rig_restart_watcher(r);
    rig_minutes(r, 10, (plan){.successes = 1});
    CHECK_UINT(rig_status(r, DN_SLO_CUTOFF_MISS_RATE)->misses, 0);
    CHECK_INT(rig_status(r, DN_SLO_CUTOFF_MISS_RATE)->verdict, DN_SLO_FINE);
    rig_free(r);
}

TEST(how_often_it_rolls_between_two_evaluations_does_not_matter) {
    rig *often = rig_new(), *seldom = rig_new();
    plan p = {.jobs = 50, .job_ms = 29000, .slow_jobs = 3, .slow_ms = 31000};

    for (int i = 0; i < 40; i++) {
        p.misses = 6;
        p.successes = 594;
        p.depth_from = p.depth_to = (uint64_t)i * 500;
        p.full_mille = (uint32_t)i * 20;
        p.rolls_each_slice = true;
        rig_minutes(often, 1, p);
        p.rolls_each_slice = false;
        rig_minutes(seldom, 1, p);
        for (dn_slo_name name = 0; name < DN_SLO_NAMES; name++) {
            const double x = rig_status(often, name)->value, y = rig_status(seldom, name)->value;
            CHECK_MSG(x - y < 1e-6 * (x + 1) && y - x < 1e-6 * (x + 1), "%s: %f and %f",
                      dn_slo_text(name), x, y);
            CHECK_INT(rig_status(often, name)->verdict, rig_status(seldom, name)->verdict);
        }
    }
    rig_free(often);
    rig_free(seldom);
}

TEST(a_level_weighs_what_it_lasted_within_the_window_though_nobody_rolled_for_a_day) {
    rig *r = rig_new();

    rig_minutes(r, 1, (plan){.depth_from = 1000, .depth_to = 1000});
    r->now_ns += 1440 * MINUTE_NS;
    rig_minutes(r, 5, (plan){.depth_from = 4000, .depth_to = 4000});
    const double average = rig_status(r, DN_SLO_QUEUE_PRESSURE)->value;
    CHECK_MSG(average > 1700 && average < 2200, "it is %f", average);
    rig_free(r);
}

TEST(a_clock_that_goes_back_changes_nothing) {
    rig          *steady = rig_new(), *back = rig_new();
    dn_slo_change changes[DN_SLO_NAMES];

    for (uint64_t i = 0; i < 40; i++) {
        const plan p = {.depth_from = i * i, .depth_to = i * i, .successes = 9, .misses = i == 30};
        rig_minutes(steady, 1, p);
        rig_minutes(back, 1, p);
        dn_slo_roll(back->slo, back->cells, back->now_ns - 5 * MINUTE_NS);
        CHECK_UINT(dn_slo_evaluate(back->slo, back->now_ns - 5 * MINUTE_NS, changes), 0);
        const double x = rig_status(steady, DN_SLO_QUEUE_PRESSURE)->value;
        const double y = rig_status(back, DN_SLO_QUEUE_PRESSURE)->value;
        CHECK_MSG(x - y < 1e-6 * (x + 1) && y - x < 1e-6 * (x + 1), "%f and %f", x, y);
        CHECK_UINT(rig_status(steady, DN_SLO_CUTOFF_MISS_RATE)->misses,
                   rig_status(back, DN_SLO_CUTOFF_MISS_RATE)->misses);
    }
    rig_free(steady);
    rig_free(back);
}

TEST(what_took_less_than_nothing_took_nothing) {
    rig *r = rig_new();

    for (int i = 0; i < 10; i++) {
        dn_slo_tick_took(r->cells, -1);
        dn_slo_job_took(r->cells, INT64_MIN);
    }
    rig_minutes(r, 1, (plan){.ticks = 0});
    CHECK(rig_status(r, DN_SLO_TICK_BUDGET)->measured);
    CHECK(rig_status(r, DN_SLO_TICK_BUDGET)->value < 1);
    CHECK(rig_status(r, DN_SLO_JOB_LATENCY)->value < 1);
    rig_free(r);
}

TEST(a_window_of_one_minute_and_one_of_a_day_work_as_well) {
    static const uint32_t windows[] = {1, 2, 1440};

    for (int i = 0; i < 3; i++) {
        dn_slo_config config = rig_defaults;
        config.window_minutes = windows[i];
        rig *r = rig_with(&config);
        rig_minutes(r, 10,
                    (plan){.misses = 50, .jobs = 20, .job_ms = 50000, .ticks = 1, .tick_ms = 400});
        CHECK_INT(r->warned[DN_SLO_CUTOFF_MISS_RATE], 1);
        CHECK_INT(r->warned[DN_SLO_JOB_LATENCY], 1);
        rig_free(r);
    }
}

/* ---- What is refused ---- */

TEST(a_config_out_of_its_range_is_refused) {
    const double nan = __builtin_nan(""), inf = __builtin_inf();
    dn_slo      *slo = NULL;

    for (int i = 0; i < 12; i++) {
        dn_slo_config c = rig_defaults;
        switch (i) {
        case 0: c.window_minutes = 0; break;
        case 1: c.window_minutes = 1441; break;
        case 2: c.breach_consecutive = 0; break;
        case 3: c.tick_budget_ms = -1; break;
        case 4: c.sat_ratio = nan; break;
        case 5: c.depth_avg_max = inf; break;
        case 6: c.job_p95_max_ms = -0.5; break;
        case 7: c.cutoff_rate_max = nan; break;
        case 8: c.cutoff_objective = 1; break;
        case 9: c.cutoff_objective = -0.1; break;
        case 10: c.cutoff_objective = nan; break;
        case 11: c.sat_ratio = -1; break;
        default: break;
        }
        CHECK_MSG(dn_slo_new(&c, &slo) == DN_EINVAL, "case %d", i);
        CHECK_PTR(slo, NULL);
    }
}

TEST(without_memory_there_is_no_watcher_and_nothing_is_lost) {
    dn_slo *slo = NULL;

    for (uint64_t n = 1;; n++) {
        starve_nth(n);
        const int rc = dn_slo_new(&rig_defaults, &slo);
        if (!starve_end()) {
            CHECK_INT(rc, DN_OK);
            CHECK(n > 3);
            break;
        }
        CHECK_INT(rc, DN_ENOMEM);
        CHECK_PTR(slo, NULL);
    }
    dn_slo_free(slo);
    dn_slo_free(NULL);
}

/* ---- Threads ---- */

enum { EVENTS = 50000 / (TEST_SLOW_FACTOR * TEST_SLOW_FACTOR) * 2 };
static dn_slo_cells cells;
static _Atomic(int) running = 3;

static void *plan_many(void *unused) {
    (void)unused;
    for (int i = 0; i < EVENTS; i++) {
        dn_slo_tick_took(&cells, i);
        dn_slo_depth_is(&cells, 7, i * MINUTE_NS / EVENTS);
    }
    atomic_fetch_sub(&running, 1);
    return NULL;
}

static void *run_many(void *unused) {
    (void)unused;
    for (int i = 0; i < EVENTS; i++) {
        dn_slo_job_took(&cells, 5000);
        dn_slo_in_flight_is(&cells, 8, 8, i * MINUTE_NS / EVENTS);
    }
    atomic_fetch_sub(&running, 1);
    return NULL;
}

static void *finalize_many(void *unused) {
    (void)unused;
    for (int i = 0; i < EVENTS; i++) {
        dn_slo_succeeded(&cells);
        dn_slo_cut_off(&cells, (uint32_t)i % 2);
    }
    atomic_fetch_sub(&running, 1);
    return NULL;
}

TEST(while_three_loops_tell_the_watcher_misses_nothing) {
    void *(*const loops[])(void *) = {plan_many, run_many, finalize_many};
    dn_slo       *slo = NULL;
    dn_slo_change changes[DN_SLO_NAMES];
    pthread_t     threads[3];
    bool          last;

    CHECK_INT(dn_slo_new(&rig_defaults, &slo), DN_OK);
    dn_slo_roll(slo, &cells, 0);
    for (int i = 0; i < 3; i++) CHECK_INT(pthread_create(&threads[i], NULL, loops[i], NULL), 0);
    int64_t now_ns = 0;
    do {
        last = atomic_load(&running) == 0;
        now_ns += 1000;
        dn_slo_roll(slo, &cells, now_ns);
        (void)dn_slo_evaluate(slo, now_ns, changes);
    } while (!last);
    for (int i = 0; i < 3; i++) CHECK_INT(pthread_join(threads[i], NULL), 0);
    const dn_slo_status *rate = dn_slo_status_borrow(slo, DN_SLO_CUTOFF_MISS_RATE);
    CHECK_UINT(rate->misses, EVENTS);
    CHECK_UINT(rate->finalizations, 2 * EVENTS);
    CHECK_UINT(rate->worst_misses, EVENTS / 2);
    CHECK_INT(rate->worst_due, 0);
    CHECK(dn_slo_status_borrow(slo, DN_SLO_SATURATION)->value > 0.999);
    dn_slo_free(slo);
}

/* ---- Clocks ---- */

/* A handler that runs for 3 ms on another loop tells of the instant it began at; the watcher has looked meanwhile. */
TEST(a_level_that_is_told_with_an_instant_before_the_last_look_is_no_breach) {
    rig *r = rig_new();

    rig_minutes(r, 20, (plan){.depth_from = 100, .depth_to = 100});
    dn_slo_depth_is(r->cells, 5000, r->now_ns);
    dn_slo_in_flight_is(r->cells, SLOTS, SLOTS, r->now_ns);
    r->now_ns += MINUTE_NS / SLICES;
    rig_evaluate(r);
    dn_slo_depth_is(r->cells, 0, r->now_ns - 3000000);
    dn_slo_in_flight_is(r->cells, 0, SLOTS, r->now_ns - 3000000);
    r->now_ns += 1000000;
    for (int i = 0; i < 3; i++) rig_evaluate(r);
    CHECK(rig_status(r, DN_SLO_QUEUE_PRESSURE)->value < 5000);
    CHECK(rig_status(r, DN_SLO_SATURATION)->value < 1);
    CHECK_INT(r->warned[DN_SLO_QUEUE_PRESSURE], 0);
    CHECK_INT(r->warned[DN_SLO_SATURATION], 0);
    rig_free(r);
}
