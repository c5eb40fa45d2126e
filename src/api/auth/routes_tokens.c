/* routes_tokens.c - /api/v1/tokens: making, listing and revoking tokens. */
#include "daily/json_user.h"
#include "reply.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static json_t *text_or_null(const char *text, size_t len) {
    return len > 0 ? json_stringn(text, len) : json_null();
}

static json_t *json_of_token(const dn_token *t) {
    return json_pack("{s:I, s:s%, s:s, s:o, s:o, s:o, s:o}", "id", (json_int_t)t->id, "name",
                     t->name, (size_t)t->name_len, "scope", dn_scope_text(t->scope), "tenant",
                     text_or_null(t->tenant, t->tenant_len), "user",
                     text_or_null(t->user, t->user_len), "created_at", json_of_instant(t->made_ms),
                     "expires_at",
                     t->ends_ms == INT64_MAX ? json_null() : json_of_instant(t->ends_ms));
}

/* The token of the request: one with a tenant sees and changes tokens of that tenant alone. */
static const dn_token *asking(const api_world *w, const exchange *x) {
    return auth_token(w->auth, x->who.token);
}

static bool is_visible(const dn_token *asks, const dn_token *t) {
    return asks->tenant_len == 0 || (asks->tenant_len == t->tenant_len &&
                                     memcmp(asks->tenant, t->tenant, t->tenant_len) == 0);
}

/* ---- GET /api/v1/tokens: at most DN_TOKENS_MAX, so one page has all of them ---- */

static route_step list_tokens(dn_self *self, const api_world *w, exchange *x) {
    const dn_token *asks = asking(w, x);
    json_t         *items = json_array();

    (void)self;
    for (size_t i = 0; i < w->auth->len; i++)
        if (is_visible(asks, &w->auth->tokens[i]))
            reply_append(&items, json_of_token(&w->auth->tokens[i]));
    return reply_page(x, items, json_null());
}

/* ---- POST /api/v1/tokens ---- */

enum { MAKE_NAME, MAKE_SCOPE, MAKE_TENANT, MAKE_USER, MAKE_EXPIRES_AT };
static const field make_members[] = {
    [MAKE_NAME] = {.name = "name", .type = FIELD_TEXT, .required = true, .max = DN_TOKEN_NAME_MAX},
    [MAKE_SCOPE] = {.name = "scope", .type = FIELD_TEXT, .required = true},
    [MAKE_TENANT] = {.name = "tenant", .type = FIELD_TEXT, .nullable = true},
    [MAKE_USER] = {.name = "user", .type = FIELD_TEXT, .nullable = true},
    [MAKE_EXPIRES_AT] = {.name = "expires_at", .type = FIELD_TEXT, .nullable = true},
    {.name = NULL},
};

/* The text of the token is in memory until it is shown, once. */
typedef struct make_state {
    char text[DN_TOKEN_TEXT];
} make_state;

static void make_free(void *state) {
    explicit_bzero(state, sizeof(make_state));
    free(state);
}

static bool take_name(exchange *x, dn_token *t) {
    const field_value *name = &x->members.at[MAKE_NAME];
    const char        *fault = dn_id_fault(name->text, name->len);

    if (fault) {
        (void)reply_problem(x, 400, "\"name\" %s", fault);
        return false;
    }
    t->name_len = (uint8_t)name->len;
    memcpy(t->name, name->text, name->len);
    return true;
}

static bool take_scope(exchange *x, dn_token *t) {
    const field_value *scope = &x->members.at[MAKE_SCOPE];

    t->scope = dn_scope_read(scope->text, scope->len);
    if (t->scope == DN_SCOPE_NONE)
        (void)reply_problem(x, 400, "\"scope\" must be read, operate or admin");
    return t->scope != DN_SCOPE_NONE;
}

static bool is_tenant(const char *text, size_t len) {
    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)text[i]) && !strchr("._:-", text[i])) return false;
    return len > 0 && len <= DN_TENANT_MAX && !memchr(text, '\0', len);
}

/* The tenant of the token that asks, where it has one and none is named. */
static bool take_tenant(exchange *x, const dn_token *asks, dn_token *t) {
    const field_value *tenant = &x->members.at[MAKE_TENANT];

    if (tenant->given && !is_tenant(tenant->text, tenant->len)) {
        (void)reply_problem(x, 400, "\"tenant\" must be 1 to %d characters of A-Z a-z 0-9 . _ : -",
                            DN_TENANT_MAX);
        return false;
    }
    t->tenant_len = tenant->given ? (uint8_t)tenant->len : asks->tenant_len;
    memcpy(t->tenant, tenant->given ? tenant->text : asks->tenant, t->tenant_len);
    if (is_visible(asks, t)) return true;
    (void)reply_problem(x, 403, "\"tenant\" must be \"%s\", the tenant of the token that asks",
                        asks->tenant);
    return false;
}

static bool take_user(exchange *x, dn_token *t) {
    const field_value *user = &x->members.at[MAKE_USER];
    const char        *fault = user->given ? dn_id_fault(user->text, user->len) : NULL;

    if (!user->given) return true;
    if (!fault && t->tenant_len == 0) fault = "needs a tenant: a token has a user of one tenant";
    if (fault) {
        (void)reply_problem(x, 400, "\"user\" %s", fault);
        return false;
    }
    t->user_len = (uint8_t)user->len;
    memcpy(t->user, user->text, user->len);
    return true;
}

static bool take_expiry(exchange *x, dn_token *t) {
    const field_value *at = &x->members.at[MAKE_EXPIRES_AT];

    t->ends_ms = INT64_MAX;
    if (!at->given ||
        (dn_instant_read(at->text, at->len, &t->ends_ms) == DN_OK && t->ends_ms > t->made_ms))
        return true;
    (void)reply_problem(
        x, 400,
        "\"expires_at\" must be an instant in the future, for example 2030-01-31T08:00:00Z");
    return false;
}

static route_step token_made(dn_self *self, const api_world *w, exchange *x, const dn_msg *reply) {
    const dn_kv_token_answer *answer = DN_BODY(dn_kv_token_answer, reply);
    const make_state         *made = x->state;

    (void)self;
    if (answer->status != DN_OK) return reply_store_error(x, answer->status);
    x->committed = true;
    if (auth_add(w->auth, &answer->token) < 0) return reply_no_memory(x);
    json_t *shown = json_pack("{s:s}", "token", made->text);
    if (json_object_update_new(shown, json_of_token(&answer->token)) < 0) {
        json_decref(shown);
        return reply_no_memory(x);
    }
    return reply_json(x, 201, shown);
}

static route_step make_token(dn_self *self, const api_world *w, exchange *x) {
    dn_token    t = {.made_ms = dn_now_ms(self)};
    make_state *made = exchange_keep(x, sizeof *made, make_free);

    if (!made) return reply_no_memory(x);
    if (!take_name(x, &t) || !take_scope(x, &t) || !take_tenant(x, asking(w, x), &t) ||
        !take_user(x, &t) || !take_expiry(x, &t))
        return ROUTE_DONE;
    if (w->auth->len >= DN_TOKENS_MAX)
        return reply_problem(x, 400, "there are %d tokens, the most allowed; revoke one first",
                             DN_TOKENS_MAX);
    if (dn_token_make(made->text, t.hash) < 0)
        return reply_problem(x, 500, "the system has no randomness for a token");
    return exchange_call(self, x, w->kv, MSG_KV_TOKEN_ADD, &t, sizeof t, token_made);
}

/* ---- DELETE /api/v1/tokens/{id} ---- */

/* 0: the text is no number of a token. */
static uint64_t number_read(http_text text) {
    uint64_t n = 0;

    if (text.len == 0 || text.len > 18) return 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] < '0' || text.at[i] > '9') return 0;
        n = n * 10 + (uint64_t)(text.at[i] - '0');
    }
    return n;
}

static route_step token_revoked(dn_self *self, const api_world *w, exchange *x,
                                const dn_msg *reply) {
    const dn_kv_token_answer *answer = DN_BODY(dn_kv_token_answer, reply);

    (void)self, (void)w;
    if (answer->status == DN_EDEAD) return reply_unknown(x, "token");
    return answer->status == DN_OK ? reply_empty(x) : reply_store_error(x, answer->status);
}

/* It is refused from here on, whether or not the store can write that down. */
static route_step revoke_token(dn_self *self, const api_world *w, exchange *x) {
    const uint64_t  n = number_read(x->captures.at[0]);
    const dn_token *t = n > 0 ? auth_token(w->auth, n) : NULL;

    /* One that is refused already may still be in the store, where a revocation met a full disk. */
    if (n == 0 || (t ? !is_visible(asking(w, x), t) : x->who.has_tenant))
        return reply_unknown(x, "token");
    auth_revoke(w->auth, n);
    return exchange_call(self, x, w->kv, MSG_KV_TOKEN_REMOVE, &n, sizeof n, token_revoked);
}

const route routes_tokens[] = {
    {"GET", "/api/v1/tokens", DN_SCOPE_ADMIN, .handler = list_tokens, .for_tenants = true},
    {"POST", "/api/v1/tokens", DN_SCOPE_ADMIN, ROUTE_JSON, .handler = make_token,
     .members = make_members, .for_tenants = true},
    {"DELETE", "/api/v1/tokens/{id}", DN_SCOPE_ADMIN, .handler = revoke_token, .for_tenants = true},
    {.method = NULL},
};
