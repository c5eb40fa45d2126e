/* metric_set.h - every metric of the daemon by name, and the handlers that fill it. */
#ifndef DIURNAL_API_METRIC_SET_H
#define DIURNAL_API_METRIC_SET_H

#include "obs/metrics.h"
#include "obs/slo_watcher.h"

/* Makes and registers all metrics, and attaches their handlers, once a process. DN_ENOMEM, DN_EINVAL; *out_what then names
 * the metric that failed. */
DN_MUST_USE int metric_set_start(const char *version, const char *revision, const char **out_what);

/* ---- Values that are read at a scrape. One thread. ---- */

void metric_set_max_concurrency(uint32_t max);
void metric_set_users(uint64_t users);
void metric_set_slos(const dn_slo_report *report);
/* Of one actor, by the name it is registered under. handled and restarts: how many more than the last time. */
void metric_set_actor(const char *name, uint64_t depth, size_t heap_bytes, uint64_t handled,
                      uint64_t restarts);
void metric_set_dead_letters(uint64_t more);

#endif
