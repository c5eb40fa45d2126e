/* life.c - how an actor begins and ends.
 * A beginning runs init inside the starter's handler, with a jump point of its own, so a child that
 * fails in init costs the starter an error code. An end is one path for all reasons: the address
 * goes void, then what it owned is released, then what waited for it is answered, then the watchers
 * are told. Nothing on that path asks for memory. */
#include "mem.h"
#include "rt.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Failing ---- */

void fail_set(dn_loop *l, int code, const char *why) {
    l->fail_code = code;
    text_copy(l->fail_why, sizeof l->fail_why, why);
}

_Noreturn void dn_fail_code(int code, const char *why) {
    dn_loop *l = this_loop;

    assert(code < 0 && "an actor fails with a negative code");
    /* A libuv callback, a worker thread: there is no actor here to end alone. */
    assert(l && l->jump && "dn_fail was called where no actor runs");
    fail_set(l, code, why);
    _longjmp(*l->jump, 1);
}

_Noreturn void dn_fail(const char *why) { dn_fail_code(DN_EFAILED, why); }

void crash_record(dn_loop *l, const dn_self *a, uint32_t kind) {
    dn_crash_report *c = &l->crashes[l->crashed++ % DN_CRASHES_KEPT];

    c->at_ms = loop_now_ms(l);
    c->kind = kind;
    c->reason = l->fail_code;
    text_copy(c->name, sizeof c->name, a ? actor_shown(a) : "");
    text_copy(c->why, sizeof c->why, l->fail_why);
    notice(l, DN_NOTICE_CRASH, c->name, kind, c->reason, 0, c->why);
}

bool actor_guarded(dn_loop *l, dn_self *a, void (*call)(void *context), void *context) {
    jmp_buf        jump;
    jmp_buf *const outer = l->jump;
    dn_self *const running = atomic_load_explicit(&l->running, memory_order_relaxed);
    dn_msg *const  handling = l->handling;
    volatile bool  ok = true;

    l->jump = &jump;
    l->handling = NULL;
    if (handling)
        l->handling_outside = handling; /* one at most: nothing guarded handles messages */
    atomic_store_explicit(&l->running, a, memory_order_relaxed);
    if (_setjmp(jump) == 0) {
        call(context);
    } else {
        ok = false;
        crash_record(l, a, 0);
    }
    atomic_store_explicit(&l->running, running, memory_order_relaxed);
    l->handling = handling;
    if (handling) l->handling_outside = NULL;
    l->jump = outer;
    return ok;
}

typedef struct release_call {
    void (*release)(void *thing);
    void *thing;
} release_call;

static void call_release(void *context) {
    const release_call *c = context;

    c->release(c->thing);
}

void release_guarded(void (*release)(void *thing), void *thing) {
    dn_loop *const l = this_loop;
    release_call   c = {.release = release, .thing = thing};

    if (!l) { /* no actor runs: what fails here ends the process */
        release(thing);
        return;
    }
    l->releasing++;
    (void)actor_guarded(l, atomic_load_explicit(&l->running, memory_order_relaxed), call_release,
                        &c);
    l->releasing--;
}

/* ---- Beginning ---- */

name_slot *actor_name_slot(const dn_self *a) {
    if (!(a->flags & ACTOR_NAMED)) return NULL;
    return (name_slot *)(void *)((uintptr_t)actor_shown(a) - offsetof(name_slot, text));
}

bool actor_is_sound(const dn_self *a) {
    if (!actor_lives(a) || !a->loop || !a->actor_class || a->phase == PHASE_FREE ||
        a->phase == PHASE_GONE)
        return false;
    if (!a->user_head && (a->depth > 0 || a->far_depth > 0)) return false;
    if (a->depth > a->depth_max || a->depth_peak < a->depth || a->flushed > a->handled)
        return false;
    return !a->sys_last || a->flags & ACTOR_URGENT;
}

/* A slot, with an address nobody has had before. */
static dn_self *actor_take(dn_loop *l) {
    dn_self *a = slab_take(&l->actors);

    if (!a) return NULL;
    const uint32_t slot = slab_index(&l->actors, a);
    if (slot >= atomic_load_explicit(&l->admissions_len, memory_order_relaxed)) {
        admission *fresh = slab_take(&l->admissions);
        if (!fresh) {
            /* Nobody has lived here yet: who looks through all slots must see it. */
            a->ref = REF_VOID;
            slab_give(&l->actors, a);
            return NULL;
        }
        assert(fresh == admission_at(l, slot));
        atomic_init(&fresh->gen_waiting, 1ULL << 32);
        /* Pairs with the acquire in admission_open. */
        atomic_store_explicit(&l->admissions_len, slot + 1, memory_order_release);
    }
    const uint64_t seen =
        atomic_load_explicit(&admission_at(l, slot)->gen_waiting, memory_order_relaxed);
    /* In two pieces: the stall detector may be reading shown, which stands between them. */
    const size_t behind = offsetof(dn_self, shown) + sizeof a->shown;
    memset(a, 0, offsetof(dn_self, shown));
    atomic_store_explicit(&a->shown, NULL, memory_order_relaxed);
    memset((char *)a + behind, 0, sizeof *a - behind);
    a->loop = l;
    a->ref.bits = (uint64_t)l->index << REF_LOOP_SHIFT | (seen >> 32) << REF_GEN_SHIFT | slot;
    return a;
}

/* Nobody finds the actor by its old address after this. */
static void actor_void(dn_loop *l, dn_self *a) {
    const uint32_t   slot = ref_slot(a->ref);
    name_slot *const n = actor_name_slot(a);

    if (n) {
        uint64_t mine = a->ref.bits;
        atomic_compare_exchange_strong_explicit(&n->holder, &mine, 0, memory_order_relaxed,
                                                memory_order_relaxed);
    }
    a->ref = REF_VOID;
    /* The next incarnation: no sender is admitted by the old address any more. */
    atomic_fetch_add_explicit(&admission_at(l, slot)->gen_waiting, 1ULL << 32,
                              memory_order_relaxed);
}

static void actor_give(dn_loop *l, dn_self *a) {
    const admission *d = admission_at(l, slab_index(&l->actors, a));
    const uint64_t   seen = atomic_load_explicit(&d->gen_waiting, memory_order_relaxed);

    a->phase = PHASE_FREE;
    /* After four thousand million lives a slot's addresses would come round again: it is retired. */
    if (seen >> 32 == UINT32_MAX) return;
    slab_give(&l->actors, a);
}

static int name_claim(dn_loop *l, dn_self *a, const char *text) {
    uint32_t  number;
    uint64_t  nobody = 0;
    const int rc = names_intern(&l->runtime->names, text, &number);

    if (rc < 0) return rc;
    name_slot *n = names_at(&l->runtime->names, number);
    /* release: pairs with rt_resolve. */
    if (!atomic_compare_exchange_strong_explicit(&n->holder, &nobody, a->ref.bits,
                                                 memory_order_release, memory_order_relaxed))
        return DN_EEXIST;
    actor_show(a, n->text);
    a->flags |= ACTOR_NAMED;
    atomic_fetch_add_explicit(&n->starts, 1, memory_order_relaxed);
    return DN_OK;
}

typedef struct init_call {
    dn_self    *a;
    const void *config;
    int         rc;
    bool        ok; /* it has not failed */
} init_call;

static void call_init(void *context) {
    init_call *c = context;

    c->rc = c->a->actor_class->init(c->a, c->a->state, c->config);
    if (c->rc < 0) dn_fail_code(c->rc, dn_error_text(c->rc));
}

/* Makes `m`, which came from the starter, the word about its start. */
static void start_tell(dn_loop *l, dn_msg *m, uint32_t kind, dn_ref from,
                       const dn_started *started) {
    m->kind = kind;
    m->flags = MSG_EXEMPT;
    if (kind == DN_MSG_STARTED && started->status != DN_OK && m->call)
        m->flags |= MSG_WATCH; /* a watch of what did not start is over */
    m->to = m->from;
    m->from = from;
    msg_set_small(m, started, sizeof *started);
    msg_route(l, m);
}

void actor_answer_start(dn_loop *l, dn_self *a, int status) {
    dn_msg    *m = DN_TAKE(a->start_ack);
    dn_started started = {.tag = m->words[0], .who = a->ref, .status = status};

    if (status != DN_OK) started.who = DN_NOBODY;
    if (status != DN_OK && m->call) watch_unsay(l, a, m->from, m->call);
    start_tell(l, m, DN_MSG_STARTED, a->ref, &started);
}

/* Name, state, watches: what a start needs before init. */
static int actor_furnish(dn_loop *l, dn_self *a, dn_self *parent, dn_ref starter,
                         const dn_spawn_spec *spec, uint64_t *watch_id) {
    uint64_t link;
    int      rc = DN_OK;

    a->state = state_take(l, a->actor_class->state_size);
    if (!a->state) return DN_ENOMEM;
    if (spec->name) rc = name_claim(l, a, spec->name);
    const bool watched = spec->monitored && parent;
    if (rc == DN_OK && spec->linked && !watched)
        rc = watch_new(l, a, parent, starter, 0, /* link= */ true, &link);
    if (rc == DN_OK && watched) {
        rc = watch_new(l, parent, a, a->ref, spec->tag, /* link= */ false, watch_id);
        if (rc == DN_OK && (spec->linked || spec->out_quiet))
            watch_child(l, *watch_id, spec->linked, spec->out_quiet);
        if (rc == DN_OK && spec->out_quiet) *spec->out_quiet = *watch_id;
    }
    if (rc == DN_OK && !watched && *watch_id)
        rc = watch_fulfil(l, a, starter, *watch_id, spec->tag);
    return rc;
}

/* Its start goes on: what will end it is laid by. A starter on another loop is told where it is. */
static int start_pends(dn_loop *l, dn_self *a, dn_ref starter, uint64_t tag, uint64_t watch_id,
                       dn_msg *ack) {
    const dn_started starting = {.tag = tag, .who = a->ref, .status = DN_PENDING};
    dn_msg          *m = msg_take(l);

    if (!m) return DN_ENOMEM;
    a->phase = PHASE_STARTING;
    a->start_ack = ack ? ack : m;
    a->start_ack->from = starter;
    a->start_ack->call = watch_id;
    a->start_ack->words[0] = tag;
    if (!ack) return DN_PENDING;
    m->from = starter;
    start_tell(l, m, DN_MSG_STARTING, a->ref, &starting);
    return DN_PENDING;
}

int actor_spawn(dn_loop *l, dn_self *parent, dn_ref starter, const dn_spawn_spec *spec, dn_msg *ack,
                uint16_t flags, dn_ref *out_ref) {
    uint64_t watch_id = ack ? ack->call : 0;

    if (!spec->actor_class || !spec->actor_class->name) return DN_EINVAL;
    dn_self *a = actor_take(l);
    if (!a) return DN_ENOMEM;
    a->actor_class = spec->actor_class;
    actor_show(a, spec->actor_class->name);
    a->flags = (uint16_t)(flags | (a->actor_class->flush ? ACTOR_FLUSHES : 0));
    a->phase = PHASE_INIT;
    a->depth_max =
        a->actor_class->mailbox_max ? a->actor_class->mailbox_max : DN_MAILBOX_MAX_DEFAULT;
    atomic_store_explicit(&admission_at(l, ref_slot(a->ref))->waiting_max, a->depth_max,
                          memory_order_relaxed);
    l->spawned++;

    init_call init = {.a = a, .config = spec->config, .rc = DN_OK, .ok = true};
    int       rc = actor_furnish(l, a, parent, starter, spec, &watch_id);
    if (l->driver->spawned) l->driver->spawned(l, a);
    if (rc == DN_OK && a->actor_class->init) {
        init.ok = actor_guarded(l, a, call_init, &init);
        rc = init.ok ? init.rc : l->fail_code;
    }
    if (rc == DN_PENDING && flags & ACTOR_ROOT)
        a->phase = PHASE_STARTING; /* it has no starter who will be told */
    else if (rc == DN_PENDING) rc = start_pends(l, a, starter, spec->tag, watch_id, ack);
    if (out_ref && (rc == DN_OK || rc == DN_PENDING)) *out_ref = a->ref;
    if (rc == DN_PENDING) return rc;
    if (rc != DN_OK) {
        /* To its starter it never was: an error code, and no DN_MSG_DOWN. */
        if (parent && watch_id) dn_demonitor(parent, watch_id);
        else if (watch_id) watch_unsay(l, a, starter, watch_id);
        a->flags &= (uint16_t)~ACTOR_ROOT;
        const char *const why = !init.ok ? l->fail_why : rc < 0 ? dn_error_text(rc) : "";
        actor_end(l, a, rc, why, /* orderly= */ false);
        return rc;
    }
    a->phase = PHASE_ALIVE;
    assert(actor_is_sound(a));
    return DN_OK;
}

void dn_init_done(dn_self *self, int status) {
    assert(status <= DN_OK && "a start ends with DN_OK or a negative code");
    assert(self->phase == PHASE_STARTING && "dn_init_done is for a start that is pending, once");
    if (status < 0) dn_fail_code(status, "its start failed");
    self->phase = PHASE_ALIVE;
    if (self->start_ack) actor_answer_start(self->loop, self, DN_OK);
}

/* ---- Beginning on another loop ---- */

typedef struct spawn_request {
    dn_spawn_spec spec;
    char          name[DN_NAME_MAX + 1];
    unsigned char config[];
} spawn_request;

static int spawn_far(dn_self *self, const dn_spawn_spec *spec, dn_loop *there) {
    const size_t   copied = spec->config ? spec->config_size : 0;
    spawn_request *r = mem_alloc(sizeof *r + copied);
    dn_msg        *m = r ? msg_take(self->loop) : NULL;

    if (!m) {
        mem_free(r);
        return DN_ENOMEM;
    }
    r->spec = *spec;
    if (spec->name) {
        text_copy(r->name, sizeof r->name, spec->name);
        r->spec.name = r->name;
    }
    if (copied > 0) r->spec.config = memcpy(r->config, spec->config, copied);
    m->call = 0;
    if (spec->monitored) m->call = watch_promise(self->loop, self);
    if (spec->monitored && !m->call) {
        msg_free(self->loop, m);
        mem_free(r);
        return DN_ENOMEM;
    }
    m->from = self->ref;
    m->kind = CTL_SPAWN;
    m->flags = MSG_CONTROL | MSG_EXEMPT;
    msg_set_large(m, r, sizeof *r + copied, mem_free);
    rt_push(there, m);
    return DN_PENDING;
}

void spawn_arrived(dn_loop *l, dn_msg *m) {
    const dn_ref   starter = m->from;
    spawn_request *r = m->large.body;
    dn_ref         who = DN_NOBODY;

    m->flags = MSG_EXEMPT; /* the body is ours from here, the block will be the answer */
    loop_new_window(l, /* exact= */ true); /* many may come at once, and each takes its time */
    const int rc = actor_spawn(l, NULL, starter, &r->spec, m, 0, &who);
    loop_new_window(l, /* exact= */ true);
    if (rc != DN_PENDING) {
        const dn_started started = {.tag = r->spec.tag, .who = who, .status = rc};
        start_tell(l, m, DN_MSG_STARTED, who, &started);
    }
    mem_free(r);
}

int dn_spawn(dn_self *self, const dn_spawn_spec *spec, dn_ref *out_ref) {
    dn_loop *l = self->loop;
    dn_loop *there = spec->loop ? rt_loop(l->runtime, spec->loop) : l;

    if (spec->name && strnlen(spec->name, DN_NAME_MAX + 1) > DN_NAME_MAX) return DN_EINVAL;
    if (spec->out_quiet && (there != l || !spec->monitored)) return DN_EINVAL;
    if (there != l) return spawn_far(self, spec, there);
    return actor_spawn(l, self, self->ref, spec, NULL, 0, out_ref);
}

/* ---- Ending ---- */

static void call_flush(void *context) {
    dn_self *a = context;

    a->flushed = a->handled;
    const int rc = a->actor_class->flush(a, a->state);
    if (rc < 0) dn_fail_code(rc, dn_error_text(rc));
}

static void call_terminate(void *context) {
    dn_self *a = context;

    a->actor_class->terminate(a, a->state);
}

void actor_end(dn_loop *l, dn_self *a, int reason, const char *why, bool orderly) {
    const dn_ref was = a->ref;
    const bool   wanted_orderly = orderly;
    char         last_words[DN_CRASH_WHY_MAX];

    assert(actor_is_sound(a));
    last_words[0] = '\0';
    if (orderly && a->flags & ACTOR_FLUSHES && a->flushed != a->handled)
        orderly = actor_guarded(l, a, call_flush, a);
    a->phase = PHASE_ENDING;
    if (orderly && a->actor_class->terminate) orderly = actor_guarded(l, a, call_terminate, a);
    if (!orderly && wanted_orderly) {
        reason = l->fail_code;
        why = l->fail_why;
    }
    if (*why) text_copy(last_words, sizeof last_words, why); /* fail_why may be set again */

    if (a->start_ack) actor_answer_start(l, a, reason < 0 ? reason : DN_ESHUTDOWN);
    actor_void(l, a);
    owned_release_all(l, a);
    timers_drop_all(l, a);
    watches_drop_all(l, a);
    lane_discard(l, a, was);
    if (a->flags & ACTOR_CLOCK) l->clock_watchers--;
    arena_drop(l, a);
    state_give(l, a->state, a->actor_class->state_size);
    watchers_tell(l, a, was, reason, last_words);
    l->handled += a->handled;
    l->ended++;
    if (l->driver->ended) l->driver->ended(l, a, was, reason);
    if (a->flags & ACTOR_ROOT) {
        l->runtime->root_ended = true;
        l->runtime->root_reason = reason;
    }
    if (a->run_next) {
        a->phase = PHASE_GONE; /* the run queue still has it, and will let it go */
        a->flags |= ACTOR_URGENT;
    } else {
        actor_give(l, a);
    }
}

void actor_bury_gone(dn_loop *l, dn_self *a) {
    a->run_next = NULL;
    actor_give(l, a);
}

void actor_ask_to_end(dn_loop *l, dn_msg *m, dn_ref who, uint32_t kind) {
    m->to = who;
    m->kind = kind;
    m->flags = MSG_SYSTEM | MSG_EXEMPT;
    msg_route(l, m);
}

static int ask_to_end(dn_self *self, dn_ref who, uint32_t kind) {
    dn_loop *l = self->loop;

    who = rt_resolve(l->runtime, who);
    const uint32_t index = ref_loop(who);
    if (dn_ref_is_nobody(who) || index >= l->runtime->loops_len) return DN_EDEAD;
    dn_loop *there = l->runtime->loops[index];
    if (there == l ? !actor_find(l, who) : !admission_open(there, who)) return DN_EDEAD;
    dn_msg *m = msg_take(l);
    if (!m) fail_nomem();
    m->from = self->ref;
    actor_ask_to_end(l, m, who, kind);
    return DN_OK;
}

int dn_stop(dn_self *self, dn_ref who) { return ask_to_end(self, who, SYS_STOP); }

int dn_kill(dn_self *self, dn_ref who) { return ask_to_end(self, who, SYS_KILL); }

void loop_end_all(dn_loop *l) {
    uint64_t alive_before;

    /* No turn will come: what is queued only keeps slots from being given back. */
    for (dn_self *a = l->run_head, *next; a != RUN_END; a = next) {
        next = a->run_next;
        if (a->phase == PHASE_GONE) actor_bury_gone(l, a);
        else a->run_next = a->user_head ? RUN_END : NULL; /* or a send would take it for idle */
    }
    loop_no_ready(l);
    do { /* a release function may start something yet; it ends in the next round */
        alive_before = l->spawned - l->ended;
        for (char *at = l->actors.base; at < l->actors.fresh; at += l->actors.size) {
            dn_self *a = (dn_self *)(void *)at;
            if (actor_lives(a)) actor_end(l, a, DN_EKILLED, "", /* orderly= */ false);
        }
    } while (l->spawned - l->ended > 0 && l->spawned - l->ended != alive_before);
    loop_no_ready(l);
}
