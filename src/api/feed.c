/* feed.c - see feed.h. */
#define _GNU_SOURCE /* asprintf */
#include "feed.h"

#include "daily/json_user.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOTHING, TODAY, STATUS, REAL_DIGITS = 15 };

void feed_init(feed *f, uint64_t epoch) { *f = (feed){.epoch = epoch, .first = 1, .next = 1}; }

/* ---- What is kept ---- */

static feed_event *event_at(feed *f, uint64_t n) { return &f->kept[n % FEED_KEPT]; }

static void drop_first(feed *f) {
    feed_event *e = event_at(f, f->first++);

    f->kept_bytes -= e->len;
    free(e->text);
    *e = (feed_event){0};
}

/* What happens from here on nobody will know: so no id of before is good for going on. */
void feed_forget(feed *f) {
    while (f->first < f->next) drop_first(f);
    f->first = ++f->next;
    json_decref(DN_TAKE(f->minutes));
    json_decref(DN_TAKE(f->status));
    f->day[0] = '\0';
}

void feed_done(feed *f) {
    feed_forget(f);
    ask_done(&f->ask);
}

static void keep(feed *f, feed_event e) {
    while (f->first < f->next &&
           (f->next - f->first == FEED_KEPT || f->kept_bytes + e.len > FEED_KEPT_BYTES))
        drop_first(f);
    *event_at(f, f->next++) = e;
    f->kept_bytes += e.len;
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

/* Takes data. One for which there is no memory is one that was missed: all begin anew. */
static void say(feed *f, const char *name, json_t *data) {
    size_t len = 0;
    char  *text = event_text(f, f->next, name, data, &len);

    json_decref(data);
    if (text) {
        keep(f, (feed_event){text, len});
        return;
    }
    feed_forget(f);
}

/* ---- What differs ---- */

static void minutes_take(feed *f, const json_t *today) {
    const json_t *items = json_object_get(today, "items");
    const char   *day = json_string_value(json_object_get(today, "day"));
    const bool    first = !f->minutes;
    json_t       *now = json_object(), *changed = json_array();

    if (day && *f->day && strcmp(day, f->day) != 0) say(f, "reset", json_object());
    (void)snprintf(f->day, sizeof f->day, "%s", day ? day : "");
    for (size_t i = 0; i < json_array_size(items); i++) {
        json_t     *item = json_array_get(items, i);
        const char *due = json_string_value(json_object_get(item, "due"));
        if (!first && !json_equal(item, json_object_get(f->minutes, due)))
            (void)json_array_append(changed, item);
        (void)json_object_set(now, due, item);
    }
    /* A minute in which nobody is due any more is in the list no more. */
    const char *due;
    json_t     *item;
    json_object_foreach(f->minutes, due, item) {
        if (!json_object_get(now, due))
            (void)json_array_append_new(
                changed, json_pack("{s:s, s:i, s:i, s:i, s:i, s:i}", "due", due, "users", 0,
                                   "success", 0, "cutoff_reached", 0, "pending", 0, "running", 0));
    }
    json_decref(f->minutes);
    f->minutes = now;
    if (json_array_size(changed) > 0)
        say(f, "minutes", json_pack("{s:s, s:o}", "day", f->day, "items", changed));
    else json_decref(changed);
}

static bool differs(const feed *f, const json_t *status, const char *part) {
    return f->status &&
           !json_equal(json_object_get(status, part), json_object_get(f->status, part));
}

static void status_take(feed *f, json_t *status) {
    if (differs(f, status, "tick")) say(f, "tick", json_incref(json_object_get(status, "tick")));
    if (differs(f, status, "queue") || differs(f, status, "executor") ||
        differs(f, status, "store"))
        say(f, "load",
            json_pack("{s:O, s:O, s:O}", "queue", json_object_get(status, "queue"), "executor",
                      json_object_get(status, "executor"), "store",
                      json_object_get(status, "store")));
    if (differs(f, status, "slo"))
        say(f, "slo", json_pack("{s:O}", "items", json_object_get(status, "slo")));
    json_decref(f->status);
    f->status = json_incref(status);
}

/* ---- A round ---- */

static void go_on(dn_self *self, const ops_world *w, feed *f, ask_step step);

static void begin(dn_self *self, const ops_world *w, feed *f, int stage, const char *op) {
    f->stage = stage;
    go_on(self, w, f, ask_begin(self, w, &f->ask, json_pack("{s:s}", "op", op)));
}

/* A round that fails says nothing: the next one says it all. */
static void go_on(dn_self *self, const ops_world *w, feed *f, ask_step step) {
    const int stage = f->stage;

    f->call = step == ASK_WAITS ? f->ask.call : 0;
    if (step == ASK_WAITS) return;
    if (step == ASK_DONE && stage == TODAY) minutes_take(f, f->ask.answer);
    if (step == ASK_DONE && stage == STATUS) status_take(f, f->ask.answer);
    ask_done(&f->ask);
    f->stage = NOTHING;
    if (step == ASK_DONE && stage == TODAY) begin(self, w, f, STATUS, "status");
}

void feed_round(dn_self *self, const ops_world *w, feed *f) {
    if (f->stage == NOTHING) begin(self, w, f, TODAY, "today");
}

void feed_on_answer(dn_self *self, const ops_world *w, feed *f, const dn_msg *reply) {
    go_on(self, w, f, ask_go_on(self, w, &f->ask, reply));
}

/* ---- For who listens ---- */

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

/* hello is nobody else's: its id is that of the last event, after which this one goes on. */
char *feed_greeting(const feed *f, uint64_t next, bool anew, int64_t now_ms, size_t *out_len) {
    json_t *hello = json_pack("{s:o, s:o}", "day", json_of_day(dn_day_of_ms(now_ms)), "now",
                              json_of_instant(now_ms));
    char   *both = NULL, *text = event_text(f, next - 1, "hello", hello, out_len);

    json_decref(hello);
    if (!text) return NULL;
    const int len =
        asprintf(&both, "retry: 2000\n\n%s%s", text, anew ? "event: reset\ndata: {}\n\n" : "");
    free(text);
    *out_len = len < 0 ? 0 : (size_t)len;
    return len < 0 ? NULL : both;
}

char *feed_text_for(const feed *f, uint64_t *next, int64_t now_ms, size_t *out_len) {
    size_t len = 0;

    if (*next < f->first || *next > f->next) {
        *next = f->next;
        return feed_greeting(f, *next, /* anew= */ true, now_ms, out_len);
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
