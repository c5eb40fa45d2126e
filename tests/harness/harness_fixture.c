/* harness_fixture.c - tests that fail on purpose; harness_test.c runs them and looks at how. */
#include "test.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

static volatile int zero;

TEST(passes) { CHECK_INT(zero, 0); }

TEST(fails_a_check) {
    CHECK(zero == 1);
    fputs("still here\n", stderr);
}
TEST(fails_a_message) { CHECK_MSG(zero == 1, "zero was %d", zero); }
TEST(fails_an_int) { CHECK_INT(zero - 3, INT64_MAX); }
TEST(fails_a_uint) { CHECK_UINT(UINT64_MAX, zero); }
TEST(fails_a_string) { CHECK_STR("tea", "coffee"); }
TEST(fails_a_null_string) { CHECK_STR(NULL, "coffee"); }
TEST(fails_a_pointer) { CHECK_PTR(stderr, NULL); }

TEST(aborts_unexpectedly) { abort(); }
TEST(exits_unexpectedly) { exit(7); }
TEST(prints_its_seed_and_two_numbers) {
    uint64_t       state = test_seed();
    const uint64_t one = test_random(&state), two = test_random(&state);

    printf("%llu %llu %llu\n", (unsigned long long)test_seed(), (unsigned long long)one,
           (unsigned long long)two);
}

TEST_ABORTS(aborts_with_the_words, "a cup is missing") { assert(zero && "a cup is missing"); }
TEST_ABORTS(aborts_with_other_words, "a cup is missing") { assert(zero && "a plate is missing"); }
TEST_ABORTS(says_the_words_and_lives, "a cup is missing") { fputs("a cup is missing\n", stderr); }
TEST_ABORTS(says_the_words_and_exits, "a cup is missing") {
    fputs("a cup is missing\n", stderr);
    exit(134);
}
TEST_ABORTS(fails_a_check_with_the_words, "a cup is missing") {
    CHECK_MSG(zero, "a cup is missing");
}
TEST_ABORTS(talks_long_before_it_aborts, "tea") {
    fputs("tea\n", stderr);
    for (int i = 0; i < 100000; i++) fputs("and so on\n", stderr);
    abort();
}
