/* routes_session.c - /api/v1/session and /api/v1/tickets: how a browser comes in, and goes.
 * It shows a token once, or a ticket, which is worth one login within a minute and so may stand in a link; from then on it
 * has a cookie that no script can read and that no other site's page makes it send. Whatever is changed by cookie wants a
 * field that only our own page can set: routes.c. */
#include "routes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const dn_token *token_of(const route_world *w, uint64_t n) {
    for (size_t i = 0; i < w->guard->len; i++)
        if (w->guard->tokens[i].id == n) return &w->guard->tokens[i];
    return NULL;
}

static http_response session_answer(const route_world *w, uint64_t n) {
    const dn_token *t = token_of(w, n);

    if (!t) return exchange_stranger("that token is gone");
    return api_json(200, json_pack("{s:s%, s:s}", "name", t->name, (size_t)t->name_len, "scope",
                                   dn_scope_text(t->scope)));
}

static const char *cookie_field(const route_world *w, exchange *x, const char *value,
                                int max_age_s) {
    char name[GUARD_COOKIE_NAME];

    guard_cookie_name(x->head, name);
    (void)snprintf(x->fields, sizeof x->fields,
                   "Set-Cookie: %s=%s; Path=/; Max-Age=%d; HttpOnly; SameSite=Strict%s\r\n", name,
                   value, max_age_s, w->encrypted ? "; Secure" : "");
    return x->fields;
}

/* ---- In ---- */

/* Whose token or ticket is shown; 0: the response says what is wrong. */
static uint64_t shown(const route_world *w, exchange *x, int64_t now_ms) {
    json_t       *body = api_body(x);
    const json_t *token = json_object_get(body, "token");
    uint64_t      n = 0;

    if (!body) return 0;
    if (!json_is_string(token))
        x->response = http_problem(400, "\"token\" is no text: a token, or a ticket");
    else if ((n = guard_shown(w->guard, json_string_value(token), json_string_length(token),
                              now_ms)) == 0)
        x->response = exchange_stranger("this is no token that is valid, nor a ticket that was "
                                        "not used yet");
    json_decref(body);
    return n;
}

static route_step login(dn_self *self, const route_world *w, exchange *x, const dn_msg *reply) {
    const int64_t  now_ms = dn_now_ms(self);
    const uint64_t n = shown(w, x, now_ms);
    char           session[DN_TOKEN_TEXT];

    (void)reply;
    if (n == 0) return ROUTE_DONE;
    guard_logout(w->guard, x->head); /* never two for one browser */
    if (guard_pass_make(w->guard, n, /* is_ticket= */ false, now_ms, session) < 0)
        return exchange_answer(x, http_problem(500, "the system has no randomness for a session"));
    http_response r = session_answer(w, n);
    r.fields = cookie_field(w, x, session, GUARD_SESSION_MS / 1000);
    return exchange_answer(x, r);
}

/* ---- Who, and out ---- */

static route_step who(dn_self *self, const route_world *w, exchange *x, const dn_msg *reply) {
    (void)self, (void)reply;
    return exchange_answer(x, session_answer(w, x->who.n));
}

static route_step logout(dn_self *self, const route_world *w, exchange *x, const dn_msg *reply) {
    http_response r = {.status = 204};

    (void)self, (void)reply;
    guard_logout(w->guard, x->head);
    r.fields = cookie_field(w, x, "", 0);
    return exchange_answer(x, r);
}

/* ---- Tickets ---- */

static route_step ticket(dn_self *self, const route_world *w, exchange *x, const dn_msg *reply) {
    char text[DN_TOKEN_TEXT];

    (void)reply;
    if (guard_pass_make(w->guard, x->who.n, /* is_ticket= */ true, dn_now_ms(self), text) < 0)
        return exchange_answer(x, http_problem(500, "the system has no randomness for a ticket"));
    return exchange_answer(x, api_json(201, json_pack("{s:s, s:i}", "ticket", text, "seconds",
                                                      GUARD_TICKET_MS / 1000)));
}

static const char *const login_members[] = {"token", NULL};
static const api         login_api = {.members = login_members};

const route routes_session[] = {
    {"POST", ROUTE_LOGIN, DN_SCOPE_NONE, ROUTE_JSON, login, &login_api},
    {"GET", "/api/v1/session", DN_SCOPE_READ, ROUTE_NO_BODY, who, NULL},
    {"DELETE", "/api/v1/session", DN_SCOPE_READ, ROUTE_NO_BODY, logout, NULL},
    {"POST", "/api/v1/tickets", DN_SCOPE_READ, ROUTE_NO_BODY, ticket, NULL},
    {.method = NULL},
};
