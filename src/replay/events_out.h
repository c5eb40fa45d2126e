/* events_out.h - events.ndjson: one line for each event of a run, in the order of the calls. */
#ifndef DIURNAL_REPLAY_EVENTS_OUT_H
#define DIURNAL_REPLAY_EVENTS_OUT_H

#include "event.h"

#include <stdio.h>

typedef struct events_out events_out;

/* Borrows file until events_out_free. NULL: out of memory. */
events_out *events_out_new(FILE *file);
void        events_out_free(events_out *out); /* accepts NULL */

void events_out_tell(events_out *out, const event *e);
/* The same for one kind, for callers that know the kind already. */
void events_out_enqueued(events_out *out, const event *e);
void events_out_started(events_out *out, const event *e);
void events_out_stopped(events_out *out, const event *e);
void events_out_finalized(events_out *out, const event *e);

/* Flush the file. DN_EIO if any write failed since events_out_new; *out_errno is then the errno of the first failure. */
DN_MUST_USE int events_out_end(events_out *out, int *out_errno);

#endif
