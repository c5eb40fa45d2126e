/* accept_failures.h - nobody can be let in, most likely for want of descriptors: says so once, again at most once a minute while
 * it lasts, and once when it is over.
 * Each try alone would be a line every half second, all night. Plain data of the actor that accepts. */
#ifndef DIURNAL_API_ACCEPT_FAILURES_H
#define DIURNAL_API_ACCEPT_FAILURES_H

#include "diurnal/base.h"

/* Zeroed there is none. */
typedef struct lockout {
    bool     lasts;
    int64_t  since_ns, said_ns, failed_ns; /* failed_ns: the last try */
    uint64_t tries;
} lockout;

/* Somebody wants in, and accept fails with this errno. now_ns: monotonic. */
void lockout_goes_on(lockout *l, int code, int64_t now_ns);

/* Now and then, at least every 5 s, as it is tried: with no try that failed for 10 s it is over. */
void lockout_look(lockout *l, int64_t now_ns);

#endif
