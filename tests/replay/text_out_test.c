/* text_out_test.c - JSON written by hand is what a JSON library reads back. */
#include "test.h"
#include "text_out.h"

#include <jansson.h>
#include <math.h>

static char out[8192];

static json_t *read_back(const char *end) {
    json_error_t error;
    json_t *value = json_loadb(out, (size_t)(end - out), JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);

    CHECK_MSG(value != NULL, "%.*s: %s", (int)(end - out), out, error.text);
    return value;
}

/* Bytes of UTF-8 of one and two bytes, and whatever JSON wants escaped, at every place of every word of eight. */
TEST(any_text_is_read_back_as_it_was) {
    static const char *const bits[] = {"a", "\"",   "\\",       "\n", "\x01", "\x1f",
                                       " ", "\x7f", "\xc3\xa9", "z",  "b"};
    uint64_t                 random = test_seed();
    char                     text[256];

    for (int round = 0; round < 20000; round++) {
        const int pieces = (int)(test_random(&random) % 40);
        size_t    len = 0;
        for (int i = 0; i < pieces; i++) {
            const uint64_t which = test_random(&random);
            const char    *bit = bits[which % (which & 64 ? 11 : 1)];
            memcpy(text + len, bit, strlen(bit));
            len += strlen(bit);
        }
        json_t *value = read_back(text_out_string(out, text, len));
        CHECK_UINT(json_string_length(value), len);
        CHECK(memcmp(json_string_value(value), text, len) == 0);
        json_decref(value);
        char *const end = text_out_string(out, text, len), *const again = out + sizeof out / 2;
        CHECK_INT(text_out_id(again, text, len) - again, end - out);
        CHECK(memcmp(again, out, (size_t)(end - out)) == 0);
    }
}

TEST(numbers_are_read_back_as_they_were) {
    static const int64_t whole[] = {0, 1, -1, 9, 10, 99, 100, INT64_MAX, INT64_MIN, -1000};
    static const double  real[] = {0, 0.1, 1.0 / 3, 1e300, 5e-324, -2.5, 30000, 123456789.125};

    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        json_t *value = read_back(text_out_number(out, whole[i]));
        CHECK_INT(json_integer_value(value), whole[i]);
        json_decref(value);
    }
    for (size_t i = 0; i < sizeof real / sizeof *real; i++) {
        json_t *value = read_back(text_out_real(out, real[i]));
        CHECK(json_number_value(value) == real[i]);
        json_decref(value);
    }
    CHECK(json_is_null(read_back(text_out_real(out, NAN))));
}
