/* router.c - see router.h. */
#include "router.h"

#include "route.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { METHODS_MAX = 5, ALLOW_MAX = 48 /* "GET, HEAD, PUT, POST, PATCH, DELETE" */ };

/* A path and the routes of its methods. */
typedef struct resource {
    path_pattern        pattern;
    const struct route *routes[METHODS_MAX];
    size_t              routes_len;
    char                allow[ALLOW_MAX];
} resource;

struct router {
    resource *resources; /* the more specific first */
    size_t    len;
};

#define EACH_ROUTE(tables, r)                                                                      \
    const route *const *t_ = (tables);                                                             \
    *t_;                                                                                           \
    t_++)                                                                                          \
        for (const route *r = *t_; r->method; r++

/* ---- Making ---- */

static resource *resource_of(const router *r, const char *path) {
    for (size_t i = 0; i < r->len; i++)
        if (strcmp(r->resources[i].pattern.text, path) == 0) return &r->resources[i];
    return NULL;
}

/* Inserts it after all that are as specific, so that of equals the one of the earlier table wins. */
static resource *resource_insert(router *r, const path_pattern *pattern) {
    size_t at = r->len;

    while (at > 0 && path_pattern_compare(pattern, &r->resources[at - 1].pattern) < 0) at--;
    memmove(&r->resources[at + 1], &r->resources[at], (r->len - at) * sizeof *r->resources);
    r->len++;
    r->resources[at] = (resource){.pattern = *pattern};
    return &r->resources[at];
}

static const route *route_of(const resource *s, http_text method) {
    for (size_t i = 0; i < s->routes_len; i++)
        if (http_text_is(method, s->routes[i]->method) ||
            (http_text_is(method, "HEAD") && strcmp(s->routes[i]->method, "GET") == 0))
            return s->routes[i];
    return NULL;
}

static int resource_add(resource *s, const route *r) {
    const size_t len = strlen(s->allow);

    if (route_of(s, (http_text){r->method, strlen(r->method)})) return DN_EINVAL;
    assert(s->routes_len < METHODS_MAX);
    s->routes[s->routes_len++] = r;
    const int more = snprintf(s->allow + len, ALLOW_MAX - len, "%s%s%s", len ? ", " : "", r->method,
                              strcmp(r->method, "GET") == 0 ? ", HEAD" : "");
    assert(more > 0 && len + (size_t)more < ALLOW_MAX);
    return DN_OK;
}

static int router_add(router *r, const route *added) {
    path_pattern pattern;
    resource    *s = resource_of(r, added->path);

    if (!s) {
        if (path_pattern_compile(added->path, &pattern) < 0) return DN_EINVAL;
        s = resource_insert(r, &pattern);
    }
    return resource_add(s, added);
}

int router_new(const struct route *const *tables, router **out_router) {
    router *r = calloc(1, sizeof *r);
    size_t  routes = 0;
    int     rc = DN_OK;

    for (EACH_ROUTE(tables, t)) routes++;
    if (r) r->resources = calloc(routes + 1, sizeof *r->resources);
    if (!r || !r->resources) {
        router_free(r);
        return DN_ENOMEM;
    }
    for (EACH_ROUTE(tables, t))
        if (rc == DN_OK) rc = router_add(r, t);
    if (rc < 0) {
        router_free(r);
        return rc;
    }
    assert(router_is_sound(r));
    *out_router = r;
    return DN_OK;
}

void router_free(router *r) {
    if (!r) return;
    free(r->resources);
    free(r);
}

bool router_is_sound(const router *r) {
    for (size_t i = 0; i < r->len; i++) {
        const resource *s = &r->resources[i];
        if (s->routes_len == 0 || !path_pattern_is_sound(&s->pattern)) return false;
        if (i > 0 && path_pattern_compare(&r->resources[i - 1].pattern, &s->pattern) > 0)
            return false;
    }
    return true;
}

/* ---- Finding ---- */

const struct route *router_find(const router *r, http_text method, http_text path,
                                path_captures *out_captures, const char **out_allow) {
    for (size_t i = 0; i < r->len; i++) {
        const resource *s = &r->resources[i];
        if (!path_pattern_match(&s->pattern, path, out_captures)) continue;
        *out_allow = s->allow;
        return route_of(s, method);
    }
    *out_allow = NULL;
    return NULL;
}
