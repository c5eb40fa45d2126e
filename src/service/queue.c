/* queue.c - who waits for an attempt, and who has one.
 * It takes what the planner asks for unless the user waits or runs already or was tried too lately, and hands out, as
 * the executor has room, the earliest cutoff first. All of it is memory: after a crash the users are eligible
 * again at the next tick, and the executor and the planner start again with the queue. */
#include "queue.h"

#include "actor/pipe.h"
#include "events.h"
#include "messages.h"
#include "obs/log.h"
#include "queue_records.h"
#include "service.h"

#include <string.h>

enum {
    QUEUE_SWEEP = MSG_OWN,
    QUEUE_GO_ON,
    EXPIRE_AT_ONCE = 1000,
    SWEEP_MS = 60000,
    SWEEP_RECORDS = 4096,
    PLANS_AT_ONCE = 16,
};

typedef struct queue {
    const dn_service_config *config;
    queue_records            book;
    dn_pipe                  to_executor;
    uint32_t                 room;     /* what the executor has asked for and not got */
    dn_ref                   planner;  /* nobody: none has said anything since the last one ended */
    dn_watch_id              watch;    /* of it */
    uint32_t                 planners; /* so many have ended */
    bool                     unsure; /* and the one after them has not asked yet for all it wants */
    uint64_t                 taken;  /* of the plan that is coming in */
    uint64_t                 told;   /* the depth that was said last */
    bool                     going_on;
    dn_queue_status          status;
} queue;

static int queue_init(dn_self *self, void *state, const void *config);
static int queue_on_plan(dn_self *self, void *state, const dn_msg *msg);
static int queue_on_plan_ends(dn_self *self, void *state, const dn_msg *msg);
static int queue_on_take(dn_self *self, void *state, const dn_msg *msg);
static int queue_on_settled(dn_self *self, void *state, const dn_msg *msg);
static int queue_on_changed(dn_self *self, void *state, const dn_msg *msg);
static int queue_on_go_on(dn_self *self, void *state, const dn_msg *msg);
static int queue_on_down(dn_self *self, void *state, const dn_msg *msg);
static int queue_on_sweep(dn_self *self, void *state, const dn_msg *msg);
static int queue_on_ask_status(dn_self *self, void *state, const dn_msg *msg);
static int queue_on_ask_user(dn_self *self, void *state, const dn_msg *msg);
static int queue_on_room(dn_self *self, void *state, const dn_msg *msg);
static int queue_flush(dn_self *self, void *state);

static const dn_handler queue_handlers[] = {
    {MSG_PLAN_ATTEMPTS, queue_on_plan},    /* tick     -> dedupe and throttle */
    {MSG_PLAN_ENDS, queue_on_plan_ends},   /* tick     -> how many of them were taken? */
    {MSG_TAKE, queue_on_take},             /* executor -> room for more */
    {MSG_SETTLED, queue_on_settled},       /* executor -> it neither waits nor runs any more */
    {MSG_USERS_CHANGED, queue_on_changed}, /* kv       -> another due, a day closed, a user gone */
    {MSG_USERS_TOLD_AGAIN, queue_on_changed}, /* tick  -> the same, behind a plan without it */
    {DN_MSG_DOWN, queue_on_down},             /* a planner has ended, behind all it said */
    {QUEUE_GO_ON, queue_on_go_on},
    {QUEUE_SWEEP, queue_on_sweep}, /* what need not be remembered is forgotten */
    {MSG_ASK_STATUS, queue_on_ask_status},
    {MSG_ASK_USER, queue_on_ask_user},
    {DN_MSG_ROOM, queue_on_room},
};

const dn_class dn_queue_class = {
    .name = "queue",
    .state_size = sizeof(queue),
    .init = queue_init,
    .handlers = DN_SLICE(queue_handlers),
    .flush = queue_flush,
    .mailbox_max = 4096,
};

static int queue_init(dn_self *self, void *state, const void *config) {
    queue *q = state;

    q->config = config;
    q->book.key = (dn_hash_key){dn_random(self), dn_random(self)};
    dn_own(self, &q->book, records_done);
    q->book.tickets =
        dn_random(self) >> 1; /* none that kv may still have of a queue before this one */
    dn_pipe_init(self, &q->to_executor, ACTOR_EXECUTOR, MSG_WORK);
    dn_timer_after(self, SWEEP_MS, QUEUE_SWEEP, 0);
    return DN_OK;
}

/* ---- In ---- */

static void ignored(dn_self *self, const queue *q, const dn_attempt *a, const char *reason) {
    DN_SAY(q->config->journal, self, DN_HAPPENED_IGNORED, .n = a->n, .id = a->id,
           .id_len = a->id_len, .at_ms = dn_now_ms(self), .day = a->day, .reason = reason);
    if (!dn_log_wanted(DN_LOG_DEBUG)) return;
    dn_log(DN_LOG_DEBUG, "queue.ignored", "user %.*s: %s", a->id_len, a->id, reason);
}

/* kv's word of a change may have come before there was a record, and the planner that was to tell of it once more may
 * have ended. What the next one says is no older, and what it does not know yet it tells behind its plan. So whoever
 * waits stays where it is until that one has asked for all it wants; whom it did not ask for, and of whom kv has said nothing
 * since, has no window any more. */
static void planner_ended(queue *q) {
    q->planner = DN_NOBODY;
    q->planners++;
    q->unsure = true;
    q->taken = 0; /* of a plan that never ended */
}

static void planner_is(dn_self *self, queue *q, dn_ref planner) {
    if (dn_ref_equal(q->planner, planner)) return;
    if (!dn_ref_is_nobody(q->planner)) {
        dn_demonitor(self, q->watch);
        planner_ended(q);
    }
    q->planner = planner;
    q->watch = dn_monitor(self, planner, 0);
}

static int queue_on_down(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)msg;
    planner_ended(state);
    return DN_OK;
}

static bool is_sure(const queue *q, const queue_record *r) {
    return r->planner == RECORD_KV_SAID || r->planner == q->planners;
}

static void believe(queue *q, const dn_attempt *a, queue_record *r) {
    if (is_sure(q, r)) return;
    if (r->n && r->n != a->n) return; /* of this one it says nothing */
    r->planner = q->planners;
    if (!r->n || r->user.due == a->due) return;
    r->user.due = a->due;
    if (r->state == RECORD_QUEUED) records_reorder(&q->book, r);
}

/* The throttle counts from tick to tick, not from when their plans come here: else a plan that comes a little sooner
 * behind its tick than the one before is too early, and its users wait for one tick more. Of a plan that is late by
 * whole ticks it is the last of them. */
static int64_t tick_of(dn_self *self, const queue *q, const dn_attempt *a) {
    const int64_t late_ns = dn_mono_ns(self) - a->at_ns;
    const int64_t every_ns = q->config->tick_ms * 1000000;

    return late_ns < every_ns ? a->at_ns : a->at_ns + late_ns / every_ns * every_ns;
}

static void plan_one(dn_self *self, queue *q, const dn_attempt *a, queue_record *r) {
    const int64_t now_ns = tick_of(self, q, a);

    believe(q, a, r);
    if (r->state != RECORD_IDLE) {
        q->status.deduped++;
        ignored(self, q, a, "dedupe");
        return;
    }
    if (r->n && r->n != a->n) { /* begins anew */
        r->days[0].attempts = r->days[1].attempts = 0;
        r->days[0].cls = r->days[1].cls = DN_CLASS_NONE;
        r->planner = q->planners;
    }
    if (r->n == a->n && (r->gone || dn_daily_is_finalized(&r->user, a->day))) {
        q->status.deduped++; /* the planner did not know yet */
        ignored(self, q, a, "dedupe");
        return;
    }
    record_day *d = records_day_of(r, a->day);
    if (now_ns < d->next_ns) {
        q->status.throttled++;
        ignored(self, q, a, "throttle");
        return;
    }
    if (records_enqueue(&q->book, r, a->n, a->day, a->due, a->context_epoch) < 0)
        dn_fail_code(DN_ENOMEM, "no memory for one more in the queue");
    d->next_ns = now_ns + (int64_t)q->config->retry_delay_minutes * DN_MINUTE_MS * 1000000;
    q->taken++;
    DN_SAY(q->config->journal, self, DN_HAPPENED_ENQUEUED, .n = a->n, .id = a->id,
           .id_len = a->id_len, .at_ms = dn_now_ms(self), .day = a->day);
}

/* A herd is not near in memory: so many are looked for at once. */
static void plan_some(dn_self *self, queue *q, const dn_attempt *const *some, size_t len) {
    uint64_t hashes[PLANS_AT_ONCE];

    for (size_t i = 0; i < len; i++)
        hashes[i] = records_fetch(&q->book, some[i]->id, some[i]->id_len);
    for (size_t i = 0; i < len; i++) {
        const dn_attempt *a = some[i];
        queue_record     *r = records_open_hashed(&q->book, hashes[i], a->id, a->id_len);
        if (!r) dn_fail_code(DN_ENOMEM, "no memory for one more in the queue");
        plan_one(self, q, a, r);
    }
}

static int queue_on_plan(dn_self *self, void *state, const dn_msg *msg) {
    queue            *q = state;
    const dn_attempt *some[PLANS_AT_ONCE];
    size_t            len = 0;

    planner_is(self, q, dn_msg_from(msg));
    for (DN_PIPE_EACH_ID(dn_attempt, a, msg)) {
        some[len++] = a;
        if (len < PLANS_AT_ONCE) continue;
        plan_some(self, q, some, len);
        len = 0;
    }
    plan_some(self, q, some, len);
    if (q->book.waiting.len > q->status.queued_peak) q->status.queued_peak = q->book.waiting.len;
    return DN_OK;
}

static void say_depth(dn_self *self, queue *q) {
    char today[DN_DAY_TEXT];

    q->told = q->book.waiting.len;
    if (!dn_event_wanted(&dn_queue_depth)) return;
    dn_day_write(dn_day_of_ms(dn_now_ms(self)), today);
    DN_EMIT(dn_queue_depth, .depth = (int64_t)q->told, .today = today);
}

static int queue_on_plan_ends(dn_self *self, void *state, const dn_msg *msg) {
    queue *q = state;

    planner_is(self, q, dn_msg_from(msg));
    q->unsure = false;
    dn_reply(self, msg, MSG_PLANNED, &q->taken, sizeof q->taken);
    q->taken = 0;
    say_depth(self, q);
    return DN_OK;
}

static void dropped(dn_self *self, queue *q, queue_record *r) {
    DN_SAY(q->config->journal, self, DN_HAPPENED_DROPPED, .n = r->n, .id = r->id,
           .id_len = r->id_len, .at_ms = dn_now_ms(self), .day = r->day);
    records_unqueue(&q->book, r);
}

/* The planner may hear later than the queue that there is nothing more to ask for, and ask once more. */
static void keep_a_while(dn_self *self, queue_record *r) {
    r->keep_ns = dn_mono_ns(self) + (int64_t)SWEEP_MS * 1000000;
}

/* Whose run has changed it still runs, as a rule, and is found by its ticket at once. */
static queue_record *record_of(const queue *q, const dn_change *c) {
    queue_record *r = c->ticket ? records_of_ticket(&q->book, c->ticket) : NULL;

    return r && r->n == c->n ? r : records_find(&q->book, c->id, c->id_len);
}

static int queue_on_changed(dn_self *self, void *state, const dn_msg *msg) {
    queue     *q = state;
    const bool by_kv = dn_msg_kind(msg) == MSG_USERS_CHANGED;

    for (DN_PIPE_EACH_ID(dn_change, c, msg)) {
        queue_record *r = record_of(q, c);
        if (!r || r->n != c->n || (!by_kv && r->planner == RECORD_KV_SAID)) continue;
        const bool moved = r->user.due != c->due;
        r->user = (dn_daily_user){c->due, c->last_day, c->starts_on};
        r->context_epoch = c->context_epoch;
        r->gone = c->removed;
        r->planner = by_kv ? RECORD_KV_SAID : q->planners;
        if (r->gone) keep_a_while(self, r);
        if (r->state != RECORD_QUEUED) continue;
        if (r->gone) dropped(self, q, r);
        else if (moved) records_reorder(&q->book, r);
    }
    return DN_OK;
}

/* ---- Out ---- */

static void expired(dn_self *self, queue *q, queue_record *r) {
    DN_SAY(q->config->journal, self, DN_HAPPENED_EXPIRED, .n = r->n, .id = r->id,
           .id_len = r->id_len, .at_ms = dn_now_ms(self), .day = r->day);
    records_unqueue(&q->book, r);
    q->status.expired++;
    if (dn_log_wanted(DN_LOG_DEBUG))
        dn_log(DN_LOG_DEBUG, "queue.expired", "user %.*s: its window is over", r->id_len, r->id);
}

static void hand_out(dn_self *self, queue *q, queue_record *r) {
    if (records_run(&q->book, r) < 0) dn_fail_code(DN_ENOMEM, "no memory for one more that runs");
    dn_work *w = dn_pipe_add(self, &q->to_executor, sizeof *w + r->id_len);
    w->ticket = r->ticket;
    w->n = r->n;
    w->day = r->day;
    w->context_epoch = r->context_epoch;
    w->attempt = records_next_attempt(records_day_of(r, r->day));
    w->due = (uint16_t)r->user.due;
    w->cls = records_day_of(r, r->day)->cls;
    w->id_len = r->id_len;
    dn_id_copy(w->id, r->id, r->id_len);
    q->room--;
}

/* At the end of a batch, so that what came together is handed out in its order and not as it came. A herd whose
 * cutoff has come is let go a part at a time. */
static int queue_flush(dn_self *self, void *state) {
    queue        *q = state;
    const int64_t now_ms = dn_now_ms(self);
    int           left = EXPIRE_AT_ONCE;

    for (queue_record *r; q->room > 0 && left > 0 && !q->unsure && (r = records_first(&q->book));) {
        if (is_sure(q, r) &&
            dn_daily_may_start(&r->user, r->day, q->config->window_minutes, now_ms)) {
            hand_out(self, q, r);
        } else {
            expired(self, q, r);
            left--;
        }
    }
    dn_pipe_flush(self, &q->to_executor);
    if (q->book.waiting.len != q->told) say_depth(self, q);
    /* A mailbox that is full brings the next flush by itself. */
    if (left == 0 && !q->going_on)
        q->going_on = dn_send(self, dn_self_ref(self), QUEUE_GO_ON, NULL, 0) == DN_OK;
    return DN_OK;
}

static int queue_on_go_on(dn_self *self, void *state, const dn_msg *msg) {
    queue *q = state;

    (void)self, (void)msg;
    q->going_on = false; /* the flush that follows goes on */
    return DN_OK;
}

/* What the executor before this one had in hand ended with it. */
static void executor_is_new(dn_self *self, queue *q, dn_ref executor) {
    records_stop_all(&q->book);
    q->room = 0;
    dn_pipe_redirect(self, &q->to_executor, executor);
}

/* It is answered by its address, not its name: work for one executor must not reach the next. And what a dead one asked
 * for is not for the living. */
static int queue_on_take(dn_self *self, void *state, const dn_msg *msg) {
    queue         *q = state;
    const dn_take *t = DN_BODY(dn_take, msg);
    const dn_ref   executor = dn_whereis(self, dn_name(self, ACTOR_EXECUTOR));

    if (!dn_ref_equal(dn_msg_from(msg), executor)) return DN_OK;
    if (t->first) executor_is_new(self, q, executor);
    q->room += t->room;
    return DN_OK;
}

static int queue_on_settled(dn_self *self, void *state, const dn_msg *msg) {
    queue *q = state;

    for (DN_PIPE_EACH(dn_settled, s, msg)) {
        queue_record *r = records_of_ticket(&q->book, s->ticket);
        if (!r) continue; /* of an executor before this one */
        record_day *d = records_day_of(r, r->day);
        d->attempts = (uint16_t)s->attempts;
        d->cls = s->cls;
        if (s->finalized && r->user.last_day < r->day) r->user.last_day = r->day;
        keep_a_while(self, r);
        records_stop(&q->book, r);
    }
    return DN_OK;
}

static int queue_on_room(dn_self *self, void *state, const dn_msg *msg) {
    queue *q = state;

    (void)msg;
    dn_pipe_on_room(self, &q->to_executor);
    return DN_OK;
}

/* ---- Forgetting ---- */

static int queue_on_sweep(dn_self *self, void *state, const dn_msg *msg) {
    queue *q = state;

    (void)msg;
    const bool more = records_sweep(&q->book, SWEEP_RECORDS, dn_mono_ns(self), dn_now_ms(self));
    dn_timer_after(self, more ? 1 : SWEEP_MS, QUEUE_SWEEP, 0);
    return DN_OK;
}

/* ---- Questions ---- */

static int queue_on_ask_status(dn_self *self, void *state, const dn_msg *msg) {
    queue *q = state;

    q->status.queued = q->book.waiting.len;
    q->status.running = q->book.running_len;
    q->status.known = records_len(&q->book);
    dn_reply(self, msg, MSG_STATUS, &q->status, sizeof q->status);
    return DN_OK;
}

static int queue_on_ask_user(dn_self *self, void *state, const dn_msg *msg) {
    const queue    *q = state;
    const dn_kv_id *id = DN_BODY(dn_kv_id, msg);
    queue_record   *r = records_find(&q->book, id->id, id->len);
    dn_queued_user  answer = {.known = r != NULL, .day = DN_DAY_NONE};

    if (r) {
        const record_day *d = r->days[0].day > r->days[1].day ? &r->days[0] : &r->days[1];
        const int64_t     left_ns = d->next_ns - dn_mono_ns(self);
        answer.queued = r->state == RECORD_QUEUED;
        answer.running = r->state == RECORD_RUNNING;
        answer.day = d->day;
        answer.attempts = d->attempts;
        answer.cls = d->cls;
        answer.throttled_ms = d->next_ns > INT64_MIN && left_ns > 0 ? left_ns / 1000000 : 0;
    }
    dn_reply(self, msg, MSG_QUEUED_USER, &answer, sizeof answer);
    return DN_OK;
}
