/* window_test.c - the ring of minutes against a list of everything that ever happened. */
#include "starving.h"
#include "test.h"
#include "window.h"

#include <string.h>

enum { MINUTE = 60000 };

static void number_clear(void *slot) { *(uint64_t *)slot = 0; }

static uint64_t *slot(const dn_window *w, uint32_t ago) { return dn_window_slot(w, ago); }

static uint64_t sum(const dn_window *w, uint32_t minutes) {
    uint64_t total = 0;

    for (uint32_t ago = 0; ago < minutes; ago++) total += *slot(w, ago);
    return total;
}

static dn_window window_of(uint32_t minutes) {
    dn_window w = {0};

    CHECK_INT(dn_window_init(&w, minutes, sizeof(uint64_t), number_clear), DN_OK);
    return w;
}

TEST(before_it_is_rolled_a_window_has_no_minutes) {
    dn_window w = window_of(3);

    CHECK_PTR(dn_window_slot(&w, 0), NULL);
    dn_window_roll(&w, 0);
    CHECK_UINT(sum(&w, 3), 0);
    CHECK_PTR(dn_window_slot(&w, 3), NULL);
    dn_window_done(&w);
}

TEST(a_minute_lasts_until_its_last_millisecond) {
    dn_window w = window_of(3);

    dn_window_roll(&w, 5 * MINUTE);
    *slot(&w, 0) = 1;
    dn_window_roll(&w, 6 * MINUTE - 1);
    CHECK_UINT(*slot(&w, 0), 1);
    dn_window_roll(&w, 6 * MINUTE);
    CHECK_UINT(*slot(&w, 0), 0);
    CHECK_UINT(*slot(&w, 1), 1);
    dn_window_done(&w);
}

TEST(what_happened_leaves_the_window_when_its_minute_does) {
    dn_window w = window_of(3);

    dn_window_roll(&w, 0);
    *slot(&w, 0) = 1;
    dn_window_roll(&w, 2 * MINUTE);
    CHECK_UINT(sum(&w, 3), 1);
    dn_window_roll(&w, 3 * MINUTE);
    CHECK_UINT(sum(&w, 3), 0);
    dn_window_done(&w);
}

TEST(a_clock_that_goes_back_stands_still) {
    dn_window w = window_of(3);

    dn_window_roll(&w, 7 * MINUTE);
    *slot(&w, 0) = 1;
    dn_window_roll(&w, 2 * MINUTE);
    CHECK_UINT(*slot(&w, 0), 1);
    dn_window_roll(&w, 8 * MINUTE);
    CHECK_UINT(*slot(&w, 1), 1);
    dn_window_done(&w);
}

TEST(a_clock_that_leaps_as_far_as_it_can_empties_the_window_at_once) {
    dn_window w = window_of(3);

    dn_window_roll(&w, INT64_MIN);
    *slot(&w, 0) = 1;
    dn_window_roll(&w, INT64_MAX);
    CHECK_UINT(sum(&w, 3), 0);
    dn_window_done(&w);
}

TEST(without_memory_there_is_no_window) {
    dn_window w = {0};

    starve_nth(1);
    CHECK_INT(dn_window_init(&w, 3, 8, number_clear), DN_ENOMEM);
    CHECK(starve_end());
    CHECK_PTR(w.slots, NULL);
}

/* ---- Against the list ---- */

enum { STEPS = 2000, MINUTES_MAX = 40 };

TEST(however_the_clock_goes_each_sum_is_that_of_the_minutes_it_covers) {
    static struct {
        int64_t  minute;
        uint64_t n;
    } all[STEPS];
    uint64_t       random = test_seed();
    const uint32_t minutes = 1 + (uint32_t)(test_random(&random) % MINUTES_MAX);
    dn_window      w = window_of(minutes);
    int64_t        now_ms = -(int64_t)(test_random(&random) % 100) * MINUTE, last_ms = now_ms;

    for (int i = 0; i < STEPS; i++) {
        static const int64_t leaps[] = {1, MINUTE, 5 * MINUTE, 100 * MINUTE, 3000 * MINUTE};
        const int64_t        leap = leaps[test_random(&random) % 5];
        now_ms += (int64_t)(test_random(&random) % (uint64_t)leap);
        if (test_random(&random) % 50 == 0) now_ms -= 3 * MINUTE;
        if (now_ms > last_ms) last_ms = now_ms;
        dn_window_roll(&w, now_ms);

        all[i].minute = last_ms / MINUTE - (last_ms % MINUTE < 0);
        all[i].n = test_random(&random) % 10;
        *slot(&w, 0) += all[i].n;

        const uint32_t span = 1 + (uint32_t)(test_random(&random) % minutes);
        uint64_t       expected = 0;
        for (int k = 0; k <= i; k++)
            if (all[k].minute > all[i].minute - span) expected += all[k].n;
        CHECK_UINT(sum(&w, span), expected);
    }
    dn_window_done(&w);
}
