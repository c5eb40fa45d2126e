/* block_pool.h - blocks of a few sizes that are taken and given back all day, cut from pieces of 16 KB.
 * Taking and giving cost a step in a free list. An empty piece is freed, so the memory of a peak does not stay. */
#ifndef DIURNAL_BASE_BLOCK_POOL_H
#define DIURNAL_BASE_BLOCK_POOL_H

#include "diurnal/base.h"

enum { BLOCK_POOL_STEP = 16, BLOCK_POOL_BLOCK_MAX = 512, BLOCK_POOL_PIECE_BYTES = 16384 };

typedef struct pool_piece pool_piece;

/* Zeroed it is an empty pool. */
typedef struct block_pool {
    /* By size: pieces with free blocks come before full ones. */
    struct {
        pool_piece *first, *last;
    } sizes[BLOCK_POOL_BLOCK_MAX / BLOCK_POOL_STEP + 1];
    size_t pieces;
} block_pool;

void block_pool_done(block_pool *r); /* frees the blocks that are taken, too */

/* 1 to BLOCK_POOL_BLOCK_MAX bytes, not zeroed. NULL: no memory. */
void *block_pool_take(block_pool *r, size_t size);
void  block_pool_give(block_pool *r, void *block); /* one that was taken from this pool */

/* The whole walk: the pieces of each size, in their order, and their counts. */
bool block_pool_is_sound(const block_pool *r);

#endif
