/* progress.h - how far it is: one line that is drawn over itself, on a terminal; else nothing.
 * One at a time. An error message replaces the line. */
#ifndef DIURNAL_CLI_PROGRESS_H
#define DIURNAL_CLI_PROGRESS_H

#include "diurnal/base.h"

typedef struct progress {
    bool    shown; /* standard error is a terminal */
    int64_t total; /* 0: not known */
    int64_t drawn_ms;
} progress;

void progress_begin(progress *p, int64_t total);
/* Draws done of total, then count and what: "12345 users". At most ten times a second. */
void progress_at(progress *p, int64_t done, int64_t count, const char *what);
void progress_end(progress *p); /* removes the line */

#endif
