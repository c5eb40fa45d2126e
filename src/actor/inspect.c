/* inspect.c - a loop's report about itself.
 * The loop writes it itself, so it is of one instant; the asker gets it as a message. */
#include "mem.h"
#include "rt.h"

#include <string.h>

typedef struct inspect_request {
    size_t max;
} inspect_request;

dn_call_id dn_inspect(dn_self *self, const char *loop, size_t max) {
    dn_loop              *l = self->loop;
    dn_loop              *there = loop ? rt_loop(l->runtime, loop) : l;
    const inspect_request request = {.max = max};
    dn_msg               *m = msg_take(l);

    if (!m) fail_nomem();
    m->from = self->ref;
    m->kind = CTL_INSPECT;
    m->flags = MSG_CONTROL | MSG_EXEMPT;
    m->call = ++l->inspections;
    msg_set_small(m, &request, sizeof request);
    const dn_call_id id = m->call; /* from here on it is its loop's */
    if (there == l) msg_arrive(l, m);
    else rt_push(there, m);
    return id;
}

static uint32_t lane_len(const dn_self *a) {
    uint32_t len = 0;

    for (const dn_msg *m = a->user_head; m; m = m->next) len++;
    return len;
}

static void report_actor(const dn_self *a, dn_actor_report *r) {
    const name_slot *n = actor_name_slot(a);

    r->who = a->ref;
    text_copy(r->name, sizeof r->name, actor_shown(a));
    r->actor_class = a->actor_class->name;
    r->depth = lane_len(a);
    r->handled = a->handled;
    r->depth_peak = a->depth_peak > a->far_peak ? a->depth_peak : a->far_peak;
    if (r->depth_peak < r->depth) r->depth_peak = r->depth;
    r->busy_ns = a->busy_ns;
    r->longest_ns = (int64_t)a->longest_us * 1000;
    r->longest_kind = a->longest_kind;
    r->heap_bytes = a->actor_class->state_size + (a->arena ? a->arena->total : 0);
    if (n) r->restarts = atomic_load_explicit(&n->starts, memory_order_relaxed) - 1;
}

static uint64_t handled_ever(const dn_loop *l) {
    uint64_t sum = l->handled;

    for (char *at = l->actors.base; at < l->actors.fresh; at += l->actors.size) {
        const dn_self *a = (const dn_self *)(const void *)at;
        if (actor_lives(a)) sum += a->handled;
    }
    return sum;
}

static void report_actors(const dn_loop *l, dn_report *r, size_t max, bool named) {
    for (char *at = l->actors.base; at < l->actors.fresh; at += l->actors.size) {
        const dn_self *a = (const dn_self *)(const void *)at;
        if (r->actors_len == max) return;
        if (actor_lives(a) && (actor_name_slot(a) != NULL) == named)
            report_actor(a, &r->rows[r->actors_len++]);
    }
}

static size_t memory_taken(const dn_loop *l) {
    size_t sum = slab_memory(&l->messages) + slab_memory(&l->actors) + slab_memory(&l->admissions) +
                 slab_memory(&l->timers) + slab_memory(&l->wall_timers) + slab_memory(&l->watches) +
                 slab_memory(&l->owneds) + slab_memory(&l->chunks) + l->large_bytes;

    for (int i = 0; i < STATE_CLASSES; i++) sum += slab_memory(&l->states[i]);
    return sum;
}

static void report_loop(const dn_loop *l, dn_report *r) {
    text_copy(r->loop, sizeof r->loop, l->name);
    r->actors = l->spawned - l->ended;
    r->spawned = l->spawned;
    r->ended = l->ended;
    r->crashed = l->crashed;
    r->handled = handled_ever(l);
    r->full = l->full;
    r->dead_letters = l->dead_letters;
    r->unhandled = l->unhandled;
    r->late_replies = l->late_replies;
    r->expired_calls = l->expired_calls;
    r->exempt = l->exempt;
    r->wakeups = l->wakeups;
    r->crash_points = l->crash_points;
    r->unattributed_ns = l->unattributed_ns;
    r->memory_bytes = memory_taken(l);
    r->crashes_len = l->crashed < DN_CRASHES_KEPT ? l->crashed : DN_CRASHES_KEPT;
    for (size_t i = 0; i < r->crashes_len; i++)
        r->crashes[i] = l->crashes[(l->crashed - 1 - i) % DN_CRASHES_KEPT];
}

void inspect_arrived(dn_loop *l, dn_msg *m) {
    const uint64_t alive = l->spawned - l->ended;
    const size_t   asked = ((const inspect_request *)(const void *)m->inline_body)->max;
    const size_t   rows = asked < alive ? asked : alive;
    const size_t   size = sizeof(dn_report) + rows * sizeof(dn_actor_report);
    dn_report     *r = mem_alloc(size);

    m->to = m->from;
    m->from = DN_NOBODY;
    m->kind = DN_MSG_REPORT;
    m->flags = MSG_EXEMPT;
    m->inline_size = 0; /* without memory the report is an empty one */
    if (r) {
        report_loop(l, r);
        report_actors(l, r, rows, /* named= */ true);
        report_actors(l, r, rows, /* named= */ false);
        msg_set_large(m, r, size, mem_free);
    }
    msg_route(l, m);
}
