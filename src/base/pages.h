/* pages.h - memory for tables and arrays that may become large.
 * From DN_PAGES_PAGES bytes on it is mapped pages: the kernel zeroes each when it is first touched, and growing remaps
 * them, so that growing copies little and zeroes nothing. (malloc maps only blocks larger than those freed before.) */
#ifndef DIURNAL_BASE_PAGES_H
#define DIURNAL_BASE_PAGES_H

#include "diurnal/base.h"

enum {
    DN_PAGES_PAGES = 131072, /* bytes; less is malloc's */
    DN_PAGES_BLOCK =
        262144 /* bytes that dn_pages_drain gives back: less is not worth the system call */
};

/* Zeroed. NULL: no memory. */
void *dn_pages_new(size_t bytes);
/* `room` may be NULL and `from` 0. What is added is not zeroed. NULL: no memory, and `room` is unchanged. */
void *dn_pages_grow(void *room, size_t from, size_t to);
void  dn_pages_free(void *room, size_t bytes); /* accepts NULL */

/* As dn_pages_grow, for rows that are read in no order all day: in huge pages, if the system has any, because otherwise a
 * miss of the TLB costs as much as the read. It copies everything, and a first touch zeroes 2 MB: not for a tick. */
void *dn_pages_grow_large(void *room, size_t from, size_t to);

/* Gives back the DN_PAGES_BLOCK bytes at `at`, a multiple of that, which are zeroed from then on: so that freeing the
 * rest later costs nothing. `bytes`: of the whole. */
void dn_pages_drain(void *room, size_t bytes, size_t at);

#endif
