/* telemetry_test.c - the bus: who hears what, who is no longer called, and that no emitter pays for it. */
#define _GNU_SOURCE /* syscall */
#include "diurnal/telemetry.h"
#include "obs/log.h"

#include "test.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define JOB_STOP(MEASUREMENT, METADATA)                                                            \
    MEASUREMENT(REAL, duration_ms)                                                                 \
    MEASUREMENT(INTEGER, attempts)                                                                 \
    METADATA(TEXT, result)                                                                         \
    METADATA(TEXT, error_class)
DN_EVENT_DECLARE(job_stop, JOB_STOP)
DN_EVENT_DEFINE(job_stop, "sched.job.stop", JOB_STOP)

#define NUMBER(MEASUREMENT, METADATA) MEASUREMENT(INTEGER, number)
DN_EVENT_DECLARE(job, NUMBER)
DN_EVENT_DEFINE(job, "sched.job", NUMBER)
DN_EVENT_DECLARE(jobs_x, NUMBER)
DN_EVENT_DEFINE(jobs_x, "sched.jobs.x", NUMBER)
DN_EVENT_DECLARE(store, NUMBER)
DN_EVENT_DEFINE(store, "store", NUMBER)

#define WORK_START(MEASUREMENT, METADATA) METADATA(TEXT, user)
#define WORK_STOP(MEASUREMENT, METADATA)  METADATA(TEXT, result)
DN_SPAN_DECLARE(work, WORK_START, WORK_STOP)
DN_SPAN_DEFINE(work, "sched.work", WORK_START, WORK_STOP)
DN_SPAN_DECLARE(bare, DN_NO_FIELDS, DN_NO_FIELDS)
DN_SPAN_DEFINE(bare, "sched.bare", DN_NO_FIELDS, DN_NO_FIELDS)

/* ---- A handler that writes down what it hears, one line an event ---- */

typedef struct heard {
    char   text[4096];
    size_t len;
    int    answer;
} heard;

static void say(heard *h, const char *text) {
    h->len += (size_t)snprintf(h->text + h->len, sizeof h->text - h->len, "%s", text);
    CHECK(h->len < sizeof h->text);
}

static int write_down(void *context, const dn_event *event, const dn_value *values) {
    heard *h = context;
    char   value[100];

    say(h, event->name);
    for (size_t i = 0; i < event->fields_len; i++) {
        const dn_field *f = &event->fields[i];
        switch (f->type) {
        case DN_INTEGER:
            (void)snprintf(value, sizeof value, "%lld", (long long)values[i].integer);
            break;
        case DN_REAL: (void)snprintf(value, sizeof value, "%g", values[i].real); break;
        case DN_TEXT:
            (void)snprintf(value, sizeof value, "%s", values[i].text ? values[i].text : "-");
            break;
        }
        say(h, f->role == DN_MEASUREMENT ? " " : " :");
        say(h, f->name);
        say(h, "=");
        say(h, value);
    }
    say(h, "\n");
    return h->answer;
}

static dn_telemetry_id attach(const char *prefix, dn_telemetry_fn *fn, void *context) {
    dn_telemetry_id id = 0;

    CHECK_INT(dn_telemetry_attach("tester", prefix, fn, context, &id), DN_OK);
    CHECK(id != 0);
    return id;
}

static void emit_all(void) {
    DN_EMIT(job_stop, .duration_ms = 1, .attempts = 1, .result = "ok", .error_class = NULL);
    DN_EMIT(job, .number = 1);
    DN_EMIT(jobs_x, .number = 1);
    DN_EMIT(store, .number = 1);
}

/* ---- Events and their values ---- */

TEST(an_event_arrives_with_its_values_their_types_and_their_roles) {
    heard h = {0};

    (void)attach("sched.job", write_down, &h);
    DN_EMIT(job_stop, .result = "error", .error_class = NULL, .attempts = -3, .duration_ms = 12.5);
    CHECK_STR(h.text, "sched.job.stop duration_ms=12.5 attempts=-3 :result=error :error_class=-\n");
}

TEST(who_emits_on_one_thread_is_heard_in_that_order) {
    heard h = {0};

    (void)attach("", write_down, &h);
    DN_EMIT(store, .number = 1);
    DN_EMIT(job, .number = 2);
    DN_EMIT(store, .number = 3);
    CHECK_STR(h.text, "store number=1\nsched.job number=2\nstore number=3\n");
}

static int64_t computed;
static int64_t compute(void) { return ++computed; }

TEST(values_are_computed_only_if_somebody_listens) {
    heard h = {0};

    DN_EMIT(job, .number = compute());
    CHECK_INT(computed, 0);
    CHECK(!dn_event_wanted(&job));
    const dn_telemetry_id id = attach("sched.job", write_down, &h);
    CHECK(dn_event_wanted(&job));
    CHECK(!dn_event_wanted(&store));
    DN_EMIT(job, .number = compute());
    CHECK_INT(computed, 1);
    CHECK_INT(dn_telemetry_detach(id), DN_OK);
    CHECK(!dn_event_wanted(&job));
}

TEST(an_event_is_found_by_its_whole_name_and_a_value_by_its_name_and_type) {
    CHECK_PTR(dn_event_find("sched.job.stop"), &job_stop);
    CHECK_PTR(dn_event_find("sched.job"), &job);
    CHECK_PTR(dn_event_find("sched"), NULL);
    CHECK_INT(dn_event_field(&job_stop, "duration_ms", DN_REAL), 0);
    CHECK_INT(dn_event_field(&job_stop, "error_class", DN_TEXT), 3);
    CHECK_INT(dn_event_field(&job_stop, "error_class", DN_INTEGER), DN_EINVAL);
    CHECK_INT(dn_event_field(&job_stop, "error", DN_TEXT), DN_EINVAL);
}

/* ---- Prefixes ---- */

static void check_heard(const char *prefix, const char *expected) {
    heard                 h = {0};
    const dn_telemetry_id id = attach(prefix, write_down, &h);
    char                  names[200] = "";

    emit_all();
    CHECK_INT(dn_telemetry_detach(id), DN_OK);
    for (const char *line = h.text; *line; line = strchr(line, '\n') + 1) {
        const size_t len = strlen(names);
        (void)snprintf(names + len, sizeof names - len, "%.*s ", (int)strcspn(line, " "), line);
    }
    CHECK_STR(names, expected);
}

TEST(a_prefix_is_whole_segments) {
    check_heard("", "sched.job.stop sched.job sched.jobs.x store ");
    check_heard("sched", "sched.job.stop sched.job sched.jobs.x ");
    check_heard("sched.job", "sched.job.stop sched.job ");
    check_heard("sched.job.stop", "sched.job.stop ");
    check_heard("sched.jo", "");
    check_heard("sched.job.stop.more", "");
}

TEST(what_cannot_begin_a_name_is_refused) {
    static const char *const wrong[] = {".",     ".sched",    "sched.",    "sched..job",
                                        "Sched", "sched job", "sched-job", "\xc3\xa4"};
    char                     too_long[DN_EVENT_NAME_MAX + 2];
    dn_telemetry_id          id = 77;

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK_MSG(dn_telemetry_attach("n", wrong[i], write_down, NULL, &id) == DN_EINVAL, "%s",
                  wrong[i]);
    memset(too_long, 'a', sizeof too_long - 1);
    too_long[sizeof too_long - 1] = '\0';
    CHECK_INT(dn_telemetry_attach("n", too_long, write_down, NULL, &id), DN_EINVAL);
    CHECK_INT(dn_telemetry_attach(too_long, "", write_down, NULL, &id), DN_EINVAL);
    CHECK_UINT(id, 77);
    CHECK_INT(dn_telemetry_attach(too_long + 1, too_long + 1, write_down, NULL, &id), DN_OK);
}

static const dn_field late_fields[] = {{"number", DN_INTEGER, DN_MEASUREMENT}};
static dn_event       late = {.name = "late.event", .fields = late_fields, .fields_len = 1};

TEST(an_event_that_is_new_to_the_bus_is_heard_by_who_was_attached_before) {
    heard          all = {0}, own = {0}, other = {0};
    const dn_value value = {.integer = 5};

    (void)attach("", write_down, &all);
    (void)attach("late", write_down, &own);
    (void)attach("sched", write_down, &other);
    dn_event_register_(&late); /* as the constructor of a library loaded later does */
    dn_event_emit(&late, &value);
    CHECK_STR(all.text, "late.event number=5\n");
    CHECK_STR(own.text, "late.event number=5\n");
    CHECK_STR(other.text, "");
}

TEST_ABORTS(an_event_whose_name_no_prefix_could_match_is_a_bug, "name_is_sound") {
    late.name = "late.";
    dn_event_register_(&late);
}

/* ---- Attach and detach ---- */

TEST(who_is_detached_is_not_called_and_the_others_are) {
    heard                 a = {0}, b = {0};
    const dn_telemetry_id id = attach("", write_down, &a);

    (void)attach("", write_down, &b);
    CHECK_INT(dn_telemetry_detach(id), DN_OK);
    CHECK_INT(dn_telemetry_detach(id), DN_OK); /* once more is no error */
    DN_EMIT(store, .number = 1);
    CHECK_STR(a.text, "");
    CHECK_STR(b.text, "store number=1\n");
}

TEST(one_handler_too_many_is_refused_and_one_that_goes_makes_room) {
    heard           h[DN_TELEMETRY_HANDLERS_MAX + 1] = {0};
    dn_telemetry_id ids[DN_TELEMETRY_HANDLERS_MAX], id = 0;

    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < DN_TELEMETRY_HANDLERS_MAX; i++)
            ids[i] = attach("store", write_down, &h[i]);
        CHECK_INT(dn_telemetry_attach("last", "", write_down, &h[DN_TELEMETRY_HANDLERS_MAX], &id),
                  DN_EFULL);
        DN_EMIT(store, .number = round);
        for (size_t i = 0; i < DN_TELEMETRY_HANDLERS_MAX; i++) {
            CHECK_UINT(h[i].len, strlen("store number=0\n"));
            h[i].len = 0;
            CHECK_INT(dn_telemetry_detach(ids[i]), DN_OK);
        }
    }
    CHECK_INT(dn_telemetry_attach("last", "", write_down, &h[0], &id), DN_OK);
}

TEST(an_old_id_does_not_detach_who_came_after_it) {
    heard                 a = {0}, b = {0};
    const dn_telemetry_id first = attach("", write_down, &a);

    CHECK_INT(dn_telemetry_detach(first), DN_OK);
    (void)attach("", write_down, &b); /* in the same place, most likely */
    CHECK_INT(dn_telemetry_detach(first), DN_OK);
    DN_EMIT(store, .number = 1);
    CHECK_STR(b.text, "store number=1\n");
}

/* ---- Handlers that fail, go, or emit ---- */

static char logged[1000];
static int  logged_lines;

static void keep_line(void *context, dn_log_level level, const char *event, const char *text) {
    (void)context;
    logged_lines++;
    (void)snprintf(logged, sizeof logged, "%d %s %s", level, event, text);
}

TEST(a_handler_that_fails_is_detached_and_said_and_the_others_go_on) {
    heard failing = {.answer = DN_EFULL}, good = {0};

    dn_log_to(keep_line, NULL);
    (void)attach("store", write_down, &failing);
    (void)attach("store", write_down, &good);
    DN_EMIT(store, .number = 1);
    DN_EMIT(store, .number = 2);
    CHECK_STR(failing.text, "store number=1\n");
    CHECK_STR(good.text, "store number=1\nstore number=2\n");
    CHECK_INT(logged_lines, 1);
    CHECK_STR(logged, "2 telemetry.detached the handler tester failed at store and is called no "
                      "more: the mailbox is full");
}

typedef struct leaver {
    dn_telemetry_id id;
    int             calls, detach_said;
} leaver;

static int leave(void *context, const dn_event *event, const dn_value *values) {
    leaver *l = context;

    (void)event, (void)values;
    l->calls++;
    l->detach_said = dn_telemetry_detach(l->id);
    return DN_OK;
}

TEST(a_handler_may_detach_itself_and_is_told_that_it_still_runs) {
    leaver l = {0};
    heard  h = {0};

    l.id = attach("store", leave, &l);
    (void)attach("store", write_down, &h);
    DN_EMIT(store, .number = 1);
    DN_EMIT(store, .number = 2);
    CHECK_INT(l.calls, 1);
    CHECK_INT(l.detach_said, DN_PENDING);
    CHECK_INT(dn_telemetry_detach(l.id), DN_OK);
    CHECK_STR(h.text, "store number=1\nstore number=2\n");
}

static int attach_another(void *context, const dn_event *event, const dn_value *values) {
    (void)event, (void)values;
    (void)attach("store", write_down, context);
    return DN_EFAILED; /* and goes */
}

TEST(a_handler_may_attach_another) {
    heard h = {0};

    dn_log_threshold(DN_LOG_NONE);
    (void)attach("store", attach_another, &h);
    DN_EMIT(store, .number = 1);
    h.len = 0; /* whether it hears the event under way is not promised */
    DN_EMIT(store, .number = 2);
    CHECK_STR(h.text, "store number=2\n");
}

static int emit_more(void *context, const dn_event *event, const dn_value *values) {
    int *calls = context;

    (void)event;
    ++*calls;
    DN_EMIT(store, .number = values[0].integer + 1);
    return DN_OK;
}

TEST(what_a_handler_emits_is_heard_by_the_others_and_not_by_itself) {
    int   calls = 0;
    heard h = {0};

    const dn_telemetry_id id = attach("store", emit_more, &calls);
    (void)attach("store", write_down, &h);
    DN_EMIT(store, .number = 1);
    CHECK_INT(calls, 1);
    CHECK_STR(h.text, "store number=2\nstore number=1\n");
    DN_EMIT(store, .number = 5);
    CHECK_INT(calls, 2);
    CHECK_INT(dn_telemetry_detach(id), DN_OK);
}

/* ---- Spans ---- */

enum { MS = 1000000 };

TEST(a_span_is_a_start_and_a_stop_with_the_time_between) {
    heard   h = {0};
    dn_span span;

    (void)attach("sched.work", write_down, &h);
    DN_SPAN_START(work, &span, 5 * MS, .user = "ada");
    DN_SPAN_STOP(work, &span, 7 * MS + MS / 4, .result = "ok");
    CHECK_STR(h.text, "sched.work.start monotonic_ns=5000000 :user=ada\n"
                      "sched.work.stop duration_ms=2.25 :result=ok\n");
}

TEST(a_span_that_fails_says_why_and_is_over) {
    heard   h = {0};
    dn_span span;

    (void)attach("sched.work.exception", write_down, &h);
    (void)attach("sched.work.stop", write_down, &h);
    DN_SPAN_START(work, &span, 0, .user = "ada");
    DN_SPAN_EXCEPTION(work, &span, 3 * MS, DN_EIO, "the disk is gone", .user = "ada");
    DN_SPAN_STOP(work, &span, 4 * MS, .result = "ok");
    DN_SPAN_EXCEPTION(work, &span, 5 * MS, DN_EIO, "again", .user = "ada");
    CHECK_STR(h.text, "sched.work.exception duration_ms=3 :reason=-12 :why=the disk is gone "
                      ":user=ada\n");
}

TEST(a_span_that_never_began_has_no_end) {
    heard   h = {0};
    dn_span span = {0};

    (void)attach("", write_down, &h);
    DN_SPAN_STOP(work, &span, 4 * MS, .result = "ok");
    CHECK_STR(h.text, "");
}

TEST(spans_lie_in_and_across_each_other) {
    heard   h = {0};
    dn_span outer, inner, across;

    (void)attach("sched.bare", write_down, &h);
    (void)attach("sched.work.stop", write_down, &h);
    DN_SPAN_START(work, &outer, 0, .user = "ada");
    DN_SPAN_START(bare, &inner, 1 * MS);
    DN_SPAN_START(work, &across, 2 * MS, .user = "bob");
    DN_SPAN_STOP(bare, &inner, 3 * MS);
    DN_SPAN_STOP(work, &outer, 4 * MS, .result = "outer");
    DN_SPAN_STOP(work, &across, 5 * MS, .result = "across");
    CHECK_STR(h.text, "sched.bare.start monotonic_ns=1000000\n"
                      "sched.bare.stop duration_ms=2\n"
                      "sched.work.stop duration_ms=4 :result=outer\n"
                      "sched.work.stop duration_ms=3 :result=across\n");
}

TEST(who_begins_to_listen_in_the_middle_of_a_span_hears_its_whole_length) {
    heard   h = {0};
    dn_span span;

    DN_SPAN_START(work, &span, 0, .user = "ada");
    (void)attach("sched.work", write_down, &h);
    DN_SPAN_STOP(work, &span, 9 * MS, .result = "ok");
    CHECK_STR(h.text, "sched.work.stop duration_ms=9 :result=ok\n");
}

/* ---- Threads ---- */

/* So many that some find no row. */
enum { EMITTERS = 3, EMITTERS_MAX = 12, ROUNDS = 400 / TEST_SLOW_FACTOR };

static atomic_bool over;

/* Emits until it is over; answers how often. */
static void *emit_on(void *context) {
    int64_t *emitted = context;

    for (*emitted = 0; !atomic_load_explicit(&over, memory_order_relaxed); ++*emitted) {
        DN_EMIT(store, .number = *emitted);
        DN_EMIT(jobs_x, .number = *emitted);
    }
    return NULL;
}

typedef struct emitters {
    pthread_t threads[EMITTERS_MAX];
    int64_t   emitted[EMITTERS_MAX];
    int       len;
} emitters;

static void emitters_begin(emitters *e, int len) {
    e->len = len;
    for (int i = 0; i < len; i++)
        CHECK_INT(pthread_create(&e->threads[i], NULL, emit_on, &e->emitted[i]), 0);
}

static int64_t emitters_end(emitters *e) {
    int64_t emitted = 0;

    over = true;
    for (int i = 0; i < e->len; i++) {
        CHECK_INT(pthread_join(e->threads[i], NULL), 0);
        emitted += e->emitted[i];
    }
    return emitted;
}

/* alive is plain on purpose: who attaches and detaches writes it, who is called reads it, and the thread sanitizer
 * sees whether a call reaches into the time before or after. */
typedef struct guest {
    const char *event;
    bool        alive;
    int         fails_at;
    atomic_int  calls;
} guest;

static int visit(void *context, const dn_event *event, const dn_value *values) {
    guest *g = context;

    (void)values;
    CHECK_MSG(g->alive, "called while it is not attached");
    CHECK_STR(event->name, g->event);
    const int calls = atomic_fetch_add(&g->calls, 1) + 1;
    return g->fails_at && calls >= g->fails_at ? DN_EFAILED : DN_OK;
}

static int fail(void *context, const dn_event *event, const dn_value *values) {
    (void)values, (void)event;
    CHECK(((guest *)context)->alive);
    return DN_EFAILED;
}

/* Each time another event, in the same slot as often as not: a late call would find the wrong guest. */
static void come_and_go(uint64_t *random) {
    guest g = {.event = test_random(random) % 2 ? "store" : "sched.jobs.x", .alive = true};
    dn_telemetry_id id = attach(g.event, visit, &g);

    if (test_random(random) % 2)
        while (g.calls == 0) sched_yield();
    CHECK_INT(dn_telemetry_detach(id), DN_OK);
    g.alive = false;
}

static void check_that_a_detach_waits_for(int len, int rounds) {
    emitters e;
    uint64_t random = test_seed();

    emitters_begin(&e, len);
    for (int i = 0; i < rounds; i++) come_and_go(&random);
    (void)emitters_end(&e);
    CHECK(!dn_event_wanted(&store));
    CHECK(!dn_event_wanted(&jobs_x));
}

TEST(after_a_detach_nobody_is_in_the_handler_however_many_emit) {
    check_that_a_detach_waits_for(EMITTERS, ROUNDS);
}

TEST(telemetry_detach_waits_for_the_calls_of_twelve_threads) {
    check_that_a_detach_waits_for(EMITTERS_MAX, ROUNDS / 10);
}

TEST(a_handler_that_fails_on_several_threads_is_said_once_and_leaves_no_trace) {
    emitters e;

    dn_log_to(keep_line, NULL); /* one at a time: a detach waits for the call that says it */
    emitters_begin(&e, EMITTERS);
    for (int i = 0; i < ROUNDS; i++) {
        guest                 g = {.event = "store", .alive = true, .fails_at = 1 + i % 3};
        const dn_telemetry_id id = attach(g.event, visit, &g);
        while (dn_event_wanted(&store)) sched_yield();
        CHECK_INT(dn_telemetry_detach(id), DN_OK);
        g.alive = false;
        CHECK(g.calls >= g.fails_at);
        CHECK_INT(logged_lines, i + 1);
    }
    (void)emitters_end(&e);
}

/* What a thread stores behind such stores other cores see late: they reach memory in order, and memory is far. */
enum { FAR = 1 << 25, FAR_STORES = 40, LOOKS = 500, LATE_ROUNDS = 3000 / TEST_SLOW_FACTOR };

static volatile unsigned char far[FAR];

static void store_far(uint32_t *at) {
    for (int i = 0; i < FAR_STORES; i++) far[ *at = (*at * 1664525U + 1013904223U) % FAR] = 1;
}

static void *emit_behind_far_stores(void *context) {
    uint32_t at = 0;

    (void)context;
    while (!over) {
        store_far(&at);
        DN_EMIT(store, .number = 1);
    }
    return NULL;
}

static atomic_bool detached;
static atomic_int  visits;

static int look_for_a_while(void *context, const dn_event *event, const dn_value *values) {
    (void)context, (void)event, (void)values;
    for (int i = 0; i < LOOKS; i++)
        CHECK_MSG(!atomic_load_explicit(&detached, memory_order_relaxed),
                  "still in it, and the detach has returned");
    atomic_fetch_add(&visits, 1);
    return DN_OK;
}

TEST(a_call_that_no_other_core_can_see_yet_is_waited_for_as_well) {
    pthread_t emitter;

    CHECK_INT(pthread_create(&emitter, NULL, emit_behind_far_stores, NULL), 0);
    for (int round = 0; round < LATE_ROUNDS; round++) {
        visits = 0;
        detached = false;
        const dn_telemetry_id id = attach("store", look_for_a_while, NULL);
        while (visits == 0) sched_yield();
        CHECK_INT(dn_telemetry_detach(id), DN_OK);
        detached = true;
    }
    over = true;
    CHECK_INT(pthread_join(emitter, NULL), 0);
}

static void *come_and_go_often(void *context) {
    for (int i = 0; i < ROUNDS; i++) come_and_go(context);
    return NULL;
}

TEST(several_threads_attach_and_detach_while_others_emit) {
    emitters  e;
    pthread_t movers[2];
    uint64_t  seeds[2] = {test_seed(), test_seed() + 1};
    guest     stays = {.event = "store", .alive = true};

    (void)attach("store", visit, &stays);
    emitters_begin(&e, EMITTERS);
    for (int i = 0; i < 2; i++)
        CHECK_INT(pthread_create(&movers[i], NULL, come_and_go_often, &seeds[i]), 0);
    for (int i = 0; i < 2; i++) CHECK_INT(pthread_join(movers[i], NULL), 0);
    CHECK_INT(stays.calls, emitters_end(&e));
    CHECK(!dn_event_wanted(&jobs_x));
}

/* So many events that setting or clearing their bits takes a while, in which other things happen. */
enum { CROWD = 20000, CROWD_ROUNDS = 200 / TEST_SLOW_FACTOR };

static dn_event crowd[CROWD];

static void crowd_register(void) {
    for (int i = 0; i < CROWD; i++) {
        crowd[i] = late;
        dn_event_register_(&crowd[i]);
    }
}

static void *emit_in_crowd(void *context) {
    const dn_value value = {.integer = 1};

    while (!over)
        if (dn_event_wanted(context)) dn_event_emit(context, &value);
    return NULL;
}

TEST(who_fails_while_it_is_being_attached_leaves_no_trace) {
    pthread_t emitter;

    dn_log_threshold(DN_LOG_NONE);
    crowd_register();
    /* The newest is the first whose bit is set. */
    CHECK_INT(pthread_create(&emitter, NULL, emit_in_crowd, &crowd[CROWD - 1]), 0);
    for (int round = 0; round < CROWD_ROUNDS; round++) {
        guest                 g = {.alive = true};
        const dn_telemetry_id id = attach("late", fail, &g);
        while (dn_event_wanted(&crowd[CROWD - 1])) sched_yield();
        CHECK_INT(dn_telemetry_detach(id), DN_OK);
        g.alive = false;
        for (int i = 0; i < CROWD; i++) CHECK(!dn_event_wanted(&crowd[i]));
    }
    over = true;
    CHECK_INT(pthread_join(emitter, NULL), 0);
}

static int visit_crowd(void *context, const dn_event *event, const dn_value *values) {
    (void)event, (void)values;
    CHECK_MSG(!*(atomic_bool *)context, "called after a detach has returned");
    return DN_OK;
}

static atomic_bool              gone;
static _Atomic(dn_telemetry_id) going;

static void *detach_too(void *context) {
    dn_telemetry_id last = 0;

    (void)context;
    while (!over) {
        const dn_telemetry_id id = going;
        if (id == last) continue;
        CHECK_INT(dn_telemetry_detach(id), DN_OK);
        gone = true;
        last = id;
    }
    return NULL;
}

TEST(of_two_that_detach_at_once_each_knows_that_it_is_over) {
    pthread_t emitter, second;

    crowd_register();
    /* The oldest is the last whose bit is cleared. */
    CHECK_INT(pthread_create(&emitter, NULL, emit_in_crowd, &crowd[0]), 0);
    CHECK_INT(pthread_create(&second, NULL, detach_too, NULL), 0);
    for (int round = 0; round < CROWD_ROUNDS; round++) {
        gone = false;
        const dn_telemetry_id id = attach("late", visit_crowd, &gone);
        going = id;
        CHECK_INT(dn_telemetry_detach(id), DN_OK);
        while (!gone) sched_yield();
    }
    over = true;
    CHECK_INT(pthread_join(emitter, NULL), 0);
    CHECK_INT(pthread_join(second, NULL), 0);
}

/* The first call stays until it is let go, the second fails. */
typedef struct stayer {
    atomic_int  calls;
    atomic_bool let_go;
} stayer;

static int stay(void *context, const dn_event *event, const dn_value *values) {
    stayer *s = context;

    (void)event, (void)values;
    if (atomic_fetch_add(&s->calls, 1) > 0) return DN_EFAILED;
    while (!s->let_go) sched_yield();
    return DN_OK;
}

static void *emit_once(void *context) {
    (void)context;
    DN_EMIT(store, .number = 1);
    return NULL;
}

TEST(a_handler_that_still_runs_keeps_its_place_though_it_is_detached) {
    stayer          s = {0};
    heard           h = {0};
    dn_telemetry_id id = attach("store", stay, &s), other = 0;
    pthread_t       thread;

    dn_log_threshold(DN_LOG_NONE);
    CHECK_INT(pthread_create(&thread, NULL, emit_once, NULL), 0);
    while (s.calls == 0) sched_yield();
    DN_EMIT(store, .number = 2); /* fails, while the other call is in it */
    CHECK_INT(s.calls, 2);
    CHECK(!dn_event_wanted(&store));
    for (int i = 1; i < DN_TELEMETRY_HANDLERS_MAX; i++) (void)attach("sched", write_down, &h);
    CHECK_INT(dn_telemetry_attach("n", "", write_down, &h, &other), DN_EFULL);
    s.let_go = true;
    CHECK_INT(dn_telemetry_detach(id), DN_OK); /* waits for that call */
    CHECK_INT(dn_telemetry_attach("n", "", write_down, &h, &other), DN_OK);
    CHECK_INT(pthread_join(thread, NULL), 0);
}

static _Atomic(dn_telemetry_id) pair[2];

static int detach_both(void *context, const dn_event *event, const dn_value *values) {
    (void)context, (void)event, (void)values;
    CHECK(dn_telemetry_detach(pair[0]) >= 0);
    CHECK(dn_telemetry_detach(pair[1]) >= 0);
    return DN_OK;
}

TEST(handlers_that_detach_each_other_on_several_threads_do_not_wait_for_ever) {
    emitters e;

    emitters_begin(&e, EMITTERS);
    for (int i = 0; i < ROUNDS; i++) {
        pair[0] = attach("store", detach_both, NULL);
        pair[1] = attach("sched.jobs.x", detach_both, NULL);
        while (dn_event_wanted(&store) || dn_event_wanted(&jobs_x)) sched_yield();
        CHECK_INT(dn_telemetry_detach(pair[0]), DN_OK);
        CHECK_INT(dn_telemetry_detach(pair[1]), DN_OK);
    }
    (void)emitters_end(&e);
}
