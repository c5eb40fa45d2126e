/* peer.h - the other side of a connection, as ill-mannered as a test wants it. It lives in a child
 * process, so that its descriptors are not counted with ours, and dies with its parent. Begin it
 * before anything else: it forks. Each connection gets a thread, which does what the manner says and
 * closes. */
#ifndef DIURNAL_TESTS_RUNNER_PEER_H
#define DIURNAL_TESTS_RUNNER_PEER_H

#include "test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PEER_REQUEST_MAX = 8192 };

/* What both sides see. */
typedef struct peer_shared {
    _Atomic(int)  accepted, requests, closed;
    _Atomic(bool) answers_now;               /* for a manner that waits for it */
    char          request[PEER_REQUEST_MAX]; /* the last one, whole */
} peer_shared;

typedef void peer_manner(int fd);

static peer_shared *peer_seen;
static pid_t        peer_pid;
static char         peer_url[64];

/* ---- Its words ---- */

static inline bool peer_sends(int fd, const void *data, size_t len) {
    return send(fd, data, len, MSG_NOSIGNAL) == (ssize_t)len;
}

static inline bool peer_says(int fd, const char *text) {
    return peer_sends(fd, text, strlen(text));
}

/* Reads one request, to the end of its body. False: there is none. */
static inline bool peer_reads(int fd) {
    static __thread char text[PEER_REQUEST_MAX];
    size_t               len = 0;

    for (;;) {
        const ssize_t n = read(fd, text + len, sizeof text - 1 - len);
        if (n <= 0) return false;
        len += (size_t)n;
        text[len] = '\0';
        const char *body = strstr(text, "\r\n\r\n"), *length = strstr(text, "Content-Length:");
        if (!body || !length) continue;
        if (len < (size_t)(body + 4 - text) + strtoul(length + 15, NULL, 10)) continue;
        memcpy(peer_seen->request, text, len + 1);
        atomic_fetch_add(&peer_seen->requests, 1);
        return true;
    }
}

/* Until the other side closes. */
static inline void peer_waits(int fd) {
    char some[4096];

    while (read(fd, some, sizeof some) > 0) {}
}

static inline void peer_naps(int ms) { (void)usleep((useconds_t)ms * 1000); }

/* ---- Its life ---- */

static peer_manner *peer_does;

static inline void *peer_serves(void *context) {
    const int fd = (int)(intptr_t)context;

    peer_does(fd);
    close(fd);
    atomic_fetch_add(&peer_seen->closed, 1);
    return NULL;
}

static inline void peer_accepts(int listener) {
    pthread_attr_t small;

    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256 * 1024);
    pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
    for (;;) {
        pthread_t thread;
        const int fd = accept(listener, NULL, NULL);
        if (fd < 0) continue;
        atomic_fetch_add(&peer_seen->accepted, 1);
        if (pthread_create(&thread, &small, peer_serves, (void *)(intptr_t)fd) != 0) close(fd);
    }
}

/* One thread for thousands: answers every request with 200, and keeps the connection. */
static inline void peer_keeps_alive(int listener) {
    static const char  answer[] = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                                  "Content-Length: 11\r\n\r\n{\"ok\":true}";
    const int          epoll = epoll_create1(0);
    struct epoll_event e = {.events = EPOLLIN, .data.fd = listener};
    char               some[PEER_REQUEST_MAX];

    epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &e);
    for (;;) {
        struct epoll_event events[64];
        const int          n = epoll_wait(epoll, events, 64, -1);
        for (int i = 0; i < n; i++) {
            const int fd = events[i].data.fd;
            if (fd == listener) {
                e.data.fd = accept(listener, NULL, NULL);
                if (e.data.fd < 0) continue;
                atomic_fetch_add(&peer_seen->accepted, 1);
                epoll_ctl(epoll, EPOLL_CTL_ADD, e.data.fd, &e);
            } else if (read(fd, some, sizeof some) <= 0) { /* a small request comes whole */
                close(fd);
                atomic_fetch_add(&peer_seen->closed, 1);
            } else {
                atomic_fetch_add(&peer_seen->requests, 1);
                (void)peer_says(fd, answer);
            }
        }
    }
}

/* manner NULL: peer_keeps_alive. Answers the URL. */
static inline const char *peer_begins(peer_manner *manner) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t          at_len = sizeof at;
    const int          listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK(listener >= 0);
    CHECK_INT(bind(listener, (struct sockaddr *)&at, sizeof at), 0);
    CHECK_INT(listen(listener, 4096), 0);
    CHECK_INT(getsockname(listener, (struct sockaddr *)&at, &at_len), 0);
    peer_seen =
        mmap(NULL, sizeof *peer_seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(peer_seen != MAP_FAILED);
    peer_does = manner;
    const pid_t parent = getpid();
    peer_pid = fork();
    CHECK(peer_pid >= 0);
    if (peer_pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(0); /* it has ended already */
        if (manner) peer_accepts(listener);
        else peer_keeps_alive(listener);
    }
    close(listener);
    (void)snprintf(peer_url, sizeof peer_url, "http://127.0.0.1:%d/run", ntohs(at.sin_port));
    return peer_url;
}

static inline void peer_ends(void) {
    kill(peer_pid, SIGKILL);
    CHECK_INT(waitpid(peer_pid, NULL, 0), peer_pid);
}

/* Until it has seen every connection that it accepted closed; longer than any test may take, it is a
 * failure. */
static inline void peer_sees_all_closed(void) {
    for (int i = 0; atomic_load(&peer_seen->closed) < atomic_load(&peer_seen->accepted); i++) {
        CHECK_MSG(i < 20000, "a connection stays open");
        peer_naps(1);
    }
}

#endif
