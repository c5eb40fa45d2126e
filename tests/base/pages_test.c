/* room_test.c - memory that grows keeps what was in it, whatever it is made of by then. */
#include "base/pages.h"
#include "test.h"

#include <stdint.h>

typedef void *grow_fn(void *room, size_t from, size_t to);

/* From small blocks over pages to large ones, by steps that end anywhere in a page. */
static void grows(grow_fn *grow) {
    uint32_t *room = NULL;
    size_t    len = 0;

    while (len < 3 << 20) {
        const size_t more = len + len / 2 + 1000;
        uint32_t    *grown = grow(room, len * sizeof *room, more * sizeof *room);
        CHECK(grown != NULL);
        for (size_t i = 0; i < len; i++) CHECK_MSG(grown[i] == ~i % UINT32_MAX, "row %zu", i);
        for (size_t i = len; i < more; i++) grown[i] = (uint32_t)(~i % UINT32_MAX);
        room = grown;
        len = more;
    }
    dn_pages_free(room, len * sizeof *room);
}

TEST(what_grows_keeps_what_it_had) { grows(dn_pages_grow); }

TEST(what_grows_in_large_pages_keeps_what_it_had) { grows(dn_pages_grow_large); }

TEST(what_is_new_is_zeroed_of_any_size) {
    for (size_t bytes = 8; bytes < 8 << 20; bytes *= 4) {
        unsigned char *room = dn_pages_new(bytes);
        CHECK(room != NULL);
        for (size_t i = 0; i < bytes; i += 61) CHECK_INT(room[i], 0);
        dn_pages_free(room, bytes);
    }
}
