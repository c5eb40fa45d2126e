/* queue_book.h - whom the queue knows: who waits, in which order, who runs, and who may not come back yet.
 * A record is an id's, not a registration's: throttle and running mark stay with the id. Plain data, no
 * messages; memory that cannot be had is DN_ENOMEM. */
#ifndef DIURNAL_SERVICE_QUEUE_BOOK_H
#define DIURNAL_SERVICE_QUEUE_BOOK_H

#include "domain/daily.h"
#include "domain/hash.h"
#include "domain/numbers.h"

typedef enum book_state { BOOK_IDLE, BOOK_QUEUED, BOOK_RUNNING } book_state;

/* What is remembered of an id's attempts for a day. */
typedef struct book_day {
    dn_day   day;
    uint16_t attempts;
    uint8_t  cls;
    int64_t  next_ns; /* steady: not to be queued before */
} book_day;

typedef struct book_record {
    struct book_record *next, *alike; /* of all; of those with the same hash */
    uint64_t            hash;
    uint64_t            n; /* the registration it was queued under last */
    dn_daily_user       user;
    int64_t             cutoff_ms; /* with the two below: its place among those that wait */
    uint64_t            arrival;
    uint64_t            ticket;  /* BOOK_RUNNING */
    int64_t             keep_ns; /* steady: not to be forgotten before */
    uint32_t            heap_at;
    uint32_t            context_epoch;
    dn_day              day;
    book_state          state;
    bool                gone; /* n has been removed */
    book_day days[2];         /* two, because a step of the clock may go back to the one before */
    uint8_t  id_len;
    char     id[];
} book_record;

typedef struct book {
    dn_hash_key   key;
    book_record  *all;
    size_t        len;
    dn_numbers    by_hash;   /* -> record, of those alike the first */
    dn_numbers    by_n;      /* -> record */
    dn_numbers    by_ticket; /* -> record, those that run */
    book_record **heap;
    size_t        heap_len, heap_cap;
    uint64_t      arrivals;
    book_record **swept; /* where a sweep goes on; NULL: at the beginning */
} book;

void book_done(void *opened);

book_record *book_find(const book *b, const char *id, uint8_t len);
book_record *book_of_n(const book *b, uint64_t n);
book_record *book_of_ticket(const book *b, uint64_t ticket);
/* The id's record, made if there is none. NULL: no memory. */
book_record *book_open(book *b, const char *id, uint8_t len);
/* The same of an id whose hash is known. */
book_record *book_find_hashed(const book *b, uint64_t hash, const char *id, uint8_t len);
book_record *book_open_hashed(book *b, uint64_t hash, const char *id, uint8_t len);
/* The day's entry of a record; makes room for it if it has none. */
book_day *book_day_of(book_record *r, dn_day day);

/* A record that is idle begins to wait, under a registration. */
DN_MUST_USE int book_enqueue(book *b, book_record *r, uint64_t n, dn_day day, uint32_t due,
                             uint32_t context_epoch);
book_record    *book_first(const book *b);                          /* NULL: nobody waits */
void            book_reorder(book *b, book_record *r);              /* its due has changed */
void            book_unqueue(book *b, book_record *r);              /* idle again */
DN_MUST_USE int book_run(book *b, book_record *r, uint64_t ticket); /* queued -> running */
void            book_stop(book *b, book_record *r);                 /* running -> idle */
void            book_stop_all(book *b);                             /* all that run */

/* Forgets records of ids that nothing is to be remembered of; goes on where it was left, over at most `most`
 * records. False: that was the last, and the next begins at the first. */
bool book_sweep(book *b, size_t most, int64_t mono_ns, int64_t now_ms);

#endif
