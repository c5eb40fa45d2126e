/* memory_ids.c - finds a user's number by its id; see memory_ids.h. */
#include "memory/memory_ids.h"

#include "base/hash.h"

#include <assert.h>
#include <stdlib.h>

enum { FIRST_SLOTS = 1024 };

/* A fixed key, because a simulation must run the same each time and gets no ids from strangers. */
uint32_t ids_hash(const char *id, size_t len) {
    const dn_hash_key key = {UINT64_C(0xcbf29ce484222325), UINT64_C(0xd6e8feb86659fd93)};

    return (uint32_t)(dn_hash_quick(key, id, len) >> 32);
}

void ids_done(ids *t) {
    free(t->slots);
    *t = (ids){0};
}

static void ids_put(ids *t, uint32_t hash, uint32_t n) {
    size_t at = hash & t->mask;

    while (t->slots[at].n) at = (at + 1) & t->mask;
    t->slots[at] = (ids_slot){hash, n};
}

/* At most two thirds of the slots are taken. */
int ids_reserve(ids *t, size_t more) {
    const ids before = *t;
    size_t    slots = t->slots ? t->mask + 1 : FIRST_SLOTS;

    while (slots - slots / 3 <= t->len + more) slots *= 2;
    if (t->slots && slots == t->mask + 1) return DN_OK;
    t->slots = calloc(slots, sizeof *t->slots);
    if (!t->slots) {
        *t = before;
        return DN_ENOMEM;
    }
    t->mask = slots - 1;
    for (size_t i = 0; before.slots && i <= before.mask; i++)
        if (before.slots[i].n) ids_put(t, before.slots[i].hash, before.slots[i].n);
    free(before.slots);
    return DN_OK;
}

uint32_t ids_find(const ids *t, const char *id, size_t len, ids_is *is, const void *context) {
    const uint32_t hash = ids_hash(id, len);

    if (!t->slots) return 0;
    for (size_t at = hash & t->mask; t->slots[at].n; at = (at + 1) & t->mask)
        if (t->slots[at].hash == hash && is(context, t->slots[at].n, id, len))
            return t->slots[at].n;
    return 0;
}

void ids_fetch(const ids *t, const char *id, size_t len) {
    if (t->slots) __builtin_prefetch(&t->slots[ids_hash(id, len) & t->mask], /* for writing */ 1);
}

void ids_add(ids *t, const char *id, size_t len, uint32_t n) {
    assert(n && t->slots && t->len < t->mask);
    ids_put(t, ids_hash(id, len), n);
    t->len++;
}

/* Entries after the gap that belong into it, or before it, move up, so no slot needs a tombstone. */
void ids_remove(ids *t, const char *id, size_t len, uint32_t n) {
    size_t gap = ids_hash(id, len) & t->mask, at;

    while (t->slots[gap].n != n) {
        assert(t->slots[gap].n);
        gap = (gap + 1) & t->mask;
    }
    for (at = (gap + 1) & t->mask; t->slots[at].n; at = (at + 1) & t->mask) {
        const size_t wanted = t->slots[at].hash & t->mask;
        if (((at - wanted) & t->mask) < ((at - gap) & t->mask)) continue;
        t->slots[gap] = t->slots[at];
        gap = at;
    }
    t->slots[gap] = (ids_slot){0};
    t->len--;
}
