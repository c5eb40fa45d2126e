/* text_test.c - sentences why something was refused. */
#include "base/text.h"
#include "test.h"

#include <string.h>

TEST(refuse_writes_the_sentence_and_returns_the_code) {
    char why[64] = "before";

    CHECK_INT(dn_refuse(DN_EIO, why, sizeof why, "%s: %d", "line", 7), DN_EIO);
    CHECK_STR(why, "line: 7");
}

TEST(refuse_cuts_a_sentence_that_is_too_long) {
    char why[8] = "before!";

    CHECK_INT(dn_refuse(DN_EINVAL, why, sizeof why, "%s", "twelve bytes"), DN_EINVAL);
    CHECK_STR(why, "twelve ");
}

TEST(refuse_keeps_a_sentence_on_one_line) {
    char why[64];

    CHECK_INT(dn_refuse(DN_EINVAL, why, sizeof why, "a\nb\x1b[2Jc\x7f%s", "\xc3\xa4"), DN_EINVAL);
    CHECK_STR(why, "a b [2Jc \xc3\xa4");
}

TEST(refuse_without_a_place_for_the_sentence_returns_the_code) {
    CHECK_INT(dn_refuse(DN_ENOMEM, NULL, 1, "%s", "nobody asked"), DN_ENOMEM);
}
