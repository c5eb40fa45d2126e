/* http_conn.c - see http_conn.h. */
#include "http_conn.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { IN_LEAST = 2048, DRAIN_AT_ONCE = 65536 };

void http_conn_close(http_conn *c) {
    fd_watch_free(c->watch);
    free(c->in);
    free(c->out);
    *c = (http_conn){.use = c->use + 1};
}

/* ---- In ---- */

/* Lines that are empty before a request are left out: some end a body so. */
static void skip_empty_lines(http_conn *c) {
    size_t at = 0;

    while (at + 1 < c->in_len && c->in[at] == '\r' && c->in[at + 1] == '\n') at += 2;
    if (at == 0) return;
    c->in_len -= at;
    memmove(c->in, c->in + at, c->in_len);
    c->looked_at = 0;
}

static http_got look(http_conn *c, http_fault *out_fault) {
    skip_empty_lines(c);
    const int rc = http_head_end(c->in, c->in_len, &c->looked_at, &c->head_len, out_fault);
    if (rc == DN_PENDING) return HTTP_GOT_PART;
    if (rc < 0 || http_head_read(c->in, c->head_len, &c->head, out_fault) < 0)
        return HTTP_GOT_FAULT;
    return HTTP_GOT_HEAD;
}

static bool make_room(http_conn *c) {
    if (c->in_len < c->in_cap) return true;
    const size_t cap = c->in_cap ? c->in_cap * 2 : IN_LEAST;
    assert(cap <= HTTP_HEAD_MAX && "more than a head's worth is a fault");
    char *in = realloc(c->in, cap);
    if (!in) return false;
    c->in = in;
    c->in_cap = cap;
    return true;
}

http_got http_conn_read(http_conn *c, http_fault *out_fault) {
    http_got got = c->in_len > 0 ? look(c, out_fault) : HTTP_GOT_PART;
    size_t   read = 0;

    /* Empty lines fill no buffer: who sends them without end gets no more of a turn than a head does. */
    while (got == HTTP_GOT_PART && read < HTTP_HEAD_MAX) {
        if (!make_room(c)) return HTTP_GOT_END;
        const ssize_t len =
            recv(fd_watch_fd(c->watch), c->in + c->in_len, c->in_cap - c->in_len, 0);
        if (len < 0 && errno == EINTR) continue;
        if (len < 0 && errno == EAGAIN) return HTTP_GOT_PART;
        if (len <= 0) return HTTP_GOT_END;
        c->in_len += (size_t)len;
        read += (size_t)len;
        got = look(c, out_fault);
    }
    return got;
}

bool http_conn_wants_head(const http_conn *c) {
    static const char method[] = "HEAD ";
    const size_t      len = sizeof method - 1;

    return c->in_len >= len && memcmp(c->in, method, len) == 0;
}

void http_conn_next(http_conn *c) {
    c->in_len -= c->head_len;
    memmove(c->in, c->in + c->head_len, c->in_len);
    c->head_len = c->looked_at = 0;
}

/* ---- Out ---- */

void http_conn_put(http_conn *c, char *bytes, size_t len) {
    assert(!c->out);
    c->out = bytes;
    c->out_len = len;
    c->out_at = 0;
}

http_wrote http_conn_write(http_conn *c) {
    while (c->out_at < c->out_len) {
        const ssize_t len =
            send(fd_watch_fd(c->watch), c->out + c->out_at, c->out_len - c->out_at, MSG_NOSIGNAL);
        if (len < 0 && errno == EINTR) continue;
        if (len < 0 && errno == EAGAIN) return HTTP_WROTE_PART;
        if (len < 0) return HTTP_WROTE_GONE;
        c->out_at += (size_t)len;
    }
    free(DN_TAKE(c->out));
    return HTTP_WROTE_ALL;
}

void http_conn_linger(http_conn *c) { (void)shutdown(fd_watch_fd(c->watch), SHUT_WR); }

bool http_conn_drain(http_conn *c) {
    char   scratch[4096];
    size_t dropped = 0;

    while (dropped < DRAIN_AT_ONCE) {
        const ssize_t len = recv(fd_watch_fd(c->watch), scratch, sizeof scratch, 0);
        if (len < 0 && errno == EINTR) continue;
        if (len <= 0) return len < 0 && errno == EAGAIN;
        dropped += (size_t)len;
    }
    return true;
}
