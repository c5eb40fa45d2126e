/* chains.h - a table of things that have their link in themselves: nothing is allocated to put one in, and nothing can
 * fail but the first. It grows a chain at a time, so no single change costs more than another.
 * A key says who is looked for; several may have the same. */
#ifndef DIURNAL_DOMAIN_CHAINS_H
#define DIURNAL_DOMAIN_CHAINS_H

#include "diurnal/base.h"

typedef struct dn_chain_link {
    uint64_t              key; /* not changed while it is in the table */
    struct dn_chain_link *next;
} dn_chain_link;

/* Zeroed it is an empty table. */
typedef struct dn_chains {
    dn_chain_link **heads;
    size_t          len;
    size_t          used, cap; /* chains; room for so many */
    size_t          whole;     /* the power of two that `used` has reached or passed */
} dn_chains;

void dn_chains_done(dn_chains *t); /* the things are their owner's */

/* DN_ENOMEM: there was no memory for a table; it is not in it. */
DN_MUST_USE int dn_chains_add(dn_chains *t, dn_chain_link *link);
void            dn_chains_remove(dn_chains *t, dn_chain_link *link); /* one that is there */

/* Has the memory brought near in which a key would be looked for. */
void dn_chains_fetch(const dn_chains *t, uint64_t key);
/* Of those with that key the one that was put last; NULL: there is none. */
dn_chain_link *dn_chains_find(const dn_chains *t, uint64_t key);
/* The next with the same key, or NULL. */
dn_chain_link *dn_chains_alike(const dn_chain_link *link);

#endif
