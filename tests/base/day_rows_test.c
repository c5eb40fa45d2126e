/* day_rows_test.c - the row of a day, among none, one and many. */
#include "base/day_rows.h"
#include "test.h"

typedef struct row {
    dn_day   day;
    uint64_t what;
} row;

enum { ROWS = 200 };

static size_t by_looking(const row *rows, size_t len, dn_day day) {
    size_t at = 0;

    while (at < len && rows[at].day < day) at++;
    return at;
}

TEST(the_row_that_is_found_is_the_first_that_is_not_before_the_day) {
    uint64_t random = test_seed();
    row      rows[ROWS] = {0};
    dn_day   last = -100;

    for (size_t len = 0; len < ROWS; len++) {
        for (dn_day day = -103; day <= last + 3; day++)
            CHECK_INT(dn_day_rows_from(rows, sizeof *rows, len, day), by_looking(rows, len, day));
        last += 1 + (dn_day)(test_random(&random) % 5);
        rows[len].day = last;
    }
}
