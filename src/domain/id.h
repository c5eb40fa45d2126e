/* id.h - ids that applications give: of users, references, creators. Any thread. */
#ifndef DIURNAL_DOMAIN_ID_H
#define DIURNAL_DOMAIN_ID_H

#include <stddef.h>
#include <string.h>

/* 1 to 128 bytes of UTF-8, no control characters, no spaces at the ends. NULL: it is valid; else what is
 * wrong with it, as the end of a sentence about it. */
enum { DN_ID_MAX = 128 };
const char *dn_id_fault(const char *id, size_t len);

/* Copies as memcpy does; the caller's buffer has DN_ID_MAX bytes. */
static inline void dn_id_copy(char *to, const char *id, size_t len) { memcpy(to, id, len); }

#endif
