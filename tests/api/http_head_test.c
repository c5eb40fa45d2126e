/* http_head_test.c - a head is read in one way or not at all. */
#include "http/http_head.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static http_head  head;
static http_fault fault;

/* Reads it whole; 0, the status of its fault, or -1 if more has to come. */
static int reads_len(const char *bytes, size_t len) {
    size_t looked_at = 0, head_len = 0;

    fault = (http_fault){0};
    const int rc = http_head_end(bytes, len, &looked_at, &head_len, &fault);
    if (rc == DN_PENDING) return -1;
    if (rc < 0 || http_head_read(bytes, head_len, &head, &fault) < 0) {
        CHECK(fault.status >= 400 && fault.detail);
        return fault.status;
    }
    return 0;
}

static int reads(const char *text) { return reads_len(text, strlen(text)); }

/* A request of these lines, which end as lines do, and the empty one. */
static int reads_lines(const char *first, const char *fields) {
    static char text[4096]; /* what was read points into it */

    snprintf(text, sizeof text, "%s\r\n%s\r\n", first, fields);
    return reads(text);
}

#define CHECK_TEXT(text, words)                                                                    \
    CHECK_MSG(http_text_is((text), (words)), "it is \"%.*s\"", (int)(text).len, (text).at)

TEST(a_request_is_taken_apart_into_its_parts) {
    CHECK_INT(reads("GET /api/v1/x%20y?verbose&a=b HTTP/1.1\r\nHost: localhost:1440\r\n"
                    "Accept:  text/plain \t\r\nX-Empty:\r\n\r\nrest"),
              0);
    CHECK_TEXT(head.method, "GET");
    CHECK_TEXT(head.path, "/api/v1/x%20y");
    CHECK_TEXT(head.query, "verbose&a=b");
    CHECK_UINT(head.fields_len, 3);
    CHECK_TEXT(*http_field_of(&head, "accept"), "text/plain");
    CHECK_TEXT(*http_field_of(&head, "x-empty"), "");
    CHECK_PTR(http_field_of(&head, "cookie"), NULL);
    CHECK_INT(head.content_length, -1);
    CHECK(head.keep_alive && !head.chunked && !head.expects_continue && !head.is_http10);
}

TEST(what_the_fields_mean_for_the_reading_is_told) {
    CHECK_INT(reads_lines("POST /x HTTP/1.1", "host: a\r\ncontent-length: 12\r\n"), 0);
    CHECK_INT(head.content_length, 12);
    CHECK_INT(reads_lines("POST /x HTTP/1.1", "Host: a\r\nTransfer-Encoding: Chunked\r\n"), 0);
    CHECK(head.chunked);
    CHECK_INT(reads_lines("POST /x HTTP/1.1", "Host: a\r\nExpect: 100-Continue\r\n"), 0);
    CHECK(head.expects_continue);
    CHECK_INT(reads_lines("POST /x HTTP/1.1",
                          "Host: a\r\nContent-Length: 1\r\nContent-Encoding: Identity\r\n"),
              0);
    CHECK_INT(reads_lines("GET / HTTP/1.1", "Host: a\r\nContent-Encoding: gzip\r\n"), 0);
    CHECK_INT(reads_lines("GET / HTTP/1.1", "Host: a\r\nConnection: x, Close\r\n"), 0);
    CHECK(!head.keep_alive);
    CHECK_INT(reads_lines("GET / HTTP/1.0", ""), 0);
    CHECK(!head.keep_alive && head.is_http10);
    CHECK_PTR(head.query.at, NULL);
}

TEST(the_whole_address_is_as_good_as_the_path) {
    CHECK_INT(reads_lines("GET http://proxy.example:80/a?b HTTP/1.1", "Host: x\r\n"), 0);
    CHECK_TEXT(head.path, "/a");
    CHECK_TEXT(head.query, "b");
    CHECK_INT(reads_lines("GET HTTP://proxy.example HTTP/1.1", "Host: x\r\n"), 0);
    CHECK_TEXT(head.path, "/");
    CHECK_INT(reads_lines("GET https://proxy.example/a HTTP/1.1", "Host: x\r\n"), 0);
    CHECK_TEXT(head.path, "/a");
    CHECK_INT(reads_lines("GET Https://proxy.example?b HTTP/1.1", "Host: x\r\n"), 400);
    CHECK_INT(reads_lines("GET https:///a HTTP/1.1", "Host: x\r\n"), 400);
    CHECK_INT(reads_lines("GET ftp://proxy.example/a HTTP/1.1", "Host: x\r\n"), 400);
    CHECK_INT(reads_lines("OPTIONS * HTTP/1.1", "Host: x\r\n"), 0);
    CHECK_TEXT(head.path, "*");
}

TEST(a_host_is_an_address_or_localhost_or_a_name_that_may_be_anybodys) {
    static const struct {
        const char *host;
        bool        is_address;
    } rows[] = {
        {"127.0.0.1", true},
        {"127.0.0.1:1440", true},
        {"[::1]", true},
        {"[::1]:1440", true},
        {"192.168.1.7:80", true},
        {"localhost", true},
        {"LocalHost:1440", true},
        {"127.0.0.1:", true},
        {"evil.example", false},
        {"evil.example:1440", false},
        {"127.0.0.1.evil.example", false},
        {"localhost.evil.example", false},
        {"127.1", false},
        {"", false},
        {"[::1", false},
        {"[::1].evil.example", false},
        {"[localhost]", false},
        {"::1", false},
        {"127.0.0.1:1440:1440", false},
        {"127.0.0.1:x", false},
        {"[]", false},
        {"[0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0001]", false},
    };
    char field[128];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        (void)snprintf(field, sizeof field, "Host: %s\r\n", rows[i].host);
        CHECK_INT(reads_lines("GET / HTTP/1.1", field), 0);
        CHECK_MSG(http_host_is_address(&head) == rows[i].is_address, "%s", rows[i].host);
    }
    CHECK_INT(reads_lines("GET / HTTP/1.0", ""), 0);
    CHECK(http_host_is_address(&head));
}

/* What two readers could read in two ways, or no reader at all. */
static const struct refused {
    const char *first, *fields;
    int         status;
} refused[] = {
    /* Where does the body end? */
    {"POST / HTTP/1.1", "Host: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n", 400},
    {"POST / HTTP/1.1", "Host: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n", 400},
    {"POST / HTTP/1.1", "Host: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n", 400},
    {"POST / HTTP/1.1", "Host: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n", 400},
    {"POST / HTTP/1.1", "Host: a\r\nContent-Length: 1, 1\r\n", 400},
    {"POST / HTTP/1.1", "Host: a\r\nContent-Length: +1\r\n", 400},
    {"POST / HTTP/1.1", "Host: a\r\nContent-Length: -1\r\n", 400},
    {"POST / HTTP/1.1", "Host: a\r\nContent-Length: 0x10\r\n", 400},
    {"POST / HTTP/1.1", "Host: a\r\nContent-Length: 1 2\r\n", 400},
    {"POST / HTTP/1.1", "Host: a\r\nContent-Length:\r\n", 400},
    {"POST / HTTP/1.1", "Host: a\r\nContent-Length: 9999999999999999999\r\n", 400},
    {"POST / HTTP/1.1", "Host: a\r\nTransfer-Encoding: xchunked\r\n", 400},
    {"POST / HTTP/1.1", "Host: a\r\nTransfer-Encoding: chunked, identity\r\n", 400},
    {"POST / HTTP/1.1", "Host: a\r\nTransfer-Encoding: identity\r\n", 400},
    {"POST / HTTP/1.1", "Host: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
     400},
    {"POST / HTTP/1.1",
     "Host: a\r\nTransfer-Encoding: \x0b"
     "chunked\r\n",
     400},
    {"POST / HTTP/1.1", "Host: a\r\nTransfer-Encoding : chunked\r\n", 400},
    {"POST / HTTP/1.1", "Host: a\r\nTransfer-Encoding\t: chunked\r\n", 400},
    {"POST / HTTP/1.0", "Host: a\r\nTransfer-Encoding: chunked\r\n", 400},
    /* Where does a line end? */
    {"GET / HTTP/1.1", "Host: a\r\nX: 1\r\n folded\r\n", 400},
    {"GET / HTTP/1.1", "Host: a\r\nX: 1\r\n\tfolded\r\n", 400},
    {"GET / HTTP/1.1", " Host: a\r\n", 400},
    {"GET / HTTP/1.1", "Host: a\nX: 1\r\n", 400},
    {"GET / HTTP/1.1\nHost: a", "", 400},
    {"GET / HTTP/1.1", "Host: a\rX: 1\r\n", 400},
    {"GET / HTTP/1.1", "Host: a\r\nX: 1\r\r\n", 400},
    /* Whose is it? */
    {"GET / HTTP/1.1", "", 400},
    {"GET / HTTP/1.1", "Host: a\r\nHost: a\r\n", 400},
    {"GET / HTTP/1.1", "Host: a\r\nhost: b\r\n", 400},
    {"GET / HTTP/1.1", "Host: a b\r\n", 400},
    {"GET / HTTP/1.1", "Host: a/b\r\n", 400},
    {"GET / HTTP/1.1", "Host: user@a\r\n", 400},
    /* Who asks? */
    {"GET / HTTP/1.1", "Host: a\r\nAuthorization: Bearer a\r\nauthorization: Bearer b\r\n", 400},
    {"GET / HTTP/1.1", "Host: a\r\nAuthorization: Bearer a\r\nAuthorization: Bearer a\r\n", 400},
    /* What is a field? */
    {"GET / HTTP/1.1", "Host: a\r\nnocolon\r\n", 400},
    {"GET / HTTP/1.1", "Host: a\r\n: empty\r\n", 400},
    {"GET / HTTP/1.1", "Host: a\r\nX Y: 1\r\n", 400},
    {"GET / HTTP/1.1", "Host: a\r\nX(: 1\r\n", 400},
    {"GET / HTTP/1.1", "Host: a\r\nX\x80: 1\r\n", 400},
    {"GET / HTTP/1.1", "Host: a\r\nX: \x01\r\n", 400},
    {"GET / HTTP/1.1", "Host: a\r\nX: \x7f\r\n", 400},
    /* What is asked for? */
    {"GET  / HTTP/1.1", "Host: a\r\n", 400},
    {"GET /  HTTP/1.1", "Host: a\r\n", 400},
    {"GET\t/ HTTP/1.1", "Host: a\r\n", 400},
    {"GET / HTTP/1.1 ", "Host: a\r\n", 400},
    {" GET / HTTP/1.1", "Host: a\r\n", 400},
    {"GET /", "Host: a\r\n", 400},
    {"GET", "Host: a\r\n", 400},
    {"/ HTTP/1.1", "Host: a\r\n", 400},
    {"GET x HTTP/1.1", "Host: a\r\n", 400},
    {"GET * HTTP/1.1", "Host: a\r\n", 400},
    {"CONNECT a:80 HTTP/1.1", "Host: a\r\n", 400},
    {"GET http:// HTTP/1.1", "Host: a\r\n", 400},
    {"GET http:///x HTTP/1.1", "Host: a\r\n", 400},
    {"GET ftp://a/x HTTP/1.1", "Host: a\r\n", 400},
    {"GET /a#b HTTP/1.1", "Host: a\r\n", 400},
    {"GET /a\\b HTTP/1.1", "Host: a\r\n", 400},
    {"GET /a\"b HTTP/1.1", "Host: a\r\n", 400},
    {"GET /a<b HTTP/1.1", "Host: a\r\n", 400},
    {"GET /a{b HTTP/1.1", "Host: a\r\n", 400},
    {"GET /a% HTTP/1.1", "Host: a\r\n", 400},
    {"GET /a%4 HTTP/1.1", "Host: a\r\n", 400},
    {"GET /a%4g HTTP/1.1", "Host: a\r\n", 400},
    {"GET /\xc3\xa9 HTTP/1.1", "Host: a\r\n", 400},
    {"G(T / HTTP/1.1", "Host: a\r\n", 400},
    {"GET / http/1.1", "Host: a\r\n", 400},
    {"GET / HTTP/1.1x", "Host: a\r\n", 400},
    {"GET / HTTP/11", "Host: a\r\n", 400},
    {"GET / HTTP/1.", "Host: a\r\n", 400},
    {"GET / HTTP/2.0", "Host: a\r\n", 505},
    {"PRI * HTTP/2.0", "", 505},
    {"POST / HTTP/1.1", "Host: a\r\nExpect: 200-ok\r\n", 417},
    {"POST / HTTP/1.1", "Host: a\r\nContent-Length: 1\r\nContent-Encoding: gzip\r\n", 415},
    {"POST / HTTP/1.1", "Host: a\r\nTransfer-Encoding: chunked\r\nContent-Encoding: br\r\n", 415},
    {"POST / HTTP/1.1",
     "Host: a\r\nContent-Length: 1\r\nContent-Encoding: identity\r\nContent-Encoding: gzip\r\n",
     415},
};

TEST(what_could_be_read_in_two_ways_is_refused) {
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const struct refused *r = &refused[i];
        const int             status = reads_lines(r->first, r->fields);
        CHECK_MSG(status == r->status, "%s | %s: %d", r->first, r->fields, status);
    }
}

TEST(a_zero_byte_is_in_no_line) {
    static const char zero[] = "GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n";

    CHECK_INT(reads_len(zero, sizeof zero - 1), 400);
}

/* Nobody waits for the rest of what is wrong already. */
TEST(a_line_that_ends_wrongly_is_refused_as_soon_as_it_does) {
    CHECK_INT(reads("GET / HTTP/1.1\n"), 400);
    CHECK_INT(reads("GET / HTTP/1.1\rX"), 400);
    CHECK_INT(reads("GET / HTTP/1.1\r"), -1);
    CHECK_INT(reads("GET / HTTP/1.1\r\n"), -1);
    CHECK_INT(reads("\n"), 400);
    CHECK_INT(reads("\x16\x03\x01"), 400); /* somebody speaks TLS */
}

TEST(a_head_may_come_in_any_pieces) {
    static const char whole[] = "GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    const size_t      len = sizeof whole - 1;
    size_t            looked_at = 0, head_len = 0;

    for (size_t have = 0; have < len; have++)
        CHECK_INT(http_head_end(whole, have, &looked_at, &head_len, &fault), DN_PENDING);
    CHECK_INT(http_head_end(whole, len, &looked_at, &head_len, &fault), DN_OK);
    CHECK_UINT(head_len, len);
}

TEST(a_head_is_bounded_in_bytes_lines_and_fields) {
    char *text = malloc(40000);

    CHECK(text);
    memset(text, 'a', 40000);
    text[sprintf(text, "GET /")] = 'a';
    CHECK_INT(reads_len(text, HTTP_HEAD_MAX - 1), -1);
    CHECK_INT(reads_len(text, HTTP_HEAD_MAX), 431);
    const int rest = sprintf(text + 9000, " HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK_INT(reads_len(text, 9000 + (size_t)rest), 414);
    char *at = text + sprintf(text, "GET / HTTP/1.1\r\nHost: a\r\n");
    for (int i = 1; i < HTTP_FIELDS_MAX; i++) at += sprintf(at, "X%d: 1\r\n", i);
    sprintf(at, "\r\n");
    CHECK_INT(reads(text), 0);
    CHECK_UINT(head.fields_len, HTTP_FIELDS_MAX);
    sprintf(at, "Y: 1\r\n\r\n");
    CHECK_INT(reads(text), 431);
    free(text);
}

TEST(a_list_has_its_words_whatever_the_case_and_the_parameters) {
    static const char words[] = "text/html;q=0.5, Text/Plain ;x=y,,gzip";
    const http_text   list = {words, sizeof words - 1};

    CHECK(http_list_has(list, "text/html"));
    CHECK(http_list_has(list, "text/plain"));
    CHECK(http_list_has(list, "gzip"));
    CHECK(!http_list_has(list, "text"));
    CHECK(!http_list_has(list, "q=0.5"));
}

/* Garbage made of what requests are made of: no crash, and whatever is taken is sound. */
TEST(whatever_comes_is_taken_or_refused_and_what_is_taken_lies_in_what_came) {
    static const char *const pieces[] = {
        "GET ", "/",        " HTTP/1.1", "\r\n",  "Host: a",
        "\n",   "X: y",     ": ",        " ",     "\t",
        "%20",  "?",        "\r",        "POST ", "Content-Length: 1",
        "a",    "http://a", "\r\n\r\n"};
    uint64_t random = test_seed();
    int      taken = 0;

    for (int run = 0; run < 50000 / TEST_SLOW_FACTOR; run++) {
        char   text[512];
        size_t len = (size_t)sprintf(text, "%s", run % 4 ? "GET / HTTP/1.1\r\nHost: a\r\n" : "");
        for (uint64_t i = test_random(&random) % 12; i > 0; i--) {
            const char *p = pieces[test_random(&random) % (sizeof pieces / sizeof *pieces)];
            len += (size_t)sprintf(text + len, "%s", p);
        }
        char *exact = malloc(len ? len : 1); /* so that a byte too far is seen */
        CHECK(exact);
        memcpy(exact, text, len);
        if (reads_len(exact, len) == 0) {
            taken++;
            CHECK(head.path.at >= exact && head.path.at + head.path.len <= exact + len);
            for (size_t i = 0; i < head.fields_len; i++)
                CHECK(head.fields[i].value.at + head.fields[i].value.len <= exact + len);
        }
        free(exact);
    }
    CHECK(taken > 100 / TEST_SLOW_FACTOR);
}
