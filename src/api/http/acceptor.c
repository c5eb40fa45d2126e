/* acceptor.c - see acceptor.h. */
#define _GNU_SOURCE /* accept4 */
#include "acceptor.h"

#include "web.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int acceptor_start(dn_self *self, acceptor *a, int listener, uint32_t kind) {
    const int fd = fcntl(listener, F_DUPFD_CLOEXEC, 0);
    const int rc = fd < 0 || listen(fd, DN_WEB_BACKLOG) < 0
                       ? DN_EIO
                       : fd_watch_new(self, fd, kind, 0, &a->watch);

    if (rc == DN_OK) acceptor_wait(a);
    else if (fd >= 0) (void)close(fd);
    return rc;
}

void acceptor_done(acceptor *a) { fd_watch_free(a->watch); }

void acceptor_stop(const acceptor *a) { (void)shutdown(fd_watch_fd(a->watch), SHUT_RDWR); }

int acceptor_next(dn_self *self, acceptor *a, struct sockaddr_storage *out_address) {
    for (;;) {
        socklen_t len = sizeof *out_address;
        const int fd = accept4(fd_watch_fd(a->watch), (struct sockaddr *)out_address, &len,
                               SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0) return fd;
        if (errno == EINTR) continue;
        if (errno == EAGAIN || errno == ECONNABORTED) acceptor_wait(a);
        else accept_failures_add(&a->failures, errno, dn_mono_ns(self));
        return -1;
    }
}

void acceptor_wait(const acceptor *a) {
    fd_watch_once(a->watch, /* to_read= */ true, /* to_write= */ false);
}

void acceptor_check(dn_self *self, acceptor *a) {
    accept_failures_check(&a->failures, dn_mono_ns(self));
    acceptor_wait(a);
}
