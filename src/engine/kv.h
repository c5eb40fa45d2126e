/* kv.h - the actor that owns the store, and how a path adds its writes and questions to it.
 * kv keeps one line of decided writes, commits them in order, many in one transaction, and only then tells anybody. What
 * is written, and who hears of it, is in the tables of its parts: kv itself knows no user, day or task. */
#ifndef DIURNAL_ENGINE_KV_H
#define DIURNAL_ENGINE_KV_H

#include "actor/pipe.h"
#include "messages.h"

typedef struct dn_kv dn_kv;

enum {
    DN_KV_WRITES_MAX =
        4096, /* in one transaction; a call is never split, so it may add one call's */
    DN_KV_CALL_WRITES_MAX = 2048, /* in one call */
    DN_KV_ROWS_MAX = 16384, /* rows of the store that one transaction may touch, one call aside */
    DN_KV_ANSWER_BYTES = 1 << 20,
};

/* The instant of a transaction, by both clocks. */
typedef struct dn_kv_instant {
    int64_t wall_ms, outbox_ms;
} dn_kv_instant;

/* One kind of write. Its messages are packed entries (actor/pipe.h). part is the state of the part that has the row. */
typedef struct dn_kv_write_kind {
    uint32_t    message;
    const char *name; /* for the log */

    /* The distance to the next entry. NULL: a message has one entry. */
    size_t (*stride)(const void *entry);

    /* Is this message well formed? DN_OK, or the status its caller gets; a message that is no call is dropped.
     * NULL: always. */
    int (*check)(const dn_msg *msg);

    /* Does the entry join the line? It may change the entry. False: nothing is to be written, and then is_void says
     * true of it. NULL: every entry joins. */
    bool (*admit)(dn_self *self, void *part, void *entry);
    bool (*is_void)(const void *entry); /* NULL: none is */

    /* Makes the write. NULL is not allowed. */
    void (*fill)(void *part, const void *entry, dn_kv_instant now, dn_write *out_write);

    /* How many rows of the store the write may touch. NULL: one. */
    uint64_t (*rows)(const dn_write *write);

    /* After the commit: tells followers. NULL: nobody follows such rows. */
    void (*committed)(dn_self *self, dn_kv *k, void *part, const void *entry, const dn_write *write,
                      const dn_write_result *result);

    /* Answers a call. status: DN_OK, or why nothing was written; then results mean nothing. NULL: dn_kv_words. */
    void (*answer)(dn_self *self, dn_kv *k, const dn_msg *request, const dn_write_result *results,
                   size_t len, int status);
} dn_kv_write_kind;

/* One kind of message that writes nothing by itself. */
typedef struct dn_kv_handler {
    uint32_t message;
    int (*handle)(dn_self *self, dn_kv *k, void *part, const dn_msg *msg);
} dn_kv_handler;

typedef struct dn_kv_handlers {
    const dn_kv_handler *rows;
    size_t               len;
} dn_kv_handlers;

/* Messages that parts send to themselves have numbers from MSG_OWN + 50 on, each part its own. */

/* What one path adds to kv. Constant, and outlives it. */
typedef struct dn_kv_part {
    const char *name;
    size_t      state_size; /* zeroed before init */
    const void *config;
    int (*init)(dn_self *self, dn_kv *k, void *part, const void *config);

    const dn_kv_write_kind *writes;
    size_t                  writes_len;
    dn_kv_handlers handlers[2]; /* two tables, so that reads may stand in a file of their own */

    /* Called after each commit, when every write has been told: sends on what changed. May be NULL. */
    void (*changed)(dn_self *self, dn_kv *k, void *part);

    /* The pipes to its followers: kv flushes them, and commits only while all are free. May be NULL. */
    size_t (*pipes)(void *part, dn_pipe **out_pipes);

    void (*report)(void *part, dn_kv_status *status); /* adds its figures. May be NULL */

    /* Called when the store stops or resumes accepting writes. May be NULL. */
    void (*store_is)(dn_self *self, void *part, bool writable);
} dn_kv_part;

enum { DN_KV_PARTS_MAX = 4, DN_KV_PIPES_MAX = 4 };

/* How much one transaction takes. 0: as much as the DN_KV_..._MAX. A simulation crosses small bounds with few users. */
typedef struct dn_kv_bounds {
    uint32_t writes, rows;
} dn_kv_bounds;

static inline uint32_t dn_bound(uint32_t wanted, uint32_t most) {
    return wanted > 0 && wanted < most ? wanted : most;
}

typedef struct dn_kv_config {
    dn_kv_bounds      bounds;
    dn_store         *store; /* kv's alone from the start of the runtime to its end */
    const dn_kv_part *parts[DN_KV_PARTS_MAX];
    size_t            parts_len;

    /* The store has failed for good. Does not return where there is a process to end; a simulation crashes its own. */
    void (*fatal)(void *context, const char *why);
    void *fatal_context;

    bool *all_written; /* set to true when kv ends with an empty line. May be NULL */
} dn_kv_config;

extern const dn_class dn_kv_class; /* config: dn_kv_config */

/* The parts that every daemon has: tokens, the outbox and the status; and backups. */
extern const dn_kv_part dn_kv_common_part, dn_kv_backup_part;

/* ---- For the parts ---- */

dn_store *dn_kv_store_borrow(const dn_kv *k);

/* DN_KV_ANSWER_BYTES of memory in which to put an answer together. Borrowed until the handler returns. */
void *dn_kv_scratch_borrow(const dn_kv *k);

/* Calls visit for the entries of this kind that wait in the line, a message at a time, oldest first. */
void dn_kv_line_each(const dn_kv *k, uint32_t message,
                     void (*visit)(void *context, const void *entries, size_t bytes),
                     void *context);

/* Ends the process if rc says that the store has failed for good. doing: what kv was doing, for the log. */
void dn_kv_expect_store(const dn_kv *k, int rc, const char *doing);

/* A hook was added to the store's outbox. */
void dn_kv_outbox_added(dn_kv *k);

/* The clock of the outbox. It is set by the wall clock at the start, and no step of that moves it. */
int64_t dn_kv_outbox_ms(const dn_self *self, const dn_kv *k);

#endif
