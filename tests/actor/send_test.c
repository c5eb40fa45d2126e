/* send_test.c - what a send promises: order, bounds, and an answer that can be believed. */
#include "stage.h"

/* ---- Order ---- */

enum { LONG_RUN = 300 };

static uint64_t last_seen[3], last_sent[3];

static int on_numbered(dn_self *self, void *state, const dn_msg *msg) {
    const uint64_t number = *DN_BODY(uint64_t, msg);
    const uint32_t from = dn_msg_kind(msg) - 10;

    (void)self, (void)state;
    CHECK_UINT(number, last_seen[from] + 1);
    last_seen[from] = number;
    return DN_OK;
}
static const dn_handler numbered_handlers[] = {
    {10, on_numbered}, {11, on_numbered}, {12, on_numbered}, PROBE_ROWS};
static const dn_class counting_class = {.name = "counting",
                                        .handlers = DN_SLICE(numbered_handlers)};

/* Sends a few and asks itself to go on, so that senders take turns. */
static int send_numbered(dn_self *self, const void *arg) {
    const uint32_t kind = *(const uint32_t *)arg;
    const order    again = {send_numbered, arg};

    for (int i = 0; i < 7 && last_sent[kind - 10] < LONG_RUN; i++) {
        const uint64_t number = ++last_sent[kind - 10];
        CHECK_INT(dn_send(self, dn_name(self, "r"), kind, &number, 8), DN_OK);
    }
    if (last_sent[kind - 10] == LONG_RUN) return DN_OK;
    return dn_send(self, dn_self_ref(self), DO, &again, sizeof again);
}

TEST(what_one_actor_sends_another_arrives_in_that_order) {
    UNDER_SEEDS(20) {
        memset(last_seen, 0, sizeof last_seen);
        memset(last_sent, 0, sizeof last_sent);
        (void)born_of(&counting_class, "r");
        (void)born("a");
        (void)born("b");
        (void)born("c");
        later_in("a", send_numbered, &(uint32_t){10});
        later_in("b", send_numbered, &(uint32_t){11});
        later_in("c", send_numbered, &(uint32_t){12});
        settle();
        for (int i = 0; i < 3; i++) CHECK_UINT(last_seen[i], LONG_RUN);
    }
}

/* ---- Bounds ---- */

static const dn_class narrow_class = {
    .name = "narrow", .handlers = DN_SLICE(probe_handlers), .mailbox_max = 3};

TEST(a_lane_takes_exactly_as_many_as_its_class_says) {
    stage_begins();
    (void)born_of(&narrow_class, "a");
    in("root", act_send, LETTERS("a", 10, 11, 12, 13, 14));
    CHECK_STR(said(), "send13/full send14/full a:10 a:11 a:12");
    CHECK_UINT(inspect()->full, 2);
    in("root", act_send, LETTERS("a", 15, 16, 17));
    CHECK_STR(said(), "a:15 a:16 a:17");
}

static int fill(dn_self *self, const void *arg) {
    int sent = 0;

    while (dn_send(self, dn_name(self, arg), 10, NULL, 0) == DN_OK) sent++;
    say("%d", sent);
    return DN_OK;
}

static int ignore(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state, (void)msg;
    return DN_OK;
}
static const dn_handler quiet_handlers[] = {{10, ignore}, PROBE_ROWS};
static const dn_class   quiet_class = {.name = "quiet", .handlers = DN_SLICE(quiet_handlers)};

TEST(a_class_that_names_no_bound_has_the_default_one) {
    stage_begins();
    (void)born_of(&quiet_class, "a");
    in("root", fill, "a");
    CHECK_INT(strtol(said(), NULL, 10), DN_MAILBOX_MAX_DEFAULT);
}

static int fill_then_ask(dn_self *self, const void *arg) {
    dn_call_id id;

    (void)fill(self, arg);
    CHECK_INT(dn_call(self, dn_name(self, arg), 10, NULL, 0, 1000, &id), DN_EFULL);
    CHECK_INT(dn_post(dn_self_runtime(self), dn_name(self, arg), 10, NULL, 0), DN_EFULL);
    return DN_OK;
}

TEST(a_full_lane_refuses_calls_and_posts_alike) {
    stage_begins();
    (void)born_of(&narrow_class, "a");
    in("root", fill_then_ask, "a");
    CHECK_STR(said(), "3 a:10 a:10 a:10");
    pass_ms(2000);
    CHECK_STR(said(), "");
}

/* Fills its own lane, with a reply, a timer and a DOWN on their way to it. */
static int on_question(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    dn_reply(self, msg, 20, NULL, 0);
    return DN_STOP;
}
static const dn_handler answering_handlers[] = {{19, on_question}, PROBE_ROWS};
static const dn_class   answering_class = {.name = "answering",
                                           .handlers = DN_SLICE(answering_handlers)};

static int expect_much(dn_self *self, const void *arg) {
    const dn_ref friend = dn_name(self, "friend");
    dn_call_id id;

    (void)arg;
    (void)dn_timer_after(self, 0, 21, 0);
    (void)dn_monitor(self, friend, 3);
    CHECK_INT(dn_call(self, friend, 19, NULL, 0, 1000, &id), DN_OK);
    while (dn_send(self, dn_self_ref(self), DO, &(order){act_find, "x"}, sizeof(order)) == DN_OK)
        continue;
    return DN_OK;
}

TEST(replies_timers_and_downs_come_past_a_full_lane) {
    stage_begins();
    (void)born_of(&answering_class, "friend");
    (void)born_of(&narrow_class, "a");
    in("a", expect_much, NULL);
    pass_ms(1);
    const char *all = said();
    CHECK(strstr(all, "a:20"));
    CHECK(strstr(all, "a:21"));
    CHECK(strstr(all, "a:down3/ok"));
    CHECK(inspect()->exempt >= 3);
}

/* ---- Nobody there ---- */

static void is_released(void *body) { CHECK_MSG(!body, "a body that was not taken is released"); }

static int try_everything(dn_self *self, const void *arg) {
    const dn_ref to = *(const dn_ref *)arg;
    dn_call_id   id = 99;
    char         body[100];

    CHECK_INT(dn_send(self, to, 10, NULL, 0), DN_EDEAD);
    CHECK_INT(dn_call(self, to, 10, NULL, 0, 1000, &id), DN_EDEAD);
    CHECK_UINT(id, 99);
    dn_msg *m = dn_msg_new(self, 10, 8);
    CHECK_INT(dn_send_take(self, to, m), DN_EDEAD);
    dn_msg_free(self, m);
    CHECK_INT(dn_stop(self, to), DN_EDEAD);
    CHECK_INT(dn_kill(self, to), DN_EDEAD);
    CHECK_INT(dn_wait_room(self, to), DN_EDEAD);
    CHECK_INT(dn_post(dn_self_runtime(self), to, 10, NULL, 0), DN_EDEAD);
    CHECK_INT(dn_post_take(dn_self_runtime(self), to, 10, body, sizeof body, is_released),
              DN_EDEAD);
    (void)dn_monitor(self, to, 1);
    return DN_OK;
}

TEST(nobody_at_an_address_is_said_at_once_whatever_is_asked) {
    stage_begins();
    const dn_ref gone = born("a");
    in("root", act_kill, "a");
    const dn_ref unheld = dn_runtime_name(st.runtime, "nobody-yet");
    const dn_ref all[] = {DN_NOBODY,
                          gone,
                          unheld,
                          {UINT64_MAX},
                          {1},
                          {1ULL << 63 | 77777},
                          {1ULL << 63 | UINT32_MAX},
                          {3ULL << 56 | 1ULL << 24},
                          {0x7fULL << 56}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        in("root", try_everything, &all[i]);
        CHECK_STR(said(), "root:down1/dead");
    }
    pass_ms(2000);
    CHECK_STR(said(), "");
}

TEST(an_address_made_of_anything_is_harmless) {
    uint64_t random = test_seed();

    stage_begins();
    (void)born("a");
    for (int i = 0; i < 2000; i++) {
        uint64_t bits = test_random(&random);
        if (i % 2) bits &= 0x80000000000000ffU; /* close to what there is */
        if (dn_ref_equal((dn_ref){bits}, dn_runtime_name(st.runtime, "root")) ||
            dn_ref_equal((dn_ref){bits}, dn_runtime_name(st.runtime, "a")))
            continue;
        in("root", try_everything, &(dn_ref){bits});
        CHECK_STR(said(), "root:down1/dead");
    }
}

TEST(a_send_to_nobody_is_a_dead_letter_and_is_noticed_the_first_few_times_and_then_at_doublings) {
    stage_begins();
    for (int i = 0; i < 40; i++) in("root", act_send, LETTERS("nobody", 10));
    (void)said();
    CHECK_UINT(inspect()->dead_letters, 40);
    static const int64_t noticed[] = {1, 2, 3, 4, 5, 8, 16, 32};
    CHECK_UINT(st.told_len, 8);
    for (int i = 0; i < 8; i++) {
        CHECK_INT(st.told[i].kind, DN_NOTICE_DEAD_LETTERS);
        CHECK_INT(st.told[i].amount, noticed[i]);
        CHECK_UINT(st.told[i].msg_kind, 10);
    }
}

static int send_then_kill(dn_self *self, const void *arg) {
    (void)act_send(self, arg);
    return dn_kill(self, dn_name(self, "a"));
}

TEST(what_waits_in_a_mailbox_when_its_actor_ends_is_counted_as_dead_letters) {
    stage_begins();
    (void)born("a");
    in("root", send_then_kill, LETTERS("a", 10, 11, 12));
    CHECK_STR(said(), "");
    CHECK_UINT(inspect()->dead_letters, 3);
}

/* ---- Names ---- */

TEST(a_name_reaches_whoever_holds_it_when_the_message_is_sent) {
    stage_begins();
    in("root", act_send, LETTERS("a", 10));
    (void)born("a");
    in("root", act_send, LETTERS("a", 11));
    in("root", act_kill, "a");
    in("root", act_send, LETTERS("a", 12));
    (void)born("a");
    in("root", act_send, LETTERS("a", 13));
    CHECK_STR(said(), "send10/dead a:11 send12/dead a:13");
}

static int names_agree(dn_self *self, const void *arg) {
    (void)arg;
    CHECK(dn_ref_equal(dn_name(self, "x"), dn_name(self, "x")));
    CHECK(dn_ref_equal(dn_name(self, "x"), dn_runtime_name(dn_self_runtime(self), "x")));
    CHECK(!dn_ref_equal(dn_name(self, "x"), dn_name(self, "y")));
    CHECK(dn_ref_is_nobody(dn_whereis(self, dn_name(self, "x"))));
    CHECK(dn_ref_equal(dn_whereis(self, dn_name(self, "root")), dn_self_ref(self)));
    CHECK(dn_ref_equal(dn_whereis(self, dn_self_ref(self)), dn_self_ref(self)));
    CHECK_STR(dn_self_name(self), "root");
    return DN_OK;
}

static int where_is(dn_self *self, const void *arg) {
    const dn_ref who = *(const dn_ref *)arg, now = dn_whereis(self, who);

    say(dn_ref_is_nobody(now) ? "nobody" : dn_ref_equal(now, who) ? "there" : "another");
    return DN_OK;
}

TEST(an_address_is_where_it_is_until_its_actor_ends) {
    stage_begins();
    const dn_ref first = born("a"), nowhere = {.bits = UINT64_C(77) << 56};

    in("root", where_is, &first);
    in("root", act_kill, "a");
    in("root", where_is, &first);
    (void)born("a");
    in("root", where_is, &first);
    in("root", where_is, &nowhere);
    CHECK_STR(said(), "there nobody nobody nobody");
}

TEST(a_name_is_one_address_for_all) {
    stage_begins();
    in("root", names_agree, NULL);
}

static int use_bad_name(dn_self *self, const void *arg) {
    (void)dn_name(self, arg);
    say("went on");
    return DN_OK;
}

TEST(a_name_that_cannot_be_one_fails_the_actor_that_uses_it) {
    static char too_long[DN_NAME_MAX + 2];

    stage_begins();
    memset(too_long, 'x', DN_NAME_MAX + 1);
    CHECK(dn_ref_is_nobody(dn_runtime_name(st.runtime, too_long)));
    CHECK(dn_ref_is_nobody(dn_runtime_name(st.runtime, "")));
    CHECK(dn_ref_is_nobody(dn_runtime_name(st.runtime, NULL)));
    (void)born("a");
    in("a", use_bad_name, too_long);
    (void)born("b");
    in("b", use_bad_name, "");
    CHECK(!is_alive("a"));
    CHECK(!is_alive("b"));
    CHECK_STR(said(), "");
    CHECK_INT(inspect()->crashes[0].reason, DN_EINVAL);
}

/* ---- Room ---- */

static const dn_class wide_class = {
    .name = "wide", .handlers = DN_SLICE(quiet_handlers), .mailbox_max = 40};

static int fill_and_wait(dn_self *self, const void *arg) {
    while (dn_send(self, dn_name(self, arg), 10, NULL, 0) == DN_OK) continue;
    CHECK_INT(dn_wait_room(self, dn_name(self, arg)), DN_OK);
    return DN_OK;
}

static int depth_when_told;

static int on_room(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    CHECK(dn_ref_equal(DN_BODY(dn_room, msg)->who, dn_whereis(self, dn_name(self, "a"))));
    depth_when_told = 0;
    while (dn_send(self, dn_name(self, "a"), 10, NULL, 0) == DN_OK) depth_when_told++;
    say("%s:room", dn_self_name(self));
    return DN_OK;
}
static const dn_handler waiting_handlers[] = {{DN_MSG_ROOM, on_room}, PROBE_ROWS};
static const dn_class   waiting_class = {.name = "waiting", .handlers = DN_SLICE(waiting_handlers)};

TEST(room_is_told_once_when_half_of_the_lane_is_free_again) {
    UNDER_SEEDS(20) {
        (void)born_of(&wide_class, "a");
        (void)born_of(&waiting_class, "w");
        in("w", fill_and_wait, "a");
        CHECK_STR(said(), "w:room");
        CHECK_MSG(depth_when_told >= 20, "only %d places were free", depth_when_told);
    }
}

TEST(everyone_who_waits_for_room_is_told) {
    stage_begins();
    (void)born_of(&wide_class, "a");
    (void)born("v");
    (void)born("w");
    later_in("v", fill_and_wait, "a");
    later_in("w", fill_and_wait, "a");
    settle();
    const char *all = said();
    CHECK(strstr(all, "v:room"));
    CHECK(strstr(all, "w:room"));
    CHECK_UINT(strlen(all), strlen("v:room w:room"));
}

TEST(room_is_told_when_the_full_actor_ends_instead) {
    stage_begins();
    (void)born_of(&wide_class, "a");
    later_in("root", fill_and_wait, "a");
    later_in("root", act_kill, "a");
    settle();
    CHECK_STR(said(), "root:room");
}

static int just_wait(dn_self *self, const void *arg) {
    CHECK_INT(dn_wait_room(self, dn_name(self, arg)), DN_OK);
    return DN_OK;
}

TEST(room_that_is_there_already_is_told_at_once) {
    stage_begins();
    (void)born_of(&wide_class, "a");
    in("root", just_wait, "a");
    CHECK_STR(said(), "root:room");
}

TEST(who_waited_for_room_and_has_gone_is_missed_by_nobody) {
    UNDER_SEEDS(20) {
        (void)born_of(&wide_class, "a");
        (void)born("w");
        later_in("w", fill_and_wait, "a");
        later_in("w", act_fail, NULL);
        settle();
        CHECK(is_alive("a"));
        CHECK_STR(said(), "");
    }
}

/* ---- Handler tables ---- */

static int on_first(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state, (void)msg;
    say("first");
    return DN_OK;
}
static const dn_handler doubled_handlers[] = {
    {10, on_first}, {10, probe_on_any}, {DO, probe_on_do}};
static const dn_class doubled_class = {.name = "doubled", .handlers = DN_SLICE(doubled_handlers)};

TEST(the_first_row_of_a_kind_is_the_one_that_counts) {
    stage_begins();
    (void)born_of(&doubled_class, "a");
    in("root", act_send, LETTERS("a", 10));
    CHECK_STR(said(), "first");
}

TEST(a_message_no_row_names_is_counted_and_noticed_and_harms_nobody) {
    stage_begins();
    (void)born_of(&doubled_class, "a");
    in("root", act_send, LETTERS("a", 77));
    CHECK(is_alive("a"));
    CHECK_UINT(inspect()->unhandled, 1);
    CHECK_STR(told(DN_NOTICE_UNHANDLED)->actor, "a");
    CHECK_UINT(told(DN_NOTICE_UNHANDLED)->msg_kind, 77);
    for (int i = 1; i < 20; i++) in("root", act_send, LETTERS("a", 77));
    CHECK_UINT(inspect()->unhandled, 20);
    CHECK_UINT(st.told_len, 7); /* 1 to 5, 8, 16 */
}

/* ---- From outside ---- */

static int say_sender(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state;
    say("%s", dn_ref_is_nobody(dn_msg_from(msg)) ? "nobody" : "somebody");
    return DN_OK;
}
static const dn_handler sender_handlers[] = {{10, say_sender}, PROBE_ROWS};
static const dn_class   sender_class = {
      .name = "sender", .handlers = DN_SLICE(sender_handlers), .mailbox_max = 3};

TEST(a_post_comes_from_nobody_and_a_send_from_somebody) {
    stage_begins();
    (void)born_of(&sender_class, "a");
    CHECK_INT(post("a", 10, NULL, 0), DN_OK);
    settle();
    in("root", act_send, LETTERS("a", 10));
    CHECK_STR(said(), "nobody somebody");
}

TEST(posts_are_bounded_as_sends_are) {
    stage_begins();
    (void)born_of(&sender_class, "a");
    for (int i = 0; i < 3; i++) CHECK_INT(post("a", 10, NULL, 0), DN_OK);
    CHECK_INT(post("a", 10, NULL, 0), DN_EFULL);
    settle();
    CHECK_INT(post("a", 10, NULL, 0), DN_OK);
    CHECK_INT(post("b", 10, NULL, 0), DN_EDEAD);
}
