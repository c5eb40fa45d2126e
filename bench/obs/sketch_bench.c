/* sketch_bench.c - what it costs to tell the watcher something, and what its minute costs.
 *
 *     bench_sketch N
 *
 * N values each. They are drawn before the clock starts, over six orders of magnitude, so that buckets are all over the
 * sketch. With two threads both add to the same cells. */
#include "daily/slo.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { VALUES = 1 << 16, MINUTES = 2000, THREADS = 2 };
#define MINUTE_NS INT64_C(60000000000)

static struct {
    uint64_t        values[VALUES];
    uint64_t        n;
    dn_sketch_cells cells;
    dn_slo_table   *slos;
} bench;

static int64_t now_ns(void) {
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static _Noreturn void wrong(const char *what) {
    fprintf(stderr, "bench_sketch: %s\n", what);
    exit(1);
}

static void print(const char *metric, double value, const char *unit) {
    printf("{\"peer\":\"diurnal\",\"bench\":\"sketch\",\"n\":%llu,\"metric\":\"%s\",\"value\":%.3f,"
           "\"unit\":\"%s\"}\n",
           (unsigned long long)bench.n, metric, value, unit);
}

static void draw_values(void) {
    uint64_t x = 1;

    for (int i = 0; i < VALUES; i++) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        bench.values[i] = (x >> 20) >> (24 + (x >> 60) + (x >> 59 & 3));
    }
}

static void *add_all(void *unused) {
    (void)unused;
    for (uint64_t i = 0; i < bench.n; i++) dn_sketch_add(&bench.cells, bench.values[i % VALUES]);
    return NULL;
}

static uint64_t count_of_cells(void) {
    static dn_sketch s;

    dn_sketch_snapshot(&bench.cells, &s);
    return dn_sketch_count(&s);
}

static void adds(void) {
    const uint64_t before = count_of_cells();
    const int64_t  begun_ns = now_ns();

    add_all(NULL);
    print("add_ns", (double)(now_ns() - begun_ns) / (double)bench.n, "ns");
    if (count_of_cells() - before != bench.n) wrong("a value was lost");
}

static void adds_of_two_threads(void) {
    const uint64_t before = count_of_cells();
    const int64_t  begun_ns = now_ns();
    pthread_t      threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, add_all, NULL) != 0) wrong("no thread");
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    print("add_two_threads_ns", (double)(now_ns() - begun_ns) / (double)bench.n, "ns");
    if (count_of_cells() - before != THREADS * bench.n)
        wrong("a value was lost between two threads");
}

static void levels(void) {
    dn_slo_history *h = dn_slo_table_history_borrow(bench.slos, DN_DAILY_SATURATION);
    const int64_t   begun_ns = now_ns();

    for (uint64_t i = 0; i < bench.n; i++) dn_slo_level_is(h, i % 65, 64, (int64_t)i * 1000);
    print("level_ns", (double)(now_ns() - begun_ns) / (double)bench.n, "ns");
}

static void make_slos(void) {
    static dn_daily_slo       daily;
    const dn_daily_slo_config config = {.window_minutes = 15,
                                        .breach_consecutive = 3,
                                        .tick_budget_ms = 300,
                                        .sat_ratio = 0.8,
                                        .depth_avg_max = 10000,
                                        .job_p95_max_ms = 30000,
                                        .cutoff_rate_max = 0.01,
                                        .cutoff_objective = 0.999};

    dn_slo_table_free(bench.slos);
    dn_daily_slo_init(&daily, &config);
    if (dn_slo_table_new(daily.rows, DN_DAILY_SLOS, 0, &bench.slos) < 0) wrong("no memory");
}

static dn_slo_history *history(size_t row) { return dn_slo_table_history_borrow(bench.slos, row); }

/* A minute of the watcher: counts that are all over the sketch, a window that is full. */
static void minutes(void) {
    dn_slo_history *ticks = history(DN_DAILY_TICK_BUDGET), *jobs = history(DN_DAILY_JOB_LATENCY);
    int64_t         roll_ns = 0, evaluate_ns = 0, begun_ns;
    size_t          changed[DN_SLO_ROWS_MAX];

    for (int i = 0; i < MINUTES; i++) {
        for (int k = 0; k < 500; k++) {
            const int64_t us = (int64_t)bench.values[(i * 500 + k) % VALUES];
            dn_slo_took(jobs, us);
            dn_slo_took(ticks, us);
            for (size_t row = DN_DAILY_CUTOFF_MISS_RATE; row < DN_DAILY_SLOS; row++)
                dn_slo_ended(history(row), /* good= */ false, (uint32_t)k);
        }
        begun_ns = now_ns();
        dn_slo_table_roll(bench.slos, i * MINUTE_NS);
        roll_ns += now_ns() - begun_ns;
        begun_ns = now_ns();
        (void)dn_slo_table_evaluate(bench.slos, i * MINUTE_NS, changed);
        evaluate_ns += now_ns() - begun_ns;
    }
    if (!dn_slo_table_status_borrow(bench.slos, DN_DAILY_CUTOFF_MISS_RATE)->breached)
        wrong("the outage was not seen");
    print("roll_us", (double)roll_ns / MINUTES / 1000, "us");
    print("evaluate_us", (double)evaluate_ns / MINUTES / 1000, "us");
}

int main(int argc, char **argv) {
    bench.n = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
    if (bench.n == 0) wrong("want a number of values");
    draw_values();
    adds();
    adds_of_two_threads();
    make_slos();
    levels();
    make_slos();
    minutes();
    dn_slo_table_free(bench.slos);
    return 0;
}
