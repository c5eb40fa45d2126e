/* slo_watcher_test.c - the watcher as an actor: what it makes of what is said, minute by minute of a simulated clock, and
 * what of that it says in the log. Somebody else's actor emits the events of docs/telemetry.md. */
#include "daily/slo.h"

#include "diurnal/sim.h"
#include "diurnal/telemetry.h"
#include "obs/log.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The events, as the service declares them ---- */

#define TICK_STOP(MEASUREMENT, METADATA)                                                           \
    MEASUREMENT(REAL, duration_ms)                                                                 \
    METADATA(INTEGER, users_scanned)                                                               \
    METADATA(INTEGER, eligible_in_window)                                                          \
    METADATA(INTEGER, enqueued)                                                                    \
    METADATA(INTEGER, cutoff_finalized)
DN_EVENT_DECLARE(tick_stop, TICK_STOP)
DN_EVENT_DEFINE(tick_stop, "sched.tick.stop", TICK_STOP)

#define QUEUE_DEPTH(MEASUREMENT, METADATA) MEASUREMENT(INTEGER, depth) METADATA(TEXT, today)
DN_EVENT_DECLARE(queue_depth, QUEUE_DEPTH)
DN_EVENT_DEFINE(queue_depth, "sched.queue.depth", QUEUE_DEPTH)

#define IN_FLIGHT(MEASUREMENT, METADATA)                                                           \
    MEASUREMENT(INTEGER, in_flight) METADATA(INTEGER, max_concurrency)
DN_EVENT_DECLARE(in_flight, IN_FLIGHT)
DN_EVENT_DEFINE(in_flight, "sched.executor.in_flight", IN_FLIGHT)

#define JOB_STOP(MEASUREMENT, METADATA)                                                            \
    MEASUREMENT(REAL, duration_ms) METADATA(TEXT, result) METADATA(TEXT, error_class)
DN_EVENT_DECLARE(job_stop, JOB_STOP)
DN_EVENT_DEFINE(job_stop, "sched.job.stop", JOB_STOP)

#define FINALIZE(MEASUREMENT, METADATA)                                                            \
    METADATA(TEXT, status) METADATA(INTEGER, due_bucket) METADATA(TEXT, today)
DN_EVENT_DECLARE(finalize, FINALIZE)
DN_EVENT_DEFINE(finalize, "sched.finalize", FINALIZE)

/* ---- The world ---- */

enum { LINES_MAX = 64, LINE = 400, SLICE_MS = 10000, DUE = 8 * 60, MINUTE_MS = 60000 };

typedef struct world {
    dn_sim             *sim;
    dn_daily_slo        daily;
    dn_daily_slo_config config;
    dn_child_spec       children[3];
    dn_supervisor_spec  top;

    /* What the day is like. Each is said every ten seconds. */
    bool    silent;
    int     successes, misses, due;
    int     slow_ticks, fast_ticks, slow_jobs, fast_jobs;
    int64_t depth, depth_rises, in_flight;

    char          lines[LINES_MAX][LINE]; /* of SLOs */
    dn_log_level  levels[LINES_MAX];
    int           len;
    dn_slo_report report;
    int           reports;
} world;

static world w;

/* ---- The actor that emits ---- */

enum { DAILY_SLICE = 1 };

static void emit_finalizations(void) {
    for (int i = 0; i < w.successes; i++)
        DN_EMIT(finalize, .status = "success", .due_bucket = w.due, .today = "2026-03-02");
    for (int i = 0; i < w.misses; i++)
        DN_EMIT(finalize, .status = "cutoff_reached", .due_bucket = w.due, .today = "2026-03-02");
}

static void emit_slice(void) {
    for (int i = 0; i < w.slow_ticks + w.fast_ticks; i++)
        DN_EMIT(tick_stop, .duration_ms = i < w.slow_ticks ? 900.0 : 1.0, .users_scanned = 1,
                .eligible_in_window = 1, .enqueued = 1, .cutoff_finalized = 0);
    for (int i = 0; i < w.slow_jobs + w.fast_jobs; i++)
        DN_EMIT(job_stop, .duration_ms = i < w.slow_jobs ? 59000.0 : 200.0, .result = "ok",
                .error_class = NULL);
    w.depth += w.depth_rises;
    DN_EMIT(queue_depth, .depth = w.depth, .today = "2026-03-02");
    DN_EMIT(in_flight, .in_flight = w.in_flight, .max_concurrency = 8);
    emit_finalizations();
}

static int daily_init(dn_self *self, void *state, const void *config) {
    (void)state, (void)config;
    dn_timer_after(self, SLICE_MS, DAILY_SLICE, 0);
    return DN_OK;
}

static int daily_on_slice(dn_self *self, void *state, const dn_msg *msg) {
    (void)state, (void)msg;
    if (!w.silent) emit_slice();
    dn_timer_after(self, SLICE_MS, DAILY_SLICE, 0);
    return DN_OK;
}

static const dn_handler daily_rows[] = {{DAILY_SLICE, daily_on_slice}};
static const dn_class   daily_class = {
      .name = "daily", .init = daily_init, .handlers = DN_SLICE(daily_rows)};

/* ---- The actor that asks ---- */

enum { STAGE_ASK = 1 };

static int stage_on_ask(dn_self *self, void *state, const dn_msg *msg) {
    (void)state, (void)msg;
    return dn_call(self, dn_name(self, DN_SLO_WATCHER), DN_SLO_ASK, NULL, 0, 1000, NULL);
}

static int stage_on_report(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state;
    w.report = *DN_BODY(dn_slo_report, msg);
    w.reports++;
    return DN_OK;
}

static const dn_handler stage_rows[] = {{STAGE_ASK, stage_on_ask},
                                        {DN_SLO_REPORT, stage_on_report}};
static const dn_class   stage_class = {.name = "stage", .handlers = DN_SLICE(stage_rows)};

/* ---- Life ---- */

static void keep_line(void *context, dn_log_level level, const char *event, const char *text) {
    (void)context;
    if (strncmp(event, "slo.", 4) != 0) return;
    CHECK(w.len < LINES_MAX);
    w.levels[w.len] = level;
    snprintf(w.lines[w.len++], LINE, "%s: %s", event, text);
}

static void silence(void *context, const dn_notice *notice) { (void)context, (void)notice; }

static void is_healthy(void) {
    w.misses = w.slow_ticks = w.slow_jobs = 0;
    w.successes = 20;
    w.fast_ticks = 1;
    w.fast_jobs = 20;
    w.in_flight = 2;
}

/* Nothing is served any more. */
static void is_out(void) {
    w.misses = w.successes;
    w.successes = 0;
}

/* A healthy service, which does not run yet: the watcher's settings may still be changed. */
static void arranges(void) {
    const dn_sim_config sim = {.seed = test_seed(), .wall_ms = 0, .notice = silence};

    memset(&w, 0, sizeof w);
    dn_log_to(keep_line, NULL);
    w.config = (dn_daily_slo_config){.eval_ms = MINUTE_MS,
                                     .window_minutes = 15,
                                     .breach_consecutive = 3,
                                     .tick_budget_ms = 300,
                                     .sat_ratio = 0.8,
                                     .depth_avg_max = 10000,
                                     .job_p95_max_ms = 30000,
                                     .cutoff_rate_max = 0.01};
    w.due = DUE;
    is_healthy();
    w.children[0] = dn_slo_watcher_child(&w.daily.watcher);
    w.children[0].loop = NULL;
    w.children[1] = (dn_child_spec){.name = "daily", .actor_class = &daily_class};
    w.children[2] = (dn_child_spec){.name = "stage", .actor_class = &stage_class};
    w.top = (dn_supervisor_spec){.intensity = 1000, .children = DN_SLICE(w.children)};
    CHECK_INT(dn_sim_new(&sim, &w.sim), DN_OK);
}

static int boots(void) {
    const dn_spawn_spec root = {
        .actor_class = &dn_supervisor_class, .config = &w.top, .name = "top"};

    dn_daily_slo_init(&w.daily, &w.config);
    return dn_sim_boot(w.sim, &root);
}

static void begins(void) {
    arranges();
    CHECK_INT(boots(), DN_OK);
}

static void runs_ms(int64_t ms) {
    CHECK_INT(dn_sim_run(w.sim, dn_sim_mono_ms(w.sim) + ms), DN_SIM_TIME_UP);
}

static void runs(int minutes) { runs_ms((int64_t)minutes * MINUTE_MS); }

static const dn_slo_report *asks(void) {
    dn_runtime *rt = dn_sim_runtime(w.sim);
    const int   before = w.reports;

    CHECK_INT(dn_post(rt, dn_runtime_name(rt, "stage"), STAGE_ASK, NULL, 0), DN_OK);
    runs_ms(1);
    CHECK_MSG(w.reports == before + 1, "the watcher does not answer");
    return &w.report;
}

/* How many lines begin so; the words may be all of it. */
static int said(const char *words) {
    int n = 0;

    for (int i = 0; i < w.len; i++) n += strncmp(w.lines[i], words, strlen(words)) == 0;
    return n;
}

static void ends(void) { dn_sim_free(DN_TAKE(w.sim)); }

/* ---- Warnings ---- */

TEST(a_total_outage_is_warned_of_within_three_evaluations_in_one_line_with_all_that_was_measured) {
    begins();
    runs(30);
    is_out();
    runs(3);
    CHECK_INT(w.len, 1);
    CHECK_INT(said("slo.breached: cutoff_miss_rate: missed "), 1);
    CHECK_MSG(strstr(w.lines[0], " % over the last 15 minutes, limit 1 % slo="), "%s", w.lines[0]);
    CHECK_INT(w.levels[0], DN_LOG_WARN);
    CHECK_MSG(strstr(w.lines[0], " slo=cutoff_miss_rate window_minutes=15 measured=0."), "%s",
              w.lines[0]);
    CHECK_MSG(strstr(w.lines[0], " threshold=0.01 consecutive_breaches=3 due_bucket=480 due=08:00 "
                                 "due_misses="),
              "%s", w.lines[0]);
    runs(60);
    CHECK_INT(w.len, 1);
    ends();
}

TEST(what_was_measured_is_the_share_of_the_window_and_the_due_minute_the_worst_of_it) {
    begins();
    w.successes = w.misses = 0;
    runs(20);
    w.misses = 1;
    w.due = 7 * 60 + 5;
    runs(1);
    w.misses = 2;
    w.due = 7 * 60 + 6;
    runs(2);
    CHECK_INT(w.len, 1);
    CHECK_MSG(strstr(w.lines[0], " measured=1 "), "%s", w.lines[0]);
    CHECK_MSG(strstr(w.lines[0], " due_bucket=426 due=07:06 "), "%s", w.lines[0]);
    ends();
}

TEST(each_kind_of_trouble_is_warned_of_once_and_by_its_own_name) {
    static const struct {
        const char *sentence;
        int        *how_much;
        int         many;
    } of_counts[] = {
        {"tick_budget: p95 ", &w.slow_ticks, 5},
        {"job_latency: p95 ", &w.slow_jobs, 40},
        {"cutoff_miss_rate: missed ", &w.misses, 20},
    };
    char words[100];

    for (size_t i = 0; i < sizeof of_counts / sizeof *of_counts; i++) {
        begins();
        *of_counts[i].how_much = of_counts[i].many;
        runs(20);
        snprintf(words, sizeof words, "slo.breached: %s", of_counts[i].sentence);
        CHECK_MSG(said(words) == 1 && w.len == 1, "%s: %s", words, w.lines[0]);
        ends();
    }
}

TEST(slots_that_are_all_taken_most_of_the_time_are_warned_of) {
    begins();
    w.in_flight = 8;
    runs(40);
    CHECK_INT(w.len, 1);
    CHECK_INT(said("slo.breached: saturation: no free slot "), 1);
    CHECK_MSG(strstr(w.lines[0], " % over the last 15 minutes, limit 80 % slo=saturation "), "%s",
              w.lines[0]);
    ends();
}

TEST(a_queue_that_rises_all_through_the_window_is_warned_of_before_it_is_deep) {
    begins();
    w.depth_rises = 20; /* 120 a minute */
    runs(30);
    CHECK_INT(w.len, 1);
    CHECK_INT(said("slo.breached: queue_pressure: mean depth "), 1);
    CHECK_MSG(
        strstr(w.lines[0], " over the last 15 minutes, limit 10000, rising every minute slo="),
        "%s", w.lines[0]);
    ends();
}

TEST(one_bad_minute_is_never_warned_of) {
    begins();
    for (int i = 0; i < 5; i++) {
        is_healthy();
        w.depth = 0;
        runs(30);
        is_out();
        w.slow_ticks = w.fast_ticks;
        w.slow_jobs = w.fast_jobs;
        w.fast_ticks = w.fast_jobs = 0;
        w.depth = 100000;
        w.in_flight = 8;
        runs(1);
    }
    is_healthy();
    w.depth = 0;
    runs(30);
    CHECK_MSG(w.len == 0, "%s", w.lines[0]);
    ends();
}

TEST(nothing_is_warned_of_where_nothing_happens) {
    begins();
    w.silent = true;
    runs(3 * 1440);
    CHECK_INT(w.len, 0);
    CHECK_UINT(asks()->evaluations, 3 * 1440);
    ends();
}

/* ---- Recovery ---- */

TEST(a_recovery_is_said_once) {
    begins();
    runs(30);
    is_out();
    runs(20);
    is_healthy();
    runs(14);
    CHECK_INT(w.len, 1);
    runs(60);
    CHECK_INT(w.len, 2);
    CHECK_INT(
        said("slo.recovered: cutoff_miss_rate: missed 0 % over the last 15 minutes, limit 1 % "
             "slo=cutoff_miss_rate window_minutes=15 measured=0 threshold=0.01 "
             "consecutive_breaches=0"),
        1);
    CHECK_INT(w.levels[1], DN_LOG_INFO);
    is_out();
    runs(20);
    CHECK_INT(w.len, 3);
    CHECK_INT(said("slo.breached: cutoff_miss_rate"), 2);
    ends();
}

TEST(silence_is_no_recovery_and_no_second_warning) {
    begins();
    is_out();
    w.slow_jobs = 40;
    runs(20);
    CHECK_INT(w.len, 2);
    w.silent = true;
    runs(1440);
    CHECK_INT(w.len, 2);
    CHECK_INT(asks()->slo[DN_DAILY_JOB_LATENCY].breached, true);
    CHECK_INT(w.report.slo[DN_DAILY_JOB_LATENCY].now.measured, false);
    w.silent = false;
    is_healthy();
    runs(2);
    CHECK_INT(said("slo.recovered: job_latency: p95 "), 1);
    ends();
}

/* ---- Its state ---- */

TEST(whoever_asks_is_told_of_every_slo_what_is_so_now) {
    begins();
    runs(30);
    is_out();
    runs(20);
    const dn_slo_report *r = asks();
    CHECK_UINT(r->evaluations, 50);
    const dn_slo_status *s = &r->slo[DN_DAILY_CUTOFF_MISS_RATE];
    CHECK(s->now.measured && s->breached);
    CHECK_MSG(s->now.value > 0.99 && s->now.value <= 1, "%g", s->now.value);
    CHECK_INT(s->worst, DUE);
    CHECK_INT(s->minutes, 15);
    CHECK(r->slo[DN_DAILY_TICK_BUDGET].now.measured && !r->slo[DN_DAILY_TICK_BUDGET].breached);
    CHECK(r->slo[DN_DAILY_CUTOFF_BURN_FAST].row->off);
    CHECK(r->slo[DN_DAILY_CUTOFF_BURN_SLOW].row->off);
    ends();
}

TEST(it_evaluates_as_often_as_it_is_told) {
    arranges();
    w.config.eval_ms = 1000;
    CHECK_INT(boots(), DN_OK);
    runs(10);
    CHECK_UINT(asks()->evaluations, 600);
    ends();
}

TEST(who_evaluates_rarely_still_knows_in_which_minute_it_was) {
    arranges();
    w.config.eval_ms = 10 * MINUTE_MS;
    CHECK_INT(boots(), DN_OK);
    runs(10);
    w.slow_jobs = 400;
    runs(2);
    is_healthy();
    runs(8);
    CHECK(asks()->slo[DN_DAILY_JOB_LATENCY].now.value > 50000);
    runs(10); /* the window is of fifteen */
    CHECK(asks()->slo[DN_DAILY_JOB_LATENCY].now.value < 1000);
    ends();
}

/* ---- Crashes ---- */

static int nothing(void *context, const dn_event *event, const dn_value *values) {
    (void)context, (void)event, (void)values;
    return DN_OK;
}

/* Handlers that could still be attached. */
static int room_for_handlers(void) {
    dn_telemetry_id ids[64];
    int             len = 0;

    while (len < 64 && dn_telemetry_attach("test", "none", nothing, NULL, &ids[len]) == DN_OK)
        len++;
    for (int i = 0; i < len; i++) CHECK_INT(dn_telemetry_detach(ids[i]), DN_OK);
    return len;
}

static void crashes(void) {
    dn_sim_crash_actor_at(w.sim, DN_SLO_WATCHER, 1);
    (void)dn_sim_run(w.sim, dn_sim_mono_ms(w.sim) + 2 * MINUTE_MS);
}

TEST(a_watcher_that_crashed_warns_again_of_what_goes_on) {
    begins();
    runs(30);
    is_out();
    runs(10);
    CHECK_INT(w.len, 1);
    crashes();
    runs(3);
    CHECK(dn_sim_counts_borrow(w.sim)->actor_crashes == 1);
    CHECK_INT(said("slo.breached: cutoff_miss_rate"), 2);
    CHECK_INT(w.len, 2);
    CHECK_MSG(strstr(w.lines[1], " measured=1 "), "%s", w.lines[1]);
    ends();
}

TEST(a_watcher_that_crashes_again_and_again_leaves_no_handler_behind) {
    const int room = room_for_handlers();

    begins();
    CHECK_INT(room_for_handlers(), room - 5);
    for (int i = 0; i < 100; i++) crashes();
    CHECK_UINT(dn_sim_counts_borrow(w.sim)->actor_crashes, 100);
    CHECK_INT(room_for_handlers(), room - 5);
    runs(20);
    CHECK(asks()->evaluations >= 19);
    CHECK(w.report.slo[DN_DAILY_JOB_LATENCY].now.measured);
    ends();
    CHECK_INT(room_for_handlers(), room);
}

TEST(a_watcher_that_gets_no_handler_does_not_start_and_leaves_none_behind) {
    const int       room = room_for_handlers();
    dn_telemetry_id id;

    for (int i = 0; i < room - 3; i++)
        CHECK_INT(dn_telemetry_attach("test", "none", nothing, NULL, &id), DN_OK);
    arranges();
    CHECK_INT(boots(), DN_EFULL);
    CHECK_INT(room_for_handlers(), 3);
    ends();
}

static int boots_with(dn_event *event, const dn_event *as) {
    const dn_event was = *event;

    event->fields = as->fields;
    event->fields_len = as->fields_len;
    arranges();
    const int rc = boots();
    ends();
    event->fields = was.fields;
    event->fields_len = was.fields_len;
    return rc;
}

TEST(a_watcher_of_events_without_the_values_it_wants_does_not_start) {
    const int       room = room_for_handlers();
    const dn_field  texts[] = {{"duration_ms", DN_TEXT, DN_MEASUREMENT}};
    const dn_event  of_text = {.fields = texts, .fields_len = 1};
    const dn_event *others[] = {&queue_depth, &of_text};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        CHECK_INT(boots_with(&job_stop, others[i]), DN_EINVAL);
        CHECK_INT(room_for_handlers(), room);
    }
    CHECK_INT(boots_with(&job_stop, &job_stop), DN_OK);
}

#define MORE(MEASUREMENT, METADATA) METADATA(TEXT, why) METADATA(TEXT, more)
DN_EVENT_DECLARE(job_stop_why, MORE)
DN_EVENT_DEFINE(job_stop_why, "sched.job.stop.why", MORE)

TEST(an_event_below_one_it_listens_to_is_none_of_its_business) {
    begins();
    w.fast_jobs = 0;
    for (int i = 0; i < 1000; i++) DN_EMIT(job_stop_why, .why = "x", .more = "y");
    runs(5);
    CHECK(!asks()->slo[DN_DAILY_JOB_LATENCY].now.measured);
    w.fast_jobs = 20; /* and goes on listening */
    runs(5);
    CHECK(asks()->slo[DN_DAILY_JOB_LATENCY].now.measured);
    ends();
}
