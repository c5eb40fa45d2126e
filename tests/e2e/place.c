/* place.c - see place.h. */
#define _GNU_SOURCE
#include "place.h"

#include "openapi.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <netinet/in.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <utmp.h>

enum { ARGS_MAX = 64 };

static char  said[PLACE_SAID];
static place the_place;

static int remove_one(const char *path, const struct stat *about, int type, struct FTW *walk) {
    (void)about, (void)type, (void)walk;
    return remove(path);
}

/* Of a test that passes; one that fails leaves what it saw. */
static void remove_place(void) {
    (void)unlink(the_place.log);
    (void)nftw(the_place.dir, remove_one, /* nopenfd= */ 16, FTW_DEPTH | FTW_PHYS);
}

/* What the environment says of a daemon is of whoever runs the tests: his is not to be asked, nor told to remove anybody. */
static void forget_environment(void) {
    static const char ours[] = "DIURNAL_", of_tests[] = "DIURNAL_TEST_";
    char              name[256];

    for (char **at = environ; *at;) {
        if (strncmp(*at, ours, strlen(ours)) != 0 ||
            strncmp(*at, of_tests, strlen(of_tests)) == 0) {
            at++;
            continue;
        }
        (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(*at, "="), *at);
        CHECK(unsetenv(name) == 0); /* the next one stands here now */
    }
}

place *place_new(const char *base) {
    place *p = &the_place;

    forget_environment();
    (void)snprintf(p->dir, sizeof p->dir, "%s/diurnal-e2e-XXXXXX", base ? base : "/tmp");
    CHECK(mkdtemp(p->dir));
    CHECK(atexit(remove_place) == 0);
    (void)snprintf(p->data, sizeof p->data, "%.400s/data", p->dir);
    (void)snprintf(p->log, sizeof p->log, "%.400s/log", base ? "/tmp" : p->dir);
    if (base) {
        (void)snprintf(p->log, sizeof p->log, "/tmp/diurnal-e2e-log-XXXXXX");
        const int fd = mkstemp(p->log);
        CHECK(fd >= 0);
        (void)close(fd);
    }
    p->daemon = 0;
    return p;
}

/* ---- Time ---- */

int64_t mono_ms(void) {
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void pause_ms(int ms) { (void)poll(NULL, 0, ms); }

const char *due_in(int minutes, char out[8]) {
    const long minute = (long)((time(NULL) / 60 + minutes) % 1440);

    (void)snprintf(out, 8, "%02ld:%02ld", minute / 60, minute % 60);
    return out;
}

/* ---- Processes ---- */

/* In the child: becomes the program. Its settings come from the flags alone. */
_Noreturn static void become(const char *program, const char *const *first,
                             const char *const *second, pid_t parent) {
    const char *argv[ARGS_MAX] = {program};
    size_t      len = 1;

    for (; *first; first++) argv[len++] = *first;
    for (; second && *second; second++) argv[len++] = *second;
    argv[len] = NULL;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    execvp(program, (char *const *)(uintptr_t)argv);
    _exit(127);
}

static bool says(const char *const *args, const char *word) {
    while (*args && strcmp(*args, word) != 0) args++;
    return *args != NULL;
}

/* In a process of its own, which says what it says into the log, and its errors there. */
static pid_t begin(const char *program, const char *const *first, const char *const *second,
                   int log, int errors) {
    const pid_t parent = getpid();
    const pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        (void)setenv("DIURNAL_LOG_FORMAT", "text", /* overwrite= */ 0);
        (void)dup2(log, STDOUT_FILENO);
        (void)dup2(errors, STDERR_FILENO);
        become(program, first, second, parent);
    }
    return child;
}

static int log_open(const char *path) {
    const int log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

    CHECK(log >= 0);
    return log;
}

void place_keep_errors_apart(place *p) {
    (void)snprintf(p->errors, sizeof p->errors, "%.400s/errors", p->dir);
    (void)close(log_open(p->errors));
}

void place_forget_said(place *p) {
    struct stat about;

    CHECK(stat(p->log, &about) == 0);
    p->log_at = about.st_size;
}

static void start(place *p, const char *const *first, const char *const *args) {
    const int log = log_open(p->log), errors = *p->errors ? log_open(p->errors) : log;

    place_forget_said(p);
    p->daemon = begin(*p->program ? p->program : DIURNAL_PROGRAM, first, args, log, errors);
    if (errors != log) (void)close(errors);
    (void)close(log);
}

/* Many of them at a time: each listens where there is room. */
void place_start(place *p, const char *const *args) {
    start(
        p,
        ARGS("serve", "--data", p->data, says(args, "--listen") ? NULL : "--listen", "127.0.0.1:0"),
        args);
}

void place_copy_program(place *p) {
    const int from = open(DIURNAL_PROGRAM, O_RDONLY | O_CLOEXEC);
    ssize_t   len;

    (void)snprintf(p->program, sizeof p->program, "%.400s/diurnal", p->dir);
    const int to = open(p->program, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    CHECK(from >= 0 && to >= 0);
    do len = sendfile(to, from, NULL, 1 << 30);
    while (len > 0);
    CHECK(len == 0);
    (void)close(to);
    (void)close(from);
}

pid_t place_begin(const place *p, const char *const *args) {
    const int   log = log_open(p->log);
    const pid_t child = begin(DIURNAL_PROGRAM, args, ARGS("--data", p->data), log, log);

    (void)close(log);
    return child;
}

pid_t place_begin_at_terminal(const place *p, const char *const *args, int rows, int cols,
                              int *out_terminal) {
    const struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols};
    const pid_t          parent = getpid();
    int                  terminal, side;

    CHECK(openpty(&terminal, &side, NULL, NULL, &size) == 0);
    CHECK(fcntl(terminal, F_SETFD, FD_CLOEXEC) == 0);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        if (login_tty(side) < 0) _exit(127);
        become(DIURNAL_PROGRAM, args, ARGS("--data", p->data), parent);
    }
    (void)close(side);
    *out_terminal = terminal;
    return child;
}

pid_t place_begin_other(const place *p, const char *program, const char *const *args,
                        const char *log) {
    char path[PLACE_PATH];

    (void)snprintf(path, sizeof path, "%.400s/%s", p->dir, log);
    const int   fd = log_open(path);
    const pid_t child = begin(program, args, NULL, fd, fd);

    (void)close(fd);
    return child;
}

pid_t place_begin_in_shell(const place *p, const char *line, const char *log) {
    return place_begin_other(p, "sh", ARGS("-c", line, DIURNAL_PROGRAM, p->data), log);
}

static char words[PLACE_SAID];

bool place_has_said(const place *p, const char *text) {
    const int log = open(p->log, O_RDONLY | O_CLOEXEC);
    ssize_t   len;

    CHECK(log >= 0);
    len = pread(log, words, sizeof words - 1, p->log_at);
    (void)close(log);
    words[len > 0 ? len : 0] = '\0';
    return strstr(words, text) != NULL;
}

bool place_is_ready(const place *p) { return place_has_said(p, "diurnal is ready"); }

uint16_t place_port(const place *p) {
    static const char mark[] = "://127.0.0.1:"; /* HTTP or HTTPS */

    CHECK(place_has_said(p, mark));
    for (const char *at = words; (at = strstr(at, mark));) {
        char      *end;
        const long port = strtol(at += sizeof mark - 1, &end, 10);
        if (strncmp(end, "/metrics", 8) == 0) return (uint16_t)port; /* else it is a runner's */
    }
    CHECK_MSG(false, "it does not say where it listens: %s", words);
    return 0;
}

static int connect_to(uint16_t port) {
    const struct sockaddr_in there = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK(fd >= 0);
    if (connect(fd, (const struct sockaddr *)&there, sizeof there) == 0) return fd;
    (void)close(fd);
    return -1;
}

int place_connect(const place *p) { return connect_to(place_port(p)); }

static const char *asks(uint16_t port, const char *bytes, size_t len) {
    static char answer[PLACE_SAID];
    const int   fd = connect_to(port);
    size_t      got = 0;

    CHECK_MSG(fd >= 0, "nobody listens");
    CHECK_INT(send(fd, bytes, len, MSG_NOSIGNAL), (ssize_t)len);
    for (ssize_t n; (n = recv(fd, answer + got, sizeof answer - 1 - got, 0)) > 0;) got += (size_t)n;
    (void)close(fd);
    answer[got] = '\0';
    return answer;
}

const char *place_asks(const place *p, const char *bytes, size_t len) {
    const char *answer = asks(place_port(p), bytes, len);

    const char *fault = openapi_fault(bytes, len, answer);

    CHECK_MSG(!fault, "%s", fault);
    return answer;
}

static const char *gets_at(uint16_t port, const char *path, const char *version) {
    char request[1024];

    const int len =
        snprintf(request, sizeof request,
                 "GET %s HTTP/%s\r\nHost: localhost\r\nConnection: close\r\n\r\n", path, version);
    CHECK(len < (int)sizeof request);
    return asks(port, request, (size_t)len);
}

const char *place_gets(const place *p, const char *path) {
    return gets_at(place_port(p), path, "1.1");
}

const char *place_gets_at(uint16_t port, const char *path) { return gets_at(port, path, "1.0"); }

static void fail_with_log(const place *p, const char *what) {
    (void)place_has_said(p, "");
    const int log = open(p->log, O_RDONLY | O_CLOEXEC);
    ssize_t   len = pread(log, said, sizeof said - 1, p->log_at);
    said[len > 0 ? len : 0] = '\0';
    (void)close(log);
    CHECK_MSG(false, "%s; the daemon said: %s", what, said);
}

static void wait_until_ready(const place *p) {
    const int64_t until = mono_ms() + 20000 * TEST_SLOW_FACTOR;
    int           status;

    while (!place_is_ready(p)) {
        if (mono_ms() > until) fail_with_log(p, "not ready in time");
        if (waitpid(p->daemon, &status, WNOHANG) == p->daemon) fail_with_log(p, "it ended");
        pause_ms(2);
    }
}

void place_serve(place *p, const char *const *args) {
    place_start(p, args);
    wait_until_ready(p);
}

void place_serve_bare(place *p, const char *const *args) {
    start(p, ARGS("serve"), args);
    wait_until_ready(p);
}

void place_signal(const place *p, int signal) { CHECK(kill(p->daemon, signal) == 0); }

static int code_of(int status) {
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int place_wait(place *p) {
    const int64_t until = mono_ms() + 60000 * TEST_SLOW_FACTOR;
    int           status = 0;
    pid_t         ended;

    while ((ended = waitpid(p->daemon, &status, WNOHANG)) == 0) {
        if (mono_ms() > until) fail_with_log(p, "it did not end");
        pause_ms(2);
    }
    CHECK(ended == p->daemon);
    p->daemon = 0;
    return code_of(status);
}

/* ---- Commands ---- */

static void read_all(int fd) {
    size_t  len = 0;
    ssize_t got;

    while (len < sizeof said - 1 && (got = read(fd, said + len, sizeof said - 1 - len)) != 0)
        if (got > 0) len += (size_t)got;
        else if (errno != EINTR) break;
    said[len] = '\0';
}

/* dir: where it runs; NULL: where the test does. */
static int run(const char *dir, const char *const *args, const char *const *more,
               const char *input) {
    const pid_t parent = getpid();
    int         out[2], in[2], status = 0;

    CHECK(pipe2(out, O_CLOEXEC) == 0);
    CHECK(pipe2(in, O_CLOEXEC) == 0);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        (void)dup2(in[0], STDIN_FILENO);
        (void)dup2(out[1], STDOUT_FILENO);
        (void)dup2(out[1], STDERR_FILENO);
        if (dir && chdir(dir) < 0) _exit(127);
        become(DIURNAL_PROGRAM, args, more, parent);
    }
    (void)close(out[1]);
    (void)close(in[0]);
    /* It fits into the pipe. */
    if (input) CHECK(write(in[1], input, strlen(input)) == (ssize_t)strlen(input));
    (void)close(in[1]);
    read_all(out[0]);
    (void)close(out[0]);
    CHECK(waitpid(child, &status, 0) == child);
    return code_of(status);
}

int place_run(const place *p, const char *const *args) {
    return run(NULL, args, ARGS("--data", p->data), NULL);
}

int place_run_bare(const char *const *args, const char *input) {
    return run(*the_place.dir ? the_place.dir : NULL, args, NULL, input);
}

const char *place_said(void) { return said; }

char *place_read(const char *path) {
    static char text[PLACE_SAID];
    const int   fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t      len = 0;
    ssize_t     got;

    if (fd >= 0) {
        while ((got = read(fd, text + len, sizeof text - 1 - len)) > 0) len += (size_t)got;
        CHECK_MSG(len < sizeof text - 1, "%s is too long", path);
        (void)close(fd);
    }
    text[len] = '\0';
    return text;
}

const char *place_write(const place *p, const char *name, const void *bytes, size_t len) {
    static char path[PLACE_PATH];

    (void)snprintf(path, sizeof path, "%.400s/%s", p->dir, name);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(fd >= 0);
    CHECK(write(fd, bytes, len) == (ssize_t)len);
    (void)close(fd);
    return path;
}
