/* inbox.h - where other threads leave messages for a loop: a lock-free stack, taken whole with one
 * exchange and turned round, so that what one thread pushed comes out in the order it pushed.
 * Pushing allocates nothing and never waits. The same stack brings blocks home to their pool. */
#ifndef DIURNAL_ACTOR_INBOX_H
#define DIURNAL_ACTOR_INBOX_H

#include "msg.h"

#include <stdatomic.h>

typedef struct inbox {
    _Alignas(64) _Atomic(dn_msg *) top;
    _Atomic(bool) asleep; /* the loop is in, or about to enter, a wait that only a wake-up ends */
} inbox;

/* Any thread. Pushes the chain first..last (linked by next, newest first). seq_cst: pairs with
 * inbox_may_sleep, so that of "pushed, then saw it awake" and "fell asleep, then saw nothing" at
 * most one can happen. */
static inline void inbox_push_chain(inbox *box, dn_msg *first, dn_msg *last) {
    dn_msg *top = atomic_load_explicit(&box->top, memory_order_relaxed);

    do {
        last->next = top;
    } while (!atomic_compare_exchange_weak_explicit(&box->top, &top, first, memory_order_seq_cst,
                                                    memory_order_relaxed));
}

/* The last few blocks that went one way, so that each can say which was sent a while before it. */
typedef struct trail {
    dn_msg  *recent[8];
    uint32_t at;
} trail;

static inline void trail_mark(trail *t, dn_msg *m) {
    dn_msg **const slot = &t->recent[t->at++ % 8];

    m->ahead = *slot;
    *slot = m;
}

/* Any thread. True: the loop sleeps, and this caller is the one that must wake it. */
static inline bool inbox_push(inbox *box, dn_msg *m) {
    inbox_push_chain(box, m, m);
    /* Pairs with the store in inbox_may_sleep. */
    if (!atomic_load_explicit(&box->asleep, memory_order_seq_cst)) return false;
    return atomic_exchange_explicit(&box->asleep, false, memory_order_relaxed);
}

/* The owner: everything pushed so far, newest first. acquire: pairs with the push. */
static inline dn_msg *inbox_take_newest_first(inbox *box) {
    if (!atomic_load_explicit(&box->top, memory_order_relaxed)) return NULL;
    return atomic_exchange_explicit(&box->top, NULL, memory_order_acquire);
}

/* The owner: is a look worth while? */
static inline bool inbox_has_any(const inbox *box) {
    return atomic_load_explicit(&box->top, memory_order_relaxed) != NULL;
}

/* The owner, between two looks. */
static inline void spin_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* The owner: everything pushed so far, oldest first. */
static inline dn_msg *inbox_take(inbox *box) {
    dn_msg *newest = inbox_take_newest_first(box), *oldest_first = NULL;

    while (newest) {
        dn_msg *next = newest->next;
        /* The blocks come from another core, and each holds the address of the next: without the prefetch this loop waits
         * for each of them in turn. fanin_bounded of two loops in bench/actors needs it. In a request `ahead` is no
         * pointer; the prefetch then has no effect. */
        __builtin_prefetch(newest->ahead);
        newest->next = oldest_first;
        oldest_first = newest;
        newest = next;
    }
    return oldest_first;
}

/* The owner, before it waits. False: something came, do not. */
static inline bool inbox_may_sleep(inbox *box) {
    /* Pairs with the load in inbox_push. */
    atomic_store_explicit(&box->asleep, true, memory_order_seq_cst);
    if (!atomic_load_explicit(&box->top, memory_order_seq_cst)) return true;
    atomic_store_explicit(&box->asleep, false, memory_order_relaxed);
    return false;
}

/* The owner, after the wait. */
static inline void inbox_awake(inbox *box) {
    atomic_store_explicit(&box->asleep, false, memory_order_relaxed);
}

#endif
