/* metric_set_test.c - what is counted of each event, and what a page shows of what it is told. */
#include "admin/metric_set.h"

#include "daily/daily_events.h"
#include "engine/engine_events.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *text;

static void starts(void) {
    const char *what = "";

    CHECK_MSG(metric_set_start("1.0", "abc", &what) == DN_OK, "%s", what);
}

/* As it is now. */
static void reads_page(void) {
    size_t len;

    free(text);
    CHECK_INT(dn_metrics_text(DN_METRICS_TEXT, &text, &len), DN_OK);
}

static const char *value_at(const char *series) {
    const size_t len = strlen(series);
    const char  *at = text;

    while (at && (strncmp(at, series, len) != 0 || at[len] != ' '))
        at = (at = strchr(at, '\n')) ? at + 1 : NULL;
    return at ? at + len + 1 : NULL;
}

static double value_of(const char *series) {
    const char *at = value_at(series);

    CHECK_MSG(at, "there is no %s in: %s", series, text);
    return strtod(at, NULL);
}

#define CHECK_VALUE(series, expected)                                                              \
    CHECK_MSG(fabs(value_of(series) - (expected)) < 1e-9, "%s is %g", series, value_of(series))

/* ---- Events ---- */

TEST(of_a_tick_its_seconds_are_observed_and_whom_it_looked_at_is_shown) {
    starts();
    DN_EMIT(dn_tick_stop, .duration_ms = 9, .users_scanned = 90, .eligible_in_window = 80,
            .enqueued = 70, .cutoff_finalized = 60);
    DN_EMIT(dn_tick_stop, .duration_ms = 2, .users_scanned = 9, .eligible_in_window = 8,
            .enqueued = 7, .cutoff_finalized = 6);
    reads_page();
    CHECK_VALUE("diurnal_tick_duration_seconds_count", 2);
    CHECK_VALUE("diurnal_tick_duration_seconds_sum", 0.011);
    CHECK_VALUE("diurnal_tick_duration_seconds_bucket{le=\"0.001\"}", 0);
    CHECK_VALUE("diurnal_tick_duration_seconds_bucket{le=\"0.0025\"}", 1);
    CHECK_VALUE("diurnal_tick_duration_seconds_bucket{le=\"0.01\"}", 2);
    CHECK_VALUE("diurnal_tick_users_scanned", 9);
    CHECK_VALUE("diurnal_tick_users_eligible", 8);
    CHECK_VALUE("diurnal_tick_users_enqueued", 7);
}

TEST(who_waits_and_who_runs_is_shown_as_it_was_last) {
    starts();
    DN_EMIT(dn_queue_depth, .depth = 5, .today = "2026-11-18");
    DN_EMIT(dn_queue_depth, .depth = 4, .today = "2026-11-18");
    DN_EMIT(dn_in_flight, .in_flight = 3, .max_concurrency = 64);
    DN_EMIT(dn_in_flight, .in_flight = 2, .max_concurrency = 65);
    reads_page();
    CHECK_VALUE("diurnal_queue_depth", 4);
    CHECK_VALUE("diurnal_executor_in_flight", 2);
    CHECK_VALUE("diurnal_executor_max_concurrency", 65);
}

static const struct {
    const char *result, *error_class, *series;
} jobs[] = {
    {"ok", NULL, "diurnal_jobs_total{result=\"ok\",error_class=\"\"}"},
    {"timeout", NULL, "diurnal_jobs_total{result=\"timeout\",error_class=\"\"}"},
    {"error", "req", "diurnal_jobs_total{result=\"error\",error_class=\"req\"}"},
    {"error", "llm", "diurnal_jobs_total{result=\"error\",error_class=\"llm\"}"},
    {"error", "parse", "diurnal_jobs_total{result=\"error\",error_class=\"parse\"}"},
    {"error", "unknown", "diurnal_jobs_total{result=\"error\",error_class=\"unknown\"}"},
};

/* The first once, the second twice, and so on. */
TEST(jobs_are_counted_by_result_and_class_and_take_the_seconds_of_their_result) {
    const int len = (int)(sizeof jobs / sizeof *jobs);

    starts();
    for (int i = 0; i < len; i++)
        for (int times = 0; times <= i; times++)
            DN_EMIT(dn_job_stop, .duration_ms = 1000 * (i + 1), .result = jobs[i].result,
                    .error_class = jobs[i].error_class);
    reads_page();
    for (int i = 0; i < len; i++) CHECK_VALUE(jobs[i].series, i + 1);
    CHECK_VALUE("diurnal_job_duration_seconds_count{result=\"ok\"}", 1);
    CHECK_VALUE("diurnal_job_duration_seconds_sum{result=\"ok\"}", 1);
    CHECK_VALUE("diurnal_job_duration_seconds_count{result=\"timeout\"}", 2);
    CHECK_VALUE("diurnal_job_duration_seconds_sum{result=\"timeout\"}", 4);
    CHECK_VALUE("diurnal_job_duration_seconds_count{result=\"error\"}", 3 + 4 + 5 + 6);
    CHECK_VALUE("diurnal_job_duration_seconds_sum{result=\"error\"}", 9 + 16 + 25 + 36);
}

TEST(days_are_counted_by_how_they_ended) {
    starts();
    for (int i = 0; i < 3; i++)
        DN_EMIT(dn_finalize, .status = "success", .due_bucket = 450, .today = "2026-11-18");
    for (int i = 0; i < 2; i++)
        DN_EMIT(dn_finalize, .status = "cutoff_reached", .due_bucket = 450, .today = "2026-11-18");
    DN_EMIT(dn_late_success, .due_bucket = 450, .today = "2026-11-18");
    DN_EMIT(dn_days_missed, .days = 5, .due_bucket = 450);
    DN_EMIT(dn_days_missed, .days = 6, .due_bucket = 450);
    reads_page();
    CHECK_VALUE("diurnal_finalizations_total{status=\"success\"}", 3);
    CHECK_VALUE("diurnal_finalizations_total{status=\"cutoff_reached\"}", 2);
    CHECK_VALUE("diurnal_late_successes_total", 1);
    CHECK_VALUE("diurnal_missed_total", 11);
}

TEST(commits_that_failed_are_counted_and_only_the_others_observed) {
    starts();
    for (int i = 0; i < 2; i++)
        DN_EMIT(dn_commit_stop, .duration_ms = 7000, .writes = 3, .result = "full");
    DN_EMIT(dn_commit_stop, .duration_ms = 2, .writes = 3, .result = "ok");
    reads_page();
    CHECK_VALUE("diurnal_store_failures_total", 2);
    CHECK_VALUE("diurnal_store_commit_seconds_count", 1);
    CHECK_VALUE("diurnal_store_commit_seconds_sum", 0.002);
}

/* ---- What is told ---- */

#define LEVEL(series) "diurnal_slo_" series "{slo=\"job_latency\"}"

TEST(an_slo_has_a_value_once_measured_and_nan_when_measured_no_more) {
    dn_slo_row     row = {.name = "job_latency", .limit = 1500, .off = true};
    dn_slo_report  report = {.len = 1, .slo = {{.row = &row}}};
    dn_slo_status *s = &report.slo[0];

    starts();
    metric_set_slos(&report);
    reads_page();
    CHECK_PTR(value_at(LEVEL("threshold")), NULL); /* it is off */
    row.off = false;
    metric_set_slos(&report);
    reads_page();
    CHECK_VALUE(LEVEL("threshold"), 1500);
    CHECK_VALUE(LEVEL("breached"), 0);
    CHECK_PTR(value_at(LEVEL("value")), NULL);
    s->now = (dn_slo_judgement){.measured = true, .value = 7};
    s->breached = true;
    metric_set_slos(&report);
    reads_page();
    CHECK_VALUE(LEVEL("value"), 7);
    CHECK_VALUE(LEVEL("breached"), 1);
    s->now.measured = s->breached = false;
    metric_set_slos(&report);
    reads_page();
    CHECK(isnan(value_of(LEVEL("value"))));
    CHECK_VALUE(LEVEL("breached"), 0);
    CHECK_PTR(value_at("diurnal_slo_value{slo=\"tick_budget\"}"), NULL);
}

TEST(actors_have_gauges_that_are_set_and_counters_that_grow) {
    starts();
    metric_set_actor("kv", 9, 800, 70, 2);
    metric_set_actor("kv", 4, 300, 20, 1);
    metric_set_dead_letters(3);
    metric_set_dead_letters(4);
    metric_set_users(12);
    metric_set_users(11);
    metric_set_max_concurrency(64);
    reads_page();
    CHECK_VALUE("diurnal_actor_mailbox_depth{actor=\"kv\"}", 4);
    CHECK_VALUE("diurnal_actor_heap_bytes{actor=\"kv\"}", 300);
    CHECK_VALUE("diurnal_actor_handled_total{actor=\"kv\"}", 90);
    CHECK_VALUE("diurnal_actor_restarts_total{actor=\"kv\"}", 3);
    CHECK_VALUE("diurnal_dead_letters_total", 7);
    CHECK_VALUE("diurnal_users", 11);
    CHECK_VALUE("diurnal_executor_max_concurrency", 64);
}
