/* client_test.c - how a command finds the daemon and its token, and what it makes of whoever answers instead. */
#include "certificate.h"
#include "place.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define RUNNER "--runner=exec:/bin/true"

static place *served(void) {
    place *p = place_new(NULL);

    place_serve(p, ARGS(RUNNER));
    return p;
}

static void stops(place *p) {
    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 0);
}

static char *in_data(const place *p, const char *name) {
    static char path[PLACE_PATH + 32];

    (void)snprintf(path, sizeof path, "%s/%s", p->data, name);
    return path;
}

static void token_of(const place *p, char token[128]) {
    (void)snprintf(token, 128, "%.100s", place_read(in_data(p, "admin.token")));
    token[strcspn(token, "\n")] = '\0';
}

static const char *url_of(uint16_t port) {
    static char url[64];

    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u", port);
    return url;
}

/* ---- Somebody who is no daemon ---- */

static int      door;
static uint16_t door_port;
static char     head[8192]; /* of the last request */

/* It is nobody else's, and nobody is behind it. */
static void has_a_closed_door(void) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t          len = sizeof at;

    door = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(door >= 0);
    CHECK(bind(door, (const struct sockaddr *)&at, sizeof at) == 0);
    CHECK(getsockname(door, (struct sockaddr *)&at, &len) == 0);
    door_port = ntohs(at.sin_port);
}

static void opens_a_door(void) {
    has_a_closed_door();
    CHECK(listen(door, 8) == 0);
}

/* Takes a request, gives `times` that answer, and ends the connection. */
static void answers_many(const char *answer, size_t len, int times) {
    static char rest[1 << 16];
    const int   fd = accept(door, NULL, NULL);
    size_t      got = 0;

    CHECK(fd >= 0);
    while (got < sizeof head - 1 && !strstr(head, "\r\n\r\n")) {
        const ssize_t n = recv(fd, head + got, sizeof head - 1 - got, 0);
        CHECK(n > 0);
        got += (size_t)n;
        head[got] = '\0';
    }
    for (int i = 0; i < times && send(fd, answer, len, MSG_NOSIGNAL) == (ssize_t)len;) i++;
    (void)shutdown(fd, SHUT_WR);
    while (recv(fd, rest, sizeof rest, 0) > 0) continue;
    (void)close(fd);
}

/* A command asks him; its exit code. */
static int run_of_stranger(const place *p, const char *const *args, const char *answer, int times) {
    int status = 0;

    CHECK(setenv("DIURNAL_TOKEN", "diurnal_of-the-test", 1) == 0);
    head[0] = '\0';
    const pid_t command = place_begin(p, args);
    answers_many(answer, strlen(answer), times);
    CHECK(waitpid(command, &status, 0) == command && WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int status_of_stranger(const place *p, const char *answer, int times) {
    return run_of_stranger(p, ARGS("status", "--url", url_of(door_port)), answer, times);
}

#define CHECK_STRANGER(p, answer, code, words)                                                     \
    do {                                                                                           \
        const int is_ = status_of_stranger((p), (answer), 1);                                      \
        CHECK_MSG(is_ == (code) && place_has_said((p), (words)), "exit %d: %s", is_,               \
                  place_read((p)->log));                                                           \
    } while (0)

TEST(a_status_without_the_service_levels_says_that_they_are_not_known_at_this_moment) {
    static const char answer[] =
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
        "{\"daemon\":{\"pid\":7},\"tick\":{\"loaded\":false},\"queue\":{\"queued\":3},"
        "\"executor\":{},\"store\":{\"users\":5},\"slo\":null}";
    place *p = place_new(NULL);

    opens_a_door();
    CHECK_STRANGER(p, answer, 0, "users:    5\n");
    CHECK(place_has_said(p, "SLOs:     unknown, "));
    CHECK(!place_has_said(p, "none is breached"));
    CHECK_MSG(strstr(head, "\r\nAuthorization: Bearer diurnal_of-the-test\r\n"), "%s", head);
}

TEST(what_answers_and_is_no_diurnal_is_said_to_be_none) {
    place *p = place_new(NULL);

    opens_a_door();
    CHECK_STRANGER(p, "HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n<html></html>", 1,
                   "answered, but not like a diurnal daemon; name another --url");
    place_forget_said(p);
    CHECK_STRANGER(p, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]", 1,
                   "not like a diurnal daemon");
    place_forget_said(p);
    CHECK_STRANGER(p, "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nlost", 1,
                   "answered 404 and is not a diurnal daemon");
    place_forget_said(p);
    CHECK_STRANGER(p, "SSH-2.0-OpenSSH_9.2\r\n", 1, "the server there is not a diurnal daemon");
    place_forget_said(p);
    /* Nobody is sent elsewhere with a token. */
    CHECK_STRANGER(p,
                   "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n"
                   "Content-Length: 0\r\n\r\n",
                   1, "answered 302 and is not a diurnal daemon");
}

TEST(who_says_yes_to_everything_is_no_diurnal) {
    static const char *const answers[] = {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
                                          "HTTP/1.1 204 No Content\r\n\r\n"};
    place                   *p = place_new(NULL);

    char copy[PLACE_PATH + 16];

    opens_a_door();
    (void)snprintf(copy, sizeof copy, "%s/copy.db", p->dir);
    const char *url = url_of(door_port), *file = place_write(p, "users.csv", "ada,08:00\n", 10);
    const struct {
        const char *const *args;
        bool               has_no_answer; /* 204 is right */
    } rows[] = {
        {ARGS("users", "rm", "bob", "--url", url), true},
        {ARGS("users", "get", "bob", "--url", url), false},
        {ARGS("users", "set", "bob", "--due", "08:00", "--url", url), false},
        {ARGS("users", "list", "--url", url), false},
        {ARGS("users", "import", file, "--url", url), false},
        {ARGS("users", "export", "--url", url), false},
        {ARGS("today", "--url", url), false},
        {ARGS("why", "bob", "--url", url), false},
        {ARGS("audit", "--url", url), false},
        {ARGS("status", "--json", "--url", url), false},
        {ARGS("top", "--url", url), false},
        {ARGS("token", "create", "x", "--url", url), false},
        {ARGS("token", "list", "--url", url), false},
        {ARGS("token", "revoke", "2", "--url", url), true},
        {ARGS("dashboard", "--url", url), false},
        {ARGS("db", "backup", copy, "--url", url), false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int with = 0; with < (rows[i].has_no_answer ? 1 : 2); with++) {
            const int code = run_of_stranger(p, rows[i].args, answers[with], 1);
            CHECK_MSG(code == 1 && place_has_said(p, "answered, but not like a diurnal daemon"),
                      "%s %s, %d: exit %d: %s", rows[i].args[0], rows[i].args[1], with, code,
                      place_read(p->log));
            place_forget_said(p);
        }
    }
    CHECK_INT(run_of_stranger(p, rows[0].args, answers[1], 1), 0);
    CHECK(place_has_said(p, "bob: removed"));
}

TEST(an_answer_steers_no_terminal) {
    static const char answer[] =
        "HTTP/1.1 200 OK\r\n\r\n{\"daemon\":{\"data\":\"\\u001b[2J\\u009b2J\\u007f\",\"runner\":"
        "\"\\u00e9\\r\"},\"slo\":[{\"state\":\"breached\",\"sentence\":\"p95\\u001b\",\"name\":"
        "\"a\\nb\"}]}";
    place *p = place_new(NULL);

    opens_a_door();
    CHECK_STRANGER(p, answer, 0, "data:     ?[2J??2J?\n");
    CHECK(place_has_said(p, "runner:   \xc3\xa9?\n"));
    CHECK(place_has_said(p, "WARNING:  a?b: p95?\n"));
}

TEST(a_daemon_that_goes_in_the_middle_of_its_answer_is_said_to_have_gone) {
    place *p = place_new(NULL);

    opens_a_door();
    CHECK_STRANGER(p, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"daemon\":", 1,
                   "the daemon stopped or closed the connection");
    place_forget_said(p);
    CHECK_STRANGER(p, "", 1, "the daemon stopped or closed the connection");
    place_forget_said(p);
    CHECK_STRANGER(p, "HTTP/1.1 200 OK\r\n", 1, "diurnal: http://127.0.0.1:");
}

TEST(an_answer_without_an_end_is_not_waited_for) {
    static char answer[1 << 20] = "HTTP/1.1 200 OK\r\n\r\n";
    place      *p = place_new(NULL);

    opens_a_door();
    memset(answer + 19, ' ', sizeof answer - 20);
    const int code = status_of_stranger(p, answer, 100);
    CHECK_INT(code, 1);
    CHECK(place_has_said(p, "the answer is too long for a diurnal daemon"));
}

TEST(a_problem_steers_no_terminal) {
    place *p = place_new(NULL);

    opens_a_door();
    CHECK_STRANGER(p,
                   "HTTP/1.1 400 Bad Request\r\n\r\n"
                   "{\"detail\":\"\\u001b[2J\\nhello\"}",
                   2, "diurnal: ?[2J?hello\n");
}

/* A daemon whose disk is full says so before it has all of a file. */
TEST(an_upload_that_is_refused_before_its_end_says_why) {
    static char       csv[4 << 20];
    static const char answer[] = "HTTP/1.1 507 Insufficient Storage\r\nConnection: close\r\n\r\n"
                                 "{\"detail\":\"the disk is full: make room\"}";
    place            *p = place_new(NULL);
    int               status = 0;

    opens_a_door();
    memset(csv, '\n', sizeof csv);
    const char *path = place_write(p, "users.csv", csv, sizeof csv);
    CHECK(setenv("DIURNAL_TOKEN", "diurnal_of-the-test", 1) == 0);
    const pid_t command = place_begin(p, ARGS("users", "import", path, "--url", url_of(door_port)));
    answers_many(answer, sizeof answer - 1, 1);
    CHECK(waitpid(command, &status, 0) == command);
    CHECK_INT(WEXITSTATUS(status), 1);
    CHECK_MSG(place_has_said(p, "diurnal: the disk is full: make room\n"), "%s",
              place_read(p->log));
    CHECK(place_has_said(p, "importing the whole file again is safe"));
    CHECK_MSG(strstr(head, "\r\nContent-Type: text/csv\r\n"), "%s", head);
}

/* Asleep, with nothing else to do: whatever it is to ask before it goes on has been asked. */
static bool sleeps(pid_t pid) {
    char  path[64], state = 0;
    FILE *stat = NULL;

    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    stat = fopen(path, "re");
    if (stat && fscanf(stat, "%*d %*s %c", &state) != 1) state = 0;
    if (stat) (void)fclose(stat);
    return state == 'S';
}

/* A daemon waits for a minute, and a program that makes users may take longer for the next one. */
TEST(what_comes_slowly_keeps_no_daemon_waiting) {
    static const char answer[] =
        "HTTP/1.1 200 OK\r\n\r\n"
        "{\"accepted\":2,\"rejected\":0,\"begin_tomorrow\":0,\"errors\":[]}";
    place        *p = place_new(NULL);
    char          pipe_path[PLACE_PATH + 16];
    int           status = 0;
    struct pollfd knock = {.events = POLLIN};

    opens_a_door();
    knock.fd = door;
    (void)snprintf(pipe_path, sizeof pipe_path, "%.400s/users.csv", p->dir);
    CHECK(mkfifo(pipe_path, 0600) == 0);
    CHECK(setenv("DIURNAL_TOKEN", "diurnal_of-the-test", 1) == 0);
    const pid_t command =
        place_begin(p, ARGS("users", "import", pipe_path, "--url", url_of(door_port)));
    const int fd = open(pipe_path, O_WRONLY | O_CLOEXEC);
    CHECK(fd >= 0);
    CHECK(write(fd, "ada,08:00\nbob,", 14) == 14);
    int left = 14;
    WAIT_FOR(ioctl(fd, FIONREAD, &left) == 0 && left == 0 && sleeps(command), 20000);
    CHECK_INT(poll(&knock, 1, 0), 0);
    CHECK(write(fd, "09:00\n", 6) == 6);
    (void)close(fd);
    head[0] = '\0';
    answers_many(answer, sizeof answer - 1, 1);
    CHECK(waitpid(command, &status, 0) == command);
    CHECK_INT(WEXITSTATUS(status), 0);
    CHECK_MSG(place_has_said(p, "2 users registered, 0 lines refused"), "%s", place_read(p->log));
}

/* ---- Where it asks ---- */

static void nobody_knocked(void) {
    struct pollfd knock = {.fd = door, .events = POLLIN};

    CHECK_MSG(poll(&knock, 1, 0) == 0, "he was asked, and it said: %s", place_said());
}

static void sets(const char *variable, const char *value) {
    CHECK((value ? setenv(variable, value, 1) : unsetenv(variable)) == 0);
}

/* As the daemon that signed last would have, of the door; pin: "" or a line. */
static void puts_url(const place *p, const char *host, const char *pin) {
    char      text[512], path[PLACE_PATH + 32];
    const int len = snprintf(text, sizeof text, "%s:%u\n%s%s", host, door_port,
                             place_read(in_data(p, "lock")), pin);

    (void)snprintf(path, sizeof path, "%s", in_data(p, "url"));
    FILE *file = fopen(path, "we");
    CHECK(file && fwrite(text, 1, (size_t)len, file) == (size_t)len && fclose(file) == 0);
}

/* As whoever opens the store does; until the end of the test. */
static int holds(const char *lock) {
    const int fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    CHECK(fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0);
    return fd;
}

TEST(who_runs_the_tests_has_his_own_daemon_left_alone) {
    opens_a_door();
    sets("DIURNAL_URL", url_of(door_port));
    sets("DIURNAL_TOKEN", "diurnal_of-a-developer");
    sets("DIURNAL_CA", "/nowhere");
    sets("DIURNAL_DATA", "/nowhere");
    (void)place_new(NULL);
    CHECK_INT(place_run_bare(ARGS("users", "rm", "bob"), NULL), 1);
    CHECK_SAID("no daemon runs in ./diurnal-data");
    nobody_knocked();
}

/* However the directory comes to be the one: by a flag, a variable, or because it is here. */
TEST(the_token_of_a_directory_is_for_no_url_but_its_own_daemon_s) {
    place *p = served();
    char   here[PLACE_PATH + 32], own[64];

    opens_a_door();
    (void)snprintf(own, sizeof own, "%s", url_of(place_port(p)));
    (void)snprintf(here, sizeof here, "%s/diurnal-data", p->dir);
    CHECK(symlink(p->data, here) == 0);
    CHECK_RUN(p, 1, "status", "--url", url_of(door_port));
    CHECK_SAID("no token for http://127.0.0.1:");
    CHECK_SAID("is only for the daemon there");
    CHECK_INT(place_run_bare(ARGS("status", "--url", url_of(door_port)), NULL), 1);
    CHECK_SAID("no token for http://127.0.0.1:");
    CHECK_INT(place_run_bare(ARGS("status", "--url", own), NULL), 0);
    sets("DIURNAL_DATA", p->data);
    CHECK_INT(place_run_bare(ARGS("status", "--url", url_of(door_port)), NULL), 1);
    sets("DIURNAL_URL", url_of(door_port));
    CHECK_INT(place_run_bare(ARGS("status"), NULL), 1);
    nobody_knocked();
    sets("DIURNAL_URL", own);
    CHECK_INT(place_run_bare(ARGS("status"), NULL), 0);
    stops(p);
    CHECK_INT(place_run_bare(ARGS("status"), NULL), 1); /* there, too, anybody may listen now */
    CHECK_SAID("no token for http://127.0.0.1:");
}

TEST(a_directory_that_a_flag_names_comes_before_a_url_of_the_environment) {
    place *p = served();

    opens_a_door();
    sets("DIURNAL_URL", url_of(door_port));
    CHECK_RUN(p, 0, "users", "set", "bob", "--due", "08:00");
    CHECK_RUN(p, 0, "users", "rm", "bob");
    nobody_knocked();
    stops(p);
    CHECK_RUN(p, 0, "audit"); /* also where the store is read */
    nobody_knocked();
}

TEST(the_daemon_of_a_data_directory_is_found_by_it_and_by_its_url) {
    place *p = served();
    char   token[128];

    token_of(p, token);
    CHECK_RUN(p, 0, "status");
    CHECK_RUN(p, 0, "status", "--url", url_of(place_port(p))); /* the token is the directory's */
    CHECK_INT(place_run_bare(ARGS("status", "--url", url_of(place_port(p))), NULL), 1);
    CHECK_SAID("no token for http://127.0.0.1:");
    CHECK(setenv("DIURNAL_URL", url_of(place_port(p)), 1) == 0);
    CHECK(setenv("DIURNAL_TOKEN", token, 1) == 0);
    CHECK_INT(place_run_bare(ARGS("status"), NULL), 0);
    CHECK(setenv("DIURNAL_TOKEN", "diurnal_nobody-s", 1) == 0);
    CHECK_INT(place_run_bare(ARGS("status"), NULL), 1);
    CHECK_SAID("does not accept the token from DIURNAL_TOKEN");
    const char *file = place_write(p, "token", token, strlen(token));
    CHECK_INT(place_run_bare(ARGS("status", "--token-file", file), NULL), 0);
    CHECK(setenv("DIURNAL_TOKEN", "two words", 1) == 0);
    CHECK_INT(place_run_bare(ARGS("status"), NULL), 2);
    CHECK_SAID("DIURNAL_TOKEN has no token");
    CHECK(setenv("DIURNAL_TOKEN", "diurnal_nobody-s", 1) == 0);
    CHECK_INT(place_run_bare(ARGS("users", "import", file), NULL), 1);
    CHECK(!strstr(place_said(), "may be registered"));
    CHECK_INT(place_run_bare(ARGS("status", "--token-file", "/etc/passwd"), NULL), 2);
    CHECK_SAID("/etc/passwd has no token");
    CHECK_INT(place_run_bare(ARGS("status", "--token-file", "/nowhere"), NULL), 2);
    CHECK_SAID("/nowhere: there is no such file");
    CHECK(unsetenv("DIURNAL_URL") == 0 && unsetenv("DIURNAL_TOKEN") == 0);
    stops(p);
    CHECK(access(in_data(p, "url"), F_OK) < 0);
}

TEST(a_url_that_is_none_is_refused_in_a_line_that_says_what_one_is) {
    static const struct {
        const char *url, *words;
    } rows[] = {
        {"localhost:1440", "is not a URL; use for example http://127.0.0.1:1440"},
        {"ftp://localhost", "is not a URL"},
        {"http://", "is not a URL"},
        {"http://admin:secret@localhost", "put the token into DIURNAL_TOKEN"},
        {"http://localhost/?token=x", "give only the address of the daemon"},
        {"http://localhost/#x", "give only the address of the daemon"},
    };
    place *p = place_new(NULL);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK_RUN(p, 2, "status", "--url", rows[i].url);
        CHECK_SAID("diurnal: --url: ");
        CHECK_SAID(rows[i].words);
    }
    has_a_closed_door();
    CHECK(setenv("DIURNAL_TOKEN", "diurnal_x", 1) == 0);
    CHECK_RUN(p, 1, "status", "--url", url_of(door_port));
    CHECK_SAID("no server listens there; start one with diurnal serve, or name another --url");
    CHECK_RUN(p, 1, "status", "--url", "http://nowhere.invalid");
    CHECK_SAID("http://nowhere.invalid"); /* a network may say something of every name */
}

/* Its address may be somebody else's by now, who would like to have the token. */
TEST(what_a_killed_daemon_left_is_not_believed) {
    place *p = served();

    place_signal(p, SIGKILL);
    (void)place_wait(p);
    CHECK(access(in_data(p, "url"), F_OK) == 0);
    opens_a_door();
    puts_url(p, "http://127.0.0.1", "");
    CHECK_RUN(p, 1, "status");
    CHECK_SAID("no daemon runs in ");
    /* Nor while somebody has the directory to look at its store. */
    const int lock = holds(in_data(p, "lock"));
    CHECK(pwrite(lock, "7 7.000000007\n", 14, 0) == 14 && ftruncate(lock, 14) == 0);
    CHECK_RUN(p, 1, "status");
    CHECK_SAID("is in use by a process without an address; ");
    CHECK_RUN(p, 1, "status", "--url", url_of(door_port));
    CHECK_SAID("no token for ");
    nobody_knocked();
    /* One that could not sign, because the disk is full. */
    CHECK(ftruncate(lock, 0) == 0);
    puts_url(p, "http://127.0.0.1", "");
    CHECK_RUN(p, 1, "status");
    nobody_knocked();
}

/* In a folder of many, as /tmp: who has put a directory there does not get a token that is for a daemon. */
TEST(a_directory_that_is_merely_here_is_believed_if_it_is_of_this_user) {
    enum { OTHER = 65534 };
    place *p = place_new(NULL);

    if (geteuid() != 0) {
        fprintf(stderr, "skipped: only root can be somebody else\n");
        return;
    }
    (void)snprintf(p->data, sizeof p->data, "%.400s/diurnal-data", p->dir);
    CHECK(mkdir(p->data, 0755) == 0);
    opens_a_door();
    const int lock = holds(in_data(p, "lock"));
    CHECK(write(lock, "7 7.000000007\n", 14) == 14);
    puts_url(p, "http://127.0.0.1", "");
    sets("DIURNAL_TOKEN", "diurnal_x");
    for (int i = 0; i < 2; i++) {
        CHECK(chown(in_data(p, i ? "url" : "lock"), OTHER, OTHER) == 0);
        CHECK_INT(place_run_bare(ARGS("status"), NULL), 1);
        CHECK_SAID(i ? "diurnal-data/url belongs to another user (uid 65534); to"
                     : "diurnal-data/lock belongs to another user (uid 65534); to");
        CHECK_RUN(p, 1, "status"); /* it is named, but of nobody whose that directory is */
        CHECK_SAID("belongs to another user");
        CHECK(chown(in_data(p, i ? "url" : "lock"), 0, 0) == 0);
    }
    nobody_knocked();
    (void)close(door);
    has_a_closed_door();
    puts_url(p, "http://127.0.0.1", "");
    CHECK(chown(in_data(p, "lock"), OTHER, OTHER) == 0 &&
          chown(in_data(p, "url"), OTHER, OTHER) == 0 && chown(p->data, OTHER, OTHER) == 0);
    CHECK_INT(place_run_bare(ARGS("status"), NULL), 1);
    CHECK_SAID("belongs to another user");
    CHECK_RUN(p, 1, "status");
    CHECK_SAID("no server listens there");
}

TEST(a_directory_somebody_has_who_does_not_listen_is_said_to_have_no_address) {
    place *p = served();

    CHECK(unlink(in_data(p, "url")) == 0);
    CHECK_RUN(p, 1, "status");
    CHECK_SAID(
        "is in use by a process without an address; it may still be starting, else name its --url");
    stops(p);
}

TEST(a_daemon_that_cannot_write_where_it_is_serves_who_knows_it) {
    place *p = place_new(NULL);
    char   token[128];

    CHECK(mkdir(p->data, 0700) == 0 && mkdir(in_data(p, "url.new"), 0700) == 0);
    place_serve(p, ARGS(RUNNER));
    CHECK(place_has_said(p, "url.unwritten: commands need --url and a token: "));
    CHECK_RUN(p, 1, "status");
    CHECK_SAID("without an address; it may still be starting");
    token_of(p, token);
    CHECK(setenv("DIURNAL_TOKEN", token, 1) == 0);
    CHECK_RUN(p, 0, "status", "--url", url_of(place_port(p)));
    stops(p);
}

/* Another user of the machine: he finds the daemon, and not its token. */
TEST(a_token_that_may_not_be_read_is_one_line) {
    place *p = place_new(NULL);
    int    status = 0;

    if (geteuid() != 0) {
        fprintf(stderr, "skipped: only root can be somebody else\n");
        return;
    }
    place_copy_program(p);
    place_serve(p, ARGS(RUNNER));
    CHECK(chmod(p->dir, 0755) == 0 && chmod(p->program, 0755) == 0 && chmod(p->data, 0755) == 0);
    for (int i = 0; i < 2; i++) {
        const pid_t command = place_begin_other(
            p, "setpriv",
            ARGS("--reuid=65534", "--clear-groups", p->program, "status", "--data", p->data),
            "other");
        char path[PLACE_PATH + 16];
        CHECK(waitpid(command, &status, 0) == command);
        CHECK_INT(WEXITSTATUS(status), 1);
        (void)snprintf(path, sizeof path, "%s/other", p->dir);
        const char *said = place_read(path);
        CHECK_MSG(strstr(said, i ? "/admin.token: this user may not read it; ask the operator of "
                                   "the daemon for a token"
                                 : "/lock cannot be opened: Permission denied; ask the operator"),
                  "it said: %s", said);
        CHECK(chmod(in_data(p, "lock"), 0644) == 0 && chmod(in_data(p, "url"), 0644) == 0);
    }
    stops(p);
}

/* As after a backup was put in place of what was lost. */
TEST(a_data_directory_without_its_token_has_a_new_one_at_the_next_start) {
    place *p = served();
    char   before[128], after[128];

    token_of(p, before);
    CHECK(!place_has_said(p, "is still valid"));
    stops(p);
    CHECK(unlink(in_data(p, "admin.token")) == 0);
    place_serve(p, ARGS(RUNNER));
    CHECK_RUN(p, 0, "status");
    token_of(p, after);
    CHECK(strcmp(before, after) != 0);
    CHECK(place_has_said(p, "/admin.token; an older token of this name is still valid: diurnal "
                            "token list shows it, diurnal token revoke ID revokes it"));
    stops(p);
    place_serve(p, ARGS(RUNNER));
    token_of(p, before);
    CHECK_STR(before, after);
    stops(p);
}

/* ---- HTTPS ---- */

TEST(a_daemon_by_https_is_known_by_its_key_and_elsewhere_by_who_is_trusted) {
    place *p = place_new(NULL);
    char   url[64], cert[PLACE_PATH + 16], key[PLACE_PATH + 16], flags[2][PLACE_PATH + 48];
    char   token[128];

    (void)snprintf(cert, sizeof cert, "%.400s/cert.pem", p->dir);
    (void)snprintf(key, sizeof key, "%.400s/key.pem", p->dir);
    certificate_write("DNS:localhost", cert, key);
    (void)snprintf(flags[0], sizeof flags[0], "--tls-certificate=%s", cert);
    (void)snprintf(flags[1], sizeof flags[1], "--tls-key=%s", key);
    place_serve(p, ARGS(RUNNER, flags[0], flags[1]));
    CHECK_RUN(p, 0, "status"); /* though it is not the certificate of 127.0.0.1 */
    CHECK_SAID("listens:  https://127.0.0.1:");
    (void)snprintf(url, sizeof url, "HTTPS://127.0.0.1:%u/", place_port(p));
    CHECK_RUN(p, 0, "status", "--url", url); /* likewise: it is the same one */
    (void)snprintf(url, sizeof url, "https://localhost:%u", place_port(p));
    CHECK_RUN(p, 1, "status", "--url", url);
    CHECK_SAID("no token for https://localhost:");
    token_of(p, token);
    sets("DIURNAL_TOKEN", token);
    CHECK_RUN(p, 1, "status", "--url", url);
    CHECK_SAID(": its certificate is not trusted; name its authority with --ca FILE");
    CHECK_RUN(p, 0, "status", "--url", url, "--ca", cert);
    CHECK(setenv("DIURNAL_CA", cert, 1) == 0);
    CHECK_RUN(p, 0, "status", "--url", url);
    (void)snprintf(url, sizeof url, "https://127.0.0.1:%u", place_port(p));
    CHECK_RUN(p, 1, "status", "--url", url);
    CHECK_SAID("or the host of the certificate in --url");
    CHECK_RUN(p, 1, "status", "--url", url, "--ca", "/nowhere");
    CHECK_SAID("the file of --ca cannot be read");
    CHECK_RUN(p, 1, "status", "--url", url_of(place_port(p))); /* http:// */
    door_port = place_port(p);
    puts_url(p, "https://127.0.0.1", "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n");
    sets("DIURNAL_TOKEN", NULL);
    CHECK_RUN(p, 1, "status");
    CHECK_SAID("the server there is not the daemon of this data directory");
    stops(p);
}
