/* lock.c - one process a data directory.
 * SQLite would keep a second writer out too, but not say who has it, and a second diurnal must be told before it
 * looks at anything. The lock is flock's: it goes with the process, however that ends. */
#include "db.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum { LOCK_MODE = 0600, PID_TEXT = 24, LOOKERS_MAX = 1000 };

static int lock_open(const char *path, bool read_only) {
    int fd;

    if (!read_only) return open(path, O_RDWR | O_CREAT | O_CLOEXEC, LOCK_MODE);
    fd = open(path, O_RDWR | O_CLOEXEC);
    return fd < 0 && (errno == EACCES || errno == EROFS) ? open(path, O_RDONLY | O_CLOEXEC) : fd;
}

static int lock_try(int fd, int how) {
    int rc;

    do rc = flock(fd, how | LOCK_NB);
    while (rc < 0 && errno == EINTR);
    return rc;
}

/* Who only looks whether somebody has it (dir_lock_held) shares it for an instant, and is waited for. */
static int lock_wait_for_no_one(int fd) {
    const struct timespec instant = {.tv_nsec = 1000000};
    int                   rc = lock_try(fd, LOCK_EX);

    for (int i = 0; i < LOOKERS_MAX && rc < 0 && errno == EWOULDBLOCK; i++) {
        if (lock_try(fd, LOCK_SH) < 0) return -1;
        (void)flock(fd, LOCK_UN);
        (void)nanosleep(&instant, NULL);
        rc = lock_try(fd, LOCK_EX);
    }
    return rc;
}

static int lock_refuse_taken(int fd, const char *dir, char *why) {
    char text[PID_TEXT] = "";
    long pid = 0;

    if (pread(fd, text, sizeof text - 1, 0) > 0) pid = strtol(text, NULL, 10);
    if (pid > 0)
        return store_refuse(DN_EEXIST, why,
                            "%s is in use by process %ld: ask that one, or stop it first", dir,
                            pid);
    return store_refuse(DN_EEXIST, why, "%s is in use by another process: stop that one first",
                        dir);
}

/* A courtesy to the next one, so nothing depends on it: it may fail on a full disk. */
static void lock_sign(int fd) {
    char      text[PID_TEXT];
    const int len = snprintf(text, sizeof text, "%ld\n", (long)getpid());

    if (ftruncate(fd, 0) == 0 && pwrite(fd, text, (size_t)len, 0) < 0) return;
}

int dir_lock_take(const char *dir, bool read_only, int *out_fd, char *why) {
    char path[DB_PATH_MAX];
    int  fd, code;

    snprintf(path, sizeof path, "%s/lock", dir);
    fd = lock_open(path, read_only);
    if (fd < 0 && read_only && errno == ENOENT) {
        *out_fd = -1; /* a copy of a store, where no daemon ever was; nothing may be made here */
        return DN_OK;
    }
    if (fd < 0)
        return store_refuse(errno == ENOSPC || errno == EDQUOT ? DN_EFULL : DN_EIO, why,
                            "%s cannot be opened: %s", path, strerror(errno));
    if (lock_wait_for_no_one(fd) == 0) {
        lock_sign(fd);
        *out_fd = fd;
        return DN_OK;
    }
    if (errno == EWOULDBLOCK) code = lock_refuse_taken(fd, dir, why);
    else code = store_refuse(DN_EIO, why, "%s cannot be locked: %s", path, strerror(errno));
    close(fd);
    return code;
}

int dir_lock_held(const char *dir, bool *out_held, char *why) {
    char path[DB_PATH_MAX];

    *out_held = false;
    if (strlen(dir) > DB_PATH_MAX - DB_SUFFIX_ROOM) return DN_OK; /* no store could be there */
    (void)snprintf(path, sizeof path, "%s/lock", dir);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) return DN_OK;
    if (fd < 0) return store_refuse(DN_EIO, why, "%s cannot be opened: %s", path, strerror(errno));
    *out_held = lock_try(fd, LOCK_SH) < 0;
    (void)close(fd);
    return DN_OK;
}
