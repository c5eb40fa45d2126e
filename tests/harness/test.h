/* test.h - a test is a sentence, and a process of its own.
 *
 * TEST(a_sentence_in_snake_case) { ... } is all it takes: it registers itself, the build asks the
 * program for its sentences (--list), and ctest runs each one apart. So a test may crash, hang or leave
 * threads behind without another noticing, and an assert that must end the process can be
 * tested (TEST_ABORTS).
 *
 *     program                 every test, each in a process of its own
 *     program sentence        that test in this very process: for debuggers and profilers
 *     program --list          the sentences
 *
 * The first CHECK that does not hold ends the process; nothing is freed, for the process is the arena. */
#ifndef DIURNAL_TESTS_TEST_H
#define DIURNAL_TESTS_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef NDEBUG
#error "asserts stay on in every build of diurnal: do not define NDEBUG"
#endif

/* ---- Tests ---- */

#define TEST(sentence) TEST_DEFINE_(sentence, NULL)

/* Passes only if the body aborts the process (SIGABRT) and `text` is part of what was written to
 * standard error by then. The body runs in a child. */
#define TEST_ABORTS(sentence, text) TEST_DEFINE_(sentence, text)

/* ---- Checks ----
 * Any thread. Each evaluates its arguments once. */

#define CHECK(cond) CHECK_MSG(cond, "it does not hold")

/* The sentence after the condition is for what the condition does not show. */
#define CHECK_MSG(cond, ...)                                                                       \
    ((cond) ? (void)0 : test_fail_(__FILE__, __LINE__, "CHECK(" #cond ")", __VA_ARGS__))

#define CHECK_INT(actual, expected)                                                                \
    test_check_int_(__FILE__, __LINE__, "CHECK_INT(" #actual ", " #expected ")",                   \
                    (int64_t)(actual), (int64_t)(expected))
#define CHECK_UINT(actual, expected)                                                               \
    test_check_uint_(__FILE__, __LINE__, "CHECK_UINT(" #actual ", " #expected ")",                 \
                     (uint64_t)(actual), (uint64_t)(expected))
/* NULL is a string of its own, equal only to NULL. */
#define CHECK_STR(actual, expected)                                                                \
    test_check_str_(__FILE__, __LINE__, "CHECK_STR(" #actual ", " #expected ")", (actual),         \
                    (expected))
#define CHECK_PTR(actual, expected)                                                                \
    test_check_ptr_(__FILE__, __LINE__, "CHECK_PTR(" #actual ", " #expected ")", (actual),         \
                    (expected))

/* ---- Randomness ---- */

/* The seed of this test: DIURNAL_TEST_SEED (decimal, or hexadecimal with 0x), else a fresh one. The same at
 * every call. A failure prints it, with the command that uses it again. Any thread. */
uint64_t test_seed(void);

/* The next number after *state (splitmix64). Start with a state of test_seed(). */
uint64_t test_random(uint64_t *state);

/* ---- Sanitizers ----
 * Loops divide their length by this, so that a test lasts about as long in every build. */
#if defined __has_feature
#define TEST_HAS_FEATURE_(x) __has_feature(x)
#else
#define TEST_HAS_FEATURE_(x) 0
#endif
#if defined __SANITIZE_THREAD__ || TEST_HAS_FEATURE_(thread_sanitizer)
#define TEST_SLOW_FACTOR 10
#elif defined __SANITIZE_ADDRESS__ || TEST_HAS_FEATURE_(address_sanitizer)
#define TEST_SLOW_FACTOR 4
#else
#define TEST_SLOW_FACTOR 1
#endif

static inline bool test_under_sanitizer(void) { return TEST_SLOW_FACTOR > 1; }

/* ---- Only for the macros above ---- */

typedef struct test_case {
    const char *sentence;
    const char *aborts_with; /* NULL: an ordinary test */
    int         line;        /* constructors run in any order; the list is in that of the file */
    void (*run)(void);
    struct test_case *next;
} test_case;

void test_register_(test_case *test);

_Noreturn void test_fail_(const char *file, int line, const char *check, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void test_check_int_(const char *file, int line, const char *check, int64_t actual,
                     int64_t expected);
void test_check_uint_(const char *file, int line, const char *check, uint64_t actual,
                      uint64_t expected);
void test_check_str_(const char *file, int line, const char *check, const char *actual,
                     const char *expected);
void test_check_ptr_(const char *file, int line, const char *check, const void *actual,
                     const void *expected);

#define TEST_DEFINE_(sentence, text)                                                               \
    static void                              test_body_##sentence(void);                           \
    __attribute__((constructor)) static void test_register_##sentence(void) {                      \
        static test_case test = {#sentence, text, __LINE__, test_body_##sentence, NULL};           \
        test_register_(&test);                                                                     \
    }                                                                                              \
    static void test_body_##sentence(void)

#endif
