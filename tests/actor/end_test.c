/* end_test.c - flush, and the ways to an orderly end: stop, drain, stopping, terminate; and kill. */
#include "stage.h"

enum { GO = 10 };

/* ---- Flush ---- */

static int since_flush, flushes, largest_batch, total;

static int batch_on_go(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state, (void)msg;
    since_flush++;
    total++;
    return DN_OK;
}
static int batch_flush(dn_self *self, void *state) {
    (void)self, (void)state;
    CHECK_MSG(since_flush > 0, "a flush of nothing");
    flushes++;
    if (since_flush > largest_batch) largest_batch = since_flush;
    since_flush = 0;
    return DN_OK;
}
static const dn_handler batch_rows[] = {{GO, batch_on_go}};
static const dn_class   batch_class = {
      .name = "batch", .handlers = DN_SLICE(batch_rows), .flush = batch_flush};
static const dn_class bounded_class = {
    .name = "bounded", .handlers = DN_SLICE(batch_rows), .flush = batch_flush, .flush_max = 10};

static int send_hundred(dn_self *self, const void *arg) {
    for (int i = 0; i < 100; i++) CHECK_INT(dn_send(self, dn_name(self, arg), GO, NULL, 0), DN_OK);
    return DN_OK;
}

TEST(flush_is_called_once_when_what_had_gathered_has_been_handled) {
    UNDER_SEEDS(10) {
        (void)born_of(&batch_class, "a");
        since_flush = flushes = total = 0;
        in("root", send_hundred, "a");
        CHECK_INT(total, 100);
        CHECK_INT(flushes, 1);
        CHECK_INT(since_flush, 0);
        in("root", act_send, LETTERS("a", GO));
        CHECK_INT(flushes, 2);
    }
}

TEST(flush_is_not_put_off_for_longer_than_flush_max) {
    UNDER_SEEDS(10) {
        (void)born_of(&bounded_class, "a");
        since_flush = flushes = total = largest_batch = 0;
        in("root", send_hundred, "a");
        CHECK_INT(total, 100);
        CHECK_INT(largest_batch, 10);
        CHECK_INT(flushes, 10);
        CHECK_INT(since_flush, 0);
    }
}

static int batch_stops(dn_self *self, void *state, const dn_msg *msg) {
    (void)batch_on_go(self, state, msg);
    return DN_STOP;
}
static void say_terminated(dn_self *self, void *state) {
    (void)self, (void)state;
    say("terminate after %d flushes", flushes);
}
static const dn_handler last_rows[] = {{GO, batch_on_go}, {GO + 1, batch_stops}};
static const dn_class   last_class = {.name = "last",
                                      .handlers = DN_SLICE(last_rows),
                                      .flush = batch_flush,
                                      .terminate = say_terminated};
static const dn_class   last_draining_class = {.name = "last",
                                               .handlers = DN_SLICE(last_rows),
                                               .flush = batch_flush,
                                               .terminate = say_terminated,
                                               .drains = true};

static int send_then_end(dn_self *self, const void *arg) {
    const dn_ref to = dn_name(self, arg);

    CHECK_INT(dn_send(self, to, GO, NULL, 0), DN_OK);
    CHECK_INT(dn_send(self, to, GO + 1, NULL, 0), DN_OK);
    return DN_OK;
}

static int send_then_stop(dn_self *self, const void *arg) {
    const dn_ref to = dn_name(self, arg);

    CHECK_INT(dn_send(self, to, GO, NULL, 0), DN_OK);
    CHECK_INT(dn_stop(self, to), DN_OK);
    return DN_OK;
}

TEST(what_was_handled_is_flushed_before_an_orderly_end) {
    UNDER_SEEDS(10) {
        (void)born_of(&last_class, "a");
        (void)born_of(&last_draining_class, "b");
        since_flush = flushes = 0;
        in("root", send_then_end, "a");
        CHECK_INT(since_flush, 0);
        CHECK_STR(said(), "terminate after 1 flushes");
        flushes = 0;
        in("root", send_then_stop, "b");
        CHECK_INT(since_flush, 0);
        CHECK_STR(said(), "terminate after 1 flushes");
    }
}

static int flush_fails(dn_self *self, void *state) {
    (void)self, (void)state;
    return DN_EIO;
}
static const dn_class failing_last_class = {.name = "last",
                                            .handlers = DN_SLICE(last_rows),
                                            .flush = flush_fails,
                                            .terminate = say_terminated};

TEST(a_flush_that_fails_at_an_orderly_end_makes_it_a_crash) {
    stage_begins();
    (void)born_of(&failing_last_class, "a");
    in("root", act_send, LETTERS("a", GO + 1));
    CHECK_STR(said(), "");
    CHECK(!is_alive("a"));
    CHECK_INT(inspect()->crashes[0].reason, DN_EIO);
}

static int flush_sends_to_itself(dn_self *self, void *state) {
    (void)state;
    flushes++;
    if (flushes < 5) return dn_send(self, dn_self_ref(self), GO, NULL, 0);
    return DN_OK;
}
static const dn_class circular_class = {
    .name = "circular", .handlers = DN_SLICE(batch_rows), .flush = flush_sends_to_itself};

TEST(a_flush_may_send_to_its_own_actor) {
    stage_begins();
    (void)born_of(&circular_class, "a");
    in("root", act_send, LETTERS("a", GO));
    CHECK_INT(total, 5);
    CHECK_INT(flushes, 5);
}

static int flush_stops(dn_self *self, void *state) {
    (void)self, (void)state;
    return DN_STOP;
}
static void say_terminate(dn_self *self, void *state) {
    (void)self, (void)state;
    say("terminate");
}
static const dn_class stopping_flush_class = {.name = "s",
                                              .handlers = DN_SLICE(batch_rows),
                                              .flush = flush_stops,
                                              .terminate = say_terminate};

TEST(a_flush_may_end_its_actor) {
    stage_begins();
    (void)born_of(&stopping_flush_class, "a");
    in("root", act_send, LETTERS("a", GO));
    CHECK_STR(said(), "terminate");
    CHECK(!is_alive("a"));
}

/* ---- Stops ---- */

static const dn_class orderly_class = {
    .name = "orderly", .handlers = DN_SLICE(probe_handlers), .terminate = say_terminate};
static const dn_class draining_class = {.name = "draining",
                                        .handlers = DN_SLICE(probe_handlers),
                                        .terminate = say_terminate,
                                        .drains = true};

static int send_stop_send(dn_self *self, const void *arg) {
    const dn_ref to = dn_name(self, arg);

    CHECK_INT(dn_send(self, to, 11, NULL, 0), DN_OK);
    CHECK_INT(dn_send(self, to, 12, NULL, 0), DN_OK);
    CHECK_INT(dn_stop(self, to), DN_OK);
    CHECK_INT(dn_send(self, to, 13, NULL, 0), DN_OK);
    return DN_OK;
}

TEST(a_stop_overtakes_waiting_messages) {
    stage_begins();
    (void)born_of(&orderly_class, "a");
    in("root", send_stop_send, "a");
    CHECK_STR(said(), "terminate");
    CHECK_UINT(inspect()->dead_letters, 3);
}

TEST(a_stop_of_a_class_that_drains_waits_behind_what_came_before) {
    UNDER_SEEDS(10) {
        (void)born_of(&draining_class, "a");
        in("root", send_stop_send, "a");
        CHECK_STR(said(), "a:11 a:12 terminate");
    }
}

static int send_much_and_stop(dn_self *self, const void *arg) {
    for (uint64_t i = 0; i < 200; i++)
        CHECK_INT(dn_send(self, dn_name(self, arg), 11, &i, 8), DN_OK);
    CHECK_INT(dn_stop(self, dn_name(self, arg)), DN_OK);
    for (uint64_t i = 0; i < 50; i++)
        CHECK_INT(dn_send(self, dn_name(self, arg), 12, &i, 8), DN_OK);
    return DN_OK;
}

TEST(a_drain_may_be_longer_than_a_turn) {
    stage_begins();
    (void)born_of(&draining_class, "a");
    in("root", send_much_and_stop, "a");
    const char *all = said();
    CHECK(strstr(all, "a:11=0 ") == all);
    CHECK(strstr(all, "a:11=199 terminate"));
    CHECK(!strstr(all, "a:12"));
}

TEST(an_idle_actor_that_drains_stops_at_once) {
    stage_begins();
    (void)born_of(&draining_class, "a");
    in("root", act_stop, "a");
    CHECK_STR(said(), "terminate");
}

static int kill_after_send(dn_self *self, const void *arg) {
    (void)send_stop_send(self, arg);
    CHECK_INT(dn_kill(self, dn_name(self, arg)), DN_OK);
    return DN_OK;
}

TEST(a_kill_overtakes_messages_and_drains_and_skips_terminate) {
    stage_begins();
    (void)born_of(&draining_class, "a");
    in("root", kill_after_send, "a");
    CHECK_STR(said(), "");
    CHECK(!is_alive("a"));
}

static int watch(dn_self *self, const void *arg) {
    (void)dn_monitor(self, dn_name(self, arg), 1);
    return DN_OK;
}

/* ---- The stopping hook ---- */

static int stopping_waits(dn_self *self, void *state) {
    (void)self, (void)state;
    say("stopping");
    return DN_OK;
}
static const dn_class patient_class = {.name = "patient",
                                       .handlers = DN_SLICE(probe_handlers),
                                       .stopping = stopping_waits,
                                       .terminate = say_terminate};

TEST(an_actor_with_something_to_finish_ends_itself_later) {
    stage_begins();
    (void)born_of(&patient_class, "a");
    in("root", watch, "a");
    in("root", act_stop, "a");
    CHECK_STR(said(), "stopping");
    in("root", act_send, LETTERS("a", 11));
    CHECK_STR(said(), "a:11");
    in("a", act_stop_self, NULL);
    CHECK_STR(said(), "terminate root:down1/shutdown");
}

TEST(an_actor_being_stopped_can_still_be_killed) {
    stage_begins();
    (void)born_of(&patient_class, "a");
    in("root", watch, "a");
    in("root", act_stop, "a");
    in("root", act_kill, "a");
    CHECK_STR(said(), "stopping root:down1/killed");
}

static int stopping_agrees(dn_self *self, void *state) {
    (void)self, (void)state;
    say("stopping");
    return DN_STOP;
}
static const dn_class agreeing_class = {.name = "agreeing",
                                        .handlers = DN_SLICE(probe_handlers),
                                        .stopping = stopping_agrees,
                                        .terminate = say_terminate};

TEST(a_stopping_hook_that_agrees_ends_the_actor_now) {
    stage_begins();
    (void)born_of(&agreeing_class, "a");
    in("root", watch, "a");
    in("root", act_stop, "a");
    CHECK_STR(said(), "stopping terminate root:down1/shutdown");
}

static int stop_oneself(dn_self *self, const void *arg) {
    (void)arg;
    CHECK_INT(dn_stop(self, dn_self_ref(self)), DN_OK);
    say("after");
    return DN_OK;
}
static int kill_oneself(dn_self *self, const void *arg) {
    (void)arg;
    CHECK_INT(dn_kill(self, dn_self_ref(self)), DN_OK);
    say("after");
    return DN_OK;
}

TEST(an_actor_may_stop_or_kill_itself_and_its_handler_runs_to_the_end) {
    stage_begins();
    (void)born_of(&orderly_class, "a");
    in("a", stop_oneself, NULL);
    CHECK_STR(said(), "after terminate");
    (void)born_of(&orderly_class, "a");
    in("a", kill_oneself, NULL);
    CHECK_STR(said(), "after");
    CHECK(!is_alive("a"));
}

static int stop_twice(dn_self *self, const void *arg) {
    CHECK_INT(dn_stop(self, dn_name(self, arg)), DN_OK);
    CHECK_INT(dn_stop(self, dn_name(self, arg)), DN_OK);
    CHECK_INT(dn_kill(self, dn_name(self, arg)), DN_OK);
    return DN_OK;
}

TEST(stopping_and_killing_the_same_actor_again_is_harmless) {
    stage_begins();
    (void)born_of(&orderly_class, "a");
    in("root", watch, "a");
    in("root", stop_twice, "a");
    const char *all = said();
    CHECK_STR(all, "terminate root:down1/shutdown");
}

static void terminate_sends(dn_self *self, void *state) {
    (void)state;
    CHECK_INT(dn_send(self, dn_name(self, "root"), 20, NULL, 0), DN_OK);
}
static const dn_class parting_class = {
    .name = "parting", .handlers = DN_SLICE(probe_handlers), .terminate = terminate_sends};

TEST(terminate_may_send_and_what_it_sends_comes_before_the_down) {
    stage_begins();
    (void)born_of(&parting_class, "a");
    in("root", watch, "a");
    in("root", act_stop, "a");
    CHECK_STR(said(), "root:20 root:down1/shutdown");
}

/* ---- The end of the root ---- */

TEST(when_the_root_ends_everything_ends) {
    stage_begins();
    (void)born_of(&orderly_class, "a");
    later_in("root", act_stop_self, NULL);
    CHECK_INT(dn_sim_run(st.sim, 10), DN_SIM_ENDED);
    CHECK_INT(dn_sim_root_reason(st.sim), DN_OK);
    CHECK_STR(said(), ""); /* killed: only the root was asked */
}

TEST(a_root_that_fails_leaves_its_reason) {
    stage_begins();
    later_in("root", act_fail, NULL);
    CHECK_INT(dn_sim_run(st.sim, 10), DN_SIM_ENDED);
    CHECK_INT(dn_sim_root_reason(st.sim), DN_EFAILED);
}

TEST(a_simulation_can_be_asked_to_stop) {
    stage_begins();
    dn_sim_stop(st.sim);
    CHECK_INT(dn_sim_run(st.sim, 10), DN_SIM_ENDED);
    CHECK_INT(dn_sim_root_reason(st.sim), DN_ESHUTDOWN);
}
