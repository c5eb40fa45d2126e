/* timed.h - runs that are nothing but a timer of their actor: made-up ones, and those that are done
 * at once.
 * They need no loop of libuv, so they work under simulation, and nothing of their runner once begun.
 * A timer's message finds room in every mailbox. */
#ifndef DIURNAL_RUNNER_TIMED_H
#define DIURNAL_RUNNER_TIMED_H

#include "scheme.h"

typedef struct timed_run {
    dn_run      run;
    dn_timer_id timer; /* 0: it hangs */
} timed_run;

void timed_after(dn_run *run, dn_self *self, int64_t delay_ms, dn_run_result result);
void timed_never(dn_run *run); /* until it is cut */
void timed_cut(dn_run *run, dn_self *self);

#endif
