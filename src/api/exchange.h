/* exchange.h - one request from its head to its response, as the web actor drives it. */
#ifndef DIURNAL_API_EXCHANGE_H
#define DIURNAL_API_EXCHANGE_H

#include "route.h"

/* Finds the route, checks who asks and what, and runs the handler, or says that it wants the body first. Borrows head
 * until exchange_done. */
route_step exchange_begin(dn_self *self, const api_world *w, exchange *x, const http_head *head);

/* How many bytes of the body are to be held at once. */
size_t exchange_body_max(const exchange *x);
/* The answer to a body that is longer. */
http_fault exchange_body_too_long(const exchange *x);
/* The whole body, borrowed until there is a response; or a piece of a stream, until this returns. */
route_step exchange_body(dn_self *self, const api_world *w, exchange *x, const char *body,
                         size_t len, bool ends);

/* reply: the answer to x->call, or its DN_MSG_CALL_FAILED. */
route_step exchange_go_on(dn_self *self, const api_world *w, exchange *x, const dn_msg *reply);

/* To be called once the response is whole: keeps it for its Idempotency-Key, and compresses or tags it. */
void exchange_finish(dn_self *self, const api_world *w, exchange *x);
/* Frees what the request has, whether or not there is a response. */
void exchange_done(const api_world *w, exchange *x);

#endif
