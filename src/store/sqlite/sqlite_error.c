/* sqlite_error.c - translates SQLite's codes.
 * A full disk and a lack of memory pass. Everything else is final: after a failed write or fsync nobody knows what is on
 * the disk, and SQLite itself would go on. */
#include "sqlite/sqlite_store.h"

#include "base/text.h"

#include <errno.h>

/* The errno of the last failed write to a file. Asked from the file, because SQLite 3.40 does not keep it in the connection
 * for a commit. */
static int write_errno(sqlite3 *sql, int which) {
    sqlite3_file *file = NULL;
    int           system = 0;

    if (sqlite3_file_control(sql, "main", which, &file) != SQLITE_OK || !file || !file->pMethods)
        return 0;
    if (file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &system) != SQLITE_OK) return 0;
    return system;
}

bool db_is_full(sqlite3 *sql, int rc, db_file file) {
    int system = 0;

    /* SQLite reports ENOSPC as full, but a quota as an I/O error. Only a failed write qualifies: after a failed fsync
     * nobody knows what was left undone. */
    if ((rc & 0xff) == SQLITE_FULL) return true;
    if ((rc & 0xff) == SQLITE_CANTOPEN) system = sqlite3_system_errno(sql);
    else if (rc == SQLITE_IOERR_WRITE) system = write_errno(sql, (int)file);
    return system == ENOSPC || system == EDQUOT;
}

bool db_is_nomem(int rc) { return (rc & 0xff) == SQLITE_NOMEM || rc == SQLITE_IOERR_NOMEM; }

bool db_is_damage(int rc) { return (rc & 0xff) == SQLITE_CORRUPT || (rc & 0xff) == SQLITE_NOTADB; }

const char *db_damage(dn_store *store) {
    const db *d = db_of(store);

    return *d->damage ? d->damage : NULL;
}

int db_failed_at(db *d, int rc, db_file file) {
    assert(rc != SQLITE_OK && rc != SQLITE_ROW && rc != SQLITE_DONE);
    assert(rc != SQLITE_MISUSE);
    if (db_is_nomem(rc)) return DN_ENOMEM;
    if (db_is_full(d->sql, rc, file)) return DN_EFULL;
    d->dead = true;
    if (db_is_damage(rc))
        return dn_refuse(DN_EIO, d->damage, DN_STORE_WHY,
                         "%.*s is damaged; run `diurnal db check` and restore a backup",
                         DN_STORE_WHY / 2, d->path);
    return DN_EIO;
}

int db_failed(db *d, int rc) { return db_failed_at(d, rc, DB_LOG); }
