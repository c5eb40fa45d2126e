/* routes.c - every route of the daemon: the tables of all folders. */
#include "route.h"

const route *const routes_all[] = {
    routes_health,  routes_metrics, routes_status, routes_actors, routes_users,  routes_import,
    routes_today,   routes_days,    routes_why,    routes_audit,  routes_backup, routes_tokens,
    routes_session, routes_events,  routes_page,   NULL,
};
