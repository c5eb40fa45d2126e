/* timers.c - timers armed and cancelled, fired by the hundred thousand a second, and one at a time.
 * A timer is a message to the actor that armed it. With two loops that actor sits on the second. */
#include <inttypes.h>
#include <string.h>

#include "common.h"

enum { MSG_TIMER = BENCH_KIND_OWN };
enum { NS_PER_US = 1000, NS_PER_MS = 1000000 };

/* What the definition calls the timers' resolution: the first millisecond not before that instant. */
static int64_t ms_up(int64_t ns) { return (ns + NS_PER_MS - 1) / NS_PER_MS * NS_PER_MS; }

/* What an actor here begins with. */
typedef struct timer_config {
    dn_ref             conductor;
    struct timer_book *book;
    uint64_t           n;
} timer_config;

static void timer_hire(dn_self *self, bench_run *run, const dn_class *cls,
                       struct timer_book *book) {
    const timer_config config = {dn_self_ref(self), book, run->n};

    bench_hire(self, run, cls, &config, sizeof config, BENCH_SECOND);
}

static void timer_start(dn_self *self, bench_run *run) { bench_tell_all(self, run, BENCH_START); }

/* The run's data: figures, and an id or a lateness for each timer. */
typedef struct timer_book {
    int64_t rss_before_kb; /* before the warm-up arms its first: what that leaves behind counts */
    int64_t rss_armed_kb;
    int64_t arm_ns, cancel_ns, cpu_ns;
    int64_t rows[];
} timer_book;

/* The rows are touched before anything is timed: they are the bench's memory, not the timers'. */
static timer_book *timer_book_of(bench_run *run) {
    const size_t rows_size = run->n_asked * sizeof(int64_t);
    const bool   first = run->data == NULL;
    timer_book  *book = bench_data(run, sizeof *book + rows_size);

    if (first) memset(book->rows, 0xff, rows_size);
    return book;
}

/* ---- timers_arm ---- */

enum { ARM_FROM_S = 3600, ARM_STEP_NS = 10 * NS_PER_US };

static int armer_init(dn_self *self, void *state, const void *config);
static int armer_on_start(dn_self *self, void *state, const dn_msg *msg);
static int armer_on_timer(dn_self *self, void *state, const dn_msg *msg);

static const dn_handler armer_handlers[] = {
    {BENCH_START, armer_on_start}, /* conductor -> arms all, cancels all */
    {MSG_TIMER, armer_on_timer},   /* runtime   -> never */
};
static const dn_class armer_class = {
    .name = "armer",
    .state_size = sizeof(timer_config),
    .init = armer_init,
    .handlers = DN_SLICE(armer_handlers),
};

static int armer_init(dn_self *self, void *state, const void *config) {
    (void)self;
    *(timer_config *)state = *(const timer_config *)config;
    return DN_OK;
}

static int armer_on_start(dn_self *self, void *state, const dn_msg *msg) {
    const timer_config *a = state;
    timer_book         *book = a->book;
    const int64_t       first_ns = dn_mono_ns(self) + (int64_t)ARM_FROM_S * 1000 * NS_PER_MS;
    int64_t             arming_ns, cancelling_ns;

    (void)msg;
    if (book->rss_before_kb == 0) book->rss_before_kb = bench_status_kb("VmRSS");
    arming_ns = bench_now_ns();
    for (uint64_t i = 0; i < a->n; i++) {
        book->rows[i] =
            (int64_t)dn_timer_at_mono(self, first_ns + (int64_t)i * ARM_STEP_NS, MSG_TIMER, i);
    }
    book->arm_ns = bench_now_ns() - arming_ns;
    book->rss_armed_kb = bench_status_kb("VmRSS");
    cancelling_ns = bench_now_ns();
    for (uint64_t i = 0; i < a->n; i++) {
        if (!dn_timer_cancel(self, (dn_timer_id)book->rows[i])) {
            bench_wrong("timer %" PRIu64 " could not be cancelled", i);
        }
    }
    book->cancel_ns = bench_now_ns() - cancelling_ns;
    return bench_tell_done(self, a->conductor, 0, a->n);
}

static int armer_on_timer(dn_self *self, void *state, const dn_msg *msg) {
    (void)self;
    (void)state;
    bench_wrong("timer %" PRIu64 " fired an hour early", *DN_BODY(uint64_t, msg));
}

static void arm_hire(dn_self *self, bench_run *run) {
    timer_hire(self, run, &armer_class, timer_book_of(run));
}

static void arm_report(const bench_run *run) {
    const timer_book *book = run->data;
    const double      n = (double)run->n;
    const int64_t     growth_kb = book->rss_armed_kb - book->rss_before_kb;

    bench_print(run, "arm_ns", (double)book->arm_ns / n, "ns");
    bench_print(run, "cancel_ns", (double)book->cancel_ns / n, "ns");
    bench_print(run, "bytes_per_timer", (double)growth_kb * 1024 / n, "B");
}

/* ---- timers_fire ----
 * Without a warm-up, as the peers have it: eight seconds of real time warm up enough. */

enum { FIRE_FROM_MS = 3000 };
static const uint64_t fire_span_ns = 5000000000, fire_seed = 42;

typedef struct firer {
    dn_ref      conductor;
    timer_book *book;
    uint64_t    n, fired;
    uint64_t    armed_sum, fired_sum; /* of deadlines: each must come once */
    int64_t     cpu_before_ns;
} firer;

static int firer_init(dn_self *self, void *state, const void *config);
static int firer_on_timer(dn_self *self, void *state, const dn_msg *msg);
static int firer_on_start(dn_self *self, void *state, const dn_msg *msg);

static const dn_handler firer_handlers[] = {
    {MSG_TIMER, firer_on_timer},   /* runtime   -> how late? */
    {BENCH_START, firer_on_start}, /* conductor -> arms all */
};
static const dn_class firer_class = {
    .name = "firer",
    .state_size = sizeof(firer),
    .init = firer_init,
    .handlers = DN_SLICE(firer_handlers),
};

static int firer_init(dn_self *self, void *state, const void *config) {
    const timer_config *given = config;
    firer              *f = state;

    (void)self;
    *f = (firer){.conductor = given->conductor, .book = given->book, .n = given->n};
    return DN_OK;
}

/* Deadlines are rounded up to the timers' resolution, a millisecond, before they are armed. */
static int firer_on_start(dn_self *self, void *state, const dn_msg *msg) {
    firer        *f = state;
    const int64_t began_ns = bench_now_ns();
    uint64_t      x = fire_seed;

    (void)msg;
    f->cpu_before_ns = bench_cpu_ns();
    for (uint64_t i = 0; i < f->n; i++) {
        int64_t deadline_ns;
        x = x * 6364136223846793005u + 1442695040888963407u;
        deadline_ns = began_ns + (int64_t)FIRE_FROM_MS * NS_PER_MS +
                      (int64_t)((x >> 32) * fire_span_ns >> 32);
        deadline_ns = ms_up(deadline_ns);
        f->armed_sum += (uint64_t)deadline_ns;
        dn_timer_at_mono(self, deadline_ns, MSG_TIMER, (uint64_t)deadline_ns);
    }
    f->book->arm_ns = bench_now_ns() - began_ns;
    return DN_OK;
}

static int firer_on_timer(dn_self *self, void *state, const dn_msg *msg) {
    firer         *f = state;
    const uint64_t deadline_ns = *DN_BODY(uint64_t, msg);
    const int64_t  late_ns = bench_now_ns() - (int64_t)deadline_ns;

    if (late_ns < 0) bench_wrong("a timer fired %" PRId64 " ns before its deadline", -late_ns);
    f->book->rows[f->fired] = late_ns;
    f->fired_sum += deadline_ns;
    if (++f->fired < f->n) return DN_OK;
    f->book->cpu_ns = bench_cpu_ns() - f->cpu_before_ns;
    if (f->fired_sum != f->armed_sum) bench_wrong("what fired is not what was armed");
    return bench_tell_done(self, f->conductor, 0, f->fired);
}

static void fire_hire(dn_self *self, bench_run *run) {
    timer_hire(self, run, &firer_class, timer_book_of(run));
}

static void print_us(const bench_run *run, const char *metric, int64_t ns) {
    bench_print(run, metric, (double)ns / NS_PER_US, "us");
}

static void fire_report(const bench_run *run) {
    timer_book *book = run->data;
    int64_t    *late = book->rows;

    bench_sort(late, run->n);
    bench_print(run, "arm_total_ms", (double)book->arm_ns / NS_PER_MS, "ms");
    print_us(run, "late_p50_us", bench_rank(late, run->n, 500));
    print_us(run, "late_p99_us", bench_rank(late, run->n, 990));
    print_us(run, "late_max_us", late[run->n - 1]);
    bench_print(run, "cpu_ns_per_timer", (double)book->cpu_ns / (double)run->n, "ns");
}

/* ---- timers_idle ----
 * Lateness is against the delay that was asked for; whatever the timers round up is part of it. */

enum { IDLE_DELAYS = 20 };

typedef struct waiter {
    dn_ref      conductor;
    timer_book *book;
    uint64_t    n, k;
    int64_t     deadline_ns;
} waiter;

static int waiter_init(dn_self *self, void *state, const void *config);
static int waiter_on_timer(dn_self *self, void *state, const dn_msg *msg);
static int waiter_on_start(dn_self *self, void *state, const dn_msg *msg);

static const dn_handler waiter_handlers[] = {
    {MSG_TIMER, waiter_on_timer},   /* runtime   -> how late? the next one */
    {BENCH_START, waiter_on_start}, /* conductor -> the first one */
};
static const dn_class waiter_class = {
    .name = "waiter",
    .state_size = sizeof(waiter),
    .init = waiter_init,
    .handlers = DN_SLICE(waiter_handlers),
};

static int waiter_init(dn_self *self, void *state, const void *config) {
    const timer_config *given = config;
    waiter             *w = state;

    (void)self;
    *w = (waiter){.conductor = given->conductor, .book = given->book, .n = given->n};
    return DN_OK;
}

static void waiter_arm(dn_self *self, waiter *w) {
    const int64_t delay_ms = (int64_t)(w->k % IDLE_DELAYS + 1);

    w->deadline_ns = dn_mono_ns(self) + delay_ms * NS_PER_MS;
    dn_timer_after(self, delay_ms, MSG_TIMER, w->k);
}

static int waiter_on_start(dn_self *self, void *state, const dn_msg *msg) {
    (void)msg;
    waiter_arm(self, state);
    return DN_OK;
}

static int waiter_on_timer(dn_self *self, void *state, const dn_msg *msg) {
    waiter       *w = state;
    const int64_t late_ns = bench_now_ns() - w->deadline_ns;

    if (*DN_BODY(uint64_t, msg) != w->k)
        bench_wrong("timer %" PRIu64 " is not the one armed", w->k);
    if (late_ns < 0) bench_wrong("a timer fired %" PRId64 " ns before its deadline", -late_ns);
    w->book->rows[w->k] = late_ns;
    if (++w->k == w->n) return bench_tell_done(self, w->conductor, 0, w->k);
    waiter_arm(self, w);
    return DN_OK;
}

static void idle_hire(dn_self *self, bench_run *run) {
    timer_hire(self, run, &waiter_class, timer_book_of(run));
}

static void idle_report(const bench_run *run) {
    timer_book *book = run->data;

    bench_sort(book->rows, run->n);
    print_us(run, "late_p50_us", bench_rank(book->rows, run->n, 500));
    print_us(run, "late_p99_us", bench_rank(book->rows, run->n, 990));
}

#define TIMERS .threads_min = 1, .start = timer_start, .done = bench_done_by_one

const bench bench_timers[] = {
    {.name = "timers_arm", .hire = arm_hire, .report = arm_report, TIMERS},
    {.name = "timers_fire",
     .warms_up_itself = true,
     .hire = fire_hire,
     .report = fire_report,
     TIMERS},
    {.name = "timers_idle",
     .warms_up_itself = true,
     .hire = idle_hire,
     .report = idle_report,
     TIMERS},
    {.name = NULL},
};
