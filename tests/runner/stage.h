/* stage.h - what the tests of runners have in common: a show is a runner, and tasks that begin one
 * run each. The root owns the runner and keeps at most at_once tasks alive; when all have ended, so
 * does it. Nothing waits for time to pass but for the limits under test. */
#ifndef DIURNAL_TESTS_RUNNER_STAGE_H
#define DIURNAL_TESTS_RUNNER_STAGE_H

#include "diurnal/runtime.h"
#include "runner/runner.h"
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What becomes of a task besides. */
typedef enum stage_twist {
    STAGE_PLAIN,
    STAGE_FAILS,     /* fails as soon as its run has begun */
    STAGE_LEAVES,    /* frees its run at once, and ends */
    STAGE_CUTS_TWICE /* cuts its run at cut_ms, twice */
} stage_twist;

typedef struct stage_run {
    const char *id;
    dn_blob    *body;   /* NULL: {"id":id} */
    int64_t     cut_ms; /* 0: it is not cut */
    stage_twist twist;

    /* What came of it. */
    int           messages;
    dn_run_result result;
    dn_run_answer answer; /* with a reference to its body */
    int64_t       after_ms, lasts_ms;
} stage_run;

enum { STAGE_RUNS_MAX = 4000 };

typedef struct stage stage;
struct stage {
    dn_runner_config config;
    int64_t          timeout_ms;
    uint32_t         at_once;
    size_t           calm_from;   /* from that run on, only four at once. 0: never */
    size_t           len;         /* runs */
    bool             leaves_with; /* the root ends when all of the first tasks have begun */
    stage_run        runs[STAGE_RUNS_MAX];
    void (*on_ended)(size_t ended); /* one more task has; may be NULL */
    void (*on_gone)(void);          /* root and runner have; may be NULL */

    dn_runner *runner;
    size_t     next, ended;
    char       why[DN_RUNNER_WHY];
    stage     *older;
};

enum { STAGE_TOLD = 1, STAGE_CUT, STAGE_BEGIN };

static inline int64_t stage_real_ms(void) {
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- A task ---- */

typedef struct task_config {
    stage     *s;
    stage_run *r;
} task_config;

typedef struct task {
    task_config c;
    dn_run     *run;
    int64_t     begun_ms;
} task;

/* The key is work:{id}, with '-' for what a key cannot have. */
static inline dn_run_request stage_request(const stage *s, const stage_run *r, int64_t now_ms,
                                           char key[64]) {
    char      body[128];
    const int key_len = snprintf(key, 64, "work:%s", r->id);
    const int body_len = snprintf(body, sizeof body, "{\"id\":\"%s\"}", r->id);

    for (char *c = key; *c; c++)
        if (*c <= ' ' || *c > '~') *c = '-';
    return (dn_run_request){
        .key = key,
        .key_len = (size_t)key_len,
        .body = r->body ? dn_blob_ref(r->body) : dn_blob_of(body, (size_t)body_len),
        .now_ms = now_ms,
        .timeout_ms = s->timeout_ms,
        .entropy = {1, 2, 3},
    };
}

static inline int execution_init(dn_self *self, void *state, const void *config) {
    task *t = state;
    char  key[64];

    t->c = *(const task_config *)config;
    const dn_run_request request = stage_request(t->c.s, t->c.r, dn_now_ms(self), key);
    t->begun_ms = stage_real_ms();
    CHECK_INT(dn_run_begin(t->c.s->runner, self, &request, STAGE_TOLD, &t->run), DN_OK);
    t->c.r->lasts_ms = dn_run_lasts_ms(t->run);
    if (t->c.r->twist == STAGE_LEAVES) {
        dn_run_free(t->run);
        return DN_STOP;
    }
    dn_own(self, t->run, dn_run_free);
    if (t->c.r->cut_ms) (void)dn_timer_after(self, t->c.r->cut_ms, STAGE_CUT, 0);
    if (t->c.r->twist == STAGE_FAILS) dn_fail("on purpose");
    return DN_OK;
}

static inline int execution_on_cut(dn_self *self, void *state, const dn_msg *msg) {
    const task *t = state;

    (void)msg;
    dn_run_cut(t->run, self);
    if (t->c.r->twist == STAGE_CUTS_TWICE) dn_run_cut(t->run, self);
    return DN_OK;
}

static inline int execution_on_told(dn_self *self, void *state, const dn_msg *msg) {
    task      *t = state;
    stage_run *r = t->c.r;

    (void)self;
    r->messages++;
    r->result = *DN_BODY(dn_run_result, msg);
    r->after_ms = stage_real_ms() - t->begun_ms;
    r->answer = *dn_run_answer_borrow(t->run);
    r->answer.body = dn_blob_ref(r->answer.body);
    return DN_STOP;
}

static const dn_handler task_rows[] = {{STAGE_TOLD, execution_on_told},
                                       {STAGE_CUT, execution_on_cut}};

static const dn_class task_class = {
    .name = "task",
    .state_size = sizeof(task),
    .init = execution_init,
    .handlers = DN_SLICE(task_rows),
};

/* ---- The root ---- */

static inline bool stage_is_over(const stage *s) {
    return s->ended == s->len || (s->leaves_with && s->next == s->len);
}

static inline int stage_goes_on(dn_self *self, stage *s) {
    while ((s->calm_from == 0 || s->next < s->calm_from || s->next - s->ended < 4) &&
           s->next < s->len && s->next - s->ended < s->at_once) {
        const task_config   config = {s, &s->runs[s->next++]};
        const dn_spawn_spec spec = {
            .actor_class = &task_class, .config = &config, .monitored = true};
        const int rc = dn_spawn(self, &spec, NULL);
        if (rc != DN_OK) s->ended++; /* a twist */
    }
    return stage_is_over(s) ? DN_STOP : DN_OK;
}

static inline int root_on_begin(dn_self *self, void *state, const dn_msg *msg) {
    (void)msg;
    return stage_goes_on(self, *(stage **)state);
}

static inline int root_on_down(dn_self *self, void *state, const dn_msg *msg) {
    stage *s = *(stage **)state;

    (void)msg;
    s->ended++;
    if (s->on_ended) s->on_ended(s->ended);
    return stage_goes_on(self, s);
}

static inline void root_is_gone(void *thing) { ((const stage *)thing)->on_gone(); }

static inline int root_init(dn_self *self, void *state, const void *config) {
    stage *s = *(stage *const *)config;

    *(stage **)state = s;
    if (s->on_gone)
        dn_own(self, s, root_is_gone); /* before the runner: what is owned last goes first */
    const int rc = dn_runner_new(self, &s->config, &s->runner, s->why);
    if (rc < 0) return rc;
    dn_own(self, s->runner, dn_runner_free);
    return dn_send(self, dn_self_ref(self), STAGE_BEGIN, NULL, 0);
}

static const dn_handler root_rows[] = {{DN_MSG_DOWN, root_on_down}, {STAGE_BEGIN, root_on_begin}};

static const dn_class root_class = {
    .name = "root",
    .state_size = sizeof(stage *),
    .init = root_init,
    .handlers = DN_SLICE(root_rows),
    .mailbox_max = 100000,
};

static inline void stage_hush(void *context, const dn_notice *notice) {
    if (notice->kind == DN_NOTICE_LEFTOVER) ++*(int *)context;
}

/* Plays it to the end: what dn_runtime_run answered. No handle of libuv is left over. */
static inline int stage_plays(stage *s) {
    static const char *const loops[] = {"main"};
    int                      leftovers = 0;
    const dn_runtime_config  config = {.loops = loops,
                                       .loops_len = 1,
                                       .notice = stage_hush,
                                       .notice_context = &leftovers,
                                       .stall_ms = -1};
    const dn_spawn_spec      root = {.actor_class = &root_class, .config = &s, .name = "root"};
    dn_runtime              *rt;

    if (s->at_once == 0) s->at_once = 1;
    if (s->config.concurrency_max == 0) s->config.concurrency_max = s->at_once;
    if (s->timeout_ms == 0) s->timeout_ms = 60000;
    CHECK_INT(dn_runtime_new(&config, &rt), DN_OK);
    const int rc = dn_runtime_run(rt, &root);
    dn_runtime_free(rt);
    CHECK_INT(leftovers, 0);
    return rc;
}

/* ---- Words ---- */

static stage *stages; /* all of them: so that the leak checker finds them */

/* Zeroed, for ever: the process is the arena. */
static inline stage *stage_of(const char *url) {
    stage *s = calloc(1, sizeof *s);
    char  *mine = url ? strdup(url) : NULL;

    CHECK(s && (mine || !url));
    s->older = stages;
    stages = s;
    s->config.url = mine;
    return s;
}

static inline stage_run *stage_asks(stage *s, const char *id) {
    stage_run *r = &s->runs[s->len++];

    CHECK(s->len <= STAGE_RUNS_MAX);
    r->id = id;
    return r;
}

static inline void check_came(const char *file, int line, const stage_run *r, dn_outcome outcome,
                              dn_code_kind kind, uint32_t code) {
    char check[400];

    (void)snprintf(check, sizeof check, "%s:%d: outcome %d, code %u of kind %d after %lld ms: %s",
                   file, line, (int)dn_run_outcome(r->result), dn_run_code(r->result),
                   (int)dn_run_code_kind(r->result), (long long)r->after_ms, r->answer.error);
    CHECK_MSG(r->messages == 1, "%s:%d: %d messages", file, line, r->messages);
    CHECK_MSG(dn_run_outcome(r->result) == outcome, "%s", check);
    CHECK_MSG(dn_run_code_kind(r->result) == kind, "%s", check);
    CHECK_MSG(dn_run_code(r->result) == code, "%s", check);
}
#define CHECK_CAME(r, outcome, kind, code)                                                         \
    check_came(__FILE__, __LINE__, (r), (outcome), (kind), (code))

#define CHECK_BODY(r, text)                                                                        \
    do {                                                                                           \
        CHECK_UINT(dn_blob_len((r)->answer.body), strlen(text));                                   \
        CHECK(memcmp(dn_blob_bytes_borrow((r)->answer.body), (text), strlen(text)) == 0);          \
    } while (0)

/* What libuv opens once for a process is open after this. */
static inline void stage_warms_up(void) {
    dn_runtime *rt;

    CHECK_INT(dn_runtime_new(NULL, &rt), DN_OK);
    dn_runtime_free(rt);
}

static inline int open_descriptors(void) {
    DIR *d = opendir("/proc/self/fd");
    int  n = -1; /* the one that looks */

    CHECK(d);
    for (const struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.') n++;
    closedir(d);
    return n;
}

/* And leaves nothing open. */
static inline void stage_plays_clean(stage *s) {
    stage_warms_up();
    const int before = open_descriptors();

    CHECK_INT(stage_plays(s), DN_OK);
    CHECK_INT(open_descriptors(), before);
}

/* Whoever this process has begun has been reaped. */
static inline bool no_children(void) { return waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD; }

#endif
