/* table.c - how a table grows. */
#include "table.h"

#include <assert.h>

void sup_table_grow(dn_self *self, sup_table *t) {
    const uint32_t block = sup_table_block(t->len);
    const uint32_t rows = t->len == 0 ? SUP_TABLE_FIRST : t->len;

    assert(t->row_size > 0);
    assert(t->len < SUP_TABLE_MAX && "a table has a greatest length");
    t->blocks[block] = dn_alloc(self, rows * t->row_size);
    t->len += rows;
}
