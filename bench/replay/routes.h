/* routes.h - which paths there are, and how each finds its answer.
 * A route is a row of steps, as the requests of ops.h are: each sends one question to an actor and goes on with its
 * answer, until there is a response. */
#ifndef DIURNAL_API_ROUTES_H
#define DIURNAL_API_ROUTES_H

#include "http/http_response.h"
#include "service/messages.h"
#include "service/service.h"

/* What all of them share. */
typedef struct route_world {
    const dn_service_config *service;
    dn_ref                   kv, tick, metrics;
} route_world;

typedef enum route_step {
    ROUTE_WAITS, /* for the answer to `call` */
    ROUTE_DONE,  /* response is whole */
} route_step;

typedef struct exchange exchange;
typedef route_step route_fn(dn_self *self, const route_world *w, exchange *x, const dn_msg *reply);

/* One request under way. */
struct exchange {
    const http_head *head;
    route_fn        *route;
    int              stage;
    dn_call_id       call;
    http_response    response;
    dn_tick_status   tick; /* what has been answered so far */
    dn_kv_status     kv;
    bool             tick_answered, kv_answered;
    uint32_t         format; /* dn_metrics_format */
};

/* Finds the route and takes its first step. */
route_step exchange_begin(dn_self *self, const route_world *w, exchange *x, const http_head *head);
/* reply: the answer to x->call, or its DN_MSG_CALL_FAILED. */
route_step exchange_go_on(dn_self *self, const route_world *w, exchange *x, const dn_msg *reply);

/* ---- For the files that make the routes ---- */

/* Asks, and waits for at most that long. Whoever is not there answers as one who is too late. */
route_step exchange_call(dn_self *self, exchange *x, dn_ref to, uint32_t kind, const void *body,
                         size_t size, int64_t timeout_ms);
route_step exchange_answer(exchange *x, http_response response);
bool       exchange_wants(const exchange *x,
                          const char     *parameter); /* "?verbose", with or without a value */

route_fn route_healthz, route_readyz, route_metrics;

#endif
