/* sqlite_check.c - is the store sound? SQLite checks its pages and indexes; the rules below check that rows written by one
 * transaction agree. */
#include "sqlite/sqlite_store.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file up to this size is checked whole after an unclean end. A larger one has only the tables checked that a start needs,
 * because the ledger of ten million users takes minutes. */
#define CHECK_ALL_BYTES ((int64_t)1 << 30)

/* A query that gives rows if something is wrong, and the sentence for it. */
typedef struct check_rule {
    const char *sql, *sentence;
} check_rule;

static const check_rule rules[] = {
    {"SELECT value FROM counters WHERE name = 'users' AND value <> (SELECT count(*) FROM users)",
     "the counted number of users is wrong"},
    {"SELECT value FROM counters WHERE name = 'next_user'"
     " AND value <= (SELECT coalesce(max(n), 0) FROM users)",
     "a registration number is above the counter"},
    {"SELECT value FROM counters WHERE name = 'next_hook'"
     " AND value <= (SELECT coalesce(max(n), 0) FROM hooks)",
     "a hook number is above the counter"},
    {"SELECT n FROM users WHERE due NOT BETWEEN 0 AND 1439 OR status NOT IN (0, 1, 2)"
     " OR (last_day IS NULL) <> (status = 0) OR coalesce(recorded < last_day, last_day IS NOT NULL)"
     " OR length(CAST(id AS BLOB)) NOT BETWEEN 1 AND 128 OR context_epoch < 0",
     "the row of a user has invalid values"},
    {"SELECT u.n FROM users u JOIN ledger l ON l.day = u.last_day AND l.n = u.n"
     " WHERE l.status <> u.status",
     "the status of a user differs from its ledger row"},
    {"SELECT l.n FROM ledger l LEFT JOIN users u ON u.n = l.n"
     " WHERE u.n IS NULL OR l.day > u.recorded OR l.status NOT IN (1, 2, 3) OR l.cls NOT BETWEEN 0 "
     "AND 4",
     "a ledger row belongs to no user, or is newer than its user"},
    {"SELECT h.n FROM hooks h LEFT JOIN users u ON u.n = h.user"
     " WHERE u.n IS NULL OR u.last_day IS NULL OR h.day > u.last_day"
     " OR h.context_epoch > u.context_epoch OR h.context_epoch < 1",
     "a hook belongs to no cutoff"},
    {"SELECT n FROM tokens WHERE length(hash) <> 32 OR scope NOT IN (1, 2, 3)"
     " OR length(CAST(name AS BLOB)) > 64 OR length(CAST(tenant AS BLOB)) NOT BETWEEN 1 AND 64"
     " OR length(CAST(user AS BLOB)) NOT BETWEEN 1 AND 128"
     " OR (user IS NOT NULL AND tenant IS NULL)",
     "the row of a token has invalid values"},
    {"SELECT day FROM day_totals WHERE success < 0 OR cutoff < 0 OR missed < 0",
     "the totals of a day are negative"},
};

/* The first value of a query, cut to fit; "" if it gives no row. */
static int check_ask(db *d, const char *sql, char *said, size_t room) {
    sqlite3_stmt *s = NULL;
    int           rc = sqlite3_prepare_v2(d->sql, sql, -1, &s, NULL);

    *said = '\0';
    if (rc == SQLITE_OK) rc = sqlite3_step(s);
    if (rc == SQLITE_ROW) {
        const unsigned char *text = sqlite3_column_text(s, 0);
        snprintf(said, room, "%s", text ? (const char *)text : "?");
        for (char *at = said; *at; at++)
            if (*at == '\n') *at = ' ';
    }
    sqlite3_finalize(s);
    if (rc == SQLITE_ROW || rc == SQLITE_DONE) return DN_OK;
    if (db_is_damage(rc)) {
        snprintf(said, room, "%s", sqlite3_errstr(rc));
        return DN_EINVAL;
    }
    return db_failed(d, rc);
}

/* SQLite reports an unreadable page as a finding, recognizable by its words alone. That is a failed disk, not a damaged
 * file. */
static bool says_unreadable(const char *said) {
    const char *code = strstr(said, "error code=");

    if (code) return (strtol(code + strlen("error code="), NULL, 10) & 0xff) == SQLITE_IOERR;
    return strstr(said, "failed to get page") != NULL;
}

static int check_pages(db *d, const char *pragma, char *why) {
    char said[DN_STORE_WHY / 2];
    int  code = check_ask(d, pragma, said, sizeof said);

    if (code == DN_OK && says_unreadable(said))
        return dn_refuse(db_failed(d, SQLITE_IOERR_READ), why, DN_STORE_WHY,
                         "%s cannot be read: %s", d->path, said);
    if (code == DN_OK && strcmp(said, "ok") != 0) code = DN_EINVAL;
    if (code == DN_OK) return DN_OK;
    if (code != DN_EINVAL)
        return dn_refuse(code, why, DN_STORE_WHY, "%s: %s", d->path, sqlite3_errmsg(d->sql));
    return dn_refuse(code, why, DN_STORE_WHY,
                     "%s is damaged (%s); restore a backup (the file is unchanged)", d->path, said);
}

static int check_rows(db *d, char *why) {
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        char      said[DN_STORE_WHY / 4];
        const int code = check_ask(d, rules[i].sql, said, sizeof said);
        if (code < 0)
            return dn_refuse(code, why, DN_STORE_WHY, "%s: %s", d->path,
                             code == DN_EINVAL ? said : sqlite3_errmsg(d->sql));
        if (*said)
            return dn_refuse(DN_EINVAL, why, DN_STORE_WHY, "%s: %s (%s); restore a backup", d->path,
                             rules[i].sentence, said);
    }
    return DN_OK;
}

int db_check_after_crash(db *d, int64_t size, int64_t version, char *why) {
    static const struct {
        int         since; /* the version that added the table */
        const char *sql;
    } tables[] = {
        {1, "PRAGMA quick_check('users')"},      {1, "PRAGMA quick_check('hooks')"},
        {1, "PRAGMA quick_check('counters')"},   {2, "PRAGMA quick_check('tokens')"},
        {1, "PRAGMA quick_check('day_totals')"},
    };

    if (size <= CHECK_ALL_BYTES) return check_pages(d, "PRAGMA quick_check(1)", why);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        const int code = version >= tables[i].since ? check_pages(d, tables[i].sql, why) : DN_OK;
        if (code < 0) return code;
    }
    return DN_OK;
}

int db_check(dn_store *store, char *why) {
    db *d = db_of(store);
    int code;

    if (d->dead)
        return dn_refuse(DN_EIO, why, DN_STORE_WHY, "%s: the disk has failed before", d->path);
    code = check_pages(d, "PRAGMA integrity_check(1)", why);
    return code == DN_OK ? check_rows(d, why) : code;
}
