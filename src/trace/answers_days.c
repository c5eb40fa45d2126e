/* answers_days.c - the file of days: a chain of blocks for each.
 * A trace may have its lines by day, or by user with all days in turn, or in no order. So each day has a block of its
 * own that is being filled, and of these blocks a bounded number is in memory: enough for eleven years in turn. Beyond
 * that the one held longest is written half full, and read again when its day goes on.
 *
 *     block    next 4 (0: the last) | used 4 | rows, one behind the other | nothing        4096 bytes
 *
 * Blocks are numbered from 1. Which one comes next is known before a block is full and written: so a day is read from
 * its first line to its last, and of equals the last one is put last. */
#include "answers_days.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/map.h"
#include "base/pages.h"
#include "trace_temp.h"

enum { BLOCK = 4096, HEAD = 8, SLOTS = 4096 };

typedef struct block {
    uint32_t next, used;
    char     rows[BLOCK - HEAD];
} block;
static_assert(sizeof(block) == BLOCK, "as in the file");

typedef struct chain {
    uint32_t first, last; /* blocks */
    uint32_t slot;        /* 1 + where the last one is in memory; 0: it is in the file */
} chain;

struct answers_days {
    int      fd;
    dn_map   by_day; /* which chain */
    chain   *chains;
    uint32_t chains_len;
    size_t   chains_cap;
    uint32_t blocks; /* in the file, or to be */
    block   *slots;  /* SLOTS of them, touched as they are used; NULL when sealed */
    uint32_t slots_len, hand;
    uint32_t slot_chains[SLOTS];
};

static uint64_t key_of(dn_day day);
static int      chain_of(answers_days *d, dn_day day, uint32_t *out_chain);
static int      chain_fill(answers_days *d, uint32_t at, block **out_block);
static int      slot_clear(answers_days *d, uint32_t at);
static int      block_write(const answers_days *d, uint32_t n, const block *b);
static int      block_read(const answers_days *d, uint32_t n, block *out_block);

int answers_days_new(answers_days **out_days) {
    answers_days *const d = calloc(1, sizeof *d);
    int                 rc;

    if (!d) return DN_ENOMEM;
    d->slots = dn_pages_new(SLOTS * sizeof(block));
    rc = d->slots ? trace_temp_open(&d->fd) : DN_ENOMEM;
    if (rc == DN_OK) {
        *out_days = d;
        return DN_OK;
    }
    dn_pages_free(d->slots, SLOTS * sizeof(block));
    free(d);
    return rc;
}

void answers_days_free(answers_days *d) {
    if (!d) return;
    dn_pages_free(d->slots, SLOTS * sizeof(block));
    free(d->chains);
    dn_map_done(&d->by_day);
    (void)close(d->fd);
    free(d);
}

/* ---- Putting ---- */

int answers_days_put(answers_days *d, dn_day day, const answers_row *row) {
    char     bytes[ANSWERS_ROW_MAX];
    size_t   len = answers_row_write(row, bytes);
    uint32_t at = 0;
    block   *b = NULL;
    int      rc = chain_of(d, day, &at);

    if (rc == DN_OK) rc = chain_fill(d, at, &b);
    if (rc < 0) return rc;
    if (b->used + len > sizeof b->rows) {
        b->next = ++d->blocks;
        rc = block_write(d, d->chains[at].last, b);
        if (rc < 0) return rc;
        d->chains[at].last = b->next;
        b->next = b->used = 0;
    }
    memcpy(b->rows + b->used, bytes, len);
    b->used += (uint32_t)len;
    return DN_OK;
}

int answers_days_seal(answers_days *d) {
    int rc = DN_OK;

    for (uint32_t i = 0; i < d->slots_len && rc == DN_OK; i++) rc = slot_clear(d, i);
    dn_pages_free(d->slots, SLOTS * sizeof(block));
    d->slots = NULL;
    return rc;
}

static uint64_t key_of(dn_day day) {
    assert(day > DN_DAY_NONE);
    return (uint64_t)((int64_t)day - DN_DAY_NONE);
}

static int chain_of(answers_days *d, dn_day day, uint32_t *out_chain) {
    const uint64_t *const known = dn_map_find(&d->by_day, key_of(day));

    if (known) {
        *out_chain = (uint32_t)*known;
        return DN_OK;
    }
    if (DN_ARRAY_RESERVE(d->chains, d->chains_cap, (size_t)d->chains_len + 1) < 0) return DN_ENOMEM;
    if (dn_map_put(&d->by_day, key_of(day), d->chains_len) < 0) return DN_ENOMEM;
    *out_chain = d->chains_len++;
    d->chains[*out_chain] = (chain){0};
    return DN_OK;
}

/* The block that is being filled, in memory. */
static int chain_fill(answers_days *d, uint32_t at, block **out_block) {
    chain *const c = &d->chains[at];
    int          rc = DN_OK;

    if (c->slot == 0) {
        uint32_t slot = d->slots_len;

        if (slot < SLOTS) {
            d->slots_len++;
        } else {
            slot = d->hand++ % SLOTS;
            rc = slot_clear(d, slot);
        }
        if (rc == DN_OK && c->last > 0) rc = block_read(d, c->last, &d->slots[slot]);
        if (rc < 0) return rc;
        if (c->last == 0) {
            d->slots[slot].next = d->slots[slot].used = 0;
            c->first = c->last = ++d->blocks;
        }
        d->slot_chains[slot] = at;
        c->slot = slot + 1;
    }
    *out_block = &d->slots[c->slot - 1];
    return DN_OK;
}

static int slot_clear(answers_days *d, uint32_t at) {
    chain *const c = &d->chains[d->slot_chains[at]];

    assert(c->slot == at + 1);
    c->slot = 0;
    return block_write(d, c->last, &d->slots[at]);
}

/* ---- Reading ---- */

bool answers_days_has(const answers_days *d, dn_day day) {
    return dn_map_find(&d->by_day, key_of(day)) != NULL;
}

int answers_days_read(const answers_days *d, dn_day day, answers_table *into) {
    const uint64_t *const known = dn_map_find(&d->by_day, key_of(day));
    int                   rc = DN_OK;

    assert(known);
    for (uint32_t n = d->chains[*known].first; n > 0 && rc == DN_OK;) {
        block b;

        rc = block_read(d, n, &b);
        if (rc < 0) return rc;
        for (uint32_t at = 0; at < b.used && rc == DN_OK;) {
            answers_row row;

            at += (uint32_t)answers_row_read(b.rows + at, &row);
            rc = answers_table_put(into, &row);
        }
        n = b.next;
    }
    return rc;
}

static int block_write(const answers_days *d, uint32_t n, const block *b) {
    assert(n > 0 && n <= d->blocks);
    assert(b->used <= sizeof b->rows);
    return trace_temp_write(d->fd, b, sizeof *b, (int64_t)(n - 1) * BLOCK);
}

static int block_read(const answers_days *d, uint32_t n, block *out_block) {
    int rc;

    assert(n > 0 && n <= d->blocks);
    rc = trace_temp_read(d->fd, out_block, sizeof *out_block, (int64_t)(n - 1) * BLOCK);
    assert(rc < 0 || out_block->used <= sizeof out_block->rows);
    return rc;
}
