/* replay.c - see replay.h. Each event goes to the writer, the counters and the checker as it happens; the finished files
 * appear together at the end. */
#include "replay.h"

#include "base/text.h"
#include "check.h"
#include "crowd.h"
#include "events_out.h"
#include "output.h"
#include "report.h"
#include "text_out.h"
#include "users_out.h"
#include "world.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct replay {
    const replay_config  *config;
    trace                *trace;
    const trace_settings *settings;
    output               *output;
    FILE                 *events_file;
    events_out           *events; /* NULL: no output directory */
    summary              *summary;
    check                *check;
    report               *report; /* NULL: no output directory */
    crowd                 crowd;
    world                *world;
    replay_result         result;

    /* With a small buffer the system calls took a quarter of the time of a replay (bench/replay: speed). */
    char events_buffer[1 << 18];
};

static int starved(char *why) { return dn_refuse(DN_ENOMEM, why, REPLAY_WHY, "out of memory"); }

/* ---- Telling ---- */

/* Those who count. */
static void count(void *context, const event *e, uint64_t times) {
    const replay *r = context;

    switch (e->kind) {
    case DN_HAPPENED_ENQUEUED:
        if (r->report) report_enqueued(r->report, e, times);
        summary_enqueued(r->summary, times);
        return;
    case DN_HAPPENED_STARTED:
        if (r->report) report_started(r->report, e, times);
        summary_started(r->summary, e->h->day, times);
        return;
    case DN_HAPPENED_STOPPED:
        if (r->report) report_stopped(r->report, e, times);
        summary_stopped(r->summary, times);
        return;
    case DN_HAPPENED_FINALIZED:
        if (r->report) report_finalized(r->report, e, times);
        summary_finalized(r->summary, e->h, times);
        return;
    default:
        if (r->report) report_event(r->report, e);
        summary_tell(r->summary, e);
        return;
    }
}

static void enqueued(replay *r, const event *e) {
    if (r->events) events_out_enqueued(r->events, e);
    crowd_add(&r->crowd, e);
    check_enqueued(r->check, e);
}

static void started(replay *r, const event *e) {
    if (r->events) events_out_started(r->events, e);
    crowd_add(&r->crowd, e);
    check_started(r->check, e);
}

static void stopped(replay *r, const event *e) {
    if (r->events) events_out_stopped(r->events, e);
    crowd_add_stopped(&r->crowd, e);
    check_stopped(r->check, e);
}

/* Of those who were missed the report has examples. */
static void finalized(replay *r, const event *e) {
    if (r->events) events_out_finalized(r->events, e);
    if (e->h->status == DN_DAILY_SUCCESS) crowd_add_finalized(&r->crowd, e);
    else crowd_alone(&r->crowd, e);
    check_finalized(r->check, e);
}

static void other(replay *r, const event *e) {
    if (r->events) events_out_tell(r->events, e);
    crowd_alone(&r->crowd, e);
    if (e->kind == DN_HAPPENED_TICK) {
        summary_tell_tick(r->summary, e->real_ns);
        if (r->report) report_tick_wall(r->report, (double)e->real_ns / 1e6);
    }
    check_event(r->check, e);
}

static void hear(void *context, const event *e) {
    replay *r = context;

    switch (e->kind) {
    case DN_HAPPENED_ENQUEUED: enqueued(r, e); return;
    case DN_HAPPENED_STARTED: started(r, e); return;
    case DN_HAPPENED_STOPPED: stopped(r, e); return;
    case DN_HAPPENED_FINALIZED: finalized(r, e); return;
    default: other(r, e); return;
    }
}

/* ---- Before ---- */

static FILE *file_of(replay *r, const char *name, char *why) {
    const int fd = output_file(r->output, name, why);
    FILE     *file = fd < 0 ? NULL : fdopen(fd, "w");

    if (fd >= 0 && !file) {
        (void)close(fd);
        (void)output_failed(r->output, name, errno, why);
    }
    return file;
}

/* rc: what the writer of the file returned; code: the errno of its first failure, or 0. */
static int close_file(replay *r, const char *name, FILE *file, int rc, int code, char *why) {
    const int failed = fclose(file) == 0 ? 0 : errno;

    if (rc == DN_ENOMEM) return starved(why);
    if (rc == DN_OK && failed == 0) return DN_OK;
    return output_failed(r->output, name, code ? code : failed ? failed : EIO, why);
}

static int open_output(replay *r, char *why) {
    const int rc = output_open(r->config->out, &r->output, why);

    if (rc < 0) return rc;
    r->events_file = file_of(r, "events.ndjson", why);
    if (!r->events_file) return DN_EIO;
    (void)setvbuf(r->events_file, r->events_buffer, _IOFBF, sizeof r->events_buffer);
    r->events = events_out_new(r->events_file);
    return r->events && report_new(r->settings->start_ms, &r->report) == DN_OK ? DN_OK
                                                                               : starved(why);
}

static int open_check(replay *r) {
    const trace_settings *s = r->settings;
    const check_config    rules = {
           .start_ms = s->start_ms,
           .tick_ms = s->tick_ms,
           .job_timeout_ms = s->job_timeout_ms,
           .window_minutes = (uint32_t)s->window_minutes,
           .retry_delay_minutes = (uint32_t)s->retry_delay_minutes,
           .max_concurrency = (uint32_t)s->max_concurrency,
           .ticks_stand_still = true,
    };

    return check_new(&rules, &r->check);
}

static int prepare(replay *r, char *why) {
    int rc = trace_open(r->config->trace, &r->trace, why);

    if (rc == DN_OK) rc = trace_set(r->trace, r->config->sets, r->config->sets_len, why);
    if (rc < 0) return rc;
    r->settings = trace_settings_borrow(r->trace);
    if (r->config->out && (rc = open_output(r, why)) < 0) return rc;
    r->summary = summary_new();
    r->crowd = (crowd){.count = count, .context = r};
    if (!r->summary || open_check(r) < 0) return starved(why);
    const world_config setup = {
        .settings = r->settings,
        .answers = trace_answers_borrow(r->trace),
        .seed = r->config->seed,
        .tell = hear,
        .context = r,
        .time_ticks = true,
    };
    return world_new(&setup, &r->world) == DN_OK ? DN_OK : starved(why);
}

/* ---- The run ---- */

/* A step of so much at most between two looks at how far it is. */
static int go_to(replay *r, int64_t from_ms, int64_t to_ms) {
    const int64_t whole_ms = r->settings->end_ms - r->settings->start_ms;
    int           rc = DN_OK;

    for (int64_t at_ms = from_ms; rc == DN_OK && at_ms < to_ms;) {
        at_ms = to_ms - at_ms > DN_DAY_MS / 24 ? at_ms + DN_DAY_MS / 24 : to_ms;
        rc = world_until(r->world, at_ms);
        if (r->config->progress) r->config->progress(r->config->context, at_ms, whole_ms);
    }
    return rc == DN_OK ? world_until(r->world, to_ms) : rc;
}

static int run_lines(replay *r) {
    const int64_t start_ms = r->settings->start_ms;
    int64_t       now_ms = 0;
    trace_op      op;
    int           rc = world_begin(r->world);

    while (rc == DN_OK && (rc = trace_next(r->trace, &op)) == DN_OK) {
        rc = go_to(r, now_ms, op.at_ms - start_ms);
        now_ms = op.at_ms - start_ms;
        if (rc == DN_OK) rc = world_take(r->world, &op);
    }
    return rc == DN_STOP ? go_to(r, now_ms, r->settings->end_ms - start_ms) : rc;
}

static int run(replay *r, char *why) {
    const int rc = run_lines(r);

    crowd_settle(&r->crowd);
    r->result.simulated_ms = r->settings->end_ms - r->settings->start_ms;
    if (rc < 0)
        return dn_refuse(rc, why, REPLAY_WHY, "%s: the run cannot go on: %s", r->config->trace,
                         dn_error_text(rc));
    return rc;
}

/* ---- After ---- */

static void look_at(replay *r, const dn_user *user) {
    const check_final end = {
        .n = user->registration,
        .due = user->due,
        .last_day = user->last_day,
        .starts_on = user->starts_on,
        .status = user->last_day == DN_DAY_NONE ? DN_DAILY_NONE : user->status,
        .last_run_ms = user->last_run_ms,
        .context_epoch = user->context_epoch,
    };

    check_user(r->check, &end);
}

/* In the order of their ids they lie anywhere. */
static void look(void *context, const dn_user *users, size_t len) {
    enum { AHEAD = 12 };
    replay *r = context;

    for (size_t i = 0; i < len; i++) {
        if (i + AHEAD < len) check_user_soon(r->check, users[i + AHEAD].registration);
        look_at(r, &users[i]);
    }
    r->result.users += len;
}

static int write_users(replay *r, char *why) {
    dn_store *store = world_store_borrow(r->world);
    int       code = 0;

    if (!r->output) {
        const int rc = users_out_look(store, look, r);
        return rc == DN_ENOMEM ? starved(why) : rc;
    }
    FILE *file = file_of(r, "users.ndjson", why);
    if (!file) return DN_EIO;
    const int rc = users_out_write(store, file, look, r, &code);
    return close_file(r, "users.ndjson", file, rc, code, why);
}

static int write_summary(replay *r, char *why) {
    FILE *file = file_of(r, "summary.json", why);

    if (!file) return DN_EIO;
    return close_file(
        r, "summary.json", file,
        summary_write(r->summary, file, r->result.violation_texts, r->result.violation_texts_len),
        /* code= */ 0, why);
}

static int end_events(replay *r, char *why) {
    int       code = 0;
    const int rc = events_out_end(r->events, &code);

    return rc < 0 ? output_failed(r->output, "events.ndjson", code, why) : DN_OK;
}

static int judge(replay *r, char *why) {
    if (check_end(r->check, r->result.simulated_ms) < 0) return starved(why);
    r->result.violations = check_violations_len(r->check);
    r->result.violation_texts_len = check_violations(r->check, &r->result.violation_texts);
    return DN_OK;
}

enum { SETTINGS = 13, SETTING_TEXT = 32 };

static int write_report(replay *r, char *why) {
    const trace_settings *s = r->settings;
    const struct {
        const char *name;
        double      value;
    } all[SETTINGS] = {
        {"tick_ms", (double)s->tick_ms},
        {"window_minutes", (double)s->window_minutes},
        {"retry_delay_minutes", (double)s->retry_delay_minutes},
        {"max_concurrency", (double)s->max_concurrency},
        {"job_timeout_ms", (double)s->job_timeout_ms},
        {"ledger_days", (double)s->ledger_days},
        {"slo_eval_ms", (double)s->slo_eval_ms},
        {"slo_window_minutes", (double)s->slo_window_minutes},
        {"breach_consecutive", (double)s->breach_consecutive},
        {"sat_ratio", s->sat_ratio},
        {"depth_avg_max", (double)s->depth_avg_max},
        {"job_p95_max_ms", (double)s->job_p95_max_ms},
        {"cutoff_rate_max", s->cutoff_rate_max},
    };
    report_setting settings[SETTINGS];
    char           values[SETTINGS][SETTING_TEXT];
    FILE          *file = file_of(r, "report.html", why);

    if (!file) return DN_EIO;
    for (size_t i = 0; i < SETTINGS; i++) {
        *text_out_real(values[i], all[i].value) = '\0';
        settings[i] = (report_setting){all[i].name, values[i]};
    }
    const report_about about = {
        .trace = r->config->trace,
        .version = r->config->version,
        .seed = r->config->seed,
        .users = r->result.users,
        .span_ms = r->result.simulated_ms,
        .max_concurrency = (double)s->max_concurrency,
        .depth_avg_max = (double)s->depth_avg_max,
        .job_p95_max_ms = (double)s->job_p95_max_ms,
        .settings = settings,
        .settings_len = SETTINGS,
        .violations = r->result.violation_texts,
        .violations_len = r->result.violation_texts_len,
        .violations_count = r->result.violations,
    };
    return close_file(r, "report.html", file, report_write(r->report, file, &about), /* code= */ 0,
                      why);
}

static int finish(replay *r, char *why) {
    int rc = write_users(r, why);

    r->result.totals = summary_of_all(r->summary);
    r->result.days = summary_days(r->summary);
    if (rc == DN_OK) rc = judge(r, why);
    if (rc < 0 || !r->output) return rc;
    if ((rc = end_events(r, why)) < 0 || (rc = write_summary(r, why)) < 0 ||
        (rc = write_report(r, why)) < 0)
        return rc;
    return output_complete(r->output, why);
}

/* ---- All of it ---- */

int replay_run(const replay_config *config, replay **out_replay, char *why) {
    replay *r = calloc(1, sizeof *r);

    if (!r) return starved(why);
    r->config = config;
    int rc = prepare(r, why);
    if (rc == DN_OK) rc = run(r, why);
    if (rc == DN_OK) rc = finish(r, why);
    if (rc == DN_OK) *out_replay = r;
    else replay_free(r);
    return rc;
}

void replay_free(replay *r) {
    if (!r) return;
    world_free(r->world);
    summary_free(r->summary);
    check_free(r->check);
    (void)report_free(r->report);
    events_out_free(r->events);
    if (r->events_file) (void)fclose(r->events_file);
    output_free(r->output);
    trace_free(r->trace);
    free(r);
}

const replay_result *replay_result_borrow(const replay *r) { return &r->result; }
