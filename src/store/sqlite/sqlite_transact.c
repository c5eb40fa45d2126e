/* sqlite_transact.c - what is written is written whole, with room for it in file and log.
 * A crash in here costs the transaction at hand and nothing else: nobody was told of it yet. */
#include "sqlite/sqlite_store.h"

/* After a failure SQLite may have rolled back by itself. If it cannot, the connection is of no use any more. */
static int undo(db *d, int code) {
    if (d->dead || sqlite3_get_autocommit(d->sql)) return code;
    (void)db_run(d, STMT_ROLLBACK);
    if (sqlite3_get_autocommit(d->sql) && !d->dead) return code;
    d->dead = true;
    return DN_EIO;
}

static int transact(db *d, const db_batch *batch) {
    const db_counters before = d->counters;
    int               code;

    d->grown_from = -1;
    code = db_run(d, STMT_BEGIN);
    if (code == DN_OK) code = db_batch_write(d, batch);
    if (code == DN_OK) code = db_log_reserve(d);
    if (code == DN_OK) code = db_run(d, STMT_COMMIT);
    if (code < 0) {
        d->counters = before;
        code = undo(d, code);
        db_log_give_back(d);
        return code;
    }
    assert(sqlite3_get_autocommit(d->sql));
    return DN_OK;
}

/* On a full disk it may be the log that takes the room. */
static int transact_with_room(db *d, const db_batch *batch) {
    int code = db_log_make_room(d);

    if (code == DN_OK) code = transact(d, batch);
    if (code != DN_EFULL) return code;
    const int given_back = db_log_make_room(d); /* what was written into the log meanwhile */
    return given_back < 0 ? given_back : code;
}

/* A backup was put in the place of a file that is in use, say: what is written goes where nobody will read it. Its log is
 * copied after it, or whoever opens the other file next takes that for its own. */
static int look_for_the_file(db *d) {
    int       moved = 0;
    const int rc = sqlite3_file_control(d->sql, "main", SQLITE_FCNTL_HAS_MOVED, &moved);

    if (rc != SQLITE_OK || !moved) return DN_OK;
    (void)db_log_copy(d, DB_LOG_CUT);
    d->dead = true;
    return store_refuse(DN_EIO, d->damage,
                        "%.*s was removed, moved or replaced while it was in use: stop the daemon "
                        "before, and see that the right file is there",
                        DN_STORE_WHY / 2, d->path);
}

int db_transact(db *d, const db_batch *batch) {
    int code;

    assert(!d->read_only);
    if (d->dead) return DN_EIO;
    code = look_for_the_file(d);
    if (code < 0) return code;
    code = transact(d, batch);
    if (code == DN_EFULL) code = transact_with_room(d, batch);
    if (code == DN_OK) db_log_look_at(d);
    return code;
}
