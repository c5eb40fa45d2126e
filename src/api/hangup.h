/* hangup.h - an actor that hears SIGHUP. */
#ifndef DIURNAL_API_HANGUP_H
#define DIURNAL_API_HANGUP_H

#include "diurnal/supervisor.h"

/* Borrowed for the life of the runtime. on_hangup runs in the actor, on its loop, and must not block for long. */
typedef struct dn_hangup_config {
    void (*on_hangup)(void *context);
    void *context;
} dn_hangup_config;

dn_child_spec dn_hangup_child(const dn_hangup_config *config);

#endif
