/* sketch_test.c - quantiles of the sketch against those of the sorted values, where it hurts. */
#include "obs/sketch.h"
#include "test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* What the header promises. */
#define ERROR_MAX (1.0 / 128)

static void check_near(uint64_t estimate, uint64_t exact) {
    const uint64_t off = estimate > exact ? estimate - exact : exact - estimate;

    CHECK_MSG((double)off <= ERROR_MAX * (double)exact, "%llu for %llu",
              (unsigned long long)estimate, (unsigned long long)exact);
}

/* ---- Hostile distributions ---- */

enum { VALUES = 5000 };

typedef uint64_t distribution(uint64_t i, uint64_t *random);

static double unit(uint64_t *random) { return (double)(test_random(random) >> 11) * 0x1p-53; }

/* NOLINTBEGIN(readability-non-const-parameter): they are distributions, as the others are */
static uint64_t constant(uint64_t i, uint64_t *random) {
    (void)i, (void)random;
    return 300000;
}
static uint64_t sorted(uint64_t i, uint64_t *random) {
    (void)random;
    return i * i;
}
static uint64_t sorted_backwards(uint64_t i, uint64_t *random) {
    (void)random;
    return (VALUES - i) * 997;
}
/* NOLINTEND(readability-non-const-parameter) */
static uint64_t two_humps(uint64_t i, uint64_t *random) {
    (void)i;
    return test_random(random) % 100 < 95 ? 200 + test_random(random) % 50
                                          : 60000000 + test_random(random) % 1000000;
}
static uint64_t nothing_and_the_most(uint64_t i, uint64_t *random) {
    (void)i;
    return test_random(random) % 2 ? 0 : DN_SKETCH_VALUE_MAX;
}
static uint64_t one_huge(uint64_t i, uint64_t *random) {
    return i == VALUES / 2 ? UINT64_C(1) << 39 : 1 + test_random(random) % 9;
}
static uint64_t heavy_tail(uint64_t i, uint64_t *random) {
    (void)i;
    return (uint64_t)(50 / (1 - unit(random))); /* Pareto's, without a mean */
}
static uint64_t every_octave(uint64_t i, uint64_t *random) {
    (void)i;
    return test_random(random) >> (24 + test_random(random) % 40);
}
static uint64_t edges_of_octaves(uint64_t i, uint64_t *random) {
    (void)i;
    return (UINT64_C(1) << test_random(random) % 40) - test_random(random) % 2;
}
static uint64_t edges_of_buckets(uint64_t i, uint64_t *random) {
    const dn_sketch_range r = dn_sketch_bounds((uint32_t)(test_random(random) % DN_SKETCH_BUCKETS));
    (void)i;
    return test_random(random) % 2 ? r.low : r.high;
}

static distribution *const distributions[] = {
    constant, sorted,     sorted_backwards, two_humps,        nothing_and_the_most,
    one_huge, heavy_tail, every_octave,     edges_of_octaves, edges_of_buckets,
};
enum { DISTRIBUTIONS = sizeof distributions / sizeof *distributions };

static int by_size(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void check_quantiles(const dn_sketch *s, uint64_t *values, size_t len) {
    static const uint32_t mille[] = {0, 1, 10, 250, 500, 750, 900, 950, 990, 999, 1000};

    qsort(values, len, sizeof *values, by_size);
    CHECK_UINT(dn_sketch_count(s), len);
    for (size_t i = 0; i < sizeof mille / sizeof *mille; i++) {
        const size_t rank = (mille[i] * len + 999) / 1000;
        uint64_t     estimate = 0;
        CHECK(dn_sketch_quantile(s, mille[i] / 1000.0, &estimate));
        check_near(estimate, values[rank > 0 ? rank - 1 : 0]);
    }
}

TEST(every_quantile_of_a_hostile_distribution_is_at_most_one_in_128_away) {
    static dn_sketch_cells cells;
    static dn_sketch       s;
    static uint64_t        values[VALUES];
    uint64_t               random = test_seed();

    for (int d = 0; d < DISTRIBUTIONS; d++) {
        for (int round = 0; round < 20 / TEST_SLOW_FACTOR; round++) {
            const size_t len = round == 0 ? VALUES : 1 + test_random(&random) % VALUES;
            memset(&cells, 0, sizeof cells);
            for (size_t i = 0; i < len; i++) {
                values[i] = distributions[d](i, &random);
                dn_sketch_add(&cells, values[i]);
            }
            dn_sketch_snapshot(&cells, &s);
            check_quantiles(&s, values, len);
        }
    }
}

/* ---- Buckets ---- */

TEST(the_buckets_lie_side_by_side_and_none_is_wider_than_stated) {
    uint64_t next = 0;

    for (uint32_t bucket = 0; bucket < DN_SKETCH_BUCKETS; bucket++) {
        const dn_sketch_range r = dn_sketch_bounds(bucket);
        const uint64_t        middle = r.low + (r.high - r.low + 1) / 2;
        CHECK_UINT(r.low, next);
        CHECK_UINT(dn_sketch_bucket(r.low), bucket);
        CHECK_UINT(dn_sketch_bucket(r.high), bucket);
        check_near(middle, r.low);
        check_near(middle, r.high);
        next = r.high + 1;
    }
    CHECK_UINT(next, DN_SKETCH_VALUE_MAX + 1);
    CHECK_UINT(dn_sketch_bucket(UINT64_MAX), DN_SKETCH_BUCKETS - 1);
}

TEST(a_sketch_is_nine_kilobytes) {
    CHECK(sizeof(dn_sketch) <= 9 * 1024);
    CHECK(sizeof(dn_sketch_cells) <= 9 * 1024);
}

/* ---- What it says ---- */

TEST(an_empty_sketch_has_no_quantile) {
    static const dn_sketch s;
    uint64_t               out = 7;

    CHECK(!dn_sketch_quantile(&s, 0.95, &out));
    CHECK_UINT(out, 7);
    CHECK_UINT(dn_sketch_count(&s), 0);
    CHECK_UINT(dn_sketch_above(&s, 0), 0);
}

TEST(the_ninety_fifth_of_twenty_is_the_nineteenth) {
    static dn_sketch s;
    uint64_t         out = 0;

    dn_sketch_put(&s, 10, 19);
    dn_sketch_put(&s, 100, 1);
    CHECK(dn_sketch_quantile(&s, 0.95, &out));
    CHECK_UINT(out, 10);
    s.counts[10]--;
    CHECK(dn_sketch_quantile(&s, 0.95, &out));
    CHECK_UINT(out, 100);
}

TEST(what_shares_the_bucket_of_a_value_is_not_above_it) {
    static dn_sketch      s;
    const uint32_t        bucket = dn_sketch_bucket(300000);
    const dn_sketch_range r = dn_sketch_bounds(bucket);

    dn_sketch_put(&s, bucket, 5);
    dn_sketch_put(&s, bucket + 1, 3);
    CHECK(r.low < 300000 && r.high > 300000);
    CHECK_UINT(dn_sketch_above(&s, 300000), 3);
    CHECK_UINT(dn_sketch_above(&s, r.low - 1), 8);
    CHECK_UINT(dn_sketch_above(&s, UINT64_MAX), 0);
}

/* ---- Sums and differences ---- */

TEST(merged_parts_say_what_the_whole_says) {
    static dn_sketch_cells parts[3];
    static dn_sketch       sum, part;
    static uint64_t        values[VALUES];
    uint64_t               random = test_seed();

    for (size_t i = 0; i < VALUES; i++) {
        values[i] = heavy_tail(i, &random);
        dn_sketch_add(&parts[test_random(&random) % 3], values[i]);
    }
    for (int i = 0; i < 3; i++) {
        dn_sketch_snapshot(&parts[i], &part);
        dn_sketch_merge(&sum, &part);
    }
    check_quantiles(&sum, values, VALUES);
}

TEST(what_has_come_since_the_last_time_is_told_even_if_a_bucket_has_wrapped) {
    static dn_sketch_cells cells;
    static dn_sketch       seen, came;

    atomic_store(&cells.counts[dn_sketch_bucket(9)], UINT32_MAX - 1);
    dn_sketch_add(&cells, 1);
    CHECK_UINT(dn_sketch_take(&cells, &seen, &came), (uint64_t)UINT32_MAX);
    for (int i = 0; i < 5; i++) dn_sketch_add(&cells, 9);
    CHECK_UINT(dn_sketch_take(&cells, &seen, &came), 5);
    CHECK_UINT(dn_sketch_count(&came), 5);
    CHECK_UINT(came.counts[9], 5);
    CHECK_UINT(dn_sketch_take(&cells, &seen, &came), 0);
    CHECK_UINT(dn_sketch_count(&came), 0);
}

TEST(a_bucket_that_is_full_stays_full) {
    static dn_sketch sum, other;

    dn_sketch_put(&sum, 3, UINT32_MAX - 2);
    dn_sketch_put(&other, 3, 2);
    dn_sketch_merge(&sum, &other);
    CHECK_UINT(sum.counts[3], UINT32_MAX);
    dn_sketch_merge(&sum, &other);
    CHECK_UINT(sum.counts[3], UINT32_MAX);
}

/* ---- Threads ---- */

enum { THREADS = 3, ADDS = 300000 / TEST_SLOW_FACTOR };
static dn_sketch_cells shared;
static _Atomic(int)    running = THREADS;

static void *add_many(void *seed) {
    uint64_t random = test_seed() + (uintptr_t)seed;

    for (int i = 0; i < ADDS; i++) dn_sketch_add(&shared, test_random(&random) % 1000);
    atomic_fetch_sub(&running, 1);
    return NULL;
}

TEST(while_threads_add_each_value_is_in_exactly_one_difference) {
    static dn_sketch seen, came, sum, whole;
    pthread_t        threads[THREADS];
    bool             last;

    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, add_many, (void *)i), 0);
    do {
        last = atomic_load(&running) == 0;
        (void)dn_sketch_take(&shared, &seen, &came);
        dn_sketch_merge(&sum, &came);
    } while (!last);
    for (int i = 0; i < THREADS; i++) CHECK_INT(pthread_join(threads[i], NULL), 0);
    dn_sketch_snapshot(&shared, &whole);
    CHECK_UINT(dn_sketch_count(&whole), (uint64_t)THREADS * ADDS);
    CHECK_INT(memcmp(&sum, &whole, sizeof sum), 0);
}

/* Rows of 64 buckets that hold nothing are passed over: they must hold nothing. */
TEST(a_sketch_that_is_used_again_has_nothing_of_what_was_in_it) {
    static dn_sketch_cells first, second;
    static dn_sketch       s, none, came;
    uint64_t               random = test_seed(), rows[2] = {0};

    for (int i = 0; i < 300; i++) {
        dn_sketch_add(&first, test_random(&random) >> test_random(&random) % 64);
        dn_sketch_add(&second, test_random(&random) % 100);
    }
    dn_sketch_snapshot(&first, &s);
    dn_sketch_snapshot(&second, &s);
    CHECK_UINT(dn_sketch_count(&s), 300);
    for (uint32_t i = 0; i < DN_SKETCH_BUCKETS; i++) rows[0] += s.counts[i];
    CHECK_UINT(rows[0], 300);
    dn_sketch_snapshot(&first, &came);
    CHECK_UINT(dn_sketch_take(&second, &none, &came), 300);
    for (uint32_t i = 0; i < DN_SKETCH_BUCKETS; i++) rows[1] += came.counts[i];
    CHECK_UINT(rows[1], 300);
    dn_sketch_clear(&came);
    CHECK_UINT(dn_sketch_count(&came), 0);
    for (uint32_t i = 0; i < DN_SKETCH_BUCKETS; i++) CHECK_UINT(came.counts[i], 0);
}
