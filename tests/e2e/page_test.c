/* page_test.c - the dashboard's files as a browser gets them, and what only the dashboard asks. What is done with them is
 * tests/web/dashboard_test.mjs. */
#include "place.h"

#include "page.h"

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static place *serves(const char *runner) {
    place *p = place_new(NULL);

    place_serve(p, ARGS("--runner", runner, "--tick-ms=20", "--max-concurrency=3"));
    return p;
}

static void stops(place *p) {
    place_signal(p, SIGTERM);
    CHECK_INT(place_wait(p), 0);
}

static const char *gets(const place *p, const char *path, const char *fields) {
    char      request[1024];
    const int len =
        snprintf(request, sizeof request,
                 "GET %s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n%s\r\n", path, fields);

    return place_asks(p, request, (size_t)len);
}

static bool has(const char *answer, const char *words) { return strstr(answer, words) != NULL; }

#define CHECK_HAS(answer, words)                                                                   \
    CHECK_MSG(has((answer), (words)), "no %s in: %.2000s", words, answer)

static const char *path_of(const char *name) {
    static char path[128];

    (void)snprintf(path, sizeof path, "/page/%s/%s", page_version, name);
    return path;
}

TEST(the_page_says_what_a_browser_may_do_with_it_and_needs_no_token) {
    place      *p = serves("demo:");
    const char *answer = gets(p, "/", "");

    CHECK_HAS(answer, "HTTP/1.1 200 OK\r\n");
    CHECK_HAS(answer, "\r\nContent-Type: text/html; charset=utf-8\r\n");
    CHECK_HAS(answer, "\r\nContent-Security-Policy: default-src 'none'; script-src 'self'; ");
    CHECK_HAS(answer, "frame-ancestors 'none'");
    CHECK(!has(answer, "unsafe-"));
    CHECK_HAS(answer, "\r\nX-Content-Type-Options: nosniff\r\n");
    CHECK_HAS(answer, "\r\nReferrer-Policy: no-referrer\r\n");
    CHECK_HAS(answer, "\r\nCache-Control: no-cache\r\n");
    CHECK(!has(answer, "Content-Encoding"));
    stops(p);
}

TEST(each_file_that_the_page_names_is_there_for_ever_under_its_version) {
    place *p = serves("demo:");
    char   index[1 << 16], file[128];
    int    named = 0;

    (void)snprintf(index, sizeof index, "%s", gets(p, "/", ""));
    CHECK(!has(index, "{{"));
    for (const char *at = index; (at = strstr(at, "\"/page/")); named++) {
        (void)snprintf(file, sizeof file, "%.*s", (int)strcspn(at + 1, "\""), at + 1);
        at += strlen(file);
        const char *answer = gets(p, file, "");
        CHECK_MSG(has(answer, "HTTP/1.1 200 OK\r\n"), "%s: %.300s", file, answer);
        CHECK_HAS(answer, "\r\nCache-Control: public, max-age=31536000, immutable\r\n");
        CHECK_HAS(answer, "\r\nContent-Security-Policy: default-src 'none'");
    }
    CHECK_MSG(named >= (int)page_files_len - 1, "%d of %zu files are named", named, page_files_len);
    CHECK_HAS(gets(p, path_of("main.js"), ""),
              "\r\nContent-Type: text/javascript; charset=utf-8\r\n");
    CHECK_HAS(gets(p, path_of("style.css"), ""), "\r\nContent-Type: text/css; charset=utf-8\r\n");
    CHECK_HAS(gets(p, path_of("favicon.svg"), ""), "\r\nContent-Type: image/svg+xml\r\n");
    stops(p);
}

TEST(what_is_no_file_of_this_version_is_not_there) {
    static const char *const none[] = {
        "/page/0000000000000000/main.js", "/page//main.js", "/page/main.js", "/index.html",
        "/page/..%2fmain.js/main.js",
    };
    static const char *const nameless[] = {"",           "main.j",       "main.jss",
                                           "index.html", "..%2fmain.js", "main.js%00"};
    place                   *p = serves("demo:");

    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        CHECK_MSG(has(gets(p, none[i], ""), "HTTP/1.1 404 "), "%s", none[i]);
    for (size_t i = 0; i < sizeof nameless / sizeof *nameless; i++)
        CHECK_MSG(has(gets(p, path_of(nameless[i]), ""), "HTTP/1.1 404 "), "%s", nameless[i]);
    stops(p);
}

TEST(a_browser_gets_it_small_and_only_if_it_has_another_one) {
    place      *p = serves("demo:");
    char        fields[256], tag[64];
    const char *answer = gets(p, "/", "Accept-Encoding: br, gzip;q=0.8\r\n");

    CHECK_HAS(answer, "\r\nContent-Encoding: gzip\r\n");
    CHECK_HAS(answer, "\r\nVary: Accept-Encoding\r\n");
    CHECK_HAS(answer, "\r\n\r\n\x1f\x8b");
    const char *at = strstr(answer, "\r\nETag: ");
    CHECK(at != NULL);
    (void)snprintf(tag, sizeof tag, "%.*s", (int)strcspn(at + 8, "\r"), at + 8);
    (void)snprintf(fields, sizeof fields,
                   "Accept-Encoding: gzip\r\nIf-None-Match: \"other\", %s\r\n", tag);
    answer = gets(p, "/", fields);
    CHECK_HAS(answer, "HTTP/1.1 304 Not Modified\r\n");
    CHECK(!has(answer, "Content-Length"));
    CHECK_STR(strstr(answer, "\r\n\r\n"), "\r\n\r\n");
    CHECK_HAS(gets(p, "/", "If-None-Match: W/\"0000000000000000\"\r\n"), "HTTP/1.1 200 OK\r\n");
    CHECK_HAS(gets(p, "/", "If-None-Match: *\r\n"), "HTTP/1.1 304 ");
    stops(p);
}

TEST(what_a_browser_loads_first_is_small) {
    size_t bytes = 0;

    for (size_t i = 0; i < page_files_len; i++)
        bytes += page_files[i].gzip_len + 1024; /* its head */
    CHECK_MSG(bytes <= 150 * 1024, "%zu bytes", bytes);
}

/* ---- Who runs ---- */

static json_t *runs(const place *p, const char *token, const char *query, size_t at_least) {
    char fields[256], path[128];

    (void)snprintf(fields, sizeof fields, "Authorization: Bearer %s\r\n", token);
    (void)snprintf(path, sizeof path, "/api/v1/daily/running%s", query);
    const char *body = strstr(gets(p, path, fields), "\r\n\r\n");
    json_t     *said = body ? json_loads(body + 4, 0, NULL) : NULL;
    CHECK(said != NULL);
    if (json_array_size(json_object_get(said, "items")) >= at_least) return said;
    json_decref(said);
    return NULL;
}

static const char *text_of(const json_t *said, size_t i, const char *key) {
    return json_string_value(
        json_object_get(json_array_get(json_object_get(said, "items"), i), key));
}

TEST(who_runs_is_told_with_since_when_the_oldest_first) {
    place  *p = serves("exec:/bin/sleep 600");
    char    due[8], path[PLACE_PATH + 32], token[128];
    json_t *said = NULL;

    (void)snprintf(path, sizeof path, "%s/admin.token", p->data);
    (void)snprintf(token, sizeof token, "%.*s", (int)strcspn(place_read(path), "\n"),
                   place_read(path));
    CHECK_RUN(p, 0, "users", "set", "ada", "--due", due_in(30, due));
    WAIT_FOR((said = runs(p, token, "", 1)), 20000);
    CHECK_STR(text_of(said, 0, "id"), "ada");
    CHECK_STR(text_of(said, 0, "due"), due);
    CHECK_INT(json_integer_value(
                  json_object_get(json_array_get(json_object_get(said, "items"), 0), "attempt")),
              1);
    json_decref(said);
    CHECK_RUN(p, 0, "users", "set", "bob", "--due", due_in(20, due));
    WAIT_FOR((said = runs(p, token, "", 2)), 20000);
    CHECK_STR(text_of(said, 0, "id"), "ada");
    CHECK_STR(text_of(said, 1, "id"), "bob");
    CHECK(strcmp(text_of(said, 0, "since"), text_of(said, 1, "since")) <= 0);
    json_decref(said);
    said = runs(p, token, "?limit=1", 1);
    CHECK(said != NULL);
    CHECK_UINT(json_array_size(json_object_get(said, "items")), 1);
    CHECK_STR(text_of(said, 0, "id"), "ada");
    CHECK_INT(json_integer_value(json_object_get(said, "running")), 2);
    json_decref(said);
    place_signal(p, SIGTERM);
    place_signal(p, SIGTERM); /* does not wait for them */
    (void)place_wait(p);
}
