/* log_repeat.h - which line is one too many of its kind, and how many those were. Any thread. */
#ifndef DIURNAL_OBS_LOG_REPEAT_H
#define DIURNAL_OBS_LOG_REPEAT_H

#include "log.h"

enum { LOG_REPEATS_MAX = 20, LOG_REPEATS_MS = 10000 };

/* Lines of an event that were counted and not said. */
typedef struct log_repeated {
    const char  *event;
    dn_log_level level; /* the worst of them */
    uint32_t     lines;
} log_repeated;

/* Whether one more line of this event is said at now_ms. Periods are those of the clock: 08:00:00 to 08:00:10. If this
 * is the first of a new one, *out_ended is what was kept back in the one before; else its lines are 0. Keeps event. */
bool log_repeat_allows(const char *event, dn_log_level level, int64_t now_ms,
                       log_repeated *out_ended);

/* The next event, from *at, with lines kept back in a period that is not that of now_ms, or in any; they count as
 * said with this. False: there is none. Begin with *at = 0. */
bool log_repeat_ended(size_t *at, int64_t now_ms, bool any, log_repeated *out_ended);

#endif
