/* call_test.c - a call ends exactly once: with its reply, or with the reason there is none. */
#include "stage.h"

enum { ASK = 10, ANSWER = 20, BIG = 1000 };

static dn_msg    *kept[8];
static int        kept_len;
static dn_call_id last_call;

/* ---- Servers, by what they do with a request ---- */

static int answer(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    CHECK(dn_msg_is_request(msg));
    CHECK(dn_msg_call(msg) != 0);
    dn_reply(self, msg, ANSWER, dn_msg_body_borrow(msg), dn_msg_size(msg));
    return DN_OK;
}
static int keep(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    kept[kept_len++] = dn_msg_keep(self, msg);
    return DN_OK;
}
static int ignore(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state, (void)msg;
    return DN_OK;
}
static int crash(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state, (void)msg;
    return DN_EIO;
}
static int end(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state, (void)msg;
    return DN_STOP;
}
static int pass_on(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    const int rc = dn_forward(self, dn_name(self, "b"), msg);
    if (rc < 0) say("forward/%s", word_of(rc));
    return DN_OK;
}
static int answer_and_crash(dn_self *self, void *state, const dn_msg *msg) {
    (void)answer(self, state, msg);
    return DN_EIO;
}

#define SERVER(what)                                                                               \
    static const dn_handler what##_rows[] = {{ASK, what}, PROBE_ROWS};                             \
    static const dn_class   what##_server = {.name = #what, .handlers = DN_SLICE(what##_rows)}
SERVER(answer);
SERVER(keep);
SERVER(ignore);
SERVER(crash);
SERVER(end);
SERVER(pass_on);
SERVER(answer_and_crash);

/* ---- Callers ---- */

static int ask(dn_self *self, const void *arg) {
    const uint64_t word = 7;
    const int      rc = dn_call(self, dn_name(self, arg), ASK, &word, 8, 100, &last_call);

    if (rc < 0) say("call/%s", word_of(rc));
    else CHECK(last_call != 0);
    return DN_OK;
}

static int cancel(dn_self *self, const void *arg) {
    (void)arg;
    dn_call_cancel(self, last_call);
    return DN_OK;
}

static int reply_kept(dn_self *self, const void *arg) {
    const uint64_t word = 9;

    dn_reply(self, kept[*(const int *)arg], ANSWER, &word, 8);
    return DN_OK;
}

static int free_kept(dn_self *self, const void *arg) {
    dn_msg_free(self, kept[*(const int *)arg]);
    return DN_OK;
}

static int zero = 0;

static void begin(const dn_class *server) {
    stage_begins();
    (void)born("c");
    (void)born_of(server, "a");
}

/* Nothing more comes, however long one waits. */
static void nothing_more(void) {
    CHECK_STR(said(), "");
    pass_ms(1000);
    CHECK_STR(said(), "");
}

TEST(a_call_is_answered_once) {
    begin(&answer_server);
    in("c", ask, "a");
    CHECK_STR(said(), "c:20=7");
    nothing_more();
}

static int check_id(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state;
    CHECK_UINT(dn_msg_call(msg), last_call);
    CHECK(!dn_msg_is_request(msg));
    say("mine");
    return DN_OK;
}
static int check_failed_id(dn_self *self, void *state, const dn_msg *msg) {
    CHECK_UINT(DN_BODY(dn_call_failed, msg)->id, last_call);
    return check_id(self, state, msg);
}
static const dn_handler checking_rows[] = {
    {ANSWER, check_id}, {DN_MSG_CALL_FAILED, check_failed_id}, PROBE_ROWS};
static const dn_class checking = {.name = "checking", .handlers = DN_SLICE(checking_rows)};

TEST(reply_and_failures_name_the_call_they_end) {
    begin(&answer_server);
    (void)born_of(&crash_server, "x");
    (void)born_of(&ignore_server, "i");
    (void)born_of(&checking, "me");
    in("me", ask, "a");
    in("me", ask, "x");
    in("me", ask, "i");
    CHECK_STR(said(), "mine mine mine");
    (void)born_of(&keep_server, "k");
    in("me", ask, "k");
    pass_ms(100);
    CHECK_STR(said(), "mine");
}

TEST(a_call_without_answer_fails_when_its_time_is_up_and_not_before) {
    begin(&keep_server);
    in("c", ask, "a");
    pass_ms(99);
    CHECK_STR(said(), "");
    pass_ms(1);
    CHECK_STR(said(), "c:call/time");
    nothing_more();
}

TEST(a_reply_that_comes_too_late_is_counted_and_dropped) {
    begin(&keep_server);
    in("c", ask, "a");
    pass_ms(100);
    CHECK_STR(said(), "c:call/time");
    in("a", reply_kept, &zero);
    nothing_more();
    CHECK_UINT(inspect()->late_replies, 1);
}

TEST(a_reply_within_its_time_is_not_counted_as_late) {
    begin(&keep_server);
    in("c", ask, "a");
    pass_ms(99);
    in("a", reply_kept, &zero);
    CHECK_STR(said(), "c:20=9");
    nothing_more();
    CHECK_UINT(inspect()->late_replies, 0);
}

TEST(a_call_to_nobody_sends_nothing) {
    begin(&answer_server);
    in("c", ask, "nobody");
    CHECK_STR(said(), "call/dead");
    nothing_more();
}

static int ask_then_kill(dn_self *self, const void *arg) {
    (void)ask(self, arg);
    return dn_kill(self, dn_name(self, arg));
}

TEST(a_server_that_dies_with_the_request_in_its_mailbox_fails_the_call_at_once) {
    begin(&answer_server);
    in("c", ask_then_kill, "a");
    CHECK_STR(said(), "c:call/dead");
    CHECK_INT(dn_sim_mono_ms(st.sim), 0);
    nothing_more();
}

TEST(a_server_that_crashes_on_the_request_fails_the_call_at_once) {
    begin(&crash_server);
    in("c", ask, "a");
    const char *how = said();
    CHECK_MSG(strcmp(how, "c:call/dead") == 0 || strcmp(how, "c:call/unanswered") == 0, "%s", how);
    nothing_more();
}

TEST(a_server_that_dies_with_the_request_kept_fails_the_call_at_once) {
    begin(&keep_server);
    in("c", ask, "a");
    CHECK_STR(said(), "");
    in("a", act_fail, NULL);
    CHECK_STR(said(), "c:call/dead");
    nothing_more();
}

TEST(a_server_that_ends_normally_fails_what_it_has_not_answered) {
    begin(&end_server);
    (void)born_of(&keep_server, "k");
    in("c", ask, "a");
    CHECK_STR(said(), "c:call/unanswered");
    in("c", ask, "k");
    in("k", act_stop_self, NULL);
    CHECK_STR(said(), "c:call/dead");
    nothing_more();
}

TEST(a_request_let_go_unanswered_fails_its_call_at_once) {
    begin(&ignore_server);
    (void)born_of(&keep_server, "k");
    (void)born("deaf");
    in("c", ask, "a");
    CHECK_STR(said(), "c:call/unanswered");
    in("c", ask, "k");
    in("k", free_kept, &zero);
    CHECK_STR(said(), "c:call/unanswered");
    in("c", ask, "deaf");
    CHECK_STR(said(), "deaf:10=7 c:call/unanswered");
    nothing_more();
}

TEST(an_answer_given_before_the_crash_is_the_answer) {
    begin(&answer_and_crash_server);
    in("c", ask, "a");
    CHECK_STR(said(), "c:20=7");
    CHECK(!is_alive("a"));
    nothing_more();
}

static int ask_then_time_passes(dn_self *self, const void *arg) {
    (void)ask(self, arg);
    dn_sim_pass(st.sim, 100);
    return DN_OK;
}

TEST(a_request_whose_time_is_up_when_it_is_taken_up_is_not_handled) {
    begin(&answer_server);
    in("c", ask_then_time_passes, "a");
    CHECK_STR(said(), "c:call/time");
    CHECK_UINT(inspect()->expired_calls, 1);
    nothing_more();
}

static int ask_with_no_time(dn_self *self, const void *arg) {
    CHECK_INT(dn_call(self, dn_name(self, arg), ASK, NULL, 0, 0, &last_call), DN_OK);
    return DN_OK;
}

TEST(a_call_with_no_time_at_all_fails) {
    begin(&answer_server);
    in("c", ask_with_no_time, "a");
    pass_ms(1);
    CHECK_STR(said(), "c:call/time");
    nothing_more();
}

static int ask_forever(dn_self *self, const void *arg) {
    CHECK_INT(dn_call(self, dn_name(self, arg), ASK, NULL, 0, INT64_MAX, NULL), DN_OK);
    return DN_OK;
}

TEST(a_call_may_wait_for_ever) {
    begin(&keep_server);
    in("c", ask_forever, "a");
    CHECK_INT(dn_msg_deadline(kept[0]), INT64_MAX);
    pass_ms(1000000000);
    CHECK_STR(said(), "");
    in("a", reply_kept, &zero);
    CHECK_STR(said(), "c:20=9");
}

TEST(the_deadline_travels_with_the_request) {
    begin(&keep_server);
    pass_ms(50);
    in("c", ask, "a");
    CHECK_INT(dn_msg_deadline(kept[0]), 150 * 1000000);
}

TEST(a_cancelled_call_gets_nothing) {
    begin(&keep_server);
    in("c", ask, "a");
    in("c", cancel, NULL);
    in("a", reply_kept, &zero);
    nothing_more();
    in("c", cancel, NULL);
    in("c", ask, "a");
    in("a", act_fail, NULL);
    in("c", cancel, NULL);
    CHECK_STR(said(), "c:call/dead");
    nothing_more();
}

enum { CANCEL_NOW = 60 };

static int on_cancel_now(dn_self *self, void *state, const dn_msg *msg) {
    (void)state, (void)msg;
    return cancel(self, NULL);
}
static const dn_handler late_rows[] = {{CANCEL_NOW, on_cancel_now}, PROBE_ROWS};
static const dn_class   late_class = {.name = "late", .handlers = DN_SLICE(late_rows)};

/* Both at the same instant, and the cancelling first. */
static int ask_and_cancel_at_the_deadline(dn_self *self, const void *arg) {
    dn_timer_after(self, 100, CANCEL_NOW, 0);
    CHECK_INT(dn_call(self, dn_name(self, arg), ASK, NULL, 0, 100, &last_call), DN_OK);
    return DN_OK;
}

TEST(a_call_cancelled_when_its_timeout_is_waiting_already_gets_nothing) {
    begin(&keep_server);
    (void)born_of(&late_class, "l");
    in("l", ask_and_cancel_at_the_deadline, "a");
    pass_ms(200);
    CHECK_STR(said(), "");
}

static int cancel_a_neighbours(dn_self *self, const void *arg) {
    (void)arg;
    for (dn_call_id id = last_call - 1; id < last_call + 2; id++) dn_call_cancel(self, id);
    dn_call_cancel(self, 0);
    dn_call_cancel(self, UINT64_MAX);
    return DN_OK;
}

TEST(nobody_cancels_the_call_of_another) {
    begin(&keep_server);
    in("c", ask, "a");
    in("root", cancel_a_neighbours, NULL);
    in("a", reply_kept, &zero);
    CHECK_STR(said(), "c:20=9");
}

TEST(a_caller_that_has_gone_is_not_the_repliers_concern) {
    begin(&keep_server);
    in("c", ask, "a");
    in("c", act_fail, NULL);
    in("a", reply_kept, &zero);
    CHECK(is_alive("a"));
    CHECK_UINT(inspect()->late_replies, 1);
}

TEST(a_forwarded_request_is_answered_from_there) {
    begin(&pass_on_server);
    (void)born_of(&answer_server, "b");
    in("c", ask, "a");
    CHECK_STR(said(), "c:20=7");
    nothing_more();
}

static int send_kept_to_b(dn_self *self, const void *arg) {
    (void)arg;
    CHECK_INT(dn_send_take(self, dn_name(self, "b"), kept[0]), DN_OK);
    return DN_OK;
}

TEST(a_kept_request_sent_on_is_answered_from_there) {
    begin(&keep_server);
    (void)born_of(&answer_server, "b");
    in("c", ask, "a");
    in("a", send_kept_to_b, NULL);
    CHECK_STR(said(), "c:20=7");
    nothing_more();
}

TEST(a_request_forwarded_to_nobody_fails_as_unanswered) {
    begin(&pass_on_server);
    in("c", ask, "a");
    CHECK_STR(said(), "forward/dead c:call/unanswered");
    nothing_more();
}

TEST(a_forwarded_request_whose_new_owner_dies_fails) {
    begin(&pass_on_server);
    (void)born_of(&keep_server, "b");
    in("c", ask, "a");
    in("root", act_kill, "a");
    CHECK_STR(said(), "");
    in("root", act_kill, "b");
    CHECK_STR(said(), "c:call/dead");
    nothing_more();
}

/* ---- Large bodies ---- */

static int ask_large(dn_self *self, const void *arg) {
    char body[BIG];

    for (int i = 0; i < BIG; i++) body[i] = (char)(i % 100);
    CHECK_INT(dn_call(self, dn_name(self, arg), ASK, body, BIG, 100, &last_call), DN_OK);
    return DN_OK;
}

static int on_large(dn_self *self, void *state, const dn_msg *msg) {
    const unsigned char *body = dn_msg_body_borrow(msg);
    const int            first = body[0];

    (void)self, (void)state;
    for (size_t i = 0; i < dn_msg_size(msg); i++) CHECK_INT(body[i], (first + (int)i) % 100);
    say("%zu from %d", dn_msg_size(msg), first);
    return DN_OK;
}
static const dn_handler large_rows[] = {{ANSWER, on_large}, PROBE_ROWS};
static const dn_class   large_class = {.name = "large", .handlers = DN_SLICE(large_rows)};

TEST(a_large_request_and_its_echo_arrive_whole) {
    begin(&answer_server);
    (void)born_of(&large_class, "l");
    in("l", ask_large, "a");
    CHECK_STR(said(), "1000 from 0");
}

TEST(a_large_request_that_fails_is_released) {
    static const dn_class *const servers[] = {&ignore_server, &crash_server, &keep_server,
                                              &pass_on_server};

    stage_begins();
    (void)born("c");
    for (int i = 0; i < 4; i++) {
        (void)born_of(servers[i], "a");
        in("c", ask_large, "a");
        if (is_alive("a")) in("a", act_fail, NULL);
        const char *how = said();
        CHECK_MSG(strstr(how, "c:call/"), "%s", how);
    }
    nothing_more();
}

static int answer_in_part(dn_self *self, void *state, const dn_msg *msg) {
    const char *body = dn_msg_body_borrow(msg);

    (void)state;
    dn_reply(self, msg, ANSWER, body + 30, dn_msg_size(msg) == BIG ? 40 : 50);
    return DN_OK;
}
SERVER(answer_in_part);

static int ask_small(dn_self *self, const void *arg) {
    char body[80];

    for (int i = 0; i < 80; i++) body[i] = (char)i;
    CHECK_INT(dn_call(self, dn_name(self, arg), ASK, body, 80, 100, &last_call), DN_OK);
    return DN_OK;
}

TEST(a_reply_may_be_made_of_the_body_it_answers) {
    begin(&answer_in_part_server);
    (void)born_of(&large_class, "l");
    in("l", ask_large, "a");
    in("l", ask_small, "a");
    CHECK_STR(said(), "40 from 30 50 from 30");
}

static int answer_at_length(dn_self *self, void *state, const dn_msg *msg) {
    char body[BIG];

    (void)state;
    for (int i = 0; i < BIG; i++) body[i] = (char)(i % 100);
    dn_reply(self, msg, ANSWER, body, BIG);
    return DN_OK;
}
SERVER(answer_at_length);

TEST(a_small_request_may_have_a_large_reply_and_a_late_one_leaks_nothing) {
    begin(&answer_at_length_server);
    (void)born_of(&large_class, "l");
    in("l", ask, "a");
    CHECK_STR(said(), "1000 from 0");
    (void)born("gone");
    later_in("gone", ask, "a");
    later_in("gone", act_stop_self, NULL);
    settle();
    CHECK_STR(said(), "");
}

/* ---- Many at once ---- */

static int answers, failures;

static int count_answer(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state, (void)msg;
    answers++;
    return DN_OK;
}
static int count_failure(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state, (void)msg;
    failures++;
    return DN_OK;
}
static int answer_some(dn_self *self, void *state, const dn_msg *msg) {
    switch (dn_random(self) % 6) {
    case 0: return DN_OK;
    case 1: kept[0] = dn_msg_keep(self, msg); return DN_OK;
    case 2: dn_msg_free(self, dn_msg_keep(self, msg)); return DN_OK;
    case 3: return dn_random(self) % 4 ? DN_OK : DN_EIO;
    default: return answer(self, state, msg);
    }
}
SERVER(answer_some);
static const dn_handler counting_rows[] = {
    {ANSWER, count_answer}, {DN_MSG_CALL_FAILED, count_failure}, PROBE_ROWS};
static const dn_class counting = {.name = "counting", .handlers = DN_SLICE(counting_rows)};

TEST(of_many_calls_each_ends_exactly_once) {
    int sent = 0;

    stage_begins();
    (void)born_of(&counting, "c");
    for (int i = 0; i < 3000; i++) {
        if (!is_alive("a")) (void)born_of(&answer_some_server, "a");
        for (int k = 0; k < 3; k++) later_in("c", ask, "a");
        if (i % 7 == 0) pass_ms(30);
        settle();
    }
    pass_ms(1000);
    for (const char *at = said(); *at; at++) sent -= strncmp(at, "call/dead", 9) == 0;
    CHECK_INT(answers + failures, 9000 + sent);
    CHECK(answers > 1000);
    CHECK(failures > 1000);
}
