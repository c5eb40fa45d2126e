/* json_status.h - the status of the daemon's actors as JSON. NULL: out of memory. Any thread. */
#ifndef DIURNAL_API_JSON_STATUS_H
#define DIURNAL_API_JSON_STATUS_H

#include "daily/daily_messages.h"
#include "obs/slo_watcher.h"

#include <jansson.h>

json_t *json_of_kv_status(const dn_kv_status *s);
/* A list with an object for each SLO that is on: "name", "state" ("ok", "breached", "no_data"), "value", "threshold",
 * "window_minutes", "streak", and "worst_due" where cutoffs were missed. */
json_t *json_of_slo_report(const dn_slo_report *r);
json_t *json_of_tick_status(const dn_tick_status *s);
json_t *json_of_queue_status(const dn_queue_status *s);
json_t *json_of_executor_status(const dn_executor_status *s);

#endif
