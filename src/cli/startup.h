/* startup.h - an actor that prints that the daemon is ready, and in a demo a status line every few seconds. It takes no
 * part in the work: a crash costs a line. */
#ifndef DIURNAL_CLI_STARTUP_H
#define DIURNAL_CLI_STARTUP_H

#include "diurnal/supervisor.h"

/* Borrowed for the life of the runtime. */
typedef struct startup_config {
    const char *data, *runner; /* masked for display */
    const char *listens;       /* HOST:PORT */
    const char *scheme;        /* "http", "https" */
    const char *program;       /* argv[0] */
    int64_t     tick_ms;
    uint32_t    window_minutes;
    uint32_t    max_concurrency;
    bool        demo; /* registers the demo's users, and prints status lines */
} startup_config;

dn_child_spec startup_child(const startup_config *config);

#endif
