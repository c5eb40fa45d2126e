/* world.h - the daily service in a simulation: the real actors, a store in memory that may be full or broken, jobs that
 * end as a script says, and a clock moved by hand.
 * The store outlives a crash of the process, as a disk does. */
#ifndef DIURNAL_TESTS_SERVICE_WORLD_H
#define DIURNAL_TESTS_SERVICE_WORLD_H

#include "backend.h"
#include "daily/daily_answer.h"
#include "daily/daily_messages.h"
#include "daily/daily_request.h"
#include "diurnal/sim.h"
#include "obs/log.h"
#include "service/service.h"
#include "test.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 2026-03-02, a Monday; the day before and after it. */
#define TODAY             ((dn_day)20514)
#define TOMORROW          (TODAY + 1)
#define AT(hour, minute)  (dn_day_start_ms(TODAY) + ((hour)*60 + (minute)) * DN_MINUTE_MS)
#define DUE(hour, minute) ((uint32_t)((hour)*60 + (minute)))

/* ---- A store that can fail ---- */

typedef struct faulty_store {
    dn_store  door;
    store_ops ops;
    dn_store *real;
    int       fails; /* what every write answers; DN_OK: none fails */
    int       loses; /* what a write answers after it was committed; DN_OK: none is lost */
    int       writes;
} faulty_store;

static faulty_store disk;

static inline int disk_write(dn_store *store, const dn_write *writes, size_t len,
                             dn_write_result *results) {
    (void)store;
    disk.writes++;
    if (disk.fails < 0) return disk.fails;
    const int rc = dn_store_write(disk.real, writes, len, results, NULL);
    return rc == DN_OK ? disk.loses : rc;
}
static inline int disk_load(dn_store *s, uint64_t after, dn_user *u, size_t max, size_t *len) {
    (void)s;
    return dn_store_load(disk.real, after, u, max, len);
}
static inline int disk_user(dn_store *s, const char *id, size_t len, dn_user *u) {
    (void)s;
    return dn_store_user(disk.real, id, len, u);
}
static inline int disk_count(dn_store *s, uint64_t *users) {
    (void)s;
    return dn_store_count(disk.real, users);
}
static inline dn_day disk_ledger_since(dn_store *s) {
    (void)s;
    return dn_store_ledger_since(disk.real);
}
static inline int disk_hooks(dn_store *s, int64_t now, dn_hook *h, size_t max, size_t *len,
                             int64_t *next) {
    (void)s;
    return dn_store_outbox(disk.real, now, h, max, len, next);
}
static inline int disk_hooks_clock(dn_store *s, int64_t wall_ms, int64_t *ms) {
    (void)s;
    return dn_store_outbox_clock(disk.real, wall_ms, ms);
}
static inline int disk_idle(dn_store *s) {
    (void)s;
    return dn_store_idle(disk.real);
}

/* ---- Jobs ---- */

enum { JOBS_MAX = 4096, RULES_MAX = 256 };

typedef struct job {
    char                  id[DN_ID_MAX + 1];
    dn_day                day;
    uint32_t              attempt, epoch;
    int64_t               at_ms;
    dn_daily_request_type type;
} job;

/* How the attempts of an id go; attempt 0: all of them; an empty id: everybody's. The last that fits counts. */
typedef struct rule {
    char             id[DN_ID_MAX + 1];
    uint32_t         attempt;
    dn_script_answer answer;
} rule;

typedef struct world {
    dn_sim           *sim;
    dn_service_config config;
    dn_service_tree   tree;
    dn_child_spec     edge;
    job               jobs[JOBS_MAX];
    int               jobs_len;
    rule              rules[RULES_MAX];
    int               rules_len;
    int               running, running_peak;
    bool              fatal;
    char              log[65536];
    size_t            log_len;

    /* The stage's. */
    char   answer[1 << 16];
    size_t answer_len;
    bool   answered;
} world;

static world w;

static inline dn_daily_request request_of(const dn_run_request *r, char id[DN_ID_MAX]) {
    dn_daily_request daily;

    CHECK_INT(
        dn_daily_request_read(dn_blob_bytes_borrow(r->body), dn_blob_len(r->body), id, &daily),
        DN_OK);
    return daily;
}

/* The body of an answer that names that class, for the life of the program. */
static inline dn_blob *error_body(dn_error_class error_class) {
    static dn_blob *bodies[DN_CLASS_UNKNOWN + 1];

    if (error_class != DN_CLASS_NONE && !bodies[error_class])
        bodies[error_class] = dn_daily_error_new(error_class);
    return bodies[error_class];
}

static inline dn_script_answer script(void *context, const dn_run_request *r) {
    char                   id[DN_ID_MAX];
    const dn_daily_request daily = request_of(r, id);
    dn_script_answer       answer = {
              .end = DN_SCRIPT_ENDS,
              .result = dn_run_result_of(DN_OUTCOME_OK, DN_CODE_NONE, 0),
              .duration_ms = 500,
    };

    (void)context;
    CHECK(w.jobs_len < JOBS_MAX);
    job *j = &w.jobs[w.jobs_len++];
    *j = (job){.day = daily.day,
               .attempt = daily.attempt,
               .epoch = daily.context_epoch,
               .at_ms = dn_sim_wall_ms(w.sim),
               .type = daily.type};
    memcpy(j->id, daily.id, daily.id_len);
    for (int i = 0; i < w.rules_len; i++)
        if ((!*w.rules[i].id || strcmp(w.rules[i].id, j->id) == 0) &&
            (w.rules[i].attempt == 0 || w.rules[i].attempt == daily.attempt))
            answer = w.rules[i].answer;
    return answer;
}

static inline void job_answers(const char *id, uint32_t attempt, dn_outcome outcome,
                               dn_error_class error_class, int64_t ms) {
    CHECK(w.rules_len < RULES_MAX);
    rule *r = &w.rules[w.rules_len++];
    snprintf(r->id, sizeof r->id, "%s", id);
    r->attempt = attempt;
    r->answer = (dn_script_answer){.end = DN_SCRIPT_ENDS,
                                   .result = dn_run_result_of(outcome, DN_CODE_NONE, 0),
                                   .body = error_body(error_class),
                                   .duration_ms = ms};
}

static inline void job_is_ok(const char *id, uint32_t attempt, int64_t ms) {
    job_answers(id, attempt, DN_OUTCOME_OK, DN_CLASS_NONE, ms);
}

static inline void job_fails(const char *id, uint32_t attempt, dn_error_class cls) {
    job_answers(id, attempt, DN_OUTCOME_ERROR, cls, 500);
}

static inline void job_hangs(const char *id, uint32_t attempt) {
    job_is_ok(id, attempt, 0);
    w.rules[w.rules_len - 1].answer.end = DN_SCRIPT_HANG;
}

static inline void job_crashes(const char *id, uint32_t attempt) {
    job_is_ok(id, attempt, 100);
    w.rules[w.rules_len - 1].answer.end = DN_SCRIPT_CRASH;
}

/* The starts of an id so far; "" counts everybody's. */
static inline int starts_of(const char *id) {
    int len = 0;

    for (int i = 0; i < w.jobs_len; i++)
        if (!*id || strcmp(w.jobs[i].id, id) == 0) len++;
    return len;
}

/* Its nth start, from 1; fails if there is none. */
static inline const job *start_of(const char *id, int nth) {
    for (int i = 0; i < w.jobs_len; i++)
        if (strcmp(w.jobs[i].id, id) == 0 && --nth == 0) return &w.jobs[i];
    CHECK_MSG(false, "%s has no such start", id);
    return NULL;
}

/* ---- The log ---- */

static inline void keep_line(void *context, dn_log_level level, const char *event,
                             const char *text) {
    static const char *const words[] = {"debug", "info", "warn", "error"};

    (void)context;
    const int len = snprintf(w.log + w.log_len, sizeof w.log - w.log_len, "%s %s: %s\n",
                             words[level], event, text);
    if (w.log_len + (size_t)len < sizeof w.log) w.log_len += (size_t)len;
}

/* How often the log has these words. */
static inline int logged(const char *words) {
    int times = 0;

    for (const char *at = w.log; (at = strstr(at, words)); at++) times++;
    return times;
}

/* ---- The stage: an actor that asks in the test's name ---- */

typedef struct question {
    char     to[32];
    uint32_t kind;
    uint32_t size;
    char     body[512];
} question;

enum { STAGE_ASK = 1 };

static inline int stage_on_ask(dn_self *self, void *state, const dn_msg *msg) {
    const question *q = dn_msg_body_borrow(msg);

    (void)state;
    return dn_call(self, dn_name(self, q->to), q->kind, q->body, q->size, 60000, NULL);
}

static inline int stage_on_any(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state;
    CHECK(dn_msg_kind(msg) != DN_MSG_CALL_FAILED);
    CHECK(dn_msg_size(msg) <= sizeof w.answer);
    w.answer_len = dn_msg_size(msg);
    memcpy(w.answer, dn_msg_body_borrow(msg), w.answer_len);
    w.answered = true;
    return DN_OK;
}

static const dn_handler stage_rows[] = {{STAGE_ASK, stage_on_ask}, {DN_KIND_ANY, stage_on_any}};
static const dn_class   stage_class = {.name = "stage", .handlers = DN_SLICE(stage_rows)};

/* ---- Life ---- */

static inline void world_is_fatal(void *context, const char *why) {
    (void)context, (void)why;
    w.fatal = true;
}

static inline void world_boots(void) {
    const dn_spawn_spec root = {
        .actor_class = &dn_supervisor_class, .config = &w.tree.top, .name = "diurnal"};

    w.edge = (dn_child_spec){.name = "stage", .actor_class = &stage_class};
    dn_service_tree_make(&w.config, &w.edge, 1, &w.tree);
    const int rc = dn_sim_boot(w.sim, &root);
    CHECK_MSG(rc == DN_OK || rc == DN_PENDING, "the tree does not start: %s", dn_error_text(rc));
    (void)dn_sim_settle(w.sim); /* the queue starts when kv has answered it */
}

/* A world at that instant, which is not yet running: settings may still be changed. */
static inline void world_at_with_seed(int64_t wall_ms, uint64_t seed) {
    const dn_sim_config sim = {.seed = seed, .wall_ms = wall_ms};
    char                why[DN_STORE_WHY];

    memset(&w, 0, sizeof w);
    dn_log_to(keep_line, NULL);
    dn_log_threshold(DN_LOG_DEBUG);
    CHECK_INT(dn_sim_new(&sim, &w.sim), DN_OK);
    disk = (faulty_store){0};
    CHECK_INT(
        dn_store_open(&(dn_store_config){.url = "memory:", .ledger_days = 35}, &disk.real, why),
        DN_OK);
    disk.ops = *disk.real->ops;
    disk.ops.write = disk_write;
    disk.ops.load = disk_load;
    disk.ops.user = disk_user;
    disk.ops.count = disk_count;
    disk.ops.ledger_since = disk_ledger_since;
    disk.ops.hooks = disk_hooks;
    disk.ops.hooks_clock = disk_hooks_clock;
    disk.ops.idle = disk_idle;
    disk.door.ops = &disk.ops;
    w.config = (dn_service_config){
        .tick_ms = 60000,
        .window_minutes = 60,
        .retry_delay_minutes = 10,
        .max_concurrency = 64,
        .job_timeout_ms = 60000,
        .shutdown_grace_ms = 30000,
        .ledger_days = 35,
        .store = &disk.door,
        .runner = {.concurrency_max = 64, .script = script},
        .hook = {.concurrency_max = 16, .script = script},
        .fatal = world_is_fatal,
    };
}

static inline void world_at(int64_t wall_ms) { world_at_with_seed(wall_ms, test_seed()); }

static inline void world_ends(void) {
    dn_sim_free(DN_TAKE(w.sim));
    store_changes_done(&disk.door.changes);
    dn_store_free(DN_TAKE(disk.real));
}

/* Runs until the wall clock, which nobody sets meanwhile, stands there. */
static inline void world_runs_to(int64_t wall_ms) {
    const int64_t end_ms = dn_sim_mono_ms(w.sim) + wall_ms - dn_sim_wall_ms(w.sim);

    CHECK(end_ms >= dn_sim_mono_ms(w.sim));
    while (dn_sim_mono_ms(w.sim) < end_ms) {
        const dn_sim_end end = dn_sim_run(w.sim, end_ms);
        CHECK_MSG(end == DN_SIM_TIME_UP || end == DN_SIM_IDLE, "the service has ended");
        if (end == DN_SIM_IDLE) return;
    }
    /* What is to be done at that instant is done too. */
    dn_sim_end end;
    while (dn_sim_step(w.sim, end_ms, &end)) continue;
}

static inline void world_runs_for(int64_t ms) { world_runs_to(dn_sim_wall_ms(w.sim) + ms); }

static inline void world_crashes(int64_t down_ms) {
    dn_sim_crash_process(w.sim);
    dn_sim_pass(w.sim, down_ms);
    world_boots();
}

/* ---- Asking ---- */

static inline const void *ask(const char *to, uint32_t kind, const void *body, size_t size) {
    question q = {.kind = kind, .size = (uint32_t)size};

    CHECK(size <= sizeof q.body);
    snprintf(q.to, sizeof q.to, "%s", to);
    if (size) memcpy(q.body, body, size);
    w.answered = false;
    dn_runtime *rt = dn_sim_runtime(w.sim);
    CHECK_INT(dn_post(rt, dn_runtime_name(rt, "stage"), STAGE_ASK, &q, sizeof q), DN_OK);
    for (int i = 0; i < 100000 && !w.answered; i++) {
        dn_sim_end end;
        if (!dn_sim_step(w.sim, dn_sim_mono_ms(w.sim) + 60000, &end)) break;
    }
    CHECK_MSG(w.answered, "no answer from %s", to);
    return w.answer;
}

static inline dn_kv_set_answer set_user(const char *id, uint32_t due, dn_day starts_on,
                                        bool letter) {
    struct {
        dn_kv_set set;
        char      id[DN_ID_MAX];
    } body = {.set = {.due = (uint16_t)due,
                      .id_len = (uint8_t)strlen(id),
                      .letter = letter,
                      .starts_on = starts_on}};

    memcpy(body.set.id, id, strlen(id));
    return *(const dn_kv_set_answer *)ask(ACTOR_KV, MSG_KV_SET, &body,
                                          (sizeof body.set + strlen(id) + 7) & ~(size_t)7);
}

static inline void user(const char *id, uint32_t due) {
    CHECK_INT(set_user(id, due, DN_DAY_NONE, false).status, DN_OK);
}

static inline dn_kv_id id_of(const char *id) {
    dn_kv_id body = {.len = (uint8_t)strlen(id)};

    memcpy(body.id, id, body.len);
    return body;
}

static inline int remove_user(const char *id) {
    const dn_kv_id body = id_of(id);

    return ((const dn_kv_user_answer *)ask(ACTOR_KV, MSG_KV_REMOVE, &body, sizeof body))->status;
}

static inline dn_queue_status queue_now(void) {
    return *(const dn_queue_status *)ask(ACTOR_QUEUE, MSG_ASK_STATUS, NULL, 0);
}
static inline dn_executor_status executor_now(void) {
    return *(const dn_executor_status *)ask(ACTOR_EXECUTOR, MSG_ASK_STATUS, NULL, 0);
}
static inline dn_tick_status tick_now(void) {
    return *(const dn_tick_status *)ask(ACTOR_TICK, MSG_ASK_STATUS, NULL, 0);
}
static inline dn_kv_status kv_now(void) {
    return *(const dn_kv_status *)ask(ACTOR_KV, MSG_KV_STATUS, NULL, 0);
}

/* ---- What is durable ---- */

static inline dn_user stored(const char *id) {
    dn_user u;

    CHECK_INT(dn_store_user(disk.real, id, strlen(id), &u), DN_OK);
    return u;
}

/* "success 2026-03-02 1" and so on, newest first: status, day, attempts, class of the last failure. */
static inline const char *ledger(const char *id) {
    static char   text[4096];
    dn_ledger_row rows[100];
    size_t        len = 0, at = 0;
    char          day[DN_DAY_TEXT];

    CHECK_INT(dn_store_days_of(disk.real, stored(id).registration, INT32_MAX, rows, 100, &len),
              DN_OK);
    text[0] = '\0';
    for (size_t i = 0; i < len; i++) {
        dn_day_write(rows[i].day, day);
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s %s %u%s%s", i ? ", " : "",
                               dn_daily_status_text(rows[i].status), day, rows[i].attempts,
                               rows[i].error_class ? " " : "",
                               rows[i].error_class ? dn_error_class_text(rows[i].error_class) : "");
    }
    return text;
}

#endif
