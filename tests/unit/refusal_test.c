/* refusal_test.c - the n-th request for memory is refused, for n from one until nothing is: the process
 * lives, who asked fails alone, and nothing is leaked (asan looks at the end). */
#include "mem.h"
#include "test.h"

#include "diurnal/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The refusals ---- */

typedef struct refusal {
    long asked, nth;
    bool from_then_on; /* not only the n-th */
    long refused;
} refusal;

static refusal r;

static bool refuse_nth(void *context) {
    refusal *of = context;

    of->asked++;
    if (of->from_then_on ? of->asked < of->nth : of->asked != of->nth) return false;
    of->refused++;
    return true;
}

static void refuse_from_now(void) { mem_refuse(refuse_nth, &r); }
static void refuse_no_more(void) { mem_refuse(NULL, NULL); }

/* ---- The scenario: a worker does everything that takes memory; others look on ---- */

enum { GO = 1, MORE, WORD, ASK, ANSWER, TICK, MANY = 700, LARGE = 300 };

static int work_done, down_reason, reports, bystander_heard;
static int crashed, actors_left;

static int on_word(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    /* The others of this class live on another thread, or do not matter. */
    if (dn_msg_kind(msg) == WORD && strcmp(dn_self_name(self), "bystander") == 0) bystander_heard++;
    if (dn_msg_kind(msg) == ASK)
        dn_reply(self, msg, ANSWER, dn_msg_body_borrow(msg), dn_msg_size(msg));
    return DN_OK;
}
static const dn_handler bystander_rows[] = {{DN_KIND_ANY, on_word}};
static const dn_class   bystander = {
      .name = "bystander", .handlers = DN_SLICE(bystander_rows), .mailbox_max = 4 * MANY};

static void count_down(void *thing) { --*(int *)thing; }

static int owned_now;

static int child_init(dn_self *self, void *state, const void *config) {
    (void)config;
    memset(state, 1, 3000); /* larger than any class of states */
    owned_now++;
    dn_own(self, &owned_now, count_down);
    (void)dn_alloc(self, 100);
    (void)dn_monitor(self, dn_name(self, "bystander"), 1);
    return DN_OK;
}
static const dn_class child = {
    .name = "child", .state_size = 3000, .init = child_init, .handlers = DN_SLICE(bystander_rows)};

static const dn_class small_child = {
    .name = "small", .state_size = 200, .handlers = DN_SLICE(bystander_rows)};

static const dn_ref *far_ref(dn_self *self) {
    static dn_ref far;

    far = dn_name(self, "far");
    return &far;
}

static int worker_on_go(dn_self *self, void *state, const dn_msg *msg) {
    char       large[LARGE] = "";
    char       name[32];
    dn_call_id id;

    (void)state, (void)msg;
    refuse_from_now();
    const dn_ref to = dn_name(self, "bystander");
    for (int i = 0; i < MANY; i++) {
        int rc = dn_send(self, to, WORD, large, i % 10 ? 8 : LARGE);
        dn_require(rc == DN_OK);
        (void)dn_timer_after(self, i, TICK, 0);
        if (i % 4) continue;
        (void)dn_timer_at_wall(self, i, TICK, 0);
        (void)dn_monitor(self, to, 0);
        owned_now++;
        dn_own(self, &owned_now, count_down);
        (void)dn_alloc(self, 500);
        snprintf(name, sizeof name, "a name of some length %d", i);
        (void)dn_name(self, name);
    }
    (void)dn_alloc(self, 10000);
    for (int i = 0; i < 200; i++) {
        const dn_spawn_spec spec = {
            .actor_class = i % 2 ? &child : &small_child, .linked = true, .monitored = true};
        const int rc = dn_spawn(self, &spec, NULL);
        if (rc != DN_OK) dn_fail_code(rc, "no child");
    }
    for (int i = 0; i < 20; i++) {
        int rc = dn_call(self, i % 2 ? to : *far_ref(self), ASK, large, LARGE, 10000, &id);
        dn_require(rc == DN_OK);
        rc = dn_send(self, *far_ref(self), WORD, large, LARGE);
        dn_require(rc == DN_OK);
        (void)dn_monitor(self, *far_ref(self), 0);
    }
    dn_msg *kept = dn_msg_new(self, WORD, LARGE);
    (void)dn_msg_new_take(self, WORD, malloc(LARGE), LARGE, free);
    int rc = dn_send_take(self, to, kept);
    dn_require(rc == DN_OK);
    rc = dn_spawn(self,
                  &(dn_spawn_spec){.actor_class = &bystander,
                                   .loop = "side",
                                   .name = "far child",
                                   .linked = true,
                                   .config = large,
                                   .config_size = LARGE},
                  NULL);
    if (rc < 0) dn_fail_code(rc, "no far child");
    rc = dn_post(dn_self_runtime(self), to, WORD, large, LARGE);
    if (rc < 0) dn_fail_code(rc, "no post");
    dn_inspect(self, NULL, 1000);
    rc = dn_send(self, dn_self_ref(self), MORE, NULL, 0);
    dn_require(rc == DN_OK);
    return DN_OK;
}

static int worker_on_more(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state, (void)msg;
    work_done++;
    return DN_STOP;
}

static int worker_on_report(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state;
    reports += dn_msg_size(msg) > 0; /* an empty one, where there was no memory for it */
    return DN_OK;
}

static int worker_on_any(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state, (void)msg;
    return DN_OK;
}
static const dn_handler worker_rows[] = {{GO, worker_on_go},
                                         {MORE, worker_on_more},
                                         {DN_MSG_REPORT, worker_on_report},
                                         {DN_KIND_ANY, worker_on_any}};
static const dn_class   worker = {
      .name = "worker", .handlers = DN_SLICE(worker_rows), .mailbox_max = 100, .heap_max = 1 << 20};

static int far_started, downs;

static int root_init(dn_self *self, void *state, const void *config) {
    int rc;

    (void)state, (void)config;
    rc = dn_spawn(self, &(dn_spawn_spec){.actor_class = &bystander, .name = "bystander"}, NULL);
    CHECK_INT(rc, DN_OK);
    rc = dn_spawn(self, &(dn_spawn_spec){.actor_class = &bystander, .name = "far", .loop = "side"},
                  NULL);
    CHECK_INT(rc, DN_PENDING);
    rc = dn_spawn(
        self, &(dn_spawn_spec){.actor_class = &worker, .name = "worker", .monitored = true}, NULL);
    CHECK_INT(rc, DN_OK);
    return DN_OK;
}
static int root_on_started(dn_self *self, void *state, const dn_msg *msg) {
    (void)state, (void)msg;
    far_started++;
    return dn_send(self, dn_name(self, "worker"), GO, NULL, 0);
}
static int root_on_down(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    refuse_no_more();
    downs++;
    down_reason = DN_BODY(dn_down, msg)->reason;
    dn_inspect(self, NULL, 0);
    return DN_OK;
}
static int root_on_report(dn_self *self, void *state, const dn_msg *msg) {
    const dn_report *report = dn_msg_body_borrow(msg);

    (void)self, (void)state;
    crashed = (int)report->crashed;
    actors_left = (int)report->actors;
    /* Linked children are killed in turns of their own, and the bystander hears in its own what was sent:
     * ask until they have had them. */
    if (actors_left > 2 || (work_done && bystander_heard < MANY)) {
        dn_inspect(self, NULL, 0);
        return DN_OK;
    }
    return DN_STOP;
}
static const dn_handler root_rows[] = {{DN_MSG_STARTED, root_on_started},
                                       {DN_MSG_DOWN, root_on_down},
                                       {DN_MSG_REPORT, root_on_report}};
static const dn_class   root = {.name = "root", .init = root_init, .handlers = DN_SLICE(root_rows)};

static void no_notice(void *context, const dn_notice *n) { (void)context, (void)n; }

static int run_scenario(void) {
    static const char *const loops[] = {"main", "side"};
    const dn_runtime_config  config = {
         .loops = loops, .loops_len = 2, .notice = no_notice, .stall_ms = -1};
    dn_runtime *rt;

    work_done = downs = reports = bystander_heard = crashed = 0;
    CHECK_INT(dn_runtime_new(&config, &rt), DN_OK);
    const int rc = dn_runtime_run(rt, &(dn_spawn_spec){.actor_class = &root, .name = "root"});
    refuse_no_more();
    dn_runtime_free(rt);
    return rc;
}

static void worker_alone_fails(bool from_then_on) {
    long n = 0;

    do {
        r = (refusal){.nth = ++n, .from_then_on = from_then_on};
        CHECK_INT(run_scenario(), DN_OK);
        CHECK_INT(downs, 1);
        CHECK_INT(actors_left, 2);
        CHECK_INT(owned_now, 0);
        if (work_done) CHECK_INT(down_reason, DN_OK);
        else CHECK_MSG(down_reason == DN_ENOMEM, "refusal %ld ended it with %d", n, down_reason);
        CHECK(work_done || r.refused > 0);
    } while (r.refused > 0);
    CHECK(work_done);
    CHECK_INT(reports, 1);
    CHECK_MSG(n > 20, "only %ld requests: is the scenario asking for memory at all?", n);
}

TEST(when_the_nth_request_for_memory_is_refused_who_asked_fails_alone) {
    worker_alone_fails(false);
}

TEST(when_memory_is_out_for_good_who_asks_fails_alone) { worker_alone_fails(true); }

/* ---- Making things ---- */

static const dn_class idle_root = {.name = "idle"};

static int init_stops(dn_self *self, void *state, const void *config) {
    (void)state, (void)config;
    (void)dn_name(self, "something");
    return DN_STOP;
}
static const dn_class brief_root = {.name = "brief", .init = init_stops};

TEST(a_runtime_that_gets_no_memory_is_not_made_or_does_not_run_and_leaks_nothing) {
    static const char *const loops[] = {"a", "b"};
    const dn_runtime_config  config = {.loops = loops, .loops_len = 2, .notice = no_notice};
    long                     n = 0;
    int                      runs = 0;

    do {
        dn_runtime *rt = NULL;
        r = (refusal){.nth = ++n};
        refuse_from_now();
        int rc = dn_runtime_new(&config, &rt);
        if (rc == DN_OK) {
            runs++;
            rc = dn_runtime_run(rt, &(dn_spawn_spec){.actor_class = &brief_root, .name = "root"});
        } else {
            CHECK_PTR(rt, NULL);
        }
        refuse_no_more();
        CHECK_INT(rc, r.refused ? DN_ENOMEM : DN_OK);
        dn_runtime_free(rt);
    } while (r.refused > 0);
    CHECK(n > 20);
    CHECK(runs > 1);
}

TEST(a_simulation_that_gets_no_memory_is_not_made_or_not_booted_and_leaks_nothing) {
    long n = 0;

    do {
        dn_sim *sim = NULL;
        r = (refusal){.nth = ++n};
        refuse_from_now();
        int rc = dn_sim_new(&(dn_sim_config){.seed = 1}, &sim);
        if (rc < 0) CHECK_PTR(sim, NULL);
        else rc = dn_sim_boot(sim, &(dn_spawn_spec){.actor_class = &idle_root, .name = "root"});
        refuse_no_more();
        CHECK_INT(rc, r.refused ? DN_ENOMEM : DN_OK);
        if (sim && rc < 0) { /* once there is memory, the same one boots */
            CHECK_INT(dn_sim_boot(sim, &(dn_spawn_spec){.actor_class = &idle_root}), DN_OK);
            CHECK_INT(dn_sim_run(sim, 10), DN_SIM_IDLE);
        }
        dn_sim_free(sim);
    } while (r.refused > 0);
    CHECK(n > 15);
}

/* ---- From outside ---- */

TEST(a_post_without_memory_says_so_and_leaks_nothing) {
    char        large[LARGE] = "";
    dn_runtime *rt;
    long        n = 0;

    CHECK_INT(dn_runtime_new(&(dn_runtime_config){.notice = no_notice}, &rt), DN_OK);
    do {
        r = (refusal){.nth = ++n};
        refuse_from_now();
        const dn_ref to = dn_runtime_name(rt, "nobody at all");
        const int    rc = dn_post(rt, to, WORD, large, LARGE);
        refuse_no_more();
        CHECK(rc == DN_EDEAD || (rc == DN_ENOMEM && r.refused > 0));
    } while (r.refused > 0);
    dn_runtime_free(rt);
}
