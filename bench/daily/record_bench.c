/* record_bench.c - what a job costs more when it is recorded.
 *
 *     bench_record N FILE
 *
 * Says of N jobs, some 250,000 a second, on the executor's loop what the service says of each, in turns with the recorder
 * listening and with nobody: the notes, the messages, the lines and their way into the file. `job_ns` is the CPU time of
 * all threads that the record takes of a job, `tell_ns` what of it is spent where jobs are run. Best of several rounds:
 * what a round costs more is the machine's. */
#include "daily/daily_messages.h"
#include "diurnal/runtime.h"
#include "obs/log.h"
#include "trace/recorder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* As many ids as jobs run at once: those of the slots. What is said is written within SETTLE_MS. */
enum { START = 1, SAY, SETTLED, USERS = 64, JOBS_A_TURN = 256, ROUNDS = 5, SETTLE_MS = 1000 };

typedef struct cost {
    int64_t cpu_ns, telling_ns;
} cost;

static struct {
    const dn_journal *recorder, *journal; /* journal: who listens in this half of the round */
    long              n, said;
    int               halves;
    cost              now, best[2]; /* of n jobs; with nobody, and recorded */
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

static void print(const char *metric, int64_t recorded_ns, int64_t alone_ns) {
    printf("{\"peer\":\"diurnal\",\"bench\":\"record\",\"n\":%ld,\"metric\":\"%s\",\"value\":%.1f,"
           "\"unit\":\"ns\"}\n",
           bench.n, metric, (double)(recorded_ns - alone_ns) / (double)bench.n);
}

/* ---- Who stands for the service ---- */

static int kv_on_list(dn_self *self, void *state, const dn_msg *msg) {
    const dn_kv_list_answer nobody = {.status = DN_OK};

    (void)state;
    dn_reply(self, msg, MSG_KV_ANSWER, &nobody, sizeof nobody);
    return DN_OK;
}

static const dn_handler kv_rows[] = {{MSG_KV_LIST, kv_on_list}};
static const dn_class   kv_class = {.name = "kv", .handlers = DN_SLICE(kv_rows)};

static int planner_init(dn_self *self, void *state, const void *config) {
    (void)state, (void)config;
    DN_SAY(bench.recorder, self, DN_HAPPENED_TICK_BEGINS, .at_ms = dn_now_ms(self));
    return DN_OK;
}

static const dn_class planner_class = {.name = "planner", .init = planner_init};

static void say_job(dn_self *self, long i) {
    const char   *id = bench.ids[i % USERS].text;
    const uint8_t id_len = bench.ids[i % USERS].len;
    const int64_t at_ms = dn_now_ms(self);
    const dn_day  day = dn_day_of_ms(at_ms);

#define SAY_OF_IT(what, ...)                                                                       \
    DN_SAY(bench.journal, self, (what), .registration = (uint64_t)(i % USERS) + 1, .id = id,       \
           .id_len = id_len, .at_ms = at_ms, .day = day, __VA_ARGS__)
    SAY_OF_IT(DN_HAPPENED_ENQUEUED, .attempt = 0);
    SAY_OF_IT(DN_HAPPENED_STARTED, .attempt = 1);
    SAY_OF_IT(DN_HAPPENED_STOPPED, .attempt = 1, .outcome = DN_OUTCOME_OK, .duration_ms = i % 1000);
    SAY_OF_IT(DN_HAPPENED_FINALIZED, .status = DN_DAILY_SUCCESS, .starts_on = day);
#undef SAY_OF_IT
}

static void half_begins(dn_self *self) {
    bench.journal = bench.halves % 2 == 0 ? NULL : bench.recorder;
    bench.said = 0;
    bench.now = (cost){.cpu_ns = cpu_ns(CLOCK_PROCESS_CPUTIME_ID)};
    dn_timer_after(self, 1, SAY, 0);
}

/* What is between two turns is not counted as telling, and lets the others in. */
static int teller_on_say(dn_self *self, void *state, const dn_msg *msg) {
    const int64_t from_ns = cpu_ns(CLOCK_THREAD_CPUTIME_ID);

    (void)state, (void)msg;
    for (int i = 0; i < JOBS_A_TURN && bench.said < bench.n; i++) say_job(self, bench.said++);
    bench.now.telling_ns += cpu_ns(CLOCK_THREAD_CPUTIME_ID) - from_ns;
    if (bench.said < bench.n) dn_timer_after(self, 1, SAY, 0);
    else dn_timer_after(self, SETTLE_MS, SETTLED, 0);
    return DN_OK;
}

static int64_t least(int64_t before, int64_t now) {
    return before == 0 || now < before ? now : before;
}

static int teller_on_settled(dn_self *self, void *state, const dn_msg *msg) {
    cost *best = &bench.best[bench.halves % 2];

    (void)state, (void)msg;
    best->cpu_ns = least(best->cpu_ns, cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - bench.now.cpu_ns);
    best->telling_ns = least(best->telling_ns, bench.now.telling_ns);
    if (++bench.halves < 2 * ROUNDS) half_begins(self);
    else dn_runtime_stop(dn_self_runtime(self));
    return DN_OK;
}

/* By then the trace has begun, and its users are written. */
static int teller_on_start(dn_self *self, void *state, const dn_msg *msg) {
    (void)state, (void)msg;
    half_begins(self);
    return DN_OK;
}

static int teller_init(dn_self *self, void *state, const void *config) {
    (void)state, (void)config;
    dn_timer_after(self, 2 * SETTLE_MS, START, 0);
    return DN_OK;
}

static const dn_handler teller_rows[] = {
    {START, teller_on_start}, {SAY, teller_on_say}, {SETTLED, teller_on_settled}};
static const dn_class teller_class = {
    .name = "teller", .init = teller_init, .handlers = DN_SLICE(teller_rows)};

static void make_ids(void) {
    for (int i = 0; i < USERS; i++)
        bench.ids[i].len =
            (uint8_t)snprintf(bench.ids[i].text, sizeof bench.ids[i].text, "user-%d", 100000 + i);
}

int main(int argc, char **argv) {
    static const char *const         loops[] = {"main", "run", "store", "record"};
    static const dn_service_config   service = {.tick_ms = 3600000, .job_timeout_ms = 60000};
    static const dn_daily_slo_config slo = {.eval_ms = 60000};
    const dn_runtime_config          config = {.loops = loops, .loops_len = 4};
    dn_runtime                      *runtime = NULL;
    dn_recorder                     *recorder = NULL;

    if (argc != 3 || (bench.n = strtol(argv[1], NULL, 10)) < 1) wrong("N FILE");
    dn_log_threshold(DN_LOG_WARN);
    make_ids();
    const dn_recorder_config how = {
        .path = argv[2], .bytes_max = INT64_MAX, .service = &service, .slo = &slo};
    if (dn_recorder_new(&how, &recorder) < 0 || dn_runtime_new(&config, &runtime) < 0)
        wrong("no memory");
    bench.recorder = dn_recorder_journal_borrow(recorder);
    const dn_child_spec children[] = {
        *dn_recorder_child_borrow(recorder),
        {.name = ACTOR_KV, .actor_class = &kv_class, .loop = "store"},
        {.name = ACTOR_TICK, .actor_class = &planner_class, .loop = "main"},
        {.name = ACTOR_EXECUTOR, .actor_class = &teller_class, .loop = "run"},
    };
    dn_supervisor_spec top = {.strategy = DN_ONE_FOR_ONE, .intensity = 1};
    top.children.rows = children;
    top.children.len = 4;
    const dn_spawn_spec root = {.actor_class = &dn_supervisor_class, .config = &top, .name = "top"};
    if (dn_runtime_run(runtime, &root) < 0) wrong("the recorder did not run to its end");
    print("job_ns", bench.best[1].cpu_ns, bench.best[0].cpu_ns);
    print("tell_ns", bench.best[1].telling_ns, bench.best[0].telling_ns);
    dn_runtime_free(runtime);
    dn_recorder_free(recorder);
    return 0;
}
