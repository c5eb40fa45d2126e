/* parts_test.c - the parts of a runner that are functions of their arguments. */
#include "address.h"
#include "answer.h"
#include "command.h"
#include "last_line.h"
#include "request.h"
#include "sign.h"
#include "test.h"
#include "traceparent.h"

#include <arpa/inet.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Requests ---- */

static dn_run_request request_for(const char *id) {
    return (dn_run_request){
        .type = DN_RUN_DAILY,
        .user_id = id,
        .user_id_len = strlen(id),
        .day = 20000,
        .due = 510,
        .attempt = 3,
        .context_epoch = 12,
        .now_ms = INT64_C(1728028800123),
        .timeout_ms = 60000,
    };
}

TEST(a_request_has_these_fields_in_this_order) {
    const dn_run_request r = request_for("ada");
    char                 body[REQUEST_BODY_MAX];

    const size_t len = request_body(&r, body);
    CHECK_UINT(len, strlen(body));
    CHECK_STR(
        body,
        "{\"type\":\"daily.run\",\"user_id\":\"ada\",\"day\":\"2024-10-04\",\"due\":\"08:30\","
        "\"attempt\":3,\"context_epoch\":12,\"deadline\":\"2024-10-04T08:01:00.123Z\"}");
}

TEST(a_hook_has_its_own_type_and_key) {
    dn_run_request r = request_for("ada");
    char           body[REQUEST_BODY_MAX], key[REQUEST_KEY_MAX];

    r.type = DN_RUN_CUTOFF;
    (void)request_body(&r, body);
    CHECK(strncmp(body, "{\"type\":\"daily.cutoff\",", 23) == 0);
    request_key(&r, key);
    CHECK_STR(key, "cutoff:ada:2024-10-04");
}

TEST(every_id_comes_back_from_the_json_as_it_was) {
    char ids[][DN_ID_MAX + 1] = {"\"",   "\\",       "a\"b\\c/d", "é", "漢字 \xf0\x9f\x8c\x99",
                                 "\x7f", "\x01\x1f", "%00"};

    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        const dn_run_request r = request_for(ids[i]);
        char                 body[REQUEST_BODY_MAX];
        const size_t         len = request_body(&r, body);
        json_t              *read = json_loadb(body, len, JSON_REJECT_DUPLICATES, NULL);
        CHECK_MSG(read, "%s", body);
        CHECK_STR(json_string_value(json_object_get(read, "user_id")), ids[i]);
        json_decref(read);
    }
}

TEST(the_longest_id_of_the_worst_bytes_fits) {
    char id[DN_ID_MAX + 1], body[REQUEST_BODY_MAX], key[REQUEST_KEY_MAX];

    for (int c = 1; c < 256; c++) {
        memset(id, c, DN_ID_MAX);
        id[DN_ID_MAX] = '\0';
        dn_run_request r = request_for(id);
        r.attempt = r.context_epoch = UINT32_MAX;
        r.type = DN_RUN_CUTOFF;
        CHECK(request_body(&r, body) < REQUEST_BODY_MAX);
        request_key(&r, key);
        CHECK(strlen(key) < REQUEST_KEY_MAX);
    }
}

TEST(a_key_is_visible_ascii_and_no_two_ids_share_one) {
    const char *const ids[] = {"a b", "a%20b", "é", "%C3%A9", "a\r\nX: y", "a:b"};
    const char *const keys[] = {"daily:a%20b:2024-10-04",         "daily:a%2520b:2024-10-04",
                                "daily:%C3%A9:2024-10-04",        "daily:%25C3%25A9:2024-10-04",
                                "daily:a%0D%0AX:%20y:2024-10-04", "daily:a:b:2024-10-04"};
    char              key[REQUEST_KEY_MAX];

    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        const dn_run_request r = request_for(ids[i]);
        request_key(&r, key);
        CHECK_STR(key, keys[i]);
    }
}

TEST(a_webhook_id_has_no_full_stop) {
    const dn_run_request r = request_for("ada@example.org");
    char                 id[REQUEST_KEY_MAX];

    request_webhook_id(&r, id);
    CHECK_STR(id, "daily:ada@example%2Eorg:2024-10-04");
}

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
              "is more than four");
}

TEST(a_padded_secret_of_25_bytes_is_one) {
    (void)signed_with("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==", "");
}

/* ---- Answers ---- */

static void http_means(uint32_t status, const char *type, const char *body, dn_outcome outcome,
                       dn_error_class cls) {
    bool                broken;
    const dn_run_result r =
        answer_of_http(status, type, body, strlen(body), /* cut_short= */ false, &broken);

    CHECK_MSG(dn_run_outcome(r) == outcome && dn_run_class(r) == cls && dn_run_code(r) == status,
              "%u %s %s: outcome %d class %d", status, type ? type : "-", body,
              (int)dn_run_outcome(r), (int)dn_run_class(r));
}

TEST(a_2xx_is_ok_whatever_its_body_is) {
    http_means(200, "application/json", "{}", DN_OUTCOME_OK, DN_CLASS_NONE);
    http_means(204, NULL, "", DN_OUTCOME_OK, DN_CLASS_NONE);
    http_means(299, "application/json", "{broken", DN_OUTCOME_OK, DN_CLASS_NONE);
    http_means(200, "application/json", "{\"error_class\":\"llm\"}", DN_OUTCOME_OK, DN_CLASS_NONE);
}

TEST(the_class_an_answer_names_is_its_class) {
    http_means(500, "application/json", "{\"error_class\":\"req\"}", DN_OUTCOME_ERROR,
               DN_CLASS_REQ);
    http_means(500, "application/json", "{\"error_class\":\"llm\"}", DN_OUTCOME_ERROR,
               DN_CLASS_LLM);
    http_means(422, "application/problem+json; charset=utf-8", "{\"error_class\":\"parse\"}",
               DN_OUTCOME_ERROR, DN_CLASS_PARSE);
    http_means(503, "Application/JSON;q=1", "{\"error_class\":\"unknown\"}", DN_OUTCOME_ERROR,
               DN_CLASS_UNKNOWN);
    http_means(500, NULL, " {\"error_class\":\"llm\"}", DN_OUTCOME_ERROR, DN_CLASS_LLM);
    http_means(500, "text/plain", "{\"error_class\":\"parse\"}", DN_OUTCOME_ERROR, DN_CLASS_PARSE);
}

TEST(a_class_that_is_none_is_unknown) {
    http_means(500, "application/json", "{\"error_class\":\"disk\"}", DN_OUTCOME_ERROR,
               DN_CLASS_UNKNOWN);
    http_means(500, "application/json", "{\"error_class\":7}", DN_OUTCOME_ERROR, DN_CLASS_UNKNOWN);
    http_means(500, "application/json", "{\"error_class\":null}", DN_OUTCOME_ERROR,
               DN_CLASS_UNKNOWN);
    http_means(500, "application/json", "{\"error_class\":\"llm\\u0000\"}", DN_OUTCOME_ERROR,
               DN_CLASS_UNKNOWN);
}

TEST(what_claims_to_be_json_and_is_not_is_parse) {
    http_means(500, "application/json", "<html>", DN_OUTCOME_ERROR, DN_CLASS_PARSE);
    http_means(500, "application/json", "{\"error_class\":\"llm\"", DN_OUTCOME_ERROR,
               DN_CLASS_PARSE);
    http_means(400, "application/x+json", "{} {}", DN_OUTCOME_ERROR, DN_CLASS_PARSE);
}

TEST(a_plain_http_error_is_req) {
    http_means(500, "text/html", "<html>", DN_OUTCOME_ERROR, DN_CLASS_REQ);
    http_means(500, "text/html", "{not json", DN_OUTCOME_ERROR, DN_CLASS_REQ);
    http_means(404, NULL, "", DN_OUTCOME_ERROR, DN_CLASS_REQ);
    http_means(503, "application/json", "", DN_OUTCOME_ERROR, DN_CLASS_REQ);
    http_means(503, "application/json", "{\"title\":\"busy\"}", DN_OUTCOME_ERROR, DN_CLASS_REQ);
    http_means(503, "application/json", "[1e400, 99999999999999999999]", DN_OUTCOME_ERROR,
               DN_CLASS_PARSE);
    http_means(503, "application/json", "[99999999999999999999]", DN_OUTCOME_ERROR, DN_CLASS_REQ);
    http_means(302, "application/json", "{\"error_class\":\"llm\"}", DN_OUTCOME_ERROR,
               DN_CLASS_REQ);
}

static void exit_means(int status, int signal, const char *line, dn_outcome outcome,
                       dn_error_class cls, uint32_t code) {
    const dn_run_result r =
        answer_of_exit(status, signal, line, strlen(line), /* cut_short= */ false);

    CHECK_INT(dn_run_outcome(r), outcome);
    CHECK_INT(dn_run_class(r), cls);
    CHECK_UINT(dn_run_code(r), code);
}

TEST(an_exit_means_what_its_status_and_its_last_line_say) {
    exit_means(0, 0, "{\"error_class\":\"llm\"}", DN_OUTCOME_OK, DN_CLASS_NONE, 0);
    exit_means(1, 0, "", DN_OUTCOME_ERROR, DN_CLASS_UNKNOWN, 1);
    exit_means(2, 0, "no luck", DN_OUTCOME_ERROR, DN_CLASS_UNKNOWN, 2);
    exit_means(3, 0, "{\"error_class\":\"llm\"}", DN_OUTCOME_ERROR, DN_CLASS_LLM, 3);
    exit_means(3, 0, "{\"error_class\":\"req\"}", DN_OUTCOME_ERROR, DN_CLASS_REQ, 3);
    exit_means(3, 0, "{\"note\":1}", DN_OUTCOME_ERROR, DN_CLASS_UNKNOWN, 3);
    exit_means(3, 0, "{oh", DN_OUTCOME_ERROR, DN_CLASS_PARSE, 3);
    exit_means(0, 9, "", DN_OUTCOME_ERROR, DN_CLASS_UNKNOWN, 137);
}

/* ---- The last line ---- */

static void last_line_is(const char *text, size_t piece, const char *expected) {
    last_line l = {.max = 8};

    for (size_t at = 0, len = strlen(text); at < len; at += piece)
        last_line_add(&l, text + at, len - at < piece ? len - at : piece);
    CHECK_MSG(l.len == strlen(expected) && (l.len == 0 || memcmp(l.text, expected, l.len) == 0),
              "of \"%s\" by %zu it is \"%.*s\"", text, piece, (int)l.len, l.text ? l.text : "");
    last_line_done(&l);
}

TEST(the_last_line_is_the_last_with_something_in_it) {
    for (size_t piece = 1; piece < 20; piece++) {
        last_line_is("", piece, "");
        last_line_is("\n\n", piece, "");
        last_line_is("one", piece, "one");
        last_line_is("one\n", piece, "one");
        last_line_is("one\ntwo\n\n \r\n", piece, "two");
        last_line_is("one\ntwo", piece, "two");
        last_line_is("0123456789\nx\n", piece, "x");
        last_line_is("x\n0123456789\n", piece, "01234567");
        last_line_is("one  \n\n \n", piece, "one  ");
        last_line_is("one\n         two\n", piece, "two");
        last_line_is(" \n\t one two", piece, "one two");
    }
}

/* To look through the line once more at each newline would take a day. */
TEST(newlines_behind_a_long_line_cost_what_newlines_cost) {
    enum { MANY = 1 << 24, PIECE = 16 * 1024 };
    char *const text = malloc(MANY);
    last_line   l = {.max = MANY};

    CHECK(text != NULL);
    memset(text, ' ', MANY);
    text[0] = 'x';
    last_line_add(&l, text, MANY);
    memset(text, '\n', MANY);
    last_line_add(&l, text, MANY / 2);
    for (size_t at = MANY / 2; at < MANY; at += PIECE) last_line_add(&l, text + at, PIECE);
    CHECK_UINT(l.len, MANY);
    CHECK_INT(l.text[0], 'x');
    last_line_done(&l);
    free(text);
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
