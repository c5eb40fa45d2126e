/* slab.c - growing a slab. It reserves address space once and commits it piece by piece, each piece as
 * big as all before: few system calls, no directory of chunks, and a block's number is arithmetic. */
#include "slab.h"

#include "mem.h"

#include <assert.h>
#include <string.h>
#if SLAB_GUARDS
#include <sanitizer/asan_interface.h>
#endif

enum { FIRST_PIECE = 16 << 10, LARGEST_PIECE = 32 << 20, PAGE = 4096 };

int slab_init(slab *s, uint32_t size, uint32_t max, bool guarded) {
    const size_t bytes = ((size_t)size * max + PAGE - 1) / PAGE * PAGE;

    assert(size >= sizeof(slab_block) && size % 8 == 0);
    assert(bytes < (size_t)UINT32_MAX * 8 && "slab_index divides by 32 bits");
    memset(s, 0, sizeof *s);
    s->base = mem_reserve(bytes);
    if (!s->base) return DN_ENOMEM;
    s->fresh = s->committed = s->base;
    s->end = s->base + bytes;
    s->size = size;
    s->guarded = guarded;
    assert(slab_is_sound(s));
    return DN_OK;
}

bool slab_is_sound(const slab *s) {
    if (!s->base || s->size < sizeof(slab_block) || s->size % 8 != 0) return false;
    if (s->fresh < s->base || s->fresh > s->committed || s->committed > s->end) return false;
    if ((size_t)(s->fresh - s->base) % s->size != 0) return false;
    const char *first = (const char *)s->free;
    return !first || (first >= s->base && first < s->fresh);
}

void slab_done(slab *s) {
    if (!s->base) return;
    assert(slab_is_sound(s));
#if SLAB_GUARDS
    ASAN_UNPOISON_MEMORY_REGION(s->base, (size_t)(s->committed - s->base));
#endif
    mem_unreserve(s->base, (size_t)(s->end - s->base));
    memset(s, 0, sizeof *s);
}

static bool slab_grow(slab *s) {
    size_t piece = (size_t)(s->committed - s->base);

    if (piece < FIRST_PIECE) piece = FIRST_PIECE;
    if (piece > LARGEST_PIECE) piece = LARGEST_PIECE;
    if (piece > (size_t)(s->end - s->committed)) piece = (size_t)(s->end - s->committed);
    if (piece == 0 || !mem_commit(s->committed, piece)) return false;
    s->committed += piece;
    return true;
}

void *slab_take_slow(slab *s) {
    assert(slab_is_sound(s));
    while ((size_t)(s->committed - s->fresh) < s->size) {
        if (!slab_grow(s)) return NULL;
    }
    void *block = s->fresh;
    s->fresh += s->size;
    assert(slab_is_sound(s));
    return block;
}

/* The link of a free block stays readable: the next take needs it. */
void slab_guard(const slab *s, void *block) {
#if SLAB_GUARDS
    ASAN_POISON_MEMORY_REGION((char *)block + sizeof(slab_block), s->size - sizeof(slab_block));
#else
    (void)s, (void)block;
#endif
}

void slab_unguard(const slab *s, void *block) {
#if SLAB_GUARDS
    ASAN_UNPOISON_MEMORY_REGION(block, s->size);
#else
    (void)s, (void)block;
#endif
}
