/* store_copy.h - the store of a running daemon, for reading at leisure: a copy that the daemon makes of it.
 * The daemon makes it a little at a time, so nothing waits for it; what is then done with it is done here. */
#ifndef DIURNAL_CLI_STORE_COPY_H
#define DIURNAL_CLI_STORE_COPY_H

#include "client.h"
#include "store/store.h"

/* How a sentence of the store about the copy begins: the file it names is gone by then. */
#define STORE_COPY_OF "in a copy of the database: "

/* The copy is a file in the data directory while it is made. When this returns it has no name any more, and is gone with
 * the store or the process; one that a killed process left is removed by the next. SIGINT, SIGTERM and SIGHUP end the
 * process once nothing is left behind. NULL: complained of, and *out_exit says how. */
dn_store *store_copy(const call *c, client *asked, int *out_exit);

#endif
