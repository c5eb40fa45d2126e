/* prom_cells.c - which cells of the rows are taken, and what is in them. */
#include "prom_cells.h"

#include "prom_internal.h"

#include <assert.h>
#include <string.h>

prom_row    prom_rows[PROM_ROWS];
static bool cells_taken[PROM_CELLS];

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
            if (prom_cell_get(&prom_rows[r], first + (uint32_t)i) != 0)
                prom_cell_set(&prom_rows[r], first + (uint32_t)i, 0);
    }
}

uint64_t prom_cell_sum(uint32_t cell) {
    uint64_t sum = 0;

    for (int r = 0; r < PROM_ROWS; r++) sum += prom_cell_get(&prom_rows[r], cell);
    return sum;
}

double prom_cell_sum_real(uint32_t cell) {
    double sum = 0;

    for (int r = 0; r < PROM_ROWS; r++) sum += prom_double_of(prom_cell_get(&prom_rows[r], cell));
    return sum;
}
