/* fd_watch.h - tells an actor, by message, that a descriptor can be read or written.
 * The actor itself reads and writes: libuv only wakes it. */
#ifndef DIURNAL_API_FD_WATCH_H
#define DIURNAL_API_FD_WATCH_H

#include "diurnal/actor.h"

typedef struct fd_watch fd_watch;

/* Takes fd, which must not block; on error it is still the caller's. Messages of that kind come to self with `tag`, a
 * uint64_t, for a body. */
DN_MUST_USE int fd_watch_new(dn_self *self, int fd, uint32_t kind, uint64_t tag, fd_watch **out);

/* One message when it can be read, or written; at the earliest one. Arming again replaces what was armed. */
void fd_watch_once(fd_watch *w, bool to_read, bool to_write);

int  fd_watch_fd(const fd_watch *w);
void fd_watch_free(fd_watch *w); /* closes the descriptor; accepts NULL */

#endif
