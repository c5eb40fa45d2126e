/* tls_test.c - the HTTP door with nobody listening in. */
#include "certificate.h"
#include "place.h"

#include <openssl/ssl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static char certificate_flag[PLACE_PATH + 32], key_flag[PLACE_PATH + 32], trusted[PLACE_PATH + 16];
static char admin[128];

/* Its certificate is made, and is trusted. */
static place *certified(void) {
    place *p = place_new(NULL);
    char   key[PLACE_PATH + 16];

    (void)signal(SIGPIPE, SIG_IGN); /* OpenSSL writes to who has gone */
    (void)snprintf(trusted, sizeof trusted, "%.400s/cert.pem", p->dir);
    (void)snprintf(key, sizeof key, "%.400s/key.pem", p->dir);
    certificate_write("IP:127.0.0.1", trusted, key);
    (void)snprintf(certificate_flag, sizeof certificate_flag, "--tls-certificate=%s", trusted);
    (void)snprintf(key_flag, sizeof key_flag, "--tls-key=%s", key);
    return p;
}

static place *serves(void) {
    place *p = certified();
    char   path[PLACE_PATH + 32];

    place_serve(p, ARGS("--runner", "exec:/bin/true", certificate_flag, key_flag));
    (void)snprintf(path, sizeof path, "%s/admin.token", p->data);
    (void)snprintf(admin, sizeof admin, "%.100s", place_read(path));
    admin[strcspn(admin, "\n")] = '\0';
    return p;
}

static void stops(place *p) {
    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 0);
}

/* ---- The other side ---- */

static SSL *joins(const place *p, int *out_fd) {
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    SSL     *ssl;

    CHECK(ctx && SSL_CTX_load_verify_locations(ctx, trusted, NULL) == 1);
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
    *out_fd = place_connect(p);
    CHECK(*out_fd >= 0);
    ssl = SSL_new(ctx);
    CHECK(ssl && SSL_set_fd(ssl, *out_fd) == 1 && SSL_connect(ssl) == 1);
    SSL_CTX_free(ctx);
    return ssl;
}

/* Says that, and reads to the end. */
static const char *asks_len(const place *p, const char *bytes, size_t len) {
    static char answer[1 << 20];
    int         fd, got;
    size_t      all = 0;
    SSL *const  ssl = joins(p, &fd);

    for (size_t at = 0; at < len;) {
        const int put = SSL_write(ssl, bytes + at, (int)(len - at < 100000 ? len - at : 100000));
        CHECK(put > 0);
        at += (size_t)put;
    }
    while ((got = SSL_read(ssl, answer + all, (int)(sizeof answer - 1 - all))) > 0)
        all += (size_t)got;
    answer[all] = '\0';
    SSL_free(ssl);
    (void)close(fd);
    return answer;
}

static const char *asks(const place *p, const char *text) {
    return asks_len(p, text, strlen(text));
}

#define CHECK_ANSWER(answer, first, words)                                                         \
    do {                                                                                           \
        const char *const a_ = (answer);                                                           \
        CHECK_MSG(strncmp(a_, "HTTP/1.1 " first, 12) == 0 && strstr(a_, (words)), "it is: %s",     \
                  a_);                                                                             \
    } while (0)

TEST(over_tls_all_is_as_without_it) {
    enum { USERS = 60000 };
    place *p = serves();
    char  *body = malloc((size_t)USERS * 40 + 1024), *at;

    CHECK_ANSWER(asks(p, "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"), "200",
                 "alive");
    CHECK_ANSWER(asks(p, "GET https://a/healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"),
                 "200", "alive");
    /* Several requests in one record, answered in their order. */
    const char *all = asks(p, "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
                              "GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n"
                              "GET /readyz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    CHECK_ANSWER(all, "200", "HTTP/1.1 404");
    CHECK(strstr(all, "ready\n"));
    /* And one request in many. */
    at = body + sprintf(body,
                        "POST /api/v1/daily/users:import HTTP/1.1\r\nHost: a\r\nConnection: "
                        "close\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n",
                        admin, USERS * 32);
    for (int i = 0; i < USERS; i++)
        at += sprintf(at, "{\"id\":\"u%05d\",\"due\":\"10:00\"}%*s\n", i, 32 - 30, "");
    CHECK_ANSWER(asks_len(p, body, (size_t)(at - body)), "200", "\"accepted\":60000");
    free(body);
    stops(p);
}

TEST(a_cookie_that_was_given_over_tls_is_sent_over_nothing_else) {
    place *p = serves();
    char   body[256], request[1024];

    (void)snprintf(body, sizeof body, "{\"token\":\"%s\"}", admin);
    (void)snprintf(request, sizeof request,
                   "POST /api/v1/session HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
                   "X-Diurnal-Request: 1\r\nContent-Length: %zu\r\n\r\n%s",
                   strlen(body), body);
    CHECK_ANSWER(asks(p, request), "200", "; HttpOnly; SameSite=Strict; Secure\r\n");
    stops(p);
}

/* Who speaks no TLS, half of it, or goes in the middle, hurts nobody. */
TEST(what_is_no_tls_is_not_answered_and_does_no_harm) {
    static const char          plain[] = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";
    place                     *p = serves();
    uint64_t                   state = test_seed();
    static const unsigned char hello_begins[] = {0x16, 0x03, 0x01, 0x02, 0x00, 0x01,
                                                 0x00, 0x01, 0xfc, 0x03, 0x03};
    char                       noise[2000];

    CHECK_PTR(strstr(place_asks(p, plain, sizeof plain - 1), "alive"), NULL);
    for (int i = 0; i < 50; i++) {
        const int fd = place_connect(p);
        CHECK(fd >= 0);
        for (size_t k = 0; k < sizeof noise; k++) noise[k] = (char)test_random(&state);
        if (i % 2) memcpy(noise, hello_begins, sizeof hello_begins);
        (void)send(fd, noise, 1 + test_random(&state) % sizeof noise, MSG_NOSIGNAL);
        (void)close(fd);
    }
    int  fd;
    SSL *ssl = joins(p, &fd); /* and goes without a word */
    (void)close(fd);
    SSL_free(ssl);
    CHECK_ANSWER(asks(p, "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"), "200",
                 "alive");
    stops(p);
}

TEST(old_versions_are_not_spoken) {
    place   *p = serves();
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    SSL     *ssl;

    CHECK(SSL_CTX_set_max_proto_version(ctx, TLS1_1_VERSION) == 1);
    SSL_CTX_set_security_level(ctx, 0);
    const int fd = place_connect(p);
    CHECK(fd >= 0);
    ssl = SSL_new(ctx);
    CHECK(ssl && SSL_set_fd(ssl, fd) == 1 && SSL_connect(ssl) != 1);
    SSL_free(ssl);
    SSL_CTX_free(ctx);
    (void)close(fd);
    stops(p);
}

TEST(with_a_certificate_other_machines_may_come_and_half_of_one_is_refused) {
    place *p = certified();
    char   data[PLACE_PATH + 16];

    (void)snprintf(data, sizeof data, "--data=%s", p->data);
    CHECK_INT(place_run_bare(ARGS("check-config", data, "--runner", "exec:/bin/true",
                                  "--listen=0.0.0.0:0", certificate_flag, key_flag),
                             NULL),
              0);
    CHECK_INT(
        place_run_bare(
            ARGS("check-config", data, "--runner", "exec:/bin/true", "--listen=0.0.0.0:0"), NULL),
        2);
    CHECK_SAID("tls_certificate");
    CHECK_INT(place_run_bare(
                  ARGS("check-config", data, "--runner", "exec:/bin/true", certificate_flag), NULL),
              2);
    CHECK_SAID("tls_certificate is set, but tls_key is not");
    CHECK_INT(place_run_bare(ARGS("check-config", data, "--runner", "exec:/bin/true", key_flag,
                                  "--tls-certificate=/nowhere"),
                             NULL),
              2);
    CHECK_SAID("tls_certificate: /nowhere cannot be read: No such file or directory");
}
