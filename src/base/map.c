/* map.c - one table of cells for both forms; a cell is one word, or two.
 * The upper bits of a cell's first word are its home: where probing for it begins. A word of 0 is an empty cell.
 *
 *     dn_map      key * SPREAD 64           | value 64
 *     dn_index    hash * SPREAD, upper 32 | row 32
 *
 * SPREAD is odd, so the product of a key is unique and can be undone; and numbers in sequence get homes evenly apart.
 * A cluster is a run of cells without an empty one between. The move goes cluster by cluster, from an empty cell on: so the
 * home of a key alone says which of the two tables has it. New keys obey the same rule, so the memory of the new table is
 * touched from one end to the other. */
#include "map.h"

#include "pages.h"

#include <assert.h>

enum { LEAST_BITS = 6, INDEX_WORDS = 1, MAP_WORDS = 2, INDEX_BITS_MAX = 32, MAP_BITS_MAX = 59 };
/* Compiled once for each form, with `words` a constant: a search then takes half the time. */
#define BOTH     static inline __attribute__((always_inline))
#define SPREAD   UINT64_C(0x9e3779b97f4a7c15)
#define UNSPREAD UINT64_C(0xf1de83e19937733d) /* SPREAD * UNSPREAD is 1 */
#define ROW_MASK UINT64_C(0xffffffff)

/* The old table is moved before its successor is full: until then, three eighths of the new cells are added. */
_Static_assert(DN_MAP_STEP * 3 / 4 > 1, "each change moves more cells than it fills");

/* One of the two tables. */
typedef struct area {
    uint64_t *cells;
    size_t    words, mask;
    uint8_t   bits;
} area;

BOTH area area_of(uint64_t *cells, size_t words, uint8_t bits) {
    return (area){cells, words, ((size_t)1 << bits) - 1, bits};
}

BOTH uint64_t *cell_at(area a, size_t at) { return a.cells + at * a.words; }

BOTH size_t home_of(area a, uint64_t word) { return (size_t)(word >> (64 - a.bits)); }

static size_t bytes_of(size_t words, uint8_t bits) { return (words * sizeof(uint64_t)) << bits; }

BOTH area now_of(const dn_table *t, size_t words) { return area_of(t->cells, words, t->bits); }

BOTH area old_of(const dn_table *t, size_t words) { return area_of(t->old, words, t->old_bits); }

/* The table that has the word, or would have it. */
BOTH area place_of(const dn_table *t, size_t words, uint64_t word) {
    if (!t->old) return now_of(t, words);
    const area old = old_of(t, words);
    return ((home_of(old, word) - t->old_first) & old.mask) < t->old_moved ? now_of(t, words) : old;
}

static bool has_room(const dn_table *t, size_t more) {
    return t->cells && (t->len + more) <= ((size_t)3 << t->bits) / 4;
}

static bool table_is_sound(const dn_table *t) {
    if (!t->cells) return t->len == 0 && !t->old;
    return has_room(t, 0) && (!t->old || (t->old_bits < t->bits && t->old_moved >= DN_MAP_STEP &&
                                          t->old_moved < (size_t)1 << t->old_bits));
}

static void table_done(dn_table *t, size_t words) {
    dn_pages_free(t->cells, bytes_of(words, t->bits));
    dn_pages_free(t->old, bytes_of(words, t->old_bits));
    *t = (dn_table){0};
}

static size_t table_bytes(const dn_table *t, size_t words) {
    return (t->cells ? bytes_of(words, t->bits) : 0) + (t->old ? bytes_of(words, t->old_bits) : 0);
}

/* ---- Cells ---- */

/* Writes a cell that is not there, behind all that share its home. */
BOTH uint64_t *write_cell(area a, const uint64_t *cell) {
    size_t at = home_of(a, cell[0]);

    while (*cell_at(a, at)) at = (at + 1) & a.mask;
    uint64_t *to = cell_at(a, at);
    for (size_t i = 0; i < a.words; i++) to[i] = cell[i];
    return to;
}

/* The first cell from `at` on whose word is that one in the bits of `mask`; NULL: an empty one comes first. */
BOTH uint64_t *search(area a, size_t at, uint64_t word, uint64_t mask) {
    for (;; at = (at + 1) & a.mask) {
        uint64_t *cell = cell_at(a, at);
        if (!*cell) return NULL;
        if (((*cell ^ word) & mask) == 0) return cell;
    }
}

BOTH uint64_t *table_find(const dn_table *t, size_t words, uint64_t word, uint64_t mask) {
    if (t->len == 0) return NULL;
    const area a = place_of(t, words, word);
    return search(a, home_of(a, word), word, mask);
}

BOTH uint64_t *table_alike(const dn_table *t, size_t words, const uint64_t *cell, uint64_t mask) {
    const area a = place_of(t, words, *cell);
    return search(a, ((size_t)(cell - a.cells) / words + 1) & a.mask, *cell, mask);
}

BOTH void table_prefetch(const dn_table *t, size_t words, uint64_t word) {
    if (t->len == 0) return;
    const area a = place_of(t, words, word);
    __builtin_prefetch(cell_at(a, home_of(a, word)), /* for writing */ 1);
}

/* ---- Growing ---- */

/* Gives the memory of moved cells back, a block at a time, so that freeing the table at the end costs nothing. The last
 * cluster may run over old_first, by a cell for each change since; the first block of the move is left alone for it. */
BOTH void drain(const dn_table *t, area old) {
    const size_t block = DN_PAGES_BLOCK / (old.words * sizeof(uint64_t));
    const size_t at = (t->old_first + t->old_moved) & old.mask;

    if ((at & (block - 1)) != 0 || t->old_moved < 2 * block || at < block) return;
    dn_pages_drain(t->old, bytes_of(old.words, old.bits), bytes_of(old.words, 0) * (at - block));
}

/* Moves at least DN_MAP_STEP cells, and stops at an empty one. */
BOTH void move_some(dn_table *t, size_t words) {
    if (!t->old) return;
    const area old = old_of(t, words);
    for (size_t moved = 0;; moved++) {
        uint64_t *cell = cell_at(old, (t->old_first + t->old_moved) & old.mask);
        if (!*cell && t->old_moved > old.mask) break;
        if (!*cell && moved >= DN_MAP_STEP) return;
        if (*cell) (void)write_cell(now_of(t, words), cell);
        *cell = 0;
        t->old_moved++;
        drain(t, old);
    }
    dn_pages_free(t->old, bytes_of(words, t->old_bits));
    t->old = NULL;
}

static size_t first_empty(area a) {
    size_t at = 0;

    while (*cell_at(a, at)) at++;
    return at;
}

/* Moves the first cells at once: otherwise the next key could fill the empty cell the move begins at. */
static int grow(dn_table *t, size_t words, uint8_t bits) {
    uint64_t *cells = dn_pages_new(bytes_of(words, bits));

    if (!cells) return DN_ENOMEM;
    while (t->old) move_some(t, words); /* only if much is reserved at once */
    if (t->cells) {
        t->old_first = first_empty(now_of(t, words));
        t->old_moved = 0;
        t->old = t->cells;
        t->old_bits = t->bits;
    }
    t->cells = cells;
    t->bits = bits;
    move_some(t, words);
    return DN_OK;
}

static int reserve(dn_table *t, size_t words, size_t more) {
    const uint8_t max = words == INDEX_WORDS ? INDEX_BITS_MAX : MAP_BITS_MAX;
    uint8_t       bits = t->cells ? t->bits : LEAST_BITS;

    if (has_room(t, more)) return DN_OK;
    while (bits < max && t->len + more > ((size_t)3 << bits) / 4) bits++;
    return t->len + more > ((size_t)3 << bits) / 4 ? DN_ENOMEM : grow(t, words, bits);
}

BOTH void table_add(dn_table *t, size_t words, const uint64_t *cell) {
    (void)write_cell(place_of(t, words, *cell), cell);
    t->len++;
    move_some(t, words);
}

/* Cells behind the hole that are not at their home move up. */
BOTH void table_drop(dn_table *t, size_t words, const uint64_t *cell) {
    assert(*cell && t->len > 0 && table_is_sound(t));
    const area a = place_of(t, words, *cell);
    size_t     hole = (size_t)(cell - a.cells) / words;

    for (size_t at = (hole + 1) & a.mask; *cell_at(a, at); at = (at + 1) & a.mask) {
        const uint64_t *from = cell_at(a, at);
        if (((at - home_of(a, *from)) & a.mask) < ((at - hole) & a.mask)) continue;
        for (size_t i = 0; i < words; i++) cell_at(a, hole)[i] = from[i];
        hole = at;
    }
    *cell_at(a, hole) = 0;
    t->len--;
    move_some(t, words);
    assert(table_is_sound(t));
}

/* ---- Invariants ---- */

static bool area_is_sound(const dn_table *t, area a, size_t *len) {
    for (size_t at = 0; at <= a.mask; at++) {
        const uint64_t word = *cell_at(a, at);
        if (!word) continue;
        ++*len;
        if (place_of(t, a.words, word).cells != a.cells) return false;
        for (size_t on = home_of(a, word); on != at; on = (on + 1) & a.mask)
            if (!*cell_at(a, on)) return false;
    }
    return true;
}

static bool walk_is_sound(const dn_table *t, size_t words) {
    size_t len = 0;

    if (!table_is_sound(t)) return false;
    if (t->cells && !area_is_sound(t, now_of(t, words), &len)) return false;
    if (t->old && !area_is_sound(t, old_of(t, words), &len)) return false;
    return len == t->len;
}

bool dn_map_is_sound(const dn_map *m) { return walk_is_sound(&m->table, MAP_WORDS); }

bool dn_index_is_sound(const dn_index *x) { return walk_is_sound(&x->table, INDEX_WORDS); }

/* ---- By number ---- */

void dn_map_done(dn_map *m) { table_done(&m->table, MAP_WORDS); }

size_t dn_map_bytes(const dn_map *m) { return table_bytes(&m->table, MAP_WORDS); }

uint64_t *dn_map_find(const dn_map *m, uint64_t key) {
    uint64_t *cell = table_find(&m->table, MAP_WORDS, key * SPREAD, UINT64_MAX);

    return cell ? cell + 1 : NULL;
}

uint64_t *dn_map_alike(const dn_map *m, const uint64_t *found) {
    uint64_t *cell = table_alike(&m->table, MAP_WORDS, found - 1, UINT64_MAX);

    return cell ? cell + 1 : NULL;
}

void dn_map_prefetch(const dn_map *m, uint64_t key) {
    table_prefetch(&m->table, MAP_WORDS, key * SPREAD);
}

int dn_map_add(dn_map *m, uint64_t key, uint64_t value) {
    assert(key > 0 && table_is_sound(&m->table));
    if (reserve(&m->table, MAP_WORDS, 1) < 0) return DN_ENOMEM;
    table_add(&m->table, MAP_WORDS, (uint64_t[]){key * SPREAD, value});
    assert(table_is_sound(&m->table));
    return DN_OK;
}

int dn_map_put(dn_map *m, uint64_t key, uint64_t value) {
    uint64_t *found = dn_map_find(m, key);

    if (!found) return dn_map_add(m, key, value);
    *found = value;
    return DN_OK;
}

void dn_map_drop(dn_map *m, const uint64_t *found) { table_drop(&m->table, MAP_WORDS, found - 1); }

bool dn_map_remove(dn_map *m, uint64_t key) {
    uint64_t *found = dn_map_find(m, key);

    if (found) dn_map_drop(m, found);
    return found != NULL;
}

bool dn_map_next(const dn_map *m, size_t *at, dn_map_row *out_row) {
    const dn_table *t = &m->table;
    const size_t    now = t->cells ? (size_t)1 << t->bits : 0;
    const size_t    old = t->old ? (size_t)1 << t->old_bits : 0;

    while (*at < now + old) {
        const uint64_t *cell =
            *at < now ? &t->cells[*at * MAP_WORDS] : &t->old[(*at - now) * MAP_WORDS];
        ++*at;
        if (!cell[0]) continue;
        *out_row = (dn_map_row){cell[0] * UNSPREAD, cell[1]};
        return true;
    }
    return false;
}

/* ---- By hash ---- */

static uint64_t index_word(uint64_t hash, uint32_t row) {
    return (hash * SPREAD & ~ROW_MASK) | row;
}

void dn_index_done(dn_index *x) { table_done(&x->table, INDEX_WORDS); }

size_t dn_index_bytes(const dn_index *x) { return table_bytes(&x->table, INDEX_WORDS); }

int dn_index_reserve(dn_index *x, size_t more) { return reserve(&x->table, INDEX_WORDS, more); }

void dn_index_add(dn_index *x, uint64_t hash, uint32_t row) {
    const uint64_t word = index_word(hash, row);

    assert(row > 0 && table_is_sound(&x->table) && has_room(&x->table, 1));
    table_add(&x->table, INDEX_WORDS, &word);
    assert(table_is_sound(&x->table));
}

dn_index_cell *dn_index_find(const dn_index *x, uint64_t hash) {
    return table_find(&x->table, INDEX_WORDS, index_word(hash, 0), ~ROW_MASK);
}

dn_index_cell *dn_index_alike(const dn_index *x, const dn_index_cell *cell) {
    return table_alike(&x->table, INDEX_WORDS, cell, ~ROW_MASK);
}

void dn_index_prefetch(const dn_index *x, uint64_t hash) {
    table_prefetch(&x->table, INDEX_WORDS, index_word(hash, 0));
}

void dn_index_set(dn_index_cell *cell, uint32_t row) {
    assert(row > 0);
    *cell = (*cell & ~ROW_MASK) | row;
}

void dn_index_drop(dn_index *x, const dn_index_cell *cell) {
    table_drop(&x->table, INDEX_WORDS, cell);
}
