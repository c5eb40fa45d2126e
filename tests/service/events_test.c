/* events_test.c - what the daily path says, with which values, and when. */
#include "world.h"

#include "daily/daily_events.h"
#include "engine/engine_events.h"

enum { SAID_MAX = 4096, LINE = 200 };

static struct {
    char            lines[SAID_MAX][LINE];
    int             len;
    dn_telemetry_id id;
    bool            durable; /* each finalization was in the store when it was said */
} said;

static void put_value(char *line, const dn_field *f, dn_value v) {
    char         text[64];
    const size_t at = strlen(line);

    if (f->type == DN_INTEGER) snprintf(text, sizeof text, "%lld", (long long)v.integer);
    else if (f->type == DN_REAL) snprintf(text, sizeof text, "%.0f", v.real);
    else snprintf(text, sizeof text, "%s", v.text ? v.text : "-");
    snprintf(line + at, LINE - at, " %s=%s", f->name, text);
}

static int listen_to_it(void *context, const dn_event *event, const dn_value *values) {
    (void)context;
    if (said.len == SAID_MAX) return DN_OK;
    char *line = said.lines[said.len++];
    snprintf(line, LINE, "%s", event->name);
    for (size_t i = 0; i < event->fields_len; i++) put_value(line, &event->fields[i], values[i]);
    if (event == &dn_finalize && stored("ada").last_day < TODAY) said.durable = false;
    return DN_OK;
}

static void listens(void) {
    memset(&said, 0, sizeof said);
    said.durable = true;
    CHECK_INT(dn_telemetry_attach("test", "", listen_to_it, NULL, &said.id), DN_OK);
}

static void stops_listening(void) {
    CHECK_INT(dn_telemetry_detach(said.id), DN_OK);
    world_ends();
}

/* How often it was said; the words begin a line, or are all of it. */
static int times(const char *words) {
    int n = 0;

    for (int i = 0; i < said.len; i++) n += strncmp(said.lines[i], words, strlen(words)) == 0;
    return n;
}

/* Its nth line that begins so, from 1. */
static const char *line_of(const char *event, int nth) {
    for (int i = 0; i < said.len; i++)
        if (strncmp(said.lines[i], event, strlen(event)) == 0 && --nth == 0) return said.lines[i];
    CHECK_MSG(false, "%s was not said so often", event);
    return NULL;
}

TEST(a_success_is_said_as_a_job_that_stopped_and_a_day_that_is_finalized_and_durable) {
    world_at(AT(6, 59) + 30000);
    listens();
    world_boots();
    user("ada", DUE(8, 0));
    world_runs_to(AT(7, 0) + 30000);
    CHECK_INT(times("sched.job.stop"), 1);
    CHECK_STR(line_of("sched.job.stop", 1),
              "sched.job.stop duration_ms=500 result=ok error_class=-");
    CHECK_INT(times("sched.finalize"), 1);
    CHECK_STR(line_of("sched.finalize", 1),
              "sched.finalize status=success due_bucket=480 today=2026-03-02");
    CHECK(said.durable);
    CHECK(times("store.commit.stop duration_ms=0 writes=1 result=ok") > 0);
    stops_listening();
}

static const char *tick_line(int nth) {
    return strstr(line_of("sched.tick.stop", nth), "eligible_in_window");
}

TEST(each_tick_is_said_once_with_what_it_looked_at_and_what_the_queue_took_of_it) {
    world_at(AT(6, 58) + 30000);
    job_hangs("", 0);
    listens();
    world_boots();
    world_runs_for(1); /* nobody is there at the first one */
    user("ada", DUE(8, 0));
    user("bob", DUE(8, 0));
    user("eve", DUE(6, 59));
    world_runs_to(AT(7, 3) + 30000);
    CHECK_INT(times("sched.tick.stop"), 6); /* at the start, and five times */
    /* Whom it looks at is the planner_index's business: not fewer than those for whom something is to be done. */
    CHECK_STR(tick_line(1), "eligible_in_window=0 enqueued=0 cutoff_finalized=0");
    CHECK_STR(tick_line(2), "eligible_in_window=0 enqueued=0 cutoff_finalized=1");
    CHECK_STR(tick_line(3), "eligible_in_window=2 enqueued=2 cutoff_finalized=0");
    CHECK_STR(tick_line(4), "eligible_in_window=2 enqueued=0 cutoff_finalized=0");
    CHECK(strncmp(line_of("sched.tick.stop", 3),
                  "sched.tick.stop duration_ms=0 users_scanned=", 44) == 0);
    CHECK(strtol(line_of("sched.tick.stop", 3) + 44, NULL, 10) >= 2);
    CHECK_INT(times("sched.finalize status=cutoff_reached due_bucket=419 today=2026-03-02"), 1);
    stops_listening();
}

TEST(how_a_job_failed_is_said_with_its_class_and_a_timeout_has_none) {
    world_at(AT(6, 59) + 30000);
    job_fails("ada", 1, DN_CLASS_LLM);
    job_hangs("ada", 2);
    job_crashes("ada", 3);
    listens();
    world_boots();
    user("ada", DUE(8, 0));
    world_runs_to(AT(7, 45));
    CHECK_INT(times("sched.job.stop"), 4);
    CHECK_STR(line_of("sched.job.stop", 1),
              "sched.job.stop duration_ms=500 result=error error_class=llm");
    CHECK_STR(line_of("sched.job.stop", 2),
              "sched.job.stop duration_ms=60000 result=timeout error_class=-");
    CHECK_STR(line_of("sched.job.stop", 3),
              "sched.job.stop duration_ms=100 result=error error_class=unknown");
    CHECK_STR(line_of("sched.job.stop", 4),
              "sched.job.stop duration_ms=500 result=ok error_class=-");
    stops_listening();
}

TEST(depth_and_in_flight_are_said_when_they_change_and_once_a_tick) {
    world_at(AT(6, 59) + 30000);
    w.config.max_concurrency = 1;
    listens();
    world_boots();
    user("ada", DUE(8, 0));
    user("bob", DUE(8, 0));
    said.len = 0;
    world_runs_to(AT(7, 0) + 30000);
    CHECK_INT(times("sched.queue.depth depth=1 today=2026-03-02") > 0, true);
    CHECK_INT(times("sched.queue.depth depth=0 today=2026-03-02") > 0, true);
    CHECK_INT(times("sched.executor.in_flight in_flight=1 max_concurrency=1"), 2);
    CHECK_INT(times("sched.executor.in_flight in_flight=0 max_concurrency=1"),
              2 + 1); /* one of them a tick's */
    said.len = 0;
    world_runs_to(AT(7, 5) + 30000);
    CHECK_INT(times("sched.queue.depth depth=0"), 5);
    CHECK_INT(times("sched.executor.in_flight in_flight=0 max_concurrency=1"), 5);
    stops_listening();
}

TEST(a_late_success_and_days_that_were_missed_are_said_and_are_no_finalizations) {
    world_at(AT(7, 58) + 40000); /* from the first tick or the second: it is late */
    w.config.job_timeout_ms = 120000;
    job_is_ok("ada", 0, 90000);
    listens();
    world_boots();
    user("ada", DUE(8, 0));
    world_runs_to(AT(8, 2));
    CHECK_INT(times("sched.finalize status=cutoff_reached due_bucket=480"), 1);
    CHECK_INT(times("sched.late_success due_bucket=480 today=2026-03-02"), 1);
    CHECK_INT(times("sched.finalize"), 1);
    world_crashes(3 * DN_DAY_MS);
    world_runs_for(1000);
    CHECK_STR(line_of("sched.missed", 1), "sched.missed days=2 due_bucket=480");
    CHECK_INT(times("sched.finalize status=success"), 0);
    stops_listening();
}

TEST(a_commit_that_a_full_disk_refuses_is_said_and_nothing_is_finalized_by_it) {
    world_at(AT(6, 59) + 30000);
    listens();
    world_boots();
    user("ada", DUE(8, 0));
    disk.fails = DN_EFULL;
    world_runs_to(AT(7, 0) + 10000);
    CHECK(times("store.commit.stop duration_ms=0 writes=1 result=error") > 2);
    CHECK_INT(times("sched.finalize"), 0);
    disk.fails = DN_OK;
    world_runs_to(AT(7, 1));
    CHECK_INT(times("sched.finalize"), 1);
    CHECK(said.durable);
    stops_listening();
}
