/* prom_starving_test.c - the n-th allocation fails, for every n until all succeed: a clean answer, and nothing that was
 * counted is lost. */
#include "prom_kit.h"
#include "starving.h"

#include <stdint.h>

static const char *const keys[] = {"kind"};
#define KEYS ((const char **)keys)

TEST(a_start_without_memory_leaves_nothing_behind) {
    int      rc = DN_ENOMEM;
    uint64_t n = 0;

    while (rc != DN_OK) {
        starve_nth(++n);
        rc = dn_metrics_start("1", "2");
        CHECK_INT(rc, starve_end() ? DN_ENOMEM : DN_OK);
        CHECK((PROM_COLLECTOR_REGISTRY_DEFAULT == NULL) == (rc < 0));
    }
    CHECK(n > 30);
    CHECK_STR(value_of("diurnal_build_info{version=\"1\",revision=\"2\"}"), "1");
    CHECK_INT(prom_collector_registry_destroy(PROM_COLLECTOR_REGISTRY_DEFAULT), 0);
    CHECK_PTR(PROM_COLLECTOR_REGISTRY_DEFAULT, NULL);
}

TEST(a_metric_without_memory_is_none_and_its_buckets_stay_the_callers) {
    prom_histogram_t *h = NULL;

    for (uint64_t n = 1; !h; n++) {
        prom_histogram_buckets_t *b = prom_histogram_buckets_new(2, 1.0, 2.0);
        starve_nth(n);
        h = prom_histogram_new("took_seconds", "Took.", b, 1, KEYS);
        CHECK((h == NULL) == starve_end());
        if (!h) CHECK_INT(prom_histogram_buckets_destroy(b), 0);
    }
    CHECK_INT(prom_histogram_destroy(h), 0);
}

TEST(buckets_without_memory_are_none) {
    prom_histogram_buckets_t *b = NULL;

    for (uint64_t n = 1; !b; n++) {
        starve_nth(n);
        b = prom_histogram_buckets_linear(0, 1, 5);
        CHECK((b == NULL) == starve_end());
    }
    CHECK_INT(prom_histogram_buckets_destroy(b), 0);
}

TEST(what_finds_no_memory_for_a_series_is_counted_in_the_overflow_series) {
    CHECK_INT(dn_metrics_start("1", "2"), DN_OK);
    prom_counter_t *c = prom_collector_registry_must_register_metric(
        prom_counter_new("jobs_total", "Jobs.", 1, KEYS));
    prom_histogram_t *h = prom_collector_registry_must_register_metric(
        prom_histogram_new("took_seconds", "Took.", NULL, 1, KEYS));

    starve_nth(1);
    CHECK_INT(prom_counter_inc(c, labels_of("a", NULL)), 0);
    CHECK(starve_end());
    starve_nth(1);
    CHECK_INT(prom_histogram_observe(h, 1, labels_of("a", NULL)), 0);
    CHECK(starve_end());
    CHECK_STR(value_of("jobs_total{kind=\"overflow\"}"), "1");
    CHECK_STR(value_of("took_seconds_count{kind=\"overflow\"}"), "1");
    CHECK_STR(value_of("diurnal_metrics_overflows_total"), "2");
    /* With memory it has a series of its own. */
    CHECK_INT(prom_counter_inc(c, labels_of("a", NULL)), 0);
    CHECK_STR(value_of("jobs_total{kind=\"a\"}"), "1");
}

TEST(a_handle_without_memory_is_none) {
    registry_begins();
    prom_counter_t *c = prom_collector_registry_must_register_metric(
        prom_counter_new("jobs_total", "Jobs.", 1, KEYS));
    prom_histogram_t *h = prom_collector_registry_must_register_metric(
        prom_histogram_new("took_seconds", "Took.", NULL, 1, KEYS));

    starve_nth(1);
    CHECK_PTR(prom_metric_sample_from_labels(c, labels_of("a", NULL)), NULL);
    CHECK(starve_end());
    starve_nth(1);
    CHECK_PTR(prom_metric_sample_histogram_from_labels(h, labels_of("a", NULL)), NULL);
    CHECK(starve_end());
    CHECK_PTR(value_of("jobs_total{kind=\"overflow\"}"), NULL);
}

TEST(what_has_a_series_is_counted_without_memory) {
    registry_begins();
    prom_counter_t *c = prom_collector_registry_must_register_metric(
        prom_counter_new("jobs_total", "Jobs.", 1, KEYS));
    prom_gauge_t *g =
        prom_collector_registry_must_register_metric(prom_gauge_new("depth", "D.", 0, NULL));

    CHECK_INT(prom_counter_inc(c, labels_of("a", NULL)), 0);
    starve_nth(1);
    CHECK_INT(prom_counter_inc(c, labels_of("a", NULL)), 0);
    CHECK_INT(prom_gauge_set(g, 3, NULL), 0);
    CHECK(!starve_end());
    CHECK_STR(value_of("jobs_total{kind=\"a\"}"), "2");
    CHECK_STR(value_of("depth"), "3");
}

TEST(a_text_without_memory_is_none_and_the_next_one_is_whole) {
    CHECK_INT(dn_metrics_start("1", "2"), DN_OK);
    for (int i = 0; i < 10; i++) {
        char name[20];
        snprintf(name, sizeof name, "took_%d", i);
        CHECK_INT(prom_histogram_observe(prom_collector_registry_must_register_metric(
                                             prom_histogram_new(name, "Took.", NULL, 0, NULL)),
                                         1, NULL),
                  0);
    }
    char    *text = NULL;
    size_t   len = 0;
    uint64_t n = 0;
    for (int rc = DN_ENOMEM; rc != DN_OK;) {
        starve_nth(++n);
        rc = dn_metrics_text(DN_METRICS_OPENMETRICS, &text, &len);
        CHECK_INT(rc, starve_end() ? DN_ENOMEM : DN_OK);
        CHECK((text == NULL) == (rc < 0));
    }
    CHECK(n > 2); /* it has grown */
    CHECK_STR(text + len - strlen("# EOF\n"), "# EOF\n");
    free(text);
    CHECK_INT(prom_collector_registry_destroy(PROM_COLLECTOR_REGISTRY_DEFAULT), 0);
}

TEST(collectors_and_registries_without_memory_are_none) {
    prom_collector_registry_t *r = NULL;
    prom_collector_t          *c = NULL;

    for (uint64_t n = 1; !r; n++) {
        starve_nth(n);
        r = prom_collector_registry_new("mine");
        CHECK((r == NULL) == starve_end());
    }
    for (uint64_t n = 1; !c; n++) {
        starve_nth(n);
        c = prom_collector_new("queue");
        CHECK((c == NULL) == starve_end());
    }
    CHECK_INT(prom_collector_destroy(c), 0);
    CHECK_INT(prom_collector_registry_destroy(r), 0);
}
