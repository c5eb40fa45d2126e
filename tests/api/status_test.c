/* status_test.c - what `status` answers while one of those it asks is not there: the steps of the request in a simulation,
 * with stand-ins for the actors. */
#include "diurnal/sim.h"
#include "ops.h"
#include "test.h"

#include "obs/slo_watcher.h"

#include <string.h>

enum { STAGE_ASK = 1, TIME_MS = 120000 };

static struct {
    dn_sim           *sim;
    dn_service_config service;
    dn_about          about;
    ask               ask;
    json_t           *answer; /* when it is done */
    bool              refused;
} w;

/* ---- Who is asked ---- */

static int answer_nothing(dn_self *self, const dn_msg *msg, size_t size) {
    static const char nothing[1024];

    dn_reply(self, msg, MSG_STATUS, nothing, size);
    return DN_OK;
}

static int tick_on_ask(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    return answer_nothing(self, msg, sizeof(dn_tick_status));
}

static int queue_on_ask(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    return answer_nothing(self, msg, sizeof(dn_queue_status));
}

static int executor_on_ask(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    return answer_nothing(self, msg, sizeof(dn_executor_status));
}

static int kv_on_ask(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    return answer_nothing(self, msg, sizeof(dn_kv_status));
}

static int watcher_on_ask(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state, (void)msg;
    return DN_EFAILED;
}

/* ---- Who asks ---- */

static void take(ask_step step) {
    w.refused = step == ASK_REFUSED;
    if (step == ASK_DONE) w.answer = json_incref(w.ask.answer);
}

static int stage_on_ask(dn_self *self, void *state, const dn_msg *msg) {
    const ops_world world = {.about = &w.about,
                             .kv = dn_name(self, ACTOR_KV),
                             .tick = dn_name(self, ACTOR_TICK),
                             .queue = dn_name(self, ACTOR_QUEUE),
                             .executor = dn_name(self, ACTOR_EXECUTOR),
                             .watcher = dn_name(self, DN_SLO_WATCHER)};

    (void)state;
    take(dn_msg_kind(msg) == STAGE_ASK
             ? ask_begin(self, &world, &w.ask, json_pack("{s:s}", "op", "status"))
             : ask_go_on(self, &world, &w.ask, msg));
    return DN_OK;
}

/* ---- Life ---- */

static const dn_handler tick_rows[] = {{MSG_ASK_STATUS, tick_on_ask}},
                        queue_rows[] = {{MSG_ASK_STATUS, queue_on_ask}},
                        executor_rows[] = {{MSG_ASK_STATUS, executor_on_ask}},
                        kv_rows[] = {{MSG_KV_STATUS, kv_on_ask}},
                        watcher_rows[] = {{DN_SLO_ASK, watcher_on_ask}},
                        stage_rows[] = {{DN_KIND_ANY, stage_on_ask}};
static const dn_class tick_class = {.name = ACTOR_TICK, .handlers = DN_SLICE(tick_rows)},
                      queue_class = {.name = ACTOR_QUEUE, .handlers = DN_SLICE(queue_rows)},
                      executor_class = {.name = ACTOR_EXECUTOR,
                                        .handlers = DN_SLICE(executor_rows)},
                      kv_class = {.name = ACTOR_KV, .handlers = DN_SLICE(kv_rows)},
                      watcher_class = {.name = DN_SLO_WATCHER, .handlers = DN_SLICE(watcher_rows)},
                      stage_class = {.name = "stage", .handlers = DN_SLICE(stage_rows)};

static void silence(void *context, const dn_notice *notice) { (void)context, (void)notice; }

/* With so many of them, of which the watcher is the last; and asked once. */
static void is_asked_of(size_t actors) {
    const dn_child_spec      children[] = {{.name = "stage", .actor_class = &stage_class},
                                           {.name = ACTOR_TICK, .actor_class = &tick_class},
                                           {.name = ACTOR_QUEUE, .actor_class = &queue_class},
                                           {.name = ACTOR_EXECUTOR, .actor_class = &executor_class},
                                           {.name = ACTOR_KV, .actor_class = &kv_class},
                                           {.name = DN_SLO_WATCHER, .actor_class = &watcher_class}};
    const dn_supervisor_spec top = {.intensity = 10, .children = {children, actors}};
    const dn_spawn_spec root = {.actor_class = &dn_supervisor_class, .config = &top, .name = "top"};
    const dn_sim_config config = {.seed = test_seed(), .notice = silence};

    w.about = (dn_about){
        .service = &w.service, .data = "d", .version = "1", .runner = "r", .listens = "l"};
    CHECK_INT(dn_sim_new(&config, &w.sim), DN_OK);
    CHECK(dn_sim_boot(w.sim, &root) >= 0);
    dn_runtime *rt = dn_sim_runtime(w.sim);
    CHECK_INT(dn_post(rt, dn_runtime_name(rt, "stage"), STAGE_ASK, NULL, 0), DN_OK);
    (void)dn_sim_run(w.sim, dn_sim_mono_ms(w.sim) + TIME_MS);
}

static void is_asked_no_more(void) {
    json_decref(w.answer);
    ask_done(&w.ask);
    dn_sim_free(w.sim);
}

enum { WITHOUT_THE_WATCHER = 5, WITH_IT = 6 };

static void check_all_but_the_levels(void) {
    static const char *const others[] = {"daemon", "tick", "queue", "executor", "store"};

    CHECK_MSG(w.answer, "it is refused: %s", w.ask.why);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        CHECK_MSG(json_is_object(json_object_get(w.answer, others[i])), "%s", others[i]);
    CHECK(json_object_get(w.answer, "slo") && json_is_null(json_object_get(w.answer, "slo")));
}

/* ---- Tests ---- */

TEST(while_the_watcher_of_the_service_levels_is_not_there_all_else_is_answered) {
    is_asked_of(WITHOUT_THE_WATCHER);
    check_all_but_the_levels();
    is_asked_no_more();
}

TEST(a_watcher_that_ends_while_it_is_asked_costs_nothing_but_its_own_part) {
    is_asked_of(WITH_IT);
    check_all_but_the_levels();
    is_asked_no_more();
}

/* Without the others it is no status. */
TEST(a_status_without_the_planner_is_refused) {
    is_asked_of(1);
    CHECK(w.refused);
    CHECK_STR(w.ask.code, "unavailable");
    is_asked_no_more();
}
