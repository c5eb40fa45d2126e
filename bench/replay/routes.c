/* routes.c - the table of paths. */
#include "routes.h"

#include <stdio.h>
#include <string.h>

typedef struct route {
    const char *path;
    route_fn   *get;
} route;

static const route routes[] = {
    {"/healthz", route_healthz},
    {"/metrics", route_metrics},
    {"/readyz", route_readyz},
};

static const route *route_of(http_text path) {
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++)
        if (http_text_is(path, routes[i].path)) return &routes[i];
    return NULL;
}

route_step exchange_answer(exchange *x, http_response response) {
    x->response = response;
    return ROUTE_DONE;
}

static bool is_read(http_text method) {
    return http_text_is(method, "GET") || http_text_is(method, "HEAD");
}

route_step exchange_begin(dn_self *self, const route_world *w, exchange *x, const http_head *head) {
    const route *r = route_of(head->path);

    *x = (exchange){.head = head};
    if (!r) return exchange_answer(x, http_problem(404, "there is nothing at this path"));
    if (!is_read(head->method)) {
        http_response refused = http_problem(405, "this path is only read");
        refused.allow = "GET, HEAD";
        return exchange_answer(x, refused);
    }
    x->route = r->get;
    return x->route(self, w, x, NULL);
}

route_step exchange_go_on(dn_self *self, const route_world *w, exchange *x, const dn_msg *reply) {
    x->call = 0;
    return x->route(self, w, x, reply);
}

route_step exchange_call(dn_self *self, exchange *x, dn_ref to, uint32_t kind, const void *body,
                         size_t size, int64_t timeout_ms) {
    x->stage++;
    if (dn_call(self, to, kind, body, size, timeout_ms, &x->call) == DN_OK) return ROUTE_WAITS;
    return ROUTE_DONE;
}

bool exchange_wants(const exchange *x, const char *parameter) {
    const char *at = x->head->query.at, *const end = at ? at + x->head->query.len : NULL;
    const size_t len = strlen(parameter);

    while (at && at < end) {
        const char *stop = memchr(at, '&', (size_t)(end - at));
        if (!stop) stop = end;
        if ((size_t)(stop - at) >= len && memcmp(at, parameter, len) == 0 &&
            (at + len == stop || at[len] == '='))
            return true;
        at = stop + 1;
    }
    return false;
}
