/* hash.h - hashes of bytes under a key: who does not know it cannot make ids that fall on one place. */
#ifndef DIURNAL_BASE_HASH_H
#define DIURNAL_BASE_HASH_H

#include "diurnal/base.h"

typedef struct dn_hash_key {
    uint64_t k0, k1;
} dn_hash_key;

/* SipHash-1-3: what is seen of the hashes does not help either. */
uint64_t dn_hash(dn_hash_key key, const void *bytes, size_t len);

/* A fifth of the time, for a table whose hashes nobody sees. In one program, and no file. */
uint64_t dn_hash_quick(dn_hash_key key, const void *bytes, size_t len);

#endif
