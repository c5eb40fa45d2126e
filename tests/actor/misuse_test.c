/* misuse_test.c - what only a bug can do ends the process, with a sentence that says what was wrong. */
#include "stage.h"

enum { ASK = 10 };

static dn_msg *kept;

static int with_handled(dn_self *self, void *state, const dn_msg *msg);

static const dn_handler rows[] = {{ASK, with_handled}, PROBE_ROWS};
static const dn_class   cls = {.name = "misused", .handlers = DN_SLICE(rows)};

/* What "a" does with the request it gets. */
static dn_handle_fn *misuse;

static int with_handled(dn_self *self, void *state, const dn_msg *msg) {
    return misuse(self, state, msg);
}

static int ask(dn_self *self, const void *arg) {
    (void)arg;
    return dn_call(self, dn_name(self, "a"), ASK, NULL, 0, 100, NULL);
}

static int tell(dn_self *self, const void *arg) {
    (void)arg;
    return dn_send(self, dn_name(self, "a"), ASK, NULL, 0);
}

static void on_request(dn_handle_fn *what) {
    stage_begins();
    misuse = what;
    (void)born_of(&cls, "a");
    (void)born_of(&probe_class, "b");
    in("root", ask, NULL);
}

static void on_message(dn_handle_fn *what) {
    stage_begins();
    misuse = what;
    (void)born_of(&cls, "a");
    (void)born_of(&probe_class, "b");
    in("root", tell, NULL);
}

static void in_actor(act_fn *what) {
    stage_begins();
    in("root", what, NULL);
}

#define SENT_BEFORE "this message was sent, answered or freed before"

/* ---- Answers ---- */

static int reply_twice(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    dn_reply(self, msg, 20, NULL, 0);
    dn_reply(self, msg, 20, NULL, 0);
    return DN_OK;
}
TEST_ABORTS(a_second_answer_to_a_request_is_a_bug, SENT_BEFORE) { on_request(reply_twice); }

static int keep_and_reply_twice(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    kept = dn_msg_keep(self, msg);
    dn_reply(self, kept, 20, NULL, 0);
    dn_reply(self, kept, 20, NULL, 0);
    return DN_OK;
}
TEST_ABORTS(a_second_answer_to_a_kept_request_is_a_bug, SENT_BEFORE) {
    on_request(keep_and_reply_twice);
}

static int keep_and_reply(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    kept = dn_msg_keep(self, msg);
    dn_reply(self, kept, 20, NULL, 0);
    return DN_OK;
}

static int hold_that_block(dn_self *self, const void *arg) {
    (void)arg;
    for (int i = 0; i < 1000; i++) {
        if (dn_msg_new(self, 20, 8) == kept) return DN_OK;
    }
    CHECK_MSG(false, "the block was not used again");
    return DN_OK;
}

static int reply_again(dn_self *self, const void *arg) {
    (void)arg;
    dn_reply(self, kept, 20, NULL, 0);
    return DN_OK;
}
TEST_ABORTS(a_second_answer_is_a_bug_even_when_the_block_is_another_message_by_now, SENT_BEFORE) {
    on_request(keep_and_reply);
    in("b", hold_that_block, NULL);
    in("a", reply_again, NULL);
}

static int reply(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    dn_reply(self, msg, 20, NULL, 0);
    return DN_OK;
}
TEST_ABORTS(an_answer_to_what_is_no_request_is_a_bug, "only a request can be answered") {
    on_message(reply);
}

static int reply_kind_0(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    dn_reply(self, msg, 0, NULL, 0);
    return DN_OK;
}
TEST_ABORTS(an_answer_of_no_kind_is_a_bug, "message kinds go from 1 to DN_KIND_MAX") {
    on_request(reply_kind_0);
}

static int forward_then_reply(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    CHECK_INT(dn_forward(self, dn_name(self, "b"), msg), DN_OK);
    dn_reply(self, msg, 20, NULL, 0);
    return DN_OK;
}
TEST_ABORTS(an_answer_to_what_was_sent_on_is_a_bug, SENT_BEFORE) { on_request(forward_then_reply); }

/* ---- Moves ---- */

static int send_take_twice(dn_self *self, const void *arg) {
    (void)arg;
    dn_msg *m = dn_msg_new(self, 20, 8);
    CHECK_INT(dn_send_take(self, dn_self_ref(self), m), DN_OK);
    return dn_send_take(self, dn_self_ref(self), m);
}
TEST_ABORTS(sending_a_message_after_it_was_moved_is_a_bug, SENT_BEFORE) {
    in_actor(send_take_twice);
}

static int free_after_send(dn_self *self, const void *arg) {
    (void)arg;
    dn_msg *m = dn_msg_new(self, 20, 8);
    CHECK_INT(dn_send_take(self, dn_self_ref(self), m), DN_OK);
    dn_msg_free(self, m);
    return DN_OK;
}
TEST_ABORTS(freeing_a_message_after_it_was_moved_is_a_bug, SENT_BEFORE) {
    in_actor(free_after_send);
}

#if TEST_SLOW_FACTOR != 4 /* there the poison speaks first */
static int free_twice(dn_self *self, const void *arg) {
    (void)arg;
    dn_msg *m = dn_msg_new(self, 20, 8);
    dn_msg_free(self, m);
    dn_msg_free(self, m);
    return DN_OK;
}
TEST_ABORTS(freeing_a_message_twice_is_a_bug, SENT_BEFORE) { in_actor(free_twice); }
#endif

static int keep_twice(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    (void)dn_msg_keep(self, msg);
    (void)dn_msg_keep(self, msg);
    return DN_OK;
}
TEST_ABORTS(keeping_a_message_twice_is_a_bug, "only the message being handled can be kept") {
    on_message(keep_twice);
}

static int forward_twice(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    CHECK_INT(dn_forward(self, dn_name(self, "b"), msg), DN_OK);
    return dn_forward(self, dn_name(self, "b"), msg);
}
TEST_ABORTS(forwarding_a_message_twice_is_a_bug,
            "only the message being handled can be forwarded") {
    on_message(forward_twice);
}

static int keep_then_forward(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    (void)dn_msg_keep(self, msg);
    return dn_forward(self, dn_name(self, "b"), msg);
}
TEST_ABORTS(forwarding_a_message_that_was_kept_is_a_bug,
            "only the message being handled can be forwarded") {
    on_message(keep_then_forward);
}

/* ---- The runtime's own messages ---- */

/* What "w" does with the news it gets. */
static dn_handle_fn *with_news;

static int on_news(dn_self *self, void *state, const dn_msg *msg) {
    return with_news(self, state, msg);
}
static const dn_handler news_rows[] = {
    {DN_MSG_DOWN, on_news}, {DN_MSG_CALL_FAILED, on_news}, PROBE_ROWS};
static const dn_class news_class = {.name = "news", .handlers = DN_SLICE(news_rows)};

static int watch_a(dn_self *self, const void *arg) {
    (void)arg;
    (void)dn_monitor(self, dn_name(self, "a"), 1);
    return DN_OK;
}
static int let_go(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state, (void)msg;
    return DN_OK;
}

static void on_what_came(act_fn *first, dn_handle_fn *what) {
    stage_begins();
    misuse = let_go;
    with_news = what;
    (void)born_of(&cls, "a");
    (void)born_of(&probe_class, "b");
    (void)born_of(&news_class, "w");
    in("w", first, NULL);
    in("a", act_stop_self, NULL);
}
static void on_down(dn_handle_fn *what) { on_what_came(watch_a, what); }
static void on_call_failed(dn_handle_fn *what) { on_what_came(ask, what); }

static int forward_it(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    return dn_forward(self, dn_name(self, "b"), msg);
}
#define NOT_FORWARDED "the runtime's own messages are not forwarded"
TEST_ABORTS(forwarding_the_news_of_an_end_is_a_bug, NOT_FORWARDED) { on_down(forward_it); }
TEST_ABORTS(forwarding_the_failure_of_a_call_is_a_bug, NOT_FORWARDED) {
    on_call_failed(forward_it);
}

static int keep_and_send_it(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    return dn_send_take(self, dn_name(self, "b"), dn_msg_keep(self, msg));
}
#define NOT_SENT_ON "the runtime's own messages are not sent on"
TEST_ABORTS(sending_on_the_kept_news_of_an_end_is_a_bug, NOT_SENT_ON) { on_down(keep_and_send_it); }
TEST_ABORTS(sending_on_the_kept_failure_of_a_call_is_a_bug, NOT_SENT_ON) {
    on_call_failed(keep_and_send_it);
}

static int keep_and_reply_it(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    dn_reply(self, dn_msg_keep(self, msg), 20, NULL, 0);
    return DN_OK;
}
TEST_ABORTS(an_answer_to_the_failure_of_a_call_is_a_bug, "only a request can be answered") {
    on_call_failed(keep_and_reply_it);
}

static int keep_it(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    kept = dn_msg_keep(self, msg);
    return DN_OK;
}
static int read_and_free_kept(dn_self *self, const void *arg) {
    (void)arg;
    say("%d", dn_msg_kind(kept) == DN_MSG_DOWN ? DN_BODY(dn_down, kept)->reason
                                               : DN_BODY(dn_call_failed, kept)->status);
    dn_msg_free(self, kept);
    return DN_OK;
}
TEST(what_the_runtime_says_may_be_kept_read_later_and_freed) {
    char dead[16];

    (void)snprintf(dead, sizeof dead, "%d", DN_EUNANSWERED);
    on_down(keep_it);
    in("w", read_and_free_kept, NULL);
    CHECK_STR(said(), "0");
    stage_ends();
    stage_begins_with_seed(test_seed());
    (void)born_of(&cls, "a");
    (void)born_of(&news_class, "w");
    in("w", ask, NULL);
    in("w", read_and_free_kept, NULL);
    CHECK_STR(said(), dead);
    CHECK(is_alive("w"));
}

/* ---- Kinds ---- */

#define OF_BAD_KIND(sentence, call)                                                                \
    static int sentence##_act(dn_self *self, const void *arg) {                                    \
        (void)arg;                                                                                 \
        if (call) say("went on");                                                                  \
        return DN_OK;                                                                              \
    }                                                                                              \
    TEST_ABORTS(sentence, "message kinds go from 1 to DN_KIND_MAX") { in_actor(sentence##_act); }

OF_BAD_KIND(a_send_of_kind_0_is_a_bug, dn_send(self, dn_self_ref(self), 0, NULL, 0))
OF_BAD_KIND(a_send_of_the_runtimes_kinds_is_a_bug,
            dn_send(self, dn_self_ref(self), DN_MSG_DOWN, NULL, 0))
OF_BAD_KIND(a_message_of_kind_0_is_a_bug, dn_msg_new(self, 0, 8))
OF_BAD_KIND(a_message_of_kind_0_with_a_body_of_its_own_is_a_bug,
            dn_msg_new_take(self, 0, NULL, 8, NULL))
OF_BAD_KIND(a_call_of_kind_0_is_a_bug,
            dn_call(self, dn_self_ref(self), 0, NULL, 0, 100, &(dn_call_id){0}))
OF_BAD_KIND(a_timer_of_kind_0_is_a_bug, dn_timer_after(self, 1, 0, 0))
OF_BAD_KIND(a_wall_timer_of_kind_0_is_a_bug, dn_timer_at_wall(self, 1, 0, 0))
OF_BAD_KIND(a_timer_of_the_runtimes_kinds_is_a_bug, dn_timer_at_mono(self, 1, DN_KIND_MAX + 1, 0))
OF_BAD_KIND(a_post_of_kind_0_is_a_bug,
            dn_post(dn_self_runtime(self), dn_self_ref(self), 0, NULL, 0))

/* ---- Others ---- */

static int call_back_in_time(dn_self *self, const void *arg) {
    (void)arg;
    return dn_call(self, dn_self_ref(self), ASK, NULL, 0, -1, NULL);
}
TEST_ABORTS(a_call_with_a_negative_timeout_is_a_bug, "timeout is not negative") {
    in_actor(call_back_in_time);
}

TEST_ABORTS(failing_where_no_actor_runs_is_a_bug, "dn_fail was called where no actor runs") {
    dn_fail("nobody");
}

static void fail_on_event(void *context, const dn_sim_event *e) {
    (void)context;
    if (e->kind == DN_SIM_TIME) dn_fail("still nobody");
}

static int arm(dn_self *self, const void *arg) {
    (void)arg;
    (void)dn_timer_after(self, 10, 20, 0);
    return DN_OK;
}

TEST_ABORTS(failing_between_two_turns_is_a_bug, "dn_fail was called where no actor runs") {
    const dn_sim_config config = {.seed = 1, .on_event = fail_on_event};
    CHECK_INT(dn_sim_new(&config, &st.sim), DN_OK);
    stage_boots();
    in("root", arm, NULL);
    (void)dn_sim_run(st.sim, 100);
}

static int fail_with_ok(dn_self *self, const void *arg) {
    (void)self, (void)arg;
    dn_fail_code(DN_OK, "well");
}
TEST_ABORTS(failing_with_success_is_a_bug, "an actor fails with a negative code") {
    in_actor(fail_with_ok);
}

static int done_without_start(dn_self *self, const void *arg) {
    (void)arg;
    dn_init_done(self, DN_OK);
    return DN_OK;
}
TEST_ABORTS(ending_a_start_that_is_not_pending_is_a_bug,
            "dn_init_done is for a start that is pending, once") {
    in_actor(done_without_start);
}

static int init_pends(dn_self *self, void *state, const void *config) {
    (void)self, (void)state, (void)config;
    return DN_PENDING;
}
static const dn_class pending_class = {
    .name = "pending", .init = init_pends, .handlers = DN_SLICE(probe_handlers)};

TEST_ABORTS(ending_a_start_twice_is_a_bug, "dn_init_done is for a start that is pending, once") {
    stage_begins();
    (void)born_of(&pending_class, "a");
    in("a", done_without_start, NULL);
    in("a", done_without_start, NULL);
}

static int done_with_pending(dn_self *self, const void *arg) {
    (void)arg;
    dn_init_done(self, DN_PENDING);
    return DN_OK;
}
TEST_ABORTS(ending_a_start_with_pending_is_a_bug, "a start ends with DN_OK or a negative code") {
    stage_begins();
    (void)born_of(&pending_class, "a");
    in("a", done_with_pending, NULL);
}

static int init_done_at_once(dn_self *self, void *state, const void *config) {
    (void)state;
    dn_init_done(self, *(const int *)config);
    return DN_OK;
}
static const dn_class hasty_class = {
    .name = "hasty", .init = init_done_at_once, .handlers = DN_SLICE(probe_handlers)};

static void start_hastily(int status) {
    stage_begins();
    in("root", act_spawn, &(dn_spawn_spec){.actor_class = &hasty_class, .config = &status});
}
TEST_ABORTS(ending_a_start_inside_init_is_a_bug,
            "dn_init_done is for a start that is pending, once") {
    start_hastily(DN_OK);
}
TEST_ABORTS(ending_a_start_inside_init_with_a_failure_is_a_bug,
            "dn_init_done is for a start that is pending, once") {
    start_hastily(DN_EIO);
}
