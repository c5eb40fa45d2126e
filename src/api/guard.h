/* guard.h - who may: the tokens there are, and what the one in a request allows.
 * Kept in memory beside the actor that asks; it is the only one that changes them, so what it has removed is worth nothing
 * at once. */
#ifndef DIURNAL_API_GUARD_H
#define DIURNAL_API_GUARD_H

#include "http/http_head.h"
#include "token.h"

typedef struct guard {
    bool      known; /* they have been read */
    dn_token *tokens;
    size_t    len;
} guard;

void guard_done(guard *g);

/* Those there are, copied. DN_ENOMEM: it knows what it knew. */
DN_MUST_USE int guard_learn(guard *g, const dn_token *tokens, size_t len);
DN_MUST_USE int guard_add(guard *g, const dn_token *token);
void            guard_remove(guard *g, uint64_t n);

/* What a request may: DN_SCOPE_NONE without a token, or with one that is none or has ended. */
dn_scope guard_scope(const guard *g, const http_head *head, int64_t now_ms);

#endif
