/* scrape_bench.c - how long somebody who scrapes a running daemon waits, and what he gets.
 *
 *     bench_scrape HOST PORT N
 *
 * N scrapes of /metrics, one after another on one connection, as Prometheus does; each is checked to be whole. */
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

enum { PAGE = 1 << 20, WARM_UP = 10 };

static const char request[] =
    "GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: text/plain\r\n\r\n";

static _Noreturn void wrong(const char *what) {
    fprintf(stderr, "bench_scrape: %s\n", what);
    exit(1);
}

static double now_ms(void) {
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int connected(const char *host, const char *port) {
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo      *found = NULL;

    if (getaddrinfo(host, port, &hints, &found) != 0) wrong("there is no such host");
    const int fd = socket(found->ai_family, found->ai_socktype, 0);
    if (fd < 0 || connect(fd, found->ai_addr, found->ai_addrlen) < 0) wrong("nobody listens");
    freeaddrinfo(found);
    const int at_once = 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    return fd;
}

/* The body; it is there until the next scrape. */
static const char *scrape(int fd) {
    static char page[PAGE];
    size_t      len = 0;

    if (send(fd, request, sizeof request - 1, 0) != (ssize_t)sizeof request - 1)
        wrong("the daemon has gone");
    for (;;) {
        const ssize_t got = recv(fd, page + len, sizeof page - 1 - len, 0);
        if (got <= 0) wrong("the page is not whole, or too large");
        len += (size_t)got;
        page[len] = '\0';
        const char *body = strstr(page, "\r\n\r\n");
        if (!body) continue;
        const char *length = strcasestr(page, "content-length:");
        if (strncmp(page, "HTTP/1.1 200", 12) != 0 || !length || length > body)
            wrong("the page is not as expected");
        body += 4;
        if (len - (size_t)(body - page) == strtoul(length + 15, NULL, 10)) return body;
    }
}

static int series_in(const char *text) {
    int series = 0;

    for (const char *line = text; *line; line = strchr(line, '\n') + 1) series += *line != '#';
    return series;
}

static unsigned long users_in(const char *text) {
    const char *users = strstr(text, "\ndiurnal_users ");

    return users ? strtoul(users + 15, NULL, 10) : 0;
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    const long n = argc == 4 ? strtol(argv[3], NULL, 10) : 0;

    if (n < 1 || n > 1000000) wrong("want a host, a port and a number of scrapes");
    double *ms = calloc((size_t)n, sizeof *ms);
    if (!ms) wrong("no memory");
    const int   fd = connected(argv[1], argv[2]);
    const char *text = "";
    for (long i = -WARM_UP; i < n; i++) {
        const double from_ms = now_ms();
        text = scrape(fd);
        if (i >= 0) ms[i] = now_ms() - from_ms;
    }
    close(fd);
    qsort(ms, (size_t)n, sizeof *ms, by_size);
    const struct {
        const char *metric, *unit;
        double      value;
    } seen[] = {{"scrape_ms", "ms", ms[n / 2]},
                {"scrape_p99_ms", "ms", ms[n * 99 / 100]},
                {"series", "1", series_in(text)}};
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++)
        printf("{\"peer\":\"diurnal\",\"bench\":\"scrape\",\"n\":%lu,\"metric\":\"%s\","
               "\"value\":%.3f,\"unit\":\"%s\"}\n",
               users_in(text), seen[i].metric, seen[i].value, seen[i].unit);
    free(ms);
    return 0;
}
