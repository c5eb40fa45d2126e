/* http_client.h - many transfers of libcurl at once, on the libuv loop of an actor.
 * It knows connections and descriptors, and nothing of jobs. Everything is called on the loop's
 * thread; done is called from callbacks of the loop, and may give that transfer back and start one,
 * but stop or free nothing else. */
#ifndef DIURNAL_RUNNER_HTTP_CLIENT_H
#define DIURNAL_RUNNER_HTTP_CLIENT_H

#include "diurnal/base.h"

#include <curl/curl.h>

typedef struct http_loop http_loop;
struct uv_loop_s;

/* A transfer and its easy handle, used again and again: making one costs more than a request. */
typedef struct http_transfer {
    CURL *easy;
    void *owner; /* the user's, while it is taken */

    uint32_t           pin_number; /* which pin it has been told */
    struct curl_slist *pin;
    int                socket_errno; /* why it got no socket; 0: no such trouble */
    bool               forbidden;    /* an address it was to connect to is one of those */
    char               address[48];  /* which */
    bool               flooded;      /* it was ended for what came without end, and was not heard */
    char               error[CURL_ERROR_SIZE];

    /* http_loop's */
    bool          started;
    http_loop    *loop;
    curl_socket_t opened;   /* for it; CURL_SOCKET_BAD: it has one that was there */
    uint32_t      unheard;  /* so often libcurl went on since something was heard */
    uint64_t      received; /* over its connection, before the first of these that are counted */
    struct http_transfer *next;
} http_transfer;

typedef struct http_loop_config {
    struct uv_loop_s *uv;
    uint32_t connections_max; /* kept open: as many as there may be runs, or none is used twice */
    bool     allow_private;
    bool     http2; /* a connection may be that of many transfers */
    void    *context;
    bool (*prepare)(void          *context,
                    http_transfer *t); /* once for each easy handle; false: no memory */
    void (*done)(void *context, http_transfer *t, CURLcode code); /* it is stopped already */
} http_loop_config;

DN_MUST_USE int http_loop_new(const http_loop_config *config, http_loop **out_loop);
void            http_loop_free(http_loop *l); /* accepts NULL. All transfers have been given back */

http_transfer *http_loop_take(http_loop *l); /* NULL: no memory */
void           http_loop_give(http_loop *l, http_transfer *t);

DN_MUST_USE int http_loop_start(http_loop *l, http_transfer *t); /* DN_OK or DN_ENOMEM */
void http_loop_stop(http_loop *l, http_transfer *t); /* closes its connection; done is not called */

/* So much of what came has reached whom it is for. In callbacks of libcurl: the rest is what libcurl reads and tells nobody of,
 * and of that there may be 4 MiB for a transfer and a little more. */
void http_loop_heard(http_loop *l, http_transfer *t, size_t len);

/* At most so many connections to the host, the rest are streams in them. 0: no bound. */
void http_loop_set_connections(http_loop *l, long max);

#endif
