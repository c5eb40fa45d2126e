/* events.c - the names of the events. */
#include "events.h"

DN_EVENT_DEFINE(dn_tick_stop, "sched.tick.stop", DN_TICK_STOP)
DN_EVENT_DEFINE(dn_queue_depth, "sched.queue.depth", DN_QUEUE_DEPTH)
DN_EVENT_DEFINE(dn_in_flight, "sched.executor.in_flight", DN_IN_FLIGHT)
DN_EVENT_DEFINE(dn_job_stop, "sched.job.stop", DN_JOB_STOP)
DN_EVENT_DEFINE(dn_finalize, "sched.finalize", DN_FINALIZE)
DN_EVENT_DEFINE(dn_late_success, "sched.late_success", DN_LATE_SUCCESS)
DN_EVENT_DEFINE(dn_days_missed, "sched.missed", DN_DAYS_MISSED)
DN_EVENT_DEFINE(dn_commit_stop, "store.commit.stop", DN_COMMIT_STOP)
