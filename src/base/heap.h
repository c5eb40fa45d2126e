/* heap.h - a binary heap: which entry comes first, by time and then by rank.
 * An entry is the address of a number in its owner, in which the heap keeps where the entry stands: so any entry can be
 * dropped, and nothing is searched. Zeroed it is an empty heap. */
#ifndef DIURNAL_BASE_HEAP_H
#define DIURNAL_BASE_HEAP_H

#include "diurnal/base.h"

typedef struct dn_heap_key {
    int64_t  at_ms;
    uint64_t rank; /* of entries of one time the lesser comes first */
} dn_heap_key;

typedef struct dn_heap_entry {
    dn_heap_key key;
    uint32_t   *place;
} dn_heap_entry;

typedef struct dn_heap {
    dn_heap_entry *entries;
    size_t         len, cap;
} dn_heap;

static inline bool dn_heap_key_less(dn_heap_key a, dn_heap_key b) {
    return a.at_ms != b.at_ms ? a.at_ms < b.at_ms : a.rank < b.rank;
}

void dn_heap_done(dn_heap *heap);

/* Room for so many in all. DN_ENOMEM: the heap is unchanged. */
DN_MUST_USE int dn_heap_reserve(dn_heap *heap, size_t wanted);
/* There is room. The place is the heap's until the entry is dropped, and does not move. */
void                 dn_heap_put(dn_heap *heap, uint32_t *place, dn_heap_key key);
const dn_heap_entry *dn_heap_first(const dn_heap *heap);           /* NULL: it is empty */
dn_heap_key          dn_heap_drop(dn_heap *heap, uint32_t *place); /* of one that is there */

/* The whole walk: no entry comes before its parent, and each knows its place. */
bool dn_heap_is_sound(const dn_heap *heap);

#endif
