/* memory_tokens.c - see memory_tokens.h. */
#include "memory/memory_tokens.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST = 8 };

void tokens_done(memory_tokens *t) {
    free(t->rows);
    *t = (memory_tokens){0};
}

int tokens_add(memory_tokens *t, dn_token *token) {
    if (t->len == t->cap) {
        const size_t cap = t->cap ? t->cap * 2 : LEAST;
        dn_token    *rows = realloc(t->rows, cap * sizeof *rows);
        if (!rows) return DN_ENOMEM;
        t->rows = rows;
        t->cap = cap;
    }
    token->n = ++t->given;
    t->rows[t->len++] = *token;
    return DN_OK;
}

int tokens_remove(memory_tokens *t, uint64_t n) {
    for (size_t i = 0; i < t->len; i++) {
        if (t->rows[i].n != n) continue;
        t->len--;
        memmove(&t->rows[i], &t->rows[i + 1], (t->len - i) * sizeof *t->rows);
        return DN_OK;
    }
    return DN_EDEAD;
}
