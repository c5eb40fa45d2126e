/* eviction.h - who gives up a place when all are taken: whoever has been silent longest of those that have most, and nobody
 * who was let in and is sending while there are others.
 * So nobody keeps others out by coming a thousand times, and no number has to be set for how often one may come: who is
 * alone, or behind a proxy with all others, may have every place there is. Pure. */
#ifndef DIURNAL_API_EVICTION_H
#define DIURNAL_API_EVICTION_H

#include "diurnal/base.h"

#include <sys/socket.h>

enum { CROWD_MAX = 1024 };

typedef struct crowd_one {
    uint64_t from;     /* of crowd_from */
    int64_t  since_ns; /* it is silent */
    bool     may_go;   /* it is not being served */
    bool     is_known; /* somebody who may sends there: it goes when no other can */
} crowd_one;

/* What an address counts as. Of IPv6 the network: its addresses are free. */
uint64_t crowd_from(const struct sockaddr_storage *address);

/* Which of them, at most CROWD_MAX; -1: all are being served. secret: who does not know it cannot make this slow. */
int32_t crowd_choose(const crowd_one *ones, uint32_t len, uint64_t secret);

#endif
