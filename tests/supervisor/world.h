/* world.h - what the tests of the supervisors have in common: children that do as they are told, a log of
 * what they did, and a stage from which a supervisor is started, stopped and asked.
 *
 * A child is a `part`: it says how its actor starts and stops, and a test changes that as it
 * goes. What the actors do is written down in few letters:
 *     +a   a is up            xa   a did not come up       ~a   a was asked to stop and takes its time
 *     -a   a ended in order   !a   a crashed or was killed
 * A test is a process of its own, so the world is a global. Unless it says so, a test
 * runs under simulation, with the order of its events from its seed: what it says holds for every
 * order. */
#ifndef DIURNAL_TESTS_SUPERVISOR_WORLD_H
#define DIURNAL_TESTS_SUPERVISOR_WORLD_H

#include "diurnal/sim.h"
#include "diurnal/supervisor.h"
#include "test.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 64, FOREVER = -1, ANSWERS = 64 };

/* ---- The parts ---- */

typedef struct part {
    char    name[DN_NAME_MAX + 2]; /* "": free */
    int     init_fails; /* so many inits fail with init_code, then they succeed; FOREVER */
    int     init_code;  /* 0: DN_EIO. DN_STOP: declines */
    int64_t init_ms;    /* how long init is pending; 0: not at all; FOREVER: never done */
    int64_t stop_ms;    /* how long a stop takes; 0: no time; FOREVER: it will not */
    int     inits;      /* how often init was called */
    void (*on_up)(dn_self *self, int inits); /* may be NULL */
} part;

/* What the stage is to do, at once or later. */
typedef struct stage_order {
    char    name[32];
    int     what;
    int64_t after_ms;
} stage_order;

/* Messages for a part. */
enum { PART_CRASH = 1, PART_CRASH_LATER, PART_FAIL, PART_END, PART_INIT_OVER, PART_STOP_OVER };

typedef struct world {
    uint64_t    order; /* added to the seed */
    dn_sim     *sim;
    dn_runtime *runtime;
    part        parts[PARTS];
    char        log[8192];
    size_t      log_len;

    /* What the stage saw of the supervisor. */
    int           spawn_status; /* of dn_spawn, or of DN_MSG_STARTED after DN_PENDING */
    bool          was_pending, is_down;
    int           reason;
    char          why[DN_WHY_MAX];
    int64_t       down_at_ms;
    dn_sup_child  child; /* the last answer of each sort */
    dn_sup_counts counts;
    int           answers, failed_calls, asked; /* asked: status of the last dn_call */
    int           statuses[ANSWERS];            /* of the answers, in order */
    size_t        heap_bytes;                   /* of the supervisor, when last asked */
    stage_order   later[ANSWERS];               /* what waits for its time */
    int           later_len;
} world;

static world w;

static inline part *part_of(const char *name) {
    for (int i = 0; i < PARTS; i++)
        if (strcmp(w.parts[i].name, name) == 0) return &w.parts[i];
    for (int i = 0; i < PARTS; i++)
        if (!*w.parts[i].name) {
            CHECK(strlen(name) < sizeof w.parts[i].name);
            memcpy(w.parts[i].name, name, strlen(name) + 1);
            return &w.parts[i];
        }
    CHECK_MSG(false, "more than %d parts", PARTS);
    return NULL;
}

/* Any thread: where there are several loops, they write one after the other. */
static inline void write_down(char sign, const char *name) {
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

    pthread_mutex_lock(&one_at_a_time);
    w.log_len += (size_t)snprintf(w.log + w.log_len, sizeof w.log - w.log_len, "%s%c%s",
                                  w.log_len ? " " : "", sign, name);
    CHECK(w.log_len < sizeof w.log);
    pthread_mutex_unlock(&one_at_a_time);
}

/* What was written down since the last time. */
static inline const char *said(void) {
    static char text[sizeof w.log];

    memcpy(text, w.log, w.log_len + 1);
    w.log_len = 0;
    w.log[0] = '\0';
    return text;
}

typedef struct part_state {
    int  number;
    bool up, in_order;
} part_state;

/* The end of a part, however it came. */
static inline void part_over(void *state) {
    const part_state *s = state;

    if (!s->up) write_down('x', w.parts[s->number].name);
    else write_down(s->in_order ? '-' : '!', w.parts[s->number].name);
}

static inline void part_is_up(dn_self *self, part_state *s) {
    part *p = &w.parts[s->number];

    s->up = true;
    write_down('+', p->name);
    if (p->on_up) p->on_up(self, p->inits);
}

static inline int part_init(dn_self *self, void *state, const void *config) {
    part_state *s = state;
    part       *p;

    s->number = *(const int *)config;
    p = &w.parts[s->number];
    p->inits++;
    dn_own(self, s, part_over);
    if (p->init_ms != 0) {
        if (p->init_ms > 0) dn_timer_after(self, p->init_ms, PART_INIT_OVER, 0);
        return DN_PENDING;
    }
    if (p->init_fails != 0) {
        if (p->init_fails > 0) p->init_fails--;
        return p->init_code ? p->init_code : DN_EIO;
    }
    part_is_up(self, s);
    return DN_OK;
}

static inline int part_on_init_over(dn_self *self, void *state, const dn_msg *msg) {
    part_state *s = state;
    part       *p = &w.parts[s->number];

    (void)msg;
    if (p->init_fails != 0) {
        if (p->init_fails > 0) p->init_fails--;
        dn_init_done(self, p->init_code ? p->init_code : DN_EIO);
    }
    part_is_up(self, s);
    dn_init_done(self, DN_OK);
    return DN_OK;
}

static inline int part_on_crash(dn_self *self, void *state, const dn_msg *msg) {
    (void)self;
    (void)state;
    (void)msg;
    return DN_EFAILED;
}

/* So many milliseconds later. */
static inline int part_on_crash_later(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    dn_timer_after(self, *DN_BODY(int64_t, msg), PART_CRASH, 0);
    return DN_OK;
}

static inline int part_on_fail(dn_self *self, void *state, const dn_msg *msg) {
    (void)self;
    (void)state;
    (void)msg;
    dn_fail("as it was told");
}

static inline int part_on_end(dn_self *self, void *state, const dn_msg *msg) {
    (void)self;
    (void)state;
    (void)msg;
    return DN_STOP;
}

static inline int part_stopping(dn_self *self, void *state) {
    const part_state *s = state;
    const part       *p = &w.parts[s->number];

    if (p->stop_ms == 0) return DN_STOP;
    write_down('~', p->name);
    if (p->stop_ms > 0) dn_timer_after(self, p->stop_ms, PART_STOP_OVER, 0);
    return DN_OK;
}

static inline void part_terminate(dn_self *self, void *state) {
    part_state *s = state;

    (void)self;
    s->in_order = true;
}

static const dn_handler part_handlers[] = {
    {PART_CRASH, part_on_crash},   {PART_CRASH_LATER, part_on_crash_later},
    {PART_FAIL, part_on_fail},     {PART_END, part_on_end},
    {PART_STOP_OVER, part_on_end}, {PART_INIT_OVER, part_on_init_over},
};

static const dn_class part_class = {
    .name = "part",
    .state_size = sizeof(part_state),
    .init = part_init,
    .handlers = DN_SLICE(part_handlers),
    .stopping = part_stopping,
    .terminate = part_terminate,
};

static inline const int *part_config(const char *name) {
    static int numbers[PARTS];
    const int  number = (int)(part_of(name) - w.parts);

    numbers[number] = number;
    return &numbers[number];
}

/* A child spec that plays the part of that name. */
#define CHILD(name_, ...)                                                                          \
    { .name = (name_), .actor_class = &part_class, .config = part_config(name_), __VA_ARGS__ }

/* ---- The stage: the root, which starts the supervisor and does what the test posts ---- */

enum { STAGE_ORDER = 1, STAGE_LATER };

enum { STOP, KILL, ASK_COUNTS, ASK_CHILD, ASK_STOP, ASK_RESTART, ASK_START, ASK_HEAP };

typedef struct stage_config {
    dn_spawn_spec spawn;
} stage_config;

static inline int stage_init(dn_self *self, void *state, const void *config) {
    const stage_config *c = config;
    dn_ref              who = DN_NOBODY;

    (void)state;
    w.spawn_status = dn_spawn(self, &c->spawn, &who);
    w.was_pending = w.spawn_status == DN_PENDING;
    if (w.spawn_status == DN_OK) (void)dn_monitor(self, who, 0);
    return DN_OK;
}

static inline int stage_on_started(dn_self *self, void *state, const dn_msg *msg) {
    const dn_started *started = DN_BODY(dn_started, msg);

    (void)state;
    w.spawn_status = started->status;
    if (w.spawn_status == DN_OK) (void)dn_monitor(self, started->who, 0);
    return DN_OK;
}

static inline int stage_on_down(dn_self *self, void *state, const dn_msg *msg) {
    const dn_down *down = DN_BODY(dn_down, msg);

    (void)state;
    CHECK_MSG(!w.is_down, "the supervisor went down twice");
    w.is_down = true;
    w.reason = down->reason;
    w.down_at_ms = dn_mono_ns(self) / 1000000;
    memcpy(w.why, down->why, sizeof w.why);
    return DN_OK;
}

static inline void stage_does(dn_self *self, const stage_order *o) {
    const dn_ref  sup = dn_name(self, "sup");
    const int64_t timeout_ms = 3600 * 1000;
    dn_call_id    id;

    switch (o->what) {
    case STOP: w.asked = dn_stop(self, dn_name(self, o->name)); break;
    case KILL: w.asked = dn_kill(self, dn_name(self, o->name)); break;
    case ASK_COUNTS: w.asked = dn_sup_ask_counts(self, sup, timeout_ms, &id); break;
    case ASK_CHILD: w.asked = dn_sup_ask_child(self, sup, o->name, timeout_ms, &id); break;
    case ASK_STOP: w.asked = dn_sup_stop_child(self, sup, o->name, timeout_ms, &id); break;
    case ASK_RESTART: w.asked = dn_sup_restart_child(self, sup, o->name, timeout_ms, &id); break;
    case ASK_START: {
        const int *number = part_config(o->name);

        w.asked = dn_dynamic_start(self, sup, number, sizeof *number, timeout_ms, &id);
        break;
    }
    case ASK_HEAP: dn_inspect(self, NULL, 10); break;
    default: CHECK_MSG(false, "there is no order %d", o->what);
    }
}

static inline int stage_on_order(dn_self *self, void *state, const dn_msg *msg) {
    const stage_order *o = DN_BODY(stage_order, msg);

    (void)state;
    if (o->after_ms == 0) {
        stage_does(self, o);
    } else {
        CHECK(w.later_len < ANSWERS);
        w.later[w.later_len] = *o;
        dn_timer_after(self, o->after_ms, STAGE_LATER, (uint64_t)w.later_len++);
    }
    return DN_OK;
}

static inline int stage_on_later(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    stage_does(self, &w.later[*DN_BODY(uint64_t, msg)]);
    return DN_OK;
}

static inline int stage_on_report(dn_self *self, void *state, const dn_msg *msg) {
    const dn_report *report = dn_msg_body_borrow(msg);

    (void)self;
    (void)state;
    for (size_t i = 0; i < report->actors_len; i++)
        if (strcmp(report->rows[i].name, "sup") == 0) w.heap_bytes = report->rows[i].heap_bytes;
    return DN_OK;
}

static inline int stage_on_child(dn_self *self, void *state, const dn_msg *msg) {
    (void)self;
    (void)state;
    w.child = *DN_BODY(dn_sup_child, msg);
    w.statuses[w.answers % ANSWERS] = w.child.status;
    w.answers++;
    return DN_OK;
}

static inline int stage_on_counts(dn_self *self, void *state, const dn_msg *msg) {
    (void)self;
    (void)state;
    w.counts = *DN_BODY(dn_sup_counts, msg);
    w.answers++;
    return DN_OK;
}

static inline int stage_on_call_failed(dn_self *self, void *state, const dn_msg *msg) {
    (void)self;
    (void)state;
    (void)DN_BODY(dn_call_failed, msg);
    w.failed_calls++;
    return DN_OK;
}

static const dn_handler stage_handlers[] = {
    {STAGE_ORDER, stage_on_order},      {STAGE_LATER, stage_on_later},
    {DN_MSG_STARTED, stage_on_started}, {DN_MSG_DOWN, stage_on_down},
    {DN_SUP_CHILD, stage_on_child},     {DN_SUP_COUNTS, stage_on_counts},
    {DN_MSG_REPORT, stage_on_report},   {DN_MSG_CALL_FAILED, stage_on_call_failed},
};

static const dn_class stage_class = {
    .name = "stage",
    .init = stage_init,
    .handlers = DN_SLICE(stage_handlers),
};

/* ---- Time and orders ---- */

static inline int64_t now_ms(void) { return dn_sim_mono_ms(w.sim); }

/* Everything that can happen without time passing, happens. */
static inline void settle(void) {
    dn_sim_end end;

    while (dn_sim_step(w.sim, now_ms(), &end)) {}
}

static inline void pass_ms(int64_t ms) {
    const int64_t until_ms = now_ms() + ms;

    settle();
    (void)dn_sim_run(w.sim, until_ms);
    if (now_ms() < until_ms) dn_sim_pass(w.sim, until_ms - now_ms()); /* it had nothing to do */
    settle();
}

static inline void post_only(const char *to, uint32_t kind, const void *body, size_t size) {
    CHECK_INT(dn_post(w.runtime, dn_runtime_name(w.runtime, to), kind, body, size), DN_OK);
}

static inline void post(const char *to, uint32_t kind, const void *body, size_t size) {
    post_only(to, kind, body, size);
    settle();
}

static inline void order_in(int64_t after_ms, int what, const char *name) {
    stage_order o = {.what = what, .after_ms = after_ms};

    snprintf(o.name, sizeof o.name, "%s", name);
    post("stage", STAGE_ORDER, &o, sizeof o);
}

static inline void crash(const char *name) { post(name, PART_CRASH, NULL, 0); }
static inline void finish(const char *name) { post(name, PART_END, NULL, 0); }
static inline void ask(int what, const char *name) { order_in(0, what, name); }
static inline void stop(const char *name) { ask(STOP, name); }
static inline void kill_actor(const char *name) { ask(KILL, name); }

static inline const dn_sup_child *ask_child(const char *name) {
    const int before = w.answers;

    ask(ASK_CHILD, name);
    CHECK_INT(w.answers, before + 1);
    return &w.child;
}

static inline const dn_sup_counts *ask_counts(void) {
    const int before = w.answers;

    ask(ASK_COUNTS, "");
    CHECK_INT(w.answers, before + 1);
    return &w.counts;
}

static inline bool is_running(const char *name) { return !dn_ref_is_nobody(ask_child(name)->who); }

/* ---- Beginning ---- */

/* The process is gone, and with it whatever its actors owned: what is left then has leaked. */
static inline void world_ends(void) {
    dn_sim_free(w.sim);
    w.sim = NULL;
}

/* Another world, with the parts as they were at first and another order of events. */
static inline void world_again(void) {
    static world fresh;

    world_ends();
    for (int i = 0; i < PARTS; i++)
        memcpy(fresh.parts[i].name, w.parts[i].name, sizeof w.parts[i].name);
    fresh.order = w.order + 1;
    w = fresh;
}

/* The one that is asked is "sup": this one, or a child of it. */
static inline void world_begins_as(const char *name, const dn_class *cls, const void *spec) {
    static stage_config stage;
    const dn_spawn_spec root = {.actor_class = &stage_class, .config = &stage, .name = "stage"};
    dn_sim_config       config = {.seed = test_seed() + w.order, .wall_ms = 1700000000000};

    stage.spawn = (dn_spawn_spec){.actor_class = cls, .config = spec, .name = name, .linked = true};
    if (w.order <= 1) atexit(world_ends);
    CHECK_INT(dn_sim_new(&config, &w.sim), DN_OK);
    CHECK_INT(dn_sim_boot(w.sim, &root), DN_OK);
    w.runtime = dn_sim_runtime(w.sim);
    settle();
}

static inline void world_begins_with(const dn_class *cls, const void *spec) {
    world_begins_as("sup", cls, spec);
}

static inline void world_begins(const dn_supervisor_spec *spec) {
    world_begins_with(&dn_supervisor_class, spec);
}

/* A supervisor of these children, with so generous an intensity that it plays no part. */
#define SUPERVISOR(strategy_, children_)                                                           \
    (dn_supervisor_spec) {                                                                         \
        .strategy = (strategy_), .intensity = 100, .period_ms = 1000,                              \
        .children = DN_SLICE(children_)                                                            \
    }

#endif
