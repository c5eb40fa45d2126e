/* store_bench.c - what a durable finalization costs, through the store's door and without it.
 *
 *     bench_store [users [directory]]      default 1000000, in directories made (and removed) below /var/tmp
 *
 * One JSON line a figure on standard output. Each figure of ours has its twin with peer "raw": a bare program on
 * SQLite with the same schema, pragmas, disk and batches; it has no door, no rule but the condition in its
 * UPDATE, and gives no results. Ours and raw take turns, day by day, each on a file of its own; a figure is the
 * median of its rounds. */
#include "store/store.h"

#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    BATCH_MAX = 4096,
    FIRST_DAY = 20000,
    ROUNDS = 3,
    SCATTERED_MAX = 80000, /* a round: each rewrites a page of its own, and takes its time */
    STRIDE = 611953,       /* a prime: every user comes once before any comes twice */
    USERS = 1000000,
    WAL_PAGES = 4096, /* as the store's own */
};

static char            dir_ours[256], dir_raw[256];
static uint64_t        users_len;
static dn_write        writes[BATCH_MAX];
static dn_write_result results[BATCH_MAX];

_Noreturn __attribute__((format(printf, 1, 2))) static void wrong(const char *format, ...) {
    va_list args;

    va_start(args, format);
    fputs("bench_store: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(1);
}

static double now_s(void) {
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void print(const char *peer, const char *bench, int batch, uint64_t n, double seconds) {
    printf("{\"peer\":\"%s\",\"bench\":\"%s\",\"n\":%" PRIu64
           ",\"metric\":\"per_s\",\"value\":%.0f,\"unit\":\"1/s\",\"batch\":%d}\n",
           peer, bench, n, (double)n / seconds, batch);
    fflush(stdout);
}

/* The i-th user to be finalized. */
static uint64_t user_of(uint64_t i, bool scattered) {
    return (scattered ? i * STRIDE % users_len : i) + 1;
}

/* ---- Ours ---- */

/* NULL: in memory. */
static dn_store *ours_open(const char *dir) {
    char                  why[DN_STORE_WHY], url[sizeof dir_ours + 16];
    dn_store             *store = NULL;
    const dn_store_config config = {.url = url, .ledger_days = 35};

    if (dir) (void)snprintf(url, sizeof url, "sqlite:%s", dir);
    else (void)snprintf(url, sizeof url, "memory:");
    if (dn_store_open(&config, &store, why) < 0) wrong("%s", why);
    return store;
}

static void ours_write(dn_store *store, size_t len) {
    const int code = dn_store_write(store, writes, len, results, NULL);

    if (code < 0) wrong("a batch failed: %s", dn_error_text(code));
    for (size_t i = 0; i < len; i++)
        if (results[i].wrote > DN_WROTE_NEW)
            wrong("write %zu of a batch says %d", i, (int)results[i].wrote);
}

static double ours_register(dn_store *store) {
    static char  ids[BATCH_MAX][24];
    const double began = now_s();

    for (uint64_t i = 0; i < users_len;) {
        size_t len = 0;
        for (; len < BATCH_MAX && i < users_len; len++, i++) {
            const int id_len = snprintf(ids[len], sizeof ids[len], "user-%07" PRIu64, i);
            writes[len] = (dn_write){.op = DN_WRITE_SET,
                                     .set = {.id = ids[len],
                                             .id_len = (uint8_t)id_len,
                                             .due = (uint32_t)(i % DN_DAY_MINUTES),
                                             .starts_on = DN_DAY_NONE,
                                             .new_starts_on = FIRST_DAY}};
        }
        ours_write(store, len);
    }
    return now_s() - began;
}

static double ours_finalize(dn_store *store, dn_day day, uint64_t n, int batch, bool scattered) {
    const double began = now_s();

    for (uint64_t i = 0; i < n;) {
        size_t len = 0;
        for (; len < (size_t)batch && i < n; len++, i++)
            writes[len] = (dn_write){.op = DN_WRITE_FINALIZE,
                                     .finalize = {.registration = user_of(i, scattered),
                                                  .day = day,
                                                  .status = DN_DAILY_CUTOFF,
                                                  .error_class = DN_CLASS_LLM,
                                                  .attempts = 6,
                                                  .at_ms = (int64_t)(day + 1) * DN_DAY_MS}};
        ours_write(store, len);
    }
    return now_s() - began;
}

static double ours_load(dn_store *store) {
    static dn_user users[BATCH_MAX];
    const double   began = now_s();
    uint64_t       after = 0, seen = 0;
    size_t         len;

    do {
        if (dn_store_load(store, after, users, BATCH_MAX, &len) < 0) wrong("loading failed");
        if (len) after = users[len - 1].registration;
        seen += len;
    } while (len == BATCH_MAX);
    if (seen != users_len) wrong("%" PRIu64 " users came back", seen);
    return now_s() - began;
}

/* ---- Raw ---- */

static sqlite3 *raw;

static void raw_do(const char *sql) {
    if (sqlite3_exec(raw, sql, NULL, NULL, NULL) != SQLITE_OK)
        wrong("raw: %s: %s", sql, sqlite3_errmsg(raw));
}

static sqlite3_stmt *raw_prepare(const char *sql) {
    sqlite3_stmt *s = NULL;

    if (sqlite3_prepare_v3(raw, sql, -1, SQLITE_PREPARE_PERSISTENT, &s, NULL) != SQLITE_OK)
        wrong("raw: %s: %s", sql, sqlite3_errmsg(raw));
    return s;
}

static void raw_step(sqlite3_stmt *s) {
    if (sqlite3_step(s) != SQLITE_DONE) wrong("raw: %s", sqlite3_errmsg(raw));
    sqlite3_reset(s);
}

static void raw_open(void) {
    char path[300];

    snprintf(path, sizeof path, "%s/diurnal.db", dir_raw);
    if (sqlite3_open_v2(path, &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        wrong("raw: %s", sqlite3_errmsg(raw));
    raw_do("PRAGMA locking_mode = EXCLUSIVE; PRAGMA temp_store = MEMORY;"
           "PRAGMA cache_size = -65536; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
           "PRAGMA cell_size_check = ON");
    sqlite3_wal_autocheckpoint(raw, WAL_PAGES);
}

static double raw_finalize(dn_day day, uint64_t n, int batch, bool scattered) {
    sqlite3_stmt *begin = raw_prepare("BEGIN IMMEDIATE"), *commit = raw_prepare("COMMIT");
    sqlite3_stmt *user = raw_prepare(
        "UPDATE users SET last_day = ?2, status = ?3, context_epoch = context_epoch + 1,"
        " recorded = ?2 WHERE n = ?1 AND (last_day IS NULL OR last_day < ?2) AND starts_on <= ?2");
    sqlite3_stmt *ledger = raw_prepare("INSERT INTO ledger (day, n, status, at_ms, attempts, cls)"
                                       " VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
    sqlite3_stmt *totals =
        raw_prepare("INSERT INTO day_totals VALUES (?1, 0, ?2, 0)"
                    " ON CONFLICT (day) DO UPDATE SET cutoff = cutoff + excluded.cutoff");
    const double began = now_s();

    for (uint64_t i = 0; i < n;) {
        int len = 0;
        raw_step(begin);
        for (; len < batch && i < n; len++, i++) {
            const sqlite3_int64 of = (sqlite3_int64)user_of(i, scattered);
            sqlite3_bind_int64(user, 1, of);
            sqlite3_bind_int64(user, 2, day);
            sqlite3_bind_int64(user, 3, DN_DAILY_CUTOFF);
            raw_step(user);
            sqlite3_bind_int64(ledger, 1, day);
            sqlite3_bind_int64(ledger, 2, of);
            sqlite3_bind_int64(ledger, 3, DN_DAILY_CUTOFF);
            sqlite3_bind_int64(ledger, 4, (int64_t)(day + 1) * DN_DAY_MS);
            sqlite3_bind_int64(ledger, 5, 6);
            sqlite3_bind_int64(ledger, 6, DN_CLASS_LLM);
            raw_step(ledger);
        }
        sqlite3_bind_int64(totals, 1, day);
        sqlite3_bind_int64(totals, 2, len);
        raw_step(totals);
        raw_step(commit);
    }
    const double seconds = now_s() - began;
    sqlite3_finalize(begin);
    sqlite3_finalize(commit);
    sqlite3_finalize(user);
    sqlite3_finalize(ledger);
    sqlite3_finalize(totals);
    return seconds;
}

/* ---- The runs ---- */

static double median(double *seconds) {
    for (int i = 1; i < ROUNDS; i++)
        for (int k = i; k > 0 && seconds[k] < seconds[k - 1]; k--) {
            const double larger = seconds[k - 1];
            seconds[k - 1] = seconds[k];
            seconds[k] = larger;
        }
    return seconds[ROUNDS / 2];
}

/* ROUNDS days, each finalized by both. Says which day comes next. */
static dn_day run_finalize(dn_store *store, dn_day day, int batch, bool scattered) {
    const char    *bench = scattered ? "finalize_scattered" : "finalize_in_order";
    const uint64_t n = scattered && users_len > SCATTERED_MAX ? SCATTERED_MAX : users_len;
    double         ours_s[ROUNDS], raw_s[ROUNDS];

    for (int round = 0; round < ROUNDS; round++, day++) {
        ours_s[round] = ours_finalize(store, day, n, batch, scattered);
        raw_s[round] = raw_finalize(day, n, batch, scattered);
    }
    print("diurnal", bench, batch, n, median(ours_s));
    print("raw", bench, batch, n, median(raw_s));
    return day;
}

static void copy_file(void) {
    static char bytes[1 << 20];
    char        from_path[300], to_path[300];
    FILE       *from, *to;
    size_t      len;

    snprintf(from_path, sizeof from_path, "%s/diurnal.db", dir_ours);
    snprintf(to_path, sizeof to_path, "%s/diurnal.db", dir_raw);
    from = fopen(from_path, "rb");
    to = fopen(to_path, "wb");
    if (!from || !to) wrong("cannot copy %s: %s", from_path, strerror(errno));
    while ((len = fread(bytes, 1, sizeof bytes, from)) > 0)
        if (fwrite(bytes, 1, len, to) != len)
            wrong("cannot write %s: %s", to_path, strerror(errno));
    if (fflush(to) != 0 || fsync(fileno(to)) != 0)
        wrong("cannot write %s: %s", to_path, strerror(errno));
    fclose(from);
    fclose(to);
}

static void run_in_memory(void) {
    dn_store *store = ours_open(NULL);

    print("diurnal", "register_in_memory", BATCH_MAX, users_len, ours_register(store));
    for (int round = 0; round < 2; round++)
        print("diurnal", "finalize_in_memory", BATCH_MAX, users_len,
              ours_finalize(store, FIRST_DAY + round, users_len, BATCH_MAX, round > 0));
    dn_store_free(store);
}

static void run_on_disk(void) {
    static const int batches[] = {64, 1024, 4096};
    dn_store        *store = ours_open(dir_ours);
    dn_day           day = FIRST_DAY;

    print("diurnal", "register", BATCH_MAX, users_len, ours_register(store));
    dn_store_free(store);
    copy_file();
    store = ours_open(dir_ours);
    print("diurnal", "load", BATCH_MAX, users_len, ours_load(store));
    raw_open();

    /* The first day makes every row longer: it is nobody's figure. */
    ours_finalize(store, day, users_len, BATCH_MAX, false);
    raw_finalize(day, users_len, BATCH_MAX, false);
    day++;
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++)
        for (int scattered = 0; scattered < 2; scattered++)
            day = run_finalize(store, day, batches[i], scattered);
    sqlite3_close(raw);
    dn_store_free(store);
}

static void remove_dir(const char *dir) {
    static const char *const names[] = {"diurnal.db", "diurnal.db-wal", "lock"};
    char                     path[300];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        unlink(path);
    }
    rmdir(dir);
}

int main(int argc, char **argv) {
    const char *root = argc > 2 ? argv[2] : "/var/tmp";

    users_len = argc > 1 ? strtoull(argv[1], NULL, 10) : USERS;
    if (users_len == 0 || users_len % STRIDE == 0) wrong("users: want a number, 1 or more");
    snprintf(dir_ours, sizeof dir_ours, "%s/bench-store-XXXXXX", root);
    snprintf(dir_raw, sizeof dir_raw, "%s/bench-store-XXXXXX", root);
    if (!mkdtemp(dir_ours) || !mkdtemp(dir_raw)) wrong("%s: %s", root, strerror(errno));
    run_in_memory();
    run_on_disk();
    remove_dir(dir_ours);
    remove_dir(dir_raw);
    return 0;
}
