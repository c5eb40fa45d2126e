/* kv_line.c - messages whose writes wait to be committed. Whole messages are kept, so that a million writes take the
 * memory of their packed entries. */
#include "base/array.h"
#include "kv_own.h"

#include <assert.h>
#include <stdlib.h>

void kv_line_done(void *line) {
    kv_line *l = line;

    free(l->rows); /* the messages belong to the actor, and go with it */
    *l = (kv_line){0};
}

bool kv_line_is_sound(const kv_line *l) {
    return l->len <= l->cap && l->gathered <= l->len && (l->len > 0 || l->entries == 0);
}

uint32_t kv_entry_stride(const kv_kind *kind, const dn_msg *msg, const void *entry) {
    return (uint32_t)(kind->row->stride ? kind->row->stride(entry) : dn_msg_size(msg));
}

uint64_t kv_entries_in(const kv_kind *kind, const dn_msg *msg) {
    const char *body = dn_msg_body_borrow(msg);
    uint64_t    len = 0;

    for (size_t at = 0; at < dn_msg_size(msg); at += kv_entry_stride(kind, msg, body + at))
        len += !kind->row->is_void || !kind->row->is_void(body + at);
    return len;
}

void kv_line_add(kv_line *l, const kv_kind *kind, dn_msg *msg) {
    assert(kv_line_is_sound(l));
    if (DN_ARRAY_RESERVE(l->rows, l->cap, l->len + 1) < 0)
        dn_fail_code(DN_ENOMEM, "no memory for the writes that wait");
    l->rows[l->len++] = (kv_waiting){.msg = msg, .kind = kind};
    l->entries += kv_entries_in(kind, msg);
    assert(kv_line_is_sound(l));
}

void dn_kv_line_each(const dn_kv *k, uint32_t message,
                     void (*visit)(void *context, const void *entries, size_t bytes),
                     void *context) {
    for (size_t i = 0; i < k->line.len; i++) {
        const kv_waiting *w = &k->line.rows[i];
        const char       *body = dn_msg_body_borrow(w->msg);
        if (w->kind->row->message == message)
            visit(context, body + w->done, dn_msg_size(w->msg) - w->done);
    }
}
