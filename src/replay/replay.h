/* replay.h - a trace, run by the production actors in virtual time, and what came of it. */
#ifndef DIURNAL_REPLAY_REPLAY_H
#define DIURNAL_REPLAY_REPLAY_H

#include "summary.h"
#include "trace/trace.h"

enum { REPLAY_WHY = TRACE_WHY };

typedef struct replay_config {
    const char        *trace; /* "-": the standard input */
    const char        *out;   /* a directory; NULL: no files */
    uint64_t           seed;  /* 0: the order of the real loops; else one of many that could be */
    const char *const *sets;  /* "max_concurrency=40" */
    size_t             sets_len;
    const char        *version; /* of the program, for the report */
    /* How far it is on the steady line; NULL: nobody wants to know. */
    void (*progress)(void *context, int64_t done_ms, int64_t total_ms);
    void *context;
} replay_config;

typedef struct replay_result {
    summary_totals     totals;
    size_t             days;
    uint64_t           users; /* in the end */
    int64_t            simulated_ms;
    uint64_t           violations;
    const char *const *violation_texts; /* the first of them, until replay_free */
    size_t             violation_texts_len;
} replay_result;

typedef struct replay replay;

/* Runs all of it. DN_EINVAL: the trace is none, or a setting; why has one line, and nothing was written. DN_EIO,
 * DN_ENOMEM: why too. On DN_OK *out_replay is the caller's. */
DN_MUST_USE int replay_run(const replay_config *config, replay **out_replay, char *why);
void            replay_free(replay *r); /* accepts NULL */

const replay_result *replay_result_borrow(const replay *r);

#endif
