/* messages.h - messages between the actors that every path shares, in the order one attempt takes.
 * A source (the daily queue, the outbox) has work. The executor gives it slots, runs its work, and returns each outcome
 * to the source that gave the work. The source writes to kv, and the commit settles the work. The executor knows no
 * user, day or task. Many entries travel in one message: see actor/pipe.h. */
#ifndef DIURNAL_ENGINE_MESSAGES_H
#define DIURNAL_ENGINE_MESSAGES_H

#include "base/blob.h"
#include "diurnal/actor.h"
#include "runner/runner.h"
#include "store/outbox.h"
#include "store/store.h"
#include "store/tokens.h"

#include <assert.h>

/* The names by which actors find each other. */
#define ACTOR_KV         "kv"
#define ACTOR_EXECUTIONS "executions"
#define ACTOR_EXECUTOR   "executor"
#define ACTOR_OUTBOX     "outbox"

enum dn_engine_msg {
    MSG_OFFER = 1,    /* source    -> executor  dn_offer: work waits, or slots are returned */
    MSG_TAKE,         /* executor  -> source    dn_take: slots to use */
    MSG_WORK,         /* source    -> executor  dn_work... */
    MSG_EXECUTED,     /* execution -> executor  dn_executed */
    MSG_OUTCOME,      /* executor  -> source    dn_work_outcome... */
    MSG_OUTBOX_ADDED, /* kv        -> outbox    nothing: read the outbox again */

    /* Calls to kv. The reply is MSG_KV_ANSWER unless it says otherwise. */
    MSG_KV_STATUS,       /* nothing          -> MSG_STATUS, dn_kv_status */
    MSG_KV_BACKUP,       /* path             -> dn_kv_words */
    MSG_KV_COPY,         /* nothing          -> dn_kv_copy_answer */
    MSG_KV_COPY_READ,    /* dn_kv_copy_read  -> dn_kv_copy_piece */
    MSG_KV_TOKENS,       /* nothing          -> dn_kv_tokens_answer */
    MSG_KV_TOKEN_ADD,    /* dn_token         -> dn_kv_token_answer */
    MSG_KV_TOKEN_REMOVE, /* uint64_t id      -> dn_kv_token_answer */
    MSG_KV_OUTBOX,       /* outbox: nothing  -> dn_kv_outbox_answer */
    MSG_KV_OUTBOX_DONE,  /* outbox: dn_outbox_outcome -> dn_kv_words */
    MSG_KV_PAGE,
    MSG_KV_ANSWER,

    /* Calls to any actor of the core. */
    MSG_ASK_STATUS, /* -> MSG_STATUS, the actor's own dn_..._status */
    MSG_STATUS,

    MSG_DAILY = 100, /* the first of daily/daily_messages.h */
    MSG_OWN = 1000,  /* from here on: messages an actor sends to itself */
};

/* ---- Slots ---- */

typedef struct dn_offer {
    uint32_t wants;    /* pieces of work that could start now */
    uint32_t returned; /* slots that were given and are not needed */
} dn_offer;

typedef struct dn_take {
    uint32_t slots;
    uint32_t unused;
} dn_take;

/* ---- Work ---- */

/* One piece of work. The message owns one reference to the body, which is not NULL. */
typedef struct dn_work {
    uint64_t ticket;  /* the source's own number: returns with the outcome */
    uint64_t subject; /* the source's number of the user or task */
    dn_blob *body;    /* what the runner is asked */
    int64_t  opens_ms,
        closes_ms; /* wall clock: it may start at opens_ms or later, and before closes_ms */
    int64_t  timeout_ms;
    uint16_t type; /* an index into dn_executor_config.types */
    uint16_t key_len;
    char     key[]; /* idempotency key */
} dn_work;

#define DN_WORK_STRIDE(work) dn_pipe_stride(sizeof *(work) + (work)->key_len)

/* For the pipe of MSG_WORK: see dn_pipe_init_owning. */
size_t dn_work_release(void *entry);

/* How an execution ended, for the executor. Only a message with has_answer carries the answer; it owns one reference to
 * the answer's body. */
typedef struct dn_executed {
    uint64_t      tag; /* of its dn_execution_brief */
    dn_run_result result;
    bool          has_answer;
    dn_run_answer answer[];
} dn_executed;

/* What became of a piece of work. The entry owns one reference to the answer's body. */
typedef struct dn_work_outcome {
    uint64_t      ticket;
    dn_run_result result;  /* started only */
    int64_t       took_ns; /* from the request to start the execution until its run has stopped */
    bool          started; /* false: its time to start was over */
    bool          has_answer; /* answer[0] is there */
    dn_run_answer answer[];
} dn_work_outcome;

/* The distance from this outcome to the next one in its message. */
static inline size_t dn_work_outcome_stride(const dn_work_outcome *o) {
    return sizeof *o + (o->has_answer ? sizeof o->answer[0] : 0);
}
static_assert(sizeof(dn_work_outcome) % 8 == 0 && sizeof(dn_run_answer) % 8 == 0,
              "outcomes follow each other without padding");

/* for (DN_WORK_OUTCOME_EACH(o, msg)) */
#define DN_WORK_OUTCOME_EACH(o, msg)                                                               \
    const dn_work_outcome *o = dn_msg_body_borrow(msg),                                            \
                          *o##_end = (const void *)((const char *)o + dn_msg_size(msg));           \
    o < o##_end;                                                                                   \
    o = (const void *)((const char *)o + dn_work_outcome_stride(o))

/* ---- Calls ---- */

typedef struct dn_kv_status {
    uint64_t users;
    uint64_t waiting; /* writes that are decided and not committed */
    uint64_t tried;   /* days of users with attempts that no ledger row has yet */
    uint64_t commits, writes, failures;
    bool     full;         /* the disk is full, or the store is away */
    dn_day   ledger_since; /* dn_store_ledger_since */
} dn_kv_status;

typedef struct dn_kv_words {
    int  status;
    char words[DN_STORE_WHY];
} dn_kv_words;

/* A copy of the store without a name, which is read in pieces. There is one at a time; it is dropped after its last piece,
 * or when none has been read for a minute. */
typedef struct dn_kv_copy_answer {
    int      status;
    uint64_t copy; /* its number: never reused while the daemon runs */
    uint64_t bytes;
    char     words[DN_STORE_WHY];
} dn_kv_copy_answer;

typedef struct dn_kv_copy_read {
    uint64_t copy, offset;
} dn_kv_copy_read;

enum { DN_KV_PIECE = 256 << 10 };
typedef struct dn_kv_copy_piece {
    int      status; /* DN_EDEAD: there is no such copy any more */
    uint32_t len;
    char     bytes[];
} dn_kv_copy_piece;

typedef struct dn_kv_outbox_answer {
    int      status;
    uint32_t len;
    int64_t  wait_ms; /* until the next of the others is due; INT64_MAX: there is none */
    dn_hook  hooks[];
} dn_kv_outbox_answer;

typedef struct dn_outbox_outcome {
    uint64_t id;   /* the hook's */
    bool     done; /* false: it is tried again after the delay for its attempts */
    uint16_t attempts;
} dn_outbox_outcome;

/* The most tokens a daemon has. */
enum { DN_TOKENS_MAX = 1000 };

typedef struct dn_kv_tokens_answer {
    int      status;
    uint32_t len;
    dn_token tokens[];
} dn_kv_tokens_answer;

typedef struct dn_kv_token_answer {
    int      status; /* DN_EDEAD: there is no such token; DN_EFULL: the disk is full */
    dn_token token;
} dn_kv_token_answer;

typedef struct dn_executor_status {
    uint64_t in_flight, max_concurrency, in_flight_peak; /* of the jobs' slots */
    uint64_t started, ok, failed, timed_out;
} dn_executor_status;

#endif
