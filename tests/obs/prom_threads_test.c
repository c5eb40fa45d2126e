/* prom_threads_test.c - threads that count while another one scrapes: nothing is lost, and what is read agrees with itself
 * and with what was read before. */
#include "prom_kit.h"
#include "prom_openmetrics.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

enum { THREADS = 4, LABELS = 40, ROUNDS = 100000 / TEST_SLOW_FACTOR / TEST_SLOW_FACTOR };

static const char *const keys[] = {"thread", "label"};
#define KEYS ((const char **)keys)

static prom_counter_t       *all, *each;
static prom_gauge_t         *depth;
static prom_histogram_t     *took;
static prom_metric_sample_t *bound;
static atomic_int            running;

static void *count(void *context) {
    uint64_t random = test_seed() + (uint64_t)(uintptr_t)context;
    char     name[20];

    snprintf(name, sizeof name, "%d", (int)(uintptr_t)context);
    for (int i = 0; i < ROUNDS; i++) {
        char           label[20];
        const uint64_t r = test_random(&random);
        snprintf(label, sizeof label, "%d", (int)(r % LABELS));
        CHECK_INT(prom_metric_sample_add(bound, 1), 0);
        CHECK_INT(prom_counter_inc(all, NULL), 0);
        CHECK_INT(prom_counter_add(each, 0.5, labels_of(name, label)), 0);
        CHECK_INT(prom_gauge_inc(depth, NULL), 0);
        CHECK_INT(prom_gauge_dec(depth, NULL), 0);
        /* All threads make these series, at the same time. */
        CHECK_INT(prom_histogram_observe(took, (double)(r >> 32 & 3), labels_of("any", label)), 0);
    }
    atomic_fetch_sub(&running, 1);
    return NULL;
}

/* The sum of all series of a name. */
static double sum_in(const char *text, const char *name) {
    double sum = 0;

    for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
        if (strncmp(line, name, strlen(name)) != 0) continue;
        const char *end = strchr(line, '\n');
        while (end[-1] != ' ') end--;
        sum += strtod(end, NULL);
    }
    return sum;
}

TEST(nothing_is_lost_while_it_is_read) {
    pthread_t threads[THREADS];
    double    seen[3] = {0};

    CHECK_INT(dn_metrics_start("1", "2"), DN_OK);
    all = prom_collector_registry_must_register_metric(
        prom_counter_new("all_total", "All.", 0, NULL));
    each = prom_collector_registry_must_register_metric(
        prom_counter_new("each_total", "Each.", 2, KEYS));
    depth = prom_collector_registry_must_register_metric(prom_gauge_new("depth", "D.", 0, NULL));
    took = prom_collector_registry_must_register_metric(prom_histogram_new(
        "took_seconds", "Took.", prom_histogram_buckets_new(3, 0.0, 1.0, 2.0), 2, KEYS));
    bound = prom_metric_sample_from_labels(all, NULL);
    atomic_store(&running, THREADS);
    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, count, (void *)i), 0);

    while (atomic_load(&running) > 0) {
        char *text = text_in(DN_METRICS_OPENMETRICS);
        check_openmetrics(
            text); /* also: that no bucket says more than the next, and the last is the count */
        const double now[] = {sum_in(text, "all_total "), sum_in(text, "each_total{"),
                              sum_in(text, "took_seconds_count{")};
        for (size_t i = 0; i < sizeof now / sizeof *now; i++) {
            CHECK_MSG(now[i] >= seen[i], "%g after %g", now[i], seen[i]);
            seen[i] = now[i];
        }
    }
    for (size_t i = 0; i < THREADS; i++) CHECK_INT(pthread_join(threads[i], NULL), 0);

    const double total = (double)ROUNDS * THREADS;
    char        *text = text_in(DN_METRICS_TEXT);
    CHECK_INT(sum_in(text, "all_total "), total * 2);
    CHECK_INT(sum_in(text, "each_total{") * 2, total);
    CHECK_INT(sum_in(text, "took_seconds_count{"), total);
    CHECK_STR(value_in(text, "depth"), "0");
    CHECK_STR(value_in(text, "diurnal_metrics_overflows_total"), "0");
}

/* ---- Close together ---- */

/* All threads begin at once. */
static void together(void *(*run)(void *), void *contexts[THREADS]) {
    pthread_t threads[THREADS];

    atomic_store(&running, THREADS);
    for (size_t i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, run, contexts[i]), 0);
    for (size_t i = 0; i < THREADS; i++) CHECK_INT(pthread_join(threads[i], NULL), 0);
}

static void wait_for_all(void) {
    atomic_fetch_sub(&running, 1);
    while (atomic_load(&running) > 0) sched_yield();
}

enum { ADDITIONS = 1000000 / TEST_SLOW_FACTOR };

static void *add(void *context) {
    prom_metric_sample_histogram_t *h = prom_metric_sample_histogram_from_labels(context, NULL);

    wait_for_all();
    for (int i = 0; i < ADDITIONS; i++) {
        CHECK_INT(prom_metric_sample_add(bound, 1), 0);
        CHECK_INT(prom_metric_sample_histogram_observe(h, 1), 0);
    }
    for (int i = 0; i < ADDITIONS; i++) CHECK_INT(prom_metric_sample_add(bound, 0.5), 0);
    return NULL;
}

TEST(threads_that_add_to_one_series_lose_nothing) {
    registry_begins();
    all = prom_collector_registry_must_register_metric(
        prom_counter_new("all_total", "All.", 0, NULL));
    took = prom_collector_registry_must_register_metric(
        prom_histogram_new("took_seconds", "Took.", NULL, 0, NULL));
    bound = prom_metric_sample_from_labels(all, NULL);
    together(add, (void *[THREADS]){took, took, took, took});

    const char  *text = text_in(DN_METRICS_TEXT);
    const double additions = (double)ADDITIONS * THREADS;
    CHECK_INT(sum_in(text, "all_total "), additions + additions / 2);
    CHECK_INT(sum_in(text, "took_seconds_count "), additions);
    CHECK_INT(sum_in(text, "took_seconds_sum "), additions);
}

static void *bind(void *context) {
    prom_metric_sample_t **out = context;

    wait_for_all();
    for (int i = 0; i < LABELS; i++) {
        char label[20];
        snprintf(label, sizeof label, "%d", i);
        out[i] = prom_metric_sample_from_labels(each, labels_of("any", label));
    }
    return NULL;
}

TEST(threads_that_bind_the_same_labels_get_the_same_series) {
    static prom_metric_sample_t *got[THREADS][LABELS];

    for (int round = 0; round < 500 / TEST_SLOW_FACTOR; round++) {
        each = prom_counter_new("each_total", "Each.", 2, KEYS);
        together(bind, (void *[THREADS]){got[0], got[1], got[2], got[3]});
        for (size_t i = 1; i < THREADS; i++) CHECK_INT(memcmp(got[i], got[0], sizeof got[0]), 0);
        CHECK_INT(prom_counter_destroy(each), 0);
    }
}
