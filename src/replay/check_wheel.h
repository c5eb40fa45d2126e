/* check_wheel.h - who has to be looked at again, and at the first tick from when on.
 * A wheel holds those whose throttle ends some time, each at most once: when it comes to another one, its own time is
 * no later. A plain list holds those to be looked at at the next tick. */
#ifndef DIURNAL_REPLAY_CHECK_WHEEL_H
#define DIURNAL_REPLAY_CHECK_WHEEL_H

#include "check_users.h"

typedef struct check_soon {
    uint32_t n;
    int64_t  since_ms;
} check_soon;

typedef struct check_wheel {
    uint32_t *slots; /* the first of each list */
    uint32_t  len;
    int64_t   grain_ms, at; /* at: what has been turned to; a slot is `grain_ms` long */

    check_soon *soon;
    size_t      soon_len, soon_cap;
} check_wheel;

/* Nobody waits longer than span_ms. */
int  check_wheel_init(check_wheel *w, int64_t grain_ms, int64_t span_ms);
void check_wheel_done(check_wheel *w);

/* At the next tick that begins at since_ms or later. */
int check_wheel_soon(check_wheel *w, uint32_t n, int64_t since_ms);
/* Not before at_ms; perhaps a little sooner. */
int check_wheel_add(check_wheel *w, check_users *u, uint32_t n, int64_t at_ms);

/* The list of the next slot that now_ms has come to, taken out; CHECK_NOBODY: it is empty. False: that was all. */
bool check_wheel_turn(check_wheel *w, int64_t now_ms, uint32_t *out_first);

#endif
