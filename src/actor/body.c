/* body.c - see body.h. */
#include "body.h"

#include "loop.h"
#include "mem.h"

#include <string.h>

/* Bodies of up to so many bytes are all as big as that. At most so many of a size are kept; what comes beyond that, or is
 * larger than all of them, is the system's. */
static const struct {
    uint32_t bytes, max;
} kept[BODY_SIZES] = {{512, 1024}, {1024, 64}, {2048, 64}, {4096, 64}};

static inline int size_of(size_t size) {
    int of = 0;

    while (of < BODY_SIZES && size > kept[of].bytes) of++;
    return of;
}

static inline void *kept_take(int of) {
    dn_loop    *l = this_loop;
    slab_block *first = l ? l->bodies[of].first : NULL;

    if (!first) return NULL;
    l->bodies[of].first = first->next;
    l->bodies[of].len--;
    return first;
}

void *body_new(size_t size) {
    const int of = size_of(size);

    if (of == BODY_SIZES) return mem_alloc_unzeroed(size);
    void *body = kept_take(of);
    return body ? body : mem_alloc_unzeroed(kept[of].bytes);
}

void *body_new_zeroed(size_t size) {
    const int of = size_of(size);

    if (of == BODY_SIZES) return mem_alloc(size);
    void *body = kept_take(of);
    return body ? memset(body, 0, size) : mem_alloc(kept[of].bytes);
}

void body_free(void *body, size_t size) {
    dn_loop  *l = this_loop;
    const int of = size_of(size);

    /* With an address sanitizer none is kept, or it would not see who uses one that is gone. */
    if (SLAB_GUARDS || of == BODY_SIZES || !l || l->bodies[of].len == kept[of].max) {
        mem_free(body);
        return;
    }
    slab_block *block = body;
    block->next = l->bodies[of].first;
    l->bodies[of].first = block;
    l->bodies[of].len++;
}

void body_release(void *body) { mem_free(body); }

void bodies_done(dn_loop *l) {
    slab_block *next;

    for (int of = 0; of < BODY_SIZES; of++) {
        for (slab_block *b = l->bodies[of].first; b; b = next) {
            next = b->next;
            mem_free(b);
        }
        l->bodies[of].first = NULL;
        l->bodies[of].len = 0;
    }
}
