/* executor.h - runs what is to be run. */
#ifndef DIURNAL_SERVICE_EXECUTOR_H
#define DIURNAL_SERVICE_EXECUTOR_H

#include "diurnal/actor.h"

extern const dn_class dn_executor_class; /* config: dn_service_config */

#endif
