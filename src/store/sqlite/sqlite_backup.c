/* sqlite_backup.c - a copy of the store, made while it is used.
 * On the store's own connection: what is written meanwhile goes into the copy too, and it is never begun again (a
 * second connection was made to begin again by every write, and did not end). It grows under a name of its own,
 * and gets its real one when it is whole and on the disk. A copy that fails says nothing about the store. */
#define _GNU_SOURCE /* renameat2 */
#include "sqlite/sqlite_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STEP_PAGES = 256 /* 1 MiB: a few milliseconds */, PART_MODE = 0600 };

struct dn_backup {
    db             *from;
    sqlite3        *to;
    sqlite3_backup *copy;
    bool            is_whole;
    char            path[DB_PATH_MAX], part[DB_PATH_MAX];
};

static int backup_failed(dn_backup *b, int rc, char *why) {
    if (db_is_nomem(rc)) return store_refuse(DN_ENOMEM, why, "%s: out of memory", b->path);
    if (db_is_full(b->to, rc, DB_MAIN))
        return store_refuse(DN_EFULL, why, "%s: the disk is full", b->path);
    return store_refuse(DN_EIO, why, "%s cannot be written: %s", b->part, sqlite3_errstr(rc));
}

static int backup_failed_by_system(dn_backup *b, const char *what, char *why) {
    const int code = errno == ENOSPC || errno == EDQUOT ? DN_EFULL : DN_EIO;

    return store_refuse(code, why, "%s cannot be %s: %s", b->path, what, strerror(errno));
}

/* Unless the disk is to blame, it is the path: no such directory, or one that may not be written to. */
static int backup_failed_to_begin(dn_backup *b, char *why) {
    const int error = errno, code = backup_failed_by_system(b, "made", why);

    return code == DN_EIO && error != EIO ? DN_EFAILED : code;
}

static int backup_refuse_existing(dn_backup *b, char *why) {
    return store_refuse(DN_EEXIST, why, "%s is there already: name a file that is not", b->path);
}

/* Nobody but the owner may read a backup, as with the store. */
static int backup_begin(dn_backup *b, char *why) {
    struct stat found;
    int         fd, rc;

    if (lstat(b->path, &found) == 0) return backup_refuse_existing(b, why);
    unlink(b->part); /* of a process that had our number and crashed */
    fd = open(b->part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, PART_MODE);
    if (fd < 0) return backup_failed_to_begin(b, why);
    close(fd);
    rc = sqlite3_open_v2(b->part, &b->to,
                         SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
                         *b->from->vfs ? b->from->vfs : NULL);
    if (rc == SQLITE_OK) rc = sqlite3_exec(b->to, "PRAGMA journal_mode = OFF", NULL, NULL, NULL);
    if (rc != SQLITE_OK) return backup_failed(b, rc, why);
    b->copy = sqlite3_backup_init(b->to, "main", b->from->sql, "main");
    return b->copy ? DN_OK : backup_failed(b, sqlite3_extended_errcode(b->to), why);
}

int db_backup(dn_store *store, const char *path, dn_backup **out_backup, char *why) {
    DN_AUTO(dn_backup) b = NULL;
    db *d = db_of(store);
    int code;

    if (d->dead) return store_refuse(DN_EIO, why, "%s: the disk has failed before", d->path);
    if (strlen(path) > DB_PATH_MAX - 32)
        return store_refuse(DN_EINVAL, why, "the path of the backup is too long");
    b = calloc(1, sizeof *b);
    if (!b) return store_refuse(DN_ENOMEM, why, "%s: out of memory", path);
    b->from = d;
    d->backups++;
    snprintf(b->path, sizeof b->path, "%s", path);
    snprintf(b->part, sizeof b->part, "%s.part-%ld", path, (long)getpid());
    code = backup_begin(b, why);
    if (code < 0) return code;
    *out_backup = DN_TAKE(b);
    return DN_OK;
}

/* A descriptor of its own: SQLite has closed the file. */
static int backup_sync(dn_backup *b, const char *path, int flags, char *why) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC | flags);
    int       failed;

    if (fd < 0) return backup_failed_by_system(b, "opened", why);
    failed = fsync(fd);
    if (failed) backup_failed_by_system(b, "brought to the disk", why);
    close(fd);
    return failed ? DN_EIO : DN_OK;
}

/* Never onto a file that came to be meanwhile. Where the file system cannot promise that, a look has to do. */
static int backup_rename(dn_backup *b, char *why) {
    struct stat found;

    if (renameat2(AT_FDCWD, b->part, AT_FDCWD, b->path, RENAME_NOREPLACE) == 0) return DN_OK;
    if (errno == EEXIST) return backup_refuse_existing(b, why);
    if (errno != EINVAL && errno != ENOSYS) return backup_failed_by_system(b, "named", why);
    if (lstat(b->path, &found) == 0) return backup_refuse_existing(b, why);
    return rename(b->part, b->path) == 0 ? DN_OK : backup_failed_by_system(b, "named", why);
}

static int backup_end(dn_backup *b, char *why) {
    char  dir[DB_PATH_MAX];
    char *slash;
    int   rc = sqlite3_backup_finish(b->copy), code;

    b->copy = NULL;
    if (rc != SQLITE_OK) return backup_failed(b, rc, why);
    rc = sqlite3_close(b->to);
    assert(rc == SQLITE_OK);
    b->to = NULL;
    snprintf(dir, sizeof dir, "%s", b->path);
    slash = strrchr(dir, '/');
    if (slash) slash[slash == dir] = '\0';
    code = backup_sync(b, b->part, 0, why);
    if (code == DN_OK) code = backup_rename(b, why);
    if (code == DN_OK) {
        b->is_whole = true; /* it has its name: from here on it is not ours to remove */
        code = backup_sync(b, slash ? dir : ".", O_DIRECTORY, why);
    }
    return code;
}

int dn_backup_step(dn_backup *b, char *why) {
    int rc;

    assert(!b->is_whole);
    *why = '\0';
    if (!b->copy) return store_refuse(DN_EIO, why, "%s has failed before", b->path);
    if (b->from->dead) return store_refuse(DN_EIO, why, "%s: the disk has failed", b->from->path);
    rc = sqlite3_backup_step(b->copy, STEP_PAGES);
    if (rc == SQLITE_OK) return DN_PENDING;
    return rc == SQLITE_DONE ? backup_end(b, why) : backup_failed(b, rc, why);
}

void dn_backup_free(dn_backup *b) {
    if (!b) return;
    (void)sqlite3_backup_finish(b->copy); /* accepts NULL; whether it failed was told before */
    const int rc = sqlite3_close(b->to);
    assert(rc == SQLITE_OK);
    if (!b->is_whole) unlink(b->part);
    assert(b->from->backups > 0);
    b->from->backups--;
    free(b);
}
