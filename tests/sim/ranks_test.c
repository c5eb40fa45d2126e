/* ranks_test.c - what comes first at one instant: dn_sim_run_before, and the ranks of timers. */
#include "diurnal/sim.h"
#include "test.h"

#include <string.h>

enum { LOG_MAX = 256, SEEDS = 50 };

/* An alarm's kind is FIRST plus its rank. */
enum { GO = 1, ECHO, ASK, FIRST = 10, SECOND, THIRD, LAST };

typedef struct world {
    dn_sim *sim;
    int (*on)(dn_self *self, uint32_t kind, const dn_msg *msg);
    int (*init)(dn_self *self);
    dn_ref      keeper, other;
    dn_timer_id alarm;
    uint32_t    log[LOG_MAX]; /* the kinds that came, in their order */
    size_t      len;
    const char *asked_class; /* by timer_rank, last */
    uint32_t    asked_kind;
} world;

static world w;

static void put_down(uint32_t kind) {
    CHECK(w.len < LOG_MAX);
    w.log[w.len++] = kind;
}

static void logged(const uint32_t *kinds, size_t len) {
    CHECK_UINT(w.len, len);
    for (size_t i = 0; i < len; i++)
        CHECK_MSG(w.log[i] == kinds[i], "at %zu came %u, not %u", i, w.log[i], kinds[i]);
}
#define LOGGED(...)                                                                                \
    logged((const uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

/* ---- Actors: the keeper has the alarms, and says a word to the other at each ---- */

static int keeper_on(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    put_down(dn_msg_kind(msg));
    return w.on ? w.on(self, dn_msg_kind(msg), msg) : DN_OK;
}

static int other_on(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state;
    put_down(dn_msg_kind(msg));
    return DN_OK;
}

static int keeper_init(dn_self *self, void *state, const void *config) {
    (void)state, (void)config;
    return w.init ? w.init(self) : DN_OK;
}

static const dn_handler keeper_handlers[] = {{DN_KIND_ANY, keeper_on}};
static const dn_handler other_handlers[] = {{DN_KIND_ANY, other_on}};
static const dn_class   keeper_class = {
      .name = "keeper", .init = keeper_init, .handlers = DN_SLICE(keeper_handlers)};
static const dn_class other_class = {.name = "other", .handlers = DN_SLICE(other_handlers)};

static int root_init(dn_self *self, void *state, const void *config) {
    const dn_spawn_spec other = {.actor_class = &other_class};
    const dn_spawn_spec keeper = {.actor_class = &keeper_class};

    (void)state, (void)config;
    const int rc = dn_spawn(self, &other, &w.other);
    return rc < 0 ? rc : dn_spawn(self, &keeper, &w.keeper);
}

static const dn_class root_class = {.name = "root", .init = root_init};

static int rank_of_kind(void *context, const char *actor_class_name, uint32_t kind) {
    world *asked = context;

    asked->asked_class = actor_class_name;
    asked->asked_kind = kind;
    return kind >= FIRST && kind <= LAST ? (int)(kind - FIRST) : 0;
}

static void boot(void) {
    const dn_spawn_spec root = {.actor_class = &root_class};

    CHECK_INT(dn_sim_boot(w.sim, &root), DN_OK);
}

static void begin(uint64_t seed, bool ranked) {
    const dn_sim_config config = {
        .seed = seed,
        .timer_rank = ranked ? rank_of_kind : NULL,
        .timer_rank_context = &w,
    };
    CHECK_INT(dn_sim_new(&config, &w.sim), DN_OK);
    boot();
}

static void post(dn_ref to, uint32_t kind) {
    CHECK_INT(dn_post(dn_sim_runtime(w.sim), to, kind, NULL, 0), DN_OK);
}

/* Against the order of the ranks, and three to a rank. */
static int arms_last_first(dn_self *self) {
    for (uint32_t i = 0; i < 12; i++) dn_timer_after(self, 10, LAST - i % 4, i);
    return DN_OK;
}

static int echoes(dn_self *self, uint32_t kind, const dn_msg *msg) {
    (void)msg;
    return kind >= FIRST && kind <= LAST ? dn_send(self, w.other, ECHO, NULL, 0) : DN_OK;
}

/* ---- Before an instant ---- */

static int arms_nine_and_ten(dn_self *self) {
    dn_timer_after(self, 9, FIRST, 0);
    dn_timer_after(self, 10, SECOND, 0);
    return DN_OK;
}

TEST(to_settle_is_to_handle_what_was_sent_and_to_let_no_timer_fire) {
    for (uint64_t seed = test_seed(), i = 0; i < SEEDS; i++) {
        w = (world){.on = echoes, .init = arms_nine_and_ten};
        begin(seed + i, /* ranked= */ i % 2);
        CHECK_INT(dn_sim_run_before(w.sim, 9), DN_SIM_TIME_UP);
        post(w.other, GO);
        CHECK_INT(dn_sim_settle(w.sim), DN_SIM_TIME_UP);
        CHECK_INT(dn_sim_mono_ms(w.sim), 9);
        LOGGED(GO);
        CHECK_INT(dn_sim_run(w.sim, 10), DN_SIM_IDLE);
        LOGGED(GO, FIRST, ECHO, SECOND, ECHO);
        CHECK_INT(dn_sim_settle(w.sim), DN_SIM_IDLE);
        dn_sim_free(w.sim);
    }
}

TEST(a_run_before_an_instant_stands_there_and_leaves_that_instant_to_come) {
    for (uint64_t seed = test_seed(), i = 0; i < SEEDS; i++) {
        w = (world){.on = echoes, .init = arms_nine_and_ten};
        begin(seed + i, /* ranked= */ i % 2);
        CHECK_INT(dn_sim_run_before(w.sim, 10), DN_SIM_TIME_UP);
        CHECK_INT(dn_sim_mono_ms(w.sim), 10);
        LOGGED(FIRST, ECHO);
        post(w.other, GO);
        CHECK_INT(dn_sim_run_before(w.sim, 10), DN_SIM_TIME_UP);
        CHECK_INT(dn_sim_run_before(w.sim, 4), DN_SIM_TIME_UP);
        CHECK_INT(dn_sim_mono_ms(w.sim), 10);
        LOGGED(FIRST, ECHO); /* that one belongs to the instant */
        CHECK_INT(dn_sim_run(w.sim, 10), DN_SIM_IDLE);
        LOGGED(FIRST, ECHO, GO, SECOND, ECHO);
        dn_sim_free(w.sim);
    }
}

TEST(a_run_before_an_instant_stands_there_also_when_there_is_nothing_to_wait_for) {
    w = (world){0};
    begin(test_seed(), /* ranked= */ false);
    CHECK_INT(dn_sim_run_before(w.sim, 50), DN_SIM_IDLE);
    CHECK_INT(dn_sim_mono_ms(w.sim), 50);
    dn_sim_crash_process(w.sim);
    CHECK_INT(dn_sim_run_before(w.sim, 60), DN_SIM_CRASHED);
    CHECK_INT(dn_sim_run_before(w.sim, 50), DN_SIM_CRASHED);
    CHECK_INT(dn_sim_mono_ms(w.sim), 50);
    dn_sim_free(w.sim);
}

static int always_one_more(dn_self *self, uint32_t kind, const dn_msg *msg) {
    (void)msg;
    return kind == GO && w.len < 100 ? dn_send(self, dn_self_ref(self), GO, NULL, 0) : DN_OK;
}

TEST(slow_turns_do_not_take_a_run_into_the_instant_it_ends_before) {
    const dn_sim_faults slow = {.slow_turn_ppm = 1000000, .slow_turn_ms_max = 3};

    w = (world){.on = always_one_more, .init = arms_nine_and_ten};
    begin(test_seed(), /* ranked= */ false);
    dn_sim_set_faults(w.sim, &slow);
    post(w.keeper, GO);
    CHECK_INT(dn_sim_run_before(w.sim, 10), DN_SIM_TIME_UP);
    CHECK_INT(dn_sim_mono_ms(w.sim), 10);
    for (size_t i = 0; i < w.len; i++) CHECK(w.log[i] != SECOND);
    CHECK(dn_sim_counts_borrow(w.sim)->slow_turns > 0);
    dn_sim_free(w.sim);
}

/* ---- Ranks ---- */

TEST(at_one_instant_timers_come_by_rank_and_each_rank_has_its_consequences_first) {
    for (uint64_t seed = test_seed(), i = 0; i < SEEDS; i++) {
        w = (world){.on = echoes, .init = arms_last_first};
        begin(seed + i, /* ranked= */ true);
        CHECK_INT(dn_sim_run(w.sim, 10), DN_SIM_IDLE);
        CHECK_UINT(w.len, 24);
        for (size_t at = 0; at < 24; at++) {
            const uint32_t rank = (uint32_t)at / 6;
            CHECK(w.log[at] == FIRST + rank || w.log[at] == ECHO);
        }
        dn_sim_free(w.sim);
    }
}

TEST(without_ranks_timers_come_in_the_order_they_were_armed) {
    w = (world){.init = arms_last_first};
    begin(test_seed(), /* ranked= */ false);
    CHECK_INT(dn_sim_run(w.sim, 10), DN_SIM_IDLE);
    LOGGED(LAST, THIRD, SECOND, FIRST, LAST, THIRD, SECOND, FIRST, LAST, THIRD, SECOND, FIRST);
    dn_sim_free(w.sim);
}

static int values_in_order(dn_self *self, uint32_t kind, const dn_msg *msg) {
    static uint64_t last;

    (void)self;
    const uint64_t value = *DN_BODY(uint64_t, msg);
    if (w.len > 1 && kind == w.log[w.len - 2]) CHECK(value > last);
    last = value;
    return DN_OK;
}

TEST(within_a_rank_timers_come_in_the_order_they_were_armed) {
    w = (world){.on = values_in_order, .init = arms_last_first};
    begin(test_seed(), /* ranked= */ true);
    CHECK_INT(dn_sim_run(w.sim, 10), DN_SIM_IDLE);
    LOGGED(FIRST, FIRST, FIRST, SECOND, SECOND, SECOND, THIRD, THIRD, THIRD, LAST, LAST, LAST);
    dn_sim_free(w.sim);
}

static int third_arms_more(dn_self *self, uint32_t kind, const dn_msg *msg) {
    (void)msg;
    if (kind != THIRD || w.len != 2) return DN_OK;
    dn_timer_after(self, 0, LAST, 0);
    dn_timer_after(self, 0, THIRD, 0);
    dn_timer_after(self, 0, FIRST, 0);
    return DN_OK;
}

static int arms_second_to_last(dn_self *self) {
    dn_timer_after(self, 10, LAST, 0);
    dn_timer_after(self, 10, SECOND, 0);
    dn_timer_after(self, 10, THIRD, 0);
    return DN_OK;
}

TEST(what_comes_due_meanwhile_joins_by_its_rank) {
    w = (world){.on = third_arms_more, .init = arms_second_to_last};
    begin(test_seed(), /* ranked= */ true);
    CHECK_INT(dn_sim_run(w.sim, 10), DN_SIM_IDLE);
    LOGGED(SECOND, THIRD, FIRST, THIRD, LAST, LAST);
    CHECK_INT(dn_sim_mono_ms(w.sim), 10);
    dn_sim_free(w.sim);
}

static int arms_a_last_to_cancel(dn_self *self) {
    dn_timer_after(self, 10, FIRST, 0);
    dn_timer_after(self, 10, LAST, 0);
    w.alarm = dn_timer_after(self, 10, LAST, 0);
    dn_timer_after(self, 10, LAST, 0);
    return DN_OK;
}

static int cancels_at_first(dn_self *self, uint32_t kind, const dn_msg *msg) {
    (void)msg;
    if (kind != FIRST) return DN_OK;
    CHECK(dn_timer_cancel(self, w.alarm));
    CHECK(!dn_timer_cancel(self, w.alarm));
    return DN_OK;
}

TEST(a_timer_whose_rank_has_not_come_can_be_cancelled) {
    w = (world){.on = cancels_at_first, .init = arms_a_last_to_cancel};
    begin(test_seed(), /* ranked= */ true);
    CHECK_INT(dn_sim_run(w.sim, 10), DN_SIM_IDLE);
    LOGGED(FIRST, LAST, LAST);
    dn_sim_free(w.sim);
}

static int ends_at_first(dn_self *self, uint32_t kind, const dn_msg *msg) {
    (void)self, (void)msg;
    return kind == FIRST ? DN_STOP : DN_OK;
}

TEST(timers_whose_rank_has_not_come_go_with_their_actor) {
    w = (world){.on = ends_at_first, .init = arms_a_last_to_cancel};
    begin(test_seed(), /* ranked= */ true);
    CHECK_INT(dn_sim_run(w.sim, 10), DN_SIM_IDLE);
    LOGGED(FIRST);
    dn_sim_free(w.sim);
}

static int crashes_at_first(dn_self *self, uint32_t kind, const dn_msg *msg) {
    (void)self, (void)msg;
    if (kind == FIRST && w.len == 1) dn_sim_crash_process(w.sim);
    return DN_OK;
}

TEST(timers_whose_rank_has_not_come_go_with_their_process) {
    w = (world){.on = crashes_at_first, .init = arms_a_last_to_cancel};
    begin(test_seed(), /* ranked= */ true);
    CHECK_INT(dn_sim_run(w.sim, 10), DN_SIM_CRASHED);
    LOGGED(FIRST);
    boot();
    CHECK_INT(dn_sim_run(w.sim, 19), DN_SIM_TIME_UP);
    LOGGED(FIRST);
    CHECK_INT(dn_sim_run(w.sim, 20), DN_SIM_IDLE);
    LOGGED(FIRST, FIRST, LAST, LAST, LAST);
    dn_sim_free(w.sim);
}

static int steps_back_at_first(dn_self *self, uint32_t kind, const dn_msg *msg) {
    (void)self, (void)msg;
    if (kind == FIRST) dn_sim_step_wall(w.sim, -5);
    return DN_OK;
}

static int arms_first_and_wall(dn_self *self) {
    dn_timer_after(self, 10, FIRST, 0);
    dn_timer_at_wall(self, 10, LAST, 0);
    return DN_OK;
}

TEST(a_wall_timer_whose_rank_has_not_come_moves_with_the_wall_clock) {
    w = (world){.on = steps_back_at_first, .init = arms_first_and_wall};
    begin(test_seed(), /* ranked= */ true);
    CHECK_INT(dn_sim_run(w.sim, 14), DN_SIM_TIME_UP);
    LOGGED(FIRST);
    CHECK_INT(dn_sim_run(w.sim, 15), DN_SIM_IDLE);
    LOGGED(FIRST, LAST);
    dn_sim_free(w.sim);
}

static int asks_in_vain(dn_self *self) {
    dn_call_id call;

    /* To itself, who keeps what is asked. */
    return dn_call(self, dn_self_ref(self), ASK, NULL, 0, 10, &call);
}

static int keeps_what_is_asked(dn_self *self, uint32_t kind, const dn_msg *msg) {
    if (kind == ASK) (void)dn_msg_keep(self, msg);
    return DN_OK;
}

TEST(a_rank_is_asked_for_by_class_and_kind_and_a_calls_deadline_has_one_too) {
    w = (world){.init = arms_last_first};
    begin(test_seed(), /* ranked= */ true);
    (void)dn_sim_run(w.sim, 10);
    CHECK_STR(w.asked_class, "keeper");
    CHECK(w.asked_kind >= FIRST && w.asked_kind <= LAST);
    dn_sim_free(w.sim);

    w = (world){.init = asks_in_vain, .on = keeps_what_is_asked};
    begin(test_seed(), /* ranked= */ true);
    CHECK_INT(dn_sim_run(w.sim, 10), DN_SIM_IDLE);
    LOGGED(ASK, DN_MSG_CALL_FAILED);
    CHECK_UINT(w.asked_kind, DN_MSG_CALL_FAILED);
    dn_sim_free(w.sim);
}

TEST(the_same_seed_has_the_same_run_with_ranks_in_it) {
    uint64_t random = test_seed();

    for (int i = 0; i < SEEDS; i++) {
        const uint64_t seed = test_random(&random);
        uint64_t       hashes[2];
        for (int twice = 0; twice < 2; twice++) {
            w = (world){.on = echoes, .init = arms_last_first};
            begin(seed, /* ranked= */ true);
            (void)dn_sim_run(w.sim, 10);
            hashes[twice] = dn_sim_hash(w.sim);
            dn_sim_free(w.sim);
        }
        CHECK_UINT(hashes[1], hashes[0]);
    }
}
