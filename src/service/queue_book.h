/* queue_book.h - whom the queue knows: who waits, in which order, who runs, and who may not come back yet.
 * A record is an id's, not a registration's: throttle and running mark stay with the id. Plain data, no
 * messages; memory that cannot be had is DN_ENOMEM. */
#ifndef DIURNAL_SERVICE_QUEUE_BOOK_H
#define DIURNAL_SERVICE_QUEUE_BOOK_H

#include "domain/chains.h"
#include "domain/daily.h"
#include "domain/hash.h"
#include "queue_order.h"
#include "queue_room.h"

typedef enum book_state { BOOK_IDLE, BOOK_QUEUED, BOOK_RUNNING } book_state;

/* What is remembered of an id's attempts for a day. */
typedef struct book_day {
    dn_day   day;
    uint16_t attempts;
    uint8_t  cls;
    int64_t  next_ns; /* steady: not to be queued before */
} book_day;

/* Of this registration kv itself has said what it is since the record knows it: that is never older than what others say. */
#define BOOK_KV_SAID UINT32_MAX

typedef struct book_record {
    dn_chain_link        by_hash; /* its id's */
    uint64_t             n;       /* the registration it was queued under last; 0: none */
    struct book_record **looked_from, *looked_next; /* BOOK_IDLE: in the list of a look */
    uint64_t             ticket;                    /* BOOK_RUNNING */
    int64_t              keep_ns;                   /* steady: not to be forgotten before */
    dn_daily_user        user;
    dn_day               day;
    uint32_t             place; /* BOOK_QUEUED: in the order's row, or its heap */
    uint32_t             context_epoch;
    uint32_t             planner; /* who was believed last: so many had ended; or BOOK_KV_SAID */
    bool                 in_row;
    bool                 gone; /* n has been removed */
    uint8_t              state;
    uint8_t              id_len;
    book_day days[2]; /* two, because a step of the clock may go back to the one before */
    char     id[];
} book_record;

/* Those that run: a ticket says at which place, and of which turn there. */
typedef struct book_running {
    uint64_t     ticket;
    book_record *who; /* NULL: nobody */
} book_running;

enum { BOOK_MINUTES = 64 };

typedef struct book {
    dn_hash_key   key;
    dn_chains     by_hash;
    room          room;
    order         waiting;
    uint64_t      arrivals;
    uint64_t      tickets; /* the last one given */
    book_running *running; /* at ticket & (running_cap - 1) */
    size_t        running_len, running_cap;

    /* Who is idle is looked at, whether it may be forgotten, in its steady minute or at every sweep. */
    book_record *minutes[BOOK_MINUTES]; /* by minute, around */
    book_record *every;
    book_record *now;    /* of a sweep under way: still to be looked at */
    uint64_t     minute; /* the next one of which a sweep takes the list */
    bool         sweeping;
} book;

void   book_done(void *opened);
size_t book_len(const book *b); /* records */

book_record *book_find(const book *b, const char *id, uint8_t len);
book_record *book_of_ticket(const book *b, uint64_t ticket);
/* The id's record, made if there is none. NULL: no memory. */
book_record *book_open(book *b, const char *id, uint8_t len);
/* Has the memory brought near in which an id is looked for, and says its hash. */
uint64_t book_fetch(const book *b, const char *id, uint8_t len);
/* The same of an id whose hash is known. */
book_record *book_find_hashed(const book *b, uint64_t hash, const char *id, uint8_t len);
book_record *book_open_hashed(book *b, uint64_t hash, const char *id, uint8_t len);
/* The day's entry of a record; makes room for it if it has none. */
book_day *book_day_of(book_record *r, dn_day day);
/* The number of the attempt behind those; from the 65,535th on all have that one. */
uint16_t book_next_attempt(const book_day *d);

/* A record that is idle begins to wait, under a registration. */
DN_MUST_USE int book_enqueue(book *b, book_record *r, uint64_t n, dn_day day, uint32_t due,
                             uint32_t context_epoch);
book_record    *book_first(const book *b);             /* NULL: nobody waits */
void            book_reorder(book *b, book_record *r); /* its due has changed */
void            book_unqueue(book *b, book_record *r); /* idle again */
DN_MUST_USE int book_run(book *b, book_record *r);     /* queued -> running, r->ticket */
void            book_stop(book *b, book_record *r);    /* running -> idle */
void            book_stop_all(book *b);                /* all that run */

/* Forgets all records of ids that nothing is to be remembered of; goes on where it was left, over at most `most`
 * records. False: that was the last, and the next begins anew. */
bool book_sweep(book *b, size_t most, int64_t mono_ns, int64_t now_ms);

#endif
