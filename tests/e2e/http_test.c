/* http_test.c - the HTTP door as whoever knocks sees it. */
#define _GNU_SOURCE /* prlimit */
#include "place.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static place *serves(void) {
    place *p = place_new(NULL);

    place_serve(p, ARGS("--runner", "demo:"));
    return p;
}

static void stops(place *p) {
    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 0);
}

static const char *asks(const place *p, const char *text) {
    return place_asks(p, text, strlen(text));
}

static bool begins(const char *answer, const char *words) {
    return strncmp(answer, words, strlen(words)) == 0;
}

#define CHECK_ANSWER(answer, first, words)                                                         \
    do {                                                                                           \
        const char *const a_ = (answer);                                                           \
        CHECK_MSG(begins(a_, "HTTP/1.1 " first) && strstr(a_, (words)), "it is: %s", a_);          \
    } while (0)

TEST(a_daemon_that_is_up_says_so) {
    place *p = serves();

    CHECK_ANSWER(place_gets(p, "/healthz"), "200", "\r\n\r\nalive\n");
    CHECK_ANSWER(place_gets(p, "/readyz"), "200", "\r\n\r\nready\n");
    CHECK_ANSWER(place_gets(p, "/readyz?verbose"), "200",
                 "planner: ok, 0 users\nstore: ok\nready\n");
    stops(p);
}

TEST(what_is_not_there_and_what_is_not_allowed_is_a_problem_document) {
    place *p = serves();

    CHECK_ANSWER(place_gets(p, "/nothing"), "404", "Content-Type: application/problem+json");
    CHECK_ANSWER(place_gets(p, "/healthz/"), "404", "\"status\":404");
    CHECK_ANSWER(asks(p, "DELETE /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"), "405",
                 "Allow: GET, HEAD\r\n");
    stops(p);
}

/* And what comes behind a request that is refused is not taken for another one. */
TEST(a_request_that_could_be_read_in_two_ways_is_refused_and_ends_the_connection) {
    place *p = serves();

    const char *answer = asks(p, "POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n"
                                 "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
                                 "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK_ANSWER(answer, "400", "Connection: close");
    CHECK_PTR(strstr(answer, "alive"), NULL);
    CHECK_ANSWER(asks(p, "GET /healthz HTTP/1.1\nHost: a\n\n"), "400", "CR LF");
    stops(p);
}

/* Each in front of, between and behind other fields, with methods that have a body and others: what two readers could
 * read in two ways is never answered as a request, nor is what follows it. */
TEST(no_framing_that_can_be_read_in_two_ways_gets_past_the_door) {
    static const char *const fields[] = {
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        "Content-Length: 5\r\nContent-Length: 5\r\n",
        "Content-Length: 5\r\nContent-Length: 6\r\n",
        "Content-Length: 5, 5\r\n",
        "Content-Length: +5\r\n",
        "Content-Length: -1\r\n",
        "Content-Length: 5 5\r\n",
        "Content-Length: 0x5\r\n",
        "Content-Length:\r\n",
        "Content-Length: 9999999999999999999\r\n",
        "Content-Length : 5\r\n",
        " Content-Length: 5\r\n",
        "Content-Length\r\n",
        ": 5\r\n",
        "Content-Length: 5\n",
        "X: a\n",
        "X: a\rY: b\r\n",
        "X: a\r\n folded\r\n",
        "X: a\r\n\tfolded\r\n",
        "X: a\x01\r\n",
        "X: a\x7f\r\n",
        "X\x01: a\r\n",
        "X Y: a\r\n",
        "X(: a\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
        "Transfer-Encoding: identity\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding : chunked\r\n",
        "Transfer-Encoding: \013chunked\r\n",
        "Transfer-Encoding:\r\n",
        "Host: b\r\n",
        "Host: a b\r\n",
    };
    static const char *const methods[] = {"GET", "POST", "DELETE"};
    place                   *p = serves();
    int                      vectors = 0;

    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++)
        for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
            for (int at = 0; at < 3; at++, vectors++) {
                char request[1024];
                (void)snprintf(request, sizeof request,
                               "%s /healthz HTTP/1.1\r\n%sHost: a\r\n%sX-Other: b\r\n%s\r\n"
                               "0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: a\r\n\r\n",
                               methods[m], at == 0 ? fields[f] : "", at == 1 ? fields[f] : "",
                               at == 2 ? fields[f] : "");
                const char *answer = asks(p, request);
                CHECK_MSG(begins(answer, "HTTP/1.1 400 ") && strstr(answer, "Connection: close") &&
                              !strstr(answer, "alive"),
                          "vector %d: %s\nanswer: %s", vectors, request, answer);
            }
    CHECK(vectors >= 200);
    stops(p);
}

TEST(a_body_nobody_wants_is_not_taken_for_a_request) {
    place *p = serves();

    const char *answer = asks(p, "GET /nothing HTTP/1.1\r\nHost: a\r\nContent-Length: 42\r\n\r\n"
                                 "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK_ANSWER(answer, "404", "Connection: close");
    CHECK_PTR(strstr(answer, "alive"), NULL);
    stops(p);
}

TEST(requests_on_one_connection_are_answered_in_their_order) {
    place *p = serves();

    const char *answer = asks(p, "GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n"
                                 "\r\nHEAD /readyz HTTP/1.1\r\nHost: a\r\n\r\n"
                                 "GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n"
                                 "GET /healthz HTTP/1.0\r\n\r\n");
    CHECK_ANSWER(answer, "200", "ready\n");
    const char *second = strstr(answer, "ready\n") + 6;
    CHECK_ANSWER(second, "200", "Content-Length: 6\r\n");
    const char *third = strstr(second, "\r\n\r\n") + 4;
    CHECK_ANSWER(third, "404", "Not Found");
    CHECK_ANSWER(strstr(third, "}") + 1, "200", "alive\n");
    stops(p);
}

/* The length that is told in its head. */
static long told_length(const char *answer) {
    const char *at = strstr(answer, "\r\nContent-Length: ");

    CHECK_MSG(at, "it is: %s", answer);
    return strtol(at + strlen("\r\nContent-Length: "), NULL, 10);
}

TEST(a_head_has_the_length_of_the_get_and_no_body_also_where_it_is_refused) {
    /* Behind the method. */
    static const char *const requests[] = {
        " /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", /* 200 */
        " /nothing HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", /* 404 */
        " /healthz HTTP/1.1\r\n\r\n",                                 /* 400: no Host */
        " healthz HTTP/1.1\r\nHost: a\r\n\r\n",                       /* 400: no path */
        " /healthz HTTP/1.1\nHost: a\n\n",                            /* 400: not even a line */
        " /healthz HTTP/2.0\r\nHost: a\r\n\r\n",                      /* 505 */
        " /healthz HTTP/1.1\r\nHost: a\r\nExpect: x\r\n\r\n",         /* 417 */
    };
    place *p = serves();
    char   request[256];

    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        (void)snprintf(request, sizeof request, "GET%s", requests[i]);
        const char *got = asks(p, request);
        const long  length = told_length(got);
        CHECK_INT((long)strlen(strstr(got, "\r\n\r\n") + 4), length);
        (void)snprintf(request, sizeof request, "HEAD%s", requests[i]);
        const char *head = asks(p, request);
        CHECK_INT(told_length(head), length);
        CHECK_MSG(strcmp(strstr(head, "\r\n\r\n"), "\r\n\r\n") == 0, "it is: %s", head);
    }
    stops(p);
}

/* As many as there are places, all silent: whoever asks something gets in. */
TEST(many_who_say_nothing_keep_nobody_out) {
    enum { MANY = 1100 };
    place *p = serves();
    int   *fds = calloc(MANY, sizeof *fds);

    CHECK(fds);
    for (int i = 0; i < MANY; i++) {
        fds[i] = place_connect(p);
        CHECK(fds[i] >= 0);
        if (i % 2) CHECK_INT(send(fds[i], "GET /he", 7, MSG_NOSIGNAL), 7);
    }
    CHECK_ANSWER(place_gets(p, "/readyz"), "200", "ready");
    for (int i = 0; i < MANY; i++) (void)close(fds[i]);
    CHECK_ANSWER(place_gets(p, "/readyz"), "200", "ready");
    free(fds);
    stops(p);
}

/* From another address of this machine. */
static int connects_from(const place *p, const char *address) {
    struct sockaddr_in from = {.sin_family = AF_INET},
                       to = {.sin_family = AF_INET,
                             .sin_port = htons(place_port(p)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK(fd >= 0 && inet_pton(AF_INET, address, &from.sin_addr) == 1);
    CHECK_INT(bind(fd, (const struct sockaddr *)&from, sizeof from), 0);
    CHECK_INT(connect(fd, (const struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

/* Who came first has been silent longest, but has one place of a thousand. */
TEST(who_comes_a_thousand_times_takes_no_place_of_another) {
    enum { MANY = 1100 };
    static const char asks_for[] = "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    place            *p = serves();
    const int         first = connects_from(p, "127.0.0.2");
    int              *fds = calloc(MANY, sizeof *fds);
    char              answer[1024];
    size_t            len = 0;

    CHECK(fds);
    for (int i = 0; i < MANY; i++) fds[i] = connects_from(p, "127.0.0.3");
    CHECK_ANSWER(place_gets(p, "/readyz"), "200", "ready");
    CHECK_INT(send(first, asks_for, sizeof asks_for - 1, MSG_NOSIGNAL), sizeof asks_for - 1);
    for (ssize_t n; (n = recv(first, answer + len, sizeof answer - 1 - len, 0)) > 0;)
        len += (size_t)n;
    answer[len] = '\0';
    CHECK_MSG(strstr(answer, "alive"), "it is: %s", answer);
    for (int i = 0; i < MANY; i++) (void)close(fds[i]);
    (void)close(first);
    free(fds);
    stops(p);
}

/* All of one address, as behind a proxy: the import has been silent longest. */
TEST(strangers_put_out_nobody_who_was_let_in_and_sends) {
    enum { MANY = 1100 };
    place    *p = serves();
    char      path[PLACE_PATH + 16], head[512], answer[1024];
    int      *fds = calloc(MANY, sizeof *fds);
    const int import = place_connect(p);
    size_t    len = 0;

    CHECK(fds && import >= 0);
    (void)snprintf(path, sizeof path, "%s/admin.token", p->data);
    const char *token = strtok(place_read(path), "\n");
    CHECK(token);
    const int head_len =
        snprintf(head, sizeof head,
                 "POST /api/v1/daily/users:import HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
                 "Authorization: Bearer %s\r\nContent-Type: text/csv\r\nExpect: 100-continue\r\n"
                 "Content-Length: 10\r\n\r\n",
                 token);
    CHECK_INT(send(import, head, (size_t)head_len, MSG_NOSIGNAL), head_len);
    CHECK(recv(import, answer, sizeof answer, 0) > 0 && begins(answer, "HTTP/1.1 100"));
    for (int i = 0; i < MANY; i++) CHECK((fds[i] = place_connect(p)) >= 0);
    CHECK_ANSWER(place_gets(p, "/readyz"), "200", "ready");
    CHECK_INT(send(import, "ada,08:00\n", 10, MSG_NOSIGNAL), 10);
    for (ssize_t n; (n = recv(import, answer + len, sizeof answer - 1 - len, 0)) > 0;)
        len += (size_t)n;
    answer[len] = '\0';
    CHECK_ANSWER(answer, "200", "\"accepted\":1");
    for (int i = 0; i < MANY; i++) (void)close(fds[i]);
    (void)close(import);
    free(fds);
    stops(p);
}

/* A byte of a head now and then, on a thousand connections, and again where one was dropped. */
TEST(a_thousand_that_are_slow_keep_nobody_waiting) {
    enum { SLOW = 1000, ROUNDS = 30 };
    static const char head[] = "GET /api/v1/status HTTP/1.1\r\nHost: a\r\nX-Slow: 1\r\n";
    place            *p = serves();
    int              *fds = calloc(SLOW, sizeof *fds);

    CHECK(fds);
    for (int i = 0; i < SLOW; i++) fds[i] = place_connect(p);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < SLOW; i++) {
            if (send(fds[i], &head[round], 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1) continue;
            (void)close(fds[i]);
            fds[i] = place_connect(p);
        }
        CHECK_ANSWER(place_gets(p, "/healthz"), "200", "alive");
    }
    for (int i = 0; i < SLOW; i++) (void)close(fds[i]);
    free(fds);
    stops(p);
}

TEST(serve_refuses_a_taken_port_and_leaves_no_new_data_directory) {
    place *p = serves();
    char   taken[32], other[PLACE_PATH + 8];

    CHECK_RUN(p, 0, "status", "--json");
    const char *at = strstr(place_said(), "\"listen\":\"");
    CHECK(at);
    at += strlen("\"listen\":\"");
    snprintf(taken, sizeof taken, "%.*s", (int)strcspn(at, "\""), at);
    snprintf(other, sizeof other, "%s-other", p->data);
    CHECK_INT(place_run_bare(ARGS("serve", "--runner", "demo:", "--data", other, "--listen", taken),
                             NULL),
              1);
    CHECK_SAID("is in use by another program");
    CHECK_MSG(access(other, F_OK) < 0, "it leaves %s", other);
    stops(p);
}

TEST(an_address_that_others_reach_is_refused_unless_it_is_asked_for_by_name) {
    place *p = place_new(NULL);

    place_start(p, ARGS("--runner", "demo:", "--listen", "0.0.0.0:0"));
    CHECK_INT(place_wait(p), 2);
    CHECK(place_has_said(p, "--insecure-listen"));
    place_serve(p, ARGS("--runner", "demo:", "--listen", "0.0.0.0:0", "--insecure-listen"));
    CHECK(place_has_said(p, "http://0.0.0.0:"));
    stops(p);
}

TEST(while_running_jobs_end_whoever_knocks_is_refused_at_once) {
    place *p = serves();
    char   due[8];

    CHECK_RUN(p, 0, "users", "set", "ada", "--due", due_in(30, due));
    const int fd = place_connect(p);
    CHECK(fd >= 0);
    stops(p);
    char byte;
    CHECK(recv(fd, &byte, 1, 0) <= 0);
    (void)close(fd);
    CHECK_INT(place_connect(p), -1);
}

/* ---- Without descriptors ---- */

/* What is open stays open; nothing more can be. */
static void has_descriptors(const place *p, rlim_t soft) {
    struct rlimit limit;

    CHECK_INT(prlimit(p->daemon, RLIMIT_NOFILE, NULL, &limit), 0);
    limit.rlim_cur = soft < limit.rlim_max ? soft : limit.rlim_max;
    CHECK_INT(prlimit(p->daemon, RLIMIT_NOFILE, &limit, NULL), 0);
}

static int said_times(const place *p, const char *words) {
    const char *at = place_read(p->log);
    int         times = 0;

    for (; (at = strstr(at, words)); at++) times++;
    return times;
}

TEST(that_nobody_can_be_let_in_is_said_once_and_that_it_is_over_too) {
    place *p = serves();

    for (int i = 0; i < 3; i++) {
        has_descriptors(p, 3);
        const int waits = place_connect(p);
        CHECK(waits >= 0);
        WAIT_FOR(place_has_said(
                     p, "warn  http.accept: cannot accept connections: Too many open files\n"),
                 20000);
        has_descriptors(p, RLIM_INFINITY);
        CHECK_ANSWER(place_gets(p, "/healthz"), "200", "alive");
        (void)close(waits);
    }
    WAIT_FOR(place_has_said(p, "info  http.accept_over: connections are accepted again"), 20000);
    CHECK_INT(said_times(p, "http.accept:"), 1);
    stops(p);
}
