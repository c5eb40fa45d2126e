/* accept_failures_test.c - what is logged during a night without descriptors, by a clock moved by hand. */
#include "http/accept_failures.h"

#include "obs/log.h"
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { TRY_MS = 500, HOUR_MS = 3600000 };

static accept_failures failures;
static int64_t         now_ms;
static char            said[1 << 16];

static void take(void *context, dn_log_level level, const char *event, const char *text) {
    const size_t len = strlen(said);

    (void)context;
    snprintf(said + len, sizeof said - len, "%s %s: %s\n", level == DN_LOG_WARN ? "warn" : "info",
             event, text);
}

static int lines(void) {
    int n = 0;

    for (const char *at = said; *at; at++) n += *at == '\n';
    return n;
}

/* The periodic check, and a failed accept if `fails`. */
static void lives_for(int64_t ms, bool fails) {
    for (int64_t end_ms = now_ms + ms; now_ms < end_ms; now_ms += TRY_MS) {
        accept_failures_check(&failures, now_ms * 1000000);
        if (fails) accept_failures_add(&failures, EMFILE, now_ms * 1000000);
    }
}

static void begins(void) {
    dn_log_to(take, NULL);
    now_ms = 12345;
}

TEST(accept_failures_are_logged_at_once_and_then_once_a_minute) {
    begins();
    lives_for(TRY_MS, true);
    CHECK_STR(said, "warn http.accept: cannot accept connections: Too many open files\n");
    lives_for(60000 - 2 * TRY_MS, true);
    CHECK_INT(lines(), 1);
    lives_for(2 * TRY_MS, true);
    CHECK_INT(lines(), 2);
    CHECK_MSG(strstr(said,
                     "warn http.accept: cannot accept connections, failed 121 times in 1 min: "
                     "Too many open files\n"),
              "%s", said);
    lives_for(HOUR_MS - 61000, true);
    CHECK_INT(lines(), 60);
}

TEST(the_end_of_accept_failures_is_logged_once_after_ten_quiet_seconds) {
    begins();
    lives_for(120000, true);
    said[0] = '\0';
    lives_for(HOUR_MS, false);
    CHECK_STR(said, "info http.accept_over: connections are accepted again; accept failed "
                    "240 times in 1 min\n");
}

TEST(accept_failures_with_short_gaps_are_logged_as_one) {
    begins();
    for (int i = 0; i < 60; i++) {
        lives_for(TRY_MS, true);
        lives_for(4 * TRY_MS, false);
    }
    CHECK_INT(lines(), 3); /* of 150 s */
    CHECK(!strstr(said, "accept_over"));
}

TEST(accept_failures_after_the_end_are_logged_anew) {
    begins();
    lives_for(TRY_MS, true);
    lives_for(20000, false);
    lives_for(TRY_MS, true);
    CHECK_STR(said, "warn http.accept: cannot accept connections: Too many open files\n"
                    "info http.accept_over: connections are accepted again; accept failed "
                    "1 time in 0 ms\n"
                    "warn http.accept: cannot accept connections: Too many open files\n");
}
