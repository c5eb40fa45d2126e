/* idempotency_test.c - who asks again with the same key is answered as the first time, for a while and within bounds. */
#include "http/idempotency.h"
#include "starving.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static idempotency kept;

static http_text text_of(const char *t) { return (http_text){t, strlen(t)}; }

static idempotency_state looks(uint64_t who, const char *path, const char *key, int64_t now_ms,
                               idempotency_entry **out_entry) {
    return idempotency_find(&kept, who, text_of("POST"), text_of(path), text_of(key), now_ms,
                            out_entry);
}

/* With an answer of so many bytes. */
static void keeps(idempotency_entry *e, uint8_t body, size_t len) {
    uint8_t       digest[IDEMPOTENCY_DIGEST] = {body};
    http_response r = http_answer(201, "application/json", calloc(1, len + 1), len);

    if (len > 0) memset(r.body, 'x', len);
    idempotency_keep(&kept, e, digest, &r);
    free(r.body);
}

TEST(the_first_answer_is_given_again_to_the_same_who_asks_the_same) {
    idempotency_entry *e = NULL;

    CHECK_INT(looks(1, "/a", "k", 0, &e), IDEMPOTENCY_NEW);
    CHECK_INT(looks(1, "/a", "k", 1, &e), IDEMPOTENCY_IN_PROGRESS);
    keeps(e, 7, 3);
    e = NULL;
    CHECK_INT(looks(1, "/a", "k", 2, &e), IDEMPOTENCY_ANSWERED);
    CHECK_INT(e->body[0], 7);
    http_response again = idempotency_replay(e);
    CHECK(again.status == 201 && again.body_len == 3 && memcmp(again.body, "xxx", 3) == 0);
    CHECK_STR(again.type, "application/json");
    free(again.body);
    idempotency_release(e);
    CHECK_INT(looks(2, "/a", "k", 3, &e), IDEMPOTENCY_NEW);
    CHECK_INT(looks(1, "/b", "k", 3, &e), IDEMPOTENCY_NEW);
    CHECK_INT(looks(1, "/a", "l", 3, &e), IDEMPOTENCY_NEW);
    CHECK_INT(looks(1, "/ak", "", 3, &e), IDEMPOTENCY_NEW); /* the same bytes, parted elsewhere */
    idempotency_done(&kept);
}

TEST(what_was_dropped_or_is_old_has_never_been) {
    idempotency_entry *e = NULL;

    CHECK_INT(looks(1, "/a", "k", 0, &e), IDEMPOTENCY_NEW);
    idempotency_forget(&kept, e);
    CHECK_INT(looks(1, "/a", "k", 0, &e), IDEMPOTENCY_NEW);
    keeps(e, 0, 1);
    CHECK_INT(looks(1, "/a", "k", IDEMPOTENCY_MS - 1, &e), IDEMPOTENCY_ANSWERED);
    CHECK_INT(looks(1, "/a", "l", IDEMPOTENCY_MS, &e), IDEMPOTENCY_NEW); /* the old one is held */
    CHECK_INT(looks(1, "/a", "k", IDEMPOTENCY_MS, &e), IDEMPOTENCY_ANSWERED);
    idempotency_release(e);
    idempotency_release(e);
    CHECK_INT(looks(1, "/a", "k", IDEMPOTENCY_MS, &e), IDEMPOTENCY_NEW);
    idempotency_done(&kept);
}

TEST(what_may_have_been_done_is_remembered_from_when_that_was_seen) {
    idempotency_entry *e = NULL;

    CHECK_INT(looks(1, "/a", "k", 0, &e), IDEMPOTENCY_NEW);
    idempotency_mark_unknown(e, 2 * IDEMPOTENCY_MS); /* it was waited for so long */
    CHECK_INT(looks(1, "/a", "k", 3 * IDEMPOTENCY_MS - 1, &e), IDEMPOTENCY_UNKNOWN);
    CHECK_INT(looks(1, "/a", "k", 3 * IDEMPOTENCY_MS, &e), IDEMPOTENCY_NEW);
    idempotency_done(&kept);
}

TEST(the_oldest_makes_room_and_who_is_under_way_does_not) {
    idempotency_entry *e = NULL;
    char               key[16];

    for (int i = 0; i < IDEMPOTENCY_MAX; i++) {
        (void)snprintf(key, sizeof key, "%d", i);
        CHECK_INT(looks(1, "/a", key, i, &e), IDEMPOTENCY_NEW);
        if (i > 0) keeps(e, 0, 1);
    }
    CHECK_INT(looks(1, "/a", "one more", IDEMPOTENCY_MAX, &e), IDEMPOTENCY_NEW);
    CHECK_INT(looks(1, "/a", "0", IDEMPOTENCY_MAX, &e), IDEMPOTENCY_IN_PROGRESS);
    CHECK_INT(looks(1, "/a", "2", IDEMPOTENCY_MAX, &e), IDEMPOTENCY_ANSWERED);
    idempotency_release(e);
    CHECK_INT(looks(1, "/a", "1", IDEMPOTENCY_MAX, &e),
              IDEMPOTENCY_NEW); /* it made room, and now another does */
    CHECK_INT(looks(1, "/a", "2", IDEMPOTENCY_MAX, &e), IDEMPOTENCY_NEW);
    idempotency_done(&kept);
    for (int i = 0; i < IDEMPOTENCY_MAX; i++) {
        (void)snprintf(key, sizeof key, "%d", i);
        CHECK_INT(looks(1, "/a", key, i, &e), IDEMPOTENCY_NEW);
    }
    CHECK_INT(looks(1, "/a", "one more", IDEMPOTENCY_MAX, &e), IDEMPOTENCY_NO_MEMORY);
    idempotency_done(&kept);
}

/* Else it would be done once more. */
TEST(without_memory_the_answer_is_lost_and_not_that_it_was_done) {
    uint8_t       body[IDEMPOTENCY_DIGEST] = {0};
    http_response r = {.status = 201, .type = "text/plain", .body = (char[]){"x"}, .body_len = 1};
    idempotency_entry *e = NULL;

    CHECK_INT(looks(1, "/a", "k", 0, &e), IDEMPOTENCY_NEW);
    starve_nth(1);
    idempotency_keep(&kept, e, body, &r);
    CHECK(starve_end());
    CHECK_INT(looks(1, "/a", "k", IDEMPOTENCY_MS - 1, &e), IDEMPOTENCY_LOST);
    CHECK_UINT(kept.bytes, 0);
    CHECK_INT(looks(1, "/a", "k", IDEMPOTENCY_MS, &e), IDEMPOTENCY_NEW);
    idempotency_done(&kept);
}

TEST(all_answers_together_are_bounded) {
    idempotency_entry *e = NULL;
    char               key[16];

    for (int i = 0; i < 40; i++) {
        (void)snprintf(key, sizeof key, "%d", i);
        CHECK_INT(looks(1, "/a", key, i, &e), IDEMPOTENCY_NEW);
        keeps(e, 0, IDEMPOTENCY_BYTES_MAX / 16);
        CHECK(kept.bytes <= IDEMPOTENCY_BYTES_MAX);
    }
    CHECK_INT(looks(1, "/a", "39", 40, &e), IDEMPOTENCY_ANSWERED);
    idempotency_release(e);
    CHECK_INT(looks(1, "/a", "huge", 41, &e), IDEMPOTENCY_NEW);
    keeps(e, 0, IDEMPOTENCY_BYTES_MAX + 1);
    CHECK_INT(looks(1, "/a", "huge", 42, &e), IDEMPOTENCY_LOST); /* none that is kept at all */
    idempotency_done(&kept);
    CHECK_UINT(kept.bytes, 0);
}
