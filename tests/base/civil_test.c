/* civil_test.c - the calendar, counted day by day, and every way not to write a date. */
#define _DEFAULT_SOURCE /* timegm */
#include "base/civil.h"
#include "test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BYTES(literal) (literal), sizeof(literal) - 1

/* ---- Days ---- */

TEST(a_calendar_counted_day_by_day_from_the_year_0_to_9999_is_written_and_read) {
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    dn_day           day = -719528;
    char             expected[32], text[DN_DAY_TEXT];

    for (int year = 0; year <= 9999; year++)
        for (int month = 1; month <= 12; month++) {
            int length = lengths[month - 1];

            if (month == 2 && (year % 400 == 0 || (year % 4 == 0 && year % 100 != 0))) length++;
            for (int of_month = 1; of_month <= length; of_month++, day++) {
                dn_day read;

                if (TEST_SLOW_FACTOR > 1 && of_month > 2 && of_month < 28) continue;
                (void)snprintf(expected, sizeof expected, "%04d-%02d-%02d", year, month, of_month);
                dn_day_write(day, text);
                CHECK_STR(text, expected);
                CHECK_INT(dn_day_read(text, 10, &read), DN_OK);
                CHECK_INT(read, day);
            }
        }
    CHECK_INT(day, 2932897);
}

TEST(of_all_months_and_days_that_two_digits_can_say_those_of_the_calendar_are_read) {
    static const int years[] = {0, 4, 1600, 1900, 1970, 2000, 2023, 2024, 2100, 9999};
    static const int leaps[] = {1, 1, 1, 0, 0, 1, 0, 1, 0, 0};
    char             text[32];

    for (size_t i = 0; i < sizeof years / sizeof years[0]; i++) {
        int    days = 0;
        dn_day day, before = 0;

        for (int month = 0; month < 100; month++)
            for (int of_month = 0; of_month < 100; of_month++) {
                (void)snprintf(text, sizeof text, "%04d-%02d-%02d", years[i], month, of_month);
                if (dn_day_read(text, 10, &day) < 0) continue;
                if (days++ > 0) CHECK_INT(day, before + 1);
                before = day;
            }
        CHECK_INT(days, 365 + leaps[i]);
    }
}

TEST(the_day_of_an_instant_is_the_one_that_timegm_and_gmtime_know) {
    uint64_t random = test_seed();

    for (int n = 0; n < 300000 / TEST_SLOW_FACTOR; n++) {
        const int64_t ms = (int64_t)(test_random(&random) % (UINT64_C(315569520000) * 1000)) -
                           INT64_C(62167219200000);
        const time_t seconds = (time_t)((ms - (ms % 1000 + 1000) % 1000) / 1000);
        char         text[DN_INSTANT_TEXT], expected[64], tail[16];
        struct tm    tm;
        int64_t      read_ms;

        CHECK(gmtime_r(&seconds, &tm));
        tm.tm_isdst = 0;
        CHECK_INT(timegm(&tm), seconds);
        CHECK(strftime(expected, sizeof expected, "-%m-%dT%H:%M:%S", &tm) > 0);
        (void)snprintf(tail, sizeof tail, ".%03dZ", (int)((ms % 1000 + 1000) % 1000));
        dn_instant_write(ms, text);
        CHECK_INT(strtol(text, NULL, 10), tm.tm_year + 1900);
        CHECK_MSG(strncmp(text + 4, expected, 15) == 0, "%s and not %s", text, expected);
        CHECK_STR(text + 19, tail);
        CHECK_INT(dn_instant_read(text, 24, &read_ms), DN_OK);
        CHECK_INT(read_ms, ms);
        tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
        CHECK_INT(dn_day_start_ms(dn_day_of_ms(ms)), timegm(&tm) * INT64_C(1000));
    }
}

TEST(a_day_begins_at_its_midnight_before_1970_too) {
    for (dn_day day = -3; day <= 3; day++) {
        CHECK_INT(dn_day_of_ms(dn_day_start_ms(day)), day);
        CHECK_INT(dn_day_of_ms(dn_day_start_ms(day) - 1), day - 1);
        CHECK_INT(dn_day_of_ms(dn_day_start_ms(day + 1) - 1), day);
    }
}

TEST(the_days_of_the_first_and_the_last_instant_are_days_and_have_neighbours) {
    CHECK(dn_day_of_ms(INT64_MIN) - 2 > DN_DAY_NONE);
    CHECK(dn_day_of_ms(INT64_MIN) < -2000000000);
    CHECK(dn_day_of_ms(INT64_MAX) < INT32_MAX - 2);
    CHECK(dn_day_of_ms(INT64_MAX) > 2000000000);
}

TEST(what_is_beyond_the_years_of_four_digits_is_written_as_the_last_of_them) {
    char day[DN_DAY_TEXT], instant[DN_INSTANT_TEXT];

    dn_day_write(INT32_MAX, day);
    CHECK_STR(day, "9999-12-31");
    dn_day_write(DN_DAY_NONE + 1, day);
    CHECK_STR(day, "0000-01-01");
    dn_instant_write(INT64_MAX, instant);
    CHECK_STR(instant, "9999-12-31T23:59:59.999Z");
    dn_instant_write(INT64_MIN, instant);
    CHECK_STR(instant, "0000-01-01T00:00:00.000Z");
}

TEST_ABORTS(writing_no_day_as_a_day_is_a_bug, "DN_DAY_NONE") {
    char day[DN_DAY_TEXT];

    dn_day_write(DN_DAY_NONE, day);
}

static void refuse_day(const char *text, size_t len) {
    dn_day day = 77;

    CHECK_MSG(dn_day_read(text, len, &day) == DN_EINVAL, "%.*s", (int)len, text);
    CHECK_INT(day, 77);
}

TEST(a_malformed_day_is_refused_and_leaves_the_day_as_it_was) {
    refuse_day(BYTES(""));
    refuse_day(NULL, 0);
    refuse_day(BYTES("2026-02-30"));
    refuse_day(BYTES("2026-02-29"));
    refuse_day(BYTES("1900-02-29"));
    refuse_day(BYTES("2026-00-10"));
    refuse_day(BYTES("2026-13-10"));
    refuse_day(BYTES("2026-04-00"));
    refuse_day(BYTES("2026-04-31"));
    refuse_day(BYTES("2026-4-03"));
    refuse_day(BYTES("2026-04-3"));
    refuse_day(BYTES("2026-04-030"));
    refuse_day(BYTES(" 2026-04-03"));
    refuse_day(BYTES("2026-04-03 "));
    refuse_day(BYTES("2026-04-03\n"));
    refuse_day(BYTES(" 026-04-03"));
    refuse_day(BYTES("+026-04-03"));
    refuse_day(BYTES("-026-04-03"));
    refuse_day(BYTES("2026/04/03"));
    refuse_day(BYTES("2026-04-0x"));
    refuse_day(BYTES("20260403"));
    refuse_day(BYTES("12026-04-03"));
    refuse_day(BYTES("2026-04-0\0"));
    refuse_day(BYTES("2026\00004-03"));
    refuse_day(BYTES("2026-04-03\0"));
    refuse_day(BYTES("2026-W14-5"));
    refuse_day(BYTES("today"));
    refuse_day(BYTES("\xd9\xa2\xd9\xa0-04-03")); /* digits of another script */
}

/* ---- Minutes ---- */

TEST(every_minute_of_the_day_is_written_and_read) {
    char text[DN_DUE_TEXT], expected[32];

    for (uint32_t due = 0; due < DN_DAY_MINUTES; due++) {
        uint32_t read;

        (void)snprintf(expected, sizeof expected, "%02" PRIu32 ":%02" PRIu32, due / 60, due % 60);
        dn_due_write(due, text);
        CHECK_STR(text, expected);
        CHECK_INT(dn_due_read(text, 5, &read), DN_OK);
        CHECK_UINT(read, due);
    }
}

TEST(of_all_texts_of_digits_colons_and_spaces_no_more_than_the_1440_are_minutes) {
    static const char alphabet[] = {'0', '1', '2', '3', '4', '5', '6', '7',
                                    '8', '9', ':', ' ', '-', '+', '\0'};
    enum { LETTERS = sizeof alphabet };
    char text[8];
    int  read = 0;

    for (size_t len = 0; len <= 6; len++) {
        size_t count = 1;

        for (size_t i = 0; i < len; i++) count *= LETTERS;
        if (len == 6) count /= (size_t)(TEST_SLOW_FACTOR * 8);
        for (size_t n = 0; n < count; n++) {
            uint32_t due;

            for (size_t i = 0, rest = n; i < len; i++, rest /= LETTERS)
                text[i] = alphabet[rest % LETTERS];
            if (dn_due_read(text, len, &due) < 0) continue;
            CHECK_UINT(len, 5);
            CHECK(due < DN_DAY_MINUTES);
            read++;
        }
    }
    CHECK_INT(read, 1440);
}

TEST(a_malformed_minute_is_refused_and_leaves_the_minute_as_it_was) {
    static const char *const texts[] = {"24:00", "23:60",  " 8:00",  "08:00 ", "8:00", "08:0",
                                        "08.00", "08:00Z", "008:00", "08:000", "-8:00"};
    uint32_t                 due = 77;

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        CHECK_INT(dn_due_read(texts[i], strlen(texts[i]), &due), DN_EINVAL);
    CHECK_INT(dn_due_read(BYTES("08:00\0"), &due), DN_EINVAL);
    CHECK_INT(dn_due_read(BYTES("08:0\0"), &due), DN_EINVAL);
    CHECK_INT(dn_due_read(NULL, 0, &due), DN_EINVAL);
    CHECK_UINT(due, 77);
}

TEST_ABORTS(writing_a_minute_beyond_the_day_is_a_bug, "due < DN_DAY_MINUTES") {
    char text[DN_DUE_TEXT];

    dn_due_write(DN_DAY_MINUTES, text);
}

/* ---- Instants ---- */

static void read_instant(const char *text, const char *expected) {
    char    written[DN_INSTANT_TEXT];
    int64_t ms;

    CHECK_MSG(dn_instant_read(text, strlen(text), &ms) == DN_OK, "%s", text);
    dn_instant_write(ms, written);
    CHECK_STR(written, expected);
}

TEST(an_instant_may_have_an_offset_a_fraction_of_any_length_and_small_letters) {
    char long_one[400];

    read_instant("2026-11-18T07:30:00Z", "2026-11-18T07:30:00.000Z");
    read_instant("2026-11-18t07:30:00z", "2026-11-18T07:30:00.000Z");
    read_instant("2026-11-18T07:30:00.5Z", "2026-11-18T07:30:00.500Z");
    read_instant("2026-11-18T07:30:00.05Z", "2026-11-18T07:30:00.050Z");
    read_instant("2026-11-18T07:30:00.0009Z", "2026-11-18T07:30:00.000Z");
    read_instant("2026-11-18T23:59:59.9999999999Z", "2026-11-18T23:59:59.999Z");
    read_instant("1969-12-31T23:59:59.9999Z", "1969-12-31T23:59:59.999Z");
    read_instant("2026-11-18T07:30:00+00:00", "2026-11-18T07:30:00.000Z");
    read_instant("2026-11-18T07:30:00-00:00", "2026-11-18T07:30:00.000Z");
    read_instant("2026-11-18T07:30:00.25+05:45", "2026-11-18T01:45:00.250Z");
    read_instant("2026-11-18T07:30:00-08:00", "2026-11-18T15:30:00.000Z");
    read_instant("2026-11-18T00:00:00+23:59", "2026-11-17T00:01:00.000Z");
    read_instant("2026-12-31T20:00:00-23:59", "2027-01-01T19:59:00.000Z");
    read_instant("2024-02-28T23:59:59.999-00:01", "2024-02-29T00:00:59.999Z");

    memset(long_one, '3', sizeof long_one);
    memcpy(long_one, BYTES("2026-11-18T07:30:00."));
    long_one[sizeof long_one - 2] = 'Z';
    long_one[sizeof long_one - 1] = '\0';
    read_instant(long_one, "2026-11-18T07:30:00.333Z");
}

TEST(a_leap_second_is_the_second_before_it) {
    read_instant("2016-12-31T23:59:60Z", "2016-12-31T23:59:59.000Z");
    read_instant("2016-12-31T23:59:60.75Z", "2016-12-31T23:59:59.750Z");
    read_instant("1990-12-31T15:59:60-08:00", "1990-12-31T23:59:59.000Z");
    read_instant("2015-07-01T05:44:60+05:45", "2015-06-30T23:59:59.000Z");
    read_instant("9999-12-31T23:59:60Z", "9999-12-31T23:59:59.000Z");
}

static void refuse_instant(const char *text, size_t len) {
    int64_t ms = 77;

    CHECK_MSG(dn_instant_read(text, len, &ms) == DN_EINVAL, "%.*s", (int)len, text);
    CHECK_INT(ms, 77);
}

TEST(a_malformed_instant_is_refused_and_leaves_the_instant_as_it_was) {
    refuse_instant(NULL, 0);
    refuse_instant(BYTES(""));
    refuse_instant(BYTES("2026-11-18"));
    refuse_instant(BYTES("2026-11-18T07:30Z"));
    refuse_instant(BYTES("2026-11-18T07:30:00"));
    refuse_instant(BYTES("2026-11-18 07:30:00Z"));
    refuse_instant(BYTES("2026-11-18_07:30:00Z"));
    refuse_instant(BYTES("2026-11-18T24:00:00Z"));
    refuse_instant(BYTES("2026-11-18T07:60:00Z"));
    refuse_instant(BYTES("2026-11-18T07:30:61Z"));
    refuse_instant(BYTES("2026-11-18T07:30:00.Z"));
    refuse_instant(BYTES("2026-11-18T07:30:00."));
    refuse_instant(BYTES("2026-11-18T07:30:00.1"));
    refuse_instant(BYTES("2026-11-18T07:30:00,1Z"));
    refuse_instant(BYTES("2026-11-18T07:30:00.1.1Z"));
    refuse_instant(BYTES("2026-11-18T07:30:00.-1Z"));
    refuse_instant(BYTES("2026-11-18T07:30:00ZZ"));
    refuse_instant(BYTES("2026-11-18T07:30:00Z "));
    refuse_instant(BYTES(" 2026-11-18T07:30:00Z"));
    refuse_instant(BYTES("2026-11-18T07:30:00Z\0"));
    refuse_instant(BYTES("2026-11-18T07:30:00\0"));
    refuse_instant(BYTES("2026-11-18T07:30:0\0Z"));
    refuse_instant(BYTES("2026-11-18T07:30:00+0000"));
    refuse_instant(BYTES("2026-11-18T07:30:00+00"));
    refuse_instant(BYTES("2026-11-18T07:30:00+24:00"));
    refuse_instant(BYTES("2026-11-18T07:30:00+01:60"));
    refuse_instant(BYTES("2026-11-18T07:30:00+1:00"));
    refuse_instant(BYTES("2026-11-18T07:30:00+01:00Z"));
    refuse_instant(BYTES("2026-11-18T07:30:00Z+01:00"));
    refuse_instant(BYTES("2026-11-18T07:30:00\xe2\x88\x92"
                         "01:00")); /* a minus, not a hyphen */
    refuse_instant(BYTES("2026-02-29T07:30:00Z"));
    refuse_instant(BYTES("12026-11-18T07:30:00Z"));
}

TEST(a_sixtieth_second_where_no_month_of_utc_ends_is_refused) {
    refuse_instant(BYTES("2026-11-18T07:30:60Z"));
    refuse_instant(BYTES("2026-11-18T23:59:60Z"));
    refuse_instant(BYTES("2016-12-31T23:59:60+01:00"));
    refuse_instant(BYTES("2016-12-31T23:58:60Z"));
    refuse_instant(BYTES("2017-01-01T00:00:60Z"));
    refuse_instant(BYTES("2015-12-31T00:00:60+00:00"));
}

TEST(an_offset_that_leads_out_of_the_years_of_four_digits_is_refused) {
    read_instant("0000-01-01T00:01:00+00:01", "0000-01-01T00:00:00.000Z");
    refuse_instant(BYTES("0000-01-01T00:00:59.999+00:01"));
    read_instant("9999-12-31T23:58:59.999-00:01", "9999-12-31T23:59:59.999Z");
    refuse_instant(BYTES("9999-12-31T23:59:00-00:01"));
}

/* What is read of a damaged text must be what its writing says: no other instant slips through. */
TEST(of_texts_with_two_bytes_changed_only_instants_are_read) {
    static const char good[] = "2026-12-31T23:59:59.125Z";
    uint64_t          random = test_seed();
    int               read = 0;

    for (int n = 0; n < 2000000 / TEST_SLOW_FACTOR; n++) {
        char    text[sizeof good], written[DN_INSTANT_TEXT];
        int64_t ms;

        memcpy(text, good, sizeof good);
        for (int i = 0; i < 2; i++)
            text[test_random(&random) % (sizeof good - 1)] =
                test_random(&random) % 4 == 0 ? (char)test_random(&random)
                                              : "0123456789:-.TZtz+ "[test_random(&random) % 19];
        if (dn_instant_read(text, sizeof good - 1, &ms) < 0) continue;
        dn_instant_write(ms, written);
        read++;
        if (text[17] == '6') memcpy(text + 17, "59", 2);
        for (size_t i = 0; i < sizeof good; i++)
            if (text[i] == 't' || text[i] == 'z') text[i] = (char)(text[i] - 'a' + 'A');
        if (text[23] == 'Z' && text[19] == '.') CHECK_STR(written, text);
    }
    CHECK(read > 1000);
}
