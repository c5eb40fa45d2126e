/* memory_tokens.c - see memory_tokens.h. */
#include "memory/memory_tokens.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 8 };

void tokens_done(memory_tokens *t) {
    free(t->rows);
    *t = (memory_tokens){0};
}

int tokens_reserve(memory_tokens *t, size_t more) {
    size_t    cap = t->cap ? t->cap : LEAST;
    dn_token *rows;

    if (more <= t->cap - t->len) return DN_OK;
    while (cap - t->len < more) cap *= 2;
    rows = realloc(t->rows, cap * sizeof *rows);
    if (!rows) return DN_ENOMEM;
    t->rows = rows;
    t->cap = cap;
    return DN_OK;
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
