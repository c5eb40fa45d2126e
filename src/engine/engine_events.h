/* engine_events.h - events that the engine emits to telemetry listeners (diurnal/telemetry.h).
 * docs/telemetry.md is the contract. */
#ifndef DIURNAL_ENGINE_ENGINE_EVENTS_H
#define DIURNAL_ENGINE_ENGINE_EVENTS_H

#include "diurnal/telemetry.h"

/* executor: how many jobs run, whenever that has changed and once a tick_ms. */
#define DN_IN_FLIGHT(MEASUREMENT, METADATA)                                                        \
    MEASUREMENT(INTEGER, in_flight)                                                                \
    METADATA(INTEGER, max_concurrency)
DN_EVENT_DECLARE(dn_in_flight, DN_IN_FLIGHT)

/* kv: a transaction was committed, or failed. */
#define DN_COMMIT_STOP(MEASUREMENT, METADATA)                                                      \
    MEASUREMENT(REAL, duration_ms)                                                                 \
    MEASUREMENT(INTEGER, writes)                                                                   \
    METADATA(TEXT, result)
DN_EVENT_DECLARE(dn_commit_stop, DN_COMMIT_STOP)

#endif
