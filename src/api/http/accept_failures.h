/* accept_failures.h - logs that connections cannot be accepted, most likely for want of file descriptors: once when it
 * begins, at most once a minute while it lasts, and once when it is over. Without this each attempt would log a line,
 * every half second, all night. Plain data of the actor that accepts. */
#ifndef DIURNAL_API_ACCEPT_FAILURES_H
#define DIURNAL_API_ACCEPT_FAILURES_H

#include "diurnal/base.h"

/* Zeroed: no failure lasts. */
typedef struct accept_failures {
    bool     lasting;
    int64_t  since_ns, logged_ns, last_ns; /* first failure, last log line, last failure */
    uint64_t count;
} accept_failures;

/* accept failed with this errno. now_ns: monotonic. */
void accept_failures_add(accept_failures *f, int code, int64_t now_ns);

/* To be called at least every 5 s: 10 s without a failure end it. */
void accept_failures_check(accept_failures *f, int64_t now_ns);

#endif
