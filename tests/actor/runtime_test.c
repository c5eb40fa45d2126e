/* runtime_test.c - a program's runtime as a whole: beginning, stopping, the way in from outside, real time. */
#define _GNU_SOURCE /* pthread_setattr_default_np */
#include "cast.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>
#include <uv.h>

enum { GO = 1, NUMBER, BUSY, TICK };

static int nothing(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state, (void)msg;
    return DN_OK;
}
static int stop_on_any(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state, (void)msg;
    return DN_STOP;
}
static int send_go(dn_self *self) { return dn_send(self, dn_self_ref(self), GO, NULL, 0); }

/* ---- How it ends ---- */

static int crash_on_any(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state, (void)msg;
    dn_fail_code(DN_EIO, "the root fails");
}
static int begin_and_fail(dn_self *self) {
    (void)self;
    return DN_EIO;
}
static int begin_and_decline(dn_self *self) {
    (void)self;
    return DN_STOP;
}
static int begin_pending(dn_self *self) {
    CHECK_INT(send_go(self), DN_OK);
    return DN_PENDING;
}
static int done_then_stop(dn_self *self, void *state, const dn_msg *msg) {
    (void)state, (void)msg;
    dn_init_done(self, DN_OK);
    return DN_STOP;
}
static int done_with_failure(dn_self *self, void *state, const dn_msg *msg) {
    (void)state, (void)msg;
    dn_init_done(self, DN_ETIME);
    return DN_OK;
}

TEST(run_answers_how_the_root_ended) {
    CHECK_INT(play(&(role){.begin = send_go, .on = stop_on_any}), DN_OK);
    CHECK_INT(play(&(role){.begin = send_go, .on = crash_on_any}), DN_EIO);
    CHECK_INT(play(&(role){.begin = begin_and_fail}), DN_EIO);
    CHECK_INT(play(&(role){.begin = begin_and_decline}), DN_OK);
    CHECK_INT(play(&(role){.begin = begin_pending, .on = done_then_stop}), DN_OK);
    CHECK_INT(play(&(role){.begin = begin_pending, .on = done_with_failure}), DN_ETIME);
}

TEST(a_root_goes_on_the_first_loop_and_is_nobodys_child) {
    static const role root = {NULL, NULL, NULL};
    runtime_begins();
    CHECK_INT(
        dn_runtime_run(
            rt, &(dn_spawn_spec){.actor_class = &role_class, .config = &root, .loop = "side"}),
        DN_EINVAL);
    CHECK_INT(
        dn_runtime_run(
            rt, &(dn_spawn_spec){.actor_class = &role_class, .config = &root, .linked = true}),
        DN_EINVAL);
    CHECK_INT(dn_runtime_run(rt, &(dn_spawn_spec){.name = "no class"}), DN_EINVAL);
    dn_runtime_free(rt);
}

TEST(a_runtime_may_be_freed_without_having_run) {
    runtime_begins();
    dn_runtime_free(rt);
    dn_runtime_free(NULL);
}

/* All below it are open. */
static int lowest_descriptor(void) {
    const int fd = dup(STDIN_FILENO);

    CHECK(fd >= 0 && close(fd) == 0);
    return fd;
}

TEST(without_descriptors_there_is_no_runtime_and_it_is_said_of_what) {
    const int     first = lowest_descriptor();
    dn_runtime   *made = NULL;
    int           spare = 0, rc = DN_EIO;
    struct rlimit limit;

    CHECK_INT(getrlimit(RLIMIT_NOFILE, &limit), 0);
    for (; rc == DN_EIO; spare++) {
        limit.rlim_cur = (rlim_t)(first + spare);
        CHECK_INT(setrlimit(RLIMIT_NOFILE, &limit), 0);
        errno = 0;
        rc = dn_runtime_new(NULL, &made);
        if (rc == DN_EIO) CHECK_INT(errno, EMFILE);
    }
    CHECK_INT(rc, DN_OK);
    CHECK(spare > 1);
    dn_runtime_free(made);
    CHECK_MSG(lowest_descriptor() <= first + 2, "descriptors were left"); /* libuv's pipe stays */
}

TEST(a_runtime_has_one_to_sixteen_loops) {
    static const char *const names[17] = {"a", "b", "c", "d", "e", "f", "g", "h", "i",
                                          "j", "k", "l", "m", "n", "o", "p", "q"};
    dn_runtime              *made = NULL;

    CHECK_INT(dn_runtime_new(&(dn_runtime_config){.loops = names, .loops_len = 0}, &made),
              DN_EINVAL);
    CHECK_INT(dn_runtime_new(&(dn_runtime_config){.loops = names, .loops_len = 17}, &made),
              DN_EINVAL);
    CHECK_PTR(made, NULL);
    CHECK_INT(dn_runtime_new(&(dn_runtime_config){.loops = names, .loops_len = 16}, &made), DN_OK);
    dn_runtime_free(made);
    CHECK_INT(dn_runtime_new(NULL, &made), DN_OK);
    dn_runtime_free(made);
}

TEST(a_runtime_whose_threads_are_refused_does_not_run_and_may_be_freed) {
    static const role root = {NULL, send_go, stop_on_any};
    pthread_attr_t    attr;

    /* A stack of as much as there are addresses: no thread gets one. */
    CHECK_INT(pthread_attr_init(&attr), 0);
    CHECK_INT(pthread_attr_setstacksize(&attr, (size_t)1 << 47), 0);
    CHECK_INT(pthread_setattr_default_np(&attr), 0);
    CHECK_INT(play(&root), DN_ENOMEM);
}

TEST_ABORTS(a_runtime_runs_once, "a runtime runs once") {
    static const role root = {NULL, send_go, stop_on_any};
    runtime_begins();
    CHECK_INT(dn_runtime_run(rt, &(dn_spawn_spec){.actor_class = &role_class, .config = &root}),
              DN_OK);
    CHECK_INT(dn_runtime_run(rt, &(dn_spawn_spec){.actor_class = &role_class, .config = &root}),
              DN_OK);
}

/* ---- Stopping from outside ---- */

static _Atomic(bool) root_is_up;

static int say_up(dn_self *self) {
    (void)self;
    atomic_store(&root_is_up, true);
    return DN_OK;
}
static void *stop_from_thread(void *context) {
    (void)context;
    hold_until(&root_is_up);
    dn_runtime_stop(rt);
    return NULL;
}

TEST(a_runtime_is_stopped_from_another_thread) {
    pthread_t thread;

    runtime_begins();
    CHECK_INT(pthread_create(&thread, NULL, stop_from_thread, NULL), 0);
    const dn_spawn_spec spec = {.actor_class = &role_class,
                                .config = &(role){NULL, say_up, nothing}};
    CHECK_INT(dn_runtime_run(rt, &spec), DN_OK);
    pthread_join(thread, NULL);
    dn_runtime_free(rt);
}

TEST(a_stop_asked_for_before_the_run_is_not_forgotten) {
    runtime_begins();
    dn_runtime_stop(rt);
    CHECK_INT(runtime_runs(&(role){NULL, NULL, nothing}), DN_OK);
}

/* runtime.h says that it may be called from here. */
static void stop_on_signal(int number) {
    (void)number;
    dn_runtime_stop(rt); /* NOLINT(bugprone-signal-handler,cert-sig30-c) */
}

static int raise_on_any(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state, (void)msg;
    raise(SIGUSR1);
    return DN_OK;
}

TEST(a_runtime_is_stopped_from_a_signal_handler) {
    runtime_begins();
    signal(SIGUSR1, stop_on_signal);
    CHECK_INT(runtime_runs(&(role){NULL, send_go, raise_on_any}), DN_OK);
}

static _Atomic(int) stops_heard, terminated;

static int never_stops(dn_self *self, void *state) {
    (void)self, (void)state;
    atomic_fetch_add(&stops_heard, 1);
    atomic_store(&root_is_up, true); /* the thread then asks a second time */
    return DN_OK;
}
static void count_terminate(dn_self *self, void *state) {
    (void)self, (void)state;
    atomic_fetch_add(&terminated, 1);
}
static const dn_class stubborn_class = {.name = "stubborn",
                                        .state_size = sizeof(role *),
                                        .init = role_init,
                                        .handlers = DN_SLICE(role_rows),
                                        .stopping = never_stops,
                                        .terminate = count_terminate};

TEST(a_second_stop_waits_no_longer) {
    static const role root = {NULL, NULL, nothing};
    pthread_t         thread;

    runtime_begins();
    dn_runtime_stop(rt);
    CHECK_INT(pthread_create(&thread, NULL, stop_from_thread, NULL), 0);
    CHECK_INT(dn_runtime_run(rt, &(dn_spawn_spec){.actor_class = &stubborn_class, .config = &root}),
              DN_EKILLED);
    pthread_join(thread, NULL);
    CHECK_INT(atomic_load(&stops_heard), 1);
    CHECK_INT(atomic_load(&terminated), 0);
    dn_runtime_free(rt);
}

/* ---- A clean shutdown with much under way ---- */

static _Atomic(int) releases, things;

static void release_body(void *body) {
    atomic_fetch_add(&releases, 1);
    free(body);
}
static void release_thing(void *thing) {
    (void)thing;
    atomic_fetch_add(&things, 1);
}
static int send_much(dn_self *self) {
    static const char *const all[] = {"m", "s", "t"};

    dn_own(self, &things, release_thing);
    (void)dn_timer_after(self, 100000, TICK, 0);
    for (int i = 0; i < 100; i++) {
        for (int k = 0; k < 3; k++) {
            dn_msg *m = dn_msg_new_take(self, NUMBER, malloc(100), 100, release_body);
            if (dn_send_take(self, dn_name(self, all[k]), m) != DN_OK) dn_msg_free(self, m);
            dn_call_id id;
            (void)!dn_call(self, dn_name(self, all[k]), NUMBER, "x", 1, 100000, &id);
        }
    }
    return DN_OK;
}
static int keep_all(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    if (dn_msg_kind(msg) == NUMBER) (void)dn_msg_keep(self, msg);
    return DN_OK;
}
static const role busy_main = {"m", send_much, keep_all};
static const role busy_side = {"s", send_much, keep_all};
static const role busy_third = {"t", send_much, keep_all};

static int begin_much(dn_self *self) {
    cast(self, &busy_main, NULL);
    cast(self, &busy_side, "side");
    cast(self, &busy_third, "third");
    return DN_OK;
}
static int stop_at_second_start(dn_self *self, void *state, const dn_msg *msg) {
    static int started;

    (void)self, (void)state, (void)msg;
    return ++started == 2 ? DN_STOP : DN_OK;
}

TEST(at_the_end_everything_is_released_wherever_it_was) {
    CHECK_INT(play(&(role){NULL, begin_much, stop_at_second_start}), DN_OK);
    CHECK_INT(atomic_load(&releases), 3 * 3 * 100);
    CHECK_INT(atomic_load(&things), 3);
}

/* What still lies in the inbox of a loop that dies. It lies there for certain: its loop is held by a
 * handler until everything has been sent and another loop is dying already. */
enum { UNDELIVERED = 50, UNDELIVERED_LARGE = 1000 };

static _Atomic(bool) side_held, all_end;
static _Atomic(int)  dropped, dropped_there;
static pthread_t     side_thread;
static bool          heard_anything;

static void drop_body(void *body) {
    atomic_fetch_add(&dropped, 1);
    if (pthread_equal(pthread_self(), side_thread)) atomic_fetch_add(&dropped_there, 1);
    free(body);
}
static int hold_to_the_end(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state;
    if (dn_msg_kind(msg) != GO) {
        heard_anything = true;
        return DN_OK;
    }
    side_thread = pthread_self();
    atomic_store(&side_held, true);
    hold_until(&all_end);
    return DN_OK;
}
static void release_says_end(void *thing) {
    (void)thing;
    atomic_store(&all_end, true);
}
static int own_what_says_end(dn_self *self) {
    dn_own(self, &all_end, release_says_end);
    return send_go(self);
}
/* Always awake, so that its loop sees the end before it is its turn to be joined. */
static int go_again(dn_self *self, void *state, const dn_msg *msg) {
    (void)state, (void)msg;
    return send_go(self);
}
static const role held_side = {"held", NULL, hold_to_the_end};
static const role ends_too = {"ends too", own_what_says_end, go_again};

static int cast_held(dn_self *self) {
    cast(self, &held_side, "side");
    cast(self, &ends_too, "third");
    return DN_OK;
}
static void *post_undelivered(void *context) {
    char large[UNDELIVERED_LARGE] = "";

    (void)context;
    CHECK_INT(dn_post(rt, dn_runtime_name(rt, "held"), NUMBER, large, sizeof large), DN_OK);
    return NULL;
}
static int send_to_held(dn_self *self, void *state, const dn_msg *msg) {
    const dn_ref to = dn_name(self, "held");
    char         large[UNDELIVERED_LARGE] = "";
    static int   started;
    pthread_t    thread;

    (void)state;
    if (dn_msg_kind(msg) != DN_MSG_STARTED || ++started < 2) return DN_OK;
    tell(self, "held", GO);
    hold_until(&side_held);
    for (int i = 0; i < UNDELIVERED; i++) {
        dn_msg *m =
            dn_msg_new_take(self, NUMBER, malloc(UNDELIVERED_LARGE), UNDELIVERED_LARGE, drop_body);
        CHECK_INT(dn_send_take(self, to, m), DN_OK);
    }
    CHECK_INT(dn_send(self, to, NUMBER, large, sizeof large), DN_OK);
    CHECK_INT(dn_call(self, to, NUMBER, large, sizeof large, 100000, NULL), DN_OK);
    CHECK_INT(dn_call(self, to, NUMBER, NULL, 0, 100000, NULL), DN_OK);
    (void)dn_monitor(self, to, 0);
    CHECK_INT(dn_wait_room(self, to), DN_OK);
    CHECK_INT(cast_as(self, &role_class, &busy_side, "side", 0), DN_PENDING);
    CHECK_INT(pthread_create(&thread, NULL, post_undelivered, NULL), 0);
    pthread_join(thread, NULL);
    return DN_STOP;
}

TEST(what_never_left_the_inbox_of_a_dying_loop_is_released_by_its_own_thread) {
    runtime_begins();
    const dn_spawn_spec spec = {.actor_class = &role_class,
                                .config = &(role){NULL, cast_held, send_to_held}};
    CHECK_INT(dn_runtime_run(rt, &spec), DN_OK);
    CHECK(!heard_anything);
    CHECK_INT(atomic_load(&dropped), UNDELIVERED);
    CHECK_INT(atomic_load(&dropped_there), UNDELIVERED);
    dn_runtime_free(rt);
    CHECK_INT(atomic_load(&dropped), UNDELIVERED);
}

/* ---- From plain threads ---- */

enum { THREADS = 4, POSTS = 50000 / TEST_SLOW_FACTOR };

static uint64_t posted_next[THREADS];
static int      posted_all;

static int on_posted(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state;
    if (dn_msg_kind(msg) != NUMBER) return DN_OK;
    const uint64_t *body = dn_msg_body_sized_borrow(msg, 16);
    CHECK(dn_ref_is_nobody(dn_msg_from(msg)));
    CHECK_UINT(body[1], posted_next[body[0]]++);
    return ++posted_all == THREADS * POSTS ? DN_STOP : DN_OK;
}
/* Copied and given away, in turns. */
static int post_number(dn_ref to, uint64_t which, uint64_t i) {
    const uint64_t body[2] = {which, i};
    uint64_t      *own = i % 2 ? malloc(sizeof body) : NULL;
    int            rc;

    if (own) memcpy(own, body, sizeof body);
    do {
        rc = own ? dn_post_take(rt, to, NUMBER, own, sizeof body, free)
                 : dn_post(rt, to, NUMBER, body, sizeof body);
    } while (rc == DN_EFULL && sched_yield() == 0);
    return rc;
}
static void *post_many(void *context) {
    const uint64_t which = (uint64_t)(uintptr_t)context;
    const dn_ref   to = dn_runtime_name(rt, "root");

    hold_until(&root_is_up);
    for (uint64_t i = 0; i < POSTS; i++) {
        CHECK_INT(post_number(to, which, i), DN_OK);
    }
    return NULL;
}

TEST(posts_from_threads_arrive_all_and_in_each_threads_order) {
    pthread_t threads[THREADS];

    runtime_begins();
    CHECK_INT(dn_post(rt, dn_runtime_name(rt, "root"), NUMBER, NULL, 0), DN_EDEAD);
    for (uint64_t i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, post_many, (void *)(uintptr_t)i), 0);
    const dn_spawn_spec spec = {
        .actor_class = &role_class, .config = &(role){NULL, say_up, on_posted}, .name = "root"};
    CHECK_INT(dn_runtime_run(rt, &spec), DN_OK);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    CHECK_INT(dn_post(rt, dn_runtime_name(rt, "root"), NUMBER, NULL, 0), DN_EDEAD);
    dn_runtime_free(rt);
}

static void *post_one(void *context) {
    (void)context;
    hold_until(&root_is_up);
    while (dn_post(rt, dn_runtime_name(rt, "late"), GO, "late", 5) != DN_OK) sched_yield();
    return NULL;
}
static int end_root_too(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    CHECK_STR(dn_msg_body_borrow(msg), "late");
    return dn_send(self, dn_name(self, "root"), GO, NULL, 0);
}
static const role late_on_side = {"late", NULL, end_root_too};

static int cast_late(dn_self *self) {
    cast(self, &late_on_side, "side");
    return say_up(self);
}
static int stop_on_go(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state;
    return dn_msg_kind(msg) == GO ? DN_STOP : DN_OK;
}

TEST(a_post_wakes_a_sleeping_loop_that_is_not_the_first) {
    pthread_t thread;

    runtime_begins();
    CHECK_INT(pthread_create(&thread, NULL, post_one, NULL), 0);
    const dn_spawn_spec spec = {
        .actor_class = &role_class, .config = &(role){NULL, cast_late, stop_on_go}, .name = "root"};
    CHECK_INT(dn_runtime_run(rt, &spec), DN_OK);
    pthread_join(thread, NULL);
    dn_runtime_free(rt);
}

/* ---- From libuv ---- */

typedef struct ticker {
    uv_timer_t uv; /* first: freed as what libuv closes */
    dn_ref     owner;
    int        ticks;
} ticker;

static _Atomic(int) tickers_closed;

static void ticker_closed(uv_handle_t *handle) {
    atomic_fetch_add(&tickers_closed, 1);
    free(handle);
}
static void ticker_release(void *thing) { uv_close(thing, ticker_closed); }
static void on_tick(uv_timer_t *uv) {
    ticker *t = (ticker *)uv;

    t->ticks++;
    CHECK_INT(dn_post(rt, t->owner, TICK, &t->ticks, sizeof t->ticks), DN_OK);
}
static int begin_ticker(dn_self *self) {
    ticker *t = calloc(1, sizeof *t);

    t->owner = dn_self_ref(self);
    CHECK_INT(uv_timer_init(dn_uv_loop(self), &t->uv), 0);
    dn_own(self, t, ticker_release);
    CHECK_INT(uv_timer_start(&t->uv, on_tick, 0, 1), 0);
    return DN_OK;
}
static int count_ticks(dn_self *self, void *state, const dn_msg *msg) {
    static int last;

    (void)state;
    CHECK_INT(*DN_BODY(int, msg), ++last);
    return last == 5 ? dn_send(self, dn_name(self, "root"), GO, NULL, 0) : DN_OK;
}
static const role ticker_role = {"ticker", begin_ticker, count_ticks};

static int cast_ticker(dn_self *self) {
    cast(self, &ticker_role, "side");
    return DN_OK;
}

/* ---- A libuv timer that is due when its loop goes to sleep ---- */

static void on_overdue(uv_timer_t *uv) {
    (void)uv;
    CHECK_INT(dn_post(rt, dn_runtime_name(rt, "root"), GO, NULL, 0), DN_OK);
}
static void overdue_release(void *uv) { uv_close(uv, (uv_close_cb)(void (*)(void))free); }
static int  begin_overdue(dn_self *self) {
     uv_timer_t *uv = calloc(1, sizeof *uv);

     CHECK_INT(uv_timer_init(dn_uv_loop(self), uv), 0);
     dn_own(self, uv, overdue_release);
     CHECK_INT(uv_timer_start(uv, on_overdue, /* timeout= */ 1, 0), 0);
     (void)alarm(20); /* nothing else would wake it, and a timer of the actor's own would */
     for (const int64_t until_ns = real_ns() + 3000000; real_ns() < until_ns;) continue;
    return DN_OK;
}
static int go_comes_first(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state;
    CHECK_UINT(dn_msg_kind(msg), GO);
    return DN_STOP;
}

TEST(what_a_libuv_timer_posts_just_before_its_loop_would_sleep_keeps_it_awake) {
    CHECK_INT(play(&(role){NULL, begin_overdue, go_comes_first}), DN_OK);
}

TEST(a_libuv_callback_reaches_its_actor_by_post) {
    CHECK_INT(play(&(role){NULL, cast_ticker, stop_on_go}), DN_OK);
    CHECK_INT(atomic_load(&tickers_closed), 1);
}

static void fail_in_callback(uv_timer_t *uv) {
    (void)uv;
    dn_fail("in a callback");
}
static int begin_failing_timer(dn_self *self) {
    static uv_timer_t uv;

    CHECK_INT(uv_timer_init(dn_uv_loop(self), &uv), 0);
    CHECK_INT(uv_timer_start(&uv, fail_in_callback, 0, 0), 0);
    return DN_OK;
}

TEST_ABORTS(failing_in_a_libuv_callback_is_a_bug, "dn_fail was called where no actor runs") {
    (void)!play(&(role){NULL, begin_failing_timer, nothing});
}

/* ---- Notices ---- */

static _Atomic(int)  stalls, stalls_over, leftovers;
static _Atomic(bool) stall_seen, over_seen;
static char          stalled_name[64], leftover_why[64];
static uint32_t      stalled_kind;
static int64_t       stalled_ms;

static void on_notice(void *context, const dn_notice *n) {
    CHECK_PTR(context, &stalls);
    if (n->kind == DN_NOTICE_STALL) {
        snprintf(stalled_name, sizeof stalled_name, "%s/%s", n->loop, n->actor);
        stalled_kind = n->msg_kind;
        stalled_ms = n->amount;
        atomic_fetch_add(&stalls, 1);
        atomic_store(&stall_seen, true);
    } else if (n->kind == DN_NOTICE_STALL_OVER) {
        atomic_fetch_add(&stalls_over, 1);
        atomic_store(&over_seen, true);
    } else if (n->kind == DN_NOTICE_LEFTOVER) {
        snprintf(leftover_why, sizeof leftover_why, "%s", n->why);
        atomic_fetch_add(&leftovers, 1);
    }
}

static void noticing_runtime_begins(int64_t stall_ms) {
    static const char *const loops[] = {"main", "side"};
    const dn_runtime_config  config = {.loops = loops,
                                       .loops_len = 2,
                                       .notice = on_notice,
                                       .notice_context = &stalls,
                                       .stall_ms = stall_ms};

    CHECK_INT(dn_runtime_new(&config, &rt), DN_OK);
}

static int spin_until_seen(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    if (dn_msg_kind(msg) != BUSY) return DN_OK;
    hold_until(&stall_seen);
    return dn_send(self, dn_name(self, "root"), NUMBER, NULL, 0);
}
static const role spinner = {"spinner", NULL, spin_until_seen};

static int cast_spinner(dn_self *self) {
    cast(self, &spinner, "side");
    return DN_OK;
}
static int wait_for_the_end_of_the_stall(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    if (dn_msg_kind(msg) == DN_MSG_STARTED) tell(self, "spinner", BUSY);
    if (dn_msg_kind(msg) != NUMBER) return DN_OK;
    hold_until(&over_seen);
    return DN_STOP;
}

TEST(a_handler_that_does_not_return_is_named_once_and_once_more_when_it_has) {
    noticing_runtime_begins(40);
    CHECK_INT(runtime_runs(&(role){NULL, cast_spinner, wait_for_the_end_of_the_stall}), DN_OK);
    CHECK(atomic_load(&stalls_over) >= 1);
    CHECK(strcmp(stalled_name, "side/spinner") == 0 || strcmp(stalled_name, "main/root") == 0);
    CHECK(stalled_ms >= 40);
}

static int spin_alone(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state, (void)msg;
    hold_until(&stall_seen);
    return DN_STOP;
}

TEST(a_stall_names_loop_actor_and_kind) {
    noticing_runtime_begins(40);
    CHECK_INT(runtime_runs(&(role){NULL, send_go, spin_alone}), DN_OK);
    CHECK_INT(atomic_load(&stalls), 1);
    CHECK_STR(stalled_name, "main/root");
    CHECK_UINT(stalled_kind, GO);
}

static int busy_for_a_while(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state, (void)msg;
    for (const int64_t until_ns = real_ns() + 50 * 1000000; real_ns() < until_ns;) continue;
    return DN_STOP;
}

TEST(a_stall_may_take_longer_than_there_are_nanoseconds) {
    static const int64_t lengths_ms[] = {INT64_MAX, INT64_MAX / 1000000 + 1, INT64_MAX / 1000000};

    for (int i = 0; i < 3; i++) {
        noticing_runtime_begins(lengths_ms[i]);
        CHECK_INT(runtime_runs(&(role){NULL, send_go, busy_for_a_while}), DN_OK);
    }
    CHECK_INT(atomic_load(&stalls), 0);
}

/* The detector has read the name of an actor; nothing orders that before the slot's next life, so only
 * how the name is written keeps it from being a race. The tsan build is what sees it (but not a memset
 * that gcc has made a few stores of: it puts none of its checks there). */
static int spin_unordered(dn_self *self, void *state, const dn_msg *msg) {
    const int64_t begun_ns = real_ns();

    (void)self, (void)state;
    if (dn_msg_kind(msg) != BUSY) return DN_OK;
    while (!atomic_load_explicit(&stall_seen, memory_order_relaxed))
        CHECK(real_ns() - begun_ns < INT64_C(100) * 1000000000);
    return DN_STOP;
}
static const role stalled_once = {"stalled", NULL, spin_unordered};

static dn_ref stalled_ref;

static int spawn_stalled(dn_self *self) {
    const dn_spawn_spec spec = {
        .actor_class = &role_class, .config = &stalled_once, .name = "stalled", .monitored = true};

    CHECK_INT(dn_spawn(self, &spec, &stalled_ref), DN_OK);
    return dn_send(self, stalled_ref, BUSY, NULL, 0);
}
static int take_the_slot_again(dn_self *self, void *state, const dn_msg *msg) {
    const dn_spawn_spec spec = {.actor_class = &role_class, .config = &stalled_once};
    dn_ref              next;

    (void)state;
    if (dn_msg_kind(msg) != DN_MSG_DOWN) return DN_OK;
    CHECK_INT(dn_spawn(self, &spec, &next), DN_OK);
    CHECK_UINT(next.bits & 0xffffff, stalled_ref.bits & 0xffffff); /* or nothing was tested */
    return DN_STOP;
}

TEST(the_slot_of_an_actor_that_stalled_is_taken_again_without_a_race) {
    noticing_runtime_begins(4);
    CHECK_INT(runtime_runs(&(role){NULL, spawn_stalled, take_the_slot_again}), DN_OK);
    CHECK(atomic_load(&stalls) >= 1);
}

/* Busy for long, but in many short handlers: no stall, unless the thread itself gets no processor for so long. */
static int64_t longest_pause_ns;

static int busy_in_pieces(dn_self *self, void *state, const dn_msg *msg) {
    static int64_t begun_ns, last_ns;

    (void)state;
    if (begun_ns == 0) begun_ns = last_ns = real_ns();
    if (real_ns() - last_ns > longest_pause_ns) longest_pause_ns = real_ns() - last_ns;
    last_ns = real_ns();
    if (real_ns() - begun_ns > INT64_C(1000) * 1000000) return DN_STOP;
    for (const int64_t until_ns = real_ns() + 100000; real_ns() < until_ns;) continue;
    return dn_send(self, dn_self_ref(self), dn_msg_kind(msg), NULL, 0);
}

TEST(a_loop_that_is_only_busy_does_not_stall) {
    noticing_runtime_begins(400);
    CHECK_INT(runtime_runs(&(role){NULL, send_go, busy_in_pieces}), DN_OK);
    /* A window is no longer than two pauses. */
    CHECK(atomic_load(&stalls) == 0 || longest_pause_ns >= INT64_C(200) * 1000000);
}

static int leave_a_handle(dn_self *self) {
    static uv_timer_t uv;

    CHECK_INT(uv_timer_init(dn_uv_loop(self), &uv), 0);
    return send_go(self);
}

TEST(a_libuv_handle_nobody_closed_is_noticed_and_closed) {
    noticing_runtime_begins(-1);
    CHECK_INT(runtime_runs(&(role){NULL, leave_a_handle, stop_on_any}), DN_OK);
    CHECK_INT(atomic_load(&leftovers), 1);
    CHECK_STR(leftover_why, "timer");
}

TEST(the_default_notice_is_a_line_on_standard_error) {
    char        line[512];
    FILE *const file = tmpfile();
    const int   before = dup(STDERR_FILENO);

    CHECK(file);
    fflush(stderr);
    dup2(fileno(file), STDERR_FILENO);
    for (dn_notice_kind kind = DN_NOTICE_CRASH; kind <= DN_NOTICE_LEFTOVER; kind++)
        dn_notice_print(NULL, &(dn_notice){.kind = kind,
                                           .loop = "the-loop",
                                           .actor = kind == DN_NOTICE_CRASH ? "the-actor" : "",
                                           .msg_kind = 17,
                                           .reason = DN_EIO,
                                           .why = "the-words"});
    fflush(stderr);
    dup2(before, STDERR_FILENO);
    rewind(file);
    for (dn_notice_kind kind = DN_NOTICE_CRASH; kind <= DN_NOTICE_LEFTOVER; kind++) {
        CHECK(fgets(line, sizeof line, file));
        CHECK(strstr(line, "the-loop") && strstr(line, "17") && strstr(line, "the-words"));
        CHECK((strstr(line, "the-actor") != NULL) == (kind == DN_NOTICE_CRASH));
    }
    CHECK(!fgets(line, sizeof line, file));
}

/* ---- Real time ---- */

static int     fired;
static int64_t due_ns[20];

static int arm_exact(dn_self *self) {
    for (uint64_t i = 0; i < 20; i++) {
        due_ns[i] = dn_mono_ns(self) + (int64_t)i * 777777;
        (void)dn_timer_at_mono(self, due_ns[i], TICK, i);
    }
    return DN_OK;
}
static int check_exact(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    CHECK(dn_mono_ns(self) >= due_ns[number_in(msg)]);
    CHECK(real_ns() >= due_ns[number_in(msg)]);
    return ++fired == 20 ? DN_STOP : DN_OK;
}

TEST(timers_wake_a_sleeping_loop_and_are_never_early) {
    CHECK_INT(play(&(role){NULL, arm_exact, check_exact}), DN_OK);
}

enum { SPIN_NS = 2000000, WINDOW = 64 };

static int spin_for_long(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    switch (dn_msg_kind(msg)) {
    case BUSY:
        for (const int64_t until_ns = real_ns() + SPIN_NS; real_ns() < until_ns;) continue;
        return DN_OK;
    case TICK: dn_inspect(self, NULL, 10); return DN_OK;
    case DN_MSG_REPORT: {
        const dn_report *r = dn_msg_body_borrow(msg);
        CHECK_STR(r->rows[0].name, "root");
        CHECK_MSG(r->rows[0].longest_ns >= SPIN_NS, "%lld", (long long)r->rows[0].longest_ns);
        CHECK_UINT(r->rows[0].longest_kind, BUSY);
        CHECK(r->rows[0].busy_ns >= SPIN_NS);
        CHECK(r->rows[0].busy_ns + r->unattributed_ns >= SPIN_NS * (WINDOW + 2));
        return DN_STOP;
    }
    default: return DN_OK;
    }
}
static int begin_busy(dn_self *self) {
    for (int i = 0; i < 50; i++) CHECK_INT(dn_send(self, dn_self_ref(self), GO, NULL, 0), DN_OK);
    /* The first ones may lie in a window of many messages, and be nobody's; after it each is timed. */
    for (int i = 0; i < WINDOW + 2; i++)
        CHECK_INT(dn_send(self, dn_self_ref(self), BUSY, NULL, 0), DN_OK);
    (void)dn_timer_after(self, 1, TICK, 0);
    for (int i = 0; i < 10; i++) CHECK_INT(dn_send(self, dn_self_ref(self), GO, NULL, 0), DN_OK);
    return DN_OK;
}

TEST(the_longest_handler_is_shown_with_what_took_it) {
    CHECK_INT(play(&(role){NULL, begin_busy, spin_for_long}), DN_OK);
}

static int check_clocks(dn_self *self, void *state, const dn_msg *msg) {
    struct timespec wall;

    (void)state, (void)msg;
    clock_gettime(CLOCK_REALTIME, &wall);
    const int64_t wall_ms = (int64_t)wall.tv_sec * 1000 + wall.tv_nsec / 1000000;
    CHECK(dn_now_ms(self) <= wall_ms + 2 && dn_now_ms(self) > wall_ms - 60000);
    CHECK(dn_mono_ns(self) <= real_ns() && dn_mono_ns(self) > real_ns() - INT64_C(60000000000));
    CHECK(dn_boot_ns(self) >= dn_mono_ns(self) - 2000000);
    CHECK_INT(dn_thread_mono_ns(), dn_mono_ns(self));
    CHECK_INT(dn_thread_now_ms(), dn_now_ms(self));
    const int64_t begun_ns = dn_read_mono_ns(self);
    while (real_ns() < begun_ns + 100000) continue;
    CHECK(dn_read_mono_ns(self) >= begun_ns + 100000);
    CHECK(dn_mono_ns(self) <= begun_ns);
    CHECK(dn_random(self) != dn_random(self));
    CHECK_PTR(dn_self_runtime(self), rt);
    return DN_STOP;
}

TEST(the_real_clocks_are_the_machines) {
    CHECK_INT(play(&(role){NULL, send_go, check_clocks}), DN_OK);
    CHECK(dn_thread_mono_ns() <= real_ns() && dn_thread_mono_ns() > real_ns() - 1000000000);
}
