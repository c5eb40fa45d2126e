/* wire.h - HTTP to one daemon through libcurl: one request at a time, on a connection that is reused.
 * Bodies may have any length, and every wait has an end. No proxy is used and no redirect followed, so that the token only
 * reaches the named server. */
#ifndef DIURNAL_CLI_WIRE_H
#define DIURNAL_CLI_WIRE_H

#include "diurnal/base.h"

#include <sys/types.h>

typedef struct wire wire;

enum { WIRE_WHY = 1024 };

/* Borrowed for the life of the wire. */
typedef struct wire_config {
    const char *url;   /* "https://host:port/before", without an end */
    const char *token; /* NULL: no token is sent */
    const char *ca;    /* a file of certificates (PEM) that are trusted; NULL: the system's */
    const char *pin; /* "sha256//…": the server must have this key; NULL: a trusted certificate */
} wire_config;

/* The body of a request. */
typedef struct wire_body {
    const char *type;
    const char *bytes; /* NULL: read provides them */
    size_t      len;
    /* Reads more bytes; 0: the end; -1: an error. */
    ssize_t (*read)(void *context, char *bytes, size_t max);
    void *context;
} wire_body;

/* The answer, valid until the next request. */
typedef struct wire_answer {
    int         status;
    const char *bytes; /* followed by a NUL */
    size_t      len;
} wire_answer;

DN_MUST_USE int    wire_new(const wire_config *config, wire **out_wire);
void               wire_free(wire *w); /* accepts NULL */
static inline void wire_freep(wire **w) { wire_free(*w); }

typedef enum wire_patience {
    WIRE_AS_USUAL, /* gives up after 90 s without a byte */
    WIRE_FOR_EVER, /* no limit */
} wire_patience;

/* Sends a request and waits for the answer. path begins with /; body: NULL: none. DN_EDEAD: no server listens there.
 * DN_ESHUTDOWN: the descriptor of wire_waits_until became readable. DN_EFAILED: read returned -1. DN_EIO: any other error. why
 * (WIRE_WHY bytes) has the error and the remedy. */
DN_MUST_USE int wire_ask(wire *w, const char *method, const char *path, const wire_body *body,
                         wire_patience patience, wire_answer *out, char *why);

/* From now on a request is given up as soon as fd (the caller's) is readable; -1: never. */
void wire_waits_until(wire *w, int fd);

/* NULL if url is valid for a daemon, else the fault, a static text. */
const char *wire_url_fault(const char *url);

/* True if both have the same scheme, host and port. Compares texts; no name is looked up. */
bool wire_url_same(const char *a, const char *b);

#endif
