/* serve_config_test.c - how many descriptors there are, and who may have them. */
#include "api/web.h"
#include "serve_config.h"
#include "test.h"

#include <string.h>
#include <sys/resource.h>

static char why[DN_SETTINGS_WHY];

static void files_are(rlim_t files) {
    const struct rlimit limit = {files, files};

    CHECK_INT(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static dn_settings of_jobs(int64_t at_once) {
    return (dn_settings){.runner = "exec:/bin/true", .max_concurrency = at_once};
}

TEST(the_web_has_no_descriptor_that_the_jobs_may_need) {
    const dn_settings s = of_jobs(64);

    files_are(600);
    CHECK_INT(serve_raise_files(&s, why), DN_OK);
    CHECK_UINT(serve_web_conns(&s), 600 - 128 - 4 * 64);
    files_are(390);
    CHECK_INT(serve_raise_files(&s, why), DN_OK);
    CHECK_UINT(serve_web_conns(&s), DN_WEB_CONNS_LEAST);
    files_are(383);
    CHECK_INT(serve_raise_files(&s, why), DN_EINVAL);
    CHECK_MSG(strstr(why, "384 open files"), "it said: %s", why);
}

TEST(of_many_descriptors_the_web_has_a_bounded_number) {
    const dn_settings s = of_jobs(1);

    files_are(4000);
    CHECK_INT(serve_raise_files(&s, why), DN_OK);
    CHECK_UINT(serve_web_conns(&s), DN_WEB_CONNS_MOST);
}
