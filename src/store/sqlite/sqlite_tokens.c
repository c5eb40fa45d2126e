/* sqlite_tokens.c - API tokens in the file. There are few of them, and they change seldom. */
#include "sqlite/sqlite_store.h"

#include <string.h>

static int token_of_row(db *d, sqlite3_stmt *s, dn_token *out) {
    const void *hash = sqlite3_column_blob(s, 1), *name = sqlite3_column_blob(s, 2);
    const int   hash_len = sqlite3_column_bytes(s, 1), name_len = sqlite3_column_bytes(s, 2);
    const int   scope = sqlite3_column_int(s, 3);

    if (!hash || hash_len != DN_TOKEN_HASH || name_len > DN_TOKEN_NAME_MAX ||
        scope < DN_SCOPE_READ || scope > DN_SCOPE_ADMIN)
        return db_failed(d, SQLITE_CORRUPT);
    *out = (dn_token){.id = (uint64_t)sqlite3_column_int64(s, 0),
                      .scope = (dn_scope)scope,
                      .made_ms = sqlite3_column_int64(s, 4),
                      .ends_ms = sqlite3_column_int64(s, 5),
                      .name_len = (uint8_t)name_len};
    memcpy(out->hash, hash, DN_TOKEN_HASH);
    if (name_len > 0) memcpy(out->name, name, (size_t)name_len);
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
