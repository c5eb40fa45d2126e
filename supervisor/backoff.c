/* backoff.c - how long a restart waits. */
#include "sup.h"

int64_t sup_backoff_ms(const dn_backoff *backoff, uint32_t failures) {
    const int64_t max_ms = backoff->max_ms > 0 ? backoff->max_ms : backoff->min_ms;
    int64_t       delay_ms = backoff->min_ms;

    while (--failures > 0 && delay_ms < max_ms) {
        if (delay_ms > max_ms / 2) return max_ms; /* before the doubling could overflow */
        delay_ms *= 2;
        if (delay_ms == 0) return 0;
    }
    return delay_ms;
}

bool sup_backoff_is_over(const dn_backoff *backoff, int64_t up_ms) {
    int64_t stable_ms = backoff->stable_ms;

    if (stable_ms == 0) stable_ms = backoff->max_ms;
    if (stable_ms == 0) stable_ms = backoff->min_ms;
    return up_ms >= stable_ms;
}
