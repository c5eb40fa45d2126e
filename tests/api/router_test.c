/* router_test.c - the route of a path and a method, and what is answered where there is none. */
#include "router.h"

#include "route.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

enum { PATTERNS_MAX = 40 };

static const route first[] = {{.method = "GET", .path = "/claims/{id}"},
                              {.method = "DELETE", .path = "/claims/{id}"},
                              {.method = "POST", .path = "/tasks"},
                              {.method = "GET", .path = "/tasks"},
                              {.method = NULL}},
                   second[] = {{.method = "POST", .path = "/claims/{id}:renew"},
                               {.method = "POST", .path = "/claims:settle"},
                               {.method = "POST", .path = "/tasks:batch"},
                               {.method = "POST", .path = "/effects/{action}/{key}"},
                               {.method = "GET", .path = "/"},
                               {.method = NULL}};

static router       *made;
static path_captures captures;

static void makes(const route *a, const route *b) {
    const route *const tables[] = {a, b, NULL};

    CHECK_INT(router_new(tables, &made), DN_OK);
}

/* The path of the route, or "404", or the methods of a 405. */
static const char *find(const char *method, const char *path) {
    const char  *allow;
    const route *r = router_find(made, (http_text){method, strlen(method)},
                                 (http_text){path, strlen(path)}, &captures, &allow);

    return r ? r->path : allow ? allow : "404";
}

TEST(router_finds_a_route_by_method_and_path) {
    makes(first, second);
    CHECK_STR(find("GET", "/"), "/");
    CHECK_STR(find("GET", "/tasks"), "/tasks");
    CHECK_STR(find("POST", "/tasks:batch"), "/tasks:batch");
    CHECK_STR(find("POST", "/claims:settle"), "/claims:settle");
    CHECK_STR(find("POST", "/effects/mail/7"), "/effects/{action}/{key}");
    CHECK_UINT(captures.len, 2);
    CHECK(http_text_is(captures.at[1], "7"));
    router_free(made);
}

TEST(router_prefers_the_more_specific_path_whatever_the_order_of_the_tables) {
    for (int i = 0; i < 2; i++) {
        makes(i ? second : first, i ? first : second);
        CHECK_STR(find("POST", "/claims/7:renew"), "/claims/{id}:renew");
        CHECK(http_text_is(captures.at[0], "7"));
        CHECK_STR(find("GET", "/claims/7%3Arenew"), "/claims/{id}");
        CHECK(http_text_is(captures.at[0], "7%3Arenew"));
        router_free(made);
    }
}

TEST(router_lists_the_methods_of_a_path_that_has_not_the_one_asked_for) {
    makes(first, second);
    CHECK_STR(find("PUT", "/claims/7"), "GET, HEAD, DELETE");
    CHECK_STR(find("OPTIONS", "/tasks"), "POST, GET, HEAD");
    CHECK_STR(find("HEAD", "/tasks:batch"), "POST");
    CHECK_STR(find("get", "/"), "GET, HEAD");
    /* Never the claim "7:renew". */
    CHECK_STR(find("DELETE", "/claims/7:renew"), "POST");
    router_free(made);
}

TEST(router_answers_head_by_the_route_of_get) {
    makes(first, second);
    CHECK_STR(find("HEAD", "/claims/7"), "/claims/{id}");
    router_free(made);
}

TEST(router_has_no_route_for_an_unknown_path) {
    makes(first, second);
    CHECK_STR(find("GET", "/task"), "404");
    CHECK_STR(find("GET", "/tasks/7/8"), "404");
    CHECK_STR(find("GET", "/effects/mail"), "404");
    CHECK_STR(find("GET", ""), "404");
    router_free(made);
}

TEST(router_refuses_a_method_that_stands_twice_at_a_path_and_a_path_that_is_no_template) {
    static const route bad[] = {{.method = "GET", .path = "/{"}, {.method = NULL}};
    const route *const twice[] = {first, first, NULL}, *const none[] = {bad, NULL};

    CHECK_INT(router_new(twice, &made), DN_EINVAL);
    CHECK_INT(router_new(none, &made), DN_EINVAL);
}

/* ---- Against a search through all patterns ---- */

static void draw_pattern(uint64_t *seed, char out[64]) {
    static const char *const parts[] = {"a", "b", "{x}", "{x}:a", "a{x}", "a:a"};
    const size_t             segments = 1 + test_random(seed) % 3;
    size_t                   len = 0;

    for (size_t i = 0; i < segments; i++)
        len += (size_t)snprintf(out + len, 64 - len, "/%s", parts[test_random(seed) % 6]);
}

static void draw_path(uint64_t *seed, char out[64]) {
    static const char *const parts[] = {"a", "b", "a:a", "b:a", "ab", ""};
    const size_t             segments = 1 + test_random(seed) % 3;
    size_t                   len = 0;

    for (size_t i = 0; i < segments; i++)
        len += (size_t)snprintf(out + len, 64 - len, "/%s", parts[test_random(seed) % 6]);
}

static const route *naive_find(const route *table, const char *path) {
    const route *best = NULL;

    for (const route *r = table; r->method; r++) {
        path_pattern  p, than;
        path_captures unused;
        CHECK_INT(path_pattern_compile(r->path, &p), DN_OK);
        if (best) CHECK_INT(path_pattern_compile(best->path, &than), DN_OK);
        if (path_pattern_match(&p, (http_text){path, strlen(path)}, &unused) &&
            (!best || path_pattern_compare(&p, &than) < 0))
            best = r;
    }
    return best;
}

TEST(router_finds_the_most_specific_of_all_patterns_that_match) {
    static const route none[] = {{.method = NULL}};
    uint64_t           seed = test_seed();

    for (int round = 0; round < 300; round++) {
        static char texts[PATTERNS_MAX][64];
        route       table[PATTERNS_MAX + 1] = {{.method = NULL}};
        size_t      len = 0;
        for (size_t i = 0; i < PATTERNS_MAX; i++) {
            bool is_new = true;
            draw_pattern(&seed, texts[len]);
            for (size_t j = 0; j < len; j++) is_new &= strcmp(texts[j], texts[len]) != 0;
            if (!is_new) continue;
            table[len] = (route){.method = "GET", .path = texts[len]};
            len++;
        }
        makes(table, none);
        for (int i = 0; i < 100; i++) {
            char path[64];
            draw_path(&seed, path);
            const route *naive = naive_find(table, path);
            CHECK_STR(find("GET", path), naive ? naive->path : "404");
        }
        router_free(made);
    }
}
