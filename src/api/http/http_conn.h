/* http_conn.h - one connection of HTTP: a head in, an answer out, one after the other.
 * Plain data and a descriptor; web.c decides what to do. What comes behind a request waits in the buffer until that one
 * is answered, and no more is read than the buffer holds: so nobody makes the daemon remember much. */
#ifndef DIURNAL_API_HTTP_CONN_H
#define DIURNAL_API_HTTP_CONN_H

#include "fd_watch.h"
#include "http_body.h"
#include "http_tls.h"

typedef enum http_conn_state {
    HTTP_CONN_FREE,
    HTTP_CONN_IDLE,      /* nothing of the next request has come */
    HTTP_CONN_READING,   /* a part of its head has */
    HTTP_CONN_BODY,      /* its head has, and its body is wanted */
    HTTP_CONN_ASKING,    /* its answer is being found; nothing is read meanwhile */
    HTTP_CONN_STREAMING, /* events go out as they come, until the other side ends it */
    HTTP_CONN_WRITING,   /* the answer goes out; nothing is read meanwhile */
    HTTP_CONN_LINGERING, /* all is said; what still comes is dropped, or it would cut off the answer */
} http_conn_state;

typedef struct http_conn {
    http_conn_state state;
    uint32_t        use; /* counts up: tells this connection from others in the same slot */
    fd_watch       *watch;
    tls_conn       *tls;      /* NULL: nothing is encrypted */
    int64_t         since_ns; /* it is in that state; while writing, when it last got on */
    bool            ends;     /* after the answer */
    char           *in;
    size_t          in_len, in_cap, looked_at, head_len;
    char           *out;
    size_t          out_len, out_at;
    http_head       head; /* of the request under way: borrowed from `in` */
    http_body       framing;
    char           *body; /* what has come of it and was not taken away */
    size_t          body_len, body_cap, body_max;
} http_conn;

void http_conn_close(http_conn *c);

/* Has it said when it can go on. */
void http_conn_wait(http_conn *c, bool to_read, bool to_write);

typedef enum http_got {
    HTTP_GOT_HEAD,
    HTTP_GOT_BODY, /* to its end */
    HTTP_GOT_FULL, /* of the body as much as there is room for: more may come */
    HTTP_GOT_PART,
    HTTP_GOT_END,
    HTTP_GOT_FAULT, /* *out_fault says what to answer, and then it ends */
} http_got;

/* Looks at what stands in the buffer, then reads, at most a head's worth: PART may be said while there is more. */
http_got http_conn_read(http_conn *c, http_fault *out_fault);
/* After a head whose body is wanted: at most max bytes of it are kept at once. False: the other side is gone. */
bool http_conn_begin_body(http_conn *c, size_t max);
/* BODY, FULL, or as http_conn_read. At most a head's worth is read. */
http_got http_conn_read_body(http_conn *c, http_fault *out_fault);
/* Does what has been read of a request begin as HEAD? Also of one that is none, or not yet whole. */
bool http_conn_wants_head(const http_conn *c);
/* The request under way is answered: what comes behind it moves up. */
void http_conn_next(http_conn *c);

/* Puts an answer to be written; takes bytes (of malloc). */
void http_conn_put(http_conn *c, char *bytes, size_t len);

typedef enum http_wrote { HTTP_WROTE_ALL, HTTP_WROTE_PART, HTTP_WROTE_GONE } http_wrote;
http_wrote http_conn_write(http_conn *c);

/* Says that nothing more comes. Then whatever is sent is read and dropped, until the other side ends it too. */
void http_conn_linger(http_conn *c);
bool http_conn_drain(http_conn *c); /* false: it has ended */

#endif
