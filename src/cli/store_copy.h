/* store_copy.h - a copy of a running daemon's store, made by the daemon.
 * The daemon copies in small steps, so no write waits. The command then reads the copy itself. */
#ifndef DIURNAL_CLI_STORE_COPY_H
#define DIURNAL_CLI_STORE_COPY_H

#include "client.h"
#include "store/store.h"

/* Begins an error of the store about the copy, because the named file is already gone. */
#define STORE_COPY_OF "in a copy of the database: "

/* The copy is a file in the data directory while it is made. On return it is unlinked, and its space is freed with the
 * store or the process; the next call removes what a killed process left. SIGINT, SIGTERM and SIGHUP end the process after
 * the clean-up. NULL: the error is printed, and *out_exit is the exit code. */
dn_store *store_copy(const call *c, client *asked, int *out_exit);

#endif
