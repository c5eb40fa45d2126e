/* chaos_test.c - random trees under random faults, and what must hold all the same.
 * While faults last, actors crash (supervisors too), starts fail or hang, stops take long or never end,
 * messages are late, memory is refused, the process dies. When they stop, the tree must heal: every
 * permanent child runs, below one_for_all and rest_for_one each is younger than those before
 * it, and a stop takes all down in reverse order. */
#include "diurnal/sim.h"
#include "diurnal/supervisor.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

enum { NODES_MAX = 64, CHILDREN_MAX = 5, DEPTH_MAX = 3 };

/* One actor of the tree: a leaf or a supervisor. */
typedef struct node {
    char               name[8];
    int                number, parent;
    bool               is_supervisor;
    dn_supervisor_spec spec; /* of a supervisor */
    dn_child_spec      rows[CHILDREN_MAX];
    int                children[CHILDREN_MAX];
    uint64_t up, down; /* leaves: when it last came up and went, counted in events; 0: never */
    int      alive;
} node;

static struct {
    node     nodes[NODES_MAX];
    int      len;
    uint64_t random, events;
    bool     faulty;
    bool     meddled; /* children are stopped and started by hand */
    dn_sim  *sim;
} t;

static dn_sim_counts happened; /* over all lives so far */

static bool    chance(uint32_t percent) { return test_random(&t.random) % 100 < percent; }
static int64_t up_to(int64_t max) {
    return (int64_t)(test_random(&t.random) % (uint64_t)(max + 1));
}

/* ---- Leaves: they come up late or not at all, crash, end, and take their time to go ---- */

enum { LEAF_TICK = 1, LEAF_UP, LEAF_OVER, LEAF_NUDGE };

typedef struct leaf {
    int  number;
    bool up;
} leaf;

static void leaf_over(void *state) {
    const leaf *l = state;
    node       *n = &t.nodes[l->number];

    if (!l->up) return;
    n->alive--;
    n->down = ++t.events;
}

static int leaf_up(dn_self *self, leaf *l) {
    node *n = &t.nodes[l->number];

    l->up = true;
    n->up = ++t.events;
    CHECK_MSG(++n->alive == 1, "%s is alive twice", n->name);
    dn_timer_after(self, 1 + (int64_t)(dn_random(self) % 40), LEAF_TICK, 0);
    return DN_OK;
}

static int leaf_init(dn_self *self, void *state, const void *config) {
    leaf          *l = state;
    const uint64_t r = dn_random(self) % 100;

    l->number = *(const int *)config;
    dn_own(self, l, leaf_over);
    if (t.faulty && r < 4) return DN_EIO;
    if (t.faulty && r < 5) dn_fail("in init");
    if (t.faulty && r < 6) return DN_PENDING; /* for ever */
    if (r >= 30) return leaf_up(self, l);
    dn_timer_after(self, (int64_t)(dn_random(self) % 20), LEAF_UP, 0);
    return DN_PENDING;
}

static int leaf_on_up(dn_self *self, void *state, const dn_msg *msg) {
    (void)msg;
    if (t.faulty && dn_random(self) % 20 == 0) dn_init_done(self, DN_EIO);
    leaf_up(self, state);
    dn_init_done(self, DN_OK);
    return DN_OK;
}

static int leaf_on_tick(dn_self *self, void *state, const dn_msg *msg) {
    const uint64_t r = dn_random(self) % 100;

    (void)state;
    (void)msg;
    dn_timer_after(self, 1 + (int64_t)(dn_random(self) % 40), LEAF_TICK, 0);
    if (!t.faulty) return DN_OK;
    return r < 2 ? DN_EFAILED : r < 3 ? DN_STOP : DN_OK;
}

static int leaf_stopping(dn_self *self, void *state) {
    const uint64_t r = dn_random(self) % 100;

    (void)state;
    if (r < 60) return DN_STOP;
    if (!t.faulty || r < 95) dn_timer_after(self, (int64_t)(r % 30), LEAF_OVER, 0);
    return DN_OK;
}

static int leaf_on_over(dn_self *self, void *state, const dn_msg *msg) {
    (void)self;
    (void)state;
    (void)msg;
    return DN_STOP;
}

static const dn_handler leaf_handlers[] = {
    {LEAF_TICK, leaf_on_tick}, {LEAF_UP, leaf_on_up}, {LEAF_OVER, leaf_on_over}};
static const dn_class leaf_class = {.name = "leaf",
                                    .state_size = sizeof(leaf),
                                    .init = leaf_init,
                                    .handlers = DN_SLICE(leaf_handlers),
                                    .stopping = leaf_stopping};

/* ---- A random tree ---- */

static int grow(int parent, int depth) {
    node *n = &t.nodes[t.len];

    n->number = t.len++;
    n->parent = parent;
    snprintf(n->name, sizeof n->name, "n%d", n->number);
    n->is_supervisor = depth == 0 || (depth < DEPTH_MAX && chance(35));
    if (!n->is_supervisor) return n->number;

    const int len = 1 + (int)up_to(CHILDREN_MAX - 1);
    for (int i = 0; i < len && t.len < NODES_MAX; i++) {
        const node    *child = &t.nodes[grow(n->number, depth + 1)];
        dn_child_spec *row = &n->rows[i];

        n->children[i] = child->number;
        if (child->is_supervisor) {
            *row = dn_supervisor_child(child->name, &child->spec);
        } else {
            *row = (dn_child_spec){.name = child->name,
                                   .actor_class = &leaf_class,
                                   .config = &child->number,
                                   .restart = chance(85) ? DN_PERMANENT : DN_TRANSIENT,
                                   .start_ms = 40,
                                   .shutdown_ms = chance(10) ? DN_SHUTDOWN_KILL : 35};
            if (chance(30)) row->backoff = (dn_backoff){.min_ms = 1 + up_to(10), .max_ms = 100};
        }
        n->spec.children.len++;
    }
    n->spec.children.rows = n->rows;
    n->spec.strategy = (dn_strategy)up_to(2);
    /* The root gives up least of all; the others do now and then, and are restarted for it. */
    n->spec.intensity = depth == 0 ? 100000 : 2 + (uint32_t)up_to(20);
    n->spec.period_ms = 100;
    return n->number;
}

/* ---- A run ---- */

static void keep_alive(void) {
    const dn_spawn_spec root = {
        .actor_class = &dn_supervisor_class, .config = &t.nodes[0].spec, .name = t.nodes[0].name};

    while (!dn_sim_runtime(t.sim)) {
        for (int i = 0; i < t.len; i++) CHECK_INT(t.nodes[i].alive, 0);
        if (dn_sim_boot(t.sim, &root) < 0) continue; /* a start that failed; the next one may not */
    }
}

static void run_until(int64_t mono_ms) {
    while (dn_sim_mono_ms(t.sim) < mono_ms) {
        keep_alive();
        if (dn_sim_run(t.sim, mono_ms) == DN_SIM_IDLE) break;
    }
    keep_alive();
}

/* Somebody outside stops and starts children at random. */
static void meddle(uint32_t kind) {
    const node *n = &t.nodes[1 + up_to(t.len - 2)]; /* not the root */
    dn_runtime *runtime = dn_sim_runtime(t.sim);

    if (!t.meddled) return;
    (void)!dn_post(runtime, dn_runtime_name(runtime, t.nodes[n->parent].name), kind, n->name,
                   strlen(n->name) + 1);
}

static void check_healed(uint64_t seed) {
    for (int i = 0; i < t.len; i++) {
        const node *n = &t.nodes[i];
        uint64_t    up_before = 0;

        for (size_t c = 0; n->is_supervisor && c < n->spec.children.len; c++) {
            const node *child = &t.nodes[n->children[c]];

            if (child->is_supervisor) continue; /* its own children tell */
            CHECK_MSG(child->alive == 1 || n->rows[c].restart != DN_PERMANENT,
                      "seed %#llx: %s does not run", (unsigned long long)seed, child->name);
            /* One started by hand is younger than those behind it, and may be. */
            if (!child->alive || t.meddled || n->spec.strategy == DN_ONE_FOR_ONE) continue;
            CHECK_MSG(child->up > up_before, "seed %#llx: %s is older than one before it",
                      (unsigned long long)seed, child->name);
            up_before = child->up;
        }
    }
}

/* All ended, and each after those that stand behind it in the tree. */
static void check_stopped(uint64_t seed, const bool *was_alive, uint64_t stop_event) {
    uint64_t down_after = UINT64_MAX;

    for (int i = 0; i < t.len; i++) { /* nodes are numbered in the order of their first start */
        const node *n = &t.nodes[i];

        CHECK_INT(n->alive, 0);
        if (n->is_supervisor || !was_alive[i]) continue;
        CHECK_MSG(n->down > stop_event && n->down < down_after, "seed %#llx: %s stopped too early",
                  (unsigned long long)seed, n->name);
        down_after = n->down;
    }
}

static uint64_t live_through(uint64_t seed) {
    const dn_sim_config config = {
        .seed = seed,
        .faults = {.crash_actor_ppm = 3000,
                   .crash_process_ppm = 200,
                   .delay_ppm = 50000,
                   .delay_ms_max = 30,
                   .fail_alloc_ppm = 300000},
    };
    const dn_sim_faults none = {0};
    bool                was_alive[NODES_MAX];
    uint64_t            stop_event, hash;

    memset(&t, 0, sizeof t);
    t.random = seed;
    t.faulty = true;
    t.meddled = chance(50);
    grow(-1, 0);
    CHECK_INT(dn_sim_new(&config, &t.sim), DN_OK);
    for (int64_t ms = 0; ms < 3000; ms += 50) {
        run_until(ms);
        if (chance(30)) meddle(DN_SUP_STOP_CHILD);
        if (chance(50)) meddle(DN_SUP_RESTART_CHILD);
    }

    t.faulty = false;
    dn_sim_set_faults(t.sim, &none);
    run_until(4000);
    for (int i = 1; t.meddled && i < t.len; i++) { /* what was stopped by hand is started by hand */
        dn_runtime *runtime = dn_sim_runtime(t.sim);
        const node *n = &t.nodes[i];

        (void)!dn_post(runtime, dn_runtime_name(runtime, t.nodes[n->parent].name),
                       DN_SUP_RESTART_CHILD, n->name, strlen(n->name) + 1);
        run_until(dn_sim_mono_ms(t.sim) + 100);
    }
    run_until(dn_sim_mono_ms(t.sim) + 2000);
    check_healed(seed);

    for (int i = 0; i < t.len; i++) was_alive[i] = t.nodes[i].alive == 1;
    stop_event = t.events;
    dn_sim_stop(t.sim);
    CHECK_INT(dn_sim_run(t.sim, dn_sim_mono_ms(t.sim) + 60000), DN_SIM_ENDED);
    CHECK_INT(dn_sim_root_reason(t.sim), DN_ESHUTDOWN);
    check_stopped(seed, was_alive, stop_event);
    hash = dn_sim_hash(t.sim);
    const dn_sim_counts *counts = dn_sim_counts_borrow(t.sim);
    happened.actor_crashes += counts->actor_crashes;
    happened.process_crashes += counts->process_crashes;
    happened.delays += counts->delays;
    happened.failed_allocs += counts->failed_allocs;
    dn_sim_free(t.sim);
    return hash;
}

TEST(when_faults_stop_every_tree_heals_and_ends_in_order) {
    uint64_t random = test_seed();

    for (int i = 0; i < 400 / TEST_SLOW_FACTOR; i++) live_through(test_random(&random));
    CHECK(happened.actor_crashes > 0);
    CHECK(happened.process_crashes > 0);
    CHECK(happened.delays > 0);
    CHECK(happened.failed_allocs > 0);
}

TEST(the_same_seed_is_the_same_life) {
    uint64_t random = test_seed();

    for (int i = 0; i < 40 / TEST_SLOW_FACTOR; i++) {
        const uint64_t seed = test_random(&random);
        const uint64_t hash = live_through(seed);

        CHECK_UINT(live_through(seed), hash);
    }
}
