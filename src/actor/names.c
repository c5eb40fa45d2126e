/* names.c - the table of names: a hash over a reserved array that never moves. */
#include "names.h"

#include "mem.h"

#include <string.h>

enum { COMMIT_PIECE = 16 << 10 };

int names_init(names *n) {
    memset(n, 0, sizeof *n);
    n->table = mem_reserve(NAMES_MAX * sizeof(name_slot));
    if (!n->table) return DN_ENOMEM;
    lock_init(&n->lock);
    return DN_OK;
}

void names_done(names *n) {
    if (!n->table) return;
    mem_unreserve(n->table, NAMES_MAX * sizeof(name_slot));
    lock_done(&n->lock);
    n->table = NULL;
}

/* Eight bytes at a time. Of a product only the high bits depend on all of what went in, so those are what is used; names
 * that differ in their last digits alone are what a program has most of. Nobody floods this table: they are its own. */
static uint32_t bucket_of(const char *text, size_t len) {
    uint64_t h = len;

    for (; len > 0; text += 8) {
        const size_t piece = len < 8 ? len : 8;
        uint64_t     word = 0;
        memcpy(&word, text, piece);
        h = (h ^ h >> 32 ^ word) * 0x9e3779b97f4a7c15U;
        len -= piece;
    }
    return (uint32_t)(h >> (64 - NAME_BUCKET_BITS));
}

/* Number + 1; 0: it is not there. A name stands still once it is in a bucket. */
static uint32_t find(names *n, const char *text, const _Atomic(uint32_t) *bucket) {
    /* Pairs with the stores in make. */
    uint32_t at = atomic_load_explicit(bucket, memory_order_acquire);

    while (at > 0 && strcmp(n->table[at - 1].text, text) != 0) at = n->table[at - 1].next;
    return at;
}

/* *out_at: its number + 1. */
static int make(names *n, const char *text, _Atomic(uint32_t) *bucket, uint32_t *out_at) {
    const uint32_t len = atomic_load_explicit(&n->len, memory_order_relaxed);

    if (len == NAMES_MAX) return DN_ENOMEM;
    if ((len + 1) * sizeof(name_slot) > n->committed) {
        if (!mem_commit((char *)n->table + n->committed, COMMIT_PIECE)) return DN_ENOMEM;
        n->committed += COMMIT_PIECE;
    }
    name_slot *made = &n->table[len];
    memcpy(made->text, text, strlen(text) + 1); /* names_intern has looked at its length */
    made->next = atomic_load_explicit(bucket, memory_order_relaxed);
    *out_at = len + 1;
    /* Pair with the loads in names_at and find: whoever sees the number sees the name. */
    atomic_store_explicit(&n->len, len + 1, memory_order_release);
    atomic_store_explicit(bucket, len + 1, memory_order_release);
    return DN_OK;
}

int names_intern(names *n, const char *text, uint32_t *out_number) {
    const size_t len = text ? strnlen(text, DN_NAME_MAX + 1) : 0;
    int          rc = DN_OK;

    if (len == 0 || len > DN_NAME_MAX) return DN_EINVAL;
    _Atomic(uint32_t) *bucket = &n->buckets[bucket_of(text, len)];
    uint32_t           at = find(n, text, bucket);
    if (at == 0) {
        lock_take(&n->lock);
        at = find(n, text, bucket);
        if (at == 0) rc = make(n, text, bucket, &at);
        lock_give(&n->lock);
    }
    if (rc == DN_OK) *out_number = at - 1;
    return rc;
}

name_slot *names_at(names *n, uint32_t number) {
    /* Pairs with the store in make. */
    return number < atomic_load_explicit(&n->len, memory_order_acquire) ? &n->table[number] : NULL;
}
