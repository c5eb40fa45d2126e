/* array_test.c - arrays that grow. */
#include "base/array.h"
#include "base/pages.h"
#include "starving.h"
#include "test.h"

#include <stdlib.h>

typedef struct numbers {
    uint32_t *rows;
    size_t    len, cap;
} numbers;

static int numbers_add(numbers *n, uint32_t number) {
    if (DN_ARRAY_RESERVE(n->rows, n->cap, n->len + 1) < 0) return DN_ENOMEM;
    n->rows[n->len++] = number;
    return DN_OK;
}

TEST(array_keeps_its_elements_while_it_grows) {
    numbers n = {0};
    size_t  grown = 0;

    for (uint32_t i = 0; i < 100000; i++) {
        const size_t cap = n.cap;
        CHECK_INT(numbers_add(&n, i), DN_OK);
        grown += n.cap != cap;
    }
    for (uint32_t i = 0; i < 100000; i++) CHECK_UINT(n.rows[i], i);
    CHECK_MSG(grown < 20, "it grew %zu times", grown);
    free(n.rows);
}

TEST(array_of_pages_keeps_its_elements_while_it_grows) {
    numbers n = {0};

    for (uint32_t i = 0; i < 1000000; i++) {
        CHECK_INT(DN_ARRAY_RESERVE_PAGES(n.rows, n.cap, n.len + 1), DN_OK);
        n.rows[n.len++] = i;
    }
    for (uint32_t i = 0; i < 1000000; i++) CHECK_UINT(n.rows[i], i);
    dn_pages_free(n.rows, n.cap * sizeof *n.rows);
}

TEST(array_reserves_many_at_once) {
    numbers n = {0};

    CHECK_INT(DN_ARRAY_RESERVE(n.rows, n.cap, 1000), DN_OK);
    CHECK(n.cap >= 1000);
    starve_nth(1);
    for (uint32_t i = 0; i < 1000; i++) CHECK_INT(numbers_add(&n, i), DN_OK);
    CHECK(!starve_end());
    free(n.rows);
}

TEST(array_without_memory_is_unchanged) {
    bool starved = true;

    for (uint64_t nth = 1; starved; nth++) {
        numbers n = {0};
        int     rc = DN_OK;

        starve_nth(nth);
        for (uint32_t i = 0; i < 1000 && rc == DN_OK; i++) rc = numbers_add(&n, i);
        starved = starve_end();
        CHECK_INT(rc, starved ? DN_ENOMEM : DN_OK);
        CHECK_UINT(n.len, starved ? n.cap : 1000);
        for (uint32_t i = 0; i < n.len; i++) CHECK_UINT(n.rows[i], i);
        CHECK_INT(numbers_add(&n, 7), DN_OK);
        free(n.rows);
    }
}

TEST(array_refuses_more_bytes_than_there_can_be) {
    numbers n = {0};

    CHECK_INT(DN_ARRAY_RESERVE(n.rows, n.cap, SIZE_MAX), DN_ENOMEM);
    CHECK_INT(DN_ARRAY_RESERVE(n.rows, n.cap, SIZE_MAX / 4), DN_ENOMEM);
    CHECK_PTR(n.rows, NULL);
    CHECK_UINT(n.cap, 0);
}
