/* relay.c - a ring of batches between two threads, which meet once a batch: a thousand events.
 * Nearly all events are of users (a dn_happening), and are copied with the id they name. The few others wait until all has
 * been heard, and are then heard by who tells them. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "relay.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
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

typedef struct batch {
    size_t len; /* bytes */
    _Alignas(entry) char bytes[BATCH_BYTES];
} batch;

struct relay {
    relay_hear *hear;
    void       *context;
    bool        apart;
    pthread_t   thread;

    /* The teller's. */
    batch *filling; /* NULL: the next one is still to be had */

    /* Any thread, under lock. */
    pthread_mutex_t lock;
    pthread_cond_t  heard, told; /* one has been heard; one is there to be heard */
    uint64_t        told_len, heard_len;
    bool            ending;

    batch batches[BATCHES];
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

static void batch_hear(const relay *r, const batch *b) {
    for (size_t at = 0; at < b->len;) {
        const entry *one = (const entry *)(const void *)(b->bytes + at);
        entry_hear(r, one);
        at += entry_room(one->id_len);
    }
}

static void *hear_all(void *context) {
    relay *r = context;

    (void)pthread_mutex_lock(&r->lock);
    for (;;) {
        while (r->heard_len == r->told_len && !r->ending)
            (void)pthread_cond_wait(&r->told, &r->lock);
        if (r->ending) break;
        const batch *b = &r->batches[r->heard_len % BATCHES];
        (void)pthread_mutex_unlock(&r->lock);
        batch_hear(r, b);
        (void)pthread_mutex_lock(&r->lock);
        r->heard_len++;
        (void)pthread_cond_signal(&r->heard);
    }
    (void)pthread_mutex_unlock(&r->lock);
    return NULL;
}

/* ---- Its life ---- */

bool relay_has_room(void) {
    cpu_set_t set;

    return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 1;
}

/* Signals are for the thread that was there before. */
static bool begin(relay *r) {
    sigset_t all, before;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    const int rc = pthread_create(&r->thread, NULL, hear_all, r);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc == 0;
}

int relay_new(relay_hear *hear, void *context, bool apart, relay **out_relay) {
    relay *r = malloc(sizeof *r);

    if (!r) return DN_ENOMEM;
    r->hear = hear;
    r->context = context;
    r->filling = NULL;
    r->told_len = r->heard_len = 0;
    r->ending = false;
    (void)pthread_mutex_init(&r->lock, NULL);
    (void)pthread_cond_init(&r->heard, NULL);
    (void)pthread_cond_init(&r->told, NULL);
    r->apart = apart && begin(r);
    *out_relay = r;
    return DN_OK;
}

void relay_free(relay *r) {
    if (!r) return;
    if (r->apart) {
        (void)pthread_mutex_lock(&r->lock);
        r->ending = true;
        (void)pthread_cond_signal(&r->told);
        (void)pthread_mutex_unlock(&r->lock);
        (void)pthread_join(r->thread, NULL);
    }
    (void)pthread_mutex_destroy(&r->lock);
    (void)pthread_cond_destroy(&r->heard);
    (void)pthread_cond_destroy(&r->told);
    free(r);
}

/* ---- Telling ---- */

static __attribute__((noinline)) void hand_on(relay *r) {
    (void)pthread_mutex_lock(&r->lock);
    r->told_len++;
    (void)pthread_cond_signal(&r->told);
    (void)pthread_mutex_unlock(&r->lock);
    r->filling = NULL;
}

static __attribute__((noinline)) void have_one(relay *r) {
    (void)pthread_mutex_lock(&r->lock);
    while (r->told_len - r->heard_len == BATCHES) (void)pthread_cond_wait(&r->heard, &r->lock);
    r->filling = &r->batches[r->told_len % BATCHES];
    (void)pthread_mutex_unlock(&r->lock);
    r->filling->len = 0;
}

void relay_settle(relay *r) {
    if (!r->apart) return;
    if (r->filling) hand_on(r);
    (void)pthread_mutex_lock(&r->lock);
    while (r->told_len != r->heard_len) (void)pthread_cond_wait(&r->heard, &r->lock);
    (void)pthread_mutex_unlock(&r->lock);
}

/* Behind all that was told before. */
static __attribute__((noinline)) void hear_now(relay *r, const event *e) {
    relay_settle(r);
    r->hear(r->context, e);
}

static __attribute__((noinline)) void put(relay *r, const event *e) {
    const dn_happening *h = e->h;

    if (r->filling && r->filling->len + entry_room(h->id_len) > BATCH_BYTES) hand_on(r);
    if (!r->filling) have_one(r);
    entry *one = (entry *)(void *)(r->filling->bytes + r->filling->len);
    r->filling->len += entry_room(h->id_len);
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

    if (!r->apart) r->hear(r->context, e);
    else if (e->h) put(r, e);
    else hear_now(r, e);
}
