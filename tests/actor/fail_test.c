/* fail_test.c - an actor that fails ends alone, wherever it fails, and takes what it had with it. */
#include "stage.h"

/* ---- Where it can fail ----
 * One class that fails where it is told to, and says what is called on the way out. */

typedef enum place {
    NOWHERE,
    IN_INIT,
    IN_RECEIVE,
    IN_FLUSH,
    IN_STOPPING,
    IN_TERMINATE,
    IN_RELEASE,
    PLACES
} place;

typedef enum manner { BY_FAIL, BY_REQUIRE, BY_ANSWER } manner;

enum { GO = 10, END = 11 };

static place  where;
static manner by;

static int fail_here(place here) {
    if (where != here) return DN_OK;
    if (by == BY_FAIL) dn_fail_code(DN_EIO, "the words");
    if (by == BY_REQUIRE) dn_require(where == NOWHERE);
    return DN_EIO;
}

static void release_first(void *thing) {
    (void)thing;
    say("first");
}
static void release_second(void *thing) {
    (void)thing;
    say("second");
    (void)fail_here(IN_RELEASE);
}
static void release_third(void *thing) {
    (void)thing;
    say("third");
}

static int frail_init(dn_self *self, void *state, const void *config) {
    (void)state, (void)config;
    dn_own(self, state, release_first);
    dn_own(self, state, release_second);
    dn_own(self, state, release_third);
    return fail_here(IN_INIT);
}
static int frail_on_go(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state, (void)msg;
    return fail_here(IN_RECEIVE);
}
static int frail_on_end(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state, (void)msg;
    return DN_STOP;
}
static int frail_flush(dn_self *self, void *state) {
    (void)self, (void)state;
    return fail_here(IN_FLUSH);
}
static int frail_stopping(dn_self *self, void *state) {
    (void)self, (void)state;
    return where == IN_STOPPING ? fail_here(IN_STOPPING) : DN_STOP;
}
static void frail_terminate(dn_self *self, void *state) {
    (void)self, (void)state;
    say("terminate");
    (void)fail_here(IN_TERMINATE);
}
static const dn_handler frail_rows[] = {{GO, frail_on_go}, {END, frail_on_end}, PROBE_ROWS};
static const dn_class   frail_class = {
      .name = "frail",
      .init = frail_init,
      .handlers = DN_SLICE(frail_rows),
      .flush = frail_flush,
      .stopping = frail_stopping,
      .terminate = frail_terminate,
};

static int watch(dn_self *self, const void *arg) {
    (void)dn_monitor(self, dn_name(self, arg), 1);
    return DN_OK;
}

static const char *end_of(place here, manner how, bool stop) {
    where = here;
    by = how;
    (void)born_of(&frail_class, "a");
    if (here == IN_INIT) return said();
    in("root", watch, "a");
    in("root", act_send, LETTERS("a", GO));
    if (!stop) in("root", act_send, LETTERS("a", END));
    else in("root", act_stop, "a");
    return said();
}

TEST(a_failure_in_init_releases_and_is_told_to_the_starter) {
    stage_begins();
    for (manner how = BY_FAIL; how <= BY_ANSWER; how++)
        CHECK_STR(end_of(IN_INIT, how, false), how == BY_REQUIRE ? "third second first spawn/failed"
                                                                 : "third second first spawn/io");
    CHECK_UINT(inspect()->actors, 1);
    CHECK_UINT(inspect()->crashed, 3);
}

TEST(a_failure_in_receive_releases_newest_first_without_terminate) {
    stage_begins();
    for (manner how = BY_FAIL; how <= BY_ANSWER; how++) {
        const char *all = end_of(IN_RECEIVE, how, false);
        CHECK_STR(all, how == BY_REQUIRE ? "third second first root:down1/failed send11/dead"
                                         : "third second first root:down1/io send11/dead");
        CHECK_UINT(inspect()->crashes[0].kind, GO);
    }
    CHECK_UINT(inspect()->crashed, 3);
}

TEST(a_failure_in_flush_is_one_of_the_actor) {
    stage_begins();
    for (manner how = BY_FAIL; how <= BY_ANSWER; how++) {
        const char *all = end_of(IN_FLUSH, how, false);
        CHECK_STR(all, how == BY_REQUIRE ? "third second first root:down1/failed send11/dead"
                                         : "third second first root:down1/io send11/dead");
        CHECK_UINT(inspect()->crashes[0].kind, 0);
    }
}

TEST(a_failure_in_stopping_is_one_of_the_actor) {
    stage_begins();
    for (manner how = BY_FAIL; how <= BY_ANSWER; how++)
        CHECK_STR(end_of(IN_STOPPING, how, true), how == BY_REQUIRE
                                                      ? "third second first root:down1/failed"
                                                      : "third second first root:down1/io");
    CHECK_UINT(inspect()->crashes[0].kind, 0);
}

TEST(a_failure_in_terminate_still_releases_and_becomes_the_reason) {
    stage_begins();
    CHECK_STR(end_of(IN_TERMINATE, BY_FAIL, false), "terminate third second first root:down1/io");
    CHECK_STR(end_of(IN_TERMINATE, BY_REQUIRE, true),
              "terminate third second first root:down1/failed");
    CHECK_UINT(inspect()->crashed, 2);
}

TEST(a_failure_in_a_release_does_not_keep_the_others) {
    stage_begins();
    CHECK_STR(end_of(IN_RELEASE, BY_FAIL, false), "terminate third second first root:down1/ok");
    CHECK_STR(end_of(IN_RELEASE, BY_REQUIRE, true),
              "terminate third second first root:down1/shutdown");
    CHECK_UINT(inspect()->crashed, 2);
    CHECK_STR(inspect()->crashes[1].why, "the words");
}

TEST(without_a_failure_the_same_actor_ends_in_order) {
    stage_begins();
    CHECK_STR(end_of(NOWHERE, BY_FAIL, false), "terminate third second first root:down1/ok");
    CHECK_STR(end_of(NOWHERE, BY_FAIL, true), "terminate third second first root:down1/shutdown");
    CHECK_UINT(inspect()->crashed, 0);
}

TEST(others_go_on_when_one_fails) {
    UNDER_SEEDS(10) {
        where = IN_RECEIVE;
        by = BY_FAIL;
        (void)born("b");
        (void)born_of(&frail_class, "a");
        const letters before = {"b", {20}}, crash = {"a", {GO}}, after = {"b", {21}};
        for (int i = 0; i < 10; i++) later_in("root", act_send, &before);
        later_in("root", act_send, &crash);
        for (int i = 0; i < 10; i++) later_in("root", act_send, &after);
        settle();
        int heard = 0;
        for (const char *at = said(); (at = strstr(at, "b:2")); at++) heard++;
        CHECK_INT(heard, 20);
    }
}

/* ---- What is said about it ---- */

TEST(a_crash_report_has_name_kind_reason_words_and_time) {
    stage_begins();
    pass_ms(123);
    (void)end_of(IN_RECEIVE, BY_FAIL, false);
    const dn_crash_report *c = &inspect()->crashes[0];
    CHECK_STR(c->name, "a");
    CHECK_UINT(c->kind, GO);
    CHECK_INT(c->reason, DN_EIO);
    CHECK_STR(c->why, "the words");
    CHECK_INT(c->at_ms, 1700000000123);
    const dn_notice *n = told(DN_NOTICE_CRASH);
    CHECK_STR(n->actor, "a");
    CHECK_UINT(n->msg_kind, GO);
    CHECK_INT(n->reason, DN_EIO);
    CHECK_STR(n->why, "the words");
}

TEST(a_failed_requirement_names_its_place_and_itself) {
    stage_begins();
    (void)end_of(IN_RECEIVE, BY_REQUIRE, false);
    const char *why = inspect()->crashes[0].why;
    CHECK_MSG(strstr(why, "fail_test.c:") && strstr(why, "where == NOWHERE"), "%s", why);
}

static dn_msg *kept;

static int keep_and_fail(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    kept = dn_msg_keep(self, msg);
    dn_fail("after keeping");
}
static const dn_handler keeping_rows[] = {{GO, keep_and_fail}, PROBE_ROWS};
static const dn_class   keeping_class = {.name = "keeping", .handlers = DN_SLICE(keeping_rows)};

TEST(a_crash_report_names_the_message_even_if_it_has_been_kept) {
    stage_begins();
    (void)born_of(&keeping_class, "a");
    in("root", act_send, LETTERS("a", GO));
    CHECK_UINT(inspect()->crashes[0].kind, GO);
    CHECK_STR(inspect()->crashes[0].why, "after keeping");
}

TEST(the_last_crashes_are_kept_newest_first) {
    char word[16];

    stage_begins();
    for (int i = 1; i <= DN_CRASHES_KEPT + 5; i++) {
        snprintf(word, sizeof word, "crash %d", i);
        (void)born("a");
        in("a", act_fail, word);
        CHECK_UINT(inspect()->crashes_len, i < DN_CRASHES_KEPT ? i : DN_CRASHES_KEPT);
    }
    for (int i = 0; i < DN_CRASHES_KEPT; i++) {
        snprintf(word, sizeof word, "crash %d", DN_CRASHES_KEPT + 5 - i);
        CHECK_STR(inspect()->crashes[i].why, word);
    }
    CHECK_UINT(inspect()->crashed, DN_CRASHES_KEPT + 5);
}

/* ---- Owning ---- */

static void say_thing(void *thing) { say("-%s", (const char *)thing); }

static int own_and_disown(dn_self *self, const void *arg) {
    static char a[] = "a", b[] = "b", c[] = "c";

    (void)arg;
    dn_own(self, a, say_thing);
    dn_own(self, b, say_thing);
    dn_own(self, c, say_thing);
    dn_own(self, b, say_thing);
    CHECK(dn_disown(self, b));
    CHECK(dn_disown(self, a));
    CHECK(!dn_disown(self, a));
    return DN_STOP;
}

TEST(what_is_disowned_is_not_released_and_of_two_the_newest_goes) {
    stage_begins();
    (void)born("x");
    in("x", own_and_disown, NULL);
    CHECK_STR(said(), "-c -b");
}

static dn_ref address_in_release;

static void send_in_release(void *thing) {
    (void)thing;
    CHECK_INT(dn_post(st.runtime, address_in_release, 20, NULL, 0), DN_EDEAD);
    CHECK_INT(dn_post(st.runtime, dn_runtime_name(st.runtime, "a"), 20, NULL, 0), DN_EDEAD);
    CHECK_INT(dn_post(st.runtime, dn_runtime_name(st.runtime, "root"), 20, NULL, 0), DN_OK);
}

static int own_a_sender(dn_self *self, const void *arg) {
    (void)arg;
    address_in_release = dn_self_ref(self);
    dn_own(self, self, send_in_release);
    return DN_STOP;
}

TEST(when_things_are_released_the_actor_cannot_be_reached_any_more) {
    stage_begins();
    (void)born("a");
    in("a", own_a_sender, NULL);
    CHECK_STR(said(), "root:20");
}

typedef struct stateful {
    int value;
} stateful;

static void read_state(void *state) { say("state-%d", ((stateful *)state)->value); }

static int stateful_init(dn_self *self, void *state, const void *config) {
    (void)config;
    ((stateful *)state)->value = 42;
    int *more = dn_alloc(self, sizeof(int));
    *more = 43;
    dn_own(self, state, read_state);
    dn_own(self, more, read_state);
    return DN_OK;
}
static const dn_class stateful_class = {.name = "stateful",
                                        .state_size = sizeof(stateful),
                                        .init = stateful_init,
                                        .handlers = DN_SLICE(probe_handlers)};

TEST(state_and_heap_may_still_be_read_when_things_are_released) {
    stage_begins();
    (void)born_of(&stateful_class, "a");
    in("a", act_fail, NULL);
    CHECK_STR(said(), "state-43 state-42");
}

/* ---- The actor's own heap ---- */

enum { CAP = 10000 };

static const dn_class capped_class = {
    .name = "capped", .handlers = DN_SLICE(probe_handlers), .heap_max = CAP};

static int alloc_in_pieces(dn_self *self, const void *arg) {
    const size_t size = *(const size_t *)arg;
    size_t       total = 0;

    while (total + size <= CAP) {
        unsigned char *memory = dn_alloc(self, size);
        CHECK_UINT((uintptr_t)memory % 16, 0);
        for (size_t i = 0; i < size; i++) CHECK_INT(memory[i], 0);
        memset(memory, 0xff, size);
        total += size;
    }
    say("%zu", total);
    return DN_OK;
}

static int alloc_one(dn_self *self, const void *arg) {
    memset(dn_alloc(self, *(const size_t *)arg), 0xff, *(const size_t *)arg);
    return DN_OK;
}

TEST(a_heap_gives_exactly_what_its_class_allows) {
    static const size_t sizes[] = {16, 80, 400, 2000, 4000, 4992, CAP};

    stage_begins();
    (void)born("b");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        (void)born_of(&capped_class, "a");
        in("a", alloc_in_pieces, &sizes[i]);
        CHECK(is_alive("a"));
        CHECK_INT(strtol(said(), NULL, 10), CAP / sizes[i] * sizes[i]);
        if (CAP % sizes[i]) in("a", alloc_one, &(size_t){CAP % sizes[i]});
        CHECK_MSG(is_alive("a"), "pieces of %zu", sizes[i]);
        in("a", alloc_one, &(size_t){1});
        CHECK(!is_alive("a"));
        CHECK_STR(said(), "");
        CHECK_INT(inspect()->crashes[0].reason, DN_EFAILED);
    }
    CHECK(is_alive("b"));
}

static int alloc_bytes(dn_self *self, const void *arg) {
    for (int i = 0; i < *(const int *)arg; i++) memset(dn_alloc(self, 1), 0xff, 1);
    return DN_OK;
}

TEST(small_pieces_of_a_heap_count_as_sixteen_bytes) {
    stage_begins();
    (void)born_of(&capped_class, "a");
    in("a", alloc_bytes, &(int){CAP / 16});
    CHECK(is_alive("a"));
    CHECK_UINT(row_of(inspect(), "a")->heap_bytes, CAP);
    in("a", alloc_bytes, &(int){1});
    CHECK(!is_alive("a"));
}

TEST(a_heap_past_its_bound_at_once_fails_that_actor_only) {
    stage_begins();
    static const size_t sizes[] = {CAP + 1, SIZE_MAX, SIZE_MAX - 15, SIZE_MAX / 2, (size_t)1 << 32};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        (void)born_of(&capped_class, "a");
        in("a", alloc_one, &sizes[i]);
        CHECK(!is_alive("a"));
    }
    CHECK_UINT(inspect()->crashed, 5);
}

TEST(the_default_bound_of_a_heap_is_a_mebibyte) {
    stage_begins();
    (void)born("a");
    in("a", alloc_one, &(size_t){DN_HEAP_MAX_DEFAULT});
    CHECK(is_alive("a"));
    in("a", alloc_one, &(size_t){1});
    CHECK(!is_alive("a"));
}

static int alloc_nothing(dn_self *self, const void *arg) {
    (void)arg;
    CHECK(dn_alloc(self, 0) != NULL);
    CHECK(dn_alloc(self, 0) != dn_alloc(self, 0));
    return DN_OK;
}

TEST(an_allocation_of_nothing_is_something) {
    stage_begins();
    (void)born("a");
    in("a", alloc_nothing, NULL);
    CHECK(is_alive("a"));
}

static const dn_class huge_class = {
    .name = "huge", .handlers = DN_SLICE(probe_handlers), .heap_max = (size_t)1 << 30};

TEST(big_allocations_are_given_back_with_their_actor) {
    stage_begins();
    (void)born_of(&huge_class, "a");
    const size_t before = inspect()->memory_bytes;
    in("a", alloc_one, &(size_t){3 << 20});
    in("a", alloc_one, &(size_t){5000});
    CHECK(inspect()->memory_bytes >= before + (3 << 20) + 5000);
    in("a", act_fail, NULL);
    CHECK_UINT(inspect()->memory_bytes, before);
}

TEST(heap_bytes_of_the_report_are_state_and_arena) {
    stage_begins();
    (void)born_of(&stateful_class, "a");
    const size_t had = row_of(inspect(), "a")->heap_bytes;
    CHECK_UINT(had, sizeof(stateful) + 16);
    in("a", alloc_one, &(size_t){32});
    CHECK_UINT(row_of(inspect(), "a")->heap_bytes, had + 32);
}

/* States of every size class and beyond: each is its own. */
static size_t current_size;

static int sized_init(dn_self *self, void *state, const void *config) {
    unsigned char *bytes = state;

    (void)self, (void)config;
    CHECK(state != NULL);
    CHECK_UINT((uintptr_t)state % 16, 0);
    for (size_t i = 0; i < current_size; i++) CHECK_INT(bytes[i], 0);
    memset(bytes, 0xff, current_size);
    return DN_OK;
}

TEST(a_state_of_any_size_is_zeroed_aligned_and_whole) {
    static dn_class sized[40];
    size_t          size = 0;

    stage_begins();
    for (int i = 0; i < 40; i++, size = size < 40 ? size + 5 : size + size / 3) {
        current_size = size;
        sized[i] = (dn_class){.name = "sized",
                              .state_size = size,
                              .init = sized_init,
                              .handlers = DN_SLICE(probe_handlers)};
        for (int k = 0; k < 3; k++) {
            (void)born_of(&sized[i], "a");
            (void)born_of(&sized[i], "b");
            CHECK(is_alive("a") && is_alive("b"));
            in("root", act_kill, "a");
            in("root", act_kill, "b");
        }
    }
}
