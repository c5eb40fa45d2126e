/* scrape.h - the daemon's metrics: counted as things happen, completed when somebody scrapes.
 * What happens is counted by handlers of telemetry on the threads of those who emit. How the actors are is asked when a
 * scrape comes; who does not answer in time keeps the values he had. */
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

/* Makes all metrics, and begins to count. Once, before any loop runs, and for the rest of the process. DN_ENOMEM;
 * DN_EINVAL: a metric is there twice, or its name is none: why (DN_METRICS_WHY bytes) names it. */
enum { DN_METRICS_WHY = 256 };
DN_MUST_USE int dn_daemon_metrics_start(const char *version, const char *revision, char *why);

/* A child for the edge supervisor, on the main loop. */
dn_child_spec dn_metrics_child(const dn_service_config *config);

#endif
