/* demo.c - made-up runs, for trying things out: most end well within a second, one in ten fails, one in a hundred hangs.
 * What happens to a run is a hash of the seed and the request. A failure is one of those that real endpoints show: no
 * answer, one that names its reason, one whose JSON is broken, one that says nothing. */
#include "timed.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { DEMO_HANG_PERMILLE = 10, DEMO_ERROR_PERMILLE = 100, DEMO_MIN_MS = 50, DEMO_MAX_MS = 2000 };

static int demo_check(const dn_runner_config *config, char *why) {
    if (strlen(config->url) != strlen("demo:"))
        return dn_refuse(DN_EINVAL, why, DN_RUNNER_WHY,
                         "runner \"%.100s\": write demo: and nothing after it", config->url);
    return DN_OK;
}

typedef struct demo {
    uint64_t seed;
    dn_blob *named, *broken; /* bodies of answers */
} demo;

static void demo_close(dn_runner *runner) {
    demo *d = runner->state;

    dn_blob_unref(d->named);
    dn_blob_unref(d->broken);
    free(d);
}

static int demo_open(dn_runner *runner, const dn_runner_config *config) {
    static const char named[] = "{\"error_class\":\"llm\"}", broken[] = "{\"error_class\"";
    demo             *d = calloc(1, sizeof *d);

    if (!d) return DN_ENOMEM;
    d->seed = config->seed;
    d->named = dn_blob_of(named, sizeof named - 1);
    d->broken = dn_blob_of(broken, sizeof broken - 1);
    runner->state = d;
    if (d->named && d->broken) return DN_OK;
    demo_close(runner);
    return DN_ENOMEM;
}

/* A bijection that scatters: each bit of the answer depends on each of x. */
static uint64_t scatter(uint64_t x) {
    x = (x ^ x >> 31) * 0x7fb5d329728ea185;
    x = (x ^ x >> 27) * 0x81dadef4bc2dd44d;
    return x ^ x >> 33;
}

static uint64_t next_draw(uint64_t *state) { return scatter(*state += 0x9e3779b97f4a7c15); }

static uint64_t hash_of(uint64_t state, const char *bytes, size_t len) {
    for (size_t i = 0; i < len; i++) state = scatter(state ^ (unsigned char)bytes[i]);
    return state;
}

static uint64_t draws_of(uint64_t seed, const dn_run_request *request) {
    const uint64_t state = hash_of(scatter(seed + 1), request->key, request->key_len);

    return hash_of(state, dn_blob_bytes_borrow(request->body), dn_blob_len(request->body));
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

static dn_run_result failure(const demo *d, dn_run *run, uint64_t draw) {
    run_error(run, "demo: simulated failure");
    run->answer.json = true;
    switch (draw % 4) {
    case 0: return dn_run_result_of(DN_OUTCOME_ERROR, DN_CODE_TRANSPORT, 0);
    case 1: run->answer.body = dn_blob_ref(d->named); break;
    case 2: run->answer.body = dn_blob_ref(d->broken); break;
    default: break;
    }
    return dn_run_result_of(DN_OUTCOME_ERROR, DN_CODE_NONE, 0);
}

static void demo_begin(dn_run *run, dn_self *self, const dn_run_request *request) {
    const demo    *d = run->runner->state;
    uint64_t       state = draws_of(d->seed, request);
    const uint64_t fate = next_draw(&state) % 1000;
    const int64_t  ms = latency_ms(&state);

    if (fate < DEMO_HANG_PERMILLE) {
        run_error(run, "demo: simulated hang");
        timed_never(run);
    } else if (fate < DEMO_HANG_PERMILLE + DEMO_ERROR_PERMILLE) {
        timed_after(run, self, ms, failure(d, run, next_draw(&state)));
    } else {
        timed_after(run, self, ms, dn_run_result_of(DN_OUTCOME_OK, DN_CODE_NONE, 0));
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
