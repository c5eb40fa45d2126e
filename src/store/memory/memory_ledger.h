/* memory_ledger.h - the ledger's rows, by day and by number.
 * Nearly every user has a row on nearly every day, so a day is an array by number, in chunks that are made when
 * a row falls into one: a row is found by arithmetic, and a day's rows are in order by themselves. */
#ifndef DIURNAL_STORE_MEMORY_MEMORY_LEDGER_H
#define DIURNAL_STORE_MEMORY_MEMORY_LEDGER_H

#include "store/daily.h"

enum { LEDGER_CHUNK = 1024 };

typedef struct ledger_slot {
    int64_t  at_ms;
    uint16_t attempts;
    uint8_t  status; /* DN_DAILY_NONE: there is no row */
    uint8_t  cls;
} ledger_slot;

typedef struct ledger_day {
    dn_day        day;
    uint64_t      rows;
    uint64_t      from; /* no row has a smaller number */
    size_t        chunks_len;
    ledger_slot **chunks; /* NULL where no row ever was */
} ledger_day;

typedef struct ledger {
    ledger_day *days; /* sorted by day */
    size_t      len, cap, last;
} ledger;

void ledger_done(ledger *l);

/* Room for a row. What has been reserved stays until the next ledger_sweep. */
DN_MUST_USE int ledger_reserve(ledger *l, dn_day day, uint64_t n);

/* The row, to be changed; NULL: there is none. */
ledger_slot *ledger_find(ledger *l, dn_day day, uint64_t n);
/* Has the memory of a row brought near; it need not be there. */
void ledger_fetch(ledger *l, dn_day day, uint64_t n);
/* A row that is not there; room must have been reserved. */
void ledger_add(ledger *l, dn_day day, uint64_t n, ledger_slot row);

/* All rows of one user; the oldest rows before a day, max of them at most: how many there were. */
void     ledger_remove(ledger *l, uint64_t n);
uint32_t ledger_forget(ledger *l, dn_day before, uint32_t max);
/* Gives back the days without rows. */
void ledger_sweep(ledger *l);

/* What stands behind dn_store_days_of and dn_store_day. */
size_t ledger_days_of(ledger *l, uint64_t n, dn_day before, dn_ledger_row *rows, size_t max);
size_t ledger_day_rows(ledger *l, dn_day day, uint64_t after_n, dn_ledger_row *rows, size_t max);

#endif
