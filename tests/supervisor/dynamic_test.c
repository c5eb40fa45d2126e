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
    const dn_dynamic_spec spec = {.cls = &part_class};

    begin(&spec);
    CHECK_STR(said(), "");
    CHECK(!dn_ref_is_nobody(start("a")));
    CHECK_INT(w.child.status, DN_OK);
    CHECK(!dn_ref_is_nobody(start("b")));
    CHECK_STR(said(), "+a +b");
}

TEST(a_child_that_ends_is_not_restarted_and_not_counted) {
    const dn_dynamic_spec spec = {.cls = &part_class};

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
    const dn_dynamic_spec spec = {.cls = &part_class, .children_max = 2};

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
    const dn_dynamic_spec spec = {.cls = &part_class, .children_max = 1};

    begin(&spec);
    part_of("a")->init_ms = 100;
    start("a");
    start("b");
    CHECK_INT(w.child.status, DN_EFULL);
}

TEST(the_answer_comes_when_the_child_is_up) {
    const dn_dynamic_spec spec = {.cls = &part_class};

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
    const dn_dynamic_spec spec = {.cls = &part_class};

    begin(&spec);
    part_of("a")->init_ms = 100;
    start("a");
    pass_ms(100);
    tell(w.child.who, PART_CRASH);
    CHECK_UINT(ask_counts()->specs, 0);
}

TEST(a_start_that_fails_is_answered_with_its_code) {
    const dn_dynamic_spec spec = {.cls = &part_class};

    begin(&spec);
    part_of("a")->init_fails = FOREVER;
    start("a");
    CHECK_INT(w.child.status, DN_EIO);
    CHECK(dn_ref_is_nobody(w.child.who));
    CHECK_UINT(ask_counts()->specs, 0);
}

TEST(a_pending_start_that_fails_is_answered_with_its_code) {
    const dn_dynamic_spec spec = {.cls = &part_class};

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
    const dn_dynamic_spec spec = {.cls = &part_class};

    begin(&spec);
    post("sup", DN_SUP_START, config, sizeof config); /* by hand, past dn_dynamic_start */
    CHECK_UINT(ask_counts()->specs, 0);
}

TEST(a_dynamic_supervisor_knows_no_names) {
    const dn_dynamic_spec spec = {.cls = &part_class};

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
    const dn_dynamic_spec spec = {.cls = &part_class};

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
    const dn_dynamic_spec spec = {.cls = &part_class, .shutdown_ms = 200};

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
    const dn_dynamic_spec spec = {.cls = &part_class, .shutdown_ms = DN_SHUTDOWN_KILL};

    begin(&spec);
    start("a");
    said();
    stop("sup");
    CHECK_STR(said(), "!a");
    CHECK_INT(w.reason, DN_ESHUTDOWN);
}

TEST(children_without_a_deadline_are_waited_for) {
    const dn_dynamic_spec spec = {.cls = &part_class, .shutdown_ms = DN_SHUTDOWN_FOREVER};

    part_of("a")->stop_ms = 3600 * 1000;
    begin(&spec);
    start("a");
    stop("sup");
    pass_ms(3600 * 1000);
    CHECK_INT(w.down_at_ms, 3600 * 1000);
    CHECK_STR(said(), "+a ~a -a");
}

TEST(a_dynamic_supervisor_without_children_stops_at_once) {
    const dn_dynamic_spec spec = {.cls = &part_class};

    begin(&spec);
    stop("sup");
    CHECK(w.is_down);
    CHECK_INT(w.reason, DN_ESHUTDOWN);
}

TEST(a_dynamic_supervisor_that_is_ending_starts_nothing) {
    const dn_dynamic_spec spec = {.cls = &part_class};

    part_of("a")->stop_ms = 100;
    begin(&spec);
    start("a");
    stop("sup");
    start("b");
    CHECK_INT(w.child.status, DN_ESHUTDOWN);
}

TEST(a_pending_child_that_is_to_be_killed_is_not_waited_for) {
    const dn_dynamic_spec spec = {.cls = &part_class, .shutdown_ms = DN_SHUTDOWN_KILL};

    begin(&spec);
    part_of("a")->init_ms = FOREVER;
    start("a");
    stop("sup");
    CHECK(w.is_down);
    CHECK_STR(said(), "xa");
}

TEST(a_pending_child_that_fails_while_all_stop_is_the_last_to_be_waited_for) {
    const dn_dynamic_spec spec = {.cls = &part_class};

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
    const dn_dynamic_spec spec = {.cls = &part_class};

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
    const dn_dynamic_spec spec = {.cls = &part_class, .shutdown_ms = 200};

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
    const dn_dynamic_spec spec = {.cls = &part_class};

    begin(&spec);
    start("a");
    start("b");
    said();
    kill_actor("sup");
    CHECK_UINT(strlen(said()), strlen("!a !b"));
}

TEST(a_dynamic_supervisor_stops_in_its_turn_under_another_one) {
    const dn_dynamic_spec tasks = {.cls = &part_class};
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

/* ---- Many ---- */

static void crash_at_once(dn_self *self, int inits) {
    (void)inits;
    CHECK_INT(dn_send(self, dn_self_ref(self), PART_CRASH, NULL, 0), DN_OK);
}

TEST(the_end_of_a_child_is_never_taken_for_that_of_the_next_in_its_place) {
    const dn_dynamic_spec spec = {.cls = &part_class};

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

static size_t heap_bytes(void) {
    ask(ASK_HEAP, "");
    CHECK(w.heap_bytes > 0);
    return w.heap_bytes;
}

TEST(the_place_of_a_child_is_used_again_however_it_ended) {
    const dn_dynamic_spec spec = {.cls = &part_class};

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
    const dn_dynamic_spec spec = {.cls = &part_class};
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
