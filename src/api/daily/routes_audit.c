/* routes_audit.c - /api/v1/audit: users and records as they are kept, by number and a few thousand at once, for who looks at
 * all of them. Arrays, not objects: there may be millions. */
#include "routes.h"

/* Whoever may come next has a higher number: so a page that is not empty is never known to be the last. */
static http_response page(const route_world *w, const exchange *x, json_t *answer) {
    json_t       *items = json_object_get(answer, "items");
    const size_t  len = json_array_size(items);
    const json_t *last = len > 0 ? json_array_get(json_array_get(items, len - 1), 0) : NULL;

    (void)w, (void)x;
    return api_json(200,
                    json_pack("{s:O, s:o}", "items", items, "next_cursor",
                              last ? json_sprintf("%" JSON_INTEGER_FORMAT, json_integer_value(last))
                                   : json_null()));
}

static const api_param users_params[] = {
    {"limit", "max", true}, {"cursor", "after", true}, {.name = NULL}};
static const api_param records_params[] = {
    {"day", "day", false}, {"limit", "max", true}, {"cursor", "after", true}, {.name = NULL}};

static const api users = {.op = "numbers", .params = users_params, .response = page};
static const api records = {.op = "day", .params = records_params, .response = page};

const route routes_audit[] = {
    {"GET", "/api/v1/audit/users", DN_SCOPE_READ, ROUTE_NO_BODY, route_api, &users},
    {"GET", "/api/v1/audit/records", DN_SCOPE_READ, ROUTE_NO_BODY, route_api, &records},
    {.method = NULL},
};
