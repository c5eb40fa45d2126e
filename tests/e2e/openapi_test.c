/* openapi_test.c - openapi.json describes the routes there are, whole, and each answer in these folders is held to it: what holds
 * them can fail. */
#include "openapi.h"

#include "route.h"
#include "schema.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

#define EACH_ROUTE(r)                                                                              \
    const route *const *t_ = routes_all;                                                           \
    *t_;                                                                                           \
    t_++)                                                                                          \
        for (const route *r = *t_; r->method; r++

/* ---- The document, and the tables of routes ---- */

static const json_t *described(const route *r) {
    const char   *pattern = "";
    const json_t *operation = openapi_operation(r->method, r->path, &pattern);

    CHECK_MSG(
        operation && strcmp(pattern, r->path) == 0,
        "%s %s is not in src/api/openapi.json: add it to \"paths\", with its parameters, body "
        "and responses",
        r->method, r->path);
    return operation;
}

TEST(every_route_is_described_and_all_that_is_described_is_a_route) {
    size_t      routes = 0, operations = 0;
    const char *path, *method;
    json_t     *item, *operation;

    for (EACH_ROUTE(r)) {
        CHECK(described(r));
        routes++;
    }
    json_object_foreach(json_object_get(openapi(), "paths"), path, item)
        json_object_foreach(item, method, operation) operations++;
    CHECK_UINT(operations, routes);
}

/* Who may, by either way in; an empty list: everyone. */
TEST(every_description_says_the_scope_of_its_route) {
    for (EACH_ROUTE(r)) {
        const json_t *security = json_object_get(described(r), "security");
        const char   *scope = dn_scope_text(r->scope);
        CHECK_MSG(json_is_array(security), "%s %s: \"security\" is missing", r->method, r->path);
        if (!scope) {
            CHECK_UINT(json_array_size(security), 0);
            continue;
        }
        json_t *wants = json_pack("[{s:[s]}, {s:[s]}]", "token", scope, "session", scope);
        CHECK_MSG(json_equal(security, wants), "%s %s: \"security\" is not that of scope %s",
                  r->method, r->path, scope);
        json_decref(wants);
    }
}

static size_t params_len(const json_t *operation, const char *in) {
    const json_t *all = json_object_get(operation, "parameters");
    size_t        len = 0;

    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *p = schema_resolve(openapi(), json_array_get(all, i));
        len += strcmp(json_string_value(json_object_get(p, "in")), in) == 0;
    }
    return len;
}

static const json_t *param(const json_t *operation, const char *in, const char *name) {
    const json_t *all = json_object_get(operation, "parameters");

    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *p = schema_resolve(openapi(), json_array_get(all, i));
        if (strcmp(json_string_value(json_object_get(p, "in")), in) == 0 &&
            strcmp(json_string_value(json_object_get(p, "name")), name) == 0)
            return p;
    }
    return NULL;
}

TEST(every_description_has_the_parameters_of_its_route_and_no_others) {
    for (EACH_ROUTE(r)) {
        const json_t *operation = described(r);
        size_t        len = 0;
        if (strncmp(r->path, "/api/", 5) != 0) continue;
        for (const field *p = r->query; p && p->name; p++, len++) {
            const json_t *own = param(operation, "query", p->name);
            CHECK_MSG(own, "%s %s: describe the parameter %s", r->method, r->path, p->name);
            const json_t *type = json_object_get(json_object_get(own, "schema"), "type");
            CHECK_MSG((p->type == FIELD_NUMBER) ==
                          (type && strcmp(json_string_value(type), "integer") == 0),
                      "%s %s: %s is a number or not", r->method, r->path, p->name);
        }
        CHECK_MSG(params_len(operation, "query") == len, "%s %s: not all of its parameters exist",
                  r->method, r->path);
        CHECK_UINT(params_len(operation, "path"), strchr(r->path, '{') ? 1 : 0);
        if (strchr(r->path, '{')) CHECK(param(operation, "path", "id"));
    }
}

TEST(every_description_has_the_body_of_its_route_with_the_members_it_takes) {
    for (EACH_ROUTE(r)) {
        const json_t *operation = described(r), *body = json_object_get(operation, "requestBody");
        CHECK_MSG((body != NULL) == (r->body != ROUTE_NO_BODY), "%s %s: \"requestBody\"", r->method,
                  r->path);
        if (r->body != ROUTE_JSON) continue;
        const json_t *schema = openapi_at(body, "content/application~1json/schema");
        const json_t *properties = json_object_get(schema, "properties");
        size_t        len = 0;
        for (const field *m = r->members; m->name; m++, len++)
            CHECK_MSG(json_object_get(properties, m->name), "%s %s: describe the member %s",
                      r->method, r->path, m->name);
        CHECK_MSG(json_object_size(properties) == len, "%s %s: not all of its members exist",
                  r->method, r->path);
        CHECK_MSG(json_is_false(json_object_get(schema, "additionalProperties")),
                  "%s %s: others are refused, so say \"additionalProperties\": false", r->method,
                  r->path);
    }
}

TEST(every_description_has_the_refusals_of_its_route) {
    for (EACH_ROUTE(r)) {
        const json_t *responses = json_object_get(described(r), "responses");
        const char   *wants[10] = {"default"};
        size_t        len = 1;
        if (r->scope != DN_SCOPE_NONE) {
            static const char *const guarded[] = {"400", "401", "403", "503"};
            for (size_t i = 0; i < 4; i++) wants[len++] = guarded[i];
        }
        if (r->body == ROUTE_JSON) wants[len++] = "413";
        const bool keyed = r->scope != DN_SCOPE_NONE && strcmp(r->method, "POST") == 0;
        if (keyed) wants[len++] = "409";
        if (keyed) wants[len++] = "422";
        CHECK_MSG(keyed == (param(described(r), "header", "Idempotency-Key") != NULL),
                  "%s %s: Idempotency-Key", r->method, r->path);
        for (size_t i = 0; i < len; i++)
            CHECK_MSG(json_object_get(responses, wants[i]), "%s %s: describe its answer %s",
                      r->method, r->path, wants[i]);
    }
}

/* ---- The document by itself ---- */

static void check_content(const json_t *content, const char *where) {
    const char *type;
    json_t     *media;
    char        why[SCHEMA_WHY];

    json_object_foreach((json_t *)(uintptr_t)content, type, media) {
        const json_t *schema = json_object_get(media, "schema");
        CHECK_MSG(schema && schema_is_known(openapi(), schema, why), "%s: %s", where, why);
    }
}

static const struct {
    const char *of, *key;
} known_keys[] = {
    {"operation", "operationId"}, {"operation", "tags"},
    {"operation", "summary"},     {"operation", "description"},
    {"operation", "security"},    {"operation", "parameters"},
    {"operation", "requestBody"}, {"operation", "responses"},
    {"parameter", "name"},        {"parameter", "in"},
    {"parameter", "required"},    {"parameter", "description"},
    {"parameter", "schema"},      {"parameter", "allowEmptyValue"},
    {"response", "description"},  {"response", "headers"},
    {"response", "content"},
};

static void check_keys(const json_t *object, const char *of, const char *where) {
    const char *key;
    json_t     *unused;

    json_object_foreach((json_t *)(uintptr_t)object, key, unused) {
        bool known = false;
        for (size_t i = 0; i < sizeof known_keys / sizeof *known_keys; i++)
            known |= strcmp(known_keys[i].of, of) == 0 && strcmp(known_keys[i].key, key) == 0;
        CHECK_MSG(known, "%s: OpenAPI has no \"%s\" in a %s, or none that is used here", where, key,
                  of);
    }
}

static void check_operation(const char *where, const json_t *operation, json_t *ids) {
    const char *id = json_string_value(json_object_get(operation, "operationId")), *status;
    json_t     *response;
    char        why[SCHEMA_WHY];

    check_keys(operation, "operation", where);
    CHECK_MSG(id && !json_object_get(ids, id), "%s: its operationId is missing, or not its own",
              where);
    (void)json_object_set_new(ids, id, json_true());
    CHECK_MSG(json_is_string(json_object_get(operation, "summary")), "%s: say what it is", where);
    const json_t *params = json_object_get(operation, "parameters");
    for (size_t i = 0; i < json_array_size(params); i++) {
        const json_t *p = schema_resolve(openapi(), json_array_get(params, i));
        check_keys(p, "parameter", where);
        CHECK_MSG(schema_is_known(openapi(), json_object_get(p, "schema"), why), "%s: %s", where,
                  why);
    }
    check_content(openapi_at(operation, "requestBody/content"), where);
    json_object_foreach(json_object_get(operation, "responses"), status, response) {
        const json_t *r = schema_resolve(openapi(), response);
        CHECK_MSG(r, "%s: the $ref of its %s leads nowhere", where, status);
        check_keys(r, "response", where);
        CHECK_MSG(json_is_string(json_object_get(r, "description")), "%s: say what its %s is",
                  where, status);
        check_content(json_object_get(r, "content"), where);
    }
}

TEST(the_document_is_whole_and_says_nothing_that_is_not_understood) {
    const char *path, *method, *name;
    json_t     *item, *operation, *schema, *ids = json_object();
    char        why[SCHEMA_WHY], where[256];

    CHECK_STR(json_string_value(json_object_get(openapi(), "openapi")), "3.1.0");
    json_object_foreach(json_object_get(openapi(), "paths"), path, item)
        json_object_foreach(item, method, operation) {
        (void)snprintf(where, sizeof where, "%s %s", method, path);
        check_operation(where, operation, ids);
    }
    json_object_foreach((json_t *)(uintptr_t)openapi_at(openapi(), "components/schemas"), name,
                        schema)
        CHECK_MSG(schema_is_known(openapi(), schema, why), "%s: %s", name, why);
    json_decref(ids);
}

/* ---- What holds answers to it ---- */

static bool text_fits(const char *schema, const char *value, char why[SCHEMA_WHY]) {
    json_t *s = json_loads(schema, 0, NULL), *v = json_loads(value, JSON_DECODE_ANY, NULL);

    CHECK_MSG(s && v, "%s, %s", schema, value);
    *why = '\0';
    const bool does = schema_fits(s, s, v, why);
    json_decref(s);
    json_decref(v);
    return does;
}

TEST(a_value_that_does_not_fit_its_schema_is_found_whatever_it_does_not_fit) {
    static const struct {
        const char *schema, *good, *bad, *why;
    } rows[] = {
        {"{\"type\":\"integer\"}", "1", "1.5", "\"type\""},
        {"{\"type\":\"number\"}", "1.5", "\"1\"", "\"type\""},
        {"{\"type\":\"string\"}", "\"a\"", "null", "\"type\""},
        {"{\"type\":\"boolean\"}", "true", "0", "\"type\""},
        {"{\"type\":\"array\"}", "[]", "{}", "\"type\""},
        {"{\"type\":\"object\"}", "{}", "[]", "\"type\""},
        {"{\"type\":[\"string\",\"null\"]}", "null", "0", "\"type\""},
        {"{\"enum\":[\"a\",null]}", "null", "\"b\"", "\"enum\""},
        {"{\"const\":\"a\"}", "\"a\"", "\"b\"", "\"const\""},
        {"{\"required\":[\"a\"],\"properties\":{\"a\":{}}}", "{\"a\":1}", "{}", "\"required\""},
        {"{\"properties\":{\"a\":{\"type\":\"null\"}}}", "{\"a\":null}", "{\"a\":1}", "a is 1"},
        {"{\"properties\":{\"a\":{}}}", "{}", "{\"b\":1}", "\"b\" that is not described"},
        {"{\"items\":{\"minimum\":3}}", "[3,4]", "[4,2]", "1 is 2"},
        {"{\"prefixItems\":[{},{\"type\":\"null\"}]}", "[1,null]", "[1,2]", "1 is 2"},
        {"{\"prefixItems\":[{}]}", "[1]", "[1,2]", "\"prefixItems\""},
        {"{\"minItems\":1}", "[0]", "[]", "\"minItems\""},
        {"{\"maxItems\":1}", "[0]", "[0,0]", "\"maxItems\""},
        {"{\"maximum\":3}", "3", "4", "\"maximum\""},
        {"{\"minLength\":1}", "\"\xc3\xbc\"", "\"\"", "\"minLength\""},
        {"{\"maxLength\":1}", "\"\xc3\xbc\"", "\"ab\"", "\"maxLength\""},
        {"{\"pattern\":\"^[0-9]{2}$\"}", "\"12\"", "\"123\"", "\"pattern\""},
        {"{\"properties\":{\"a\":{\"$ref\":\"#/b/c\"},\"b\":{}},\"description\":\"d\"}",
         "{\"b\":1}", "{\"a\":1}", "\"$ref\""},
    };
    char why[SCHEMA_WHY];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK_MSG(text_fits(rows[i].schema, rows[i].good, why), "row %zu: %s", i, why);
        CHECK_MSG(!text_fits(rows[i].schema, rows[i].bad, why), "row %zu", i);
        CHECK_MSG(strstr(why, rows[i].why), "row %zu: %s", i, why);
    }
}

TEST(a_keyword_that_is_not_understood_is_a_fault_of_the_schema) {
    char why[SCHEMA_WHY];

    CHECK(!text_fits("{\"type\":\"integer\",\"multipleOf\":2}", "4", why));
    CHECK(strstr(why, "\"multipleOf\""));
    json_t *schema = json_loads("{\"items\":{\"properties\":{\"a\":{\"oneOf\":[]}}}}", 0, NULL);
    CHECK(!schema_is_known(schema, schema, why));
    CHECK(strstr(why, "\"oneOf\""));
    json_decref(schema);
}

static const char *fault_of(const char *request, const char *answer) {
    return openapi_fault(request, strlen(request), answer);
}

#define GUARDS                                                                                     \
    "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: "              \
    "no-referrer\r\n"                                                                              \
    "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n"
#define JSON_HEAD(status, type, len)                                                               \
    "HTTP/1.1 " status "\r\n" GUARDS "ETag: \"x\"\r\nContent-Type: " type                          \
    "\r\nContent-Length: " len "\r\n\r\n"

TEST(an_answer_is_held_to_its_status_its_type_its_fields_and_its_schema) {
    static const struct {
        const char *request, *answer, *fault; /* NULL: there is none */
    } rows[] = {
        {"GET /healthz HTTP/1.1", JSON_HEAD("200 OK", "text/plain; charset=utf-8", "6") "alive\n",
         NULL},
        {"HEAD /api/v1/slo?x HTTP/1.1", JSON_HEAD("200 OK", "application/json", "12"), NULL},
        {"DELETE /api/v1/tokens/7 HTTP/1.1", "HTTP/1.1 204 No Content\r\n" GUARDS "\r\n", NULL},
        {"\x01",
         JSON_HEAD("400 Bad Request", "application/problem+json",
                   "71") "{\"type\":\"about:blank\",\"title\":\"Bad Request\",\"status\":400,"
                         "\"detail\":\"no\"}",
         NULL},
        {"GET /healthz HTTP/1.1", JSON_HEAD("202 Accepted", "text/plain", "0"),
         "describe that status"},
        {"GET /healthz HTTP/1.1", JSON_HEAD("200 OK", "text/html", "0"), "add that type"},
        {"DELETE /api/v1/tokens/7 HTTP/1.1", JSON_HEAD("204 No Content", "text/plain", "0"),
         "no \"content\" there"},
        {"GET /api/v1/session HTTP/1.1",
         JSON_HEAD("200 OK", "application/json", "12") "{\"name\":\"a\"}", "\"required\""},
        {"GET /api/v1/session HTTP/1.1", JSON_HEAD("200 OK", "application/json", "2") "{]",
         "no JSON"},
        {"POST /api/v1/session HTTP/1.1",
         JSON_HEAD("200 OK", "application/json", "27") "{\"name\":\"a\",\"scope\":\"read\"}",
         "without the field Set-Cookie"},
        {"GET /api/v1/session HTTP/1.1",
         "HTTP/1.1 200 OK\r\n" GUARDS "Content-Type: application/json\r\n\r\n", "field ETag"},
        {"GET /healthz HTTP/1.1", "HTTP/1.1 200 OK\r\n\r\nalive\n", "nosniff"},
        {"GET /healthz HTTP/1.1",
         "HTTP/1.1 200 OK\r\nContent-Security-Policy: script-src 'unsafe-inline'\r\n"
         "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\r\n",
         "a policy that is no good"},
        {"GET /nowhere HTTP/1.1", JSON_HEAD("200 OK", "text/plain", "0"), "add it to its"},
        {"GET /nowhere HTTP/1.1", JSON_HEAD("404 Not Found", "text/plain", "0"), "add that type"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *fault = fault_of(rows[i].request, rows[i].answer);
        if (!rows[i].fault) CHECK_MSG(!fault, "row %zu: %s", i, fault);
        else CHECK_MSG(fault && strstr(fault, rows[i].fault), "row %zu: %s", i, fault);
    }
}

TEST(an_event_is_held_to_its_name_and_its_schema) {
    CHECK_PTR(openapi_events_fault("retry: 2000\n\nid: 1-1\nevent: reset\ndata: {}\n\n"), NULL);
    CHECK(strstr(openapi_events_fault("event: other\ndata: {}\n\n"), "x-events"));
    CHECK(strstr(openapi_events_fault("event: reset\ndata: {}\n\nevent: hello\ndata: {}\n\n"),
                 "\"required\""));
}
