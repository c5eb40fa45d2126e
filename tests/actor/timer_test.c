/* timer_test.c - when a timer fires, and that it does not otherwise; in virtual time, so to the ms. */
#include "stage.h"

enum { TICK = 30 };

#define MS INT64_C(1000000)

static dn_timer_id ids[64];

/* ---- One by one ---- */

typedef struct arming {
    int     slot; /* of ids */
    int64_t at;   /* a delay or an instant, by the act */
} arming;

static int after(dn_self *self, const void *arg) {
    const arming *a = arg;

    ids[a->slot] = dn_timer_after(self, a->at, TICK, (uint64_t)a->slot);
    CHECK(ids[a->slot] != 0);
    return DN_OK;
}
static int at_mono(dn_self *self, const void *arg) {
    const arming *a = arg;

    ids[a->slot] = dn_timer_at_mono(self, a->at, TICK, (uint64_t)a->slot);
    return DN_OK;
}
static int at_wall(dn_self *self, const void *arg) {
    const arming *a = arg;

    ids[a->slot] = dn_timer_at_wall(self, a->at, TICK, (uint64_t)a->slot);
    CHECK(ids[a->slot] != 0);
    return DN_OK;
}
static int cancel(dn_self *self, const void *arg) {
    say("cancel/%d", dn_timer_cancel(self, ids[*(const int *)arg]));
    return DN_OK;
}

#define ARM(slot_, at_) (&(arming){.slot = (slot_), .at = (at_)})

static void begin(void) {
    stage_begins();
    (void)born("a");
}

TEST(a_timer_fires_once_after_its_delay_and_not_a_millisecond_before) {
    begin();
    in("a", after, ARM(1, 10));
    pass_ms(9);
    CHECK_STR(said(), "");
    pass_ms(1);
    CHECK_STR(said(), "a:30=1");
    pass_ms(100000);
    CHECK_STR(said(), "");
}

/* An instant between two milliseconds: how soon after it is the runtime's affair, within one. */
static int64_t instants[400];
static int     instants_fired;

static int on_instant(dn_self *self, void *state, const dn_msg *msg) {
    const int64_t late_ns = dn_mono_ns(self) - instants[*DN_BODY(uint64_t, msg)];

    (void)state;
    CHECK_MSG(late_ns >= 0, "%lld ns too early", (long long)-late_ns);
    CHECK_MSG(late_ns < MS, "%lld ns too late", (long long)late_ns);
    instants_fired++;
    return DN_OK;
}
static const dn_handler instant_rows[] = {{TICK, on_instant}, PROBE_ROWS};
static const dn_class   instant_class = {.name = "instant", .handlers = DN_SLICE(instant_rows)};

static int arm_instants(dn_self *self, const void *arg) {
    uint64_t random = test_seed();

    (void)arg;
    for (uint64_t i = 0; i < 400; i++) {
        /* The first ones crowd into few milliseconds, the later ones are far apart. */
        instants[i] = (int64_t)(test_random(&random) % (uint64_t)((i < 200 ? 3 : 10000) * MS));
        if (i % 2) (void)dn_timer_at_mono(self, instants[i], TICK, i);
        else (void)dn_timer_at_mono(self, instants[i] = instants[i] / MS * MS + 1, TICK, i);
    }
    return DN_OK;
}

TEST(a_timer_for_any_instant_fires_within_a_millisecond_of_it_and_never_early) {
    stage_begins();
    (void)born_of(&instant_class, "a");
    in("a", arm_instants, NULL);
    pass_ms(10001);
    CHECK_INT(instants_fired, 400);
}

TEST(a_timer_with_no_delay_or_in_the_past_fires_at_once_but_not_inside_the_handler) {
    begin();
    pass_ms(1000);
    in("a", after, ARM(1, 0));
    pass_ms(0);
    CHECK_STR(said(), "a:30=1");
    in("a", after, ARM(2, -5));
    in("a", at_mono, ARM(3, 7 * MS));
    in("a", at_mono, ARM(4, INT64_MIN));
    in("a", at_wall, ARM(5, 7));
    in("a", at_wall, ARM(6, INT64_MIN));
    pass_ms(0);
    CHECK_STR(said(), "a:30=2 a:30=3 a:30=4 a:30=5 a:30=6");
}

TEST(a_timer_may_be_set_for_the_end_of_time) {
    begin();
    in("a", after, ARM(1, INT64_MAX));
    in("a", at_mono, ARM(2, INT64_MAX));
    in("a", at_wall, ARM(3, INT64_MAX));
    pass_ms(INT64_C(100) * 365 * 86400 * 1000);
    CHECK_STR(said(), "");
    for (int i = 1; i < 4; i++) in("a", cancel, &i);
    CHECK_STR(said(), "cancel/1 cancel/1 cancel/1");
}

TEST(timers_of_one_millisecond_fire_in_the_order_they_were_armed) {
    begin();
    in("a", after, ARM(3, 20));
    pass_ms(5);
    in("a", after, ARM(1, 15));
    in("a", at_mono, ARM(7, 20 * MS));
    in("a", at_wall, ARM(2, 1700000000020));
    in("a", at_mono, ARM(4, 20 * MS));
    pass_ms(100);
    CHECK_STR(said(), "a:30=3 a:30=1 a:30=7 a:30=2 a:30=4");
}

TEST(a_cancelled_timer_does_not_fire) {
    begin();
    in("a", after, ARM(1, 10));
    in("a", at_wall, ARM(2, 1700000000010));
    in("a", cancel, &(int){1});
    in("a", cancel, &(int){2});
    in("a", cancel, &(int){1});
    in("a", cancel, &(int){2});
    CHECK_STR(said(), "cancel/1 cancel/1 cancel/0 cancel/0");
    pass_ms(100);
    CHECK_STR(said(), "");
}

TEST(cancelling_what_has_fired_says_so_and_does_not_hit_another) {
    begin();
    in("a", after, ARM(1, 10));
    in("a", at_wall, ARM(2, 1700000000010));
    pass_ms(10);
    CHECK_STR(said(), "a:30=1 a:30=2");
    in("a", after, ARM(3, 10));
    in("a", at_wall, ARM(4, 1700000000020));
    in("a", cancel, &(int){1});
    in("a", cancel, &(int){2});
    CHECK_STR(said(), "cancel/0 cancel/0");
    pass_ms(10);
    CHECK_STR(said(), "a:30=3 a:30=4");
}

TEST(nobody_cancels_the_timer_of_another) {
    begin();
    in("a", after, ARM(1, 10));
    in("root", cancel, &(int){1});
    CHECK_STR(said(), "cancel/0");
    pass_ms(10);
    CHECK_STR(said(), "a:30=1");
}

TEST(cancelling_what_never_was_a_timer_is_harmless) {
    static const dn_timer_id none[] = {0,          1,          UINT64_MAX,
                                       1ULL << 32, 1ULL << 63, 1ULL << 63 | 1ULL << 32};

    begin();
    in("a", after, ARM(0, 10));
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        if (none[i] == ids[0]) continue;
        ids[1] = none[i];
        in("a", cancel, &(int){1});
        CHECK_STR(said(), "cancel/0");
    }
    pass_ms(10);
    CHECK_STR(said(), "a:30=0");
}

TEST(timers_go_with_their_actor) {
    begin();
    in("a", after, ARM(1, 10));
    in("a", at_wall, ARM(2, 1700000000010));
    in("a", act_fail, NULL);
    (void)born("a");
    pass_ms(100);
    dn_sim_step_wall(st.sim, 5000);
    settle();
    CHECK_STR(said(), "");
    CHECK_UINT(inspect()->dead_letters, 0);
}

/* ---- The wall clock ---- */

TEST(a_wall_timer_follows_the_clock_forwards) {
    begin();
    in("a", at_wall, ARM(1, 1700000001000));
    in("a", after, ARM(2, 1000));
    dn_sim_step_wall(st.sim, 400);
    pass_ms(599);
    CHECK_STR(said(), "");
    pass_ms(1);
    CHECK_STR(said(), "a:30=1");
    pass_ms(400);
    CHECK_STR(said(), "a:30=2");
}

TEST(a_wall_timer_follows_the_clock_backwards) {
    begin();
    in("a", at_wall, ARM(1, 1700000001000));
    in("a", after, ARM(2, 1000));
    dn_sim_step_wall(st.sim, -400);
    pass_ms(1000);
    CHECK_STR(said(), "a:30=2");
    pass_ms(399);
    CHECK_STR(said(), "");
    pass_ms(1);
    CHECK_STR(said(), "a:30=1");
}

TEST(a_step_past_a_wall_timer_fires_it_at_once_and_only_once) {
    begin();
    in("a", at_wall, ARM(1, 1700000001000));
    dn_sim_step_wall(st.sim, 100000);
    pass_ms(0);
    CHECK_STR(said(), "a:30=1");
    dn_sim_step_wall(st.sim, -200000);
    pass_ms(1000000);
    CHECK_STR(said(), "");
}

TEST(wall_timers_keep_their_order_and_their_ids_over_a_step) {
    begin();
    for (int i = 1; i <= 5; i++) in("a", at_wall, ARM(i, 1700000001000));
    dn_sim_step_wall(st.sim, -50);
    in("a", cancel, &(int){3});
    CHECK_STR(said(), "cancel/1");
    pass_ms(1050);
    CHECK_STR(said(), "a:30=1 a:30=2 a:30=4 a:30=5");
}

static int watch_clock(dn_self *self, const void *arg) {
    (void)arg;
    dn_watch_clock(self);
    return DN_OK;
}

TEST(who_watches_the_clock_is_told_of_each_step_once) {
    begin();
    (void)born("b");
    in("a", watch_clock, NULL);
    in("a", watch_clock, NULL);
    dn_sim_step_wall(st.sim, 250);
    settle();
    dn_sim_step_wall(st.sim, -1000);
    settle();
    CHECK_STR(said(), "a:clock250 a:clock-1000");
    CHECK_INT(told(DN_NOTICE_CLOCK_STEP)->amount, -1000);
    in("a", act_fail, NULL);
    dn_sim_step_wall(st.sim, 1);
    settle();
    in("b", watch_clock, NULL);
    dn_sim_step_wall(st.sim, 2);
    settle();
    CHECK_STR(said(), "b:clock2");
}

static int say_times(dn_self *self, const void *arg) {
    (void)arg;
    say("%lld/%lld/%lld", (long long)dn_now_ms(self), (long long)dn_mono_ns(self),
        (long long)(dn_boot_ns(self) - dn_mono_ns(self)));
    CHECK_INT(dn_read_mono_ns(self), dn_mono_ns(self)); /* simulated handlers take no time */
    CHECK_INT(dn_thread_mono_ns(), dn_mono_ns(self));
    CHECK_INT(dn_thread_now_ms(), dn_now_ms(self));
    return DN_OK;
}

TEST(the_clocks_are_those_of_the_world) {
    begin();
    pass_ms(5);
    dn_sim_step_wall(st.sim, 100);
    in("a", say_times, NULL);
    CHECK_STR(said(), "1700000000105/5000000/0");
    CHECK_INT(dn_sim_wall_ms(st.sim), 1700000000105);
    dn_sim_step_wall(st.sim, -1700000000106);
    in("a", say_times, NULL);
    CHECK_STR(said(), "-1/5000000/0");
}

/* ---- Against a sorted list ----
 * One actor arms and cancels at random; the model is an array of what must fire next. */

enum { MODEL_MAX = 400, ROUNDS = 60000 / TEST_SLOW_FACTOR };

typedef struct modelled {
    int64_t     due_ms; /* on the steady clock; of a wall timer, by its present setting */
    int64_t     wall_ms;
    uint64_t    seq;
    dn_timer_id id;
    bool        armed, is_wall, batched;
} modelled;

static modelled model[MODEL_MAX];
static int      batch[MODEL_MAX]; /* fired together, in the order in which they must come */
static int      batch_len, batch_at, armed_len, fired, cancelled;
static uint64_t model_seq, model_random;

static uint64_t below(uint64_t bound) { return test_random(&model_random) % bound; }

static int by_due(const void *a, const void *b) {
    const modelled *x = &model[*(const int *)a], *y = &model[*(const int *)b];

    if (x->due_ms != y->due_ms) return x->due_ms < y->due_ms ? -1 : 1;
    return x->seq < y->seq ? -1 : 1;
}

static int64_t wall_offset_ms;

static void arm_one(dn_self *self, int slot) {
    modelled     *m = &model[slot];
    const int64_t now_ms = dn_mono_ns(self) / MS;
    const int64_t delay_ms = (int64_t)below(1ULL << below(24)) - (below(8) == 0 ? 1000 : 0);

    m->due_ms = delay_ms > 0 ? now_ms + delay_ms : now_ms;
    m->seq = model_seq++;
    m->armed = true;
    m->is_wall = below(4) == 0;
    armed_len++;
    if (m->is_wall) {
        m->wall_ms = dn_now_ms(self) + delay_ms;
        m->id = dn_timer_at_wall(self, m->wall_ms, TICK, (uint64_t)slot);
    } else if (below(2)) {
        m->id = dn_timer_after(self, delay_ms, TICK, (uint64_t)slot);
    } else {
        m->id = dn_timer_at_mono(self, (now_ms + delay_ms) * MS, TICK, (uint64_t)slot);
    }
}

static void cancel_one(dn_self *self, int slot) {
    modelled *m = &model[slot];

    if (!m->id) return;
    const bool expected = m->armed && !m->batched;
    CHECK_INT(dn_timer_cancel(self, m->id), expected);
    if (!expected) return;
    m->armed = false;
    armed_len--;
    cancelled++;
}

static void begin_batch(int64_t now_ms) {
    batch_len = batch_at = 0;
    for (int i = 0; i < MODEL_MAX; i++) {
        if (!model[i].armed || model[i].due_ms > now_ms) continue;
        batch[batch_len++] = i;
        model[i].batched = true;
    }
    qsort(batch, (size_t)batch_len, sizeof *batch, by_due);
}

static int on_model_tick(dn_self *self, void *state, const dn_msg *msg) {
    const int     slot = (int)*DN_BODY(uint64_t, msg);
    const int64_t now_ms = dn_mono_ns(self) / MS;

    (void)state;
    if (batch_at == batch_len) begin_batch(now_ms);
    CHECK_MSG(batch_at < batch_len, "timer %d fired at %lld, and none was due", slot,
              (long long)now_ms);
    CHECK_MSG(batch[batch_at] == slot, "timer %d fired, and it was %d's turn", slot,
              batch[batch_at]);
    CHECK_INT(model[slot].due_ms, now_ms);
    batch_at++;
    model[slot].armed = model[slot].batched = false;
    armed_len--;
    fired++;
    for (uint64_t left = below(4); left > 0; left--) {
        const int at = (int)below(MODEL_MAX);
        if (model[at].armed) cancel_one(self, at);
        else if (armed_len < MODEL_MAX - 50) arm_one(self, at);
    }
    while (armed_len < 20) {
        const int at = (int)below(MODEL_MAX);
        if (!model[at].armed) arm_one(self, at);
    }
    return DN_OK;
}
static const dn_handler model_rows[] = {{TICK, on_model_tick}, PROBE_ROWS};
static const dn_class   model_class = {
      .name = "model", .handlers = DN_SLICE(model_rows), .mailbox_max = MODEL_MAX};

static int arm_first(dn_self *self, const void *arg) {
    (void)arg;
    for (int i = 0; i < 50; i++) arm_one(self, i);
    return DN_OK;
}

/* As the header says: an instant of the wall clock, wherever that clock is set. */
static void step_model(int64_t ms) {
    const int64_t now_ms = dn_sim_mono_ms(st.sim);

    dn_sim_step_wall(st.sim, ms);
    wall_offset_ms = dn_sim_wall_ms(st.sim) - now_ms;
    for (int i = 0; i < MODEL_MAX; i++) {
        modelled *m = &model[i];
        if (!m->armed || !m->is_wall || m->batched) continue;
        m->due_ms = m->wall_ms - wall_offset_ms > now_ms ? m->wall_ms - wall_offset_ms : now_ms;
    }
}

TEST(timers_agree_with_a_sorted_list_over_a_long_random_run) {
    stage_begins();
    model_random = test_seed();
    (void)born_of(&model_class, "m");
    in("m", arm_first, NULL);
    while (fired < ROUNDS) {
        dn_sim_end end;
        CHECK(dn_sim_step(st.sim, INT64_C(1) << 42, &end));
        /* Between two steps nothing that fired waits, or the model would have to know of it. */
        if (batch_at == batch_len && below(500) == 0) {
            settle();
            if (batch_at == batch_len) step_model((int64_t)below(20000) - 10000);
        }
    }
    CHECK(cancelled > ROUNDS / 10);
}
