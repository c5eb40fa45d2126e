/* queue.h - who waits for an attempt, and who has one. */
#ifndef DIURNAL_SERVICE_QUEUE_H
#define DIURNAL_SERVICE_QUEUE_H

#include "diurnal/actor.h"

extern const dn_class dn_queue_class; /* config: dn_service_config */

#endif
