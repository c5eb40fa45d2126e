/* recycle.c - see diurnal/recycle.h. A stack without a lock: anybody pushes, and who takes takes all of it at once, so that
 * nobody ever pops what somebody else has popped and pushed meanwhile. */
#include "diurnal/recycle.h"

#include "mem.h"

#include <stdatomic.h>

/* In front of a block; as long as what malloc aligns to. */
typedef union head {
    union head *next; /* it is here */
    dn_recycle *of;   /* it is taken */
    _Alignas(16) unsigned char room[16];
} head;

struct dn_recycle {
    size_t   bytes;
    uint32_t most;
    head    *kept; /* the taker's alone */
    char     apart[64];
    /* Any thread. */
    _Atomic(head *)   given;
    _Atomic(uint32_t) len; /* of both */
};

int dn_recycle_new(size_t bytes, uint32_t most, dn_recycle **out_recycle) {
    dn_recycle *r = mem_alloc(sizeof *r);

    if (!r) return DN_ENOMEM;
    r->bytes = bytes;
    r->most = most;
    *out_recycle = r;
    return DN_OK;
}

static void free_all(head *first) {
    while (first) {
        head *const next = first->next;
        mem_free(first);
        first = next;
    }
}

/* acquire: pairs with dn_recycle_give. */
static head *take_given(dn_recycle *r) {
    return atomic_exchange_explicit(&r->given, NULL, memory_order_acquire);
}

void dn_recycle_free(dn_recycle *recycle) {
    if (!recycle) return;
    free_all(take_given(recycle));
    free_all(recycle->kept);
    mem_free(recycle);
}

void *dn_recycle_take(dn_recycle *recycle) {
    if (!recycle->kept) recycle->kept = take_given(recycle);
    head *h = recycle->kept;
    if (h) {
        recycle->kept = h->next;
        atomic_fetch_sub_explicit(&recycle->len, 1, memory_order_relaxed);
    } else {
        h = mem_alloc_unzeroed(sizeof *h + recycle->bytes);
    }
    if (!h) return NULL;
    h->of = recycle;
    return h + 1;
}

void dn_recycle_give(void *block) {
    head             *h = (head *)block - 1;
    dn_recycle *const r = h->of;
    head             *first = atomic_load_explicit(&r->given, memory_order_relaxed);

    /* relaxed: it only bounds how many there are. */
    if (atomic_fetch_add_explicit(&r->len, 1, memory_order_relaxed) >= r->most) {
        atomic_fetch_sub_explicit(&r->len, 1, memory_order_relaxed);
        mem_free(h);
        return;
    }
    /* release: what was done with it is done before it is taken again; pairs with take_given. */
    do h->next = first;
    while (!atomic_compare_exchange_weak_explicit(&r->given, &first, h, memory_order_release,
                                                  memory_order_relaxed));
}
