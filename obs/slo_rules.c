/* slo_rules.c - the rules of the SLOs. */
#include "slo_rules.h"

#include <assert.h>

enum { HOUR = 60, DAY = 24 * HOUR };

const dn_slo_burn_pair dn_slo_burn_fast = {5, HOUR, 14.4},
                       dn_slo_burn_slow = {6 * HOUR, 3 * DAY, 1};

static dn_slo_verdict verdict_of(bool over, uint64_t bad) {
    if (!over) return DN_SLO_FINE;
    return bad >= DN_SLO_BAD_LEAST ? DN_SLO_BREACH : DN_SLO_DOUBT;
}

dn_slo_judgement dn_slo_judge_p95(const dn_sketch *us, double max_ms) {
    const double   most_us = max_ms * 1000;
    const uint64_t max_us =
        most_us < (double)DN_SKETCH_VALUE_MAX ? (uint64_t)most_us : DN_SKETCH_VALUE_MAX;
    dn_sketch_range range;

    const uint64_t all = dn_sketch_count(us);
    if (!dn_sketch_quantile_range(us, all, 0.95, &range)) return (dn_slo_judgement){0};
    const uint64_t bad = dn_sketch_above(us, max_us);
    const bool     over = range.low > max_us;
    const uint64_t half = (range.high - range.low + 1) / 2;
    const double   middle_us = (double)(range.low + half);
    return (dn_slo_judgement){
        .verdict = verdict_of(over, bad),
        .measured = true,
        .mostly = bad * 2 > all,
        .value = (!over && middle_us > most_us ? most_us : middle_us) / 1000,
    };
}

dn_slo_judgement dn_slo_judge_rate(uint64_t bad, uint64_t all, double rate_max) {
    assert(bad <= all);
    if (all == 0) return (dn_slo_judgement){0};
    const double rate = (double)bad / (double)all;
    return (dn_slo_judgement){
        .verdict = verdict_of(rate > rate_max, bad),
        .measured = true,
        .mostly = bad * 2 > all,
        .value = rate,
    };
}

/* ---- Levels ---- */

static dn_slo_judgement judge_level(double value, double max, double watched_us,
                                    double watched_us_least) {
    dn_slo_judgement j = {.measured = true, .value = value};

    if (watched_us >= watched_us_least) j.verdict = value > max ? DN_SLO_BREACH : DN_SLO_FINE;
    return j;
}

dn_slo_judgement dn_slo_judge_saturation(const dn_slo_level *level, double ratio_max,
                                         double watched_us_least) {
    if (level->watched_us <= 0) return (dn_slo_judgement){0};
    const double     ratio = level->full_us / level->watched_us;
    dn_slo_judgement j = judge_level(ratio, ratio_max, level->watched_us, watched_us_least);
    j.mostly = ratio > 0.5;
    return j;
}

dn_slo_judgement dn_slo_judge_average(const dn_slo_level *level, double average_max,
                                      double watched_us_least) {
    if (level->watched_us <= 0) return (dn_slo_judgement){0};
    return judge_level(level->area_us / level->watched_us, average_max, level->watched_us,
                       watched_us_least);
}

bool dn_slo_rises(const dn_slo_level *minutes, uint32_t len, double rise_least, double *out_rise) {
    double first = 0, before = 0;

    if (len < DN_SLO_RISING_LEAST) return false;
    for (uint32_t i = 0; i < len; i++) {
        if (minutes[i].watched_us <= 0) return false;
        const double average = minutes[i].area_us / minutes[i].watched_us;
        if (i == 0) first = average;
        else if (average <= before) return false;
        before = average;
    }
    if (before - first < rise_least) return false;
    *out_rise = before - first;
    return true;
}

/* ---- The budget ---- */

dn_slo_judgement dn_slo_judge_burn(dn_slo_outcomes shorter, dn_slo_outcomes longer, double budget,
                                   double factor) {
    assert(budget > 0);
    if (shorter.all == 0 || longer.all == 0) return (dn_slo_judgement){0};
    const double of_short = (double)shorter.missed / (double)shorter.all / budget;
    const double of_long = (double)longer.missed / (double)longer.all / budget;
    const double slower = of_short < of_long ? of_short : of_long;
    return (dn_slo_judgement){
        .verdict = verdict_of(slower > factor, longer.missed),
        .measured = true,
        .value = slower,
    };
}

/* ---- From verdicts to warnings ---- */

dn_slo_turn dn_slo_streak_step(dn_slo_streak *s, dn_slo_verdict verdict, bool counts,
                               uint32_t consecutive) {
    if (verdict != DN_SLO_BREACH && verdict != DN_SLO_DOUBT) s->length = 0;
    else if (counts && s->length < UINT32_MAX) s->length++;

    if (s->breached && verdict == DN_SLO_FINE) {
        s->breached = false;
        return DN_SLO_RECOVERS;
    }
    if (!s->breached && verdict == DN_SLO_BREACH && s->length >= consecutive) {
        s->breached = true;
        return DN_SLO_WARNS;
    }
    return DN_SLO_STAYS;
}
