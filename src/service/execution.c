/* task.c - one attempt under way.
 * It lives as long as its job: begins it, cuts it off when its time is up, and tells the executor when it has
 * stopped (a job that was cut off: when its connection is closed or its processes are gone). If it crashes, what
 * it began is cut off with it, and the executor hears of the crash from who started the task, and takes it for the outcome.
 * If the executor ends, so does the task: nobody wants to know any more. */
#include "execution.h"

#include "daily_answer.h"
#include "daily_request.h"

#include <assert.h>
#include <string.h>

enum { EXECUTION_RESULT = MSG_OWN, EXECUTION_TIME_IS_UP };

typedef struct task {
    dn_ref   executor;
    uint64_t tag;
    dn_run  *run;
    bool     cut;
} task;

static int execution_init(dn_self *self, void *state, const void *config);
static int execution_on_result(dn_self *self, void *state, const dn_msg *msg);
static int execution_on_time_is_up(dn_self *self, void *state, const dn_msg *msg);

static const dn_handler execution_handlers[] = {
    {EXECUTION_RESULT, execution_on_result},         /* runner   -> the job has stopped */
    {EXECUTION_TIME_IS_UP, execution_on_time_is_up}, /* timer    -> it has had its time */
};

const dn_class dn_execution_class = {
    .name = "task",
    .state_size = sizeof(task),
    .init = execution_init,
    .handlers = DN_SLICE(execution_handlers),
    .mailbox_max = 16,
};

static int execution_init(dn_self *self, void *state, const void *config) {
    task                     *t = state;
    const dn_execution_brief *b = config;
    const dn_daily_user       user = {b->due, DN_DAY_NONE, DN_DAY_NONE};

    /* DN_STOP: it was on its way too long, or the clock stepped meanwhile, and it does not begin. */
    if (dn_ref_is_nobody(dn_whereis(self, b->executor))) return DN_STOP;
    const dn_execution_terms *terms = b->terms;
    if (!dn_daily_may_start(&user, b->day, terms->window_minutes, dn_now_ms(self))) return DN_STOP;
    t->executor = b->executor;
    t->tag = b->tag;
    const int64_t          now_ms = dn_now_ms(self);
    char                   key[DN_DAILY_KEY_MAX];
    const dn_daily_request daily = {
        .type = DN_REQUEST_RUN,
        .id = b->id,
        .id_len = b->id_len,
        .day = b->day,
        .due = b->due,
        .attempt = b->attempt,
        .context_epoch = b->context_epoch,
        .deadline_ms = now_ms + terms->timeout_ms,
    };
    dn_run_request request = {
        .key = key,
        .key_len = dn_daily_request_key(&daily, key),
        .body = dn_daily_request_new(&daily),
        .now_ms = now_ms,
        .timeout_ms = terms->timeout_ms,
    };
    if (!request.body) return DN_ENOMEM;
    if (dn_runner_traces(terms->runner))
        for (int i = 0; i < 3; i++) request.entropy[i] = dn_random(self);
    const int rc = dn_run_begin(terms->runner, self, &request, EXECUTION_RESULT, &t->run);
    if (rc < 0) return rc;
    dn_own(self, t->run, dn_run_free);
    DN_SAY(terms->journal, self, DN_HAPPENED_STARTED, .n = b->n, .id = b->id, .id_len = b->id_len,
           .at_ms = now_ms, .day = b->day, .attempt = b->attempt);
    /* A run that takes exactly its time is finished: this timer is behind the runner's own, or there is none. */
    if (dn_run_lasts_ms(t->run) > terms->timeout_ms)
        dn_timer_after(self, terms->timeout_ms, EXECUTION_TIME_IS_UP, 0);
    return DN_OK;
}

/* With its error text. Most have none, and then the message is short. */
static int tell_executor(dn_self *self, const task *t, const dn_execution_outcome *outcome) {
    const char *error = dn_run_answer_borrow(t->run)->error;
    union {
        dn_execution_outcome outcome;
        char bytes[sizeof(dn_execution_outcome) + sizeof((dn_run_answer *)0)->error];
    } o;

    if (!*error) return dn_send(self, t->executor, MSG_OUTCOME, outcome, sizeof *outcome);
    const size_t with_end = strlen(error) + 1;
    o.outcome = *outcome;
    memcpy(o.outcome.error, error, with_end);
    return dn_send(self, t->executor, MSG_OUTCOME, &o, sizeof *outcome + with_end);
}

static int execution_on_result(dn_self *self, void *state, const dn_msg *msg) {
    const task          *t = state;
    dn_execution_outcome outcome = {.tag = t->tag, .result = *DN_BODY(dn_run_result, msg)};

    if (t->cut) outcome.result = dn_run_result_of(DN_OUTCOME_TIMEOUT, DN_CODE_NONE, 0);
    else if (dn_run_outcome(outcome.result) == DN_OUTCOME_CRASH) dn_fail("the job crashed");
    outcome.error_class = (uint8_t)dn_daily_classify(outcome.result, dn_run_answer_borrow(t->run));
    const int rc = tell_executor(self, t, &outcome);
    return rc == DN_OK || rc == DN_EDEAD ? DN_STOP : rc;
}

static int execution_on_time_is_up(dn_self *self, void *state, const dn_msg *msg) {
    task *t = state;

    (void)msg;
    t->cut = true;
    dn_run_cut(t->run, self);
    return DN_OK;
}
