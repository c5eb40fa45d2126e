/* compare_totals.h - summary.json of a run, and users.ndjson of two: what there is in numbers. */
#ifndef DIURNAL_REPLAY_COMPARE_TOTALS_H
#define DIURNAL_REPLAY_COMPARE_TOTALS_H

#include "base/civil.h"
#include "compare_lines.h"
#include "summary.h"

typedef struct compare_day {
    dn_day         day;
    summary_totals totals;
} compare_day;

/* In the order of the days. */
typedef struct compare_totals {
    compare_day   *days;
    size_t         days_len;
    summary_totals all;
    uint64_t       peak_in_flight, peak_depth, violations;
    double         tick_p95_ms; /* of the machine it ran on */
} compare_totals;

/* DN_EINVAL: it is not there, or no summary; DN_ENOMEM. why has one line. out: zeroed. */
DN_MUST_USE int compare_totals_read(const char *dir, compare_totals *out, char why[COMPARE_WHY]);
void            compare_totals_done(compare_totals *t);

/* The days whose totals differ, those that only one run has included; told in their order. */
typedef void compare_days_look(void *context, dn_day day, const summary_totals *other,
                               const summary_totals *own);
size_t       compare_totals_days(const compare_totals *other, const compare_totals *own,
                                 compare_days_look *look, void *context);

typedef struct compare_users {
    uint64_t len[2]; /* of the other run, and of this */
    uint64_t only[2];
    uint64_t otherwise; /* in both, but not the same last day, status, epoch, due or first day */
} compare_users;

/* DN_EINVAL, DN_EIO: a line is no user's, or cannot be read. why has one line. */
DN_MUST_USE int compare_users_read(compare_lines *other, compare_lines *own, compare_users *out,
                                   char why[COMPARE_WHY]);

#endif
