/* daily_test.c - the daily rule, lived: CONTRACT §1 sentence by sentence. */
#include "actor/pipe.h"
#include "diurnal/supervisor.h"
#include "world.h"

/* ---- The window ---- */

TEST(a_user_is_attempted_when_the_window_opens_and_a_success_is_written) {
    world_at(AT(6, 0));
    world_boots();
    user("ada", DUE(8, 0));
    world_runs_to(AT(7, 0) - 1);
    CHECK_INT(starts_of("ada"), 0);
    world_runs_to(AT(7, 1));
    CHECK_INT(starts_of("ada"), 1);
    CHECK_INT(start_of("ada", 1)->at_ms - AT(7, 0), 0);
    CHECK_INT(start_of("ada", 1)->day, TODAY);
    CHECK_UINT(start_of("ada", 1)->attempt, 1);
    CHECK_STR(ledger("ada"), "success 2026-03-02 1");
    CHECK_INT(stored("ada").last_day, TODAY);
    CHECK_INT(stored("ada").last_run_ms - AT(7, 0), 500);
    world_runs_to(AT(23, 59));
    CHECK_INT(starts_of("ada"), 1);
    CHECK_STR(ledger("ada"), "success 2026-03-02 1");
    CHECK_UINT(stored("ada").context_epoch, 0);
    world_ends();
}

TEST(every_day_has_its_own_attempt_and_its_own_row) {
    world_at(AT(6, 0));
    world_boots();
    user("ada", DUE(8, 0));
    world_runs_to(AT(6, 0) + 3 * DN_DAY_MS);
    CHECK_INT(starts_of("ada"), 3);
    CHECK_STR(ledger("ada"), "success 2026-03-04 1, success 2026-03-03 1, success 2026-03-02 1");
    world_ends();
}

TEST(a_job_that_fails_is_tried_again_after_the_retry_delay) {
    world_at(AT(6, 59));
    job_fails("ada", 1, DN_CLASS_LLM);
    job_fails("ada", 2, DN_CLASS_PARSE);
    world_boots();
    user("ada", DUE(8, 0));
    world_runs_to(AT(8, 30));
    CHECK_INT(starts_of("ada"), 3);
    CHECK_INT(start_of("ada", 1)->at_ms - AT(7, 0), 0);
    CHECK_INT(start_of("ada", 2)->at_ms - AT(7, 10), 0);
    CHECK_INT(start_of("ada", 3)->at_ms - AT(7, 20), 0);
    CHECK_UINT(start_of("ada", 3)->attempt, 3);
    CHECK_STR(ledger("ada"), "success 2026-03-02 3 parse");
    world_ends();
}

TEST(a_retry_comes_at_its_tick_however_late_the_one_before_was_planned) {
    static const dn_sim_faults slow = {
        .delay_ppm = 300000, .delay_ms_max = 9, .slow_turn_ppm = 300000, .slow_turn_ms_max = 9};

    world_at(AT(6, 59));
    dn_log_threshold(DN_LOG_NONE);
    w.config.retry_delay_minutes = 1;
    job_fails("ada", 0, DN_CLASS_LLM);
    world_boots();
    user("ada", DUE(8, 0));
    dn_sim_set_faults(w.sim, &slow);
    world_runs_to(AT(7, 30) + 30000);
    dn_sim_step_wall(w.sim, 12345); /* one tick is too early by that */
    world_runs_to(AT(8, 30));
    CHECK_INT(starts_of("ada"), 59);
    CHECK_STR(ledger("ada"), "cutoff_reached 2026-03-02 59 llm");
    world_ends();
}

typedef struct askings {
    int     len;
    int64_t at_ms[64];
} askings;

static void is_asked_for(void *context, dn_self *self, const dn_happening *h) {
    askings *a = context;

    (void)self;
    CHECK(a->len < 64);
    a->at_ms[a->len++] = h->at_ms;
}

TEST(behind_a_plan_that_comes_late_by_many_ticks_the_delay_is_not_over_at_once) {
    static const dn_sim_faults slow = {.slow_turn_ppm = 1000000, .slow_turn_ms_max = 15 * 60000};
    static const dn_sim_faults none;
    uint64_t                   random = test_seed();
    int                        late = 0;

    for (int run = 0; run < 50; run++) {
        askings          asked = {0};
        const dn_journal journal = {is_asked_for, &asked, DN_HAPPENED_BIT(DN_HAPPENED_ENQUEUED)};
        dn_sim_end       end;

        world_at_with_seed(AT(6, 59), test_random(&random));
        dn_log_threshold(DN_LOG_NONE);
        w.config.journal = &journal;
        job_fails("ada", 0, DN_CLASS_LLM);
        world_boots();
        user("ada", DUE(8, 0));
        world_runs_to(AT(7, 0) - 1);
        dn_sim_set_faults(w.sim, &slow);
        while (asked.len == 0 && dn_sim_step(w.sim, dn_sim_mono_ms(w.sim) + DN_DAY_MS, &end))
            continue;
        dn_sim_set_faults(w.sim, &none);
        world_runs_to(dn_sim_wall_ms(w.sim) + 3600000);
        for (int i = 1; i < asked.len; i++) CHECK(asked.at_ms[i] - asked.at_ms[i - 1] >= 9 * 60000);
        late += asked.len > 1 && asked.at_ms[0] > AT(7, 11);
        world_ends();
    }
    CHECK(late > 0);
}

TEST(a_user_whose_jobs_all_fail_is_finalized_at_its_cutoff_and_its_epoch_grows) {
    world_at(AT(6, 59));
    job_fails("ada", 0, DN_CLASS_LLM);
    world_boots();
    user("ada", DUE(8, 0));
    world_runs_to(AT(8, 0) - 1);
    CHECK_INT(stored("ada").last_day, DN_DAY_NONE);
    world_runs_to(AT(8, 0) + 10);
    CHECK_INT(starts_of("ada"), 6);
    CHECK_STR(ledger("ada"), "cutoff_reached 2026-03-02 6 llm");
    CHECK_UINT(stored("ada").context_epoch, 1);
    CHECK(stored("ada").last_run_ms == INT64_MIN);
    world_runs_to(AT(8, 0) + DN_DAY_MS);
    CHECK_UINT(start_of("ada", 7)->epoch, 1);
    CHECK_UINT(start_of("ada", 7)->attempt, 1);
    world_ends();
}

TEST(a_window_that_crosses_midnight_belongs_to_the_day_of_its_cutoff) {
    world_at(AT(22, 0));
    world_boots();
    user("midnight", DUE(0, 0));
    user("soon_after", DUE(0, 20));
    world_runs_to(AT(23, 30));
    CHECK_INT(start_of("midnight", 1)->at_ms - AT(23, 0), 0);
    CHECK_INT(start_of("midnight", 1)->day, TOMORROW);
    CHECK_INT(start_of("soon_after", 1)->at_ms - AT(23, 20), 0);
    CHECK_INT(start_of("soon_after", 1)->day, TOMORROW);
    CHECK_STR(ledger("midnight"), "success 2026-03-03 1");
    world_runs_to(AT(22, 0) + DN_DAY_MS);
    CHECK_INT(starts_of(""), 2);
    world_ends();
}

TEST(a_new_user_whose_cutoff_of_today_has_passed_starts_tomorrow_and_is_told) {
    world_at(AT(12, 0));
    world_boots();
    CHECK_INT(set_user("late", DUE(8, 0), DN_DAY_NONE, false).user.starts_on, TOMORROW);
    CHECK_INT(set_user("early", DUE(13, 0), DN_DAY_NONE, false).user.starts_on, TODAY);
    world_runs_to(AT(23, 59));
    CHECK_STR(ledger("late"), "");
    CHECK_STR(ledger("early"), "success 2026-03-02 1");
    world_ends();
}

TEST(by_the_letter_a_user_registered_after_its_cutoff_is_finalized_at_the_next_tick) {
    world_at(AT(12, 0));
    world_boots();
    (void)set_user("ada", DUE(8, 0), DN_DAY_NONE, /* letter= */ true);
    world_runs_to(AT(12, 1) + 10);
    CHECK_STR(ledger("ada"), "cutoff_reached 2026-03-02 0");
    world_ends();
}

TEST(a_user_registered_within_its_window_is_attempted_at_the_next_tick) {
    world_at(AT(7, 30) + 20000);
    world_boots();
    world_runs_for(1); /* nobody is there at the first tick */
    user("ada", DUE(8, 0));
    world_runs_to(AT(7, 31) + 1000);
    CHECK_INT(start_of("ada", 1)->at_ms - AT(7, 31), 0);
    world_ends();
}

/* ---- The bound, and the order ---- */

TEST(never_more_than_k_run_at_once_and_all_get_their_turn) {
    world_at(AT(6, 59));
    w.config.max_concurrency = 3;
    job_is_ok("", 0, 20000);
    world_boots();
    for (int i = 0; i < 20; i++) {
        char id[16];
        snprintf(id, sizeof id, "u%d", i);
        user(id, DUE(8, 0));
    }
    world_runs_to(AT(7, 0) + 1000);
    CHECK_UINT(executor_now().in_flight, 3);
    CHECK_UINT(queue_now().queued, 17);
    world_runs_to(AT(7, 10));
    CHECK_INT(starts_of(""), 20);
    CHECK_UINT(executor_now().in_flight_peak, 3);
    CHECK_UINT(executor_now().ok, 20);
    world_ends();
}

TEST(the_earliest_cutoff_goes_first_then_fewest_attempts) {
    world_at(AT(6, 30));
    w.config.max_concurrency = 1;
    job_is_ok("", 0, 30000);
    job_is_ok("first", 0, 40 * 60000);
    w.config.job_timeout_ms = 45 * 60000;
    world_boots();
    user("first", DUE(7, 31));
    world_runs_to(AT(6, 32));
    user("b", DUE(8, 0));
    user("a", DUE(7, 50));
    user("c", DUE(8, 1));
    world_runs_to(AT(7, 20));
    CHECK_INT(starts_of(""), 4);
    CHECK_STR(w.jobs[1].id, "a");
    CHECK_STR(w.jobs[2].id, "b");
    CHECK_STR(w.jobs[3].id, "c");
    world_ends();
}

TEST(an_item_whose_cutoff_comes_while_it_waits_is_not_started) {
    world_at(AT(6, 59));
    w.config.max_concurrency = 1;
    w.config.job_timeout_ms = 60 * 60000;
    job_is_ok("long", 0, 59 * 60000 + 30000);
    world_boots();
    user("long", DUE(7, 59));
    world_runs_to(AT(7, 1));
    user("waits", DUE(7, 58));
    world_runs_to(AT(9, 0));
    CHECK_INT(starts_of("waits"), 0);
    CHECK_STR(ledger("waits"), "cutoff_reached 2026-03-02 0");
    CHECK_UINT(queue_now().expired, 1);
    world_ends();
}

TEST(a_herd_that_expires_keeps_nobody_else_from_starting) {
    char id[16];

    world_at(AT(6, 50));
    w.config.max_concurrency = 1;
    w.config.job_timeout_ms = 3600000;
    job_is_ok("first", 0, 3600000);
    world_boots();
    user("first", DUE(8, 0));
    world_runs_to(AT(7, 0) + 1000);
    for (int i = 0; i < 3500; i++) {
        snprintf(id, sizeof id, "h%d", i);
        user(id, DUE(8, 0));
    }
    user("later", DUE(8, 30));
    world_runs_to(AT(7, 31));
    CHECK_UINT(queue_now().queued, 3501);
    world_runs_to(AT(8, 0) + 1000);
    CHECK_UINT(queue_now().expired, 3500);
    CHECK_INT(starts_of("later"), 1);
    CHECK_INT(starts_of(""), 2);
    world_ends();
}

TEST(a_due_that_changes_while_the_user_waits_changes_its_place_and_its_cutoff) {
    world_at(AT(6, 59));
    w.config.max_concurrency = 1;
    w.config.job_timeout_ms = 60 * 60000;
    job_is_ok("long", 0, 30 * 60000);
    world_boots();
    user("long", DUE(7, 40));
    world_runs_to(AT(7, 0));
    user("a", DUE(7, 50));
    user("b", DUE(7, 55));
    world_runs_to(AT(7, 2));
    user("b", DUE(7, 45));
    world_runs_to(AT(7, 40));
    CHECK_STR(w.jobs[1].id, "b");
    CHECK_STR(w.jobs[2].id, "a");
    world_ends();
}

/* ---- Outcomes ---- */

TEST(a_job_that_hangs_is_cut_off_at_its_timeout_and_tried_again) {
    world_at(AT(6, 59));
    job_hangs("ada", 1);
    world_boots();
    user("ada", DUE(8, 0));
    world_runs_to(AT(7, 0) + 59000);
    CHECK_UINT(executor_now().in_flight, 1);
    world_runs_to(AT(7, 2));
    CHECK_UINT(executor_now().in_flight, 0);
    CHECK_UINT(executor_now().timed_out, 1);
    world_runs_to(AT(8, 1));
    CHECK_STR(ledger("ada"), "success 2026-03-02 2 unknown");
    world_ends();
}

/* The one has a class, the other has none: it is named by none. */
TEST(of_a_failure_its_class_is_logged_and_of_a_timeout_how_long_it_took) {
    world_at(AT(6, 59));
    job_fails("ada", 1, DN_CLASS_LLM);
    job_hangs("ada", 2);
    world_boots();
    user("ada", DUE(8, 0));
    world_runs_to(AT(7, 30));
    CHECK_INT(logged("job.failed: user ada attempt 1: error llm\n"), 1);
    CHECK_INT(logged("job.failed: user ada attempt 2: timeout, stopped after 60000 ms: cut off\n"),
              1);
    CHECK_INT(logged("job.failed"), 2);
    world_ends();
}

TEST(a_run_that_takes_exactly_its_time_is_finished_and_one_longer_is_cut_off) {
    world_at(AT(6, 59));
    job_is_ok("exact", 0, 60000);
    job_is_ok("longer", 0, 60001);
    world_boots();
    user("exact", DUE(8, 0));
    user("longer", DUE(8, 0));
    world_runs_to(AT(7, 5));
    CHECK_STR(ledger("exact"), "success 2026-03-02 1");
    CHECK_STR(ledger("longer"), "");
    world_ends();
}

TEST(a_task_that_crashes_is_an_unknown_error_and_frees_its_slot) {
    world_at(AT(6, 59));
    w.config.max_concurrency = 1;
    job_crashes("ada", 1);
    world_boots();
    user("ada", DUE(8, 0));
    world_runs_to(AT(7, 1));
    CHECK_UINT(executor_now().in_flight, 0);
    CHECK_UINT(executor_now().failed, 1);
    world_runs_to(AT(8, 1));
    CHECK_STR(ledger("ada"), "success 2026-03-02 2 unknown");
    world_ends();
}

TEST(a_success_after_the_cutoff_was_written_changes_nothing) {
    world_at(AT(6, 59));
    w.config.job_timeout_ms = 60 * 60000;
    job_fails("ada", 1, DN_CLASS_REQ);
    job_is_ok("ada", 2, 55 * 60000);
    world_boots();
    user("ada", DUE(8, 0));
    world_runs_to(AT(8, 30));
    CHECK_STR(ledger("ada"), "cutoff_reached 2026-03-02 2 req");
    CHECK_UINT(queue_now().late, 1);
    CHECK(stored("ada").last_run_ms == INT64_MIN);
    CHECK_INT(logged("late success"), 1);
    world_ends();
}

TEST(a_success_between_its_cutoff_and_the_tick_that_would_write_it_counts) {
    world_at(AT(6, 59));
    w.config.job_timeout_ms = 70 * 60000;
    w.config.tick_ms = 300000;
    job_is_ok("ada", 0, 61 * 60000);
    world_boots();
    user("ada", DUE(8, 2));
    world_runs_to(AT(8, 30));
    CHECK_INT(start_of("ada", 1)->at_ms - AT(7, 5), 0);
    CHECK_STR(ledger("ada"), "cutoff_reached 2026-03-02 1");
    world_ends();

    world_at(AT(6, 59));
    w.config.job_timeout_ms = 60 * 60000;
    w.config.tick_ms = 300000;
    job_is_ok("ada", 0, 58 * 60000);
    world_boots();
    user("ada", DUE(8, 2));
    world_runs_to(AT(8, 30));
    CHECK_STR(ledger("ada"), "success 2026-03-02 1");
    CHECK_INT(stored("ada").last_run_ms - AT(8, 3), 0);
    world_ends();
}

/* ---- Faults ---- */

TEST(after_a_crash_a_user_whose_job_ran_is_attempted_again_as_if_for_the_first_time) {
    world_at(AT(6, 59));
    job_is_ok("ada", 0, 30000);
    world_boots();
    user("ada", DUE(8, 0));
    world_runs_to(AT(7, 0) + 10000);
    CHECK_INT(starts_of("ada"), 1);
    world_crashes(/* down_ms= */ 5000);
    world_runs_to(AT(7, 5));
    CHECK_INT(starts_of("ada"), 2);
    CHECK_INT(start_of("ada", 2)->at_ms - AT(7, 0), 15000); /* a tick at once at the start */
    CHECK_UINT(start_of("ada", 2)->attempt, 1);
    CHECK_STR(ledger("ada"), "success 2026-03-02 1");
    world_ends();
}

TEST(what_was_committed_is_believed_after_a_crash) {
    world_at(AT(6, 59));
    world_boots();
    user("ada", DUE(8, 0));
    world_runs_to(AT(7, 1));
    world_crashes(1000);
    world_runs_to(AT(9, 0));
    CHECK_INT(starts_of("ada"), 1);
    CHECK_STR(ledger("ada"), "success 2026-03-02 1");
    world_ends();
}

TEST(days_that_ended_while_nobody_was_there_are_recorded_as_missed_and_warned_of) {
    world_at(AT(6, 0));
    world_boots();
    user("ada", DUE(8, 0));
    world_runs_to(AT(9, 0));
    world_crashes(
        3 *
        DN_DAY_MS); /* until 09:00 on the 5th: the 3rd and 4th were not seen, the 5th's cutoff is seen now */
    world_runs_for(60000);
    CHECK_STR(ledger("ada"),
              "cutoff_reached 2026-03-05 0, missed 2026-03-04 0, missed 2026-03-03 0, "
              "success 2026-03-02 1");
    CHECK_UINT(stored("ada").context_epoch, 1);
    CHECK_INT(logged("warn day.missed"), 1);
    world_runs_for(DN_DAY_MS);
    CHECK_INT(logged("warn day.missed"), 1);
    world_ends();
}

TEST(a_missed_day_is_recorded_with_the_instant_of_the_tick_that_saw_it) {
    dn_ledger_row row;
    size_t        len;

    world_at(AT(6, 0));
    world_boots();
    user("ada", DUE(8, 0));
    world_runs_to(AT(9, 0));
    world_crashes(2 * DN_DAY_MS - 4 * 3600000); /* until 05:00 of the day after tomorrow */
    disk.fails = DN_EFULL;
    world_runs_for(600000);
    disk.fails = DN_OK;
    world_runs_for(10000);
    CHECK_INT(dn_store_days_of(disk.real, stored("ada").registration, INT32_MAX, &row, 1, &len),
              DN_OK);
    CHECK_UINT(len, 1);
    CHECK_INT(row.day, TOMORROW);
    CHECK_INT(row.at_ms - (AT(5, 0) + 2 * DN_DAY_MS), 0);
    world_ends();
}

TEST(while_the_disk_is_full_a_success_waits_and_is_not_superseded_by_its_cutoff) {
    world_at(AT(7, 55));
    job_is_ok("ada", 0, 1000);
    world_boots();
    world_runs_for(1); /* nobody is there at the first tick */
    user("ada", DUE(8, 0));
    user("bob", DUE(8, 0));
    job_fails("bob", 0, DN_CLASS_REQ);
    world_runs_to(AT(7, 55) + 30000); /* nothing of the start waits any more */
    disk.fails = DN_EFULL;
    world_runs_to(AT(8, 10));
    CHECK_STR(ledger("ada"), "");
    CHECK_INT(starts_of("ada"), 1); /* still "running" */
    CHECK_UINT(queue_now().running, 1);
    CHECK(kv_now().full);
    CHECK_UINT(kv_now().waiting,
               3); /* her success, and a cutoff each, however often it is asked for */
    CHECK_INT(logged("warn store.full"), 1);
    disk.fails = DN_OK;
    world_runs_to(AT(8, 10) + 5000);
    CHECK_STR(ledger("ada"), "success 2026-03-02 1");
    CHECK_STR(ledger("bob"), "cutoff_reached 2026-03-02 1 req");
    CHECK_UINT(stored("ada").context_epoch, 0);
    CHECK_UINT(kv_now().waiting, 0);
    CHECK_UINT(queue_now().running, 0);
    CHECK_INT(logged("info store.well"), 1);
    world_ends();
}

TEST(a_success_that_waits_for_a_full_disk_is_not_run_again_by_a_queue_that_starts_anew) {
    world_at(AT(6, 59));
    world_boots();
    user("ada", DUE(8, 0));
    world_runs_to(AT(7, 0) + 100);
    disk.fails = DN_EFULL;
    world_runs_to(AT(7, 5));
    CHECK_UINT(kv_now().waiting, 1);
    dn_sim_crash_actor_at(w.sim, ACTOR_QUEUE, 1);
    world_runs_to(AT(7, 20));
    CHECK_UINT(dn_sim_counts_borrow(w.sim)->actor_crashes, 1);
    CHECK_INT(starts_of("ada"), 1);
    disk.fails = DN_OK;
    world_runs_to(AT(8, 30));
    CHECK_STR(ledger("ada"), "success 2026-03-02 1");
    CHECK_INT(starts_of("ada"), 1);
    world_ends();
}

/* Its last day, as whoever goes through all users by number is told. */
static dn_day told_last_day_of(const char *id) {
    const uint64_t   after_n = stored(id).registration - 1;
    const dn_change *c = ask(ACTOR_KV, MSG_KV_LOAD, &after_n, sizeof after_n);

    CHECK(w.answer_len > 0);
    CHECK_UINT(c->registration, after_n + 1);
    return c->last_day;
}

/* An audit, or a look at a past day; and it may end midway, for whoever asks may go. */
TEST(who_looks_at_all_users_is_told_what_is_committed_while_a_planner_is_told_what_waits_too) {
    world_at(AT(6, 59));
    world_boots();
    user("ada", DUE(8, 0));
    CHECK_INT(told_last_day_of("ada"), DN_DAY_NONE);
    world_runs_to(AT(7, 0) + 100);
    disk.fails = DN_EFULL;
    world_runs_to(AT(7, 5));
    CHECK_UINT(kv_now().waiting, 1);
    CHECK_INT(told_last_day_of("ada"), DN_DAY_NONE);
    dn_sim_crash_actor_at(w.sim, ACTOR_QUEUE, 1);
    world_runs_to(AT(7, 20));
    CHECK_INT(starts_of("ada"), 1);
    CHECK_INT(told_last_day_of("ada"), DN_DAY_NONE);
    disk.fails = DN_OK;
    world_runs_to(AT(7, 25));
    CHECK_INT(told_last_day_of("ada"), TODAY);
    world_ends();
}

TEST(a_registration_behind_a_long_line_on_a_full_disk_is_refused_at_once) {
    char id[16];

    world_at(AT(6, 50));
    w.config.window_minutes = 1;
    world_boots();
    for (int i = 0; i < 5000; i++) {
        snprintf(id, sizeof id, "h%d", i);
        user(id, DUE(8, 0));
    }
    disk.fails = DN_EFULL;
    w.config.max_concurrency = 1;
    job_hangs("", 0);
    world_runs_to(AT(8, 1));
    CHECK(kv_now().waiting >= 4999);
    const int64_t before_ms = dn_sim_mono_ms(w.sim);
    CHECK_INT(set_user("late", DUE(9, 0), DN_DAY_NONE, false).status, DN_EFULL);
    CHECK(dn_sim_mono_ms(w.sim) - before_ms < 10);
    CHECK(kv_now().waiting >= 4999);
    world_ends();
}

/* What the present write asks for, in days that were missed; the most there was. */
static uint64_t missed_at_once;

static int counts_missed_days(dn_store *store, const dn_write *writes, size_t len,
                              dn_write_result *results) {
    uint64_t days = 0;

    for (size_t i = 0; i < len; i++)
        if (writes[i].op == DN_WRITE_MISSED)
            days += (uint64_t)(writes[i].missed.last - writes[i].missed.first) + 1;
    if (days > missed_at_once) missed_at_once = days;
    return disk_write(store, writes, len, results);
}

TEST(years_that_were_missed_are_written_a_part_at_a_time) {
    char id[16];

    missed_at_once = 0;
    world_at(AT(6, 50));
    disk.ops.write = counts_missed_days;
    world_boots();
    for (int i = 0; i < 100; i++) {
        snprintf(id, sizeof id, "u%d", i);
        user(id, DUE(8, 0));
    }
    world_crashes(1000 * DN_DAY_MS);
    world_runs_for(60000);
    CHECK_UINT(kv_now().waiting, 0);
    CHECK(missed_at_once > 1000 && missed_at_once <= 16384 + 1000);
    CHECK_UINT(kv_now().users, 100);
    world_ends();
}

TEST(a_registration_on_a_full_disk_is_refused_and_nothing_else_is_lost) {
    world_at(AT(6, 0));
    world_boots();
    disk.fails = DN_EFULL;
    CHECK_INT(set_user("ada", DUE(8, 0), DN_DAY_NONE, false).status, DN_EFULL);
    disk.fails = DN_OK;
    CHECK_INT(set_user("ada", DUE(8, 0), DN_DAY_NONE, false).status, DN_OK);
    world_runs_to(AT(9, 0));
    CHECK_STR(ledger("ada"), "success 2026-03-02 1");
    world_ends();
}

TEST(while_the_store_cannot_be_reached_writes_wait_and_registrations_are_refused) {
    world_at(AT(6, 59));
    world_boots();
    user("ada", DUE(8, 0));
    disk.fails = DN_EAWAY;
    world_runs_to(AT(7, 10));
    CHECK(!w.fatal);
    CHECK_UINT(kv_now().waiting, 1);
    CHECK_INT(logged("warn store.away"), 1);
    CHECK_INT(logged("warn store.full"), 0);
    CHECK_INT(set_user("bob", DUE(8, 0), DN_DAY_NONE, false).status, DN_EAWAY);
    disk.fails = DN_OK;
    world_runs_to(AT(7, 20));
    CHECK_STR(ledger("ada"), "success 2026-03-02 1");
    CHECK_INT(starts_of("ada"), 1);
    CHECK_INT(logged("info store.well"), 1);
    world_ends();
}

TEST(a_commit_whose_answer_was_lost_is_repeated_and_changes_nothing_twice) {
    world_at(AT(6, 59));
    world_boots();
    user("ada", DUE(8, 0));
    user("bob", DUE(8, 0));
    job_fails("bob", 0, DN_CLASS_REQ);
    disk.loses = DN_EAWAY;
    world_runs_to(AT(7, 5));
    CHECK_STR(ledger("ada"), "success 2026-03-02 1");
    CHECK_UINT(kv_now().waiting, 1);
    CHECK_UINT(queue_now().running, 1); /* not settled until the answer comes */
    world_runs_to(AT(8, 10));
    CHECK_UINT(stored("bob").context_epoch, 1);
    disk.loses = DN_OK;
    world_runs_to(AT(8, 20));
    CHECK_UINT(kv_now().waiting, 0);
    CHECK_UINT(queue_now().running, 0);
    CHECK_INT(starts_of("ada"), 1);
    CHECK_UINT(stored("ada").context_epoch, 0);
    CHECK_UINT(stored("bob").context_epoch, 1);
    CHECK_STR(ledger("ada"), "success 2026-03-02 1");
    world_ends();
}

TEST(any_other_failure_of_the_store_ends_the_process) {
    world_at(AT(6, 59));
    world_boots();
    user("ada", DUE(8, 0));
    disk.fails = DN_EIO;
    world_runs_to(AT(7, 0) + 2000);
    CHECK(w.fatal);
    world_ends();
}

TEST(a_clock_set_back_never_runs_a_day_twice) {
    world_at(AT(6, 59));
    world_boots();
    user("ada", DUE(8, 0));
    world_runs_to(AT(7, 30));
    dn_sim_step_wall(w.sim, -2 * 3600000);
    world_runs_to(AT(9, 0));
    CHECK_INT(starts_of("ada"), 1);
    CHECK_STR(ledger("ada"), "success 2026-03-02 1");
    world_ends();
}

TEST(a_clock_set_forward_past_a_cutoff_finalizes_at_once) {
    world_at(AT(6, 0));
    world_boots();
    user("ada", DUE(8, 0));
    world_runs_to(AT(6, 30));
    dn_sim_step_wall(w.sim, 2 * 3600000 + 30000);
    world_runs_for(60000);
    CHECK_STR(ledger("ada"), "cutoff_reached 2026-03-02 0");
    world_ends();
}

/* Set forward by mistake, and put right before the disk has room: the day is not over yet, and its job still runs. */
TEST(a_cutoff_that_waits_for_the_disk_is_not_written_if_the_clock_is_set_back_before_it) {
    world_at(AT(6, 0));
    world_boots();
    user("ada", DUE(8, 0));
    world_runs_to(AT(6, 30));
    disk.fails = DN_EFULL;
    dn_sim_step_wall(w.sim, 2 * 3600000);
    world_runs_for(90000);
    CHECK(kv_now().full);
    dn_sim_step_wall(w.sim, -2 * 3600000);
    disk.fails = DN_OK;
    world_runs_to(AT(6, 50));
    CHECK_STR(ledger("ada"), "");
    world_runs_to(AT(7, 30));
    CHECK_STR(ledger("ada"), "success 2026-03-02 1");
    world_ends();
}

TEST(ticks_fall_on_the_minute_whatever_the_clock_does) {
    world_at(AT(6, 0) + 12345);
    world_boots();
    world_runs_to(AT(6, 5) + 1);
    CHECK_UINT(tick_now().ticks, 6); /* one at the start, then 06:01 to 06:05 */
    CHECK_INT(tick_now().last_ms - AT(6, 5), 0);
    dn_sim_step_wall(w.sim, 30000);
    world_runs_to(AT(6, 7) + 10);
    CHECK_INT(tick_now().last_ms - AT(6, 7), 0);
    world_ends();
}

TEST(a_clock_set_forward_leaves_one_tick_a_minute) {
    world_at(AT(6, 0));
    world_boots();
    for (int i = 0; i < 5; i++) {
        world_runs_for(10 * 60000);
        dn_sim_step_wall(w.sim, 30 * 60000);
    }
    world_runs_for(60000);
    const uint64_t before = tick_now().ticks;
    world_runs_for(10 * 60000);
    CHECK_UINT(tick_now().ticks - before, 10);
    CHECK_INT(logged("tick.late"), 0);
    world_ends();
}

TEST(a_tick_that_was_called_off_but_had_fired_already_is_none) {
    const uint64_t an_older_one = 1;

    world_at(AT(6, 0));
    world_boots();
    world_runs_to(AT(6, 5) + 30000);
    const uint64_t before = tick_now().ticks;
    dn_runtime    *rt = dn_sim_runtime(w.sim);
    CHECK_INT(
        dn_post(rt, dn_runtime_name(rt, ACTOR_TICK), MSG_OWN, &an_older_one, sizeof an_older_one),
        DN_OK);
    world_runs_for(10000);
    CHECK_UINT(tick_now().ticks, before);
    world_runs_to(AT(6, 6) + 1000);
    CHECK_UINT(tick_now().ticks, before + 1);
    world_ends();
}

TEST(missed_days_that_wait_for_a_full_disk_wait_once) {
    world_at(AT(6, 0));
    world_boots();
    user("ada", DUE(8, 0));
    user("bob", DUE(9, 0));
    world_runs_to(AT(10, 0));
    disk.fails = DN_EFULL;
    world_crashes(2 * DN_DAY_MS - 4 * 3600000); /* until 06:00 of the day after tomorrow */
    world_runs_for(60000);
    const uint64_t waiting = kv_now().waiting;
    CHECK(waiting >= 2);
    world_runs_for(10 * 60000);
    CHECK_UINT(kv_now().waiting, waiting);
    disk.fails = DN_OK;
    world_runs_for(10000);
    CHECK_STR(ledger("ada"), "missed 2026-03-03 0, success 2026-03-02 1");
    world_ends();
}

/* The clock is forty days ahead for longer than an hour, and so old rows are to be forgotten: that waits behind the days
 * that were missed. When the clock is right again, one of these is asked for once more. */
TEST(a_missed_day_that_waits_for_the_disk_is_not_missed_again_when_the_clock_is_set_back) {
    dn_day_totals totals = {0};
    size_t        len = 0;

    world_at(AT(6, 0));
    world_boots();
    user("ada", DUE(20, 0));
    disk.fails = DN_EFULL;
    dn_sim_step_wall(w.sim, 40 * DN_DAY_MS);
    world_runs_for(2 * 3600000);
    dn_sim_step_wall(w.sim, -39 * DN_DAY_MS);
    world_runs_for(90000);
    disk.fails = DN_OK;
    world_runs_for(10000);
    CHECK_INT(dn_store_totals(disk.real, TODAY, TODAY, &totals, 1, &len), DN_OK);
    CHECK_UINT(len, 1);
    CHECK_UINT(totals.missed, 1);
    CHECK_INT(logged("warn day.missed"), 1);
    world_ends();
}

TEST(a_moment_of_wrong_clock_takes_no_row_of_the_ledger) {
    world_at(AT(6, 50));
    world_boots();
    user("ada", DUE(8, 0));
    world_runs_to(AT(9, 0));
    CHECK_STR(ledger("ada"), "success 2026-03-02 1");
    dn_sim_step_wall(w.sim, 60 * DN_DAY_MS);
    world_runs_for(59 * 60000);
    dn_sim_step_wall(w.sim, -60 * DN_DAY_MS);
    world_runs_for(1000); /* another start, and the clock is wrong again */
    dn_sim_step_wall(w.sim, 60 * DN_DAY_MS);
    world_crashes(1000);
    world_runs_for(59 * 60000);
    dn_sim_step_wall(w.sim, -60 * DN_DAY_MS);
    world_runs_for(3 * 3600000);
    CHECK(strstr(ledger("ada"), "success 2026-03-02 1"));
    world_ends();
}

TEST(rows_older_than_the_ledger_go_an_hour_after_the_date_began) {
    world_at(AT(6, 50));
    world_boots();
    user("ada", DUE(8, 0));
    world_runs_to(AT(0, 59) + 36 * DN_DAY_MS);
    CHECK(strstr(ledger("ada"), "success 2026-03-02 1"));
    world_runs_for(2 * 60000);
    CHECK(!strstr(ledger("ada"), "success 2026-03-02 1"));
    CHECK(strstr(ledger("ada"), "success 2026-03-03 1"));
    world_ends();
}

/* ---- Users come and go ---- */

TEST(a_removed_user_is_not_started_and_not_finalized) {
    world_at(AT(6, 59));
    w.config.max_concurrency = 1;
    job_is_ok("", 0, 30000);
    world_boots();
    user("long", DUE(8, 0));
    user("gone", DUE(8, 0));
    world_runs_to(AT(7, 0) + 1000);
    CHECK_UINT(queue_now().queued, 1);
    const char *waits = starts_of("gone") ? "long" : "gone";
    CHECK_INT(remove_user(waits), DN_OK);
    CHECK_UINT(queue_now().queued, 0);
    CHECK_INT(remove_user(waits), DN_EDEAD);
    world_runs_to(AT(9, 0));
    CHECK_INT(starts_of(waits), 0);
    world_ends();
}

/* As the planner does that has not heard of the removal: it is a message behind. */
static void plan_is_late(const char *id, uint64_t n) {
    struct {
        dn_attempt attempt;
        char       id[DN_ID_MAX];
    } body = {
        .attempt = {
            .registration = n, .day = TODAY, .due = DUE(8, 0), .id_len = (uint8_t)strlen(id)}};
    dn_runtime *rt = dn_sim_runtime(w.sim);

    memcpy(body.attempt.id, id, strlen(id));
    CHECK_INT(dn_post(rt, dn_runtime_name(rt, ACTOR_QUEUE), MSG_PLAN_ATTEMPTS, &body,
                      (sizeof body.attempt + strlen(id) + 7) & ~(size_t)7),
              DN_OK);
}

TEST(a_removed_user_is_known_as_such_until_the_planner_must_have_heard_of_it) {
    world_at(AT(6, 59) + 5000);
    job_fails("ada", 0, DN_CLASS_LLM);
    world_boots();
    user("ada", DUE(8, 0));
    const uint64_t n = stored("ada").registration;
    world_runs_to(AT(7, 9) + 50000);
    CHECK_INT(remove_user("ada"), DN_OK);
    world_runs_to(AT(7, 10) + 6000); /* her throttle is over, and the queue has swept since */
    plan_is_late("ada", n);
    world_runs_for(1000);
    CHECK_INT(starts_of("ada"), 1);
    world_runs_to(AT(7, 12));
    CHECK_UINT(queue_now().known, 0);
    world_ends();
}

TEST(queue_ignores_a_plan_older_than_a_change_of_the_due) {
    world_at(AT(6, 30));
    world_boots();
    user("ada", DUE(8, 0));
    world_runs_for(1000);
    user("ada", DUE(20, 0)); /* the queue has no record of ada */
    world_runs_for(1000);
    plan_is_late("ada", stored("ada").registration);
    world_runs_to(AT(18, 59));
    CHECK_INT(starts_of("ada"), 0);
    CHECK_UINT(queue_now().deduped, 1);
    CHECK_UINT(queue_now().expired, 0);
    world_runs_to(AT(19, 1));
    CHECK_INT(starts_of("ada"), 1);
    world_ends();
}

/* The queue had no record of ada when she was removed. */
TEST(queue_ignores_a_plan_for_a_registration_that_was_removed) {
    world_at(AT(7, 5));
    w.config.max_concurrency = 1;
    w.config.job_timeout_ms = 3600000;
    job_is_ok("busy", 0, 20 * 60000 + 30000); /* from 07:05 on */
    world_boots();
    user("busy", DUE(7, 55));
    world_runs_to(AT(7, 6) + 1000);
    CHECK_INT(starts_of("busy"), 1);
    user("ada", DUE(20, 0));
    const uint64_t was = stored("ada").registration;
    CHECK_INT(remove_user("ada"), DN_OK);
    world_runs_for(1000);
    plan_is_late("ada", was);
    world_runs_for(1000);
    CHECK_UINT(queue_now().queued, 0);
    user("ada", DUE(8, 0));
    plan_is_late("ada", was);
    world_runs_to(AT(7, 25)); /* busy has the only slot */
    CHECK_UINT(queue_now().queued, 1);
    CHECK_INT(starts_of("ada"), 0);
    world_runs_to(AT(7, 30));
    CHECK_INT(starts_of("ada"), 1);
    world_ends();
}

/* With ticks so far apart a window opens between two of them: no plan names ada again before her turn comes. */
TEST(queue_keeps_a_waiting_user_whose_due_changes_when_the_planner_crashes) {
    world_at(AT(18, 50));
    w.config.tick_ms = 900000;
    w.config.max_concurrency = 1;
    w.config.job_timeout_ms = 3600000;
    job_is_ok("busy", 0, 50 * 60000); /* until 19:50 */
    world_boots();
    user("busy", DUE(19, 55));
    user("ada", DUE(20, 0));
    world_runs_to(AT(19, 10));
    CHECK_INT(starts_of("busy"), 1);
    CHECK_UINT(queue_now().queued, 1);
    user("ada", DUE(20, 35));
    dn_sim_crash_actor_at(w.sim, ACTOR_TICK, 1);
    world_runs_to(AT(19, 54));
    CHECK_UINT(dn_sim_counts_borrow(w.sim)->actor_crashes, 1);
    CHECK_INT(starts_of("ada"), 1);
    CHECK_UINT(queue_now().expired, 0);
    world_ends();
}

TEST(of_a_removed_user_nothing_is_remembered_for_long) {
    world_at(AT(6, 59));
    job_answers("ada", 1, DN_OUTCOME_ERROR, DN_CLASS_LLM, 30000);
    world_boots();
    user("ada", DUE(8, 0));
    world_runs_to(AT(7, 0) + 1000);
    CHECK_INT(remove_user("ada"), DN_OK);
    world_runs_to(AT(7, 1));
    CHECK_UINT(kv_now().tried, 1); /* what ended after the removal */
    world_runs_to(AT(7, 0) + DN_DAY_MS);
    CHECK_UINT(kv_now().tried, 1); /* its day may still matter, for all that is known */
    world_runs_to(AT(7, 0) + 2 * DN_DAY_MS);
    CHECK_UINT(kv_now().tried, 0);
    world_ends();
}

TEST(a_change_that_overtakes_a_plan_on_its_way_holds_all_the_same) {
    static const dn_sim_faults late = {.delay_ppm = 700000, .delay_ms_max = 3000};
    static const dn_sim_faults none;
    uint64_t                   random = test_seed();

    for (int run = 0; run < 60; run++) {
        world_at_with_seed(AT(6, 50), test_random(&random));
        dn_log_threshold(DN_LOG_NONE);
        w.config.max_concurrency = 1;
        w.config.job_timeout_ms = 600000;
        job_is_ok("busy", 0, 110000);
        world_boots();
        user("busy", DUE(7, 59));
        user("ada", DUE(8, 0));
        user("gone", DUE(8, 0));
        world_runs_to(AT(6, 59) + 59000 + (int64_t)(test_random(&random) % 2000));
        dn_sim_set_faults(w.sim, &late);
        user("ada", DUE(20, 0));
        CHECK_INT(remove_user("gone"), DN_OK);
        world_runs_to(AT(7, 0) + 30000);
        dn_sim_set_faults(w.sim, &none);
        const int ada = starts_of("ada"), gone = starts_of("gone");
        world_runs_to(AT(9, 0));
        CHECK_INT(starts_of("ada"), ada);
        CHECK_INT(starts_of("gone"), gone);
        world_ends();
    }
}

TEST(an_outcome_belongs_to_the_registration_under_which_its_run_began) {
    world_at(AT(6, 59));
    job_is_ok("ada", 1, 30000);
    world_boots();
    user("ada", DUE(8, 0));
    world_runs_to(AT(7, 0) + 1000);
    CHECK_INT(remove_user("ada"), DN_OK);
    user("ada", DUE(8, 30));
    world_runs_to(AT(7, 5));
    CHECK_STR(ledger("ada"), "");
    CHECK_INT(logged("late success: the user was removed before"), 1);
    CHECK_INT(starts_of("ada"), 1); /* the throttle stays with the id */
    world_runs_to(AT(7, 45));
    CHECK_INT(starts_of("ada"), 2);
    CHECK_UINT(start_of("ada", 2)->attempt, 1);
    CHECK_STR(ledger("ada"), "success 2026-03-02 1");
    world_ends();
}

TEST(changing_the_due_never_unfinalizes_a_day) {
    world_at(AT(6, 59));
    world_boots();
    user("ada", DUE(8, 0));
    world_runs_to(AT(7, 1));
    user("ada", DUE(20, 0));
    world_runs_to(AT(21, 0));
    CHECK_INT(starts_of("ada"), 1);
    CHECK_STR(ledger("ada"), "success 2026-03-02 1");
    world_runs_to(AT(21, 0) + DN_DAY_MS);
    CHECK_INT(start_of("ada", 2)->at_ms - (AT(19, 0) + DN_DAY_MS), 0);
    world_ends();
}

TEST(a_starts_on_before_the_registration_is_taken_as_that_date) {
    world_at(AT(12, 0));
    world_boots();
    CHECK_INT(set_user("ada", DUE(13, 0), TODAY - 10, false).user.starts_on, TODAY);
    CHECK_INT(set_user("bob", DUE(13, 0), TODAY + 2, false).user.starts_on, TODAY + 2);
    world_runs_to(AT(12, 0) + DN_DAY_MS);
    CHECK_STR(ledger("ada"), "success 2026-03-02 1");
    CHECK_STR(ledger("bob"), "");
    CHECK_INT(set_user("bob", DUE(13, 0), DN_DAY_NONE, false).user.starts_on, TODAY + 2);
    world_ends();
}

/* ---- Hooks ---- */

TEST(each_cutoff_is_told_to_the_hook_until_it_takes_it) {
    world_at(AT(7, 58));
    w.config.has_hook = true;
    job_fails("ada", 0, DN_CLASS_REQ);
    world_boots();
    user("ada", DUE(8, 0));
    world_runs_to(AT(8, 0) + 100);
    CHECK_STR(ledger("ada"), "cutoff_reached 2026-03-02 1 req");
    const int before = starts_of("ada");
    world_runs_to(AT(8, 1));
    CHECK(starts_of("ada") > before + 2); /* it is refused, and told again */
    CHECK_INT(w.jobs[w.jobs_len - 1].type, DN_REQUEST_CUTOFF);
    CHECK_UINT(w.jobs[w.jobs_len - 1].epoch, 1);
    CHECK_INT(w.jobs[w.jobs_len - 1].day, TODAY);
    job_is_ok("ada", 0, 100);
    world_runs_to(AT(9, 0));
    const int taken = starts_of("ada");
    world_crashes(1000);
    world_runs_to(AT(20, 0));
    CHECK_INT(starts_of("ada"), taken);
    world_ends();
}

/* Her hook fails each time after half a second; five times by 20 s after the cutoff, and the sixth comes at 33.5 s. She comes
 * too late for an attempt. */
static void five_hooks_of_ada_fail(void) {
    world_at(AT(7, 58));
    w.config.has_hook = true;
    job_fails("ada", 0, DN_CLASS_REQ);
    world_boots();
    world_runs_to(AT(7, 59) + 1000);
    user("ada", DUE(8, 0));
    world_runs_to(AT(8, 0) + 20000);
    CHECK_INT(starts_of("ada"), 5);
}

TEST(no_step_of_the_wall_clock_makes_a_hook_wait_longer_or_shorter) {
    five_hooks_of_ada_fail();
    dn_sim_step_wall(w.sim, -3600000);
    world_runs_for(13000);
    CHECK_INT(starts_of("ada"), 5);
    world_runs_for(1000);
    CHECK_INT(starts_of("ada"), 6);
    dn_sim_step_wall(w.sim, 2 * 3600000); /* the seventh comes at 66 s */
    world_runs_for(31000);
    CHECK_INT(starts_of("ada"), 6);
    world_runs_for(2000);
    CHECK_INT(starts_of("ada"), 7);
    world_ends();
}

TEST(a_hook_that_waited_when_the_clock_was_set_back_comes_after_its_delay_also_behind_a_crash) {
    five_hooks_of_ada_fail();
    dn_sim_step_wall(w.sim, -3600000);
    world_crashes(1000);
    world_runs_for(17000);
    CHECK_INT(starts_of("ada"), 6);
    world_ends();
}

TEST(a_cutoff_behind_a_clock_that_was_set_forward_has_its_hook_at_once) {
    five_hooks_of_ada_fail();
    job_is_ok("bob", 0, 100);
    dn_sim_step_wall(w.sim, 2 * 3600000);
    world_runs_to(AT(10, 1) + 1000);
    user("bob", DUE(10, 2));
    world_runs_to(AT(10, 2) + 1000);
    CHECK_INT(starts_of("bob"), 1);
    CHECK_INT(start_of("bob", 1)->type, DN_REQUEST_CUTOFF);
    world_ends();
}

TEST(a_hook_that_was_delivered_while_the_disk_is_full_is_not_delivered_again) {
    world_at(AT(7, 58));
    w.config.has_hook = true;
    job_is_ok("ada", 0, 2000); /* the hook; the user comes too late for an attempt */
    world_boots();
    world_runs_to(AT(7, 59) + 1000);
    user("ada", DUE(8, 0));
    world_runs_to(AT(8, 0) + 1000);
    CHECK_STR(ledger("ada"), "cutoff_reached 2026-03-02 0");
    disk.fails = DN_EFULL;
    world_runs_to(AT(8, 30));
    CHECK_INT(starts_of("ada"), 1);
    disk.fails = DN_OK;
    world_runs_to(AT(9, 30));
    world_crashes(1000);
    world_runs_to(AT(12, 0));
    CHECK_INT(starts_of("ada"), 1);
    world_ends();
}

/* ---- Actors crash ---- */

TEST(an_executor_crash_restarts_its_sources_and_users_are_attempted_again) {
    world_at(AT(6, 59));
    job_hangs("ada", 1);
    world_boots();
    user("ada", DUE(8, 0));
    world_runs_to(AT(7, 0) + 1000);
    job_is_ok("ada", 1, 500);
    dn_sim_crash_actor_at(w.sim, ACTOR_EXECUTOR, 1);
    world_runs_to(AT(7, 5));
    CHECK_INT(starts_of("ada"), 2);
    CHECK_STR(ledger("ada"), "success 2026-03-02 1");
    world_ends();
}

TEST(an_executor_does_not_take_what_another_had_run_for_its_own_when_it_is_to_stop) {
    world_at(AT(6, 59));
    w.config.shutdown_grace_ms = 1800000;
    world_boots();
    user("ada", DUE(8, 0));
    user("bob", DUE(8, 10));
    world_runs_to(AT(7, 0) + 100);
    disk.fails = DN_EFULL;
    world_runs_to(AT(7, 5));
    CHECK_UINT(kv_now().waiting, 1);
    dn_sim_crash_actor_at(w.sim, ACTOR_EXECUTOR, 1); /* with bob, of whom it is told next */
    world_runs_to(AT(7, 12));
    CHECK_UINT(dn_sim_counts_borrow(w.sim)->actor_crashes, 1);
    disk.fails = DN_OK;
    world_runs_to(AT(7, 30));
    CHECK_STR(ledger("ada"), "success 2026-03-02 1");
    dn_sim_stop(w.sim);
    CHECK_INT(dn_sim_run(w.sim, dn_sim_mono_ms(w.sim) + 60000), DN_SIM_ENDED);
    world_ends();
}

TEST(whoever_starts_again_with_kv_does_not_wait_for_the_jobs_it_had) {
    world_at(AT(6, 59));
    w.config.job_timeout_ms = 3600000;
    w.config.shutdown_grace_ms = 1800000;
    job_hangs("ada", 1);
    world_boots();
    user("ada", DUE(8, 0));
    world_runs_to(AT(7, 0) + 1000);
    job_is_ok("ada", 1, 500);
    dn_sim_crash_actor_at(w.sim, ACTOR_KV, 1);
    world_runs_to(AT(7, 2));
    CHECK_UINT(dn_sim_counts_borrow(w.sim)->actor_crashes, 1);
    CHECK_STR(ledger("ada"), "success 2026-03-02 1");
    world_ends();
}

TEST(an_executor_that_is_to_stop_does_not_wait_for_jobs_that_went_with_who_started_them) {
    world_at(AT(6, 59));
    w.config.job_timeout_ms = 3600000;
    w.config.shutdown_grace_ms = 1800000;
    job_hangs("ada", 1);
    world_boots();
    user("ada", DUE(8, 0));
    world_runs_to(AT(7, 0) + 1000);
    CHECK_UINT(executor_now().in_flight, 1);
    dn_sim_stop(w.sim);
    CHECK_INT(dn_sim_run(w.sim, dn_sim_mono_ms(w.sim) + 60000), DN_SIM_TIME_UP);
    dn_sim_crash_actor_at(w.sim, ACTOR_EXECUTIONS, 1);
    dn_runtime *rt = dn_sim_runtime(w.sim);
    CHECK_INT(dn_post(rt, dn_runtime_name(rt, ACTOR_EXECUTIONS), DN_SUP_ASK_COUNTS, NULL, 0),
              DN_OK);
    CHECK_INT(dn_sim_run(w.sim, dn_sim_mono_ms(w.sim) + 60000), DN_SIM_ENDED);
    world_ends();
}

TEST(whichever_actor_crashes_at_whatever_message_every_user_has_its_record_by_its_cutoff) {
    static const char *const actors[] = {ACTOR_KV, ACTOR_QUEUE, ACTOR_EXECUTIONS, ACTOR_EXECUTOR,
                                         ACTOR_TICK};

    for (uint64_t nth = 1; nth <= 12; nth++)
        for (size_t a = 0; a < sizeof actors / sizeof *actors; a++) {
            world_at_with_seed(AT(6, 59), test_seed() + nth);
            w.config.max_concurrency = 2;
            world_boots();
            user("ada", DUE(8, 0));
            user("bob", DUE(8, 0));
            user("eve", DUE(7, 30));
            dn_sim_crash_actor_at(w.sim, actors[a], nth);
            world_runs_to(AT(8, 1));
            for (int u = 0; u < 3; u++) {
                static const char *const ids[] = {"ada", "bob", "eve"};
                const char *const        row = ledger(ids[u]);
                CHECK_MSG(strncmp(row, "success 2026-03-02", 18) == 0 && !strchr(row, ','),
                          "%s at its message %d: %s: %s", actors[a], (int)nth, ids[u], row);
            }
            world_ends();
        }
}
