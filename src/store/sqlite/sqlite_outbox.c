/* sqlite_outbox.c - hooks in the file.
 * The transaction that finalizes a day adds its hook. The hook stays until it is delivered or given up, or its user is
 * removed. */
#include "sqlite/sqlite_store.h"
#include "store_user.h"

#include <string.h>

int db_hook_add(db *d, const dn_user *user, const struct dn_write_finalize *f) {
    sqlite3_stmt *s = d->stmt[STMT_HOOK_INSERT];

    assert(user->last_day == f->day);
    db_bind(s, 1, (int64_t)d->counters.next_hook++);
    db_bind(s, 2, (int64_t)user->registration);
    db_bind(s, 3, f->day);
    db_bind(s, 4, user->due);
    db_bind(s, 5, user->context_epoch);
    db_bind(s, 6, f->hook_ms);
    return db_run(d, STMT_HOOK_INSERT);
}

static int hook_wrote(db *d, int code, dn_write_result *result) {
    if (code == DN_OK) result->wrote = sqlite3_changes(d->sql) ? DN_WROTE : DN_WROTE_GONE;
    return code;
}

int db_hook_done(db *d, const struct dn_write_outbox_done *w, dn_write_result *result) {
    db_bind(d->stmt[STMT_HOOK_DONE], 1, (int64_t)w->id);
    return hook_wrote(d, db_run(d, STMT_HOOK_DONE), result);
}

int db_hook_later(db *d, const struct dn_write_outbox_later *w, dn_write_result *result) {
    sqlite3_stmt *s = d->stmt[STMT_HOOK_LATER];

    db_bind(s, 1, (int64_t)w->id);
    db_bind(s, 2, w->attempts);
    db_bind(s, 3, w->next_ms);
    return hook_wrote(d, db_run(d, STMT_HOOK_LATER), result);
}

int db_hooks_remove(db *d, uint64_t n) {
    db_bind(d->stmt[STMT_HOOKS_REMOVE], 1, (int64_t)n);
    return db_run(d, STMT_HOOKS_REMOVE);
}

/* Reads the current row of HOOKS_DUE. */
static int hook_of_row(db *d, sqlite3_stmt *s, dn_hook *hook) {
    const void *id = sqlite3_column_blob(s, 6);
    const int   id_len = sqlite3_column_bytes(s, 6);

    if (!id || id_len <= 0 || id_len > DN_ID_MAX) return db_failed(d, SQLITE_CORRUPT);
    hook->id = (uint64_t)sqlite3_column_int64(s, 0);
    hook->day = sqlite3_column_int(s, 1);
    hook->due = (uint32_t)sqlite3_column_int(s, 2);
    hook->context_epoch = (uint32_t)sqlite3_column_int64(s, 3);
    hook->attempts = (uint16_t)sqlite3_column_int(s, 4);
    hook->next_ms = sqlite3_column_int64(s, 5);
    hook->user_id_len = (uint8_t)id_len;
    memcpy(hook->user_id, id, (size_t)id_len);
    hook->user_id[id_len] = '\0';
    return DN_OK;
}

int db_hooks(dn_store *store, int64_t now_ms, dn_hook *hooks, size_t max, size_t *out_len,
             int64_t *out_next_ms) {
    db           *d = db_of(store);
    sqlite3_stmt *s = d->stmt[STMT_HOOKS_DUE];
    int64_t       next_ms = INT64_MAX;
    size_t        len = 0;

    if (d->dead) return DN_EIO;
    for (;;) {
        bool row;
        int  code = db_row(d, s, &row);
        if (code < 0) return code;
        if (!row) break;
        next_ms = sqlite3_column_int64(s, 5);
        if (next_ms > now_ms || len == max) break;
        code = hook_of_row(d, s, &hooks[len]);
        if (code < 0) {
            sqlite3_reset(s);
            return code;
        }
        len++;
        next_ms = INT64_MAX;
    }
    sqlite3_reset(s);
    *out_len = len;
    *out_next_ms = next_ms;
    return DN_OK;
}

int db_hooks_clock(dn_store *store, int64_t wall_ms, int64_t *out_ms) {
    db           *d = db_of(store);
    sqlite3_stmt *s = d->stmt[STMT_HOOKS_AFTER];

    if (d->dead) return DN_EIO;
    *out_ms = wall_ms;
    db_bind(s, 1, wall_ms);
    for (;;) {
        bool      row;
        const int code = db_row(d, s, &row);
        if (code < 0 || !row) return code;
        *out_ms = hooks_clock_after(*out_ms, (uint16_t)sqlite3_column_int(s, 0),
                                    sqlite3_column_int64(s, 1));
    }
}
