/* summary.h - summary.json: what came of each day, how long ticks took, the peaks, and what was not as it has to be. */
#ifndef DIURNAL_REPLAY_SUMMARY_H
#define DIURNAL_REPLAY_SUMMARY_H

#include "event.h"

#include <stdio.h>

typedef struct summary_totals {
    uint64_t success, cutoff_reached, late_success, missed, starts;
} summary_totals;

typedef struct summary summary;

summary *summary_new(void); /* NULL: no memory */
void     summary_free(summary *s);

void summary_tell(summary *s, const event *e);
/* The same, of what each day of a user has, and of so many users alike. */
void summary_enqueued(summary *s, uint64_t times);
void summary_started(summary *s, dn_day day, uint64_t times);
void summary_stopped(summary *s, uint64_t times);
void summary_finalized(summary *s, const dn_happening *h, uint64_t times);
void summary_tell_tick(summary *s, int64_t real_ns);

summary_totals summary_of_all(const summary *s);
size_t         summary_days(const summary *s);

/* violations: texts of what did not hold. DN_EIO: the file did not take it; DN_ENOMEM: some day was not counted. */
DN_MUST_USE int summary_write(const summary *s, FILE *file, const char *const *violations,
                              size_t violations_len);

#endif
