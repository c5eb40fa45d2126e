/* sample_test.c - the sample system under the simulation driver: the same seed is the same run, and whatever
 * fault comes, what was acknowledged stays and nothing is counted twice. */
#include "sample.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#if TEST_SLOW_FACTOR ==                                                                            \
    10 /* tsan: a boot maps much memory, which costs it 30 ms, and there is one thread */
enum { SEEDS = 40, SEEDS_SUFFICE = false };
#else
enum { SEEDS = 1000, SEEDS_SUFFICE = true };
#endif
enum { QUOTA = 30 };

/* A number of runs that lasts about as long in every build. */
static const uint32_t few = 200 / TEST_SLOW_FACTOR;

/* ---- One seed, one run ---- */

TEST(the_same_seed_gives_the_same_hash_in_one_process) {
    uint64_t random = test_seed();

    for (uint32_t i = 0; i < few; i++) {
        const uint64_t seed = test_random(&random);
        const uint64_t first = sample_whole_run(seed, &sample_faults, QUOTA, NULL);
        const uint64_t order = s.order;
        free(malloc(1000 + i * 16)); /* the heap is another one now */
        void *const junk = malloc(100 + i);
        CHECK_UINT(sample_whole_run(seed, &sample_faults, QUOTA, NULL), first);
        CHECK_UINT(s.order, order);
        free(junk);
    }
}

TEST(different_seeds_give_different_orders_and_hashes) {
    enum { RUNS = 64 };
    uint64_t hashes[RUNS], orders[RUNS], random = test_seed();

    /* Without faults: the order alone has to differ. */
    for (int i = 0; i < RUNS; i++) {
        hashes[i] = sample_whole_run(test_random(&random), NULL, QUOTA, NULL);
        orders[i] = s.order;
        for (int k = 0; k < i; k++) {
            CHECK(hashes[k] != hashes[i]);
            CHECK(orders[k] != orders[i]);
        }
    }
}

/* Not a promise of its own: the other process of the next test. */
TEST(hashes_can_be_asked_from_another_process) {
    const char *const path = getenv("DIURNAL_TEST_HASHES_TO");
    const char *const junk = getenv("DIURNAL_TEST_JUNK");
    uint64_t          random = test_seed();

    if (!path) return;
    /* Other addresses, whether or not the system scatters them. */
    const long pieces = junk ? strtol(junk, NULL, 10) : 0;
    for (long i = 0; i < pieces; i++) CHECK(malloc((size_t)i * 37 + 1));
    FILE *const out = fopen(path, "w");
    CHECK(out);
    for (uint32_t i = 0; i < few / 4; i++)
        fprintf(out, "%016" PRIx64 "\n",
                sample_whole_run(test_random(&random), &sample_faults, QUOTA, NULL));
    CHECK_INT(fclose(out), 0);
}

TEST(the_same_seed_gives_the_same_hash_in_two_processes) {
    enum { TEXT = 64 << 10 };
    static char   texts[2][TEXT];
    size_t        sizes[2];
    char          self[512];
    const ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);

    CHECK(len > 0);
    self[len] = '\0';
    for (int i = 0; i < 2; i++) {
        char path[64], command[1024];
        snprintf(path, sizeof path, "/tmp/diurnal_hashes_%ld_%d", (long)getpid(), i);
        /* leaks: the junk above is meant to be one */
        snprintf(command, sizeof command,
                 "ASAN_OPTIONS=detect_leaks=0 DIURNAL_TEST_SEED=%" PRIu64
                 " DIURNAL_TEST_JUNK=%d DIURNAL_TEST_HASHES_TO=%s "
                 "'%s' hashes_can_be_asked_from_another_process",
                 test_seed(), i * 5000, path, self);
        CHECK_INT(system(command), 0); /* NOLINT(cert-env33-c): its own words, no others' */
        FILE *const in = fopen(path, "r");
        CHECK(in);
        sizes[i] = fread(texts[i], 1, TEXT - 1, in);
        fclose(in);
        unlink(path);
        CHECK(sizes[i] > 16);
    }
    CHECK_STR(texts[1], texts[0]);
}

/* ---- Faults ---- */

TEST(every_fault_and_coincidence_happens_in_a_thousand_seeds_and_none_does_harm) {
    dn_sim_counts sum = {0};
    sample_seen   seen = {0};
    uint64_t      random = test_seed();

    for (int i = 0; i < SEEDS; i++) {
        dn_sim_counts c;
        sample_whole_run(test_random(&random), &sample_faults, QUOTA, &c);
        const uint64_t *from = (const uint64_t *)&c;
        for (size_t k = 0; k < sizeof c / sizeof *from; k++) ((uint64_t *)&sum)[k] += from[k];
        from = (const uint64_t *)&s.seen;
        for (size_t k = 0; k < sizeof seen / sizeof *from; k++) ((uint64_t *)&seen)[k] += from[k];
    }
    printf("boots %" PRIu64 ", steps %" PRIu64 ", handled %" PRIu64 "\n", sum.boots, sum.steps,
           sum.handled);
#define SEEN(count)                                                                                \
    do {                                                                                           \
        printf("%-24s %" PRIu64 "\n", #count, count);                                              \
        CHECK_MSG((count) > 0 || !SEEDS_SUFFICE, "never seen in %d seeds", SEEDS);                 \
    } while (0)
    SEEN(sum.actor_crashes);
    SEEN(sum.process_crashes);
    SEEN(sum.delays);
    SEEN(sum.doubled_replies);
    SEEN(sum.wall_steps);
    SEEN(sum.slow_turns);
    SEEN(sum.failed_allocs);
    SEEN(sum.late_replies);
    SEEN(sum.dead_letters);
    SEEN(seen.crash_before_reply);
    SEEN(seen.crash_between);
    SEEN(seen.crash_while_starting);
    SEEN(seen.double_to_dead);
    SEEN(seen.retries_counted);
    SEEN(seen.lost_unsynced);
    SEEN(seen.timeouts);
    SEEN(seen.unanswered);
    SEEN(seen.dead_calls);
    SEEN(seen.client_crashes);
    SEEN(seen.gave_up);
#undef SEEN
    /* Each life ends in one way; after the last crash of a seed nothing may have been left to do. */
    CHECK(sum.boots >= sum.process_crashes + seen.gave_up);
    CHECK(sum.boots <= sum.process_crashes + seen.gave_up + SEEDS);
}

/* Each alone, so that no fault hides behind another one. */
TEST(each_fault_alone_happens_and_does_no_harm) {
    const dn_sim_faults all = sample_faults;
    const dn_sim_faults alone[] = {
        {.crash_actor_ppm = 20000},
        {.crash_process_ppm = 5000},
        {.delay_ppm = 300000, .delay_ms_max = 60},
        {.double_reply_ppm = 500000, .delay_ms_max = 60},
        {.step_wall_ppm = 20000, .step_wall_ms_max = all.step_wall_ms_max},
        {.fail_alloc_ppm = 200000}, /* few requests get as far as the system */
        {.slow_turn_ppm = 100000, .slow_turn_ms_max = 60},
    };
    uint64_t random = test_seed();

    for (size_t kind = 0; kind < sizeof alone / sizeof *alone; kind++) {
        uint64_t happened[7] = {0};
        for (uint32_t i = 0; i < few / 4; i++) {
            dn_sim_counts c;
            sample_whole_run(test_random(&random), &alone[kind], QUOTA, &c);
            const uint64_t counts[7] = {c.actor_crashes,   c.process_crashes, c.delays,
                                        c.doubled_replies, c.wall_steps,      c.failed_allocs,
                                        c.slow_turns};
            for (int k = 0; k < 7; k++) happened[k] += counts[k];
        }
        for (size_t k = 0; k < 7; k++)
            CHECK_MSG((happened[k] > 0) == (k == kind),
                      "fault %zu alone: fault %zu came %" PRIu64 " times", kind, k, happened[k]);
    }
}

TEST(the_process_may_crash_at_any_step) {
    enum { SMALL_QUOTA = 3 };
    const dn_sim_faults some = {
        .delay_ppm = 100000, .delay_ms_max = 10, .double_reply_ppm = 100000};
    uint64_t steps = 0, crashed = 0, in_window = 0;

    for (;;) {
        dn_sim_counts c;
        sample_new(/* seed= */ 42, &some, SMALL_QUOTA);
        s.no_timing = true;
        dn_sim_crash_process_at(s.sim, ++steps);
        sample_run(SETTLE_MS);
        CHECK(sample_is_done());
        c = *dn_sim_counts_borrow(s.sim);
        in_window += s.seen.crash_before_reply + s.seen.crash_between;
        sample_free();
        if (c.process_crashes == 0) break;
        CHECK_UINT(c.process_crashes, 1);
        crashed++;
    }
    CHECK_UINT(crashed, steps - 1); /* no step was left out */
    CHECK(steps > 100);
    CHECK(in_window > 0);
}

TEST(each_actor_may_crash_at_any_of_its_messages) {
    enum { SMALL_QUOTA = 3 };

    for (size_t who = 0; who < sizeof sample_children / sizeof *sample_children; who++) {
        uint64_t nth = 0, crashes;
        do {
            sample_new(/* seed= */ 42, NULL, SMALL_QUOTA);
            s.no_timing = true;
            dn_sim_crash_actor_at(s.sim, sample_children[who].name, ++nth);
            sample_run(SETTLE_MS);
            CHECK(sample_is_done());
            crashes = dn_sim_counts_borrow(s.sim)->actor_crashes;
            CHECK(crashes <= 1);
            sample_free();
        } while (crashes == 1);
        CHECK_MSG(nth > SMALL_QUOTA, "%s had only %" PRIu64 " messages", sample_children[who].name,
                  nth);
    }
}

/* ---- A check that has never failed is not yet a check ---- */

static uint64_t found_with(bool ack_early, bool no_dedupe) {
    uint64_t random = test_seed(), found = 0;

    for (int i = 0; i < SEEDS && found == 0; i++) {
        sample_new(test_random(&random), &sample_faults, QUOTA_MAX / 4);
        s.ack_early = ack_early;
        s.no_dedupe = no_dedupe;
        sample_run(FAULTS_MS);
        found = s.found;
        sample_free();
    }
    return found;
}

TEST(a_store_that_answers_before_it_commits_is_found) { CHECK(found_with(true, false) > 0); }

TEST(a_store_that_counts_a_number_twice_is_found) { CHECK(found_with(false, true) > 0); }
