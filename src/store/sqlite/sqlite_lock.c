/* sqlite_lock.c - one process a data directory.
 * SQLite would keep a second writer out too, but could not name the first. The lock is flock's, so it ends with the process
 * however that ends. */
#include "sqlite/sqlite_store.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LOCK_MODE = 0600, LOOKERS_MAX = 1000 };

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

/* A process that runs dir_lock_held shares the lock for an instant, so the caller waits for it. */
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

/* "": the holder wrote none. */
static void sign_read(int fd, char sign[DN_STORE_SIGN]) {
    const ssize_t len = pread(fd, sign, DN_STORE_SIGN - 1, 0);

    sign[len > 0 ? len : 0] = '\0';
    sign[strcspn(sign, "\n")] = '\0';
}

static int lock_refuse_taken(int fd, const char *dir, char *why) {
    char sign[DN_STORE_SIGN];

    sign_read(fd, sign);
    const long pid = strtol(sign, NULL, 10);
    if (pid > 0)
        return dn_refuse(DN_EEXIST, why, DN_STORE_WHY,
                         "%s is in use by process %ld; stop that process first", dir, pid);
    return dn_refuse(DN_EEXIST, why, DN_STORE_WHY,
                     "%s is in use by another process; stop that process first", dir);
}

/* Names the holder: its process id, which in a container may always be the same, and an instant. Written over the old sign,
 * for which a full disk has room. If it cannot be written the lock holds all the same. */
static void lock_sign(int fd) {
    struct timespec now;
    char            sign[DN_STORE_SIGN];

    (void)clock_gettime(CLOCK_REALTIME, &now);
    const int  len = snprintf(sign, sizeof sign, "%ld %lld.%09ld\n", (long)getpid(),
                              (long long)now.tv_sec, now.tv_nsec);
    const bool signs = pwrite(fd, sign, (size_t)len, 0) == len;
    if (ftruncate(fd, signs ? len : 0) < 0) return;
}

/* A reader that cannot sign (of a directory it may only read) takes a shared lock, so that the directory does not seem held
 * by the last signer. */
static int lock_take(int fd) {
    const bool signs = (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY;

    if (!signs) return lock_try(fd, LOCK_SH);
    if (lock_wait_for_no_one(fd) < 0) return -1;
    lock_sign(fd);
    return 0;
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
        return dn_refuse(errno == ENOSPC || errno == EDQUOT ? DN_EFULL : DN_EIO, why, DN_STORE_WHY,
                         "%s cannot be opened: %s", path, strerror(errno));
    if (lock_take(fd) == 0) {
        *out_fd = fd;
        return DN_OK;
    }
    if (errno == EWOULDBLOCK) code = lock_refuse_taken(fd, dir, why);
    else
        code =
            dn_refuse(DN_EIO, why, DN_STORE_WHY, "%s cannot be locked: %s", path, strerror(errno));
    close(fd);
    return code;
}

int dir_lock_held(const char *dir, dn_store_hold *out_hold, char *why) {
    char        path[DB_PATH_MAX];
    struct stat about;

    *out_hold = (dn_store_hold){.held = false};
    if (strlen(dir) > DB_PATH_MAX - DB_SUFFIX_ROOM) return DN_OK; /* no store could be there */
    (void)snprintf(path, sizeof path, "%s/lock", dir);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) return DN_OK;
    if (fd < 0)
        return dn_refuse(DN_EIO, why, DN_STORE_WHY, "%s cannot be opened: %s", path,
                         strerror(errno));
    out_hold->held = lock_try(fd, LOCK_SH) < 0;
    out_hold->owner = fstat(fd, &about) == 0 ? about.st_uid : UINT32_MAX;
    sign_read(fd, out_hold->sign);
    (void)close(fd);
    return DN_OK;
}
