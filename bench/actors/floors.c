/* floors.c - what this machine gives the smallest thing that could be called an actor.
 * The loop here has a queue of messages for each actor, a queue of actors with mail and a list of free
 * messages, and that is all: no addresses that go stale, no bounds, no counters, no containment, no one to
 * watch. Nothing that has those can be faster; how near it comes is what the figures are for. */
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common.h"

enum { NS_PER_S = 1000000000 };

/* How much of each. A floor needs no warm-up of its own: these are large against one. */
enum {
    PINGPONG_TRIPS = 5000000,
    RING_LEN = 1000,
    RING_HOPS = 10000000,
    FANIN_MSGS = 4000000,
    FANIN_MAILBOX = 1024,
    CALLS = 1000000,
    SPAWNS = 2000000,
    RESTARTS = 200000,
    TIMERS = 1000000,
    QUEUE_DEPTH = 64,
    QUEUE_ROUNDS = 200000,
    CROSS_MSGS = 2000000,
    WAKES = 5000,
    BATCHES = 5,
    BATCH_LEN = 1000000,
};

static void floor_print(const char *metric, double value, const char *unit) {
    bench_print_line("floor", "floor", 0, 0, metric, value, unit);
}

static double per_second(uint64_t count, int64_t began_ns) {
    return (double)count / (double)(bench_now_ns() - began_ns) * NS_PER_S;
}

static double ns_each(uint64_t count, int64_t began_ns) {
    return (double)(bench_now_ns() - began_ns) / (double)count;
}

static void *floor_memory(size_t size) {
    void *memory = malloc(size);

    if (!memory) bench_wrong("no memory for a floor of %zu bytes", size);
    memset(memory, 0xff, size); /* pages are touched here, not inside what is timed */
    return memory;
}

/* ---- The smallest actor loop ---- */

typedef struct note note;
typedef struct doer doer;
typedef void        doer_fn(doer *me, note *in);

struct note { /* 64 bytes, as many as a message of ours has inline */
    note    *next;
    doer    *from;
    uint64_t words[6];
};

struct doer {
    note    *first, **last;
    doer    *next_due;
    bool     due;
    doer_fn *handle;
    doer    *peer;
    uint64_t value;
};

static struct {
    doer   *first, **last; /* with mail */
    note   *spare;
    doer   *running;
    jmp_buf jump; /* where a failing doer goes */
} loop;

static note *note_take(void) {
    note *n = loop.spare;

    if (!n) return floor_memory(sizeof *n);
    loop.spare = n->next;
    return n;
}

static void note_give(note *n) {
    n->next = loop.spare;
    loop.spare = n;
}

static void doer_due(doer *d) {
    d->due = true;
    d->next_due = NULL;
    *loop.last = d;
    loop.last = &d->next_due;
}

static void doer_init(doer *d, doer_fn *handle, doer *peer) {
    *d = (doer){.handle = handle, .peer = peer};
    d->last = &d->first;
}

static void note_send(doer *to, note *n) {
    n->next = NULL;
    *to->last = n;
    to->last = &n->next;
    if (!to->due) doer_due(to);
}

static void word_send(doer *from, doer *to, uint64_t word) {
    note *n = note_take();

    n->from = from;
    n->words[0] = word;
    note_send(to, n);
}

/* Until nobody has mail. A doer handles what it had at the begin of its turn, and a bit. */
__attribute__((noinline)) static void loop_run(void) {
    enum { TURN_MAX = 64 };

    while (loop.first) {
        doer *d = loop.first;
        loop.first = d->next_due;
        if (!loop.first) loop.last = &loop.first;
        d->due = false;
        loop.running = d;
        for (int i = 0; d->first && i < TURN_MAX; i++) {
            note *n = d->first;
            d->first = n->next;
            if (!d->first) d->last = &d->first;
            d->handle(d, n);
            note_give(n);
        }
        if (d->first && !d->due) doer_due(d);
    }
}

static void loop_reset(void) {
    loop.first = NULL;
    loop.last = &loop.first;
}

/* ---- Messages ---- */

static uint64_t trips_left;

static void on_pong(doer *me, note *in) {
    if (in->words[0] != trips_left) bench_wrong("the floor's ping-pong is out of order");
    if (--trips_left > 0) word_send(me, me->peer, trips_left);
}

static void on_ping(doer *me, note *in) { word_send(me, in->from, in->words[0]); }

static void floor_pingpong(void) {
    doer    ping, pong;
    int64_t began_ns;

    doer_init(&pong, on_ping, NULL);
    doer_init(&ping, on_pong, &pong);
    trips_left = PINGPONG_TRIPS;
    began_ns = bench_now_ns();
    word_send(&ping, &pong, trips_left);
    loop_run();
    floor_print("pingpong_rt_per_s", per_second(PINGPONG_TRIPS, began_ns), "1/s");
}

static uint64_t tokens_home;

static void on_token(doer *me, note *in) {
    if (in->words[0] == 0) tokens_home++;
    else word_send(me, me->peer, in->words[0] - 1);
}

static void floor_ring(const char *metric, uint64_t tokens) {
    doer   *ring = floor_memory(RING_LEN * sizeof *ring);
    int64_t began_ns;

    for (size_t i = 0; i < RING_LEN; i++) doer_init(&ring[i], on_token, &ring[(i + 1) % RING_LEN]);
    tokens_home = 0;
    began_ns = bench_now_ns();
    for (size_t i = 0; i < tokens; i++) {
        word_send(NULL, &ring[i * RING_LEN / tokens], RING_HOPS / tokens);
    }
    loop_run();
    if (tokens_home != tokens) bench_wrong("the floor's ring lost a token");
    floor_print(metric, per_second(RING_HOPS, began_ns), "1/s");
    free(ring);
}

static void on_item(doer *me, note *in) {
    me->value +=
        in->words[0] + in->words[1] + in->words[2] + in->words[3] + in->words[4] + in->words[5];
}

/* Fills the mailbox up to bound and lets the consumer empty it, until all are through. */
static void floor_fanin(const char *metric, uint64_t bound) {
    doer     consumer;
    uint64_t sum = 0;
    int64_t  began_ns;

    doer_init(&consumer, on_item, NULL);
    began_ns = bench_now_ns();
    for (uint64_t i = 0; i < FANIN_MSGS; i++) {
        note *n = note_take();
        n->from = NULL;
        for (size_t k = 0; k < 6; k++) n->words[k] = i + k;
        note_send(&consumer, n);
        sum += 6 * i + 15;
        if ((i + 1) % bound == 0) loop_run();
    }
    loop_run();
    if (consumer.value != sum) bench_wrong("the floor's fan-in has a wrong sum");
    floor_print(metric, per_second(FANIN_MSGS, began_ns), "1/s");
}

/* As a doer of 128 bytes with a first message, which is also its last. */
static void floor_spawn(void) {
    enum { DOER_SIZE = 128 };
    const int64_t began_ns = bench_now_ns();

    for (uint64_t i = 0; i < SPAWNS; i++) {
        doer *d = malloc(DOER_SIZE);
        if (!d) bench_wrong("no memory for a doer");
        doer_init(d, on_item, NULL);
        word_send(NULL, d, i);
        loop_run();
        free(d);
        loop_reset(); /* nothing refers to it any more */
    }
    floor_print("spawn_ns", ns_each(SPAWNS, began_ns), "ns");
}

/* ---- Timers: a wheel of two rings of slots, a millisecond and 2^14 of them long ---- */

enum { WHEEL_BITS = 14, WHEEL_SLOTS = 1 << WHEEL_BITS };

typedef struct alarm_entry alarm_entry;
struct alarm_entry {
    alarm_entry *next, *prev;
    uint64_t     due_ms;
};

typedef struct floor_wheel {
    uint64_t    now_ms;
    alarm_entry fine[WHEEL_SLOTS], coarse[WHEEL_SLOTS]; /* heads of circular lists */
} floor_wheel;

static floor_wheel *wheel_of_floor(void) {
    floor_wheel *w = floor_memory(sizeof *w);

    w->now_ms = 0;
    for (size_t i = 0; i < WHEEL_SLOTS; i++) {
        w->fine[i].next = w->fine[i].prev = &w->fine[i];
        w->coarse[i].next = w->coarse[i].prev = &w->coarse[i];
    }
    return w;
}

static void alarm_arm(floor_wheel *w, alarm_entry *e) {
    alarm_entry *head = e->due_ms >> WHEEL_BITS == w->now_ms >> WHEEL_BITS
                            ? &w->fine[e->due_ms % WHEEL_SLOTS]
                            : &w->coarse[(e->due_ms >> WHEEL_BITS) % WHEEL_SLOTS];

    e->next = head;
    e->prev = head->prev;
    head->prev->next = e;
    head->prev = e;
}

static void alarm_cancel(alarm_entry *e) {
    e->next->prev = e->prev;
    e->prev->next = e->next;
}

/* Goes on to an instant and counts what was due on the way. */
static uint64_t wheel_turn(floor_wheel *w, uint64_t to_ms) {
    uint64_t fired = 0;

    while (w->now_ms < to_ms) {
        alarm_entry *head;
        w->now_ms++;
        if (w->now_ms % WHEEL_SLOTS == 0) {
            head = &w->coarse[(w->now_ms >> WHEEL_BITS) % WHEEL_SLOTS];
            while (head->next != head) {
                alarm_entry *e = head->next;
                alarm_cancel(e);
                alarm_arm(w, e);
            }
        }
        head = &w->fine[w->now_ms % WHEEL_SLOTS];
        while (head->next != head) {
            fired += head->next->due_ms == w->now_ms;
            alarm_cancel(head->next);
        }
    }
    return fired;
}

static void floor_timers(void) {
    enum { FIRE_FROM_MS = 3000, FIRE_SPAN_MS = 5000, ARM_FROM_MS = 3600000, ARM_A_MS = 100 };
    floor_wheel *w = wheel_of_floor();
    alarm_entry *all = floor_memory(TIMERS * sizeof *all);
    uint64_t     x = 42, fired;
    int64_t      began_ns = bench_now_ns();

    for (uint64_t i = 0; i < TIMERS; i++) {
        all[i].due_ms = ARM_FROM_MS + i / ARM_A_MS;
        alarm_arm(w, &all[i]);
    }
    floor_print("timer_arm_ns", ns_each(TIMERS, began_ns), "ns");
    began_ns = bench_now_ns();
    for (uint64_t i = 0; i < TIMERS; i++) alarm_cancel(&all[i]);
    floor_print("timer_cancel_ns", ns_each(TIMERS, began_ns), "ns");

    began_ns = bench_now_ns();
    for (uint64_t i = 0; i < TIMERS; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        all[i].due_ms = FIRE_FROM_MS + ((x >> 32) * FIRE_SPAN_MS >> 32);
        alarm_arm(w, &all[i]);
    }
    fired = wheel_turn(w, FIRE_FROM_MS + FIRE_SPAN_MS);
    if (fired != TIMERS) bench_wrong("the floor's wheel fired the wrong timers");
    floor_print("timer_arm_fire_ns", ns_each(TIMERS, began_ns), "ns");
    free(all);
    free(w);
}

/* ---- Calls: a request, its reply, and the deadline armed and cancelled ---- */

static struct {
    floor_wheel *wheel;
    alarm_entry  deadline;
    int64_t     *samples, called_ns;
    uint64_t     k;
} caller;

static void caller_ask(doer *me) {
    enum { TIMEOUT_MS = 5000 };

    caller.called_ns = bench_now_ns();
    caller.deadline.due_ms = caller.wheel->now_ms + TIMEOUT_MS;
    alarm_arm(caller.wheel, &caller.deadline);
    word_send(me, me->peer, caller.k);
}

static void on_reply(doer *me, note *in) {
    if (in->words[0] != caller.k) bench_wrong("the floor's call got another's answer");
    alarm_cancel(&caller.deadline);
    caller.samples[caller.k] = bench_now_ns() - caller.called_ns;
    if (++caller.k < CALLS) caller_ask(me);
}

static void floor_call(void) {
    doer    client, server;
    int64_t began_ns;

    caller.wheel = wheel_of_floor();
    caller.samples = floor_memory(CALLS * sizeof *caller.samples);
    caller.k = 0;
    doer_init(&server, on_ping, NULL);
    doer_init(&client, on_reply, &server);
    began_ns = bench_now_ns();
    caller_ask(&client);
    loop_run();
    floor_print("call_calls_per_s", per_second(CALLS, began_ns), "1/s");
    bench_sort(caller.samples, CALLS);
    floor_print("call_p50_ns", (double)bench_rank(caller.samples, CALLS, 500), "ns");
    floor_print("call_p99_ns", (double)bench_rank(caller.samples, CALLS, 990), "ns");
    free(caller.samples);
    free(caller.wheel);
}

/* ---- Crashes ---- */

/* The loop counter is volatile so that it survives the jump; it costs a load and a store. */
static double setjmp_batch_ns(void) {
    static jmp_buf   point;
    const int64_t    began_ns = bench_now_ns();
    volatile int32_t left = BATCH_LEN;

    while (left-- > 0) {
        if (_setjmp(point)) bench_wrong("nobody jumps here");
    }
    return ns_each(BATCH_LEN, began_ns);
}

static double longjmp_batch_ns(void) {
    static jmp_buf   point;
    const int64_t    began_ns = bench_now_ns();
    volatile int32_t left = BATCH_LEN;

    (void)_setjmp(point);
    if (left-- > 0) _longjmp(point, 1);
    return ns_each(BATCH_LEN, began_ns);
}

/* In tenths of a nanosecond through the integer sort: finer than any clock here. */
static double median_of_batches(double (*batch)(void)) {
    enum { PARTS = 1000 };
    int64_t samples[BATCHES];

    for (size_t i = 0; i < BATCHES; i++) samples[i] = (int64_t)(batch() * PARTS);
    bench_sort(samples, BATCHES);
    return (double)bench_rank(samples, BATCHES, 500) / PARTS;
}

double bench_setjmp_ns(void) { return median_of_batches(setjmp_batch_ns); }

static struct {
    doer     supervisor;
    doer    *child;
    note    *crashed_on;
    int64_t  crashed_ns, *samples;
    uint64_t crashes;
} ward;

enum { WORD_HELLO, WORD_CRASH };

static void on_child_word(doer *me, note *in) {
    if (in->words[0] == WORD_HELLO) {
        if (ward.crashes > 0) {
            ward.samples[ward.crashes - 1] = bench_now_ns() - ward.crashed_ns;
        }
        if (ward.crashes < RESTARTS) word_send(me, me, WORD_CRASH);
        return;
    }
    ward.crashes++;
    ward.crashed_on = in;
    ward.crashed_ns = bench_now_ns();
    _longjmp(loop.jump, 1);
}

/* A child has ended: its memory goes, another one comes and says hello to itself. */
static void on_child_end(doer *me, note *in) {
    (void)me;
    free(in->from);
    ward.child = malloc(sizeof *ward.child);
    if (!ward.child) bench_wrong("no memory for a doer");
    doer_init(ward.child, on_child_word, NULL);
    word_send(ward.child, ward.child, WORD_HELLO);
}

/* The child that crashes has nothing left in its mailbox but the note it crashed on. */
static void floor_restart(void) {
    ward.samples = floor_memory(RESTARTS * sizeof *ward.samples);
    ward.crashes = 0;
    doer_init(&ward.supervisor, on_child_end, NULL);
    word_send(NULL, &ward.supervisor, 0);
    if (_setjmp(loop.jump)) {
        note_give(ward.crashed_on);
        word_send(loop.running, &ward.supervisor, 0);
    }
    loop_run();
    if (ward.crashes != RESTARTS) bench_wrong("the floor's supervisor missed a crash");
    bench_sort(ward.samples, RESTARTS);
    floor_print("restart_p50_ns", (double)bench_rank(ward.samples, RESTARTS, 500), "ns");
    floor_print("restart_p99_ns", (double)bench_rank(ward.samples, RESTARTS, 990), "ns");
    free(ward.child);
    free(ward.samples);
}

/* ---- Primitives ---- */

static void floor_queue(void) {
    static note notes[QUEUE_DEPTH];
    note       *first = NULL, **last = &first;
    uint64_t    sum = 0;
    int64_t     began_ns = bench_now_ns();

    for (uint64_t round = 0; round < QUEUE_ROUNDS; round++) {
        for (size_t i = 0; i < QUEUE_DEPTH; i++) {
            notes[i].words[0] = i;
            notes[i].next = NULL;
            *last = &notes[i];
            last = &notes[i].next;
        }
        while (first) {
            note *n = first;
            first = n->next;
            sum += n->words[0];
            __asm__ volatile("" ::: "memory"); /* one at a time, as an actor would have them */
        }
        last = &first;
    }
    if (sum != (uint64_t)QUEUE_ROUNDS * QUEUE_DEPTH * (QUEUE_DEPTH - 1) / 2) {
        bench_wrong("the floor's queue lost a message");
    }
    floor_print("queue_push_pop_ns", ns_each((uint64_t)QUEUE_ROUNDS * QUEUE_DEPTH, began_ns), "ns");
}

static void floor_clock(void) {
    const int64_t began_ns = bench_now_ns();

    for (uint64_t i = 0; i < BATCH_LEN; i++) {
        if (bench_now_ns() < began_ns) bench_wrong("the steady clock went back");
    }
    floor_print("clock_ns", ns_each(BATCH_LEN, began_ns), "ns");
}

/* ---- Across two threads ---- */

typedef struct crossing {
    _Atomic(note *)  inbox; /* pushed by release, taken whole by acquire */
    _Atomic(int32_t) begin;
    note            *notes;
    int              to, fro; /* eventfds, for waking */
} crossing;

static void *crossing_push(void *arg) {
    crossing *c = arg;

    while (!atomic_load(&c->begin)) __builtin_ia32_pause();
    for (uint64_t i = 0; i < CROSS_MSGS; i++) {
        note *n = &c->notes[i];
        note *top = atomic_load_explicit(&c->inbox, memory_order_relaxed);
        for (size_t k = 0; k < 6; k++) n->words[k] = i + k;
        do n->next = top;
        while (!atomic_compare_exchange_weak_explicit(&c->inbox, &top, n, memory_order_release,
                                                      memory_order_relaxed));
    }
    return NULL;
}

/* One producer, one consumer that takes the whole stack at once, both always awake. */
static void floor_cross(void) {
    crossing  c = {.notes = floor_memory((size_t)CROSS_MSGS * sizeof(note))};
    pthread_t producer;
    uint64_t  got = 0, sum = 0;
    int64_t   began_ns;

    if (pthread_create(&producer, NULL, crossing_push, &c) != 0) bench_wrong("no thread");
    began_ns = bench_now_ns();
    atomic_store(&c.begin, 1);
    while (got < CROSS_MSGS) {
        const note *n = atomic_exchange_explicit(&c.inbox, NULL, memory_order_acquire);
        if (!n) __builtin_ia32_pause();
        for (; n; n = n->next, got++) sum += n->words[0];
    }
    floor_print("fanin_cross_msgs_per_s", per_second(CROSS_MSGS, began_ns), "1/s");
    pthread_join(producer, NULL);
    if (sum != (uint64_t)CROSS_MSGS * (CROSS_MSGS - 1) / 2) {
        bench_wrong("the floor's inbox lost a message");
    }
    free(c.notes);
}

static void event_wait(int fd) {
    uint64_t count;

    if (read(fd, &count, sizeof count) != sizeof count) bench_wrong("an eventfd cannot be read");
}

static void event_give(int fd) {
    const uint64_t one = 1;

    if (write(fd, &one, sizeof one) != sizeof one) bench_wrong("an eventfd cannot be written");
}

static void *crossing_echo(void *arg) {
    const crossing *c = arg;

    for (int i = 0; i < WAKES; i++) {
        event_wait(c->to);
        event_give(c->fro);
    }
    return NULL;
}

/* A round trip between two threads that both sleep until they are woken. */
static void floor_wake(void) {
    crossing  c = {.to = eventfd(0, EFD_CLOEXEC), .fro = eventfd(0, EFD_CLOEXEC)};
    pthread_t echo;
    int64_t   began_ns;

    if (c.to < 0 || c.fro < 0) bench_wrong("no eventfd");
    if (pthread_create(&echo, NULL, crossing_echo, &c) != 0) bench_wrong("no thread");
    began_ns = bench_now_ns();
    for (int i = 0; i < WAKES; i++) {
        event_give(c.to);
        event_wait(c.fro);
    }
    floor_print("wake_rt_per_s", per_second(WAKES, began_ns), "1/s");
    pthread_join(echo, NULL);
    close(c.to);
    close(c.fro);
}

void bench_floors(void) {
    loop_reset();
    floor_print("setjmp_ns", bench_setjmp_ns(), "ns");
    floor_print("longjmp_ns", median_of_batches(longjmp_batch_ns), "ns");
    floor_clock();
    floor_queue();
    floor_pingpong();
    floor_ring("ring1_hops_per_s", 1);
    floor_ring("ring100_hops_per_s", 100);
    floor_fanin("fanin_bounded_msgs_per_s", FANIN_MAILBOX);
    floor_fanin("fanin_msgs_per_s", FANIN_MSGS);
    floor_cross();
    floor_wake();
    floor_call();
    floor_spawn();
    floor_restart();
    floor_timers();
}
