/* check_order.c - see check_order.h. Counts in a ring of minutes, and a bit for each minute that has any. */
#include "check_order.h"

#include <string.h>

enum { RING = CHECK_ORDER_MINUTES };

static uint32_t slot_of(int64_t minute) { return (uint32_t)minute & (RING - 1); }

void check_order_clear(check_order *o) {
    memset(o, 0, sizeof *o);
    o->latest = INT64_MIN;
}

/* The first minute from `minute` on, and before `end`, for which somebody has waited since before this instant; else
 * `end`. */
static int64_t earliest(const check_order *o, int64_t minute, int64_t end) {
    while (minute < end) {
        const uint32_t at = slot_of(minute);
        const uint64_t bits = o->any[at / 64] >> at % 64;
        if (bits == 0) minute += 64 - at % 64;
        else if (bits % 2 == 0) minute += __builtin_ctzll(bits);
        else if (o->waiting[at] > o->fresh[at]) return minute;
        else minute++;
    }
    return end;
}

static void touch(check_order *o, uint32_t at) {
    if (o->touched_len < RING) o->touched[o->touched_len++] = (uint16_t)at;
    else o->crowded = true;
}

/* Where the queue is never empty, the ring moves on with those who wait longest. */
static void make_room(check_order *o, int64_t minute) {
    const int64_t first = earliest(o, o->from, o->from + RING);

    if (minute >= o->from && minute < first + RING) o->from = first;
    else o->blind = true;
}

void check_order_add(check_order *o, int64_t minute) {
    const uint32_t at = slot_of(minute);

    if (o->len++ == 0) {
        o->from = minute - RING / 2;
        o->blind = false;
    } else if (minute < o->from || minute >= o->from + RING) {
        make_room(o, minute);
    }
    if (o->waiting[at]++ == 0) o->any[at / 64] |= UINT64_C(1) << at % 64;
    if (o->fresh[at]++ == 0) touch(o, at);
}

void check_order_drop(check_order *o, int64_t minute, bool fresh) {
    const uint32_t at = slot_of(minute);

    if (o->waiting[at] == 0) return; /* never added: that was said elsewhere */
    o->len--;
    if (--o->waiting[at] == 0) o->any[at / 64] &= ~(UINT64_C(1) << at % 64);
    if (fresh && o->fresh[at] > 0) o->fresh[at]--;
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
