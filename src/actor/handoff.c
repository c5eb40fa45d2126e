/* handoff.c - see diurnal/handoff.h. A mutex and two conditions: they are touched once a batch. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "diurnal/handoff.h"

#include "mem.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>

enum { ALIGNMENT = 16 }; /* malloc's */

struct dn_handoff {
    dn_handoff_take *take;
    void            *context;
    pthread_t        thread;
    size_t           batches, bytes; /* how many, and how long each of them is at most */
    char            *memory;
    size_t          *lens; /* of each batch that was given */

    pthread_mutex_t lock;
    /* Under lock. */
    pthread_cond_t was_given, was_taken;
    uint64_t       given, taken;
    bool           ending;
};

static char *batch_at(const dn_handoff *h, uint64_t nth) {
    return h->memory + nth % h->batches * h->bytes;
}

static void *take_all(void *context) {
    dn_handoff *h = context;

    pthread_mutex_lock(&h->lock);
    for (;;) {
        while (h->taken == h->given && !h->ending) pthread_cond_wait(&h->was_given, &h->lock);
        if (h->ending) break;
        const uint64_t nth = h->taken;
        pthread_mutex_unlock(&h->lock);
        h->take(h->context, batch_at(h, nth), h->lens[nth % h->batches]);
        pthread_mutex_lock(&h->lock);
        h->taken++;
        pthread_cond_signal(&h->was_taken);
    }
    pthread_mutex_unlock(&h->lock);
    return NULL;
}

/* Signals are for the threads that were there before. */
static int thread_begin(dn_handoff *h) {
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int rc = pthread_create(&h->thread, NULL, take_all, h);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc == 0 ? DN_OK : DN_ENOMEM;
}

static void let_go(dn_handoff *h) {
    pthread_mutex_destroy(&h->lock);
    pthread_cond_destroy(&h->was_given);
    pthread_cond_destroy(&h->was_taken);
    mem_free(h->memory);
    mem_free(h->lens);
    mem_free(h);
}

int dn_handoff_new(size_t batches, size_t bytes, dn_handoff_take *take, void *context,
                   dn_handoff **out_handoff) {
    dn_handoff *h = mem_alloc(sizeof *h);

    assert(batches > 0 && bytes > 0 && bytes % ALIGNMENT == 0 &&
           "batches stand one behind the other, aligned for anything");
    if (!h) return DN_ENOMEM;
    h->take = take;
    h->context = context;
    h->batches = batches;
    h->bytes = bytes;
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->was_given, NULL);
    pthread_cond_init(&h->was_taken, NULL);
    h->memory = mem_alloc_unzeroed(batches * bytes);
    h->lens = mem_alloc(batches * sizeof *h->lens);
    if (!h->memory || !h->lens || thread_begin(h) < 0) {
        let_go(h);
        return DN_ENOMEM;
    }
    *out_handoff = h;
    return DN_OK;
}

void dn_handoff_free(dn_handoff *h) {
    if (!h) return;
    pthread_mutex_lock(&h->lock);
    h->ending = true;
    pthread_cond_signal(&h->was_given);
    pthread_mutex_unlock(&h->lock);
    pthread_join(h->thread, NULL);
    let_go(h);
}

void *dn_handoff_batch(dn_handoff *h) {
    pthread_mutex_lock(&h->lock);
    while (h->given - h->taken == h->batches) pthread_cond_wait(&h->was_taken, &h->lock);
    pthread_mutex_unlock(&h->lock);
    return batch_at(h, h->given);
}

void dn_handoff_give(dn_handoff *h, size_t len) {
    assert(len <= h->bytes && "a batch has no more room than that");
    pthread_mutex_lock(&h->lock);
    assert(h->given - h->taken < h->batches && "a batch is had before it is given");
    h->lens[h->given++ % h->batches] = len;
    pthread_cond_signal(&h->was_given);
    pthread_mutex_unlock(&h->lock);
}

void dn_handoff_settle(dn_handoff *h) {
    pthread_mutex_lock(&h->lock);
    while (h->taken != h->given) pthread_cond_wait(&h->was_taken, &h->lock);
    pthread_mutex_unlock(&h->lock);
}

bool dn_handoff_has_room(void) {
    cpu_set_t set;

    return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 1;
}
