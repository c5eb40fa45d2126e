/* restarts.c - from a crash to the first message its replacement handles, under a real supervisor.
 * With two loops the supervisor and its children sit on the second one, the client on the first. */
#include <inttypes.h>
#include <stdio.h>

#include "common.h"
#include "diurnal/supervisor.h"

enum { MSG_HELLO = BENCH_KIND_OWN, MSG_CRASH, MSG_UP };
enum { CHILDREN_MAX = 1000, CHILD_NAME_SIZE = 24 };

/* "Unlimited in practice". */
enum { INTENSITY = 1000000, PERIOD_MS = 1000 };

typedef struct restart_options {
    size_t children;
} restart_options;

typedef struct seat {
    struct troupe *troupe;
    size_t         number; /* from 1, in the order of start */
    char           name[CHILD_NAME_SIZE];
} seat;

/* The run's data: the supervisor borrows its spec for life. */
typedef struct troupe {
    dn_ref        client;
    int64_t       crashed_ns; /* the children's, who live on one loop and never crash together */
    size_t        victim;     /* the number of the one that crashes */
    size_t        children;
    uint64_t      warm_up, n;
    seat          seats[CHILDREN_MAX];
    dn_child_spec specs[CHILDREN_MAX];

    dn_supervisor_spec supervisor;

    int64_t samples[]; /* n; the client's until it is done */
} troupe;

/* ---- The child ---- */

typedef struct up {
    uint64_t number;
    int64_t  latency_ns;
} up;

typedef struct child {
    const seat *seat;
} child;

static int child_init(dn_self *self, void *state, const void *config);
static int child_on_hello(dn_self *self, void *state, const dn_msg *msg);
static int child_on_crash(dn_self *self, void *state, const dn_msg *msg);

static const dn_handler child_handlers[] = {
    {MSG_HELLO, child_on_hello}, /* itself -> alive: how long did it take? */
    {MSG_CRASH, child_on_crash}, /* client -> fails */
};
static const dn_class child_class = {
    .name = "child",
    .state_size = sizeof(child),
    .init = child_init,
    .handlers = DN_SLICE(child_handlers),
};

static int child_init(dn_self *self, void *state, const void *config) {
    child *c = state;

    c->seat = config;
    return dn_send(self, dn_self_ref(self), MSG_HELLO, NULL, 0);
}

static int child_on_hello(dn_self *self, void *state, const dn_msg *msg) {
    const child *c = state;
    const up     body = {c->seat->number, bench_now_ns() - c->seat->troupe->crashed_ns};

    (void)msg;
    return dn_send(self, c->seat->troupe->client, MSG_UP, &body, sizeof body);
}

static int child_on_crash(dn_self *self, void *state, const dn_msg *msg) {
    const child *c = state;

    (void)self;
    (void)msg;
    c->seat->troupe->crashed_ns = bench_now_ns();
    dn_fail("told to");
}

/* ---- The client ---- */

typedef struct client {
    troupe  *troupe;
    dn_ref   conductor, victim;
    size_t   up;      /* children that have said so for the first time */
    uint64_t crashes; /* answered by a replacement */
} client;

static int client_init(dn_self *self, void *state, const void *config);
static int client_on_up(dn_self *self, void *state, const dn_msg *msg);
static int client_on_start(dn_self *self, void *state, const dn_msg *msg);
static int client_on_started(dn_self *self, void *state, const dn_msg *msg);

static const dn_handler client_handlers[] = {
    {MSG_UP, client_on_up},              /* child     -> the next crash */
    {BENCH_START, client_on_start},      /* conductor -> starts the supervisor */
    {DN_MSG_STARTED, client_on_started}, /* runtime   -> that worked, or not */
};
static const dn_class client_class = {
    .name = "client",
    .state_size = sizeof(client),
    .init = client_init,
    .handlers = DN_SLICE(client_handlers),
    .mailbox_max = BENCH_MAILBOX_MAX,
};

static int client_init(dn_self *self, void *state, const void *config) {
    client *c = state;

    c->troupe = *(troupe *const *)config;
    c->troupe->client = dn_self_ref(self);
    return DN_OK;
}

static int client_on_start(dn_self *self, void *state, const dn_msg *msg) {
    client             *c = state;
    const dn_spawn_spec spec = {.actor_class = &dn_supervisor_class,
                                .config = &c->troupe->supervisor,
                                .loop = BENCH_SECOND,
                                .linked = true};
    int                 rc;

    c->conductor = dn_msg_from(msg);
    rc = dn_spawn(self, &spec, NULL);
    if (rc < 0) bench_wrong("the supervisor did not start: %s", dn_error_text(rc));
    return DN_OK;
}

static int client_on_started(dn_self *self, void *state, const dn_msg *msg) {
    const dn_started *started = DN_BODY(dn_started, msg);

    (void)self;
    (void)state;
    if (started->status != DN_OK) {
        bench_wrong("the supervisor did not start: %s", dn_error_text(started->status));
    }
    return DN_OK;
}

static int client_on_up(dn_self *self, void *state, const dn_msg *msg) {
    client   *c = state;
    troupe   *t = c->troupe;
    const up *body = DN_BODY(up, msg);

    if (c->up < t->children) { /* the first start of all of them */
        if (body->number == t->victim) c->victim = dn_msg_from(msg);
        if (++c->up < t->children) return DN_OK;
        return dn_send(self, c->victim, MSG_CRASH, NULL, 0);
    }
    if (body->number != t->victim || dn_ref_equal(dn_msg_from(msg), c->victim)) {
        bench_wrong("child %" PRIu64 " said hello, the one that crashed is %zu", body->number,
                    t->victim);
    }
    c->victim = dn_msg_from(msg);
    if (c->crashes >= t->warm_up) t->samples[c->crashes - t->warm_up] = body->latency_ns;
    if (++c->crashes < t->warm_up + t->n) return dn_send(self, c->victim, MSG_CRASH, NULL, 0);
    return bench_tell_done(self, c->conductor, 0, c->crashes);
}

/* ---- What the conductor does ---- */

static void restart_hire(dn_self *self, bench_run *run) {
    const restart_options *options = run->bench->options;
    troupe                *t = bench_data(run, sizeof *t + run->n * sizeof t->samples[0]);

    t->n = run->n;
    t->warm_up = run->n / BENCH_WARM_UP_SHARE;
    t->children = options->children;
    t->victim = (t->children + 1) / 2;
    for (size_t i = 0; i < t->children; i++) {
        seat *s = &t->seats[i];
        *s = (seat){.troupe = t, .number = i + 1};
        snprintf(s->name, sizeof s->name, "child-%zu", s->number);
        t->specs[i] = (dn_child_spec){
            .name = s->name, .actor_class = &child_class, .config = s, .restart = DN_PERMANENT};
    }
    t->supervisor = (dn_supervisor_spec){
        .strategy = DN_ONE_FOR_ONE,
        .intensity = INTENSITY,
        .period_ms = PERIOD_MS,
        .children = {.rows = t->specs, .len = t->children},
    };
    bench_hire(self, run, &client_class, &t, sizeof t, NULL);
}

static void restart_start(dn_self *self, bench_run *run) { bench_tell_all(self, run, BENCH_START); }

static void restart_report(const bench_run *run) {
    troupe *t = run->data;

    bench_sort(t->samples, t->n);
    bench_print(run, "p50_ns", (double)bench_rank(t->samples, t->n, 500), "ns");
    bench_print(run, "p99_ns", (double)bench_rank(t->samples, t->n, 990), "ns");
}

/* The warm-up is n/10 crashes more of the same child. restart_hist is the same bench: our history of
 * restarts is a ring that is never cleared, and there is nothing to clear it with. */
#define RESTART                                                                                    \
    .threads_min = 1, .warms_up_itself = true, .crashes = true, .hire = restart_hire,              \
    .start = restart_start, .done = bench_done_by_one, .report = restart_report

static const restart_options one_child = {.children = 1};
static const restart_options thousand = {.children = CHILDREN_MAX};

const bench bench_restarts[] = {
    {.name = "restart", .options = &one_child, RESTART},
    {.name = "restart_hist", .options = &one_child, RESTART},
    {.name = "restart1000", .options = &thousand, RESTART},
    {.name = NULL},
};
