/* auth.c - see auth.h. */
#include "auth.h"

#include <assert.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Tokens stand in the order of their numbers, and every session and ticket belongs to one. */
static bool passes_are_sound(const auth *a, const auth_pass passes[AUTH_PASSES_MAX]) {
    for (size_t i = 0; i < AUTH_PASSES_MAX; i++)
        if (passes[i].token != 0 && !auth_token(a, passes[i].token)) return false;
    return true;
}

bool auth_is_sound(const auth *a) {
    for (size_t i = 0; i < a->len; i++)
        if (a->tokens[i].id <= (i > 0 ? a->tokens[i - 1].id : 0) ||
            !dn_token_is_sound(&a->tokens[i]))
            return false;
    return passes_are_sound(a, a->sessions) && passes_are_sound(a, a->tickets);
}

void auth_done(auth *a) {
    free(a->tokens);
    *a = (auth){0};
}

int auth_load(auth *a, const dn_token *tokens, size_t len) {
    dn_token *copy = malloc((len + 1) * sizeof *copy);

    if (!copy) return DN_ENOMEM;
    if (len > 0) memcpy(copy, tokens, len * sizeof *copy);
    free(a->tokens);
    *a = (auth){.loaded = true, .tokens = copy, .len = len};
    assert(auth_is_sound(a));
    return DN_OK;
}

int auth_add(auth *a, const dn_token *token) {
    dn_token *more = realloc(a->tokens, (a->len + 1) * sizeof *more);

    if (!more) return DN_ENOMEM;
    a->tokens = more;
    a->tokens[a->len++] = *token;
    assert(auth_is_sound(a));
    return DN_OK;
}

void auth_revoke(auth *a, uint64_t token) {
    assert(auth_is_sound(a));
    for (size_t i = 0; i < AUTH_PASSES_MAX; i++) {
        if (a->sessions[i].token == token) a->sessions[i] = (auth_pass){0};
        if (a->tickets[i].token == token) a->tickets[i] = (auth_pass){0};
    }
    for (size_t i = 0; i < a->len; i++) {
        if (a->tokens[i].id != token) continue;
        a->len--;
        memmove(&a->tokens[i], &a->tokens[i + 1], (a->len - i) * sizeof *a->tokens);
        break;
    }
    assert(auth_is_sound(a));
}

/* ---- Tokens ---- */

/* The valid token of that hash, or NULL. Every hash is compared to its end, so that the time taken tells nothing. */
static const dn_token *token_of(const auth *a, const uint8_t hash[DN_TOKEN_HASH], int64_t now_ms) {
    const dn_token *found = NULL;

    for (size_t i = 0; i < a->len; i++) {
        const dn_token *t = &a->tokens[i];
        const bool      same = CRYPTO_memcmp(t->hash, hash, DN_TOKEN_HASH) == 0;
        if (same && now_ms < t->ends_ms) found = t;
    }
    return found;
}

const dn_token *auth_token(const auth *a, uint64_t token) {
    for (size_t i = 0; i < a->len; i++)
        if (a->tokens[i].id == token) return &a->tokens[i];
    return NULL;
}

static const dn_token *valid_token(const auth *a, uint64_t token, int64_t now_ms) {
    const dn_token *t = auth_token(a, token);

    return t && now_ms < t->ends_ms ? t : NULL;
}

/* False: the head has no bearer token of our form. */
static bool bearer_hash(const http_head *head, uint8_t hash[DN_TOKEN_HASH]) {
    static const char scheme[] = "Bearer ";
    const size_t      scheme_len = sizeof scheme - 1;
    const http_text  *value = http_field_of(head, "authorization");

    return value && value->len > scheme_len && strncasecmp(value->at, scheme, scheme_len) == 0 &&
           dn_token_hash(value->at + scheme_len, value->len - scheme_len, hash);
}

/* ---- Sessions and tickets ---- */

void auth_cookie_name(const http_head *head, char name[AUTH_COOKIE_NAME]) {
    const http_text port = http_host_port(head);

    (void)snprintf(name, AUTH_COOKIE_NAME, "%s%s%.*s", AUTH_COOKIE, port.len > 0 ? "_" : "",
                   port.len > 5 ? 5 : (int)port.len, port.at);
}

static bool cookie_hash(const http_head *head, uint8_t hash[DN_TOKEN_HASH]) {
    const http_text *value = http_field_of(head, "cookie");
    char             name[AUTH_COOKIE_NAME];

    if (!value) return false;
    auth_cookie_name(head, name);
    const size_t name_len = strlen(name);
    const char *at = value->at, *const end = at + value->len;
    while (at < end) {
        while (at < end && (*at == ' ' || *at == ';')) at++;
        const char *stop = memchr(at, ';', (size_t)(end - at));
        if (!stop) stop = end;
        if ((size_t)(stop - at) > name_len && memcmp(at, name, name_len) == 0 &&
            at[name_len] == '=')
            return dn_token_hash(at + name_len + 1, (size_t)(stop - at) - name_len - 1, hash);
        at = stop;
    }
    return false;
}

static bool has_ended(const auth_pass *p, int64_t now_ms) {
    return now_ms >= p->ends_ms || now_ms - p->used_ms >= AUTH_IDLE_MS;
}

static auth_pass *pass_of(auth_pass passes[AUTH_PASSES_MAX], const uint8_t hash[DN_TOKEN_HASH],
                          int64_t now_ms) {
    auth_pass *found = NULL;

    for (size_t i = 0; i < AUTH_PASSES_MAX; i++) {
        auth_pass *p = &passes[i];
        const bool same = CRYPTO_memcmp(p->hash, hash, DN_TOKEN_HASH) == 0;
        if (p->token != 0 && same && !has_ended(p, now_ms)) found = p;
    }
    return found;
}

static size_t passes_held_by(const auth_pass passes[AUTH_PASSES_MAX], uint64_t token) {
    size_t len = 0;

    for (size_t i = 0; i < AUTH_PASSES_MAX; i++) len += passes[i].token == token;
    return len;
}

static auth_pass *pass_place(const auth *a, auth_pass passes[AUTH_PASSES_MAX], uint64_t token,
                             int64_t now_ms) {
    auth_pass *last = NULL;
    size_t     most = 0;

    for (size_t i = 0; i < AUTH_PASSES_MAX; i++) {
        auth_pass *p = &passes[i];
        if (p->token == 0 || has_ended(p, now_ms) || !valid_token(a, p->token, now_ms)) return p;
        const size_t held = p->token == token ? SIZE_MAX : passes_held_by(passes, p->token);
        if (held < most || (held == most && p->used_ms >= last->used_ms)) continue;
        last = p;
        most = held;
    }
    return last;
}

int auth_pass_make(auth *a, uint64_t token, bool is_ticket, int64_t now_ms,
                   char text[DN_TOKEN_TEXT]) {
    auth_pass p = {.token = token,
                   .ends_ms = now_ms + (is_ticket ? AUTH_TICKET_MS : AUTH_SESSION_MS),
                   .used_ms = now_ms};
    const int rc = dn_token_make(text, p.hash);

    assert(auth_is_sound(a) && auth_token(a, token));
    if (rc == DN_OK) *pass_place(a, is_ticket ? a->tickets : a->sessions, token, now_ms) = p;
    return rc;
}

uint64_t auth_redeem(auth *a, const char *text, size_t len, int64_t now_ms) {
    uint8_t hash[DN_TOKEN_HASH];

    if (!dn_token_hash(text, len, hash)) return 0;
    const dn_token *t = token_of(a, hash, now_ms);
    if (t) return t->id;
    auth_pass *ticket = pass_of(a->tickets, hash, now_ms);
    if (!ticket) return 0;
    const uint64_t n = ticket->token;
    *ticket = (auth_pass){0};
    return valid_token(a, n, now_ms) ? n : 0;
}

void auth_logout(auth *a, const http_head *head) {
    uint8_t    hash[DN_TOKEN_HASH];
    auth_pass *p = cookie_hash(head, hash) ? pass_of(a->sessions, hash, 0) : NULL;

    if (p) *p = (auth_pass){0};
}

/* ---- Requests ---- */

static auth_identity identity_of(const dn_token *t, bool by_cookie) {
    if (!t) return (auth_identity){0};
    return (auth_identity){.scope = t->scope,
                           .token = t->id,
                           .has_tenant = t->tenant_len > 0,
                           .has_user = t->user_len > 0,
                           .by_cookie = by_cookie};
}

auth_identity auth_identify(auth *a, const http_head *head, int64_t now_ms) {
    const dn_token *t = NULL;
    uint8_t         hash[DN_TOKEN_HASH];

    if (bearer_hash(head, hash)) return identity_of(token_of(a, hash, now_ms), false);
    auth_pass *p = cookie_hash(head, hash) ? pass_of(a->sessions, hash, now_ms) : NULL;
    if (p) t = valid_token(a, p->token, now_ms);
    if (t) p->used_ms = now_ms;
    return identity_of(t, true);
}
