/* report.c - counts what a run says. */
#include "report_parts.h"

#include <assert.h>
#include <stdlib.h>

int report_new(int64_t start_ms, report **out_report) {
    report *r = calloc(1, sizeof *r);

    assert(out_report);
    if (!r) return DN_ENOMEM;
    r->start_ms = start_ms;
    axis_init(&r->axis);
    *out_report = r;
    return DN_OK;
}

void *report_free(report *r) {
    free(r);
    return NULL;
}

void report_freep(report **r) { *r = report_free(*r); }

static void day_ended(report *r, const dn_happening *h, day_end end, uint64_t times) {
    r->totals.ends[end] += times;
    days_end(&r->days, h, end, times);
}

/* What happened, and when: the axis has moved there. */
static inline void count(report *r, const event *e, uint64_t times) {
    axis_to(&r->axis, e->steady_ms);
    r->totals.happened[e->kind] += times;
}

void report_enqueued(report *r, const event *e, uint64_t times) {
    count(r, e, times);
    axis_enqueued(&r->axis, times);
}

void report_started(report *r, const event *e, uint64_t times) {
    count(r, e, times);
    axis_started(&r->axis, times);
    days_start(&r->days, e->h->day, times);
}

void report_stopped(report *r, const event *e, uint64_t times) {
    const dn_happening *h = e->h;
    const int64_t       took_ms = h->duration_ms > 0 ? h->duration_ms : 0;

    assert(h->outcome >= DN_OUTCOME_OK && h->outcome <= DN_OUTCOME_TIMEOUT);
    count(r, e, times);
    axis_stopped(&r->axis, h->outcome, times);
    r->totals.stops[h->outcome - 1] += times;
    r->totals.classes[h->error_class] += times;
    dn_sketch_put(&r->latency_ms[h->outcome - 1], dn_sketch_bucket((uint64_t)took_ms),
                  (uint32_t)times);
    if (took_ms > r->latency_max_ms) r->latency_max_ms = took_ms;
}

void report_finalized(report *r, const event *e, uint64_t times) {
    count(r, e, times);
    day_ended(r, e->h, e->h->status == DN_DAILY_SUCCESS ? DAY_SUCCESS : DAY_CUTOFF, times);
}

static void happened(report *r, const event *e) {
    switch (e->h->kind) {
    case DN_HAPPENED_ENQUEUED: report_enqueued(r, e, 1); return;
    case DN_HAPPENED_STARTED: report_started(r, e, 1); return;
    case DN_HAPPENED_STOPPED: report_stopped(r, e, 1); return;
    case DN_HAPPENED_FINALIZED: report_finalized(r, e, 1); return;
    case DN_HAPPENED_EXPIRED:
    case DN_HAPPENED_DROPPED: axis_dequeued(&r->axis, 1); break;
    case DN_HAPPENED_LATE_SUCCESS: day_ended(r, e->h, DAY_LATE, 1); break;
    case DN_HAPPENED_MISSED: day_ended(r, e->h, DAY_MISSED, 1); break;
    case DN_HAPPENED_CLOCK: marks_clock(&r->marks, e->steady_ms, e->h->step_ms); break;
    case DN_HAPPENED_TICK_BEGINS:
    case DN_HAPPENED_TICK:
    case DN_HAPPENED_IGNORED:
    case DN_HAPPENED_SET:
    case DN_HAPPENED_REMOVED:
    case DN_HAPPENED_STORE_FAILED:
    case DN_HAPPENED_STORE_WELL:
    case DN_HAPPENINGS: break; /* counted */
    }
    count(r, e, 1);
}

void report_event(report *r, const event *e) {
    axis_to(&r->axis, e->steady_ms);
    switch (e->kind) {
    case EVENT_CRASH:
        axis_crashed(&r->axis);
        marks_crash(&r->marks, e->steady_ms);
        break;
    case EVENT_RESTART: marks_restart(&r->marks, e->steady_ms); break;
    case EVENT_STORE_FAILS: marks_store_fails(&r->marks, e->steady_ms, e->for_ms); break;
    case EVENT_USER: break; /* counted */
    case EVENT_SLO: marks_slo(&r->marks, e->steady_ms, e->slo); break;
    default: happened(r, e); break;
    }
}

void report_tick_wall(report *r, double ms) {
    if (!(ms > 0)) ms = 0; /* a clock that went back, or is no number */
    const double us = ms * 1e3;
    dn_sketch_put(
        &r->tick_us,
        dn_sketch_bucket(us < (double)DN_SKETCH_VALUE_MAX ? (uint64_t)us : DN_SKETCH_VALUE_MAX), 1);
    if (ms > r->tick_max_ms) r->tick_max_ms = ms;
}
