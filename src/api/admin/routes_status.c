/* routes_status.c - how the daemon is: /status, /slo, /config and the API's own description. */
#include "daily/json_user.h"
#include "json_status.h"
#include "obs/slo_watcher.h"
#include "openapi.h"
#include "reply.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- GET /api/v1/status: a part of each actor in turn ---- */

enum { SLO_MS = 30000 };

typedef enum status_part { PART_TICK, PART_QUEUE, PART_EXECUTOR, PART_STORE, PART_SLO } status_part;
static const char *const part_names[] = {"tick", "queue", "executor", "store", "slo"};

typedef struct status_state {
    json_t     *answer;
    status_part part; /* the one that is asked for */
} status_state;

static void status_free(void *state) {
    status_state *s = state;

    json_decref(s->answer);
    free(s);
}

static json_t *json_of_daemon(dn_self *self, const api_world *w) {
    const dn_service_config *c = w->service;

    return json_pack(
        "{s:I, s:s, s:s, s:s, s:s, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I}", "pid",
        (json_int_t)getpid(), "version", w->about->version, "data", w->about->data, "runner",
        w->about->runner, "listen", w->about->listens, "now", json_of_instant(dn_now_ms(self)),
        "started_at", json_of_instant(w->started_ms), "tick_ms", (json_int_t)c->tick_ms,
        "window_minutes", (json_int_t)c->window_minutes, "retry_delay_minutes",
        (json_int_t)c->retry_delay_minutes, "max_concurrency", (json_int_t)c->max_concurrency,
        "job_timeout_ms", (json_int_t)c->job_timeout_ms, "ledger_days", (json_int_t)c->ledger_days);
}

static json_t *json_of_part(status_part part, const dn_msg *reply) {
    if (!reply) return json_null();
    switch (part) {
    case PART_TICK: return json_of_tick_status(DN_BODY(dn_tick_status, reply));
    case PART_QUEUE: return json_of_queue_status(DN_BODY(dn_queue_status, reply));
    case PART_EXECUTOR: return json_of_executor_status(DN_BODY(dn_executor_status, reply));
    case PART_STORE: return json_of_kv_status(DN_BODY(dn_kv_status, reply));
    case PART_SLO: break;
    }
    return json_of_slo_report(DN_BODY(dn_slo_report, reply));
}

static reply_fn take_part;

/* The SLO watcher may be restarting; the status does without it. */
static route_step ask_part(dn_self *self, const api_world *w, exchange *x) {
    const dn_ref        refs[] = {w->tick, w->queue, w->executor, w->kv};
    const status_state *s = x->state;

    if (s->part == PART_SLO)
        return exchange_try(self, w, x, w->slo_watcher, DN_SLO_ASK, NULL, 0, SLO_MS, take_part);
    return exchange_call(self, x, refs[s->part],
                         s->part == PART_STORE ? MSG_KV_STATUS : MSG_ASK_STATUS, NULL, 0,
                         take_part);
}

static route_step take_part(dn_self *self, const api_world *w, exchange *x, const dn_msg *reply) {
    status_state *s = x->state;

    if (json_object_set_new(s->answer, part_names[s->part], json_of_part(s->part, reply)) < 0)
        return reply_no_memory(x);
    if (s->part == PART_SLO) return reply_json(x, 200, DN_TAKE(s->answer));
    s->part++;
    return ask_part(self, w, x);
}

static route_step get_status(dn_self *self, const api_world *w, exchange *x) {
    status_state *s = exchange_keep(x, sizeof *s, status_free);

    if (!s) return reply_no_memory(x);
    s->answer = json_pack("{s:o}", "daemon", json_of_daemon(self, w));
    return s->answer ? ask_part(self, w, x) : reply_no_memory(x);
}

/* ---- GET /api/v1/slo ---- */

static route_step reply_slo(dn_self *self, const api_world *w, exchange *x, const dn_msg *reply) {
    (void)self, (void)w;
    return reply_json(
        x, 200, json_pack("{s:o}", "items", json_of_slo_report(DN_BODY(dn_slo_report, reply))));
}

static route_step get_slo(dn_self *self, const api_world *w, exchange *x) {
    return exchange_call(self, x, w->slo_watcher, DN_SLO_ASK, NULL, 0, reply_slo);
}

/* ---- Texts that stay the same while the daemon runs ---- */

static route_step reply_constant(exchange *x, const char *json) {
    char *text = strdup(json);

    if (!text) return reply_no_memory(x);
    return reply_response(x, http_answer(200, "application/json", text, strlen(text)));
}

/* Settings that change restart the web actor, except the log level. */
static route_step get_config(dn_self *self, const api_world *w, exchange *x) {
    (void)self;
    return reply_constant(x, w->settings);
}

static route_step get_openapi(dn_self *self, const api_world *w, exchange *x) {
    (void)self, (void)w;
    return reply_constant(x, openapi_json);
}

const route routes_status[] = {
    {"GET", "/api/v1/status", DN_SCOPE_READ, .handler = get_status},
    {"GET", "/api/v1/slo", DN_SCOPE_READ, .handler = get_slo},
    {"GET", "/api/v1/config", DN_SCOPE_READ, .handler = get_config},
    {"GET", "/api/v1/openapi.json", DN_SCOPE_READ, .handler = get_openapi, .for_tenants = true},
    {.method = NULL},
};
