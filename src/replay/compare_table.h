/* compare_table.h - what is known of users or user-days for as long as it matters: by day and id, and taken out again.
 * An id is here as the lines have it, escapes and all: two runs write it alike. */
#ifndef DIURNAL_REPLAY_COMPARE_TABLE_H
#define DIURNAL_REPLAY_COMPARE_TABLE_H

#include "base/civil.h"
#include "base/map.h"

typedef struct compare_entry compare_entry;
struct compare_entry {
    compare_entry *older, *newer; /* by when they were put */
    uint64_t       hash;
    int64_t        since_ms;   /* its owner's; 0 at first */
    uint8_t        outcome[2]; /* its owner's; 0 at first */
    uint16_t       id_len;
    dn_day         day;
    char           id[];
};

/* Zeroed it is an empty table. */
typedef struct compare_table {
    dn_map         by_hash; /* of day and id; the values are entries */
    compare_entry *oldest, *newest;
} compare_table;

static inline size_t compare_table_len(const compare_table *t) { return dn_map_len(&t->by_hash); }
void                 compare_table_clear(compare_table *t); /* frees all that it has */

/* The entry of that day and id. NULL: there is none; or, of `need`, which makes one then: no memory. */
compare_entry *compare_table_find(const compare_table *t, dn_day day, const char *id,
                                  size_t id_len);
compare_entry *compare_table_need(compare_table *t, dn_day day, const char *id, size_t id_len);
void           compare_table_remove(compare_table *t, compare_entry *e);

#endif
