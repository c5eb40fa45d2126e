/* http_conn_test.c - one connection, over a pair of sockets. What watches a descriptor in the daemon only knows it
 * here. */
#include "http/http_conn.h"
#include "test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

struct fd_watch {
    int fd;
};

int fd_watch_fd(const fd_watch *w) { return w->fd; }

void fd_watch_once(fd_watch *w, bool to_read, bool to_write) {
    (void)w, (void)to_read, (void)to_write;
}

void fd_watch_free(fd_watch *w) {
    if (w) (void)close(w->fd);
}

typedef struct line {
    fd_watch  watch;
    http_conn conn;
    int       other; /* its end */
} line;

static void line_open(line *l) {
    const int room = 1 << 20;
    int       ends[2];

    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    CHECK_INT(setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof room), 0);
    *l = (line){.watch = {.fd = ends[0]}, .other = ends[1]};
    l->conn.watch = &l->watch;
}

static void line_close(line *l) {
    http_conn_close(&l->conn);
    (void)close(l->other);
}

static size_t unread(const line *l) {
    int len = 0;

    CHECK_INT(ioctl(l->watch.fd, FIONREAD, &len), 0);
    return (size_t)len;
}

TEST(who_sends_nothing_but_empty_lines_is_read_no_further_than_a_head_goes) {
    enum { LOTS = 100000 };
    line       l;
    http_fault fault;
    char      *lines = malloc(LOTS);

    CHECK(lines);
    for (size_t i = 0; i < LOTS; i++) lines[i] = i % 2 ? '\n' : '\r';
    line_open(&l);
    CHECK_INT(send(l.other, lines, LOTS, MSG_NOSIGNAL), LOTS);
    for (size_t before = LOTS; before > 0;) {
        CHECK_INT(http_conn_read(&l.conn, &fault), HTTP_GOT_PART);
        const size_t after = unread(&l);
        CHECK(after < before);
        CHECK_MSG(before - after <= HTTP_HEAD_MAX, "%zu bytes in one turn", before - after);
        before = after;
    }
    CHECK_INT(send(l.other, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", 27, MSG_NOSIGNAL), 27);
    CHECK_INT(http_conn_read(&l.conn, &fault), HTTP_GOT_HEAD);
    line_close(&l);
    free(lines);
}
