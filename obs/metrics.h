/* metrics.h - metrics and their text for a scrape: the API of prometheus-client-c and a few additions.
 * The library is ours (libprom/prom.h) or an installed one (cmake/libprom.cmake), so use only what both support: names and
 * help texts that live as long as their metric, labels from a small fixed set, and handles bound while one thread runs. */
#ifndef DIURNAL_OBS_METRICS_H
#define DIURNAL_OBS_METRICS_H

#include "diurnal/base.h"

#include <prom.h>

/* The metrics of a collector; a custom collect function returns it. libprom defines this without declaring it. */
prom_map_t *prom_collector_default_collect(prom_collector_t *self);

/* Call once, before any metric is created. Creates the default registry with the process metrics and diurnal_build_info.
 * On DN_ENOMEM nothing was created. */
DN_MUST_USE int dn_metrics_start(const char *version, const char *revision);

typedef enum dn_metrics_format {
    DN_METRICS_TEXT,        /* Prometheus' own, version 0.0.4 */
    DN_METRICS_OPENMETRICS, /* OpenMetrics 1.0.0, where the library can */
} dn_metrics_format;

/* The format an Accept header prefers, by RFC 9110; NULL if the request has none. The result is DN_METRICS_TEXT if the header
 * is malformed or accepts neither format. Any thread. */
dn_metrics_format dn_metrics_negotiate(const char *accept);
const char       *dn_metrics_content_type(dn_metrics_format format);

/* The default registry as text; the caller frees it. A histogram is consistent: its buckets never decrease and the last
 * equals the count. Its sum may lack observations in progress. DN_ENOMEM. Any thread. */
DN_MUST_USE int dn_metrics_text(dn_metrics_format format, char **out_text, size_t *out_len);

#endif
