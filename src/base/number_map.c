/* numbers.c - the table of numbers: at most three quarters full. */
#include "number_map.h"

#include "pages.h"

#include <assert.h>
#include <stddef.h>

enum { LEAST = 64, BLOCK_ROWS = DN_PAGES_BLOCK / sizeof(dn_number_row) };

/* Before the next growing three eighths of the new table are put, and half of it has been moved. */
_Static_assert(DN_NUMBER_MAP_STEP * 3 / 8 > 1,
               "the table before is empty when the next one is begun");

static size_t home(size_t mask, uint64_t key) {
    return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & mask;
}

static size_t place(const dn_number_row *rows, size_t mask, uint64_t key) {
    size_t at = home(mask, key);

    while (rows[at].key && rows[at].key != key) at = (at + 1) & mask;
    return at;
}

static void rows_free(dn_number_row *rows, size_t mask) {
    dn_pages_free(rows, (mask + 1) * sizeof *rows);
}

void dn_number_map_done(dn_number_map *t) {
    rows_free(t->rows, t->mask);
    rows_free(t->old, t->old_mask);
    *t = (dn_number_map){0};
}

/* ---- Growing ---- */

/* empty: an empty place of the table as it is, before which the moving begins. */
static int grow(dn_number_map *t, size_t empty) {
    const size_t   cap = t->rows ? (t->mask + 1) * 2 : LEAST;
    dn_number_row *wider = dn_pages_new(cap * sizeof *wider);

    if (!wider) return DN_ENOMEM;
    assert(!t->old);
    if (t->rows) {
        t->old = t->rows;
        t->old_mask = t->old_left = t->old_sure = t->mask;
        t->old_at = empty;
    }
    t->rows = wider;
    t->mask = cap - 1;
    return DN_OK;
}

/* How many of those that are still to be moved stand before the home of the key; old_left and more: it has been
 * moved. */
static size_t old_home(const dn_number_map *t, uint64_t key) {
    return (home(t->old_mask, key) - (t->old_at - t->old_left)) & t->old_mask;
}

/* It goes to the new table. */
static dn_number_row *row_of_new(dn_number_map *t, uint64_t key) {
    if (t->old && old_home(t, key) < t->old_sure) t->old_sure = old_home(t, key);
    return &t->rows[place(t->rows, t->mask, key)];
}

/* Backwards: who stands before an empty place is in nobody's way and may go, and all others are found as before. */
static void move_some(dn_number_map *t) {
    if (!t->old) return;
    for (int n = DN_NUMBER_MAP_STEP; n > 0 && t->old_left > 0; n--) {
        t->old_at = (t->old_at - 1) & t->old_mask;
        t->old_left--;
        if (t->old_sure > t->old_left) t->old_sure = t->old_left;
        dn_number_row *row = &t->old[t->old_at];
        if (row->key) {
            *row_of_new(t, row->key) = *row;
            *row = (dn_number_row){0};
        }
        if (t->old_at % BLOCK_ROWS == 0 && t->old_mask - t->old_left >= BLOCK_ROWS)
            dn_pages_drain(t->old, (t->old_mask + 1) * sizeof *row, t->old_at * sizeof *row);
    }
    if (t->old_left > 0) return;
    rows_free(t->old, t->old_mask);
    t->old = NULL;
}

/* ---- Its rows ---- */

/* A new key goes where it would be by now: to the table before, if its place there is still to be moved. So the memory
 * of the new one is touched from one end to the other, and not everywhere at once. */
static dn_number_row *new_row(dn_number_map *t, uint64_t key) {
    if (t->old && old_home(t, key) < t->old_left) {
        const size_t at = place(t->old, t->old_mask, key);
        if (at != t->old_at) return &t->old[at];
    }
    return row_of_new(t, key);
}

static bool has_room(const dn_number_map *t) { return (t->len + 1) * 4 <= (t->mask + 1) * 3; }

static __attribute__((noinline)) int put_slow(dn_number_map *t, uint64_t key, uint64_t value) {
    uint64_t *known = dn_number_map_find(t, key);
    if (known) {
        *known = value;
        move_some(t);
        return DN_OK;
    }
    if (!t->rows && grow(t, 0) < 0) return DN_ENOMEM;
    if (!has_room(t) && grow(t, place(t->rows, t->mask, key)) < 0) return DN_ENOMEM;
    *new_row(t, key) = (dn_number_row){key, value};
    t->len++;
    move_some(t);
    return DN_OK;
}

/* Nearly always there is one table, and one look into it is enough. */
int dn_number_map_put(dn_number_map *t, uint64_t key, uint64_t value) {
    assert(key > 0);
    if (!t->rows || t->old) return put_slow(t, key, value);
    dn_number_row *row = &t->rows[place(t->rows, t->mask, key)];
    if (!row->key) {
        if (!has_room(t)) return put_slow(t, key, value);
        row->key = key;
        t->len++;
    }
    row->value = value;
    return DN_OK;
}

uint64_t *dn_number_map_find(const dn_number_map *t, uint64_t key) {
    if (t->len == 0) return NULL;
    if (t->old && old_home(t, key) < t->old_left) {
        dn_number_row *row = &t->old[place(t->old, t->old_mask, key)];
        if (row->key || old_home(t, key) < t->old_sure) return row->key ? &row->value : NULL;
    }
    dn_number_row *row = &t->rows[place(t->rows, t->mask, key)];
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): what has keys has rows */
    return row->key ? &row->value : NULL;
}

/* Those behind it that are not at home move up. */
static void take_out(dn_number_row *rows, size_t mask, size_t hole) {
    for (size_t at = (hole + 1) & mask; rows[at].key; at = (at + 1) & mask) {
        if (((at - home(mask, rows[at].key)) & mask) < ((at - hole) & mask)) continue;
        rows[hole] = rows[at];
        hole = at;
    }
    rows[hole] = (dn_number_row){0};
}

void dn_number_map_drop(dn_number_map *t, uint64_t *found) {
    dn_number_row *row = (dn_number_row *)(void *)((char *)found - offsetof(dn_number_row, value));

    assert(row->key > 0);
    if (row >= t->rows && row <= t->rows + t->mask)
        take_out(t->rows, t->mask, (size_t)(row - t->rows));
    else take_out(t->old, t->old_mask, (size_t)(row - t->old));
    t->len--;
    move_some(t);
}

bool dn_number_map_remove(dn_number_map *t, uint64_t key) {
    uint64_t *found = dn_number_map_find(t, key);

    if (found) dn_number_map_drop(t, found);
    return found != NULL;
}

const dn_number_row *dn_number_map_next(const dn_number_map *t, size_t *at) {
    const size_t cap = t->rows ? t->mask + 1 : 0, old_cap = t->old ? t->old_mask + 1 : 0;

    while (*at < cap + old_cap) {
        const dn_number_row *row = *at < cap ? &t->rows[*at] : &t->old[*at - cap];
        ++*at;
        if (row->key) return row;
    }
    return NULL;
}
