/* recorder.h - writes what happens in a running service as a trace, such that replaying it ends with the same users.
 *
 * The actors of the day say what happens (journal.h) on their own loops. There it is packed, and sent to the recorder
 * as it fills or when a fifth of a second is over: nobody waits, and what cannot be sent is dropped and counted. The
 * recorder lives on the loop `record`, where it may wait for the disk.
 *
 * A trace is whole from its first line: it begins with all users as they are. So one begins with each life of the
 * process, when the last one has grown to its size, and when anything had to be left out of it; the one before becomes
 * FILE.1. It lies in FILE.new until its users are in it. docs/guide.md says what of a replay is the same.
 *
 * What it says to replay beside the contract's keys: `stopped` in an outcome (answers.h), and in a user line of the
 * beginning last_date, status, last_run_at and context_epoch. */
#ifndef DIURNAL_TRACE_RECORDER_H
#define DIURNAL_TRACE_RECORDER_H

#include "daily/slo.h"
#include "diurnal/supervisor.h"
#include "service/service.h"

#define DN_RECORDER "recorder"

/* Borrowed for the recorder's life. */
typedef struct dn_recorder_config {
    const char                *path;
    int64_t                    bytes_max; /* behind the users */
    uint32_t                   files;     /* older ones that are kept, beside FILE */
    const dn_service_config   *service;
    const dn_daily_slo_config *slo; /* the header has it */
} dn_recorder_config;

typedef struct dn_recorder dn_recorder;

/* DN_EINVAL: no trace can be written there, or what is there is none; why has one line. */
enum { DN_RECORDER_WHY = 512 };
DN_MUST_USE int dn_recorder_check(const char *path, char why[DN_RECORDER_WHY]);

/* DN_ENOMEM. Outlives the runtime. */
DN_MUST_USE int dn_recorder_new(const dn_recorder_config *config, dn_recorder **out_recorder);
void            dn_recorder_free(dn_recorder *recorder); /* accepts NULL */

/* For the service's config: who listens, and who starts before its core and ends behind it. */
const dn_journal    *dn_recorder_journal_borrow(const dn_recorder *recorder);
const dn_child_spec *dn_recorder_child_borrow(const dn_recorder *recorder);

#endif
