/* auth.h - who may: the tokens there are, the sessions of browsers, and what a request allows.
 * Kept in memory beside the actor that asks; it is the only one that changes them, so what it has removed is worth nothing
 * at once. A browser shows its token once, and has a cookie from then on: a session, which may no more than its token,
 * and ends with it. */
#ifndef DIURNAL_API_AUTH_H
#define DIURNAL_API_AUTH_H

#include "http/http_head.h"
#include "token.h"

enum {
    GUARD_PASSES_MAX = 64,               /* sessions, and as many tickets */
    GUARD_SESSION_MS = 12 * 3600 * 1000, /* from the login on */
    GUARD_IDLE_MS = 2 * 3600 * 1000,     /* without a request */
    GUARD_TICKET_MS = 60 * 1000,
};
/* To a browser all ports of a host are one: the cookie has that in its name for which it is meant, or who logs in at a second
 * daemon is no longer known at the first. It is the port the browser knows, which need not be ours. */
#define GUARD_COOKIE "diurnal_session"
enum { GUARD_COOKIE_NAME = sizeof GUARD_COOKIE + 8 };

/* A secret that stands for a token: of a browser, or a ticket, which is one for a single login. */
typedef struct guard_pass {
    uint64_t n; /* of the token; 0: there is none */
    uint8_t  hash[DN_TOKEN_HASH];
    int64_t  ends_ms, used_ms;
} guard_pass;

typedef struct guard {
    bool       known; /* they have been read */
    dn_token  *tokens;
    size_t     len;
    guard_pass sessions[GUARD_PASSES_MAX], tickets[GUARD_PASSES_MAX];
} guard;

/* Who asks. */
typedef struct guard_who {
    dn_scope scope; /* DN_SCOPE_NONE: nobody who is known */
    uint64_t n;     /* the token */
    bool
        by_cookie; /* a browser adds it whoever made it ask: it alone is not enough to change anything */
} guard_who;

void guard_done(guard *g);

/* Those there are, copied. DN_ENOMEM: it knows what it knew. */
DN_MUST_USE int guard_learn(guard *g, const dn_token *tokens, size_t len);
DN_MUST_USE int guard_add(guard *g, const dn_token *token);
void            guard_remove(guard *g, uint64_t n);

/* What a browser that asks so is to call its cookie: diurnal_session_1440, or diurnal_session if it names no port. */
void guard_cookie_name(const http_head *head, char name[GUARD_COOKIE_NAME]);

/* By its token, else by its cookie. */
guard_who guard_of(guard *g, const http_head *head, int64_t now_ms);

/* Of a text somebody shows to log in, a token or a ticket. A ticket is worth nothing afterwards. 0: it is neither. */
uint64_t guard_shown(guard *g, const char *text, size_t len, int64_t now_ms);
/* Makes a session or a ticket for a token. Where there is no place left one that has ended makes room, else one of the same
 * token, else one of the token that has most of them, and of those the one not used for the longest: so whoever comes often
 * ends what is his own. DN_EIO: the system has no randomness. */
DN_MUST_USE int guard_pass_make(guard *g, uint64_t n, bool is_ticket, int64_t now_ms,
                                char text[DN_TOKEN_TEXT]);
/* Ends the session of a request, if it has one. */
void guard_logout(guard *g, const http_head *head);

#endif
