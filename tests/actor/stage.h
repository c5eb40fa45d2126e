/* stage.h - what the tests of the runtime have in common: a simulation without faults, actors ("probes") that
 * do what a test hands them and say what they are told, and a log of what was said.
 *
 * A test hands an actor an act, a plain function that runs inside it: in("a", act, arg). A probe writes
 * down every other message: "a:7" a message of kind 7, "a:7=42" with a word for a body, "a:down3/killed" a
 * DN_MSG_DOWN with tag 3, and so on (see probe_on_any).
 * A test is a process of its own, so the stage is a global; it is taken apart at exit, so that asan
 * sees what the runtime has not given back. */
#ifndef DIURNAL_TESTS_ACTOR_STAGE_H
#define DIURNAL_TESTS_ACTOR_STAGE_H

#include "diurnal/sim.h"
#include "test.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DO = 1, LOG_MAX = 1 << 16, TOLD_MAX = 256 };

typedef int act_fn(dn_self *self, const void *arg);

typedef struct order {
    act_fn     *act;
    const void *arg;
} order;

typedef struct stage {
    dn_sim     *sim;
    dn_runtime *runtime;
    char        log[LOG_MAX];
    size_t      log_len;
    dn_notice   told[TOLD_MAX]; /* notices, the texts copied below */
    char        told_actor[TOLD_MAX][DN_NAME_MAX + 1], told_why[TOLD_MAX][128];
    size_t      told_len;
    dn_report  *report; /* the last one a probe got; rows cut off at what report_room holds */
    dn_ref      found;
} stage;

static stage st;

/* ---- What is said ---- */

__attribute__((format(printf, 1, 2))) static inline void say(const char *format, ...) {
    va_list args;

    if (st.log_len) st.log[st.log_len++] = ' ';
    va_start(args, format);
    st.log_len += (size_t)vsnprintf(st.log + st.log_len, LOG_MAX - st.log_len, format, args);
    va_end(args);
    CHECK(st.log_len < LOG_MAX - 1);
}

/* What was said since the last time. */
static inline const char *said(void) {
    static char text[LOG_MAX];

    memcpy(text, st.log, st.log_len);
    text[st.log_len] = '\0';
    st.log_len = 0;
    return text;
}

static inline const char *word_of(int code) {
    switch (code) {
    case DN_OK: return "ok";
    case DN_STOP: return "stop";
    case DN_PENDING: return "pending";
    case DN_ENOMEM: return "nomem";
    case DN_EFULL: return "full";
    case DN_EDEAD: return "dead";
    case DN_ETIME: return "time";
    case DN_EUNANSWERED: return "unanswered";
    case DN_EEXIST: return "exists";
    case DN_EINVAL: return "invalid";
    case DN_EFAILED: return "failed";
    case DN_EKILLED: return "killed";
    case DN_ESHUTDOWN: return "shutdown";
    case DN_EIO: return "io";
    default: return "?";
    }
}

/* ---- Probes ---- */

static inline int probe_on_do(dn_self *self, void *state, const dn_msg *msg) {
    const order o = *DN_BODY(order, msg);

    (void)state;
    return o.act(self, o.arg);
}

static inline int probe_on_any(dn_self *self, void *state, const dn_msg *msg) {
    const char *name = dn_self_name(self);

    (void)state;
    switch (dn_msg_kind(msg)) {
    case DN_MSG_DOWN: {
        const dn_down *d = DN_BODY(dn_down, msg);
        say("%s:down%llu/%s", name, (unsigned long long)d->tag, word_of(d->reason));
        return DN_OK;
    }
    case DN_MSG_CALL_FAILED: {
        const dn_call_failed *f = DN_BODY(dn_call_failed, msg);
        say("%s:call/%s", name, word_of(f->status));
        return DN_OK;
    }
    case DN_MSG_STARTED: {
        const dn_started *s = DN_BODY(dn_started, msg);
        st.found = s->who;
        say("%s:started%llu/%s", name, (unsigned long long)s->tag, word_of(s->status));
        return DN_OK;
    }
    case DN_MSG_ROOM:
        (void)DN_BODY(dn_room, msg);
        say("%s:room", name);
        return DN_OK;
    case DN_MSG_CLOCK:
        say("%s:clock%lld", name, (long long)DN_BODY(dn_clock_step, msg)->step_ms);
        return DN_OK;
    case DN_MSG_REPORT:
        free(st.report);
        st.report = malloc(dn_msg_size(msg));
        memcpy(st.report, dn_msg_body_borrow(msg), dn_msg_size(msg));
        return DN_OK;
    default:
        if (dn_msg_size(msg) == 8) {
            uint64_t word;
            memcpy(&word, dn_msg_body_borrow(msg), 8);
            say("%s:%u=%llu", name, dn_msg_kind(msg), (unsigned long long)word);
        } else {
            say("%s:%u", name, dn_msg_kind(msg));
        }
        return DN_OK;
    }
}

#define PROBE_ROWS                                                                                 \
    {DO, probe_on_do}, { DN_KIND_ANY, probe_on_any }

static const dn_handler probe_handlers[] = {PROBE_ROWS};

static const dn_class probe_class = {.name = "probe", .handlers = DN_SLICE(probe_handlers)};

/* ---- Orders ---- */

/* Everything that can happen without time passing, happens. */
static inline void settle(void) {
    dn_sim_end end;

    while (dn_sim_step(st.sim, dn_sim_mono_ms(st.sim), &end)) continue;
}

static inline void pass_ms(int64_t ms) {
    const int64_t until_ms = dn_sim_mono_ms(st.sim) + ms;

    settle();
    (void)dn_sim_run(st.sim, until_ms);
    if (dn_sim_mono_ms(st.sim) < until_ms)
        dn_sim_pass(st.sim, until_ms - dn_sim_mono_ms(st.sim)); /* nothing was armed */
    settle();
}

static inline int post(const char *name, uint32_t kind, const void *body, size_t size) {
    return dn_post(st.runtime, dn_runtime_name(st.runtime, name), kind, body, size);
}

/* Puts an act into the actor's mailbox; it is handled when the simulation runs. */
static inline void later_in(const char *name, act_fn *act, const void *arg) {
    const order o = {act, arg};

    CHECK_INT(post(name, DO, &o, sizeof o), DN_OK);
}

static inline void in(const char *name, act_fn *act, const void *arg) {
    later_in(name, act, arg);
    settle();
}

/* ---- Acts that every test needs ---- */

static inline int act_spawn(dn_self *self, const void *arg) {
    dn_ref    who = DN_NOBODY;
    const int rc = dn_spawn(self, arg, &who);

    if (rc == DN_OK) st.found = who;
    else say("spawn/%s", word_of(rc));
    return DN_OK;
}

static inline int act_find(dn_self *self, const void *arg) {
    st.found = dn_whereis(self, dn_name(self, arg));
    return DN_OK;
}

static inline int act_stop_self(dn_self *self, const void *arg) {
    (void)self, (void)arg;
    return DN_STOP;
}

static inline int act_fail(dn_self *self, const void *arg) {
    (void)self;
    dn_fail(arg ? arg : "as told");
}

static inline int act_stop(dn_self *self, const void *arg) {
    const int rc = dn_stop(self, dn_name(self, arg));

    if (rc != DN_OK) say("stop/%s", word_of(rc));
    return DN_OK;
}

static inline int act_kill(dn_self *self, const void *arg) {
    const int rc = dn_kill(self, dn_name(self, arg));

    if (rc != DN_OK) say("kill/%s", word_of(rc));
    return DN_OK;
}

/* Sends the kinds of a zero-ended list to the actor whose name comes first. */
typedef struct letters {
    const char *to;
    uint32_t    kinds[16];
} letters;

static inline int act_send(dn_self *self, const void *arg) {
    const letters *all = arg;

    for (const uint32_t *kind = all->kinds; *kind; kind++) {
        const int rc = dn_send(self, dn_name(self, all->to), *kind, NULL, 0);
        if (rc != DN_OK) say("send%u/%s", *kind, word_of(rc));
    }
    return DN_OK;
}

#define LETTERS(to_, ...) (&(letters){.to = (to_), .kinds = {__VA_ARGS__}})

static inline int act_inspect(dn_self *self, const void *arg) {
    dn_inspect(self, NULL, *(const size_t *)arg);
    return DN_OK;
}

/* The root spawns a probe, or an actor of another class. */
static inline dn_ref born_of(const dn_class *cls, const char *name) {
    dn_spawn_spec spec = {.actor_class = cls, .name = name};

    st.found = DN_NOBODY;
    in("root", act_spawn, &spec);
    return st.found;
}

static inline dn_ref born(const char *name) { return born_of(&probe_class, name); }

static inline dn_ref find(const char *name) {
    in("root", act_find, name);
    return st.found;
}

static inline bool is_alive(const char *name) { return !dn_ref_is_nobody(find(name)); }

/* A report of the loop, of at most max actors. */
static inline const dn_report *inspect_max(size_t max) {
    in("root", act_inspect, &max);
    CHECK(st.report);
    return st.report;
}

static inline const dn_report *inspect(void) { return inspect_max(10000); }

static inline const dn_actor_report *row_of(const dn_report *report, const char *name) {
    for (size_t i = 0; i < report->actors_len; i++)
        if (strcmp(report->rows[i].name, name) == 0) return &report->rows[i];
    CHECK_MSG(false, "no actor %s in the report", name);
    return NULL;
}

/* ---- Notices ---- */

static inline void stage_told(void *context, const dn_notice *n) {
    (void)context;
    if (st.told_len == TOLD_MAX) return;
    st.told[st.told_len] = *n;
    snprintf(st.told_actor[st.told_len], DN_NAME_MAX + 1, "%s", n->actor);
    snprintf(st.told_why[st.told_len], 128, "%s", n->why);
    st.told[st.told_len].actor = st.told_actor[st.told_len];
    st.told[st.told_len].why = st.told_why[st.told_len];
    st.told_len++;
}

/* The last notice of that kind. */
static inline const dn_notice *told(dn_notice_kind kind) {
    for (size_t i = st.told_len; i > 0; i--)
        if (st.told[i - 1].kind == kind) return &st.told[i - 1];
    CHECK_MSG(false, "no notice of kind %d", (int)kind);
    return NULL;
}

/* ---- Beginning and end ---- */

static inline void stage_ends(void) {
    dn_sim_free(DN_TAKE(st.sim));
    free(DN_TAKE(st.report));
}

static inline void stage_boots(void) {
    const dn_spawn_spec root = {.actor_class = &probe_class, .name = "root"};

    CHECK_INT(dn_sim_boot(st.sim, &root), DN_OK);
    st.runtime = dn_sim_runtime(st.sim);
}

static inline void stage_begins_with_seed(uint64_t seed) {
    const dn_sim_config config = {.seed = seed, .wall_ms = 1700000000000, .notice = stage_told};

    CHECK_INT(dn_sim_new(&config, &st.sim), DN_OK);
    stage_boots();
}

static inline void stage_begins(void) {
    stage_begins_with_seed(test_seed());
    CHECK_INT(atexit(stage_ends), 0);
}

/* Does it again under other seeds: where the order of turns must not matter. */
#define UNDER_SEEDS(count)                                                                         \
    for (uint64_t seed_ = test_seed(), seed_end_ = seed_ + (count); seed_ != seed_end_;            \
         stage_ends(), seed_++)                                                                    \
        if (stage_begins_with_seed(seed_), true)

#endif
