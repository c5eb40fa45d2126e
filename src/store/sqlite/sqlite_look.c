/* sqlite_look.c - looks at the files before SQLite opens them.
 * SQLite would roll back, recover or make a log at its first read. A file that is not ours, or was written by a newer
 * diurnal, must not be touched. So the first 100 bytes are read by hand:
 *
 *     0   16  "SQLite format 3" and a NUL
 *     40   4  schema cookie: 0 if no table was ever made
 *     60   4  user_version: the number of the last migration
 *     68   4  application_id
 *
 * Numbers are big-endian. The log may be newer than this, so db_identify asks SQLite again. */
#include "base/text.h"
#include "migrations.h"
#include "sqlite/sqlite_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 100, AT_COOKIE = 40, AT_VERSION = 60, AT_APPLICATION = 68, WAL_HEADER = 32 };

static uint32_t number_at(const unsigned char *header, int at) {
    return (uint32_t)header[at] << 24 | (uint32_t)header[at + 1] << 16 |
           (uint32_t)header[at + 2] << 8 | (uint32_t)header[at + 3];
}

static int cannot(sqlite3_vfs *vfs, int rc, const char *what, const char *path, char *why) {
    if (db_is_nomem(rc)) return dn_refuse(DN_ENOMEM, why, DN_STORE_WHY, "%s: out of memory", path);
    return dn_refuse(DN_EIO, why, DN_STORE_WHY, "%s cannot be %s: %s", path, what,
                     strerror(vfs->xGetLastError ? vfs->xGetLastError(vfs, 0, NULL) : errno));
}

/* The size of a file, 0 if there is none, and its header if it is long enough. All are opened as main files, because for a
 * log SQLite would demand a main file. */
static int look_into(sqlite3_vfs *vfs, const char *path, unsigned char *header, int64_t *out_size,
                     char *why) {
    sqlite3_int64 size = 0;
    sqlite3_file *file;
    int           there = 0, rc;

    rc = vfs->xAccess(vfs, path, SQLITE_ACCESS_EXISTS, &there);
    if (rc != SQLITE_OK) return cannot(vfs, rc, "read", path, why);
    *out_size = 0;
    if (!there) return DN_OK;

    file = calloc(1, (size_t)vfs->szOsFile);
    if (!file) return dn_refuse(DN_ENOMEM, why, DN_STORE_WHY, "%s: out of memory", path);
    rc = vfs->xOpen(vfs, path, file, SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB, NULL);
    if (rc == SQLITE_OK) rc = file->pMethods->xFileSize(file, &size);
    if (rc == SQLITE_OK && header && size >= HEADER)
        rc = file->pMethods->xRead(file, header, HEADER, 0);
    if (file->pMethods) file->pMethods->xClose(file);
    free(file);
    if (rc != SQLITE_OK) return cannot(vfs, rc, "read", path, why);
    /* SQLite calls a file of one byte empty; here it counts as existing. */
    *out_size = size > 0 ? size : 1;
    return DN_OK;
}

/* Judges an existing file by its header. */
static int look_at_header(const unsigned char *header, int64_t size, bool has_journal,
                          const char *path, char *why) {
    if (size < HEADER || memcmp(header, "SQLite format 3", 16) != 0) {
        /* Power may have failed while the file was made: SQLite will undo that by its journal. */
        if (has_journal) return DN_OK;
        return dn_refuse(DN_EINVAL, why, DN_STORE_WHY,
                         "%s is not a database, or its header is damaged; move it away or "
                         "restore a backup (the file is unchanged)",
                         path);
    }
    const uint32_t application = number_at(header, AT_APPLICATION);
    const uint32_t version = number_at(header, AT_VERSION);
    if (application == 0 && version == 0 && number_at(header, AT_COOKIE) == 0) return DN_OK;
    if (application != DB_APPLICATION_ID)
        return dn_refuse(
            DN_EINVAL, why, DN_STORE_WHY,
            "%s belongs to another program; name another --data (the file is unchanged)", path);
    if (version > (uint32_t)migrations_len)
        return dn_refuse(DN_EINVAL, why, DN_STORE_WHY,
                         "%s was written by a newer diurnal (version %u, this one reads up to "
                         "%d); use the newer one (the file is unchanged)",
                         path, version, migrations_len);
    return DN_OK;
}

int look_at(const char *vfs_name, const char *path, db_look *out_look, char *why) {
    char          journal_path[DB_PATH_MAX], wal_path[DB_PATH_MAX];
    unsigned char header[HEADER] = {0};
    int64_t       wal = 0, journal = 0, size = 0;
    sqlite3_vfs  *vfs = sqlite3_vfs_find(vfs_name);
    const char   *name;
    int           code;

    if (!vfs) return dn_refuse(DN_EINVAL, why, DN_STORE_WHY, "SQLite has no VFS %s", vfs_name);
    sqlite3_snprintf(DB_PATH_MAX, journal_path, "%s-journal", path);
    sqlite3_snprintf(DB_PATH_MAX, wal_path, "%s-wal", path);
    name = sqlite3_create_filename(path, journal_path, wal_path, 0, NULL);
    if (!name) return dn_refuse(DN_ENOMEM, why, DN_STORE_WHY, "%s: out of memory", path);

    code = look_into(vfs, name, header, &size, why);
    if (code == DN_OK) code = look_into(vfs, sqlite3_filename_wal(name), NULL, &wal, why);
    if (code == DN_OK) code = look_into(vfs, sqlite3_filename_journal(name), NULL, &journal, why);
    sqlite3_free_filename((char *)(uintptr_t)name);
    if (code < 0) return code;

    if (size == 0 && wal >= WAL_HEADER)
        return dn_refuse(DN_EINVAL, why, DN_STORE_WHY,
                         "%s is missing, but its log %s-wal exists; restore the file that "
                         "belongs to the log, or a backup",
                         path, path);
    if (size > 0) {
        code = look_at_header(header, size, journal > 0, path, why);
        if (code < 0) return code;
    }
    *out_look =
        (db_look){.is_there = size > 0, .unclean = wal >= WAL_HEADER || journal > 0, .size = size};
    return DN_OK;
}
