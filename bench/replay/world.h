/* world.h - the daily service in a world of its own: the production actors under the simulation driver, a store in
 * memory that outlives them, jobs that go as the book of answers says, and what is done to all that from outside.
 * Instants here are steady: milliseconds since the beginning of the run, which no step of the wall clock moves. */
#ifndef DIURNAL_REPLAY_WORLD_H
#define DIURNAL_REPLAY_WORLD_H

#include "event.h"
#include "store/store.h"
#include "trace.h"

typedef struct world_config {
    const trace_settings *settings; /* borrowed for the world's life, as the answers */
    answers              *answers;
    uint64_t seed; /* of whose turn it is when several are ready; 0: who was ready first */

    /* Each event, in the order things happen. */
    void (*tell)(void *context, const event *e);
    /* How long a tick took by the clock on the real wall. */
    void (*tell_tick)(void *context, int64_t real_ns);
    void *context;
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

/* ---- What is done at the present instant ---- */

/* A line of the trace. Those that need the process or the store wait for them. DN_ENOMEM. */
DN_MUST_USE int world_take(world *w, const trace_op *op);

/* ---- Looking ---- */
dn_store *world_store_borrow(world *w);

#endif
