/* output.c - see output.h. */
#include "output.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PART ".replay-part"

enum { FILES_MAX = 8 };

struct output {
    char       *dir;
    int         dir_fd, part_fd;
    const char *names[FILES_MAX];
    size_t      len;
};

int output_failed(const output *o, const char *name, int code, char *why) {
    return dn_refuse(DN_EIO, why, OUTPUT_WHY, "%s/%s cannot be written: %s", o->dir, name,
                     strerror(code));
}

static const char *const ours[] = {"events.ndjson", "users.ndjson", "summary.json", "report.html"};
enum { OURS = sizeof ours / sizeof *ours };

/* What a run that was killed left: files of ours, and nothing else is there. */
static void part_remove(output *o) {
    if (o->part_fd >= 0)
        for (size_t i = 0; i < OURS; i++) (void)unlinkat(o->part_fd, ours[i], 0);
    if (o->dir_fd >= 0) (void)unlinkat(o->dir_fd, PART, AT_REMOVEDIR);
}

/* What two runs at once write into one place is neither's. A file system without locks is let be. */
static int dir_lock(output *o, char *why) {
    if (flock(o->dir_fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return DN_OK;
    (void)snprintf(
        why, OUTPUT_WHY,
        "%s: another diurnal replay is writing there; right is another --out, or to wait "
        "until it has ended",
        o->dir);
    (void)close(o->dir_fd); /* what is in there is the other's */
    o->dir_fd = -1;
    return DN_EIO;
}

static int dir_open(output *o, char *why) {
    if (mkdir(o->dir, 0777) < 0 && errno != EEXIST) return output_failed(o, "", errno, why);
    o->dir_fd = open(o->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return o->dir_fd < 0 ? output_failed(o, "", errno, why) : dir_lock(o, why);
}

/* Or the run would fail at its very end, with some of its files in place. */
static int targets_look(const output *o, char *why) {
    struct stat there;

    for (size_t i = 0; i < OURS; i++) {
        if (fstatat(o->dir_fd, ours[i], &there, AT_SYMLINK_NOFOLLOW) < 0) continue;
        if (!S_ISDIR(there.st_mode)) continue;
        (void)snprintf(why, OUTPUT_WHY,
                       "%s/%s is a directory; right is another --out, or to take it away", o->dir,
                       ours[i]);
        return DN_EIO;
    }
    return DN_OK;
}

static int dirs_open(output *o, char *why) {
    int rc = dir_open(o, why);

    if (rc == DN_OK) rc = targets_look(o, why);
    if (rc < 0) return rc;
    if (mkdirat(o->dir_fd, PART, 0777) < 0 && errno != EEXIST)
        return output_failed(o, PART, errno, why);
    o->part_fd = openat(o->dir_fd, PART, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return o->part_fd < 0 ? output_failed(o, PART, errno, why) : DN_OK;
}

int output_open(const char *dir, output **out_output, char *why) {
    output *o = calloc(1, sizeof *o);

    if (o) o->dir = strdup(dir);
    if (!o || !o->dir) {
        free(o);
        return dn_refuse(DN_ENOMEM, why, OUTPUT_WHY, "out of memory");
    }
    o->dir_fd = o->part_fd = -1;
    const int rc = dirs_open(o, why);
    if (rc == DN_OK) *out_output = o;
    else output_free(o);
    return rc;
}

void output_free(output *o) {
    if (!o) return;
    part_remove(o);
    if (o->part_fd >= 0) (void)close(o->part_fd);
    if (o->dir_fd >= 0) (void)close(o->dir_fd);
    free(o->dir);
    free(o);
}

int output_file(output *o, const char *name, char *why) {
    const int fd = o->len == FILES_MAX
                       ? -1
                       : openat(o->part_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

    if (fd < 0) (void)output_failed(o, name, errno, why);
    else o->names[o->len++] = name;
    return fd;
}

int output_complete(output *o, char *why) {
    for (size_t i = 0; i < o->len; i++)
        if (renameat(o->part_fd, o->names[i], o->dir_fd, o->names[i]) < 0)
            return output_failed(o, o->names[i], errno, why);
    o->len = 0;
    return DN_OK;
}
