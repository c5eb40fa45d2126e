/* simulate_shortest_test.c - what `diurnal simulate --json` says of a seed that failed. */
#include "simulate_shortest.h"
#include "test.h"

#include <string.h>

/* The seed is one that passes: so nothing of it can be left out, and all of it is the shortest. */
TEST(as_json_too_a_seed_that_failed_comes_with_its_shortest_run) {
    const simulate_range range = {.bounds = {.users = 2, .days = 2, .faults = 0}};
    const simulate_found found = {
        .any = true,
        .seed = 7,
        .verdict = {.broken = true, .rule = SIMULATE_SETTLES, .text = "settles: so it is"},
    };
    simulate_shortest shortest;

    CHECK_INT(simulate_shortest_of(&range, &found, 3, &shortest), DN_OK);
    json_t     *said = simulate_shortest_json(&shortest);
    const char *lines = json_string_value(json_object_get(said, "lines"));
    CHECK_INT(json_integer_value(json_object_get(said, "runs")), 3);
    CHECK_STR(json_string_value(json_object_get(said, "text")), "settles: so it is");
    CHECK(lines && strncmp(lines, "{\"trace\":1,\"start\":", 19) == 0);
    CHECK(strstr(lines, "\"op\":\"user\",\"id\":\"u"));
    CHECK(json_is_null(json_object_get(said, "trace"))); /* replayed it fails no more than before */
    json_decref(said);
    simulate_shortest_done(&shortest);
}
