/* recorder_lines.c - see recorder_lines.h. By hand: of a busy day there are some ten thousand a second. */
#include "recorder_lines.h"

#include "base/civil.h"
#include "base/digits.h"
#include "base/text.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* The place where the next piece goes. */
#define PUT(at, literal) ((at) = put((at), "" literal, sizeof(literal) - 1))

static char *put(char *at, const char *bytes, size_t len) {
    memcpy(at, bytes, len);
    return at + len;
}

static char *put_text(char *at, const char *text) { return put(at, text, strlen(text)); }

/* An id is UTF-8 without control characters: two characters are all there is to escape. */
static __attribute__((noinline)) char *put_escaped(char *at, const char *id, uint8_t len) {
    for (uint8_t i = 0; i < len; i++) {
        if (id[i] == '"' || id[i] == '\\') *at++ = '\\';
        *at++ = id[i];
    }
    return at;
}

static_assert(DN_ID_MAX % 8 == 0, "behind an id is room up to a multiple of 8");

/* Hardly ever is one there: so it is copied and looked at in one, by eights, and put otherwise if it has to be, or if
 * what stands behind it looks as if. */
static inline char *put_id(char *at, const char *id, uint8_t len) {
    bool may_escape = false;

    PUT(at, "\"id\":\"");
    for (size_t done = 0; done < len; done += 8) {
        uint64_t eight;

        memcpy(&eight, id + done, sizeof eight);
        memcpy(at + done, &eight, sizeof eight);
        may_escape |= dn_text_may_escape(eight);
    }
    at = __builtin_expect(may_escape, 0) ? put_escaped(at, id, len) : at + len;
    *at++ = '"';
    return at;
}

static char *put_instant(record_words *w, char *at, int64_t ms) {
    if (!w->has_second || ms < w->second_ms || ms >= w->second_ms + 1000) {
        w->has_second = true;
        w->second_ms = ms - (ms % 1000 + 1000) % 1000;
        dn_instant_write(w->second_ms, w->second_text);
    }
    *at++ = '"';
    at = put(at, w->second_text, DN_INSTANT_TEXT - 5);
    at = dn_digits_pad(at, (uint32_t)(ms - w->second_ms), 3);
    return put(at, "Z\"", 2);
}

static char *put_day(record_words *w, char *at, dn_day day) {
    if (!w->has_day || w->day != day) {
        w->has_day = true;
        w->day = day;
        dn_day_write(day, w->day_text);
    }
    *at++ = '"';
    at = put(at, w->day_text, DN_DAY_TEXT - 1);
    *at++ = '"';
    return at;
}

static char *put_due(char *at, uint32_t due) {
    char text[DN_DUE_TEXT];

    dn_due_write(due, text);
    PUT(at, ",\"due\":\"");
    at = put(at, text, DN_DUE_TEXT - 1);
    *at++ = '"';
    return at;
}

static char *put_op(record_words *w, char *at, int64_t at_ms, const char *op) {
    PUT(at, "{\"at\":");
    at = put_instant(w, at, at_ms);
    PUT(at, ",\"op\":\"");
    at = put_text(at, op);
    PUT(at, "\"");
    return at;
}

static size_t ended(char *out, char *at) {
    PUT(at, "}\n");
    return (size_t)(at - out);
}

/* ---- Lines ---- */

/* A job of which nothing was recorded came to nothing: it was running when the process ended. So does one here. */
#define OTHERWISE "\"default\":{\"result\":\"error\",\"error_class\":\"unknown\",\"duration_ms\":0}"
#define HEADER    "{\"trace\":1,\"start\":\""
#define END       "\",\"end\":\""

size_t record_line_header(char *out, const dn_recorder_config *config, int64_t start_ms,
                          int64_t end_ms, size_t *out_end_at) {
    const dn_service_config   *s = config->service;
    const dn_daily_slo_config *slo = config->slo;
    char                       start[DN_INSTANT_TEXT], end[DN_INSTANT_TEXT];

    dn_instant_write(start_ms, start);
    dn_instant_write(end_ms, end);
    *out_end_at = sizeof(HEADER END) - 1 + DN_INSTANT_TEXT - 1;
    return (size_t)snprintf(
        out, RECORD_LINE_MAX,
        HEADER "%s" END "%s\",\"tick_ms\":%lld,\"window_minutes\":%u,\"retry_delay_minutes\":%u,"
               "\"max_concurrency\":%u,\"job_timeout_ms\":%lld,\"ledger_days\":%u,"
               "\"slo_eval_ms\":%lld,\"slo_window_minutes\":%u,\"breach_consecutive\":%u,"
               "\"sat_ratio\":%.15g,\"depth_avg_max\":%.15g,\"job_p95_max_ms\":%.15g,"
               "\"cutoff_rate_max\":%.15g," OTHERWISE "}\n",
        start, end, (long long)s->tick_ms, s->window_minutes, s->retry_delay_minutes,
        s->max_concurrency, (long long)s->job_timeout_ms, s->ledger_days, (long long)slo->eval_ms,
        slo->window_minutes, slo->breach_consecutive, slo->sat_ratio, slo->depth_avg_max,
        slo->job_p95_max_ms, slo->cutoff_rate_max);
}

bool record_header_end(const char *line, size_t len, int64_t *out_end_ms) {
    const size_t at = sizeof(HEADER END) - 1 + DN_INSTANT_TEXT - 1;

    return len > at + DN_INSTANT_TEXT && memcmp(line, HEADER, sizeof(HEADER) - 1) == 0 &&
           memcmp(line + at - (sizeof(END) - 1), END, sizeof(END) - 1) == 0 &&
           dn_instant_read(line + at, DN_INSTANT_TEXT - 1, out_end_ms) == DN_OK;
}

size_t record_line_begin_with(record_words *w, char *out, int64_t at_ms, const dn_user *u) {
    const char *status = dn_daily_status_text(u->status);
    char       *at = put_op(w, out, at_ms, "user");

    PUT(at, ",");
    at = put_id(at, u->id, u->id_len);
    at = put_due(at, u->due);
    PUT(at, ",\"starts_on\":");
    at = put_day(w, at, u->starts_on);
    if (u->last_day != DN_DAY_NONE) {
        PUT(at, ",\"last_date\":");
        at = put_day(w, at, u->last_day);
        PUT(at, ",\"status\":\"");
        at = put_text(at, status);
        PUT(at, "\"");
    }
    if (u->last_run_ms != INT64_MIN) {
        PUT(at, ",\"last_run_at\":");
        at = put_instant(w, at, u->last_run_ms);
    }
    PUT(at, ",\"context_epoch\":");
    at = dn_digits_write(at, u->context_epoch);
    return ended(out, at);
}

size_t record_line_user(record_words *w, char *out, int64_t at_ms, const record_note *set) {
    char *at = put_op(w, out, at_ms, "user");

    PUT(at, ",");
    at = put_id(at, set->id, set->id_len);
    at = put_due(at, set->due);
    PUT(at, ",\"starts_on\":");
    at = put_day(w, at, set->day);
    return ended(out, at);
}

size_t record_line_remove(record_words *w, char *out, int64_t at_ms, const record_note *removed) {
    char *at = put_op(w, out, at_ms, "remove");

    PUT(at, ",");
    at = put_id(at, removed->id, removed->id_len);
    return ended(out, at);
}

static __attribute__((noinline)) void how_set(record_words *w, uint32_t attempt,
                                              const record_note *stopped) {
    char *at = w->how.text;

    PUT(at, ",\"day\":");
    at = put_day(w, at, stopped->day);
    PUT(at, ",\"attempt\":");
    at = dn_digits_write(at, attempt);
    switch ((dn_outcome)stopped->outcome) {
    case DN_OUTCOME_OK: PUT(at, ",\"result\":\"ok\""); break;
    case DN_OUTCOME_TIMEOUT: PUT(at, ",\"result\":\"timeout\""); break;
    case DN_OUTCOME_ERROR:
    case DN_OUTCOME_CRASH:
        PUT(at, ",\"result\":\"error\",\"error_class\":\"");
        at = put_text(at, dn_error_class_text((dn_error_class)stopped->cls));
        PUT(at, "\"");
        break;
    }
    PUT(at, ",\"duration_ms\":");
    w->how.len = (uint8_t)(at - w->how.text);
    assert(w->how.len <= RECORD_HOW_MAX);
    w->how.day = stopped->day;
    w->how.attempt = attempt;
    w->how.outcome = stopped->outcome;
    w->how.cls = stopped->cls;
}

static __attribute__((noinline)) void when_set(record_words *w, int64_t stopped_ms) {
    char *at = w->when.text;

    PUT(at, ",\"stopped_ms\":");
    at = dn_digits_write(at, stopped_ms);
    PUT(at, "}\n");
    w->when.len = (uint8_t)(at - w->when.text);
    assert(w->when.len <= RECORD_WHEN_MAX);
    w->when.stopped_ms = stopped_ms;
}

size_t record_line_outcome(record_words *w, char *out, int64_t stopped_ms, int64_t duration_ms,
                           uint32_t attempt, const record_note *stopped) {
    char *at = out;

    if (w->how.len == 0 || w->how.day != stopped->day || w->how.attempt != attempt ||
        w->how.outcome != stopped->outcome || w->how.cls != stopped->cls)
        how_set(w, attempt, stopped);
    if (w->when.len == 0 || w->when.stopped_ms != stopped_ms) when_set(w, stopped_ms);
    PUT(at, "{\"op\":\"outcome\",");
    at = put_id(at, stopped->id, stopped->id_len);
    memcpy(at, w->how.text, RECORD_HOW_MAX); /* all of it takes less than to look how much */
    at = dn_digits_write(at + w->how.len, duration_ms);
    memcpy(at, w->when.text, RECORD_WHEN_MAX);
    return (size_t)(at + w->when.len - out);
}

size_t record_line_crash(record_words *w, char *out, int64_t at_ms, int64_t down_ms) {
    char *at = put_op(w, out, at_ms, "crash");

    PUT(at, ",\"down_ms\":");
    return ended(out, dn_digits_write(at, down_ms));
}

size_t record_line_clock(record_words *w, char *out, int64_t at_ms, int64_t step_ms) {
    char *at = put_op(w, out, at_ms, "clock");

    PUT(at, ",\"step_ms\":");
    return ended(out, dn_digits_write(at, step_ms));
}

size_t record_line_store_fails(record_words *w, char *out, int64_t at_ms, int64_t for_ms) {
    char *at = put_op(w, out, at_ms, "store_fails");

    PUT(at, ",\"for_ms\":");
    return ended(out, dn_digits_write(at, for_ms));
}
