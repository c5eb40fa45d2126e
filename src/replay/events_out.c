/* events_out.c - see events_out.h.
 * A run writes millions of lines, so a line is put together by hand and not by snprintf or a JSON library. The parts that
 * many lines share are formatted once: the instant, the day, and for the four kinds that every user has every day also
 * the text before and after the user's id. */
#include "events_out.h"

#include "base/digits.h"
#include "text_out.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is written out once, and copied in whole words: the bytes behind it are written over by what follows. */
#define HEAD_BEGINS "{\"t\":\""
#define HEAD_ENDS   "\",\"ev\":\""
#define DAY_BEGINS  ",\"day\":\""
enum {
    HEAD_T = sizeof HEAD_BEGINS - 1,
    HEAD_LEN = HEAD_T + DN_INSTANT_TEXT - 1 + sizeof HEAD_ENDS - 1,
    HEAD_ROOM = HEAD_LEN / 8 * 8 + 8,
    DAY_LEN = sizeof DAY_BEGINS - 1 + DN_DAY_TEXT - 1 + 1,
    DAY_ROOM = DAY_LEN / 8 * 8 + 8,
    FRONT_ROOM = 64,
    BEHIND_ROOM = 128,
    LINE_ROOM = 2048, /* more than the longest line and what is copied past its end */
};
_Static_assert(HEAD_LEN + sizeof "finalize\",\"user\":" <= FRONT_ROOM, "the longest of four fits");

/* The last line of a kind: all of one instant begin like it, and most of them end like it. */
typedef struct often {
    int64_t  t_ms;
    uint64_t day_number; /* what the rest of it is made of: see put_often */
    uint64_t how;
    uint32_t front_len, behind_len;
    _Alignas(16) char front_text[FRONT_ROOM];   /* {"t":"…","ev":"start","user": */
    _Alignas(16) char behind_text[BEHIND_ROOM]; /* ,"day":"…","attempt":1} and a newline */
} often;

struct events_out {
    /* Copied into each line: neither lies across two lines of a cache. */
    _Alignas(16) char head[HEAD_ROOM];    /* {"t":"…","ev":" */
    _Alignas(16) char day_text[DAY_ROOM]; /* ,"day":"…" */
    often   enqueued, started, stopped, finalized;
    int64_t t_ms, t_day_ms; /* of the instant in head, and of the day it is in */
    dn_day  day;
    FILE   *file;
    int     failed; /* errno of the first write that failed */
    char    line[LINE_ROOM];
};

/* The line in o->line ends at `end`. After a failed write the rest is dropped: the run fails anyway. */
static inline void line_write(events_out *o, const char *end) {
    const size_t len = (size_t)(end - o->line);

    assert(len <= LINE_ROOM);
    if (o->failed == 0 && fwrite_unlocked(o->line, 1, len, o->file) != len)
        o->failed = errno ? errno : EIO;
}

/* ---- What many lines share ---- */

static void day_set(events_out *o, dn_day day) {
    char text[DN_DAY_TEXT];

    o->day = day;
    dn_day_write(day, text);
    (void)snprintf(o->day_text, sizeof o->day_text, DAY_BEGINS "%s\"", text);
}

static void head_set(events_out *o, int64_t t_ms) {
    char text[DN_INSTANT_TEXT];

    dn_instant_write(t_ms, text);
    (void)snprintf(o->head, sizeof o->head, HEAD_BEGINS "%s" HEAD_ENDS, text);
    o->t_ms = t_ms;
    o->t_day_ms = dn_day_start_ms(dn_day_of_ms(t_ms));
}

static __attribute__((noinline)) void head_move(events_out *o, int64_t t_ms) {
    const int64_t in_day_ms = t_ms - o->t_day_ms;

    if (in_day_ms < 0 || in_day_ms >= DN_DAY_MS) {
        head_set(o, t_ms);
        return;
    }
    text_out_time(o->head + HEAD_T + sizeof "YYYY-MM-DDT" - 1, (uint32_t)in_day_ms);
    o->t_ms = t_ms;
}

/* ---- The parts of a line ---- */

#define PUT(literal) (memcpy(at, literal, sizeof(literal) - 1), at += sizeof(literal) - 1)

static inline char *put_head(events_out *o, char *at, int64_t t_ms) {
    if (t_ms != o->t_ms) head_move(o, t_ms);
    memcpy(at, o->head, HEAD_ROOM);
    return at + HEAD_LEN;
}

/* The id in quotes, and the day. */
static inline char *put_user(events_out *o, char *at, const dn_happening *h) {
    at = text_out_id(at, h->id, h->id_len);
    if (h->day != o->day) day_set(o, h->day);
    memcpy(at, o->day_text, DAY_ROOM);
    return at + DAY_LEN;
}

/* All but ok. */
static __attribute__((noinline)) char *put_failure(char *at, const dn_happening *h) {
    if (h->outcome == DN_OUTCOME_TIMEOUT) {
        PUT(",\"result\":\"timeout\",\"error_class\":null,\"duration_ms\":");
        return at;
    }
    PUT(",\"result\":\"error\",\"error_class\":\"");
    at = text_out_words(at, dn_error_class_text(h->error_class));
    PUT("\",\"duration_ms\":");
    return at;
}

static char *put_nothing(char *at, const dn_happening *h) {
    (void)h;
    return at;
}

static char *put_attempt(char *at, const dn_happening *h) {
    PUT(",\"attempt\":");
    return text_out_number(at, h->attempt);
}

static char *put_stop(char *at, const dn_happening *h) {
    at = put_attempt(at, h);
    if (h->outcome == DN_OUTCOME_OK)
        PUT(",\"result\":\"ok\",\"error_class\":null,\"duration_ms\":");
    else at = put_failure(at, h);
    return text_out_number(at, h->duration_ms);
}

static char *put_finalize(char *at, const dn_happening *h) {
    if (h->status == DN_DAILY_SUCCESS) PUT(",\"status\":\"success\",\"due_bucket\":");
    else PUT(",\"status\":\"cutoff_reached\",\"due_bucket\":");
    return text_out_number(at, h->due);
}

static __attribute__((noinline)) char *put_tick(char *at, const dn_happening *h) {
    PUT("tick\",\"users_scanned\":");
    at = text_out_number(at, (int64_t)h->scanned);
    PUT(",\"eligible_in_window\":");
    at = text_out_number(at, (int64_t)h->eligible);
    PUT(",\"enqueued\":");
    at = text_out_number(at, (int64_t)h->enqueued);
    PUT(",\"cutoff_finalized\":");
    return text_out_number(at, (int64_t)h->cutoffs);
}

static __attribute__((noinline)) char *put_slo(char *at, const event_slo *s) {
    PUT("slo\",\"name\":\"");
    at = text_out_words(at, s->name);
    PUT("\",\"value\":");
    at = text_out_real(at, s->value);
    PUT(",\"threshold\":");
    at = text_out_real(at, s->threshold);
    PUT(",\"state\":\"");
    at = text_out_words(at, s->state);
    PUT("\"");
    return at;
}

/* ---- A line of what happens rarely, or to nobody ---- */

/* Behind "ev":". NULL: it has no line. */
static char *put_other(events_out *o, char *at, const event *e) {
    const dn_happening *h = e->h;

    switch (e->kind) {
    case DN_HAPPENED_TICK: return put_tick(at, h);
    case DN_HAPPENED_IGNORED:
        PUT("ignored\",\"user\":");
        at = put_user(o, at, h);
        PUT(",\"reason\":\"");
        at = text_out_words(at, h->reason);
        PUT("\"");
        return at;
    case DN_HAPPENED_EXPIRED: PUT("expired\",\"user\":"); return put_user(o, at, h);
    case DN_HAPPENED_LATE_SUCCESS: PUT("late_success\",\"user\":"); return put_user(o, at, h);
    case DN_HAPPENED_MISSED: PUT("missed\",\"user\":"); return put_user(o, at, h);
    case DN_HAPPENED_CLOCK: PUT("clock\",\"step_ms\":"); return text_out_number(at, h->step_ms);
    case EVENT_CRASH: PUT("crash\""); return at;
    case EVENT_RESTART: PUT("restart\""); return at;
    case EVENT_STORE_FAILS: PUT("store_fails\",\"for_ms\":"); return text_out_number(at, e->for_ms);
    case EVENT_SLO: return put_slo(at, e->slo);
    default: return NULL;
    }
}

/* ---- A line of the four kinds ---- */

typedef char *put_behind(char *at, const dn_happening *h);

static __attribute__((noinline)) void front_move(events_out *o, often *k, int64_t t_ms) {
    if (t_ms != o->t_ms) head_move(o, t_ms);
    memcpy(k->front_text, o->head, HEAD_LEN);
    k->t_ms = t_ms;
}

static __attribute__((noinline)) void behind_set(events_out *o, often *k, const dn_happening *h,
                                                 put_behind *put) {
    char *at = k->behind_text;

    if (h->day != o->day) day_set(o, h->day);
    memcpy(at, o->day_text, DAY_ROOM);
    at = put(at + DAY_LEN, h);
    PUT("}\n");
    assert(at <= k->behind_text + BEHIND_ROOM);
    k->behind_len = (uint32_t)(at - k->behind_text);
}

/* The rest of it is that of no line yet. */
static void often_begin(events_out *o, often *k, const char *words) {
    k->front_len = (uint32_t)(text_out_words(k->front_text + HEAD_LEN, words) - k->front_text);
    front_move(o, k, 0);
    k->day_number = k->how = UINT64_MAX;
}

/* number: its attempt, or its due. how: it ended, and after how long; of a kind that has neither, 0. Both words stay in
 * registers: a struct of them would be written piece by piece and read as a whole, which a processor waits for.
 * Both texts are copied with all the room they have, or with the half that will do: what is too much is written over by
 * what follows. */
static inline void put_often(events_out *o, often *k, const event *e, uint32_t number, uint64_t how,
                             put_behind *put) {
    const dn_happening *h = e->h;
    const uint64_t      day_number = (uint64_t)(uint32_t)h->day << 32 | number;
    char               *at = o->line;

    if (__builtin_expect(e->t_ms != k->t_ms, 0)) front_move(o, k, e->t_ms);
    if (__builtin_expect(day_number != k->day_number || how != k->how, 0)) {
        behind_set(o, k, h, put);
        k->day_number = day_number;
        k->how = how;
    }
    memcpy(at, k->front_text, FRONT_ROOM);
    at = text_out_id(at + k->front_len, h->id, h->id_len);
    memcpy(at, k->behind_text, BEHIND_ROOM / 2);
    if (k->behind_len > BEHIND_ROOM / 2)
        memcpy(at + BEHIND_ROOM / 2, k->behind_text + BEHIND_ROOM / 2, BEHIND_ROOM / 2);
    line_write(o, at + k->behind_len);
}

void events_out_enqueued(events_out *o, const event *e) {
    put_often(o, &o->enqueued, e, /* number= */ 0, /* how= */ 0, put_nothing);
}

void events_out_started(events_out *o, const event *e) {
    put_often(o, &o->started, e, e->h->attempt, /* how= */ 0, put_attempt);
}

/* Outcome and class take three bits each, and a duration has the other 58: millions of years. */
void events_out_stopped(events_out *o, const event *e) {
    const dn_happening *h = e->h;
    const uint64_t      how =
        (uint64_t)h->duration_ms << 6 | (uint64_t)h->outcome << 3 | (uint64_t)h->error_class;

    _Static_assert(DN_OUTCOME_CRASH < 8 && DN_CLASS_UNKNOWN < 8, "three bits each");
    put_often(o, &o->stopped, e, h->attempt, how, put_stop);
}

void events_out_finalized(events_out *o, const event *e) {
    put_often(o, &o->finalized, e, e->h->due, (uint64_t)e->h->status, put_finalize);
}

/* ---- Any line ---- */

void events_out_tell(events_out *o, const event *e) {
    switch (e->kind) {
    case DN_HAPPENED_ENQUEUED: events_out_enqueued(o, e); return;
    case DN_HAPPENED_STARTED: events_out_started(o, e); return;
    case DN_HAPPENED_STOPPED: events_out_stopped(o, e); return;
    case DN_HAPPENED_FINALIZED: events_out_finalized(o, e); return;
    default: break;
    }
    char *at = put_other(o, put_head(o, o->line, e->t_ms), e);
    if (!at) return;
    PUT("}\n");
    line_write(o, at);
}

/* ---- Its life ---- */

events_out *events_out_new(FILE *file) {
    events_out *o = malloc(sizeof *o);

    if (!o) return NULL;
    o->file = file;
    o->failed = 0;
    o->t_day_ms = 0;
    head_set(o, 0);
    day_set(o, 0);
    often_begin(o, &o->enqueued, "enqueue\",\"user\":");
    often_begin(o, &o->started, "start\",\"user\":");
    often_begin(o, &o->stopped, "stop\",\"user\":");
    often_begin(o, &o->finalized, "finalize\",\"user\":");
    return o;
}

void events_out_free(events_out *out) { free(out); }

int events_out_end(events_out *out, int *out_errno) {
    if (fflush(out->file) != 0 && out->failed == 0) out->failed = errno;
    *out_errno = out->failed;
    return out->failed ? DN_EIO : DN_OK;
}
