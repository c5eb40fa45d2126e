/* shares_test.c - which source gets the next slot. */
#include "shares.h"
#include "test.h"

TEST(shares_give_nothing_when_nobody_wants_a_slot) {
    const dn_share shares[] = {{1, 0, 0}, {5, 2, 0}};

    CHECK_UINT(dn_shares_next(shares, 2), 2);
    CHECK_UINT(dn_shares_next(NULL, 0), 0);
}

TEST(shares_leave_to_others_what_one_does_not_want) {
    const dn_share shares[] = {{1, 0, 0}, {1, 60, 1}};

    CHECK_UINT(dn_shares_next(shares, 2), 1);
}

/* Slots are given one after the other until none is left. */
static void divide(dn_share *shares, size_t len, int slots) {
    for (size_t i; slots > 0 && (i = dn_shares_next(shares, len)) < len; slots--) {
        shares[i].wants--;
        shares[i].in_use++;
    }
}

TEST(shares_divide_slots_by_weight_while_all_want_some) {
    dn_share shares[] = {{3, 0, 1000}, {1, 0, 1000}, {4, 0, 1000}};

    divide(shares, 3, 80);
    CHECK_UINT(shares[0].in_use, 30);
    CHECK_UINT(shares[1].in_use, 10);
    CHECK_UINT(shares[2].in_use, 40);
}

TEST(shares_prefer_whoever_is_furthest_below_its_share) {
    dn_share shares[] = {{1, 50, 1000}, {1, 10, 1000}};

    divide(shares, 2, 40);
    CHECK_UINT(shares[0].in_use, 50);
    CHECK_UINT(shares[1].in_use, 50);
}

TEST(shares_of_the_largest_numbers_do_not_overflow) {
    const dn_share shares[] = {{UINT32_MAX, UINT32_MAX, 1}, {UINT32_MAX, UINT32_MAX - 1, 1}};

    CHECK_UINT(dn_shares_next(shares, 2), 1);
}
