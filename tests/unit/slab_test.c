/* slab_test.c - blocks stay where they are, keep their numbers, and run out only where they were told to. */
#include "slab.h"

#include "mem.h"
#include "test.h"

#include <string.h>

static bool refuse_all(void *context) {
    (void)context;
    return true;
}

TEST(blocks_are_distinct_zero_at_first_and_known_by_number) {
    enum { COUNT = 5000, SIZE = 48 };
    static unsigned char *blocks[COUNT];
    slab                  s = {0};

    CHECK_INT(slab_init(&s, SIZE, COUNT, false), DN_OK);
    CHECK(!slab_knows(&s, 0));
    for (uint32_t i = 0; i < COUNT; i++) {
        blocks[i] = slab_take(&s);
        CHECK(blocks[i] != NULL);
        for (int k = 0; k < SIZE; k++) CHECK_INT(blocks[i][k], 0);
        memset(blocks[i], (int)i, SIZE);
        CHECK_UINT(slab_index(&s, blocks[i]), i);
        CHECK_PTR(slab_at(&s, i), blocks[i]);
        CHECK(slab_knows(&s, i));
        CHECK(!slab_knows(&s, i + 1));
    }
    for (uint32_t i = 0; i < COUNT; i++)
        for (int k = 0; k < SIZE; k++) CHECK_INT(blocks[i][k], (unsigned char)i);
    slab_done(&s);
}

TEST(a_block_has_its_number_whatever_its_size) {
    for (uint32_t size = 8; size <= 1040; size += 8) {
        slab s = {0};

        CHECK_INT(slab_init(&s, size, 1 << 22, false), DN_OK);
        /* Its number is arithmetic: the last ones need not be there to have theirs. */
        for (uint32_t i = 0; i < 1 << 22; i += i < 100 ? 1 : 65521)
            CHECK_UINT(slab_index(&s, slab_at(&s, i)), i);
        slab_done(&s);
    }
}

TEST(a_slab_gives_what_it_may_hold_and_then_no_more) {
    enum { COUNT = 1000 }; /* of a size that does not divide a page */
    slab   s = {0};
    size_t given = 0;
    void  *last = NULL, *block;

    CHECK_INT(slab_init(&s, 24, COUNT, false), DN_OK);
    while ((block = slab_take(&s))) {
        given++;
        last = block;
    }
    CHECK(given >= COUNT);
    CHECK(given < COUNT + 4096 / 24 + 1);
    CHECK(!slab_take(&s));
    slab_give(&s, last);
    CHECK_PTR(slab_take(&s), last);
    slab_done(&s);
}

TEST(a_freed_block_is_the_next_one_given) {
    slab s = {0};

    CHECK_INT(slab_init(&s, 64, 100, true), DN_OK);
    void *a = slab_take(&s), *b = slab_take(&s);
    slab_give(&s, a);
    slab_give(&s, b);
    CHECK_PTR(slab_take(&s), b);
    CHECK_PTR(slab_take(&s), a);
    slab_done(&s);
}

TEST(a_slab_that_gets_no_memory_answers_null_and_goes_on_when_there_is_some) {
    slab s = {0};

    mem_refuse(refuse_all, NULL);
    CHECK_INT(slab_init(&s, 64, 100, false), DN_ENOMEM);
    mem_refuse(NULL, NULL);
    CHECK_INT(slab_init(&s, 64, 100, false), DN_OK);
    mem_refuse(refuse_all, NULL);
    CHECK_PTR(slab_take(&s), NULL);
    CHECK_UINT(slab_memory(&s), 0);
    mem_refuse(NULL, NULL);
    CHECK(slab_take(&s) != NULL);
    CHECK(slab_memory(&s) > 0);
    slab_done(&s);
}

TEST(a_slab_that_was_never_made_may_be_taken_apart) {
    slab s = {0};

    slab_done(&s);
    CHECK_INT(slab_init(&s, 8, 10, false), DN_OK);
    slab_done(&s);
    slab_done(&s);
}

TEST(memory_of_a_slab_grows_with_use_and_not_with_turnover) {
    slab s = {0};

    CHECK_INT(slab_init(&s, 128, 1 << 20, true), DN_OK);
    void        *first = slab_take(&s);
    const size_t one = slab_memory(&s);
    slab_give(&s, first);
    for (int i = 0; i < 100000; i++) slab_give(&s, slab_take(&s));
    CHECK_UINT(slab_memory(&s), one);
    for (int i = 0; i < 10000; i++) CHECK(slab_take(&s) != NULL);
    CHECK(slab_memory(&s) >= 10000 * 128);
    CHECK(slab_memory(&s) < 4 * 10000 * 128);
    slab_done(&s);
}

/* Random takes and gives against a list of what is out. */
TEST(blocks_out_at_the_same_time_never_overlap) {
    enum { MAX = 300 };
    uint64_t *out[MAX];
    uint64_t  random = test_seed(), stamp = 0, stamps[MAX];
    int       len = 0;
    slab      s = {0};

    CHECK_INT(slab_init(&s, 16, MAX, true), DN_OK);
    for (int i = 0; i < 200000 / TEST_SLOW_FACTOR; i++) {
        if (len < MAX && (len == 0 || test_random(&random) % 2)) {
            out[len] = slab_take(&s);
            CHECK(out[len] != NULL);
            stamps[len] = out[len][0] = out[len][1] = ++stamp;
            len++;
        } else {
            const int at = (int)(test_random(&random) % (uint64_t)len);
            CHECK_UINT(out[at][0], stamps[at]);
            CHECK_UINT(out[at][1], stamps[at]);
            slab_give(&s, out[at]);
            out[at] = out[--len];
            stamps[at] = stamps[len];
        }
    }
    slab_done(&s);
}
