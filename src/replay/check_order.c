/* check_order.c - see check_order.h. Counts in a ring of minutes, and a bit for each minute that has any. */
#include "check_order.h"

#include <string.h>

enum { RING = CHECK_ORDER_MINUTES };

void check_order_clear(check_order *o) {
    memset(o, 0, sizeof *o);
    o->latest = INT64_MIN;
}

/* The first minute from `minute` on, and before `end`, for which somebody has waited since before this instant; else
 * `end`. */
static int64_t earliest(const check_order *o, int64_t minute, int64_t end) {
    while (minute < end) {
        const uint32_t at = check_order_slot(minute);
        const uint64_t bits = o->any[at / 64] >> at % 64;
        if (bits == 0) minute += 64 - at % 64;
        else if (bits % 2 == 0) minute += __builtin_ctzll(bits);
        else if (o->waiting[at] > o->fresh[at]) return minute;
        else minute++;
    }
    return end;
}

/* Where the queue is never empty, the ring moves on with those who wait longest. */
void check_order_make_room(check_order *o, int64_t minute) {
    const int64_t first = earliest(o, o->from, o->from + RING);

    if (minute >= o->from && minute < first + RING) o->from = first;
    else o->blind = true;
}

bool check_order_ends(check_order *o, int64_t *out_minute, int64_t *out_later, uint32_t *out_n) {
    const int64_t latest = o->latest;
    bool          broken = false;

    if (latest != INT64_MIN && o->len > 0 && !o->blind && latest >= o->from &&
        latest < o->from + RING) {
        *out_minute = earliest(o, o->from, latest);
        *out_later = latest;
        *out_n = o->latest_n;
        broken = *out_minute < latest;
    }
    if (o->crowded) memset(o->fresh, 0, sizeof o->fresh);
    for (uint32_t i = 0; i < o->touched_len; i++) o->fresh[o->touched[i]] = 0;
    o->crowded = false;
    o->touched_len = 0;
    o->latest = INT64_MIN;
    return broken;
}
