/* heap_test.c - the heap, against a plain list. */
#include "base/heap.h"
#include "starving.h"
#include "test.h"

#include <stdlib.h>

enum { ITEMS = 400 };

typedef struct item {
    uint32_t    place;
    bool        there;
    dn_heap_key key;
} item;

typedef struct rig {
    dn_heap  heap;
    uint64_t random;
    item     items[ITEMS];
    size_t   len;
} rig;

static uint64_t below(rig *r, uint64_t bound) { return test_random(&r->random) % bound; }

static void rig_put(rig *r, item *i) {
    /* Many of one time, and before the epoch too. */
    i->key = (dn_heap_key){(int64_t)below(r, 8) - 4, below(r, 1000)};
    CHECK_INT(dn_heap_reserve(&r->heap, r->len + 1), DN_OK);
    dn_heap_put(&r->heap, &i->place, i->key);
    i->there = true;
    r->len++;
}

static void rig_drop(rig *r, item *i) {
    const dn_heap_key key = dn_heap_drop(&r->heap, &i->place);

    CHECK(key.at_ms == i->key.at_ms && key.rank == i->key.rank);
    i->there = false;
    r->len--;
}

static void rig_check(const rig *r) {
    const dn_heap_entry *first = dn_heap_first(&r->heap);

    CHECK_UINT(r->heap.len, r->len);
    CHECK((first == NULL) == (r->len == 0));
    for (size_t i = 0; i < ITEMS; i++)
        CHECK(!r->items[i].there || !dn_heap_key_less(r->items[i].key, first->key));
}

TEST(heap_gives_the_least_of_a_list_after_random_changes) {
    static rig r;

    r.random = test_seed();
    for (int n = 0; n < 20000 / TEST_SLOW_FACTOR; n++) {
        item *i = &r.items[below(&r, ITEMS)];
        if (i->there == (n / 2000 % 2 == 0) && below(&r, 4) > 0) continue; /* fills, and empties */
        if (i->there) rig_drop(&r, i);
        else rig_put(&r, i);
        rig_check(&r);
        if (n % 64 == 0) CHECK(dn_heap_is_sound(&r.heap));
    }
    dn_heap_done(&r.heap);
}

TEST(heap_gives_all_in_order) {
    static rig  r;
    dn_heap_key last = {INT64_MIN, 0};

    r.random = test_seed();
    for (size_t i = 0; i < ITEMS; i++) rig_put(&r, &r.items[i]);
    for (size_t i = 0; i < ITEMS; i++) {
        const dn_heap_entry *first = dn_heap_first(&r.heap);
        CHECK(!dn_heap_key_less(first->key, last));
        last = first->key;
        (void)dn_heap_drop(&r.heap, first->place);
    }
    CHECK_PTR(dn_heap_first(&r.heap), NULL);
    dn_heap_done(&r.heap);
}

TEST(heap_without_memory_is_unchanged) {
    bool starved = true;

    for (uint64_t nth = 1; starved; nth++) {
        static rig r;
        size_t     i = 0;

        r = (rig){.random = test_seed()};
        starve_nth(nth);
        for (; i < ITEMS && dn_heap_reserve(&r.heap, i + 1) == DN_OK; i++) rig_put(&r, &r.items[i]);
        starved = starve_end();
        CHECK((i < ITEMS) == starved);
        CHECK(dn_heap_is_sound(&r.heap));
        rig_check(&r);
        if (starved) rig_put(&r, &r.items[i]);
        dn_heap_done(&r.heap);
    }
}

TEST_ABORTS(heap_refuses_to_drop_a_foreign_entry, "has(h, place)") {
    dn_heap  h = {0};
    uint32_t place = 0;

    (void)dn_heap_drop(&h, &place);
}
