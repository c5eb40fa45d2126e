/* http_conn.c - see http_conn.h. */
#include "http_conn.h"

#include "base/array.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { IN_LEAST = 2048, IN_WITH_BODY = 2 * HTTP_HEAD_MAX, DRAIN_AT_ONCE = 65536 };

void http_conn_close(http_conn *c) {
    tls_conn_free(c->tls);
    fd_watch_free(c->watch);
    free(c->in);
    free(c->body);
    free(c->out);
    *c = (http_conn){.use = c->use + 1};
}

static ssize_t take_in(http_conn *c, void *bytes, size_t len) {
    return c->tls ? tls_conn_recv(c->tls, bytes, len) : recv(fd_watch_fd(c->watch), bytes, len, 0);
}

static ssize_t put_out(http_conn *c, const void *bytes, size_t len) {
    return c->tls ? tls_conn_send(c->tls, bytes, len)
                  : send(fd_watch_fd(c->watch), bytes, len, MSG_NOSIGNAL);
}

void http_conn_wait(http_conn *c, bool to_read, bool to_write) {
    /* TLS may need to write in order to read, and bytes it has already buffered cause no read event. */
    if (c->tls && to_read) to_write |= tls_conn_wants_write(c->tls) || tls_conn_has_more(c->tls);
    if (c->tls && to_write) to_read |= tls_conn_wants_read(c->tls);
    fd_watch_once(c->watch, to_read, to_write);
}

/* ---- Reading ---- */

/* Skip empty lines before a request, because some clients end a body with one (RFC 9112, 2.2). */
static void skip_empty_lines(http_conn *c) {
    size_t at = 0;

    while (at + 1 < c->in_len && c->in[at] == '\r' && c->in[at + 1] == '\n') at += 2;
    if (at == 0) return;
    c->in_len -= at;
    memmove(c->in, c->in + at, c->in_len);
    c->looked_at = 0;
}

static http_got look(http_conn *c, http_fault *out_fault) {
    if (c->in_len == 0) return HTTP_GOT_PART;
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
    assert(cap <= HTTP_HEAD_MAX && "a longer head is a fault");
    char *in = realloc(c->in, cap);
    if (!in) return false;
    c->in = in;
    c->in_cap = cap;
    return true;
}

typedef http_got look_fn(http_conn *c, http_fault *out_fault);

/* Reads until look_at() finds its end, but at most HTTP_HEAD_MAX bytes a turn: empty lines and bodies are removed from the
 * buffer, so an endless sender would otherwise hold the loop. */
static http_got read_and_look(http_conn *c, look_fn *look_at, http_fault *out_fault) {
    http_got got = look_at(c, out_fault);
    size_t   read = 0;

    while (got == HTTP_GOT_PART && read < HTTP_HEAD_MAX) {
        if (!make_room(c)) return HTTP_GOT_END;
        const ssize_t len = take_in(c, c->in + c->in_len, c->in_cap - c->in_len);
        if (len < 0 && errno == EINTR) continue;
        if (len < 0 && errno == EAGAIN) return HTTP_GOT_PART;
        if (len <= 0) return HTTP_GOT_END;
        c->in_len += (size_t)len;
        read += (size_t)len;
        got = look_at(c, out_fault);
    }
    return got;
}

http_got http_conn_read(http_conn *c, http_fault *out_fault) {
    return read_and_look(c, look, out_fault);
}

/* ---- Body ---- */

/* Allocate the final buffer before the body, because the parsed head points into it. */
static bool room_for_body(http_conn *c) {
    http_fault ignored;
    char      *in = c->in_cap < IN_WITH_BODY ? realloc(c->in, IN_WITH_BODY) : c->in;

    if (!in) return false;
    c->in = in;
    if (c->in_cap < IN_WITH_BODY) c->in_cap = IN_WITH_BODY;
    return http_head_read(c->in, c->head_len, &c->head, &ignored) == DN_OK;
}

bool http_conn_begin_body(http_conn *c, size_t max) {
    static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
    const size_t      len = sizeof go_on - 1;

    if (!room_for_body(c)) return false;
    http_body_begin(&c->framing, &c->head);
    c->body_max = max;
    if (!c->head.expects_continue || c->in_len > c->head_len) return true;
    /* The client waits for this and nothing else is in flight, so the socket's buffer has space. */
    return put_out(c, go_on, len) == (ssize_t)len;
}

static bool body_put(http_conn *c, http_text piece) {
    if (DN_ARRAY_RESERVE(c->body, c->body_cap, c->body_len + piece.len) < 0) return false;
    if (piece.len > 0) memcpy(c->body + c->body_len, piece.at, piece.len);
    c->body_len += piece.len;
    return true;
}

/* Removes what it takes from the buffer. Bytes after the end of the body belong to the next request. */
static http_got look_for_body(http_conn *c, http_fault *out_fault) {
    size_t    at = c->head_len, taken = 1;
    http_text piece;
    int       rc = DN_OK;

    while (rc == DN_OK && taken > 0 && !http_body_has_ended(&c->framing)) {
        const size_t there = c->in_len - at, room = c->body_max - c->body_len;
        rc = http_body_take(&c->framing, c->in + at, there < room ? there : room, &taken, &piece,
                            out_fault);
        if (rc == DN_OK && !body_put(c, piece)) return HTTP_GOT_END;
        at += taken;
    }
    c->in_len -= at - c->head_len;
    memmove(c->in + c->head_len, c->in + at, c->in_len - c->head_len);
    if (rc < 0) return HTTP_GOT_FAULT;
    if (http_body_has_ended(&c->framing)) return HTTP_GOT_BODY;
    return c->body_len == c->body_max ? HTTP_GOT_FULL : HTTP_GOT_PART;
}

http_got http_conn_read_body(http_conn *c, http_fault *out_fault) {
    return read_and_look(c, look_for_body, out_fault);
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
    free(DN_TAKE(c->body));
    c->body_len = c->body_cap = 0;
}

/* ---- Writing ---- */

void http_conn_put(http_conn *c, char *bytes, size_t len) {
    assert(!c->out);
    c->out = bytes;
    c->out_len = len;
    c->out_at = 0;
}

http_wrote http_conn_write(http_conn *c) {
    while (c->out_at < c->out_len) {
        const ssize_t len = put_out(c, c->out + c->out_at, c->out_len - c->out_at);
        if (len < 0 && errno == EINTR) continue;
        if (len < 0 && errno == EAGAIN) return HTTP_WROTE_PART;
        if (len < 0) return HTTP_WROTE_GONE;
        c->out_at += (size_t)len;
    }
    free(DN_TAKE(c->out));
    return HTTP_WROTE_ALL;
}

void http_conn_linger(http_conn *c) {
    if (c->tls) tls_conn_shut(c->tls);
    (void)shutdown(fd_watch_fd(c->watch), SHUT_WR);
}

bool http_conn_drain(http_conn *c) {
    char   scratch[4096];
    size_t dropped = 0;

    while (dropped < DRAIN_AT_ONCE) {
        const ssize_t len = take_in(c, scratch, sizeof scratch);
        if (len < 0 && errno == EINTR) continue;
        if (len <= 0) return len < 0 && errno == EAGAIN;
        dropped += (size_t)len;
    }
    return true;
}
