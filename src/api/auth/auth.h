/* auth.h - who sends a request: tokens, browser sessions, and login tickets.
 * They are in the memory of the web actor, the only one that changes them, so a revoked token is refused at once. A
 * browser sends its token once and has a cookie from then on: a session, which allows no more than its token and ends
 * with it. */
#ifndef DIURNAL_API_AUTH_H
#define DIURNAL_API_AUTH_H

#include "http/http_head.h"
#include "token.h"

enum {
    AUTH_PASSES_MAX = 64, /* sessions, and as many tickets; beyond them one is evicted */
    AUTH_SESSION_MS = 12 * 3600 * 1000, /* from the login on */
    AUTH_IDLE_MS = 2 * 3600 * 1000,     /* without a request */
    AUTH_TICKET_MS = 60 * 1000,
};
/* The cookie's name has the port in it, because browsers send cookies to all ports of a host: without it, logging in at a
 * second daemon would log out of the first. It is the port the browser uses, which a proxy may have changed. */
#define AUTH_COOKIE "diurnal_session"
enum { AUTH_COOKIE_NAME = sizeof AUTH_COOKIE + 8 };

/* A secret that stands for a token: a browser's session, or a ticket, which is good for one login. */
typedef struct auth_pass {
    uint64_t token; /* its number; 0: this place is free */
    uint8_t  hash[DN_TOKEN_HASH];
    int64_t  ends_ms, used_ms;
} auth_pass;

typedef struct auth {
    bool      loaded; /* the tokens have been read from the store */
    dn_token *tokens;
    size_t    len;
    auth_pass sessions[AUTH_PASSES_MAX], tickets[AUTH_PASSES_MAX];
} auth;

/* Who sends a request. */
typedef struct auth_identity {
    dn_scope scope;                /* DN_SCOPE_NONE: no valid token or session */
    uint64_t token;                /* its number */
    bool     has_tenant, has_user; /* their names: auth_token() */
    bool     by_cookie; /* another site can make a browser send it, so it alone changes nothing */
} auth_identity;

void auth_done(auth *a);
bool auth_is_sound(const auth *a);

/* Replaces all tokens, copied, and ends all sessions. DN_ENOMEM: nothing changes. */
DN_MUST_USE int auth_load(auth *a, const dn_token *tokens, size_t len);
DN_MUST_USE int auth_add(auth *a, const dn_token *token);
/* Forgets a token, its sessions and its tickets. */
void auth_revoke(auth *a, uint64_t token);
/* The token of that number, or NULL; valid until the tokens change. */
const dn_token *auth_token(const auth *a, uint64_t token);

/* The name of a browser's cookie: diurnal_session_1440, or diurnal_session if the Host has no port. */
void auth_cookie_name(const http_head *head, char name[AUTH_COOKIE_NAME]);

/* By the bearer token, else by the session cookie. */
auth_identity auth_identify(auth *a, const http_head *head, int64_t now_ms);

/* The number of the token behind a text sent to log in, a token or a ticket; 0: it is neither. Uses a ticket up. */
uint64_t auth_redeem(auth *a, const char *text, size_t len, int64_t now_ms);
/* Makes a session or a ticket for a token. When all places are taken it replaces, in this order: one that has ended; one
 * of the same token; one of the token that has most. Of several it takes the one not used for longest. So a token that
 * logs in often ends its own sessions first. DN_EIO: the system has no randomness. */
DN_MUST_USE int auth_pass_make(auth *a, uint64_t token, bool is_ticket, int64_t now_ms,
                               char text[DN_TOKEN_TEXT]);
/* Ends the session of a request, if it has one. */
void auth_logout(auth *a, const http_head *head);

#endif
