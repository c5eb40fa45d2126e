/* report_test.c - what a report counts, read back out of the page it writes. */
#include "starving.h"
#include "test.h"

#include "replay/report.h"

#include "base/civil.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START_MS INT64_C(1772323200000) /* 2026-03-01T00:00:00Z */
#define HOUR_MS  (60 * DN_MINUTE_MS)
#define DAY_0    20513

/* ---- A report and its page ---- */

/* Until the process ends: what can be seen from here is no leak. */
static void *hold(void *thing) {
    static const void *held[64];
    static size_t      held_len;

    CHECK(held_len < sizeof held / sizeof held[0]);
    held[held_len++] = thing;
    return thing;
}

static report *a_report(void) {
    report *r = NULL;

    CHECK_INT(report_new(START_MS, &r), DN_OK);
    return hold(r);
}

static void tell(report *r, int64_t at_ms, dn_happening h) {
    if (!h.id) h.id = "ada", h.id_len = 3;
    h.at_ms = START_MS + at_ms;
    if (h.day == 0) h.day = DAY_0;
    report_event(r,
                 &(event){.kind = h.kind, .t_ms = START_MS + at_ms, .steady_ms = at_ms, .h = &h});
}

static void says(report *r, int64_t at_ms, dn_happening_kind kind) {
    tell(r, at_ms, (dn_happening){.kind = kind, .outcome = DN_OUTCOME_OK});
}

static void stops(report *r, int64_t at_ms, dn_outcome outcome, int64_t duration_ms) {
    tell(r, at_ms,
         (dn_happening){
             .kind = DN_HAPPENED_STOPPED, .outcome = outcome, .duration_ms = duration_ms});
}

static void ends(report *r, dn_day day, uint32_t due, dn_daily_status status) {
    tell(r, 0,
         (dn_happening){.kind =
                            status == DN_DAILY_MISSED ? DN_HAPPENED_MISSED : DN_HAPPENED_FINALIZED,
                        .day = day,
                        .due = due,
                        .status = status});
}

static void slo(report *r, int64_t at_ms, const char *name, const char *state) {
    const event_slo said = {name, state, 2, 1};

    report_event(r, &(event){.kind = EVENT_SLO, .steady_ms = at_ms, .slo = &said});
}

static void world(report *r, int64_t at_ms, unsigned kind, int64_t for_ms) {
    report_event(r, &(event){.kind = kind, .steady_ms = at_ms, .for_ms = for_ms});
}

static report_about about_span(int64_t span_ms) {
    return (report_about){
        .trace = "day.ndjson", .version = "0", .seed = UINT64_MAX, .span_ms = span_ms};
}

static char *page_of(report *r, const report_about *about, size_t *out_len) {
    char *page = NULL;
    FILE *f = open_memstream(&page, out_len);

    CHECK(f);
    CHECK_INT(report_write(r, f, about), DN_OK);
    CHECK_INT(fclose(f), 0);
    return hold(page);
}

/* The JSON as a browser would find it: up to the first end of a script. */
static json_t *data_about(report *r, const report_about *about) {
    static const char mark[] = "<script type=\"application/json\" id=\"run\">";
    size_t            len = 0;
    char             *page = page_of(r, about, &len);
    char             *begin = strstr(page, mark);
    json_error_t      error;

    CHECK(begin);
    begin += sizeof mark - 1;
    char *end = strstr(begin, "</script");
    CHECK(end);
    json_t *data = json_loadb(begin, (size_t)(end - begin), JSON_REJECT_DUPLICATES, &error);
    CHECK_MSG(data, "%s at %d: %.80s", error.text, error.position, begin + error.position);
    return hold(data);
}

static json_t *data_of(report *r, int64_t span_ms) {
    const report_about about = about_span(span_ms);

    return data_about(r, &about);
}

static int64_t whole(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);

    CHECK_MSG(json_is_integer(value), "%s is no whole number", key);
    return json_integer_value(value);
}

/* A column of [value, times, …], at i; NAN behind its end. */
static double at(const json_t *object, const char *key, size_t i) {
    const json_t *runs = json_object_get(object, key);

    CHECK_MSG(json_is_array(runs), "there is no %s", key);
    for (size_t run = 0; run < json_array_size(runs); run += 2) {
        const size_t times = (size_t)json_integer_value(json_array_get(runs, run + 1));
        if (i < times) return json_number_value(json_array_get(runs, run));
        i -= times;
    }
    return NAN;
}

static double total(const json_t *object, const char *key) {
    double sum = 0;

    for (size_t i = 0; !isnan(at(object, key, i)); i++) sum += at(object, key, i);
    return sum;
}

static const json_t *strip_of(const json_t *data, dn_day day) {
    const json_t *strips = json_object_get(data, "strips");

    for (size_t i = 1; i < json_array_size(strips); i++) {
        const json_t *strip = json_array_get(strips, i);
        if (whole(strip, "day") == day) return strip;
    }
    return NULL;
}

/* ---- Counting ---- */

TEST(a_day_is_counted_by_how_it_ended_and_at_the_minute_it_was_due) {
    report *r = a_report();

    ends(r, DAY_0, 480, DN_DAILY_SUCCESS);
    ends(r, DAY_0, 480, DN_DAILY_SUCCESS);
    ends(r, DAY_0, 480, DN_DAILY_CUTOFF);
    ends(r, DAY_0, 1439, DN_DAILY_MISSED);
    tell(r, 0, (dn_happening){.kind = DN_HAPPENED_LATE_SUCCESS, .due = 480});
    const json_t *data = data_of(r, DN_DAY_MS), *strip = strip_of(data, DAY_0);

    CHECK_INT(whole(data, "success"), 2);
    CHECK_INT(whole(data, "cutoff_reached"), 1);
    CHECK_INT(whole(data, "missed"), 1);
    CHECK_INT(whole(data, "late_success"), 1);
    CHECK(strip);
    CHECK_INT(at(strip, "success", 480), 2);
    CHECK_INT(at(strip, "cutoff_reached", 480), 1);
    CHECK_INT(at(strip, "late_success", 480), 1);
    CHECK_INT(at(strip, "missed", 1439), 1);
    CHECK_INT(total(strip, "success"), 2);
    CHECK(isnan(at(strip, "success", 1440)));
}

TEST(the_first_who_was_not_served_stands_as_an_example_of_its_minute) {
    report *r = a_report();

    tell(r, 0, (dn_happening){.kind = DN_HAPPENED_FINALIZED, .status = DN_DAILY_SUCCESS, .due = 7});
    tell(r, 0, (dn_happening){.kind = DN_HAPPENED_MISSED, .due = 7, .id = "eve", .id_len = 3});
    ends(r, DAY_0, 7, DN_DAILY_CUTOFF);
    const json_t *examples = json_object_get(data_of(r, DN_DAY_MS), "examples");
    const json_t *example = json_array_get(examples, 0);

    CHECK_UINT(json_array_size(examples), 1);
    CHECK_INT(whole(example, "due"), 7);
    CHECK_STR(json_string_value(json_object_get(example, "id")), "eve");
    CHECK_STR(json_string_value(json_object_get(example, "end")), "missed");
}

TEST(who_waits_and_who_runs_is_known_on_average_and_at_most) {
    report *r = a_report();

    /* Two wait for half of the first 100 ms; one of them runs for the 50 ms behind, and then to the end. */
    says(r, 0, DN_HAPPENED_ENQUEUED);
    says(r, 0, DN_HAPPENED_ENQUEUED);
    says(r, 50, DN_HAPPENED_STARTED);
    says(r, 50, DN_HAPPENED_EXPIRED);
    stops(r, 200, DN_OUTCOME_TIMEOUT, 150);
    const json_t *data = data_of(r, 1000), *time = json_object_get(data, "time");

    CHECK_INT(whole(time, "width_ms"), 100);
    CHECK_INT(whole(time, "len"), 10);
    CHECK_INT(at(time, "depth_max", 0), 2);
    CHECK(at(time, "depth_avg", 0) == 1);
    CHECK(at(time, "in_flight_avg", 0) == 0.5);
    CHECK(at(time, "in_flight_avg", 1) == 1);
    CHECK_INT(at(time, "in_flight_max", 2), 1);
    CHECK(at(time, "in_flight_avg", 2) == 0);
    CHECK_INT(at(time, "timeout", 2), 1);
    CHECK_INT(at(time, "in_flight_max", 3), 0);
    CHECK_INT(whole(data, "peak_depth"), 2);
    CHECK_INT(whole(data, "peak_in_flight"), 1);
}

TEST(what_is_in_the_queue_and_in_the_slots_dies_with_the_process) {
    report *r = a_report();

    says(r, 0, DN_HAPPENED_ENQUEUED);
    says(r, 0, DN_HAPPENED_ENQUEUED);
    says(r, 0, DN_HAPPENED_STARTED);
    world(r, 100, EVENT_CRASH, 0);
    const json_t *time = json_object_get(data_of(r, 300), "time");

    CHECK(at(time, "depth_avg", 0) == 1);
    CHECK(at(time, "in_flight_avg", 0) == 1);
    CHECK(at(time, "depth_avg", 1) == 0);
    CHECK(at(time, "in_flight_avg", 1) == 0);
}

TEST(a_level_that_nobody_changes_is_held_to_the_end_of_the_run) {
    report *r = a_report();

    says(r, 0, DN_HAPPENED_ENQUEUED);
    const json_t *time = json_object_get(data_of(r, 250), "time");

    CHECK_INT(whole(time, "len"), 3);
    CHECK(at(time, "depth_avg", 2) == 1); /* of the 50 ms there were */
}

TEST(a_run_without_anything_has_no_stretch_no_day_and_no_mark) {
    const json_t *data = data_of(a_report(), 0);

    CHECK_INT(whole(json_object_get(data, "time"), "len"), 0);
    CHECK_UINT(json_array_size(json_object_get(json_object_get(data, "days"), "day")), 0);
    CHECK_UINT(json_array_size(json_object_get(data, "marks")), 0);
    CHECK_UINT(json_array_size(json_object_get(data, "strips")),
               1); /* all days, of which there are none */
}

/* ---- Long runs ---- */

/* The same levels, kept in the slowest way: what they were at each event, over each stretch. */
TEST(a_run_of_any_length_keeps_its_sums_and_its_peaks) {
    enum { EVENTS = 3000 };
    static struct {
        int64_t  at_ms;
        uint64_t depth; /* from then on */
    } steps[EVENTS + 1];
    uint64_t random = test_seed();

    for (int64_t longest = 1; longest < 1000000000; longest *= 37) {
        report  *r = a_report();
        uint64_t depth = 0, peak = 0, stopped = 0;
        int64_t  now = 0;
        for (int i = 0; i < EVENTS; i++) {
            const bool more = test_random(&random) % 2 == 0;
            now += (int64_t)(test_random(&random) % (uint64_t)(longest + 1));
            if (more || depth == 0) says(r, now, DN_HAPPENED_ENQUEUED), depth++;
            else says(r, now, DN_HAPPENED_EXPIRED), depth--;
            if (test_random(&random) % 3 == 0) stops(r, now, DN_OUTCOME_OK, 1), stopped++;
            if (depth > peak) peak = depth;
            steps[i].at_ms = now;
            steps[i].depth = depth;
        }
        const int64_t span = now + 77;
        const json_t *data = data_of(r, span), *time = json_object_get(data, "time");
        const int64_t width = whole(time, "width_ms"), len = whole(time, "len");
        CHECK_MSG(len <= 2048, "%lld stretches", (long long)len);
        CHECK_MSG(len == (span + width - 1) / width, "%lld of %lld ms for %lld ms", (long long)len,
                  (long long)width, (long long)span);
        CHECK(width == 100 || len > 2048 / 5 - 2);
        CHECK_INT(total(time, "ok"), stopped);
        CHECK_INT(whole(data, "peak_depth"), peak);
        for (int64_t i = 0, step = 0; i < len; i++) {
            const int64_t begin = i * width, end = begin + width < span ? begin + width : span;
            uint64_t      sum = 0, max = 0;
            for (int64_t e = step; e < EVENTS && steps[e].at_ms < end; e++) {
                const int64_t to = e + 1 < EVENTS ? steps[e + 1].at_ms : span;
                const int64_t from = steps[e].at_ms > begin ? steps[e].at_ms : begin;
                if (to <= begin) {
                    step = e;
                    if (to < begin) continue;
                }
                if (steps[e].depth > max) max = steps[e].depth;
                if (to > from) sum += steps[e].depth * (uint64_t)((to < end ? to : end) - from);
            }
            const double average = (double)sum / (double)(end - begin);
            CHECK_MSG(fabs(at(time, "depth_avg", (size_t)i) - average) <= 1e-5 * average + 1e-9,
                      "stretch %lld of %lld ms: %g, and it was %g", (long long)i, (long long)width,
                      at(time, "depth_avg", (size_t)i), average);
            CHECK_INT(at(time, "depth_max", (size_t)i), max);
        }
    }
}

TEST(of_many_days_the_first_the_last_and_the_worst_are_kept_by_the_minute) {
    enum { DAYS = 400 };
    report  *r = a_report();
    uint64_t random = test_seed();
    int      bad[10];

    for (int i = 0; i < 10; i++) bad[i] = 10 + 38 * i + (int)(test_random(&random) % 30);
    for (int day = 0; day < DAYS; day++) {
        bool is_bad = false;
        for (int i = 0; i < 10; i++) is_bad |= bad[i] == day;
        for (uint32_t due = 0; due < 20; due++)
            ends(r, DAY_0 + day, due, is_bad && due < 9 ? DN_DAILY_CUTOFF : DN_DAILY_SUCCESS);
    }
    const json_t *data = data_of(r, DAYS * DN_DAY_MS);

    CHECK_INT(total(json_object_get(data, "days"), "success"), DAYS * 20 - 90);
    CHECK_INT(json_array_size(json_object_get(data, "strips")), 25);
    for (int i = 0; i < 4; i++) {
        CHECK(strip_of(data, DAY_0 + i));
        CHECK(strip_of(data, DAY_0 + DAYS - 1 - i));
    }
    for (int i = 0; i < 10; i++) {
        const json_t *strip = strip_of(data, DAY_0 + bad[i]);
        CHECK_MSG(strip, "the bad day %d is not kept", bad[i]);
        CHECK_INT(total(strip, "cutoff_reached"), 9);
        CHECK_INT(total(strip, "success"), 11);
    }
}

/* Half of a day would be told for the whole. */
TEST(a_day_that_is_not_kept_any_more_does_not_come_back_in_part) {
    report *r = a_report();

    for (int day = 0; day < 100; day++) ends(r, DAY_0 + day, 0, DN_DAILY_SUCCESS);
    CHECK(!strip_of(data_of(r, DN_DAY_MS), DAY_0 + 10));
    ends(r, DAY_0 + 10, 0, DN_DAILY_MISSED);
    const json_t *data = data_of(r, DN_DAY_MS);

    CHECK(!strip_of(data, DAY_0 + 10));
    CHECK_INT(at(json_object_get(data, "days"), "missed", 10), 1);
    CHECK_INT(at(json_array_get(json_object_get(data, "strips"), 0), "missed", 0), 1);
}

TEST(days_may_come_in_any_order) {
    report *r = a_report();

    for (int i = 0; i < 20; i++) ends(r, DAY_0 + i * 7 % 20, 5, DN_DAILY_SUCCESS);
    ends(r, DAY_0 + 3, 5, DN_DAILY_CUTOFF);
    const json_t *days = json_object_get(data_of(r, DN_DAY_MS), "days");

    for (size_t i = 0; i < 20; i++) {
        CHECK_INT(at(days, "day", i), DAY_0 + (int)i);
        CHECK_INT(at(days, "success", i), 1);
        CHECK_INT(at(days, "cutoff_reached", i), i == 3);
    }
}

TEST(more_days_than_there_is_room_for_are_counted_and_said) {
    report *r = a_report();

    for (int day = 0; day < 5000; day++) {
        ends(r, DAY_0 + day, 60, DN_DAILY_SUCCESS);
        tell(r, 0, (dn_happening){.kind = DN_HAPPENED_STARTED, .day = DAY_0 + day});
    }
    const json_t *data = data_of(r, DN_DAY_MS), *days = json_object_get(data, "days");

    CHECK_INT(whole(data, "success"), 5000);
    CHECK_INT(total(days, "success"), 4096);
    CHECK_INT(whole(days, "left_out"), 2 * (5000 - 4096));
    CHECK_INT(at(json_array_get(json_object_get(data, "strips"), 0), "success", 60), 5000);
}

TEST(an_event_takes_no_memory_and_neither_does_the_page) {
    report *r = a_report();

    starve_nth(1);
    for (int i = 0; i < 50000; i++) {
        const int64_t now = i * HOUR_MS;
        says(r, now, DN_HAPPENED_ENQUEUED);
        says(r, now, DN_HAPPENED_STARTED);
        stops(r, now + 7, DN_OUTCOME_OK, i);
        ends(r, DAY_0 + i / 24, (uint32_t)i % 1440, i % 9 ? DN_DAILY_SUCCESS : DN_DAILY_CUTOFF);
        world(r, now + 8, EVENT_STORE_FAILS, 5);
        slo(r, now + 9, i % 2 ? "a" : "b", i % 3 ? "breached" : "ok");
        report_tick_wall(r, i);
    }
    FILE              *f = fopen("/dev/null", "w");
    const report_about about = about_span(50000 * HOUR_MS);
    CHECK(f);
    CHECK_INT(report_write(r, f, &about), DN_OK);
    CHECK_MSG(!starve_end(), "something was allocated");
    CHECK_INT(fclose(f), 0);
}

/* ---- Marks ---- */

static const json_t *mark_at(const json_t *data, size_t i) {
    return json_array_get(json_object_get(data, "marks"), i);
}

TEST(a_crash_lasts_to_its_restart_and_a_full_disk_as_long_as_it_is_full) {
    report *r = a_report();

    world(r, 1000, EVENT_CRASH, 0);
    world(r, 5000, EVENT_RESTART, 0);
    world(r, 6000, EVENT_STORE_FAILS, 700);
    tell(r, 7000, (dn_happening){.kind = DN_HAPPENED_CLOCK, .step_ms = -3600000});
    world(r, 8000, EVENT_CRASH, 0);
    const json_t *data = data_of(r, 9000);

    CHECK_STR(json_string_value(json_object_get(mark_at(data, 0), "kind")), "crash");
    CHECK_INT(whole(mark_at(data, 0), "from_ms"), 1000);
    CHECK_INT(whole(mark_at(data, 0), "to_ms"), 5000);
    CHECK(json_is_null(json_object_get(mark_at(data, 1), "to_ms"))); /* never back */
    CHECK_STR(json_string_value(json_object_get(mark_at(data, 2), "kind")), "clock");
    CHECK_INT(whole(mark_at(data, 2), "step_ms"), -3600000);
    CHECK_INT(whole(mark_at(data, 3), "to_ms"), 6700);
}

TEST(an_slo_is_breached_until_it_is_well_or_its_watcher_dies) {
    report *r = a_report();

    slo(r, 10, "saturation", "breached");
    slo(r, 15, "saturation", "breached"); /* said again */
    slo(r, 20, "queue_pressure", "ok");   /* it was */
    slo(r, 30, "saturation", "ok");
    slo(r, 40, "saturation", "breached");
    world(r, 50, EVENT_CRASH, 0);
    slo(r, 60, "saturation", "breached");
    const json_t *data = data_of(r, 100), *marks = json_object_get(data, "marks");

    CHECK_UINT(json_array_size(marks), 4);
    CHECK_INT(whole(mark_at(data, 1), "from_ms"), 10);
    CHECK_INT(whole(mark_at(data, 1), "to_ms"), 30);
    CHECK_STR(json_string_value(json_object_get(mark_at(data, 1), "name")), "saturation");
    CHECK_INT(whole(mark_at(data, 2), "to_ms"), 50);
    CHECK_INT(whole(mark_at(data, 3), "from_ms"), 60);
    CHECK(json_is_null(json_object_get(mark_at(data, 3), "to_ms")));
}

TEST(of_too_many_marks_the_first_are_kept_and_all_are_counted) {
    report *r = a_report();

    for (int i = 0; i < 1000; i++) {
        world(r, 10 * i, EVENT_CRASH, 0);
        world(r, 10 * i + 5, EVENT_RESTART, 0);
        slo(r, 10 * i + 6, "saturation", "breached");
        slo(r, 10 * i + 7, "saturation", "ok");
    }
    const json_t *data = data_of(r, 10000), *count = json_object_get(data, "marks_count");

    CHECK_INT(whole(count, "crash"), 1000);
    CHECK_INT(whole(count, "slo"), 1000);
    CHECK_UINT(json_array_size(json_object_get(data, "marks")), 512);
    CHECK_INT(whole(mark_at(data, 255), "to_ms"), 2555);
}

/* ---- Durations ---- */

TEST(durations_are_counted_by_outcome_and_no_quantile_is_longer_than_the_longest) {
    report *r = a_report();

    for (int i = 1; i <= 100; i++) {
        says(r, 0, DN_HAPPENED_STARTED);
        stops(r, 0, i <= 90 ? DN_OUTCOME_OK : DN_OUTCOME_TIMEOUT, i <= 90 ? i : 60000);
    }
    const json_t *latency = json_object_get(data_of(r, 1000), "latency");

    CHECK_UINT(json_array_size(json_object_get(latency, "ok")), 90);
    CHECK_UINT(json_array_size(json_object_get(latency, "error")), 0);
    CHECK_UINT(json_array_size(json_object_get(latency, "timeout")), 1);
    CHECK_INT(whole(latency, "p50"), 50);
    CHECK(json_number_value(json_object_get(latency, "p99")) <= 60000);
    CHECK_INT(whole(latency, "max"), 60000);
}

TEST(a_tick_of_no_time_and_one_of_a_clock_that_went_back_are_ticks) {
    report *r = a_report();

    report_tick_wall(r, 0);
    report_tick_wall(r, -1);
    report_tick_wall(r, NAN);
    report_tick_wall(r, 2.5);
    report_tick_wall(r, INFINITY);
    const json_t *ticks = json_object_get(data_of(r, 1000), "tick_wall");
    const json_t *all = json_object_get(ticks, "all");

    CHECK_INT(json_integer_value(json_array_get(json_array_get(all, 0), 2)), 3);
    CHECK_UINT(json_array_size(all), 3);
}

/* ---- Texts ---- */

static size_t count_of(const char *page, const char *what) {
    size_t count = 0;

    for (const char *found = page; (found = strstr(found, what)); found += strlen(what)) count++;
    return count;
}

TEST(no_text_gets_out_of_its_place) {
    static const char *const texts[] = {
        "</script><script>alert(1)</script>",
        "<!--<script>",
        "-->&lt;]]>",
        "\"},{\"\\",
        "\x01\n\t\x7f",
        "\xff\xfe ab\xc3",
        "\xe2\x80\xa8 \xe2\x80\xae abc",
    };
    size_t             plain_len = 0, len = 0;
    const report_about none = about_span(1000);
    const char        *plain = page_of(a_report(), &none, &plain_len);

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        report              *r = a_report();
        const report_setting setting = {texts[i], texts[i]};
        report_about         about = about_span(1000);
        const char *const    violations[] = {texts[i]};
        about.trace = about.version = texts[i];
        about.settings = &setting;
        about.settings_len = 1;
        about.violations = violations;
        about.violations_len = about.violations_count = 1;
        slo(r, 0, texts[i], "breached");
        tell(r, 0,
             (dn_happening){.kind = DN_HAPPENED_MISSED,
                            .due = 1,
                            .id = texts[i],
                            .id_len = (uint8_t)strlen(texts[i])});
        const char *page = page_of(r, &about, &len);
        CHECK_UINT(count_of(page, "<script"), count_of(plain, "<script"));
        CHECK_UINT(count_of(page, "</script"), count_of(plain, "</script"));
        CHECK_UINT(count_of(page, "<!--"), count_of(plain, "<!--"));
        const json_t *data = data_about(r, &about);
        const char   *trace = json_string_value(json_object_get(data, "trace"));
        if (i != 5) CHECK_STR(trace, texts[i]);
        else CHECK_STR(trace, "\xef\xbf\xbd\xef\xbf\xbd ab\xef\xbf\xbd");
        CHECK_STR(json_string_value(
                      json_object_get(json_array_get(json_object_get(data, "examples"), 0), "id")),
                  trace);
    }
}

TEST(a_seed_of_64_bits_is_a_text) {
    const json_t *data = data_of(a_report(), 0);

    CHECK_STR(json_string_value(json_object_get(data, "seed")), "18446744073709551615");
}

/* ---- The page ---- */

static char *page_of_some_run(uint64_t random, size_t *out_len) {
    report            *r = a_report();
    const report_about about = about_span(DN_DAY_MS);

    for (int64_t now = 0; now < DN_DAY_MS; now += (int64_t)(test_random(&random) % 9000)) {
        const uint64_t what = test_random(&random);
        if (what % 50 == 0) world(r, now, EVENT_CRASH, 0), world(r, now, EVENT_RESTART, 0);
        says(r, now, DN_HAPPENED_ENQUEUED);
        says(r, now, DN_HAPPENED_STARTED);
        stops(r, now, what % 7 ? DN_OUTCOME_OK : DN_OUTCOME_ERROR, (int64_t)(what % 100000));
        ends(r, DAY_0, (uint32_t)(what % 1440), what % 9 ? DN_DAILY_SUCCESS : DN_DAILY_CUTOFF);
    }
    return page_of(r, &about, out_len);
}

TEST(the_same_events_give_the_same_bytes) {
    size_t len = 0, again_len = 0;
    char  *page = page_of_some_run(test_seed(), &len);
    char  *again = page_of_some_run(test_seed(), &again_len);

    CHECK_UINT(len, again_len);
    CHECK(memcmp(page, again, len) == 0);
}

TEST(a_report_may_be_written_twice) {
    report            *r = a_report();
    const report_about about = about_span(1000);
    size_t             len = 0, again_len = 0;

    says(r, 10, DN_HAPPENED_ENQUEUED);
    const char *page = page_of(r, &about, &len), *again = page_of(r, &about, &again_len);
    CHECK_STR(again, page);
    CHECK_PTR(report_free(r), NULL);
}

TEST(the_page_is_whole_and_names_nothing_of_a_network) {
    size_t             len = 0;
    const report_about about = about_span(1000);
    const char        *page = page_of(a_report(), &about, &len);

    CHECK(strncmp(page, "<!doctype html>", 15) == 0);
    CHECK_STR(page + len - 8, "</html>\n");
    CHECK_UINT(count_of(page, "{{"), 0);
    CHECK_UINT(count_of(page, "https:"), 0);
    CHECK_UINT(count_of(page, "http:"), count_of(page, "http://www.w3.org/2000/svg"));
    CHECK(strstr(page, "default-src 'none'"));
}

TEST(a_full_disk_is_said) {
    const report_about about = about_span(1000);
    FILE              *full = fopen("/dev/full", "w");
    static char        room[1 << 20];

    CHECK(full);
    CHECK_INT(setvbuf(full, room, _IOFBF, sizeof room),
              0); /* so that it is known at the very end */
    CHECK_INT(report_write(a_report(), full, &about), DN_EIO);
    (void)fclose(full);
}

TEST(no_memory_is_said) {
    report *r = NULL;

    starve_nth(1);
    CHECK_INT(report_new(START_MS, &r), DN_ENOMEM);
    CHECK(starve_end());
    CHECK_PTR(r, NULL);
    report_freep(&r);
    CHECK_PTR(r, NULL);
}
