/* status_test.c - GET /api/v1/status while an actor it asks is missing: the request in a simulation, with stand-ins for
 * the actors. */
#include "diurnal/sim.h"
#include "exchange.h"
#include "test.h"

#include "obs/slo_watcher.h"

#include <stdio.h>
#include <string.h>

enum { STAGE_ASK = 1, TIME_MS = 120000 };

static struct {
    dn_sim           *sim;
    dn_service_config service;
    dn_about          about;
    router           *router;
    auth              auth;
    exchange          x;
    http_head         head;
    char              request[256];
    int               status;
    json_t           *answer; /* once it is whole */
} w;

/* ---- Stand-ins ---- */

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

/* ---- The request ---- */

static void take(dn_self *self, const api_world *world, route_step step) {
    if (step == ROUTE_WAITS) return;
    CHECK_INT(step, ROUTE_DONE);
    exchange_finish(self, world, &w.x);
    w.status = w.x.response.status;
    w.answer = json_loadb(w.x.response.body, w.x.response.body_len, 0, NULL);
    exchange_done(world, &w.x);
}

static int stage_on_ask(dn_self *self, void *state, const dn_msg *msg) {
    const api_world world = {.service = &w.service,
                             .about = &w.about,
                             .router = w.router,
                             .auth = &w.auth,
                             .kv = dn_name(self, ACTOR_KV),
                             .tick = dn_name(self, ACTOR_TICK),
                             .queue = dn_name(self, ACTOR_QUEUE),
                             .executor = dn_name(self, ACTOR_EXECUTOR),
                             .slo_watcher = dn_name(self, DN_SLO_WATCHER)};

    (void)state;
    take(self, &world,
         dn_msg_kind(msg) == STAGE_ASK ? exchange_begin(self, &world, &w.x, &w.head)
                                       : exchange_go_on(self, &world, &w.x, msg));
    return DN_OK;
}

/* The head of the request, with a token that may read. */
static void write_request(void) {
    dn_token   token = {.id = 1, .ends_ms = INT64_MAX, .scope = DN_SCOPE_READ};
    char       text[DN_TOKEN_TEXT];
    http_fault fault;

    CHECK_INT(dn_token_make(text, token.hash), DN_OK);
    CHECK_INT(auth_load(&w.auth, &token, 1), DN_OK);
    CHECK_INT(router_new(routes_all, &w.router), DN_OK);
    const int len = snprintf(w.request, sizeof w.request,
                             "GET /api/v1/status HTTP/1.1\r\nHost: a\r\n"
                             "Authorization: Bearer %s\r\n\r\n",
                             text);
    CHECK_INT(http_head_read(w.request, (size_t)len, &w.head, &fault), DN_OK);
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

/* Sends the request with the first so many actors; the SLO watcher is the last. */
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
    write_request();
    CHECK_INT(dn_sim_new(&config, &w.sim), DN_OK);
    CHECK(dn_sim_boot(w.sim, &root) >= 0);
    dn_runtime *rt = dn_sim_runtime(w.sim);
    CHECK_INT(dn_post(rt, dn_runtime_name(rt, "stage"), STAGE_ASK, NULL, 0), DN_OK);
    (void)dn_sim_run(w.sim, dn_sim_mono_ms(w.sim) + TIME_MS);
}

static void is_asked_no_more(void) {
    json_decref(w.answer);
    dn_sim_free(w.sim);
    router_free(w.router);
    auth_done(&w.auth);
}

enum { WITHOUT_THE_WATCHER = 5, WITH_IT = 6 };

static void check_all_parts_but_slo(void) {
    static const char *const others[] = {"daemon", "tick", "queue", "executor", "store"};

    CHECK_INT(w.status, 200);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        CHECK_MSG(json_is_object(json_object_get(w.answer, others[i])), "%s", others[i]);
    CHECK(json_object_get(w.answer, "slo") && json_is_null(json_object_get(w.answer, "slo")));
}

/* ---- Tests ---- */

TEST(status_without_the_slo_watcher_has_all_other_parts) {
    is_asked_of(WITHOUT_THE_WATCHER);
    check_all_parts_but_slo();
    is_asked_no_more();
}

TEST(status_has_all_other_parts_when_the_slo_watcher_crashes_meanwhile) {
    is_asked_of(WITH_IT);
    check_all_parts_but_slo();
    is_asked_no_more();
}

TEST(status_without_the_planner_is_a_503) {
    is_asked_of(1);
    CHECK_INT(w.status, 503);
    is_asked_no_more();
}
