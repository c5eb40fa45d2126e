/* trace_temp.c - files without a name. */
#define _GNU_SOURCE /* mkostemp */
#include "trace_temp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int trace_temp_open(int *out_fd) {
    const char *const dir = getenv("TMPDIR");
    char              path[4096];
    int               fd;

    if (snprintf(path, sizeof path, "%s/diurnal-replay-XXXXXX",
                 dir && *dir != '\0' ? dir : "/var/tmp") >= (int)sizeof path)
        return DN_EIO;
    /* Not O_TMPFILE, which not every file system has. */
    fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0) return DN_EIO;
    (void)unlink(path);
    *out_fd = fd;
    return DN_OK;
}

int trace_temp_write(int fd, const void *bytes, size_t len, int64_t at) {
    const char *from = bytes;

    while (len > 0) {
        const ssize_t part = pwrite(fd, from, len, at);

        if (part < 0 && errno == EINTR) continue;
        if (part <= 0) return DN_EIO;
        from += part;
        len -= (size_t)part;
        at += part;
    }
    return DN_OK;
}

int trace_temp_read(int fd, void *bytes, size_t len, int64_t at) {
    char *to = bytes;

    while (len > 0) {
        const ssize_t part = pread(fd, to, len, at);

        if (part < 0 && errno == EINTR) continue;
        if (part <= 0) return DN_EIO;
        to += part;
        len -= (size_t)part;
        at += part;
    }
    return DN_OK;
}
