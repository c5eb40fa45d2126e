/* sqlite_log.c - the write-ahead log: when it is copied into the file, and that there is room for it.
 * On a full disk a long log and a file that cannot grow would block each other for good. So the file is extended by what a
 * batch needs before the batch is committed. Then every log can be copied, however full the disk, which frees its room. */
#include "sqlite/sqlite_store.h"

enum { PAGE = 4096, PAGES_AT_ONCE = 16 };

static int pages_of(db *d, int64_t *out_pages) {
    sqlite3_stmt *s = d->stmt[STMT_PAGES];
    bool          row;
    const int     code = db_row(d, s, &row);

    if (code < 0) return code;
    assert(row);
    *out_pages = sqlite3_column_int64(s, 0);
    sqlite3_reset(s);
    return DN_OK;
}

/* The file itself and its present size. */
static int file_of(db *d, sqlite3_file **out_file, int64_t *out_size) {
    sqlite3_int64 size = 0;
    int           rc = sqlite3_file_control(d->sql, "main", SQLITE_FCNTL_FILE_POINTER, out_file);

    if (rc == SQLITE_OK) rc = (*out_file)->pMethods->xFileSize(*out_file, &size);
    *out_size = size;
    return rc == SQLITE_OK ? DN_OK : db_failed_at(d, rc, DB_MAIN);
}

/* Extends the file from its present end, because SQLite alone knows what is before it. */
static int file_grow(db *d, int64_t size) {
    static const char zeros[PAGES_AT_ONCE * PAGE];
    sqlite3_file     *file;
    int64_t           end;
    int               rc = SQLITE_OK;
    const int         code = file_of(d, &file, &end);

    if (code < 0) return code;
    if (size > end) d->grown_from = end;
    for (int64_t at = end; rc == SQLITE_OK && at < size; at += (int64_t)sizeof zeros) {
        const int64_t len = size - at < (int64_t)sizeof zeros ? size - at : (int64_t)sizeof zeros;
        rc = file->pMethods->xWrite(file, zeros, (int)len, at);
    }
    if (rc != SQLITE_OK) return db_failed_at(d, rc, DB_MAIN);
    d->file_size = size > end ? size : end;
    return DN_OK;
}

int db_log_reserve(db *d) {
    int64_t   pages = 0;
    const int code = pages_of(d, &pages);

    if (code < 0 || pages * PAGE <= d->file_size) return code;
    return file_grow(d, pages * PAGE);
}

int db_log_copy(db *d, db_log_copying how) {
    int       in_log = 0, copied = 0;
    const int rc = sqlite3_wal_checkpoint_v2(d->sql, NULL, (int)how, &in_log, &copied);

    d->file_size = 0; /* SQLite may have truncated or extended it */
    if (rc == SQLITE_OK && copied == in_log) {
        d->checkpoint_at = DB_WAL_PAGES;
        if (how == DB_LOG_CUT) d->wal_pages = 0;
    } else d->checkpoint_at = d->wal_pages + DB_WAL_PAGES;
    return rc;
}

/* The commit is durable without this. If the disk is full, the next try comes after as many pages again. Any other failure
 * shows at the next call, because the present one has succeeded. */
void db_log_look_at(db *d) {
    if (d->wal_pages < d->checkpoint_at) return;
    const int rc = db_log_copy(d, DB_LOG_KEEP);
    if (rc != SQLITE_OK) (void)db_failed_at(d, rc, DB_MAIN);
}

/* Before the next transaction: with an empty log SQLite takes the length of the file for that of the database, and a file
 * truncated below that is damaged to it. For the same reason nothing older is cut off. */
void db_log_give_back(db *d) {
    const int64_t size = d->grown_from;
    sqlite3_file *file;
    int64_t       end;

    d->grown_from = -1;
    if (size < 0 || d->dead || file_of(d, &file, &end) < 0 || end <= size) return;
    const int rc = file->pMethods->xTruncate(file, size);
    d->file_size = 0;
    if (rc != SQLITE_OK) (void)db_failed_at(d, rc, DB_MAIN);
}

int db_log_make_room(db *d) {
    const int rc = db_log_copy(d, DB_LOG_CUT);

    return rc == SQLITE_OK ? DN_OK : db_failed_at(d, rc, DB_MAIN);
}

int db_idle(dn_store *store) {
    db *d = db_of(store);

    if (d->dead) return DN_EIO;
    if (d->read_only || d->wal_pages == 0) return DN_OK;
    const int rc = db_log_copy(d, DB_LOG_CUT);
    return rc == SQLITE_OK ? DN_OK : db_failed_at(d, rc, DB_MAIN);
}
