/* exchange.c - see exchange.h. The order of the checks: path, method, token, query, Idempotency-Key, body. */
#include "exchange.h"

#include "http/http_uri.h"
#include "reply.h"

#include <assert.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

enum { CALL_MS = 30000, LONG_CALL_MS = 3600000 };

/* ---- Who asks ---- */

/* /metrics is open where only this machine can connect, and under no name but localhost (DNS rebinding). */
static bool is_open(const api_world *w, const route *r, const http_head *head) {
    return r->scope == DN_SCOPE_NONE ||
           (strcmp(r->path, "/metrics") == 0 && w->on_loopback && http_host_is_address(head));
}

/* Where a route is open, a token that is sent all the same still says which tenant asks. */
static bool shows_token(const route *r, const http_head *head) {
    return r->scope != DN_SCOPE_NONE && http_field_of(head, "authorization");
}

/* Logging in needs no scope, but it checks a token. */
static bool needs_tokens(const api_world *w, const route *r, const http_head *head) {
    return !is_open(w, r, head) || strcmp(r->path, ROUTE_LOGIN) == 0 || shows_token(r, head);
}

static bool changes_something(const route *r) { return strcmp(r->method, "GET") != 0; }

/* Another site's page can make a browser send a request with our cookie, but not with a header of its choosing. */
static bool is_our_page(const http_head *head) { return http_field_of(head, "x-diurnal-request"); }

static route_step reply_foreign_page(exchange *x) {
    return reply_problem(x, 403, "a request from a browser needs the header X-Diurnal-Request: 1");
}

/* True: the route is for the tenant and user of the token; else the response says why not. */
static bool is_for_identity(exchange *x) {
    if (x->who.has_user)
        (void)reply_problem(x, 403, "a token with a user is for the reminders of that user only");
    else if (x->who.has_tenant && !x->route->for_tenants)
        (void)reply_problem(x, 403,
                            "this belongs to no tenant; a token without a tenant is "
                            "required");
    return x->response.status == 0;
}

/* True: allowed; else the response says why not. */
static bool authorize(dn_self *self, const api_world *w, exchange *x) {
    const bool changes = changes_something(x->route), ours = is_our_page(x->head);

    if (is_open(w, x->route, x->head)) {
        if (changes && !ours) (void)reply_foreign_page(x);
        else if (shows_token(x->route, x->head)) {
            x->who = auth_identify(w->auth, x->head, dn_now_ms(self));
            (void)is_for_identity(x);
        }
        return x->response.status == 0;
    }
    x->who = auth_identify(w->auth, x->head, dn_now_ms(self));
    if (x->who.scope == DN_SCOPE_NONE)
        (void)reply_unauthorized(x, "missing or invalid token; send Authorization: Bearer "
                                    "diurnal_..., made by diurnal token create");
    else if (x->who.by_cookie && changes && !ours) (void)reply_foreign_page(x);
    else if (x->who.scope < x->route->scope)
        (void)reply_problem(x, 403, "token scope \"%s\" is not enough; \"%s\" is required",
                            dn_scope_text(x->who.scope), dn_scope_text(x->route->scope));
    else (void)is_for_identity(x);
    return x->response.status == 0;
}

bool exchange_still_may(dn_self *self, const api_world *w, const exchange *x) {
    return is_open(w, x->route, x->head) ||
           auth_identify(w->auth, x->head, dn_now_ms(self)).scope >= x->route->scope;
}

/* ---- What is asked ---- */

static route_step reply_no_route(exchange *x, const char *allow) {
    if (!allow) return reply_problem(x, 404, "unknown path");
    (void)reply_problem(x, 405, "this path allows %s", allow);
    x->response.allow = allow;
    return ROUTE_DONE;
}

static bool has_body(const http_head *head) { return head->chunked || head->content_length > 0; }

/* A condition that is ignored would be taken for met. */
static bool has_condition(const http_head *head) {
    static const char *const conditions[] = {"if-match", "if-none-match", "if-unmodified-since"};

    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++)
        if (http_field_of(head, conditions[i])) return true;
    return false;
}

static bool take_captures(exchange *x) {
    size_t room = 1;

    for (size_t i = 0; i < x->captures.len; i++) room += x->captures.at[i].len;
    char *text = malloc(room);
    if (!text) {
        (void)reply_no_memory(x);
        return false;
    }
    x->path_text = text;
    for (size_t i = 0; i < x->captures.len; i++) {
        const http_text raw = x->captures.at[i];
        size_t          len = 0;
        const int       rc = http_uri_decode(raw, /* in_query= */ false, text, raw.len, &len);
        assert(rc == DN_OK);
        x->captures.at[i] = (http_text){text, len};
        text += len;
    }
    return true;
}

/* The answer to what fields.h returned; true: it is good. */
static bool is_taken(exchange *x, int rc, const char *why) {
    if (rc == DN_ENOMEM) (void)reply_no_memory(x);
    else if (rc < 0) (void)reply_problem(x, 400, "%s", why);
    return rc == DN_OK;
}

/* Pages and probes accept any query, condition and body, and ignore them; the API refuses what it does not understand. */
static bool take_head(exchange *x) {
    static const char api_path[] = "/api/";
    char              why[FIELDS_WHY];

    if (!take_captures(x)) return false;
    if (strncmp(x->route->path, api_path, sizeof api_path - 1) != 0) return true;
    if (changes_something(x->route) && has_condition(x->head)) {
        (void)reply_problem(x, 400,
                            "conditional changes are not supported; leave out If-Match, "
                            "If-None-Match and If-Unmodified-Since");
        return false;
    }
    if (x->route->body == ROUTE_NO_BODY && has_body(x->head)) {
        (void)reply_problem(x, 400, "no body is allowed here");
        return false;
    }
    return is_taken(x, fields_read_query(x->route->query, x->head->query, &x->query, why), why);
}

/* ---- Idempotency-Key ---- */

static bool is_key(http_text key) {
    for (size_t i = 0; i < key.len; i++)
        if (key.at[i] <= ' ' || key.at[i] > '~') return false;
    return key.len > 0 && key.len <= IDEMPOTENCY_KEY_MAX;
}

static bool digest_begin(exchange *x) {
    x->sum = EVP_MD_CTX_new();
    return x->sum && EVP_DigestInit_ex(x->sum, EVP_sha256(), NULL) == 1;
}

/* Why a request is not done now; NULL: for want of memory. */
static const char *key_conflict(idempotency_state state) {
    switch (state) {
    case IDEMPOTENCY_IN_PROGRESS:
        return "a request with this Idempotency-Key is still in progress; try again";
    case IDEMPOTENCY_UNKNOWN:
        return "the first request with this Idempotency-Key got no answer and may have been done; "
               "check, and use a new key if it was not";
    case IDEMPOTENCY_LOST:
        return "the first request with this Idempotency-Key was done, but its answer is lost; read "
               "what it made";
    case IDEMPOTENCY_NEW:
    case IDEMPOTENCY_ANSWERED:
    case IDEMPOTENCY_NO_MEMORY: break;
    }
    return NULL;
}

/* False: the response says why the request is not done. */
static bool find_key(dn_self *self, const api_world *w, exchange *x, http_text key) {
    const idempotency_state state =
        idempotency_find(w->idempotency, x->who.token, x->head->method, x->head->path, key,
                         dn_mono_ns(self) / 1000000, &x->entry);
    const char *conflict = key_conflict(state);

    x->repeats = state == IDEMPOTENCY_ANSWERED;
    if (x->repeats || state == IDEMPOTENCY_NEW) return true;
    if (conflict) (void)reply_problem(x, 409, "%s", conflict);
    else (void)reply_no_memory(x);
    return false;
}

static bool take_key(dn_self *self, const api_world *w, exchange *x) {
    const http_text *key = http_field_of(x->head, "idempotency-key");

    if (!key || x->route->scope == DN_SCOPE_NONE || strcmp(x->route->method, "POST") != 0)
        return true;
    if (!is_key(*key)) {
        (void)reply_problem(x, 400, "Idempotency-Key must be 1 to 255 visible ASCII characters");
        return false;
    }
    if (!find_key(self, w, x, *key)) return false;
    if (!digest_begin(x)) (void)reply_no_memory(x);
    return x->response.status == 0;
}

/* The whole body has come: is it that of the first request? */
static route_step repeat(exchange *x) {
    uint8_t body[IDEMPOTENCY_DIGEST];

    if (EVP_DigestFinal_ex(x->sum, body, NULL) != 1) return reply_no_memory(x);
    if (memcmp(body, x->entry->body, sizeof body) != 0)
        return reply_problem(x, 422,
                             "this Idempotency-Key was used with another body; use a new one");
    return reply_response(x, idempotency_replay(x->entry));
}

/* A refused request frees its key, so that it can be corrected and sent again. The key stays taken where the request may
 * yet be done, or was done and its answer could not be made. */
static void finish_key(dn_self *self, const api_world *w, exchange *x) {
    uint8_t    body[IDEMPOTENCY_DIGEST];
    const bool answered = x->response.status >= 200 && x->response.status < 300;

    if (!x->entry || x->repeats) return;
    idempotency_entry *const e = DN_TAKE(x->entry);
    if (answered && EVP_DigestFinal_ex(x->sum, body, NULL) == 1)
        idempotency_keep(w->idempotency, e, body, &x->response);
    else if (answered || x->committed) idempotency_mark_lost(e);
    else if (x->is_unanswered) idempotency_mark_unknown(e, dn_mono_ns(self) / 1000000);
    else idempotency_forget(w->idempotency, e);
}

/* ---- A request ---- */

static route_step run_handler(dn_self *self, const api_world *w, exchange *x) {
    char why[FIELDS_WHY];

    if (x->repeats) return repeat(x);
    if (x->route->body == ROUTE_JSON &&
        !is_taken(x, fields_read_json(x->route->members, x->body, x->body_len, &x->members, why),
                  why))
        return ROUTE_DONE;
    return x->route->handler(self, w, x);
}

static size_t body_max(const route *r) {
    return r->scope == DN_SCOPE_NONE ? ROUTE_OPEN_BODY_MAX : ROUTE_BODY_MAX;
}

static route_step wants_body(exchange *x) {
    if (x->route->body == ROUTE_JSON && x->head->content_length > (int64_t)body_max(x->route)) {
        const http_fault fault = exchange_body_too_long(x);
        return reply_problem(x, fault.status, "%s", fault.detail);
    }
    x->body_ends = false;
    return ROUTE_WANTS_BODY;
}

route_step exchange_begin(dn_self *self, const api_world *w, exchange *x, const http_head *head) {
    const char *allow;

    *x = (exchange){.head = head, .body = "", .body_ends = true};
    x->route = router_find(w->router, head->method, head->path, &x->captures, &allow);
    if (!x->route) return reply_no_route(x, allow);
    if (!w->auth->loaded && needs_tokens(w, x->route, head)) {
        (void)reply_problem(x, 503, "the tokens are still being loaded; try again");
        return ROUTE_WANTS_TOKENS;
    }
    if (!authorize(self, w, x) || !take_head(x) || !take_key(self, w, x)) return ROUTE_DONE;
    if (x->route->body != ROUTE_NO_BODY && has_body(head)) return wants_body(x);
    return run_handler(self, w, x);
}

/* One byte more than allowed, so that a longer body is seen to be one. */
size_t exchange_body_max(const exchange *x) {
    return x->route->body == ROUTE_STREAM ? ROUTE_PIECE : body_max(x->route) + 1;
}

http_fault exchange_body_too_long(const exchange *x) {
    return (http_fault){413, x->route->scope == DN_SCOPE_NONE
                                 ? "the body is longer than 4 KiB, the most allowed here"
                                 : "the body is longer than 1 MiB, the most allowed here"};
}

route_step exchange_body(dn_self *self, const api_world *w, exchange *x, const char *body,
                         size_t len, bool ends) {
    x->body = body;
    x->body_len = len;
    x->body_ends = ends;
    if (!exchange_still_may(self, w, x))
        return reply_unauthorized(x, "the token is no longer valid; the rest is not read");
    if (x->sum && EVP_DigestUpdate(x->sum, body, len) != 1) return reply_no_memory(x);
    if (x->repeats && !ends) return ROUTE_WANTS_BODY;
    return run_handler(self, w, x);
}

route_step exchange_go_on(dn_self *self, const api_world *w, exchange *x, const dn_msg *reply) {
    const bool failed = dn_msg_kind(reply) == DN_MSG_CALL_FAILED;

    assert(x->next);
    x->call = 0;
    if (!failed) return x->next(self, w, x, reply);
    if (x->tries) return x->next(self, w, x, NULL);
    x->is_unanswered = true; /* it is in a mailbox, or was done and the answer came too late */
    return reply_problem(x, 503, "the daemon cannot answer now (%s); try again",
                         dn_error_text(DN_BODY(dn_call_failed, reply)->status));
}

void exchange_finish(dn_self *self, const api_world *w, exchange *x) {
    finish_key(self, w, x);
    http_refine(x->head, w->tag_key, &x->response);
}

void exchange_done(const api_world *w, exchange *x) {
    field_values_done(&x->query);
    field_values_done(&x->members);
    EVP_MD_CTX_free(DN_TAKE(x->sum));
    if (x->entry && x->repeats) idempotency_release(x->entry);
    else if (x->entry) idempotency_forget(w->idempotency, x->entry);
    x->entry = NULL;
    if (x->state) x->state_free(DN_TAKE(x->state));
    free(DN_TAKE(x->path_text));
    free(DN_TAKE(x->response.body));
}

/* ---- For handlers ---- */

route_step exchange_wait(exchange *x, dn_call_id call, reply_fn *next) {
    x->call = call;
    x->next = next;
    x->tries = false;
    return ROUTE_WAITS;
}

static route_step call_for(dn_self *self, exchange *x, dn_ref to, uint32_t kind, const void *body,
                           size_t size, int64_t timeout_ms, reply_fn *next) {
    dn_call_id call;
    const int  rc = dn_call(self, to, kind, body, size, timeout_ms, &call);

    if (rc == DN_OK) return exchange_wait(x, call, next);
    return reply_problem(x, 503, "the daemon cannot answer now (%s); try again", dn_error_text(rc));
}

route_step exchange_call(dn_self *self, exchange *x, dn_ref to, uint32_t kind, const void *body,
                         size_t size, reply_fn *next) {
    return call_for(self, x, to, kind, body, size, CALL_MS, next);
}

route_step exchange_call_long(dn_self *self, exchange *x, dn_ref to, uint32_t kind,
                              const void *body, size_t size, reply_fn *next) {
    return call_for(self, x, to, kind, body, size, LONG_CALL_MS, next);
}

route_step exchange_try(dn_self *self, const api_world *w, exchange *x, dn_ref to, uint32_t kind,
                        const void *body, size_t size, int64_t timeout_ms, reply_fn *next) {
    dn_call_id call;

    if (dn_call(self, to, kind, body, size, timeout_ms, &call) < 0) return next(self, w, x, NULL);
    (void)exchange_wait(x, call, next);
    x->tries = true;
    return ROUTE_WAITS;
}

void *exchange_keep(exchange *x, size_t size, void (*state_free)(void *state)) {
    assert(!x->state);
    x->state = calloc(1, size);
    x->state_free = state_free ? state_free : free;
    return x->state;
}

bool exchange_wants(const exchange *x, const char *parameter) {
    for (http_text rest = x->head->query, name, value; http_query_next(&rest, &name, &value);)
        if (http_text_is(name, parameter)) return true;
    return false;
}

bool exchange_id(exchange *x, dn_kv_id *out_id) {
    const http_text id = x->captures.at[0];
    const char     *fault = dn_id_fault(id.at, id.len);

    if (fault) {
        (void)reply_problem(x, 400, "the id %s", fault);
        return false;
    }
    *out_id = (dn_kv_id){.len = (uint8_t)id.len};
    memcpy(out_id->id, id.at, id.len);
    return true;
}
