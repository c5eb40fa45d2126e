/* block_pool.c - see block_pool.h. A piece has blocks of one size. */
#include "block_pool.h"

#include <assert.h>
#include <stdlib.h>

/* A block begins with its piece. While the block is free, its bytes hold the next free one. */
typedef struct pool_block {
    pool_piece *piece;
    union {
        struct pool_block *next_free;
        uint64_t           bytes[1]; /* the taker's */
    };
} pool_block;

struct pool_piece {
    pool_piece *next, *before;
    pool_block *free;
    uint32_t    size;        /* steps of a block, without its head */
    uint32_t    live, fresh; /* taken; ever taken */
    uint32_t    max;
    uint64_t    blocks[];
};

static size_t stride(const pool_piece *p) {
    return (size_t)p->size * BLOCK_POOL_STEP + offsetof(pool_block, bytes);
}

static bool is_full(const pool_piece *p) { return p->live == p->max; }

static bool piece_is_sound(const pool_piece *p) {
    return p->size > 0 && p->live <= p->fresh && p->fresh <= p->max &&
           (p->free != NULL) == (p->live < p->fresh);
}

bool block_pool_is_sound(const block_pool *r) {
    size_t pieces = 0;

    for (uint32_t size = 0; size < sizeof r->sizes / sizeof r->sizes[0]; size++) {
        const pool_piece *before = NULL;
        for (const pool_piece *p = r->sizes[size].first; p; before = p, p = p->next, pieces++) {
            if (!piece_is_sound(p) || p->size != size || p->before != before) return false;
            if (before && is_full(before) && !is_full(p)) return false;
        }
        if (r->sizes[size].last != before) return false;
    }
    return pieces == r->pieces;
}

/* ---- The order of pieces ---- */

static void piece_leave(block_pool *r, pool_piece *p) {
    if (p->before) p->before->next = p->next;
    else r->sizes[p->size].first = p->next;
    if (p->next) p->next->before = p->before;
    else r->sizes[p->size].last = p->before;
}

static void piece_to_front(block_pool *r, pool_piece *p) {
    p->before = NULL;
    p->next = r->sizes[p->size].first;
    if (p->next) p->next->before = p;
    else r->sizes[p->size].last = p;
    r->sizes[p->size].first = p;
}

static void piece_to_back(block_pool *r, pool_piece *p) {
    p->next = NULL;
    p->before = r->sizes[p->size].last;
    if (p->before) p->before->next = p;
    else r->sizes[p->size].first = p;
    r->sizes[p->size].last = p;
}

/* ---- Blocks ---- */

static pool_piece *piece_new(block_pool *r, uint32_t size) {
    pool_piece *p = malloc(BLOCK_POOL_PIECE_BYTES);

    if (!p) return NULL;
    *p = (pool_piece){.size = size};
    p->max = (uint32_t)((BLOCK_POOL_PIECE_BYTES - sizeof *p) / stride(p));
    piece_to_front(r, p);
    r->pieces++;
    return p;
}

void *block_pool_take(block_pool *r, size_t size) {
    const uint32_t steps = (uint32_t)((size + BLOCK_POOL_STEP - 1) / BLOCK_POOL_STEP);

    assert(size > 0 && steps <= BLOCK_POOL_BLOCK_MAX / BLOCK_POOL_STEP);
    pool_piece *p = r->sizes[steps].first;
    if (!p || is_full(p)) p = piece_new(r, steps);
    if (!p) return NULL;
    pool_block *b = p->free;
    if (b) p->free = b->next_free;
    else b = (pool_block *)(void *)((char *)p->blocks + p->fresh++ * stride(p));
    if (p->free) __builtin_prefetch(p->free, /* for writing */ 1); /* the next one's */
    b->piece = p;
    p->live++;
    assert(piece_is_sound(p));
    if (is_full(p) && p->next) {
        piece_leave(r, p);
        piece_to_back(r, p);
    }
    return b->bytes;
}

void block_pool_give(block_pool *r, void *block) {
    pool_block *b = (pool_block *)(void *)((char *)block - offsetof(pool_block, bytes));
    pool_piece *p = b->piece;
    const bool  was_full = is_full(p);

    assert(p->live > 0 && piece_is_sound(p));
    assert((char *)b >= (char *)p->blocks && (char *)b < (char *)p + BLOCK_POOL_PIECE_BYTES);
    b->next_free = p->free;
    p->free = b;
    p->live--;
    assert(piece_is_sound(p));
    if (was_full) {
        piece_leave(r, p);
        piece_to_front(r, p);
    }
    /* An empty piece stays if no other has free blocks: the next block is taken soon. */
    const pool_piece *first = r->sizes[p->size].first;
    const bool        others = first != p || (p->next && !is_full(p->next));
    if (p->live > 0 || !others) return;
    piece_leave(r, p);
    r->pieces--;
    free(p);
}

void block_pool_done(block_pool *r) {
    for (size_t i = 0; i < sizeof r->sizes / sizeof r->sizes[0]; i++)
        for (pool_piece *p = r->sizes[i].first, *next; p; p = next) {
            next = p->next;
            free(p);
        }
    *r = (block_pool){0};
}
