/* spawns.c - actors that come, wait and go: one after the other under a monitor, a million idle at
 * once, and a million in waves to see that nothing of them stays. */
#include <inttypes.h>

#include "common.h"

enum { MSG_HELLO = BENCH_KIND_OWN, MSG_READY, MSG_LEAVE };

/* ---- spawn: one child after the other ----
 * The child is really scheduled: it ends on its first message, which its init sends to itself. With
 * two loops it lives on the other one; the monitor can then be set only when it is known to have started,
 * and may find that it has ended already. */

typedef struct parent_config {
    dn_ref   conductor;
    uint64_t n;
    bool     far;
} parent_config;

typedef struct parent {
    dn_ref   conductor;
    uint64_t n, k;
    int64_t  began_ns;
    bool     far; /* its children live on the other loop */
} parent;

static int parent_init(dn_self *self, void *state, const void *config);
static int parent_on_down(dn_self *self, void *state, const dn_msg *msg);
static int parent_on_started(dn_self *self, void *state, const dn_msg *msg);
static int parent_on_start(dn_self *self, void *state, const dn_msg *msg);
static int child_init(dn_self *self, void *state, const void *config);
static int child_on_hello(dn_self *self, void *state, const dn_msg *msg);

static const dn_handler parent_handlers[] = {
    {DN_MSG_DOWN, parent_on_down},       /* runtime   -> it ended: the next one */
    {DN_MSG_STARTED, parent_on_started}, /* runtime   -> alive on the other loop: watch it */
    {BENCH_START, parent_on_start},      /* conductor -> the first one */
};
static const dn_handler child_handlers[] = {
    {MSG_HELLO, child_on_hello}, /* itself -> enough */
};
static const dn_class parent_class = {
    .name = "parent",
    .state_size = sizeof(parent),
    .init = parent_init,
    .handlers = DN_SLICE(parent_handlers),
};
static const dn_class child_class = {
    .name = "child", .init = child_init, .handlers = DN_SLICE(child_handlers)};

static int child_init(dn_self *self, void *state, const void *config) {
    (void)state;
    (void)config;
    return dn_send(self, dn_self_ref(self), MSG_HELLO, NULL, 0);
}

static int child_on_hello(dn_self *self, void *state, const dn_msg *msg) {
    (void)self;
    (void)state;
    (void)msg;
    return DN_STOP;
}

static int parent_spawn(dn_self *self, const parent *p) {
    const dn_spawn_spec spec = {.actor_class = &child_class,
                                .loop = p->far ? BENCH_SECOND : NULL,
                                .tag = p->k,
                                .monitored = !p->far};
    const int           rc = dn_spawn(self, &spec, NULL);

    return rc == DN_PENDING ? DN_OK : rc;
}

static int parent_init(dn_self *self, void *state, const void *config) {
    const parent_config *given = config;
    parent              *p = state;

    (void)self;
    *p = (parent){.conductor = given->conductor, .n = given->n, .far = given->far};
    return DN_OK;
}

static int parent_on_down(dn_self *self, void *state, const dn_msg *msg) {
    parent        *p = state;
    const dn_down *down = DN_BODY(dn_down, msg);
    const bool     ended_well = down->reason == DN_OK || (p->far && down->reason == DN_EDEAD);

    if (down->tag != p->k || !ended_well) {
        bench_wrong("child %" PRIu64 " ended in the place of %" PRIu64 ": %s", down->tag, p->k,
                    dn_error_text(down->reason));
    }
    if (++p->k < p->n) return parent_spawn(self, p);
    return bench_tell_done(self, p->conductor, bench_now_ns() - p->began_ns, p->k);
}

static int parent_on_started(dn_self *self, void *state, const dn_msg *msg) {
    const dn_started *started = DN_BODY(dn_started, msg);

    (void)state;
    if (started->status == DN_OK) dn_monitor(self, started->who, started->tag);
    return started->status;
}

static int parent_on_start(dn_self *self, void *state, const dn_msg *msg) {
    parent *p = state;

    (void)msg;
    p->began_ns = bench_now_ns();
    return parent_spawn(self, p);
}

static void spawn_hire(dn_self *self, bench_run *run) {
    const parent_config config = {dn_self_ref(self), run->n, run->threads > 1};

    bench_hire(self, run, &parent_class, &config, sizeof config, NULL);
}

static void spawn_start(dn_self *self, bench_run *run) { bench_tell_all(self, run, BENCH_START); }

static void spawn_report(const bench_run *run) {
    bench_print(run, "ns_per_spawn_exit", (double)(run->ended_ns - run->began_ns) / (double)run->n,
                "ns");
}

/* ---- idle and churn: a population that a keeper raises and dismisses in batches ----
 * An idle actor has one word of state, has answered one message, and waits. It is told to leave by an
 * ordinary message; its end is seen by a monitor, set just before, because an end is seen by nothing
 * less. With two loops every other batch lives on the second one. */

enum { BATCH = 1000, CHURN_WAVE = 10000 };

/* The run's data. The addresses are part of the growth, as they are in the peers' benches. */
typedef struct population {
    int64_t  rss_before_kb;             /* before the warm-up spawns any: what it leaves counts */
    int64_t  rss_first_kb, rss_last_kb; /* with the first and the last wave up */
    int64_t  rss_first_gone_kb, rss_last_gone_kb;
    int64_t  raise_ns, dismiss_ns; /* of all waves */
    uint64_t size;                 /* of a wave */
    uint64_t waves, wave;
    dn_ref   who[];
} population;

typedef struct keeper_config {
    dn_ref      conductor;
    population *people; /* the keeper's alone until it says that it is done */
    bool        two_loops;
} keeper_config;

typedef struct keeper {
    dn_ref      conductor;
    population *people;
    uint64_t    at;          /* where the batch begins */
    uint64_t    here, heard; /* of the batch */
    int64_t     phase_ns;    /* when raising or dismissing began */
    bool        two_loops;
} keeper;

typedef struct idler {
    uint64_t word;
} idler;

static int keeper_init(dn_self *self, void *state, const void *config);
static int keeper_on_ready(dn_self *self, void *state, const dn_msg *msg);
static int keeper_on_down(dn_self *self, void *state, const dn_msg *msg);
static int keeper_on_started(dn_self *self, void *state, const dn_msg *msg);
static int keeper_on_start(dn_self *self, void *state, const dn_msg *msg);
static int idler_init(dn_self *self, void *state, const void *config);
static int idler_on_ready(dn_self *self, void *state, const dn_msg *msg);
static int idler_on_leave(dn_self *self, void *state, const dn_msg *msg);

static const dn_handler keeper_handlers[] = {
    {MSG_READY, keeper_on_ready},        /* idler     -> after the last of a batch, the next */
    {DN_MSG_DOWN, keeper_on_down},       /* runtime   -> likewise on the way out */
    {DN_MSG_STARTED, keeper_on_started}, /* runtime   -> alive on the other loop */
    {BENCH_START, keeper_on_start},      /* conductor -> the first batch */
};
static const dn_handler idler_handlers[] = {
    {MSG_READY, idler_on_ready}, /* keeper -> its word */
    {MSG_LEAVE, idler_on_leave}, /* keeper -> ends normally */
};
static const dn_class keeper_class = {
    .name = "keeper",
    .state_size = sizeof(keeper),
    .init = keeper_init,
    .handlers = DN_SLICE(keeper_handlers),
    .mailbox_max = BENCH_MAILBOX_MAX,
};
static const dn_class idler_class = {
    .name = "idler",
    .state_size = sizeof(idler),
    .init = idler_init,
    .handlers = DN_SLICE(idler_handlers),
};

static int idler_init(dn_self *self, void *state, const void *config) {
    idler *i = state;

    (void)self;
    i->word = *(const uint64_t *)config;
    return DN_OK;
}

static int idler_on_ready(dn_self *self, void *state, const dn_msg *msg) {
    const idler *i = state;

    return dn_send(self, dn_msg_from(msg), MSG_READY, &i->word, sizeof i->word);
}

static int idler_on_leave(dn_self *self, void *state, const dn_msg *msg) {
    (void)self;
    (void)state;
    (void)msg;
    return DN_STOP;
}

static uint64_t keeper_batch_len(const keeper *k) {
    const uint64_t left = k->people->size - k->at;

    return left < BATCH ? left : BATCH;
}

/* Everyone of the batch is alive: ask each for its word. */
static int keeper_greet(dn_self *self, const keeper *k) {
    for (uint64_t i = 0; i < keeper_batch_len(k); i++) {
        const int rc = dn_send(self, k->people->who[k->at + i], MSG_READY, NULL, 0);
        if (rc != DN_OK) return rc;
    }
    return DN_OK;
}

static int keeper_raise(dn_self *self, keeper *k) {
    const bool away = k->two_loops && k->at / BATCH % 2 == 1;

    k->here = k->heard = 0;
    for (uint64_t i = k->at; i < k->at + keeper_batch_len(k); i++) {
        const dn_spawn_spec spec = {.actor_class = &idler_class,
                                    .config = &i,
                                    .config_size = sizeof i,
                                    .loop = away ? BENCH_SECOND : NULL,
                                    .tag = i};
        const int           rc = dn_spawn(self, &spec, &k->people->who[i]);
        if (rc == DN_OK) k->here++;
        if (rc < 0) return rc;
    }
    return k->here == keeper_batch_len(k) ? keeper_greet(self, k) : DN_OK;
}

static int keeper_dismiss(dn_self *self, keeper *k) {
    k->heard = 0;
    for (uint64_t i = k->at; i < k->at + keeper_batch_len(k); i++) {
        int rc;
        dn_monitor(self, k->people->who[i], /* tag= */ i);
        rc = dn_send(self, k->people->who[i], MSG_LEAVE, NULL, 0);
        if (rc != DN_OK) return rc;
    }
    return DN_OK;
}

static int keeper_init(dn_self *self, void *state, const void *config) {
    const keeper_config *given = config;
    keeper              *k = state;

    (void)self;
    *k = (keeper){
        .conductor = given->conductor, .people = given->people, .two_loops = given->two_loops};
    return DN_OK;
}

static int keeper_on_start(dn_self *self, void *state, const dn_msg *msg) {
    keeper     *k = state;
    population *people = k->people;

    (void)msg;
    if (people->rss_before_kb == 0) people->rss_before_kb = bench_status_kb("VmRSS");
    k->phase_ns = bench_now_ns();
    return keeper_raise(self, k);
}

static int keeper_on_started(dn_self *self, void *state, const dn_msg *msg) {
    keeper           *k = state;
    const dn_started *started = DN_BODY(dn_started, msg);

    if (started->status != DN_OK) return started->status;
    k->people->who[started->tag] = started->who;
    return ++k->here == keeper_batch_len(k) ? keeper_greet(self, k) : DN_OK;
}

static int keeper_on_ready(dn_self *self, void *state, const dn_msg *msg) {
    keeper        *k = state;
    population    *people = k->people;
    const uint64_t word = *DN_BODY(uint64_t, msg);

    if (word < k->at || word >= k->at + keeper_batch_len(k)) {
        bench_wrong("actor %" PRIu64 " answered for another batch", word);
    }
    if (++k->heard < keeper_batch_len(k)) return DN_OK;
    k->at += k->heard;
    if (k->at < people->size) return keeper_raise(self, k);

    people->raise_ns += bench_now_ns() - k->phase_ns;
    people->rss_last_kb = bench_status_kb("VmRSS");
    if (people->wave == 0) people->rss_first_kb = people->rss_last_kb;
    k->at = 0;
    k->phase_ns = bench_now_ns();
    return keeper_dismiss(self, k);
}

static int keeper_on_down(dn_self *self, void *state, const dn_msg *msg) {
    keeper        *k = state;
    population    *people = k->people;
    const dn_down *down = DN_BODY(dn_down, msg);

    if (down->reason != DN_OK) {
        bench_wrong("actor %" PRIu64 " ended with: %s", down->tag, dn_error_text(down->reason));
    }
    if (++k->heard < keeper_batch_len(k)) return DN_OK;
    k->at += k->heard;
    if (k->at < people->size) return keeper_dismiss(self, k);

    people->dismiss_ns += bench_now_ns() - k->phase_ns;
    people->rss_last_gone_kb = bench_status_kb("VmRSS");
    if (people->wave == 0) people->rss_first_gone_kb = people->rss_last_gone_kb;
    if (++people->wave == people->waves) return bench_tell_done(self, k->conductor, 0, k->at);
    k->at = 0;
    k->phase_ns = bench_now_ns();
    return keeper_raise(self, k);
}

static void population_hire(dn_self *self, bench_run *run, uint64_t size, uint64_t waves) {
    population *people = bench_data(run, sizeof *people + run->n_asked * sizeof people->who[0]);

    people->size = size;
    people->waves = waves;
    people->wave = 0;
    people->raise_ns = people->dismiss_ns = 0;
    bench_hire(self, run, &keeper_class,
               &(const keeper_config){dn_self_ref(self), people, run->threads > 1},
               sizeof(keeper_config), NULL);
}

static void idle_hire(dn_self *self, bench_run *run) {
    population_hire(self, run, run->n, /* waves= */ 1);
}

static void idle_report(const bench_run *run) {
    const population *people = run->data;
    const double      n = (double)run->n;
    const int64_t     growth_kb = people->rss_last_kb - people->rss_before_kb;

    bench_print(run, "bytes_per_actor", (double)growth_kb * 1024 / n, "B");
    bench_print(run, "ns_per_spawn", (double)people->raise_ns / n, "ns");
    bench_print(run, "ns_per_stop", (double)people->dismiss_ns / n, "ns");
}

/* The first wave is the warm-up: what it leaves behind is what the last one must not add to. */
static void churn_hire(dn_self *self, bench_run *run) {
    const uint64_t size = run->n < CHURN_WAVE ? run->n : CHURN_WAVE;

    population_hire(self, run, size, run->n / size);
}

static void churn_report(const bench_run *run) {
    const population *people = run->data;
    const double      n = (double)(people->size * people->waves);

    bench_print(run, "rss_growth_kb",
                (double)(people->rss_last_gone_kb - people->rss_first_gone_kb), "kB");
    bench_print(run, "ns_per_life", (double)(people->raise_ns + people->dismiss_ns) / n, "ns");
}

#define POPULATION .threads_min = 1, .start = spawn_start, .done = bench_done_by_one

const bench bench_spawns[] = {
    {.name = "spawn",
     .threads_min = 1,
     .hire = spawn_hire,
     .start = spawn_start,
     .done = bench_done_by_one,
     .report = spawn_report},
    {.name = "idle", .hire = idle_hire, .report = idle_report, POPULATION},
    {.name = "churn",
     .warms_up_itself = true,
     .hire = churn_hire,
     .report = churn_report,
     POPULATION},
    {.name = NULL},
};
