/* report_axis.h - a run along its steady line: at most AXIS_LEN stretches of one width, whatever its length.
 * When the line gets longer than they reach, neighbours become one. The widths are those of a clock, from 100 ms by
 * way of a minute (a day has 1,440) to days, so that a stretch can be named. */
#ifndef DIURNAL_REPLAY_REPORT_AXIS_H
#define DIURNAL_REPLAY_REPORT_AXIS_H

#include "level.h"
#include "runner/runner.h"

enum { AXIS_LEN = 2048, AXIS_OUTCOMES = DN_OUTCOME_TIMEOUT };

typedef struct axis_stretch {
    uint64_t depth_sum, in_flight_sum; /* times the milliseconds it was so high */
    uint64_t depth_max, in_flight_max; /* the highest ever reached, if only for an instant */
    uint64_t stops[AXIS_OUTCOMES];     /* by dn_outcome, from DN_OUTCOME_OK on */
} axis_stretch;

/* axis_init makes it empty. */
typedef struct axis {
    int64_t      width_ms, now_ms;
    uint32_t     at, widened; /* where now_ms is; how often the width has grown */
    uint64_t     depth, in_flight, depth_peak, in_flight_peak;
    axis_stretch stretches[AXIS_LEN];
} axis;

void axis_init(axis *a);

/* How many stretches there are: those before now_ms, and its own if something happened there. */
uint32_t axis_len(const axis *a);

/* Moves on; the levels have been what they are until then. An instant before now_ms is now_ms. */
void axis_move(axis *a, int64_t to_ms);

static inline void axis_to(axis *a, int64_t to_ms) {
    if (to_ms > a->now_ms) axis_move(a, to_ms);
}

static inline void axis_enqueued(axis *a, uint64_t times) {
    a->depth += times;
    level_reaches(a->depth, &a->stretches[a->at].depth_max);
    level_reaches(a->depth, &a->depth_peak);
}

static inline void axis_dequeued(axis *a, uint64_t times) { level_lowers(&a->depth, times); }

static inline void axis_started(axis *a, uint64_t times) {
    axis_dequeued(a, times);
    a->in_flight += times;
    level_reaches(a->in_flight, &a->stretches[a->at].in_flight_max);
    level_reaches(a->in_flight, &a->in_flight_peak);
}

static inline void axis_stopped(axis *a, dn_outcome outcome, uint64_t times) {
    level_lowers(&a->in_flight, times);
    a->stretches[a->at].stops[outcome - 1] += times;
}

/* The process died, and everything in its memory with it. */
static inline void axis_crashed(axis *a) { a->depth = a->in_flight = 0; }

#endif
