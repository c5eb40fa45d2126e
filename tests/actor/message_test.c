/* message_test.c - who owns a message, and when its body is let go: once, however the message ends. */
#include "stage.h"

enum { BIG = 1000, INLINE = 80 };

static int releases;

static void release(void *body) {
    releases++;
    free(body);
}

static dn_msg *big_msg(dn_self *self, uint32_t kind) {
    char *body = malloc(BIG);

    memset(body, 'b', BIG);
    return dn_msg_new_take(self, kind, body, BIG, release);
}

static int send_big(dn_self *self, const void *arg) {
    dn_msg   *m = big_msg(self, 10);
    const int rc = dn_send_take(self, dn_name(self, arg), m);

    if (rc < 0) say("send/%s %d", word_of(rc), releases);
    return DN_OK;
}

static dn_msg *kept; /* by the keeper, until it is told what to do with it */

static int on_big(dn_self *self, void *state, const dn_msg *msg) {
    const char *body = dn_msg_body_borrow(msg);

    (void)state;
    CHECK_UINT(dn_msg_size(msg), BIG);
    for (int i = 0; i < BIG; i++) CHECK_INT(body[i], 'b');
    say("%s:big", dn_self_name(self));
    return DN_OK;
}

static int keep(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    kept = dn_msg_keep(self, msg);
    return DN_OK;
}

static int forward_to_b(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    const int rc = dn_forward(self, dn_name(self, "b"), msg);

    if (rc < 0) say("forward/%s", word_of(rc));
    return DN_OK;
}

static int fail_on_it(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state, (void)msg;
    return DN_EIO;
}

static const dn_handler rows_read[] = {{10, on_big}, PROBE_ROWS};
static const dn_handler rows_keep[] = {{10, keep}, PROBE_ROWS};
static const dn_handler rows_forward[] = {{10, forward_to_b}, PROBE_ROWS};
static const dn_handler rows_fail[] = {{10, fail_on_it}, PROBE_ROWS};
static const dn_class   reading = {
      .name = "reading", .handlers = DN_SLICE(rows_read), .mailbox_max = 2};
static const dn_class keeping = {.name = "keeping", .handlers = DN_SLICE(rows_keep)};
static const dn_class forwarding = {.name = "forwarding", .handlers = DN_SLICE(rows_forward)};
static const dn_class failing = {.name = "failing", .handlers = DN_SLICE(rows_fail)};

/* ---- A body is released once ---- */

TEST(a_body_is_released_when_its_message_has_been_handled) {
    stage_begins();
    (void)born_of(&reading, "a");
    in("root", send_big, "a");
    CHECK_STR(said(), "a:big");
    CHECK_INT(releases, 1);
}

TEST(a_body_is_released_when_nobody_handles_its_kind) {
    static const dn_handler only_do[] = {{DO, probe_on_do}};
    static const dn_class   deaf = {.name = "deaf", .handlers = DN_SLICE(only_do)};

    stage_begins();
    (void)born_of(&deaf, "a");
    in("root", send_big, "a");
    CHECK_INT(releases, 1);
}

TEST(a_body_is_released_when_its_handler_fails) {
    stage_begins();
    (void)born_of(&failing, "a");
    in("root", send_big, "a");
    CHECK(!is_alive("a"));
    CHECK_INT(releases, 1);
}

TEST(a_body_of_a_message_that_could_not_be_sent_stays_with_the_sender_until_that_ends) {
    stage_begins();
    (void)born("a");
    in("a", send_big, "nobody");
    CHECK_STR(said(), "send/dead 0");
    CHECK_INT(releases, 0);
    in("a", act_stop_self, NULL);
    CHECK_INT(releases, 1);
}

static int send_big_twice_then_kill(dn_self *self, const void *arg) {
    (void)send_big(self, arg);
    (void)send_big(self, arg);
    return dn_kill(self, dn_name(self, arg));
}

TEST(bodies_are_released_with_the_mailbox_they_wait_in) {
    stage_begins();
    (void)born_of(&reading, "a");
    in("root", send_big_twice_then_kill, "a");
    CHECK_STR(said(), "");
    CHECK_INT(releases, 2);
}

static int send_big_three_times(dn_self *self, const void *arg) {
    for (int i = 0; i < 3; i++) (void)send_big(self, arg);
    return DN_OK;
}

TEST(a_message_a_full_lane_refused_is_still_the_senders) {
    stage_begins();
    (void)born_of(&reading, "a");
    (void)born("s");
    in("s", send_big_three_times, "a");
    CHECK_STR(said(), "send/full 0 a:big a:big");
    CHECK_INT(releases, 2);
    in("root", act_kill, "s");
    CHECK_INT(releases, 3);
}

TEST(a_forwarded_body_is_released_by_the_last_to_handle_it) {
    stage_begins();
    (void)born_of(&forwarding, "a");
    (void)born_of(&reading, "b");
    in("root", send_big, "a");
    CHECK_STR(said(), "b:big");
    CHECK_INT(releases, 1);
}

TEST(a_body_that_could_not_be_forwarded_is_released_with_the_handler) {
    stage_begins();
    (void)born_of(&forwarding, "a");
    in("root", send_big, "a");
    CHECK_STR(said(), "forward/dead");
    CHECK_INT(releases, 1);
}

static int free_kept(dn_self *self, const void *arg) {
    (void)arg;
    dn_msg_free(self, kept);
    return DN_OK;
}

static int send_kept(dn_self *self, const void *arg) {
    const int rc = dn_send_take(self, dn_name(self, arg), kept);

    if (rc < 0) say("send/%s", word_of(rc));
    return DN_OK;
}

TEST(a_kept_body_stays_whole_until_it_is_freed) {
    stage_begins();
    (void)born_of(&keeping, "a");
    in("root", send_big, "a");
    CHECK_INT(releases, 0);
    CHECK_INT(((const char *)dn_msg_body_borrow(kept))[BIG - 1], 'b');
    in("a", free_kept, NULL);
    CHECK_INT(releases, 1);
}

TEST(a_kept_message_can_be_sent_on_later) {
    stage_begins();
    (void)born_of(&keeping, "a");
    (void)born_of(&reading, "b");
    in("root", send_big, "a");
    in("a", send_kept, "nobody");
    in("a", send_kept, "b");
    CHECK_STR(said(), "send/dead b:big");
    CHECK_INT(releases, 1);
}

TEST(a_kept_body_goes_with_the_actor_that_crashes) {
    stage_begins();
    (void)born_of(&keeping, "a");
    for (int i = 0; i < 5; i++) in("root", send_big, "a");
    CHECK_INT(releases, 0);
    in("a", act_fail, NULL);
    CHECK_INT(releases, 5);
}

static int make_and_leave(dn_self *self, const void *arg) {
    (void)arg;
    for (int i = 0; i < 3; i++) (void)big_msg(self, 10);
    dn_msg_free(self, big_msg(self, 10));
    CHECK_INT(releases, 1);
    return DN_STOP;
}

TEST(a_message_never_sent_goes_with_its_actor) {
    stage_begins();
    (void)born("a");
    in("a", make_and_leave, NULL);
    CHECK_INT(releases, 4);
}

static int send_big_and_crash_process(dn_self *self, const void *arg) {
    (void)send_big(self, arg);
    (void)big_msg(self, 10);
    dn_sim_crash_process(st.sim);
    return DN_OK;
}

TEST(bodies_are_released_when_the_process_is_gone) {
    stage_begins();
    (void)born_of(&reading, "a");
    in("root", send_big_and_crash_process, "a");
    CHECK_INT(releases, 2);
}

TEST(bodies_are_released_when_everything_ends) {
    stage_begins();
    (void)born_of(&keeping, "a");
    in("root", send_big, "a");
    later_in("root", send_big, "a");
    later_in("root", act_stop_self, NULL);
    settle();
    CHECK_INT(releases, 2);
}

static int borrow_constant(dn_self *self, const void *arg) {
    static char text[BIG];

    memset(text, 'b', BIG);
    dn_msg *m = dn_msg_new_take(self, 10, text, BIG, NULL);
    CHECK_INT(dn_send_take(self, dn_name(self, arg), m), DN_OK);
    return DN_OK;
}

TEST(a_body_nobody_has_to_release_needs_no_release) {
    stage_begins();
    (void)born_of(&reading, "a");
    in("root", borrow_constant, "a");
    CHECK_STR(said(), "a:big");
}

/* ---- A release function that fails ---- */

static void failing_release(void *body) {
    releases++;
    free(body);
    dn_fail("in a release");
}

static int send_failing(dn_self *self, const void *arg) {
    char *body = malloc(BIG);

    memset(body, 'b', BIG);
    dn_msg *m = dn_msg_new_take(self, 10, body, BIG, failing_release);
    CHECK_INT(dn_send_take(self, dn_name(self, arg), m), DN_OK);
    return DN_OK;
}

static int send_failing_then_kill(dn_self *self, const void *arg) {
    (void)send_failing(self, arg);
    (void)send_failing(self, arg);
    return dn_kill(self, dn_name(self, arg));
}

TEST(a_bodys_release_that_fails_is_called_once_and_harms_no_bystander) {
    stage_begins();
    (void)born_of(&reading, "a");
    (void)born("b");
    in("root", send_failing, "a");
    CHECK_INT(releases, 1);
    CHECK(is_alive("root"));
    CHECK(is_alive("b"));
    CHECK_UINT(inspect()->crashed, 1);
    CHECK_STR(inspect()->crashes[0].why, "in a release");
}

TEST(bodies_whose_release_fails_in_a_dying_mailbox_are_each_released_once) {
    stage_begins();
    (void)born_of(&reading, "a");
    (void)born("b");
    in("root", send_failing_then_kill, "a");
    CHECK_INT(releases, 2);
    CHECK(!is_alive("a"));
    CHECK(is_alive("b"));
    CHECK_UINT(inspect()->actors, 2);
    (void)born("a");
    in("root", act_send, LETTERS("a", 11));
    CHECK_STR(said(), "a:11");
}

/* ---- Bodies ---- */

static size_t expected_size;

static int on_pattern(dn_self *self, void *state, const dn_msg *msg) {
    const unsigned char *body = dn_msg_body_borrow(msg);

    (void)self, (void)state;
    CHECK_UINT(dn_msg_size(msg), expected_size);
    for (size_t i = 0; i < expected_size; i++) CHECK_INT(body[i], (unsigned char)(i * 7 + 1));
    CHECK_UINT((uintptr_t)body % 8, 0);
    say("ok");
    return DN_OK;
}
static const dn_handler pattern_rows[] = {{10, on_pattern}, PROBE_ROWS};
static const dn_class   pattern_class = {.name = "pattern", .handlers = DN_SLICE(pattern_rows)};

static int send_pattern(dn_self *self, const void *arg) {
    const size_t   size = *(const size_t *)arg;
    unsigned char *body = malloc(size + 1);

    for (size_t i = 0; i < size; i++) body[i] = (unsigned char)(i * 7 + 1);
    CHECK_INT(dn_send(self, dn_name(self, "a"), 10, body, size), DN_OK);
    CHECK_INT(dn_post(dn_self_runtime(self), dn_name(self, "a"), 10, body, size), DN_OK);
    dn_msg *m = dn_msg_new(self, 10, size);
    for (size_t i = 0; i < size; i++) CHECK_INT(((unsigned char *)dn_msg_body(m))[i], 0);
    memcpy(dn_msg_body(m), body, size);
    CHECK_INT(dn_send_take(self, dn_name(self, "a"), m), DN_OK);
    memset(body, 0, size); /* a copy was sent */
    free(body);
    return DN_OK;
}

TEST(a_body_of_any_size_arrives_as_it_was_and_a_new_one_is_zeroed) {
    static const size_t sizes[] = {0,          1,   7,   8,   9,   63,   INLINE - 1, INLINE,
                                   INLINE + 1, 511, 512, 513, 600, 4096, 100000};
    const size_t        len = sizeof sizes / sizeof *sizes;

    stage_begins();
    (void)born_of(&pattern_class, "a");
    for (size_t i = 0; i < 2 * len; i++) { /* and with the memory of bodies that are gone */
        expected_size = sizes[i < len ? i : 2 * len - 1 - i];
        in("root", send_pattern, &expected_size);
        CHECK_INT(post("a", 11, NULL, 0), DN_OK);
        settle();
        CHECK_STR(said(), "ok ok ok a:11");
    }
}

static void say_released(void *body) {
    say("released");
    free(body);
}

static int on_nothing(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state, (void)msg;
    return DN_OK;
}
static const dn_handler full_rows[] = {{10, on_nothing}};
static const dn_class   full_class = {
      .name = "full", .handlers = DN_SLICE(full_rows), .mailbox_max = 1};

static int post_taken(dn_self *self, const void *arg) {
    dn_runtime *rt = dn_self_runtime(self);
    char       *body = malloc(1000);

    (void)arg;
    CHECK(body);
    for (int i = 0; i < 1000; i++) body[i] = (char)(i * 7 + 1);
    CHECK_INT(dn_send(self, dn_name(self, "full"), 10, NULL, 0), DN_OK);
    CHECK_INT(dn_post_take(rt, DN_NOBODY, 10, body, 1000, say_released), DN_EDEAD);
    CHECK_INT(dn_post_take(rt, dn_name(self, "nobody"), 10, body, 1000, say_released), DN_EDEAD);
    CHECK_INT(dn_post_take(rt, dn_name(self, "full"), 10, body, 1000, say_released), DN_EFULL);
    CHECK_INT(dn_post_take(rt, dn_name(self, "a"), 10, body, 1000, say_released), DN_OK);
    say("posted");
    return DN_OK;
}

TEST(a_posted_body_is_the_messages_if_it_was_taken_and_else_stays_who_posts) {
    stage_begins();
    (void)born_of(&pattern_class, "a");
    (void)born_of(&full_class, "full");
    expected_size = 1000;
    in("root", post_taken, NULL);
    settle();
    CHECK_STR(said(), "posted ok released");
}

static int on_typed(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state;
    say("%d", *DN_BODY(int, msg));
    return DN_OK;
}
static const dn_handler typed_rows[] = {{10, on_typed}, PROBE_ROWS};
static const dn_class   typed_class = {.name = "typed", .handlers = DN_SLICE(typed_rows)};

TEST(a_body_of_another_type_fails_its_handler) {
    stage_begins();
    (void)born_of(&typed_class, "a");
    CHECK_INT(post("a", 10, &(int){42}, sizeof(int)), DN_OK);
    settle();
    CHECK(is_alive("a"));
    CHECK_INT(post("a", 10, &(int64_t){42}, sizeof(int64_t)), DN_OK);
    settle();
    CHECK(!is_alive("a"));
    CHECK_STR(said(), "42");
    CHECK_INT(inspect()->crashes[0].reason, DN_EFAILED);
    CHECK_UINT(inspect()->crashes[0].kind, 10);
}

/* ---- Senders ---- */

static int name_sender(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    const dn_ref from = dn_msg_from(msg);
    const char  *who = dn_ref_equal(from, dn_whereis(self, dn_name(self, "root"))) ? "root"
                       : dn_ref_equal(from, dn_whereis(self, dn_name(self, "a")))  ? "a"
                                                                                   : "?";
    say("from-%s", who);
    return DN_OK;
}
static const dn_handler naming_rows[] = {{10, name_sender}, PROBE_ROWS};
static const dn_class   naming = {.name = "naming", .handlers = DN_SLICE(naming_rows)};

TEST(a_forwarded_message_comes_from_its_forwarder) {
    stage_begins();
    (void)born_of(&forwarding, "a");
    (void)born_of(&naming, "b");
    in("root", act_send, LETTERS("a", 10));
    in("root", act_send, LETTERS("b", 10));
    CHECK_STR(said(), "from-a from-root");
}

static int forward_and_name(dn_self *self, void *state, const dn_msg *msg) {
    CHECK_INT(dn_forward(self, dn_name(self, "nobody"), msg), DN_EDEAD);
    return name_sender(self, state, msg);
}
static const dn_handler trying_rows[] = {{10, forward_and_name}, PROBE_ROWS};
static const dn_class   trying = {.name = "trying", .handlers = DN_SLICE(trying_rows)};

TEST(a_message_that_could_not_be_sent_on_still_comes_from_its_sender) {
    stage_begins();
    (void)born_of(&trying, "a");
    in("root", act_send, LETTERS("a", 10));
    CHECK_STR(said(), "from-root");
}

static int name_kept_sender(dn_self *self, const void *arg) {
    CHECK_INT(dn_send_take(self, dn_name(self, arg), kept), DN_EDEAD);
    return name_sender(self, NULL, kept);
}

TEST(a_kept_message_that_could_not_be_sent_still_comes_from_its_sender) {
    stage_begins();
    (void)born_of(&keeping, "a");
    in("root", act_send, LETTERS("a", 10));
    in("a", name_kept_sender, "nobody");
    CHECK_STR(said(), "from-root");
}

static int say_call(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state;
    CHECK(!dn_msg_is_request(msg));
    CHECK_UINT(dn_msg_call(msg), 0);
    CHECK_INT(dn_msg_deadline(msg), INT64_MAX);
    say("no call");
    return DN_OK;
}
static const dn_handler plain_rows[] = {{10, say_call}, PROBE_ROWS};
static const dn_class   plain = {.name = "plain", .handlers = DN_SLICE(plain_rows)};

TEST(an_ordinary_message_is_no_request) {
    stage_begins();
    (void)born_of(&plain, "a");
    in("root", act_send, LETTERS("a", 10));
    CHECK_STR(said(), "no call");
}
