/* journal.h - what happened to which user, told by the actors as it happens, each thing in one place and in its order.
 * Telemetry (daily_events.h) counts and is for everybody; the journal names the user and has one listener: the replay
 * harness, which has all actors on one thread, or the recorder, which is called on the loop of the actor that tells.
 * Without a listener it costs a branch. */
#ifndef DIURNAL_DAILY_JOURNAL_H
#define DIURNAL_DAILY_JOURNAL_H

#include "diurnal/actor.h"
#include "domain/daily_rule.h"
#include "runner/runner.h"

typedef enum dn_happening_kind {
    DN_HAPPENED_TICK_BEGINS,  /* tick: what it causes follows */
    DN_HAPPENED_TICK,         /* tick: it is planned, and the queue has said how many it accepted */
    DN_HAPPENED_IGNORED,      /* queue: asked for and not accepted, for `reason` */
    DN_HAPPENED_ENQUEUED,     /* queue */
    DN_HAPPENED_EXPIRED,      /* queue: its turn came, and it may not start */
    DN_HAPPENED_DROPPED,      /* queue: its user was removed */
    DN_HAPPENED_STARTED,      /* execution: the job begins */
    DN_HAPPENED_STOPPED,      /* queue: the job has stopped */
    DN_HAPPENED_FINALIZED,    /* kv: committed */
    DN_HAPPENED_LATE_SUCCESS, /* kv: a success that found its day finalized */
    DN_HAPPENED_MISSED,       /* kv: one row, committed */
    DN_HAPPENED_SET,          /* kv: registered, or its due changed; committed */
    DN_HAPPENED_REMOVED,      /* kv: committed */
    DN_HAPPENED_STORE_FAILED, /* kv: a commit failed, and what was to be written waits */
    DN_HAPPENED_STORE_WELL,   /* kv: the first commit after that */
    DN_HAPPENED_CLOCK,        /* tick: the wall clock stepped, by step_ms */
    DN_HAPPENINGS,
} dn_happening_kind;

/* Members that do not belong to the kind are 0. */
typedef struct dn_happening {
    dn_happening_kind kind;
    uint8_t           id_len;
    const char       *id;           /* borrowed for the call */
    uint64_t          registration; /* 0: no user */
    int64_t           at_ms;
    dn_day            day;
    uint32_t          due;         /* FINALIZED, LATE_SUCCESS, MISSED, SET */
    uint32_t          attempt;     /* STARTED, STOPPED */
    dn_daily_status   status;      /* FINALIZED */
    dn_outcome        outcome;     /* STOPPED */
    dn_error_class    error_class; /* STOPPED: of an error */
    dn_day            starts_on;   /* SET */
    union {                 /* made and looked at millions of times: no longer than it must be */
        const char *reason; /* IGNORED: "dedupe", "throttle" */
        int64_t     duration_ms; /* STOPPED */
        int64_t     step_ms;     /* CLOCK */
        struct {
            uint32_t scanned, eligible, enqueued, cutoffs; /* TICK */
        };
    };
} dn_happening;

#define DN_HAPPENED_BIT(kind) (UINT32_C(1) << (kind))
#define DN_HAPPENED_ANY       (DN_HAPPENED_BIT(DN_HAPPENINGS) - 1)

/* kinds: the DN_HAPPENED_BIT of each it is told. The others cost what all do with nobody listening. */
typedef struct dn_journal {
    void (*said)(void *context, dn_self *self, const dn_happening *happening);
    void    *context;
    uint32_t kinds;
} dn_journal;

/* DN_SAY(config->journal, self, DN_HAPPENED_..., .n = ..., ...) */
#define DN_SAY(journal, self, what, ...)                                                           \
    do {                                                                                           \
        if ((journal) && (journal)->kinds & DN_HAPPENED_BIT(what))                                 \
            (journal)->said((journal)->context, self,                                              \
                            &(dn_happening){.kind = (what), __VA_ARGS__});                         \
    } while (0)

#endif
