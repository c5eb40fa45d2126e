/* prom_refused_test.c - what is wrong with a metric is said at the start, in one line that names it; and what would be
 * too much of one is bounded. */
#include "prom_kit.h"

#include <math.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

static void refused(const prom_metric_t *metric, const char *line) {
    CHECK_PTR(metric, NULL);
    CHECK_STR(log_text, line);
    log_text[0] = '\0';
}

/* A metric of these labels. */
#define WITH(count, ...) prom_gauge_new("depth", "D.", count, (const char *[]){__VA_ARGS__})

TEST(a_metric_of_a_bad_name_is_refused_by_its_name) {
    log_begins();
    refused(prom_counter_new("9lives", "Lives.", 0, NULL),
            "metrics.refused: the metric \"9lives\": its name must be of letters, digits, _ and :, "
            "and begin with no digit\n");
    refused(prom_gauge_new("", "Nothing.", 0, NULL),
            "metrics.refused: the metric \"\": its name must be of letters, digits, _ and :, "
            "and begin with no digit\n");
    refused(prom_histogram_new("a-b", "Minus.", NULL, 0, NULL),
            "metrics.refused: the metric \"a-b\": its name must be of letters, digits, _ and :, "
            "and begin with no digit\n");
    refused(prom_gauge_new(NULL, "Nothing.", 0, NULL),
            "metrics.refused: the metric \"\": its name must be of letters, digits, _ and :, "
            "and begin with no digit\n");
}

TEST(a_metric_without_help_is_refused) {
    log_begins();
    refused(prom_counter_new("a", NULL, 0, NULL),
            "metrics.refused: the metric \"a\": it has no help\n");
    refused(prom_counter_new("a", "", 0, NULL),
            "metrics.refused: the metric \"a\": it has no help\n");
}

TEST(labels_of_bad_names_are_refused) {
    log_begins();
    refused(WITH(2, "a", "b c"),
            "metrics.refused: the metric \"depth\": the name of a label must be "
            "of letters, digits and _, and begin with no digit\n");
    refused(WITH(1, "a:b"), "metrics.refused: the metric \"depth\": the name of a label must be of "
                            "letters, digits and _, and begin with no digit\n");
    refused(WITH(1, NULL), "metrics.refused: the metric \"depth\": the name of a label must be of "
                           "letters, digits and _, and begin with no digit\n");
    refused(WITH(1, "__name__"),
            "metrics.refused: the metric \"depth\": names of labels that begin "
            "with __ are Prometheus'\n");
    refused(WITH(1, "le"),
            "metrics.refused: the metric \"depth\": labels called le and quantile are "
            "Prometheus'\n");
    refused(WITH(1, "quantile"), "metrics.refused: the metric \"depth\": labels called le and "
                                 "quantile are Prometheus'\n");
    refused(WITH(3, "a", "b", "a"),
            "metrics.refused: the metric \"depth\": two of its labels have one name\n");
    refused(prom_gauge_new("depth", "D.", 1, NULL),
            "metrics.refused: the metric \"depth\": the names of its labels are missing\n");
}

TEST(buckets_that_do_not_rise_are_refused_and_stay_the_callers) {
    static const double bad[][2] = {{2, 1}, {1, 1}, {-1, 1}, {NAN, 1}, {1, INFINITY}};

    log_begins();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        prom_histogram_buckets_t *b = prom_histogram_buckets_new(2, bad[i][0], bad[i][1]);
        refused(prom_histogram_new("h", "H.", b, 0, NULL),
                i < 2 ? "metrics.refused: the metric \"h\": its bounds must rise\n"
                      : "metrics.refused: the metric \"h\": a bound must be a number, and not "
                        "negative\n");
        CHECK_INT(prom_histogram_buckets_destroy(b), 0);
    }
}

TEST(a_metric_that_is_registered_twice_is_named) {
    log_begins();
    registry_begins();
    prom_metric_t *first = prom_counter_new("jobs_total", "Jobs.", 0, NULL);
    prom_metric_t *second = prom_gauge_new("jobs_total", "Jobs.", 0, NULL);

    CHECK_INT(prom_collector_registry_register_metric(first), 0);
    CHECK_INT(prom_collector_registry_register_metric(first), 1);
    CHECK_STR(log_text, "metrics.refused: the metric \"jobs_total\" is registered twice\n");
    log_begins();
    CHECK_INT(prom_collector_registry_register_metric(second), 1);
    CHECK_STR(log_text, "metrics.refused: the metric \"jobs_total\" is registered twice\n");
    CHECK_INT(prom_gauge_destroy(second), 0);
}

TEST(names_that_would_be_taken_for_each_other_are_refused) {
    static const char *const pairs[][2] = {
        {"a", "a_total"}, {"h", "h_bucket"}, {"h", "h_sum"}, {"h", "h_count"}};

    log_begins();
    registry_begins();
    prom_collector_registry_must_register_metric(prom_gauge_new("a", "A.", 0, NULL));
    prom_collector_registry_must_register_metric(prom_histogram_new("h", "H.", NULL, 0, NULL));
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char           line[200];
        prom_metric_t *m = prom_counter_new(pairs[i][1], "The other.", 0, NULL);
        log_begins();
        CHECK_INT(prom_collector_registry_register_metric(m), 1);
        snprintf(line, sizeof line,
                 "metrics.refused: the metric \"%s\" would be taken for \"%s\", which is "
                 "registered: give it another name\n",
                 pairs[i][1], pairs[i][0]);
        CHECK_STR(log_text, line);
        CHECK_INT(prom_counter_destroy(m), 0);
    }
    /* The other way around, and in another collector. */
    prom_collector_registry_must_register_metric(prom_gauge_new("b_count", "B.", 0, NULL));
    prom_collector_t *c = prom_collector_new("more");
    CHECK_INT(prom_collector_add_metric(c, prom_histogram_new("b", "B.", NULL, 0, NULL)), 0);
    CHECK_INT(prom_collector_registry_register_collector(PROM_COLLECTOR_REGISTRY_DEFAULT, c), 1);
    CHECK_INT(prom_collector_destroy(c), 0);
    /* Near is not the same. */
    prom_collector_registry_must_register_metric(prom_gauge_new("h_sums", "H.", 0, NULL));
    prom_collector_registry_must_register_metric(prom_gauge_new("a_sum", "A.", 0, NULL));
}

TEST(a_collector_in_a_registry_takes_no_metric_whose_name_the_registry_has) {
    log_begins();
    registry_begins();
    prom_collector_t *c = prom_collector_new("more");
    prom_metric_t    *again = prom_gauge_new("process_open_fds", "Again.", 0, NULL);

    CHECK_INT(prom_collector_registry_register_collector(PROM_COLLECTOR_REGISTRY_DEFAULT, c), 0);
    CHECK_INT(prom_collector_add_metric(c, again), 1);
    CHECK_STR(log_text, "metrics.refused: the metric \"process_open_fds\" is registered twice\n");
    CHECK_INT(prom_gauge_destroy(again), 0);
}

TEST(a_metric_has_one_owner) {
    log_begins();
    prom_collector_t *first = prom_collector_new("first"), *second = prom_collector_new("second");
    prom_metric_t    *m = prom_gauge_new("depth", "D.", 0, NULL);

    CHECK_INT(prom_collector_add_metric(first, m), 0);
    CHECK_INT(prom_collector_add_metric(second, m), 1);
    CHECK_INT(prom_collector_destroy(first), 0);
    CHECK_INT(prom_collector_destroy(second), 0);
}

TEST(a_metric_before_there_is_a_registry_is_refused) {
    log_begins();
    prom_metric_t *m = prom_gauge_new("depth", "D.", 0, NULL);

    CHECK_INT(prom_collector_registry_register_metric(m), 1);
    CHECK_STR(log_text, "metrics.refused: the metric \"depth\" comes before there is a registry: "
                        "prom_collector_registry_default_init makes it\n");
    CHECK_INT(prom_collector_registry_register_metric(NULL), 1);
    CHECK_INT(prom_gauge_destroy(m), 0);
}

TEST(a_metric_that_could_not_be_made_ends_a_process_that_must_have_it) {
    registry_begins();
    const pid_t child = fork();
    if (child == 0) {
        prom_collector_registry_must_register_metric(prom_gauge_new("9", "Nine.", 0, NULL));
        _exit(0);
    }
    int status = 0;
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1);
}

TEST(a_value_that_is_no_number_is_not_counted) {
    registry_begins();
    prom_counter_t *c = prom_collector_registry_must_register_metric(
        prom_counter_new("jobs_total", "Jobs.", 0, NULL));
    prom_histogram_t *h = prom_collector_registry_must_register_metric(
        prom_histogram_new("took_seconds", "Took.", NULL, 0, NULL));
    prom_gauge_t *g =
        prom_collector_registry_must_register_metric(prom_gauge_new("depth", "D.", 0, NULL));

    CHECK_INT(prom_counter_add(c, NAN, NULL), 1);
    CHECK_INT(prom_counter_add(c, INFINITY, NULL), 1);
    CHECK_INT(prom_histogram_observe(h, NAN, NULL), 1);
    CHECK_INT(prom_histogram_observe(h, -0.001, NULL), 1);
    CHECK_INT(prom_gauge_add(g, NAN, NULL), 1);
    CHECK_INT(prom_gauge_sub(g, NAN, NULL), 1);
    CHECK_STR(value_of("jobs_total"), "0");
    CHECK_STR(value_of("took_seconds_count"), "0");
    CHECK_STR(value_of("took_seconds_sum"), "0");
    CHECK_STR(value_of("depth"), "0");
}

TEST(labels_that_are_missing_are_refused) {
    registry_begins();
    prom_counter_t *c = prom_collector_registry_must_register_metric(
        prom_counter_new("jobs_total", "Jobs.", 2, labels_of("a", "b")));
    prom_histogram_t *h = prom_histogram_new("h", "H.", NULL, 0, NULL);

    CHECK_INT(prom_counter_inc(c, NULL), 1);
    CHECK_INT(prom_counter_inc(c, labels_of("x", NULL)), 1);
    CHECK_PTR(prom_metric_sample_from_labels(c, NULL), NULL);
    CHECK_PTR(prom_metric_sample_from_labels(h, NULL), NULL);
    CHECK_PTR(prom_metric_sample_histogram_from_labels(c, labels_of("x", "y")), NULL);
    CHECK_INT(prom_metric_sample_add(NULL, 1), 1);
    CHECK_INT(prom_metric_sample_histogram_observe(NULL, 1), 1);
    CHECK_INT(prom_histogram_destroy(h), 0);
}

/* ---- Too many ---- */

enum { LIMIT = 256 };

static const char **numbered(int number) {
    static char text[20];

    snprintf(text, sizeof text, "%d", number);
    return labels_of(text, "x");
}

TEST(labels_behind_the_limit_are_counted_in_one_series) {
    CHECK_INT(dn_metrics_start("1", "2"), DN_OK);
    prom_counter_t *c = prom_collector_registry_must_register_metric(
        prom_counter_new("jobs_total", "Jobs.", 2, labels_of("a", "b")));
    prom_histogram_t *h = prom_collector_registry_must_register_metric(
        prom_histogram_new("took_seconds", "Took.", NULL, 2, labels_of("a", "b")));

    for (int i = 0; i < LIMIT; i++) {
        CHECK_INT(prom_counter_inc(c, numbered(i)), 0);
        CHECK_INT(prom_histogram_observe(h, 1, numbered(i)), 0);
    }
    CHECK_PTR(value_of("jobs_total{a=\"overflow\",b=\"overflow\"}"), NULL);
    CHECK_STR(value_of("diurnal_metrics_overflows_total"), "0");
    for (int i = LIMIT; i < LIMIT + 100; i++) CHECK_INT(prom_counter_inc(c, numbered(i)), 0);
    CHECK_INT(prom_histogram_observe(h, 1, numbered(-1)), 0);
    CHECK_STR(value_of("jobs_total{a=\"255\",b=\"x\"}"), "1");
    CHECK_PTR(value_of("jobs_total{a=\"256\",b=\"x\"}"), NULL);
    CHECK_STR(value_of("jobs_total{a=\"overflow\",b=\"overflow\"}"), "100");
    CHECK_STR(value_of("took_seconds_count{a=\"overflow\",b=\"overflow\"}"), "1");
    CHECK_STR(value_of("diurnal_metrics_overflows_total"), "101");
    /* Those that have a series keep it. */
    CHECK_INT(prom_counter_inc(c, numbered(7)), 0);
    CHECK_STR(value_of("jobs_total{a=\"7\",b=\"x\"}"), "2");
    CHECK_STR(value_of("diurnal_metrics_overflows_total"), "101");
}

TEST(who_names_the_overflow_series_gets_it_and_no_other_of_that_name) {
    registry_begins();
    prom_counter_t *c = prom_collector_registry_must_register_metric(
        prom_counter_new("jobs_total", "Jobs.", 2, labels_of("a", "b")));

    CHECK_INT(prom_counter_inc(c, labels_of("overflow", "overflow")), 0);
    for (int i = 0; i < LIMIT + 1; i++) CHECK_INT(prom_counter_inc(c, numbered(i)), 0);
    CHECK_STR(value_of("jobs_total{a=\"overflow\",b=\"overflow\"}"), "2");
}
