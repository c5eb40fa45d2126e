/* hooks.h - delivers what the outbox holds. */
#ifndef DIURNAL_SERVICE_HOOKS_H
#define DIURNAL_SERVICE_HOOKS_H

#include "diurnal/actor.h"

extern const dn_class dn_hooks_class; /* config: dn_service_config */

#endif
