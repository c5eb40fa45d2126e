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

static uint32_t hash(const char *text) {
    uint32_t h = 2166136261U; /* FNV-1a: names are the program's own, nobody floods this table */

    for (; *text; text++) h = (h ^ (unsigned char)*text) * 16777619U;
    return h;
}

static int make(names *n, const char *text, uint32_t *bucket, uint32_t *out_number) {
    const uint32_t len = atomic_load_explicit(&n->len, memory_order_relaxed);

    if (len == NAMES_MAX) return DN_ENOMEM;
    if ((len + 1) * sizeof(name_slot) > n->committed) {
        if (!mem_commit((char *)n->table + n->committed, COMMIT_PIECE)) return DN_ENOMEM;
        n->committed += COMMIT_PIECE;
    }
    name_slot *made = &n->table[len];
    memcpy(made->text, text, strlen(text) + 1); /* names_intern has looked at its length */
    made->next = *bucket;
    *out_number = len;
    *bucket = len + 1;
    /* Pairs with the load in names_at: whoever sees the number sees the name. */
    atomic_store_explicit(&n->len, len + 1, memory_order_release);
    return DN_OK;
}

int names_intern(names *n, const char *text, uint32_t *out_number) {
    const size_t len = text ? strnlen(text, DN_NAME_MAX + 1) : 0;
    int          rc = DN_OK;

    if (len == 0 || len > DN_NAME_MAX) return DN_EINVAL;
    uint32_t *bucket = &n->buckets[hash(text) % NAME_BUCKETS];

    lock_take(&n->lock);
    uint32_t at = *bucket;
    while (at > 0 && strcmp(n->table[at - 1].text, text) != 0) at = n->table[at - 1].next;
    if (at > 0) *out_number = at - 1;
    else rc = make(n, text, bucket, out_number);
    lock_give(&n->lock);
    return rc;
}

name_slot *names_at(names *n, uint32_t number) {
    /* Pairs with the store in make. */
    return number < atomic_load_explicit(&n->len, memory_order_acquire) ? &n->table[number] : NULL;
}
