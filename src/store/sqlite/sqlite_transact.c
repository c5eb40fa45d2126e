/* sqlite_transact.c - the transaction around a batch: all of it or nothing, with room in the file and the log.
 * A crash in here loses the present batch, which nobody was told of. */
#include "base/text.h"
#include "sqlite/sqlite_store.h"

/* SQLite may have rolled back by itself. If it cannot, the connection is useless. */
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

/* On a full disk the log itself may take the room. */
static int transact_with_room(db *d, const db_batch *batch) {
    int code = db_log_make_room(d);

    if (code == DN_OK) code = transact(d, batch);
    if (code != DN_EFULL) return code;
    const int given_back = db_log_make_room(d); /* what the failed batch wrote to the log */
    return given_back < 0 ? given_back : code;
}

/* Was the file removed or replaced while in use, say by a backup? Then writes go where nobody will read them. Its log is
 * copied first, or the next process that opens the new file would take that log for its own. */
static int look_for_the_file(db *d) {
    int       moved = 0;
    const int rc = sqlite3_file_control(d->sql, "main", SQLITE_FCNTL_HAS_MOVED, &moved);

    if (rc != SQLITE_OK || !moved) return DN_OK;
    (void)db_log_copy(d, DB_LOG_CUT);
    d->dead = true;
    return dn_refuse(DN_EIO, d->damage, DN_STORE_WHY,
                     "%.*s was removed, moved or replaced while it was in use; stop the daemon, "
                     "and put the right file in place",
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
