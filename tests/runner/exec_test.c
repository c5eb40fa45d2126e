/* exec_test.c - an exec runner: processes, what they leave behind, and how they are made to go.
 * After each show no child is left, living or zombie, and no descriptor. */
#include "stage.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { SOON_MS = 20000 };

static void plays_clean(stage *s) {
    stage_plays_clean(s);
    CHECK(no_children());
}

static stage *one_run_of(const char *command) {
    stage *s = stage_of(command);

    stage_asks(s, "ada");
    return s;
}

static void ends_as(const char *command, dn_outcome outcome, dn_code_kind kind, uint32_t code,
                    const char *detail) {
    stage *s = one_run_of(command);

    plays_clean(s);
    CHECK_CAME(&s->runs[0], outcome, kind, code);
    CHECK_STR(s->runs[0].answer.error, detail);
    CHECK(s->runs[0].after_ms < SOON_MS);
}

/* ---- A file that processes write to, and we read ---- */

static char file_path[] = "/tmp/diurnal-exec-test-XXXXXX";

static const char *with_file(const char *format) {
    static char command[512];
    const int   fd = mkstemp(file_path);

    CHECK(fd >= 0);
    close(fd);
    char *at = command;
    for (; *format; format++) {
        if (*format == '@') at += snprintf(at, 64, "%s", file_path);
        else *at++ = *format;
    }
    *at = '\0';
    return command;
}

static const char *file_text(void) {
    static char text[4096];
    const int   fd = open(file_path, O_RDONLY | O_CLOEXEC);
    ssize_t     n;

    CHECK(fd >= 0);
    n = read(fd, text, sizeof text - 1);
    CHECK(n >= 0);
    text[n] = '\0';
    close(fd);
    return text;
}

static const char *file_ends(void) {
    const char *text = file_text();

    unlink(file_path);
    return text;
}

/* The number in the file, once it is there. */
static pid_t pid_in_file(void) {
    pid_t pid = 0;

    for (int i = 0; (pid = (pid_t)strtol(file_text(), NULL, 10)) == 0; i++) {
        CHECK(i < 20000);
        usleep(1000);
    }
    return pid;
}

/* It has been killed; whoever adopts orphans here may be slow to reap it. */
static void is_gone(pid_t pid) {
    for (int i = 0; kill(pid, 0) == 0; i++) {
        char path[64], text[256] = "";
        (void)snprintf(path, sizeof path, "/proc/%d/stat", pid);
        const int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd >= 0) {
            const ssize_t n = read(fd, text, sizeof text - 1);
            text[n > 0 ? n : 0] = '\0';
            close(fd);
        }
        if (strstr(text, ") Z ")) return;
        CHECK_MSG(i < 20000, "process %d lives", pid);
        usleep(1000);
    }
}

/* ---- Ending by itself ---- */

TEST(exit_0_is_ok) { ends_as("exec:/bin/true", DN_OUTCOME_OK, DN_CODE_EXIT, 0, ""); }

TEST(another_exit_is_an_error_with_its_last_complaint) {
    ends_as("exec:/bin/sh -c \"echo first >&2; echo the disk is full >&2; exit 3\"",
            DN_OUTCOME_ERROR, DN_CODE_EXIT, 3, "exit 3: the disk is full");
}

TEST(standard_output_is_the_body_of_the_answer) {
    stage *s = one_run_of("exec:/bin/sh -c \"echo working; echo done; echo no >&2; exit 1\"");

    plays_clean(s);
    CHECK_CAME(&s->runs[0], DN_OUTCOME_ERROR, DN_CODE_EXIT, 1);
    CHECK_BODY(&s->runs[0], "working\ndone\n");
    CHECK(!s->runs[0].answer.truncated && !s->runs[0].answer.json);
}

TEST(a_mib_goes_in_and_a_mib_comes_out) {
    enum { MIB = 1 << 20 };
    stage *s = one_run_of("exec:/bin/sh -c \"head -c 1048576\"");
    char  *bytes;

    s->runs[0].body = dn_blob_new(MIB, &bytes);
    memset(bytes, 'a', MIB);
    plays_clean(s);
    CHECK_CAME(&s->runs[0], DN_OUTCOME_OK, DN_CODE_EXIT, 0);
    CHECK_UINT(dn_blob_len(s->runs[0].answer.body), MIB);
    CHECK(memcmp(dn_blob_bytes_borrow(s->runs[0].answer.body), bytes, MIB) == 0);
    CHECK(!s->runs[0].answer.truncated);
}

TEST(a_signal_is_an_error) {
    ends_as("exec:/bin/sh -c \"kill -SEGV $$\"", DN_OUTCOME_ERROR, DN_CODE_SIGNAL, 128 + SIGSEGV,
            "Segmentation fault");
}

TEST(a_process_gets_request_key_and_trace) {
    setenv("DIURNAL_SECRET", "whsec_x", 1);
    stage *s = one_run_of(with_file("exec:/bin/sh -c \"cat /dev/stdin > @; env | grep -E "
                                    "'^(DIURNAL|TRACEPARENT)' | sort >> @\""));

    plays_clean(s);
    CHECK_CAME(&s->runs[0], DN_OUTCOME_OK, DN_CODE_EXIT, 0);
    const char *text = file_ends();
    CHECK_MSG(strstr(text, "{\"id\":\"ada\"}\nDIURNAL_IDEMPOTENCY_KEY=work:ada\n"
                           "TRACEPARENT=00-00000000000000010000000000000002-0000000000000003-01\n"),
              "%s", text);
    CHECK(!strstr(text, "SECRET"));
}

TEST(a_process_that_never_reads_holds_up_nobody) {
    ends_as("exec:/bin/sh -c \"exec 0<&-; exit 0\"", DN_OUTCOME_OK, DN_CODE_EXIT, 0, "");
}

TEST(no_shell_is_between) {
    stage *s = one_run_of(with_file("exec:/bin/sh -c \"echo \\\"$1\\\" > @\" x \"$HOME; *\""));

    plays_clean(s);
    CHECK_STR(file_ends(), "$HOME; *\n");
}

TEST(of_much_output_the_last_mib_is_kept) {
    enum { MIB = 1 << 20 };
    stage *s = one_run_of("exec:/bin/sh -c \"yes | head -c 20000000; echo the end; exit 1\"");

    plays_clean(s);
    CHECK_CAME(&s->runs[0], DN_OUTCOME_ERROR, DN_CODE_EXIT, 1);
    const dn_blob *body = s->runs[0].answer.body;
    CHECK_UINT(dn_blob_len(body), MIB);
    CHECK(memcmp(dn_blob_bytes_borrow(body) + MIB - 8, "the end\n", 8) == 0);
    CHECK(s->runs[0].answer.truncated);
}

TEST(much_complaint_is_cut) {
    stage *s =
        one_run_of("exec:/bin/sh -c \"head -c 5000000 /dev/zero | tr '\\\\0' x >&2; exit 1\"");

    plays_clean(s);
    CHECK_CAME(&s->runs[0], DN_OUTCOME_ERROR, DN_CODE_EXIT, 1);
    CHECK(strncmp(s->runs[0].answer.error, "exit 1: xxxx", 12) == 0 &&
          strlen(s->runs[0].answer.error) < 256);
}

TEST(a_program_that_has_gone_is_an_error) {
    static const char script[] = "#!/bin/sh\nrm \"$0\"\n";
    const char       *url = with_file("exec:@");
    const int         fd = open(file_path, O_WRONLY | O_CLOEXEC);

    CHECK_INT(write(fd, script, sizeof script - 1), sizeof script - 1);
    close(fd);
    CHECK_INT(chmod(file_path, 0755), 0);
    stage *s = one_run_of(url);
    stage_asks(s, "bob");
    plays_clean(s);
    CHECK_CAME(&s->runs[0], DN_OUTCOME_OK, DN_CODE_EXIT, 0);
    CHECK_CAME(&s->runs[1], DN_OUTCOME_ERROR, DN_CODE_TRANSPORT, 0);
    CHECK_MSG(strstr(s->runs[1].answer.error, "cannot be started: no such file"), "%s",
              s->runs[1].answer.error);
}

TEST(a_hundred_one_after_another_leave_nothing) {
    stage *s = one_run_of("exec:/bin/sh -c \"echo x; exit 0\"");

    for (int i = 1; i < 100 / TEST_SLOW_FACTOR; i++) stage_asks(s, "ada");
    s->at_once = 8;
    plays_clean(s);
    for (size_t i = 0; i < s->len; i++) CHECK_CAME(&s->runs[i], DN_OUTCOME_OK, DN_CODE_EXIT, 0);
}

/* ---- Grandchildren ---- */

TEST(a_grandchild_that_holds_the_output_open_is_not_waited_for_but_killed) {
    stage *s = one_run_of(with_file("exec:/bin/sh -c \"sleep 1000 & echo $! > @; echo done\""));

    plays_clean(s);
    CHECK_CAME(&s->runs[0], DN_OUTCOME_OK, DN_CODE_EXIT, 0);
    CHECK(s->runs[0].after_ms < SOON_MS);
    is_gone(pid_in_file());
    unlink(file_path);
}

TEST(a_grandchild_that_floods_the_output_is_not_waited_for_either) {
    stage *s = one_run_of("exec:/bin/sh -c \"yes & exit 0\"");

    plays_clean(s);
    CHECK_CAME(&s->runs[0], DN_OUTCOME_OK, DN_CODE_EXIT, 0);
}

/* ---- Being cut ---- */

TEST(a_cut_process_may_end_on_term) {
    stage *s = one_run_of(with_file(
        "exec:/bin/sh -c \"trap 'echo bye > @; exit 0' TERM; while :; do sleep 0.01; done\""));

    s->runs[0].cut_ms = 300;
    plays_clean(s);
    CHECK_INT(s->runs[0].messages, 1);
    CHECK(s->runs[0].after_ms < 5000);
    CHECK_STR(file_ends(), "bye\n");
}

TEST(a_process_that_ignores_term_is_killed) {
    stage *s = one_run_of("exec:/bin/sh -c \"trap '' TERM; while :; do sleep 0.01; done\"");

    s->config.kill_ms = 150;
    s->runs[0].cut_ms = 150;
    plays_clean(s);
    CHECK_INT(s->runs[0].messages, 1);
    CHECK_INT(dn_run_code(s->runs[0].result), 128 + SIGKILL);
    CHECK(s->runs[0].after_ms >= 300 && s->runs[0].after_ms < SOON_MS);
}

TEST(of_a_cut_process_the_whole_group_goes) {
    stage *s = one_run_of(with_file(
        "exec:/bin/sh -c \"(trap '' TERM; while :; do sleep 0.01; done) & echo $! > @; wait\""));

    s->config.kill_ms = 200;
    s->runs[0].cut_ms = 300;
    plays_clean(s);
    CHECK_INT(s->runs[0].messages, 1);
    is_gone(pid_in_file());
    CHECK(s->runs[0].after_ms >= 490); /* it had its time for TERM */
    unlink(file_path);
}

TEST(a_process_cut_twice_ends_once) {
    stage *s = one_run_of("exec:/bin/sleep 1000");

    s->runs[0].cut_ms = 50;
    s->runs[0].twist = STAGE_CUTS_TWICE;
    plays_clean(s);
    CHECK_INT(s->runs[0].messages, 1);
    CHECK_INT(dn_run_code(s->runs[0].result), 128 + SIGTERM);
}

TEST(an_actor_that_fails_takes_its_process_with_it) {
    stage *s = one_run_of("exec:/bin/sh -c \"trap '' TERM; sleep 1000\"");

    s->runs[0].twist = STAGE_FAILS;
    stage_asks(s, "bob")->twist = STAGE_LEAVES;
    stage_asks(s, "cleo")->cut_ms = 100;
    s->config.kill_ms = 100;
    s->at_once = 3;
    plays_clean(s);
    CHECK_INT(s->runs[0].messages, 0);
    CHECK_INT(s->runs[1].messages, 0);
    CHECK_INT(s->runs[2].messages, 1);
}

TEST(a_runner_that_goes_kills_and_reaps_what_is_under_way) {
    stage *s = one_run_of("exec:/bin/sh -c \"trap '' TERM; sleep 1000 & wait\"");

    for (int i = 0; i < 20; i++) stage_asks(s, "ada");
    s->at_once = 100;
    s->leaves_with = true;
    plays_clean(s);
}

/* ---- Too few descriptors ---- */

TEST(without_descriptors_processes_are_errors_and_with_some_they_go_on) {
    stage              *s = one_run_of("exec:/bin/true");
    const struct rlimit few = {(rlim_t)(open_descriptors() + 30),
                               (rlim_t)(open_descriptors() + 30)};

    for (int i = 0; i < 60; i++) stage_asks(s, "ada");
    s->at_once = 20;
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &few), 0);
    CHECK_INT(stage_plays(s), DN_OK);
    int ok = 0, error = 0;
    for (size_t i = 0; i < s->len; i++) {
        CHECK_INT(s->runs[i].messages, 1);
        if (dn_run_outcome(s->runs[i].result) == DN_OUTCOME_OK) ok++;
        else error++;
        if (error && dn_run_outcome(s->runs[i].result) != DN_OUTCOME_OK)
            CHECK_CAME(&s->runs[i], DN_OUTCOME_ERROR, DN_CODE_TRANSPORT, 0);
    }
    CHECK_MSG(ok > 0 && error > 0, "%d ok, %d errors", ok, error);
    CHECK(no_children());
}
