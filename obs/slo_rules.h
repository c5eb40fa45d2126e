/* slo_rules.h - what is a breach, and when one is worth a warning. Rules only: no clock, no state, no cells.
 *
 * Seed 003 asks for a value over a window above a threshold, so many evaluations in a row. To the letter that warns of what
 * nobody wants to hear of: one bad minute stays in the window for fifteen evaluations; one miss of one is 100 %. So:
 * - What is over its threshold by fewer than three bad ones is in doubt (DN_SLO_BAD_LEAST). Doubt lengthens a streak as a breach
 *   does, but nobody is warned before there are three; three of three are enough.
 * - An evaluation lengthens the streak only if what came since the one before is bad by the same rule, or if most of the whole window
 *   is. Else it neither lengthens nor ends it: a blip counts once (twice, if an evaluation falls into it), and a
 *   herd that all missed one due minute, with silence after it, counts as often as it is looked at.
 * - No verdict ends a streak, but never a breach that was warned of: silence is no recovery. Nor is doubt. */
#ifndef DIURNAL_OBS_SLO_RULES_H
#define DIURNAL_OBS_SLO_RULES_H

#include "sketch.h"

enum {
    DN_SLO_BAD_LEAST = 3,   /* slow ticks, slow jobs, missed cutoffs */
    DN_SLO_RISING_LEAST = 3 /* minutes; a shorter window knows no slope */
};

typedef enum dn_slo_verdict {
    DN_SLO_NO_VERDICT, /* nothing was measured, or not for long enough */
    DN_SLO_FINE,
    DN_SLO_DOUBT, /* over the threshold, but by too few to tell */
    DN_SLO_BREACH,
} dn_slo_verdict;

typedef struct dn_slo_judgement {
    dn_slo_verdict verdict;
    bool           measured; /* there was something to measure */
    bool           mostly;   /* more than half of it was bad */
    double         value;    /* if measured */
} dn_slo_judgement;

/* The 95th percentile, in ms, of values in us. A sketch cannot tell a value from a threshold in its bucket (1.6 %): it is taken
 * as the threshold, which is no breach. So jobs that all end at a timeout equal to the threshold are fine. */
dn_slo_judgement dn_slo_judge_p95(const dn_sketch *us, double max_ms);

/* Bad ones of all of them. */
dn_slo_judgement dn_slo_judge_rate(uint64_t bad, uint64_t all, double rate_max);

/* A level over time: its time, level times time, time at its max. */
typedef struct dn_slo_level {
    double watched_us, area_us, full_us;
} dn_slo_level;

dn_slo_judgement dn_slo_judge_saturation(const dn_slo_level *level, double ratio_max,
                                         double watched_us_least);
dn_slo_judgement dn_slo_judge_average(const dn_slo_level *level, double average_max,
                                      double watched_us_least);

/* The averages of whole minutes, oldest first, each above the one before, and the last above the first by rise_least or
 * more. *out_rise: by how much, if it is so. */
bool dn_slo_rises(const dn_slo_level *minutes, uint32_t len, double rise_least, double *out_rise);

/* Burn rates: 1 spends just the budget. Both windows must burn faster than the factor: the long one says that it
 * matters, the short one that it is still going on. The SRE workbook's pairs for 30 days: 14.4 over 1 h and 5 min (2 % of
 * the budget in that hour), 1 over 3 d and 6 h (10 % in those days). */
typedef struct dn_slo_burn_pair {
    uint32_t short_minutes, long_minutes;
    double   factor;
} dn_slo_burn_pair;
extern const dn_slo_burn_pair dn_slo_burn_fast, dn_slo_burn_slow;

typedef struct dn_slo_outcomes {
    uint64_t missed, all;
} dn_slo_outcomes;
/* Its value is the slower of the two rates. budget: the share that may be missed, above 0. */
dn_slo_judgement dn_slo_judge_burn(dn_slo_outcomes shorter, dn_slo_outcomes longer, double budget,
                                   double factor);

/* ---- From verdicts to warnings ---- */

typedef struct dn_slo_streak {
    uint32_t length;   /* evaluations in a row */
    bool     breached; /* warned of, and not recovered */
} dn_slo_streak;

typedef enum dn_slo_turn { DN_SLO_STAYS, DN_SLO_WARNS, DN_SLO_RECOVERS } dn_slo_turn;

/* counts: whether a breach, or doubt, lengthens the streak. */
dn_slo_turn dn_slo_streak_step(dn_slo_streak *s, dn_slo_verdict verdict, bool counts,
                               uint32_t consecutive);

#endif
