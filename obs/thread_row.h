/* thread_row.h - a number for each thread, so that what a thread writes has a place that no other thread writes to.
 * Whoever keeps THREAD_ROWS such places adds to his own with a load and a store: no locked instruction, and no cache line
 * that another core wants as well. There are few, and a thread that finds none is told so and goes the slower way. A
 * number outlives its thread: the next one that gets it sees all that was written under it. */
#ifndef DIURNAL_OBS_THREAD_ROW_H
#define DIURNAL_OBS_THREAD_ROW_H

#include "diurnal/base.h"

enum { THREAD_ROWS = 8, THREAD_ROW_NONE = -1 };

/* This thread's and 1; 0: it has none, or has not asked. */
extern _Thread_local int thread_row_here;
/* Asks for one. THREAD_ROW_NONE: all are taken, or the thread is about to end. */
int thread_row_ask(void);

/* From 0, or THREAD_ROW_NONE. Any thread. */
static inline int thread_row_mine(void) {
    const int here = thread_row_here;

    return here ? here - 1 : thread_row_ask();
}

#endif
