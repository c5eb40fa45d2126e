/* simulate_tally.h - how often each rare thing happened in a run, from what was told of it. */
#ifndef DIURNAL_REPLAY_SIMULATE_TALLY_H
#define DIURNAL_REPLAY_SIMULATE_TALLY_H

#include "simulate.h"

typedef struct tally_person {
    uint64_t n;
    uint32_t due;
    bool     queued, running, has_ok;
    dn_day   day, last_day; /* day: of its attempt */
    dn_day   starts_on;
} tally_person;

typedef struct tally {
    simulate_counts counts;
    tally_person   *people; /* by number of the id */
    uint32_t        len;
    uint32_t        running, max_concurrency;
    bool            full;
    int64_t         down_ms; /* steady: when the process died last */
} tally;

DN_MUST_USE int tally_init(tally *t, const plan *p);
void            tally_done(tally *t);
void            tally_tell(tally *t, const event *e);

/* "u7" is 7. UINT32_MAX: it is none of them. */
uint32_t tally_user_of(const char *id, size_t id_len);

#endif
