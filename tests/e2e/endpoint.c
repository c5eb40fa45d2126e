/* endpoint.c - see endpoint.h. One loop over poll, no threads: a connection reads a request, waits, answers, reads on. */
#define _GNU_SOURCE
#include "endpoint.h"

#include "place.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNS = 512, REQUEST = 8192 };

typedef struct conn {
    int            fd;
    size_t         len;
    bool           waiting; /* a whole request is here */
    int64_t        answer_ms;
    endpoint_user *user;
    char           in[REQUEST];
} conn;

static conn conns[CONNS];

endpoint_user *endpoint_find(endpoint *e, const char *id) {
    const unsigned len = atomic_load(&e->len);

    for (unsigned i = 0; i < len; i++)
        if (strcmp(e->users[i].id, id) == 0) return &e->users[i];
    return NULL;
}

static endpoint_user *user_of(endpoint *e, const char *request) {
    char  id[ENDPOINT_ID] = "";
    char *key = strcasestr(request, "idempotency-key: daily:");

    if (!key) abort();
    (void)sscanf(key + strlen("idempotency-key: daily:"), "%39[^:\r\n]", id);
    endpoint_user *found = endpoint_find(e, id);
    if (found) return found;
    const unsigned len = atomic_load(&e->len);
    if (len == ENDPOINT_USERS) abort();
    (void)snprintf(e->users[len].id, ENDPOINT_ID, "%s", id);
    atomic_store(&e->len, len + 1);
    return &e->users[len];
}

/* How many bytes the request at the beginning of the buffer has; 0: it is not whole. */
static size_t whole(const conn *c) {
    const char *end = memmem(c->in, c->len, "\r\n\r\n", 4);
    const char *length = end ? strcasestr(c->in, "content-length:") : NULL;

    if (!end) return 0;
    const size_t size = (size_t)(end - c->in) + 4 + (length ? strtoul(length + 15, NULL, 10) : 0);
    return size <= c->len ? size : 0;
}

static void take(endpoint *e, conn *c, uint64_t *random) {
    const unsigned most = atomic_load(&e->delay_ms_max);

    c->user = user_of(e, c->in);
    atomic_fetch_add(&c->user->requests, 1);
    if (atomic_load(&c->user->closed)) atomic_fetch_add(&c->user->after_closed, 1);
    atomic_fetch_add(&e->requests, 1);
    const unsigned running = atomic_fetch_add(&e->running, 1) + 1;
    if (running > atomic_load(&e->running_peak)) atomic_store(&e->running_peak, running);
    c->waiting = true;
    c->answer_ms = mono_ms() + (most ? (int64_t)(test_random(random) % most) : 0);
}

static void drop(endpoint *e, conn *c) {
    if (c->waiting) atomic_fetch_sub(&e->running, 1);
    (void)close(c->fd);
    *c = (conn){.fd = -1};
}

static void answer(endpoint *e, conn *c, uint64_t *random) {
    const bool   never = strncmp(c->user->id, "never-", 6) == 0;
    const bool   ok = !never && test_random(random) % 1000 >= atomic_load(&e->fail_permille);
    const char  *text = ok ? "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
                           : "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n";
    const size_t size = whole(c);

    if (ok) atomic_fetch_add(&c->user->ok, 1);
    atomic_fetch_sub(&e->running, 1);
    c->waiting = false;
    c->len -= size;
    memmove(c->in, c->in + size, c->len);
    if (send(c->fd, text, strlen(text), MSG_NOSIGNAL) < 0) drop(e, c);
}

static void read_from(endpoint *e, conn *c, uint64_t *random) {
    const ssize_t got = recv(c->fd, c->in + c->len, sizeof c->in - 1 - c->len, MSG_DONTWAIT);

    if (got <= 0 && !(got < 0 && errno == EAGAIN)) {
        drop(e, c);
        return;
    }
    if (got > 0) c->len += (size_t)got;
    c->in[c->len] = '\0';
    if (!c->waiting && whole(c)) take(e, c, random);
}

static void let_in(int listener) {
    for (int i = 0; i < CONNS; i++) {
        if (conns[i].fd >= 0) continue;
        conns[i].fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (conns[i].fd < 0) return;
    }
}

_Noreturn static void serve(endpoint *e, int listener) {
    struct pollfd fds[CONNS + 1];
    uint64_t      random = test_seed();

    for (int i = 0; i < CONNS; i++) conns[i].fd = -1;
    for (;;) {
        fds[CONNS] = (struct pollfd){.fd = listener, .events = POLLIN};
        for (int i = 0; i < CONNS; i++)
            fds[i] = (struct pollfd){.fd = conns[i].fd, .events = POLLIN};
        if (poll(fds, CONNS + 1, 1) == 0) atomic_fetch_add(&e->idle, 1);
        for (int i = 0; i < CONNS; i++)
            if (conns[i].fd >= 0 && fds[i].fd == conns[i].fd && fds[i].revents)
                read_from(e, &conns[i], &random);
        if (fds[CONNS].revents) let_in(listener);
        for (int i = 0; i < CONNS; i++)
            if (conns[i].fd >= 0 && conns[i].waiting && !atomic_load(&e->held) &&
                mono_ms() >= conns[i].answer_ms)
                answer(e, &conns[i], &random);
    }
}

endpoint *endpoint_new(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t          size = sizeof address;
    const pid_t        parent = getpid();
    const int          listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    endpoint *e = mmap(NULL, sizeof *e, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    CHECK(e != MAP_FAILED);
    CHECK(listener >= 0);
    CHECK(bind(listener, (const struct sockaddr *)&address, sizeof address) == 0);
    CHECK(listen(listener, 512) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&address, &size) == 0);
    e->port = ntohs(address.sin_port);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(1);
        serve(e, listener);
    }
    (void)close(listener);
    return e;
}

void endpoint_settle(const endpoint *e) {
    const unsigned idle = atomic_load(&e->idle);

    WAIT_FOR(atomic_load(&e->idle) > idle + 1, 10000);
}

const char *endpoint_flag(const endpoint *e) {
    static char flag[64];

    (void)snprintf(flag, sizeof flag, "--runner=http://127.0.0.1:%d/daily", e->port);
    return flag;
}
