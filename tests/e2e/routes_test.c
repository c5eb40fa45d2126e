/* routes_test.c - what holds for every route there is, by the tables that serve them: who may, and that nothing that is no good
 * gets in. A route that is new is tried here without a word. */
#include "asking.h"
#include "openapi.h"
#include "route.h"
#include "schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define EACH_ROUTE(r)                                                                              \
    const route *const *t_ = routes_all;                                                           \
    *t_;                                                                                           \
    t_++)                                                                                          \
        for (const route *r = *t_; r->method; r++

enum { PATH = 4096 };

/* With something in place of {id}, and a query or none; valid until the next call. */
static const char *path_of(const route *r, const char *id, const char *query) {
    static char path[PATH];
    const char *open = strchr(r->path, '{');

    (void)snprintf(path, sizeof path, "%.*s%s%s%s",
                   (int)(open ? open - r->path : (long)strlen(r->path)), r->path, open ? id : "",
                   open ? strchr(r->path, '}') + 1 : "", query);
    return path;
}

/* Events go on for ever: whether they begin is enough. */
static const char *method_of(const route *r) {
    return strcmp(r->path, "/api/v1/events") == 0 ? "HEAD" : r->method;
}

/* ---- Who may ---- */

typedef struct asker {
    const char *name;
    dn_scope    scope; /* that its token has; DN_SCOPE_NONE: it is worth nothing */
    const char *token; /* NULL: it shows none */
} asker;

static bool is_open(const route *r) {
    return r->scope == DN_SCOPE_NONE || strcmp(r->path, "/metrics") == 0; /* on loopback */
}

static bool is_login(const route *r) {
    return strcmp(r->path, ROUTE_LOGIN) == 0 && strcmp(r->method, "POST") == 0;
}

static void check_asker(const place *p, const route *r, const asker *a) {
    const char *path = path_of(r, "987654", "");
    const int   is = asks_len(p, method_of(r), path, a->token, NULL, 0);
    const bool  refused = is == 401 || is == 403;

    CHECK_MSG(is < 500, "%s %s as %s: %s", r->method, path, a->name, answer);
    if (is_login(r)) {
        CHECK_INT(is, 403); /* without the field of our own page, whoever it is */
    } else if (is_open(r) || a->scope >= r->scope) {
        CHECK_MSG(!refused, "%s %s as %s: %s", r->method, path, a->name, answer);
    } else {
        CHECK_MSG(is == (a->scope == DN_SCOPE_NONE ? 401 : 403), "%s %s as %s: %s", r->method, path,
                  a->name, answer);
        CHECK((is == 401) == (answer_field("WWW-Authenticate") != NULL));
    }
}

static void instant_in(int seconds, char out[40]) {
    const time_t at = time(NULL) + seconds;
    struct tm    utc;

    (void)strftime(out, 40, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&at, &utc));
}

TEST(every_route_is_open_to_its_scope_and_those_above_it_and_to_nobody_else) {
    place *p = serves();
    char   tokens[DN_SCOPE_ADMIN + 1][128], revoked[128], expired[128], id[32], path[64], ends[40];

    for (dn_scope s = DN_SCOPE_READ; s <= DN_SCOPE_ADMIN; s++)
        makes_token(p, dn_scope_text(s), NULL, tokens[s], id);
    makes_token(p, "admin", NULL, revoked, id);
    (void)snprintf(path, sizeof path, "/api/v1/tokens/%s", id);
    CHECK_ASKS(p, 204, "DELETE", path, NULL);
    instant_in(10, ends); /* it is to be alive when it is made, also on a busy machine */
    makes_token(p, "admin", ends, expired, id);
    WAIT_FOR(asks_len(p, "GET", "/api/v1/slo", expired, NULL, 0) == 401, 60000);

    const asker askers[] = {
        {"nobody", DN_SCOPE_NONE, NULL},
        {"one with no token", DN_SCOPE_NONE, "admin"},
        {"one with a token there never was", DN_SCOPE_NONE,
         "diurnal_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"},
        {"one whose token was revoked", DN_SCOPE_NONE, revoked},
        {"one whose token has expired", DN_SCOPE_NONE, expired},
        {"read", DN_SCOPE_READ, tokens[DN_SCOPE_READ]},
        {"operate", DN_SCOPE_OPERATE, tokens[DN_SCOPE_OPERATE]},
        {"admin", DN_SCOPE_ADMIN, tokens[DN_SCOPE_ADMIN]},
    };
    for (EACH_ROUTE(r))
        for (size_t i = 0; i < sizeof askers / sizeof *askers; i++) check_asker(p, r, &askers[i]);
    stops(p);
}

/* ---- What gets in ---- */

static const char ours[] = "X-Diurnal-Request: 1\r\n";

static bool is_of_api(const route *r) { return strncmp(r->path, "/api/", 5) == 0; }

/* As admin, and as our own page. */
static int tries(const place *p, const route *r, const char *path, const char *fields,
                 const char *body, size_t len) {
    char all[256];

    (void)snprintf(all, sizeof all, "%s%s", ours, fields);
    return asks_whole(p, method_of(r), path, admin, all, body, len);
}

/* A problem of that status whose sentence has that name in it. */
static void check_refused(const route *r, int is, int status, const char *name) {
    if (strcmp(method_of(r), "HEAD") == 0) {
        CHECK_INT(is, status);
        return;
    }
    CHECK_MSG(is == status && strstr(member("detail"), name),
              "%s %s is to be %d and name \"%s\": %s", r->method, r->path, status, name, answer);
}

/* Nobody is registered, and no token is there but the first. */
static void check_untouched(const place *p, const route *r) {
    CHECK_ASKS(p, 200, "GET", "/api/v1/daily/users", NULL);
    CHECK_MSG(strcmp(member("items"), "[]") == 0, "%s %s has written: %s", r->method, r->path,
              answer);
    CHECK_ASKS(p, 200, "GET", "/api/v1/tokens", NULL);
    CHECK_MSG(json_array_size(json_object_get(said, "items")) == 1, "%s %s has written: %s",
              r->method, r->path, answer);
}

static char *nested(char open, size_t depth) {
    static char text[1 << 17];

    CHECK(depth < sizeof text);
    memset(text, open, depth);
    text[depth] = '\0';
    return text;
}

/* A body of which each member is good, so that one at a time can be made bad. */
static json_t *good_body(const json_t *schema) {
    const json_t *required = openapi_at(schema, "required");
    json_t       *body = json_object();

    for (size_t i = 0; i < json_array_size(required); i++) {
        const char   *name = json_string_value(json_array_get(required, i));
        const json_t *own = openapi_at(openapi_at(schema, "properties"), name);
        json_t       *value = json_array_get(openapi_at(own, "examples"), 0);
        if (!value) value = json_array_get(openapi_at(own, "enum"), 0);
        (void)json_object_set_new(body, name, value ? json_incref(value) : json_string("abc"));
    }
    return body;
}

static void check_bad_member(const place *p, const route *r, const json_t *schema,
                             const char *name) {
    static const char *const values[] = {"null", "true", "7",    "-1",          "1.5",
                                         "[]",   "{}",   "\"\"", "\"\\u0001\"", "[[[[[]]]]]"};
    const json_t            *own = openapi_at(openapi_at(schema, "properties"), name);
    char                     why[SCHEMA_WHY];

    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        json_t *value = json_loads(values[i], JSON_DECODE_ANY, NULL), *body = good_body(schema);
        CHECK(value && body);
        if (!schema_fits(openapi(), own, value, why)) {
            (void)json_object_set(body, name, value);
            char *text = json_dumps(body, 0);
            check_refused(r, tries(p, r, path_of(r, "987654", ""), "", text, strlen(text)), 400,
                          name);
            free(text);
        }
        json_decref(value);
        json_decref(body);
    }
}

static void check_json_bodies(const place *p, const route *r) {
    static const struct {
        const char *body, *name;
    } rows[] = {
        {"", "a body is required"},
        {"not json", "not JSON"},
        {"{", "not JSON"},
        {"{}{}", "not JSON"},
        {"[]", "JSON object"},
        {"[{}]", "JSON object"},
        {"{\"colour\":1}", "\"colour\""},
        {"{\"colour\":1,\"colour\":2}", "not JSON"},
        {"{\"\":1}", "\"\""},
        {"{\"\xff\":1}", "not JSON"},
        {"{\"colour\":\"\xc0\x80\"}", "not JSON"},
        {"{\"colour\":\"\\ud800\"}", "not JSON"},
        {"{\"colour\":\"\\u0000\"}", "not JSON"},
        {"{\"colour\":1e999}", "not JSON"},
    };
    const json_t *schema = openapi_at(openapi_operation(r->method, r->path, NULL),
                                      "requestBody/content/application~1json/schema");
    const char   *path = path_of(r, "987654", "");

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_refused(r, tries(p, r, path, "", rows[i].body, strlen(rows[i].body)), 400,
                      rows[i].name);
    const size_t deep = r->scope == DN_SCOPE_NONE ? 4000 : 100000; /* as a body may be long */
    check_refused(r, tries(p, r, path, "", nested('[', deep), deep), 400, "not JSON");
    for (const field *m = r->members; m->name; m++) check_bad_member(p, r, schema, m->name);
}

static const char *body_max_of(const route *r) {
    return r->scope == DN_SCOPE_NONE ? "4 KiB" : "1 MiB";
}

/* Ten megabytes that are said, and as many of them as need to come. */
static void check_huge_body(const place *p, const route *r) {
    static const char chunked[] = "Transfer-Encoding: chunked\r\n";
    static char       body[(1 << 20) + 4096];
    const int is = tries(p, r, path_of(r, "987654", ""), "Content-Length: 10485760\r\n", NULL, 0);

    check_refused(r, is, r->body == ROUTE_JSON ? 413 : 400,
                  r->body == ROUTE_JSON ? body_max_of(r) : "no body");
    if (r->body != ROUTE_JSON) return;
    memset(body, ' ', sizeof body);
    /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): it goes on */
    memcpy(body, "a00000\r\n", 8);
    check_refused(r, tries(p, r, path_of(r, "987654", ""), chunked, body, sizeof body), 413,
                  body_max_of(r));
}

TEST(no_body_that_is_no_good_gets_into_any_route_and_each_problem_says_what_is_wrong) {
    place *p = serves();

    for (EACH_ROUTE(r)) {
        if (!is_of_api(r) || r->body == ROUTE_STREAM) continue;
        if (r->body == ROUTE_JSON) check_json_bodies(p, r);
        else check_refused(r, tries(p, r, path_of(r, "987654", ""), "", "{}", 2), 400, "no body");
        check_huge_body(p, r);
        check_untouched(p, r);
    }
    stops(p);
}

/* A stream takes each line by itself, so what it refuses are lines. */
TEST(no_line_that_is_no_good_gets_in_by_a_stream) {
    static const char lines[] = "not json\n"
                                "[]\n"
                                "{}\n"
                                "{\"id\":7,\"due\":\"08:00\"}\n"
                                "{\"id\":\"\",\"due\":\"08:00\"}\n"
                                "{\"id\":\"a\",\"due\":8}\n"
                                "{\"id\":\"a\",\"due\":\"24:00\"}\n"
                                "{\"id\":\"a\",\"due\":\"08:00\",\"starts_on\":[]}\n"
                                "{\"id\":\"\xff\",\"due\":\"08:00\"}\n"
                                "{\"id\":\"\\ud800\",\"due\":\"08:00\"}\n"
                                "{\"id\":\"a\\u0000\",\"due\":\"08:00\"}\n";
    static char       body[1 << 20];
    place            *p = serves();

    for (EACH_ROUTE(r)) {
        if (r->body != ROUTE_STREAM) continue;
        CHECK_INT(tries(p, r, r->path, "", lines, sizeof lines - 1), 200);
        CHECK_STR(member("accepted"), "0");
        CHECK_STR(member("rejected"), "11");
        CHECK_INT(tries(p, r, r->path, "", nested('[', 100000), 100000), 200);
        CHECK_STR(member("rejected"), "1");
        memset(body, '{', sizeof body); /* one line, without an end */
        CHECK_INT(tries(p, r, r->path, "", body, sizeof body), 200);
        CHECK_STR(member("rejected"), "1");
        check_untouched(p, r);
    }
    stops(p);
}

static void check_query(const place *p, const route *r, const char *query, const char *name) {
    check_refused(r, tries(p, r, path_of(r, "987654", query), "", NULL, 0), 400, name);
}

static void check_param(const place *p, const route *r, const field *param) {
    static const char *const values[] = {
        "zz", "-1", "0", "1.5", "1e3", "999999999999999999999", "%20", "08%3A60", "2026-02-30"};
    const json_t *all = openapi_at(openapi_operation(r->method, r->path, NULL), "parameters");
    char          query[2048], name[64], why[SCHEMA_WHY];

    (void)snprintf(name, sizeof name, "\"%s\"", param->name);
    (void)snprintf(query, sizeof query, "?%s", param->name);
    check_query(p, r, query, name);
    (void)snprintf(query, sizeof query, "?%s=%%ff", param->name);
    check_query(p, r, query, name);
    (void)snprintf(query, sizeof query, "?%s=1&%s=1", param->name, param->name);
    check_query(p, r, query, name);
    (void)snprintf(query, sizeof query, "?%s=%.600s", param->name, nested('1', 600));
    check_query(p, r, query, name);
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *own = schema_resolve(openapi(), json_array_get(all, i));
        if (strcmp(json_string_value(json_object_get(own, "name")), param->name) != 0) continue;
        if (json_is_true(json_object_get(own, "required"))) check_query(p, r, "", name);
        for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
            json_t *value = json_loads(values[v], JSON_DECODE_ANY, NULL);
            if (param->type != FIELD_NUMBER || !value) {
                json_decref(value);
                value = json_string(values[v]);
            }
            (void)snprintf(query, sizeof query, "?%s=%s", param->name, values[v]);
            if (!schema_fits(openapi(), openapi_at(own, "schema"), value, why))
                check_query(p, r, query, name);
            json_decref(value);
        }
    }
}

TEST(no_query_that_is_no_good_is_passed_over_by_any_route_and_each_problem_names_the_parameter) {
    place *p = serves();

    for (EACH_ROUTE(r)) {
        if (!is_of_api(r)) continue;
        check_query(p, r, "?colour=red", "\"colour\"");
        check_query(p, r, "?=red", "\"\"");
        check_query(p, r, "?%ff", "\"");
        for (const field *param = r->query; param && param->name; param++) check_param(p, r, param);
        check_untouched(p, r);
    }
    stops(p);
}

TEST(no_id_that_is_no_good_is_taken_by_any_route) {
    static const char *const ids[] = {"",           "%00",       "%ff", "%20a", "a%0a",
                                      "%E3%80%80x", "%ED%A0%80", "-1",  "0"};
    place                   *p = serves();

    for (EACH_ROUTE(r)) {
        if (!strchr(r->path, '{') || !is_of_api(r)) continue; /* files have names */
        json_t *body = r->body == ROUTE_JSON
                           ? good_body(openapi_at(openapi_operation(r->method, r->path, NULL),
                                                  "requestBody/content/application~1json/schema"))
                           : NULL;
        char   *text = body ? json_dumps(body, 0) : NULL;
        for (size_t i = 0; i <= sizeof ids / sizeof *ids; i++) {
            const char *id = i < sizeof ids / sizeof *ids ? ids[i] : nested('a', 600);
            const bool  may_be = strcmp(id, "-1") == 0 || strcmp(id, "0") == 0; /* of a user */
            const int   is = tries(p, r, path_of(r, id, ""), "", text, text ? strlen(text) : 0);
            if (may_be && text) {
                CHECK_INT(asks(p, "DELETE", path_of(r, id, ""), NULL), 204);
            } else if (is == 404) {
                CHECK_DETAIL("unknown ");
            } else {
                check_refused(r, is, 400, "id ");
            }
        }
        free(text);
        json_decref(body);
        check_untouched(p, r);
    }
    stops(p);
}

/* ---- HEAD ---- */

TEST(head_is_answered_by_every_route_as_get_is_without_the_body) {
    place *p = serves();
    char   type[128];

    for (EACH_ROUTE(r)) {
        if (strcmp(r->method, "GET") != 0 || strcmp(method_of(r), "HEAD") == 0) continue;
        const int got = tries(p, r, path_of(r, "987654", ""), "", NULL, 0);
        (void)snprintf(type, sizeof type, "%s", answer_field("Content-Type"));
        const bool tagged = answer_field("ETag") != NULL;
        CHECK_INT(asks_whole(p, "HEAD", path_of(r, "987654", ""), admin, "", NULL, 0), got);
        CHECK_STR(answer_field("Content-Type"), type);
        CHECK((answer_field("ETag") != NULL) == tagged);
        CHECK(strtoul(answer_field("Content-Length"), NULL, 10) > 0);
        CHECK_STR(strstr(answer, "\r\n\r\n"), "\r\n\r\n");
    }
    stops(p);
}
