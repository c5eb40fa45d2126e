/* pending_test.c - users on their way to kv: in which order, and each of them once. */
#include "pending.h"

#include "actor/pipe.h"
#include "daily/daily_messages.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 20000 };

/* How often each has come, by its number; and of the last one, when it is due. */
static struct {
    uint32_t times[MOST];
    uint32_t len, due;
} got;

static uint32_t number_of(const dn_kv_set *s) {
    char digits[16] = "";

    CHECK(s->id_len > 1 && s->id_len < sizeof digits && s->id[0] == 'u');
    memcpy(digits, s->id + 1, s->id_len - 1U);
    return (uint32_t)strtoul(digits, NULL, 10);
}

/* A message, in which entries are packed. */
static void takes(const char *body, size_t size) {
    for (size_t at = 0; at < size;) {
        const dn_kv_set *s = (const dn_kv_set *)(const void *)(body + at);
        const uint32_t   n = number_of(s);
        CHECK(n < MOST);
        CHECK_UINT(s->due, n % DN_DAY_MINUTES);
        CHECK(s->due >= got.due);
        got.due = s->due;
        got.times[n]++;
        got.len++;
        at += dn_pipe_stride(sizeof *s + s->id_len);
    }
}

TEST(users_that_are_spread_come_minute_by_minute_each_of_them_once) {
    static const uint32_t counts[] = {1, 2, 1439, 1440, 1441, 2880, 4000, MOST};
    _Alignas(8) char      body[PENDING_BYTES];

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const trace_op users = {.kind = TRACE_USERS,
                                .id = "u",
                                .id_len = 1,
                                .due = TRACE_DUE_SPREAD,
                                .count = counts[i]};
        pending        waits = {0};
        uint32_t       kind;
        size_t         size;

        memset(&got, 0, sizeof got);
        CHECK_INT(pending_add(&waits, &users), DN_OK);
        while (got.len < counts[i]) {
            const uint32_t before = got.len;
            CHECK((size = pending_next(&waits, &kind, body)) > 0);
            CHECK_UINT(kind, MSG_KV_SET);
            takes(body, size);
            for (uint32_t n = before; n < got.len; n++) pending_is_set(&waits);
        }
        CHECK_UINT(pending_next(&waits, &kind, body), 0);
        for (uint32_t n = 0; n < counts[i]; n++) CHECK_UINT(got.times[n], 1);
        pending_free(&waits);
    }
}
