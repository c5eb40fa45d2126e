/* log_keeper.h - an actor that looks after the log once a second: what was kept back is written, losses and repeats are
 * said (dn_log_tick). Without it they come with the next line. */
#ifndef DIURNAL_OBS_LOG_KEEPER_H
#define DIURNAL_OBS_LOG_KEEPER_H

#include "diurnal/supervisor.h"

/* A child for the edge supervisor, on the main loop. */
dn_child_spec dn_log_keeper_child(void);

#endif
