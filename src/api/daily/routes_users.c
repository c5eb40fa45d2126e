/* routes_users.c - /api/v1/daily/users. */
#include "routes.h"

static http_response one_user(const route_world *w, const exchange *x, json_t *answer) {
    (void)w, (void)x;
    return api_json(200, json_incref(json_object_get(answer, "user")));
}

/* A user that begins tomorrow, because today's cutoff has passed, is told so. */
static http_response put_user(const route_world *w, const exchange *x, json_t *answer) {
    json_t    *user = json_object_get(answer, "user");
    const bool is_new = json_is_true(json_object_get(answer, "new"));

    (void)w, (void)x;
    if (json_is_true(json_object_get(answer, "tomorrow")))
        (void)json_object_set_new(
            user, "note",
            json_string("today's cutoff has passed, so its first day is tomorrow; "
                        "\"starts_on\":\"today\" asks for today all the same"));
    return api_json(is_new ? 201 : 200, json_incref(user));
}

static http_response removed(const route_world *w, const exchange *x, json_t *answer) {
    (void)w, (void)x, (void)answer;
    return (http_response){.status = 204};
}

/* The id after which the next page begins is the cursor. */
static http_response some_users(const route_world *w, const exchange *x, json_t *answer) {
    const bool more = json_is_true(json_object_get(answer, "more"));

    (void)w, (void)x;
    return api_json(
        200, json_pack("{s:O, s:o}", "items", json_object_get(answer, "items"), "next_cursor",
                       more ? json_incref(json_object_get(answer, "last")) : json_null()));
}

static const api_param list_params[] = {
    {"status", "status", false},
    {"due_from", "due_from", false},
    {"due_to", "due_to", false},
    {"q", "prefix", false},
    {"limit", "max", true},
    {"cursor", "after", false},
    {.name = NULL},
};
static const api_param why_params[] = {{"day", "day", false}, {.name = NULL}};
static const api_param days_params[] = {
    {"limit", "max", true}, {"cursor", "before", false}, {.name = NULL}};
static const char *const user_members[] = {"id", "due", "starts_on", NULL};

static const api list = {.op = "list", .params = list_params, .response = some_users};
static const api get = {.op = "user", .has_id = true, .response = one_user};
static const api put = {.op = "put", .members = user_members, .has_id = true, .response = put_user};
static const api rm = {.op = "remove", .has_id = true, .response = removed};
static const api days = {.op = "days", .params = days_params, .has_id = true};
static const api why = {.op = "why", .params = why_params, .has_id = true};

#define USER "/api/v1/daily/users/{id}"

const route routes_users[] = {
    {"GET", "/api/v1/daily/users", DN_SCOPE_READ, ROUTE_NO_BODY, route_api, &list},
    {"GET", USER, DN_SCOPE_READ, ROUTE_NO_BODY, route_api, &get},
    {"POST", "/api/v1/daily/users:import", DN_SCOPE_OPERATE, ROUTE_STREAM, route_import, NULL},
    {"PUT", USER, DN_SCOPE_OPERATE, ROUTE_JSON, route_api, &put},
    {"DELETE", USER, DN_SCOPE_OPERATE, ROUTE_NO_BODY, route_api, &rm},
    {"GET", USER "/days", DN_SCOPE_READ, ROUTE_NO_BODY, route_api, &days},
    {"GET", USER "/why", DN_SCOPE_READ, ROUTE_NO_BODY, route_api, &why},
    {.method = NULL},
};
