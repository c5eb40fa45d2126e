/* faulty.h - a store in front of another one, whose writes fail when its owner says so: for replay and simulation. */
#ifndef DIURNAL_STORE_FAULTY_H
#define DIURNAL_STORE_FAULTY_H

#include "store.h"

/* Each is asked once a write, and answers DN_OK or what dn_store_write is to answer: `before` with nothing written,
 * `after` with all of it durable and nobody told. NULL: never. */
typedef struct dn_store_faults {
    int (*before)(void *context);
    int (*after)(void *context);
    void *context;
} dn_store_faults;

/* real stays the caller's, and is to outlive it. NULL: no memory. */
dn_store *dn_store_faulty_new(dn_store *real, const dn_store_faults *faults);

#endif
