/* look_bench.c - what somebody sees of a daemon who looks at it while others keep it busy.
 *
 *     bench_look HOST PORT healthz N          N times /healthz, each on a connection of its own: how long the answer takes
 *     bench_look HOST PORT ticks SECONDS NAME TOKEN    each tick of so long: how long it took, and how late it began; figures of NAME
 *
 * A tick is asked for by /api/v1/status, twenty times a second: so tick_ms is to be 100 or more. It begins at a multiple of
 * tick_ms, so how late it is is what is left over. */
#define _GNU_SOURCE
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER = 1 << 16, FIGURES_MAX = 100000, PAUSE_MS = 50 };

typedef struct figures {
    double each[FIGURES_MAX];
    int    len;
} figures;

static _Noreturn void wrong(const char *what) {
    fprintf(stderr, "bench_look: %s\n", what);
    exit(1);
}

static double now_ms(void) {
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int connected(const char *host, const char *port) {
    const struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    struct addrinfo      *found = NULL;
    const int             at_once = 1;

    if (getaddrinfo(host, port, &hints, &found) != 0) wrong("there is no such host");
    const int fd = socket(found->ai_family, found->ai_socktype, 0);
    if (fd < 0 || connect(fd, found->ai_addr, found->ai_addrlen) < 0) wrong("nobody listens");
    freeaddrinfo(found);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    return fd;
}

/* The answer, whole, valid until the next one. */
static const char *asks(int fd, const char *request) {
    static char answer[ANSWER];
    size_t      len = 0;

    if (send(fd, request, strlen(request), MSG_NOSIGNAL) < 0) wrong("the daemon has gone");
    for (;;) {
        const ssize_t got = recv(fd, answer + len, sizeof answer - 1 - len, 0);
        if (got <= 0) wrong("the answer is not whole");
        len += (size_t)got;
        answer[len] = '\0';
        const char *length = strstr(answer, "Content-Length: "), *body = strstr(answer, "\r\n\r\n");
        if (!length || !body) continue;
        if (len - (size_t)(body + 4 - answer) >= strtoul(length + 16, NULL, 10)) break;
    }
    if (strncmp(answer, "HTTP/1.1 200 ", 13) != 0) wrong(answer);
    return answer;
}

static void take(figures *f, double value) {
    if (f->len < FIGURES_MAX) f->each[f->len++] = value;
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double at_permille(const figures *f, int permille) {
    return f->each[(long)(f->len - 1) * permille / 1000];
}

static void say(figures *f, const char *bench, const char *what, const char *unit) {
    if (f->len == 0) wrong("nothing was seen");
    qsort(f->each, (size_t)f->len, sizeof *f->each, by_size);
    printf("{\"bench\":\"%s\",\"metric\":\"%s_p50\",\"n\":%d,\"value\":%.3f,\"unit\":\"%s\"}\n",
           bench, what, f->len, at_permille(f, 500), unit);
    printf("{\"bench\":\"%s\",\"metric\":\"%s_p99\",\"n\":%d,\"value\":%.3f,\"unit\":\"%s\"}\n",
           bench, what, f->len, at_permille(f, 990), unit);
}

static void healthz(const char *host, const char *port, int n) {
    static figures took;

    for (int i = 0; i < n; i++) {
        const double began = now_ms();
        const int    fd = connected(host, port);
        (void)asks(fd, "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        take(&took, now_ms() - began);
        (void)close(fd);
    }
    say(&took, "slow_clients", "healthz_ms", "ms");
}

static long number_behind(const char *text, const char *name) {
    const char *at = strstr(text, name);

    if (!at) wrong("the status is not as it was");
    return strtol(at + strlen(name), NULL, 10);
}

static void ticks(const char *host, const char *port, double seconds, const char *name,
                  const char *token) {
    static figures took, late;
    const int      fd = connected(host, port);
    const double   until = now_ms() + seconds * 1e3;
    char           request[512];
    long           last = 0;

    (void)snprintf(request, sizeof request,
                   "GET /api/v1/status HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\n\r\n",
                   token);
    while (now_ms() < until) {
        const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000};
        const char           *status = asks(fd, request), *at = strstr(status, "\"last_at\":\"");
        const long            tick = number_behind(status, "\"ticks\":");
        if (tick != last && last != 0 && at) {
            const long ms = number_behind(at + 29, "."); /* behind the date and the time of day */
            take(&took, (double)number_behind(status, "\"took_us\":"));
            take(&late, (double)(ms % number_behind(status, "\"tick_ms\":")));
        }
        last = tick;
        (void)nanosleep(&pause, NULL);
    }
    say(&took, name, "tick_us", "us");
    say(&late, name, "late_ms", "ms");
}

int main(int argc, char **argv) {
    if (argc == 5 && strcmp(argv[3], "healthz") == 0)
        healthz(argv[1], argv[2], (int)strtol(argv[4], NULL, 10));
    else if (argc == 7 && strcmp(argv[3], "ticks") == 0)
        ticks(argv[1], argv[2], strtod(argv[4], NULL), argv[5], argv[6]);
    else wrong("want HOST PORT healthz N, or HOST PORT ticks SECONDS NAME TOKEN");
    return 0;
}
