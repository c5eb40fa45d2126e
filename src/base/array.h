/* array.h - arrays that grow at their end, by doubling: of malloc's memory, or of pages where they may become large. */
#ifndef DIURNAL_BASE_ARRAY_H
#define DIURNAL_BASE_ARRAY_H

#include "diurnal/base.h"

/* Room for `wanted` elements in all: of a pointer and its capacity, a size_t; NULL and 0 at first. To be freed with free(). DN_ENOMEM: both are
 * unchanged. The new elements are not zeroed. */
#define DN_ARRAY_RESERVE(array, cap, wanted)                                                       \
    ((wanted) <= (cap) ? DN_OK : dn_array_grow_(&(array), &(cap), (wanted), sizeof *(array)))

/* The same of pages: growing copies little. To be freed with dn_pages_free. */
#define DN_ARRAY_RESERVE_PAGES(array, cap, wanted)                                                 \
    ((wanted) <= (cap) ? DN_OK : dn_array_grow_pages_(&(array), &(cap), (wanted), sizeof *(array)))

/* Only for the macros; array is the address of the pointer. */
DN_MUST_USE int dn_array_grow_(void *array, size_t *cap, size_t wanted, size_t size);
DN_MUST_USE int dn_array_grow_pages_(void *array, size_t *cap, size_t wanted, size_t size);

#endif
