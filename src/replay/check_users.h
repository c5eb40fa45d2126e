/* check_users.h - what the checker knows of each registration, by its number, and who is due at which minute.
 * One cache line a user holds what nearly every event looks at; the rest stands apart. What the process only had in
 * memory is not cleared when it dies: each line says in which era it was written, and is read accordingly. */
#ifndef DIURNAL_REPLAY_CHECK_USERS_H
#define DIURNAL_REPLAY_CHECK_USERS_H

#include "check_rule.h"

#define CHECK_NEVER  INT64_MIN
#define CHECK_NOBODY UINT32_MAX

typedef enum check_state {
    CHECK_IDLE,
    CHECK_QUEUED,
    CHECK_RUNNING,
    CHECK_OK_WAITS, /* its job was ok, and that is not written yet: it counts as running */
} check_state;

enum {
    CHECK_LIVES = 1,       /* registered, and not removed */
    CHECK_IN_WHEEL = 2,    /* check_wheel.h */
    CHECK_BEHIND = 8,      /* the ok came when its cutoff stood in the line already */
    CHECK_JUDGED = 32,     /* stands among those that are judged with the tick */
    CHECK_HAS_ELDER = 128, /* another one had its id, and may still run */
    CHECK_SUCCESS = 256,   /* how last_day ended */
    CHECK_CUT = 512,       /* likewise */
    CHECK_OK_APART = 1024, /* when its ok came stands in its record; else it was this instant */
};

/* Of the day that was asked for last, and of another one: around midnight two may matter. */
typedef struct check_tries {
    dn_day   day;
    uint32_t starts;   /* since the last crash */
    int64_t  asked_ms; /* steady: when it was put into the queue last */
} check_tries;

typedef struct check_person {
    dn_day last_day, starts_on, recorded; /* recorded: the last day with a row, of whatever kind */
    uint16_t    due, flags;
    check_tries days[2];
    uint32_t    run;  /* which, while it runs */
    uint32_t    next; /* in its list of the wheel */
    uint32_t    era;
    uint8_t     state;
    uint8_t maybe_ok; /* bit i: of days[i] an ok was in hand when an actor ended: written or lost */
    uint8_t spare[2];
} check_person;
_Static_assert(sizeof(check_person) == 64, "one cache line");

typedef struct check_record {
    int64_t  last_run_ms, ok_ms; /* wall; ok_ms: of the ok in hand */
    uint32_t epoch;
    uint32_t at;        /* where it stands among those of its minute */
    uint32_t elder;     /* had this id before, and may still run */
    uint32_t heir;      /* has it now */
    uint32_t closed_ms; /* steady, the low half: when its last day was finalized */
    uint32_t set_ms;    /* likewise: when it was registered, changed or removed last */
    uint32_t id_at;
    uint8_t  id_len, looked_at;
} check_record;

/* Those with a cutoff at one minute. begun and done count, for one day, how many of them have been asked for, and are
 * finalized: never too many, so that if it is all of them nobody need be looked at. */
typedef struct check_minute {
    uint32_t *rows;
    size_t    cap;
    uint32_t  len;
    dn_day    begun_day, done_day;
    uint32_t  begun, done;
} check_minute;

typedef struct check_left {
    uint64_t hash;
    uint32_t n;
} check_left;

typedef struct check_users {
    check_person *people;  /* by n */
    check_record *records; /* likewise */
    uint32_t      cap;     /* of both */
    uint32_t      end;     /* above the largest n */
    uint32_t      live;
    check_minute  minutes[1440];

    char  *ids;
    size_t ids_len, ids_cap;

    check_left *left; /* those who were removed, until nothing stays with their ids */
    size_t      left_len, left_cap;

    /* An era ends when memory is lost. Of a line older than `process` nothing is left; older than `era`: an ok may be on
     * its way to the disk. */
    uint32_t era, process;
} check_users;

int  check_users_init(check_users *u);
void check_users_done(check_users *u);

/* NULL: never heard of. As it is in this era. */
static inline check_person *check_person_of(check_users *u, uint64_t n);

/* A registration, or a change of one. DN_ENOMEM, or DN_OK. */
int check_users_put(check_users *u, uint32_t n, uint32_t due, dn_day starts_on, const char *id,
                    uint8_t id_len);
/* Its record stays, for its job may still run. now_ms and retry_ms: how long its throttle stays with the id. */
int check_users_remove(check_users *u, uint32_t n, int64_t now_ms, int64_t retry_ms);
/* Of one that was removed, and is busy all the same now: that stays with its id, and with who has it already, whose tries
 * of that day are given. NULL: nobody has. */
int          check_users_stay(check_users *u, uint32_t n, int64_t now_ms, int64_t retry_ms);
check_tries *check_users_bequeath(check_users *u, uint32_t n, dn_day day);

/* Whose job keeps this one waiting: itself, or one that had its id before. NULL: nobody's. */
check_person *check_busy(check_users *u, check_person *p);

/* The tries of that day, which become those asked for last; as of nobody, if there are none. */
check_tries *check_tries_open(check_person *p, dn_day day, bool *out_fresh);

/* Its turn comes soon. */
static inline void check_users_fetch_one(const check_users *u, uint32_t n) {
    __builtin_prefetch(&u->people[n], /* for writing */ 1);
    __builtin_prefetch(&u->records[n], /* for writing */ 1);
}
/* Whose window opens at that minute of the day is about to be told of. */
void check_users_fetch(const check_users *u, uint32_t minute);
/* NULL: there were none. */
static inline check_tries *check_tries_of(check_person *p, dn_day day) {
    if (p->days[0].day == day) return &p->days[0];
    return p->days[1].day == day ? &p->days[1] : NULL;
}

/* All that was counted is forgotten: the clock stepped, or something ended. */
void check_users_recount(check_users *u);

static inline void check_minute_begun(check_minute *m, dn_day day) {
    if (m->begun_day == day) {
        m->begun++;
    } else if (m->begun_day < day) {
        m->begun_day = day;
        m->begun = 1;
    }
}
static inline void check_minute_done(check_minute *m, dn_day day) {
    if (m->done_day == day) {
        m->done++;
    } else if (m->done_day < day) {
        m->done_day = day;
        m->done = 1;
    }
}

/* ---- Eras ---- */

void check_person_renew(check_users *u, check_person *p);

static inline check_person *check_person_of(check_users *u, uint64_t n) {
    if (n >= u->end) return NULL;
    check_person *p = &u->people[n];
    if (p->era != u->era) check_person_renew(u, p);
    return p;
}

static inline uint32_t check_number_of(const check_users *u, const check_person *p) {
    return (uint32_t)(p - u->people);
}

static inline bool check_lives(const check_person *p) { return p && (p->flags & CHECK_LIVES); }

#endif
