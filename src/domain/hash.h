/* hash.h - a keyed hash of bytes somebody else chose: whoever does not know the key cannot make ids that
 * fall on one place (SipHash-1-3). */
#ifndef DIURNAL_DOMAIN_HASH_H
#define DIURNAL_DOMAIN_HASH_H

#include "diurnal/base.h"

typedef struct dn_hash_key {
    uint64_t k0, k1;
} dn_hash_key;

uint64_t dn_hash(dn_hash_key key, const void *bytes, size_t len);

#endif
