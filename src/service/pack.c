/* pack.c - a pipe to another actor. */
#include "pack.h"

#include <assert.h>
#include <string.h>

void dn_pipe_init(dn_self *self, dn_pipe *p, const char *name, uint32_t kind) {
    *p = (dn_pipe){.to = dn_name(self, name), .kind = kind, .bytes = dn_alloc(self, DN_PACK_BYTES)};
}

/* Whom nobody answers for has lost what he knew, and will ask for all of it when he is back. */
static void pipe_drop(dn_self *self, dn_pipe *p) {
    for (uint32_t i = 0; i < p->waiting_len; i++) dn_msg_free(self, p->waiting[i]);
    p->waiting_len = 0;
}

static void pipe_wait(dn_self *self, dn_pipe *p) {
    if (dn_wait_room(self, p->to) == DN_EDEAD) pipe_drop(self, p);
}

static void pipe_send(dn_self *self, dn_pipe *p) {
    const uint32_t len = p->len;

    p->len = 0;
    if (dn_ref_is_nobody(dn_whereis(self, p->to)))
        return; /* at the end of all, or about to be back */
    if (p->waiting_len == 0) {
        const int rc = dn_send(self, p->to, p->kind, p->bytes, len);
        if (rc != DN_EFULL) return;
    }
    dn_require(p->waiting_len < DN_PACK_WAITING_MAX);
    dn_msg *m = dn_msg_new(self, p->kind, len);
    memcpy(dn_msg_body(m), p->bytes, len);
    p->waiting[p->waiting_len++] = m;
    if (p->waiting_len == 1) pipe_wait(self, p);
}

void *dn_pipe_add(dn_self *self, dn_pipe *p, size_t size) {
    const size_t room = dn_pack_room(size);

    assert(room <= DN_PACK_BYTES);
    if (p->len + room > DN_PACK_BYTES) pipe_send(self, p);
    void *entry = p->bytes + p->len;
    memset(entry, 0, room);
    p->len += (uint32_t)room;
    return entry;
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
