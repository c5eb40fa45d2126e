/* relay.h - events, heard on a thread of their own while whoever tells them goes on.
 * They are heard one after the other, in the order they were told, and never by two threads at once. What has to be copied of
 * an event is, so that it may be heard later than it happened. Where no other thread is wanted, or none is to be had, each is
 * heard at once by who tells it. */
#ifndef DIURNAL_REPLAY_RELAY_H
#define DIURNAL_REPLAY_RELAY_H

#include "event.h"

typedef struct relay relay;

typedef void relay_hear(void *context, const event *e);

/* apart: on a thread of its own, if there is one. DN_ENOMEM. */
DN_MUST_USE int relay_new(relay_hear *hear, void *context, bool apart, relay **out_relay);
void            relay_free(relay *r); /* accepts NULL; what was told and not heard is dropped */

/* One thread tells. to: a relay, as whoever is given a function to tell knows only where to. */
void relay_tell(void *to, const event *e);

/* All that was told has been heard: until the next is, nobody hears, and what they wrote is the caller's to read. */
void relay_settle(relay *r);

#endif
