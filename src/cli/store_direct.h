/* store_direct.h - reads the data directory if no daemon runs. */
#ifndef DIURNAL_CLI_STORE_DIRECT_H
#define DIURNAL_CLI_STORE_DIRECT_H

#include "client.h"
#include "store/store.h"

/* Finds the daemon, or opens the store for reading if none runs. True: one of the two is set. False: the error is printed, and
 * *out_exit is the exit code. */
bool daemon_or_store(const call *c, client **out_client, dn_store **out_store, int *out_exit);

#endif
