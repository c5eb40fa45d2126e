/* auth_test.c - who comes in, and as what. */
#include "auth/auth.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

static const int64_t now_ms = 1000000;

static dn_token made(uint64_t n, dn_scope scope, int64_t ends_ms, char text[DN_TOKEN_TEXT]) {
    dn_token t = {.id = n, .scope = scope, .ends_ms = ends_ms};

    CHECK_INT(dn_token_make(text, t.hash), DN_OK);
    return t;
}

/* What a request with that field may. */
static dn_scope scope_of(auth *g, const char *value) {
    const http_head head = {
        .fields = {{{"Authorization", 13}, {value, strlen(value)}}},
        .fields_len = 1,
    };

    return auth_identify(g, &head, now_ms).scope;
}

static dn_scope scope_with(auth *g, const char *scheme, const char *token) {
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
    auth     g = {0};
    char     reader[DN_TOKEN_TEXT], admin[DN_TOKEN_TEXT], old[DN_TOKEN_TEXT], late[DN_TOKEN_TEXT];
    dn_token rows[] = {made(1, DN_SCOPE_READ, INT64_MAX, reader),
                       made(2, DN_SCOPE_ADMIN, now_ms + 1, admin),
                       made(3, DN_SCOPE_ADMIN, now_ms, old)};
    dn_token more = made(4, DN_SCOPE_OPERATE, INT64_MAX, late);

    CHECK_INT(scope_with(&g, "Bearer ", reader), DN_SCOPE_NONE);
    CHECK_INT(auth_load(&g, rows, 3), DN_OK);
    CHECK(g.loaded);
    CHECK_INT(scope_with(&g, "Bearer ", reader), DN_SCOPE_READ);
    CHECK_INT(scope_with(&g, "bearer ", admin), DN_SCOPE_ADMIN);
    CHECK_INT(scope_with(&g, "Bearer ", old), DN_SCOPE_NONE);
    CHECK_INT(scope_with(&g, "Bearer ", late), DN_SCOPE_NONE);
    CHECK_INT(auth_add(&g, &more), DN_OK);
    CHECK_INT(scope_with(&g, "Bearer ", late), DN_SCOPE_OPERATE);
    auth_revoke(&g, 2);
    auth_revoke(&g, 99);
    CHECK_INT(scope_with(&g, "Bearer ", admin), DN_SCOPE_NONE);
    CHECK_INT(scope_with(&g, "Bearer ", late), DN_SCOPE_OPERATE);
    auth_done(&g);
}

TEST(whatever_else_is_said_opens_nothing) {
    auth     g = {0};
    char     text[DN_TOKEN_TEXT];
    dn_token t = made(1, DN_SCOPE_ADMIN, INT64_MAX, text);

    CHECK_INT(auth_load(&g, &t, 1), DN_OK);
    CHECK_INT(scope_with(&g, "", text), DN_SCOPE_NONE);
    CHECK_INT(scope_with(&g, "Basic ", text), DN_SCOPE_NONE);
    CHECK_INT(scope_with(&g, "Bearer  ", text), DN_SCOPE_NONE);
    CHECK_INT(scope_of(&g, "Bearer "), DN_SCOPE_NONE);
    CHECK_INT(scope_of(&g, ""), DN_SCOPE_NONE);
    text[DN_TOKEN_TEXT - 2] ^= 1;
    CHECK_INT(scope_with(&g, "Bearer ", text), DN_SCOPE_NONE);
    const http_head bare = {.fields_len = 0};
    CHECK_INT(auth_identify(&g, &bare, now_ms).scope, DN_SCOPE_NONE);
    auth_done(&g);
}

/* ---- Browsers ---- */

/* What a request with that cookie may, at that instant. */
static auth_identity who_with(auth *g, const char *before, const char *session, int64_t at_ms) {
    char      value[256];
    const int len = snprintf(value, sizeof value, "%s" AUTH_COOKIE "=%s; z=1", before, session);
    const http_head head = {.fields = {{{"cookie", 6}, {value, (size_t)len}}}, .fields_len = 1};

    return auth_identify(g, &head, at_ms);
}

TEST(a_session_may_what_its_token_may_and_ends_with_it_by_age_and_when_nobody_uses_it) {
    auth     g = {0};
    char     text[DN_TOKEN_TEXT], session[DN_TOKEN_TEXT], other[DN_TOKEN_TEXT];
    dn_token t = made(7, DN_SCOPE_OPERATE, INT64_MAX, text);

    CHECK_INT(auth_load(&g, &t, 1), DN_OK);
    CHECK_UINT(auth_redeem(&g, text, strlen(text), now_ms), 7);
    CHECK_INT(auth_pass_make(&g, 7, false, now_ms, session), DN_OK);
    const auth_identity who = who_with(&g, "", session, now_ms);
    CHECK_INT(who.scope, DN_SCOPE_OPERATE);
    CHECK_UINT(who.token, 7);
    CHECK(who.by_cookie);
    CHECK_INT(who_with(&g, "a=b; diurnal_sessio=x; ", session, now_ms).scope, DN_SCOPE_OPERATE);
    CHECK_INT(scope_with(&g, "Bearer ", session), DN_SCOPE_NONE);
    CHECK_INT(who_with(&g, "", text, now_ms).scope, DN_SCOPE_NONE); /* a token is no session */
    CHECK_UINT(auth_redeem(&g, session, strlen(session), now_ms), 0);
    CHECK_INT(who_with(&g, "", session, now_ms + AUTH_IDLE_MS).scope, DN_SCOPE_NONE);
    int64_t at_ms = now_ms;
    for (; at_ms < now_ms + AUTH_SESSION_MS; at_ms += AUTH_IDLE_MS - 1)
        CHECK_INT(who_with(&g, "", session, at_ms).scope, DN_SCOPE_OPERATE);
    CHECK_INT(who_with(&g, "", session, now_ms + AUTH_SESSION_MS).scope, DN_SCOPE_NONE);
    CHECK_INT(auth_pass_make(&g, 7, false, now_ms, other), DN_OK);
    auth_revoke(&g, 7);
    CHECK_INT(who_with(&g, "", other, now_ms).scope, DN_SCOPE_NONE);
    CHECK_INT(auth_add(&g, &t), DN_OK);
    CHECK_INT(who_with(&g, "", other, now_ms).scope, DN_SCOPE_NONE);
    auth_done(&g);
}

TEST(a_cookie_is_named_after_the_port_that_is_asked_for) {
    static const char *const rows[][2] = {
        {"a", "diurnal_session"},
        {"a:1440", "diurnal_session_1440"},
        {"[::1]", "diurnal_session"},
        {"[::1]:80", "diurnal_session_80"},
        {"a:", "diurnal_session"},
        {"a:x", "diurnal_session"},
        {"a:123456", "diurnal_session_12345"},
    };
    char name[AUTH_COOKIE_NAME];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const http_head head = {
            .fields = {{{"Host", 4}, {rows[i][0], strlen(rows[i][0])}}},
            .fields_len = 1,
        };
        auth_cookie_name(&head, name);
        CHECK_STR(name, rows[i][1]);
    }
}

TEST(a_ticket_is_worth_one_login_within_a_minute) {
    auth     g = {0};
    char     text[DN_TOKEN_TEXT], ticket[DN_TOKEN_TEXT], late[DN_TOKEN_TEXT];
    dn_token t = made(7, DN_SCOPE_READ, INT64_MAX, text);

    CHECK_INT(auth_load(&g, &t, 1), DN_OK);
    CHECK_INT(auth_pass_make(&g, 7, true, now_ms, ticket), DN_OK);
    CHECK_INT(auth_pass_make(&g, 7, true, now_ms, late), DN_OK);
    CHECK_INT(who_with(&g, "", ticket, now_ms).scope, DN_SCOPE_NONE);
    CHECK_UINT(auth_redeem(&g, ticket, strlen(ticket), now_ms + AUTH_TICKET_MS - 1), 7);
    CHECK_UINT(auth_redeem(&g, ticket, strlen(ticket), now_ms), 0);
    CHECK_UINT(auth_redeem(&g, late, strlen(late), now_ms + AUTH_TICKET_MS), 0);
    auth_done(&g);
}

TEST(of_more_sessions_than_there_is_room_for_the_one_not_used_for_the_longest_ends) {
    auth     g = {0};
    char     text[DN_TOKEN_TEXT], sessions[AUTH_PASSES_MAX + 1][DN_TOKEN_TEXT];
    dn_token t = made(7, DN_SCOPE_READ, INT64_MAX, text);

    CHECK_INT(auth_load(&g, &t, 1), DN_OK);
    for (int i = 0; i < AUTH_PASSES_MAX; i++)
        CHECK_INT(auth_pass_make(&g, 7, false, now_ms + i, sessions[i]), DN_OK);
    CHECK_INT(who_with(&g, "", sessions[0], now_ms + 1000).scope, DN_SCOPE_READ);
    CHECK_INT(auth_pass_make(&g, 7, false, now_ms + 2000, sessions[AUTH_PASSES_MAX]), DN_OK);
    for (int i = 0; i <= AUTH_PASSES_MAX; i++)
        CHECK_INT(who_with(&g, "", sessions[i], now_ms + 3000).scope,
                  i == 1 ? DN_SCOPE_NONE : DN_SCOPE_READ);
    auth_done(&g);
}

/* Two who may, and a session of the first. */
static void two_who_may(auth *g, char session[DN_TOKEN_TEXT]) {
    char     text[DN_TOKEN_TEXT];
    dn_token rows[] = {made(7, DN_SCOPE_ADMIN, INT64_MAX, text),
                       made(8, DN_SCOPE_READ, INT64_MAX, text)};

    *g = (auth){0};
    CHECK_INT(auth_load(g, rows, 2), DN_OK);
    CHECK_INT(auth_pass_make(g, 7, false, now_ms, session), DN_OK);
}

TEST(who_asks_for_tickets_and_sessions_without_end_ends_none_but_his_own) {
    auth g;
    char session[DN_TOKEN_TEXT], ticket[DN_TOKEN_TEXT], more[DN_TOKEN_TEXT];

    two_who_may(&g, session);
    CHECK_INT(auth_pass_make(&g, 7, true, now_ms, ticket), DN_OK);
    for (int i = 1; i <= 3 * AUTH_PASSES_MAX; i++) {
        CHECK_INT(auth_pass_make(&g, 8, true, now_ms + i, more), DN_OK);
        CHECK_INT(auth_pass_make(&g, 8, false, now_ms + i, more), DN_OK);
    }
    CHECK_INT(who_with(&g, "", session, now_ms + 1000).scope, DN_SCOPE_ADMIN);
    CHECK_UINT(auth_redeem(&g, ticket, strlen(ticket), now_ms + 1000), 7);
    CHECK_INT(who_with(&g, "", more, now_ms + 1000).scope, DN_SCOPE_READ);
    auth_done(&g);
}

TEST(who_has_no_session_yet_gets_the_place_of_one_who_has_most) {
    auth     g;
    char     first[DN_TOKEN_TEXT], second[DN_TOKEN_TEXT], text[DN_TOKEN_TEXT];
    dn_token late = made(9, DN_SCOPE_OPERATE, INT64_MAX, text);

    two_who_may(&g, first);
    CHECK_INT(auth_add(&g, &late), DN_OK);
    for (int i = 1; i < AUTH_PASSES_MAX; i++)
        CHECK_INT(auth_pass_make(&g, 8, false, now_ms + i, text), DN_OK);
    CHECK_INT(auth_pass_make(&g, 9, false, now_ms + 1000, second), DN_OK);
    CHECK_INT(who_with(&g, "", first, now_ms + 1000).scope, DN_SCOPE_ADMIN);
    CHECK_INT(who_with(&g, "", second, now_ms + 1000).scope, DN_SCOPE_OPERATE);
    auth_done(&g);
}

TEST(what_has_ended_makes_room_before_what_has_not_however_lately_it_was_used) {
    const int64_t late_ms = now_ms + AUTH_SESSION_MS - AUTH_IDLE_MS / 2;
    auth          g;
    char          ends[DN_TOKEN_TEXT], oldest[DN_TOKEN_TEXT], more[DN_TOKEN_TEXT];

    two_who_may(&g, ends);
    for (int64_t at_ms = now_ms; at_ms < late_ms; at_ms += AUTH_IDLE_MS / 2)
        CHECK_INT(who_with(&g, "", ends, at_ms).scope, DN_SCOPE_ADMIN);
    CHECK_INT(auth_pass_make(&g, 7, false, late_ms, oldest), DN_OK);
    for (int i = 2; i < AUTH_PASSES_MAX; i++)
        CHECK_INT(auth_pass_make(&g, 7, false, late_ms + i, more), DN_OK);
    CHECK_INT(who_with(&g, "", ends, now_ms + AUTH_SESSION_MS - 1).scope, DN_SCOPE_ADMIN);
    CHECK_INT(auth_pass_make(&g, 7, false, now_ms + AUTH_SESSION_MS, more), DN_OK);
    CHECK_INT(who_with(&g, "", oldest, now_ms + AUTH_SESSION_MS).scope, DN_SCOPE_ADMIN);
    auth_done(&g);
}

TEST(who_has_a_session_already_takes_no_place_of_one_who_has_many) {
    auth g;
    char first[DN_TOKEN_TEXT], own[DN_TOKEN_TEXT], more[DN_TOKEN_TEXT];

    two_who_may(&g, first);
    for (int i = 2; i < AUTH_PASSES_MAX; i++)
        CHECK_INT(auth_pass_make(&g, 7, false, now_ms + i, more), DN_OK);
    CHECK_INT(auth_pass_make(&g, 8, false, now_ms + 100, own), DN_OK);
    CHECK_INT(auth_pass_make(&g, 8, false, now_ms + 101, more), DN_OK);
    CHECK_INT(who_with(&g, "", first, now_ms + 102).scope, DN_SCOPE_ADMIN);
    CHECK_INT(who_with(&g, "", own, now_ms + 102).scope, DN_SCOPE_NONE);
    CHECK_INT(who_with(&g, "", more, now_ms + 102).scope, DN_SCOPE_READ);
    auth_done(&g);
}
