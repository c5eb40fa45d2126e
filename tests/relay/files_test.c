/* files_test.c - a replay whose events are heard on another thread writes what one does that has a single processor. */
#define _GNU_SOURCE /* cpu_set_t */
#include "run.h"

#include "diurnal/handoff.h"

#include <sched.h>

static int processors;

/* In place of the C library's: on whichever machine this runs, both ways are gone. */
int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set) {
    (void)pid;
    memset(set, 0, size);
    for (int i = 0; i < processors; i++) CPU_SET_S((size_t)i, size, set);
    return 0;
}

static void processors_are(int n) {
    processors = n;
    CHECK(dn_handoff_has_room() == (n > 1));
}

/* With crashes, steps, a full disk, errors and removals among some hundred users. */
TEST(with_a_second_thread_the_files_are_the_same) {
    trace_is(
        "{\"trace\":1,\"start\":\"2026-03-01T00:00:00Z\",\"end\":\"2026-03-04T00:00:00Z\","
        "\"max_concurrency\":2,\"default\":{\"result\":\"ok\",\"duration_ms\":9000}}\n"
        "{\"at\":\"2026-03-01T00:00:00Z\",\"op\":\"users\",\"count\":700,\"prefix\":\"u\","
        "\"due\":\"spread\"}\n"
        "{\"op\":\"outcome\",\"id\":\"u300\",\"result\":\"error\",\"error_class\":\"llm\"}\n"
        "{\"op\":\"outcome\",\"id\":\"u310\",\"attempt\":1,\"result\":\"crash\"}\n"
        "{\"op\":\"outcome\",\"id\":\"u320\",\"result\":\"hang\"}\n"
        "{\"at\":\"2026-03-01T04:30:00Z\",\"op\":\"crash\",\"down_ms\":600000}\n"
        "{\"at\":\"2026-03-01T08:00:00Z\",\"op\":\"clock\",\"step_ms\":3600000}\n"
        "{\"at\":\"2026-03-01T08:30:00Z\",\"op\":\"clock\",\"step_ms\":-3600000}\n"
        "{\"at\":\"2026-03-02T05:00:00Z\",\"op\":\"store_fails\",\"for_ms\":90000}\n"
        "{\"at\":\"2026-03-02T06:00:00Z\",\"op\":\"remove\",\"id\":\"u400\"}\n"
        "{\"at\":\"2026-03-02T07:00:00Z\",\"op\":\"user\",\"id\":\"u401\",\"due\":\"23:10\"}\n");
    const uint64_t seed = test_seed();

    processors_are(2);
    CHECK_MSG(run_with(seed, NULL, 0) == DN_OK, "%s", run.why);
    char *events = DN_TAKE(run.events), *users = DN_TAKE(run.users);
    remove_all(run.out);
    processors_are(1);
    CHECK_MSG(run_with(seed, NULL, 0) == DN_OK, "%s", run.why);
    CHECK(strlen(events) > 300000);
    CHECK_MSG(strcmp(events, run.events) == 0, "the events differ");
    CHECK_STR(users, run.users);
    free(events);
    free(users);
}
