/* chaos_test.c - days under faults: the process and its actors crash, messages are late, the disk is full for a while, the
 * clock steps, users come and go; and what must hold is looked at from outside, in what was written and
 * what was started. */
#include "world.h"

enum { USERS = 24, SEEDS = 12, HOURS = 50 };

typedef struct day_of_user {
    int finalizations, successes;
} day_of_user;

static struct {
    uint32_t    due[USERS];
    day_of_user days[USERS][8];
    uint64_t    random;
    uint64_t    crashes, full, steps, removals, lates, timeouts;
    bool        clock_steps;
} chaos;

static uint32_t pick(uint32_t of) { return (uint32_t)(test_random(&chaos.random) % of); }

/* What the store is asked to write is seen here, with what came of it. */
static int watched_write(dn_store *store, const dn_write *writes, size_t len,
                         dn_write_result *results) {
    const int rc = disk_write(store, writes, len, results);

    for (size_t i = 0; i < len && rc == DN_OK; i++) {
        const struct dn_write_finalize *wr = &writes[i].finalize;
        if (writes[i].op != DN_WRITE_FINALIZE) continue;
        if (results[i].wrote == DN_WROTE_LATE && wr->status == DN_DAILY_SUCCESS) chaos.lates++;
        if (results[i].wrote != DN_WROTE) continue;
        const int u = (int)strtol(results[i].user.id + 1, NULL, 10);
        const int d = wr->day - TODAY + 1;
        CHECK(u >= 0 && u < USERS && d >= 0 && d < 8);
        CHECK_MSG(chaos.days[u][d].finalizations++ == 0, "u%d is finalized twice for day %d", u, d);
        if (wr->status == DN_DAILY_CUTOFF)
            CHECK_MSG(wr->at_ms >= dn_daily_cutoff_ms(results[i].user.due, wr->day),
                      "u%d: a cutoff before its time", u);
    }
    return rc;
}

/* Each start is within its window by the due that is stored, and of a day that is open. */
static dn_script_answer watched_script(void *context, const dn_run_request *r) {
    const int64_t now_ms = dn_sim_wall_ms(w.sim);
    char          text[DN_ID_MAX], id[DN_ID_MAX + 1] = {0};
    dn_user       u;

    (void)context;
    w.jobs_len = 0;
    const dn_daily_request daily = request_of(r, text);
    memcpy(id, daily.id, daily.id_len);
    if (dn_store_user(disk.real, id, daily.id_len, &u) == DN_OK && u.due == daily.due) {
        const dn_daily_user user = {u.due, u.last_day, u.starts_on};
        CHECK_MSG(dn_daily_may_start(&user, daily.day, w.config.window_minutes, now_ms),
                  "%s starts for day %d outside its window, or after it was finalized", id,
                  (int)(daily.day - TODAY));
    }
    dn_script_answer a = {.end = DN_SCRIPT_ENDS,
                          .result = dn_run_result_of(DN_OUTCOME_OK, DN_CODE_NONE, 0),
                          .duration_ms = 1 + pick((uint32_t)w.config.job_timeout_ms * 3 / 2)};
    switch (pick(8)) {
    case 0: a.end = DN_SCRIPT_HANG; break;
    case 1: a.end = DN_SCRIPT_CRASH; break;
    case 2:
    case 3:
    case 4:
        a.result = dn_run_result_of(DN_OUTCOME_ERROR, DN_CODE_NONE, 0);
        a.body = error_body(DN_CLASS_LLM);
        break;
    default: break;
    }
    return a;
}

static void registers(int u) {
    char id[16];

    snprintf(id, sizeof id, "u%d", u);
    chaos.due[u] = pick(DN_DAY_MINUTES);
    const dn_kv_set_answer a = set_user(id, chaos.due[u], DN_DAY_NONE, false);
    CHECK(a.status == DN_OK || a.status == DN_EFULL);
}

static void one_hour(uint64_t hour) {
    static const dn_sim_faults calm;
    dn_sim_faults              storm = {
                     .crash_actor_ppm = 300,
                     .crash_process_ppm = 100,
                     .delay_ppm = 50000,
                     .delay_ms_max = 3000,
                     .slow_turn_ppm = 2000,
                     .slow_turn_ms_max = 50,
    };
    const int64_t end_ms = (int64_t)hour * 3600000;

    /* News of a cutoff that is late, and a clock set back meanwhile: then a start may be one too many. */
    if (chaos.clock_steps) storm.delay_ppm = 0;
    dn_sim_set_faults(w.sim, pick(3) ? &storm : &calm);
    disk.fails = pick(6) ? DN_OK : DN_EFULL;
    if (disk.fails) chaos.full++;
    while (dn_sim_mono_ms(w.sim) < end_ms) {
        if (!dn_sim_runtime(w.sim)) world_boots();
        const dn_sim_end end = dn_sim_run(w.sim, end_ms);
        if (end == DN_SIM_CRASHED) {
            chaos.crashes++;
            dn_sim_pass(w.sim, pick(20000));
        }
        CHECK_MSG(end != DN_SIM_ENDED || dn_sim_root_reason(w.sim) < 0, "the tree ended by itself");
        if (chaos.clock_steps && pick(4) == 0) {
            chaos.steps++;
            dn_sim_step_wall(w.sim, (int64_t)pick(600000) - 300000);
        }
    }
}

/* Everybody has one row for each day that is over, and it never was more than one finalization. */
static void every_day_is_in_the_ledger(uint64_t seed) {
    const dn_day today = dn_day_of_ms(dn_sim_wall_ms(w.sim));

    for (int u = 0; u < USERS; u++) {
        char          id[16];
        dn_ledger_row rows[16];
        size_t        len = 0;
        snprintf(id, sizeof id, "u%d", u);
        const dn_user user = stored(id);
        CHECK_INT(dn_store_days_of(disk.real, user.registration, INT32_MAX, rows, 16, &len), DN_OK);
        for (dn_day d = user.starts_on; d < today; d++) {
            int found = 0;
            for (size_t i = 0; i < len; i++) found += rows[i].day == d;
            CHECK_MSG(found == 1, "seed %llu: %s has %d rows for day %d", (unsigned long long)seed,
                      id, found, (int)(d - TODAY));
        }
    }
}

static void days_of(uint64_t seed) {
    static const dn_sim_faults none;

    chaos.random = seed;
    memset(chaos.days, 0, sizeof chaos.days);
    world_at_with_seed(AT(0, 0) - DN_DAY_MS + 3600000 * 20, seed);
    dn_log_threshold(DN_LOG_NONE);
    disk.ops.write = watched_write;
    w.config.max_concurrency = 1 + pick(5);
    w.config.runner.script = watched_script;
    w.config.job_timeout_ms = pick(2) ? 60000 : 20 * 60000;
    w.config.window_minutes = (const uint32_t[]){60, 60, 90, 10}[pick(4)];
    world_boots();
    for (int u = 0; u < USERS; u++) registers(u);
    uint64_t hour = 1;
    for (; hour <= HOURS; hour++) one_hour(hour);
    dn_sim_set_faults(w.sim, &none);
    disk.fails = DN_OK;
    const int64_t settled_ms = (int64_t)hour * 3600000;
    if (!dn_sim_runtime(w.sim)) world_boots();
    CHECK_INT(dn_sim_run(w.sim, settled_ms), DN_SIM_TIME_UP);
    every_day_is_in_the_ledger(seed);
    CHECK(kv_now().waiting == 0);
    CHECK(executor_now().in_flight_peak <= w.config.max_concurrency);
    world_ends();
}

/* What a few seeds do not show, a few more do. */
enum { LEAST = SEEDS / (TEST_SLOW_FACTOR > 1 ? 4 : 1) };

static bool storm_seen(void) { return chaos.crashes > 0 && chaos.full > 0 && chaos.lates > 0; }

static bool steps_seen(void) { return chaos.steps > 0 && chaos.crashes > 0; }

TEST(under_faults_every_user_and_day_ends_in_one_record_and_never_in_two) {
    uint64_t random = test_seed();

    memset(&chaos, 0, sizeof chaos);
    for (int i = 0; i < LEAST || (!storm_seen() && i < 10 * SEEDS); i++)
        days_of(test_random(&random));
    printf("%llu crashes, %llu hours of a full disk, %llu late successes\n",
           (unsigned long long)chaos.crashes, (unsigned long long)chaos.full,
           (unsigned long long)chaos.lates);
    CHECK(storm_seen());
}

TEST(the_same_holds_when_the_clock_steps_to_and_fro) {
    uint64_t random = test_seed();

    memset(&chaos, 0, sizeof chaos);
    chaos.clock_steps = true;
    for (int i = 0; i < LEAST || (!steps_seen() && i < 10 * SEEDS); i++)
        days_of(test_random(&random));
    CHECK(steps_seen());
}

TEST(a_service_under_faults_is_a_function_of_its_seed) {
    uint64_t hash[2];

    memset(&chaos, 0, sizeof chaos);
    for (int i = 0; i < 2; i++) {
        chaos.random = test_seed();
        memset(chaos.days, 0, sizeof chaos.days);
        world_at_with_seed(AT(0, 0), test_seed());
        dn_log_threshold(DN_LOG_NONE);
        disk.ops.write = watched_write;
        w.config.runner.script = watched_script;
        world_boots();
        for (int u = 0; u < USERS; u++) registers(u);
        for (uint64_t hour = 1; hour <= 12; hour++) one_hour(hour);
        hash[i] = dn_sim_hash(w.sim);
        world_ends();
    }
    CHECK_UINT(hash[0], hash[1]);
}
