/* sqlite_read.c - reads of users and the ledger.
 * Each row is checked before it is believed. A row that no write can have made is damage and ends the store. */
#include "sqlite/sqlite_store.h"
#include "store_user.h"

#include <string.h>

/* A column that may be NULL. NULL reads as 0, so only a 0 needs a look at its type. */
static int64_t column_or(sqlite3_stmt *s, int at, int64_t none) {
    const int64_t value = sqlite3_column_int64(s, at);

    return value == 0 && sqlite3_column_type(s, at) == SQLITE_NULL ? none : value;
}

int db_user_of_row(db *d, sqlite3_stmt *s, dn_user *user) {
    /* As a blob, because text would be copied to get a terminator. */
    const void *id = sqlite3_column_blob(s, 1);
    const int   id_len = sqlite3_column_bytes(s, 1);

    if (!id || id_len <= 0 || id_len > DN_ID_MAX) return db_failed(d, SQLITE_CORRUPT);
    user->registration = (uint64_t)sqlite3_column_int64(s, 0);
    user->id_len = (uint8_t)id_len;
    memcpy(user->id, id, (size_t)id_len);
    user->id[id_len] = '\0';
    user->due = (uint32_t)sqlite3_column_int(s, 2);
    user->starts_on = sqlite3_column_int(s, 3);
    user->last_day = (dn_day)column_or(s, 4, DN_DAY_NONE);
    user->status = (dn_daily_status)sqlite3_column_int(s, 5);
    user->last_run_ms = column_or(s, 6, INT64_MIN);
    user->context_epoch = (uint32_t)sqlite3_column_int64(s, 7);
    user->recorded = (dn_day)column_or(s, 8, DN_DAY_NONE);
    return user_is_sound(user) ? DN_OK : db_failed(d, SQLITE_CORRUPT);
}

/* Reads the one user that a bound statement finds. */
static int user_of_statement(db *d, sqlite3_stmt *s, dn_user *user, bool *out_found) {
    bool row;
    int  code = db_row(d, s, &row);

    if (code < 0) return code;
    if (row) {
        code = db_user_of_row(d, s, user);
        sqlite3_reset(s);
    }
    *out_found = row;
    return code;
}

int db_user_by_n(db *d, uint64_t n, dn_user *user, bool *out_found) {
    db_bind(d->stmt[STMT_USER_BY_N], 1, (int64_t)n);
    return user_of_statement(d, d->stmt[STMT_USER_BY_N], user, out_found);
}

int db_user_by_id(db *d, const char *id, size_t id_len, dn_user *user, bool *out_found) {
    db_bind_id(d->stmt[STMT_USER_BY_ID], 1, id, id_len);
    return user_of_statement(d, d->stmt[STMT_USER_BY_ID], user, out_found);
}

int db_user(dn_store *store, const char *id, size_t id_len, dn_user *out_user) {
    db     *d = db_of(store);
    dn_user user;
    bool    found;
    int     code;

    if (d->dead) return DN_EIO;
    if (id_len == 0 || id_len > DN_ID_MAX) return DN_EDEAD;
    code = db_user_by_id(d, id, id_len, &user, &found);
    if (code < 0) return code;
    if (!found) return DN_EDEAD;
    *out_user = user;
    return DN_OK;
}

/* ---- Rows, one after the other ---- */

typedef int row_fn(db *d, sqlite3_stmt *s, void *row);

/* Reads at most max rows of a bound statement into an array of elements of this size. */
static int rows_read(db *d, sqlite3_stmt *s, row_fn *read, void *rows, size_t size, size_t max,
                     size_t *out_len) {
    size_t len = 0;

    while (len < max) {
        bool row;
        int  code = db_row(d, s, &row);
        if (code < 0) return code;
        if (!row) break;
        code = read(d, s, (char *)rows + len * size);
        if (code < 0) {
            sqlite3_reset(s);
            return code;
        }
        len++;
    }
    sqlite3_reset(s);
    *out_len = len;
    return DN_OK;
}

static int read_user(db *d, sqlite3_stmt *s, void *row) { return db_user_of_row(d, s, row); }

int db_load(dn_store *store, uint64_t after_n, dn_user *users, size_t max, size_t *out_len) {
    db           *d = db_of(store);
    sqlite3_stmt *s = d->stmt[STMT_USERS_FROM_N];

    if (d->dead) return DN_EIO;
    if (after_n >= INT64_MAX) max = 0; /* no number is higher */
    if (max > 0) db_bind(s, 1, (int64_t)after_n + 1);
    return rows_read(d, s, read_user, users, sizeof *users, max, out_len);
}

/* ---- Listing ---- */

/* Binds the first id that can be in the list: the prefix, or the id to go on from. */
static void list_begin(sqlite3_stmt *s, const dn_user_filter *f) {
    const bool after =
        f->after_len > 0 && id_compare(f->after_id, f->after_len, f->prefix, f->prefix_len) >= 0;

    if (after) db_bind_id(s, 1, f->after_id, f->after_len);
    else db_bind_id(s, 1, f->prefix_len ? f->prefix : "", f->prefix_len);
}

int db_list(dn_store *store, const dn_user_filter *filter, dn_user *users, size_t max,
            size_t *out_len, bool *out_more, dn_user *out_last) {
    db           *d = db_of(store);
    sqlite3_stmt *s = d->stmt[STMT_USERS_FROM_ID];
    dn_user       last = {0}, user = {0};
    size_t        len = 0, scanned = 0;
    bool          more = false;

    if (d->dead) return DN_EIO;
    list_begin(s, filter);
    for (;;) {
        bool row;
        int  code = db_row(d, s, &row);
        if (code < 0) return code;
        if (!row) break;
        code = db_user_of_row(d, s, &user);
        if (code < 0) {
            sqlite3_reset(s);
            return code;
        }
        if (filter->after_len &&
            id_compare(user.id, user.id_len, filter->after_id, filter->after_len) == 0)
            continue;
        if (!id_has_prefix(user.id, user.id_len, filter)) break;
        more = len == max || (filter->scan_max && scanned == filter->scan_max);
        if (more) break;
        scanned++;
        last = user;
        if (user_passes(&user, filter)) users[len++] = user;
    }
    sqlite3_reset(s);
    *out_len = len;
    *out_more = more;
    if (scanned) *out_last = last;
    return DN_OK;
}

/* ---- The ledger ---- */

static int ledger_of_row(db *d, sqlite3_stmt *s, dn_ledger_row *row) {
    row->registration = (uint64_t)sqlite3_column_int64(s, 0);
    row->day = sqlite3_column_int(s, 1);
    row->status = (dn_daily_status)sqlite3_column_int(s, 2);
    row->error_class = (dn_error_class)sqlite3_column_int(s, 3);
    row->attempts = (uint16_t)sqlite3_column_int(s, 4);
    row->at_ms = sqlite3_column_int64(s, 5);
    return row->status >= DN_DAILY_SUCCESS && row->status <= DN_DAILY_MISSED &&
                   row->error_class <= DN_CLASS_UNKNOWN
               ? DN_OK
               : db_failed(d, SQLITE_CORRUPT);
}

/* Each step seeks the user's row of a day and lands on it, or on an earlier row. Then the day of that row is tried, or,
 * if it is the same, the day before it. So a step is one seek, and days without rows cost nothing. */
int db_ledger_before(db *d, uint64_t n, dn_day before, dn_ledger_row *row, bool *out_found) {
    sqlite3_stmt *s = d->stmt[STMT_LEDGER_BEFORE];

    *out_found = false;
    while (before > DN_DAY_NONE) {
        dn_day day = before - 1;
        bool   there;
        int    code;

        db_bind(s, 1, day);
        db_bind(s, 2, (int64_t)n);
        code = db_row(d, s, &there);
        if (code < 0 || !there) return code;
        code = ledger_of_row(d, s, row);
        sqlite3_reset(s);
        if (code < 0) return code;
        if (row->registration == n) {
            *out_found = true;
            return DN_OK;
        }
        before = row->day == day ? day : row->day + 1;
    }
    return DN_OK;
}

int db_days_of(dn_store *store, uint64_t n, dn_day before, dn_ledger_row *rows, size_t max,
               size_t *out_len) {
    db    *d = db_of(store);
    size_t len = 0;
    bool   found = true;

    if (d->dead) return DN_EIO;
    while (len < max) {
        const int code = db_ledger_before(d, n, before, &rows[len], &found);
        if (code < 0) return code;
        if (!found) break;
        before = rows[len++].day;
    }
    *out_len = len;
    return DN_OK;
}

static int read_ledger(db *d, sqlite3_stmt *s, void *row) { return ledger_of_row(d, s, row); }

int db_day(dn_store *store, dn_day day, uint64_t after_n, dn_ledger_row *rows, size_t max,
           size_t *out_len) {
    db           *d = db_of(store);
    sqlite3_stmt *s = d->stmt[STMT_LEDGER_OF_DAY];

    if (d->dead) return DN_EIO;
    if (after_n > INT64_MAX) after_n = INT64_MAX;
    db_bind(s, 1, day);
    db_bind(s, 2, (int64_t)after_n);
    return rows_read(d, s, read_ledger, rows, sizeof *rows, max, out_len);
}

dn_day_totals db_totals_of_row(sqlite3_stmt *s) {
    return (dn_day_totals){.day = sqlite3_column_int(s, 0),
                           .success = (uint64_t)sqlite3_column_int64(s, 1),
                           .cutoff = (uint64_t)sqlite3_column_int64(s, 2),
                           .missed = (uint64_t)sqlite3_column_int64(s, 3)};
}

static int read_totals(db *d, sqlite3_stmt *s, void *row) {
    (void)d;
    *(dn_day_totals *)row = db_totals_of_row(s);
    return DN_OK;
}

int db_totals(dn_store *store, dn_day first, dn_day last, dn_day_totals *rows, size_t max,
              size_t *out_len) {
    db           *d = db_of(store);
    sqlite3_stmt *s = d->stmt[STMT_TOTALS];

    if (d->dead) return DN_EIO;
    db_bind(s, 1, first);
    db_bind(s, 2, last);
    return rows_read(d, s, read_totals, rows, sizeof *rows, max, out_len);
}

dn_day db_ledger_since(dn_store *store) { return db_of(store)->counters.ledger_since; }

int db_count(dn_store *store, uint64_t *out_users) {
    db *d = db_of(store);

    if (d->dead) return DN_EIO;
    *out_users = d->counters.users;
    return DN_OK;
}
