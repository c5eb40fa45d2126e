/* queue_book.c - all in one list, a table by the hash of the id, two by number, and a heap.
 * Nothing here takes longer the more are known, but for what a heap and a table take; none of them grows at once. */
#include "queue_book.h"

#include "domain/room.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 64 };

/* ---- By number ---- */

static book_record *record_in(const dn_numbers *t, uint64_t key) {
    const uint64_t *value = dn_numbers_find(t, key);

    return value ? (book_record *)(uintptr_t)*value : NULL;
}

static int number(dn_numbers *t, uint64_t key, book_record *r) {
    return dn_numbers_put(t, key, (uint64_t)(uintptr_t)r);
}

book_record *book_of_n(const book *b, uint64_t n) { return record_in(&b->by_n, n); }

book_record *book_of_ticket(const book *b, uint64_t ticket) {
    return record_in(&b->by_ticket, ticket);
}

/* ---- By id ---- */

static uint64_t hash_key(uint64_t hash) { return hash ? hash : 1; }

book_record *book_find_hashed(const book *b, uint64_t hash, const char *id, uint8_t len) {
    book_record *r = record_in(&b->by_hash, hash_key(hash));

    while (r && !(r->id_len == len && memcmp(r->id, id, len) == 0)) r = r->alike;
    return r;
}

book_record *book_find(const book *b, const char *id, uint8_t len) {
    return book_find_hashed(b, dn_hash(b->key, id, len), id, len);
}

book_record *book_open_hashed(book *b, uint64_t hash, const char *id, uint8_t len) {
    book_record *known = book_find_hashed(b, hash, id, len);

    if (known) return known;
    book_record *r = calloc(1, sizeof *r + len);
    if (!r) return NULL;
    r->alike = record_in(&b->by_hash, hash_key(hash));
    if (number(&b->by_hash, hash_key(hash), r) < 0) {
        free(r);
        return NULL;
    }
    r->hash = hash;
    r->id_len = len;
    r->days[0].day = r->days[1].day = DN_DAY_NONE;
    memcpy(r->id, id, len);
    r->next = b->all;
    b->all = r;
    b->len++;
    return r;
}

book_record *book_open(book *b, const char *id, uint8_t len) {
    return book_open_hashed(b, dn_hash(b->key, id, len), id, len);
}

static void unhash(book *b, book_record *r) {
    uint64_t    *first = dn_numbers_find(&b->by_hash, hash_key(r->hash));
    book_record *before = (book_record *)(uintptr_t)*first;

    if (before == r && !r->alike) {
        (void)dn_numbers_remove(&b->by_hash, hash_key(r->hash));
    } else if (before == r) {
        *first = (uint64_t)(uintptr_t)r->alike;
    } else {
        while (before->alike != r) before = before->alike;
        before->alike = r->alike;
    }
}

/* link: what leads to it among all. */
static void forget(book *b, book_record **link) {
    book_record *r = *link;

    assert(r->state == BOOK_IDLE);
    if (r->n && book_of_n(b, r->n) == r) (void)dn_numbers_remove(&b->by_n, r->n);
    unhash(b, r);
    *link = r->next;
    free(r);
    b->len--;
}

void book_done(void *opened) {
    book *b = opened;

    for (book_record *r = b->all, *next; r; r = next) {
        next = r->next;
        free(r);
    }
    dn_room_free(b->heap, b->heap_cap * sizeof *b->heap);
    dn_numbers_done(&b->by_hash);
    dn_numbers_done(&b->by_n);
    dn_numbers_done(&b->by_ticket);
    *b = (book){.key = b->key};
}

/* ---- Days ---- */

book_day *book_day_of(book_record *r, dn_day day) {
    book_day *older = r->days[0].day <= r->days[1].day ? &r->days[0] : &r->days[1];

    if (r->days[0].day == day) return &r->days[0];
    if (r->days[1].day == day) return &r->days[1];
    *older = (book_day){.day = day, .next_ns = INT64_MIN};
    return older;
}

/* ---- Order: the earliest cutoff, then fewest attempts, then first come ---- */

static bool goes_before(book_record *a, book_record *b) {
    if (a->cutoff_ms != b->cutoff_ms) return a->cutoff_ms < b->cutoff_ms;
    const uint16_t tried_a = book_day_of(a, a->day)->attempts;
    const uint16_t tried_b = book_day_of(b, b->day)->attempts;
    if (tried_a != tried_b) return tried_a < tried_b;
    return a->arrival < b->arrival;
}

static void heap_put(book *b, size_t at, book_record *r) {
    b->heap[at] = r;
    r->heap_at = (uint32_t)at;
}

static void heap_up(book *b, size_t at) {
    book_record *r = b->heap[at];

    for (; at > 0 && goes_before(r, b->heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap_put(b, at, b->heap[(at - 1) / 2]);
    heap_put(b, at, r);
}

static void heap_down(book *b, size_t at) {
    book_record *r = b->heap[at];

    for (;;) {
        size_t child = at * 2 + 1;
        if (child + 1 < b->heap_len && goes_before(b->heap[child + 1], b->heap[child])) child++;
        if (child >= b->heap_len || !goes_before(b->heap[child], r)) break;
        heap_put(b, at, b->heap[child]);
        at = child;
    }
    heap_put(b, at, r);
}

static int heap_reserve(book *b) {
    if (b->heap_len < b->heap_cap) return DN_OK;
    const size_t  cap = b->heap_cap ? b->heap_cap * 2 : LEAST;
    book_record **heap = dn_room_grow(b->heap, b->heap_cap * sizeof *heap, cap * sizeof *heap);
    if (!heap) return DN_ENOMEM;
    b->heap = heap;
    b->heap_cap = cap;
    return DN_OK;
}

static void heap_drop(book *b, size_t at) {
    book_record *last = b->heap[--b->heap_len];

    if (at == b->heap_len) return;
    heap_put(b, at, last);
    heap_up(b, at);
    heap_down(b, last->heap_at);
}

/* ---- A record's way ---- */

int book_enqueue(book *b, book_record *r, uint64_t n, dn_day day, uint32_t due,
                 uint32_t context_epoch) {
    assert(r->state == BOOK_IDLE);
    if (heap_reserve(b) < 0 || number(&b->by_n, n, r) < 0) return DN_ENOMEM;
    if (r->n && r->n != n && book_of_n(b, r->n) == r) (void)dn_numbers_remove(&b->by_n, r->n);
    const bool fresh = r->n != n;
    r->n = n;
    r->gone = false;
    r->day = day;
    /* What is known of this registration stays known: the planner may be a message behind. */
    if (fresh) r->user = (dn_daily_user){due, DN_DAY_NONE, DN_DAY_NONE};
    r->context_epoch = context_epoch;
    r->cutoff_ms = dn_daily_cutoff_ms(r->user.due, day);
    r->arrival = b->arrivals++;
    r->state = BOOK_QUEUED;
    heap_put(b, b->heap_len++, r);
    heap_up(b, r->heap_at);
    return DN_OK;
}

book_record *book_first(const book *b) { return b->heap_len ? b->heap[0] : NULL; }

void book_reorder(book *b, book_record *r) {
    assert(r->state == BOOK_QUEUED);
    r->cutoff_ms = dn_daily_cutoff_ms(r->user.due, r->day);
    heap_up(b, r->heap_at);
    heap_down(b, r->heap_at);
}

void book_unqueue(book *b, book_record *r) {
    assert(r->state == BOOK_QUEUED);
    heap_drop(b, r->heap_at);
    r->state = BOOK_IDLE;
}

int book_run(book *b, book_record *r, uint64_t ticket) {
    if (number(&b->by_ticket, ticket, r) < 0) return DN_ENOMEM;
    book_unqueue(b, r);
    r->ticket = ticket;
    r->state = BOOK_RUNNING;
    return DN_OK;
}

void book_stop(book *b, book_record *r) {
    assert(r->state == BOOK_RUNNING);
    (void)dn_numbers_remove(&b->by_ticket, r->ticket);
    r->state = BOOK_IDLE;
}

void book_stop_all(book *b) {
    size_t at = 0;

    for (const dn_number_row *row; (row = dn_numbers_next(&b->by_ticket, &at));) {
        book_record *r = (book_record *)(uintptr_t)row->value;
        book_day    *d = book_day_of(r, r->day);
        if (d->attempts < UINT16_MAX) d->attempts++;
        r->state = BOOK_IDLE;
    }
    dn_numbers_done(&b->by_ticket);
}

/* ---- Forgetting ---- */

/* Its attempts count until the day is finalized, or is a day past its cutoff: further back no clock is set. */
static bool day_matters(const book_record *r, const book_day *d, int64_t mono_ns, int64_t now_ms) {
    if (d->day == DN_DAY_NONE) return false;
    if (d->next_ns > mono_ns) return true;
    if (r->gone || d->attempts == 0 || dn_daily_is_finalized(&r->user, d->day)) return false;
    return now_ms < dn_daily_cutoff_ms(r->user.due, d->day) + DN_DAY_MS;
}

/* Those that are new stand in front of where it has been. */
bool book_sweep(book *b, size_t most, int64_t mono_ns, int64_t now_ms) {
    book_record **link = b->swept ? b->swept : &b->all;

    for (; *link && most > 0; most--) {
        const book_record *r = *link;
        if (r->state == BOOK_IDLE && r->keep_ns <= mono_ns &&
            !day_matters(r, &r->days[0], mono_ns, now_ms) &&
            !day_matters(r, &r->days[1], mono_ns, now_ms))
            forget(b, link);
        else link = &(*link)->next;
    }
    b->swept = *link ? link : NULL;
    return b->swept != NULL;
}
