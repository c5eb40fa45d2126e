/* recycle.h - blocks of memory of one size that one thread takes and any thread gives back.
 * For what is filled here and read up there many times a second: an allocator that gets a block back from another thread
 * returns it to the system as soon as not, and fetches it anew, page by page. */
#ifndef DIURNAL_RECYCLE_H
#define DIURNAL_RECYCLE_H

#include "diurnal/base.h"

typedef struct dn_recycle dn_recycle;

/* most: so many blocks that were given back are kept; what is given beyond that is the system's. DN_ENOMEM: *out_recycle is
 * untouched. */
DN_MUST_USE int dn_recycle_new(size_t bytes, uint32_t most, dn_recycle **out_recycle);
/* When every block has been given back. Accepts NULL. */
void dn_recycle_free(dn_recycle *recycle);

/* A block, with anything in it, aligned for anything; for the one thread that takes. NULL: no memory. */
void *dn_recycle_take(dn_recycle *recycle);
/* One that was taken, by which it is known whose it is. Any thread. */
void dn_recycle_give(void *block);

#endif
