/* blob.c - see blob.h. */
#include "blob.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct dn_blob {
    size_t            len;
    _Atomic(uint32_t) refs; /* Any thread */
    char              bytes[];
};

/* A count beyond 2^31 is a count below 0: somebody has given back a reference twice. */
static bool blob_is_sound(const dn_blob *blob) {
    const uint32_t refs = atomic_load_explicit(&blob->refs, memory_order_relaxed);

    return refs > 0 && refs < UINT32_MAX / 2;
}

dn_blob *dn_blob_new(size_t len, char **out_bytes) {
    dn_blob *blob = len <= SIZE_MAX - sizeof *blob ? malloc(sizeof *blob + len) : NULL;

    if (!blob) return NULL;
    blob->len = len;
    atomic_init(&blob->refs, 1);
    *out_bytes = blob->bytes;
    return blob;
}

dn_blob *dn_blob_of(const void *bytes, size_t len) {
    char    *copy;
    dn_blob *blob = dn_blob_new(len, &copy);

    if (blob && len > 0) memcpy(copy, bytes, len);
    return blob;
}

/* Relaxed: who has a reference to pass on has seen the bytes. */
dn_blob *dn_blob_ref(dn_blob *blob) {
    if (!blob) return NULL;
    assert(blob_is_sound(blob));
    (void)atomic_fetch_add_explicit(&blob->refs, 1, memory_order_relaxed);
    return blob;
}

/* Each release pairs with the acquire of the last one: all reads are over before the memory is freed. */
void dn_blob_unref(dn_blob *blob) {
    if (!blob) return;
    assert(blob_is_sound(blob));
    if (atomic_fetch_sub_explicit(&blob->refs, 1, memory_order_acq_rel) == 1) free(blob);
}

const char *dn_blob_bytes_borrow(const dn_blob *blob) { return blob ? blob->bytes : ""; }

size_t dn_blob_len(const dn_blob *blob) { return blob ? blob->len : 0; }
