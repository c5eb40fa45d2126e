/* chains.h - a table of things that have their link in themselves: nothing is allocated to put one in, and nothing can
 * fail but the first. It grows a chain at a time, so no single change costs more than another.
 * A key says who is looked for; several may have the same. */
#ifndef DIURNAL_BASE_HASHTABLE_H
#define DIURNAL_BASE_HASHTABLE_H

#include "diurnal/base.h"

typedef struct dn_hashtable_link {
    uint64_t                  key; /* not changed while it is in the table */
    struct dn_hashtable_link *next;
} dn_hashtable_link;

/* Zeroed it is an empty table. */
typedef struct dn_hashtable {
    dn_hashtable_link **heads;
    size_t              len;
    size_t              used, cap; /* chains; room for so many */
    size_t              whole;     /* the power of two that `used` has reached or passed */
} dn_hashtable;

void dn_hashtable_done(dn_hashtable *t); /* the things are their owner's */

/* DN_ENOMEM: there was no memory for a table; it is not in it. */
DN_MUST_USE int dn_hashtable_add(dn_hashtable *t, dn_hashtable_link *link);
void dn_hashtable_remove(dn_hashtable *t, dn_hashtable_link *link); /* one that is there */

/* Has the memory brought near in which a key would be looked for. */
void dn_hashtable_fetch(const dn_hashtable *t, uint64_t key);
/* Of those with that key the one that was put last; NULL: there is none. */
dn_hashtable_link *dn_hashtable_find(const dn_hashtable *t, uint64_t key);
/* The next with the same key, or NULL. */
dn_hashtable_link *dn_hashtable_alike(const dn_hashtable_link *link);

#endif
