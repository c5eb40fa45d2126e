/* serve_test.c - the daemon: its beginning, its end, and what others do to it meanwhile. */
#define _GNU_SOURCE
#include "endpoint.h"
#include "place.h"
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bool status_is(const place *p, const char *id, const char *status) {
    char wanted[64];

    (void)snprintf(wanted, sizeof wanted, "\"status\":\"%s\"", status);
    return place_run(p, ARGS("users", "get", id, "--json")) == 0 && strstr(place_said(), wanted);
}

static void set(const place *p, const char *id, int minutes) {
    char due[8];

    CHECK_RUN(p, 0, "users", "set", id, "--due", due_in(minutes, due));
}

/* ---- Jobs ---- */

TEST(a_job_is_posted_and_its_success_recorded) {
    place    *p = place_new(NULL);
    endpoint *e = endpoint_new();

    place_serve(p, ARGS(endpoint_flag(e), "--tick-ms=20"));
    set(p, "ada", 30);
    WAIT_FOR(status_is(p, "ada", "success"), 20000);
    CHECK_UINT(atomic_load(&endpoint_find(e, "ada")->requests), 1);
}

TEST(what_fails_is_tried_again_until_the_cutoff_and_never_more_at_once_than_said) {
    place    *p = place_new(NULL);
    endpoint *e = endpoint_new();
    char      name[16];

    atomic_store(&e->delay_ms_max, 20);
    place_serve(p, ARGS(endpoint_flag(e), "--tick-ms=20", "--retry-delay-minutes=0",
                        "--max-concurrency=3"));
    set(p, "never-1", 1);
    for (int i = 0; i < 8; i++) {
        (void)snprintf(name, sizeof name, "u%d", i);
        set(p, name, 30);
    }
    WAIT_FOR(status_is(p, "never-1", "cutoff_reached"), 70000);
    CHECK(atomic_load(&endpoint_find(e, "never-1")->requests) > 1);
    CHECK(atomic_load(&e->running_peak) <= 3);
    CHECK_RUN(p, 0, "why", "never-1");
    CHECK_SAID("the cutoff was reached");
    CHECK_SAID("the last failure was");
    CHECK_RUN(p, 0, "audit");
}

/* ---- The beginning ---- */

TEST(what_a_job_complains_of_is_said_whole) {
    place *p = place_new(NULL);
    char   wanted[160];

    place_keep_errors_apart(p);
    place_serve(p, ARGS("--runner=exec:/bin/sh -c \"printf %0120d 7 >&2; exit 3\"", "--tick-ms=20",
                        "--log-level=debug"));
    set(p, "ada", 30);
    (void)snprintf(wanted, sizeof wanted, "user ada attempt 1: error unknown exit 3: %0120d\"", 7);
    WAIT_FOR(strstr(place_read(p->errors), wanted), 20000);
}

TEST(a_second_daemon_on_the_same_data_says_so_and_leaves) {
    place *p = place_new(NULL);

    place_serve(p, ARGS("--runner=exec:/bin/true"));
    CHECK_RUN(p, 1, "serve", "--runner=exec:/bin/true");
    CHECK_SAID("is in use by process");
    CHECK_RUN(p, 0, "status");
}

TEST(a_data_directory_that_is_no_store_is_refused_and_left_alone) {
    place *p = place_new(NULL);
    char   path[PLACE_PATH + 32];

    CHECK_INT(mkdir(p->data, 0700), 0);
    (void)place_write(p, "data/diurnal.db", "this is a letter to my aunt", 27);
    CHECK_RUN(p, 1, "serve", "--runner=exec:/bin/true");
    (void)snprintf(path, sizeof path, "%s/diurnal.db", p->data);
    struct stat about;
    CHECK_INT(stat(path, &about), 0);
    CHECK_INT(about.st_size, 27);
}

TEST(a_daemon_in_a_data_directory_with_a_very_long_path_is_found) {
    place *p = place_new(NULL);
    char   name[101] = "";

    memset(name, 'd', 100);
    for (int i = 0; i < 3; i++) {
        (void)snprintf(p->data + strlen(p->data), sizeof p->data - strlen(p->data), "%s%s",
                       i ? "/" : "", name);
        CHECK(mkdir(p->data, 0700) == 0);
    }
    place_serve(p, ARGS("--runner=exec:/bin/true"));
    set(p, "ada", 60);
    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 0);
}

TEST(what_it_makes_is_readable_by_its_owner_alone) {
    static const char *const names[] = {"", "/url", "/diurnal.db", "/lock", "/admin.token"};
    place                   *p = place_new(NULL);
    char                     path[PLACE_PATH + 32];

    place_serve(p, ARGS("--runner=exec:/bin/true"));
    for (int i = 0; i < 5; i++) {
        struct stat about;
        (void)snprintf(path, sizeof path, "%s%s", p->data, names[i]);
        CHECK_INT(stat(path, &about), 0);
        CHECK_INT(about.st_mode & 077, 0);
    }
}

TEST(a_stream_that_is_closed_costs_what_would_be_said_there_and_no_file_of_the_daemon) {
    static const char *const closed[] = {"<&-", ">&-", "2>&-", "<&- >&- 2>&-"};
    place                   *p = place_new(NULL);
    char                     path[PLACE_PATH + 32], line[128];

    (void)snprintf(path, sizeof path, "%s/lock", p->data);
    for (size_t i = 0; i < sizeof closed / sizeof closed[0]; i++) {
        int status;
        (void)snprintf(
            line, sizeof line,
            "exec \"$0\" serve --runner=exec:/bin/true --listen=127.0.0.1:0 --data \"$1\" %s",
            closed[i]);
        const pid_t daemon = place_begin_in_shell(p, line, "log");
        WAIT_FOR(place_run(p, ARGS("status")) == 0, 20000);
        CHECK_RUN(p, 0, "users", "set", "ada", "--due", "08:00");
        CHECK(kill(daemon, SIGTERM) == 0);
        CHECK(waitpid(daemon, &status, 0) == daemon);
        const char *sign = place_read(path), *end = strchr(sign, '\n');
        CHECK_MSG(end && end[1] == '\0', "the lock has: %s", sign);
    }
}

/* Of those it may have, whoever starts it holds all but a few open. */
TEST(started_with_too_many_files_open_it_says_so_and_ends) {
    enum { MAY = 140, LEAST_LEFT = 10, MOST_LEFT = 16 };
    place              *p = place_new(NULL);
    const struct rlimit limit = {MAY, MAY};
    int                 held[MAY], len = 0;

    CHECK_INT(setrlimit(RLIMIT_NOFILE, &limit), 0);
    while (len < MAY && (held[len] = open("/dev/null", O_RDONLY)) >= 0) len++; /* it has them too */
    CHECK_INT(errno, EMFILE);
    for (int left = 0; left <= MOST_LEFT; left++) {
        if (left >= LEAST_LEFT) {
            CHECK_RUN(p, 1, "serve", "--runner", "exec:/bin/true", "--listen=127.0.0.1:0",
                      "--max-concurrency=1");
            CHECK_SAID(
                "diurnal: open files: the limit is 140, and too many were open at the start");
        }
        CHECK_INT(close(held[--len]), 0);
    }
}

TEST(what_of_a_command_may_be_a_secret_is_not_said) {
    place *p = place_new(NULL);

    place_serve(p, ARGS("--runner=exec:/bin/true --token s3cret"));
    CHECK(place_has_said(p, "runner exec:/bin/true ***, "));
    CHECK(!place_has_said(p, "s3cret"));
    CHECK_RUN(p, 0, "status");
    CHECK_SAID("runner:   exec:/bin/true ***\n");
}

TEST(a_demo_shows_something_within_seconds) {
    place *p = place_new(NULL);

    place_serve(p, ARGS("--demo", "--tick-ms=100"));
    WAIT_FOR(place_has_said(p, "done today: "), 20000);
    WAIT_FOR(place_run(p, ARGS("users", "list", "--status", "success", "--limit", "1", "--json")) ==
                     0 &&
                 strstr(place_said(), "demo-"),
             20000);
    WAIT_FOR(place_run(p, ARGS("users", "list", "--status", "cutoff_reached", "--limit", "1",
                               "--json")) == 0 &&
                 strstr(place_said(), "demo-"),
             20000);
    CHECK_RUN(p, 0, "audit");
    place_signal(p, SIGINT);
    CHECK_INT(place_wait(p), 0);
    place_serve(p, ARGS("--demo", "--tick-ms=100"));
    CHECK(place_has_said(p, "users are done for today"));
}

TEST(a_demo_does_not_make_up_the_days_of_users_who_are_somebodys_own) {
    place *p = place_new(NULL);

    place_serve(p, ARGS("--runner=exec:/bin/true"));
    set(p, "ada", 60);
    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 0);
    CHECK_RUN(p, 2, "serve", "--demo");
    CHECK_SAID("has real users, and the demo would invent results for them; name another --data");
    place_serve(p, ARGS("--runner=exec:/bin/true"));
    CHECK(place_has_said(p, "ready: 1 user in"));
}

TEST(a_demo_may_have_users_of_ones_own_beside_its_own) {
    place *p = place_new(NULL);

    place_serve(p, ARGS("--demo"));
    WAIT_FOR(place_has_said(p, "The users (demo-0001"), 20000);
    set(p, "ada", 60);
    CHECK_RUN(p, 0, "users", "rm", "demo-0001");
    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 0);
    place_serve(p, ARGS("--demo"));
    CHECK_RUN(p, 0, "users", "get", "ada");
}

/* ---- SIGUSR1 ---- */

/* The texts of the lines, of which the log repeats none. */
TEST(sigusr1_writes_the_state_to_the_log_and_the_daemon_goes_on) {
    static const char *const texts[] = {
        "users users=1 ",
        "queue queued=0 ",
        "executor in_flight=0 in_flight_peak=1 max_concurrency=7 started=1 ok=1 ",
        "store users=1 waiting_writes=0 ",
        "loop main actors=",
        "loop run actors=",
        "loop store actors=",
    };
    place *p = place_new(NULL);

    place_serve(p, ARGS("--runner=exec:/bin/true", "--tick-ms=20", "--max-concurrency=7",
                        "--log-format=text"));
    set(p, "ada", 30);
    WAIT_FOR(status_is(p, "ada", "success"), 20000);
    for (int round = 0; round < 2; round++) {
        place_forget_said(p);
        place_signal(p, SIGUSR1);
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
            char line[128];
            (void)snprintf(line, sizeof line, "info  daemon.state: %s", texts[i]);
            WAIT_FOR(place_has_said(p, line), 20000);
        }
    }
    CHECK_RUN(p, 0, "status");
    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 0);
}

/* ---- The end ---- */

TEST(sigterm_lets_a_running_job_finish_and_commits_it) {
    place    *p = place_new(NULL);
    endpoint *e = endpoint_new();

    atomic_store(&e->held, 1);
    place_serve(p, ARGS(endpoint_flag(e), "--tick-ms=20"));
    set(p, "ada", 30);
    WAIT_FOR(atomic_load(&e->running) == 1, 20000);
    place_signal(p, SIGTERM);
    WAIT_FOR(place_has_said(p, "running jobs may finish within"), 20000);
    atomic_store(&e->held, 0);
    CHECK_INT(place_wait(p), 0);
    place_serve(p, ARGS(endpoint_flag(e)));
    CHECK(status_is(p, "ada", "success"));
    CHECK_UINT(atomic_load(&e->requests), 1);
}

TEST(a_second_sigterm_does_not_wait) {
    place    *p = place_new(NULL);
    endpoint *e = endpoint_new();

    atomic_store(&e->held, 1);
    place_serve(p, ARGS(endpoint_flag(e), "--tick-ms=20", "--shutdown-grace-ms=3600000"));
    set(p, "ada", 30);
    WAIT_FOR(atomic_load(&e->running) == 1, 20000);
    place_signal(p, SIGTERM);
    WAIT_FOR(place_has_said(p, "running jobs may finish within"), 20000);
    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 1);
    CHECK(place_has_said(p, "stopped at once by a second signal"));
    CHECK_RUN(p, 0, "audit");
}

/* ---- Damage ---- */

/* A store that was closed in order, and of which most was then written over. */
static void make_damaged(const char *data) {
    enum { USERS = 3000, PAGE = 4096, WHOLE_PAGES = 20 };
    static dn_write_result result;
    char        why[DN_STORE_WHY], path[PLACE_PATH + 16], id[DN_ID_MAX + 1], garbage[PAGE];
    dn_store   *store;
    struct stat found;

    (void)snprintf(path, sizeof path, "sqlite:%s", data);
    CHECK_INT(dn_store_open(&(dn_store_config){.url = path, .ledger_days = 35}, &store, why),
              DN_OK);
    for (int i = 0; i < USERS; i++) {
        const int      len = snprintf(id, sizeof id, "somebody-with-a-name-of-some-length-%d", i);
        const dn_write w = {.op = DN_WRITE_SET,
                            .set = {.id = id,
                                    .id_len = (uint8_t)len,
                                    .starts_on = DN_DAY_NONE,
                                    .new_starts_on = 20000}};
        CHECK_INT(dn_store_write(store, &w, 1, &result, NULL), DN_OK);
    }
    dn_store_free(store);
    (void)snprintf(path, sizeof path, "%s/diurnal.db", data);
    CHECK_INT(stat(path, &found), 0);
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    memset(garbage, 0xee, sizeof garbage);
    for (off_t at = WHOLE_PAGES * PAGE; at < found.st_size; at += PAGE)
        CHECK_INT(pwrite(fd, garbage, PAGE, at), PAGE);
    (void)close(fd);
}

TEST(a_database_that_turns_out_to_be_damaged_is_named_and_what_to_do_with_it) {
    place *p = place_new(NULL);

    make_damaged(p->data);
    CHECK_RUN(p, 1, "audit");
    CHECK_SAID("/diurnal.db is damaged; run `diurnal db check` and restore a backup");
    place_start(p, ARGS("--runner", "exec:/bin/true"));
    CHECK_INT(place_wait(p), 1);
    CHECK(place_has_said(p, "/diurnal.db is damaged; run `diurnal db check` and restore a backup "
                            "(found while loading users)"));
    CHECK_RUN(p, 1, "db", "check");
    CHECK_SAID("/diurnal.db is damaged (");
}

/* ---- A full disk ---- */

static void fill(const char *base, bool full) {
    char        path[PLACE_PATH + 8];
    static char zeros[4096];
    (void)snprintf(path, sizeof path, "%s/fill", base);
    (void)unlink(path);
    if (!full) return;
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    CHECK(fd >= 0);
    while (write(fd, zeros, sizeof zeros) > 0) continue;
    (void)close(fd);
}

/* On a tmpfs of its own, in a mount namespace that goes with the test; for which one has to be root. */
static bool mount_small(char *base) {
    CHECK(mkdtemp(base));
    if (unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
        mount("tmpfs", base, "tmpfs", 0, "size=4m,mode=0700") == 0)
        return true;
    fprintf(stderr, "skipped: no tmpfs can be mounted here: %s\n", strerror(errno));
    (void)rmdir(base);
    return false;
}

/* Ada's job is done, and the disk does not take it. */
static place *full_disk(const char *base, endpoint *e) {
    place *p = place_new(base);

    place_serve(p, ARGS(endpoint_flag(e), "--tick-ms=20", "--window-minutes=1"));
    set(p, "ada", 30);
    place_signal(p, SIGTERM); /* so that there is no log: its room would do for what comes */
    CHECK_INT(place_wait(p), 0);
    atomic_store(&e->held, 1);
    place_serve(p, ARGS(endpoint_flag(e), "--tick-ms=20", "--shutdown-grace-ms=100"));
    WAIT_FOR(atomic_load(&e->running) == 1, 20000);
    fill(base, true);
    atomic_store(&e->held, 0);
    WAIT_FOR(place_has_said(p, "the disk is full"), 20000);
    return p;
}

TEST(a_full_disk_loses_nothing_and_is_said_and_passes) {
    char      base[] = "/tmp/diurnal-e2e-disk-XXXXXX";
    char      copy[64];
    endpoint *e = endpoint_new();

    if (!mount_small(base)) return;
    place *p = full_disk(base, e);
    CHECK_RUN(p, 0, "status");
    CHECK_SAID("THE DISK IS FULL");
    CHECK_RUN(p, 1, "users", "set", "bob", "--due", "08:00");
    CHECK_SAID("the disk is full");
    CHECK(!status_is(p, "ada", "success"));
    CHECK_RUN(p, 1, "db", "check");
    CHECK_SAID("a copy to check needs ");
    CHECK_SAID(" KiB, but only 0 KiB are free; make room");
    (void)snprintf(copy, sizeof copy, "/tmp/diurnal-e2e-copy-%d", (int)getpid());
    CHECK_RUN(p, 1, "db", "backup", copy);
    CHECK_SAID(" KiB, but only 0 KiB are free; make room");
    CHECK(access(copy, F_OK) < 0);
    CHECK_RUN(p, 0, "status");
    fill(base, false);
    WAIT_FOR(status_is(p, "ada", "success"), 20000);
    CHECK_UINT(atomic_load(&e->requests), 1);
    CHECK_RUN(p, 0, "audit");
    CHECK_RUN(p, 0, "db", "check");
    CHECK_RUN(p, 0, "users", "set", "bob", "--due", "08:00");
    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 0);
    CHECK(place_has_said(p, "everything is committed"));
    CHECK(!place_has_said(p, "not everything"));
    (void)umount2(base, MNT_DETACH);
    (void)rmdir(base);
}

TEST(what_a_full_disk_did_not_take_is_not_said_to_be_committed) {
    char      base[] = "/tmp/diurnal-e2e-disk-XXXXXX";
    endpoint *e = endpoint_new();

    if (!mount_small(base)) return;
    place *p = full_disk(base, e);
    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 0);
    CHECK(place_has_said(p, "writes lost, because the disk is full"));
    CHECK(place_has_said(p, "not everything is committed"));
    (void)umount2(base, MNT_DETACH);
    (void)rmdir(base);
}
