/* check_config_test.c - what check-config accepts is what serve starts with. */
#include "cli/command.h"
#include "own_dir.h"
#include "test.h"

/* insecure: NULL or the flag. */
static int checks(const char *listen, const char *insecure) {
    const char *argv[] = {
        "diurnal", "check-config", "--runner", "demo:", "--listen", listen, insecure, NULL};
    char *environment[] = {NULL};

    return commands_run(insecure ? 7 : 6, (char **)argv, environment);
}

TEST(an_address_that_serve_would_refuse_is_refused) {
    CHECK_INT(checks("127.0.0.1:1440", NULL), DN_EXIT_DONE);
    CHECK_INT(checks("0.0.0.0:1440", NULL), DN_EXIT_USAGE);
    CHECK_INT(checks("0.0.0.0:1440", "--insecure-listen"), DN_EXIT_DONE);
}

static int checks_places(const char *data, const char *record) {
    const char *argv[] = {"diurnal", "check-config", "--runner", "demo:", "--data",
                          data,      "--record",     record,     NULL};
    char       *environment[] = {NULL};

    return commands_run(8, (char **)argv, environment);
}

TEST(a_directory_or_a_record_that_serve_would_refuse_is_refused_with_its_exit_code) {
    own_file_write("diary", "my diary\n", 9);
    CHECK_INT(checks_places("data", "trace"), DN_EXIT_DONE);
    CHECK_INT(access("data", F_OK), -1);
    CHECK_INT(access("trace", F_OK), -1);
    CHECK_INT(checks_places("/dev/null", ""), DN_EXIT_FAILED);
    CHECK_INT(checks_places("diary", ""), DN_EXIT_FAILED);
    CHECK_INT(checks_places("nonexistent/data", ""), DN_EXIT_FAILED);
    CHECK_INT(checks_places("data", "diary"), DN_EXIT_USAGE);
    CHECK_INT(checks_places("data", "nonexistent/trace"), DN_EXIT_USAGE);
}
