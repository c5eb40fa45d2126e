/* compare_test.c - two runs in, what differs out: by hand where it can be counted, and beside a slow restatement. */
#include "run.h"

#include "compare.h"
#include "compare_own.h"
#include "starving.h"

#include <inttypes.h>

#define AT(at) "2026-03-02T" at "Z"

/* Runs the trace into the directory of that name beside it, and leaves run.out there. */
static void runs_into(const char *name, const char *set) {
    (void)snprintf(run.out, sizeof run.out, "%s/%s", run.dir, name);
    CHECK_MSG(run_with(0, &set, set != NULL) == DN_OK, "%s", run.why);
}

static const char *dir_of(const char *name) {
    static char paths[2][96];
    static int  which;
    char       *path = paths[which ^= 1];

    (void)snprintf(path, sizeof paths[0], "%s/%s", run.dir, name);
    return path;
}

static compare *compared;

static void compares(const char *other, const char *own) {
    char why[COMPARE_WHY];

    compare_free(compared);
    compared = NULL;
    CHECK_MSG(compare_open(dir_of(other), dir_of(own), &compared, why) == DN_OK, "%s", why);
    CHECK_MSG(compare_read(compared, why) == DN_OK, "%s", why);
}

/* A number in the JSON of the comparison, by its path: "this.success". */
static int64_t number(const char *path) {
    json_t       *root = compare_json(compared);
    const json_t *at = root;
    char          copy[96], *rest = copy;

    (void)snprintf(copy, sizeof copy, "%s", path);
    for (char *key; (key = strsep(&rest, "."));) at = json_object_get(at, key);
    CHECK_MSG(json_is_integer(at), "no number at %s", path);
    const int64_t value = json_integer_value(at);
    json_decref(root);
    return value;
}

static bool says(const char *words) {
    char  *text = NULL;
    size_t len = 0;
    FILE  *f = open_memstream(&text, &len);

    compare_print(compared, f);
    CHECK(fclose(f) == 0);
    const bool found = strstr(text, words);
    if (!found) printf("%s", text);
    free(text);
    return found;
}

static void is_over(void) {
    compare_free(compared);
    compared = NULL;
}

/* Three users at eight, each job takes 25 minutes: with one slot the last is done at 08:15, too late. */
static void herd_of_three(void) {
    trace_is("{\"trace\":1,\"start\":\"" AT("06:30:00") "\",\"end\":\"" AT(
        "09:00:00") "\",\"max_concurrency\":1,\"job_timeout_ms\":1800000,"
                    "\"default\":{\"result\":\"ok\",\"duration_ms\":1500000}}\n"
                    "{\"at\":\"" AT("06:30:00") "\",\"op\":\"users\",\"count\":3,\"prefix\":\"u\","
                                                "\"due\":\"08:00\"}\n");
}

TEST(more_slots_are_seen_in_outcomes_days_waits_and_users) {
    herd_of_three();
    runs_into("narrow", NULL);
    runs_into("wide", "max_concurrency=3");
    compares("narrow", "wide");
    CHECK_INT(number("other.success"), 2);
    CHECK_INT(number("this.success"), 3);
    CHECK_INT(number("other.cutoff_reached"), 1);
    CHECK_INT(number("this.cutoff_reached"), 0);
    CHECK_INT(number("other.late_success"), 1);
    CHECK_INT(number("other.peak_in_flight"), 1);
    CHECK_INT(number("this.peak_in_flight"), 3);
    CHECK_INT(number("other.wait_ms.p50"), 1500000);
    CHECK_INT(number("other.wait_ms.max"), 3000000);
    CHECK_INT(number("this.wait_ms.max"), 0);
    CHECK_INT(number("other.job_ms.p95"), 1500000);
    CHECK_INT(number("this.job_ms.p50"), 1500000);
    CHECK_INT(number("days.2026-03-02.other.success"), 2);
    CHECK_INT(number("days.2026-03-02.this.success"), 3);
    CHECK_INT(number("changed.user_days"), 1);
    CHECK_INT(number("users_otherwise"), 1);
    CHECK(says("1 user-day came out otherwise:\n           1  cutoff_reached → success\n"));
    CHECK(says("these:\n  2026-03-02  u"));
    CHECK(says("  2026-03-02  successes 2 → 3  cutoffs 1 → 0  late successes 1 → 0\n"));
    is_over();
}

TEST(a_run_differs_from_one_like_it_in_nothing) {
    herd_of_three();
    runs_into("one", NULL);
    runs_into("two", NULL);
    compares("one", "two");
    CHECK_INT(number("changed.user_days"), 0);
    CHECK_INT(number("users_otherwise"), 0);
    CHECK(says("no day has other totals\nevery user-day came out the same\n"));
    is_over();
}

/* In the queue from 07:00 on; the slot is free at 07:25 by the steady line, when the clock says 08:25 of a day that
 * began an hour sooner. */
TEST(a_wait_is_as_long_as_it_was_whatever_the_clock_was_set_to) {
    trace_is("{\"trace\":1,\"start\":\"" AT("06:30:00") "\",\"end\":\"" AT(
        "09:00:00") "\",\"max_concurrency\":1,\"window_minutes\":300,\"job_timeout_ms\":1800000,"
                    "\"default\":{\"result\":\"ok\",\"duration_ms\":1500000}}\n"
                    "{\"at\":\"" AT("06:30:00") "\",\"op\":\"users\",\"count\":2,\"prefix\":\"u\","
                                                "\"due\":\"11:00\"}\n"
                                                "{\"at\":\"" AT(
                                                    "06:40:00") "\",\"op\":\"clock\",\"step_ms\":"
                                                                "3600000}\n");
    runs_into("one", NULL);
    runs_into("two", NULL);
    CHECK_INT(LINES("\"ev\":\"clock\""), 1);
    compares("one", "two");
    CHECK_INT(number("this.wait_ms.max"), 1500000);
    is_over();
}

/* Down for three days: its user-days are told when it is back, long after the other run has told them. */
TEST(a_user_day_is_one_pair_however_far_apart_it_is_told) {
    static const char days[] = HEADER("2026-03-02T00:00:00Z", "2026-03-07T00:00:00Z", "")
        USER("2026-03-02T00:00:00Z", "ada", "08:00");

    trace_is("%s", days);
    runs_into("up", NULL);
    trace_is("%s{\"at\":\"2026-03-02T12:00:00Z\",\"op\":\"crash\",\"down_ms\":259200000}\n", days);
    runs_into("down", NULL);
    compares("up", "down");
    CHECK_INT(number("other.success"), 5);
    CHECK_INT(number("changed.user_days"), number("this.missed") + number("this.cutoff_reached"));
    CHECK_INT(number("this.missed"), 2);
    CHECK(says("           2  success → missed\n"));
    CHECK(says("  2026-03-03  ada: success → missed\n"));
    is_over();
}

TEST(who_and_what_only_one_run_has_is_said) {
    trace_is(HEADER(AT("06:59:30"), AT("09:00:00"), "") USER(AT("06:59:30"), "ada", "08:00"));
    runs_into("few", NULL);
    trace_is(HEADER(AT("06:59:30"), AT("09:00:00"), "") USER(AT("06:59:30"), "ada", "08:00")
                 USER(AT("06:59:30"), "bob", "08:00"));
    runs_into("more", NULL);
    compares("few", "more");
    CHECK_INT(number("users_only_this"), 1);
    CHECK_INT(number("users_only_other"), 0);
    CHECK(says("  2026-03-02  bob: nothing → success\n"));
    compares("more", "few");
    CHECK(says("  2026-03-02  bob: success → nothing\n"));
    CHECK(says("users only the other has in the end: 1; only this: 0\n"));
    is_over();
}

TEST(ids_with_quotes_and_backslashes_are_ids_like_others) {
    trace_is(HEADER(AT("06:59:30"), AT("09:00:00"), "") USER(AT("06:59:30"), "a\\\\b", "08:00")
                 USER(AT("06:59:30"), "a\\\"b", "08:00") USER(AT("06:59:30"), "aZb", "08:00")
                     USER(AT("06:59:30"), "a!b", "08:00"));
    runs_into("one", NULL);
    runs_into("two", "window_minutes=1");
    compares("one", "two");
    CHECK_INT(number("users_only_this"), 0);
    CHECK_INT(number("users_only_other"), 0);
    CHECK_INT(number("changed.user_days"), 0);
    trace_is(HEADER(AT("06:59:30"), AT("09:00:00"), "") USER(AT("06:59:30"), "aZb", "08:00"));
    runs_into("two", NULL);
    compares("one", "two");
    CHECK_INT(number("users_only_other"), 3);
    json_t *root = compare_json(compared);
    CHECK_STR(
        json_string_value(json_object_get(
            json_array_get(json_object_get(json_object_get(root, "changed"), "first"), 1), "user")),
        "a\"b");
    json_decref(root);
    is_over();
}

/* ---- Pairs ---- */

static int tell(compare_pairs *p, int side, dn_day day, const char *id, compare_outcome outcome) {
    const compare_day_end end = {day, id, strlen(id), outcome};

    return compare_pairs_tell(p, side, &end);
}

TEST(the_first_twenty_are_named_by_day_and_then_by_id_in_whatever_order_they_are_told) {
    compare_pairs *p = compare_pairs_new(1000);
    uint64_t       state = test_seed();
    int            order[60];
    char           id[8];

    for (int i = 0; i < 60; i++) order[i] = i;
    for (int i = 59; i > 0; i--) {
        const int j = (int)(test_random(&state) % (unsigned)(i + 1)), had = order[i];
        order[i] = order[j];
        order[j] = had;
    }
    for (int i = 0; i < 60; i++) {
        (void)snprintf(id, sizeof id, "u%02d", order[i] % 15);
        CHECK(tell(p, 0, order[i] / 15, id, COMPARE_CUTOFF) == DN_OK);
        CHECK(tell(p, 1, order[i] / 15, id, COMPARE_SUCCESS) == DN_OK);
    }
    const compare_changes *c = compare_pairs_judge(p);
    CHECK_INT(c->all, 60);
    CHECK_INT(c->from_to[COMPARE_CUTOFF][COMPARE_SUCCESS], 60);
    CHECK_INT(c->named_len, COMPARE_NAMED);
    for (int i = 0; i < COMPARE_NAMED; i++) {
        (void)snprintf(id, sizeof id, "u%02d", i % 15);
        CHECK_INT(c->named[i].day, i / 15);
        CHECK(c->named[i].id_len == 3 && memcmp(c->named[i].id, id, 3) == 0);
    }
    compare_pairs_free(p);
}

TEST(a_missed_day_that_a_clock_brings_back_is_what_it_became) {
    compare_pairs *p = compare_pairs_new(1000);

    CHECK(tell(p, 0, 1, "ada", COMPARE_MISSED) == DN_OK);
    CHECK(tell(p, 1, 1, "ada", COMPARE_MISSED) == DN_OK);
    CHECK(tell(p, 1, 1, "ada", COMPARE_SUCCESS) == DN_OK);
    CHECK_INT(compare_pairs_judge(p)->from_to[COMPARE_MISSED][COMPARE_SUCCESS], 1);
    CHECK_INT(compare_pairs_judge(p)->all, 1);
    compare_pairs_free(p);
}

/* Of a run that says nothing, only so much is kept of the other; nothing is left uncounted. */
TEST(no_more_wait_for_their_pair_than_there_is_room_for) {
    compare_pairs *p = compare_pairs_new(10);
    char           id[8];

    for (int i = 0; i < 1000; i++) {
        (void)snprintf(id, sizeof id, "u%d", i);
        CHECK(tell(p, 0, 1, id, COMPARE_SUCCESS) == DN_OK);
    }
    /* Whoever still waits finds its pair, and whoever had to go does not. */
    CHECK(tell(p, 1, 1, "u999", COMPARE_SUCCESS) == DN_OK);
    CHECK(tell(p, 1, 1, "u0", COMPARE_SUCCESS) == DN_OK);
    const compare_changes *c = compare_pairs_judge(p);
    CHECK_INT(c->from_to[COMPARE_SUCCESS][COMPARE_NOTHING], 999);
    CHECK_INT(c->from_to[COMPARE_NOTHING][COMPARE_SUCCESS], 1);
    compare_pairs_free(p);
}

/* ---- Beside a slow restatement ---- */

enum { MODEL_USERS = 12, MODEL_DAYS = 8 };

/* The last outcome that the log has for each. */
static void model_read(uint8_t out[MODEL_DAYS][MODEL_USERS]) {
    memset(out, 0, (size_t)MODEL_DAYS * MODEL_USERS);
    for (const char *line = run.events; *line; line = strchr(line, '\n') + 1) {
        char     ev[16], status[2] = "";
        unsigned user, day;
        /* NOLINTNEXTLINE(cert-err34-c): of the run's own writing */
        if (sscanf(line,
                   "{\"t\":\"%*24s\",\"ev\":\"%15[a-z_]\",\"user\":\"u%u\",\"day\":\"2026-03-%u\","
                   "\"status\":\"%1s",
                   ev, &user, &day, status) < 3)
            continue;
        CHECK(user < MODEL_USERS && day < MODEL_DAYS);
        if (strcmp(ev, "missed") == 0) out[day][user] = COMPARE_MISSED;
        if (strcmp(ev, "finalize") == 0)
            out[day][user] = *status == 's' ? COMPARE_SUCCESS : COMPARE_CUTOFF;
    }
}

static void model_trace(uint64_t *state) {
    char   text[8192];
    size_t len = (size_t)snprintf(
        text, sizeof text,
        HEADER("2026-03-01T00:00:00Z", "2026-03-06T12:00:00Z",
               ",\"job_timeout_ms\":3600000,\"max_concurrency\":%u") "{\"at\":\"2026-03-01T00:00:"
                                                                     "00Z\",\"op\":\"users\","
                                                                     "\"count\":%u,\"prefix\":"
                                                                     "\"u\",\"due\":"
                                                                     "\"%02u:%02u\"}\n",
        (unsigned)(1 + test_random(state) % 3), (unsigned)MODEL_USERS,
        (unsigned)(test_random(state) % 24), (unsigned)(test_random(state) % 60));

    for (unsigned i = 0; i < 20; i++)
        len += (size_t)snprintf(
            text + len, sizeof text - len,
            "{\"op\":\"outcome\",\"id\":\"u%u\",\"day\":\"2026-03-%02u\",\"result\":\"%s\","
            "\"duration_ms\":%u}\n",
            (unsigned)(test_random(state) % MODEL_USERS), (unsigned)(1 + test_random(state) % 6),
            test_random(state) % 2 ? "error" : "ok", (unsigned)(test_random(state) % 1800000));
    if (test_random(state) % 2)
        (void)snprintf(text + len, sizeof text - len,
                       "{\"at\":\"2026-03-0%uT%02u:00:00Z\",\"op\":\"crash\",\"down_ms\":%u}\n",
                       (unsigned)(1 + test_random(state) % 4), (unsigned)(test_random(state) % 24),
                       (unsigned)(test_random(state) % 200000000));
    trace_is("%s", text);
}

TEST(what_came_out_otherwise_in_runs_drawn_at_random_is_what_a_slow_count_finds) {
    uint8_t  outcomes[2][MODEL_DAYS][MODEL_USERS];
    uint64_t state = test_seed(), differed = 0;

    for (int round = 0; round < (TEST_SLOW_FACTOR > 1 ? 2 : 12); round++) {
        uint64_t want[COMPARE_OUTCOMES][COMPARE_OUTCOMES] = {{0}};
        model_trace(&state);
        runs_into("one", NULL);
        model_read(outcomes[0]);
        model_trace(&state);
        runs_into("two", NULL);
        model_read(outcomes[1]);
        compares("one", "two");
        for (int day = 0; day < MODEL_DAYS; day++)
            for (int user = 0; user < MODEL_USERS; user++)
                want[outcomes[0][day][user]][outcomes[1][day][user]]++;
        for (int from = 0; from < COMPARE_OUTCOMES; from++)
            for (int to = 0; to < COMPARE_OUTCOMES; to++)
                if (from != to) {
                    CHECK_INT(compared->changes->from_to[from][to], want[from][to]);
                    differed += want[from][to];
                }
    }
    CHECK(differed > 0);
    is_over();
}

/* ---- What is none ---- */

static void file_is(const char *dir, const char *name, const char *text) {
    char path[200];

    (void)snprintf(path, sizeof path, "%s/%s", dir_of(dir), name);
    FILE *f = fopen(path, "w");
    CHECK(f != NULL);
    CHECK(fputs(text, f) >= 0 && fclose(f) == 0);
}

static void is_refused(const char *words) {
    char why[COMPARE_WHY];

    CHECK_INT(compare_open(dir_of("one"), dir_of("two"), &compared, why), DN_EINVAL);
    CHECK_MSG(strstr(why, words) && !strchr(why, '\n'), "said: %s", why);
}

TEST(what_is_no_run_is_refused_before_anything_runs) {
    static const char *const no_events[] = {
        "no log\n",
        "{}\n",
        "\n",
        "{\"t\":\"2026-03-02T07:00:00.000Z\",\"ev\":\"tick\"",
        "{\"t\":\"2026-13-02T07:00:00.000Z\",\"ev\":\"tick\"}\n",
        "{\"t\":\"2026-03-02T07:00:00.000Z\",\"ev\":\"enqueue\"}\n",
        "{\"t\":\"2026-03-02T07:00:00.000Z\",\"ev\":\"enqueue\",\"user\":\"a\",\"day\":\"2026\"}\n",
        "{\"t\":\"2026-03-02T07:00:00.000Z\",\"ev\":\"clock\",\"step_ms\":\"x\"}\n",
        ("{\"t\":\"2026-03-02T07:00:00.000Z\",\"ev\":\"stop\",\"user\":\"a\",\"day\":\"2026-03-"
         "02\","
         "\"duration_ms\":-1}\n"),
        ("{\"t\":\"2026-03-02T07:00:00.000Z\",\"ev\":\"finalize\",\"user\":\"a\",\"day\":\"2026-03-"
         "02\",\"status\":\"fine\"}\n"),
    };
    static const char *const no_summary[] = {"", "{}", "[]", "{\"days\":{\"x\":{}}"};
    char                     path[128];

    herd_of_three();
    is_refused("/one/summary.json: No such file or directory; to compare with is the directory");
    runs_into("one", NULL);
    for (size_t i = 0; i < sizeof no_events / sizeof *no_events; i++) {
        file_is("one", "events.ndjson", no_events[i]);
        is_refused("/one/events.ndjson:1: ");
    }
    runs_into("one", NULL);
    for (size_t i = 0; i < sizeof no_summary / sizeof *no_summary; i++) {
        file_is("one", "summary.json", no_summary[i]);
        is_refused("/one/summary.json is not the summary of a run");
    }
    runs_into("one", NULL);
    (void)snprintf(path, sizeof path, "%s/users.ndjson", dir_of("one"));
    CHECK(unlink(path) == 0);
    is_refused("/one/users.ndjson: No such file");
}

TEST(a_run_is_not_compared_with_the_files_it_writes_over) {
    char why[COMPARE_WHY];

    herd_of_three();
    runs_into("one", NULL);
    CHECK_INT(compare_open(dir_of("one"), dir_of("./one/."), &compared, why), DN_EINVAL);
    CHECK(strstr(why, "is where this run writes"));
}

TEST(what_breaks_off_behind_its_beginning_is_said_with_its_line) {
    char why[COMPARE_WHY];

    herd_of_three();
    runs_into("two", NULL);
    runs_into("one", NULL);
    file_is("one", "users.ndjson", "{\"id\":\"u0\"}\n");
    CHECK(compare_open(dir_of("one"), dir_of("two"), &compared, why) == DN_OK);
    CHECK_INT(compare_read(compared, why), DN_EINVAL);
    CHECK_MSG(strstr(why, "/one/users.ndjson:1: no user"), "said: %s", why);
    is_over();
    runs_into("one", NULL);
    run.events[strlen(run.events) - 1] = '\0';
    file_is("one", "events.ndjson", run.events);
    CHECK(compare_open(dir_of("one"), dir_of("two"), &compared, why) == DN_OK);
    CHECK_INT(compare_read(compared, why), DN_EINVAL);
    CHECK_MSG(strstr(why, "the file ends within this line"), "said: %s", why);
    is_over();
}

TEST(memory_that_runs_out_is_said_and_nothing_is_kept) {
    char why[COMPARE_WHY];
    bool failed = true;

    herd_of_three();
    runs_into("two", NULL);
    runs_into("one", "max_concurrency=3");
    for (uint64_t n = 1; failed; n++) {
        starve_nth(n);
        int rc = compare_open(dir_of("one"), dir_of("two"), &compared, why);
        if (rc == DN_OK) rc = compare_read(compared, why);
        failed = starve_end();
        CHECK_INT(rc, failed ? DN_ENOMEM : DN_OK);
        if (failed) CHECK_MSG(strstr(why, "out of memory"), "said: %s", why);
        is_over();
        CHECK(n < 1000);
    }
}

TEST(lines_come_whole_wherever_the_buffer_ends) {
    enum { LINES_LEN = 40000 };
    static const char pad[] =
        "ninety bytes at most, of which each line has another share, so that they end anywhere";
    char           path[96], why[COMPARE_WHY], want[128];
    compare_lines *l = NULL;
    const char    *text;
    size_t         len;

    herd_of_three();
    (void)snprintf(path, sizeof path, "%s/long", run.dir);
    FILE *f = fopen(path, "w");
    CHECK(f != NULL);
    for (int i = 0; i < LINES_LEN; i++) fprintf(f, "%d %.*s\n", i, i % (int)sizeof pad, pad);
    CHECK(fclose(f) == 0);
    CHECK(compare_lines_open(run.dir, "long", &l, why) == DN_OK);
    for (int i = 0; i < LINES_LEN; i++) {
        (void)snprintf(want, sizeof want, "%d %.*s", i, i % (int)sizeof pad, pad);
        CHECK_MSG(compare_lines_next(l, &text, &len, why) == DN_OK, "%s", why);
        CHECK(len == strlen(want) && memcmp(text, want, len) == 0);
    }
    CHECK_INT(compare_lines_next(l, &text, &len, why), DN_STOP);
    compare_lines_free(l);
}
