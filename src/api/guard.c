/* guard.c - see guard.h. */
#include "guard.h"

#include <openssl/crypto.h>
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
    for (size_t i = 0; i < g->len; i++) {
        if (g->tokens[i].n != n) continue;
        g->len--;
        memmove(&g->tokens[i], &g->tokens[i + 1], (g->len - i) * sizeof *g->tokens);
        return;
    }
}

/* All are looked at, and each to its end: how long it takes tells nothing. */
static dn_scope scope_of(const guard *g, const uint8_t hash[DN_TOKEN_HASH], int64_t now_ms) {
    dn_scope scope = DN_SCOPE_NONE;

    for (size_t i = 0; i < g->len; i++) {
        const dn_token *t = &g->tokens[i];
        const bool      same = CRYPTO_memcmp(t->hash, hash, DN_TOKEN_HASH) == 0;
        if (same && now_ms < t->ends_ms) scope = t->scope;
    }
    return scope;
}

dn_scope guard_scope(const guard *g, const http_head *head, int64_t now_ms) {
    static const char scheme[] = "Bearer ";
    const size_t      scheme_len = sizeof scheme - 1;
    const http_text  *said = http_field_of(head, "authorization");
    uint8_t           hash[DN_TOKEN_HASH];

    if (!said || said->len <= scheme_len || strncasecmp(said->at, scheme, scheme_len) != 0)
        return DN_SCOPE_NONE;
    if (!dn_token_hash(said->at + scheme_len, said->len - scheme_len, hash)) return DN_SCOPE_NONE;
    return scope_of(g, hash, now_ms);
}
