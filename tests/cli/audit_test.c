/* audit_test.c - an audit that has never found anything wrong is not yet an audit: each fault is planted. */
#include "test.h"

#include "cli/audit.h"

#include <string.h>

#define DAY 20000

typedef struct found {
    int      len;
    int      of[AUDIT_OTHER + 1];
    uint64_t last_n;
} found;

static void on_fault(void *context, audit_fault fault, uint64_t n) {
    found *f = context;

    f->len++;
    f->of[fault]++;
    f->last_n = n;
}

/* Users 1 to len, due at 08:00, with a success of DAY. */
static audit *audit_of(uint64_t len) {
    audit *a;

    CHECK_INT(audit_new(&a), DN_OK);
    for (uint64_t n = 1; n <= len; n++) {
        const audit_user user = {.n = n,
                                 .due = 480,
                                 .starts_on = DAY,
                                 .last_day = DAY,
                                 .recorded = DAY,
                                 .status = DN_DAILY_SUCCESS};
        CHECK_INT(audit_add_user(a, &user), DN_OK);
    }
    return a;
}

static audit_day day_of(dn_day day, found *f) {
    *f = (found){0};
    return (audit_day){.day = day, .as_of_ms = INT64_MIN, .on_fault = on_fault, .context = f};
}

static void row(const audit *a, audit_day *d, uint64_t n, dn_daily_status status) {
    const dn_ledger_row r = {.registration = n, .day = d->day, .status = status};

    audit_day_row(a, d, &r);
}

TEST(a_ledger_with_one_row_for_each_is_sound) {
    audit    *a = audit_of(3);
    found     f;
    audit_day d = day_of(DAY, &f);

    for (uint64_t n = 1; n <= 3; n++) row(a, &d, n, DN_DAILY_SUCCESS);
    audit_day_end(a, &d);
    CHECK_INT(f.len, 0);
    CHECK_UINT(d.expected, 3);
    CHECK_UINT(d.rows[DN_DAILY_SUCCESS], 3);
    CHECK_INT(audit_first_day(a), DAY);
    CHECK_INT(audit_last_day(a), DAY);
    const audit_user early = {.n = 4, .due = 20, .starts_on = DAY, .recorded = DAY + 1};
    CHECK_INT(audit_add_user(a, &early), DN_OK);
    CHECK_INT(audit_last_day(a), DAY + 1);
    audit_free(a);
    CHECK_INT(audit_new(&a), DN_OK);
    CHECK_INT(audit_last_day(a), DN_DAY_NONE);
    audit_free(a);
}

TEST(a_row_that_is_not_there_is_a_gap_wherever_it_was) {
    for (uint64_t gap = 1; gap <= 3; gap++) {
        audit    *a = audit_of(3);
        found     f;
        audit_day d = day_of(DAY, &f);

        for (uint64_t n = 1; n <= 3; n++)
            if (n != gap) row(a, &d, n, DN_DAILY_SUCCESS);
        audit_day_end(a, &d);
        CHECK_INT(f.len, 1);
        CHECK_INT(f.of[AUDIT_GAP], 1);
        CHECK_UINT(f.last_n, gap);
        audit_free(a);
    }
}

TEST(two_rows_a_row_of_nobody_and_one_that_says_another_thing_are_found) {
    audit    *a = audit_of(2);
    found     f;
    audit_day d = day_of(DAY, &f);

    row(a, &d, 1, DN_DAILY_SUCCESS);
    row(a, &d, 1, DN_DAILY_SUCCESS);
    row(a, &d, 2, DN_DAILY_CUTOFF);
    row(a, &d, 7, DN_DAILY_SUCCESS);
    audit_day_end(a, &d);
    CHECK_INT(f.of[AUDIT_DOUBLE], 1);
    CHECK_INT(f.of[AUDIT_OTHER], 1);
    CHECK_INT(f.of[AUDIT_STRANGER], 1);
    CHECK_INT(f.len, 3);
    audit_free(a);
}

TEST(rows_before_a_first_day_that_was_moved_are_no_fault_and_are_looked_at) {
    const audit_user moved = {.n = 1,
                              .due = 480,
                              .starts_on = DAY + 30,
                              .last_day = DAY - 1,
                              .recorded = DAY,
                              .status = DN_DAILY_SUCCESS};
    audit           *a;
    found            f;

    CHECK_INT(audit_new(&a), DN_OK);
    CHECK_INT(audit_add_user(a, &moved), DN_OK);
    CHECK_INT(audit_first_day(a), DAY);
    for (dn_day day = DAY - 2; day <= DAY; day++) {
        audit_day d = day_of(day, &f);
        row(a, &d, 1, day == DAY ? DN_DAILY_MISSED : DN_DAILY_SUCCESS);
        audit_day_end(a, &d);
        CHECK_INT(f.len, 0);
        CHECK_UINT(d.expected, 1);
    }
    audit_free(a);
}

TEST(a_row_that_the_user_was_not_told_of_is_found_before_its_first_day_too) {
    const audit_user nothing_yet = {.n = 2,
                                    .due = 480,
                                    .starts_on = DAY + 30,
                                    .last_day = DN_DAY_NONE,
                                    .recorded = DN_DAY_NONE};
    audit           *a = audit_of(1);
    found            f;
    audit_day        d = day_of(DAY + 1, &f);

    CHECK_INT(audit_add_user(a, &nothing_yet), DN_OK);
    row(a, &d, 1, DN_DAILY_SUCCESS);
    row(a, &d, 2, DN_DAILY_MISSED);
    audit_day_end(a, &d);
    CHECK_INT(f.of[AUDIT_UNKNOWN], 2);
    CHECK_INT(f.len, 2);
    audit_free(a);
}

/* Days behind the last that was finalized can only have been missed. */
TEST(a_finalization_that_the_user_does_not_know_is_found) {
    const audit_user missed = {.n = 1,
                               .due = 480,
                               .starts_on = DAY,
                               .last_day = DAY,
                               .recorded = DAY + 2,
                               .status = DN_DAILY_SUCCESS};
    audit           *a;
    found            f;
    audit_day        d = day_of(DAY + 1, &f);

    CHECK_INT(audit_new(&a), DN_OK);
    CHECK_INT(audit_add_user(a, &missed), DN_OK);
    row(a, &d, 1, DN_DAILY_CUTOFF);
    audit_day_end(a, &d);
    CHECK_INT(f.of[AUDIT_OTHER], 1);
    CHECK_INT(f.len, 1);
    audit_free(a);
}

TEST(a_day_is_owed_a_row_from_the_tick_that_saw_its_cutoff_and_is_open_until_then) {
    audit    *a = audit_of(1);
    found     f;
    audit_day d = day_of(DAY + 1, &f);

    audit_day_end(a, &d);
    CHECK_INT(f.len, 0);
    CHECK_UINT(d.open, 1);
    d = day_of(DAY + 1, &f);
    d.as_of_ms = dn_daily_cutoff_ms(480, DAY + 1) - 1;
    audit_day_end(a, &d);
    CHECK_INT(f.len, 0);
    d = day_of(DAY + 1, &f);
    d.as_of_ms = dn_daily_cutoff_ms(480, DAY + 1);
    audit_day_end(a, &d);
    CHECK_INT(f.of[AUDIT_OWED], 1);
    audit_free(a);
}

TEST(users_whose_numbers_do_not_rise_are_refused) {
    audit           *a = audit_of(2);
    const audit_user again = {.n = 2};

    CHECK_INT(audit_add_user(a, &again), DN_EINVAL);
    CHECK_UINT(audit_users(a), 2);
    audit_free(a);
}
