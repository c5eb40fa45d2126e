/* prom_cells_test.c - threads come and go, more of them than there are rows, and cells run out: nothing is lost, and nothing
 * is counted twice. */
#include "prom_cells.h"
#include "prom_kit.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>

enum { THREADS = 3 * PROM_ROWS, WAVES = 40, ADDITIONS = 2000 / TEST_SLOW_FACTOR };

static const char *const keys[] = {"kind"};
#define KEYS ((const char **)keys)

static prom_metric_sample_t           *bound;
static prom_metric_sample_histogram_t *bound_histogram;
static atomic_int                      inside;
static pthread_key_t                   last_words;

static void bind_new(void) {
    registry_begins();
    bound = prom_metric_sample_from_labels(prom_collector_registry_must_register_metric(
                                               prom_counter_new("all_total", "All.", 0, NULL)),
                                           NULL);
    bound_histogram = prom_metric_sample_histogram_from_labels(
        prom_collector_registry_must_register_metric(
            prom_histogram_new("took_seconds", "Took.", NULL, 0, NULL)),
        NULL);
}

/* Runs so many threads at once, to their end. */
static void threads_run(int len, void *(*run)(void *)) {
    pthread_t threads[THREADS];

    atomic_store(&inside, len);
    for (int i = 0; i < len; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, run, (void *)(intptr_t)i), 0);
    for (int i = 0; i < len; i++) CHECK_INT(pthread_join(threads[i], NULL), 0);
}

static void wait_for_all(void) {
    atomic_fetch_sub(&inside, 1);
    while (atomic_load(&inside) > 0) sched_yield();
}

static void *add(void *unused) {
    (void)unused;
    for (int i = 0; i < ADDITIONS; i++) {
        CHECK_INT(prom_metric_sample_add(bound, 1), 0);
        CHECK_INT(prom_metric_sample_add(bound, 0.5), 0);
        CHECK_INT(prom_metric_sample_histogram_observe(bound_histogram, 0.25), 0);
    }
    return NULL;
}

TEST(threads_that_come_and_go_lose_nothing) {
    uint64_t random = test_seed();
    int      threads = 0;

    bind_new();
    for (int wave = 0; wave < WAVES; wave++) {
        const int len = 1 + (int)(test_random(&random) % THREADS);
        threads += len;
        threads_run(len, add);
    }
    const double additions = (double)threads * ADDITIONS;
    CHECK_INT(strtod(value_of("all_total"), NULL) * 2, additions * 3);
    CHECK_INT(strtod(value_of("took_seconds_count"), NULL), additions);
    CHECK_INT(strtod(value_of("took_seconds_bucket{le=\"0.25\"}"), NULL), additions);
    CHECK_INT(strtod(value_of("took_seconds_sum"), NULL) * 4, additions);
}

static void *take_a_row(void *context) {
    CHECK_MSG(prom_row_mine() != NULL, "thread %d", (int)(intptr_t)context);
    return add(context);
}

TEST(the_row_of_a_thread_that_has_ended_goes_to_the_next) {
    bind_new();
    for (int i = 0; i < THREADS; i++) threads_run(1, take_a_row);
    CHECK_INT(strtod(value_of("took_seconds_count"), NULL), (double)THREADS * ADDITIONS);
}

static atomic_int with_a_row;

static void *add_beside_others(void *context) {
    if (prom_row_mine()) atomic_fetch_add(&with_a_row, 1);
    wait_for_all();
    return add(context);
}

TEST(a_thread_that_finds_no_row_is_counted_as_well) {
    bind_new();
    threads_run(THREADS, add_beside_others);
    CHECK_INT(atomic_load(&with_a_row), PROM_ROWS);
    CHECK_INT(strtod(value_of("took_seconds_count"), NULL), (double)THREADS * ADDITIONS);
    CHECK_INT(strtod(value_of("all_total"), NULL), (double)THREADS * ADDITIONS * 1.5);
}

/* Called behind the end of the row: its key is younger. */
static void add_at_the_end(void *unused) {
    (void)unused;
    CHECK_PTR(prom_row_mine(), NULL);
    (void)prom_metric_sample_add(bound, 1000);
}

static void *add_with_last_words(void *context) {
    CHECK(prom_row_mine() != NULL);
    CHECK_INT(pthread_setspecific(last_words, bound), 0);
    return add(context);
}

TEST(what_a_thread_adds_at_its_very_end_is_counted) {
    bind_new();
    CHECK(prom_row_mine() != NULL); /* so there is the key of the rows */
    CHECK_INT(pthread_key_create(&last_words, add_at_the_end), 0);
    threads_run(1, add_with_last_words);
    CHECK_INT(strtod(value_of("all_total"), NULL), ADDITIONS * 1.5 + 1000);
}

TEST(what_is_made_and_destroyed_gives_its_cells_back_and_they_are_zero_again) {
    for (int i = 0; i < PROM_CELLS * 3; i++) {
        registry_begins();
        prom_counter_t *c = prom_collector_registry_must_register_metric(
            prom_counter_new("jobs_total", "Jobs.", 1, KEYS));
        prom_histogram_t *h = prom_collector_registry_must_register_metric(
            prom_histogram_new("took_seconds", "Took.", NULL, 1, KEYS));
        CHECK_INT(
            prom_metric_sample_add(prom_metric_sample_from_labels(c, labels_of("a", NULL)), 7), 0);
        CHECK_INT(prom_metric_sample_histogram_observe(
                      prom_metric_sample_histogram_from_labels(h, labels_of("a", NULL)), 2),
                  0);
        CHECK_STR(value_of("jobs_total{kind=\"a\"}"), "7");
        CHECK_STR(value_of("took_seconds_sum{kind=\"a\"}"), "2");
        CHECK_INT(prom_collector_registry_destroy(PROM_COLLECTOR_REGISTRY_DEFAULT), 0);
    }
    CHECK(prom_cells_take(PROM_CELLS - 1) > 0);
}

TEST(a_handle_that_finds_no_cells_counts_as_well) {
    char name[20], line[40];

    registry_begins();
    for (int i = 0; i < PROM_CELLS + 10; i++) {
        snprintf(name, sizeof name, "jobs_%d_total", i);
        prom_counter_t *c =
            prom_collector_registry_must_register_metric(prom_counter_new(name, "Jobs.", 1, KEYS));
        prom_metric_sample_t *handle = prom_metric_sample_from_labels(c, labels_of("a", NULL));
        CHECK_INT(prom_metric_sample_add(handle, 3), 0);
        CHECK_INT(prom_counter_inc(c, labels_of("a", NULL)), 0);
    }
    for (int i = PROM_CELLS - 10; i < PROM_CELLS + 10; i++) {
        snprintf(line, sizeof line, "jobs_%d_total{kind=\"a\"}", i);
        CHECK_STR(value_of(line), "4");
    }
}

TEST(what_was_counted_before_a_handle_was_bound_stays) {
    registry_begins();
    prom_counter_t *c = prom_collector_registry_must_register_metric(
        prom_counter_new("jobs_total", "Jobs.", 1, KEYS));

    CHECK_INT(prom_counter_add(c, 5, labels_of("a", NULL)), 0);
    CHECK_INT(prom_metric_sample_add(prom_metric_sample_from_labels(c, labels_of("a", NULL)), 2),
              0);
    CHECK_INT(prom_metric_sample_add(prom_metric_sample_from_labels(c, labels_of("a", NULL)), 1),
              0);
    CHECK_STR(value_of("jobs_total{kind=\"a\"}"), "8");
}
