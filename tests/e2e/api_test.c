/* api_test.c - the HTTP API as who programs against it sees it. */
#include "asking.h"

#include "openapi.h"

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Users ---- */

TEST(a_user_is_put_read_listed_changed_and_deleted) {
    place *p = serves();

    CHECK_ASKS(p, 201, "PUT", "/api/v1/daily/users/ada",
               "{\"due\":\"23:59\",\"starts_on\":\"2999-01-01\"}");
    CHECK_STR(member("id"), "ada");
    CHECK_STR(member("due"), "23:59");
    CHECK_STR(member("starts_on"), "2999-01-01");
    CHECK_STR(member("status"), "null");
    CHECK_ASKS(p, 200, "PUT", "/api/v1/daily/users/ada", "{\"id\":\"ada\",\"due\":\"23:58\"}");
    CHECK_ASKS(p, 200, "GET", "/api/v1/daily/users/ada", NULL);
    CHECK_STR(member("due"), "23:58");
    CHECK_STR(member("starts_on"), "2999-01-01");
    CHECK_ASKS(p, 201, "PUT", "/api/v1/daily/users/a%20b%2Fc", "{\"due\":\"00:01\"}");
    CHECK_STR(member("id"), "a b/c");
    CHECK_ASKS(p, 200, "GET", "/api/v1/daily/users/a%20b%2Fc", NULL);
    CHECK_ASKS(p, 200, "GET", "/api/v1/daily/users", NULL);
    CHECK_STR(member("items.0.id"), "a b/c");
    CHECK_STR(member("items.1.id"), "ada");
    CHECK_STR(member("next_cursor"), "null");
    CHECK_ASKS(p, 204, "DELETE", "/api/v1/daily/users/ada", NULL);
    CHECK_ASKS(p, 404, "GET", "/api/v1/daily/users/ada", NULL);
    CHECK_ASKS(p, 404, "DELETE", "/api/v1/daily/users/ada", NULL);
    stops(p);
}

TEST(who_begins_tomorrow_is_told_so) {
    place *p = serves();

    CHECK_ASKS(p, 201, "PUT", "/api/v1/daily/users/today",
               "{\"due\":\"00:00\",\"starts_on\":\"today\"}");
    CHECK_STR(member("note"), "(nothing)");
    CHECK_ASKS(p, 201, "PUT", "/api/v1/daily/users/tomorrow", "{\"due\":\"00:00\"}");
    CHECK(strstr(member("note"), "the first day is tomorrow"));
    stops(p);
}

TEST(pages_of_a_list_are_all_of_it_once) {
    place *p = serves();
    char   path[256], seen[64] = "";

    for (int i = 0; i < 7; i++) {
        (void)snprintf(path, sizeof path, "/api/v1/daily/users/%%C3%%BC%d", i);
        CHECK_ASKS(p, 201, "PUT", path, i % 2 ? "{\"due\":\"10:00\"}" : "{\"due\":\"11:00\"}");
    }
    (void)snprintf(path, sizeof path, "/api/v1/daily/users?limit=3&q=%%C3%%BC");
    for (int pages = 1;; pages++) {
        CHECK_ASKS(p, 200, "GET", path, NULL);
        for (size_t i = 0; i < json_array_size(json_object_get(said, "items")); i++) {
            const json_t *user = json_array_get(json_object_get(said, "items"), i);
            const size_t  len = strlen(seen);
            (void)snprintf(seen + len, sizeof seen - len, "%s",
                           json_string_value(json_object_get(user, "id")) + 2);
        }
        const char *cursor = json_string_value(json_object_get(said, "next_cursor"));
        if (!cursor) {
            CHECK_INT(pages, 3);
            break;
        }
        (void)snprintf(path, sizeof path,
                       "/api/v1/daily/users?limit=3&q=%%C3%%BC&cursor=%%C3%%BC%s", cursor + 2);
    }
    CHECK_STR(seen, "0123456");
    CHECK_ASKS(p, 200, "GET", "/api/v1/daily/users?due_from=10:00&due_to=10:30", NULL);
    CHECK_UINT(json_array_size(json_object_get(said, "items")), 3);
    stops(p);
}

/* ---- The day ---- */

TEST(how_the_day_goes_is_told_by_today_why_days_and_the_ledger) {
    place *p = serves();
    char   due[8], body[64];

    (void)snprintf(body, sizeof body, "{\"due\":\"%s\"}", due_in(30, due));
    CHECK_ASKS(p, 201, "PUT", "/api/v1/daily/users/ada", body);
    WAIT_FOR(asks(p, "GET", "/api/v1/daily/users?status=success", NULL) == 200 &&
                 json_array_size(json_object_get(said, "items")) == 1,
             20000);
    CHECK_ASKS(p, 200, "GET", "/api/v1/daily/users/ada/days", NULL);
    CHECK_STR(member("items.0.status"), "success");
    CHECK_STR(member("items.0.attempts"), "1");
    CHECK_STR(member("items.0.error_class"), "null");
    CHECK_STR(member("next_cursor"), "null");
    char path[128];
    (void)snprintf(path, sizeof path, "/api/v1/daily/today?day=%s", member("items.0.day"));
    CHECK_ASKS(p, 200, "GET", path, NULL);
    CHECK_STR(member("items.0.due"), due);
    CHECK_STR(member("items.0.users"), "1");
    CHECK_STR(member("items.0.success"), "1");
    CHECK_STR(member("items.0.pending"), "0");
    CHECK_ASKS(p, 200, "GET", "/api/v1/daily/users/ada/why", NULL);
    CHECK(strstr(answer, "success at "));
    CHECK_ASKS(p, 200, "GET", "/api/v1/daily/days", NULL);
    CHECK_STR(member("items.0.success"), "1");
    CHECK_STR(member("items.0.missed"), "0");
    CHECK_ASKS(p, 200, "GET", "/api/v1/daily/days?from=2020-01-01&to=2020-01-02", NULL);
    CHECK_STR(member("items"), "[]");
    stops(p);
}

TEST(how_the_daemon_is_is_told) {
    place *p = serves();

    CHECK_ASKS(p, 200, "GET", "/api/v1/status", NULL);
    CHECK_STR(member("daemon.data"), p->data);
    CHECK_STR(member("daemon.runner"), "exec:/bin/true");
    CHECK_ASKS(p, 200, "GET", "/api/v1/slo", NULL);
    CHECK_STR(member("items.0.name"), "tick_budget");
    CHECK_ASKS(p, 200, "GET", "/api/v1/actors", NULL);
    CHECK(strstr(answer,
                 "\"name\":\"kv\",\"class\":\"kv\",\"loop\":\"store\",\"supervisor\":\"core\""));
    CHECK(strstr(
        answer, "\"name\":\"top\",\"class\":\"supervisor\",\"loop\":\"main\",\"supervisor\":null"));
    CHECK(strstr(
        answer,
        "\"name\":\"core\",\"class\":\"supervisor\",\"loop\":\"main\",\"supervisor\":\"top\""));
    CHECK(strstr(answer,
                 "\"name\":\"web\",\"class\":\"web\",\"loop\":\"main\",\"supervisor\":\"edge\""));
    CHECK(strstr(answer, "\"name\":\"executor\",\"class\":\"executor\",\"loop\":\"run\""));
    CHECK_STR(member("crashes"), "[]");
    CHECK_STR(member("loops.2.name"), "store");
    CHECK_ASKS(p, 200, "GET", "/api/v1/config", NULL);
    CHECK_STR(member("items.0.key"), "tick_ms");
    CHECK_STR(member("items.0.value"), "20");
    CHECK_STR(member("items.0.source"), "flag");
    stops(p);
}

TEST(the_document_of_the_api_is_served_as_it_stands) {
    place *p = serves();

    CHECK_ASKS(p, 200, "GET", "/api/v1/openapi.json", NULL);
    CHECK(json_equal(said, openapi()));
    stops(p);
}

/* ---- Again and again ---- */

static int asks_again(const place *p, const char *method, const char *path, const char *tag) {
    char fields[256];

    (void)snprintf(fields, sizeof fields, "If-None-Match: %s\r\n", tag);
    return asks_whole(p, method, path, admin, fields, NULL, 0);
}

TEST(who_polls_is_sent_nothing_while_nothing_has_changed) {
    static const char *const paths[] = {"/api/v1/daily/users", "/api/v1/daily/today",
                                        "/api/v1/daily/days", "/api/v1/tokens", "/api/v1/config"};
    place                   *p = place_new(NULL);
    char                     tags[5][64];

    serves_with(p, ARGS("--runner", "exec:/bin/true"));
    for (size_t i = 0; i < 5; i++) {
        CHECK_ASKS(p, 200, "GET", paths[i], NULL);
        CHECK_STR(answer_field("Cache-Control"), "private, no-cache");
        CHECK_STR(answer_field("Vary"), "Accept-Encoding");
        (void)snprintf(tags[i], sizeof tags[i], "%s", answer_field("ETag"));
        CHECK_INT(asks_again(p, "GET", paths[i], tags[i]), 304);
        CHECK_STR(answer_field("ETag"), tags[i]);
        CHECK_PTR(answer_field("Content-Length"), NULL);
        CHECK_STR(strstr(answer, "\r\n\r\n"), "\r\n\r\n");
        CHECK_INT(asks_again(p, "HEAD", paths[i], tags[i]), 304);
    }
    CHECK_ASKS(p, 201, "PUT", "/api/v1/daily/users/ada",
               "{\"due\":\"08:00\",\"starts_on\":\"today\"}");
    CHECK_INT(asks_again(p, "GET", paths[0], tags[0]), 200);
    CHECK_INT(asks_again(p, "GET", paths[1], tags[1]), 200);
    stops(p);
}

TEST(who_takes_gzip_gets_it_and_head_says_how_long_it_would_be) {
    static const char gzip[] = "Accept-Encoding: gzip;q=0.8, br\r\n",
                      path[] = "/api/v1/openapi.json";
    place *p = serves();
    char   plain[16], zipped[16];

    CHECK_ASKS(p, 200, "HEAD", path, NULL);
    (void)snprintf(plain, sizeof plain, "%s", answer_field("Content-Length"));
    CHECK_INT(asks_whole(p, "GET", path, admin, gzip, NULL, 0), 200);
    CHECK_STR(answer_field("Content-Encoding"), "gzip");
    CHECK(memcmp(strstr(answer, "\r\n\r\n") + 4, "\x1f\x8b\x08", 3) == 0);
    (void)snprintf(zipped, sizeof zipped, "%s", answer_field("Content-Length"));
    CHECK(strtoul(zipped, NULL, 10) < strtoul(plain, NULL, 10) / 3);
    CHECK_INT(asks_whole(p, "HEAD", path, admin, gzip, NULL, 0), 200);
    CHECK_STR(answer_field("Content-Length"), zipped);
    CHECK_INT(asks_whole(p, "GET", path, admin, "Accept-Encoding: gzip;q=0\r\n", NULL, 0), 200);
    CHECK_PTR(answer_field("Content-Encoding"), NULL);
    stops(p);
}

TEST(what_is_to_be_changed_on_a_condition_is_not_changed_without_it) {
    static const char        ada[] = "/api/v1/daily/users/ada", body[] = "{\"due\":\"09:00\"}";
    static const char *const conditions[] = {
        "If-None-Match: *\r\n", "If-Match: W/\"0\"\r\n",
        "If-Unmodified-Since: Thu, 01 Jan 1970 00:00:00 GMT\r\n"};
    place *p = serves();

    CHECK_ASKS(p, 201, "PUT", ada, "{\"due\":\"08:00\"}");
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
        CHECK_INT(asks_whole(p, "PUT", ada, admin, conditions[i], body, sizeof body - 1), 400);
        CHECK_DETAIL("condition");
        CHECK_INT(asks_whole(p, "DELETE", ada, admin, conditions[i], NULL, 0), 400);
    }
    CHECK_ASKS(p, 200, "GET", ada, NULL);
    CHECK_STR(member("due"), "08:00");
    stops(p);
}

/* ---- Once ---- */

static int asks_once(const place *p, const char *path, const char *token, const char *key,
                     const char *body) {
    char fields[512];

    (void)snprintf(fields, sizeof fields, "Idempotency-Key: %s\r\n", key);
    return asks_whole(p, "POST", path, token, fields, body, body ? strlen(body) : 0);
}

TEST(a_request_that_comes_twice_with_its_key_is_done_once_and_answered_twice) {
    static const char one[] = "{\"name\":\"a\",\"scope\":\"admin\"}",
                      other[] = "{\"name\":\"b\",\"scope\":\"admin\"}";
    place *p = serves();
    char   token[128], key[300];

    CHECK_INT(asks_once(p, "/api/v1/tokens", admin, "k1", one), 201);
    (void)snprintf(token, sizeof token, "%s", member("token"));
    CHECK_INT(asks_once(p, "/api/v1/tokens", admin, "k1", one), 201);
    CHECK_STR(member("token"), token);
    CHECK_INT(asks_once(p, "/api/v1/tokens", admin, "k1", other), 422);
    CHECK_DETAIL("another body");
    CHECK_ASKS(p, 200, "GET", "/api/v1/tokens", NULL);
    CHECK_UINT(json_array_size(json_object_get(said, "items")), 2);
    /* Another's key, and another's path. */
    CHECK_INT(asks_once(p, "/api/v1/tokens", token, "k1", one), 201);
    CHECK(strcmp(member("token"), token) != 0);
    CHECK_INT(asks_once(p, "/api/v1/tickets", admin, "k1", NULL), 201);
    CHECK_INT(asks_once(p, "/api/v1/tokens", "nobody", "k1", one), 401);
    /* What was refused was not done: it may come mended. */
    CHECK_INT(asks_once(p, "/api/v1/tokens", admin, "k2", "{}"), 400);
    CHECK_INT(asks_once(p, "/api/v1/tokens", admin, "k2", one), 201);
    CHECK_INT(asks_once(p, "/api/v1/tokens", admin, "a b", one), 400);
    CHECK_DETAIL("Idempotency-Key");
    memset(key, 'k', sizeof key - 1);
    key[256] = '\0';
    CHECK_INT(asks_once(p, "/api/v1/tokens", admin, key, one), 400);
    CHECK_DETAIL("Idempotency-Key");
    stops(p);
}

TEST(an_import_that_comes_twice_with_its_key_is_answered_as_the_first_time) {
    enum { LINES = 2000 };
    place *p = serves();
    char  *body = malloc(LINES * 40), *at = body;

    for (int i = 0; i < LINES; i++) at += sprintf(at, "{\"id\":\"u%d\",\"due\":\"00:00\"}\n", i);
    CHECK_INT(asks_once(p, "/api/v1/daily/users:import", admin, "k", body), 200);
    CHECK_STR(member("begin_tomorrow"), "2000");
    CHECK_INT(asks_once(p, "/api/v1/daily/users:import", admin, "k", body), 200);
    CHECK_STR(member("begin_tomorrow"), "2000"); /* of a second import: 0 */
    body[strlen(body) - 5] = '1';
    CHECK_INT(asks_once(p, "/api/v1/daily/users:import", admin, "k", body), 422);
    free(body);
    stops(p);
}

/* ---- Who may ---- */

TEST(a_token_is_made_shown_once_and_revoked_at_once_and_survives_a_restart) {
    place *p = serves();
    char   reader[128], path[64];

    CHECK_ASKS(p, 201, "POST", "/api/v1/tokens", "{\"name\":\"grafana\",\"scope\":\"read\"}");
    (void)snprintf(reader, sizeof reader, "%s", member("token"));
    (void)snprintf(path, sizeof path, "/api/v1/tokens/%s", member("id"));
    CHECK_STR(member("expires_at"), "null");
    CHECK_ASKS(p, 200, "GET", "/api/v1/tokens", NULL);
    CHECK_STR(member("items.1.name"), "grafana");
    CHECK_PTR(strstr(answer, reader), NULL);
    CHECK_INT(asks_len(p, "GET", "/api/v1/status", reader, NULL, 0), 200);
    stops(p);
    place_serve(p, ARGS("--runner", "exec:/bin/true"));
    WAIT_FOR(asks_len(p, "GET", "/api/v1/status", reader, NULL, 0) != 503, 20000);
    CHECK_INT(asks_len(p, "GET", "/api/v1/status", reader, NULL, 0), 200);
    CHECK_INT(asks_len(p, "DELETE", path, reader, NULL, 0), 403);
    CHECK_ASKS(p, 204, "DELETE", path, NULL);
    CHECK_INT(asks_len(p, "GET", "/api/v1/status", reader, NULL, 0), 401);
    CHECK_ASKS(p, 404, "DELETE", path, NULL);
    stops(p);
    /* Not on the disk, in no log. */
    char grep[3 * PLACE_PATH];
    (void)snprintf(grep, sizeof grep, "grep -rlFe %s '%s' '%s' >/dev/null", reader + 8, p->data,
                   p->log);
    CHECK_INT(system(grep) >> 8, 1); /* NOLINT(cert-env33-c): its own words, no others' */
    (void)snprintf(grep, sizeof grep, "grep -rlFe %s '%s' | grep -v '/admin.token$' >/dev/null",
                   admin + 8, p->data);
    CHECK_INT(system(grep) >> 8, 1); /* NOLINT(cert-env33-c): its own words, no others' */
}

TEST(a_token_ends_when_it_was_said_to) {
    place *p = serves();

    CHECK_ASKS(p, 400, "POST", "/api/v1/tokens",
               "{\"name\":\"a\",\"scope\":\"read\",\"expires_at\":\"2020-01-01T00:00:00Z\"}");
    CHECK_DETAIL("\"expires_at\"");
    CHECK_ASKS(p, 201, "POST", "/api/v1/tokens",
               "{\"name\":\"a\",\"scope\":\"read\",\"expires_at\":\"2999-01-01T00:00:00Z\"}");
    CHECK_STR(member("expires_at"), "2999-01-01T00:00:00.000Z");
    stops(p);
}

/* ---- Browsers ---- */

/* With these fields and no token. */
static int asks_with(const place *p, const char *method, const char *path, const char *fields,
                     const char *body) {
    return asks_whole(p, method, path, NULL, fields, body, strlen(body));
}

TEST(a_browser_logs_in_with_a_ticket_has_a_cookie_and_changes_nothing_for_another_sites_page) {
    static const char ours[] = "X-Diurnal-Request: 1\r\n";
    place            *p = serves();
    char              body[256], cookie[512], cookie_and_ours[600];

    CHECK_ASKS(p, 201, "POST", "/api/v1/tickets", NULL);
    (void)snprintf(body, sizeof body, "{\"token\":\"%s\"}", member("ticket"));
    CHECK_INT(asks_with(p, "POST", "/api/v1/session", "", body), 403);
    CHECK_INT(asks_with(p, "POST", "/api/v1/session", ours, "{\"token\":\"diurnal_x\"}"), 401);
    CHECK_INT(asks_with(p, "POST", "/api/v1/session", ours, "{}"), 400);
    CHECK_INT(asks_with(p, "POST", "/api/v1/session", ours, body), 200);
    CHECK_STR(member("scope"), "admin");
    const char *set = strstr(answer, "\r\nSet-Cookie: diurnal_session_");
    CHECK_MSG(set, "it is: %s", answer);
    CHECK(strstr(set, "; HttpOnly; SameSite=Strict\r\n"));
    const int len = (int)strcspn(set + 14, ";");
    (void)snprintf(cookie, sizeof cookie, "Cookie: %.*s\r\n", len, set + 14);
    (void)snprintf(cookie_and_ours, sizeof cookie_and_ours, "%s%s", cookie, ours);
    CHECK_INT(asks_with(p, "POST", "/api/v1/session", ours, body), 401); /* once */

    CHECK_INT(asks_with(p, "GET", "/api/v1/session", cookie, ""), 200);
    CHECK_STR(member("name"), "admin");
    CHECK_INT(asks_with(p, "GET", "/api/v1/status", cookie, ""), 200);
    CHECK_INT(asks_with(p, "PUT", "/api/v1/daily/users/ada", cookie, "{\"due\":\"08:00\"}"), 403);
    CHECK_ASKS(p, 404, "GET", "/api/v1/daily/users/ada", NULL);
    CHECK_INT(
        asks_with(p, "PUT", "/api/v1/daily/users/ada", cookie_and_ours, "{\"due\":\"08:00\"}"),
        201);
    CHECK_INT(asks_with(p, "DELETE", "/api/v1/session", cookie_and_ours, ""), 204);
    CHECK(strstr(answer, "Max-Age=0"));
    CHECK_INT(asks_with(p, "GET", "/api/v1/session", cookie, ""), 401);
    stops(p);
}

/* Logs in by a token, with the cookie there is, and writes the new one as a field. */
static void logs_in(const place *p, const char *token, const char *cookie, char out[512]) {
    char fields[600], body[256];

    (void)snprintf(fields, sizeof fields, "X-Diurnal-Request: 1\r\n%s", cookie);
    (void)snprintf(body, sizeof body, "{\"token\":\"%s\"}", token);
    CHECK_INT(asks_with(p, "POST", "/api/v1/session", fields, body), 200);
    const char *set = answer_field("Set-Cookie");
    CHECK(set && strstr(set, "; HttpOnly; SameSite=Strict"));
    (void)snprintf(out, 512, "Cookie: %.*s\r\n", (int)strcspn(set, ";"), set);
}

TEST(a_session_is_another_one_after_each_login_and_ends_with_its_token) {
    place *p = serves();
    char   token[128], id[32], first[512], second[512], path[64];

    makes_token(p, "read", NULL, token, id);
    logs_in(p, token, "", first);
    CHECK_INT(asks_with(p, "GET", "/api/v1/session", first, ""), 200);
    logs_in(p, token, first, second);
    CHECK(strcmp(first, second) != 0);
    CHECK_INT(asks_with(p, "GET", "/api/v1/session", first, ""), 401);
    CHECK_INT(asks_with(p, "GET", "/api/v1/session", second, ""), 200);
    (void)snprintf(path, sizeof path, "/api/v1/tokens/%s", id);
    CHECK_ASKS(p, 204, "DELETE", path, NULL);
    CHECK_INT(asks_with(p, "GET", "/api/v1/session", second, ""), 401);
    stops(p);
}

/* To a browser the ports of a host are one: it sends each both cookies. */
TEST(who_logs_in_at_a_second_daemon_of_the_host_is_still_known_at_the_first) {
    place *one = serves(), other = *one;
    char   of_one[128], first[512], second[512], both[1100];

    (void)snprintf(of_one, sizeof of_one, "%s", admin);
    (void)snprintf(other.data, sizeof other.data, "%.400s/other", one->dir);
    (void)snprintf(other.log, sizeof other.log, "%.400s/other-log", one->dir);
    serves_with(&other, ARGS("--runner", "exec:/bin/true"));
    logs_in(one, of_one, "", first);
    logs_in(&other, admin, first, second);
    (void)snprintf(both, sizeof both, "%.*s; %s", (int)strcspn(first, "\r"), first,
                   second + strlen("Cookie: "));
    CHECK_INT(asks_with(one, "GET", "/api/v1/session", both, ""), 200);
    CHECK_INT(asks_with(&other, "GET", "/api/v1/session", both, ""), 200);
    stops(one);
    stops(&other);
}

/* ---- Bad input ---- */

static const char *nested(char open, size_t depth) {
    static char text[1 << 17];

    CHECK(depth < sizeof text);
    memset(text, open, depth);
    text[depth] = '\0';
    return text;
}

TEST(what_is_no_user_is_a_problem_that_names_the_member_and_nothing_is_written) {
    static const char ada[] = "/api/v1/daily/users/ada";
    static const struct {
        const char *body, *detail;
    } rows[] = {
        {"", "a body is required"},
        {"not json", "not JSON"},
        {"{\"due\":\"08:00\"", "not JSON"},
        {"[]", "JSON object"},
        {"{}", "due"},
        {"{\"due\":null}", "due"},
        {"{\"due\":8}", "due"},
        {"{\"due\":\"24:00\"}", "due"},
        {"{\"due\":\"08:00\",\"due\":\"09:00\"}",
         "not JSON: duplicate object key, line 1, column "},
        {"{\"due\":\"\\u0000\"}", "not JSON: \\u0000 is not allowed, line 1, "},
        {"{\"\\u0000\":1}", "not JSON: \\u0000 is not allowed, line 1, "},
        {"{\"due\":\"08:00\",\"colour\":\"red\"}", "\"colour\""},
        {"{\"due\":\"08:00\",\"starts_on\":7}", "starts_on"},
        {"{\"due\":\"08:00\",\"starts_on\":\"2025-02-30\"}", "starts_on"},
        {"{\"due\":\"08:00\",\"id\":\"bob\"}", "\"id\""},
        {"{\"due\":\"08:00\",\"id\":7}", "\"id\""},
        {"{\"due\":\"\\ud800\"}", "not JSON"},
        {"{\"due\":\"\xff\"}", "not JSON"},
    };
    place *p = serves();

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK_ASKS(p, 400, "PUT", ada, rows[i].body);
        CHECK_DETAIL(rows[i].detail);
    }
    CHECK_ASKS(p, 400, "PUT", ada, nested('[', 100000));
    CHECK_DETAIL("not JSON");
    static const struct {
        const char *id, *detail;
    } ids[] = {
        {"%00", "the id has a control character in it"},
        {"%ff", "the id is not UTF-8"},
        {"%20ada", "the id begins with a space"},
        {"ada%0a", "the id has a control character in it"},
        {"", "the id is empty"},
        {"%E3%80%80x", "the id begins with a space"},
        {NULL, "the id is longer than 128 bytes"},
    };
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        char path[256];
        (void)snprintf(path, sizeof path, "/api/v1/daily/users/%s",
                       ids[i].id ? ids[i].id : nested('a', 129));
        CHECK_ASKS(p, 400, "PUT", path, "{\"due\":\"08:00\"}");
        CHECK_DETAIL(ids[i].detail);
        CHECK_ASKS(p, 400, "GET", path, NULL);
        CHECK_DETAIL(ids[i].detail);
    }
    CHECK_ASKS(p, 200, "GET", "/api/v1/daily/users", NULL);
    CHECK_STR(member("items"), "[]");
    stops(p);
}

TEST(a_query_that_is_not_understood_is_a_problem_that_names_the_parameter) {
    static const struct {
        const char *path, *detail;
    } rows[] = {
        {"/api/v1/daily/users?colour=red", "\"colour\""},
        {"/api/v1/daily/users?limit=0", "\"limit\" must be a whole number from 1 to 500"},
        {"/api/v1/daily/users?limit=x", "\"limit\""},
        {"/api/v1/daily/users?limit=99999999999999999999", "\"limit\""},
        {"/api/v1/daily/users?limit=1&limit=2", "\"limit\" is given twice"},
        {"/api/v1/daily/users?limit", "\"limit\" has no value"},
        {"/api/v1/daily/users?status=well",
         "\"status\" must be success or cutoff_reached, not \"well\""},
        {"/api/v1/daily/users?status=success%00x", "\"status\""},
        {"/api/v1/daily/users?due_from=8",
         "\"due_from\": invalid time \"8\"; use HH:MM, for example 08:00"},
        {"/api/v1/daily/users?q=%ff", "\"q\" is not UTF-8"},
        {"/api/v1/daily/today?day=yesterday", "\"day\": invalid date \"yesterday\"; use YYYY-MM-DD"
                                              ", for example 2026-01-31"},
        {"/api/v1/daily/days?from=2020-13-01", "\"from\": invalid date"},
        {"/api/v1/daily/users/ada/days?cursor=x", "\"cursor\": invalid date"},
        {"/api/v1/status?verbose=1", "\"verbose\""},
    };
    place *p = serves();

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK_ASKS(p, 400, "GET", rows[i].path, NULL);
        CHECK_DETAIL(rows[i].detail);
    }
    stops(p);
}

TEST(a_body_may_have_a_mebibyte_and_not_one_byte_more) {
    enum { MOST = 1 << 20 };
    static char body[MOST + 1];
    place      *p = serves();

    memset(body, ' ', sizeof body);
    /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): it goes on */
    memcpy(body, "{\"due\":\"08:00\"}", 15);
    CHECK_INT(asks_len(p, "PUT", "/api/v1/daily/users/ada", admin, body, MOST), 201);
    CHECK_INT(asks_len(p, "PUT", "/api/v1/daily/users/bob", admin, body, MOST + 1), 413);
    CHECK(strstr(answer, "Connection: close"));
    CHECK_ASKS(p, 404, "GET", "/api/v1/daily/users/bob", NULL);
    stops(p);
}

TEST(the_body_of_a_login_which_anybody_may_send_has_four_kibibytes_and_not_one_byte_more) {
    static const char ours[] = "X-Diurnal-Request: 1\r\n",
                      in_chunks[] = "X-Diurnal-Request: 1\r\nTransfer-Encoding: chunked\r\n";
    enum { MOST = 4096 };
    char   body[MOST + 1], chunks[MOST + 64];
    place *p = serves();

    memset(body, ' ', sizeof body);
    memcpy(body + snprintf(body, sizeof body, "{\"token\":\"%s\"}", admin), " ", 1);
    CHECK_INT(asks_whole(p, "POST", "/api/v1/session", NULL, ours, body, MOST), 200);
    CHECK_INT(asks_whole(p, "POST", "/api/v1/session", NULL, ours, body, MOST + 1), 413);
    CHECK_DETAIL("4 KiB");
    const int len = snprintf(chunks, sizeof chunks, "%x\r\n%.*s", MOST + 1, MOST + 1, body);
    CHECK_INT(asks_whole(p, "POST", "/api/v1/session", NULL, in_chunks, chunks, (size_t)len), 413);
    CHECK_DETAIL("4 KiB");
    stops(p);
}

/* In chunks, after being asked to go on, two of them on one connection. */
TEST(a_body_in_chunks_is_a_body_and_what_follows_is_the_next_request) {
    place *p = serves();
    char   request[1024];

    const int len =
        snprintf(request, sizeof request,
                 "PUT /api/v1/daily/users/ada HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\n"
                 "Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n"
                 "7\r\n{\"due\":\r\n8\r\n\"08:00\"}\r\n0\r\n\r\n"
                 "GET /api/v1/daily/users/ada HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\n"
                 "Connection: close\r\n\r\n",
                 admin, admin);
    answer = place_asks(p, request, (size_t)len);
    CHECK_MSG(strstr(answer, "201 Created"), "it is: %s", answer);
    CHECK_MSG(strstr(answer, "HTTP/1.1 200 OK"), "it is: %s", answer);
    stops(p);
}

/* ---- The import ---- */

/* `lines` of users in chunks, or with their length said. */
static int imports(const place *p, const char *body, size_t len) {
    return asks_len(p, "POST", "/api/v1/daily/users:import", admin, body, len);
}

TEST(an_import_takes_the_good_lines_and_names_the_bad_ones) {
    static const char lines[] = "{\"id\":\"ada\",\"due\":\"08:00\"}\n"
                                "{\"id\":\"bob\",\"due\":\"25:00\"}\r\n"
                                "\n"
                                "not json\n"
                                "{\"id\":\"cy\",\"due\":\"09:00\",\"starts_on\":\"2999-01-01\"}";
    place            *p = serves();

    CHECK_INT(imports(p, lines, sizeof lines - 1), 200);
    CHECK_STR(member("accepted"), "2");
    CHECK_STR(member("rejected"), "2");
    CHECK_STR(member("errors.0.line"), "2");
    CHECK(strstr(member("errors.0.detail"), "25:00"));
    CHECK_STR(member("errors.1.line"), "4");
    CHECK_ASKS(p, 200, "GET", "/api/v1/daily/users", NULL);
    CHECK_STR(member("items.0.id"), "ada");
    CHECK_STR(member("items.1.id"), "cy");
    CHECK_STR(member("items.1.starts_on"), "2999-01-01");
    CHECK_INT(imports(p, "", 0), 200);
    CHECK_STR(member("accepted"), "0");
    stops(p);
}

TEST(
    an_import_of_a_million_bytes_of_garbage_is_refused_line_by_line_and_the_first_hundred_are_named) {
    static char body[1000000];
    place      *p = serves();

    for (size_t i = 0; i < sizeof body; i++) body[i] = i % 50 == 49 ? '\n' : '{';
    CHECK_INT(imports(p, body, sizeof body), 200);
    CHECK_STR(member("accepted"), "0");
    CHECK_STR(member("rejected"), "20000");
    CHECK_UINT(json_array_size(json_object_get(said, "errors")), 100);
    stops(p);
}

/* More than any buffer holds, in order, while other questions are answered. */
TEST(an_import_of_many_has_them_all) {
    enum { USERS = 50000 };
    place *p = serves();
    char  *body = malloc((size_t)USERS * 40), *at = body;

    for (int i = 0; i < USERS; i++)
        at += sprintf(at, "{\"id\":\"u%05d\",\"due\":\"%02d:%02d\"}\n", i, i / 60 % 24, i % 60);
    CHECK_INT(imports(p, body, (size_t)(at - body)), 200);
    CHECK_STR(member("accepted"), "50000");
    CHECK_ASKS(p, 200, "GET", "/api/v1/status", NULL);
    CHECK_STR(member("store.users"), "50000");
    CHECK_ASKS(p, 200, "GET", "/api/v1/daily/users/u49999", NULL);
    CHECK_STR(member("due"), "17:19");
    free(body);
    stops(p);
}

static int imports_csv(const place *p, const char *body) {
    return asks_whole(p, "POST", "/api/v1/daily/users:import", admin,
                      "Content-Type: text/csv; charset=utf-8\r\n", body, strlen(body));
}

TEST(an_import_takes_csv_where_it_is_said_to_be) {
    place *p = serves();

    CHECK_INT(imports_csv(p, "id,due,starts_on\nada,08:00,2999-01-01\nbob,25:00,\n\"x,y\",09:00,"),
              200);
    CHECK_STR(member("accepted"), "2");
    CHECK_STR(member("errors.0.line"), "3");
    CHECK_ASKS(p, 200, "GET", "/api/v1/daily/users/x%2Cy", NULL);
    stops(p);
}

/* As many in a piece as there can be, behind some that fill no batch; and as much. */
TEST(an_import_of_the_shortest_and_of_the_longest_lines_has_them_all) {
    enum { LINES = 20000, FIRST = 600, ID = 128 };
    place *p = serves();
    char  *body = malloc(LINES * 10 + 1), *at = body, path[256];

    for (int i = 0; i < LINES; i++)
        at += sprintf(at, "%s%c,00:00\n", i < FIRST ? "aaaaa" : "", 'a' + i % 26);
    CHECK_INT(imports_csv(p, body), 200);
    CHECK_STR(member("accepted"), "20000");
    at = body;
    for (int i = 0; i < LINES * 10 / (ID + 8); i++) at += sprintf(at, "%0128d,00:00\n", i);
    CHECK_INT(imports_csv(p, body), 200);
    CHECK_STR(member("rejected"), "0");
    (void)snprintf(path, sizeof path, "/api/v1/daily/users/%0128d", LINES * 10 / (ID + 8) - 1);
    CHECK_ASKS(p, 200, "GET", path, NULL);
    CHECK_ASKS(p, 200, "GET", "/api/v1/status", NULL);
    CHECK_STR(member("store.users"), "1522");
    free(body);
    stops(p);
}

/* What stands behind the quote comes all at once, when it is as long as a line may be: more than a batch has room for. */
TEST(an_import_with_a_quote_that_nobody_closes_has_all_behind_it) {
    enum { LINES = 8190, LINE = 8 };
    static char body[3 + LINES * LINE + 1];
    place      *p = serves();

    /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): it goes on */
    memcpy(body, "\"x\n", 3);
    for (int i = 0; i < LINES; i++) memcpy(body + 3 + (size_t)i * LINE, "a,08:00\n", LINE);
    CHECK_INT(imports_csv(p, body), 200);
    CHECK_STR(member("accepted"), "8190");
    CHECK_STR(member("rejected"), "1");
    CHECK_STR(member("errors.0.line"), "1");
    stops(p);
}

static void sends(int fd, const char *text) {
    CHECK_INT(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

/* What the other side says until it ends it; valid until the next call. */
static const char *hears_out(int fd) {
    static char text[4096];
    size_t      len = 0;

    for (ssize_t n; (n = recv(fd, text + len, sizeof text - 1 - len, 0)) > 0;) len += (size_t)n;
    text[len] = '\0';
    (void)close(fd);
    return text;
}

/* Sends the head of one; fields: more of it, each ended by CR LF. */
static int begins_body(const place *p, const char *method, const char *path, const char *token,
                       const char *fields) {
    char      head[512];
    const int fd = place_connect(p);

    CHECK(fd >= 0);
    (void)snprintf(head, sizeof head,
                   "%s %s HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\n%s\r\n", method, path,
                   token, fields);
    sends(fd, head);
    return fd;
}

/* A piece of a body is never full here. */
TEST(an_import_that_trickles_is_kept_as_it_comes) {
    place    *p = serves();
    const int fd = begins_body(p, "POST", "/api/v1/daily/users:import", admin,
                               "Connection: close\r\nContent-Type: text/csv\r\n"
                               "Transfer-Encoding: chunked\r\n");

    sends(fd, "a\r\nada,08:00\n\r\n");
    WAIT_FOR(asks(p, "GET", "/api/v1/daily/users/ada", NULL) == 200, 20000);
    sends(fd, "e\r\nbob,09:00\neve,\r\n");
    WAIT_FOR(asks(p, "GET", "/api/v1/daily/users/bob", NULL) == 200, 20000);
    sends(fd, "6\r\n10:00\n\r\n0\r\n\r\n");
    const char *text = hears_out(fd);
    CHECK_MSG(strstr(text, "\"accepted\":3,\"rejected\":0"), "it is: %s", text);
    CHECK_ASKS(p, 200, "GET", "/api/v1/daily/users/eve", NULL);
    stops(p);
}

TEST(of_a_body_nothing_more_is_taken_from_the_instant_its_token_is_revoked) {
    place *p = serves();
    char   token[128], id[32], path[64], text[64] = "";

    makes_token(p, "operate", NULL, token, id);
    (void)snprintf(path, sizeof path, "/api/v1/tokens/%s", id);
    const int many = begins_body(p, "POST", "/api/v1/daily/users:import", token,
                                 "Content-Type: text/csv\r\nTransfer-Encoding: chunked\r\n");
    sends(many, "a\r\nada,08:00\n\r\n");
    WAIT_FOR(asks(p, "GET", "/api/v1/daily/users/ada", NULL) == 200, 20000);
    const int one =
        begins_body(p, "PUT", "/api/v1/daily/users/eve", token,
                    "Connection: close\r\nExpect: 100-continue\r\nContent-Length: 15\r\n");
    CHECK(recv(one, text, sizeof text - 1, 0) > 0 && strncmp(text, "HTTP/1.1 100 ", 13) == 0);
    CHECK_ASKS(p, 204, "DELETE", path, NULL);
    sends(many, "a\r\nbob,09:00\n\r\n");
    sends(one, "{\"due\":\"08:00\"}");
    const char *many_said = hears_out(many);
    CHECK_MSG(strncmp(many_said, "HTTP/1.1 401 ", 13) == 0, "it is: %s", many_said);
    const char *one_said = hears_out(one);
    CHECK_MSG(strncmp(one_said, "HTTP/1.1 401 ", 13) == 0, "it is: %s", one_said);
    CHECK_ASKS(p, 200, "GET", "/api/v1/daily/users", NULL);
    CHECK_UINT(json_array_size(json_object_get(said, "items")), 1);
    stops(p);
}

/* 00:00 has passed on every day; that of whoever says when it begins is no matter. */
TEST(an_import_says_how_many_begin_tomorrow_because_their_cutoff_has_passed) {
    static const char lines[] = "{\"id\":\"a\",\"due\":\"00:00\"}\n"
                                "{\"id\":\"b\",\"due\":\"00:00\",\"starts_on\":\"today\"}\n"
                                "{\"id\":\"c\",\"due\":\"00:00\",\"starts_on\":\"2999-01-01\"}\n";
    place            *p = serves();

    CHECK_INT(imports(p, lines, sizeof lines - 1), 200);
    CHECK_STR(member("begin_tomorrow"), "1");
    CHECK_INT(imports(p, lines, sizeof lines - 1), 200);
    CHECK_STR(member("begin_tomorrow"), "0"); /* they are there already */
    stops(p);
}

/* ---- All of it ---- */

TEST(users_and_records_are_read_by_number_page_after_page) {
    static const char lines[] = "{\"id\":\"ada\",\"due\":\"00:00\",\"starts_on\":\"today\"}\n"
                                "{\"id\":\"bob\",\"due\":\"00:00\",\"starts_on\":\"today\"}\n"
                                "{\"id\":\"cy\",\"due\":\"00:01\",\"starts_on\":\"2999-01-01\"}\n";
    place            *p = serves();
    char              path[128], day[16];

    CHECK_INT(imports(p, lines, sizeof lines - 1), 200);
    CHECK_ASKS(p, 200, "GET", "/api/v1/audit/users?limit=2", NULL);
    CHECK_STR(member("items.0.6"), "ada");
    CHECK_STR(member("items.1.6"), "bob");
    CHECK_STR(member("next_cursor"), member("items.1.0"));
    (void)snprintf(path, sizeof path, "/api/v1/audit/users?cursor=%s", member("next_cursor"));
    CHECK_ASKS(p, 200, "GET", path, NULL);
    CHECK_STR(member("items.0.6"), "cy");
    CHECK_STR(member("items.0.1"), "1");
    (void)snprintf(path, sizeof path, "/api/v1/audit/users?cursor=%s", member("next_cursor"));
    CHECK_ASKS(p, 200, "GET", path, NULL);
    CHECK_STR(member("items"), "[]");
    CHECK_STR(member("next_cursor"), "null");
    WAIT_FOR(asks(p, "GET", "/api/v1/daily/users/bob/days", NULL) == 200 &&
                 strcmp(member("items.0.status"), "cutoff_reached") == 0,
             20000);
    (void)snprintf(day, sizeof day, "%s", member("items.0.day"));
    (void)snprintf(path, sizeof path, "/api/v1/audit/records?day=%s&cursor=1&limit=1", day);
    CHECK_ASKS(p, 200, "GET", path, NULL);
    CHECK_STR(member("items.0.0"), "2");
    CHECK_STR(member("items.1"), "(nothing)");
    CHECK_ASKS(p, 400, "GET", "/api/v1/audit/records", NULL);
    CHECK_DETAIL("\"day\" is missing");
    CHECK_ASKS(p, 400, "GET", "/api/v1/audit/users?limit=4097", NULL);
    CHECK_DETAIL("\"limit\"");
    stops(p);
}

TEST(a_backup_is_made_where_the_daemon_is_and_never_over_something) {
    place      *p = serves();
    char        body[PLACE_PATH + 64], path[PLACE_PATH + 16];
    struct stat about;

    (void)snprintf(path, sizeof path, "%.400s/copy.db", p->dir);
    (void)snprintf(body, sizeof body, "{\"path\":\"%s\"}", path);
    CHECK_ASKS(p, 201, "POST", "/api/v1/backup", body);
    CHECK_STR(member("path"), path);
    CHECK(stat(path, &about) == 0 && about.st_size > 0);
    CHECK_ASKS(p, 409, "POST", "/api/v1/backup", body);
    CHECK_DETAIL("already exists");
    CHECK_ASKS(p, 409, "POST", "/api/v1/backup", "{\"path\":\"/nowhere/at/all\"}");
    CHECK_DETAIL("/nowhere/at/all cannot be ");
    CHECK_ASKS(p, 400, "POST", "/api/v1/backup", "{\"path\":\"copy.db\"}");
    CHECK_DETAIL("\"path\" must be an absolute path");
    CHECK_ASKS(p, 400, "POST", "/api/v1/backup", "{}");
    stops(p);
}

static int begins_backup(const place *p, int n) {
    char      body[PLACE_PATH + 64], request[PLACE_PATH + 512];
    const int fd = place_connect(p);
    const int body_len = snprintf(body, sizeof body, "{\"path\":\"%.400s/copy%d.db\"}", p->dir, n);
    const int len = snprintf(request, sizeof request,
                             "POST /api/v1/backup HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
                             "Authorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s",
                             admin, body_len, body);

    CHECK(fd >= 0);
    CHECK_INT(send(fd, request, (size_t)len, MSG_NOSIGNAL), len);
    return fd;
}

/* The status of the answer. */
static int ends_backup(int fd) {
    char    text[1024] = "";
    ssize_t len = 0;

    for (size_t at = 0; at < sizeof text - 1; at += (size_t)len)
        if ((len = recv(fd, text + at, sizeof text - 1 - at, 0)) <= 0) break;
    (void)close(fd);
    CHECK_MSG(strncmp(text, "HTTP/1.1 ", 9) == 0, "it is: %s", text);
    return (int)strtol(text + 9, NULL, 10);
}

/* One of the two comes while the other is made; that may take some tries. */
TEST(a_second_backup_at_once_is_in_the_way_and_the_disk_is_not_full) {
    enum { USERS = 20000 };
    place *p = serves();
    char  *body = malloc(USERS * 32), *at = body;
    int    made = 0, refused = 0;

    for (int i = 0; i < USERS; i++) at += sprintf(at, "somebody-%06d,08:00\n", i);
    CHECK_INT(imports_csv(p, body), 200);
    free(body);
    for (int n = 0; refused == 0; n += 2) {
        const int fds[] = {begins_backup(p, n), begins_backup(p, n + 1)};
        for (int i = 0; i < 2; i++) {
            const int status = ends_backup(fds[i]);
            CHECK_MSG(status == 201 || status == 409, "it is %d", status);
            if (status == 201) made++;
            else refused++;
        }
    }
    CHECK(made > 0);
    stops(p);
}

/* ---- Events ---- */

static char   heard[1 << 18]; /* of the present stream */
static size_t heard_len;

/* Listens, from behind the event `last` if it is not NULL. */
static int listens(const place *p, const char *token, const char *last) {
    char      request[512], field[128] = "";
    const int fd = place_connect(p);

    CHECK(fd >= 0);
    if (last) (void)snprintf(field, sizeof field, "Last-Event-ID: %s\r\n", last);
    const int len =
        snprintf(request, sizeof request,
                 "GET /api/v1/events HTTP/1.1\r\nHost: a\r\n%sAuthorization: Bearer %s\r\n\r\n",
                 field, token);
    CHECK(send(fd, request, (size_t)len, MSG_NOSIGNAL) == len);
    heard_len = 0;
    heard[0] = '\0';
    return fd;
}

/* Reads what there is; false: the other side has ended it. */
static bool hears(int fd) {
    ssize_t got;

    while ((got = recv(fd, heard + heard_len, sizeof heard - 1 - heard_len, MSG_DONTWAIT)) > 0) {
        heard_len += (size_t)got;
        heard[heard_len] = '\0';
        CHECK(heard_len < sizeof heard - 1);
    }
    const char *fault = openapi_events_fault(heard);
    CHECK_MSG(!fault, "%s", fault);
    return got != 0;
}

#define WAIT_TO_HEAR(fd, words) WAIT_FOR((hears(fd), strstr(heard, (words)) != NULL), 20000)

static void id_of(const char *event, char out[64]) {
    const char *at = NULL;

    for (const char *next = heard; (next = strstr(next, "id: ")) && next < event; next++) at = next;
    CHECK(at);
    (void)snprintf(out, 64, "%.*s", (int)strcspn(at + 4, "\n"), at + 4);
}

TEST(what_changes_is_told_as_it_changes_and_who_comes_back_is_told_what_came_meanwhile) {
    place *p = serves();
    char   due[8], body[64], last[64];
    int    fd = listens(p, admin, NULL);

    WAIT_TO_HEAR(fd, "event: hello\n");
    CHECK(strncmp(heard, "HTTP/1.1 200", 12) == 0 && strstr(heard, "text/event-stream\r\n"));
    CHECK_PTR(strstr(heard, "event: reset"), NULL);
    id_of(strstr(heard, "event: hello"), last);
    (void)snprintf(body, sizeof body, "{\"due\":\"%s\",\"starts_on\":\"today\"}", due_in(30, due));
    CHECK_ASKS(p, 201, "PUT", "/api/v1/daily/users/ada", body);
    WAIT_TO_HEAR(fd, "event: minutes\n");
    CHECK(strstr(heard, "\"users\":1"));
    WAIT_TO_HEAR(fd, "event: tick\n");
    WAIT_TO_HEAR(fd, "event: load\n");
    (void)close(fd);
    fd = listens(p, admin, last);
    WAIT_TO_HEAR(fd, "event: minutes\n");
    CHECK_PTR(strstr(heard, "event: reset"), NULL);
    (void)close(fd);
    fd = listens(p, admin, "0-1");
    WAIT_TO_HEAR(fd, "event: reset\n");
    (void)close(fd);
    stops(p);
}

TEST(who_may_not_listen_any_more_is_told_nothing_more) {
    place *p = serves();
    char   token[128], path[64];

    CHECK_ASKS(p, 201, "POST", "/api/v1/tokens", "{\"name\":\"a\",\"scope\":\"read\"}");
    (void)snprintf(token, sizeof token, "%s", member("token"));
    (void)snprintf(path, sizeof path, "/api/v1/tokens/%s", member("id"));
    const int fd = listens(p, token, NULL);
    WAIT_TO_HEAR(fd, "event: hello\n");
    CHECK_ASKS(p, 204, "DELETE", path, NULL);
    WAIT_FOR(!hears(fd), 20000);
    (void)close(fd);
    CHECK_INT(asks_len(p, "HEAD", "/api/v1/events", admin, NULL, 0), 200);
    stops(p);
}

TEST(other_methods_are_told_which_there_are) {
    place *p = serves();

    CHECK_ASKS(p, 405, "PATCH", "/api/v1/daily/users/ada", NULL);
    CHECK(strstr(answer, "\r\nAllow: GET, HEAD, PUT, DELETE\r\n"));
    CHECK_ASKS(p, 405, "POST", "/api/v1/status", NULL);
    CHECK(strstr(answer, "\r\nAllow: GET, HEAD\r\n"));
    CHECK_ASKS(p, 404, "GET", "/api/v1/nothing", NULL);
    stops(p);
}
