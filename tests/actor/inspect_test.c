/* inspect_test.c - what a loop says about itself, and what it leaves out. */
#include "stage.h"

static int ignore(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state, (void)msg;
    return DN_OK;
}
static const dn_handler quiet_rows[] = {{10, ignore}, PROBE_ROWS};
static const dn_class   quiet_class = {
      .name = "quiet", .state_size = 24, .handlers = DN_SLICE(quiet_rows)};

static int send_ten(dn_self *self, const void *arg) {
    for (int i = 0; i < 10; i++) CHECK_INT(dn_send(self, dn_name(self, arg), 10, NULL, 0), DN_OK);
    return DN_OK;
}

TEST(a_row_says_what_an_actor_is_and_what_it_did) {
    stage_begins();
    const dn_ref a = born_of(&quiet_class, "a");
    in("root", send_ten, "a");
    in("root", send_ten, "a");
    const dn_actor_report *row = row_of(inspect(), "a");
    CHECK(dn_ref_equal(row->who, a));
    CHECK_STR(row->actor_class, "quiet");
    CHECK_UINT(row->depth, 0);
    CHECK_UINT(row->depth_peak, 10);
    CHECK_UINT(row->handled, 20);
    CHECK_UINT(row->heap_bytes, 24);
    CHECK_UINT(row->restarts, 0);
}

static int send_one(dn_self *self, const void *arg) {
    return dn_send(self, dn_name(self, arg), 10, NULL, 0);
}

TEST(who_was_sent_nothing_has_no_peak) {
    stage_begins();
    (void)born_of(&quiet_class, "a");
    CHECK_UINT(row_of(inspect(), "a")->depth_peak, 0);
    in("root", send_one, "a");
    CHECK_UINT(row_of(inspect(), "a")->depth_peak, 1);
}

static int send_ten_and_inspect(dn_self *self, const void *arg) {
    (void)send_ten(self, arg);
    dn_inspect(self, NULL, 100);
    return DN_OK;
}

TEST(depth_is_what_waits_at_the_instant_of_the_report) {
    stage_begins();
    (void)born_of(&quiet_class, "a");
    in("root", send_ten_and_inspect, "a");
    CHECK_UINT(row_of(st.report, "a")->depth, 10);
    CHECK_UINT(row_of(st.report, "a")->handled, 0);
}

TEST(restarts_of_a_name_are_counted_over_its_holders) {
    stage_begins();
    for (uint32_t i = 0; i < 5; i++) {
        (void)born("a");
        CHECK_UINT(row_of(inspect(), "a")->restarts, i);
        in("a", act_fail, NULL);
    }
}

TEST(totals_add_up) {
    stage_begins();
    const dn_report *r = inspect();
    CHECK_STR(r->loop, "main");
    CHECK_UINT(r->actors, 1);
    CHECK_UINT(r->actors_len, 1);
    CHECK_UINT(r->spawned, 1);
    (void)born_of(&quiet_class, "a");
    (void)born("b");
    in("root", send_ten, "a");
    in("b", act_fail, NULL);
    in("root", act_kill, "a");
    const uint64_t handled = r->handled;
    r = inspect();
    CHECK_UINT(r->spawned, 3);
    CHECK_UINT(r->ended, 2);
    CHECK_UINT(r->actors, 1);
    CHECK_UINT(r->crashed, 1);
    CHECK_UINT(r->dead_letters, 0);
    CHECK_UINT(r->full, 0);
    CHECK(r->handled >= handled + 10);
    CHECK(r->memory_bytes > 0);
}

TEST(handled_counts_every_message_once) {
    stage_begins();
    (void)born_of(&quiet_class, "a");
    const uint64_t handled = inspect()->handled;
    in("root", send_ten, "a");
    /* Ten, a report, and what asked for that and for the ten. */
    CHECK_UINT(inspect()->handled - handled, 10 + 1 + 2);
}

TEST(named_actors_come_first_and_max_cuts_the_rest) {
    stage_begins();
    for (int i = 0; i < 10; i++) (void)born(NULL);
    (void)born("a");
    (void)born("b");
    const dn_report *r = inspect();
    CHECK_UINT(r->actors_len, 13);
    for (size_t i = 0; i < 13; i++) {
        const bool named = strcmp(r->rows[i].name, "probe") != 0;
        CHECK_INT(named, i < 3);
    }
    r = inspect_max(3);
    CHECK_UINT(r->actors_len, 3);
    CHECK_UINT(r->actors, 13);
    (void)row_of(r, "root");
    (void)row_of(r, "a");
    (void)row_of(r, "b");
    r = inspect_max(5);
    CHECK_UINT(r->actors_len, 5);
    CHECK_STR(r->rows[4].name, "probe");
    CHECK_UINT(inspect_max(0)->actors_len, 0);
}

TEST(a_loop_nobody_has_reports_as_the_first) {
    stage_begins();
    CHECK_STR(inspect()->loop, "main");
}

/* ---- Which one it is ---- */

static dn_call_id asked[3], brought[3];
static int        brought_len;

static int asker_init(dn_self *self, void *state, const void *config) {
    (void)state, (void)config;
    for (int i = 0; i < 3; i++) asked[i] = dn_inspect(self, NULL, 0);
    return DN_OK;
}

static int asker_on_report(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state;
    CHECK(brought_len < 3);
    brought[brought_len++] = dn_msg_call(msg);
    return DN_OK;
}

static const dn_handler asker_rows[] = {{DN_MSG_REPORT, asker_on_report}};
static const dn_class   asker_class = {
      .name = "asker", .init = asker_init, .handlers = DN_SLICE(asker_rows)};

TEST(a_report_has_the_number_of_the_question_it_answers_and_numbers_rise) {
    stage_begins();
    (void)born_of(&asker_class, "asker");
    CHECK_INT(brought_len, 3);
    for (int i = 0; i < 3; i++) CHECK_UINT(brought[i], asked[i]);
    CHECK(asked[0] > 0 && asked[1] > asked[0] && asked[2] > asked[1]);
}

/* ---- Nothing stays ---- */

enum { LIVES = 100000 / TEST_SLOW_FACTOR };

static int lives_init(dn_self *self, void *state, const void *config) {
    (void)config;
    memset(dn_alloc(self, 500), 1, 500);
    dn_own(self, state, free); /* released below: what it owns is nothing */
    CHECK(dn_disown(self, state));
    (void)dn_timer_after(self, 1000, 10, 0);
    (void)dn_timer_at_wall(self, 1700000099999, 10, 0);
    (void)dn_monitor(self, dn_name(self, "root"), 1);
    return DN_OK;
}
static const dn_class lives_class = {
    .name = "life", .state_size = 100, .init = lives_init, .handlers = DN_SLICE(quiet_rows)};

static int live_and_die(dn_self *self, const void *arg) {
    char         large[300] = "";
    const dn_ref keep_out = *(const dn_ref *)arg;

    for (int i = 0; i < 100; i++) {
        dn_ref     who;
        dn_call_id id;
        CHECK_INT(dn_spawn(self,
                           &(dn_spawn_spec){.actor_class = &lives_class,
                                            .name = i % 2 ? "life" : NULL,
                                            .monitored = true,
                                            .linked = true},
                           &who),
                  DN_OK);
        CHECK_INT(dn_send(self, who, 10, NULL, 0), DN_OK);
        CHECK_INT(dn_send(self, who, 10, large, sizeof large), DN_OK);
        CHECK_INT(dn_call(self, who, 10, large, sizeof large, 1000, &id), DN_OK);
        CHECK_INT(i % 3 ? dn_kill(self, who) : dn_stop(self, who), DN_OK);
        if (i % 2) break; /* the name is free when it is gone */
    }
    CHECK_INT(dn_send(self, keep_out, 10, NULL, 0), DN_EDEAD);
    return DN_OK;
}

TEST(actors_by_the_hundred_thousand_come_and_go_and_memory_stays) {
    stage_begins();
    const dn_ref gone = born("gone");
    in("root", act_kill, "gone");
    size_t settled = 0;
    for (int lived = 0; lived < LIVES; lived += 2) {
        in("root", live_and_die, &gone);
        st.log_len = 0;
        if (lived < LIVES / 10) settled = 0;
        else if (settled == 0) settled = inspect()->memory_bytes;
    }
    const dn_report *r = inspect();
    CHECK(r->spawned >= (uint64_t)LIVES);
    CHECK_UINT(r->actors, 1);
    CHECK_UINT(r->memory_bytes, settled);
}
