/* fd_watch.c - see fd_watch.h. */
#include "fd_watch.h"

#include "diurnal/runtime.h"

#include <stdlib.h>
#include <unistd.h>
#include <uv.h>

struct fd_watch {
    uv_poll_t   poll;
    int         fd;
    dn_runtime *runtime;
    dn_ref      actor;
    uint32_t    kind;
    uint64_t    tag;
};

/* A mailbox that is full, or nobody there: then nobody will arm it again, and whoever swept it up frees it. */
static void on_ready(uv_poll_t *poll, int status, int events) {
    fd_watch *w = poll->data;

    (void)status, (void)events; /* an error too is for the actor to meet, when it reads */
    (void)uv_poll_stop(poll);
    const int rc = dn_post(w->runtime, w->actor, w->kind, &w->tag, sizeof w->tag);
    (void)rc;
}

int fd_watch_new(dn_self *self, int fd, uint32_t kind, uint64_t tag, fd_watch **out) {
    uv_loop_t *loop = dn_uv_loop(self);
    fd_watch  *w = calloc(1, sizeof *w);

    if (!w) return DN_ENOMEM;
    if (!loop || uv_poll_init(loop, &w->poll, fd) < 0) {
        free(w);
        return DN_EIO;
    }
    w->poll.data = w;
    w->fd = fd;
    w->runtime = dn_self_runtime(self);
    w->actor = dn_self_ref(self);
    w->kind = kind;
    w->tag = tag;
    *out = w;
    return DN_OK;
}

void fd_watch_once(fd_watch *w, bool to_read, bool to_write) {
    const int events = (to_read ? UV_READABLE : 0) | (to_write ? UV_WRITABLE : 0);

    (void)uv_poll_start(&w->poll, events, on_ready);
}

int fd_watch_fd(const fd_watch *w) { return w->fd; }

static void on_closed(uv_handle_t *handle) { free(handle->data); }

void fd_watch_free(fd_watch *w) {
    if (!w) return;
    const int fd = w->fd;
    uv_close((uv_handle_t *)&w->poll, on_closed);
    (void)close(fd);
}
