/* roster_test.c - the planner index against the rule itself, asked for every user of a plain list.
 * The list knows nothing of minutes and of who is open: after each scan the plans must be just what the rule says,
 * whatever was put, changed and removed before and however the clock went. What it may cost is counted
 * in users looked at, and in bytes. */
#include "daily/planner_index.h"
#include "starving.h"
#include "test.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DAY20000_MS (20000 * DN_DAY_MS)

/* ---- The model ---- */

enum { USERS = 1200, PLANS = 512 };

typedef struct known {
    dn_planner_index_user
             user; /* context_epoch: its place in the list, so that a plan can be led back to it */
    char     id[DN_ID_MAX];
    bool     there;
    uint32_t planned; /* in which scan last */
} known;

typedef struct world {
    dn_planner_index     *planner_index;
    uint64_t              random, serial;
    int64_t               now_ms;
    uint32_t              window, scans;
    size_t                len;
    known                 users[USERS];
    dn_planner_index_plan plans[PLANS];
    /* What was asked for in the last complete scan. */
    dn_planner_index_plan asked[USERS];
    size_t                asked_len;
    uint64_t              scanned;
    size_t                actions[3], missed; /* in all scans */
    /* By minute: the last even and the last odd day for which somebody was finalized. */
    dn_day counted[DN_DAY_MINUTES][2];
} world;

static uint64_t below(world *w, uint64_t bound) { return test_random(&w->random) % bound; }

static world *world_new(void) {
    world *w = calloc(1, sizeof *w);

    CHECK(w);
    CHECK_INT(dn_planner_index_new(&w->planner_index), DN_OK);
    w->random = test_seed();
    w->now_ms = DAY20000_MS;
    w->window = 60;
    for (int i = 0; i < DN_DAY_MINUTES; i++) w->counted[i][0] = w->counted[i][1] = DN_DAY_NONE;
    return w;
}

static void world_free(world *w) {
    dn_planner_index_free(w->planner_index);
    free(w);
}

static dn_day today(const world *w) { return dn_day_of_ms(w->now_ms); }

/* How its last day ended, if that still is what the planner index has to know: it begins not later than the day after. */
static dn_daily_status status_known(const dn_planner_index_user *u) {
    return u->starts_on == DN_DAY_NONE || u->last_day >= u->starts_on - 1 ? u->status
                                                                          : DN_DAILY_NONE;
}

static bool has_begun(const dn_planner_index_user *u, dn_day day) {
    return u->starts_on == DN_DAY_NONE || u->starts_on <= day || u->last_day >= u->starts_on - 1;
}

/* The model follows what the planner index took. */
static void world_note(world *w, known *k, const dn_planner_index_user *user) {
    if (!k->there) w->len++;
    k->there = true;
    k->user = *user;
    k->user.id = k->id;
    if (status_known(user) == DN_DAILY_NONE) return;
    dn_day *last = &w->counted[user->due][(uint32_t)user->last_day & 1];
    if (*last < user->last_day) *last = user->last_day;
}

static void world_put(world *w, known *k, const dn_planner_index_user *user) {
    CHECK_INT(dn_planner_index_put(w->planner_index, user), DN_OK);
    world_note(w, k, user);
}

static void world_remove(world *w, known *k) {
    CHECK(dn_planner_index_remove(w->planner_index, k->user.registration));
    CHECK(!dn_planner_index_remove(w->planner_index, k->user.registration));
    k->there = false;
    w->len--;
}

/* ---- A scan ---- */

static void check_plan(world *w, const dn_planner_index_plan *p) {
    CHECK(p->context_epoch < USERS);
    known              *k = &w->users[p->context_epoch];
    const dn_daily_user user = {k->user.due, k->user.last_day, k->user.starts_on};
    const dn_daily_plan wanted = dn_daily_decide(&user, w->window, w->now_ms);
    const dn_day_range  missed = dn_daily_missed(&user, k->user.recorded, w->now_ms);
    const bool          misses = missed.first <= missed.last;

    CHECK_MSG(k->there && k->user.registration == p->registration, "planned for one that is gone");
    CHECK_MSG(k->planned != w->scans, "user %" PRIu64 " is planned for twice", p->registration);
    k->planned = w->scans;
    CHECK_MSG(p->action == wanted.action && p->day == wanted.day,
              "due %u, window %u, last %d, starts_on %d, %" PRId64
              " ms: %d for %d and not %d for %d",
              user.due, w->window, user.last_day, user.starts_on, w->now_ms, p->action, p->day,
              wanted.action, wanted.day);
    CHECK((p->missed.first <= p->missed.last) == misses);
    if (misses) CHECK(p->missed.first == missed.first && p->missed.last == missed.last);
    CHECK_MSG(misses || p->action != DN_DAILY_NOTHING, "planned for, and nothing is to be done");
    w->actions[p->action]++;
    w->missed += misses;
    CHECK_UINT(p->due, k->user.due);
    CHECK_UINT(p->id_len, k->user.id_len);
    CHECK(memcmp(p->id, k->id, p->id_len) == 0);
}

/* One slice; false: the scan is over. */
static bool scan_slice(world *w, dn_planner_index_scan *s, uint32_t looks_max, size_t max) {
    const uint64_t before = s->scanned;
    size_t         len = 0;
    const bool more = dn_planner_index_scan_on(w->planner_index, s, looks_max, w->plans, max, &len);

    CHECK(len <= max);
    CHECK(s->scanned - before <= looks_max);
    CHECK(len <= s->scanned - before);
    if (more) CHECK_MSG(len == max || s->scanned - before == looks_max, "given up too early");
    for (size_t i = 0; i < len; i++) {
        check_plan(w, &w->plans[i]);
        w->asked[w->asked_len++] = w->plans[i];
    }
    return more;
}

static void check_nobody_is_forgotten(const world *w) {
    for (size_t i = 0; i < USERS; i++) {
        const known        *k = &w->users[i];
        const dn_daily_user user = {k->user.due, k->user.last_day, k->user.starts_on};
        if (!k->there || k->planned == w->scans) continue;
        const dn_daily_plan wanted = dn_daily_decide(&user, w->window, w->now_ms);
        const dn_day_range  missed = dn_daily_missed(&user, k->user.recorded, w->now_ms);
        CHECK_MSG(wanted.action == DN_DAILY_NOTHING && missed.first > missed.last,
                  "due %u, window %u, last %d, starts_on %d, recorded %d, %" PRId64
                  " ms: nothing, and not %d for %d, missed %d to %d",
                  user.due, w->window, user.last_day, user.starts_on, k->user.recorded, w->now_ms,
                  wanted.action, wanted.day, missed.first, missed.last);
    }
}

/* In slices of which one in so many is small. */
static void world_scan(world *w) {
    dn_planner_index_scan s;
    bool                  more = true;

    w->scans++;
    w->asked_len = 0;
    dn_planner_index_scan_begin(&s, w->window, w->now_ms);
    while (more) {
        const uint64_t tiny = below(w, 4);
        more = scan_slice(w, &s, (uint32_t)(tiny == 0 ? 1 + below(w, 4) : 1 + below(w, 2000)),
                          tiny == 1 ? 1 + below(w, 4) : 1 + below(w, PLANS));
    }
    CHECK(s.scanned <= w->len);
    w->scanned = s.scanned;
    check_nobody_is_forgotten(w);
}

/* ---- A minute at a glance ---- */

static void check_minutes_of(const world *w, dn_day day) {
    static dn_planner_index_minute minutes[DN_DAY_MINUTES], expected[DN_DAY_MINUTES];

    memset(expected, 0, sizeof expected);
    for (size_t i = 0; i < USERS; i++) {
        const dn_planner_index_user *u = &w->users[i].user;
        if (!w->users[i].there) continue;
        expected[u->due].users += has_begun(u, day);
        if (u->last_day != day) continue;
        if (status_known(u) == DN_DAILY_SUCCESS) expected[u->due].success++;
        else if (status_known(u) == DN_DAILY_CUTOFF) expected[u->due].cutoff++;
    }
    dn_planner_index_minutes(w->planner_index, day, minutes);
    for (int i = 0; i < DN_DAY_MINUTES; i++) {
        CHECK_UINT(minutes[i].users, expected[i].users);
        /* What a clock ahead left behind stands in the way until that day. */
        if (w->counted[i][(uint32_t)day & 1] > day) continue;
        CHECK_UINT(minutes[i].success, expected[i].success);
        CHECK_UINT(minutes[i].cutoff, expected[i].cutoff);
    }
}

static void check_minutes(const world *w) {
    for (dn_day day = today(w) - 3; day <= today(w) + 3; day++) check_minutes_of(w, day);
}

/* ---- What may happen ---- */

static uint32_t random_due(world *w) {
    static const uint32_t crowded[] = {0, 1, 20, 59, 60, 61, 720, 1380, 1439};

    return below(w, 4) > 0 ? crowded[below(w, sizeof crowded / sizeof crowded[0])]
                           : (uint32_t)below(w, DN_DAY_MINUTES);
}

static uint8_t random_id(world *w, char id[DN_ID_MAX]) {
    const uint8_t len = (uint8_t)(1 + (below(w, 3) > 0 ? below(w, 9) : below(w, DN_ID_MAX)));

    for (uint8_t i = 0; i < len; i++) id[i] = (char)test_random(&w->random);
    return len;
}

/* In sequence, as they are given out; or such that all of them fall on the end of the table by number, whatever
 * its size: what stands over the end goes on at the beginning. */
static uint64_t random_n(world *w) {
    const uint64_t spread = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t       inverse = spread;

    w->serial++;
    if (w->serial % 3 > 0) return w->serial;
    for (int i = 0; i < 5; i++) inverse *= 2 - spread * inverse;
    return inverse * ((UINT64_MAX - below(w, 9)) << 32 | w->serial);
}

static dn_daily_status random_status(world *w) {
    return below(w, 3) == 0 ? DN_DAILY_CUTOFF : DN_DAILY_SUCCESS;
}

static dn_day random_day(world *w) { return today(w) + (dn_day)below(w, 7) - 4; }

static void set_last(world *w, dn_planner_index_user *u, dn_day day) {
    u->last_day = day;
    u->status = day == DN_DAY_NONE ? DN_DAILY_NONE : random_status(w);
}

static known *random_user(world *w) { return &w->users[below(w, USERS)]; }

static void happens_new(world *w) {
    known                *k = random_user(w);
    dn_planner_index_user u = {.registration = random_n(w), .due = random_due(w)};

    if (k->there && below(w, 2) == 0) {
        /* Registered again: the same id, and a number of its own. */
        world_remove(w, k);
        u.id_len = k->user.id_len;
    }
    if (k->there) return;
    if (u.id_len == 0) u.id_len = random_id(w, k->id);
    u.id = k->id;
    u.context_epoch = (uint32_t)(k - w->users);
    u.starts_on = random_day(w);
    u.recorded = below(w, 3) > 0 ? DN_DAY_NONE : random_day(w);
    set_last(w, &u, below(w, 3) > 0 ? DN_DAY_NONE : random_day(w));
    world_put(w, k, &u);
}

static void happens_change(world *w) {
    known                *k = random_user(w);
    dn_planner_index_user u = k->user;

    if (!k->there) return;
    if (below(w, 3) == 0) u.due = random_due(w);
    if (below(w, 2) == 0) set_last(w, &u, below(w, 9) > 0 ? random_day(w) : DN_DAY_NONE);
    if (below(w, 6) == 0) u.starts_on = random_day(w);
    if (below(w, 3) == 0) u.recorded = below(w, 4) > 0 ? random_day(w) : DN_DAY_NONE;
    if (below(w, 2) == 0) u.id_len = 0, u.id = NULL; /* it is known */
    CHECK_INT(dn_planner_index_put(w->planner_index, &u), DN_OK);
    u.id_len = k->user.id_len;
    world_note(w, k, &u);
}

static void happens_remove(world *w) {
    known *k = random_user(w);

    if (k->there) world_remove(w, k);
}

/* As the others do what was planned; not always, and not all of it. */
static void do_plan(world *w, const dn_planner_index_plan *p) {
    known                *k = &w->users[p->context_epoch];
    dn_planner_index_user u = k->user;

    if (!k->there || u.registration != p->registration) return;
    if (p->missed.first <= p->missed.last) u.recorded = p->missed.last;
    if (p->action == DN_DAILY_FINALIZE) {
        u.last_day = u.recorded = p->day;
        u.status = DN_DAILY_CUTOFF;
    } else if (p->action == DN_DAILY_ATTEMPT) {
        u.last_day = u.recorded = p->day;
        u.status = DN_DAILY_SUCCESS;
    }
    world_put(w, k, &u);
}

static void happens_planned(world *w) {
    const uint64_t of_ten = 1 + below(w, 10);

    for (size_t i = 0; i < w->asked_len; i++)
        if (below(w, 10) < of_ten) do_plan(w, &w->asked[i]);
    w->asked_len = 0;
}

static void happens_time(world *w) {
    const int64_t to_midnight_ms = dn_day_start_ms(today(w) + 1) - w->now_ms;

    switch (below(w, 12)) {
    case 0: w->now_ms += to_midnight_ms - 1 + (int64_t)below(w, 3); break;
    case 1: w->now_ms -= (int64_t)below(w, 3 * 3600000); break;
    case 2:
        if (below(w, 8) == 0) w->now_ms -= (int64_t)below(w, 3 * DN_DAY_MS);
        break;
    case 3:
        if (below(w, 4) == 0) w->now_ms += (int64_t)below(w, 3 * DN_DAY_MS);
        break;
    case 4: w->now_ms += (int64_t)below(w, 12 * 3600000); break;
    case 5: w->now_ms += DN_MINUTE_MS - w->now_ms % DN_MINUTE_MS - 1; break;
    case 6: w->now_ms -= w->now_ms % DN_DAY_MS + 1; break; /* the last instant of yesterday */
    default: w->now_ms += DN_MINUTE_MS - w->now_ms % DN_MINUTE_MS; break;
    }
}

static void happens(world *w) {
    switch (below(w, 6)) {
    case 0:
    case 1: happens_new(w); break;
    case 2:
    case 3: happens_change(w); break;
    case 4:
        if (below(w, 2) == 0) happens_remove(w);
        break;
    default: break;
    }
}

/* window 0: another one at each scan. */
static void live_with(uint32_t window) {
    static const uint32_t windows[] = {1, 60, 90, 1440};
    world                *w = world_new();
    const int             scans = 1500 / TEST_SLOW_FACTOR;

    for (int i = 0; i < scans; i++) {
        w->window = window > 0 ? window : windows[below(w, 4)];
        for (uint64_t n = below(w, 60); n > 0; n--) happens(w);
        CHECK_UINT(dn_planner_index_len(w->planner_index), w->len);
        world_scan(w);
        if (below(w, 2) == 0) happens_planned(w);
        if (below(w, 4) == 0) world_scan(w);
        check_minutes(w);
        happens_time(w);
    }
    for (size_t i = 0; i < USERS; i++)
        if (w->users[i].there) world_remove(w, &w->users[i]);
    world_scan(w);
    CHECK_UINT(w->scanned, 0);
    CHECK_UINT(dn_planner_index_len(w->planner_index), 0);
    check_minutes(w);
    CHECK(w->actions[DN_DAILY_ATTEMPT] > 50 && w->actions[DN_DAILY_FINALIZE] > 50);
    CHECK(w->actions[DN_DAILY_NOTHING] > 50 || window == 1440);
    CHECK(w->missed > w->actions[DN_DAILY_NOTHING]);
    world_free(w);
}

TEST(with_a_window_of_one_minute_a_scan_plans_what_the_rule_says_and_nothing_else) { live_with(1); }
TEST(with_a_window_of_an_hour_a_scan_plans_what_the_rule_says_and_nothing_else) { live_with(60); }
TEST(with_a_window_of_90_minutes_a_scan_plans_what_the_rule_says_and_nothing_else) {
    live_with(90);
}
TEST(with_a_window_of_a_day_a_scan_plans_what_the_rule_says_and_nothing_else) { live_with(1440); }
TEST(with_a_window_that_is_set_anew_a_scan_plans_what_the_rule_says_and_nothing_else) {
    live_with(0);
}

/* ---- What it costs ---- */

/* Users of days before, one id each. */
static void settle(world *w, size_t users, dn_day last_day, uint32_t (*due_of)(size_t i)) {
    for (size_t i = 0; i < users; i++) {
        known *k = &w->users[i];
        k->id[0] = (char)i;
        k->id[1] = (char)(i >> 8);
        world_put(w, k,
                  &(dn_planner_index_user){.registration = i + 1,
                                           .due = due_of(i),
                                           .last_day = last_day,
                                           .starts_on = last_day,
                                           .recorded = last_day,
                                           .status = DN_DAILY_SUCCESS,
                                           .context_epoch = (uint32_t)i,
                                           .id = k->id,
                                           .id_len = 2});
    }
}

static uint32_t spread_over_the_day(size_t i) { return (uint32_t)(i * 7 % DN_DAY_MINUTES); }
static uint32_t all_at_noon(size_t i) {
    (void)i;
    return 720;
}
static uint32_t all_at_twenty_past_midnight(size_t i) {
    (void)i;
    return 20;
}

static void do_all_planned(world *w) {
    for (size_t i = 0; i < w->asked_len; i++) do_plan(w, &w->asked[i]);
    w->asked_len = 0;
}

/* Three days, tick by tick, at each window. */
TEST(a_tick_looks_at_those_it_plans_for_and_at_nobody_else) {
    static const uint32_t windows[] = {1, 60, 90, 1440};

    for (size_t i = 0; i < 4; i++) {
        world   *w = world_new();
        uint64_t looks = 0;
        w->window = windows[i];
        settle(w, USERS, today(w) - 1, spread_over_the_day);
        world_scan(w); /* the first one has never seen any of them */
        do_all_planned(w);
        for (int minute = 1; minute < 3 * DN_DAY_MINUTES; minute++) {
            w->now_ms += DN_MINUTE_MS;
            world_scan(w);
            CHECK_UINT(w->scanned, w->asked_len);
            looks += w->scanned;
            /* What is put off comes up again; not into the next day, or it is missed. */
            if (below(w, 3) > 0 || minute % DN_DAY_MINUTES > 1400) do_all_planned(w);
            else happens_planned(w);
        }
        CHECK(looks >= USERS * 2);
        world_free(w);
    }
}

TEST(after_all_are_finalized_a_tick_looks_at_none) {
    world *w = world_new();

    settle(w, USERS, today(w) - 1, spread_over_the_day);
    w->now_ms += DN_DAY_MS - DN_MINUTE_MS * 61; /* 22:59: no window of tomorrow is open */
    for (int pass = 0; pass < 3; pass++) {
        world_scan(w);
        do_all_planned(w);
    }
    /* Those due after 22:59 are attempted by now; the others have had their cutoff. */
    for (int n = 0; n < 10; n++) {
        w->now_ms += 6000 - 1;
        world_scan(w);
        CHECK_UINT(w->scanned, 0);
    }
    world_free(w);
}

TEST(whoever_is_closed_is_not_looked_at_again_until_the_next_window_opens) {
    const struct {
        uint32_t (*due_of)(size_t i);
        int64_t closed_ms, opens_ms; /* of day 0 */
    } cases[] = {
        {all_at_noon, INT64_C(11) * 3600000, INT64_C(35) * 3600000},
        {all_at_twenty_past_midnight, -40 * DN_MINUTE_MS, DN_DAY_MS - 40 * DN_MINUTE_MS},
    };

    for (size_t i = 0; i < 2; i++) {
        world *w = world_new();
        w->now_ms = DAY20000_MS + cases[i].closed_ms;
        settle(w, 100, 19999, cases[i].due_of);
        world_scan(w);
        CHECK_UINT(w->asked_len, 100);
        do_all_planned(w);
        while ((w->now_ms += DN_MINUTE_MS) < DAY20000_MS + cases[i].opens_ms) {
            world_scan(w);
            CHECK_UINT(w->scanned, 0);
        }
        world_scan(w);
        CHECK_UINT(w->scanned, 100);
        CHECK_UINT(w->asked_len, 100);
        world_free(w);
    }
}

TEST(a_clock_set_back_opens_nobody_whose_day_is_closed) {
    world *w = world_new();

    w->now_ms = DAY20000_MS + INT64_C(13) * 3600000;
    settle(w, 100, 20000, all_at_noon);
    world_scan(w);
    for (int hours = 0; hours < 40; hours++) {
        w->now_ms -= 3600000;
        world_scan(w);
        CHECK_UINT(w->scanned, 0);
    }
    /* And on again: the row is opened once, for the day it comes to last. */
    for (int hours = 0; hours < 40; hours++) {
        w->now_ms += 3600000;
        world_scan(w);
        CHECK_UINT(w->asked_len, 0);
    }
    world_free(w);
}

/* The daemon was away for days: what was missed is asked for once it is recorded, and then it is quiet until the
 * window opens, although yesterday is not finalized and never will be. */
TEST(after_days_that_were_missed_a_tick_looks_at_those_in_their_window_only) {
    world *w = world_new();

    w->now_ms = DAY20000_MS + 5000;
    settle(w, USERS, 19996, all_at_noon);
    world_scan(w);
    CHECK_UINT(w->asked_len, USERS);
    do_all_planned(w);
    world_scan(w); /* each once more */
    CHECK_UINT(w->asked_len, 0);
    while ((w->now_ms += DN_MINUTE_MS) < DAY20000_MS + INT64_C(11) * 3600000) {
        world_scan(w);
        CHECK_UINT(w->scanned, 0);
    }
    world_scan(w);
    CHECK_UINT(w->asked_len, USERS);
    world_free(w);
}

TEST(a_day_recorded_as_missed_is_asked_for_again_by_a_clock_set_back_into_it) {
    world *w = world_new();

    w->now_ms = DAY20000_MS + 5000;
    settle(w, 10, 19998, all_at_noon);
    for (int n = 0; n < 3; n++) {
        world_scan(w);
        do_all_planned(w);
    }
    w->now_ms = DAY20000_MS - 5000; /* after the cutoff of the day before */
    world_scan(w);
    CHECK_UINT(w->asked_len, 10);
    CHECK_INT(w->asked[0].action, DN_DAILY_FINALIZE);
    w->now_ms = DAY20000_MS + 5000;
    world_scan(w);
    CHECK_UINT(w->asked_len, 0);
    w->now_ms = DAY20000_MS - DN_DAY_MS / 2 - 1; /* in its window */
    world_scan(w);
    CHECK_UINT(w->asked_len, 10);
    CHECK_INT(w->asked[0].action, DN_DAILY_ATTEMPT);
    world_free(w);
}

/* ---- Memory ---- */

/* malloc's, and what is mapped beside it: all that is not the arena itself. */
static size_t memory_bytes(void) {
    const struct mallinfo2 info = mallinfo2();
    char                   line[128];
    FILE                  *f = fopen("/proc/self/statm", "r");

    CHECK(f && fgets(line, sizeof line, f));
    fclose(f);
    return strtoul(line, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE) - info.arena + info.uordblks;
}

TEST(who_has_not_begun_is_none_of_the_users_of_a_day) {
    static dn_planner_index_minute minutes[DN_DAY_MINUTES];
    dn_planner_index              *r = NULL;
    dn_planner_index_user          u = {.registration = 1,
                                        .due = 480,
                                        .last_day = DN_DAY_NONE,
                                        .starts_on = 20005,
                                        .id = "ada",
                                        .id_len = 3};

    CHECK_INT(dn_planner_index_new(&r), DN_OK);
    CHECK_INT(dn_planner_index_put(r, &u), DN_OK);
    u.registration = 2;
    CHECK_INT(dn_planner_index_put(r, &u), DN_OK);
    for (dn_day day = 20000; day < 20010; day++) {
        dn_planner_index_minutes(r, day, minutes);
        CHECK_UINT(minutes[480].users, day < 20005 ? 0 : 2);
    }
    u.due = 481;
    u.starts_on = 20007; /* later, and at another minute */
    CHECK_INT(dn_planner_index_put(r, &u), DN_OK);
    dn_planner_index_minutes(r, 20006, minutes);
    CHECK_UINT(minutes[480].users, 1);
    CHECK_UINT(minutes[481].users, 0);
    CHECK(dn_planner_index_remove(r, 2));
    u.due = 480;
    u.registration = 1;
    u.last_day = u.starts_on = 20005;
    u.status = DN_DAILY_SUCCESS;
    CHECK_INT(dn_planner_index_put(r, &u), DN_OK);
    for (dn_day day = 20000; day < 20010; day++) {
        dn_planner_index_minutes(r, day, minutes);
        CHECK_UINT(minutes[480].users, 1); /* it has begun: how days before were, the ledger says */
        CHECK_UINT(minutes[481].users, 0);
    }
    dn_planner_index_free(r);
}

TEST(a_million_users_take_no_more_than_64_bytes_each_and_their_ids) {
    enum { MILLION = 1000000, ID = 12 };
    const size_t      before = memory_bytes();
    dn_planner_index *r = NULL;
    char              id[ID + 8];

    CHECK_INT(dn_planner_index_new(&r), DN_OK);
    for (int i = 0; i < MILLION; i++) {
        snprintf(id, sizeof id, "user%08u", (unsigned)i);
        CHECK_INT(
            dn_planner_index_put(r, &(dn_planner_index_user){.registration = (uint64_t)i + 1,
                                                             .due = (uint32_t)i % DN_DAY_MINUTES,
                                                             .last_day = DN_DAY_NONE,
                                                             .starts_on = 20000,
                                                             .recorded = DN_DAY_NONE,
                                                             .id = id,
                                                             .id_len = ID}),
            DN_OK);
    }
    const size_t bytes = dn_planner_index_bytes(r);
    const double each = (double)bytes / MILLION - ID;
    printf("%.1f bytes a user, and its id\n", each);
    CHECK_MSG(each <= 64, "%.1f bytes a user", each);
    if (!test_under_sanitizer()) {
        const size_t really = memory_bytes() - before;
        CHECK_MSG(bytes - bytes / 50 <= really && really <= bytes + bytes / 50,
                  "it says %zu, and the memory has grown by %zu", bytes, really);
    }
    dn_planner_index_free(r);
}

/* While the table by number grows, the one before is there as well: its bytes go when all of it has been moved. */
TEST(planner_index_of_two_million_grows_a_little_with_each_change) {
    enum { MANY = 2000000 / TEST_SLOW_FACTOR };
    dn_planner_index *r = NULL;
    int               moved = 0;

    CHECK_INT(dn_planner_index_new(&r), DN_OK);
    for (uint64_t n = 1; n <= MANY; n++) {
        const dn_planner_index_user u = {.registration = n,
                                         .due = (uint32_t)(n % DN_DAY_MINUTES),
                                         .starts_on = 20000,
                                         .id = "ada",
                                         .id_len = 3};
        const size_t                bytes = dn_planner_index_bytes(r);
        CHECK_INT(dn_planner_index_put(r, &u), DN_OK);
        moved += dn_planner_index_bytes(r) < bytes;
        if (n % 7 == 0) CHECK(dn_planner_index_remove(r, n / 7));
    }
    CHECK_MSG(moved >= (TEST_SLOW_FACTOR == 1 ? 9 : 5), "%d tables", moved);
    for (uint64_t n = 1; n <= MANY; n++) CHECK(dn_planner_index_remove(r, n) == (n > MANY / 7));
    CHECK_UINT(dn_planner_index_len(r), 0);
    dn_planner_index_free(r);
}

TEST(places_and_ids_of_those_removed_are_used_again) {
    world *w = world_new();
    size_t bytes = 0;

    for (int round = 0; round < 20; round++) {
        settle(w, USERS, 19999, spread_over_the_day);
        if (round == 0) bytes = dn_planner_index_bytes(w->planner_index);
        CHECK_UINT(dn_planner_index_bytes(w->planner_index), bytes);
        world_scan(w);
        for (size_t i = 0; i < USERS; i++) world_remove(w, &w->users[(i * 7 + 3) % USERS]);
    }
    world_free(w);
}

TEST(a_roster_without_memory_is_not_begun) {
    uint64_t nth = 1;

    for (;; nth++) {
        dn_planner_index *r = NULL;
        starve_nth(nth);
        const int rc = dn_planner_index_new(&r);
        if (!starve_end()) {
            CHECK_INT(rc, DN_OK);
            dn_planner_index_free(r);
            break;
        }
        CHECK_INT(rc, DN_ENOMEM);
        CHECK_PTR(r, NULL);
    }
    CHECK(nth > 1);
}

/* The planner index is as it was: as many, the same plans, the same minutes. */
static void check_as_it_was(world *w) {
    CHECK_UINT(dn_planner_index_len(w->planner_index), w->len);
    world_scan(w);
    check_minutes(w);
}

/* Puts it, and again if there was no memory for it. True: there was none. */
static bool put_or_starve(world *w, known *k, const dn_planner_index_user *u) {
    const int rc = dn_planner_index_put(w->planner_index, u);

    if (rc == DN_OK) {
        world_note(w, k, u);
        return false;
    }
    CHECK_INT(rc, DN_ENOMEM);
    CHECK(starve_end());
    check_as_it_was(w);
    if (!k->there)
        CHECK_MSG(!dn_planner_index_remove(w->planner_index, u->registration), "it is half there");
    world_put(w, k, u);
    check_as_it_was(w);
    return true;
}

/* The same from the seed each time: users of many lengths of id come, move to other minutes, go and come back. The
 * nth allocation of all that fails. False: there were not as many. */
static bool live_and_starve_at(uint64_t nth) {
    world *w = world_new();
    bool   starved = false;

    w->now_ms += INT64_C(12) * 3600000;
    starve_nth(nth);
    for (uint32_t i = 0; i < USERS + 400; i++) {
        known                *k = &w->users[i % USERS];
        dn_planner_index_user u = {
            .registration = i + 1,
            .due = i % 11 * 100,
            .starts_on = 19999,
            .recorded = DN_DAY_NONE,
            .id = k->id,
            .context_epoch = i % USERS,
        };
        if (k->there && i % 3 == 0) world_remove(w, k);
        if (k->there) u.registration = k->user.registration, u.due = 1000 + k->user.due % 7;
        u.id_len = k->there ? k->user.id_len : random_id(w, k->id);
        set_last(w, &u, i % 2 ? DN_DAY_NONE : today(w) - (dn_day)(i % 3));
        if (starved) {
            world_put(w, k, &u);
            continue;
        }
        starved = put_or_starve(w, k, &u);
    }
    CHECK(starved || !starve_end());
    check_as_it_was(w);
    world_free(w);
    return starved;
}

TEST(whichever_allocation_fails_the_roster_is_as_it_was_and_goes_on) {
    uint64_t nth = 1;

    while (live_and_starve_at(nth)) nth++;
    CHECK_MSG(nth > 40, "%" PRIu64 " allocations", nth - 1);
}

TEST(who_is_not_known_and_has_no_id_is_refused) {
    world                      *w = world_new();
    const dn_planner_index_user u = {
        .registration = 5, .due = 3, .last_day = 3, .starts_on = 3, .recorded = 3};

    CHECK_INT(dn_planner_index_put(w->planner_index, &u), DN_EDEAD);
    CHECK_UINT(dn_planner_index_len(w->planner_index), 0);
    CHECK(!dn_planner_index_remove(w->planner_index, 5));
    CHECK(!dn_planner_index_remove(w->planner_index, 0));
    check_as_it_was(w);
    world_free(w);
}
