/* queue_order.c - a sorted row and a heap, of which the one or the other has the first. */
#include "queue_order.h"

#include "base/pages.h"
#include "queue_records.h"

#include <assert.h>

enum { LEAST = 64 };

void order_done(order *o) {
    dn_pages_free(o->row, o->row_cap * sizeof *o->row);
    dn_pages_free(o->heap, o->heap_cap * sizeof *o->heap);
    *o = (order){0};
}

static bool goes_before(order_key a, order_key b) {
    return a.cutoff_ms != b.cutoff_ms ? a.cutoff_ms < b.cutoff_ms : a.rank < b.rank;
}

static int grow(order_place **places, size_t *cap) {
    const size_t wider = *cap ? *cap * 2 : LEAST;
    void        *grown = dn_pages_grow(*places, *cap * sizeof **places, wider * sizeof **places);

    if (!grown) return DN_ENOMEM;
    *places = grown;
    *cap = wider;
    return DN_OK;
}

/* ---- The heap ---- */

static void heap_put(order *o, size_t at, order_place p) {
    o->heap[at] = p;
    p.who->place = (uint32_t)at;
}

static void heap_up(order *o, size_t at, order_place p) {
    for (; at > 0 && goes_before(p.key, o->heap[(at - 1) / 2].key); at = (at - 1) / 2)
        heap_put(o, at, o->heap[(at - 1) / 2]);
    heap_put(o, at, p);
}

static void heap_down(order *o, size_t at, order_place p) {
    for (;;) {
        size_t child = at * 2 + 1;
        if (child + 1 < o->heap_len && goes_before(o->heap[child + 1].key, o->heap[child].key))
            child++;
        if (child >= o->heap_len || !goes_before(o->heap[child].key, p.key)) break;
        heap_put(o, at, o->heap[child]);
        at = child;
    }
    heap_put(o, at, p);
}

static void heap_drop(order *o, size_t at) {
    const order_place last = o->heap[--o->heap_len];

    if (at == o->heap_len) return;
    if (goes_before(last.key, o->heap[at].key)) heap_up(o, at, last);
    else heap_down(o, at, last);
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

    if (row_is_full && grow(&o->row, &o->row_cap) < 0) return DN_ENOMEM;
    return o->len == o->heap_cap ? grow(&o->heap, &o->heap_cap) : DN_OK;
}

static bool row_takes(const order *o, order_key key) {
    return o->row_len < o->row_cap &&
           (o->row_len == 0 || !goes_before(key, o->row[o->row_len - 1].key));
}

void order_put(order *o, queue_record *who, order_key key) {
    const order_place p = {key, who};

    who->in_row = row_takes(o, key);
    if (who->in_row) {
        who->place = (uint32_t)o->row_len;
        o->row[o->row_len++] = p;
    } else {
        assert(o->heap_len < o->heap_cap);
        heap_up(o, o->heap_len++, p);
    }
    o->len++;
}

queue_record *order_first(const order *o) {
    if (o->row_len == 0) return o->heap_len > 0 ? o->heap[0].who : NULL;
    const order_place *first = &o->row[o->row_at];
    if (o->heap_len > 0 && goes_before(o->heap[0].key, first->key)) first = &o->heap[0];
    return first->who;
}

order_key order_drop(order *o, queue_record *who) {
    const size_t    at = who->place;
    const order_key key = who->in_row ? o->row[at].key : o->heap[at].key;

    assert((who->in_row ? o->row[at].who : o->heap[at].who) == who);
    if (who->in_row) row_drop(o, at);
    else heap_drop(o, at);
    o->len--;
    return key;
}
