/* recorded_test.c - what `diurnal serve --record` writes beside the contract's keys, and what replay makes of it. */
#include "run.h"

#define HEAD(end)                                                                                  \
    "{\"trace\":1,\"start\":\"2026-03-02T06:00:00Z\",\"end\":\"2026-03-02T" end                    \
    "Z\",\"default\":{\"result\":\"error\",\"error_class\":\"unknown\",\"duration_ms\":0}}\n"
#define BEGINS "{\"at\":\"2026-03-02T06:00:00Z\",\"op\":\"user\",\"id\":"
#define ADA    BEGINS "\"ada\",\"due\":\"07:00\",\"starts_on\":\"2026-03-01\",\"context_epoch\":0}\n"
#define JOB(attempt, result, ms, stopped)                                                          \
    "{\"op\":\"outcome\",\"id\":\"ada\",\"day\":\"2026-03-02\",\"attempt\":" attempt               \
    ",\"result\":\"" result "\",\"duration_ms\":" ms ",\"stopped\":\"2026-03-02T" stopped "Z\"}\n"
#define ENDS_AS(id, last_date, status, last_run_at, epoch)                                         \
    "{\"id\":\"" id "\",\"due\":\"07:00\",\"last_date\":" last_date ",\"status\":" status          \
    ",\"last_run_at\":" last_run_at ",\"context_epoch\":" epoch ",\"starts_on\":\"2026-03-01\"}\n"

TEST(users_begin_as_their_lines_say_they_have_been) {
    trace_is(HEAD("07:30:00") BEGINS
             "\"ada\",\"due\":\"07:00\",\"starts_on\":\"2026-03-01\",\"last_date\":\"2026-03-02\","
             "\"status\":\"success\",\"last_run_at\":\"2026-03-02T05:30:00.123Z\","
             "\"context_epoch\":7}\n" BEGINS
             "\"bob\",\"due\":\"07:00\",\"starts_on\":\"2026-03-01\",\"last_date\":\"2026-03-01\","
             "\"status\":\"success\",\"last_run_at\":\"2026-03-01T06:10:00.000Z\","
             "\"context_epoch\":2}\n");
    runs();
    CHECK_STR(run.users,
              ENDS_AS("ada", "\"2026-03-02\"", "\"success\"", "\"2026-03-02T05:30:00.123Z\"", "7")
                  ENDS_AS("bob", "\"2026-03-02\"", "\"cutoff_reached\"",
                          "\"2026-03-01T06:10:00.000Z\"", "3"));
    CHECK_INT(LINES("\"user\":\"ada\""), 0);
}

TEST(what_a_user_has_been_is_of_the_beginning_only) {
    trace_is(HEAD("06:30:00") "{\"at\":\"2026-03-02T06:00:01Z\",\"op\":\"user\",\"id\":\"ada\","
                              "\"due\":\"07:00\",\"starts_on\":\"2026-03-02\",\"last_date\":"
                              "\"2026-03-02\",\"status\":\"success\",\"context_epoch\":7}\n");
    runs();
    CHECK(strstr(run.users, "\"last_date\":null"));
    CHECK(strstr(run.users, "\"context_epoch\":0"));
}

TEST(a_recorded_job_stops_when_it_did) {
    trace_is(HEAD("07:30:00") ADA JOB("1", "error", "900", "06:00:00.907")
                 JOB("2", "ok", "500", "06:10:00.509"));
    runs();
    CHECK_STR(run.users,
              ENDS_AS("ada", "\"2026-03-02\"", "\"success\"", "\"2026-03-02T06:10:00.509Z\"", "0"));
    CHECK_INT(LINES("\"ev\":\"stop\""), 2);
    CHECK_INT(LINES("\"ev\":\"stop\"", "\"duration_ms\":907"), 1);
}

/* As the daemon writes it. */
TEST(when_a_job_stopped_may_be_said_in_milliseconds_since_the_start) {
    trace_is(HEAD("07:30:00") ADA
             "{\"op\":\"outcome\",\"id\":\"ada\",\"day\":\"2026-03-02\",\"attempt\":1,"
             "\"result\":\"error\",\"duration_ms\":900,\"stopped_ms\":907}\n"
             "{\"op\":\"outcome\",\"id\":\"ada\",\"day\":\"2026-03-02\",\"attempt\":2,"
             "\"result\":\"ok\",\"duration_ms\":500,\"stopped_ms\":600509}      \n");
    runs();
    CHECK_STR(run.users,
              ENDS_AS("ada", "\"2026-03-02\"", "\"success\"", "\"2026-03-02T06:10:00.509Z\"", "0"));
    CHECK_INT(LINES("\"ev\":\"stop\"", "\"duration_ms\":907"), 1);
}

/* The daemon throttles from the moment the queue took it, and may so come a tick later than here. */
TEST(a_retry_that_came_a_tick_later_stops_when_it_did) {
    trace_is(HEAD("07:30:00") ADA JOB("1", "error", "900", "06:00:00.907")
                 JOB("2", "ok", "500", "06:11:00.500"));
    const char *const sets[] = {"job_timeout_ms=100000"};
    CHECK_INT(run_with(test_seed(), sets, 1), DN_OK);
    CHECK_STR(run.users,
              ENDS_AS("ada", "\"2026-03-02\"", "\"success\"", "\"2026-03-02T06:11:00.500Z\"", "0"));
}

TEST(a_job_that_came_much_later_takes_as_long_as_it_took) {
    trace_is(HEAD("07:30:00") ADA JOB("1", "ok", "20000", "06:50:20"));
    runs();
    CHECK_STR(run.users,
              ENDS_AS("ada", "\"2026-03-02\"", "\"success\"", "\"2026-03-02T06:00:20.000Z\"", "0"));
}

TEST(a_recorded_answer_takes_the_place_of_one_that_was_not_and_the_other_way_round) {
    trace_is(HEAD("07:30:00") ADA
             "{\"op\":\"outcome\",\"id\":\"ada\",\"day\":\"2026-03-02\",\"attempt\":1,"
             "\"result\":\"ok\",\"duration_ms\":7}\n" JOB("1", "ok", "900", "06:00:00.907"));
    runs();
    CHECK(strstr(run.users, "06:00:00.907Z"));
    trace_is(HEAD("07:30:00") ADA JOB(
        "1", "ok", "900",
        "06:00:00.907") "{\"op\":\"outcome\",\"id\":\"ada\",\"day\":\"2026-03-02\",\"attempt\":1,"
                        "\"result\":\"ok\",\"duration_ms\":7}\n");
    runs();
    CHECK(strstr(run.users, "06:00:00.007Z"));
}

/* Attempts begin anew with a registration (but not the delay between them) and with a crash, so both are the first. */
TEST(of_two_jobs_recorded_as_the_same_attempt_each_has_its_own_end) {
    static const struct {
        const char *between, *end, *last_run_at;
    } again[] = {
        {"{\"at\":\"2026-03-02T06:12:00Z\",\"op\":\"remove\",\"id\":\"ada\"}\n"
         "{\"at\":\"2026-03-02T06:13:00Z\",\"op\":\"user\",\"id\":\"ada\",\"due\":\"07:00\","
         "\"starts_on\":\"2026-03-01\"}\n",
         JOB("1", "ok", "500", "06:20:00.503"), "\"last_run_at\":\"2026-03-02T06:20:00.503Z\""},
        {"{\"at\":\"2026-03-02T06:12:00Z\",\"op\":\"crash\",\"down_ms\":60000}\n",
         JOB("1", "ok", "500", "06:13:00.503"), "\"last_run_at\":\"2026-03-02T06:13:00.503Z\""},
    };

    for (int i = 0; i < 2; i++) {
        trace_is(HEAD("07:30:00") ADA "%s%s%s%s", JOB("1", "error", "500", "06:00:00.500"),
                 JOB("2", "error", "500", "06:10:00.507"), again[i].between, again[i].end);
        runs();
        CHECK_INT(LINES("\"ev\":\"start\""), 3);
        CHECK_INT(LINES("\"ev\":\"stop\"", "\"result\":\"error\""), 2);
        CHECK_INT(LINES("\"ev\":\"finalize\""), 1);
        CHECK_MSG(strstr(run.users, again[i].last_run_at), "%s", run.users);
    }
}

TEST(a_job_of_which_nothing_was_recorded_comes_to_nothing) {
    trace_is(HEAD("07:30:00") ADA);
    runs();
    CHECK_STR(run.users, ENDS_AS("ada", "\"2026-03-02\"", "\"cutoff_reached\"", "null", "1"));
}

TEST(what_came_too_late_does_not_come_in_time_here) {
    trace_is(HEAD("07:30:00") ADA JOB("1", "ok", "59000", "07:00:30"));
    runs();
    CHECK_STR(run.users, ENDS_AS("ada", "\"2026-03-02\"", "\"cutoff_reached\"", "null", "1"));
}

TEST(a_status_that_is_none_is_refused) {
    trace_is(HEAD("07:30:00") BEGINS
             "\"ada\",\"due\":\"07:00\",\"starts_on\":\"2026-03-01\",\"last_date\":\"2026-03-02\","
             "\"status\":\"done\",\"context_epoch\":7}\n");
    CHECK_INT(run_with(1, NULL, 0), DN_EINVAL);
    CHECK_MSG(strstr(run.why, "trace.ndjson:2: status: \"done\""), "%s", run.why);
    trace_is(HEAD("07:30:00") BEGINS
             "\"ada\",\"due\":\"07:00\",\"starts_on\":\"2026-03-01\",\"context_epoch\":-1}\n");
    CHECK_INT(run_with(1, NULL, 0), DN_EINVAL);
    CHECK_MSG(strstr(run.why, "trace.ndjson:2: context_epoch: -1"), "%s", run.why);
}
