/* routes_backup.c - POST /api/v1/backup: a copy of the database, where the daemon is, while it goes on. */
#include "routes.h"

static http_response copied(const route_world *w, const exchange *x, json_t *answer) {
    (void)w, (void)answer;
    return api_json(201, json_pack("{s:O}", "path", json_object_get(x->ask.request, "path")));
}

static const char *const backup_members[] = {"path", NULL};

static const api backup = {.op = "backup", .members = backup_members, .response = copied};

const route routes_backup[] = {
    {"POST", "/api/v1/backup", DN_SCOPE_ADMIN, ROUTE_JSON, route_api, &backup},
    {.method = NULL},
};
