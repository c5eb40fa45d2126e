/* queue.c - which users wait for an attempt, and which have one: the daily path's source of work.
 * It accepts what the planner asks for unless the user waits or runs already or was tried too lately, and hands out the
 * earliest cutoff first, as the executor has slots. A user runs until its outcome is settled: at once for a failure,
 * after its commit for a success. All of this is memory: after a crash the users are eligible again at the next tick. */
#include "actor/pipe.h"
#include "daily_answer.h"
#include "daily_events.h"
#include "daily_messages.h"
#include "daily_path.h"
#include "daily_request.h"
#include "obs/log.h"
#include "queue_records.h"

#include <assert.h>
#include <string.h>

enum {
    QUEUE_SWEEP = MSG_OWN,
    QUEUE_GO_ON,
    QUEUE_GRACE_OVER,
    EXPIRE_AT_ONCE = 1000,
    SWEEP_MS = 60000,
    SWEEP_RECORDS = 4096,
    PLANS_AT_ONCE = 16,
    LOAD_TIMEOUT_MS = 60000,
    OFFER_MAX = 65536, /* more than any executor grants at once */
    NS_PER_MS = 1000000,
};

typedef struct queue {
    const dn_daily_config *config;
    queue_records          records;
    dn_pipe                offers, work, successes, notes;
    uint32_t               granted;  /* slots the executor has given and that are not used */
    uint32_t               offered;  /* users it has been told of and has given no slot for */
    uint64_t               accepted; /* of the plan that is coming in */
    uint64_t               depth;    /* as emitted last */
    bool                   going_on, stopping;
    dn_queue_status        status;
} queue;

static int queue_init(dn_self *self, void *state, const void *config);
static int queue_on_successes(dn_self *self, void *state, const dn_msg *msg);
static int queue_on_plan(dn_self *self, void *state, const dn_msg *msg);
static int queue_on_plan_ends(dn_self *self, void *state, const dn_msg *msg);
static int queue_on_take(dn_self *self, void *state, const dn_msg *msg);
static int queue_on_outcome(dn_self *self, void *state, const dn_msg *msg);
static int queue_on_changed(dn_self *self, void *state, const dn_msg *msg);
static int queue_on_go_on(dn_self *self, void *state, const dn_msg *msg);
static int queue_on_sweep(dn_self *self, void *state, const dn_msg *msg);
static int queue_on_grace_over(dn_self *self, void *state, const dn_msg *msg);
static int queue_on_down(dn_self *self, void *state, const dn_msg *msg);
static int queue_on_call_failed(dn_self *self, void *state, const dn_msg *msg);
static int queue_on_ask_status(dn_self *self, void *state, const dn_msg *msg);
static int queue_on_ask_user(dn_self *self, void *state, const dn_msg *msg);
static int queue_on_ask_running(dn_self *self, void *state, const dn_msg *msg);
static int queue_on_room(dn_self *self, void *state, const dn_msg *msg);
static int queue_flush(dn_self *self, void *state);
static int queue_stopping(dn_self *self, void *state);

static const dn_handler queue_handlers[] = {
    {MSG_OUTCOME, queue_on_outcome},       /* executor -> what became of attempts */
    {MSG_PLAN_ATTEMPTS, queue_on_plan},    /* tick     -> dedupe and throttle */
    {MSG_TAKE, queue_on_take},             /* executor -> slots */
    {MSG_USERS_CHANGED, queue_on_changed}, /* kv       -> users as a commit left them */
    {MSG_PLAN_ENDS, queue_on_plan_ends},   /* tick     -> how many were accepted? */
    {MSG_KV_PAGE, queue_on_successes},     /* kv       -> successes that wait, at the start */
    {DN_MSG_CALL_FAILED, queue_on_call_failed},
    {QUEUE_GO_ON, queue_on_go_on},
    {QUEUE_SWEEP, queue_on_sweep}, /* timer: drop records that no longer matter */
    {QUEUE_GRACE_OVER, queue_on_grace_over},
    {DN_MSG_DOWN, queue_on_down}, /* while stopping: what runs the jobs has ended */
    {MSG_ASK_STATUS, queue_on_ask_status},
    {MSG_ASK_USER, queue_on_ask_user},
    {MSG_ASK_RUNNING, queue_on_ask_running},
    {DN_MSG_ROOM, queue_on_room},
};

const dn_class dn_queue_class = {
    .name = "queue",
    .state_size = sizeof(queue),
    .init = queue_init,
    .handlers = DN_SLICE(queue_handlers),
    .flush = queue_flush,
    .stopping = queue_stopping,
    .mailbox_max = 4096,
};

static int queue_init(dn_self *self, void *state, const void *config) {
    queue *q = state;

    q->config = config;
    q->records.key = (dn_hash_key){dn_random(self), dn_random(self)};
    dn_own(self, &q->records, records_done);
    /* Tickets that kv may still have from a queue before this one must not fit here. */
    q->records.tickets = dn_random(self) >> 1;
    dn_pipe_init(self, &q->offers, ACTOR_EXECUTOR, MSG_OFFER);
    dn_pipe_init_owning(self, &q->work, ACTOR_EXECUTOR, MSG_WORK, dn_work_release);
    dn_pipe_init(self, &q->successes, ACTOR_KV, MSG_FINALIZE_SUCCESS);
    dn_pipe_init(self, &q->notes, ACTOR_KV, MSG_NOTE_ATTEMPTS);
    *(dn_offer *)dn_pipe_add(self, &q->offers, sizeof(dn_offer)) = (dn_offer){0}; /* a new source */
    dn_pipe_flush(self, &q->offers);
    dn_timer_after(self, SWEEP_MS, QUEUE_SWEEP, 0);
    /* The planner starts after this actor, and so does not plan before the answer is here. */
    const int rc =
        dn_call(self, dn_name(self, ACTOR_KV), MSG_KV_SUCCESSES, NULL, 0, LOAD_TIMEOUT_MS, NULL);
    return rc < 0 ? rc : DN_PENDING;
}

/* Successes of an earlier queue wait in kv: their users run until they are committed. */
static int queue_on_successes(dn_self *self, void *state, const dn_msg *msg) {
    queue *q = state;

    for (DN_PIPE_EACH_ID(dn_success, s, msg)) {
        queue_record *r = records_open(&q->records, s->id, s->id_len);
        if (!r) dn_fail_code(DN_ENOMEM, "no memory for a user that runs");
        if (r->state == RECORD_RUNNING) continue;
        records_begin_anew(r, s->registration, /* due= */ 0, /* commit= */ 0);
        records_day_of(r, s->day)->attempts = s->attempts;
        records_adopt(&q->records, r, s->day);
    }
    dn_init_done(self, DN_OK);
    return DN_OK;
}

static int queue_on_call_failed(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state;
    return DN_BODY(dn_call_failed, msg)->status; /* kv is gone: this actor restarts with it */
}

/* ---- Plans ---- */

static void ignored(dn_self *self, const queue *q, const dn_attempt *a, const char *reason) {
    DN_SAY(q->config->journal, self, DN_HAPPENED_IGNORED, .registration = a->registration,
           .id = a->id, .id_len = a->id_len, .at_ms = dn_now_ms(self), .day = a->day,
           .reason = reason);
    if (!dn_log_wanted(DN_LOG_DEBUG)) return;
    dn_log(DN_LOG_DEBUG, "queue.ignored", "user %.*s: %s", a->id_len, a->id, reason);
}

/* The throttle counts from tick to tick, not from the arrival of their plans: else a plan that arrives a little sooner
 * after its tick than the one before would be too early, and its users would wait for one more tick. A plan that is late
 * by whole ticks counts from the last of them. */
static int64_t tick_of(dn_self *self, const queue *q, const dn_attempt *a) {
    const int64_t late_ns = dn_mono_ns(self) - a->at_ns;
    const int64_t every_ns = q->config->tick_ms * NS_PER_MS;

    return late_ns < every_ns ? a->at_ns : a->at_ns + late_ns / every_ns * every_ns;
}

/* A plan may know less than the record (its commit is smaller: the record is right), or more, when the change itself is
 * still on its way from kv (then the plan is right). Registrations rise, so an older one has been removed. */
static bool plan_is_stale(dn_self *self, queue *q, const dn_attempt *a, queue_record *r) {
    if (r->registration > a->registration) return true;
    if (r->registration < a->registration) {
        records_begin_anew(r, a->registration, a->due, a->commit);
        return false;
    }
    if (r->gone || r->user.last_day >= a->day) return true; /* neither is ever undone */
    if (a->commit > r->commit) {
        records_set_due(&q->records, r, a->due, a->commit);
        if (r->user.starts_on > a->day) r->user.starts_on = a->day;
    }
    if (a->day < r->user.starts_on) return true;
    return a->commit < r->commit &&
           !dn_daily_may_start(&r->user, a->day, q->config->window_minutes, dn_now_ms(self));
}

static void plan_one(dn_self *self, queue *q, const dn_attempt *a, queue_record *r) {
    const int64_t now_ns = tick_of(self, q, a);

    if (r->state != RECORD_IDLE || plan_is_stale(self, q, a, r)) {
        q->status.deduped++;
        ignored(self, q, a, "dedupe");
        return;
    }
    record_day *d = records_day_of(r, a->day);
    if (now_ns < d->next_ns) {
        q->status.throttled++;
        ignored(self, q, a, "throttle");
        return;
    }
    if (records_enqueue(&q->records, r, a->day, a->context_epoch) < 0)
        dn_fail_code(DN_ENOMEM, "no memory for one more user in the queue");
    d->next_ns = now_ns + (int64_t)q->config->retry_delay_minutes * DN_MINUTE_MS * NS_PER_MS;
    q->accepted++;
    DN_SAY(q->config->journal, self, DN_HAPPENED_ENQUEUED, .registration = a->registration,
           .id = a->id, .id_len = a->id_len, .at_ms = dn_now_ms(self), .day = a->day);
}

/* Records of a herd are far apart in memory: look for several at once. */
static void plan_some(dn_self *self, queue *q, const dn_attempt *const *some, size_t len) {
    uint64_t hashes[PLANS_AT_ONCE];

    for (size_t i = 0; i < len; i++)
        hashes[i] = records_fetch(&q->records, some[i]->id, some[i]->id_len);
    for (size_t i = 0; i < len; i++) {
        const dn_attempt *a = some[i];
        queue_record     *r = records_open_hashed(&q->records, hashes[i], a->id, a->id_len);
        if (!r) dn_fail_code(DN_ENOMEM, "no memory for one more user in the queue");
        plan_one(self, q, a, r);
        if (a->commit > q->records.planned) q->records.planned = a->commit;
    }
}

static int queue_on_plan(dn_self *self, void *state, const dn_msg *msg) {
    queue            *q = state;
    const dn_attempt *some[PLANS_AT_ONCE];
    size_t            len = 0;

    assert(records_are_sound(&q->records));
    for (DN_PIPE_EACH_ID(dn_attempt, a, msg)) {
        some[len++] = a;
        if (len < dn_bound(q->config->bounds.lookups, PLANS_AT_ONCE)) continue;
        plan_some(self, q, some, len);
        len = 0;
    }
    plan_some(self, q, some, len);
    if (q->records.waiting.len > q->status.queued_peak)
        q->status.queued_peak = q->records.waiting.len;
    assert(records_are_sound(&q->records));
    return DN_OK;
}

static void report_depth(dn_self *self, queue *q) {
    char today[DN_DAY_TEXT];

    q->depth = q->records.waiting.len;
    if (!dn_event_wanted(&dn_queue_depth)) return;
    dn_day_write(dn_day_of_ms(dn_now_ms(self)), today);
    DN_EMIT(dn_queue_depth, .depth = (int64_t)q->depth, .today = today);
}

static int queue_on_plan_ends(dn_self *self, void *state, const dn_msg *msg) {
    queue             *q = state;
    const dn_plan_end *end = DN_BODY(dn_plan_end, msg);

    if (end->commit > q->records.planned) q->records.planned = end->commit;
    dn_reply(self, msg, MSG_PLANNED, &q->accepted, sizeof q->accepted);
    q->accepted = 0;
    report_depth(self, q);
    return DN_OK;
}

/* ---- Changes ---- */

static void dropped(dn_self *self, queue *q, queue_record *r) {
    DN_SAY(q->config->journal, self, DN_HAPPENED_DROPPED, .registration = r->registration,
           .id = r->id, .id_len = r->id_len, .at_ms = dn_now_ms(self), .day = r->day);
    records_unqueue(&q->records, r);
}

/* The planner may hear of this later than the queue, and ask once more. */
static void keep_a_while(dn_self *self, queue_record *r) {
    r->keep_ns = dn_mono_ns(self) + (int64_t)SWEEP_MS * NS_PER_MS;
}

static void update(dn_self *self, queue *q, queue_record *r, const dn_change *c) {
    records_set_due(&q->records, r, c->due, c->commit);
    r->user = (dn_daily_user){c->due, c->last_day, c->starts_on};
    r->context_epoch = c->context_epoch;
    r->gone = c->removed;
    if (r->gone) keep_a_while(self, r);
    if (r->gone && r->state == RECORD_QUEUED) dropped(self, q, r);
}

/* A change that contradicts a plan still on its way needs a record, even of a user that was never asked for. */
static queue_record *record_for(queue *q, const dn_change *c) {
    const bool may_contradict = c->by_request && !c->is_new && c->commit > q->records.planned;

    if (!may_contradict) return records_find(&q->records, c->id, c->id_len);
    queue_record *r = records_open(&q->records, c->id, c->id_len);
    if (!r) dn_fail_code(DN_ENOMEM, "no memory for a changed user");
    if (r->registration < c->registration && r->state == RECORD_IDLE)
        records_begin_anew(r, c->registration, c->due, c->commit);
    return r;
}

/* The commit of a success settles it: the user is free. It was late if it did not end the day. */
static void settled(dn_self *self, queue *q, queue_record *r, const dn_change *c) {
    const bool counts = c->last_day == r->day && c->status == DN_DAILY_SUCCESS;

    if (c->removed || !counts) q->status.late++;
    keep_a_while(self, r);
    records_stop(&q->records, r);
}

/* The record of the run that this commit settles. NULL: a queue before this one forgot it. */
static queue_record *ran_by(queue *q, const dn_change *c) {
    queue_record *r = records_of_ticket(&q->records, c->ticket);

    if (!r) r = records_find(&q->records, c->id, c->id_len);
    return r && r->state == RECORD_RUNNING && r->registration == c->registration ? r : NULL;
}

static int queue_on_changed(dn_self *self, void *state, const dn_msg *msg) {
    queue *q = state;

    assert(records_are_sound(&q->records));
    for (DN_PIPE_EACH_ID(dn_change, c, msg)) {
        queue_record *ran = c->ticket ? ran_by(q, c) : NULL;
        queue_record *r = ran ? ran : record_for(q, c);
        if (r && r->registration == c->registration && c->commit >= r->commit)
            update(self, q, r, c);
        if (ran) settled(self, q, ran, c);
    }
    assert(records_are_sound(&q->records));
    return DN_OK;
}

/* ---- Outcomes ---- */

static void note_attempts(dn_self *self, queue *q, const queue_record *r, const record_day *d) {
    dn_attempt_note *note = dn_pipe_add(self, &q->notes, sizeof *note);

    *note = (dn_attempt_note){.registration = r->registration,
                              .day = r->day,
                              .attempts = d->attempts,
                              .error_class = d->error_class};
}

static void say_expired(dn_self *self, queue *q, const queue_record *r) {
    DN_SAY(q->config->journal, self, DN_HAPPENED_EXPIRED, .registration = r->registration,
           .id = r->id, .id_len = r->id_len, .at_ms = dn_now_ms(self), .day = r->day);
    q->status.expired++;
    if (dn_log_wanted(DN_LOG_DEBUG))
        dn_log(DN_LOG_DEBUG, "queue.expired",
               "user %.*s: the window ended before an attempt started", r->id_len, r->id);
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

static void log_failed(const queue_record *r, const dn_work_outcome *o, uint32_t attempt,
                       dn_error_class cls) {
    const char *error = o->has_answer ? o->answer[0].error : "";

    if (!dn_log_wanted(DN_LOG_DEBUG)) return;
    if (dn_run_outcome(o->result) == DN_OUTCOME_TIMEOUT)
        dn_log(DN_LOG_DEBUG, "job.failed",
               "user %.*s attempt %u: timeout, stopped after %lld ms%s%s", r->id_len, r->id,
               attempt, (long long)(o->took_ns / NS_PER_MS), *error ? ": " : "", error);
    else
        dn_log(DN_LOG_DEBUG, "job.failed", "user %.*s attempt %u: error %s%s%s", r->id_len, r->id,
               attempt, dn_error_class_text(cls), *error ? " " : "", error);
}

static void say_stopped(dn_self *self, const queue *q, const queue_record *r,
                        const dn_work_outcome *o, uint32_t attempt, dn_error_class cls) {
    const dn_outcome outcome = dn_run_outcome(o->result);
    const bool       is_error = outcome == DN_OUTCOME_ERROR || outcome == DN_OUTCOME_CRASH;

    DN_SAY(q->config->journal, self, DN_HAPPENED_STOPPED, .registration = r->registration,
           .id = r->id, .id_len = r->id_len, .at_ms = dn_now_ms(self), .day = r->day,
           .attempt = attempt, .outcome = is_error ? DN_OUTCOME_ERROR : outcome,
           .error_class = is_error ? cls : DN_CLASS_NONE, .duration_ms = o->took_ns / NS_PER_MS);
    DN_EMIT(dn_job_stop, .duration_ms = (double)o->took_ns / 1e6, .result = result_text(outcome),
            .error_class = is_error ? dn_error_class_text(cls) : NULL);
    if (outcome != DN_OUTCOME_OK) log_failed(r, o, attempt, cls);
}

static void failed(dn_self *self, queue *q, queue_record *r, record_day *d, dn_error_class cls) {
    d->error_class = (uint8_t)cls;
    note_attempts(self, q, r, d);
    keep_a_while(self, r);
    records_stop(&q->records, r);
}

static void succeeded(dn_self *self, queue *q, const queue_record *r, const record_day *d) {
    dn_success *s = dn_pipe_add(self, &q->successes, sizeof *s + r->id_len);

    *s = (dn_success){
        .ticket = r->ticket,
        .registration = r->registration,
        .at_ms = dn_now_ms(self),
        .day = r->day,
        .attempts = d->attempts,
        .error_class = d->error_class,
        .id_len = r->id_len,
    };
    dn_id_copy(s->id, r->id, r->id_len);
}

/* Its cutoff came on the way to the runner: as if it had been dropped before. */
static void not_started(dn_self *self, queue *q, queue_record *r, record_day *d) {
    say_expired(self, q, r);
    d->attempts = r->attempts_before;
    note_attempts(self, q, r, d);
    keep_a_while(self, r);
    records_stop(&q->records, r);
}

static void stopped(dn_self *self, queue *q, queue_record *r, const dn_work_outcome *o) {
    const dn_run_answer  none = DN_RUN_ANSWER_NONE;
    const dn_run_answer *answer = o->has_answer ? o->answer : &none;
    const dn_outcome     outcome = dn_run_outcome(o->result);
    record_day          *d = records_day_of(r, r->day);
    dn_error_class       cls = DN_CLASS_UNKNOWN;

    if (outcome == DN_OUTCOME_ERROR) cls = dn_daily_classify(o->result, answer);
    say_stopped(self, q, r, o, d->attempts, cls);
    if (outcome == DN_OUTCOME_OK) succeeded(self, q, r, d);
    else failed(self, q, r, d, cls);
}

static int queue_on_outcome(dn_self *self, void *state, const dn_msg *msg) {
    queue *q = state;

    assert(records_are_sound(&q->records));
    for (DN_WORK_OUTCOME_EACH(o, msg)) {
        queue_record *r = records_of_ticket(&q->records, o->ticket);
        if (!r) continue;
        if (o->started) stopped(self, q, r, o);
        else not_started(self, q, r, records_day_of(r, r->day));
    }
    assert(records_are_sound(&q->records));
    return DN_OK;
}

/* ---- Work ---- */

static int queue_on_take(dn_self *self, void *state, const dn_msg *msg) {
    queue *q = state;

    (void)self;
    for (DN_PIPE_EACH(dn_take, t, msg)) {
        q->granted += t->slots;
        q->offered -= t->slots < q->offered ? t->slots : q->offered;
    }
    return DN_OK;
}

/* The attempt counts from here on: if the cutoff comes while it runs, the ledger has it. */
static uint16_t count_attempt(dn_self *self, queue *q, queue_record *r) {
    record_day *d = records_day_of(r, r->day);

    r->attempts_before = d->attempts;
    d->attempts = records_next_attempt(d);
    note_attempts(self, q, r, d);
    return d->attempts;
}

static dn_blob *request_of(const queue *q, const queue_record *r, uint32_t attempt, int64_t now_ms,
                           char key[DN_DAILY_KEY_MAX], size_t *out_key_len) {
    const dn_daily_request request = {
        .type = DN_REQUEST_RUN,
        .id = r->id,
        .id_len = r->id_len,
        .day = r->day,
        .due = r->user.due,
        .attempt = attempt,
        .context_epoch = r->context_epoch,
        .deadline_ms = now_ms + q->config->job_timeout_ms,
    };
    dn_blob *body = dn_daily_request_new(&request);

    if (!body) dn_fail_code(DN_ENOMEM, "no memory for a request");
    *out_key_len = dn_daily_request_key(&request, key);
    return body;
}

static void hand_out(dn_self *self, queue *q, queue_record *r) {
    const int64_t now_ms = dn_now_ms(self);
    size_t        key_len;
    char          key[DN_DAILY_KEY_MAX];

    if (records_run(&q->records, r, now_ms) < 0)
        dn_fail_code(DN_ENOMEM, "no memory for one more user that runs");
    const uint16_t attempt = count_attempt(self, q, r);
    dn_blob       *body = request_of(q, r, attempt, now_ms, key, &key_len);
    dn_work       *w = dn_pipe_add(self, &q->work, sizeof *w + key_len);
    *w = (dn_work){
        .ticket = r->ticket,
        .subject = r->registration,
        .body = body,
        .opens_ms = dn_daily_start_ms(r->user.due, r->day, q->config->window_minutes),
        .closes_ms = dn_daily_cutoff_ms(r->user.due, r->day),
        .timeout_ms = q->config->job_timeout_ms,
        .type = q->config->work_type,
        .key_len = (uint16_t)key_len,
    };
    memcpy(w->key, key, key_len);
    q->granted--;
}

static void expired(dn_self *self, queue *q, queue_record *r) {
    say_expired(self, q, r);
    records_unqueue(&q->records, r);
}

static bool pipes_are_free(const queue *q) {
    return dn_pipe_is_free(&q->work) && dn_pipe_is_free(&q->successes) &&
           dn_pipe_is_free(&q->notes);
}

/* A herd whose cutoff has come is dropped a part at a time. True: there is more to drop. */
static bool hand_out_some(dn_self *self, queue *q) {
    const int64_t now_ms = dn_now_ms(self);
    uint32_t      left = dn_bound(q->config->bounds.expired, EXPIRE_AT_ONCE);

    for (queue_record *r; q->granted > 0 && (r = records_first(&q->records));) {
        if (dn_daily_may_start(&r->user, r->day, q->config->window_minutes, now_ms)) {
            hand_out(self, q, r);
            continue;
        }
        if (left-- == 0) return true;
        expired(self, q, r);
    }
    return false;
}

/* Slots that nobody needs go back at once; users that wait are offered until there are more than the executor grants. */
static void offer(dn_self *self, queue *q) {
    const uint64_t waiting = q->stopping ? 0 : q->records.waiting.len;
    const uint32_t most = dn_bound(q->config->bounds.offers, OFFER_MAX);
    const uint32_t wants = waiting < most ? (uint32_t)waiting : most;
    const bool     has_more = wants > q->offered && (wants < most || q->offered <= wants / 2);

    if (q->granted == 0 && !has_more) return;
    dn_offer *o = dn_pipe_add(self, &q->offers, sizeof *o);
    *o = (dn_offer){.wants = wants, .returned = q->granted};
    q->granted = 0;
    q->offered = wants;
    dn_pipe_flush(self, &q->offers);
}

static bool is_drained(const queue *q) {
    return q->stopping && records_running_len(&q->records) == 0 && dn_pipe_is_free(&q->successes);
}

/* At the end of a batch, so that what arrived together is handed out in its order and not as it arrived. */
static int queue_flush(dn_self *self, void *state) {
    queue *q = state;
    bool   more = false;

    if (pipes_are_free(q)) {
        more = !q->stopping && hand_out_some(self, q);
        if (!more) offer(self, q);
    }
    dn_pipe_flush(self, &q->notes);
    dn_pipe_flush(self, &q->successes);
    dn_pipe_flush(self, &q->work);
    if (q->records.waiting.len != q->depth) report_depth(self, q);
    /* A mailbox that is full brings the next flush by itself. */
    if (more && !q->going_on)
        q->going_on = dn_send(self, dn_self_ref(self), QUEUE_GO_ON, NULL, 0) == DN_OK;
    return is_drained(q) ? DN_STOP : DN_OK;
}

static int queue_on_go_on(dn_self *self, void *state, const dn_msg *msg) {
    queue *q = state;

    (void)self, (void)msg;
    q->going_on = false; /* the flush after this handler goes on */
    return DN_OK;
}

static int queue_on_room(dn_self *self, void *state, const dn_msg *msg) {
    queue *q = state;

    (void)msg;
    dn_pipe_on_room(self, &q->notes);
    dn_pipe_on_room(self, &q->successes);
    dn_pipe_on_room(self, &q->work);
    dn_pipe_on_room(self, &q->offers);
    return DN_OK;
}

/* ---- Records that no longer matter ---- */

static int queue_on_sweep(dn_self *self, void *state, const dn_msg *msg) {
    queue *q = state;

    (void)msg;
    const bool more = records_sweep(&q->records, dn_bound(q->config->bounds.swept, SWEEP_RECORDS),
                                    dn_mono_ns(self), dn_now_ms(self));
    dn_timer_after(self, more ? 1 : SWEEP_MS, QUEUE_SWEEP, 0);
    return DN_OK;
}

/* ---- The end ---- */

static bool is_gone(dn_self *self, const char *name) {
    return dn_ref_is_nobody(dn_whereis(self, dn_name(self, name)));
}

/* Running jobs may finish, and nothing more is started. But if kv or the executor is gone, this is a restart: what runs
 * cannot be settled any more, so end at once. */
static int queue_stopping(dn_self *self, void *state) {
    queue *q = state;

    if (is_gone(self, ACTOR_KV) || is_gone(self, ACTOR_EXECUTIONS) || is_gone(self, ACTOR_EXECUTOR))
        return DN_STOP;
    if (q->stopping) return is_drained(q) ? DN_STOP : DN_OK;
    q->stopping = true;
    if (records_running_len(&q->records) > 0)
        dn_log(DN_LOG_INFO, "executor.stopping", "%zu running jobs may finish within %lld ms",
               records_running_len(&q->records), (long long)q->config->shutdown_grace_ms);
    (void)dn_monitor(self, dn_name(self, ACTOR_EXECUTIONS), 0);
    (void)dn_monitor(self, dn_name(self, ACTOR_EXECUTOR), 0);
    dn_timer_after(self, q->config->shutdown_grace_ms, QUEUE_GRACE_OVER, 0);
    return is_drained(q) ? DN_STOP : DN_OK;
}

static int queue_on_grace_over(dn_self *self, void *state, const dn_msg *msg) {
    const queue *q = state;

    (void)self, (void)msg;
    dn_log(DN_LOG_WARN, "executor.cut_off",
           "cut off %zu jobs that were still running; their users are eligible again",
           records_running_len(&q->records));
    return DN_STOP;
}

static int queue_on_down(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state, (void)msg;
    return DN_STOP;
}

/* ---- Questions ---- */

static int queue_on_ask_status(dn_self *self, void *state, const dn_msg *msg) {
    queue *q = state;

    q->status.queued = q->records.waiting.len;
    q->status.running = records_running_len(&q->records);
    q->status.known = records_len(&q->records);
    dn_reply(self, msg, MSG_STATUS, &q->status, sizeof q->status);
    return DN_OK;
}

static int queue_on_ask_user(dn_self *self, void *state, const dn_msg *msg) {
    const queue        *q = state;
    const dn_kv_id     *id = DN_BODY(dn_kv_id, msg);
    const queue_record *r = records_find(&q->records, id->id, id->len);
    dn_queued_user      answer = {.known = r != NULL, .day = DN_DAY_NONE};

    if (r) {
        const record_day *d = r->days[0].day > r->days[1].day ? &r->days[0] : &r->days[1];
        const int64_t     left_ns = d->next_ns - dn_mono_ns(self);
        answer.queued = r->state == RECORD_QUEUED;
        answer.running = r->state == RECORD_RUNNING;
        answer.day = d->day;
        answer.attempts = answer.running && r->day == d->day ? r->attempts_before : d->attempts;
        answer.error_class = d->error_class;
        answer.throttled_ms = d->next_ns > INT64_MIN && left_ns > 0 ? left_ns / NS_PER_MS : 0;
    }
    dn_reply(self, msg, MSG_QUEUED_USER, &answer, sizeof answer);
    return DN_OK;
}

static int queue_on_ask_running(dn_self *self, void *state, const dn_msg *msg) {
    const queue *q = state;
    size_t       bytes = 0, to = 0, at = 0;

    for (const queue_record *r; (r = records_running_next(&q->records, &at));)
        bytes += dn_pipe_stride(sizeof(dn_running) + r->id_len);
    dn_msg *scratch = dn_msg_new(self, MSG_RUNNING, bytes);
    char   *body = dn_msg_body(scratch);
    at = 0;
    for (const queue_record *r; (r = records_running_next(&q->records, &at));) {
        dn_running *row = (dn_running *)(void *)(body + to);
        row->since_ms = r->since_ms;
        row->day = r->day;
        row->attempt = r->attempts_before + 1U;
        row->due = (uint16_t)r->user.due;
        row->id_len = r->id_len;
        memcpy(row->id, r->id, r->id_len);
        to += dn_pipe_stride(sizeof *row + r->id_len);
    }
    dn_reply(self, msg, MSG_RUNNING, body, bytes);
    dn_msg_free(self, scratch);
    return DN_OK;
}
