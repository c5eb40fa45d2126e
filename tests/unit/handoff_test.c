/* handoff_test.c - what one thread gives, another takes: once, in its order, and whole. */
#define _GNU_SOURCE /* sched_getcpu */
#include "diurnal/handoff.h"

#include "test.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

enum { BATCHES = 3, BYTES = 4096, MANY = 20000 };

typedef struct hands {
    uint64_t  taken; /* numbers, one after the other */
    uint64_t  batches;
    pthread_t thread;
    bool      dawdles;
} hands;

static void take(void *context, const void *batch, size_t len) {
    hands          *to = context;
    const uint64_t *numbers = batch;

    to->thread = pthread_self();
    for (size_t i = 0; i < len / sizeof *numbers; i++) CHECK_UINT(numbers[i], to->taken++);
    to->batches++;
    for (int i = 0; to->dawdles && i < 100; i++) (void)sched_yield();
}

static dn_handoff *handoff_to(hands *to) {
    dn_handoff *h;

    CHECK_INT(dn_handoff_new(BATCHES, BYTES, take, to, &h), DN_OK);
    return h;
}

/* So many numbers more. */
static void give(dn_handoff *h, uint64_t *given, size_t len) {
    uint64_t *batch = dn_handoff_batch(h);

    for (size_t i = 0; i < len; i++) batch[i] = (*given)++;
    dn_handoff_give(h, len * sizeof *batch);
}

TEST(what_is_given_is_taken_once_and_in_its_order) {
    uint64_t    random = test_seed(), given = 0;
    hands       to = {0};
    dn_handoff *h = handoff_to(&to);

    for (int i = 0; i < MANY; i++) {
        give(h, &given, test_random(&random) % (BYTES / sizeof given + 1));
        if (test_random(&random) % 500 > 0) continue;
        dn_handoff_settle(h);
        CHECK_UINT(to.taken, given);
        CHECK_UINT(to.batches, i + 1);
    }
    dn_handoff_settle(h);
    CHECK_UINT(to.taken, given);
    CHECK(!pthread_equal(to.thread, pthread_self()));
    dn_handoff_free(h);
}

/* Or a batch would be filled while it is being read: the numbers would not be those. */
TEST(who_gives_waits_for_who_is_a_whole_ring_behind) {
    uint64_t    given = 0;
    hands       to = {.dawdles = true};
    dn_handoff *h = handoff_to(&to);

    for (int i = 0; i < 1000; i++) give(h, &given, 1 + (size_t)i % 7);
    dn_handoff_settle(h);
    CHECK_UINT(to.taken, given);
    dn_handoff_free(h);
}

TEST(it_may_end_with_all_batches_given_or_none) {
    for (int batches = 0; batches <= BATCHES; batches++) {
        uint64_t    given = 0;
        hands       to = {.dawdles = true};
        dn_handoff *h = handoff_to(&to);
        for (int i = 0; i < batches; i++) give(h, &given, 5);
        dn_handoff_free(h);
        CHECK_UINT(to.taken, to.batches * 5);
    }
    dn_handoff_free(NULL);
}

TEST(a_process_tied_to_one_processor_has_no_room) {
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    CHECK_INT(sched_setaffinity(0, sizeof one, &one), 0);
    CHECK(!dn_handoff_has_room());
}
