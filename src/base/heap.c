/* heap.c - see heap.h. */
#include "heap.h"

#include "array.h"
#include "pages.h"

#include <assert.h>

static bool has(const dn_heap *h, const uint32_t *place) {
    return *place < h->len && h->entries[*place].place == place;
}

/* Of an entry and its neighbours: what a change may have made wrong. */
static bool is_right_at(const dn_heap *h, size_t at) {
    if (*h->entries[at].place != at) return false;
    return at == 0 || !dn_heap_key_less(h->entries[at].key, h->entries[(at - 1) / 2].key);
}

bool dn_heap_is_sound(const dn_heap *h) {
    for (size_t at = 0; at < h->len; at++)
        if (!is_right_at(h, at)) return false;
    return h->len <= h->cap;
}

void dn_heap_done(dn_heap *h) {
    dn_pages_free(h->entries, h->cap * sizeof *h->entries);
    *h = (dn_heap){0};
}

int dn_heap_reserve(dn_heap *h, size_t wanted) {
    if (wanted > UINT32_MAX) return DN_ENOMEM; /* places are 32 bits */
    return DN_ARRAY_RESERVE_PAGES(h->entries, h->cap, wanted);
}

static void write_entry(dn_heap *h, size_t at, dn_heap_entry e) {
    h->entries[at] = e;
    *e.place = (uint32_t)at;
}

static void move_up(dn_heap *h, size_t at, dn_heap_entry e) {
    for (; at > 0 && dn_heap_key_less(e.key, h->entries[(at - 1) / 2].key); at = (at - 1) / 2)
        write_entry(h, at, h->entries[(at - 1) / 2]);
    write_entry(h, at, e);
}

static void move_down(dn_heap *h, size_t at, dn_heap_entry e) {
    for (;;) {
        size_t child = at * 2 + 1;
        if (child + 1 < h->len &&
            dn_heap_key_less(h->entries[child + 1].key, h->entries[child].key))
            child++;
        if (child >= h->len || !dn_heap_key_less(h->entries[child].key, e.key)) break;
        write_entry(h, at, h->entries[child]);
        at = child;
    }
    write_entry(h, at, e);
}

void dn_heap_put(dn_heap *h, uint32_t *place, dn_heap_key key) {
    assert(h->len < h->cap);
    move_up(h, h->len++, (dn_heap_entry){key, place});
    assert(has(h, place) && is_right_at(h, *place));
}

const dn_heap_entry *dn_heap_first(const dn_heap *h) { return h->len > 0 ? h->entries : NULL; }

dn_heap_key dn_heap_drop(dn_heap *h, uint32_t *place) {
    assert(has(h, place));
    const size_t        at = *place;
    const dn_heap_key   key = h->entries[at].key;
    const dn_heap_entry last = h->entries[--h->len];

    if (at == h->len) return key;
    if (dn_heap_key_less(last.key, key)) move_up(h, at, last);
    else move_down(h, at, last);
    assert(has(h, last.place) && is_right_at(h, *last.place));
    return key;
}
