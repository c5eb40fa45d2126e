/* lines_out.c - see lines_out.h. */
#include "lines_out.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

void lines_out_begin(lines_out *o, int fd) {
    o->at = o->buffer;
    o->fd = fd;
    o->failed = 0;
    o->written = 0;
    dn_preallocate_begin(&o->room, fd);
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

    dn_preallocate_ask(&o->room, o->fd, o->written + LINES_OUT_BYTES);
    put_out(o, LINES_OUT_BYTES);
    memcpy(o->buffer, o->buffer + LINES_OUT_BYTES, left);
    o->at = o->buffer + left;
}

int lines_out_end(lines_out *o, int *out_errno) {
    put_out(o, (size_t)(o->at - o->buffer));
    o->at = o->buffer;
    if (dn_preallocate_end(&o->room, o->fd, o->written) < 0 && !o->failed) o->failed = errno;
    *out_errno = o->failed;
    return o->failed ? DN_EIO : DN_OK;
}
