/* executor.c - gives slots to sources, and runs what they put into them.
 * A source offers how much work waits; the executor grants free slots by share; the source uses them or returns them.
 * A slot is free again when its run has stopped, and the outcome returns to the source that gave the work. The executor
 * knows no user, day or task. A crash here ends all executions and restarts all sources. */
#include "executor.h"

#include "actor/pipe.h"
#include "engine_events.h"
#include "execution.h"
#include "messages.h"
#include "shares.h"

#include "diurnal/supervisor.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum {
    EXECUTOR_REPORT = MSG_OWN,
    /* One message starts this many executions. Each may take as long as a connect to begin, and meanwhile the loop does
     * nothing else. */
    STARTS_AT_ONCE = 12,
    EXECUTOR_HEAP_MAX = 1 << 30,
    NO_SLOT = UINT32_MAX,
};

typedef struct slot {
    dn_blob *body;   /* NULL: the slot is free */
    dn_ref   source; /* this incarnation gave the work */
    uint64_t ticket; /* the source's */
    int64_t  since_ns;
    uint32_t use; /* tells one run in this slot from the next */
    uint32_t next_free;
    uint32_t from; /* index of the source */
} slot;

typedef struct source {
    const dn_source_spec *spec;
    dn_ref                name;
    dn_ref                who;     /* its present incarnation; nobody: it has offered nothing yet */
    uint32_t              wants;   /* pieces of work it offers beyond its granted slots */
    uint32_t              granted; /* slots it has and does not use yet */
    uint32_t              running;
    uint32_t              stale; /* of these, runs of incarnations that have ended */
    uint32_t              told;  /* slots in the next MSG_TAKE */
    dn_pipe               outcomes, takes;
} source;

typedef struct executor {
    const dn_executor_config *config;
    dn_execution_terms        terms[DN_WORK_TYPES_MAX];
    source                    sources[DN_SOURCES_MAX];
    slot                     *slots;
    uint32_t                  slots_len, free; /* free: index of the first, or NO_SLOT */
    uint32_t                  used[DN_SLOT_POOLS];
    uint32_t                  starts; /* in to_executions */
    dn_pipe                   to_executions;
    uint64_t                  reported; /* in_flight, as emitted last */
    bool                      report_due;
    dn_executor_status        status;
} executor;

static int executor_init(dn_self *self, void *state, const void *config);
static int executor_on_executed(dn_self *self, void *state, const dn_msg *msg);
static int executor_on_work(dn_self *self, void *state, const dn_msg *msg);
static int executor_on_offer(dn_self *self, void *state, const dn_msg *msg);
static int executor_on_ended(dn_self *self, void *state, const dn_msg *msg);
static int executor_on_room(dn_self *self, void *state, const dn_msg *msg);
static int executor_on_report(dn_self *self, void *state, const dn_msg *msg);
static int executor_on_ask_status(dn_self *self, void *state, const dn_msg *msg);
static int executor_flush(dn_self *self, void *state);

static const dn_handler executor_handlers[] = {
    {MSG_EXECUTED, executor_on_executed}, /* execution  -> its run has stopped */
    {MSG_WORK, executor_on_work},         /* source     -> start it now */
    {MSG_OFFER, executor_on_offer},       /* source     -> work waits, or slots are returned */
    {DN_SUP_ENDED, executor_on_ended},    /* executions -> one was not started, or crashed */
    {DN_MSG_ROOM, executor_on_room},
    {EXECUTOR_REPORT,
     executor_on_report}, /* timer: for listeners that attached since the last change */
    {MSG_ASK_STATUS, executor_on_ask_status},
};

const dn_class dn_executor_class = {
    .name = "executor",
    .state_size = sizeof(executor),
    .init = executor_init,
    .handlers = DN_SLICE(executor_handlers),
    .flush = executor_flush,
    .mailbox_max = 1 << 20, /* every slot may report at the same instant */
    .heap_max = EXECUTOR_HEAP_MAX,
};

/* ---- Invariants ---- */

/* Every slot of a pool is free, granted, or in use; and sources use no more than their pool has. */
static bool executor_is_sound(const executor *e) {
    uint32_t used[DN_SLOT_POOLS] = {0};
    uint64_t jobs = 0;

    for (size_t i = 0; i < e->config->sources_len; i++) {
        const source *s = &e->sources[i];
        if (s->stale > s->running) return false;
        used[s->spec->pool] += s->granted + s->running;
        if (s->spec->pool == DN_SLOTS_JOBS) jobs += s->running;
    }
    for (int pool = 0; pool < DN_SLOT_POOLS; pool++)
        if (used[pool] != e->used[pool] || used[pool] > e->config->slots[pool]) return false;
    return jobs == e->status.in_flight;
}

/* ---- Start ---- */

size_t dn_work_release(void *entry) {
    dn_work *w = entry;

    dn_blob_unref(w->body);
    return DN_WORK_STRIDE(w);
}

static size_t outcome_release(void *entry) {
    dn_work_outcome *o = entry;

    if (o->has_answer) dn_blob_unref(o->answer[0].body);
    return dn_work_outcome_stride(o);
}

static void slots_release(void *state) {
    executor *e = state;

    for (uint32_t i = 0; i < e->slots_len; i++) dn_blob_unref(e->slots[i].body);
}

static void make_slots(dn_self *self, executor *e) {
    for (int pool = 0; pool < DN_SLOT_POOLS; pool++) e->slots_len += e->config->slots[pool];
    e->slots = dn_alloc(self, e->slots_len * sizeof *e->slots);
    for (uint32_t i = 0; i < e->slots_len; i++)
        e->slots[i].next_free = i + 1 < e->slots_len ? i + 1 : NO_SLOT;
    dn_own(self, e, slots_release);
}

static void make_source(dn_self *self, source *s, const dn_source_spec *spec) {
    *s = (source){.spec = spec, .name = dn_name(self, spec->actor), .who = DN_NOBODY};
    dn_pipe_init_owning(self, &s->outcomes, spec->actor, MSG_OUTCOME, outcome_release);
    dn_pipe_init(self, &s->takes, spec->actor, MSG_TAKE);
}

static void make_terms(dn_self *self, dn_execution_terms *terms, const dn_work_type *type) {
    char why[DN_RUNNER_WHY];

    terms->type = type;
    const int rc = dn_runner_new(self, type->runner, &terms->runner, why);
    if (rc < 0) dn_fail_code(rc, why);
    dn_own(self, terms->runner, dn_runner_free);
}

static int executor_init(dn_self *self, void *state, const void *config) {
    executor *e = state;

    e->config = config;
    for (size_t i = 0; i < e->config->types_len; i++)
        make_terms(self, &e->terms[i], &e->config->types[i]);
    for (size_t i = 0; i < e->config->sources_len; i++)
        make_source(self, &e->sources[i], &e->config->sources[i]);
    make_slots(self, e);
    dn_pipe_init(self, &e->to_executions, ACTOR_EXECUTIONS, DN_SUP_START_ALL);
    e->status.max_concurrency = e->config->slots[DN_SLOTS_JOBS];
    dn_timer_after(self, e->config->report_ms, EXECUTOR_REPORT, 0);
    assert(executor_is_sound(e));
    return DN_OK;
}

static int executor_on_report(dn_self *self, void *state, const dn_msg *msg) {
    executor *e = state;

    (void)msg;
    e->report_due = true;
    dn_timer_after(self, e->config->report_ms, EXECUTOR_REPORT, 0);
    return DN_OK;
}

/* ---- Slots ---- */

static uint64_t slot_tag(const executor *e, const slot *s) {
    return (uint64_t)s->use << 32 | (uint32_t)(s - e->slots);
}

/* NULL: the run that had this tag has been dealt with. */
static slot *slot_of(executor *e, uint64_t tag) {
    const uint32_t index = (uint32_t)tag;

    if (index >= e->slots_len) return NULL;
    slot *s = &e->slots[index];
    return s->body && s->use == (uint32_t)(tag >> 32) ? s : NULL;
}

/* A granted slot becomes one in use. */
static slot *slot_take(executor *e, uint32_t from) {
    source *of = &e->sources[from];

    dn_require(of->granted > 0 && e->free != NO_SLOT);
    slot *s = &e->slots[e->free];
    e->free = s->next_free;
    s->use++;
    s->from = from;
    s->source = of->who;
    of->granted--;
    of->running++;
    if (of->spec->pool != DN_SLOTS_JOBS) return s;
    e->status.started++;
    if (++e->status.in_flight > e->status.in_flight_peak)
        e->status.in_flight_peak = e->status.in_flight;
    return s;
}

static void slot_give(executor *e, slot *s) {
    source *of = &e->sources[s->from];

    dn_blob_unref(DN_TAKE(s->body));
    of->running--;
    if (!dn_ref_equal(s->source, of->who)) of->stale--;
    e->used[of->spec->pool]--;
    if (of->spec->pool == DN_SLOTS_JOBS) e->status.in_flight--;
    s->next_free = e->free;
    e->free = (uint32_t)(s - e->slots);
}

/* ---- Sources ---- */

/* NULL: the sender is no source, or an incarnation of one that has ended. */
static source *source_of(dn_self *self, executor *e, dn_ref who) {
    for (size_t i = 0; i < e->config->sources_len; i++) {
        source *s = &e->sources[i];
        if (dn_ref_equal(dn_whereis(self, s->name), who)) return s;
    }
    return NULL;
}

/* The previous incarnation has ended. The new one gets no slot until all its runs have stopped, because it may give the
 * same work again. */
static void source_begins(dn_self *self, executor *e, source *s, dn_ref who) {
    e->used[s->spec->pool] -= s->granted;
    s->granted = s->wants = s->told = 0;
    s->stale = s->running;
    s->who = who;
    dn_pipe_redirect(self, &s->outcomes, who);
    dn_pipe_redirect(self, &s->takes, who);
}

static int executor_on_offer(dn_self *self, void *state, const dn_msg *msg) {
    executor *e = state;
    source   *s = source_of(self, e, dn_msg_from(msg));

    if (!s) return DN_OK;
    if (!dn_ref_equal(s->who, dn_msg_from(msg))) source_begins(self, e, s, dn_msg_from(msg));
    for (DN_PIPE_EACH(dn_offer, o, msg)) {
        dn_require(o->returned <= s->granted);
        s->granted -= o->returned;
        e->used[s->spec->pool] -= o->returned;
        s->wants = o->wants;
    }
    assert(executor_is_sound(e));
    return DN_OK;
}

static void grant(executor *e, source *s, uint32_t slots) {
    s->wants -= slots;
    s->granted += slots;
    s->told += slots;
    e->used[s->spec->pool] += slots;
}

/* A source that has not taken its outcomes yet gets no slot: it sets the pace. */
static bool may_grant(const source *s) {
    return s->wants > 0 && s->stale == 0 && dn_pipe_is_free(&s->outcomes) &&
           dn_pipe_is_free(&s->takes);
}

static void grant_pool(executor *e, dn_slot_pool pool) {
    dn_share shares[DN_SOURCES_MAX];
    uint32_t wants = 0;
    size_t   last = 0, len = e->config->sources_len, wanting = 0;

    for (size_t i = 0; i < len; i++) {
        const source *s = &e->sources[i];
        const bool    may = s->spec->pool == pool && may_grant(s);
        shares[i] = (dn_share){s->spec->weight, s->granted + s->running, may ? s->wants : 0};
        if (!may) continue;
        wanting++;
        wants += s->wants;
        last = i;
    }
    uint32_t left = e->config->slots[pool] - e->used[pool];
    if (wanting == 1) { /* the usual case */
        grant(e, &e->sources[last], wants < left ? wants : left);
        return;
    }
    for (size_t i; left > 0 && (i = dn_shares_next(shares, len)) < len; left--) {
        grant(e, &e->sources[i], 1);
        shares[i].wants--;
        shares[i].in_use++;
    }
}

static void grant_all(dn_self *self, executor *e) {
    if (!dn_pipe_is_free(&e->to_executions)) return; /* it sets the pace too */
    for (int pool = 0; pool < DN_SLOT_POOLS; pool++) grant_pool(e, (dn_slot_pool)pool);
    for (size_t i = 0; i < e->config->sources_len; i++) {
        source *s = &e->sources[i];
        if (s->told == 0) continue;
        dn_take *t = dn_pipe_add(self, &s->takes, sizeof *t);
        *t = (dn_take){.slots = s->told};
        s->told = 0;
        dn_pipe_flush(self, &s->takes);
    }
}

/* ---- Work ---- */

static void start(dn_self *self, executor *e, uint32_t from, const dn_work *w) {
    const uint32_t size = (uint32_t)sizeof(dn_execution_brief) + w->key_len + 1U;
    slot          *s = slot_take(e, from);

    s->ticket = w->ticket;
    s->body = dn_blob_ref(w->body);
    s->since_ns = dn_mono_ns(self);
    dn_dynamic_wanted *wanted = dn_pipe_add(self, &e->to_executions, sizeof *wanted + size);
    *wanted = (dn_dynamic_wanted){.tag = slot_tag(e, s), .size = size};
    dn_execution_brief *b = (dn_execution_brief *)(void *)wanted->config;
    *b = (dn_execution_brief){
        .executor = dn_self_ref(self),
        .source = s->source,
        .terms = &e->terms[w->type],
        .body = s->body,
        .tag = wanted->tag,
        .subject = w->subject,
        .opens_ms = w->opens_ms,
        .closes_ms = w->closes_ms,
        .timeout_ms = w->timeout_ms,
        .key_len = w->key_len,
    };
    memcpy(b->key, w->key, w->key_len);
    if (++e->starts % STARTS_AT_ONCE == 0) dn_pipe_flush(self, &e->to_executions);
}

static int executor_on_work(dn_self *self, void *state, const dn_msg *msg) {
    executor   *e = state;
    const char *at = dn_msg_body_borrow(msg), *const end = at + dn_msg_size(msg);
    const source *s = source_of(self, e, dn_msg_from(msg));

    if (!s || !dn_ref_equal(s->who, dn_msg_from(msg))) return DN_OK;
    while (at < end) {
        const dn_work *w = (const void *)at;
        dn_require(w->type < e->config->types_len && w->body);
        start(self, e, (uint32_t)(s - e->sources), w);
        at += DN_WORK_STRIDE(w);
    }
    assert(executor_is_sound(e));
    return DN_OK;
}

/* ---- Outcomes ---- */

static void count(dn_executor_status *status, dn_run_result result) {
    switch (dn_run_outcome(result)) {
    case DN_OUTCOME_OK: status->ok++; break;
    case DN_OUTCOME_TIMEOUT: status->timed_out++; break;
    case DN_OUTCOME_ERROR:
    case DN_OUTCOME_CRASH: status->failed++; break;
    }
}

/* The slot is free again. Its source hears what became of the work, if it is still the one that gave it. answer: NULL,
 * or copied, and its body gets a reference more. */
static void stopped(dn_self *self, executor *e, slot *s, bool started, dn_run_result result,
                    const dn_run_answer *answer) {
    source *of = &e->sources[s->from];

    if (of->spec->pool == DN_SLOTS_JOBS) {
        if (started) count(&e->status, result);
        else e->status.started--;
    }
    if (dn_ref_equal(s->source, of->who)) {
        const size_t     size = sizeof(dn_work_outcome) + (answer ? sizeof *answer : 0);
        dn_work_outcome *o = dn_pipe_add(self, &of->outcomes, size);
        *o = (dn_work_outcome){.ticket = s->ticket,
                               .result = result,
                               .took_ns = dn_mono_ns(self) - s->since_ns,
                               .started = started,
                               .has_answer = answer != NULL};
        if (answer) {
            o->answer[0] = *answer;
            dn_blob_ref(answer->body);
        }
    }
    slot_give(e, s);
}

static int executor_on_executed(dn_self *self, void *state, const dn_msg *msg) {
    executor          *e = state;
    const dn_executed *x = dn_msg_body_borrow(msg);
    slot              *s = slot_of(e, x->tag);

    if (s) stopped(self, e, s, /* started= */ true, x->result, x->has_answer ? x->answer : NULL);
    assert(executor_is_sound(e));
    return DN_OK;
}

/* An execution that answered DN_STOP at its start found that its time was over. */
static int executor_on_ended(dn_self *self, void *state, const dn_msg *msg) {
    executor           *e = state;
    const dn_down      *d = DN_BODY(dn_down, msg);
    slot               *s = slot_of(e, d->tag);
    const dn_run_result crash = dn_run_result_of(DN_OUTCOME_ERROR, DN_CODE_NONE, 0);

    if (!s) return DN_OK;
    if (d->reason == DN_STOP) {
        stopped(self, e, s, /* started= */ false, crash, NULL);
    } else {
        dn_run_answer answer = DN_RUN_ANSWER_NONE;
        snprintf(answer.error, sizeof answer.error, "%s",
                 *d->why ? d->why : dn_error_text(d->reason));
        stopped(self, e, s, /* started= */ true, crash, &answer);
    }
    assert(executor_is_sound(e));
    return DN_OK;
}

/* ---- The end of a batch ---- */

static void report(executor *e) {
    if (!e->report_due && e->status.in_flight == e->reported) return;
    e->report_due = false;
    e->reported = e->status.in_flight;
    DN_EMIT(dn_in_flight, .in_flight = (int64_t)e->reported,
            .max_concurrency = (int64_t)e->status.max_concurrency);
}

/* Outcomes leave before slots are granted, so that a source counts a run as stopped before it starts another. */
static int executor_flush(dn_self *self, void *state) {
    executor *e = state;

    dn_pipe_flush(self, &e->to_executions);
    for (size_t i = 0; i < e->config->sources_len; i++)
        dn_pipe_flush(self, &e->sources[i].outcomes);
    grant_all(self, e);
    report(e);
    assert(executor_is_sound(e));
    return DN_OK;
}

static int executor_on_room(dn_self *self, void *state, const dn_msg *msg) {
    executor *e = state;

    (void)msg;
    dn_pipe_on_room(self, &e->to_executions);
    for (size_t i = 0; i < e->config->sources_len; i++) {
        dn_pipe_on_room(self, &e->sources[i].outcomes);
        dn_pipe_on_room(self, &e->sources[i].takes);
    }
    return DN_OK;
}

static int executor_on_ask_status(dn_self *self, void *state, const dn_msg *msg) {
    const executor *e = state;

    dn_reply(self, msg, MSG_STATUS, &e->status, sizeof e->status);
    return DN_OK;
}
