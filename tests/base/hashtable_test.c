/* chains_test.c - the table of things with their links in themselves, against a plain list. */
#include "base/hashtable.h"
#include "starving.h"
#include "test.h"

#include <stdlib.h>

enum { THINGS = 3000, KEYS = 900 };

typedef struct thing {
    dn_hashtable_link link;
    bool              there;
    uint64_t          put; /* when */
} thing;

typedef struct rig {
    dn_hashtable table;
    uint64_t     random, puts;
    size_t       len;
    thing        things[THINGS];
} rig;

static uint64_t below(rig *r, uint64_t bound) { return test_random(&r->random) % bound; }

static rig *rig_new(void) {
    rig *r = calloc(1, sizeof *r);

    CHECK(r);
    r->random = test_seed();
    /* Some keys are many things', some are in sequence, some are anything. */
    for (size_t i = 0; i < THINGS; i++)
        r->things[i].link.key = i % 3 == 0   ? below(r, KEYS / 3)
                                : i % 3 == 1 ? (uint64_t)i * 1440
                                             : test_random(&r->random);
    return r;
}

static void rig_free(rig *r) {
    dn_hashtable_done(&r->table);
    free(r);
}

static void toggle(rig *r, thing *t) {
    if (t->there) {
        dn_hashtable_remove(&r->table, &t->link);
        r->len--;
    } else {
        CHECK_INT(dn_hashtable_add(&r->table, &t->link), DN_OK);
        t->put = ++r->puts;
        r->len++;
    }
    t->there = !t->there;
}

/* All with a key, and nobody else, are found. */
static void check_key(const rig *r, uint64_t key) {
    const thing *last = NULL;
    size_t       there = 0, found = 0;

    for (size_t i = 0; i < THINGS; i++) {
        const thing *t = &r->things[i];
        if (!t->there || t->link.key != key) continue;
        there++;
        if (!last || last->put < t->put) last = t;
    }
    const dn_hashtable_link *first = dn_hashtable_find(&r->table, key);
    if (there <= 1) CHECK_PTR(first, last ? &last->link : NULL);
    for (const dn_hashtable_link *l = first; l; l = dn_hashtable_alike(l)) {
        CHECK_UINT(l->key, key);
        CHECK(((const thing *)(const void *)l)->there);
        found++;
    }
    CHECK_UINT(found, there);
}

static void check_all(const rig *r) {
    CHECK_UINT(r->table.len, r->len);
    for (size_t i = 0; i < THINGS; i += 7) check_key(r, r->things[i].link.key);
    check_key(r, UINT64_MAX);
}

TEST(whatever_is_put_and_removed_the_table_is_the_list) {
    rig *r = rig_new();

    check_all(r);
    for (int n = 0; n < 60000 / TEST_SLOW_FACTOR; n++) {
        /* By turns most are in, and few. */
        thing *t = &r->things[below(r, THINGS)];
        if (t->there == (n / 6000 % 2 == 0) && below(r, 4) > 0) continue;
        toggle(r, t);
        check_key(r, t->link.key);
        if (n % 2000 == 0) check_all(r);
    }
    check_all(r);
    rig_free(r);
}

TEST(of_those_with_one_key_the_last_one_put_is_found_first) {
    dn_hashtable      t = {0};
    dn_hashtable_link links[3] = {{.key = 7}, {.key = 7}, {.key = 7}};

    for (int i = 0; i < 3; i++) {
        CHECK_INT(dn_hashtable_add(&t, &links[i]), DN_OK);
        CHECK_PTR(dn_hashtable_find(&t, 7), &links[i]);
    }
    dn_hashtable_remove(&t, &links[2]);
    CHECK_PTR(dn_hashtable_find(&t, 7), &links[1]);
    CHECK_PTR(dn_hashtable_alike(&links[1]), &links[0]);
    CHECK_PTR(dn_hashtable_alike(&links[0]), NULL);
    dn_hashtable_done(&t);
}

static void chains_are_short_of(size_t many, size_t chains_a_thing, size_t steps_most) {
    dn_hashtable       t = {0};
    dn_hashtable_link *links = calloc(many, sizeof *links);
    size_t             steps = 0;

    CHECK(links);
    for (size_t i = 0; i < many; i++) {
        links[i].key = (i + 1) * 1440;
        CHECK_INT(dn_hashtable_add(&t, &links[i]), DN_OK);
    }
    CHECK(t.used >= chains_a_thing * many && t.used <= chains_a_thing * many + 64);
    for (size_t i = 0; i < t.used; i++) {
        size_t len = 0;
        for (const dn_hashtable_link *l = t.heads[i]; l; l = l->next) len++;
        steps += len * len;
    }
    CHECK_MSG(steps < steps_most, "%zu steps", steps);
    dn_hashtable_done(&t);
    free(links);
}

TEST(however_many_there_are_a_chain_is_short) {
    chains_are_short_of(10000, 4, 15000);
    chains_are_short_of(200000, 2, 400000);
}

TEST(without_memory_the_first_is_refused_and_the_others_go_in) {
    enum { MANY = 500 };
    static dn_hashtable_link links[MANY];
    dn_hashtable             t = {0};

    starve_nth(1);
    CHECK_INT(dn_hashtable_add(&t, &links[0]), DN_ENOMEM);
    CHECK(starve_end());
    CHECK_UINT(t.len, 0);
    CHECK_PTR(dn_hashtable_find(&t, 0), NULL);
    CHECK_INT(dn_hashtable_add(&t, &links[0]), DN_OK);
    for (uint64_t i = 1; i < MANY; i++) {
        links[i].key = i;
        starve_nth(1);
        CHECK_INT(dn_hashtable_add(&t, &links[i]), DN_OK);
        (void)starve_end();
    }
    for (uint64_t i = 0; i < MANY; i++) CHECK_PTR(dn_hashtable_find(&t, i), &links[i]);
    dn_hashtable_done(&t);
}
