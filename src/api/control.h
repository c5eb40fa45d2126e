/* control.h - the small door to a running daemon: a Unix socket in its data directory.
 *
 * One JSON object a line goes in, one comes out: {"done":true, …}, or {"error":"…"} with a sentence. Who connects is who
 * may read the data directory (mode 0600): there are no tokens. Long lists come in pages, and the next page is asked
 * for by whoever reads them, so nobody slow can make the daemon remember anything. ops.h has the requests. The HTTP API
 * will take this one's place. */
#ifndef DIURNAL_API_CONTROL_H
#define DIURNAL_API_CONTROL_H

#include "diurnal/supervisor.h"
#include "service/service.h"

#include <sys/un.h>

/* Borrowed for the life of the runtime. */
typedef struct dn_control_config {
    const dn_service_config *service;
    const char *data; /* the directory; its lock is held, so a socket there is a dead one's */
    const char *version;
    const char *runner;  /* as it may be shown */
    const char *listens; /* HOST:PORT of the HTTP door */
} dn_control_config;

/* A child for the edge supervisor. If the socket cannot be made its start fails, and the log says why. */
dn_child_spec dn_control_child(const dn_control_config *config);

/* Bounds of a line in, and of users in one {"op":"set"}. */
enum { DN_CONTROL_LINE_MAX = 65536, DN_CONTROL_SETS_MAX = 500 };

/* The socket's address. A path too long for one is reached through a descriptor of its directory, *out_dir, to be
 * closed after bind or connect; -1: there is none. DN_EIO: there is no such directory. Any thread. */
DN_MUST_USE int dn_control_address(const char *data, struct sockaddr_un *out_address, int *out_dir);

#endif
