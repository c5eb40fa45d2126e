/* users_out.h - users.ndjson: every user as the store has it, in the order of the ids' bytes. */
#ifndef DIURNAL_REPLAY_USERS_OUT_H
#define DIURNAL_REPLAY_USERS_OUT_H

#include "store/store.h"

#include <stdio.h>

/* look is told each of them; NULL: nobody. file NULL: nothing is written. DN_EIO: the file did not take it, or the store
 * failed. */
typedef void    users_look(void *context, const dn_user *user);
DN_MUST_USE int users_out_write(dn_store *store, FILE *file, users_look *look, void *context);

#endif
