/* acceptor.h - accepts connections at a listening socket. */
#ifndef DIURNAL_API_ACCEPTOR_H
#define DIURNAL_API_ACCEPTOR_H

#include "accept_failures.h"
#include "fd_watch.h"

#include <sys/socket.h>

typedef struct acceptor {
    fd_watch       *watch;
    accept_failures failures;
} acceptor;

/* Listens at a copy of the socket, so that it stays open when the actor goes, and again if an actor before stopped that.
 * Messages of that kind come when somebody connects. DN_EIO, DN_ENOMEM. */
DN_MUST_USE int acceptor_start(dn_self *self, acceptor *a, int listener, uint32_t kind);
void            acceptor_done(acceptor *a);
/* New connections are refused from here on, and go elsewhere instead of waiting for running jobs to end. */
void acceptor_stop(const acceptor *a);

/* The next connection, the caller's. -1: there is none, and a message will come; or accept fails, most likely for want of
 * descriptors, and acceptor_check tries again. */
int acceptor_next(dn_self *self, acceptor *a, struct sockaddr_storage *out_address);
/* For a caller that takes no more for now: a message will come. */
void acceptor_wait(const acceptor *a);
/* To be called at least every 5 s: after a failure it waits for connections again. */
void acceptor_check(dn_self *self, acceptor *a);

#endif
