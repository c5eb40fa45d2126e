/* slo_history.c - counts, rolled into minutes. Whatever differs by kind stands in one table. */
#include "slo_history.h"

#include "diurnal/runtime.h"
#include "meter.h"
#include "window.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { NS_OF_MS = 1000000, LINE = 64 };
#define MINUTE_NS (INT64_C(60) * 1000 * NS_OF_MS)

/* Counts since the history was made. They wrap: only the difference of two readings is used. */
typedef struct outcome_cells {
    _Atomic(uint32_t) good, bad, bad_of[DN_SLO_GROUPS];
} outcome_cells;

/* One minute, or the news. A minute has only the bytes of its kind. */
typedef union minute {
    dn_sketch       durations;
    dn_slo_level    level;
    dn_slo_outcomes outcomes;
} minute;

struct dn_slo_history {
    /* Set before it listens. */
    const dn_slo_source *source;
    const dn_event
        *event; /* a handler is also called for events whose name begins with its event's */
    int  value_at, beside_at, filter_at; /* beside: the ceiling or the group; -1: none */

    /* Written by the thread that emits, without a locked instruction. */
    _Alignas(LINE) union {
        dn_sketch_cells durations;
        dn_meter        level;
        outcome_cells   outcomes;
    } cells;

    /* The watcher's. */
    _Alignas(LINE) dn_telemetry_id id;
    int64_t   first_ns, now_ns;
    dn_window minutes;
    union { /* what the cells held at the last roll */
        dn_sketch        durations;
        dn_meter_reading level;
        struct {
            uint32_t good, bad, bad_of[DN_SLO_GROUPS];
        } outcomes;
    } seen;
    minute         news;
    dn_sketch      sum;    /* scratch */
    dn_slo_misses *misses; /* with groups */
};

/* ---- Counting, on the thread that emits ---- */

/* A store is enough, because no other thread writes the count. */
static void count_one(_Atomic(uint32_t) *count, memory_order order) {
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + 1, order);
}

void dn_slo_took(dn_slo_history *h, int64_t duration_us) {
    dn_sketch_add_alone(&h->cells.durations, duration_us > 0 ? (uint64_t)duration_us : 0);
}

void dn_slo_level_is(dn_slo_history *h, uint64_t level, uint64_t ceiling, int64_t now_ns) {
    dn_meter_set(&h->cells.level, level, ceiling, now_ns);
}

void dn_slo_ended(dn_slo_history *h, bool good, uint32_t group) {
    outcome_cells *cells = &h->cells.outcomes;

    assert(group < DN_SLO_GROUPS);
    if (good) {
        count_one(&cells->good, memory_order_relaxed);
        return;
    }
    count_one(&cells->bad_of[group], memory_order_relaxed);
    count_one(&cells->bad, memory_order_release); /* pairs with bad_roll */
}

static bool is_counted(const dn_slo_history *h, const dn_event *event, const dn_value *values) {
    return event == h->event && (h->filter_at < 0 || h->source->passes(values[h->filter_at]));
}

static int count_duration(void *context, const dn_event *event, const dn_value *values) {
    dn_slo_history *h = context;

    if (is_counted(h, event, values)) dn_slo_took(h, (int64_t)(values[h->value_at].real * 1e3));
    return DN_OK;
}

static uint64_t beside(const dn_slo_history *h, const dn_value *values) {
    return h->beside_at < 0 ? 0 : (uint64_t)values[h->beside_at].integer;
}

static int count_level(void *context, const dn_event *event, const dn_value *values) {
    dn_slo_history *h = context;

    if (is_counted(h, event, values))
        dn_slo_level_is(h, (uint64_t)values[h->value_at].integer, beside(h, values),
                        dn_thread_mono_ns());
    return DN_OK;
}

static int count_outcome(void *context, const dn_event *event, const dn_value *values) {
    dn_slo_history *h = context;

    if (is_counted(h, event, values))
        dn_slo_ended(h, h->source->is_good(values[h->value_at]), (uint32_t)beside(h, values));
    return DN_OK;
}

/* ---- Rolling ---- */

static minute *minute_ago(const dn_slo_history *h, uint32_t ago) {
    minute *m = dn_window_slot(&h->minutes, ago);

    assert(m);
    return m;
}

static void durations_roll(dn_slo_history *h, int64_t from_ns) {
    (void)from_ns;
    if (dn_sketch_take(&h->cells.durations, &h->seen.durations, &h->sum) == 0) return;
    dn_sketch_merge(&minute_ago(h, 0)->durations, &h->sum);
    dn_sketch_merge(&h->news.durations, &h->sum);
}

static void level_add(dn_slo_level *into, const dn_slo_level *from, double share) {
    into->watched_us += from->watched_us * share;
    into->area_us += from->area_us * share;
    into->full_us += from->full_us * share;
}

/* Each minute gets its part of the time since the last roll. */
static void level_spread(dn_slo_history *h, const dn_slo_level *passed, int64_t from_ns) {
    for (uint32_t ago = 0; ago < h->minutes.minutes; ago++) {
        const int64_t begins_ns = (h->minutes.minute - ago) * MINUTE_NS;
        const int64_t ends_ns = begins_ns + MINUTE_NS;
        if (ends_ns <= from_ns) return;
        const int64_t part_ns = (h->now_ns < ends_ns ? h->now_ns : ends_ns) -
                                (from_ns > begins_ns ? from_ns : begins_ns);
        level_add(&minute_ago(h, ago)->level, passed,
                  (double)part_ns / (double)(h->now_ns - from_ns));
    }
}

/* The emitter's clock may be a little behind: then a change has taken back part of what the last reading had, and a sum
 * has become less. */
static double sum_passed(uint64_t before, uint64_t now) {
    const int64_t passed = (int64_t)(now - before);

    return passed > 0 ? (double)passed : 0;
}

static void level_roll(dn_slo_history *h, int64_t from_ns) {
    const dn_meter_reading before = h->seen.level, now = dn_meter_read(&h->cells.level, h->now_ns);

    h->seen.level = now;
    if (h->now_ns <= from_ns) return;
    const dn_slo_level passed = {
        .watched_us = sum_passed(before.watched_us, now.watched_us),
        .area_us = sum_passed(before.area_us, now.area_us),
        .full_us = sum_passed(before.full_us, now.full_us),
    };
    level_spread(h, &passed, from_ns);
    level_add(&h->news.level, &passed, 1);
}

static uint32_t count_roll(const _Atomic(uint32_t) *cell, uint32_t *seen) {
    const uint32_t now = atomic_load_explicit(cell, memory_order_acquire), before = *seen;

    *seen = now;
    return now - before;
}

/* Groups are looked at only if there is a bad outcome, because most minutes have none. A group's count is written before
 * the sum of all: a bad one that is missing here comes with the next roll. */
static uint32_t bad_roll(dn_slo_history *h) {
    outcome_cells *cells = &h->cells.outcomes;
    uint32_t       sum = 0;

    if (count_roll(&cells->bad, &h->seen.outcomes.bad) == 0) return 0;
    for (uint32_t group = 0; group < (h->misses ? DN_SLO_GROUPS : 1); group++) {
        const uint32_t bad = count_roll(&cells->bad_of[group], &h->seen.outcomes.bad_of[group]);
        sum += bad;
        if (bad > 0 && h->misses) dn_slo_misses_put(h->misses, h->minutes.minute, group, bad);
    }
    return sum;
}

static void outcomes_add(dn_slo_outcomes *into, dn_slo_outcomes more) {
    into->bad += more.bad;
    into->all += more.all;
}

static void outcomes_roll(dn_slo_history *h, int64_t from_ns) {
    const uint32_t        good = count_roll(&h->cells.outcomes.good, &h->seen.outcomes.good);
    const uint32_t        bad = bad_roll(h);
    const dn_slo_outcomes passed = {.bad = bad, .all = (uint64_t)good + bad};

    (void)from_ns;
    outcomes_add(&minute_ago(h, 0)->outcomes, passed);
    outcomes_add(&h->news.outcomes, passed);
}

static void durations_clear(void *slot) { dn_sketch_clear(slot); }

static void level_clear(void *slot) { *(dn_slo_level *)slot = (dn_slo_level){0}; }

static void outcomes_clear(void *slot) { *(dn_slo_outcomes *)slot = (dn_slo_outcomes){0}; }

static const struct {
    dn_telemetry_fn *count;
    void (*roll)(dn_slo_history *h, int64_t from_ns);
    dn_window_clear *clear;
    size_t           minute_size;
} kinds[] = {
    [DN_SLO_DURATIONS] = {count_duration, durations_roll, durations_clear, sizeof(dn_sketch)},
    [DN_SLO_LEVEL] = {count_level, level_roll, level_clear, sizeof(dn_slo_level)},
    [DN_SLO_OUTCOMES] = {count_outcome, outcomes_roll, outcomes_clear, sizeof(dn_slo_outcomes)},
};

/* ---- Its life ---- */

static bool source_is_sound(const dn_slo_source *s) {
    if (!s->event || !s->value.name || (!s->passes) != (!s->filter.name)) return false;
    switch (s->kind) {
    case DN_SLO_DURATIONS: return s->value.type == DN_REAL && !s->ceiling && !s->group;
    case DN_SLO_LEVEL: return s->value.type == DN_INTEGER && !s->group;
    case DN_SLO_OUTCOMES: return s->is_good && !s->ceiling;
    }
    return false;
}

static bool history_is_sound(const dn_slo_history *h) {
    return h->minutes.rolled && h->first_ns <= h->now_ns &&
           h->minutes.minute == h->now_ns / MINUTE_NS &&
           (h->misses != NULL) == (h->source->group != NULL);
}

int dn_slo_history_new(const dn_slo_source *source, uint32_t minutes, int64_t mono_ns,
                       dn_slo_history **out_history) {
    if (!source_is_sound(source)) return DN_EINVAL;
    dn_slo_history *h = aligned_alloc(_Alignof(dn_slo_history), sizeof *h);
    if (!h) return DN_ENOMEM;
    memset(h, 0, sizeof *h);
    h->source = source;
    h->first_ns = h->now_ns = mono_ns;
    /* One more, because the current minute is not a whole one. */
    int rc = dn_window_init(&h->minutes, minutes + 1, kinds[source->kind].minute_size,
                            kinds[source->kind].clear);
    if (rc == DN_OK && source->group && !(h->misses = calloc(1, sizeof *h->misses))) rc = DN_ENOMEM;
    if (rc < 0) {
        dn_slo_history_free(h);
        return rc;
    }
    dn_window_roll(&h->minutes, mono_ns / NS_OF_MS);
    assert(history_is_sound(h));
    *out_history = h;
    return DN_OK;
}

void dn_slo_history_free(dn_slo_history *h) {
    if (!h) return;
    /* Waits for calls under way, so the cells may go after it. */
    if (h->id) (void)dn_telemetry_detach(h->id);
    dn_window_done(&h->minutes);
    free(h->misses);
    free(h);
}

/* Where a value stands; -1 without a name. */
static int field_find(const dn_event *event, dn_slo_field field, int *out_at) {
    const int at = field.name ? dn_event_field(event, field.name, field.type) : -1;

    if (field.name && at < 0) return at;
    *out_at = at;
    return DN_OK;
}

int dn_slo_history_listen(dn_slo_history *h) {
    const dn_slo_source *s = h->source;
    const dn_slo_field   with = {s->group ? s->group->number : s->ceiling, DN_INTEGER};
    int                  rc;

    assert(h->id == 0);
    h->event = dn_event_find(s->event);
    if (!h->event) return DN_EINVAL;
    if ((rc = field_find(h->event, s->value, &h->value_at)) < 0) return rc;
    if ((rc = field_find(h->event, with, &h->beside_at)) < 0) return rc;
    if ((rc = field_find(h->event, s->filter, &h->filter_at)) < 0) return rc;
    return dn_telemetry_attach("slo", s->event, kinds[s->kind].count, h, &h->id);
}

void dn_slo_history_roll(dn_slo_history *h, int64_t mono_ns) {
    const int64_t from_ns = h->now_ns;

    assert(history_is_sound(h));
    if (mono_ns > h->now_ns) h->now_ns = mono_ns;
    dn_window_roll(&h->minutes, h->now_ns / NS_OF_MS);
    kinds[h->source->kind].roll(h, from_ns);
    assert(history_is_sound(h));
}

void dn_slo_history_forget_news(dn_slo_history *h) { kinds[h->source->kind].clear(&h->news); }

/* ---- For judges ---- */

const dn_sketch *dn_slo_history_durations(dn_slo_history *h, uint32_t minutes) {
    if (minutes == DN_SLO_NEWS) return &h->news.durations;
    dn_sketch_clear(&h->sum);
    for (uint32_t ago = 0; ago < minutes; ago++)
        dn_sketch_merge(&h->sum, &minute_ago(h, ago)->durations);
    return &h->sum;
}

dn_slo_level dn_slo_history_level_ago(const dn_slo_history *h, uint32_t minutes_ago) {
    return minute_ago(h, minutes_ago)->level;
}

dn_slo_level dn_slo_history_level(const dn_slo_history *h, uint32_t minutes) {
    dn_slo_level sum = {0};

    if (minutes == DN_SLO_NEWS) return h->news.level;
    for (uint32_t ago = 0; ago < minutes; ago++) level_add(&sum, &minute_ago(h, ago)->level, 1);
    return sum;
}

dn_slo_outcomes dn_slo_history_outcomes(const dn_slo_history *h, uint32_t minutes) {
    dn_slo_outcomes sum = {0};

    if (minutes == DN_SLO_NEWS) return h->news.outcomes;
    for (uint32_t ago = 0; ago < minutes; ago++) outcomes_add(&sum, minute_ago(h, ago)->outcomes);
    return sum;
}

int32_t dn_slo_history_worst(dn_slo_history *h, uint32_t minutes, uint64_t *out_bad) {
    *out_bad = 0;
    if (!h->misses) return -1;
    return dn_slo_misses_worst(h->misses, h->minutes.minute - minutes + 1, out_bad);
}

bool dn_slo_history_covers(const dn_slo_history *h, uint32_t minutes) {
    return h->now_ns - h->first_ns >= minutes * MINUTE_NS;
}
