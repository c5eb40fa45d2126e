/* http_refine_test.c - who has it already is not sent it, and who takes gzip is. */
#include "http/http_refine.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static const dn_hash_key key = {1, 2};

/* The head of a request, with these fields. */
static const http_head *head_of(const char *method, const char *fields) {
    static http_head head;
    static char      text[2048];
    http_fault       fault;

    (void)snprintf(text, sizeof text, "%s / HTTP/1.1\r\nHost: a\r\n%s\r\n", method, fields);
    CHECK_MSG(http_head_read(text, strlen(text), &head, &fault) == DN_OK, "%s", text);
    return &head;
}

static http_response answer_of(int status, const char *type, const char *body) {
    return http_answer(status, type, strdup(body), strlen(body));
}

/* The answer of 200 that a request with these fields gets. */
static http_response refined(const char *fields, const char *body) {
    http_response r = answer_of(200, "application/json", body);

    http_refine(head_of("GET", fields), key, &r);
    return r;
}

static const char *match_of(const char *tag) {
    static char field[128];

    (void)snprintf(field, sizeof field, "If-None-Match: %s\r\n", tag);
    return field;
}

TEST(who_names_the_tag_of_what_it_has_is_answered_304_and_no_body) {
    http_response first = refined("", "{\"a\":1}");
    char          list[128];

    CHECK_INT(first.status, 200);
    CHECK_STR(first.cache, "private, no-cache");
    CHECK(strlen(first.tag) == 18 && first.varies);
    const struct {
        const char *before, *after;
    } ways[] = {{"", ""}, {"W/", ""}, {"\"x\", W/", ""}, {"  ", " ,\"y\""}, {"*, ", ""}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        (void)snprintf(list, sizeof list, "%s%s%s", ways[i].before, i < 4 ? first.tag : "",
                       ways[i].after);
        http_response again = refined(match_of(list), "{\"a\":1}");
        CHECK_MSG(again.status == 304 && !again.body && !again.type && again.body_len == 0, "%s",
                  list);
        CHECK_STR(again.tag, first.tag);
    }
    http_response other = refined(match_of(first.tag), "{\"a\":2}");
    CHECK_INT(other.status, 200);
    CHECK(strcmp(other.tag, first.tag) != 0);
    free(first.body);
    free(other.body);
}

TEST(when_it_was_made_is_no_part_of_what_an_answer_says) {
    http_response a = refined("", "{\"day\":1,\"now\":\"2026-11-19T08:00:00.000Z\",\"b\":1}");
    http_response b = refined("", "{\"day\":1,\"now\":\"2026-11-19T08:00:00.001Z\",\"b\":1}");
    http_response c = refined("", "{\"day\":1,\"now\":\"2026-11-19T08:00:00.001Z\",\"b\":2}");
    http_response d = refined("", "{\"day\":2,\"now\":\"2026-11-19T08:00:00.001Z\",\"b\":1}");
    http_response e = refined("", "{\"a\":\"\\\"now\\\":\\\"1\",\"b\":1}");
    http_response f = refined("", "{\"a\":\"\\\"now\\\":\\\"2\",\"b\":1}");

    CHECK_STR(a.tag, b.tag);
    CHECK(strcmp(b.tag, c.tag) != 0 && strcmp(b.tag, d.tag) != 0);
    CHECK(strcmp(e.tag, f.tag) != 0); /* a text that looks like it */
    http_response *all[] = {&a, &b, &c, &d, &e, &f};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]->body);
}

TEST(what_is_no_answer_to_a_reader_stays_as_it_is) {
    static const struct {
        const char *method;
        int         status;
        const char *type;
        bool        tagged, varies;
    } rows[] = {
        {"GET", 200, "application/json", true, true},
        {"HEAD", 200, "application/json", true, true},
        {"GET", 200, "text/plain", false, true},
        {"POST", 200, "application/json", false, false},
        {"PUT", 200, "application/json", false, false},
        {"GET", 201, "application/json", false, false},
        {"GET", 404, "application/problem+json", false, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        http_response r = answer_of(rows[i].status, rows[i].type, "{}");
        http_refine(head_of(rows[i].method, "If-None-Match: \"x\"\r\nAccept-Encoding: gzip\r\n"),
                    key, &r);
        CHECK_MSG((*r.tag != '\0') == rows[i].tagged && r.varies == rows[i].varies, "row %zu", i);
        CHECK(r.status == rows[i].status && !r.gzipped);
        free(r.body);
    }
    http_response kept = answer_of(200, "application/json", "{}");
    kept.cache = "public";
    http_refine(head_of("GET", ""), key, &kept);
    CHECK_STR(kept.tag, "");
    free(kept.body);
}

TEST(gzip_is_taken_by_who_says_so_and_likes_nothing_better) {
    static const struct {
        const char *accepts;
        bool        takes;
    } rows[] = {
        {"gzip", true},
        {"GZIP", true},
        {"gzip, deflate, br", true},
        {"deflate;q=1.0,gzip;q=0.5", true},
        {"*", true},
        {"identity;q=0.5, *;q=0.9", true},
        {"gzip;q=0.001", true},
        {"gzip ; q=1", true},
        {"gzip;q=0", false},
        {"gzip;q=0.000", false},
        {"gzip;q=0, *", false},
        {"*;q=0", false},
        {"identity", false},
        {"identity, gzip;q=0.5", false},
        {"deflate", false},
        {"", false},
        {"gzip;q=", false},
        {"gzip;q=2", false},
        {"gzip;q=1.5", false},
        {"gzip;q=x", false},
        {"xgzip", false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char field[128];
        (void)snprintf(field, sizeof field, "Accept-Encoding: %s\r\n", rows[i].accepts);
        CHECK_MSG(http_takes_gzip(head_of("GET", field)) == rows[i].takes, "%s", rows[i].accepts);
    }
    CHECK(!http_takes_gzip(head_of("GET", "")));
}

TEST(what_goes_out_as_gzip_is_what_it_was_and_smaller) {
    char        body[5000], back[6000];
    static char noise[5000];
    uint64_t    seed = test_seed();

    for (size_t i = 0; i < sizeof body - 1; i++) body[i] = (char)('a' + i % 7);
    body[sizeof body - 1] = '\0';
    http_response r = refined("Accept-Encoding: gzip\r\n", body);
    CHECK(r.gzipped && r.body_len < sizeof body / 10);
    z_stream z = {.next_in = (unsigned char *)r.body,
                  .avail_in = (unsigned int)r.body_len,
                  .next_out = (unsigned char *)back,
                  .avail_out = sizeof back};
    CHECK_INT(inflateInit2(&z, 15 + 16), Z_OK);
    CHECK_INT(inflate(&z, Z_FINISH), Z_STREAM_END);
    CHECK_UINT(z.total_out, sizeof body - 1);
    CHECK(memcmp(back, body, sizeof body - 1) == 0);
    (void)inflateEnd(&z);
    free(r.body);
    http_response plain = refined("", body);
    CHECK(!plain.gzipped && plain.body_len == sizeof body - 1);
    CHECK_STR(plain.tag, r.tag);
    free(plain.body);
    body[1000] = '\0'; /* it is one packet as it is */
    http_response small = refined("Accept-Encoding: gzip\r\n", body);
    CHECK(!small.gzipped);
    free(small.body);
    for (size_t i = 0; i < sizeof noise - 1; i++) noise[i] = (char)(test_random(&seed) % 255 + 1);
    http_response random = refined("Accept-Encoding: gzip\r\n", noise);
    CHECK(!random.gzipped && random.body_len == sizeof noise - 1);
    free(random.body);
}
