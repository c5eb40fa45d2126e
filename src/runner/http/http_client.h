/* http_client.h - the HTTP client of a loop: many transfers of libcurl at once, for any number of runners.
 * It knows connections and descriptors, and nothing of runs. A runner has a route: its own limits and options, its own
 * connections. All routes of a loop share one multi handle, one timer and the watches of sockets; the client begins with the
 * first route and ends with the last. Everything is called on the loop's thread. */
#ifndef DIURNAL_RUNNER_HTTP_CLIENT_H
#define DIURNAL_RUNNER_HTTP_CLIENT_H

#include "diurnal/base.h"

#include <curl/curl.h>

typedef struct http_client http_client;
typedef struct http_route  http_route;
struct uv_loop_s;

/* A transfer and its easy handle, used again and again: making one costs more than a request. */
typedef struct http_transfer {
    CURL *easy;
    void *owner; /* the caller's, while it is taken */

    uint32_t           pin_number; /* which pin it has been told */
    struct curl_slist *pin;
    int                socket_errno; /* why it got no socket; 0: no such trouble */
    bool               forbidden;    /* an address it was to connect to is one of those */
    char               address[48];  /* which */
    bool               flooded;      /* ended, because more came than was heard */
    char               error[CURL_ERROR_SIZE];

    /* The client's */
    bool          started;
    http_route   *route;
    curl_socket_t opened;   /* for it; CURL_SOCKET_BAD: it has one that was there */
    uint32_t      unheard;  /* so often libcurl went on since something was heard */
    uint64_t      received; /* over its connection, before the first of these that are counted */
    struct http_transfer *next;
} http_transfer;

typedef struct http_route_config {
    struct uv_loop_s *uv;
    uint32_t connections_max; /* kept open: as many as there may be runs, or none is used twice */
    bool     allow_private;
    bool     http2;     /* a connection may be that of many transfers */
    bool     is_scoped; /* the URL names a scope of IPv6 itself */
    void    *context;

    /* Once for each easy handle; false: no memory. */
    bool (*prepare)(void *context, http_transfer *t);

    /* The transfer is stopped already. Called from callbacks of the loop; may give that transfer back and start one, but stop
     * or close nothing else. */
    void (*done)(void *context, http_transfer *t, CURLcode code);
} http_route_config;

DN_MUST_USE int http_route_open(const http_route_config *config, http_route **out_route);
void http_route_close(http_route *r); /* accepts NULL. All its transfers have been given back */

http_transfer *http_transfer_take(http_route *r); /* NULL: no memory */
void           http_transfer_give(http_transfer *t);

DN_MUST_USE int http_transfer_start(http_transfer *t); /* DN_OK or DN_ENOMEM */
void http_transfer_stop(http_transfer *t); /* closes its connection; done is not called */

/* So much of what came has reached the caller. In callbacks of libcurl: the rest is what libcurl reads and tells nobody of, and
 * of that there may be 4 MiB for a transfer and a little more. */
void http_transfer_heard(http_transfer *t, size_t len);

#endif
