/* slo.c - rolls the minutes, asks the rules, and remembers what was said. */
#include "slo.h"

#include "slo_misses.h"
#include "window.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    DAY = 1440,
    OUTCOME_MINUTES = 3 * DAY,
    NS_OF_MS = 1000000,
};
#define MINUTE_NS (INT64_C(60) * 1000 * NS_OF_MS)
#define MINUTE_US (60 * 1e6)

enum { TICK_US, JOB_US, SKETCHES };
enum { DEPTH, IN_FLIGHT, LEVELS };

/* One minute of the window, or what came since the last evaluation. */
typedef struct minute {
    dn_sketch    sketches[SKETCHES];
    uint64_t     counts[SKETCHES]; /* of the sketches: at night most are empty, and skipped */
    dn_slo_level levels[LEVELS];
} minute;

typedef struct outcome_minute {
    uint32_t successes, misses;
} outcome_minute;

/* What the cells held at the last roll. */
typedef struct cells_seen {
    dn_sketch        sketches[SKETCHES];
    dn_meter_reading levels[LEVELS];
    uint32_t         successes, cutoffs_all, cutoffs[DN_SLO_DUES];
} cells_seen;

struct dn_slo {
    dn_slo_config  config;
    bool           rolled;
    int64_t        first_ns, now_ns; /* of the rolls */
    dn_window      minutes;  /* of minute: the window, and one more, for its whole minutes */
    dn_window      outcomes; /* of outcome_minute */
    cells_seen     seen;
    dn_slo_misses  misses;
    minute         news; /* since the last evaluation */
    outcome_minute outcome_news;
    uint32_t       rate_span; /* what the miss rate was warned of over; 0: it was not */
    dn_slo_streak  streaks[DN_SLO_NAMES];
    dn_slo_status  status[DN_SLO_NAMES];
    dn_sketch      sum;                /* for a moment */
    dn_slo_level   whole_minutes[DAY]; /* for a moment */
};

static const char *const texts[] = {
    [DN_SLO_TICK_BUDGET] = "tick_budget",           [DN_SLO_SATURATION] = "saturation",
    [DN_SLO_QUEUE_PRESSURE] = "queue_pressure",     [DN_SLO_JOB_LATENCY] = "job_latency",
    [DN_SLO_CUTOFF_MISS_RATE] = "cutoff_miss_rate", [DN_SLO_CUTOFF_BURN_FAST] = "cutoff_burn_fast",
    [DN_SLO_CUTOFF_BURN_SLOW] = "cutoff_burn_slow",
};
_Static_assert(sizeof texts / sizeof *texts == DN_SLO_NAMES, "each has its name");

const char *dn_slo_text(dn_slo_name name) {
    assert(name < DN_SLO_NAMES);
    return texts[name];
}

/* ---- Its life ---- */

static bool threshold_is_sound(double x) { return isfinite(x) && x >= 0; }

static bool config_is_sound(const dn_slo_config *c) {
    return c->window_minutes >= 1 && c->window_minutes <= DAY && c->breach_consecutive >= 1 &&
           threshold_is_sound(c->tick_budget_ms) && threshold_is_sound(c->sat_ratio) &&
           threshold_is_sound(c->depth_avg_max) && threshold_is_sound(c->job_p95_max_ms) &&
           threshold_is_sound(c->cutoff_rate_max) && threshold_is_sound(c->cutoff_objective) &&
           c->cutoff_objective < 1;
}

static void status_init(dn_slo *s) {
    const dn_slo_config *c = &s->config;
    const double         thresholds[] = {
                [DN_SLO_TICK_BUDGET] = c->tick_budget_ms,
                [DN_SLO_SATURATION] = c->sat_ratio,
                [DN_SLO_QUEUE_PRESSURE] = c->depth_avg_max,
                [DN_SLO_JOB_LATENCY] = c->job_p95_max_ms,
                [DN_SLO_CUTOFF_MISS_RATE] = c->cutoff_rate_max,
                [DN_SLO_CUTOFF_BURN_FAST] = dn_slo_burn_fast.factor,
                [DN_SLO_CUTOFF_BURN_SLOW] = dn_slo_burn_slow.factor,
    };

    for (int i = 0; i < DN_SLO_NAMES; i++)
        s->status[i] = (dn_slo_status){.on = true,
                                       .threshold = thresholds[i],
                                       .window_minutes = c->window_minutes,
                                       .worst_due = -1};
    s->status[DN_SLO_TICK_BUDGET].on = !c->tick_budget_off;
    s->status[DN_SLO_CUTOFF_BURN_FAST].on = c->cutoff_objective > 0;
    s->status[DN_SLO_CUTOFF_BURN_FAST].window_minutes = dn_slo_burn_fast.long_minutes;
    s->status[DN_SLO_CUTOFF_BURN_SLOW].on = c->cutoff_objective > 0;
    s->status[DN_SLO_CUTOFF_BURN_SLOW].window_minutes = dn_slo_burn_slow.long_minutes;
}

/* Most of a sketch is empty, and is not touched. */
static void minute_clear(void *slot) {
    minute *m = slot;

    for (int i = 0; i < SKETCHES; i++) {
        dn_sketch_clear(&m->sketches[i]);
        m->counts[i] = 0;
    }
    memset(m->levels, 0, sizeof m->levels);
}

static void outcome_minute_clear(void *slot) { *(outcome_minute *)slot = (outcome_minute){0}; }

int dn_slo_new(const dn_slo_config *config, dn_slo **out_slo) {
    dn_slo *s;
    int     rc;

    if (!config_is_sound(config)) return DN_EINVAL;
    s = calloc(1, sizeof *s);
    if (!s) return DN_ENOMEM;
    s->config = *config;
    rc = dn_window_init(&s->minutes, config->window_minutes + 1, sizeof(minute), minute_clear);
    if (rc == DN_OK)
        rc = dn_window_init(&s->outcomes, OUTCOME_MINUTES, sizeof(outcome_minute),
                            outcome_minute_clear);
    if (rc < 0) {
        dn_slo_free(s);
        return rc;
    }
    status_init(s);
    *out_slo = s;
    return DN_OK;
}

void dn_slo_free(dn_slo *slo) {
    if (!slo) return;
    dn_window_done(&slo->minutes);
    dn_window_done(&slo->outcomes);
    free(slo);
}

/* ---- Rolling ---- */

static minute *minute_of(const dn_slo *s, uint32_t ago) { return dn_window_slot(&s->minutes, ago); }

static void sketch_add(minute *into, int which, const dn_sketch *came, uint64_t count) {
    into->counts[which] += count;
    if (into->counts[which] <= UINT32_MAX) dn_sketch_merge_few(&into->sketches[which], came);
    else dn_sketch_merge(&into->sketches[which], came);
}

static void sketch_roll(dn_slo *s, int which, const dn_sketch_cells *cells) {
    dn_sketch     *came = &s->sum;
    const uint64_t count = dn_sketch_take(cells, &s->seen.sketches[which], came);

    if (!s->rolled || count == 0) return;
    sketch_add(minute_of(s, 0), which, came, count);
    sketch_add(&s->news, which, came, count);
}

static void level_add(dn_slo_level *into, const dn_slo_level *from, double share) {
    into->watched_us += from->watched_us * share;
    into->area_us += from->area_us * share;
    into->full_us += from->full_us * share;
}

/* Each minute gets as much as there was of it between the two instants. */
static void level_spread(dn_slo *s, int which, const dn_slo_level *passed, int64_t from_ns,
                         int64_t to_ns) {
    for (uint32_t ago = 0; ago <= s->config.window_minutes; ago++) {
        const int64_t begins_ns = (s->minutes.minute - ago) * MINUTE_NS;
        const int64_t ends_ns = begins_ns + MINUTE_NS;
        if (ends_ns <= from_ns) return;
        const int64_t part_ns =
            (to_ns < ends_ns ? to_ns : ends_ns) - (from_ns > begins_ns ? from_ns : begins_ns);
        level_add(&minute_of(s, ago)->levels[which], passed,
                  (double)part_ns / (double)(to_ns - from_ns));
    }
}

/* The writer's clock may be a little behind ours: then the last reading had a part of the old level that a change has
 * taken back since, and a sum may have become less. */
static double sum_passed(uint64_t before, uint64_t now) {
    const int64_t passed = (int64_t)(now - before);

    return passed > 0 ? (double)passed : 0;
}

static void level_roll(dn_slo *s, int which, const dn_meter *meter, int64_t from_ns) {
    const dn_meter_reading before = s->seen.levels[which], now = dn_meter_read(meter, s->now_ns);

    s->seen.levels[which] = now;
    if (!s->rolled || s->now_ns <= from_ns) return;
    const dn_slo_level passed = {
        .watched_us = sum_passed(before.watched_us, now.watched_us),
        .area_us = sum_passed(before.area_us, now.area_us),
        .full_us = sum_passed(before.full_us, now.full_us),
    };
    level_spread(s, which, &passed, from_ns, s->now_ns);
    level_add(&s->news.levels[which], &passed, 1);
}

static uint32_t count_roll(const _Atomic(uint32_t) *cell, uint32_t *seen) {
    const uint32_t now = atomic_load_explicit(cell, memory_order_relaxed), before = *seen;

    *seen = now;
    return now - before;
}

/* Most minutes have none. */
static uint32_t misses_roll(dn_slo *s, const dn_slo_cells *cells) {
    const uint32_t all = atomic_load_explicit(&cells->cutoffs_all, memory_order_acquire);
    uint32_t       came = 0;

    if (all == s->seen.cutoffs_all) return 0;
    s->seen.cutoffs_all = all;
    for (uint32_t due = 0; due < DN_SLO_DUES; due++) {
        const uint32_t misses = count_roll(&cells->cutoffs[due], &s->seen.cutoffs[due]);
        came += misses;
        if (misses > 0 && s->rolled) dn_slo_misses_put(&s->misses, s->outcomes.minute, due, misses);
    }
    return came;
}

static void outcomes_roll(dn_slo *s, const dn_slo_cells *cells) {
    const outcome_minute came = {
        .successes = count_roll(&cells->successes, &s->seen.successes),
        .misses = misses_roll(s, cells),
    };

    if (!s->rolled) return;
    outcome_minute *now = dn_window_slot(&s->outcomes, 0);
    now->successes += came.successes;
    now->misses += came.misses;
    s->outcome_news.successes += came.successes;
    s->outcome_news.misses += came.misses;
}

static void clock_roll(dn_slo *s, int64_t mono_ns) {
    if (!s->rolled) s->first_ns = s->now_ns = mono_ns;
    if (mono_ns > s->now_ns) s->now_ns = mono_ns;
    dn_window_roll(&s->minutes, s->now_ns / NS_OF_MS);
    dn_window_roll(&s->outcomes, s->now_ns / NS_OF_MS);
}

void dn_slo_roll(dn_slo *s, const dn_slo_cells *cells, int64_t mono_ns) {
    const int64_t from_ns = s->now_ns;

    clock_roll(s, mono_ns);
    if (s->status[DN_SLO_TICK_BUDGET].on) sketch_roll(s, TICK_US, &cells->tick_us);
    sketch_roll(s, JOB_US, &cells->job_us);
    level_roll(s, DEPTH, &cells->depth, from_ns);
    level_roll(s, IN_FLIGHT, &cells->in_flight, from_ns);
    outcomes_roll(s, cells);
    if (s->rolled) return;
    s->rolled = true;
    for (int i = 0; i < DN_SLO_NAMES; i++) s->status[i].since_ns = s->first_ns;
}

/* ---- Evaluating ---- */

/* What is written down of one SLO, and said. */
typedef struct evaluation {
    dn_slo        *slo;
    dn_slo_change *changes;
    size_t         len;
} evaluation;

static void conclude(evaluation *r, dn_slo_name name, dn_slo_judgement j, bool counts,
                     uint32_t consecutive) {
    dn_slo_status    *status = &r->slo->status[name];
    dn_slo_streak    *streak = &r->slo->streaks[name];
    const dn_slo_turn turn = dn_slo_streak_step(streak, j.verdict, counts, consecutive);

    status->verdict = j.verdict;
    status->measured = j.measured;
    status->value = j.measured ? j.value : 0;
    status->streak = streak->length;
    if (turn == DN_SLO_STAYS) return;
    status->breached = streak->breached;
    status->since_ns = r->slo->now_ns;
    r->changes[r->len++] = (dn_slo_change){name, streak->breached};
}

/* Of what came since the last evaluation: one is enough. */
static bool is_bad(dn_slo_judgement news) { return news.verdict >= DN_SLO_DOUBT; }

static dn_slo_judgement p95_of_window(dn_slo *s, int which, double max_ms) {
    uint64_t count = 0;

    dn_sketch_clear(&s->sum);
    for (uint32_t ago = 0; ago < s->config.window_minutes; ago++) {
        const minute *m = minute_of(s, ago);
        if (m->counts[which] == 0) continue;
        count += m->counts[which];
        if (count <= UINT32_MAX) dn_sketch_merge_few(&s->sum, &m->sketches[which]);
        else dn_sketch_merge(&s->sum, &m->sketches[which]);
    }
    return dn_slo_judge_p95(&s->sum, max_ms);
}

static void evaluate_p95(evaluation *r, dn_slo_name name, int which) {
    dn_slo      *s = r->slo;
    const double max_ms = s->status[name].threshold;

    if (!s->status[name].on) return;
    const dn_slo_judgement j = p95_of_window(s, which, max_ms);
    const dn_slo_judgement news = dn_slo_judge_p95(&s->news.sketches[which], max_ms);
    conclude(r, name, j, is_bad(news) || j.mostly, s->config.breach_consecutive);
}

static dn_slo_level level_sum(const dn_slo *s, int which) {
    dn_slo_level sum = {0};

    for (uint32_t ago = 0; ago < s->config.window_minutes; ago++)
        level_add(&sum, &minute_of(s, ago)->levels[which], 1);
    return sum;
}

static void evaluate_saturation(evaluation *r) {
    const dn_slo          *s = r->slo;
    const dn_slo_level     sum = level_sum(s, IN_FLIGHT);
    const double           max = s->config.sat_ratio;
    const dn_slo_judgement j =
        dn_slo_judge_saturation(&sum, max, s->config.window_minutes * MINUTE_US / 2);
    const dn_slo_judgement news = dn_slo_judge_saturation(&s->news.levels[IN_FLIGHT], max, 0);

    conclude(r, DN_SLO_SATURATION, j, is_bad(news) || j.mostly, s->config.breach_consecutive);
}

static void evaluate_queue(evaluation *r) {
    dn_slo            *s = r->slo;
    dn_slo_status     *status = &s->status[DN_SLO_QUEUE_PRESSURE];
    const uint32_t     window = s->config.window_minutes;
    const double       max = s->config.depth_avg_max;
    const dn_slo_level sum = level_sum(s, DEPTH);
    dn_slo_judgement   j = dn_slo_judge_average(&sum, max, window * MINUTE_US / 2);
    const bool         bad = is_bad(dn_slo_judge_average(&s->news.levels[DEPTH], max, 0));

    for (uint32_t i = 0; i < window; i++)
        s->whole_minutes[i] = minute_of(s, window - i)->levels[DEPTH];
    status->rise = 0;
    status->rising = dn_slo_rises(s->whole_minutes, window, max / 10, &status->rise);
    if (status->rising) j.verdict = DN_SLO_BREACH;
    conclude(r, DN_SLO_QUEUE_PRESSURE, j, bad || status->rising, s->config.breach_consecutive);
}

static dn_slo_outcomes outcomes_sum(const dn_slo *s, uint32_t minutes) {
    dn_slo_outcomes sum = {0};

    for (uint32_t ago = 0; ago < minutes; ago++) {
        const outcome_minute *m = dn_window_slot(&s->outcomes, ago);
        sum.missed += m->misses;
        sum.all += (uint64_t)m->misses + m->successes;
    }
    return sum;
}

static void status_outcomes(dn_slo *s, dn_slo_name name, uint32_t minutes, dn_slo_outcomes sum) {
    dn_slo_status *status = &s->status[name];

    status->window_minutes = minutes;
    status->misses = sum.missed;
    status->finalizations = sum.all;
    status->worst_due =
        dn_slo_misses_worst(&s->misses, s->outcomes.minute - minutes + 1, &status->worst_misses);
}

/* One span of the miss rate. */
typedef struct rate_of_span {
    uint32_t         minutes;
    dn_slo_outcomes  outcomes;
    dn_slo_judgement judgement;
} rate_of_span;

static rate_of_span rate_over(const dn_slo *s, uint32_t minutes) {
    const dn_slo_outcomes sum = outcomes_sum(s, minutes);

    return (rate_of_span){minutes, sum,
                          dn_slo_judge_rate(sum.missed, sum.all, s->config.cutoff_rate_max)};
}

/* The window decides; if it doubts, a longer span may say that it is a breach. While breached it is the span that was
 * warned of. */
static rate_of_span rate_to_judge(const dn_slo *s) {
    static const uint32_t longer[] = {DAY, OUTCOME_MINUTES};
    const rate_of_span first = rate_over(s, s->rate_span ? s->rate_span : s->config.window_minutes);

    if (s->rate_span || first.judgement.verdict != DN_SLO_DOUBT) return first;
    for (int i = 0; i < 2; i++) {
        const rate_of_span of_more = rate_over(s, longer[i]);
        if (of_more.judgement.verdict == DN_SLO_BREACH) return of_more;
    }
    return first;
}

static void evaluate_rate(evaluation *r) {
    dn_slo              *s = r->slo;
    const outcome_minute news = s->outcome_news;
    const uint64_t       came = (uint64_t)news.misses + news.successes;
    const rate_of_span   rate = rate_to_judge(s);
    const bool counts = rate.judgement.mostly || rate.minutes > s->config.window_minutes ||
                        is_bad(dn_slo_judge_rate(news.misses, came, s->config.cutoff_rate_max));

    status_outcomes(s, DN_SLO_CUTOFF_MISS_RATE, rate.minutes, rate.outcomes);
    conclude(r, DN_SLO_CUTOFF_MISS_RATE, rate.judgement, counts, s->config.breach_consecutive);
    s->rate_span = s->status[DN_SLO_CUTOFF_MISS_RATE].breached ? rate.minutes : 0;
}

static void evaluate_burn(evaluation *r, dn_slo_name name, const dn_slo_burn_pair *pair) {
    dn_slo *s = r->slo;

    if (!s->status[name].on) return;
    const dn_slo_outcomes longer = outcomes_sum(s, pair->long_minutes);
    dn_slo_judgement      j = dn_slo_judge_burn(outcomes_sum(s, pair->short_minutes), longer,
                                                1 - s->config.cutoff_objective, pair->factor);
    if (s->now_ns - s->first_ns < pair->short_minutes * MINUTE_NS) j.verdict = DN_SLO_NO_VERDICT;
    status_outcomes(s, name, pair->long_minutes, longer);
    conclude(r, name, j, /* counts: */ true, /* consecutive: */ 1);
}

size_t dn_slo_evaluate(dn_slo *s, int64_t mono_ns, dn_slo_change out_changes[DN_SLO_NAMES]) {
    evaluation r = {.slo = s, .changes = out_changes};

    assert(s->rolled);
    clock_roll(s, mono_ns);
    evaluate_p95(&r, DN_SLO_TICK_BUDGET, TICK_US);
    evaluate_saturation(&r);
    evaluate_queue(&r);
    evaluate_p95(&r, DN_SLO_JOB_LATENCY, JOB_US);
    evaluate_rate(&r);
    evaluate_burn(&r, DN_SLO_CUTOFF_BURN_FAST, &dn_slo_burn_fast);
    evaluate_burn(&r, DN_SLO_CUTOFF_BURN_SLOW, &dn_slo_burn_slow);
    minute_clear(&s->news);
    s->outcome_news = (outcome_minute){0};
    return r.len;
}

const dn_slo_status *dn_slo_status_borrow(const dn_slo *slo, dn_slo_name name) {
    assert(name < DN_SLO_NAMES);
    return &slo->status[name];
}
