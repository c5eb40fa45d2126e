/* http_body_test.c - where a body ends is read in one way or not at all, however it comes in pieces. */
#include "http/http_body.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static http_fault fault;
static char       got[8192];
static size_t     got_len, used;

/* Takes bytes in pieces of that size, each in memory of its own length. 1: it ended, and `used` bytes are it; 0: more is to
 * come; -1: refused. */
static int takes_len(const http_head *head, const char *bytes, size_t len, size_t piece_max) {
    http_body b;
    size_t    at = 0;

    got_len = used = 0;
    http_body_begin(&b, head);
    while (!http_body_has_ended(&b) && at < len) {
        const size_t piece_len = len - at < piece_max ? len - at : piece_max;
        char *const  piece = malloc(piece_len);
        size_t       taken = 0;
        http_text    said;
        memcpy(piece, bytes + at, piece_len);
        const int rc = http_body_take(&b, piece, piece_len, &taken, &said, &fault);
        if (rc == DN_OK) {
            CHECK(taken <= piece_len && taken > 0);
            CHECK(got_len + said.len < sizeof got);
            memcpy(got + got_len, said.at, said.len);
            got_len += said.len;
        }
        free(piece);
        if (rc < 0) {
            CHECK_INT(fault.status, 400);
            CHECK(fault.detail);
            return -1;
        }
        at += taken;
    }
    used = at;
    got[got_len] = '\0';
    return http_body_has_ended(&b);
}

/* The same whole, and byte by byte. */
static int takes(const http_head *head, const char *text) {
    const int whole = takes_len(head, text, strlen(text), SIZE_MAX);
    char      first[sizeof got];
    memcpy(first, got, sizeof first);
    const size_t first_used = used;

    CHECK_INT(takes_len(head, text, strlen(text), 1), whole);
    if (whole >= 0) {
        CHECK_UINT(used, first_used);
        CHECK_STR(got, first);
    }
    return whole;
}

static const http_head chunks = {.content_length = -1, .chunked = true};

TEST(a_body_whose_length_is_said_is_so_long_and_what_follows_is_not_its) {
    const http_head five = {.content_length = 5}, none = {.content_length = -1};

    CHECK_INT(takes(&five, "helloGET / HTTP/1.1"), 1);
    CHECK_STR(got, "hello");
    CHECK_UINT(used, 5);
    CHECK_INT(takes(&five, "hell"), 0);
    CHECK_INT(takes(&none, "GET"), 1);
    CHECK_UINT(used, 0);
}

TEST(chunks_are_put_together_and_their_frame_is_left_out) {
    CHECK_INT(takes(&chunks, "5\r\nhello\r\n6;name=\"v\"\r\n world\r\n0\r\n\r\nGET"), 1);
    CHECK_STR(got, "hello world");
    CHECK_UINT(used, strlen("5\r\nhello\r\n6;name=\"v\"\r\n world\r\n0\r\n\r\n"));
    CHECK_INT(takes(&chunks, "A\r\n0123456789\r\n00\r\nX: y\r\nZ: \r\n\r\n"), 1);
    CHECK_STR(got, "0123456789");
    CHECK_INT(takes(&chunks, "5\r\nhello\r\n0\r\n"), 0);
    CHECK_INT(takes(&chunks, "5\r\nhel"), 0);
}

TEST(what_could_end_in_two_places_is_refused) {
    static const char *const frames[] = {
        "5\nhello\r\n0\r\n\r\n",        /* a bare LF */
        "5\rhello\r\n0\r\n\r\n",        /* a bare CR */
        "5\r\nhello0\r\n\r\n",          /* longer than it says */
        "5\r\nhelloworld\r\n0\r\n\r\n", /* likewise */
        "5\r\nhello\n0\r\n\r\n",        /* its end is half */
        "\r\n",                         /* no size */
        "5 \r\nhello\r\n0\r\n\r\n",     /* a blank behind it */
        " 5\r\nhello\r\n0\r\n\r\n",     /* and before it */
        "+5\r\nhello\r\n0\r\n\r\n",     /* a sign */
        "-5\r\nhello\r\n0\r\n\r\n",
        "0x5\r\nhello\r\n0\r\n\r\n",     /* another spelling */
        "g\r\n",                         /* no digit */
        "1000000000000000\r\n",          /* more than there can be */
        "5;a\nb\r\nhello\r\n0\r\n\r\n",  /* a line's end in an extension */
        "5;a\x01\r\nhello\r\n0\r\n\r\n", /* a control character */
        "0\r\nX: y\n\r\n",               /* a bare LF behind the body */
        "0\r\nX: \x7f\r\n\r\n",
    };

    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++)
        CHECK_MSG(takes(&chunks, frames[i]) == -1, "frame %zu: %s", i, frames[i]);
}

TEST(frames_without_end_are_refused) {
    static char text[2 * HTTP_TRAILER_MAX];
    char       *at = text;

    memset(text, '0', HTTP_CHUNK_LINE_MAX + 1);
    CHECK_INT(takes_len(&chunks, text, HTTP_CHUNK_LINE_MAX + 1, SIZE_MAX), -1);
    memset(text, ';', HTTP_CHUNK_LINE_MAX + 1);
    text[0] = '5';
    CHECK_INT(takes_len(&chunks, text, HTTP_CHUNK_LINE_MAX + 1, SIZE_MAX), -1);
    at += sprintf(at, "0\r\n");
    while (at - text < HTTP_TRAILER_MAX + 100) at += sprintf(at, "X-Name: value\r\n");
    CHECK_INT(takes(&chunks, text), -1);
}

/* In whatever pieces: what was put into chunks comes out of them. */
TEST(any_body_in_any_chunks_is_the_same) {
    uint64_t state = test_seed();

    for (int round = 0; round < 300; round++) {
        static char body[2048], wire[16384];
        size_t      body_len = test_random(&state) % sizeof body, at = 0;
        char       *w = wire;
        for (size_t i = 0; i < body_len; i++) body[i] = (char)test_random(&state);
        while (at < body_len) {
            size_t len = 1 + test_random(&state) % 300;
            if (len > body_len - at) len = body_len - at;
            w += sprintf(w, test_random(&state) % 2 ? "%zx\r\n" : "%zX;e\r\n", len);
            memcpy(w, body + at, len);
            w += len;
            w += sprintf(w, "\r\n");
            at += len;
        }
        w += sprintf(w, "0\r\n\r\nnext");
        CHECK_INT(takes_len(&chunks, wire, (size_t)(w - wire), 1 + test_random(&state) % 500), 1);
        CHECK_UINT(used, (size_t)(w - wire) - 4);
        CHECK_UINT(got_len, body_len);
        CHECK(memcmp(got, body, body_len) == 0);
    }
}
