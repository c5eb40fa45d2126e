/* memory_tokens.c - see memory_tokens.h. */
#include "memory/memory_tokens.h"

#include "base/array.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void tokens_done(memory_tokens *t) {
    free(t->rows);
    *t = (memory_tokens){0};
}

int tokens_reserve(memory_tokens *t, size_t more) {
    return DN_ARRAY_RESERVE(t->rows, t->cap, t->len + more);
}

uint64_t tokens_add(memory_tokens *t, const dn_token *token) {
    assert(t->len < t->cap);
    t->rows[t->len] = *token;
    t->rows[t->len++].id = ++t->given;
    return t->given;
}

bool tokens_remove(memory_tokens *t, uint64_t n) {
    for (size_t i = 0; i < t->len; i++) {
        if (t->rows[i].id != n) continue;
        t->len--;
        memmove(&t->rows[i], &t->rows[i + 1], (t->len - i) * sizeof *t->rows);
        return true;
    }
    return false;
}
