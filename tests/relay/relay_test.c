/* relay_test.c - what is told on one thread is heard as it was, whole and in its order, on another. */
#include "relay.h"
#include "test.h"

#include <pthread.h>
#include <string.h>

enum { MANY = 20000 };

typedef struct ears {
    uint64_t  heard;
    pthread_t thread; /* where the last one was */
    unsigned  last_kind;
} ears;

/* The id that the i-th event names: of any length, and unlike its neighbours'. */
static uint8_t write_id(uint64_t i, char *id) {
    const uint64_t len = i * UINT64_C(0x9e3779b97f4a7c15) >> 40;

    for (uint64_t at = 0; at < len % (DN_ID_MAX + 1); at++) id[at] = (char)('a' + (i + at) % 26);
    return (uint8_t)(len % (DN_ID_MAX + 1));
}

static void hear(void *context, const event *e) {
    ears *to = context;

    to->thread = pthread_self();
    to->last_kind = e->kind;
    if (!e->h) return;
    char          id[DN_ID_MAX];
    const uint8_t len = write_id(to->heard, id);
    CHECK_UINT(e->kind, e->h->kind);
    CHECK_INT(e->t_ms, (int64_t)to->heard * 3);
    CHECK_INT(e->steady_ms, (int64_t)to->heard);
    CHECK_UINT(e->h->n, to->heard + 1);
    CHECK_INT(e->h->duration_ms, (int64_t)to->heard * 7);
    CHECK_UINT(e->h->id_len, len);
    CHECK(len == 0 || memcmp(e->h->id, id, len) == 0);
    to->heard++;
}

/* What it was told by is overwritten: whoever hears it later has to have it all the same. */
static void tell(relay *r, uint64_t i) {
    char         id[DN_ID_MAX];
    dn_happening h = {.kind = DN_HAPPENED_STOPPED,
                      .n = i + 1,
                      .id = id,
                      .id_len = write_id(i, id),
                      .duration_ms = (int64_t)i * 7};
    event        e = {.kind = h.kind, .t_ms = (int64_t)i * 3, .steady_ms = (int64_t)i, .h = &h};

    relay_tell(r, &e);
    memset(id, '!', sizeof id);
    memset(&h, 0xff, sizeof h);
    memset(&e, 0xff, sizeof e);
}

static relay *relay_to(ears *to, bool apart) {
    relay *r;

    CHECK_INT(relay_new(hear, to, apart, &r), DN_OK);
    return r;
}

TEST(what_is_told_is_heard_whole_and_in_its_order_on_another_thread) {
    uint64_t random = test_seed();
    ears     to = {0};
    relay   *r = relay_to(&to, /* apart= */ true);

    for (uint64_t i = 0; i < MANY; i++) {
        tell(r, i);
        if (test_random(&random) % 1000 > 0) continue;
        relay_settle(r);
        CHECK_UINT(to.heard, i + 1);
    }
    relay_settle(r);
    CHECK_UINT(to.heard, MANY);
    CHECK(!pthread_equal(to.thread, pthread_self()));
    relay_free(r);
}

TEST(without_another_thread_each_is_heard_at_once) {
    ears   to = {0};
    relay *r = relay_to(&to, /* apart= */ false);

    for (uint64_t i = 0; i < MANY; i++) {
        tell(r, i);
        CHECK_UINT(to.heard, i + 1);
    }
    CHECK(pthread_equal(to.thread, pthread_self()));
    relay_free(r);
}

/* Every number of every kind, of which each kind has its own. */
static void hear_kinds(void *context, const event *e) {
    uint64_t           *heard = context;
    const dn_happening *h = e->h;

    CHECK_UINT(h->kind, *heard % DN_HAPPENINGS);
    CHECK_INT(h->at_ms, 5);
    CHECK_INT(h->day, 20000);
    CHECK_UINT(h->due, 1439);
    CHECK_UINT(h->attempt, 70000);
    CHECK_UINT(h->status, DN_DAILY_CUTOFF);
    CHECK_UINT(h->outcome, DN_OUTCOME_TIMEOUT);
    CHECK_UINT(h->cls, DN_CLASS_PARSE);
    CHECK_INT(h->starts_on, -3);
    if (h->kind == DN_HAPPENED_TICK) {
        CHECK_INT(e->real_ns, 99);
        CHECK_UINT(h->scanned, 1);
        CHECK_UINT(h->eligible, 2);
        CHECK_UINT(h->enqueued, 3);
        CHECK_UINT(h->cutoffs, 4);
    } else if (h->kind == DN_HAPPENED_IGNORED) {
        CHECK_STR(h->reason, "throttle");
    } else {
        CHECK_INT(h->step_ms, -7);
    }
    ++*heard;
}

TEST(every_number_of_every_kind_is_heard_as_it_was_told) {
    uint64_t heard = 0;
    relay   *r;

    CHECK_INT(relay_new(hear_kinds, &heard, /* apart= */ true, &r), DN_OK);
    for (unsigned kind = 0; kind < DN_HAPPENINGS; kind++) {
        dn_happening h = {.kind = (dn_happening_kind)kind,
                          .at_ms = 5,
                          .day = 20000,
                          .due = 1439,
                          .attempt = 70000,
                          .status = DN_DAILY_CUTOFF,
                          .outcome = DN_OUTCOME_TIMEOUT,
                          .cls = DN_CLASS_PARSE,
                          .starts_on = -3,
                          .step_ms = -7};
        event        e = {.kind = kind, .h = &h};
        if (kind == DN_HAPPENED_IGNORED) h.reason = "throttle";
        if (kind == DN_HAPPENED_TICK) {
            e.real_ns = 99;
            h.scanned = 1;
            h.eligible = 2;
            h.enqueued = 3;
            h.cutoffs = 4;
        }
        relay_tell(r, &e);
    }
    relay_settle(r);
    CHECK_UINT(heard, DN_HAPPENINGS);
    relay_free(r);
}

TEST(what_is_about_no_user_is_heard_behind_all_that_was_told_before) {
    ears   to = {0};
    relay *r = relay_to(&to, /* apart= */ true);

    for (uint64_t i = 0; i < 10; i++) tell(r, i);
    relay_tell(r, &(event){.kind = EVENT_CRASH, .t_ms = 30});
    CHECK_UINT(to.heard, 10);
    CHECK_UINT(to.last_kind, EVENT_CRASH);
    tell(r, 10);
    relay_settle(r);
    CHECK_UINT(to.heard, 11);
    relay_free(r);
}

TEST(a_relay_can_go_with_whatever_was_told) {
    ears to = {0};

    for (uint64_t i = 0; i < 2000; i += 100) {
        relay *r = relay_to(&to, /* apart= */ true);
        to.heard = 0;
        for (uint64_t n = 0; n < i; n++) tell(r, n);
        relay_free(r);
        CHECK(to.heard <= i);
    }
}
