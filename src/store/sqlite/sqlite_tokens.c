/* sqlite_tokens.c - API tokens in the file. There are few of them, and they change seldom. */
#include "sqlite/sqlite_store.h"

#include <string.h>

/* Copies a text column, NULL as none. False: it is longer than max. */
static bool take_text(sqlite3_stmt *s, int column, char *out, size_t max, uint8_t *out_len) {
    const void  *text = sqlite3_column_blob(s, column);
    const size_t len = (size_t)sqlite3_column_bytes(s, column);

    if (len > max) return false;
    if (len > 0) memcpy(out, text, len);
    *out_len = (uint8_t)len;
    return true;
}

static int token_of_row(db *d, sqlite3_stmt *s, dn_token *out) {
    const void *hash = sqlite3_column_blob(s, 1);
    const int   hash_len = sqlite3_column_bytes(s, 1), scope = sqlite3_column_int(s, 3);

    if (!hash || hash_len != DN_TOKEN_HASH || scope < DN_SCOPE_READ || scope > DN_SCOPE_ADMIN)
        return db_failed(d, SQLITE_CORRUPT);
    *out = (dn_token){.id = (uint64_t)sqlite3_column_int64(s, 0),
                      .scope = (dn_scope)scope,
                      .made_ms = sqlite3_column_int64(s, 4),
                      .ends_ms = sqlite3_column_int64(s, 5)};
    memcpy(out->hash, hash, DN_TOKEN_HASH);
    if (!take_text(s, 2, out->name, DN_TOKEN_NAME_MAX, &out->name_len) ||
        !take_text(s, 6, out->tenant, DN_TENANT_MAX, &out->tenant_len) ||
        !take_text(s, 7, out->user, DN_ID_MAX, &out->user_len) || !dn_token_is_sound(out))
        return db_failed(d, SQLITE_CORRUPT);
    return DN_OK;
}

int db_tokens(dn_store *store, dn_token *tokens, size_t max, size_t *out_len) {
    db           *d = db_of(store);
    sqlite3_stmt *s = d->stmt[STMT_TOKENS];
    size_t        len = 0;
    bool          row = true;
    int           code = d->dead ? DN_EIO : DN_OK;

    while (code == DN_OK && row && len < max) {
        code = db_row(d, s, &row);
        if (code == DN_OK && row) code = token_of_row(d, s, &tokens[len++]);
    }
    sqlite3_reset(s);
    *out_len = len;
    return code;
}

int db_token_add(db *d, const dn_token *token, dn_write_result *result) {
    sqlite3_stmt *s = d->stmt[STMT_TOKEN_INSERT];
    const int     bound = sqlite3_bind_blob(s, 1, token->hash, DN_TOKEN_HASH, SQLITE_STATIC);

    assert(bound == SQLITE_OK);
    db_bind_id(s, 2, token->name, token->name_len);
    db_bind(s, 3, token->scope);
    db_bind(s, 4, token->made_ms);
    db_bind(s, 5, token->ends_ms);
    if (token->tenant_len > 0) db_bind_id(s, 6, token->tenant, token->tenant_len);
    else db_bind_null(s, 6);
    if (token->user_len > 0) db_bind_id(s, 7, token->user, token->user_len);
    else db_bind_null(s, 7);
    const int code = db_run(d, STMT_TOKEN_INSERT);
    if (code == DN_OK) result->token_id = (uint64_t)sqlite3_last_insert_rowid(d->sql);
    return code;
}

int db_token_remove(db *d, uint64_t id, dn_write_result *result) {
    db_bind(d->stmt[STMT_TOKEN_DELETE], 1, (int64_t)id);
    const int code = db_run(d, STMT_TOKEN_DELETE);
    if (code == DN_OK && sqlite3_changes(d->sql) == 0) result->wrote = DN_WROTE_GONE;
    return code;
}
