/* executor_test.c - slots, sources and outcomes, in a simulation with runs that a script ends. */
#include "executor.h"

#include "actor/pipe.h"
#include "diurnal/sim.h"
#include "diurnal/supervisor.h"
#include "execution.h"
#include "messages.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

enum { SOURCES = 2, RUN_MS = 1000, ASK = MSG_OWN, CRASH };

static struct {
    dn_sim            *sim;
    dn_executor_config config;
    dn_runner_config   runner;
    dn_dynamic_spec    executions;
    int                begun;
    dn_blob           *answer; /* what a run answers */
    int64_t            run_ms;
    uint32_t           wants[SOURCES];   /* pieces of work each source has */
    uint32_t           lies[SOURCES];    /* it offers so many more than it has */
    uint32_t           granted[SOURCES]; /* slots each was given in all */
    int                outcomes[SOURCES], not_started[SOURCES];
    char               answered[64]; /* the body of the last outcome */
    int64_t            opens_ms, closes_ms;
} w;

/* ---- A source of work ---- */

typedef struct source {
    size_t  index;
    dn_pipe work;
} source;

static size_t work_release(void *entry) {
    dn_work *work = entry;

    dn_blob_unref(work->body);
    return DN_WORK_STRIDE(work);
}

static int offer(dn_self *self, uint32_t wants, uint32_t returned) {
    const dn_offer o = {.wants = wants, .returned = returned};

    return dn_send(self, dn_name(self, ACTOR_EXECUTOR), MSG_OFFER, &o, sizeof o);
}

static int source_init(dn_self *self, void *state, const void *config) {
    source *s = state;

    s->index = *(const size_t *)config;
    dn_pipe_init_owning(self, &s->work, ACTOR_EXECUTOR, MSG_WORK, work_release);
    return offer(self, w.wants[s->index] + w.lies[s->index], 0);
}

static int source_on_take(dn_self *self, void *state, const dn_msg *msg) {
    source *s = state;

    for (DN_PIPE_EACH(dn_take, t, msg)) {
        w.granted[s->index] += t->slots;
        for (uint32_t i = 0; i < t->slots; i++) {
            if (w.wants[s->index] == 0) return offer(self, 0, t->slots - i);
            w.wants[s->index]--;
            dn_work *work = dn_pipe_add(self, &s->work, sizeof *work + 1);
            *work = (dn_work){.ticket = w.wants[s->index],
                              .body = dn_blob_of("{}", 2),
                              .opens_ms = w.opens_ms,
                              .closes_ms = w.closes_ms,
                              .timeout_ms = 60000,
                              .key_len = 1};
            work->key[0] = 'k';
        }
    }
    dn_pipe_flush(self, &s->work);
    return DN_OK;
}

static int source_on_outcome(dn_self *self, void *state, const dn_msg *msg) {
    const source *s = state;

    (void)self;
    for (DN_WORK_OUTCOME_EACH(o, msg)) {
        if (o->started) w.outcomes[s->index]++;
        else w.not_started[s->index]++;
        if (!o->has_answer) continue;
        const size_t len = dn_blob_len(o->answer[0].body);
        CHECK(len < sizeof w.answered);
        memcpy(w.answered, dn_blob_bytes_borrow(o->answer[0].body), len);
    }
    return DN_OK;
}

static int source_on_ask(dn_self *self, void *state, const dn_msg *msg) {
    const source *s = state;

    (void)msg;
    return offer(self, w.wants[s->index], 0);
}

static int source_on_crash(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state, (void)msg;
    return DN_EFAILED;
}

static const dn_handler source_rows[] = {{MSG_TAKE, source_on_take},
                                         {MSG_OUTCOME, source_on_outcome},
                                         {ASK, source_on_ask},
                                         {CRASH, source_on_crash}};
static const dn_class   source_class = {.name = "source",
                                        .state_size = sizeof(source),
                                        .init = source_init,
                                        .handlers = DN_SLICE(source_rows)};

/* ---- The world ---- */

static void run_begins(const void *context, dn_self *self, uint64_t subject, const dn_blob *body) {
    (void)context, (void)self, (void)subject, (void)body;
    w.begun++;
}

static dn_script_answer script(void *context, const dn_run_request *request) {
    (void)context, (void)request;
    return (dn_script_answer){.end = DN_SCRIPT_ENDS,
                              .result = dn_run_result_of(DN_OUTCOME_OK, DN_CODE_HTTP, 200),
                              .body = w.answer,
                              .duration_ms = w.run_ms};
}

static void boots(uint32_t slots, const uint32_t weights[SOURCES]) {
    static const size_t       indexes[SOURCES] = {0, 1};
    static dn_child_spec      children[2 + SOURCES];
    static dn_supervisor_spec top;
    static const char *const  names[SOURCES] = {"one", "two"};
    const dn_spawn_spec root = {.actor_class = &dn_supervisor_class, .config = &top, .name = "top"};
    const dn_sim_config sim = {.seed = test_seed(), .wall_ms = 1000000};

    w.runner = (dn_runner_config){.concurrency_max = slots, .script = script};
    w.config =
        (dn_executor_config){.types = {{.name = "t", .runner = &w.runner, .begins = run_begins}},
                             .types_len = 1,
                             .sources_len = SOURCES,
                             .slots = {[DN_SLOTS_JOBS] = slots},
                             .report_ms = 60000};
    w.executions = (dn_dynamic_spec){.actor_class = &dn_execution_class};
    children[0] = dn_dynamic_child(ACTOR_EXECUTIONS, &w.executions);
    children[1] = (dn_child_spec){
        .name = ACTOR_EXECUTOR, .actor_class = &dn_executor_class, .config = &w.config};
    for (size_t i = 0; i < SOURCES; i++) {
        w.config.sources[i] = (dn_source_spec){names[i], DN_SLOTS_JOBS, weights[i]};
        children[2 + i] =
            (dn_child_spec){.name = names[i], .actor_class = &source_class, .config = &indexes[i]};
    }
    top = (dn_supervisor_spec){.strategy = DN_REST_FOR_ONE, .intensity = 10};
    top.children.rows = children;
    top.children.len = sizeof children / sizeof *children;
    CHECK_INT(dn_sim_new(&sim, &w.sim), DN_OK);
    CHECK_INT(dn_sim_boot(w.sim, &root), DN_OK);
}

static void world(void) {
    memset(&w, 0, sizeof w);
    w.run_ms = RUN_MS;
    w.opens_ms = INT64_MIN;
    w.closes_ms = INT64_MAX;
}

static void runs_for(int64_t ms) { (void)dn_sim_run(w.sim, dn_sim_mono_ms(w.sim) + ms); }

static void tell(const char *source_name, uint32_t kind) {
    dn_runtime *rt = dn_sim_runtime(w.sim);

    CHECK_INT(dn_post(rt, dn_runtime_name(rt, source_name), kind, NULL, 0), DN_OK);
}

static void ends(void) {
    dn_sim_free(DN_TAKE(w.sim));
    dn_blob_unref(DN_TAKE(w.answer));
}

static const uint32_t even[SOURCES] = {1, 1};

TEST(executor_runs_no_more_than_its_slots_and_all_work_in_the_end) {
    world();
    w.wants[0] = 10;
    boots(4, even);
    runs_for(RUN_MS / 2);
    CHECK_INT(w.begun, 4);
    runs_for(RUN_MS);
    CHECK_INT(w.begun, 8);
    runs_for(3 * RUN_MS);
    CHECK_INT(w.begun, 10);
    CHECK_INT(w.outcomes[0], 10);
    ends();
}

TEST(executor_divides_its_slots_by_the_shares_of_its_sources) {
    static const uint32_t weights[SOURCES] = {3, 1};

    world();
    w.wants[0] = w.wants[1] = 100;
    boots(8, weights);
    runs_for(10 * RUN_MS + RUN_MS / 2);
    CHECK_MSG(w.outcomes[0] >= 55 && w.outcomes[0] <= 65, "%d of 80", w.outcomes[0]);
    CHECK_INT(w.outcomes[0] + w.outcomes[1], 80);
    ends();
}

TEST(executor_gives_slots_that_are_returned_to_another_source) {
    world();
    w.lies[0] = 2; /* the first source gets both slots, and has no work for them */
    boots(2, even);
    runs_for(10);
    CHECK_UINT(w.granted[0], 2);
    w.wants[1] = 2;
    tell("two", ASK);
    runs_for(RUN_MS * 2);
    CHECK_INT(w.outcomes[1], 2);
    ends();
}

TEST(executor_returns_the_answer_to_the_source_that_gave_the_work) {
    world();
    w.wants[1] = 1;
    w.answer = dn_blob_of("yes", 3);
    boots(2, even);
    runs_for(RUN_MS * 2);
    CHECK_INT(w.outcomes[0], 0);
    CHECK_INT(w.outcomes[1], 1);
    CHECK_STR(w.answered, "yes");
    ends();
}

TEST(executor_tells_work_whose_time_is_over_from_work_that_ran) {
    world();
    w.wants[0] = 3;
    w.closes_ms = 1000000; /* now */
    boots(2, even);
    runs_for(RUN_MS * 3);
    CHECK_INT(w.begun, 0);
    CHECK_INT(w.not_started[0], 3);
    CHECK_INT(w.outcomes[0], 0);
    ends();
}

/* Nobody waits for the runs of a source that has ended, and their outcomes are for nobody. */
TEST(executor_cuts_off_the_runs_of_a_source_that_crashed) {
    world();
    w.run_ms = 50 * RUN_MS;
    w.wants[1] = 2;
    boots(2, even);
    runs_for(10);
    CHECK_INT(w.begun, 2);
    w.wants[1] = 2;
    tell("two", CRASH);
    runs_for(RUN_MS);
    CHECK_INT(w.begun, 4);
    CHECK_INT(w.outcomes[1], 0);
    runs_for(60 * RUN_MS);
    CHECK_INT(w.outcomes[1], 2);
    ends();
}
