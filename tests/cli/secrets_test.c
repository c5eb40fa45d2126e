/* secrets_test.c - the file of webhook secrets. */
#include "cli/secrets.h"
#include "own_dir.h"
#include "starving.h"

#include <string.h>

static char why[DN_SECRETS_WHY];

static int read_secrets(const char *bytes, size_t len, char **out_secrets) {
    own_file_write("secrets", bytes, len);
    memset(why, 0, sizeof why);
    return dn_secrets_read("secrets", out_secrets, why);
}

static void reads(const char *text, const char *expected) {
    char *secrets = NULL;

    CHECK_MSG(read_secrets(text, strlen(text), &secrets) == DN_OK, "%s", why);
    CHECK_STR(secrets, expected);
    dn_secrets_free(secrets);
}

static void refuses(const char *bytes, size_t len, const char *sentence) {
    char *secrets = NULL;

    CHECK_INT(read_secrets(bytes, len, &secrets), DN_EINVAL);
    CHECK_STR(why, sentence);
    CHECK(!secrets);
}

TEST(secrets_stand_one_a_line) {
    reads("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    reads("# new\r\nwhsec_a+/=\r\n\r\n# old\nwhsec_b", "whsec_a+/= whsec_b");
}

TEST(a_file_that_has_no_secrets_is_refused_and_nothing_of_it_is_told) {
    static char long_one[5000];

    memset(long_one, 'x', sizeof long_one);
    refuses("", 0, "secrets: the file has no secret; write one a line, whsec_...");
    refuses("# x\n", 4, "secrets: the file has no secret; write one a line, whsec_...");
    refuses("whsec_a\nhunter2\n", 16, "secrets:2: it does not begin with whsec_");
    refuses("whse", 4, "secrets:1: it does not begin with whsec_");
    refuses("whsec_a b\n", 10, "secrets:1: a secret is one word of letters, digits, + / and =");
    refuses("whsec_a\0b", 9, "secrets:1: a secret is one word of letters, digits, + / and =");
    refuses("whsec_\xff\n", 8, "secrets:1: a secret is one word of letters, digits, + / and =");
    refuses(long_one, sizeof long_one, "secrets: it is longer than 4096 bytes");
    CHECK_INT(dn_secrets_read("/nowhere/secrets", NULL, why), DN_EINVAL);
    CHECK_STR(why, "/nowhere/secrets: there is no such file");
    CHECK_INT(dn_secrets_read("/", NULL, why), DN_EINVAL);
    CHECK_STR(why, "/: it is a directory, not a file");
    CHECK_INT(dn_secrets_read("/proc/self/mem", NULL, why), DN_EINVAL);
    CHECK_STR(why, "/proc/self/mem: it cannot be read");
}

TEST(without_memory_no_secret_is_read) {
    char *secrets = NULL;

    reads("whsec_a\n", "whsec_a");
    starve_nth(1);
    CHECK_INT(dn_secrets_read("secrets", &secrets, why), DN_ENOMEM);
    CHECK(starve_end());
    CHECK(!secrets);
    dn_secrets_free(NULL);
}
