/* slo_misses_test.c - the list of bad outcomes against a list of all. */
#include "slo_misses.h"
#include "test.h"

static dn_slo_misses misses;

TEST(without_misses_there_is_no_worst_group) {
    uint64_t count = 7;

    CHECK_INT(dn_slo_misses_worst(&misses, 0, &count), -1);
    CHECK_UINT(count, 0);
}

TEST(of_equal_groups_the_lowest_is_the_worst) {
    uint64_t count = 0;

    dn_slo_misses_put(&misses, 5, 900, 3);
    dn_slo_misses_put(&misses, 5, 30, 2);
    dn_slo_misses_put(&misses, 6, 30, 1);
    CHECK_INT(dn_slo_misses_worst(&misses, 5, &count), 30);
    CHECK_UINT(count, 3);
    CHECK_INT(dn_slo_misses_worst(&misses, 6, &count), 30);
    CHECK_UINT(count, 1);
}

TEST(the_worst_group_is_right_as_far_back_as_the_list_goes) {
    enum { PUTS = 3 * DN_SLO_MISSES_KEPT, GROUPS_MOST = 50 };
    static dn_slo_miss all[PUTS];
    uint64_t           random = test_seed(), count = 0;
    int64_t            minute = 0;

    for (int i = 0; i < PUTS; i++) {
        minute += test_random(&random) % 3 == 0;
        all[i] = (dn_slo_miss){minute, (uint32_t)(test_random(&random) % GROUPS_MOST) * 29,
                               1 + (uint32_t)(test_random(&random) % 100)};
        dn_slo_misses_put(&misses, all[i].minute, all[i].group, all[i].count);
        if (i % 1000 != 0) continue;

        const int64_t from = minute - (int64_t)(test_random(&random) % 30000);
        const int     oldest = i >= DN_SLO_MISSES_KEPT ? i + 1 - DN_SLO_MISSES_KEPT : 0;
        uint64_t      sums[DN_SLO_GROUPS] = {0};
        int32_t       worst = 0;
        for (int k = i; k >= oldest && all[k].minute >= from; k--)
            sums[all[k].group] += all[k].count;
        for (int32_t group = 1; group < DN_SLO_GROUPS; group++)
            if (sums[group] > sums[worst]) worst = group;
        CHECK_INT(dn_slo_misses_worst(&misses, from, &count), sums[worst] > 0 ? worst : -1);
        CHECK_UINT(count, sums[worst]);
    }
}

TEST(the_list_is_half_a_megabyte) { CHECK(sizeof(dn_slo_misses) <= 550 * 1024); }
