/* stall.h - a thread that names a handler which has not returned. */
#ifndef DIURNAL_ACTOR_STALL_H
#define DIURNAL_ACTOR_STALL_H

#include "rt.h"

typedef struct stall_watch stall_watch;

DN_MUST_USE int stall_start(dn_runtime *rt, stall_watch **out_watch);
void            stall_stop(stall_watch *w); /* accepts NULL */

#endif
