/* queue_order.c - a sorted row and a heap, of which the one or the other has the first. */
#include "queue_order.h"

#include "base/array.h"
#include "base/pages.h"
#include "queue_records.h"

#include <assert.h>

void order_done(order *o) {
    dn_pages_free(o->row, o->row_cap * sizeof *o->row);
    dn_heap_done(&o->heap);
    *o = (order){0};
}

static queue_record *record_of(const uint32_t *place) {
    return (queue_record *)(void *)((char *)(uintptr_t)place - offsetof(queue_record, place));
}

static bool is_sound(const order *o) {
    return o->row_at <= o->row_len && o->row_len <= o->row_cap && o->heap.len <= o->len &&
           (o->row_len == 0 || (o->row_at < o->row_len && o->row[o->row_at].who));
}

/* ---- The row ---- */

static void row_drop(order *o, size_t at) {
    o->row[at].who = NULL;
    while (o->row_at < o->row_len && !o->row[o->row_at].who) o->row_at++;
    if (o->row_at == o->row_len) o->row_at = o->row_len = 0;
}

/* ---- Both ---- */

/* All of them may come to the heap: whose due is changed changes its place, and that cannot fail. A row that is full
 * while many have left its front takes nobody until all have: so it never is much longer than it has to be. */
int order_reserve(order *o) {
    const bool row_is_full = o->row_len == o->row_cap && o->row_at <= o->row_cap / 2;

    if (row_is_full && DN_ARRAY_RESERVE_PAGES(o->row, o->row_cap, o->row_len + 1) < 0)
        return DN_ENOMEM;
    return dn_heap_reserve(&o->heap, o->len + 1);
}

static bool row_takes(const order *o, dn_heap_key key) {
    return o->row_len < o->row_cap &&
           (o->row_len == 0 || !dn_heap_key_less(key, o->row[o->row_len - 1].key));
}

void order_put(order *o, queue_record *who, dn_heap_key key) {
    assert(is_sound(o));
    who->in_row = row_takes(o, key);
    if (who->in_row) {
        who->place = (uint32_t)o->row_len;
        o->row[o->row_len++] = (order_place){key, who};
    } else {
        dn_heap_put(&o->heap, &who->place, key);
    }
    o->len++;
    assert(is_sound(o));
}

queue_record *order_first(const order *o) {
    const dn_heap_entry *heap = dn_heap_first(&o->heap);
    const order_place   *row = o->row_len > 0 ? &o->row[o->row_at] : NULL;

    if (row && (!heap || !dn_heap_key_less(heap->key, row->key))) return row->who;
    return heap ? record_of(heap->place) : NULL;
}

dn_heap_key order_drop(order *o, queue_record *who) {
    assert(is_sound(o) && o->len > 0);
    o->len--;
    if (!who->in_row) return dn_heap_drop(&o->heap, &who->place);
    const size_t      at = who->place;
    const dn_heap_key key = o->row[at].key;
    assert(o->row[at].who == who);
    row_drop(o, at);
    assert(is_sound(o));
    return key;
}
