/* fault.h - a disk and an allocator that fail when told to, between SQLite and the real ones.
 * The VFS is named "fault": the nth of its calls that can fail fails, once, or writes fail for as long as it is
 * "full". The allocator is SQLite's own (sqlite3_config), so fault_memory must be called before any other. */
#ifndef DIURNAL_TESTS_STORE_FAULT_H
#define DIURNAL_TESTS_STORE_FAULT_H

#include "test.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef enum fault_kind {
    FAULT_IO,     /* any call: an I/O error */
    FAULT_FULL,   /* a write: no room */
    FAULT_QUOTA,  /* a write: no room either, but to SQLite it is an I/O error */
    FAULT_NOMEM,  /* any call: out of memory */
    FAULT_MALLOC, /* not a call of the VFS but an allocation */
} fault_kind;

typedef struct fault_state {
    fault_kind kind;
    long       left;     /* the call after so many fails; 0: none */
    bool       fired;    /* it came */
    bool       full;     /* every write fails, */
    bool full_over_only; /* or those over what is in the database itself: of a disk that copies */
    int64_t disk;        /* has so many bytes, if not 0, of which */
    int64_t used;        /* so many are in files */
    long    syncs;
} fault_state;

static fault_state fault;
static sqlite3_vfs fault_vfs, *fault_real;

typedef struct fault_file {
    sqlite3_file  base;
    bool          is_main;
    sqlite3_file *real; /* behind this struct */
} fault_file;

static inline void fault_nth(fault_kind kind, long n) {
    fault.kind = kind;
    fault.left = n;
    fault.fired = false;
}

static inline bool fault_counts_down(void) {
    if (fault.left == 0 || --fault.left > 0) return false;
    fault.fired = true;
    return true;
}

/* SQLITE_OK, or what this call fails with. */
static inline int fault_in_call(int io_error) {
    if (fault.kind == FAULT_IO) return fault_counts_down() ? io_error : SQLITE_OK;
    if (fault.kind == FAULT_NOMEM) return fault_counts_down() ? SQLITE_IOERR_NOMEM : SQLITE_OK;
    return SQLITE_OK;
}

static inline bool fault_is_over(const fault_file *f, sqlite3_int64 at) {
    sqlite3_int64 size = 0;

    CHECK_INT(f->real->pMethods->xFileSize(f->real, &size), SQLITE_OK);
    return f->is_main && at < size;
}

static inline int fault_in_write(const fault_file *f, sqlite3_int64 at) {
    if (fault.full && (!fault.full_over_only || fault_is_over(f, at))) return SQLITE_FULL;
    if (fault.kind == FAULT_FULL) return fault_counts_down() ? SQLITE_FULL : SQLITE_OK;
    if (fault.kind == FAULT_QUOTA) return fault_counts_down() ? SQLITE_IOERR_WRITE : SQLITE_OK;
    return fault_in_call(SQLITE_IOERR_WRITE);
}

/* A write that makes a file longer takes room, if the disk has that much. */
static inline bool fault_fits(sqlite3_file *real, int len, sqlite3_int64 at) {
    sqlite3_int64 size = 0;

    if (fault.disk == 0) return true;
    CHECK_INT(real->pMethods->xFileSize(real, &size), SQLITE_OK);
    const int64_t more = at + len > size ? at + len - size : 0;
    if (fault.used + more > fault.disk) return false;
    fault.used += more;
    return true;
}

static inline sqlite3_file *fault_file_real(sqlite3_file *file) {
    return ((fault_file *)(void *)file)->real;
}

static inline int fault_errno(void) { return fault.kind == FAULT_QUOTA ? EDQUOT : EIO; }

static inline int fault_close(sqlite3_file *file) {
    sqlite3_file *real = fault_file_real(file);

    return real->pMethods->xClose(real);
}
static inline int fault_read(sqlite3_file *file, void *to, int len, sqlite3_int64 at) {
    const int     rc = fault_in_call(SQLITE_IOERR_READ);
    sqlite3_file *real = fault_file_real(file);

    return rc ? rc : real->pMethods->xRead(real, to, len, at);
}
static inline int fault_write(sqlite3_file *file, const void *from, int len, sqlite3_int64 at) {
    const int     rc = fault_in_write((fault_file *)(void *)file, at);
    sqlite3_file *real = fault_file_real(file);

    if (rc == SQLITE_OK && !fault_fits(real, len, at)) return SQLITE_FULL;
    /* What a disk has no room for it may still have begun to write. */
    if (rc && len > 1) (void)real->pMethods->xWrite(real, from, len / 2, at);
    return rc ? rc : real->pMethods->xWrite(real, from, len, at);
}
static inline int fault_truncate(sqlite3_file *file, sqlite3_int64 size) {
    const int     rc = fault_in_call(SQLITE_IOERR_TRUNCATE);
    sqlite3_file *real = fault_file_real(file);
    sqlite3_int64 before = size;

    CHECK_INT(real->pMethods->xFileSize(real, &before), SQLITE_OK);
    if (rc == SQLITE_OK) fault.used -= before - size;
    return rc ? rc : real->pMethods->xTruncate(real, size);
}
static inline int fault_sync(sqlite3_file *file, int flags) {
    const int     rc = fault_in_call(SQLITE_IOERR_FSYNC);
    sqlite3_file *real = fault_file_real(file);

    fault.syncs++;
    return rc ? rc : real->pMethods->xSync(real, flags);
}
static inline int fault_size(sqlite3_file *file, sqlite3_int64 *out_size) {
    const int     rc = fault_in_call(SQLITE_IOERR_FSTAT);
    sqlite3_file *real = fault_file_real(file);

    return rc ? rc : real->pMethods->xFileSize(real, out_size);
}
static inline int fault_lock(sqlite3_file *file, int level) {
    sqlite3_file *real = fault_file_real(file);

    return real->pMethods->xLock(real, level);
}
static inline int fault_unlock(sqlite3_file *file, int level) {
    sqlite3_file *real = fault_file_real(file);

    return real->pMethods->xUnlock(real, level);
}
static inline int fault_reserved(sqlite3_file *file, int *out) {
    sqlite3_file *real = fault_file_real(file);

    return real->pMethods->xCheckReservedLock(real, out);
}
static inline int fault_control(sqlite3_file *file, int op, void *arg) {
    sqlite3_file *real = fault_file_real(file);

    if (op == SQLITE_FCNTL_LAST_ERRNO) {
        *(int *)arg = fault_errno();
        return SQLITE_OK;
    }
    return real->pMethods->xFileControl(real, op, arg);
}
static inline int fault_sector(sqlite3_file *file) {
    sqlite3_file *real = fault_file_real(file);

    return real->pMethods->xSectorSize(real);
}
static inline int fault_traits(sqlite3_file *file) {
    sqlite3_file *real = fault_file_real(file);

    return real->pMethods->xDeviceCharacteristics(real);
}

/* Version 1: no shared memory and no mapping, which the store must not need. */
static const sqlite3_io_methods fault_methods = {
    .iVersion = 1,
    .xClose = fault_close,
    .xRead = fault_read,
    .xWrite = fault_write,
    .xTruncate = fault_truncate,
    .xSync = fault_sync,
    .xFileSize = fault_size,
    .xLock = fault_lock,
    .xUnlock = fault_unlock,
    .xCheckReservedLock = fault_reserved,
    .xFileControl = fault_control,
    .xSectorSize = fault_sector,
    .xDeviceCharacteristics = fault_traits,
};

static inline int fault_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                             int *out_flags) {
    fault_file *f = (fault_file *)(void *)file;
    int         rc = fault_in_call(SQLITE_CANTOPEN);

    (void)vfs;
    f->base.pMethods = NULL;
    f->is_main = (flags & SQLITE_OPEN_MAIN_DB) != 0;
    f->real = (sqlite3_file *)(void *)(f + 1);
    if (rc == SQLITE_OK) rc = fault_real->xOpen(fault_real, name, f->real, flags, out_flags);
    if (rc == SQLITE_OK) f->base.pMethods = &fault_methods;
    return rc;
}
static inline int fault_delete(sqlite3_vfs *vfs, const char *name, int sync) {
    const int   rc = fault_in_call(SQLITE_IOERR_DELETE);
    struct stat found;

    (void)vfs;
    if (rc == SQLITE_OK && stat(name, &found) == 0) fault.used -= found.st_size;
    return rc ? rc : fault_real->xDelete(fault_real, name, sync);
}
static inline int fault_access(sqlite3_vfs *vfs, const char *name, int flags, int *out) {
    const int rc = fault_in_call(SQLITE_IOERR_ACCESS);

    (void)vfs;
    return rc ? rc : fault_real->xAccess(fault_real, name, flags, out);
}
static inline int fault_last_error(sqlite3_vfs *vfs, int len, char *text) {
    (void)vfs;
    if (len > 0) *text = '\0';
    return fault_errno();
}

static inline void fault_disk(void) {
    fault_real = sqlite3_vfs_find(NULL);
    CHECK(fault_real);
    fault_vfs = *fault_real;
    fault_vfs.pNext = NULL;
    fault_vfs.zName = "fault";
    fault_vfs.szOsFile = (int)sizeof(fault_file) + fault_real->szOsFile;
    fault_vfs.xOpen = fault_open;
    fault_vfs.xDelete = fault_delete;
    fault_vfs.xAccess = fault_access;
    fault_vfs.xGetLastError = fault_last_error;
    CHECK_INT(sqlite3_vfs_register(&fault_vfs, 0), SQLITE_OK);
}

/* ---- The allocator ---- */

static sqlite3_mem_methods fault_real_memory;

static inline bool fault_in_malloc(void) {
    return fault.kind == FAULT_MALLOC && fault_counts_down();
}
static inline void *fault_malloc(int size) {
    return fault_in_malloc() ? NULL : fault_real_memory.xMalloc(size);
}
static inline void *fault_realloc(void *memory, int size) {
    return fault_in_malloc() ? NULL : fault_real_memory.xRealloc(memory, size);
}

static inline void fault_memory(void) {
    sqlite3_mem_methods ours;

    CHECK_INT(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &fault_real_memory), SQLITE_OK);
    ours = fault_real_memory;
    ours.xMalloc = fault_malloc;
    ours.xRealloc = fault_realloc;
    CHECK_INT(sqlite3_config(SQLITE_CONFIG_MALLOC, &ours), SQLITE_OK);
}

#endif
