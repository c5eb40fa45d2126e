/* prom_test.c - what counting means, whichever library counts: these hold with an installed libprom too. */
#include "prom_kit.h"

#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const key[] = {"kind"};
#define KEYS ((const char **)key)

static const char **kind(const char *value) { return labels_of(value, NULL); }

/* ---- Counters ---- */

TEST(a_counter_counts_for_each_set_of_labels) {
    registry_begins();
    prom_counter_t *c = prom_collector_registry_must_register_metric(
        prom_counter_new("jobs_total", "Jobs.", 1, KEYS));

    CHECK_INT(prom_counter_inc(c, kind("a")), 0);
    CHECK_INT(prom_counter_inc(c, kind("a")), 0);
    CHECK_INT(prom_counter_add(c, 0.5, kind("b")), 0);
    CHECK_INT(prom_counter_add(c, 2, kind("b")), 0);
    CHECK_STR(value_of("jobs_total{kind=\"a\"}"), "2");
    CHECK_STR(value_of("jobs_total{kind=\"b\"}"), "2.5");
}

TEST(a_counter_never_goes_down) {
    registry_begins();
    prom_counter_t *c = prom_collector_registry_must_register_metric(
        prom_counter_new("jobs_total", "Jobs.", 0, NULL));

    CHECK_INT(prom_counter_add(c, 3, NULL), 0);
    CHECK_INT(prom_counter_add(c, -1, NULL), 1);
    prom_metric_sample_t *bound = prom_metric_sample_from_labels(c, NULL);
    CHECK_INT(prom_metric_sample_add(bound, -1), 1);
    CHECK_INT(prom_metric_sample_sub(bound, 1), 1);
    CHECK_INT(prom_metric_sample_set(bound, 1), 1);
    CHECK_STR(value_of("jobs_total"), "3");
}

TEST(a_bound_handle_adds_to_the_series_of_its_labels) {
    registry_begins();
    prom_counter_t *c = prom_collector_registry_must_register_metric(
        prom_counter_new("jobs_total", "Jobs.", 1, KEYS));
    prom_metric_sample_t *bound = prom_metric_sample_from_labels(c, kind("a"));

    CHECK(bound != NULL);
    CHECK_INT(prom_metric_sample_add(bound, 2), 0);
    CHECK_INT(prom_counter_inc(c, kind("a")), 0);
    CHECK_PTR(prom_metric_sample_from_labels(c, kind("a")), bound);
    CHECK(prom_metric_sample_from_labels(c, kind("b")) != bound);
    CHECK_STR(value_of("jobs_total{kind=\"a\"}"), "3");
}

/* ---- Gauges ---- */

TEST(a_gauge_goes_up_and_down_and_is_set) {
    registry_begins();
    prom_gauge_t *g =
        prom_collector_registry_must_register_metric(prom_gauge_new("depth", "Depth.", 1, KEYS));

    CHECK_INT(prom_gauge_set(g, 10, kind("a")), 0);
    CHECK_INT(prom_gauge_inc(g, kind("a")), 0);
    CHECK_INT(prom_gauge_add(g, 0.25, kind("a")), 0);
    CHECK_INT(prom_gauge_dec(g, kind("a")), 0);
    CHECK_INT(prom_gauge_sub(g, 4, kind("a")), 0);
    CHECK_STR(value_of("depth{kind=\"a\"}"), "6.25");
    CHECK_INT(prom_gauge_set(g, -1, kind("a")), 0);
    CHECK_STR(value_of("depth{kind=\"a\"}"), "-1");
}

TEST(what_a_gauge_loses_is_subtracted_and_not_added_negative) {
    registry_begins();
    prom_gauge_t *g =
        prom_collector_registry_must_register_metric(prom_gauge_new("depth", "Depth.", 0, NULL));

    CHECK_INT(prom_gauge_set(g, 5, NULL), 0);
    CHECK_INT(prom_gauge_add(g, -1, NULL), 1);
    CHECK_STR(value_of("depth"), "5");
}

/* ---- Histograms ---- */

TEST(a_histogram_counts_and_sums_what_it_observes) {
    registry_begins();
    prom_histogram_t *h = prom_collector_registry_must_register_metric(
        prom_histogram_new("took_seconds", "Took.", NULL, 1, KEYS));

    CHECK_INT(prom_histogram_observe(h, 0.5, kind("a")), 0);
    CHECK_INT(prom_histogram_observe(h, 0.75, kind("a")), 0);
    CHECK_INT(prom_histogram_observe(h, 99, kind("a")), 0);
    CHECK_STR(value_of("took_seconds_count{kind=\"a\"}"), "3");
    CHECK_STR(value_of("took_seconds_sum{kind=\"a\"}"), "100.25");
}

TEST(a_bound_histogram_observes_for_its_labels) {
    registry_begins();
    prom_histogram_t *h = prom_collector_registry_must_register_metric(
        prom_histogram_new("took_seconds", "Took.", prom_histogram_buckets_new(1, 1.0), 1, KEYS));
    prom_metric_sample_histogram_t *bound = prom_metric_sample_histogram_from_labels(h, kind("a"));

    CHECK_INT(prom_metric_sample_histogram_observe(bound, 2), 0);
    CHECK_INT(prom_histogram_observe(h, 3, kind("a")), 0);
    CHECK_STR(value_of("took_seconds_count{kind=\"a\"}"), "2");
    CHECK_STR(value_of("took_seconds_sum{kind=\"a\"}"), "5");
}

TEST(buckets_are_listed_or_linear_or_exponential) {
    prom_histogram_buckets_t *listed = prom_histogram_buckets_new(3, 1.0, 2.0, 4.0);
    prom_histogram_buckets_t *linear = prom_histogram_buckets_linear(0.5, 0.25, 3);
    prom_histogram_buckets_t *exponential = prom_histogram_buckets_exponential(0.5, 2, 3);

    CHECK_INT(prom_histogram_buckets_count(listed), 3);
    CHECK_INT(prom_histogram_buckets_count(linear), 3);
    CHECK_INT(prom_histogram_buckets_count(exponential), 3);
    CHECK(listed->upper_bounds[0] == 1 && listed->upper_bounds[2] == 4);
    CHECK(linear->upper_bounds[0] == 0.5 && linear->upper_bounds[2] == 1);
    CHECK(exponential->upper_bounds[0] == 0.5 && exponential->upper_bounds[2] == 2);
    CHECK_INT(prom_histogram_buckets_destroy(listed), 0);
    CHECK_INT(prom_histogram_buckets_destroy(linear), 0);
    CHECK_INT(prom_histogram_buckets_destroy(exponential), 0);
    CHECK_PTR(prom_histogram_buckets_linear(0, 1, 1), NULL);
    CHECK_PTR(prom_histogram_buckets_exponential(0, 2, 3), NULL);
    CHECK_PTR(prom_histogram_buckets_exponential(1, 1, 3), NULL);
    CHECK_PTR(prom_histogram_buckets_exponential(1, 2, 0), NULL);
}

/* ---- Kinds and registries ---- */

TEST(what_is_asked_of_another_kind_of_metric_is_refused) {
    prom_counter_t   *c = prom_counter_new("a_total", "A.", 0, NULL);
    prom_gauge_t     *g = prom_gauge_new("b", "B.", 0, NULL);
    prom_histogram_t *h = prom_histogram_new("c", "C.", NULL, 0, NULL);

    CHECK_INT(prom_counter_inc(g, NULL), 1);
    CHECK_INT(prom_counter_add(h, 1, NULL), 1);
    CHECK_INT(prom_gauge_set(c, 1, NULL), 1);
    CHECK_INT(prom_gauge_inc(h, NULL), 1);
    CHECK_INT(prom_gauge_dec(c, NULL), 1);
    CHECK_INT(prom_histogram_observe(c, 1, NULL), 1);
    CHECK_INT(prom_counter_inc(NULL, NULL), 1);
    CHECK_INT(prom_gauge_set(NULL, 1, NULL), 1);
    CHECK_INT(prom_histogram_observe(NULL, 1, NULL), 1);
    CHECK_INT(prom_counter_destroy(c), 0);
    CHECK_INT(prom_gauge_destroy(g), 0);
    CHECK_INT(prom_histogram_destroy(h), 0);
}

TEST(names_of_metrics_are_checked_by_the_rules_of_prometheus) {
    static const char *const good[] = {"a", "_", ":", "Ab9_:z"};
    static const char *const bad[] = {"", "9a", "a-b", "a b", "\xc3\xa4", "a\n"};

    registry_begins();
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CHECK_MSG(
            !prom_collector_registry_validate_metric_name(PROM_COLLECTOR_REGISTRY_DEFAULT, good[i]),
            "%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_MSG(
            prom_collector_registry_validate_metric_name(PROM_COLLECTOR_REGISTRY_DEFAULT, bad[i]),
            "%s", bad[i]);
}

TEST(a_name_is_registered_once) {
    registry_begins();
    prom_counter_t *first = prom_counter_new("jobs_total", "Jobs.", 0, NULL);
    prom_counter_t *second = prom_counter_new("jobs_total", "Jobs again.", 0, NULL);

    CHECK_INT(prom_collector_registry_register_metric(first), 0);
    CHECK_INT(prom_collector_registry_register_metric(second), 1);
    CHECK_INT(prom_counter_destroy(second), 0);
    CHECK_INT(prom_counter_inc(first, NULL), 0);
    CHECK_STR(value_of("jobs_total"), "1");
}

TEST(a_metric_that_must_be_registered_and_cannot_ends_the_process) {
    registry_begins();
    prom_collector_registry_must_register_metric(prom_gauge_new("depth", "Depth.", 0, NULL));
    const pid_t child = fork();
    if (child == 0) {
        prom_collector_registry_must_register_metric(prom_gauge_new("depth", "Depth.", 0, NULL));
        _exit(0);
    }
    int status = 0;
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1);
}

static prom_gauge_t *depth;
static int           collected;

static prom_map_t *collect_depth(prom_collector_t *self) {
    CHECK_INT(prom_gauge_set(depth, ++collected, NULL), 0);
    return prom_collector_default_collect(self);
}

TEST(a_collector_is_asked_at_every_text) {
    registry_begins();
    prom_collector_t *c = prom_collector_new("queue");
    depth = prom_gauge_new("depth", "Depth.", 0, NULL);
    CHECK_INT(prom_collector_add_metric(c, depth), 0);
    CHECK_INT(prom_collector_set_collect_fn(c, collect_depth), 0);
    CHECK_INT(prom_collector_registry_register_collector(PROM_COLLECTOR_REGISTRY_DEFAULT, c), 0);
    CHECK_INT(prom_collector_registry_register_collector(PROM_COLLECTOR_REGISTRY_DEFAULT, c), 1);

    CHECK_STR(value_of("depth"), "1");
    CHECK_STR(value_of("depth"), "2");
}

TEST(a_registry_of_ones_own_shows_its_collectors_alone) {
    registry_begins();
    prom_collector_registry_t *r = prom_collector_registry_new("mine");
    prom_collector_t          *c = prom_collector_new("queue");
    prom_gauge_t              *g = prom_gauge_new("depth", "Depth.", 0, NULL);
    CHECK_INT(prom_collector_add_metric(c, g), 0);
    CHECK_INT(prom_collector_registry_register_collector(r, c), 0);
    CHECK_INT(prom_gauge_set(g, 4, NULL), 0);

    char *text = (char *)prom_collector_registry_bridge(r);
    CHECK_STR(value_in(text, "depth"), "4");
    CHECK_PTR(value_in(text, "process_open_fds"), NULL);
    free(text);
    CHECK_PTR(value_of("depth"), NULL);
    CHECK_INT(prom_collector_registry_destroy(r), 0);
}

TEST(the_program_says_what_was_built) {
    CHECK_INT(dn_metrics_start("1.2.3", "abcdef"), DN_OK);
    CHECK_STR(value_of("diurnal_build_info{version=\"1.2.3\",revision=\"abcdef\"}"), "1");
}

TEST(process_metrics_are_there_from_the_beginning) {
    registry_begins();
    CHECK(value_of("process_open_fds") != NULL);
    CHECK(value_of("process_max_fds") != NULL);
    CHECK(value_of("process_cpu_seconds_total") != NULL);
    CHECK(value_of("process_virtual_memory_bytes") != NULL);
    CHECK(value_of("process_resident_memory_bytes") != NULL);
    CHECK(value_of("process_start_time_seconds") != NULL);
}
