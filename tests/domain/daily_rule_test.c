/* daily_test.c - the daily rule against the contract's own words, told a second time and slowly.
 * Here no cutoff and no start is ever computed. A calendar of a few days is painted minute by minute: from
 * each cutoff the window is walked backwards, and each minute walked over belongs to that day. What the rule
 * would do is then read off the calendar, in the order of the contract's four sentences. */
#include "domain/daily_rule.h"
#include "test.h"

#include <inttypes.h>
#include <string.h>

enum { HOUR = 60 };
static const uint32_t windows[] = {1, 10, 60, 90, 1439, 1440};
enum { WINDOWS = sizeof windows / sizeof windows[0] };

/* ---- The contract, slowly ---- */

/* Days -3 to 4 around day 0, by minutes; minute 0 is the first of day 0. */
enum { FROM = -3, TO = 4, MINUTES = (TO - FROM + 1) * DN_DAY_MINUTES, NO_DAY = 1000 };
typedef struct calendar {
    int16_t date[MINUTES];   /* the UTC date of a minute */
    int16_t window[MINUTES]; /* the day in whose window it lies, or NO_DAY */
    bool    past[MINUTES];   /* the cutoff of its date has come */
} calendar;

static size_t at(int minute) {
    const int index = minute - FROM * DN_DAY_MINUTES;

    CHECK(index >= 0 && index < MINUTES);
    return (size_t)index;
}

static void calendar_paint(calendar *c, uint32_t due, uint32_t window) {
    int minute = FROM * DN_DAY_MINUTES;

    for (int i = 0; i < MINUTES; i++) c->window[i] = NO_DAY;
    for (int day = FROM; day <= TO; day++) {
        bool past = false;

        for (uint32_t of_day = 0; of_day < DN_DAY_MINUTES; of_day++, minute++) {
            c->date[at(minute)] = (int16_t)day;
            if (of_day == due) {
                past = true;
                for (int back = minute - 1; back >= minute - (int)window; back--)
                    if (back >= FROM * DN_DAY_MINUTES) c->window[at(back)] = (int16_t)day;
            }
            c->past[at(minute)] = past;
        }
    }
}

static bool finalized(const dn_daily_user *user, dn_day day) {
    const bool has_ended = user->last_day != DN_DAY_NONE && user->last_day >= day;
    const bool is_before_the_first = day < user->starts_on;

    return has_ended || is_before_the_first;
}

/* base: the day that is day 0 of the calendar. */
static dn_daily_plan contract(const calendar *c, const dn_daily_user *user, dn_day base,
                              int minute) {
    const dn_day today = base + c->date[at(minute)];
    const bool   in_a_window = c->window[at(minute)] != NO_DAY;
    const dn_day window_of = base + c->window[at(minute)];

    if (!finalized(user, today) && c->past[at(minute)])
        return (dn_daily_plan){DN_DAILY_FINALIZE, today};
    if (!finalized(user, today) && in_a_window && window_of == today)
        return (dn_daily_plan){DN_DAILY_ATTEMPT, today};
    if (finalized(user, today) && in_a_window && window_of == today + 1 &&
        !finalized(user, today + 1))
        return (dn_daily_plan){DN_DAILY_ATTEMPT, today + 1};
    return (dn_daily_plan){DN_DAILY_NOTHING, today};
}

static void check_plan(const calendar *c, const dn_daily_user *user, dn_day base, uint32_t window,
                       int64_t of_base_ms) {
    const int64_t now_ms = base * DN_DAY_MS + of_base_ms;
    const int     minute = (int)((of_base_ms - FROM * DN_DAY_MS) / DN_MINUTE_MS) +
                       FROM * DN_DAY_MINUTES; /* rounded down: it is not negative */
    const dn_daily_plan expected = contract(c, user, base, minute);
    const dn_daily_plan plan = dn_daily_decide(user, window, now_ms);

    CHECK_MSG(plan.action == expected.action && plan.day == expected.day,
              "due %" PRIu32 ", window %" PRIu32 ", last %d, starts_on %d, day %d and %" PRId64
              " ms: %d for %d and not %d for %d",
              user->due, window, user->last_day, user->starts_on, base, of_base_ms, plan.action,
              plan.day, expected.action, expected.day);
}

/* Finalized never, yesterday, today, tomorrow; begun before, today, tomorrow, after. */
static size_t states_of(dn_day today, uint32_t due, dn_daily_user states[20]) {
    const dn_day lasts[] = {DN_DAY_NONE, today - 2, today - 1, today, today + 1};
    size_t       len = 0;

    for (size_t i = 0; i < 5; i++)
        for (dn_day starts_on = today - 1; starts_on <= today + 2; starts_on++)
            states[len++] =
                (dn_daily_user){.due = due, .last_day = lasts[i], .starts_on = starts_on};
    return len;
}

TEST(every_minute_of_a_day_and_every_due_minute_is_decided_as_the_contract_says) {
    const uint32_t  step = TEST_SLOW_FACTOR == 1 ? 1 : 29; /* of due minutes */
    static calendar c;
    dn_daily_user   states[20];

    for (size_t w = 0; w < WINDOWS; w++)
        for (uint32_t due = 0; due < DN_DAY_MINUTES; due += step) {
            const size_t len = states_of(20000, due, states);

            calendar_paint(&c, due, windows[w]);
            for (int minute = 0; minute < DN_DAY_MINUTES; minute++)
                for (size_t i = 0; i < len; i++)
                    check_plan(&c, &states[i], 20000, windows[w], minute * DN_MINUTE_MS);
        }
}

TEST(the_milliseconds_around_every_edge_fall_on_their_right_side) {
    static calendar c;
    dn_daily_user   states[20];
    uint64_t        random = test_seed();

    for (int n = 0; n < 20000 / TEST_SLOW_FACTOR; n++) {
        const dn_day   base = (dn_day)(test_random(&random) % 6000000) - 2000000;
        const uint32_t due = test_random(&random) % 4 == 0
                                 ? (uint32_t)(test_random(&random) % 2) * 1439
                                 : (uint32_t)(test_random(&random) % DN_DAY_MINUTES);
        const uint32_t window = test_random(&random) % 2 == 0
                                    ? windows[test_random(&random) % WINDOWS]
                                    : 1 + (uint32_t)(test_random(&random) % 1440);
        const int64_t  edges_ms[] = {0,
                                     DN_DAY_MS,
                                     due * DN_MINUTE_MS,
                                     (due + DN_DAY_MS / DN_MINUTE_MS - window) * DN_MINUTE_MS,
                                     ((int64_t)due - window) * DN_MINUTE_MS,
                                     (int64_t)(test_random(&random) % DN_DAY_MS)};
        const size_t   len = states_of(base, due, states);

        calendar_paint(&c, due, window);
        for (size_t edge = 0; edge < sizeof edges_ms / sizeof edges_ms[0]; edge++)
            for (int64_t ms = edges_ms[edge] - 2; ms <= edges_ms[edge] + 2; ms++)
                for (size_t i = 0; i < len; i++) check_plan(&c, &states[i], base, window, ms);
    }
}

TEST(at_the_ends_of_time_the_rule_still_answers) {
    const int64_t instants_ms[] = {INT64_MIN, INT64_MIN + 1, INT64_MAX - 1, INT64_MAX};
    dn_daily_user user = {.due = 0, .last_day = 20000, .starts_on = 19000};

    for (size_t i = 0; i < 4; i++)
        for (user.due = 0; user.due < DN_DAY_MINUTES; user.due += 1439)
            for (size_t w = 0; w < WINDOWS; w++) {
                const int64_t       now_ms = instants_ms[i];
                const dn_daily_plan plan = dn_daily_decide(&user, windows[w], now_ms);

                CHECK_INT(plan.action, now_ms < 0 ? DN_DAILY_NOTHING : DN_DAILY_FINALIZE);
                CHECK(!dn_daily_may_start(&user, plan.day, windows[w], now_ms));
                CHECK(dn_daily_opened(user.due, windows[w], now_ms) <= plan.day + 1);
                if (now_ms < 0)
                    CHECK_INT(dn_daily_next_ms(&user, windows[w], now_ms),
                              dn_daily_start_ms(user.due, 20001, windows[w]));
            }
}

/* ---- Seed 003 ---- */

/* Its section 5, with its `last_date == today`, for a window that stays on its day. */
static dn_daily_action letter(bool finalized_today, uint32_t now, uint32_t start, uint32_t cutoff) {
    if (finalized_today) return DN_DAILY_NOTHING;
    if (now >= cutoff) return DN_DAILY_FINALIZE;
    if (start <= now && now < cutoff) return DN_DAILY_ATTEMPT;
    return DN_DAILY_NOTHING;
}

TEST(where_nothing_crosses_midnight_the_rule_is_that_of_seed_003_to_the_letter) {
    const uint32_t step = TEST_SLOW_FACTOR == 1 ? 1 : 7;

    for (size_t w = 0; w < WINDOWS; w++)
        for (uint32_t due = windows[w]; due < DN_DAY_MINUTES; due += step)
            for (uint32_t now = 0; now < DN_DAY_MINUTES; now++)
                for (dn_day last = 97; last <= 100; last++) {
                    const dn_daily_user user = {due, last == 97 ? DN_DAY_NONE : last, 50};
                    const dn_daily_plan plan =
                        dn_daily_decide(&user, windows[w], 100 * DN_DAY_MS + now * DN_MINUTE_MS);

                    if (plan.action != letter(last == 100, now, due - windows[w], due))
                        CHECK_MSG(false, "due %" PRIu32 " at minute %" PRIu32 ", last %d", due, now,
                                  last);
                    CHECK(plan.day == 100);
                }
}

TEST(every_due_minute_gets_its_whole_window_and_not_a_minute_more) {
    for (size_t w = 0; w < WINDOWS; w++)
        for (uint32_t due = 0; due < DN_DAY_MINUTES; due += w < 4 ? 1 : 61) {
            const dn_daily_user user = {due, 99, 50};
            uint32_t            attempts = 0;

            for (int64_t ms = 99 * DN_DAY_MS; ms < 101 * DN_DAY_MS; ms += DN_MINUTE_MS) {
                const dn_daily_plan plan = dn_daily_decide(&user, windows[w], ms);

                if (plan.action != DN_DAILY_ATTEMPT) continue;
                CHECK_INT(plan.day, 100);
                CHECK(dn_daily_may_start(&user, 100, windows[w], ms));
                attempts++;
            }
            /* The window begins on day 99 at the earliest. */
            CHECK_UINT(attempts, windows[w]);
        }
}

TEST(a_user_due_at_midnight_is_attempted_the_hour_before_and_for_the_day_that_begins) {
    const dn_daily_user user = {.due = 0, .last_day = 99, .starts_on = 0};
    const int64_t       midnight_ms = 100 * DN_DAY_MS;

    CHECK_INT(dn_daily_decide(&user, HOUR, midnight_ms - 3600001).action, DN_DAILY_NOTHING);
    CHECK_INT(dn_daily_decide(&user, HOUR, midnight_ms - 3600000).action, DN_DAILY_ATTEMPT);
    CHECK_INT(dn_daily_decide(&user, HOUR, midnight_ms - 3600000).day, 100);
    CHECK_INT(dn_daily_decide(&user, HOUR, midnight_ms - 1).action, DN_DAILY_ATTEMPT);
    CHECK_INT(dn_daily_decide(&user, HOUR, midnight_ms).action, DN_DAILY_FINALIZE);
    CHECK_INT(dn_daily_decide(&user, HOUR, midnight_ms).day, 100);
}

TEST(a_user_registered_after_the_cutoff_of_today_is_finalized_at_the_next_tick) {
    const dn_daily_user user = {.due = 480, .last_day = DN_DAY_NONE, .starts_on = 100};
    const dn_daily_plan plan = dn_daily_decide(&user, HOUR, 100 * DN_DAY_MS + 481 * DN_MINUTE_MS);

    CHECK_INT(plan.action, DN_DAILY_FINALIZE);
    CHECK_INT(plan.day, 100);
}

/* ---- Clocks that step ---- */

TEST(however_the_clock_steps_no_day_is_finalized_twice_and_last_date_never_falls) {
    enum { DAYS = 60 };
    uint64_t random = test_seed();
    int      stepped_back_over_midnight = 0;

    for (int run = 0; run < 2000 / TEST_SLOW_FACTOR; run++) {
        const uint32_t window = windows[test_random(&random) % WINDOWS];
        int            finalized_at[DAYS] = {0};
        dn_daily_user  user = {.due = (uint32_t)(test_random(&random) % DN_DAY_MINUTES),
                               .last_day = DN_DAY_NONE,
                               .starts_on = 20};
        int64_t        now_ms = 20 * DN_DAY_MS;

        for (int tick = 0; tick < 2000; tick++) {
            const dn_daily_plan plan = dn_daily_decide(&user, window, now_ms);
            const dn_day        today = dn_day_of_ms(now_ms);

            if (plan.action == DN_DAILY_FINALIZE ||
                (plan.action == DN_DAILY_ATTEMPT && test_random(&random) % 8 == 0)) {
                CHECK(plan.day >= user.starts_on && plan.day < DAYS);
                CHECK(plan.day > user.last_day);
                CHECK_INT(finalized_at[plan.day]++, 0);
                user.last_day = plan.day;
            }
            if (test_random(&random) % 100 > 0) {
                now_ms += (int64_t)(test_random(&random) % 60) * DN_MINUTE_MS;
            } else {
                now_ms += (int64_t)(test_random(&random) % (3 * DN_DAY_MS)) - 2 * DN_DAY_MS;
                stepped_back_over_midnight +=
                    dn_day_of_ms(now_ms) < today && user.last_day >= today;
            }
            if (now_ms < 15 * DN_DAY_MS) now_ms = 15 * DN_DAY_MS;
            if (now_ms > (DAYS - 2) * DN_DAY_MS) break;
        }
    }
    CHECK(stepped_back_over_midnight > 100);
}

/* ---- The other questions ---- */

static bool same(dn_daily_plan a, dn_daily_plan b) {
    return a.action == b.action && (a.action == DN_DAILY_NOTHING || a.day == b.day);
}

TEST(next_is_the_first_instant_at_which_another_decision_is_made) {
    uint64_t random = test_seed();

    for (int n = 0; n < 20000 / TEST_SLOW_FACTOR; n++) {
        const dn_day        base = (dn_day)(test_random(&random) % 40000) - 10000;
        const uint32_t      window = windows[test_random(&random) % WINDOWS];
        const dn_daily_user user = {
            .due = (uint32_t)(test_random(&random) % DN_DAY_MINUTES),
            .last_day = test_random(&random) % 5 == 0
                            ? DN_DAY_NONE
                            : base + (dn_day)(test_random(&random) % 6) - 3,
            .starts_on = base + (dn_day)(test_random(&random) % 6) - 3,
        };
        const int64_t       edges[] = {0, user.due, (int64_t)user.due - window,
                                       (int64_t)(test_random(&random) % 1440)};
        const int64_t       edge_ms = edges[test_random(&random) % 4] * DN_MINUTE_MS;
        const int64_t       now_ms = base * DN_DAY_MS + edge_ms + (int64_t)(n % 5) - 2;
        const dn_daily_plan plan = dn_daily_decide(&user, window, now_ms);
        const int64_t       next_ms = dn_daily_next_ms(&user, window, now_ms);
        int64_t             walk_ms = dn_day_start_ms(dn_day_of_ms(now_ms));

        CHECK(next_ms > now_ms);
        CHECK(same(dn_daily_decide(&user, window, next_ms - 1), plan));
        /* Everything changes on a whole minute. */
        while (walk_ms <= now_ms) walk_ms += DN_MINUTE_MS;
        while (same(dn_daily_decide(&user, window, walk_ms), plan)) walk_ms += DN_MINUTE_MS;
        CHECK_INT(next_ms, walk_ms);
    }
}

TEST(next_looks_past_years_in_which_nothing_is_to_be_done) {
    const dn_daily_user finalized_far = {.due = 30, .last_day = 2000000, .starts_on = 0};
    const dn_daily_user begins_far = {.due = 30, .last_day = DN_DAY_NONE, .starts_on = 2000001};
    const int64_t       start_ms = 2000001 * DN_DAY_MS - 30 * DN_MINUTE_MS;

    CHECK_INT(dn_daily_next_ms(&finalized_far, HOUR, -5), start_ms);
    CHECK_INT(dn_daily_next_ms(&begins_far, HOUR, -5), start_ms);
}

TEST(an_attempt_may_start_exactly_while_its_window_is_open_and_its_day_is_not_finalized) {
    static calendar c;
    dn_daily_user   states[20];
    uint64_t        random = test_seed();

    for (int n = 0; n < 300 / TEST_SLOW_FACTOR; n++) {
        const uint32_t due = (uint32_t)(test_random(&random) % DN_DAY_MINUTES);
        const uint32_t window = windows[(size_t)n % WINDOWS];
        const size_t   len = states_of(0, due, states);

        calendar_paint(&c, due, window);
        for (int minute = 0; minute < DN_DAY_MINUTES; minute++)
            for (size_t i = 0; i < len; i++)
                for (dn_day day = -1; day <= 2; day++) {
                    const bool may = c.window[at(minute)] == day && !finalized(&states[i], day);

                    CHECK(dn_daily_may_start(&states[i], day, window, minute * DN_MINUTE_MS) ==
                          may);
                    CHECK(dn_daily_may_start(&states[i], day, window,
                                             minute * DN_MINUTE_MS + 59999) == may);
                }
    }
}

TEST(opened_is_the_latest_day_whose_window_has_opened) {
    for (size_t w = 0; w < WINDOWS; w++)
        for (uint32_t due = 0; due < DN_DAY_MINUTES; due += 13)
            for (int64_t ms = -DN_DAY_MS; ms < DN_DAY_MS; ms += 7 * DN_MINUTE_MS) {
                dn_day day = 3;

                while (day * DN_DAY_MS + ((int64_t)due - windows[w]) * DN_MINUTE_MS > ms) day--;
                CHECK_INT(dn_daily_opened(due, windows[w], ms), day);
            }
}

static void openings_are_those_of_each_due(uint32_t window, int64_t ms) {
    const dn_daily_openings o = dn_daily_openings_at(window, ms);

    CHECK_INT(o.today, dn_day_of_ms(ms));
    for (int32_t due = 0; due < DN_DAY_MINUTES; due++)
        CHECK_INT(dn_daily_opened((uint32_t)due, window, ms), due <= o.due_tomorrow ? o.today + 1
                                                              : due <= o.due_today  ? o.today
                                                                                    : o.today - 1);
}

TEST(the_openings_of_an_instant_are_what_has_opened_for_every_due) {
    uint64_t random = test_seed();

    for (size_t w = 0; w < WINDOWS; w++) {
        for (int64_t minute = -1441; minute <= 1441; minute += 11)
            for (int64_t off = -1; off <= 1; off++)
                openings_are_those_of_each_due(windows[w], minute * DN_MINUTE_MS + off);
        openings_are_those_of_each_due(windows[w], (int64_t)(test_random(&random) >> 20));
        openings_are_those_of_each_due(windows[w], INT64_C(1) << 62);
        openings_are_those_of_each_due(windows[w], -(INT64_C(1) << 62));
    }
}

TEST(missed_are_the_days_that_ended_unseen_and_have_no_row) {
    uint64_t random = test_seed();

    for (int n = 0; n < 100000 / TEST_SLOW_FACTOR; n++) {
        const dn_day        today = (dn_day)(test_random(&random) % 40) - 20;
        const dn_daily_user user = {
            .due = (uint32_t)(test_random(&random) % DN_DAY_MINUTES),
            .last_day = test_random(&random) % 4 == 0 ? DN_DAY_NONE
                                                      : (dn_day)(test_random(&random) % 60) - 30,
            .starts_on = (dn_day)(test_random(&random) % 60) - 30,
        };
        /* The ledger has rows up to a day, if any. */
        const dn_day recorded =
            test_random(&random) % 4 == 0 ? DN_DAY_NONE : (dn_day)(test_random(&random) % 60) - 30;
        const dn_day_range range = dn_daily_missed(
            &user, recorded, today * DN_DAY_MS + (int64_t)(test_random(&random) % DN_DAY_MS));

        for (dn_day day = -40; day <= 40; day++) {
            const bool has_row = recorded != DN_DAY_NONE && day <= recorded;
            const bool missed =
                day < today && day >= user.starts_on && !finalized(&user, day) && !has_row;

            CHECK((range.first <= day && day <= range.last) == missed);
        }
    }
}

TEST(a_new_user_begins_today_while_its_cutoff_is_to_come_and_tomorrow_from_then_on) {
    CHECK_INT(dn_daily_starts_on(480, 7 * DN_DAY_MS), 7);
    CHECK_INT(dn_daily_starts_on(480, 7 * DN_DAY_MS + 480 * DN_MINUTE_MS - 1), 7);
    CHECK_INT(dn_daily_starts_on(480, 7 * DN_DAY_MS + 480 * DN_MINUTE_MS), 8);
    CHECK_INT(dn_daily_starts_on(480, 8 * DN_DAY_MS - 1), 8);
    CHECK_INT(dn_daily_starts_on(0, 7 * DN_DAY_MS), 8);
    CHECK_INT(dn_daily_starts_on(480, -1), 0);
}

/* ---- Names ---- */

TEST(statuses_and_error_classes_are_written_as_the_contract_writes_them) {
    CHECK_STR(dn_daily_status_text(DN_DAILY_NONE), NULL);
    CHECK_STR(dn_daily_status_text(DN_DAILY_SUCCESS), "success");
    CHECK_STR(dn_daily_status_text(DN_DAILY_CUTOFF), "cutoff_reached");
    CHECK_STR(dn_daily_status_text(DN_DAILY_MISSED), "missed");
    CHECK_STR(dn_error_class_text(DN_CLASS_NONE), NULL);
    CHECK_STR(dn_error_class_text(DN_CLASS_REQ), "req");
    CHECK_STR(dn_error_class_text(DN_CLASS_LLM), "llm");
    CHECK_STR(dn_error_class_text(DN_CLASS_PARSE), "parse");
    CHECK_STR(dn_error_class_text(DN_CLASS_UNKNOWN), "unknown");
}

TEST(an_error_class_is_read_back_and_nothing_else_is_one) {
    static const char *const not_one[] = {"", "re", "reqs", "REQ", "none", "unknow", "req "};

    for (dn_error_class cls = DN_CLASS_REQ; cls <= DN_CLASS_UNKNOWN; cls++) {
        const char *text = dn_error_class_text(cls);

        CHECK_INT(dn_error_class_read(text, strlen(text)), cls);
    }
    for (size_t i = 0; i < sizeof not_one / sizeof not_one[0]; i++)
        CHECK_INT(dn_error_class_read(not_one[i], strlen(not_one[i])), DN_CLASS_NONE);
    CHECK_INT(dn_error_class_read("llm\0", 4), DN_CLASS_NONE);
}

/* ---- Misuse ---- */

TEST_ABORTS(a_due_beyond_the_day_is_a_bug, "due < DN_DAY_MINUTES") {
    (void)dn_daily_cutoff_ms(DN_DAY_MINUTES, 0);
}

TEST_ABORTS(a_window_of_no_minutes_is_a_bug, "window_minutes >= 1") {
    (void)dn_daily_start_ms(0, 0, 0);
}

TEST_ABORTS(a_window_longer_than_a_day_is_a_bug, "window_minutes <= DN_WINDOW_MINUTES_MAX") {
    (void)dn_daily_start_ms(0, 0, 1441);
}
