/* check_config_test.c - what check-config accepts is what serve starts with. */
#include "cli/command.h"
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
