/* random_ops_test.c - a million random operations on the runtime, each beside a model: see ops.h. */
#include "test.h"

#define OPS_CHECK(cond, ...) CHECK_MSG(cond, __VA_ARGS__)
#include "ops.h"

#include <inttypes.h>

#if TEST_SLOW_FACTOR == 10 /* tsan, which has nothing to see here but takes its time */
enum { OPERATIONS = 100000 };
#else
enum { OPERATIONS = 1000000 };
#endif

/* Has everything there is a count of happened? */
static bool all_seen(void) {
    const uint64_t *counts = (const uint64_t *)(const void *)&o.counts;

    for (size_t i = 0; i < sizeof o.counts / sizeof *counts; i++)
        if (counts[i] == 0) return false;
    return true;
}

TEST(a_million_random_operations_keep_every_promise) {
    uint64_t random = test_seed();

    /* What one seed in a hundred does not show in so many, it shows in a few more. */
    while (o.counts.ops < OPERATIONS || (!all_seen() && o.counts.ops < 4 * OPERATIONS)) {
        o.source.random = test_random(&random);
        /* Short ones come to every end soon; long ones use everything again and again. */
        o.source.left = 200 + test_random(&random) % (test_random(&random) % 4 ? 2000 : 20000);
        ops_episode(test_random(&random));
    }
#define SEEN(count)                                                                                \
    do {                                                                                           \
        printf("%-16s %" PRIu64 "\n", #count, o.counts.count);                                     \
        CHECK_MSG(o.counts.count > 0, "never seen in %" PRIu64 " operations", o.counts.ops);       \
    } while (0)
    SEEN(ops);
    SEEN(episodes);
    SEEN(boots);
    SEEN(ended[0]);
    SEEN(ended[1]);
    SEEN(ended[2]);
    SEEN(sent);
    SEEN(full);
    SEEN(dead);
    SEEN(calls);
    SEEN(replies);
    SEEN(failed[0]);
    SEEN(failed[1]);
    SEEN(failed[2]);
    SEEN(downs);
    SEEN(fired);
    SEEN(cancelled);
    SEEN(released);
    SEEN(crashes);
    SEEN(process_crashes);
    SEEN(started);
    SEEN(rooms);
    SEEN(clocks);
    SEEN(reports);
    SEEN(kept);
    SEEN(forwarded);
    SEEN(refused);
    SEEN(settled);
#undef SEEN
}

/* ---- Flat memory ---- */

enum { CYCLES = 20000, WARM_UP = 2000, K_CYCLE = 1, K_ASK, K_TOLD };

typedef struct flat {
    dn_ref      peer;
    dn_watch_id watch;
    size_t      memory_before;
    uint64_t    cycles;
} flat;

static int ignore(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state, (void)msg;
    return DN_OK;
}

/* Each of the ways in which a request can end, in turn. */
static int peer_on_ask(dn_self *self, void *state, const dn_msg *msg) {
    uint64_t *n = state;
    char      big[200] = {0};

    switch ((*n)++ % 4) {
    case 0: dn_reply(self, msg, K_TOLD, big, 10); break;
    case 1: dn_reply(self, msg, K_TOLD, big, sizeof big); break;
    case 2: dn_msg_free(self, dn_msg_keep(self, msg)); break;
    default: break;
    }
    return DN_OK;
}

static int peer_init(dn_self *self, void *state, const void *config) {
    (void)state, (void)config;
    (void)dn_alloc(self, 5000);
    (void)dn_alloc(self, 100);
    return DN_OK;
}

static const dn_handler peer_handlers[] = {{K_ASK, peer_on_ask}, {DN_KIND_ANY, ignore}};
static const dn_class   peer_class = {
      .name = "peer",
      .state_size = 3000,
      .init = peer_init,
      .handlers = DN_SLICE(peer_handlers),
};

/* The steady world of one actor, in which others come and go. */
static int flat_on_cycle(dn_self *self, void *state, const dn_msg *msg) {
    flat         *f = state;
    unsigned char big[300] = {0};
    int           thing;
    dn_call_id    call;

    (void)msg;
    if (!dn_ref_is_nobody(f->peer)) {
        CHECK_INT(dn_kill(self, f->peer), DN_OK);
        if (f->cycles % 2) dn_demonitor(self, f->watch);
    }
    const dn_spawn_spec spec = {.actor_class = &peer_class,
                                .name = f->cycles % 3 ? "peer" : NULL,
                                .monitored = true,
                                .linked = true};
    /* The name may not be free yet: the one before ends after this. */
    if (dn_spawn(self, &spec, &f->peer) == DN_OK) {
        f->watch = dn_monitor(self, f->peer, 0);
        for (int i = 0; i < 5; i++)
            CHECK_INT(dn_call(self, f->peer, K_ASK, big, i % 2 ? 8 : sizeof big, 5, &call), DN_OK);
        dn_call_cancel(self, call);
        CHECK_INT(dn_send(self, f->peer, K_TOLD, big, sizeof big), DN_OK);
        CHECK_INT(dn_wait_room(self, f->peer), DN_OK);
    } else {
        f->peer = DN_NOBODY;
    }
    (void)dn_timer_cancel(self, dn_timer_after(self, 1000, K_TOLD, 0));
    (void)dn_timer_cancel(self, dn_timer_at_wall(self, dn_now_ms(self) + 1000, K_TOLD, 0));
    dn_timer_at_wall(self, dn_now_ms(self) + 2, K_TOLD, 0);
    dn_msg_free(self, dn_msg_new(self, K_TOLD, 100));
    dn_own(self, &thing, (void (*)(void *))abort);
    CHECK(dn_disown(self, &thing));
    dn_timer_after(self, 3, K_CYCLE, 0);
    if (++f->cycles % WARM_UP == 0) dn_inspect(self, NULL, 0);
    return f->cycles == CYCLES ? DN_STOP : DN_OK;
}

static int flat_on_report(dn_self *self, void *state, const dn_msg *msg) {
    const dn_report *r = dn_msg_body_borrow(msg);
    flat            *f = state;

    (void)self;
    if (f->memory_before == 0) f->memory_before = r->memory_bytes;
    /* What a peer has of its own comes and goes with it; a pool that leaks would be far beyond. */
    CHECK(r->memory_bytes <= f->memory_before + 16384);
    CHECK(r->actors < 5);
    return DN_OK;
}

static const dn_handler flat_handlers[] = {
    {K_CYCLE, flat_on_cycle}, {DN_MSG_REPORT, flat_on_report}, {DN_KIND_ANY, ignore}};
static const dn_class flat_class = {
    .name = "flat", .state_size = sizeof(flat), .handlers = DN_SLICE(flat_handlers)};

TEST(memory_is_flat_while_actors_come_and_go) {
    const dn_sim_config config = {.seed = test_seed()};
    const dn_spawn_spec root = {.actor_class = &flat_class, .name = "flat"};
    dn_sim             *sim;

    CHECK_INT(dn_sim_new(&config, &sim), DN_OK);
    CHECK_INT(dn_sim_boot(sim, &root), DN_OK);
    dn_runtime *rt = dn_sim_runtime(sim);
    CHECK_INT(dn_post(rt, dn_runtime_name(rt, "flat"), K_CYCLE, NULL, 0), DN_OK);
    CHECK_INT(dn_sim_run(sim, INT64_MAX), DN_SIM_ENDED);
    CHECK_INT(dn_sim_root_reason(sim), DN_OK);
    dn_sim_free(sim);
}
