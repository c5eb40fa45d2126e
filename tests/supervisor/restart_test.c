/* restart_test.c - who is restarted, after what, and who with it. */
#include "world.h"

/* ---- Restart types by ways of ending ---- */

typedef struct way {
    const char *text;
    void (*take)(const char *name);
} way;

static void fail(const char *name) { post(name, PART_FAIL, NULL, 0); }

static const way crash_ways[] = {{"crash", crash}, {"dn_fail", fail}, {"kill", kill_actor}};
static const way calm_ways[] = {{"end", finish}, {"stop", stop}};

/* How often a child of that restart type starts again when it ends that way. */
static int restarts_after(dn_restart restart, const way *end) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b", .restart = restart)};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_again();
    world_begins(&spec);
    end->take("b");
    pass_ms(1000);
    CHECK_INT(part_of("a")->inits, 1);
    return part_of("b")->inits - 1;
}

#define CHECK_RESTARTS(restart, ways, expected)                                                    \
    for (size_t i_ = 0; i_ < sizeof(ways) / sizeof *(ways); i_++) {                                \
        const int restarts_ = restarts_after((restart), &(ways)[i_]);                              \
        CHECK_MSG(restarts_ == (expected), "after %s: %d restarts", (ways)[i_].text, restarts_);   \
    }

TEST(a_permanent_child_is_restarted_after_a_crash_or_a_kill) {
    CHECK_RESTARTS(DN_PERMANENT, crash_ways, 1);
}

TEST(a_permanent_child_is_restarted_after_a_normal_end_or_a_stop_by_somebody_else) {
    CHECK_RESTARTS(DN_PERMANENT, calm_ways, 1);
}

TEST(a_transient_child_is_restarted_after_a_crash_or_a_kill) {
    CHECK_RESTARTS(DN_TRANSIENT, crash_ways, 1);
}

TEST(a_transient_child_is_not_restarted_after_a_normal_end_or_a_stop) {
    CHECK_RESTARTS(DN_TRANSIENT, calm_ways, 0);
}

TEST(a_temporary_child_is_not_restarted_after_a_crash_or_a_kill) {
    CHECK_RESTARTS(DN_TEMPORARY, crash_ways, 0);
}

TEST(a_temporary_child_is_not_restarted_after_a_normal_end_or_a_stop) {
    CHECK_RESTARTS(DN_TEMPORARY, calm_ways, 0);
}

TEST(a_temporary_child_that_ended_is_forgotten) {
    const dn_child_spec      children[] = {CHILD("a", .restart = DN_TEMPORARY)};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    finish("a");
    CHECK_UINT(ask_counts()->specs, 0);
    CHECK_INT(ask_child("a")->status, DN_EINVAL);
}

TEST(a_transient_child_that_ended_is_remembered) {
    const dn_child_spec      children[] = {CHILD("a", .restart = DN_TRANSIENT)};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    finish("a");
    CHECK_UINT(ask_counts()->specs, 1);
    CHECK_UINT(ask_counts()->active, 0);
    CHECK_INT(ask_child("a")->status, DN_OK);
}

/* ---- Strategies ---- */

TEST(one_for_one_restarts_only_the_one_that_ended) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b"), CHILD("c")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    said();
    crash("b");
    CHECK_STR(said(), "!b +b");
}

TEST(one_for_all_stops_all_in_reverse_and_starts_all_in_order) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b"), CHILD("c")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ALL, children);

    world_begins(&spec);
    said();
    crash("b");
    CHECK_STR(said(), "!b -c -a +a +b +c");
}

TEST(rest_for_one_restarts_it_and_those_started_after_it) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b"), CHILD("c"), CHILD("d")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_REST_FOR_ONE, children);

    world_begins(&spec);
    said();
    crash("b");
    CHECK_STR(said(), "!b -d -c +b +c +d");
}

TEST(rest_for_one_restarts_the_last_one_alone) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_REST_FOR_ONE, children);

    world_begins(&spec);
    said();
    crash("b");
    CHECK_STR(said(), "!b +b");
}

TEST(a_restart_of_several_forgets_temporary_children) {
    const dn_child_spec children[] = {CHILD("a"), CHILD("b", .restart = DN_TEMPORARY), CHILD("c")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ALL, children);

    world_begins(&spec);
    said();
    crash("a");
    CHECK_STR(said(), "!a -c -b +a +c");
    CHECK_UINT(ask_counts()->specs, 2);
}

TEST(a_restart_of_several_starts_again_what_had_ended_normally) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b", .restart = DN_TRANSIENT)};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ALL, children);

    world_begins(&spec);
    finish("b");
    said();
    crash("a");
    CHECK_STR(said(), "!a +a +b");
}

TEST(a_normal_end_of_a_transient_child_restarts_nobody) {
    const dn_child_spec children[] = {CHILD("a"), CHILD("b", .restart = DN_TRANSIENT), CHILD("c")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ALL, children);

    world_begins(&spec);
    said();
    finish("b");
    CHECK_STR(said(), "-b");
}

TEST(a_restart_of_several_waits_for_each_stop_and_kills_what_does_not_go) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b", .shutdown_ms = 200), CHILD("c")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ALL, children);

    part_of("c")->stop_ms = 100;
    part_of("b")->stop_ms = FOREVER;
    world_begins(&spec);
    said();
    crash("a");
    pass_ms(299);
    CHECK_STR(said(), "!a ~c -c ~b");
    pass_ms(1);
    CHECK_STR(said(), "!b +a +b +c");
}

TEST(a_restart_of_several_starts_one_only_when_the_one_before_it_is_up) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b"), CHILD("c")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ALL, children);

    world_begins(&spec);
    said();
    part_of("b")->init_ms = 100;
    crash("c");
    pass_ms(99);
    CHECK_STR(said(), "!c -b -a +a");
    pass_ms(1);
    CHECK_STR(said(), "+b +c");
}

/* ---- What fails while a step is under way ---- */

TEST(what_the_step_stops_anyway_may_crash_before_its_turn) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b"), CHILD("c")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ALL, children);

    part_of("c")->stop_ms = 100;
    world_begins(&spec);
    said();
    crash("a");
    crash("b");
    pass_ms(100);
    CHECK_STR(said(), "!a ~c !b -c +a +b +c");
    CHECK_UINT(ask_counts()->restarts, 1);
}

TEST(an_earlier_child_that_fails_while_later_ones_stop_restarts_before_them) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b"), CHILD("c")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_REST_FOR_ONE, children);

    part_of("c")->stop_ms = 100;
    world_begins(&spec);
    said();
    crash("b");
    crash("a");
    pass_ms(100);
    CHECK_STR(said(), "!b ~c !a -c +a +b +c");
    CHECK_UINT(ask_counts()->restarts, 2);
}

TEST(an_earlier_child_that_ends_for_good_while_later_ones_stop_holds_nobody_up) {
    const dn_child_spec children[] = {CHILD("a", .restart = DN_TRANSIENT), CHILD("b"), CHILD("c")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_REST_FOR_ONE, children);

    part_of("c")->stop_ms = 100;
    world_begins(&spec);
    said();
    crash("b");
    finish("a");
    pass_ms(100);
    CHECK_STR(said(), "!b ~c -a -c +b +c");
}

TEST(a_child_that_fails_while_later_ones_start_is_dealt_with_after_that) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b"), CHILD("c")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_REST_FOR_ONE, children);

    world_begins(&spec);
    said();
    part_of("b")->init_ms = 100;
    crash("b");
    pass_ms(50);
    crash("a");
    CHECK_STR(said(), "!b -c !a");
    pass_ms(50);
    CHECK_STR(said(), "+b +c -c -b +a");
    pass_ms(100);
    CHECK_STR(said(), "+b +c");
}

TEST(an_earlier_child_that_fails_stops_what_stands_between_before_anything_starts) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b"), CHILD("c"), CHILD("d")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_REST_FOR_ONE, children);

    part_of("b")->stop_ms = 50;
    part_of("d")->stop_ms = 100;
    world_begins(&spec);
    said();
    crash("c");
    crash("a");
    pass_ms(149);
    CHECK_STR(said(), "!c ~d !a -d ~b");
    pass_ms(1);
    CHECK_STR(said(), "-b +a +b +c +d");
}

TEST(a_child_that_failed_while_later_ones_start_joins_the_next_try_if_that_start_fails) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b", .backoff = {.min_ms = 300}),
                                           CHILD("c", .backoff = {.min_ms = 200})};
    const dn_supervisor_spec spec = SUPERVISOR(DN_REST_FOR_ONE, children);

    world_begins(&spec);
    said();
    part_of("c")->init_ms = 50;
    part_of("c")->init_fails = 1;
    crash("b");
    pass_ms(300);
    CHECK_STR(said(), "!b -c +b");
    crash("b");
    pass_ms(50); /* c fails now, and both wait: c for 200 ms, b for 300 */
    part_of("c")->init_ms = 0;
    pass_ms(299);
    CHECK_STR(said(), "!b xc");
    pass_ms(1);
    CHECK_STR(said(), "+b +c");
}

TEST(several_that_fail_together_restart_as_one_step) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b"), CHILD("c"), CHILD("d")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_REST_FOR_ONE, children);

    world_begins(&spec);
    part_of("d")->init_ms = 100;
    crash("d"); /* a step that takes a while, and two that fail meanwhile */
    crash("c");
    crash("b");
    said();
    pass_ms(100);
    CHECK_STR(said(), "+d -d +b +c");
    pass_ms(100);
    CHECK_STR(said(), "+d");
    CHECK_UINT(ask_counts()->restarts, 2);
}

TEST(a_stop_in_the_middle_of_a_restart_of_several_stops_what_runs) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b"), CHILD("c")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ALL, children);

    part_of("b")->stop_ms = 100;
    world_begins(&spec);
    said();
    crash("a");
    pass_ms(50);
    stop("sup");
    CHECK_STR(said(), "!a -c ~b");
    pass_ms(50);
    CHECK_STR(said(), "-b");
    CHECK_INT(w.reason, DN_ESHUTDOWN);
}

TEST(a_stop_while_a_restart_of_several_starts_them_stops_what_is_up) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b"), CHILD("c")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ALL, children);

    world_begins(&spec);
    said();
    part_of("b")->init_ms = 100;
    crash("a");
    pass_ms(50);
    stop("sup");
    CHECK_STR(said(), "!a -c -b +a xb -a");
    CHECK_INT(w.reason, DN_ESHUTDOWN);
}

/* ---- Restarts that fail ---- */

TEST(a_failed_restart_is_tried_again_and_counts_again) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    said();
    part_of("b")->init_fails = 3;
    crash("b");
    pass_ms(10);
    CHECK_STR(said(), "!b xb xb xb +b");
    CHECK_UINT(ask_counts()->restarts, 4);
}

TEST(a_crash_in_init_is_a_failed_restart) {
    const dn_child_spec      children[] = {CHILD("a")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    said();
    part_of("a")->init_fails = 1;
    part_of("a")->init_code = DN_EFAILED;
    crash("a");
    pass_ms(10);
    CHECK_STR(said(), "!a xa +a");
}

TEST(a_failed_restart_that_was_pending_is_tried_again) {
    const dn_child_spec      children[] = {CHILD("a")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    said();
    part_of("a")->init_ms = 50;
    part_of("a")->init_fails = 1;
    crash("a");
    pass_ms(50);
    CHECK_STR(said(), "!a xa");
    pass_ms(60);
    CHECK_STR(said(), "+a");
}

TEST(a_restart_past_its_deadline_is_killed_and_tried_again) {
    const dn_child_spec      children[] = {CHILD("a", .start_ms = 100)};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    said();
    part_of("a")->init_ms = FOREVER;
    crash("a");
    pass_ms(99);
    CHECK_STR(said(), "!a");
    part_of("a")->init_ms = 0;
    pass_ms(10);
    CHECK_STR(said(), "xa +a");
    CHECK_UINT(ask_counts()->restarts, 2);
}

TEST(one_for_all_begins_with_the_first_again_if_one_of_them_does_not_come_up) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b"), CHILD("c")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ALL, children);

    world_begins(&spec);
    said();
    part_of("b")->init_fails = 1;
    crash("c");
    pass_ms(10);
    CHECK_STR(said(), "!c -b -a +a xb -a +a +b +c");
    CHECK_UINT(ask_counts()->restarts, 2);
}

TEST(rest_for_one_begins_with_the_one_that_did_not_come_up) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b"), CHILD("c"), CHILD("d")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_REST_FOR_ONE, children);

    world_begins(&spec);
    said();
    part_of("c")->init_fails = 1;
    crash("b");
    pass_ms(10);
    CHECK_STR(said(), "!b -d -c +b xc +c +d");
    CHECK_UINT(ask_counts()->restarts, 2);
}

TEST(a_stop_gets_in_between_the_tries) {
    const dn_child_spec      children[] = {CHILD("a")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    for (int i = 0; i < 20; i++) {
        world_again();
        world_begins(&spec);
        part_of("a")->init_fails = FOREVER;
        post_only("a", PART_CRASH, NULL, 0); /* alone it would end with DN_EINTENSITY */
        stop("sup");
        CHECK_INT(w.reason, DN_ESHUTDOWN);
    }
}

TEST(a_restart_that_declines_leaves_the_child_stopped) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    said();
    part_of("a")->init_fails = FOREVER;
    part_of("a")->init_code = DN_STOP;
    crash("a");
    pass_ms(1000);
    CHECK_STR(said(), "!a xa");
    CHECK(!is_running("a"));
}

/* ---- Many ---- */

TEST(the_five_hundredth_of_a_thousand_is_restarted_alone) {
    static char          names[1000][16];
    static dn_child_spec children[1000];
    static const int     number = 0; /* they all play the part "x" */

    part_of("x");
    for (int i = 0; i < 1000; i++) {
        snprintf(names[i], sizeof names[i], "c%d", i);
        children[i] =
            (dn_child_spec){.name = names[i], .actor_class = &part_class, .config = &number};
    }
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    world_begins(&spec);
    CHECK_INT(part_of("x")->inits, 1000);
    said();
    for (int i = 0; i < 50; i++) crash("c499");
    CHECK_INT(part_of("x")->inits, 1050);
    CHECK_UINT(ask_child("c499")->restarts, 50);
    CHECK_UINT(ask_child("c500")->restarts, 0);
    CHECK_UINT(ask_counts()->active, 1000);
}
