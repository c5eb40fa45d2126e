/* A minute of seeds that nobody has run before. */
#include "obs/log.h"
#include "replay/simulate_range.h"
#include "test.h"

#include <stdio.h>

enum { MINUTE_MS = 60000, USERS = 12, DAYS = 3 };

TEST(a_minute_of_fresh_seeds_breaks_no_rule) {
    const uint64_t       first = test_seed() >> 20;
    const simulate_range range = {
        .first = first,
        .last = first + (1U << 30),
        .bounds = {.users = USERS, .days = DAYS, .faults = PLAN_ALL},
        .for_ms = MINUTE_MS,
    };
    simulate_found found;

    dn_log_threshold(DN_LOG_NONE);
    printf("seeds from %llu on\n", (unsigned long long)first);
    (void)fflush(stdout);
    CHECK_INT(simulate_seeds(&range, &found), DN_OK);
    printf("%llu of them\n", (unsigned long long)found.done);
    CHECK_MSG(!found.any, "signal %d, %s; diurnal simulate --seeds %llu..%llu", found.signal,
              found.verdict.text, (unsigned long long)found.seed, (unsigned long long)found.seed);
    CHECK(found.done > 0);
}
