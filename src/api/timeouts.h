/* timeouts.h - ends connections that take too long. */
#ifndef DIURNAL_API_TIMEOUTS_H
#define DIURNAL_API_TIMEOUTS_H

#include "server.h"

enum { TIMEOUTS_EVERY_MS = 500 };

/* To be called every TIMEOUTS_EVERY_MS. */
void timeouts_check(dn_self *self, server *s);

#endif
