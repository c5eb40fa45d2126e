/* pipe.c - see pipe.h. */
#include "pipe.h"

#include "base/array.h"

#include <stdlib.h>

/* From this size on a message takes the pipe's own buffer. Below, a copy is cheaper than another buffer: the runtime
 * keeps free bodies of up to that size (src/actor/body.c). */
enum { TAKEN_FROM = 4096 };

/* What stands before the entries of a buffer, so that a message that is dropped can release them. */
typedef struct head {
    dn_pipe_release_fn *release;
    uint64_t            len; /* bytes of entries */
} head;

static head *head_of(void *bytes) { return (head *)bytes - 1; }

static void bytes_free(void *bytes) {
    if (bytes) free(head_of(bytes));
}

static void entries_release(void *bytes, size_t len, dn_pipe_release_fn *release) {
    if (!release) return;
    for (size_t at = 0; at < len;) at += release((char *)bytes + at);
}

/* The release function of a message that took its body from a pipe. */
static void body_release(void *bytes) {
    const head *h = head_of(bytes);

    entries_release(bytes, h->len, h->release);
    bytes_free(bytes);
}

static void gathered_drop(dn_pipe *p) {
    entries_release(p->bytes, p->len, p->release);
    p->len = 0;
}

static void pipe_release(void *pipe) {
    dn_pipe *p = pipe;

    gathered_drop(p); /* the messages that wait belong to the actor, and go with it */
    bytes_free(p->bytes);
    p->bytes = NULL;
    free(p->waiting);
    p->waiting = NULL;
}

void dn_pipe_init_owning(dn_self *self, dn_pipe *p, const char *name, uint32_t kind,
                         dn_pipe_release_fn *release) {
    *p = (dn_pipe){.to = dn_name(self, name), .kind = kind, .release = release};
    dn_own(self, p, pipe_release);
}

void dn_pipe_init(dn_self *self, dn_pipe *p, const char *name, uint32_t kind) {
    dn_pipe_init_owning(self, p, name, kind, NULL);
}

/* A dead receiver reloads its state on restart, so drop what was queued for it. */
static void waiting_drop(dn_self *self, dn_pipe *p) {
    for (size_t i = 0; i < p->waiting_len; i++) dn_msg_free(self, p->waiting[i]);
    p->waiting_len = 0;
}

static void pipe_wait(dn_self *self, dn_pipe *p) {
    if (dn_wait_room(self, p->to) == DN_EDEAD) waiting_drop(self, p);
}

static unsigned char *bytes_new(size_t size) {
    head *h = malloc(sizeof *h + size);

    return h ? (unsigned char *)(h + 1) : NULL;
}

/* A message that owns its entries, in a body no longer than they are. */
static dn_msg *message_owning(dn_self *self, dn_pipe *p, uint32_t len) {
    unsigned char *body = p->bytes;

    if (len >= TAKEN_FROM) {
        p->bytes = NULL;
        head *exact =
            len < DN_PIPE_BYTES / 4 * 3 ? realloc(head_of(body), sizeof(head) + len) : NULL;
        if (exact) body = (unsigned char *)(exact + 1);
    } else {
        body = bytes_new(len);
        if (!body) dn_fail_code(DN_ENOMEM, "no memory for a message");
        memcpy(body, p->bytes, len);
    }
    *head_of(body) = (head){.release = p->release, .len = len};
    return dn_msg_new_take(self, p->kind, body, len, body_release);
}

static dn_msg *message_of(dn_self *self, dn_pipe *p, uint32_t len) {
    if (p->release || len >= TAKEN_FROM) return message_owning(self, p, len);
    dn_msg *m = dn_msg_new(self, p->kind, len);
    memcpy(dn_msg_body(m), p->bytes, len);
    return m;
}

/* DN_EFULL: *out_msg waits for a place in the mailbox. */
static int try_send(dn_self *self, dn_pipe *p, uint32_t len, dn_msg **out_msg) {
    const bool idle = p->waiting_len == 0;
    const bool copied = !p->release && len < TAKEN_FROM;

    if (idle && copied) {
        const int rc = dn_send(self, p->to, p->kind, p->bytes, len);
        if (rc != DN_EFULL) return rc;
    }
    *out_msg = message_of(self, p, len);
    return idle && !copied ? dn_send_take(self, p->to, *out_msg) : DN_EFULL;
}

static void pipe_send(dn_self *self, dn_pipe *p) {
    const uint32_t len = p->len;
    dn_msg        *m = NULL;

    if (dn_ref_is_nobody(dn_whereis(self, p->to))) { /* at shutdown, or before its restart */
        gathered_drop(p);
        return;
    }
    p->len = 0; /* from here on the entries belong to a message */
    const int rc = try_send(self, p, len, &m);
    if (rc == DN_OK) return;
    if (rc != DN_EFULL) {
        if (m) dn_msg_free(self, m);
        return;
    }
    if (DN_ARRAY_RESERVE(p->waiting, p->waiting_cap, p->waiting_len + 1) < 0)
        dn_fail_code(DN_ENOMEM, "no memory for the messages that wait");
    p->waiting[p->waiting_len++] = m;
    if (p->waiting_len == 1) pipe_wait(self, p);
}

void dn_pipe_turn(dn_self *self, dn_pipe *p) {
    if (p->len > 0) pipe_send(self, p);
    if (!p->bytes) p->bytes = bytes_new(DN_PIPE_BYTES);
    if (!p->bytes) dn_fail_code(DN_ENOMEM, "no memory for a message");
}

void dn_pipe_redirect(dn_self *self, dn_pipe *p, dn_ref to) {
    waiting_drop(self, p);
    gathered_drop(p);
    p->to = to;
}

/* While messages wait, gather more: a full mailbox should not be filled with small messages. */
void dn_pipe_flush(dn_self *self, dn_pipe *p) {
    if (p->len > 0 && p->waiting_len == 0) pipe_send(self, p);
}

void dn_pipe_on_room(dn_self *self, dn_pipe *p) {
    size_t sent = 0;
    int    rc = DN_OK;

    while (sent < p->waiting_len && rc == DN_OK) {
        rc = dn_send_take(self, p->to, p->waiting[sent]);
        if (rc == DN_OK) sent++;
    }
    p->waiting_len -= sent;
    if (sent > 0) memmove(p->waiting, p->waiting + sent, p->waiting_len * sizeof *p->waiting);
    if (rc == DN_EDEAD) waiting_drop(self, p);
    else if (p->waiting_len > 0) pipe_wait(self, p);
    else dn_pipe_flush(self, p); /* what was gathered meanwhile */
}
