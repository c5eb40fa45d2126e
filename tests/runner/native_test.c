/* native_test.c - functions of the embedding program as runs. */
#include "stage.h"

#include <sched.h>
#include <stdatomic.h>

static _Atomic(int)  working, most, calls;
static _Atomic(bool) gate_open;

static dn_run_result answers_at_once(void *context, const dn_run_request *request,
                                     dn_run_answer *answer) {
    CHECK_STR(context, "context");
    CHECK_UINT(request->key_len, strlen("work:ada"));
    answer->body = dn_blob_ref(request->body);
    answer->retry_after_ms = 7;
    return dn_run_result_of(DN_OUTCOME_ERROR, DN_CODE_NONE, 42);
}

static dn_run_result works(void *context, const dn_run_request *request, dn_run_answer *answer) {
    const int now = atomic_fetch_add(&working, 1) + 1;

    (void)context;
    CHECK(memcmp(request->key, "work:ada", 8) == 0);
    answer->body = dn_blob_ref(request->body);
    for (int seen = atomic_load(&most);
         now > seen && !atomic_compare_exchange_weak(&most, &seen, now);) {}
    atomic_fetch_add(&calls, 1);
    /* Until three have been at work at once; a fourth, if it were let in, has its chance to be seen besides. */
    while (atomic_load(&most) < 3) sched_yield();
    for (int i = 0; i < 200; i++) sched_yield();
    atomic_fetch_sub(&working, 1);
    return dn_run_result_of(DN_OUTCOME_OK, DN_CODE_NONE, 0);
}

static dn_run_result waits_for_the_gate(void *context, const dn_run_request *request,
                                        dn_run_answer *answer) {
    (void)context;
    answer->body = dn_blob_ref(request->body);
    while (!atomic_load(&gate_open)) sched_yield();
    return dn_run_result_of(DN_OUTCOME_OK, DN_CODE_NONE, 0);
}

static char context[] = "context";

static const dn_native_job jobs[] = {
    {.name = "now", .fn = answers_at_once, .context = context},
    {.name = "works", .fn = works, .blocks = true},
    {.name = "gate", .fn = waits_for_the_gate, .blocks = true},
};

static stage *stage_with(const char *url, int runs, uint32_t at_once) {
    stage *s = stage_of(url);

    s->config.jobs = jobs;
    s->config.jobs_len = sizeof jobs / sizeof jobs[0];
    s->at_once = at_once;
    for (int i = 0; i < runs; i++) stage_asks(s, "ada");
    return s;
}

TEST(a_function_that_does_not_block_answers_at_once) {
    stage *s = stage_with("native:now", 10, 3);

    CHECK_INT(stage_plays(s), DN_OK);
    for (size_t i = 0; i < s->len; i++) {
        CHECK_CAME(&s->runs[i], DN_OUTCOME_ERROR, DN_CODE_NONE, 42);
        CHECK_BODY(&s->runs[i], "{\"id\":\"ada\"}");
        CHECK_INT(s->runs[i].answer.retry_after_ms, 7);
    }
}

TEST(functions_that_block_run_on_a_few_threads) {
    stage *s = stage_with("native:works", 100, 50);

    CHECK_INT(stage_plays(s), DN_OK);
    for (size_t i = 0; i < s->len; i++) {
        CHECK_CAME(&s->runs[i], DN_OUTCOME_OK, DN_CODE_NONE, 0);
        CHECK_BODY(&s->runs[i], "{\"id\":\"ada\"}");
        CHECK_INT(s->runs[i].answer.retry_after_ms, -1);
    }
    CHECK_INT(atomic_load(&calls), 100);
    CHECK_INT(atomic_load(&most), 3);
}

/* Those that wait for a thread have ended by their cut alone: the three at work are still there. */
static void opens_the_gate_at_7(size_t ended) {
    if (ended == 7) atomic_store(&gate_open, true);
}
static void opens_the_gate(void) {
    CHECK(!atomic_load(&gate_open));
    atomic_store(&gate_open, true);
}

TEST(of_those_cut_the_waiting_end_at_once_and_the_working_when_they_return) {
    stage *s = stage_with("native:gate", 10, 10);

    for (size_t i = 0; i < s->len; i++) s->runs[i].cut_ms = 20;
    s->on_ended = opens_the_gate_at_7;
    CHECK_INT(stage_plays(s), DN_OK);
    int cut = 0;
    for (size_t i = 0; i < s->len; i++) {
        CHECK_INT(s->runs[i].messages, 1);
        if (dn_run_outcome(s->runs[i].result) == DN_OUTCOME_TIMEOUT) cut++;
    }
    CHECK_INT(cut, 7);
}

TEST(whoever_goes_is_not_told_and_nothing_leaks) {
    stage *s = stage_with("native:gate", 10, 10);

    for (size_t i = 0; i < s->len; i++) s->runs[i].twist = i % 2 ? STAGE_FAILS : STAGE_LEAVES;
    s->on_gone = opens_the_gate;
    CHECK_INT(stage_plays(s), DN_OK);
    for (size_t i = 0; i < s->len; i++) CHECK_INT(s->runs[i].messages, 0);
}

TEST(a_runner_that_goes_lets_its_functions_come_back_to_nobody) {
    stage *s = stage_with("native:gate", 10, 10);

    s->leaves_with = true;
    s->on_gone = opens_the_gate;
    CHECK_INT(stage_plays(s), DN_OK);
}
