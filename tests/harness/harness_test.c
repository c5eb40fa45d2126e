/* harness_test.c - a harness that cannot fail proves nothing: each way to fail is made to happen. */
#define _GNU_SOURCE
#include "test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

typedef struct outcome {
    int  status;
    char said[1 << 16];
} outcome;

/* Runs the fixture program (HARNESS_FIXTURE, from the build) and hears both of its outputs. */
static outcome fixture(const char *args) {
    outcome o = {0};
    char    command[1024];
    FILE   *out;
    size_t  len = 0, got;

    snprintf(command, sizeof command, "exec '%s' %s 2>&1", HARNESS_FIXTURE, args);
    out = popen(command, "r"); /* NOLINT(cert-env33-c): the command is ours */
    CHECK(out);
    while ((got = fread(o.said + len, 1, sizeof o.said - 1 - len, out)) > 0) len += got;
    o.status = pclose(out);
    return o;
}

static void check_exit(const outcome *o, int code) {
    CHECK_MSG(WIFEXITED(o->status), "status %#x, said: %s", (unsigned)o->status, o->said);
    CHECK_INT(WEXITSTATUS(o->status), code);
}

static void check_said(const outcome *o, const char *text) {
    CHECK_MSG(strstr(o->said, text), "no \"%s\" in: %s", text, o->said);
}

static void check_fails_saying(const char *sentence, const char *text) {
    const outcome o = fixture(sentence);

    check_exit(&o, 1);
    check_said(&o, text);
}

TEST(a_test_that_passes_exits_with_zero) {
    const outcome o = fixture("passes");

    check_exit(&o, 0);
}

TEST(a_failed_check_names_file_line_and_condition_and_ends_the_test) {
    const outcome o = fixture("fails_a_check");

    check_exit(&o, 1);
    check_said(&o, "tests/harness/harness_fixture.c:13: CHECK(zero == 1): ");
    CHECK_PTR(strstr(o.said, "still here"), NULL);
}

TEST(a_failed_check_shows_its_message_or_both_values) {
    check_fails_saying("fails_a_message", "zero was 0\n");
    check_fails_saying("fails_an_int", "is -3, expected 9223372036854775807\n");
    check_fails_saying("fails_a_uint", "is 18446744073709551615 (0xffffffffffffffff), expected 0");
    check_fails_saying("fails_a_string", "is \"tea\", expected \"coffee\"\n");
    check_fails_saying("fails_a_null_string", "is NULL, expected \"coffee\"\n");
    check_fails_saying("fails_a_pointer", ", expected (nil)\n");
}

TEST(a_failure_prints_the_seed_in_the_form_that_runs_it_again) {
    setenv("DIURNAL_TEST_SEED", "0xfeed", 1);
    check_fails_saying("fails_a_check",
                       "rerun: DIURNAL_TEST_SEED=0xfeed ./dev test fails_a_check\n");
}

TEST(a_crash_leaves_the_seed_too) {
    outcome o;

    setenv("DIURNAL_TEST_SEED", "7", 1);
    o = fixture("aborts_unexpectedly");
    CHECK(WIFSIGNALED(o.status));
    CHECK_INT(WTERMSIG(o.status), SIGABRT);
    check_said(&o, "rerun: DIURNAL_TEST_SEED=0x7 ./dev test aborts_unexpectedly\n");
}

TEST(the_same_seed_gives_the_same_numbers_in_decimal_and_in_hexadecimal) {
    outcome decimal, hexadecimal;

    setenv("DIURNAL_TEST_SEED", "255", 1);
    decimal = fixture("prints_its_seed_and_two_numbers");
    setenv("DIURNAL_TEST_SEED", "0xff", 1);
    hexadecimal = fixture("prints_its_seed_and_two_numbers");
    check_exit(&decimal, 0);
    check_said(&decimal, "255 ");
    CHECK_STR(decimal.said, hexadecimal.said);
}

TEST(without_a_given_seed_each_run_has_another) {
    outcome one, two;

    unsetenv("DIURNAL_TEST_SEED");
    one = fixture("prints_its_seed_and_two_numbers");
    two = fixture("prints_its_seed_and_two_numbers");
    CHECK(strcmp(one.said, two.said) != 0);
}

TEST(a_seed_that_is_no_number_is_refused) {
    static const char *const bad[] = {"tea", "1x", "0xg", "-1", "18446744073709551616"};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        outcome o;

        setenv("DIURNAL_TEST_SEED", bad[i], 1);
        o = fixture("passes");
        check_exit(&o, 2);
        check_said(&o, "want a number");
    }
}

TEST(the_generator_is_splitmix64) {
    uint64_t state = 1234567;

    CHECK_UINT(test_random(&state), UINT64_C(6457827717110365317));
    CHECK_UINT(test_random(&state), UINT64_C(3203168211198807973));
    CHECK_UINT(test_random(&state), UINT64_C(9817491932198370423));
}

TEST(an_expected_abort_passes_only_as_an_abort_with_the_words) {
    const outcome good = fixture("aborts_with_the_words");
    const outcome long_talk = fixture("talks_long_before_it_aborts");

    check_exit(&good, 0);
    check_exit(&long_talk, 0);
    check_fails_saying("aborts_with_other_words", "a plate is missing");
    check_fails_saying("says_the_words_and_lives", "exited with 0, expected an abort");
    check_fails_saying("says_the_words_and_exits", "exited with 134, expected an abort");
    check_fails_saying("fails_a_check_with_the_words", "exited with 1, expected an abort");
}

TEST(all_tests_run_though_some_fail_crash_or_exit) {
    const outcome o = fixture("");

    check_exit(&o, 1);
    check_said(&o, "ok passes\n");
    check_said(&o, "FAILED fails_a_check\n");
    check_said(&o, "FAILED aborts_unexpectedly: Aborted\n");
    check_said(&o, "FAILED exits_unexpectedly\n");
    check_said(&o, "4 passed, 13 failed\n");
}

TEST(the_list_is_in_the_order_of_the_file) {
    const outcome o = fixture("--list");

    check_exit(&o, 0);
    CHECK_PTR(strstr(o.said, "passes\nfails_a_check\nfails_a_message\n"), o.said);
}

TEST(an_unknown_test_is_refused) {
    const outcome o = fixture("no_such_sentence");

    check_exit(&o, 2);
    check_said(&o, "no such test: no_such_sentence; --list names them\n");
}

TEST(a_sanitizer_is_known_as_one) {
    CHECK(test_under_sanitizer() == (TEST_SLOW_FACTOR > 1));
    CHECK(TEST_SLOW_FACTOR >= 1);
}
TEST_ABORTS(an_abort_under_this_build_is_seen, "on purpose") {
    fputs("on purpose\n", stderr);
    abort();
}
