/* state_log.c - see state_log.h.
 * It sends all calls at once and logs each answer, so that a stalled part hides no other. A crash costs those lines. */
#include "state_log.h"

#include "api/signals.h"
#include "daily/daily_messages.h"
#include "obs/log.h"
#include "service/service.h"

#include <signal.h>
#include <stdio.h>

enum { STATE_WANTED = MSG_OWN, CALL_MS = 5000 };

/* The called actors, in the order of the lines if all answer at once. */
typedef enum part { PART_TICK, PART_QUEUE, PART_EXECUTOR, PART_STORE, PARTS } part;

static const struct {
    const char *actor;
    uint32_t    kind;
} parts[PARTS] = {
    [PART_TICK] = {ACTOR_TICK, MSG_ASK_STATUS},
    [PART_QUEUE] = {ACTOR_QUEUE, MSG_ASK_STATUS},
    [PART_EXECUTOR] = {ACTOR_EXECUTOR, MSG_ASK_STATUS},
    [PART_STORE] = {ACTOR_KV, MSG_KV_STATUS},
};

typedef struct state_log {
    dn_call_id asked[PARTS]; /* 0: answered */
} state_log;

static int state_log_init(dn_self *self, void *state, const void *config);
static int state_log_on_wanted(dn_self *self, void *state, const dn_msg *msg);
static int state_log_on_status(dn_self *self, void *state, const dn_msg *msg);
static int state_log_on_report(dn_self *self, void *state, const dn_msg *msg);
static int state_log_on_failed(dn_self *self, void *state, const dn_msg *msg);

static const dn_handler state_log_handlers[] = {
    {STATE_WANTED, state_log_on_wanted},       /* SIGUSR1: call all */
    {MSG_STATUS, state_log_on_status},         /* a line */
    {DN_MSG_REPORT, state_log_on_report},      /* a line for a loop */
    {DN_MSG_CALL_FAILED, state_log_on_failed}, /* a line for an actor without an answer */
};

static const dn_class state_log_class = {
    .name = "state_log",
    .state_size = sizeof(state_log),
    .init = state_log_init,
    .handlers = DN_SLICE(state_log_handlers),
};

static int state_log_init(dn_self *self, void *state, const void *config) {
    (void)state, (void)config;
    return dn_signal_listen(self, SIGUSR1, STATE_WANTED);
}

static void log_unanswered(part of) {
    dn_log(DN_LOG_WARN, "daemon.state", "%s does not answer", parts[of].actor);
}

/* Another signal starts over: answers to the previous one match no part. */
static int state_log_on_wanted(dn_self *self, void *state, const dn_msg *msg) {
    state_log *s = state;

    (void)msg;
    for (int i = 0; i < PARTS; i++) {
        s->asked[i] = 0;
        if (dn_call(self, dn_name(self, parts[i].actor), parts[i].kind, NULL, 0, CALL_MS,
                    &s->asked[i]) < 0)
            log_unanswered((part)i);
    }
    for (int i = 0; i < DN_SERVICE_LOOPS; i++)
        (void)dn_inspect(self, dn_service_loops[i], /* max= */ 0);
    return DN_OK;
}

/* PARTS: the answer is obsolete. */
static part part_of(state_log *s, dn_call_id call) {
    for (int i = 0; i < PARTS; i++) {
        if (s->asked[i] != call) continue;
        s->asked[i] = 0;
        return (part)i;
    }
    return PARTS;
}

/* fields is an array. */
#define LOG_STATE(text, fields)                                                                    \
    dn_log_fields(DN_LOG_INFO, "daemon.state", (text), (fields), sizeof(fields) / sizeof *(fields))

static dn_log_field number(const char *name, uint64_t value) {
    return dn_log_integer(name, (int64_t)value);
}

static void log_tick(const dn_tick_status *t) {
    const dn_log_field fields[] = {
        number("users", t->users),
        number("ticks", t->ticks),
        dn_log_integer("took_us", t->took_us),
        number("eligible_in_window", t->eligible),
        number("cutoff_finalized", t->cutoffs),
        number("missed", t->missed),
    };

    LOG_STATE(!t->loaded    ? "users: still loading"
              : t->planning ? "users: planning"
                            : "users",
              fields);
}

static void log_queue(const dn_queue_status *q) {
    const dn_log_field fields[] = {
        number("queued", q->queued),       number("queued_peak", q->queued_peak),
        number("running", q->running),     number("deduped", q->deduped),
        number("throttled", q->throttled), number("expired", q->expired),
        number("late_success", q->late),
    };

    LOG_STATE("queue", fields);
}

static void log_executor(const dn_executor_status *e) {
    const dn_log_field fields[] = {
        number("in_flight", e->in_flight),
        number("in_flight_peak", e->in_flight_peak),
        number("max_concurrency", e->max_concurrency),
        number("started", e->started),
        number("ok", e->ok),
        number("error", e->failed),
        number("timeout", e->timed_out),
    };

    LOG_STATE("executor", fields);
}

static void log_store(const dn_kv_status *k) {
    const dn_log_field fields[] = {
        number("users", k->users),       number("waiting_writes", k->waiting),
        number("commits", k->commits),   number("writes", k->writes),
        number("failures", k->failures),
    };

    LOG_STATE(k->full ? "store: the disk is full, writes wait" : "store", fields);
}

static int state_log_on_status(dn_self *self, void *state, const dn_msg *msg) {
    (void)self;
    switch (part_of(state, dn_msg_call(msg))) {
    case PART_TICK: log_tick(DN_BODY(dn_tick_status, msg)); break;
    case PART_QUEUE: log_queue(DN_BODY(dn_queue_status, msg)); break;
    case PART_EXECUTOR: log_executor(DN_BODY(dn_executor_status, msg)); break;
    case PART_STORE: log_store(DN_BODY(dn_kv_status, msg)); break;
    case PARTS: break;
    }
    return DN_OK;
}

static int state_log_on_report(dn_self *self, void *state, const dn_msg *msg) {
    const dn_report *r = dn_msg_body_borrow(msg);
    char             name[DN_NAME_MAX + 8];

    (void)self, (void)state;
    if (dn_msg_size(msg) == 0) return DN_OK; /* no memory for it */
    const dn_log_field fields[] = {
        number("actors", r->actors),
        number("crashed", r->crashed),
        number("handled", r->handled),
        number("dead_letters", r->dead_letters),
        number("memory_bytes", r->memory_bytes),
    };
    (void)snprintf(name, sizeof name, "loop %s", r->loop);
    LOG_STATE(name, fields);
    return DN_OK;
}

static int state_log_on_failed(dn_self *self, void *state, const dn_msg *msg) {
    const part of = part_of(state, DN_BODY(dn_call_failed, msg)->id);

    (void)self;
    if (of < PARTS) log_unanswered(of);
    return DN_OK;
}

dn_child_spec state_log_child(void) {
    return (dn_child_spec){.name = "state_log",
                           .actor_class = &state_log_class,
                           .loop = "main",
                           .backoff = {.min_ms = 100, .max_ms = 10000, .stable_ms = 60000}};
}
