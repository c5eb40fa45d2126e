/* parts_test.c - the parts of a runner that are functions of their arguments. */
#include "exec_command.h"
#include "exec_output.h"
#include "http_address.h"
#include "http_headers.h"
#include "http_sign.h"
#include "last_line.h"
#include "scheme.h"
#include "test.h"
#include "traceparent.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Requests ---- */

TEST(a_traceparent_is_of_version_00_and_never_all_zeros) {
    char text[TRACEPARENT_TEXT];

    traceparent_write(
        (const uint64_t[]){0x0af7651916cd43dd, 0x8448eb211c80319c, 0xb7ad6b7169203331}, text);
    CHECK_STR(text, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    traceparent_write((const uint64_t[]){0, 0, 0}, text);
    CHECK_STR(text, "00-00000000000000000000000000000001-0000000000000001-01");
}

/* ---- Signatures ---- */

#define VECTOR_SECRET "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
#define VECTOR_ID     "msg_p5jXN8AQM9LWM0D4loKWxJek"
#define VECTOR_BODY   "{\"test\": 2432232314}"
#define VECTOR_SIGNED "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="

static const char *signed_with(const char *secrets, const char *body) {
    static char text[SIGN_TEXT_MAX];
    const char *fault = NULL;
    signer     *s;

    CHECK_INT(signer_new(secrets, &s, &fault), DN_OK);
    for (int i = 0; i < 2; i++) /* a key is used more than once */
        CHECK_INT(signer_sign(s, VECTOR_ID, 1614265330, body, strlen(body), text), DN_OK);
    signer_free(s);
    return text;
}

TEST(the_published_vector_of_standard_webhooks_is_met) {
    CHECK_STR(signed_with(VECTOR_SECRET, VECTOR_BODY), VECTOR_SIGNED);
}

TEST(every_secret_signs_in_its_order) {
    const char *text = signed_with(
        VECTOR_SECRET "  whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA " VECTOR_SECRET, VECTOR_BODY);
    const size_t one = strlen(VECTOR_SIGNED);

    CHECK_UINT(strlen(text), 3 * one + 2);
    CHECK(strncmp(text, VECTOR_SIGNED " v1,", one + 4) == 0);
    CHECK_STR(text + 2 * one + 2, VECTOR_SIGNED);
    CHECK(strncmp(text + one + 1, VECTOR_SIGNED, one) != 0);
}

TEST(another_body_has_another_signature) {
    CHECK(strcmp(signed_with(VECTOR_SECRET, VECTOR_BODY " "), VECTOR_SIGNED) != 0);
}

static const char *fault_of(const char *secrets) {
    const char *fault = NULL;
    signer     *s = NULL;

    CHECK_INT(signer_new(secrets, &s, &fault), DN_EINVAL);
    CHECK(!s && fault);
    return fault;
}

TEST(a_bad_secret_is_refused_with_what_is_wrong) {
    CHECK_STR(fault_of(""), "is empty");
    CHECK_STR(fault_of("  "), "is empty");
    CHECK_STR(fault_of("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), "does not begin with whsec_");
    CHECK_STR(fault_of(VECTOR_SECRET " wh"), "does not begin with whsec_");
    CHECK_STR(fault_of("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS"), "is not base64 after whsec_");
    CHECK_STR(fault_of("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa-w"), "is not base64 after whsec_");
    CHECK_STR(fault_of("whsec_====MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), "is not base64 after whsec_");
    CHECK_STR(fault_of("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB=="), "is not base64 after whsec_");
    CHECK_STR(fault_of("whsec_"), "has a key of the wrong length; want 24 to 64 bytes");
    CHECK_STR(fault_of("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="),
              "has a key of the wrong length; want 24 to 64 bytes");
    char longer[6 + 88 + 1] = "whsec_";
    memset(longer + 6, 'A', 88);
    CHECK_STR(fault_of(longer), "has a key of the wrong length; want 24 to 64 bytes");
    CHECK_STR(fault_of(VECTOR_SECRET " " VECTOR_SECRET " " VECTOR_SECRET " " VECTOR_SECRET
                                     " " VECTOR_SECRET),
              "is one of more than four; remove old ones");
}

TEST(a_padded_secret_of_25_bytes_is_one) {
    (void)signed_with("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==", "");
}

/* ---- Headers of an answer ---- */

/* 2015-10-21 07:27:00 */
#define NOW_MS INT64_C(1445412420000)

static dn_run_answer headers_read(const char *const *lines) {
    dn_run_answer a;

    answer_clear(&a);
    for (; *lines; lines++) http_header_read(&a, *lines, strlen(*lines), NOW_MS);
    return a;
}
#define HEADERS(...) headers_read((const char *const[]){__VA_ARGS__, NULL})

TEST(an_answer_without_these_headers_has_none) {
    const dn_run_answer a =
        HEADERS("HTTP/1.1 429 No\r\n", "Date: today\r\n", "Retry: 5\r\n", "\r\n", "R", "X");

    CHECK_INT(a.retry_after_ms, -1);
    CHECK_INT(a.rate_limit_remaining, -1);
    CHECK_INT(a.rate_limit_reset_ms, -1);
    CHECK_STR(a.rate_limit_bucket, "");
    CHECK(!a.rate_limit_global);
}

TEST(retry_after_is_seconds_or_a_date) {
    CHECK_INT(HEADERS("Retry-After: 120\r\n").retry_after_ms, 120000);
    CHECK_INT(HEADERS("retry-after:0\r\n").retry_after_ms, 0);
    CHECK_INT(HEADERS("RETRY-AFTER: 1.5 \r\n").retry_after_ms, 1500);
    CHECK_INT(HEADERS("Retry-After: Wed, 21 Oct 2015 07:28:00 GMT\r\n").retry_after_ms, 60000);
    CHECK_INT(HEADERS("Retry-After: Wed, 21 Oct 2015 07:00:00 GMT\r\n").retry_after_ms, 0);
    CHECK_INT(HEADERS("Retry-After: Sunday, 06-Nov-94 08:49:37 GMT\r\n").retry_after_ms, 0);
}

TEST(what_is_no_retry_after_is_as_if_it_had_not_come) {
    CHECK_INT(HEADERS("Retry-After: soon\r\n").retry_after_ms, -1);
    CHECK_INT(HEADERS("Retry-After: -5\r\n").retry_after_ms, -1);
    CHECK_INT(HEADERS("Retry-After: 5s\r\n").retry_after_ms, -1);
    CHECK_INT(HEADERS("Retry-After: 99999999999999\r\n").retry_after_ms, -1);
    CHECK_INT(HEADERS("Retry-After:\r\n").retry_after_ms, -1);
}

TEST(rate_limits_are_read_with_parts_of_a_second_rounded_up) {
    const dn_run_answer a =
        HEADERS("X-RateLimit-Remaining: 0\r\n", "x-ratelimit-reset-after: 1.3361\r\n",
                "X-RateLimit-Bucket: abcd1234\r\n", "X-RateLimit-Global: True\r\n");

    CHECK_INT(a.rate_limit_remaining, 0);
    CHECK_INT(a.rate_limit_reset_ms, 1337);
    CHECK_STR(a.rate_limit_bucket, "abcd1234");
    CHECK(a.rate_limit_global);
    CHECK(!HEADERS("X-RateLimit-Global: false\r\n").rate_limit_global);
}

TEST(headers_of_an_informational_answer_do_not_count) {
    const dn_run_answer a =
        HEADERS("HTTP/1.1 103 Early Hints\r\n", "Retry-After: 9\r\n", "X-RateLimit-Bucket: b\r\n",
                "\r\n", "HTTP/1.1 429 No\r\n", "X-RateLimit-Remaining: 7\r\n");

    CHECK_INT(a.retry_after_ms, -1);
    CHECK_STR(a.rate_limit_bucket, "");
    CHECK_INT(a.rate_limit_remaining, 7);
}

TEST(json_is_application_json_and_what_ends_in_it) {
    CHECK(http_type_is_json("application/json"));
    CHECK(http_type_is_json("Application/JSON;q=1"));
    CHECK(http_type_is_json("application/problem+json; charset=utf-8"));
    CHECK(!http_type_is_json("text/plain"));
    CHECK(!http_type_is_json("application/jsonl"));
    CHECK(!http_type_is_json("+json"));
    CHECK(!http_type_is_json(""));
    CHECK(!http_type_is_json(NULL));
}

/* ---- The end of an output ---- */

static void last_line_is(const char *text, const char *expected) {
    size_t      len;
    const char *line = dn_last_line(text, strlen(text), &len);

    CHECK_MSG(len == strlen(expected) && memcmp(line, expected, len) == 0,
              "of \"%s\" it is \"%.*s\"", text, (int)len, line);
}

TEST(the_last_line_is_the_last_with_something_in_it) {
    last_line_is("", "");
    last_line_is("\n \n", "");
    last_line_is("one", "one");
    last_line_is("one\n", "one");
    last_line_is("one\ntwo\n\n \r\n", "two");
    last_line_is("one\ntwo", "two");
    last_line_is("one\n   two  \n", "two");
    last_line_is(" \n\t one two", "one two");
}

/* Of a stream that comes in pieces its last max bytes are kept, and it is told if that is not all. */
static void output_keeps(const char *text, size_t max, size_t piece) {
    const size_t len = strlen(text), kept = len < max ? len : max;
    exec_output  o = {.max = max};

    for (size_t at = 0; at < len; at += piece)
        exec_output_add(&o, text + at, len - at < piece ? len - at : piece);
    exec_output_trim(&o);
    CHECK_MSG(o.len == kept && (kept == 0 || memcmp(o.bytes, text + len - kept, kept) == 0),
              "of \"%s\" by %zu \"%.*s\" is kept", text, piece, (int)o.len, o.bytes);
    CHECK_INT(o.truncated, len > max);
    CHECK(o.size <= 2 * max);
    exec_output_done(&o);
}

TEST(of_an_output_its_end_is_kept) {
    for (size_t max = 1; max < 12; max++)
        for (size_t piece = 1; piece < 30; piece++) {
            output_keeps("", max, piece);
            output_keeps("abc", max, piece);
            output_keeps("abcdefghijklmnopqrstuvwxyz", max, piece);
        }
}

/* ---- Addresses ---- */

static bool forbids(const char *host) {
    struct sockaddr_storage address;

    CHECK_MSG(address_of_host(host, &address), "%s is no address", host);
    return address_is_forbidden((const struct sockaddr *)&address);
}

TEST(link_local_and_metadata_addresses_are_forbidden_in_every_dress) {
    const char *const hosts[] = {"169.254.169.254",   "169.254.0.1",
                                 "100.100.100.200",   "fe80::1",
                                 "[febf::1]",         "fe80::1%eth0",
                                 "fd00:ec2::254",     "::ffff:169.254.1.1",
                                 "::169.254.169.254", "64:ff9b::169.254.169.254",
                                 "2002:a9fe:a9fe::1"};

    for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++)
        CHECK_MSG(forbids(hosts[i]), "%s", hosts[i]);
}

TEST(next_door_and_the_world_are_allowed) {
    const char *const hosts[] = {
        "127.0.0.1", "10.0.0.1",    "192.168.1.1",     "172.16.0.1",  "::1",    "fd00::1",
        "8.8.8.8",   "169.253.1.1", "::ffff:10.0.0.1", "2001:db8::1", "fec0::1"};

    for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++)
        CHECK_MSG(!forbids(hosts[i]), "%s", hosts[i]);
}

TEST(a_name_is_no_address) {
    struct sockaddr_storage address;

    CHECK(!address_of_host("localhost", &address));
    CHECK(!address_of_host("1.2.3", &address));
    CHECK(!address_of_host("", &address));
}

/* ---- Commands ---- */

TEST(a_command_is_split_at_spaces_with_quotes_and_backslashes) {
    const char *const want[] = {"/bin/x", "a", "b c", "", "d\"e", "f\\", "g h", "$HOME;'"};
    const char       *fault;
    command          *c;
    size_t            n = 0;

    CHECK_INT(command_new("/bin/x  a \"b c\" \"\" d\\\"e \"f\\\\\" g\\ h $HOME;' ", &c, &fault),
              DN_OK);
    for (; c->argv[n]; n++) CHECK_STR(c->argv[n], n < 8 ? want[n] : NULL);
    CHECK_UINT(n, 8);
    command_free(c);
}

TEST(the_daemons_own_variables_are_not_passed_on) {
    const char *fault;
    command    *c;
    bool        kept = false;

    setenv("DIURNAL_SECRET", "whsec_x", 1);
    setenv("TRACEPARENT", "old", 1);
    setenv("KEPT", "yes", 1);
    CHECK_INT(command_new("/bin/x", &c, &fault), DN_OK);
    for (size_t i = 0; i < c->env_len; i++) {
        CHECK(strncmp(c->env[i], "DIURNAL_", 8) != 0 && strncmp(c->env[i], "TRACEPARENT", 11) != 0);
        kept |= strcmp(c->env[i], "KEPT=yes") == 0;
    }
    CHECK(kept);
    command_free(c);
}
