/* significant_test.c - a supervisor that ends when those it is there for have ended. */
#include "world.h"

static dn_supervisor_spec over(const dn_child_spec *rows, size_t len, dn_auto_shutdown how) {
    return (dn_supervisor_spec){.intensity = 100,
                                .period_ms = 1000,
                                .auto_shutdown = how,
                                .children = {.rows = rows, .len = len}};
}

#define SIGNIFICANT .restart = DN_TRANSIENT, .significant = true

TEST(any_the_end_of_one_significant_child_ends_the_supervisor_normally) {
    const dn_child_spec children[] = {CHILD("a"), CHILD("b", SIGNIFICANT), CHILD("c", SIGNIFICANT)};
    const dn_supervisor_spec spec = over(children, 3, DN_ANY_SIGNIFICANT);

    world_begins(&spec);
    said();
    finish("b");
    CHECK_STR(said(), "-b -c -a");
    CHECK(w.is_down);
    CHECK_INT(w.reason, DN_OK);
}

TEST(all_the_end_of_one_significant_child_is_not_enough) {
    const dn_child_spec children[] = {CHILD("a"), CHILD("b", SIGNIFICANT), CHILD("c", SIGNIFICANT)};
    const dn_supervisor_spec spec = over(children, 3, DN_ALL_SIGNIFICANT);

    world_begins(&spec);
    said();
    finish("b");
    CHECK_STR(said(), "-b");
    CHECK(!w.is_down);
}

TEST(all_the_end_of_the_last_significant_child_ends_the_supervisor_normally) {
    const dn_child_spec children[] = {CHILD("a"), CHILD("b", SIGNIFICANT), CHILD("c", SIGNIFICANT)};
    const dn_supervisor_spec spec = over(children, 3, DN_ALL_SIGNIFICANT);

    world_begins(&spec);
    said();
    finish("c");
    finish("b");
    CHECK_STR(said(), "-c -b -a");
    CHECK_INT(w.reason, DN_OK);
}

TEST(a_child_that_is_not_significant_may_end) {
    const dn_child_spec children[] = {CHILD("a", .restart = DN_TRANSIENT), CHILD("b", SIGNIFICANT)};
    const dn_supervisor_spec spec = over(children, 2, DN_ANY_SIGNIFICANT);

    world_begins(&spec);
    finish("a");
    CHECK(!w.is_down);
}

TEST(a_significant_transient_child_that_crashes_is_restarted) {
    const dn_child_spec      children[] = {CHILD("a", SIGNIFICANT)};
    const dn_supervisor_spec spec = over(children, 1, DN_ANY_SIGNIFICANT);

    world_begins(&spec);
    said();
    crash("a");
    CHECK_STR(said(), "!a +a");
    CHECK(!w.is_down);
}

TEST(a_significant_temporary_child_that_crashes_ends_the_supervisor) {
    const dn_child_spec      children[] = {CHILD("a"),
                                           CHILD("b", .restart = DN_TEMPORARY, .significant = true)};
    const dn_supervisor_spec spec = over(children, 2, DN_ANY_SIGNIFICANT);

    world_begins(&spec);
    said();
    crash("b");
    CHECK_STR(said(), "!b -a");
    CHECK_INT(w.reason, DN_OK);
}

TEST(a_significant_child_that_the_supervisor_stops_itself_does_not_end_it) {
    const dn_child_spec children[] = {CHILD("a"),
                                      CHILD("b", .restart = DN_TEMPORARY, .significant = true)};
    dn_supervisor_spec  spec = over(children, 2, DN_ANY_SIGNIFICANT);

    spec.strategy = DN_ONE_FOR_ALL;
    world_begins(&spec);
    said();
    crash("a");
    CHECK_STR(said(), "!a -b +a");
    CHECK(!w.is_down);
}

TEST(a_significant_child_stopped_by_request_does_not_end_the_supervisor) {
    const dn_child_spec      children[] = {CHILD("a", SIGNIFICANT)};
    const dn_supervisor_spec spec = over(children, 1, DN_ANY_SIGNIFICANT);

    world_begins(&spec);
    ask(ASK_STOP, "a");
    CHECK_INT(w.child.status, DN_OK);
    CHECK(!w.is_down);
}

TEST(a_significant_child_whose_restart_waits_has_not_ended) {
    const dn_child_spec      children[] = {CHILD("a", SIGNIFICANT, .backoff = {.min_ms = 100}),
                                           CHILD("b", SIGNIFICANT)};
    const dn_supervisor_spec spec = over(children, 2, DN_ALL_SIGNIFICANT);

    world_begins(&spec);
    crash("a");
    finish("b");
    CHECK(!w.is_down);
    pass_ms(100);
    finish("a");
    CHECK(w.is_down);
}

TEST(a_significant_child_that_ends_while_others_start_ends_the_supervisor_after_that) {
    const dn_child_spec      children[] = {CHILD("a", SIGNIFICANT), CHILD("b")};
    const dn_supervisor_spec spec = over(children, 2, DN_ANY_SIGNIFICANT);

    part_of("b")->init_ms = 100;
    world_begins(&spec);
    finish("a");
    pass_ms(99);
    CHECK_STR(said(), "+a -a");
    pass_ms(1);
    CHECK_STR(said(), "+b -b");
    CHECK_INT(w.spawn_status, DN_OK);
    CHECK(w.is_down);
}

TEST(a_significant_supervisor_takes_the_one_above_it_along) {
    const dn_child_spec      inner_children[] = {CHILD("b", SIGNIFICANT)};
    const dn_supervisor_spec inner = over(inner_children, 1, DN_ALL_SIGNIFICANT);
    dn_child_spec            children[] = {CHILD("a"), dn_supervisor_child("inner", &inner)};
    const dn_supervisor_spec spec = over(children, 2, DN_ANY_SIGNIFICANT);

    children[1].restart = DN_TRANSIENT;
    children[1].significant = true;
    world_begins(&spec);
    said();
    finish("b");
    CHECK_STR(said(), "-b -a");
    CHECK_INT(w.reason, DN_OK);
}
