/* shrink.h - a plan that fails, made as short as it goes: what can be left out of it while the same rule is broken is. */
#ifndef DIURNAL_REPLAY_SHRINK_H
#define DIURNAL_REPLAY_SHRINK_H

#include "simulate.h"

typedef struct shrink_config {
    uint32_t runs_max; /* how many plans are tried */
    /* As simulate_watch's: for a test whose world is broken on purpose. */
    bool (*tell)(void *context, event *e);
    void (*user)(void *context, check_final *u);
    void (*begins)(void *context); /* a run does; NULL: nobody asks */
    void *context;
} shrink_config;

typedef struct shrunk {
    plan             plan; /* to be given back with plan_done */
    simulate_verdict verdict;
    uint32_t         runs;
} shrunk;

/* verdict: what p comes to. DN_ENOMEM. */
DN_MUST_USE int shrink(const plan *p, const simulate_verdict *verdict, const shrink_config *config,
                       shrunk *out_shrunk);

#endif
