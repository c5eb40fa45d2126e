/* slo_watcher.h - an actor that listens to what the daily path says, and warns when it goes badly.
 * It steers nothing. Handlers of telemetry count on the threads of those who emit; the actor rolls the windows, evaluates,
 * and logs each warning once and each recovery once. A crash costs it its windows and nobody else anything. */
#ifndef DIURNAL_OBS_SLO_WATCHER_H
#define DIURNAL_OBS_SLO_WATCHER_H

#include "diurnal/supervisor.h"
#include "diurnal/telemetry.h"
#include "slo.h"

#define DN_SLO_WATCHER "slo_watcher"

enum {
    DN_SLO_ASK = 0x510, /* a call: nothing -> DN_SLO_REPORT, dn_slo_report */
    DN_SLO_REPORT,
};

typedef struct dn_slo_report {
    dn_slo_status slo[DN_SLO_NAMES];
    int64_t       mono_ns; /* of the answer: what since_ns is measured against */
    uint64_t      evaluations, warnings;
} dn_slo_report;

/* Borrowed for the life of the runtime. */
typedef struct dn_slo_watcher_config {
    dn_slo_config slo;
    int64_t       eval_ms;
} dn_slo_watcher_config;

/* slo_watcher: warned of, or recovered. value: 0 where nothing was measured. state: "breached", "ok". */
#define DN_SLO_CHANGED(MEASUREMENT, METADATA)                                                      \
    MEASUREMENT(REAL, value)                                                                       \
    MEASUREMENT(REAL, threshold)                                                                   \
    METADATA(TEXT, slo)                                                                            \
    METADATA(TEXT, state)
DN_EVENT_DECLARE(dn_slo_changed, DN_SLO_CHANGED)

/* A child for the edge supervisor, on the main loop. */
dn_child_spec dn_slo_watcher_child(const dn_slo_watcher_config *config);

#endif
