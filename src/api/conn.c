/* conn.c - see conn.h. */
#include "conn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

void conn_close(conn *c) {
    fd_watch_free(c->watch);
    ask_done(&c->ask);
    free(c->out);
    free(c->in);
    *c = (conn){.use = c->use + 1};
}

static bool has_line(const conn *c, size_t *out_len) {
    const char *end = memchr(c->in, '\n', c->in_len);

    if (end) *out_len = (size_t)(end - c->in);
    return end != NULL;
}

conn_got conn_read(conn *c, size_t *out_len) {
    if (has_line(c, out_len)) return CONN_GOT_LINE;
    while (c->in_len < DN_CONTROL_LINE_MAX) {
        const ssize_t got = recv(fd_watch_fd(c->watch), c->in + c->in_len,
                                 DN_CONTROL_LINE_MAX - c->in_len, MSG_DONTWAIT);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && errno == EAGAIN) return CONN_GOT_PART;
        if (got <= 0) return CONN_GOT_END;
        c->in_len += (size_t)got;
        if (has_line(c, out_len)) return CONN_GOT_LINE;
    }
    return CONN_GOT_TOO_MUCH;
}

void conn_take_line(conn *c, size_t len) {
    c->in_len -= len + 1;
    memmove(c->in, c->in + len + 1, c->in_len);
}

void conn_put(conn *c, char *text) {
    free(c->out);
    c->out = text;
    c->out_len = strlen(text);
    c->out_at = 0;
}

conn_wrote conn_write(conn *c) {
    while (c->out_at < c->out_len) {
        const ssize_t put = send(fd_watch_fd(c->watch), c->out + c->out_at, c->out_len - c->out_at,
                                 MSG_DONTWAIT | MSG_NOSIGNAL);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0 && errno == EAGAIN) return CONN_WROTE_PART;
        if (put < 0) return CONN_WROTE_GONE;
        c->out_at += (size_t)put;
    }
    free(c->out);
    c->out = NULL;
    return CONN_WROTE_ALL;
}
