/* driver_test.c - what sim.h promises, sentence by sentence, on the smallest actors that show it. */
#include "diurnal/sim.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { MS = 1000000, LOG_MAX = 4096, WALL = 1000000 };

enum { GO = 1, DATA, ASK, ANSWER, ALARM, PASS_ON };

/* A script: what the actors of a test do when something comes. */
typedef struct world {
    dn_sim *sim;
    int (*on)(dn_self *self, uint32_t kind, const dn_msg *msg); /* root */
    int (*child_on)(dn_self *self, uint32_t kind, const dn_msg *msg);
    int (*child_init)(dn_self *self);

    dn_ref   root, child, other;
    uint64_t log[LOG_MAX]; /* values that arrived where the test looks */
    size_t   log_len;
    int      downs, fails, answers;
    int      fail_status, down_reason;
    uint64_t down_after; /* log_len when it came */
    int      made, released;
} world;

static world w;

static void put_down(uint64_t value) {
    CHECK(w.log_len < LOG_MAX);
    w.log[w.log_len++] = value;
}

static uint64_t value_of(const dn_msg *msg) { return *DN_BODY(uint64_t, msg); }

/* ---- Actors ---- */

static int root_on(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    return w.on ? w.on(self, dn_msg_kind(msg), msg) : DN_OK;
}

static int child_on(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    return w.child_on ? w.child_on(self, dn_msg_kind(msg), msg) : DN_OK;
}

static int child_init(dn_self *self, void *state, const void *config) {
    (void)state, (void)config;
    return w.child_init ? w.child_init(self) : DN_OK;
}

static const dn_handler root_handlers[] = {{DN_KIND_ANY, root_on}};
static const dn_handler child_handlers[] = {{DN_KIND_ANY, child_on}};

static const dn_class child_class = {
    .name = "child",
    .init = child_init,
    .handlers = DN_SLICE(child_handlers),
    .mailbox_max = 8,
};

static const dn_class drains_class = {
    .name = "drains",
    .handlers = DN_SLICE(child_handlers),
    .drains = true,
};

static const dn_class roomy_class = {
    .name = "roomy",
    .handlers = DN_SLICE(child_handlers),
    .mailbox_max = 100000,
};

static const dn_class *first_class = &child_class;

static int root_init(dn_self *self, void *state, const void *config) {
    const dn_spawn_spec spec = {.actor_class = first_class, .name = "first", .monitored = true};

    (void)state, (void)config;
    w.root = dn_self_ref(self);
    return dn_spawn(self, &spec, &w.child);
}

static const dn_class root_class = {
    .name = "root",
    .init = root_init,
    .handlers = DN_SLICE(root_handlers),
    .mailbox_max = 100000,
};

static dn_sim *sim_with(uint64_t seed, const dn_sim_faults *faults) {
    const dn_sim_config config = {
        .seed = seed,
        .wall_ms = WALL,
        .faults = faults ? *faults : (dn_sim_faults){0},
    };
    CHECK_INT(dn_sim_new(&config, &w.sim), DN_OK);
    return w.sim;
}

static void boot(void) {
    const dn_spawn_spec root = {.actor_class = &root_class};

    CHECK_INT(dn_sim_boot(w.sim, &root), DN_OK);
}

static void post(dn_ref to, uint32_t kind, uint64_t value) {
    CHECK_INT(dn_post(dn_sim_runtime(w.sim), to, kind, &value, sizeof value), DN_OK);
}

static int log_values(dn_self *self, uint32_t kind, const dn_msg *msg) {
    (void)self;
    if (kind == DATA) put_down(value_of(msg));
    return DN_OK;
}

static int note_downs(dn_self *self, uint32_t kind, const dn_msg *msg) {
    (void)self;
    if (kind != DN_MSG_DOWN) return DN_OK;
    w.downs++;
    w.down_reason = DN_BODY(dn_down, msg)->reason;
    w.down_after = w.log_len;
    return DN_OK;
}

/* ---- The way in and the ways to end ---- */

TEST(what_is_posted_from_outside_arrives) {
    sim_with(test_seed(), NULL);
    boot();
    w.child_on = log_values;
    for (uint64_t i = 0; i < 5; i++) post(w.child, DATA, i);
    CHECK_INT(dn_sim_run(w.sim, 10), DN_SIM_IDLE);
    CHECK_UINT(w.log_len, 5);
    for (uint64_t i = 0; i < 5; i++) CHECK_UINT(w.log[i], i);
    CHECK_UINT(dn_sim_counts_borrow(w.sim)->handled, 5);
    dn_sim_free(w.sim);
}

static int ends_on_go(dn_self *self, uint32_t kind, const dn_msg *msg) {
    (void)self, (void)msg;
    return kind == GO ? DN_STOP : DN_OK;
}

TEST(when_the_root_ends_everything_ends_and_the_reason_is_kept) {
    sim_with(test_seed(), NULL);
    boot();
    w.on = ends_on_go;
    post(w.root, GO, 0);
    CHECK_INT(dn_sim_run(w.sim, 10), DN_SIM_ENDED);
    CHECK_INT(dn_sim_root_reason(w.sim), DN_OK);
    CHECK(!dn_sim_runtime(w.sim));
    boot();
    dn_sim_stop(w.sim);
    CHECK_INT(dn_sim_run(w.sim, 10), DN_SIM_ENDED);
    CHECK_INT(dn_sim_root_reason(w.sim), DN_ESHUTDOWN);
    CHECK_UINT(dn_sim_counts_borrow(w.sim)->boots, 2);
    dn_sim_free(w.sim);
}

static int alarm_at_once(dn_self *self) {
    dn_timer_after(self, 10, ALARM, 10);
    return DN_OK;
}

TEST(a_run_ends_at_its_instant_and_goes_on_from_there) {
    sim_with(test_seed(), NULL);
    w.child_init = alarm_at_once;
    boot();
    CHECK_INT(dn_sim_run(w.sim, 4), DN_SIM_TIME_UP);
    CHECK_INT(dn_sim_mono_ms(w.sim), 4);
    CHECK_INT(dn_sim_wall_ms(w.sim), WALL + 4);
    CHECK_INT(dn_sim_run(w.sim, 9), DN_SIM_TIME_UP);
    CHECK_UINT(dn_sim_counts_borrow(w.sim)->handled, 0);
    CHECK_INT(dn_sim_run(w.sim, INT64_MAX), DN_SIM_IDLE);
    CHECK_UINT(dn_sim_counts_borrow(w.sim)->handled, 1);
    CHECK_INT(dn_sim_mono_ms(w.sim), 10);
    dn_sim_free(w.sim);
}

/* ---- Clocks ---- */

static int logs_alarms(dn_self *self, uint32_t kind, const dn_msg *msg) {
    if (kind == ALARM) put_down(value_of(msg) << 32 | (uint64_t)(dn_mono_ns(self) / MS));
    return DN_OK;
}

static int arms_all_sorts(dn_self *self) {
    dn_timer_after(self, 100, ALARM, 1);
    dn_timer_at_wall(self, WALL + 100, ALARM, 2);
    dn_timer_at_wall(self, WALL + 1000, ALARM, 3);
    return DN_OK;
}

TEST(a_wall_step_moves_wall_timers_and_no_others) {
    sim_with(test_seed(), NULL);
    w.child_init = arms_all_sorts;
    w.child_on = logs_alarms;
    boot();
    CHECK_INT(dn_sim_run(w.sim, 40), DN_SIM_TIME_UP);
    dn_sim_step_wall(w.sim, 50); /* wall is 90 later than at the beginning */
    CHECK_INT(dn_sim_wall_ms(w.sim), WALL + 90);
    CHECK_INT(dn_sim_run(w.sim, 110), DN_SIM_TIME_UP);
    CHECK_UINT(w.log_len, 2);
    CHECK_UINT(w.log[0], 2ULL << 32 | 50);
    CHECK_UINT(w.log[1], 1ULL << 32 | 100);
    dn_sim_step_wall(w.sim, -1000); /* wall: 110 + 50 - 1000 */
    CHECK_INT(dn_sim_run(w.sim, 5000), DN_SIM_IDLE);
    CHECK_UINT(w.log_len, 3);
    CHECK_UINT(w.log[2], 3ULL << 32 | 1950);
    CHECK_UINT(dn_sim_counts_borrow(w.sim)->wall_steps, 2);
    dn_sim_free(w.sim);
}

TEST(clocks_go_on_over_a_crash_and_pass_while_the_process_is_down) {
    sim_with(test_seed(), NULL);
    w.child_init = alarm_at_once;
    w.child_on = logs_alarms;
    boot();
    CHECK_INT(dn_sim_run(w.sim, 7), DN_SIM_TIME_UP);
    dn_sim_step_wall(w.sim, 3);
    dn_sim_crash_process(w.sim);
    CHECK_INT(dn_sim_run(w.sim, 20), DN_SIM_CRASHED);
    dn_sim_pass(w.sim, 100);
    CHECK_INT(dn_sim_mono_ms(w.sim), 107);
    boot();
    CHECK_INT(dn_sim_run(w.sim, 1000), DN_SIM_IDLE);
    CHECK_UINT(w.log_len, 1);
    CHECK_UINT(w.log[0], 10ULL << 32 | 117);
    CHECK_INT(dn_sim_wall_ms(w.sim), WALL + 120);
    dn_sim_free(w.sim);
}

/* ---- Slow turns ---- */

enum { AT_WORK = 100, TURN_MOST = 8 };

static dn_sim_event last_event;
static int64_t      time_passed_ns;

static void adds_up_time(void *context, const dn_sim_event *event) {
    (void)context;
    CHECK(event->mono_ns >= last_event.mono_ns);
    last_event = *event;
    if (event->kind == DN_SIM_TIME) time_passed_ns += event->detail;
}

static int alarm_in_three(dn_self *self) {
    dn_timer_after(self, 3, ALARM, 0);
    return DN_OK;
}
static int goes_on_and_on(dn_self *self, uint32_t kind, const dn_msg *msg) {
    (void)msg;
    put_down(kind);
    return kind == DATA && ++w.answers < AT_WORK ? dn_send(self, w.child, DATA, NULL, 0) : DN_OK;
}

/* An actor that always has one more message to handle, and an alarm in three milliseconds. */
static void slow_run(uint64_t seed, const dn_sim_faults *faults, int64_t until_ms) {
    const dn_sim_config config = {
        .seed = seed, .wall_ms = WALL, .faults = *faults, .on_event = adds_up_time};

    w = (world){.child_on = goes_on_and_on, .child_init = alarm_in_three};
    first_class = &child_class;
    last_event = (dn_sim_event){0};
    time_passed_ns = 0;
    CHECK_INT(dn_sim_new(&config, &w.sim), DN_OK);
    boot();
    post(w.child, DATA, 0);
    CHECK_INT(dn_sim_run(w.sim, until_ms), DN_SIM_IDLE);
    CHECK_UINT(w.log_len, AT_WORK + 1);
}

TEST(without_slow_turns_no_time_passes_while_somebody_is_ready) {
    slow_run(test_seed(), &(dn_sim_faults){0}, 1000);
    CHECK_UINT(dn_sim_counts_borrow(w.sim)->slow_turns, 0);
    CHECK_UINT(w.log[AT_WORK], ALARM);
    CHECK_INT(dn_sim_mono_ms(w.sim), 3);
    dn_sim_free(w.sim);
}

TEST(a_slow_turn_takes_time_is_counted_and_timers_come_due_behind_it) {
    const dn_sim_faults faults = {.slow_turn_ppm = 1000000, .slow_turn_ms_max = 1};
    uint64_t            at = 0;

    slow_run(test_seed(), &faults, 1000);
    const uint64_t turns = dn_sim_counts_borrow(w.sim)->slow_turns;
    CHECK(turns >= AT_WORK / TURN_MOST);
    CHECK(turns <= AT_WORK + 1);
    CHECK_INT(dn_sim_mono_ms(w.sim),
              turns); /* each took its one millisecond, and nothing else any */
    CHECK_INT(time_passed_ns, (int64_t)turns * MS);
    while (w.log[at] != ALARM) at++;
    CHECK(at >= 3); /* three turns went before it, and no more */
    CHECK_MSG(at <= 3 * TURN_MOST + 1, "the alarm came behind %d messages", (int)at);
    dn_sim_free(w.sim);
}

TEST(slow_turns_do_not_take_a_run_beyond_its_instant) {
    const dn_sim_faults faults = {.slow_turn_ppm = 1000000, .slow_turn_ms_max = 4};

    slow_run(test_seed(), &faults, 7);
    CHECK(dn_sim_counts_borrow(w.sim)->slow_turns > 0);
    CHECK(dn_sim_counts_borrow(w.sim)->slow_turns <= 7);
    CHECK(dn_sim_mono_ms(w.sim) <= 7);
    dn_sim_free(w.sim);
}

TEST(the_same_seed_has_the_same_slow_turns) {
    const dn_sim_faults faults = {.slow_turn_ppm = 300000, .slow_turn_ms_max = 9};
    uint64_t            random = test_seed();

    for (int run = 0; run < 20; run++) {
        const uint64_t seed = test_random(&random);
        uint64_t       hashes[2], counts[2];
        int64_t        ends_ms[2];
        for (int i = 0; i < 2; i++) {
            slow_run(seed, &faults, 100000);
            hashes[i] = dn_sim_hash(w.sim);
            counts[i] = dn_sim_counts_borrow(w.sim)->slow_turns;
            ends_ms[i] = dn_sim_mono_ms(w.sim);
            dn_sim_free(w.sim);
        }
        CHECK_UINT(hashes[1], hashes[0]);
        CHECK_UINT(counts[1], counts[0]);
        CHECK_INT(ends_ms[1], ends_ms[0]);
        slow_run(seed, &(dn_sim_faults){0}, 100000);
        CHECK((dn_sim_hash(w.sim) != hashes[0]) == (counts[0] > 0));
        dn_sim_free(w.sim);
    }
}

/* ---- Faults by hand ---- */

TEST(the_nth_message_of_a_named_actor_is_its_last) {
    for (uint64_t nth = 1; nth <= 5; nth++) {
        w = (world){.child_on = log_values, .on = note_downs};
        sim_with(test_seed(), NULL);
        boot();
        dn_sim_crash_actor_at(w.sim, "nobody", 1);
        dn_sim_crash_actor_at(w.sim, "first", nth);
        for (uint64_t i = 1; i <= 5; i++) post(w.child, DATA, i);
        CHECK_INT(dn_sim_run(w.sim, 10), DN_SIM_IDLE);
        CHECK_UINT(w.log_len, nth - 1);
        CHECK_INT(w.downs, 1);
        CHECK_INT(w.down_reason, DN_EFAILED);
        CHECK_UINT(dn_sim_counts_borrow(w.sim)->actor_crashes, 1);
        CHECK_UINT(dn_sim_counts_borrow(w.sim)->dead_letters, 5 - nth); /* seen while it lives */
        dn_sim_free(w.sim);
    }
}

/* ---- A simulation that nobody watches ---- */

static void boot_fifo(bool watched) {
    const dn_sim_config config = {.wall_ms = WALL, .order = DN_SIM_FIFO, .unhashed = !watched};

    CHECK_INT(dn_sim_new(&config, &w.sim), DN_OK);
    boot();
}

/* Messages, children, timers and failures, as a generator of their own says, all of it written down. */
static uint64_t busy;

static int is_busy(dn_self *self, uint32_t kind, const dn_msg *msg) {
    uint64_t value = kind == DN_MSG_DOWN ? 0 : value_of(msg);

    if (kind == DN_MSG_DOWN) w.downs++;
    if (kind != DATA && kind != ALARM) return DN_OK;
    put_down(value << 8 | kind);
    if (value == 0) return DN_OK;
    value--;
    switch (test_random(&busy) % 4) {
    case 0: {
        const dn_spawn_spec spec = {.actor_class = &child_class, .monitored = true, .linked = true};
        dn_ref              born;
        CHECK_INT(dn_spawn(self, &spec, &born), DN_OK);
        CHECK_INT(dn_send(self, born, DATA, &value, sizeof value), DN_OK);
        break;
    }
    case 1: dn_timer_after(self, (int64_t)(test_random(&busy) % 5), ALARM, value); break;
    case 2: CHECK_INT(dn_send(self, w.root, DATA, &value, sizeof value), DN_OK); break;
    default: CHECK_INT(dn_send(self, dn_self_ref(self), DATA, &value, sizeof value), DN_OK);
    }
    return test_random(&busy) % 8 == 0 && !dn_ref_equal(dn_self_ref(self), w.root) ? DN_EFAILED
                                                                                   : DN_OK;
}

TEST(a_simulation_that_nobody_watches_goes_as_one_that_is_watched) {
    size_t seen = 0;

    for (int run = 0; run < 50; run++) {
        world         watched = {0};
        dn_sim_counts counts[2];
        for (int watch = 1; watch >= 0; watch--) {
            w = (world){.on = is_busy, .child_on = is_busy};
            busy = test_seed() + (uint64_t)run;
            boot_fifo(watch);
            for (uint64_t i = 1; i <= 5; i++) post(w.root, DATA, 40 * i);
            (void)dn_sim_run(w.sim, 10000);
            counts[watch] = *dn_sim_counts_borrow(w.sim);
            dn_sim_free(w.sim);
            if (watch) watched = w;
        }
        seen += w.log_len;
        CHECK_UINT(w.log_len, watched.log_len);
        CHECK(memcmp(w.log, watched.log, w.log_len * sizeof *w.log) == 0);
        CHECK_INT(w.downs, watched.downs);
        CHECK_UINT(counts[0].handled, counts[1].handled);
        CHECK_UINT(counts[0].dead_letters, counts[1].dead_letters);
    }
    CHECK(seen > 1000); /* or nothing happened that could differ */
}

static int orders_the_end(dn_self *self, uint32_t kind, const dn_msg *msg) {
    const dn_sim_counts *counts = dn_sim_counts_borrow(w.sim);

    (void)self;
    if (kind != DATA) return DN_OK;
    put_down(value_of(msg));
    CHECK_UINT(counts->handled, w.log_len);
    if (value_of(msg) == 50) dn_sim_crash_process_at(w.sim, counts->steps + 7);
    return DN_OK;
}

TEST(counts_are_those_of_the_present_message_and_a_step_is_found_whoever_watches) {
    for (int watched = 0; watched <= 1; watched++) {
        w = (world){.on = orders_the_end};
        boot_fifo(watched);
        for (uint64_t i = 1; i <= 200; i++) post(w.root, DATA, i);
        CHECK_INT(dn_sim_run(w.sim, 10), DN_SIM_CRASHED);
        CHECK_UINT(w.log_len, 56); /* the seventh behind it is not handled any more */
        dn_sim_free(w.sim);
    }
}

static bool by_name;

static int sends_some(dn_self *self, uint32_t kind, const dn_msg *msg) {
    const dn_ref to = by_name ? dn_name(self, "first") : w.child;

    for (uint64_t left = kind == GO ? value_of(msg) : 0; left > 0; left--)
        CHECK_INT(dn_send(self, to, DATA, &left, sizeof left), DN_OK);
    return DN_OK;
}

static uint64_t steps_of(uint64_t sends) {
    w = (world){.on = sends_some};
    boot_fifo(/* watched= */ false);
    post(w.root, GO, sends);
    CHECK_INT(dn_sim_run(w.sim, 10), DN_SIM_IDLE);
    const uint64_t steps = dn_sim_counts_borrow(w.sim)->steps;
    dn_sim_free(w.sim);
    return steps;
}

TEST(sim_counts_a_step_for_each_send_and_each_handling_by_address_or_name) {
    for (int i = 0; i < 2; i++) {
        by_name = i;
        CHECK_UINT(steps_of(7) - steps_of(2), 10); /* sent, then handled */
    }
}

static int orders_a_crash(dn_self *self, uint32_t kind, const dn_msg *msg) {
    (void)self;
    if (kind != DATA) return DN_OK;
    put_down(value_of(msg));
    if (value_of(msg) == 3) dn_sim_crash_actor_at(w.sim, "first", 2);
    return DN_OK;
}

TEST(a_fault_that_is_ordered_strikes_though_nobody_watches_and_the_turn_goes_on) {
    w = (world){.child_on = orders_a_crash, .on = note_downs};
    boot_fifo(/* watched= */ false);
    for (uint64_t i = 1; i <= 8; i++) post(w.child, DATA, i);
    CHECK_INT(dn_sim_run(w.sim, 10), DN_SIM_IDLE);
    CHECK_UINT(w.log_len, 4); /* the second behind the third is the fifth */
    CHECK_INT(w.downs, 1);
    CHECK_UINT(dn_sim_counts_borrow(w.sim)->actor_crashes, 1);
    dn_sim_free(w.sim);
}

static int delays_the_first(dn_self *self, uint32_t kind, const dn_msg *msg) {
    const dn_sim_faults none = {0}, all = {.delay_ppm = 1000000, .delay_ms_max = 50};
    const uint64_t      first = 1, second = 2;

    (void)msg;
    switch (kind) {
    case PASS_ON: /* behind it there are messages to be used again: without them nothing goes the short way */
        CHECK_INT(dn_send(self, w.child, PASS_ON, NULL, 0), DN_OK);
        return dn_send(self, w.child, PASS_ON, NULL, 0);
    case GO:
        dn_sim_set_faults(w.sim, &all);
        CHECK_INT(dn_send(self, w.child, DATA, &first, sizeof first), DN_OK);
        dn_sim_set_faults(w.sim, &none);
        return dn_send(self, w.child, DATA, &second, sizeof second);
    default: return DN_OK;
    }
}

TEST(what_is_on_the_wire_is_not_overtaken_when_it_gets_calm_again) {
    w = (world){.child_on = log_values, .on = delays_the_first};
    boot_fifo(/* watched= */ false);
    post(w.root, PASS_ON, 0);
    CHECK_INT(dn_sim_run(w.sim, 1), DN_SIM_IDLE);
    post(w.root, GO, 0);
    CHECK_INT(dn_sim_run(w.sim, 1000), DN_SIM_IDLE);
    CHECK_UINT(dn_sim_counts_borrow(w.sim)->delays, 1);
    CHECK_UINT(w.log_len, 2);
    for (uint64_t i = 0; i < 2; i++) CHECK_UINT(w.log[i], i + 1);
    dn_sim_free(w.sim);
}

/* ---- Order on the wire ---- */

enum { SENDERS = 5, EACH = 100 };

static dn_ref   senders[SENDERS];
static int      spawned;
static uint64_t sent_of[SENDERS];

/* Senders send in small lots, so that the clock moves between them. */
static int sends_a_lot(dn_self *self, uint32_t kind, const dn_msg *msg) {
    const uint64_t me = kind == GO || kind == ALARM ? value_of(msg) : 0;

    if (kind != GO && kind != ALARM) return DN_OK;
    for (int i = 0; i < 4 && sent_of[me] < EACH; i++) {
        const uint64_t value = me << 32 | ++sent_of[me];
        CHECK_INT(dn_send(self, w.root, DATA, &value, sizeof value), DN_OK);
    }
    if (sent_of[me] == EACH) return DN_STOP;
    dn_timer_after(self, 3, ALARM, me);
    return DN_OK;
}

static int gets_a_lot(dn_self *self, uint32_t kind, const dn_msg *msg) {
    if (kind == GO) {
        for (spawned = 0; spawned < SENDERS; spawned++) {
            const dn_spawn_spec spec = {
                .actor_class = &child_class, .monitored = true, .tag = (uint64_t)spawned};
            CHECK_INT(dn_spawn(self, &spec, &senders[spawned]), DN_OK);
        }
    } else if (kind == DATA) {
        const uint64_t from = value_of(msg) >> 32;
        CHECK_UINT((uint32_t)value_of(msg), ++w.log[from]);
        CHECK(dn_ref_equal(dn_msg_from(msg), senders[from]));
    } else if (kind == DN_MSG_DOWN) {
        /* Behind everything it sent. */
        CHECK_UINT(w.log[DN_BODY(dn_down, msg)->tag], EACH);
        w.downs++;
    }
    return DN_OK;
}

TEST(what_one_actor_sends_another_arrives_in_order_however_late_it_is) {
    const dn_sim_faults faults = {.delay_ppm = 300000, .delay_ms_max = 20};
    uint64_t            random = test_seed();

    for (int run = 0; run < 20; run++) {
        w = (world){.on = gets_a_lot, .child_on = sends_a_lot};
        memset(sent_of, 0, sizeof sent_of);
        sim_with(test_random(&random), &faults);
        boot();
        post(w.root, GO, 0);
        CHECK_INT(dn_sim_run(w.sim, 1), DN_SIM_IDLE);
        for (uint64_t i = 0; i < SENDERS; i++) post(senders[i], GO, i);
        CHECK_INT(dn_sim_run(w.sim, 100000), DN_SIM_IDLE);
        CHECK_INT(w.downs, SENDERS);
        CHECK(dn_sim_counts_borrow(w.sim)->delays > 50);
        dn_sim_free(w.sim);
    }
}

static int fills_and_stops(dn_self *self, uint32_t kind, const dn_msg *msg) {
    if (kind == GO) {
        for (uint64_t i = 0; i < 10; i++)
            CHECK_INT(dn_send(self, w.child, DATA, &i, sizeof i), DN_OK);
        CHECK_INT(dn_stop(self, w.child), DN_OK);
    }
    return note_downs(self, kind, msg);
}

TEST(a_stop_does_not_overtake_on_the_wire_what_its_receiver_drains) {
    const dn_sim_faults faults = {.delay_ppm = 300000, .delay_ms_max = 20};
    uint64_t            random = test_seed();

    for (int run = 0; run < 20; run++) {
        w = (world){.on = fills_and_stops, .child_on = log_values};
        first_class = &drains_class;
        sim_with(test_random(&random), &faults);
        boot();
        post(w.root, GO, 0);
        CHECK_INT(dn_sim_run(w.sim, 1000), DN_SIM_IDLE);
        CHECK_UINT(w.log_len, 10);
        CHECK_INT(w.downs, 1);
        CHECK_INT(w.down_reason, DN_ESHUTDOWN);
        dn_sim_free(w.sim);
    }
}

/* The child tells the other one something and ends; the root does so when it has heard of that end. */
static int tells_when_the_child_is_down(dn_self *self, uint32_t kind, const dn_msg *msg) {
    static const uint64_t second = 2;

    if (kind == GO) {
        const dn_spawn_spec spec = {.actor_class = &roomy_class};
        CHECK_INT(dn_spawn(self, &spec, &w.other), DN_OK);
        CHECK_INT(dn_send(self, w.child, GO, NULL, 0), DN_OK);
    } else if (kind == DN_MSG_DOWN) {
        CHECK_INT(dn_send(self, w.other, DATA, &second, sizeof second), DN_OK);
    }
    (void)msg;
    return DN_OK;
}

static int tells_and_ends(dn_self *self, uint32_t kind, const dn_msg *msg) {
    static const uint64_t first = 1;

    if (!dn_ref_equal(dn_self_ref(self), w.child)) return log_values(self, kind, msg);
    CHECK_INT(dn_send(self, w.other, DATA, &first, sizeof first), DN_OK);
    return DN_STOP;
}

TEST(what_the_dead_have_sent_arrives_before_what_is_sent_by_who_heard_of_their_end) {
    const dn_sim_faults faults = {.delay_ppm = 500000, .delay_ms_max = 20};
    uint64_t            random = test_seed();

    for (int run = 0; run < 50; run++) {
        w = (world){.on = tells_when_the_child_is_down, .child_on = tells_and_ends};
        first_class = &child_class;
        sim_with(test_random(&random), &faults);
        boot();
        post(w.root, GO, 0);
        CHECK_INT(dn_sim_run(w.sim, 1000), DN_SIM_IDLE);
        CHECK_UINT(w.log_len, 2);
        CHECK_UINT(w.log[0], 1);
        dn_sim_free(w.sim);
    }
}

/* The child sends data to the root, and in between requests of the root's back to the root. */
static int sends_on_in_between(dn_self *self, uint32_t kind, const dn_msg *msg) {
    uint64_t value = 0;

    if (kind != ASK) return DN_OK;
    value = value_of(msg) * 2;
    CHECK_INT(dn_send(self, w.other, DATA, &value, sizeof value), DN_OK);
    CHECK_INT(dn_forward(self, w.other, msg), DN_OK); /* its value is to be seen as the odd one */
    return DN_OK;
}

static int asks_all(dn_self *self, uint32_t kind, const dn_msg *msg) {
    if (kind == GO) {
        const dn_spawn_spec spec = {.actor_class = &roomy_class};
        CHECK_INT(dn_spawn(self, &spec, &w.other), DN_OK);
        for (uint64_t i = 0; i < 6; i++)
            CHECK_INT(dn_call(self, w.child, ASK, &i, sizeof i, 100000, NULL), DN_OK);
    }
    (void)msg;
    return DN_OK;
}

static int child_or_other(dn_self *self, uint32_t kind, const dn_msg *msg) {
    if (dn_ref_equal(dn_self_ref(self), w.child)) return sends_on_in_between(self, kind, msg);
    if (kind == DATA) put_down(value_of(msg));
    if (kind == ASK) put_down(value_of(msg) * 2 + 1);
    return DN_OK;
}

TEST(a_request_sent_on_does_not_overtake_what_its_sender_sent_before) {
    const dn_sim_faults faults = {.delay_ppm = 300000, .delay_ms_max = 20};
    uint64_t            random = test_seed();

    for (int run = 0; run < 50; run++) {
        w = (world){.on = asks_all, .child_on = child_or_other};
        first_class = &child_class;
        sim_with(test_random(&random), &faults);
        boot();
        post(w.root, GO, 0);
        CHECK_INT(dn_sim_run(w.sim, 1000000), DN_SIM_IDLE);
        CHECK_UINT(w.log_len, 12);
        for (uint64_t i = 0; i < 12; i++) CHECK_UINT(w.log[i], i);
        dn_sim_free(w.sim);
    }
}

static int sends_until_full(dn_self *self, uint32_t kind, const dn_msg *msg) {
    (void)msg;
    if (kind != GO) return DN_OK;
    for (uint64_t i = 0;; i++) {
        const int rc = dn_send(self, w.child, DATA, &i, sizeof i);
        if (rc == DN_EFULL) break;
        CHECK_INT(rc, DN_OK);
        w.made++;
    }
    return DN_OK;
}

TEST(the_wire_is_bounded_as_a_way_from_another_loop_is) {
    const dn_sim_faults faults = {.delay_ppm = 500000, .delay_ms_max = 20};
    uint64_t            random = test_seed();

    for (int run = 0; run < 50; run++) {
        w = (world){.on = sends_until_full, .child_on = log_values};
        sim_with(test_random(&random), &faults);
        boot();
        post(w.root, GO, 0);
        CHECK_INT(dn_sim_run(w.sim, 1000), DN_SIM_IDLE);
        CHECK(w.made >= 8);  /* mailbox_max */
        CHECK(w.made <= 16); /* and again from other loops */
        CHECK_UINT(w.log_len, w.made);
        dn_sim_free(w.sim);
    }
}

/* ---- Replies, late and doubled ---- */

static int answers(dn_self *self, uint32_t kind, const dn_msg *msg) {
    if (kind == ASK) dn_reply(self, msg, ANSWER, "x", 1);
    return DN_OK;
}

static int asks_and_counts(dn_self *self, uint32_t kind, const dn_msg *msg) {
    if (kind == GO) CHECK_INT(dn_call(self, w.child, ASK, "", 0, 50, NULL), DN_OK);
    if (kind == ANSWER) w.answers++;
    if (kind == DN_MSG_CALL_FAILED) {
        w.fails++;
        w.fail_status = DN_BODY(dn_call_failed, msg)->status;
        CHECK_UINT(dn_msg_call(msg), DN_BODY(dn_call_failed, msg)->id);
    }
    return DN_OK;
}

TEST(a_doubled_reply_is_handled_once_and_counted_late) {
    const dn_sim_faults faults = {.double_reply_ppm = 1000000, .delay_ms_max = 5};

    w = (world){.on = asks_and_counts, .child_on = answers};
    sim_with(test_seed(), &faults);
    boot();
    post(w.root, GO, 0);
    CHECK_INT(dn_sim_run(w.sim, 1000), DN_SIM_IDLE);
    CHECK_INT(w.answers, 1);
    CHECK_INT(w.fails, 0);
    CHECK_UINT(dn_sim_counts_borrow(w.sim)->doubled_replies, 1);
    CHECK_UINT(dn_sim_counts_borrow(w.sim)->late_replies, 1);
    dn_sim_free(w.sim);
}

enum { LARGE = 5000 };

static int answers_at_length(dn_self *self, uint32_t kind, const dn_msg *msg) {
    unsigned char body[LARGE];

    for (size_t i = 0; i < LARGE; i++) body[i] = (unsigned char)(i * 7 + value_of(msg));
    if (kind == ASK) dn_reply(self, msg, ANSWER, body, sizeof body);
    return DN_OK;
}

/* One call after the other: the twin of each answer comes into the next one, or behind it. */
static int asks_at_length(dn_self *self, uint32_t kind, const dn_msg *msg) {
    const uint64_t number = (uint64_t)w.answers;

    if (kind == ANSWER) {
        const unsigned char *body = dn_msg_body_borrow(msg);
        CHECK_UINT(dn_msg_size(msg), LARGE);
        for (size_t i = 0; i < LARGE; i++) CHECK_UINT(body[i], (unsigned char)(i * 7 + number));
        w.answers++;
    }
    if ((kind == GO || kind == ANSWER) && w.answers < 20) {
        const uint64_t next = (uint64_t)w.answers;
        CHECK_INT(dn_call(self, w.child, ASK, &next, sizeof next, 1000, NULL), DN_OK);
    }
    if (kind == DN_MSG_CALL_FAILED) w.fails++;
    return DN_OK;
}

TEST(a_large_reply_is_doubled_too_and_each_of_the_two_owns_its_body) {
    const dn_sim_faults faults = {
        .double_reply_ppm = 1000000, .delay_ppm = 300000, .delay_ms_max = 5};

    w = (world){.on = asks_at_length, .child_on = answers_at_length};
    sim_with(test_seed(), &faults);
    boot();
    post(w.root, GO, 0);
    CHECK_INT(dn_sim_run(w.sim, 100000), DN_SIM_IDLE);
    CHECK_INT(w.answers, 20);
    CHECK_INT(w.fails, 0);
    CHECK_UINT(dn_sim_counts_borrow(w.sim)->doubled_replies, 20);
    CHECK_UINT(dn_sim_counts_borrow(w.sim)->late_replies, 20);
    dn_sim_free(w.sim);
}

TEST(a_reply_that_is_held_up_beyond_its_deadline_is_dropped_and_counted) {
    uint64_t random = test_seed();
    int      late = 0;

    for (int run = 0; run < 100; run++) {
        const dn_sim_faults faults = {.delay_ppm = 1000000, .delay_ms_max = 60};
        w = (world){.on = asks_and_counts, .child_on = answers};
        sim_with(test_random(&random), &faults);
        boot();
        post(w.root, GO, 0);
        CHECK_INT(dn_sim_run(w.sim, 1000), DN_SIM_IDLE);
        CHECK_INT(w.answers + w.fails, 1);
        if (w.fails) CHECK_INT(w.fail_status, DN_ETIME);
        late += w.fails;
        CHECK_UINT(dn_sim_counts_borrow(w.sim)->late_replies, w.fails);
        dn_sim_free(w.sim);
    }
    CHECK(late > 10);
    CHECK(late < 90);
}

/* ---- The process crashes ---- */

typedef struct thing {
    int released;
} thing;

static int crash_at_release; /* 0: at none */

static void thing_release(void *t) {
    if (w.released + 1 == crash_at_release) dn_sim_crash_process(w.sim);
    CHECK_INT(((thing *)t)->released++, 0);
    w.released++;
    free(t);
}

static thing *thing_new(void) {
    thing *t = calloc(1, sizeof *t);

    CHECK(t);
    w.made++;
    return t;
}

static void send_thing(dn_self *self, dn_ref to) {
    dn_msg *m = dn_msg_new_take(self, DATA, thing_new(), 4096, thing_release);

    if (dn_send_take(self, to, m) < 0) dn_msg_free(self, m);
}

static int init_with_things(dn_self *self) {
    dn_own(self, thing_new(), thing_release);
    send_thing(self, w.root); /* a step inside init, inside a handler */
    (void)dn_msg_new_take(self, DATA, thing_new(), 4096, thing_release); /* held */
    send_thing(self, dn_self_ref(self));
    return DN_OK;
}

/* Every way a message can be lost half way. */
static int works_with_things(dn_self *self, uint32_t kind, const dn_msg *msg) {
    const dn_spawn_spec spec = {.actor_class = &child_class, .linked = true};
    unsigned char       big[200] = {1};
    dn_ref              child;

    if (kind == GO || (kind == DATA && w.made < 60)) {
        if (dn_spawn(self, &spec, &child) == DN_OK) {
            send_thing(self, child);
            (void)!dn_call(self, child, ASK, big, sizeof big, 20, NULL);
            if (kind == DATA) (void)!dn_forward(self, child, msg);
            if (w.made % 3 == 0) (void)!dn_kill(self, child);
        }
    }
    return DN_OK;
}

static int child_with_things(dn_self *self, uint32_t kind, const dn_msg *msg) {
    unsigned char big[300] = {2};

    if (kind == ASK) {
        if (w.made % 2) dn_reply(self, msg, ANSWER, big, sizeof big);
        else (void)dn_msg_keep(self, msg);
    }
    if (kind == DATA && w.made % 5 == 0) dn_fail("enough");
    return DN_OK;
}

TEST(a_process_crash_at_any_step_releases_everything_exactly_once) {
    const dn_sim_faults faults = {
        .delay_ppm = 200000, .delay_ms_max = 9, .double_reply_ppm = 500000};
    uint64_t step = 0, crashes;

    do {
        w = (world){
            .on = works_with_things, .child_on = child_with_things, .child_init = init_with_things};
        first_class = &child_class;
        sim_with(/* seed= */ 7, &faults);
        dn_sim_crash_process_at(w.sim, ++step);
        boot();
        post(w.root, GO, 0);
        const dn_sim_end end = dn_sim_run(w.sim, 1000);
        crashes = dn_sim_counts_borrow(w.sim)->process_crashes;
        CHECK_INT(end, crashes ? DN_SIM_CRASHED : DN_SIM_IDLE);
        if (crashes) CHECK_INT(w.released, w.made);
        dn_sim_free(w.sim);
        CHECK_INT(w.released, w.made);
    } while (crashes);
    CHECK(step > 100);
    CHECK(w.made > 60);
}

static int crashes_here(dn_self *self, uint32_t kind, const dn_msg *msg) {
    (void)self, (void)msg;
    if (kind != DATA) return DN_OK;
    put_down(value_of(msg));
    if (value_of(msg) == 3) {
        dn_sim_crash_process(w.sim);
        CHECK_MSG(false, "the process went on");
    }
    return DN_OK;
}

TEST(the_process_can_be_crashed_from_inside_a_handler) {
    w = (world){.child_on = crashes_here};
    sim_with(test_seed(), NULL);
    boot();
    for (uint64_t i = 1; i <= 5; i++) post(w.child, DATA, i);
    CHECK_INT(dn_sim_run(w.sim, 10), DN_SIM_CRASHED);
    CHECK_UINT(w.log_len, 3);
    boot();
    CHECK_INT(dn_sim_run(w.sim, 10), DN_SIM_IDLE); /* what was in the mailbox is gone */
    CHECK_UINT(w.log_len, 3);
    dn_sim_free(w.sim);
}

static int crashes_in_init(dn_self *self) {
    (void)self;
    w.child_init = NULL;
    dn_sim_crash_process(w.sim);
    return DN_OK;
}

TEST(a_crash_asked_for_while_the_root_starts_comes_with_the_first_step) {
    w = (world){.child_on = log_values, .child_init = crashes_in_init};
    sim_with(test_seed(), NULL);
    boot();
    post(w.child, DATA, 1);
    CHECK_INT(dn_sim_run(w.sim, 10), DN_SIM_CRASHED);
    CHECK_UINT(w.log_len, 0);
    CHECK_UINT(dn_sim_counts_borrow(w.sim)->process_crashes, 1);
    dn_sim_free(w.sim);
}

static void crash_at_an_event(void *context, const dn_sim_event *event) {
    const int *nth = context;

    w.answers++; /* events so far */
    if (w.answers == *nth && event->kind != DN_SIM_CRASH_PROCESS) dn_sim_crash_process(w.sim);
}

TEST(the_process_can_be_crashed_at_any_event) {
    uint64_t crashes;
    int      nth = 0;

    do {
        w = (world){
            .on = works_with_things, .child_on = child_with_things, .child_init = init_with_things};
        nth++;
        const dn_sim_config config = {
            .seed = 7, .on_event = crash_at_an_event, .on_event_context = &nth};
        CHECK_INT(dn_sim_new(&config, &w.sim), DN_OK);
        boot();
        post(w.root, GO, 0);
        (void)dn_sim_run(w.sim, 1000);
        crashes = dn_sim_counts_borrow(w.sim)->process_crashes;
        if (crashes) CHECK_INT(w.released, w.made);
        dn_sim_free(w.sim);
    } while (crashes);
    CHECK(nth > 50);
}

/* A release function is called in the middle of something: an end that has let go of half of what it
 * has to, a message that is in no list any more. */
TEST(the_process_can_be_crashed_from_any_release) {
    uint64_t crashes;
    int      nth = 0;

    do {
        w = (world){
            .on = works_with_things, .child_on = child_with_things, .child_init = init_with_things};
        sim_with(/* seed= */ 7, NULL);
        crash_at_release = ++nth;
        boot();
        post(w.root, GO, 0);
        const dn_sim_end end = dn_sim_run(w.sim, 1000);
        crashes = dn_sim_counts_borrow(w.sim)->process_crashes;
        CHECK_INT(end, crashes ? DN_SIM_CRASHED : DN_SIM_IDLE);
        if (crashes) CHECK_INT(w.released, w.made);
        dn_sim_free(
            w.sim); /* without a crash before, the last releases ask for one here, in vain */
        CHECK_INT(w.released, w.made);
        CHECK(crashes <= 1);
    } while (crashes);
    CHECK(nth > 20);
}

/* The same where it is a step that crashes it: what is released says so, by a message. */
static void thing_release_posts(void *t) {
    if (dn_sim_runtime(w.sim))
        (void)!dn_post(dn_sim_runtime(w.sim), w.root, PASS_ON, &(int){1}, sizeof(int));
    thing_release(t);
}

static int init_in_vain(dn_self *self) {
    for (int i = 0; i < 3; i++) {
        dn_own(self, thing_new(), thing_release_posts);
        dn_msg *m = dn_msg_new_take(self, DATA, thing_new(), 4096, thing_release_posts);
        if (dn_send_take(self, dn_self_ref(self), m) < 0) dn_msg_free(self, m);
        (void)dn_msg_new_take(self, DATA, thing_new(), 4096, thing_release_posts);
    }
    return w.made > 9 ? DN_EIO : DN_OK; /* the first child lives */
}

static int starts_in_vain(dn_self *self, uint32_t kind, const dn_msg *msg) {
    const dn_spawn_spec spec = {.actor_class = &child_class};
    dn_ref              child;

    (void)msg;
    if (kind != GO) return DN_OK;
    CHECK_INT(dn_spawn(self, &spec, &child), DN_EIO);
    CHECK_INT(dn_spawn(self, &spec, &child), DN_EIO);
    return dn_kill(self, w.child);
}

TEST(a_crash_at_a_step_of_a_release_leaves_nothing_half_released) {
    uint64_t step = 0, crashes;

    do {
        w = (world){.on = starts_in_vain, .child_init = init_in_vain};
        first_class = &child_class;
        crash_at_release = 0;
        sim_with(/* seed= */ 7, NULL);
        dn_sim_crash_process_at(w.sim, ++step);
        boot();
        post(w.root, GO, 0);
        const dn_sim_end end = dn_sim_run(w.sim, 1000);
        crashes = dn_sim_counts_borrow(w.sim)->process_crashes;
        CHECK_INT(end, crashes ? DN_SIM_CRASHED : DN_SIM_IDLE);
        if (crashes) CHECK_INT(w.released, w.made);
        dn_sim_free(w.sim);
        CHECK_INT(w.released, w.made);
    } while (crashes);
    CHECK(step > 20);
    CHECK_INT(w.made, 27);
}

/* ---- The log ---- */

static int64_t told[4];

static void hear(void *context, const dn_sim_event *event) {
    (void)context;
    if (event->kind != DN_SIM_NOTE) return;
    CHECK_STR(event->name, "tide");
    told[0] = event->detail;
    told[1] = event->mono_ns;
    told[2] = event->wall_ms;
}

TEST(what_is_not_hashed_is_heard_all_the_same) {
    const dn_sim_config config = {.seed = 1, .wall_ms = -5, .on_event = hear, .unhashed = true};

    CHECK_INT(dn_sim_new(&config, &w.sim), DN_OK);
    const uint64_t hash = dn_sim_hash(w.sim);
    dn_sim_note(w.sim, "tide", 9);
    CHECK_INT(told[0], 9);
    CHECK_UINT(dn_sim_hash(w.sim), hash);
    dn_sim_free(w.sim);
}

TEST(a_note_is_heard_and_is_part_of_the_hash) {
    const dn_sim_config config = {.seed = 1, .wall_ms = -5, .on_event = hear};
    uint64_t            hashes[3];

    for (int i = 0; i < 3; i++) {
        CHECK_INT(dn_sim_new(&config, &w.sim), DN_OK);
        dn_sim_pass(w.sim, 3);
        dn_sim_note(w.sim, "tide", i == 2 ? 8 : 7);
        hashes[i] = dn_sim_hash(w.sim);
        dn_sim_free(w.sim);
    }
    CHECK_INT(told[0], 8);
    CHECK_INT(told[1], 3 * MS);
    CHECK_INT(told[2], -2);
    CHECK_UINT(hashes[1], hashes[0]);
    CHECK(hashes[2] != hashes[0]);
}
