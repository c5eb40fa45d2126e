/* Each rule: a log that keeps it, and one that breaks it. The logs are played to the checker event by event; a day of
 * one user is a few lines, and the ticks between are made up. */
#include "check.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000)
#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)

enum { TODAY = 20454 /* 2026-01-01 */, ADA = 1, BOB = 2, CAT = 3 };
#define DUE(h, m) ((uint32_t)(h)*60 + (m))

static const char *const names[] = {"", "ada", "bob", "cat", "dan", "eve", "ada"};
enum { ADA_AGAIN = 6 };

/* A log being played. */
typedef struct tape {
    check   *c;
    int64_t  start_ms, now_ms, off_ms; /* steady since the start; off: the steps so far */
    int64_t  ticked_ms;
    uint32_t enqueued, ignored;
} tape;

static check_config common(void) {
    return (check_config){
        .tick_ms = MINUTE,
        .job_timeout_ms = MINUTE,
        .window_minutes = 60,
        .retry_delay_minutes = 10,
        .max_concurrency = 2,
    };
}

static tape tape_with(check_config config, int h, int m) {
    tape t = {.start_ms = TODAY * DAY + h * HOUR + m * MINUTE, .ticked_ms = -1};

    config.start_ms = t.start_ms;
    CHECK_INT(check_new(&config, &t.c), DN_OK);
    return t;
}

static tape tape_from(int h, int m) { return tape_with(common(), h, m); }

/* ---- What is said ---- */

static int64_t wall(const tape *t) { return t->start_ms + t->off_ms + t->now_ms; }

static void world(tape *t, event e) {
    e.t_ms = wall(t);
    e.steady_ms = t->now_ms;
    check_event(t->c, &e);
}

static void say(tape *t, dn_happening h) {
    h.at_ms = wall(t);
    h.id = names[h.registration];
    h.id_len = (uint8_t)strlen(names[h.registration]);
    world(t, (event){.kind = h.kind, .h = &h});
}
#define SAY(t, what, ...) say(t, (dn_happening){.kind = DN_HAPPENED_##what, __VA_ARGS__})

static void set(tape *t, uint64_t n, uint32_t due) {
    SAY(t, SET, .registration = n, .due = due, .starts_on = TODAY);
}
static void enqueue(tape *t, uint64_t n) {
    t->enqueued++;
    SAY(t, ENQUEUED, .registration = n, .day = TODAY);
}
static void ignore(tape *t, uint64_t n, const char *reason) {
    t->ignored++;
    SAY(t, IGNORED, .registration = n, .day = TODAY, .reason = reason);
}
static void start(tape *t, uint64_t n, uint32_t attempt) {
    SAY(t, STARTED, .registration = n, .day = TODAY, .attempt = attempt);
}
static void stop(tape *t, uint64_t n, uint32_t attempt, dn_outcome outcome, int64_t duration_ms) {
    SAY(t, STOPPED, .registration = n, .day = TODAY, .attempt = attempt, .outcome = outcome,
        .error_class = outcome == DN_OUTCOME_ERROR ? DN_CLASS_LLM : DN_CLASS_NONE,
        .duration_ms = duration_ms);
}
static void success(tape *t, uint64_t n, uint32_t due) {
    SAY(t, FINALIZED, .registration = n, .day = TODAY, .due = due, .status = DN_DAILY_SUCCESS);
}
static void cutoff(tape *t, uint64_t n, uint32_t due) {
    SAY(t, FINALIZED, .registration = n, .day = TODAY, .due = due, .status = DN_DAILY_CUTOFF);
}
static void tick(tape *t, uint32_t cutoffs) {
    SAY(t, TICK, .eligible = t->enqueued + t->ignored, .enqueued = t->enqueued, .cutoffs = cutoffs);
    t->enqueued = t->ignored = 0;
    t->ticked_ms = t->now_ms;
}
static void wait(tape *t, int64_t ms) { t->now_ms += ms; }

/* To that instant, with the ticks on the way; the one of that instant is the caller's. */
static void go_ms(tape *t, int64_t to_ms) {
    for (int64_t next = (t->ticked_ms / MINUTE + 1) * MINUTE; next < to_ms; next += MINUTE) {
        t->now_ms = next;
        tick(t, 0);
    }
    t->now_ms = to_ms;
}
/* By the wall clock. */
static void go(tape *t, int day, int h, int m) {
    go_ms(t, (TODAY + day) * DAY + h * HOUR + m * MINUTE - t->start_ms - t->off_ms);
}
static void crash(tape *t, int64_t down_ms) {
    world(t, (event){.kind = EVENT_CRASH});
    t->now_ms += down_ms;
    t->ticked_ms = t->now_ms - 1;
    t->enqueued = t->ignored = 0;
    world(t, (event){.kind = EVENT_RESTART});
}
static void step(tape *t, int64_t ms) {
    t->off_ms += ms;
    SAY(t, CLOCK, .step_ms = ms);
}

/* ---- What is found ---- */

static void print_all(const check *c) {
    const char *const *texts;
    const size_t       len = check_violations(c, &texts);

    for (size_t i = 0; i < len; i++) fprintf(stderr, "  %s\n", texts[i]);
}

static void keeps(tape *t) {
    wait(t, 1);
    CHECK_INT(check_end(t->c, t->now_ms), DN_OK);
    if (check_violations_len(t->c) > 0) print_all(t->c);
    CHECK_UINT(check_violations_len(t->c), 0);
    check_free(t->c);
}

/* Just that rule, once, and in these words. */
static void breaks(tape *t, check_rule rule, const char *words) {
    const char *const *texts;

    wait(t, 1);
    CHECK_INT(check_end(t->c, t->now_ms), DN_OK);
    const size_t len = check_violations(t->c, &texts);
    if (len != 1) print_all(t->c);
    CHECK_UINT(len, 1);
    CHECK_MSG(strstr(texts[0], words), "it says: %s", texts[0]);
    CHECK_UINT(check_violations_of(t->c, rule), 1);
    check_free(t->c);
}

/* Ada is due at 08:00; at 07:00 the run begins, and her attempt. */
static tape ada_runs(void) {
    tape t = tape_from(7, 0);

    set(&t, ADA, DUE(8, 0));
    enqueue(&t, ADA);
    start(&t, ADA, 1);
    tick(&t, 0);
    wait(&t, 500);
    return t;
}

/* Likewise, with a job that may take longer than a tick. */
static tape ada_runs_long(void) {
    check_config config = common();

    config.job_timeout_ms = 30 * MINUTE;
    tape t = tape_with(config, 7, 0);
    set(&t, ADA, DUE(8, 0));
    enqueue(&t, ADA);
    start(&t, ADA, 1);
    tick(&t, 0);
    return t;
}

/* Her first attempt has failed. */
static tape ada_failed(void) {
    tape t = ada_runs();

    stop(&t, ADA, 1, DN_OUTCOME_ERROR, 500);
    return t;
}

static tape ada_done(void) {
    tape t = ada_runs();

    stop(&t, ADA, 1, DN_OUTCOME_OK, 500);
    success(&t, ADA, DUE(8, 0));
    return t;
}

/* ---- A day ---- */

TEST(a_day_with_a_success_keeps_every_rule) {
    tape t = ada_done();

    go(&t, 0, 8, 5);
    tick(&t, 0);
    keeps(&t);
}

TEST(a_day_with_a_retry_and_a_cutoff_keeps_every_rule) {
    tape t = ada_failed();

    for (int m = 10; m < 60; m += 10) {
        go(&t, 0, 7, m);
        enqueue(&t, ADA);
        start(&t, ADA, (uint32_t)m / 10 + 1);
        tick(&t, 0);
        wait(&t, 500);
        stop(&t, ADA, (uint32_t)m / 10 + 1, DN_OUTCOME_ERROR, 500);
    }
    go(&t, 0, 8, 0);
    tick(&t, 1);
    cutoff(&t, ADA, DUE(8, 0));
    go(&t, 0, 8, 5);
    tick(&t, 0);
    keeps(&t);
}

/* ---- I1 ---- */

TEST(I1_a_second_success_is_found) {
    tape t = ada_done();

    wait(&t, 100);
    success(&t, ADA, DUE(8, 0));
    breaks(&t, CHECK_I1,
           "I1: user ada day 2026-01-01 at 2026-01-01T07:00:00.600Z: a second success: right is "
           "one at most");
}

TEST(I1_a_second_success_of_another_boot_is_found) {
    tape t = ada_done();

    wait(&t, 100);
    crash(&t, MINUTE);
    success(&t, ADA, DUE(8, 0));
    tick(&t, 0);
    breaks(&t, CHECK_I1, "a second success");
}

/* ---- I2 ---- */

TEST(I2_a_tick_that_asks_for_nobody_is_found) {
    tape t = tape_from(7, 0);

    set(&t, ADA, DUE(8, 0));
    tick(&t, 0);
    breaks(
        &t, CHECK_I2,
        "I2: user ada day 2026-01-01 at 2026-01-01T07:00:00.000Z: its window is open (due 08:00)");
}

TEST(I2_a_window_that_opens_later_is_seen) {
    tape t = tape_from(6, 0);

    set(&t, ADA, DUE(8, 0));
    tick(&t, 0);
    go(&t, 0, 7, 0);
    tick(&t, 0);
    breaks(&t, CHECK_I2, "at 2026-01-01T07:00:00.000Z: its window is open");
}

TEST(I2_of_those_of_one_minute_the_one_left_out_is_found) {
    tape t = tape_from(6, 0);

    set(&t, ADA, DUE(8, 0));
    set(&t, BOB, DUE(8, 0));
    tick(&t, 0);
    go(&t, 0, 7, 0);
    enqueue(&t, ADA);
    tick(&t, 0);
    start(&t, ADA, 1);
    breaks(&t, CHECK_I2, "I2: user bob day 2026-01-01");
}

TEST(I2_a_retry_that_does_not_come_is_found) {
    tape t = ada_failed();

    go(&t, 0, 7, 10);
    tick(&t, 0);
    breaks(&t, CHECK_I2, "I2: user ada day 2026-01-01 at 2026-01-01T07:10:00.000Z");
}

TEST(I2_after_a_restart_it_is_tried_again_at_once) {
    tape t = ada_failed();

    crash(&t, 90 * SECOND);
    enqueue(&t, ADA);
    start(&t, ADA, 1);
    tick(&t, 0);
    keeps(&t);
}

TEST(I2_a_throttle_that_outlives_a_crash_is_found) {
    tape t = ada_failed();

    crash(&t, 90 * SECOND);
    tick(&t, 0);
    breaks(&t, CHECK_I2, "I2: user ada day 2026-01-01 at 2026-01-01T07:01:30.500Z");
}

TEST(I2_a_free_slot_while_somebody_waits_is_found) {
    tape t = tape_from(7, 0);

    set(&t, ADA, DUE(8, 0));
    enqueue(&t, ADA);
    tick(&t, 0);
    breaks(&t, CHECK_I2, "0 run of at most 2, and 1 wait");
}

TEST(I2_a_window_over_midnight_belongs_to_the_day_of_its_cutoff) {
    tape t = tape_from(22, 0);

    SAY(&t, SET, .registration = ADA, .due = DUE(0, 20), .starts_on = TODAY + 1);
    tick(&t, 0);
    go(&t, 0, 23, 20);
    tick(&t, 0);
    breaks(&t, CHECK_I2, "I2: user ada day 2026-01-02 at 2026-01-01T23:20:00.000Z");
}

TEST(I2_a_clock_that_steps_into_a_window_opens_it) {
    tape t = tape_from(6, 0);

    set(&t, ADA, DUE(8, 0));
    tick(&t, 0);
    wait(&t, 500);
    step(&t, HOUR);
    go_ms(&t, MINUTE);
    tick(&t, 0);
    breaks(&t, CHECK_I2, "I2: user ada day 2026-01-01 at 2026-01-01T07:01:00.000Z");
}

TEST(I2_an_actor_that_crashed_begins_anew) {
    tape t = ada_failed();

    world(&t, (event){.kind = EVENT_ACTOR_CRASH, .name = "queue"});
    wait(&t, 200);
    enqueue(&t, ADA);
    start(&t, ADA, 1);
    tick(&t, 0);
    keeps(&t);
}

TEST(I2_a_new_queue_that_never_gets_her_is_found) {
    tape t = ada_failed();

    world(&t, (event){.kind = EVENT_ACTOR_CRASH, .name = "queue"});
    wait(&t, 200);
    tick(&t, 0);
    breaks(&t, CHECK_I2, "I2: user ada day 2026-01-01 at 2026-01-01T07:00:00.700Z");
}

/* Her attempt ends while the disk is full and the clock a day ahead of what it is then; the tasks end, and a planner begins. */
static tape ada_ended_tomorrow(dn_outcome outcome) {
    tape t = tape_from(7, 0);

    SAY(&t, SET, .registration = ADA, .due = DUE(8, 0), .starts_on = TODAY - 1);
    enqueue(&t, ADA);
    start(&t, ADA, 1);
    world(&t, (event){.kind = EVENT_STORE_FAILS, .for_ms = 3 * MINUTE});
    SAY(&t, STORE_FAILED);
    tick(&t, 0);
    wait(&t, 500);
    stop(&t, ADA, 1, outcome, 500);
    step(&t, -DAY);
    world(&t, (event){.kind = EVENT_ACTOR_CRASH, .name = "executor"});
    wait(&t, MINUTE - 500);
    tick(&t, 0);
    wait(&t, MINUTE);
    return t;
}

/* The new queue adopts the success that waits for the disk, and its user runs until that is written. */
TEST(ignored_for_dedupe_while_an_ok_of_another_day_waits_for_the_disk) {
    tape t = ada_ended_tomorrow(DN_OUTCOME_OK);

    t.ignored++;
    SAY(&t, IGNORED, .registration = ADA, .day = TODAY - 1, .reason = "dedupe");
    tick(&t, 0);
    CHECK_UINT(check_violations_of(t.c, CHECK_IGNORED), 0);
    check_free(t.c);
}

TEST(I2_an_ok_in_hand_closes_the_days_before_it_too) {
    tape t = ada_ended_tomorrow(DN_OUTCOME_OK);

    tick(&t, 0);
    CHECK_UINT(check_violations_of(t.c, CHECK_I2), 0);
    check_free(t.c);
}

TEST(I2_an_error_of_tomorrow_closes_no_day) {
    tape t = ada_ended_tomorrow(DN_OUTCOME_ERROR);

    tick(&t, 0);
    CHECK(check_violations_of(t.c, CHECK_I2) > 0);
    check_free(t.c);
}

/* ---- I3 ---- */

static void herd(tape *t, uint64_t len) {
    for (uint64_t n = 1; n <= len; n++) set(t, n, DUE(8, 0));
    for (uint64_t n = 1; n <= len; n++) enqueue(t, n);
}

TEST(I3_as_many_as_may_run_at_once) {
    tape t = tape_from(7, 0);

    herd(&t, 3);
    start(&t, ADA, 1);
    start(&t, BOB, 1);
    tick(&t, 0);
    wait(&t, 500);
    stop(&t, ADA, 1, DN_OUTCOME_TIMEOUT, MINUTE);
    start(&t, CAT, 1);
    wait(&t, 500);
    breaks(&t, CHECK_STOP, "duration_ms 60000: right is 500");
}

TEST(I3_one_more_is_found) {
    tape t = tape_from(7, 0);

    herd(&t, 3);
    for (uint64_t n = 1; n <= 3; n++) start(&t, n, 1);
    tick(&t, 0);
    breaks(&t, CHECK_I3,
           "I3: user cat day 2026-01-01 at 2026-01-01T07:00:00.000Z: 3 attempts run: right is 2");
}

TEST(I3_those_of_a_dead_boot_are_not_counted) {
    tape t = tape_from(7, 0);

    herd(&t, 2);
    start(&t, ADA, 1);
    start(&t, BOB, 1);
    tick(&t, 0);
    wait(&t, 500);
    crash(&t, MINUTE);
    enqueue(&t, ADA);
    enqueue(&t, BOB);
    start(&t, ADA, 1);
    start(&t, BOB, 1);
    tick(&t, 0);
    keeps(&t);
}

/* ---- I4 ---- */

TEST(I4_a_tick_that_does_not_come_is_found) {
    tape t = ada_done();

    wait(&t, 2 * MINUTE);
    SAY(&t, SET, .registration = BOB, .due = DUE(12, 0), .starts_on = TODAY);
    breaks(&t, CHECK_I4, "no tick for 120500 ms and more: right is one within 60000 ms");
}

TEST(I4_a_run_that_ends_without_its_last_ticks_is_found) {
    tape t = ada_done();

    t.now_ms = 90 * SECOND;
    breaks(&t, CHECK_I4, "no tick for 90001 ms");
}

TEST(I4_a_restart_without_a_tick_is_found) {
    tape t = ada_done();

    crash(&t, MINUTE);
    wait(&t, SECOND);
    breaks(&t, CHECK_I4, "no tick for 1001 ms and more: right is one within 0 ms");
}

TEST(I4_a_process_that_is_down_owes_no_tick) {
    tape t = ada_done();

    crash(&t, 20 * MINUTE);
    tick(&t, 0);
    keeps(&t);
}

/* ---- I5 ---- */

static check_final ada_in_store(void) {
    return (check_final){
        .n = ADA,
        .due = DUE(8, 0),
        .last_day = TODAY,
        .starts_on = TODAY,
        .status = DN_DAILY_SUCCESS,
        .last_run_ms = TODAY * DAY + 7 * HOUR + 500,
    };
}

TEST(I5_a_store_that_has_what_was_told_is_right) {
    tape              t = ada_done();
    const check_final f = ada_in_store();

    check_user(t.c, &f);
    keeps(&t);
}

TEST(I5_what_nobody_told_is_found_in_the_store) {
    static const struct {
        const char *words;
        int         what;
    } cases[] = {
        {"last_date is none in the store: what was told makes it 2026-01-01", 0},
        {"starts_on is 2026-01-02 in the store: what was told makes it 2026-01-01", 1},
        {"status is cutoff_reached in the store: what was told makes it success", 2},
        {"last_run_at is none in the store: what was told makes it 2026-01-01T07:00:00.500Z", 3},
        {"due is 08:01 in the store: what was told makes it 08:00", 4},
        {"a user in the store that nobody registered", 5},
        {"a user in the store that was there before", 6},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tape        t = ada_done();
        check_final f = ada_in_store();
        switch (cases[i].what) {
        case 0: f.last_day = DN_DAY_NONE; break;
        case 1: f.starts_on++; break;
        case 2: f.status = DN_DAILY_CUTOFF; break;
        case 3: f.last_run_ms = INT64_MIN; break;
        case 4: f.due++; break;
        case 5:
            check_user(t.c, &f);
            f.n = BOB;
            break;
        default: check_user(t.c, &f);
        }
        check_user(t.c, &f);
        breaks(&t, CHECK_I5, cases[i].words);
    }
}

TEST(I5_a_user_who_is_not_in_the_store_is_missed) {
    tape              t = ada_done();
    const check_final f = ada_in_store();

    SAY(&t, SET, .registration = BOB, .due = DUE(12, 0), .starts_on = TODAY);
    check_user(t.c, &f);
    breaks(&t, CHECK_I5, "1 users in the store: right is 2");
}

/* ---- I6 ---- */

/* To 08:00, with nothing done for her since the first attempt: dead at night, as it were. */
static tape ada_at_her_cutoff(void) {
    tape t = ada_failed();

    world(&t, (event){.kind = EVENT_CRASH});
    t.now_ms = HOUR;
    t.ticked_ms = HOUR - 1;
    world(&t, (event){.kind = EVENT_RESTART});
    return t;
}

TEST(I6_a_cutoff_is_written_at_the_tick_that_sees_it) {
    tape t = ada_at_her_cutoff();

    cutoff(&t, ADA, DUE(8, 0));
    tick(&t, 1);
    go(&t, 0, 8, 3);
    tick(&t, 0);
    keeps(&t);
}

TEST(I6_a_cutoff_that_is_not_written_is_found) {
    tape t = ada_at_her_cutoff();

    tick(&t, 0);
    breaks(&t, CHECK_I6,
           "I6: user ada day 2026-01-01 at 2026-01-01T08:00:00.000Z: a tick saw its cutoff (due "
           "08:00), and it is not finalized");
}

TEST(I6_among_those_of_one_minute_the_one_that_is_open_is_found) {
    tape t = tape_from(7, 50);

    for (uint64_t n = ADA; n <= BOB; n++) {
        set(&t, n, DUE(8, 0));
        enqueue(&t, n);
        start(&t, n, 1);
    }
    tick(&t, 0);
    wait(&t, 500);
    stop(&t, BOB, 1, DN_OUTCOME_OK, 500);
    success(&t, BOB, DUE(8, 0));
    stop(&t, ADA, 1, DN_OUTCOME_ERROR, 500);
    go(&t, 0, 8, 0);
    tick(&t, 0);
    breaks(&t, CHECK_I6, "I6: user ada day 2026-01-01 at 2026-01-01T08:00:00.000Z");
}

TEST(I6_a_cutoff_before_its_instant_is_found) {
    tape t = ada_failed();

    go(&t, 0, 7, 5);
    cutoff(&t, ADA, DUE(8, 0));
    tick(&t, 1);
    breaks(&t, CHECK_I6, "cutoff_reached before its cutoff: right is not before 08:00");
}

TEST(I6_a_success_that_no_attempt_had_is_found) {
    tape t = ada_failed();

    success(&t, ADA, DUE(8, 0));
    breaks(&t, CHECK_I6, "a success, but no attempt of this boot was ok");
}

TEST(I6_a_success_of_a_boot_that_died_is_found) {
    tape t = ada_runs();

    stop(&t, ADA, 1, DN_OUTCOME_OK, 500);
    crash(&t, 0);
    success(&t, ADA, DUE(8, 0));
    tick(&t, 0);
    breaks(&t, CHECK_I6, "a success, but no attempt of this boot was ok");
}

TEST(I6_an_ok_that_a_cutoff_overtakes_is_found) {
    tape t = tape_from(7, 59);

    set(&t, ADA, DUE(8, 0));
    enqueue(&t, ADA);
    start(&t, ADA, 1);
    tick(&t, 0);
    wait(&t, MINUTE);
    stop(&t, ADA, 1, DN_OUTCOME_OK, MINUTE);
    cutoff(&t, ADA, DUE(8, 0));
    tick(&t, 1);
    SAY(&t, LATE_SUCCESS, .registration = ADA, .day = TODAY, .due = DUE(8, 0));
    breaks(&t, CHECK_I6,
           "cutoff_reached, but an attempt was ok before it was written: right is success");
}

TEST(I6_an_ok_that_nobody_writes_is_found) {
    tape t = ada_runs();

    stop(&t, ADA, 1, DN_OUTCOME_OK, 500);
    wait(&t, 500);
    breaks(&t, CHECK_I6, "an attempt was ok, the store is well, and nothing was written");
}

TEST(I6_a_day_that_is_finalized_twice_is_found) {
    tape t = ada_at_her_cutoff();

    cutoff(&t, ADA, DUE(8, 0));
    cutoff(&t, ADA, DUE(8, 0));
    tick(&t, 1);
    breaks(&t, CHECK_I6,
           "finalized as cutoff_reached, but it was as cutoff_reached: right is once");
}

TEST(I6_a_last_date_that_falls_is_found) {
    const dn_user ada = {.registration = ADA,
                         .due = DUE(8, 0),
                         .last_day = TODAY,
                         .starts_on = TODAY - 5,
                         .recorded = TODAY,
                         .status = DN_DAILY_SUCCESS,
                         .id = "ada",
                         .id_len = 3};
    tape          t = tape_from(8, 30);

    world(&t, (event){.kind = EVENT_USER, .user = &ada});
    tick(&t, 0);
    wait(&t, 100);
    SAY(&t, FINALIZED, .registration = ADA, .day = TODAY - 1, .due = DUE(8, 0),
        .status = DN_DAILY_CUTOFF);
    breaks(&t, CHECK_I6, "finalized, but last_date is 2026-01-01: right is that it never falls");
}

TEST(I6_a_day_before_the_first_is_not_finalized) {
    tape t = tape_from(9, 0);

    SAY(&t, SET, .registration = ADA, .due = DUE(8, 0), .starts_on = TODAY + 1);
    cutoff(&t, ADA, DUE(8, 0));
    tick(&t, 0);
    breaks(&t, CHECK_I6, "finalized, but it begins on 2026-01-02: right is nothing");
}

TEST(log_a_first_day_that_a_change_moves_into_the_past_is_found) {
    tape t = tape_from(7, 0);

    set(&t, ADA, DUE(20, 0));
    tick(&t, 0);
    SAY(&t, SET, .registration = ADA, .due = DUE(20, 0), .starts_on = TODAY - 1);
    breaks(&t, CHECK_LOG, "begins on 2025-12-31: right is not before today");
}

TEST(log_a_first_day_may_be_put_off_and_brought_forward_to_today) {
    tape t = tape_from(7, 0);

    set(&t, ADA, DUE(20, 0));
    tick(&t, 0);
    SAY(&t, SET, .registration = ADA, .due = DUE(20, 0), .starts_on = TODAY + 3);
    wait(&t, SECOND);
    SAY(&t, SET, .registration = ADA, .due = DUE(20, 0), .starts_on = TODAY);
    keeps(&t);
}

TEST(I6_a_finalization_with_another_due_is_found) {
    tape t = ada_at_her_cutoff();

    cutoff(&t, ADA, DUE(7, 30));
    tick(&t, 1);
    breaks(&t, CHECK_I6, "due 07:30 in its finalization: right is 08:00");
}

TEST(I6_a_finalization_of_nobody_is_found) {
    tape t = ada_done();

    cutoff(&t, BOB, DUE(7, 0));
    breaks(
        &t, CHECK_I6,
        "I6: user #2 day 2026-01-01 at 2026-01-01T07:00:00.500Z: finalized as cutoff_reached, but "
        "there is no such user");
}

/* The disk is full from 07:59:30 for two minutes; it is found full when her cutoff is to be written. */
static tape ada_and_a_full_disk(void) {
    tape t = tape_from(7, 55);

    set(&t, ADA, DUE(8, 0));
    enqueue(&t, ADA);
    start(&t, ADA, 1);
    tick(&t, 0);
    wait(&t, 500);
    stop(&t, ADA, 1, DN_OUTCOME_ERROR, 500);
    go_ms(&t, 4 * MINUTE + 30 * SECOND);
    world(&t, (event){.kind = EVENT_STORE_FAILS, .for_ms = 2 * MINUTE});
    go(&t, 0, 8, 0);
    SAY(&t, STORE_FAILED);
    tick(&t, 1);
    wait(&t, MINUTE);
    tick(&t, 1);
    wait(&t, 33 * SECOND);
    return t;
}

TEST(I6_while_the_disk_is_full_a_cutoff_may_wait) {
    tape t = ada_and_a_full_disk();

    SAY(&t, STORE_WELL);
    cutoff(&t, ADA, DUE(8, 0));
    go(&t, 0, 8, 4);
    tick(&t, 0);
    keeps(&t);
}

TEST(I6_what_waited_for_the_disk_and_is_lost_is_found) {
    tape t = ada_and_a_full_disk();

    SAY(&t, STORE_WELL);
    go(&t, 0, 8, 2);
    tick(&t, 0);
    breaks(&t, CHECK_I6,
           "I6: user ada day 2026-01-01 at 2026-01-01T08:02:00.000Z: a tick saw its cutoff");
}

TEST(I6_a_disk_that_is_well_and_not_tried_is_found) {
    tape t = ada_and_a_full_disk();

    wait(&t, 4 * SECOND);
    breaks(&t, CHECK_I6, "the store has been well again for more than 5000 ms");
}

/* A tick at 08:00, or a minute before, finds the disk full; the clock steps back, she is tried once more, and it is ok
 * before the disk is well. */
static tape ada_is_ok_after_a_step_back(int minutes_before) {
    check_config config = common();

    config.retry_delay_minutes = (uint32_t)(60 - minutes_before);
    config.ticks_stand_still = true;
    tape t = tape_with(config, 7, 0);
    set(&t, ADA, DUE(8, 0));
    enqueue(&t, ADA);
    start(&t, ADA, 1);
    tick(&t, 0);
    wait(&t, 500);
    stop(&t, ADA, 1, DN_OUTCOME_ERROR, 500);
    go_ms(&t, HOUR - minutes_before * MINUTE);
    world(&t, (event){.kind = EVENT_STORE_FAILS, .for_ms = 90 * SECOND});
    SAY(&t, STORE_FAILED);
    if (minutes_before > 0) enqueue(&t, ADA);
    if (minutes_before > 0) start(&t, ADA, 2);
    tick(&t, minutes_before > 0 ? 0 : 1);
    step(&t, -50 * MINUTE);
    wait(&t, MINUTE);
    if (minutes_before == 0) enqueue(&t, ADA);
    if (minutes_before == 0) start(&t, ADA, 2);
    stop(&t, ADA, 2, DN_OUTCOME_OK, minutes_before > 0 ? MINUTE : 0);
    tick(&t, 0);
    return t;
}

TEST(I6_an_ok_behind_a_cutoff_that_waits_comes_too_late_even_if_the_clock_steps_back) {
    tape t = ada_is_ok_after_a_step_back(0);

    wait(&t, 31 * SECOND);
    SAY(&t, STORE_WELL);
    cutoff(&t, ADA, DUE(8, 0));
    SAY(&t, LATE_SUCCESS, .registration = ADA, .day = TODAY, .due = DUE(8, 0));
    keeps(&t);
}

TEST(I6_an_ok_that_no_cutoff_waited_before_is_not_overtaken_after_a_step_back) {
    tape t = ada_is_ok_after_a_step_back(1);

    wait(&t, 31 * SECOND);
    SAY(&t, STORE_WELL);
    cutoff(&t, ADA, DUE(8, 0));
    CHECK_UINT(check_violations_of(t.c, CHECK_I6), 2); /* and too early */
    check_free(t.c);
}

TEST(I6_a_cutoff_that_waited_in_a_process_that_died_is_nothing_to_be_behind) {
    tape t = ada_is_ok_after_a_step_back(0);

    crash(&t, SECOND);
    enqueue(&t, ADA);
    start(&t, ADA, 1);
    tick(&t, 0);
    SAY(&t, STORE_FAILED);
    wait(&t, SECOND);
    stop(&t, ADA, 1, DN_OUTCOME_OK, SECOND);
    wait(&t, 30 * SECOND);
    SAY(&t, STORE_WELL);
    cutoff(&t, ADA, DUE(8, 0));
    CHECK_UINT(check_violations_of(t.c, CHECK_I6), 2); /* and too early */
    check_free(t.c);
}

/* The tick of her cutoff, which the disk does not take, is told by nobody, and the clock steps back. */
static tape her_tick_was_not_told(bool ends) {
    check_config config = common();

    config.ticks_stand_still = true;
    tape t = tape_with(config, 7, 58);
    set(&t, BOB, DUE(20, 0));
    set(&t, ADA, DUE(8, 0));
    enqueue(&t, ADA);
    start(&t, ADA, 1);
    tick(&t, 0);
    stop(&t, ADA, 1, DN_OUTCOME_ERROR, 0);
    go(&t, 0, 8, 0);
    world(&t, (event){.kind = EVENT_STORE_FAILS, .for_ms = SECOND});
    SAY(&t, STORE_FAILED);
    if (ends) world(&t, (event){.kind = EVENT_ACTOR_CRASH, .name = "tick"});
    wait(&t, 1);
    step(&t, -HOUR);
    tick(&t, 0);
    wait(&t, SECOND);
    SAY(&t, STORE_WELL);
    cutoff(&t, ADA, DUE(8, 0));
    return t;
}

TEST(I6_a_cutoff_may_be_that_of_a_tick_whose_planner_ended_before_it_was_told) {
    tape t = her_tick_was_not_told(true);

    CHECK_UINT(check_violations_len(t.c), 0);
    check_free(t.c);
}

TEST(I6_a_cutoff_of_a_tick_that_no_planner_failed_to_tell_is_found) {
    tape t = her_tick_was_not_told(false);

    CHECK_UINT(check_violations_of(t.c, CHECK_I6), 1);
    check_free(t.c);
}

/* Her attempt is ok while the disk is full; the next tick is the first to write again. */
static tape ada_waits_for_the_disk(void) {
    tape t = ada_runs();

    world(&t, (event){.kind = EVENT_STORE_FAILS, .for_ms = 57 * SECOND});
    stop(&t, ADA, 1, DN_OUTCOME_OK, 500);
    SAY(&t, STORE_FAILED);
    go(&t, 0, 7, 1);
    return t;
}

TEST(closed_by_the_first_write_of_a_tick_a_day_may_be_asked_for_by_that_tick) {
    tape t = ada_waits_for_the_disk();

    SAY(&t, STORE_WELL);
    success(&t, ADA, DUE(8, 0));
    ignore(&t, ADA, "dedupe");
    tick(&t, 0);
    keeps(&t);
}

TEST(closed_by_the_first_write_of_a_tick_a_day_that_the_next_one_asks_for_is_found) {
    tape t = ada_waits_for_the_disk();

    SAY(&t, STORE_WELL);
    success(&t, ADA, DUE(8, 0));
    tick(&t, 0);
    go(&t, 0, 7, 2);
    ignore(&t, ADA, "dedupe");
    tick(&t, 0);
    CHECK_INT(check_end(t.c, t.now_ms + 1), DN_OK);
    CHECK_UINT(check_violations_of(t.c, CHECK_CLOSED), 1);
    check_free(t.c);
}

TEST(closed_by_the_first_write_of_a_tick_a_day_that_is_enqueued_all_the_same_is_found) {
    tape t = ada_waits_for_the_disk();

    SAY(&t, STORE_WELL);
    success(&t, ADA, DUE(8, 0));
    enqueue(&t, ADA);
    CHECK_UINT(check_violations_of(t.c, CHECK_CLOSED), 1);
    check_free(t.c);
}

TEST(closed_just_now_with_a_disk_that_was_well_a_day_that_is_asked_for_is_found) {
    tape t = ada_done();

    ignore(&t, ADA, "dedupe");
    CHECK_UINT(check_violations_of(t.c, CHECK_CLOSED), 1);
    check_free(t.c);
}

/* One slot, which Bob has; Ada waits for it, and her change for the disk. */
static tape ada_waits_for_both(void) {
    check_config config = common();

    config.max_concurrency = 1;
    tape t = tape_with(config, 7, 0);
    set(&t, ADA, DUE(8, 0));
    set(&t, BOB, DUE(7, 30));
    enqueue(&t, BOB);
    enqueue(&t, ADA);
    start(&t, BOB, 1);
    tick(&t, 0);
    world(&t, (event){.kind = EVENT_STORE_FAILS, .for_ms = 5 * SECOND});
    wait(&t, 1);
    SAY(&t, STORE_FAILED);
    wait(&t, 6 * SECOND);
    return t;
}

TEST(window_of_a_change_that_has_waited_for_the_disk_is_not_that_of_who_begins_beside_it) {
    tape t = ada_waits_for_both();

    SAY(&t, STORE_WELL);
    stop(&t, BOB, 1, DN_OUTCOME_ERROR, 6001);
    set(&t, ADA, DUE(20, 0));
    start(&t, ADA, 1);
    keeps(&t);
}

TEST(window_of_a_change_that_has_waited_for_the_disk_is_that_of_who_begins_later) {
    tape t = ada_waits_for_both();

    SAY(&t, STORE_WELL);
    set(&t, ADA, DUE(20, 0));
    wait(&t, 1);
    stop(&t, BOB, 1, DN_OUTCOME_ERROR, 6002);
    start(&t, ADA, 1);
    CHECK_UINT(check_violations_of(t.c, CHECK_WINDOW), 1);
    check_free(t.c);
}

TEST(window_of_a_change_with_a_disk_that_was_well_is_that_of_who_begins_beside_it) {
    tape t = ada_waits_for_both();

    SAY(&t, STORE_WELL);
    wait(&t, 1);
    set(&t, ADA, DUE(20, 0));
    stop(&t, BOB, 1, DN_OUTCOME_ERROR, 6002);
    start(&t, ADA, 1);
    CHECK_UINT(check_violations_of(t.c, CHECK_WINDOW), 1);
    check_free(t.c);
}

/* The tick that asks for her begins at the instant at which her removal comes to the disk, or a little later. */
static tape ada_is_removed_beside_a_tick(int64_t later_ms) {
    tape t = tape_from(7, 0);

    set(&t, ADA, DUE(8, 0));
    enqueue(&t, ADA);
    start(&t, ADA, 1);
    tick(&t, 0);
    wait(&t, 1);
    stop(&t, ADA, 1, DN_OUTCOME_ERROR, 1);
    world(&t, (event){.kind = EVENT_STORE_FAILS, .for_ms = MINUTE});
    SAY(&t, STORE_FAILED);
    wait(&t, MINUTE - 1 - later_ms);
    SAY(&t, STORE_WELL);
    SAY(&t, REMOVED, .registration = ADA);
    wait(&t, later_ms);
    ignore(&t, ADA, "throttle");
    tick(&t, 0);
    return t;
}

TEST(log_of_a_removal_that_has_waited_for_the_disk_may_have_its_user_asked_for_beside_it) {
    tape t = ada_is_removed_beside_a_tick(0);

    keeps(&t);
}

TEST(log_of_a_removal_that_has_waited_for_the_disk_has_nobody_asked_for_later) {
    tape t = ada_is_removed_beside_a_tick(1);

    CHECK_UINT(check_violations_of(t.c, CHECK_LOG), 1);
    check_free(t.c);
}

/* Her cutoff waits for the disk, the clock steps back into her window, and she is asked for again. */
static tape ada_is_tried_beside_her_cutoff(int64_t later_ms) {
    check_config config = common();

    config.retry_delay_minutes = 60;
    config.ticks_stand_still = true;
    tape t = tape_with(config, 7, 0);
    set(&t, ADA, DUE(8, 0));
    enqueue(&t, ADA);
    start(&t, ADA, 1);
    tick(&t, 0);
    wait(&t, 500);
    stop(&t, ADA, 1, DN_OUTCOME_ERROR, 500);
    go(&t, 0, 8, 0);
    world(&t, (event){.kind = EVENT_STORE_FAILS, .for_ms = 59 * SECOND});
    SAY(&t, STORE_FAILED);
    tick(&t, 1);
    step(&t, -30 * MINUTE);
    go(&t, 0, 7, 31);
    enqueue(&t, ADA);
    SAY(&t, STORE_WELL);
    cutoff(&t, ADA, DUE(8, 0));
    tick(&t, 0);
    wait(&t, later_ms);
    start(&t, ADA, 2);
    return t;
}

TEST(closed_by_what_has_waited_for_the_disk_a_day_may_be_begun_beside_it) {
    tape t = ada_is_tried_beside_her_cutoff(0);

    keeps(&t);
}

TEST(closed_by_what_has_waited_for_the_disk_a_day_that_is_begun_later_is_found) {
    tape t = ada_is_tried_beside_her_cutoff(1);

    CHECK_UINT(check_violations_of(t.c, CHECK_CLOSED), 1);
    check_free(t.c);
}

/* ---- The window, spacing, overlap, closed days ---- */

TEST(window_a_start_before_it_is_found) {
    tape t = tape_from(6, 59);

    set(&t, ADA, DUE(8, 0));
    enqueue(&t, ADA);
    start(&t, ADA, 1);
    tick(&t, 0);
    CHECK_INT(check_end(t.c, 1), DN_OK);
    CHECK_UINT(check_violations_of(t.c, CHECK_WINDOW), 2); /* it was asked for, too */
    check_free(t.c);
}

TEST(window_asking_outside_of_it_is_found) {
    tape t = tape_from(6, 59);

    set(&t, ADA, DUE(8, 0));
    enqueue(&t, ADA);
    tick(&t, 0);
    SAY(&t, EXPIRED, .registration = ADA, .day = TODAY);
    breaks(&t, CHECK_WINDOW,
           "enqueued, but the rule asks for nothing on 2026-01-01 with due 08:00");
}

TEST(window_a_start_at_its_end_is_found) {
    tape t = tape_from(7, 59);

    herd(&t, 3);
    start(&t, ADA, 1);
    start(&t, BOB, 1);
    tick(&t, 0);
    wait(&t, MINUTE);
    stop(&t, ADA, 1, DN_OUTCOME_OK, MINUTE);
    success(&t, ADA, DUE(8, 0));
    start(&t, CAT, 1);
    stop(&t, BOB, 1, DN_OUTCOME_OK, MINUTE);
    success(&t, BOB, DUE(8, 0));
    cutoff(&t, CAT, DUE(8, 0));
    tick(&t, 1);
    breaks(&t, CHECK_WINDOW, "a start outside its window: right is within 60 minutes before 08:00");
}

TEST(spacing_asking_twice_within_the_delay_is_found) {
    tape t = ada_failed();

    go(&t, 0, 7, 9);
    enqueue(&t, ADA);
    start(&t, ADA, 2);
    tick(&t, 0);
    breaks(&t, CHECK_SPACING,
           "enqueued 540000 ms after it was last: right is not before 600000 ms");
}

TEST(overlap_a_second_attempt_while_one_runs_is_found) {
    tape t = ada_runs();

    start(&t, ADA, 2);
    breaks(&t, CHECK_OVERLAP, "a start, but it is running: right is one attempt at a time");
}

TEST(overlap_asking_while_it_runs_is_found) {
    tape t = ada_runs_long();

    go(&t, 0, 7, 11);
    enqueue(&t, ADA);
    tick(&t, 0);
    breaks(&t, CHECK_OVERLAP, "enqueued, but it is running: right is to ignore it (dedupe)");
}

TEST(closed_a_start_after_the_finalization_is_found) {
    tape t = tape_from(7, 0);

    herd(&t, 3);
    start(&t, ADA, 1);
    start(&t, BOB, 1);
    tick(&t, 0);
    wait(&t, 500);
    SAY(&t, SET, .registration = CAT, .due = DUE(8, 0), .starts_on = TODAY + 1);
    stop(&t, ADA, 1, DN_OUTCOME_OK, 500);
    success(&t, ADA, DUE(8, 0));
    start(&t, CAT, 1);
    breaks(&t, CHECK_CLOSED, "a start, but the day is finalized: right is to drop it");
}

TEST(closed_asking_for_a_day_that_is_finalized_is_found) {
    tape t = ada_done();

    go(&t, 0, 7, 10);
    enqueue(&t, ADA);
    SAY(&t, EXPIRED, .registration = ADA, .day = TODAY);
    tick(&t, 0);
    breaks(&t, CHECK_CLOSED,
           "enqueued, but the day is finalized (last_date 2026-01-01): right is nothing");
}

/* ---- Order ---- */

/* Two run; ada, due at 08:00, and bob, due at 07:50, wait. */
static tape two_wait(void) {
    tape t = tape_from(7, 0);

    set(&t, 4, DUE(7, 30));
    set(&t, 5, DUE(7, 30));
    set(&t, ADA, DUE(8, 0));
    set(&t, BOB, DUE(7, 50));
    for (uint64_t n = 5; n > 0; n--)
        if (n != CAT) enqueue(&t, n);
    start(&t, 4, 1);
    start(&t, 5, 1);
    tick(&t, 0);
    wait(&t, 500);
    stop(&t, 4, 1, DN_OUTCOME_OK, 500);
    success(&t, 4, DUE(7, 30));
    return t;
}

TEST(order_the_earliest_cutoff_goes_first) {
    tape t = two_wait();

    start(&t, BOB, 1);
    wait(&t, 100);
    stop(&t, 5, 1, DN_OUTCOME_OK, 600);
    success(&t, 5, DUE(7, 30));
    start(&t, ADA, 1);
    keeps(&t);
}

TEST(order_a_later_cutoff_that_goes_first_is_found) {
    tape t = two_wait();

    start(&t, ADA, 1);
    breaks(&t, CHECK_ORDER,
           "order: user ada day 2026-01-01 at 2026-01-01T07:00:00.500Z: it starts, while somebody "
           "with the cutoff 2026-01-01T07:50:00.000Z still waits");
}

TEST(order_goes_by_the_due_of_the_moment) {
    tape t = two_wait();

    wait(&t, 0);
    SAY(&t, SET, .registration = BOB, .due = DUE(8, 30), .starts_on = TODAY);
    start(&t, ADA, 1);
    CHECK_INT(check_end(t.c, t.now_ms + 1), DN_OK);
    CHECK_UINT(check_violations_len(t.c), 0);
    check_free(t.c);
}

/* ---- Ignored, expired ---- */

TEST(ignored_for_the_right_reason_is_right) {
    tape t = ada_runs_long();

    go(&t, 0, 7, 1);
    ignore(&t, ADA, "dedupe");
    tick(&t, 0);
    keeps(&t);
}

TEST(ignored_for_a_throttle_that_is_none_is_found) {
    tape t = ada_runs_long();

    go(&t, 0, 7, 1);
    ignore(&t, ADA, "throttle");
    tick(&t, 0);
    breaks(&t, CHECK_IGNORED, "ignored for \"throttle\", but it is running: right is \"dedupe\"");
}

TEST(ignored_for_a_job_that_has_ended_is_found) {
    tape t = ada_failed();

    go(&t, 0, 7, 1);
    ignore(&t, ADA, "dedupe");
    tick(&t, 0);
    breaks(&t, CHECK_IGNORED,
           "ignored for \"dedupe\", but it is neither queued nor running and was enqueued too "
           "lately: right is \"throttle\"");
}

TEST(ignored_when_nothing_is_in_the_way_is_found) {
    tape t = ada_failed();

    go(&t, 0, 7, 10);
    ignore(&t, ADA, "throttle");
    tick(&t, 0);
    CHECK_INT(check_end(t.c, t.now_ms + 1), DN_OK);
    CHECK_UINT(check_violations_of(t.c, CHECK_IGNORED), 1);
    CHECK_UINT(check_violations_of(t.c, CHECK_I2), 1);
    check_free(t.c);
}

TEST(expired_within_its_window_is_found) {
    tape t = two_wait();

    SAY(&t, EXPIRED, .registration = BOB, .day = TODAY);
    start(&t, ADA, 1);
    breaks(&t, CHECK_EXPIRED,
           "dropped, but its window is open (due 07:50) and the day is not finalized");
}

/* They wait, and something of this comes between; then BOB is dropped. How often that is wrong. */
static uint64_t dropped_after(bool planner_ends, bool clock_steps) {
    tape t = two_wait();

    wait(&t, SECOND);
    if (planner_ends) world(&t, (event){.kind = EVENT_ACTOR_CRASH, .name = "tick"});
    if (clock_steps) step(&t, -HOUR);
    wait(&t, SECOND);
    if (clock_steps) step(&t, HOUR);
    wait(&t, SECOND);
    SAY(&t, EXPIRED, .registration = BOB, .day = TODAY);
    const uint64_t wrong = check_violations_of(t.c, CHECK_EXPIRED);
    check_free(t.c);
    return wrong;
}

TEST(expired_within_its_window_is_found_whatever_ended_or_stepped_before) {
    CHECK_UINT(dropped_after(/* planner_ends= */ true, /* clock_steps= */ true), 1);
    CHECK_UINT(dropped_after(true, false), 1);
    CHECK_UINT(dropped_after(false, true), 1);
}

TEST(expired_when_nobody_waited_is_found) {
    tape t = ada_runs();

    SAY(&t, EXPIRED, .registration = ADA, .day = TODAY);
    breaks(&t, CHECK_EXPIRED, "dropped, but it was not queued for that day");
}

TEST(expired_after_its_window_is_right) {
    check_config config = common();

    config.max_concurrency = 1;
    tape t = tape_with(config, 7, 59);
    herd(&t, 2);
    start(&t, ADA, 1);
    tick(&t, 0);
    wait(&t, MINUTE);
    stop(&t, ADA, 1, DN_OUTCOME_OK, MINUTE);
    success(&t, ADA, DUE(8, 0));
    SAY(&t, EXPIRED, .registration = BOB, .day = TODAY);
    cutoff(&t, BOB, DUE(8, 0));
    tick(&t, 1);
    keeps(&t);
}

/* ---- Stop, late, missed ---- */

TEST(stop_without_a_start_is_found) {
    tape t = ada_failed();

    stop(&t, ADA, 1, DN_OUTCOME_ERROR, 500);
    breaks(&t, CHECK_STOP, "a stop, but no attempt was running");
}

TEST(stop_of_another_attempt_is_found) {
    tape t = ada_runs();

    stop(&t, ADA, 2, DN_OUTCOME_ERROR, 500);
    breaks(&t, CHECK_STOP, "attempt 2 stopped: right is attempt 1, the one that runs");
}

TEST(stop_as_timeout_takes_exactly_that_long) {
    tape t = ada_runs();

    t.now_ms = MINUTE;
    stop(&t, ADA, 1, DN_OUTCOME_TIMEOUT, MINUTE);
    tick(&t, 0);
    keeps(&t);
}

TEST(stop_as_timeout_too_early_is_found) {
    tape t = ada_runs();

    stop(&t, ADA, 1, DN_OUTCOME_TIMEOUT, 500);
    breaks(&t, CHECK_STOP, "a stop as timeout after 500 ms: right is as timeout after 60000 ms");
}

TEST(stop_of_an_error_has_a_class) {
    tape t = ada_runs();

    SAY(&t, STOPPED, .registration = ADA, .day = TODAY, .attempt = 1, .outcome = DN_OUTCOME_ERROR,
        .duration_ms = 500);
    breaks(&t, CHECK_STOP, "error class 0: right is one of four for an error");
}

TEST(stop_with_another_result_is_found) {
    tape t = ada_runs();

    SAY(&t, STOPPED, .registration = ADA, .day = TODAY, .attempt = 1, .outcome = DN_OUTCOME_CRASH,
        .duration_ms = 500);
    breaks(&t, CHECK_STOP, "result 4: right is ok, error or timeout");
}

TEST(stop_that_never_comes_is_found) {
    tape t = ada_runs();

    go_ms(&t, 90 * SECOND);
    breaks(&t, CHECK_STOP, "its job has run for 90001 ms: right is a stop after 60000 ms");
}

TEST(late_success_of_a_day_that_is_open_is_found) {
    tape t = ada_runs();

    stop(&t, ADA, 1, DN_OUTCOME_OK, 500);
    SAY(&t, LATE_SUCCESS, .registration = ADA, .day = TODAY, .due = DUE(8, 0));
    breaks(&t, CHECK_LATE, "a late success, but the day was not finalized: right is a success");
}

TEST(late_success_after_the_cutoff_is_right) {
    tape t = tape_from(7, 59);

    set(&t, ADA, DUE(8, 0));
    enqueue(&t, ADA);
    start(&t, ADA, 1);
    tick(&t, 0);
    wait(&t, 100);
    SAY(&t, SET, .registration = ADA, .due = DUE(7, 59), .starts_on = TODAY);
    wait(&t, 59 * SECOND + 900);
    tick(&t, 1);
    cutoff(&t, ADA, DUE(7, 59));
    stop(&t, ADA, 1, DN_OUTCOME_OK, MINUTE);
    SAY(&t, LATE_SUCCESS, .registration = ADA, .day = TODAY, .due = DUE(7, 59));
    keeps(&t);
}

TEST(late_success_without_an_ok_is_found) {
    tape t = ada_at_her_cutoff();

    cutoff(&t, ADA, DUE(8, 0));
    tick(&t, 1);
    SAY(&t, LATE_SUCCESS, .registration = ADA, .day = TODAY, .due = DUE(8, 0));
    breaks(&t, CHECK_LATE, "a late success, but no attempt was ok");
}

/* From 07:00, and down from then until the day after tomorrow, 06:00. */
static tape two_days_down(void) {
    tape t = ada_failed();

    world(&t, (event){.kind = EVENT_CRASH});
    t.now_ms = 2 * DAY - HOUR;
    t.ticked_ms = t.now_ms - 1;
    world(&t, (event){.kind = EVENT_RESTART});
    return t;
}

static void missed(tape *t, uint64_t n, dn_day day) {
    SAY(t, MISSED, .registration = n, .day = day, .due = DUE(8, 0));
}

TEST(missed_days_have_a_row_each) {
    tape t = two_days_down();

    tick(&t, 0);
    missed(&t, ADA, TODAY);
    missed(&t, ADA, TODAY + 1);
    keeps(&t);
}

TEST(missed_day_without_a_row_is_found) {
    tape t = two_days_down();

    missed(&t, ADA, TODAY);
    tick(&t, 0);
    breaks(&t, CHECK_MISSED,
           "missed: user ada day 2026-01-02 at 2026-01-03T06:00:00.000Z: a tick of 2026-01-03 saw "
           "that the day had ended without one");
}

TEST(missed_day_that_is_passed_over_is_found) {
    tape t = two_days_down();

    missed(&t, ADA, TODAY + 1);
    tick(&t, 0);
    breaks(&t, CHECK_MISSED,
           "missed, and the days from 2026-01-01 on have no row: right is one each");
}

TEST(missed_day_that_is_not_over_or_finalized_or_too_early_or_known_is_found) {
    static const struct {
        dn_day      day;
        const char *words;
    } cases[] = {
        {TODAY + 2, "missed, but the day is not over: today is 2026-01-03"},
        {TODAY - 1, "missed, but it begins on 2026-01-01"},
        {TODAY + 1, "missed, but there is a row for it already"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tape t = two_days_down();
        missed(&t, ADA, TODAY);
        missed(&t, ADA, TODAY + 1);
        missed(&t, ADA, cases[i].day);
        tick(&t, 0);
        breaks(&t, CHECK_MISSED, cases[i].words);
    }
}

TEST(missed_day_of_a_finalized_one_is_found) {
    tape t = ada_done();

    world(&t, (event){.kind = EVENT_CRASH});
    t.now_ms = DAY;
    world(&t, (event){.kind = EVENT_RESTART});
    missed(&t, ADA, TODAY);
    SAY(&t, ENQUEUED, .registration = ADA, .day = TODAY + 1);
    SAY(&t, STARTED, .registration = ADA, .day = TODAY + 1, .attempt = 1);
    SAY(&t, TICK, .eligible = 1, .enqueued = 1);
    breaks(&t, CHECK_MISSED, "missed, but it is finalized (last_date 2026-01-01)");
}

TEST(missed_day_that_a_tick_over_midnight_finds_without_a_row_is_found) {
    tape t = tape_from(23, 58);

    SAY(&t, SET, .registration = ADA, .due = DUE(12, 0), .starts_on = TODAY + 1);
    SAY(&t, SET, .registration = BOB, .due = DUE(12, 0), .starts_on = TODAY);
    SAY(&t, FINALIZED, .registration = BOB, .day = TODAY, .due = DUE(12, 0),
        .status = DN_DAILY_CUTOFF);
    tick(&t, 1);
    SAY(&t, SET, .registration = ADA, .due = DUE(12, 0), .starts_on = TODAY);
    wait(&t, 2 * MINUTE);
    tick(&t, 0);
    CHECK_INT(check_end(t.c, t.now_ms + 1), DN_OK);
    CHECK_UINT(check_violations_of(t.c, CHECK_MISSED), 1);
    CHECK_UINT(check_violations_of(t.c, CHECK_I4), 1);
    check_free(t.c);
}

/* ---- The epoch, the numbers of a tick, the log itself ---- */

TEST(epoch_that_counts_something_else_is_found) {
    tape        t = ada_at_her_cutoff();
    check_final f = ada_in_store();

    cutoff(&t, ADA, DUE(8, 0));
    tick(&t, 1);
    f.status = DN_DAILY_CUTOFF;
    f.last_run_ms = INT64_MIN;
    f.context_epoch = 2;
    check_user(t.c, &f);
    breaks(&t, CHECK_EPOCH, "context_epoch is 2: right is 1, the number of its cutoffs");
}

TEST(tick_with_numbers_of_its_own_is_found) {
    static const struct {
        dn_happening tick;
        const char  *words;
    } cases[] = {
        {{.eligible = 1, .enqueued = 2}, "enqueued 2: right is 1"},
        {{.eligible = 2, .enqueued = 1}, "eligible_in_window 2: right is 1"},
        {{.eligible = 1, .enqueued = 1, .cutoffs = 1}, "cutoff_finalized 1: right is 0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tape         t = tape_from(7, 0);
        dn_happening h = cases[i].tick;
        set(&t, ADA, DUE(8, 0));
        enqueue(&t, ADA);
        start(&t, ADA, 1);
        h.kind = DN_HAPPENED_TICK;
        say(&t, h);
        breaks(&t, CHECK_TICK, cases[i].words);
    }
}

TEST(tick_that_is_said_twice_is_found) {
    tape t = ada_failed();

    go(&t, 0, 7, 1);
    tick(&t, 0);
    tick(&t, 0);
    breaks(&t, CHECK_TICK, "a second tick at this instant: right is one");
}

TEST(tick_there_was_none_for_a_cutoff_is_found) {
    tape t = tape_from(7, 59);

    set(&t, ADA, DUE(8, 0));
    enqueue(&t, ADA);
    start(&t, ADA, 1);
    tick(&t, 0);
    wait(&t, 500);
    stop(&t, ADA, 1, DN_OUTCOME_ERROR, 500);
    wait(&t, 10 * SECOND);
    step(&t, 2 * MINUTE);
    cutoff(&t, ADA, DUE(8, 0));
    breaks(&t, CHECK_TICK, "cutoffs were written, and there was no tick");
}

TEST(log_that_cannot_be_so_is_found) {
    tape t = ada_failed();

    wait(&t, -100);
    SAY(&t, SET, .registration = BOB, .due = DUE(12, 0), .starts_on = TODAY);
    t.now_ms += 200;
    breaks(&t, CHECK_LOG, "steady time goes back by 100 ms");
    t = ada_done();
    t.off_ms = 5;
    SAY(&t, SET, .registration = BOB, .due = DUE(12, 0), .starts_on = TODAY);
    breaks(&t, CHECK_LOG, "the wall clock stepped by 5 ms that no event tells of");
    t = ada_done();
    world(&t, (event){.kind = EVENT_CRASH});
    SAY(&t, SET, .registration = BOB, .due = DUE(12, 0), .starts_on = TODAY);
    breaks(&t, CHECK_LOG, "something happened while the process was down");
    t = ada_done();
    SAY(&t, REMOVED, .registration = BOB);
    breaks(&t, CHECK_LOG, "removed, but there is no such user");
    t = ada_done();
    SAY(&t, SET, .registration = BOB, .due = DUE(12, 0), .starts_on = TODAY - 1);
    SAY(&t, REMOVED, .registration = BOB);
    breaks(&t, CHECK_LOG, "begins on 2025-12-31: right is not before it is registered");
    t = ada_failed();
    go(&t, 0, 7, 10);
    enqueue(&t, ADA);
    start(&t, ADA, 3);
    tick(&t, 0);
    breaks(&t, CHECK_LOG, "attempt 3 starts: right is attempt 2");
}

TEST(log_of_a_life_that_cannot_be_so_is_found) {
    tape t = ada_done();

    world(&t, (event){.kind = EVENT_CRASH});
    world(&t, (event){.kind = EVENT_CRASH});
    breaks(&t, CHECK_LOG, "a crash of a process that was down");
    t = ada_done();
    t.now_ms = MINUTE;
    world(&t, (event){.kind = EVENT_RESTART});
    tick(&t, 0);
    breaks(&t, CHECK_LOG, "a restart of a process that was up");
}

TEST(log_of_nobody_is_found) {
    tape t = ada_done();

    SAY(&t, SET, .registration = BOB, .due = 1440, .starts_on = TODAY);
    breaks(&t, CHECK_LOG, "registered as number 2, due at minute 1440: no user is so");
    t = ada_done();
    SAY(&t, STARTED, .registration = BOB, .day = TODAY, .attempt = 1);
    breaks(&t, CHECK_LOG, "a start, but there is no such user: right is nothing of nobody");
    t = ada_done();
    SAY(&t, LATE_SUCCESS, .registration = BOB, .day = TODAY);
    breaks(&t, CHECK_LATE, "a late success, but there is no such user");
    t = ada_done();
    SAY(&t, MISSED, .registration = BOB, .day = TODAY);
    breaks(&t, CHECK_MISSED, "missed, but there is no such user");
}

TEST(log_of_a_start_that_nobody_asked_for_is_found) {
    tape t = tape_from(7, 59);

    set(&t, ADA, DUE(8, 30));
    enqueue(&t, ADA);
    start(&t, ADA, 1);
    tick(&t, 0);
    wait(&t, 500);
    stop(&t, ADA, 1, DN_OUTCOME_ERROR, 500);
    start(&t, ADA, 2);
    breaks(&t, CHECK_LOG, "a start, but it was not queued for that day");
}

TEST(I4_a_tick_that_took_time_is_found) {
    tape         t = ada_done();
    dn_happening h = {.kind = DN_HAPPENED_TICK};

    go(&t, 0, 7, 1);
    h.at_ms = wall(&t);
    wait(&t, 5);
    world(&t, (event){.kind = h.kind, .h = &h});
    CHECK_INT(check_end(t.c, t.now_ms + 1), DN_OK);
    CHECK_UINT(check_violations_of(t.c, CHECK_I4), 2); /* it was late, too */
    check_free(t.c);
}

TEST(I6_a_finalization_that_is_neither_is_found) {
    tape t = ada_failed();

    SAY(&t, FINALIZED, .registration = ADA, .day = TODAY, .due = DUE(8, 0),
        .status = DN_DAILY_MISSED);
    breaks(&t, CHECK_I6, "finalized as missed: right is success or cutoff_reached");
}

/* ---- Removed, and registered again ---- */

TEST(again_with_the_same_id_its_running_job_and_its_throttle_stay) {
    tape t = ada_runs();

    wait(&t, 100);
    SAY(&t, REMOVED, .registration = ADA);
    SAY(&t, SET, .registration = ADA_AGAIN, .due = DUE(8, 0), .starts_on = TODAY);
    go(&t, 0, 7, 1);
    stop(&t, ADA, 1, DN_OUTCOME_OK, MINUTE); /* nobody's success */
    ignore(&t, ADA_AGAIN, "throttle");
    tick(&t, 0);
    go(&t, 0, 7, 10);
    enqueue(&t, ADA_AGAIN);
    start(&t, ADA_AGAIN, 1);
    tick(&t, 0);
    keeps(&t);
}

TEST(again_with_the_same_id_beside_its_running_job_is_found) {
    tape t = ada_runs();

    wait(&t, 100);
    SAY(&t, REMOVED, .registration = ADA);
    SAY(&t, SET, .registration = ADA_AGAIN, .due = DUE(8, 0), .starts_on = TODAY);
    wait(&t, 100);
    start(&t, ADA_AGAIN, 1);
    CHECK_INT(check_end(t.c, t.now_ms + 1), DN_OK);
    CHECK_UINT(check_violations_of(t.c, CHECK_OVERLAP), 1);
    check_free(t.c);
}

TEST(again_with_the_same_id_and_never_asked_for_is_found) {
    tape t = ada_failed();

    wait(&t, 100);
    SAY(&t, REMOVED, .registration = ADA);
    SAY(&t, SET, .registration = ADA_AGAIN, .due = DUE(8, 0), .starts_on = TODAY);
    go(&t, 0, 7, 10);
    tick(&t, 0);
    breaks(&t, CHECK_I2, "at 2026-01-01T07:10:00.000Z");
}

/* Her cutoff at 08:00 finds the disk full, and the clock steps back: at 07:31, when it is written at last, she may be
 * tried by the rule. */
static tape ada_whose_cutoff_waits(void) {
    check_config config = common();

    config.retry_delay_minutes = 61;
    config.ticks_stand_still = true;
    tape t = tape_with(config, 7, 0);
    set(&t, ADA, DUE(8, 0));
    enqueue(&t, ADA);
    start(&t, ADA, 1);
    tick(&t, 0);
    wait(&t, 500);
    stop(&t, ADA, 1, DN_OUTCOME_ERROR, 500);
    go(&t, 0, 8, 0);
    world(&t, (event){.kind = EVENT_STORE_FAILS, .for_ms = MINUTE});
    SAY(&t, STORE_FAILED);
    tick(&t, 1);
    step(&t, -30 * MINUTE);
    wait(&t, MINUTE);
    SAY(&t, STORE_WELL);
    cutoff(&t, ADA, DUE(8, 0));
    return t;
}

TEST(closed_by_a_write_that_waited_a_day_may_be_enqueued_beside_it) {
    tape t = ada_whose_cutoff_waits();

    enqueue(&t, ADA);
    SAY(&t, EXPIRED, .registration = ADA, .day = TODAY);
    tick(&t, 0);
    keeps(&t);
}

TEST(closed_by_a_write_that_waited_a_day_may_not_be_enqueued_later) {
    tape t = ada_whose_cutoff_waits();

    tick(&t, 0);
    wait(&t, 1);
    enqueue(&t, ADA);
    SAY(&t, EXPIRED, .registration = ADA, .day = TODAY);
    breaks(&t, CHECK_CLOSED, "enqueued, but the day is finalized (last_date 2026-01-01)");
}

/* She was due at 08:00, and that she is due at 20:00 has waited for the disk. */
static tape ada_whose_due_waits(void) {
    tape t = ada_runs();

    wait(&t, 500);
    stop(&t, ADA, 1, DN_OUTCOME_ERROR, 1000);
    world(&t, (event){.kind = EVENT_STORE_FAILS, .for_ms = 57 * SECOND});
    SAY(&t, STORE_FAILED);
    go(&t, 0, 7, 1);
    SAY(&t, STORE_WELL);
    set(&t, ADA, DUE(20, 0));
    return t;
}

TEST(changed_by_a_write_that_waited_a_due_may_be_asked_for_as_it_was_beside_it) {
    tape t = ada_whose_due_waits();

    ignore(&t, ADA, "throttle");
    tick(&t, 0);
    keeps(&t);
}

TEST(changed_by_a_write_that_waited_a_due_may_not_be_asked_for_as_it_was_later) {
    tape t = ada_whose_due_waits();

    tick(&t, 0);
    wait(&t, 1);
    ignore(&t, ADA, "throttle");
    breaks(&t, CHECK_WINDOW, "asked for, but the rule asks for nothing on 2026-01-01");
}

/* ---- Where messages take time ---- */

TEST(lag_excuses_what_is_new_and_nothing_else) {
    check_config config = common();

    config.lag_ms = 50;
    tape t = tape_with(config, 7, 0);
    tick(&t, 0);
    go_ms(&t, MINUTE - 20);
    set(&t, ADA, DUE(8, 0));
    wait(&t, 20);
    tick(&t, 0); /* has not heard of her */
    wait(&t, 100);
    CHECK_UINT(check_violations_len(t.c), 0);
    go_ms(&t, 2 * MINUTE);
    tick(&t, 0);
    breaks(&t, CHECK_I2, "I2: user ada day 2026-01-01 at 2026-01-01T07:02:00.000Z");
}

/* Asked for at 07:00, and again so much before ten minutes are over. */
static tape asked_again_early_by(int64_t early_ms) {
    check_config config = common();

    config.lag_ms = 50;
    tape t = tape_with(config, 6, 58);
    set(&t, ADA, DUE(8, 0));
    tick(&t, 0);
    go_ms(&t, 2 * MINUTE);
    enqueue(&t, ADA);
    start(&t, ADA, 1);
    stop(&t, ADA, 1, DN_OUTCOME_ERROR, 0);
    tick(&t, 0);
    go_ms(&t, 12 * MINUTE - early_ms);
    return t;
}

TEST(lag_brings_two_askings_nearer_to_each_other_by_as_much_and_no_more) {
    for (int64_t early_ms = 50; early_ms <= 51; early_ms++) {
        tape t = asked_again_early_by(early_ms);
        enqueue(&t, ADA);
        start(&t, ADA, 2);
        tick(&t, 0);
        if (early_ms == 50) keeps(&t);
        else
            breaks(&t, CHECK_SPACING,
                   "enqueued 599949 ms after it was last: right is not before 599950 ms");
    }
}

TEST(lag_makes_a_throttle_longer_by_as_much_and_no_more) {
    for (int64_t late_ms = 49; late_ms <= 50; late_ms++) {
        tape t = asked_again_early_by(-late_ms);
        ignore(&t, ADA, "throttle");
        tick(&t, 0);
        if (late_ms == 49) keeps(&t);
        else CHECK(check_violations_of(t.c, CHECK_IGNORED) == 1);
        if (late_ms > 49) check_free(t.c);
    }
}

/* A tick begins at 08:00 and is said 40 ms later; Ada, due just then, is registered `after_ms` after its beginning. */
static tape tick_and_somebody_new(int64_t after_ms) {
    check_config config = common();
    dn_happening h = {.kind = DN_HAPPENED_TICK};

    config.lag_ms = 50;
    tape t = tape_with(config, 7, 0);
    tick(&t, 0);
    if (after_ms < 0) {
        go(&t, 0, 8, 0);
        wait(&t, after_ms);
        set(&t, ADA, DUE(8, 0));
    }
    go(&t, 0, 8, 0);
    h.at_ms = wall(&t);
    wait(&t, 1);
    if (after_ms >= 0) set(&t, ADA, DUE(8, 0));
    wait(&t, 39);
    world(&t, (event){.kind = h.kind, .h = &h});
    t.ticked_ms = t.now_ms;
    wait(&t, 49);
    set(&t, BOB, DUE(20, 0)); /* time goes on */
    wait(&t, 2);
    return t;
}

/* An executor ends while she runs, and the queue with it. That it was the executor is told 60 ms later; she is enqueued
 * before that by the old queue, or after it by the new one. */
static tape ada_after_an_end_that_is_told_late(bool by_the_new_queue) {
    check_config config = common();

    config.lag_ms = 50;
    config.job_timeout_ms = 30 * MINUTE;
    tape t = tape_with(config, 7, 0);
    set(&t, ADA, DUE(8, 0));
    tick(&t, 0);
    go(&t, 0, 7, 1);
    enqueue(&t, ADA);
    tick(&t, 0);
    start(&t, ADA, 1);
    go(&t, 0, 7, 12);
    world(&t, (event){.kind = EVENT_ACTOR_ENDS});
    wait(&t, 40);
    if (!by_the_new_queue) enqueue(&t, ADA);
    wait(&t, 20);
    world(&t, (event){.kind = EVENT_ACTOR_CRASH, .name = "executor"});
    if (by_the_new_queue) enqueue(&t, ADA);
    tick(&t, 0);
    wait(&t, 40);
    start(&t, ADA, 1);
    stop(&t, ADA, 1, DN_OUTCOME_OK, 0);
    success(&t, ADA, DUE(8, 0));
    return t;
}

TEST(lag_lets_the_queue_after_a_crash_enqueue_a_user_that_ran) {
    tape t = ada_after_an_end_that_is_told_late(/* by_the_new_queue= */ true);

    keeps(&t);
}

TEST(lag_does_not_keep_what_a_queue_enqueued_that_ended_with_its_executor) {
    tape t = ada_after_an_end_that_is_told_late(/* by_the_new_queue= */ false);

    breaks(&t, CHECK_LOG, "a start, but it was not queued for that day");
}

/* She runs, and waits_ms after an actor ended, of which nothing more is told, she is enqueued. */
static tape ada_some_time_after_an_end(int64_t waits_ms) {
    tape t = tape_from(7, 0);

    set(&t, ADA, DUE(8, 0));
    enqueue(&t, ADA);
    start(&t, ADA, 1);
    tick(&t, 0);
    world(&t, (event){.kind = EVENT_ACTOR_ENDS});
    wait(&t, waits_ms);
    enqueue(&t, ADA);
    return t;
}

TEST(until_it_is_told_who_ended_nobody_is_blamed_for_what_they_think_of_each_other) {
    tape t = ada_some_time_after_an_end(10 * SECOND);

    CHECK_UINT(check_violations_len(t.c), 0);
    check_free(t.c);
}

TEST(until_it_is_told_who_ended_goes_on_for_ten_seconds_at_most) {
    tape t = ada_some_time_after_an_end(10 * SECOND + 1);

    CHECK_UINT(check_violations_of(t.c, CHECK_OVERLAP), 1);
    check_free(t.c);
}

TEST(when_it_is_told_who_ended_they_are_blamed_again) {
    tape t = ada_some_time_after_an_end(SECOND);

    world(&t, (event){.kind = EVENT_ACTOR_CRASH, .name = "tick"});
    start(&t, BOB, 1);
    CHECK_UINT(check_violations_of(t.c, CHECK_LOG), 1);
    check_free(t.c);
}

TEST(until_it_is_told_who_ended_what_is_durable_is_judged_all_the_same) {
    tape t = ada_some_time_after_an_end(SECOND);

    stop(&t, ADA, 1, DN_OUTCOME_OK, SECOND);
    success(&t, ADA, DUE(8, 0));
    success(&t, ADA, DUE(8, 0));
    CHECK_UINT(check_violations_of(t.c, CHECK_I1), 1);
    check_free(t.c);
}

/* kv ends just before her cutoff. A planner that has not heard of it has its tick, and the one after it another, 98 ms
 * later. */
static tape ada_whose_cutoff_a_dead_kv_was_asked_for(bool again) {
    check_config config = common();

    config.window_minutes = 1;
    tape t = tape_with(config, 7, 58);
    set(&t, ADA, DUE(8, 0));
    tick(&t, 0);
    wait(&t, MINUTE);
    enqueue(&t, ADA);
    start(&t, ADA, 1);
    stop(&t, ADA, 1, DN_OUTCOME_ERROR, 0);
    tick(&t, 0);
    wait(&t, MINUTE - 2);
    world(&t, (event){.kind = EVENT_ACTOR_ENDS});
    wait(&t, 2);
    tick(&t, 1);
    wait(&t, 98);
    world(&t, (event){.kind = EVENT_ACTOR_CRASH, .name = "kv"});
    if (again) cutoff(&t, ADA, DUE(8, 0));
    tick(&t, 1);
    go(&t, 0, 8, 1);
    tick(&t, 0);
    return t;
}

TEST(I6_a_cutoff_may_be_written_by_the_kv_after_the_one_that_was_asked) {
    tape t = ada_whose_cutoff_a_dead_kv_was_asked_for(/* again= */ true);

    keeps(&t);
}

TEST(I6_a_cutoff_that_the_kv_after_the_one_that_was_asked_does_not_write_is_found) {
    tape t = ada_whose_cutoff_a_dead_kv_was_asked_for(/* again= */ false);

    breaks(&t, CHECK_I6, "at 2026-01-01T08:01:00.000Z: a tick saw its cutoff");
}

/* A tick at midnight finds the disk full, and its planner ends before it has said anything of it; the clock steps back a
 * day, and what it asked for is written. */
typedef enum planner_end { NEVER_ENDS, ENDS_BEFORE_THE_STEP, ENDS_BEHIND_IT } planner_end;
static tape a_missed_day_of_a_tick_that_was_not_said(planner_end end) {
    check_config config = common();

    config.ticks_stand_still = true;
    tape t = tape_with(config, 23, 0);
    set(&t, ADA, DUE(8, 0));
    cutoff(&t, ADA, DUE(8, 0));
    tick(&t, 1);
    set(&t, BOB, DUE(7, 0));
    go(&t, 1, 0, 0);
    world(&t, (event){.kind = EVENT_STORE_FAILS, .for_ms = MINUTE});
    SAY(&t, STORE_FAILED);
    if (end == ENDS_BEFORE_THE_STEP) world(&t, (event){.kind = EVENT_ACTOR_ENDS});
    step(&t, -DAY);
    if (end == ENDS_BEHIND_IT) world(&t, (event){.kind = EVENT_ACTOR_ENDS});
    if (end != NEVER_ENDS) world(&t, (event){.kind = EVENT_ACTOR_CRASH, .name = "tick"});
    tick(&t, 0);
    wait(&t, MINUTE);
    SAY(&t, STORE_WELL);
    SAY(&t, MISSED, .registration = BOB, .day = TODAY);
    return t;
}

TEST(missed_by_a_tick_that_was_not_said_a_day_may_be_told_after_a_step_back) {
    for (planner_end end = ENDS_BEFORE_THE_STEP; end <= ENDS_BEHIND_IT; end++) {
        tape t = a_missed_day_of_a_tick_that_was_not_said(end);
        CHECK_UINT(check_violations_of(t.c, CHECK_MISSED), 0);
        check_free(t.c);
    }
}

TEST(missed_by_no_tick_at_all_a_day_that_is_not_over_is_found) {
    tape t = a_missed_day_of_a_tick_that_was_not_said(NEVER_ENDS);

    CHECK_UINT(check_violations_of(t.c, CHECK_MISSED), 1);
    check_free(t.c);
}

/* A tick at midnight sees that bob's day has ended, and the clock steps back a day. If the disk was full then it is written a
 * minute later, by a process that dies of it. */
static tape a_missed_day_and_a_step_back(bool full) {
    check_config config = common();

    config.ticks_stand_still = true;
    tape t = tape_with(config, 23, 0);
    set(&t, BOB, DUE(7, 0));
    go(&t, 1, 0, 0);
    if (full) world(&t, (event){.kind = EVENT_STORE_FAILS, .for_ms = MINUTE});
    if (full) SAY(&t, STORE_FAILED);
    tick(&t, 0);
    step(&t, -DAY);
    wait(&t, MINUTE);
    SAY(&t, MISSED, .registration = BOB, .day = TODAY);
    crash(&t, SECOND);
    return t;
}

TEST(missed_and_written_by_a_process_that_dies_of_it_a_day_may_have_waited_for_the_disk) {
    tape t = a_missed_day_and_a_step_back(/* full= */ true);

    CHECK_UINT(check_violations_of(t.c, CHECK_MISSED), 0);
    check_free(t.c);
}

TEST(missed_a_day_that_is_not_over_is_found_where_the_disk_was_well) {
    tape t = a_missed_day_and_a_step_back(/* full= */ false);

    CHECK_UINT(check_violations_of(t.c, CHECK_MISSED),
               2); /* nor was it written when it was asked for */
    check_free(t.c);
}

/* The same of her cutoff, and a clock that steps back an hour. */
static tape a_cutoff_and_a_step_back(bool full) {
    check_config config = common();

    config.ticks_stand_still = true;
    tape t = tape_with(config, 7, 59);
    set(&t, ADA, DUE(8, 0));
    go(&t, 0, 8, 0);
    if (full) world(&t, (event){.kind = EVENT_STORE_FAILS, .for_ms = MINUTE});
    if (full) SAY(&t, STORE_FAILED);
    tick(&t, 1);
    step(&t, -HOUR);
    wait(&t, MINUTE);
    cutoff(&t, ADA, DUE(8, 0));
    crash(&t, SECOND);
    return t;
}

TEST(I6_a_cutoff_written_by_a_process_that_dies_of_it_may_have_waited_for_the_disk) {
    tape t = a_cutoff_and_a_step_back(/* full= */ true);

    CHECK_UINT(check_violations_of(t.c, CHECK_I6), 0);
    check_free(t.c);
}

TEST(I6_a_cutoff_before_its_cutoff_is_found_where_the_disk_was_well) {
    tape t = a_cutoff_and_a_step_back(/* full= */ false);

    CHECK_UINT(check_violations_of(t.c, CHECK_I6),
               2); /* nor was it written when it was asked for */
    check_free(t.c);
}

/* Her ok comes at her cutoff, of which the tick of then makes a cutoff. */
static tape ada_is_ok_at_her_cutoff(bool ended) {
    tape t = tape_with(
        (check_config){
            .tick_ms = MINUTE,
            .job_timeout_ms = 30 * MINUTE,
            .window_minutes = 30,
            .retry_delay_minutes = 10,
            .max_concurrency = 2,
        },
        7, 30);

    set(&t, ADA, DUE(8, 0));
    enqueue(&t, ADA);
    start(&t, ADA, 1);
    tick(&t, 0);
    while (t.now_ms < 29 * MINUTE) {
        wait(&t, MINUTE);
        ignore(&t, ADA, "dedupe");
        tick(&t, 0);
    }
    wait(&t, MINUTE);
    stop(&t, ADA, 1, DN_OUTCOME_OK, 30 * MINUTE);
    if (ended) world(&t, (event){.kind = EVENT_ACTOR_ENDS});
    cutoff(&t, ADA, DUE(8, 0));
    if (ended) world(&t, (event){.kind = EVENT_ACTOR_CRASH, .name = "executor"});
    tick(&t, 1);
    return t;
}

TEST(I6_an_ok_may_go_with_the_executor_that_had_it) {
    tape t = ada_is_ok_at_her_cutoff(/* ended= */ true);

    keeps(&t);
}

TEST(I6_an_ok_at_the_cutoff_whose_executor_lives_is_not_overtaken) {
    tape t = ada_is_ok_at_her_cutoff(/* ended= */ false);

    CHECK_UINT(check_violations_of(t.c, CHECK_I6), 1);
    check_free(t.c);
}

TEST(lag_excuses_a_tick_of_who_came_after_it_began) {
    tape t = tick_and_somebody_new(1);

    go(&t, 0, 8, 1);
    cutoff(&t, ADA, DUE(8, 0));
    tick(&t, 1);
    keeps(&t);
}

TEST(lag_excuses_a_tick_of_who_came_just_before_it_began) {
    tape t = tick_and_somebody_new(-50);

    go(&t, 0, 8, 1);
    cutoff(&t, ADA, DUE(8, 0));
    tick(&t, 1);
    keeps(&t);
}

TEST(lag_does_not_excuse_a_tick_of_who_was_there_longer_than_that) {
    tape t = tick_and_somebody_new(-51);

    breaks(&t, CHECK_I6, "a tick saw its cutoff (due 08:00), and it is not finalized");
}

TEST(lag_does_not_excuse_the_tick_after_it) {
    tape t = tick_and_somebody_new(1);

    go(&t, 0, 8, 1);
    tick(&t, 0);
    wait(&t, 51);
    breaks(&t, CHECK_I6, "a tick saw its cutoff (due 08:00), and it is not finalized");
}

/* Her cutoff is asked for at 08:00, and finds the disk full so much later; the clock steps back an hour, and then it is
 * written. */
static tape a_cutoff_that_waits_over_a_step_back(int64_t failed_ms) {
    check_config config = common();

    config.lag_ms = 50;
    config.retry_delay_minutes = 200;
    config.ticks_stand_still = true;
    tape t = tape_with(config, 7, 0);
    set(&t, ADA, DUE(8, 0));
    enqueue(&t, ADA);
    start(&t, ADA, 1);
    tick(&t, 0);
    wait(&t, 500);
    stop(&t, ADA, 1, DN_OUTCOME_ERROR, 500);
    go(&t, 0, 8, 0);
    tick(&t, 1);
    wait(&t, failed_ms);
    world(&t, (event){.kind = EVENT_STORE_FAILS, .for_ms = 59 * SECOND});
    SAY(&t, STORE_FAILED);
    step(&t, -HOUR);
    go(&t, 0, 7, 1);
    tick(&t, 0);
    wait(&t, SECOND);
    SAY(&t, STORE_WELL);
    cutoff(&t, ADA, DUE(8, 0));
    return t;
}

/* She is ok so long before her cutoff; it finds a full disk, and is written when that is well again. */
static tape ada_is_ok_before_a_full_disk(int64_t before_ms) {
    check_config config = common();

    config.lag_ms = 50;
    config.window_minutes = 1;
    tape t = tape_with(config, 7, 58);
    set(&t, ADA, DUE(8, 0));
    tick(&t, 0);
    wait(&t, MINUTE);
    enqueue(&t, ADA);
    start(&t, ADA, 1);
    tick(&t, 0);
    wait(&t, MINUTE - before_ms);
    stop(&t, ADA, 1, DN_OUTCOME_OK, MINUTE - before_ms);
    wait(&t, before_ms);
    world(&t, (event){.kind = EVENT_STORE_FAILS, .for_ms = SECOND});
    SAY(&t, STORE_FAILED);
    tick(&t, 1);
    wait(&t, SECOND);
    SAY(&t, STORE_WELL);
    cutoff(&t, ADA, DUE(8, 0));
    return t;
}

TEST(lag_may_bring_an_ok_of_just_before_its_cutoff_behind_one_that_waits_for_the_disk) {
    tape t = ada_is_ok_before_a_full_disk(50);

    SAY(&t, LATE_SUCCESS, .registration = ADA, .day = TODAY, .due = DUE(8, 0));
    keeps(&t);
}

TEST(lag_does_not_bring_an_ok_of_longer_before_behind_it) {
    tape t = ada_is_ok_before_a_full_disk(51);

    CHECK_UINT(check_violations_of(t.c, CHECK_I6), 2); /* and not written while the disk was well */
    check_free(t.c);
}

TEST(lag_may_lie_between_a_tick_and_the_full_disk_that_it_finds) {
    tape t = a_cutoff_that_waits_over_a_step_back(50);

    keeps(&t);
}

TEST(lag_is_over_when_a_disk_is_found_full_long_after_a_tick) {
    tape t = a_cutoff_that_waits_over_a_step_back(51);

    CHECK_INT(check_end(t.c, t.now_ms + 1), DN_OK);
    CHECK_UINT(check_violations_of(t.c, CHECK_I6), 2); /* it was not written, and then too early */
    check_free(t.c);
}

/* A plan made before Ada's removal has her tried all the same, and keeps who has her id now waiting. */
static tape removed_and_tried_all_the_same(void) {
    check_config config = common();

    config.lag_ms = 50;
    config.job_timeout_ms = 30 * MINUTE;
    tape t = tape_with(config, 6, 55);
    set(&t, ADA, DUE(8, 0));
    tick(&t, 0);
    go(&t, 0, 7, 0);
    SAY(&t, REMOVED, .registration = ADA);
    SAY(&t, SET, .registration = ADA_AGAIN, .due = DUE(8, 0), .starts_on = TODAY);
    enqueue(&t, ADA);
    start(&t, ADA, 1);
    tick(&t, 0);
    go(&t, 0, 7, 1);
    ignore(&t, ADA_AGAIN, "dedupe");
    tick(&t, 0);
    return t;
}

TEST(again_with_the_same_id_a_late_attempt_of_the_one_before_keeps_it_waiting) {
    tape t = removed_and_tried_all_the_same();

    go(&t, 0, 7, 9);
    stop(&t, ADA, 1, DN_OUTCOME_ERROR, 9 * MINUTE);
    go(&t, 0, 7, 10);
    enqueue(&t, ADA_AGAIN);
    start(&t, ADA_AGAIN, 1);
    tick(&t, 0);
    keeps(&t);
}

TEST(again_with_the_same_id_and_waiting_for_an_attempt_that_is_over_is_found) {
    tape t = removed_and_tried_all_the_same();

    go(&t, 0, 7, 9);
    stop(&t, ADA, 1, DN_OUTCOME_ERROR, 9 * MINUTE);
    go(&t, 0, 7, 10);
    ignore(&t, ADA_AGAIN, "dedupe");
    CHECK_UINT(check_violations_of(t.c, CHECK_IGNORED), 1);
    check_free(t.c);
}

TEST(
    again_with_the_same_id_an_attempt_on_its_way_when_the_one_before_was_removed_keeps_it_waiting) {
    check_config config = common();

    config.lag_ms = 50;
    tape t = tape_with(config, 6, 55);
    set(&t, ADA, DUE(8, 0));
    tick(&t, 0);
    go(&t, 0, 7, 0);
    enqueue(&t, ADA);
    SAY(&t, REMOVED, .registration = ADA);
    SAY(&t, SET, .registration = ADA_AGAIN, .due = DUE(8, 0), .starts_on = TODAY);
    tick(&t, 0);
    wait(&t, 1);
    start(&t, ADA, 1);
    go(&t, 0, 7, 1);
    ignore(&t, ADA_AGAIN, "dedupe");
    tick(&t, 0);
    wait(&t, 1);
    stop(&t, ADA, 1, DN_OUTCOME_TIMEOUT, MINUTE);
    go(&t, 0, 7, 2);
    ignore(&t, ADA_AGAIN, "throttle");
    tick(&t, 0);
    keeps(&t);
}

/* Due at 00:20: of the second of January she is ok at 23:30 before, while the disk is full; the executor ends, the clock
 * steps on by a day, and so it goes with the third. Nothing is written yet. */
static tape ada_is_ok_twice_before_the_disk_is_well(void) {
    check_config config = common();

    config.lag_ms = 50;
    config.ticks_stand_still = true;
    tape t = tape_with(config, 23, 30);
    set(&t, ADA, DUE(0, 20));
    cutoff(&t, ADA, DUE(0, 20));
    tick(&t, 1);
    go_ms(&t, MINUTE);
    for (int day = TODAY + 1; day <= TODAY + 2; day++) {
        if (day == TODAY + 1) world(&t, (event){.kind = EVENT_STORE_FAILS, .for_ms = HOUR});
        SAY(&t, ENQUEUED, .registration = ADA, .day = day);
        SAY(&t, STARTED, .registration = ADA, .day = day, .attempt = 1);
        SAY(&t, TICK, .eligible = 1, .enqueued = 1);
        t.ticked_ms = t.now_ms;
        wait(&t, SECOND);
        if (day == TODAY + 1) SAY(&t, STORE_FAILED);
        SAY(&t, STOPPED, .registration = ADA, .day = day, .attempt = 1, .outcome = DN_OUTCOME_OK,
            .duration_ms = SECOND);
        world(&t, (event){.kind = EVENT_ACTOR_CRASH, .name = "executor"});
        go_ms(&t, (t.now_ms / MINUTE + 1) * MINUTE);
        if (day == TODAY + 1) step(&t, DAY);
    }
    return t;
}

static void success_of(tape *t, dn_day day) {
    SAY(t, FINALIZED, .registration = ADA, .day = day, .due = DUE(0, 20),
        .status = DN_DAILY_SUCCESS);
}

TEST(I6_oks_of_two_days_that_wait_for_the_disk_are_successes_both) {
    tape t = ada_is_ok_twice_before_the_disk_is_well();

    SAY(&t, STORE_WELL);
    success_of(&t, TODAY + 1);
    success_of(&t, TODAY + 2);
    tick(&t, 0);
    keeps(&t);
}

TEST(I6_oks_of_two_days_are_none_of_a_third) {
    tape t = ada_is_ok_twice_before_the_disk_is_well();

    SAY(&t, STORE_WELL);
    success_of(&t, TODAY + 1);
    success_of(&t, TODAY + 2);
    success_of(&t, TODAY + 3);
    CHECK_UINT(check_violations_of(t.c, CHECK_I6), 1);
    check_free(t.c);
}

TEST(I6_oks_of_two_days_go_with_the_process) {
    tape t = ada_is_ok_twice_before_the_disk_is_well();

    crash(&t, SECOND);
    SAY(&t, STORE_WELL);
    success_of(&t, TODAY + 1);
    success_of(&t, TODAY + 2);
    CHECK_UINT(check_violations_of(t.c, CHECK_I6), 2);
    check_free(t.c);
}

/* Due at 08:00, and her only attempt failed; a process that comes back just before 08:00 has a tick at once, and the
 * next one `apart_ms` later. */
static tape two_ticks_see_her_cutoff(int64_t apart_ms) {
    check_config config = common();

    config.lag_ms = 50;
    config.retry_delay_minutes = 200;
    tape t = tape_with(config, 7, 0);
    set(&t, ADA, DUE(8, 0));
    enqueue(&t, ADA);
    start(&t, ADA, 1);
    tick(&t, 0);
    wait(&t, 500);
    stop(&t, ADA, 1, DN_OUTCOME_ERROR, 500);
    go(&t, 0, 8, 0);
    tick(&t, 1);
    wait(&t, apart_ms);
    tick(&t, 1);
    return t;
}

TEST(lag_holds_of_two_ticks_close_together_too) {
    tape t = two_ticks_see_her_cutoff(50);

    wait(&t, 50);
    cutoff(&t, ADA, DUE(8, 0));
    keeps(&t);
}

TEST(lag_does_not_put_off_what_a_tick_before_it_asked_for) {
    tape t = two_ticks_see_her_cutoff(51);

    cutoff(&t, ADA, DUE(8, 0));
    breaks(&t, CHECK_I6, "a tick saw its cutoff (due 08:00), and it is not finalized");
}

TEST(lag_is_over_when_two_ticks_close_together_have_come_to_nothing) {
    tape t = two_ticks_see_her_cutoff(50);

    wait(&t, 51);
    breaks(&t, CHECK_I6, "a tick saw its cutoff (due 08:00), and it is not finalized");
}

TEST(a_configuration_that_is_none_is_refused) {
    check       *c;
    check_config config = common();

    config.window_minutes = 0;
    CHECK_INT(check_new(&config, &c), DN_EINVAL);
}
