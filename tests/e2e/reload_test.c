/* reload_test.c - SIGHUP: the configuration is read again, and what it takes is done. */
#include "endpoint.h"
#include "place.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *config_write(const place *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* What stands in the file from now on; its path, valid until the next file is written. */
static const char *config_write(const place *p, const char *format, ...) {
    char    text[1024];
    va_list args;

    va_start(args, format);
    const int len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return place_write(p, "diurnal.conf", text, (size_t)len);
}

static void set(const place *p, const char *id) {
    char due[8];

    CHECK_RUN(p, 0, "users", "set", id, "--due", due_in(30, due));
}

static bool is_done(const place *p, const char *id) {
    return place_run(p, ARGS("users", "get", id, "--json")) == 0 &&
           strstr(place_said(), "\"status\":\"success\"");
}

static void hang_up(place *p) {
    place_forget_said(p);
    place_signal(p, SIGHUP);
}

static const char *runner_of(const endpoint *e) { return strchr(endpoint_flag(e), '=') + 1; }

/* ---- What stays as it is ---- */

TEST(a_configuration_that_has_not_changed_changes_nothing) {
    place *p = place_new(NULL);

    place_serve(p, ARGS("--config", config_write(p, "runner = exec:/bin/true\n")));
    hang_up(p);
    WAIT_FOR(place_has_said(p, "info  config.read: configuration read again; nothing changed"),
             20000);
    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 0);
    CHECK(!place_is_ready(p));
}

TEST(a_bad_configuration_is_refused_in_a_line_and_the_daemon_goes_on_as_it_was) {
    static const char *const files[][2] = {
        {"runner = exec:/bin/true\nlog_level = loud\n",
         "diurnal.conf:2: log_level: \"loud\" is not one of debug|info|warn|error; info is the "
         "default"},
        {"runner = exec:/bin/true\nmax_concurency = 7\n", "did you mean max_concurrency?"},
        {"runner = exec:/bin/true\nsecret_file = /nowhere/at/all\n", "/nowhere/at/all: "},
        {"max_concurrency = 7\n", "runner: not set"},
        {"runner = exec:/nowhere/at/all\nlog_level = error\n", "runner: the runner's program"},
    };
    place *p = place_new(NULL);

    place_serve(
        p, ARGS("--config", config_write(p, "runner = exec:/bin/true\nmax_concurrency = 5\n")));
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        (void)config_write(p, "%s", files[i][0]);
        hang_up(p);
        WAIT_FOR(place_has_said(p, "error config.refused: kept the old configuration: "), 20000);
        CHECK_MSG(place_has_said(p, files[i][1]), "of %s", files[i][0]);
        CHECK_RUN(p, 0, "status");
        CHECK_SAID("of 5 running");
    }
    /* Nothing of a bad one has been taken: what is said at info is said. */
    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 0);
    CHECK(place_has_said(p, "daemon.stopped"));
}

TEST(the_log_level_holds_at_once) {
    place *p = place_new(NULL);

    place_serve(p, ARGS("--config", config_write(p, "runner = exec:/bin/true\n")));
    (void)config_write(p, "runner = exec:/bin/true\nlog_level = error\n");
    hang_up(p);
    WAIT_FOR(place_has_said(p, "log_level changed and is now in effect"), 20000);
    (void)config_write(p, "runner = exec:/bin/true\nlog_level = info\n");
    hang_up(p);
    WAIT_FOR(place_has_said(p, "log_level changed and is now in effect"), 20000);
    hang_up(p);
    WAIT_FOR(place_has_said(p, "nothing changed"), 20000);
    CHECK(!place_is_ready(p));
}

/* ---- What a start would fail at ---- */

TEST(a_daemon_does_not_become_a_demo_over_its_own_data) {
    place *p = place_new(NULL);

    place_serve(p, ARGS("--config", config_write(p, "runner = exec:/bin/true\n")));
    (void)config_write(p, "demo = true\n");
    hang_up(p);
    WAIT_FOR(place_has_said(p, "warn  config.unusable: kept the old configuration: "), 20000);
    CHECK(place_has_said(p, "demo is on and would invent results for the users in "));
    CHECK_RUN(p, 0, "status");
    CHECK_SAID("exec:/bin/true");
}

/* Where the data are and where it listens stands in the file, and in no flag. */
static const char *world_write(const place *p, const char *data, const char *listens) {
    return config_write(p,
                        "runner = exec:/bin/true\ninsecure_listen = true\ndata = %s\nlisten = %s\n",
                        data, listens);
}

static void check_stays(place *p, const char *data, const char *listens, const char *words) {
    (void)world_write(p, data, listens);
    hang_up(p);
    WAIT_FOR(place_has_said(p, "warn  config.unusable: kept the old configuration: "), 20000);
    CHECK_MSG(place_has_said(p, words), "of %s, %s: %s", data, listens, place_read(p->log));
    CHECK_RUN(p, 0, "status");
    CHECK_SAID(p->data);
}

/* In the test's own directory. */
static const char *beside(const place *p, const char *name) {
    static char path[2 * PLACE_PATH];

    (void)snprintf(path, sizeof path, "%s/%s", p->dir, name);
    return path;
}

/* In use by somebody, who is this test. */
static const char *take_directory(const place *p, const char *name) {
    char path[2 * PLACE_PATH];

    CHECK_INT(mkdir(beside(p, name), 0700), 0);
    (void)snprintf(path, sizeof path, "%s/lock", beside(p, name));
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    CHECK(fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0);
    return beside(p, name);
}

static const char *take_port(void) {
    static char        address[64];
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t          len = sizeof at;
    const int          fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK(bind(fd, (const struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 1) == 0);
    CHECK(getsockname(fd, (struct sockaddr *)&at, &len) == 0);
    (void)snprintf(address, sizeof address, "127.0.0.1:%d", ntohs(at.sin_port));
    return address;
}

TEST(a_daemon_does_not_become_a_demo_over_the_data_of_another) {
    place *p = place_new(NULL);

    place_serve(p, ARGS("--runner", "exec:/bin/true"));
    CHECK_RUN(p, 0, "users", "set", "ada", "--due", "08:00");
    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 0);
    place_serve_bare(p, ARGS("--config", world_write(p, beside(p, "mine"), "127.0.0.1:0")));
    (void)config_write(p, "demo = true\ndata = %s\nlisten = 127.0.0.1:0\n", p->data);
    hang_up(p);
    WAIT_FOR(place_has_said(p, "warn  config.unusable: kept the old configuration: "), 20000);
    CHECK(place_has_said(p, "demo is on and would invent results for the users in "));
    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 0);
}

TEST(a_directory_or_an_address_that_cannot_be_had_is_said_and_the_daemon_goes_on_as_it_was) {
    static const char free_port[] = "127.0.0.1:0";
    place            *p = place_new(NULL);

    place_serve_bare(p, ARGS("--config", world_write(p, p->data, free_port)));
    (void)place_write(p, "a-file", "x", 1);
    check_stays(p, beside(p, "a-file"), free_port, "data changed, but ");
    CHECK(place_has_said(p, "a-file is not a directory; --data needs one"));
    check_stays(p, beside(p, "no/such/parent"), free_port, "cannot be created: No such file");
    check_stays(p, take_directory(p, "taken"), free_port, "taken is in use by another process");
    CHECK_INT(mkdir(beside(p, "foreign"), 0700), 0);
    (void)place_write(p, "foreign/diurnal.db", "something else", 14);
    check_stays(p, beside(p, "foreign"), free_port, "diurnal.db is not a database");
    check_stays(p, p->data, take_port(), "is in use by another program");
    check_stays(p, p->data, "192.0.2.1:1440", "cannot listen at 192.0.2.1:1440");
    CHECK(access(beside(p, "no"), F_OK) < 0);
    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 0);
}

/* One that no connection is given by itself: between an end and a start it is nobody's, and stays so. */
static int quiet_port(void) {
    enum { LEAST = 10000, MOST = 30000 };
    const int                on = 1;
    const struct sockaddr_in nowhere = {.sin_family = AF_INET};

    for (int i = 0; i < MOST - LEAST; i++) {
        struct sockaddr_in at = nowhere;
        const int          port = LEAST + (int)((getpid() * 7919L + i) % (MOST - LEAST));
        const int          fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        at.sin_port = htons((uint16_t)port);
        CHECK(fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0);
        const bool is_free = bind(fd, (const struct sockaddr *)&at, sizeof at) == 0;
        (void)close(fd);
        if (is_free) return port;
    }
    CHECK_MSG(false, "there is no free port");
    return 0;
}

TEST(its_own_directory_and_its_own_port_are_in_nobodys_way) {
    place    *p = place_new(NULL);
    const int port = quiet_port();
    char      everywhere[64], here[64];

    (void)snprintf(here, sizeof here, "127.0.0.1:%d", port);
    (void)snprintf(everywhere, sizeof everywhere, "0.0.0.0:%d", port);
    place_serve_bare(p, ARGS("--config", world_write(p, p->data, here)));
    CHECK_INT(symlink(p->data, beside(p, "by-another-name")), 0);
    (void)world_write(p, beside(p, "by-another-name"), everywhere);
    hang_up(p);
    WAIT_FOR(place_is_ready(p), 20000);
    CHECK(place_has_said(p, everywhere));
    CHECK(place_has_said(p, "by-another-name"));
    (void)world_write(p, beside(p, "a-new-one"), everywhere);
    hang_up(p);
    WAIT_FOR(place_is_ready(p), 20000);
    CHECK(access(beside(p, "a-new-one/diurnal.db"), F_OK) == 0);
    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 0);
}

/* ---- What starts anew ---- */

static size_t open_descriptors(const place *p) {
    char   path[64];
    size_t len = 0;

    (void)snprintf(path, sizeof path, "/proc/%d/fd", (int)p->daemon);
    DIR *all = opendir(path);
    CHECK(all);
    while (readdir(all)) len++;
    (void)closedir(all);
    return len;
}

/* What is blocked, ignored and caught, as the kernel says it. */
static void signals_of(const place *p, char out[256]) {
    char  path[64], line[256];
    FILE *status;

    (void)snprintf(path, sizeof path, "/proc/%d/status", (int)p->daemon);
    status = fopen(path, "r");
    CHECK(status);
    *out = '\0';
    while (fgets(line, sizeof line, status))
        if (strncmp(line, "SigBlk:", 7) == 0 || strncmp(line, "SigIgn:", 7) == 0 ||
            strncmp(line, "SigCgt:", 7) == 0)
            (void)snprintf(out + strlen(out), 256 - strlen(out), "%s", line);
    (void)fclose(status);
}

/* One life after the other: jobs over HTTP, jobs as processes, and again. */
TEST(changed_settings_start_the_daemon_anew_in_the_same_process_and_nothing_is_left_open) {
    enum { LIVES = 8 };
    place    *p = place_new(NULL);
    endpoint *e = endpoint_new();
    size_t    descriptors[2] = {0};
    char      signals[2][256], now[256], id[16], wanted[64], process[64];

    for (int life = 0; life < LIVES; life++) {
        const char *path = config_write(p, "tick_ms = 20\nmax_concurrency = %d\nrunner = %s\n",
                                        20 + life, life % 2 ? "exec:/bin/true" : runner_of(e));
        if (life == 0) {
            place_serve(p, ARGS("--config", path));
        } else {
            hang_up(p);
            WAIT_FOR(place_is_ready(p), 20000);
            CHECK(place_has_said(p, "changed: max_concurrency, runner; running jobs may finish"));
        }
        (void)snprintf(process, sizeof process, "process %d,", (int)p->daemon);
        (void)snprintf(wanted, sizeof wanted, "of %d running", 20 + life);
        CHECK_RUN(p, 0, "status");
        CHECK_SAID(wanted);
        CHECK_SAID(process);
        (void)snprintf(id, sizeof id, "user-%d", life);
        set(p, id);
        WAIT_FOR(is_done(p, id), 20000);
        signals_of(p, now);
        if (life < 2) {
            descriptors[life] = open_descriptors(p);
            (void)snprintf(signals[life], sizeof signals[life], "%s", now);
        } else {
            /* One may have been counted then that was about to be closed: the last command's. */
            const size_t before = descriptors[life % 2];
            WAIT_FOR(open_descriptors(p) <= before, 20000);
            CHECK_STR(now, signals[life % 2]);
        }
    }
    CHECK_RUN(p, 0, "users", "list", "--status", "success");
    for (int life = 0; life < LIVES; life++) {
        (void)snprintf(id, sizeof id, "user-%d", life);
        CHECK_SAID(id);
    }
    CHECK_RUN(p, 0, "audit");
    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 0);
}

TEST(secrets_that_have_changed_start_it_anew_too) {
    static const char old_secret[] = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n";
    static const char new_secret[] = "whsec_NfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n";
    place            *p = place_new(NULL);
    char              path[PLACE_PATH];

    (void)snprintf(path, sizeof path, "%s",
                   place_write(p, "secrets", old_secret, sizeof old_secret - 1));
    place_serve(p, ARGS("--runner=exec:/bin/true", "--secret-file", path));
    hang_up(p);
    WAIT_FOR(place_has_said(p, "nothing changed"), 20000);
    (void)place_write(p, "secrets", new_secret, sizeof new_secret - 1);
    hang_up(p);
    WAIT_FOR(place_is_ready(p), 20000);
    CHECK(place_has_said(p, "changed: secret_file; running jobs may finish"));
}

static void serve_with_a_job_that_hangs(place *p, endpoint *e) {
    atomic_store(&e->held, 1);
    place_serve(p, ARGS(endpoint_flag(e), "--tick-ms=20", "--config",
                        config_write(p, "shutdown_grace_ms = 3600000\n")));
    set(p, "ada");
    WAIT_FOR(atomic_load(&e->running) == 1, 20000);
    (void)config_write(p, "shutdown_grace_ms = 3600000\nmax_concurrency = 7\n");
    hang_up(p);
    WAIT_FOR(place_has_said(p, "running jobs may finish within"), 20000);
}

TEST(a_running_job_may_finish_first_and_more_hangups_change_nothing) {
    place    *p = place_new(NULL);
    endpoint *e = endpoint_new();

    serve_with_a_job_that_hangs(p, e);
    for (int i = 0; i < 100; i++) place_signal(p, SIGHUP);
    atomic_store(&e->held, 0);
    WAIT_FOR(place_is_ready(p), 20000);
    CHECK(is_done(p, "ada"));
    CHECK_UINT(atomic_load(&e->requests), 1);
    CHECK_RUN(p, 0, "status");
    CHECK_SAID("of 7 running");
}

/* At any instant of ending and beginning. */
TEST(hangups_without_end_do_not_end_the_daemon) {
    place *p = place_new(NULL);

    place_serve(p, ARGS("--runner=exec:/bin/true", "--config", config_write(p, "tick_ms = 100\n")));
    for (int i = 1; i <= 5; i++) {
        (void)config_write(p, "tick_ms = %d\n", 100 + i);
        place_forget_said(p);
        const int64_t until = mono_ms() + 20000 * TEST_SLOW_FACTOR;
        while (!place_is_ready(p)) {
            CHECK(mono_ms() < until);
            for (int n = 0; n < 200; n++) place_signal(p, SIGHUP);
        }
    }
    CHECK_RUN(p, 0, "status");
    CHECK_SAID("every 105 ms");
}

TEST(a_sigterm_while_it_stops_to_start_anew_ends_it_for_good_and_in_order) {
    place    *p = place_new(NULL);
    endpoint *e = endpoint_new();

    serve_with_a_job_that_hangs(p, e);
    place_signal(p, SIGTERM);
    place_signal(p, SIGHUP);
    atomic_store(&e->held, 0);
    CHECK_INT(place_wait(p), 0);
    CHECK(!place_is_ready(p));
    place_serve(p, ARGS(endpoint_flag(e)));
    CHECK(is_done(p, "ada"));
    CHECK_UINT(atomic_load(&e->requests), 1);
}

TEST(a_second_sigterm_while_it_stops_to_start_anew_does_not_wait) {
    place    *p = place_new(NULL);
    endpoint *e = endpoint_new();

    serve_with_a_job_that_hangs(p, e);
    place_signal(p, SIGTERM);
    place_signal(p, SIGINT);
    CHECK_INT(place_wait(p), 1);
    CHECK(!place_is_ready(p));
    CHECK_RUN(p, 0, "audit");
}

/* While it stops, between the two, or in the first moments of the second. */
TEST(a_sigterm_at_any_instant_of_starting_anew_ends_it_in_order) {
    place   *p = place_new(NULL);
    uint64_t random = test_seed();

    for (int i = 0; i < 40; i++) {
        place_serve(
            p, ARGS("--runner=exec:/bin/true", "--config", config_write(p, "tick_ms = 100\n")));
        (void)config_write(p, "tick_ms = 200\n");
        hang_up(p);
        WAIT_FOR(place_has_said(p, "changed: tick_ms"), 20000);
        pause_ms((int)(test_random(&random) % 12));
        place_signal(p, SIGTERM);
        CHECK_INT(place_wait(p), 0);
    }
}

/* ---- The program ---- */

TEST(a_program_that_was_exchanged_is_the_one_that_starts_anew_with_what_the_first_was_given) {
    static const char newer[] = "#!/bin/sh\necho \"the newer one, $$, with $*\"\n";
    place            *p = place_new(NULL);
    char              path[PLACE_PATH], said[PLACE_PATH];

    place_copy_program(p);
    place_serve(p, ARGS("--runner=exec:/bin/true", "--config", config_write(p, "tick_ms = 100\n")));
    (void)snprintf(path, sizeof path, "%s", place_write(p, "newer", newer, sizeof newer - 1));
    CHECK_INT(chmod(path, 0700), 0);
    CHECK_INT(rename(path, p->program), 0);
    (void)config_write(p, "tick_ms = 200\n");
    hang_up(p);
    CHECK_INT(place_wait(p), 0);
    (void)snprintf(said, sizeof said,
                   "with serve --data %s --listen 127.0.0.1:0 --runner=exec:/bin/true --config ",
                   p->data);
    CHECK(place_has_said(p, "the newer one, "));
    CHECK(place_has_said(p, said));
}

TEST(where_there_is_no_program_to_start_the_daemon_goes_on) {
    place *p = place_new(NULL);

    place_copy_program(p);
    place_serve(p, ARGS("--runner=exec:/bin/true", "--config", config_write(p, "tick_ms = 100\n")));
    CHECK_INT(unlink(p->program), 0);
    (void)config_write(p, "tick_ms = 200\n");
    hang_up(p);
    WAIT_FOR(place_has_said(p, "kept the old configuration: tick_ms changed, but "), 20000);
    CHECK_RUN(p, 0, "status");
}

TEST(where_the_start_fails_all_the_same_it_says_so_and_exits_1) {
    place    *p = place_new(NULL);
    endpoint *e = endpoint_new();

    place_copy_program(p);
    serve_with_a_job_that_hangs(p, e);
    CHECK_INT(unlink(p->program), 0);
    atomic_store(&e->held, 0);
    CHECK_INT(place_wait(p), 1);
    CHECK(place_has_said(p, "No such file or directory"));
    *p->program = '\0';
    place_serve(p, ARGS(endpoint_flag(e)));
    CHECK(is_done(p, "ada"));
}
