/* request_fuzz.c - a request of any bytes, through its route, query and body up to where an actor is asked: there it is asked, or it is
 * refused with a problem that is JSON; never is it answered as if the daemon were at fault. Who asks may everything.
 * The input: METHOD and target, the end of the line, the body. */
#include "diurnal/sim.h"
#include "exchange.h"
#include "feed.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TARGET_MAX = 4096, DAY = 20000 };

static const char *input;
static size_t      input_len;

/* Loads are refused as bodies are: by a problem. Others are whatever the route says. */
static void check(const http_response *r) {
    assert(r->status >= 200 && r->status < 600 && r->status != 500);
    if (r->status < 400) return;
    json_t *problem = json_loadb(r->body, r->body_len, JSON_REJECT_DUPLICATES, NULL);
    assert(json_integer_value(json_object_get(problem, "status")) == r->status);
    const char *detail = json_string_value(json_object_get(problem, "detail"));
    assert(detail && *detail);
    json_decref(problem);
}

/* The body, in pieces if the route takes it so; what it says then. */
static route_step feed_body(dn_self *self, const api_world *w, exchange *x, const char *body,
                            size_t len) {
    route_step step = ROUTE_WANTS_BODY;

    if (x->route->body != ROUTE_STREAM) return exchange_body(self, w, x, body, len, true);
    while (step == ROUTE_WANTS_BODY) {
        const size_t piece = len < ROUTE_PIECE ? len : ROUTE_PIECE;
        step = exchange_body(self, w, x, body, piece, piece == len);
        body += piece;
        len -= piece;
    }
    return step;
}

static void try_input(dn_self *self, const api_world *w, const char *token) {
    static char     text[TARGET_MAX + 512];
    static exchange x;
    const char     *end = memchr(input, '\n', input_len);
    const size_t    line = end ? (size_t)(end - input) : input_len;
    const size_t    body_len = end ? input_len - line - 1 : 0;
    http_head       head;
    http_fault      fault;

    if (line > TARGET_MAX) return;
    const int len =
        snprintf(text, sizeof text,
                 "%.*s HTTP/1.1\r\nHost: a\r\nX-Diurnal-Request: 1\r\nAuthorization: Bearer %s\r\n"
                 "Idempotency-Key: k\r\nContent-Length: %zu\r\n\r\n",
                 (int)line, input, token, body_len);
    if (http_head_read(text, (size_t)len, &head, &fault) < 0) return;
    route_step step = exchange_begin(self, w, &x, &head);
    if (step == ROUTE_WANTS_BODY) step = feed_body(self, w, &x, end + 1, body_len);
    assert(step != ROUTE_WANTS_TOKENS);
    if (step == ROUTE_DONE) {
        exchange_finish(self, w, &x);
        check(&x.response);
    }
    exchange_done(w, &x);
}

/* All that is said of a world without actors: asking one is enough. */
static int asker_init(dn_self *self, void *state, const void *config) {
    static const dn_service_config service = {.tick_ms = 60000, .window_minutes = 60};
    dn_token                       admin = {.id = 1, .ends_ms = INT64_MAX, .scope = DN_SCOPE_ADMIN};
    char                           text[DN_TOKEN_TEXT];
    auth                           g = {.loaded = true};
    idempotency                    o = {0};
    feed                           f;
    router                        *r;

    (void)state, (void)config;
    assert(dn_token_make(text, admin.hash) == DN_OK && auth_add(&g, &admin) == DN_OK);
    assert(router_new(routes_all, &r) == DN_OK);
    feed_init(&f, 1);
    const dn_about about = {
        .service = &service, .data = "/d", .runner = "r", .listens = "l", .version = "v"};
    const api_world w = {
        .service = &service,
        .kv = dn_self_ref(self),
        .tick = dn_self_ref(self),
        .metrics = dn_self_ref(self),
        .about = &about,
        .router = r,
        .queue = dn_self_ref(self),
        .executor = dn_self_ref(self),
        .slo_watcher = dn_self_ref(self),
        .auth = &g,
        .feed = &f,
        .idempotency = &o,
        .settings = "{}",
    };
    try_input(self, &w, text);
    feed_done(&f);
    router_free(r);
    idempotency_done(&o);
    auth_done(&g);
    return DN_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const dn_class      cls = {.name = "asker", .state_size = 1, .init = asker_init};
    static const dn_spawn_spec root = {.actor_class = &cls, .name = "asker"};
    const dn_sim_config        config = {.seed = 1, .wall_ms = (int64_t)DAY * 86400000};
    dn_sim                    *sim;

    input = (const char *)data;
    input_len = size;
    assert(dn_sim_new(&config, &sim) == DN_OK && dn_sim_boot(sim, &root) == DN_OK);
    dn_sim_free(sim);
    return 0;
}
