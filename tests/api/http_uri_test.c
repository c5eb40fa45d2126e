/* http_uri_test.c - what stands in a path and in a query. */
#include "http/http_uri.h"
#include "test.h"

#include <string.h>

static http_text text_of(const char *text) { return (http_text){text, strlen(text)}; }

static const char *decoded(const char *text, bool in_query) {
    static char out[64];
    size_t      len = 0;

    CHECK_INT(http_uri_decode(text_of(text), in_query, out, sizeof out - 1, &len), DN_OK);
    out[len] = '\0';
    return out;
}

TEST(percents_are_bytes_and_a_plus_is_a_space_only_in_a_query) {
    CHECK_STR(decoded("a%20b%C3%bc%2f+", false), "a b\xc3\xbc/+");
    CHECK_STR(decoded("a+b%2B", true), "a b+");
    CHECK_STR(decoded("", true), "");
}

TEST(what_does_not_fit_is_refused) {
    char   out[4];
    size_t len;

    CHECK_INT(http_uri_decode(text_of("abcd"), false, out, sizeof out, &len), DN_OK);
    CHECK_UINT(len, 4);
    CHECK_INT(http_uri_decode(text_of("abcd%65"), false, out, sizeof out, &len), DN_EINVAL);
}

TEST(a_query_is_pairs_in_their_order) {
    http_text rest = text_of("&a=1&&verbose&b=x=y&c="), name, value;

    CHECK(http_query_next(&rest, &name, &value));
    CHECK(http_text_is(name, "a") && http_text_is(value, "1"));
    CHECK(http_query_next(&rest, &name, &value));
    CHECK(http_text_is(name, "verbose") && !value.at);
    CHECK(http_query_next(&rest, &name, &value));
    CHECK(http_text_is(name, "b") && http_text_is(value, "x=y"));
    CHECK(http_query_next(&rest, &name, &value));
    CHECK(http_text_is(name, "c") && value.at && value.len == 0);
    CHECK(!http_query_next(&rest, &name, &value));
}
