/* routes_tokens.c - /api/v1/tokens. */
#include "routes.h"

static http_response made(const route_world *w, const exchange *x, json_t *answer) {
    (void)w, (void)x;
    return api_json(201, json_incref(answer));
}

static http_response revoked(const route_world *w, const exchange *x, json_t *answer) {
    (void)w, (void)x, (void)answer;
    return (http_response){.status = 204};
}

static const char *const token_members[] = {"name", "scope", "expires_at", NULL};

static const api list = {.op = "tokens"};
static const api make = {.op = "token_make", .members = token_members, .response = made};
static const api revoke = {.op = "token_revoke", .has_id = true, .response = revoked};

const route routes_tokens[] = {
    {"GET", "/api/v1/tokens", DN_SCOPE_ADMIN, ROUTE_NO_BODY, route_api, &list},
    {"POST", "/api/v1/tokens", DN_SCOPE_ADMIN, ROUTE_JSON, route_api, &make},
    {"DELETE", "/api/v1/tokens/{id}", DN_SCOPE_ADMIN, ROUTE_NO_BODY, route_api, &revoke},
    {.method = NULL},
};
