/* slo_watcher.c - see slo_watcher.h. */
#include "slo_watcher.h"

#include "diurnal/runtime.h"
#include "diurnal/telemetry.h"
#include "log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WATCHER_ROLL = 1, WATCHER_EVALUATE, ROLL_MS = 60000, FIELDS_MAX = 8 };

enum { VALUES_MAX = 2 };

/* One of the events it listens to, and the values it wants of it: by name, since who emits is none of its business. */
typedef struct source {
    const char      *event;
    dn_telemetry_fn *count;
    struct {
        const char   *name; /* NULL: no more */
        dn_field_type type;
    } fields[VALUES_MAX];
} source;

static int count_tick(void *context, const dn_event *event, const dn_value *values);
static int count_depth(void *context, const dn_event *event, const dn_value *values);
static int count_in_flight(void *context, const dn_event *event, const dn_value *values);
static int count_job(void *context, const dn_event *event, const dn_value *values);
static int count_finalized(void *context, const dn_event *event, const dn_value *values);

static const source sources[] = {
    {"sched.tick.stop", count_tick, {{"duration_ms", DN_REAL}}},
    {"sched.queue.depth", count_depth, {{"depth", DN_INTEGER}}},
    {"sched.executor.in_flight",
     count_in_flight,
     {{"in_flight", DN_INTEGER}, {"max_concurrency", DN_INTEGER}}},
    {"sched.job.stop", count_job, {{"duration_ms", DN_REAL}}},
    {"sched.finalize", count_finalized, {{"status", DN_TEXT}, {"due_bucket", DN_INTEGER}}},
};
enum { SOURCES = sizeof sources / sizeof *sources };

/* A source as it was found: what a handler is given. Set before it is attached. */
typedef struct listener {
    const dn_event *event; /* what begins with its name comes too */
    int             at[VALUES_MAX];
    dn_slo_cells   *cells;
} listener;

typedef struct watcher {
    const dn_slo_watcher_config *config;
    dn_slo                      *slo;
    dn_slo_cells                *cells; /* of malloc: their lines are aligned */
    listener                     listeners[SOURCES];
    dn_telemetry_id              ids[SOURCES];
    uint64_t                     evaluations, warnings;
} watcher;

static int watcher_init(dn_self *self, void *state, const void *config);
static int watcher_on_roll(dn_self *self, void *state, const dn_msg *msg);
static int watcher_on_evaluate(dn_self *self, void *state, const dn_msg *msg);
static int watcher_on_ask(dn_self *self, void *state, const dn_msg *msg);

static const dn_handler watcher_handlers[] = {
    {WATCHER_ROLL, watcher_on_roll},         /* timer: once a minute, if it evaluates less often */
    {WATCHER_EVALUATE, watcher_on_evaluate}, /* timer: how does it go? It rolls first */
    {DN_SLO_ASK, watcher_on_ask},            /* anybody */
};

static const dn_class watcher_class = {
    .name = DN_SLO_WATCHER,
    .state_size = sizeof(watcher),
    .init = watcher_init,
    .handlers = DN_SLICE(watcher_handlers),
};

/* ---- Counting, on the threads of those who emit ---- */

static int count_tick(void *context, const dn_event *event, const dn_value *values) {
    const listener *l = context;

    if (event == l->event) dn_slo_tick_took(l->cells, (int64_t)(values[l->at[0]].real * 1e3));
    return DN_OK;
}

static int count_depth(void *context, const dn_event *event, const dn_value *values) {
    const listener *l = context;

    if (event == l->event)
        dn_slo_depth_is(l->cells, (uint64_t)values[l->at[0]].integer, dn_thread_mono_ns());
    return DN_OK;
}

static int count_in_flight(void *context, const dn_event *event, const dn_value *values) {
    const listener *l = context;

    if (event == l->event)
        dn_slo_in_flight_is(l->cells, (uint64_t)values[l->at[0]].integer,
                            (uint64_t)values[l->at[1]].integer, dn_thread_mono_ns());
    return DN_OK;
}

static int count_job(void *context, const dn_event *event, const dn_value *values) {
    const listener *l = context;

    if (event == l->event) dn_slo_job_took(l->cells, (int64_t)(values[l->at[0]].real * 1e3));
    return DN_OK;
}

static int count_finalized(void *context, const dn_event *event, const dn_value *values) {
    const listener *l = context;

    if (event != l->event) return DN_OK;
    if (strcmp(values[l->at[0]].text, "success") == 0) dn_slo_succeeded(l->cells);
    else dn_slo_cut_off(l->cells, (uint32_t)values[l->at[1]].integer);
    return DN_OK;
}

/* ---- Life ---- */

static void watcher_release(void *state) {
    watcher *w = state;

    /* Waits for those that are being called: behind that nobody knows of the cells. */
    for (size_t i = 0; i < SOURCES; i++)
        if (w->ids[i]) (void)dn_telemetry_detach(w->ids[i]);
    dn_slo_free(w->slo);
    free(w->cells);
}

static int cells_new(dn_slo_cells **out) {
    dn_slo_cells *cells = aligned_alloc(_Alignof(dn_slo_cells), sizeof *cells);

    if (!cells) return DN_ENOMEM;
    memset(cells, 0, sizeof *cells);
    *out = cells;
    return DN_OK;
}

/* DN_EINVAL: nobody here emits such an event. */
static int listen_to(const source *s, dn_slo_cells *cells, listener *out, dn_telemetry_id *out_id) {
    *out = (listener){.event = dn_event_find(s->event), .cells = cells};
    if (!out->event) return DN_EINVAL;
    for (int i = 0; i < VALUES_MAX && s->fields[i].name; i++) {
        out->at[i] = dn_event_field(out->event, s->fields[i].name, s->fields[i].type);
        if (out->at[i] < 0) return out->at[i];
    }
    return dn_telemetry_attach(DN_SLO_WATCHER, s->event, s->count, out, out_id);
}

static int watcher_init(dn_self *self, void *state, const void *config) {
    watcher *w = state;

    w->config = config;
    dn_own(self, w, watcher_release);
    int rc = dn_slo_new(&w->config->slo, &w->slo);
    if (rc == DN_OK) rc = cells_new(&w->cells);
    for (size_t i = 0; i < SOURCES && rc == DN_OK; i++)
        rc = listen_to(&sources[i], w->cells, &w->listeners[i], &w->ids[i]);
    if (rc < 0) return rc;
    dn_slo_roll(w->slo, w->cells, dn_mono_ns(self));
    if (w->config->eval_ms > ROLL_MS) dn_timer_after(self, ROLL_MS, WATCHER_ROLL, 0);
    dn_timer_after(self, w->config->eval_ms, WATCHER_EVALUATE, 0);
    return DN_OK;
}

static int watcher_on_roll(dn_self *self, void *state, const dn_msg *msg) {
    watcher *w = state;

    (void)msg;
    dn_slo_roll(w->slo, w->cells, dn_mono_ns(self));
    dn_timer_after(self, ROLL_MS, WATCHER_ROLL, 0);
    return DN_OK;
}

/* ---- Saying ---- */

static bool is_of_misses(dn_slo_name name) {
    return name == DN_SLO_CUTOFF_MISS_RATE || name == DN_SLO_CUTOFF_BURN_FAST ||
           name == DN_SLO_CUTOFF_BURN_SLOW;
}

/* Six digits: more say nothing to a person. */
static double rounded(double value) {
    char digits[32];

    (void)snprintf(digits, sizeof digits, "%.6g", value);
    return strtod(digits, NULL);
}

DN_EVENT_DEFINE(dn_slo_changed, "slo.changed", DN_SLO_CHANGED)

static void say(const watcher *w, dn_slo_name name, bool breached) {
    const dn_slo_status *s = dn_slo_status_borrow(w->slo, name);
    dn_log_field         fields[FIELDS_MAX];
    size_t               len = 0;
    char                 text[160], due[8];

    fields[len++] = dn_log_text("slo", dn_slo_text(name));
    fields[len++] = dn_log_integer("window_minutes", s->window_minutes);
    if (s->measured) fields[len++] = dn_log_real("measured", rounded(s->value));
    fields[len++] = dn_log_real("threshold", s->threshold);
    fields[len++] = dn_log_integer("consecutive_breaches", s->streak);
    if (is_of_misses(name) && s->worst_due >= 0) {
        snprintf(due, sizeof due, "%02d:%02d", s->worst_due / 60, s->worst_due % 60);
        fields[len++] = dn_log_integer("due_bucket", s->worst_due);
        fields[len++] = dn_log_text("due", due);
        fields[len++] = dn_log_integer("due_misses", (int64_t)s->worst_misses);
    }
    snprintf(text, sizeof text, "%s %s%s", dn_slo_text(name),
             breached ? "is over its threshold" : "has recovered",
             breached && s->rising ? ": the queue has risen all through the window" : "");
    dn_log_fields(breached ? DN_LOG_WARN : DN_LOG_INFO, breached ? "slo.breached" : "slo.recovered",
                  text, fields, len);
    DN_EMIT(dn_slo_changed, .value = s->measured ? rounded(s->value) : 0, .threshold = s->threshold,
            .slo = dn_slo_text(name), .state = breached ? "breached" : "ok");
}

static int watcher_on_evaluate(dn_self *self, void *state, const dn_msg *msg) {
    watcher      *w = state;
    dn_slo_change changes[DN_SLO_NAMES];

    (void)msg;
    dn_slo_roll(w->slo, w->cells, dn_mono_ns(self));
    const size_t len = dn_slo_evaluate(w->slo, dn_mono_ns(self), changes);
    for (size_t i = 0; i < len; i++) {
        say(w, changes[i].name, changes[i].breached);
        w->warnings += changes[i].breached;
    }
    w->evaluations++;
    dn_timer_after(self, w->config->eval_ms, WATCHER_EVALUATE, 0);
    return DN_OK;
}

static int watcher_on_ask(dn_self *self, void *state, const dn_msg *msg) {
    const watcher *w = state;
    dn_slo_report  report = {
         .mono_ns = dn_mono_ns(self), .evaluations = w->evaluations, .warnings = w->warnings};

    for (int i = 0; i < DN_SLO_NAMES; i++)
        report.slo[i] = *dn_slo_status_borrow(w->slo, (dn_slo_name)i);
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
