/* routes_session.c - /api/v1/session and /api/v1/tickets: how a browser logs in and out.
 * It sends a token once, or a ticket, which is good for one login within a minute and so may stand in a link. From then
 * on it has a cookie that no script can read and that no other site can make it send. A request that changes something
 * by cookie also needs a header that only our own page can set: exchange.c. */
#include "reply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static route_step reply_session(const api_world *w, exchange *x, uint64_t token) {
    const dn_token *t = auth_token(w->auth, token);

    if (!t) return reply_unauthorized(x, "the token was revoked");
    const char *tenant = t->tenant_len > 0 ? t->tenant : NULL;
    return reply_json(x, 200,
                      json_pack("{s:s%, s:s, s:s?}", "name", t->name, (size_t)t->name_len, "scope",
                                dn_scope_text(t->scope), "tenant", tenant));
}

static void set_cookie(const api_world *w, exchange *x, const char *value, int max_age_s) {
    char name[AUTH_COOKIE_NAME];

    auth_cookie_name(x->head, name);
    (void)snprintf(x->fields, sizeof x->fields,
                   "Set-Cookie: %s=%s; Path=/; Max-Age=%d; HttpOnly; SameSite=Strict%s\r\n", name,
                   value, max_age_s, w->encrypted ? "; Secure" : "");
    x->response.fields = x->fields;
}

/* ---- POST /api/v1/session ---- */

enum { LOGIN_TOKEN };
static const field login_members[] = {
    [LOGIN_TOKEN] = {.name = "token", .type = FIELD_TEXT, .required = true}, {.name = NULL}};

static route_step log_in(dn_self *self, const api_world *w, exchange *x) {
    const field_value *shown = &x->members.at[LOGIN_TOKEN];
    const int64_t      now_ms = dn_now_ms(self);
    const uint64_t     token = auth_redeem(w->auth, shown->text, shown->len, now_ms);
    char               session[DN_TOKEN_TEXT];

    if (token == 0)
        return reply_unauthorized(x, "invalid token, or a ticket that was used or has expired");
    if (auth_token(w->auth, token)->user_len > 0)
        return reply_problem(x, 403, "a token with a user cannot log in to the dashboard");
    auth_logout(w->auth, x->head); /* a browser has one session */
    if (auth_pass_make(w->auth, token, /* is_ticket= */ false, now_ms, session) < 0)
        return reply_problem(x, 500, "the system has no randomness for a session");
    (void)reply_session(w, x, token);
    set_cookie(w, x, session, AUTH_SESSION_MS / 1000);
    return ROUTE_DONE;
}

/* ---- GET and DELETE /api/v1/session ---- */

static route_step get_session(dn_self *self, const api_world *w, exchange *x) {
    (void)self;
    return reply_session(w, x, x->who.token);
}

static route_step log_out(dn_self *self, const api_world *w, exchange *x) {
    (void)self;
    auth_logout(w->auth, x->head);
    (void)reply_empty(x);
    set_cookie(w, x, "", 0);
    return ROUTE_DONE;
}

/* ---- POST /api/v1/tickets ---- */

static route_step make_ticket(dn_self *self, const api_world *w, exchange *x) {
    char text[DN_TOKEN_TEXT];

    if (auth_pass_make(w->auth, x->who.token, /* is_ticket= */ true, dn_now_ms(self), text) < 0)
        return reply_problem(x, 500, "the system has no randomness for a ticket");
    return reply_json(x, 201,
                      json_pack("{s:s, s:i}", "ticket", text, "seconds", AUTH_TICKET_MS / 1000));
}

const route routes_session[] = {
    {"POST", ROUTE_LOGIN, DN_SCOPE_NONE, ROUTE_JSON, log_in, .members = login_members},
    {"GET", ROUTE_LOGIN, DN_SCOPE_READ, .handler = get_session, .for_tenants = true},
    {"DELETE", ROUTE_LOGIN, DN_SCOPE_READ, .handler = log_out, .for_tenants = true},
    {"POST", "/api/v1/tickets", DN_SCOPE_READ, .handler = make_ticket, .for_tenants = true},
    {.method = NULL},
};
