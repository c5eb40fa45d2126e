/* thread_row.c - which thread has which number.
 * A number is given back when its thread ends. That order is all there is to hand over: release there, acquire by who takes
 * it next, who so sees what was written last. */
#include "thread_row.h"

#include <pthread.h>
#include <stdatomic.h>

static _Atomic uint32_t rows_taken; /* a bit each */

_Thread_local int         thread_row_here;
static _Thread_local bool asked;
static pthread_key_t      at_end; /* its only use is to be called when a thread ends */
static bool               at_end_is_there;
static pthread_once_t     once = PTHREAD_ONCE_INIT;

/* The thread may still write, in what others do at its end: from now on elsewhere. */
static void row_give(void *context) {
    const int row = thread_row_here - 1;

    (void)context;
    thread_row_here = 0;
    /* Pairs with row_take. */
    atomic_fetch_and_explicit(&rows_taken, ~(UINT32_C(1) << row), memory_order_release);
}

static int row_take(void) {
    uint32_t taken = atomic_load_explicit(&rows_taken, memory_order_relaxed);
    uint32_t bit;

    do {
        bit = ~taken & (taken + 1); /* the lowest that is free */
        if (bit >= UINT32_C(1) << THREAD_ROWS) return THREAD_ROW_NONE;
        /* acquire: pairs with row_give. */
    } while (!atomic_compare_exchange_weak_explicit(&rows_taken, &taken, taken | bit,
                                                    memory_order_acquire, memory_order_relaxed));
    return __builtin_ctz(bit);
}

static void make_key(void) { at_end_is_there = pthread_key_create(&at_end, row_give) == 0; }

int thread_row_ask(void) {
    if (asked) return THREAD_ROW_NONE;
    asked = true; /* once, so that a thread without a row does not look for one each time */
    pthread_once(&once, make_key);
    if (!at_end_is_there) return THREAD_ROW_NONE;
    thread_row_here = row_take() + 1;
    if (thread_row_here && pthread_setspecific(at_end, &thread_row_here) != 0) row_give(NULL);
    return thread_row_here - 1;
}
