/* queue_book.c - records, a table to find them by, and lists of when each may be forgotten.
 * Nothing here takes longer the more are known, but for what a heap takes; none of it grows at once. */
#include "queue_book.h"

#include "domain/room.h"

#include <assert.h>
#include <string.h>

enum { RUNNING_LEAST = 64 };
#define MINUTE_NS (DN_MINUTE_MS * 1000000)
#define DAY_NS    (DN_DAY_MS * 1000000)

/* ---- When it is looked at ---- */

static void look_leave(book_record *r) {
    *r->looked_from = r->looked_next;
    if (r->looked_next) r->looked_next->looked_from = r->looked_from;
}

static void look_join(book_record **list, book_record *r) {
    r->looked_from = list;
    r->looked_next = *list;
    if (*list) (*list)->looked_from = &r->looked_next;
    *list = r;
}

/* The list becomes the one that is looked at now. */
static void look_now(book *b, book_record **list) {
    assert(!b->now);
    b->now = *list;
    *list = NULL;
    if (b->now) b->now->looked_from = &b->now;
}

/* Until then it is remembered, whatever happens; behind it that is to be seen. */
static int64_t kept_until_ns(const book_record *r) {
    int64_t until_ns = r->keep_ns;

    for (int i = 0; i < 2; i++)
        if (r->days[i].day != DN_DAY_NONE && r->days[i].next_ns > until_ns)
            until_ns = r->days[i].next_ns;
    return until_ns;
}

/* Not in the list of a minute before `least`: that is of no use any more, or yet to be taken by the sweep under way. */
static void look_later(book *b, book_record *r, uint64_t least) {
    const int64_t  until_ns = kept_until_ns(r);
    const uint64_t last =
        b->minute + BOOK_MINUTES - 1; /* and there it is seen that it is still too early */
    uint64_t minute = until_ns > 0 ? (uint64_t)(until_ns / MINUTE_NS) : 0;

    if (minute > last) minute = last;
    look_join(minute >= least ? &b->minutes[minute % BOOK_MINUTES] : &b->every, r);
}

static void idle(book *b, book_record *r) {
    r->state = BOOK_IDLE;
    look_later(b, r, b->minute);
}

/* ---- By id ---- */

static book_record *of_hash(dn_chain_link *link) {
    return (book_record *)(void *)((char *)link - offsetof(book_record, by_hash));
}

uint64_t book_fetch(const book *b, const char *id, uint8_t len) {
    const uint64_t hash = dn_hash_quick(b->key, id, len);

    dn_chains_fetch(&b->by_hash, hash);
    return hash;
}

book_record *book_find_hashed(const book *b, uint64_t hash, const char *id, uint8_t len) {
    dn_chain_link *link = dn_chains_find(&b->by_hash, hash);

    for (; link; link = dn_chains_alike(link)) {
        book_record *r = of_hash(link);
        if (r->id_len == len && memcmp(r->id, id, len) == 0) return r;
    }
    return NULL;
}

book_record *book_find(const book *b, const char *id, uint8_t len) {
    return book_find_hashed(b, dn_hash_quick(b->key, id, len), id, len);
}

book_record *book_open_hashed(book *b, uint64_t hash, const char *id, uint8_t len) {
    book_record *known = book_find_hashed(b, hash, id, len);

    if (known) return known;
    book_record *r = room_take(&b->room, sizeof *r + len);
    if (!r) return NULL;
    *r = (book_record){
        .by_hash.key = hash, .days = {{.day = DN_DAY_NONE}, {.day = DN_DAY_NONE}}, .id_len = len};
    dn_id_copy(r->id, id, len);
    if (dn_chains_add(&b->by_hash, &r->by_hash) < 0) {
        room_give(&b->room, r);
        return NULL;
    }
    idle(b, r);
    return r;
}

book_record *book_open(book *b, const char *id, uint8_t len) {
    return book_open_hashed(b, dn_hash_quick(b->key, id, len), id, len);
}

static void forget(book *b, book_record *r) {
    assert(r->state == BOOK_IDLE);
    look_leave(r);
    dn_chains_remove(&b->by_hash, &r->by_hash);
    room_give(&b->room, r);
}

size_t book_len(const book *b) { return b->by_hash.len; }

void book_done(void *opened) {
    book *b = opened;

    order_done(&b->waiting);
    dn_chains_done(&b->by_hash);
    dn_room_free(b->running, b->running_cap * sizeof *b->running);
    room_done(&b->room);
    *b = (book){.key = b->key};
}

/* ---- Days ---- */

/* Which of two to forget for a third: what was asked for longest ago, for that is throttled no longer than the other. */
static book_day *older_of(book_record *r) {
    book_day *a = &r->days[0], *b = &r->days[1];

    if (a->day == DN_DAY_NONE || b->day == DN_DAY_NONE) return a->day == DN_DAY_NONE ? a : b;
    if (a->next_ns != b->next_ns) return a->next_ns < b->next_ns ? a : b;
    return a->day < b->day ? a : b;
}

book_day *book_day_of(book_record *r, dn_day day) {
    if (r->days[0].day == day) return &r->days[0];
    if (r->days[1].day == day) return &r->days[1];
    book_day *older = older_of(r);
    *older = (book_day){.day = day, .next_ns = INT64_MIN};
    return older;
}

/* ---- A record's way ---- */

static order_key key_of(book_record *r, uint64_t arrival) {
    return (order_key){
        .cutoff_ms = dn_daily_cutoff_ms(r->user.due, r->day),
        .rank = (uint64_t)book_day_of(r, r->day)->attempts << 48 | arrival,
    };
}

int book_enqueue(book *b, book_record *r, uint64_t n, dn_day day, uint32_t due,
                 uint32_t context_epoch) {
    assert(r->state == BOOK_IDLE && n > 0);
    if (order_reserve(&b->waiting) < 0) return DN_ENOMEM;
    const bool known = r->n == n;
    /* What is known of a registration stays known: the planner may be a message behind. */
    if (!known) r->user = (dn_daily_user){due, DN_DAY_NONE, DN_DAY_NONE};
    r->n = n;
    look_leave(r);
    r->gone = false;
    r->day = day;
    /* It only grows: the greater one is the newer. */
    if (!known || context_epoch > r->context_epoch) r->context_epoch = context_epoch;
    r->state = BOOK_QUEUED;
    order_put(&b->waiting, r, key_of(r, b->arrivals++));
    return DN_OK;
}

book_record *book_first(const book *b) { return order_first(&b->waiting); }

void book_reorder(book *b, book_record *r) {
    assert(r->state == BOOK_QUEUED);
    order_key key = order_drop(&b->waiting, r);
    key.cutoff_ms = dn_daily_cutoff_ms(r->user.due, r->day);
    order_put(&b->waiting, r, key);
}

void book_unqueue(book *b, book_record *r) {
    assert(r->state == BOOK_QUEUED);
    (void)order_drop(&b->waiting, r);
    idle(b, r);
}

/* ---- Those that run ---- */

static book_running *running_at(const book *b, uint64_t ticket) {
    return &b->running[ticket & (b->running_cap - 1)];
}

/* Who had places of their own has them in a larger table too. */
static int running_grow(book *b) {
    const size_t  was_len = b->running_cap;
    book_running *was = b->running;
    const size_t  cap = was_len ? was_len * 2 : RUNNING_LEAST;
    book_running *wider = dn_room_new(cap * sizeof *wider);

    if (!wider) return DN_ENOMEM;
    b->running = wider;
    b->running_cap = cap;
    for (size_t i = 0; i < was_len; i++)
        if (was[i].who) *running_at(b, was[i].ticket) = was[i];
    dn_room_free(was, was_len * sizeof *was);
    return DN_OK;
}

/* At most half of the places are taken: the next ticket but a few has a free one. */
int book_run(book *b, book_record *r) {
    assert(r->state == BOOK_QUEUED);
    if ((b->running_len + 1) * 2 > b->running_cap && running_grow(b) < 0) return DN_ENOMEM;
    (void)order_drop(&b->waiting, r);
    do b->tickets++;
    while (running_at(b, b->tickets)->who);
    *running_at(b, b->tickets) = (book_running){b->tickets, r};
    b->running_len++;
    r->ticket = b->tickets;
    r->state = BOOK_RUNNING;
    return DN_OK;
}

book_record *book_of_ticket(const book *b, uint64_t ticket) {
    if (b->running_len == 0) return NULL;
    const book_running *at = running_at(b, ticket);
    return at->ticket == ticket ? at->who : NULL;
}

void book_stop(book *b, book_record *r) {
    assert(r->state == BOOK_RUNNING);
    running_at(b, r->ticket)->who = NULL;
    b->running_len--;
    idle(b, r);
}

uint16_t book_next_attempt(const book_day *d) {
    return d->attempts < UINT16_MAX ? (uint16_t)(d->attempts + 1) : UINT16_MAX;
}

void book_stop_all(book *b) {
    for (size_t i = 0; i < b->running_cap; i++) {
        book_record *r = b->running[i].who;
        if (!r) continue;
        book_day *d = book_day_of(r, r->day);
        d->attempts = book_next_attempt(d);
        book_stop(b, r);
    }
}

/* ---- Forgetting ---- */

/* Its attempts count until the day is finalized, or is a day past its cutoff and was not asked for in a day: further back
 * no clock is set, and no clock stays that was set forward only for a while. */
static bool day_matters(const book_record *r, const book_day *d, int64_t mono_ns, int64_t now_ms) {
    if (d->day == DN_DAY_NONE || d->attempts == 0) return false;
    if (r->gone || dn_daily_is_finalized(&r->user, d->day)) return false;
    return now_ms < dn_daily_cutoff_ms(r->user.due, d->day) + DN_DAY_MS ||
           mono_ns < d->next_ns + DAY_NS;
}

static bool matters(const book_record *r, int64_t mono_ns, int64_t now_ms) {
    return kept_until_ns(r) > mono_ns || day_matters(r, &r->days[0], mono_ns, now_ms) ||
           day_matters(r, &r->days[1], mono_ns, now_ms);
}

/* They stand anywhere: the next one has been asked for with this one, and now those are that it leaves. */
static void sweep_fetch(const book *b, const book_record *r) {
    const book_record *next = r->looked_next;

    if (!next) return;
    __builtin_prefetch(next->looked_next);
    dn_chains_fetch(&b->by_hash, next->by_hash.key);
}

bool book_sweep(book *b, size_t most, int64_t mono_ns, int64_t now_ms) {
    const uint64_t minute = (uint64_t)(mono_ns / MINUTE_NS);

    if (!b->sweeping) {
        b->sweeping = true;
        if (minute >= b->minute + BOOK_MINUTES) b->minute = minute - BOOK_MINUTES + 1;
        look_now(b, &b->every);
    }
    for (; most > 0; most--) {
        while (!b->now && b->minute <= minute) look_now(b, &b->minutes[b->minute++ % BOOK_MINUTES]);
        if (!b->now) break;
        book_record *r = b->now;
        sweep_fetch(b, r);
        if (!matters(r, mono_ns, now_ms)) {
            forget(b, r);
            continue;
        }
        look_leave(r);
        look_later(b, r, b->minute > minute ? b->minute : minute + 1);
    }
    b->sweeping = b->now || b->minute <= minute;
    return b->sweeping;
}
