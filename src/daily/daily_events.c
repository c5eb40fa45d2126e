/* daily_events.c - the names of the events. */
#include "daily_events.h"

DN_EVENT_DEFINE(dn_tick_stop, "sched.tick.stop", DN_TICK_STOP)
DN_EVENT_DEFINE(dn_queue_depth, "sched.queue.depth", DN_QUEUE_DEPTH)
DN_EVENT_DEFINE(dn_job_stop, "sched.job.stop", DN_JOB_STOP)
DN_EVENT_DEFINE(dn_finalize, "sched.finalize", DN_FINALIZE)
DN_EVENT_DEFINE(dn_late_success, "sched.late_success", DN_LATE_SUCCESS)
DN_EVENT_DEFINE(dn_days_missed, "sched.missed", DN_DAYS_MISSED)
