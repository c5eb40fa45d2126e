/* sqlite_open.c - opens and closes a store in a file.
 * The order protects the data: the lock, a look at the files, then SQLite. Until the file is known to be ours and sound,
 * closing it does not even copy its log into it. */
#include "base/text.h"
#include "migrations.h"
#include "sqlite/sqlite_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIR_MODE = 0700, FILE_MODE = 0600 };

static void db_free(dn_store *store);

static const store_ops db_ops = {
    .free = db_free,
    .write = db_write,
    .load = db_load,
    .user = db_user,
    .list = db_list,
    .days_of = db_days_of,
    .day = db_day,
    .totals = db_totals,
    .ledger_since = db_ledger_since,
    .count = db_count,
    .hooks = db_hooks,
    .hooks_clock = db_hooks_clock,
    .tokens = db_tokens,
    .check = db_check,
    .backup = db_backup,
    .damage = db_damage,
    .idle = db_idle,
};

/* EXCLUSIVE before the first access keeps the log's index in our memory instead of a shared file. The schema is not trusted
 * to run code, and a damaged page is noticed when it is read. */
static const char pragmas[] = "PRAGMA locking_mode = EXCLUSIVE;"
                              "PRAGMA temp_store = MEMORY;"
                              "PRAGMA cache_size = -65536;"
                              "PRAGMA mmap_size = 0;"
                              "PRAGMA trusted_schema = OFF;"
                              "PRAGMA cell_size_check = ON;";

/* For a file that may be written. A new file gets its first page by a rollback journal. EXTRA syncs the directory after that
 * journal is deleted; otherwise it could come back after a power failure and undo everything. */
static const char writing_pragmas[] = "PRAGMA synchronous = EXTRA;"
                                      "PRAGMA journal_mode = WAL;"
                                      "PRAGMA synchronous = FULL;"
                                      "PRAGMA wal_autocheckpoint = 0;"
                                      "PRAGMA journal_size_limit = 67108864;";

/* ---- The directory ---- */

int dir_failed(const char *what, const char *dir, char *why) {
    const int code = errno == ENOSPC || errno == EDQUOT ? DN_EFULL : DN_EIO;

    return dn_refuse(code, why, DN_STORE_WHY, "the data directory %s %s: %s", dir, what,
                     strerror(errno));
}

/* A new file or directory survives a power failure only if its directory was synced. */
static int dir_sync(const char *dir, char *why) {
    const int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int       failed;

    if (fd < 0) return dir_failed("cannot be opened", dir, why);
    failed = fsync(fd);
    close(fd);
    return failed ? dir_failed("cannot be written", dir, why) : DN_OK;
}

void dir_parent(const char *dir, char out[DB_PATH_MAX]) {
    size_t len = strlen(dir);

    while (len > 1 && dir[len - 1] == '/') len--;
    while (len > 0 && dir[len - 1] != '/') len--;
    snprintf(out, DB_PATH_MAX, "%.*s", len > 0 ? (int)len : 1, len > 0 ? dir : ".");
}

static int dir_sync_parent(const char *dir, char *why) {
    char parent[DB_PATH_MAX];

    dir_parent(dir, parent);
    return dir_sync(parent, why);
}

static int dir_make(const char *dir, bool read_only, char *why) {
    struct stat found;

    if (!read_only) {
        if (mkdir(dir, DIR_MODE) == 0) return dir_sync_parent(dir, why);
        if (errno != EEXIST) return dir_failed("cannot be created", dir, why);
    }
    if (stat(dir, &found) < 0) return dir_failed("cannot be read", dir, why);
    if (!S_ISDIR(found.st_mode))
        return dn_refuse(DN_EINVAL, why, DN_STORE_WHY, "%s is not a directory; --data needs one",
                         dir);
    return DN_OK;
}

/* Makes the file with mode 0600, whatever the umask. SQLite gives the log the same mode. */
static int file_make(const char *dir, const char *path, char *why) {
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, FILE_MODE);

    if (fd < 0)
        return dn_refuse(errno == ENOSPC || errno == EDQUOT ? DN_EFULL : DN_EIO, why, DN_STORE_WHY,
                         "%s cannot be created: %s", path, strerror(errno));
    close(fd);
    return dir_sync(dir, why);
}

/* ---- The connection ---- */

static int connect_failed(db *d, int rc, char *why) {
    const char *said = d->sql ? sqlite3_errmsg(d->sql) : sqlite3_errstr(rc);

    switch (rc & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return dn_refuse(DN_EEXIST, why, DN_STORE_WHY,
                         "%s is open in another program; close it there", d->path);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return dn_refuse(DN_EINVAL, why, DN_STORE_WHY,
                         "%s is damaged (%s); restore a backup (the file is unchanged)", d->path,
                         said);
    default: break;
    }
    const int code = d->sql ? db_failed(d, rc) : DN_ENOMEM;
    if (code == DN_EFULL)
        return dn_refuse(code, why, DN_STORE_WHY, "%s: the disk is full", d->path);
    return dn_refuse(code, why, DN_STORE_WHY, "%s cannot be used: %s", d->path, said);
}

/* Opens a cleanly closed file, read-only, as one that cannot change (we have the lock), so that SQLite makes no log beside
 * it. The path goes into a URI, in which three bytes must be escaped. */
static int connect_immutable(db *d) {
    static const char hex[] = "0123456789abcdef";
    char              uri[3 * DB_PATH_MAX + DB_SUFFIX_ROOM] = "file:";
    size_t            len = strlen(uri);

    for (const char *at = d->path; *at; at++) {
        const unsigned char c = (unsigned char)*at;
        if (c == '%' || c == '?' || c == '#') {
            uri[len++] = '%';
            uri[len++] = hex[c >> 4];
            uri[len++] = hex[c & 15];
        } else uri[len++] = *at;
    }
    snprintf(uri + len, sizeof uri - len, "?immutable=1");
    return sqlite3_open_v2(uri, &d->sql,
                           SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX |
                               SQLITE_OPEN_EXRESCODE,
                           *d->vfs ? d->vfs : NULL);
}

static int db_connect(db *d, const db_look *look, char *why) {
    int rc, done;

    if (d->read_only && !look->unclean) rc = connect_immutable(d);
    else
        rc = sqlite3_open_v2(d->path, &d->sql,
                             SQLITE_OPEN_READWRITE | (d->read_only ? 0 : SQLITE_OPEN_CREATE) |
                                 SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
                             *d->vfs ? d->vfs : NULL);
    if (rc == SQLITE_OK) rc = sqlite3_db_config(d->sql, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, &done);
    if (rc == SQLITE_OK) rc = sqlite3_exec(d->sql, pragmas, NULL, NULL, NULL);
    if (rc == SQLITE_OK && d->read_only)
        rc = sqlite3_exec(d->sql, "PRAGMA query_only = ON", NULL, NULL, NULL);
    return rc == SQLITE_OK ? DN_OK : connect_failed(d, rc, why);
}

/* The number that a one-line query gives. */
static int db_ask(db *d, const char *sql, int64_t *out_value, char *why) {
    sqlite3_stmt *s = NULL;
    int           rc = sqlite3_prepare_v2(d->sql, sql, -1, &s, NULL);

    if (rc == SQLITE_OK) {
        rc = sqlite3_step(s);
        if (rc == SQLITE_ROW) *out_value = sqlite3_column_int64(s, 0);
    }
    /* Even after a row: only finalize tells that all went well. */
    if (rc == SQLITE_ROW || rc == SQLITE_DONE) {
        const bool row = rc == SQLITE_ROW;
        rc = sqlite3_finalize(s);
        if (rc == SQLITE_OK && !row) rc = SQLITE_CORRUPT;
    } else sqlite3_finalize(s);
    return rc == SQLITE_OK ? DN_OK : connect_failed(d, rc, why);
}

/* Whether the file is ours, and its version: asked again after look_at, now including the log. */
static int db_identify(db *d, int64_t *out_version, char *why) {
    int64_t application = 0, version = 0, tables = 0;
    int     code = db_ask(d, "PRAGMA application_id", &application, why);

    if (code == DN_OK) code = db_ask(d, "PRAGMA user_version", &version, why);
    if (code == DN_OK) code = db_ask(d, "SELECT count(*) FROM sqlite_schema", &tables, why);
    if (code < 0) return code;
    if (application == 0 && version == 0 && tables == 0 && !d->read_only) {
        *out_version = 0;
        return DN_OK;
    }
    if (application != DB_APPLICATION_ID || version < 1)
        return dn_refuse(
            DN_EINVAL, why, DN_STORE_WHY,
            "%s belongs to another program; name another --data (the file is unchanged)", d->path);
    if (version > migrations_len)
        return dn_refuse(DN_EINVAL, why, DN_STORE_WHY,
                         "%s was written by a newer diurnal (version %lld, this one reads up to "
                         "%d); use the newer one (the file is unchanged)",
                         d->path, (long long)version, migrations_len);
    *out_version = version;
    return DN_OK;
}

static int on_wal_commit(void *context, sqlite3 *sql, const char *name, int pages) {
    (void)sql, (void)name;
    ((db *)context)->wal_pages = pages;
    return SQLITE_OK;
}

/* From here on the file is written to. */
static int db_begin_writing(db *d, bool is_new, char *why) {
    int rc = SQLITE_OK;

    if (is_new) rc = sqlite3_exec(d->sql, "PRAGMA page_size = 4096", NULL, NULL, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_exec(d->sql, writing_pragmas, NULL, NULL, NULL);
    if (rc != SQLITE_OK) return connect_failed(d, rc, why);
    sqlite3_wal_hook(d->sql, on_wal_commit, d);
    return DN_OK;
}

/* Copies and truncates a log left by a killed process, so that its room on a full disk is free before the first write. */
static int db_take_in_log(db *d, char *why) {
    const int rc = db_log_copy(d, DB_LOG_CUT);

    return rc == SQLITE_OK || db_is_full(d->sql, rc, DB_MAIN) ? DN_OK : connect_failed(d, rc, why);
}

static int db_prepare(db *d, char *why) {
    static const char *const sql[STMT_COUNT] = {
#define DB_STATEMENT_SQL(name, text) [STMT_##name] = (text),
        DB_STATEMENTS(DB_STATEMENT_SQL)
#undef DB_STATEMENT_SQL
    };

    for (int i = 0; i < STMT_COUNT; i++) {
        const int rc =
            sqlite3_prepare_v3(d->sql, sql[i], -1, SQLITE_PREPARE_PERSISTENT, &d->stmt[i], NULL);
        if (rc != SQLITE_OK) return connect_failed(d, rc, why);
    }
    return DN_OK;
}

static int db_load_counters(db *d, char *why) {
    static const char *const asks[] = {
        "SELECT value FROM counters WHERE name = 'next_user'",
        "SELECT value FROM counters WHERE name = 'next_hook'",
        "SELECT value FROM counters WHERE name = 'users'",
        /* Only written once it differs from DN_DAY_NONE. */
        "SELECT coalesce((SELECT value FROM counters WHERE name = 'ledger_since'), -2147483648)",
    };
    int64_t values[4] = {0};

    for (int i = 0; i < 4; i++) {
        const int code = db_ask(d, asks[i], &values[i], why);
        if (code < 0) return code;
    }
    d->counters = (db_counters){(uint64_t)values[0], (uint64_t)values[1], (uint64_t)values[2],
                                (dn_day)values[3]};
    return DN_OK;
}

/* ---- Opening ---- */

static int db_open_file(db *d, const char *dir, const dn_store_config *config, char *why) {
    db_look look = {0};
    int64_t version = 0;

    /* SQLite counts its memory under a lock at each allocation, which nobody asks for. The call fails, harmlessly, if this
     * process has opened a store before. */
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    int code = look_at(config->vfs, d->path, &look, why);

    if (code == DN_OK && d->read_only && !look.is_there)
        return dn_refuse(DN_EINVAL, why, DN_STORE_WHY, "no database in %s; name another --data",
                         dir);
    if (code == DN_OK && !look.is_there && !config->vfs) code = file_make(dir, d->path, why);
    if (code == DN_OK) code = db_connect(d, &look, why);
    if (code == DN_OK) code = db_identify(d, &version, why);
    if (code == DN_OK && look.unclean && version > 0)
        code = db_check_after_crash(d, look.size, version, why);
    if (code == DN_OK && !d->read_only) code = db_begin_writing(d, version == 0, why);
    if (code == DN_OK && !d->read_only && look.unclean) code = db_take_in_log(d, why);
    if (code == DN_OK) code = db_migrate(d, (int)version, why);
    if (code == DN_OK) code = db_prepare(d, why);
    if (code == DN_OK) code = db_load_counters(d, why);
    return code;
}

int db_open(const char *dir, const dn_store_config *config, dn_store **out_store, char *why) {
    DN_AUTO(dn_store) store = NULL;
    db *d;
    int code;

    if (strlen(dir) > DB_PATH_MAX - DB_SUFFIX_ROOM)
        return dn_refuse(DN_EINVAL, why, DN_STORE_WHY,
                         "the path of the data directory is too long");
    d = calloc(1, sizeof *d);
    if (!d) return dn_refuse(DN_ENOMEM, why, DN_STORE_WHY, "%s: out of memory", dir);
    store = &d->base;
    d->base.ops = &db_ops;
    d->lock_fd = -1;
    d->read_only = config->read_only;
    d->ledger = config->ledger_days > 0;
    d->checkpoint_at = DB_WAL_PAGES;
    snprintf(d->path, sizeof d->path, "%s/diurnal.db", dir);
    if (config->vfs) snprintf(d->vfs, sizeof d->vfs, "%s", config->vfs);

    code = dir_make(dir, d->read_only, why);
    if (code == DN_OK) code = dir_lock_take(dir, d->read_only, &d->lock_fd, why);
    if (code == DN_OK) code = db_open_file(d, dir, config, why);
    if (code < 0) {
        d->dead = true; /* closing it then leaves the file untouched */
        return code;
    }
    *out_store = DN_TAKE(store);
    return DN_OK;
}

/* Closing a sound store leaves no log, so the next start knows that this one ended cleanly. */
static void db_free(dn_store *store) {
    db *d = db_of(store);
    int done;

    assert(d->backups == 0);
    for (int i = 0; i < STMT_COUNT; i++) sqlite3_finalize(d->stmt[i]);
    if (d->sql && !d->dead && !d->read_only)
        (void)sqlite3_db_config(d->sql, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, &done);
    const int rc = sqlite3_close(d->sql);
    assert(rc == SQLITE_OK);
    if (d->lock_fd >= 0) close(d->lock_fd);
    totals_done(&d->batch_totals);
    free(d);
}
