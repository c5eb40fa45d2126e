/* meter.h - a level over time: how deep a queue was, how many slots were taken, and for how long.
 * What counts is time and not the number of changes: a level that flickers for a second weighs a second. One thread
 * writes; any thread reads, and what it reads belongs together. A reader never waits for a writer that was put to sleep in
 * mid-change: there are two copies, and one of them is always whole.
 * Sums are of microseconds, and wrap; what is meant is the difference of two readings. */
#ifndef DIURNAL_OBS_METER_H
#define DIURNAL_OBS_METER_H

#include "diurnal/base.h"

#include <stdatomic.h>

typedef struct dn_meter_reading {
    uint64_t level, max; /* as last set */
    uint64_t peak;       /* the highest level ever */
    uint64_t samples;    /* how often it was set; 0: all else is 0 too */
    /* Since it was first set: the time, the level times the time, the time with level >= max > 0. */
    uint64_t watched_us, area_us, full_us;
} dn_meter_reading;

/* As dn_meter_reading, with the instant of the last change in front. */
enum { DN_METER_WORDS = 8 };

/* Zeroed it was never set. */
typedef struct dn_meter {
    /* The writer adds one before it changes either copy; copy turn % 2 is whole. */
    _Atomic(uint64_t) turn;
    _Atomic(uint64_t) copies[2][DN_METER_WORDS];
} dn_meter;

/* The level is this from now on. max 0: there is none. One thread only. now_ns: monotonic; an instant before the last one
 * counts as that. */
void dn_meter_set(dn_meter *m, uint64_t level, uint64_t max, int64_t now_ns);

/* As if it were set once more, to what it is, at now_ns. Any thread. */
dn_meter_reading dn_meter_read(const dn_meter *m, int64_t now_ns);

#endif
