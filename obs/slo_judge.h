/* slo_judge.h - one SLO as a row, the judges a row may name, and when a verdict becomes a warning. No clock, no state.
 *
 * Seed 003 compares a value over a window with a threshold, several evaluations in a row. Taken literally, that warns when
 * nothing is wrong: one bad minute stays in the window for fifteen evaluations, and one miss of one is 100 %. So:
 * - A value above its limit because of fewer than three bad ones (DN_SLO_BAD_LEAST) is in doubt. Doubt lengthens a streak
 *   as a breach does, but never warns.
 * - An evaluation lengthens the streak only if what came since the last one is bad by the same rule, or most of the
 *   window is. Otherwise it neither lengthens nor ends the streak: a bad minute counts once (twice, if an evaluation
 *   falls into it), and a herd that missed one due minute counts at each evaluation, though nothing follows it.
 * - No verdict ends a streak but never a breach: silence is no recovery. Nor is doubt. */
#ifndef DIURNAL_OBS_SLO_JUDGE_H
#define DIURNAL_OBS_SLO_JUDGE_H

#include "slo_history.h"

enum {
    DN_SLO_BAD_LEAST = 3,   /* durations above the limit, bad outcomes */
    DN_SLO_RISING_LEAST = 3 /* minutes: a shorter window has no slope */
};

typedef enum dn_slo_verdict {
    DN_SLO_NO_VERDICT, /* nothing was measured, or not for long enough */
    DN_SLO_FINE,
    DN_SLO_DOUBT, /* above the limit, but by too few to tell */
    DN_SLO_BREACH,
} dn_slo_verdict;

typedef struct dn_slo_judgement {
    dn_slo_verdict verdict;
    bool           measured; /* else value is 0 */
    bool           mostly;   /* most of it is bad */
    bool           rising;   /* a level rose all through the window */
    double         value;
} dn_slo_judgement;

typedef struct dn_slo_row dn_slo_row;

/* Judges the last minutes: those of the row's window, or of a longer span that a breach was found in, or DN_SLO_NEWS. */
typedef dn_slo_judgement dn_slo_judge(const dn_slo_row *row, dn_slo_history *h, uint32_t minutes);

typedef enum dn_slo_unit { DN_SLO_MS, DN_SLO_SHARE, DN_SLO_COUNT, DN_SLO_TIMES } dn_slo_unit;

/* One SLO. Texts are static. */
struct dn_slo_row {
    const char          *name;        /* "job_latency": a label, a key */
    const char          *description; /* for people, without a full stop */
    const char          *measure;     /* what the value is, in a sentence: "p95" */
    const dn_slo_source *source;
    dn_slo_judge        *judge;
    dn_slo_unit          unit; /* of value and limit */
    double               limit;
    uint32_t window_minutes; /* 1 to DN_SLO_DAY_MINUTES; of outcomes to DN_SLO_OUTCOME_MINUTES */
    uint32_t consecutive;    /* breaches before a warning: 1 or more */
    uint32_t short_minutes;  /* of dn_slo_judge_burn, below window_minutes */
    double   share; /* the quantile, or the budget of dn_slo_judge_burn: above 0 and below 1 */
    bool
         widens; /* outcomes in doubt: the last day is judged, and then the last three; a breach recovers over
                      * the span it was found in. So an installation of one user is warned on the third day it misses. */
    bool off; /* not judged, and shown nowhere */
};

/* Durations: the quantile `share`. A sketch cannot tell a value from a limit in the same bucket (1.6 %); such a value counts
 * as the limit, which is no breach. So jobs that all end at a timeout equal to the limit are fine. */
dn_slo_judge dn_slo_judge_quantile;
/* A level: the share of the time at its ceiling. No verdict before half of the window has a level. */
dn_slo_judge dn_slo_judge_full;
/* A level: its mean, likewise; or whether each whole minute was above the one before, by a tenth of the limit in all. */
dn_slo_judge dn_slo_judge_mean;
/* Outcomes: the share of bad ones. */
dn_slo_judge dn_slo_judge_ratio;
/* Outcomes: the burn rate, the share of bad ones divided by the budget `share`. 1 spends just the budget. The value is the
 * lower of two windows' rates: the long one says that it matters, the short one that it still goes on. */
dn_slo_judge dn_slo_judge_burn;

/* ---- From verdicts to warnings ---- */

typedef struct dn_slo_status {
    const dn_slo_row *row;
    bool              breached; /* warned, and not recovered */
    uint32_t          streak;   /* evaluations in a row that found a breach, or doubt */
    uint32_t          minutes;  /* what the last evaluation judged, and found */
    dn_slo_judgement  now;
    int32_t           worst; /* the group with most bad outcomes; -1: none */
    uint64_t          worst_bad;
} dn_slo_status;

/* Returns whether the row warned or recovered. */
bool dn_slo_status_step(dn_slo_status *s, dn_slo_history *h);

#endif
