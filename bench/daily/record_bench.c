/* record_bench.c - what a job costs more when it is recorded.
 *
 *     bench_record N FILE
 *     bench_record N -       the same, and nobody listens: what is left is the bench's own
 *
 * Says N times, on the executor's loop, that a job has stopped, some 250,000 a second, with the recorder listening: the
 * note, the message, the line and its way into the file. `cpu_ns_each` is the time of all threads, `tell_ns_each` what
 * of it is spent where jobs are run; the record costs what they are more than without it. A job by itself is
 * cpu_us_each of `bench_service jobs`. */
#include "diurnal/runtime.h"
#include "obs/log.h"
#include "service/messages.h"
#include "service/recorder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* As many ids as jobs run at once: those of the slots. */
enum { SAY = 1, SLICE = 64, USERS = 64, SLICES_A_TURN = 4 };

static struct {
    const dn_journal *journal;
    long              n, said;
    int64_t           telling_ns, cpu_from_ns;
    struct {
        uint8_t len;
        char    text[15];
    } ids[USERS];
} bench;

static _Noreturn void wrong(const char *what) {
    fprintf(stderr, "bench_record: %s\n", what);
    exit(1);
}

static int64_t cpu_ns(clockid_t clock) {
    struct timespec t;

    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void print(const char *metric, int64_t ns) {
    printf("{\"peer\":\"diurnal\",\"bench\":\"%s\",\"n\":%ld,\"metric\":\"%s\",\"value\":%.1f,"
           "\"unit\":\"ns\"}\n",
           bench.journal ? "recorded" : "unrecorded", bench.n, metric,
           (double)ns / (double)bench.n);
}

/* ---- Who stands for the service ---- */

static int kv_on_list(dn_self *self, void *state, const dn_msg *msg) {
    const dn_kv_list_answer nobody = {.status = DN_OK};

    (void)state;
    dn_reply(self, msg, DN_KV_ANSWER, &nobody, sizeof nobody);
    return DN_OK;
}

static const dn_handler kv_rows[] = {{DN_KV_LIST, kv_on_list}};
static const dn_class   kv_class = {.name = "kv", .handlers = DN_SLICE(kv_rows)};

static int planner_init(dn_self *self, void *state, const void *config) {
    (void)state, (void)config;
    DN_SAY(bench.journal, self, .kind = DN_HAPPENED_TICK, .at_ms = dn_now_ms(self));
    return DN_OK;
}

static const dn_class planner_class = {.name = "planner", .init = planner_init};

static int teller_init(dn_self *self, void *state, const void *config) {
    (void)state, (void)config;
    dn_timer_after(self, 1500, SAY, 0); /* the trace has begun, and its users are written */
    return DN_OK;
}

static void say_one(dn_self *self, long i) {
    DN_SAY(bench.journal, self, .kind = DN_HAPPENED_STOPPED, .n = (uint64_t)(i & (USERS - 1)) + 1,
           .id = bench.ids[i & (USERS - 1)].text, .id_len = bench.ids[i & (USERS - 1)].len,
           .at_ms = dn_now_ms(self), .day = dn_day_of_ms(dn_now_ms(self)), .attempt = 1,
           .outcome = DN_OUTCOME_OK, .duration_ms = i % 1000);
}

/* What is between two slices is not counted, and lets the others in. */
static int teller_on_say(dn_self *self, void *state, const dn_msg *msg) {
    const int64_t from_ns = cpu_ns(CLOCK_THREAD_CPUTIME_ID);

    (void)state, (void)msg;
    if (bench.said == 0) bench.cpu_from_ns = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < SLICE * SLICES_A_TURN && bench.said < bench.n; i++)
        say_one(self, bench.said++);
    bench.telling_ns += cpu_ns(CLOCK_THREAD_CPUTIME_ID) - from_ns;
    if (bench.said < bench.n) dn_timer_after(self, 1, SAY, 0);
    else dn_runtime_stop(dn_self_runtime(self));
    return DN_OK;
}

static const dn_handler teller_rows[] = {{SAY, teller_on_say}};
static const dn_class   teller_class = {
      .name = "teller", .init = teller_init, .handlers = DN_SLICE(teller_rows)};

static void make_ids(void) {
    for (int i = 0; i < USERS; i++)
        bench.ids[i].len =
            (uint8_t)snprintf(bench.ids[i].text, sizeof bench.ids[i].text, "user-%d", 100000 + i);
}

int main(int argc, char **argv) {
    static const char *const           loops[] = {"main", "run", "store", "record"};
    static const dn_service_config     service = {.tick_ms = 60000, .job_timeout_ms = 60000};
    static const dn_slo_watcher_config watcher = {.eval_ms = 60000};
    const dn_runtime_config            config = {.loops = loops, .loops_len = 4};
    dn_runtime                        *runtime = NULL;
    dn_recorder                       *recorder = NULL;

    if (argc != 3 || (bench.n = strtol(argv[1], NULL, 10)) < 1) wrong("N FILE");
    dn_log_threshold(DN_LOG_WARN);
    make_ids();
    const dn_recorder_config how = {
        .path = argv[2], .bytes_max = INT64_MAX, .service = &service, .watcher = &watcher};
    if (dn_recorder_new(&how, &recorder) < 0 || dn_runtime_new(&config, &runtime) < 0)
        wrong("no memory");
    const bool alone = strcmp(argv[2], "-") == 0;
    if (!alone) bench.journal = dn_recorder_journal_borrow(recorder);
    const dn_child_spec children[] = {
        *dn_recorder_child_borrow(recorder),
        {.name = DN_KV, .cls = &kv_class, .loop = "store"},
        {.name = DN_TICK, .cls = &planner_class, .loop = "main"},
        {.name = DN_EXECUTOR, .cls = &teller_class, .loop = "run"},
    };
    dn_supervisor_spec top = {.strategy = DN_ONE_FOR_ONE, .intensity = 1};
    top.children.rows = children + alone;
    top.children.len = 4 - alone;
    const dn_spawn_spec root = {.cls = &dn_supervisor_class, .config = &top, .name = "top"};
    if (dn_runtime_run(runtime, &root) < 0) wrong("the recorder did not run to its end");
    const int64_t whole_ns = cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - bench.cpu_from_ns;
    print("cpu_ns_each", whole_ns);
    print("tell_ns_each", bench.telling_ns);
    dn_runtime_free(runtime);
    dn_recorder_free(recorder);
    return 0;
}
