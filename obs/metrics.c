/* metrics.c - what every build says of itself, and the names of the formats. */
#include "metrics_library.h"

const char *dn_metrics_content_type(dn_metrics_format format) {
    return format == DN_METRICS_OPENMETRICS
               ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
               : "text/plain; version=0.0.4; charset=utf-8";
}

static int show_build(const char *version, const char *revision) {
    const char   *keys[] = {"version", "revision"}, *values[] = {version, revision};
    prom_gauge_t *build = prom_gauge_new("diurnal_build_info",
                                         "Version and revision of the build; always 1.", 2, keys);

    if (!build) return DN_ENOMEM;
    if (prom_metric_sample_set(prom_metric_sample_from_labels(build, values), 1) == 0 &&
        prom_collector_registry_register_metric(build) == 0)
        return DN_OK;
    prom_gauge_destroy(build);
    return DN_ENOMEM;
}

int dn_metrics_start(const char *version, const char *revision) {
    if (prom_collector_registry_default_init() != 0) return DN_ENOMEM;
    if (show_build(version, revision) == DN_OK && dn_metrics_of_library() == DN_OK) return DN_OK;
    prom_collector_registry_destroy(PROM_COLLECTOR_REGISTRY_DEFAULT);
    PROM_COLLECTOR_REGISTRY_DEFAULT = NULL;
    return DN_ENOMEM;
}
