/* loops_test.c - actors on loops of their own: everything one loop promises holds between two. */
#include "cast.h"

#include <stdio.h>

enum { GO = 1, NUMBER, ECHO, ASK, ANSWER, LAST };

/* ---- Spawning ---- */

static pthread_t root_thread;

static int begin_elsewhere(dn_self *self) {
    (void)self;
    CHECK(!pthread_equal(pthread_self(), root_thread));
    return DN_OK;
}
static const role elsewhere = {"elsewhere", begin_elsewhere, NULL};

static int spawn_elsewhere(dn_self *self) {
    root_thread = pthread_self();
    CHECK_INT(cast_as(self, &role_class, &elsewhere, "side", 7), DN_PENDING);
    return DN_OK;
}
static int expect_started(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    CHECK_UINT(dn_msg_kind(msg), DN_MSG_STARTED);
    const dn_started *s = DN_BODY(dn_started, msg);
    CHECK_UINT(s->tag, 7);
    CHECK_INT(s->status, DN_OK);
    CHECK(dn_ref_equal(s->who, dn_whereis(self, named(self, "elsewhere"))));
    CHECK(dn_ref_equal(s->who, dn_whereis(self, s->who)));
    CHECK(dn_ref_is_nobody(dn_whereis(self, (dn_ref){.bits = s->who.bits + (1ULL << 24)})));
    return DN_STOP;
}

TEST(an_actor_spawned_on_another_loop_lives_on_its_thread) {
    CHECK_INT(play(&(role){.begin = spawn_elsewhere, .on = expect_started}), DN_OK);
}

static int begin_and_fail(dn_self *self) {
    (void)self;
    dn_fail_code(DN_EIO, "no");
}
static int begin_and_decline(dn_self *self) {
    (void)self;
    return DN_STOP;
}
static int begin_pending(dn_self *self) {
    return dn_send(self, dn_self_ref(self), GO, NULL, 0) == DN_OK ? DN_PENDING : DN_EFAILED;
}
static int done_on_go(dn_self *self, void *state, const dn_msg *msg) {
    (void)state, (void)msg;
    dn_init_done(self, DN_OK);
    return DN_OK;
}
static int give_up_on_go(dn_self *self, void *state, const dn_msg *msg) {
    (void)state, (void)msg;
    dn_init_done(self, DN_ETIME);
    return DN_OK;
}
static const role crashing = {"crashing", begin_and_fail, NULL};
static const role declining = {"declining", begin_and_decline, NULL};
static const role pending = {"pending", begin_pending, done_on_go};
static const role pending_in_vain = {"in vain", begin_pending, give_up_on_go};
static const role twin = {"elsewhere", NULL, NULL};

static int spawn_all_ways(dn_self *self) {
    root_thread = pthread_self();
    CHECK_INT(cast_as(self, &role_class, &elsewhere, "side", 0), DN_PENDING);
    CHECK_INT(cast_as(self, &role_class, &twin, "side", 1), DN_PENDING);
    CHECK_INT(cast_as(self, &role_class, &crashing, "side", 2), DN_PENDING);
    CHECK_INT(cast_as(self, &role_class, &declining, "side", 3), DN_PENDING);
    CHECK_INT(cast_as(self, &role_class, &pending, "side", 4), DN_PENDING);
    CHECK_INT(cast_as(self, &role_class, &pending_in_vain, "side", 5), DN_PENDING);
    return DN_OK;
}
static int expect_all_ways(dn_self *self, void *state, const dn_msg *msg) {
    static const int  expected[] = {DN_OK, DN_EEXIST, DN_EIO, DN_STOP, DN_OK, DN_ETIME};
    static int        seen;
    static dn_ref     starting[6];
    const dn_started *s = DN_BODY(dn_started, msg);

    (void)self, (void)state;
    if (dn_msg_kind(msg) == DN_MSG_STARTING) {
        CHECK(s->tag == 4 || s->tag == 5);
        CHECK_INT(s->status, DN_PENDING);
        CHECK(!dn_ref_is_nobody(s->who));
        starting[s->tag] = s->who;
        return DN_OK;
    }
    CHECK_INT(s->status, expected[s->tag]);
    CHECK_INT(dn_ref_is_nobody(s->who), s->status != DN_OK);
    if (s->tag >= 4) CHECK(!dn_ref_is_nobody(starting[s->tag])); /* that came first */
    if (s->tag == 4) CHECK(dn_ref_equal(s->who, starting[4]));
    return ++seen == 6 ? DN_STOP : DN_OK;
}

TEST(a_start_on_another_loop_tells_how_it_went) {
    CHECK_INT(play(&(role){.begin = spawn_all_ways, .on = expect_all_ways}), DN_OK);
}

/* ---- Watched from the start, on another loop ---- */

static int begin_and_soon_end(dn_self *self) {
    return dn_send(self, dn_self_ref(self), GO, NULL, 0);
}
static int end_on_go(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state;
    return dn_msg_kind(msg) == GO ? DN_STOP : DN_OK;
}
static int begin_pending_for_ever(dn_self *self) {
    (void)self;
    return DN_PENDING;
}
static const role soon_over = {"soon over", begin_and_soon_end, end_on_go};
static const role never_up = {"never up", begin_pending_for_ever, NULL};

static void cast_watched(dn_self *self, const role *r, uint64_t tag) {
    const dn_spawn_spec spec = {.actor_class = &role_class,
                                .config = r,
                                .name = r->name,
                                .loop = "side",
                                .tag = tag,
                                .monitored = true};

    CHECK_INT(dn_spawn(self, &spec, NULL), DN_PENDING);
}

/* What is heard of each tag, in order: s starting, u up, f failed, d down. */
static char   story[5][8];
static size_t story_len;

static void story_add(uint64_t tag, char what) {
    const size_t len = strlen(story[tag]);

    CHECK(len + 1 < sizeof story[tag]);
    story[tag][len] = what;
    story_len++;
}

static int watch_five(dn_self *self) {
    cast_watched(self, &soon_over, 0);
    cast_watched(self, &declining, 1);
    cast_watched(self, &pending, 2);
    cast_watched(self, &pending_in_vain, 3);
    cast_watched(self, &never_up, 4);
    return DN_OK;
}

static int hear_of_five(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    if (dn_msg_kind(msg) == DN_MSG_DOWN) {
        const dn_down *d = DN_BODY(dn_down, msg);
        story_add(d->tag, 'd');
        CHECK_INT(d->reason, d->tag == 0 ? DN_OK : DN_EKILLED);
    } else {
        const dn_started *s = DN_BODY(dn_started, msg);
        const bool        starting = dn_msg_kind(msg) == DN_MSG_STARTING;
        story_add(s->tag, starting ? 's' : s->status == DN_OK ? 'u' : 'f');
        if ((s->tag == 2 && !starting) || (s->tag == 4 && starting))
            CHECK_INT(dn_kill(self, s->who), DN_OK);
    }
    if (story_len < 10) return DN_OK;
    CHECK_STR(story[0], "ud");
    CHECK_STR(story[1], "f");
    CHECK_STR(story[2], "sud");
    CHECK_STR(story[3], "sf");
    CHECK_STR(story[4], "sf");
    return DN_STOP;
}

TEST(a_spawn_on_another_loop_that_is_to_be_watched_is_from_its_start_to_its_end) {
    CHECK_INT(play(&(role){.begin = watch_five, .on = hear_of_five}), DN_OK);
}

typedef struct copied {
    char words[200];
} copied;

static int copied_init(dn_self *self, void *state, const void *config) {
    const copied *c = config;

    (void)self, (void)state;
    for (int i = 0; i < 199; i++) CHECK_INT(c->words[i], 'w');
    CHECK_STR(dn_self_name(self), "copied-name");
    return DN_OK;
}
static const dn_class copied_class = {.name = "copied", .init = copied_init};

static int spawn_with_copy(dn_self *self) {
    char   name[] = "copied-name";
    copied c;

    memset(&c, 'w', sizeof c);
    const dn_spawn_spec spec = {.actor_class = &copied_class,
                                .config = &c,
                                .config_size = sizeof c,
                                .name = name,
                                .loop = "side"};
    CHECK_INT(dn_spawn(self, &spec, NULL), DN_PENDING);
    memset(&c, 0, sizeof c); /* was copied */
    memset(name, 'x', sizeof name - 1);
    return DN_OK;
}
static int stop_when_started(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state;
    CHECK_INT(DN_BODY(dn_started, msg)->status, DN_OK);
    return DN_STOP;
}

TEST(config_and_name_are_copied_on_their_way_to_another_loop) {
    CHECK_INT(play(&(role){.begin = spawn_with_copy, .on = stop_when_started}), DN_OK);
}

/* ---- Order and bounds ---- */

enum { SENDERS = 2, NUMBERS = 200000 / TEST_SLOW_FACTOR };

static uint64_t next_number[SENDERS], heard[SENDERS];

/* Sends as many as there is room for, and goes on when there is more. */
static int send_numbers(dn_self *self, int which) {
    while (next_number[which] < NUMBERS) {
        const uint64_t body[2] = {(uint64_t)which, next_number[which]};
        const int      rc = dn_send(self, named(self, "sink"), NUMBER, body, sizeof body);
        if (rc == DN_EFULL) {
            CHECK_INT(dn_wait_room(self, named(self, "sink")), DN_OK);
            return DN_OK;
        }
        CHECK_INT(rc, DN_OK);
        next_number[which]++;
    }
    return DN_OK;
}
static int sender_0(dn_self *self, void *state, const dn_msg *msg) {
    (void)state, (void)msg;
    return send_numbers(self, 0);
}
static int sender_1(dn_self *self, void *state, const dn_msg *msg) {
    (void)state, (void)msg;
    return send_numbers(self, 1);
}
static int sink(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    const uint64_t *body = dn_msg_body_sized_borrow(msg, 16);
    CHECK_UINT(body[1], heard[body[0]]++);
    if (heard[0] == NUMBERS && heard[1] == NUMBERS) tell(self, "root", LAST);
    return DN_OK;
}
static const role sink_role = {"sink", NULL, sink};
static const role sender_roles[SENDERS] = {{"sender 0", NULL, sender_0},
                                           {"sender 1", NULL, sender_1}};

static size_t memory_taken;

static int begin_stream(dn_self *self) {
    cast(self, &sink_role, "side");
    return DN_OK;
}
static int direct_stream(dn_self *self, void *state, const dn_msg *msg) {
    static int started, reports;

    (void)state;
    switch (dn_msg_kind(msg)) {
    case DN_MSG_STARTED:
        if (started++ == 0) {
            cast(self, &sender_roles[0], NULL);
            tell(self, "sender 0", GO);
            cast(self, &sender_roles[1], "third");
        } else {
            tell(self, "sender 1", GO);
        }
        return DN_OK;
    case LAST:
        dn_inspect(self, "main", 0);
        dn_inspect(self, "third", 0);
        dn_inspect(self, "side", 0);
        return DN_OK;
    default: {
        const dn_report *r = dn_msg_body_borrow(msg);
        memory_taken += r->memory_bytes;
        CHECK_UINT(r->dead_letters, 0);
        return ++reports == 3 ? DN_STOP : DN_OK;
    }
    }
}

TEST(streams_between_loops_keep_their_order_lose_nothing_and_their_blocks_come_home) {
    CHECK_INT(play(&(role){.begin = begin_stream, .on = direct_stream}), DN_OK);
    CHECK_UINT(heard[0], NUMBERS);
    CHECK_UINT(heard[1], NUMBERS);
    CHECK_MSG(memory_taken < 4 << 20, "%zu bytes of pools: blocks do not come home", memory_taken);
}

/* A loop held by one handler, so that what others send stays where it is. */
static _Atomic(bool) is_held, may_go;

static int hold(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    if (dn_msg_kind(msg) != GO) return DN_OK;
    atomic_store(&is_held, true);
    hold_until(&may_go);
    (void)self;
    return DN_OK;
}
static const role holder = {"holder", NULL, hold};

static int counted;

static int count_number(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state;
    if (dn_msg_kind(msg) == NUMBER) counted++;
    return DN_OK;
}
static const role narrow = {"narrow", NULL, count_number};

static int spawn_held(dn_self *self) {
    CHECK_INT(cast_as(self, &narrow_class, &narrow, "side", 1), DN_PENDING);
    cast(self, &holder, "side");
    return DN_OK;
}
static int fill_the_held(dn_self *self, void *state, const dn_msg *msg) {
    const dn_ref to = named(self, "narrow");
    static int   started;
    dn_call_id   id;

    (void)state;
    if (dn_msg_kind(msg) == DN_MSG_STARTED && ++started == 2) {
        tell(self, "holder", GO);
        hold_until(&is_held);
        for (int i = 0; i < 4; i++) CHECK_INT(dn_send(self, to, NUMBER, NULL, 0), DN_OK);
        CHECK_INT(dn_send(self, to, NUMBER, NULL, 0), DN_EFULL);
        CHECK_INT(dn_call(self, to, NUMBER, NULL, 0, 1000, &id), DN_EFULL);
        CHECK_INT(dn_post(dn_self_runtime(self), to, NUMBER, NULL, 0), DN_EFULL);
        CHECK_INT(dn_wait_room(self, to), DN_OK);
        atomic_store(&may_go, true);
    }
    if (dn_msg_kind(msg) == DN_MSG_ROOM) {
        CHECK(dn_ref_equal(DN_BODY(dn_room, msg)->who, dn_whereis(self, to)));
        for (int i = 0; i < 2; i++) CHECK_INT(dn_send(self, to, NUMBER, NULL, 0), DN_OK);
        return DN_STOP;
    }
    return DN_OK;
}

TEST(a_lane_takes_exactly_as_many_from_another_loop_and_tells_of_room) {
    CHECK_INT(play(&(role){.begin = spawn_held, .on = fill_the_held}), DN_OK);
    CHECK(counted >= 4);
}

static int kill_the_full(dn_self *self, void *state, const dn_msg *msg) {
    const dn_ref to = named(self, "narrow");
    static int   started;

    (void)state;
    if (dn_msg_kind(msg) == DN_MSG_STARTED && ++started == 2) {
        tell(self, "holder", GO);
        hold_until(&is_held);
        while (dn_send(self, to, NUMBER, NULL, 0) == DN_OK) continue;
        CHECK_INT(dn_kill(self, to), DN_OK);
        CHECK_INT(dn_wait_room(self, to), DN_OK);
        atomic_store(&may_go, true);
    }
    if (dn_msg_kind(msg) != DN_MSG_ROOM) return DN_OK;
    CHECK_INT(dn_wait_room(self, to), DN_EDEAD);
    CHECK_INT(dn_send(self, to, NUMBER, NULL, 0), DN_EDEAD);
    return DN_STOP;
}

TEST(room_is_told_when_a_full_actor_of_another_loop_ends) {
    CHECK_INT(play(&(role){.begin = spawn_held, .on = kill_the_full}), DN_OK);
    CHECK_INT(counted, 0);
}

/* The lane for its own loop is another than that for others. */
static int count_go(dn_self *self, void *state, const dn_msg *msg) {
    static int again;

    (void)state;
    if (dn_msg_kind(msg) != GO) return DN_OK;
    if (again++ < 100) {
        /* More than a turn, and long enough for its loop to look at what came from outside before this
         * actor's next one: the lane is then full and its actor ready, but behind this one. */
        for (const int64_t until_ns = real_ns() + 10000; real_ns() < until_ns;) continue;
        tell(self, "neighbour", GO);
        return DN_OK;
    }
    for (int i = 0; i < 4; i++)
        CHECK_INT(dn_send(self, named(self, "narrow"), NUMBER, NULL, 0), DN_OK);
    CHECK_INT(dn_send(self, named(self, "narrow"), NUMBER, NULL, 0), DN_EFULL);
    tell(self, "root", LAST);
    return DN_OK;
}
static const role neighbour = {"neighbour", NULL, count_go};

static int hold_then_tell_neighbour(dn_self *self, void *state, const dn_msg *msg) {
    if (dn_msg_kind(msg) != GO) return DN_OK;
    (void)hold(self, state, msg);
    tell(self, "neighbour", GO); /* it is ready before what came from outside is looked at */
    return DN_OK;
}
static const role holding_neighbour = {"holder", NULL, hold_then_tell_neighbour};

static int spawn_neighbours(dn_self *self) {
    CHECK_INT(cast_as(self, &narrow_class, &narrow, "side", 1), DN_PENDING);
    cast(self, &holding_neighbour, "side");
    cast(self, &neighbour, "side");
    return DN_OK;
}
static int fill_from_outside(dn_self *self, void *state, const dn_msg *msg) {
    static int started;

    (void)state;
    if (dn_msg_kind(msg) == DN_MSG_STARTED && ++started == 3) {
        tell(self, "holder", GO);
        hold_until(&is_held);
        for (int i = 0; i < 4; i++)
            CHECK_INT(dn_send(self, named(self, "narrow"), NUMBER, NULL, 0), DN_OK);
        atomic_store(&may_go, true);
    }
    return dn_msg_kind(msg) == LAST ? DN_STOP : DN_OK;
}

TEST(a_lane_full_from_other_loops_has_room_for_its_own) {
    CHECK_INT(play(&(role){.begin = spawn_neighbours, .on = fill_from_outside}), DN_OK);
}

/* ---- Back and forth: both loops fall asleep and are woken each time ---- */

enum { ROUNDS = 20000 / TEST_SLOW_FACTOR };

static int echo(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    if (dn_msg_is_request(msg)) {
        dn_reply(self, msg, ANSWER, dn_msg_body_borrow(msg), dn_msg_size(msg));
        return DN_OK;
    }
    if (dn_msg_kind(msg) != ECHO) return DN_OK;
    const uint64_t number = number_in(msg);
    return dn_send(self, dn_msg_from(msg), ECHO, &number, 8);
}
static const role echo_role = {"echo", NULL, echo};

static int spawn_echo(dn_self *self) {
    cast(self, &echo_role, "side");
    return DN_OK;
}
static int back_and_forth(dn_self *self, void *state, const dn_msg *msg) {
    const uint64_t number = dn_msg_kind(msg) == DN_MSG_STARTED ? 0 : number_in(msg) + 1;

    (void)state;
    if (number == ROUNDS) return DN_STOP;
    return dn_send(self, named(self, "echo"), ECHO, &number, 8);
}

TEST(a_sleeping_loop_is_woken_by_every_message) {
    CHECK_INT(play(&(role){.begin = spawn_echo, .on = back_and_forth}), DN_OK);
}

static int back_and_forth_by_call(dn_self *self, void *state, const dn_msg *msg) {
    static dn_call_id id;
    const uint64_t    number = dn_msg_kind(msg) == DN_MSG_STARTED ? 0 : number_in(msg) + 1;

    (void)state;
    if (number > 0) CHECK_UINT(dn_msg_call(msg), id);
    if (number == ROUNDS) return DN_STOP;
    return dn_call(self, named(self, "echo"), ASK, &number, 8, 100000, &id);
}

TEST(calls_across_loops_are_answered) {
    CHECK_INT(play(&(role){.begin = spawn_echo, .on = back_and_forth_by_call}), DN_OK);
}

enum { BIG = 5000 };

static int call_large(dn_self *self, void *state, const dn_msg *msg) {
    static int rounds;
    char       body[BIG];

    (void)state;
    if (dn_msg_kind(msg) == ANSWER) {
        CHECK_UINT(dn_msg_size(msg), BIG);
        for (int i = 0; i < BIG; i++) CHECK_INT(((const char *)dn_msg_body_borrow(msg))[i], 'l');
        if (++rounds == 200) return DN_STOP;
    }
    memset(body, 'l', BIG);
    return dn_call(self, named(self, "echo"), ASK, body, BIG, 100000, NULL);
}

TEST(large_bodies_cross_loops_whole_in_both_directions) {
    CHECK_INT(play(&(role){.begin = spawn_echo, .on = call_large}), DN_OK);
}

/* ---- Calls that fail across loops ---- */

static dn_msg *kept;

static int keep_and_wait(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    if (dn_msg_kind(msg) == ASK) kept = dn_msg_keep(self, msg);
    return DN_OK;
}
static int crash_on_ask(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state;
    if (dn_msg_kind(msg) == ASK) dn_fail("asked");
    return DN_OK;
}
static int ignore_ask(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state, (void)msg;
    return DN_OK;
}
static int forward_ask(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    if (dn_msg_kind(msg) == ASK) CHECK_INT(dn_forward(self, named(self, "echo"), msg), DN_OK);
    return DN_OK;
}
static const role keeper = {"keeper", NULL, keep_and_wait};
static const role crasher = {"crasher", NULL, crash_on_ask};
static const role ignorer = {"ignorer", NULL, ignore_ask};
static const role forwarder = {"forwarder", NULL, forward_ask};

static int spawn_servers(dn_self *self) {
    CHECK_INT(cast_as(self, &role_class, &keeper, "side", 0), DN_PENDING);
    CHECK_INT(cast_as(self, &role_class, &crasher, "side", 1), DN_PENDING);
    CHECK_INT(cast_as(self, &role_class, &ignorer, "side", 2), DN_PENDING);
    CHECK_INT(cast_as(self, &role_class, &forwarder, "side", 3), DN_PENDING);
    CHECK_INT(cast_as(self, &role_class, &echo_role, "third", 4), DN_PENDING);
    return DN_OK;
}

static int call_servers(dn_self *self, void *state, const dn_msg *msg) {
    static const char *const names[] = {"keeper", "crasher", "ignorer", "forwarder"};
    static dn_call_id        ids[5];
    static int               started, failed_with[5], ended;

    (void)state;
    switch (dn_msg_kind(msg)) {
    case DN_MSG_STARTED:
        if (++started < 5) return DN_OK;
        for (int i = 0; i < 4; i++)
            CHECK_INT(dn_call(self, named(self, names[i]), ASK, NULL, 0, 100000, &ids[i]), DN_OK);
        CHECK_INT(dn_call(self, named(self, "keeper"), ASK, NULL, 0, 1, &ids[4]), DN_OK);
        return DN_OK;
    case ANSWER:
        CHECK_UINT(dn_msg_call(msg), ids[3]);
        ended++;
        break;
    case DN_MSG_CALL_FAILED:
        for (int i = 0; i < 5; i++)
            if (ids[i] == DN_BODY(dn_call_failed, msg)->id)
                failed_with[i] = DN_BODY(dn_call_failed, msg)->status;
        ended++;
        break;
    default: CHECK_MSG(false, "kind %u", dn_msg_kind(msg));
    }
    if (ended == 4) CHECK_INT(dn_kill(self, named(self, "keeper")), DN_OK);
    if (ended < 5) return DN_OK;
    CHECK_INT(failed_with[0], DN_EDEAD);
    CHECK_INT(failed_with[1], DN_EDEAD);
    CHECK_INT(failed_with[2], DN_EUNANSWERED);
    CHECK_INT(failed_with[4], DN_ETIME);
    return DN_STOP;
}

TEST(calls_across_loops_fail_as_they_do_on_one) {
    CHECK_INT(play(&(role){.begin = spawn_servers, .on = call_servers}), DN_OK);
    CHECK_INT(atomic_load(&crashes_told), 1);
}

/* ---- Watching ----
 * Round after round a target on another loop is watched, unwatched and ended in every order; then an echo
 * from that loop says that everything which was to come has come. */

enum { MOVES = 4, ORDERS = 81 * 3 };

static int         orders_done, watched;
static dn_watch_id watch_ids[MOVES];
static int         standing[MOVES], standing_len;
static bool        expected[MOVES];
static int         told[MOVES], order_now;
static bool        ended_now;

static int end_as_told(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state;
    if (dn_msg_kind(msg) != GO) return DN_OK;
    return number_in(msg) ? DN_EIO : DN_STOP;
}
static const role target = {"target", NULL, end_as_told};

static int spawn_target(dn_self *self) {
    cast(self, &echo_role, "side");
    CHECK_INT(cast_as(self, &role_class, &target, "side", 1), DN_PENDING);
    return DN_OK;
}

static void end_target(dn_self *self) {
    const dn_ref   t = named(self, "target");
    const uint64_t crash = (uint64_t)order_now & 1;
    int            rc;

    if (order_now / 81 == 0) rc = dn_send(self, t, GO, &crash, 8);
    else rc = order_now / 81 == 1 ? dn_kill(self, t) : dn_stop(self, t);
    CHECK(rc == DN_OK || (ended_now && rc == DN_EDEAD));
    ended_now = true;
}

static int play_order(dn_self *self) {
    int moves = order_now % 81;

    watched = standing_len = 0;
    ended_now = false;
    memset(told, 0, sizeof told);
    memset(expected, 0, sizeof expected);
    for (int i = 0; i < MOVES; i++, moves /= 3) {
        switch (moves % 3) {
        case 0:
            watch_ids[standing_len] = dn_monitor(self, named(self, "target"), (uint64_t)watched);
            standing[standing_len++] = watched;
            expected[watched++] = true;
            break;
        case 1:
            if (standing_len == 0) break;
            dn_demonitor(self, watch_ids[--standing_len]);
            expected[standing[standing_len]] = false;
            break;
        default: end_target(self);
        }
    }
    if (!ended_now) end_target(self);
    /* Behind all that on the way there, and behind what it causes on the way back. */
    const uint64_t number = 0;
    return dn_send(self, named(self, "echo"), ECHO, &number, 8);
}

static int direct_orders(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    switch (dn_msg_kind(msg)) {
    case DN_MSG_STARTED:
        if (DN_BODY(dn_started, msg)->tag != 1) return DN_OK;
        CHECK_INT(DN_BODY(dn_started, msg)->status, DN_OK);
        return play_order(self);
    case DN_MSG_DOWN: told[DN_BODY(dn_down, msg)->tag]++; return DN_OK;
    default: break;
    }
    if (number_in(msg) < 3) { /* a turn of the other loop may take a while to end the target */
        const uint64_t again = number_in(msg) + 1;
        return dn_send(self, named(self, "echo"), ECHO, &again, 8);
    }
    for (int i = 0; i < MOVES; i++)
        CHECK_MSG(told[i] == expected[i], "order %d: watch %d was told %d times", order_now, i,
                  told[i]);
    order_now = (order_now + 1) % ORDERS;
    if (++orders_done == ORDERS * (TEST_SLOW_FACTOR > 1 ? 2 : 8)) return DN_STOP;
    CHECK_INT(cast_as(self, &role_class, &target, "side", 1), DN_PENDING);
    return DN_OK;
}

TEST(across_loops_every_order_of_watching_and_ending_tells_each_watch_once) {
    CHECK_INT(play(&(role){.begin = spawn_target, .on = direct_orders}), DN_OK);
}

/* DOWN behind what was sent before, from another loop. */
static int speak_and_go(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    if (dn_msg_kind(msg) != GO) return DN_OK;
    for (uint64_t i = 0; i < 10; i++)
        CHECK_INT(dn_send(self, dn_msg_from(msg), NUMBER, &i, 8), DN_OK);
    return DN_STOP;
}
static const role speaker = {"speaker", NULL, speak_and_go};

static int spawn_speaker(dn_self *self) {
    cast(self, &speaker, "side");
    return DN_OK;
}
static int hear_speaker(dn_self *self, void *state, const dn_msg *msg) {
    static uint64_t words, rounds;

    (void)state;
    switch (dn_msg_kind(msg)) {
    case DN_MSG_STARTED:
        words = 0;
        (void)dn_monitor(self, named(self, "speaker"), 0);
        tell(self, "speaker", GO);
        return DN_OK;
    case NUMBER: CHECK_UINT(number_in(msg), words++); return DN_OK;
    default:
        CHECK_UINT(dn_msg_kind(msg), DN_MSG_DOWN);
        CHECK_UINT(words, 10);
        if (++rounds == 500) return DN_STOP;
        return spawn_speaker(self);
    }
}

TEST(down_from_another_loop_comes_behind_what_was_sent_before) {
    CHECK_INT(play(&(role){.begin = spawn_speaker, .on = hear_speaker}), DN_OK);
}

/* ---- Links ---- */

static int spawn_linked_child(dn_self *self) {
    static const role   child = {"child", NULL, NULL};
    const dn_spawn_spec spec = {.actor_class = &role_class,
                                .config = &child,
                                .name = "child",
                                .loop = "third",
                                .linked = true};

    CHECK_INT(dn_spawn(self, &spec, NULL), DN_PENDING);
    return DN_OK;
}
static int parent_on(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    if (dn_msg_kind(msg) == DN_MSG_STARTED) tell(self, "root", LAST);
    return dn_msg_kind(msg) == GO ? DN_EIO : DN_OK;
}
static const role parent = {"parent", spawn_linked_child, parent_on};

static int spawn_parent(dn_self *self) {
    cast(self, &parent, "side");
    return DN_OK;
}
static int watch_family(dn_self *self, void *state, const dn_msg *msg) {
    static int rounds;

    (void)state;
    switch (dn_msg_kind(msg)) {
    case LAST:
        (void)dn_monitor(self, named(self, "child"), 0);
        if (rounds % 3 == 0) tell(self, "parent", GO);
        else if (rounds % 3 == 1) CHECK_INT(dn_kill(self, named(self, "parent")), DN_OK);
        else CHECK_INT(dn_stop(self, named(self, "parent")), DN_OK);
        return DN_OK;
    case DN_MSG_DOWN:
        CHECK_INT(DN_BODY(dn_down, msg)->reason, DN_EKILLED);
        if (++rounds == 60) return DN_STOP;
        return spawn_parent(self);
    default: return DN_OK;
    }
}

TEST(a_child_on_another_loop_is_killed_with_its_parent) {
    CHECK_INT(play(&(role){.begin = spawn_parent, .on = watch_family}), DN_OK);
}

static int spawn_child_and_end(dn_self *self) {
    (void)spawn_linked_child(self);
    return dn_send(self, dn_self_ref(self), GO, NULL, 0);
}
static const role hasty = {NULL, spawn_child_and_end, end_on_go};

static int spawn_hasty(dn_self *self) {
    cast(self, &echo_role, "third");
    cast(self, &hasty, NULL);
    return DN_OK;
}
/* The loop of the child is asked until it has had one and has none: it must have been killed. */
static int look_for_child(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    if (dn_msg_kind(msg) == DN_MSG_REPORT) {
        const dn_report *r = dn_msg_body_borrow(msg);
        if (r->spawned == 2 && r->actors == 1) return DN_STOP;
    }
    dn_inspect(self, "third", 0);
    return DN_OK;
}

TEST(a_child_whose_parent_ended_before_it_began_is_killed_all_the_same) {
    CHECK_INT(play(&(role){.begin = spawn_hasty, .on = look_for_child}), DN_OK);
}

/* ---- Stress ---- */

enum { STRESSED = 6, STRESS_ROUNDS = 20000 / TEST_SLOW_FACTOR };

static _Atomic(uint64_t) sent_ok, handled_all, replies_all, failures_all, calls_ok;

static int stress_on(dn_self *self, void *state, const dn_msg *msg) {
    static const char *const names[STRESSED] = {"s0", "s1", "s2", "s3", "s4", "s5"};
    char                     large[200] = "";
    dn_call_id               id;

    (void)state;
    switch (dn_msg_kind(msg)) {
    case NUMBER: atomic_fetch_add(&handled_all, 1); return DN_OK;
    case ASK:
        if (dn_random(self) % 4 == 0) return DN_OK;
        dn_reply(self, msg, ANSWER, large, dn_random(self) % 2 ? sizeof large : 8);
        return DN_OK;
    case ANSWER: atomic_fetch_add(&replies_all, 1); return DN_OK;
    case DN_MSG_CALL_FAILED: atomic_fetch_add(&failures_all, 1); return DN_OK;
    case GO: break;
    default: return DN_OK;
    }
    const uint64_t left = number_in(msg);
    for (int i = 0; i < 4; i++) {
        const dn_ref to = named(self, names[dn_random(self) % STRESSED]);
        const size_t size = dn_random(self) % 3 ? 8 : sizeof large;
        if (dn_send(self, to, NUMBER, large, size) == DN_OK) atomic_fetch_add(&sent_ok, 1);
        if (dn_call(self, to, ASK, large, size, 100000, &id) == DN_OK)
            atomic_fetch_add(&calls_ok, 1);
    }
    if (left == 0) {
        tell(self, "root", LAST);
        return DN_OK;
    }
    const uint64_t next = left - 1;
    if (dn_send(self, dn_self_ref(self), GO, &next, 8) != DN_OK)
        (void)dn_timer_after(self, 0, GO, next); /* its own lane is full: timers are exempt */
    return DN_OK;
}

/* In init its own lane is empty yet, however much the others send already. */
static int begin_stressed(dn_self *self) {
    const uint64_t rounds = STRESS_ROUNDS;

    return dn_send(self, dn_self_ref(self), GO, &rounds, 8);
}

static const role stressed[STRESSED] = {
    {"s0", begin_stressed, stress_on}, {"s1", begin_stressed, stress_on},
    {"s2", begin_stressed, stress_on}, {"s3", begin_stressed, stress_on},
    {"s4", begin_stressed, stress_on}, {"s5", begin_stressed, stress_on}};

static int begin_stress(dn_self *self) {
    static const char *const loops[] = {"main", "side", "third"};

    for (int i = 0; i < STRESSED; i++) {
        const dn_spawn_spec spec = {.actor_class = &role_class,
                                    .config = &stressed[i],
                                    .name = stressed[i].name,
                                    .loop = loops[i % 3]};
        const int           rc = dn_spawn(self, &spec, NULL);
        CHECK(rc == DN_OK || rc == DN_PENDING);
    }
    return DN_OK;
}
static int direct_stress(dn_self *self, void *state, const dn_msg *msg) {
    static int done;

    (void)state;
    if (dn_msg_kind(msg) == LAST) done++;
    if (done < STRESSED) return DN_OK;
    /* Every call ends; so asking each loop until all have is no waiting in vain. */
    if (atomic_load(&handled_all) == atomic_load(&sent_ok) &&
        atomic_load(&replies_all) + atomic_load(&failures_all) == atomic_load(&calls_ok))
        return DN_STOP;
    dn_inspect(self, "side", 0);
    return DN_OK;
}

TEST(under_stress_between_three_loops_nothing_is_lost_and_every_call_ends) {
    CHECK_INT(play(&(role){.begin = begin_stress, .on = direct_stress}), DN_OK);
    CHECK_UINT(atomic_load(&handled_all), atomic_load(&sent_ok));
    CHECK(atomic_load(&replies_all) > 0);
    CHECK(atomic_load(&failures_all) > 0);
}
