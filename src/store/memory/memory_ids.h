/* memory_ids.h - finds a user's number by its id: open addressing, linear probing, 8 bytes a slot.
 * A slot holds half of the hash, so that hardly any other id is ever looked at. The hash has no seed: a run of the
 * simulation must be the same every time, and nobody sends it ids that were made to collide. */
#ifndef DIURNAL_STORE_MEMORY_MEMORY_IDS_H
#define DIURNAL_STORE_MEMORY_MEMORY_IDS_H

#include "diurnal/base.h"

typedef struct ids_slot {
    uint32_t hash, n; /* n 0: free */
} ids_slot;

typedef struct ids {
    ids_slot *slots;
    size_t    mask; /* slots - 1, a power of two less one */
    size_t    len;
} ids;

/* Does the user of that number have this id? */
typedef bool ids_is(const void *context, uint32_t n, const char *id, size_t len);

uint32_t ids_hash(const char *id, size_t len);

void            ids_done(ids *t);
DN_MUST_USE int ids_reserve(ids *t, size_t more);

/* 0: there is none. */
uint32_t ids_find(const ids *t, const char *id, size_t len, ids_is *is, const void *context);
/* Has the memory brought near in which an id would be found. */
void ids_fetch(const ids *t, const char *id, size_t len);
/* An id that is not there yet; room must have been reserved. */
void ids_add(ids *t, const char *id, size_t len, uint32_t n);
/* One that is there. */
void ids_remove(ids *t, const char *id, size_t len, uint32_t n);

#endif
