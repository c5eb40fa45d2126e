/* kv_own.h - kv's state, shared by the files that make it: kv.c, kv_line.c, kv_commit.c, kv_calls.c. */
#ifndef DIURNAL_ENGINE_KV_OWN_H
#define DIURNAL_ENGINE_KV_OWN_H

#include "kv.h"

enum {
    KV_GO_ON = MSG_OWN,
    KV_RETRY,
    KV_IDLE,
};

/* A kind of write, and the state of the part it belongs to. */
typedef struct kv_kind {
    const dn_kv_write_kind *row;
    void                   *part;
} kv_kind;

/* A message whose writes are decided and not committed. */
typedef struct kv_waiting {
    dn_msg        *msg;
    const kv_kind *kind;
    uint32_t       done;   /* bytes of it that are committed */
    uint32_t       taken;  /* the same once the present transaction is committed */
    uint32_t       writes; /* of it in the present transaction */
} kv_waiting;

/* Messages in the order their writes were decided. */
typedef struct kv_line {
    kv_waiting *rows;
    size_t      len, cap;
    size_t      gathered; /* the first rows, which are in the present transaction */
    uint64_t    entries;  /* writes in all rows */
} kv_line;

/* Where a write of the present transaction came from. */
typedef struct kv_source {
    const kv_kind *kind;
    const void    *entry;
} kv_source;

enum { KV_KINDS_MAX = 32 };

struct dn_kv {
    const dn_kv_config *config;
    dn_store           *store;
    void               *parts[DN_KV_PARTS_MAX];
    kv_kind             kinds[KV_KINDS_MAX];
    size_t              kinds_len;
    kv_line             line;

    dn_write        *writes; /* of the present transaction */
    dn_write_result *results;
    kv_source       *sources;
    size_t           len;
    uint64_t         rows; /* that these may touch */

    bool
        full; /* the store takes no writes: retried after retry_ms, or when something joins the line */
    bool fresh; /* something joined the line since the last try */
    bool stopping, going_on, wrote_lately, outbox_added;

    int64_t     outbox_ahead_ms; /* of the steady clock: dn_kv_outbox_ms */
    int64_t     retry_ms;
    dn_timer_id retry_timer;

    char        *scratch; /* DN_KV_ANSWER_BYTES */
    dn_kv_status status;
};

/* ---- kv_line.c ---- */
void     kv_line_done(void *line);
void     kv_line_add(kv_line *line, const kv_kind *kind, dn_msg *msg);
uint32_t kv_entry_stride(const kv_kind *kind, const dn_msg *msg, const void *entry);
uint64_t kv_entries_in(const kv_kind *kind, const dn_msg *msg); /* those that are not void */
bool     kv_line_is_sound(const kv_line *line);

/* ---- kv_commit.c ---- */
/* Commits what stands first in the line, in one transaction. */
void kv_commit(dn_self *self, dn_kv *k);

#endif
