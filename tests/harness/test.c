/* test.c - runs the tests of one program; see test.h.
 *
 * Why not a library: cmocka runs all tests of a program in one process, where an assert that
 * rightly ends it ends the rest too, and its lists of tests have to be kept by hand. */
#include "test.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_FAILED = 1, EXIT_USAGE = 2 };

static test_case  *first;
static const char *running = ""; /* the sentence of the test in this process */
static uint64_t    seed;

/* ---- Seeds ---- */

static uint64_t seed_fresh(void) {
    uint64_t    fresh = 0;
    const char *text = getenv("DIURNAL_TEST_SEED");
    char       *end = NULL;

    if (text && *text) {
        errno = 0;
        fresh = strtoull(text, &end, strncmp(text, "0x", 2) == 0 ? 16 : 10);
        if (errno || *end || *text == '-') {
            fprintf(stderr, "DIURNAL_TEST_SEED=%s: want a number below 2^64, decimal or 0x…\n",
                    text);
            exit(EXIT_USAGE);
        }
        return fresh;
    }
    if (getrandom(&fresh, sizeof fresh, 0) != (ssize_t)sizeof fresh) {
        perror("getrandom");
        exit(EXIT_USAGE);
    }
    return fresh;
}

uint64_t test_seed(void) { return seed; }

uint64_t test_random(uint64_t *state) {
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static void print_rerun(void) {
    fprintf(stderr, "rerun: DIURNAL_TEST_SEED=0x%" PRIx64 " ./dev test %s\n", seed, running);
}

/* ---- Checks ---- */

/* _exit, because exit would run what the failed test registered while its threads still run, and
 * would have the sanitizers add leaks to the one line that matters. */
_Noreturn void test_fail_(const char *file, int line, const char *check, const char *format, ...) {
    va_list args;

    flockfile(stderr);
    fprintf(stderr, "%s:%d: %s: ", file, line, check);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    print_rerun();
    fflush(NULL);
    _exit(EXIT_FAILED);
}

void test_check_int_(const char *file, int line, const char *check, int64_t actual,
                     int64_t expected) {
    if (actual == expected) return;
    test_fail_(file, line, check, "is %" PRId64 ", expected %" PRId64, actual, expected);
}

void test_check_uint_(const char *file, int line, const char *check, uint64_t actual,
                      uint64_t expected) {
    if (actual == expected) return;
    test_fail_(file, line, check,
               "is %" PRIu64 " (0x%" PRIx64 "), expected %" PRIu64 " (0x%" PRIx64 ")", actual,
               actual, expected, expected);
}

void test_check_str_(const char *file, int line, const char *check, const char *actual,
                     const char *expected) {
    if (actual == expected || (actual && expected && strcmp(actual, expected) == 0)) return;
    test_fail_(file, line, check, "is %s%s%s, expected %s%s%s", actual ? "\"" : "",
               actual ? actual : "NULL", actual ? "\"" : "", expected ? "\"" : "",
               expected ? expected : "NULL", expected ? "\"" : "");
}

void test_check_ptr_(const char *file, int line, const char *check, const void *actual,
                     const void *expected) {
    if (actual == expected) return;
    test_fail_(file, line, check, "is %p, expected %p", actual, expected);
}

/* ---- Running ---- */

void test_register_(test_case *test) {
    test_case **at = &first;

    while (*at && (*at)->line < test->line) at = &(*at)->next;
    test->next = *at;
    *at = test;
}

static pid_t fork_or_exit(void) {
    pid_t pid;

    fflush(NULL); /* or the child would print it again */
    pid = fork();
    if (pid < 0) {
        perror("fork");
        exit(EXIT_USAGE);
    }
    if (pid == 0) prctl(PR_SET_PDEATHSIG, SIGKILL); /* a child that hangs goes with its parent */
    return pid;
}

static int wait_for(pid_t pid) {
    int status;

    while (waitpid(pid, &status, 0) < 0) {
        if (errno == EINTR) continue;
        perror("waitpid");
        exit(EXIT_USAGE);
    }
    return status;
}

/* Runs the body in a child; true if it aborted with the text. What it wrote is shown if not. */
static bool aborts_as_it_should(const test_case *test) {
    static char heard[1 << 16]; /* what is beyond is read and dropped: the child must not block */
    char        spill[4096];
    size_t      len = 0;
    int         ends[2], status;
    pid_t       pid;

    if (pipe(ends) < 0) {
        perror("pipe");
        return false;
    }
    pid = fork_or_exit();
    if (pid == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}); /* it is meant to die: no core file */
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        test->run();
        fflush(NULL);
        _exit(0);
    }
    close(ends[1]);
    for (;;) {
        const bool    room = len < sizeof heard - 1;
        const ssize_t got =
            read(ends[0], room ? heard + len : spill, room ? sizeof heard - 1 - len : sizeof spill);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        if (room) len += (size_t)got;
    }
    close(ends[0]);
    heard[len] = '\0';
    status = wait_for(pid);

    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT && strstr(heard, test->aborts_with))
        return true;
    if (WIFSIGNALED(status))
        fprintf(stderr, "ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else fprintf(stderr, "exited with %d", WEXITSTATUS(status));
    fprintf(stderr, ", expected an abort with \"%s\"; on standard error it wrote:\n%s%s",
            test->aborts_with, heard, len && heard[len - 1] != '\n' ? "\n" : "");
    return false;
}

/* Runs one test in this process. The first line names the seed before anything can go wrong: also for
 * what no handler could report, such as being killed at the timeout. */
static int run_here(const test_case *test) {
    running = test->sentence;
    seed = seed_fresh();
    print_rerun();
    if (!test->aborts_with) {
        test->run();
        return 0;
    }
    return aborts_as_it_should(test) ? 0 : EXIT_FAILED;
}

static int run_all(void) {
    unsigned passed = 0, failed = 0;

    for (const test_case *test = first; test; test = test->next) {
        const pid_t pid = fork_or_exit();
        int         status;

        if (pid == 0) exit(run_here(test));
        status = wait_for(pid);
        if (status == 0) passed++;
        else failed++;
        if (WIFSIGNALED(status))
            printf("FAILED %s: %s\n", test->sentence, strsignal(WTERMSIG(status)));
        else printf("%s %s\n", status ? "FAILED" : "ok", test->sentence);
    }
    printf("%u passed, %u failed\n", passed, failed);
    return failed || !passed ? EXIT_FAILED : 0;
}

int main(int argc, char **argv) {
    if (argc == 1) return run_all();
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (const test_case *test = first; test; test = test->next) puts(test->sentence);
        return 0;
    }
    for (const test_case *test = first; argc == 2 && test; test = test->next)
        if (strcmp(argv[1], test->sentence) == 0) return run_here(test);
    fprintf(stderr, "%s: no such test: %s; --list names them\n", argv[0], argv[1]);
    return EXIT_USAGE;
}

/* ---- Sanitizers ----
 * The runtime of a sanitizer asks the program for its options, so a test run by hand behaves as it does
 * under ctest. The first report ends the process: a test that fails, fails. */
#if TEST_SLOW_FACTOR > 1
const char *__asan_default_options(void);
const char *__tsan_default_options(void);
const char *__ubsan_default_options(void);

const char *__asan_default_options(void) {
    return "detect_stack_use_after_return=1:strict_string_checks=1";
}
const char *__tsan_default_options(void) { return "halt_on_error=1:second_deadlock_stack=1"; }
const char *__ubsan_default_options(void) { return "print_stacktrace=1"; }
#endif
