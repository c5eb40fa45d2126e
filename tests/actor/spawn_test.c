/* spawn_test.c - how actors begin: what a starter may count on when dn_spawn returns, and what comes later. */
#include "stage.h"

static int init_count;

static int init_says(dn_self *self, void *state, const void *config) {
    (void)state, (void)config;
    init_count++;
    say("%s+", dn_self_name(self));
    return DN_OK;
}
static const dn_class saying_class = {
    .name = "saying", .init = init_says, .handlers = DN_SLICE(probe_handlers)};

static void released(void *thing) { say("released-%s", (const char *)thing); }

static int spawn_and_say(dn_self *self, const void *arg) {
    dn_ref    who = DN_NOBODY;
    const int rc = dn_spawn(self, arg, &who);

    say("spawned/%s%s", word_of(rc), dn_ref_is_nobody(who) ? "" : "+ref");
    st.found = who;
    return DN_OK;
}

static const char *spawned(const dn_spawn_spec *spec) {
    in("root", spawn_and_say, spec);
    return said();
}

TEST(init_has_run_when_spawn_returns_ok) {
    stage_begins();
    CHECK_STR(spawned(&(dn_spawn_spec){.actor_class = &saying_class, .name = "a"}),
              "a+ spawned/ok+ref");
    CHECK(is_alive("a"));
}

TEST(a_class_without_init_needs_none) {
    stage_begins();
    CHECK_STR(spawned(&(dn_spawn_spec){.actor_class = &probe_class}), "spawned/ok+ref");
}

static int spawn_without_out(dn_self *self, const void *arg) {
    CHECK_INT(dn_spawn(self, arg, NULL), DN_OK);
    return DN_OK;
}

TEST(a_starter_need_not_want_the_address) {
    stage_begins();
    in("root", spawn_without_out, &(dn_spawn_spec){.actor_class = &saying_class, .name = "a"});
    CHECK(is_alive("a"));
}

/* ---- Starts that fail ---- */

static int init_stops(dn_self *self, void *state, const void *config) {
    (void)state, (void)config;
    dn_own(self, (void *)(uintptr_t) "thing", released);
    return DN_STOP;
}
static int init_answers_io(dn_self *self, void *state, const void *config) {
    (void)state, (void)config;
    dn_own(self, (void *)(uintptr_t) "thing", released);
    return DN_EIO;
}
static int init_fails(dn_self *self, void *state, const void *config) {
    (void)state, (void)config;
    dn_own(self, (void *)(uintptr_t) "thing", released);
    dn_fail_code(DN_EINVAL, "no good");
}
static void terminate_says(dn_self *self, void *state) {
    (void)self, (void)state;
    say("terminate");
}
static const dn_class declining_class = {
    .name = "declining", .init = init_stops, .terminate = terminate_says};
static const dn_class refusing_class = {
    .name = "refusing", .init = init_answers_io, .terminate = terminate_says};
static const dn_class crashing_class = {
    .name = "crashing", .init = init_fails, .terminate = terminate_says};

TEST(an_actor_whose_init_answers_stop_never_was) {
    stage_begins();
    CHECK_STR(
        spawned(&(dn_spawn_spec){.actor_class = &declining_class, .name = "a", .monitored = true}),
        "released-thing spawned/stop");
    CHECK(!is_alive("a"));
    CHECK_UINT(inspect()->crashed, 0);
    CHECK_STR(said(), "");
}

TEST(an_actor_whose_init_answers_a_code_never_was) {
    stage_begins();
    CHECK_STR(
        spawned(&(dn_spawn_spec){.actor_class = &refusing_class, .name = "a", .monitored = true}),
        "released-thing spawned/io");
    CHECK(!is_alive("a"));
    CHECK_UINT(inspect()->actors, 1);
    CHECK_STR(said(), "");
}

TEST(a_crash_in_init_costs_the_starter_a_code_and_nothing_else) {
    stage_begins();
    CHECK_STR(spawned(&(dn_spawn_spec){
                  .actor_class = &crashing_class, .name = "a", .monitored = true, .linked = true}),
              "released-thing spawned/invalid");
    CHECK(!is_alive("a"));
    CHECK_STR(said(), "");
    const dn_report *r = inspect();
    CHECK_UINT(r->crashed, 1);
    CHECK_STR(r->crashes[0].name, "a");
    CHECK_STR(r->crashes[0].why, "no good");
    CHECK_INT(r->crashes[0].reason, DN_EINVAL);
    CHECK_STR(told(DN_NOTICE_CRASH)->actor, "a");
}

TEST(after_a_failed_start_its_name_is_free) {
    stage_begins();
    (void)spawned(&(dn_spawn_spec){.actor_class = &crashing_class, .name = "a"});
    CHECK_STR(spawned(&(dn_spawn_spec){.actor_class = &saying_class, .name = "a"}),
              "a+ spawned/ok+ref");
}

TEST(a_taken_name_refuses_the_second_before_its_init) {
    stage_begins();
    const dn_ref first = born("a");
    CHECK_STR(spawned(&(dn_spawn_spec){.actor_class = &saying_class, .name = "a"}),
              "spawned/exists");
    CHECK(dn_ref_equal(find("a"), first));
}

TEST(a_name_that_cannot_be_one_is_invalid) {
    static char longest[DN_NAME_MAX + 1], too_long[DN_NAME_MAX + 2];

    stage_begins();
    memset(longest, 'x', DN_NAME_MAX);
    memset(too_long, 'x', DN_NAME_MAX + 1);
    CHECK_STR(spawned(&(dn_spawn_spec){.actor_class = &probe_class, .name = ""}),
              "spawned/invalid");
    CHECK_STR(spawned(&(dn_spawn_spec){.actor_class = &probe_class, .name = too_long}),
              "spawned/invalid");
    CHECK_STR(spawned(&(dn_spawn_spec){.actor_class = &probe_class, .name = longest}),
              "spawned/ok+ref");
    CHECK(is_alive(longest));
}

TEST(a_spec_without_class_or_a_class_without_name_is_invalid) {
    static const dn_class nameless;

    stage_begins();
    CHECK_STR(spawned(&(dn_spawn_spec){.name = "a"}), "spawned/invalid");
    CHECK_STR(spawned(&(dn_spawn_spec){.actor_class = &nameless}), "spawned/invalid");
}

static int init_spawns_a_crashing(dn_self *self, void *state, const void *config) {
    dn_ref who;

    (void)state, (void)config;
    CHECK_INT(
        dn_spawn(self, &(dn_spawn_spec){.actor_class = &crashing_class, .name = "inner"}, &who),
        DN_EINVAL);
    say("%s goes on", dn_self_name(self));
    return DN_OK;
}
static const dn_class outer_class = {
    .name = "outer", .init = init_spawns_a_crashing, .handlers = DN_SLICE(probe_handlers)};

TEST(a_crash_in_an_init_inside_an_init_ends_the_inner_one_only) {
    stage_begins();
    CHECK_STR(spawned(&(dn_spawn_spec){.actor_class = &outer_class, .name = "outer"}),
              "released-thing outer goes on spawned/ok+ref");
}

static int fail_after_spawn(dn_self *self, const void *arg) {
    CHECK_INT(dn_spawn(self, arg, NULL), DN_EINVAL);
    dn_fail("after it");
}

TEST(a_failure_after_a_childs_failed_start_is_the_parents_own) {
    stage_begins();
    (void)born("p");
    in("p", fail_after_spawn, &(dn_spawn_spec){.actor_class = &crashing_class, .name = "a"});
    CHECK(!is_alive("p"));
    CHECK_STR(inspect()->crashes[0].name, "p");
    CHECK_STR(inspect()->crashes[0].why, "after it");
    CHECK_UINT(inspect()->crashes[0].kind, DO);
}

/* ---- Starts that take their time ---- */

static int init_pends(dn_self *self, void *state, const void *config) {
    (void)self, (void)state, (void)config;
    return DN_PENDING;
}
static const dn_class pending_class = {
    .name = "pending", .init = init_pends, .handlers = DN_SLICE(probe_handlers)};

static int init_done(dn_self *self, const void *arg) {
    dn_init_done(self, *(const int *)arg);
    return DN_OK;
}

static void begin_pending(void) {
    stage_begins();
    CHECK_STR(spawned(&(dn_spawn_spec){.actor_class = &pending_class, .name = "a", .tag = 7}),
              "spawned/pending+ref");
    CHECK(dn_ref_equal(st.found, find("a")));
}

TEST(a_pending_start_is_told_once_when_it_is_done) {
    begin_pending();
    in("a", init_done, &(int){DN_OK});
    CHECK_STR(said(), "root:started7/ok");
    CHECK(dn_ref_equal(st.found, find("a")));
    in("root", act_stop, "a");
    CHECK_STR(said(), "");
}

TEST(a_pending_start_that_gives_up_ends_with_its_code) {
    begin_pending();
    in("a", init_done, &(int){DN_EIO});
    CHECK_STR(said(), "root:started7/io");
    CHECK(!is_alive("a"));
}

static void begin_pending_watched(void) {
    stage_begins();
    CHECK_STR(spawned(&(dn_spawn_spec){
                  .actor_class = &pending_class, .name = "a", .tag = 7, .monitored = true}),
              "spawned/pending+ref");
}

TEST(a_pending_start_that_is_watched_and_fails_is_told_once) {
    begin_pending_watched();
    in("a", act_fail, NULL);
    CHECK_STR(said(), "root:started7/failed");
}

TEST(an_actor_spawned_to_be_watched_is_watched_when_its_pending_start_is_done) {
    begin_pending_watched();
    in("a", init_done, &(int){DN_OK});
    in("a", act_fail, NULL);
    CHECK_STR(said(), "root:started7/ok root:down7/failed");
}

static int unwatch(dn_self *self, const void *arg) {
    const dn_watch_id id = *(const dn_watch_id *)arg;

    dn_demonitor(self, id);
    CHECK(!dn_watch_stands(self, id));
    return DN_OK;
}

TEST(a_pending_start_is_told_though_its_watch_was_withdrawn) {
    const int hows[] = {DN_OK, DN_EIO};

    for (size_t i = 0; i < 2; i++) {
        dn_watch_id id = 0;

        stage_begins_with_seed(test_seed());
        CHECK_STR(spawned(&(dn_spawn_spec){.actor_class = &pending_class,
                                           .name = "a",
                                           .tag = 7,
                                           .monitored = true,
                                           .out_quiet = &id}),
                  "spawned/pending+ref");
        in("root", unwatch, &id);
        in("a", init_done, &hows[i]);
        CHECK_STR(said(), i == 0 ? "root:started7/ok" : "root:started7/io");
        if (i == 0) in("a", act_fail, NULL);
        CHECK_STR(said(), "");
        stage_ends();
    }
}

TEST(a_watched_pending_start_may_outlive_its_starter) {
    stage_begins();
    (void)born("p");
    in("p", spawn_and_say,
       &(dn_spawn_spec){.actor_class = &pending_class, .name = "a", .monitored = true});
    in("root", act_kill, "p");
    in("a", act_fail, NULL);
    CHECK(!is_alive("a"));
}

TEST(a_pending_start_that_crashes_is_told_so) {
    begin_pending();
    in("a", act_fail, NULL);
    CHECK_STR(said(), "root:started7/failed");
}

TEST(a_pending_start_that_is_killed_is_told_so) {
    begin_pending();
    in("root", act_kill, "a");
    CHECK_STR(said(), "root:started7/killed");
}

TEST(a_pending_start_that_is_stopped_is_told_so) {
    begin_pending();
    in("root", act_stop, "a");
    CHECK_STR(said(), "root:started7/shutdown");
}

TEST(a_pending_start_that_ends_by_itself_is_told_as_a_failure) {
    begin_pending();
    in("a", act_stop_self, NULL);
    CHECK_STR(said(), "root:started7/shutdown");
}

TEST(a_pending_start_whose_starter_is_gone_goes_on) {
    stage_begins();
    (void)born("p");
    in("p", spawn_and_say, &(dn_spawn_spec){.actor_class = &pending_class, .name = "a"});
    in("root", act_kill, "p");
    in("a", init_done, &(int){DN_OK});
    CHECK(is_alive("a"));
}

/* ---- What it gets ---- */

typedef struct furnished {
    uint64_t zeros[100];
} furnished;

static int init_looks(dn_self *self, void *state, const void *config) {
    furnished         *f = state;
    const char *const *word = config;

    for (int i = 0; i < 100; i++) CHECK_UINT(f->zeros[i], 0);
    memset(f, 0xff, sizeof *f);
    say("%s-%s", dn_self_name(self), *word);
    return DN_OK;
}
static const dn_class looking_class = {.name = "looking",
                                       .state_size = sizeof(furnished),
                                       .init = init_looks,
                                       .handlers = DN_SLICE(probe_handlers)};

TEST(state_is_zeroed_every_time_and_config_is_handed_over) {
    static const char *const word = "config";

    stage_begins();
    for (int i = 0; i < 3; i++) {
        CHECK_STR(
            spawned(&(dn_spawn_spec){.actor_class = &looking_class, .name = "a", .config = &word}),
            "a-config spawned/ok+ref");
        in("root", act_kill, "a");
    }
}

static int init_finds_itself(dn_self *self, void *state, const void *config) {
    (void)state, (void)config;
    CHECK(dn_ref_equal(dn_whereis(self, dn_name(self, "a")), dn_self_ref(self)));
    CHECK_INT(dn_send(self, dn_self_ref(self), 9, NULL, 0), DN_OK);
    return DN_OK;
}
static const dn_class finding_class = {
    .name = "finding", .init = init_finds_itself, .handlers = DN_SLICE(probe_handlers)};

TEST(a_name_is_registered_before_init_and_messages_wait_until_after) {
    stage_begins();
    CHECK_STR(spawned(&(dn_spawn_spec){.actor_class = &finding_class, .name = "a"}),
              "spawned/ok+ref a:9");
}

TEST(an_actor_without_a_name_goes_by_its_class) {
    static const dn_class anonymous = {.name = "anonymous", .init = init_says};

    stage_begins();
    CHECK_STR(spawned(&(dn_spawn_spec){.actor_class = &anonymous}), "anonymous+ spawned/ok+ref");
}

TEST(a_loop_nobody_has_means_the_first_one) {
    stage_begins();
    CHECK_STR(
        spawned(&(dn_spawn_spec){.actor_class = &saying_class, .name = "a", .loop = "nowhere"}),
        "a+ spawned/ok+ref");
}

TEST(a_monitored_child_brings_its_tag_back) {
    stage_begins();
    (void)spawned(
        &(dn_spawn_spec){.actor_class = &probe_class, .name = "a", .tag = 42, .monitored = true});
    in("a", act_stop_self, NULL);
    CHECK_STR(said(), "root:down42/ok");
}

/* ---- Links ---- */

static void begin_family(void) {
    stage_begins();
    (void)born("p");
    in("p", act_spawn, &(dn_spawn_spec){.actor_class = &probe_class, .name = "c", .linked = true});
    in("c", act_spawn, &(dn_spawn_spec){.actor_class = &probe_class, .name = "g", .linked = true});
    in("p", act_spawn, &(dn_spawn_spec){.actor_class = &probe_class, .name = "free"});
}

static int watch_by_name(dn_self *self, const void *arg) {
    (void)dn_monitor(self, dn_name(self, arg), 1);
    return DN_OK;
}

TEST(linked_children_are_killed_however_their_parent_ends) {
    act_fn *const ends[] = {act_stop_self, act_fail};

    begin_family();
    for (int how = 0; how < 4; how++) {
        if (how > 0) {
            (void)born("p");
            in("p", act_spawn,
               &(dn_spawn_spec){.actor_class = &probe_class, .name = "c", .linked = true});
            in("c", act_spawn,
               &(dn_spawn_spec){.actor_class = &probe_class, .name = "g", .linked = true});
        }
        in("root", watch_by_name, "g");
        if (how < 2) in("p", ends[how], NULL);
        else in("root", how == 2 ? act_stop : act_kill, "p");
        CHECK(!is_alive("c"));
        CHECK_STR(said(), "root:down1/killed");
    }
    CHECK(is_alive("free"));
}

TEST(a_link_outlasts_the_watch_that_came_with_it) {
    for (int child_first = 0; child_first < 2; child_first++) {
        dn_watch_id id = 0;

        stage_begins_with_seed(test_seed());
        (void)born("p");
        in("p", act_spawn,
           &(dn_spawn_spec){.actor_class = &probe_class,
                            .name = "c",
                            .monitored = true,
                            .linked = true,
                            .out_quiet = &id});
        in("p", unwatch, &id);
        if (child_first) in("c", act_fail, NULL);
        CHECK_STR(said(), "");
        in("p", act_fail, NULL);
        CHECK(!is_alive("c"));
        stage_ends();
    }
}

TEST(a_linked_child_that_ends_first_leaves_its_parent_alone) {
    begin_family();
    in("c", act_fail, NULL);
    CHECK(is_alive("p"));
    CHECK(!is_alive("g"));
    in("root", act_stop, "p");
    CHECK_UINT(inspect()->actors, 2);
}

TEST(an_actor_may_end_itself_while_its_children_are_many) {
    enum { CHILDREN = 1000 };

    stage_begins();
    (void)born("p");
    for (int i = 0; i < CHILDREN; i++)
        in("p", act_spawn, &(dn_spawn_spec){.actor_class = &probe_class, .linked = true});
    CHECK_UINT(inspect()->actors, CHILDREN + 2);
    in("p", act_stop_self, NULL);
    CHECK_UINT(inspect()->actors, 1);
}

/* ---- Many lives ---- */

TEST(the_address_of_an_earlier_life_never_reaches_a_later_one) {
    dn_ref earlier[100];

    stage_begins();
    for (int i = 0; i < 100; i++) {
        earlier[i] = born("a");
        for (int k = 0; k < i; k++) CHECK(!dn_ref_equal(earlier[i], earlier[k]));
        CHECK_INT(dn_post(st.runtime, earlier[i], 9, NULL, 0), DN_OK);
        settle();
        CHECK_STR(said(), "a:9");
        for (int k = 0; k < i; k++)
            CHECK_INT(dn_post(st.runtime, earlier[k], 9, NULL, 0), DN_EDEAD);
        in("root", act_kill, "a");
    }
    CHECK_STR(said(), "");
}
