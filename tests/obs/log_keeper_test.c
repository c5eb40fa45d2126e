/* log_keeper_test.c - what was kept back comes though nobody says anything more. */
#include "log_keeper.h"

#include "diurnal/sim.h"
#include "log.h"
#include "test.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int     reader;
static int64_t now_ms = INT64_C(1794988800000); /* 2026-11-18T08:00:00Z */

static int64_t clock_of_test(void *context) {
    (void)context;
    return now_ms;
}

/* All that has come by now. */
static const char *hear(void) {
    static char   heard[1 << 16];
    const ssize_t len = read(reader, heard, sizeof heard - 1);

    heard[len > 0 ? len : 0] = '\0';
    return heard;
}

static void say_often(const char *event, int times) {
    for (int i = 0; i < times; i++) dn_log(DN_LOG_WARN, event, "again");
}

TEST(repeats_are_said_about_a_second_after_their_time_and_that_again_and_again) {
    const dn_child_spec      child = dn_log_keeper_child();
    const dn_supervisor_spec top = {.children = {&child, 1}};
    const dn_spawn_spec root = {.actor_class = &dn_supervisor_class, .config = &top, .name = "top"};
    const dn_sim_config config = {.seed = test_seed()};
    int                 ends[2];
    dn_sim             *sim;

    CHECK_INT(pipe(ends), 0);
    CHECK_INT(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    reader = ends[0];
    dn_log_output(ends[1]);
    dn_log_format(DN_LOG_TEXT);
    dn_log_clock(clock_of_test, NULL);
    CHECK_INT(dn_sim_new(&config, &sim), DN_OK);
    CHECK_INT(dn_sim_boot(sim, &root), DN_OK);
    for (int round = 0; round < 3; round++) {
        say_often("store.full", 25);
        (void)hear();
        (void)dn_sim_run(sim, dn_sim_mono_ms(sim) + 1500);
        CHECK_STR(hear(), ""); /* its time is not over */
        now_ms += 10000;
        (void)dn_sim_run(sim, dn_sim_mono_ms(sim) + 1100);
        CHECK_MSG(strstr(hear(), "log.repeated: and 5 more of store.full"), "round %d", round);
    }
    dn_sim_free(sim);
}
