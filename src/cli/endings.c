/* endings.c - see endings.h. The descriptor is never read, so that the signal is still pending when the block ends. */
#include "endings.h"

#include <poll.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <unistd.h>

void endings_hold(endings *e) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    sigset_t         held;

    (void)sigemptyset(&held);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction now;
        (void)sigaction(numbers[i], NULL, &now);
        if (now.sa_handler != SIG_IGN) (void)sigaddset(&held, numbers[i]);
    }
    (void)sigprocmask(SIG_BLOCK, &held, &e->before);
    e->fd = signalfd(-1, &held, SFD_CLOEXEC);
}

bool endings_came(const endings *e) {
    struct pollfd fd = {.fd = e->fd, .events = POLLIN};

    return e->fd >= 0 && poll(&fd, 1, /* timeout_ms= */ 0) == 1;
}

void endings_let(endings *e) {
    if (e->fd >= 0) (void)close(e->fd);
    (void)sigprocmask(SIG_SETMASK, &e->before, NULL);
}
