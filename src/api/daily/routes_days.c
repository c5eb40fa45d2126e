/* routes_days.c - /api/v1/daily/today and /days: how the days go. */
#include "routes.h"

static const api_param today_params[] = {{"day", "day", false}, {.name = NULL}};
static const api_param days_params[] = {
    {"from", "first", false}, {"to", "last", false}, {"cursor", "cursor", false}, {.name = NULL}};

static const api_param running_params[] = {{"limit", "max", true}, {.name = NULL}};

static const api today = {.op = "today", .params = today_params};
static const api running = {.op = "running", .params = running_params};
static const api days = {.op = "history", .params = days_params};

const route routes_days[] = {
    {"GET", "/api/v1/daily/today", DN_SCOPE_READ, ROUTE_NO_BODY, route_api, &today},
    {"GET", "/api/v1/daily/running", DN_SCOPE_READ, ROUTE_NO_BODY, route_api, &running},
    {"GET", "/api/v1/daily/days", DN_SCOPE_READ, ROUTE_NO_BODY, route_api, &days},
    {.method = NULL},
};
