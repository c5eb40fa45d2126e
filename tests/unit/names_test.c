/* names_test.c - a name has one number for as long as the runtime lives, whoever asks. */
#include "names.h"

#include "mem.h"
#include "test.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static names table;

static uint32_t number_of(const char *text) {
    uint32_t number;

    CHECK_INT(names_intern(&table, text, &number), DN_OK);
    return number;
}

TEST(a_name_keeps_its_number_and_its_text) {
    char text[32];

    CHECK_INT(names_init(&table), DN_OK);
    for (uint32_t i = 0; i < 20000; i++) {
        snprintf(text, sizeof text, "name %u", i);
        CHECK_UINT(number_of(text), i);
    }
    for (uint32_t i = 0; i < 20000; i++) {
        snprintf(text, sizeof text, "name %u", i);
        CHECK_UINT(number_of(text), i);
        CHECK_STR(names_at(&table, i)->text, text);
        CHECK_UINT(atomic_load(&names_at(&table, i)->holder), 0);
    }
    CHECK_PTR(names_at(&table, 20000), NULL);
    CHECK_PTR(names_at(&table, UINT32_MAX), NULL);
    names_done(&table);
}

TEST(a_name_has_1_to_63_bytes) {
    char     text[DN_NAME_MAX + 2];
    uint32_t number = 77;

    CHECK_INT(names_init(&table), DN_OK);
    memset(text, 'x', sizeof text);
    text[DN_NAME_MAX + 1] = '\0';
    CHECK_INT(names_intern(&table, text, &number), DN_EINVAL);
    CHECK_INT(names_intern(&table, "", &number), DN_EINVAL);
    CHECK_INT(names_intern(&table, NULL, &number), DN_EINVAL);
    CHECK_UINT(number, 77);
    text[DN_NAME_MAX] = '\0';
    CHECK_INT(names_intern(&table, text, &number), DN_OK);
    CHECK_STR(names_at(&table, number)->text, text);
    names_done(&table);
}

TEST(the_table_is_full_at_its_bound_and_the_old_names_still_are_found) {
    char     text[32];
    uint32_t number = 77;

    CHECK_INT(names_init(&table), DN_OK);
    for (uint32_t i = 0; i < NAMES_MAX; i++) {
        snprintf(text, sizeof text, "%u", i);
        CHECK_UINT(number_of(text), i);
    }
    CHECK_INT(names_intern(&table, "one more", &number), DN_ENOMEM);
    CHECK_UINT(number, 77);
    CHECK_UINT(number_of("65535"), 65535);
    names_done(&table);
}

static bool refuse_all(void *context) {
    (void)context;
    return true;
}

TEST(without_memory_a_new_name_is_refused_and_an_old_one_is_not) {
    uint32_t number = 77;

    mem_refuse(refuse_all, NULL);
    CHECK_INT(names_init(&table), DN_ENOMEM);
    mem_refuse(NULL, NULL);
    CHECK_INT(names_init(&table), DN_OK);
    mem_refuse(refuse_all, NULL);
    CHECK_INT(names_intern(&table, "first", &number), DN_ENOMEM);
    CHECK_UINT(number, 77);
    mem_refuse(NULL, NULL);
    CHECK_UINT(number_of("first"), 0);
    mem_refuse(refuse_all, NULL);
    CHECK_UINT(number_of("first"), 0);
    mem_refuse(NULL, NULL);
    names_done(&table);
}

enum { THREADS = 4, SHARED = 5000 / TEST_SLOW_FACTOR };

static uint32_t seen[THREADS][SHARED];

static void *intern_all(void *context) {
    uint32_t *numbers = context;
    char      text[32];

    for (int i = 0; i < SHARED; i++) {
        snprintf(text, sizeof text, "shared %d", i);
        CHECK_INT(names_intern(&table, text, &numbers[i]), DN_OK);
        CHECK_STR(names_at(&table, numbers[i])->text, text);
    }
    return NULL;
}

TEST(threads_that_intern_the_same_names_agree) {
    pthread_t threads[THREADS];

    CHECK_INT(names_init(&table), DN_OK);
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, intern_all, seen[i]), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 1; i < THREADS; i++)
        for (int k = 0; k < SHARED; k++) CHECK_UINT(seen[i][k], seen[0][k]);
    CHECK_PTR(names_at(&table, SHARED), NULL);
    names_done(&table);
}

/* As programs number their actors: what differs may stand at the end, at the beginning or in the middle. */
TEST(a_thousand_names_that_differ_in_a_number_hardly_share_a_bucket) {
    static const struct {
        const char *before, *behind;
    } patterns[] = {
        {"child-", ""}, {"", "-child"}, {"user ", " of them"}, {"worker_0", ""}, {"c", ""}};

    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
        CHECK_INT(names_init(&table), DN_OK);
        for (int i = 0; i < 1000; i++) {
            char text[DN_NAME_MAX + 1];
            snprintf(text, sizeof text, "%s%d%s", patterns[p].before, i, patterns[p].behind);
            (void)number_of(text);
        }
        for (int b = 0; b < NAME_BUCKETS; b++) {
            int len = 0;
            for (uint32_t at = table.buckets[b]; at > 0; at = table.table[at - 1].next) len++;
            CHECK_MSG(len <= 6, "%d names in one bucket, as %s1%s", len, patterns[p].before,
                      patterns[p].behind);
        }
        names_done(&table);
    }
}
