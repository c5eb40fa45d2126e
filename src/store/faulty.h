/* faulty.h - a store in front of another one whose writes fail on demand: for replay and simulation. */
#ifndef DIURNAL_STORE_FAULTY_H
#define DIURNAL_STORE_FAULTY_H

#include "store.h"

/* Called once a write; a code other than DN_OK is what dn_store_write returns. `before`: nothing is written. `after`: the
 * batch is durable and its results are lost, as when a database's answer to a commit is lost (DN_EAWAY) or the process ends
 * (DN_EIO). NULL: no fault. */
typedef struct dn_store_faults {
    int (*before)(void *context);
    int (*after)(void *context);
    void *context;
} dn_store_faults;

/* The caller keeps real, which must outlive the new store. NULL: out of memory. */
dn_store *dn_store_faulty_new(dn_store *real, const dn_store_faults *faults);

#endif
