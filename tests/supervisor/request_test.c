/* request_test.c - what a supervisor is asked: how it stands, to stop a child, to start it again. */
#include "world.h"

TEST(counts_tell_specs_running_starts_and_restarts) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b", .restart = DN_TRANSIENT),
                                           CHILD("c", .restart = DN_TEMPORARY)};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    crash("a");
    finish("b");
    finish("c");
    const dn_sup_counts *counts = ask_counts();
    CHECK_UINT(counts->specs, 2);
    CHECK_UINT(counts->active, 1);
    CHECK_UINT(counts->started, 4);
    CHECK_UINT(counts->restarts, 1);
}

TEST(a_child_is_known_by_its_name) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    CHECK_INT(ask_child("b")->status, DN_OK);
    const dn_ref first = w.child.who;
    CHECK(!dn_ref_is_nobody(first));
    crash("b");
    CHECK(!dn_ref_is_nobody(ask_child("b")->who));
    CHECK(!dn_ref_equal(w.child.who, first));
    CHECK_UINT(w.child.restarts, 1);
}

TEST(a_name_that_no_child_has_is_answered_with_einval) {
    const dn_child_spec      children[] = {CHILD("a")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    const int whats[] = {ASK_CHILD, ASK_STOP, ASK_RESTART};
    for (int i = 0; i < 3; i++) {
        ask(whats[i], "nobody");
        CHECK_INT(w.answers, i + 1);
        CHECK_INT(w.child.status, DN_EINVAL);
    }
}

TEST(a_request_that_names_nothing_is_answered_with_einval) {
    const dn_child_spec      children[] = {CHILD("a")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    post("sup", DN_SUP_STOP_CHILD, "a", 1); /* no call, and not even a string */
    post("sup", DN_SUP_RESTART_CHILD, NULL, 0);
    post("sup", DN_SUP_ASK_CHILD, "a\0b", 4);
    CHECK(is_running("a"));
}

/* ---- Stopping a child ---- */

TEST(a_child_stopped_by_request_stays_stopped) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    said();
    ask(ASK_STOP, "a");
    CHECK_INT(w.answers, 1);
    CHECK_INT(w.child.status, DN_OK);
    CHECK(dn_ref_is_nobody(w.child.who));
    pass_ms(1000);
    CHECK_STR(said(), "-a");
    CHECK_UINT(ask_counts()->specs, 2);
}

TEST(the_answer_to_a_stop_comes_when_the_child_is_gone) {
    const dn_child_spec      children[] = {CHILD("a", .shutdown_ms = 200)};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("a")->stop_ms = FOREVER;
    world_begins(&spec);
    said();
    ask(ASK_STOP, "a");
    pass_ms(199);
    CHECK_INT(w.answers, 0);
    pass_ms(1);
    CHECK_INT(w.answers, 1);
    CHECK_STR(said(), "~a !a");
}

TEST(a_child_that_is_not_running_is_stopped_already) {
    const dn_child_spec      children[] = {CHILD("a")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    ask(ASK_STOP, "a");
    ask(ASK_STOP, "a");
    CHECK_INT(w.answers, 2);
    CHECK_INT(w.child.status, DN_OK);
}

TEST(two_requests_to_stop_one_child_are_both_answered) {
    const dn_child_spec      children[] = {CHILD("a")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("a")->stop_ms = 100;
    world_begins(&spec);
    ask(ASK_STOP, "a");
    ask(ASK_STOP, "a");
    pass_ms(100);
    CHECK_INT(w.answers, 2);
    CHECK_INT(w.child.status, DN_OK);
}

TEST(a_temporary_child_stopped_by_request_is_forgotten) {
    const dn_child_spec      children[] = {CHILD("a", .restart = DN_TEMPORARY)};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    ask(ASK_STOP, "a");
    CHECK_INT(w.child.status, DN_OK);
    ask(ASK_RESTART, "a");
    CHECK_INT(w.child.status, DN_EINVAL);
}

TEST(a_stop_calls_off_a_restart_that_waits) {
    const dn_child_spec      children[] = {CHILD("a", .backoff = {.min_ms = 100})};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    said();
    crash("a");
    ask(ASK_STOP, "a");
    CHECK_INT(w.child.status, DN_OK);
    pass_ms(1000);
    CHECK_STR(said(), "!a");
}

TEST(a_stop_calls_off_a_restart_of_several_that_waits_for_nobody_else) {
    const dn_child_spec      children[] = {CHILD("a", .backoff = {.min_ms = 100}), CHILD("b")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ALL, children);

    world_begins(&spec);
    said();
    crash("a");
    ask(ASK_STOP, "a");
    pass_ms(1000);
    CHECK_STR(said(), "!a");
    crash("b");
    CHECK_STR(said(), "!b +b");
}

TEST(a_stop_does_not_call_off_a_restart_of_several_that_waits_for_others_too) {
    const dn_child_spec      children[] = {CHILD("a", .backoff = {.min_ms = 100}),
                                           CHILD("b", .backoff = {.min_ms = 100}), CHILD("c")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ALL, children);

    world_begins(&spec);
    said();
    crash("a");
    crash("b");
    ask(ASK_STOP, "a");
    CHECK_STR(said(), "!a !b");
    pass_ms(100);
    CHECK_STR(said(), "-c +b +c");
}

TEST(a_stop_at_the_moment_a_pending_start_is_given_up_keeps_the_child_stopped) {
    const dn_child_spec      children[] = {CHILD("a", .start_ms = 100)};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    for (int i = 0; i < 50; i++) {
        world_again();
        world_begins(&spec);
        part_of("a")->init_ms = FOREVER;
        crash("a");
        part_of("a")->init_ms = 0;
        order_in(100, ASK_STOP, "a");
        pass_ms(1000);
        CHECK_INT(w.answers, 1);
        CHECK_INT(w.child.status, DN_OK);
        CHECK(!is_running("a"));
    }
}

TEST(a_stop_ends_a_restart_that_is_pending) {
    const dn_child_spec      children[] = {CHILD("a")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    said();
    part_of("a")->init_ms = 100;
    crash("a");
    ask(ASK_STOP, "a");
    CHECK_INT(w.answers, 1);
    pass_ms(1000);
    CHECK_STR(said(), "!a xa");
}

TEST(a_stop_of_a_child_in_the_middle_of_the_first_start_lets_the_others_start) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b"), CHILD("c")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("b")->init_ms = 100;
    world_begins(&spec);
    ask(ASK_STOP, "b");
    CHECK_STR(said(), "+a xb +c");
    CHECK_INT(w.spawn_status, DN_OK);
}

TEST(while_a_child_is_stopped_in_the_middle_of_the_first_start_the_next_one_waits) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b"), CHILD("c")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("b")->init_ms = FOREVER;
    part_of("b")->stop_ms = 100;
    world_begins(&spec);
    ask(ASK_STOP, "b");
    ask(ASK_STOP, "a");
    pass_ms(99);
    CHECK_STR(said(), "+a ~b -a");
    pass_ms(1);
    CHECK_STR(said(), "xb +c");
    CHECK_INT(w.spawn_status, DN_OK);
}

TEST(a_stop_of_a_child_whose_start_is_still_to_come_leaves_it_out) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b"), CHILD("c")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("a")->init_ms = 100;
    world_begins(&spec);
    ask(ASK_STOP, "b");
    CHECK_INT(w.answers, 1);
    pass_ms(100);
    CHECK_STR(said(), "+a +c");
}

TEST(a_child_stopped_by_request_is_left_out_when_its_siblings_restart) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b"), CHILD("c")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ALL, children);

    world_begins(&spec);
    ask(ASK_STOP, "b");
    said();
    crash("a");
    CHECK_STR(said(), "!a -c +a +c");
}

TEST(a_stop_in_the_middle_of_a_restart_of_several_leaves_the_child_out) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b"), CHILD("c")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ALL, children);

    part_of("c")->stop_ms = 100;
    world_begins(&spec);
    said();
    crash("a");
    ask(ASK_STOP, "b");
    CHECK_STR(said(), "!a ~c -b");
    CHECK_INT(w.answers, 1);
    pass_ms(100);
    CHECK_STR(said(), "-c +a +c");
}

TEST(a_stop_of_a_child_that_failed_while_others_start_is_dealt_with_by_the_stop) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("b")->init_ms = 100;
    world_begins(&spec);
    crash("a");
    ask(ASK_STOP, "a");
    CHECK_INT(w.answers, 1);
    pass_ms(100);
    CHECK_STR(said(), "+a !a +b");
    CHECK_UINT(ask_counts()->restarts, 0);
}

/* ---- Starting it again ---- */

TEST(a_stopped_child_starts_again_on_request) {
    const dn_child_spec      children[] = {CHILD("a")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    ask(ASK_STOP, "a");
    ask(ASK_RESTART, "a");
    CHECK_INT(w.answers, 2);
    CHECK_INT(w.child.status, DN_OK);
    CHECK(!dn_ref_is_nobody(w.child.who));
    CHECK_UINT(w.child.restarts, 1);
    CHECK_STR(said(), "+a -a +a");
}

TEST(a_child_that_ended_normally_starts_again_on_request) {
    const dn_child_spec      children[] = {CHILD("a", .restart = DN_TRANSIENT)};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    finish("a");
    ask(ASK_RESTART, "a");
    CHECK_INT(w.child.status, DN_OK);
    CHECK_STR(said(), "+a -a +a");
}

TEST(a_child_started_again_on_request_is_supervised_again) {
    const dn_child_spec      children[] = {CHILD("a")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    ask(ASK_STOP, "a");
    ask(ASK_RESTART, "a");
    said();
    crash("a");
    CHECK_STR(said(), "!a +a");
    part_of("a")->init_fails = 1;
    crash("a");
    pass_ms(1);
    CHECK_STR(said(), "!a xa +a");
}

TEST(a_child_started_again_on_request_restarts_with_its_siblings_again) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ALL, children);

    world_begins(&spec);
    ask(ASK_STOP, "b");
    ask(ASK_RESTART, "b");
    said();
    crash("a");
    CHECK_STR(said(), "!a -b +a +b");
}

TEST(a_start_on_request_that_fails_leaves_the_child_out_when_its_siblings_restart) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ALL, children);

    world_begins(&spec);
    ask(ASK_STOP, "b");
    part_of("b")->init_fails = 1;
    ask(ASK_RESTART, "b");
    said();
    crash("a");
    CHECK_STR(said(), "!a +a");
}

TEST(a_start_on_request_does_not_count_as_a_restart) {
    const dn_child_spec      children[] = {CHILD("a")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    ask(ASK_STOP, "a");
    ask(ASK_RESTART, "a");
    CHECK_UINT(ask_counts()->restarts, 0);
    CHECK_UINT(ask_counts()->started, 2);
}

TEST(the_answer_to_a_start_comes_when_the_child_is_up) {
    const dn_child_spec      children[] = {CHILD("a")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    ask(ASK_STOP, "a");
    part_of("a")->init_ms = 100;
    ask(ASK_RESTART, "a");
    pass_ms(99);
    CHECK_INT(w.answers, 1);
    pass_ms(1);
    CHECK_INT(w.answers, 2);
    CHECK(!dn_ref_is_nobody(w.child.who));
}

TEST(a_start_on_request_that_fails_is_answered_and_not_retried) {
    const dn_child_spec      children[] = {CHILD("a")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    ask(ASK_STOP, "a");
    said();
    part_of("a")->init_fails = 1;
    ask(ASK_RESTART, "a");
    pass_ms(1000);
    CHECK_INT(w.child.status, DN_EIO);
    CHECK_STR(said(), "xa");
    CHECK(!is_running("a"));
}

TEST(a_pending_start_on_request_that_fails_is_answered_and_not_retried) {
    const dn_child_spec      children[] = {CHILD("a")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    ask(ASK_STOP, "a");
    said();
    part_of("a")->init_ms = 50;
    part_of("a")->init_fails = 1;
    ask(ASK_RESTART, "a");
    pass_ms(1000);
    CHECK_INT(w.answers, 2);
    CHECK_INT(w.child.status, DN_EIO);
    CHECK_STR(said(), "xa");
}

TEST(a_start_on_request_past_its_deadline_is_answered_with_etime) {
    const dn_child_spec      children[] = {CHILD("a", .start_ms = 100)};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    ask(ASK_STOP, "a");
    said();
    part_of("a")->init_ms = FOREVER;
    ask(ASK_RESTART, "a");
    pass_ms(1000);
    CHECK_INT(w.answers, 2);
    CHECK_INT(w.child.status, DN_ETIME);
    CHECK_STR(said(), "xa");
}

TEST(a_child_that_runs_is_not_started_again) {
    const dn_child_spec      children[] = {CHILD("a")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    ask(ASK_RESTART, "a");
    CHECK_INT(w.child.status, DN_EEXIST);
    CHECK(!dn_ref_is_nobody(w.child.who));
}

TEST(a_child_about_to_be_restarted_is_not_started_by_request) {
    const dn_child_spec      children[] = {CHILD("a", .backoff = {.min_ms = 100})};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    crash("a");
    ask(ASK_RESTART, "a");
    CHECK_INT(w.child.status, DN_EEXIST);
}

TEST(a_start_on_request_waits_for_the_step_under_way) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b"), CHILD("c")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_REST_FOR_ONE, children);

    part_of("c")->stop_ms = 100;
    world_begins(&spec);
    ask(ASK_STOP, "a");
    said();
    crash("b");
    ask(ASK_RESTART, "a");
    CHECK_INT(w.answers, 1);
    pass_ms(100);
    CHECK_INT(w.answers, 2);
    CHECK_INT(w.child.status, DN_OK);
    CHECK_STR(said(), "!b ~c -c +b +c +a");
}

TEST(a_stop_overtakes_a_start_that_is_pending) {
    const dn_child_spec      children[] = {CHILD("a")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    ask(ASK_STOP, "a");
    part_of("a")->init_ms = 100;
    ask(ASK_RESTART, "a");
    ask(ASK_STOP, "a");
    CHECK_INT(w.answers, 3);
    CHECK_INT(w.statuses[1], DN_ESHUTDOWN);
    CHECK_INT(w.statuses[2], DN_OK);
    pass_ms(1000);
    CHECK(!is_running("a"));
}

/* ---- At the end, and at the bound ---- */

TEST(requests_that_wait_when_the_supervisor_ends_fail) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("a")->stop_ms = 100;
    world_begins(&spec);
    ask(ASK_STOP, "a");
    kill_actor("sup");
    CHECK_INT(w.answers, 0);
    CHECK_INT(w.failed_calls, 1);
}

TEST(a_supervisor_that_is_ending_starts_nothing) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("a")->stop_ms = 100;
    world_begins(&spec);
    stop("sup");
    ask(ASK_RESTART, "b");
    CHECK_INT(w.child.status, DN_ESHUTDOWN);
}

TEST(a_stop_that_waits_is_answered_in_the_course_of_the_end) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("a")->stop_ms = 200;
    part_of("b")->stop_ms = 100;
    world_begins(&spec);
    ask(ASK_STOP, "b");
    stop("sup");
    pass_ms(100);
    CHECK_INT(w.answers, 1);
    CHECK_INT(w.child.status, DN_OK);
    CHECK(!w.is_down);
}

TEST(so_many_requests_wait_and_one_more_is_answered_with_efull) {
    const dn_child_spec      children[] = {CHILD("a")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("a")->stop_ms = 100;
    world_begins(&spec);
    for (int i = 0; i < DN_SUP_REQUESTS_MAX; i++) ask(ASK_STOP, "a");
    CHECK_INT(w.answers, 0);
    ask(ASK_STOP, "a");
    CHECK_INT(w.answers, 1);
    CHECK_INT(w.child.status, DN_EFULL);
    pass_ms(100);
    CHECK_INT(w.answers, DN_SUP_REQUESTS_MAX + 1);
    CHECK_INT(w.child.status, DN_OK);
}
