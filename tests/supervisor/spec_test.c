/* spec_test.c - a spec that makes no sense ends the supervisor at once, with a sentence. */
#include "world.h"

static char crash_why[DN_CRASH_WHY_MAX];

static void remember(void *context, const dn_notice *n) {
    (void)context;
    if (n->kind == DN_NOTICE_CRASH && strcmp(n->actor, "sup") == 0)
        snprintf(crash_why, sizeof crash_why, "%s", n->why);
}

static int start(const dn_class *cls, const void *spec) {
    static stage_config stage;
    const dn_spawn_spec root = {.actor_class = &stage_class, .config = &stage, .name = "stage"};
    const dn_sim_config config = {.seed = test_seed(), .notice = remember};

    stage.spawn =
        (dn_spawn_spec){.actor_class = cls, .config = spec, .name = "sup", .linked = true};
    if (!w.sim) atexit(world_ends);
    world_again();
    CHECK_INT(dn_sim_new(&config, &w.sim), DN_OK);
    CHECK_INT(dn_sim_boot(w.sim, &root), DN_OK);
    w.runtime = dn_sim_runtime(w.sim);
    CHECK(!w.was_pending);
    return w.spawn_status;
}

static void refused(dn_child_spec child, dn_auto_shutdown auto_shutdown, const char *why) {
    const dn_supervisor_spec spec = {.auto_shutdown = auto_shutdown,
                                     .children = {.rows = &child, .len = 1}};

    CHECK_INT(start(&dn_supervisor_class, &spec), DN_EINVAL);
    CHECK_STR(crash_why, why);
    CHECK_STR(said(), "");
}

TEST(a_child_needs_a_name) {
    refused((dn_child_spec){.actor_class = &part_class}, DN_NEVER,
            "child 0: a name of 1 to 63 bytes is needed");
}

TEST(a_name_has_at_most_63_bytes) {
    refused(
        (dn_child_spec)CHILD("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"),
        DN_NEVER, "child 0: a name of 1 to 63 bytes is needed");
}

TEST(a_child_needs_a_class) {
    refused((dn_child_spec){.name = "a"}, DN_NEVER, "a: it has no class");
}

TEST(a_permanent_child_cannot_be_significant) {
    refused((dn_child_spec)CHILD("a", .significant = true), DN_ANY_SIGNIFICANT,
            "a: a permanent child is not significant");
}

TEST(a_significant_child_needs_an_auto_shutdown) {
    refused((dn_child_spec)CHILD("a", .significant = true, .restart = DN_TRANSIENT), DN_NEVER,
            "a: significant, but auto_shutdown never");
}

TEST(a_restart_type_must_be_one_there_is) {
    refused((dn_child_spec)CHILD("a", .restart = (dn_restart)3), DN_NEVER,
            "a: there is no such restart");
}

TEST(a_shutdown_time_must_be_one_there_is) {
    refused((dn_child_spec)CHILD("a", .shutdown_ms = -3), DN_NEVER,
            "a: shutdown_ms is out of range");
}

TEST(a_start_time_must_be_one_there_is) {
    refused((dn_child_spec)CHILD("a", .start_ms = -1), DN_NEVER, "a: start_ms is out of range");
}

TEST(a_backoff_cannot_be_negative) {
    refused((dn_child_spec)CHILD("a", .backoff = {.min_ms = -1}), DN_NEVER,
            "a: a backoff cannot be negative");
}

TEST(a_backoff_cannot_end_below_where_it_begins) {
    refused((dn_child_spec)CHILD("a", .backoff = {.min_ms = 10, .max_ms = 9}), DN_NEVER,
            "a: backoff: max_ms is below min_ms");
}

TEST(two_children_cannot_have_one_name) {
    const dn_child_spec      children[] = {CHILD("a"), CHILD("b"), CHILD("a")};
    const dn_supervisor_spec spec = SUPERVISOR(DN_ONE_FOR_ONE, children);

    CHECK_INT(start(&dn_supervisor_class, &spec), DN_EINVAL);
    CHECK_STR(crash_why, "two children of the name a");
    CHECK_STR(said(), "");
}

TEST(a_strategy_must_be_one_there_is) {
    const dn_supervisor_spec spec = {.strategy = (dn_strategy)3};

    CHECK_INT(start(&dn_supervisor_class, &spec), DN_EINVAL);
    CHECK_STR(crash_why, "there is no such strategy");
}

TEST(an_auto_shutdown_must_be_one_there_is) {
    const dn_supervisor_spec spec = {.auto_shutdown = (dn_auto_shutdown)3};

    CHECK_INT(start(&dn_supervisor_class, &spec), DN_EINVAL);
    CHECK_STR(crash_why, "there is no such auto_shutdown");
}

TEST(an_intensity_has_a_bound) {
    const dn_supervisor_spec most = {.intensity = DN_INTENSITY_MAX};
    const dn_supervisor_spec more = {.intensity = DN_INTENSITY_MAX + 1};

    CHECK_INT(start(&dn_supervisor_class, &most), DN_OK);
    CHECK_INT(start(&dn_supervisor_class, &more), DN_EINVAL);
    CHECK_STR(crash_why, "intensity is above DN_INTENSITY_MAX");
}

TEST(a_period_cannot_be_negative) {
    const dn_supervisor_spec spec = {.period_ms = -1};

    CHECK_INT(start(&dn_supervisor_class, &spec), DN_EINVAL);
    CHECK_STR(crash_why, "period_ms is out of range");
}

TEST(a_number_of_children_needs_their_rows) {
    const dn_supervisor_spec spec = {.children = {.rows = NULL, .len = 1}};

    CHECK_INT(start(&dn_supervisor_class, &spec), DN_EINVAL);
    CHECK_STR(crash_why, "a number of children, but no rows");
}

TEST(a_supervisor_needs_a_spec) {
    CHECK_INT(start(&dn_supervisor_class, NULL), DN_EINVAL);
    CHECK_STR(crash_why, "a supervisor needs a spec");
}

TEST(the_children_of_a_dynamic_supervisor_need_a_class) {
    const dn_dynamic_spec spec = {.children_max = 1};

    CHECK_INT(start(&dn_dynamic_class, &spec), DN_EINVAL);
    CHECK_STR(crash_why, "its children have no class");
}

TEST(a_dynamic_supervisor_checks_its_shutdown_time) {
    const dn_dynamic_spec spec = {.actor_class = &part_class, .shutdown_ms = -3};

    CHECK_INT(start(&dn_dynamic_class, &spec), DN_EINVAL);
    CHECK_STR(crash_why, "shutdown_ms is out of range");
}

TEST(a_supervisor_as_a_child_is_permanent_and_waited_for) {
    const dn_supervisor_spec spec = {.strategy = DN_ONE_FOR_ALL};
    const dn_child_spec      child = dn_supervisor_child("inner", &spec);

    CHECK_STR(child.name, "inner");
    CHECK_PTR(child.actor_class, &dn_supervisor_class);
    CHECK_PTR(child.config, &spec);
    CHECK_INT(child.restart, DN_PERMANENT);
    CHECK_INT(child.shutdown_ms, DN_SHUTDOWN_FOREVER);
    CHECK_INT(child.start_ms, DN_START_FOREVER);
}

TEST(a_dynamic_supervisor_as_a_child_is_permanent_and_waited_for) {
    const dn_dynamic_spec spec = {.actor_class = &part_class};
    const dn_child_spec   child = dn_dynamic_child("tasks", &spec);

    CHECK_PTR(child.actor_class, &dn_dynamic_class);
    CHECK_PTR(child.config, &spec);
    CHECK_INT(child.restart, DN_PERMANENT);
    CHECK_INT(child.shutdown_ms, DN_SHUTDOWN_FOREVER);
}
