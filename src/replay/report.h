/* report.h - what a run looked like, gathered as it happens, and the page that shows it (report.html).
 * It is told every event once, in the order of the run, and counts: it keeps neither events nor users, so a minute, a
 * day and a year take the same memory (1.5 MB). An event costs some nanoseconds and allocates nothing.
 * The same events give the same bytes, but for the durations of the ticks, which are the machine's.
 * One thread's own. */
#ifndef DIURNAL_REPLAY_REPORT_H
#define DIURNAL_REPLAY_REPORT_H

#include "event.h"

#include <stdio.h>

typedef struct report report;

/* start_ms: the wall clock at steady_ms 0. DN_ENOMEM. */
DN_MUST_USE int report_new(int64_t start_ms, report **out_report);
void           *report_free(report *r);
void            report_freep(report **r);

/* Borrows the event for the call. A user-day that was missed and finalized after all counts as both. */
void report_event(report *r, const event *e);
/* The same, of what each day of a user has, and of so many users alike. Only of a cutoff the user is looked at. */
void report_enqueued(report *r, const event *e, uint64_t times);
void report_started(report *r, const event *e, uint64_t times);
void report_stopped(report *r, const event *e, uint64_t times);
void report_finalized(report *r, const event *e, uint64_t times);

/* How long the machine took for a tick. */
void report_tick_wall(report *r, double ms);

/* What only the caller knows. The strings may be any bytes: the page shows them, and takes them for nothing else. */
typedef struct report_setting {
    const char *name, *value;
} report_setting;
typedef struct report_about {
    const char *trace, *version;
    uint64_t    seed, users; /* users: registered at the end */
    int64_t     span_ms;     /* on the steady line, from the start to the end of the run */
    /* Drawn as lines. 0: there is no such limit. */
    double                max_concurrency, depth_avg_max, job_p95_max_ms, tick_budget_ms;
    const report_setting *settings;
    size_t                settings_len;
    const char *const    *violations; /* the first of so many in all */
    size_t                violations_len;
    uint64_t              violations_count;
} report_about;

/* The whole page. Levels are held up to the end of the run: nothing is to be told afterwards. DN_EIO: the file did not
 * take it. */
DN_MUST_USE int report_write(report *r, FILE *file, const report_about *about);

#endif
