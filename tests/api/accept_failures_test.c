/* accept_failures_test.c - a night without descriptors, by a clock moved by hand, and what an operator reads of it. */
#include "http/accept_failures.h"

#include "obs/log.h"
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { TRY_MS = 500, HOUR_MS = 3600000 };

static lockout l;
static int64_t now_ms;
static char    said[1 << 16];

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

/* The sweep, and if it is so a try that fails. */
static void lives_for(int64_t ms, bool locked_out) {
    for (int64_t end_ms = now_ms + ms; now_ms < end_ms; now_ms += TRY_MS) {
        lockout_look(&l, now_ms * 1000000);
        if (locked_out) lockout_goes_on(&l, EMFILE, now_ms * 1000000);
    }
}

static void begins(void) {
    dn_log_to(take, NULL);
    now_ms = 12345;
}

TEST(that_nobody_can_be_let_in_is_said_at_once_and_then_once_a_minute) {
    begins();
    lives_for(TRY_MS, true);
    CHECK_STR(said, "warn http.accept: cannot let anybody in: Too many open files\n");
    lives_for(60000 - 2 * TRY_MS, true);
    CHECK_INT(lines(), 1);
    lives_for(2 * TRY_MS, true);
    CHECK_INT(lines(), 2);
    CHECK_MSG(strstr(said, "warn http.accept: cannot let anybody in, 121 times in 1 min: "
                           "Too many open files\n"),
              "%s", said);
    lives_for(HOUR_MS - 61000, true);
    CHECK_INT(lines(), 60);
}

TEST(the_end_is_said_once_when_nothing_has_failed_for_a_while) {
    begins();
    lives_for(120000, true);
    said[0] = '\0';
    lives_for(HOUR_MS, false);
    CHECK_STR(said, "info http.accept_over: whoever comes is let in again; that failed "
                    "240 times in 1 min\n");
}

TEST(descriptors_that_come_and_go_are_one_lockout) {
    begins();
    for (int i = 0; i < 60; i++) {
        lives_for(TRY_MS, true);
        lives_for(4 * TRY_MS, false);
    }
    CHECK_INT(lines(), 3); /* of 150 s */
    CHECK(!strstr(said, "accept_over"));
}

TEST(the_next_one_begins_anew) {
    begins();
    lives_for(TRY_MS, true);
    lives_for(20000, false);
    lives_for(TRY_MS, true);
    CHECK_STR(said, "warn http.accept: cannot let anybody in: Too many open files\n"
                    "info http.accept_over: whoever comes is let in again; that failed "
                    "1 time in 0 ms\n"
                    "warn http.accept: cannot let anybody in: Too many open files\n");
}
