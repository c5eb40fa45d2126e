/* eviction.h - which connection is closed when all places are taken.
 * The choice is the connection that has been silent longest, among those of the address that has most connections. A
 * request whose token was checked is evicted only when there is no other. So no address can keep others out by
 * connecting a thousand times, and no rate limit has to be set: a proxy alone may have every place. Pure. */
#ifndef DIURNAL_API_EVICTION_H
#define DIURNAL_API_EVICTION_H

#include "diurnal/base.h"

#include <sys/socket.h>

enum { EVICTION_MAX = 1024 };

typedef struct eviction_candidate {
    uint64_t source;    /* of eviction_source */
    int64_t  since_ns;  /* silent since then */
    bool     evictable; /* false: its request is being served */
    bool     authenticated;
} eviction_candidate;

/* The key by which connections of one address are counted together. IPv6 counts by its /64 network, because a host has
 * all of its addresses. */
uint64_t eviction_source(const struct sockaddr_storage *address);

/* The index of one of at most EVICTION_MAX, or -1: all are being served. secret seeds the hash, so that no choice of
 * addresses makes the search slow. */
int32_t eviction_choose(const eviction_candidate *candidates, uint32_t len, uint64_t secret);

#endif
