/* order_test.c - whose turn is next, and that a run is the same however it is watched. */
#include "diurnal/sim.h"
#include "test.h"

#include <string.h>

enum { ACTORS = 5, LOG_MAX = 1024, SEEDS = 30 };
enum { GO = 1, WORD, ALARM };

typedef struct world {
    dn_sim *sim;
    dn_ref  who[ACTORS];
    int (*on)(dn_self *self, uint32_t me, const dn_msg *msg);
    uint32_t log[LOG_MAX]; /* who handled something */
    size_t   len;
    uint64_t at_step;
} world;

static world w;

static int actor_init(dn_self *self, void *state, const void *config) {
    (void)self;
    *(uint32_t *)state = *(const uint32_t *)config;
    return DN_OK;
}

static int actor_on(dn_self *self, void *state, const dn_msg *msg) {
    const uint32_t me = *(const uint32_t *)state;

    if (w.len < LOG_MAX) w.log[w.len++] = me;
    return w.on ? w.on(self, me, msg) : DN_OK;
}

static const dn_handler actor_handlers[] = {{DN_KIND_ANY, actor_on}};
static const dn_class   actor_class = {
      .name = "actor",
      .state_size = sizeof(uint32_t),
      .init = actor_init,
      .handlers = DN_SLICE(actor_handlers),
};

static int root_init(dn_self *self, void *state, const void *config) {
    int rc = DN_OK;

    (void)state, (void)config;
    for (uint32_t i = 0; i < ACTORS && rc == DN_OK; i++) {
        const dn_spawn_spec spec = {.actor_class = &actor_class, .config = &i, .monitored = true};
        rc = dn_spawn(self, &spec, &w.who[i]);
    }
    return rc;
}

static int root_on(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state;
    return dn_msg_kind(msg) == GO ? DN_STOP : DN_OK;
}

static const dn_handler root_handlers[] = {{DN_KIND_ANY, root_on}};
static const dn_class   root_class = {
      .name = "root", .init = root_init, .handlers = DN_SLICE(root_handlers)};

static void begin(const dn_sim_config *config) {
    const dn_spawn_spec root = {.actor_class = &root_class, .name = "root"};

    CHECK_INT(dn_sim_new(config, &w.sim), DN_OK);
    CHECK_INT(dn_sim_boot(w.sim, &root), DN_OK);
}

static void post(dn_ref to, uint32_t kind) {
    CHECK_INT(dn_post(dn_sim_runtime(w.sim), to, kind, NULL, 0), DN_OK);
}

/* ---- First come, first served ---- */

TEST(in_fifo_whoever_is_ready_longest_has_the_next_turn_of_64) {
    const dn_sim_config config = {.seed = test_seed(), .order = DN_SIM_FIFO};

    w = (world){0};
    begin(&config);
    for (uint32_t i = ACTORS; i-- > 0;)
        for (uint32_t n = 0; n < 100; n++) post(w.who[i], WORD);
    CHECK_INT(dn_sim_run(w.sim, 10), DN_SIM_IDLE);
    CHECK_UINT(w.len, ACTORS * 100);
    for (uint32_t n = 0; n < ACTORS * 100; n++) {
        const bool     first = n < ACTORS * 64;
        const uint32_t turn = first ? n / 64 : (n - ACTORS * 64) / 36;
        CHECK_UINT(w.log[n], ACTORS - 1 - turn);
    }
    dn_sim_free(w.sim);
}

TEST(unless_told_otherwise_anybody_may_be_next) {
    uint64_t random = test_seed(), seen = 0;

    for (int i = 0; i < 100; i++) {
        const dn_sim_config config = {.seed = test_random(&random)};
        w = (world){0};
        begin(&config);
        for (uint32_t a = 0; a < ACTORS; a++) post(w.who[a], WORD);
        CHECK_INT(dn_sim_run(w.sim, 10), DN_SIM_IDLE);
        seen |= 1U << w.log[0];
        dn_sim_free(w.sim);
    }
    CHECK_UINT(seen, (1U << ACTORS) - 1);
}

/* ---- The same run, however it is watched ---- */

/* A talk in which anything may happen: words to anybody, alarms, an end now and then. */
static int talks(dn_self *self, uint32_t me, const dn_msg *msg) {
    (void)me, (void)msg;
    if (w.len > 400) return DN_OK;
    if (dn_random(self) % 500 == 0) dn_fail("enough");
    if (dn_random(self) % 400 == 0) return DN_STOP;
    if (dn_random(self) % 3 == 0) dn_timer_after(self, (int64_t)(dn_random(self) % 4), ALARM, 0);
    for (uint64_t n = dn_random(self) % 5; n > 0; n--)
        (void)!dn_send(self, w.who[dn_random(self) % ACTORS], WORD, NULL, 0);
    if (w.at_step && w.len == 200) dn_sim_crash_process_at(w.sim, w.at_step);
    return DN_OK;
}

static void hears(void *context, const dn_sim_event *event) { (void)context, (void)event; }

typedef enum watching { UNWATCHED, WATCHED, STEPPED, THREATENED, UNHASHED, WATCHINGS } watching;

typedef struct ending {
    dn_sim_end    end;
    uint64_t      hash;
    dn_sim_counts counts;
    int64_t       ms;
    world         seen;
} ending;

static ending talk(uint64_t seed, watching how, uint64_t at_step) {
    const dn_sim_config config = {.seed = seed,
                                  .order = DN_SIM_FIFO,
                                  .on_event = how == WATCHED ? hears : NULL,
                                  .unhashed = how == UNHASHED};
    ending              e;

    w = (world){.on = talks, .at_step = at_step};
    begin(&config);
    for (uint32_t a = 0; a < ACTORS; a++) post(w.who[a], WORD);
    if (how == THREATENED) dn_sim_crash_actor_at(w.sim, "root", 1000000);
    if (how == STEPPED)
        while (dn_sim_step(w.sim, 1000, &e.end)) continue;
    else e.end = dn_sim_run(w.sim, 1000);
    e.hash = dn_sim_hash(w.sim);
    e.counts = *dn_sim_counts_borrow(w.sim);
    e.ms = dn_sim_mono_ms(w.sim);
    dn_sim_free(w.sim);
    e.seen = w;
    return e;
}

static void all_are_alike(uint64_t seed, uint64_t at_step) {
    const ending first = talk(seed, UNWATCHED, at_step);

    for (watching how = WATCHED; how < WATCHINGS; how++) {
        ending e = talk(seed, how, at_step);
        if (how == UNHASHED) e.hash = first.hash;
        CHECK_INT(e.end, first.end);
        CHECK_UINT(e.hash, first.hash);
        CHECK_INT(e.ms, first.ms);
        CHECK_UINT(e.counts.steps, first.counts.steps);
        CHECK(memcmp(&e.counts, &first.counts, sizeof e.counts) == 0);
        CHECK_UINT(e.seen.len, first.seen.len);
        CHECK(memcmp(e.seen.log, first.seen.log, sizeof e.seen.log) == 0);
    }
}

TEST(a_run_is_the_same_whether_it_is_watched_stepped_or_threatened) {
    uint64_t random = test_seed();

    for (int i = 0; i < SEEDS; i++) all_are_alike(test_random(&random), 0);
}

TEST(a_crash_ordered_in_the_middle_of_a_turn_comes_at_its_step) {
    uint64_t random = test_seed();

    for (int i = 0; i < SEEDS; i++) {
        const uint64_t seed = test_random(&random);
        const uint64_t steps = talk(seed, UNWATCHED, 0).counts.steps;
        all_are_alike(seed, 1);
        all_are_alike(seed, 1 + test_random(&random) % (steps + 5));
    }
}

static int ends_all(dn_self *self, uint32_t me, const dn_msg *msg) {
    (void)me, (void)msg;
    return dn_send(self, dn_name(self, "root"), GO, NULL, 0);
}

TEST(when_the_root_ends_nobody_has_another_turn) {
    const dn_sim_config config = {.seed = test_seed(), .order = DN_SIM_FIFO};

    w = (world){.on = ends_all};
    begin(&config);
    post(w.who[0], WORD);
    for (uint32_t n = 0; n < 100; n++) post(w.who[1], WORD);
    CHECK_INT(dn_sim_run(w.sim, 10), DN_SIM_ENDED);
    CHECK_UINT(w.len, 1 + 64);
    dn_sim_free(w.sim);
}
