/* execution.c - runs one attempt.
 * It lives as long as its run: it begins the run, cuts it off at the timeout, and tells the executor when the run has
 * stopped (a run that was cut off: when its connection is closed or its processes are gone). If it crashes, its run is
 * cut off with it, and the executor hears of the crash from the supervisor. It ends with the executor. If the source
 * that gave the work ends, it cuts its run off, because nobody waits for the outcome. */
#include "execution.h"

#include <stdlib.h>

enum { EXECUTION_RESULT = MSG_OWN, EXECUTION_TIMEOUT };

typedef struct execution {
    dn_ref   executor;
    uint64_t tag;
    dn_run  *run;
    bool     cut, abandoned; /* abandoned: its source has ended */
} execution;

static int execution_init(dn_self *self, void *state, const void *config);
static int execution_on_result(dn_self *self, void *state, const dn_msg *msg);
static int execution_on_timeout(dn_self *self, void *state, const dn_msg *msg);
static int execution_on_down(dn_self *self, void *state, const dn_msg *msg);

static const dn_handler execution_handlers[] = {
    {EXECUTION_RESULT, execution_on_result},   /* runner -> the run has stopped */
    {EXECUTION_TIMEOUT, execution_on_timeout}, /* timer  -> cut the run off */
    {DN_MSG_DOWN, execution_on_down},          /* the source has ended */
};

const dn_class dn_execution_class = {
    .name = "execution",
    .state_size = sizeof(execution),
    .init = execution_init,
    .handlers = DN_SLICE(execution_handlers),
    .mailbox_max = 16,
};

static bool is_gone(dn_self *self, dn_ref who) { return dn_ref_is_nobody(dn_whereis(self, who)); }

/* DN_STOP: the message was on its way for too long, or the clock stepped meanwhile, so the run does not begin. */
static int execution_init(dn_self *self, void *state, const void *config) {
    execution                *x = state;
    const dn_execution_brief *b = config;
    const int64_t             now_ms = dn_now_ms(self);

    if (is_gone(self, b->executor) || is_gone(self, b->source)) return DN_STOP;
    if (now_ms < b->opens_ms || now_ms >= b->closes_ms) return DN_STOP;
    x->executor = b->executor;
    x->tag = b->tag;
    const dn_execution_terms *terms = b->terms;
    dn_run_request            request = {
                   .key = b->key,
                   .key_len = b->key_len,
                   .body = dn_blob_ref(b->body), /* dn_run_begin takes it */
                   .now_ms = now_ms,
                   .timeout_ms = b->timeout_ms,
    };
    if (dn_runner_traces(terms->runner))
        for (int i = 0; i < 3; i++) request.entropy[i] = dn_random(self);
    const int rc = dn_run_begin(terms->runner, self, &request, EXECUTION_RESULT, &x->run);
    if (rc < 0) return rc;
    dn_own(self, x->run, dn_run_free);
    (void)dn_monitor(self, b->source, 0);
    if (terms->type->begins) terms->type->begins(terms->type->context, self, b->subject, b->body);
    /* A run that takes exactly its timeout is finished: this timer comes after the runner's own, or there is none. */
    if (dn_run_lasts_ms(x->run) > b->timeout_ms)
        dn_timer_after(self, b->timeout_ms, EXECUTION_TIMEOUT, 0);
    return DN_OK;
}

static void executed_release(void *body) {
    dn_executed *e = body;

    dn_blob_unref(e->answer[0].body);
    free(e);
}

/* Most answers have nothing to say, and then the message is short. */
static int tell_executor(dn_self *self, const execution *x, dn_run_result result) {
    const dn_run_answer *answer = dn_run_answer_borrow(x->run);
    const dn_executed    brief = {.tag = x->tag, .result = result};

    if (dn_run_answer_is_empty(answer))
        return dn_send(self, x->executor, MSG_EXECUTED, &brief, sizeof brief);
    dn_executed *whole = malloc(sizeof *whole + sizeof *answer);
    if (!whole) return DN_ENOMEM;
    *whole = brief;
    whole->has_answer = true;
    whole->answer[0] = *answer;
    dn_blob_ref(answer->body);
    dn_msg   *m = dn_msg_new_take(self, MSG_EXECUTED, whole, sizeof *whole + sizeof *answer,
                                  executed_release);
    const int rc = dn_send_take(self, x->executor, m);
    if (rc < 0) dn_msg_free(self, m);
    return rc;
}

static int execution_on_result(dn_self *self, void *state, const dn_msg *msg) {
    const execution *x = state;
    dn_run_result    result = *DN_BODY(dn_run_result, msg);

    if (x->abandoned) result = dn_run_result_of(DN_OUTCOME_ERROR, DN_CODE_NONE, 0);
    else if (x->cut) result = dn_run_result_of(DN_OUTCOME_TIMEOUT, DN_CODE_NONE, 0);
    else if (dn_run_outcome(result) == DN_OUTCOME_CRASH) dn_fail("the job crashed");
    const int rc = tell_executor(self, x, result);
    return rc == DN_OK || rc == DN_EDEAD ? DN_STOP : rc;
}

static int execution_on_timeout(dn_self *self, void *state, const dn_msg *msg) {
    execution *x = state;

    (void)msg;
    if (!x->cut) dn_run_cut(x->run, self);
    x->cut = true;
    return DN_OK;
}

/* Nobody wants the outcome. The slot is free when the run has stopped, so cut it off and wait. */
static int execution_on_down(dn_self *self, void *state, const dn_msg *msg) {
    execution *x = state;

    (void)msg;
    x->abandoned = true;
    if (!x->cut) dn_run_cut(x->run, self);
    x->cut = true;
    return DN_OK;
}
