/* log_test.c - what a line looks like, and that nobody waits for the log and nothing is lost without a word.
 * Lines are read from the other end of a pipe; the clock is the test's. */
#include "obs/log.h"

#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define EIGHT INT64_C(1794988800123) /* 2026-11-18T08:00:00.123Z */

enum { HEARD_MAX = 4 << 20 };

static int     reader, writer;
static int64_t now_ms = EIGHT;
static char    heard[HEARD_MAX];

static int64_t clock_of_test(void *context) {
    (void)context;
    return now_ms;
}

static void listen_at(int out, int in) {
    reader = out;
    writer = in;
    CHECK_INT(fcntl(reader, F_SETFL, O_NONBLOCK), 0);
    dn_log_clock(clock_of_test, NULL);
    dn_log_output(writer);
}

static void listen_to_pipe(dn_log_form form) {
    int ends[2];

    CHECK_INT(pipe(ends), 0);
    listen_at(ends[0], ends[1]);
    dn_log_format(form);
}

/* All that has come by now. */
static const char *hear(void) {
    size_t  len = 0;
    ssize_t got;

    while ((got = read(reader, heard + len, sizeof heard - 1 - len)) > 0) len += (size_t)got;
    heard[len] = '\0';
    return heard;
}

static int count(const char *text, const char *words) {
    int times = 0;

    for (; (text = strstr(text, words)); text++) times++;
    return times;
}

/* The only line there is, as JSON. */
static json_t *hear_json(void) {
    json_error_t why;

    CHECK_INT(count(hear(), "\n"), 1);
    json_t *line = json_loads(heard, JSON_REJECT_DUPLICATES, &why);
    CHECK_MSG(line, "%s in %s", why.text, heard);
    return line;
}

static const char *text_of(const json_t *line) {
    return json_string_value(json_object_get(line, "text"));
}

/* ---- Forms ---- */

TEST(a_line_of_text_has_a_short_time_a_level_an_event_and_words) {
    listen_to_pipe(DN_LOG_TEXT);
    dn_log(DN_LOG_WARN, "store.full", "nothing can be written for %d s", 3);
    CHECK_STR(hear(), "08:00:00.123 warn  store.full: nothing can be written for 3 s\n");
    dn_log(DN_LOG_ERROR, "a.b", "c");
    CHECK_STR(hear(), "08:00:00.123 error a.b: c\n");
}

TEST(a_line_of_json_has_the_same_in_an_object) {
    listen_to_pipe(DN_LOG_JSON);
    dn_log(DN_LOG_INFO, "store.full", "it says \"no\"");
    CHECK_STR(hear(), "{\"t\":\"2026-11-18T08:00:00.123Z\",\"level\":\"info\",\"event\":"
                      "\"store.full\",\"text\":\"it says \\\"no\\\"\"}\n");
}

static const dn_log_field *some_fields(void) {
    static dn_log_field fields[7];

    fields[0] = dn_log_integer("window_s", -900);
    fields[1] = dn_log_real("measured", 0.1);
    fields[2] = dn_log_text("due_bucket", "07:30");
    fields[3] = dn_log_text("why", "no room \"there\"");
    fields[4] = dn_log_real("ratio", NAN);
    fields[5] = dn_log_text("none", NULL);
    fields[6] = dn_log_real("rate", -INFINITY);
    return fields;
}

TEST(fields_are_members_of_the_object_with_their_types) {
    listen_to_pipe(DN_LOG_JSON);
    dn_log_fields(DN_LOG_WARN, "slo.breached", "too slow", some_fields(), 7);
    CHECK_STR(hear(), "{\"t\":\"2026-11-18T08:00:00.123Z\",\"level\":\"warn\",\"event\":"
                      "\"slo.breached\",\"text\":\"too slow\",\"window_s\":-900,\"measured\":0.1,"
                      "\"due_bucket\":\"07:30\",\"why\":\"no room \\\"there\\\"\",\"ratio\":null,"
                      "\"none\":null,\"rate\":null}\n");
}

TEST(fields_are_names_and_values_in_a_line_of_text) {
    listen_to_pipe(DN_LOG_TEXT);
    dn_log_fields(DN_LOG_WARN, "slo.breached", "too slow", some_fields(), 7);
    CHECK_STR(hear(), "08:00:00.123 warn  slo.breached: too slow window_s=-900 measured=0.1 "
                      "due_bucket=07:30 why=\"no room \\\"there\\\"\" ratio=null none=null "
                      "rate=null\n");
}

static void check_read_back(double value) {
    const dn_log_field field = dn_log_real("value", value);

    now_ms += 10000; /* none of them is a repeat */
    dn_log_fields(DN_LOG_INFO, "a.b", "", &field, 1);
    json_t *line = hear_json();
    CHECK_MSG(json_number_value(json_object_get(line, "value")) == value, "%a in %s", value, heard);
    json_decref(line);
}

TEST(a_number_is_read_back_as_it_was) {
    static const double values[] = {0.1, 1e-300, 1.0 / 3, 12345678.9, -0.0, 300, 1e22};
    uint64_t            random = test_seed();

    listen_to_pipe(DN_LOG_JSON);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) check_read_back(values[i]);
    /* 15 digits of some are too much, of others too little. */
    for (int i = 0; i < 100; i++) check_read_back((double)(int64_t)test_random(&random) / 1e9);
}

TEST(a_value_that_could_be_misread_stands_in_quotes) {
    static const struct {
        const char *value, *shown;
    } all[] = {{"", "\"\""},
               {"two words", "\"two words\""},
               {"a=b", "\"a=b\""},
               {"a\"b", "\"a\\\"b\""},
               {"tab\t", "\"tab\\t\""},
               {"\xc3\xa4", "\"\xc3\xa4\""},
               {"07:30", "07:30"},
               {"~!", "~!"}};

    listen_to_pipe(DN_LOG_TEXT);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char               line[100];
        const dn_log_field field = dn_log_text("x", all[i].value);
        dn_log_fields(DN_LOG_INFO, "a.b", "c", &field, 1);
        (void)snprintf(line, sizeof line, "08:00:00.123 info  a.b: c x=%s\n", all[i].shown);
        CHECK_STR(hear(), line);
    }
}

TEST(every_instant_has_its_date) {
    static const struct {
        int64_t     ms;
        const char *text;
    } all[] = {{0, "\"1970-01-01T00:00:00.000Z\""},
               {951782399999, "\"2000-02-28T23:59:59.999Z\""},
               {951782400000, "\"2000-02-29T00:00:00.000Z\""},
               {951868800000, "\"2000-03-01T00:00:00.000Z\""},
               {1798761599999, "\"2026-12-31T23:59:59.999Z\""},
               {1798761600000, "\"2027-01-01T00:00:00.000Z\""},
               {4107542400000, "\"2100-03-01T00:00:00.000Z\""},
               {INT64_MAX, "\"9999-12-31T23:59:59.999Z\""},
               {-1, "\"1970-01-01T00:00:00.000Z\""}};

    listen_to_pipe(DN_LOG_JSON);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        now_ms = all[i].ms;
        dn_log(DN_LOG_INFO, "a.b", "c");
        CHECK_MSG(strstr(hear(), all[i].text), "want %s in %s", all[i].text, heard);
    }
}

/* As a line has it. */
static void time_of_machine(char text[64]) {
    struct timespec t;
    struct tm       civil;

    CHECK_INT(clock_gettime(CLOCK_REALTIME, &t), 0);
    CHECK(gmtime_r(&t.tv_sec, &civil));
    const size_t len = strftime(text, 64, "{\"t\":\"%Y-%m-%dT%H:%M:%S", &civil);
    (void)snprintf(text + len, 64 - len, ".%03ldZ", t.tv_nsec / 1000000);
}

TEST(without_a_clock_of_ones_own_it_is_that_of_the_machine) {
    char before[64], after[64];

    listen_to_pipe(DN_LOG_JSON);
    dn_log_clock(NULL, NULL);
    time_of_machine(before);
    dn_log(DN_LOG_INFO, "a.b", "c");
    time_of_machine(after);
    CHECK_MSG(strncmp(hear(), before, strlen(before)) >= 0, "%s before %s", heard, before);
    CHECK_MSG(strncmp(heard, after, strlen(after)) <= 0, "%s after %s", heard, after);
}

TEST(without_being_asked_a_pipe_gets_json) {
    listen_to_pipe(DN_LOG_AUTO);
    dn_log(DN_LOG_INFO, "a.b", "c");
    CHECK_INT(hear()[0], '{');
}

static int terminal_opens(void) {
    int ends[2];

    CHECK_INT(openpty(&ends[0], &ends[1], NULL, NULL, NULL), 0);
    listen_at(ends[0], ends[1]);
    return ends[1];
}

TEST(without_being_asked_a_terminal_gets_text_and_stays_as_it_was) {
    const int screen = terminal_opens();

    dn_log(DN_LOG_INFO, "a.b", "c");
    CHECK_STR(hear(), "08:00:00.123 info  a.b: c\r\n");
    CHECK_INT(fcntl(screen, F_GETFL) & O_NONBLOCK, 0);
}

TEST(an_output_that_is_another_is_looked_at_anew) {
    listen_to_pipe(DN_LOG_AUTO);
    dn_log(DN_LOG_INFO, "a.b", "c");
    CHECK_INT(hear()[0], '{');
    (void)terminal_opens();
    dn_log(DN_LOG_INFO, "a.b", "c");
    CHECK_STR(hear(), "08:00:00.123 info  a.b: c\r\n");
}

/* Of the journal, if its variable names them: so much beside their device and their inode, and that behind it. */
static void listen_as_journal(int ends[2], unsigned beside_dev, unsigned beside_ino,
                              const char *behind) {
    struct stat s;
    char        stream[64];

    CHECK_INT(fstat(ends[1], &s), 0);
    (void)snprintf(stream, sizeof stream, "%llu:%llu%s", (unsigned long long)s.st_dev + beside_dev,
                   (unsigned long long)s.st_ino + beside_ino, behind);
    CHECK_INT(setenv("JOURNAL_STREAM", stream, 1), 0);
    listen_at(ends[0], ends[1]);
}

TEST(the_journal_gets_the_level_as_a_prefix_and_no_time) {
    int ends[2];

    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    listen_as_journal(ends, 0, 0, "");
    dn_log_threshold(DN_LOG_DEBUG);
    dn_log(DN_LOG_DEBUG, "a.b", "c");
    dn_log(DN_LOG_INFO, "a.b", "c");
    dn_log_format(DN_LOG_TEXT);
    dn_log(DN_LOG_WARN, "a.b", "c");
    dn_log(DN_LOG_ERROR, "a.b", "c");
    CHECK_STR(hear(),
              "<7>{\"event\":\"a.b\",\"text\":\"c\"}\n<6>{\"event\":\"a.b\",\"text\":\"c\"}\n"
              "<4>a.b: c\n<3>a.b: c\n");
}

TEST(an_output_that_is_no_longer_the_journal_gets_no_prefix) {
    static const struct {
        unsigned    dev, ino;
        const char *behind;
    } others[] = {{0, 1, ""}, {1, 0, ""}, {0, 0, "x"}};
    int ends[2];

    CHECK_INT(pipe(ends), 0);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        listen_as_journal(ends, others[i].dev, others[i].ino, others[i].behind);
        dn_log(DN_LOG_INFO, "a.b", "c");
        CHECK_INT(hear()[0], '{');
    }
}

/* ---- Any bytes ---- */

TEST(every_byte_goes_through_json_and_back_or_is_replaced) {
    listen_to_pipe(DN_LOG_JSON);
    for (int byte = 1; byte < 256; byte++) {
        char text[2] = {(char)byte, '\0'};
        now_ms += 10000; /* none of them is a repeat */
        dn_log(DN_LOG_INFO, "a.b", "%s", text);
        json_t *line = hear_json();
        CHECK_STR(text_of(line), byte < 0x80 ? text : "\xef\xbf\xbd");
        json_decref(line);
    }
}

TEST(whatever_the_bytes_a_line_is_one_line_of_valid_json) {
    uint64_t random = test_seed();

    listen_to_pipe(DN_LOG_JSON);
    for (int i = 0; i < 3000; i++) {
        char         text[1200], value[1200];
        const size_t len = test_random(&random) % sizeof text;
        for (size_t at = 0; at < len; at++) {
            /* Often the bytes that characters of several bytes are made of. */
            const uint64_t r = test_random(&random);
            text[at] = (char)(r % 3 ? 0x80 + r / 3 % 128 : 1 + r / 3 % 127);
        }
        text[len ? len - 1 : 0] = '\0';
        memcpy(value, text, sizeof value);
        const dn_log_field fields[] = {dn_log_text("one", value), dn_log_integer("two", 2)};
        now_ms += 10000;
        dn_log_fields(DN_LOG_INFO, "a.b", text, fields, test_random(&random) % 3);
        json_decref(hear_json());
    }
}

TEST(characters_pass_and_what_only_looks_like_one_does_not) {
    static const struct {
        const char *in, *out;
    } all[] = {
        {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"\xc2\x85\xc2\xa0", "\xc2\x85\xc2\xa0"}, /* one is a control, one is not */
        {"\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf", "\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf"},
        {"\xc1\xbf", "??"},      /* overlong */
        {"\xe0\x9f\xbf", "???"}, /* overlong */
        {"\xf0\x8f\xbf\xbf", "????"} /* overlong */,
        {"\xed\xa0\x80", "???"},      /* a surrogate */
        {"\xf4\x90\x80\x80", "????"}, /* above U+10FFFF */
        {"\xe2\x82", "??"},           /* the end comes first */
        {"\xe2\x82"
         "a",
         "??a"},
        {"\xf0\x9f\x98", "???"},
    };

    listen_to_pipe(DN_LOG_JSON);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char   expected[100] = "";
        size_t len = 0;
        for (const char *c = all[i].out; *c; c++)
            len += (size_t)snprintf(expected + len, sizeof expected - len, "%.*s",
                                    *c == '?' ? 3 : 1, *c == '?' ? "\xef\xbf\xbd" : c);
        dn_log(DN_LOG_INFO, "a.b", "%s", all[i].in);
        json_t *line = hear_json();
        CHECK_STR(text_of(line), expected);
        CHECK_MSG(!strstr(heard, "\xc2\x85"), "%s", heard);
        json_decref(line);
    }
}

TEST(nothing_that_is_logged_gives_orders_to_a_terminal) {
    listen_to_pipe(DN_LOG_TEXT);
    dn_log(DN_LOG_INFO, "a.b",
           "1\x1b[2J\r\n2\t\x7f\xc2\x9b"
           "3\x9b"
           "4");
    CHECK_STR(hear(), "08:00:00.123 info  a.b: 1 [2J  2   3\xef\xbf\xbd"
                      "4\n");
}

static const char *too_long(void) {
    static char text[5001];

    memset(text, '\\', sizeof text - 1);
    return text;
}

TEST(what_does_not_fit_is_cut_and_the_line_says_so) {
    const char *text = too_long();

    listen_to_pipe(DN_LOG_JSON);
    const dn_log_field fields[] = {dn_log_integer("one", 1), dn_log_text("two", text),
                                   dn_log_integer("three", 3)};
    dn_log_fields(DN_LOG_INFO, "a.b", text, fields, 3);
    json_t *line = hear_json();
    CHECK_INT(strlen(text_of(line)), 700);
    CHECK_INT(json_integer_value(json_object_get(line, "one")), 1);
    CHECK_PTR(json_object_get(line, "two"), NULL);
    CHECK_PTR(json_object_get(line, "three"), NULL);
    CHECK(json_is_true(json_object_get(line, "cut")));
    json_decref(line);
    dn_log_fields(DN_LOG_INFO, "a.b", "all of it", fields, 3);
    CHECK(strstr(hear(), "\"text\":\"all of it\",\"one\":1,\"cut\":true}\n"));
    dn_log_format(DN_LOG_TEXT);
    dn_log_fields(DN_LOG_INFO, "a.b", text, fields, 1);
    CHECK(strstr(hear(), "\\ one=1 …\n"));
}

TEST(of_a_long_text_a_thousand_bytes_are_said) {
    listen_to_pipe(DN_LOG_JSON);
    dn_log(DN_LOG_INFO, "a.b", "%0*d", 3000, 1);
    json_t *line = hear_json();
    CHECK_INT(strlen(text_of(line)), 1000);
    json_decref(line);
}

/* ---- Levels and sinks ---- */

TEST(unless_told_otherwise_it_says_info_and_what_is_worse) {
    listen_to_pipe(DN_LOG_TEXT);
    dn_log(DN_LOG_DEBUG, "a.b", "c");
    CHECK_STR(hear(), "");
    dn_log(DN_LOG_INFO, "a.b", "c");
    CHECK_INT(count(hear(), "\n"), 1);
}

TEST(what_is_below_the_threshold_is_not_said) {
    listen_to_pipe(DN_LOG_TEXT);
    dn_log_threshold(DN_LOG_WARN);
    dn_log(DN_LOG_INFO, "a.b", "c");
    dn_log_fields(DN_LOG_INFO, "a.b", "c", NULL, 0);
    CHECK_STR(hear(), "");
    CHECK(!dn_log_wanted(DN_LOG_INFO));
    dn_log(DN_LOG_WARN, "a.b", "c");
    CHECK_INT(count(hear(), "\n"), 1);
    dn_log_threshold(DN_LOG_NONE);
    dn_log(DN_LOG_ERROR, "a.b", "c");
    CHECK_STR(hear(), "");
}

static char sunk[3000];
static int  sunk_lines;

static void sink(void *context, dn_log_level level, const char *event, const char *text) {
    (void)context;
    sunk_lines++;
    (void)snprintf(sunk, sizeof sunk, "%d %s: %s", level, event, text);
}

TEST(a_sink_of_ones_own_gets_every_line_with_its_fields_in_words) {
    listen_to_pipe(DN_LOG_TEXT);
    dn_log_to(sink, NULL);
    dn_log_fields(DN_LOG_WARN, "slo.breached", "too slow", some_fields(), 3);
    CHECK_STR(sunk, "2 slo.breached: too slow window_s=-900 measured=0.1 due_bucket=07:30");
    for (int i = 0; i < 100; i++) dn_log(DN_LOG_WARN, "store.full", "again");
    CHECK_INT(sunk_lines, 101);
    const dn_log_field fields[] = {dn_log_integer("one", 1), dn_log_text("two", too_long())};
    dn_log_fields(DN_LOG_WARN, "a.b", "c", fields, 2);
    CHECK_STR(sunk, "2 a.b: c one=1 …");
    dn_log_to(NULL, NULL);
    dn_log(DN_LOG_WARN, "a.b", "c");
    CHECK_STR(hear(), "08:00:00.123 warn  a.b: c\n");
}

/* ---- Repeats ---- */

static void say_often(dn_log_level level, const char *event, int times) {
    for (int i = 0; i < times; i++) dn_log(level, event, "again");
}

TEST(what_is_said_too_often_is_summed_up_when_its_time_is_over) {
    listen_to_pipe(DN_LOG_JSON);
    say_often(DN_LOG_ERROR, "store.full", 143);
    say_often(DN_LOG_WARN, "tick.late", 20);
    CHECK_INT(count(hear(), "store.full"), 20);
    CHECK_INT(count(heard, "tick.late"), 20);
    dn_log_tick();
    CHECK_STR(hear(), "");
    now_ms = EIGHT + 9877; /* 08:00:10.000 */
    dn_log_tick();
    CHECK_STR(hear(),
              "{\"t\":\"2026-11-18T08:00:10.000Z\",\"level\":\"error\",\"event\":\"log.repeated\","
              "\"text\":\"and 123 more of store.full within 10 s\",\"of\":\"store.full\","
              "\"lines\":123}\n");
    dn_log_tick();
    CHECK_STR(hear(), "");
}

TEST(the_next_line_of_an_event_says_its_repeats_first) {
    listen_to_pipe(DN_LOG_TEXT);
    say_often(DN_LOG_INFO, "store.full", 25);
    (void)hear();
    now_ms += 10000;
    dn_log(DN_LOG_INFO, "store.full", "again");
    CHECK_STR(hear(), "08:00:10.123 info  log.repeated: and 5 more of store.full within 10 s "
                      "of=store.full lines=5\n08:00:10.123 info  store.full: again\n");
}

/* Of one that was said itself they know nothing. */
TEST(repeats_are_as_bad_as_the_worst_of_them) {
    listen_to_pipe(DN_LOG_TEXT);
    say_often(DN_LOG_INFO, "store.full", 25);
    say_often(DN_LOG_ERROR, "store.full", 1);
    say_often(DN_LOG_INFO, "store.full", 1);
    say_often(DN_LOG_INFO, "tick.late", 20);
    say_often(DN_LOG_WARN, "tick.late", 1);
    say_often(DN_LOG_ERROR, "disk.low", 20);
    say_often(DN_LOG_INFO, "disk.low", 1);
    (void)hear();
    now_ms += 10000;
    dn_log_tick();
    CHECK(strstr(hear(), " error log.repeated: and 7 more of store.full"));
    CHECK(strstr(heard, " warn  log.repeated: and 1 more of tick.late"));
    CHECK(strstr(heard, " info  log.repeated: and 1 more of disk.low"));
}

TEST(an_event_is_known_by_its_name_wherever_that_stands) {
    static const char here[] = "store.full", there[] = "store.full";

    listen_to_pipe(DN_LOG_TEXT);
    say_often(DN_LOG_INFO, here, 15);
    say_often(DN_LOG_INFO, there, 15);
    CHECK_INT(count(hear(), "store.full"), 20);
}

/* Each of them is an event of its own; and of those that are too many to be counted every line is said. */
TEST(of_128_events_the_repeats_are_summed_up_and_those_of_others_said) {
    static char names[200][8];

    listen_to_pipe(DN_LOG_TEXT);
    for (int i = 0; i < 200; i++) {
        (void)snprintf(names[i], sizeof names[i], "a.%d", i);
        say_often(DN_LOG_INFO, names[i], 25);
        CHECK_INT(count(hear(), "again\n"), i < 128 ? 20 : 25);
    }
    now_ms += 10000;
    dn_log_tick();
    CHECK_INT(count(hear(), "log.repeated: and 5 more of a."), 128);
}

TEST(at_debug_every_line_is_said) {
    listen_to_pipe(DN_LOG_TEXT);
    dn_log_threshold(DN_LOG_DEBUG);
    say_often(DN_LOG_DEBUG, "queue.ignored", 100);
    CHECK_INT(count(hear(), "queue.ignored"), 100);
}

TEST(a_clock_that_steps_back_loses_no_repeat) {
    listen_to_pipe(DN_LOG_TEXT);
    say_often(DN_LOG_INFO, "store.full", 25);
    (void)hear();
    now_ms -= 3600000;
    dn_log_tick();
    CHECK(strstr(hear(), "and 5 more of store.full"));
}

/* ---- A reader that does not read ---- */

/* More than any output and the log itself hold; none of them is a repeat. */
enum { MANY = 4000 };

static void say_many(void) {
    for (int i = 0; i < MANY; i++) {
        now_ms += 10000;
        dn_log(DN_LOG_INFO, "a.b", "number %d.", i);
    }
}

static int lost_of(const char *text) {
    int         lost = 0;
    const char *at = text;

    while ((at = strstr(at, "log.dropped"))) {
        at = strstr(at, "lines=");
        CHECK(at);
        lost += (int)strtol(at + 6, NULL, 10);
    }
    return lost;
}

/* How many numbered lines there are, in order and each once. *out_run: so many from the first without a gap. */
static int check_numbers(const char *text, int *out_run) {
    static const char words[] = "a.b: number ";
    int               came = 0, last = -1;

    *out_run = 0;
    for (; (text = strstr(text, words)); came++) {
        text += strlen(words);
        char     *end;
        const int number = (int)strtol(text, &end, 10);
        if (*end != '.') break; /* the rest is to come */
        CHECK(number > last);
        last = number;
        *out_run += number == *out_run;
    }
    return came;
}

static void add(char *all, size_t *len, const char *more) {
    *len += (size_t)snprintf(all + *len, HEARD_MAX - *len, "%s", more);
}

/* A terminal may take a line more when its other end has not been read: the kernel has several buffers. */
static void check_full_reader(bool exact) {
    static char all[HEARD_MAX];
    size_t      len = 0;
    int         run;

    dn_log_format(DN_LOG_TEXT);
    say_many(); /* returns */
    add(all, &len, hear());
    const int first = check_numbers(all, &run);
    CHECK(first > 0);
    CHECK(first < MANY);
    if (exact) CHECK_INT(lost_of(all), 0); /* none is said before there is room */
    while (check_numbers(all, &run) + lost_of(all) < MANY) {
        dn_log_tick(); /* nothing else is said, and yet the rest comes, and what was lost */
        add(all, &len, hear());
    }
    const int came = check_numbers(all, &run);
    CHECK_INT(came + lost_of(all), MANY);
    CHECK_INT(count(all, "\n"), came + count(all, "log.dropped"));
    if (exact)
        CHECK_INT(came, first + 256); /* the oldest; what comes when there is no room is lost */
    if (exact) CHECK_INT(run, came);

    (void)hear();
    dn_log(DN_LOG_INFO, "a.b", "and on");
    while (!strstr(hear(), "and on")) {}
    CHECK_INT(lost_of(heard), 0);
}

TEST(nobody_waits_for_a_pipe_that_is_full_and_what_is_lost_is_counted_and_said) {
    listen_to_pipe(DN_LOG_TEXT);
    check_full_reader(/* exact: */ true);
    CHECK_INT(fcntl(writer, F_GETFL) & O_NONBLOCK, 0); /* it is others' too */
}

/* Ours may not be opened again when the program has become another user since. */
TEST(nobody_waits_for_a_full_pipe_that_cannot_be_opened_again) {
    int ends[2];

    CHECK_INT(pipe(ends), 0);
    CHECK_INT(fchmod(ends[1], 0), 0);
    const uid_t me = geteuid();
    if (me == 0) CHECK_INT(seteuid(65534), 0);
    listen_at(ends[0], ends[1]);
    check_full_reader(/* exact: */ true);
    CHECK_INT(seteuid(me), 0); /* for the leak sanitizer's sake */
    CHECK_INT(fcntl(writer, F_GETFL) & O_NONBLOCK, 0);
}

TEST(nobody_waits_for_a_terminal_that_stands_still) {
    (void)terminal_opens();
    check_full_reader(/* exact: */ false);
    CHECK_INT(fcntl(writer, F_GETFL) & O_NONBLOCK, 0);
}

TEST(nobody_waits_for_a_socket_that_is_full) {
    int ends[2];

    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    listen_at(ends[0], ends[1]);
    check_full_reader(/* exact: */ true);
    CHECK_INT(fcntl(writer, F_GETFL) & O_NONBLOCK, 0);
}

TEST(what_was_lost_is_said_before_what_comes_after_it) {
    listen_to_pipe(DN_LOG_TEXT);
    say_many();
    (void)hear();
    dn_log(DN_LOG_INFO, "a.b", "after");
    hear();
    CHECK(strstr(heard, " warn  log.dropped: lines were lost here"));
    CHECK(strstr(heard, "log.dropped") < strstr(heard, "after"));
}

TEST(repeats_that_cannot_be_said_count_as_lost) {
    listen_to_pipe(DN_LOG_TEXT);
    say_often(DN_LOG_WARN, "store.full", 120);
    say_many();
    now_ms += 10000;
    dn_log_tick();
    (void)hear();
    int came = count(heard, "a.b:"), lost = lost_of(heard);
    dn_log_tick();
    (void)hear();
    came += count(heard, "a.b:"), lost += lost_of(heard);
    CHECK_INT(came + lost, MANY + 100);
}

TEST(a_file_is_written_to_at_its_end) {
    FILE *file = tmpfile();

    CHECK(file);
    listen_at(fileno(file), fileno(file));
    dn_log_format(DN_LOG_TEXT);
    CHECK_INT(write(writer, "before\n", 7), 7);
    dn_log(DN_LOG_INFO, "a.b", "c");
    CHECK_INT(write(writer, "after\n", 6), 6);
    CHECK_INT(lseek(reader, 0, SEEK_SET), 0);
    CHECK_STR(hear(), "before\n08:00:00.123 info  a.b: c\nafter\n");
}

/* The reader has gone: the program does not end of it, if SIGPIPE is ignored, and goes on. */
TEST(an_output_that_fails_costs_lines_and_nothing_else) {
    int ends[2];

    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    listen_at(ends[0], ends[1]);
    CHECK_INT(close(reader), 0);
    dn_log(DN_LOG_INFO, "a.b", "to nobody");
    dn_log_output(-1);
    dn_log(DN_LOG_INFO, "a.b", "to nobody");
    listen_to_pipe(DN_LOG_TEXT);
    dn_log_tick();
    CHECK_INT(lost_of(hear()), 2);
}

/* ---- A disk that fills up ---- */

/* A file that takes so many bytes, as long as nothing else is said. */
static void listen_to_file(rlim_t bytes) {
    FILE *file = tmpfile();

    CHECK(file);
    CHECK(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    listen_at(fileno(file), fileno(file));
    dn_log_format(DN_LOG_JSON);
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &(struct rlimit){bytes, RLIM_INFINITY}), 0);
}

static void make_room(void) {
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY}), 0);
}

static void say_numbered(int lines) {
    for (int i = 0; i < lines; i++) dn_log(DN_LOG_DEBUG, "a.b", "number %d", i);
}

typedef struct found {
    int came, lost, repeated, torn, whole;
} found;

/* What stands in the file; only a line that is JSON by itself counts as one. */
static found find_in_file(void) {
    found f = {0};

    CHECK_INT(lseek(reader, 0, SEEK_SET), 0);
    (void)hear();
    for (char *next, *line = heard; *line; line = next) {
        next = strchr(line, '\n');
        CHECK_MSG(next, "no end: %s", line);
        json_t *object = json_loadb(line, (size_t)(next++ - line), JSON_REJECT_DUPLICATES, NULL);
        if (!object) {
            f.torn++;
            continue;
        }
        const char *event = json_string_value(json_object_get(object, "event"));
        const int   lines = (int)json_integer_value(json_object_get(object, "lines"));
        if (strcmp(event, "log.dropped") == 0) f.lost += lines;
        else if (strcmp(event, "log.repeated") == 0) f.repeated += lines;
        else f.came++;
        f.whole++;
        json_decref(object);
    }
    return f;
}

TEST(many_lines_lost_to_a_full_disk_are_counted_exactly) {
    listen_to_file(300);
    dn_log_threshold(DN_LOG_DEBUG);
    say_numbered(1000);
    make_room();
    dn_log(DN_LOG_INFO, "a.b", "there is room again");
    const found f = find_in_file();
    CHECK_INT(f.came, 4); /* three fit */
    CHECK_INT(f.lost, 997);
    CHECK_INT(f.torn, 1);
}

TEST(repeats_lost_to_a_full_disk_are_counted_exactly) {
    listen_to_file(0);
    say_often(DN_LOG_WARN, "store.full", 120);
    now_ms += 10000;
    dn_log_tick();
    make_room();
    dn_log_tick();
    const found f = find_in_file();
    CHECK_INT(f.lost, 120);
    CHECK_INT(f.whole, 1);
}

/* Wherever the disk ends, be it before a line, within it or before its end. */
TEST(every_line_after_a_torn_one_is_whole_by_itself) {
    enum { LONGEST = 160, SAID = 10 };
    int torn = 0;

    dn_log_threshold(DN_LOG_DEBUG);
    for (rlim_t bytes = 0; bytes < LONGEST; bytes++) {
        listen_to_file(bytes);
        say_numbered(SAID);
        make_room();
        say_numbered(SAID);
        const found f = find_in_file();
        CHECK(f.torn <= 1);
        CHECK_INT(f.came + f.lost, 2 * SAID);
        CHECK(f.came >= SAID);
        torn += f.torn;
        CHECK_INT(close(writer), 0);
    }
    CHECK(torn > 0);
}

/* Room for some bytes more comes and goes: lines that say what is lost are torn, too. */
TEST(lines_torn_one_behind_the_other_spoil_none_but_themselves) {
    listen_to_file(0);
    dn_log_threshold(DN_LOG_DEBUG);
    for (rlim_t bytes = 30; bytes < 300; bytes += 30) {
        CHECK_INT(setrlimit(RLIMIT_FSIZE, &(struct rlimit){bytes, RLIM_INFINITY}), 0);
        say_numbered(1);
    }
    make_room();
    say_numbered(1);
    const found f = find_in_file();
    CHECK_INT(f.torn, 9);
    CHECK_INT(f.lost, 9);
    CHECK_INT(f.came, 1);
}

/* What a terminal takes of the line that is too much for it is a part. */
TEST(a_new_output_begins_with_a_whole_line) {
    const int terminal = terminal_opens();

    dn_log_format(DN_LOG_JSON);
    say_many();
    listen_to_pipe(DN_LOG_JSON);
    dn_log_tick();
    CHECK_INT(hear()[0], '{');
    CHECK_INT(close(terminal), 0);
}

TEST(a_new_output_knows_nothing_of_what_was_torn_in_the_one_before) {
    listen_to_file(20);
    dn_log(DN_LOG_INFO, "a.b", "torn");
    make_room();
    listen_to_pipe(DN_LOG_JSON);
    dn_log(DN_LOG_INFO, "a.b", "whole");
    CHECK_INT(hear()[0], '{');
    CHECK_INT(count(heard, "\n"), 2); /* what was lost, and the line */
}

/* ---- The end ---- */

static void *read_slowly(void *context) {
    size_t *len = context;
    char    some[4096];

    CHECK_INT(fcntl(reader, F_SETFL, 0), 0);
    for (ssize_t got; (got = read(reader, some, sizeof some)) > 0;) {
        memcpy(heard + *len, some, (size_t)got);
        *len += (size_t)got;
    }
    heard[*len] = '\0';
    return NULL;
}

TEST(at_the_end_everything_is_written_as_fast_as_it_is_read) {
    pthread_t thread;
    size_t    len = 0;

    listen_to_pipe(DN_LOG_TEXT);
    say_often(DN_LOG_WARN, "store.full", 50);
    say_many();
    CHECK_INT(pthread_create(&thread, NULL, read_slowly, &len), 0);
    dn_log_finish(60000);
    dn_log_output(-1); /* our own way into the pipe, too, is closed */
    CHECK_INT(close(writer), 0);
    CHECK_INT(pthread_join(thread, NULL), 0);
    /* The 30 repeats are said as such, or, if they had no room, as lost. */
    CHECK_INT(count(heard, "a.b:") + count(heard, "store.full:") + lost_of(heard) +
                  30 * count(heard, "and 30 more"),
              MANY + 50);
}

/* Whether it waits for something; or has ended. */
static bool is_at_rest(pid_t pid) {
    char path[40], about[100] = "";

    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    CHECK(file);
    CHECK(fgets(about, sizeof about, file));
    (void)fclose(file);
    const char *name_end = strrchr(about, ')');
    return name_end && (name_end[2] == 'S' || name_end[2] == 'Z');
}

TEST(exit_waits_for_the_reader_and_says_what_was_lost) {
    int  lines[2], ready[2];
    char byte;

    CHECK_INT(pipe(lines), 0);
    CHECK_INT(pipe(ready), 0);
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        listen_at(lines[0], lines[1]);
        dn_log_format(DN_LOG_TEXT);
        say_many();
        CHECK_INT(write(ready[1], "", 1), 1);
        exit(0);
    }
    CHECK_INT(close(lines[1]), 0);
    CHECK_INT(read(ready[0], &byte, 1), 1);
    while (!is_at_rest(pid)) {} /* all is full: without a reader it gets no further */
    reader = lines[0];
    size_t len = 0;
    read_slowly(&len);
    CHECK_INT(count(heard, "a.b:") + lost_of(heard), MANY);
    CHECK(lost_of(heard) > 0);
    CHECK_INT(waitpid(pid, NULL, 0), pid);
}

TEST(at_the_end_a_reader_that_does_not_read_is_not_waited_for_longer_than_said) {
    listen_to_pipe(DN_LOG_TEXT);
    say_many();
    dn_log_finish(10); /* returns */
    CHECK(count(hear(), "a.b:") > 0);
}

TEST(repeats_are_said_at_the_end_though_their_time_is_not_over) {
    listen_to_pipe(DN_LOG_TEXT);
    say_often(DN_LOG_WARN, "store.full", 50);
    dn_log_finish(0);
    CHECK_INT(count(hear(), " warn  log.repeated: and 30 more of store.full"), 1);
    dn_log_finish(0);
    CHECK_STR(hear(), "");
    /* Who goes on nevertheless has said his 20 of this time. */
    say_often(DN_LOG_INFO, "store.full", 5);
    dn_log_finish(0);
    CHECK_STR(hear(), "08:00:00.123 info  log.repeated: and 5 more of store.full within 10 s "
                      "of=store.full lines=5\n");
}

/* ---- Threads ---- */

enum { THREADS = 3, LINES = 3000 / TEST_SLOW_FACTOR };

static void *say_numbers(void *context) {
    const int me = *(int *)context;

    for (int i = 0; i < LINES; i++) {
        dn_log(DN_LOG_DEBUG, "a.b", "thread %d number %d.", me, i);
        dn_log(DN_LOG_WARN, "store.full", "again");
        if (i % 100 == 0) dn_log_tick();
    }
    return NULL;
}

TEST(lines_of_many_threads_come_whole_and_in_order_and_all_are_accounted_for) {
    pthread_t threads[THREADS], slow;
    int       numbers[THREADS], last[THREADS];
    size_t    len = 0;

    listen_to_pipe(DN_LOG_TEXT);
    dn_log_threshold(DN_LOG_DEBUG);
    CHECK_INT(pthread_create(&slow, NULL, read_slowly, &len), 0);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        last[i] = -1;
        CHECK_INT(pthread_create(&threads[i], NULL, say_numbers, &numbers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) CHECK_INT(pthread_join(threads[i], NULL), 0);
    dn_log_finish(60000);
    dn_log_output(-1);
    CHECK_INT(close(writer), 0);
    CHECK_INT(pthread_join(slow, NULL), 0);

    int numbered = 0, full = 0, repeated = 0;
    for (char *line = strtok(heard, "\n"); line; line = strtok(NULL, "\n")) {
        CHECK_MSG(strncmp(line, "08:00:00.123 ", 13) == 0, "%s", line);
        const char *words = line + 13;
        if (strncmp(words, "debug a.b: thread ", 18) == 0) {
            char      *end;
            const long me = strtol(words + 18, &end, 10);
            CHECK_INT(strncmp(end, " number ", 8), 0);
            const int number = (int)strtol(end + 8, &end, 10);
            CHECK_STR(end, ".");
            CHECK(number > last[me]);
            last[me] = number;
            numbered++;
        } else if (strcmp(words, "warn  store.full: again") == 0) full++;
        else if (strstr(words, "log.repeated"))
            repeated += (int)strtol(strstr(words, "lines=") + 6, NULL, 10);
        else CHECK_MSG(strstr(words, "log.dropped"), "%s", line);
        repeated += lost_of(words);
    }
    CHECK_INT(numbered + full + repeated, 2 * THREADS * LINES);
}
