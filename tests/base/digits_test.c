/* digits_test.c - whole numbers against those of the C library. */
#include "base/digits.h"
#include "test.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void is_written(int64_t value) {
    char wanted[32], got[32] = "##############################";

    const int len = snprintf(wanted, sizeof wanted, "%" PRId64, value);
    char     *end = dn_digits_write(got, value);
    CHECK_MSG(end - got == len && memcmp(got, wanted, (size_t)len) == 0, "%s: %.31s", wanted, got);
    CHECK_MSG(*end == '#', "%s: and something behind it: %.31s", wanted, got);
    CHECK_MSG(len <= DN_DIGITS_MAX, "%s is longer than the longest", wanted);
}

TEST(numbers_of_any_length_are_written_whole_and_nothing_behind_them) {
    uint64_t power = 1;

    is_written(0);
    for (int digits = 1; digits <= 19; digits++, power *= 10) {
        for (int64_t off = -1; off <= 1; off++) {
            is_written((int64_t)power + off);
            is_written(-((int64_t)power + off));
        }
    }
    is_written(INT64_MAX);
    is_written(INT64_MIN);
}

TEST(any_number_is_written_as_the_c_library_writes_it) {
    uint64_t random = test_seed();

    for (int i = 0; i < 20000; i++) {
        const uint64_t any = test_random(&random);
        is_written((int64_t)(any >> any % 64));
        is_written((int64_t)any);
    }
}

TEST(a_number_of_so_many_digits_has_zeros_in_front) {
    char got[] = "########";

    CHECK(dn_digits_pad(got, 7, 3) == got + 3);
    CHECK_STR(got, "007#####");
    CHECK(dn_digits_pad(got + 3, 86399, 5) == got + 8);
    CHECK_STR(got, "00786399");
}
