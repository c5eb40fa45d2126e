/* dynamic_test.c - many equal children: started on request, bounded, stopped together. */
#include "world.h"

static void begin(const dn_dynamic_spec *spec) { world_begins_with(&dn_dynamic_class, spec); }

/* Starts the part of that name as a child. */
static dn_ref start(const char *name) {
    ask(ASK_START, name);
    return w.child.who;
}

static void tell(dn_ref who, uint32_t kind) {
    CHECK_INT(dn_post(w.runtime, who, kind, NULL, 0), DN_OK);
    settle();
}

TEST(a_child_is_started_on_request_with_a_copy_of_the_config) {
    const dn_dynamic_spec spec = {.actor_class = &part_class};

    begin(&spec);
    CHECK_STR(said(), "");
    CHECK(!dn_ref_is_nobody(start("a")));
    CHECK_INT(w.child.status, DN_OK);
    CHECK(!dn_ref_is_nobody(start("b")));
    CHECK_STR(said(), "+a +b");
}

TEST(a_child_that_ends_is_not_restarted_and_not_counted) {
    const dn_dynamic_spec spec = {.actor_class = &part_class};

    begin(&spec);
    const dn_ref a = start("a");
    const dn_ref b = start("b");
    CHECK_UINT(ask_counts()->active, 2);
    tell(a, PART_CRASH);
    tell(b, PART_END);
    CHECK_STR(said(), "+a +b !a -b");
    CHECK_UINT(ask_counts()->active, 0);
    CHECK_UINT(ask_counts()->specs, 0);
    CHECK_UINT(ask_counts()->started, 2);
}

TEST(one_child_more_than_the_bound_is_refused) {
    const dn_dynamic_spec spec = {.actor_class = &part_class, .children_max = 2};

    begin(&spec);
    const dn_ref a = start("a");
    start("b");
    start("c");
    CHECK_INT(w.child.status, DN_EFULL);
    CHECK(dn_ref_is_nobody(w.child.who));
    CHECK_STR(said(), "+a +b");
    tell(a, PART_END);
    start("c");
    CHECK_INT(w.child.status, DN_OK);
}

TEST(a_child_whose_start_is_pending_counts_towards_the_bound) {
    const dn_dynamic_spec spec = {.actor_class = &part_class, .children_max = 1};

    begin(&spec);
    part_of("a")->init_ms = 100;
    start("a");
    start("b");
    CHECK_INT(w.child.status, DN_EFULL);
}

TEST(the_answer_comes_when_the_child_is_up) {
    const dn_dynamic_spec spec = {.actor_class = &part_class};

    begin(&spec);
    part_of("a")->init_ms = 100;
    start("a");
    CHECK_UINT(ask_counts()->specs, 1);
    CHECK_UINT(ask_counts()->active, 0);
    const int answers = w.answers;
    pass_ms(99);
    CHECK_INT(w.answers, answers);
    pass_ms(1);
    CHECK_INT(w.answers, answers + 1);
    CHECK_INT(w.child.status, DN_OK);
    CHECK(!dn_ref_is_nobody(w.child.who));
    CHECK_UINT(ask_counts()->active, 1);
}

TEST(a_child_that_was_pending_is_watched_when_it_is_up) {
    const dn_dynamic_spec spec = {.actor_class = &part_class};

    begin(&spec);
    part_of("a")->init_ms = 100;
    start("a");
    pass_ms(100);
    tell(w.child.who, PART_CRASH);
    CHECK_UINT(ask_counts()->specs, 0);
}

TEST(a_start_that_fails_is_answered_with_its_code) {
    const dn_dynamic_spec spec = {.actor_class = &part_class};

    begin(&spec);
    part_of("a")->init_fails = FOREVER;
    start("a");
    CHECK_INT(w.child.status, DN_EIO);
    CHECK(dn_ref_is_nobody(w.child.who));
    CHECK_UINT(ask_counts()->specs, 0);
}

TEST(a_pending_start_that_fails_is_answered_with_its_code) {
    const dn_dynamic_spec spec = {.actor_class = &part_class};

    begin(&spec);
    part_of("a")->init_ms = 100;
    part_of("a")->init_fails = FOREVER;
    start("a");
    pass_ms(100);
    CHECK_INT(w.answers, 1);
    CHECK_INT(w.child.status, DN_EIO);
    CHECK_UINT(ask_counts()->specs, 0);
}

TEST(a_config_beyond_the_limit_is_not_sent) {
    static const char     config[DN_DYNAMIC_CONFIG_MAX + 1];
    const dn_dynamic_spec spec = {.actor_class = &part_class};

    begin(&spec);
    post("sup", DN_SUP_START, config, sizeof config); /* by hand, past dn_dynamic_start */
    CHECK_UINT(ask_counts()->specs, 0);
}

TEST(a_dynamic_supervisor_knows_no_names) {
    const dn_dynamic_spec spec = {.actor_class = &part_class};

    begin(&spec);
    start("a");
    const int whats[] = {ASK_CHILD, ASK_STOP, ASK_RESTART};
    for (int i = 0; i < 3; i++) {
        ask(whats[i], "a");
        CHECK_INT(w.child.status, DN_EINVAL);
    }
}

/* ---- Stopping ---- */

TEST(all_children_stop_together) {
    const dn_dynamic_spec spec = {.actor_class = &part_class};

    part_of("a")->stop_ms = part_of("b")->stop_ms = part_of("c")->stop_ms = 100;
    begin(&spec);
    start("a");
    start("b");
    start("c");
    stop("sup");
    pass_ms(99);
    CHECK(!w.is_down);
    pass_ms(1);
    CHECK(w.is_down);
    CHECK_INT(w.reason, DN_ESHUTDOWN);
    CHECK_INT(w.down_at_ms, 100);
}

TEST(children_that_do_not_stop_by_the_common_deadline_are_killed) {
    const dn_dynamic_spec spec = {.actor_class = &part_class, .shutdown_ms = 200};

    part_of("a")->stop_ms = FOREVER;
    part_of("c")->stop_ms = FOREVER;
    begin(&spec);
    start("a");
    start("b");
    start("c");
    said();
    stop("sup");
    CHECK_UINT(strlen(said()), strlen("~a -b ~c"));
    pass_ms(199);
    CHECK_STR(said(), "");
    pass_ms(1);
    CHECK_UINT(strlen(said()), strlen("!a !c"));
    CHECK_INT(w.down_at_ms, 200);
}

TEST(children_that_are_to_be_killed_are_not_asked_to_stop) {
    const dn_dynamic_spec spec = {.actor_class = &part_class, .shutdown_ms = DN_SHUTDOWN_KILL};

    begin(&spec);
    start("a");
    said();
    stop("sup");
    CHECK_STR(said(), "!a");
    CHECK_INT(w.reason, DN_ESHUTDOWN);
}

TEST(children_without_a_deadline_are_waited_for) {
    const dn_dynamic_spec spec = {.actor_class = &part_class, .shutdown_ms = DN_SHUTDOWN_FOREVER};

    part_of("a")->stop_ms = 3600 * 1000;
    begin(&spec);
    start("a");
    stop("sup");
    pass_ms(3600 * 1000);
    CHECK_INT(w.down_at_ms, 3600 * 1000);
    CHECK_STR(said(), "+a ~a -a");
}

TEST(a_dynamic_supervisor_without_children_stops_at_once) {
    const dn_dynamic_spec spec = {.actor_class = &part_class};

    begin(&spec);
    stop("sup");
    CHECK(w.is_down);
    CHECK_INT(w.reason, DN_ESHUTDOWN);
}

TEST(a_dynamic_supervisor_that_is_ending_starts_nothing) {
    const dn_dynamic_spec spec = {.actor_class = &part_class};

    part_of("a")->stop_ms = 100;
    begin(&spec);
    start("a");
    stop("sup");
    start("b");
    CHECK_INT(w.child.status, DN_ESHUTDOWN);
}

TEST(a_pending_child_that_is_to_be_killed_is_not_waited_for) {
    const dn_dynamic_spec spec = {.actor_class = &part_class, .shutdown_ms = DN_SHUTDOWN_KILL};

    begin(&spec);
    part_of("a")->init_ms = FOREVER;
    start("a");
    stop("sup");
    CHECK(w.is_down);
    CHECK_STR(said(), "xa");
}

TEST(a_pending_child_that_fails_while_all_stop_is_the_last_to_be_waited_for) {
    const dn_dynamic_spec spec = {.actor_class = &part_class};

    begin(&spec);
    part_of("a")->init_ms = 100;
    part_of("a")->init_fails = FOREVER;
    part_of("a")->stop_ms = FOREVER;
    start("a");
    stop("sup");
    pass_ms(99);
    CHECK(!w.is_down);
    pass_ms(1);
    CHECK(w.is_down);
}

TEST(a_child_that_comes_up_while_all_stop_is_stopped_too) {
    const dn_dynamic_spec spec = {.actor_class = &part_class};

    begin(&spec);
    part_of("a")->init_ms = 100;
    start("a");
    stop("sup");
    CHECK(!w.is_down);
    pass_ms(100);
    CHECK_STR(said(), "+a -a");
    CHECK_INT(w.down_at_ms, 100);
}

TEST(a_child_that_never_comes_up_is_not_waited_for_beyond_the_deadline) {
    const dn_dynamic_spec spec = {.actor_class = &part_class, .shutdown_ms = 200};

    begin(&spec);
    part_of("a")->init_ms = FOREVER;
    start("a");
    stop("sup");
    pass_ms(199);
    CHECK(!w.is_down);
    pass_ms(1);
    CHECK(w.is_down);
    CHECK_STR(said(), "xa");
    CHECK_INT(w.failed_calls, 1); /* nobody answered it any more */
}

TEST(the_children_of_a_killed_dynamic_supervisor_are_killed) {
    const dn_dynamic_spec spec = {.actor_class = &part_class};

    begin(&spec);
    start("a");
    start("b");
    said();
    kill_actor("sup");
    CHECK_UINT(strlen(said()), strlen("!a !b"));
}

TEST(a_dynamic_supervisor_stops_in_its_turn_under_another_one) {
    const dn_dynamic_spec tasks = {.actor_class = &part_class};
    const dn_child_spec   children[] = {CHILD("a"), dn_dynamic_child("tasks", &tasks), CHILD("c")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);
    const int                number = *part_config("t");

    part_of("t")->stop_ms = 100;
    world_begins(&spec);
    post("tasks", DN_SUP_START, &number, sizeof number);
    stop("sup");
    CHECK_STR(said(), "+a +c +t -c ~t");
    pass_ms(100);
    CHECK_STR(said(), "-t -a");
}

static size_t heap_bytes(void) {
    ask(ASK_HEAP, "");
    CHECK(w.heap_bytes > 0);
    return w.heap_bytes;
}

/* ---- Of a sender ---- */

/* An actor that has children started, and hears of those that end otherwise than they should. */
enum { SENDER_START = 1, SENDER_END };

typedef struct sender_heard {
    int     len;
    dn_down last;
} sender_heard;
static sender_heard heard;

static int sender_init(dn_self *self, void *state, const void *config) {
    (void)self, (void)state, (void)config;
    return DN_OK;
}

/* The parts of those numbers, in one message; the tag of each is a hundred more. */
static int sender_on_start(dn_self *self, void *state, const dn_msg *msg) {
    const int   *numbers = dn_msg_body_borrow(msg);
    const size_t len = dn_msg_size(msg) / sizeof *numbers;
    union {
        dn_dynamic_wanted wanted;
        char              bytes[sizeof(dn_dynamic_wanted) + 8];
    } all[PARTS];

    (void)state;
    memset(all, 0, sizeof all);
    for (size_t i = 0; i < len; i++) {
        all[i].wanted.tag = 100 + (uint64_t)numbers[i];
        all[i].wanted.size = sizeof numbers[i];
        memcpy(all[i].wanted.config, &numbers[i], sizeof numbers[i]);
    }
    return dn_send(self, dn_name(self, "sup"), DN_SUP_START_ALL, all, len * sizeof all[0]);
}

static int sender_on_end(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state, (void)msg;
    return DN_STOP;
}

static int sender_on_ended(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state;
    heard.len++;
    heard.last = *DN_BODY(dn_down, msg);
    return DN_OK;
}

static const dn_handler sender_handlers[] = {
    {SENDER_START, sender_on_start},
    {SENDER_END, sender_on_end},
    {DN_SUP_ENDED, sender_on_ended},
};

static const dn_class sender_class = {
    .name = "sender", .init = sender_init, .handlers = DN_SLICE(sender_handlers)};
static const dn_class deaf_class = {
    .name = "deaf", .init = sender_init, .handlers = DN_SLICE(sender_handlers), .mailbox_max = 2};

/* A supervisor of two actors that have children started by a third, "sup". */
static void begin_with_senders_of(const dn_dynamic_spec *children, const dn_class *one) {
    static dn_supervisor_spec spec;
    static dn_child_spec      rows[3];

    rows[0] = dn_dynamic_child("sup", children);
    rows[1] = (dn_child_spec){.name = "one", .actor_class = one, .restart = DN_TEMPORARY};
    rows[2] =
        (dn_child_spec){.name = "other", .actor_class = &sender_class, .restart = DN_TEMPORARY};
    spec = SUPERVISOR(DN_ONE_FOR_ONE, rows);
    heard = (sender_heard){0};
    world_begins_as("top", &dn_supervisor_class, &spec);
}

static void begin_with_senders(const dn_dynamic_spec *children) {
    begin_with_senders_of(children, &sender_class);
}

static void want(const char *sender, const char *const *names, size_t len) {
    int numbers[PARTS];

    for (size_t i = 0; i < len; i++) numbers[i] = *part_config(names[i]);
    post(sender, SENDER_START, numbers, len * sizeof *numbers);
}
#define WANT(sender, ...)                                                                          \
    want((sender), (const char *const[]){__VA_ARGS__},                                             \
         sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void crash_when_up(dn_self *self, int inits) {
    (void)inits;
    CHECK_INT(dn_send(self, dn_self_ref(self), PART_FAIL, NULL, 0), DN_OK);
}

static void end_when_up(dn_self *self, int inits) {
    (void)inits;
    CHECK_INT(dn_send(self, dn_self_ref(self), PART_END, NULL, 0), DN_OK);
}

TEST(many_children_are_started_by_one_message_in_their_order) {
    const dn_dynamic_spec spec = {.actor_class = &part_class};

    begin_with_senders(&spec);
    WANT("one", "a", "b", "c");
    CHECK_STR(said(), "+a +b +c");
    CHECK_UINT(ask_counts()->active, 3);
    CHECK_INT(heard.len, 0);
}

TEST(a_sender_hears_of_its_child_that_crashed_and_not_of_one_that_ended_normally) {
    const dn_dynamic_spec spec = {.actor_class = &part_class};

    begin_with_senders(&spec);
    part_of("a")->on_up = end_when_up;
    part_of("b")->on_up = crash_when_up;
    WANT("one", "a", "b");
    CHECK_INT(heard.len, 1);
    CHECK_UINT(heard.last.tag, 100 + (uint64_t)*part_config("b"));
    CHECK(!dn_ref_is_nobody(heard.last.who));
    CHECK_INT(heard.last.reason, DN_EFAILED);
    CHECK_STR(heard.last.why, "as it was told");
    CHECK_UINT(ask_counts()->specs, 0);
}

TEST(a_sender_hears_of_a_child_that_did_not_start) {
    const dn_dynamic_spec spec = {.actor_class = &part_class, .children_max = 1};

    begin_with_senders(&spec);
    part_of("a")->init_fails = 1;
    WANT("one", "a");
    CHECK_INT(heard.last.reason, DN_EIO);
    CHECK(dn_ref_is_nobody(heard.last.who));
    part_of("a")->init_fails = 1;
    part_of("a")->init_ms = 10;
    WANT("one", "a");
    CHECK_INT(heard.len, 1);
    pass_ms(10);
    CHECK_INT(heard.len, 2);
    CHECK_INT(heard.last.reason, DN_EIO);
    part_of("a")->init_ms = 0;
    WANT("one", "a", "b");
    CHECK_INT(heard.len, 3);
    CHECK_UINT(heard.last.tag, 100 + (uint64_t)*part_config("b"));
    CHECK_INT(heard.last.reason, DN_EFULL);
}

TEST(the_children_of_a_sender_are_stopped_when_it_ends_and_those_of_others_are_not) {
    const dn_dynamic_spec spec = {.actor_class = &part_class};

    begin_with_senders(&spec);
    part_of("d")->init_ms = 100;
    WANT("one", "a", "d");
    WANT("other", "b");
    start("c");
    CHECK_STR(said(), "+a +b +c");
    post("one", SENDER_END, NULL, 0);
    CHECK_STR(said(), "-a");
    pass_ms(100); /* it comes up, and is nobody's */
    CHECK_STR(said(), "+d -d");
    CHECK_UINT(ask_counts()->active, 2);
}

TEST(the_places_of_children_that_ended_normally_are_free_again) {
    const dn_dynamic_spec spec = {.actor_class = &part_class, .children_max = 3};
    const char *const     names[] = {"a", "b", "c"};

    begin_with_senders(&spec);
    for (size_t i = 0; i < 3; i++) part_of(names[i])->on_up = end_when_up;
    for (int i = 0; i < 50; i++) want("one", names, 3);
    CHECK_INT(heard.len, 0);
    CHECK_UINT(ask_counts()->started, 150);
    CHECK_UINT(ask_counts()->specs, 0);
}

TEST(a_table_does_not_grow_with_the_children_that_come_and_go) {
    const dn_dynamic_spec spec = {.actor_class = &part_class};
    const char *const     names[] = {"a", "b", "c"};

    begin_with_senders(&spec);
    WANT("one", "d");
    const size_t before = heap_bytes();
    for (size_t i = 0; i < 3; i++) part_of(names[i])->on_up = end_when_up;
    for (int i = 0; i < 200; i++) want("one", names, 3);
    CHECK_UINT(heap_bytes(), before);
    CHECK_UINT(ask_counts()->active, 1);
}

TEST(a_table_grows_little_with_children_that_come_and_go_between_many_that_live_long) {
    enum { LONG_LIVED = 40 };
    const dn_dynamic_spec spec = {.actor_class = &part_class};
    const char *const     brief[] = {"a", "b", "c"};
    char                  names[LONG_LIVED][8];

    begin_with_senders(&spec);
    for (int i = 0; i < LONG_LIVED; i++) {
        const char *one = names[i];
        snprintf(names[i], sizeof names[i], "l%d", i);
        want("one", &one, 1);
    }
    for (size_t i = 0; i < 3; i++) part_of(brief[i])->on_up = end_when_up;
    const size_t before = heap_bytes();
    for (int i = 0; i < 3000; i++, (void)said()) want("one", brief, 3);
    CHECK_MSG(heap_bytes() <= 2 * before, "%zu bytes, and %zu before", heap_bytes(), before);
    CHECK_UINT(ask_counts()->active, LONG_LIVED);
}

TEST(a_sender_without_room_to_be_told_is_gone_and_the_children_of_others_are_not) {
    const dn_dynamic_spec spec = {.actor_class = &part_class};
    const char *const     refused[] = {"a", "b", "c", "d"};

    begin_with_senders_of(&spec, &deaf_class);
    WANT("other", "e");
    WANT("one", "f");
    for (size_t i = 0; i < 4; i++) part_of(refused[i])->init_fails = FOREVER;
    said();
    want("one", refused, 4);
    CHECK_UINT(ask_counts()->active, 1);
    WANT("other", "g");
    CHECK_UINT(ask_counts()->active, 2);
}

TEST(a_stop_waits_for_those_who_take_their_time_and_then_end_normally) {
    const dn_dynamic_spec spec = {.actor_class = &part_class, .shutdown_ms = 1000};

    begin_with_senders(&spec);
    part_of("a")->on_up = end_when_up;
    part_of("b")->stop_ms = 100;
    WANT("one", "a", "b");
    said();
    stop("top");
    CHECK_STR(said(), "~b ~b"); /* as its sender ends, and as all of them do */
    pass_ms(99);
    CHECK(!w.is_down);
    pass_ms(1);
    CHECK_STR(said(), "-b");
    CHECK(w.is_down);
}

TEST(what_is_wanted_and_is_not_whole_is_refused) {
    const dn_dynamic_spec   spec = {.actor_class = &part_class};
    const dn_dynamic_wanted wanted = {.tag = 7, .size = 100};

    begin_with_senders(&spec);
    post("sup", DN_SUP_START_ALL, &wanted, sizeof wanted); /* and from nobody */
    post("sup", DN_SUP_START_ALL, &wanted, sizeof wanted - 8);
    CHECK_UINT(ask_counts()->specs, 0);
    WANT("one", "a");
    CHECK_STR(said(), "+a");
}

/* ---- Many ---- */

static void crash_at_once(dn_self *self, int inits) {
    (void)inits;
    CHECK_INT(dn_send(self, dn_self_ref(self), PART_CRASH, NULL, 0), DN_OK);
}

TEST(the_end_of_a_child_is_never_taken_for_that_of_the_next_in_its_place) {
    const dn_dynamic_spec spec = {.actor_class = &part_class};

    for (int i = 0; i < 200; i++) {
        world_again();
        begin(&spec);
        part_of("a")->init_ms = 10;
        part_of("a")->on_up = crash_at_once;
        start("a");
        order_in(10, ASK_START, "b");
        order_in(10, ASK_START, "c");
        pass_ms(100);
        CHECK_UINT(ask_counts()->active, 2);
        stop("sup");
        CHECK(w.is_down);
    }
}

TEST(the_place_of_a_child_is_used_again_however_it_ended) {
    const dn_dynamic_spec spec = {.actor_class = &part_class};

    part_of("fails")->init_fails = FOREVER;
    part_of("fails later")->init_ms = 1;
    part_of("fails later")->init_fails = FOREVER;
    begin(&spec);
    tell(start("a"), PART_END);
    const size_t before = heap_bytes();
    for (int i = 0; i < 100; i++) {
        tell(start("a"), PART_END);
        tell(start("a"), PART_CRASH);
        start("fails");
        start("fails later");
        pass_ms(1);
        said();
    }
    CHECK_UINT(heap_bytes(), before);
}

TEST(children_come_and_go_and_each_is_accounted_for) {
    enum { ALIVE = 500 };
    const dn_dynamic_spec spec = {.actor_class = &part_class};
    uint64_t              random = test_seed();
    dn_ref                alive[ALIVE];
    uint32_t              len = 0;
    uint64_t              started = 0;

    begin(&spec);
    part_of("x");
    for (int i = 0; i < 20000 / TEST_SLOW_FACTOR; i++) {
        if (len < ALIVE && (len == 0 || test_random(&random) % 5 < 3)) {
            alive[len] = start("x");
            CHECK(!dn_ref_is_nobody(alive[len]));
            len++;
            started++;
        } else {
            const uint32_t at = (uint32_t)(test_random(&random) % len);

            tell(alive[at], test_random(&random) % 2 ? PART_CRASH : PART_END);
            alive[at] = alive[--len];
        }
        said();
    }
    CHECK_UINT(ask_counts()->active, len);
    CHECK_UINT(ask_counts()->started, started);
    stop("sup");
    CHECK(w.is_down);
}
