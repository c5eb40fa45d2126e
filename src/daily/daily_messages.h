/* daily_messages.h - messages of the daily path, in the order a day takes.
 * tick plans; queue is a source of work for the executor (engine/messages.h); kv writes, and tells both what changed.
 * Plans and changes carry the number of the commit they know of: of two that disagree the greater number is right. */
#ifndef DIURNAL_DAILY_DAILY_MESSAGES_H
#define DIURNAL_DAILY_DAILY_MESSAGES_H

#include "engine/messages.h"

#define ACTOR_QUEUE "queue"
#define ACTOR_TICK  "tick"

enum dn_daily_msg {
    MSG_PLAN_ATTEMPTS = MSG_DAILY, /* tick  -> queue        dn_attempt... */
    MSG_PLAN_ENDS, /* tick  -> queue        a call, dn_plan_end -> MSG_PLANNED, uint64_t
                                      accepted */
    MSG_PLANNED,
    MSG_FINALIZE_CUTOFF, /* tick  -> kv           dn_cutoff... */
    MSG_RECORD_MISSED,   /* tick  -> kv           dn_missed_days... */
    MSG_DATE_BEGINS,     /* tick  -> kv           dn_date: old ledger rows may be deleted */
    MSG_NOTE_ATTEMPTS, /* queue -> kv           dn_attempt_note...: for the ledger, in memory only */
    MSG_FINALIZE_SUCCESS, /* queue -> kv           dn_success... */
    MSG_USERS_CHANGED,    /* kv    -> tick, queue  dn_change...: after the commit */

    /* Calls to kv. The reply is MSG_KV_ANSWER unless it says otherwise. SET and REMOVE may be sent as well: then there is
     * no reply, and they wait in the line while the disk is full. */
    MSG_KV_LOAD,      /* uint64_t after, from 0 to the empty page -> MSG_KV_PAGE, dn_change... */
    MSG_KV_SUCCESSES, /* queue: nothing -> MSG_KV_PAGE, dn_success...: those that wait in the line */
    MSG_KV_SET,       /* dn_kv_set...      -> dn_kv_set_answer... */
    MSG_KV_REMOVE,    /* dn_kv_id          -> dn_kv_user_answer */
    MSG_KV_USER,      /* dn_kv_id          -> dn_kv_user_answer */
    MSG_KV_LIST,      /* dn_kv_list        -> dn_kv_list_answer */
    MSG_KV_DAYS_OF,   /* dn_kv_days_of     -> dn_kv_rows_answer of dn_ledger_row */
    MSG_KV_DAY,       /* dn_kv_day         -> dn_kv_rows_answer of dn_ledger_row */
    MSG_KV_TOTALS,    /* dn_kv_totals      -> dn_kv_rows_answer of dn_day_totals */

    /* Calls to the others. */
    MSG_ASK_MINUTES, /* tick: dn_day     -> MSG_MINUTES, dn_planner_index_minute[1440] */
    MSG_ASK_USER,    /* queue: dn_kv_id  -> MSG_QUEUED_USER, dn_queued_user */
    MSG_ASK_RUNNING, /* queue            -> MSG_RUNNING, dn_running... */
    MSG_MINUTES,
    MSG_QUEUED_USER,
    MSG_RUNNING,
};

/* ---- Packed entries. Those with an id end with its bytes. ---- */

typedef struct dn_attempt {
    uint64_t registration;
    uint64_t commit; /* the last one that the planner knew of */
    int64_t  at_ns;  /* steady: when its tick was due */
    dn_day   day;
    uint32_t context_epoch;
    uint16_t due;
    uint8_t  id_len;
    char     id[];
} dn_attempt;

typedef struct dn_plan_end {
    uint64_t commit; /* as in dn_attempt */
} dn_plan_end;

typedef struct dn_cutoff {
    uint64_t registration; /* 0: void, it waits in the line already */
    int64_t  at_ms;        /* of the tick that asks for it */
    dn_day   day;
} dn_cutoff;

typedef struct dn_missed_days {
    uint64_t     registration; /* 0: void */
    int64_t      at_ms;        /* of the tick that saw them */
    dn_day_range days;
} dn_missed_days;

typedef struct dn_date {
    dn_day today;
} dn_date;

typedef struct dn_attempt_note {
    uint64_t registration;
    dn_day   day;
    uint16_t attempts;
    uint8_t  error_class; /* dn_error_class of the last attempt that failed */
} dn_attempt_note;

typedef struct dn_success {
    uint64_t ticket; /* the queue's */
    uint64_t registration;
    int64_t  at_ms; /* when the job stopped */
    dn_day   day;
    uint16_t attempts;
    uint8_t  error_class;
    uint8_t  id_len;
    char     id[];
} dn_success;

/* A user as it is after a commit. */
typedef struct dn_change {
    uint64_t registration;
    uint64_t commit; /* the number of this commit */
    uint64_t ticket; /* of the success that it settles, for the queue; 0: none */
    dn_day   last_day, starts_on, recorded;
    uint32_t context_epoch;
    uint16_t due;
    uint8_t  status;
    bool     removed;
    bool     by_request; /* registered, changed or removed on request: it may contradict a plan */
    bool     is_last;    /* of its commit: whoever has it knows the whole commit */
    bool     is_new;     /* registered by this commit: no plan can know it yet */
    uint8_t  id_len;     /* 0: the receiver knows the user by its registration */
    char     id[];
} dn_change;

/* ---- Calls ---- */

typedef struct dn_kv_set {
    uint16_t due;
    uint8_t  id_len;
    bool     letter;        /* "starts_on": "today", for the letter of the rule */
    bool     letter_if_new; /* not given, and the letter holds for a new user: in a replay */
    dn_day   starts_on;     /* DN_DAY_NONE: not given */
    char     id[];
} dn_kv_set;

typedef struct dn_kv_set_answer {
    int      status; /* DN_OK, DN_EFULL, DN_ENOMEM, DN_EINVAL */
    dn_wrote wrote;
    dn_user  user; /* as it is now */
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
    uint64_t registration;
    dn_day   before;
    uint32_t max;
} dn_kv_days_of;

typedef struct dn_kv_day {
    uint64_t after;
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

typedef struct dn_queue_status {
    uint64_t queued, running, known; /* known: kept for their throttle or their attempts */
    uint64_t deduped, throttled, expired, late;
    uint64_t queued_peak;
} dn_queue_status;

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
    uint32_t attempts; /* that ended, so without the one that runs */
    uint8_t  error_class;
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
