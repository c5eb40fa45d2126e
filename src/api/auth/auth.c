/* auth.c - see auth.h. */
#include "auth.h"

#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void guard_done(guard *g) {
    free(g->tokens);
    *g = (guard){0};
}

int guard_learn(guard *g, const dn_token *tokens, size_t len) {
    dn_token *copy = malloc((len + 1) * sizeof *copy);

    if (!copy) return DN_ENOMEM;
    if (len > 0) memcpy(copy, tokens, len * sizeof *copy);
    free(g->tokens);
    *g = (guard){.known = true, .tokens = copy, .len = len};
    return DN_OK;
}

int guard_add(guard *g, const dn_token *token) {
    dn_token *more = realloc(g->tokens, (g->len + 1) * sizeof *more);

    if (!more) return DN_ENOMEM;
    g->tokens = more;
    g->tokens[g->len++] = *token;
    return DN_OK;
}

void guard_remove(guard *g, uint64_t n) {
    for (size_t i = 0; i < GUARD_PASSES_MAX; i++) {
        if (g->sessions[i].n == n) g->sessions[i] = (guard_pass){0};
        if (g->tickets[i].n == n) g->tickets[i] = (guard_pass){0};
    }
    for (size_t i = 0; i < g->len; i++) {
        if (g->tokens[i].id != n) continue;
        g->len--;
        memmove(&g->tokens[i], &g->tokens[i + 1], (g->len - i) * sizeof *g->tokens);
        return;
    }
}

/* ---- Tokens ---- */

/* All are looked at, and each to its end: how long it takes tells nothing. NULL: it is none that is valid. */
static const dn_token *token_of(const guard *g, const uint8_t hash[DN_TOKEN_HASH], int64_t now_ms) {
    const dn_token *found = NULL;

    for (size_t i = 0; i < g->len; i++) {
        const dn_token *t = &g->tokens[i];
        const bool      same = CRYPTO_memcmp(t->hash, hash, DN_TOKEN_HASH) == 0;
        if (same && now_ms < t->ends_ms) found = t;
    }
    return found;
}

static const dn_token *token_numbered(const guard *g, uint64_t n, int64_t now_ms) {
    for (size_t i = 0; i < g->len; i++)
        if (g->tokens[i].id == n && now_ms < g->tokens[i].ends_ms) return &g->tokens[i];
    return NULL;
}

/* False: nothing of the kind is said. */
static bool bearer_hash(const http_head *head, uint8_t hash[DN_TOKEN_HASH]) {
    static const char scheme[] = "Bearer ";
    const size_t      scheme_len = sizeof scheme - 1;
    const http_text  *said = http_field_of(head, "authorization");

    return said && said->len > scheme_len && strncasecmp(said->at, scheme, scheme_len) == 0 &&
           dn_token_hash(said->at + scheme_len, said->len - scheme_len, hash);
}

/* ---- Sessions and tickets ---- */

void guard_cookie_name(const http_head *head, char name[GUARD_COOKIE_NAME]) {
    const http_text port = http_host_port(head);

    (void)snprintf(name, GUARD_COOKIE_NAME, "%s%s%.*s", GUARD_COOKIE, port.len > 0 ? "_" : "",
                   port.len > 5 ? 5 : (int)port.len, port.at);
}

static bool cookie_hash(const http_head *head, uint8_t hash[DN_TOKEN_HASH]) {
    const http_text *said = http_field_of(head, "cookie");
    char             name[GUARD_COOKIE_NAME];

    if (!said) return false;
    guard_cookie_name(head, name);
    const size_t name_len = strlen(name);
    const char *at = said->at, *const end = at + said->len;
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

static bool has_ended(const guard_pass *p, int64_t now_ms) {
    return now_ms >= p->ends_ms || now_ms - p->used_ms >= GUARD_IDLE_MS;
}

static guard_pass *pass_of(guard_pass passes[GUARD_PASSES_MAX], const uint8_t hash[DN_TOKEN_HASH],
                           int64_t now_ms) {
    guard_pass *found = NULL;

    for (size_t i = 0; i < GUARD_PASSES_MAX; i++) {
        guard_pass *p = &passes[i];
        const bool  same = CRYPTO_memcmp(p->hash, hash, DN_TOKEN_HASH) == 0;
        if (p->n != 0 && same && !has_ended(p, now_ms)) found = p;
    }
    return found;
}

static size_t passes_held_by(const guard_pass passes[GUARD_PASSES_MAX], uint64_t n) {
    size_t len = 0;

    for (size_t i = 0; i < GUARD_PASSES_MAX; i++) len += passes[i].n == n;
    return len;
}

static guard_pass *pass_place(const guard *g, guard_pass passes[GUARD_PASSES_MAX], uint64_t n,
                              int64_t now_ms) {
    guard_pass *last = NULL;
    size_t      most = 0;

    for (size_t i = 0; i < GUARD_PASSES_MAX; i++) {
        guard_pass *p = &passes[i];
        if (p->n == 0 || has_ended(p, now_ms) || !token_numbered(g, p->n, now_ms)) return p;
        const size_t held = p->n == n ? SIZE_MAX : passes_held_by(passes, p->n);
        if (held < most || (held == most && p->used_ms >= last->used_ms)) continue;
        last = p;
        most = held;
    }
    return last;
}

int guard_pass_make(guard *g, uint64_t n, bool is_ticket, int64_t now_ms,
                    char text[DN_TOKEN_TEXT]) {
    guard_pass p = {.n = n,
                    .ends_ms = now_ms + (is_ticket ? GUARD_TICKET_MS : GUARD_SESSION_MS),
                    .used_ms = now_ms};
    const int  rc = dn_token_make(text, p.hash);

    if (rc == DN_OK) *pass_place(g, is_ticket ? g->tickets : g->sessions, n, now_ms) = p;
    return rc;
}

uint64_t guard_shown(guard *g, const char *text, size_t len, int64_t now_ms) {
    uint8_t hash[DN_TOKEN_HASH];

    if (!dn_token_hash(text, len, hash)) return 0;
    const dn_token *t = token_of(g, hash, now_ms);
    if (t) return t->id;
    guard_pass *ticket = pass_of(g->tickets, hash, now_ms);
    if (!ticket) return 0;
    const uint64_t n = ticket->n;
    *ticket = (guard_pass){0};
    return token_numbered(g, n, now_ms) ? n : 0;
}

void guard_logout(guard *g, const http_head *head) {
    uint8_t     hash[DN_TOKEN_HASH];
    guard_pass *p = cookie_hash(head, hash) ? pass_of(g->sessions, hash, 0) : NULL;

    if (p) *p = (guard_pass){0};
}

/* ---- Who asks ---- */

guard_who guard_of(guard *g, const http_head *head, int64_t now_ms) {
    const dn_token *t = NULL;
    uint8_t         hash[DN_TOKEN_HASH];

    if (bearer_hash(head, hash)) {
        t = token_of(g, hash, now_ms);
        return t ? (guard_who){.scope = t->scope, .n = t->id} : (guard_who){0};
    }
    guard_pass *p = cookie_hash(head, hash) ? pass_of(g->sessions, hash, now_ms) : NULL;
    if (p) t = token_numbered(g, p->n, now_ms);
    if (!t) return (guard_who){0};
    p->used_ms = now_ms;
    return (guard_who){.scope = t->scope, .n = t->id, .by_cookie = true};
}
