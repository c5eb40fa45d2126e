/* queue_room.h - memory for what comes and goes all day in a few sizes: taken and given at the cost of a list, and
 * returned when a piece of it is empty, so that a herd leaves nothing behind. */
#ifndef DIURNAL_BASE_BLOCK_POOL_H
#define DIURNAL_BASE_BLOCK_POOL_H

#include "diurnal/base.h"

enum { BLOCK_POOL_STEP = 16, BLOCK_POOL_BLOCK_MAX = 512, BLOCK_POOL_PIECE_BYTES = 16384 };

typedef struct pool_piece pool_piece;

/* Zeroed it has none. */
typedef struct block_pool {
    /* By size: those with free blocks stand before those without. */
    struct {
        pool_piece *first, *last;
    } sizes[BLOCK_POOL_BLOCK_MAX / BLOCK_POOL_STEP + 1];
    size_t pieces;
} block_pool;

void block_pool_done(block_pool *r); /* all that was taken too */

/* Contents undefined. NULL: no memory. */
void *block_pool_take(block_pool *r, size_t size);
void  block_pool_give(block_pool *r, void *block);

#endif
