/* kit.h - what the tests of the store have in common: a directory of their own, stores in it, the writes in short
 * words, and the whole of a store as one text, so that two stores can be compared.
 *
 * The directory is in memory (/dev/shm) where there is such a place: what a test may lose is decided by its own
 * disks, not by ours. It is removed at the end; a test that fails leaves it. */
#ifndef DIURNAL_TESTS_STORE_KIT_H
#define DIURNAL_TESTS_STORE_KIT_H

#include "store/outbox.h"
#include "store/store.h"
#include "test.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KIT_PATH = 512, KIT_DAY = 20000 /* 2024-10-04 */, KIT_LEDGER_DAYS = 35 };

#define AT(day, minute) ((int64_t)(day)*DN_DAY_MS + (int64_t)(minute)*DN_MINUTE_MS)

/* ---- Directories ---- */

static char  kit_root[KIT_PATH];
static pid_t kit_owner;

static inline void kit_remove_tree(const char *path) {
    DIR           *dir = opendir(path);
    struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        char inner[2 * KIT_PATH];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        if (unlink(inner) < 0) kit_remove_tree(inner);
    }
    if (dir) closedir(dir);
    rmdir(path);
}

static inline void kit_end(void) {
    if (getpid() == kit_owner) kit_remove_tree(kit_root);
}

/* A path in this test's own directory. The text lives until the eighth call after this one. */
static inline const char *kit_path(const char *name) {
    static char paths[8][2 * KIT_PATH];
    static int  turn;

    if (!*kit_root) {
        snprintf(kit_root, sizeof kit_root, "%s/diurnal-store-XXXXXX",
                 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
        CHECK(mkdtemp(kit_root));
        kit_owner = getpid();
        atexit(kit_end);
    }
    turn = (turn + 1) % 8;
    snprintf(paths[turn], sizeof paths[turn], "%s%s%s", kit_root, *name ? "/" : "", name);
    return paths[turn];
}

static inline int64_t kit_size(const char *path) {
    struct stat found;

    return stat(path, &found) == 0 ? (int64_t)found.st_size : -1;
}

/* ---- Stores ---- */

/* The URL of a store in that directory; NULL: in memory. The text lives until the eighth call after this one. */
static inline const char *kit_url(const char *dir) {
    static char urls[8][3 * KIT_PATH];
    static int  turn;

    if (!dir) return "memory:";
    turn = (turn + 1) % 8;
    snprintf(urls[turn], sizeof urls[turn], "sqlite:%s", dir);
    return urls[turn];
}

/* NULL: in memory. */
static inline dn_store *kit_open_days(const char *dir, uint32_t ledger_days) {
    const dn_store_config config = {.url = kit_url(dir), .ledger_days = ledger_days};
    char                  why[DN_STORE_WHY];
    dn_store             *store = NULL;
    const int             code = dn_store_open(&config, &store, why);

    CHECK_MSG(code == DN_OK, "code %d: %s", code, why);
    return store;
}

static inline dn_store *kit_open(const char *dir) { return kit_open_days(dir, KIT_LEDGER_DAYS); }

/* A test of what every store does, whatever it is kept in. */
#define TEST_OF_BOTH(sentence)                                                                     \
    static void test_of_both_##sentence(dn_store *store);                                          \
    TEST(sentence) {                                                                               \
        dn_store *memory = kit_open(NULL), *file = kit_open(kit_path("data"));                     \
        test_of_both_##sentence(memory);                                                           \
        test_of_both_##sentence(file);                                                             \
        dn_store_free(memory);                                                                     \
        dn_store_free(file);                                                                       \
    }                                                                                              \
    static void test_of_both_##sentence(dn_store *store)

/* ---- Writes ---- */

static inline dn_write kit_set(const char *id, uint32_t due) {
    return (dn_write){.op = DN_WRITE_SET,
                      .set = {.id = id,
                              .id_len = (uint8_t)strlen(id),
                              .due = due,
                              .today = KIT_DAY,
                              .starts_on = DN_DAY_NONE,
                              .new_starts_on = KIT_DAY}};
}

static inline dn_write kit_remove(const char *id) {
    return (dn_write){.op = DN_WRITE_REMOVE, .remove = {id, (uint8_t)strlen(id)}};
}

/* The daemon's own: a cutoff at its instant, with its hook. */
static inline dn_write kit_cutoff(uint64_t n, dn_day day, int64_t at_ms) {
    return (dn_write){.op = DN_WRITE_FINALIZE,
                      .finalize = {.registration = n,
                                   .day = day,
                                   .status = DN_DAILY_CUTOFF,
                                   .at_ms = at_ms,
                                   .attempts = 3,
                                   .error_class = DN_CLASS_LLM,
                                   .hook = true,
                                   .hook_ms = at_ms}};
}

static inline dn_write kit_success(uint64_t n, dn_day day, int64_t at_ms) {
    return (dn_write){.op = DN_WRITE_FINALIZE,
                      .finalize = {.registration = n,
                                   .day = day,
                                   .status = DN_DAILY_SUCCESS,
                                   .at_ms = at_ms,
                                   .attempts = 1}};
}

static inline dn_write kit_missed(uint64_t n, dn_day first, dn_day last) {
    return (dn_write){
        .op = DN_WRITE_MISSED,
        .missed = {.registration = n, .first = first, .last = last, .at_ms = AT(last + 1, 0)}};
}

static inline dn_write kit_forget(dn_day before) {
    return (dn_write){.op = DN_WRITE_FORGET, .forget = {before}};
}

static inline dn_write kit_outbox_done(uint64_t id) {
    return (dn_write){.op = DN_WRITE_OUTBOX_DONE, .outbox_done = {id}};
}

static inline dn_write kit_outbox_later(uint64_t id, uint16_t attempts, int64_t next_ms) {
    return (dn_write){.op = DN_WRITE_OUTBOX_LATER,
                      .outbox_later = {.id = id, .attempts = attempts, .next_ms = next_ms}};
}

static inline dn_write kit_token_add(const dn_token *token) {
    return (dn_write){.op = DN_WRITE_TOKEN_ADD, .token_add = {token}};
}

static inline dn_write kit_token_remove(uint64_t id) {
    return (dn_write){.op = DN_WRITE_TOKEN_REMOVE, .token_remove = {id}};
}

static inline dn_write_result kit_do(dn_store *store, dn_write w) {
    dn_write_result result;

    CHECK_INT(dn_store_write(store, &w, 1, &result, NULL), DN_OK);
    return result;
}

/* Registers a user and returns its number. */
static inline uint64_t kit_user(dn_store *store, const char *id, uint32_t due) {
    const dn_write_result result = kit_do(store, kit_set(id, due));

    CHECK_INT(result.wrote, DN_WROTE_NEW);
    return result.user.registration;
}

static inline dn_user kit_read(dn_store *store, const char *id) {
    dn_user user;

    CHECK_INT(dn_store_user(store, id, strlen(id), &user), DN_OK);
    return user;
}

/* ---- The whole of a store as one text ---- */

typedef struct kit_text {
    char  *text;
    size_t len, cap;
} kit_text;

__attribute__((format(printf, 2, 3))) static inline void kit_say(kit_text *t, const char *format,
                                                                 ...) {
    va_list args;
    int     len;

    if (t->cap - t->len < KIT_PATH) {
        t->cap = 2 * t->cap + 4096;
        t->text = realloc(t->text, t->cap);
        CHECK(t->text);
    }
    va_start(args, format);
    len = vsnprintf(t->text + t->len, t->cap - t->len, format, args);
    va_end(args);
    CHECK(len >= 0 && (size_t)len < t->cap - t->len);
    t->len += (size_t)len;
}

static inline void kit_say_user(kit_text *t, const dn_user *u) {
    kit_say(t,
            "user %" PRIu64 " %.*s due %" PRIu32 " starts %d last %d status %d run %" PRId64
            " epoch %" PRIu32 " recorded %d\n",
            u->registration, u->id_len, u->id, u->due, u->starts_on, u->last_day, u->status,
            u->last_run_ms, u->context_epoch, u->recorded);
}

static inline void kit_say_row(kit_text *t, const dn_ledger_row *r) {
    kit_say(t, "row %" PRIu64 " day %d status %d cls %d attempts %u at %" PRId64 "\n",
            r->registration, r->day, r->status, r->error_class, r->attempts, r->at_ms);
}

static inline void kit_say_hook(kit_text *t, const dn_hook *h) {
    kit_say(t,
            "hook %" PRIu64 " %.*s day %d due %" PRIu32 " epoch %" PRIu32 " attempts %u next "
            "%" PRId64 "\n",
            h->id, h->user_id_len, h->user_id, h->day, h->due, h->context_epoch, h->attempts,
            h->next_ms);
}

static inline void kit_say_totals(kit_text *t, const dn_day_totals *d) {
    kit_say(t, "totals %d: %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", d->day, d->success, d->cutoff,
            d->missed);
}

enum { KIT_PAGE = 64 };

/* What is in it: users, their ledger rows, totals, hooks. A code if the store says one; then the text is not whole. */
static inline int kit_dump(dn_store *store, kit_text *t) {
    static dn_user       users[KIT_PAGE];
    static dn_ledger_row rows[KIT_PAGE];
    static dn_day_totals totals[1024];
    static dn_hook       hooks[1024];
    uint64_t             after = 0, count;
    size_t               len;
    int64_t              next_ms;
    int                  code;

    t->len = 0;
    code = dn_store_count(store, &count);
    if (code < 0) return code;
    kit_say(t, "%" PRIu64 " users, ledger since %d\n", count, dn_store_ledger_since(store));
    do {
        code = dn_store_load(store, after, users, KIT_PAGE, &len);
        if (code < 0) return code;
        for (size_t i = 0; i < len; i++) {
            size_t rows_len;
            kit_say_user(t, &users[i]);
            after = users[i].registration;
            code = dn_store_days_of(store, after, INT32_MAX, rows, KIT_PAGE, &rows_len);
            if (code < 0) return code;
            for (size_t k = 0; k < rows_len; k++) kit_say_row(t, &rows[k]);
        }
    } while (len == KIT_PAGE);
    code = dn_store_totals(store, INT32_MIN, INT32_MAX, totals, 1024, &len);
    if (code < 0) return code;
    for (size_t i = 0; i < len; i++) kit_say_totals(t, &totals[i]);
    code = dn_store_outbox(store, INT64_MAX, hooks, 1024, &len, &next_ms);
    if (code < 0) return code;
    for (size_t i = 0; i < len; i++) kit_say_hook(t, &hooks[i]);
    return DN_OK;
}

static inline void kit_dump_well(dn_store *store, kit_text *t) {
    CHECK_INT(kit_dump(store, t), DN_OK);
}

static inline void kit_check_well(dn_store *store) {
    char      why[DN_STORE_WHY];
    const int code = dn_store_check(store, why);

    CHECK_MSG(code == DN_OK, "code %d: %s", code, why);
}

static inline char *kit_copy(const char *text) {
    char *copy = text ? strdup(text) : NULL;

    CHECK(copy);
    return copy;
}

#endif
