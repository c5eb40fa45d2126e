/* slab.h - many blocks of one size, addressed by number, never moved and never given back.
 * A block's address stays mapped for the life of the slab, so a stale number or pointer may be looked
 * at safely and told from a live one by what is in the block. Free blocks are handed out newest
 * first (they are in the cache). Belongs to one loop. */
#ifndef DIURNAL_ACTOR_SLAB_H
#define DIURNAL_ACTOR_SLAB_H

#include "diurnal/base.h"

typedef struct slab_block {
    struct slab_block
        *next; /* free blocks only; the rest of a block is its last owner's leavings */
} slab_block;

typedef struct slab {
    slab_block *free;
    char       *base;
    char       *fresh;     /* the first byte never handed out */
    char       *committed; /* the first byte that may not be touched */
    char       *end;
    uint32_t    size;
    bool        guarded; /* freed blocks may not be touched at all (seen by asan builds only) */
} slab;

/* size: a multiple of 8, and size * max less than 2^35. max blocks is what the slab may ever hold. */
DN_MUST_USE int slab_init(slab *s, uint32_t size, uint32_t max, bool guarded);
void            slab_done(slab *s); /* accepts one that was never initialised, if zeroed */

bool  slab_is_sound(const slab *s);
void *slab_take_slow(slab *s);
void  slab_guard(const slab *s, void *block);
void  slab_unguard(const slab *s, void *block);

#if defined(__SANITIZE_ADDRESS__)
#define SLAB_GUARDS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SLAB_GUARDS 1
#endif
#endif
#ifndef SLAB_GUARDS
#define SLAB_GUARDS 0
#endif

/* Contents undefined except on a block's first use, when it is zero. NULL: no memory, or max reached. */
static inline void *slab_take(slab *s) {
    slab_block *block = s->free;

    if (!block) return slab_take_slow(s);
    s->free = block->next;
    if (SLAB_GUARDS && s->guarded) slab_unguard(s, block);
    return block;
}

static inline void slab_give(slab *s, void *memory) {
    slab_block *block = memory;

    block->next = s->free;
    s->free = block;
    if (SLAB_GUARDS && s->guarded) slab_guard(s, block);
}

static inline void *slab_at(const slab *s, uint32_t index) {
    return s->base + (size_t)index * s->size;
}

static inline uint32_t slab_index(const slab *s, const void *block) {
    /* In units of 8 bytes, because a division of 32 bits takes a third of the time of one of 64. */
    return (uint32_t)((size_t)((const char *)block - s->base) / 8) / (s->size / 8);
}

/* Has that number ever been handed out? */
static inline bool slab_knows(const slab *s, uint32_t index) {
    return s->base + (size_t)index * s->size < s->fresh;
}

static inline size_t slab_memory(const slab *s) { return (size_t)(s->committed - s->base); }

#endif
