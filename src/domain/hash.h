/* hash.h - hashes of bytes: a keyed one for those that somebody else chose, since whoever does not know the key cannot make
 * ids that fall on one place (SipHash-1-3); and a quick one for the others. */
#ifndef DIURNAL_DOMAIN_HASH_H
#define DIURNAL_DOMAIN_HASH_H

#include "diurnal/base.h"

typedef struct dn_hash_key {
    uint64_t k0, k1;
} dn_hash_key;

uint64_t dn_hash(dn_hash_key key, const void *bytes, size_t len);

/* Of what nobody has a reason to make fall on one place. All bits count; in one program, and no file. */
uint64_t dn_hash_quick(const void *bytes, size_t len);

#endif
