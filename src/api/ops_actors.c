/* ops_actors.c - who is there, how long their mailboxes are, and who failed lately: loop by loop. */
#include "daily/json_user.h"
#include "ops.h"

enum { ROWS_MAX = 64 };

static json_t *actor_item(const ops_world *w, const dn_report *r, const dn_actor_report *a) {
    return json_pack("{s:s, s:s, s:s, s:s?, s:I, s:I, s:I, s:f, s:f, s:I, s:I}", "name", a->name,
                     "class", a->actor_class, "loop", r->loop, "supervisor",
                     dn_service_supervisor_of(w->about->service, a->name, a->actor_class),
                     "mailbox", (json_int_t)a->depth, "mailbox_peak", (json_int_t)a->depth_peak,
                     "handled", (json_int_t)a->handled, "busy_ms", (double)a->busy_ns / 1e6,
                     "longest_ms", (double)a->longest_ns / 1e6, "heap_bytes",
                     (json_int_t)a->heap_bytes, "restarts", (json_int_t)a->restarts);
}

static json_t *crash_item(const dn_report *r, const dn_crash_report *c) {
    return json_pack("{s:o, s:s, s:s, s:i, s:s, s:s}", "at", json_of_instant(c->at_ms), "name",
                     c->name, "loop", r->loop, "message", (int)c->kind, "reason",
                     dn_error_text(c->reason), "why", c->why);
}

static json_t *loop_item(const dn_report *r) {
    return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I}", "name", r->loop, "actors",
                     (json_int_t)r->actors, "spawned", (json_int_t)r->spawned, "crashed",
                     (json_int_t)r->crashed, "handled", (json_int_t)r->handled, "dead_letters",
                     (json_int_t)r->dead_letters, "memory_bytes", (json_int_t)r->memory_bytes);
}

static bool take(ask *a, const char *key, json_t *item) {
    return json_array_append_new(json_object_get(a->answer, key), item) == 0;
}

static bool take_report(const ops_world *w, ask *a, const dn_report *r) {
    bool whole = take(a, "loops", loop_item(r));

    for (size_t i = 0; i < r->actors_len; i++)
        whole &= take(a, "items", actor_item(w, r, &r->rows[i]));
    for (size_t i = 0; i < r->crashes_len; i++)
        whole &= take(a, "crashes", crash_item(r, &r->crashes[i]));
    return whole;
}

ask_step op_actors(dn_self *self, const ops_world *w, ask *a, const dn_msg *reply) {
    if (!reply) {
        ask_put(a, "items", json_array());
        ask_put(a, "loops", json_array());
        ask_put(a, "crashes", json_array());
        if (!a->answer) return ASK_DONE;
    } else if (dn_msg_size(reply) == 0 || !take_report(w, a, dn_msg_body_borrow(reply))) {
        return ask_refuse(a, "failed", "out of memory");
    }
    if (a->stage == DN_SERVICE_LOOPS) return ASK_DONE;
    a->call = dn_inspect(self, dn_service_loops[a->stage], ROWS_MAX);
    return ASK_WAITS;
}
