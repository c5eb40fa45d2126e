/* backoff_test.c - a restart that waits: how long, and what goes on meanwhile. */
#include "world.h"

/* Crashes it and answers how long it was away. */
static int64_t away_ms(const char *name) {
    const int     inits = part_of(name)->inits;
    const int64_t crashed_ms = now_ms();

    crash(name);
    for (int i = 0; part_of(name)->inits == inits && i < 100000; i++) pass_ms(1);
    return now_ms() - crashed_ms;
}

TEST(a_restart_waits_for_the_shortest_backoff_first) {
    const dn_child_spec      children[] = {CHILD("a", .backoff = {.min_ms = 100, .max_ms = 1000})};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    said();
    crash("a");
    pass_ms(99);
    CHECK_STR(said(), "!a");
    pass_ms(1);
    CHECK_STR(said(), "+a");
}

TEST(a_backoff_doubles_with_every_failure_up_to_its_greatest) {
    const dn_child_spec      children[] = {CHILD("a", .backoff = {.min_ms = 100, .max_ms = 700})};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    CHECK_INT(away_ms("a"), 100);
    CHECK_INT(away_ms("a"), 200);
    CHECK_INT(away_ms("a"), 400);
    CHECK_INT(away_ms("a"), 700);
    CHECK_INT(away_ms("a"), 700);
}

TEST(a_backoff_without_a_greatest_stays_as_it_is) {
    const dn_child_spec      children[] = {CHILD("a", .backoff = {.min_ms = 100})};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    CHECK_INT(away_ms("a"), 100);
    CHECK_INT(away_ms("a"), 100);
}

TEST(a_backoff_begins_anew_after_a_stable_period) {
    const dn_child_spec children[] = {
        CHILD("a", .backoff = {.min_ms = 100, .max_ms = 800, .stable_ms = 300})};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    CHECK_INT(away_ms("a"), 100);
    CHECK_INT(away_ms("a"), 200);
    pass_ms(299);
    CHECK_INT(away_ms("a"), 400);
    pass_ms(300);
    CHECK_INT(away_ms("a"), 100);
}

TEST(a_stable_period_that_is_not_given_is_the_greatest_backoff) {
    const dn_child_spec      children[] = {CHILD("a", .backoff = {.min_ms = 100, .max_ms = 800})};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    CHECK_INT(away_ms("a"), 100);
    pass_ms(799);
    CHECK_INT(away_ms("a"), 200);
    pass_ms(800);
    CHECK_INT(away_ms("a"), 100);
}

TEST(a_failed_restart_waits_too_and_longer) {
    const dn_child_spec      children[] = {CHILD("a", .backoff = {.min_ms = 100, .max_ms = 1000})};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    pass_ms(2000); /* stable: but one that does not come up is not */
    said();
    part_of("a")->init_fails = 2;
    crash("a");
    pass_ms(100);
    CHECK_STR(said(), "!a xa");
    pass_ms(200);
    CHECK_STR(said(), "xa");
    pass_ms(399);
    CHECK_STR(said(), "");
    pass_ms(1);
    CHECK_STR(said(), "+a");
}

TEST(a_child_whose_restart_waits_is_not_running) {
    const dn_child_spec      children[] = {CHILD("a", .backoff = {.min_ms = 100})};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    crash("a");
    CHECK(!is_running("a"));
    CHECK_UINT(ask_counts()->active, 0);
    CHECK_UINT(ask_counts()->specs, 1);
}

TEST(others_are_restarted_while_one_waits) {
    const dn_child_spec      children[] = {CHILD("a", .backoff = {.min_ms = 100}), CHILD("b")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    said();
    crash("a");
    crash("b");
    CHECK_STR(said(), "!a !b +b");
    pass_ms(100);
    CHECK_STR(said(), "+a");
}

TEST(a_stop_while_a_restart_waits_calls_it_off) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b", .backoff = {.min_ms = 100})};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("a")->stop_ms = 1000;
    world_begins(&spec);
    said();
    crash("b");
    stop("sup");
    pass_ms(1000);
    CHECK_STR(said(), "!b ~a -a");
    CHECK_INT(w.reason, DN_ESHUTDOWN);
}

/* ---- Several ---- */

TEST(where_all_are_to_restart_the_others_run_until_the_backoff_is_over) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b", .backoff = {.min_ms = 100}),
                                           CHILD("c")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ALL, children);

    world_begins(&spec);
    said();
    crash("b");
    pass_ms(99);
    CHECK_STR(said(), "!b");
    pass_ms(1);
    CHECK_STR(said(), "-c -a +a +b +c");
}

TEST(another_failure_joins_the_restart_that_waits_and_counts_no_more) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b", .backoff = {.min_ms = 100})};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ALL, children);

    world_begins(&spec);
    said();
    crash("b");
    pass_ms(50);
    crash("a");
    pass_ms(49);
    CHECK_STR(said(), "!b !a");
    pass_ms(1);
    CHECK_STR(said(), "+a +b");
    CHECK_UINT(ask_counts()->restarts, 1);
}

TEST(a_restart_that_waits_for_two_waits_for_the_longer_backoff) {
    const dn_child_spec      children[] = {CHILD("a", .backoff = {.min_ms = 300}),
                                           CHILD("b", .backoff = {.min_ms = 100})};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ALL, children);

    world_begins(&spec);
    said();
    crash("b");
    pass_ms(50);
    crash("a");
    pass_ms(299);
    CHECK_STR(said(), "!b !a");
    pass_ms(1);
    CHECK_STR(said(), "+a +b");
}

TEST(an_earlier_failure_widens_the_restart_that_waits) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b"),
                                           CHILD("c", .backoff = {.min_ms = 100})};
    const dn_supervisor_spec spec = SUPERVISOR(DN_REST_FOR_ONE, children);

    world_begins(&spec);
    said();
    crash("c");
    crash("a");
    pass_ms(99);
    CHECK_STR(said(), "!c !a");
    pass_ms(1);
    CHECK_STR(said(), "-b +a +b +c");
    CHECK_UINT(ask_counts()->restarts, 2);
}

TEST(a_stop_while_a_restart_of_several_waits_stops_the_others) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b", .backoff = {.min_ms = 100}),
                                           CHILD("c")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ALL, children);

    world_begins(&spec);
    said();
    crash("b");
    stop("sup");
    pass_ms(1000);
    CHECK_STR(said(), "!b -c -a");
}

TEST(a_restart_of_several_that_fails_waits_for_the_backoff_of_the_one_that_failed) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b", .backoff = {.min_ms = 100})};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ALL, children);

    world_begins(&spec);
    said();
    part_of("b")->init_fails = 1;
    crash("a");
    pass_ms(99);
    CHECK_STR(said(), "!a -b +a xb");
    pass_ms(1);
    CHECK_STR(said(), "-a +a +b");
}
