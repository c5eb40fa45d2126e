/* users_out.h - users.ndjson: every user as the store has it, in the order of the ids' bytes. */
#ifndef DIURNAL_REPLAY_USERS_OUT_H
#define DIURNAL_REPLAY_USERS_OUT_H

#include "store/daily.h"

/* All are told to look, some at a time. A failure is the store's. */
typedef void    users_look(void *context, const dn_user *users, size_t len);
DN_MUST_USE int users_out_look(dn_store *store, users_look *look, void *context);

/* The same, and they are written into fd, a file that is empty. DN_EIO: it did not take them, for *out_errno, or the store
 * failed: then that is 0. */
DN_MUST_USE int users_out_write(dn_store *store, int fd, users_look *look, void *context,
                                int *out_errno);

#endif
