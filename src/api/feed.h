/* feed.h - what changes, for those who watch: the events of GET /api/v1/events.
 * Once a second, while anybody listens, the actors are asked how the day and the daemon are, and what differs from the time
 * before is an event. So watching costs the same however much happens, and nobody who is slow makes the daemon remember
 * anything: the last events are kept once for all, and who has fallen behind them is told to begin anew. */
#ifndef DIURNAL_API_FEED_H
#define DIURNAL_API_FEED_H

#include "ops.h"

enum {
    FEED_ROUND_MS = 1000,
    FEED_KEPT = 512, /* events, and at most FEED_KEPT_BYTES of them */
    FEED_KEPT_BYTES = 1 << 20,
    FEED_ID = 48,
};

typedef struct feed_event {
    char  *text; /* as it goes out, whole */
    size_t len;
} feed_event;

typedef struct feed feed;
struct feed {
    uint64_t   epoch;           /* tells the ids of this life from those of another */
    uint64_t   first, next;     /* numbers of the events that are kept: first <= n < next */
    feed_event kept[FEED_KEPT]; /* by number % FEED_KEPT */
    size_t     kept_bytes;
    ask        ask;   /* under way: today, then status */
    int        stage; /* 0: nothing is under way */
    dn_call_id call;
    json_t    *minutes; /* as they were the last time: due -> item */
    json_t    *status;
    char       day[DN_DAY_TEXT];
};

void feed_init(feed *f, uint64_t epoch);
void feed_done(feed *f);

/* Asks around, unless that is under way. */
void feed_round(dn_self *self, const ops_world *w, feed *f);
/* The answer to f->call, or its DN_MSG_CALL_FAILED. */
void feed_on_answer(dn_self *self, const ops_world *w, feed *f, const dn_msg *reply);
/* What was known is let go: nobody listens. */
void feed_forget(feed *f);

/* From which event on somebody is to be told who has heard of that one; false: nobody knows any more. id may be empty. */
bool feed_resumes(const feed *f, const char *id, size_t len, uint64_t *out_next);

/* How things are is known: what differs from now on will be told. Who comes is greeted then, and not before. */
static inline bool feed_has_begun(const feed *f) { return f->minutes && f->status; }

/* The first that somebody is told who is at `next`; anew: what they know is to be read again. NULL: no memory. Of malloc. */
char *feed_greeting(const feed *f, uint64_t next, bool anew, int64_t now_ms, size_t *out_len);
/* What goes out to one who is at *next, moved on; NULL: nothing, or no memory. Of malloc. */
char *feed_text_for(const feed *f, uint64_t *next, int64_t now_ms, size_t *out_len);

#endif
