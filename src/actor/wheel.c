/* wheel.c - the timer wheel under every delay, deadline and retry of a loop.
 * A day of diurnal is a million timers that nearly all get cancelled or expire together. A heap
 * pays for each a walk through cold memory, and a wheel of the classic kind pays for all at once,
 * when a coarse slot comes round and its list is dealt out in one go: a stall of 100 ms in the
 * middle of somebody's cutoff.
 *
 * Here each level is a ring of two blocks. While time runs through one block the other already
 * stands for the next, so the coarse slot that covers the next block has a whole block's time to be
 * dealt out, a few entries for each millisecond that passes. Three things always hold:
 *   - an entry is at the lowest level whose current or next block contains its due tick, or at a
 *     higher level in the one slot being dealt out there: the slot after that level's current one;
 *   - at the coarse levels the current slot is empty, so every entry there is due in a later slot;
 *   - a slot's bit is set exactly when the slot is not empty, and likewise for the words of bits.
 * So the next thing to happen is found by a few words, whether it is a millisecond or a century
 * away, and time may jump there: every slot in between is known to be empty. */
#include "wheel.h"

#include <assert.h>

static_assert(sizeof(wheel_entry) == 32, "a timer around it is to fit a cache line");
static_assert(WHEEL_FINE_SLOTS % 4096 == 0 && (WHEEL_LEVELS - 1) * WHEEL_COARSE_SLOTS <= 4096,
              "the words of all coarse levels are summed up in the last word of sum");
static_assert(WHEEL_COARSE_SLOTS == 512, "a coarse level has eight words: one byte of that word");

/* The slowest pace of moving. Beyond it, the pace is such that half a block's time suffices. */
#define MOVES_PER_MS_MIN 64u
#define MOVE_WITHIN_MS   (1u << (WHEEL_FINE_BITS - 1))

/* As many entries may move in one call without anybody noticing: 100 us when every one is a
 * cache miss. With no more than these armed, wheel_next_ms asks for no call only to move some. */
#define MOVES_PER_CALL 512u

/* A merge of equal halves: more bins than there can be bits in a count of entries in memory. */
#define SORT_BINS 48

static uint64_t     tick_of(int64_t ms);
static int64_t      ms_of(uint64_t tick);
static unsigned     level_shift(unsigned level);
static size_t       level_slot(unsigned level, uint64_t index);
static void         slot_push(wheel *w, size_t slot, wheel_entry *e);
static void         slot_note_empty(wheel *w, size_t slot);
static void         entry_place(wheel *w, wheel_entry *e);
static void         wheel_advance(wheel *w, uint64_t tick);
static uint64_t     wheel_move_down(wheel *w, size_t slot, uint64_t count_max);
static bool         wheel_is_moving(const wheel *w);
static uint64_t     wheel_next_stop(const wheel *w, bool with_head_start);
static uint64_t     fine_next(const wheel *w);
static bool         coarse_next(const wheel *w, unsigned level, uint64_t from, uint64_t *out_index);
static wheel_entry *wheel_take_now(wheel *w);
static wheel_entry *oldest_first(wheel_entry *list, size_t *out_count);
static wheel_entry *sorted(wheel_entry *first_run, wheel_entry *rest, size_t *count);
static wheel_entry *merged(wheel_entry *a, wheel_entry *b);

void wheel_init(wheel *w, int64_t now_ms) {
    assert(w->len == 0);
    assert(w->now == 0);
    w->now = tick_of(now_ms);
    w->moves_per_ms = MOVES_PER_MS_MIN;
}

void wheel_arm(wheel *w, wheel_entry *e) {
    assert(!e->link);
    e->seq = w->seq++;
    w->len++;
    entry_place(w, e);
}

void wheel_cancel(wheel *w, wheel_entry *e) {
    wheel_entry *const  next = e->next;
    wheel_entry **const link = e->link;

    assert(link);
    *link = next;
    if (next) {
        next->link = link;
    } else {
        /* Last of its list. Did a slot point to it, and not an entry? Then the slot is empty
         * now. The addresses tell, and an exact bitmap is worth that: nobody is woken for a
         * cancelled timer. */
        const uintptr_t offset = (uintptr_t)link - (uintptr_t)w->slot;
        if (offset < sizeof w->slot) slot_note_empty(w, offset / sizeof w->slot[0]);
    }
    e->link = NULL;
    e->next = NULL;
    assert(w->len > 0);
    w->len--;
}

void wheel_hold(wheel *w, wheel_entry **list, wheel_entry *e) {
    wheel_entry *const first = *list;

    assert(!e->link);
    e->next = first;
    e->link = list;
    if (first) first->link = &e->next;
    *list = e;
    w->len++;
}

wheel_entry *wheel_let_go(wheel *w, wheel_entry **list) {
    wheel_entry *oldest = NULL, *next;

    for (wheel_entry *e = *list; e; e = next) {
        next = e->next;
        e->next = oldest;
        e->link = NULL;
        oldest = e;
        assert(w->len > 0);
        w->len--;
    }
    *list = NULL;
    return oldest;
}

int64_t wheel_next_ms(const wheel *w) {
    uint64_t next, pause;

    if (w->len == 0) return INT64_MAX;
    if (w->len <= MOVES_PER_CALL) return ms_of(wheel_next_stop(w, /* with_head_start: */ false));

    next = wheel_next_stop(w, /* with_head_start: */ true);
    if (wheel_is_moving(w)) {
        pause = w->moves_per_ms < MOVES_PER_CALL ? MOVES_PER_CALL / w->moves_per_ms : 1;
        if (next - w->now > pause) next = w->now + pause;
    }
    return ms_of(next);
}

const wheel_entry *wheel_at_ms(const wheel *w, int64_t ms) {
    const uint64_t tick = tick_of(ms);

    if (tick < w->now || (tick >> WHEEL_FINE_BITS) - (w->now >> WHEEL_FINE_BITS) > 1) return NULL;
    return w->slot[level_slot(0, tick)];
}

wheel_entry *wheel_expire(wheel *w, int64_t now_ms) {
    const uint64_t until = tick_of(now_ms);
    uint64_t       stop;

    /* Each turn either ends, or opens the first coarse slot not empty: at most a turn for every
     * level between two expiries. */
    while (w->len > 0) {
        w->stops++;
        stop = wheel_next_stop(w, /* with_head_start: */ false);
        if (stop > until && stop > w->now) break;
        wheel_advance(w, stop);
        if (w->slot[level_slot(0, w->now)]) return wheel_take_now(w);
    }
    wheel_advance(w, until);
    return NULL;
}

/* Ticks count from the first instant of an int64_t: unsigned arithmetic then serves them all. */
static inline uint64_t tick_of(int64_t ms) { return (uint64_t)ms ^ (1ull << 63); }

static inline int64_t ms_of(uint64_t tick) { return (int64_t)(tick ^ (1ull << 63)); }

/* A tick shifted right by this is the number of its slot at that level. */
static inline unsigned level_shift(unsigned level) {
    return level == 0 ? 0 : WHEEL_FINE_BITS + (level - 1) * WHEEL_COARSE_BITS;
}

/* Where a level keeps slot number index: half of its ring is one block, half the next. */
static inline size_t level_slot(unsigned level, uint64_t index) {
    if (level == 0) return index & (WHEEL_FINE_SLOTS - 1);
    return WHEEL_FINE_SLOTS + (size_t)(level - 1) * WHEEL_COARSE_SLOTS +
           (index & (WHEEL_COARSE_SLOTS - 1));
}

static inline void slot_push(wheel *w, size_t slot, wheel_entry *e) {
    wheel_entry *const first = w->slot[slot];

    e->next = first;
    e->link = &w->slot[slot];
    w->slot[slot] = e;
    if (first) {
        first->link = &e->next;
    } else {
        w->bits[slot / 64] |= 1ull << slot % 64;
        w->sum[slot / 4096] |= 1ull << slot / 64 % 64;
    }
}

static inline void slot_note_empty(wheel *w, size_t slot) {
    const uint64_t rest = w->bits[slot / 64] & ~(1ull << slot % 64);

    w->bits[slot / 64] = rest;
    /* No branch: whether a slot's neighbours are empty is anybody's guess, and guessing is slow. */
    w->sum[slot / 4096] &= ~((uint64_t)(rest == 0) << slot / 64 % 64);
}

/* Into the lowest level whose current or next block contains it. The last takes what is left. */
static inline void entry_place(wheel *w, wheel_entry *e) {
    uint64_t due = tick_of(e->due_ms);
    unsigned level = 0, block_shift = WHEEL_FINE_BITS;

    if (due < w->now) due = w->now;
    while ((due >> block_shift) - (w->now >> block_shift) > 1 && ++level < WHEEL_LEVELS - 1)
        block_shift += WHEEL_COARSE_BITS;
    slot_push(w, level_slot(level, due >> level_shift(level)), e);
}

/* To a tick no later than the next stop (without head start): what is passed over is empty. */
static void wheel_advance(wheel *w, uint64_t tick) {
    const uint64_t turned = w->now ^ tick;
    uint64_t       ms;

    if (tick <= w->now) return;
    ms = tick - w->now;
    w->now = tick;

    if (turned >> WHEEL_FINE_BITS) {
        /* A block begins, here and at every level whose slot changed with it. What could not be
         * moved out of the new current slot in time moves now; the slot after it is next to
         * move. */
        for (unsigned level = 1; level < WHEEL_LEVELS; level++) {
            const uint64_t index = tick >> level_shift(level);

            if (turned >> level_shift(level) == 0) break;
            wheel_move_down(w, level_slot(level, index), UINT64_MAX);
            if (w->slot[level_slot(level, index + 1)]) w->moving |= 1u << level;
            else w->moving &= ~(1u << level);
        }
        /* Set once a block, because cancelling what has moved must not slow down the rest. */
        w->moves_per_ms = w->len / MOVE_WITHIN_MS;
        if (w->moves_per_ms < MOVES_PER_MS_MIN) w->moves_per_ms = MOVES_PER_MS_MIN;

        /* Time slept through before there was anything to move earns no moves: a loop that wakes
         * at the block's begin after an hour would else do everything in this call. One
         * millisecond's worth is free, so that short lists are done with at once. */
        ms = tick & ((1ull << WHEEL_FINE_BITS) - 1);
        if (ms == 0) ms = 1;
    }

    if (w->moving) {
        /* ms counts within one block here, so the product is far from overflowing. Lower levels
         * go first: theirs is the nearer end. They leave half the block's time to the others. */
        uint64_t budget = ms * w->moves_per_ms;

        for (unsigned level = 1; level < WHEEL_LEVELS && budget > 0; level++) {
            if (!(w->moving & 1u << level)) continue;
            budget -=
                wheel_move_down(w, level_slot(level, (tick >> level_shift(level)) + 1), budget);
            if (budget > 0) w->moving &= ~(1u << level);
        }
    }
}

static uint64_t wheel_move_down(wheel *w, size_t slot, uint64_t count_max) {
    wheel_entry *e = w->slot[slot];
    uint64_t     count = 0;

    if (!e) return 0;
    while (e && count < count_max) {
        wheel_entry *const next = e->next;

        entry_place(w, e);
        e = next;
        count++;
    }
    w->slot[slot] = e;
    if (e) e->link = &w->slot[slot];
    else slot_note_empty(w, slot);
    w->moved += count;
    return count;
}

/* The bits of moving are hints: a cancel may have taken the last entry. */
static bool wheel_is_moving(const wheel *w) {
    for (unsigned level = 1; w->moving >> level != 0; level++) {
        if (!(w->moving & 1u << level)) continue;
        if (w->slot[level_slot(level, (w->now >> level_shift(level)) + 1)]) return true;
    }
    return false;
}

/* The earliest tick at which an entry may be due: its own at level 0, the begin of its slot
 * above. With head start, a slot above counts from the begin of the slot before: there it
 * becomes the next to move. */
static uint64_t wheel_next_stop(const wheel *w, bool with_head_start) {
    uint64_t stop = fine_next(w);

    for (unsigned level = 1; level < WHEEL_LEVELS; level++) {
        const unsigned shift = level_shift(level);
        const uint64_t from = (w->now >> shift) + 1;
        uint64_t       index;

        /* Neither this level nor those above begin any earlier. (At the end of time the shift
         * wraps to zero, and the search merely goes on.) */
        if (stop <= from << shift) break;
        if (!coarse_next(w, level, from, &index)) continue;
        if (with_head_start && index > from) index--;
        if (stop > index << shift) stop = index << shift;
    }
    return stop;
}

/* The tick of the first entry at level 0, or UINT64_MAX. Of the ring, what lies behind now is
 * empty, so going once round it from now is to go through both blocks in order of time. */
static uint64_t fine_next(const wheel *w) {
    const size_t groups = WHEEL_FINE_SLOTS / 4096;
    const size_t here = level_slot(0, w->now);
    size_t       word = here / 64, group = here / 4096;
    uint64_t     found = w->bits[word] >> here % 64;

    if (found) return w->now + (unsigned)__builtin_ctzll(found);

    /* Shifted twice: by 64 at once would be undefined. What is left of this group is behind now. */
    found = w->sum[group] & ~0ull << word % 64 << 1;
    for (size_t left = groups - 1; !found && left > 0; left--) {
        group = (group + 1) % groups;
        found = w->sum[group];
    }
    if (!found) return UINT64_MAX;
    word = group * 64 + (unsigned)__builtin_ctzll(found);
    return w->now +
           ((word * 64 + (unsigned)__builtin_ctzll(w->bits[word]) - here) & (WHEEL_FINE_SLOTS - 1));
}

/* The first slot not empty at a coarse level, given the first that may be. */
static bool coarse_next(const wheel *w, unsigned level, uint64_t from, uint64_t *out_index) {
    const uint64_t *const bits = &w->bits[level_slot(level, 0) / 64];
    const unsigned        sum = (unsigned)(w->sum[WHEEL_SUMS - 1] >> 8 * (level - 1) & 0xff);
    const unsigned        here = (unsigned)from & (WHEEL_COARSE_SLOTS - 1);
    unsigned              word = here / 64, turned, slot;
    uint64_t              found;

    if (sum == 0) return false;
    found = bits[word] >> here % 64;
    if (found) {
        *out_index = from + (unsigned)__builtin_ctzll(found);
        return true;
    }
    /* The byte turned so that the word after this one comes first, and this one last. */
    turned = (sum | sum << 8) >> (word + 1);
    word = (word + 1 + (unsigned)__builtin_ctz(turned)) % 8;
    slot = word * 64 + (unsigned)__builtin_ctzll(bits[word]);
    *out_index = from + ((slot - here) & (WHEEL_COARSE_SLOTS - 1));
    return true;
}

static wheel_entry *wheel_take_now(wheel *w) {
    const size_t       slot = level_slot(0, w->now);
    wheel_entry *const list = w->slot[slot];
    wheel_entry       *expired;
    size_t             count;

    w->slot[slot] = NULL;
    slot_note_empty(w, slot);
    expired = oldest_first(list, &count);
    assert(w->len >= count);
    w->len -= count;
    return expired;
}

/* Was a armed before b? */
static inline bool is_older(const wheel_entry *a, const wheel_entry *b) {
    return (int32_t)(a->seq - b->seq) < 0;
}

/* Entries are pushed at the head, so a slot is a list from new to old: it need only be reversed.
 * It is otherwise when some came down from a coarser level, which turns a list round, or came
 * from several. */
static wheel_entry *oldest_first(wheel_entry *list, size_t *out_count) {
    wheel_entry *run = list, *next = list->next;
    size_t       count = 1;

    run->next = NULL;
    run->link = NULL;
    while (next && is_older(next, run)) {
        wheel_entry *const e = next;

        next = e->next;
        e->next = run;
        e->link = NULL;
        run = e;
        count++;
    }
    if (next) run = sorted(run, next, &count);
    *out_count = count;
    return run;
}

/* Merge sort by runs, rising or falling: a list that came down whole is a single run, and with
 * what was armed after that it is two. bin[i] is empty or the merge of 2^i runs, as in a binary
 * counter. */
static wheel_entry *sorted(wheel_entry *first_run, wheel_entry *rest, size_t *count) {
    wheel_entry *bin[SORT_BINS] = {first_run};
    wheel_entry *all = NULL;

    while (rest) {
        wheel_entry *run = rest, *last = rest;
        size_t       i = 0;

        rest = run->next;
        run->link = NULL;
        ++*count;
        if (rest && is_older(run, rest)) {
            while (rest && is_older(last, rest)) {
                last = rest; /* already linked: it follows */
                rest = rest->next;
                last->link = NULL;
                ++*count;
            }
            last->next = NULL;
        } else {
            run->next = NULL;
            while (rest && is_older(rest, run)) {
                wheel_entry *const e = rest;

                rest = e->next;
                e->next = run;
                e->link = NULL;
                run = e;
                ++*count;
            }
        }
        for (; bin[i]; i++) {
            assert(i + 1 < SORT_BINS);
            run = merged(bin[i], run);
            bin[i] = NULL;
        }
        bin[i] = run;
    }
    for (size_t i = 0; i < SORT_BINS; i++)
        if (bin[i]) all = all ? merged(bin[i], all) : bin[i];
    return all;
}

static wheel_entry *merged(wheel_entry *a, wheel_entry *b) {
    wheel_entry *head = NULL, **tail = &head;

    while (a && b) {
        wheel_entry **const older = is_older(a, b) ? &a : &b;

        *tail = *older;
        tail = &(*older)->next;
        *older = *tail;
    }
    *tail = a ? a : b;
    return head;
}

bool wheel_is_sound(const wheel *w) {
    size_t len = 0;

    for (size_t slot = 0; slot < WHEEL_SLOTS; slot++) {
        const size_t        coarse = (slot - WHEEL_FINE_SLOTS) / WHEEL_COARSE_SLOTS;
        const unsigned      level = slot < WHEEL_FINE_SLOTS ? 0 : 1 + (unsigned)coarse;
        const unsigned      shift = level_shift(level);
        const uint64_t      here = w->now >> shift;
        wheel_entry *const *link = &w->slot[slot];

        if ((w->slot[slot] != NULL) != (w->bits[slot / 64] >> slot % 64 & 1)) return false;
        for (const wheel_entry *e = *link; e; e = *link) {
            const uint64_t due = tick_of(e->due_ms) < w->now ? w->now : tick_of(e->due_ms);
            const uint64_t index = due >> shift;
            const uint64_t ring = level == 0 ? WHEEL_FINE_SLOTS : WHEEL_COARSE_SLOTS;

            /* Past-due entries stand where the wheel stood when they were armed: still its
             * position, or they would have expired. */
            if (e->link != link) return false;
            if (level_slot(level, index) != slot || index - here >= ring) return false;
            if (level > 0 && index <= here) return false;
            if (level > 0 && index == here + 1 && !(w->moving & 1u << level)) return false;
            link = &e->next;
            len++;
        }
    }
    for (size_t word = 0; word < WHEEL_WORDS; word++)
        if ((w->bits[word] != 0) != (w->sum[word / 64] >> word % 64 & 1)) return false;
    return len == w->len;
}
