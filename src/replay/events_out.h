/* events_out.h - events.ndjson: each event of a run as a line, in the order they are told. */
#ifndef DIURNAL_REPLAY_EVENTS_OUT_H
#define DIURNAL_REPLAY_EVENTS_OUT_H

#include "event.h"

typedef struct events_out events_out;

/* fd stays the caller's. NULL: no memory. */
events_out *events_out_new(int fd);
void        events_out_free(events_out *out); /* accepts NULL */

void events_out_tell(events_out *out, const event *e);
/* The same, of what each day of a user has: who knows the kind need not have it looked at again. */
void events_out_enqueued(events_out *out, const event *e);
void events_out_started(events_out *out, const event *e);
void events_out_stopped(events_out *out, const event *e);
void events_out_finalized(events_out *out, const event *e);

/* What is gathered goes out. DN_OK, or DN_EIO if any of it ever did not; errno of the first failure then in *out_errno. */
DN_MUST_USE int events_out_end(events_out *out, int *out_errno);

#endif
