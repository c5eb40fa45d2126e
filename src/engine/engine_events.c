/* engine_events.c - the names of the events. */
#include "engine_events.h"

DN_EVENT_DEFINE(dn_in_flight, "sched.executor.in_flight", DN_IN_FLIGHT)
DN_EVENT_DEFINE(dn_commit_stop, "store.commit.stop", DN_COMMIT_STOP)
