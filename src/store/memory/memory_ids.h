/* memory_ids.h - a hash index from a user's id to its number: open addressing, linear probing, 8 bytes a slot.
 * A slot holds half of the hash, so that lookups hardly ever compare a wrong id. The hash has no seed, because a simulation
 * must run the same each time and gets no ids from strangers. */
#ifndef DIURNAL_STORE_MEMORY_MEMORY_IDS_H
#define DIURNAL_STORE_MEMORY_MEMORY_IDS_H

#include "diurnal/base.h"

typedef struct ids_slot {
    uint32_t hash, n; /* n 0: free */
} ids_slot;

typedef struct ids {
    ids_slot *slots;
    size_t    mask; /* number of slots - 1; the number is a power of two */
    size_t    len;
} ids;

/* Whether the user with this number has this id. */
typedef bool ids_is(const void *context, uint32_t n, const char *id, size_t len);

uint32_t ids_hash(const char *id, size_t len);

void            ids_done(ids *t);
DN_MUST_USE int ids_reserve(ids *t, size_t more);

/* 0: there is none. */
uint32_t ids_find(const ids *t, const char *id, size_t len, ids_is *is, const void *context);
/* Prefetches the slot of an id. */
void ids_fetch(const ids *t, const char *id, size_t len);
/* Adds an id that is not in the index. Room must have been reserved. */
void ids_add(ids *t, const char *id, size_t len, uint32_t n);
/* Removes an id that is in the index. */
void ids_remove(ids *t, const char *id, size_t len, uint32_t n);

#endif
