/* late_test.c - what takes long makes nobody late: whoever is told of it afterwards finds the clock moved on. */
#include "cast.h"

enum { GO = 1, ASK };

/* The steady clock, when what took long was over. */
static _Atomic(int64_t) over_ns;

static void take_long(dn_self *self) {
    for (const int64_t until_ns = dn_read_mono_ns(self) + 2 * 1000000;
         dn_read_mono_ns(self) < until_ns;)
        continue;
    atomic_store(&over_ns, dn_read_mono_ns(self));
}

static int fail_slowly(dn_self *self, void *state, const dn_msg *msg) {
    (void)state, (void)msg;
    take_long(self);
    dn_fail("slowly");
}

static int stop(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state, (void)msg;
    return DN_STOP;
}

static void terminate_slowly(dn_self *self, void *state) {
    (void)state;
    take_long(self);
}

static void release_slowly(void *self) { take_long(self); }

static int own_something(dn_self *self, void *state, const void *config) {
    (void)state, (void)config;
    dn_own(self, self, release_slowly);
    return DN_OK;
}

static int agree_slowly(dn_self *self, void *state) {
    (void)state;
    take_long(self);
    return DN_STOP;
}

static int go_on_slowly(dn_self *self, void *state) {
    (void)state;
    take_long(self);
    return DN_OK;
}

static const dn_class *cls;

static int look_at_the_clock(dn_self *self, void *state, const dn_msg *msg) {
    (void)state, (void)msg;
    CHECK(atomic_load(&over_ns) > 0);
    CHECK_MSG(dn_mono_ns(self) >= atomic_load(&over_ns), "%s: the clock is %lld us behind",
              cls->name, (long long)(atomic_load(&over_ns) - dn_mono_ns(self)) / 1000);
    return DN_STOP;
}

static int answer(dn_self *self, void *state, const dn_msg *msg) {
    (void)look_at_the_clock(self, state, msg);
    dn_reply(self, msg, GO, NULL, 0);
    return DN_STOP;
}

#define CLASS(name_, ...) static const dn_class name_##_class = {.name = #name_, __VA_ARGS__}
static const dn_handler failing_rows[] = {{GO, fail_slowly}};
static const dn_handler stopping_rows[] = {{GO, stop}};
static const dn_handler answering_rows[] = {{ASK, answer}};
CLASS(failing, .handlers = DN_SLICE(failing_rows));
CLASS(terminating, .handlers = DN_SLICE(stopping_rows), .terminate = terminate_slowly);
CLASS(releasing, .handlers = DN_SLICE(stopping_rows), .init = own_something);
CLASS(agreeing, .stopping = agree_slowly);
CLASS(lasting, .handlers = DN_SLICE(answering_rows), .stopping = go_on_slowly);

static dn_ref victim;

static int begin_with_it(dn_self *self) {
    const dn_spawn_spec spec = {.actor_class = cls, .monitored = true};

    CHECK_INT(dn_spawn(self, &spec, &victim), DN_OK);
    if (cls->handlers.len > 0 && cls->handlers.rows[0].kind == GO)
        return dn_send(self, victim, GO, NULL, 0);
    CHECK_INT(dn_stop(self, victim), DN_OK);
    return cls->handlers.len > 0 ? dn_call(self, victim, ASK, NULL, 0, 60000, NULL) : DN_OK;
}

static void is_told_in_time_of(const dn_class *whom) {
    cls = whom;
    atomic_store(&over_ns, 0);
    CHECK_INT(play(&(role){NULL, begin_with_it, look_at_the_clock}), DN_OK);
}

TEST(who_is_told_of_a_slow_failure_is_not_behind) { is_told_in_time_of(&failing_class); }
TEST(who_is_told_of_a_slow_last_act_is_not_behind) { is_told_in_time_of(&terminating_class); }
TEST(who_is_told_of_a_slow_release_is_not_behind) { is_told_in_time_of(&releasing_class); }
TEST(who_is_told_of_a_slow_farewell_is_not_behind) { is_told_in_time_of(&agreeing_class); }
TEST(who_was_slow_to_go_on_is_not_behind_itself) { is_told_in_time_of(&lasting_class); }

/* ---- A slow beginning on another loop ---- */

static _Atomic(bool) it_holds_its_loop, both_are_under_way;

static int begin_slowly(dn_self *self, void *state, const void *config) {
    (void)state, (void)config;
    take_long(self);
    return DN_OK;
}
CLASS(beginning, .init = begin_slowly);

static int wait_and_then_look(dn_self *self, void *state, const dn_msg *msg) {
    if (dn_msg_kind(msg) == GO) {
        atomic_store(&it_holds_its_loop, true);
        hold_until(&both_are_under_way);
    }
    if (dn_msg_kind(msg) != ASK) return DN_OK;
    (void)look_at_the_clock(self, state, msg);
    tell(self, "root", ASK);
    return DN_OK;
}
static const role neighbour = {"neighbour", NULL, wait_and_then_look};

static int cast_neighbour(dn_self *self) {
    cast(self, &neighbour, "side");
    return DN_OK;
}

static int begin_beside_it(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    if (dn_msg_kind(msg) == ASK) return DN_STOP;
    if (dn_msg_kind(msg) != DN_MSG_STARTED || DN_BODY(dn_started, msg)->tag != 0) return DN_OK;
    tell(self, "neighbour", GO);
    hold_until(&it_holds_its_loop); /* so that the next two reach it together */
    CHECK_INT(cast_as(self, cls, &(role){.name = "slow"}, "side", 1), DN_PENDING);
    tell(self, "neighbour", ASK);
    atomic_store(&both_are_under_way, true);
    return DN_OK;
}

TEST(who_comes_behind_a_slow_beginning_on_its_loop_is_not_behind) {
    cls = &beginning_class;
    CHECK_INT(play(&(role){NULL, cast_neighbour, begin_beside_it}), DN_OK);
}
