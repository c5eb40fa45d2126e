/* names.h - words for actors, that stay when an actor is replaced.
 * A name once made lives as long as the runtime: addresses hold its number. Who holds it is one atomic
 * word, so sending to a name from any thread costs one load. Any thread, all of it. */
#ifndef DIURNAL_ACTOR_NAMES_H
#define DIURNAL_ACTOR_NAMES_H

#include "diurnal/actor.h"
#include "lock.h"

#include <stdatomic.h>

enum { NAMES_MAX = 1 << 16, NAME_BUCKET_BITS = 12, NAME_BUCKETS = 1 << NAME_BUCKET_BITS };

typedef struct name_slot {
    _Atomic(uint64_t) holder; /* the bits of a dn_ref */
    _Atomic(uint32_t) starts;
    uint32_t          next; /* in its bucket, + 1 */
    char              text[DN_NAME_MAX + 1];
} name_slot;

typedef struct names {
    lock              lock;  /* to make a name; to find one none is needed */
    name_slot        *table; /* reserved; never moves */
    size_t            committed;
    _Atomic(uint32_t) len;                   /* these are written under the lock, read without */
    _Atomic(uint32_t) buckets[NAME_BUCKETS]; /* number + 1 */
} names;

DN_MUST_USE int names_init(names *n);
void            names_done(names *n);

/* The name's number, made now if it is new. DN_EINVAL: empty or too long. DN_ENOMEM. */
DN_MUST_USE int names_intern(names *n, const char *text, uint32_t *out_number);
name_slot      *names_at(names *n, uint32_t number); /* NULL: never made */

#endif
