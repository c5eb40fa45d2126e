/* answers_test.c - the book of outcomes beside the slow and obvious way. */
#define _GNU_SOURCE /* mallinfo2 */
#include "answers_table.h"
#include "starving.h"
#include "test.h"
#include "trace/answers.h"

#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static const answer otherwise = {ANSWER_OK, DN_CLASS_NONE, 500, ANSWER_NOT_RECORDED};

static answers *book_new(void) {
    answers *book = NULL;

    CHECK_INT(answers_new(otherwise, &book), DN_OK);
    return book;
}

static void put(answers *book, const char *id, dn_day day, uint32_t attempt, uint32_t duration_ms) {
    CHECK_INT(answers_put(book, id, strlen(id), day, attempt,
                          (answer){ANSWER_OK, DN_CLASS_NONE, duration_ms, ANSWER_NOT_RECORDED}),
              DN_OK);
}

/* Of a job that stopped at that instant, and took as long as that says. */
static void put_recorded(answers *book, const char *id, uint32_t attempt, int64_t stopped_ms) {
    CHECK_INT(answers_put(book, id, strlen(id), 20000, attempt,
                          (answer){ANSWER_OK, DN_CLASS_NONE, (uint32_t)stopped_ms, stopped_ms}),
              DN_OK);
}

static answer find_at(answers *book, const char *id, dn_day day, uint32_t attempt, int64_t now_ms) {
    answer a = {0};

    CHECK_INT(answers_find(book, id, strlen(id), day, attempt, now_ms, &a), DN_OK);
    return a;
}

static answer find(answers *book, const char *id, dn_day day, uint32_t attempt) {
    return find_at(book, id, day, attempt, 0);
}

static void seal(answers *book) { CHECK_INT(answers_seal(book), DN_OK); }

/* ---- The order ---- */

TEST(a_book_without_lines_gives_the_default) {
    answers *book = book_new();

    seal(book);
    CHECK_INT(find(book, "u1", 20000, 1).duration_ms, 500);
    CHECK_INT(find(book, "u1", 20000, 1).result, ANSWER_OK);
    answers_free(book);
}

TEST(the_most_exact_line_holds_wherever_it_stands) {
    answers *book = book_new();

    put(book, "u1", 20000, 2, 1);
    put(book, "u1", 20000, 0, 2);
    put(book, "u1", DN_DAY_NONE, 3, 3);
    put(book, "u1", DN_DAY_NONE, 0, 4);
    seal(book);
    CHECK_INT(find(book, "u1", 20000, 2).duration_ms, 1);
    CHECK_INT(find(book, "u1", 20000, 1).duration_ms, 2);
    CHECK_INT(find(book, "u1", 20000, 3).duration_ms, 2);
    CHECK_INT(find(book, "u1", 20001, 3).duration_ms, 3);
    CHECK_INT(find(book, "u1", 20001, 2).duration_ms, 4);
    CHECK_INT(find(book, "u11", 20000, 2).duration_ms, 500);
    CHECK_INT(find(book, "u", 20000, 2).duration_ms, 500);
    answers_free(book);
}

TEST(of_equals_the_last_one_holds) {
    static const dn_day days[] = {DN_DAY_NONE, 20000};

    for (size_t i = 0; i < 2; i++) {
        for (uint32_t attempt = 0; attempt < 2; attempt++) {
            answers *book = book_new();

            for (uint32_t n = 1; n <= 1000; n++) put(book, "u1", days[i], attempt, n);
            seal(book);
            CHECK_INT(find(book, "u1", 20000, 1).duration_ms, 1000);
            answers_free(book);
        }
    }
}

TEST(of_recorded_equals_the_one_that_stopped_first_after_the_job_began_holds) {
    answers *book = book_new();

    put_recorded(book, "u1", 1, 500);
    put_recorded(book, "u1", 1, 900);
    put_recorded(book, "u1", 1, 700);
    put_recorded(book, "u1", 2, 800);
    put(book, "u2", 20000, 1, 1);
    put_recorded(book, "u2", 1, 600);
    put_recorded(book, "u3", 1, 600);
    put(book, "u3", 20000, 1, 1);
    seal(book);
    CHECK_INT(find_at(book, "u1", 20000, 1, 0).duration_ms, 500);
    CHECK_INT(find_at(book, "u1", 20000, 1, 500).duration_ms, 500);
    CHECK_INT(find_at(book, "u1", 20000, 1, 501).duration_ms, 700);
    CHECK_INT(find_at(book, "u1", 20000, 1, 701).duration_ms, 900);
    CHECK_INT(find_at(book, "u1", 20000, 1, 901).duration_ms, 700); /* none: the last */
    CHECK_INT(find_at(book, "u1", 20000, 2, 901).duration_ms, 800);
    /* Of one that was recorded and one that was not the last holds. */
    CHECK_INT(find_at(book, "u2", 20000, 1, 601).duration_ms, 600);
    CHECK_INT(find_at(book, "u3", 20000, 1, 0).duration_ms, 1);
    answers_free(book);
}

TEST(all_of_an_answer_comes_back) {
    static const answer given[] = {
        {ANSWER_OK, DN_CLASS_NONE, 0, ANSWER_NOT_RECORDED},
        {ANSWER_ERROR, DN_CLASS_REQ, 1, ANSWER_NOT_RECORDED},
        {ANSWER_ERROR, DN_CLASS_UNKNOWN, ANSWER_MS_MAX, ANSWER_NOT_RECORDED},
        {ANSWER_TIMEOUT, DN_CLASS_NONE, 7, ANSWER_NOT_RECORDED},
        {ANSWER_HANG, DN_CLASS_NONE, 8, ANSWER_NOT_RECORDED},
        {ANSWER_CRASH, DN_CLASS_NONE, 9, ANSWER_NOT_RECORDED},
    };
    enum { GIVEN = sizeof given / sizeof given[0] };
    answers *book = book_new();
    char     longest[DN_ID_MAX];

    memset(longest, 'x', sizeof longest);
    for (size_t i = 0; i < GIVEN; i++) {
        CHECK_INT(answers_put(book, longest, sizeof longest, (dn_day)i, UINT32_MAX, given[i]),
                  DN_OK);
        CHECK_INT(answers_put(book, longest, 1 + i, DN_DAY_NONE, 0, given[i]), DN_OK);
    }
    seal(book);
    for (size_t i = 0; i < GIVEN; i++) {
        for (int way = 0; way < 2; way++) {
            answer a = {0};

            CHECK_INT(
                way ? answers_find(book, longest, 1 + i, -1, 1, 0, &a)
                    : answers_find(book, longest, sizeof longest, (dn_day)i, UINT32_MAX, 0, &a),
                DN_OK);
            CHECK_INT(a.result, given[i].result);
            CHECK_INT(a.cls, given[i].cls);
            CHECK_UINT(a.duration_ms, given[i].duration_ms);
        }
    }
    answers_free(book);
}

TEST(ids_of_one_hash_are_told_from_each_other_and_so_are_attempts) {
    answers_table     t = {0};
    const uint64_t    hash = answers_table_hash("u1", 2);
    const uint64_t    step = UINT64_C(0x9e3779b97f4a7c15); /* from an attempt to the next */
    const answers_row any = {"u1", 2, 0, otherwise, 0}, other = {"u9", 2, 1, otherwise, 0};
    answer            a;

    CHECK_INT(answers_table_put(&t, &any), DN_OK);
    CHECK_INT(answers_table_put(&t, &other), DN_OK);
    CHECK(answers_table_find(&t, hash, "u1", 2, 0, 0, &a));
    CHECK(!answers_table_find(&t, hash, "u2", 2, 0, 0, &a));
    CHECK(!answers_table_find(&t, hash, "u", 1, 0, 0, &a));
    /* As if the first attempt of another id fell on the place of any attempt of this one. */
    CHECK(!answers_table_find(&t, hash - step, "u1", 2, 1, 0, &a));
    answers_table_done(&t);
}

/* ---- Beside the slow way ---- */

typedef struct line {
    char     id[8];
    dn_day   day;
    uint32_t attempt;
    answer   a;
} line;

/* Of the equals of the last line, back to one that was not recorded: the one a job that begins then would stop as. */
static answer slowly_of(const line *lines, size_t last, int64_t now_ms) {
    const line *const l = &lines[last];
    answer            best = l->a;

    for (size_t i = last; i-- > 0 && best.stopped_ms != ANSWER_NOT_RECORDED;) {
        const answer *const a = &lines[i].a;

        if (lines[i].day != l->day || lines[i].attempt != l->attempt ||
            strcmp(lines[i].id, l->id) != 0)
            continue;
        if (a->stopped_ms == ANSWER_NOT_RECORDED) break;
        if (a->stopped_ms >= now_ms &&
            (best.stopped_ms < now_ms || a->stopped_ms < best.stopped_ms))
            best = *a;
    }
    return best;
}

/* From the most exact kind to the least: the last line of it. */
static answer slowly(const line *lines, size_t len, const char *id, dn_day day, uint32_t attempt,
                     int64_t now_ms) {
    for (int kind = 0; kind < 4; kind++) {
        for (size_t i = len; i-- > 0;) {
            const dn_day   wanted_day = kind < 2 ? day : DN_DAY_NONE;
            const uint32_t wanted_attempt = kind % 2 == 0 ? attempt : 0;

            if (lines[i].day == wanted_day && lines[i].attempt == wanted_attempt &&
                strcmp(lines[i].id, id) == 0)
                return slowly_of(lines, i, now_ms);
        }
    }
    return otherwise;
}

enum { INSTANTS = 50 };

static answer answer_random(uint64_t *random) {
    const answer_result result = (answer_result)(1 + test_random(random) % 5);

    return (answer){result,
                    result == ANSWER_ERROR ? (dn_error_class)(1 + test_random(random) % 4)
                                           : DN_CLASS_NONE,
                    (uint32_t)test_random(random),
                    test_random(random) % 2 ? 1 + (int64_t)(test_random(random) % INSTANTS)
                                            : ANSWER_NOT_RECORDED};
}

TEST(whatever_is_put_the_book_says_what_the_slow_way_says) {
    enum { ROUNDS = 200 / TEST_SLOW_FACTOR, LINES = 400 };
    static line lines[LINES];
    uint64_t    random = test_seed();

    for (int round = 0; round < ROUNDS; round++) {
        const size_t   len = test_random(&random) % LINES;
        const uint64_t ids = 1 + test_random(&random) % 20, days = 1 + test_random(&random) % 30;
        const uint64_t attempts = 1 + test_random(&random) % 4;
        answers       *book = book_new();

        for (size_t i = 0; i < len; i++) {
            line *const l = &lines[i];

            (void)snprintf(l->id, sizeof l->id, "u%u", (unsigned)(test_random(&random) % ids));
            l->day = test_random(&random) % 3 == 0 ? DN_DAY_NONE
                                                   : (dn_day)(test_random(&random) % days) - 5;
            l->attempt = (uint32_t)(test_random(&random) % (attempts + 1));
            l->a = answer_random(&random);
            CHECK_INT(answers_put(book, l->id, strlen(l->id), l->day, l->attempt, l->a), DN_OK);
        }
        seal(book);
        for (int i = 0; i < 1000; i++) {
            const dn_day   day = (dn_day)(test_random(&random) % (days + 2)) - 6;
            const uint32_t attempt = 1 + (uint32_t)(test_random(&random) % (attempts + 1));
            const int64_t  now_ms = (int64_t)(test_random(&random) % (INSTANTS + 3));
            char           id[8];
            answer         said, wanted;

            (void)snprintf(id, sizeof id, "u%u", (unsigned)(test_random(&random) % (ids + 1)));
            said = find_at(book, id, day, attempt, now_ms);
            wanted = slowly(lines, len, id, day, attempt, now_ms);
            CHECK_INT(said.result, wanted.result);
            CHECK_INT(said.cls, wanted.cls);
            CHECK_UINT(said.duration_ms, wanted.duration_ms);
            CHECK_INT(said.stopped_ms, wanted.stopped_ms);
        }
        answers_free(book);
    }
}

/* What was put last by day, id and attempt, where the days are more than are in memory and each has many blocks. */
TEST(more_days_than_blocks_in_memory_lose_nothing) {
    enum { DAYS = 6000, IDS = 3, TURNS = 4, LONG = 100 };
    char     id[LONG + 1];
    answers *book = book_new();

    memset(id, 'x', LONG);
    id[LONG] = '\0';
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        for (dn_day day = 0; day < DAYS; day++) {
            for (uint32_t n = 0; n < IDS; n++) {
                id[0] = (char)('a' + n);
                put(book, id, day, 0, turn * DAYS + (uint32_t)day);
                put(book, id, day, 1 + turn, n);
            }
        }
    }
    /* One of them goes on over many blocks. */
    for (uint32_t n = 0; n < 10000; n++) {
        (void)snprintf(id, sizeof id, "u%u", n);
        put(book, id, 77, 0, n);
    }
    seal(book);
    for (uint32_t n = 0; n < 10000; n++) {
        (void)snprintf(id, sizeof id, "u%u", n);
        CHECK_INT(find(book, id, 77, 1).duration_ms, n);
        CHECK_INT(find(book, id, 78, 1).duration_ms, 500);
    }
    memset(id, 'x', LONG);
    for (dn_day day = DAYS; day-- > 0;) {
        id[0] = 'b';
        CHECK_INT(find(book, id, day, TURNS + 1).duration_ms, (TURNS - 1) * DAYS + day);
        CHECK_INT(find(book, id, day, TURNS).duration_ms, 1);
    }
    answers_free(book);
}

TEST(the_first_and_the_last_day_there_are_have_their_lines) {
    static const dn_day days[] = {-719528, -1, 0, 1, 2932896};
    answers            *book = book_new();

    for (uint32_t i = 0; i < 5; i++) put(book, "u1", days[i], 0, i);
    seal(book);
    for (uint32_t turn = 0; turn < 3; turn++)
        for (uint32_t i = 0; i < 5; i++) CHECK_INT(find(book, "u1", days[i], 1).duration_ms, i);
    CHECK_INT(find(book, "u1", 2, 1).duration_ms, 500);
    answers_free(book);
}

/* ---- Memory ---- */

static size_t memory_used(void) {
    const struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

static size_t resident(void) {
    char  text[128] = "", *second;
    FILE *statm = fopen("/proc/self/statm", "r");

    CHECK(statm);
    CHECK(fgets(text, sizeof text, statm));
    (void)fclose(statm);
    second = strchr(text, ' ');
    CHECK(second);
    return strtoul(second, NULL, 10) * 4096;
}

/* Lines of `days` days with 1000 ids each, and some without a day for the same ids; then every day is asked for. What
 * is held in the end, and the most that was resident at any time. */
static void many(dn_day days, size_t *out_used, size_t *out_resident) {
    const size_t used = memory_used(), there = resident();
    answers     *book = book_new();
    char         id[16];
    size_t       most = 0;

    for (dn_day day = 0; day < days; day++) {
        for (uint32_t n = 0; n < 1000; n++) {
            (void)snprintf(id, sizeof id, "u%u", n);
            put(book, id, 20000 + day, 0, n);
            if (n % 10 == 0) put(book, id, DN_DAY_NONE, 1 + n % 3, n);
        }
        if (resident() > most) most = resident();
    }
    seal(book);
    for (dn_day day = 0; day < days; day++) {
        CHECK_INT(find(book, "u17", 20000 + day, 1).duration_ms, 17);
        if (resident() > most) most = resident();
    }
    *out_used = memory_used() - used;
    *out_resident = most > there ? most - there : 0;
    answers_free(book);
}

TEST(ten_times_the_lines_take_no_more_memory) {
    size_t used, used_ten, there, there_ten;

    if (test_under_sanitizer()) return; /* which has an allocator of its own */
    many(40, &used, &there);
    many(400, &used_ten, &there_ten);
    /* 360 more days: a few bytes each, and a block each while lines are put. */
    CHECK_MSG(used_ten <= used + 64 * 1024, "%zu and %zu bytes", used, used_ten);
    CHECK_MSG(there_ten <= there + 4 * 1024 * 1024, "%zu and %zu bytes", there, there_ten);
}

TEST(a_line_that_says_the_same_again_takes_no_memory) {
    size_t   used;
    answers *book;

    if (test_under_sanitizer()) return;
    book = book_new();
    put(book, "u1", DN_DAY_NONE, 0, 1);
    put(book, "u1", DN_DAY_NONE, 1, 1);
    used = memory_used();
    for (uint32_t n = 0; n < 100000; n++) put(book, "u1", DN_DAY_NONE, n % 2, n);
    for (uint32_t n = 0; n < 100000; n++)
        CHECK_INT(
            answers_put(book, "u2", 2, DN_DAY_NONE, 1, (answer){ANSWER_OK, DN_CLASS_NONE, n, 77}),
            DN_OK);
    CHECK_UINT(memory_used(), used);
    answers_free(book);
}

/* A table has room to spare while it is small, and is filled when it is large. */
TEST(of_however_many_lines_each_is_found_and_nothing_else) {
    enum { MANY = 120000 };
    answers *book = book_new();
    char     id[16];

    for (uint32_t n = 0; n < MANY; n++) {
        (void)snprintf(id, sizeof id, "u%u", n);
        put(book, id, DN_DAY_NONE, n % 3, n);
    }
    seal(book);
    for (uint32_t n = 0; n < MANY; n += 7) {
        (void)snprintf(id, sizeof id, "u%u", n);
        CHECK_UINT(find(book, id, 20000, n % 3 ? n % 3 : 9).duration_ms, n);
        if (n % 3) CHECK_UINT(find(book, id, 20000, 9).duration_ms, otherwise.duration_ms);
        (void)snprintf(id, sizeof id, "v%u", n);
        CHECK_UINT(find(book, id, 20000, 1).duration_ms, otherwise.duration_ms);
    }
    answers_free(book);
}

/* ---- What fails ---- */

TEST(whichever_allocation_fails_it_is_said_and_nothing_stays_behind) {
    uint64_t n = 0;
    bool     failed;

    do {
        answers *book = NULL;
        answer   a;
        char     id[16];
        int      rc;

        starve_nth(++n);
        rc = answers_new(otherwise, &book);
        for (uint32_t i = 0; i < 300 && rc == DN_OK; i++) {
            (void)snprintf(id, sizeof id, "u%u", i);
            rc = answers_put(book, id, strlen(id), i % 2 ? (dn_day)(i % 7) : DN_DAY_NONE, 0,
                             otherwise);
        }
        if (rc == DN_OK) rc = answers_seal(book);
        for (dn_day day = 0; day < 7 && rc == DN_OK; day++)
            rc = answers_find(book, "u1", 2, day, 1, 0, &a);
        failed = starve_end();
        CHECK_INT(rc, failed ? DN_ENOMEM : DN_OK);
        answers_free(book);
    } while (failed);
    CHECK(n > 10);
}

TEST(a_day_that_could_not_be_read_may_be_asked_for_again) {
    enum { DAYS = ANSWERS_DAYS_HELD + 1 };
    answers *book = book_new();
    answer   a = {0};

    for (uint32_t day = 1; day <= DAYS; day++) put(book, "u1", (dn_day)day, 0, 10 + day);
    seal(book);
    for (dn_day day = 1; day < DAYS; day++)
        CHECK_INT(find(book, "u1", day, 1).duration_ms, 10 + day);
    starve_nth(1);
    CHECK_INT(answers_find(book, "u1", 2, DAYS, 1, 0, &a), DN_ENOMEM);
    CHECK(starve_end());
    /* Also the one that had to go for it. */
    for (dn_day day = 1; day <= DAYS; day++)
        CHECK_INT(find(book, "u1", day, 1).duration_ms, 10 + day);
    answers_free(book);
}

TEST(a_full_disk_is_said) {
    const struct rlimit little = {64 * 1024, 64 * 1024};
    answers            *book = book_new();
    char                id[16];
    int                 rc = DN_OK;

    (void)signal(SIGXFSZ, SIG_IGN);
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &little), 0);
    for (uint32_t n = 0; n < 100000 && rc == DN_OK; n++) {
        (void)snprintf(id, sizeof id, "u%u", n);
        rc = answers_put(book, id, strlen(id), 20000, 0, otherwise);
    }
    CHECK_INT(rc, DN_EIO);
    answers_free(book);
}

TEST(where_no_file_can_be_a_line_with_a_day_is_refused) {
    answers *book = book_new();

    CHECK_INT(setenv("TMPDIR", "/nowhere", 1), 0);
    put(book, "u1", DN_DAY_NONE, 0, 1);
    CHECK_INT(answers_put(book, "u1", 2, 20000, 0, otherwise), DN_EIO);
    answers_free(book);
}

/* ---- Speed ---- */

static double seconds(void) {
    struct timespec t;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

TEST(a_question_takes_well_under_a_microsecond) {
    enum { ASKED = 2000000 / TEST_SLOW_FACTOR / TEST_SLOW_FACTOR };
    answers *book = book_new();
    double   began, lasted;
    char     id[16];
    uint64_t sum = 0;

    for (uint32_t n = 0; n < 10000; n++) {
        (void)snprintf(id, sizeof id, "u%u", n);
        put(book, id, 20000 + (dn_day)(n % 3), 0, n);
        put(book, id, DN_DAY_NONE, 2, n);
    }
    seal(book);
    began = seconds();
    for (uint32_t n = 0; n < ASKED; n++) sum += find(book, "u123456", 20000, 1).duration_ms;
    lasted = seconds() - began;
    CHECK_UINT(sum, UINT64_C(500) * ASKED);
    (void)fprintf(stderr, "%.1f ns a miss\n", lasted / ASKED * 1e9);
    CHECK_MSG(lasted / ASKED < 1e-6 * TEST_SLOW_FACTOR, "%.0f ns", lasted / ASKED * 1e9);
    answers_free(book);
}
