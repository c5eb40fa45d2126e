/* tick.h - the planner. */
#ifndef DIURNAL_SERVICE_TICK_H
#define DIURNAL_SERVICE_TICK_H

#include "diurnal/actor.h"

extern const dn_class dn_tick_class; /* config: dn_service_config */

#endif
