/* sqlite_migrate.c - migrates a file to the newest version: migrations/0001_*.sql and on, each in one transaction.
 * The transaction also sets user_version to the number of the migration, so after a crash the next start repeats only the
 * one that was interrupted. */
#include "base/text.h"
#include "migrations.h"

#include "sqlite/sqlite_store.h"

#include <stdio.h>

static int migrate_one(db *d, int number, char *why) {
    char mark[128];
    int  rc;

    snprintf(mark, sizeof mark, "PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT",
             DB_APPLICATION_ID, number);
    rc = sqlite3_exec(d->sql, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_exec(d->sql, migrations[number - 1], NULL, NULL, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_exec(d->sql, mark, NULL, NULL, NULL);
    if (rc == SQLITE_OK) return DN_OK;

    const int code = db_failed(d, rc);
    dn_refuse(code, why, DN_STORE_WHY, "%s cannot be upgraded to version %d: %s", d->path, number,
              sqlite3_errmsg(d->sql));
    /* If this fails, closing the connection rolls back too. */
    (void)sqlite3_exec(d->sql, "ROLLBACK", NULL, NULL, NULL);
    return code;
}

int db_migrate(db *d, int version, char *why) {
    assert(version >= 0 && version <= migrations_len);
    if (d->read_only && version < migrations_len)
        return dn_refuse(DN_EINVAL, why, DN_STORE_WHY,
                         "%s was written by an older diurnal (version %d, this one needs %d); "
                         "start the daemon once to upgrade it",
                         d->path, version, migrations_len);
    while (version < migrations_len) {
        const int code = migrate_one(d, ++version, why);
        if (code < 0) return code;
    }
    return DN_OK;
}
