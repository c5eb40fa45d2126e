/* native.c - a run is a call of a C function of the program that embeds diurnal.
 * A function that does not block is called where the run begins. One that blocks is called on libuv's pool, which it shares
 * with name lookups, so only a few run at once and the others wait here. A call cannot be interrupted: a run that is cut
 * ends when its function returns, because its slot is not free before. */
#include "timed.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

enum { NATIVE_AT_ONCE = 3 }; /* of the pool's four */

typedef struct work work;

typedef struct native {
    dn_native_job job;
    uv_loop_t    *uv;
    TAILQ_HEAD(work_list, work) waiting, working;
    unsigned at_once;
} native;

/* Outlives its run and its runner while a thread of the pool has it. */
struct work {
    uv_work_t pool; /* first: libuv's */
    TAILQ_ENTRY(work) link;
    native            *owner; /* NULL: it has gone */
    struct native_run *run;   /* NULL: it was dropped, and no message is sent */
    bool               working;

    /* The thread's until it is back. */
    dn_native_job  job;
    dn_run_request request; /* with a reference to its body */
    char           key[DN_RUN_KEY_MAX];
    dn_run_answer  answer;
    dn_run_result  result;
};

typedef struct native_run {
    timed_run timed; /* first: of a job that does not block */
    work     *work;  /* of one that does; NULL: it is back */
    bool      blocks;
} native_run;

/* ---- Jobs that block ---- */

static void on_thread(uv_work_t *pool) {
    work *w = (work *)pool;

    w->result = w->job.fn(w->job.context, &w->request, &w->answer);
}

static void start_next(native *n);

static void work_free(work *w) {
    dn_blob_unref(w->request.body);
    dn_blob_unref(w->answer.body);
    free(w);
}

static void on_back(uv_work_t *pool, int status) {
    work       *w = (work *)pool;
    native     *n = w->owner;
    native_run *r = w->run;

    if (n) {
        TAILQ_REMOVE(&n->working, w, link);
        n->at_once--;
    }
    if (r) {
        r->work = NULL;
        if (status != 0) w->result = dn_run_result_of(DN_OUTCOME_ERROR, DN_CODE_TRANSPORT, 0);
        r->timed.run.answer = w->answer;
        w->answer.body = NULL;
        run_end(&r->timed.run, w->result);
    }
    work_free(w);
    if (n) start_next(n);
}

static void start_next(native *n) {
    work *w;

    while (n->at_once < NATIVE_AT_ONCE && (w = TAILQ_FIRST(&n->waiting))) {
        TAILQ_REMOVE(&n->waiting, w, link);
        TAILQ_INSERT_TAIL(&n->working, w, link);
        w->working = true;
        n->at_once++;
        (void)uv_queue_work(n->uv, &w->pool, on_thread,
                            on_back); /* fails without a callback only */
    }
}

static void begin_blocking(native_run *r, native *n, const dn_run_request *request) {
    work *w = calloc(1, sizeof *w);

    if (!w) {
        run_error(&r->timed.run, "out of memory");
        run_end(&r->timed.run, dn_run_result_of(DN_OUTCOME_ERROR, DN_CODE_TRANSPORT, 0));
        return;
    }
    w->owner = n;
    w->run = r;
    w->job = n->job;
    w->request = *request;
    w->request.key = memcpy(w->key, request->key, request->key_len);
    w->request.body = dn_blob_ref(request->body);
    answer_clear(&w->answer);
    r->work = w;
    TAILQ_INSERT_TAIL(&n->waiting, w, link);
    start_next(n);
}

/* True: no thread has it, and none will. */
static bool withdraw(work *w) {
    if (w->working) return false;
    TAILQ_REMOVE(&w->owner->waiting, w, link);
    work_free(w);
    return true;
}

/* ---- The scheme ---- */

static const dn_native_job *job_named(const dn_runner_config *config) {
    const char *name = config->url + strlen("native:");

    for (size_t i = 0; i < config->jobs_len; i++)
        if (strcmp(config->jobs[i].name, name) == 0) return &config->jobs[i];
    return NULL;
}

static int native_check(const dn_runner_config *config, char *why) {
    char   known[DN_RUNNER_WHY / 2] = "";
    size_t len = 0;

    if (job_named(config)) return DN_OK;
    for (size_t i = 0; i < config->jobs_len && len < sizeof known - 1; i++) {
        const int n = snprintf(known + len, sizeof known - len, "%s%s", i > 0 ? ", " : "",
                               config->jobs[i].name);
        len += (size_t)n;
    }
    return dn_refuse(DN_EINVAL, why, DN_RUNNER_WHY,
                     "runner \"%.80s\": this program has no such job; %s%s", config->url,
                     known[0] ? "use one of " : "it has no jobs", known);
}

static int native_open(dn_runner *runner, const dn_runner_config *config) {
    const dn_native_job *job = job_named(config);
    native              *n;

    if (job->blocks && !runner->uv) return DN_EINVAL;
    n = calloc(1, sizeof *n);
    if (!n) return DN_ENOMEM;
    n->job = *job;
    n->job.name = NULL; /* the caller's */
    n->uv = runner->uv;
    TAILQ_INIT(&n->waiting);
    TAILQ_INIT(&n->working);
    runner->state = n;
    return DN_OK;
}

/* Runs have been dropped; what is here has nobody who is told. */
static void native_close(dn_runner *runner) {
    native *n = runner->state;
    work   *w;

    while ((w = TAILQ_FIRST(&n->working))) {
        TAILQ_REMOVE(&n->working, w, link);
        w->owner = NULL;
    }
    free(n);
}

static void native_begin(dn_run *run, dn_self *self, const dn_run_request *request) {
    native *n = run->runner->state;

    if (n->job.blocks) {
        ((native_run *)run)->blocks = true;
        begin_blocking((native_run *)run, n, request);
        return;
    }
    timed_after(run, self, /* delay_ms= */ 0, n->job.fn(n->job.context, request, &run->answer));
}

static void native_cut(dn_run *run, dn_self *self) {
    native_run *r = (native_run *)run;

    if (!r->blocks) {
        timed_cut(run, self);
        return;
    }
    if (!withdraw(r->work)) return;
    r->work = NULL;
    run_error(run, "cut off before it started");
    run_end(run, dn_run_result_of(DN_OUTCOME_TIMEOUT, DN_CODE_NONE, 0));
}

static void native_drop(dn_run *run) {
    work *w = DN_TAKE(((native_run *)run)->work);

    if (w && !withdraw(w)) w->run = NULL;
}

const scheme native_scheme = {
    .run_size = sizeof(native_run),
    .simulates = true,
    .traces = true, /* it is handed the request as it is */
    .check = native_check,
    .open = native_open,
    .close = native_close,
    .begin = native_begin,
    .cut = native_cut,
    .drop = native_drop,
};
