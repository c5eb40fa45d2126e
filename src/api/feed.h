/* feed.h - what changes, as the events of GET /api/v1/events.
 * Once a second, while anybody listens, the actors are asked how the day and the daemon are, and each difference from the
 * second before is an event. So listening costs the same however much happens, and a slow listener costs nothing: the
 * latest events are kept once for all, and a listener that has fallen behind them is told to read everything again. */
#ifndef DIURNAL_API_FEED_H
#define DIURNAL_API_FEED_H

#include "daily/day_minutes.h"
#include "route.h"

enum {
    FEED_ROUND_MS = 1000,
    FEED_KEPT = 512, /* events, and at most FEED_KEPT_BYTES of them; beyond that the oldest goes */
    FEED_KEPT_BYTES = 1 << 20,
    FEED_ID = 48,
};

typedef struct feed_event {
    char  *text; /* as it is sent */
    size_t len;
} feed_event;

/* The questions of a round, in this order; each needs the answer to the one before. */
typedef enum feed_question {
    FEED_IDLE,
    FEED_RUNNING,
    FEED_MINUTES,
    FEED_TICK,
    FEED_QUEUE,
    FEED_EXECUTOR,
    FEED_STORE,
    FEED_SLO,
    FEED_QUESTIONS,
} feed_question;

typedef struct feed {
    uint64_t   epoch;           /* tells the ids of this process from those of another */
    uint64_t   first, next;     /* numbers of the kept events: first <= n < next */
    feed_event kept[FEED_KEPT]; /* by number % FEED_KEPT */
    size_t     kept_bytes;

    /* The round under way. */
    feed_question asked;
    dn_call_id    call; /* 0: none */
    dn_day        today;
    day_minutes   minutes;
    json_t       *round_status[FEED_QUESTIONS]; /* as `status` below */

    /* What the last rounds found. */
    dn_day      shown_day; /* DN_DAY_NONE: none yet */
    day_minutes shown;
    json_t     *status[FEED_QUESTIONS]; /* of FEED_TICK and those after it; NULL: none yet */
} feed;

void feed_init(feed *f, uint64_t epoch);
void feed_done(feed *f);
bool feed_is_sound(const feed *f);

/* Begins a round, unless one is under way. */
void feed_round(dn_self *self, const api_world *w, feed *f);
/* The answer to f->call, or its DN_MSG_CALL_FAILED. */
void feed_on_answer(dn_self *self, const api_world *w, feed *f, const dn_msg *reply);
/* Nobody listens: drops what is known, and all events. */
void feed_forget(feed *f);

/* The event after the one with that id, for a listener that comes back. False: that is no longer known, and *out_next is
 * the next event there will be. id may be empty. */
bool feed_resumes(const feed *f, const char *id, size_t len, uint64_t *out_next);

/* Has a whole round been answered? Listeners are greeted after that, so that every later change reaches them. */
bool feed_has_begun(const feed *f);

/* The first that a listener at `next` is sent; resets: it has to read everything again. NULL: no memory. Of malloc. */
char *feed_greeting(const feed *f, uint64_t next, bool resets, int64_t now_ms, size_t *out_len);
/* What a listener at *next is sent, which moves on; NULL: nothing, or no memory. Of malloc. */
char *feed_text_for(const feed *f, uint64_t *next, int64_t now_ms, size_t *out_len);

#endif
