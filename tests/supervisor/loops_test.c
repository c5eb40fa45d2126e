/* loops_test.c - children on other loops, on real threads: the same order, the same restarts. */
#include "world.h"

#include <sched.h>
#include <stdatomic.h>

static void quiet(void *context, const dn_notice *notice) {
    (void)context;
    (void)notice;
}

static int run_root(const dn_spawn_spec *root) {
    static const char *const loops[] = {"main", "run", "store"};
    const dn_runtime_config  config = {.loops = loops, .loops_len = 3, .notice = quiet};
    int                      rc;

    CHECK_INT(dn_runtime_new(&config, &w.runtime), DN_OK);
    rc = dn_runtime_run(w.runtime, root);
    dn_runtime_free(w.runtime);
    return rc;
}

static int run(const dn_supervisor_spec *spec) {
    const dn_spawn_spec root = {.actor_class = &dn_supervisor_class, .config = spec, .name = "sup"};

    return run_root(&root);
}

/* The last child of each test, when it is up: that is all there is to see. */
static void all_stop(dn_self *self, int inits) {
    (void)inits;
    dn_runtime_stop(dn_self_runtime(self));
}

static void crash_once(dn_self *self, int inits) {
    if (inits == 1) CHECK_INT(dn_send(self, dn_self_ref(self), PART_CRASH, NULL, 0), DN_OK);
}

static void crash_once_then_all_stop(dn_self *self, int inits) {
    if (inits == 1) crash_once(self, inits);
    else all_stop(self, inits);
}

static void crash_b_once_then_all_stop(dn_self *self, int inits) {
    if (inits == 1) CHECK_INT(dn_send(self, dn_name(self, "b"), PART_CRASH, NULL, 0), DN_OK);
    else all_stop(self, inits);
}

TEST(children_on_several_loops_start_in_order_and_stop_in_reverse) {
    const dn_child_spec      children[] = {CHILD("a", .loop = "run"), CHILD("b"),
                                           CHILD("c", .loop = "store"), CHILD("d", .loop = "run"),
                                           CHILD("e", .loop = "main")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("e")->on_up = all_stop;
    CHECK_INT(run(&spec), DN_OK);
    CHECK_STR(said(), "+a +b +c +d +e -e -d -c -b -a");
}

TEST(a_child_on_another_loop_that_crashes_is_restarted) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b", .loop = "run")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("b")->on_up = crash_once_then_all_stop;
    CHECK_INT(run(&spec), DN_OK);
    CHECK_STR(said(), "+a +b !b +b -b -a");
}

TEST(rest_for_one_restarts_over_several_loops_in_order) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b", .loop = "run"),
                                           CHILD("c", .loop = "store"), CHILD("d", .loop = "run")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_REST_FOR_ONE, children);

    part_of("d")->on_up = crash_b_once_then_all_stop;
    CHECK_INT(run(&spec), DN_OK);
    CHECK_STR(said(), "+a +b +c +d !b -d -c +b +c +d -d -c -b -a");
}

TEST(one_for_all_stops_and_starts_all_loops_in_order) {
    const dn_child_spec      children[] = {CHILD("a", .loop = "run"), CHILD("b", .loop = "store"),
                                           CHILD("c", .loop = "run")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ALL, children);

    part_of("c")->on_up = crash_once_then_all_stop;
    CHECK_INT(run(&spec), DN_OK);
    CHECK_STR(said(), "+a +b +c !c -b -a +a +b +c -c -b -a");
}

TEST(a_child_that_does_not_come_up_on_another_loop_fails_the_whole) {
    const dn_child_spec      children[] = {CHILD("a", .loop = "run"), CHILD("b", .loop = "store")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("b")->init_fails = FOREVER;
    CHECK_INT(run(&spec), DN_EIO);
    CHECK_STR(said(), "+a xb -a");
}

TEST(a_child_on_another_loop_that_does_not_stop_in_time_is_killed) {
    const dn_child_spec children[] = {CHILD("a"), CHILD("b", .loop = "run", .shutdown_ms = 20)};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("b")->stop_ms = FOREVER;
    part_of("b")->on_up = all_stop;
    CHECK_INT(run(&spec), DN_OK);
    CHECK_STR(said(), "+a +b ~b !b -a");
}

TEST(too_many_restarts_on_another_loop_end_the_whole) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b", .loop = "run")};
    const dn_supervisor_spec spec = {.intensity = 0, .children = DN_SLICE(children)};

    part_of("b")->on_up = crash_once;
    CHECK_INT(run(&spec), DN_EINTENSITY);
    CHECK_STR(said(), "+a +b !b -a");
}

TEST(a_child_on_another_loop_whose_init_declines_is_left_out) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b", .loop = "run"), CHILD("c")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("b")->init_fails = FOREVER;
    part_of("b")->init_code = DN_STOP;
    part_of("c")->on_up = all_stop;
    CHECK_INT(run(&spec), DN_OK);
    CHECK_STR(said(), "+a xb +c -c -a");
}

static void b_declines_from_now_on(dn_self *self, int inits) {
    part_of("b")->init_fails = FOREVER;
    part_of("b")->init_code = DN_STOP;
    crash_once_then_all_stop(self, inits);
}

TEST(a_restart_of_several_goes_on_if_one_of_them_declines) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b", .loop = "run"),
                                           CHILD("c", .loop = "run")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ALL, children);

    part_of("c")->on_up = b_declines_from_now_on;
    CHECK_INT(run(&spec), DN_OK);
    CHECK_STR(said(), "+a +b +c !c -b -a +a xb +c -c -a");
}

/* ---- A loop that does not answer ----
 * The holder holds the loop "run" up, from after its start until "lets_go" is up for the last time. It makes "lets_go" crash
 * for the first time, 100 ms after it began to hold: its supervisor hears of its start before that, and asks for
 * what is to start behind it, which comes to its init only when the loop is let go. However slow the machine is. */

static atomic_bool let_go;

enum { HOLD = 100 };

static int holder_init(dn_self *self, void *state, const void *config) {
    (void)state;
    (void)config;
    return dn_send(self, dn_self_ref(self), HOLD, NULL, 0);
}

static int holder_on_hold(dn_self *self, void *state, const dn_msg *msg) {
    const int64_t later_ms = 100;

    (void)state;
    (void)msg;
    CHECK_INT(dn_send(self, dn_name(self, "lets_go"), PART_CRASH_LATER, &later_ms, sizeof later_ms),
              DN_OK);
    while (!atomic_load(&let_go)) sched_yield();
    return DN_OK;
}

static const dn_handler holder_handlers[] = {{HOLD, holder_on_hold}};
static const dn_class   holder_class = {
      .name = "holder", .init = holder_init, .handlers = DN_SLICE(holder_handlers)};

static void let_go_when_up_again(dn_self *self, int inits) {
    (void)self;
    if (inits == 2) atomic_store(&let_go, true);
}

static void all_stop_then_let_go(dn_self *self, int inits) {
    if (inits == 3) atomic_store(&let_go, true);
    if (inits != 2) return;
    all_stop(self, inits);
    dn_timer_after(self, /* delay_ms= */ 50, PART_CRASH, 0);
}

/* b starts behind the holder; lets_go has a supervisor of its own, which restarts it meanwhile. With a
 * stranger there is one of b's name already. */
static int run_behind(int64_t start_ms, bool stranger) {
    const dn_child_spec      inner_children[] = {CHILD("lets_go"), CHILD("b")};
    const dn_supervisor_spec inner = {.intensity = 100,
                                      .children = {inner_children, stranger ? 2 : 1}};
    const dn_child_spec      children[] = {
             dn_supervisor_child("inner", &inner),
             {.name = "holder", .actor_class = &holder_class, .loop = "run"},
             CHILD("b", .loop = "run", .start_ms = start_ms),
    };
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    if (!part_of("lets_go")->on_up) part_of("lets_go")->on_up = let_go_when_up_again;
    return run(&spec);
}

static int run_behind_a_holder(int64_t start_ms) {
    return run_behind(start_ms, /* stranger= */ false);
}

TEST(a_start_past_its_deadline_comes_to_nothing_when_it_comes_at_last) {
    CHECK_INT(run_behind_a_holder(/* start_ms= */ 20), DN_ETIME);
    CHECK_STR(said(), "+lets_go !lets_go +lets_go +b !b -lets_go");
}

TEST(a_start_past_its_deadline_that_would_never_end_is_killed_when_it_comes_at_last) {
    part_of("b")->init_ms = FOREVER;
    CHECK_INT(run_behind_a_holder(/* start_ms= */ 20), DN_ETIME);
    CHECK_STR(said(), "+lets_go !lets_go +lets_go xb -lets_go");
}

TEST(a_stop_while_a_child_starts_on_a_loop_that_is_held_up_stops_it_when_it_comes_at_last) {
    part_of("lets_go")->on_up = all_stop_then_let_go;
    CHECK_INT(run_behind_a_holder(/* start_ms= */ 0), DN_OK);
    CHECK_STR(said(), "+lets_go !lets_go +lets_go !lets_go +lets_go +b -b -lets_go");
}

TEST(a_stranger_of_the_name_of_a_child_that_is_late_is_not_killed_for_it) {
    CHECK_INT(run_behind(/* start_ms= */ 20, /* stranger= */ true), DN_ETIME);
    CHECK_STR(said(), "+lets_go +b !lets_go +lets_go -b -lets_go");
}

TEST(a_stranger_of_the_name_of_a_child_that_is_not_there_yet_is_not_stopped_for_it) {
    part_of("lets_go")->on_up = all_stop_then_let_go;
    CHECK_INT(run_behind(/* start_ms= */ 0, /* stranger= */ true), DN_OK);
    CHECK_STR(said(), "+lets_go +b !lets_go +lets_go !lets_go +lets_go -b -lets_go");
}

static void end_at_once(dn_self *self, int inits) {
    (void)inits;
    CHECK_INT(dn_send(self, dn_self_ref(self), PART_END, NULL, 0), DN_OK);
}

/* c waits until b, which ends at once, has ended for sure: both are on one loop. */
TEST(a_transient_child_on_another_loop_that_ends_before_its_start_is_told_is_not_restarted) {
    const dn_child_spec      children[] = {CHILD("b", .loop = "run", .restart = DN_TRANSIENT),
                                           CHILD("c", .loop = "run")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    part_of("b")->on_up = end_at_once;
    part_of("c")->on_up = all_stop;
    CHECK_INT(run(&spec), DN_OK);
    CHECK_STR(said(), "+b -b +c -c");
}

/* ---- A kill ---- */

static dn_supervisor_spec far_spec;
static int                still_there;

static int killer_init(dn_self *self, void *state, const void *config) {
    const dn_spawn_spec sup = {
        .actor_class = &dn_supervisor_class, .config = &far_spec, .name = "sup", .loop = "store"};

    (void)state;
    (void)config;
    return dn_spawn(self, &sup, NULL) == DN_PENDING ? DN_OK : DN_EINVAL;
}

static int killer_on_started(dn_self *self, void *state, const dn_msg *msg) {
    const dn_started *started = DN_BODY(dn_started, msg);

    (void)state;
    CHECK_INT(started->status, DN_OK);
    still_there = 3;
    (void)dn_monitor(self, started->who, 0);
    (void)dn_monitor(self, dn_name(self, "a"), 0);
    (void)dn_monitor(self, dn_name(self, "b"), 0);
    return dn_kill(self, started->who);
}

static int killer_on_down(dn_self *self, void *state, const dn_msg *msg) {
    (void)self;
    (void)state;
    CHECK_INT(DN_BODY(dn_down, msg)->reason, DN_EKILLED);
    return --still_there == 0 ? DN_STOP : DN_OK;
}

static const dn_handler killer_handlers[] = {{DN_MSG_STARTED, killer_on_started},
                                             {DN_MSG_DOWN, killer_on_down}};
static const dn_class   killer_class = {
      .name = "killer", .init = killer_init, .handlers = DN_SLICE(killer_handlers)};

TEST(the_children_of_a_killed_supervisor_are_killed_on_whatever_loop) {
    const dn_child_spec children[] = {CHILD("a", .loop = "run"), CHILD("b", .loop = "main")};
    const dn_spawn_spec root = {.actor_class = &killer_class};

    far_spec = SUPERVISOR(DN_ONE_FOR_ONE, children);
    CHECK_INT(run_root(&root), DN_OK);
    CHECK_UINT(strlen(said()), strlen("+a +b !a !b"));
}
