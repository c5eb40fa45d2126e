/* explain_test.c - every state a day can be in, in its sentence. */
#include "test.h"

#include "api/explain.h"
#include "api/words.h"

#include <stdio.h>
#include <string.h>

#define DAY      20000 /* 2024-10-04 */
#define AT(h, m) (dn_day_start_ms(DAY) + ((h)*60 + (m)) * DN_MINUTE_MS)

/* ada, due at 08:00, since long ago. */
static dn_facts facts_at(int64_t now_ms) {
    return (dn_facts){
        .user = {.registration = 1,
                 .due = 480,
                 .last_day = DAY - 1,
                 .starts_on = DAY - 100,
                 .recorded = DAY - 1,
                 .status = DN_DAILY_SUCCESS,
                 .last_run_ms = AT(7, 3) - DN_DAY_MS,
                 .id_len = 3,
                 .id = "ada"},
        .window_minutes = 60,
        .ledger_days = 35,
        .now_ms = now_ms,
        .day = DN_DAY_NONE,
    };
}

static const char *said(const dn_facts *f) {
    static char all[4096];
    size_t      used = 0;
    json_t     *lines = dn_explain(f);

    CHECK(lines);
    all[0] = '\0';
    for (size_t i = 0; i < json_array_size(lines); i++)
        used += (size_t)snprintf(all + used, sizeof all - used, "%s\n",
                                 json_string_value(json_array_get(lines, i)));
    json_decref(lines);
    return all;
}

#define CHECK_SAYS(f, text) CHECK_MSG(strstr(said(f), text), "wanted: %s\nsaid: %s", text, said(f))

TEST(yesterday_is_told_from_its_row_and_today_from_the_clock) {
    dn_facts            f = facts_at(AT(3, 48));
    const dn_ledger_row row = {.day = DAY - 1,
                               .status = DN_DAILY_SUCCESS,
                               .error_class = DN_CLASS_LLM,
                               .attempts = 2,
                               .at_ms = AT(7, 3) - DN_DAY_MS};

    f.rows = &row;
    f.rows_len = 1;
    CHECK_STR(said(&f),
              "ada is due at 08:00 UTC every day, and attempted from 07:00 on; its first day is "
              "2024-06-26.\n"
              "Yesterday: success at 07:03 UTC on the 2nd attempt; the 1st failed (llm).\n"
              "Today: its window opens at 07:00 UTC, in 3 h 12 min.\n");
}

TEST(a_cutoff_is_told_with_what_was_tried) {
    dn_facts      f = facts_at(AT(9, 0));
    dn_ledger_row row = {.day = DAY, .status = DN_DAILY_CUTOFF, .at_ms = AT(8, 0)};

    f.rows = &row;
    f.rows_len = 1;
    f.user.last_day = f.user.recorded = DAY;
    CHECK_SAYS(&f,
               "Today: the cutoff was reached, written at 08:00 UTC, before any attempt started.");
    row.attempts = 1;
    CHECK_SAYS(&f, "after 1 attempt, which did not end.");
    row.error_class = DN_CLASS_REQ;
    CHECK_SAYS(&f, "after 1 attempt, which failed (req).");
    row.attempts = 5;
    CHECK_SAYS(&f, "after 5 attempts; the last failure was req.");
    CHECK_SAYS(&f, "Tomorrow: its window opens at ");
}

TEST(a_day_that_nobody_saw_is_missed) {
    dn_facts            f = facts_at(AT(3, 0));
    const dn_ledger_row row = {.day = DAY - 1, .status = DN_DAILY_MISSED};

    CHECK_SAYS(&f, "Yesterday: success at 07:03 UTC. The ledger has no details.");
    f.rows = &row;
    f.rows_len = 1;
    CHECK_SAYS(&f, "Yesterday: missed.");
    f.rows_len = 0;
    f.user.last_day = f.user.recorded = DAY - 2;
    CHECK_SAYS(&f, "Yesterday: over without a record; the next tick records it as missed.");
}

/* Due at 00:20, and attempted from 23:20 on. */
TEST(a_day_that_ended_before_it_began_is_told_as_tomorrow_and_then_the_one_after_it) {
    dn_facts            f = facts_at(AT(23, 40));
    const dn_ledger_row rows[] = {
        {.day = DAY + 1, .status = DN_DAILY_SUCCESS, .attempts = 1, .at_ms = AT(23, 21)},
        {.day = DAY, .status = DN_DAILY_CUTOFF, .at_ms = AT(0, 20)},
    };

    f.user.due = 20;
    f.user.last_day = f.user.recorded = DAY + 1;
    f.rows = rows;
    f.rows_len = 2;
    CHECK_SAYS(&f, "Today: the cutoff was reached, written at 00:20 UTC");
    CHECK_SAYS(&f, "Tomorrow: success at 2024-10-04 23:21 UTC on the 1st attempt.\n"
                   "On 2024-10-06: its window opens at 2024-10-05 23:20 UTC, in 23 h 40 min.\n");
}

TEST(within_its_window_a_user_runs_waits_or_may_not_yet) {
    dn_facts f = facts_at(AT(7, 30));

    CHECK_SAYS(
        &f,
        "Today: its window is open until 08:00 UTC, for 30 min more.\nThe next tick queues it.");
    f.queued = (dn_queued_user){.known = true, .queued = true, .day = DAY};
    CHECK_SAYS(&f, "It is queued and waits for a free slot.");
    f.queued = (dn_queued_user){.known = true,
                                .day = DAY,
                                .attempts = 2,
                                .error_class = DN_CLASS_PARSE,
                                .throttled_ms = 360000};
    CHECK_SAYS(
        &f, "2 attempts so far; the last failure was parse.\nThe next attempt may begin in 6 min.");
    f.queued.running = true;
    CHECK_SAYS(&f, "The 3rd attempt is running now.");
    f.now_ms = AT(8, 0);
    CHECK_SAYS(&f, "Today: its cutoff has passed; the next tick writes it.");
}

TEST(a_day_asked_for_is_told_alone) {
    dn_facts f = facts_at(AT(3, 0));

    f.day = DAY - 101;
    CHECK_STR(said(&f), "On 2024-06-25: nothing, because its first day is 2024-06-26.\n");
    f.day = DAY - 60;
    CHECK_STR(said(&f), "On 2024-08-05: unknown; the ledger is kept for 35 days.\n");
    f.day = DAY - 5;
    CHECK_SAYS(&f, "is missing from the ledger");
    f.ledger_days = 0;
    CHECK_SAYS(&f, "the ledger is turned off");
}

TEST(a_user_that_begins_tomorrow_is_told_so) {
    dn_facts f = facts_at(AT(9, 0));

    f.user.last_day = f.user.recorded = DN_DAY_NONE;
    f.user.starts_on = DAY + 1;
    CHECK_SAYS(&f, "Tomorrow: its window opens at 07:00 UTC, in 22 h 0 min.");
    CHECK(!strstr(said(&f), "Today"));
}

TEST(numbers_are_said_as_a_person_says_them) {
    char out[DN_WORDS];

    CHECK_STR(dn_words_count(0, "record", out), "0 records");
    CHECK_STR(dn_words_count(1, "record", out), "1 record");
    CHECK_STR(dn_words_count(UINT64_MAX, "record", out), "18446744073709551615 records");
    CHECK_STR(dn_words_ordinal(1, out), "1st");
    CHECK_STR(dn_words_ordinal(11, out), "11th");
    CHECK_STR(dn_words_ordinal(22, out), "22nd");
    CHECK_STR(dn_words_ordinal(113, out), "113th");
    CHECK_STR(dn_words_duration(-5, out), "0 ms");
    CHECK_STR(dn_words_duration(59999, out), "59 s");
    CHECK_STR(dn_words_duration(3 * DN_DAY_MS, out), "3 days 0 h");
}
