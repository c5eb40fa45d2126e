/* sqlite_backup.c - a copy of the store, made while it is used.
 * It is made on the store's own connection, so that writes in the meantime go into the copy too. (A second connection began
 * again after every write and never ended.) A copy with a path grows as PATH.part-PID and is renamed when it is whole and on
 * the disk. A copy without one is a file beside the store that has no name, so that a crash leaves nothing. A copy that
 * fails says nothing about the store. */
#define _GNU_SOURCE /* renameat2 */
#include "base/text.h"
#include "sqlite/sqlite_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
    STEP_PAGES = 256, /* 1 MiB: a few milliseconds */
    PART_MODE = 0600,
    ROOM_LEFT = 1 << 20, /* and an eighth of a copy beside the store: for writes in the meantime */
};

struct dn_backup {
    db             *from;
    sqlite3        *to;
    sqlite3_backup *copy;
    bool            has_name, is_whole;
    int             fd;    /* of a copy without a name, else -1 */
    uint64_t        bytes; /* of a whole copy without a name */
    char            path[DB_PATH_MAX], part[DB_PATH_MAX];
};

static int backup_failed(dn_backup *b, int rc, char *why) {
    if (db_is_nomem(rc))
        return dn_refuse(DN_ENOMEM, why, DN_STORE_WHY, "%s: out of memory", b->path);
    if (db_is_full(b->to, rc, DB_MAIN))
        return dn_refuse(DN_EFULL, why, DN_STORE_WHY, "%s: the disk is full", b->path);
    return dn_refuse(DN_EIO, why, DN_STORE_WHY, "%s cannot be written: %s", b->part,
                     sqlite3_errstr(rc));
}

static int backup_failed_by_system(dn_backup *b, const char *what, char *why) {
    const int code = errno == ENOSPC || errno == EDQUOT ? DN_EFULL : DN_EIO;

    return dn_refuse(code, why, DN_STORE_WHY, "%s cannot be %s: %s", b->path, what,
                     strerror(errno));
}

/* Unless the disk failed, the path is at fault: no such directory, or no permission to write there. */
static int backup_failed_to_begin(dn_backup *b, char *why) {
    const int error = errno, code = backup_failed_by_system(b, "created", why);

    return code == DN_EIO && error != EIO ? DN_EFAILED : code;
}

static int backup_refuse_existing(dn_backup *b, char *why) {
    return dn_refuse(DN_EEXIST, why, DN_STORE_WHY, "%s already exists; name a new file", b->path);
}

static int64_t size_of(const char *path, const char *end) {
    char        whole[DB_PATH_MAX + DB_SUFFIX_ROOM];
    struct stat found;

    (void)snprintf(whole, sizeof whole, "%s%s", path, end);
    return stat(whole, &found) == 0 ? (int64_t)found.st_size : 0;
}

/* Beside the store a copy that fills the disk would make all writes wait. */
static int backup_look_for_room(const dn_backup *b, char *why) {
    const int64_t  copy = size_of(b->from->path, "") + size_of(b->from->path, "-wal");
    const int64_t  wanted = copy + copy / 8 + ROOM_LEFT;
    struct statvfs disk;

    if (fstatvfs(b->fd, &disk) < 0)
        return DN_OK; /* then the first write that finds no room fails */
    const int64_t room = (int64_t)(disk.f_bavail * disk.f_frsize);
    if (room >= wanted) return DN_OK;
    return dn_refuse(DN_EFULL, why, DN_STORE_WHY,
                     "%s: the copy needs %lld KiB, but only %lld KiB are free; make room", b->path,
                     (long long)wanted / 1024, (long long)room / 1024);
}

static int backup_connect(dn_backup *b) {
    int rc = sqlite3_open_v2(b->part, &b->to,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
                             *b->from->vfs ? b->from->vfs : NULL);

    if (rc == SQLITE_OK) rc = sqlite3_exec(b->to, "PRAGMA journal_mode = OFF", NULL, NULL, NULL);
    if (rc == SQLITE_OK && !b->has_name)
        rc = sqlite3_exec(b->to, "PRAGMA synchronous = OFF", NULL, NULL, NULL);
    return rc;
}

/* Mode 0600, as for the store. */
static int backup_begin(dn_backup *b, char *why) {
    struct stat found;
    int         rc;

    if (b->has_name && lstat(b->path, &found) == 0) return backup_refuse_existing(b, why);
    unlink(b->part); /* of a process that had our number and crashed */
    b->fd = open(b->part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, PART_MODE);
    if (b->fd < 0) return backup_failed_to_begin(b, why);
    rc = b->has_name ? DN_OK : backup_look_for_room(b, why);
    if (rc < 0) {
        unlink(b->part);
        return rc;
    }
    if (b->has_name) {
        close(b->fd);
        b->fd = -1;
    }
    rc = backup_connect(b);
    if (!b->has_name) unlink(b->part);
    if (rc != SQLITE_OK) return backup_failed(b, rc, why);
    b->copy = sqlite3_backup_init(b->to, "main", b->from->sql, "main");
    return b->copy ? DN_OK : backup_failed(b, sqlite3_extended_errcode(b->to), why);
}

int db_backup(dn_store *store, const char *path, dn_backup **out_backup, char *why) {
    DN_AUTO(dn_backup) b = NULL;
    db *d = db_of(store);
    int code;

    if (d->dead)
        return dn_refuse(DN_EIO, why, DN_STORE_WHY, "%s: the disk has failed before", d->path);
    if (path && strlen(path) > DB_PATH_MAX - 32)
        return dn_refuse(DN_EINVAL, why, DN_STORE_WHY, "the path of the backup is too long");
    b = calloc(1, sizeof *b);
    if (!b)
        return dn_refuse(DN_ENOMEM, why, DN_STORE_WHY, "%s: out of memory", path ? path : d->path);
    b->from = d;
    b->has_name = path != NULL;
    b->fd = -1;
    d->backups++;
    snprintf(b->path, sizeof b->path, "%s", path ? path : d->path);
    snprintf(b->part, sizeof b->part, "%s.part-%ld", b->path, (long)getpid());
    code = backup_begin(b, why);
    if (code < 0) return code;
    *out_backup = DN_TAKE(b);
    return DN_OK;
}

/* Opens the file again, because SQLite has closed it. */
static int backup_sync(dn_backup *b, const char *path, int flags, char *why) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC | flags);
    int       failed;

    if (fd < 0) return backup_failed_by_system(b, "opened", why);
    failed = fsync(fd);
    if (failed) backup_failed_by_system(b, "synced", why);
    close(fd);
    return failed ? DN_EIO : DN_OK;
}

/* Never replaces a file made meanwhile. On a file system that cannot promise this, a check before must do. */
static int backup_rename(dn_backup *b, char *why) {
    struct stat found;

    if (renameat2(AT_FDCWD, b->part, AT_FDCWD, b->path, RENAME_NOREPLACE) == 0) return DN_OK;
    if (errno == EEXIST) return backup_refuse_existing(b, why);
    if (errno != EINVAL && errno != ENOSYS) return backup_failed_by_system(b, "named", why);
    if (lstat(b->path, &found) == 0) return backup_refuse_existing(b, why);
    return rename(b->part, b->path) == 0 ? DN_OK : backup_failed_by_system(b, "named", why);
}

/* The name is the last step: from then on the file is not ours to remove. */
static int backup_name(dn_backup *b, char *why) {
    char  dir[DB_PATH_MAX];
    char *slash;
    int   code;

    snprintf(dir, sizeof dir, "%s", b->path);
    slash = strrchr(dir, '/');
    if (slash) slash[slash == dir] = '\0';
    code = backup_sync(b, b->part, 0, why);
    if (code == DN_OK) code = backup_rename(b, why);
    if (code == DN_OK) {
        b->is_whole = true;
        code = backup_sync(b, slash ? dir : ".", O_DIRECTORY, why);
    }
    return code;
}

static int backup_end(dn_backup *b, char *why) {
    struct stat found;
    int         rc = sqlite3_backup_finish(b->copy);

    b->copy = NULL;
    if (rc != SQLITE_OK) return backup_failed(b, rc, why);
    rc = sqlite3_close(b->to);
    assert(rc == SQLITE_OK);
    b->to = NULL;
    if (b->has_name) return backup_name(b, why);
    if (fstat(b->fd, &found) < 0) return backup_failed_by_system(b, "copied", why);
    b->bytes = (uint64_t)found.st_size;
    b->is_whole = true;
    return DN_OK;
}

int dn_backup_step(dn_backup *b, char *why) {
    int rc;

    assert(!b->is_whole);
    *why = '\0';
    if (!b->copy) return dn_refuse(DN_EIO, why, DN_STORE_WHY, "%s has failed before", b->path);
    if (b->from->dead)
        return dn_refuse(DN_EIO, why, DN_STORE_WHY, "%s: the disk has failed", b->from->path);
    rc = sqlite3_backup_step(b->copy, STEP_PAGES);
    if (rc == SQLITE_OK) return DN_PENDING;
    return rc == SQLITE_DONE ? backup_end(b, why) : backup_failed(b, rc, why);
}

uint64_t dn_backup_bytes(const dn_backup *b) {
    assert(b->is_whole && !b->has_name);
    return b->bytes;
}

int dn_backup_read(const dn_backup *b, uint64_t offset, void *bytes, size_t max, size_t *out_len) {
    assert(b->is_whole && !b->has_name);
    const ssize_t got = pread(b->fd, bytes, max, (off_t)offset);

    if (got < 0) return DN_EIO;
    *out_len = (size_t)got;
    return DN_OK;
}

void dn_backup_free(dn_backup *b) {
    if (!b) return;
    (void)sqlite3_backup_finish(b->copy); /* accepts NULL; the failure was reported before */
    const int rc = sqlite3_close(b->to);
    assert(rc == SQLITE_OK);
    if (b->fd >= 0) close(b->fd);
    if (b->has_name && !b->is_whole) unlink(b->part);
    assert(b->from->backups > 0);
    b->from->backups--;
    free(b);
}
