/* compare_log.h - events.ndjson of a run, read for a comparison: how its user-days came out, in the order that was
 * written, and on the way how long jobs took and how long users waited for theirs. */
#ifndef DIURNAL_REPLAY_COMPARE_LOG_H
#define DIURNAL_REPLAY_COMPARE_LOG_H

#include "base/civil.h"
#include "compare_lines.h"
#include "compare_times.h"

typedef enum compare_outcome {
    COMPARE_NOTHING, /* the run says nothing of it */
    COMPARE_SUCCESS,
    COMPARE_CUTOFF,
    COMPARE_MISSED,
    COMPARE_OUTCOMES,
} compare_outcome;

/* The longest id, each byte of it escaped. */
enum { COMPARE_ID_MAX = 128 * 6 };

/* A user-day came out. id: as the line has it, borrowed until the next call. */
typedef struct compare_day_end {
    dn_day          day;
    const char     *id;
    size_t          id_len;
    compare_outcome outcome;
} compare_day_end;

typedef struct compare_log compare_log;

/* Reads until the first of them: what is no log of a run is found here, if its beginning shows it. DN_EINVAL,
 * DN_EIO, DN_ENOMEM: why has one line. */
DN_MUST_USE int compare_log_open(const char *dir, compare_log **out_log, char why[COMPARE_WHY]);
void            compare_log_free(compare_log *log); /* accepts NULL */

/* The one that is next, and when it was on the steady line of its run: steps of the clock do not move that. NULL:
 * there is none any more. Borrowed until compare_log_next. */
const compare_day_end *compare_log_head(const compare_log *log, int64_t *out_steady_ms);
/* On to the one behind it. Errors as above. */
DN_MUST_USE int compare_log_next(compare_log *log, char why[COMPARE_WHY]);

/* Of all stop lines; from enqueue to start. All of it when there is no head any more. */
const compare_times *compare_log_jobs(const compare_log *log);
const compare_times *compare_log_waits(const compare_log *log);

#endif
