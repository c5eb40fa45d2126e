/* requests.h - carries the requests of a connection to their routes, and the responses back.
 * A connection has one request under way and is not read meanwhile, so a slow client delays only itself. */
#ifndef DIURNAL_API_REQUESTS_H
#define DIURNAL_API_REQUESTS_H

#include "server.h"

/* Reads, asks and writes until it would have to wait. */
void requests_resume(dn_self *self, server *s, connection *c);

/* Gives an answer of an actor, or its DN_MSG_CALL_FAILED, to the request that waits for it, if it is still there. */
void requests_on_answer(dn_self *self, server *s, const dn_msg *reply);
/* The tokens are loaded, or cannot be: requests that waited for that call begin again. */
void requests_on_tokens(dn_self *self, server *s, dn_call_id call);

/* Answers with that fault, and ends the connection after it. */
void requests_refuse(dn_self *self, server *s, connection *c, const http_fault *fault);

/* A stream of which a little has come, and then nothing: hands that on, so that it does not wait for more. */
bool requests_has_piece(const connection *c);
void requests_hand_on_piece(dn_self *self, server *s, connection *c);

#endif
