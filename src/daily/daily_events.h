/* daily_events.h - events that the daily path emits to telemetry listeners (diurnal/telemetry.h), each in one place.
 * docs/telemetry.md is the contract. An event about a durable change is emitted after its commit. */
#ifndef DIURNAL_DAILY_DAILY_EVENTS_H
#define DIURNAL_DAILY_DAILY_EVENTS_H

#include "diurnal/telemetry.h"

/* tick: a tick is planned. `enqueued`: those of eligible_in_window that the queue took. */
#define DN_TICK_STOP(MEASUREMENT, METADATA)                                                        \
    MEASUREMENT(REAL, duration_ms)                                                                 \
    METADATA(INTEGER, users_scanned)                                                               \
    METADATA(INTEGER, eligible_in_window)                                                          \
    METADATA(INTEGER, enqueued)                                                                    \
    METADATA(INTEGER, cutoff_finalized)
DN_EVENT_DECLARE(dn_tick_stop, DN_TICK_STOP)

/* queue: how many wait, after it changed and once a tick. */
#define DN_QUEUE_DEPTH(MEASUREMENT, METADATA)                                                      \
    MEASUREMENT(INTEGER, depth)                                                                    \
    METADATA(TEXT, today)
DN_EVENT_DECLARE(dn_queue_depth, DN_QUEUE_DEPTH)

/* queue: a job has stopped. error_class: of an error; none else. */
#define DN_JOB_STOP(MEASUREMENT, METADATA)                                                         \
    MEASUREMENT(REAL, duration_ms)                                                                 \
    METADATA(TEXT, result)                                                                         \
    METADATA(TEXT, error_class)
DN_EVENT_DECLARE(dn_job_stop, DN_JOB_STOP)

/* kv: a day is finalized, and that is committed. today: the day that is. */
#define DN_FINALIZE(MEASUREMENT, METADATA)                                                         \
    METADATA(TEXT, status)                                                                         \
    METADATA(INTEGER, due_bucket)                                                                  \
    METADATA(TEXT, today)
DN_EVENT_DECLARE(dn_finalize, DN_FINALIZE)

/* kv: a success that found its day finalized. */
#define DN_LATE_SUCCESS(MEASUREMENT, METADATA)                                                     \
    METADATA(INTEGER, due_bucket)                                                                  \
    METADATA(TEXT, today)
DN_EVENT_DECLARE(dn_late_success, DN_LATE_SUCCESS)

/* kv: days that ended without the daemon seeing their cutoff are in the ledger. */
#define DN_DAYS_MISSED(MEASUREMENT, METADATA)                                                      \
    MEASUREMENT(INTEGER, days)                                                                     \
    METADATA(INTEGER, due_bucket)
DN_EVENT_DECLARE(dn_days_missed, DN_DAYS_MISSED)

#endif
