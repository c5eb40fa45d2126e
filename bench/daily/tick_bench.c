/* tick_bench.c - what a tick costs when users by the million are spread over the day: the real actors in a simulated
 * day, and a real clock that looks at the planner's handlers only.
 *
 *     bench_tick N
 *
 * Two virtual hours of one-minute ticks are thrown away, until each minute brings what every minute brings; then two
 * hours are measured. Jobs are ok at once, so the steady state is that of a service that keeps up. */
#include "daily/daily_messages.h"
#include "diurnal/sim.h"
#include "obs/log.h"
#include "service/service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCH = 4096, TICKS = 120, SETTLE = 120, DAY = 20514, HANDLERS_OF_A_TICK = 3 };

static struct {
    int64_t last_ns; /* the last event of the simulation */
    bool    planning;
    int64_t ticks_ns[TICKS + 8];
    size_t  ticks;
    int64_t longest_ns;
    bool    measuring;
} seen;

static int64_t now_ns(void) {
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static _Noreturn void wrong(const char *what) {
    fprintf(stderr, "bench_tick: %s\n", what);
    exit(1);
}

static void failed(void *context, const char *why) {
    (void)context;
    wrong(why);
}

/* Between the event that begins a handler of the planner and the next one lies that handler. */
static void on_event(void *context, const dn_sim_event *e) {
    const int64_t at_ns = now_ns();

    (void)context;
    if (seen.planning && seen.ticks > 0) {
        const int64_t took_ns = at_ns - seen.last_ns;
        seen.ticks_ns[seen.ticks - 1] += took_ns;
        if (took_ns > seen.longest_ns) seen.longest_ns = took_ns;
    }
    seen.planning = seen.measuring && e->kind == DN_SIM_HANDLE &&
                    strcmp(e->name, ACTOR_TICK) == 0 && e->msg_kind >= MSG_OWN &&
                    e->msg_kind < MSG_OWN + HANDLERS_OF_A_TICK;
    if (seen.planning && e->msg_kind == MSG_OWN && seen.ticks < TICKS) seen.ticks++;
    seen.last_ns = now_ns();
}

static dn_script_answer ok_at_once(void *context, const dn_run_request *request) {
    (void)context, (void)request;
    return (dn_script_answer){.end = DN_SCRIPT_ENDS,
                              .result = dn_run_result_of(DN_OUTCOME_OK, DN_CODE_NONE, 0)};
}

static dn_store *store_with(uint64_t users) {
    static dn_write        writes[BATCH];
    static dn_write_result results[BATCH];
    static char            ids[BATCH][24];
    dn_store              *store = NULL;
    char                   why[DN_STORE_WHY];

    if (dn_store_open(&(dn_store_config){.url = "memory:", .ledger_days = 1}, &store, why) < 0)
        wrong(why);
    for (uint64_t i = 0; i < users;) {
        size_t len = 0;
        for (; len < BATCH && i < users; len++, i++) {
            snprintf(ids[len], sizeof ids[len], "user-%llu", (unsigned long long)i);
            writes[len] = (dn_write){.op = DN_WRITE_SET,
                                     .set = {.id = ids[len],
                                             .id_len = (uint8_t)strlen(ids[len]),
                                             .due = (uint32_t)(i % DN_DAY_MINUTES),
                                             .starts_on = DAY}};
        }
        if (dn_store_write(store, writes, len, results, NULL) < 0) wrong("no memory for the users");
    }
    return store;
}

static int by_time(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static void print(uint64_t n, const char *metric, double ms) {
    printf("{\"peer\":\"diurnal\",\"bench\":\"tick\",\"n\":%llu,\"metric\":\"%s\",\"value\":%.3f,"
           "\"unit\":\"ms\"}\n",
           (unsigned long long)n, metric, ms);
}

int main(int argc, char **argv) {
    static dn_service_tree tree;
    const uint64_t         users = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
    const dn_sim_config config = {.seed = 1, .wall_ms = dn_day_start_ms(DAY), .on_event = on_event};
    dn_sim             *sim = NULL;

    if (users == 0) wrong("want a number of users");
    dn_log_threshold(DN_LOG_WARN);
    const dn_service_config service = {
        .tick_ms = 60000,
        .window_minutes = 60,
        .retry_delay_minutes = 10,
        .max_concurrency = 64,
        .job_timeout_ms = 60000,
        .ledger_days = 1,
        .store = store_with(users),
        .runner = {.concurrency_max = 64, .script = ok_at_once},
        .fatal = failed,
    };
    dn_service_tree_make(&service, NULL, 0, &tree);
    const dn_spawn_spec root = {
        .actor_class = &dn_supervisor_class, .config = &tree.top, .name = "diurnal"};
    if (dn_sim_new(&config, &sim) < 0 || dn_sim_boot(sim, &root) < 0)
        wrong("the service does not start");
    if (dn_sim_run(sim, SETTLE * DN_MINUTE_MS - 30000) != DN_SIM_TIME_UP)
        wrong("the service ended before its time");
    seen.measuring = true;
    if (dn_sim_run(sim, (SETTLE + TICKS) * DN_MINUTE_MS - 30000) != DN_SIM_TIME_UP)
        wrong("the service ended before its time");
    if (seen.ticks != TICKS) wrong("not every minute had its tick");
    dn_day_totals totals;
    size_t        len = 0;
    if (dn_store_totals(service.store, DAY, DAY, &totals, 1, &len) < 0 || len != 1 ||
        totals.success < users / DN_DAY_MINUTES * (SETTLE + TICKS))
        wrong("the users were not served: this was no steady state");
    qsort(seen.ticks_ns, TICKS, sizeof *seen.ticks_ns, by_time);
    const size_t half = TICKS / 2, nineteen_of_twenty = TICKS * 95 / 100;
    print(users, "p50_ms", (double)seen.ticks_ns[half] / 1e6);
    print(users, "p95_ms", (double)seen.ticks_ns[nineteen_of_twenty] / 1e6);
    print(users, "max_ms", (double)seen.ticks_ns[TICKS - 1] / 1e6);
    print(users, "longest_handler_ms", (double)seen.longest_ns / 1e6);
    dn_sim_free(sim);
    dn_store_free(service.store);
    return 0;
}
