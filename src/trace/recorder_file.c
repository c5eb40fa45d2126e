/* recorder_file.c - see recorder_file.h. */
#define _GNU_SOURCE /* O_CLOEXEC */
#include "recorder_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void record_file_init(record_file *f, const char *path, uint32_t files) {
    f->path = path;
    f->files = files;
    f->fd = -1;
}

static int failed(record_file *f) {
    f->error = errno;
    return DN_EIO;
}

static const char *path_of(const record_file *f, const char *end, char path[RECORD_PATH_MAX]) {
    (void)snprintf(path, RECORD_PATH_MAX, "%s%s", f->path, end);
    return path;
}

static const char *path_of_older(const record_file *f, uint32_t nth, char path[RECORD_PATH_MAX]) {
    char end[16] = "";

    if (nth > 0) (void)snprintf(end, sizeof end, ".%u", nth);
    return path_of(f, end, path);
}

int record_file_begin(record_file *f, const char *header, size_t len, size_t end_at) {
    char path[RECORD_PATH_MAX];

    record_file_close(f);
    f->fd = open(path_of(f, ".new", path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY,
                 S_IRUSR | S_IWUSR);
    if (f->fd < 0) return failed(f);
    f->fresh = true;
    f->bytes = 0;
    f->len = 0;
    f->block = RECORD_BLOCK;
    f->end_at = end_at;
    return record_file_add(f, header, len);
}

static int write_out(record_file *f) {
    size_t done = 0;

    while (done < f->len) {
        const ssize_t took = pwrite(f->fd, f->buffer + done, f->len - done, f->bytes + (off_t)done);
        if (took < 0 && errno == EINTR) continue;
        if (took == 0) errno = ENOSPC;
        if (took <= 0) return failed(f);
        done += (size_t)took;
    }
    f->bytes += (int64_t)f->len;
    f->len = 0;
    f->block = RECORD_BLOCK - (size_t)(f->bytes % RECORD_BLOCK);
    return DN_OK;
}

/* The last line in the buffer is made to end there, by blanks before its newline. */
static void stretch(record_file *f, size_t len) {
    memset(f->buffer + f->len - 1, ' ', len - f->len);
    f->buffer[len - 1] = '\n';
    f->len = len;
}

char *record_file_room_slow(record_file *f, size_t max) {
    assert(f->fd >= 0);
    assert(max <= RECORD_BLOCK);
    if (f->len > 0) {
        if (f->len < f->block) stretch(f, f->block);
        if (write_out(f) < 0) return NULL;
    }
    return f->buffer;
}

int record_file_add(record_file *f, const char *line, size_t len) {
    char *room = record_file_room(f, len);

    if (!room) return DN_EIO;
    memcpy(room, line, len);
    record_file_take(f, len);
    return DN_OK;
}

int record_file_flush(record_file *f, const char *end_text, size_t end_len) {
    const int rc = write_out(f);

    if (rc < 0) return rc;
    return pwrite(f->fd, end_text, end_len, (off_t)f->end_at) == (ssize_t)end_len ? DN_OK
                                                                                  : failed(f);
}

/* The oldest is written over. What is not there is not moved. */
int record_file_complete(record_file *f) {
    char from[RECORD_PATH_MAX], to[RECORD_PATH_MAX];

    assert(f->fresh);
    for (uint32_t nth = f->files; nth > 0; nth--)
        if (rename(path_of_older(f, nth - 1, from), path_of_older(f, nth, to)) < 0 &&
            errno != ENOENT)
            return failed(f);
    if (rename(path_of(f, ".new", from), f->path) < 0) return failed(f);
    f->fresh = false;
    return DN_OK;
}

void record_file_give_up(record_file *f) {
    char path[RECORD_PATH_MAX];

    if (f->fd < 0) return;
    /* What was written of a line that is not whole; if it cannot go, replay says so. */
    if (ftruncate(f->fd, f->bytes) < 0) f->error = errno;
    record_file_close(f);
    if (f->fresh) (void)unlink(path_of(f, ".new", path));
}

void record_file_close(record_file *f) {
    if (f->fd >= 0) (void)close(f->fd);
    f->fd = -1;
    f->block = 0;
}

/* ---- Looking ---- */

int record_file_first(const char *path, char *bytes, size_t max, size_t *out_len) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    if (fd < 0) return errno;
    const ssize_t got = read(fd, bytes, max);
    const int     error = got < 0 ? errno : 0;
    (void)close(fd);
    if (got >= 0) *out_len = (size_t)got;
    return error;
}

static int refuse(char *why, size_t max, const char *path, const char *sentence, int error) {
    (void)snprintf(why, max, "record: %.200s: %s%s%s", path, sentence, error ? ": " : "",
                   error ? strerror(error) : "");
    return DN_EINVAL;
}

static int check_folder(const char *path, char *why, size_t max) {
    char        folder[RECORD_PATH_MAX];
    const char *slash = strrchr(path, '/');

    (void)snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + (slash == path) : 1,
                   slash ? path : ".");
    if (access(folder, W_OK | X_OK) == 0) return DN_OK;
    return refuse(why, max, path, "no file can be created in its folder; name another one", errno);
}

int record_file_check(const char *path, const char *begins, char *why, size_t why_max) {
    char        first[64] = "";
    struct stat about;

    if (stat(path, &about) < 0 && errno != ENOENT)
        return refuse(why, why_max, path, "the file cannot be read", errno);
    if (stat(path, &about) == 0) {
        if (!S_ISREG(about.st_mode))
            return refuse(why, why_max, path, "not a regular file; name another one", 0);
        size_t    len = 0;
        const int error = record_file_first(path, first, sizeof first - 1, &len);
        if (error)
            return refuse(why, why_max, path,
                          "the file exists but cannot be read; name another one, or move it away",
                          error);
        if (len > 0 && strncmp(first, begins, strlen(begins)) != 0)
            return refuse(why, why_max, path,
                          "the file exists and is not a trace; name another one, or move it away",
                          0);
    }
    return check_folder(path, why, why_max);
}
