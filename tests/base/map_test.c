/* map_test.c - both forms of the hash table, against a plain list.
 * Many of the keys share a home at the beginning or at the end of the table, whatever its size, so clusters run over the
 * end, and an index has equal tags. If the table hashes otherwise one day, the tests still hold, and find less. */
#include "base/map.h"
#include "starving.h"
#include "test.h"

#include <inttypes.h>
#include <stdlib.h>

/* The key whose product with the table's multiplier is that one: the upper bits are its home. */
static uint64_t key_of(uint64_t product) { return product * UINT64_C(0xf1de83e19937733d); }

/* ---- The model: keys, and how often each is in the table ---- */

enum { KEYS = 300 };

typedef struct rig {
    dn_map   map;
    dn_index index;
    uint64_t random;
    uint64_t keys[KEYS], values[KEYS];
    bool     there[KEYS];
    size_t   len;
} rig;

static uint64_t below(rig *r, uint64_t bound) { return test_random(&r->random) % bound; }

/* A third in sequence; a third with homes in the first and last cells of a table of any size; a third with one tag. */
static uint64_t key_for(rig *r, uint64_t i) {
    const uint64_t home = below(r, 12) - 6; /* of 64 cells; negative: from the end */

    if (i % 3 == 0) return i + 1;
    if (i % 3 == 1) return key_of(home << 58 | (i + 1));
    return key_of(UINT64_C(0xfffffffe) << 32 | (i + 1));
}

static void rig_init(rig *r) {
    *r = (rig){.random = test_seed()};
    for (uint64_t i = 0; i < KEYS; i++) r->keys[i] = key_for(r, i);
}

static void rig_done(rig *r) {
    dn_map_done(&r->map);
    dn_index_done(&r->index);
}

static dn_index_cell *index_cell(const rig *r, size_t i) {
    dn_index_cell *cell = dn_index_find(&r->index, r->keys[i]);

    while (cell && dn_index_row(cell) != i + 1) cell = dn_index_alike(&r->index, cell);
    return cell;
}

static void rig_put(rig *r, size_t i) {
    const uint64_t value = test_random(&r->random);

    CHECK_INT(dn_map_put(&r->map, r->keys[i], value), DN_OK);
    if (!r->there[i]) {
        CHECK_INT(dn_index_reserve(&r->index, 1 + below(r, 8)), DN_OK);
        dn_index_add(&r->index, r->keys[i], (uint32_t)i + 1);
        r->len++;
    }
    r->values[i] = value;
    r->there[i] = true;
}

static void rig_remove(rig *r, size_t i) {
    dn_index_cell *cell = index_cell(r, i);

    CHECK(dn_map_remove(&r->map, r->keys[i]) == r->there[i]);
    CHECK((cell != NULL) == r->there[i]);
    if (cell) dn_index_drop(&r->index, cell);
    if (r->there[i]) r->len--;
    r->there[i] = false;
}

static void rig_check_one(const rig *r, size_t i) {
    const uint64_t *value = dn_map_find(&r->map, r->keys[i]);

    CHECK_MSG((value != NULL) == r->there[i], "key %zu, 0x%" PRIx64, i, r->keys[i]);
    if (value) CHECK_UINT(*value, r->values[i]);
    CHECK_MSG((index_cell(r, i) != NULL) == r->there[i], "row %zu", i + 1);
}

static void rig_check(const rig *r) {
    dn_map_row row;
    size_t     at = 0, len = 0;

    CHECK(dn_map_is_sound(&r->map));
    CHECK(dn_index_is_sound(&r->index));
    CHECK_UINT(dn_map_len(&r->map), r->len);
    CHECK_UINT(dn_index_len(&r->index), r->len);
    for (size_t i = 0; i < KEYS; i++) rig_check_one(r, i);
    CHECK(!dn_map_find(&r->map, 0));
    for (; dn_map_next(&r->map, &at, &row); len++) {
        const uint64_t *value = dn_map_find(&r->map, row.key);
        CHECK(value && *value == row.value);
    }
    CHECK_UINT(len, r->len);
}

TEST(map_and_index_hold_what_a_list_holds_after_random_changes) {
    static rig r;

    rig_init(&r);
    rig_check(&r);
    for (int n = 0; n < 40000 / TEST_SLOW_FACTOR; n++) {
        /* It fills and empties in turn, so every size is passed through. */
        const bool   fills = n / 500 % 2 == 0;
        const size_t i = below(&r, KEYS);

        if (below(&r, 10) < (fills ? 7 : 3)) rig_put(&r, i);
        else rig_remove(&r, i);
        rig_check_one(&r, i);
        if (n % 16 == 0) rig_check(&r);
        if (n % 4500 == 4499) {
            rig_done(&r);
            for (size_t k = 0; k < KEYS; k++) r.there[k] = false;
            r.len = 0;
            rig_check(&r);
        }
    }
    rig_done(&r);
}

/* ---- Clusters: every shape of a few keys around the end, and every order of removal ---- */

enum { FEW = 5, HOMES = 4, SHAPES = 4 * 4 * 4 * 4 * 4 };

static void few_put(dn_map *m, const uint64_t keys[FEW]) {
    for (uint64_t i = 0; i < FEW; i++) CHECK_INT(dn_map_put(m, keys[i], i), DN_OK);
}

/* order: the next of those left to be removed, a digit each. */
static void few_remove(dn_map *m, const uint64_t keys[FEW], int order) {
    bool there[FEW] = {true, true, true, true, true};

    for (int left = FEW; left > 0; order /= left--) {
        size_t which = 0;
        for (int skip = order % left; skip > 0 || !there[which]; which++)
            if (there[which]) skip--;
        CHECK(dn_map_remove(m, keys[which]));
        there[which] = false;
        for (uint64_t i = 0; i < FEW; i++) {
            const uint64_t *value = dn_map_find(m, keys[i]);
            CHECK((value != NULL) == there[i]);
            CHECK(!value || *value == i);
        }
    }
    CHECK_UINT(dn_map_len(m), 0);
}

TEST(map_removal_from_a_cluster_over_the_end_keeps_the_rest) {
    const int orders = 5 * 4 * 3 * 2, step = TEST_SLOW_FACTOR == 1 ? 1 : 7;
    dn_map    m = {0};

    for (int shape = 0; shape < SHAPES; shape++) {
        uint64_t keys[FEW];
        int      rest = shape;

        for (uint64_t i = 0; i < FEW; i++, rest /= HOMES)
            keys[i] = key_of((uint64_t)(rest % HOMES - 3) << 58 | (i + 1));
        for (int order = shape % step; order < orders; order += step) {
            few_put(&m, keys);
            few_remove(&m, keys, order);
        }
        CHECK(dn_map_is_sound(&m));
    }
    dn_map_done(&m);
}

TEST(map_value_may_be_changed_in_place) {
    dn_map m = {0};

    CHECK_INT(dn_map_put(&m, 7, 1), DN_OK);
    *dn_map_find(&m, 7) = 2;
    CHECK_UINT(*dn_map_find(&m, 7), 2);
    CHECK_INT(dn_map_put(&m, 7, 3), DN_OK);
    CHECK_UINT(*dn_map_find(&m, 7), 3);
    CHECK_UINT(dn_map_len(&m), 1);
    dn_map_done(&m);
}

TEST(map_takes_the_greatest_key) {
    dn_map m = {0};

    CHECK_INT(dn_map_put(&m, UINT64_MAX, UINT64_MAX), DN_OK);
    CHECK_UINT(*dn_map_find(&m, UINT64_MAX), UINT64_MAX);
    CHECK(dn_map_remove(&m, UINT64_MAX));
    CHECK(!dn_map_remove(&m, UINT64_MAX));
    CHECK(!dn_map_remove(&m, 0));
    dn_map_done(&m);
}

TEST_ABORTS(map_refuses_key_zero, "key > 0") {
    dn_map m = {0};

    CHECK_INT(dn_map_put(&m, 0, 1), DN_OK);
}

TEST_ABORTS(index_refuses_row_zero, "row > 0") {
    dn_index x = {0};

    CHECK_INT(dn_index_reserve(&x, 1), DN_OK);
    dn_index_add(&x, 1, 0);
}

TEST_ABORTS(index_refuses_a_row_without_room, "has_room") {
    dn_index x = {0};

    dn_index_add(&x, 1, 1);
}

/* ---- Values under one key ---- */

TEST(map_finds_all_values_under_one_key) {
    enum { MANY = 3000 };
    dn_map   m = {0};
    uint64_t random = test_seed();
    bool     there[MANY] = {false};

    for (int n = 0; n < 3 * MANY; n++) {
        const uint64_t value = test_random(&random) % MANY, key = value % 1000 + 1;
        uint64_t      *found = dn_map_find(&m, key);
        while (found && *found != value) found = dn_map_alike(&m, found);
        CHECK((found != NULL) == there[value]);
        if (found) dn_map_drop(&m, found);
        else CHECK_INT(dn_map_add(&m, key, value), DN_OK);
        there[value] = !there[value];
    }
    CHECK(dn_map_is_sound(&m));
    for (uint64_t key = 1; key <= 1000; key++) {
        size_t found = 0, expected = 0;
        for (uint64_t *at = dn_map_find(&m, key); at; at = dn_map_alike(&m, at), found++)
            CHECK(*at % 1000 + 1 == key && there[*at]);
        for (uint64_t value = key - 1; value < MANY; value += 1000) expected += there[value];
        CHECK_UINT(found, expected);
    }
    dn_map_done(&m);
}

TEST(index_set_exchanges_the_row_and_keeps_the_hash) {
    dn_index x = {0};

    CHECK_INT(dn_index_reserve(&x, 1), DN_OK);
    dn_index_add(&x, 99, 5);
    dn_index_set(dn_index_find(&x, 99), UINT32_MAX);
    CHECK_UINT(dn_index_row(dn_index_find(&x, 99)), UINT32_MAX);
    CHECK(!dn_index_alike(&x, dn_index_find(&x, 99)));
    CHECK(!dn_index_find(&x, 98));
    dn_index_done(&x);
}

/* ---- Growing ---- */

/* A million keys, as registrations are numbered. */
TEST(map_keys_in_sequence_stand_near_their_homes) {
    enum { MANY = 1000000 / TEST_SLOW_FACTOR };
    dn_map   m = {0};
    uint64_t steps = 0;

    for (uint64_t n = 1; n <= MANY; n++) CHECK_INT(dn_map_put(&m, n, ~n), DN_OK);
    for (uint64_t n = 1; n <= MANY; n++) {
        const uint64_t *value = dn_map_find(&m, n);
        CHECK(value && *value == ~n);
    }
    for (uint64_t n = MANY + 1; m.table.old; n++) CHECK_INT(dn_map_put(&m, n, n), DN_OK);
    for (size_t i = 0, run = 0; i < (size_t)1 << m.table.bits; i++) {
        run = m.table.cells[2 * i] ? run + 1 : 0;
        steps += run; /* a search for an absent key whose home this is, backwards */
    }
    CHECK_MSG(steps >> m.table.bits < 16, "%" PRIu64 " steps on average", steps >> m.table.bits);
    dn_map_done(&m);
}

/* So many cells may one change move beyond DN_MAP_STEP: the rest of a cluster. */
enum { CLUSTER_MAX = 512 };

TEST(map_change_moves_few_cells_of_two_million) {
    enum { MANY = 2000000 / TEST_SLOW_FACTOR };
    dn_map          m = {0};
    const dn_table *t = &m.table;
    int             begun = 0;

    for (uint64_t n = 1; n <= MANY; n++) {
        const uint64_t *cells = t->cells;
        const size_t    moved = t->old ? t->old_moved : 0;
        CHECK_INT(dn_map_put(&m, n, ~n), DN_OK);
        if (n % 3 == 0) CHECK(dn_map_remove(&m, n / 3)); /* a second change: it moves as well */
        if (t->old) CHECK(t->old_moved - (t->cells == cells ? moved : 0) <= 3 * CLUSTER_MAX);
        if (t->cells != cells && cells) {
            begun++;
            CHECK_PTR(t->old, cells);
        }
        if (t->cells != cells || n % (MANY / 20) == 0) CHECK(dn_map_is_sound(&m));
    }
    CHECK(begun >= (TEST_SLOW_FACTOR == 1 ? 14 : 8));
    for (uint64_t n = MANY / 3 + 1; n <= MANY; n++) {
        const uint64_t *value = dn_map_find(&m, n);
        CHECK(value && *value == ~n);
    }
    CHECK_UINT(dn_map_len(&m), MANY - MANY / 3);
    dn_map_done(&m);
}

/* Keys of the last cluster are added while the table is moved: they run over the empty cell the move began at. */
TEST(map_cluster_that_grows_over_the_end_survives_the_move) {
    for (uint64_t last = 0; last < 40; last++) {
        dn_map   m = {0};
        uint64_t n = 0;

        for (; m.table.bits < 12; n++) CHECK_INT(dn_map_put(&m, n + 1, n), DN_OK);
        CHECK(m.table.old);
        uint64_t added = 0;
        while (m.table.old) {
            CHECK_INT(dn_map_put(&m, key_of(UINT64_MAX - last * 64 - added), added), DN_OK);
            CHECK(dn_map_is_sound(&m));
            added++;
        }
        for (uint64_t i = 0; i < n; i++) CHECK_UINT(*dn_map_find(&m, i + 1), i);
        for (uint64_t i = 0; i < added; i++)
            CHECK_UINT(*dn_map_find(&m, key_of(UINT64_MAX - last * 64 - i)), i);
        dn_map_done(&m);
    }
}

TEST(index_reserves_room_for_many_at_once) {
    dn_index x = {0};
    uint32_t row = 0;

    for (size_t more = 1; more < 100000; more *= 3) {
        CHECK_INT(dn_index_reserve(&x, more), DN_OK);
        starve_nth(1);
        for (size_t i = 0; i < more; i++) row++, dn_index_add(&x, row * UINT64_C(1440), row);
        CHECK(!starve_end());
        CHECK(dn_index_is_sound(&x));
    }
    CHECK_UINT(dn_index_len(&x), row);
    dn_index_done(&x);
}

/* ---- Memory ---- */

TEST(map_without_memory_is_unchanged) {
    static rig r;
    uint64_t   nth = 0;

    do {
        bool   starved = false;
        size_t i = 0;
        rig_init(&r);
        starve_nth(++nth);
        for (; i < KEYS && !starved; i++) {
            starved = dn_index_reserve(&r.index, 1) < 0 || dn_map_put(&r.map, r.keys[i], i) < 0;
            if (starved) break;
            dn_index_add(&r.index, r.keys[i], (uint32_t)i + 1);
            r.there[i] = true, r.values[i] = i, r.len++;
        }
        CHECK(starve_end() == starved);
        rig_check(&r);
        if (starved) rig_put(&r, i);
        rig_check(&r);
        rig_done(&r);
        if (!starved) break;
    } while (nth < 100);
    CHECK_MSG(nth > 6 && nth < 100, "%" PRIu64 " allocations", nth);
}

/* At every size, also the one at which one key more grows the table. */
TEST(map_replaces_a_value_without_memory) {
    for (uint64_t keys = 1; keys <= 200; keys++) {
        dn_map m = {0};

        for (uint64_t n = 1; n <= keys; n++) CHECK_INT(dn_map_put(&m, n, n), DN_OK);
        starve_nth(1);
        for (uint64_t n = 1; n <= keys; n++) CHECK_INT(dn_map_put(&m, n, n + 1), DN_OK);
        CHECK(!starve_end());
        dn_map_done(&m);
    }
}

TEST(map_bytes_count_both_tables) {
    dn_map   m = {0};
    uint64_t n = 0;

    CHECK_UINT(dn_map_bytes(&m), 0);
    for (; !m.table.old; n++) CHECK_INT(dn_map_put(&m, n + 1, n), DN_OK);
    CHECK_UINT(dn_map_bytes(&m), (64 + 128) * 16);
    dn_map_done(&m);
    CHECK_UINT(dn_map_bytes(&m), 0);
}
