/* report_axis.c - a line that gets longer, on paper that does not. */
#include "report_axis.h"

#include <assert.h>
#include <string.h>

enum { AXIS_FIRST_MS = 100 };
/* 500 ms, 1 s, 5 s, 15 s, 30 s, 1 min, 5, 15, 30 min, 1 h, 3, 6, 12 h, 1 day; and from there on twice as much. */
static const uint32_t growth[] = {5, 2, 5, 3, 2, 2, 5, 3, 2, 2, 3, 2, 2, 2};

/* 100,000 years, and far from where the end of a stretch would not be a number any more. */
#define AXIS_MS_MAX (INT64_C(1) << 52)

void axis_init(axis *a) { *a = (axis){.width_ms = AXIS_FIRST_MS}; }

static void add(axis_stretch *into, const axis_stretch *s) {
    into->depth_sum += s->depth_sum;
    into->in_flight_sum += s->in_flight_sum;
    if (s->depth_max > into->depth_max) into->depth_max = s->depth_max;
    if (s->in_flight_max > into->in_flight_max) into->in_flight_max = s->in_flight_max;
    for (int i = 0; i < AXIS_OUTCOMES; i++) into->stops[i] += s->stops[i];
}

static void widen(axis *a) {
    const uint32_t by = a->widened < sizeof growth / sizeof growth[0] ? growth[a->widened] : 2;

    for (uint32_t i = 0; i <= a->at; i++) {
        const axis_stretch s = a->stretches[i];
        memset(&a->stretches[i], 0, sizeof s);
        add(&a->stretches[i / by], &s);
    }
    a->at /= by;
    a->width_ms *= by;
    a->widened++;
}

/* The stretch that now_ms begins. */
static void turn(axis *a) {
    if (a->at + 1 == AXIS_LEN) widen(a);
    a->at = (uint32_t)(a->now_ms / a->width_ms);
    axis_stretch *s = &a->stretches[a->at];
    if (a->depth > s->depth_max) s->depth_max = a->depth;
    if (a->in_flight > s->in_flight_max) s->in_flight_max = a->in_flight;
}

void axis_move(axis *a, int64_t to_ms) {
    assert(to_ms <= AXIS_MS_MAX);
    while (a->now_ms < to_ms) {
        const int64_t  end_ms = (a->at + 1) * a->width_ms;
        const int64_t  next_ms = to_ms < end_ms ? to_ms : end_ms;
        const uint64_t held_ms = (uint64_t)(next_ms - a->now_ms);
        a->stretches[a->at].depth_sum += a->depth * held_ms;
        a->stretches[a->at].in_flight_sum += a->in_flight * held_ms;
        a->now_ms = next_ms;
        if (next_ms == end_ms) turn(a);
    }
}

uint32_t axis_len(const axis *a) {
    static const axis_stretch nothing;
    /* That levels were carried over to the instant at which the run ends is nothing that happened in it. */
    axis_stretch last = a->stretches[a->at];

    if (a->now_ms > a->at * a->width_ms) return a->at + 1;
    if (last.depth_max == a->depth) last.depth_max = 0;
    if (last.in_flight_max == a->in_flight) last.in_flight_max = 0;
    return a->at + (memcmp(&last, &nothing, sizeof last) != 0);
}
