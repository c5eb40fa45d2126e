/* feed.c - see feed.h. */
#define _GNU_SOURCE /* asprintf */
#include "feed.h"

#include "admin/json_status.h"
#include "daily/json_user.h"
#include "obs/slo_watcher.h"
#include "reply.h" /* reply_append */

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALL_MS = 30000, REAL_DIGITS = 15 };

void feed_init(feed *f, uint64_t epoch) {
    *f = (feed){.epoch = epoch, .first = 1, .next = 1, .shown_day = DN_DAY_NONE};
}

bool feed_is_sound(const feed *f) {
    size_t bytes = 0;

    for (uint64_t n = f->first; n < f->next; n++) bytes += f->kept[n % FEED_KEPT].len;
    return f->first <= f->next && f->next - f->first <= FEED_KEPT && bytes == f->kept_bytes;
}

/* ---- What is kept ---- */

static feed_event *event_at(feed *f, uint64_t n) { return &f->kept[n % FEED_KEPT]; }

static void drop_first(feed *f) {
    feed_event *e = event_at(f, f->first++);

    f->kept_bytes -= e->len;
    free(e->text);
    *e = (feed_event){0};
}

/* A number is skipped, because what happens from here on is not seen: no id given so far can be resumed from. */
void feed_forget(feed *f) {
    while (f->first < f->next) drop_first(f);
    f->first = ++f->next;
    f->shown_day = DN_DAY_NONE;
    for (int i = 0; i < FEED_QUESTIONS; i++) json_decref(DN_TAKE(f->status[i]));
    assert(feed_is_sound(f));
}

static void end_round(feed *f);

void feed_done(feed *f) {
    end_round(f);
    feed_forget(f);
}

static void keep(feed *f, feed_event e) {
    while (f->first < f->next &&
           (f->next - f->first == FEED_KEPT || f->kept_bytes + e.len > FEED_KEPT_BYTES))
        drop_first(f);
    *event_at(f, f->next++) = e;
    f->kept_bytes += e.len;
    assert(feed_is_sound(f));
}

/* id, event, data, and the empty line; NULL: out of memory. */
static char *event_text(const feed *f, uint64_t n, const char *name, const json_t *data,
                        size_t *out_len) {
    char *body = data ? json_dumps(data, JSON_COMPACT | JSON_REAL_PRECISION(REAL_DIGITS)) : NULL;
    char *text = NULL;
    const int len = body ? asprintf(&text, "id: %" PRIx64 "-%" PRIu64 "\nevent: %s\ndata: %s\n\n",
                                    f->epoch, n, name, body)
                         : -1;

    free(body);
    if (len < 0) return NULL;
    *out_len = (size_t)len;
    return text;
}

/* Takes data. An event without memory for it is lost, so all listeners have to read everything again. */
static void emit(feed *f, const char *name, json_t *data) {
    size_t len = 0;
    char  *text = event_text(f, f->next, name, data, &len);

    json_decref(data);
    if (text) keep(f, (feed_event){text, len});
    else feed_forget(f);
}

/* ---- What differs ---- */

static bool minute_differs(const day_minute *a, const day_minute *b) {
    return a->users != b->users || a->success != b->success ||
           a->cutoff_reached != b->cutoff_reached || a->missed != b->missed ||
           a->running != b->running;
}

/* A minute in which nobody is due any more is sent once more, with zeros. */
static void take_minutes(feed *f) {
    const bool first = f->shown_day == DN_DAY_NONE;
    json_t    *changed = json_array();

    if (!first && f->today != f->shown_day) emit(f, "reset", json_object());
    for (uint32_t i = 0; i < DN_DAY_MINUTES && !first; i++)
        if (minute_differs(&f->minutes.at[i], &f->shown.at[i]))
            reply_append(&changed, json_of_minute(i, &f->minutes.at[i]));
    f->shown_day = f->today;
    f->shown = f->minutes;
    if (!changed || json_array_size(changed) > 0)
        emit(f, "minutes", json_pack("{s:o, s:o}", "day", json_of_day(f->today), "items", changed));
    else json_decref(changed);
}

/* The parts of the round become those that are shown; what differs is an event. */
static void take_status(feed *f) {
    json_t *const *status = f->status;
    bool           differs[FEED_QUESTIONS] = {false};

    for (int q = FEED_TICK; q < FEED_QUESTIONS; q++) {
        differs[q] = f->status[q] && !json_equal(f->round_status[q], f->status[q]);
        json_decref(f->status[q]);
        f->status[q] = DN_TAKE(f->round_status[q]);
    }
    if (differs[FEED_TICK]) emit(f, "tick", json_incref(status[FEED_TICK]));
    if (differs[FEED_QUEUE] || differs[FEED_EXECUTOR] || differs[FEED_STORE])
        emit(f, "load",
             json_pack("{s:O, s:O, s:O}", "queue", status[FEED_QUEUE], "executor",
                       status[FEED_EXECUTOR], "store", status[FEED_STORE]));
    if (differs[FEED_SLO]) emit(f, "slo", json_pack("{s:O}", "items", status[FEED_SLO]));
}

/* ---- A round ---- */

static void end_round(feed *f) {
    for (int q = 0; q < FEED_QUESTIONS; q++) json_decref(DN_TAKE(f->round_status[q]));
    f->asked = FEED_IDLE;
    f->call = 0;
}

/* Of FEED_TICK and those after it. reply NULL: the SLO watcher is restarting. */
static json_t *json_of_answer(feed_question q, const dn_msg *reply) {
    if (!reply) return json_null();
    switch (q) {
    case FEED_TICK: return json_of_tick_status(DN_BODY(dn_tick_status, reply));
    case FEED_QUEUE: return json_of_queue_status(DN_BODY(dn_queue_status, reply));
    case FEED_EXECUTOR: return json_of_executor_status(DN_BODY(dn_executor_status, reply));
    case FEED_STORE: return json_of_kv_status(DN_BODY(dn_kv_status, reply));
    case FEED_SLO: return json_of_slo_report(DN_BODY(dn_slo_report, reply));
    case FEED_IDLE:
    case FEED_RUNNING:
    case FEED_MINUTES:
    case FEED_QUESTIONS: break;
    }
    return NULL;
}

static int send_question(dn_self *self, const api_world *w, feed *f, feed_question q) {
    const struct {
        dn_ref   to;
        uint32_t kind;
    } questions[] = {
        [FEED_RUNNING] = {w->queue, MSG_ASK_RUNNING},
        [FEED_MINUTES] = {w->tick, MSG_ASK_MINUTES},
        [FEED_TICK] = {w->tick, MSG_ASK_STATUS},
        [FEED_QUEUE] = {w->queue, MSG_ASK_STATUS},
        [FEED_EXECUTOR] = {w->executor, MSG_ASK_STATUS},
        [FEED_STORE] = {w->kv, MSG_KV_STATUS},
        [FEED_SLO] = {w->slo_watcher, DN_SLO_ASK},
    };
    const bool has_day = q == FEED_MINUTES;

    return dn_call(self, questions[q].to, questions[q].kind, has_day ? &f->today : NULL,
                   has_day ? sizeof f->today : 0, CALL_MS, &f->call);
}

static void take_answer(dn_self *self, const api_world *w, feed *f, const dn_msg *reply);

/* A round that fails shows nothing; the next one shows all that has changed since. */
static void ask(dn_self *self, const api_world *w, feed *f, feed_question q) {
    f->asked = q;
    if (send_question(self, w, f, q) == DN_OK) return;
    if (q == FEED_SLO) take_answer(self, w, f, NULL);
    else end_round(f);
}

static void take_answer(dn_self *self, const api_world *w, feed *f, const dn_msg *reply) {
    const feed_question q = f->asked;

    if (q == FEED_RUNNING) day_minutes_take_running(&f->minutes, f->today, reply);
    if (q == FEED_MINUTES) {
        day_minutes_take_planned(&f->minutes, reply);
        take_minutes(f);
    }
    if (q >= FEED_TICK) f->round_status[q] = json_of_answer(q, reply);
    if (q < FEED_SLO) {
        ask(self, w, f, q + 1);
        return;
    }
    take_status(f);
    end_round(f);
}

void feed_round(dn_self *self, const api_world *w, feed *f) {
    if (f->asked != FEED_IDLE) return;
    f->today = dn_day_of_ms(dn_now_ms(self));
    ask(self, w, f, FEED_RUNNING);
    assert(feed_is_sound(f));
}

void feed_on_answer(dn_self *self, const api_world *w, feed *f, const dn_msg *reply) {
    const bool failed = dn_msg_kind(reply) == DN_MSG_CALL_FAILED;

    f->call = 0;
    if (failed && f->asked != FEED_SLO) end_round(f);
    else take_answer(self, w, f, failed ? NULL : reply);
    assert(feed_is_sound(f));
}

/* ---- For listeners ---- */

bool feed_has_begun(const feed *f) {
    for (int q = FEED_TICK; q < FEED_QUESTIONS; q++)
        if (!f->status[q]) return false;
    return f->shown_day != DN_DAY_NONE;
}

bool feed_resumes(const feed *f, const char *id, size_t len, uint64_t *out_next) {
    char text[FEED_ID], *end = NULL;

    *out_next = f->next;
    if (len == 0 || len >= sizeof text) return false;
    memcpy(text, id, len);
    text[len] = '\0';
    errno = 0;
    const uint64_t epoch = strtoull(text, &end, 16);
    if (epoch != f->epoch || *end != '-' || end[1] < '0' || end[1] > '9') return false;
    const uint64_t n = strtoull(end + 1, &end, 10);
    if (*end || errno || n + 1 < f->first || n >= f->next) return false;
    *out_next = n + 1;
    return true;
}

/* hello is not kept: its id is that of the last event, after which the listener goes on. */
char *feed_greeting(const feed *f, uint64_t next, bool resets, int64_t now_ms, size_t *out_len) {
    json_t *hello = json_pack("{s:o, s:o}", "day", json_of_day(dn_day_of_ms(now_ms)), "now",
                              json_of_instant(now_ms));
    char   *both = NULL, *text = event_text(f, next - 1, "hello", hello, out_len);

    json_decref(hello);
    if (!text) return NULL;
    const int len =
        asprintf(&both, "retry: 2000\n\n%s%s", text, resets ? "event: reset\ndata: {}\n\n" : "");
    free(text);
    *out_len = len < 0 ? 0 : (size_t)len;
    return len < 0 ? NULL : both;
}

char *feed_text_for(const feed *f, uint64_t *next, int64_t now_ms, size_t *out_len) {
    size_t len = 0;

    if (*next < f->first || *next > f->next) {
        *next = f->next;
        return feed_greeting(f, *next, /* resets= */ true, now_ms, out_len);
    }
    for (uint64_t n = *next; n < f->next; n++) len += f->kept[n % FEED_KEPT].len;
    if (len == 0) return NULL;
    char *text = malloc(len), *at = text;
    if (!text) return NULL;
    for (; *next < f->next; ++*next) {
        const feed_event *e = &f->kept[*next % FEED_KEPT];
        memcpy(at, e->text, e->len);
        at += e->len;
    }
    *out_len = len;
    return text;
}
