/* counter.c - a counter that survives its failures, and the proof of it.
 *
 *     tree (one_for_one)
 *      ├─ counter    adds up, and answers when the sum is safe
 *      └─ client     adds a few times, makes a mistake in between, and ends; then the tree ends
 *
 * Run as it is, it runs for real. `counter simulate` runs the same actors under simulation. */
#include "diurnal/sim.h"
#include "diurnal/supervisor.h"

#include <stdio.h>
#include <string.h>

enum {
    COUNTER_ADD = 1, /* call: add -> COUNTER_SUM */
    COUNTER_SUM,     /* reply: sum */
    CLIENT_NEXT,     /* timer */
};

typedef struct add {
    uint64_t number; /* 1, 2, 3 …: an add that comes again counts once */
    uint64_t amount;
} add;

typedef struct sum {
    uint64_t number, total;
} sum;

enum { ADDS = 5, AMOUNT = 5, CALL_MS = 2000, AGAIN_MS = 10 };

/* What outlives the actors; in a real program a disk, and whoever was told. */
typedef struct world {
    sum      saved; /* by the counter */
    uint64_t acked; /* the last add the client had an answer to */
    bool     quiet;
} world;

typedef struct setup {
    world *w;
} setup;

/* ---- The counter: knows what is saved, saves before it answers ---- */

typedef struct counter {
    world *w;
    sum    now;
} counter;

static int counter_init(dn_self *self, void *state, const void *config) {
    counter     *c = state;
    const setup *given = config;

    (void)self;
    c->w = given->w;
    c->now = c->w->saved;
    return DN_OK;
}

static int counter_on_add(dn_self *self, void *state, const dn_msg *msg) {
    counter   *c = state;
    const add *a = DN_BODY(add, msg);

    dn_require(a->amount > 0);
    if (a->number > c->now.number) {
        c->now = (sum){.number = a->number, .total = c->now.total + a->amount};
        c->w->saved = c->now;
    }
    if (dn_msg_is_request(msg)) dn_reply(self, msg, COUNTER_SUM, &c->now, sizeof c->now);
    return DN_OK;
}

static const dn_handler counter_handlers[] = {
    {COUNTER_ADD, counter_on_add},
};

static const dn_class counter_class = {
    .name = "counter",
    .state_size = sizeof(counter),
    .init = counter_init,
    .handlers = DN_SLICE(counter_handlers),
};

/* ---- The client: one add at a time, again and again until it is answered ---- */

typedef struct client {
    world *w;
    dn_ref counter;  /* a name: right for every incarnation */
    bool   mistaken; /* its mistake is made */
} client;

static int client_init(dn_self *self, void *state, const void *config) {
    client      *c = state;
    const setup *given = config;

    c->w = given->w;
    c->counter = dn_name(self, "counter");
    (void)dn_timer_after(self, 0, CLIENT_NEXT, 0);
    return DN_OK;
}

static int client_on_next(dn_self *self, void *state, const dn_msg *msg) {
    client   *c = state;
    const add next = {.number = c->w->acked + 1, .amount = AMOUNT};
    int       rc;

    (void)msg;
    if (next.number > ADDS) return DN_STOP;
    if (next.number == 3 && !c->mistaken) {
        const add nothing = {.number = next.number, .amount = 0};
        c->mistaken = true;
        rc = dn_send(self, c->counter, COUNTER_ADD, &nothing, sizeof nothing);
        if (rc < 0) return rc;
    }
    rc = dn_call(self, c->counter, COUNTER_ADD, &next, sizeof next, CALL_MS, NULL);
    /* Full, or between two incarnations: both pass. */
    if (rc < 0) (void)dn_timer_after(self, AGAIN_MS, CLIENT_NEXT, 0);
    return DN_OK;
}

static int client_on_sum(dn_self *self, void *state, const dn_msg *msg) {
    client    *c = state;
    const sum *s = DN_BODY(sum, msg);

    c->w->acked = s->number;
    if (!c->w->quiet) printf("add %d: the total is %d\n", (int)s->number, (int)s->total);
    return client_on_next(self, state, msg);
}

/* Whether it was counted is not known; asked under the same number, it is counted once. */
static int client_on_failed(dn_self *self, void *state, const dn_msg *msg) {
    const client *c = state;

    if (!c->w->quiet)
        printf("add %d: %s; asking again\n", (int)c->w->acked + 1,
               dn_error_text(DN_BODY(dn_call_failed, msg)->status));
    (void)dn_timer_after(self, AGAIN_MS, CLIENT_NEXT, 0);
    return DN_OK;
}

static const dn_handler client_handlers[] = {
    {COUNTER_SUM, client_on_sum},
    {DN_MSG_CALL_FAILED, client_on_failed},
    {CLIENT_NEXT, client_on_next},
};

static const dn_class client_class = {
    .name = "client",
    .state_size = sizeof(client),
    .init = client_init,
    .handlers = DN_SLICE(client_handlers),
};

/* ---- The tree ---- */

static world       the_world;
static const setup the_setup = {.w = &the_world};

static const dn_child_spec children[] = {
    {.name = "counter",
     .actor_class = &counter_class,
     .config = &the_setup,
     .restart = DN_PERMANENT},
    {.name = "client",
     .actor_class = &client_class,
     .config = &the_setup,
     .restart = DN_TRANSIENT,
     .significant = true},
};

static const dn_supervisor_spec tree = {
    .strategy = DN_ONE_FOR_ONE,
    .intensity = 3,
    .period_ms = 5000,
    .auto_shutdown = DN_ANY_SIGNIFICANT,
    .children = DN_SLICE(children),
};

static const dn_spawn_spec root = {
    .actor_class = &dn_supervisor_class, .config = &tree, .name = "tree"};

/* ---- Simulated: whatever happens, nothing acknowledged is lost and nothing counts twice ---- */

enum { SEEDS = 200, LIVES_MAX = 1000 };

static bool promises_hold(const world *w) {
    return w->saved.number >= w->acked && w->saved.total == w->saved.number * AMOUNT;
}

/* One run; what it did is a function of the seed. False: a promise was broken. */
static bool simulate(uint64_t seed, uint64_t *out_hash, dn_sim_counts *out_counts) {
    const dn_sim_config config = {
        .seed = seed,
        .wall_ms = 1700000000000,
        .faults = {.crash_actor_ppm = 20000,
                   .crash_process_ppm = 5000,
                   .delay_ppm = 100000,
                   .delay_ms_max = 50,
                   .double_reply_ppm = 50000},
    };
    dn_sim *sim = NULL;
    bool    kept = true;

    the_world = (world){.quiet = true};
    if (dn_sim_new(&config, &sim) < 0) return false;
    /* However a life ends (a crash of the process, too many restarts), somebody outside starts the next. */
    for (int life = 0; life < LIVES_MAX && kept && the_world.acked < ADDS; life++) {
        if (dn_sim_boot(sim, &root) == DN_OK) (void)dn_sim_run(sim, INT64_MAX);
        kept = promises_hold(&the_world);
    }
    *out_hash = dn_sim_hash(sim);
    *out_counts = *dn_sim_counts_borrow(sim);
    dn_sim_free(sim);
    return kept && the_world.acked == ADDS;
}

static bool is_new(const uint64_t *hashes, uint64_t hash) {
    while (*hashes != 0 && *hashes != hash) hashes++;
    return *hashes == 0;
}

static int simulate_all(void) {
    static uint64_t hashes[SEEDS + 1];
    dn_sim_counts   seen;
    bool            crashed = false, killed = false, late = false, doubled = false;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        uint64_t hash = 0, again = 0;
        bool     good = simulate(seed, &hash, &seen) && simulate(seed, &again, &seen);

        good = good && hash == again && is_new(hashes, hash);
        if (!good) {
            printf("seed %d: a promise was broken\n", (int)seed);
            return 1;
        }
        hashes[seed - 1] = hash;
        crashed |= seen.actor_crashes > 0;
        killed |= seen.process_crashes > 0;
        late |= seen.delays > 0;
        doubled |= seen.doubled_replies > 0;
    }
    printf("%d seeds: each did the same twice, and no two the same\n", SEEDS);
    printf("seen: actors crash %d, the process crashes %d, messages late %d, replies doubled %d\n",
           crashed, killed, late, doubled);
    printf("every add was counted once\n");
    return 0;
}

/* ---- The program ---- */

int main(int argc, char **argv) {
    dn_runtime *runtime = NULL;
    int         rc;

    if (argc > 1 && strcmp(argv[1], "simulate") == 0) return simulate_all();
    rc = dn_runtime_new(NULL, &runtime);
    if (rc == DN_OK) rc = dn_runtime_run(runtime, &root);
    dn_runtime_free(runtime);
    printf("ended: %s\n", dn_error_text(rc));
    return rc == DN_OK ? 0 : 1;
}
