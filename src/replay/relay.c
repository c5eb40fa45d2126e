/* relay.c - events in batches of some thousand, handed to another thread.
 * Nearly all events are of users (a dn_happening), and are copied with the id they name. The few others wait until all has
 * been heard, and are then heard by who tells them. */
#include "relay.h"

#include "diurnal/handoff.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* A thousand events: to wake somebody takes as long as to hear some dozen. All batches together stay in a processor's
 * second cache. */
enum { BATCHES = 4, BATCH_BYTES = 1 << 17 };

/* An event as it waits, to the next multiple of 8. As short as it can be: each line of it moves from one processor's cache to
 * the other's and back. And put there number by number: what was just written in pieces is read in the same, or a
 * processor waits for them. Texts that it names are literals. */
typedef struct entry {
    int64_t t_ms, steady_ms, at_ms;
    union {
        uint64_t n;
        int64_t  real_ns; /* of a tick, which is about no user */
    };
    union {
        const char *reason;
        int64_t     ms; /* duration_ms, step_ms */
        struct {
            uint32_t scanned, eligible, enqueued, cutoffs;
        };
    };
    dn_day   day, starts_on;
    uint32_t attempt, due;
    uint8_t  kind, status, outcome, cls, id_len;
    char     id[];
} entry;

struct relay {
    relay_hear *hear;
    void       *context;
    dn_handoff *handoff; /* NULL: there is no other thread */
    char       *batch;   /* that is being filled; NULL: the next one is still to be had */
    size_t      len;     /* of it */
};

/* ---- Hearing ---- */

static size_t entry_room(size_t id_len) { return (offsetof(entry, id) + id_len + 7) / 8 * 8; }

static void entry_hear(const relay *r, const entry *one) {
    dn_happening h = {
        .kind = (dn_happening_kind)one->kind,
        .id_len = one->id_len,
        .id = one->id,
        .at_ms = one->at_ms,
        .day = one->day,
        .due = one->due,
        .attempt = one->attempt,
        .status = (dn_daily_status)one->status,
        .outcome = (dn_outcome)one->outcome,
        .cls = (dn_error_class)one->cls,
        .starts_on = one->starts_on,
    };
    event e = {.kind = one->kind, .t_ms = one->t_ms, .steady_ms = one->steady_ms, .h = &h};

    if (h.kind == DN_HAPPENED_TICK) {
        e.real_ns = one->real_ns;
        h.scanned = one->scanned;
        h.eligible = one->eligible;
        h.enqueued = one->enqueued;
        h.cutoffs = one->cutoffs;
    } else {
        h.n = one->n;
        if (h.kind == DN_HAPPENED_IGNORED) h.reason = one->reason;
        else h.duration_ms = one->ms;
    }
    r->hear(r->context, &e);
}

static void batch_hear(void *context, const void *batch, size_t len) {
    const relay *r = context;

    for (size_t at = 0; at < len;) {
        const entry *one = (const entry *)(const void *)((const char *)batch + at);
        entry_hear(r, one);
        at += entry_room(one->id_len);
    }
}

/* ---- Its life ---- */

int relay_new(relay_hear *hear, void *context, bool apart, relay **out_relay) {
    relay *r = calloc(1, sizeof *r);

    if (!r) return DN_ENOMEM;
    r->hear = hear;
    r->context = context;
    if (apart && dn_handoff_new(BATCHES, BATCH_BYTES, batch_hear, r, &r->handoff) < 0)
        r->handoff = NULL;
    *out_relay = r;
    return DN_OK;
}

void relay_free(relay *r) {
    if (!r) return;
    dn_handoff_free(r->handoff);
    free(r);
}

/* ---- Telling ---- */

static __attribute__((noinline)) void hand_on(relay *r) {
    dn_handoff_give(r->handoff, r->len);
    r->batch = NULL;
    r->len = 0;
}

void relay_settle(relay *r) {
    if (!r->handoff) return;
    if (r->batch) hand_on(r);
    dn_handoff_settle(r->handoff);
}

/* Behind all that was told before. */
static __attribute__((noinline)) void hear_now(relay *r, const event *e) {
    relay_settle(r);
    r->hear(r->context, e);
}

static __attribute__((noinline)) void put(relay *r, const event *e) {
    const dn_happening *h = e->h;

    if (r->batch && r->len + entry_room(h->id_len) > BATCH_BYTES) hand_on(r);
    if (!r->batch) r->batch = dn_handoff_batch(r->handoff);
    entry *one = (entry *)(void *)(r->batch + r->len);
    r->len += entry_room(h->id_len);
    one->t_ms = e->t_ms;
    one->steady_ms = e->steady_ms;
    one->at_ms = h->at_ms;
    one->day = h->day;
    one->starts_on = h->starts_on;
    one->attempt = h->attempt;
    one->due = h->due;
    one->kind = (uint8_t)h->kind;
    one->status = (uint8_t)h->status;
    one->outcome = (uint8_t)h->outcome;
    one->cls = (uint8_t)h->cls;
    one->id_len = h->id_len;
    if (h->kind == DN_HAPPENED_TICK) {
        one->real_ns = e->real_ns;
        one->scanned = h->scanned;
        one->eligible = h->eligible;
        one->enqueued = h->enqueued;
        one->cutoffs = h->cutoffs;
    } else {
        one->n = h->n;
        if (h->kind == DN_HAPPENED_IGNORED) one->reason = h->reason;
        else one->ms = h->duration_ms;
    }
    if (h->id_len > 0) dn_id_copy(one->id, h->id, h->id_len);
}

/* The ways stand apart, so that none of them saves registers for another. */
void relay_tell(void *to, const event *e) {
    relay *r = to;

    if (!r->handoff) r->hear(r->context, e);
    else if (e->h) put(r, e);
    else hear_now(r, e);
}
