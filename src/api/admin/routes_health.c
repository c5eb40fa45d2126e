/* routes_health.c - /healthz, is the process alive, and /readyz, does it plan and write? For whatever restarts the daemon
 * or sends it work. */
#include "reply.h"
#include "words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PATIENCE_MS = 1000, LINE_MAX = 160 };

/* The web actor runs on the planner's loop, so an answer shows that this loop turns. */
static route_step get_healthz(dn_self *self, const api_world *w, exchange *x) {
    (void)self, (void)w;
    return reply_text(x, 200, "alive\n");
}

/* ---- GET /readyz ---- */

typedef struct check {
    bool ok;
    char text[LINE_MAX];
} check;

typedef struct ready_state {
    check planner, store;
} ready_state;

static check check_planner(dn_self *self, const api_world *w, const dn_msg *reply) {
    const dn_tick_status *tick = reply ? DN_BODY(dn_tick_status, reply) : NULL;
    const int64_t         late_ms = 2 * w->service->tick_ms + PATIENCE_MS;
    const int64_t         ago_ms = tick ? (dn_mono_ns(self) - tick->last_ns) / 1000000 : INT64_MAX;
    check                 c = {.ok = tick && tick->loaded && ago_ms <= late_ms};
    char                  users[DN_WORDS];

    if (!tick) snprintf(c.text, LINE_MAX, "planner: no answer within %d ms", PATIENCE_MS);
    else if (!tick->loaded)
        snprintf(c.text, LINE_MAX, "planner: loading users, %" PRIu64 " so far", tick->users);
    else if (!c.ok)
        snprintf(c.text, LINE_MAX, "planner: the last tick was %" PRId64 " s ago", ago_ms / 1000);
    else snprintf(c.text, LINE_MAX, "planner: ok, %s", dn_words_count(tick->users, "user", users));
    return c;
}

static check check_store(const dn_msg *reply) {
    const dn_kv_status *kv = reply ? DN_BODY(dn_kv_status, reply) : NULL;
    check               c = {.ok = kv && !kv->full};
    char                writes[DN_WORDS];

    if (!kv) snprintf(c.text, LINE_MAX, "store: no answer within %d ms", PATIENCE_MS);
    else if (kv->full)
        snprintf(c.text, LINE_MAX, "store: the disk is full, %s waiting",
                 dn_words_count(kv->waiting, "write", writes));
    else snprintf(c.text, LINE_MAX, "store: ok");
    return c;
}

static route_step reply_ready(dn_self *self, const api_world *w, exchange *x, const dn_msg *reply) {
    ready_state *s = x->state;
    char         page[3 * LINE_MAX];

    (void)self, (void)w;
    s->store = check_store(reply);
    const bool ready = s->planner.ok && s->store.ok;
    if (exchange_wants(x, "verbose")) {
        snprintf(page, sizeof page, "%s\n%s\n%s\n", s->planner.text, s->store.text,
                 ready ? "ready" : "not ready");
        return reply_text(x, ready ? 200 : 503, page);
    }
    if (ready) return reply_text(x, 200, "ready\n");
    return reply_problem(x, 503, "%s%s%s", s->planner.ok ? "" : s->planner.text,
                         s->planner.ok || s->store.ok ? "" : "; ",
                         s->store.ok ? "" : s->store.text);
}

static route_step ask_store(dn_self *self, const api_world *w, exchange *x, const dn_msg *reply) {
    ready_state *s = x->state;

    s->planner = check_planner(self, w, reply);
    return exchange_try(self, w, x, w->kv, MSG_KV_STATUS, NULL, 0, PATIENCE_MS, reply_ready);
}

static route_step get_readyz(dn_self *self, const api_world *w, exchange *x) {
    if (!exchange_keep(x, sizeof(ready_state), NULL)) return reply_no_memory(x);
    return exchange_try(self, w, x, w->tick, MSG_ASK_STATUS, NULL, 0, PATIENCE_MS, ask_store);
}

const route routes_health[] = {
    {"GET", "/healthz", .handler = get_healthz},
    {"GET", "/readyz", .handler = get_readyz},
    {.method = NULL},
};
