/* server.h - what the parts of the web actor share: it is the actor's state.
 * acceptor -> connections -> requests -> streams; timeouts ends what takes too long. */
#ifndef DIURNAL_API_SERVER_H
#define DIURNAL_API_SERVER_H

#include "connections.h"
#include "feed.h"
#include "http/acceptor.h"

/* Listeners of the event stream. */
typedef struct streams {
    uint32_t len;      /* how many there are */
    bool     rounds;   /* the feed asks around, once a second */
    int64_t  empty_ns; /* since then nobody listens */
} streams;

typedef struct server {
    const dn_web_config *config;
    acceptor             acceptor;
    connections          connections;
    streams              streams;
    router              *router;
    auth                 auth;
    feed                 feed;
    idempotency          idempotency;
    api_world            world;          /* borrows the four above */
    dn_call_id           loading_tokens; /* the call for all tokens; 0: none is under way */
    int64_t              renewed_ns;     /* when the certificate's files were looked at */
} server;

#endif
