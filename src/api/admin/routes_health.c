/* routes_health.c - is it alive, and does it do its work? For whoever restarts, or sends users here. */
#include "routes.h"
#include "words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PATIENCE_MS = 1000, LINE_MAX = 160, PAGE_MAX = 512 };

/* Whoever gets this answer has it from the loop that plans. */
route_step route_healthz(dn_self *self, const route_world *w, exchange *x, const dn_msg *reply) {
    (void)self, (void)w, (void)reply;
    return exchange_answer(x, http_answer_text(200, "alive\n"));
}

/* ---- Readiness ---- */

typedef struct check {
    bool fine;
    char words[LINE_MAX];
} check;

static check check_planner(dn_self *self, const route_world *w, const exchange *x) {
    const int64_t late_ms = 2 * w->service->tick_ms + PATIENCE_MS;
    const int64_t ago_ms = (dn_mono_ns(self) - x->tick.last_ns) / 1000000;
    check         c = {.fine = false};
    char          users[DN_WORDS];

    if (!x->tick_answered) {
        snprintf(c.words, LINE_MAX, "planner: no answer within %d ms", PATIENCE_MS);
    } else if (!x->tick.loaded) {
        snprintf(c.words, LINE_MAX, "planner: users are being loaded, %" PRIu64 " so far",
                 x->tick.users);
    } else if (ago_ms > late_ms) {
        snprintf(c.words, LINE_MAX, "planner: the last tick was %" PRId64 " s ago", ago_ms / 1000);
    } else {
        c.fine = true;
        snprintf(c.words, LINE_MAX, "planner: ok, %s",
                 dn_words_count(x->tick.users, "user", users));
    }
    return c;
}

static check check_store(const exchange *x) {
    check c = {.fine = false};

    if (!x->kv_answered) {
        snprintf(c.words, LINE_MAX, "store: no answer within %d ms", PATIENCE_MS);
    } else if (x->kv.full) {
        snprintf(c.words, LINE_MAX, "store: the disk takes no writes, %" PRIu64 " wait in memory",
                 x->kv.waiting);
    } else {
        c.fine = true;
        snprintf(c.words, LINE_MAX, "store: ok");
    }
    return c;
}

static http_response readiness(dn_self *self, const route_world *w, const exchange *x) {
    const check planner = check_planner(self, w, x), store = check_store(x);
    const bool  ready = planner.fine && store.fine;
    char        page[PAGE_MAX];

    if (exchange_wants(x, "verbose")) {
        snprintf(page, sizeof page, "%s\n%s\n%s\n", planner.words, store.words,
                 ready ? "ready" : "not ready");
        return http_answer_text(ready ? 200 : 503, page);
    }
    if (ready) return http_answer_text(200, "ready\n");
    snprintf(page, sizeof page, "%s%s%s", planner.fine ? "" : planner.words,
             planner.fine || store.fine ? "" : "; ", store.fine ? "" : store.words);
    return http_problem(503, page);
}

enum { READY_BEGINS, READY_TICK, READY_KV };

static void take_status(exchange *x, const dn_msg *reply) {
    if (dn_msg_kind(reply) != MSG_STATUS) return;
    if (x->stage == READY_TICK) {
        x->tick = *DN_BODY(dn_tick_status, reply);
        x->tick_answered = true;
    } else {
        x->kv = *DN_BODY(dn_kv_status, reply);
        x->kv_answered = true;
    }
}

/* Who is not there to be asked has not answered: so it goes on at once. */
route_step route_readyz(dn_self *self, const route_world *w, exchange *x, const dn_msg *reply) {
    route_step step = ROUTE_DONE;

    if (reply) take_status(x, reply);
    while (x->stage < READY_KV && step == ROUTE_DONE)
        step = exchange_call(self, x, x->stage == READY_BEGINS ? w->tick : w->kv,
                             x->stage == READY_BEGINS ? MSG_ASK_STATUS : MSG_KV_STATUS, NULL, 0,
                             PATIENCE_MS);
    return step == ROUTE_WAITS ? step : exchange_answer(x, readiness(self, w, x));
}
