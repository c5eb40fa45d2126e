/* memory_ledger.h - ledger rows in memory, by day and user number.
 * Nearly every user has a row on nearly every day, so a day is an array by number, in chunks allocated on first use. A row
 * is found by arithmetic, and the rows of a day are in order. */
#ifndef DIURNAL_STORE_MEMORY_MEMORY_LEDGER_H
#define DIURNAL_STORE_MEMORY_MEMORY_LEDGER_H

#include "store/daily.h"

enum { LEDGER_CHUNK = 1024 };

typedef struct ledger_slot {
    int64_t  at_ms;
    uint16_t attempts;
    uint8_t  status; /* DN_DAILY_NONE: no row */
    uint8_t  cls;
} ledger_slot;

typedef struct ledger_day {
    dn_day        day;
    uint64_t      rows;
    uint64_t      from; /* no row has a smaller number */
    size_t        chunks_len;
    ledger_slot **chunks; /* NULL: no row of it was ever reserved */
} ledger_day;

typedef struct ledger {
    ledger_day *days; /* sorted by day */
    size_t      len, cap, last;
} ledger;

void ledger_done(ledger *l);

/* Makes room for a row, until the next ledger_sweep. */
DN_MUST_USE int ledger_reserve(ledger *l, dn_day day, uint64_t n);

/* The row, which the caller may change; NULL: there is none. */
ledger_slot *ledger_find(ledger *l, dn_day day, uint64_t n);
/* Prefetches a row that need not exist. */
void ledger_fetch(ledger *l, dn_day day, uint64_t n);
/* Adds a row that does not exist. Room must have been reserved. */
void ledger_add(ledger *l, dn_day day, uint64_t n, ledger_slot row);

/* Delete all rows of one user, or at most max rows of days before `before`, oldest first; returns how many. */
void     ledger_remove(ledger *l, uint64_t n);
uint32_t ledger_forget(ledger *l, dn_day before, uint32_t max);
/* Frees the days without rows. */
void ledger_sweep(ledger *l);

/* What dn_store_days_of and dn_store_day do. */
size_t ledger_days_of(ledger *l, uint64_t n, dn_day before, dn_ledger_row *rows, size_t max);
size_t ledger_day_rows(ledger *l, dn_day day, uint64_t after_n, dn_ledger_row *rows, size_t max);

#endif
