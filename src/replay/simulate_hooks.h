/* simulate_hooks.h - does each cutoff have its hook? Where a plan has hooks the world has somebody to deliver them to, who
 * does not take them all until the calm. Here is remembered which cutoffs were told, and asked:
 *   a hook that is delivered is one of them: its user, its day, its context_epoch
 *   in the end each has been delivered, unless its user was removed, or waits in the outbox for a time that is to come */
#ifndef DIURNAL_REPLAY_SIMULATE_HOOKS_H
#define DIURNAL_REPLAY_SIMULATE_HOOKS_H

#include "daily/daily_request.h"
#include "draw.h"
#include "event.h"

typedef struct hooks_cutoff {
    uint64_t n;
    int64_t  at_ms; /* steady: it was told */
    dn_day   day;
    uint32_t user, epoch;
    uint32_t older; /* the cutoff before it of the same id, + 1; 0: none */
    bool     delivered, gone;
} hooks_cutoff;

typedef struct hooks_person {
    uint64_t n; /* the registration */
    uint32_t epoch;
    uint32_t newest; /* cutoff, + 1; 0: none */
} hooks_person;

typedef struct hooks_watch {
    const plan   *plan;
    hooks_person *people; /* by number of the id */
    hooks_cutoff *cutoffs;
    size_t        len, cap;
    bool          starved; /* no memory: nothing is known any more */
    void (*say)(void *context, const char *text);
    void *context;
} hooks_watch;

/* The rest of *h is set: plan, say, context. */
DN_MUST_USE int hooks_watch_init(hooks_watch *h);
void            hooks_watch_done(hooks_watch *h);
void            hooks_watch_tell(hooks_watch *h, const event *e);
/* A delivery begins; ok: it comes to that. */
void hooks_watch_delivers(hooks_watch *h, const dn_daily_request *request, bool ok);
/* The run is over: what is in the store's outbox? */
DN_MUST_USE int hooks_watch_end(const hooks_watch *h, dn_store *store, int64_t steady_ms,
                                int64_t wall_ms);

#endif
