/* routes.c - finds the route of a request, and lets in who may. */
#include "routes.h"

#include "http/http_uri.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const route routes_open[] = {
    {.method = "GET", .path = "/healthz", .step = route_healthz},
    {.method = "GET", .path = "/readyz", .step = route_readyz},
    {.method = NULL},
};

const route *const routes_all[] = {
    routes_open,   routes_daemon, routes_users,  routes_days, routes_tokens, routes_session,
    routes_events, routes_audit,  routes_backup, routes_page, NULL,
};
#define EACH_ROUTE(r)                                                                              \
    const route *const *t_ = routes_all;                                                           \
    *t_;                                                                                           \
    t_++)                                                                                          \
        for (const route *r = *t_; r->method; r++

/* ---- Paths ---- */

/* Does it have this path? What stands for {id} is *out_id. */
static bool path_is(const char *pattern, http_text path, http_text *out_id) {
    const char *at = path.at, *const end = path.at + path.len;

    for (; *pattern; pattern++) {
        if (*pattern != '{') {
            if (at == end || *at++ != *pattern) return false;
            continue;
        }
        const char *begins = at;
        while (at < end && *at != '/') at++;
        *out_id = (http_text){begins, (size_t)(at - begins)};
        pattern = strchr(pattern, '}');
    }
    return at == end;
}

static bool method_is(const route *r, http_text method) {
    return http_text_is(method, r->method) ||
           (strcmp(r->method, "GET") == 0 && http_text_is(method, "HEAD"));
}

/* The methods of a path, for who used another one. The text is valid until the next call. */
static const char *allowed(http_text path) {
    static char all[64];
    http_text   id;
    size_t      len = 0;

    for (EACH_ROUTE(r)) {
        if (!path_is(r->path, path, &id)) continue;
        len += (size_t)snprintf(all + len, sizeof all - len, "%s%s%s", len ? ", " : "", r->method,
                                strcmp(r->method, "GET") == 0 ? ", HEAD" : "");
    }
    return len > 0 ? all : NULL;
}

static const route *route_of(const http_head *head, http_text *out_id) {
    for (EACH_ROUTE(r))
        if (path_is(r->path, head->path, out_id) && method_is(r, head->method)) return r;
    return NULL;
}

/* ---- Who may ---- */

static bool is_open(const route_world *w, const route *r, const http_head *head) {
    return r->scope == DN_SCOPE_NONE ||
           (r->step == route_metrics && w->on_loopback && http_host_is_address(head));
}

/* To log in is open to everyone, but it is a token that is shown. */
static bool needs_guard(const route_world *w, const route *r, const http_head *head) {
    return !is_open(w, r, head) || strcmp(r->path, ROUTE_LOGIN) == 0;
}

static bool changes_something(const route *r) { return strcmp(r->method, "GET") != 0; }

/* A page of another site can make a browser send a request, with its cookie, but not with a field of its choosing. */
static bool is_our_page(const http_head *head) { return http_field_of(head, "x-diurnal-request"); }

static http_response strange_page(void) {
    return http_problem(403, "a browser is to send the field X-Diurnal-Request: 1");
}

static http_response not_enough(const exchange *x) {
    char detail[HTTP_DETAIL_MAX];

    (void)snprintf(detail, sizeof detail, "this token may %s, and this needs one that may %s",
                   dn_scope_text(x->who.scope), dn_scope_text(x->route->scope));
    return http_problem(403, detail);
}

http_response exchange_stranger(const char *detail) {
    http_response r = http_problem(401, detail);

    r.fields = "WWW-Authenticate: Bearer realm=\"diurnal\"\r\n";
    return r;
}

/* True: it may; else the response says why not. */
static bool let_in(dn_self *self, const route_world *w, exchange *x) {
    const bool changes = changes_something(x->route), ours = is_our_page(x->head);

    if (is_open(w, x->route, x->head)) {
        if (!changes || ours) return true;
        x->response = strange_page();
        return false;
    }
    x->who = guard_of(w->guard, x->head, dn_now_ms(self));
    if (x->who.scope == DN_SCOPE_NONE)
        x->response = exchange_stranger("a token is wanted that is valid: Authorization: Bearer "
                                        "diurnal_...; diurnal token create makes one");
    else if (x->who.by_cookie && changes && !ours) x->response = strange_page();
    else if (x->who.scope < x->route->scope) x->response = not_enough(x);
    return x->response.status == 0;
}

bool exchange_still_may(dn_self *self, const route_world *w, const exchange *x) {
    return is_open(w, x->route, x->head) ||
           guard_of(w->guard, x->head, dn_now_ms(self)).scope >= x->route->scope;
}

route_step exchange_no_more(exchange *x) {
    return exchange_answer(
        x, exchange_stranger("the token is not valid any more; nothing more is taken"));
}

/* ---- Once, however often it comes ---- */

static bool sum_begin(exchange *x) {
    x->sum = EVP_MD_CTX_new();
    return x->sum && EVP_DigestInit_ex(x->sum, EVP_sha256(), NULL) == 1;
}

static bool is_key(http_text key) {
    for (size_t i = 0; i < key.len; i++)
        if (key.at[i] <= ' ' || key.at[i] > '~') return false;
    return key.len > 0 && key.len <= ONCE_KEY_MAX;
}

/* False: the response says why it is not done now. */
static bool look_for_key(dn_self *self, const route_world *w, exchange *x) {
    const http_text *key = http_field_of(x->head, "idempotency-key");

    if (!key || x->route->scope == DN_SCOPE_NONE || strcmp(x->route->method, "POST") != 0)
        return true;
    if (!is_key(*key)) {
        x->response = http_problem(400, "Idempotency-Key is not 1 to 255 visible characters");
        return false;
    }
    switch (once_look(w->once, x->who.n, x->head->method, x->head->path, *key,
                      dn_mono_ns(self) / 1000000, &x->once)) {
    case ONCE_KNOWN: x->repeats = true; break;
    case ONCE_NEW: break;
    case ONCE_UNDER_WAY:
        x->response = http_problem(409, "a request with this Idempotency-Key is still being "
                                        "answered: try again");
        return false;
    case ONCE_UNSURE:
        x->response = http_problem(409, "whether the first request with this Idempotency-Key was "
                                        "done is not known: look, and ask with a new one if not");
        return false;
    case ONCE_LOST:
        x->response = http_problem(409, "the first request with this Idempotency-Key was done, and "
                                        "its answer is lost: look for what came of it");
        return false;
    case ONCE_NO_ROOM: x->response = http_problem(503, "out of memory"); return false;
    }
    if (!sum_begin(x)) x->response = http_problem(503, "out of memory");
    return x->response.status == 0;
}

/* The body has come: is it that of the first time? */
static route_step repeat(exchange *x) {
    uint8_t           body[ONCE_DIGEST];
    const once_entry *e = x->once;

    if (EVP_DigestFinal_ex(x->sum, body, NULL) != 1)
        return exchange_answer(x, http_problem(503, "out of memory"));
    if (memcmp(body, e->body, sizeof body) != 0)
        return exchange_answer(x, http_problem(422, "this Idempotency-Key came with another body "
                                                    "before: take a new one"));
    return exchange_answer(x, once_answer(e));
}

/* Of what was refused nothing is kept: it may be mended, and come again; but not while it may yet be done, nor where it was
 * done and only the answer could not be made. */
static void once_finish(dn_self *self, const route_world *w, exchange *x) {
    uint8_t    body[ONCE_DIGEST];
    const bool answered = x->response.status >= 200 && x->response.status < 300;

    if (!x->once || x->repeats) return;
    once_entry *const e = DN_TAKE(x->once);
    if (answered && EVP_DigestFinal_ex(x->sum, body, NULL) == 1)
        once_keep(w->once, e, body, &x->response);
    else if (answered || x->ask.done) once_lose(e);
    else if (x->ask.unsure) once_doubt(e, dn_mono_ns(self) / 1000000);
    else once_drop(w->once, e);
}

/* ---- A request ---- */

static route_step no_route(exchange *x) {
    const char *methods = allowed(x->head->path);
    char        detail[HTTP_DETAIL_MAX];

    if (!methods) return exchange_answer(x, http_problem(404, "there is nothing at this path"));
    (void)snprintf(detail, sizeof detail, "this path takes %s", methods);
    http_response refused = http_problem(405, detail);
    refused.allow = methods;
    return exchange_answer(x, refused);
}

static bool has_body(const http_head *head) { return head->chunked || head->content_length > 0; }

/* What is to be done only if something is so is not done as if nothing had been said. */
static bool has_condition(const http_head *head) {
    static const char *const conditions[] = {"if-match", "if-none-match", "if-unmodified-since"};

    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++)
        if (http_field_of(head, conditions[i])) return true;
    return false;
}

/* Of the API a typing error is never passed over, and what is sent is meant; a page or a probe may be asked with anything. */
static bool is_understood(exchange *x) {
    static const char api_path[] = "/api/";

    if (strncmp(x->route->path, api_path, sizeof api_path - 1) != 0) return true;
    if (!api_knows_query(x)) return false;
    if (changes_something(x->route) && has_condition(x->head)) {
        x->response = http_problem(400, "nothing is changed on a condition: leave out If-Match, "
                                        "If-None-Match and If-Unmodified-Since");
        return false;
    }
    if (x->route->body != ROUTE_NO_BODY || !has_body(x->head)) return true;
    x->response = http_problem(400, "this takes no body");
    return false;
}

/* Of one that repeats another nothing is looked at but whether it does. */
static route_step first_step(dn_self *self, const route_world *w, exchange *x) {
    return x->repeats ? repeat(x) : x->route->step(self, w, x, NULL);
}

static size_t body_max(const route *r) {
    return r->scope == DN_SCOPE_NONE ? ROUTE_OPEN_BODY_MAX : ROUTE_BODY_MAX;
}

static route_step wants_body(exchange *x) {
    if (x->route->body == ROUTE_JSON && x->head->content_length > (int64_t)body_max(x->route)) {
        const http_fault fault = exchange_body_too_long(x);
        return exchange_answer(x, http_problem(fault.status, fault.detail));
    }
    x->body_ends = false;
    return ROUTE_WANTS_BODY;
}

route_step exchange_begin(dn_self *self, const route_world *w, exchange *x, const http_head *head) {
    http_text id = {0};

    *x = (exchange){.head = head, .route = route_of(head, &id), .body = "", .body_ends = true};
    if (!x->route) return no_route(x);
    if (!w->guard->known && needs_guard(w, x->route, head)) {
        x->response = http_problem(503, "the tokens are still being read; try again");
        return ROUTE_WANTS_GUARD;
    }
    if (!let_in(self, w, x)) return ROUTE_DONE;
    if (!is_understood(x)) return ROUTE_DONE;
    if (http_uri_decode(id, /* in_query= */ false, x->id, sizeof x->id, &x->id_len) < 0)
        return exchange_answer(x, http_problem(400, "the id is longer than 128 bytes"));
    if (!look_for_key(self, w, x)) return ROUTE_DONE;
    if (x->route->body != ROUTE_NO_BODY && has_body(head)) return wants_body(x);
    return first_step(self, w, x);
}

/* One more than there may be, so that it is seen to be too much. */
size_t exchange_body_max(const exchange *x) {
    return x->route->body == ROUTE_STREAM ? ROUTE_PIECE : body_max(x->route) + 1;
}

http_fault exchange_body_too_long(const exchange *x) {
    return (http_fault){413, x->route->scope == DN_SCOPE_NONE ? "a body has at most 4 KiB here"
                                                              : "a body has at most 1 MiB here"};
}

route_step exchange_body(dn_self *self, const route_world *w, exchange *x, const char *body,
                         size_t len, bool ends) {
    x->body = body;
    x->body_len = len;
    x->body_ends = ends;
    if (!exchange_still_may(self, w, x)) return exchange_no_more(x);
    if (x->sum && EVP_DigestUpdate(x->sum, body, len) != 1)
        return exchange_answer(x, http_problem(503, "out of memory"));
    if (x->repeats && !ends) return ROUTE_WANTS_BODY;
    return first_step(self, w, x);
}

route_step exchange_go_on(dn_self *self, const route_world *w, exchange *x, const dn_msg *reply) {
    x->call = 0;
    return x->route->step(self, w, x, reply);
}

void exchange_finish(dn_self *self, const route_world *w, exchange *x) {
    once_finish(self, w, x);
    http_refine(x->head, w->tag_key, &x->response);
}

void exchange_done(const route_world *w, exchange *x) {
    ask_done(&x->ask);
    EVP_MD_CTX_free(DN_TAKE(x->sum));
    if (x->once && x->repeats) once_release(x->once);
    else if (x->once) once_drop(w->once, x->once);
    x->once = NULL;
    if (x->stream) x->stream_free(DN_TAKE(x->stream));
    free(DN_TAKE(x->response.body));
}

/* ---- For the files that make the routes ---- */

route_step exchange_answer(exchange *x, http_response response) {
    x->response = response;
    return ROUTE_DONE;
}

route_step exchange_call(dn_self *self, exchange *x, dn_ref to, uint32_t kind, const void *body,
                         size_t size, int64_t timeout_ms) {
    x->stage++;
    if (dn_call(self, to, kind, body, size, timeout_ms, &x->call) == DN_OK) return ROUTE_WAITS;
    return ROUTE_DONE;
}

bool exchange_wants(const exchange *x, const char *parameter) {
    for (http_text rest = x->head->query, name, value; http_query_next(&rest, &name, &value);)
        if (http_text_is(name, parameter)) return true;
    return false;
}
