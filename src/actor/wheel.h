/* wheel.h - timers by the million: arm and cancel in O(1), expiry to the millisecond.
 * A wheel is memory and arithmetic: it reads no clock, allocates nothing and takes no lock. Its
 * owner tells it the time and owns every entry, which must stay in place while armed. One thread.
 *
 * Entries that expire in the same millisecond come in the order in which they were armed. */
#ifndef DIURNAL_ACTOR_WHEEL_H
#define DIURNAL_ACTOR_WHEEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* link is NULL before it is first armed: zeroed memory will do, and so will a record of an entry that
 * expired or was cancelled. 32 bytes, so that a timer around it fits a cache line. */
typedef struct wheel_entry {
    struct wheel_entry  *next;
    struct wheel_entry **link; /* what points here; NULL: not armed */
    int64_t  due_ms; /* set by the caller before wheel_arm, then left alone until expiry */
    uint32_t seq;    /* set by wheel_arm: order of arming; wraps, so compare by difference */
    uint32_t user;   /* not the wheel's */
} wheel_entry;

/* Level 0 is a ring of two blocks of 2^14 slots of a millisecond each. Every coarser level is a
 * ring of two blocks of 2^8 slots, and a slot there is as long as a whole block of the level
 * below: 2^14 ms, 2^22 ms and so on, until 2^62 ms, which leaves no instant of an int64_t
 * without a slot. */
enum {
    WHEEL_FINE_BITS = 14,
    WHEEL_COARSE_BITS = 8,
    WHEEL_LEVELS = 8,
    WHEEL_FINE_SLOTS = 2 << WHEEL_FINE_BITS,
    WHEEL_COARSE_SLOTS = 2 << WHEEL_COARSE_BITS,
    WHEEL_SLOTS = WHEEL_FINE_SLOTS + (WHEEL_LEVELS - 1) * WHEEL_COARSE_SLOTS,
    WHEEL_WORDS = WHEEL_SLOTS / 64,
    WHEEL_SUMS = (WHEEL_WORDS + 63) / 64,
};

/* Visible only so that its owner can embed it or allocate it: about 290 KiB, zeroed, of which
 * pages never used are never touched. Nobody but wheel.c reads the fields, except for the two
 * counters. */
typedef struct wheel {
    uint64_t     now;               /* where the wheel stands, as a tick: see tick_of in wheel.c */
    size_t       len;               /* armed entries */
    uint32_t     seq;               /* of the next wheel_arm */
    uint32_t     moving;            /* bit k: level k may have entries on their way down */
    uint64_t     moves_per_ms;      /* pace of those; set when a block begins */
    uint64_t     moved;             /* counter: entries moved down, ever */
    uint64_t     stops;             /* counter: instants looked at by wheel_expire, ever */
    uint64_t     sum[WHEEL_SUMS];   /* a bit for each word of bits that is not zero */
    uint64_t     bits[WHEEL_WORDS]; /* a bit for each slot that is not empty */
    wheel_entry *slot[WHEEL_SLOTS];
} wheel;

/* w is all zero. Touches none of the slots. */
void wheel_init(wheel *w, int64_t now_ms);

/* Any due_ms will do, INT64_MAX included. One that is not after the wheel's position counts as
 * due at that position: it expires at the next wheel_expire. The entry must not be armed. */
void wheel_arm(wheel *w, wheel_entry *e);

/* The entry must be armed. */
void wheel_cancel(wheel *w, wheel_entry *e);

static inline bool wheel_is_armed(const wheel_entry *e) { return e->link != NULL; }

static inline size_t wheel_len(const wheel *w) { return w->len; }

/* One that has expired waits on in a list of its owner's, which begins with NULL: it counts as armed, and
 * wheel_cancel takes it from there. The list lies outside the wheel, which does not expire it again. */
void wheel_hold(wheel *w, wheel_entry **list, wheel_entry *e);

/* All of such a list as wheel_expire hands them out, those held first in front. */
wheel_entry *wheel_let_go(wheel *w, wheel_entry **list);

/* When to call wheel_expire next: no entry is due, and nothing needs doing, before that instant.
 * INT64_MAX: never. May be early, never late: coming from far away an entry is stopped for once
 * a level, and thousands of them are taken apart over many short calls, a few milliseconds
 * apart. */
int64_t wheel_next_ms(const wheel *w);

/* The entries of the earliest due millisecond up to now_ms, oldest arming first, linked by next
 * and no longer armed; the wheel then stands at that millisecond. NULL: nothing more is due, and
 * the wheel stands at now_ms. Call until NULL. Time never goes back: an earlier now_ms than
 * before counts as that one. */
wheel_entry *wheel_expire(wheel *w, int64_t now_ms);

/* The entries due at that millisecond, in no order, as far as they are sorted to the millisecond already:
 * those of the present block of 16 s and the next. NULL: none. Borrowed until the wheel is touched. */
const wheel_entry *wheel_at_ms(const wheel *w, int64_t ms);

/* For tests: visits every slot and entry. */
bool wheel_is_sound(const wheel *w);

#endif
