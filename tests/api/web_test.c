/* web_test.c - the HTTP door alone, on a real loop, with few places. */
#define _GNU_SOURCE /* SOCK_NONBLOCK */
#include "diurnal/runtime.h"
#include "test.h"
#include "web.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    PLACES = DN_WEB_CONNS_LEAST,
    STUFF_MS = 3000,
    DEADLINE_MS = 10000 /* less than a write has */
};

typedef struct door {
    dn_web_config      config;
    dn_service_config  service;
    dn_child_spec      child;
    dn_supervisor_spec top;
    dn_spawn_spec      root;
    dn_runtime        *runtime;
    pthread_t          thread;
    struct sockaddr_in at;
} door;

static void *door_runs(void *context) {
    door *d = context;

    CHECK_INT(dn_runtime_run(d->runtime, &d->root), DN_OK);
    return NULL;
}

static void door_open(door *d) {
    const dn_runtime_config config = {.loops = dn_service_loops, .loops_len = DN_SERVICE_LOOPS};
    char                    bound[DN_WEB_ADDRESS], why[DN_WEB_WHY];
    socklen_t               len = sizeof d->at;

    *d = (door){.config = {.service = &d->service, .conns_max = PLACES}};
    CHECK_INT(dn_web_listen("127.0.0.1:0", false, &d->config.listener, bound, why), DN_OK);
    CHECK_INT(getsockname(d->config.listener, (struct sockaddr *)&d->at, &len), 0);
    d->child = dn_web_child(&d->config);
    d->top = (dn_supervisor_spec){.children = {&d->child, 1}};
    d->root =
        (dn_spawn_spec){.actor_class = &dn_supervisor_class, .config = &d->top, .name = "top"};
    CHECK_INT(dn_runtime_new(&config, &d->runtime), DN_OK);
    CHECK_INT(pthread_create(&d->thread, NULL, door_runs, d), 0);
}

static void door_close(door *d) {
    dn_runtime_stop(d->runtime);
    CHECK_INT(pthread_join(d->thread, NULL), 0);
    dn_runtime_free(d->runtime);
    (void)close(d->config.listener);
}

static int64_t mono_ms(void) {
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int knock(const door *d) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), room = 1024;

    CHECK(fd >= 0);
    CHECK_INT(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room), 0);
    CHECK_INT(connect(fd, (const struct sockaddr *)&d->at, sizeof d->at), 0);
    return fd;
}

/* All ask and ask, and read nothing, until nobody hears them any more: some bytes still trickle when most is full. */
static void stuff(const int fds[PLACES]) {
    static const char request[] = "GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n";
    struct pollfd     rooms[PLACES];
    size_t            at[PLACES] = {0};
    const int64_t     until_ms = mono_ms() + STUFF_MS;

    for (int i = 0; i < PLACES; i++) rooms[i] = (struct pollfd){.fd = fds[i], .events = POLLOUT};
    while (mono_ms() < until_ms && poll(rooms, PLACES, 300) > 0) {
        for (int i = 0; i < PLACES; i++) {
            const ssize_t sent = send(fds[i], request + at[i], sizeof request - 1 - at[i],
                                      MSG_DONTWAIT | MSG_NOSIGNAL);
            CHECK(sent > 0 || errno == EAGAIN);
            if (sent > 0) at[i] = (at[i] + (size_t)sent) % (sizeof request - 1);
        }
    }
}

static bool is_served(const door *d) {
    static const char request[] = "GET /healthz HTTP/1.0\r\n\r\n";
    const int         fd = knock(d);
    char              answer[64] = "";
    ssize_t           len = -1;

    if (send(fd, request, sizeof request - 1, MSG_NOSIGNAL) > 0)
        len = recv(fd, answer, sizeof answer - 1, 0);
    (void)close(fd);
    return len > 0 && strncmp(answer, "HTTP/1.1 200", 12) == 0;
}

TEST(who_asks_and_does_not_take_the_answer_keeps_nobody_out) {
    door d;
    int  fds[PLACES];

    door_open(&d);
    for (int i = 0; i < PLACES; i++) fds[i] = knock(&d);
    stuff(fds);
    const int64_t until_ms = mono_ms() + DEADLINE_MS;
    while (!is_served(&d)) CHECK(mono_ms() < until_ms);
    for (int i = 0; i < PLACES; i++) (void)close(fds[i]);
    door_close(&d);
}
