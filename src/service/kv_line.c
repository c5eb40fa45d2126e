/* kv_line.c - what waits to be committed: whole messages, so that a herd of a million takes the room its
 * packed entries take. */
#include "kv.h"

#include <stdlib.h>

void kv_line_done(void *line) {
    kv_line *l = line;

    free(l->rows);
    *l = (kv_line){0};
}

uint32_t kv_entry_size(const dn_msg *msg, const void *entry) {
    switch (dn_msg_kind(msg)) {
    case MSG_FINALIZE_CUTOFF: return sizeof(dn_cutoff);
    case MSG_FINALIZE_SUCCESS: return sizeof(dn_success);
    case MSG_RECORD_MISSED: return sizeof(dn_missed_days);
    case MSG_KV_SET:
        return (uint32_t)dn_pipe_stride(sizeof(dn_kv_set) + ((const dn_kv_set *)entry)->id_len);
    default: return (uint32_t)dn_msg_size(msg); /* one entry is all there is */
    }
}

bool kv_entry_is_void(const dn_msg *msg, const void *entry) {
    switch (dn_msg_kind(msg)) {
    case MSG_FINALIZE_CUTOFF: return ((const dn_cutoff *)entry)->n == 0;
    case MSG_RECORD_MISSED: return ((const dn_missed_days *)entry)->n == 0;
    default: return false;
    }
}

uint64_t kv_entries_in(const dn_msg *msg) {
    const char *body = dn_msg_body_borrow(msg);
    uint64_t    len = 0;

    for (size_t at = 0; at < dn_msg_size(msg); at += kv_entry_size(msg, body + at))
        len += !kv_entry_is_void(msg, body + at);
    return len;
}

void kv_line_add(kv_line *l, dn_msg *msg) {
    if (l->len == l->cap) {
        const size_t cap = l->cap ? l->cap * 2 : 64;
        kv_waiting  *rows = realloc(l->rows, cap * sizeof *rows);
        if (!rows) dn_fail_code(DN_ENOMEM, "no memory for the writes that wait");
        l->rows = rows;
        l->cap = cap;
    }
    l->rows[l->len++] = (kv_waiting){.msg = msg};
    l->entries += kv_entries_in(msg);
}
