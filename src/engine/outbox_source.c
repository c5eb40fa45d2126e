/* outbox_source.c - delivers hooks from the store's outbox, each at least once: a source of work.
 * A hook leaves the store's outbox when its delivery is committed as done. Until then it is tried again, after a
 * second, two, four … at most an hour. The outbox keeps no state of its own, so a crash here costs at most a second
 * delivery of what was under way. */
#include "outbox_source.h"

#include "actor/pipe.h"
#include "obs/log.h"

#include <string.h>

enum {
    OUTBOX_LOOK = MSG_OWN,
    OUTBOX_TELL_AGAIN,
    CALL_TIMEOUT_MS = 30000,
    LOOK_WITHIN_MS = 3600000,
    LOOK_AGAIN_MS = 5000, /* kv did not answer */
};

typedef enum delivery_state {
    DELIVERY_NONE,
    DELIVERY_WAITS,   /* for a slot */
    DELIVERY_RUNS,    /* in the executor */
    DELIVERY_SETTLES, /* kv is being told, or will be told again */
} delivery_state;

typedef struct delivery {
    delivery_state state;
    uint32_t       use; /* tells one delivery here from the next */
    dn_hook        hook;
    dn_call_id     call; /* DELIVERY_SETTLES: to kv; 0: none yet */
    bool           done;
} delivery;

typedef struct outbox {
    const dn_outbox_config *config;
    delivery                deliveries[DN_OUTBOX_SLOTS];
    uint32_t                granted; /* slots the executor has given and that are not used */
    uint32_t                offered; /* deliveries it has been told of and has no slot for */
    dn_pipe                 offers, work;
    bool                    asking, look_again; /* look_again: something was added while asking */
    dn_timer_id             timer;
} outbox;

static int outbox_init(dn_self *self, void *state, const void *config);
static int outbox_on_look(dn_self *self, void *state, const dn_msg *msg);
static int outbox_on_take(dn_self *self, void *state, const dn_msg *msg);
static int outbox_on_outcome(dn_self *self, void *state, const dn_msg *msg);
static int outbox_on_answer(dn_self *self, void *state, const dn_msg *msg);
static int outbox_on_call_failed(dn_self *self, void *state, const dn_msg *msg);
static int outbox_on_tell_again(dn_self *self, void *state, const dn_msg *msg);
static int outbox_on_room(dn_self *self, void *state, const dn_msg *msg);
static int outbox_flush(dn_self *self, void *state);

static const dn_handler outbox_handlers[] = {
    {MSG_OUTBOX_ADDED, outbox_on_look}, /* kv       -> hooks were added */
    {OUTBOX_LOOK, outbox_on_look},      /* timer    -> the next hook is due */
    {MSG_KV_ANSWER, outbox_on_answer},  /* kv       -> the hooks that are due, or: it is written */
    {MSG_TAKE, outbox_on_take},         /* executor -> slots */
    {MSG_OUTCOME, outbox_on_outcome},   /* executor -> a delivery has ended */
    {DN_MSG_CALL_FAILED, outbox_on_call_failed},
    {OUTBOX_TELL_AGAIN, outbox_on_tell_again},
    {DN_MSG_ROOM, outbox_on_room},
};

const dn_class dn_outbox_class = {
    .name = "outbox",
    .state_size = sizeof(outbox),
    .init = outbox_init,
    .handlers = DN_SLICE(outbox_handlers),
    .flush = outbox_flush,
};

static int outbox_init(dn_self *self, void *state, const void *config) {
    outbox        *o = state;
    const dn_offer begins = {0};

    o->config = config;
    dn_pipe_init(self, &o->offers, ACTOR_EXECUTOR, MSG_OFFER);
    dn_pipe_init_owning(self, &o->work, ACTOR_EXECUTOR, MSG_WORK, dn_work_release);
    *(dn_offer *)dn_pipe_add(self, &o->offers, sizeof begins) = begins; /* here is a new source */
    dn_pipe_flush(self, &o->offers);
    dn_timer_after(self, 0, OUTBOX_LOOK, 0);
    return DN_OK;
}

/* ---- Which hooks are due ---- */

static delivery *delivery_free(outbox *o) {
    for (int i = 0; i < DN_OUTBOX_SLOTS; i++)
        if (o->deliveries[i].state == DELIVERY_NONE) return &o->deliveries[i];
    return NULL;
}

static bool is_under_way(const outbox *o, uint64_t id) {
    for (int i = 0; i < DN_OUTBOX_SLOTS; i++)
        if (o->deliveries[i].state != DELIVERY_NONE && o->deliveries[i].hook.id == id) return true;
    return false;
}

static uint32_t waiting(const outbox *o) {
    uint32_t len = 0;

    for (int i = 0; i < DN_OUTBOX_SLOTS; i++) len += o->deliveries[i].state == DELIVERY_WAITS;
    return len;
}

/* By the steady clock: no step of the wall clock makes a delay longer or shorter. */
static void look_after(dn_self *self, outbox *o, int64_t ms) {
    if (o->timer) (void)dn_timer_cancel(self, o->timer);
    o->timer = dn_timer_after(self, ms < LOOK_WITHIN_MS ? ms : LOOK_WITHIN_MS, OUTBOX_LOOK, 0);
}

/* With no place free, the delivery that ends next looks. */
static int look(dn_self *self, outbox *o) {
    o->look_again = o->asking;
    if (o->asking || !delivery_free(o)) return DN_OK;
    const int rc =
        dn_call(self, dn_name(self, ACTOR_KV), MSG_KV_OUTBOX, NULL, 0, CALL_TIMEOUT_MS, NULL);
    if (rc == DN_OK) o->asking = true;
    else look_after(self, o, LOOK_AGAIN_MS);
    return DN_OK;
}

static int outbox_on_look(dn_self *self, void *state, const dn_msg *msg) {
    outbox *o = state;

    if (dn_msg_kind(msg) == OUTBOX_LOOK) o->timer = 0;
    return look(self, o);
}

/* ---- A delivery ---- */

/* Until kv has written it, the hook is still in the store's outbox and must not be delivered again. */
static void settle(dn_self *self, outbox *o, delivery *d) {
    const dn_outbox_outcome outcome = {
        .id = d->hook.id, .done = d->done, .attempts = d->hook.attempts};

    d->state = DELIVERY_SETTLES;
    d->call = 0;
    if (dn_call(self, dn_name(self, ACTOR_KV), MSG_KV_OUTBOX_DONE, &outcome, sizeof outcome,
                CALL_TIMEOUT_MS, &d->call) < 0)
        dn_timer_after(self, LOOK_AGAIN_MS, OUTBOX_TELL_AGAIN, (uint64_t)(d - o->deliveries));
}

static int outbox_on_tell_again(dn_self *self, void *state, const dn_msg *msg) {
    outbox *o = state;

    settle(self, o, &o->deliveries[*DN_BODY(uint64_t, msg)]);
    return DN_OK;
}

static void deliver(dn_self *self, outbox *o, delivery *d) {
    dn_outbox_request request;
    const int64_t     deadline_ms = dn_now_ms(self) + o->config->timeout_ms;

    d->hook.attempts++;
    d->use++;
    d->state = DELIVERY_RUNS;
    o->granted--;
    const int rc = o->config->request(&d->hook, deadline_ms, &request);
    if (rc < 0) dn_fail_code(rc, "no memory for a delivery");
    dn_work *w = dn_pipe_add(self, &o->work, sizeof *w + request.key_len);
    *w = (dn_work){
        .ticket = (uint64_t)d->use << 32 | (uint64_t)(d - o->deliveries),
        .subject = d->hook.id,
        .body = request.body,
        .opens_ms = INT64_MIN,
        .closes_ms = INT64_MAX,
        .timeout_ms = o->config->timeout_ms,
        .type = o->config->type,
        .key_len = request.key_len,
    };
    memcpy(w->key, request.key, request.key_len);
}

static int outbox_on_take(dn_self *self, void *state, const dn_msg *msg) {
    outbox *o = state;

    (void)self;
    for (DN_PIPE_EACH(dn_take, t, msg)) {
        o->granted += t->slots;
        o->offered -= t->slots < o->offered ? t->slots : o->offered;
    }
    return DN_OK;
}

static delivery *delivery_of(outbox *o, uint64_t ticket) {
    const uint32_t at = (uint32_t)ticket;

    if (at >= DN_OUTBOX_SLOTS || o->deliveries[at].use != ticket >> 32) return NULL;
    return o->deliveries[at].state == DELIVERY_RUNS ? &o->deliveries[at] : NULL;
}

static int outbox_on_outcome(dn_self *self, void *state, const dn_msg *msg) {
    outbox *o = state;

    for (DN_WORK_OUTCOME_EACH(outcome, msg)) {
        delivery *d = delivery_of(o, outcome->ticket);
        if (!d) continue;
        d->done = outcome->started && dn_run_outcome(outcome->result) == DN_OUTCOME_OK;
        if (!d->done)
            dn_log(d->hook.attempts == 1 ? DN_LOG_INFO : DN_LOG_DEBUG, "hook.failed",
                   "attempt %u: %s; next attempt in %lld ms", d->hook.attempts,
                   outcome->has_answer ? outcome->answer[0].error : "no answer in time",
                   (long long)dn_hook_delay_ms(d->hook.attempts));
        settle(self, o, d);
    }
    return look(self, o);
}

/* ---- kv's answers ---- */

static delivery *delivery_of_call(outbox *o, dn_call_id call) {
    for (int i = 0; i < DN_OUTBOX_SLOTS; i++)
        if (o->deliveries[i].state == DELIVERY_SETTLES && o->deliveries[i].call == call)
            return &o->deliveries[i];
    return NULL;
}

/* While the disk is full, kv is told again later. */
static void settled(dn_self *self, outbox *o, delivery *d, int status) {
    if (status == DN_OK) d->state = DELIVERY_NONE;
    else dn_timer_after(self, LOOK_AGAIN_MS, OUTBOX_TELL_AGAIN, (uint64_t)(d - o->deliveries));
}

static void take_due(dn_self *self, outbox *o, const dn_kv_outbox_answer *a) {
    o->asking = false;
    for (uint32_t i = 0; i < a->len; i++) {
        delivery *d = is_under_way(o, a->hooks[i].id) ? NULL : delivery_free(o);
        if (!d) continue;
        d->hook = a->hooks[i];
        d->state = DELIVERY_WAITS;
    }
    look_after(self, o, a->status == DN_OK ? a->wait_ms : LOOK_AGAIN_MS);
}

static int outbox_on_answer(dn_self *self, void *state, const dn_msg *msg) {
    outbox         *o = state;
    delivery *const told = delivery_of_call(o, dn_msg_call(msg));

    if (told) {
        settled(self, o, told, DN_BODY(dn_kv_words, msg)->status);
        return look(self, o);
    }
    take_due(self, o, dn_msg_body_borrow(msg));
    return o->look_again ? look(self, o) : DN_OK;
}

/* kv is gone, or slow: what it was told may be written or not, so tell it again. */
static int outbox_on_call_failed(dn_self *self, void *state, const dn_msg *msg) {
    outbox         *o = state;
    delivery *const told = delivery_of_call(o, dn_msg_call(msg));

    if (told) {
        settled(self, o, told, DN_BODY(dn_call_failed, msg)->status);
        return DN_OK;
    }
    o->asking = false;
    look_after(self, o, LOOK_AGAIN_MS);
    return DN_OK;
}

/* ---- The end of a batch ---- */

static int outbox_flush(dn_self *self, void *state) {
    outbox *o = state;

    for (int i = 0; i < DN_OUTBOX_SLOTS && o->granted > 0; i++)
        if (o->deliveries[i].state == DELIVERY_WAITS) deliver(self, o, &o->deliveries[i]);
    dn_pipe_flush(self, &o->work);
    const uint32_t wants = waiting(o);
    if (o->granted > 0 || wants > o->offered) {
        dn_offer *offer = dn_pipe_add(self, &o->offers, sizeof *offer);
        *offer = (dn_offer){.wants = wants, .returned = o->granted};
        o->granted = 0;
        o->offered = wants;
        dn_pipe_flush(self, &o->offers);
    }
    return DN_OK;
}

static int outbox_on_room(dn_self *self, void *state, const dn_msg *msg) {
    outbox *o = state;

    (void)msg;
    dn_pipe_on_room(self, &o->work);
    dn_pipe_on_room(self, &o->offers);
    return DN_OK;
}
