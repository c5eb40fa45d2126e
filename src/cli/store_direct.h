/* store_direct.h - the data directory where no daemon runs. */
#ifndef DIURNAL_CLI_STORE_DIRECT_H
#define DIURNAL_CLI_STORE_DIRECT_H

#include "client.h"
#include "store/store.h"

/* Connects to the daemon, or, where none runs, opens the store for reading. True: one of the two is there. False:
 * complained of, and *out_exit says how. */
bool daemon_or_store(const call *c, client **out_client, dn_store **out_store, int *out_exit);

#endif
