/* tenants_test.c - tokens of a tenant and of a user: how they are made and listed, and what they may not use. */
#include "asking.h"
#include "openapi.h"
#include "route.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EACH_ROUTE(r)                                                                              \
    const route *const *t_ = routes_all;                                                           \
    *t_;                                                                                           \
    t_++)                                                                                          \
        for (const route *r = *t_; r->method; r++

typedef struct made_token {
    char text[128], id[32];
} made_token;

/* As `by`; the status. fields: more members of the body, each after a comma. */
static int makes(const place *p, const char *by, const char *fields, made_token *out) {
    char      body[512];
    const int len = snprintf(body, sizeof body, "{\"name\":\"t\",\"scope\":\"admin\"%s}", fields);
    const int is = asks_len(p, "POST", "/api/v1/tokens", by, body, (size_t)len);

    if (is == 201 && out) {
        (void)snprintf(out->text, sizeof out->text, "%s", member("token"));
        (void)snprintf(out->id, sizeof out->id, "%s", member("id"));
    }
    return is;
}

static size_t lists(const place *p, const char *by) {
    CHECK_INT(asks_len(p, "GET", "/api/v1/tokens", by, NULL, 0), 200);
    return json_array_size(json_object_get(said, "items"));
}

TEST(token_of_a_tenant_is_listed_with_its_tenant_and_user) {
    place     *p = serves();
    made_token t;

    CHECK_INT(makes(p, admin, ",\"tenant\":\"acme\",\"user\":\"ada\"", &t), 201);
    CHECK_STR(member("tenant"), "acme");
    CHECK_STR(member("user"), "ada");
    CHECK_INT(makes(p, admin, ",\"tenant\":null,\"user\":null", &t), 201);
    CHECK(json_is_null(json_object_get(said, "tenant")));
    CHECK(json_is_null(json_object_get(said, "user")));
    CHECK_UINT(lists(p, admin), 3);
    const json_t *first = json_array_get(json_object_get(said, "items"), 1);
    CHECK_STR(json_string_value(json_object_get(first, "tenant")), "acme");
    CHECK_STR(json_string_value(json_object_get(first, "user")), "ada");
    stops(p);
}

TEST(token_with_a_tenant_or_user_that_is_none_is_refused) {
    static const char *const wrong[] = {",\"tenant\":\"\"",
                                        ",\"tenant\":\"a b\"",
                                        ",\"tenant\":\"a/b\"",
                                        ",\"tenant\":7",
                                        ",\"tenant\":\"\xc3\xa4\"",
                                        ",\"tenant\":\"a\",\"user\":\"\"",
                                        ",\"tenant\":\"a\",\"user\":\" b\"",
                                        ",\"user\":\"ada\""};
    place                   *p = serves();
    char                     fields[128];

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK_MSG(makes(p, admin, wrong[i], NULL) == 400, "%s", wrong[i]);
    CHECK_DETAIL("\"user\" needs a tenant");
    (void)snprintf(fields, sizeof fields, ",\"tenant\":\"%065d\"", 7);
    CHECK_INT(makes(p, admin, fields, NULL), 400);
    (void)snprintf(fields, sizeof fields, ",\"tenant\":\"%064d\"", 7);
    CHECK_INT(makes(p, admin, fields, NULL), 201);
    CHECK_INT(makes(p, admin, ",\"tenant\":\"aZ09._:-\"", NULL), 201);
    CHECK_UINT(lists(p, admin), 3);
    stops(p);
}

TEST(admin_token_of_a_tenant_makes_and_sees_and_revokes_tokens_of_that_tenant_only) {
    place     *p = serves();
    made_token acme, other, own;
    char       path[64];

    CHECK_INT(makes(p, admin, ",\"tenant\":\"acme\"", &acme), 201);
    CHECK_INT(makes(p, admin, ",\"tenant\":\"other\"", &other), 201);

    CHECK_INT(makes(p, acme.text, "", &own), 201);
    CHECK_STR(member("tenant"), "acme");
    CHECK_INT(makes(p, acme.text, ",\"user\":\"ada\"", NULL), 201);
    CHECK_INT(makes(p, acme.text, ",\"tenant\":\"acme\"", NULL), 201);
    CHECK_INT(makes(p, acme.text, ",\"tenant\":\"other\"", NULL), 403);
    CHECK_DETAIL("\"acme\"");
    CHECK_INT(makes(p, acme.text, ",\"tenant\":\"acm\"", NULL), 403);
    CHECK_UINT(lists(p, acme.text), 4);
    CHECK_UINT(lists(p, other.text), 1);
    CHECK_UINT(lists(p, admin), 6);

    (void)snprintf(path, sizeof path, "/api/v1/tokens/%s", other.id);
    CHECK_INT(asks_len(p, "DELETE", path, acme.text, NULL, 0), 404);
    CHECK_INT(asks_len(p, "DELETE", "/api/v1/tokens/1", acme.text, NULL, 0), 404);
    CHECK_INT(asks_len(p, "DELETE", "/api/v1/tokens/987", acme.text, NULL, 0), 404);
    CHECK_UINT(lists(p, admin), 6);
    (void)snprintf(path, sizeof path, "/api/v1/tokens/%s", own.id);
    CHECK_INT(asks_len(p, "DELETE", path, acme.text, NULL, 0), 204);
    CHECK_UINT(lists(p, acme.text), 3);
    stops(p);
}

/* With a number in place of {id}. */
static const char *path_of(const route *r) {
    static char path[256];
    const char *open = strchr(r->path, '{');

    (void)snprintf(path, sizeof path, "%.*s%s%s",
                   (int)(open ? open - r->path : (long)strlen(r->path)), r->path,
                   open ? "987654" : "", open ? strchr(r->path, '}') + 1 : "");
    return path;
}

/* Events go on for ever: whether they begin is enough. */
static const char *method_of(const route *r) {
    return strcmp(r->path, "/api/v1/events") == 0 ? "HEAD" : r->method;
}

TEST(token_with_a_tenant_gets_403_for_what_belongs_to_no_tenant) {
    static const char *const open[] = {"/api/v1/session",      "/api/v1/tickets",
                                       "/api/v1/tokens",       "/api/v1/tokens/{id}",
                                       "/api/v1/openapi.json", "/api/v1/events"};
    place                   *p = serves();
    made_token               acme;

    CHECK_INT(makes(p, admin, ",\"tenant\":\"acme\"", &acme), 201);
    for (EACH_ROUTE(r)) {
        bool is_open = r->scope == DN_SCOPE_NONE;
        for (size_t i = 0; i < sizeof open / sizeof *open; i++)
            is_open |= strcmp(r->path, open[i]) == 0;
        const int is = asks_len(p, method_of(r), path_of(r), acme.text, NULL, 0);
        if (r->scope == DN_SCOPE_NONE) continue;
        CHECK_MSG((is == 403) == !is_open, "%s %s: %d %s", r->method, r->path, is, answer);
    }
    CHECK_INT(asks_len(p, "GET", "/metrics", NULL, NULL, 0), 200); /* open on loopback */
    stops(p);
}

TEST(token_with_a_user_gets_403_for_all_but_reminders) {
    place     *p = serves();
    made_token ada;
    char       body[256];

    CHECK_INT(makes(p, admin, ",\"tenant\":\"acme\",\"user\":\"ada\"", &ada), 201);
    for (EACH_ROUTE(r)) {
        if (r->scope == DN_SCOPE_NONE) continue;
        const int is = asks_len(p, method_of(r), path_of(r), ada.text, NULL, 0);
        CHECK_MSG(is == 403, "%s %s: %d %s", r->method, r->path, is, answer);
    }
    const int len = snprintf(body, sizeof body, "{\"token\":\"%s\"}", ada.text);
    CHECK_INT(asks_whole(p, "POST", "/api/v1/session", NULL, "X-Diurnal-Request: 1\r\n", body,
                         (size_t)len),
              403);
    CHECK(!answer_field("Set-Cookie"));
    stops(p);
}

TEST(session_of_a_token_with_a_tenant_may_no_more_than_the_token) {
    place     *p = serves();
    made_token acme;
    char       body[256], cookie[256];

    CHECK_INT(makes(p, admin, ",\"tenant\":\"acme\"", &acme), 201);
    const int len = snprintf(body, sizeof body, "{\"token\":\"%s\"}", acme.text);
    CHECK_INT(asks_whole(p, "POST", "/api/v1/session", NULL, "X-Diurnal-Request: 1\r\n", body,
                         (size_t)len),
              200);
    const char *set = answer_field("Set-Cookie");
    CHECK(set);
    (void)snprintf(cookie, sizeof cookie, "Cookie: %.*s\r\n", (int)strcspn(set, ";"), set);
    CHECK_INT(asks_whole(p, "GET", "/api/v1/session", NULL, cookie, NULL, 0), 200);
    CHECK_INT(asks_whole(p, "GET", "/api/v1/daily/users", NULL, cookie, NULL, 0), 403);
    CHECK_INT(asks_whole(p, "GET", "/api/v1/tokens", NULL, cookie, NULL, 0), 200);
    CHECK_UINT(json_array_size(json_object_get(said, "items")), 1);
    stops(p);
}

TEST(token_of_a_tenant_keeps_its_tenant_over_a_restart) {
    place     *p = serves();
    made_token acme;

    CHECK_INT(makes(p, admin, ",\"tenant\":\"acme\"", &acme), 201);
    stops(p);
    place_serve(p, ARGS("--runner", "exec:/bin/true"));
    CHECK_UINT(lists(p, acme.text), 1);
    CHECK_INT(asks_len(p, "GET", "/api/v1/daily/users", acme.text, NULL, 0), 403);
    stops(p);
}
