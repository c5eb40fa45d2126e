/* made_up_test.c - runs that are only said to happen: demo and scripted, under simulation. */
#include "diurnal/sim.h"
#include "stage.h"

/* Plays it under the simulation driver. */
static void simulates(stage *s, const dn_sim_faults *faults, uint64_t seed) {
    const dn_spawn_spec root = {.actor_class = &root_class, .config = &s, .name = "root"};
    dn_sim_config       config = {.seed = seed, .wall_ms = INT64_C(1728028800000)};
    dn_sim             *sim;
    int                 leftovers = 0;

    config.notice = stage_hush;
    config.notice_context = &leftovers;
    if (faults) config.faults = *faults;
    if (s->at_once == 0) s->at_once = 1;
    if (s->timeout_ms == 0) s->timeout_ms = 60000;
    CHECK_INT(dn_sim_new(&config, &sim), DN_OK);
    if (dn_sim_boot(sim, &root) == DN_OK) (void)dn_sim_run(sim, INT64_C(1000) * 3600 * 1000);
    dn_sim_free(sim);
}

static dn_script_answer plays_by_id(void *context, const dn_run_request *request) {
    switch (request->key[strlen("work:")]) {
    case 'h': return (dn_script_answer){.end = DN_SCRIPT_HANG};
    case 'c': return (dn_script_answer){.end = DN_SCRIPT_CRASH, .duration_ms = 7};
    default:
        return (dn_script_answer){.end = DN_SCRIPT_ENDS,
                                  .result = dn_run_result_of(DN_OUTCOME_ERROR, DN_CODE_HTTP, 9),
                                  .body = context,
                                  .duration_ms = 500};
    }
}

static stage *scripted(void) {
    static dn_blob *body; /* the script's own */
    stage          *s = stage_of(NULL);

    if (!body) body = dn_blob_of("sorry", 5);
    s->config.script = plays_by_id;
    s->config.script_context = body;
    s->at_once = 10;
    return s;
}

TEST(a_script_is_followed_in_the_actors_own_time) {
    stage *s = scripted();

    stage_asks(s, "ends");
    stage_asks(s, "crashes");
    stage_asks(s, "hangs")->cut_ms = 5000;
    stage_asks(s, "is cut")->cut_ms = 400;
    stage_asks(s, "is cut too late")->cut_ms = 600;
    simulates(s, NULL, 1);
    CHECK_CAME(&s->runs[0], DN_OUTCOME_ERROR, DN_CODE_HTTP, 9);
    CHECK_CAME(&s->runs[1], DN_OUTCOME_CRASH, DN_CODE_NONE, 0);
    CHECK_CAME(&s->runs[2], DN_OUTCOME_TIMEOUT, DN_CODE_NONE, 0);
    CHECK_CAME(&s->runs[3], DN_OUTCOME_TIMEOUT, DN_CODE_NONE, 0);
    CHECK_CAME(&s->runs[4], DN_OUTCOME_ERROR, DN_CODE_HTTP, 9);
    CHECK_BODY(&s->runs[4], "sorry");
    CHECK(!s->runs[3].answer.body);
}

TEST(how_long_a_script_takes_is_known_and_that_it_hangs_is_not) {
    stage *s = scripted();

    stage_asks(s, "ends");
    stage_asks(s, "crashes");
    stage_asks(s, "hangs")->cut_ms = 5000;
    simulates(s, NULL, 1);
    CHECK_INT(s->runs[0].lasts_ms, 500);
    CHECK_INT(s->runs[1].lasts_ms, 7);
    CHECK_INT(s->runs[2].lasts_ms, INT64_MAX);
}

TEST(a_run_knows_nothing_of_the_one_whose_memory_it_has) {
    stage *s = scripted();

    s->at_once = 1;
    for (int i = 0; i < 6; i++) {
        stage_asks(s, "hangs")->cut_ms = 400;
        stage_asks(s, "ends");
        stage_asks(s, "is cut")->cut_ms = 400;
    }
    simulates(s, NULL, 1);
    for (int i = 0; i < 18; i += 3) {
        CHECK_CAME(&s->runs[i], DN_OUTCOME_TIMEOUT, DN_CODE_NONE, 0);
        CHECK_STR(s->runs[i].answer.error, "cut off");
        CHECK_CAME(&s->runs[i + 1], DN_OUTCOME_ERROR, DN_CODE_HTTP, 9);
        CHECK_STR(s->runs[i + 1].answer.error, "");
        CHECK_BODY(&s->runs[i + 1], "sorry");
        CHECK_CAME(&s->runs[i + 2], DN_OUTCOME_TIMEOUT, DN_CODE_NONE, 0);
    }
}

TEST(a_simulated_runner_needs_no_world_and_another_is_refused_there) {
    stage *s = stage_of("http://127.0.0.1:1/");

    stage_asks(s, "ada");
    simulates(s, NULL, 1);
    CHECK_MSG(strstr(s->why, "simulation"), "%s", s->why);
}

TEST(whatever_memory_is_refused_nothing_leaks) {
    uint64_t random = test_seed();

    for (int i = 0; i < 300 / TEST_SLOW_FACTOR; i++) {
        static stage *s;
        if (!s) s = scripted();
        s->len = s->next = s->ended = 0;
        for (int k = 0; k < 30; k++) {
            stage_run *r = stage_asks(s, k % 3 ? "ends" : "crashes");
            r->messages = 0;
            dn_blob_unref(DN_TAKE(r->answer.body));
        }
        simulates(s, &(dn_sim_faults){.fail_alloc_ppm = 20000, .crash_actor_ppm = 20000},
                  test_random(&random));
    }
}

static stage *demo(uint64_t seed) {
    static char ids[2000][8];
    stage      *s = stage_of("demo:");

    s->config.seed = seed;
    s->at_once = 2000;
    for (int i = 0; i < 2000; i++) {
        (void)snprintf(ids[i], sizeof ids[i], "u%d", i);
        stage_asks(s, ids[i])->cut_ms = 60000;
    }
    simulates(s, NULL, 5);
    return s;
}

TEST(a_demo_mostly_works_sometimes_fails_and_rarely_hangs) {
    const stage *s = demo(1);
    int          ok = 0, hang = 0, silent = 0, with_body = 0, transport = 0;

    for (size_t i = 0; i < s->len; i++) {
        CHECK_INT(s->runs[i].messages, 1);
        if (dn_run_outcome(s->runs[i].result) == DN_OUTCOME_OK) ok++;
        else if (dn_run_outcome(s->runs[i].result) == DN_OUTCOME_TIMEOUT) hang++;
        else if (dn_run_code_kind(s->runs[i].result) == DN_CODE_TRANSPORT) transport++;
        else if (s->runs[i].answer.body) with_body++;
        else silent++;
    }
    CHECK_MSG(ok > 1700 && ok < 1860, "%d ok", ok);
    CHECK_MSG(hang > 5 && hang < 45, "%d hang", hang);
    CHECK_MSG(transport > 20 && with_body > 40 && silent > 20, "%d, %d, %d", transport, with_body,
              silent);
}

TEST(a_demo_is_a_function_of_its_seed) {
    const stage *a = demo(7), *b = demo(7), *c = demo(8);
    int          same = 0, other = 0;

    for (size_t i = 0; i < a->len; i++) {
        same += a->runs[i].result == b->runs[i].result;
        other += a->runs[i].result != c->runs[i].result;
    }
    CHECK_INT(same, 2000);
    CHECK(other > 200);
}

TEST(a_runner_that_goes_leaves_made_up_runs_to_their_actors) {
    stage *s = stage_of("demo:");

    for (int i = 0; i < 20; i++) stage_asks(s, "ada");
    s->at_once = 20;
    s->leaves_with = true;
    simulates(s, NULL, 3);
}
