/* request.c - what a supervisor is asked: how it stands, to stop a child, to start it again.
 * A request that cannot be answered at once is kept until its child is where it should be; each
 * handler's end looks at those that wait. Their number is bounded: one more answers DN_EFULL. If the
 * supervisor ends first, they are let go with it, and their calls fail. */
#include "sup.h"

#include <string.h>

void sup_answer(dn_self *self, const dn_msg *request, int status, dn_ref who, uint64_t restarts) {
    const dn_sup_child answer = {.status = status, .who = who, .restarts = restarts};

    if (request && dn_msg_is_request(request))
        dn_reply(self, request, DN_SUP_CHILD, &answer, sizeof answer);
}

static void answer_about(dn_self *self, const dn_msg *request, int status, const sup_child *c) {
    const bool up = c->state == CHILD_RUNNING;

    sup_answer(self, request, status, up ? c->who : DN_NOBODY, c->starts > 0 ? c->starts - 1 : 0);
}

/* NULL: it names no child, or one that is forgotten. */
static sup_child *child_named_in(const sup *s, const dn_msg *msg) {
    const char  *name = dn_msg_body_borrow(msg);
    const size_t size = dn_msg_size(msg);
    uint32_t     index;

    if (size == 0 || size > DN_NAME_MAX + 1 || memchr(name, '\0', size) != name + size - 1)
        return NULL;
    index = sup_names_find(&s->names, name);
    if (index == UINT32_MAX || s->children[index].state == CHILD_GONE) return NULL;
    return &s->children[index];
}

int sup_on_ask_counts(dn_self *self, void *state, const dn_msg *msg) {
    const sup    *s = state;
    dn_sup_counts counts = {.started = s->started, .restarts = s->restarts};

    for (uint32_t i = 0; i < s->len; i++) {
        counts.specs += s->children[i].state != CHILD_GONE;
        counts.active += s->children[i].state == CHILD_RUNNING;
    }
    if (dn_msg_is_request(msg)) dn_reply(self, msg, DN_SUP_COUNTS, &counts, sizeof counts);
    return DN_OK;
}

int sup_on_ask_child(dn_self *self, void *state, const dn_msg *msg) {
    const sup_child *c = child_named_in(state, msg);

    if (c) answer_about(self, msg, DN_OK, c);
    else sup_answer(self, msg, DN_EINVAL, DN_NOBODY, 0);
    return DN_OK;
}

static bool is_full(const sup *s) { return s->requests_len == DN_SUP_REQUESTS_MAX; }

static void keep(dn_self *self, sup *s, const dn_msg *msg, sup_child *c, bool to_start) {
    s->requests[s->requests_len++] =
        (sup_request){.msg = dn_msg_is_request(msg) ? dn_msg_keep(self, msg) : NULL,
                      .child = c,
                      .to_start = to_start};
}

static void hold(dn_self *self, sup *s, sup_child *c) {
    c->held = true;
    switch (c->state) {
    case CHILD_STARTING:
    case CHILD_RUNNING:
    case CHILD_STOPPING: sup_child_stop(self, s, c); break;
    case CHILD_WAITING:
        sup_child_rest(self, s, c);
        if (s->phase == SUP_DELAYING) sup_step_call_off_if_idle(self, s);
        break;
    case CHILD_NOTED: sup_child_rest(self, s, c); break;
    case CHILD_ABSENT:
    case CHILD_GONE: break;
    }
}

int sup_on_stop_child(dn_self *self, void *state, const dn_msg *msg) {
    sup       *s = state;
    sup_child *c = child_named_in(s, msg);

    if (!c || is_full(s)) {
        sup_answer(self, msg, c ? DN_EFULL : DN_EINVAL, DN_NOBODY, 0);
        return DN_OK;
    }
    hold(self, s, c);
    keep(self, s, msg, c, /* to_start= */ false);
    return sup_settle(self, s);
}

int sup_on_restart_child(dn_self *self, void *state, const dn_msg *msg) {
    sup       *s = state;
    sup_child *c = child_named_in(s, msg);

    if (!c) {
        sup_answer(self, msg, DN_EINVAL, DN_NOBODY, 0);
        return DN_OK;
    }
    if (c->state != CHILD_ABSENT) {
        answer_about(self, msg, DN_EEXIST, c);
        return DN_OK;
    }
    if (is_full(s)) {
        sup_answer(self, msg, DN_EFULL, DN_NOBODY, 0);
        return DN_OK;
    }
    keep(self, s, msg, c, /* to_start= */ true);
    return sup_settle(self, s);
}

/* ---- Those that wait ---- */

/* True: answered. */
static bool stop_goes_on(dn_self *self, const sup_request *r) {
    if (r->child->state != CHILD_ABSENT && r->child->state != CHILD_GONE) return false;
    answer_about(self, r->msg, DN_OK, r->child);
    return true;
}

static bool start_goes_on(dn_self *self, sup *s, sup_request *r) {
    sup_child *c = r->child;

    if (s->phase == SUP_ENDING) {
        answer_about(self, r->msg, DN_ESHUTDOWN, c);
        return true;
    }
    /* Not into the middle of a step: that may be about to start it, or to stop it. */
    if (!r->begun && c->state == CHILD_ABSENT &&
        (s->phase == SUP_STEADY || s->phase == SUP_DELAYING)) {
        r->begun = true;
        c->held = false;
        c->on_request = true;
        sup_happened(self, s, c, sup_child_start(self, s, c));
    }
    switch (c->state) {
    case CHILD_RUNNING: answer_about(self, r->msg, DN_OK, c); return true;
    case CHILD_GONE: answer_about(self, r->msg, c->reason, c); return true;
    case CHILD_ABSENT:
        if (!r->begun) return false;
        c->held = true;
        answer_about(self, r->msg, c->reason, c);
        return true;
    case CHILD_WAITING:
    case CHILD_STARTING:
    case CHILD_STOPPING:
    case CHILD_NOTED: break;
    }
    return false;
}

void sup_requests_go_on(dn_self *self, sup *s) {
    uint32_t kept = 0;

    for (uint32_t i = 0; i < s->requests_len; i++) {
        sup_request r = s->requests[i];

        if (!(r.to_start ? start_goes_on(self, s, &r) : stop_goes_on(self, &r)))
            s->requests[kept++] = r;
    }
    s->requests_len = kept;
}
