/* prom_cells.c - the rows, who has which, and which of their cells are taken.
 * A row is given back when its thread ends. That order is all there is to hand over: release there, acquire by who takes
 * it next, who so sees what was added last. */
#include "prom_cells.h"

#include "prom_internal.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

static prom_row         rows[PROM_ROWS];
static _Atomic uint32_t rows_taken; /* a bit each */
static bool             cells_taken[PROM_CELLS];

_Thread_local prom_row   *prom_row_here;
static _Thread_local bool asked;
static pthread_key_t      at_end; /* its only use is to be called when a thread ends */
static bool               at_end_is_there;
static pthread_once_t     once = PTHREAD_ONCE_INIT;

/* ---- Rows ---- */

/* The thread may still add, in what others do at its end: from now on elsewhere. */
static void row_give(void *context) {
    const prom_row *row = context;

    prom_row_here = NULL;
    /* Pairs with row_take. */
    atomic_fetch_and_explicit(&rows_taken, ~(UINT32_C(1) << (row - rows)), memory_order_release);
}

static prom_row *row_take(void) {
    uint32_t taken = atomic_load_explicit(&rows_taken, memory_order_relaxed);
    uint32_t bit;

    do {
        bit = ~taken & (taken + 1); /* the lowest that is free */
        if (bit >= UINT32_C(1) << PROM_ROWS) return NULL;
        /* acquire: pairs with row_give. */
    } while (!atomic_compare_exchange_weak_explicit(&rows_taken, &taken, taken | bit,
                                                    memory_order_acquire, memory_order_relaxed));
    return &rows[__builtin_ctz(bit)];
}

static void make_key(void) { at_end_is_there = pthread_key_create(&at_end, row_give) == 0; }

prom_row *prom_row_ask(void) {
    if (asked) return NULL;
    asked = true; /* once, so that a thread without a row does not look for one at every addition */
    pthread_once(&once, make_key);
    if (!at_end_is_there) return NULL;
    prom_row *row = row_take();
    if (!row) return NULL;
    if (pthread_setspecific(at_end, row) != 0) row_give(row);
    else prom_row_here = row;
    return prom_row_here;
}

/* ---- Cells ---- */

static bool is_free(uint32_t first, size_t len) {
    for (size_t i = 0; i < len; i++)
        if (cells_taken[first + i]) return false;
    return true;
}

uint32_t prom_cells_take(size_t len) {
    for (uint32_t first = 1; first + len <= PROM_CELLS; first++) {
        if (!is_free(first, len)) continue;
        memset(&cells_taken[first], true, len);
        return first;
    }
    return 0;
}

void prom_cells_give(uint32_t first, size_t len) {
    if (first == 0) return;
    for (size_t i = 0; i < len; i++) {
        assert(cells_taken[first + i]);
        cells_taken[first + i] = false;
        for (int r = 0; r < PROM_ROWS; r++)
            if (prom_cell_get(&rows[r], first + (uint32_t)i) != 0)
                prom_cell_set(&rows[r], first + (uint32_t)i, 0);
    }
}

uint64_t prom_cell_sum(uint32_t cell) {
    uint64_t sum = 0;

    for (int r = 0; r < PROM_ROWS; r++) sum += prom_cell_get(&rows[r], cell);
    return sum;
}

double prom_cell_sum_real(uint32_t cell) {
    double sum = 0;

    for (int r = 0; r < PROM_ROWS; r++) sum += prom_double_of(prom_cell_get(&rows[r], cell));
    return sum;
}
