/* block_pool_test.c - blocks that are taken and given back, each with a pattern that must not change. */
#include "base/block_pool.h"

#include "starving.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 2000 };

typedef struct rig {
    block_pool     block_pool;
    uint64_t       random;
    unsigned char *blocks[BLOCKS];
    size_t         sizes[BLOCKS];
} rig;

static uint64_t below(rig *r, uint64_t bound) { return test_random(&r->random) % bound; }

static void take(rig *r, size_t i) {
    r->sizes[i] = 1 + below(r, below(r, 2) ? 40 : BLOCK_POOL_BLOCK_MAX);
    r->blocks[i] = block_pool_take(&r->block_pool, r->sizes[i]);
    CHECK(r->blocks[i]);
    CHECK_UINT((uintptr_t)r->blocks[i] % 8, 0);
    memset(r->blocks[i], (int)(i & 0xff), r->sizes[i]);
}

static void give(rig *r, size_t i) {
    for (size_t at = 0; at < r->sizes[i]; at++) CHECK_UINT(r->blocks[i][at], i & 0xff);
    block_pool_give(&r->block_pool, r->blocks[i]);
    r->blocks[i] = NULL;
}

TEST(block_pool_blocks_keep_their_bytes_until_given_back) {
    rig *r = calloc(1, sizeof *r);

    CHECK(r);
    r->random = test_seed();
    for (int n = 0; n < 100000 / TEST_SLOW_FACTOR; n++) {
        const size_t i = below(r, BLOCKS);
        const bool   fills = n / 20000 % 2 == 0;
        if ((r->blocks[i] == NULL) != fills && below(r, 3) > 0) continue;
        if (r->blocks[i]) give(r, i);
        else take(r, i);
        if (n % 100 == 0) CHECK(block_pool_is_sound(&r->block_pool));
    }
    for (size_t i = 0; i < BLOCKS; i++)
        if (r->blocks[i]) give(r, i);
    CHECK_MSG(r->block_pool.pieces <= BLOCK_POOL_BLOCK_MAX / BLOCK_POOL_STEP,
              "%zu pieces are kept without blocks", r->block_pool.pieces);
    block_pool_done(&r->block_pool);
    free(r);
}

TEST(block_pool_frees_all_pieces_but_one_after_a_peak) {
    enum { HERD = 20000 };
    static void *blocks[HERD];
    block_pool   r = {0};

    for (int i = 0; i < HERD; i++) CHECK((blocks[i] = block_pool_take(&r, 200)));
    CHECK(r.pieces >= HERD * 200 / BLOCK_POOL_PIECE_BYTES &&
          r.pieces <= HERD * 220 / BLOCK_POOL_PIECE_BYTES);
    for (int i = 0; i < HERD; i++) block_pool_give(&r, blocks[i * 7919 % HERD]);
    CHECK_UINT(r.pieces, 1);
    block_pool_done(&r);
}

TEST(block_pool_done_frees_blocks_that_were_not_given_back) {
    block_pool r = {0};

    for (size_t i = 0; i < 1000; i++) CHECK(block_pool_take(&r, 1 + i % BLOCK_POOL_BLOCK_MAX));
    block_pool_done(&r);
    CHECK_UINT(r.pieces, 0);
}

TEST(block_pool_without_memory_gives_no_block_and_recovers) {
    block_pool r = {0};

    starve_nth(1);
    CHECK_PTR(block_pool_take(&r, 100), NULL);
    CHECK(starve_end());
    CHECK(block_pool_take(&r, 100));
    block_pool_done(&r);
}

TEST_ABORTS(block_pool_refuses_a_block_given_twice, "p->live > 0") {
    block_pool r = {0};
    void      *block = block_pool_take(&r, 100);

    block_pool_give(&r, block);
    block_pool_give(&r, block);
}
