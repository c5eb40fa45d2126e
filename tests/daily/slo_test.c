/* slo_test.c - the SLOs of the daily path, one promise at a time. slo_series_test.c has the long run. */
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
    CHECK_INT(r->warned[DN_DAILY_CUTOFF_MISS_RATE], 0);
    rig_free(r);
}

TEST(three_missed_of_three_are) {
    rig *r = rig_new();

    rig_minutes(r, 1, (plan){.misses = 3});
    rig_minutes(r, 2, (plan){.misses = 0});
    CHECK_INT(r->warned[DN_DAILY_CUTOFF_MISS_RATE], 1);
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
    CHECK_INT(r->warned[DN_DAILY_CUTOFF_MISS_RATE], 1);
    CHECK_UINT(rig_status(r, DN_DAILY_CUTOFF_MISS_RATE)->minutes, 1440);
    rig_free(r);
}

TEST(one_user_who_is_missed_every_day_is_heard_of_on_the_third) {
    rig *r = rig_new();

    days_of_a_user_who_is_missed(r, 1, 2);
    CHECK_INT(r->warned[DN_DAILY_CUTOFF_MISS_RATE], 0);
    days_of_a_user_who_is_missed(r, 1, 1);
    CHECK_INT(r->warned[DN_DAILY_CUTOFF_MISS_RATE], 1);
    CHECK_UINT(rig_status(r, DN_DAILY_CUTOFF_MISS_RATE)->minutes, 3 * 1440);
    rig_free(r);
}

TEST(a_warning_over_a_day_is_not_taken_back_by_a_quarter_of_an_hour) {
    rig *r = rig_new();

    days_of_a_user_who_is_missed(r, 5, 1);
    rig_minutes(r, 60, (plan){.successes = 1});
    CHECK_INT(r->recovered[DN_DAILY_CUTOFF_MISS_RATE], 0);
    rig_minutes(r, 1440, (plan){.successes = 1});
    CHECK_INT(r->recovered[DN_DAILY_CUTOFF_MISS_RATE], 1);
    rig_free(r);
}

TEST(two_slow_jobs_of_two_are_in_doubt_and_a_third_is_not) {
    rig *r = rig_new();

    rig_minutes(r, 1, (plan){.slow_jobs = 2, .slow_ms = 60000});
    rig_minutes(r, 10, (plan){.jobs = 0});
    CHECK_INT(rig_status(r, DN_DAILY_JOB_LATENCY)->now.verdict, DN_SLO_DOUBT);
    CHECK_INT(r->warned[DN_DAILY_JOB_LATENCY], 0);
    rig_minutes(r, 1, (plan){.slow_jobs = 1, .slow_ms = 60000});
    CHECK_INT(rig_status(r, DN_DAILY_JOB_LATENCY)->now.verdict, DN_SLO_BREACH);
    CHECK_INT(r->warned[DN_DAILY_JOB_LATENCY], 1);
    rig_free(r);
}

TEST(a_queue_or_saturation_watched_for_less_than_half_a_window_has_no_verdict) {
    rig       *r = rig_new();
    const plan full = {.depth_from = 90000, .depth_to = 90000, .full_mille = 1000};

    rig_minutes(r, 5, full);
    CHECK_INT(rig_status(r, DN_DAILY_SATURATION)->now.verdict, DN_SLO_NO_VERDICT);
    CHECK_INT(rig_status(r, DN_DAILY_QUEUE_PRESSURE)->now.verdict, DN_SLO_NO_VERDICT);
    rig_minutes(r, 5, full);
    CHECK_INT(rig_status(r, DN_DAILY_SATURATION)->now.verdict, DN_SLO_BREACH);
    CHECK_INT(rig_status(r, DN_DAILY_QUEUE_PRESSURE)->now.verdict, DN_SLO_BREACH);
    rig_free(r);
}

/* ---- What is measured ---- */

TEST(without_anything_there_is_no_verdict_and_no_value) {
    rig *r = rig_new();

    rig_minutes(r, 30, (plan){.no_levels = true});
    for (size_t name = 0; name < DN_DAILY_SLOS; name++) {
        CHECK_INT(rig_status(r, name)->now.verdict, DN_SLO_NO_VERDICT);
        CHECK(!rig_status(r, name)->now.measured);
        CHECK(!rig_status(r, name)->breached);
    }
    rig_free(r);
}

TEST(jobs_that_all_end_exactly_at_the_threshold_are_fine) {
    rig *r = rig_new();

    rig_minutes(r, 30, (plan){.jobs = 20, .job_ms = 30000});
    CHECK_INT(rig_status(r, DN_DAILY_JOB_LATENCY)->now.verdict, DN_SLO_FINE);
    CHECK(rig_status(r, DN_DAILY_JOB_LATENCY)->now.value <= 30000);
    rig_free(r);
}

TEST(the_95th_percentile_is_told_within_a_percent) {
    rig *r = rig_new();

    rig_minutes(r, 30, (plan){.jobs = 93, .job_ms = 10, .slow_jobs = 7, .slow_ms = 20000});
    CHECK(rig_status(r, DN_DAILY_JOB_LATENCY)->now.value > 19800);
    CHECK(rig_status(r, DN_DAILY_JOB_LATENCY)->now.value < 20200);
    rig_free(r);
}

TEST(saturation_weighs_time_and_not_events) {
    rig *r = rig_new();

    /* Full for half of the time, in two hundred flickers a minute; then all of the time, in one event. */
    rig_minutes(r, 20, (plan){.full_mille = 500, .flickers = 200});
    const double half = rig_status(r, DN_DAILY_SATURATION)->now.value;
    CHECK_MSG(half > 0.49 && half < 0.51, "it is %f", half);
    rig_minutes(r, 20, (plan){.full_mille = 1000});
    CHECK(rig_status(r, DN_DAILY_SATURATION)->now.value > 0.999);
    CHECK_INT(r->warned[DN_DAILY_SATURATION], 1);
    rig_free(r);
}

TEST(the_minute_that_missed_most_is_named_until_it_leaves_the_window) {
    rig *r = rig_new();

    rig_minutes(r, 1, (plan){.misses = 7, .successes = 1, .due = 100});
    rig_minutes(r, 1, (plan){.misses = 9, .successes = 1, .due = 1439});
    rig_minutes(r, 1, (plan){.misses = 4, .successes = 1, .due = 100});
    const dn_slo_status *s = rig_status(r, DN_DAILY_CUTOFF_MISS_RATE);
    CHECK_INT(s->worst, 100);
    CHECK_UINT(s->worst_bad, 11);
    CHECK_UINT(rig_outcomes(r).bad, 20);
    CHECK_UINT(rig_outcomes(r).all, 23);
    rig_minutes(r, 13, (plan){.successes = 1});
    CHECK_INT(s->worst, 1439);
    CHECK_UINT(s->worst_bad, 9);
    rig_minutes(r, 4, (plan){.successes = 1});
    CHECK_INT(s->worst, -1);
    CHECK_UINT(s->worst_bad, 0);
    rig_free(r);
}

TEST(a_queue_that_rises_all_through_the_window_is_named_though_its_average_is_low) {
    rig                 *r = rig_new();
    const dn_slo_status *s = rig_status(r, DN_DAILY_QUEUE_PRESSURE);

    for (uint64_t i = 0; i < 30; i++)
        rig_minutes(r, 1, (plan){.depth_from = i * 100, .depth_to = (i + 1) * 100});
    CHECK_INT(r->warned[DN_DAILY_QUEUE_PRESSURE], 1);
    CHECK(s->now.rising);
    CHECK(s->now.value < s->row->limit);
    rig_minutes(r, 3, (plan){.depth_from = 3000, .depth_to = 3000});
    CHECK(!s->now.rising);
    CHECK_INT(r->recovered[DN_DAILY_QUEUE_PRESSURE], 1);
    rig_free(r);
}

/* ---- Warnings and recoveries ---- */

TEST(all_who_were_due_in_one_minute_and_missed_are_heard_of_though_nothing_follows) {
    rig *r = rig_new();

    rig_minutes(r, 20, (plan){.misses = 0});
    rig_minutes(r, 1, (plan){.misses = 1000});
    rig_minutes(r, 2, (plan){.misses = 0});
    CHECK_INT(r->warned[DN_DAILY_CUTOFF_MISS_RATE], 1);
    rig_free(r);
}

TEST(silence_is_no_recovery) {
    rig *r = rig_new();

    rig_minutes(r, 3, (plan){.misses = 100});
    rig_minutes(r, 300, (plan){.misses = 0});
    const dn_slo_status *s = rig_status(r, DN_DAILY_CUTOFF_MISS_RATE);
    CHECK(s->breached);
    CHECK_INT(s->now.verdict, DN_SLO_NO_VERDICT);
    CHECK_INT(r->recovered[DN_DAILY_CUTOFF_MISS_RATE], 0);
    rig_minutes(r, 30, (plan){.successes = 1});
    CHECK(!s->breached);
    CHECK_INT(r->recovered[DN_DAILY_CUTOFF_MISS_RATE], 1);
    rig_free(r);
}

TEST(what_lasts_is_said_once_and_so_is_its_end) {
    rig       *r = rig_new();
    const plan bad = {.ticks = 6, .tick_ms = 900}, good = {.ticks = 6, .tick_ms = 9};

    for (int round = 1; round <= 3; round++) {
        rig_minutes(r, 40, bad);
        CHECK_INT(r->warned[DN_DAILY_TICK_BUDGET], round);
        rig_minutes(r, 40, good);
        CHECK_INT(r->recovered[DN_DAILY_TICK_BUDGET], round);
    }
    rig_free(r);
}

TEST(a_streak_is_as_long_as_it_was_asked_to_be) {
    for (uint32_t consecutive = 1; consecutive < 9; consecutive++) {
        dn_daily_slo_config config = rig_defaults;
        config.breach_consecutive = consecutive;
        rig *r = rig_with(&config);
        rig_minutes(r, (int)consecutive - 1, (plan){.misses = 50});
        CHECK_INT(r->warned[DN_DAILY_CUTOFF_MISS_RATE], 0);
        CHECK_UINT(rig_status(r, DN_DAILY_CUTOFF_MISS_RATE)->streak, consecutive - 1);
        rig_minutes(r, 1, (plan){.misses = 50});
        CHECK_INT(r->warned[DN_DAILY_CUTOFF_MISS_RATE], 1);
        rig_free(r);
    }
}

TEST(a_streak_ends_with_the_window_that_it_was_seen_in) {
    rig       *r = rig_new();
    const plan good = {.jobs = 60, .job_ms = 9}, bad = {.slow_jobs = 60, .slow_ms = 50000};

    rig_minutes(r, 20, good);
    rig_minutes(r, 2, bad);
    CHECK_UINT(rig_status(r, DN_DAILY_JOB_LATENCY)->streak, 2);
    rig_minutes(r, 1, good);
    CHECK_UINT(rig_status(r, DN_DAILY_JOB_LATENCY)->streak, 2);
    r->now_ns += 20 * MINUTE_NS; /* nothing of all that is left */
    rig_minutes(r, 1, (plan){.jobs = 0});
    CHECK_INT(rig_status(r, DN_DAILY_JOB_LATENCY)->now.verdict, DN_SLO_NO_VERDICT);
    CHECK_UINT(rig_status(r, DN_DAILY_JOB_LATENCY)->streak, 0);
    rig_minutes(r, 1, bad);
    CHECK_INT(r->warned[DN_DAILY_JOB_LATENCY], 0);
    rig_free(r);
}

TEST(a_few_in_a_hundred_all_day_long_are_heard_of_though_no_window_has_three) {
    rig *r = rig_new();

    for (int i = 0; i < 4; i++) {
        rig_minutes(r, 29, (plan){.successes = 1});
        rig_minutes(r, 1, (plan){.misses = 1});
    }
    rig_minutes(r, 20, (plan){.successes = 1});
    CHECK_INT(r->warned[DN_DAILY_CUTOFF_MISS_RATE], 1);
    rig_free(r);
}

/* Silence follows, so only "most of the window" can lengthen the streak. */
static uint32_t streak_after_silence(plan p) {
    rig *r = rig_new();

    rig_minutes(r, 1, p);
    rig_minutes(r, 5, (plan){.misses = 0});
    const uint32_t streak = rig_status(r, DN_DAILY_CUTOFF_MISS_RATE)->streak;
    rig_free(r);
    return streak;
}

static uint32_t streak_of_slots(uint32_t full_mille) {
    dn_daily_slo_config config = rig_defaults;
    config.sat_ratio = 0.4;
    rig *r = rig_with(&config);

    rig_minutes(r, 15, (plan){.full_mille = full_mille});
    const uint32_t before = rig_status(r, DN_DAILY_SATURATION)->streak;
    r->now_ns += 1;
    rig_evaluate(r); /* the levels end below their ceiling, so the news is good */
    const uint32_t streak = rig_status(r, DN_DAILY_SATURATION)->streak - before;
    rig_free(r);
    return streak;
}

TEST(most_of_a_window_is_more_than_half_of_it) {
    CHECK_UINT(streak_after_silence((plan){.misses = 60, .successes = 60}), 1);
    CHECK_UINT(streak_after_silence((plan){.misses = 66, .successes = 60}), 6);
    CHECK_UINT(streak_of_slots(499), 0);
    CHECK_UINT(streak_of_slots(510), 1);
}

TEST(what_is_off_is_never_judged) {
    dn_daily_slo_config config = rig_defaults;
    config.tick_budget_off = true;
    rig *r = rig_with(&config);

    rig_minutes(r, 30, (plan){.ticks = 6, .tick_ms = 9000, .misses = 100});
    CHECK(rig_status(r, DN_DAILY_TICK_BUDGET)->row->off);
    CHECK_PTR(rig_history(r, DN_DAILY_TICK_BUDGET), NULL);
    CHECK_INT(r->warned[DN_DAILY_TICK_BUDGET], 0);
    CHECK(rig_status(r, DN_DAILY_CUTOFF_BURN_FAST)->row->off);
    CHECK_INT(r->warned[DN_DAILY_CUTOFF_BURN_FAST] + r->warned[DN_DAILY_CUTOFF_BURN_SLOW], 0);
    CHECK_INT(r->warned[DN_DAILY_CUTOFF_MISS_RATE], 1);
    rig_free(r);
}

/* ---- The budget ---- */

static rig *rig_of_three_nines(void) {
    dn_daily_slo_config config = rig_defaults;

    config.cutoff_objective = 0.999;
    return rig_with(&config);
}

TEST(a_fast_burn_is_one_that_matters_and_is_still_going_on) {
    rig                 *r = rig_of_three_nines();
    const dn_slo_status *s = rig_status(r, DN_DAILY_CUTOFF_BURN_FAST);

    rig_minutes(r, 120, (plan){.successes = 1000});
    rig_minutes(r, 4, (plan){.successes = 800, .misses = 200}); /* 1.33 % of the hour: 13.3 */
    CHECK_INT(r->warned[DN_DAILY_CUTOFF_BURN_FAST], 0);
    CHECK(s->now.value > 13.2 && s->now.value < 13.5);
    rig_minutes(r, 1, (plan){.successes = 800, .misses = 200});
    CHECK_INT(r->warned[DN_DAILY_CUTOFF_BURN_FAST], 1);
    CHECK_INT(r->warned[DN_DAILY_CUTOFF_BURN_SLOW], 0);
    rig_minutes(r, 6,
                (plan){.successes = 1000}); /* the hour still has them; the five minutes have not */
    CHECK_INT(r->recovered[DN_DAILY_CUTOFF_BURN_FAST], 1);
    rig_free(r);
}

TEST(a_slow_burn_is_seen_in_six_hours_and_three_days) {
    rig *r = rig_of_three_nines();

    rig_minutes(r, 1000, (plan){.successes = 500});
    rig_minutes(r, 361, (plan){.successes = 497, .misses = 3}); /* 6, and 1.6 */
    CHECK_INT(r->warned[DN_DAILY_CUTOFF_BURN_SLOW], 1);
    CHECK_INT(r->warned[DN_DAILY_CUTOFF_BURN_FAST], 0);
    CHECK_INT(r->warned[DN_DAILY_CUTOFF_MISS_RATE], 0);
    rig_free(r);
}

TEST(a_burn_rate_waits_until_its_shorter_window_was_watched) {
    rig *r = rig_of_three_nines();

    rig_minutes(r, 4, (plan){.misses = 100});
    CHECK_INT(r->warned[DN_DAILY_CUTOFF_BURN_FAST], 0);
    rig_minutes(r, 1, (plan){.misses = 100});
    CHECK_INT(r->warned[DN_DAILY_CUTOFF_BURN_FAST], 1);
    CHECK_INT(r->warned[DN_DAILY_CUTOFF_BURN_SLOW], 0);
    rig_free(r);
}

/* ---- Rolling ---- */

TEST(a_restarted_watcher_begins_with_empty_windows) {
    rig *r = rig_new();

    rig_minutes(r, 1, (plan){.misses = 1000});
    rig_restart(r);
    rig_minutes(r, 10, (plan){.successes = 1});
    CHECK_UINT(rig_outcomes(r).bad, 0);
    CHECK_INT(rig_status(r, DN_DAILY_CUTOFF_MISS_RATE)->now.verdict, DN_SLO_FINE);
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
        for (size_t name = 0; name < DN_DAILY_SLOS; name++) {
            const double x = rig_status(often, name)->now.value,
                         y = rig_status(seldom, name)->now.value;
            CHECK_MSG(x - y < 1e-6 * (x + 1) && y - x < 1e-6 * (x + 1), "%s: %f and %f",
                      often->daily.rows[name].name, x, y);
            CHECK_INT(rig_status(often, name)->now.verdict, rig_status(seldom, name)->now.verdict);
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
    const double average = rig_status(r, DN_DAILY_QUEUE_PRESSURE)->now.value;
    CHECK_MSG(average > 1700 && average < 2200, "it is %f", average);
    rig_free(r);
}

TEST(a_clock_that_goes_back_changes_nothing) {
    rig   *steady = rig_new(), *back = rig_new();
    size_t changed[DN_SLO_ROWS_MAX];

    for (uint64_t i = 0; i < 40; i++) {
        const plan p = {.depth_from = i * i, .depth_to = i * i, .successes = 9, .misses = i == 30};
        rig_minutes(steady, 1, p);
        rig_minutes(back, 1, p);
        CHECK_UINT(dn_slo_table_evaluate(back->slos, back->now_ns - 5 * MINUTE_NS, changed), 0);
        const double x = rig_status(steady, DN_DAILY_QUEUE_PRESSURE)->now.value;
        const double y = rig_status(back, DN_DAILY_QUEUE_PRESSURE)->now.value;
        CHECK_MSG(x - y < 1e-6 * (x + 1) && y - x < 1e-6 * (x + 1), "%f and %f", x, y);
        CHECK_UINT(rig_outcomes(steady).bad, rig_outcomes(back).bad);
    }
    rig_free(steady);
    rig_free(back);
}

TEST(what_took_less_than_nothing_took_nothing) {
    rig *r = rig_new();

    for (int i = 0; i < 10; i++) {
        dn_slo_took(rig_history(r, DN_DAILY_TICK_BUDGET), -1);
        dn_slo_took(rig_history(r, DN_DAILY_JOB_LATENCY), INT64_MIN);
    }
    rig_minutes(r, 1, (plan){.ticks = 0});
    CHECK(rig_status(r, DN_DAILY_TICK_BUDGET)->now.measured);
    CHECK(rig_status(r, DN_DAILY_TICK_BUDGET)->now.value < 1);
    CHECK(rig_status(r, DN_DAILY_JOB_LATENCY)->now.value < 1);
    rig_free(r);
}

TEST(a_window_of_one_minute_and_one_of_a_day_work_as_well) {
    static const uint32_t windows[] = {1, 2, 1440};

    for (int i = 0; i < 3; i++) {
        dn_daily_slo_config config = rig_defaults;
        config.window_minutes = windows[i];
        rig *r = rig_with(&config);
        rig_minutes(r, 10,
                    (plan){.misses = 50, .jobs = 20, .job_ms = 50000, .ticks = 1, .tick_ms = 400});
        CHECK_INT(r->warned[DN_DAILY_CUTOFF_MISS_RATE], 1);
        CHECK_INT(r->warned[DN_DAILY_JOB_LATENCY], 1);
        rig_free(r);
    }
}

/* ---- What is refused ---- */

TEST(a_config_out_of_its_range_is_refused) {
    const double  nan = __builtin_nan(""), inf = __builtin_inf();
    dn_slo_table *slos = NULL;
    dn_daily_slo  daily;

    for (int i = 0; i < 12; i++) {
        dn_daily_slo_config c = rig_defaults;
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
        dn_daily_slo_init(&daily, &c);
        CHECK_MSG(rig_table(&daily, 0, &slos) == DN_EINVAL, "case %d", i);
        CHECK_PTR(slos, NULL);
    }
}

TEST(without_memory_there_is_no_watcher_and_nothing_is_lost) {
    dn_slo_table *slos = NULL;
    dn_daily_slo  daily;

    dn_daily_slo_init(&daily, &rig_defaults);
    for (uint64_t n = 1;; n++) {
        starve_nth(n);
        const int rc = rig_table(&daily, 0, &slos);
        if (!starve_end()) {
            CHECK_INT(rc, DN_OK);
            CHECK(n > 3);
            break;
        }
        CHECK_INT(rc, DN_ENOMEM);
        CHECK_PTR(slos, NULL);
    }
    dn_slo_table_free(slos);
    dn_slo_table_free(NULL);
}

/* ---- Threads ---- */

enum { EVENTS = 50000 / (TEST_SLOW_FACTOR * TEST_SLOW_FACTOR) * 2 };
static rig         *shared;
static _Atomic(int) running = 3;

static void *plan_many(void *unused) {
    (void)unused;
    for (int i = 0; i < EVENTS; i++) {
        dn_slo_took(rig_history(shared, DN_DAILY_TICK_BUDGET), i);
        dn_slo_level_is(rig_history(shared, DN_DAILY_QUEUE_PRESSURE), 7, 0,
                        shared->now_ns + i * MINUTE_NS / EVENTS);
    }
    atomic_fetch_sub(&running, 1);
    return NULL;
}

static void *run_many(void *unused) {
    (void)unused;
    for (int i = 0; i < EVENTS; i++) {
        dn_slo_took(rig_history(shared, DN_DAILY_JOB_LATENCY), 5000);
        dn_slo_level_is(rig_history(shared, DN_DAILY_SATURATION), 8, 8,
                        shared->now_ns + i * MINUTE_NS / EVENTS);
    }
    atomic_fetch_sub(&running, 1);
    return NULL;
}

static void *finalize_many(void *unused) {
    (void)unused;
    for (int i = 0; i < EVENTS; i++) {
        dn_slo_ended(rig_history(shared, DN_DAILY_CUTOFF_MISS_RATE), true, 0);
        dn_slo_ended(rig_history(shared, DN_DAILY_CUTOFF_MISS_RATE), false, (uint32_t)i % 2);
    }
    atomic_fetch_sub(&running, 1);
    return NULL;
}

TEST(while_three_loops_emit_the_watcher_misses_nothing) {
    void *(*const loops[])(void *) = {plan_many, run_many, finalize_many};
    size_t    changed[DN_SLO_ROWS_MAX];
    pthread_t threads[3];
    bool      last;

    shared = rig_new();
    for (int i = 0; i < 3; i++) CHECK_INT(pthread_create(&threads[i], NULL, loops[i], NULL), 0);
    int64_t now_ns = shared->now_ns;
    do {
        last = atomic_load(&running) == 0;
        now_ns += 1000;
        (void)dn_slo_table_evaluate(shared->slos, now_ns, changed);
    } while (!last);
    for (int i = 0; i < 3; i++) CHECK_INT(pthread_join(threads[i], NULL), 0);
    const dn_slo_status *rate = rig_status(shared, DN_DAILY_CUTOFF_MISS_RATE);
    CHECK_UINT(rig_outcomes(shared).bad, EVENTS);
    CHECK_UINT(rig_outcomes(shared).all, 2 * EVENTS);
    CHECK_UINT(rate->worst_bad, EVENTS / 2);
    CHECK_INT(rate->worst, 0);
    CHECK(rig_status(shared, DN_DAILY_SATURATION)->now.value > 0.999);
    rig_free(shared);
}

/* ---- Clocks ---- */

/* A handler that runs for 3 ms on another loop tells of the instant it began at; the watcher has looked meanwhile. */
TEST(a_level_that_is_told_with_an_instant_before_the_last_look_is_no_breach) {
    rig            *r = rig_new();
    dn_slo_history *queue = rig_history(r, DN_DAILY_QUEUE_PRESSURE);
    dn_slo_history *slots = rig_history(r, DN_DAILY_SATURATION);

    rig_minutes(r, 20, (plan){.depth_from = 100, .depth_to = 100});
    dn_slo_level_is(queue, 5000, 0, r->now_ns);
    dn_slo_level_is(slots, SLOTS, SLOTS, r->now_ns);
    r->now_ns += MINUTE_NS / SLICES;
    rig_evaluate(r);
    dn_slo_level_is(queue, 0, 0, r->now_ns - 3000000);
    dn_slo_level_is(slots, 0, SLOTS, r->now_ns - 3000000);
    r->now_ns += 1000000;
    for (int i = 0; i < 3; i++) rig_evaluate(r);
    CHECK(rig_status(r, DN_DAILY_QUEUE_PRESSURE)->now.value < 5000);
    CHECK(rig_status(r, DN_DAILY_SATURATION)->now.value < 1);
    CHECK_INT(r->warned[DN_DAILY_QUEUE_PRESSURE], 0);
    CHECK_INT(r->warned[DN_DAILY_SATURATION], 0);
    rig_free(r);
}
