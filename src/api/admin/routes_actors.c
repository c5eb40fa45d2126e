/* routes_actors.c - GET /api/v1/actors: actors, their mailboxes, and the latest crashes, loop by loop. */
#include "daily/json_user.h"
#include "reply.h"

#include <stdlib.h>

enum { ROWS_MAX = 64 /* actors of one loop */ };

typedef struct actors_state {
    json_t *items, *loops, *crashes;
    size_t  loop; /* the one that is inspected */
} actors_state;

static void actors_free(void *state) {
    actors_state *s = state;

    json_decref(s->items);
    json_decref(s->loops);
    json_decref(s->crashes);
    free(s);
}

static json_t *json_of_actor(const api_world *w, const dn_report *r, const dn_actor_report *a) {
    return json_pack("{s:s, s:s, s:s, s:s?, s:I, s:I, s:I, s:f, s:f, s:I, s:I}", "name", a->name,
                     "class", a->actor_class, "loop", r->loop, "supervisor",
                     dn_service_supervisor_of(w->service, a->name, a->actor_class), "mailbox",
                     (json_int_t)a->depth, "mailbox_peak", (json_int_t)a->depth_peak, "handled",
                     (json_int_t)a->handled, "busy_ms", (double)a->busy_ns / 1e6, "longest_ms",
                     (double)a->longest_ns / 1e6, "heap_bytes", (json_int_t)a->heap_bytes,
                     "restarts", (json_int_t)a->restarts);
}

static json_t *json_of_crash(const dn_report *r, const dn_crash_report *c) {
    return json_pack("{s:o, s:s, s:s, s:i, s:s, s:s}", "at", json_of_instant(c->at_ms), "name",
                     c->name, "loop", r->loop, "message", (int)c->kind, "reason",
                     dn_error_text(c->reason), "why", c->why);
}

static json_t *json_of_loop(const dn_report *r) {
    return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I}", "name", r->loop, "actors",
                     (json_int_t)r->actors, "spawned", (json_int_t)r->spawned, "crashed",
                     (json_int_t)r->crashed, "handled", (json_int_t)r->handled, "dead_letters",
                     (json_int_t)r->dead_letters, "memory_bytes", (json_int_t)r->memory_bytes);
}

static route_step inspect_loop(dn_self *self, exchange *x);

static route_step take_report(dn_self *self, const api_world *w, exchange *x, const dn_msg *reply) {
    const dn_report *r = dn_msg_body_borrow(reply);
    actors_state    *s = x->state;

    if (dn_msg_size(reply) == 0) return reply_no_memory(x);
    reply_append(&s->loops, json_of_loop(r));
    for (size_t i = 0; i < r->actors_len; i++)
        reply_append(&s->items, json_of_actor(w, r, &r->rows[i]));
    for (size_t i = 0; i < r->crashes_len; i++)
        reply_append(&s->crashes, json_of_crash(r, &r->crashes[i]));
    if (++s->loop < DN_SERVICE_LOOPS) return inspect_loop(self, x);
    return reply_json(x, 200,
                      json_pack("{s:o, s:o, s:o}", "items", DN_TAKE(s->items), "loops",
                                DN_TAKE(s->loops), "crashes", DN_TAKE(s->crashes)));
}

static route_step inspect_loop(dn_self *self, exchange *x) {
    const actors_state *s = x->state;

    return exchange_wait(x, dn_inspect(self, dn_service_loops[s->loop], ROWS_MAX), take_report);
}

static route_step list_actors(dn_self *self, const api_world *w, exchange *x) {
    actors_state *s = exchange_keep(x, sizeof *s, actors_free);

    (void)w;
    if (!s) return reply_no_memory(x);
    s->items = json_array();
    s->loops = json_array();
    s->crashes = json_array();
    return inspect_loop(self, x);
}

const route routes_actors[] = {
    {"GET", "/api/v1/actors", DN_SCOPE_READ, .handler = list_actors},
    {.method = NULL},
};
