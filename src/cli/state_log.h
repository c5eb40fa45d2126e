/* state_log.h - an actor that writes the state of the daemon to the log on SIGUSR1: users, queue, executor, store and loops. */
#ifndef DIURNAL_CLI_STATE_LOG_H
#define DIURNAL_CLI_STATE_LOG_H

#include "diurnal/supervisor.h"

dn_child_spec state_log_child(void);

#endif
