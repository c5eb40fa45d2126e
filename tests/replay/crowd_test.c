/* crowd_test.c - what is gathered for those who count comes to the same as what is told one by one. */
#include "replay/crowd.h"
#include "test.h"

#include <string.h>

enum { LOG_MAX = 4096 };

/* What of an event those who count are told, and how often. */
typedef struct line {
    unsigned        kind;
    int64_t         steady_ms, duration_ms;
    dn_day          day;
    uint32_t        due;
    dn_daily_status status;
    dn_outcome      outcome;
    dn_error_class  cls;
    char            user; /* 0: it is not said which */
} line;

static line   counted[LOG_MAX];
static size_t counted_len, calls;

static line line_of(const event *e) {
    return (line){
        .kind = e->kind,
        .steady_ms = e->steady_ms,
        .duration_ms = e->h->duration_ms,
        .day = e->h->day,
        .due = e->h->due,
        .status = e->h->status,
        .outcome = e->h->outcome,
        .cls = e->h->error_class,
        .user = e->h->id_len ? e->h->id[0] : '\0',
    };
}

static void count(void *context, const event *e, uint64_t times) {
    (void)context;
    calls++;
    CHECK(times > 0);
    for (; times > 0; times--) {
        CHECK(counted_len < LOG_MAX);
        counted[counted_len++] = line_of(e);
    }
}

static bool lines_equal(const line *a, const line *b) {
    return a->kind == b->kind && a->steady_ms == b->steady_ms && a->duration_ms == b->duration_ms &&
           a->day == b->day && a->due == b->due && a->status == b->status &&
           a->outcome == b->outcome && a->cls == b->cls && a->user == b->user;
}

static void add(crowd *c, const event *e) {
    switch (e->kind) {
    case DN_HAPPENED_STOPPED: crowd_add_stopped(c, e); return;
    case DN_HAPPENED_FINALIZED: crowd_add_finalized(c, e); return;
    default: crowd_add(c, e); return;
    }
}

TEST(what_is_counted_is_what_was_told_in_its_order) {
    static line told[LOG_MAX];
    uint64_t    random = test_seed();
    crowd       c = {.count = count};
    int64_t     now_ms = 0;

    for (size_t i = 0; i < LOG_MAX; i++) {
        static const unsigned kinds[] = {DN_HAPPENED_ENQUEUED, DN_HAPPENED_STARTED,
                                         DN_HAPPENED_STOPPED, DN_HAPPENED_FINALIZED};
        const char            name[] = {(char)('a' + test_random(&random) % 26)};
        /* Few of each, so that neighbours are often alike, and all else is often the same but for one thing. */
        dn_happening h = {.kind = (dn_happening_kind)kinds[test_random(&random) % 8 / 2],
                          .registration = i + 1,
                          .id = name,
                          .id_len = 1,
                          .attempt = (uint32_t)i,
                          .day = (dn_day)(test_random(&random) % 8 / 7)};
        now_ms += test_random(&random) % 8 == 0;
        if (h.kind == DN_HAPPENED_FINALIZED) {
            h.due = test_random(&random) % 8 == 0;
            h.status = test_random(&random) % 8 ? DN_DAILY_SUCCESS : DN_DAILY_CUTOFF;
        }
        if (h.kind == DN_HAPPENED_STOPPED) {
            h.outcome = test_random(&random) % 8 ? DN_OUTCOME_OK : DN_OUTCOME_ERROR;
            h.error_class = test_random(&random) % 8 ? DN_CLASS_NONE : DN_CLASS_LLM;
            h.duration_ms = test_random(&random) % 8 ? 500 : 900;
        }
        const event e = {.kind = h.kind, .t_ms = now_ms, .steady_ms = now_ms, .h = &h};
        const bool  alone = test_random(&random) % 16 == 0;
        told[i] = line_of(&e);
        if (!alone) told[i].user = '\0';
        if (alone) crowd_alone(&c, &e);
        else add(&c, &e);
    }
    crowd_settle(&c);
    CHECK_UINT(counted_len, LOG_MAX);
    for (size_t i = 0; i < LOG_MAX; i++) CHECK(lines_equal(&counted[i], &told[i]));
    CHECK(calls < LOG_MAX); /* or nothing was gathered */
}

TEST(those_who_are_alike_are_counted_by_one_call_and_settling_twice_is_settling_once) {
    static const dn_happening_kind kinds[] = {DN_HAPPENED_ENQUEUED, DN_HAPPENED_STARTED,
                                              DN_HAPPENED_STOPPED, DN_HAPPENED_FINALIZED};

    for (int k = 0; k < 4; k++) {
        const dn_happening h = {.kind = kinds[k],
                                .registration = 7,
                                .id = "ada",
                                .id_len = 3,
                                .day = 3,
                                .due = 480,
                                .status = DN_DAILY_SUCCESS,
                                .outcome = DN_OUTCOME_OK,
                                .duration_ms = 500};
        const event        e = {.kind = h.kind, .steady_ms = 5, .t_ms = 5, .h = &h};
        crowd              c = {.count = count};

        calls = counted_len = 0;
        for (int i = 0; i < 64; i++) add(&c, &e);
        CHECK_UINT(calls, 0);
        crowd_settle(&c);
        crowd_settle(&c);
        CHECK_UINT(calls, 1);
        CHECK_UINT(counted_len, 64);
    }
}
