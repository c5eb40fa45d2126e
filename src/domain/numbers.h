/* numbers.h - a table from numbers to numbers: open addressing, no graves. Key 0 is not one.
 * It grows by the way: a larger one is begun, and every change moves a few places of the one before. */
#ifndef DIURNAL_DOMAIN_NUMBERS_H
#define DIURNAL_DOMAIN_NUMBERS_H

#include "diurnal/base.h"

enum { DN_NUMBERS_STEP = 16 }; /* places of the table before that one change moves, at most */

typedef struct dn_number_row {
    uint64_t key, value; /* key 0: empty */
} dn_number_row;

/* Zeroed it is an empty table. */
typedef struct dn_numbers {
    dn_number_row *rows;
    size_t         len, mask; /* len: of both */
    /* The one before, while there is one. From its last place back to its first, around the end: old[old_at]
     * and the places behind it are empty, and old_left before it are still to be moved. A key whose home is one of the first old_sure of those is
     * in no other table. */
    dn_number_row *old;
    size_t         old_mask, old_at, old_left, old_sure;
} dn_numbers;

void dn_numbers_done(dn_numbers *t);

/* DN_ENOMEM: the table is as it was. Replaces what the key had; that takes no memory. */
DN_MUST_USE int dn_numbers_put(dn_numbers *t, uint64_t key, uint64_t value);
/* NULL: not there. Borrowed until the table changes. */
uint64_t *dn_numbers_find(const dn_numbers *t, uint64_t key);
bool      dn_numbers_remove(dn_numbers *t, uint64_t key);
/* The same of a key that has just been found, by its value. */
void dn_numbers_drop(dn_numbers *t, uint64_t *found);

/* All of them in no order, from *at == 0 on, while the table does not change. NULL: that was the last. */
const dn_number_row *dn_numbers_next(const dn_numbers *t, size_t *at);

#endif
