/* fanin.c - many producers, one consumer: what a flood costs, with and without a bound.
 * The unbounded benches bound the lane by n, which is the same thing. With two loops the producers
 * flood from the main one and the consumer sits on the other. */
#include <inttypes.h>

#include "common.h"

enum { MSG_ITEM = BENCH_KIND_OWN };
enum { PRODUCERS = 8, CONSUMER_AT = PRODUCERS };

typedef struct fanin_options {
    uint32_t mailbox_max; /* 0: room for all n */
    int64_t  spin_ns;     /* what the consumer burns on each message */
} fanin_options;

/* The run's data: the class is here because its bound is known only now. */
typedef struct fanin {
    dn_class consumer_cls;
    int64_t  rss_before_kb, growth_kb;
} fanin;

typedef struct item { /* six words */
    uint64_t producer, seq, words[4];
} item;

typedef struct producer_brief {
    dn_ref   consumer;
    uint64_t number, count;
    bool     bounded;
} producer_brief;

typedef struct producer {
    dn_ref   consumer;
    uint64_t number, count, seq;
    bool     bounded; /* a full lane is to be expected, and waited for */
} producer;

typedef struct consumer_config {
    dn_ref   conductor;
    uint64_t left;
    int64_t  spin_ns;
} consumer_config;

typedef struct consumer {
    dn_ref   conductor;
    uint64_t left, sum;
    int64_t  spin_ns;
} consumer;

static int producer_on_start(dn_self *self, void *state, const dn_msg *msg);
static int producer_on_brief(dn_self *self, void *state, const dn_msg *msg);
static int consumer_init(dn_self *self, void *state, const void *config);
static int consumer_on_item(dn_self *self, void *state, const dn_msg *msg);

static const dn_handler producer_handlers[] = {
    {DN_MSG_ROOM, producer_on_start}, /* runtime   -> go on where the bound stopped us */
    {BENCH_START, producer_on_start}, /* conductor -> as fast as it goes */
    {BENCH_BRIEF, producer_on_brief}, /* conductor -> where to and how many */
};
static const dn_handler consumer_handlers[] = {
    {MSG_ITEM, consumer_on_item}, /* producers -> add it up; after the last, done */
};
static const dn_class producer_class = {
    .name = "producer", .state_size = sizeof(producer), .handlers = DN_SLICE(producer_handlers)};
static const dn_class consumer_class = {
    .name = "consumer",
    .state_size = sizeof(consumer),
    .init = consumer_init,
    .handlers = DN_SLICE(consumer_handlers),
};

/* A full lane mutes the producer until there is room. Without a bound there is no full lane, and
 * the answer ends the producer, and so the bench. */
static int producer_on_start(dn_self *self, void *state, const dn_msg *msg) {
    producer *p = state;

    (void)msg;
    for (; p->seq < p->count; p->seq++) {
        const uint64_t s = p->seq;
        const item     body = {p->number, s, {s + 1, s + 2, s + 3, s + 4}};
        const int      rc = dn_send(self, p->consumer, MSG_ITEM, &body, sizeof body);
        if (rc == DN_EFULL && p->bounded) return dn_wait_room(self, p->consumer);
        if (rc != DN_OK) return rc;
    }
    return DN_OK;
}

static int producer_on_brief(dn_self *self, void *state, const dn_msg *msg) {
    producer             *p = state;
    const producer_brief *brief = DN_BODY(producer_brief, msg);

    *p = (producer){.consumer = brief->consumer,
                    .number = brief->number,
                    .count = brief->count,
                    .bounded = brief->bounded};
    return bench_answer_ready(self, msg);
}

static int consumer_init(dn_self *self, void *state, const void *config) {
    const consumer_config *given = config;
    consumer              *c = state;

    (void)self;
    *c = (consumer){.conductor = given->conductor, .left = given->left, .spin_ns = given->spin_ns};
    return DN_OK;
}

static int consumer_on_item(dn_self *self, void *state, const dn_msg *msg) {
    consumer   *c = state;
    const item *body = DN_BODY(item, msg);

    if (c->spin_ns > 0) {
        const int64_t until_ns = bench_now_ns() + c->spin_ns;
        while (bench_now_ns() < until_ns) {}
    }
    c->sum += body->producer + body->seq + body->words[0] + body->words[1] + body->words[2] +
              body->words[3];
    if (--c->left > 0) return DN_OK;
    return bench_tell_done(self, c->conductor, bench_now_ns(), c->sum);
}

/* ---- What the conductor does ---- */

static uint64_t fanin_each(const bench_run *run) { return run->n / PRODUCERS; }

static void fanin_hire(dn_self *self, bench_run *run) {
    const fanin_options  *options = run->bench->options;
    const bool            first = run->data == NULL;
    fanin                *f = bench_data(run, sizeof *f);
    const consumer_config config = {.conductor = dn_self_ref(self),
                                    .left = fanin_each(run) * PRODUCERS,
                                    .spin_ns = options->spin_ns};

    if (fanin_each(run) == 0) bench_wrong("n must be %d at least", PRODUCERS * BENCH_WARM_UP_SHARE);
    if (first) { /* a class is constant while it has actors, and the warm-up's may not be gone yet */
        f->consumer_cls = consumer_class;
        f->consumer_cls.mailbox_max =
            options->mailbox_max ? options->mailbox_max : (uint32_t)run->n_asked;
    }
    for (int i = 0; i < PRODUCERS; i++) bench_hire(self, run, &producer_class, NULL, 0, NULL);
    bench_hire(self, run, &f->consumer_cls, &config, sizeof config, BENCH_SECOND);
}

static size_t fanin_brief(dn_self *self, bench_run *run) {
    const fanin_options *options = run->bench->options;

    for (size_t i = 0; i < PRODUCERS; i++) {
        const producer_brief brief = {.consumer = run->crew[CONSUMER_AT],
                                      .number = i,
                                      .count = fanin_each(run),
                                      .bounded = options->mailbox_max > 0};
        bench_tell(self, run->crew[i], BENCH_BRIEF, &brief, sizeof brief);
    }
    return PRODUCERS;
}

static void fanin_start(dn_self *self, bench_run *run) {
    fanin *f = run->data;

    bench_reset_peak();
    f->rss_before_kb = bench_status_kb("VmRSS");
    run->began_ns = bench_now_ns();
    for (size_t i = 0; i < PRODUCERS; i++) bench_tell(self, run->crew[i], BENCH_START, NULL, 0);
}

static bool fanin_done(bench_run *run, const bench_done *done) {
    fanin         *f = run->data;
    const uint64_t each = fanin_each(run);
    const uint64_t numbers = PRODUCERS * (PRODUCERS - 1) / 2; /* 0 + 1 + ... */
    const uint64_t seqs = each * (each - 1) / 2;              /* likewise, of one producer */
    const uint64_t words = 1 + 2 + 3 + 4;                     /* how far they are past seq */
    const uint64_t sum = numbers * each + PRODUCERS * (5 * seqs + words * each);

    run->ended_ns = done->ns;
    f->growth_kb = bench_status_kb("VmHWM") - f->rss_before_kb;
    if (f->growth_kb < 0) f->growth_kb = 0;
    if (done->value != sum) {
        bench_wrong("the consumer's sum is %" PRIu64 ", not %" PRIu64, done->value, sum);
    }
    return true;
}

static void fanin_report(const bench_run *run) {
    const fanin *f = run->data;

    bench_print_rate(run, "msgs_per_s");
    bench_print(run, "growth_kb", (double)f->growth_kb, "kB");
}

#define FANIN                                                                                      \
    .threads_min = 1, .hire = fanin_hire, .brief = fanin_brief, .start = fanin_start,              \
    .done = fanin_done, .report = fanin_report

const bench bench_fanins[] = {
    {.name = "fanin", .options = &(const fanin_options){0}, FANIN},
    {.name = "fanin_slow", .options = &(const fanin_options){.spin_ns = 1000}, FANIN},
    {.name = "fanin_bounded", .options = &(const fanin_options){.mailbox_max = 1024}, FANIN},
    {.name = NULL},
};
