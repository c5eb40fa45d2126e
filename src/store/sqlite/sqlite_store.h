/* sqlite_store.h - the inside of a store in an SQLite file.
 * One connection, an exclusive lock, WAL, synchronous=FULL. The store's actor alone calls these functions. They return DN
 * codes: db_failed translates SQLite's where they enter. */
#ifndef DIURNAL_STORE_SQLITE_SQLITE_STORE_H
#define DIURNAL_STORE_SQLITE_SQLITE_STORE_H

#include "backend.h"
#include "sqlite/sqlite_statements.h"
#include "store_totals.h"

#include <assert.h>
#include <sqlite3.h>

enum {
    DB_APPLICATION_ID = 0x64697572, /* "diur" */
    DB_PATH_MAX = 4096,
    DB_SUFFIX_ROOM = 32, /* for file names in the directory */
    DB_WAL_PAGES = 4096, /* 16 MiB of log before it is copied into the file */
};

/* The next numbers to give, the number of users, and dn_store_ledger_since. */
typedef struct db_counters {
    uint64_t next_user, next_hook, users;
    dn_day   ledger_since;
} db_counters;

typedef struct db {
    dn_store    base;
    sqlite3    *sql;
    int         lock_fd;
    bool        read_only;
    bool        dead;   /* the disk failed or the file is damaged: every call returns DN_EIO */
    bool        ledger; /* ledger rows are written */
    bool        adds;   /* the last SET made a new user */
    db_counters counters;
    totals      batch_totals;  /* of the days that the present batch counts in */
    int         wal_pages;     /* in the log since it was restarted */
    int         checkpoint_at; /* log pages that start the next copy */
    int64_t     file_size;     /* lower bound of the size of the file; 0: unknown */
    int64_t  grown_from; /* size of the file before the present batch extended it; -1: it did not */
    unsigned backups;    /* started and not freed */
    sqlite3_stmt *stmt[STMT_COUNT];
    char          path[DB_PATH_MAX];
    char          vfs[64];              /* "": SQLite's default */
    char          damage[DN_STORE_WHY]; /* the line for dn_store_damage; "": the disk failed */
} db;

/* ---- sqlite_error.c ---- */

/* Which file a failed call wrote to: statements write the log, checkpoints and backups the file. */
typedef enum db_file {
    DB_LOG = SQLITE_FCNTL_JOURNAL_POINTER,
    DB_MAIN = SQLITE_FCNTL_FILE_POINTER,
} db_file;

/* The DN code for a failure. DN_EIO: the store is dead from here on. */
int db_failed(db *d, int rc); /* of a statement, which writes the log */
int db_failed_at(db *d, int rc, db_file file);
/* Whether the cause is a full disk. For failures that must not end the store, too. */
bool db_is_full(sqlite3 *sql, int rc, db_file file);
bool db_is_nomem(int rc);
bool db_is_damage(int rc);

const char *db_damage(dn_store *store);

/* ---- sqlite_open.c ---- */

/* A refusal by errno: "the data directory /var/x cannot be created: Permission denied". */
int  dir_failed(const char *what, const char *dir, char *why);
void dir_parent(const char *dir, char out[DB_PATH_MAX]);

/* ---- sqlite_lock.c ---- */

/* Locks the data directory until the descriptor is closed. *out_fd is -1 if there is no lock file (read_only only).
 * DN_EEXIST: another process has it. */
int dir_lock_take(const char *dir, bool read_only, int *out_fd, char *why);

/* ---- sqlite_look.c ---- */

/* What is on the disk, read without SQLite, which would touch a file that is not ours. */
typedef struct db_look {
    bool    is_there; /* the file exists and is not empty */
    bool    unclean;  /* its log or journal is not empty: it was not closed cleanly */
    int64_t size;
} db_look;
int look_at(const char *vfs, const char *path, db_look *out_look, char *why);

/* ---- sqlite_migrate.c ---- */

/* Migrates a file of this version to the newest; with read_only, refuses an older one. */
int db_migrate(db *d, int version, char *why);

/* ---- sqlite_log.c ---- */

typedef enum db_log_copying {
    DB_LOG_KEEP = SQLITE_CHECKPOINT_PASSIVE, /* the log is then written from its start again */
    DB_LOG_CUT = SQLITE_CHECKPOINT_TRUNCATE, /* the log is then truncated */
} db_log_copying;

/* Copies the log into the file; returns SQLite's code. */
int db_log_copy(db *d, db_log_copying how);
/* Before a commit: extends the file by the pages it will need, so that the log can always be copied. */
int db_log_reserve(db *d);
/* After a commit: copies the log if it is long. */
void db_log_look_at(db *d);
/* After a failed batch: truncates the file to its size before. */
void db_log_give_back(db *d);
/* On a full disk: copies and truncates the log. DN_OK: it uses no room now. */
int db_log_make_room(db *d);
int db_idle(dn_store *store);

/* ---- sqlite_transact.c ---- */

typedef struct db_batch {
    const dn_write  *writes;
    size_t           len;
    dn_write_result *results;
} db_batch;

/* Commits the batch. On any code but DN_OK nothing is written and the counters are as before. */
int db_transact(db *d, const db_batch *batch);

/* ---- sqlite_write.c, sqlite_outbox.c, sqlite_tokens.c, sqlite_read.c, sqlite_check.c, sqlite_backup.c ---- */

/* The statements of a batch, without the transaction around them. db_transact may call it twice for one batch. */
int db_batch_write(db *d, const db_batch *batch);
int db_write(dn_store *store, const dn_write *writes, size_t len, dn_write_result *results);

int db_hook_add(db *d, const dn_user *user, const struct dn_write_finalize *f);
int db_hook_done(db *d, const struct dn_write_outbox_done *w, dn_write_result *result);
int db_hook_later(db *d, const struct dn_write_outbox_later *w, dn_write_result *result);
int db_hooks_remove(db *d, uint64_t n);
int db_hooks(dn_store *store, int64_t now_ms, dn_hook *hooks, size_t max, size_t *out_len,
             int64_t *out_next_ms);
int db_hooks_clock(dn_store *store, int64_t wall_ms, int64_t *out_ms);

int db_tokens(dn_store *store, dn_token *tokens, size_t max, size_t *out_len);
int db_token_add(db *d, const dn_token *token, dn_write_result *result);
int db_token_remove(db *d, uint64_t id, dn_write_result *result);

/* Reads one user. *out_found: there is one. */
int db_user_by_n(db *d, uint64_t n, dn_user *user, bool *out_found);
int db_user_by_id(db *d, const char *id, size_t id_len, dn_user *user, bool *out_found);
/* The user of the current row of a statement that selects DB_USER_COLUMNS. */
int db_user_of_row(db *d, sqlite3_stmt *s, dn_user *user);
/* The totals of the current row of TOTALS. */
dn_day_totals db_totals_of_row(sqlite3_stmt *s);
/* Reads a user's newest ledger row before a day. */
int db_ledger_before(db *d, uint64_t n, dn_day before, dn_ledger_row *row, bool *out_found);

int    db_load(dn_store *store, uint64_t after_n, dn_user *users, size_t max, size_t *out_len);
int    db_user(dn_store *store, const char *id, size_t id_len, dn_user *out_user);
int    db_list(dn_store *store, const dn_user_filter *filter, dn_user *users, size_t max,
               size_t *out_len, bool *out_more, dn_user *out_last);
int    db_days_of(dn_store *store, uint64_t n, dn_day before, dn_ledger_row *rows, size_t max,
                  size_t *out_len);
int    db_day(dn_store *store, dn_day day, uint64_t after_n, dn_ledger_row *rows, size_t max,
              size_t *out_len);
int    db_totals(dn_store *store, dn_day first, dn_day last, dn_day_totals *rows, size_t max,
                 size_t *out_len);
dn_day db_ledger_since(dn_store *store);
int    db_count(dn_store *store, uint64_t *out_users);

int db_check(dn_store *store, char *why);
/* The quick part of the check, for a file that was not closed cleanly and may be of an older version. */
int db_check_after_crash(db *d, int64_t size, int64_t version, char *why);

int db_backup(dn_store *store, const char *path, dn_backup **out_backup, char *why);

/* ---- Statements ---- */

static inline db *db_of(dn_store *store) { return (db *)(void *)store; }

/* Binding cannot fail: the index is in range, the statement is reset, and text is not copied. */
static inline void db_bind(sqlite3_stmt *s, int at, int64_t value) {
    const int rc = sqlite3_bind_int64(s, at, value);

    assert(rc == SQLITE_OK);
}

static inline void db_bind_id(sqlite3_stmt *s, int at, const char *id, size_t len) {
    const int rc = sqlite3_bind_text(s, at, id, (int)len, SQLITE_STATIC);

    assert(rc == SQLITE_OK);
}

static inline void db_bind_null(sqlite3_stmt *s, int at) {
    const int rc = sqlite3_bind_null(s, at);

    assert(rc == SQLITE_OK);
}

static inline void db_bind_day(sqlite3_stmt *s, int at, dn_day day) {
    if (day == DN_DAY_NONE) db_bind_null(s, at);
    else db_bind(s, at, day);
}

/* Runs a statement without rows, and resets it. */
static inline int db_run(db *d, db_stmt which) {
    sqlite3_stmt *s = d->stmt[which];
    const int     rc = sqlite3_step(s);

    sqlite3_reset(s);
    return rc == SQLITE_DONE ? DN_OK : db_failed(d, rc);
}

/* Steps to the next row. *out_row says whether there is one; after the last row the statement is reset. */
static inline int db_row(db *d, sqlite3_stmt *s, bool *out_row) {
    const int rc = sqlite3_step(s);

    *out_row = rc == SQLITE_ROW;
    if (rc == SQLITE_ROW) return DN_OK;
    sqlite3_reset(s);
    return rc == SQLITE_DONE ? DN_OK : db_failed(d, rc);
}

#endif
