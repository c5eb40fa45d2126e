/* check_test.c - what is no runner is refused with one sentence: what is wrong, and what would be right. */
#include "runner/runner.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char why[DN_RUNNER_WHY];

static const char *refused_config(const dn_runner_config *config) {
    why[0] = '\0';
    CHECK_INT(dn_runner_check(config, why), DN_EINVAL);
    CHECK_MSG(why[0] && !strchr(why, '\n'), "not one line: %s", why);
    return why;
}

static const char *refused(const char *url) {
    return refused_config(&(dn_runner_config){.url = url, .concurrency_max = 1});
}

static void accepted(const char *url) {
    const dn_runner_config config = {.url = url, .concurrency_max = 1};

    CHECK_MSG(dn_runner_check(&config, why) == DN_OK, "%s: %s", url, why);
}

#define CHECK_SAYS(sentence, words) CHECK_MSG(strstr((sentence), (words)), "it says: %s", why)

TEST(what_is_a_runner_is_accepted) {
    accepted("http://127.0.0.1:8080/run");
    accepted("https://example.org/a?b=c");
    accepted("HTTP://[::1]/");
    accepted("http://10.0.0.1");
    accepted("http://xn--bcher-kva.example/");
    accepted("exec:/bin/sh -c \"exit 0\"");
    accepted("demo:");
}

TEST(an_unknown_scheme_is_refused_and_the_known_are_named) {
    CHECK_SAYS(refused("ftp://example.org/"), "demo:");
    CHECK_SAYS(refused(""), "exec:");
    CHECK_SAYS(refused("/bin/true"), "no known scheme");
}

TEST(an_http_url_without_a_host_is_refused) {
    CHECK_SAYS(refused("http://"), "URL is invalid");
    CHECK_SAYS(refused("http:///path"), "no host");
    CHECK_SAYS(refused("http://bücher.example/"), "punycode");
    CHECK_SAYS(refused("http://:80/"), "URL is invalid");
}

TEST(a_url_with_bad_bytes_or_a_bad_port_is_refused) {
    CHECK_SAYS(refused("http://a b/"), "URL is invalid");
    CHECK_SAYS(refused("http://a/\r\nX: y"), "URL is invalid");
    CHECK_SAYS(refused("http://a:99999/"), "URL is invalid");
    CHECK_SAYS(refused("http://a:0/"), "port 0");
}

TEST(credentials_and_fragments_in_a_url_are_refused_and_not_repeated) {
    CHECK_SAYS(refused("http://ada:s3cret@example.org/"), "credentials");
    CHECK(!strstr(why, "s3cret"));
    CHECK_SAYS(refused("http://ada@example.org/"), "credentials");
    CHECK_SAYS(refused("http://example.org/#part"), "fragment");
}

TEST(a_metadata_address_in_a_url_is_refused_however_it_is_written) {
    CHECK_SAYS(refused("http://169.254.169.254/latest"), "allow_private");
    CHECK_SAYS(refused("http://0xa9fea9fe/"), "allow_private");
    CHECK_SAYS(refused("http://[::ffff:169.254.169.254]/"), "allow_private");
    CHECK_SAYS(refused("http://[fe80::1%25eth0]/"), "allow_private");
    const dn_runner_config config = {.url = "http://169.254.169.254/", .allow_private = true};
    CHECK_INT(dn_runner_check(&config, why), DN_OK);
}

TEST(a_bad_secret_is_refused_and_not_repeated) {
    const dn_runner_config config = {.url = "http://127.0.0.1/", .secret = "hunter2hunter2"};

    CHECK_SAYS(refused_config(&config), "whsec_");
    CHECK(!strstr(why, "hunter2"));
}

TEST(a_missing_file_of_certificates_is_refused) {
    const dn_runner_config config = {.url = "https://127.0.0.1/", .ca_file = "/nowhere/ca.pem"};

    CHECK_SAYS(refused_config(&config), "/nowhere/ca.pem");
}

TEST(a_command_that_could_not_be_started_is_refused) {
    CHECK_SAYS(refused("exec:"), "names no program");
    CHECK_SAYS(refused("exec:true"), "absolute path");
    CHECK_SAYS(refused("exec:./job"), "absolute path");
    CHECK_SAYS(refused("exec:/nowhere/job"), "does not exist");
    CHECK_SAYS(refused("exec:/etc/passwd"), "not executable");
    CHECK_SAYS(refused("exec:/tmp"), "is not a file");
    CHECK_SAYS(refused("exec:/bin/sh \"a"), "quote");
    CHECK_SAYS(refused("exec:/bin/sh a\\"), "backslash");
}

static dn_run_result nothing(void *context, const dn_run_request *request, dn_run_answer *answer) {
    (void)context, (void)request, (void)answer;
    return dn_run_result_of(DN_OUTCOME_OK, DN_CODE_NONE, 0);
}

TEST(an_unknown_job_is_refused_and_the_known_are_named) {
    const dn_native_job    jobs[] = {{.name = "mail", .fn = nothing},
                                     {.name = "sweep", .fn = nothing}};
    const dn_runner_config config = {.url = "native:sweeep", .jobs = jobs, .jobs_len = 2};

    CHECK_SAYS(refused_config(&config), "mail, sweep");
    CHECK_SAYS(refused("native:x"), "it has no jobs");
}

TEST(what_follows_demo_is_refused) { CHECK_SAYS(refused("demo:slow"), "nothing after it"); }

TEST(neither_a_url_nor_a_script_is_refused) {
    CHECK_SAYS(refused(NULL), "needs a URL or a script");
}

TEST(a_refusal_without_room_for_words_is_one_all_the_same) {
    const dn_runner_config config = {.url = "x:"};

    CHECK_INT(dn_runner_check(&config, NULL), DN_EINVAL);
}

TEST(no_text_of_any_bytes_is_more_than_a_refusal) {
    uint64_t                 random = test_seed();
    static const char *const begins[] = {
        "", "http://", "https://", "exec:", "exec:/", "native:", "demo:", "http://["};

    for (int i = 0; i < 20000 / TEST_SLOW_FACTOR; i++) {
        char url[64];
        int  len = snprintf(url, sizeof url, "%s", begins[test_random(&random) % 8]);
        for (uint64_t n = test_random(&random) % 24; n > 0; n--)
            url[len++] = (char)(1 + test_random(&random) % 255);
        url[len] = '\0';
        const dn_runner_config config = {.url = url, .concurrency_max = 1};
        const int              rc = dn_runner_check(&config, why);
        CHECK(rc == DN_OK || rc == DN_EINVAL);
        CHECK(rc == DN_OK || !strchr(why, '\n'));
    }
}
