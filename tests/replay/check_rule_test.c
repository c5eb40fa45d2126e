/* The rule, by the examples of the contract, and the calendar, by that of the C library. */
#include "check_rule.h"
#include "test.h"

#include <stdio.h>
#include <time.h>

enum { TODAY = 20454 /* 2026-01-01 */, DUE_0020 = 20, DUE_0800 = 480, NONE = DN_DAY_NONE };
#define AT(day, h, m) (((int64_t)(TODAY + (day)) * 1440 + (h)*60 + (m)) * CHECK_MINUTE)

static void wants(uint32_t due, dn_day last, int64_t wall_ms, check_need need, dn_day day) {
    const check_want w =
        check_wants(due, last, TODAY - 10, 60 * CHECK_MINUTE, check_date(wall_ms), wall_ms);

    CHECK_INT(w.need, need);
    if (need != CHECK_NEED_NOTHING) CHECK_INT(w.day, day);
}

TEST(a_window_begins_an_hour_before_its_cutoff_and_ends_with_it) {
    wants(DUE_0800, TODAY - 1, AT(0, 7, 0) - 1, CHECK_NEED_NOTHING, 0);
    wants(DUE_0800, TODAY - 1, AT(0, 7, 0), CHECK_NEED_TRY, TODAY);
    wants(DUE_0800, TODAY - 1, AT(0, 8, 0) - 1, CHECK_NEED_TRY, TODAY);
    wants(DUE_0800, TODAY - 1, AT(0, 8, 0), CHECK_NEED_CLOSE, TODAY);
    wants(DUE_0800, NONE, AT(0, 23, 59), CHECK_NEED_CLOSE, TODAY);
    wants(DUE_0800, TODAY, AT(0, 8, 0), CHECK_NEED_NOTHING, 0);
}

TEST(a_clock_that_stepped_back_runs_no_day_twice) {
    wants(DUE_0800, TODAY + 1, AT(0, 7, 30), CHECK_NEED_NOTHING, 0);
}

TEST(a_window_over_midnight_belongs_to_the_next_day) {
    wants(DUE_0020, TODAY, AT(0, 23, 20) - 1, CHECK_NEED_NOTHING, 0);
    wants(DUE_0020, TODAY, AT(0, 23, 20), CHECK_NEED_TRY, TODAY + 1);
    wants(DUE_0020, TODAY - 1, AT(0, 23, 30), CHECK_NEED_CLOSE, TODAY);
    wants(DUE_0020, TODAY + 1, AT(0, 23, 30), CHECK_NEED_NOTHING, 0);
}

TEST(days_and_instants_read_as_the_c_library_writes_them) {
    uint64_t random = test_seed();
    char     ours[CHECK_INSTANT_TEXT], theirs[CHECK_INSTANT_TEXT];

    for (int i = 0; i < 100000 / TEST_SLOW_FACTOR; i++) {
        const int64_t ms = (int64_t)(test_random(&random) % 250000000000000) - 60000000000000;
        const time_t  s = (time_t)check_floor(ms, 1000);
        struct tm     tm;
        CHECK(gmtime_r(&s, &tm));
        snprintf(theirs, sizeof theirs, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", tm.tm_year + 1900,
                 tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, (int)(ms - s * 1000));
        CHECK_STR(check_instant_text(ms, ours), theirs);
    }
}
