/* report_write.c - the page: what a report counted as one JSON object, between the two halves of a file. */
#include "report_json.h"
#include "report_parts.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* ---- Words of the JSON ---- */

static void key(FILE *f, const char *name) { fprintf(f, ",\n\"%s\":", name); }

static void count(FILE *f, const char *name, uint64_t value) {
    fprintf(f, ",\n\"%s\":%llu", name, (unsigned long long)value);
}

static void instant(FILE *f, const char *name, int64_t ms) {
    fprintf(f, ",\n\"%s\":%lld", name, (long long)ms);
}

static void text(FILE *f, const char *name, const char *value) {
    key(f, name);
    json_text(f, value, strlen(value));
}

static void limit(FILE *f, const char *name, double value) {
    key(f, name);
    json_number(f, value);
}

/* The brackets and commas of a list whose items are written one by one. */
static void item(FILE *f, size_t i) {
    if (i > 0) fputs(",\n", f);
}

/* ---- What the caller knows ---- */

static void write_settings(FILE *f, const report_about *about) {
    key(f, "settings");
    fputc('[', f);
    for (size_t i = 0; i < about->settings_len; i++) {
        const report_setting *s = &about->settings[i];
        item(f, i);
        fputc('[', f);
        json_text(f, s->name, strlen(s->name));
        fputc(',', f);
        json_text(f, s->value, strlen(s->value));
        fputc(']', f);
    }
    fputc(']', f);
}

static void write_violations(FILE *f, const report_about *about) {
    count(f, "violations_count", about->violations_count);
    key(f, "violations");
    fputc('[', f);
    for (size_t i = 0; i < about->violations_len; i++) {
        item(f, i);
        json_text(f, about->violations[i], strlen(about->violations[i]));
    }
    fputc(']', f);
}

static void write_about(FILE *f, const report *r, const report_about *about) {
    fputs("\"version\":", f);
    json_text(f, about->version, strlen(about->version));
    text(f, "trace", about->trace);
    /* As a text: a number of 64 bits is not one of a page's script. */
    key(f, "seed");
    fprintf(f, "\"%llu\"", (unsigned long long)about->seed);
    count(f, "users", about->users);
    instant(f, "start_ms", r->start_ms);
    instant(f, "span_ms", r->axis.now_ms);
    limit(f, "max_concurrency", about->max_concurrency);
    limit(f, "depth_avg_max", about->depth_avg_max);
    limit(f, "job_p95_max_ms", about->job_p95_max_ms);
    limit(f, "tick_budget_ms", about->tick_budget_ms);
    write_settings(f, about);
    write_violations(f, about);
}

/* ---- What was counted ---- */

static void write_totals(FILE *f, const report *r) {
    const report_totals *t = &r->totals;

    count(f, "success", t->ends[DAY_SUCCESS]);
    count(f, "cutoff_reached", t->ends[DAY_CUTOFF]);
    count(f, "missed", t->ends[DAY_MISSED]);
    count(f, "late_success", t->ends[DAY_LATE]);
    count(f, "ok", t->stops[DN_OUTCOME_OK - 1]);
    count(f, "error", t->stops[DN_OUTCOME_ERROR - 1]);
    count(f, "timeout", t->stops[DN_OUTCOME_TIMEOUT - 1]);
    count(f, "ticks", t->happened[DN_HAPPENED_TICK]);
    count(f, "enqueued", t->happened[DN_HAPPENED_ENQUEUED]);
    count(f, "ignored", t->happened[DN_HAPPENED_IGNORED]);
    count(f, "expired", t->happened[DN_HAPPENED_EXPIRED]);
    count(f, "starts", t->happened[DN_HAPPENED_STARTED]);
    count(f, "commits_failed", t->happened[DN_HAPPENED_STORE_FAILED]);
    count(f, "peak_depth", r->axis.depth_peak);
    count(f, "peak_in_flight", r->axis.in_flight_peak);
    key(f, "error_classes");
    fputc('{', f);
    for (dn_error_class c = DN_CLASS_REQ; c <= DN_CLASS_UNKNOWN; c++)
        fprintf(f, "%s\"%s\":%llu", c > DN_CLASS_REQ ? "," : "", dn_error_class_text(c),
                (unsigned long long)t->classes[c]);
    fputc('}', f);
}

/* ---- Along the run ---- */

/* How long a stretch was: the last one may end with the run. */
static double stretch_ms(const axis *a, size_t i) {
    const int64_t begins_ms = (int64_t)i * a->width_ms;
    const int64_t left_ms = a->now_ms - begins_ms;

    return (double)(left_ms < a->width_ms && left_ms > 0 ? left_ms : a->width_ms);
}

static double depth_max(const void *of, size_t i) {
    return (double)((const axis *)of)->stretches[i].depth_max;
}
static double depth_avg(const void *of, size_t i) {
    const axis *a = of;
    return (double)a->stretches[i].depth_sum / stretch_ms(a, i);
}
static double in_flight_max(const void *of, size_t i) {
    return (double)((const axis *)of)->stretches[i].in_flight_max;
}
static double in_flight_avg(const void *of, size_t i) {
    const axis *a = of;
    return (double)a->stretches[i].in_flight_sum / stretch_ms(a, i);
}
static double stops_ok(const void *of, size_t i) {
    return (double)((const axis *)of)->stretches[i].stops[DN_OUTCOME_OK - 1];
}
static double stops_error(const void *of, size_t i) {
    return (double)((const axis *)of)->stretches[i].stops[DN_OUTCOME_ERROR - 1];
}
static double stops_timeout(const void *of, size_t i) {
    return (double)((const axis *)of)->stretches[i].stops[DN_OUTCOME_TIMEOUT - 1];
}

static void write_axis(FILE *f, const axis *a) {
    static const struct {
        const char  *name;
        json_column *at;
    } columns[] = {
        {"depth_max", depth_max},
        {"depth_avg", depth_avg},
        {"in_flight_max", in_flight_max},
        {"in_flight_avg", in_flight_avg},
        {"ok", stops_ok},
        {"error", stops_error},
        {"timeout", stops_timeout},
    };
    const uint32_t len = axis_len(a);

    key(f, "time");
    fprintf(f, "{\"width_ms\":%lld,\"len\":%u", (long long)a->width_ms, len);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        key(f, columns[i].name);
        json_runs(f, len, columns[i].at, a);
    }
    fputc('}', f);
}

static const char *const mark_names[MARK_KINDS] = {"crash", "clock", "store", "slo"};

static void write_mark(FILE *f, const marks *m, mark_kind kind, const mark *one) {
    fprintf(f, "{\"kind\":\"%s\",\"from_ms\":%lld,\"to_ms\":", mark_names[kind],
            (long long)one->from_ms);
    if (one->to_ms == MARK_OPEN) fputs("null", f);
    else fprintf(f, "%lld", (long long)one->to_ms);
    if (kind == MARK_CLOCK) fprintf(f, ",\"step_ms\":%lld", (long long)one->step_ms);
    if (kind == MARK_SLO) {
        const char *name = m->slos[one->slo].name;
        fputs(",\"name\":", f);
        json_text(f, name, strlen(name));
        fputs(",\"value\":", f);
        json_number(f, one->value);
        fputs(",\"threshold\":", f);
        json_number(f, one->threshold);
    }
    fputc('}', f);
}

static void write_marks(FILE *f, const marks *m) {
    size_t written = 0;

    key(f, "marks");
    fputc('[', f);
    for (mark_kind kind = 0; kind < MARK_KINDS; kind++) {
        for (size_t i = 0; i < marks_len(&m->lists[kind]); i++) {
            item(f, written++);
            write_mark(f, m, kind, &m->lists[kind].kept[i]);
        }
    }
    fputc(']', f);
    key(f, "marks_count");
    for (mark_kind kind = 0; kind < MARK_KINDS; kind++)
        fprintf(f, "%s\"%s\":%llu", kind == 0 ? "{" : ",", mark_names[kind],
                (unsigned long long)m->lists[kind].count);
    fputc('}', f);
}

/* ---- Durations ---- */

/* The buckets that hold something, as [from, up to and including, count], in `unit`s of a millisecond. */
static void write_buckets(FILE *f, const dn_sketch *s, double unit) {
    size_t written = 0;

    fputc('[', f);
    for (uint32_t i = 0; i < DN_SKETCH_BUCKETS; i++) {
        if (s->counts[i] == 0) continue;
        const dn_sketch_range bounds = dn_sketch_bounds(i);
        fputs(written++ > 0 ? ",[" : "[", f);
        json_number(f, (double)bounds.low * unit);
        fputc(',', f);
        json_number(f, (double)bounds.high * unit);
        fprintf(f, ",%u]", s->counts[i]);
    }
    fputc(']', f);
}

static void write_quantiles(FILE *f, const dn_sketch *s, double unit, double max) {
    static const struct {
        const char *name;
        double      share;
    } quantiles[] = {{"p50", 0.5}, {"p95", 0.95}, {"p99", 0.99}};
    double value;

    for (size_t i = 0; i < sizeof quantiles / sizeof quantiles[0]; i++) {
        if (!dn_sketch_quantile_within(s, quantiles[i].share, unit, max, &value)) continue;
        key(f, quantiles[i].name);
        json_number(f, value);
    }
    key(f, "max");
    json_number(f, max);
}

static void write_latency(FILE *f, const report *r) {
    static const char *const names[AXIS_OUTCOMES] = {"ok", "error", "timeout"};
    dn_sketch                all = {0};

    key(f, "latency");
    for (int i = 0; i < AXIS_OUTCOMES; i++) {
        fprintf(f, "%s\"%s\":", i == 0 ? "{" : ",\n", names[i]);
        write_buckets(f, &r->latency_ms[i], 1);
        dn_sketch_merge(&all, &r->latency_ms[i]);
    }
    write_quantiles(f, &all, 1, (double)r->latency_max_ms);
    fputc('}', f);
}

static void write_ticks(FILE *f, const report *r) {
    key(f, "tick_wall");
    fputs("{\"all\":", f);
    write_buckets(f, &r->tick_us, 1e-3);
    write_quantiles(f, &r->tick_us, 1e-3, r->tick_max_ms);
    fputc('}', f);
}

/* ---- Days ---- */

static const char *const end_names[DAY_ENDS] = {"success", "cutoff_reached", "missed",
                                                "late_success"};

static double row_day(const void *of, size_t i) { return (double)((const days *)of)->rows[i].day; }
static double row_starts(const void *of, size_t i) {
    return (double)((const days *)of)->rows[i].starts;
}

typedef struct ends_of { /* one kind of end, of rows or of minutes */
    const days      *days;
    const day_strip *strip; /* NULL: of all days */
    day_end          end;
} ends_of;

static double row_end(const void *of, size_t i) {
    const ends_of *ends = of;
    return (double)ends->days->rows[i].ends[ends->end];
}
static double minute_end(const void *of, size_t i) {
    const ends_of *ends = of;
    return ends->strip ? (double)ends->strip->ends[i][ends->end]
                       : (double)ends->days->all[i][ends->end];
}

static void write_rows(FILE *f, const days *d) {
    key(f, "days");
    fputs("{\"day\":", f);
    json_runs(f, d->len, row_day, d);
    for (day_end end = 0; end < DAY_ENDS; end++) {
        key(f, end_names[end]);
        json_runs(f, d->len, row_end, &(ends_of){d, NULL, end});
    }
    key(f, "starts");
    json_runs(f, d->len, row_starts, d);
    count(f, "left_out", d->left_out);
    fputc('}', f);
}

static void write_strip(FILE *f, const days *d, const day_row *row) {
    if (row) fprintf(f, "{\"day\":%d", row->day);
    else fputs("{\"day\":null", f);
    for (day_end end = 0; end < DAY_ENDS; end++) {
        const ends_of ends = {d, row ? &d->strips[row->strip] : NULL, end};
        key(f, end_names[end]);
        json_runs(f, DN_DAY_MINUTES, minute_end, &ends);
    }
    fputc('}', f);
}

static void write_strips(FILE *f, const days *d) {
    key(f, "strips");
    fputc('[', f);
    write_strip(f, d, NULL);
    for (uint32_t i = 0; i < d->len; i++) {
        if (d->rows[i].strip < 0) continue;
        fputs(",\n", f);
        write_strip(f, d, &d->rows[i]);
    }
    fputc(']', f);
}

static void write_examples(FILE *f, const days *d) {
    size_t written = 0;

    key(f, "examples");
    fputc('[', f);
    for (uint32_t due = 0; due < DN_DAY_MINUTES; due++) {
        const day_example *example = &d->examples[due];
        if (example->id_len == 0) continue;
        item(f, written++);
        fprintf(f, "{\"due\":%u,\"day\":%d,\"end\":\"%s\",\"id\":", due, example->day,
                end_names[example->end]);
        json_text(f, example->id, example->id_len);
        fputc('}', f);
    }
    fputc(']', f);
}

/* ---- All of it ---- */

static void write_data(FILE *f, const report *r, const report_about *about) {
    fputc('{', f);
    write_about(f, r, about);
    write_totals(f, r);
    write_axis(f, &r->axis);
    write_marks(f, &r->marks);
    write_latency(f, r);
    write_ticks(f, r);
    write_rows(f, &r->days);
    write_strips(f, &r->days);
    write_examples(f, &r->days);
    fputc('}', f);
}

int report_write(report *r, FILE *file, const report_about *about) {
    assert(about->violations_len <= about->violations_count);
    axis_to(&r->axis, about->span_ms);
    fwrite(report_page_head.bytes, 1, report_page_head.len, file);
    write_data(file, r, about);
    fwrite(report_page_tail.bytes, 1, report_page_tail.len, file);
    return fflush(file) == 0 && !ferror(file) ? DN_OK : DN_EIO;
}
