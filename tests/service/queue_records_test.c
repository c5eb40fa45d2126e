/* queue_records_test.c - the queue's queue_records against a plain list of ids.
 * Whoever is first is looked for among all that wait; what is to be remembered is kept per id and day and
 * never forgotten. The queue_records may forget what no longer matters, must not forget anything else, and may take no
 * more steps for it than it has records. */
#include "queue_records.h"

#include "starving.h"
#include "test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A plan asks for an attempt of that registration. */
static int ask_for(queue_records *b, queue_record *r, uint64_t n, dn_day day, uint32_t due,
                   uint32_t context_epoch) {
    if (r->registration != n) records_begin_anew(r, n, due, /* commit= */ 0);
    r->gone = false;
    return records_enqueue(b, r, day, context_epoch);
}

#define SECOND_NS INT64_C(1000000000)
#define RETRY_NS  (600 * SECOND_NS)
#define DAY_NS    (86400 * SECOND_NS)

/* ---- The model ---- */

enum { IDS = 150, DAYS_KNOWN = 8 };

typedef struct known_day {
    dn_day   day;
    uint16_t attempts;
    int64_t  next_ns;
} known_day;

typedef struct known {
    char   *id;
    uint8_t len;
    uint64_t
        hash; /* as it is told to the queue_records: every other id has many that are alike, 0 and 1 too */
    bool          there; /* in the queue_records, for all the model knows */
    record_state  state;
    uint64_t      n, arrival, ticket;
    dn_daily_user user;
    int64_t       keep_ns;
    dn_day        day;
    bool          gone;
    known_day     days[2]; /* the two asked for last */
} known;

typedef struct world {
    queue_records queue_records;
    uint64_t      random, numbers, arrivals, tickets;
    int64_t       mono_ns, now_ms;
    size_t        forgotten;
    known         ids[IDS];
} world;

static uint64_t below(world *w, uint64_t bound) { return test_random(&w->random) % bound; }

static dn_day today(const world *w) { return dn_day_of_ms(w->now_ms); }

static world *world_new(void) {
    world *w = calloc(1, sizeof *w);

    CHECK(w);
    w->random = test_seed();
    w->queue_records.key = (dn_hash_key){test_random(&w->random), test_random(&w->random)};
    w->now_ms = 20000 * DN_DAY_MS + 3600000;
    w->mono_ns = SECOND_NS;
    for (size_t i = 0; i < IDS; i++) {
        known *k = &w->ids[i];
        k->id = calloc(1, DN_ID_MAX);
        CHECK(k->id);
        k->hash = i % 2 == 0 ? below(w, 20) : test_random(&w->random);
        k->len = (uint8_t)(4 + below(w, DN_ID_MAX - 3));
        for (uint8_t c = 0; c < k->len; c++) k->id[c] = (char)test_random(&w->random);
    }
    return w;
}

static void world_free(world *w) {
    records_done(&w->queue_records);
    for (size_t i = 0; i < IDS; i++) free(w->ids[i].id);
    free(w);
}

/* What is known of a day; of the two that are kept the one that was asked for last stays. */
static known_day *known_day_of(known *k, dn_day day) {
    const int64_t first_ns = k->days[0].day == DN_DAY_NONE ? INT64_MIN : k->days[0].next_ns;
    const int64_t second_ns = k->days[1].day == DN_DAY_NONE ? INT64_MIN : k->days[1].next_ns;
    known_day    *older = &k->days[first_ns > second_ns];

    if (first_ns == second_ns) older = &k->days[k->days[0].day > k->days[1].day];
    for (int i = 0; i < 2; i++)
        if (k->days[i].day == day) return &k->days[i];
    *older = (known_day){.day = day, .next_ns = INT64_MIN};
    return older;
}

/* ---- Who is first ---- */

static bool earlier(const known *a, const known *b) {
    const int64_t cutoff_a = dn_daily_cutoff_ms(a->user.due, a->day);
    const int64_t cutoff_b = dn_daily_cutoff_ms(b->user.due, b->day);

    if (cutoff_a != cutoff_b) return cutoff_a < cutoff_b;
    const uint16_t attempts_a = a->days[a->days[1].day == a->day].attempts;
    const uint16_t attempts_b = b->days[b->days[1].day == b->day].attempts;
    if (attempts_a != attempts_b) return attempts_a < attempts_b;
    return a->arrival < b->arrival;
}

static known *first_of(world *w) {
    known *first = NULL;

    for (size_t i = 0; i < IDS; i++) {
        known *k = &w->ids[i];
        if (k->there && k->state == RECORD_QUEUED && (!first || earlier(k, first))) first = k;
    }
    return first;
}

static queue_record *record_of(const world *w, const known *k) {
    return records_find_hashed(&w->queue_records, k->hash, k->id, k->len);
}

static void check_first(world *w) {
    const known *first = first_of(w);

    CHECK_PTR(records_first(&w->queue_records), first ? record_of(w, first) : NULL);
}

/* ---- Whether all is as the list says ---- */

static void check_one(const world *w, const known *k) {
    const queue_record *r = record_of(w, k);

    CHECK_MSG((r != NULL) == k->there, k->there ? "it is forgotten" : "nobody has opened it");
    if (!r) return;
    CHECK(r->id_len == k->len && memcmp(r->id, k->id, k->len) == 0);
    CHECK_INT(r->state, k->state);
    CHECK_UINT(r->registration, k->n);
    CHECK(r->gone == k->gone);
    CHECK_UINT(r->user.due, k->user.due);
    CHECK_INT(r->user.last_day, k->user.last_day);
    CHECK_INT(r->user.starts_on, k->user.starts_on);
    CHECK_PTR(records_of_ticket(&w->queue_records, k->ticket),
              k->state == RECORD_RUNNING ? r : NULL);
    for (int i = 0; i < 2; i++) {
        const known_day  *d = &k->days[i];
        const record_day *there = &r->days[r->days[1].day == d->day];
        if (d->day == DN_DAY_NONE) continue;
        CHECK_INT(there->day, d->day);
        CHECK_INT(there->attempts, d->attempts);
        CHECK_INT(there->next_ns, d->next_ns);
    }
}

static void check_all(world *w) {
    size_t there = 0, queued = 0, running = 0;

    for (size_t i = 0; i < IDS; i++) {
        check_one(w, &w->ids[i]);
        there += w->ids[i].there;
        queued += w->ids[i].there && w->ids[i].state == RECORD_QUEUED;
        running += w->ids[i].there && w->ids[i].state == RECORD_RUNNING;
    }
    CHECK_UINT(records_len(&w->queue_records), there);
    CHECK_UINT(w->queue_records.waiting.len, queued);
    CHECK_UINT(dn_map_len(&w->queue_records.running), running);
    check_first(w);
}

/* ---- What may happen ---- */

static queue_record *open_record(world *w, known *k) {
    queue_record *r = records_open_hashed(&w->queue_records, k->hash, k->id, k->len);

    CHECK(r);
    if (!k->there) {
        const known fresh = {.id = k->id,
                             .len = k->len,
                             .hash = k->hash,
                             .there = true,
                             .days = {{.day = DN_DAY_NONE}, {.day = DN_DAY_NONE}}};
        *k = fresh;
    }
    return r;
}

/* As the planner's wishes come: many for the same few minutes, most for today. */
static void enqueue(world *w, known *k) {
    static const uint32_t dues[] = {0, 20, 600, 601, 720, 1439};

    if (k->there && k->state != RECORD_IDLE) return;
    queue_record  *r = open_record(w, k);
    const dn_day   day = today(w) + (dn_day)below(w, 2);
    const uint32_t due = dues[below(w, sizeof dues / sizeof dues[0])];
    /* Registered anew, or gone and here again. */
    const uint64_t n = !k->n || k->gone || below(w, 8) == 0 ? ++w->numbers : k->n;
    record_day    *d = records_day_of(r, day);
    known_day     *kd = known_day_of(k, day);

    CHECK_INT(d->next_ns, kd->next_ns);
    if (d->next_ns > w->mono_ns) return;
    CHECK_INT(ask_for(&w->queue_records, r, n, day, due, 7), DN_OK);
    /* What is known of a registration stays so, its due too; another one inherits only the throttle. */
    if (k->n != n) {
        k->user = (dn_daily_user){due, DN_DAY_NONE, DN_DAY_NONE};
        k->days[0].attempts = k->days[1].attempts = 0;
    }
    k->n = n;
    k->gone = false;
    k->day = day;
    k->arrival = w->arrivals++;
    k->state = RECORD_QUEUED;
    d->next_ns = kd->next_ns = w->mono_ns + (below(w, 4) > 0 ? RETRY_NS : 0);
}

static void run(world *w, known *k) {
    if (!k || !k->there || k->state != RECORD_QUEUED) return;
    queue_record *r = record_of(w, k);
    CHECK_INT(records_run(&w->queue_records, r, 0), DN_OK);
    CHECK_MSG(r->ticket > w->tickets, "a ticket is given twice");
    k->ticket = w->tickets = r->ticket;
    k->state = RECORD_RUNNING;
}

static void stop(world *w, known *k) {
    if (!k->there || k->state != RECORD_RUNNING) return;
    queue_record *r = records_of_ticket(&w->queue_records, k->ticket);
    CHECK_PTR(r, record_of(w, k));
    const uint16_t attempts = (uint16_t)below(w, 4);
    records_day_of(r, r->day)->attempts = known_day_of(k, k->day)->attempts = attempts;
    if (below(w, 2) == 0) r->keep_ns = k->keep_ns = w->mono_ns + 60 * SECOND_NS;
    records_stop(&w->queue_records, r);
    k->state = RECORD_IDLE;
}

static void unqueue(world *w, known *k) {
    if (!k->there || k->state != RECORD_QUEUED) return;
    records_unqueue(&w->queue_records, record_of(w, k));
    k->state = RECORD_IDLE;
}

/* Another due, a day closed, or gone. */
static void change(world *w, known *k) {
    if (!k->there || !k->n) return;
    queue_record *r = record_of(w, k);
    if (below(w, 2) == 0) k->user.due = (uint32_t)below(w, DN_DAY_MINUTES);
    if (below(w, 4) == 0) k->user.last_day = today(w) - 1 + (dn_day)below(w, 3);
    if (below(w, 6) == 0) k->gone = true;
    records_set_due(&w->queue_records, r, k->user.due, r->commit);
    r->user = k->user;
    r->gone = k->gone;
    if (k->gone) unqueue(w, k);
}

static void happens(world *w) {
    known *k = &w->ids[below(w, IDS)];

    switch (below(w, 12)) {
    case 0: unqueue(w, k); break;
    case 1: run(w, k); break;
    case 2: run(w, first_of(w)); break;
    case 3:
    case 4: stop(w, k); break;
    case 5:
    case 6: change(w, k); break;
    case 7:
        w->mono_ns += (int64_t)below(w, 300) * SECOND_NS;
        w->now_ms += (int64_t)below(w, 3 * 3600000);
        if (below(w, 10) == 0) w->now_ms -= (int64_t)below(w, 2 * DN_DAY_MS);
        break;
    default: enqueue(w, k); break;
    }
}

/* ---- Forgetting ---- */

static bool matters(const world *w, const known *k) {
    if (k->state != RECORD_IDLE || k->keep_ns > w->mono_ns) return true;
    for (int i = 0; i < 2; i++) {
        const known_day *d = &k->days[i];
        const bool       open = k->user.last_day < d->day;
        if (d->day == DN_DAY_NONE) continue;
        if (d->next_ns > w->mono_ns) return true;
        if (d->attempts > 0 && open && !k->gone &&
            (w->now_ms - dn_daily_cutoff_ms(k->user.due, d->day) < DN_DAY_MS ||
             w->mono_ns - d->next_ns < DAY_NS))
            return true;
    }
    return false;
}

/* The model forgets what the queue_records has forgotten, if it was nothing that matters. */
static size_t note_forgotten(world *w) {
    size_t forgotten = 0;

    for (size_t i = 0; i < IDS; i++) {
        known *k = &w->ids[i];
        if (!k->there || record_of(w, k)) continue;
        CHECK_MSG(!matters(w, k), "what matters is forgotten");
        k->there = false;
        forgotten++;
    }
    w->forgotten += forgotten;
    return forgotten;
}

/* From the first record to the last, in slices. */
static void sweep_all(world *w, size_t most) {
    const size_t slices_max = records_len(&w->queue_records) / most + 1;
    bool         more = true;

    while (w->queue_records.sweeping)
        (void)records_sweep(&w->queue_records, IDS, w->mono_ns, w->now_ms);
    (void)note_forgotten(w);
    for (size_t slices = 0; more; slices++) {
        CHECK_MSG(slices < slices_max, "it does not come to an end");
        more = records_sweep(&w->queue_records, most, w->mono_ns, w->now_ms);
        CHECK_MSG(note_forgotten(w) <= most, "a slice is longer than was allowed");
    }
    for (size_t i = 0; i < IDS; i++)
        CHECK_MSG(!w->ids[i].there || matters(w, &w->ids[i]), "what does not matter is kept");
}

TEST(whatever_happens_the_book_is_the_list) {
    world *w = world_new();

    for (int n = 0; n < 60000 / TEST_SLOW_FACTOR; n++) {
        happens(w);
        check_first(w);
        if (n % 8 == 0) check_all(w);
        if (n % 200 == 199) {
            sweep_all(w, 1 + below(w, below(w, 2) ? 5 : 300));
            check_all(w);
        }
    }
    CHECK(w->forgotten > 100);
    world_free(w);
}

TEST(a_sweep_between_which_all_goes_on_forgets_nothing_that_matters) {
    world *w = world_new();

    for (int n = 0; n < 60000 / TEST_SLOW_FACTOR; n++) {
        happens(w);
        (void)records_sweep(&w->queue_records, 1 + below(w, 20), w->mono_ns, w->now_ms);
        (void)note_forgotten(w);
        if (n % 8 == 0) check_all(w);
    }
    CHECK(w->forgotten > 100);
    world_free(w);
}

TEST(those_that_wait_go_by_earliest_cutoff_then_fewest_attempts_then_first_come) {
    world *w = world_new();

    for (int round = 0; round < 200 / TEST_SLOW_FACTOR; round++) {
        const known *before = NULL;
        for (size_t i = 0; i < IDS; i++) {
            known *k = &w->ids[below(w, IDS)];
            if (k->there && k->state != RECORD_IDLE) continue;
            /* Of the attempts before, whatever the day will be. */
            queue_record *r = open_record(w, k);
            for (dn_day day = today(w); day <= today(w) + 1; day++)
                records_day_of(r, day)->attempts = known_day_of(k, day)->attempts =
                    (uint16_t)below(w, 3);
            enqueue(w, k);
        }
        for (uint64_t n = below(w, 30); n > 0; n--) change(w, &w->ids[below(w, IDS)]);
        for (known *k; (k = first_of(w)); before = k) {
            CHECK_PTR(records_first(&w->queue_records), record_of(w, k));
            CHECK(!before || earlier(before, k));
            run(w, k);
        }
        CHECK_PTR(records_first(&w->queue_records), NULL);
        for (size_t i = 0; i < IDS; i++) stop(w, &w->ids[i]);
        w->mono_ns += RETRY_NS;
        w->now_ms += DN_DAY_MS / 3;
    }
    world_free(w);
}

TEST(throttle_and_running_mark_stay_with_the_id_when_it_is_registered_again) {
    queue_records b = {0};
    queue_record *r = records_open(&b, "ada", 3);

    CHECK(r);
    CHECK_INT(ask_for(&b, r, /* n= */ 1, /* day= */ 20000, /* due= */ 720, 0), DN_OK);
    records_day_of(r, 20000)->next_ns = 5 * SECOND_NS;
    CHECK_INT(records_run(&b, r, 0), DN_OK);
    const uint64_t ticket = r->ticket;
    r->gone = true;
    /* It runs still, for whoever asks by its id. */
    CHECK_PTR(records_open(&b, "ada", 3), r);
    CHECK_INT(r->state, RECORD_RUNNING);
    records_stop(&b, records_of_ticket(&b, ticket));
    CHECK_PTR(records_of_ticket(&b, ticket), NULL);
    CHECK_INT(records_day_of(r, 20000)->next_ns, 5 * SECOND_NS);
    CHECK_INT(ask_for(&b, r, /* n= */ 2, 20000, 720, 0), DN_OK);
    CHECK(!r->gone);
    CHECK_INT(records_day_of(r, 20000)->next_ns, 5 * SECOND_NS);
    CHECK_UINT(r->registration, 2);
    records_done(&b);
}

TEST(an_epoch_that_a_plan_does_not_know_yet_stays) {
    queue_records b = {0};
    queue_record *r = records_open(&b, "ada", 3);

    CHECK(r);
    CHECK_INT(ask_for(&b, r, /* n= */ 1, /* day= */ 20000, /* due= */ 720,
                      /* context_epoch= */ 3),
              DN_OK);
    records_unqueue(&b, r);
    CHECK_INT(ask_for(&b, r, 1, 20000, 720, /* context_epoch= */ 2), DN_OK);
    CHECK_UINT(r->context_epoch, 3);
    records_unqueue(&b, r);
    CHECK_INT(ask_for(&b, r, /* n= */ 2, 20000, 720, /* context_epoch= */ 0), DN_OK);
    CHECK_UINT(r->context_epoch, 0);
    records_done(&b);
}

TEST(a_step_back_to_the_day_before_and_on_again_finds_both_throttles) {
    queue_records b = {0};
    queue_record *r = records_open(&b, "ada", 3);

    CHECK(r);
    for (dn_day day = 20000; day <= 20002; day++) records_day_of(r, day)->next_ns = day;
    CHECK_INT(records_day_of(r, 20001)->next_ns, 20001);
    CHECK_INT(records_day_of(r, 20002)->next_ns, 20002);
    CHECK_MSG(records_day_of(r, 20003)->next_ns == INT64_MIN,
              "a day that is new waits for nothing");
    CHECK_INT(records_day_of(r, 20002)->next_ns, 20002);
    records_done(&b);
}

/* The clock was a day ahead for a while, and is a day back then: what was asked for before is throttled still. */
TEST(of_three_days_the_one_that_was_asked_for_first_is_forgotten) {
    queue_records b = {0};
    queue_record *r = records_open(&b, "ada", 3);

    CHECK(r);
    records_day_of(r, 20001)->next_ns = 1;
    records_day_of(r, 20000)->next_ns = 2;
    records_day_of(r, 19999)->next_ns = 3;
    CHECK_INT(records_day_of(r, 20000)->next_ns, 2);
    CHECK_INT(records_day_of(r, 19999)->next_ns, 3);
    records_done(&b);
}

/* One of each kind of what is kept, and the instant from which it is not. */
TEST(attempts_are_forgotten_a_day_after_the_cutoff_and_a_throttle_when_it_is_over) {
    const int64_t cutoff_ms = dn_daily_cutoff_ms(720, 20000), mono_ns = 2 * DAY_NS;
    const struct {
        uint16_t attempts;
        int64_t  next_ns, keep_ns; /* from now */
        int64_t  now_ms;
        dn_day   last_day;
        bool     gone, kept;
    } cases[] = {
        {1, -DAY_NS, 0, cutoff_ms + DN_DAY_MS - 1, DN_DAY_NONE, false, true},
        {1, -DAY_NS, 0, cutoff_ms + DN_DAY_MS, DN_DAY_NONE, false, false},
        {1, 1 - DAY_NS, 0, cutoff_ms + 9 * DN_DAY_MS, DN_DAY_NONE, false, true},
        {0, 1 - DAY_NS, 0, cutoff_ms - 1, DN_DAY_NONE, false, false},
        {1, 1 - DAY_NS, 0, cutoff_ms - 1, 20000, false, false},
        {1, -DAY_NS, 0, cutoff_ms - 1, 19999, false, true},
        {1, 1 - DAY_NS, 0, cutoff_ms - 1, DN_DAY_NONE, true, false},
        {0, 1, 0, cutoff_ms + 9 * DN_DAY_MS, 20000, true, true},
        {0, 0, 0, cutoff_ms, DN_DAY_NONE, false, false},
        {0, 0, 1, cutoff_ms + 9 * DN_DAY_MS, 20000, true, true},
        {0, 0, 0, cutoff_ms, DN_DAY_NONE, false, false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        queue_records b = {0};
        queue_record *r = records_open(&b, "ada", 3);
        CHECK(r);
        CHECK_INT(ask_for(&b, r, 1, 20000, 720, 0), DN_OK);
        CHECK_MSG(!records_sweep(&b, 1000, 0, cutoff_ms + 9 * DN_DAY_MS), "all in one go");
        CHECK_MSG(records_find(&b, "ada", 3), "who waits is kept");
        CHECK_INT(records_run(&b, r, 0), DN_OK);
        CHECK(!records_sweep(&b, 1000, 0, cutoff_ms + 9 * DN_DAY_MS));
        CHECK_MSG(records_find(&b, "ada", 3), "who runs is kept");
        records_stop(&b, r);
        r->user.last_day = cases[i].last_day;
        r->gone = cases[i].gone;
        r->keep_ns = mono_ns + cases[i].keep_ns;
        records_day_of(r, 20000)->attempts = cases[i].attempts;
        records_day_of(r, 20000)->next_ns = mono_ns + cases[i].next_ns;
        CHECK(!records_sweep(&b, 1000, mono_ns, cases[i].now_ms));
        CHECK_MSG((records_find(&b, "ada", 3) != NULL) == cases[i].kept, "case %zu", i);
        records_done(&b);
    }
}

/* The first day may be brought forward again, and then its attempts are counted on. */
TEST(attempts_are_kept_while_the_first_day_is_put_off) {
    queue_records b = {0};
    queue_record *r = records_open(&b, "ada", 3);

    CHECK(r);
    CHECK_INT(ask_for(&b, r, 1, 20000, 720, 0), DN_OK);
    CHECK_INT(records_run(&b, r, 0), DN_OK);
    records_day_of(r, 20000)->attempts = 3;
    records_stop(&b, r);
    r->user.starts_on = 20001;
    CHECK(!records_sweep(&b, 1000, 2 * DAY_NS, dn_daily_cutoff_ms(720, 20000)));
    CHECK(records_find(&b, "ada", 3) != NULL);
    records_done(&b);
}

TEST(a_record_newer_than_every_plan_is_kept) {
    queue_records b = {.planned = 4};
    queue_record *r = records_open(&b, "ada", 3);

    CHECK(r);
    records_begin_anew(r, /* n= */ 1, /* due= */ 720, /* commit= */ 5);
    r->gone = true;
    CHECK(!records_sweep(&b, 1000, 600 * SECOND_NS, 0));
    CHECK(records_find(&b, "ada", 3) != NULL);
    b.planned = 5;
    CHECK(!records_sweep(&b, 1000, 1200 * SECOND_NS, 0));
    CHECK(records_find(&b, "ada", 3) == NULL);
    records_done(&b);
}

TEST(an_empty_book_has_nobody_and_nothing_to_forget) {
    queue_records b = {0};

    CHECK_PTR(records_find(&b, "ada", 3), NULL);
    CHECK_PTR(records_first(&b), NULL);
    CHECK_PTR(records_of_ticket(&b, 1), NULL);
    CHECK(!records_sweep(&b, 10, 0, 0));
    records_done(&b);
}

TEST(a_ticket_is_nobody_elses_however_long_the_one_before_runs) {
    enum { RUNNING = 500 };
    queue_records b = {.tickets = UINT64_C(1) << 40};
    queue_record *r[RUNNING];
    char          id[16];
    uint64_t      last = b.tickets;

    for (int i = 0; i < RUNNING; i++) {
        snprintf(id, sizeof id, "u%d", i);
        r[i] = records_open(&b, id, (uint8_t)strlen(id));
        CHECK(r[i]);
    }
    /* Every other one goes on running, while the rest come and go. */
    for (int turn = 0; turn < 40 / TEST_SLOW_FACTOR + 2; turn++)
        for (int i = 0; i < RUNNING; i++) {
            if (r[i]->state == RECORD_RUNNING && i % 2 == 0) continue;
            if (r[i]->state == RECORD_RUNNING) records_stop(&b, r[i]);
            CHECK_INT(ask_for(&b, r[i], (uint64_t)i + 1, 20000, 720, 0), DN_OK);
            CHECK_INT(records_run(&b, r[i], 0), DN_OK);
            CHECK(r[i]->ticket > last && r[i]->ticket < last + 2 * RUNNING + 64);
            last = r[i]->ticket;
            CHECK_PTR(records_of_ticket(&b, last + 1), NULL);
        }
    for (int i = 0; i < RUNNING; i++) CHECK_PTR(records_of_ticket(&b, r[i]->ticket), r[i]);
    CHECK_UINT(dn_map_len(&b.running), RUNNING);
    records_done(&b);
}

/* Ten minutes are ten sweeps: only at the last is anybody looked at. */
TEST(who_is_throttled_costs_a_sweep_nothing_until_the_throttle_is_over) {
    queue_records b = {0};
    char          id[16];

    (void)records_sweep(&b, 1000, 1000 * RETRY_NS, 0);
    for (uint64_t i = 1; i <= 100; i++) {
        const int     len = snprintf(id, sizeof id, "u%d", (int)i);
        queue_record *r = records_open(&b, id, (uint8_t)len);
        CHECK(r);
        CHECK_INT(ask_for(&b, r, i, 20000, 720, 0), DN_OK);
        records_day_of(r, 20000)->next_ns = 1001 * RETRY_NS;
        CHECK_INT(records_run(&b, r, 0), DN_OK);
        records_stop(&b, r);
    }
    for (int64_t s = 60; s < 600; s += 60)
        CHECK_MSG(!records_sweep(&b, 1, 1000 * RETRY_NS + s * SECOND_NS, 0),
                  "somebody is looked at");
    CHECK_UINT(records_len(&b), 100);
    CHECK(!records_sweep(&b, 101, 1001 * RETRY_NS, 0));
    CHECK_UINT(records_len(&b), 0);
    records_done(&b);
}

/* ---- Memory ---- */

/* As enqueue and run; false: there was no memory, and all is as it was. */
static bool enqueue_and_run_starving(world *w, known *k) {
    queue_record *r = records_open_hashed(&w->queue_records, k->hash, k->id, k->len);

    if (!r) return false;
    CHECK_PTR(open_record(w, k), r);
    records_day_of(r, 20000)->next_ns = known_day_of(k, 20000)->next_ns = 1;
    if (ask_for(&w->queue_records, r, w->numbers + 1, 20000, 720, 0) < 0) return false;
    k->n = ++w->numbers;
    k->day = 20000;
    k->user = (dn_daily_user){720, DN_DAY_NONE, DN_DAY_NONE};
    k->arrival = w->arrivals++;
    k->state = RECORD_QUEUED;
    if (w->numbers % 2) return true;
    if (records_run(&w->queue_records, r, 0) < 0) return false;
    CHECK_MSG(r->ticket > w->tickets, "a ticket is given twice");
    k->ticket = w->tickets = r->ticket;
    k->state = RECORD_RUNNING;
    return true;
}

TEST(whichever_allocation_fails_the_book_is_as_it_was_and_goes_on) {
    uint64_t nth = 0;
    bool     starved;

    do {
        world *w = world_new();
        starved = false;
        starve_nth(++nth);
        for (size_t i = 0; i < IDS; i++) {
            known *k = &w->ids[i];
            if (enqueue_and_run_starving(w, k)) continue;
            CHECK_MSG(starve_end() && !starved, "refused, and there was memory");
            starved = true;
            const queue_record *r = record_of(w, k);
            if (r) k->n = r->registration; /* it has its registration, and no place */
            if (r) k->user = r->user;
            check_all(w);
            CHECK_PTR(records_of_ticket(&w->queue_records, w->tickets + 1), NULL);
            if (k->state == RECORD_QUEUED) run(w, k);
            else CHECK(enqueue_and_run_starving(w, k));
        }
        /* A table to find by that cannot grow goes on as it is, and refuses nobody. */
        if (!starved) starved = starve_end();
        check_all(w);
        world_free(w);
    } while (starved && nth < 1000);
    CHECK_MSG(nth > 10 && nth < 1000, "%" PRIu64 " allocations", nth);
}

TEST(a_record_that_is_there_is_opened_without_memory) {
    queue_records b = {0};
    char          id[16];

    for (int i = 0; i < 200; i++) {
        snprintf(id, sizeof id, "u%d", i);
        const uint8_t len = (uint8_t)strlen(id);
        queue_record *r = records_open(&b, id, len);
        CHECK(r);
        starve_nth(1);
        CHECK_PTR(records_open(&b, id, len), r);
        CHECK(!starve_end());
    }
    records_done(&b);
}
