/* intensity_test.c - how often is too often, and what comes of it. */
#include "world.h"

static dn_supervisor_spec one(const dn_child_spec *child, uint32_t intensity, int64_t period_ms) {
    return (dn_supervisor_spec){
        .intensity = intensity, .period_ms = period_ms, .children = {.rows = child, .len = 1}};
}

TEST(as_many_restarts_as_the_intensity_are_allowed) {
    const dn_child_spec      child = CHILD("a");
    const dn_supervisor_spec spec = one(&child, 3, 1000);

    world_begins(&spec);
    for (int i = 0; i < 3; i++) crash("a");
    CHECK(!w.is_down);
    CHECK_INT(part_of("a")->inits, 4);
}

TEST(one_restart_more_than_the_intensity_ends_the_supervisor) {
    const dn_child_spec      child = CHILD("a");
    const dn_supervisor_spec spec = one(&child, 3, 1000);

    world_begins(&spec);
    for (int i = 0; i < 4; i++) crash("a");
    CHECK(w.is_down);
    CHECK_INT(w.reason, DN_EINTENSITY);
    CHECK_STR(w.why, "too many restarts, the last of a");
    CHECK_INT(part_of("a")->inits, 4);
}

TEST(an_intensity_of_0_allows_no_restart) {
    const dn_child_spec      child = CHILD("a");
    const dn_supervisor_spec spec = one(&child, 0, 1000);

    world_begins(&spec);
    crash("a");
    CHECK_INT(w.reason, DN_EINTENSITY);
    CHECK_INT(part_of("a")->inits, 1);
}

TEST(a_period_of_0_means_five_seconds) {
    const dn_child_spec      child = CHILD("a");
    const dn_supervisor_spec spec = one(&child, 1, 0);

    world_begins(&spec);
    crash("a");
    pass_ms(5001);
    crash("a");
    CHECK(!w.is_down);
    pass_ms(5000);
    crash("a");
    CHECK(w.is_down);
}

TEST(restarts_older_than_the_period_do_not_count) {
    const dn_child_spec      child = CHILD("a");
    const dn_supervisor_spec spec = one(&child, 2, 1000);

    world_begins(&spec);
    for (int i = 0; i < 100; i++) {
        crash("a");
        pass_ms(501); /* never more than two within a second */
    }
    CHECK(!w.is_down);
    CHECK_INT(part_of("a")->inits, 101);
}

TEST(a_restart_just_a_period_ago_still_counts) {
    const dn_child_spec      child = CHILD("a");
    const dn_supervisor_spec spec = one(&child, 2, 1000);

    world_begins(&spec);
    crash("a");
    pass_ms(600);
    crash("a");
    pass_ms(400);
    crash("a");
    CHECK_INT(w.reason, DN_EINTENSITY);
}

TEST(the_window_slides_with_the_restarts_and_not_with_the_clock) {
    const dn_child_spec      child = CHILD("a");
    const dn_supervisor_spec spec = one(&child, 2, 1000);

    world_begins(&spec);
    pass_ms(900);
    crash("a"); /* two in the end of one second and one in the beginning of the next are three */
    pass_ms(50);
    crash("a");
    pass_ms(100);
    crash("a");
    CHECK_INT(w.reason, DN_EINTENSITY);
}

TEST(a_restart_of_all_counts_once) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b"), CHILD("c")};
    const dn_supervisor_spec spec = {.strategy = DN_ONE_FOR_ALL,
                                     .intensity = 2,
                                     .period_ms = 1000,
                                     .children = DN_SLICE(children)};

    world_begins(&spec);
    crash("a");
    crash("b");
    CHECK(!w.is_down);
    CHECK_UINT(ask_counts()->restarts, 2);
    crash("c");
    CHECK_INT(w.reason, DN_EINTENSITY);
}

TEST(the_restarts_of_all_children_count_together) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b")};
    const dn_supervisor_spec spec = {
        .intensity = 1, .period_ms = 1000, .children = DN_SLICE(children)};

    world_begins(&spec);
    crash("a");
    crash("b");
    CHECK_INT(w.reason, DN_EINTENSITY);
}

TEST(an_end_without_a_restart_does_not_count) {
    const dn_child_spec      children[] = {CHILD("a", .restart = DN_TEMPORARY),
                                           CHILD("b", .restart = DN_TRANSIENT), CHILD("c")};
    const dn_supervisor_spec spec = {
        .intensity = 1, .period_ms = 1000, .children = DN_SLICE(children)};

    world_begins(&spec);
    crash("a");
    finish("b");
    crash("c");
    CHECK(!w.is_down);
}

TEST(a_child_that_never_comes_up_again_ends_the_supervisor) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b")};
    const dn_supervisor_spec spec = {
        .intensity = 3, .period_ms = 1000, .children = DN_SLICE(children)};

    world_begins(&spec);
    said();
    part_of("b")->init_fails = FOREVER;
    crash("b");
    pass_ms(100);
    CHECK_STR(said(), "!b xb xb xb -a");
    CHECK_INT(w.reason, DN_EINTENSITY);
}

TEST(a_restart_of_several_that_never_comes_up_ends_the_supervisor) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b"), CHILD("c")};
    const dn_supervisor_spec spec = {.strategy = DN_REST_FOR_ONE,
                                     .intensity = 2,
                                     .period_ms = 1000,
                                     .children = DN_SLICE(children)};

    world_begins(&spec);
    said();
    part_of("c")->init_fails = FOREVER;
    crash("b");
    pass_ms(100);
    CHECK_STR(said(), "!b -c +b xc xc -b -a");
    CHECK_INT(w.reason, DN_EINTENSITY);
}

TEST(a_supervisor_that_gives_up_stops_its_children_in_reverse_order) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b"), CHILD("c")};
    const dn_supervisor_spec spec = {
        .intensity = 0, .period_ms = 1000, .children = DN_SLICE(children)};

    part_of("c")->stop_ms = 100;
    world_begins(&spec);
    said();
    crash("b");
    CHECK_STR(said(), "!b ~c");
    CHECK(!w.is_down);
    pass_ms(100);
    CHECK_STR(said(), "-c -a");
    CHECK_INT(w.reason, DN_EINTENSITY);
}

TEST(a_supervisor_that_gives_up_is_restarted_by_its_own) {
    const dn_child_spec      inner_children[] = {CHILD("b"), CHILD("c")};
    const dn_supervisor_spec inner = {
        .intensity = 1, .period_ms = 1000, .children = DN_SLICE(inner_children)};
    const dn_child_spec      children[] = {CHILD("a"), dn_supervisor_child("inner", &inner)};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    said();
    crash("b");
    crash("b");
    CHECK_STR(said(), "!b +b !b -c +b +c");
    crash("b"); /* its memory of restarts began anew */
    CHECK_STR(said(), "!b +b");
    CHECK(!w.is_down);
}

TEST(a_transient_supervisor_that_gives_up_is_restarted_too) {
    const dn_child_spec      inner_children[] = {CHILD("b")};
    const dn_supervisor_spec inner = {.intensity = 0, .children = DN_SLICE(inner_children)};
    dn_child_spec            children[] = {dn_supervisor_child("inner", &inner)};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    children[0].restart = DN_TRANSIENT;
    world_begins(&spec);
    said();
    crash("b");
    CHECK_STR(said(), "!b +b");
}

TEST(giving_up_goes_up_two_levels) {
    const dn_child_spec      low_children[] = {CHILD("c"), CHILD("d")};
    const dn_supervisor_spec low = {
        .intensity = 1, .period_ms = 1000, .children = DN_SLICE(low_children)};
    const dn_child_spec      mid_children[] = {CHILD("b"), dn_supervisor_child("low", &low)};
    const dn_supervisor_spec mid = {.strategy = DN_REST_FOR_ONE,
                                    .intensity = 1,
                                    .period_ms = 1000,
                                    .children = DN_SLICE(mid_children)};
    const dn_child_spec      children[] = {CHILD("a"), dn_supervisor_child("mid", &mid)};
    const dn_supervisor_spec spec = {
        .intensity = 0, .period_ms = 1000, .children = DN_SLICE(children)};

    world_begins(&spec);
    said();
    crash("c"); /* low restarts it */
    crash("c"); /* low gives up, mid restarts low */
    CHECK_STR(said(), "!c +c !c -d +c +d");
    crash("c"); /* low restarts it */
    CHECK_STR(said(), "!c +c");
    crash("c"); /* low gives up, mid gives up, and so does the top */
    CHECK_STR(said(), "!c -d -b -a");
    CHECK_INT(w.reason, DN_EINTENSITY);
    CHECK_STR(w.why, "too many restarts, the last of mid");
}

TEST(a_stop_of_a_supervisor_that_gives_up_changes_nothing) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b")};
    const dn_supervisor_spec spec = {.intensity = 0, .children = DN_SLICE(children)};

    part_of("b")->stop_ms = 100;
    world_begins(&spec);
    said();
    crash("a");
    stop("sup");
    pass_ms(100);
    CHECK_STR(said(), "!a ~b -b");
    CHECK_INT(w.reason, DN_EINTENSITY);
}

TEST(a_hundred_thousand_restarts_leave_no_trace_but_their_number) {
    const dn_child_spec      child = CHILD("a");
    const dn_supervisor_spec spec = one(&child, 7, 10);
    const int                n = 100000 / TEST_SLOW_FACTOR;

    world_begins(&spec);
    for (int i = 0; i < n; i++) {
        crash("a");
        said();
        if (i % 7 == 6) dn_sim_pass(w.sim, 11);
    }
    CHECK(!w.is_down);
    CHECK_UINT(ask_counts()->restarts, (uint64_t)n);
}
