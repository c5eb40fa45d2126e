/* telemetry_bench.c - what an event costs its emitter, in ns above the same loop without it.
 *
 *     bench_telemetry [n]     n emissions (default 5000000)
 *
 * none, one, four: so many handlers that add up a value, on one thread. unmatched: a handler listens, to something
 * else. span: a start and a stop nobody listens to. The loops take turns, and the best round of each
 * counts: whatever else runs on the machine only ever adds. */
#include "diurnal/telemetry.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 7 };

#define JOB_STOP(MEASUREMENT, METADATA)                                                            \
    MEASUREMENT(REAL, duration_ms)                                                                 \
    METADATA(TEXT, result)                                                                         \
    METADATA(TEXT, error_class)
DN_EVENT_DECLARE(job_stop, JOB_STOP)
DN_EVENT_DEFINE(job_stop, "sched.job.stop", JOB_STOP)

#define RUN_STOP(MEASUREMENT, METADATA) METADATA(TEXT, result)
DN_SPAN_DECLARE(run, DN_NO_FIELDS, RUN_STOP)
DN_SPAN_DEFINE(run, "sched.run", DN_NO_FIELDS, RUN_STOP)

static _Noreturn void wrong(const char *what) {
    fprintf(stderr, "bench_telemetry: %s\n", what);
    exit(1);
}

static int64_t now_ns(void) {
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* The loop's own work, which the compiler must do in every turn. */
static inline void work(uint64_t i) { __asm__ volatile("" : : "r"(i) : "memory"); }

static void loop_empty(uint64_t n) {
    for (uint64_t i = 0; i < n; i++) work(i);
}

static void loop_emit(uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        work(i);
        DN_EMIT(job_stop, .duration_ms = (double)i, .result = "ok", .error_class = NULL);
    }
}

static void loop_span(uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        dn_span span;
        work(i);
        DN_SPAN_START(run, &span, (int64_t)i);
        DN_SPAN_STOP(run, &span, (int64_t)i + 1, .result = "ok");
    }
}

static int add_up(void *context, const dn_event *event, const dn_value *values) {
    double *sum = context;

    (void)event;
    *sum += values[0].real;
    return DN_OK;
}

typedef struct what {
    const char *metric;
    void (*loop)(uint64_t n);
    int         handlers;
    const char *prefix;
    double      best_ns;
} what;

/* One round of n turns with so many handlers; ns a turn. */
static double round_of(const what *w, uint64_t n) {
    dn_telemetry_id ids[DN_TELEMETRY_HANDLERS_MAX];
    double          sums[DN_TELEMETRY_HANDLERS_MAX] = {0}, expected = 0;

    for (int i = 0; i < w->handlers; i++)
        if (dn_telemetry_attach("bench", w->prefix, add_up, &sums[i], &ids[i]) != DN_OK)
            wrong("cannot attach");
    const bool    heard = w->loop == loop_emit && dn_event_wanted(&job_stop);
    const int64_t began = now_ns();
    w->loop(n);
    const int64_t took = now_ns() - began;
    for (uint64_t i = 0; heard && i < n; i++) expected += (double)i;
    for (int i = 0; i < w->handlers; i++) {
        if (dn_telemetry_detach(ids[i]) != DN_OK) wrong("cannot detach");
        if (sums[i] != expected) wrong("a handler has not heard what was emitted");
    }
    return (double)took / (double)n;
}

int main(int argc, char **argv) {
    const uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 5000000;
    what           all[] = {{.metric = "loop_ns", .loop = loop_empty},
                            {.metric = "none_ns", .loop = loop_emit},
                            {.metric = "unmatched_ns", .loop = loop_emit, .handlers = 1, .prefix = "store"},
                            {.metric = "one_ns", .loop = loop_emit, .handlers = 1, .prefix = "sched"},
                            {.metric = "four_ns", .loop = loop_emit, .handlers = 4, .prefix = "sched"},
                            {.metric = "span_none_ns", .loop = loop_span}};
    enum { LEN = sizeof all / sizeof *all };

    if (n == 0) wrong("want a number of emissions, 1 or more");
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < LEN; i++) {
            const double ns = round_of(&all[i], n);
            if (round == 0 || ns < all[i].best_ns) all[i].best_ns = ns;
        }
    }
    for (int i = 0; i < LEN; i++)
        printf("{\"peer\":\"diurnal\",\"bench\":\"telemetry\",\"n\":%llu,\"metric\":\"%s\","
               "\"value\":%.2f,\"unit\":\"ns\"}\n",
               (unsigned long long)n, all[i].metric, all[i].best_ns - (i > 0 ? all[0].best_ns : 0));
    return 0;
}
