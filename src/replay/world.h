/* world.h - the daily service in a world of its own: the production actors under the simulation driver, a store in
 * memory that outlives them, jobs that go as the book of answers says, and what is done to all that from outside.
 * Instants here are steady: milliseconds since the beginning of the run, which no step of the wall clock moves. */
#ifndef DIURNAL_REPLAY_WORLD_H
#define DIURNAL_REPLAY_WORLD_H

#include "daily/daily_path.h"
#include "daily/daily_request.h"
#include "diurnal/sim.h"
#include "event.h"
#include "store/store.h"
#include "trace/trace.h"

/* What a simulation asks for besides; a replay has none of it (world_config.wild is NULL). */
typedef struct world_wild {
    dn_sim_faults   faults;
    bool            any_order; /* whose turn it is; else who was ready first */
    bool            unranked;  /* at one instant nothing has its place: messages take time anyway */
    bool            ticks_move; /* with steps of the wall clock, as in the daemon */
    dn_kv_bounds    kv_bounds;
    dn_daily_bounds daily_bounds;
    bool            tell_actors; /* each end of an actor of the daily path: EVENT_ACTOR_CRASH */
    /* The answer to a run that begins at now_ms by the wall clock, instead of the book's. */
    answer (*job)(void *context, const dn_daily_request *r, int64_t now_ms);
    /* Likewise to the delivery of a cutoff's hook. NULL: cutoffs have none. */
    answer (*hook)(void *context, const dn_daily_request *r);
    /* Asked before and after each commit: DN_OK, DN_EFULL (before only) or DN_EIO. May call world_crash. NULL: none. */
    int (*commit)(void *context, bool after);
} world_wild;

typedef struct world_config {
    const trace_settings *settings; /* borrowed for the world's life, as the answers */
    answers              *answers;
    uint64_t          seed; /* of whose turn it is when several are ready; 0: who was ready first */
    const world_wild *wild; /* borrowed. With it no crash ends the run: the process comes back */

    /* Each event, in the order things happen. */
    void (*tell)(void *context, const event *e);
    void *context;
    bool  time_ticks; /* event.real_ns */
} world_config;

typedef struct world world;

DN_MUST_USE int world_new(const world_config *config, world **out_world);
void            world_free(world *w); /* accepts NULL */

/* The process begins, at the instant at which the clocks stand. */
DN_MUST_USE int world_begin(world *w);

/* All that is before that instant happens. Then it is that instant, and nothing of it has happened yet. DN_OK, or why the
 * run cannot go on. */
DN_MUST_USE int world_until(world *w, int64_t steady_ms);

int64_t world_wall_ms(const world *w);
int64_t world_steady_ms(const world *w);

/* ---- What is done at the present instant ---- */

/* A line of the trace. Those that need the process or the store wait for them. DN_ENOMEM. */
DN_MUST_USE int world_take(world *w, const trace_op *op);

/* The process dies: now (also from world_wild's commit, which then is not returned to), or in so many steps of the
 * simulation; and is back that much later. */
void world_crash(world *w, int64_t down_ms);
void world_crash_in(world *w, uint64_t steps, int64_t down_ms);
/* If the process ends by itself from here on, because its store fails, it is back that much later. */
void world_down_for(world *w, int64_t down_ms);
/* That actor fails at its nth message from now. */
void world_crash_actor(world *w, const char *name, uint64_t nth);
/* Faults and what has been ordered and did not happen yet: no more of it. */
void world_calm(world *w);

/* ---- Looking ---- */
dn_store            *world_store_borrow(world *w);
const dn_sim_counts *world_counts_borrow(const world *w);
uint64_t             world_hash(const world *w); /* of all that happened */

#endif
