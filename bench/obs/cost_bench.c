/* cost_bench.c - what the events of one job cost with metrics and SLOs listening, as they do in the daemon.
 *
 *     bench_cost N
 *
 * N of each event, emitted one after another on one thread, in ns above the same loop with nobody listening. A job is one
 * stop and one finalization; how full the executor and the queue are is said once for so many jobs as PER_... says, as
 * was counted in `bench_service jobs`. There two loops share that work, and their caches are colder.
 * Best of several rounds: what a round costs more is the machine's. */
#include "api/scrape.h"
#include "daily/daily_events.h"
#include "daily/slo.h"
#include "diurnal/runtime.h"
#include "engine/engine_events.h"
#include "obs/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 9, PER_IN_FLIGHT = 32, PER_QUEUE_DEPTH = 64, PER_STOP = 1, PER_FINALIZE = 1 };

static struct {
    long   n;
    double alone_ns, heard_ns; /* a job */
} bench;

static _Noreturn void wrong(const char *what) {
    fprintf(stderr, "bench_cost: %s\n", what);
    exit(1);
}

static int64_t now_ns(void) {
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void print(const char *metric, double value) {
    printf("{\"peer\":\"diurnal\",\"bench\":\"cost\",\"n\":%ld,\"metric\":\"%s\",\"value\":%.2f,"
           "\"unit\":\"ns\"}\n",
           bench.n, metric, value);
}

/* ---- Events ---- */

#define EACH_EVENT(EVENT)                                                                          \
    EVENT(queue_depth, PER_QUEUE_DEPTH, dn_queue_depth, .depth = i & 4095, .today = "2026-11-18")  \
    EVENT(in_flight, PER_IN_FLIGHT, dn_in_flight, .in_flight = i & 63, .max_concurrency = 64)      \
    EVENT(job_stop, PER_STOP, dn_job_stop, .duration_ms = (double)(i & 1023) / 16, .result = "ok", \
          .error_class = NULL)                                                                     \
    EVENT(finalize, PER_FINALIZE, dn_finalize, .status = "success", .due_bucket = i % 1440,        \
          .today = "2026-11-18")

#define LOOP(name, jobs, event, ...)                                                               \
    static void name##_loop(void) {                                                                \
        for (long i = 0; i < bench.n; i++) DN_EMIT(event, __VA_ARGS__);                            \
    }
EACH_EVENT(LOOP)

static double best_ns(void (*loop)(void)) {
    double best = 1e18;

    for (int round = 0; round < ROUNDS; round++) {
        const int64_t from_ns = now_ns();
        loop();
        const double took = (double)(now_ns() - from_ns) / (double)bench.n;
        if (took < best) best = took;
    }
    return best;
}

static double events_ns(bool heard) {
    double all = 0;

#define MEASURE(name, jobs, event, ...)                                                            \
    {                                                                                              \
        const double ns = best_ns(name##_loop);                                                    \
        if (dn_event_wanted(&event) != heard) wrong("not the ones meant are listening");           \
        if (heard) print(#name "_ns", ns);                                                         \
        all += ns / jobs;                                                                          \
    }
    EACH_EVENT(MEASURE)
    return all;
}

/* ---- The watcher's handlers want the watcher: an actor emits, beside it ---- */

static int emitter_init(dn_self *self, void *state, const void *config) {
    (void)state, (void)config;
    bench.heard_ns = events_ns(/* heard= */ true);
    dn_runtime_stop(dn_self_runtime(self));
    return DN_OK;
}

static const dn_class emitter_class = {.name = "emitter", .init = emitter_init};

static const dn_daily_slo_config slo_config = {
    .eval_ms = 60000,
    .window_minutes = 15,
    .breach_consecutive = 3,
    .tick_budget_ms = 300,
    .sat_ratio = 0.8,
    .depth_avg_max = 10000,
    .job_p95_max_ms = 30000,
    .cutoff_rate_max = 0.01,
};
static dn_daily_slo slo;

int main(int argc, char **argv) {
    char        why[DN_METRICS_WHY];
    dn_runtime *runtime = NULL;

    bench.n = argc == 2 ? strtol(argv[1], NULL, 10) : 0;
    if (bench.n < 1 || bench.n > 1000000000) wrong("want a number of jobs");
    dn_log_threshold(DN_LOG_WARN);
    bench.alone_ns = events_ns(/* heard= */ false);
    if (dn_daemon_metrics_start("0", "bench", why) < 0) wrong(why);

    dn_daily_slo_init(&slo, &slo_config);
    const dn_child_spec      children[] = {dn_slo_watcher_child(&slo.watcher),
                                           {.name = "emitter", .actor_class = &emitter_class}};
    const dn_supervisor_spec top = {.strategy = DN_ONE_FOR_ONE, .children = DN_SLICE(children)};
    const dn_runtime_config  config = {0}; /* one loop */
    const dn_spawn_spec      root = {
             .actor_class = &dn_supervisor_class, .config = &top, .name = "bench"};
    if (dn_runtime_new(&config, &runtime) < 0 || dn_runtime_run(runtime, &root) < 0)
        wrong("the actors did not run to their end");
    dn_runtime_free(runtime);
    print("job_ns", bench.heard_ns - bench.alone_ns);
    return 0;
}
