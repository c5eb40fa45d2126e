/* commands_test.c - every command against a real daemon, and without one. */
#include "place.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEMO_RUNNER "--runner=exec:/bin/true"

static place *served(void) {
    place *p = place_new(NULL);

    place_serve(p, ARGS(DEMO_RUNNER));
    return p;
}

/* ---- Usage ---- */

TEST(every_command_has_help) {
    static const char *const commands[][2] = {
        {"serve"},
        {"users", "set"},
        {"users", "get"},
        {"users", "rm"},
        {"users", "list"},
        {"users", "import"},
        {"users", "export"},
        {"today"},
        {"why"},
        {"audit"},
        {"status"},
        {"db", "check"},
        {"token", "create"},
        {"token", "list"},
        {"token", "revoke"},
        {"dashboard"},
        {"top"},
        {"completion"},
        {"man"},
        {"db", "backup"},
        {"check-config"},
        {"config", "show"},
        {"version"},
    };

    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        const char *two = commands[i][1] ? commands[i][1] : "--help";
        const char *three = commands[i][1] ? "--help" : NULL;
        CHECK_INT(place_run_bare(ARGS(commands[i][0], two, three), NULL), 0);
        CHECK_SAID("usage: diurnal");
        CHECK_SAID("--help");
        const char *end = strstr(place_said(), "\n\n");
        CHECK_MSG(end && end[2] >= 'A' && end[2] <= 'Z', "it said: %s", place_said());
        end = strchr(end + 2, '\n');
        CHECK_MSG(end[-1] == '.' && end[-2] >= 'a' && end[-2] <= 'z', "it said: %s", place_said());
    }
    CHECK_INT(place_run_bare(ARGS("--help"), NULL), 0);
    CHECK_SAID("users import FILE");
    CHECK_INT(place_run_bare(ARGS("users", "--help"), NULL), 0);
    CHECK_INT(place_run_bare(ARGS("version"), NULL), 0);
    CHECK_INT(place_run_bare(ARGS("--version"), NULL), 0);
}

TEST(what_is_misspelt_is_refused_with_the_nearest_and_exit_2) {
    CHECK_INT(place_run_bare(ARGS("srve"), NULL), 2);
    CHECK_SAID("did you mean serve?");
    CHECK_INT(place_run_bare(ARGS("users", "lst"), NULL), 2);
    CHECK_SAID("did you mean users list?");
    CHECK_INT(place_run_bare(ARGS("users", "list", "--prefx", "a"), NULL), 2);
    CHECK_SAID("did you mean --prefix?");
    CHECK_INT(place_run_bare(ARGS("status", "--tick-ms", "10"), NULL), 2);
    CHECK_SAID("unknown flag --tick-ms");
    CHECK_INT(place_run_bare(ARGS("users", "get"), NULL), 2);
    CHECK_SAID("ID is missing");
    CHECK_INT(place_run_bare(ARGS("users", "get", "a", "b"), NULL), 2);
    CHECK_INT(place_run_bare(ARGS("users"), NULL), 2);
    CHECK_INT(place_run_bare(ARGS("replay", "-", "--out", ""), NULL), 2);
    CHECK_SAID("--out: the name is empty");
    CHECK_INT(place_run_bare(ARGS(NULL), NULL), 2);
}

TEST(without_a_daemon_a_command_says_so_and_fails) {
    place *p = place_new(NULL);

    CHECK_RUN(p, 1, "status");
    CHECK_SAID("no daemon runs in");
    CHECK_RUN(p, 1, "users", "set", "ada", "--due", "08:00");
    CHECK_RUN(p, 1, "audit");
    CHECK_RUN(p, 1, "db", "check");
}

/* In a shell, with `behind` behind it. What it says on streams that are left is in the file *out_said. */
static int run_in_shell(const place *p, const char *args, const char *behind,
                        char out_said[PLACE_PATH]) {
    char line[256];
    int  status;

    (void)snprintf(line, sizeof line, "exec \"$0\" %s --data \"$1\" %s", args, behind);
    (void)snprintf(out_said, PLACE_PATH, "%.400s/shell", p->dir);
    (void)unlink(out_said);
    const pid_t child = place_begin_in_shell(p, line, "shell");
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    return WEXITSTATUS(status);
}

TEST(a_command_whose_output_nobody_can_have_fails) {
    place *p = served();
    char   said[PLACE_PATH];

    CHECK_INT(run_in_shell(p, "status", ">&-", said), 1);
    CHECK_INT(run_in_shell(p, "today", ">&-", said), 1);
    CHECK_INT(run_in_shell(p, "status", "2>&-", said), 0);
    CHECK(strstr(place_read(said), "runner: "));
    CHECK_INT(run_in_shell(p, "today", ">/dev/full", said), 1);
    CHECK_STR(place_read(said), "diurnal: cannot write the output\n");
    CHECK_INT(run_in_shell(p, "--help", ">/dev/full", said), 1);
    CHECK_STR(place_read(said), "diurnal: cannot write the output\n");
}

/* ---- Users ---- */

TEST(a_user_is_registered_read_changed_listed_and_removed) {
    place *p = served();

    CHECK_RUN(p, 0, "users", "set", "ada", "--due", "23:59", "--starts-on", "today");
    CHECK_SAID("ada: registered; due at 23:59 UTC");
    CHECK_RUN(p, 0, "users", "get", "ada", "--json");
    CHECK_SAID("\"id\":\"ada\",\"due\":\"23:59\",\"last_date\":null,\"status\":null,"
               "\"last_run_at\":null,\"context_epoch\":0,\"starts_on\":\"");
    CHECK_RUN(p, 0, "users", "set", "ada", "--due", "23:58");
    CHECK_SAID("ada: changed; due at 23:58 UTC");
    CHECK_RUN(p, 0, "users", "set", "bob", "--due", "00:01", "--starts-on", "2999-01-01");
    CHECK_RUN(p, 0, "users", "list", "--json");
    CHECK_SAID("\"id\":\"ada\"");
    CHECK_SAID("\"id\":\"bob\"");
    CHECK_RUN(p, 0, "users", "list", "--prefix", "a", "--due-from", "23:00", "--due-to", "23:59");
    CHECK_SAID("ada");
    CHECK(!strstr(place_said(), "bob"));
    CHECK_RUN(p, 0, "users", "list", "--limit", "1", "--json");
    CHECK(!strstr(place_said(), "bob"));
    CHECK_RUN(p, 0, "users", "rm", "ada");
    CHECK_RUN(p, 1, "users", "get", "ada");
    CHECK_SAID("unknown user: \"ada\"\n");
    CHECK_RUN(p, 1, "users", "rm", "ada");
    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 0);
}

TEST(what_is_no_user_is_refused_in_the_words_of_the_flags) {
    place *p = served();

    CHECK_RUN(p, 2, "users", "set", "ada");
    CHECK_SAID("--due is missing");
    CHECK_RUN(p, 2, "users", "set", "ada", "--due", "24:00");
    CHECK_SAID("--due: invalid time \"24:00\"; use HH:MM, for example 08:00");
    CHECK_RUN(p, 2, "users", "set", "ada", "--due", "08:00", "--starts-on", "2025-02-30");
    CHECK_SAID("--starts-on: invalid date \"2025-02-30\"");
    CHECK_RUN(p, 2, "users", "set", " ada", "--due", "08:00");
    CHECK_RUN(p, 2, "users", "set", "\xff", "--due", "08:00");
    CHECK_RUN(p, 2, "users", "list", "--status", "well");
    CHECK_RUN(p, 2, "users", "list", "--limit", "-1");
    CHECK_RUN(p, 2, "users", "list", "--due-from", "8");
    CHECK_SAID("--due-from: invalid time \"8\"; use HH:MM, for example 08:00");
    CHECK_RUN(p, 2, "users", "list", "--due-to", "24:00");
    CHECK_SAID("--due-to: invalid time \"24:00\"; use HH:MM, for example 08:00");
    CHECK_RUN(p, 2, "why", "ada", "--day", "tomorrow");
    CHECK_SAID("--day: invalid date \"tomorrow\"; use YYYY-MM-DD");
    CHECK_RUN(p, 2, "today", "--day", "2025-02-30");
    CHECK_SAID("--day: invalid date \"2025-02-30\"; use YYYY-MM-DD");
    CHECK_RUN(p, 2, "why", "ada", "--day", "yesterday");
    CHECK_RUN(p, 2, "audit", "--day", "yesterday");
    CHECK_RUN(p, 1, "why", "nobody");
    CHECK_RUN(p, 0, "users", "list", "--json");
    CHECK_STR(place_said(), "");
}

/* The minute that has just begun is a cutoff that has passed; unless it was the last of the day meanwhile. */
TEST(a_new_user_whose_cutoff_of_today_has_passed_is_told_that_it_begins_tomorrow) {
    place *p = served();
    char   due[8], name[16];

    for (int i = 0;; i++) {
        const time_t before = time(NULL) / 86400;
        (void)snprintf(name, sizeof name, "ada-%d", i);
        CHECK_RUN(p, 0, "users", "set", name, "--due", due_in(0, due));
        if (time(NULL) / 86400 == before) break;
    }
    CHECK_SAID("from tomorrow");
    CHECK_SAID("today's cutoff has passed");
    CHECK_RUN(p, 0, "why", name);
    CHECK_SAID("its window opens at");
}

/* ---- Files ---- */

TEST(an_import_keeps_the_good_lines_and_names_the_bad_ones) {
    static const char csv[] =
        "id,due,starts_on\nada,08:00,\nbob,25:00,\n\"x,y\",23:30,2999-12-01\n\xff,08:00,\n";
    place      *p = served();
    const char *path = place_write(p, "users.csv", csv, sizeof csv - 1);

    CHECK_RUN(p, 1, "users", "import", path);
    CHECK_SAID("users.csv:3: ");
    CHECK_SAID("users.csv:5: ");
    CHECK_SAID("2 users registered, 2 lines refused");
    CHECK_RUN(p, 1, "users", "import", path, "--json");
    CHECK_SAID("\"accepted\":2,\"rejected\":2,\"begin_tomorrow\":");
    CHECK_SAID("\"errors\":[{\"line\":3,\"detail\":");
    CHECK_RUN(p, 0, "users", "export");
    CHECK_SAID("\"x,y\",23:30,2999-12-01");
    CHECK_RUN(p, 1, "users", "import", "/nowhere/at/all");
    CHECK_RUN(p, 2, "users", "import", path, "--format", "xml");
    CHECK_INT(place_run_bare(ARGS("users", "import", "-", "--data", p->data),
                             "{\"id\":\"eve\",\"due\":\"07:00\"}\n{\"id\":7}\n"),
              1);
    CHECK_SAID("1 user registered, 1 line refused");
}

TEST(twenty_thousand_users_are_imported_exported_and_are_the_same) {
    enum { USERS = 20000 };
    place *p = served();
    char  *csv = malloc((size_t)USERS * 40 + 64), *at = csv;

    at += sprintf(at, "id,due,starts_on\n");
    for (int i = 0; i < USERS; i++)
        at += sprintf(at, "user-%06d,%02d:%02d,2999-01-01\n", i, i / 60 % 24, i % 60);
    const char *path = place_write(p, "users.csv", csv, (size_t)(at - csv));
    CHECK_RUN(p, 0, "users", "import", path);
    CHECK_SAID("20000 users registered, 0 lines refused");
    CHECK_RUN(p, 0, "users", "export");
    CHECK(strcmp(place_said(), csv) == 0);
    CHECK_RUN(p, 0, "users", "import", path);
    CHECK_RUN(p, 0, "audit");
    CHECK_SAID("sound");
    free(csv);
}

/* ---- The day ---- */

static void until_success_of_ada(const place *p, int within_ms) {
    WAIT_FOR(place_run(p, ARGS("users", "list", "--status", "success", "--json")) == 0 &&
                 strstr(place_said(), "ada"),
             within_ms);
}

TEST(the_day_is_told_by_today_why_status_and_audit) {
    place *p = place_new(NULL);
    char   due[8];

    place_serve(p, ARGS(DEMO_RUNNER, "--tick-ms=20"));
    CHECK_RUN(p, 0, "users", "set", "ada", "--due", due_in(30, due));
    until_success_of_ada(p, 20000);
    CHECK_RUN(p, 0, "why", "ada");
    CHECK_SAID("success at ");
    CHECK_SAID("on the 1st attempt");
    CHECK_RUN(p, 0, "why", "ada", "--json");
    CHECK_SAID("\"sentences\":[");
    CHECK_RUN(p, 0, "why", "ada", "--day", "2020-01-01");
    CHECK_SAID("its first day is");
    CHECK_RUN(p, 0, "today");
    CHECK_SAID("1 user:");
    CHECK_RUN(p, 0, "today", "--json");
    CHECK_RUN(p, 0, "status");
    CHECK_SAID("users:    1");
    CHECK_RUN(p, 0, "status", "--json");
    CHECK_SAID("\"executor\":{");
    CHECK_RUN(p, 0, "audit", "--json");
    CHECK_SAID("\"sound\":true");
    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 0);
    CHECK_RUN(p, 0, "audit");
    CHECK_SAID(", 1 user, ");
    CHECK(!strstr(place_said(), "1 records"));
}

TEST(nobody_is_pending_before_the_first_day) {
    place *p = served();

    CHECK_RUN(p, 0, "users", "set", "ada", "--due", "23:59", "--starts-on", "2999-01-02");
    CHECK_RUN(p, 0, "today");
    CHECK_SAID("0 users:");
    CHECK_SAID("0 pending");
    CHECK_RUN(p, 0, "today", "--day", "2999-01-01");
    CHECK_SAID("0 users:");
    CHECK_RUN(p, 0, "today", "--day", "2999-01-02");
    CHECK_SAID("1 user:");
    CHECK_SAID("1 pending");
}

static void change_the_store(const place *p, const char *sql) {
    char     path[PLACE_PATH + 32];
    sqlite3 *db;

    (void)snprintf(path, sizeof path, "%s/diurnal.db", p->data);
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_close(db), SQLITE_OK);
}

/* As JSON has a number, so many of them. */
static bool says_of_minute(const char *due, int users, int success, int cutoff, int missed) {
    char wanted[128];

    (void)snprintf(
        wanted, sizeof wanted,
        "{\"due\":\"%s\",\"users\":%d,\"success\":%d,\"cutoff_reached\":%d,\"missed\":%d,"
        "\"pending\":%d,",
        due, users, success, cutoff, missed, users - success - cutoff - missed);
    return strstr(place_said(), wanted) != NULL;
}

/* As a daemon does that keeps fewer days, an hour after its start: what went does not come again. */
static void forget_before(const place *p, int64_t day) {
    char sql[160];

    (void)snprintf(sql, sizeof sql,
                   "DELETE FROM ledger WHERE day < %lld;"
                   "INSERT OR REPLACE INTO counters(name, value) VALUES('ledger_since', %lld)",
                   (long long)day, (long long)day);
    change_the_store(p, sql);
}

/* More users than are gone through at a time, with a first day of long ago: it was missed, and then somebody else has it. */
TEST(a_day_that_is_over_is_told_by_the_ledger) {
    enum { MANY = 1500 };
    const time_t then = time(NULL) - 3 * 86400, longer = time(NULL) - 40 * 86400;
    place       *p = place_new(NULL);
    char         day[16], long_ago[16], sql[512], *csv = malloc(MANY * 32), *at = csv;

    CHECK(csv && strftime(day, sizeof day, "%F", gmtime(&then)) > 0);
    CHECK(strftime(long_ago, sizeof long_ago, "%F", gmtime(&longer)) > 0);
    for (int i = 0; i < MANY; i++) at += sprintf(at, "many-%04d,08:00\n", i);
    const char *path = place_write(p, "users.csv", csv, (size_t)(at - csv));
    place_serve(p, ARGS("--runner=exec:/bin/false", "--tick-ms=20"));
    CHECK_RUN(p, 0, "users", "import", path);
    CHECK_RUN(p, 0, "users", "set", "ada", "--due", "09:00");
    CHECK_RUN(p, 0, "users", "set", "bob", "--due", "09:00");
    CHECK_RUN(p, 0, "users", "set", "new", "--due", "09:00", "--starts-on", "2999-01-01");
    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 0);
    change_the_store(p, "UPDATE users SET starts_on = starts_on - 5 WHERE id <> 'new'");
    place_serve(p, ARGS("--runner=exec:/bin/false", "--tick-ms=20"));
    WAIT_FOR(place_run(p, ARGS("today", "--day", day, "--json")) == 0 &&
                 says_of_minute("08:00", MANY, 0, 0, MANY) && says_of_minute("09:00", 2, 0, 0, 2),
             20000);
    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 0);
    (void)snprintf(
        sql, sizeof sql,
        "UPDATE ledger SET status = 1 WHERE day = %lld AND n = (SELECT n FROM users WHERE id "
        "= 'ada'); UPDATE ledger SET status = 2 WHERE day = %lld AND n = "
        "(SELECT n FROM users WHERE id = 'bob'); DELETE FROM ledger WHERE day = "
        "%lld AND n = (SELECT n FROM users WHERE id = 'many-1499')",
        (long long)then / 86400, (long long)then / 86400, (long long)then / 86400);
    change_the_store(p, sql);
    place_serve(p, ARGS("--runner=exec:/bin/false"));
    CHECK_RUN(p, 0, "today", "--day", day, "--json");
    CHECK_MSG(says_of_minute("08:00", MANY, 0, 0, MANY - 1) && says_of_minute("09:00", 2, 1, 1, 0),
              "%s", place_said());
    CHECK_RUN(p, 0, "today", "--day", day);
    CHECK_SAID("1502 users:");
    CHECK_SAID("1 success");
    CHECK_SAID("1 cutoff");
    CHECK_SAID("1499 missed");
    CHECK_SAID("1 pending");
    CHECK_RUN(p, 2, "today", "--day", long_ago);
    CHECK_SAID("the ledger is kept for 35 days");
    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 0);
    place_serve(p, ARGS("--runner=exec:/bin/false", "--ledger-days=0"));
    CHECK_RUN(p, 2, "today", "--day", day);
    CHECK_SAID("the ledger is turned off (ledger_days = 0)");
    CHECK_RUN(p, 0, "today");
    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 0);
    forget_before(p, then / 86400 + 1);
    place_serve(p, ARGS("--runner=exec:/bin/false"));
    CHECK_RUN(p, 2, "today", "--day", day);
    CHECK_SAID("the ledger begins on 2");
    free(csv);
}

/* Somebody takes a row out of the ledger while nobody looks. */
TEST(an_audit_names_whose_record_is_not_there_and_exits_3) {
    place *p = place_new(NULL);
    char   due[8];

    place_serve(p, ARGS(DEMO_RUNNER, "--tick-ms=20"));
    CHECK_RUN(p, 0, "users", "set", "ada", "--due", due_in(30, due));
    CHECK_RUN(p, 0, "users", "set", "bob", "--due", due_in(31, due));
    WAIT_FOR(place_run(p, ARGS("users", "list", "--status", "success", "--json")) == 0 &&
                 strstr(place_said(), "ada") && strstr(place_said(), "bob"),
             20000);
    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 0);
    change_the_store(p, "DELETE FROM ledger WHERE n = (SELECT n FROM users WHERE id = 'ada')");
    CHECK_RUN(p, 3, "audit");
    CHECK_SAID("user \"ada\" (number 1) has no record");
    CHECK_SAID("NOT SOUND: 1 fault\n");
    place_serve(p, ARGS(DEMO_RUNNER));
    CHECK_RUN(p, 3, "audit", "--json");
    CHECK_SAID("\"sound\":false");
    CHECK_SAID("\"id\":\"ada\"");
    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 0);
    change_the_store(
        p, "INSERT INTO ledger SELECT day, 77, status, at_ms, attempts, cls FROM ledger LIMIT 1");
    CHECK_RUN(p, 3, "audit");
    CHECK_SAID("(number 77) has a record but is not registered");
}

TEST(a_first_day_that_is_moved_makes_no_record_wrong) {
    place *p = place_new(NULL);
    char   due[8];

    place_serve(p, ARGS(DEMO_RUNNER, "--tick-ms=20"));
    CHECK_RUN(p, 0, "users", "set", "ada", "--due", due_in(30, due));
    until_success_of_ada(p, 20000);
    CHECK_RUN(p, 0, "users", "set", "ada", "--due", due, "--starts-on", "2999-01-01");
    CHECK_RUN(p, 0, "audit");
    CHECK_SAID("1 record: 1 success");
    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 0);
    CHECK_RUN(p, 0, "audit");
    CHECK_SAID("1 record: 1 success");
}

/* Ticks are further apart than an audit is patient: his record comes with the next one. */
TEST(who_is_registered_for_a_cutoff_that_has_passed_makes_no_audit_fail) {
    place *p = place_new(NULL);
    char   due[8];

    place_serve(p, ARGS(DEMO_RUNNER, "--tick-ms=12000"));
    CHECK_RUN(p, 0, "users", "set", "ada", "--due", due_in(30, due));
    until_success_of_ada(p, 40000);
    CHECK_RUN(p, 0, "users", "set", "bob", "--due", "00:00", "--starts-on", "today");
    CHECK_RUN(p, 0, "audit");
    CHECK_SAID("1 cutoff_reached");
}

TEST(a_ledger_that_is_kept_anew_is_proven_from_the_first_day_it_is_whole) {
    place *p = place_new(NULL);
    char   due[8];

    place_serve(p, ARGS(DEMO_RUNNER, "--tick-ms=20", "--ledger-days=0"));
    CHECK_RUN(p, 0, "users", "set", "ada", "--due", due_in(30, due));
    until_success_of_ada(p, 20000);
    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 0);
    CHECK_RUN(p, 0, "audit");
    CHECK_SAID(", because not all of their records are kept\n");
    place_serve(p, ARGS(DEMO_RUNNER, "--tick-ms=20"));
    CHECK_RUN(p, 0, "audit");
    CHECK_SAID(", because not all of their records are kept\n");
    CHECK_RUN(p, 0, "audit", "--json");
    CHECK_SAID("\"ledger_since\":\"");
    CHECK_RUN(p, 1, "audit", "--day", "2020-01-01");
    CHECK_SAID("cannot audit 2020-01-01: the ledger is complete only from ");
}

/* As if its rows of the days before had gone while fewer were kept. */
TEST(a_ledger_that_is_to_be_kept_longer_is_proven_as_far_as_it_goes) {
    place *p = place_new(NULL);
    char   due[8];

    place_serve(p, ARGS(DEMO_RUNNER, "--tick-ms=20", "--ledger-days=5"));
    CHECK_RUN(p, 0, "users", "set", "ada", "--due", due_in(30, due));
    until_success_of_ada(p, 20000);
    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 0);
    change_the_store(p, "UPDATE users SET starts_on = starts_on - 20");
    change_the_store(p, "INSERT INTO ledger SELECT day - back, n, 3, 0, 0, 0 FROM ledger, (SELECT 1"
                        " AS back UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5)");
    change_the_store(p, "INSERT OR REPLACE INTO counters(name, value) "
                        "SELECT 'ledger_since', min(day) FROM ledger");
    CHECK_RUN(p, 0, "audit");
    CHECK_SAID(", because not all of their records are kept\n");
    CHECK_SAID("sound: ");
}

/* A window over midnight belongs to the day of its cutoff, so the day that has no record may be tomorrow. */
TEST(an_audit_proves_a_day_that_ended_before_it_began) {
    place *p = served();

    CHECK_RUN(p, 0, "users", "set", "ada", "--due", "00:20", "--starts-on", "today");
    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 0);
    change_the_store(p, "DELETE FROM ledger; UPDATE users SET starts_on = starts_on + 1");
    change_the_store(p, "UPDATE users SET last_day = starts_on, recorded = starts_on, status = 1");
    CHECK_RUN(p, 3, "audit");
    CHECK_SAID("user \"ada\" (number 1) has no record");
}

/* ---- The database ---- */

TEST(a_backup_is_a_store_with_the_daemon_and_without) {
    place *p = served();
    char   copy[PLACE_PATH];

    CHECK_RUN(p, 0, "users", "set", "ada", "--due", "23:59");
    CHECK_RUN(p, 0, "db", "check");
    CHECK_SAID("no damage found");
    (void)snprintf(copy, sizeof copy, "%.400s/copy", p->dir);
    CHECK_INT(mkdir(copy, 0700), 0);
    (void)snprintf(copy, sizeof copy, "%.400s/copy/diurnal.db", p->dir);
    CHECK_RUN(p, 0, "db", "backup", copy);
    CHECK_RUN(p, 1, "db", "backup", copy);
    CHECK_RUN(p, 1, "db", "backup", "/nowhere/at/all");
    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 0);
    CHECK_RUN(p, 0, "db", "check");
    CHECK_RUN(p, 1, "db", "backup", copy);
    (void)snprintf(copy, sizeof copy, "%.400s/second.db", p->dir);
    CHECK_RUN(p, 0, "db", "backup", copy);
    (void)snprintf(p->data, sizeof p->data, "%.400s/copy", p->dir);
    CHECK_RUN(p, 0, "db", "check");
    place_serve(p, ARGS(DEMO_RUNNER));
    CHECK_RUN(p, 0, "users", "get", "ada");
}

static bool is_there(const place *p, const char *name) {
    char        path[PLACE_PATH + 64];
    struct stat about;

    (void)snprintf(path, sizeof path, "%s/%s", p->data, name);
    return stat(path, &about) == 0;
}

/* Files of the directory whose name begins so. */
static int files_named(const char *folder, const char *begin) {
    DIR                 *dir = opendir(folder);
    const struct dirent *entry;
    int                  count = 0;

    CHECK(dir);
    while ((entry = readdir(dir))) count += strncmp(entry->d_name, begin, strlen(begin)) == 0;
    (void)closedir(dir);
    return count;
}

/* A URL alone, as from another machine; and a copy of many pieces. */
TEST(db_backup_streams_the_copy_to_the_command_wherever_the_daemon_runs) {
    enum { USERS = 20000 };
    place      *p = served();
    char       *csv = malloc(USERS * 32), *at = csv, token[128], url[64], copy[PLACE_PATH + 32];
    struct stat about;

    for (int i = 0; i < USERS; i++) at += sprintf(at, "somebody-%06d,08:00\n", i);
    CHECK_RUN(p, 0, "users", "import", place_write(p, "users.csv", csv, (size_t)(at - csv)));
    free(csv);
    (void)snprintf(copy, sizeof copy, "%s/admin.token", p->data);
    (void)snprintf(token, sizeof token, "%.100s", place_read(copy));
    token[strcspn(token, "\n")] = '\0';
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u", place_port(p));
    CHECK(setenv("DIURNAL_TOKEN", token, 1) == 0);
    CHECK(chdir(p->dir) == 0);
    const int code = place_run_bare(ARGS("db", "backup", "far.db", "--url", url), NULL);
    CHECK_MSG(code == 0, "exit %d: %s", code, place_said());
    CHECK_STR(place_said(), "copied to far.db\n");
    CHECK(unsetenv("DIURNAL_TOKEN") == 0);
    (void)snprintf(copy, sizeof copy, "%s/far.db", p->dir);
    CHECK(stat(copy, &about) == 0 && about.st_size > 1 << 20);
    CHECK_INT(about.st_mode & 0777, 0600);
    CHECK_INT(files_named(p->dir, "far.db"), 1);
    CHECK_INT(files_named(p->data, "diurnal.db.part"), 0);

    (void)snprintf(p->data, sizeof p->data, "%.400s/restored", p->dir);
    CHECK_INT(mkdir(p->data, 0700), 0);
    char restored[PLACE_PATH + 32];
    (void)snprintf(restored, sizeof restored, "%s/diurnal.db", p->data);
    CHECK(rename(copy, restored) == 0);
    CHECK_RUN(p, 0, "db", "check");
    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 0);
    place_serve(p, ARGS(DEMO_RUNNER));
    CHECK_RUN(p, 0, "users", "get", "somebody-019999");
}

TEST(db_backup_of_a_damaged_database_fails_and_leaves_no_file) {
    place *p = served();
    char   copy[PLACE_PATH + 32];

    (void)snprintf(copy, sizeof copy, "%s/copy.db", p->dir);
    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 0);
    change_the_store(p, "UPDATE counters SET value = value + 1 WHERE name = 'users'");
    CHECK_RUN(p, 1, "db", "backup", copy);
    CHECK_SAID("copy.db was not created: the database: the counted number of users is wrong");
    place_serve(p, ARGS(DEMO_RUNNER));
    CHECK_RUN(p, 1, "db", "backup", copy);
    CHECK_SAID("copy.db was not created: the database: the counted number of users is wrong");
    CHECK_INT(files_named(p->dir, "copy.db"), 0);
}

/* The daemon stands still, so the backup waits for the copy for as long as the test likes. */
TEST(db_backup_that_a_signal_ends_leaves_no_file) {
    place *p = served();
    char   copy[PLACE_PATH + 32];
    int    status = 0;

    (void)snprintf(copy, sizeof copy, "%s/copy.db", p->dir);
    place_signal(p, SIGSTOP);
    const pid_t backup = place_begin(p, ARGS("db", "backup", copy));
    WAIT_FOR(files_named(p->dir, "copy.db") == 1, 20000);
    CHECK(kill(backup, SIGTERM) == 0);
    CHECK(waitpid(backup, &status, 0) == backup);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    CHECK_INT(files_named(p->dir, "copy.db"), 0);
    place_signal(p, SIGCONT);
    CHECK_RUN(p, 0, "db", "backup", copy);
}

TEST(a_check_of_a_running_daemon_looks_at_a_copy_and_leaves_nothing) {
    place *p = served();
    char   copy[PLACE_PATH + 64];

    CHECK_RUN(p, 0, "db", "check");
    CHECK_STR(place_said(), "no damage found (in a copy, because the daemon is running)\n");
    CHECK_RUN(p, 0, "db", "check", "--json");
    CHECK_SAID("{\"done\":true,\"words\":\"no damage found");
    CHECK(!is_there(p, "check-copy"));

    /* As one that was killed leaves it. */
    (void)snprintf(copy, sizeof copy, "%s/check-copy", p->data);
    CHECK_INT(mkdir(copy, 0700), 0);
    (void)place_write(p, "data/check-copy/diurnal.db", "half", 4);
    (void)place_write(p, "data/check-copy/diurnal.db.part-1", "half", 4);
    CHECK_RUN(p, 0, "db", "check");
    CHECK(!is_there(p, "check-copy"));

    CHECK_INT(mkdir(copy, 0700), 0);
    (void)place_write(p, "data/check-copy/letter", "to my aunt", 10);
    CHECK_RUN(p, 0, "db", "check");
    CHECK(is_there(p, "check-copy/letter") && !is_there(p, "check-copy/diurnal.db"));
}

TEST(a_check_finds_in_the_copy_what_is_wrong_with_the_database) {
    place *p = served();

    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 0);
    change_the_store(p, "UPDATE counters SET value = value + 1 WHERE name = 'users'");
    place_serve(p, ARGS(DEMO_RUNNER));
    CHECK_RUN(p, 1, "db", "check");
    CHECK_SAID("diurnal: in a copy of the database: ");
    CHECK_SAID("the counted number of users is wrong");
    CHECK(!is_there(p, "check-copy"));
}

TEST(checks_do_not_get_into_each_others_way) {
    place    *p = served();
    const int fd = open(p->data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    CHECK(fd >= 0 && flock(fd, LOCK_EX) == 0);
    CHECK_RUN(p, 1, "db", "check");
    CHECK_SAID("another check is running");
    CHECK(!is_there(p, "check-copy"));
    (void)close(fd);
    CHECK_RUN(p, 0, "db", "check");
}

/* Nothing else a check does takes long enough to be seen asleep in it. */
static bool sleeps(pid_t pid) {
    char  path[64], state = 0;
    FILE *stat = NULL;

    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    stat = fopen(path, "re");
    if (stat && fscanf(stat, "%*d %*s %c", &state) != 1) state = 0;
    if (stat) (void)fclose(stat);
    return state == 'S';
}

/* The daemon stands still, so the check waits for the copy for as long as the test likes. */
TEST(a_check_that_is_ended_by_a_signal_leaves_nothing) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    place           *p = served();

    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        int status = 0;

        place_signal(p, SIGSTOP);
        const pid_t check = place_begin(p, ARGS("db", "check"));
        WAIT_FOR(is_there(p, "check-copy"), 20000);
        if (i > 0) WAIT_FOR(sleeps(check), 20000); /* the first one is ended on its way there */
        CHECK(kill(check, signals[i]) == 0);
        CHECK(waitpid(check, &status, 0) == check);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == signals[i]);
        CHECK(!is_there(p, "check-copy"));
        place_signal(p, SIGCONT);
        WAIT_FOR(place_run(p, ARGS("db", "check")) == 0, 20000);
        CHECK(!is_there(p, "check-copy"));
    }
    CHECK(place_has_said(p, "diurnal: interrupted"));
}

/* ---- Configuration ---- */

TEST(a_configuration_of_garbage_is_refused_in_one_line_and_exit_2) {
    static const char *const files[] = {
        "tick_ms = 6o\n",
        "tick_m = 60\n",
        "tick_ms = 60000\ntick_ms = 60000\n",
        "\x01\x02\xff\n",
        "[serve]\n",
        "window_minutes = 0\n",
        "runner = nothing:\n",
        "job_timeout_ms = 7200000\n",
    };
    place *p = place_new(NULL);

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        const char *path = place_write(p, "diurnal.conf", files[i], strlen(files[i]));
        CHECK_RUN(p, 2, "serve", "--config", path);
        const char *line = strchr(place_said(), '\n');
        CHECK_MSG(strncmp(place_said(), "diurnal: ", 9) == 0 && line && line[1] == '\0',
                  "it said: %s", place_said());
    }
    CHECK_RUN(p, 2, "serve");
    CHECK_SAID("--demo");
    CHECK_RUN(p, 2, "serve", DEMO_RUNNER, "--demo");
    CHECK_RUN(p, 2, "serve", DEMO_RUNNER, "--secret-file", "/nowhere");
    CHECK_RUN(p, 2, "serve", "--runner=exec:/bin/true", "--max-concurrency=100000000");
    CHECK_RUN(p, 2, "check-config");
    CHECK_RUN(p, 0, "check-config", DEMO_RUNNER);
    CHECK_RUN(p, 0, "check-config", "--demo");
    CHECK_RUN(p, 2, "check-config", "--runner=exec:/nowhere/at/all");
    CHECK_SAID("/nowhere/at/all");
    CHECK_RUN(p, 2, "check-config", DEMO_RUNNER, "--secret-file", "/nowhere");
    CHECK_RUN(p, 2, "check-config", "--runner=http://169.254.169.254/");
    CHECK_SAID("set runner_allow_private to allow it");
    CHECK_RUN(p, 0, "config", "show", DEMO_RUNNER);
    CHECK_SAID("runner = ");
    CHECK_RUN(p, 0, "config", "show", "--json");
    CHECK_SAID("\"source\": \"default\"");
}

TEST(settings_may_be_checked_while_a_daemon_has_the_directory) {
    place *p = served();

    CHECK_RUN(p, 0, "check-config", DEMO_RUNNER);
    CHECK_RUN(p, 0, "status");
}
