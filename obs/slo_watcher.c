/* slo_watcher.c - see slo_watcher.h. */
#include "slo_watcher.h"

#include "diurnal/runtime.h"
#include "diurnal/telemetry.h"
#include "log.h"

#include <stdio.h>
#include <stdlib.h>

enum { WATCHER_ROLL = 1, WATCHER_EVALUATE, ROLL_MS = 60000, FIELDS_MAX = 8 };

typedef struct watcher {
    const dn_slo_watcher_config *config;
    dn_slo_table                *table;
    uint64_t                     evaluations;
} watcher;

static int watcher_init(dn_self *self, void *state, const void *config);
static int watcher_on_roll(dn_self *self, void *state, const dn_msg *msg);
static int watcher_on_evaluate(dn_self *self, void *state, const dn_msg *msg);
static int watcher_on_ask(dn_self *self, void *state, const dn_msg *msg);

static const dn_handler watcher_handlers[] = {
    {WATCHER_ROLL, watcher_on_roll},         /* timer: once a minute, if it evaluates less often */
    {WATCHER_EVALUATE, watcher_on_evaluate}, /* timer: log what changed */
    {DN_SLO_ASK, watcher_on_ask},            /* any actor */
};

static const dn_class watcher_class = {
    .name = DN_SLO_WATCHER,
    .state_size = sizeof(watcher),
    .init = watcher_init,
    .handlers = DN_SLICE(watcher_handlers),
};

/* ---- Life ---- */

static void watcher_release(void *state) { dn_slo_table_free(((watcher *)state)->table); }

static int watcher_init(dn_self *self, void *state, const void *config) {
    watcher *w = state;

    w->config = config;
    dn_own(self, w, watcher_release);
    int rc = dn_slo_table_new(w->config->rows, w->config->rows_len, dn_mono_ns(self), &w->table);
    if (rc == DN_OK) rc = dn_slo_table_listen(w->table);
    if (rc < 0) return rc;
    if (w->config->eval_ms > ROLL_MS) dn_timer_after(self, ROLL_MS, WATCHER_ROLL, 0);
    dn_timer_after(self, w->config->eval_ms, WATCHER_EVALUATE, 0);
    return DN_OK;
}

static int watcher_on_roll(dn_self *self, void *state, const dn_msg *msg) {
    watcher *w = state;

    (void)msg;
    dn_slo_table_roll(w->table, dn_mono_ns(self));
    dn_timer_after(self, ROLL_MS, WATCHER_ROLL, 0);
    return DN_OK;
}

/* ---- Warnings ---- */

/* Six digits: more say nothing to a person. */
static double rounded(double value) {
    char digits[32];

    (void)snprintf(digits, sizeof digits, "%.6g", value);
    return strtod(digits, NULL);
}

DN_EVENT_DEFINE(dn_slo_changed, "slo.changed", DN_SLO_CHANGED)

static size_t worst_fields(const dn_slo_status *s, char text[8], dn_log_field *fields) {
    const dn_slo_group *group = s->row->source->group;

    if (!group || s->worst < 0) return 0;
    group->write((uint32_t)s->worst, text);
    fields[0] = dn_log_integer(group->number, s->worst);
    fields[1] = dn_log_text(group->text, text);
    fields[2] = dn_log_integer(group->count, (int64_t)s->worst_bad);
    return 3;
}

static void log_change(const dn_slo_status *s) {
    dn_log_field fields[FIELDS_MAX];
    size_t       len = 0;
    char         text[DN_SLO_SENTENCE + 64], sentence[DN_SLO_SENTENCE], group[8];

    fields[len++] = dn_log_text("slo", s->row->name);
    fields[len++] = dn_log_integer("window_minutes", s->minutes);
    if (s->now.measured) fields[len++] = dn_log_real("measured", rounded(s->now.value));
    fields[len++] = dn_log_real("threshold", s->row->limit);
    fields[len++] = dn_log_integer("consecutive_breaches", s->streak);
    len += worst_fields(s, group, &fields[len]);
    dn_slo_sentence(s, sentence);
    (void)snprintf(text, sizeof text, "%s: %s", s->row->name, sentence);
    dn_log_fields(s->breached ? DN_LOG_WARN : DN_LOG_INFO,
                  s->breached ? "slo.breached" : "slo.recovered", text, fields, len);
    DN_EMIT(dn_slo_changed, .value = rounded(s->now.value), .threshold = s->row->limit,
            .slo = s->row->name, .state = s->breached ? "breached" : "ok");
}

static int watcher_on_evaluate(dn_self *self, void *state, const dn_msg *msg) {
    watcher *w = state;
    size_t   changed[DN_SLO_ROWS_MAX];

    (void)msg;
    const size_t len = dn_slo_table_evaluate(w->table, dn_mono_ns(self), changed);
    for (size_t i = 0; i < len; i++) log_change(dn_slo_table_status_borrow(w->table, changed[i]));
    w->evaluations++;
    dn_timer_after(self, w->config->eval_ms, WATCHER_EVALUATE, 0);
    return DN_OK;
}

static int watcher_on_ask(dn_self *self, void *state, const dn_msg *msg) {
    const watcher *w = state;
    dn_slo_report  report = {.len = w->config->rows_len, .evaluations = w->evaluations};

    for (size_t i = 0; i < report.len; i++)
        report.slo[i] = *dn_slo_table_status_borrow(w->table, i);
    dn_reply(self, msg, DN_SLO_REPORT, &report, sizeof report);
    return DN_OK;
}

dn_child_spec dn_slo_watcher_child(const dn_slo_watcher_config *config) {
    return (dn_child_spec){.name = DN_SLO_WATCHER,
                           .actor_class = &watcher_class,
                           .config = config,
                           .loop = "main",
                           .backoff = {.min_ms = 100, .max_ms = 10000, .stable_ms = 60000}};
}
