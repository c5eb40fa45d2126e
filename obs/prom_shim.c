/* prom_shim.c - implements metrics.h with our own prom_*.c. */
#include "metrics_library.h"
#include "prom_internal.h"

#include <assert.h>

bool dn_metrics_offered(dn_metrics_format format) {
    (void)format;
    return true;
}

static prom_map_t *collect(prom_collector_t *self) {
    prom_map_t *metrics = prom_collector_default_collect(self);

    prom_sample_store(prom_metric_sample_from_labels(metrics->first, NULL),
                      (double)prom_overflows());
    return metrics;
}

int dn_metrics_of_library(void) {
    prom_collector_t *self = prom_collector_new("metrics");
    prom_counter_t   *overflows = prom_counter_new(
          "diurnal_metrics_overflows_total",
          "Updates dropped because no series could be made for their labels.", 0, NULL);

    if (self && overflows && prom_collector_add_metric(self, overflows) == 0) {
        overflows = NULL; /* the collector owns it */
        prom_collector_set_collect_fn(self, collect);
        if (prom_collector_registry_register_collector(PROM_COLLECTOR_REGISTRY_DEFAULT, self) == 0)
            return DN_OK;
    }
    prom_counter_destroy(overflows);
    prom_collector_destroy(self);
    return DN_ENOMEM;
}

int dn_metrics_text(dn_metrics_format format, char **out_text, size_t *out_len) {
    size_t len;
    char  *text;

    assert(PROM_COLLECTOR_REGISTRY_DEFAULT); /* dn_metrics_start made it */
    text = prom_text(PROM_COLLECTOR_REGISTRY_DEFAULT, format == DN_METRICS_OPENMETRICS, &len);
    if (!text) return DN_ENOMEM;
    *out_text = text;
    *out_len = len;
    return DN_OK;
}
