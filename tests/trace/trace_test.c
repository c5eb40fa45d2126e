/* trace_test.c - traces, good and bad: what is read of them, and what is said of what cannot be read. */
#define _GNU_SOURCE /* memmem */
#include "starving.h"
#include "test.h"
#include "trace/trace.h"
#include "trace_header.h"
#include "trace_line.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/settings.h"

#define BYTES(literal) (literal), sizeof(literal) - 1
#define HEAD           "{\"trace\":1,\"start\":\"2026-03-01T00:00:00Z\",\"end\":\"2026-03-02T00:00:00Z\"}\n"
#define AT             "\"at\":\"2026-03-01T06:00:00Z\""

static const int64_t start_ms = INT64_C(1772323200000); /* 2026-03-01 */

/* ---- A file to read, and what is read as text ---- */

static char own_folder[] = "/tmp/diurnal-trace-XXXXXX";

static void own_folder_leave(void) {
    (void)unlink("t");
    (void)chdir("/");
    (void)rmdir(own_folder);
}

static void in_own_folder(void) {
    CHECK(mkdtemp(own_folder));
    CHECK_INT(chdir(own_folder), 0);
    (void)atexit(own_folder_leave);
}

static void file_write(const char *bytes, size_t len) {
    FILE *file = fopen("t", "w");

    CHECK(file);
    CHECK_UINT(fwrite(bytes, 1, len, file), len);
    CHECK_INT(fclose(file), 0);
}

static trace *opened(const char *bytes, size_t len) {
    char   why[TRACE_WHY] = "";
    trace *t = NULL;

    file_write(bytes, len);
    CHECK_MSG(trace_open("t", &t, why) == DN_OK, "%s", why);
    (void)unlink("t");
    return t;
}

static trace *reads(const char *text) { return opened(text, strlen(text)); }

/* What is said of a file that is no trace: always one printable line. */
static const char *said_of(const char *bytes, size_t len) {
    static char why[TRACE_WHY];
    trace      *t = NULL;

    file_write(bytes, len);
    CHECK_INT(trace_open("t", &t, why), DN_EINVAL);
    CHECK(!t);
    for (const char *c = why; *c != '\0'; c++)
        CHECK_MSG((uint8_t)*c >= 0x20 && *c != 0x7f, "%s", why);
    return why;
}

static void refuses(const char *text, const char *wanted) {
    CHECK_STR(said_of(text, strlen(text)), wanted);
}

/* As the second line, behind a good header. */
static void line_refused(const char *line, const char *wanted) {
    char text[4096], said[TRACE_WHY];

    (void)snprintf(text, sizeof text, HEAD "%s\n", line);
    (void)snprintf(said, sizeof said, "t:2: %s", wanted);
    refuses(text, said);
}

static void header_refused(const char *more, const char *wanted) {
    char text[4096], said[TRACE_WHY];

    (void)snprintf(text, sizeof text,
                   "{\"trace\":1,\"start\":\"2026-03-01T00:00:00Z\","
                   "\"end\":\"2026-03-02T00:00:00Z\",%s}\n",
                   more);
    (void)snprintf(said, sizeof said, "t:1: %s", wanted);
    refuses(text, said);
}

/* All ops, a line each. */
static const char *ops_text(trace *t) {
    static const char *const names[] = {
        [TRACE_USER] = "user",   [TRACE_USERS] = "users", [TRACE_REMOVE] = "remove",
        [TRACE_CRASH] = "crash", [TRACE_CLOCK] = "clock", [TRACE_STORE_FAILS] = "store_fails",
    };
    static char text[64 * 1024];
    size_t      used = 0;
    trace_op    op;
    int         rc;

    text[0] = '\0';
    while ((rc = trace_next(t, &op)) == DN_OK) {
        char starts[DN_DAY_TEXT] = "-";

        if (op.starts_on != DN_DAY_NONE) dn_day_write(op.starts_on, starts);
        used +=
            (size_t)snprintf(text + used, sizeof text - used,
                             "%" PRIu64 " +%" PRId64 " %s '%.*s' due %u count %u from %s ms "
                             "%" PRId64 "\n",
                             op.line, op.at_ms - trace_settings_borrow(t)->start_ms, names[op.kind],
                             (int)op.id_len, op.id, op.due, op.count, starts, op.ms);
        CHECK(used < sizeof text);
    }
    CHECK_INT(rc, DN_STOP);
    CHECK_INT(trace_next(t, &op), DN_STOP);
    return text;
}

static answer asked(trace *t, const char *id, dn_day day, uint32_t attempt) {
    answer a = {0};

    CHECK_INT(answers_find(trace_answers_borrow(t), id, strlen(id), day, attempt, 0, &a), DN_OK);
    return a;
}

/* ---- What is read ---- */

TEST(the_lines_of_the_contract_are_read_as_it_says) {
    in_own_folder();
    trace *t = reads(
        "{\"trace\":1,\"start\":\"2026-03-01T00:00:00Z\",\"end\":\"2026-03-08T00:00:00Z\","
        "\"tick_ms\":60000,\"max_concurrency\":8,\"job_timeout_ms\":60000,\"window_minutes\":60,"
        "\"retry_delay_minutes\":10,\"default\":{\"result\":\"ok\",\"duration_ms\":500}}\n"
        "{\"at\":\"2026-03-01T00:00:00Z\",\"op\":\"user\",\"id\":\"u1\",\"due\":\"08:00\"}\n"
        "{\"at\":\"2026-03-01T00:00:00.5Z\",\"op\":\"users\",\"count\":1000000,\"prefix\":\"u\","
        "\"due\":\"spread\"}\n"
        "{\"at\":\"2026-03-01T00:00:01Z\",\"op\":\"remove\",\"id\":\"u1\"}\n"
        "{\"op\":\"outcome\",\"id\":\"u1\",\"day\":\"2026-03-02\",\"attempt\":2,"
        "\"result\":\"error\",\"error_class\":\"llm\",\"duration_ms\":900}\n"
        "{\"at\":\"2026-03-01T00:00:02Z\",\"op\":\"crash\",\"down_ms\":120000}\n"
        "{\"at\":\"2026-03-01T00:00:02Z\",\"op\":\"clock\",\"step_ms\":-3600000}\n"
        "{\"at\":\"2026-03-01T00:00:03Z\",\"op\":\"store_fails\",\"for_ms\":30000}\n");
    const trace_settings *s = trace_settings_borrow(t);
    const dn_day          day = dn_day_of_ms(start_ms) + 1;
    answer                a;

    CHECK_INT(s->start_ms, start_ms);
    CHECK_INT(s->end_ms, start_ms + 7 * DN_DAY_MS);
    CHECK_INT(s->max_concurrency, 8);
    CHECK_STR(ops_text(t), "2 +0 user 'u1' due 480 count 0 from - ms 0\n"
                           "3 +500 users 'u' due 1440 count 1000000 from - ms 0\n"
                           "4 +1000 remove 'u1' due 0 count 0 from - ms 0\n"
                           "6 +2000 crash '' due 0 count 0 from - ms 120000\n"
                           "7 +2000 clock '' due 0 count 0 from - ms -3600000\n"
                           "8 +3000 store_fails '' due 0 count 0 from - ms 30000\n");
    a = asked(t, "u1", day, 2);
    CHECK_INT(a.result, ANSWER_ERROR);
    CHECK_INT(a.cls, DN_CLASS_LLM);
    CHECK_INT(a.duration_ms, 900);
    a = asked(t, "u1", day, 1);
    CHECK_INT(a.result, ANSWER_OK);
    CHECK_INT(a.duration_ms, 500);
    trace_free(t);
}

TEST(a_header_without_numbers_has_those_of_the_contract) {
    in_own_folder();
    trace                *t = reads(HEAD);
    const trace_settings *s = trace_settings_borrow(t);

    CHECK_INT(s->tick_ms, 60000);
    CHECK_INT(s->window_minutes, 60);
    CHECK_INT(s->retry_delay_minutes, 10);
    CHECK_INT(s->max_concurrency, 64);
    CHECK_INT(s->job_timeout_ms, 60000);
    CHECK_INT(s->ledger_days, 35);
    CHECK_INT(s->slo_eval_ms, 60000);
    CHECK_INT(s->slo_window_minutes, 15);
    CHECK_INT(s->breach_consecutive, 3);
    CHECK(s->sat_ratio == 0.8);
    CHECK_INT(s->depth_avg_max, 10000);
    CHECK_INT(s->job_p95_max_ms, 30000);
    CHECK(s->cutoff_rate_max == 0.01);
    CHECK_INT(s->otherwise.result, ANSWER_OK);
    CHECK_INT(s->otherwise.duration_ms, 500);
    CHECK_STR(ops_text(t), "");
    trace_free(t);
}

TEST(the_bounds_of_the_header_are_those_of_the_daemons_settings) {
    for (size_t i = 0; i < TRACE_NUMBERS; i++) {
        const trace_number *const n = &trace_numbers[i];
        const dn_setting         *known = NULL;
        char                      text[32];

        for (size_t k = 0; k < DN_SETTINGS && !known; k++)
            if (strcmp(dn_settings_table[k].key, n->key) == 0) known = &dn_settings_table[k];
        CHECK_MSG(known, "%s", n->key);
        CHECK_INT(known->type, n->is_ratio ? DN_SETTING_REAL : DN_SETTING_INT);
        CHECK_INT(n->least, known->min);
        CHECK_INT(n->most, known->max);
        (void)snprintf(text, sizeof text, "%g", n->otherwise);
        CHECK_STR(text, known->default_text);
        if (!n->is_ratio) CHECK_STR(n->unit, known->unit);
    }
}

TEST(every_number_of_the_header_is_taken_from_its_key) {
    in_own_folder();
    for (size_t i = 0; i < TRACE_NUMBERS; i++) {
        const trace_number *const n = &trace_numbers[i];
        const double              value = n->is_ratio ? 0.25 : n->least + 7;
        char                      text[512];

        (void)snprintf(text, sizeof text,
                       "{\"trace\":1,\"start\":\"2026-03-01T00:00:00Z\","
                       "\"end\":\"2026-03-02T00:00:00Z\",\"%s\":%g}",
                       n->key, value);
        trace *t = reads(text);
        for (size_t k = 0; k < TRACE_NUMBERS; k++) {
            const trace_number *const other = &trace_numbers[k];
            const void *const field = (const char *)trace_settings_borrow(t) + other->offset;
            const double      wanted = k == i ? value : other->otherwise;

            if (other->is_ratio) CHECK_MSG(*(const double *)field == wanted, "%s", other->key);
            else CHECK_INT(*(const int64_t *)field, wanted);
        }
        trace_free(t);
    }
}

TEST(what_an_outcome_leaves_out_is_the_headers) {
    in_own_folder();
    trace *t =
        reads("{\"trace\":1,\"start\":\"2026-03-01T00:00:00Z\","
              "\"end\":\"2026-03-02T00:00:00Z\","
              "\"default\":{\"result\":\"error\",\"duration_ms\":7}}\n"
              "{\"op\":\"outcome\",\"id\":\"a\",\"result\":\"ok\"}\n"
              "{\"op\":\"outcome\",\"id\":\"b\",\"result\":\"error\",\"error_class\":null}\n"
              "{\"op\":\"outcome\",\"id\":\"c\",\"result\":\"hang\",\"error_class\":3}\n"
              "{\"op\":\"outcome\",\"id\":\"d\",\"day\":null,\"attempt\":null,"
              "\"duration_ms\":99999999999,\"result\":\"crash\"}\n"
              "{\"op\":\"outcome\",\"id\":\"e\",\"result\":\"timeout\",\"duration_ms\":0}\n");

    CHECK_INT(asked(t, "x", 1, 1).result, ANSWER_ERROR);
    CHECK_INT(asked(t, "x", 1, 1).cls, DN_CLASS_UNKNOWN);
    CHECK_INT(asked(t, "a", 1, 1).result, ANSWER_OK);
    CHECK_INT(asked(t, "a", 1, 1).duration_ms, 7);
    CHECK_INT(asked(t, "a", 1, 1).cls, DN_CLASS_NONE);
    CHECK_INT(asked(t, "b", 1, 1).cls, DN_CLASS_UNKNOWN);
    CHECK_INT(asked(t, "c", 1, 1).result, ANSWER_HANG);
    CHECK_INT(asked(t, "c", 1, 1).cls, DN_CLASS_NONE);
    CHECK_INT(asked(t, "d", 1, 1).result, ANSWER_CRASH);
    CHECK_UINT(asked(t, "d", 1, 1).duration_ms, ANSWER_MS_MAX);
    CHECK_INT(asked(t, "e", 1, 1).result, ANSWER_TIMEOUT);
    CHECK_INT(asked(t, "e", 1, 1).duration_ms, 0);
    trace_free(t);
}

TEST(lines_may_be_written_in_many_ways) {
    in_own_folder();
    trace *t =
        reads("\xef\xbb\xbf"
              "{\"trace\":1, \"start\" : \"2026-03-01T00:00:00+00:00\",\"new\":[{}],"
              "\"end\":\"2026-03-02t00:00:00z\"}\r\n"
              "{ \"op\":\"user\", \"at\":\"2026-03-01T00:00:00.123456Z\",\"x\":{\"y\":[1.5]},"
              "\t\"id\":\"J\\u00fcrgen\", \"due\":\"23:59\",\"starts_on\":\"2026-03-05\"} \r\n"
              "{\"op\":\"user\",\"at\":\"2026-03-01T00:00:00.123Z\",\"id\":\"\xc3\xa9\","
              "\"due\":\"00:00\",\"starts_on\":null}\n"
              "{\"op\":\"users\",\"at\":\"2026-03-01T00:00:01Z\",\"count\":0,\"prefix\":\"\","
              "\"due\":\"00:01\",\"starts_on\":\"2026-03-02\"}\n"
              "{\"op\":\"outcome\",\"at\":5,\"id\":\"\xc3\xa9\",\"result\":\"hang\"}\n"
              "{\"op\":\"crash\",\"at\":\"2026-03-01T00:00:01Z\",\"down_ms\":0}");

    CHECK_STR(ops_text(t), "2 +123 user 'J\xc3\xbcrgen' due 1439 count 0 from 2026-03-05 ms 0\n"
                           "3 +123 user '\xc3\xa9' due 0 count 0 from - ms 0\n"
                           "4 +1000 users '' due 1 count 0 from 2026-03-02 ms 0\n"
                           "6 +1000 crash '' due 0 count 0 from - ms 0\n");
    CHECK_INT(asked(t, "\xc3\xa9", 1, 1).result, ANSWER_HANG);
    trace_free(t);
}

TEST(lines_at_and_behind_the_end_are_judged_and_do_nothing) {
    in_own_folder();
    trace *t = reads(HEAD "{\"op\":\"crash\",\"at\":\"2026-03-01T23:59:59.999Z\",\"down_ms\":1}\n"
                          "{\"op\":\"crash\",\"at\":\"2026-03-02T00:00:00Z\",\"down_ms\":2}\n"
                          "{\"op\":\"crash\",\"at\":\"2027-03-02T00:00:00Z\",\"down_ms\":3}\n");

    CHECK_STR(ops_text(t), "2 +86399999 crash '' due 0 count 0 from - ms 1\n");
    trace_free(t);
    refuses(HEAD "{\"op\":\"crash\",\"at\":\"2027-03-02T00:00:00Z\",\"down_ms\":-1}\n",
            "t:2: down_ms: -1 is not a duration; use a whole number of milliseconds, 0 or more");
}

TEST(durations_beyond_all_years_are_cut_so_that_no_sum_overflows) {
    in_own_folder();
    trace   *t = reads(HEAD "{" AT ",\"op\":\"crash\",\"down_ms\":9223372036854775807}\n");
    trace_op op;

    CHECK_INT(trace_next(t, &op), DN_OK);
    CHECK(op.ms > 10000 * 365 * DN_DAY_MS);
    CHECK(op.ms < INT64_MAX / 4);
    trace_free(t);
}

TEST(a_trace_is_read_from_the_standard_input_through_a_pipe) {
    static const char rest[] = "{" AT ",\"op\":\"remove\",\"id\":\"u1\"}\n";
    char              why[TRACE_WHY] = "";
    int               ends[2];
    trace            *t = NULL;

    CHECK_INT(pipe(ends), 0);
    CHECK_INT(write(ends[1], BYTES(HEAD)), sizeof HEAD - 1);
    CHECK_INT(write(ends[1], BYTES(rest)), sizeof rest - 1);
    (void)close(ends[1]);
    CHECK_INT(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    CHECK_MSG(trace_open("-", &t, why) == DN_OK, "%s", why);
    CHECK_STR(ops_text(t), "2 +21600000 remove 'u1' due 0 count 0 from - ms 0\n");
    trace_free(t);
    CHECK_INT(trace_open("-", &t, why), DN_EINVAL);
    CHECK(strncmp(why, "standard input:1: the header is missing; ", 41) == 0);
}

/* ---- Settings in place of the header's ---- */

static void set_refused(const char *assignment, const char *wanted) {
    char        why[TRACE_WHY], said[TRACE_WHY];
    const char *both[] = {"max_concurrency=9", assignment};
    trace      *t = reads(HEAD);

    CHECK_INT(trace_set(t, both, 2, why), DN_EINVAL);
    (void)snprintf(said, sizeof said, "--set: %s", wanted);
    CHECK_STR(why, said);
    CHECK_INT(trace_settings_borrow(t)->max_concurrency, 64);
    trace_free(t);
}

TEST(numbers_of_the_header_are_set_to_others_and_judged_together) {
    const char *sets[] = {"job_timeout_ms=7200000", "max_concurrency=40", "sat_ratio=0.5",
                          "cutoff_rate_max=1", "window_minutes=120"};
    char        why[TRACE_WHY] = "";

    in_own_folder();
    trace *t = reads(HEAD);
    CHECK_MSG(trace_set(t, sets, 5, why) == DN_OK, "%s", why);
    CHECK_INT(trace_settings_borrow(t)->job_timeout_ms, 7200000);
    CHECK_INT(trace_settings_borrow(t)->window_minutes, 120);
    CHECK_INT(trace_settings_borrow(t)->max_concurrency, 40);
    CHECK(trace_settings_borrow(t)->sat_ratio == 0.5);
    CHECK(trace_settings_borrow(t)->cutoff_rate_max == 1);
    CHECK_INT(trace_settings_borrow(t)->tick_ms, 60000);
    trace_free(t);

    set_refused(
        "job_timeout_ms=7200000",
        "job_timeout_ms: 7200000 is longer than the window of 60 minutes; the maximum is 3600000");
    set_refused("max_concurency=1",
                "unknown header number \"max_concurency\"; did you mean max_concurrency?");
    set_refused("end=1", "unknown header number \"end\"; write for example max_concurrency=40");
    set_refused("tick_ms", "\"tick_ms\" has no value; write for example max_concurrency=40");
    set_refused("tick_ms=",
                "tick_ms: \"\" is out of bounds; use a whole number of milliseconds, 10 to 60000");
    set_refused(
        "tick_ms=1e3",
        "tick_ms: 1000.0 is out of bounds; use a whole number of milliseconds, 10 to 60000");
    set_refused(
        "tick_ms=0x10",
        "tick_ms: \"0x10\" is out of bounds; use a whole number of milliseconds, 10 to 60000");
    set_refused("tick_ms=9",
                "tick_ms: 9 is out of bounds; use a whole number of milliseconds, 10 to 60000");
    set_refused("sat_ratio=1.1", "sat_ratio: 1.1 is not a ratio; use a number from 0 to 1");
}

/* ---- What is refused ---- */

TEST(a_missing_header_is_the_first_line) {
#define MISSING                                                                                    \
    "t:1: the header is missing; the first line must be like "                                     \
    "{\"trace\":1,\"start\":\"2026-03-01T00:00:00Z\",\"end\":\"2026-03-08T00:00:00Z\"}"
    in_own_folder();
    refuses("", MISSING);
    refuses("{" AT ",\"op\":\"user\",\"id\":\"u1\",\"due\":\"08:00\"}\n", MISSING);
    refuses("{\"trace\":null}\n", MISSING);
#undef MISSING
    refuses("{\"trace\":2}\n", "t:1: trace: unknown version 2; use 1");
    refuses("{\"trace\":\"1\"}\n", "t:1: trace: unknown version \"1\"; use 1");
    refuses("{\"trace\":1}\n",
            "t:1: start is missing; use RFC 3339 in UTC, for example 2026-03-01T08:00:00Z");
    refuses("{\"trace\":1,\"start\":\"2026-03-01T00:00:00Z\"}\n",
            "t:1: end is missing; use RFC 3339 in UTC, for example 2026-03-01T08:00:00Z");
    refuses("{\"trace\":1,\"start\":\"1969-12-31T23:59:59Z\",\"end\":\"2026-03-01T00:00:00Z\"}\n",
            "t:1: start: \"1969-12-31T23:59:59Z\" is out of range; use the years 1970 to 2261");
    refuses(
        "{\"trace\":1,\"start\":\"2026-03-01T00:00:00Z\",\"end\":\"2262-01-01T00:00:00.001Z\"}\n",
        "t:1: end: \"2262-01-01T00:00:00.001Z\" is out of range; use the years 1970 to 2261");
    refuses("{\"trace\":1,\"start\":\"2026-03-01\",\"end\":1}\n",
            "t:1: start: \"2026-03-01\" is not an instant; use RFC 3339 in UTC, for example "
            "2026-03-01T08:00:00Z");
    refuses("{\"trace\":1,\"start\":\"2026-03-01T00:00:00Z\",\"end\":\"2026-03-01T00:00:00Z\"}\n",
            "t:1: end: \"2026-03-01T00:00:00Z\" is not after start, \"2026-03-01T00:00:00Z\"");
}

TEST(each_fault_of_a_header_is_said_in_words) {
    in_own_folder();
    header_refused("\"tick_ms\":9",
                   "tick_ms: 9 is out of bounds; use a whole number of milliseconds, 10 to 60000");
    header_refused(
        "\"tick_ms\":60001",
        "tick_ms: 60001 is out of bounds; use a whole number of milliseconds, 10 to 60000");
    header_refused(
        "\"tick_ms\":\"x\"",
        "tick_ms: \"x\" is out of bounds; use a whole number of milliseconds, 10 to 60000");
    header_refused(
        "\"max_concurrency\":1.5",
        "max_concurrency: 1.5 is out of bounds; use a whole number of jobs, 1 to 100000");
    header_refused(
        "\"max_concurrency\":[8]",
        "max_concurrency: [8] is out of bounds; use a whole number of jobs, 1 to 100000");
    header_refused(
        "\"window_minutes\":1441",
        "window_minutes: 1441 is out of bounds; use a whole number of minutes, 1 to 1440");
    header_refused(
        "\"retry_delay_minutes\":-1",
        "retry_delay_minutes: -1 is out of bounds; use a whole number of minutes, 0 to 1440");
    header_refused("\"sat_ratio\":2", "sat_ratio: 2 is not a ratio; use a number from 0 to 1");
    header_refused("\"cutoff_rate_max\":true",
                   "cutoff_rate_max: true is not a ratio; use a number from 0 to 1");
    header_refused(
        "\"job_timeout_ms\":60001,\"window_minutes\":1",
        "job_timeout_ms: 60001 is longer than the window of 1 minutes; the maximum is 60000");
    header_refused("\"default\":\"ok\"", "default: \"ok\" is not an answer; use for example "
                                         "{\"result\":\"ok\",\"duration_ms\":500}");
    header_refused("\"default\":{}",
                   "default: result is missing; use ok, error, timeout, hang or crash");
    header_refused("\"default\":{\"result\":\"ok\",\"duration_ms\":-1}",
                   "default: duration_ms: -1 is not a duration; use a whole number of "
                   "milliseconds, 0 or more");
}

TEST(what_is_no_line_of_json_is_said_with_its_column) {
    in_own_folder();
    line_refused("hello",
                 "the line is not JSON, near column 5: \"hello\"; each line is one JSON object");
    line_refused(
        "{\"op\":\"user\"",
        "the line is not JSON, near column 12: \"{\"op\":\"user\"\"; each line is one JSON object");
    line_refused("{} {}",
                 "the line is not JSON, near column 4: \"{} {}\"; each line is one JSON object");
    line_refused("[]", "[] is not an object; each line is one, for example {\"op\":...}");
    line_refused("12", "12 is not an object; each line is one, for example {\"op\":...}");
    line_refused("\"\\u001b[2J\"",
                 "\"\\x1b[2J\" is not an object; each line is one, for example {\"op\":...}");
    line_refused("null", "null is not an object; each line is one, for example {\"op\":...}");
    line_refused("", "the line is empty; each line is one JSON object");
    line_refused(" \t\r", "the line is empty; each line is one JSON object");
    line_refused("{\"op\":\"crash\",\"op\":\"crash\"}",
                 "a key is there twice, near column 18: \"{\"op\":\"crash\",\"op\":\"crash\"}\"; "
                 "remove one");
    line_refused("{\"id\":\"\xff\"}", "the line is not UTF-8: \"{\"id\":\"\\xff\"}\"");
    line_refused("{\"ms\":9223372036854775808}",
                 "a number is too large, near column 25: \"{\"ms\":9223372036854775808}\"; use at "
                 "most 64 bits");
    CHECK_STR(said_of(BYTES(HEAD "{\"op\":\0}\n")),
              "t:2: the line has a NUL byte at column 7; a trace is text");
}

TEST(a_last_line_that_is_cut_short_is_said_to_be) {
    in_own_folder();
    refuses(HEAD "{\"at\":\"2026-03-01T0", "t:2: the line is truncated, near column 19: "
                                           "\"{\"at\":\"2026-03-01T0\"; complete or remove it");
    refuses("{\"trace\":1,\"sta", "t:1: the line is truncated, near column 15: "
                                  "\"{\"trace\":1,\"sta\"; complete or remove it");
    refuses(
        HEAD "{\"id\":\"\xc3",
        "t:2: the line is truncated, near column 7: \"{\"id\":\"\\xc3\"; complete or remove it");
    /* Whole, and wrong for another reason. */
    refuses(HEAD "{\"op\":\"crash\"}",
            "t:2: at is missing; use RFC 3339 in UTC, for example 2026-03-01T08:00:00Z");
}

/* Wherever a good trace is cut, it is read as far as it goes or refused at the line that was cut. */
TEST(a_trace_cut_anywhere_is_refused_unless_a_whole_line_is_the_last) {
    static const char text[] =
        HEAD "{" AT ",\"op\":\"user\",\"id\":\"u1\",\"due\":\"08:00\"}\n"
             "{\"op\":\"outcome\",\"id\":\"u1\",\"day\":\"2026-03-02\",\"result\":\"hang\"}\n";

    in_own_folder();
    for (size_t len = 0; len < sizeof text - 1; len++) {
        const bool whole = len > 0 && (text[len - 1] == '\n' || text[len - 1] == '}');
        char       cut[64];
        uint64_t   line = 1;

        if (whole && len > 1) {
            trace_free(opened(text, len));
            continue;
        }
        for (size_t i = 0; i < len; i++) line += text[i] == '\n';
        (void)snprintf(cut, sizeof cut, "t:%" PRIu64 ": %s", line,
                       len == 0 ? "the header is missing" : "the line is truncated, near column ");
        CHECK_MSG(strncmp(said_of(text, len), cut, strlen(cut)) == 0, "%s", said_of(text, len));
    }
}

TEST(an_unknown_op_is_offered_the_nearest) {
    in_own_folder();
    line_refused("{\"op\":\"usr\"}", "op: unknown op \"usr\"; did you mean user?");
    line_refused("{\"op\":\"store_fail\"}",
                 "op: unknown op \"store_fail\"; did you mean store_fails?");
    line_refused("{\"op\":\"Outcome\"}", "op: unknown op \"Outcome\"; did you mean outcome?");
#define OPS "use user, users, remove, outcome, crash, clock or store_fails"
    line_refused("{\"op\":\"reticulate\"}", "op: \"reticulate\" is not an op; " OPS);
    line_refused("{\"op\":7}", "op: 7 is not an op; " OPS);
    line_refused("{\"op\":{\"a\":[1.5,null]}}", "op: {\"a\":[1.5,null]} is not an op; " OPS);
    line_refused("{\"x\":1}", "op is missing; " OPS);
    line_refused("{}", "op is missing; " OPS);
#undef OPS
}

TEST(instants_are_in_order_in_utc_and_not_before_the_start) {
#define WANT "; use RFC 3339 in UTC, for example 2026-03-01T08:00:00Z"
    in_own_folder();
    line_refused("{\"op\":\"crash\",\"down_ms\":1}", "at is missing" WANT);
    line_refused("{\"op\":\"crash\",\"at\":5}", "at: 5 is not an instant" WANT);
    line_refused("{\"op\":\"crash\",\"at\":\"2026-02-29T00:00:00Z\"}",
                 "at: \"2026-02-29T00:00:00Z\" is not an instant" WANT);
    line_refused("{\"op\":\"crash\",\"at\":\"2026-03-01 06:00:00Z\"}",
                 "at: \"2026-03-01 06:00:00Z\" is not an instant" WANT);
    line_refused("{\"op\":\"crash\",\"at\":\"2026-03-01T06:00:00\"}",
                 "at: \"2026-03-01T06:00:00\" is not an instant" WANT);
    line_refused("{\"op\":\"crash\",\"at\":\"2026-03-01T06:00:00+01:00\"}",
                 "at: \"2026-03-01T06:00:00+01:00\" is not in UTC" WANT);
#undef WANT
    line_refused("{\"op\":\"crash\",\"at\":\"2026-02-28T23:59:59.999Z\",\"down_ms\":1}",
                 "at: \"2026-02-28T23:59:59.999Z\" is before the header's start; use "
                 "2026-03-01T00:00:00.000Z or later");
    refuses(HEAD "{" AT ",\"op\":\"crash\",\"down_ms\":1}\n"
                 "{\"op\":\"outcome\",\"id\":\"a\",\"result\":\"ok\"}\n"
                 "{\"op\":\"crash\",\"at\":\"2026-03-01T05:59:59Z\",\"down_ms\":1}\n",
            "t:4: at: \"2026-03-01T05:59:59Z\" is before line 2; use 2026-03-01T06:00:00.000Z or "
            "later");
}

TEST(each_fault_of_an_op_is_said_in_words) {
#define ID_RULES "use 1 to 128 bytes of UTF-8, no control characters and no spaces at the ends"
#define MS       "use a whole number of milliseconds, 0 or more"
    char line[2048], long_id[DN_ID_MAX + 2], wanted[TRACE_WHY];

    in_own_folder();
    line_refused("{" AT ",\"op\":\"user\",\"due\":\"08:00\"}", "id is missing; " ID_RULES);
    line_refused("{" AT ",\"op\":\"user\",\"id\":5,\"due\":\"08:00\"}",
                 "id: 5 is not an id; " ID_RULES);
    line_refused("{" AT ",\"op\":\"user\",\"id\":\"\",\"due\":\"08:00\"}",
                 "id: \"\" is empty; " ID_RULES);
    line_refused("{" AT ",\"op\":\"user\",\"id\":\"a \",\"due\":\"08:00\"}",
                 "id: \"a \" ends with a space; " ID_RULES);
    line_refused("{" AT ",\"op\":\"remove\",\"id\":\"a\\u0000b\"}",
                 "id: \"a\\x00b\" has a control character in it; " ID_RULES);
    memset(long_id, 'x', sizeof long_id - 1);
    long_id[DN_ID_MAX + 1] = '\0';
    (void)snprintf(line, sizeof line, "{" AT ",\"op\":\"remove\",\"id\":\"%s\"}", long_id);
    (void)snprintf(wanted, sizeof wanted, "id: \"%.95s...\" is longer than 128 bytes; " ID_RULES,
                   long_id);
    line_refused(line, wanted);

    line_refused("{" AT ",\"op\":\"user\",\"id\":\"u1\"}",
                 "due is missing; use HH:MM, for example 08:00");
    line_refused("{" AT ",\"op\":\"user\",\"id\":\"u1\",\"due\":\"24:00\"}",
                 "due: \"24:00\" is not a time of day; use HH:MM, for example 08:00");
    line_refused("{" AT ",\"op\":\"user\",\"id\":\"u1\",\"due\":\"spread\"}",
                 "due: \"spread\" is not a time of day; use HH:MM, for example 08:00");
    line_refused("{" AT ",\"op\":\"user\",\"id\":\"u1\",\"due\":480}",
                 "due: 480 is not a time of day; use HH:MM, for example 08:00");
    line_refused("{" AT ",\"op\":\"user\",\"id\":\"u1\",\"due\":\"08:00\",\"starts_on\":\"today\"}",
                 "starts_on: \"today\" is not a day; use YYYY-MM-DD");

    line_refused("{" AT ",\"op\":\"users\",\"prefix\":\"u\",\"due\":\"spread\"}",
                 "count is missing; use a whole number from 0 to 100000000");
    line_refused("{" AT ",\"op\":\"users\",\"count\":-1,\"prefix\":\"u\",\"due\":\"spread\"}",
                 "count: -1 is not a count; use a whole number from 0 to 100000000");
    line_refused("{" AT ",\"op\":\"users\",\"count\":100000001,\"prefix\":\"u\"}",
                 "count: 100000001 is not a count; use a whole number from 0 to 100000000");
    line_refused("{" AT ",\"op\":\"users\",\"count\":1.0,\"prefix\":\"u\"}",
                 "count: 1.0 is not a count; use a whole number from 0 to 100000000");
    line_refused("{" AT ",\"op\":\"users\",\"count\":1,\"due\":\"spread\"}",
                 "prefix is missing; use the beginning of the ids, for example \"u\"");
    line_refused("{" AT ",\"op\":\"users\",\"count\":1,\"prefix\":\" u\",\"due\":\"spread\"}",
                 "prefix: \" u\": the id of user 0 begins with a space; " ID_RULES);
    line_refused("{" AT ",\"op\":\"users\",\"count\":1,\"prefix\":\"u\",\"due\":\"all\"}",
                 "due: \"all\" is not a time of day; use HH:MM, for example 08:00, or spread");
    /* Of 127 bytes and one digit all ids are some; of two digits the last ones are none. */
    long_id[DN_ID_MAX - 1] = '\0';
    (void)snprintf(
        line, sizeof line,
        HEAD "{" AT ",\"op\":\"users\",\"count\":10,\"prefix\":\"%s\",\"due\":\"08:00\"}", long_id);
    trace_free(reads(line));
    (void)snprintf(line, sizeof line,
                   "{" AT ",\"op\":\"users\",\"count\":11,\"prefix\":\"%s\",\"due\":\"08:00\"}",
                   long_id);
    (void)snprintf(wanted, sizeof wanted,
                   "prefix: \"%.95s...\": the id of user 10 is longer than 128 bytes; " ID_RULES,
                   long_id);
    line_refused(line, wanted);

    line_refused("{" AT ",\"op\":\"crash\"}", "down_ms is missing; " MS);
    line_refused("{" AT ",\"op\":\"crash\",\"down_ms\":-1}", "down_ms: -1 is not a duration; " MS);
    line_refused("{" AT ",\"op\":\"store_fails\",\"for_ms\":\"1\"}",
                 "for_ms: \"1\" is not a duration; " MS);
    line_refused(
        "{" AT ",\"op\":\"clock\",\"step_ms\":0.5}",
        "step_ms: 0.5 is not a step; use a whole number of milliseconds, for example -3600000");
    line_refused("{" AT ",\"op\":\"clock\",\"step_ms\":-9223372036854775808}",
                 "step_ms: -9223372036854775808 is out of range; the clock must stay within the "
                 "years 1970 to 2261");
    refuses(HEAD "{" AT ",\"op\":\"clock\",\"step_ms\":4000000000000}\n"
                 "{" AT ",\"op\":\"clock\",\"step_ms\":4000000000000}\n",
            "t:3: step_ms: 4000000000000 is out of range; the clock must stay within the years "
            "1970 to 2261");
}

TEST(each_fault_of_an_outcome_is_said_in_words) {
#define RESULT "use ok, error, timeout, hang or crash"
    in_own_folder();
    line_refused("{\"op\":\"outcome\",\"result\":\"ok\"}", "id is missing; " ID_RULES);
    line_refused("{\"op\":\"outcome\",\"id\":\"a\"}", "result is missing; " RESULT);
    line_refused("{\"op\":\"outcome\",\"id\":\"a\",\"result\":\"OK\"}",
                 "result: \"OK\" is not a result; " RESULT);
    line_refused("{\"op\":\"outcome\",\"id\":\"a\",\"result\":false}",
                 "result: false is not a result; " RESULT);
    line_refused("{\"op\":\"outcome\",\"id\":\"a\",\"result\":\"error\",\"error_class\":\"web\"}",
                 "error_class: \"web\" is not an error class; use req, llm, parse or unknown");
    line_refused("{\"op\":\"outcome\",\"id\":\"a\",\"result\":\"error\",\"error_class\":1}",
                 "error_class: 1 is not an error class; use req, llm, parse or unknown");
    line_refused("{\"op\":\"outcome\",\"id\":\"a\",\"result\":\"ok\",\"duration_ms\":-5}",
                 "duration_ms: -5 is not a duration; " MS);
    line_refused("{\"op\":\"outcome\",\"id\":\"a\",\"result\":\"ok\",\"stopped_ms\":0.5}",
                 "stopped_ms: 0.5 is not a time; use whole milliseconds since the header's start");
    line_refused("{\"op\":\"outcome\",\"id\":\"a\",\"result\":\"ok\",\"stopped\":\"then\"}",
                 "stopped: \"then\" is not an instant; use RFC 3339 in UTC, for example "
                 "2026-03-01T08:00:00Z");
    line_refused("{\"op\":\"outcome\",\"id\":\"a\",\"result\":\"ok\",\"day\":\"2026-02-30\"}",
                 "day: \"2026-02-30\" is not a day; use YYYY-MM-DD");
    line_refused("{\"op\":\"outcome\",\"id\":\"a\",\"result\":\"ok\",\"day\":\"10000-01-01\"}",
                 "day: \"10000-01-01\" is not a day; use YYYY-MM-DD");
    line_refused("{\"op\":\"outcome\",\"id\":\"a\",\"result\":\"ok\",\"attempt\":0}",
                 "attempt: 0 is not an attempt; use a whole number, 1 for the first");
    line_refused("{\"op\":\"outcome\",\"id\":\"a\",\"result\":\"ok\",\"attempt\":\"1\"}",
                 "attempt: \"1\" is not an attempt; use a whole number, 1 for the first");
}

/* A line of that many bytes before its end. */
static char *padded(size_t len) {
    static const char begin[] = HEAD "{" AT ",\"op\":\"crash\",\"down_ms\":1,\"pad\":\"";
    const size_t      head = sizeof HEAD - 1, used = sizeof begin - 1;
    char *const       text = malloc(head + len + 2);

    CHECK(text);
    memset(text, 'x', head + len);
    memcpy(text, begin, used);
    memcpy(text + head + len - 2, "\"}\n", 4);
    return text;
}

TEST(a_line_of_a_mebibyte_is_read_and_one_byte_more_is_refused) {
    in_own_folder();
    char *text = padded(TRACE_LINE_MAX);
    trace_free(reads(text));
    free(text);
    for (size_t i = 0; i < 2; i++) {
        text = padded(i ? 10 * TRACE_LINE_MAX : TRACE_LINE_MAX + 1);
        refuses(text, "t:2: the line is longer than 1048576 bytes, the maximum");
        free(text);
    }
}

TEST(a_file_that_cannot_be_opened_is_refused_by_its_name) {
    char   why[TRACE_WHY];
    trace *t = NULL;

    in_own_folder();
    CHECK_INT(trace_open("nowhere/t", &t, why), DN_EINVAL);
    CHECK_STR(why, "nowhere/t: it cannot be opened (No such file or directory); name a trace, or - "
                   "for standard input");
    CHECK_INT(trace_open("/", &t, why), DN_EINVAL);
    CHECK_STR(why, "/: it is a directory; name a file");
}

TEST(where_there_is_no_room_for_temporary_files_it_is_said) {
    const struct rlimit little = {64 * 1024, 64 * 1024};
    char                why[TRACE_WHY];
    trace              *t = NULL;
    FILE               *file;

    in_own_folder();
    file = fopen("t", "w");
    CHECK(file);
    (void)fputs(HEAD, file);
    for (int i = 0; i < 10000; i++)
        (void)fputs("{" AT ",\"op\":\"user\",\"id\":\"u1\",\"due\":\"08:00\"}\n", file);
    CHECK_INT(fclose(file), 0);
    (void)signal(SIGXFSZ, SIG_IGN);
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &little), 0);
    CHECK_INT(trace_open("t", &t, why), DN_EIO);
    CHECK_STR(why, "t: no temporary file can be written; set TMPDIR to a folder with free space");
    CHECK_INT(setenv("TMPDIR", "/nowhere", 1), 0);
    CHECK_INT(trace_open("t", &t, why), DN_EIO);
    CHECK_STR(why, "t: no temporary file can be written; set TMPDIR to a folder with free space");
}

TEST(whichever_allocation_fails_it_is_said_and_nothing_stays_behind) {
    static const char text[] =
        HEAD "{" AT ",\"op\":\"user\",\"id\":\"u1\",\"due\":\"08:00\"}\n"
             "{\"op\":\"outcome\",\"id\":\"u1\",\"day\":\"2026-03-02\",\"result\":\"hang\"}\n"
             "{\"op\":\"outcome\",\"id\":\"u1\",\"result\":\"hang\",\"new\":1}\n";
    uint64_t n = 0;
    bool     failed;

    in_own_folder();
    file_write(BYTES(text));
    do {
        char   why[TRACE_WHY] = "";
        trace *t = NULL;
        int    rc;

        starve_nth(++n);
        rc = trace_open("t", &t, why);
        failed = starve_end();
        CHECK_INT(rc, failed ? DN_ENOMEM : DN_OK);
        if (failed) CHECK_STR(why, "t: out of memory");
        trace_free(t);
    } while (failed);
    CHECK(n > 6);
}

/* ---- The scanner beside jansson ---- */

static bool same(const trace_line *a, const trace_line *b) {
    for (size_t i = 0; i < TRACE_KEYS; i++) {
        const trace_value *const x = &a->values[i], *const y = &b->values[i];

        if (x->kind != y->kind) return false;
        if (x->kind == TRACE_VALUE_NUMBER && x->number != y->number) return false;
        if (x->kind == TRACE_VALUE_TEXT &&
            (x->len != y->len || memcmp(x->text, y->text, x->len) != 0))
            return false;
    }
    return true;
}

TEST(what_the_scanner_takes_jansson_reads_as_the_same) {
    static const char *const bits[] = {
        "{",
        "}",
        ":",
        ",",
        "\"op\"",
        "\"id\"",
        "\"attempt\"",
        "1",
        "-1",
        "0",
        "-0",
        "01",
        "1.5",
        "1e2",
        " ",
        "\t",
        "\r",
        "null",
        "true",
        "nul",
        "\"u1\"",
        "\"\"",
        "\"\\n\"",
        "\"\xc3\xa9\"",
        "\"\xff\"",
        "999999999999999999",
        "\"new\"",
        "[]",
        "{\"op\":\"outcome\",\"id\":\"u1\"",
        "9223372036854775808",
        "\"day\":\"2026-03-01\"",
    };
    enum { BITS = sizeof bits / sizeof bits[0], ROUNDS = 300000 / TEST_SLOW_FACTOR };
    uint64_t random = test_seed();
    unsigned taken = 0;

    for (int round = 0; round < ROUNDS; round++) {
        char       text[512], fault[TRACE_FAULT];
        size_t     len = 0;
        trace_line fast, slow;

        if (test_random(&random) % 2) {
            len = (size_t)snprintf(text, sizeof text, "{\"op\":\"x\",\"attempt\":%d,",
                                   (int)(test_random(&random) % 5));
        }
        for (uint64_t n = test_random(&random) % 9; n > 0; n--)
            len += (size_t)snprintf(text + len, sizeof text - len, "%s",
                                    bits[test_random(&random) % BITS]);
        if (test_random(&random) % 2 && len > 0) text[len++] = '}';
        if (!trace_line_scan(text, len, &fast)) continue;
        taken++;
        text[len] = '\0';
        CHECK_MSG(trace_line_parse(text, len, true, &slow, fault) == DN_OK, "%s: %s", text, fault);
        CHECK_MSG(same(&fast, &slow), "%s", text);
        trace_line_done(&slow);
    }
    CHECK(taken > ROUNDS / 3000);
}

TEST(the_scanner_takes_lines_as_programs_write_them) {
    static const char *const lines[] = {
        "{\"op\":\"outcome\",\"id\":\"u1\",\"day\":\"2026-03-02\",\"attempt\":2,"
        "\"result\":\"error\",\"error_class\":\"llm\",\"duration_ms\":900}",
        "{\"op\": \"outcome\", \"id\": \"u1\", \"result\": \"ok\", \"error_class\": null}\r",
        "{\"at\":\"2026-03-01T00:00:00.000Z\",\"op\":\"clock\",\"step_ms\":-3600000}",
    };

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        trace_line line;

        CHECK_MSG(trace_line_scan(lines[i], strlen(lines[i]), &line), "%s", lines[i]);
    }
}

TEST(the_scanner_leaves_to_jansson_what_needs_a_closer_look) {
    static const char *const lines[] = {
        "",
        "{",
        "{}",
        "[]",
        "{\"op\":\"x\"",
        "{\"op\":\"x\",}",
        "{\"op\":\"x\"} x",
        "{\"op\" \"x\"}",
        "{\"op\":\"x",
        "{\"op\":}",
        "{\"op\":nul}",
        "{\"op\":\"x\",\"op\":\"x\"}",
        "{\"new\":1}",
        "{\"attempt\":01}",
        "{\"attempt\":-0}",
        "{\"attempt\":-}",
        "{\"attempt\":+1}",
        "{\"attempt\":1.5}",
        "{\"attempt\":1e2}",
        "{\"attempt\":1000000000000000000}",
        "{\"attempt\":true}",
        "{\"id\":\"\\u0041\"}",
        "{\"id\":\"\x01\"}",
        "{\"id\":\"\xc3\xa9\"}",
        "{\"id\":\"\xff\"}",
    };

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        trace_line line;

        CHECK_MSG(!trace_line_scan(lines[i], strlen(lines[i]), &line), "%s", lines[i]);
    }
}

/* ---- Length ---- */

static size_t resident(void) {
    char  text[128] = "", *second;
    FILE *statm = fopen("/proc/self/statm", "r");

    CHECK(statm);
    CHECK(fgets(text, sizeof text, statm));
    (void)fclose(statm);
    second = strchr(text, ' ');
    CHECK(second);
    return strtoul(second, NULL, 10) * 4096;
}

/* A trace of so many days: a thousand outcomes each, and a thousand users that change. What it takes when it has
 * been read. */
static size_t read_long(int days, double *out_lines_per_s) {
    const size_t    before = resident();
    char            why[TRACE_WHY];
    struct timespec begun, ended;
    trace          *t = NULL;
    FILE           *file = fopen("t", "w");
    trace_op        op;
    uint64_t        ops = 0;
    size_t          after;

    CHECK(file);
    (void)fputs(
        "{\"trace\":1,\"start\":\"2026-01-01T00:00:00Z\",\"end\":\"2036-01-01T00:00:00Z\"}\n",
        file);
    for (int d = 0; d < days; d++) {
        char day[DN_DAY_TEXT];

        dn_day_write(20454 + d, day);
        for (int n = 0; n < 1000; n++) {
            (void)fprintf(file,
                          "{\"op\":\"outcome\",\"id\":\"u%d\",\"day\":\"%s\",\"attempt\":1,"
                          "\"result\":\"error\",\"error_class\":\"llm\",\"duration_ms\":900}\n",
                          n, day);
            (void)fprintf(file,
                          "{\"at\":\"%sT00:00:00Z\",\"op\":\"user\",\"id\":\"u%d\","
                          "\"due\":\"08:00\"}\n",
                          day, n);
        }
    }
    CHECK_INT(fclose(file), 0);
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begun);
    CHECK_MSG(trace_open("t", &t, why) == DN_OK, "%s", why);
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ended);
    *out_lines_per_s =
        2000.0 * days /
        ((double)(ended.tv_sec - begun.tv_sec) + (double)(ended.tv_nsec - begun.tv_nsec) / 1e9);
    (void)unlink("t");
    while (trace_next(t, &op) == DN_OK) ops++;
    CHECK_UINT(ops, 1000 * (uint64_t)days);
    CHECK_INT(asked(t, "u999", 20454, 1).cls, DN_CLASS_LLM);
    CHECK_INT(asked(t, "u999", 20454 + days - 1, 1).duration_ms, 900);
    CHECK_INT(asked(t, "u999", 20454 + days, 1).duration_ms, 500);
    after = resident();
    trace_free(t);
    return after > before ? after - before : 0;
}

TEST(ten_times_the_lines_take_no_more_memory) {
    double per_s;

    if (test_under_sanitizer()) return; /* which has an allocator of its own */
    in_own_folder();
    const size_t once = read_long(50, &per_s), ten_times = read_long(500, &per_s);
    (void)fprintf(stderr, "%zu and %zu KiB; %.2f million lines a second\n", once / 1024,
                  ten_times / 1024, per_s / 1e6);
    CHECK_MSG(ten_times <= once + 2 * 1024 * 1024, "%zu and %zu bytes", once, ten_times);
    CHECK_MSG(per_s > 500e3, "%.0f lines a second", per_s);
}
