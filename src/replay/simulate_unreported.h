/* simulate_unreported.h - what was committed when the process died before it could say so.
 * The log has what the actors said; of this nobody can, and a checker that knew nothing of it would take what is found
 * in the store for a wonder. So it is read from the store, before and after that one commit, and told in their place. */
#ifndef DIURNAL_REPLAY_SIMULATE_UNREPORTED_H
#define DIURNAL_REPLAY_SIMULATE_UNREPORTED_H

#include "event.h"
#include "store/daily.h"

typedef struct untold {
    dn_user *users; /* before it, by number */
    size_t   len;
    dn_user *now;
    bool     is_due; /* to be told at the crash */
} untold;

void            unreported_done(untold *u);
DN_MUST_USE int unreported_before(untold *u, dn_store *store);

/* Tells it: how many things. Negative: DN_ENOMEM. */
int unreported_tell(untold *u, dn_store *store, int64_t wall_ms,
                    void (*told)(void *context, const dn_happening *h), void *context);

#endif
