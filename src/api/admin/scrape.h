/* scrape.h - the actor behind /metrics.
 * Telemetry handlers count events on the threads that emit them. The state of the actors is asked for at each scrape; an
 * actor that does not answer in time keeps its last values. */
#ifndef DIURNAL_API_SCRAPE_H
#define DIURNAL_API_SCRAPE_H

#include "diurnal/supervisor.h"
#include "service/service.h"

#define DN_METRICS "metrics"

enum {
    DN_METRICS_SCRAPE =
        0x320, /* a call: uint32_t, dn_metrics_format -> DN_METRICS_PAGE, the text */
    DN_METRICS_PAGE,
};

/* Makes all metrics and begins to count, once, before any loop runs, for the rest of the process. DN_ENOMEM; DN_EINVAL: a
 * metric is there twice, or its name is invalid; why (DN_METRICS_WHY bytes) names it. */
enum { DN_METRICS_WHY = 256 };
DN_MUST_USE int dn_daemon_metrics_start(const char *version, const char *revision, char *why);

/* A child for the edge supervisor, on the main loop. */
dn_child_spec dn_metrics_child(const dn_service_config *config);

#endif
