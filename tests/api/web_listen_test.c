/* web_listen_test.c - which addresses may be listened at, before any is. */
#include "test.h"
#include "web.h"

#include <string.h>

static char why[DN_WEB_WHY];

static int checks(const char *address, bool elsewhere) {
    memset(why, 0, sizeof why);
    return dn_web_check(address, elsewhere, why);
}

TEST(what_others_reach_is_refused_before_it_is_listened_at) {
    CHECK_INT(checks("127.0.0.1:1440", false), DN_OK);
    CHECK_INT(checks("127.9.9.9:0", false), DN_OK);
    CHECK_INT(checks("[::1]:1440", false), DN_OK);
    CHECK_INT(checks("0.0.0.0:1440", false), DN_EINVAL);
    CHECK_MSG(strstr(why, "--insecure-listen"), "it said: %s", why);
    CHECK_INT(checks("[::]:1440", false), DN_EINVAL);
    CHECK_INT(checks("192.0.2.1:1440", false), DN_EINVAL);
    CHECK_INT(checks("0.0.0.0:1440", true), DN_OK);
    CHECK_INT(checks("nonsense", true), DN_EINVAL);
}

/* Asking for it may take long; whoever listens does. */
TEST(a_name_is_not_looked_up_before_it_is_needed) {
    CHECK_INT(checks("no-such-host.invalid:1440", false), DN_OK);
}
