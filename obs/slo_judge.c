/* slo_judge.c - the judges. */
#include "slo_judge.h"

#include <assert.h>

#define MINUTE_US 60e6

static dn_slo_verdict verdict_of(bool over, uint64_t bad) {
    if (!over) return DN_SLO_FINE;
    return bad >= DN_SLO_BAD_LEAST ? DN_SLO_BREACH : DN_SLO_DOUBT;
}

/* ---- Durations ---- */

dn_slo_judgement dn_slo_judge_quantile(const dn_slo_row *row, dn_slo_history *h, uint32_t minutes) {
    const dn_sketch *us = dn_slo_history_durations(h, minutes);
    const double     most_us = row->limit * 1000;
    const uint64_t   max_us =
        most_us < (double)DN_SKETCH_VALUE_MAX ? (uint64_t)most_us : DN_SKETCH_VALUE_MAX;
    const uint64_t  all = dn_sketch_count(us), bad = dn_sketch_above(us, max_us);
    dn_sketch_range range;

    if (!dn_sketch_quantile_range(us, all, row->share, &range)) return (dn_slo_judgement){0};
    const bool   over = range.low > max_us;
    const double middle_us = (double)(range.low + (range.high - range.low + 1) / 2);
    return (dn_slo_judgement){
        .verdict = verdict_of(over, bad),
        .measured = true,
        .mostly = bad * 2 > all,
        .value = (!over && middle_us > most_us ? most_us : middle_us) / 1000,
    };
}

/* ---- Levels ---- */

/* watched: the level over its time; sum_us: what of it is judged. News needs no least time. */
static dn_slo_judgement judge_level(const dn_slo_row *row, dn_slo_level watched, double sum_us,
                                    uint32_t minutes) {
    if (watched.watched_us <= 0) return (dn_slo_judgement){0};
    dn_slo_judgement j = {.measured = true, .value = sum_us / watched.watched_us};
    if (watched.watched_us >= minutes * MINUTE_US / 2)
        j.verdict = j.value > row->limit ? DN_SLO_BREACH : DN_SLO_FINE;
    return j;
}

dn_slo_judgement dn_slo_judge_full(const dn_slo_row *row, dn_slo_history *h, uint32_t minutes) {
    const dn_slo_level level = dn_slo_history_level(h, minutes);
    dn_slo_judgement   j = judge_level(row, level, level.full_us, minutes);

    j.mostly = j.value > 0.5;
    return j;
}

/* The current minute is not a whole one. */
static bool level_rises(const dn_slo_history *h, uint32_t minutes, double least) {
    double first = 0, last = 0;

    if (minutes < DN_SLO_RISING_LEAST) return false;
    for (uint32_t ago = minutes; ago > 0; ago--) {
        const dn_slo_level minute = dn_slo_history_level_ago(h, ago);
        if (minute.watched_us <= 0) return false;
        const double mean = minute.area_us / minute.watched_us;
        if (ago == minutes) first = mean;
        else if (mean <= last) return false;
        last = mean;
    }
    return last - first >= least;
}

dn_slo_judgement dn_slo_judge_mean(const dn_slo_row *row, dn_slo_history *h, uint32_t minutes) {
    const dn_slo_level level = dn_slo_history_level(h, minutes);
    dn_slo_judgement   j = judge_level(row, level, level.area_us, minutes);

    j.rising = j.mostly = level_rises(h, minutes, row->limit / 10);
    if (j.rising) j.verdict = DN_SLO_BREACH;
    return j;
}

/* ---- Outcomes ---- */

dn_slo_judgement dn_slo_judge_ratio(const dn_slo_row *row, dn_slo_history *h, uint32_t minutes) {
    const dn_slo_outcomes o = dn_slo_history_outcomes(h, minutes);

    if (o.all == 0) return (dn_slo_judgement){0};
    const double ratio = (double)o.bad / (double)o.all;
    return (dn_slo_judgement){
        .verdict = verdict_of(ratio > row->limit, o.bad),
        .measured = true,
        .mostly = o.bad * 2 > o.all,
        .value = ratio,
    };
}

dn_slo_judgement dn_slo_judge_burn(const dn_slo_row *row, dn_slo_history *h, uint32_t minutes) {
    const dn_slo_outcomes shorter = dn_slo_history_outcomes(h, row->short_minutes);
    const dn_slo_outcomes longer = dn_slo_history_outcomes(h, row->window_minutes);

    (void)minutes;
    if (shorter.all == 0) return (dn_slo_judgement){0};
    const double     of_short = (double)shorter.bad / (double)shorter.all / row->share;
    const double     of_long = (double)longer.bad / (double)longer.all / row->share;
    dn_slo_judgement j = {
        .measured = true, .mostly = true, .value = of_short < of_long ? of_short : of_long};
    if (dn_slo_history_covers(h, row->short_minutes))
        j.verdict = verdict_of(j.value > row->limit, longer.bad);
    return j;
}

/* ---- From verdicts to warnings ---- */

/* While a breach lasts, the span that it was found in is judged. */
static void judge(dn_slo_status *s, dn_slo_history *h) {
    static const uint32_t wider[] = {DN_SLO_DAY_MINUTES, DN_SLO_OUTCOME_MINUTES};
    const dn_slo_row     *row = s->row;

    if (!s->breached) s->minutes = row->window_minutes;
    s->now = row->judge(row, h, s->minutes);
    if (!row->widens || s->breached || s->now.verdict != DN_SLO_DOUBT) return;
    for (int i = 0; i < 2; i++) {
        const dn_slo_judgement j = row->judge(row, h, wider[i]);
        if (j.verdict != DN_SLO_BREACH) continue;
        s->now = j;
        s->minutes = wider[i];
        return;
    }
}

/* Whether a breach, or doubt, lengthens the streak: one bad one is enough. */
static bool streak_grows(const dn_slo_status *s, dn_slo_history *h) {
    return s->now.mostly || s->minutes > s->row->window_minutes ||
           s->row->judge(s->row, h, DN_SLO_NEWS).verdict >= DN_SLO_DOUBT;
}

static bool status_is_sound(const dn_slo_status *s) {
    return s->minutes >= s->row->window_minutes && (s->now.measured || s->now.value == 0) &&
           (s->now.verdict >= DN_SLO_DOUBT || s->streak == 0);
}

bool dn_slo_status_step(dn_slo_status *s, dn_slo_history *h) {
    const bool was_breached = s->breached;

    assert(status_is_sound(s));
    judge(s, h);
    s->worst = dn_slo_history_worst(h, s->minutes, &s->worst_bad);
    if (s->now.verdict < DN_SLO_DOUBT) s->streak = 0;
    else if (streak_grows(s, h) && s->streak < UINT32_MAX) s->streak++;

    if (s->now.verdict == DN_SLO_FINE) s->breached = false;
    if (s->now.verdict == DN_SLO_BREACH && s->streak >= s->row->consecutive) s->breached = true;
    assert(status_is_sound(s));
    return s->breached != was_breached;
}
