/* slo_table.c - a history for each row; asks the judges, and writes what they found as a sentence. */
#include "slo_table.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct dn_slo_table {
    size_t          len;
    dn_slo_status   status[DN_SLO_ROWS_MAX];
    dn_slo_history *histories[DN_SLO_ROWS_MAX]; /* of each row; NULL: it is off */
};

static bool row_is_sound(const dn_slo_row *row) {
    if (!row->name || !row->description || !row->measure || !row->source || !row->judge)
        return false;
    if (row->off) return true;
    const bool     has_outcomes = row->source->kind == DN_SLO_OUTCOMES;
    const uint32_t most =
        has_outcomes && !row->widens ? DN_SLO_OUTCOME_MINUTES : DN_SLO_DAY_MINUTES;
    const bool has_share = row->judge == dn_slo_judge_quantile || row->judge == dn_slo_judge_burn;
    return row->window_minutes >= 1 && row->window_minutes <= most &&
           row->short_minutes < row->window_minutes && row->consecutive >= 1 &&
           isfinite(row->limit) && row->limit >= 0 && (has_outcomes || !row->widens) &&
           (!has_share || (row->share > 0 && row->share < 1));
}

static bool table_is_sound(const dn_slo_table *t) {
    if (t->len > DN_SLO_ROWS_MAX) return false;
    for (size_t i = 0; i < t->len; i++)
        if (t->status[i].row->off != !t->histories[i]) return false;
    return true;
}

/* ---- Its life ---- */

static int row_add(dn_slo_table *t, const dn_slo_row *row, int64_t mono_ns) {
    const uint32_t minutes = row->widens ? DN_SLO_OUTCOME_MINUTES : row->window_minutes;

    if (t->len == DN_SLO_ROWS_MAX || !row_is_sound(row)) return DN_EINVAL;
    const size_t at = t->len++;
    t->status[at] = (dn_slo_status){.row = row, .minutes = row->window_minutes, .worst = -1};
    return row->off ? DN_OK : dn_slo_history_new(row->source, minutes, mono_ns, &t->histories[at]);
}

int dn_slo_table_new(const dn_slo_row *rows, size_t len, int64_t mono_ns,
                     dn_slo_table **out_table) {
    dn_slo_table *t = calloc(1, sizeof *t);
    int           rc = t ? DN_OK : DN_ENOMEM;

    for (size_t i = 0; i < len && rc == DN_OK; i++) rc = row_add(t, &rows[i], mono_ns);
    if (rc < 0) {
        dn_slo_table_free(t);
        return rc;
    }
    assert(table_is_sound(t));
    *out_table = t;
    return DN_OK;
}

void dn_slo_table_free(dn_slo_table *t) {
    if (!t) return;
    for (size_t i = 0; i < t->len; i++) dn_slo_history_free(t->histories[i]);
    free(t);
}

int dn_slo_table_listen(dn_slo_table *t) {
    int rc = DN_OK;

    for (size_t i = 0; i < t->len && rc == DN_OK; i++)
        if (t->histories[i]) rc = dn_slo_history_listen(t->histories[i]);
    return rc;
}

/* ---- Evaluating ---- */

void dn_slo_table_roll(dn_slo_table *t, int64_t mono_ns) {
    for (size_t i = 0; i < t->len; i++)
        if (t->histories[i]) dn_slo_history_roll(t->histories[i], mono_ns);
}

size_t dn_slo_table_evaluate(dn_slo_table *t, int64_t mono_ns,
                             size_t out_changed[DN_SLO_ROWS_MAX]) {
    size_t len = 0;

    assert(table_is_sound(t));
    dn_slo_table_roll(t, mono_ns);
    for (size_t i = 0; i < t->len; i++) {
        if (!t->histories[i]) continue;
        if (dn_slo_status_step(&t->status[i], t->histories[i])) out_changed[len++] = i;
        dn_slo_history_forget_news(t->histories[i]);
    }
    assert(table_is_sound(t));
    return len;
}

const dn_slo_status *dn_slo_table_status_borrow(const dn_slo_table *t, size_t row) {
    assert(row < t->len);
    return &t->status[row];
}

dn_slo_history *dn_slo_table_history_borrow(const dn_slo_table *t, size_t row) {
    assert(row < t->len);
    return t->histories[row];
}

/* ---- In words ---- */

enum { QUANTITY = 48 };

static void quantity_write(double value, dn_slo_unit unit, char out[QUANTITY]) {
    static const char *const units[] = {
        [DN_SLO_MS] = " ms", [DN_SLO_SHARE] = " %", [DN_SLO_COUNT] = "", [DN_SLO_TIMES] = "x"};
    const double shown = unit == DN_SLO_SHARE ? value * 100 : value;

    /* Three digits at least; %.3g alone would write 1.6e+03. */
    (void)snprintf(out, QUANTITY, shown < 100 ? "%.3g%s" : "%.0f%s", shown, units[unit]);
}

/* "minute", "15 minutes", "3 days" */
static void span_write(uint32_t minutes, char out[QUANTITY]) {
    static const struct {
        uint32_t    minutes;
        const char *name;
    } spans[] = {{DN_SLO_DAY_MINUTES, "day"}, {60, "hour"}, {1, "minute"}};
    size_t i = 0;

    while (minutes % spans[i].minutes > 0) i++;
    const uint32_t n = minutes / spans[i].minutes;
    if (n == 1) (void)snprintf(out, QUANTITY, "%s", spans[i].name);
    else (void)snprintf(out, QUANTITY, "%u %ss", n, spans[i].name);
}

void dn_slo_sentence(const dn_slo_status *s, char out[DN_SLO_SENTENCE]) {
    const dn_slo_row *row = s->row;
    char              value[QUANTITY] = "no data", limit[QUANTITY], span[QUANTITY];

    if (s->now.measured) quantity_write(s->now.value, row->unit, value);
    quantity_write(row->limit, row->unit, limit);
    span_write(s->minutes, span);
    (void)snprintf(out, DN_SLO_SENTENCE, "%s%s%s over the last %s, limit %s%s",
                   s->now.measured ? row->measure : "", s->now.measured ? " " : "", value, span,
                   limit, s->now.rising ? ", rising every minute" : "");
}
