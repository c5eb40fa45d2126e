/* event.h - one line of a run's log, before it is a line: what the actors said (daily/journal.h), and what the world
 * did to them. Everyone who looks at a run is told these, in the order things happened: who writes events.ndjson, who
 * counts, who draws, who checks. */
#ifndef DIURNAL_REPLAY_EVENT_H
#define DIURNAL_REPLAY_EVENT_H

#include "daily/journal.h"
#include "store/daily.h"

/* Beside the dn_happening_kinds. */
enum {
    EVENT_CRASH = DN_HAPPENINGS,
    EVENT_RESTART,
    EVENT_STORE_FAILS, /* for_ms */
    EVENT_SLO,
    EVENT_USER,       /* user: the run begins with it as it is */
    EVENT_ACTOR_ENDS, /* one of the daily path; which, is told by the next one, at the latest then */
    EVENT_ACTOR_CRASH, /* name: it ended, and all are there again who believe it */
};

typedef struct event_slo {
    const char *name, *state; /* "breached", "ok" */
    double      value, threshold;
} event_slo;

typedef struct event {
    unsigned            kind;
    int64_t             t_ms;      /* the wall clock */
    int64_t             steady_ms; /* since the beginning of the run; no step moves it */
    const dn_happening *h;         /* of a dn_happening_kind; else NULL. Borrowed for the call */
    union {
        int64_t for_ms; /* EVENT_STORE_FAILS */
        int64_t
            real_ns; /* DN_HAPPENED_TICK: how long it took by the clock on the real wall, if that was asked for */
    };
    const event_slo *slo;  /* EVENT_SLO */
    const dn_user   *user; /* EVENT_USER */
    const char      *name; /* EVENT_ACTOR_CRASH: "kv", "executions", "executor", "queue", "tick" */
} event;

#endif
