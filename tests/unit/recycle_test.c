/* recycle_test.c - blocks that are taken by one thread and given back by any. */
#include "diurnal/recycle.h"

#include "diurnal/handoff.h"
#include "mem.h"

#include "test.h"

#include <string.h>

enum { BYTES = 256, WORDS = BYTES / 8, MANY = 20000 };

static bool no_memory(void *context) {
    (void)context;
    return true;
}

static dn_recycle *recycle_of(uint32_t most) {
    dn_recycle *r;

    CHECK_INT(dn_recycle_new(BYTES, most, &r), DN_OK);
    return r;
}

/* As many as are asked for, of the system's memory or of that which came back. */
static size_t taken_of(dn_recycle *r, void **blocks, size_t len, bool from_system) {
    size_t taken = 0;

    mem_refuse(from_system ? NULL : no_memory, NULL);
    while (taken < len && (blocks[taken] = dn_recycle_take(r))) {
        CHECK_UINT((uintptr_t)blocks[taken] % 16, 0);
        memset(blocks[taken++], 0xa5, BYTES);
    }
    mem_refuse(NULL, NULL);
    return taken;
}

TEST(what_was_given_back_is_taken_again_and_no_more_is_kept_than_was_said) {
    void       *blocks[8] = {NULL}, *again[8] = {NULL};
    dn_recycle *r = recycle_of(3);

    CHECK_UINT(taken_of(r, blocks, 8, true), 8);
    CHECK_UINT(taken_of(r, again, 1, false), 0);
    dn_recycle_give(blocks[0]);
    CHECK_UINT(taken_of(r, again, 8, false), 1);
    CHECK_PTR(again[0], blocks[0]);
    for (int i = 0; i < 8; i++) dn_recycle_give(blocks[i]);
    CHECK_UINT(taken_of(r, again, 8, false), 3);
    for (int i = 0; i < 3; i++)
        CHECK_PTR(again[i], blocks[2 - i]); /* the last of them is nearest */
    for (int i = 0; i < 3; i++) dn_recycle_give(again[i]);
    dn_recycle_free(r);
    dn_recycle_free(NULL);
}

TEST(without_memory_there_is_none) {
    dn_recycle *r = NULL;

    mem_refuse(no_memory, NULL);
    CHECK_INT(dn_recycle_new(BYTES, 3, &r), DN_ENOMEM);
    mem_refuse(NULL, NULL);
    CHECK_PTR(r, NULL);
}

/* It gives back what it was handed, if that is still as it was filled. */
static void give_back(void *context, const void *batch, size_t len) {
    uint64_t *seen = context;

    for (size_t i = 0; i < len / sizeof(uint64_t *); i++) {
        uint64_t *const words = ((uint64_t *const *)batch)[i];
        for (int word = 0; word < WORDS; word++) CHECK_UINT(words[word], *seen);
        memset(words, 0, BYTES);
        dn_recycle_give(words);
        ++*seen;
    }
}

TEST(nobody_has_a_block_that_somebody_else_has) {
    uint64_t    random = test_seed(), filled = 0, seen = 0;
    dn_recycle *r = recycle_of(4);
    dn_handoff *h;

    CHECK_INT(dn_handoff_new(3, 8 * sizeof(uint64_t *), give_back, &seen, &h), DN_OK);
    for (int i = 0; i < MANY / TEST_SLOW_FACTOR; i++) {
        const size_t len = test_random(&random) % 9;
        uint64_t   **batch = dn_handoff_batch(h);
        for (size_t at = 0; at < len; at++, filled++) {
            batch[at] = dn_recycle_take(r);
            CHECK(batch[at]);
            for (int word = 0; word < WORDS; word++) batch[at][word] = filled;
        }
        dn_handoff_give(h, len * sizeof *batch);
    }
    dn_handoff_settle(h);
    CHECK_UINT(seen, filled);
    dn_handoff_free(h);
    dn_recycle_free(r);
}
