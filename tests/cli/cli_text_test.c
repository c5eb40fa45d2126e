/* cli_text_test.c - numbers and lists given as flags are read whole, or refused. */
#include "cli_text.h"

#include "command.h"
#include "own_dir.h"

#include <string.h>

TEST(a_whole_number_of_64_bits_is_read_and_nothing_else) {
    static const char *const none[] = {"",
                                       "-1",
                                       "+1",
                                       " 1",
                                       "1 ",
                                       "one",
                                       "0x",
                                       "1..2",
                                       "1e3",
                                       "18446744073709551616",
                                       "0x10000000000000000",
                                       "99999999999999999999999"};
    uint64_t                 n = 0;

    CHECK(text_whole("0", "", &n) && n == 0);
    CHECK(text_whole("0x1f", "", &n) && n == 31);
    CHECK(text_whole("18446744073709551615", "", &n) && n == UINT64_MAX);
    CHECK(text_whole("7..9", "..9", &n) && n == 7);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        CHECK_MSG(!text_whole(none[i], "", &n), "%s", none[i]);
}

static int run_with(const char *what, const char *flag, const char *value, const char *operand) {
    const char *argv[] = {"diurnal", what, flag, value, operand};
    char       *environment[] = {NULL};

    return commands_run(operand ? 5 : 4, (char **)argv, environment);
}

TEST(a_seed_that_no_64_bits_hold_is_refused) {
    static const char trace[] =
        "{\"trace\":1,\"start\":\"2026-03-02T06:00:00Z\",\"end\":\"2026-03-02T06:00:01Z\"}\n";

    own_file_write("trace", trace, strlen(trace));
    CHECK_INT(run_with("replay", "--seed", "18446744073709551615", "trace"), DN_EXIT_DONE);
    CHECK_INT(run_with("replay", "--seed", "18446744073709551616", "trace"), DN_EXIT_USAGE);
    CHECK_INT(run_with("simulate", "--seeds", "1..18446744073709551616", NULL), DN_EXIT_USAGE);
}

/* The last of many is wrong: a reader with a bound would never see it. */
TEST(replay_reads_every_value_of_set) {
    static const char trace[] =
        "{\"trace\":1,\"start\":\"2026-03-02T06:00:00Z\",\"end\":\"2026-03-02T06:00:01Z\"}\n";
    char  sets[4096];
    char *at = sets;

    own_file_write("trace", trace, strlen(trace));
    for (int i = 0; i < 100; i++) at += sprintf(at, "max_concurrency=%d,", 1 + i);
    (void)sprintf(at, "max_concurrency=2");
    CHECK_INT(run_with("replay", "--set", sets, "trace"), DN_EXIT_DONE);
    (void)sprintf(at, "max_concurrency=0");
    CHECK_INT(run_with("replay", "--set", sets, "trace"), DN_EXIT_USAGE);
}

TEST(simulate_reads_every_fault_of_the_list) {
    char        list[4096] = "crash";
    const char *argv[] = {"diurnal", "simulate", "--seeds", "1..1", "--faults", list};
    char       *environment[] = {NULL};

    for (int i = 0; i < 100; i++) (void)strcat(list, ",clock");
    CHECK_INT(commands_run(6, (char **)argv, environment), DN_EXIT_DONE);
    (void)strcat(list, ",clocks");
    CHECK_INT(commands_run(6, (char **)argv, environment), DN_EXIT_USAGE);
}
