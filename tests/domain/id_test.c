/* id_test.c - which bytes are an id. */
#include "base/text.h"
#include "domain/daily_rule.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

#define BYTES(literal) (literal), sizeof(literal) - 1

/* As RFC 3629 draws it, for any number: also for those that are no characters. */
static size_t encode(uint32_t c, size_t len, char *text) {
    static const uint8_t firsts[] = {0, 0, 0xc0, 0xe0, 0xf0};

    if (len == 1) {
        text[0] = (char)c;
        return 1;
    }
    for (size_t i = len - 1; i > 0; i--, c >>= 6) text[i] = (char)(0x80 | (c & 0x3f));
    text[0] = (char)(firsts[len] | c);
    return len;
}

static size_t encoded_len(uint32_t c) { return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4; }

TEST(every_character_of_unicode_is_read_back) {
    char     text[8];
    uint32_t read;

    for (uint32_t c = 0; c <= 0x10ffff; c++) {
        const size_t len = encode(c, encoded_len(c), text);

        if (c >= 0xd800 && c <= 0xdfff) {
            CHECK_UINT(dn_utf8_read(text, len, &read), 0);
            continue;
        }
        CHECK_UINT(dn_utf8_read(text, len, &read), len);
        CHECK_UINT(read, c);
        for (size_t cut = 0; cut < len; cut++) CHECK_UINT(dn_utf8_read(text, cut, &read), 0);
    }
}

TEST(of_all_three_bytes_only_as_many_are_characters_as_there_are_of_them) {
    uint32_t counts[4] = {0}, c;

    for (uint32_t n = TEST_SLOW_FACTOR == 1 ? 0 : 0xe0 << 16; n < 1 << 24; n++) {
        const char text[3] = {(char)(n >> 16), (char)(n >> 8), (char)n};

        counts[dn_utf8_read(text, sizeof text, &c)]++;
    }
    CHECK_UINT(counts[3], 0x10000 - 0x800 - 0x800); /* without the surrogates */
    if (TEST_SLOW_FACTOR > 1) return;
    CHECK_UINT(counts[1], 0x80 << 16);
    CHECK_UINT(counts[2], (0x800 - 0x80) << 8);
}

TEST(of_four_bytes_those_are_characters_that_lie_between_u10000_and_u10ffff) {
    static const uint8_t edges[] = {0x00, 0x20, 0x7f, 0x80, 0x8f, 0x90, 0x9f,
                                    0xa0, 0xbf, 0xc0, 0xc2, 0xe0, 0xf4, 0xff};
    enum { EDGES = sizeof edges };

    for (uint32_t first = 0xf0; first <= 0xff; first++)
        for (uint32_t second = 0; second <= 0xff; second++)
            for (size_t i = 0; i < EDGES * EDGES; i++) {
                const uint32_t third = edges[i / EDGES], fourth = edges[i % EDGES];
                const char     text[] = {(char)first, (char)second, (char)third, (char)fourth};
                const bool     has_form =
                    first < 0xf8 && second >> 6 == 2 && third >> 6 == 2 && fourth >> 6 == 2;
                const uint32_t c =
                    (first & 7) << 18 | (second & 63) << 12 | (third & 63) << 6 | (fourth & 63);
                const bool is_one = has_form && c >= 0x10000 && c <= 0x10ffff;
                uint32_t   read = 0;

                CHECK_UINT(dn_utf8_read(text, 4, &read), is_one ? 4 : 0);
                CHECK_UINT(read, is_one ? c : 0);
            }
}

TEST(an_overlong_form_is_no_character) {
    char     text[8];
    uint32_t read;

    for (uint32_t c = 0; c < 0x10000; c++)
        for (size_t len = encoded_len(c) + 1; len <= 4; len++) {
            (void)encode(c, len, text);
            CHECK_UINT(dn_utf8_read(text, len, &read), 0);
        }
}

TEST(an_id_of_any_length_is_copied_and_nothing_beside_it) {
    char id[DN_ID_MAX], to[DN_ID_MAX + 2];

    for (size_t i = 0; i < sizeof id; i++) id[i] = (char)('!' + i % 90);
    for (size_t len = 0; len <= sizeof id; len++) {
        memset(to, '\n', sizeof to);
        dn_id_copy(to + 1, id, len);
        CHECK(memcmp(to + 1, id, len) == 0);
        CHECK_INT(to[0], '\n');
        CHECK_INT(to[len + 1], '\n');
    }
}

TEST(ids_of_any_script_are_ids) {
    char longest[DN_ID_MAX];

    memset(longest, 'x', sizeof longest);
    CHECK_STR(dn_id_fault(BYTES("a")), NULL);
    CHECK_STR(dn_id_fault(BYTES("ada@example.org")), NULL);
    CHECK_STR(dn_id_fault(BYTES("Ada Lovelace")), NULL);
    CHECK_STR(dn_id_fault(BYTES("\xce\xb1\xce\xb2\xce\xb3/\xe7\x94\xa8\xe6\x88\xb7")), NULL);
    CHECK_STR(dn_id_fault(BYTES("\xf0\x9f\x8c\x92")), NULL);
    CHECK_STR(dn_id_fault(BYTES("\"',;%\\{}")), NULL);
    CHECK_STR(dn_id_fault(longest, sizeof longest), NULL);
}

TEST(what_is_wrong_with_an_id_is_said_in_words) {
    char long_one[DN_ID_MAX + 1];

    memset(long_one, 'x', sizeof long_one);
    CHECK_STR(dn_id_fault(BYTES("")), "is empty");
    CHECK_STR(dn_id_fault(NULL, 0), "is empty");
    CHECK_STR(dn_id_fault(long_one, sizeof long_one), "is longer than 128 bytes");
    CHECK_STR(dn_id_fault(BYTES("a\xff")), "is not UTF-8");
    CHECK_STR(dn_id_fault(BYTES("a\xc3")), "is not UTF-8");
    CHECK_STR(dn_id_fault(BYTES("\xc0\x80")), "is not UTF-8");
    CHECK_STR(dn_id_fault(BYTES("\xed\xa0\x80")), "is not UTF-8");
    CHECK_STR(dn_id_fault(BYTES("\xf4\x90\x80\x80")), "is not UTF-8");
    CHECK_STR(dn_id_fault(BYTES("a\0b")), "has a control character in it");
    CHECK_STR(dn_id_fault(BYTES("a\nb")), "has a control character in it");
    CHECK_STR(dn_id_fault(BYTES("a\033[31m")), "has a control character in it");
    CHECK_STR(dn_id_fault(BYTES("a\x7f")), "has a control character in it");
    CHECK_STR(dn_id_fault(BYTES("a\xc2\x85")), "has a control character in it");
    CHECK_STR(dn_id_fault(BYTES("a\xc2\x9f")), "has a control character in it");
    CHECK_STR(dn_id_fault(BYTES(" a")), "begins with a space");
    CHECK_STR(dn_id_fault(BYTES("a ")), "ends with a space");
    CHECK_STR(dn_id_fault(BYTES(" ")), "begins with a space");
}

TEST(exactly_the_white_space_of_unicode_may_not_stand_at_the_ends) {
    static const uint32_t spaces[] = {0x20,   0xa0,   0x1680, 0x2000, 0x2001, 0x2002, 0x2003,
                                      0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200a,
                                      0x2028, 0x2029, 0x202f, 0x205f, 0x3000};
    size_t                found = 1; /* U+0020: below */

    for (uint32_t c = 0xa0; c <= 0x10ffff; c++) {
        char text[12];

        if (c >= 0xd800 && c <= 0xdfff) continue;
        const size_t len = encode(c, encoded_len(c), text);
        text[len] = 'a';
        const char *begin = dn_id_fault(text, len + 1);
        memmove(text + 1, text, len);
        text[0] = 'a';
        const char *end = dn_id_fault(text, len + 1);
        text[len + 1] = 'a';
        CHECK_STR(dn_id_fault(text, len + 2), NULL); /* between letters it may */
        CHECK(!begin == !end);
        if (!begin) continue;
        CHECK_STR(begin, "begins with a space");
        CHECK_STR(end, "ends with a space");
        CHECK_UINT(c, spaces[found++]);
    }
    CHECK_STR(dn_id_fault(BYTES(" a")), "begins with a space");
    CHECK_UINT(found, sizeof spaces / sizeof spaces[0]);
}

/* Each in a block of its own size, so that a byte read too many is seen by the sanitizer. */
TEST(no_byte_is_looked_at_beyond_the_end) {
    uint64_t random = test_seed();

    for (int n = 0; n < 200000 / TEST_SLOW_FACTOR; n++) {
        const size_t len = 1 + test_random(&random) % 12;
        char *const  id = malloc(len);

        if (!id) abort();
        for (size_t i = 0; i < len; i++)
            id[i] = test_random(&random) % 2 == 0 ? 'a' : (char)test_random(&random);
        (void)dn_id_fault(id, len);
        free(id);
    }
}
