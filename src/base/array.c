/* array.c - see array.h. */
#include "array.h"

#include "pages.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 8 };

static void *grow_malloc(void *rows, size_t from, size_t to) {
    (void)from;
    return realloc(rows, to);
}

static int grow(void *array, size_t *cap, size_t wanted, size_t size,
                void *(*grown)(void *rows, size_t from, size_t to)) {
    size_t more = *cap > 0 ? *cap : LEAST, bytes;
    void  *rows;

    memcpy(&rows, array, sizeof rows); /* it is a pointer of any type */
    assert((rows != NULL) == (*cap > 0) && wanted > *cap && size > 0);
    while (more < wanted)
        if (__builtin_mul_overflow(more, 2, &more)) return DN_ENOMEM;
    if (__builtin_mul_overflow(more, size, &bytes)) return DN_ENOMEM;
    rows = grown(rows, *cap * size, bytes);
    if (!rows) return DN_ENOMEM;
    memcpy(array, &rows, sizeof rows);
    *cap = more;
    return DN_OK;
}

int dn_array_grow_(void *array, size_t *cap, size_t wanted, size_t size) {
    return grow(array, cap, wanted, size, grow_malloc);
}

int dn_array_grow_pages_(void *array, size_t *cap, size_t wanted, size_t size) {
    return grow(array, cap, wanted, size, dn_pages_grow);
}
