/* wheel_test.c - the wheel against a plain sorted list, and what it promises about its own
 * effort. */
#include "wheel.h"

#include "test.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* More than the wheel moves in one call: only then does wheel_next_ms ask for a head start. */
enum { TIMERS = 2500, MILLION = 1000000 };

#define HOUR_MS ((int64_t)3600 * 1000)
#define YEAR_MS ((int64_t)365 * 24 * HOUR_MS)

/* The model: armed timers in the order in which they must expire. */
typedef struct expected {
    int64_t      due_ms; /* never before the wheel's position at arming */
    wheel_entry *entry;
} expected;

typedef struct rig {
    wheel      *wheel;
    int64_t     now_ms; /* where the wheel must stand */
    uint64_t    random;
    wheel_entry entry[TIMERS];
    expected    due[TIMERS];
    size_t      len;
} rig;

static wheel *wheel_new(int64_t now_ms) {
    wheel *const w = calloc(1, sizeof *w);

    if (!w) abort();
    wheel_init(w, now_ms);
    return w;
}

static void arm_at(wheel *w, wheel_entry *e, int64_t due_ms) {
    e->due_ms = due_ms;
    wheel_arm(w, e);
}

static rig *rig_new(uint64_t seed, int64_t now_ms) {
    rig *const r = calloc(1, sizeof *r);

    if (!r) abort();
    r->wheel = wheel_new(now_ms);
    r->now_ms = now_ms;
    r->random = seed;
    return r;
}

static void rig_free(rig *r) {
    free(r->wheel);
    free(r);
}

static uint64_t below(rig *r, uint64_t bound) { return test_random(&r->random) % bound; }

static int64_t later(int64_t ms, uint64_t by) {
    const uint64_t room = (uint64_t)INT64_MAX - (uint64_t)ms;

    return by > room ? INT64_MAX : (int64_t)((uint64_t)ms + by);
}

/* Of every magnitude alike, so that every level sees its share; often at or beside a block's
 * edge. */
static int64_t random_later(rig *r, unsigned bits_max) {
    const unsigned bits = (unsigned)below(r, bits_max);
    int64_t        ms = later(r->now_ms, below(r, 1ull << bits));

    if (below(r, 4) == 0) {
        static const unsigned edges[] = {14, 15, 22, 23, 30, 38, 46, 54, 62};
        const uint64_t        block = 1ull << edges[below(r, 9)];

        ms = later(ms, (block - (uint64_t)ms % block) % block);
        if (below(r, 3) == 0 && ms > r->now_ms) ms--;
        else if (below(r, 2) == 0) ms = later(ms, 1);
    }
    return ms;
}

static int64_t random_due(rig *r) {
    switch (below(r, 8)) {
    case 0: return later(r->now_ms, below(r, 4));
    case 1: return r->now_ms < INT64_MIN + 100 ? INT64_MIN : r->now_ms - (int64_t)below(r, 100);
    case 2: return r->len > 0 ? r->due[below(r, r->len)].due_ms : r->now_ms;
    case 3: return later(r->now_ms, below(r, 40000));
    case 4: return below(r, 20) == 0 ? INT64_MAX : random_later(r, 64);
    default: return random_later(r, 36);
    }
}

static void rig_arm(rig *r, int64_t due_ms) {
    const int64_t counts_as_ms = due_ms < r->now_ms ? r->now_ms : due_ms;
    wheel_entry  *e = NULL;
    size_t        at = r->len;

    for (size_t i = 0, start = below(r, TIMERS); i < TIMERS && !e; i++)
        if (!wheel_is_armed(&r->entry[(start + i) % TIMERS])) e = &r->entry[(start + i) % TIMERS];
    if (!e) return;
    arm_at(r->wheel, e, due_ms);
    while (at > 0 && r->due[at - 1].due_ms > counts_as_ms) at--;
    memmove(&r->due[at + 1], &r->due[at], (r->len - at) * sizeof r->due[0]);
    r->due[at] = (expected){counts_as_ms, e};
    r->len++;
}

static void rig_forget(rig *r, size_t at, size_t count) {
    memmove(&r->due[at], &r->due[at + count], (r->len - at - count) * sizeof r->due[0]);
    r->len -= count;
}

static void rig_cancel(rig *r) {
    size_t at;

    if (r->len == 0) return;
    at = below(r, 3) == 0 ? 0 : below(r, r->len);
    wheel_cancel(r->wheel, r->due[at].entry);
    CHECK(!wheel_is_armed(r->due[at].entry));
    rig_forget(r, at, 1);
}

/* One wheel_expire; false when that was the last. The list must be the model's, entry by entry. */
static bool rig_expire(rig *r, int64_t until_ms) {
    const wheel_entry *e = wheel_expire(r->wheel, until_ms);
    const int64_t      reached_ms = until_ms > r->now_ms ? until_ms : r->now_ms;
    size_t             count = 0;

    if (r->len == 0 || r->due[0].due_ms > reached_ms) {
        CHECK_MSG(!e, "early");
        r->now_ms = reached_ms;
        return false;
    }
    r->now_ms = r->due[0].due_ms;
    while (count < r->len && r->due[count].due_ms == r->now_ms) {
        CHECK_MSG(e == r->due[count].entry, "missing, or in the wrong order");
        CHECK(!wheel_is_armed(e));
        e = e->next;
        count++;
    }
    CHECK_MSG(!e, "too many at once");
    rig_forget(r, 0, count);
    return true;
}

static void rig_check(const rig *r) {
    const int64_t next_ms = wheel_next_ms(r->wheel);

    CHECK_UINT(wheel_len(r->wheel), r->len);
    if (r->len == 0) {
        CHECK_INT(next_ms, INT64_MAX);
    } else {
        CHECK_MSG(next_ms <= r->due[0].due_ms && next_ms >= r->now_ms,
                  "next %" PRId64 ", due %" PRId64 ", now %" PRId64, next_ms, r->due[0].due_ms,
                  r->now_ms);
    }
}

static int64_t random_start(rig *r) {
    static const int64_t starts[] = {0,
                                     1,
                                     (1 << 14) - 1,
                                     1754000000000,
                                     -5,
                                     -((int64_t)1 << 40),
                                     INT64_MIN,
                                     INT64_MAX - 100000,
                                     ((int64_t)1 << 46) - 20000,
                                     ((int64_t)1 << 62) - 3};

    return starts[below(r, sizeof starts / sizeof starts[0])];
}

static void rig_play(uint64_t seed, int steps) {
    rig          *first = rig_new(seed, 0), *r;
    const int64_t start_ms = random_start(first);

    rig_free(first);
    r = rig_new(seed, start_ms);
    for (uint64_t n = below(r, 3) == 0 ? TIMERS : 0; n > 0; n--) rig_arm(r, random_due(r));
    for (int step = 0; step < steps; step++) {
        int64_t until_ms;

        for (uint64_t n = below(r, 8); n > 0; n--) rig_arm(r, random_due(r));
        for (uint64_t n = below(r, 4); n > 0; n--) rig_cancel(r);
        if (below(r, 30) == 0)
            while (r->len > 0) rig_cancel(r);
        rig_check(r);

        switch (below(r, 8)) {
        case 0: until_ms = r->now_ms; break;
        case 1: until_ms = r->now_ms > INT64_MIN ? r->now_ms - 1 : r->now_ms; break;
        case 2: until_ms = random_later(r, 44); break;
        case 3: until_ms = wheel_next_ms(r->wheel); break;
        case 4: until_ms = r->len > 0 ? r->due[below(r, r->len)].due_ms : r->now_ms; break;
        case 5: until_ms = random_later(r, 30); break;
        default: until_ms = random_later(r, 17); break;
        }
        /* The end of time once reached, nothing more would be tested. */
        if (until_ms > INT64_MAX - 1000 && step < steps - 20) until_ms = later(r->now_ms, 1);
        while (rig_expire(r, until_ms)) {
            if (below(r, 3) == 0) rig_arm(r, random_due(r));
            if (below(r, 6) == 0) rig_cancel(r);
        }
        if (step % 8 == 0) CHECK(wheel_is_sound(r->wheel));
        rig_check(r);
    }
    while (rig_expire(r, INT64_MAX)) continue;
    CHECK_UINT(wheel_len(r->wheel), 0);
    rig_free(r);
}

TEST(the_wheel_expires_what_a_sorted_list_would_in_the_same_order) {
    uint64_t state = test_seed();

    for (int round = 0; round < 120 / TEST_SLOW_FACTOR; round++) rig_play(test_random(&state), 200);
}

TEST(whoever_follows_wheel_next_expires_every_entry_at_its_exact_millisecond) {
    uint64_t seed = test_seed();

    for (int round = 0; round < 40 / TEST_SLOW_FACTOR; round++) {
        rig *const r = rig_new(test_random(&seed), 1754000000000);
        int        wakes = 0;

        for (int i = 0; i < TIMERS; i++) rig_arm(r, random_due(r));
        while (r->len > 0 && wakes < TIMERS * WHEEL_LEVELS) {
            const int64_t next_ms = wheel_next_ms(r->wheel);

            rig_check(r);
            while (rig_expire(r, next_ms)) CHECK_INT(r->now_ms, next_ms);
            wakes++;
        }
        CHECK_MSG(r->len == 0, "no end after %d wakes", wakes);
        rig_free(r);
    }
}

TEST(an_entry_at_any_distance_expires_at_its_exact_millisecond) {
    for (int bits = 0; bits < 63; bits++) {
        for (int64_t off = -1; off <= 1; off++) {
            const int64_t now_ms = 123456;
            const int64_t due_ms = later(now_ms, (1ull << bits) + (uint64_t)off);
            wheel *const  w = wheel_new(now_ms);
            wheel_entry   e = {0};

            arm_at(w, &e, due_ms);
            if (due_ms > now_ms) CHECK(!wheel_expire(w, due_ms - 1));
            CHECK(wheel_is_armed(&e));
            CHECK_INT(wheel_next_ms(w), due_ms);
            CHECK(wheel_expire(w, due_ms) == &e);
            CHECK_INT(wheel_next_ms(w), INT64_MAX);
            free(w);
        }
    }
}

TEST(the_last_instant_of_all_expires_at_that_instant_from_the_first) {
    wheel *const w = wheel_new(INT64_MIN);
    wheel_entry  first = {0}, last = {0};

    arm_at(w, &last, INT64_MAX);
    arm_at(w, &first, INT64_MIN);
    CHECK(wheel_expire(w, INT64_MIN) == &first);
    CHECK(!wheel_expire(w, INT64_MAX - 1));
    CHECK(wheel_is_sound(w));
    CHECK(wheel_expire(w, INT64_MAX) == &last);
    CHECK(!wheel_expire(w, INT64_MAX));
    free(w);
}

TEST(an_entry_already_due_expires_next_and_not_before_what_stands_there) {
    wheel *const       w = wheel_new(1000);
    wheel_entry        here = {0}, past = {0}, long_past = {0};
    const wheel_entry *list;

    arm_at(w, &here, 1000);
    arm_at(w, &past, 999);
    arm_at(w, &long_past, INT64_MIN);
    CHECK_INT(wheel_next_ms(w), 1000);
    list = wheel_expire(w, 500);
    CHECK(list == &here && list->next == &past && past.next == &long_past && !long_past.next);
    CHECK(!wheel_expire(w, 1000));
    free(w);
}

TEST(a_due_entry_cancelled_before_it_expires_never_expires) {
    wheel *const w = wheel_new(0);
    wheel_entry  a = {0}, b = {0}, c = {0};

    arm_at(w, &a, 10);
    arm_at(w, &b, 20);
    arm_at(w, &c, 20);
    CHECK(wheel_expire(w, 30) == &a); /* b and c are due as well, and still armed */
    wheel_cancel(w, &b);
    CHECK(wheel_expire(w, 30) == &c);
    CHECK(!c.next);
    CHECK(!wheel_expire(w, 30));
    free(w);
}

TEST(a_cancelled_entry_wakes_nobody) {
    static const int64_t dues_ms[] = {5, 20000, 40000, HOUR_MS, YEAR_MS};
    wheel *const         w = wheel_new(0);
    wheel_entry          e = {0}, other = {0};

    arm_at(w, &other, 100 * YEAR_MS);
    const int64_t next_ms = wheel_next_ms(w);
    for (size_t i = 0; i < sizeof dues_ms / sizeof dues_ms[0]; i++) {
        arm_at(w, &e, dues_ms[i]);
        CHECK(wheel_next_ms(w) <= dues_ms[i]);
        wheel_cancel(w, &e);
        CHECK_INT(wheel_next_ms(w), next_ms);
    }
    CHECK(wheel_is_sound(w));
    free(w);
}

/* Armed from near and from far in turn, so that the slot fills from three levels at once. */
TEST(the_order_of_arming_holds_through_every_mixture_of_levels) {
    enum { EACH = 50, ROUNDS = 6 };
    static wheel_entry entries[EACH * ROUNDS];
    const int64_t      due_ms = (int64_t)6 << 22;
    const int64_t      from_ms[ROUNDS] = {
             0, (int64_t)1 << 22, due_ms - 100000, due_ms - 30000, due_ms - 16000, due_ms};
    wheel *const       w = wheel_new(0);
    const wheel_entry *e;

    memset(entries, 0, sizeof entries);
    w->seq = UINT32_MAX - EACH * 2; /* it wraps on the way */
    for (int round = 0; round < ROUNDS; round++) {
        if (round < ROUNDS - 1) CHECK(!wheel_expire(w, from_ms[round]));
        for (int i = 0; i < EACH; i++) arm_at(w, &entries[round * EACH + i], due_ms);
    }
    e = wheel_expire(w, due_ms);
    for (int i = 0; i < EACH * ROUNDS && e; i++, e = e->next) CHECK(e == &entries[i]);
    CHECK_UINT(wheel_len(w), 0);
    free(w);
}

/* A million timers an hour away, all in one slot of the first coarse level. */
static wheel_entry *arm_a_million(wheel *w, int64_t *out_slot_ms) {
    wheel_entry *const e = calloc(MILLION, sizeof *e);
    const int64_t      slot_ms = HOUR_MS >> 14 << 14;
    uint64_t           random = test_seed();

    if (!e) abort();
    for (int i = 0; i < MILLION; i++)
        arm_at(w, &e[i], slot_ms + (int64_t)(test_random(&random) % (1 << 14)));
    *out_slot_ms = slot_ms;
    return e;
}

TEST(a_million_timers_in_one_slot_move_down_without_a_burst) {
    const uint64_t moves_max = MILLION / 8192 + 1;
    wheel *const   w = wheel_new(0);
    uint64_t       expired = 0, moved, most = 0, moved_when = 0;
    int64_t        slot_ms;
    wheel_entry   *entries = arm_a_million(w, &slot_ms);

    /* Slept until then in one go; after that a millisecond at a time. */
    CHECK(!wheel_expire(w, slot_ms - (1 << 14) - 3));
    CHECK_UINT(w->moved, 0);
    for (int64_t ms = slot_ms - (1 << 14) - 2; ms < slot_ms + (1 << 14); ms++) {
        moved = w->moved;
        for (const wheel_entry *e; (e = wheel_expire(w, ms));)
            for (; e; e = e->next, expired++)
                if (e->due_ms != ms) CHECK_INT(ms, e->due_ms);
        if (w->moved - moved > most) most = w->moved - moved;
        if (w->moved == MILLION && moved_when == 0) moved_when = (uint64_t)(slot_ms - ms);
    }
    CHECK_UINT(expired, MILLION);
    CHECK_UINT(w->moved, MILLION);
    CHECK_MSG(most <= moves_max, "%" PRIu64 " moved in one millisecond", most);
    CHECK_MSG(moved_when >= 8000, "done only %" PRIu64 " ms before", moved_when);
    free(entries);
    free(w);
}

TEST(following_wheel_next_moves_a_million_in_many_short_calls) {
    wheel *const w = wheel_new(0);
    uint64_t     expired = 0, moved, most = 0, idle_wakes = 0;
    int64_t      slot_ms, next_ms;
    wheel_entry *entries = arm_a_million(w, &slot_ms);

    while ((next_ms = wheel_next_ms(w)) != INT64_MAX) {
        const uint64_t before = expired;

        moved = w->moved;
        for (const wheel_entry *e; (e = wheel_expire(w, next_ms));)
            for (; e; e = e->next, expired++)
                if (e->due_ms != next_ms) CHECK_INT(next_ms, e->due_ms);
        if (w->moved - moved > most) most = w->moved - moved;
        idle_wakes += expired == before;
    }
    CHECK_UINT(expired, MILLION);
    CHECK_MSG(most <= 512, "%" PRIu64 " moved in one call", most);
    CHECK_MSG(idle_wakes <= 2200, "%" PRIu64 " wakes", idle_wakes);
    free(entries);
    free(w);
}

/* Each step cancels what has just moved, and the one that would move next. */
TEST(cancelling_what_moves_leaves_no_burst_for_the_end) {
    wheel *const w = wheel_new(0);
    uint64_t     moved, most = 0;
    int64_t      slot_ms;
    wheel_entry *entries = arm_a_million(w, &slot_ms);
    size_t       waiting = MILLION; /* the newest moves first */

    CHECK(!wheel_expire(w, slot_ms - (1 << 14)));
    waiting -= w->moved;
    for (int64_t ms = slot_ms - (1 << 14) + 1; ms < slot_ms; ms++) {
        moved = w->moved;
        CHECK(!wheel_expire(w, ms));
        moved = w->moved - moved;
        if (moved > most) most = moved;
        for (; moved > 0; moved--) wheel_cancel(w, &entries[--waiting]);
        if (waiting > 0) wheel_cancel(w, &entries[--waiting]);
        if (ms % 1024 == 0) CHECK(wheel_is_sound(w));
    }
    CHECK_MSG(most <= MILLION / 8192 + 1, "%" PRIu64 " moved at once", most);
    CHECK_UINT(waiting, 0);
    free(entries);
    free(w);
}

TEST(a_short_list_among_many_timers_moves_in_the_call_that_begins_its_block) {
    enum { MANY = 5000, FEW = 50 };
    static wheel_entry entries[MANY];
    const int64_t      few_ms = (int64_t)100 << 14;
    wheel *const       w = wheel_new(0);

    memset(entries, 0, sizeof entries);
    for (int i = 0; i < MANY; i++) arm_at(w, &entries[i], i < FEW ? few_ms + i : YEAR_MS);
    CHECK_INT(wheel_next_ms(w), few_ms - (1 << 14));
    CHECK(!wheel_expire(w, few_ms - (1 << 14)));
    CHECK_UINT(w->moved, FEW);
    CHECK_INT(wheel_next_ms(w), few_ms);
    free(w);
}

TEST(few_timers_an_hour_away_cost_a_single_wake_before_theirs) {
    enum { FEW = 500 };
    static wheel_entry entries[FEW];
    wheel *const       w = wheel_new(0);
    int                wakes = 1;

    memset(entries, 0, sizeof entries);
    for (int i = 0; i < FEW; i++) arm_at(w, &entries[i], HOUR_MS);
    while (!wheel_expire(w, wheel_next_ms(w))) wakes++;
    CHECK_INT(wakes, 2);
    CHECK_UINT(wheel_len(w), 0);
    free(w);
}

TEST(a_jump_of_ten_years_takes_a_few_stops) {
    wheel *const  w = wheel_new(1754000000000);
    const int64_t due_ms = 1754000000000 + 10 * YEAR_MS;
    wheel_entry   e = {0};

    CHECK(!wheel_expire(w, 1754000000000 + YEAR_MS));
    CHECK_UINT(w->stops, 0);
    arm_at(w, &e, due_ms);
    CHECK(!wheel_expire(w, due_ms - 1));
    CHECK(wheel_expire(w, due_ms + YEAR_MS) == &e);
    CHECK_MSG(w->stops <= 2 * WHEEL_LEVELS, "%" PRIu64 " stops", w->stops);
    CHECK(w->moved < WHEEL_LEVELS);
    free(w);
}

TEST(a_jump_over_many_timers_stops_only_where_they_are) {
    enum { COUNT = 1000 };
    static wheel_entry entries[COUNT];
    wheel *const       w = wheel_new(0);
    int                expired = 0;

    memset(entries, 0, sizeof entries);
    for (int i = 0; i < COUNT; i++) arm_at(w, &entries[i], (i + 1) * (YEAR_MS / 100));
    for (const wheel_entry *e; (e = wheel_expire(w, 10 * YEAR_MS)); expired++)
        CHECK(e == &entries[expired] && !e->next);
    CHECK_INT(expired, COUNT);
    CHECK_MSG(w->stops <= COUNT * 4, "%" PRIu64 " stops", w->stops);
    free(w);
}

TEST(time_never_goes_back) {
    wheel *const w = wheel_new(5000);
    wheel_entry  e = {0};

    CHECK(!wheel_expire(w, 4000));
    arm_at(w, &e, 4500);
    CHECK_INT(wheel_next_ms(w), 5000);
    CHECK(wheel_expire(w, INT64_MIN) == &e);
    free(w);
}

TEST_ABORTS(cancelling_what_is_not_armed_is_a_bug, "wheel_cancel") {
    wheel_entry e = {0};

    wheel_cancel(wheel_new(0), &e);
}

TEST_ABORTS(arming_what_is_armed_is_a_bug, "wheel_arm") {
    wheel *const w = wheel_new(0);
    wheel_entry  e = {0};

    arm_at(w, &e, 1);
    wheel_arm(w, &e);
}

TEST(what_is_held_back_is_handed_out_oldest_first_unless_it_is_cancelled) {
    wheel *const w = wheel_new(0);
    wheel_entry  e[4] = {{0}}, *list = NULL, *next;

    for (int i = 0; i < 4; i++) arm_at(w, &e[i], 5);
    for (wheel_entry *due = wheel_expire(w, 5); due; due = next) {
        next = due->next;
        wheel_hold(w, &list, due);
    }
    CHECK_UINT(wheel_len(w), 4);
    CHECK_INT(wheel_next_ms(w), INT64_MAX);
    CHECK(!wheel_expire(w, 6));
    wheel_cancel(w, &e[0]);
    wheel_cancel(w, &e[2]);
    CHECK_UINT(wheel_len(w), 2);
    wheel_entry *first = wheel_let_go(w, &list);
    CHECK(first == &e[1]);
    CHECK(first->next == &e[3]);
    CHECK(!first->next->next);
    CHECK(!list);
    for (int i = 0; i < 4; i++) CHECK(!wheel_is_armed(&e[i]));
    CHECK_UINT(wheel_len(w), 0);
    CHECK(wheel_is_sound(w));
    free(w);
}
