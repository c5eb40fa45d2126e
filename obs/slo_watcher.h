/* slo_watcher.h - an actor that evaluates a table of SLOs and logs when one is breached or has recovered.
 * It steers nothing. A crash empties its windows and costs nothing else. */
#ifndef DIURNAL_OBS_SLO_WATCHER_H
#define DIURNAL_OBS_SLO_WATCHER_H

#include "diurnal/supervisor.h"
#include "diurnal/telemetry.h"
#include "slo_table.h"

#define DN_SLO_WATCHER "slo_watcher"

enum {
    DN_SLO_ASK = 0x510, /* a call: nothing -> DN_SLO_REPORT, dn_slo_report */
    DN_SLO_REPORT,
};

typedef struct dn_slo_report {
    dn_slo_status slo[DN_SLO_ROWS_MAX]; /* in the order of the rows, which outlive the report */
    size_t        len;
    uint64_t      evaluations; /* since the watcher started */
} dn_slo_report;

/* Borrowed for the life of the runtime. */
typedef struct dn_slo_watcher_config {
    const dn_slo_row *rows;
    size_t            rows_len;
    int64_t           eval_ms;
} dn_slo_watcher_config;

/* An SLO was breached, or has recovered. value: 0 if nothing was measured. state: "breached", "ok". */
#define DN_SLO_CHANGED(MEASUREMENT, METADATA)                                                      \
    MEASUREMENT(REAL, value)                                                                       \
    MEASUREMENT(REAL, threshold)                                                                   \
    METADATA(TEXT, slo)                                                                            \
    METADATA(TEXT, state)
DN_EVENT_DECLARE(dn_slo_changed, DN_SLO_CHANGED)

/* A child for the edge supervisor, on the main loop. */
dn_child_spec dn_slo_watcher_child(const dn_slo_watcher_config *config);

#endif
