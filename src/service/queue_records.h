/* queue_book.h - whom the queue knows: who waits, in which order, who runs, and who may not come back yet.
 * A record is an id's, not a registration's: throttle and running mark stay with the id. Plain data, no
 * messages; memory that cannot be had is DN_ENOMEM. */
#ifndef DIURNAL_SERVICE_QUEUE_RECORDS_H
#define DIURNAL_SERVICE_QUEUE_RECORDS_H

#include "base/block_pool.h"
#include "base/hash.h"
#include "base/hashtable.h"
#include "domain/daily.h"
#include "queue_order.h"

typedef enum record_state { RECORD_IDLE, RECORD_QUEUED, RECORD_RUNNING } record_state;

/* What is remembered of an id's attempts for a day. */
typedef struct record_day {
    dn_day   day;
    uint16_t attempts;
    uint8_t  cls;
    int64_t  next_ns; /* steady: not to be queued before */
} record_day;

/* Of this registration kv itself has said what it is since the record knows it: that is never older than what others say. */
#define RECORD_KV_SAID UINT32_MAX

typedef struct queue_record {
    dn_hashtable_link     by_hash; /* its id's */
    uint64_t              n;       /* the registration it was queued under last; 0: none */
    struct queue_record **looked_from, *looked_next; /* RECORD_IDLE: in the list of a look */
    uint64_t              ticket;                    /* RECORD_RUNNING */
    int64_t               keep_ns;                   /* steady: not to be forgotten before */
    dn_daily_user         user;
    dn_day                day;
    uint32_t              place; /* RECORD_QUEUED: in the order's row, or its heap */
    uint32_t              context_epoch;
    uint32_t              planner; /* who was believed last: so many had ended; or RECORD_KV_SAID */
    bool                  in_row;
    bool                  gone; /* n has been removed */
    uint8_t               state;
    uint8_t               id_len;
    record_day days[2]; /* two, because a step of the clock may go back to the one before */
    char       id[];
} queue_record;

/* Those that run: a ticket says at which place, and of which turn there. */
typedef struct running_record {
    uint64_t      ticket;
    queue_record *who; /* NULL: nobody */
} running_record;

enum { RECORD_MINUTES = 64 };

typedef struct queue_records {
    dn_hash_key     key;
    dn_hashtable    by_hash;
    block_pool      pool;
    order           waiting;
    uint64_t        arrivals;
    uint64_t        tickets; /* the last one given */
    running_record *running; /* at ticket & (running_cap - 1) */
    size_t          running_len, running_cap;

    /* Who is idle is looked at, whether it may be forgotten, in its steady minute or at every sweep. */
    queue_record *minutes[RECORD_MINUTES]; /* by minute, around */
    queue_record *every;
    queue_record *now;    /* of a sweep under way: still to be looked at */
    uint64_t      minute; /* the next one of which a sweep takes the list */
    bool          sweeping;
} queue_records;

void   records_done(void *opened);
size_t records_len(const queue_records *b); /* records */

queue_record *records_find(const queue_records *b, const char *id, uint8_t len);
queue_record *records_of_ticket(const queue_records *b, uint64_t ticket);
/* The id's record, made if there is none. NULL: no memory. */
queue_record *records_open(queue_records *b, const char *id, uint8_t len);
/* Has the memory brought near in which an id is looked for, and says its hash. */
uint64_t records_fetch(const queue_records *b, const char *id, uint8_t len);
/* The same of an id whose hash is known. */
queue_record *records_find_hashed(const queue_records *b, uint64_t hash, const char *id,
                                  uint8_t len);
queue_record *records_open_hashed(queue_records *b, uint64_t hash, const char *id, uint8_t len);
/* The day's entry of a record; makes room for it if it has none. */
record_day *records_day_of(queue_record *r, dn_day day);
/* The number of the attempt behind those; from the 65,535th on all have that one. */
uint16_t records_next_attempt(const record_day *d);

/* A record that is idle begins to wait, under a registration. */
DN_MUST_USE int records_enqueue(queue_records *b, queue_record *r, uint64_t n, dn_day day,
                                uint32_t due, uint32_t context_epoch);
queue_record   *records_first(const queue_records *b);              /* NULL: nobody waits */
void            records_reorder(queue_records *b, queue_record *r); /* its due has changed */
void            records_unqueue(queue_records *b, queue_record *r); /* idle again */
DN_MUST_USE int records_run(queue_records *b, queue_record *r);  /* queued -> running, r->ticket */
void            records_stop(queue_records *b, queue_record *r); /* running -> idle */
void            records_stop_all(queue_records *b);              /* all that run */

/* Forgets all records of ids that nothing is to be remembered of; goes on where it was left, over at most `most`
 * records. False: that was the last, and the next begins anew. */
bool records_sweep(queue_records *b, size_t most, int64_t mono_ns, int64_t now_ms);

#endif
