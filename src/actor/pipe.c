/* pack.c - a pipe to another actor. */
#include "pipe.h"

#include <stdlib.h>

/* From so many bytes on they are not copied, but are the message's. To copy fewer costs less than an allocator that has
 * to find others in their place: bodies of up to that size are kept (src/actor/body.c). */
enum { TAKEN_FROM = 4096 };

static void pipe_release(void *pipe) {
    dn_pipe *p = pipe;

    free(p->bytes); /* the messages are the actor's, and go with it */
    p->bytes = NULL;
}

void dn_pipe_init(dn_self *self, dn_pipe *p, const char *name, uint32_t kind) {
    *p = (dn_pipe){.to = dn_name(self, name), .kind = kind};
    dn_own(self, p, pipe_release);
}

/* Whom nobody answers for has lost what he knew, and will ask for all of it when he is back. */
static void pipe_drop(dn_self *self, dn_pipe *p) {
    for (uint32_t i = 0; i < p->waiting_len; i++) dn_msg_free(self, p->waiting[i]);
    p->waiting_len = 0;
}

static void pipe_wait(dn_self *self, dn_pipe *p) {
    if (dn_wait_room(self, p->to) == DN_EDEAD) pipe_drop(self, p);
}

/* What has been gathered, as a message of its own; no longer than it has to be, for it may wait with many others. */
static dn_msg *pipe_message(dn_self *self, dn_pipe *p, uint32_t len) {
    if (len < TAKEN_FROM) {
        dn_msg *m = dn_msg_new(self, p->kind, len);
        memcpy(dn_msg_body(m), p->bytes, len);
        return m;
    }
    void *body = p->bytes;
    void *exact = len < DN_PIPE_BYTES / 4 * 3 ? realloc(body, len) : body;
    p->bytes = NULL;
    return dn_msg_new_take(self, p->kind, exact ? exact : body, len, free);
}

/* DN_EFULL: *out_msg waits for room. */
static int pipe_try(dn_self *self, dn_pipe *p, uint32_t len, dn_msg **out_msg) {
    const bool idle = p->waiting_len == 0;

    if (idle && len < TAKEN_FROM) {
        const int rc = dn_send(self, p->to, p->kind, p->bytes, len);
        if (rc != DN_EFULL) return rc;
    }
    *out_msg = pipe_message(self, p, len);
    return idle && len >= TAKEN_FROM ? dn_send_take(self, p->to, *out_msg) : DN_EFULL;
}

static void pipe_send(dn_self *self, dn_pipe *p) {
    const uint32_t len = p->len;
    dn_msg        *m = NULL;

    p->len = 0;
    if (dn_ref_is_nobody(dn_whereis(self, p->to)))
        return; /* at the end of all, or about to be back */
    const int rc = pipe_try(self, p, len, &m);
    if (rc == DN_OK) return;
    if (rc != DN_EFULL) {
        if (m) dn_msg_free(self, m);
        return;
    }
    dn_require(p->waiting_len < DN_PIPE_WAITING_MAX);
    p->waiting[p->waiting_len++] = m;
    if (p->waiting_len == 1) pipe_wait(self, p);
}

void dn_pipe_turn(dn_self *self, dn_pipe *p) {
    if (p->len > 0) pipe_send(self, p);
    if (!p->bytes) p->bytes = malloc(DN_PIPE_BYTES);
    if (!p->bytes) dn_fail_code(DN_ENOMEM, "no memory for what is to be sent");
}

void dn_pipe_redirect(dn_self *self, dn_pipe *p, dn_ref to) {
    pipe_drop(self, p);
    p->len = 0;
    p->to = to;
}

/* While it has to wait, more is gathered: a full mailbox is not to be filled with small change. */
void dn_pipe_flush(dn_self *self, dn_pipe *p) {
    if (p->len > 0 && p->waiting_len == 0) pipe_send(self, p);
}

void dn_pipe_on_room(dn_self *self, dn_pipe *p) {
    uint32_t sent = 0;
    int      rc = DN_OK;

    while (sent < p->waiting_len && rc == DN_OK) {
        rc = dn_send_take(self, p->to, p->waiting[sent]);
        if (rc == DN_OK) sent++;
    }
    p->waiting_len -= sent;
    memmove(p->waiting, p->waiting + sent, p->waiting_len * sizeof *p->waiting);
    if (rc == DN_EDEAD) pipe_drop(self, p);
    else if (p->waiting_len > 0) pipe_wait(self, p);
    else dn_pipe_flush(self, p); /* what has been gathered meanwhile */
}
