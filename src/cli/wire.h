/* wire.h - HTTP to one daemon, by libcurl: a request at a time, on a connection that is kept for the next.
 * What comes and goes may be of any length, and nobody is waited for for ever. No proxy is used and no redirect followed:
 * the token is for who was named, and for nobody else. */
#ifndef DIURNAL_CLI_WIRE_H
#define DIURNAL_CLI_WIRE_H

#include "diurnal/base.h"

#include <sys/types.h>

typedef struct wire wire;

enum { WIRE_WHY = 1024 };

/* Borrowed for the life of the wire. */
typedef struct wire_config {
    const char *url;   /* "https://host:port/before", without an end */
    const char *token; /* NULL: none is shown */
    const char *ca;    /* a file of certificates (PEM) that are trusted; NULL: the system's */
    const char *
        pin; /* "sha256//…": by that key it is known, and by nothing else; NULL: by its certificate */
} wire_config;

/* What is sent with a request. */
typedef struct wire_body {
    const char *type;
    const char *bytes; /* NULL: read gives them */
    size_t      len;
    /* Some more of them; 0: that was all; -1: there are no more to be had. */
    ssize_t (*read)(void *context, char *bytes, size_t max);
    void *context;
} wire_body;

/* What came back; valid until the next one is asked for. */
typedef struct wire_answer {
    int         status;
    const char *bytes; /* a NUL is behind them */
    size_t      len;
} wire_answer;

DN_MUST_USE int    wire_new(const wire_config *config, wire **out_wire);
void               wire_free(wire *w); /* accepts NULL */
static inline void wire_freep(wire **w) { wire_free(*w); }

typedef enum wire_patience {
    WIRE_AS_USUAL, /* a minute and a half in which nothing moves is too long */
    WIRE_FOR_EVER, /* for what takes as long as it takes */
} wire_patience;

/* Asks, and waits. path begins with /; body: NULL: none. DN_EDEAD: nobody listens there. DN_ESHUTDOWN: what it was not to
 * outlive has come. DN_EFAILED: read said -1. DN_EIO: anything else. In each case why (WIRE_WHY bytes) says what is wrong, and what would be
 * right. */
DN_MUST_USE int wire_ask(wire *w, const char *method, const char *path, const wire_body *body,
                         wire_patience patience, wire_answer *out, char *why);

/* From now on nobody waits longer than until fd (the caller's) can be read; -1: no such end. */
void wire_waits_until(wire *w, int fd);

/* Is that a URL to ask a daemon at? NULL, or what is wrong with it, borrowed for ever. */
const char *wire_url_fault(const char *url);

/* Do both lead to the same scheme, host and port? By the letter: no name is looked up. */
bool wire_url_same(const char *a, const char *b);

#endif
