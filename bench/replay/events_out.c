/* events_out.c - see events_out.h.
 * A run of millions of user-days spends its time here unless a line costs little more than its bytes: so they are put
 * together by hand in one large buffer, and what many lines share (the instant, the day) is written out once. */
#include "events_out.h"

#include "text_out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The buffer stays in the nearest memory. */
enum { BUFFER = 1 << 17, LINE_MAX = 2048 };

struct events_out {
    int     fd, failed; /* errno of the first write that failed */
    char   *at;
    int64_t t_ms, t_day_ms; /* of the instant in t_text, and of the day it is in */
    dn_day  day;
    char    t_text[DN_INSTANT_TEXT], day_text[DN_DAY_TEXT];
    char    buffer[BUFFER];
};

events_out *events_out_new(int fd) {
    events_out *o = malloc(sizeof *o);

    if (!o) return NULL;
    o->fd = fd;
    o->failed = 0;
    o->at = o->buffer;
    o->t_ms = o->t_day_ms = 0;
    o->day = 0;
    dn_instant_write(o->t_ms, o->t_text);
    dn_day_write(o->day, o->day_text);
    return o;
}

void events_out_free(events_out *out) { free(out); }

static void flush(events_out *o) {
    const char *at = o->buffer;

    while (at < o->at && !o->failed) {
        const ssize_t put = write(o->fd, at, (size_t)(o->at - at));
        if (put < 0 && errno != EINTR) o->failed = errno;
        if (put > 0) at += put;
    }
    o->at = o->buffer;
}

int events_out_end(events_out *out, int *out_errno) {
    flush(out);
    *out_errno = out->failed;
    return out->failed ? DN_EIO : DN_OK;
}

/* ---- The parts of a line ---- */

#define PUT(literal) (memcpy(at, literal, sizeof(literal) - 1), at += sizeof(literal) - 1)

static char *put_day(events_out *o, char *at, dn_day day) {
    if (day != o->day) {
        o->day = day;
        dn_day_write(day, o->day_text);
    }
    memcpy(at, o->day_text, DN_DAY_TEXT - 1);
    return at + DN_DAY_TEXT - 1;
}

static char *put_digits(char *at, uint32_t value, int digits) {
    for (int i = digits - 1; i >= 0; i--, value /= 10) at[i] = (char)('0' + value % 10);
    return at + digits;
}

/* "HH:MM:SS.mmm" over what is there: the date is the same as before. */
static void write_time(char *at, uint32_t ms) {
    at = put_digits(at, ms / 3600000, 2) + 1;
    at = put_digits(at, ms / 60000 % 60, 2) + 1;
    at = put_digits(at, ms / 1000 % 60, 2) + 1;
    (void)put_digits(at, ms % 1000, 3);
}

static char *put_t(events_out *o, char *at, int64_t t_ms) {
    if (t_ms != o->t_ms) {
        const int64_t in_day_ms = t_ms - o->t_day_ms;
        if (in_day_ms >= 0 && in_day_ms < DN_DAY_MS) {
            write_time(o->t_text + sizeof "YYYY-MM-DDT" - 1, (uint32_t)in_day_ms);
        } else {
            dn_instant_write(t_ms, o->t_text);
            o->t_day_ms = dn_day_start_ms(dn_day_of_ms(t_ms));
        }
        o->t_ms = t_ms;
    }
    PUT("{\"t\":\"");
    memcpy(at, o->t_text, DN_INSTANT_TEXT - 1);
    at += DN_INSTANT_TEXT - 1;
    PUT("\",\"ev\":\"");
    return at;
}

static char *put_user(events_out *o, char *at, const dn_happening *h) {
    PUT(",\"user\":");
    at = text_out_string(at, h->id, h->id_len);
    PUT(",\"day\":\"");
    at = put_day(o, at, h->day);
    PUT("\"");
    return at;
}

static char *put_stop(char *at, const dn_happening *h) {
    PUT(",\"attempt\":");
    at = text_out_number(at, h->attempt);
    switch (h->outcome) {
    case DN_OUTCOME_OK: PUT(",\"result\":\"ok\",\"error_class\":null"); break;
    case DN_OUTCOME_TIMEOUT: PUT(",\"result\":\"timeout\",\"error_class\":null"); break;
    case DN_OUTCOME_ERROR:
    case DN_OUTCOME_CRASH:
        PUT(",\"result\":\"error\",\"error_class\":\"");
        at = text_out_words(at, dn_error_class_text(h->cls));
        PUT("\"");
        break;
    }
    PUT(",\"duration_ms\":");
    return text_out_number(at, h->duration_ms);
}

static char *put_finalize(char *at, const dn_happening *h) {
    if (h->status == DN_DAILY_SUCCESS) PUT(",\"status\":\"success\",\"due_bucket\":");
    else PUT(",\"status\":\"cutoff_reached\",\"due_bucket\":");
    return text_out_number(at, h->due);
}

static char *put_tick(char *at, const dn_happening *h) {
    PUT("tick\",\"users_scanned\":");
    at = text_out_number(at, (int64_t)h->scanned);
    PUT(",\"eligible_in_window\":");
    at = text_out_number(at, (int64_t)h->eligible);
    PUT(",\"enqueued\":");
    at = text_out_number(at, (int64_t)h->enqueued);
    PUT(",\"cutoff_finalized\":");
    return text_out_number(at, (int64_t)h->cutoffs);
}

static char *put_slo(char *at, const event_slo *s) {
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

/* ---- A line ---- */

/* Behind "ev":". NULL: it has no line. */
static char *put_rest(events_out *o, char *at, const event *e) {
    const dn_happening *h = e->h;

    switch (e->kind) {
    case DN_HAPPENED_TICK: return put_tick(at, h);
    case DN_HAPPENED_IGNORED:
        PUT("ignored\"");
        at = put_user(o, at, h);
        PUT(",\"reason\":\"");
        at = text_out_words(at, h->reason);
        PUT("\"");
        return at;
    case DN_HAPPENED_ENQUEUED: PUT("enqueue\""); return put_user(o, at, h);
    case DN_HAPPENED_EXPIRED: PUT("expired\""); return put_user(o, at, h);
    case DN_HAPPENED_STARTED:
        PUT("start\"");
        at = put_user(o, at, h);
        PUT(",\"attempt\":");
        return text_out_number(at, h->attempt);
    case DN_HAPPENED_STOPPED: PUT("stop\""); return put_stop(put_user(o, at, h), h);
    case DN_HAPPENED_FINALIZED: PUT("finalize\""); return put_finalize(put_user(o, at, h), h);
    case DN_HAPPENED_LATE_SUCCESS: PUT("late_success\""); return put_user(o, at, h);
    case DN_HAPPENED_MISSED: PUT("missed\""); return put_user(o, at, h);
    case DN_HAPPENED_CLOCK: PUT("clock\",\"step_ms\":"); return text_out_number(at, h->step_ms);
    case EVENT_CRASH: PUT("crash\""); return at;
    case EVENT_RESTART: PUT("restart\""); return at;
    case EVENT_STORE_FAILS: PUT("store_fails\",\"for_ms\":"); return text_out_number(at, e->for_ms);
    case EVENT_SLO: return put_slo(at, e->slo);
    default: return NULL;
    }
}

void events_out_tell(events_out *o, const event *e) {
    char *at = put_rest(o, put_t(o, o->at, e->t_ms), e);

    if (!at) return;
    PUT("}\n");
    o->at = at;
    if (o->buffer + BUFFER - at < LINE_MAX) flush(o);
}
