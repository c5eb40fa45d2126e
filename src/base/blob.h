/* blob.h - an immutable byte string with a reference count.
 * Requests and answers of up to 1 MiB pass from actor to actor, and from thread to thread, without a copy. A blob is
 * written once, before it is shared, and freed with its last reference. It has no limit of its own. Any thread. */
#ifndef DIURNAL_BASE_BLOB_H
#define DIURNAL_BASE_BLOB_H

#include "diurnal/base.h"

typedef struct dn_blob dn_blob;

/* A blob of len bytes with one reference, the caller's, or NULL if memory is refused. The caller fills *out_bytes before it
 * shares the blob, and does not write to it afterwards. */
DN_MUST_USE dn_blob *dn_blob_new(size_t len, char **out_bytes);

/* The same with a copy of these bytes. */
DN_MUST_USE dn_blob *dn_blob_of(const void *bytes, size_t len);

/* One reference more; returns the blob. Accepts NULL. */
dn_blob *dn_blob_ref(dn_blob *blob);

/* One reference less; the last one frees the blob. Accepts NULL. */
void dn_blob_unref(dn_blob *blob);

static inline void dn_blob_freep(dn_blob **blob) { dn_blob_unref(*blob); } /* for DN_AUTO */

/* Borrowed as long as the caller holds a reference. A NULL blob has 0 bytes, at "". */
const char *dn_blob_bytes_borrow(const dn_blob *blob);
size_t      dn_blob_len(const dn_blob *blob);

#endif
