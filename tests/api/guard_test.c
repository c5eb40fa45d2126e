/* guard_test.c - who comes in, and as what. */
#include "guard.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

static const int64_t now_ms = 1000000;

static dn_token made(uint64_t n, dn_scope scope, int64_t ends_ms, char text[DN_TOKEN_TEXT]) {
    dn_token t = {.n = n, .scope = scope, .ends_ms = ends_ms};

    CHECK_INT(dn_token_make(text, t.hash), DN_OK);
    return t;
}

/* What a request with that field may. */
static dn_scope scope_of(const guard *g, const char *value) {
    const http_head head = {
        .fields = {{{"Authorization", 13}, {value, strlen(value)}}},
        .fields_len = 1,
    };

    return guard_scope(g, &head, now_ms);
}

static dn_scope scope_with(const guard *g, const char *scheme, const char *token) {
    char value[DN_TOKEN_TEXT + 16];

    (void)snprintf(value, sizeof value, "%s%s", scheme, token);
    return scope_of(g, value);
}

TEST(a_token_is_256_random_bits_behind_a_word_and_only_their_hash_is_kept) {
    char     one[DN_TOKEN_TEXT], other[DN_TOKEN_TEXT];
    uint8_t  again[DN_TOKEN_HASH];
    dn_token t = made(1, DN_SCOPE_READ, INT64_MAX, one);

    (void)made(2, DN_SCOPE_READ, INT64_MAX, other);
    CHECK(strncmp(one, "diurnal_", 8) == 0 && strlen(one) == 8 + 43);
    CHECK(strcmp(one, other) != 0);
    CHECK_UINT(strspn(one + 8, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
               43);
    CHECK(dn_token_hash(one, strlen(one), again));
    CHECK(memcmp(again, t.hash, sizeof again) == 0);
    CHECK(!dn_token_hash(one, strlen(one) - 1, again));
    CHECK(!dn_token_hash("diurnal", 7, again));
}

/* SHA-256 of the text, as any other program says. */
TEST(the_hash_is_sha_256_of_the_text) {
    static const uint8_t known[] = {0xc8, 0xfc, 0x59, 0xae};
    uint8_t              hash[DN_TOKEN_HASH];
    char                 text[DN_TOKEN_TEXT];

    memcpy(text, DN_TOKEN_BEGIN, sizeof DN_TOKEN_BEGIN - 1);
    memset(text + sizeof DN_TOKEN_BEGIN - 1, 'A', 43);
    CHECK(dn_token_hash(text, DN_TOKEN_TEXT - 1, hash));
    CHECK(memcmp(hash, known, sizeof known) == 0);
}

TEST(who_has_a_token_may_what_its_scope_says_until_it_ends_or_is_removed) {
    guard    g = {0};
    char     reader[DN_TOKEN_TEXT], admin[DN_TOKEN_TEXT], old[DN_TOKEN_TEXT], late[DN_TOKEN_TEXT];
    dn_token rows[] = {made(1, DN_SCOPE_READ, INT64_MAX, reader),
                       made(2, DN_SCOPE_ADMIN, now_ms + 1, admin),
                       made(3, DN_SCOPE_ADMIN, now_ms, old)};
    dn_token more = made(4, DN_SCOPE_OPERATE, INT64_MAX, late);

    CHECK_INT(scope_with(&g, "Bearer ", reader), DN_SCOPE_NONE);
    CHECK_INT(guard_learn(&g, rows, 3), DN_OK);
    CHECK(g.known);
    CHECK_INT(scope_with(&g, "Bearer ", reader), DN_SCOPE_READ);
    CHECK_INT(scope_with(&g, "bearer ", admin), DN_SCOPE_ADMIN);
    CHECK_INT(scope_with(&g, "Bearer ", old), DN_SCOPE_NONE);
    CHECK_INT(scope_with(&g, "Bearer ", late), DN_SCOPE_NONE);
    CHECK_INT(guard_add(&g, &more), DN_OK);
    CHECK_INT(scope_with(&g, "Bearer ", late), DN_SCOPE_OPERATE);
    guard_remove(&g, 2);
    guard_remove(&g, 99);
    CHECK_INT(scope_with(&g, "Bearer ", admin), DN_SCOPE_NONE);
    CHECK_INT(scope_with(&g, "Bearer ", late), DN_SCOPE_OPERATE);
    guard_done(&g);
}

TEST(whatever_else_is_said_opens_nothing) {
    guard    g = {0};
    char     text[DN_TOKEN_TEXT];
    dn_token t = made(1, DN_SCOPE_ADMIN, INT64_MAX, text);

    CHECK_INT(guard_learn(&g, &t, 1), DN_OK);
    CHECK_INT(scope_with(&g, "", text), DN_SCOPE_NONE);
    CHECK_INT(scope_with(&g, "Basic ", text), DN_SCOPE_NONE);
    CHECK_INT(scope_with(&g, "Bearer  ", text), DN_SCOPE_NONE);
    CHECK_INT(scope_of(&g, "Bearer "), DN_SCOPE_NONE);
    CHECK_INT(scope_of(&g, ""), DN_SCOPE_NONE);
    text[DN_TOKEN_TEXT - 2] ^= 1;
    CHECK_INT(scope_with(&g, "Bearer ", text), DN_SCOPE_NONE);
    const http_head bare = {.fields_len = 0};
    CHECK_INT(guard_scope(&g, &bare, now_ms), DN_SCOPE_NONE);
    guard_done(&g);
}
