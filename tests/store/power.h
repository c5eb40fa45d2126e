/* power.h - a disk in memory that forgets what was not synced when the power fails.
 * The VFS is named "power". Of a file it keeps two images: what was written, and what was synced. When the power is
 * cut each sector of 512 bytes that differs is drawn from a seed: the new one, the old one, or half of each; so is
 * the length, and whether a file that was made or deleted without a sync of its directory is there. A file is cut
 * short by its file system's own journal: as a whole or not at all, and if not, nothing later happened to that
 * file either. From the cut on every call fails, as in a process that is dead. */
#ifndef DIURNAL_TESTS_STORE_POWER_H
#define DIURNAL_TESTS_STORE_POWER_H

#include "test.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POWER_FILES = 8, POWER_SECTOR = 512, POWER_NAME = 1024 };

typedef struct power_image {
    unsigned char *bytes;
    size_t         len;
} power_image;

typedef struct power_file {
    char name[POWER_NAME];
    bool there, synced_there;
    bool held; /* it was cut short, and unless it is synced nothing since then will be there */
    power_image now, synced;
    size_t      cap; /* of both; what is beyond len is zero */
} power_file;

typedef struct power_handle {
    sqlite3_file base;
    power_file  *file;
} power_handle;

static struct power_state {
    power_file files[POWER_FILES];
    long       steps;  /* calls that change something, so far */
    long       cut_at; /* the power is cut at this one; 0: never */
    bool       is_cut;
    uint64_t   random;
} power;

/* One more call that changes something: does it still come? */
static inline bool power_fails(void) {
    if (power.is_cut) return true;
    power.steps++;
    power.is_cut = power.cut_at && power.steps == power.cut_at;
    return power.is_cut;
}

static inline power_file *power_find(const char *name, bool make) {
    for (int i = 0; i < POWER_FILES; i++)
        if (strcmp(power.files[i].name, name) == 0) return &power.files[i];
    for (int i = 0; make && i < POWER_FILES; i++)
        if (!*power.files[i].name) {
            snprintf(power.files[i].name, POWER_NAME, "%s", name);
            return &power.files[i];
        }
    CHECK_MSG(!make, "more than %d files", POWER_FILES);
    return NULL;
}

static inline power_file *power_of(sqlite3_file *file) {
    return ((power_handle *)(void *)file)->file;
}

static inline void power_grow(power_file *f, size_t len) {
    const size_t cap = 2 * len + 65536;

    if (len <= f->cap) return;
    f->now.bytes = realloc(f->now.bytes, cap);
    f->synced.bytes = realloc(f->synced.bytes, cap);
    CHECK(f->now.bytes && f->synced.bytes);
    memset(f->now.bytes + f->cap, 0, cap - f->cap);
    memset(f->synced.bytes + f->cap, 0, cap - f->cap);
    f->cap = cap;
}

static inline void power_empty(power_file *f, power_image *image) {
    if (f->cap) memset(image->bytes, 0, f->cap);
    image->len = 0;
}

/* ---- The file ---- */

static inline int power_close(sqlite3_file *file) {
    (void)file;
    return SQLITE_OK;
}
static inline int power_read(sqlite3_file *file, void *to, int len, sqlite3_int64 at) {
    const power_file *f = power_of(file);
    size_t            got = 0;

    if (power.is_cut) return SQLITE_IOERR_READ;
    if ((size_t)at < f->now.len) got = f->now.len - (size_t)at;
    if (got > (size_t)len) got = (size_t)len;
    memset(to, 0, (size_t)len);
    if (got) memcpy(to, f->now.bytes + at, got);
    return got == (size_t)len ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}
static inline int power_write(sqlite3_file *file, const void *from, int len, sqlite3_int64 at) {
    power_file  *f = power_of(file);
    const size_t end = (size_t)at + (size_t)len;

    if (power.is_cut) return SQLITE_IOERR_WRITE;
    /* What is under way when the power fails may get as far as any other unsynced write. */
    power_grow(f, end);
    memcpy(f->now.bytes + at, from, (size_t)len);
    if (end > f->now.len) f->now.len = end;
    return power_fails() ? SQLITE_IOERR_WRITE : SQLITE_OK;
}
static inline void power_shorten(power_image *image, size_t len) {
    if (len >= image->len) return;
    memset(image->bytes + len, 0, image->len - len);
    image->len = len;
}
static inline int power_truncate(sqlite3_file *file, sqlite3_int64 size) {
    power_file *f = power_of(file);

    if (power_fails()) return SQLITE_IOERR_TRUNCATE;
    power_shorten(&f->now, (size_t)size);
    if (test_random(&power.random) % 2) f->held = true;
    if (!f->held) power_shorten(&f->synced, (size_t)size);
    return SQLITE_OK;
}
static inline int power_sync(sqlite3_file *file, int flags) {
    power_file *f = power_of(file);

    (void)flags;
    if (power_fails()) return SQLITE_IOERR_FSYNC;
    if (f->cap) memcpy(f->synced.bytes, f->now.bytes, f->cap);
    f->synced.len = f->now.len;
    f->synced_there = true;
    f->held = false;
    return SQLITE_OK;
}
static inline int power_size(sqlite3_file *file, sqlite3_int64 *out_size) {
    *out_size = (sqlite3_int64)power_of(file)->now.len;
    return power.is_cut ? SQLITE_IOERR_FSTAT : SQLITE_OK;
}
static inline int power_lock(sqlite3_file *file, int level) {
    (void)file, (void)level;
    return SQLITE_OK;
}
static inline int power_reserved(sqlite3_file *file, int *out) {
    (void)file;
    *out = 0;
    return SQLITE_OK;
}
static inline int power_control(sqlite3_file *file, int op, void *arg) {
    (void)file, (void)op, (void)arg;
    return SQLITE_NOTFOUND;
}
static inline int power_sector(sqlite3_file *file) {
    (void)file;
    return POWER_SECTOR;
}
/* It promises nothing: neither that a write leaves its neighbours alone, nor that appending is safe. */
static inline int power_traits(sqlite3_file *file) {
    (void)file;
    return 0;
}

static const sqlite3_io_methods power_methods = {
    .iVersion = 1,
    .xClose = power_close,
    .xRead = power_read,
    .xWrite = power_write,
    .xTruncate = power_truncate,
    .xSync = power_sync,
    .xFileSize = power_size,
    .xLock = power_lock,
    .xUnlock = power_lock,
    .xCheckReservedLock = power_reserved,
    .xFileControl = power_control,
    .xSectorSize = power_sector,
    .xDeviceCharacteristics = power_traits,
};

/* ---- The disk ---- */

static inline int power_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                             int *out_flags) {
    power_handle *h = (power_handle *)(void *)file;
    power_file   *f;

    (void)vfs;
    h->base.pMethods = NULL;
    CHECK_MSG(name, "a store keeps nothing in temporary files");
    f = power_find(name, (flags & SQLITE_OPEN_CREATE) != 0);
    if (power.is_cut || !f || (!f->there && !(flags & SQLITE_OPEN_CREATE))) return SQLITE_CANTOPEN;
    if (!f->there) {
        power_empty(f, &f->now);
        if (power_fails()) return SQLITE_CANTOPEN;
        f->there = true;
        /* One of that name was deleted, and the power may bring it back: then as it was, for the new file
         * never had a sector of the old one. */
        if (f->synced_there && test_random(&power.random) % 2) f->held = true;
        else if (f->synced_there) power_empty(f, &f->synced);
    }
    h->file = f;
    h->base.pMethods = &power_methods;
    if (out_flags) *out_flags = flags;
    return SQLITE_OK;
}
static inline int power_delete(sqlite3_vfs *vfs, const char *name, int sync) {
    power_file *f = power_find(name, false);

    (void)vfs;
    if (power_fails()) return SQLITE_IOERR_DELETE;
    if (!f || !f->there) return SQLITE_IOERR_DELETE_NOENT;
    f->there = false;
    if (sync) {
        f->synced_there = false;
        power_empty(f, &f->synced);
    }
    return SQLITE_OK;
}
static inline int power_access(sqlite3_vfs *vfs, const char *name, int flags, int *out) {
    const power_file *f = power_find(name, false);

    (void)vfs, (void)flags;
    *out = f && f->there && f->now.len > 0;
    return power.is_cut ? SQLITE_IOERR_ACCESS : SQLITE_OK;
}
static inline int power_full_path(sqlite3_vfs *vfs, const char *name, int room, char *out) {
    (void)vfs;
    snprintf(out, (size_t)room, "%s", name);
    return SQLITE_OK;
}

static inline void power_disk(void) {
    static sqlite3_vfs vfs;

    vfs = *sqlite3_vfs_find(NULL);
    vfs.pNext = NULL;
    vfs.zName = "power";
    vfs.szOsFile = (int)sizeof(power_handle);
    vfs.xOpen = power_open;
    vfs.xDelete = power_delete;
    vfs.xAccess = power_access;
    vfs.xFullPathname = power_full_path;
    CHECK_INT(sqlite3_vfs_register(&vfs, 0), SQLITE_OK);
}

/* An empty disk, whose power is cut at that step. */
static inline void power_begin(long cut_at, uint64_t random) {
    for (int i = 0; i < POWER_FILES; i++) {
        free(power.files[i].now.bytes);
        free(power.files[i].synced.bytes);
    }
    memset(&power, 0, sizeof power);
    power.cut_at = cut_at;
    power.random = random;
}

/* ---- The cut ---- */

static inline void power_settle_sector(power_file *f, size_t at) {
    unsigned char *now = f->now.bytes + at, *old = f->synced.bytes + at;
    const size_t   half = POWER_SECTOR / 2;

    if (memcmp(now, old, POWER_SECTOR) == 0) return;
    switch (test_random(&power.random) % 4) {
    case 0: memcpy(now, old, POWER_SECTOR); break;
    case 1: memcpy(now, old, half); break;
    case 2: memcpy(now + half, old + half, half); break;
    default: break; /* it got there */
    }
}

static inline void power_settle(power_file *f) {
    size_t len = f->now.len;

    if (f->held || (f->there != f->synced_there && test_random(&power.random) % 2)) {
        f->there = f->synced_there;
        f->held = false;
        if (f->cap) memcpy(f->now.bytes, f->synced.bytes, f->cap);
        f->now.len = len = f->synced.len;
    }
    if (!f->there) {
        power_empty(f, &f->now);
        len = 0;
    } else if (len != f->synced.len) {
        if (test_random(&power.random) % 2) len = f->synced.len;
    }
    for (size_t at = 0; f->there && at < f->cap / POWER_SECTOR * POWER_SECTOR; at += POWER_SECTOR)
        power_settle_sector(f, at);
    if (f->cap) memset(f->now.bytes + len, 0, f->cap - len);
    f->now.len = len;
    if (f->cap) memcpy(f->synced.bytes, f->now.bytes, f->cap);
    f->synced.len = len;
    f->synced_there = f->there;
}

/* What is on the disk once the power is back. */
static inline void power_back(void) {
    for (int i = 0; i < POWER_FILES; i++) power_settle(&power.files[i]);
    power.is_cut = false;
    power.steps = power.cut_at = 0;
}

#endif
