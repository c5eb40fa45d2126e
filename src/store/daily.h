/* daily.h - what the store keeps of the daily path: users, the ledger of their days, totals by day.
 * Types and reads. Writes go through dn_store_write (store.h), which also has the error codes. */
#ifndef DIURNAL_STORE_DAILY_H
#define DIURNAL_STORE_DAILY_H

#include "domain/daily_rule.h"

typedef struct dn_store dn_store;

/* ---- Users ---- */

typedef struct dn_user {
    /* Never reused: an id that is removed and registered again gets a new number, so that a write begun for the old
     * registration finds no user. */
    uint64_t        registration;
    uint32_t        due;      /* minute of the day */
    dn_day          last_day; /* last finalized day, or DN_DAY_NONE */
    dn_day          starts_on;
    dn_day          recorded;      /* last day with a ledger row, finalized or missed */
    dn_daily_status status;        /* success or cutoff, of last_day */
    uint32_t        context_epoch; /* number of cutoffs so far */
    int64_t         last_run_ms;   /* instant of the last success; INT64_MIN: none */
    uint8_t         id_len;
    char            id[DN_ID_MAX + 1];
} dn_user;

/* Reads the next max users with a registration number greater than after, in the order of their numbers. */
DN_MUST_USE int dn_store_load(dn_store *store, uint64_t after, dn_user *users, size_t max,
                              size_t *out_len);

/* DN_EDEAD: there is no user with this id. */
DN_MUST_USE int dn_store_user(dn_store *store, const char *id, size_t id_len, dn_user *out_user);

typedef struct dn_user_filter {
    const char     *after_id; /* NULL: from the first id. Ids are ordered by their bytes */
    size_t          after_len;
    const char     *prefix; /* NULL: any id */
    size_t          prefix_len;
    uint32_t        due_from, due_to; /* inclusive; 0 and 1439: all */
    dn_daily_status status;           /* of last_day; DN_DAILY_NONE: any */
    uint32_t        scan_max;         /* the most rows to read; 0: no limit */
} dn_user_filter;

/* *out_more: the list may go on after the id of *out_last, which need not match the filter itself. */
DN_MUST_USE int dn_store_list(dn_store *store, const dn_user_filter *filter, dn_user *users,
                              size_t max, size_t *out_len, bool *out_more, dn_user *out_last);

DN_MUST_USE int dn_store_count(dn_store *store, uint64_t *out_users);

/* ---- The ledger: one row a user and day ---- */

typedef struct dn_ledger_row {
    uint64_t        registration;
    dn_day          day;
    dn_daily_status status;
    dn_error_class  error_class; /* of the last attempt that failed */
    uint16_t        attempts;
    int64_t         at_ms;
} dn_ledger_row;

/* Reads a user's rows of days before `before`, newest first. */
DN_MUST_USE int dn_store_days_of(dn_store *store, uint64_t registration, dn_day before,
                                 dn_ledger_row *rows, size_t max, size_t *out_len);

/* Reads a day's rows in the order of registration numbers, from the first greater than after on. */
DN_MUST_USE int dn_store_day(dn_store *store, dn_day day, uint64_t after, dn_ledger_row *rows,
                             size_t max, size_t *out_len);

/* The first day from which on the ledger is complete. Rows of earlier days were deleted, or never written because
 * the ledger was off. DN_DAY_NONE: no row was ever left out. */
dn_day dn_store_ledger_since(dn_store *store);

/* ---- Totals ---- */

typedef struct dn_day_totals {
    dn_day   day;
    uint64_t success, cutoff, missed;
} dn_day_totals;

/* Reads the totals of the days first..last; a day with no outcome has no row. Totals stay when ledger rows are deleted
 * or a user is removed. A missed day that is finalized later counts as finalized only. */
DN_MUST_USE int dn_store_totals(dn_store *store, dn_day first, dn_day last, dn_day_totals *rows,
                                size_t max, size_t *out_len);

#endif
