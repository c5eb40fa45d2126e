/* cast.h - what the tests with real loops and threads have in common: actors made of two functions, and a
 * runtime of three loops that runs until its root ends.
 *
 * Nothing here waits for time to pass: a test goes on when a message has come. */
#ifndef DIURNAL_TESTS_ACTOR_CAST_H
#define DIURNAL_TESTS_ACTOR_CAST_H

#include "diurnal/runtime.h"
#include "test.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What an actor does. */
typedef struct role {
    const char *name;            /* may be NULL */
    int (*begin)(dn_self *self); /* its init; may be NULL */
    dn_handle_fn *on;            /* every message; may be NULL */
} role;

static inline int role_init(dn_self *self, void *state, const void *config) {
    const role *r = config;

    *(const role **)state = r;
    return r->begin ? r->begin(self) : DN_OK;
}

static inline int role_on_any(dn_self *self, void *state, const dn_msg *msg) {
    const role *r = *(const role **)state;

    return r->on ? r->on(self, state, msg) : DN_OK;
}

static const dn_handler role_rows[] = {{DN_KIND_ANY, role_on_any}};

static const dn_class role_class = {
    .name = "role",
    .state_size = sizeof(role *),
    .init = role_init,
    .handlers = DN_SLICE(role_rows),
};

/* The same with a mailbox of four. */
static const dn_class narrow_class = {
    .name = "narrow",
    .state_size = sizeof(role *),
    .init = role_init,
    .handlers = DN_SLICE(role_rows),
    .mailbox_max = 4,
};

/* ---- The runtime ---- */

static dn_runtime  *rt;
static _Atomic(int) crashes_told;

static inline void count_crashes(void *context, const dn_notice *n) {
    (void)context;
    if (n->kind == DN_NOTICE_CRASH) atomic_fetch_add(&crashes_told, 1);
}

static inline void runtime_begins(void) {
    static const char *const       loops[] = {"main", "side", "third"};
    static const dn_runtime_config config = {
        .loops = loops, .loops_len = 3, .notice = count_crashes, .stall_ms = -1};

    CHECK_INT(dn_runtime_new(&config, &rt), DN_OK);
}

static inline int runtime_runs(const role *root) {
    const dn_spawn_spec spec = {.actor_class = &role_class, .config = root, .name = "root"};
    const int           rc = dn_runtime_run(rt, &spec);

    dn_runtime_free(rt);
    return rc;
}

static inline int play(const role *root) {
    runtime_begins();
    return runtime_runs(root);
}

/* ---- Words for actors ---- */

/* On which loop; NULL: its own. Answers what dn_spawn does. */
static inline int cast_as(dn_self *self, const dn_class *cls, const role *r, const char *loop,
                          uint64_t tag) {
    const dn_spawn_spec spec = {
        .actor_class = cls, .config = r, .name = r->name, .loop = loop, .tag = tag};

    return dn_spawn(self, &spec, NULL);
}

static inline void cast(dn_self *self, const role *r, const char *loop) {
    const int rc = cast_as(self, &role_class, r, loop, 0);

    CHECK(rc == DN_OK || rc == DN_PENDING);
}

static inline dn_ref named(dn_self *self, const char *name) { return dn_name(self, name); }

static inline void tell(dn_self *self, const char *name, uint32_t kind) {
    CHECK_INT(dn_send(self, dn_name(self, name), kind, NULL, 0), DN_OK);
}

static inline uint64_t number_in(const dn_msg *msg) { return *DN_BODY(uint64_t, msg); }

static inline int64_t real_ns(void) {
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Holds a thread until another has set the flag; longer than any test may take, it is a failure. */
static inline void hold_until(const _Atomic(bool) *flag) {
    const int64_t begun_ns = real_ns();

    while (!atomic_load(flag)) {
        CHECK(real_ns() - begun_ns < INT64_C(100) * 1000000000);
        sched_yield();
    }
}

#endif
