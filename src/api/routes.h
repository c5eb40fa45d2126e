/* routes.h - which paths there are, who may ask for them, and how each finds its answer.
 * A route is a row of steps, as the requests of ops.h are: each sends one question to an actor and goes on with its
 * answer, until there is a response. A file of routes a resource: routes_*.c. */
#ifndef DIURNAL_API_ROUTES_H
#define DIURNAL_API_ROUTES_H

#include "auth/auth.h"
#include "http/http_refine.h"
#include "http/idempotency.h"
#include "ops.h"
#include "daily/daily_messages.h"
#include "service/service.h"

/* What all of them share. */
typedef struct route_world {
    const dn_service_config *service;
    dn_ref                   kv, tick, metrics;
    ops_world                ops;
    guard                   *guard;
    struct feed             *feed;
    once                    *once;
    dn_hash_key              tag_key;     /* of http_refine */
    bool                     on_loopback; /* only this machine can ask */
    bool                     encrypted;
    const char              *settings; /* as JSON: what `diurnal config show` shows */
} route_world;

typedef enum route_step {
    ROUTE_WANTS_BODY, /* read it, or of a stream some more, then exchange_body */
    ROUTE_WAITS,      /* for the answer to `call` */
    ROUTE_WANTS_GUARD, /* begin it again when the tokens are known; else response says that they are not */
    ROUTE_DONE,        /* response is whole */
    ROUTE_STREAMS, /* it goes on: events of the feed, from next_event on */
} route_step;

typedef enum route_body {
    ROUTE_NO_BODY,
    ROUTE_JSON,   /* an object; whole before the first step, and of bounded length */
    ROUTE_STREAM, /* of any length; a step for each piece of it */
} route_body;
enum {
    ROUTE_BODY_MAX = 1 << 20,
    ROUTE_OPEN_BODY_MAX = 4096, /* of a route that is for everyone: memory for whoever comes */
    ROUTE_PIECE = 8192,
};

typedef struct exchange exchange;
typedef struct api      api;
typedef route_step route_fn(dn_self *self, const route_world *w, exchange *x, const dn_msg *reply);

typedef struct route {
    const char *method, *path; /* {id} is one segment, whatever stands there */
    dn_scope    scope;         /* DN_SCOPE_NONE: for everyone */
    route_body  body;
    route_fn   *step;
    const api  *api; /* what it takes, and for route_api what it asks; NULL: nothing */
} route;

enum { ROUTE_ID_MAX = 512, ROUTE_FIELDS_MAX = 256 };
#define ROUTE_LOGIN "/api/v1/session"

/* One request under way. */
struct exchange {
    const http_head *head;
    const route     *route;
    const char      *body; /* borrowed; of a stream the piece at hand */
    size_t           body_len;
    bool             body_ends; /* with that */
    void            *stream;    /* what a stream keeps between its pieces, and how that is freed */
    void (*stream_free)(void *stream);
    guard_who      who;
    once_entry    *once;    /* of a request with an Idempotency-Key */
    void          *sum;     /* of its body so far: EVP_MD_CTX */
    bool           repeats; /* there is an answer to it already */
    size_t         id_len;
    char           id[ROUTE_ID_MAX];         /* what stood for {id}, decoded */
    char           fields[ROUTE_FIELDS_MAX]; /* of the response, if it has some of its own */
    int            stage;
    dn_call_id     call;
    ask            ask; /* of route_api */
    http_response  response;
    dn_tick_status tick; /* what has been answered so far */
    dn_kv_status   kv;
    bool           tick_answered, kv_answered;
    uint32_t       format;     /* dn_metrics_format */
    uint64_t       next_event; /* of a stream of events: the one it is at */
    bool           begins_anew, greeted;
};

/* Finds the route, sees who asks, and takes its first step, or says that it wants the body first. */
route_step exchange_begin(dn_self *self, const route_world *w, exchange *x, const http_head *head);
/* Of its body so much is kept at once. */
size_t exchange_body_max(const exchange *x);
/* What to answer to more than that. */
http_fault exchange_body_too_long(const exchange *x);
/* The body has come, and lies there until there is a response; or a piece of it, until this returns. */
route_step exchange_body(dn_self *self, const route_world *w, exchange *x, const char *body,
                         size_t len, bool ends);
/* reply: the answer to x->call, or its DN_MSG_CALL_FAILED. */
route_step exchange_go_on(dn_self *self, const route_world *w, exchange *x, const dn_msg *reply);
/* Of who was let in: is that token, or that session, still worth as much? A body or a stream may take its time. */
bool exchange_still_may(dn_self *self, const route_world *w, const exchange *x);
/* The response is whole: what is it for this one who asks, and for whoever asks the same again? */
void exchange_finish(dn_self *self, const route_world *w, exchange *x);
/* Whatever it has is free; nobody waits for its response any more. */
void exchange_done(const route_world *w, exchange *x);

/* ---- For the files that make the routes ---- */

/* Asks, and waits for at most that long. Whoever is not there answers as one who is too late. */
route_step exchange_call(dn_self *self, exchange *x, dn_ref to, uint32_t kind, const void *body,
                         size_t size, int64_t timeout_ms);
route_step exchange_answer(exchange *x, http_response response);
/* 401, and in which way to say who asks. */
http_response exchange_stranger(const char *detail);
route_step    exchange_no_more(exchange *x); /* 401 to who was let in, and may not any more */
bool          exchange_wants(const exchange *x,
                             const char     *parameter); /* "?verbose", with or without a value */

route_fn route_healthz, route_readyz, route_metrics, route_import, route_api;

/* Each ends with a row without a method. */
extern const route routes_daemon[], routes_users[], routes_days[], routes_tokens[],
    routes_session[], routes_events[], routes_audit[], routes_backup[], routes_page[];
/* All of them; ends with NULL. What each takes and answers stands in openapi.json. */
extern const route *const routes_all[];

/* ---- routes_api.c: routes that are a request of ops.h, in the words of HTTP ---- */

/* A parameter of the query, and the member of the request it becomes. */
typedef struct api_param {
    const char *name, *member;
    bool        is_number;
} api_param;

struct api {
    const char        *op;      /* of route_api */
    const api_param   *params;  /* ends with one without a name; NULL: there are none */
    const char *const *members; /* of the body's object; ends with NULL */
    bool               has_id;  /* {id} becomes the member "id" */
    /* The response, of the answer of the op; NULL: the answer as it is. */
    http_response (*response)(const route_world *w, const exchange *x, json_t *answer);
};

/* 200 with that object, which it takes; NULL is out of memory. */
http_response api_json(int status, json_t *value);

/* Is each parameter of the query one of the route? Else the response names the one that is not. */
bool api_knows_query(exchange *x);
/* The body, an object of the route's members; the caller's to free. NULL: the response says why not. */
json_t *api_body(exchange *x);

#endif
