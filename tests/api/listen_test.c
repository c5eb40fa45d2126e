/* listen_test.c - which addresses may be listened at, before any is. */
#include "test.h"
#include "web.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

/* ---- Beside one that is open ---- */

static int opens(const char *address, char bound[DN_WEB_ADDRESS]) {
    int fd = -1;

    CHECK_INT(dn_web_listen(address, true, &fd, bound, why), DN_OK);
    return fd;
}

/* At the port of `bound`. */
static int probes(const char *host, const char *bound, int present) {
    char address[DN_WEB_ADDRESS];

    (void)snprintf(address, sizeof address, "%s%s", host, strrchr(bound, ':'));
    memset(why, 0, sizeof why);
    return dn_web_probe(address, present, why);
}

TEST(an_address_that_somebody_else_has_is_known_before_one_is_needed) {
    char      own[DN_WEB_ADDRESS], other[DN_WEB_ADDRESS];
    const int present = opens("127.0.0.1:0", own), taken = opens("127.0.0.1:0", other);

    CHECK_INT(probes("127.0.0.1", other, present), DN_EIO);
    CHECK_MSG(strstr(why, "is in use by another program"), "it said: %s", why);
    CHECK_INT(probes("0.0.0.0", other, present), DN_EIO);
    (void)close(taken);
    CHECK_INT(probes("127.0.0.1", other, present), DN_OK);
    CHECK_INT(dn_web_probe("192.0.2.1:0", present, why), DN_EIO);
    CHECK_INT(dn_web_probe("127.0.0.1:0", present, why), DN_OK);
    CHECK_INT(dn_web_probe("no-such-host.invalid:1440", present, why), DN_OK);
    (void)close(present);
}

TEST(what_only_the_present_one_has_is_no_obstacle) {
    char      own[DN_WEB_ADDRESS], same[DN_WEB_ADDRESS], other[DN_WEB_ADDRESS];
    const int present = opens("127.0.0.1:0", own);

    CHECK_INT(probes("127.0.0.1", own, present), DN_OK);
    CHECK_INT(probes("0.0.0.0", own, present), DN_OK);
    CHECK_INT(probes("[::]", own, present), DN_OK);
    (void)snprintf(other, sizeof other, "127.0.0.2%s", strrchr(own, ':'));
    const int taken = opens(other, same);
    CHECK_INT(probes("127.0.0.2", own, present), DN_EIO);
    (void)close(taken);
    (void)close(present);
}
