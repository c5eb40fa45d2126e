/* queue_records.h - the users the queue knows: which wait, in which order, which run, and which are throttled.
 * A record belongs to an id and not to a registration: throttle and running mark stay with the id. Plain data, no
 * messages; DN_ENOMEM if memory is refused. */
#ifndef DIURNAL_DAILY_QUEUE_RECORDS_H
#define DIURNAL_DAILY_QUEUE_RECORDS_H

#include "base/block_pool.h"
#include "base/hash.h"
#include "base/map.h"
#include "domain/daily_rule.h"
#include "queue_order.h"

typedef enum record_state { RECORD_IDLE, RECORD_QUEUED, RECORD_RUNNING } record_state;

/* The attempts of an id for a day. */
typedef struct record_day {
    dn_day   day;
    uint16_t attempts;
    uint8_t  error_class; /* of the last attempt that failed */
    int64_t  next_ns;     /* steady: throttled until then */
} record_day;

typedef struct queue_record {
    uint64_t              hash;         /* of the id: the key in by_hash */
    uint64_t              registration; /* that `user` and the attempts belong to; 0: none yet */
    uint64_t              commit;       /* the commit that `user` is known by */
    struct queue_record **looked_from, *looked_next; /* RECORD_IDLE: in a list of the sweep */
    uint64_t              ticket;                    /* RECORD_RUNNING; 0: adopted */
    int64_t               since_ms;                  /* RECORD_RUNNING: by the wall clock */
    int64_t               keep_ns;                   /* steady: keep the record until then */
    dn_daily_user         user;
    dn_day                day;
    uint32_t              place; /* RECORD_QUEUED: in the row of the order, or in its heap */
    uint32_t              context_epoch;
    bool                  in_row;
    bool                  gone; /* n has been removed */
    uint8_t               state;
    uint8_t               id_len;
    uint16_t              attempts_before; /* RECORD_RUNNING: this one */
    record_day days[2]; /* two, because a step of the clock may go back to the day before */
    char       id[];
} queue_record;

enum { RECORD_MINUTES = 64 };

typedef struct queue_records {
    dn_hash_key key;
    dn_map      by_hash; /* hash of an id -> record */
    block_pool  pool;
    order       waiting;
    uint64_t    planned; /* the greatest commit that a plan knew of */
    uint64_t    arrivals;
    uint64_t    tickets; /* the last one given */
    dn_map      running; /* ticket -> record */
    size_t      adopted_len;

    /* A sweep looks at an idle record in its steady minute, or every time, and drops it if it no longer matters. */
    queue_record *minutes[RECORD_MINUTES]; /* by minute, around */
    queue_record *every;
    queue_record *now;    /* the sweep under way still has these to look at */
    uint64_t      minute; /* the next one whose list a sweep takes */
    bool          sweeping;
} queue_records;

void   records_done(void *opened);
size_t records_len(const queue_records *b);
size_t records_running_len(const queue_records *b); /* adopted ones too */
/* Each record with a ticket once, from *at == 0 on. NULL: there is none left. */
queue_record *records_running_next(const queue_records *b, size_t *at);

/* Cheap enough for every call. */
bool records_are_sound(const queue_records *b);

queue_record *records_find(const queue_records *b, const char *id, uint8_t len);
queue_record *records_of_ticket(const queue_records *b, uint64_t ticket);
/* The record of an id, made if there is none. NULL: no memory. */
queue_record *records_open(queue_records *b, const char *id, uint8_t len);
/* Prefetches the memory in which an id is looked for, and returns its hash. */
uint64_t records_fetch(const queue_records *b, const char *id, uint8_t len);
/* The same for an id whose hash is known. */
queue_record *records_find_hashed(const queue_records *b, uint64_t hash, const char *id,
                                  uint8_t len);
queue_record *records_open_hashed(queue_records *b, uint64_t hash, const char *id, uint8_t len);
/* The record's entry for a day, made if there is none. */
record_day *records_day_of(queue_record *r, dn_day day);
/* The number of the next attempt; it stays at 65,535. */
uint16_t records_next_attempt(const record_day *d);

/* An idle record gets a new registration: its attempts begin anew, its throttle stays. */
void records_begin_anew(queue_record *r, uint64_t registration, uint32_t due, uint64_t commit);
/* Sets the due as of that commit; a record that waits changes its place. */
void records_set_due(queue_records *b, queue_record *r, uint32_t due, uint64_t commit);

/* An idle record waits for an attempt. */
DN_MUST_USE int records_enqueue(queue_records *b, queue_record *r, dn_day day,
                                uint32_t context_epoch);
queue_record   *records_first(const queue_records *b);              /* NULL: nobody waits */
void            records_unqueue(queue_records *b, queue_record *r); /* queued -> idle */
/* queued -> running, with a ticket. */
DN_MUST_USE int records_run(queue_records *b, queue_record *r, int64_t now_ms);
/* An idle record runs without a ticket: an earlier queue handed it out, and its success waits to be written. */
void records_adopt(queue_records *b, queue_record *r, dn_day day);
void records_stop(queue_records *b, queue_record *r); /* running -> idle */

/* Drops records that no longer matter. Continues where it stopped, for at most `most` records. False: the sweep is done,
 * and the next one starts again. */
bool records_sweep(queue_records *b, size_t most, int64_t mono_ns, int64_t now_ms);

#endif
