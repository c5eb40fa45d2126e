/* store_copy.c - see store_copy.h.
 * The daemon needs a path for the copy. The copy has a directory of its own, because a store opens a directory, and so that
 * remains of a killed process can be found. A lock on the data directory itself (the daemon locks a file in it) allows one
 * check at a time. */
#include "store_copy.h"

#include "endings.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define COPY_DIR  "check-copy"
#define COPY_FILE "diurnal.db" /* files with this prefix are ours: the copy, finished or not */

enum {
    PATH_ROOM = 4096 + 64,
    ROOM_LEFT = 1 << 20, /* plus an eighth of the copy: for what the daemon writes meanwhile */
};

typedef struct copying {
    const char *data;
    int         data_fd, dir_fd;
    bool        is_made; /* the directory exists */
} copying;

/* ---- The directory ---- */

static int failed(const copying *k, const char *what) {
    return complain(DN_EXIT_FAILED, "%s/%s cannot be %s: %s", k->data, COPY_DIR, what,
                    strerror(errno));
}

static int lock_take(copying *k) {
    k->data_fd = open(k->data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (k->data_fd < 0)
        return complain(DN_EXIT_FAILED, "%s cannot be opened: %s", k->data, strerror(errno));
    if (flock(k->data_fd, LOCK_EX | LOCK_NB) == 0) return DN_EXIT_DONE;
    return complain(DN_EXIT_FAILED, "%s: another check is running; wait until it ends", k->data);
}

/* Removes only files with our prefix; other files are not ours. */
static void dir_empty(const copying *k) {
    const int            fd = openat(k->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR                 *all = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *one;

    if (!all) {
        if (fd >= 0) (void)close(fd);
        return;
    }
    while ((one = readdir(all)))
        if (strncmp(one->d_name, COPY_FILE, strlen(COPY_FILE)) == 0)
            (void)unlinkat(k->dir_fd, one->d_name, 0);
    (void)closedir(all);
}

/* The daemon must be able to write into it, whichever user runs this command. */
static int dir_make(copying *k) {
    struct stat data, dir;

    if (mkdirat(k->data_fd, COPY_DIR, S_IRWXU) < 0 && errno != EEXIST) return failed(k, "created");
    k->is_made = true;
    k->dir_fd = openat(k->data_fd, COPY_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (k->dir_fd < 0) return failed(k, "opened");
    if (fstat(k->data_fd, &data) < 0 || fstat(k->dir_fd, &dir) < 0) return failed(k, "read");
    if ((dir.st_uid != data.st_uid || dir.st_gid != data.st_gid) &&
        fchown(k->dir_fd, data.st_uid, data.st_gid) < 0)
        return failed(k, "given to the user of the daemon");
    dir_empty(k);
    return DN_EXIT_DONE;
}

static void dir_remove(copying *k) {
    if (k->dir_fd >= 0) {
        dir_empty(k);
        (void)close(k->dir_fd);
    }
    if (k->is_made) (void)unlinkat(k->data_fd, COPY_DIR, AT_REMOVEDIR);
    if (k->data_fd >= 0) (void)close(k->data_fd);
}

/* ---- Room ---- */

static uint64_t size_of(const copying *k, const char *name) {
    struct stat about;

    return fstatat(k->data_fd, name, &about, 0) == 0 ? (uint64_t)about.st_size : 0;
}

/* A copy that fills the disk would stop the daemon's writes, so it is not started. */
static int look_for_room(const copying *k) {
    const uint64_t copy = size_of(k, "diurnal.db") + size_of(k, "diurnal.db-wal");
    const uint64_t wanted = copy + copy / 8 + ROOM_LEFT;
    struct statvfs disk;

    if (fstatvfs(k->data_fd, &disk) < 0)
        return DN_EXIT_DONE; /* a full disk is then reported later */
    const uint64_t room = (uint64_t)disk.f_bavail * disk.f_frsize;
    if (room >= wanted) return DN_EXIT_DONE;
    return complain(DN_EXIT_FAILED,
                    "%s: a copy to check needs %llu KiB, but only %llu KiB are free; make room, or "
                    "stop the daemon first",
                    k->data, (unsigned long long)(wanted / 1024),
                    (unsigned long long)(room / 1024));
}

/* ---- The copy ---- */

static int copy_open(const call *c, dn_store **out_store) {
    char path[PATH_ROOM], why[DN_STORE_WHY];

    (void)snprintf(path, sizeof path, "%s/%s", c->settings->data, COPY_DIR);
    const dn_data_url     url = dn_data_url_of(path);
    const dn_store_config config = {
        .url = url.text,
        .ledger_days = (uint32_t)c->settings->ledger_days,
        .read_only = true,
    };
    const int rc = dn_store_open(&config, out_store, why);
    return rc == DN_OK ? DN_EXIT_DONE : complain(DN_EXIT_FAILED, STORE_COPY_OF "%s", why);
}

static int copy_make(const call *c, client *asked) {
    char path[PATH_ROOM];

    (void)snprintf(path, sizeof path, "%s/%s/%s", c->settings->data, COPY_DIR, COPY_FILE);
    return client_backup(asked, path);
}

dn_store *store_copy(const call *c, client *asked, int *out_exit) {
    copying   k = {.data = c->settings->data, .data_fd = -1, .dir_fd = -1};
    dn_store *store = NULL;
    endings   held;

    endings_hold(&held);
    client_waits_until(asked, held.fd, /* silently= */ false);
    *out_exit = lock_take(&k);
    if (*out_exit == DN_EXIT_DONE) *out_exit = dir_make(&k);
    if (*out_exit == DN_EXIT_DONE) *out_exit = look_for_room(&k);
    if (*out_exit == DN_EXIT_DONE) *out_exit = copy_make(c, asked);
    if (*out_exit == DN_EXIT_DONE) *out_exit = copy_open(c, &store);
    dir_remove(&k);
    client_waits_until(asked, -1, /* silently= */ false);
    endings_let(&held);
    return store;
}
