/* summary.c - see summary.h.
 * The days of a run come in order, or nearly so: they are kept in a sorted row, and the last one is asked first. */
#include "summary.h"

#include "base/array.h"
#include "base/day_rows.h"
#include "level.h"
#include "obs/sketch.h"
#include "text_out.h"

#include <stdlib.h>
#include <string.h>

typedef struct day_row {
    dn_day         day;
    summary_totals totals;
} day_row;

enum { TICK_UNIT_NS = 100 };

struct summary {
    day_row  *days;
    size_t    days_len, days_cap, last;
    dn_sketch ticks; /* in TICK_UNIT_NS */
    int64_t   tick_max_ns;
    uint64_t  in_flight, in_flight_peak, depth, depth_peak;
    bool      starved;
};

summary *summary_new(void) { return calloc(1, sizeof(summary)); }

void summary_free(summary *s) {
    if (!s) return;
    free(s->days);
    free(s);
}

/* ---- Days ---- */

static summary_totals *totals_found(summary *s, dn_day day) {
    static summary_totals nobodys;
    const size_t at = s->last = dn_day_rows_from(s->days, sizeof *s->days, s->days_len, day);
    if (at < s->days_len && s->days[at].day == day) return &s->days[at].totals;
    if (DN_ARRAY_RESERVE(s->days, s->days_cap, s->days_len + 1) < 0) {
        s->starved = true;
        return &nobodys;
    }
    memmove(&s->days[at + 1], &s->days[at], (s->days_len - at) * sizeof *s->days);
    s->days[at] = (day_row){.day = day};
    s->days_len++;
    return &s->days[at].totals;
}

static inline summary_totals *totals_of(summary *s, dn_day day) {
    if (s->last < s->days_len && s->days[s->last].day == day) return &s->days[s->last].totals;
    return totals_found(s, day);
}

size_t summary_days(const summary *s) { return s->days_len; }

summary_totals summary_of_all(const summary *s) {
    summary_totals all = {0};

    for (size_t i = 0; i < s->days_len; i++) {
        const summary_totals *t = &s->days[i].totals;
        all.success += t->success;
        all.cutoff_reached += t->cutoff_reached;
        all.late_success += t->late_success;
        all.missed += t->missed;
        all.starts += t->starts;
    }
    return all;
}

/* ---- Telling ---- */

void summary_enqueued(summary *s, uint64_t times) {
    s->depth += times;
    level_reaches(s->depth, &s->depth_peak);
}

void summary_started(summary *s, dn_day day, uint64_t times) {
    level_lowers(&s->depth, times);
    s->in_flight += times;
    level_reaches(s->in_flight, &s->in_flight_peak);
    totals_of(s, day)->starts += times;
}

void summary_stopped(summary *s, uint64_t times) { level_lowers(&s->in_flight, times); }

void summary_finalized(summary *s, const dn_happening *h, uint64_t times) {
    summary_totals *t = totals_of(s, h->day);

    if (h->status == DN_DAILY_SUCCESS) t->success += times;
    else t->cutoff_reached += times;
}

void summary_tell(summary *s, const event *e) {
    switch (e->kind) {
    case DN_HAPPENED_ENQUEUED: summary_enqueued(s, 1); return;
    case DN_HAPPENED_EXPIRED:
    case DN_HAPPENED_DROPPED: level_lowers(&s->depth, 1); return;
    case DN_HAPPENED_STARTED: summary_started(s, e->h->day, 1); return;
    case DN_HAPPENED_STOPPED: summary_stopped(s, 1); return;
    case DN_HAPPENED_FINALIZED: summary_finalized(s, e->h, 1); return;
    case DN_HAPPENED_LATE_SUCCESS: totals_of(s, e->h->day)->late_success++; return;
    case DN_HAPPENED_MISSED: totals_of(s, e->h->day)->missed++; return;
    case EVENT_CRASH: s->depth = s->in_flight = 0; return;
    default: return;
    }
}

void summary_tell_tick(summary *s, int64_t real_ns) {
    dn_sketch_put(&s->ticks, dn_sketch_bucket((uint64_t)real_ns / TICK_UNIT_NS), 1);
    if (real_ns > s->tick_max_ns) s->tick_max_ns = real_ns;
}

/* ---- Writing ---- */

static void write_ticks(const summary *s, FILE *f) {
    const double max_ms = (double)s->tick_max_ns / 1e6;
    double       p50_ms = 0, p95_ms = 0;

    (void)dn_sketch_quantile_within(&s->ticks, 0.5, TICK_UNIT_NS / 1e6, max_ms, &p50_ms);
    (void)dn_sketch_quantile_within(&s->ticks, 0.95, TICK_UNIT_NS / 1e6, max_ms, &p95_ms);
    fprintf(f, "\"tick_wall_ms\":{\"p50\":%.4f,\"p95\":%.4f,\"max\":%.4f}", p50_ms, p95_ms, max_ms);
}

static void write_text(FILE *f, const char *text) {
    char        quoted[6 * 512 + 10];
    const char *end = text_out_string(quoted, text, strnlen(text, 512));

    (void)fwrite(quoted, 1, (size_t)(end - quoted), f);
}

int summary_write(const summary *s, FILE *f, const char *const *violations, size_t violations_len) {
    char day[DN_DAY_TEXT];

    if (s->starved) return DN_ENOMEM;
    fprintf(f, "{\"days\":{");
    for (size_t i = 0; i < s->days_len; i++) {
        const summary_totals *t = &s->days[i].totals;
        dn_day_write(s->days[i].day, day);
        fprintf(f,
                "%s\"%s\":{\"success\":%llu,\"cutoff_reached\":%llu,\"late_success\":%llu,"
                "\"missed\":%llu,\"starts\":%llu}",
                i > 0 ? "," : "", day, (unsigned long long)t->success,
                (unsigned long long)t->cutoff_reached, (unsigned long long)t->late_success,
                (unsigned long long)t->missed, (unsigned long long)t->starts);
    }
    fprintf(f, "},");
    write_ticks(s, f);
    fprintf(f, ",\"peak_in_flight\":%llu,\"peak_depth\":%llu,\"invariant_violations\":[",
            (unsigned long long)s->in_flight_peak, (unsigned long long)s->depth_peak);
    for (size_t i = 0; i < violations_len; i++) {
        if (i > 0) (void)fputc(',', f);
        write_text(f, violations[i]);
    }
    fprintf(f, "]}\n");
    return ferror(f) ? DN_EIO : DN_OK;
}
