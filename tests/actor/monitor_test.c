/* monitor_test.c - a watcher is told of an end exactly once, whatever comes first. */
#include "stage.h"

static int watch(dn_self *self, const void *arg) {
    CHECK(dn_monitor(self, dn_name(self, arg), 1) != 0);
    return DN_OK;
}

/* ---- Reasons ---- */

static int answer_io(dn_self *self, const void *arg) {
    (void)self, (void)arg;
    return DN_EIO;
}
static int answer_nonsense(dn_self *self, const void *arg) {
    (void)self, (void)arg;
    return 77;
}

TEST(down_says_how_it_ended) {
    stage_begins();
    (void)born("w");
    static const struct {
        act_fn     *inside, *outside;
        const char *told;
    } ends[] = {
        {act_stop_self, NULL, "w:down1/ok"},  {act_fail, NULL, "w:down1/failed"},
        {answer_io, NULL, "w:down1/io"},      {answer_nonsense, NULL, "w:down1/invalid"},
        {NULL, act_stop, "w:down1/shutdown"}, {NULL, act_kill, "w:down1/killed"},
    };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        (void)born("a");
        in("w", watch, "a");
        CHECK_STR(said(), "");
        if (ends[i].inside) in("a", ends[i].inside, NULL);
        else in("root", ends[i].outside, "a");
        CHECK_STR(said(), ends[i].told);
    }
}

static dn_down last_down;

static int on_down(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state;
    last_down = *DN_BODY(dn_down, msg);
    say("down%llu", (unsigned long long)last_down.tag);
    return DN_OK;
}
static const dn_handler watcher_rows[] = {{DN_MSG_DOWN, on_down}, PROBE_ROWS};
static const dn_class   watcher_class = {.name = "watcher", .handlers = DN_SLICE(watcher_rows)};

TEST(down_carries_who_it_was_and_47_bytes_of_its_last_words) {
    static const char words[] = "0123456789012345678901234567890123456789012345678901234567890";

    stage_begins();
    (void)born_of(&watcher_class, "w");
    const dn_ref a = born("a");
    in("w", watch, "a");
    in("a", act_fail, words);
    CHECK(dn_ref_equal(last_down.who, a));
    CHECK_INT(strlen(last_down.why), 47);
    CHECK_INT(strncmp(last_down.why, words, 47), 0);
    CHECK_STR(inspect()->crashes[0].why, words);

    (void)born("a");
    in("w", watch, "a");
    in("root", act_kill, "a");
    CHECK_STR(last_down.why, "");
}

TEST(crash_reports_carry_127_bytes_of_the_last_words) {
    char words[200];

    stage_begins();
    memset(words, 'x', sizeof words - 1);
    words[sizeof words - 1] = '\0';
    (void)born("a");
    in("a", act_fail, words);
    CHECK_INT(strlen(inspect()->crashes[0].why), 127);
}

/* ---- Of a child that ends as it should ---- */

static dn_watch_id quiet_watch;
static bool        it_stands;

static int spawn_quietly(dn_self *self, const void *arg) {
    const dn_spawn_spec spec = {.actor_class = &probe_class,
                                .name = arg,
                                .tag = 7,
                                .monitored = true,
                                .out_quiet = &quiet_watch};

    CHECK_INT(dn_spawn(self, &spec, NULL), DN_OK);
    return DN_OK;
}
static int look_whether_it_stands(dn_self *self, const void *arg) {
    (void)arg;
    it_stands = dn_watch_stands(self, quiet_watch);
    return DN_OK;
}
static bool stands_for(const char *who) {
    in(who, look_whether_it_stands, NULL);
    return it_stands;
}

TEST(of_a_quiet_one_only_an_end_that_is_not_normal_is_told) {
    stage_begins();
    (void)born("w");
    in("w", spawn_quietly, "a");
    CHECK(stands_for("w"));
    CHECK(!stands_for("root"));
    in("a", act_stop_self, NULL);
    CHECK_STR(said(), "");
    CHECK(!stands_for("w"));

    in("w", spawn_quietly, "a");
    in("a", act_fail, NULL);
    CHECK_STR(said(), "w:down7/failed");
    CHECK(!stands_for("w"));

    in("w", spawn_quietly, "a");
    in("root", act_stop, "a");
    CHECK_STR(said(), "w:down7/shutdown");
}

static int spawn_quiet_and_unwatched(dn_self *self, const void *arg) {
    const dn_spawn_spec spec = {.actor_class = &probe_class, .out_quiet = &quiet_watch};

    (void)arg;
    CHECK_INT(dn_spawn(self, &spec, NULL), DN_EINVAL);
    return DN_OK;
}

TEST(a_quiet_one_is_watched) {
    stage_begins();
    in("root", spawn_quiet_and_unwatched, NULL);
}

/* ---- Every small order ---- */

typedef enum how { NORMALLY, BY_STOP, BY_KILL, BY_CRASH, HOWS } how;
typedef enum move { WATCH, UNWATCH, END, MOVES } move;

enum { LONGEST = 5 };

typedef struct play {
    move        moves[LONGEST];
    int         len;
    how         ends;
    dn_watch_id ids[LONGEST]; /* still standing ones, the newest last */
    int         tags[LONGEST];
    int         standing, watched;
    bool        expected[LONGEST]; /* by tag: is a DOWN to come? */
    int         told[LONGEST];
    bool        ended;
} play;

static play p;

static int count_down(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state;
    p.told[DN_BODY(dn_down, msg)->tag]++;
    return DN_OK;
}
static const dn_handler counting_rows[] = {{DN_MSG_DOWN, count_down}, PROBE_ROWS};
static const dn_class   counting_class = {.name = "counting", .handlers = DN_SLICE(counting_rows)};

static int end_it(dn_self *self, const void *arg) {
    const dn_ref t = dn_name(self, "t");
    const order  o = {p.ends == NORMALLY ? act_stop_self : act_fail, NULL};
    int          rc;

    (void)arg;
    if (p.ends == BY_STOP) rc = dn_stop(self, t);
    else if (p.ends == BY_KILL) rc = dn_kill(self, t);
    else rc = dn_send(self, t, DO, &o, sizeof o);
    CHECK(rc == DN_OK || (p.ended && rc == DN_EDEAD));
    p.ended = true;
    return DN_OK;
}

static int play_move(dn_self *self, const void *arg) {
    switch (p.moves[*(const int *)arg]) {
    case WATCH:
        p.ids[p.standing] = dn_monitor(self, dn_name(self, "t"), (uint64_t)p.watched);
        p.tags[p.standing++] = p.watched;
        p.expected[p.watched++] = true;
        return DN_OK;
    case UNWATCH:
        if (p.standing == 0) return DN_OK;
        p.standing--;
        if (p.told[p.tags[p.standing]] == 0) p.expected[p.tags[p.standing]] = false;
        dn_demonitor(self, p.ids[p.standing]);
        return DN_OK;
    default: return end_it(self, NULL);
    }
}

static int play_all(dn_self *self, const void *arg) {
    (void)arg;
    for (int i = 0; i < p.len; i++) CHECK_INT(play_move(self, &i), DN_OK);
    return DN_OK;
}

/* The number written in base 3 is the sequence of moves. */
static void play_order(int number, int len, how ends, bool at_once) {
    p = (play){.len = len, .ends = ends};
    for (int i = 0; i < len; i++, number /= MOVES) p.moves[i] = (move)(number % MOVES);
    if (!is_alive("t")) (void)born("t");
    if (at_once) in("w", play_all, NULL);
    for (int i = 0; i < len && !at_once; i++) in("w", play_move, &i);
    if (!p.ended) in("w", end_it, NULL);
    CHECK(!is_alive("t"));
    for (int tag = 0; tag < p.watched; tag++)
        CHECK_MSG(p.told[tag] == p.expected[tag], "watch %d of %d was told %d times", tag,
                  p.watched, p.told[tag]);
}

TEST(every_order_of_watching_unwatching_and_ending_tells_each_watch_once) {
    UNDER_SEEDS(3) {
        (void)born_of(&counting_class, "w");
        for (int len = 1, count = MOVES; len <= LONGEST; len++, count *= MOVES)
            for (int number = 0; number < count; number++)
                for (how ends = NORMALLY; ends < HOWS; ends++)
                    for (int at_once = 0; at_once < 2; at_once++)
                        play_order(number, len, ends, at_once);
        CHECK_UINT(inspect()->actors, 2);
    }
}

/* ---- Order against other messages ---- */

static int say_a_few_and_go(dn_self *self, const void *arg) {
    (void)act_send(self, LETTERS("w", 11, 12, 13));
    return arg ? act_fail(self, NULL) : DN_STOP;
}

TEST(down_comes_behind_everything_it_sent_before) {
    UNDER_SEEDS(20) {
        (void)born("w");
        for (int i = 0; i < 2; i++) {
            (void)born("a");
            in("w", watch, "a");
            in("a", say_a_few_and_go, i ? "crash" : NULL);
            CHECK_STR(said(), i ? "w:11 w:12 w:13 w:down1/failed" : "w:11 w:12 w:13 w:down1/ok");
        }
    }
}

static dn_watch_id watch_id;

static int watch_remembered(dn_self *self, const void *arg) {
    watch_id = dn_monitor(self, dn_name(self, arg), 1);
    return DN_OK;
}

static int unwatch(dn_self *self, const void *arg) {
    (void)arg;
    dn_demonitor(self, watch_id);
    return DN_OK;
}

static int watch_the_dead_and_unwatch(dn_self *self, const void *arg) {
    const dn_watch_id id = dn_monitor(self, *(const dn_ref *)arg, 1);

    dn_demonitor(self, id); /* its DOWN is in the mailbox already */
    return DN_OK;
}

TEST(demonitor_takes_back_a_down_that_is_in_the_mailbox) {
    stage_begins();
    const dn_ref gone = born("a");
    in("root", act_kill, "a");
    in("root", watch_the_dead_and_unwatch, &gone);
    CHECK_STR(said(), "");
}

TEST(demonitor_after_the_down_is_harmless) {
    stage_begins();
    (void)born("w");
    (void)born("a");
    in("w", watch_remembered, "a");
    in("root", act_kill, "a");
    CHECK_STR(said(), "w:down1/killed");
    in("w", unwatch, NULL);
    in("w", unwatch, NULL);
    const dn_watch_id old = watch_id;
    (void)born("a");
    in("w", watch_remembered, "a"); /* may well use the record of the old one */
    CHECK(watch_id != old);
    watch_id = old;
    in("w", unwatch, NULL);
    in("root", act_kill, "a");
    CHECK_STR(said(), "w:down1/killed");
}

TEST(nobody_takes_back_the_watch_of_another) {
    stage_begins();
    (void)born("w");
    (void)born("x");
    (void)born("a");
    in("w", watch_remembered, "a");
    in("x", unwatch, NULL);
    in("root", act_kill, "a");
    CHECK_STR(said(), "w:down1/killed");
}

static int unwatch_anything(dn_self *self, const void *arg) {
    (void)arg;
    dn_demonitor(self, 0);
    dn_demonitor(self, UINT64_MAX);
    dn_demonitor(self, 1ULL << 32);
    dn_demonitor(self, 0x7fffffff00000001U);
    return DN_OK;
}

TEST(demonitor_of_what_never_was_a_watch_is_harmless) {
    stage_begins();
    in("root", unwatch_anything, NULL);
    (void)born("a");
    in("root", watch, "a");
    in("root", unwatch_anything, NULL);
    in("root", act_kill, "a");
    CHECK_STR(said(), "root:down1/killed");
}

/* ---- Many ---- */

static int watch_many(dn_self *self, const void *arg) {
    for (uint64_t i = 0; i < 5; i++) (void)dn_monitor(self, dn_name(self, arg), i);
    return DN_OK;
}

TEST(each_watch_on_one_target_is_told_in_the_order_they_were_set) {
    stage_begins();
    (void)born("w");
    (void)born("a");
    in("w", watch_many, "a");
    in("root", act_kill, "a");
    CHECK_STR(said(), "w:down0/killed w:down1/killed w:down2/killed w:down3/killed w:down4/killed");
}

TEST(a_thousand_watchers_are_all_told) {
    enum { MANY = 1000 };
    char name[16];

    stage_begins();
    (void)born("a");
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "w%d", i);
        (void)born(name);
        in(name, watch, "a");
    }
    for (int i = 0; i < MANY; i += 3) { /* some leave before */
        snprintf(name, sizeof name, "w%d", i);
        in("root", i % 2 ? act_kill : act_stop, name);
    }
    in("a", act_fail, NULL);
    int told_len = 0;
    for (const char *at = said(); (at = strstr(at, ":down1/failed")); at++) told_len++;
    CHECK_INT(told_len, MANY - (MANY + 2) / 3);
}

TEST(a_watcher_that_ends_first_leaves_nothing_behind) {
    stage_begins();
    (void)born("a");
    for (int i = 0; i < 50; i++) {
        (void)born("w");
        in("w", watch, "a");
        in("w", watch_many, "a");
        in("w", i % 2 ? act_fail : act_stop_self, NULL);
    }
    (void)born("w");
    in("root", act_kill, "a");
    CHECK_STR(said(), "");
    CHECK_UINT(inspect()->dead_letters, 0);
}

TEST(two_that_watch_each_other_are_told_by_who_stays) {
    stage_begins();
    (void)born("a");
    (void)born("b");
    in("a", watch, "b");
    in("b", watch, "a");
    in("a", act_fail, NULL);
    CHECK_STR(said(), "b:down1/failed");
    in("b", act_fail, NULL);
    CHECK_STR(said(), "");
}

static int watch_self(dn_self *self, const void *arg) {
    (void)arg;
    (void)dn_monitor(self, dn_self_ref(self), 1);
    return DN_OK;
}

TEST(who_watches_itself_hears_nothing_and_breaks_nothing) {
    stage_begins();
    (void)born("a");
    in("a", watch_self, NULL);
    in("a", act_fail, NULL);
    CHECK_STR(said(), "");
    CHECK_UINT(inspect()->actors, 1);
}

/* ---- Names ---- */

TEST(a_name_nobody_holds_is_down_at_once) {
    stage_begins();
    in("root", watch, "nobody");
    CHECK_STR(said(), "root:down1/dead");
}

TEST(through_a_name_the_present_holder_is_watched) {
    stage_begins();
    (void)born_of(&watcher_class, "w");
    const dn_ref first = born("a");
    in("w", watch, "a");
    in("root", act_kill, "a");
    CHECK_STR(said(), "down1");
    CHECK(dn_ref_equal(last_down.who, first));
    (void)born("a");
    in("root", act_kill, "a");
    CHECK_STR(said(), "");
}

TEST(of_many_watches_in_any_order_none_is_lost_and_none_told_twice) {
    uint64_t random = test_seed();

    stage_begins();
    (void)born_of(&counting_class, "w");
    for (int round = 0; round < 2000; round++) {
        const int number = (int)(test_random(&random) % 243); /* 3 to the power of LONGEST */
        play_order(number, LONGEST, (how)(test_random(&random) % HOWS), test_random(&random) & 1);
    }
}
