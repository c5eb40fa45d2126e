/* faults_test.c - whatever fails, and whenever: what was acknowledged stays, what was refused left nothing
 * behind, and the store says which of the two it is.
 *
 * One history with everything in it is told again and again, each time with the next call failing, until it
 * comes to its end without. */
#include "fault.h"
#include "script.h"
#include "starving.h"

#include <sys/wait.h>

/* ---- The history ---- */

typedef enum step_kind { BATCH, IDLE, REOPEN, BACKUP, READ, CHECK_ALL } step_kind;

/* Between the batches: after so many of them, this. */
static const struct {
    int       batches;
    step_kind kind;
} between[] = {{2, IDLE},       {4, BACKUP},  {6, REOPEN}, {8, READ},
               {12, CHECK_ALL}, {13, REOPEN}, {18, IDLE},  {20, REOPEN}};
enum { BETWEEN = sizeof between / sizeof *between };

static script    history;
static dn_store *store;
static char      why[DN_STORE_WHY];

/* Opens it, however often it fails: a fault comes once, and then it must be as if nothing had been. */
static void open_in_the_end(void) {
    const dn_store_config config = {
        .url = kit_url(kit_path("data")), .ledger_days = KIT_LEDGER_DAYS, .vfs = "fault"};

    for (int tries = 0;; tries++) {
        const int code = dn_store_open(&config, &store, why);
        if (code == DN_OK) return;
        CHECK_MSG(fault.fired && tries == 0, "code %d: %s", code, why);
        CHECK_MSG(code == DN_EIO || code == DN_EFULL || code == DN_ENOMEM, "code %d: %s", code,
                  why);
        CHECK_MSG(*why && !strchr(why, '\n'), "it says: %s", why);
        CHECK_PTR(store, NULL);
    }
}

static void close_store(void) {
    dn_store_free(store);
    store = NULL;
}

static int back_up(void) {
    dn_backup *backup = NULL;
    int        code = dn_store_backup(store, kit_path("copy"), &backup, why);

    while (code >= 0) {
        code = dn_backup_step(backup, why);
        if (code == DN_OK) break;
    }
    dn_backup_free(backup);
    if (code < 0) {
        CHECK_MSG(*why, "code %d, and no word", code);
        CHECK_INT(kit_size(kit_path("copy")), -1);
    } else CHECK_INT(unlink(kit_path("copy")), 0);
    return code;
}

static int read_all(void) {
    static dn_user       users[64];
    static dn_ledger_row rows[64];
    const dn_user_filter any = {.due_from = 0, .due_to = DN_DAY_MINUTES - 1};
    kit_text             text = {0};
    dn_user              last;
    size_t               len;
    bool                 more;
    int                  code = kit_dump(store, &text);

    free(text.text);
    if (code == DN_OK) code = dn_store_list(store, &any, users, 64, &len, &more, &last);
    if (code == DN_OK) code = dn_store_day(store, KIT_DAY, 0, rows, 64, &len);
    if (code == DN_OK) code = dn_store_user(store, "user-1", 6, users);
    return code == DN_EDEAD ? DN_OK : code;
}

static int step_do(step_kind kind, int batch) {
    switch (kind) {
    case BATCH: return script_write(store, &history, batch);
    case IDLE: return dn_store_idle(store);
    case BACKUP: return back_up();
    case READ: return read_all();
    case CHECK_ALL: return dn_store_check(store, why);
    case REOPEN: break;
    }
    close_store();
    open_in_the_end();
    return DN_OK;
}

/* A step has failed. Says how many batches the store holds from here on. */
static int after_failure(int code, int acknowledged) {
    kit_text text = {0};
    uint64_t count;

    CHECK_MSG(fault.fired, "code %d, but nothing was made to fail: %s", code, why);
    CHECK_MSG(code == DN_EIO || code == DN_EFULL || code == DN_ENOMEM, "code %d", code);
    if (code == DN_EIO && dn_store_count(store, &count) == DN_EIO) {
        /* Final: it says the same to everything. Only a new start can tell what is on the disk. */
        CHECK_PTR(dn_store_damage(store), NULL);
        CHECK_INT(script_write(store, &history, acknowledged), DN_EIO);
        CHECK_INT(dn_store_idle(store), DN_EIO);
        CHECK_INT(kit_dump(store, &text), DN_EIO);
        close_store();
        open_in_the_end();
        kit_dump_well(store, &text);
        acknowledged = script_find(&history, text.text, acknowledged);
    } else {
        kit_dump_well(store, &text);
        CHECK_STR(text.text, history.after[acknowledged]);
    }
    free(text.text);
    return acknowledged;
}

static int step_in_the_end(step_kind kind, int acknowledged) {
    const int before = acknowledged;
    int       code = step_do(kind, acknowledged);
    uint64_t  count;

    if (code < 0) {
        /* A copy may fail for reasons that are its own, and then the store is well. */
        if (kind != BACKUP && fault.kind != FAULT_MALLOC && fault.kind != FAULT_NOMEM)
            CHECK_INT(code, fault.kind == FAULT_IO ? DN_EIO : DN_EFULL);
        if (kind != BACKUP && code == DN_EIO) CHECK_INT(dn_store_count(store, &count), DN_EIO);
        acknowledged = after_failure(code, acknowledged);
        if (acknowledged == before) {
            code = step_do(kind, acknowledged);
            CHECK_MSG(code == DN_OK, "the second time: code %d: %s", code, why);
        } else return acknowledged;
    }
    return kind == BATCH ? acknowledged + 1 : acknowledged;
}

static void tell_history(void) {
    kit_text text = {0};
    int      acknowledged = 0, done[BETWEEN] = {0};

    open_in_the_end();
    while (acknowledged < SCRIPT_BATCHES) {
        for (int i = 0; i < BETWEEN; i++) {
            if (between[i].batches != acknowledged || done[i]) continue;
            done[i] = 1;
            acknowledged = step_in_the_end(between[i].kind, acknowledged);
        }
        acknowledged = step_in_the_end(BATCH, acknowledged);
    }
    close_store();
    fault.left = 0;
    open_in_the_end();
    kit_dump_well(store, &text);
    CHECK_STR(text.text, history.after[SCRIPT_BATCHES]);
    kit_check_well(store);
    close_store();
    free(text.text);
    kit_remove_tree(kit_path("data"));
}

/* Every call fails once. `fast`: from there on not every one is tried, for there are tens of thousands. */
static void fail_at_every_call(fault_kind kind, long fast) {
    uint64_t random_state = test_seed();
    long     n = 1, rounds = 0;

    kit_path("");
    script_init(&history, &random_state);
    do {
        fault_nth(kind, n);
        tell_history();
        rounds++;
        n += n < fast ? 1 : 1 + (long)(test_random(&random_state) % (uint64_t)(n / 16 + 1));
    } while (fault.fired);
    CHECK_MSG(rounds > 20, "only %ld calls came", rounds);
    script_done(&history);
}

TEST(an_io_error_at_any_call_loses_nothing_acknowledged_and_ends_the_store) {
    fault_disk();
    fail_at_every_call(FAULT_IO, 4000 / TEST_SLOW_FACTOR);
}

TEST(a_full_disk_at_any_write_leaves_the_store_as_it_was_and_usable) {
    fault_disk();
    fail_at_every_call(FAULT_FULL, 4000 / TEST_SLOW_FACTOR);
}

TEST(a_quota_reached_at_any_write_is_a_full_disk) {
    fault_disk();
    fail_at_every_call(FAULT_QUOTA, 4000 / TEST_SLOW_FACTOR);
}

TEST(a_disk_out_of_memory_at_any_call_leaves_the_store_as_it_was_and_usable) {
    fault_disk();
    fail_at_every_call(FAULT_NOMEM, 4000 / TEST_SLOW_FACTOR);
}

TEST(sqlite_out_of_memory_at_any_allocation_leaves_the_store_as_it_was_and_usable) {
    fault_memory();
    fault_disk();
    fail_at_every_call(FAULT_MALLOC, 1200 / TEST_SLOW_FACTOR);
}

/* From a cold cache, so that a batch has to read and to allocate in its middle, where some of it is written. */
static void fail_at_every_call_of_a_batch(fault_kind kind) {
    uint64_t random_state = test_seed();
    kit_text text = {0};
    long     failures = 0;

    script_init(&history, &random_state);
    for (int b = 0; b < SCRIPT_BATCHES; b++) {
        int code = DN_ENOMEM;
        for (long n = 1; code < 0; n += TEST_SLOW_FACTOR) {
            close_store();
            open_in_the_end();
            fault_nth(kind, n);
            code = script_write(store, &history, b);
            fault_nth(kind, 0);
            CHECK_MSG(code == DN_OK || code == DN_ENOMEM, "code %d", code);
            failures += code < 0;
            kit_dump_well(store, &text);
            CHECK_STR(text.text, history.after[code < 0 ? b : b + 1]);
        }
    }
    CHECK_MSG(failures > SCRIPT_BATCHES, "only %ld failed", failures);
    close_store();
    script_done(&history);
    free(text.text);
}

TEST(out_of_memory_in_the_middle_of_a_batch_undoes_all_of_it) {
    fault_memory();
    fault_disk();
    fail_at_every_call_of_a_batch(FAULT_MALLOC);
}

TEST(a_disk_out_of_memory_in_the_middle_of_a_batch_undoes_all_of_it) {
    fault_disk();
    fail_at_every_call_of_a_batch(FAULT_NOMEM);
}

/* SQLite rolls back by itself when it has no memory; it does not when the store has none. */
TEST(no_memory_for_the_totals_of_a_batch_undoes_what_stands_before_it) {
    kit_text        before = {0}, after = {0};
    dn_write_result results[2];

    store = kit_open(kit_path("data"));
    const dn_write writes[] = {kit_set("bob", 0),
                               kit_cutoff(kit_user(store, "ada", 0), KIT_DAY, AT(KIT_DAY, 0))};
    kit_dump_well(store, &before);
    starve_nth(1);
    CHECK_INT(dn_store_write(store, writes, 2, results, NULL), DN_ENOMEM);
    CHECK(starve_end());
    kit_dump_well(store, &after);
    CHECK_STR(after.text, before.text);
    CHECK_INT(dn_store_write(store, writes, 2, results, NULL), DN_OK);
    CHECK_UINT(results[0].user.registration, 2);
    close_store();
    free(before.text);
    free(after.text);
}

TEST(no_memory_for_a_store_in_memory_at_any_allocation_leaves_it_as_it_was) {
    uint64_t random_state = test_seed();
    kit_text text = {0};
    bool     failed = true;

    script_init(&history, &random_state);
    for (uint64_t n = 1; failed; n++) {
        const dn_store_config config = {.url = "memory:", .ledger_days = KIT_LEDGER_DAYS};
        bool                  came = false;
        starve_nth(n);
        int code = dn_store_open(&config, &store, why);
        failed = starve_end();
        if (failed) {
            CHECK_INT(code, DN_ENOMEM);
            continue;
        }
        (void)dn_store_follow(store); /* so that its changes take memory too */
        for (int b = 0; b < SCRIPT_BATCHES; b++) {
            if (!came) starve_nth(n);
            code = script_write(store, &history, b);
            came |= starve_end();
            CHECK_INT(code < 0 ? code : 0, code < 0 ? DN_ENOMEM : 0);
            kit_dump_well(store, &text);
            CHECK_STR(text.text, history.after[code < 0 ? b : b + 1]);
            if (code < 0) b--;
        }
        failed = came;
        close_store();
    }
    script_done(&history);
    free(text.text);
}

TEST(a_check_that_cannot_read_says_that_and_not_that_there_is_damage) {
    long n = 1;

    fault_disk();
    open_in_the_end();
    for (int i = 0; i < 400; i++) {
        char id[16];
        snprintf(id, sizeof id, "user-%d", i);
        kit_do(store, kit_cutoff(kit_user(store, id, 0), KIT_DAY, AT(KIT_DAY, 0)));
    }
    for (int code = DN_EIO; code < 0; n++) {
        close_store();
        open_in_the_end();
        fault_nth(FAULT_IO, n);
        code = dn_store_check(store, why);
        fault_nth(FAULT_IO, 0);
        CHECK_MSG(code == DN_OK || code == DN_EIO, "code %d: %s", code, why);
    }
    CHECK_MSG(n > 10, "only %ld calls came", n);
    close_store();
}

/* ---- Full for a while ---- */

TEST(while_the_disk_is_full_everything_can_be_read_and_then_all_is_written_in_order) {
    uint64_t random_state = test_seed();
    kit_text text = {0};

    fault_disk();
    script_init(&history, &random_state);
    open_in_the_end();
    for (int b = 0; b < SCRIPT_BATCHES; b++) {
        /* What changes nothing needs no room. */
        fault.full = b % 3 == 1 && strcmp(history.after[b], history.after[b + 1]) != 0;
        for (int tries = 0; fault.full && tries < 5; tries++) {
            CHECK_INT(script_write(store, &history, b), DN_EFULL);
            CHECK_INT(read_all(), DN_OK);
            kit_check_well(store);
            kit_dump_well(store, &text);
            CHECK_STR(text.text, history.after[b]);
        }
        fault.full = false;
        CHECK_INT(script_write(store, &history, b), DN_OK);
        kit_dump_well(store, &text);
        CHECK_STR(text.text, history.after[b + 1]);
    }
    close_store();
    open_in_the_end();
    kit_dump_well(store, &text);
    CHECK_STR(text.text, history.after[SCRIPT_BATCHES]);
    close_store();
    script_done(&history);
    free(text.text);
}

TEST(a_store_closed_and_opened_on_a_full_disk_has_everything_later) {
    uint64_t              random_state = test_seed();
    const dn_store_config config = {
        .url = kit_url(kit_path("data")), .ledger_days = KIT_LEDGER_DAYS, .vfs = "fault"};
    kit_text text = {0};

    fault_disk();
    script_init(&history, &random_state);
    open_in_the_end();
    for (int b = 0; b < SCRIPT_BATCHES; b++) CHECK_INT(script_write(store, &history, b), DN_OK);
    fault.full = true;
    CHECK_INT(dn_store_idle(store), DN_EFULL);
    close_store();
    const int code = dn_store_open(&config, &store, why);
    CHECK_MSG(code == DN_OK || code == DN_EFULL, "code %d: %s", code, why);
    if (code == DN_OK) close_store();
    fault.full = false;
    open_in_the_end();
    kit_dump_well(store, &text);
    CHECK_STR(text.text, history.after[SCRIPT_BATCHES]);
    close_store();
    script_done(&history);
    free(text.text);
}

/* ---- A long log ---- */

enum { LONG_USERS = 20000, LONG_STRIDE = 25 };
static const char *long_id(int i) {
    static char ids[LONG_USERS][DN_ID_MAX + 1];

    if (!*ids[i]) snprintf(ids[i], sizeof ids[i], "%0*d", DN_ID_MAX, i);
    return ids[i];
}

/* Users of long names, and then batches that each change about one user a page. */
static void long_users(void) {
    static dn_write        writes[LONG_USERS];
    static dn_write_result results[LONG_USERS];

    for (int i = 0; i < LONG_USERS; i++) writes[i] = kit_set(long_id(i), 0);
    CHECK_INT(dn_store_write(store, writes, LONG_USERS, results, NULL), DN_OK);
}

static int long_batch(int round) {
    static dn_write        writes[LONG_USERS / LONG_STRIDE];
    static dn_write_result results[LONG_USERS / LONG_STRIDE];
    const dn_day           day = KIT_DAY + round / LONG_STRIDE;

    for (uint64_t i = 0; i < LONG_USERS / LONG_STRIDE; i++)
        writes[i] =
            kit_success(1 + i * LONG_STRIDE + (uint64_t)(round % LONG_STRIDE), day, AT(day, 0));
    return dn_store_write(store, writes, LONG_USERS / LONG_STRIDE, results, NULL);
}

TEST(the_log_does_not_grow_for_ever_and_is_short_when_idle) {
    int64_t longest = 0, size;

    fault_disk();
    open_in_the_end();
    long_users();
    for (int round = 0; round < 80; round++) {
        CHECK_INT(long_batch(round), DN_OK);
        size = kit_size(kit_path("data/diurnal.db-wal"));
        if (size > longest) longest = size;
    }
    CHECK_MSG(longest > (12 << 20) && longest < (32 << 20), "%" PRId64 " bytes", longest);
    CHECK_INT(dn_store_idle(store), DN_OK);
    CHECK_INT(kit_size(kit_path("data/diurnal.db-wal")), 0);
    close_store();
}

TEST(a_checkpoint_the_disk_has_no_room_for_does_not_make_a_write_look_failed) {
    const int rounds = 30;
    uint64_t  seen = 0;

    fault_disk();
    open_in_the_end();
    long_users();
    CHECK_INT(dn_store_idle(store), DN_OK);
    fault.full_over_only = fault.full = true;
    for (int round = 0; round < rounds; round++) CHECK_INT(long_batch(round), DN_OK);
    CHECK(kit_size(kit_path("data/diurnal.db-wal")) > (int64_t)64 << 20);
    CHECK_INT(dn_store_idle(store), DN_EFULL);
    CHECK_INT(long_batch(rounds), DN_OK);
    fault.full = false;
    CHECK_INT(dn_store_idle(store), DN_OK);
    for (dn_day day = KIT_DAY; day < KIT_DAY + 3; day++) {
        dn_day_totals totals;
        size_t        len;
        CHECK_INT(dn_store_totals(store, day, day, &totals, 1, &len), DN_OK);
        if (len) seen += totals.success;
    }
    CHECK_UINT(seen, (uint64_t)(rounds + 1) * (LONG_USERS / LONG_STRIDE));
    kit_check_well(store);
    close_store();
}

/* ---- A small disk ---- */

enum { SMALL_DISK = 4 << 20, SMALL_BATCH = 10 };

/* Registers more of them, from the nth on. */
static int small_batch(int from) {
    dn_write        writes[SMALL_BATCH];
    dn_write_result results[SMALL_BATCH];

    for (int i = 0; i < SMALL_BATCH; i++) writes[i] = kit_set(long_id(from + i), 0);
    return dn_store_write(store, writes, SMALL_BATCH, results, NULL);
}

static int small_fill(void) {
    int users = 0;

    while (small_batch(users) == DN_OK) users += SMALL_BATCH;
    return users;
}

/* Its log may take the room the file leaves, and no more: in the end nearly all of the disk is the file. */
TEST(a_log_does_not_fill_a_disk_on_which_its_file_has_room) {
    uint64_t count;

    fault_disk();
    fault.disk = SMALL_DISK;
    open_in_the_end();
    const int users = small_fill();
    CHECK_INT(small_batch(users), DN_EFULL);
    CHECK_MSG(kit_size(kit_path("data/diurnal.db")) > SMALL_DISK / 10 * 9, "%" PRId64 " bytes",
              kit_size(kit_path("data/diurnal.db")));
    CHECK_INT(kit_size(kit_path("data/diurnal.db-wal")), 0);
    close_store();
    open_in_the_end();
    CHECK_INT(dn_store_count(store, &count), DN_OK);
    CHECK_UINT(count, (uint64_t)users);
    kit_check_well(store);
    kit_do(store, kit_remove(long_id(0))); /* what needs no more of the file is still written */
    for (int i = 1; i < users; i++) kit_do(store, kit_set(long_id(i), 1));
    close_store();
}

TEST(a_log_of_tokens_does_not_fill_a_disk_on_which_its_file_has_room) {
    enum { TINY_DISK = SMALL_DISK / 4, TOKENS_MOST = 10000 };
    static dn_token there[TOKENS_MOST];
    dn_token        token = {.scope = DN_SCOPE_READ, .name_len = DN_TOKEN_NAME_MAX};
    const dn_write  add = kit_token_add(&token);
    dn_write_result result;
    size_t          made = 0, len;
    int             code;

    fault_disk();
    fault.disk = TINY_DISK;
    open_in_the_end();
    memset(token.name, 'x', DN_TOKEN_NAME_MAX);
    while ((code = dn_store_write(store, &add, 1, &result, NULL)) == DN_OK) {
        token.id = result.token_id;
        CHECK(++made < TOKENS_MOST);
        memcpy(token.hash, &made, sizeof made);
    }
    CHECK_INT(code, DN_EFULL);
    CHECK_INT(dn_store_idle(store), DN_OK);
    CHECK_MSG(kit_size(kit_path("data/diurnal.db")) > TINY_DISK / 10 * 8, "%" PRId64 " bytes",
              kit_size(kit_path("data/diurnal.db")));
    CHECK_INT(kit_size(kit_path("data/diurnal.db-wal")), 0);
    kit_check_well(store);
    kit_do(store, kit_token_remove(token.id)); /* a full disk keeps no token valid */
    close_store();
    open_in_the_end();
    CHECK_INT(dn_store_tokens(store, there, TOKENS_MOST, &len), DN_OK);
    CHECK_UINT(len, made - 1);
    CHECK(len > 0 && there[len - 1].id < token.id);
    close_store();
}

TEST(what_a_batch_too_large_for_the_disk_took_is_given_back) {
    static dn_write        writes[LONG_USERS];
    static dn_write_result results[LONG_USERS];

    fault_disk();
    fault.disk = SMALL_DISK;
    open_in_the_end();
    for (int i = 0; i < LONG_USERS; i++) writes[i] = kit_set(long_id(i), 0);
    CHECK_INT(dn_store_write(store, writes, LONG_USERS, results, NULL), DN_EFULL);
    CHECK_MSG(fault.used < 100 << 10, "%" PRId64 " bytes", fault.used);
    kit_check_well(store);
    CHECK_INT(dn_store_write(store, writes, LONG_USERS / 20, results, NULL), DN_OK);
    close_store();
}

/* A process that is killed behind the growing of its file and before the commit leaves the file longer than its database. */
TEST(a_file_that_is_longer_than_its_database_comes_to_no_harm_on_a_full_disk) {
    static const char zeros[100 * 4096];
    FILE             *file;
    uint64_t          count;
    int               users = 0;

    fault_disk();
    open_in_the_end();
    CHECK_INT(small_batch(users), DN_OK);
    users += SMALL_BATCH;
    close_store();
    file = fopen(kit_path("data/diurnal.db"), "a");
    CHECK(file && fwrite(zeros, sizeof zeros, 1, file) == 1 && fclose(file) == 0);
    fault.used = kit_size(kit_path("data/diurnal.db"));
    fault.disk = fault.used + (256 << 10);
    open_in_the_end();
    for (int64_t was = 0, is = 0; is >= was;
         users += SMALL_BATCH) { /* until its log has been cut */
        was = is;
        CHECK_INT(small_batch(users), DN_OK);
        is = kit_size(kit_path("data/diurnal.db-wal"));
    }
    CHECK_INT(dn_store_idle(store), DN_OK);
    for (int i = 0; i < SMALL_BATCH; i++) kit_do(store, kit_set(long_id(i), 1));
    CHECK_INT(dn_store_idle(store), DN_OK);
    close_store();
    open_in_the_end();
    CHECK_INT(dn_store_count(store, &count), DN_OK);
    CHECK_UINT(count, (uint64_t)users);
    kit_check_well(store);
    close_store();
}

/* The log of the killed one and the file take all there is: the next one has room all the same. */
TEST(a_store_killed_on_a_full_disk_goes_on_where_its_log_was) {
    int status;

    kit_path(""); /* made by us, not by the one that is killed */
    fault_disk();
    fault.disk = SMALL_DISK;
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        open_in_the_end();
        CHECK_INT(small_batch(0), DN_OK);
        for (uint32_t due = 0; fault.disk - fault.used > 64 << 10; due = 1 - due)
            for (int i = 0; i < SMALL_BATCH; i++) kit_do(store, kit_set(long_id(i), due));
        _exit(0);
    }
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK_INT(status, 0);
    fault.used = kit_size(kit_path("data/diurnal.db")) + kit_size(kit_path("data/diurnal.db-wal"));
    fault.disk = fault.used;
    open_in_the_end();
    CHECK_INT(kit_size(kit_path("data/diurnal.db-wal")), 0);
    CHECK_INT(small_batch(SMALL_BATCH), DN_OK);
    kit_check_well(store);
    close_store();
}

/* ---- Syncs ---- */

TEST(every_acknowledged_batch_has_been_synced) {
    fault_disk();
    open_in_the_end();
    for (int i = 0; i < 20; i++) {
        const long before = fault.syncs;
        char       id[8];
        snprintf(id, sizeof id, "u%d", i);
        kit_user(store, id, 0);
        CHECK(fault.syncs > before);
    }
    close_store();
}
