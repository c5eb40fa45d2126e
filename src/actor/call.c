/* call.c - requests and their answers.
 * A call is a timer of the caller's with a reply that disarms it: its id is the timer's, so "is this
 * call still open" is one look, and a late or doubled reply finds nothing. The request is owned by
 * whoever is to answer; if it is let go unanswered, wherever that happens, its block travels back
 * as DN_MSG_CALL_FAILED. So a caller learns of a dead server without watching it. */
#include "rt.h"

#include <assert.h>
#include <string.h>

static timer *call_find(dn_loop *l, const dn_self *a, uint64_t id) {
    timer *t = timer_find(l, a, id);

    return t && timer_kind(t) == 0 ? t : NULL;
}

bool call_close(dn_loop *l, dn_self *a, uint64_t id) {
    timer *t = call_find(l, a, id);

    if (t) timer_drop(l, t);
    else l->late_replies++; /* or the news that there will be none: too late is too late */
    return t != NULL;
}

/* Makes the block of a request its own failure, and sends it back. */
void call_fail(dn_loop *l, dn_msg *m, int status) {
    const dn_call_failed failed = {.id = m->call, .status = status};

    msg_drop_body(m);
    m->to = m->from;
    m->from = DN_NOBODY;
    m->kind = DN_MSG_CALL_FAILED;
    m->flags = MSG_REPLY | MSG_EXEMPT;
    msg_set_small(m, &failed, sizeof failed);
    msg_route(l, m);
}

int dn_call(dn_self *self, dn_ref to, uint32_t kind, const void *body, size_t size,
            int64_t timeout_ms, dn_call_id *out_id) {
    dn_loop *l = self->loop;

    assert(kind > 0 && kind <= DN_KIND_MAX && "message kinds go from 1 to DN_KIND_MAX");
    assert(timeout_ms >= 0 && "a call's timeout is not negative");
    const int64_t deadline_ns = timeout_ms < (INT64_MAX - l->mono_ns) / 1000000
                                    ? l->mono_ns + timeout_ms * 1000000
                                    : INT64_MAX;
    timer        *t = timer_arm(l, self, deadline_ns, /* kind= */ 0, 0);
    dn_msg       *m = t ? msg_take(l) : NULL;
    if (!m) fail_nomem(); /* t is self's, and goes with it */
    if (msg_set_body(m, body, size) < 0) {
        msg_free(l, m);
        fail_nomem();
    }
    m->from = self->ref;
    m->kind = kind;
    m->flags |= MSG_REQUEST;
    m->call = timer_id(l, t);
    m->deadline_ns = deadline_ns;
    const uint64_t id = m->call;
    const int      rc = msg_send_on(self, to, m);
    if (rc < 0) {
        m->flags &= (uint8_t)~MSG_REQUEST;
        msg_free(l, m);
        timer_drop(l, t);
        return rc;
    }
    if (out_id) *out_id = id;
    return DN_OK;
}

void dn_call_cancel(dn_self *self, dn_call_id id) {
    timer *t = call_find(self->loop, self, id);

    if (t) {
        timer_drop(self->loop, t);
        return;
    }
    /* Its deadline may have passed already, and the news be waiting: that is dropped like an answer. */
    for (dn_msg *m = self->user_head; m; m = m->next) {
        if (m->kind == DN_MSG_CALL_FAILED && m->call == id) m->flags |= MSG_REPLY;
    }
}

/* A reply may be made of the very body it answers: that one goes last. */
static int body_replace(dn_msg *m, const void *body, size_t size) {
    const msg_large old = m->large;

    m->flags &= (uint8_t)~MSG_LARGE;
    const int rc = msg_set_body(m, body, size);
    if (rc == DN_OK) msg_large_release(&old);
    else msg_set_large(m, old.body, old.size, old.release);
    return rc;
}

void dn_reply(dn_self *self, const dn_msg *request, uint32_t kind, const void *body, size_t size) {
    dn_loop *l = self->loop;
    dn_msg  *m = l->handling;

    assert(kind > 0 && kind <= DN_KIND_MAX && "message kinds go from 1 to DN_KIND_MAX");
    if (m != request) {
        /* Ours to change: it is held, as msg_unhold makes sure. */
        m = (dn_msg *)(uintptr_t)request;
        msg_unhold(self, m);
    }
    assert(m->flags & MSG_REQUEST && "only a request can be answered");
    const int rc = m->flags & MSG_LARGE ? body_replace(m, body, size) : msg_set_body(m, body, size);
    if (rc < 0) {
        if (m != l->handling) msg_hold(self, m);
        fail_nomem(); /* the request goes with self, and its call fails */
    }
    if (m == l->handling) l->handling = NULL;
    m->to = m->from;
    m->from = self->ref;
    m->kind = kind;
    m->flags = (uint8_t)((m->flags & MSG_LARGE) | MSG_REPLY | MSG_EXEMPT);
    msg_route(l, m);
}
