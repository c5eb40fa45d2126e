/* queue_records.c - records, a table to find them by, and lists of when each may be dropped.
 * No call takes longer the more records there are, except for what a heap takes; no table grows in one call. */
#include "queue_records.h"

#include <assert.h>
#include <string.h>

#define MINUTE_NS (DN_MINUTE_MS * 1000000)
#define DAY_NS    (DN_DAY_MS * 1000000)

/* ---- When a sweep looks at a record ---- */

static void look_leave(queue_record *r) {
    *r->looked_from = r->looked_next;
    if (r->looked_next) r->looked_next->looked_from = r->looked_from;
}

static void look_join(queue_record **list, queue_record *r) {
    r->looked_from = list;
    r->looked_next = *list;
    if (*list) (*list)->looked_from = &r->looked_next;
    *list = r;
}

/* The list becomes the one that is looked at now. */
static void look_now(queue_records *b, queue_record **list) {
    assert(!b->now);
    b->now = *list;
    *list = NULL;
    if (b->now) b->now->looked_from = &b->now;
}

/* Until then it is remembered, whatever happens; behind it that is to be seen. */
static int64_t kept_until_ns(const queue_record *r) {
    int64_t until_ns = r->keep_ns;

    for (int i = 0; i < 2; i++)
        if (r->days[i].day != DN_DAY_NONE && r->days[i].next_ns > until_ns)
            until_ns = r->days[i].next_ns;
    return until_ns;
}

/* Not in the list of a minute before `least`: that is of no use any more, or yet to be taken by the sweep under way. */
static void look_later(queue_records *b, queue_record *r, uint64_t least) {
    const int64_t  until_ns = kept_until_ns(r);
    const uint64_t last =
        b->minute + RECORD_MINUTES - 1; /* and there it is seen that it is still too early */
    uint64_t minute = until_ns > 0 ? (uint64_t)(until_ns / MINUTE_NS) : 0;

    if (minute > last) minute = last;
    look_join(minute >= least ? &b->minutes[minute % RECORD_MINUTES] : &b->every, r);
}

static void idle(queue_records *b, queue_record *r) {
    r->state = RECORD_IDLE;
    look_later(b, r, b->minute);
}

/* ---- By id ---- */

static queue_record *record_at(const uint64_t *found) { return (queue_record *)(uintptr_t)*found; }

/* No key of a map is 0. */
static uint64_t map_key(uint64_t hash) { return hash | 1; }

uint64_t records_fetch(const queue_records *b, const char *id, uint8_t len) {
    const uint64_t hash = dn_hash_quick(b->key, id, len);

    dn_map_prefetch(&b->by_hash, map_key(hash));
    return hash;
}

queue_record *records_find_hashed(const queue_records *b, uint64_t hash, const char *id,
                                  uint8_t len) {
    uint64_t *found = dn_map_find(&b->by_hash, map_key(hash));

    for (; found; found = dn_map_alike(&b->by_hash, found)) {
        queue_record *r = record_at(found);
        if (r->id_len == len && memcmp(r->id, id, len) == 0) return r;
    }
    return NULL;
}

queue_record *records_find(const queue_records *b, const char *id, uint8_t len) {
    return records_find_hashed(b, dn_hash_quick(b->key, id, len), id, len);
}

queue_record *records_open_hashed(queue_records *b, uint64_t hash, const char *id, uint8_t len) {
    queue_record *known = records_find_hashed(b, hash, id, len);

    if (known) return known;
    queue_record *r = block_pool_take(&b->pool, sizeof *r + len);
    if (!r) return NULL;
    *r = (queue_record){
        .hash = map_key(hash), .days = {{.day = DN_DAY_NONE}, {.day = DN_DAY_NONE}}, .id_len = len};
    dn_id_copy(r->id, id, len);
    if (dn_map_add(&b->by_hash, r->hash, (uintptr_t)r) < 0) {
        block_pool_give(&b->pool, r);
        return NULL;
    }
    idle(b, r);
    return r;
}

queue_record *records_open(queue_records *b, const char *id, uint8_t len) {
    return records_open_hashed(b, dn_hash_quick(b->key, id, len), id, len);
}

static void forget(queue_records *b, queue_record *r) {
    assert(r->state == RECORD_IDLE && records_are_sound(b));
    look_leave(r);
    uint64_t *found = dn_map_find(&b->by_hash, r->hash);
    while (record_at(found) != r) found = dn_map_alike(&b->by_hash, found);
    dn_map_drop(&b->by_hash, found);
    assert(records_are_sound(b));
    block_pool_give(&b->pool, r);
}

size_t records_len(const queue_records *b) { return dn_map_len(&b->by_hash); }

void records_done(void *opened) {
    queue_records *b = opened;

    order_done(&b->waiting);
    dn_map_done(&b->by_hash);
    dn_map_done(&b->running);
    block_pool_done(&b->pool);
    *b = (queue_records){.key = b->key};
}

/* ---- Days ---- */

/* Which of two to forget for a third: what was asked for longest ago, for that is throttled no longer than the other. */
static record_day *older_of(queue_record *r) {
    record_day *a = &r->days[0], *b = &r->days[1];

    if (a->day == DN_DAY_NONE || b->day == DN_DAY_NONE) return a->day == DN_DAY_NONE ? a : b;
    if (a->next_ns != b->next_ns) return a->next_ns < b->next_ns ? a : b;
    return a->day < b->day ? a : b;
}

record_day *records_day_of(queue_record *r, dn_day day) {
    if (r->days[0].day == day) return &r->days[0];
    if (r->days[1].day == day) return &r->days[1];
    record_day *older = older_of(r);
    *older = (record_day){.day = day, .next_ns = INT64_MIN};
    return older;
}

/* ---- A record's way ---- */

static dn_heap_key key_of(queue_record *r, uint64_t arrival) {
    return (dn_heap_key){
        .at_ms = dn_daily_cutoff_ms(r->user.due, r->day),
        .rank = (uint64_t)records_day_of(r, r->day)->attempts << 48 | arrival,
    };
}

size_t records_running_len(const queue_records *b) {
    return dn_map_len(&b->running) + b->adopted_len;
}

queue_record *records_running_next(const queue_records *b, size_t *at) {
    dn_map_row row;

    return dn_map_next(&b->running, at, &row) ? record_at(&row.value) : NULL;
}

bool records_are_sound(const queue_records *b) {
    return b->waiting.len + records_running_len(b) <= records_len(b);
}

void records_begin_anew(queue_record *r, uint64_t n, uint32_t due, uint64_t commit) {
    assert(r->state == RECORD_IDLE && n > r->registration);
    r->registration = n;
    r->commit = commit;
    r->user = (dn_daily_user){due, DN_DAY_NONE, DN_DAY_NONE};
    r->context_epoch = 0;
    r->gone = false;
    for (int i = 0; i < 2; i++) {
        r->days[i].attempts = 0;
        r->days[i].error_class = DN_CLASS_NONE;
    }
}

void records_set_due(queue_records *b, queue_record *r, uint32_t due, uint64_t commit) {
    assert(commit >= r->commit);
    r->commit = commit;
    if (r->user.due == due) return;
    r->user.due = due;
    if (r->state != RECORD_QUEUED) return;
    dn_heap_key key = order_drop(&b->waiting, r);
    key.at_ms = dn_daily_cutoff_ms(due, r->day);
    order_put(&b->waiting, r, key);
}

int records_enqueue(queue_records *b, queue_record *r, dn_day day, uint32_t context_epoch) {
    assert(r->state == RECORD_IDLE && r->registration > 0 && !r->gone && records_are_sound(b));
    if (order_reserve(&b->waiting) < 0) return DN_ENOMEM;
    look_leave(r);
    r->day = day;
    /* It only grows: the greater one is the newer. */
    if (context_epoch > r->context_epoch) r->context_epoch = context_epoch;
    r->state = RECORD_QUEUED;
    order_put(&b->waiting, r, key_of(r, b->arrivals++));
    assert(records_are_sound(b));
    return DN_OK;
}

queue_record *records_first(const queue_records *b) { return order_first(&b->waiting); }

void records_unqueue(queue_records *b, queue_record *r) {
    assert(r->state == RECORD_QUEUED);
    (void)order_drop(&b->waiting, r);
    idle(b, r);
}

/* ---- Those that run ---- */

int records_run(queue_records *b, queue_record *r, int64_t now_ms) {
    assert(r->state == RECORD_QUEUED);
    if (dn_map_add(&b->running, b->tickets + 1, (uintptr_t)r) < 0) return DN_ENOMEM;
    (void)order_drop(&b->waiting, r);
    r->ticket = ++b->tickets;
    r->since_ms = now_ms;
    r->state = RECORD_RUNNING;
    assert(records_are_sound(b));
    return DN_OK;
}

queue_record *records_of_ticket(const queue_records *b, uint64_t ticket) {
    const uint64_t *found = dn_map_find(&b->running, ticket);

    return found ? record_at(found) : NULL;
}

void records_adopt(queue_records *b, queue_record *r, dn_day day) {
    assert(r->state == RECORD_IDLE && records_are_sound(b));
    look_leave(r);
    r->day = day;
    r->ticket = 0;
    r->state = RECORD_RUNNING;
    b->adopted_len++;
}

void records_stop(queue_records *b, queue_record *r) {
    assert(r->state == RECORD_RUNNING);
    if (r->ticket == 0) {
        b->adopted_len--;
    } else {
        assert(records_of_ticket(b, r->ticket) == r);
        (void)dn_map_remove(&b->running, r->ticket);
    }
    idle(b, r);
    assert(records_are_sound(b));
}

uint16_t records_next_attempt(const record_day *d) {
    return d->attempts < UINT16_MAX ? (uint16_t)(d->attempts + 1) : UINT16_MAX;
}

/* ---- Records that no longer matter ---- */

/* Its attempts count until an outcome is written for that day or a later one, or the day is a day past its cutoff and was
 * not asked for in a day: further back no clock is set, and no clock stays that was set forward only for a while. A first
 * day that is put off does not end the days before it, because it may be brought forward again. */
static bool day_matters(const queue_record *r, const record_day *d, int64_t mono_ns,
                        int64_t now_ms) {
    if (d->day == DN_DAY_NONE || d->attempts == 0) return false;
    if (r->gone || d->day <= r->user.last_day) return false;
    return now_ms < dn_daily_cutoff_ms(r->user.due, d->day) + DN_DAY_MS ||
           mono_ns < d->next_ns + DAY_NS;
}

/* A record that is newer than every plan contradicts a plan that may still be on its way. */
static bool matters(const queue_records *b, const queue_record *r, int64_t mono_ns,
                    int64_t now_ms) {
    return kept_until_ns(r) > mono_ns || r->commit > b->planned ||
           day_matters(r, &r->days[0], mono_ns, now_ms) ||
           day_matters(r, &r->days[1], mono_ns, now_ms);
}

/* They stand anywhere: the next one has been asked for with this one, and now those are that it leaves. */
static void sweep_fetch(const queue_records *b, const queue_record *r) {
    const queue_record *next = r->looked_next;

    if (!next) return;
    __builtin_prefetch(next->looked_next);
    dn_map_prefetch(&b->by_hash, next->hash);
}

bool records_sweep(queue_records *b, size_t most, int64_t mono_ns, int64_t now_ms) {
    const uint64_t minute = (uint64_t)(mono_ns / MINUTE_NS);

    if (!b->sweeping) {
        b->sweeping = true;
        if (minute >= b->minute + RECORD_MINUTES) b->minute = minute - RECORD_MINUTES + 1;
        look_now(b, &b->every);
    }
    for (; most > 0; most--) {
        while (!b->now && b->minute <= minute)
            look_now(b, &b->minutes[b->minute++ % RECORD_MINUTES]);
        if (!b->now) break;
        queue_record *r = b->now;
        sweep_fetch(b, r);
        if (!matters(b, r, mono_ns, now_ms)) {
            forget(b, r);
            continue;
        }
        look_leave(r);
        look_later(b, r, b->minute > minute ? b->minute : minute + 1);
    }
    b->sweeping = b->now || b->minute <= minute;
    return b->sweeping;
}
