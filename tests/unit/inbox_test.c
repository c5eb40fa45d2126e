/* inbox_test.c - many threads push, one takes: nothing is lost, each pusher's order is kept, and a reader
 * that sleeps is woken by exactly one of those who push. */
#include "inbox.h"

#include "test.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

static inbox box;

static dn_msg *numbered(uint64_t which, uint64_t number) {
    dn_msg *m = calloc(1, sizeof *m);

    m->words[0] = which;
    m->words[1] = number;
    return m;
}

static uint64_t take_number(dn_msg **m) {
    dn_msg *taken = *m;

    CHECK(taken);
    const uint64_t number = taken->words[1];

    *m = taken->next;
    free(taken);
    return number;
}

TEST(what_is_pushed_comes_out_oldest_first) {
    for (uint64_t i = 0; i < 10; i++) CHECK(!inbox_push(&box, numbered(0, i)));
    dn_msg *m = inbox_take(&box);
    for (uint64_t i = 0; i < 10; i++) CHECK_UINT(take_number(&m), i);
    CHECK_PTR(m, NULL);
    CHECK_PTR(inbox_take(&box), NULL);
}

TEST(a_chain_goes_in_as_a_whole) {
    dn_msg *first = numbered(0, 1), *second = numbered(0, 2), *third = numbered(0, 3);

    CHECK(!inbox_push(&box, numbered(0, 0)));
    third->next = second;
    second->next = first;
    inbox_push_chain(&box, third, first);
    dn_msg *m = inbox_take_newest_first(&box);
    for (uint64_t i = 4; i > 0; i--) CHECK_UINT(take_number(&m), i - 1);
    CHECK_PTR(m, NULL);
}

TEST(only_the_first_push_to_a_sleeper_is_told_to_wake_it) {
    CHECK(inbox_may_sleep(&box));
    CHECK(inbox_push(&box, numbered(0, 0)));
    CHECK(!inbox_push(&box, numbered(0, 1)));
    inbox_awake(&box);
    CHECK(!inbox_may_sleep(&box));
    CHECK(!inbox_push(&box, numbered(0, 2)));
    dn_msg *m = inbox_take(&box);
    while (m) (void)take_number(&m);
    CHECK(inbox_may_sleep(&box));
    inbox_awake(&box);
    CHECK(!inbox_push(&box, numbered(0, 3)));
    m = inbox_take(&box);
    (void)take_number(&m);
}

/* ---- Threads ---- */

enum { PUSHERS = 4, PUSHES = 200000 / TEST_SLOW_FACTOR };

/* What a loop's wake-up is: a mark that stays until it is seen, however often it is set. One may be left
 * from when the reader turned out to be awake; that costs a look, and no more. */
static _Atomic(bool) woken;

static void *push_many(void *context) {
    const uint64_t which = (uint64_t)(uintptr_t)context;

    for (uint64_t i = 0; i < PUSHES; i++)
        if (inbox_push(&box, numbered(which, i))) atomic_store(&woken, true);
    return NULL;
}

TEST(of_many_pushers_nothing_is_lost_and_no_wake_up_is_missed) {
    pthread_t threads[PUSHERS];
    uint64_t  next[PUSHERS] = {0};
    int       taken = 0;

    for (uint64_t i = 0; i < PUSHERS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, push_many, (void *)(uintptr_t)i), 0);
    while (taken < PUSHERS * PUSHES) {
        dn_msg *m = inbox_take(&box);
        while (m) {
            const uint64_t which = m->words[0];
            CHECK_UINT(take_number(&m), next[which]++);
            taken++;
        }
        if (taken == PUSHERS * PUSHES || !inbox_may_sleep(&box)) continue;
        /* Asleep until somebody says so: if nobody does, this test hangs. */
        while (!atomic_exchange(&woken, false)) sched_yield();
        inbox_awake(&box);
    }
    for (int i = 0; i < PUSHERS; i++) pthread_join(threads[i], NULL);
    CHECK_PTR(inbox_take(&box), NULL);
}
