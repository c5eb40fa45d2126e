/* demo.c - runs made up, for trying things out: mostly well within a second, one in ten fails, one
 * in a hundred hangs.
 * What happens to a run is a hash of the seed, the user, the day and the attempt: the same at every
 * try. */
#include "timed.h"

#include <stdlib.h>
#include <string.h>

enum { DEMO_HANG_PERMILLE = 10, DEMO_ERROR_PERMILLE = 100, DEMO_MIN_MS = 50, DEMO_MAX_MS = 2000 };

static int demo_check(const dn_runner_config *config, char *why) {
    if (strlen(config->url) != strlen("demo:"))
        return runner_refuse(why, "runner \"%.100s\": nothing follows demo:", config->url);
    return DN_OK;
}

static int demo_open(dn_runner *runner, const dn_runner_config *config) {
    uint64_t *seed = malloc(sizeof *seed);

    if (!seed) return DN_ENOMEM;
    *seed = config->seed;
    runner->own = seed;
    return DN_OK;
}

static void demo_close(dn_runner *runner) { free(runner->own); }

/* A bijection that scatters: each bit of the answer depends on each of x. */
static uint64_t scatter(uint64_t x) {
    x = (x ^ x >> 31) * 0x7fb5d329728ea185;
    x = (x ^ x >> 27) * 0x81dadef4bc2dd44d;
    return x ^ x >> 33;
}

static uint64_t next_draw(uint64_t *state) { return scatter(*state += 0x9e3779b97f4a7c15); }

static uint64_t draws_of(uint64_t seed, const dn_run_request *request) {
    uint64_t state = scatter(seed + 1);

    for (size_t i = 0; i < request->user_id_len; i++)
        state = scatter(state ^ (unsigned char)request->user_id[i]);
    state = scatter(state ^ ((uint64_t)(uint32_t)request->day << 32 | request->attempt));
    return scatter(state ^ (uint64_t)request->type);
}

/* Between the bounds evenly by octaves, and the mean of three draws: a bell over a logarithmic scale. */
static int64_t latency_ms(uint64_t *state) {
    const uint64_t octaves_q16 = 348772; /* log2(DEMO_MAX_MS / DEMO_MIN_MS) in 1/65536 */
    uint64_t       place_q16 = 0;

    for (int i = 0; i < 3; i++) place_q16 += (next_draw(state) >> 48) * octaves_q16 >> 16;
    place_q16 /= 3;
    const uint64_t low = (uint64_t)DEMO_MIN_MS << (place_q16 >> 16);
    const int64_t  ms = (int64_t)(low + (low * (place_q16 & 0xffff) >> 16));
    return ms < DEMO_MAX_MS ? ms : DEMO_MAX_MS;
}

static void demo_begin(dn_run *run, dn_self *self, const dn_run_request *request) {
    uint64_t       state = draws_of(*(const uint64_t *)run->runner->own, request);
    const uint64_t fate = next_draw(&state) % 1000;
    const int64_t  ms = latency_ms(&state);

    if (fate < DEMO_HANG_PERMILLE) {
        run_say(run, "demo: it hangs");
        timed_never(run);
    } else if (fate < DEMO_HANG_PERMILLE + DEMO_ERROR_PERMILLE) {
        const dn_error_class cls = (dn_error_class)(DN_CLASS_REQ + next_draw(&state) % 4);
        run_say(run, "demo: made up to fail");
        timed_after(run, self, ms, dn_run_result_of(DN_OUTCOME_ERROR, cls, 0));
    } else {
        timed_after(run, self, ms, dn_run_result_of(DN_OUTCOME_OK, DN_CLASS_NONE, 0));
    }
}

const scheme demo_scheme = {
    .run_size = sizeof(timed_run),
    .simulates = true,
    .check = demo_check,
    .open = demo_open,
    .close = demo_close,
    .begin = demo_begin,
    .cut = timed_cut,
};
