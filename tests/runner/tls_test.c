/* tls_test.c - an http runner over TLS: whom it trusts, and HTTP/2 where that is offered.
 * The peer has a certificate of its own making, for 127.0.0.1. */
#include "certificate.h"
#include "peer.h"
#include "stage.h"

#include <openssl/ssl.h>

/* Set before the peer begins, which is a copy of this process. */
static SSL_CTX *ctx;
static char     ca_path[64];
static char     url[80];

/* ---- A certificate ---- */

/* With ALPN: "h2" or "http/1.1", whichever the peer speaks. */
static const unsigned char *spoken;
static unsigned             spoken_len;

static int choose(SSL *ssl, const unsigned char **out, unsigned char *out_len,
                  const unsigned char *offered, unsigned len, void *arg) {
    unsigned char *chosen = NULL;

    (void)ssl, (void)arg;
    if (SSL_select_next_proto(&chosen, out_len, spoken, spoken_len, offered, len) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_NOACK;
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

/* A peer with a certificate for these names; what it says it speaks, as ALPN has it. */
static stage *stage_with_tls(peer_manner *manner, const char *names, const char *speaks) {
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509     *x = certificate(key, names);

    spoken = (const unsigned char *)speaks;
    spoken_len = (unsigned)strlen(speaks);
    ctx = SSL_CTX_new(TLS_server_method());
    CHECK(ctx && key && SSL_CTX_use_certificate(ctx, x) == 1);
    CHECK(SSL_CTX_use_PrivateKey(ctx, key) == 1);
    SSL_CTX_set_alpn_select_cb(ctx, choose, NULL);
    (void)snprintf(ca_path, sizeof ca_path, "/tmp/diurnal-tls-test-XXXXXX");
    const int fd = mkstemp(ca_path);
    FILE     *file = fdopen(fd, "w");
    CHECK(file && PEM_write_X509(file, x) == 1 && fclose(file) == 0);
    X509_free(x);
    EVP_PKEY_free(key);
    (void)signal(SIGPIPE, SIG_IGN); /* the peer's: OpenSSL writes to who has gone */
    const char *plain = peer_begins(manner);
    SSL_CTX_free(ctx);
    (void)snprintf(url, sizeof url, "https%s", plain + strlen("http"));
    return stage_of(url);
}

static void ends(void) {
    CHECK_INT(unlink(ca_path), 0);
    peer_sees_all_closed();
}

/* ---- HTTP/1.1 ---- */

/* As peer_reads, through TLS: a request whose body has a length. */
static bool reads(SSL *ssl) {
    char   text[PEER_REQUEST_MAX];
    size_t len = 0;

    for (;;) {
        const int n = SSL_read(ssl, text + len, (int)(sizeof text - 1 - len));
        if (n <= 0) return false;
        len += (size_t)n;
        text[len] = '\0';
        const char *body = strstr(text, "\r\n\r\n"), *length = strstr(text, "Content-Length:");
        if (!body || !length) continue;
        if (len < (size_t)(body + 4 - text) + strtoul(length + 15, NULL, 10)) continue;
        memcpy(peer_seen->request, text, len + 1);
        atomic_fetch_add(&peer_seen->requests, 1);
        return true;
    }
}

static void speaks_http1(int fd) {
    static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    SSL              *ssl = SSL_new(ctx);

    if (SSL_set_fd(ssl, fd) == 1 && SSL_accept(ssl) == 1)
        while (reads(ssl)) (void)SSL_write(ssl, answer, sizeof answer - 1);
    SSL_free(ssl);
}

TEST(over_tls_a_run_is_the_same_post_and_connections_are_kept) {
    stage *s = stage_with_tls(speaks_http1, "IP:127.0.0.1", "\x08http/1.1");

    for (int i = 0; i < 20; i++) stage_asks(s, "ada");
    s->config.ca_file = ca_path;
    stage_plays_clean(s);
    for (size_t i = 0; i < s->len; i++) CHECK_CAME(&s->runs[i], DN_OUTCOME_OK, DN_CODE_HTTP, 200);
    CHECK_MSG(strncmp(peer_seen->request, "POST /run HTTP/1.1\r\n", 20) == 0, "%s",
              peer_seen->request);
    CHECK_INT(atomic_load(&peer_seen->accepted), 1);
    ends();
}

TEST(a_certificate_nobody_vouches_for_is_an_error_and_nothing_is_said) {
    stage *s = stage_with_tls(speaks_http1, "IP:127.0.0.1", "\x08http/1.1");

    stage_asks(s, "ada");
    stage_plays_clean(s);
    CHECK_CAME(&s->runs[0], DN_OUTCOME_ERROR, DN_CODE_TRANSPORT, 0);
    CHECK_INT(atomic_load(&peer_seen->requests), 0);
    ends();
}

TEST(a_certificate_for_somebody_else_is_an_error_and_nothing_is_said) {
    stage *s = stage_with_tls(speaks_http1, "DNS:elsewhere.example", "\x08http/1.1");

    stage_asks(s, "ada");
    s->config.ca_file = ca_path;
    stage_plays_clean(s);
    CHECK_CAME(&s->runs[0], DN_OUTCOME_ERROR, DN_CODE_TRANSPORT, 0);
    CHECK_INT(atomic_load(&peer_seen->requests), 0);
    ends();
}

/* ---- HTTP/2: as little of RFC 9113 as answers a POST ---- */

enum {
    FRAME_HEAD = 9,
    FRAME_MAX = 16384,
    H2_DATA = 0,
    H2_HEADERS = 1,
    H2_SETTINGS = 4,
    H2_PING = 6
};
enum { END_STREAM = 1, END_HEADERS = 4, ACK = 1 };

static bool reads_whole(SSL *ssl, unsigned char *to, size_t len) {
    for (size_t at = 0; at < len;) {
        const int n = SSL_read(ssl, to + at, (int)(len - at));
        if (n <= 0) return false;
        at += (size_t)n;
    }
    return true;
}

static void writes_frame(SSL *ssl, int type, int flags, const unsigned char stream[4],
                         const unsigned char *body, size_t len) {
    unsigned char frame[FRAME_HEAD + 64] = {0, 0, (unsigned char)len, (unsigned char)type,
                                            (unsigned char)flags};

    memcpy(frame + 5, stream, 4);
    if (len) memcpy(frame + FRAME_HEAD, body, len);
    (void)SSL_write(ssl, frame, (int)(FRAME_HEAD + len));
}

static void speaks_http2(int fd) {
    static const unsigned char nobody[4], ok[] = {0x88}; /* :status 200, of the static table */
    unsigned char              head[FRAME_HEAD], body[FRAME_MAX], preface[24];
    SSL                       *ssl = SSL_new(ctx);

    if (SSL_set_fd(ssl, fd) != 1 || SSL_accept(ssl) != 1 ||
        !reads_whole(ssl, preface, sizeof preface) ||
        memcmp(preface, "PRI * HTTP/2.0\r\n", 16) != 0) {
        SSL_free(ssl);
        return;
    }
    writes_frame(ssl, H2_SETTINGS, 0, nobody, NULL, 0);
    while (reads_whole(ssl, head, FRAME_HEAD)) {
        const size_t len = (size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2];
        if (len > sizeof body || !reads_whole(ssl, body, len)) break;
        if (head[3] == H2_SETTINGS && !(head[4] & ACK))
            writes_frame(ssl, H2_SETTINGS, ACK, nobody, NULL, 0);
        if (head[3] == H2_PING && !(head[4] & ACK) && len == 8)
            writes_frame(ssl, H2_PING, ACK, nobody, body, len);
        if ((head[3] == H2_DATA || head[3] == H2_HEADERS) && head[4] & END_STREAM) {
            atomic_fetch_add(&peer_seen->requests, 1);
            writes_frame(ssl, H2_HEADERS, END_STREAM | END_HEADERS, head + 5, ok, sizeof ok);
        }
    }
    SSL_free(ssl);
}

TEST(where_it_is_offered_many_runs_share_one_connection_of_http2) {
    stage *s = stage_with_tls(speaks_http2, "IP:127.0.0.1", "\x02h2");

    for (int i = 0; i < 200; i++) stage_asks(s, "ada");
    s->config.ca_file = ca_path;
    s->config.http2 = true;
    s->at_once = 50;
    stage_plays_clean(s);
    for (size_t i = 0; i < s->len; i++) CHECK_CAME(&s->runs[i], DN_OUTCOME_OK, DN_CODE_HTTP, 200);
    CHECK_INT(atomic_load(&peer_seen->requests), 200);
    CHECK_INT(atomic_load(&peer_seen->accepted), 1);
    ends();
}

TEST(where_http2_is_not_offered_it_is_http1) {
    stage *s = stage_with_tls(speaks_http1, "IP:127.0.0.1", "\x08http/1.1");

    stage_asks(s, "ada");
    s->config.ca_file = ca_path;
    s->config.http2 = true;
    stage_plays_clean(s);
    CHECK_CAME(&s->runs[0], DN_OUTCOME_OK, DN_CODE_HTTP, 200);
    ends();
}

TEST(a_file_of_certificates_that_cannot_be_read_is_refused_before_anything_runs) {
    const dn_runner_config config = {
        .url = "https://127.0.0.1/", .concurrency_max = 1, .ca_file = "/nowhere/ca.pem"};
    char why[DN_RUNNER_WHY];

    CHECK_INT(dn_runner_check(&config, why), DN_EINVAL);
    CHECK_MSG(strstr(why, "/nowhere/ca.pem"), "%s", why);
}
