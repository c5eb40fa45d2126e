/* tokens.h - API tokens: their scopes and hashes. The token itself is not kept.
 * Types and the read; writes go through dn_store_write (store.h). */
#ifndef DIURNAL_STORE_TOKENS_H
#define DIURNAL_STORE_TOKENS_H

#include "domain/id.h"

#include "diurnal/base.h"

typedef struct dn_store dn_store;

/* Each scope includes the ones before it. */
typedef enum dn_scope { DN_SCOPE_NONE, DN_SCOPE_READ, DN_SCOPE_OPERATE, DN_SCOPE_ADMIN } dn_scope;

enum { DN_TOKEN_HASH = 32, DN_TOKEN_NAME_MAX = 64, DN_TENANT_MAX = 64 };

typedef struct dn_token {
    uint64_t id;               /* never reused */
    int64_t  made_ms, ends_ms; /* expires at ends_ms; INT64_MAX: never */
    dn_scope scope;
    uint8_t  hash[DN_TOKEN_HASH]; /* SHA-256 */
    uint8_t  name_len;
    uint8_t  tenant_len; /* 0: the token belongs to no tenant, and sees all of them */
    uint8_t  user_len;   /* 0: to no user; else it has a tenant too */
    char     name[DN_TOKEN_NAME_MAX + 1];
    char     tenant[DN_TENANT_MAX + 1];
    char     user[DN_ID_MAX + 1];
} dn_token;

/* What holds for every token that is stored. */
bool dn_token_is_sound(const dn_token *token);

/* Reads the first max tokens, oldest first. */
DN_MUST_USE int dn_store_tokens(dn_store *store, dn_token *tokens, size_t max, size_t *out_len);

#endif
