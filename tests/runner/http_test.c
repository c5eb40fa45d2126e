/* http_test.c - an http runner against endpoints of good and of bad manners. Each bad manner ends as
 * its result, within its limit, with every descriptor and every connection closed. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "http_sign.h"
#include "peer.h"
#include "stage.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <netdb.h>
#include <sys/resource.h>

enum { SOON_MS = 20000 }; /* "at once", on a machine that does much else */

static stage *stage_at(peer_manner *manner, const char **ids) {
    stage *s = stage_of(peer_begins(manner));

    for (; *ids; ids++) stage_asks(s, *ids);
    return s;
}

static stage *one_run_at(peer_manner *manner) {
    return stage_at(manner, (const char *[]){"ada", NULL});
}

/* Plays one run at a peer of that manner, which ends by itself as that. */
static void ends_as(peer_manner *manner, dn_outcome outcome, dn_code_kind kind, uint32_t code) {
    stage *s = one_run_at(manner);

    stage_plays_clean(s);
    CHECK_CAME(&s->runs[0], outcome, kind, code);
    CHECK(s->runs[0].after_ms < SOON_MS);
    peer_sees_all_closed();
}

/* Plays one run that would never end: first cut by its actor, then by idle_ms, then by its own limit. */
static void is_ended_by_every_limit(peer_manner *manner) {
    stage *s = one_run_at(manner);
    s->runs[0].cut_ms = 80;
    stage_plays_clean(s);
    CHECK_CAME(&s->runs[0], DN_OUTCOME_TIMEOUT, DN_CODE_NONE, 0);
    CHECK_STR(s->runs[0].answer.error, "cut off: its connection is closed");
    CHECK(s->runs[0].after_ms < SOON_MS);
    peer_sees_all_closed();
    peer_ends();

    s = one_run_at(manner);
    s->timeout_ms = 90;
    stage_plays_clean(s);
    CHECK_MSG(dn_run_outcome(s->runs[0].result) == DN_OUTCOME_TIMEOUT, "%s",
              s->runs[0].answer.error);
    CHECK(s->runs[0].after_ms < SOON_MS);
    peer_sees_all_closed();
}

static void is_ended_by_silence(peer_manner *manner) {
    stage *s = one_run_at(manner);

    s->config.idle_ms = 70;
    stage_plays_clean(s);
    CHECK_CAME(&s->runs[0], DN_OUTCOME_ERROR, DN_CODE_TRANSPORT, 0);
    CHECK_STR(s->runs[0].answer.error, "no data for 70 ms");
    peer_sees_all_closed();
}

/* ---- Good manners ---- */

static void answers_200(int fd) {
    while (peer_reads(fd)) (void)peer_says(fd, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
}

static const char *header_of(const char *name) {
    static char value[1024];
    char        find[64];

    (void)snprintf(find, sizeof find, "\r\n%s: ", name);
    const char *at = strstr(peer_seen->request, find);
    CHECK_MSG(at, "no header %s in: %s", name, peer_seen->request);
    at += strlen(find);
    (void)snprintf(value, sizeof value, "%.*s", (int)strcspn(at, "\r"), at);
    return value;
}

TEST(a_run_is_one_post_with_these_headers) {
    stage *s = stage_at(answers_200, (const char *[]){"ada.b", NULL});

    stage_plays_clean(s);
    CHECK_CAME(&s->runs[0], DN_OUTCOME_OK, DN_CODE_HTTP, 200);
    CHECK_STR(s->runs[0].answer.error, "");
    CHECK(strncmp(peer_seen->request, "POST /run HTTP/1.1\r\n", 20) == 0);
    CHECK_STR(header_of("Content-Type"), "application/json");
    CHECK_STR(header_of("User-Agent"), "diurnal");
    CHECK_STR(header_of("Idempotency-Key"), "work:ada.b");
    CHECK_STR(header_of("traceparent"), "00-00000000000000010000000000000002-0000000000000003-01");
    CHECK(strstr(peer_seen->request, "\r\n\r\n{\"id\":\"ada.b\"}"));
    CHECK(!strstr(peer_seen->request, "Expect"));
    CHECK(!strstr(peer_seen->request, "webhook"));
    CHECK_INT(atomic_load(&peer_seen->requests), 1);
}

TEST(a_secret_signs_what_is_sent) {
    static const char secret[] = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    stage            *s = stage_at(answers_200, (const char *[]){"a.b", NULL});
    char              expected[SIGN_TEXT_MAX], id[256];
    const char       *fault;
    signer           *sign;

    s->config.secret = secret;
    stage_plays_clean(s);
    (void)snprintf(id, sizeof id, "%s", header_of("webhook-id"));
    CHECK_STR(id, "work:a%2Eb");
    const char *body = strstr(peer_seen->request, "\r\n\r\n") + 4;
    CHECK_INT(signer_new(secret, &sign, &fault), DN_OK);
    CHECK_INT(signer_sign(sign, id, strtoll(header_of("webhook-timestamp"), NULL, 10), body,
                          strlen(body), expected),
              DN_OK);
    CHECK_STR(header_of("webhook-signature"), expected);
    signer_free(sign);
}

TEST(a_proxy_of_the_environment_is_not_used) {
    setenv("http_proxy", "http://127.0.0.1:1/", 1);
    setenv("ALL_PROXY", "http://127.0.0.1:1/", 1);
    ends_as(answers_200, DN_OUTCOME_OK, DN_CODE_HTTP, 200);
}

static void answers_llm(int fd) {
    (void)peer_reads(fd);
    (void)peer_says(fd, "HTTP/1.1 502 Bad\r\nContent-Type: application/json; charset=utf-8\r\n"
                        "Content-Length: 21\r\n\r\n{\"error_class\":\"llm\"}");
}

TEST(the_body_and_the_type_of_an_answer_are_told) {
    stage *s = one_run_at(answers_llm);

    stage_plays_clean(s);
    CHECK_CAME(&s->runs[0], DN_OUTCOME_ERROR, DN_CODE_HTTP, 502);
    CHECK_STR(s->runs[0].answer.error, "HTTP 502");
    CHECK_BODY(&s->runs[0], "{\"error_class\":\"llm\"}");
    CHECK(s->runs[0].answer.json && !s->runs[0].answer.truncated);
}

static void answers_limited(int fd) {
    (void)peer_reads(fd);
    (void)peer_says(fd, "HTTP/1.1 429 Slow\r\nContent-Type: text/plain\r\nRetry-After: 30\r\n"
                        "X-RateLimit-Remaining: 0\r\nX-RateLimit-Reset-After: 0.25\r\n"
                        "X-RateLimit-Bucket: b1\r\nX-RateLimit-Global: true\r\n"
                        "Content-Length: 4\r\n\r\nslow");
}

TEST(rate_limits_of_an_answer_are_told) {
    stage               *s = one_run_at(answers_limited);
    const dn_run_answer *a = &s->runs[0].answer;

    stage_plays_clean(s);
    CHECK_CAME(&s->runs[0], DN_OUTCOME_ERROR, DN_CODE_HTTP, 429);
    CHECK_BODY(&s->runs[0], "slow");
    CHECK(!a->json && a->rate_limit_global);
    CHECK_INT(a->retry_after_ms, 30000);
    CHECK_INT(a->rate_limit_remaining, 0);
    CHECK_INT(a->rate_limit_reset_ms, 250);
    CHECK_STR(a->rate_limit_bucket, "b1");
}

enum { MIB = 1 << 20 };

static void answers_its_body(int fd) {
    static char body[MIB];
    char        some[65536];
    size_t      len = 0;

    memset(body, 'b', sizeof body);
    while (len < MIB) { /* the head of the request, and a MiB of body */
        const ssize_t n = read(fd, some, sizeof some);
        if (n <= 0) return;
        len += (size_t)n;
    }
    (void)peer_says(fd, "HTTP/1.1 200 OK\r\nContent-Length: 1048576\r\n\r\n");
    (void)peer_sends(fd, body, sizeof body);
    peer_waits(fd);
}

TEST(a_mib_goes_out_and_a_mib_comes_back) {
    stage *s = one_run_at(answers_its_body);
    char  *bytes;

    s->runs[0].body = dn_blob_new(MIB, &bytes);
    memset(bytes, 'a', MIB);
    stage_plays_clean(s);
    CHECK_CAME(&s->runs[0], DN_OUTCOME_OK, DN_CODE_HTTP, 200);
    CHECK_STR(s->runs[0].answer.error, "");
    CHECK_UINT(dn_blob_len(s->runs[0].answer.body), MIB);
    CHECK_INT(dn_blob_bytes_borrow(s->runs[0].answer.body)[MIB - 1], 'b');
    CHECK(!s->runs[0].answer.truncated);
}

static void answers_404(int fd) {
    (void)peer_reads(fd);
    (void)peer_says(fd, "HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\nno");
}

TEST(a_plain_error_has_its_status) { ends_as(answers_404, DN_OUTCOME_ERROR, DN_CODE_HTTP, 404); }

/* ---- Bad manners: nothing, or next to nothing ---- */

static void hangs_at_once(int fd) { peer_waits(fd); }

TEST(an_endpoint_that_hangs_after_accepting_is_cut_off) { is_ended_by_every_limit(hangs_at_once); }
TEST(silence_after_accepting_has_its_own_limit) { is_ended_by_silence(hangs_at_once); }

static void never_reads(int fd) {
    (void)fd;
    for (;;) pause();
}

TEST(an_endpoint_that_never_reads_is_cut_off) {
    stage *s = one_run_at(never_reads);

    s->runs[0].cut_ms = 80;
    stage_plays_clean(s);
    CHECK_INT(s->runs[0].messages, 1);
}

static void hangs_after_headers(int fd) {
    (void)peer_reads(fd);
    (void)peer_says(fd, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n");
    peer_waits(fd);
}

TEST(an_endpoint_that_hangs_after_its_headers_is_cut_off) {
    is_ended_by_every_limit(hangs_after_headers);
}
TEST(silence_after_headers_has_its_own_limit) { is_ended_by_silence(hangs_after_headers); }

static void hangs_within_a_header(int fd) {
    (void)peer_reads(fd);
    (void)peer_says(fd, "HTTP/1.1 200 OK\r\nContent-Le");
    peer_waits(fd);
}

TEST(an_endpoint_that_hangs_within_a_header_is_cut_off) {
    is_ended_by_every_limit(hangs_within_a_header);
}

static void trickles(int fd) {
    (void)peer_reads(fd);
    (void)peer_says(fd, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n");
    while (peer_says(fd, "x")) peer_naps(5);
}

TEST(an_endpoint_that_trickles_is_cut_off_all_the_same) { is_ended_by_every_limit(trickles); }

static void floods_with_informational_answers(int fd) {
    (void)peer_reads(fd);
    while (peer_says(fd, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\nX: y\r\n\r\n")) {}
}

TEST(a_flood_of_informational_answers_is_an_error) {
    ends_as(floods_with_informational_answers, DN_OUTCOME_ERROR, DN_CODE_TRANSPORT, 102);
}

/* ---- Connections that are never made ---- */

/* A listener whose queue is full, so that no handshake with it ever ends. Returns its port. */
static uint16_t listens_and_never_accepts(void) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t          len = sizeof at;
    const int          listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK_INT(bind(listener, (struct sockaddr *)&at, sizeof at), 0);
    CHECK_INT(listen(listener, 0), 0);
    CHECK_INT(getsockname(listener, (struct sockaddr *)&at, &len), 0);
    for (int i = 0; i < 4; i++) {
        const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        (void)connect(fd, (struct sockaddr *)&at, sizeof at);
    }
    return ntohs(at.sin_port);
}

static stage *one_run_without_connection(void) {
    static char url[64];

    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/", listens_and_never_accepts());
    stage *s = stage_of(url);
    stage_asks(s, "ada");
    return s;
}

TEST(a_connect_that_takes_too_long_leaves_no_handle) {
    stage *s = one_run_without_connection();

    s->timeout_ms = 50;
    stage_plays_clean(s);
    CHECK_INT(dn_run_outcome(s->runs[0].result), DN_OUTCOME_TIMEOUT);
}

TEST(a_connect_that_is_cut_leaves_no_handle) {
    stage *s = one_run_without_connection();

    s->runs[0].cut_ms = 50;
    stage_plays_clean(s);
    CHECK_CAME(&s->runs[0], DN_OUTCOME_TIMEOUT, DN_CODE_NONE, 0);
}

/* ---- Bad manners: too much ---- */

static void floods_ok(int fd) {
    static char much[64 * 1024];

    (void)peer_reads(fd);
    (void)peer_says(
        fd,
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4294967296\r\n\r\n");
    memset(much, '{', sizeof much);
    while (peer_sends(fd, much, sizeof much)) {}
}

TEST(of_four_gigabytes_the_status_counts_and_the_rest_is_not_read) {
    stage *s = one_run_at(floods_ok);

    stage_plays_clean(s);
    CHECK_CAME(&s->runs[0], DN_OUTCOME_OK, DN_CODE_HTTP, 200);
    CHECK_STR(s->runs[0].answer.error, "HTTP 200, the answer cut off at 1024 KiB");
    CHECK(s->runs[0].answer.truncated);
    CHECK_UINT(dn_blob_len(s->runs[0].answer.body), MIB);
    peer_sees_all_closed();
}

static void floods_error(int fd) {
    static char much[64 * 1024];

    (void)peer_reads(fd);
    (void)peer_says(
        fd,
        "HTTP/1.1 500 No\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
    memset(much, '[', sizeof much);
    while (peer_says(fd, "10000\r\n") && peer_sends(fd, much, sizeof much) &&
           peer_says(fd, "\r\n")) {}
}

TEST(an_error_without_end_is_a_plain_error) {
    ends_as(floods_error, DN_OUTCOME_ERROR, DN_CODE_HTTP, 500);
}

static void sends_headers_without_end(int fd) {
    (void)peer_reads(fd);
    (void)peer_says(fd, "HTTP/1.1 200 OK\r\n");
    while (peer_says(
        fd, "X-More: and more and more and more and more and more and more and more\r\n")) {}
}

TEST(headers_without_end_are_an_error) {
    ends_as(sends_headers_without_end, DN_OUTCOME_ERROR, DN_CODE_TRANSPORT, 200);
}

static void goes_on_without_end(int fd, const char *from) {
    static char much[16 * 1024];

    (void)peer_reads(fd);
    (void)peer_says(fd, from);
    memset(much, 'x', sizeof much);
    while (peer_sends(fd, much, sizeof much)) {}
}

static void ends_as_too_long(peer_manner *manner, uint32_t status) {
    stage *s = one_run_at(manner);

    stage_plays_clean(s);
    CHECK_CAME(&s->runs[0], DN_OUTCOME_ERROR, DN_CODE_TRANSPORT, status);
    CHECK_STR(s->runs[0].answer.error,
              "a header is too long, or memory is exhausted; all headers together may have 64 KiB");
    peer_sees_all_closed();
}

static void sends_a_header_without_end(int fd) {
    goes_on_without_end(fd, "HTTP/1.1 200 OK\r\nX-Long: ");
}

TEST(a_header_without_end_is_an_error) { ends_as_too_long(sends_a_header_without_end, 200); }

static void sends_a_first_line_without_end(int fd) { goes_on_without_end(fd, "HTTP/1.1 200 O"); }

TEST(a_first_line_without_end_is_an_error) { ends_as_too_long(sends_a_first_line_without_end, 0); }

static void sends_a_trailer_without_end(int fd) {
    goes_on_without_end(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                            "2\r\nok\r\n0\r\nX-Long: ");
}

TEST(a_trailer_without_end_is_an_error) { ends_as_too_long(sends_a_trailer_without_end, 200); }

static void ends_as_flood(peer_manner *manner, uint32_t status) {
    stage *s = one_run_at(manner);

    s->timeout_ms = 3600000; /* it is not that which ends it */
    stage_plays_clean(s);
    CHECK_CAME(&s->runs[0], DN_OUTCOME_ERROR, DN_CODE_TRANSPORT, status);
    CHECK_STR(s->runs[0].answer.error, "too much data that is neither headers nor body");
    peer_sees_all_closed();
}

static void extends_a_chunk_without_end(int fd) {
    goes_on_without_end(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=");
}

TEST(a_chunk_extension_without_end_is_an_error) { ends_as_flood(extends_a_chunk_without_end, 200); }

/* Each in a packet of its own, as a server without a buffer writes it. */
static void says_a_header_by_bytes(int fd) {
    const int at_once = 1;

    (void)peer_reads(fd);
    CHECK_INT(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once), 0);
    (void)peer_says(fd, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Long: ");
    for (int i = 0; i < 20000; i++) (void)peer_sends(fd, "x", 1);
    (void)peer_says(fd, "\r\n\r\n");
}

TEST(a_long_header_that_comes_by_bytes_is_no_flood) {
    ends_as(says_a_header_by_bytes, DN_OUTCOME_OK, DN_CODE_HTTP, 200);
}

static void extends_each_chunk_by_far(int fd) {
    static char much[16 * 1024];

    (void)peer_reads(fd);
    (void)peer_says(fd, "HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n");
    memset(much, 'x', sizeof much);
    while (peer_says(fd, "1;") && peer_sends(fd, much, sizeof much) && peer_says(fd, "\r\n!\r\n")) {
    }
}

/* By one bound or the other: libcurl may read all the body there may be at one go, as long as there is something to be read. */
TEST(chunks_that_are_extended_by_far_are_an_error) {
    ends_as(extends_each_chunk_by_far, DN_OUTCOME_ERROR, DN_CODE_TRANSPORT, 500);
}

static void extends_a_chunk_much(int fd) {
    static char much[256 * 1024];

    memset(much, 'x', sizeof much);
    while (peer_reads(fd))
        if (!peer_says(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;") ||
            !peer_sends(fd, much, sizeof much) || !peer_says(fd, "\r\nok\r\n0\r\n\r\n"))
            return;
}

/* Of all of them together it would be too much. */
TEST(chunks_that_are_extended_much_are_read_over_run_by_run) {
    stage *s = one_run_at(extends_a_chunk_much);

    for (int i = 0; i < 40; i++) stage_asks(s, "bob");
    stage_plays_clean(s);
    for (size_t i = 0; i < s->len; i++) CHECK_CAME(&s->runs[i], DN_OUTCOME_OK, DN_CODE_HTTP, 200);
    CHECK_INT(atomic_load(&peer_seen->accepted), 1);
}

/* ---- Bad manners: an end too early ---- */

static void closes_at_once(int fd) { (void)fd; }

TEST(a_connection_closed_at_once_is_an_error) {
    ends_as(closes_at_once, DN_OUTCOME_ERROR, DN_CODE_TRANSPORT, 0);
}

static void closes_after_reading(int fd) { (void)peer_reads(fd); }

TEST(no_answer_at_all_is_an_error) {
    ends_as(closes_after_reading, DN_OUTCOME_ERROR, DN_CODE_TRANSPORT, 0);
}

static void resets(int fd) {
    const struct linger none = {.l_onoff = 1};

    (void)peer_reads(fd);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
}

TEST(a_reset_is_an_error) { ends_as(resets, DN_OUTCOME_ERROR, DN_CODE_TRANSPORT, 0); }

static void closes_within_the_body(int fd) {
    (void)peer_reads(fd);
    (void)peer_says(fd, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf of");
}

TEST(a_body_shorter_than_it_said_is_an_error_even_after_a_200) {
    ends_as(closes_within_the_body, DN_OUTCOME_ERROR, DN_CODE_TRANSPORT, 200);
}

static void says_more_than_it_said(int fd) {
    while (peer_reads(fd))
        (void)peer_says(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok and some more");
}

TEST(a_body_longer_than_it_said_does_not_spill_into_the_next_answer) {
    stage *s = stage_at(says_more_than_it_said, (const char *[]){"a", "b", "c", NULL});

    stage_plays_clean(s);
    for (size_t i = 0; i < 3; i++) CHECK_CAME(&s->runs[i], DN_OUTCOME_OK, DN_CODE_HTTP, 200);
}

static void breaks_a_chunk(int fd) {
    (void)peer_reads(fd);
    (void)peer_says(fd,
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n");
    peer_waits(fd);
}

TEST(a_broken_chunk_is_an_error) {
    ends_as(breaks_a_chunk, DN_OUTCOME_ERROR, DN_CODE_TRANSPORT, 200);
}

static void promises_a_huge_chunk(int fd) {
    (void)peer_reads(fd);
    (void)peer_says(
        fd,
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffffffffff\r\nhello");
    peer_waits(fd);
}

TEST(a_chunk_longer_than_any_number_is_an_error) {
    ends_as(promises_a_huge_chunk, DN_OUTCOME_ERROR, DN_CODE_TRANSPORT, 200);
}

/* ---- Bad manners: something else ---- */

static void talks_garbage(int fd) {
    (void)peer_reads(fd);
    (void)peer_says(fd, "\x16\x03\x01 SSH-2.0 220 welcome\r\n\r\nhello");
}

TEST(garbage_is_an_error) { ends_as(talks_garbage, DN_OUTCOME_ERROR, DN_CODE_TRANSPORT, 0); }

static void answers_in_http_09(int fd) {
    (void)peer_reads(fd);
    (void)peer_says(fd, "<html>ok</html>");
}

TEST(an_answer_without_a_status_is_an_error) {
    ends_as(answers_in_http_09, DN_OUTCOME_ERROR, DN_CODE_TRANSPORT, 0);
}

static void lies_twice_about_its_length(int fd) {
    (void)peer_reads(fd);
    (void)peer_says(fd, "HTTP/1.1 200 OK\r\nContent-Length: -5\r\nContent-Length: "
                        "99999999999999999999999\r\n\r\nhello");
}

TEST(a_length_that_is_none_is_an_error_or_ends_with_the_connection) {
    stage *s = one_run_at(lies_twice_about_its_length);

    stage_plays_clean(s);
    CHECK_INT(s->runs[0].messages, 1);
    CHECK(s->runs[0].after_ms < SOON_MS);
}

static void switches_protocols(int fd) {
    (void)peer_reads(fd);
    (void)peer_says(
        fd, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nxxxx");
}

TEST(an_unasked_switch_of_protocols_ends) {
    stage *s = one_run_at(switches_protocols);

    s->timeout_ms = 500;
    stage_plays_clean(s);
    CHECK_INT(s->runs[0].messages, 1);
    CHECK(dn_run_outcome(s->runs[0].result) != DN_OUTCOME_OK);
}

static void answers_before_it_reads(int fd) {
    (void)peer_says(fd, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    shutdown(fd, SHUT_WR);
    peer_waits(fd);
}

TEST(an_answer_before_the_request_was_read_counts) {
    ends_as(answers_before_it_reads, DN_OUTCOME_OK, DN_CODE_HTTP, 200);
}

static void redirects_to_itself(int fd) {
    while (peer_reads(fd))
        (void)peer_says(fd, "HTTP/1.1 307 Go\r\nLocation: /run\r\nContent-Length: 0\r\n\r\n");
}

TEST(a_redirect_to_itself_is_an_error_and_not_followed) {
    ends_as(redirects_to_itself, DN_OUTCOME_ERROR, DN_CODE_HTTP, 307);
    CHECK_INT(atomic_load(&peer_seen->requests), 1);
}

static void redirects_to_metadata(int fd) {
    (void)peer_reads(fd);
    (void)peer_says(
        fd,
        "HTTP/1.1 302 Go\r\nLocation: http://169.254.169.254/latest\r\nContent-Length: 0\r\n\r\n");
}

TEST(a_redirect_to_a_metadata_address_is_an_error_and_not_followed) {
    ends_as(redirects_to_metadata, DN_OUTCOME_ERROR, DN_CODE_HTTP, 302);
}

static void closes_between_requests(int fd) {
    if (!peer_reads(fd)) return;
    (void)peer_says(fd,
                    "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"); /* and no word of closing */
}

TEST(a_kept_connection_that_was_closed_meanwhile_costs_no_run) {
    stage *s = one_run_at(closes_between_requests);

    for (int i = 0; i < 400 / TEST_SLOW_FACTOR; i++) stage_asks(s, "bob");
    stage_plays_clean(s);
    for (size_t i = 0; i < s->len; i++) CHECK_CAME(&s->runs[i], DN_OUTCOME_OK, DN_CODE_HTTP, 200);
}

/* ---- No endpoint ---- */

TEST(nobody_listening_is_an_error) {
    stage *s = one_run_at(answers_200);

    peer_ends();
    stage_plays_clean(s);
    CHECK_CAME(&s->runs[0], DN_OUTCOME_ERROR, DN_CODE_TRANSPORT, 0);
    CHECK_MSG(strstr(s->runs[0].answer.error, "Connection refused") ||
                  strstr(s->runs[0].answer.error, "connect"),
              "%s", s->runs[0].answer.error);
}

TEST(a_name_that_does_not_exist_is_an_error_for_all_who_wait) {
    stage *s = stage_of("http://no-such-host.invalid:8080/");

    for (int i = 0; i < 50; i++) stage_asks(s, "ada");
    s->at_once = 25;
    CHECK_INT(stage_plays(s), DN_OK);
    for (size_t i = 0; i < s->len; i++)
        CHECK_CAME(&s->runs[i], DN_OUTCOME_ERROR, DN_CODE_TRANSPORT, 0);
}

/* Stands before libc's: one name is known here, whatever the machine knows, and it is counted who asks for it. */
static const char the_name[] = "peer.test";
static atomic_int the_name_asked;

int getaddrinfo(const char *name, const char *service, const struct addrinfo *req,
                struct addrinfo **pai) {
    const struct addrinfo of_address = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};
    int (*next)(const char *, const char *, const struct addrinfo *, struct addrinfo **);

    *(void **)&next = dlsym(RTLD_NEXT, "getaddrinfo");
    if (!name || strcmp(name, the_name) != 0) return next(name, service, req, pai);
    atomic_fetch_add(&the_name_asked, 1);
    return next("127.0.0.1", service, &of_address, pai);
}

TEST(a_name_is_looked_up_once_and_used) {
    const char *url = peer_begins(NULL);
    char        named[64];

    (void)snprintf(named, sizeof named, "http://%s%s", the_name, strrchr(url, ':'));
    stage *s = stage_of(named);
    for (int i = 0; i < 100; i++) stage_asks(s, "ada");
    s->at_once = 10;
    CHECK_INT(stage_plays(s), DN_OK);
    for (size_t i = 0; i < s->len; i++) CHECK_CAME(&s->runs[i], DN_OUTCOME_OK, DN_CODE_HTTP, 200);
    CHECK(atomic_load(&peer_seen->accepted) <= 10);
    CHECK_INT(atomic_load(&the_name_asked), 1);
}

TEST(a_run_that_waits_for_its_name_can_be_cut_and_let_go) {
    stage *s = stage_of("http://no-such-host.invalid/");

    stage_asks(s, "ada")->cut_ms = 1;
    stage_asks(s, "bob")->twist = STAGE_FAILS;
    stage_asks(s, "cleo")->twist = STAGE_LEAVES;
    s->at_once = 3;
    CHECK_INT(stage_plays(s), DN_OK);
    CHECK_INT(s->runs[0].messages, 1);
}

/* ---- Being let go ---- */

TEST(an_actor_that_fails_takes_its_run_with_it) {
    stage *s = one_run_at(hangs_at_once);

    s->runs[0].twist = STAGE_FAILS;
    stage_asks(s, "bob")->twist = STAGE_LEAVES;
    stage_asks(s, "cleo")->cut_ms = 50;
    s->at_once = 3;
    stage_plays_clean(s);
    CHECK_INT(s->runs[0].messages, 0);
    CHECK_INT(s->runs[1].messages, 0);
    CHECK_INT(s->runs[2].messages, 1);
    peer_sees_all_closed();
}

TEST(a_run_cut_twice_ends_once) {
    stage *s = one_run_at(hangs_at_once);

    s->runs[0].twist = STAGE_CUTS_TWICE;
    s->runs[0].cut_ms = 20;
    stage_plays_clean(s);
    CHECK_INT(s->runs[0].messages, 1);
}

TEST(a_runner_that_goes_closes_what_is_under_way) {
    stage *s = one_run_at(hangs_at_once);

    for (int i = 0; i < 30; i++) stage_asks(s, "ada");
    s->at_once = 100;
    s->leaves_with = true;
    stage_plays_clean(s);
    peer_sees_all_closed();
}

TEST(a_runner_that_goes_with_its_connections_open_closes_them) {
    stage *s = stage_at(NULL, (const char *[]){"a", "b", "c", NULL});

    stage_plays_clean(s);
    peer_sees_all_closed();
}

/* ---- Many ---- */

TEST(a_thousand_at_once_share_a_thousand_connections) {
    stage *s = stage_of(peer_begins(NULL));

    for (int i = 0; i < 3000; i++) stage_asks(s, "ada");
    s->at_once = 1000;
    stage_plays_clean(s);
    for (size_t i = 0; i < s->len; i++) CHECK_CAME(&s->runs[i], DN_OUTCOME_OK, DN_CODE_HTTP, 200);
    CHECK_INT(atomic_load(&peer_seen->requests), 3000);
    CHECK_MSG(atomic_load(&peer_seen->accepted) <= 1000, "%d connections",
              atomic_load(&peer_seen->accepted));
    peer_sees_all_closed();
}

TEST(one_after_another_uses_one_connection) {
    stage *s = stage_of(peer_begins(NULL));

    for (int i = 0; i < 200; i++) stage_asks(s, "ada");
    stage_plays_clean(s);
    CHECK_INT(atomic_load(&peer_seen->accepted), 1);
}

TEST(hanging_runs_do_not_hold_up_the_others) {
    stage *s = stage_of(peer_begins(hangs_at_once));

    for (int i = 0; i < 300; i++) stage_asks(s, "ada")->cut_ms = 50 + i % 50;
    s->at_once = 150;
    stage_plays_clean(s);
    for (size_t i = 0; i < s->len; i++) {
        CHECK_INT(s->runs[i].messages, 1);
        CHECK_MSG(s->runs[i].after_ms < SOON_MS, "%lld", (long long)s->runs[i].after_ms);
    }
    peer_sees_all_closed();
}

/* ---- Many runners ---- */

enum { RUNNERS = 100 };

/* Stands before libcurl's, and counts. */
static int multis;

CURLM *curl_multi_init(void) {
    CURLM *(*next)(void);

    *(void **)&next = dlsym(RTLD_NEXT, "curl_multi_init");
    multis++;
    return next();
}

/* The last request is answered when the connections of all others are closed. */
static void answers_last_when_alone(int fd) {
    while (peer_reads(fd)) {
        while (atomic_load(&peer_seen->requests) > RUNNERS &&
               atomic_load(&peer_seen->closed) < RUNNERS - 1)
            peer_naps(1);
        (void)peer_says(fd, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    }
}

/* Asks with one runner after another; then only the first stays, and asks once more. */
typedef struct many {
    const stage *s;
    dn_runner   *runners[RUNNERS];
    dn_run      *run;
    int          asked;
} many;

static void many_asks(dn_self *self, many *m) {
    char                 key[64];
    const dn_run_request request = stage_request(m->s, &m->s->runs[0], dn_now_ms(self), key);

    CHECK_INT(dn_run_begin(m->runners[m->asked++ % RUNNERS], self, &request, STAGE_TOLD, &m->run),
              DN_OK);
    dn_own(self, m->run, dn_run_free);
}

static int many_init(dn_self *self, void *state, const void *config) {
    many *m = state;
    char  why[DN_RUNNER_WHY];

    m->s = *(stage *const *)config;
    for (int i = 0; i < RUNNERS; i++) {
        CHECK_INT(dn_runner_new(self, &m->s->config, &m->runners[i], why), DN_OK);
        dn_own(self, m->runners[i], dn_runner_free);
    }
    many_asks(self, m);
    return DN_OK;
}

static int many_on_told(dn_self *self, void *state, const dn_msg *msg) {
    many *m = state;

    CHECK_INT(dn_run_outcome(*DN_BODY(dn_run_result, msg)), DN_OUTCOME_OK);
    (void)dn_disown(self, m->run);
    dn_run_free(m->run);
    if (m->asked > RUNNERS) return DN_STOP;
    for (int i = 1; i < RUNNERS && m->asked == RUNNERS; i++) {
        (void)dn_disown(self, m->runners[i]);
        dn_runner_free(m->runners[i]);
    }
    many_asks(self, m);
    return DN_OK;
}

TEST(runners_of_a_loop_share_one_client_and_no_connection) {
    static const dn_handler rows[] = {{STAGE_TOLD, many_on_told}};
    static const dn_class class = {
        .name = "many", .state_size = sizeof(many), .init = many_init, .handlers = DN_SLICE(rows)};
    stage                  *s = one_run_at(answers_last_when_alone);
    const dn_spawn_spec     root = {.actor_class = &class, .config = &s};
    int                     leftovers = 0;
    const dn_runtime_config config = {.notice = stage_hush, .notice_context = &leftovers};
    dn_runtime             *rt;

    s->config.concurrency_max = 1;
    s->timeout_ms = SOON_MS;
    stage_warms_up();
    const int before = open_descriptors();
    CHECK_INT(dn_runtime_new(&config, &rt), DN_OK);
    CHECK_INT(dn_runtime_run(rt, &root), DN_OK);
    dn_runtime_free(rt);
    CHECK_INT(multis, 1);
    CHECK_INT(atomic_load(&peer_seen->accepted), RUNNERS);
    CHECK_INT(leftovers, 0);
    CHECK_INT(open_descriptors(), before);
    peer_sees_all_closed();
}

/* ---- Too few descriptors ---- */

static void lowers_the_limit(int spare) {
    const struct rlimit few = {(rlim_t)(open_descriptors() + 3 + spare),
                               (rlim_t)(open_descriptors() + 3 + spare)};

    CHECK_INT(setrlimit(RLIMIT_NOFILE, &few), 0);
}

TEST(without_descriptors_runs_are_errors_and_with_some_they_go_on) {
    stage *s = stage_of(peer_begins(NULL));

    for (int i = 0; i < 400; i++) stage_asks(s, "ada");
    s->at_once = 100;
    s->calm_from = 300;
    lowers_the_limit(30); /* the runtime needs about half of these */
    CHECK_INT(stage_plays(s), DN_OK);
    int ok = 0, error = 0;
    for (size_t i = 0; i < s->len; i++) {
        CHECK_INT(s->runs[i].messages, 1);
        if (dn_run_outcome(s->runs[i].result) == DN_OUTCOME_OK) {
            ok++;
            continue;
        }
        CHECK_CAME(&s->runs[i], DN_OUTCOME_ERROR, DN_CODE_TRANSPORT, 0);
        CHECK_MSG(strstr(s->runs[i].answer.error, "Too many open files"), "%s",
                  s->runs[i].answer.error);
        error++;
    }
    CHECK_MSG(ok > 0 && error > 0, "%d ok, %d errors", ok, error);
    for (size_t i = 310; i < s->len; i++) CHECK_CAME(&s->runs[i], DN_OUTCOME_OK, DN_CODE_HTTP, 200);
}

/* ---- A mailbox without room ---- */

enum { BUSY_SPINS = STAGE_BEGIN + 1, BUSY_MS = 150 };

static dn_runner *busy_runner;
static int64_t    busy_until_ms;
static int        busy_told;

static int busy_spins(dn_self *self) {
    return dn_send(self, dn_self_ref(self), BUSY_SPINS, NULL, 0);
}

static int busy_init(dn_self *self, void *state, const void *config) {
    const stage         *s = *(stage *const *)config;
    char                 key[64];
    const dn_run_request request = stage_request(s, &s->runs[0], dn_now_ms(self), key);
    dn_run              *run;
    char                 why[DN_RUNNER_WHY];

    (void)state;
    CHECK_INT(dn_runner_new(self, &s->config, &busy_runner, why), DN_OK);
    dn_own(self, busy_runner, dn_runner_free);
    CHECK_INT(dn_run_begin(busy_runner, self, &request, STAGE_TOLD, &run), DN_OK);
    dn_own(self, run, dn_run_free);
    busy_until_ms = stage_real_ms() + BUSY_MS;
    return busy_spins(self);
}

static int busy_on_spins(dn_self *self, void *state, const dn_msg *msg) {
    (void)state, (void)msg;
    return stage_real_ms() < busy_until_ms ? busy_spins(self) : DN_OK;
}

static int busy_on_told(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state;
    busy_told++;
    CHECK_INT(dn_run_outcome(*DN_BODY(dn_run_result, msg)), DN_OUTCOME_OK);
    CHECK(stage_real_ms() >= busy_until_ms);
    return DN_STOP;
}

TEST(a_message_without_room_comes_when_there_is_some) {
    static const dn_handler rows[] = {{BUSY_SPINS, busy_on_spins}, {STAGE_TOLD, busy_on_told}};
    static const dn_class   busy = {
          .name = "busy", .init = busy_init, .handlers = DN_SLICE(rows), .mailbox_max = 1};
    stage              *s = one_run_at(answers_200);
    const dn_spawn_spec root = {.actor_class = &busy, .config = &s};
    dn_runtime         *rt;

    CHECK_INT(dn_runtime_new(NULL, &rt), DN_OK);
    CHECK_INT(dn_runtime_run(rt, &root), DN_OK);
    dn_runtime_free(rt);
    CHECK_INT(busy_told, 1);
}
