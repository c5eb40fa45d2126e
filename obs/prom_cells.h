/* prom_cells.h - numbers that threads add to without meeting each other.
 * Each thread has a row of cells that it alone writes (thread_row.h), so it adds with a load and a store. Who reads adds up
 * the rows. A thread without a row is told so and adds elsewhere. A row outlives its thread: the next one goes on from
 * what is there.
 * A number takes 8 bytes of a row; the rows are 32 KB, of which memory is taken by those pages that are written. */
#ifndef DIURNAL_OBS_PROM_CELLS_H
#define DIURNAL_OBS_PROM_CELLS_H

#include "thread_row.h"

#include <stdatomic.h>

/* Behind PROM_CELLS a number has no cells, and its adders meet. The daemon's set has about 90. */
enum { PROM_ROWS = THREAD_ROWS, PROM_CELLS = 512 };

typedef struct prom_row {
    /* relaxed: they order nothing. One thread writes, any thread reads. */
    _Alignas(64) _Atomic uint64_t cells[PROM_CELLS];
} prom_row;

extern prom_row prom_rows[PROM_ROWS];

/* This thread's. NULL: add elsewhere. Any thread. */
static inline prom_row *prom_row_mine(void) {
    const int row = thread_row_mine();

    return row == THREAD_ROW_NONE ? NULL : &prom_rows[row];
}

/* On one's own row. */
static inline uint64_t prom_cell_get(const prom_row *row, uint32_t cell) {
    return atomic_load_explicit(&row->cells[cell], memory_order_relaxed);
}
static inline void prom_cell_set(prom_row *row, uint32_t cell, uint64_t value) {
    atomic_store_explicit(&row->cells[cell], value, memory_order_relaxed);
}

/* So many cells side by side, all zero; returns the first, or 0: so many are not left. Under one lock with the next. */
uint32_t prom_cells_take(size_t len);
/* Nobody adds to them any more. first 0: none were taken. */
void prom_cells_give(uint32_t first, size_t len);

/* Of all rows. A cell holds whole numbers, or doubles by their bits. Any thread. */
uint64_t prom_cell_sum(uint32_t cell);
double   prom_cell_sum_real(uint32_t cell);

#endif
