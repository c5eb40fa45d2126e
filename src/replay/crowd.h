/* crowd.h - events that differ in their users alone, for those who only count.
 * At one instant sixty jobs begin, and half a second later sixty stop. Whoever writes a line of each, or judges it, is told
 * of each; a report and a summary want to know how many they were, and that is one event with a number. In the order
 * things happened: a crowd is counted before what comes behind it. */
#ifndef DIURNAL_REPLAY_CROWD_H
#define DIURNAL_REPLAY_CROWD_H

#include "event.h"

/* e happened so many times, to so many users. Which one it was is said of an event that came by crowd_alone, and of no other. */
typedef void crowd_count(void *context, const event *e, uint64_t times);

typedef struct crowd {
    crowd_count *count;
    void        *context;
    event        first; /* its happening is the one below, without its user */
    dn_happening h;
    uint64_t     len; /* 0: nobody has come yet */
} crowd;

/* Counts what has come. To be called before anything else is, and at the end. */
void crowd_settle(crowd *c);

/* Counts what has come, and e for itself: with its user. */
void crowd_alone(crowd *c, const event *e);

/* The first of a crowd; for the three below. */
void crowd_begin(crowd *c, const event *e);

/* The wall clock need not be looked at: where it steps within an instant, that is an event between the two. */
static inline bool crowd_is_there(const crowd *c, const event *e) {
    return e->kind == c->first.kind && e->steady_ms == c->first.steady_ms &&
           e->h->day == c->h.day && c->len > 0;
}

/* One more that was queued, or began: which user it is, and which attempt, makes no difference. */
static inline void crowd_add(crowd *c, const event *e) {
    if (__builtin_expect(crowd_is_there(c, e), 1)) c->len++;
    else crowd_begin(c, e);
}

/* The same of one that stopped, and of one that was finalized. */
static inline void crowd_add_stopped(crowd *c, const event *e) {
    const dn_happening *h = e->h, *of = &c->h;

    if (__builtin_expect(crowd_is_there(c, e) && h->outcome == of->outcome &&
                             h->error_class == of->error_class && h->duration_ms == of->duration_ms,
                         1))
        c->len++;
    else crowd_begin(c, e);
}

static inline void crowd_add_finalized(crowd *c, const event *e) {
    const dn_happening *h = e->h, *of = &c->h;

    if (__builtin_expect(crowd_is_there(c, e) && h->status == of->status && h->due == of->due, 1))
        c->len++;
    else crowd_begin(c, e);
}

#endif
