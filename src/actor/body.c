/* body.c - see body.h. */
#include "body.h"

#include "loop.h"
#include "mem.h"

#include <string.h>

/* Bodies of up to so many bytes are all as big as this. At most so many are kept; what comes
 * beyond that goes to the system. */
enum { KEPT_BYTES = 512, KEPT_MAX = 1024 };

static void *kept_take(void) {
    dn_loop    *l = this_loop;
    slab_block *first = l ? l->bodies : NULL;

    if (!first) return NULL;
    l->bodies = first->next;
    l->bodies_len--;
    return first;
}

void *body_new(size_t size) {
    if (size > KEPT_BYTES) return mem_alloc_unzeroed(size);
    void *kept = kept_take();
    return kept ? kept : mem_alloc_unzeroed(KEPT_BYTES);
}

void *body_new_zeroed(size_t size) {
    if (size > KEPT_BYTES) return mem_alloc(size);
    void *kept = kept_take();
    return kept ? memset(kept, 0, size) : mem_alloc(KEPT_BYTES);
}

void body_free(void *body, size_t size) {
    dn_loop *l = this_loop;

    /* With an address sanitizer none is kept, or it would not see who uses one that is gone. */
    if (SLAB_GUARDS || size > KEPT_BYTES || !l || l->bodies_len == KEPT_MAX) {
        mem_free(body);
        return;
    }
    slab_block *block = body;
    block->next = l->bodies;
    l->bodies = block;
    l->bodies_len++;
}

void body_release(void *body) { mem_free(body); }

void bodies_done(dn_loop *l) {
    slab_block *next;

    for (slab_block *b = l->bodies; b; b = next) {
        next = b->next;
        mem_free(b);
    }
    l->bodies = NULL;
    l->bodies_len = 0;
}
