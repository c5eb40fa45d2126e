/* endpoint.h - somebody's server, to which the jobs are posted: it counts what it sees, and answers as it is told.
 * A process of its own; what it knows lies in memory it shares with the test. */
#ifndef DIURNAL_TESTS_E2E_ENDPOINT_H
#define DIURNAL_TESTS_E2E_ENDPOINT_H

#include "test.h"

#include <stdatomic.h>

enum { ENDPOINT_USERS = 8192, ENDPOINT_ID = 40 };

/* A user, by the id in its Idempotency-Key. */
typedef struct endpoint_user {
    char        id[ENDPOINT_ID];
    atomic_uint requests, ok;
    atomic_uint closed;       /* the test has seen it finalized … */
    atomic_uint after_closed; /* … and requests came all the same */
} endpoint_user;

typedef struct endpoint {
    int           port;
    atomic_uint   delay_ms_max;  /* answers take up to so long */
    atomic_uint   fail_permille; /* so many are 500. An id that begins with never- always */
    atomic_uint   held;          /* while it is 1, nobody is answered */
    atomic_uint   requests, running, running_peak;
    atomic_uint   idle; /* counts up whenever there was nothing to read */
    atomic_uint   len;
    endpoint_user users[ENDPOINT_USERS];
} endpoint;

endpoint      *endpoint_new(void);
endpoint_user *endpoint_find(endpoint *e, const char *id); /* NULL: never seen */

/* What somebody sent before is read now. */
void endpoint_settle(const endpoint *e);

/* "--runner=http://127.0.0.1:PORT/daily", valid for good. */
const char *endpoint_flag(const endpoint *e);

#endif
