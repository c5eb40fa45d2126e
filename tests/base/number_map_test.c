/* numbers_test.c - the table of numbers against a plain list.
 * The keys are made so that many fall on one place, and on the last places of the table, whatever its size:
 * what runs over the end goes on at the beginning. If the table hashes otherwise one day, the tests are
 * still right, and find less. */
#include "base/number_map.h"
#include "starving.h"
#include "test.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- Keys ---- */

#define SPREAD UINT64_C(0x9e3779b97f4a7c15)
enum { SPREAD_SHIFT = 20 };

static uint64_t inverse(uint64_t odd) {
    uint64_t x = odd; /* right to 3 bits; each step doubles them */

    for (int i = 0; i < 5; i++) x *= 2 - odd * x;
    return x;
}

/* A key whose home is the place `home` (or, negative, so many before the end), in a table of any size up to a
 * million; which tells apart those of one home. */
static uint64_t key_at(int64_t home, uint32_t which) {
    return inverse(SPREAD) * ((uint64_t)home << SPREAD_SHIFT | (which + 1));
}

/* ---- The model ---- */

enum { KEYS = 300 };

typedef struct rig {
    dn_number_map table;
    uint64_t      random;
    uint64_t      keys[KEYS], values[KEYS];
    bool          there[KEYS];
    size_t        len;
} rig;

static uint64_t below(rig *r, uint64_t bound) { return test_random(&r->random) % bound; }

static void rig_init(rig *r) {
    *r = (rig){.random = test_seed()};
    for (uint32_t i = 0; i < KEYS; i++) {
        /* No two alike: what tells them apart is their number. */
        if (i % 3 == 0) r->keys[i] = i + 1;
        else r->keys[i] = key_at((int64_t)below(r, 12) - 9, i);
    }
}

static void rig_put(rig *r, size_t i) {
    const uint64_t value = test_random(&r->random);

    CHECK_INT(dn_number_map_put(&r->table, r->keys[i], value), DN_OK);
    r->values[i] = value;
    if (!r->there[i]) r->len++;
    r->there[i] = true;
}

static void rig_remove(rig *r, size_t i) {
    CHECK(dn_number_map_remove(&r->table, r->keys[i]) == r->there[i]);
    if (r->there[i]) r->len--;
    r->there[i] = false;
}

static void rig_check_one(const rig *r, size_t i) {
    const uint64_t *value = dn_number_map_find(&r->table, r->keys[i]);

    CHECK_MSG((value != NULL) == r->there[i], "key %zu, 0x%" PRIx64, i, r->keys[i]);
    if (value) CHECK_UINT(*value, r->values[i]);
}

static void rig_check(const rig *r) {
    CHECK_UINT(r->table.len, r->len);
    for (size_t i = 0; i < KEYS; i++) rig_check_one(r, i);
    CHECK(!dn_number_map_find(&r->table, 0));
    if (r->table.rows) CHECK_MSG(r->table.len <= r->table.mask, "no place is left empty");
    size_t at = 0, len = 0;
    for (const dn_number_row *row; (row = dn_number_map_next(&r->table, &at)); len++)
        CHECK(row->key > 0 && dn_number_map_find(&r->table, row->key) == &row->value);
    CHECK_UINT(len, r->len);
}

TEST(a_table_is_a_list_whatever_falls_on_one_place_and_over_the_end) {
    static rig r;

    rig_init(&r);
    rig_check(&r);
    for (int n = 0; n < 40000 / TEST_SLOW_FACTOR; n++) {
        /* By turns it fills and empties, so that all sizes are gone through. */
        const bool   fills = n / 500 % 2 == 0;
        const size_t i = below(&r, KEYS);

        if (below(&r, 10) < (fills ? 7 : 3)) rig_put(&r, i);
        else rig_remove(&r, i);
        rig_check_one(&r, i);
        if (n % 16 == 0) rig_check(&r);
        if (n % 9000 == 8999) {
            dn_number_map_done(&r.table);
            for (size_t k = 0; k < KEYS; k++) r.there[k] = false;
            r.len = 0;
            rig_check(&r);
        }
    }
    dn_number_map_done(&r.table);
}

/* ---- Clusters: every shape a few keys can make around the end, and every order of removal ---- */

enum { FEW = 5, HOMES = 4, SHAPES = 4 * 4 * 4 * 4 * 4 };

static void few_put(dn_number_map *t, const uint64_t keys[FEW]) {
    for (uint64_t i = 0; i < FEW; i++) CHECK_INT(dn_number_map_put(t, keys[i], i), DN_OK);
}

/* order: the next of those left to be removed, a digit each. */
static void few_remove(dn_number_map *t, const uint64_t keys[FEW], int order) {
    bool there[FEW] = {true, true, true, true, true};

    for (int left = FEW; left > 0; order /= left--) {
        size_t which = 0;
        for (int skip = order % left; skip > 0 || !there[which]; which++)
            if (there[which]) skip--;
        CHECK(dn_number_map_remove(t, keys[which]));
        there[which] = false;
        for (uint64_t i = 0; i < FEW; i++) {
            const uint64_t *value = dn_number_map_find(t, keys[i]);
            CHECK((value != NULL) == there[i]);
            CHECK(!value || *value == i);
        }
    }
    CHECK_UINT(t->len, 0);
}

TEST(whatever_is_removed_from_a_cluster_over_the_end_the_rest_is_found) {
    const int     orders = 5 * 4 * 3 * 2, step = TEST_SLOW_FACTOR == 1 ? 1 : 7;
    dn_number_map t = {0};

    for (int shape = 0; shape < SHAPES; shape++) {
        uint64_t keys[FEW];
        int      rest = shape;

        for (uint32_t i = 0; i < FEW; i++, rest /= HOMES) keys[i] = key_at(rest % HOMES - 3, i);
        for (int order = shape % step; order < orders; order += step) {
            few_put(&t, keys);
            few_remove(&t, keys, order);
        }
    }
    dn_number_map_done(&t);
}

TEST(a_value_found_may_be_changed_in_place) {
    dn_number_map t = {0};

    CHECK_INT(dn_number_map_put(&t, 7, 1), DN_OK);
    *dn_number_map_find(&t, 7) = 2;
    CHECK_UINT(*dn_number_map_find(&t, 7), 2);
    CHECK_INT(dn_number_map_put(&t, 7, 3), DN_OK);
    CHECK_UINT(*dn_number_map_find(&t, 7), 3);
    CHECK_UINT(t.len, 1);
    dn_number_map_done(&t);
}

TEST(the_greatest_key_is_a_key_like_any_other) {
    dn_number_map t = {0};

    CHECK_INT(dn_number_map_put(&t, UINT64_MAX, UINT64_MAX), DN_OK);
    CHECK_UINT(*dn_number_map_find(&t, UINT64_MAX), UINT64_MAX);
    CHECK(dn_number_map_remove(&t, UINT64_MAX));
    CHECK(!dn_number_map_remove(&t, UINT64_MAX));
    CHECK(!dn_number_map_remove(&t, 0));
    dn_number_map_done(&t);
}

TEST_ABORTS(zero_is_no_key, "key > 0") {
    dn_number_map t = {0};

    CHECK_INT(dn_number_map_put(&t, 0, 1), DN_OK);
}

/* A million of them, as registrations are numbered. */
TEST(numbers_in_sequence_stand_near_their_homes) {
    enum { MANY = 1000000 / TEST_SLOW_FACTOR };
    dn_number_map t = {0};
    uint64_t      steps = 0;

    for (uint64_t n = 1; n <= MANY; n++) CHECK_INT(dn_number_map_put(&t, n, ~n), DN_OK);
    for (uint64_t n = 1; n <= MANY; n++) {
        const uint64_t *value = dn_number_map_find(&t, n);
        CHECK(value && *value == ~n);
    }
    while (t.old) CHECK_INT(dn_number_map_put(&t, 1, 1), DN_OK);
    for (size_t i = 0, run = 0; i <= t.mask; i++) {
        run = t.rows[i].key ? run + 1 : 0;
        steps += run; /* what a key that is not there would cost, were this its home, backwards */
    }
    CHECK_MSG(steps / (t.mask + 1) < 16, "%" PRIu64 " steps on the average for who is not there",
              steps / (t.mask + 1));
    dn_number_map_done(&t);
}

/* ---- Growing ---- */

static size_t taken(const dn_number_row *rows, size_t mask) {
    size_t n = 0;

    for (size_t i = 0; rows && i <= mask; i++) n += rows[i].key > 0;
    return n;
}

/* What has been moved is gone from the old table, what has not is in its place there; nothing else is anywhere. */
static void check_halves(const dn_number_map *t) {
    const size_t old = taken(t->old, t->old_mask);

    CHECK_UINT(taken(t->rows, t->mask) + old, t->len);
    CHECK(old <= t->old_left);
    for (size_t i = t->old_left; t->old && i <= t->old_mask; i++)
        CHECK_MSG(t->old[(t->old_at + (i - t->old_left)) & t->old_mask].key == 0,
                  "it is said to have been moved");
}

/* Counted in the tables themselves, whenever one begins and now and then; in between by how many are left. */
TEST(of_two_million_no_single_change_moves_more_than_a_few_places) {
    enum { MANY = 2000000 / TEST_SLOW_FACTOR };
    dn_number_map t = {0};
    int           begun = 0;

    for (uint64_t n = 1; n <= MANY; n++) {
        const dn_number_row *rows = t.rows;
        const size_t         left = t.old ? t.old_left : 0;
        CHECK_INT(dn_number_map_put(&t, n, ~n), DN_OK);
        if (n % 3 == 0)
            CHECK(dn_number_map_remove(&t, n / 3)); /* which also moves: twice is allowed */
        const size_t now_left = t.old ? t.old_left : 0;
        if (t.rows != rows && rows) {
            begun++;
            CHECK_PTR(t.old, rows);
            CHECK(t.old_mask - now_left <= 2 * DN_NUMBER_MAP_STEP);
            CHECK(taken(t.rows, t.mask) <= 1 + 2 * DN_NUMBER_MAP_STEP);
        } else {
            CHECK(left - now_left <= 2 * DN_NUMBER_MAP_STEP);
        }
        if (t.rows != rows || n % (MANY / 20) == 0) check_halves(&t);
    }
    CHECK(begun >= (TEST_SLOW_FACTOR == 1 ? 14 : 8));
    for (uint64_t n = MANY / 3 + 1; n <= MANY; n++) {
        const uint64_t *value = dn_number_map_find(&t, n);
        CHECK(value && *value == ~n);
    }
    CHECK_UINT(t.len, MANY - MANY / 3);
    dn_number_map_done(&t);
}

TEST(a_table_that_is_moved_is_moved_by_whatever_changes_it) {
    for (int way = 0; way < 3; way++) {
        dn_number_map t = {0};
        uint64_t      n = 0;
        for (; t.mask < 4095; n++) CHECK_INT(dn_number_map_put(&t, n + 1, n), DN_OK);
        CHECK(t.old);
        for (uint64_t i = 1; t.old; i++) {
            CHECK_MSG(i <= 2048 / DN_NUMBER_MAP_STEP, "way %d", way);
            if (way == 0) CHECK_INT(dn_number_map_put(&t, n + i, i), DN_OK);
            if (way == 1) CHECK_INT(dn_number_map_put(&t, 1, i), DN_OK);
            if (way == 2) CHECK(dn_number_map_remove(&t, i));
            check_halves(&t);
        }
        dn_number_map_done(&t);
    }
}

TEST(a_put_without_memory_leaves_the_table_as_it_was) {
    static rig r;
    uint64_t   nth = 0;

    do {
        bool   starved = false;
        size_t i = 0;
        rig_init(&r);
        starve_nth(++nth);
        for (; i < KEYS && !starved; i++) {
            const int rc = dn_number_map_put(&r.table, r.keys[i], i);
            starved = rc < 0;
            if (starved) CHECK_INT(rc, DN_ENOMEM);
            else r.there[i] = true, r.values[i] = i, r.len++;
        }
        CHECK(starve_end() == starved);
        rig_check(&r);
        if (starved) rig_put(&r, i - 1);
        rig_check(&r);
        dn_number_map_done(&r.table);
        if (!starved) break;
    } while (nth < 100);
    CHECK_MSG(nth > 3 && nth < 100, "%" PRIu64 " allocations", nth);
}

/* At the size at which one key more would let it grow. */
TEST(what_a_key_has_is_replaced_without_memory) {
    for (uint64_t keys = 1; keys <= 200; keys++) {
        dn_number_map t = {0};

        for (uint64_t n = 1; n <= keys; n++) CHECK_INT(dn_number_map_put(&t, n, n), DN_OK);
        starve_nth(1);
        for (uint64_t n = 1; n <= keys; n++) CHECK_INT(dn_number_map_put(&t, n, n + 1), DN_OK);
        CHECK(!starve_end());
        dn_number_map_done(&t);
    }
}
