/* users_out.h - users.ndjson: every user as the store has it, in the order of the ids' bytes. */
#ifndef DIURNAL_REPLAY_USERS_OUT_H
#define DIURNAL_REPLAY_USERS_OUT_H

#include "store/daily.h"

#include <stdio.h>

/* Call look with all users, a page at a time. Returns an error only if the store fails. */
typedef void    users_look(void *context, const dn_user *users, size_t len);
DN_MUST_USE int users_out_look(dn_store *store, users_look *look, void *context);

/* The same, and write a line for each user into file. DN_EIO: the file refused a write, with the reason in *out_errno; or
 * the store failed, and *out_errno is 0. */
DN_MUST_USE int users_out_write(dn_store *store, FILE *file, users_look *look, void *context,
                                int *out_errno);

#endif
