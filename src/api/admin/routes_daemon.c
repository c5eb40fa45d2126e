/* routes_daemon.c - how the daemon is: status, actors, SLOs, settings, metrics. */
#include "openapi.h"
#include "routes.h"

#include <stdlib.h>
#include <string.h>

static const api status = {.op = "status"};
static const api slo = {.op = "slo"};
static const api actors = {.op = "actors"};

static route_step json_that_stays(exchange *x, const char *json) {
    char *text = strdup(json);

    if (!text) return exchange_answer(x, http_problem(503, "out of memory"));
    return exchange_answer(x, http_answer(200, "application/json", text, strlen(text)));
}

/* Made once, when the daemon began: a setting that changes while it runs begins it anew, but for the level of the log. */
static route_step config(dn_self *self, const route_world *w, exchange *x, const dn_msg *reply) {
    (void)self, (void)reply;
    return json_that_stays(x, w->settings);
}

static route_step openapi(dn_self *self, const route_world *w, exchange *x, const dn_msg *reply) {
    (void)self, (void)w, (void)reply;
    return json_that_stays(x, openapi_json);
}

const route routes_daemon[] = {
    {"GET", "/metrics", DN_SCOPE_READ, ROUTE_NO_BODY, route_metrics, NULL},
    {"GET", "/api/v1/status", DN_SCOPE_READ, ROUTE_NO_BODY, route_api, &status},
    {"GET", "/api/v1/slo", DN_SCOPE_READ, ROUTE_NO_BODY, route_api, &slo},
    {"GET", "/api/v1/actors", DN_SCOPE_READ, ROUTE_NO_BODY, route_api, &actors},
    {"GET", "/api/v1/config", DN_SCOPE_READ, ROUTE_NO_BODY, config, NULL},
    {"GET", "/api/v1/openapi.json", DN_SCOPE_READ, ROUTE_NO_BODY, openapi, NULL},
    {.method = NULL},
};
