/* libprom_shim.c - metrics.h by an installed libprom, which has one format. */
#include "metrics_library.h"

#include <string.h>

bool dn_metrics_offered(dn_metrics_format format) { return format == DN_METRICS_TEXT; }

int dn_metrics_of_library(void) { return DN_OK; }

int dn_metrics_text(dn_metrics_format format, char **out_text, size_t *out_len) {
    char *text = (char *)prom_collector_registry_bridge(PROM_COLLECTOR_REGISTRY_DEFAULT);

    (void)format;
    if (!text) return DN_ENOMEM;
    *out_text = text;
    *out_len = strlen(text);
    return DN_OK;
}
