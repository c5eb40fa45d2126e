/* meter_test.c - time in a level, by hand, by a model, and while another thread looks. */
#include "obs/meter.h"
#include "test.h"

#include <pthread.h>

#define MS INT64_C(1000000)
#define S  (1000 * MS)

TEST(a_meter_never_set_has_watched_nothing) {
    dn_meter               m = {0};
    const dn_meter_reading r = dn_meter_read(&m, 5 * S);

    CHECK_UINT(r.samples, 0);
    CHECK_UINT(r.watched_us, 0);
    CHECK_UINT(r.area_us, 0);
}

TEST(a_level_weighs_as_long_as_it_lasts_and_not_as_often_as_it_is_set) {
    dn_meter m = {0};

    dn_meter_set(&m, 2, 10, 1 * S);
    for (int i = 0; i < 100; i++) dn_meter_set(&m, 10, 10, 2 * S); /* a hundred times at once */
    dn_meter_set(&m, 4, 10, 5 * S);
    const dn_meter_reading r = dn_meter_read(&m, 11 * S);
    CHECK_UINT(r.watched_us, 10000000);
    CHECK_UINT(r.area_us, (1 * 2 + 3 * 10 + 6 * 4) * 1000000);
    CHECK_UINT(r.full_us, 3000000);
    CHECK_UINT(r.level, 4);
    CHECK_UINT(r.max, 10);
    CHECK_UINT(r.peak, 10);
    CHECK_UINT(r.samples, 102);
}

TEST(without_a_max_it_is_never_full) {
    dn_meter m = {0};

    dn_meter_set(&m, 5, 0, 1 * S);
    CHECK_UINT(dn_meter_read(&m, 2 * S).full_us, 0);
}

TEST(more_than_the_max_is_full) {
    dn_meter m = {0};

    dn_meter_set(&m, 9, 8, 1 * S); /* the max was lowered while nine were running */
    CHECK_UINT(dn_meter_read(&m, 2 * S).full_us, 1000000);
}

TEST(a_reader_whose_clock_is_behind_sees_the_last_change) {
    dn_meter m = {0};

    dn_meter_set(&m, 1, 0, 10 * S);
    dn_meter_set(&m, 3, 0, 12 * S);
    const dn_meter_reading r = dn_meter_read(&m, 11 * S);
    CHECK_UINT(r.watched_us, 2000000);
    CHECK_UINT(r.area_us, 2000000);
    CHECK_UINT(r.level, 3);
}

TEST(a_writer_whose_clock_goes_back_loses_no_time_and_gains_none) {
    dn_meter m = {0};

    dn_meter_set(&m, 1, 0, 10 * S);
    dn_meter_set(&m, 2, 0, 8 * S);
    dn_meter_set(&m, 5, 0, 12 * S);
    CHECK_UINT(dn_meter_read(&m, 12 * S).watched_us, 2000000);
    CHECK_UINT(dn_meter_read(&m, 12 * S).area_us, 4000000);
}

TEST(parts_of_a_microsecond_add_up) {
    dn_meter m = {0};

    for (int64_t i = 0; i <= 10000; i++) dn_meter_set(&m, 1, 1, 7 * S + i * 300);
    CHECK_UINT(dn_meter_read(&m, 7 * S + 10000 * 300).watched_us, 3000);
    CHECK_UINT(dn_meter_read(&m, 7 * S + 10000 * 300).full_us, 3000);
}

TEST(looking_changes_nothing_and_readings_add_up) {
    uint64_t random = test_seed(), level = 0, max = 0, area = 0, full = 0;
    dn_meter m = {0};
    int64_t  now_us = 1000, first_us = 0;

    for (int i = 0; i < 20000; i++) {
        const int64_t passed_us = (int64_t)(test_random(&random) % 2000);
        now_us += passed_us;
        area += level * (uint64_t)passed_us;
        if (max > 0 && level >= max) full += (uint64_t)passed_us;
        if (test_random(&random) % 2 || i == 0) {
            if (i == 0) first_us = now_us, area = full = 0;
            level = test_random(&random) % 70;
            max = test_random(&random) % 3 ? 64 : test_random(&random) % 70;
            dn_meter_set(&m, level, max, now_us * 1000);
        } else {
            const dn_meter_reading r = dn_meter_read(&m, now_us * 1000);
            CHECK_UINT(r.watched_us, now_us - first_us);
            CHECK_UINT(r.area_us, area);
            CHECK_UINT(r.full_us, full);
        }
    }
}

/* ---- Threads ---- */

enum { SETS = 400000 / TEST_SLOW_FACTOR };
static dn_meter     shared;
static _Atomic(int) done;

/* The n-th set is level n of max n at n us, so every word of a reading tells n. */
static void *set_many(void *unused) {
    (void)unused;
    for (uint64_t n = 1; n <= SETS; n++) dn_meter_set(&shared, n, n, (int64_t)n * 1000);
    atomic_store(&done, 1);
    return NULL;
}

static void *read_many(void *unused) {
    uint64_t last = 0;
    bool     end;

    (void)unused;
    do {
        end = atomic_load(&done) == 1;
        const dn_meter_reading r = dn_meter_read(&shared, 0);
        const uint64_t         n = r.samples, passed = n > 0 ? n - 1 : 0;
        CHECK(n >= last);
        CHECK_UINT(r.level, n);
        CHECK_UINT(r.max, n);
        CHECK_UINT(r.peak, n);
        CHECK_UINT(r.watched_us, passed);
        CHECK_UINT(r.full_us, passed);
        CHECK_UINT(r.area_us, passed * n / 2);
        last = n;
    } while (!end);
    CHECK_UINT(last, SETS);
    return NULL;
}

TEST(what_is_read_while_it_changes_belongs_together) {
    pthread_t writer, readers[2];

    for (int i = 0; i < 2; i++) CHECK_INT(pthread_create(&readers[i], NULL, read_many, NULL), 0);
    CHECK_INT(pthread_create(&writer, NULL, set_many, NULL), 0);
    CHECK_INT(pthread_join(writer, NULL), 0);
    for (int i = 0; i < 2; i++) CHECK_INT(pthread_join(readers[i], NULL), 0);
}
