/* common.c - the conductor and the measuring tools of the actor benches. */
#include "common.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "diurnal/runtime.h"

enum { NS_PER_S = 1000000000, NS_PER_US = 1000 };

/* ---- The conductor ---- */

typedef struct conductor {
    bench_run *run; /* on the stack of bench_perform, which outlives every actor */
    bool       playing;
    uint64_t   crash_points_before;
} conductor;

static int conductor_init(dn_self *self, void *state, const void *config);
static int conductor_on_done(dn_self *self, void *state, const dn_msg *msg);
static int conductor_on_ready(dn_self *self, void *state, const dn_msg *msg);
static int conductor_on_started(dn_self *self, void *state, const dn_msg *msg);
static int conductor_on_report(dn_self *self, void *state, const dn_msg *msg);

static const dn_handler conductor_handlers[] = {
    {BENCH_DONE, conductor_on_done},        /* crew    -> the run is over, or one part of it */
    {BENCH_READY, conductor_on_ready},      /* crew    -> one more has been briefed */
    {DN_MSG_STARTED, conductor_on_started}, /* runtime -> one more is alive, on another loop */
    {DN_MSG_REPORT, conductor_on_report},   /* runtime -> jump points set so far */
};

static const dn_class conductor_class = {
    .name = "conductor",
    .state_size = sizeof(conductor),
    .init = conductor_init,
    .handlers = DN_SLICE(conductor_handlers),
    .mailbox_max = BENCH_MAILBOX_MAX,
};

static void conductor_brief(dn_self *self, conductor *c);

static void conductor_begin(dn_self *self, conductor *c) {
    bench_run *run = c->run;

    run->n = run->measured ? run->n_asked : run->n_asked / BENCH_WARM_UP_SHARE;
    run->crew_len = run->crew_here = 0;
    run->ready = run->ready_wanted = 0;
    run->done = run->done_sum = 0;
    c->playing = false;
    run->bench->hire(self, run);
    if (run->crew_here == run->crew_len) conductor_brief(self, c);
}

static void conductor_start(dn_self *self, conductor *c) {
    c->playing = true;
    c->run->bench->start(self, c->run);
}

/* Everything but the start itself is over. Asking for the report is outside what is timed. */
static void conductor_ready(dn_self *self, conductor *c) {
    if (c->run->measured && c->run->bench->counts_crash_points) {
        dn_inspect(self, NULL, /* max= */ 0);
    } else {
        conductor_start(self, c);
    }
}

static void conductor_brief(dn_self *self, conductor *c) {
    bench_run *run = c->run;

    if (run->bench->brief) run->ready_wanted = run->bench->brief(self, run);
    if (run->ready_wanted == 0) conductor_ready(self, c);
}

/* The crew of a run goes before the next one is hired; most of it has ended by itself. */
static int conductor_finish(dn_self *self, conductor *c) {
    bench_run *run = c->run;

    for (size_t i = 0; i < run->crew_len; i++) {
        const int rc = dn_kill(self, run->crew[i]);
        if (rc != DN_OK && rc != DN_EDEAD) return rc;
    }
    if (run->measured) return DN_STOP;
    run->measured = true;
    conductor_begin(self, c);
    return DN_OK;
}

static int conductor_init(dn_self *self, void *state, const void *config) {
    conductor *c = state;

    c->run = *(bench_run *const *)config;
    c->run->measured = c->run->bench->warms_up_itself || c->run->n_asked < BENCH_WARM_UP_SHARE;
    conductor_begin(self, c);
    return DN_OK;
}

static int conductor_on_started(dn_self *self, void *state, const dn_msg *msg) {
    conductor        *c = state;
    const dn_started *started = DN_BODY(dn_started, msg);

    if (started->status != DN_OK) {
        bench_wrong("an actor did not start: %s", dn_error_text(started->status));
    }
    c->run->crew[started->tag] = started->who;
    if (++c->run->crew_here == c->run->crew_len) conductor_brief(self, c);
    return DN_OK;
}

static int conductor_on_ready(dn_self *self, void *state, const dn_msg *msg) {
    conductor *c = state;

    (void)msg;
    if (++c->run->ready == c->run->ready_wanted) conductor_ready(self, c);
    return DN_OK;
}

static int conductor_on_done(dn_self *self, void *state, const dn_msg *msg) {
    conductor        *c = state;
    const bench_done *done = DN_BODY(bench_done, msg);

    c->run->done++;
    c->run->done_sum += done->value;
    if (!c->run->bench->done(c->run, done)) return DN_OK;
    if (c->run->measured && c->run->bench->counts_crash_points) {
        dn_inspect(self, NULL, /* max= */ 0);
        return DN_OK;
    }
    return conductor_finish(self, c);
}

static int conductor_on_report(dn_self *self, void *state, const dn_msg *msg) {
    conductor       *c = state;
    const dn_report *report = dn_msg_body_borrow(msg);

    if (!c->playing) {
        c->crash_points_before = report->crash_points;
        conductor_start(self, c);
        return DN_OK;
    }
    c->run->crash_points = report->crash_points - c->crash_points_before;
    return conductor_finish(self, c);
}

/* ---- One bench, from outside ---- */

/* A crash that is part of the bench is not worth a line, and one that is not makes the figures
 * worthless. Floods are what some benches do, so stalls are none of our business. */
static void on_notice(void *context, const dn_notice *notice) {
    const bench *what = context;

    switch (notice->kind) {
    case DN_NOTICE_CRASH:
        if (what->crashes) return;
        bench_wrong("%s: %s crashed: %s (%s)", what->name, notice->actor, notice->why,
                    dn_error_text(notice->reason));
    case DN_NOTICE_UNHANDLED:
        bench_wrong("%s: %s was sent a message of kind %" PRIu32 " it has no handler for",
                    what->name, notice->actor, notice->msg_kind);
    case DN_NOTICE_LEFTOVER: dn_notice_print(NULL, notice); return;
    case DN_NOTICE_DEAD_LETTERS:
    case DN_NOTICE_STALL:
    case DN_NOTICE_STALL_OVER:
    case DN_NOTICE_CLOCK_STEP: return;
    }
}

void bench_perform(const bench *what, int threads, uint64_t n) {
    static const char *const loops[] = {"main", BENCH_SECOND};
    static bench_run         run; /* too large for comfort on a stack; one process, one bench */
    bench_run *const         run_address = &run;
    dn_runtime              *runtime = NULL;
    int                      rc;

    run = (bench_run){.bench = what, .threads = threads, .n_asked = n};
    rc = dn_runtime_new(&(dn_runtime_config){.loops = loops,
                                             .loops_len = (size_t)threads,
                                             .notice = on_notice,
                                             .notice_context = (void *)(uintptr_t)what},
                        &runtime);
    if (rc != DN_OK) bench_wrong("no runtime: %s", dn_error_text(rc));
    rc = dn_runtime_run(runtime, &(dn_spawn_spec){.actor_class = &conductor_class,
                                                  .config = &run_address,
                                                  .config_size = sizeof run_address});
    if (rc != DN_OK) bench_wrong("%s ended with: %s", what->name, dn_error_text(rc));
    what->report(&run);
    dn_runtime_free(runtime);
    free(run.data);
}

/* ---- For the functions of a bench ---- */

void bench_hire(dn_self *self, bench_run *run, const dn_class *cls, const void *config,
                size_t config_size, const char *loop) {
    const size_t index = run->crew_len++;
    dn_ref       who = DN_NOBODY;
    int          rc;

    if (index >= BENCH_CREW_MAX) bench_wrong("a crew of more than %d", BENCH_CREW_MAX);
    rc = dn_spawn(self,
                  &(dn_spawn_spec){.actor_class = cls,
                                   .config = config,
                                   .config_size = config_size,
                                   .loop = loop,
                                   .tag = index},
                  &who);
    if (rc == DN_PENDING) return; /* conductor_on_started goes on */
    if (rc != DN_OK) bench_wrong("cannot spawn %s: %s", cls->name, dn_error_text(rc));
    run->crew[index] = who;
    run->crew_here++;
}

void bench_tell(dn_self *self, dn_ref whom, uint32_t kind, const void *body, size_t size) {
    const int rc = dn_send(self, whom, kind, body, size);

    if (rc != DN_OK) bench_wrong("cannot send: %s", dn_error_text(rc));
}

void bench_tell_all(dn_self *self, const bench_run *run, uint32_t kind) {
    for (size_t i = 0; i < run->crew_len; i++) bench_tell(self, run->crew[i], kind, NULL, 0);
}

bool bench_done_by_one(bench_run *run, const bench_done *done) {
    run->began_ns = 0;
    run->ended_ns = done->ns;
    return true;
}

void *bench_data(bench_run *run, size_t size) {
    if (run->data) return run->data;
    run->data = calloc(1, size);
    if (!run->data) bench_wrong("no memory for %zu bytes of figures", size);
    return run->data;
}

int bench_answer_ready(dn_self *self, const dn_msg *brief) {
    return dn_send(self, dn_msg_from(brief), BENCH_READY, NULL, 0);
}

/* Apart: it is said once a run, and is not to take registers from what is done a million times. */
__attribute__((noinline)) int bench_tell_done(dn_self *self, dn_ref conductor_ref, int64_t ns,
                                              uint64_t value) {
    const bench_done done = {ns, value};

    return dn_send(self, conductor_ref, BENCH_DONE, &done, sizeof done);
}

/* ---- Measures ---- */

int64_t bench_now_ns(void) {
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static int64_t ns_of_timeval(struct timeval span) {
    return span.tv_sec * NS_PER_S + span.tv_usec * NS_PER_US;
}

int64_t bench_cpu_ns(void) {
    struct rusage used;

    getrusage(RUSAGE_SELF, &used);
    return ns_of_timeval(used.ru_utime) + ns_of_timeval(used.ru_stime);
}

int64_t bench_status_kb(const char *key) {
    const size_t key_len = strlen(key);
    char         line[256];
    long long    kb = -1;
    FILE        *status = fopen("/proc/self/status", "r");

    if (!status) bench_wrong("no /proc/self/status: memory cannot be measured here");
    while (kb < 0 && fgets(line, sizeof line, status)) {
        if (strncmp(line, key, key_len) != 0 || line[key_len] != ':') continue;
        kb = strtoll(line + key_len + 1, NULL, 10); /* "  1234 kB": the kernel's own words */
    }
    fclose(status);
    if (kb < 0) bench_wrong("no %s in /proc/self/status", key);
    return kb;
}

void bench_reset_peak(void) {
    FILE *refs = fopen("/proc/self/clear_refs", "w");

    if (!refs || fputs("5", refs) < 0 || fclose(refs) != 0) {
        bench_wrong("cannot reset VmHWM through /proc/self/clear_refs");
    }
}

static int compare_samples(const void *left, const void *right) {
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return (a > b) - (a < b);
}

void bench_sort(int64_t *samples, size_t len) {
    qsort(samples, len, sizeof *samples, compare_samples);
}

int64_t bench_rank(const int64_t *sorted, size_t len, unsigned permille) {
    const size_t rank = (len * permille + 999) / 1000;

    if (len == 0) bench_wrong("a percentile of nothing");
    return sorted[rank == 0 ? 0 : rank - 1];
}

void bench_print_line(const char *peer, const char *name, int threads, uint64_t n,
                      const char *metric, double value, const char *unit) {
    printf("{\"peer\":\"%s\",\"bench\":\"%s\",\"threads\":%d,\"n\":%" PRIu64
           ",\"metric\":\"%s\",\"value\":%.3f,\"unit\":\"%s\"}\n",
           peer, name, threads, n, metric, value, unit);
}

void bench_print(const bench_run *run, const char *metric, double value, const char *unit) {
    bench_print_line("diurnal", run->bench->name, run->threads, run->n, metric, value, unit);
}

void bench_print_rate(const bench_run *run, const char *metric) {
    const int64_t elapsed_ns = run->ended_ns - run->began_ns;

    if (elapsed_ns <= 0) bench_wrong("%s took no time", run->bench->name);
    bench_print(run, metric, (double)run->n / (double)elapsed_ns * NS_PER_S, "1/s");
}

void bench_wrong(const char *format, ...) {
    va_list args;

    va_start(args, format);
    fputs("bench_actors: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    abort();
}
