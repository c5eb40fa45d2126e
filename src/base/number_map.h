/* numbers.h - a table from numbers to numbers: open addressing, no graves. Key 0 is not one.
 * It grows by the way: a larger one is begun, and every change moves a few places of the one before. */
#ifndef DIURNAL_BASE_NUMBER_MAP_H
#define DIURNAL_BASE_NUMBER_MAP_H

#include "diurnal/base.h"

enum { DN_NUMBER_MAP_STEP = 16 }; /* places of the table before that one change moves, at most */

typedef struct dn_number_row {
    uint64_t key, value; /* key 0: empty */
} dn_number_row;

/* Zeroed it is an empty table. */
typedef struct dn_number_map {
    dn_number_row *rows;
    size_t         len, mask; /* len: of both */
    /* The one before, while there is one. From its last place back to its first, around the end: old[old_at]
     * and the places behind it are empty, and old_left before it are still to be moved. A key whose home is one of the first old_sure of those is
     * in no other table. */
    dn_number_row *old;
    size_t         old_mask, old_at, old_left, old_sure;
} dn_number_map;

void dn_number_map_done(dn_number_map *t);

/* DN_ENOMEM: the table is as it was. Replaces what the key had; that takes no memory. */
DN_MUST_USE int dn_number_map_put(dn_number_map *t, uint64_t key, uint64_t value);
/* NULL: not there. Borrowed until the table changes. */
uint64_t *dn_number_map_find(const dn_number_map *t, uint64_t key);
bool      dn_number_map_remove(dn_number_map *t, uint64_t key);
/* The same of a key that has just been found, by its value. */
void dn_number_map_drop(dn_number_map *t, uint64_t *found);

/* All of them in no order, from *at == 0 on, while the table does not change. NULL: that was the last. */
const dn_number_row *dn_number_map_next(const dn_number_map *t, size_t *at);

#endif
