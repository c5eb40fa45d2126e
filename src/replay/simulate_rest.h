/* simulate_rest.h - what the checker does not look at, for it is told of events alone, and of those only what a replay
 * tells as well. A simulation has the store at hand, and knows what its plan asked for:
 *   order   of equal cutoffs the one with the fewest attempts goes first, and of those the first to come
 *   epoch   a run is told the context_epoch that is committed
 *   stop    a job has come to what was scripted for it
 *   closed  a success is told, and nothing starts for that day any more, however long words take
 *   overlap nor does it while an ok is in the hands of kv, whoever else ends meanwhile
 *   I6      a cutoff is written by the due of that write
 *   I4      ticks fall on multiples of their interval
 *   I5      what the plan registered is there in the end, with its due, and what it removed is not; rows of the ledger are
 *           there as long as they are to be kept, and no longer; starts_on stays, unless the plan gives one; each end of a day has its row in the ledger, with the attempts and
 *           the last error class there were
 * As in the checker, what another actor may not have heard of yet is nobody's fault. */
#ifndef DIURNAL_REPLAY_SIMULATE_REST_H
#define DIURNAL_REPLAY_SIMULATE_REST_H

#include "check.h"
#include "daily/daily_request.h"
#include "draw.h"

/* What of a user and day is in memory since the process began. */
typedef struct rest_tries {
    uint64_t n;
    dn_day   day;
    uint32_t starts;
    uint8_t  cls;
} rest_tries;

enum { REST_DAYS = 4, REST_DATES = 64 };

typedef struct rest_day {
    uint64_t n;
    dn_day   day;
} rest_day;

typedef struct rest_person {
    uint64_t   n; /* the registration */
    dn_day     starts_on;
    uint32_t   due;
    dn_day     job_day; /* of the job that runs, or has stopped last */
    uint32_t   attempt;
    dn_outcome outcome; /* what it is to come to */
    uint8_t    cls;
    rest_day   ok; /* in hand since ok_ms; n 0: none */
    int64_t    ok_ms;
    rest_day   succeeded;  /* told last */
    int64_t    touched_ms; /* when the store was told something of it last */
    uint64_t   told;       /* days that ended: bit 0 is rest.first_day */
    bool       queued;
    uint64_t   queued_n, arrival;
    dn_day     day; /* for which it is queued */
    int64_t    since_ms;
    rest_tries tries[REST_DAYS];
    uint32_t   oldest;   /* of those */
    int64_t    tried_ms; /* the last start or stop */
} rest_person;

/* A start of the present instant. */
typedef struct rest_start {
    int64_t  cutoff_ms;
    uint32_t user, tried;
    uint64_t arrival;
} rest_start;

typedef struct rest {
    const plan  *plan;
    dn_store    *store;  /* borrowed */
    rest_person *people; /* by number of the id */
    rest_start  *starts; /* as many as there are people */
    uint32_t     starts_len;
    uint64_t     arrivals;
    int64_t      now_ms, stepped_ms;
    dn_day       first_day; /* of the run, less a few */
    dn_day       ahead;     /* the latest date there was, for however short a while */
    dn_day       latest;    /* date that came back or lasted an hour after it was first seen */
    int64_t  seen_ms[REST_DATES]; /* steady: when a date or a later one was first seen; 0: never */
    uint64_t forgotten;           /* rows that were told and are not there in the end */
    int64_t  upset_ms;            /* by a step, or a full disk */
    bool     full;
    bool     remembers; /* no actor ends but with the process */
    bool     mending;   /* an actor ended, and not all that restart with it are there again */
    bool     first;     /* the next tick is the first of its planner */
    void (*say)(void *context, unsigned rule, const char *text);
    void *context;
} rest;

/* The rest of *r is set: plan, store, say, context. */
DN_MUST_USE int rest_init(rest *r);
void            rest_done(rest *r);
void            rest_tell(rest *r, const event *e);
/* The run is over, after that many operations. is_calm: no actor has crashed for a day. */
void rest_end(rest *r, size_t done, int64_t steady_ms, int64_t wall_ms, bool is_calm);
/* A job begins, and comes to that. */
void rest_job(rest *r, const dn_daily_request *request, const answer *is);

#endif
