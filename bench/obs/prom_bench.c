/* prom_bench.c - what counting costs, and being scraped.
 *
 *     bench_prom N
 *
 * N: operations in a round.
 * What an operation costs is above an empty loop. The best of several rounds: what a round costs more is the machine's. */
#include "obs/metrics.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SCRAPES = 200, ROUNDS = 5, THREADS = 2, SERIES = 300, BOUNDS = 13 };

static _Noreturn void wrong(const char *what) {
    fprintf(stderr, "bench_prom: %s\n", what);
    exit(1);
}

static double now_ns(void) {
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void print(const char *peer, int n, const char *metric, double value, const char *unit) {
    printf("{\"peer\":\"%s\",\"bench\":\"metrics\",\"n\":%d,\"metric\":\"%s\",\"value\":%.3f,"
           "\"unit\":\"%s\"}\n",
           peer, n, metric, value, unit);
}

/* ---- Operations ---- */

static prom_counter_t                 *counter, *labelled;
static prom_gauge_t                   *gauge;
static prom_histogram_t               *histogram;
static prom_metric_sample_t           *bound, *bound_gauge;
static prom_metric_sample_histogram_t *bound_histogram;
static const char                     *values[] = {"success", "none"};

static _Atomic uint64_t cell;

/* The compiler must not know that nothing happens here. */
#define LOOP(name, operation)                                                                      \
    static void name(int n) {                                                                      \
        for (int i = 0; i < n; i++) {                                                              \
            __asm__ volatile("" : "+r"(i) : : "memory");                                           \
            operation;                                                                             \
        }                                                                                          \
    }
LOOP(nothing, (void)0)
LOOP(bare_atomic, atomic_fetch_add_explicit(&cell, 1, memory_order_relaxed))
LOOP(add_bound, prom_metric_sample_add(bound, 1))
LOOP(add_fraction, prom_metric_sample_add(bound, 0.25))
LOOP(add_by_labels, prom_counter_inc(labelled, values))
LOOP(add_without_labels, prom_counter_inc(counter, NULL))
LOOP(set_bound, prom_metric_sample_set(bound_gauge, i))
LOOP(observe_bound, prom_metric_sample_histogram_observe(bound_histogram, (i & 1023) * 0.005))
LOOP(observe_by_labels, prom_histogram_observe(histogram, (i & 1023) * 0.005, values))

static double best_ns(void (*loop)(int), int n) {
    double best = 1e18;

    for (int round = 0; round < ROUNDS; round++) {
        const double from = now_ns();
        loop(n);
        const double took = (now_ns() - from) / n;
        if (took < best) best = took;
    }
    return best;
}

/* The same by several threads at once, on one counter: what each of them waits for an addition. */
typedef struct part {
    void (*loop)(int);
    int n;
} part;

static void *part_run(void *context) {
    const part *p = context;

    p->loop(p->n);
    return NULL;
}

static double together_ns(void (*loop)(int), int n) {
    part   p = {.loop = loop, .n = n};
    double best = 1e18;

    for (int round = 0; round < ROUNDS; round++) {
        pthread_t    threads[THREADS];
        const double from = now_ns();
        for (int i = 0; i < THREADS; i++)
            if (pthread_create(&threads[i], NULL, part_run, &p) != 0) wrong("no thread");
        for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
        const double took = (now_ns() - from) / n;
        if (took < best) best = took;
    }
    return best;
}

static void operations(int n) {
    static const char *keys[] = {"result", "error_class"};
    const double       empty = best_ns(nothing, n);
    const struct {
        const char *metric;
        void (*loop)(int);
    } measured[] = {
        {"counter_bound_ns", add_bound},
        {"counter_bound_fraction_ns", add_fraction},
        {"counter_ns", add_without_labels},
        {"counter_by_labels_ns", add_by_labels},
        {"gauge_bound_set_ns", set_bound},
        {"histogram_bound_ns", observe_bound},
        {"histogram_by_labels_ns", observe_by_labels},
    };

    counter = prom_collector_registry_must_register_metric(
        prom_counter_new("plain_total", "Without labels.", 0, NULL));
    labelled = prom_collector_registry_must_register_metric(
        prom_counter_new("labelled_total", "With labels.", 2, keys));
    gauge =
        prom_collector_registry_must_register_metric(prom_gauge_new("level", "A level.", 2, keys));
    histogram = prom_collector_registry_must_register_metric(
        prom_histogram_new("took_seconds", "A duration.",
                           prom_histogram_buckets_exponential(0.001, 2, BOUNDS), 2, keys));
    bound = prom_metric_sample_from_labels(labelled, values);
    bound_gauge = prom_metric_sample_from_labels(gauge, values);
    bound_histogram = prom_metric_sample_histogram_from_labels(histogram, values);
    if (!bound || !bound_gauge || !bound_histogram) wrong("no memory");
    print("floor", n, "atomic_add_ns", best_ns(bare_atomic, n) - empty, "ns");
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++)
        print("diurnal", n, measured[i].metric, best_ns(measured[i].loop, n) - empty, "ns");
    print("floor", n, "atomic_add_two_threads_ns", together_ns(bare_atomic, n) - empty, "ns");
    print("diurnal", n, "counter_bound_two_threads_ns", together_ns(add_bound, n) - empty, "ns");
    print("diurnal", n, "histogram_bound_two_threads_ns", together_ns(observe_bound, n) - empty,
          "ns");
}

/* ---- Scrapes ---- */

/* So that a text of everything has so many lines with a value: half of them of histograms, as they are in the program. */
static int fill(void) {
    static const char *keys[] = {"actor", "result"};
    static char        names[SERIES][32];
    int                lines = 0;

    for (int i = 0; lines < SERIES / 2; i++) {
        snprintf(names[i], sizeof names[i], "diurnal_duration_%d_seconds", i);
        prom_histogram_t *h = prom_collector_registry_must_register_metric(
            prom_histogram_new(names[i], "How long something took.",
                               prom_histogram_buckets_exponential(0.001, 2, BOUNDS), 2, keys));
        for (int j = 0; j < 1000; j++) prom_histogram_observe(h, j * 0.0137, values);
        lines += BOUNDS + 3;
    }
    prom_counter_t *c = prom_collector_registry_must_register_metric(
        prom_counter_new("diurnal_handled_total", "Messages that were handled.", 2, keys));
    for (int i = 0; lines < SERIES; i++, lines++) {
        char        name[32];
        const char *of[] = {name, "ok"};
        snprintf(name, sizeof name, "an actor with number %d", i);
        prom_counter_add(c, 123456789.0 * i, of);
    }
    return lines;
}

static void scrapes(void) {
    static const struct {
        const char       *metric;
        dn_metrics_format format;
    } measured[] = {{"scrape_ms", DN_METRICS_TEXT},
                    {"scrape_openmetrics_ms", DN_METRICS_OPENMETRICS}};

    for (size_t m = 0; m < sizeof measured / sizeof *measured; m++) {
        double best = 1e18, all = 0;
        size_t len = 0;
        int    lines = 0;
        for (int i = 0; i < SCRAPES; i++) {
            char        *text;
            const double from = now_ns();
            if (dn_metrics_text(measured[m].format, &text, &len) < 0) wrong("no memory");
            const double took = (now_ns() - from) / 1e6;
            all += took;
            if (took < best) best = took;
            lines = 0;
            for (const char *line = text; *line; line = strchr(line, '\n') + 1)
                lines += *line != '#' && *line != '\n';
            free(text);
        }
        if (lines < SERIES) wrong("there are series missing");
        print("diurnal", lines, measured[m].metric, all / SCRAPES, "ms");
        if (m == 0) print("diurnal", lines, "scrape_best_ms", best, "ms");
    }
}

int main(int argc, char **argv) {
    const long n = argc == 2 ? strtol(argv[1], NULL, 10) : 0;

    if (n < 1 || n > 1000000000) wrong("want a number of operations");
    if (dn_metrics_start("0", "bench") < 0) wrong("no memory");
    fill();
    scrapes();
    operations((int)n);
    return 0;
}
