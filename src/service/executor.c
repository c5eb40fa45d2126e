/* executor.c - runs what is to be run, never more than K at once.
 * It pulls: it tells the queue how many slots are free, and gets no more than that. Each piece of work is looked at once
 * more before it starts, for its cutoff may have come on the way. A slot is free again when its job has
 * stopped; the user leaves the queue only when the outcome is settled, which for a success is after its
 * commit. A crash here ends all tasks; their users are eligible again. */
#include "executor.h"

#include "actor/pipe.h"
#include "events.h"
#include "execution.h"
#include "messages.h"
#include "obs/log.h"
#include "service.h"

#include <assert.h>
#include <string.h>

enum {
    EXECUTOR_HERE = MSG_OWN,
    EXECUTOR_GRACE_IS_OVER,
    EXECUTOR_SAY,
    /* Tasks that are asked for by one message: each may take a connect's time to begin, and meanwhile its loop does
     * nothing else. With ids of usual length it is of a size that an allocator is quick with. */
    STARTS_AT_ONCE = 12,
    EXECUTOR_HEAP_MAX = 1 << 30,
};

typedef struct slot {
    uint64_t ticket, n;
    uint32_t use; /* odd: in use. Tells one run in this slot from the next */
    uint32_t next_free;
    int64_t  since_ms, since_ns; /* by the two clocks */
    dn_day   day;
    uint16_t due, attempt;
    uint8_t  cls; /* of the attempt before */
    uint8_t  id_len;
    char     id[DN_ID_MAX];
} slot;

typedef struct executor {
    const dn_service_config *config;
    dn_runner               *runner;
    slot                    *slots;
    uint32_t                 free;      /* index + 1 of the first free slot */
    uint32_t                 room;      /* free slots the queue has not been told of */
    uint64_t                 unsettled; /* successes that kv has not answered for */
    uint32_t                 wanted;    /* tasks that are in to_tasks */
    dn_execution_terms       terms;
    bool                     introduced, stopping;
    uint64_t                 told;   /* how many run, as it was said last */
    bool                     to_say; /* so many, changed or not */
    dn_pipe                  to_tasks, to_kv, to_kv_notes, to_queue;
    dn_executor_status       status;
} executor;

static int executor_init(dn_self *self, void *state, const void *config);
static int executor_on_work(dn_self *self, void *state, const dn_msg *msg);
static int executor_on_outcome(dn_self *self, void *state, const dn_msg *msg);
static int executor_on_ended(dn_self *self, void *state, const dn_msg *msg);
static int executor_on_finalized(dn_self *self, void *state, const dn_msg *msg);
static int executor_on_down(dn_self *self, void *state, const dn_msg *msg);
static int executor_on_room(dn_self *self, void *state, const dn_msg *msg);
static int executor_on_grace_is_over(dn_self *self, void *state, const dn_msg *msg);
static int executor_on_ask_status(dn_self *self, void *state, const dn_msg *msg);
static int executor_on_ask_running(dn_self *self, void *state, const dn_msg *msg);
static int executor_on_say(dn_self *self, void *state, const dn_msg *msg);
static int executor_on_here(dn_self *self, void *state, const dn_msg *msg);
static int executor_flush(dn_self *self, void *state);
static int executor_stopping(dn_self *self, void *state);

static const dn_handler executor_handlers[] = {
    {MSG_OUTCOME, executor_on_outcome},     /* task  -> its job has stopped */
    {MSG_WORK, executor_on_work},           /* queue -> to be started now */
    {MSG_FINALIZED, executor_on_finalized}, /* kv    -> a success is committed, or came late */
    {DN_SUP_ENDED, executor_on_ended},      /* tasks -> a task was not started, or crashed */
    {DN_MSG_DOWN, executor_on_down},        /* tasks itself has ended */
    {DN_MSG_ROOM, executor_on_room},
    {EXECUTOR_GRACE_IS_OVER, executor_on_grace_is_over},
    {EXECUTOR_SAY, executor_on_say},   /* timer: for who has begun to listen */
    {EXECUTOR_HERE, executor_on_here}, /* once, for the flush that asks for the first work */
    {MSG_ASK_STATUS, executor_on_ask_status},
    {MSG_ASK_RUNNING, executor_on_ask_running},
};

const dn_class dn_executor_class = {
    .name = "executor",
    .state_size = sizeof(executor),
    .init = executor_init,
    .handlers = DN_SLICE(executor_handlers),
    .flush = executor_flush,
    .stopping = executor_stopping,
    .mailbox_max = 1 << 20, /* every slot may have something to say at once */
    .heap_max = EXECUTOR_HEAP_MAX,
};

static int executor_init(dn_self *self, void *state, const void *config) {
    executor *e = state;
    char      why[DN_RUNNER_WHY];

    e->config = config;
    const uint32_t max = e->config->max_concurrency;
    const int      rc = dn_runner_new(self, &e->config->runner, &e->runner, why);
    if (rc < 0) dn_fail_code(rc, why);
    dn_own(self, e->runner, dn_runner_free);
    e->terms = (dn_execution_terms){e->runner, e->config->journal, e->config->job_timeout_ms,
                                    e->config->window_minutes};
    e->slots = dn_alloc(self, max * sizeof *e->slots);
    for (uint32_t i = 0; i < max; i++) e->slots[i].next_free = i + 1 < max ? i + 2 : 0;
    e->free = 1;
    e->room = max;
    dn_pipe_init(self, &e->to_tasks, ACTOR_EXECUTIONS, DN_SUP_START_ALL);
    dn_pipe_init(self, &e->to_kv, ACTOR_KV, MSG_FINALIZE_SUCCESS);
    dn_pipe_init(self, &e->to_kv_notes, ACTOR_KV, MSG_NOTE_ATTEMPTS);
    dn_pipe_init(self, &e->to_queue, ACTOR_QUEUE, MSG_SETTLED);
    e->status.max_concurrency = max;
    dn_timer_after(self, e->config->tick_ms, EXECUTOR_SAY, 0);
    (void)dn_monitor(self, dn_name(self, ACTOR_EXECUTIONS), 0);
    return dn_send(self, dn_self_ref(self), EXECUTOR_HERE, NULL, 0);
}

static int executor_on_here(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state, (void)msg;
    return DN_OK;
}

/* Else whoever listens since the last change would not know until the next, which may be hours away. */
static int executor_on_say(dn_self *self, void *state, const dn_msg *msg) {
    executor *e = state;

    (void)msg;
    e->to_say = true;
    dn_timer_after(self, e->config->tick_ms, EXECUTOR_SAY, 0);
    return DN_OK;
}

/* ---- Slots ---- */

static slot *slot_take(executor *e) {
    assert(e->free > 0 && "the queue sent more than there was room for");
    slot *s = &e->slots[e->free - 1];
    e->free = s->next_free;
    s->use++;
    e->status.in_flight++;
    if (e->status.in_flight > e->status.in_flight_peak)
        e->status.in_flight_peak = e->status.in_flight;
    return s;
}

static uint32_t slot_index(const executor *e, const slot *s) { return (uint32_t)(s - e->slots); }

static void slot_give(executor *e, slot *s) {
    s->use++;
    s->next_free = e->free;
    e->free = slot_index(e, s) + 1;
    e->status.in_flight--;
    e->room++;
}

static uint64_t slot_tag(const executor *e, const slot *s) {
    return (uint64_t)s->use << 32 | slot_index(e, s);
}

/* NULL: what the tag speaks of has been dealt with. */
static slot *slot_of(executor *e, uint64_t tag) {
    const uint32_t index = (uint32_t)tag, use = (uint32_t)(tag >> 32);

    if (index >= e->status.max_concurrency) return NULL;
    slot *s = &e->slots[index];
    return s->use == use && use % 2 == 1 ? s : NULL;
}

/* ---- Settling ---- */

static void settle(dn_self *self, executor *e, uint64_t ticket, uint32_t attempts, uint8_t cls,
                   bool finalized) {
    dn_settled *settled = dn_pipe_add(self, &e->to_queue, sizeof *settled);

    *settled =
        (dn_settled){.ticket = ticket, .attempts = attempts, .cls = cls, .finalized = finalized};
}

static void note(dn_self *self, executor *e, const slot *s, uint8_t cls) {
    dn_attempt_note *a = dn_pipe_add(self, &e->to_kv_notes, sizeof *a);

    *a = (dn_attempt_note){.n = s->n, .day = s->day, .attempts = s->attempt, .cls = cls};
}

static void succeeded(dn_self *self, executor *e, const slot *s) {
    dn_success *ok = dn_pipe_add(self, &e->to_kv, sizeof *ok);

    *ok = (dn_success){
        .executor = dn_self_ref(self),
        .ticket = s->ticket,
        .n = s->n,
        .at_ms = dn_now_ms(self),
        .day = s->day,
        .attempts = s->attempt,
        .cls = s->cls,
    };
    e->unsettled++;
    e->status.ok++;
}

static void failed(dn_self *self, executor *e, const slot *s, dn_error_class cls) {
    note(self, e, s, (uint8_t)cls);
    settle(self, e, s->ticket, s->attempt, (uint8_t)cls, false);
}

static const char *result_text(dn_outcome outcome) {
    switch (outcome) {
    case DN_OUTCOME_OK: return "ok";
    case DN_OUTCOME_TIMEOUT: return "timeout";
    case DN_OUTCOME_ERROR:
    case DN_OUTCOME_CRASH: break;
    }
    return "error";
}

static void say_stopped(dn_self *self, const executor *e, const slot *s, dn_outcome outcome,
                        dn_error_class cls) {
    const int64_t took_ns = dn_mono_ns(self) - s->since_ns;

    DN_SAY(e->config->journal, self, DN_HAPPENED_STOPPED, .n = s->n, .id = s->id,
           .id_len = s->id_len, .at_ms = dn_now_ms(self), .day = s->day, .attempt = s->attempt,
           .outcome = outcome == DN_OUTCOME_CRASH ? DN_OUTCOME_ERROR : outcome,
           .cls = outcome == DN_OUTCOME_OK || outcome == DN_OUTCOME_TIMEOUT ? DN_CLASS_NONE : cls,
           .duration_ms = took_ns / 1000000);
    DN_EMIT(dn_job_stop, .duration_ms = (double)took_ns / 1e6, .result = result_text(outcome),
            .error_class = outcome == DN_OUTCOME_OK || outcome == DN_OUTCOME_TIMEOUT
                               ? NULL
                               : dn_error_class_text(cls));
}

/* A timeout has no class; what can be said of it is when its job was gone. */
static void say_failed(dn_self *self, const slot *s, dn_outcome outcome, dn_error_class cls,
                       const char *error) {
    if (!dn_log_wanted(DN_LOG_DEBUG)) return;
    if (outcome == DN_OUTCOME_TIMEOUT)
        dn_log(DN_LOG_DEBUG, "job.failed",
               "user %.*s attempt %u: timeout, stopped after %lld ms%s%s", s->id_len, s->id,
               s->attempt, (long long)(dn_mono_ns(self) - s->since_ns) / 1000000,
               *error ? ": " : "", error);
    else
        dn_log(DN_LOG_DEBUG, "job.failed", "user %.*s attempt %u: error %s%s%s", s->id_len, s->id,
               s->attempt, dn_error_class_text(cls), *error ? " " : "", error);
}

/* Its job has stopped. */
static void stopped(dn_self *self, executor *e, slot *s, dn_outcome outcome, dn_error_class cls,
                    const char *error) {
    if (outcome == DN_OUTCOME_OK) {
        succeeded(self, e, s);
    } else if (outcome == DN_OUTCOME_TIMEOUT) {
        e->status.timed_out++;
        failed(self, e, s, DN_CLASS_UNKNOWN);
    } else {
        e->status.failed++;
        failed(self, e, s, cls);
    }
    say_stopped(self, e, s, outcome, cls);
    if (outcome != DN_OUTCOME_OK) say_failed(self, s, outcome, cls, error);
    slot_give(e, s);
}

static void say_expired(dn_self *self, const executor *e, uint64_t n, dn_day day, const char *id,
                        uint8_t id_len) {
    DN_SAY(e->config->journal, self, DN_HAPPENED_EXPIRED, .n = n, .id = id, .id_len = id_len,
           .at_ms = dn_now_ms(self), .day = day);
}

/* Its cutoff came on the way to its task: as if it had been dropped before. */
static void not_started(dn_self *self, executor *e, slot *s) {
    say_expired(self, e, s->n, s->day, s->id, s->id_len);
    e->status.started--;
    s->attempt--;
    failed(self, e, s, (dn_error_class)s->cls);
    slot_give(e, s);
}

/* ---- Work ---- */

static void start(dn_self *self, executor *e, const dn_work *w) {
    const uint32_t size = (uint32_t)sizeof(dn_execution_brief) + w->id_len;
    slot          *s = slot_take(e);

    s->ticket = w->ticket;
    s->n = w->n;
    s->since_ms = dn_now_ms(self);
    s->since_ns = dn_mono_ns(self);
    s->day = w->day;
    s->due = w->due;
    s->attempt = (uint16_t)w->attempt;
    s->cls = w->cls;
    s->id_len = w->id_len;
    dn_id_copy(s->id, w->id, w->id_len);
    dn_dynamic_wanted *wanted = dn_pipe_add(self, &e->to_tasks, sizeof *wanted + size);
    *wanted = (dn_dynamic_wanted){.tag = slot_tag(e, s), .size = size};
    dn_execution_brief *b = (dn_execution_brief *)(void *)wanted->config;
    *b = (dn_execution_brief){
        .executor = dn_self_ref(self),
        .terms = &e->terms,
        .n = w->n,
        .tag = wanted->tag,
        .day = w->day,
        .attempt = w->attempt,
        .context_epoch = w->context_epoch,
        .due = w->due,
        .id_len = w->id_len,
    };
    dn_id_copy(b->id, w->id, w->id_len);
    e->status.started++;
    note(self, e, s, w->cls);
    if (++e->wanted % STARTS_AT_ONCE == 0) dn_pipe_flush(self, &e->to_tasks);
}

static int executor_on_work(dn_self *self, void *state, const dn_msg *msg) {
    executor     *e = state;
    const int64_t now_ms = dn_now_ms(self);

    for (DN_PIPE_EACH_ID(dn_work, w, msg)) {
        const dn_daily_user user = {w->due, DN_DAY_NONE, DN_DAY_NONE};
        if (!e->stopping && dn_daily_may_start(&user, w->day, e->config->window_minutes, now_ms)) {
            start(self, e, w);
        } else {
            say_expired(self, e, w->n, w->day, w->id, w->id_len);
            settle(self, e, w->ticket, w->attempt - 1, w->cls, false);
            e->room++;
        }
    }
    return DN_OK;
}

static int executor_on_outcome(dn_self *self, void *state, const dn_msg *msg) {
    executor                   *e = state;
    const dn_execution_outcome *o = dn_msg_body_borrow(msg);
    slot                       *s = slot_of(e, o->tag);

    if (s)
        stopped(self, e, s, dn_run_outcome(o->result), (dn_error_class)o->error_class,
                dn_msg_size(msg) > sizeof *o ? o->error : "");
    return DN_OK;
}

static int executor_on_ended(dn_self *self, void *state, const dn_msg *msg) {
    executor      *e = state;
    const dn_down *d = DN_BODY(dn_down, msg);
    slot          *s = slot_of(e, d->tag);

    if (!s) return DN_OK;
    if (d->reason == DN_STOP) not_started(self, e, s);
    else
        stopped(self, e, s, DN_OUTCOME_ERROR, DN_CLASS_UNKNOWN,
                *d->why ? d->why : dn_error_text(d->reason));
    return DN_OK;
}

/* All tasks have gone with who started them. This actor is about to be stopped for it; what it began meanwhile would be
 * work that nobody does, and where all is being stopped it would wait for jobs that do not run. */
static int executor_on_down(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state, (void)msg;
    return DN_STOP;
}

static int executor_on_finalized(dn_self *self, void *state, const dn_msg *msg) {
    executor *e = state;

    for (DN_PIPE_EACH(dn_finalized, f, msg)) {
        if (!dn_ref_equal(f->executor, dn_self_ref(self)))
            continue; /* one before this: the queue knows what was lost */
        e->unsettled--;
        if (f->wrote != DN_WROTE) e->status.late++;
        if (f->wrote == DN_WROTE_LATE)
            dn_log(DN_LOG_DEBUG, "job.late", "late success: the day was finalized before");
        else if (f->wrote == DN_WROTE_GONE)
            dn_log(DN_LOG_DEBUG, "job.late", "a success for nobody: the user was removed");
        settle(self, e, f->ticket, f->attempts, f->cls, f->wrote != DN_WROTE_GONE);
    }
    return DN_OK;
}

/* ---- The end of a batch ---- */

static int may_end(const executor *e) {
    return e->stopping && e->status.in_flight == 0 && e->unsettled == 0 ? DN_STOP : DN_OK;
}

static bool pipes_are_free(const executor *e) {
    return dn_pipe_is_free(&e->to_tasks) && dn_pipe_is_free(&e->to_kv) &&
           dn_pipe_is_free(&e->to_kv_notes) && dn_pipe_is_free(&e->to_queue);
}

static int executor_flush(dn_self *self, void *state) {
    executor *e = state;

    dn_pipe_flush(self, &e->to_tasks);
    dn_pipe_flush(self, &e->to_kv_notes);
    dn_pipe_flush(self, &e->to_kv);
    dn_pipe_flush(self, &e->to_queue);
    if (e->to_say || e->status.in_flight != e->told) {
        e->to_say = false;
        e->told = e->status.in_flight;
        DN_EMIT(dn_in_flight, .in_flight = (int64_t)e->told,
                .max_concurrency = (int64_t)e->status.max_concurrency);
    }
    /* What cannot be told of is not to be run: kv and the queue set the pace. */
    if (e->room > 0 && !e->stopping && pipes_are_free(e)) {
        const dn_take take = {.room = e->room, .first = !e->introduced};
        const int     rc = dn_send(self, dn_name(self, ACTOR_QUEUE), MSG_TAKE, &take, sizeof take);
        if (rc == DN_EFULL) return dn_wait_room(self, dn_name(self, ACTOR_QUEUE));
        if (rc < 0) return DN_OK; /* the queue is gone: this actor will be started again with it */
        e->introduced = true;
        e->room = 0;
    }
    return may_end(e);
}

static int executor_on_room(dn_self *self, void *state, const dn_msg *msg) {
    executor *e = state;

    (void)msg;
    dn_pipe_on_room(self, &e->to_tasks);
    dn_pipe_on_room(self, &e->to_kv_notes);
    dn_pipe_on_room(self, &e->to_kv);
    dn_pipe_on_room(self, &e->to_queue);
    return DN_OK;
}

/* ---- The end ---- */

static bool is_gone(dn_self *self, const char *name) {
    return dn_ref_is_nobody(dn_whereis(self, dn_name(self, name)));
}

/* What runs may finish; nothing more is begun. */
static int executor_stopping(dn_self *self, void *state) {
    executor *e = state;

    /* Not the end of all, but a restart of one of those it works with: it starts again with them, the sooner the
     * better, and what it has in hand could not be settled any more. */
    if (is_gone(self, ACTOR_KV) || is_gone(self, ACTOR_QUEUE) || is_gone(self, ACTOR_EXECUTIONS))
        return DN_STOP;
    if (e->stopping) return may_end(e);
    e->stopping = true;
    if (e->status.in_flight > 0)
        dn_log(DN_LOG_INFO, "executor.stopping",
               "running jobs may finish, for at most %lld ms: %llu of them",
               (long long)e->config->shutdown_grace_ms, (unsigned long long)e->status.in_flight);
    dn_timer_after(self, e->config->shutdown_grace_ms, EXECUTOR_GRACE_IS_OVER, 0);
    return may_end(e);
}

static int executor_on_grace_is_over(dn_self *self, void *state, const dn_msg *msg) {
    const executor *e = state;

    (void)self, (void)msg;
    dn_log(DN_LOG_WARN, "executor.cut_off",
           "%llu jobs were still running and are cut off: their users are eligible again",
           (unsigned long long)e->status.in_flight);
    return DN_STOP;
}

/* ---- Questions ---- */

static int executor_on_ask_status(dn_self *self, void *state, const dn_msg *msg) {
    const executor *e = state;

    dn_reply(self, msg, MSG_STATUS, &e->status, sizeof e->status);
    return DN_OK;
}

static int executor_on_ask_running(dn_self *self, void *state, const dn_msg *msg) {
    const executor *e = state;
    size_t          bytes = 0;

    for (uint32_t i = 0; i < e->status.max_concurrency; i++)
        if (e->slots[i].use % 2 == 1)
            bytes += dn_pipe_stride(sizeof(dn_running) + e->slots[i].id_len);
    dn_msg *scratch = dn_msg_new(self, MSG_RUNNING, bytes);
    char   *at = dn_msg_body(scratch);
    for (uint32_t i = 0; i < e->status.max_concurrency; i++) {
        const slot *s = &e->slots[i];
        dn_running *r = (dn_running *)(void *)at;
        if (s->use % 2 == 0) continue;
        r->since_ms = s->since_ms;
        r->day = s->day;
        r->attempt = s->attempt;
        r->due = s->due;
        r->id_len = s->id_len;
        memcpy(r->id, s->id, s->id_len);
        at += dn_pipe_stride(sizeof *r + s->id_len);
    }
    dn_reply(self, msg, MSG_RUNNING, dn_msg_body(scratch), bytes);
    dn_msg_free(self, scratch);
    return DN_OK;
}
