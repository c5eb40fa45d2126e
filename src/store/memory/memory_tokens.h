/* memory_tokens.h - the tokens of a store in memory. */
#ifndef DIURNAL_STORE_MEMORY_MEMORY_TOKENS_H
#define DIURNAL_STORE_MEMORY_MEMORY_TOKENS_H

#include "store/tokens.h"

typedef struct memory_tokens {
    dn_token *rows;
    size_t    len, cap;
    uint64_t  given; /* the last number given */
} memory_tokens;

void            tokens_done(memory_tokens *t);
DN_MUST_USE int tokens_reserve(memory_tokens *t, size_t more);
/* Adds a copy and returns the number given to it. Room for it must have been reserved. */
uint64_t tokens_add(memory_tokens *t, const dn_token *token);
bool     tokens_remove(memory_tokens *t, uint64_t n); /* false: there is none */

#endif
