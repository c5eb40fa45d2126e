/* runtime_uv.c - the real driver: a thread and a libuv loop for each loop of actors.
 * Each thread alternates: take what other threads left, fire timers, run actors for up to 200 us, poll
 * libuv. It sleeps in that poll when nothing is ready, until the next timer, a descriptor, or a wake-up. The
 * timer beneath is a timerfd: libuv's own are rounded to a millisecond of the wrong side, which makes
 * an idle program's timers half a millisecond late. */
#include "clock.h"
#include "entropy.h"
#include "mem.h"
#include "rt.h"
#include "stall.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <uv.h>

enum {
    NS_PER_MS = 1000000,
    CLOCK_CHECK_MS = 1000,
    SPIN_NS = 30 * 1000, /* about what a sleep and a wake-up cost */
    SLEEPS_UNSPUN = 16,  /* sleeps without a spin, after one that found nothing */
    LOOKS_PER_READING = 16,
};

typedef struct uv_side {
    uv_loop_t    uv;
    uv_prepare_t before_poll;
    uv_poll_t    wake_poll, timer_poll;
    int          wake_fd; /* any thread may write to it */
    int          timer_fd;
    int64_t      armed_ns;      /* INT64_MAX: not */
    uint32_t     sleeps_unspun; /* left of them */
    uint64_t     random;
    pthread_t    thread;
    bool         thread_started;
} uv_side;

typedef struct uv_driver {
    dn_runtime   runtime; /* first: a dn_runtime of this driver is one of these */
    uv_side      sides[DN_LOOPS_MAX];
    uv_poll_t    step_poll; /* on the first loop: the wall clock has been set */
    int          step_fd;
    int64_t      clock_checked_ns;
    bool         ran;
    stall_watch *stall;

    /* Any thread. */
    _Atomic(uint32_t) stops_asked;
    _Atomic(bool)     quit; /* pairs: none; whoever sets it also wakes the loops */
} uv_driver;

static uv_driver *driver_of(dn_loop *l) { return l->driver_data; }

static uv_side *side_of(dn_loop *l) { return &driver_of(l)->sides[l->index]; }

/* ---- What the core asks of its driver ---- */

static void uv_side_read_clock(dn_loop *l) { l->mono_ns = clock_mono_ns(); }

static uint64_t uv_side_random(dn_loop *l) { return random_next(&side_of(l)->random); }

/* Not by uv_async_send: the loop that it wakes spins until the caller's write has returned (measured: 9 us for each). A
 * descriptor that is full wakes too. */
static void uv_side_wake(dn_loop *l) {
    const uint64_t one = 1;
    const ssize_t  written = write(side_of(l)->wake_fd, &one, sizeof one);

    assert(written == sizeof one || errno == EAGAIN);
    (void)written;
}

static const driver uv_side_driver = {
    .read_clock = uv_side_read_clock,
    .random = uv_side_random,
    .wake = uv_side_wake,
};

/* ---- Callbacks: they end the poll, and that is all ---- */

static void on_wake(uv_poll_t *poll, int status, int events) {
    uint64_t wakes;

    (void)status, (void)events;
    /* That there is nothing is no failure: it was awake already. */
    (void)!read(side_of(poll->data)->wake_fd, &wakes, sizeof wakes);
}

/* libuv calls its timers, and what was put off, before it waits: if one of those has posted to an actor here, there
 * is nothing to wait for. */
static void on_prepare(uv_prepare_t *before_poll) {
    if (loop_has_ready(before_poll->data)) uv_stop(before_poll->loop);
}

static void on_timer(uv_poll_t *poll, int status, int events) {
    (void)poll, (void)status, (void)events;
}

/* ---- The wall clock ---- */

/* A timer on the wall clock that never fires, only so that setting that clock cancels it. */
static int step_fd_arm(int fd) {
    const struct itimerspec never = {.it_value.tv_sec = (time_t)1 << 40};

    return timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL);
}

static void tell_clock(uv_driver *d, clock_offsets now) {
    dn_loop *first = d->runtime.loops[0];

    for (uint32_t i = 1; i < d->runtime.loops_len; i++) {
        const msg_clock clock = {.wall_offset_ns = now.wall_ns, .boot_offset_ns = now.boot_ns};
        dn_msg         *m = msg_take(first);
        if (!m) return; /* the next check finds the difference still there */
        m->from = DN_NOBODY;
        m->kind = CTL_CLOCK;
        m->flags = MSG_CONTROL | MSG_EXEMPT;
        msg_set_small(m, &clock, sizeof clock);
        rt_push(d->runtime.loops[i], m);
    }
    timers_wall_stepped(first, now.wall_ns, now.boot_ns);
}

/* Less than a millisecond is how well two clocks can be compared, not a step. */
static void check_clock(uv_driver *d) {
    const clock_offsets now = clock_read_offsets();
    const int64_t       step_ns = now.wall_ns - d->runtime.loops[0]->wall_offset_ns;

    if (step_ns >= NS_PER_MS || step_ns <= -NS_PER_MS) tell_clock(d, now);
}

static void on_step(uv_poll_t *poll, int status, int events) {
    uv_driver *d = poll->data;
    uint64_t   expirations;

    (void)status, (void)events;
    /* ECANCELED is the news; the timer is armed anew before the clocks are compared, so that a step between
     * the two is not missed. */
    if (read(d->step_fd, &expirations, sizeof expirations) < 0 && errno == EAGAIN) return;
    (void)step_fd_arm(d->step_fd);
    check_clock(d);
}

/* ---- A thread's life ---- */

static void timer_fd_arm(uv_side *s, int64_t next_ns) {
    struct itimerspec at = {0};

    if (next_ns != INT64_MAX) {
        if (next_ns < 1) next_ns = 1; /* 0 would disarm */
        at.it_value =
            (struct timespec){.tv_sec = next_ns / 1000000000, .tv_nsec = next_ns % 1000000000};
    }
    const int rc = timerfd_settime(s->timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
    assert(rc == 0);
    (void)rc;
    s->armed_ns = next_ns;
}

/* Loops that talk to each other answer within microseconds, and a sleep and a wake-up cost both of them 25 us and a system
 * call. So a loop looks at its inbox for SPIN_NS before it sleeps. If nothing came it does so again only after
 * SLEEPS_UNSPUN sleeps: an idle program is idle. (fanin_bounded of two loops in bench/actors needs this.)
 * True: something came. */
static bool look_around(dn_loop *l, int64_t next_ns) {
    uv_side *s = side_of(l);
    int64_t  until_ns = clock_mono_ns() + SPIN_NS;

    if (s->sleeps_unspun > 0) {
        s->sleeps_unspun--;
        return false;
    }
    if (next_ns < until_ns) until_ns = next_ns;
    do {
        for (int i = 0; i < LOOKS_PER_READING; i++) {
            if (inbox_has_any(&l->inbox)) return true;
            spin_pause();
        }
    } while (clock_mono_ns() < until_ns && !atomic_load(&driver_of(l)->quit));
    s->sleeps_unspun = SLEEPS_UNSPUN;
    return false;
}

static void sleep_until(dn_loop *l, int64_t next_ns) {
    uv_side *s = side_of(l);

    /* Setting it also takes back that it has fired; until then libuv would report it at every poll. */
    if (next_ns != s->armed_ns || s->armed_ns <= l->mono_ns) timer_fd_arm(s, next_ns);
    l->wakeups++;
    uv_run(&s->uv, UV_RUN_ONCE);
    inbox_awake(&l->inbox);
    loop_new_window(l, /* exact= */ true);
}

/* Nothing is ready, or libuv is due. */
static void poll_once(dn_loop *l) {
    const int64_t next_ns = timers_next_ns(l);

    if (!loop_has_ready(l) && next_ns > l->mono_ns && !look_around(l, next_ns) &&
        inbox_may_sleep(&l->inbox)) {
        /* Whoever asked for an end before this loop counted as asleep sent no wake-up. */
        if (!atomic_load(&driver_of(l)->quit)) {
            sleep_until(l, next_ns);
            return;
        }
        inbox_awake(&l->inbox);
    }
    uv_run(&side_of(l)->uv, UV_RUN_NOWAIT);
    loop_new_window(l, /* exact= */ false);
}

/* A step is told by a descriptor; where that is not to be had, this finds it within a second. */
static void look_at_clock(uv_driver *d, const dn_loop *l) {
    if (l->mono_ns - d->clock_checked_ns < (int64_t)CLOCK_CHECK_MS * NS_PER_MS) return;
    d->clock_checked_ns = l->mono_ns;
    check_clock(d);
}

/* Stops that were asked for from outside; the first loop carries them out. */
static void look_at_stops(uv_driver *d, dn_loop *l, uint32_t *seen) {
    const uint32_t asked = atomic_load(&d->stops_asked);

    if (asked == *seen) return;
    *seen = asked;
    if (asked > 1) {
        atomic_store(&d->quit, true);
        return;
    }
    dn_msg *m = msg_take(l);
    if (!m) {
        atomic_store(&d->quit, true);
        return;
    }
    m->from = DN_NOBODY;
    actor_ask_to_end(l, m, d->runtime.root, SYS_STOP);
}

static void loop_live(uv_driver *d, dn_loop *l) {
    uint32_t stops_seen = 0;

    loop_new_window(l, /* exact= */ true);
    l->polled_ns = l->mono_ns;
    while (!atomic_load(&d->quit)) {
        loop_take_inbox(l);
        if (l->index == 0) {
            look_at_stops(d, l, &stops_seen);
            look_at_clock(d, l);
        }
        timers_expire(l);
        loop_run(l);
        if (l->index == 0 && d->runtime.root_ended) break;
        if (!l->poll_due && inbox_has_any(&l->inbox)) {
            /* What came may all have been the runtime's own, which ends no window. */
            loop_new_window(l, /* exact= */ false);
            if (l->mono_ns - l->polled_ns < POLL_NS) continue;
        }
        loop_send_returns(l);
        poll_once(l);
        l->polled_ns = l->mono_ns;
        l->poll_due = false;
    }
}

static void close_leftover(uv_handle_t *handle, void *context) {
    dn_loop *l = context;

    if (uv_is_closing(handle)) return;
    notice(l, DN_NOTICE_LEFTOVER, "", 0, DN_OK, 1, uv_handle_type_name(handle->type));
    uv_close(handle, NULL);
}

static void close_own(uv_side *s) {
    uv_close((uv_handle_t *)&s->wake_poll, NULL);
    uv_close((uv_handle_t *)&s->before_poll, NULL);
    uv_close((uv_handle_t *)&s->timer_poll, NULL);
}

/* Everything this thread owns goes; memory stays until all threads have ended. */
static void loop_die(uv_driver *d, dn_loop *l) {
    uv_side *s = side_of(l);

    loop_end_all(l);
    loop_drop_inbox(l); /* here, because what a body releases may belong to this thread */
    loop_send_returns(l);
    if (l->index == 0) uv_close((uv_handle_t *)&d->step_poll, NULL);
    close_own(s);
    uv_walk(&s->uv, close_leftover, l);
    uv_run(&s->uv, UV_RUN_DEFAULT);
}

static void *thread_main(void *context) {
    dn_loop *l = context;

    this_loop = l;
    loop_live(driver_of(l), l);
    loop_die(driver_of(l), l);
    this_loop = NULL;
    return NULL;
}

/* Signals are for the caller's thread. */
static int start_threads(uv_driver *d) {
    sigset_t all, before;
    int      rc = 0;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (uint32_t i = 1; i < d->runtime.loops_len && rc == 0; i++) {
        rc = pthread_create(&d->sides[i].thread, NULL, thread_main, d->runtime.loops[i]);
        d->sides[i].thread_started = rc == 0;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc == 0 ? DN_OK : DN_ENOMEM;
}

static void join_threads(uv_driver *d) {
    atomic_store(&d->quit, true);
    for (uint32_t i = 1; i < d->runtime.loops_len; i++) {
        if (!d->sides[i]
                 .thread_started) { /* refused: nobody has lived there, its handles are open */
            loop_die(d, d->runtime.loops[i]);
            continue;
        }
        uv_side_wake(d->runtime.loops[i]);
        pthread_join(d->sides[i].thread, NULL);
        d->sides[i].thread_started = false;
    }
}

/* ---- Making and ending a runtime ---- */

/* errno says of what. */
static int refused(int uv_code) {
    errno = -uv_code;
    return uv_code == UV_ENOMEM ? DN_ENOMEM : DN_EIO;
}

/* Are there as many as a loop takes? Without the two of a pipe that libuv makes with its first one it ends the process without
 * a word, and of a loop that cannot be made it leaves one open. */
static int look_for_descriptors(void) {
    enum { WANTED = 8 };
    uv_file ends[WANTED];
    int     code = 0, len = 0;

    while (len < WANTED && (code = uv_pipe(ends + len, 0, 0)) == 0) len += 2;
    while (len > 0) close(ends[--len]);
    return code < 0 ? refused(code) : DN_OK;
}

static void descriptors_close(const uv_side *s) {
    close(s->wake_fd);
    close(s->timer_fd);
}

static int descriptors_open(uv_side *s) {
    s->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (s->timer_fd < 0) return DN_EIO;
    s->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (s->wake_fd >= 0) return DN_OK;
    const int why = errno;
    close(s->timer_fd);
    errno = why;
    return DN_EIO;
}

static int side_init(dn_loop *l) {
    uv_side *s = side_of(l);
    int      rc = look_for_descriptors();

    if (rc < 0) return rc;
    s->random = entropy_seed();
    s->armed_ns = INT64_MAX;
    rc = descriptors_open(s);
    if (rc < 0) return rc;
    rc = uv_loop_init(&s->uv);
    if (rc < 0) {
        descriptors_close(s);
        return refused(rc);
    }
    rc = uv_prepare_init(&s->uv, &s->before_poll);
    s->before_poll.data = l;
    if (rc == 0) rc = uv_prepare_start(&s->before_poll, on_prepare);
    if (rc == 0) rc = uv_poll_init(&s->uv, &s->wake_poll, s->wake_fd);
    s->wake_poll.data = l;
    if (rc == 0) rc = uv_poll_start(&s->wake_poll, UV_READABLE, on_wake);
    if (rc == 0) rc = uv_poll_init(&s->uv, &s->timer_poll, s->timer_fd);
    if (rc == 0) rc = uv_poll_start(&s->timer_poll, UV_READABLE, on_timer);
    assert(rc == 0 && "libuv refuses handles on a new loop");
    return DN_OK;
}

static void side_done(dn_loop *l) {
    uv_side  *s = side_of(l);
    const int rc = uv_loop_close(&s->uv);

    assert(rc == 0 && "a libuv loop is closed while something of it is open");
    (void)rc;
    descriptors_close(s);
}

static int step_init(uv_driver *d) {
    d->step_fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    if (d->step_fd < 0) return DN_EIO;
    /* Refused on some kernels' clocks: then the check once a second is what notices a step. */
    (void)step_fd_arm(d->step_fd);
    int rc = uv_poll_init(&d->sides[0].uv, &d->step_poll, d->step_fd);
    d->step_poll.data = d;
    if (rc == 0) rc = uv_poll_start(&d->step_poll, UV_READABLE, on_step);
    assert(rc == 0 && "libuv refuses handles on a new loop");
    return DN_OK;
}

int dn_runtime_new(const dn_runtime_config *config, dn_runtime **out_runtime) {
    static const dn_runtime_config defaults;
    uv_driver                     *d = mem_alloc(sizeof *d);

    if (!d) return DN_ENOMEM;
    if (!config) config = &defaults;
    int rc = rt_init(&d->runtime, config, &uv_side_driver, d);
    if (rc < 0) {
        mem_free(d);
        return rc;
    }
    if (d->runtime.stall_ms == 0) d->runtime.stall_ms = 1000;
    const clock_offsets offsets = clock_read_offsets();
    uint32_t            sides = 0;
    while (rc == DN_OK && sides < d->runtime.loops_len) {
        dn_loop *l = d->runtime.loops[sides];
        l->wall_offset_ns = offsets.wall_ns;
        l->boot_offset_ns = offsets.boot_ns;
        rc = side_init(l);
        if (rc == DN_OK) sides++;
    }
    if (rc == DN_OK) rc = step_init(d);
    if (rc == DN_OK) {
        *out_runtime = &d->runtime;
        return DN_OK;
    }
    const int why = errno;
    while (sides > 0) {
        close_own(&d->sides[--sides]);
        uv_run(&d->sides[sides].uv, UV_RUN_DEFAULT);
        side_done(d->runtime.loops[sides]);
    }
    rt_done(&d->runtime);
    mem_free(d);
    errno = why;
    return rc;
}

int dn_runtime_run(dn_runtime *runtime, const dn_spawn_spec *root) {
    uv_driver *d = (uv_driver *)runtime;
    dn_loop   *first = runtime->loops[0];

    assert(!d->ran && "a runtime runs once");
    assert(!this_loop && "this thread already runs a runtime");
    if (root->loop || root->linked || root->monitored) return DN_EINVAL;
    d->ran = true;
    this_loop = first;
    loop_new_window(first, /* exact= */ true);
    int rc = start_threads(d);
    if (rc == DN_OK && runtime->stall_ms > 0) rc = stall_start(runtime, &d->stall);
    if (rc == DN_OK) {
        rc = actor_spawn(first, NULL, DN_NOBODY, root, NULL, ACTOR_ROOT, &runtime->root);
        if (rc == DN_OK || rc == DN_PENDING) {
            loop_live(d, first);
            rc = runtime->root_ended ? runtime->root_reason : DN_EKILLED;
        }
    }
    join_threads(d);
    loop_die(d, first);
    stall_stop(d->stall);
    d->stall = NULL;
    this_loop = NULL;
    return rc == DN_ESHUTDOWN || rc == DN_STOP ? DN_OK : rc;
}

void dn_runtime_stop(dn_runtime *runtime) {
    uv_driver *d = (uv_driver *)runtime;

    /* Nothing here that a signal handler may not do: atomics, and a write to a descriptor. */
    atomic_fetch_add(&d->stops_asked, 1);
    uv_side_wake(runtime->loops[0]);
}

void dn_runtime_free(dn_runtime *runtime) {
    uv_driver *d = (uv_driver *)runtime;

    if (!d) return;
    if (!d->ran) { /* its handles are still open */
        for (uint32_t i = 0; i < runtime->loops_len; i++) loop_die(d, runtime->loops[i]);
    }
    close(d->step_fd);
    for (uint32_t i = 0; i < runtime->loops_len; i++) side_done(runtime->loops[i]);
    rt_done(runtime);
    mem_free(d);
}

struct uv_loop_s *dn_uv_loop(dn_self *self) {
    return self->loop->driver == &uv_side_driver ? &side_of(self->loop)->uv : NULL;
}
