/* open_test.c - opening a store: who has it, whose it is, how it ended, and what is never touched. */
#include "kit.h"

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>

static char why[DN_STORE_WHY];

static int open_as(const char *dir, bool read_only, dn_store **out_store) {
    const dn_store_config config = {
        .url = kit_url(dir), .ledger_days = KIT_LEDGER_DAYS, .read_only = read_only};

    memset(why, 'x', sizeof why);
    return dn_store_open(&config, out_store, why);
}

/* It is refused, in one line that has these words. */
static void check_refused(const char *dir, bool read_only, int expected, const char *words) {
    dn_store *store = NULL;
    const int code = open_as(dir, read_only, &store);

    CHECK_MSG(code == expected, "code %d: %s", code, why);
    CHECK_PTR(store, NULL);
    CHECK_MSG(strstr(why, words), "it says: %s", why);
    CHECK(!strchr(why, '\n'));
}

/* ---- Files ---- */

static void file_write(const char *path, const void *bytes, size_t len, off_t at) {
    const int fd = open(path, O_RDWR | O_CREAT, 0600);

    CHECK(fd >= 0);
    CHECK_INT(pwrite(fd, bytes, len, at), (ssize_t)len);
    close(fd);
}

static void file_copy(const char *from, const char *to) {
    static char bytes[1 << 16];
    const int   in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ssize_t     len;

    CHECK(in >= 0);
    CHECK(out >= 0);
    while ((len = read(in, bytes, sizeof bytes)) > 0)
        CHECK_INT(write(out, bytes, (size_t)len), len);
    close(in);
    close(out);
}

static uint64_t file_sum(const char *path) {
    static unsigned char bytes[1 << 16];
    const int            fd = open(path, O_RDONLY);
    uint64_t             sum = 14695981039346656037U;
    ssize_t              len;

    if (fd < 0) return 0;
    while ((len = read(fd, bytes, sizeof bytes)) > 0)
        for (ssize_t i = 0; i < len; i++) sum = (sum ^ bytes[i]) * 1099511628211U;
    close(fd);
    return sum;
}

/* All names in a directory and what the files hold; the lock and when they were touched do not count. */
static void dir_say(kit_text *t, const char *dir) {
    struct dirent **entries;
    const int       len = scandir(dir, &entries, NULL, alphasort);

    t->len = 0;
    kit_say(t, "%d\n", len < 0 ? -1 : 0);
    for (int i = 0; i < len; i++) {
        char path[2 * KIT_PATH];
        if (*entries[i]->d_name != '.' && strcmp(entries[i]->d_name, "lock") != 0) {
            snprintf(path, sizeof path, "%s/%s", dir, entries[i]->d_name);
            kit_say(t, "%s %" PRId64 " %" PRIx64 "\n", entries[i]->d_name, kit_size(path),
                    file_sum(path));
        }
        free(entries[i]);
    }
    if (len >= 0) free(entries);
}

/* It is refused and every byte in its directory is as it was. */
static void check_refused_untouched(const char *dir, bool read_only, const char *words) {
    static kit_text before, after;

    dir_say(&before, dir);
    check_refused(dir, read_only, DN_EINVAL, words);
    dir_say(&after, dir);
    CHECK_STR(after.text, before.text);
}

static void sql_do(const char *path, const char *sql) {
    sqlite3 *db;
    char    *said = NULL;

    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_MSG(sqlite3_exec(db, sql, NULL, NULL, &said) == SQLITE_OK, "%s: %s", sql, said);
    sqlite3_close(db);
}

/* A store with something in it, as it is after a kill: the log still has all of it. */
static void make_killed(const char *dir, int users) {
    const pid_t pid = fork();
    int         status;

    CHECK(pid >= 0);
    if (pid == 0) {
        dn_store *store = kit_open(dir);
        for (int i = 0; i < users; i++) {
            char id[16];
            snprintf(id, sizeof id, "u%d", i);
            kit_user(store, id, 0);
        }
        _exit(0);
    }
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK_INT(status, 0);
}

/* ---- Who has it ---- */

TEST(a_store_is_made_with_its_directory_and_nobody_else_may_read_it) {
    struct stat found;

    dn_store_free(kit_open(kit_path("data")));
    CHECK_INT(stat(kit_path("data"), &found), 0);
    CHECK_INT(found.st_mode & 0777, 0700);
    CHECK_INT(stat(kit_path("data/diurnal.db"), &found), 0);
    CHECK_INT(found.st_mode & 0077, 0);
}

TEST(what_was_written_is_there_when_it_is_opened_again) {
    dn_store       *store = kit_open(kit_path("data"));
    static kit_text before, after;

    kit_do(store, kit_cutoff(kit_user(store, "ada", 450), KIT_DAY, AT(KIT_DAY, 450)));
    kit_user(store, "bob", 1);
    kit_do(store, kit_remove("bob"));
    kit_dump_well(store, &before);
    dn_store_free(store);
    store = kit_open(kit_path("data"));
    kit_dump_well(store, &after);
    CHECK_STR(after.text, before.text);
    CHECK_UINT(kit_user(store, "eve", 1), 3);
    kit_do(store, kit_cutoff(3, KIT_DAY, AT(KIT_DAY, 450)));
    kit_check_well(store);
    dn_store_free(store);
}

TEST(a_second_process_is_told_which_one_has_the_directory) {
    dn_store *store = kit_open(kit_path("data"));
    char      words[64];
    int       status;

    snprintf(words, sizeof words, "data is in use by process %d", (int)getpid());
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        check_refused(kit_path("data"), false, DN_EEXIST, words);
        check_refused(kit_path("data"), true, DN_EEXIST, words);
        _exit(0);
    }
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK_INT(status, 0);
    check_refused(kit_path("data"), false, DN_EEXIST,
                  words); /* nor can the same one have it twice */
    dn_store_free(store);
    dn_store_free(kit_open(kit_path("data")));
}

static bool is_held(const char *dir) {
    dn_store_hold hold;

    CHECK_INT(dn_store_held(kit_url(dir), &hold, why), DN_OK);
    return hold.held;
}

TEST(that_somebody_has_the_directory_is_seen_by_who_asks) {
    CHECK(!is_held(kit_path("nothing")));
    dn_store *store = kit_open(kit_path("data"));
    CHECK(is_held(kit_path("data")));
    dn_store_free(store);
    CHECK(!is_held(kit_path("data")));
}

/* A daemon that was killed, and somebody who looks: what the first one left is not the second one's. */
TEST(no_two_holders_of_a_directory_have_the_same_sign) {
    const dn_store_config looks = {.url = kit_url(kit_path("data")), .read_only = true};
    dn_store_hold         first, second;

    dn_store *store = kit_open(kit_path("data"));
    CHECK_INT(dn_store_held(kit_url(kit_path("data")), &first, why), DN_OK);
    CHECK_INT(strtol(first.sign, NULL, 10), getpid());
    CHECK_INT(first.owner, geteuid());
    dn_store_free(store);
    CHECK_INT(dn_store_open(&looks, &store, why), DN_OK);
    CHECK_INT(dn_store_held(kit_url(kit_path("data")), &second, why), DN_OK);
    CHECK(second.held);
    CHECK_INT(strtol(second.sign, NULL, 10), getpid());
    CHECK(strcmp(first.sign, second.sign) != 0);
    dn_store_free(store);
}

/* Else a daemon would not start, now and then, because somebody looks whether it does. */
TEST(who_looks_whether_a_directory_is_held_keeps_nobody_out) {
    int status;

    dn_store_free(kit_open(kit_path("data")));
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
        for (;;) (void)is_held(kit_path("data"));
    for (int i = 0; i < 200; i++) dn_store_free(kit_open(kit_path("data")));
    CHECK(kill(pid, SIGKILL) == 0);
    CHECK_INT(waitpid(pid, &status, 0), pid);
}

TEST(another_program_that_opens_the_file_finds_it_locked) {
    dn_store *store = kit_open(kit_path("data"));
    int       status;

    kit_user(store, "ada", 1);
    const pid_t pid = fork(); /* SQLite's own locks hold between processes */
    CHECK(pid >= 0);
    if (pid == 0) {
        sqlite3 *db;
        if (sqlite3_open(kit_path("data/diurnal.db"), &db) != SQLITE_OK) _exit(1);
        const int rc = sqlite3_exec(db, "SELECT count(*) FROM users", NULL, NULL, NULL);
        _exit(rc == SQLITE_BUSY ? 0 : 2);
    }
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK_INT(status, 0);
    dn_store_free(store);
}

TEST(the_file_is_what_the_design_says) {
    static const char *const asks[] = {"PRAGMA page_size", "PRAGMA application_id",
                                       "PRAGMA user_version", "PRAGMA journal_mode"};
    static const char *const answers[] = {"4096", "1684632946", "3", "wal"};
    sqlite3                 *db;

    dn_store_free(kit_open(kit_path("data")));
    CHECK_INT(sqlite3_open(kit_path("data/diurnal.db"), &db), SQLITE_OK);
    for (int i = 0; i < 4; i++) {
        sqlite3_stmt *s;
        CHECK_INT(sqlite3_prepare_v2(db, asks[i], -1, &s, NULL), SQLITE_OK);
        CHECK_INT(sqlite3_step(s), SQLITE_ROW);
        CHECK_STR((const char *)sqlite3_column_text(s, 0), answers[i]);
        sqlite3_finalize(s);
    }
    sqlite3_close(db);
}

TEST(a_directory_that_cannot_be_made_or_is_none_is_refused_in_a_sentence) {
    file_write(kit_path("file"), "x", 1, 0);
    check_refused(kit_path("file"), false, DN_EINVAL, "is not a directory");
    check_refused(kit_path("no/such/parent"), false, DN_EIO, "cannot be created");
    check_refused(kit_path("file"), true, DN_EINVAL, "is not a directory");
}

/* ---- The URL ---- */

TEST(a_url_with_an_unknown_scheme_is_refused_without_its_password) {
    const dn_store_config config = {.url = "mysql://root:secret@host/db"};
    dn_store             *store = NULL;
    dn_store_hold         hold;

    CHECK_INT(dn_store_open(&config, &store, why), DN_EINVAL);
    CHECK_STR(why, "unknown store scheme \"mysql\"; use sqlite:DIRECTORY or memory:");
    CHECK_INT(dn_store_probe(&config, why), DN_EINVAL);
    CHECK_INT(dn_store_held(config.url, &hold, why), DN_EINVAL);
    CHECK(!hold.held);
}

TEST(a_store_in_memory_is_always_free_to_open) {
    dn_store_hold hold = {.held = true};

    CHECK_INT(dn_store_probe(&(dn_store_config){.url = "memory:"}, why), DN_OK);
    CHECK_INT(dn_store_held("memory:", &hold, why), DN_OK);
    CHECK(!hold.held);
}

/* ---- Whose it is ---- */

/* What opening it says, before anybody does. */
static void check_probe(const char *dir, int expected, const char *words) {
    const dn_store_config config = {.url = kit_url(dir), .ledger_days = KIT_LEDGER_DAYS};

    memset(why, 'x', sizeof why);
    const int code = dn_store_probe(&config, why);
    CHECK_MSG(code == expected, "code %d: %s", code, why);
    CHECK_MSG(strstr(why, words), "it says: %s", why);
}

TEST(what_would_be_refused_can_be_asked_before_and_nothing_is_made) {
    check_probe(kit_path("data"), DN_OK, "");
    CHECK_INT(kit_size(kit_path("data")), -1);
    check_probe(kit_path("no/such/parent"), DN_EIO, "cannot be created");
    file_write(kit_path("file"), "x", 1, 0);
    check_probe(kit_path("file"), DN_EINVAL, "is not a directory");
    check_probe(kit_path("file/below"), DN_EIO, "Not a directory");
    CHECK_INT(mkdir(kit_path("empty"), 0700), 0);
    check_probe(kit_path("empty"), DN_OK, "");
    CHECK_INT(kit_size(kit_path("empty/lock")), -1);
    CHECK_INT(mkdir(kit_path("foreign"), 0700), 0);
    file_write(kit_path("foreign/diurnal.db"), "x", 1, 0);
    check_probe(kit_path("foreign"), DN_EINVAL, "is not a database");
    dn_store *store = kit_open(kit_path("data"));
    check_probe(kit_path("data"), DN_EEXIST, "is in use by process");
    dn_store_free(store);
    check_probe(kit_path("data"), DN_OK, "");
    dn_store_free(kit_open(kit_path("data"))); /* the lock is given back */
}

TEST(a_file_that_is_no_database_is_refused_untouched) {
    CHECK_INT(mkdir(kit_path("data"), 0700), 0);
    for (size_t len = 1; len <= 5000; len += 1666) {
        char bytes[5000];
        memset(bytes, '?', sizeof bytes);
        file_write(kit_path("data/diurnal.db"), bytes, len, 0);
        check_refused_untouched(kit_path("data"), false, "is not a database");
        check_refused_untouched(kit_path("data"), true, "is not a database");
    }
}

TEST(a_database_of_another_program_is_refused_untouched) {
    static const char *const others[] = {
        "CREATE TABLE users (id)",
        "PRAGMA journal_mode = WAL; CREATE TABLE users (id)",
        "PRAGMA user_version = 7",
        "PRAGMA application_id = 12345",
    };

    for (int i = 0; i < 4; i++) {
        char name[16], path[KIT_PATH];
        snprintf(name, sizeof name, "other%d", i);
        snprintf(path, sizeof path, "%s/diurnal.db", kit_path(name));
        CHECK_INT(mkdir(kit_path(name), 0700), 0);
        sql_do(path, others[i]);
        check_refused_untouched(kit_path(name), false, "belongs to another program");
        check_refused_untouched(kit_path(name), true, "belongs to another program");
    }
}

TEST(a_database_of_another_program_that_was_killed_is_refused_with_its_log_untouched) {
    int status;

    CHECK_INT(mkdir(kit_path("data"), 0700), 0);
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        sqlite3 *db;
        sqlite3_open(kit_path("data/diurnal.db"), &db);
        _exit(sqlite3_exec(db,
                           "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL;"
                           "CREATE TABLE t (x); INSERT INTO t VALUES (1)",
                           NULL, NULL, NULL));
    }
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK_INT(status, 0);
    CHECK(kit_size(kit_path("data/diurnal.db-wal")) > 0);
    check_refused_untouched(kit_path("data"), false, "belongs to another program");
}

/* ---- A file that is taken away ---- */

static void check_is_gone(dn_store *store) {
    const dn_write  set = kit_set("cleo", 0);
    dn_write_result result;

    CHECK_INT(dn_store_write(store, &set, 1, &result, NULL), DN_EIO);
    const char *damage = dn_store_damage(store);
    CHECK_MSG(damage && strstr(damage, "/data/diurnal.db was removed, moved or replaced"), "%s",
              damage ? damage : "no word");
    CHECK_INT(dn_store_idle(store), DN_EIO);
    dn_store_free(store);
}

TEST(nothing_is_written_past_a_file_that_was_replaced_and_nothing_of_the_old_one_into_it) {
    dn_store *store = kit_open(kit_path("data"));
    dn_user   bob;

    (void)kit_user(store, "ada", 450);
    CHECK_INT(dn_store_idle(store), DN_OK);
    file_copy(kit_path("data/diurnal.db"), kit_path("copy"));
    (void)kit_user(store, "bob", 450);
    CHECK_INT(rename(kit_path("copy"), kit_path("data/diurnal.db")), 0);
    check_is_gone(store);
    CHECK(kit_size(kit_path("data/diurnal.db-wal")) <= 0);
    store = kit_open(kit_path("data"));
    CHECK_UINT(kit_read(store, "ada").due, 450);
    CHECK_INT(dn_store_user(store, "bob", 3, &bob), DN_EDEAD);
    kit_check_well(store);
    dn_store_free(store);
}

TEST(a_file_that_was_moved_away_has_all_that_was_acknowledged) {
    dn_store *store = kit_open(kit_path("data"));

    (void)kit_user(store, "ada", 450);
    CHECK_INT(rename(kit_path("data/diurnal.db"), kit_path("moved")), 0);
    check_is_gone(store);
    CHECK_INT(rename(kit_path("moved"), kit_path("data/diurnal.db")), 0);
    store = kit_open(kit_path("data"));
    CHECK_UINT(kit_read(store, "ada").due, 450);
    dn_store_free(store);
}

TEST(a_file_of_an_older_diurnal_is_brought_to_this_version_with_all_that_is_in_it) {
    dn_store *store = kit_open(kit_path("data"));
    dn_token  token = {.scope = DN_SCOPE_READ}, there;
    size_t    len = 0;

    (void)kit_user(store, "ada", 450);
    dn_store_free(store);
    sql_do(kit_path("data/diurnal.db"), "DROP TABLE tokens; PRAGMA user_version = 1");
    const dn_store_config config = {.url = kit_url(kit_path("data")), .read_only = true};
    CHECK_INT(dn_store_open(&config, &store, why), DN_EINVAL);
    CHECK(strstr(why, "was written by an older diurnal (version 1, this one needs 3)"));
    store = kit_open(kit_path("data"));
    CHECK_UINT(kit_read(store, "ada").due, 450);
    token.id = kit_do(store, kit_token_add(&token)).token_id;
    dn_store_free(store);
    store = kit_open(kit_path("data"));
    CHECK_INT(dn_store_tokens(store, &there, 1, &len), DN_OK);
    CHECK_UINT(len, 1);
    CHECK_UINT(there.id, token.id);
    dn_store_free(store);
}

TEST(tokens_of_a_file_of_version_2_belong_to_no_tenant_and_no_user) {
    dn_store *store = kit_open(kit_path("data"));
    dn_token  token = {.scope = DN_SCOPE_READ, .ends_ms = INT64_MAX}, there = {.tenant_len = 1};
    size_t    len = 0;

    dn_write_result added;
    CHECK_INT(dn_store_write(store,
                             &(dn_write){.op = DN_WRITE_TOKEN_ADD, .token_add = {.token = &token}},
                             1, &added, NULL),
              DN_OK);
    dn_store_free(store);
    sql_do(kit_path("data/diurnal.db"),
           "ALTER TABLE tokens DROP COLUMN tenant; ALTER TABLE tokens DROP COLUMN user;"
           "PRAGMA user_version = 2");
    store = kit_open(kit_path("data"));
    CHECK_INT(dn_store_tokens(store, &there, 1, &len), DN_OK);
    CHECK_UINT(len, 1);
    CHECK_UINT(there.id, added.token_id);
    CHECK_UINT(there.tenant_len, 0);
    CHECK_UINT(there.user_len, 0);
    dn_store_free(store);
}

/* As a version 1 with users would be after a kill. */
static void make_killed_first_version(const char *path) {
    const pid_t pid = fork();
    int         status;

    CHECK(pid >= 0);
    if (pid == 0) {
        sqlite3 *db;
        CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
        _exit(sqlite3_exec(db,
                           "PRAGMA locking_mode = EXCLUSIVE; DROP TABLE tokens;"
                           "PRAGMA user_version = 1",
                           NULL, NULL, NULL));
    }
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK_INT(status, 0);
}

/* What is added to the file is a hole, and takes no room. */
TEST(a_large_file_of_an_older_diurnal_that_was_killed_is_brought_to_this_version) {
    enum { LARGE = (1 << 30) + 4096 };
    dn_store *store = kit_open(kit_path("data"));
    dn_token  token = {.scope = DN_SCOPE_READ};

    (void)kit_user(store, "ada", 450);
    dn_store_free(store);
    CHECK_INT(truncate(kit_path("data/diurnal.db"), LARGE), 0);
    make_killed_first_version(kit_path("data/diurnal.db"));
    CHECK_INT(kit_size(kit_path("data/diurnal.db")), LARGE);
    CHECK(kit_size(kit_path("data/diurnal.db-wal")) > 0);
    store = kit_open(kit_path("data"));
    CHECK_UINT(kit_read(store, "ada").due, 450);
    token.id = kit_do(store, kit_token_add(&token)).token_id;
    dn_store_free(store);
}

TEST(a_file_of_a_newer_diurnal_is_refused_untouched) {
    dn_store_free(kit_open(kit_path("data")));
    sql_do(kit_path("data/diurnal.db"), "PRAGMA user_version = 99");
    check_refused_untouched(kit_path("data"), false, "newer diurnal (version 99");
    check_refused_untouched(kit_path("data"), true, "newer diurnal (version 99");
}

TEST(a_newer_version_that_only_the_log_tells_of_is_refused_untouched_too) {
    int status;

    dn_store_free(kit_open(kit_path("data")));
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        sqlite3 *db;
        sqlite3_open(kit_path("data/diurnal.db"), &db);
        _exit(sqlite3_exec(db, "PRAGMA locking_mode = EXCLUSIVE; PRAGMA user_version = 99", NULL,
                           NULL, NULL));
    }
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK_INT(status, 0);
    check_refused_untouched(kit_path("data"), false, "newer diurnal (version 99");
}

TEST(a_log_without_its_file_is_refused_untouched) {
    make_killed(kit_path("data"), 1);
    CHECK_INT(unlink(kit_path("data/diurnal.db")), 0);
    check_refused_untouched(kit_path("data"), false, "its log");
}

/* ---- Damage ---- */

TEST(a_store_that_was_killed_has_all_that_was_written) {
    uint64_t count;

    make_killed(kit_path("data"), 20);
    CHECK(kit_size(kit_path("data/diurnal.db-wal")) > 0);
    dn_store *store = kit_open(kit_path("data"));
    CHECK_INT(dn_store_count(store, &count), DN_OK);
    CHECK_UINT(count, 20);
    kit_check_well(store);
    dn_store_free(store);
    CHECK_INT(kit_size(kit_path("data/diurnal.db-wal")), -1);
}

/* Garbage over one page of a file that was not closed: it is found before anything is believed. */
TEST(after_a_kill_a_damaged_page_is_found_and_the_file_is_left_as_it_is) {
    char      garbage[4096];
    dn_store *store = kit_open(kit_path("data"));

    memset(garbage, 0xee, sizeof garbage);
    for (int i = 0; i < 3000; i++) {
        char id[64];
        snprintf(id, sizeof id, "somebody-with-a-name-of-some-length-%d", i);
        kit_user(store, id, 0);
    }
    dn_store_free(store);
    const int64_t pages = kit_size(kit_path("data/diurnal.db")) / 4096;
    CHECK(pages > 50);
    /* A log with something in it, of a later process that was killed. */
    make_killed(kit_path("data"), 1);
    file_copy(kit_path("data/diurnal.db"), kit_path("well"));
    for (int64_t page = pages / 4; page < pages * 3 / 4; page += pages / 4) {
        file_copy(kit_path("well"), kit_path("data/diurnal.db"));
        file_write(kit_path("data/diurnal.db"), garbage, sizeof garbage, page * 4096);
        check_refused_untouched(kit_path("data"), false, "is damaged");
        check_refused_untouched(kit_path("data"), true, "is damaged");
    }
    file_copy(kit_path("well"), kit_path("data/diurnal.db"));
    dn_store_free(kit_open(kit_path("data")));
}

TEST(a_file_cut_short_is_refused_untouched) {
    dn_store *store = kit_open(kit_path("data"));

    kit_user(store, "ada", 0);
    dn_store_free(store);
    CHECK_INT(truncate(kit_path("data/diurnal.db"), 4096), 0);
    check_refused(kit_path("data"), false, DN_EINVAL, "is damaged");
    CHECK_INT(kit_size(kit_path("data/diurnal.db")), 4096);
}

TEST(damage_met_later_ends_the_store_and_its_check_tells_of_it) {
    char      garbage[4096];
    dn_store *store = kit_open(kit_path("data"));
    dn_user   user;
    uint64_t  count;

    memset(garbage, 0xee, sizeof garbage);
    for (int i = 0; i < 3000; i++) {
        char id[64];
        snprintf(id, sizeof id, "somebody-with-a-name-of-some-length-%d", i);
        kit_user(store, id, 0);
    }
    dn_store_free(store);
    for (int64_t at = 10 * 4096; at < kit_size(kit_path("data/diurnal.db")); at += 4096)
        file_write(kit_path("data/diurnal.db"), garbage, sizeof garbage, at);
    store = kit_open(kit_path("data")); /* it was closed well, so it is not looked through */
    CHECK_INT(dn_store_check(store, why), DN_EINVAL);
    CHECK(strstr(why, "damaged"));
    CHECK_PTR(dn_store_damage(store), NULL);
    CHECK_INT(dn_store_user(store, "somebody-with-a-name-of-some-length-1500", 40, &user), DN_EIO);
    CHECK_MSG(strstr(dn_store_damage(store), kit_path("data/diurnal.db is damaged; ")),
              "it says: %s", dn_store_damage(store));
    CHECK_INT(dn_store_count(store, &count), DN_EIO);
    dn_store_free(store);
}

TEST(a_row_that_none_of_us_can_have_written_is_damage) {
    dn_store *store = kit_open(kit_path("data"));
    dn_user   user;
    size_t    len;

    kit_user(store, "ada", 0);
    dn_store_free(store);
    sql_do(kit_path("data/diurnal.db"), "UPDATE users SET due = 1440");
    store = kit_open(kit_path("data"));
    CHECK_INT(dn_store_load(store, 0, &user, 1, &len), DN_EIO);
    CHECK(dn_store_damage(store));
    dn_store_free(store);
}

/* What SQLite finds sound may still not be what we write. */
TEST(the_check_finds_rows_that_do_not_agree) {
    static const char *const harm[] = {
        "UPDATE counters SET value = 9 WHERE name = 'users'",
        "UPDATE counters SET value = 1 WHERE name = 'next_user'",
        "UPDATE counters SET value = 1 WHERE name = 'next_hook'",
        "UPDATE users SET due = 1440",
        "UPDATE users SET recorded = NULL",
        "UPDATE users SET status = 1",
        "DELETE FROM users",
        "INSERT INTO ledger VALUES (21000, 1, 3, 0, 0, 0)",
        "UPDATE hooks SET context_epoch = 5",
        "UPDATE day_totals SET missed = -1",
    };

    for (size_t i = 0; i < sizeof harm / sizeof *harm; i++) {
        dn_store *store = kit_open(kit_path("data"));
        kit_do(store, kit_cutoff(kit_user(store, "ada", 0), KIT_DAY, AT(KIT_DAY, 0)));
        kit_check_well(store);
        dn_store_free(store);
        sql_do(kit_path("data/diurnal.db"), harm[i]);
        store = kit_open(kit_path("data"));
        const int code = dn_store_check(store, why);
        CHECK_MSG(code == DN_EINVAL, "%s: code %d: %s", harm[i], code, why);
        dn_store_free(store);
        kit_remove_tree(kit_path("data"));
    }
}

/* ---- Reading only ---- */

TEST(reading_only_makes_nothing_and_changes_nothing) {
    dn_store       *store;
    static kit_text before, after, users, expected;

    check_refused(kit_path("data"), true, DN_EIO, "cannot be read");
    CHECK_INT(mkdir(kit_path("data"), 0700), 0);
    check_refused_untouched(kit_path("data"), true, "no database in");
    CHECK_INT(kit_size(kit_path("data/lock")), -1);

    store = kit_open(kit_path("data"));
    kit_do(store, kit_cutoff(kit_user(store, "ada", 0), KIT_DAY, AT(KIT_DAY, 0)));
    kit_dump_well(store, &expected);
    dn_store_free(store);
    dir_say(&before, kit_path("data"));
    CHECK_INT(open_as(kit_path("data"), true, &store), DN_OK);
    kit_dump_well(store, &users);
    kit_check_well(store);
    CHECK_INT(dn_store_idle(store), DN_OK);
    dn_store_free(store);
    CHECK_STR(users.text, expected.text);
    dir_say(&after, kit_path("data"));
    CHECK_STR(after.text, before.text);
}

TEST(reading_only_sees_what_is_still_in_the_log_and_leaves_it_there) {
    dn_store       *store;
    static kit_text before, after;
    uint64_t        count;

    make_killed(kit_path("data"), 5);
    dir_say(&before, kit_path("data"));
    CHECK_INT(open_as(kit_path("data"), true, &store), DN_OK);
    CHECK_INT(dn_store_count(store, &count), DN_OK);
    CHECK_UINT(count, 5);
    dn_store_free(store);
    dir_say(&after, kit_path("data"));
    CHECK_STR(after.text, before.text);
}

TEST(a_path_may_have_the_bytes_that_mean_something_in_a_uri) {
    dn_store *store = kit_open(kit_path("a?b#c%41 d"));
    uint64_t  count;

    kit_user(store, "ada", 0);
    dn_store_free(store);
    CHECK_INT(open_as(kit_path("a?b#c%41 d"), true, &store), DN_OK);
    CHECK_INT(dn_store_count(store, &count), DN_OK);
    CHECK_UINT(count, 1);
    dn_store_free(store);
}

TEST_ABORTS(writing_to_a_store_that_is_only_read_is_a_bug, "read_only") {
    dn_store *store;

    dn_store_free(kit_open(kit_path("data")));
    CHECK_INT(open_as(kit_path("data"), true, &store), DN_OK);
    kit_end(); /* now, for an abort ends nothing in order */
    kit_do(store, kit_set("ada", 0));
}

/* ---- Backups ---- */

TEST(a_backup_onto_a_file_that_is_there_is_refused) {
    dn_store  *store = kit_open(kit_path("data"));
    dn_backup *backup = NULL;

    file_write(kit_path("copy"), "mine", 4, 0);
    CHECK_INT(dn_store_backup(store, kit_path("copy"), &backup, why), DN_EEXIST);
    CHECK(strstr(why, "already exists"));
    CHECK_PTR(backup, NULL);
    CHECK_INT(kit_size(kit_path("copy")), 4);
    dn_store_free(store);
}

TEST(a_backup_never_replaces_a_file_that_came_to_be_meanwhile) {
    dn_store  *store = kit_open(kit_path("data"));
    dn_backup *backup;
    int        code;

    CHECK_INT(dn_store_backup(store, kit_path("copy"), &backup, why), DN_OK);
    file_write(kit_path("copy"), "mine", 4, 0);
    do code = dn_backup_step(backup, why);
    while (code == DN_PENDING);
    CHECK_INT(code, DN_EEXIST);
    dn_backup_free(backup);
    CHECK_INT(kit_size(kit_path("copy")), 4);
    dn_store_free(store);
}

TEST(a_backup_that_is_given_up_leaves_no_file_behind) {
    dn_store       *store = kit_open(kit_path("data"));
    dn_backup      *backup;
    static kit_text before, after;

    dir_say(&before, kit_path(""));
    CHECK_INT(dn_store_backup(store, kit_path("copy"), &backup, why), DN_OK);
    dn_backup_free(backup);
    dir_say(&after, kit_path(""));
    CHECK_STR(after.text, before.text);
    CHECK_INT(dn_store_backup(store, kit_path("no/such/copy"), &backup, why), DN_EFAILED);
    dn_store_free(store);
}

TEST(backup_without_a_path_leaves_no_name_and_gives_its_bytes) {
    dn_store       *store = kit_open(kit_path("data"));
    dn_backup      *backup;
    static kit_text before, after;
    char            bytes[16];
    size_t          len;
    int             code;

    dir_say(&before, kit_path("data"));
    CHECK_INT(dn_store_backup(store, NULL, &backup, why), DN_OK);
    dir_say(&after, kit_path("data"));
    CHECK_STR(after.text, before.text);
    do code = dn_backup_step(backup, why);
    while (code == DN_PENDING);
    CHECK_INT(code, DN_OK);
    CHECK(dn_backup_bytes(backup) >= 4096);
    CHECK_INT(dn_backup_read(backup, 0, bytes, sizeof bytes, &len), DN_OK);
    CHECK_UINT(len, sizeof bytes);
    CHECK_STR(bytes, "SQLite format 3");
    CHECK_INT(dn_backup_read(backup, dn_backup_bytes(backup) - 8, bytes, sizeof bytes, &len),
              DN_OK);
    CHECK_UINT(len, 8);
    dn_backup_free(backup);
    dn_store_free(store);
}

TEST(a_store_in_memory_cannot_be_copied_and_says_so) {
    dn_store  *store = kit_open(NULL);
    dn_backup *backup;

    CHECK_INT(dn_store_backup(store, kit_path("copy"), &backup, why), DN_EINVAL);
    CHECK(strstr(why, "in memory"));
    dn_store_free(store);
}
