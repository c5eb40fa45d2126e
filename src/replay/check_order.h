/* check_order.h - did the earliest cutoff go first?
 * Judged when an instant is over, since what is handed out in one instant may begin in any order: nobody who waited
 * before that instant, and still does, may have an earlier cutoff than one who began in it. */
#ifndef DIURNAL_REPLAY_CHECK_ORDER_H
#define DIURNAL_REPLAY_CHECK_ORDER_H

#include "check_rule.h"

enum { CHECK_ORDER_MINUTES = 8192 }; /* five days around those that wait */

typedef struct check_order {
    uint32_t waiting[CHECK_ORDER_MINUTES]; /* by the minute of their cutoff */
    uint32_t fresh[CHECK_ORDER_MINUTES];   /* those of them who came in this instant */
    uint64_t any[CHECK_ORDER_MINUTES / 64];
    int64_t  from;     /* the earliest minute that may stand in them */
    bool     blind;    /* some are further apart than that, until nobody waits */
    bool     crowded;  /* `touched` is full: anything may be fresh */
    uint32_t len;      /* all who wait */
    int64_t  latest;   /* the latest minute that began in this instant, or INT64_MIN */
    uint32_t latest_n; /* who that was */
    uint32_t touched_len;
    uint16_t touched[CHECK_ORDER_MINUTES]; /* where `fresh` is not 0 */
} check_order;

void check_order_clear(check_order *o);

static inline int64_t check_order_minute(uint32_t due, dn_day day) {
    return (int64_t)day * 1440 + due;
}

static inline uint32_t check_order_slot(int64_t minute) {
    return (uint32_t)minute & (CHECK_ORDER_MINUTES - 1);
}

void check_order_make_room(check_order *o, int64_t minute); /* for check_order_add */

static inline void check_order_add(check_order *o, int64_t minute) {
    const uint32_t at = check_order_slot(minute);

    if (o->len++ == 0) {
        o->from = minute - CHECK_ORDER_MINUTES / 2;
        o->blind = false;
    } else if (minute < o->from || minute >= o->from + CHECK_ORDER_MINUTES) {
        check_order_make_room(o, minute);
    }
    if (o->waiting[at]++ == 0) o->any[at / 64] |= UINT64_C(1) << at % 64;
    if (o->fresh[at]++ > 0) return;
    if (o->touched_len < CHECK_ORDER_MINUTES) o->touched[o->touched_len++] = (uint16_t)at;
    else o->crowded = true;
}

/* It waits no more. fresh: it came in this instant. */
static inline void check_order_drop(check_order *o, int64_t minute, bool fresh) {
    const uint32_t at = check_order_slot(minute);

    if (o->waiting[at] == 0) return; /* never added: that was said elsewhere */
    o->len--;
    if (--o->waiting[at] == 0) o->any[at / 64] &= ~(UINT64_C(1) << at % 64);
    if (fresh && o->fresh[at] > 0) o->fresh[at]--;
}

static inline void check_order_began(check_order *o, int64_t minute, uint32_t n) {
    if (minute <= o->latest) return;
    o->latest = minute;
    o->latest_n = n;
}
/* Ends the instant. True: somebody waited with the cutoff *out_minute, and *out_n, with a later one, began. */
bool check_order_ends(check_order *o, int64_t *out_minute, int64_t *out_later, uint32_t *out_n);

#endif
