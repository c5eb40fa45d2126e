/* daily_request_test.c - the body and the key of a daily run. */
#include "daily/daily_request.h"

#include "starving.h"
#include "test.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static dn_daily_request request_for(const char *id) {
    return (dn_daily_request){
        .type = DN_REQUEST_RUN,
        .id = id,
        .id_len = strlen(id),
        .day = 20000,
        .due = 510,
        .attempt = 3,
        .context_epoch = 12,
        .deadline_ms = INT64_C(1728028860123),
    };
}

/* The body of its request, to its end. */
static const char *body_of(const dn_daily_request *r, char text[2048]) {
    DN_AUTO(dn_blob) body = dn_daily_request_new(r);

    CHECK(body && dn_blob_len(body) < 2048);
    memcpy(text, dn_blob_bytes_borrow(body), dn_blob_len(body));
    text[dn_blob_len(body)] = '\0';
    return text;
}

TEST(a_request_has_these_fields_in_this_order) {
    const dn_daily_request r = request_for("ada");
    char                   body[2048];

    CHECK_STR(
        body_of(&r, body),
        "{\"type\":\"daily.run\",\"user_id\":\"ada\",\"day\":\"2024-10-04\",\"due\":\"08:30\","
        "\"attempt\":3,\"context_epoch\":12,\"deadline\":\"2024-10-04T08:01:00.123Z\"}");
}

TEST(a_hook_has_its_own_type_and_key) {
    dn_daily_request r = request_for("ada");
    char             body[2048], key[DN_DAILY_KEY_MAX];

    r.type = DN_REQUEST_CUTOFF;
    CHECK(strncmp(body_of(&r, body), "{\"type\":\"daily.cutoff\",", 23) == 0);
    CHECK_UINT(dn_daily_request_key(&r, key), strlen("cutoff:ada:2024-10-04"));
    CHECK_STR(key, "cutoff:ada:2024-10-04");
}

static const char *const odd_ids[] = {"\"",   "\\",
                                      "\\\"", "a\"b\\c/d",
                                      "é",    "漢字 \xf0\x9f\x8c\x99",
                                      "\x7f", "\x01\x1f",
                                      "%00",  "\",\"day\":\"2024-10-05",
                                      "u"};

enum { ODD_IDS = sizeof odd_ids / sizeof odd_ids[0] };

TEST(every_id_comes_back_from_the_json_as_it_was) {
    for (size_t i = 0; i < ODD_IDS; i++) {
        const dn_daily_request r = request_for(odd_ids[i]);
        char                   body[2048];
        json_t                *read = json_loads(body_of(&r, body), JSON_REJECT_DUPLICATES, NULL);
        CHECK_MSG(read, "%s", body);
        CHECK_STR(json_string_value(json_object_get(read, "user_id")), odd_ids[i]);
        json_decref(read);
    }
}

static void comes_back(const dn_daily_request *r) {
    DN_AUTO(dn_blob) body = dn_daily_request_new(r);
    char             id[DN_ID_MAX];
    dn_daily_request read;

    CHECK_INT(dn_daily_request_read(dn_blob_bytes_borrow(body), dn_blob_len(body), id, &read),
              DN_OK);
    CHECK_INT(read.type, r->type);
    CHECK(read.id == id);
    CHECK_UINT(read.id_len, r->id_len);
    CHECK(memcmp(id, r->id, r->id_len) == 0);
    CHECK_INT(read.day, r->day);
    CHECK_UINT(read.due, r->due);
    CHECK_UINT(read.attempt, r->attempt);
    CHECK_UINT(read.context_epoch, r->context_epoch);
}

TEST(a_request_that_is_read_is_the_one_that_was_written) {
    uint64_t random = test_seed();

    for (size_t i = 0; i < ODD_IDS; i++) {
        dn_daily_request r = request_for(odd_ids[i]);
        comes_back(&r);
        r.type = DN_REQUEST_CUTOFF;
        r.day = (dn_day)(test_random(&random) % 60000) - 20000;
        r.due = (uint32_t)(test_random(&random) % DN_DAY_MINUTES);
        r.attempt = (uint32_t)test_random(&random);
        r.context_epoch = UINT32_MAX;
        comes_back(&r);
    }
}

TEST(every_deadline_is_written_as_an_instant_is) {
    static const int64_t instants[] = {0, -1, 999, INT64_C(1728028799999), INT64_C(1728086400000)};
    uint64_t             random = test_seed();

    for (int i = 0; i < 1000; i++) {
        dn_daily_request r = request_for("ada");
        char             body[2048], text[DN_INSTANT_TEXT + 2], *deadline;
        r.deadline_ms = i < 5 ? instants[i] : (int64_t)(test_random(&random) >> 22);
        dn_instant_write(r.deadline_ms, text);
        strcat(text, "\"}");
        deadline = strstr(body_of(&r, body), "\"deadline\":\"");
        CHECK_STR(deadline + strlen("\"deadline\":\""), text);
        CHECK(strstr(body, "\"day\":\"2024-10-04\""));
    }
}

TEST(what_is_not_a_whole_request_is_not_read) {
    const dn_daily_request r = request_for("a\"\\\x01z");
    DN_AUTO(dn_blob) body = dn_daily_request_new(&r);
    const size_t     len = dn_blob_len(body);
    char             id[DN_ID_MAX], text[2048];
    dn_daily_request read;

    memcpy(text, dn_blob_bytes_borrow(body), len);
    for (size_t i = 0; i < len; i++)
        CHECK_INT(dn_daily_request_read(text, i, id, &read), DN_EINVAL);
    text[len] = ' ';
    CHECK_INT(dn_daily_request_read(text, len + 1, id, &read), DN_EINVAL);
    CHECK_INT(dn_daily_request_read(text, len, id, &read), DN_OK);
    text[2] = 'T';
    CHECK_INT(dn_daily_request_read(text, len, id, &read), DN_EINVAL);
}

TEST(the_longest_id_of_the_worst_bytes_fits) {
    char id[DN_ID_MAX + 1], body[2048], key[DN_DAILY_KEY_MAX];

    for (int c = 1; c < 256; c++) {
        memset(id, c, DN_ID_MAX);
        id[DN_ID_MAX] = '\0';
        dn_daily_request r = request_for(id);
        r.attempt = r.context_epoch = UINT32_MAX;
        r.type = DN_REQUEST_CUTOFF;
        (void)body_of(&r, body);
        comes_back(&r);
        CHECK(dn_daily_request_key(&r, key) < DN_DAILY_KEY_MAX);
    }
}

TEST(a_key_is_visible_ascii_and_no_two_ids_share_one) {
    const char *const ids[] = {"a b", "a%20b", "é", "%C3%A9", "a\r\nX: y", "a:b"};
    const char *const keys[] = {"daily:a%20b:2024-10-04",         "daily:a%2520b:2024-10-04",
                                "daily:%C3%A9:2024-10-04",        "daily:%25C3%25A9:2024-10-04",
                                "daily:a%0D%0AX:%20y:2024-10-04", "daily:a:b:2024-10-04"};
    char              key[DN_DAILY_KEY_MAX];

    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        const dn_daily_request r = request_for(ids[i]);
        CHECK_UINT(dn_daily_request_key(&r, key), strlen(keys[i]));
        CHECK_STR(key, keys[i]);
    }
}

TEST(a_request_that_memory_is_refused_for_is_null) {
    const dn_daily_request r = request_for("ada");

    starve_nth(1);
    dn_blob *body = dn_daily_request_new(&r);
    CHECK(starve_end());
    CHECK(!body);
}
