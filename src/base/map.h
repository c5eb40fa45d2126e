/* map.h - the hash table: finds values by number, or rows by the hash of an id.
 * Open addressing, linear probing, backward-shift deletion, so there are no tombstones. A table that is three quarters
 * full gets a successor of twice its size; every later change moves DN_MAP_STEP cells and the rest of their cluster. So no
 * single change pays for the whole table, and each key is in exactly one of the two tables.
 *
 * Two forms of one table:
 *     dn_map      64-bit key -> 64-bit value, 16 bytes a cell: numbers, or pointers by the hash of an id
 *     dn_index    32 bits of a hash -> row number, 8 bytes a cell: the rows hold the keys, the caller compares them
 *
 * Zeroed, either is an empty table. Any id that a client chooses is to be hashed with a secret key: base/hash.h. */
#ifndef DIURNAL_BASE_MAP_H
#define DIURNAL_BASE_MAP_H

#include "diurnal/base.h"

enum { DN_MAP_STEP = 16 };

typedef struct dn_table {
    uint64_t *cells;     /* NULL: nothing was ever added */
    uint64_t *old;       /* the table before, while its cells are moved; else NULL */
    size_t    len;       /* in both */
    size_t    old_first; /* a cell that was empty when the move began: positions count from here */
    size_t
        old_moved; /* keys whose home is a position below this are in `cells`, all others in `old` */
    uint8_t bits, old_bits; /* each table has 1 << bits cells */
} dn_table;

/* ---- By number ---- */

typedef struct dn_map {
    dn_table table;
} dn_map;

typedef struct dn_map_row {
    uint64_t key, value;
} dn_map_row;

void                 dn_map_done(dn_map *map);
static inline size_t dn_map_len(const dn_map *map) { return map->table.len; }
size_t               dn_map_bytes(const dn_map *map);

/* Keys are not 0. Replaces the key's value; replacing takes no memory. DN_ENOMEM: the map is unchanged. */
DN_MUST_USE int dn_map_put(dn_map *map, uint64_t key, uint64_t value);
/* NULL: not there. Borrowed until the map changes. */
uint64_t *dn_map_find(const dn_map *map, uint64_t key);
bool      dn_map_remove(dn_map *map, uint64_t key); /* false: not there */
void      dn_map_drop(dn_map *map, const uint64_t *found);

/* Each row once, in no order, from *at == 0 on, while the map does not change. False: there is none left. */
bool dn_map_next(const dn_map *map, size_t *at, dn_map_row *out_row);

/* For hashes as keys: several values may share one. `alike` gives the next value with the key of that one, or NULL. */
DN_MUST_USE int dn_map_add(dn_map *map, uint64_t key, uint64_t value);
uint64_t       *dn_map_alike(const dn_map *map, const uint64_t *found);
void            dn_map_prefetch(const dn_map *map, uint64_t key);

/* ---- By hash ---- */

typedef struct dn_index {
    dn_table table;
} dn_index;

typedef uint64_t dn_index_cell;

void                 dn_index_done(dn_index *index);
static inline size_t dn_index_len(const dn_index *index) { return index->table.len; }
size_t               dn_index_bytes(const dn_index *index);

/* Room for `more` rows. DN_ENOMEM: the index is unchanged. */
DN_MUST_USE int dn_index_reserve(dn_index *index, size_t more);
/* There is room for it. Rows are not 0. */
void dn_index_add(dn_index *index, uint64_t hash, uint32_t row);

/* The cells whose hash may be that one: the first, and the next after a cell. NULL: no more. Borrowed until the index
 * changes. */
dn_index_cell *dn_index_find(const dn_index *index, uint64_t hash);
dn_index_cell *dn_index_alike(const dn_index *index, const dn_index_cell *cell);
void           dn_index_prefetch(const dn_index *index, uint64_t hash);

static inline uint32_t dn_index_row(const dn_index_cell *cell) { return (uint32_t)*cell; }
void dn_index_set(dn_index_cell *cell, uint32_t row); /* another row for the same hash */
void dn_index_drop(dn_index *index, const dn_index_cell *cell);

/* ---- Invariants ----
 * The whole walk: every key is found where it stands, and `len` counts them. The functions above assert only what costs
 * nothing. */
bool dn_map_is_sound(const dn_map *map);
bool dn_index_is_sound(const dn_index *index);

#endif
