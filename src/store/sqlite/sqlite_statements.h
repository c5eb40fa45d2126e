/* sqlite_statements.h - every statement of the store, prepared when it is opened.
 * So a statement that does not fit the schema fails at the first start, and a write never needs memory to prepare one. */
#ifndef DIURNAL_STORE_SQLITE_SQLITE_STATEMENTS_H
#define DIURNAL_STORE_SQLITE_SQLITE_STATEMENTS_H

#define DB_USER_COLUMNS                                                                            \
    "n, id, due, starts_on, last_day, status, last_run_ms, context_epoch, recorded"
#define DB_LEDGER_COLUMNS "n, day, status, cls, attempts, at_ms"

/* Name, SQL. Parameters are numbered in the order they are bound. */
#define DB_STATEMENTS(X)                                                                           \
    X(BEGIN, "BEGIN IMMEDIATE")                                                                    \
    X(COMMIT, "COMMIT")                                                                            \
    X(ROLLBACK, "ROLLBACK")                                                                        \
    X(PAGES, "PRAGMA page_count")                                                                  \
    X(COUNTER_SET, "INSERT INTO counters (name, value) VALUES (?1, ?2)"                            \
                   " ON CONFLICT (name) DO UPDATE SET value = excluded.value")                     \
                                                                                                   \
    X(USER_BY_N, "SELECT " DB_USER_COLUMNS " FROM users WHERE n = ?1")                             \
    X(USER_BY_ID, "SELECT " DB_USER_COLUMNS " FROM users WHERE id = ?1")                           \
    X(USERS_FROM_N, "SELECT " DB_USER_COLUMNS " FROM users WHERE n >= ?1 ORDER BY n")              \
    X(USERS_FROM_ID, "SELECT " DB_USER_COLUMNS " FROM users WHERE id >= ?1 ORDER BY id")           \
    X(USER_ADD, "INSERT INTO users (" DB_USER_COLUMNS ")"                                          \
                " VALUES (?1, ?2, ?3, ?4, NULL, 0, NULL, 0, NULL) ON CONFLICT (id) DO NOTHING")    \
    X(USER_SET, "UPDATE users SET due = ?2, starts_on = ?3 WHERE n = ?1")                          \
    X(USER_FINALIZE, "UPDATE users SET last_day = ?2, status = ?3, last_run_ms = ?4,"              \
                     " context_epoch = ?5, recorded = ?6 WHERE n = ?1")                            \
    X(USER_RECORDED, "UPDATE users SET recorded = ?2 WHERE n = ?1")                                \
    X(USER_DELETE, "DELETE FROM users WHERE n = ?1")                                               \
                                                                                                   \
    X(LEDGER_INSERT, "INSERT INTO ledger (day, n, status, at_ms, attempts, cls)"                   \
                     " VALUES (?1, ?2, ?3, ?4, ?5, ?6)")                                           \
    X(LEDGER_ADD, "INSERT INTO ledger (day, n, status, at_ms, attempts, cls)"                      \
                  " VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING")                       \
    X(LEDGER_DELETE, "DELETE FROM ledger WHERE day = ?1 AND n = ?2")                               \
    X(LEDGER_BEFORE, "SELECT " DB_LEDGER_COLUMNS " FROM ledger WHERE (day, n) <= (?1, ?2)"         \
                     " ORDER BY day DESC, n DESC LIMIT 1")                                         \
    X(LEDGER_OF_DAY, "SELECT " DB_LEDGER_COLUMNS " FROM ledger WHERE day = ?1 AND n > ?2"          \
                     " ORDER BY n")                                                                \
    X(LEDGER_NTH, "SELECT day, n FROM ledger WHERE day < ?1 ORDER BY day, n LIMIT 1 OFFSET ?2")    \
    X(LEDGER_FORGET_TO, "DELETE FROM ledger WHERE (day, n) <= (?1, ?2)")                           \
    X(LEDGER_FORGET, "DELETE FROM ledger WHERE day < ?1")                                          \
                                                                                                   \
    X(TOTALS_SET, "INSERT INTO day_totals (day, success, cutoff, missed)"                          \
                  " VALUES (?1, ?2, ?3, ?4) ON CONFLICT (day) DO UPDATE SET"                       \
                  " success = excluded.success, cutoff = excluded.cutoff,"                         \
                  " missed = excluded.missed")                                                     \
    X(TOTALS, "SELECT day, success, cutoff, missed FROM day_totals"                                \
              " WHERE day BETWEEN ?1 AND ?2 AND success + cutoff + missed > 0 ORDER BY day")       \
                                                                                                   \
    X(HOOK_INSERT, "INSERT INTO hooks (n, user, day, due, context_epoch, attempts, next_ms)"       \
                   " VALUES (?1, ?2, ?3, ?4, ?5, 0, ?6)")                                          \
    X(HOOK_DONE, "DELETE FROM hooks WHERE n = ?1")                                                 \
    X(HOOK_LATER, "UPDATE hooks SET attempts = ?2, next_ms = ?3 WHERE n = ?1")                     \
    X(HOOKS_REMOVE, "DELETE FROM hooks WHERE user = ?1")                                           \
    X(HOOKS_DUE, "SELECT h.n, h.day, h.due, h.context_epoch, h.attempts, h.next_ms, u.id"          \
                 " FROM hooks h CROSS JOIN users u ON u.n = h.user ORDER BY h.next_ms, h.n")       \
    X(HOOKS_AFTER, "SELECT attempts, next_ms FROM hooks WHERE next_ms > ?1")                       \
                                                                                                   \
    X(TOKENS,                                                                                      \
      "SELECT n, hash, name, scope, made_ms, ends_ms, tenant, user FROM tokens ORDER BY n")        \
    X(TOKEN_INSERT, "INSERT INTO tokens (hash, name, scope, made_ms, ends_ms, tenant, user)"       \
                    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")                                        \
    X(TOKEN_DELETE, "DELETE FROM tokens WHERE n = ?1")

typedef enum db_stmt {
#define DB_STATEMENT_NAME(name, sql) STMT_##name,
    DB_STATEMENTS(DB_STATEMENT_NAME)
#undef DB_STATEMENT_NAME
        STMT_COUNT
} db_stmt;

#endif
