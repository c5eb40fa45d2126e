/* window.h - a ring of minutes: what happened lately, and nothing older.
 * Minutes are those of the clock that is handed in: floor(now_ms / 60000). The ring is made once and never grows; minutes
 * in which nobody rolled are there and empty. One thread. */
#ifndef DIURNAL_OBS_WINDOW_H
#define DIURNAL_OBS_WINDOW_H

#include "diurnal/base.h"

/* Makes a slot what a zeroed one is. */
typedef void dn_window_clear(void *slot);

typedef struct dn_window {
    unsigned char   *slots;
    dn_window_clear *clear;
    size_t           slot_size;
    uint32_t         minutes;
    uint32_t
         at; /* the slot of the current minute; the one before it has that of the minute before */
    bool rolled;
    int64_t minute; /* the current one */
} dn_window;

/* minutes slots of slot_size bytes, all of them zero, and cleared by `clear` before they are used again. DN_ENOMEM: *w is
 * as it was. */
DN_MUST_USE int dn_window_init(dn_window *w, uint32_t minutes, size_t slot_size,
                               dn_window_clear *clear);
void            dn_window_done(dn_window *w);

/* The minute of now_ms becomes the current one; those between it and the one before begin empty, as it does. A clock that
 * has gone back counts as one that stands still. */
void dn_window_roll(dn_window *w, int64_t now_ms);

/* The slot of so many minutes ago: 0 is the current one, which is still being filled, so the sum of 0 … N-1 is that of the
 * last N minutes at most, and of more than N-1. NULL: the ring does not go back that far, or was never rolled. Borrowed until the
 * next roll. */
void *dn_window_slot(const dn_window *w, uint32_t ago);

#endif
