/* signals.h - signals of the process, as messages to an actor. */
#ifndef DIURNAL_API_SIGNALS_H
#define DIURNAL_API_SIGNALS_H

#include "diurnal/actor.h"

/* From now on the signal sends the actor an empty message of this kind, until the actor ends; from then on it is ignored.
 * Several signals may become one message. A signal has at most one listener. DN_ENOMEM, DN_EIO. */
DN_MUST_USE int dn_signal_listen(dn_self *self, int number, uint32_t kind);

#endif
