/* messages.h - every message between the actors of the daily path, in the order a day takes.
 * One list, so that the data flow can be read in one place: planner -> queue -> executor -> task -> store. Many users
 * travel in one message, packed: see pack.h. */
#ifndef DIURNAL_SERVICE_MESSAGES_H
#define DIURNAL_SERVICE_MESSAGES_H

#include "diurnal/actor.h"
#include "runner/runner.h"
#include "store/outbox.h"
#include "store/store.h"

/* Names under which they find each other. */
#define ACTOR_KV         "kv"
#define ACTOR_QUEUE      "queue"
#define ACTOR_EXECUTIONS "tasks"
#define ACTOR_EXECUTOR   "executor"
#define ACTOR_TICK       "tick"
#define ACTOR_HOOKS      "hooks"

enum dn_service_msg {
    /* The day, in its order. Between MSG_WORK and MSG_OUTCOME executor has tasks started by DN_SUP_START_ALL, a
     * dn_execution_brief each, and hears by DN_SUP_ENDED of those that did not start, or crashed. */
    MSG_PLAN_ATTEMPTS =
        1, /* tick     -> queue     dn_attempt...: if it is not queued, running or throttled */
    MSG_FINALIZE_CUTOFF, /* tick     -> kv        dn_cutoff...: conditional */
    MSG_RECORD_MISSED,   /* tick     -> kv        dn_missed_days... */
    MSG_DATE_BEGINS,     /* tick     -> kv        dn_date: old ledger rows may go */
    MSG_PLAN_ENDS, /* tick     -> queue     a call: MSG_PLANNED, uint64_t: so many were taken */
    MSG_PLANNED,
    MSG_TAKE,          /* executor -> queue     dn_take: room for so many more */
    MSG_WORK,          /* queue    -> executor  dn_work... */
    MSG_OUTCOME,       /* task     -> executor  dn_execution_outcome */
    MSG_NOTE_ATTEMPTS, /* executor -> kv        dn_attempt_note...: for the ledger, memory only */
    MSG_FINALIZE_SUCCESS, /* executor -> kv        dn_success...: conditional */
    MSG_FINALIZED,        /* kv       -> executor  dn_finalized...: after the commit */
    MSG_SETTLED,          /* executor -> queue     dn_settled...: out of "queued or running" */
    MSG_USERS_CHANGED,    /* kv       -> tick, queue  dn_change...: after the commit */
    MSG_USERS_TOLD_AGAIN, /* tick     -> queue     dn_change...: kv's, behind the plan made without them */
    MSG_HOOKS_ADDED, /* kv       -> hooks     nothing: look at the outbox */

    /* Calls to kv. Each has one answer, MSG_KV_ANSWER unless it says otherwise. SET and REMOVE may be sent as well:
     * then nobody is told, and they wait in the line while the disk is full. */
    MSG_KV_LOAD, /* tick: uint64_t after_n, from 0 to the empty page -> MSG_KV_PAGE, dn_change... */
    MSG_KV_BY_NUMBER,    /* uint64_t after_n  -> MSG_KV_PAGE, dn_change...: what is committed */
    MSG_KV_SET,          /* dn_kv_set...      -> dn_kv_set_answer... */
    MSG_KV_REMOVE,       /* dn_kv_id          -> dn_kv_user_answer */
    MSG_KV_USER,         /* dn_kv_id          -> dn_kv_user_answer */
    MSG_KV_LIST,         /* dn_kv_list        -> dn_kv_list_answer, dn_user... */
    MSG_KV_DAYS_OF,      /* dn_kv_days_of     -> dn_kv_rows_answer, dn_ledger_row... */
    MSG_KV_DAY,          /* dn_kv_day         -> dn_kv_rows_answer, dn_ledger_row... */
    MSG_KV_TOTALS,       /* dn_kv_totals      -> dn_kv_rows_answer, dn_day_totals... */
    MSG_KV_STATUS,       /* nothing           -> dn_kv_status */
    MSG_KV_BACKUP,       /* path              -> dn_kv_words */
    MSG_KV_HOOKS,        /* hooks: nothing    -> dn_kv_hooks_answer, dn_hook... */
    MSG_KV_TOKENS,       /* nothing           -> dn_kv_tokens_answer, dn_token... */
    MSG_KV_TOKEN_ADD,    /* dn_token          -> dn_kv_token_answer */
    MSG_KV_TOKEN_REMOVE, /* uint64_t n     -> dn_kv_token_answer */
    MSG_KV_HOOK_DONE,    /* hooks: dn_hook_outcome -> dn_kv_words */
    MSG_KV_PAGE,
    MSG_KV_ANSWER,

    /* Calls to the others, for who looks at the day. */
    MSG_ASK_STATUS,  /* -> MSG_STATUS, the actor's own dn_..._status */
    MSG_ASK_MINUTES, /* tick: dn_day     -> MSG_MINUTES, dn_planner_index_minute[1440] */
    MSG_ASK_USER,    /* queue: dn_kv_id  -> MSG_QUEUED_USER, dn_queued_user */
    MSG_ASK_RUNNING, /* executor         -> MSG_RUNNING, dn_running... */
    MSG_STATUS,
    MSG_MINUTES,
    MSG_QUEUED_USER,
    MSG_RUNNING,

    MSG_OWN, /* from here on: what an actor sends itself */
};

/* ---- Packed entries. Those with an id end with its bytes. ---- */

typedef struct dn_attempt {
    uint64_t n;
    int64_t  at_ns; /* steady: the tick that asks for it belongs there */
    dn_day   day;
    uint32_t context_epoch;
    uint16_t due;
    uint8_t  id_len;
    char     id[];
} dn_attempt;

typedef struct dn_cutoff {
    uint64_t n;
    int64_t  at_ms; /* of the tick that asks for it */
    dn_day   day;
} dn_cutoff;

typedef struct dn_missed_days {
    uint64_t     n;
    int64_t      at_ms; /* of the tick that saw them */
    dn_day_range days;
} dn_missed_days;

typedef struct dn_date {
    dn_day today;
} dn_date;

typedef struct dn_take {
    uint32_t room;
    bool     first; /* of this executor: what the one before it had in hand is lost */
} dn_take;

/* ticket is the queue's: it comes back in dn_settled. */
typedef struct dn_work {
    uint64_t ticket, n;
    dn_day   day;
    uint32_t context_epoch;
    uint32_t attempt; /* if it starts, it is this one */
    uint16_t due;
    uint8_t  cls; /* dn_error_class of the attempt before */
    uint8_t  id_len;
    char     id[];
} dn_work;

typedef struct dn_execution_outcome {
    uint64_t      tag; /* of its dn_execution_brief */
    dn_run_result result;
    uint8_t       error_class;
    char          error[]; /* to its NUL; nothing at all if there is nothing to say */
} dn_execution_outcome;

typedef struct dn_attempt_note {
    uint64_t n;
    dn_day   day;
    uint16_t attempts;
    uint8_t  cls; /* dn_error_class of the last one that was not ok */
} dn_attempt_note;

typedef struct dn_success {
    dn_ref   executor; /* with the ticket: it comes back in dn_finalized */
    uint64_t ticket, n;
    int64_t  at_ms; /* the job stopped */
    dn_day   day;
    uint16_t attempts;
    uint8_t  cls;
} dn_success;

typedef struct dn_finalized {
    dn_ref   executor; /* the one that had it run: another may be there by now */
    uint64_t ticket;
    dn_wrote wrote;    /* DN_WROTE, DN_WROTE_LATE, DN_WROTE_GONE */
    uint16_t attempts; /* as they came */
    uint8_t  cls;
} dn_finalized;

typedef struct dn_settled {
    uint64_t ticket;
    uint32_t attempts; /* of that day, this one included if it started */
    uint8_t  cls;
    bool     finalized; /* the day is: what is still on its way about the user may not say so yet */
} dn_settled;

/* A user as it is now. */
typedef struct dn_change {
    uint64_t n;
    uint64_t ticket; /* of the run that changed it, for the queue; 0: none did */
    dn_day   last_day, starts_on, recorded;
    uint32_t context_epoch;
    uint16_t due;
    uint8_t  status;
    bool     removed;
    uint8_t  id_len;
    char     id[];
} dn_change;

/* ---- Calls ---- */

typedef struct dn_kv_set {
    uint16_t due;
    uint8_t  id_len;
    bool     letter;        /* "starts_on": "today", for the letter of the rule */
    bool     letter_if_new; /* not given, and the letter holds for a new user: in replay */
    dn_day   starts_on;     /* DN_DAY_NONE: not given */
    char     id[];
} dn_kv_set;

typedef struct dn_kv_set_answer {
    int      status; /* DN_OK, DN_EFULL: the disk is, DN_ENOMEM */
    dn_wrote wrote;
    dn_day   starts_on;
} dn_kv_set_answer;

typedef struct dn_kv_id {
    uint8_t len;
    char    id[DN_ID_MAX];
} dn_kv_id;

typedef struct dn_kv_user_answer {
    int     status; /* DN_EDEAD: there is no such user */
    dn_user user;
} dn_kv_user_answer;

typedef struct dn_kv_list {
    uint8_t  after_len, prefix_len; /* 0: none */
    uint8_t  status;                /* dn_daily_status */
    uint16_t due_from, due_to, max;
    char     after[DN_ID_MAX], prefix[DN_ID_MAX];
} dn_kv_list;

typedef struct dn_kv_list_answer {
    int      status;
    bool     more; /* after the id in `last` */
    uint8_t  last_len;
    char     last[DN_ID_MAX];
    uint32_t len;
    dn_user  users[];
} dn_kv_list_answer;

typedef struct dn_kv_days_of {
    uint64_t n;
    dn_day   before;
    uint32_t max;
} dn_kv_days_of;

typedef struct dn_kv_day {
    uint64_t after_n;
    dn_day   day;
    uint32_t max;
} dn_kv_day;

typedef struct dn_kv_totals {
    dn_day first, last;
} dn_kv_totals;

typedef struct dn_kv_rows_answer {
    int      status;
    uint32_t len;
    uint64_t rows[]; /* of the type asked for */
} dn_kv_rows_answer;

typedef struct dn_kv_status {
    uint64_t users;
    uint64_t waiting; /* writes that are decided and not committed */
    uint64_t tried;   /* days of users of which attempts are known that no row tells of yet */
    uint64_t commits, writes, failures;
    bool     full;         /* the disk is */
    dn_day   ledger_since; /* dn_store_ledger_since */
} dn_kv_status;

typedef struct dn_kv_words {
    int  status;
    char words[DN_STORE_WHY];
} dn_kv_words;

typedef struct dn_kv_hooks_answer {
    int      status;
    uint32_t len;
    int64_t  wait_ms; /* until the next of the others is due; INT64_MAX: there is none */
    dn_hook  hooks[];
} dn_kv_hooks_answer;

typedef struct dn_hook_outcome {
    uint64_t n;
    bool     done; /* else it is tried again when the delay behind its attempts is over */
    uint16_t attempts;
} dn_hook_outcome;

/* As many as a daemon has, at most. */
enum { DN_TOKENS_MAX = 1000 };

typedef struct dn_kv_tokens_answer {
    int      status;
    uint32_t len;
    dn_token tokens[];
} dn_kv_tokens_answer;

typedef struct dn_kv_token_answer {
    int      status; /* DN_EDEAD: there is no such token; DN_EFULL: the disk is */
    dn_token token;
} dn_kv_token_answer;

typedef struct dn_queue_status {
    uint64_t queued, running, known; /* known: remembered for their throttle or their attempts */
    uint64_t deduped, throttled, expired;
    uint64_t queued_peak;
} dn_queue_status;

typedef struct dn_executor_status {
    uint64_t in_flight, max_concurrency, in_flight_peak;
    uint64_t started, ok, failed, timed_out, late;
} dn_executor_status;

typedef struct dn_tick_status {
    bool     loaded;
    bool     planning; /* not all that the last tick asked for has been sent */
    uint64_t users, index_bytes;
    uint64_t ticks;
    int64_t  last_ms, next_ms, took_us; /* of the last tick, in its handlers */
    int64_t  last_ns;                   /* when it began, by the steady clock */
    uint64_t scanned, eligible, enqueued, cutoffs, missed;
} dn_tick_status;

typedef struct dn_queued_user {
    bool     known, queued, running;
    dn_day   day;
    uint32_t attempts;
    uint8_t  cls;
    int64_t  throttled_ms; /* for how long still; 0: it is not */
} dn_queued_user;

typedef struct dn_running {
    int64_t  since_ms;
    dn_day   day;
    uint32_t attempt;
    uint16_t due;
    uint8_t  id_len;
    char     id[];
} dn_running;

#endif
