/* table.h - a table that grows, and whose rows never move.
 * Blocks of 64, 64, 128, 256, … rows: so it takes memory for what is in it and copies nothing. It belongs to
 * an actor and goes with it. */
#ifndef DIURNAL_SUPERVISOR_TABLE_H
#define DIURNAL_SUPERVISOR_TABLE_H

#include "diurnal/actor.h"

enum { SUP_TABLE_FIRST = 64, SUP_TABLE_BLOCKS = 17 };
#define SUP_TABLE_MAX ((uint32_t)SUP_TABLE_FIRST << (SUP_TABLE_BLOCKS - 1)) /* 4,194,304 rows */

typedef struct sup_table {
    size_t   row_size;
    uint32_t len; /* rows there are; not NULL up to there */
    char    *blocks[SUP_TABLE_BLOCKS];
} sup_table;

/* Block 0 has rows 0..63, block b > 0 those from 64 << (b - 1) up to its double. */
static inline uint32_t sup_table_block(uint32_t index) {
    if (index < SUP_TABLE_FIRST) return 0;
    return 32 - (uint32_t)__builtin_clz(index / SUP_TABLE_FIRST);
}

static inline void *sup_table_at(const sup_table *t, uint32_t index) {
    const uint32_t block = sup_table_block(index);
    const uint32_t first = block == 0 ? 0 : (uint32_t)SUP_TABLE_FIRST << (block - 1);

    return t->blocks[block] + (index - first) * t->row_size;
}

/* One more block of zeroed rows. Fails self if there is no memory; not beyond SUP_TABLE_MAX. */
void sup_table_grow(dn_self *self, sup_table *t);

#endif
