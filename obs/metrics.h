/* metrics.h - metrics, and their text for whoever scrapes: the API of prometheus-client-c and the little beyond it.
 * This is the one door to it. Which library is behind, ours (libprom/prom.h) or an installed one (cmake/libprom.cmake),
 * is nobody's business; so keep to what both can do: names and helps that live as long as their metric, labels from a
 * small vocabulary of the program's own, and bound handles made where only one thread runs. */
#ifndef DIURNAL_OBS_METRICS_H
#define DIURNAL_OBS_METRICS_H

#include "diurnal/base.h"

#include <prom.h>

/* The metrics of a collector: how a collect function of one's own ends. libprom has it, and declares it nowhere. */
prom_map_t *prom_collector_default_collect(prom_collector_t *self);

/* Once, before any metric is made: the default registry with what it knows of the process, and diurnal_build_info.
 * DN_ENOMEM: there is nothing of it. */
DN_MUST_USE int dn_metrics_start(const char *version, const char *revision);

typedef enum dn_metrics_format {
    DN_METRICS_TEXT,        /* Prometheus' own, version 0.0.4 */
    DN_METRICS_OPENMETRICS, /* OpenMetrics 1.0.0, where the library can */
} dn_metrics_format;

/* The format that an Accept header likes best, by RFC 9110; NULL: there is none. What it cannot read, and what it
 * likes none of, gets DN_METRICS_TEXT, as everywhere. Any thread. */
dn_metrics_format dn_metrics_negotiate(const char *accept);
const char       *dn_metrics_content_type(dn_metrics_format format);

/* The default registry as text; the caller frees it. A histogram agrees with itself: no bucket says more than the next,
 * and the last says what the count says; its sum may lack what is being observed. DN_ENOMEM. Any thread. */
DN_MUST_USE int dn_metrics_text(dn_metrics_format format, char **out_text, size_t *out_len);

#endif
