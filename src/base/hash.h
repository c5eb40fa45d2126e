/* hash.h - hashes of bytes under a secret key: a client that does not know the key cannot choose ids that collide. */
#ifndef DIURNAL_BASE_HASH_H
#define DIURNAL_BASE_HASH_H

#include "diurnal/base.h"

typedef struct dn_hash_key {
    uint64_t k0, k1;
} dn_hash_key;

/* SipHash-1-3: the key cannot be told from its hashes either. */
uint64_t dn_hash(dn_hash_key key, const void *bytes, size_t len);

/* A fifth of the time, for tables: the hashes must not be shown, and must not be kept in a file. */
uint64_t dn_hash_quick(dn_hash_key key, const void *bytes, size_t len);

#endif
