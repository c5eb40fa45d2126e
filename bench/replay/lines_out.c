/* lines_out.c - see lines_out.h. */
#define _GNU_SOURCE /* fallocate */
#include "lines_out.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

enum { ROOM_STEP = 1 << 24 };

/* In memory there are no blocks, and what is asked for ahead is cleared twice. */
static bool is_in_memory(int fd) {
    struct statfs at;

    return fstatfs(fd, &at) == 0 && at.f_type == TMPFS_MAGIC;
}

void lines_out_begin(lines_out *o, int fd) {
    o->at = o->buffer;
    o->fd = fd;
    o->failed = 0;
    o->written = o->room = 0;
    o->asks = !is_in_memory(fd);
}

/* A file system on a disk puts something aside for each page, and looks for blocks later, unless it was asked for them
 * ahead: that is a third of what a write takes (measured). It need not be able to; that the disk is full, a write tells. */
static void ask_for_room(lines_out *o) {
    o->asks = fallocate(o->fd, FALLOC_FL_KEEP_SIZE, o->room, ROOM_STEP) == 0;
    if (o->asks) o->room += ROOM_STEP;
}

static void put_out(lines_out *o, size_t len) {
    const char *at = o->buffer, *const end = at + len;

    while (at < end && !o->failed) {
        const ssize_t put = write(o->fd, at, (size_t)(end - at));
        if (put < 0 && errno != EINTR) o->failed = errno;
        if (put > 0) {
            at += put;
            o->written += put;
        }
    }
}

/* Always as many bytes, not whole lines: what begins and ends where the large pages of the kernel's cache do fills one of
 * them, and not one of each smaller size. (Measured: a third.) */
void lines_out_full(lines_out *o) {
    const size_t left = (size_t)(o->at - o->buffer) - LINES_OUT_BYTES;

    if (o->asks && o->written + LINES_OUT_BYTES > o->room) ask_for_room(o);
    put_out(o, LINES_OUT_BYTES);
    memcpy(o->buffer, o->buffer + LINES_OUT_BYTES, left);
    o->at = o->buffer + left;
}

int lines_out_end(lines_out *o, int *out_errno) {
    put_out(o, (size_t)(o->at - o->buffer));
    o->at = o->buffer;
    /* What of the room was not needed is given back. */
    if (o->room > 0 && !o->failed && ftruncate(o->fd, o->written) < 0) o->failed = errno;
    *out_errno = o->failed;
    return o->failed ? DN_EIO : DN_OK;
}
