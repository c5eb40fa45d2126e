/* blob_test.c - immutable byte strings that threads share. */
#include "base/blob.h"
#include "starving.h"
#include "test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

TEST(a_blob_keeps_a_copy_of_its_bytes) {
    char text[] = "a\0b";
    DN_AUTO(dn_blob) blob = dn_blob_of(text, sizeof text);

    memset(text, 'x', sizeof text);
    CHECK_UINT(dn_blob_len(blob), 4);
    CHECK(memcmp(dn_blob_bytes_borrow(blob), "a\0b", 4) == 0);
}

TEST(a_blob_is_filled_in_place) {
    const size_t mib = 1 << 20;
    char        *bytes;
    DN_AUTO(dn_blob) blob = dn_blob_new(mib, &bytes);

    memset(bytes, 'm', mib);
    CHECK_UINT(dn_blob_len(blob), mib);
    CHECK_INT(dn_blob_bytes_borrow(blob)[mib - 1], 'm');
}

TEST(no_blob_and_an_empty_blob_have_no_bytes) {
    DN_AUTO(dn_blob) empty = dn_blob_of(NULL, 0);

    CHECK_UINT(dn_blob_len(empty), 0);
    CHECK_UINT(dn_blob_len(NULL), 0);
    CHECK_STR(dn_blob_bytes_borrow(NULL), "");
    CHECK(dn_blob_ref(NULL) == NULL);
    dn_blob_unref(NULL);
}

TEST(a_blob_lives_until_its_last_reference_goes) {
    dn_blob *blob = dn_blob_of("ada", 3), *second = dn_blob_ref(blob);

    CHECK(second == blob);
    dn_blob_unref(blob);
    CHECK(memcmp(dn_blob_bytes_borrow(second), "ada", 3) ==
          0);              /* asan sees a free that comes too early */
    dn_blob_unref(second); /* and one that never comes */
}

TEST(a_blob_that_memory_is_refused_for_is_null) {
    char *bytes = NULL;

    CHECK(!dn_blob_new(SIZE_MAX - 4, &bytes));
    starve_nth(1);
    dn_blob *blob = dn_blob_of("ada", 3);
    CHECK(starve_end());
    CHECK(!blob);
    CHECK(!bytes);
}

enum { THREADS = 8, TURNS = 20000 };

static void *shares(void *context) {
    dn_blob *blob = context;
    unsigned sum = 0;

    for (int i = 0; i < TURNS / TEST_SLOW_FACTOR; i++) {
        dn_blob *more = dn_blob_ref(blob);
        sum += (unsigned char)dn_blob_bytes_borrow(more)[i % 3];
        dn_blob_unref(more);
    }
    dn_blob_unref(blob);
    return (void *)(uintptr_t)sum;
}

TEST(threads_share_a_blob_and_the_last_one_frees_it) {
    pthread_t threads[THREADS];
    dn_blob  *blob = dn_blob_of("ada", 3);

    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, shares, dn_blob_ref(blob)), 0);
    dn_blob_unref(blob);
    for (int i = 0; i < THREADS; i++) {
        void *sum;
        CHECK_INT(pthread_join(threads[i], &sum), 0);
        CHECK((uintptr_t)sum > 0);
    }
}
