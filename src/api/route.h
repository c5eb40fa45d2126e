/* route.h - what a route is, and what its handler works with.
 * A route is a method, a path, a scope and a handler. A handler gets a request that is parsed and checked, and either
 * answers it (reply.h) or calls an actor and names the function that goes on with the actor's answer. Each folder has
 * its tables: routes_*.c. */
#ifndef DIURNAL_API_ROUTE_H
#define DIURNAL_API_ROUTE_H

#include "about.h"
#include "auth/auth.h"
#include "daily/daily_messages.h"
#include "fields.h"
#include "http/http_refine.h"
#include "http/idempotency.h"
#include "http/path_pattern.h"
#include "router.h"
#include "service/service.h"

struct feed;

/* What all handlers share. Only the web actor uses it. */
typedef struct api_world {
    const dn_service_config *service;
    const dn_about          *about;
    const router            *router;
    dn_ref                   kv, tick, queue, executor, slo_watcher, metrics;
    auth                    *auth;
    struct feed             *feed;
    idempotency             *idempotency;
    dn_hash_key              tag_key;     /* of http_refine */
    int64_t                  started_ms;  /* the wall clock when the actor started */
    bool                     on_loopback; /* only this machine can connect */
    bool                     encrypted;
    const char              *settings; /* as JSON */
} api_world;

typedef enum route_step {
    ROUTE_WANTS_BODY, /* read it, or the next piece of a stream, then call exchange_body */
    ROUTE_WAITS,      /* for the answer to x->call */
    ROUTE_WANTS_TOKENS, /* begin again when the tokens are loaded; else the response says they are not */
    ROUTE_DONE,         /* the response is whole */
    ROUTE_STREAMS,      /* events of the feed follow without end, from x->next_event on */
} route_step;

typedef enum route_body {
    ROUTE_NO_BODY,
    ROUTE_JSON,   /* an object of the route's members, checked before the handler runs */
    ROUTE_STREAM, /* of any length; the handler runs once for each piece */
} route_body;

enum {
    ROUTE_BODY_MAX = 1 << 20,
    ROUTE_OPEN_BODY_MAX = 4096, /* of a route without a scope: anybody can make us hold it */
    ROUTE_PIECE = 8192,
};

typedef struct exchange exchange;
typedef route_step      handler_fn(dn_self *self, const api_world *w, exchange *x);
/* reply: the answer; NULL only after exchange_try: there was none. */
typedef route_step reply_fn(dn_self *self, const api_world *w, exchange *x, const dn_msg *reply);

typedef struct route {
    const char  *method, *path; /* of path_pattern.h */
    dn_scope     scope;         /* DN_SCOPE_NONE: open to everyone */
    route_body   body;
    handler_fn  *handler;
    const field *query;       /* NULL: none. A route outside /api/ ignores whatever query comes. */
    const field *members;     /* of ROUTE_JSON */
    bool         for_tenants; /* false: it belongs to no tenant, and a tenant's token gets a 403 */
} route;

#define ROUTE_LOGIN "/api/v1/session"

/* One request under way and its response. */
struct exchange {
    /* What was asked; handlers read it. */
    const http_head *head;
    const route     *route;
    auth_identity    who;
    path_captures    captures; /* decoded */
    field_values     query, members;
    const char      *body; /* borrowed; of a stream the piece at hand */
    size_t           body_len;
    bool             body_ends; /* with that */

    /* What the handler keeps between its steps, of exchange_keep; and what it decides. */
    void         *state;
    bool          committed; /* what was asked for is done, whatever becomes of the response */
    http_response response;
    char          fields[256]; /* of the response's head, where it has some of its own */
    uint64_t      next_event;  /* of a stream of events */
    bool          resets;      /* the stream's client missed events and reads everything again */
    bool          greeted;

    /* exchange.c only. */
    dn_call_id call;
    reply_fn  *next;          /* goes on with the answer to call */
    bool       tries;         /* next runs also if nobody answers */
    bool       is_unanswered; /* a call had no answer: what it asked for may yet be done */
    void (*state_free)(void *state);
    char              *path_text; /* what captures borrow */
    idempotency_entry *entry;     /* of a request with an Idempotency-Key */
    void              *sum;       /* of its body so far: EVP_MD_CTX */
    bool               repeats;   /* its answer is there already */
};

/* ---- For handlers ---- */

/* Calls an actor; `next` goes on with its answer. Without an answer the response is a 503. */
DN_MUST_USE route_step exchange_call(dn_self *self, exchange *x, dn_ref to, uint32_t kind,
                                     const void *body, size_t size, reply_fn *next);
/* Likewise, for what may take an hour. */
DN_MUST_USE route_step exchange_call_long(dn_self *self, exchange *x, dn_ref to, uint32_t kind,
                                          const void *body, size_t size, reply_fn *next);
/* Likewise with a deadline of its own; `next` gets NULL if no answer comes. */
DN_MUST_USE route_step exchange_try(dn_self *self, const api_world *w, exchange *x, dn_ref to,
                                    uint32_t kind, const void *body, size_t size,
                                    int64_t timeout_ms, reply_fn *next);
/* Waits for a call that was sent otherwise. */
route_step exchange_wait(exchange *x, dn_call_id call, reply_fn *next);

/* Zeroed memory that lives as long as the request, once; NULL: out of memory. state_free may be NULL: free. */
void *exchange_keep(exchange *x, size_t size, void (*state_free)(void *state));

/* Is the token or session of the request still valid? It may end while a body or a stream takes its time. */
bool exchange_still_may(dn_self *self, const api_world *w, const exchange *x);

bool exchange_wants(const exchange *x,
                    const char     *parameter); /* "?verbose", with or without a value */

/* The id in the path, {id} being the first capture. False: the response says what is wrong with it. */
bool exchange_id(exchange *x, dn_kv_id *out_id);

/* ---- The tables: each ends with a route without a method, and the list of them with NULL ---- */

extern const route routes_health[], routes_metrics[], routes_status[], routes_actors[],
    routes_backup[], routes_users[], routes_today[], routes_days[], routes_why[], routes_audit[],
    routes_import[], routes_tokens[], routes_session[], routes_events[], routes_page[];
extern const route *const routes_all[];

#endif
