/* prom_cells.h - numbers that threads add to without meeting each other.
 * Each thread has a row of cells that it alone writes, so it adds with a load and a store: no locked instruction, and no
 * cache line that another core wants as well. Who reads adds up the rows. A thread that finds no row, because all are
 * taken or it is about to end, is told so and adds elsewhere. A row outlives its thread: the next one goes on from what
 * is there.
 * A number takes 8 bytes of a row; the rows are 32 KB, of which memory is taken by those pages that are written. */
#ifndef DIURNAL_OBS_PROM_CELLS_H
#define DIURNAL_OBS_PROM_CELLS_H

#include "diurnal/base.h"

#include <stdatomic.h>

/* Behind PROM_CELLS a number has no cells, and its adders meet. The daemon's set has about 90. */
enum { PROM_ROWS = 8, PROM_CELLS = 512 };

typedef struct prom_row {
    /* relaxed: they order nothing. One thread writes, any thread reads. */
    _Alignas(64) _Atomic uint64_t cells[PROM_CELLS];
} prom_row;

/* This thread's; NULL: it has none, or has not asked. */
extern _Thread_local prom_row *prom_row_here;
/* Asks for one. NULL: there is none for it. */
prom_row *prom_row_ask(void);

/* NULL: add elsewhere. Any thread. */
static inline prom_row *prom_row_mine(void) {
    prom_row *row = prom_row_here;

    return row ? row : prom_row_ask();
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
