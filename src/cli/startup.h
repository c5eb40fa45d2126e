/* startup.h - an actor that tells a person what the daemon does: that it is ready, and in a demo a line every few seconds.
 * It has no part in the work: a crash costs a line. */
#ifndef DIURNAL_CLI_STARTUP_H
#define DIURNAL_CLI_STARTUP_H

#include "diurnal/supervisor.h"

/* Borrowed for the life of the runtime. */
typedef struct startup_config {
    const char *data, *runner; /* as they may be shown */
    const char *listens;       /* HOST:PORT */
    const char *scheme;        /* "http", "https" */
    const char *program;       /* as it was called */
    int64_t     tick_ms;
    uint32_t    window_minutes;
    uint32_t    max_concurrency;
    bool        demo; /* registers the demo's users, and says how it goes */
} startup_config;

dn_child_spec startup_child(const startup_config *config);

#endif
