/* Linked with a planted bug instead of the file that it is of (tests/sim/mutants, CMakeLists.txt): it is caught. */
#include "obs/log.h"
#include "replay/simulate_range.h"
#include "test.h"

enum { SEEDS = 200, USERS = 12, DAYS = 3 };

TEST(a_planted_bug_is_caught_in_the_first_seeds) {
    const simulate_range range = {
        .first = 1,
        .last = SEEDS,
        .bounds = {.users = USERS, .days = DAYS, .faults = PLAN_ALL},
    };
    simulate_found found;

    dn_log_threshold(DN_LOG_NONE);
    CHECK_INT(simulate_seeds(&range, &found), DN_OK);
    CHECK_MSG(found.any, "it is not caught in %d seeds", SEEDS);
}
