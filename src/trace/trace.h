/* trace.h - a trace of `diurnal replay`: NDJSON, a header and then one line for each thing that happens.
 *
 *     {"trace":1,"start":"2026-03-01T00:00:00Z","end":"2026-03-08T00:00:00Z","max_concurrency":8,
 *      "default":{"result":"ok","duration_ms":500}}                                  (in one line)
 *     {"at":"2026-03-01T00:00:00Z","op":"user","id":"u1","due":"08:00"}
 *     {"op":"outcome","id":"u1","attempt":1,"result":"error","error_class":"llm"}
 *
 * A trace is read to its end before anything is done by it, so that one that is none leaves nothing half done. The
 * outcomes go to the book (answers.h), all else in a few bytes to a file without a name, from where
 * trace_next gives it: a trace can be read from a pipe, nobody changes it between two readings, and of its length
 * nothing depends but the size of those files.
 *
 * What is a line: an object of JSON, at most TRACE_LINE_MAX bytes, with "\n" or "\r\n" behind it; behind the last one it
 * may be missing. An empty line is none. Unknown keys are passed over, null is what an optional key may be. */
#ifndef DIURNAL_TRACE_TRACE_H
#define DIURNAL_TRACE_TRACE_H

#include "answers.h"

enum { TRACE_WHY = 1024, TRACE_LINE_MAX = 1024 * 1024, TRACE_COUNT_MAX = 100000000 };

/* The years there are, 1970 to 2261: clocks count nanoseconds in 64 bits. No wall clock of a run is outside of them. */
#define TRACE_FIRST_MS  0
#define TRACE_BEHIND_MS (106651 * DN_DAY_MS)

/* From the header; what it leaves out is as in the daemon. In the bounds of the daemon's settings. */
typedef struct trace_settings {
    int64_t start_ms, end_ms; /* start < end */
    int64_t tick_ms;
    int64_t window_minutes;
    int64_t retry_delay_minutes;
    int64_t max_concurrency;
    int64_t job_timeout_ms; /* not more than the window */
    int64_t ledger_days;
    int64_t slo_eval_ms;
    int64_t slo_window_minutes;
    int64_t breach_consecutive;
    double  sat_ratio;
    int64_t depth_avg_max;
    int64_t job_p95_max_ms;
    double  cutoff_rate_max;
    answer  otherwise; /* "default"; {"result":"ok","duration_ms":500} if it is left out */
} trace_settings;

typedef enum trace_op_kind {
    TRACE_USER = 1,    /* id, due, starts_on; and of one that is_durable all the rest */
    TRACE_USERS,       /* id: the prefix; count, due, starts_on */
    TRACE_REMOVE,      /* id */
    TRACE_CRASH,       /* ms: how long the process is down */
    TRACE_CLOCK,       /* ms: the step, either way */
    TRACE_STORE_FAILS, /* ms: how long */
} trace_op_kind;

/* A due of TRACE_USERS: user i is due at minute i mod 1440. */
enum { TRACE_DUE_SPREAD = DN_DAY_MINUTES };

/* What does not belong to the kind is 0, and starts_on DN_DAY_NONE. */
typedef struct trace_op {
    trace_op_kind kind;
    int64_t     at_ms; /* since the epoch, on the steady line; start <= at < end, and never falls */
    uint64_t    line;
    const char *id; /* borrowed until the next trace_next; no NUL behind it */
    size_t      id_len;
    uint32_t    due;
    uint32_t    count;
    dn_day      starts_on;  /* DN_DAY_NONE: the line does not say */
    bool        is_durable; /* the user has been that, when the run begins */
    dn_day      last_date;  /* DN_DAY_NONE, INT64_MIN: none */
    dn_daily_status status;
    uint32_t        context_epoch;
    int64_t         last_run_ms;
    int64_t         ms;      /* sums of these and instants are far from the ends of 64 bits */
    int64_t         full_ms; /* the disk is full for so long, from its instant on; see trace.c */
} trace_op;

typedef struct trace trace;

/* Reads and judges all of it; path "-": the standard input. DN_EINVAL: it is no trace, or no file. DN_EIO: it cannot be
 * read to its end, or the files without names (in TMPDIR, or /var/tmp) cannot be written. why then has one line:
 * "FILE:LINE: what is wrong; what would be right", without LINE where it is not about one. */
DN_MUST_USE int trace_open(const char *path, trace **out_trace, char why[TRACE_WHY]);
void            trace_free(trace *t); /* accepts NULL */

/* Numbers of the header set to others, as "max_concurrency=40". All at once, because they are judged together too.
 * DN_EINVAL: as above, and nothing has been set. */
DN_MUST_USE int trace_set(trace *t, const char *const *assignments, size_t len,
                          char why[TRACE_WHY]);

const trace_settings *trace_settings_borrow(const trace *t);
answers              *trace_answers_borrow(trace *t);

/* The next line that is no outcome and lies before the end. DN_STOP: there is none. DN_EIO: it cannot be read. */
DN_MUST_USE int trace_next(trace *t, trace_op *out_op);

#endif
