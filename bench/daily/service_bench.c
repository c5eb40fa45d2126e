/* service_bench.c - the daily service as a whole, on a real store and real loops, with users by the million.
 *
 *     bench_service make  DIR N PLAN     a store with N users; nothing is measured
 *     bench_service load  DIR            how long until all are known and planning begins, and what they take
 *     bench_service jobs  DIR            no-op jobs for all of them, each committed
 *     bench_service herd  DIR            all of them are finalized at once
 *     bench_service load|jobs|herd DIR observed    the same with metrics and SLOs listening, as in the daemon
 *     bench_service load|jobs|herd DIR recorded    that, and a record is written to DIR.trace
 *     bench_service jobs DIR observed|recorded planned    the first jobs wait until everybody is planned, and the record
 *                                  has its users: what is measured are jobs, and not how all begins
 *
 * PLAN: where their due times lie: `spread` over the day, `soon` in half an hour, `past` a minute ago.
 * Figures of an observed run are of the bench load_observed and so on, load_recorded and jobs_planned_recorded likewise; it ends with what the text of a scrape takes. */
#include "api/scrape.h"
#include "daily/daily_messages.h"
#include "daily/slo.h"
#include "diurnal/runtime.h"
#include "obs/log.h"
#include "obs/metrics.h"
#include "service/service.h"
#include "trace/recorder.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 4096, LOOK = 1, LOOK_MS = 2, REPORT_ACTORS = 64, TEXTS = 300, PLANNED_MS = 1500 };

static int64_t now_ns(void) {
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t wall_ms(void) {
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Of all threads. */
static int64_t cpu_ns(void) {
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static double rss_bytes(void) {
    char  line[128], *end = line;
    FILE *f = fopen("/proc/self/statm", "r");

    if (!f || !fgets(line, sizeof line, f)) exit(1);
    fclose(f);
    (void)strtoul(line, &end, 10); /* the whole; then what is there */
    const unsigned long resident = strtoul(end, NULL, 10);
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static _Noreturn void wrong(const char *what) {
    fprintf(stderr, "bench_service: %s\n", what);
    exit(1);
}

static void print(const char *bench, const char *metric, double value, const char *unit,
                  uint64_t n) {
    printf("{\"peer\":\"diurnal\",\"bench\":\"%s\",\"n\":%llu,\"metric\":\"%s\",\"value\":%.3f,"
           "\"unit\":\"%s\"}\n",
           bench, (unsigned long long)n, metric, value, unit);
    fflush(stdout);
}

static dn_store *store_open(const char *dir) {
    dn_store *store = NULL;
    char      why[DN_STORE_WHY], url[4096];

    (void)snprintf(url, sizeof url, "sqlite:%s", dir);
    if (dn_store_open(&(dn_store_config){.url = url, .ledger_days = 35}, &store, why) < 0)
        wrong(why);
    return store;
}

/* ---- make ---- */

static uint32_t due_of(const char *plan, uint64_t i, int64_t at_ms) {
    const uint32_t minute = (uint32_t)((at_ms / DN_MINUTE_MS) % DN_DAY_MINUTES);

    if (strcmp(plan, "spread") == 0) return (uint32_t)(i % DN_DAY_MINUTES);
    if (strcmp(plan, "soon") == 0) return (minute + 30) % DN_DAY_MINUTES;
    if (strcmp(plan, "past") == 0) return (minute + DN_DAY_MINUTES - 1) % DN_DAY_MINUTES;
    wrong("a plan is spread, soon or past");
}

/* Spread over the day they are as if the service had run: nobody's cutoff has passed unseen. */
static dn_day first_day(const char *plan, uint32_t due, int64_t at_ms) {
    return strcmp(plan, "spread") == 0 ? dn_daily_starts_on(due, at_ms) : dn_day_of_ms(at_ms);
}

static void make(const char *dir, uint64_t n, const char *plan) {
    static dn_write        writes[BATCH];
    static dn_write_result results[BATCH];
    static char            ids[BATCH][24];
    const int64_t          at_ms = wall_ms();
    dn_store              *store = store_open(dir);

    for (uint64_t i = 0; i < n;) {
        size_t len = 0;
        for (; len < BATCH && i < n; len++, i++) {
            snprintf(ids[len], sizeof ids[len], "user-%llu", (unsigned long long)i);
            writes[len] = (dn_write){
                .op = DN_WRITE_SET,
                .set = {.id = ids[len],
                        .id_len = (uint8_t)strlen(ids[len]),
                        .due = due_of(plan, i, at_ms),
                        .starts_on = first_day(plan, due_of(plan, i, at_ms), at_ms)},
            };
        }
        if (dn_store_write(store, writes, len, results, NULL) < 0)
            wrong("the users cannot be registered");
    }
    dn_store_free(store);
}

/* ---- A no-op job ---- */

static dn_run_result nothing(void *context, const dn_run_request *request, dn_run_answer *answer) {
    (void)context, (void)request, (void)answer;
    return dn_run_result_of(DN_OUTCOME_OK, DN_CODE_NONE, 0);
}
static const dn_native_job no_op = {.name = "no-op", .fn = nothing};

/* The same, but none ends before jobs are measured, so that no slot is free. */
static int64_t planned_ns; /* set before the run; 0: nobody waits */

static dn_script_answer nothing_yet(void *context, const dn_run_request *request) {
    const int64_t left_ns = planned_ns - now_ns();

    (void)context, (void)request;
    return (dn_script_answer){
        .end = DN_SCRIPT_ENDS,
        .result = dn_run_result_of(DN_OUTCOME_OK, DN_CODE_NONE, 0),
        .duration_ms = left_ns > 0 ? (left_ns + 999999) / 1000000 : 0,
    };
}

static void failed(void *context, const char *why) {
    (void)context;
    wrong(why);
}

/* ---- Who watches: an actor beside the service ---- */

typedef struct watcher {
    const char *bench;
    bool        observed;
    uint64_t    users;
    const char *waits_for; /* a file that is there when jobs begin; NULL: none */
    int64_t     began_ns, loaded_ns;
    int64_t     from_ns, from_cpu_ns; /* jobs are measured from there */
    double      rss_before;
    uint64_t    wanted; /* writes until it is over; 0: until all are loaded and a tick is through */
    int64_t     first_ns;
    uint64_t    first_writes;
    bool        reporting;
    int         loops_left;
    int64_t     longest_ns;
    char        longest[DN_NAME_MAX + 1];
} watcher;

static watcher seen;

static int watcher_init(dn_self *self, void *state, const void *config) {
    (void)state, (void)config;
    dn_timer_after(self, LOOK_MS, LOOK, 0);
    return DN_OK;
}

static int watcher_on_look(dn_self *self, void *state, const dn_msg *msg) {
    (void)state, (void)msg;
    const char    *whom = seen.wanted > 0 && seen.loaded_ns ? ACTOR_KV : ACTOR_TICK;
    const uint32_t kind = seen.wanted > 0 && seen.loaded_ns ? MSG_KV_STATUS : MSG_ASK_STATUS;
    const int      rc = dn_call(self, dn_name(self, whom), kind, NULL, 0, 60000, NULL);
    if (rc == DN_EDEAD || rc == DN_EFULL) dn_timer_after(self, LOOK_MS, LOOK, 0);
    return DN_OK;
}

static int report(dn_self *self) {
    static const char *const loops[] = {"main", "run", "store"};

    for (size_t i = 0; i < 3; i++) dn_inspect(self, loops[i], REPORT_ACTORS);
    seen.loops_left = 3;
    return DN_OK;
}

static int finish(dn_self *self) {
    const uint32_t format = DN_METRICS_TEXT;

    seen.reporting = true;
    if (!seen.observed) return report(self);
    if (dn_call(self, dn_name(self, DN_METRICS), DN_METRICS_SCRAPE, &format, sizeof format, 60000,
                NULL) < 0)
        wrong("nobody is there to scrape");
    return DN_OK;
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* By now every actor that a scrape shows has its series. */
static int watcher_on_page(dn_self *self, void *state, const dn_msg *msg) {
    static double ms[TEXTS];
    char         *text = NULL;
    size_t        len = 0;
    int           series = 0;

    (void)state;
    if (dn_msg_size(msg) == 0) wrong("a scrape was answered with nothing");
    for (int i = 0; i < TEXTS; i++) {
        free(text);
        const int64_t from_ns = now_ns();
        if (dn_metrics_text(DN_METRICS_TEXT, &text, &len) < 0) wrong("no memory");
        ms[i] = (double)(now_ns() - from_ns) / 1e6;
    }
    qsort(ms, TEXTS, sizeof *ms, by_size);
    for (const char *line = text; *line; line = strchr(line, '\n') + 1) series += *line != '#';
    free(text);
    print(seen.bench, "text_ms", ms[TEXTS / 2], "ms", seen.users);
    print(seen.bench, "text_p99_ms", ms[TEXTS * 99 / 100], "ms", seen.users);
    print(seen.bench, "series", series, "1", seen.users);
    return report(self);
}

/* The herd is in the queue long before, whoever listens; so those who are compared wait equally long. */
static void jobs_begin(void) {
    if (seen.waits_for && access(seen.waits_for, F_OK) < 0)
        wrong("the record has not got its users before the first jobs end");
    seen.from_ns = planned_ns ? planned_ns : now_ns();
    seen.from_cpu_ns = cpu_ns();
    if (planned_ns)
        print(seen.bench, "begin_cpu_us_each", (double)seen.from_cpu_ns / 1e3 / (double)seen.users,
              "us", seen.users);
}

static int on_tick_status(dn_self *self, const dn_tick_status *t) {
    if (t->loaded && !seen.loaded_ns) {
        seen.loaded_ns = now_ns();
        if (!planned_ns) jobs_begin();
        print(seen.bench, "load_s", (double)(seen.loaded_ns - seen.began_ns) / 1e9, "s", t->users);
        if (t->users != seen.users) wrong("not all users were loaded");
    }
    if (seen.wanted == 0 && t->ticks > 0) {
        print(seen.bench, "planned_after_load_s", (double)(now_ns() - seen.loaded_ns) / 1e9, "s",
              t->users);
        print(seen.bench, "first_tick_ms", (double)t->took_us / 1e3, "ms", t->users);
        print(seen.bench, "bytes_per_user", (rss_bytes() - seen.rss_before) / (double)t->users, "B",
              t->users);
        print(seen.bench, "roster_bytes_per_user", (double)t->index_bytes / (double)t->users, "B",
              t->users);
        return finish(self);
    }
    dn_timer_after(self, LOOK_MS, LOOK, 0);
    return DN_OK;
}

static int on_kv_status(dn_self *self, const dn_kv_status *k) {
    if (!seen.first_ns && k->writes > 0) {
        seen.first_ns = now_ns();
        seen.first_writes = k->writes;
    }
    if (!seen.from_ns && now_ns() >= planned_ns) jobs_begin();
    if (k->writes < seen.wanted) {
        dn_timer_after(self, LOOK_MS, LOOK, 0);
        return DN_OK;
    }
    const double s = (double)(now_ns() - seen.from_ns) / 1e9;
    const double cpu_us = (double)(cpu_ns() - seen.from_cpu_ns) / 1e3;
    print(seen.bench, "committed_s", s, "s", seen.users);
    print(seen.bench, "per_s", (double)seen.users / s, "1/s", seen.users);
    print(seen.bench, "cpu_us_each", cpu_us / (double)seen.users, "us", seen.users);
    print(seen.bench, "writes_a_commit", (double)k->writes / (double)k->commits, "1", seen.users);
    return finish(self);
}

static int watcher_on_status(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    if (seen.reporting) return DN_OK;
    if (dn_msg_size(msg) == sizeof(dn_kv_status))
        return on_kv_status(self, DN_BODY(dn_kv_status, msg));
    return on_tick_status(self, DN_BODY(dn_tick_status, msg));
}

/* kv may take as long as its disk does; nobody else may. */
static int watcher_on_report(dn_self *self, void *state, const dn_msg *msg) {
    const dn_report *r = dn_msg_body_borrow(msg);

    (void)state;
    for (size_t i = 0; dn_msg_size(msg) > 0 && i < r->actors_len; i++) {
        const dn_actor_report *a = &r->rows[i];
        if (strcmp(a->name, ACTOR_KV) == 0 || a->longest_ns <= seen.longest_ns) continue;
        seen.longest_ns = a->longest_ns;
        snprintf(seen.longest, sizeof seen.longest, "%s", a->name);
    }
    if (--seen.loops_left > 0) return DN_OK;
    print(seen.bench, "longest_handler_ms", (double)seen.longest_ns / 1e6, "ms", seen.users);
    fprintf(stderr, "bench_service: the longest handler was %s's\n", seen.longest);
    dn_runtime_stop(dn_self_runtime(self));
    return DN_OK;
}

static int watcher_on_call_failed(dn_self *self, void *state, const dn_msg *msg) {
    (void)state, (void)msg;
    dn_timer_after(self, LOOK_MS, LOOK, 0);
    return DN_OK;
}

static const dn_handler watcher_rows[] = {
    {LOOK, watcher_on_look},
    {MSG_STATUS, watcher_on_status},
    {DN_METRICS_PAGE, watcher_on_page},
    {DN_MSG_REPORT, watcher_on_report},
    {DN_MSG_CALL_FAILED, watcher_on_call_failed},
};
static const dn_class watcher_class = {
    .name = "watcher", .init = watcher_init, .handlers = DN_SLICE(watcher_rows)};

/* ---- A run ---- */

/* As the daemon has them, with its defaults. */
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

/* As the daemon does: how much is heard of it. */
typedef enum heard { HEARD_NOT, HEARD_OBSERVED, HEARD_RECORDED } heard;

static dn_recorder *record(const char *dir, dn_service_config *service) {
    static char        path[4096]; /* is there when all its users are in it */
    dn_recorder_config config = {
        .path = path, .bytes_max = INT64_MAX, .files = 0, .service = service, .slo = &slo_config};
    dn_recorder *recorder = NULL;

    snprintf(path, sizeof path, "%s.trace", dir);
    if (unlink(path) < 0 && errno != ENOENT) wrong("the trace before is in the way");
    if (planned_ns) seen.waits_for = path;
    if (dn_recorder_new(&config, &recorder) < 0) wrong("no memory");
    service->journal = dn_recorder_journal_borrow(recorder);
    service->witness = dn_recorder_child_borrow(recorder);
    return recorder;
}

static void run(const char *bench, const char *dir, uint32_t k, heard how, bool planned) {
    static const char *const loops[] = {"main", "run", "store", "record"};
    const bool               observed = how != HEARD_NOT;
    static dn_service_tree   tree;
    static char              name[32], why[DN_METRICS_WHY];
    dn_store                *store = store_open(dir);
    const dn_runtime_config  config = {.loops = loops,
                                       .loops_len = DN_SERVICE_LOOPS + (how == HEARD_RECORDED)};
    dn_service_config        service = {
               .tick_ms = 3600000, /* the one at the start is all there is to be */
               .window_minutes = 60,
               .retry_delay_minutes = 10,
               .max_concurrency = k,
               .job_timeout_ms = 60000,
               .shutdown_grace_ms = 1000,
               .ledger_days = 35,
               .store = store,
               .runner = {.url = "native:no-op", .concurrency_max = k, .jobs = &no_op, .jobs_len = 1},
               .fatal = failed,
    };
    dn_daily_slo_init(&slo, &slo_config);
    const dn_child_spec edge[] = {{.name = "watcher", .actor_class = &watcher_class},
                                  dn_metrics_child(&service),
                                  dn_slo_watcher_child(&slo.watcher)};
    dn_runtime         *runtime = NULL;
    if (planned) {
        planned_ns = now_ns() + PLANNED_MS * INT64_C(1000000);
        service.runner.script = nothing_yet;
        service.runner.url = NULL;
    }
    dn_recorder *recorder = how == HEARD_RECORDED ? record(dir, &service) : NULL;

    if (observed && dn_daemon_metrics_start("0", "bench", why) < 0) wrong(why);
    snprintf(name, sizeof name, "%s%s%s", bench, planned ? "_planned" : "",
             recorder   ? "_recorded"
             : observed ? "_observed"
                        : "");
    seen.bench = name;
    seen.observed = observed;
    if (dn_store_count(store, &seen.users) < 0 || seen.users == 0) wrong("there are no users");
    if (strcmp(bench, "load") != 0) seen.wanted = seen.users;
    seen.rss_before = rss_bytes();
    seen.began_ns = now_ns();
    dn_service_tree_make(&service, edge, observed ? 3 : 1, &tree);
    const dn_spawn_spec root = {
        .actor_class = &dn_supervisor_class, .config = &tree.top, .name = "diurnal"};
    if (dn_runtime_new(&config, &runtime) < 0 || dn_runtime_run(runtime, &root) < 0)
        wrong("the service did not run to its end");
    dn_runtime_free(runtime);
    dn_recorder_free(recorder);
    dn_store_free(store);
}

static bool is(const char *word, const char *other) { return word && strcmp(word, other) == 0; }

static heard heard_of(const char *word) {
    if (!word) return HEARD_NOT;
    if (is(word, "observed")) return HEARD_OBSERVED;
    if (is(word, "recorded")) return HEARD_RECORDED;
    wrong("who listens is observed or recorded");
}

int main(int argc, char **argv) {
    dn_log_threshold(DN_LOG_WARN);
    if (argc == 5 && is(argv[1], "make")) make(argv[2], strtoull(argv[3], NULL, 10), argv[4]);
    else if (argc == 5 && is(argv[1], "jobs") && is(argv[4], "planned"))
        run(argv[1], argv[2], 64, heard_of(argv[3]), /* planned= */ true);
    else if ((argc == 3 || argc == 4) &&
             (is(argv[1], "load") || is(argv[1], "jobs") || is(argv[1], "herd")))
        run(argv[1], argv[2], 64, heard_of(argv[3]), /* planned= */ false);
    else
        wrong("make DIR N PLAN | load DIR | jobs DIR | herd DIR; each but make may end in observed "
              "or recorded, and jobs behind that in planned");
    return 0;
}
