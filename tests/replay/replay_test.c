/* replay_test.c - a trace in, the log of what happened out: every rule of the contract on replays, in virtual time. */
#include "run.h"

#define DAY_OF(at) "2026-03-02T" at "Z"

/* A user whose window is open from the start, and what its job does. */
#define ADA_AT_SEVEN(end, more)                                                                    \
    HEADER(DAY_OF("07:00:00"), DAY_OF(end), more) USER(DAY_OF("07:00:00"), "ada", "08:00")

TEST(a_day_of_one_user_is_told_to_the_letter) {
    trace_is(HEADER(DAY_OF("06:59:30"), DAY_OF("07:01:30"), "")
                 USER(DAY_OF("06:59:30"), "ada", "08:00"));
    runs();
    CHECK_INT(LINES("{\"t\":\"2026-03-02T07:00:00.000Z\",\"ev\":\"tick\",\"users_scanned\":1,"
                    "\"eligible_in_window\":1,\"enqueued\":1,\"cutoff_finalized\":0}"),
              1);
    CHECK_INT(LINES("\"ev\":\"tick\""), 3);
    ticks_go();
    CHECK_STR(run.events,
              "{\"t\":\"2026-03-02T07:00:00.000Z\",\"ev\":\"enqueue\",\"user\":\"ada\",\"day\":"
              "\"2026-03-02\"}\n"
              "{\"t\":\"2026-03-02T07:00:00.000Z\",\"ev\":\"start\",\"user\":\"ada\",\"day\":"
              "\"2026-03-02\",\"attempt\":1}\n"
              "{\"t\":\"2026-03-02T07:00:00.500Z\",\"ev\":\"stop\",\"user\":\"ada\",\"day\":"
              "\"2026-03-02\",\"attempt\":1,\"result\":\"ok\",\"error_class\":null,\"duration_ms\":"
              "500}\n"
              "{\"t\":\"2026-03-02T07:00:00.500Z\",\"ev\":\"finalize\",\"user\":\"ada\",\"day\":"
              "\"2026-03-02\",\"status\":\"success\",\"due_bucket\":480}\n");
    CHECK_STR(run.users,
              "{\"id\":\"ada\",\"due\":\"08:00\",\"last_date\":\"2026-03-02\",\"status\":"
              "\"success\",\"last_run_at\":\"2026-03-02T07:00:00.500Z\",\"context_epoch\":0,"
              "\"starts_on\":\"2026-03-02\"}\n");
    CHECK(strstr(run.summary, "{\"days\":{\"2026-03-02\":{\"success\":1,\"cutoff_reached\":0,"
                              "\"late_success\":0,\"missed\":0,\"starts\":1}},") == run.summary);
    CHECK(strstr(run.summary, "\"peak_in_flight\":1,\"peak_depth\":1,\"invariant_violations\":[]"));
}

TEST(a_job_that_finishes_at_the_instant_of_its_cutoff_is_a_success) {
    trace_is(HEADER(DAY_OF("07:59:00"), DAY_OF("08:01:00"), "") USER(
        DAY_OF("07:59:00"), "ada",
        "08:00") "{\"op\":\"outcome\",\"id\":\"ada\",\"result\":\"ok\",\"duration_ms\":60000}\n");
    runs();
    CHECK_INT(LINES("\"ev\":\"stop\"", DAY_OF("08:00:00.000"), "\"result\":\"ok\""), 1);
    CHECK_INT(LINES("\"ev\":\"finalize\"", "success"), 1);
    CHECK_INT(LINES("cutoff_reached"), 0);
    CHECK(place_of("\"finalize\"") < place_of("08:00:00.000Z\",\"ev\":\"tick\""));
}

TEST(a_job_as_long_as_its_timeout_is_finished_and_a_longer_one_stops_then) {
    static const char *const how[] = {
        "\"result\":\"ok\",\"duration_ms\":60000", "\"result\":\"ok\",\"duration_ms\":60001",
        "\"result\":\"timeout\",\"duration_ms\":1", "\"result\":\"hang\"",
        "\"result\":\"crash\",\"duration_ms\":60001"};

    for (int i = 0; i < 5; i++) {
        trace_is(ADA_AT_SEVEN("07:02:00", "") "{\"op\":\"outcome\",\"id\":\"ada\",%s}\n", how[i]);
        runs();
        CHECK_INT(LINES("\"ev\":\"stop\"", DAY_OF("07:01:00.000"), "\"duration_ms\":60000",
                        i == 0 ? "\"result\":\"ok\"" : "\"result\":\"timeout\"",
                        "\"error_class\":null"),
                  1);
    }
}

TEST(a_job_that_crashes_is_an_unknown_error_when_it_does) {
    trace_is(ADA_AT_SEVEN(
        "07:02:00",
        "") "{\"op\":\"outcome\",\"id\":\"ada\",\"result\":\"crash\",\"duration_ms\":70}\n"
            "{\"op\":\"outcome\",\"id\":\"bob\",\"result\":\"error\",\"duration_ms\":70}\n" USER(
                DAY_OF("07:00:00"), "bob", "08:00"));
    runs();
    CHECK_INT(LINES("\"ev\":\"stop\"", "07:00:00.070Z", "\"result\":\"error\"",
                    "\"error_class\":\"unknown\"", "\"duration_ms\":70"),
              2);
}

TEST(the_most_exact_outcome_holds_and_attempts_are_counted_since_the_last_crash) {
    trace_is(ADA_AT_SEVEN(
        "07:32:00",
        "") "{\"op\":\"outcome\",\"id\":\"ada\",\"attempt\":2,\"result\":\"error\","
            "\"error_class\":\"parse\",\"duration_ms\":1}\n"
            "{\"op\":\"outcome\",\"id\":\"ada\",\"day\":\"2026-03-02\",\"result\":\"error\","
            "\"error_class\":\"req\",\"duration_ms\":1}\n"
            "{\"op\":\"outcome\",\"id\":\"ada\",\"day\":\"2026-03-02\",\"attempt\":3,\"result\":"
            "\"error\",\"error_class\":\"llm\",\"duration_ms\":1}\n"
            "{\"at\":\"" DAY_OF("07:25:00") "\",\"op\":\"crash\",\"down_ms\":1000}\n");
    runs();
    CHECK_INT(LINES("\"stop\"", "\"attempt\":1", "\"error_class\":\"req\""), 2);
    CHECK_INT(LINES("\"stop\"", "\"attempt\":2", "\"error_class\":\"req\""), 1);
    CHECK_INT(LINES("\"stop\"", "\"attempt\":3", "\"error_class\":\"llm\""), 1);
    CHECK_INT(LINES("\"stop\"", "07:25:01"), 1); /* eligible again at the tick of the return */
    CHECK_INT(LINES("\"stop\""), 4);
}

TEST(a_process_that_dies_stops_no_job_and_ticks_when_it_is_back) {
    trace_is(ADA_AT_SEVEN(
        "07:05:00",
        "") "{\"op\":\"outcome\",\"id\":\"ada\",\"attempt\":1,\"result\":\"ok\",\"duration_ms\":"
            "30000}\n"
            "{\"at\":\"" DAY_OF("07:00:10") "\",\"op\":\"crash\",\"down_ms\":125500}\n"
                                            "{\"at\":\"" DAY_OF(
                                                "07:00:20") "\",\"op\":\"crash\",\"down_ms\":1}"
                                                            "\n" USER(DAY_OF("07:01:00"), "bob",
                                                                      "08:00"));
    runs();
    CHECK_INT(LINES("\"crash\""), 1);
    CHECK_INT(LINES("\"restart\"", "07:02:15.500Z"), 1);
    CHECK_INT(LINES("\"tick\"", "07:02:15.500Z"), 1);
    CHECK_INT(LINES("\"tick\""), 4); /* 07:00, the return, 07:03 and 07:04 */
    CHECK_INT(LINES("\"start\"", "07:00:00.000Z", "ada"), 1);
    CHECK_INT(LINES("\"start\"", "07:02:15.500Z"), 2); /* bob waited for the process */
    CHECK_INT(LINES("\"stop\"", "ada"), 1);
    CHECK_INT(LINES("\"stop\"", "07:02:45.500Z", "ada"), 1);
}

TEST(steps_of_the_clock_move_what_is_written_down_and_not_the_ticks) {
    trace_is(ADA_AT_SEVEN("07:03:00", "") "{\"at\":\"" DAY_OF(
        "07:00:30") "\",\"op\":\"clock\",\"step_ms\":-3600000}\n"
                    "{\"at\":\"" DAY_OF("07:01:30") "\",\"op\":\"clock\",\"step_ms\":3601000}\n");
    runs();
    CHECK_INT(LINES("\"clock\"", "06:00:30.000Z", "\"step_ms\":-3600000"), 1);
    CHECK_INT(LINES("\"clock\"", "07:01:31.000Z", "\"step_ms\":3601000"), 1);
    CHECK_INT(LINES("\"tick\"", "06:01:00.000Z"), 1);
    CHECK_INT(LINES("\"tick\"", "07:02:01.000Z"), 1);
    CHECK_INT(LINES("\"tick\""), 3);
}

TEST(while_the_store_fails_nothing_is_finalized_and_nobody_registered) {
    trace_is(ADA_AT_SEVEN("07:03:00", "") "{\"at\":\"" DAY_OF(
        "07:00:00.100") "\",\"op\":\"store_fails\",\"for_ms\":30000}"
                        "\n" USER(DAY_OF("07:00:01"), "bob", "08:00") "{\"at\":\"" DAY_OF(
                            "07:00:"
                            "02") "\",\"op\":\"remove\",\"id\":\"nobody\"}\n");
    runs();
    CHECK_INT(LINES("\"store_fails\"", "07:00:00.100Z", "\"for_ms\":30000"), 1);
    CHECK_INT(LINES("\"stop\"", "07:00:00.500Z", "ada"), 1);
    const char *finalized = place_of("\"finalize\",\"user\":\"ada\"");
    const char *line = finalized - strlen("{\"t\":\"2026-03-02T07:00:00.500Z\",\"ev\":");
    CHECK_MSG(strncmp(line + 6, DAY_OF("07:00:30.100"), 23) >= 0, "%.60s", line);
    CHECK_MSG(strncmp(line + 6, DAY_OF("07:00:36.000"), 23) < 0, "%.60s", line);
    CHECK_INT(LINES("\"start\"", "07:01:00.000Z", "bob"), 1);
}

TEST(what_the_store_had_not_taken_when_the_process_died_is_taken_after) {
    trace_is(ADA_AT_SEVEN("07:03:00", "") "{\"at\":\"" DAY_OF(
        "07:00:10") "\",\"op\":\"store_fails\",\"for_ms\":50000}\n"
                    "{\"at\":\"" DAY_OF(
                        "07:00:11") "\",\"op\":\"users\",\"count\":20000,\"prefix\":\"u\","
                                    "\"due\":\"20:00\"}\n"
                                    "{\"at\":\"" DAY_OF(
                                        "07:00:11") "\",\"op\":\"remove\",\"id\":"
                                                    "\"u7\"}\n" USER(
                                                        DAY_OF("07:00:12"), "u7",
                                                        "21:00") "{\"at\":"
                                                                 "\"" DAY_OF(
                                                                     "07:"
                                                                     "00:"
                                                                     "20") "\",\"op\":\"crash\","
                                                                           "\"down_ms\":5000}\n");
    runs();
    int users = 0;
    for (const char *at = run.users; (at = strchr(at, '\n')); at++) users++;
    CHECK_INT(users, 20001);
    CHECK(strstr(run.users, "{\"id\":\"u7\",\"due\":\"21:00\""));
    CHECK(strstr(run.users, "{\"id\":\"u19999\",\"due\":\"20:00\""));
}

/* Each of the two comes before the crash or the step of its instant, and so of the day that ends before it. */
TEST(a_line_of_an_instant_is_through_before_the_next_one) {
    static const char *const after[] = {"\"op\":\"crash\",\"down_ms\":3600000",
                                        "\"op\":\"clock\",\"step_ms\":3600000"};

    for (int i = 0; i < 2; i++) {
        trace_is(
            HEADER("2026-03-01T23:00:00Z", "2026-03-02T01:00:00Z", "") "%s%s{\"at\":\"%s\",%s}\n",
            USER("2026-03-01T23:30:00Z", "ada", "23:59"),
            USER("2026-03-01T23:30:00Z", "bob", "12:00"), "2026-03-01T23:30:00Z", after[i]);
        runs();
        CHECK_INT(LINES("\"missed\",\"user\":\"ada\",\"day\":\"2026-03-01\""), 1);
        CHECK(strstr(run.users, "\"ada\"") && strstr(run.users, "\"bob\""));
        CHECK(!strstr(run.users, "\"starts_on\":\"2026-03-02\""));
    }
}

/* By the second minute there is room again. */
TEST(a_disk_that_is_full_from_an_instant_on_takes_nothing_of_the_lines_before_it_in_that_instant) {
    static const char *const between[] = {
        "",
        "{\"at\":\"" DAY_OF("07:00:30") "\",\"op\":\"crash\",\"down_ms\":1}\n",
        "{\"at\":\"" DAY_OF("07:00:30") "\",\"op\":\"clock\",\"step_ms\":1}\n",
    };

    for (int i = 0; i < 3; i++) {
        trace_is(HEADER(DAY_OF("07:00:00"), DAY_OF("07:02:01"), "") "%s%s%s%s%s%s",
                 USER(DAY_OF("07:00:30"), "ada", "08:00"),
                 "{\"at\":\"" DAY_OF("07:00:30") "\",\"op\":\"users\",\"count\":3000,\"prefix\":"
                                                 "\"u\",\"due\":\"20:00\"}\n",
                 between[i],
                 "{\"at\":\"" DAY_OF("07:00:30") "\",\"op\":\"store_fails\",\"for_ms\":40000}\n",
                 "{\"at\":\"" DAY_OF("07:00:30") "\",\"op\":\"store_fails\",\"for_ms\":100}\n",
                 USER(DAY_OF("07:01:30"), "bob", "20:00"));
        runs();
        CHECK_INT(LINES("\"tick\"", "07:01:00", "\"users_scanned\":0,"), 1);
        CHECK_INT(LINES("\"tick\"", "07:02:00", "\"users_scanned\":3002,"), 1);
        CHECK_INT(LINES("\"store_fails\""), 2);
        CHECK(strstr(run.users, "\"ada\"") && strstr(run.users, "\"bob\""));
    }
}

TEST(ticks_lie_on_the_multiples_of_their_length_wherever_the_trace_begins) {
    trace_is(HEADER(DAY_OF("07:00:30.250"), DAY_OF("07:03:00"), ",\"tick_ms\":45000"));
    runs();
    CHECK_INT(LINES("\"tick\""), 4);
    CHECK_INT(LINES("\"tick\"", "07:00:30.250Z"), 1);
    CHECK_INT(LINES("\"tick\"", "07:00:45.000Z"), 1);
    CHECK_INT(LINES("\"tick\"", "07:01:30.000Z"), 1);
    CHECK_INT(LINES("\"tick\"", "07:02:15.000Z"), 1);
}

TEST(the_run_ends_before_its_end) {
    trace_is(ADA_AT_SEVEN("07:00:00.500", ""));
    runs();
    CHECK_INT(LINES("\"start\""), 1);
    CHECK_INT(LINES("\"stop\""), 0);
    trace_is(ADA_AT_SEVEN("07:00:00.501", ""));
    runs();
    CHECK_INT(LINES("\"stop\""), 1);
}

TEST(what_ends_behind_the_last_tick_is_counted) {
    trace_is(ADA_AT_SEVEN("07:00:30", ""));
    runs();
    CHECK_INT(LINES("\"finalize\""), 1);
    CHECK(strstr(run.summary, "\"success\":1,"));
    CHECK(strstr(run.summary, "\"starts\":1}"));
}

TEST(of_a_cutoff_the_report_has_the_user) {
    trace_is(
        ADA_AT_SEVEN("08:02:00", "") "{\"op\":\"outcome\",\"id\":\"ada\",\"result\":\"error\"}\n");
    runs();
    CHECK_INT(LINES("\"finalize\"", "cutoff_reached"), 1);
    char *page = slurp("report.html");
    CHECK_MSG(strstr(page, "\"ada\""), "no user is named in the report");
    free(page);
}

TEST(a_process_that_would_be_back_at_the_end_is_not) {
    static const char *const down_ms[] = {"59999", "60000", "3600000"};

    for (int i = 0; i < 3; i++) {
        trace_is(HEADER(DAY_OF("07:00:00"), DAY_OF("07:02:00"),
                        "") "{\"at\":\"%s\",\"op\":\"crash\",\"down_ms\":%s}\n%s",
                 DAY_OF("07:01:00"), down_ms[i], USER(DAY_OF("07:01:30"), "ada", "08:00"));
        runs();
        CHECK_INT(LINES("\"crash\""), 1);
        CHECK_INT(LINES("\"restart\""), i == 0 ? 1 : 0);
        CHECK_INT(LINES("\"tick\""), i == 0 ? 2 : 1);
        CHECK_INT(*run.users ? 1 : 0, i == 0 ? 1 : 0);
    }
}

TEST(never_more_than_k_run_and_no_slot_is_free_while_one_waits) {
    trace_is(HEADER(
        DAY_OF("07:00:00"), DAY_OF("07:01:00"),
        ",\"max_concurrency\":3") "{\"at\":\"" DAY_OF("07:00:00") "\",\"op\":\"users\",\"count\":"
                                                                  "10,\"prefix\":\"u\","
                                                                  "\"due\":\"07:30\"}\n");
    runs();
    CHECK_INT(LINES("\"start\"", "07:00:00.000Z"), 3);
    CHECK_INT(LINES("\"start\"", "07:00:00.500Z"), 3);
    CHECK_INT(LINES("\"start\"", "07:00:01.500Z"), 1);
    CHECK(strstr(run.summary, "\"peak_in_flight\":3,\"peak_depth\":10,"));
    const char *const sets[] = {"max_concurrency=10"};
    CHECK_INT(run_with(test_seed(), sets, 1), DN_OK);
    CHECK_INT(LINES("\"start\"", "07:00:00.000Z"), 10);
}

TEST(an_id_that_is_removed_and_registered_at_one_instant_begins_anew_on_that_day) {
    trace_is(HEADER("2026-01-01T00:00:00Z", "2026-01-07T00:00:00Z", "") USER(
        "2026-01-01T00:00:00Z", "ada",
        "08:00") "{\"at\":\"2026-01-05T12:00:00Z\",\"op\":\"remove\",\"id\":\"ada\"}\n"
                 "{\"at\":\"2026-01-05T12:00:00Z\",\"op\":\"user\",\"id\":\"ada\",\"due\":\"08:"
                 "00\","
                 "\"starts_on\":\"2026-01-02\"}\n");
    runs();
    CHECK_INT(LINES("\"ev\":\"missed\""), 0);
    CHECK_INT(LINES("\"ev\":\"finalize\"", "\"day\":\"2026-01-05\""), 2);
    CHECK(strstr(run.users, "\"starts_on\":\"2026-01-05\""));
}

TEST(a_user_that_is_removed_while_it_waits_is_started_no_more) {
    trace_is(HEADER(
        DAY_OF("07:00:00"), DAY_OF("08:01:00"),
        ",\"max_concurrency\":1") "{\"op\":\"outcome\",\"id\":\"ada\",\"result\":\"ok\",\"duration_"
                                  "ms\":30000}\n" USER(DAY_OF("07:00:00"), "ada", "07:50")
                                      USER(DAY_OF("07:00:00"), "bob", "08:00") "{\"at\":\"" DAY_OF(
                                          "07:00:10") "\",\"op\":\"remove\",\"id\":\"bob\"}\n");
    runs();
    CHECK_INT(LINES("\"enqueue\"", "bob"), 1);
    CHECK_INT(LINES("\"start\"", "bob"), 0);
    CHECK(!strstr(run.users, "bob"));
}

/* Slots are enough for all, so the order within an instant decides nothing. */
TEST(the_same_seed_gives_the_same_bytes_and_another_one_the_same_users) {
    trace_is(HEADER(
        DAY_OF("00:00:00"), "2026-03-04T00:00:00Z",
        ",\"max_concurrency\":1000") "{\"at\":\"" DAY_OF("00:00:00") "\",\"op\":\"users\","
                                                                     "\"count\":500,\"prefix\":"
                                                                     "\"u\","
                                                                     "\"due\":\"spread\"}\n"
                                                                     "{\"op\":\"outcome\",\"id\":"
                                                                     "\"u9\",\"result\":\"error\"}"
                                                                     "\n"
                                                                     "{\"op\":\"outcome\",\"id\":"
                                                                     "\"u77\",\"result\":\"hang\"}"
                                                                     "\n"
                                                                     "{\"at\":\"2026-03-03T01:00:"
                                                                     "00Z\",\"op\":\"crash\","
                                                                     "\"down_ms\":7200000}\n"
                                                                     "{\"at\":\"2026-03-03T12:00:"
                                                                     "00Z\",\"op\":\"clock\","
                                                                     "\"step_ms\":-600000}\n"
                                                                     "{\"at\":\"2026-03-03T13:00:"
                                                                     "00Z\",\"op\":\"store_fails\","
                                                                     "\"for_ms\":600000}\n");
    CHECK_INT(run_with(test_seed(), NULL, 0), DN_OK);
    char *events = run.events, *users = run.users;
    run.events = run.users = NULL;
    CHECK_INT(run_with(test_seed(), NULL, 0), DN_OK);
    CHECK_STR(run.events, events);
    CHECK_STR(run.users, users);
    CHECK_INT(run_with(test_seed() + 1, NULL, 0), DN_OK);
    CHECK_STR(run.users, users);
    free(events);
    free(users);
}

/* As many as there are minutes, one fewer and one more; hardly any, and some at each minute and more at a few. */
TEST(users_that_are_spread_are_due_at_the_minute_of_their_number_each_of_them_once) {
    static const int counts[] = {0, 1, 2, 1439, 1440, 1441, 4000};

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        trace_is(HEADER(DAY_OF("00:00:00"), DAY_OF("00:00:30"), "") "{\"at\":\"" DAY_OF(
                     "00:00:00") "\",\"op\":\"users\",\"count\":%d,\"prefix\":\"u\",\"due\":"
                                 "\"spread\"}\n",
                 counts[i]);
        runs();
        int lines = 0;
        for (const char *at = run.users; *at; at = strchr(at, '\n') + 1, lines++) {
            char      *end;
            const long number = strtol(at + sizeof "{\"id\":\"u" - 1, &end, 10);
            char       due[16];
            CHECK(number >= 0 && number < counts[i]);
            (void)snprintf(due, sizeof due, "\",\"due\":\"%02ld:%02ld", number % 1440 / 60,
                           number % 60);
            CHECK_INT(strncmp(end, due, strlen(due)), 0);
        }
        CHECK_INT(lines, counts[i]); /* they are sorted by their ids, which are theirs alone */
    }
}

TEST(a_trace_that_is_none_leaves_nothing_and_what_was_there_stays) {
    trace_is(ADA_AT_SEVEN("07:02:00", ""));
    runs();
    char *before = run.events;
    run.events = NULL;
    trace_is(ADA_AT_SEVEN("07:02:00", "") "{\"op\":\"outcom\"}\n");
    CHECK_INT(run_with(1, NULL, 0), DN_EINVAL);
    CHECK_MSG(strstr(run.why, "trace.ndjson:3: "), "%s", run.why);
    run.events = slurp("events.ndjson");
    CHECK_STR(run.events, before);
    free(before);
    const char *const sets[] = {"max_concurrency=none"};
    trace_is(ADA_AT_SEVEN("07:02:00", ""));
    CHECK_INT(run_with(1, sets, 1), DN_EINVAL);
    CHECK_MSG(strstr(run.why, "max_concurrency"), "%s", run.why);
}

TEST(a_directory_that_cannot_be_is_said_in_one_line) {
    trace_is(ADA_AT_SEVEN("07:02:00", ""));
    (void)snprintf(run.out, sizeof run.out, "/proc/nothing/here");
    CHECK_INT(run_with(1, NULL, 0), DN_EIO);
    CHECK_MSG(strstr(run.why, "/proc/nothing/here") && !strchr(run.why, '\n'), "%s", run.why);
}

TEST(a_directory_where_a_file_is_to_be_is_refused_before_anything_is_written) {
    static const char *const names[] = {"events.ndjson", "users.ndjson", "summary.json",
                                        "report.html"};
    char                     path[160];

    trace_is(ADA_AT_SEVEN("07:02:00", ""));
    CHECK_INT(mkdir(run.out, 0700), 0);
    for (int i = 0; i < 4; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", run.out, names[i]);
        CHECK_INT(mkdir(path, 0700), 0);
        CHECK_INT(run_with(1, NULL, 0), DN_EIO);
        CHECK_MSG(strstr(run.why, path) && !strchr(run.why, '\n'), "%s", run.why);
        CHECK_INT(rmdir(path), 0);
        CHECK_MSG(rmdir(run.out) == 0, "%s: something else is there", run.out);
        CHECK_INT(mkdir(run.out, 0700), 0);
    }
}

static void look_whether_another_may(void *context, int64_t done_ms, int64_t total_ms) {
    const replay_config config = {.trace = run.trace, .version = "1", .out = run.out};
    replay             *r = NULL;
    bool               *asked = context;

    (void)done_ms;
    (void)total_ms;
    if (*asked) return;
    *asked = true;
    CHECK_INT(replay_run(&config, &r, run.why), DN_EIO);
    CHECK_MSG(strstr(run.why, run.out) && strstr(run.why, "another diurnal replay") &&
                  !strchr(run.why, '\n'),
              "%s", run.why);
}

TEST(of_two_runs_into_one_directory_the_second_is_refused_and_the_first_is_whole) {
    bool                asked = false;
    replay             *r = NULL;
    const replay_config config = {.trace = run.trace,
                                  .version = "1",
                                  .out = run.out,
                                  .progress = look_whether_another_may,
                                  .context = &asked};

    trace_is(ADA_AT_SEVEN("07:02:00", ""));
    CHECK_MSG(replay_run(&config, &r, run.why) == DN_OK, "%s", run.why);
    replay_free(r);
    CHECK(asked);
    run.events = slurp("events.ndjson");
    CHECK_INT(LINES("\"finalize\"", "ada"), 1);
    run_forgets();
    runs(); /* and when it has ended the place is free */
}

TEST(attempts_are_counted_as_far_as_a_row_of_the_ledger_can) {
    trace_is("{\"trace\":1,\"start\":\"" DAY_OF("07:00:00") "\",\"end\":\"" DAY_OF(
        "07:11:00") "\",\"tick_ms\":10,\"retry_delay_minutes\":0,\"default\":{\"result\":\"error\","
                    "\"duration_ms\":0}}\n" USER(DAY_OF("07:00:00"), "ada", "07:30"));
    runs();
    CHECK(strstr(run.events,
                 "\"ev\":\"start\",\"user\":\"ada\",\"day\":\"2026-03-02\",\"attempt\":65535}"));
    CHECK(!strstr(run.events, "\"attempt\":65536"));
}

/* The years go as far as a clock of nanoseconds does; 2100 is no leap year, 2000 is one. */
TEST(days_at_both_ends_of_the_years_there_are_and_of_a_century_are_days) {
    static const struct {
        const char *start, *end, *last;
        int         days;
    } runs_of[] = {
        {"1970-01-01T00:00:00Z", "1970-01-03T00:00:00Z", "1970-01-02", 2},
        {"2261-12-30T00:00:00Z", "2262-01-01T00:00:00Z", "2261-12-31", 2},
        {"2100-02-27T00:00:00Z", "2100-03-02T00:00:00Z", "2100-03-01", 3},
        {"2000-02-27T00:00:00Z", "2000-03-02T00:00:00Z", "2000-03-01", 4},
    };

    for (size_t i = 0; i < sizeof runs_of / sizeof *runs_of; i++) {
        trace_is("{\"trace\":1,\"start\":\"%s\",\"end\":\"%s\"}\n"
                 "{\"at\":\"%s\",\"op\":\"user\",\"id\":\"ada\",\"due\":\"23:59\"}\n"
                 "{\"at\":\"%s\",\"op\":\"clock\",\"step_ms\":0}\n",
                 runs_of[i].start, runs_of[i].end, runs_of[i].start, runs_of[i].start);
        runs();
        CHECK_INT(LINES("\"finalize\"", "success"), runs_of[i].days);
        CHECK_INT(LINES("\"finalize\"", runs_of[i].last), 1);
    }
}

/* The date of an instant is written out once a day, whichever way the clock goes. */
TEST(every_instant_is_written_as_the_wall_clock_has_it) {
    trace_is(
        HEADER("2024-02-28T23:59:00Z", "2024-03-01T00:02:00Z",
               "") "{\"at\":\"2024-02-29T12:00:00.007Z\",\"op\":\"clock\",\"step_ms\":-43200008}\n"
                   "{\"at\":\"2024-02-29T13:00:00Z\",\"op\":\"clock\",\"step_ms\":43200008}\n");
    runs();
    CHECK_INT(LINES("{\"t\":\"2024-02-29T00:00:00.000Z\""), 1);
    CHECK_INT(LINES("{\"t\":\"2024-02-28T23:59:59.999Z\",\"ev\":\"clock\""), 1);
    CHECK_INT(LINES("{\"t\":\"2024-02-29T00:00:59.992Z\",\"ev\":\"tick\""), 1);
    CHECK_INT(LINES("{\"t\":\"2024-02-29T13:00:00.000Z\",\"ev\":\"tick\""), 1);
    CHECK_INT(LINES("{\"t\":\"2024-03-01T00:00:00.000Z\",\"ev\":\"tick\""), 1);
}

TEST(a_trace_may_remove_more_users_at_once_than_a_mailbox_holds) {
    trace_is(HEADER(DAY_OF("07:00:00"), DAY_OF("07:01:00"), "") "{\"at\":\"" DAY_OF(
        "07:00:00") "\",\"op\":\"users\",\"count\":10000,\"prefix\":\"u\","
                    "\"due\":\"12:00\"}\n");
    FILE *f = fopen(run.trace, "a");
    CHECK(f != NULL);
    for (int i = 0; i < 9999; i++)
        fprintf(f, "{\"at\":\"" DAY_OF("07:00:01") "\",\"op\":\"remove\",\"id\":\"u%d\"}\n", i);
    for (int i = 0; i < 9999; i++)
        fprintf(f, "{\"at\":\"" DAY_OF("07:00:02") "\",\"op\":\"remove\",\"id\":\"x%d\"}\n", i);
    CHECK(fclose(f) == 0);
    runs();
    CHECK(strncmp(run.users, "{\"id\":\"u9999\"", 13) == 0);
    CHECK(strchr(run.users, '\n')[1] == '\0');
}
