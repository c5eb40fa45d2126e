/* slo_series_test.c - two hundred labelled series, drawn from the seed: what must be warned of, how soon, and what never.
 * A series is a healthy service with one trouble in it. Evaluations fall at any sixth of a minute, late by up to 300 ms. Of
 * every SLO the series names, the label says when; of all others: never. */
#include "slo_rig.h"

/* Of each kind; under a sanitizer one does. */
enum { EACH = TEST_SLOW_FACTOR > 1 ? 1 : 8 };
enum { MINUTES = 110, HEALTHY = 25, DAY = 1440, WINDOW = 15 };

/* ---- A series ---- */

typedef struct label {
    bool warns;  /* else never */
    int  within; /* evaluations that end a whole minute of the trouble */
    bool stays;  /* it does not recover: nothing better was seen */
} label;

typedef struct series {
    const char *kind;
    uint64_t    random;
    int minutes, from, until; /* the trouble: from its first minute to the one after its last */
    uint32_t phase;           /* evaluated behind this slice */
    plan     base;
    double   share; /* how bad */
    uint64_t depth;
    uint32_t n;
    label    labels[DN_DAILY_SLOS];
    /* What this minute is like, and what befalls the process at its beginning. */
    void (*plays)(struct series *s, int minute, plan *p);
    int restarts_at, stalls_at; /* -1: never */
} series;

static uint32_t drawn(series *s, uint32_t least, uint32_t most) {
    return least + (uint32_t)(test_random(&s->random) % (most - least + 1));
}

static bool in_trouble(const series *s, int minute) {
    return minute >= s->from && minute < s->until;
}

static void must(series *s, size_t name, int within) {
    s->labels[name] = (label){.warns = true, .within = within};
}

/* ---- The kinds: draw_x says what is drawn, x_plays what a minute of it is ---- */

static void healthy_plays(series *s, int minute, plan *p) { (void)s, (void)minute, (void)p; }

static void draw_healthy(series *s) { s->plays = healthy_plays; }

static void draw_nothing_but_ticks(series *s) {
    s->plays = healthy_plays;
    s->base = (plan){.ticks = 1, .tick_ms = 1};
}

static void night_plays(series *s, int minute, plan *p) {
    if (in_trouble(s, minute)) *p = (plan){.ticks = 1, .tick_ms = 1};
}

static void draw_quiet_night(series *s) { s->plays = night_plays; }

static void outage_plays(series *s, int minute, plan *p) {
    if (!in_trouble(s, minute)) return;
    p->misses = p->successes;
    p->successes = 0;
    p->slow_jobs = p->jobs;
    p->jobs = 0;
    p->slow_ms = 60000;
    p->full_mille = 1000;
}

static void draw_outage(series *s) {
    s->plays = outage_plays;
    s->until = s->from + (int)drawn(s, 20, 40);
    must(s, DN_DAILY_CUTOFF_MISS_RATE, 3);
    must(s, DN_DAILY_JOB_LATENCY, 3);
    must(s, DN_DAILY_SATURATION, WINDOW + 3);
}

static void draw_short_outage(series *s) {
    draw_outage(s);
    s->until = s->from + (int)drawn(s, 4, 8);
    s->labels[DN_DAILY_SATURATION] = (label){0};
}

static void draw_outage_to_the_end(series *s) {
    draw_outage(s);
    s->until = s->minutes;
}

static void draw_outage_from_the_start(series *s) {
    draw_outage(s);
    s->from = 0;
}

static void thin_plays(series *s, int minute, plan *p) {
    p->successes = p->jobs = 1;
    outage_plays(s, minute, p);
    p->full_mille = 0;
}

static void draw_outage_of_one_a_minute(series *s) {
    draw_outage(s);
    s->plays = thin_plays;
    s->labels[DN_DAILY_SATURATION] = (label){0};
}

static void misses_play(series *s, int minute, plan *p) {
    if (!in_trouble(s, minute)) return;
    p->misses = s->n;
    p->successes = 400 - s->n;
}

static void draw_misses_just_above(series *s) {
    s->plays = misses_play;
    s->base.successes = 400;
    s->n = drawn(s, 5, 7); /* of 400: 1.25 % and more */
    s->until = s->from + (int)drawn(s, 25, 40);
    must(s, DN_DAILY_CUTOFF_MISS_RATE, WINDOW + 3);
}

static void draw_misses_just_below(series *s) {
    s->plays = misses_play;
    s->base.successes = 400;
    s->n = drawn(s, 1, 4); /* 1 % is not above 1 % */
    s->until = s->from + 40;
}

static void blip_plays(series *s, int minute, plan *p) {
    if ((minute - s->from) % (2 * WINDOW) != 0 || minute < s->from) return;
    outage_plays(s, s->from, p);
    p->depth_from = p->depth_to = 1000000;
    p->tick_ms = 5000;
}

static void draw_blip(series *s) {
    s->plays = blip_plays;
    s->minutes = s->from + 2 * WINDOW;
    s->base.ticks = 1;
}

static void draw_blip_each_half_hour(series *s) {
    s->plays = blip_plays;
    s->base.ticks = 1;
}

static void ticks_play(series *s, int minute, plan *p) {
    if (in_trouble(s, minute)) p->tick_ms = s->n;
}

static void draw_slow_ticks(series *s) {
    s->plays = ticks_play;
    s->n = drawn(s, 306, 5000);
    s->until = s->from + (int)drawn(s, 3, 30);
    must(s, DN_DAILY_TICK_BUDGET, 3);
}

static void draw_ticks_just_within(series *s) {
    s->plays = ticks_play;
    s->n = drawn(s, 290, 300);
    s->until = s->minutes;
}

static void slow_jobs_play(series *s, int minute, plan *p) {
    if (!in_trouble(s, minute)) return;
    p->slow_jobs = s->n;
    p->jobs = 100 - s->n;
    p->slow_ms = 31000;
}

static void draw_slow_jobs_just_above(series *s) {
    s->plays = slow_jobs_play;
    s->base.jobs = 100;
    s->n = drawn(s, 6, 12);
    s->until = s->from + (int)drawn(s, 25, 40);
    must(s, DN_DAILY_JOB_LATENCY, WINDOW + 3);
}

static void draw_slow_jobs_just_below(series *s) {
    s->plays = slow_jobs_play;
    s->base.jobs = 100;
    s->n = drawn(s, 1, 5);
    s->until = s->minutes;
}

static void draw_jobs_at_the_threshold(series *s) {
    s->plays = healthy_plays;
    s->base.job_ms = 30000;
}

static void saw_plays(series *s, int minute, plan *p) {
    p->depth_from = s->depth * (uint64_t)(minute % (int)s->n) / s->n;
    p->depth_to = s->depth * (uint64_t)(minute % (int)s->n + 1) / s->n;
}

static void draw_sawtooth(series *s) {
    s->plays = saw_plays;
    s->n = drawn(s, 2, 13);
    s->depth = drawn(s, 2000, 15000);
}

static void deep_plays(series *s, int minute, plan *p) {
    if (in_trouble(s, minute)) p->depth_from = p->depth_to = s->depth;
}

static void draw_very_deep_queue(series *s) {
    s->plays = deep_plays;
    s->depth = drawn(s, 170000, 10000000);
    s->until = s->from + (int)drawn(s, 4, 30);
    must(s, DN_DAILY_QUEUE_PRESSURE, 3);
}

static void draw_queue_just_too_deep(series *s) {
    s->plays = deep_plays;
    s->depth = drawn(s, 10500, 12000);
    s->until = s->from + (int)drawn(s, 25, 40);
    must(s, DN_DAILY_QUEUE_PRESSURE, WINDOW + 3);
}

static void draw_queue_just_not_too_deep(series *s) {
    s->plays = deep_plays;
    s->depth = drawn(s, 8000, 9900);
    s->until = s->minutes;
}

static void rise_plays(series *s, int minute, plan *p) {
    if (!in_trouble(s, minute)) return;
    p->depth_from = 500 + (uint64_t)(minute - s->from) * s->depth;
    p->depth_to = p->depth_from + s->depth;
}

static void draw_slow_rise(series *s) {
    s->plays = rise_plays;
    s->depth = drawn(s, 80, 250);
    s->until = s->from + (int)drawn(s, 25, 35);
    must(s, DN_DAILY_QUEUE_PRESSURE, WINDOW + 4);
}

static void draw_rise_too_small_to_matter(series *s) {
    s->plays = rise_plays;
    s->depth = drawn(s, 1, 30); /* and up to 500 by chance at its beginning */
    s->until = s->minutes;
}

static void full_plays(series *s, int minute, plan *p) {
    if (!in_trouble(s, minute)) return;
    p->full_mille = s->n;
    p->flickers = (uint32_t)s->depth;
}

static void draw_saturation(series *s) {
    s->plays = full_plays;
    s->n = drawn(s, 880, 1000);
    s->depth = drawn(s, 0, 100);
    s->until = s->from + (int)drawn(s, 25, 40);
    must(s, DN_DAILY_SATURATION, WINDOW + 4);
}

static void draw_busy_but_not_saturated(series *s) {
    s->plays = full_plays;
    s->n = drawn(s, 600, 790);
    s->depth = drawn(s, 0, 300);
    s->until = s->minutes;
}

static void herd_plays(series *s, int minute, plan *p) {
    p->successes = 0;
    if (minute == s->from) p->misses = s->n;
}

static void draw_herd_that_missed(series *s) {
    s->plays = herd_plays;
    s->n = drawn(s, SLICES * 3, 5000);
    must(s, DN_DAILY_CUTOFF_MISS_RATE, 3);
    s->labels[DN_DAILY_CUTOFF_MISS_RATE].stays = true;
}

static void served_herd_plays(series *s, int minute, plan *p) {
    if (minute < s->from || minute >= s->from + 2) return;
    p->successes = 100000;
    p->jobs = 50000;
    p->depth_from = p->depth_to = minute == s->from ? 50000 : 0;
    p->full_mille = 1000;
}

static void draw_herd_that_was_served(series *s) { s->plays = served_herd_plays; }

static void draw_outage_over_a_restart(series *s) {
    draw_outage(s);
    s->restarts_at = s->from = (int)drawn(s, 20, 40);
    s->until = s->from + 30;
}

static void draw_restart(series *s) {
    s->plays = healthy_plays;
    s->restarts_at = (int)drawn(s, 1, 60);
}

static void draw_stall(series *s) {
    s->plays = healthy_plays;
    s->stalls_at = (int)drawn(s, 1, 60);
    s->n = drawn(s, 1, 3 * DAY);
}

static void one_user_plays(series *s, int minute, plan *p) {
    *p = (plan){.ticks = 1, .tick_ms = 1};
    if (minute % DAY != s->from) return;
    p->due = (uint32_t)s->from;
    if (minute / DAY == (int)s->n) p->misses = 1;
    else p->successes = 1;
}

static void draw_one_user_missed_once(series *s) {
    s->plays = one_user_plays;
    s->minutes = 2 * DAY;
    s->from = (int)drawn(s, 0, DAY - 1);
    s->n = drawn(s, 0, 1);
}

typedef struct kind {
    const char *name;
    void (*draw)(series *s);
} kind;
#define KIND(name)                                                                                 \
    { #name, draw_##name }
static const kind kinds[] = {
    KIND(healthy),
    KIND(nothing_but_ticks),
    KIND(quiet_night),
    KIND(outage),
    KIND(short_outage),
    KIND(outage_to_the_end),
    KIND(outage_from_the_start),
    KIND(outage_of_one_a_minute),
    KIND(misses_just_above),
    KIND(misses_just_below),
    KIND(blip),
    KIND(blip_each_half_hour),
    KIND(slow_ticks),
    KIND(ticks_just_within),
    KIND(slow_jobs_just_above),
    KIND(slow_jobs_just_below),
    KIND(jobs_at_the_threshold),
    KIND(sawtooth),
    KIND(very_deep_queue),
    KIND(queue_just_too_deep),
    KIND(queue_just_not_too_deep),
    KIND(slow_rise),
    KIND(rise_too_small_to_matter),
    KIND(saturation),
    KIND(busy_but_not_saturated),
    KIND(herd_that_missed),
    KIND(herd_that_was_served),
    KIND(outage_over_a_restart),
    KIND(restart),
    KIND(stall),
    KIND(one_user_missed_once),
};
enum { KINDS = sizeof kinds / sizeof *kinds };
_Static_assert(KINDS *EACH >= 200 || TEST_SLOW_FACTOR > 1, "two hundred series");

/* ---- Playing it, and looking at what was said ---- */

static series series_of(const kind *k, uint64_t seed) {
    series s = {
        .kind = k->name, .random = seed, .minutes = MINUTES, .restarts_at = -1, .stalls_at = -1};

    s.from = (int)drawn(&s, HEALTHY, HEALTHY + 10);
    s.until = s.from + 1;
    s.phase = drawn(&s, 0, SLICES - 1);
    s.base = (plan){
        .ticks = drawn(&s, 0, 1) ? 1 : SLICES,
        .tick_ms = drawn(&s, 1, 100),
        .jobs = drawn(&s, 60, 300),
        .job_ms = drawn(&s, 1, 5000),
        .successes = drawn(&s, 60, 300),
        .full_mille = drawn(&s, 0, 300),
    };
    s.random += test_random(&s.random);
    k->draw(&s);
    return s;
}

static void play_minute(series *s, rig *r, int minute) {
    plan p = s->base;

    p.depth_from = drawn(s, 0, 500);
    p.depth_to = drawn(s, 0, 500);
    p.due = (uint32_t)minute % DAY;
    p.rolls_each_slice = drawn(s, 0, 9) == 0;
    s->plays(s, minute, &p);
    if (minute == s->restarts_at) rig_restart(r);
    if (minute == s->stalls_at) r->now_ns += (int64_t)s->n * MINUTE_NS;
    for (uint32_t slice = 0; slice < SLICES; slice++) {
        rig_slice(r, &p, slice);
        if (slice != s->phase) continue;
        r->now_ns += (int64_t)drawn(s, 0, 300) * 1000000;
        rig_evaluate(r);
    }
}

static const char *const names[DN_DAILY_SLOS] = {
    "tick_budget",      "saturation",       "queue_pressure",  "job_latency",
    "cutoff_miss_rate", "cutoff_burn_fast", "cutoff_burn_slow"};

static void check_said(bool right, const series *s, size_t name, const char *what, int n) {
    CHECK_MSG(right, "%s, phase %u, trouble %d to %d: %s %s %d", s->kind, s->phase, s->from,
              s->until, names[name], what, n);
}

static void check_label(const series *s, const rig *r, size_t name) {
    const label *l = &s->labels[name];
    /* The first that counts is the one that ends a whole minute of it. */
    const int  first = s->from + (s->phase == SLICES - 1 ? 0 : 1);
    const bool recovers = s->until <= s->minutes - 2 * WINDOW && !l->stays;
    const int  warned_at = r->warned_at[name], recovered_at = r->recovered_at[name];

    check_said(r->warned[name] == l->warns, s, name, "warnings", r->warned[name]);
    if (!l->warns) return;
    check_said(warned_at >= s->from && warned_at < first + l->within, s, name, "warned at",
               warned_at);
    check_said(r->recovered[name] == recovers, s, name, "recoveries", r->recovered[name]);
    if (!recovers) return;
    check_said(recovered_at >= s->until && recovered_at <= s->until + WINDOW + 1, s, name,
               "recovered at", recovered_at);
}

TEST(of_more_than_two_hundred_labelled_series_every_one_is_judged_right) {
    uint64_t random = test_seed();
    int      warned[DN_DAILY_SLOS] = {0};

    for (int i = 0; i < KINDS * EACH; i++) {
        series s = series_of(&kinds[i % KINDS], test_random(&random));
        rig   *r = rig_new();
        for (int minute = 0; minute < s.minutes; minute++) play_minute(&s, r, minute);
        for (size_t name = 0; name < DN_DAILY_SLOS; name++) {
            check_label(&s, r, name);
            warned[name] += r->warned[name];
        }
        rig_free(r);
    }
    for (size_t name = 0; name <= DN_DAILY_CUTOFF_MISS_RATE; name++)
        CHECK_MSG(warned[name] >= EACH, "%s", names[name]);
}
