/* messages.c - ping-pong and rings: what one message costs when the next waits for it.
 * With two loops the two players sit on different ones, and each half of a ring on its own. */
#include "common.h"

enum { MSG_PING = BENCH_KIND_OWN, MSG_PONG, MSG_TOKEN };

/* ---- Ping-pong ---- */

/* Two words, either way. */
typedef struct exchange {
    dn_ref   sender;
    uint64_t k;
} exchange;

typedef struct ping_brief {
    dn_ref   peer;
    uint64_t n;
} ping_brief;

typedef struct ping {
    dn_ref   peer, conductor;
    uint64_t n, k;
    int64_t  began_ns;
} ping;

static int ping_on_pong(dn_self *self, void *state, const dn_msg *msg);
static int ping_on_brief(dn_self *self, void *state, const dn_msg *msg);
static int ping_on_start(dn_self *self, void *state, const dn_msg *msg);
static int pong_on_ping(dn_self *self, void *state, const dn_msg *msg);

static const dn_handler ping_handlers[] = {
    {MSG_PONG, ping_on_pong},     /* pong      -> check k, send the next */
    {BENCH_BRIEF, ping_on_brief}, /* conductor -> who the peer is */
    {BENCH_START, ping_on_start}, /* conductor -> the first ping */
};
static const dn_handler pong_handlers[] = {
    {MSG_PING, pong_on_ping}, /* ping -> the same k back to whoever the message names */
};
static const dn_class ping_class = {
    .name = "ping", .state_size = sizeof(ping), .handlers = DN_SLICE(ping_handlers)};
static const dn_class pong_class = {.name = "pong", .handlers = DN_SLICE(pong_handlers)};

static int ping_serve(dn_self *self, const ping *p) {
    const exchange body = {dn_self_ref(self), p->k};

    return dn_send(self, p->peer, MSG_PING, &body, sizeof body);
}

static int ping_on_pong(dn_self *self, void *state, const dn_msg *msg) {
    ping           *p = state;
    const exchange *pong = DN_BODY(exchange, msg);

    if (pong->k != p->k) {
        bench_wrong("pong %llu after ping %llu", (unsigned long long)pong->k,
                    (unsigned long long)p->k);
    }
    if (++p->k < p->n) return ping_serve(self, p);
    return bench_tell_done(self, p->conductor, bench_now_ns() - p->began_ns, p->k);
}

static int ping_on_brief(dn_self *self, void *state, const dn_msg *msg) {
    ping             *p = state;
    const ping_brief *brief = DN_BODY(ping_brief, msg);

    p->peer = brief->peer;
    p->n = brief->n;
    return bench_answer_ready(self, msg);
}

static int ping_on_start(dn_self *self, void *state, const dn_msg *msg) {
    ping *p = state;

    p->conductor = dn_msg_from(msg);
    p->began_ns = bench_now_ns();
    return ping_serve(self, p);
}

static int pong_on_ping(dn_self *self, void *state, const dn_msg *msg) {
    const exchange *hit = DN_BODY(exchange, msg);
    const exchange  body = {dn_self_ref(self), hit->k};

    (void)state;
    return dn_send(self, hit->sender, MSG_PONG, &body, sizeof body);
}

enum { PINGPONG_PING, PINGPONG_PONG };

static void pingpong_hire(dn_self *self, bench_run *run) {
    bench_hire(self, run, &ping_class, NULL, 0, NULL);
    bench_hire(self, run, &pong_class, NULL, 0, BENCH_SECOND);
}

static size_t pingpong_brief(dn_self *self, bench_run *run) {
    const ping_brief brief = {run->crew[PINGPONG_PONG], run->n};

    bench_tell(self, run->crew[PINGPONG_PING], BENCH_BRIEF, &brief, sizeof brief);
    return 1;
}

static void pingpong_start(dn_self *self, bench_run *run) {
    bench_tell(self, run->crew[PINGPONG_PING], BENCH_START, NULL, 0);
}

/* What containment costs while nothing crashes: the jump points that the loop set, times what one
 * costs in this very process, as a share of the time the round trips took. */
static void pingpong_report(const bench_run *run) {
    bench_print_rate(run, "rt_per_s");
    if (!run->bench->counts_crash_points || run->threads > 1) return;
    bench_print(run, "crash_points_per_rt", (double)run->crash_points / (double)run->n, "1");
    bench_print(run, "containment_share",
                (double)run->crash_points * bench_setjmp_ns() /
                    (double)(run->ended_ns - run->began_ns) * 100,
                "%");
}

/* ---- Rings ---- */

enum { RING_LEN = BENCH_CREW_MAX };

typedef struct ring_options {
    uint64_t tokens;
} ring_options;

typedef struct ring_brief {
    dn_ref   next;
    uint64_t seat;
} ring_brief;

typedef struct member {
    dn_ref   next, conductor;
    uint64_t seat;
} member;

static int member_on_token(dn_self *self, void *state, const dn_msg *msg);
static int member_on_brief(dn_self *self, void *state, const dn_msg *msg);

static const dn_handler member_handlers[] = {
    {MSG_TOKEN, member_on_token},   /* the member before -> one less to the next; at 0, done */
    {BENCH_BRIEF, member_on_brief}, /* conductor         -> who comes next */
};
static const dn_class member_class = {
    .name = "member", .state_size = sizeof(member), .handlers = DN_SLICE(member_handlers)};

static int member_on_token(dn_self *self, void *state, const dn_msg *msg) {
    const member  *m = state;
    const uint64_t hops = *DN_BODY(uint64_t, msg);
    const uint64_t less = hops - 1;

    if (hops == 0) return bench_tell_done(self, m->conductor, 0, m->seat);
    return dn_send(self, m->next, MSG_TOKEN, &less, sizeof less);
}

static int member_on_brief(dn_self *self, void *state, const dn_msg *msg) {
    member           *m = state;
    const ring_brief *brief = DN_BODY(ring_brief, msg);

    *m = (member){brief->next, dn_msg_from(msg), brief->seat};
    return bench_answer_ready(self, msg);
}

static uint64_t ring_tokens(const bench_run *run) {
    const ring_options *options = run->bench->options;

    return options->tokens;
}

static size_t ring_seat_of_token(const bench_run *run, uint64_t token) {
    return (size_t)(token * RING_LEN / ring_tokens(run));
}

static void ring_hire(dn_self *self, bench_run *run) {
    for (size_t i = 0; i < RING_LEN; i++) {
        bench_hire(self, run, &member_class, NULL, 0, i < RING_LEN / 2 ? NULL : BENCH_SECOND);
    }
}

static size_t ring_brief_all(dn_self *self, bench_run *run) {
    for (size_t i = 0; i < RING_LEN; i++) {
        const ring_brief brief = {run->crew[(i + 1) % RING_LEN], i};
        bench_tell(self, run->crew[i], BENCH_BRIEF, &brief, sizeof brief);
    }
    return RING_LEN;
}

static void ring_start(dn_self *self, bench_run *run) {
    const uint64_t hops = run->n / ring_tokens(run);

    run->began_ns = bench_now_ns();
    for (uint64_t i = 0; i < ring_tokens(run); i++) {
        bench_tell(self, run->crew[ring_seat_of_token(run, i)], MSG_TOKEN, &hops, sizeof hops);
    }
}

/* Every token must have run out exactly where its count of hops takes it. */
static bool ring_done(bench_run *run, const bench_done *done) {
    uint64_t seats = 0;

    (void)done;
    if (run->done < ring_tokens(run)) return false;
    run->ended_ns = bench_now_ns();
    for (uint64_t i = 0; i < ring_tokens(run); i++) {
        seats += (ring_seat_of_token(run, i) + run->n / ring_tokens(run)) % RING_LEN;
    }
    if (run->done_sum != seats) bench_wrong("the tokens of a ring ended at the wrong members");
    return true;
}

static void ring_report(const bench_run *run) { bench_print_rate(run, "hops_per_s"); }

/* ---- The table ---- */

#define PINGPONG                                                                                   \
    .hire = pingpong_hire, .brief = pingpong_brief, .start = pingpong_start,                       \
    .done = bench_done_by_one, .report = pingpong_report
#define RING                                                                                       \
    .hire = ring_hire, .brief = ring_brief_all, .start = ring_start, .done = ring_done,            \
    .report = ring_report

const bench bench_messages[] = {
    {.name = "pingpong", .threads_min = 1, .counts_crash_points = true, PINGPONG},
    {.name = "pingpong_cross", .threads_min = 2, PINGPONG},
    {.name = "ring1", .threads_min = 1, .options = &(const ring_options){.tokens = 1}, RING},
    {.name = "ring100", .threads_min = 1, .options = &(const ring_options){.tokens = 100}, RING},
    {.name = NULL},
};
