/* herald.h - an actor that tells a person what the daemon does: that it is ready, and in a demo a line every few seconds.
 * It has no part in the work: a crash costs a line. */
#ifndef DIURNAL_CLI_HERALD_H
#define DIURNAL_CLI_HERALD_H

#include "diurnal/supervisor.h"

/* Borrowed for the life of the runtime. */
typedef struct herald_config {
    const char *data, *runner; /* as they may be shown */
    const char *listens;       /* HOST:PORT */
    const char *scheme;        /* "http", "https" */
    const char *program;       /* as it was called */
    int64_t     tick_ms;
    uint32_t    window_minutes;
    uint32_t    max_concurrency;
    bool        demo; /* registers the demo's users, and says how it goes */
} herald_config;

dn_child_spec herald_child(const herald_config *config);

#endif
