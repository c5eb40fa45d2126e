/* streams.h - the listeners of GET /api/v1/events: sends each what changed (feed.h), and asks for changes while anybody
 * listens. */
#ifndef DIURNAL_API_STREAMS_H
#define DIURNAL_API_STREAMS_H

#include "server.h"

/* The connection listens from here on. False: as many as may listen already, and nothing was sent. Without memory the
 * connection is closed. */
bool streams_begin(dn_self *self, server *s, connection *c);
/* Sends what there is for it, until it has to wait. */
void streams_resume(dn_self *self, server *s, connection *c);
/* Likewise to all listeners; those whose token is no longer valid are closed. */
void streams_resume_all(dn_self *self, server *s);

/* The message by which the next round of the feed begins. */
extern const uint32_t streams_round_kind;
void                  streams_on_round(dn_self *self, server *s);

#endif
