/* path_pattern_test.c - templates of paths: which are none, what they match and capture, and which of two is meant. */
#include "http/path_pattern.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

static path_pattern compiled(const char *text) {
    path_pattern p;

    CHECK_MSG(path_pattern_compile(text, &p) == DN_OK, "%s", text);
    return p;
}

/* "no", or the captures, a bar after each. Valid until the next call. */
static const char *match(const char *pattern, const char *path) {
    static char        text[256];
    const path_pattern p = compiled(pattern);
    path_captures      captures;
    size_t             len = 0;

    if (!path_pattern_match(&p, (http_text){path, strlen(path)}, &captures)) return "no";
    text[0] = '\0';
    for (size_t i = 0; i < captures.len; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%.*s|", (int)captures.at[i].len,
                                captures.at[i].at);
    return text;
}

TEST(path_pattern_without_captures_matches_its_own_text_alone) {
    CHECK_STR(match("/", "/"), "");
    CHECK_STR(match("/tasks", "/tasks"), "");
    CHECK_STR(match("/tasks:batch", "/tasks:batch"), "");
    CHECK_STR(match("/tasks:batch", "/tasks"), "no");
    CHECK_STR(match("/tasks", "/tasks:batch"), "no");
    CHECK_STR(match("/tasks", "/task"), "no");
    CHECK_STR(match("/tasks", "/tasks/"), "no");
    CHECK_STR(match("/tasks", "/tasks/7"), "no");
    CHECK_STR(match("/tasks", "//tasks"), "no");
    CHECK_STR(match("/tasks", "tasks"), "no");
    CHECK_STR(match("/tasks", ""), "no");
    CHECK_STR(match("/tasks", "*"), "no");
    CHECK_STR(match("/", ""), "no");
}

TEST(path_pattern_captures_one_segment_as_it_stands_in_the_path) {
    CHECK_STR(match("/users/{id}", "/users/ada"), "ada|");
    CHECK_STR(match("/users/{id}", "/users/"), "|");
    CHECK_STR(match("/users/{id}", "/users"), "no");
    CHECK_STR(match("/users/{id}", "/users/a/b"), "no");
    CHECK_STR(match("/users/{id}", "/users/a%2Fb:c"), "a%2Fb:c|");
    CHECK_STR(match("/users/{id}/days", "/users/ada/days"), "ada|");
    CHECK_STR(match("/users/{id}/days", "/users/ada/why"), "no");
    CHECK_STR(match("/effects/{action}/{key}", "/effects/mail/7"), "mail|7|");
    CHECK_STR(match("/effects/{action}/{key}", "/effects//"), "||");
    CHECK_STR(match("/effects/{action}/{key}", "/effects/mail"), "no");
}

TEST(path_pattern_capture_may_have_literal_text_around_it) {
    CHECK_STR(match("/claims/{id}:renew", "/claims/7:renew"), "7|");
    CHECK_STR(match("/claims/{id}:renew", "/claims/7:8:renew"), "7:8|");
    CHECK_STR(match("/claims/{id}:renew", "/claims/:renew"), "|");
    CHECK_STR(match("/claims/{id}:renew", "/claims/7"), "no");
    CHECK_STR(match("/claims/{id}:renew", "/claims/renew"), "no");
    CHECK_STR(match("/claims/{id}:renew", "/claims/7%3Arenew"), "no");
    CHECK_STR(match("/v{major}.json", "/v12.json"), "12|");
    CHECK_STR(match("/aba{x}aba", "/ababa"), "no"); /* the two must not overlap */
    CHECK_STR(match("/aba{x}aba", "/abaaba"), "|");
}

TEST(path_pattern_refuses_a_text_that_is_no_template) {
    static const char *const texts[] = {"",
                                        "users",
                                        "/{",
                                        "/}",
                                        "/{}",
                                        "/}{",
                                        "/{a}{b}",
                                        "/{a{b}}",
                                        "/{a}}",
                                        "/{a/b}",
                                        "/1/2/3/4/5/6/7/8/9/10/11/12/13",
                                        "/{a}/{b}/{c}/{d}/{e}"};
    path_pattern             p;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        CHECK_MSG(path_pattern_compile(texts[i], &p) == DN_EINVAL, "%s", texts[i]);
}

TEST(path_pattern_order_puts_the_more_specific_first) {
    static const char *const order[] = {"/a",       "/b{x}c",     "/b{x}",
                                        "/{x}",     "/{x}/a",     "/{x}/{y}:renew",
                                        "/{x}/{y}", "/{x}/{y}/a", "/{x}/{y}/{z}"};

    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        for (size_t j = 0; j < sizeof order / sizeof *order; j++) {
            const path_pattern a = compiled(order[i]), b = compiled(order[j]);
            const int          is = path_pattern_compare(&a, &b);
            CHECK_MSG((is > 0) - (is < 0) == (i > j) - (i < j), "%s and %s", order[i], order[j]);
        }
}

/* ---- Against a naive matcher ---- */

/* Tries every length of every capture, longest first. */
static bool naive_match(const char *pattern, const char *path, char captures[64]) {
    if (*pattern == '\0') return *path == '\0';
    if (*pattern != '{') return *path == *pattern && naive_match(pattern + 1, path + 1, captures);
    const char *const rest = strchr(pattern, '}') + 1;
    const size_t      max = strcspn(path, "/");
    for (size_t len = max + 1; len-- > 0;) {
        const size_t own = (size_t)snprintf(captures, 32, "%.*s|", (int)len, path);
        if (naive_match(rest, path + len, captures + own)) return true;
    }
    *captures = '\0';
    return false;
}

/* Few letters, so that many paths match. */
static void draw(uint64_t *seed, bool is_pattern, char out[64]) {
    static const char *const parts[] = {
        "a", "b", "ab", ":", "a:", "", "{x}", "{x}:a", "a{x}", "a{x}b"};
    const size_t segments = 1 + test_random(seed) % 3;
    size_t       len = 0;

    for (size_t i = 0; i < segments; i++)
        len += (size_t)snprintf(out + len, 64 - len, "/%s%s",
                                parts[test_random(seed) % (is_pattern ? 10 : 6)],
                                is_pattern ? "" : parts[test_random(seed) % 6]);
}

TEST(path_pattern_matches_what_a_naive_matcher_matches) {
    uint64_t seed = test_seed();
    int      matched = 0;

    for (int i = 0; i < 200000; i++) {
        char pattern[64], path[64], captures[64] = "";
        draw(&seed, /* is_pattern= */ true, pattern);
        draw(&seed, /* is_pattern= */ false, path);
        const bool  naive = naive_match(pattern, path, captures);
        const char *is = match(pattern, path);
        CHECK_MSG(strcmp(is, naive ? captures : "no") == 0, "%s %s: %s, not %s", pattern, path, is,
                  naive ? captures : "no");
        matched += naive;
    }
    CHECK(matched > 1000);
}
