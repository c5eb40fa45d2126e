/* room.h - memory for tables and arrays that may become large. Growing never copies much and zeroes nothing:
 * from a size on it is pages of the kernel's, that come zeroed as they are touched, and are moved by their
 * addresses. (malloc's own blocks are so only while they are larger than those that were freed before.) */
#ifndef DIURNAL_BASE_PAGES_H
#define DIURNAL_BASE_PAGES_H

#include "diurnal/base.h"

enum {
    DN_PAGES_PAGES = 131072, /* bytes from which it is pages */
    DN_PAGES_BLOCK = 262144  /* what dn_pages_drain is worth its price for */
};

/* Zeroed. NULL: no memory. */
void *dn_pages_new(size_t bytes);
/* From NULL and 0 on; what is added is not zeroed. NULL: no memory, and it is as it was. */
void *dn_pages_grow(void *room, size_t from, size_t to);
void  dn_pages_free(void *room, size_t bytes); /* accepts NULL */

/* As dn_pages_grow, for rows that are met in no order all day long: in large pages, if the system has any, or it would
 * take as long to find where a page lies as to read what is in it. But it copies all, and 2 MB are zeroed for a first
 * touch: not where somebody waits for less than that. */
void *dn_pages_grow_large(void *room, size_t from, size_t to);

/* Gives back the memory under a part of a room that holds nothing but zeros, and goes on holding them: so that to
 * free the room costs nothing. `at`: bytes from its beginning, a multiple of DN_PAGES_BLOCK. */
void dn_pages_drain(void *room, size_t bytes, size_t at);

#endif
