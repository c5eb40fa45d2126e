/* kv.h - kv's state, shared by the files that make it: kv.c, kv_line.c, kv_commit.c, kv_read.c. */
#ifndef DIURNAL_SERVICE_KV_H
#define DIURNAL_SERVICE_KV_H

#include "actor/pipe.h"
#include "base/number_map.h"
#include "events.h"
#include "messages.h"
#include "service.h"

enum {
    KV_WRITES_MAX = 4096, /* a transaction; a call is never cut in two */
    KV_DAYS_MAX =
        16384, /* that were missed, in a transaction: one user may have missed a year of them */
    KV_SETS_MAX = 2048,   /* in one call */
    KV_PAGE_USERS = 1024, /* in one answer */
    KV_SCAN_MAX = 20000,  /* rows looked at for one answer: some milliseconds */
    KV_ANSWER_BYTES = 1 << 20,
    KV_HOOKS_MAX = 64, /* in one answer */
    KV_GO_ON = MSG_OWN,
    KV_RETRY,
    KV_IDLE,
    KV_BACKUP_STEP,
    KV_FORGET,
    KV_RETRY_LEAST_MS = 100,
    KV_RETRY_MOST_MS = 5000,
    KV_IDLE_MS = 60000,
    KV_FORGET_MS = 3600000,
};

/* A message whose writes are decided and not committed. */
typedef struct kv_waiting {
    dn_msg  *msg;
    uint32_t done;   /* bytes of it that are committed */
    uint32_t taken;  /* the same when the present transaction is */
    uint32_t writes; /* of it in the present transaction */
} kv_waiting;

/* The line in which they wait, in the order they were decided. */
typedef struct kv_line {
    kv_waiting *rows;
    size_t      len, cap;
    size_t      gathered; /* so many of the first are in the present transaction */
    uint64_t    entries;  /* in all of them */
} kv_line;

typedef struct kv {
    const dn_service_config *config;
    dn_store                *store;
    kv_line                  line;
    dn_number_map attempts;   /* kv_attempts_key -> kv_attempts_of, until the day is finalized */
    dn_number_map pending;    /* n -> day of a cutoff in the line */
    dn_number_map pending_ok; /* n -> day of a success in the line, while loading */
    dn_number_map pending_missed; /* n -> last day of a `missed` in the line */
    dn_pipe       to_tick, to_queue, to_executor;

    dn_write        *writes; /* of the present transaction */
    dn_write_result *results;
    const void     **sources; /* the entries they are made of */
    size_t           len;
    uint64_t         days;        /* missed, in all of them */
    dn_user_change  *changes;     /* of the last commit */
    uint64_t         changes_seq; /* Tick and Queue have been told up to this commit */

    bool        loading;                         /* a planner, page by page: pending_ok is kept */
    bool        full, stopping, going_on, fresh; /* fresh: something came since the last try */
    int64_t     outbox_ahead_ms;                 /* of the steady clock: kv_outbox_ms */
    int64_t     retry_ms;
    dn_timer_id retry_timer;
    dn_timer_id forget_timer; /* of the date there is */
    dn_day      today;
    dn_day      said_day; /* in words: most of what is finalized is of one day */
    char        said_day_text[DN_DAY_TEXT];
    bool        wrote_lately;

    dn_backup *backup;
    dn_msg    *backup_request;

    dn_user *users;  /* a page of them */
    char    *answer; /* KV_ANSWER_BYTES */

    dn_kv_status status;
} kv;

/* KV_FORGET: the rows of days before that one may go. */
static inline dn_day kv_first_kept(const dn_msg *msg) {
    return (dn_day)(uint32_t)*DN_BODY(uint64_t, msg);
}

/* Of two days that follow each other it is known what was tried: beside midnight both are open, and a clock that goes to
 * another day for a moment must not make it forget the one before. */
static inline uint64_t kv_attempts_key(uint64_t n, dn_day day) {
    return n << 1 | ((uint64_t)(uint32_t)day & 1U);
}
/* What is known of the attempts of a user's open day, in one word. */
static inline uint64_t kv_attempts_of(dn_day day, uint16_t attempts, uint8_t cls) {
    return (uint64_t)(uint32_t)day << 32 | (uint64_t)attempts << 8 | cls;
}

/* ---- kv_line.c ---- */
void     kv_line_done(void *line);
void     kv_line_add(kv_line *line, dn_msg *msg);
uint32_t kv_entry_size(const dn_msg *msg, const void *entry); /* with the way to the next one */
uint64_t kv_entries_in(const dn_msg *msg);                    /* those that are not void */
/* What stood in the line already: nothing is to be written. */
bool kv_entry_is_void(const dn_msg *msg, const void *entry);

/* ---- kv.c ---- */
/* The successes of a message stand in the line, or are about to. */
void kv_note_pending(kv *k, const dn_msg *msg);

/* The clock of the outbox. It is set by the wall clock at the start, and no step of that moves it. */
static inline int64_t kv_outbox_ms(const dn_self *self, const kv *k) {
    return dn_mono_ns(self) / 1000000 + k->outbox_ahead_ms;
}

/* ---- kv_commit.c ---- */
/* Commits what stands first in the line. */
void kv_commit(dn_self *self, kv *k);

/* ---- kv_read.c: handlers that change nothing ---- */
int kv_on_load(dn_self *self, void *state, const dn_msg *msg);
int kv_on_by_number(dn_self *self, void *state, const dn_msg *msg);
int kv_on_user(dn_self *self, void *state, const dn_msg *msg);
int kv_on_list(dn_self *self, void *state, const dn_msg *msg);
int kv_on_days_of(dn_self *self, void *state, const dn_msg *msg);
int kv_on_day(dn_self *self, void *state, const dn_msg *msg);
int kv_on_totals(dn_self *self, void *state, const dn_msg *msg);
int kv_on_status(dn_self *self, void *state, const dn_msg *msg);
int kv_on_hooks(dn_self *self, void *state, const dn_msg *msg);
int kv_on_backup(dn_self *self, void *state, const dn_msg *msg);
int kv_on_backup_step(dn_self *self, void *state, const dn_msg *msg);

/* ---- kv_tokens.c ---- */
int kv_on_tokens(dn_self *self, void *state, const dn_msg *msg);
int kv_on_token_add(dn_self *self, void *state, const dn_msg *msg);
int kv_on_token_remove(dn_self *self, void *state, const dn_msg *msg);

/* Ends the process if rc says that the store has failed for good. */
void kv_look_at(const kv *k, int rc, const char *doing);

extern const dn_class dn_kv_class;

#endif
