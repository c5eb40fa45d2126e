/* slo_watcher_test.c - the daily service with the watcher of its SLOs beside it: a day without a single good job, and what
 * the operator hears of it. */
#include "world.h"

#include "daily/slo.h"

enum { EARLY = 3, MOST = 40, LATE = 5, EVENING = 12 };

static dn_daily_slo  slo;
static dn_child_spec edge[2];

/* As world_boots, with the watcher beside the stage. */
static void boots_watched(void) {
    const dn_spawn_spec root = {
        .actor_class = &dn_supervisor_class, .config = &w.tree.top, .name = "diurnal"};

    dn_daily_slo_init(&slo, &(dn_daily_slo_config){.eval_ms = 60000,
                                                   .window_minutes = 15,
                                                   .breach_consecutive = 3,
                                                   .tick_budget_ms = 300,
                                                   .sat_ratio = 0.8,
                                                   .depth_avg_max = 10000,
                                                   .job_p95_max_ms = 30000,
                                                   .cutoff_rate_max = 0.01});
    edge[0] = (dn_child_spec){.name = "stage", .actor_class = &stage_class};
    edge[1] = dn_slo_watcher_child(&slo.watcher);
    dn_service_tree_make(&w.config, edge, 2, &w.tree);
    const int rc = dn_sim_boot(w.sim, &root);
    CHECK_MSG(rc == DN_OK || rc == DN_PENDING, "the tree does not start: %s", dn_error_text(rc));
    (void)dn_sim_settle(w.sim);
}

static void users(const char *prefix, int n, uint32_t due) {
    char id[DN_ID_MAX + 1];

    for (int i = 0; i < n; i++) {
        snprintf(id, sizeof id, "%s-%d", prefix, i);
        user(id, due);
    }
}

static dn_slo_status misses_now(void) {
    return ((const dn_slo_report *)ask(DN_SLO_WATCHER, DN_SLO_ASK, NULL, 0))
        ->slo[DN_DAILY_CUTOFF_MISS_RATE];
}

/* The debug lines of each attempt would fill it. */
static void log_begins_anew(void) {
    w.log_len = 0;
    memset(w.log, 0, sizeof w.log);
}

TEST(
    a_day_on_which_every_job_fails_is_warned_of_soon_after_the_first_cutoffs_with_the_worst_due_minute) {
    world_at(AT(6, 0) + 30000);
    job_fails("", 0, DN_CLASS_REQ);
    w.config.retry_delay_minutes = 30;
    boots_watched();
    dn_log_threshold(DN_LOG_INFO);
    users("early", EARLY, DUE(8, 0));
    users("most", MOST, DUE(8, 1));
    users("late", LATE, DUE(8, 2));
    world_runs_to(AT(8, 0) - 1);
    CHECK_INT(logged("slo."), 0);
    world_runs_to(AT(8, 3) + 31000); /* the third evaluation that sees misses */
    CHECK_INT(logged("warn slo.breached"), 1);
    CHECK_MSG(
        logged(
            "warn slo.breached: cutoff_miss_rate: missed 100 % over the last 15 minutes, limit 1 % "
            "slo=cutoff_miss_rate "
            "window_minutes=15 measured=1 threshold=0.01 consecutive_breaches=3 "
            "due_bucket=481 due=08:01 due_misses=40\n") == 1,
        "%s", w.log);
    CHECK_UINT(misses_now().worst_bad, MOST);
    /* All day. */
    users("evening", EVENING, DUE(20, 0));
    world_runs_to(AT(23, 59));
    CHECK_INT(logged("slo.breached"), 1);
    CHECK_INT(logged("slo.recovered"), 0);
    CHECK(misses_now().breached);
    world_ends();
}

TEST(the_day_after_an_outage_on_which_all_goes_well_is_said_to_have_recovered_once) {
    world_at(AT(6, 0) + 30000);
    job_fails("", 0, DN_CLASS_REQ);
    boots_watched();
    dn_log_threshold(DN_LOG_INFO);
    users("ada", 20, DUE(8, 0));
    world_runs_to(AT(12, 0));
    CHECK_INT(logged("slo.breached: cutoff_miss_rate"), 1);
    log_begins_anew();
    job_is_ok("", 0, 500);
    world_runs_to(AT(12, 0) + DN_DAY_MS);
    CHECK_INT(logged("info slo.recovered: cutoff_miss_rate: missed 0 %"), 1);
    CHECK_INT(logged("slo.breached"), 0);
    CHECK(!misses_now().breached);
    world_ends();
}

TEST(a_day_on_which_every_job_succeeds_is_not_warned_of) {
    world_at(AT(6, 0) + 30000);
    boots_watched();
    dn_log_threshold(DN_LOG_INFO);
    users("ada", 60, DUE(8, 0));
    users("bob", 60, DUE(20, 0));
    world_runs_to(AT(23, 59));
    CHECK_INT(logged("slo."), 0);
    const dn_slo_status s = misses_now();
    CHECK(!s.breached && s.worst == -1);
    world_ends();
}

/* Nothing changes meanwhile: all slots are taken, and stay so. */
TEST(a_watcher_that_was_started_again_sees_that_no_slot_is_free) {
    world_at(AT(7, 0) + 30000);
    w.config.max_concurrency = 2;
    w.config.job_timeout_ms = DN_DAY_MS;
    job_hangs("", 0);
    boots_watched();
    dn_log_threshold(DN_LOG_INFO);
    users("ada", 10, DUE(8, 0));
    world_runs_to(AT(7, 5));
    dn_sim_crash_actor_at(w.sim, DN_SLO_WATCHER, 1);
    world_runs_to(AT(7, 30));
    const dn_slo_report *r = ask(DN_SLO_WATCHER, DN_SLO_ASK, NULL, 0);
    CHECK(r->evaluations > 0 && r->evaluations < 26);
    CHECK(r->slo[DN_DAILY_SATURATION].now.measured);
    CHECK(r->slo[DN_DAILY_SATURATION].now.value > 0.99);
    CHECK_INT(logged("warn slo.breached: saturation"), 1);
    world_ends();
}
