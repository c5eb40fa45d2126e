/* start_stop_test.c - children start in order, stop in reverse, and none is waited for too long. */
#include "world.h"

/* ---- Starting ---- */

TEST(children_start_in_the_order_of_their_specs) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b"), CHILD("c")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    CHECK_STR(said(), "+a +b +c");
}

TEST(a_supervisor_whose_children_start_at_once_has_started_when_spawn_returns) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    CHECK(!w.was_pending);
    CHECK_INT(w.spawn_status, DN_OK);
}

TEST(a_supervisor_without_children_starts_and_stops) {
    const dn_supervisor_spec spec = {.strategy = DN_ONE_FOR_ALL};

    world_begins(&spec);
    CHECK_INT(w.spawn_status, DN_OK);
    stop("sup");
    CHECK(w.is_down);
    CHECK_INT(w.reason, DN_ESHUTDOWN);
}

TEST(a_child_starts_only_when_the_one_before_it_is_up) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b"), CHILD("c")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("b")->init_ms = 100;
    world_begins(&spec);
    pass_ms(99);
    CHECK_STR(said(), "+a");
    pass_ms(1);
    CHECK_STR(said(), "+b +c");
}

TEST(a_supervisor_with_a_pending_child_is_pending_until_all_are_up) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("a")->init_ms = part_of("b")->init_ms = 50;
    world_begins(&spec);
    CHECK(w.was_pending);
    pass_ms(99);
    CHECK_INT(w.spawn_status, DN_PENDING);
    pass_ms(1);
    CHECK_INT(w.spawn_status, DN_OK);
}

TEST(a_supervisor_answers_while_its_children_start) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("b")->init_ms = 100;
    world_begins(&spec);
    CHECK_UINT(ask_counts()->active, 1);
    pass_ms(100);
    CHECK_UINT(ask_counts()->active, 2);
}

TEST(a_child_whose_init_declines_is_left_out_and_the_others_go_on) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b"), CHILD("c")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("b")->init_fails = FOREVER;
    part_of("b")->init_code = DN_STOP;
    world_begins(&spec);
    CHECK_INT(w.spawn_status, DN_OK);
    CHECK_STR(said(), "+a xb +c");
    CHECK(!is_running("b"));
    CHECK_UINT(ask_counts()->specs, 3);
}

TEST(a_temporary_child_whose_init_declines_is_forgotten) {
    const dn_child_spec      children[] = {CHILD("a", .restart = DN_TEMPORARY), CHILD("b")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("a")->init_fails = FOREVER;
    part_of("a")->init_code = DN_STOP;
    world_begins(&spec);
    CHECK_UINT(ask_counts()->specs, 1);
    CHECK_INT(ask_child("a")->status, DN_EINVAL);
}

/* ---- Failing to start ---- */

TEST(a_child_that_does_not_come_up_stops_those_before_it_in_reverse_and_fails_the_supervisor) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b"), CHILD("c"), CHILD("d")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("c")->init_fails = FOREVER;
    world_begins(&spec);
    CHECK_STR(said(), "+a +b xc -b -a");
    CHECK_INT(w.spawn_status, DN_EIO);
}

TEST(a_first_child_that_does_not_come_up_fails_the_spawn_itself) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("a")->init_fails = FOREVER;
    world_begins(&spec);
    CHECK(!w.was_pending);
    CHECK_INT(w.spawn_status, DN_EIO);
    CHECK_STR(said(), "xa");
}

TEST(a_child_that_fails_after_it_was_pending_fails_the_supervisor_too) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("b")->init_ms = 30;
    part_of("b")->init_fails = FOREVER;
    world_begins(&spec);
    pass_ms(30);
    CHECK_STR(said(), "+a xb -a");
    CHECK_INT(w.spawn_status, DN_EIO);
}

TEST(a_name_that_is_taken_fails_the_start) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("stage")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    CHECK_INT(w.spawn_status, DN_EEXIST);
    CHECK_STR(said(), "+a -a");
}

TEST(a_start_past_its_deadline_is_killed_and_fails_the_supervisor) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b", .start_ms = 200)};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("b")->init_ms = FOREVER;
    world_begins(&spec);
    pass_ms(199);
    CHECK_STR(said(), "+a");
    pass_ms(1);
    CHECK_STR(said(), "xb -a");
    CHECK_INT(w.spawn_status, DN_ETIME);
}

TEST(a_start_has_thirty_seconds_if_nothing_is_said) {
    const dn_child_spec      children[] = {CHILD("a")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("a")->init_ms = FOREVER;
    world_begins(&spec);
    pass_ms(29999);
    CHECK_INT(w.spawn_status, DN_PENDING);
    pass_ms(1);
    CHECK_INT(w.spawn_status, DN_ETIME);
}

TEST(a_start_without_a_deadline_is_waited_for) {
    const dn_child_spec      children[] = {CHILD("a", .start_ms = DN_START_FOREVER)};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("a")->init_ms = 3600 * 1000;
    world_begins(&spec);
    pass_ms(3600 * 1000);
    CHECK_STR(said(), "+a");
    CHECK_INT(w.spawn_status, DN_OK);
}

TEST(a_child_that_fails_while_later_ones_still_start_is_restarted_when_they_have) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("b")->init_ms = 100;
    world_begins(&spec);
    crash("a");
    pass_ms(99);
    CHECK_STR(said(), "+a !a");
    pass_ms(1);
    CHECK_STR(said(), "+b +a");
    CHECK_INT(w.spawn_status, DN_OK);
}

/* ---- Stopping ---- */

TEST(children_stop_in_reverse_order) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b"), CHILD("c")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    said();
    stop("sup");
    CHECK_STR(said(), "-c -b -a");
    CHECK(w.is_down);
    CHECK_INT(w.reason, DN_ESHUTDOWN);
}

TEST(a_child_is_stopped_only_when_the_one_after_it_is_gone) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b"), CHILD("c")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("c")->stop_ms = 100;
    world_begins(&spec);
    said();
    stop("sup");
    pass_ms(99);
    CHECK_STR(said(), "~c");
    pass_ms(1);
    CHECK_STR(said(), "-c -b -a");
}

TEST(a_child_that_does_not_stop_in_time_is_killed) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b", .shutdown_ms = 200)};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("b")->stop_ms = FOREVER;
    world_begins(&spec);
    said();
    stop("sup");
    pass_ms(199);
    CHECK_STR(said(), "~b");
    pass_ms(1);
    CHECK_STR(said(), "!b -a");
    CHECK_INT(w.reason, DN_ESHUTDOWN);
}

TEST(each_child_has_a_deadline_of_its_own) {
    const dn_child_spec      children[] = {CHILD("a", .shutdown_ms = 300),
                                           CHILD("b", .shutdown_ms = 200)};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("a")->stop_ms = part_of("b")->stop_ms = FOREVER;
    world_begins(&spec);
    said();
    stop("sup");
    pass_ms(200);
    CHECK_STR(said(), "~b !b ~a");
    pass_ms(299);
    CHECK_STR(said(), "");
    pass_ms(1);
    CHECK_STR(said(), "!a");
    CHECK_INT(w.down_at_ms, 500);
}

TEST(a_child_has_five_seconds_to_stop_if_nothing_is_said) {
    const dn_child_spec      children[] = {CHILD("a")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("a")->stop_ms = FOREVER;
    world_begins(&spec);
    said();
    stop("sup");
    pass_ms(4999);
    CHECK_STR(said(), "~a");
    pass_ms(1);
    CHECK_STR(said(), "!a");
}

TEST(a_child_without_a_deadline_is_waited_for) {
    const dn_child_spec      children[] = {CHILD("a", .shutdown_ms = DN_SHUTDOWN_FOREVER)};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("a")->stop_ms = 3600 * 1000;
    world_begins(&spec);
    said();
    stop("sup");
    pass_ms(3600 * 1000);
    CHECK_STR(said(), "~a -a");
}

TEST(a_child_that_is_to_be_killed_is_not_asked_to_stop) {
    const dn_child_spec      children[] = {CHILD("a", .shutdown_ms = DN_SHUTDOWN_KILL)};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    said();
    stop("sup");
    CHECK_STR(said(), "!a");
}

TEST(a_second_stop_changes_nothing) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("b")->stop_ms = 100;
    world_begins(&spec);
    said();
    stop("sup");
    pass_ms(50);
    stop("sup");
    pass_ms(50);
    CHECK_STR(said(), "~b -b -a");
}

TEST(a_child_that_crashes_while_others_stop_is_not_restarted) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b"), CHILD("c")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("c")->stop_ms = 100;
    world_begins(&spec);
    said();
    stop("sup");
    crash("a");
    pass_ms(100);
    CHECK_STR(said(), "~c !a -c -b");
    CHECK_INT(w.reason, DN_ESHUTDOWN);
}

TEST(a_child_that_crashes_while_it_is_stopped_has_stopped) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("b")->stop_ms = FOREVER;
    world_begins(&spec);
    said();
    stop("sup");
    crash("b");
    CHECK_STR(said(), "~b !b -a");
}

TEST(a_supervisor_answers_while_its_children_stop) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("b")->stop_ms = 100;
    world_begins(&spec);
    stop("sup");
    CHECK_UINT(ask_counts()->active, 1);
}

/* ---- Stopping in the middle of a start ---- */

TEST(a_stop_while_children_start_stops_those_that_are_up) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b"), CHILD("c")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("b")->init_ms = 100;
    world_begins(&spec);
    pass_ms(50);
    stop("sup");
    CHECK_STR(said(), "+a xb -a");
    CHECK_INT(w.spawn_status, DN_ESHUTDOWN);
    pass_ms(1000);
    CHECK_STR(said(), "");
}

TEST(a_stop_while_a_child_starts_waits_for_that_child_as_for_any_other) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b", .shutdown_ms = 300)};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("b")->init_ms = part_of("b")->stop_ms = FOREVER;
    world_begins(&spec);
    stop("sup");
    pass_ms(299);
    CHECK_STR(said(), "+a ~b");
    pass_ms(1);
    CHECK_STR(said(), "xb -a");
    CHECK_INT(w.spawn_status, DN_ESHUTDOWN);
}

/* ---- Kill and crash ---- */

TEST(the_children_of_a_killed_supervisor_are_killed) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    said();
    kill_actor("sup");
    CHECK_INT(w.reason, DN_EKILLED);
    CHECK_UINT(strlen(said()), strlen("!a !b")); /* in whatever order */
    CHECK(dn_post(w.runtime, dn_runtime_name(w.runtime, "a"), PART_CRASH, NULL, 0) == DN_EDEAD);
    CHECK(dn_post(w.runtime, dn_runtime_name(w.runtime, "b"), PART_CRASH, NULL, 0) == DN_EDEAD);
}

TEST(a_child_that_still_starts_is_killed_with_its_supervisor) {
    const dn_child_spec      children[] = {CHILD("a")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("a")->init_ms = FOREVER;
    world_begins(&spec);
    kill_actor("sup");
    CHECK_STR(said(), "xa");
    CHECK_INT(w.spawn_status, DN_EKILLED);
}

TEST(a_nested_supervisor_stops_its_children_before_those_that_started_earlier) {
    const dn_child_spec      inner_children[] = {CHILD("b"), CHILD("c")};
    const dn_supervisor_spec inner = SUPERVISOR(DN_ONE_FOR_ALL, inner_children);
    const dn_child_spec children[] = {CHILD("a"), dn_supervisor_child("inner", &inner), CHILD("d")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    CHECK_STR(said(), "+a +b +c +d");
    stop("sup");
    CHECK_STR(said(), "-d -c -b -a");
}

TEST(a_child_of_a_nested_supervisor_that_fails_to_start_fails_the_whole_tree) {
    const dn_child_spec      inner_children[] = {CHILD("b"), CHILD("c")};
    const dn_supervisor_spec inner = SUPERVISOR(DN_ONE_FOR_ALL, inner_children);
    const dn_child_spec      children[] = {CHILD("a"), dn_supervisor_child("inner", &inner)};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("c")->init_fails = FOREVER;
    world_begins(&spec);
    CHECK_STR(said(), "+a +b xc -b -a");
    CHECK_INT(w.spawn_status, DN_EIO);
}

TEST(a_stop_in_the_middle_of_a_nested_start_unwinds_in_reverse_order) {
    const dn_child_spec      inner_children[] = {CHILD("b"), CHILD("c")};
    const dn_supervisor_spec inner = SUPERVISOR(DN_ONE_FOR_ALL, inner_children);
    const dn_child_spec      children[] = {CHILD("a"), dn_supervisor_child("inner", &inner)};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("c")->init_ms = 100;
    world_begins(&spec);
    pass_ms(50);
    stop("sup");
    CHECK_STR(said(), "+a +b xc -b -a");
    CHECK_INT(w.spawn_status, DN_ESHUTDOWN);
}

TEST(a_killed_tree_leaves_nobody_behind) {
    const dn_child_spec      inner_children[] = {CHILD("b"), CHILD("c")};
    const dn_supervisor_spec inner = SUPERVISOR(DN_ONE_FOR_ALL, inner_children);
    const dn_child_spec      children[] = {CHILD("a"), dn_supervisor_child("inner", &inner)};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    said();
    kill_actor("sup");
    CHECK_UINT(strlen(said()), strlen("!a !b !c"));
}
