/* trace_header.c - the header: a few instants, an answer, and a table of numbers. */
#include "trace_header.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "trace_judge.h"

#define DEFAULT_MS 500 /* as the contract's header has it */

const trace_number trace_numbers[TRACE_NUMBERS] = {
#define WHOLE(key_, unit_, least_, most_, otherwise_)                                              \
    {                                                                                              \
        .key = #key_, .unit = (unit_), .least = (least_), .most = (most_),                         \
        .otherwise = (otherwise_), .offset = offsetof(trace_settings, key_)                        \
    }
#define RATIO(key_, otherwise_)                                                                    \
    {                                                                                              \
        .key = #key_, .least = 0, .most = 1, .otherwise = (otherwise_), .is_ratio = true,          \
        .offset = offsetof(trace_settings, key_)                                                   \
    }
    WHOLE(tick_ms, "milliseconds", 10, 60000, 60000),
    WHOLE(window_minutes, "minutes", 1, DN_WINDOW_MINUTES_MAX, 60),
    WHOLE(retry_delay_minutes, "minutes", 0, DN_RETRY_MINUTES_MAX, 10),
    WHOLE(max_concurrency, "jobs", 1, 100000, 64),
    WHOLE(job_timeout_ms, "milliseconds", 1, 86400000, 60000),
    WHOLE(ledger_days, "days", 0, 36500, 35),
    WHOLE(slo_eval_ms, "milliseconds", 100, 3600000, 60000),
    WHOLE(slo_window_minutes, "minutes", 1, 1440, 15),
    WHOLE(breach_consecutive, "breaches", 1, 1000, 3),
    RATIO(sat_ratio, 0.8),
    WHOLE(depth_avg_max, "users", 0, 1000000000, 10000),
    WHOLE(job_p95_max_ms, "milliseconds", 1, 86400000, 30000),
    RATIO(cutoff_rate_max, 0.01),
#undef WHOLE
#undef RATIO
};

static int  version_read(const trace_value *value, char *fault);
static int  otherwise_read(const json_t *json, answer *out_answer, char *fault);
static int  number_read(trace_settings *s, const trace_number *number, const trace_value *value,
                        char *fault);
static void number_store(trace_settings *s, const trace_number *number, double value);

int trace_header_read(const trace_line *line, trace_settings *out_settings,
                      char fault[TRACE_FAULT]) {
    const json_t *const root = line->root;
    const trace_value   version = trace_value_of(json_object_get(root, "trace"));
    const trace_value   start = trace_value_of(json_object_get(root, "start"));
    const trace_value   end = trace_value_of(json_object_get(root, "end"));
    trace_settings      s = {0};
    int                 rc = version_read(&version, fault);

    if (rc == DN_OK) rc = trace_judge_instant("start", &start, &s.start_ms, fault);
    if (rc == DN_OK) rc = trace_judge_instant("end", &end, &s.end_ms, fault);
    if (rc == DN_OK && s.end_ms <= s.start_ms) {
        char end_text[TRACE_SHOWN], start_text[TRACE_SHOWN];

        rc = dn_refuse(DN_EINVAL, fault, TRACE_FAULT, "end: %s is not after start, %s",
                       trace_value_show(&end, end_text), trace_value_show(&start, start_text));
    }
    if (rc == DN_OK && (s.start_ms < TRACE_FIRST_MS || s.end_ms > TRACE_BEHIND_MS)) {
        const trace_value *const outside = s.start_ms < TRACE_FIRST_MS ? &start : &end;
        char                     text[TRACE_SHOWN];

        rc = dn_refuse(DN_EINVAL, fault, TRACE_FAULT,
                       "%s: %s is out of range; use the years 1970 to 2261",
                       outside == &start ? "start" : "end", trace_value_show(outside, text));
    }
    if (rc == DN_OK) rc = otherwise_read(json_object_get(root, "default"), &s.otherwise, fault);
    for (size_t i = 0; i < TRACE_NUMBERS && rc == DN_OK; i++) {
        const trace_value value = trace_value_of(json_object_get(root, trace_numbers[i].key));

        if (value.kind == TRACE_VALUE_NONE)
            number_store(&s, &trace_numbers[i], trace_numbers[i].otherwise);
        else rc = number_read(&s, &trace_numbers[i], &value, fault);
    }
    if (rc == DN_OK) rc = trace_header_check(&s, fault);
    if (rc == DN_OK) *out_settings = s;
    return rc;
}

int trace_header_set(trace_settings *s, const char *assignment, char fault[TRACE_FAULT]) {
    const size_t      len = strcspn(assignment, "=");
    const char *const text = assignment + len + (assignment[len] == '=');
    const char       *names[TRACE_NUMBERS], *nearest;
    char              quoted[DN_TEXT_QUOTED];
    trace_value       value;
    json_t           *json;
    int               rc;

    if (assignment[len] != '=')
        return dn_refuse(DN_EINVAL, fault, TRACE_FAULT,
                         "%s has no value; write for example max_concurrency=40",
                         dn_text_quoted(assignment, len, quoted));
    for (size_t i = 0; i < TRACE_NUMBERS; i++) {
        names[i] = trace_numbers[i].key;
        if (strlen(names[i]) != len || memcmp(names[i], assignment, len) != 0) continue;
        json = json_loads(text, JSON_DECODE_ANY, NULL);
        value = trace_value_of(json);
        /* What is no JSON is shown as it is, as a text that is no number. */
        if (value.kind == TRACE_VALUE_NONE)
            value = (trace_value){.kind = TRACE_VALUE_TEXT, .text = text, .len = strlen(text)};
        rc = number_read(s, &trace_numbers[i], &value, fault);
        json_decref(json);
        return rc;
    }
    nearest = dn_text_nearest(assignment, len, names, TRACE_NUMBERS);
    (void)dn_text_quoted(assignment, len, quoted);
    if (nearest)
        return dn_refuse(DN_EINVAL, fault, TRACE_FAULT,
                         "unknown header number %s; did you mean %s?", quoted, nearest);
    return dn_refuse(DN_EINVAL, fault, TRACE_FAULT,
                     "unknown header number %s; write for example max_concurrency=40", quoted);
}

int trace_header_check(const trace_settings *s, char fault[TRACE_FAULT]) {
    const int64_t window_ms = s->window_minutes * DN_MINUTE_MS;

    if (s->job_timeout_ms <= window_ms) return DN_OK;
    return dn_refuse(
        DN_EINVAL, fault, TRACE_FAULT,
        "job_timeout_ms: %lld is longer than the window of %lld minutes; the maximum is %lld",
        (long long)s->job_timeout_ms, (long long)s->window_minutes, (long long)window_ms);
}

static int version_read(const trace_value *value, char *fault) {
    char shown[TRACE_SHOWN];

    if (value->kind == TRACE_VALUE_NONE)
        return dn_refuse(
            DN_EINVAL, fault, TRACE_FAULT,
            "the header is missing; the first line must be like "
            "{\"trace\":1,\"start\":\"2026-03-01T00:00:00Z\",\"end\":\"2026-03-08T00:00:00Z\"}");
    if (value->kind == TRACE_VALUE_NUMBER && value->number == 1) return DN_OK;
    return dn_refuse(DN_EINVAL, fault, TRACE_FAULT, "trace: unknown version %s; use 1",
                     trace_value_show(value, shown));
}

static int otherwise_read(const json_t *json, answer *out_answer, char *fault) {
    const trace_value value = trace_value_of(json);
    char              sentence[TRACE_FAULT], shown[TRACE_SHOWN];
    trace_line        line;
    int               rc;

    *out_answer = (answer){ANSWER_OK, DN_CLASS_NONE, DEFAULT_MS, ANSWER_NOT_RECORDED};
    if (value.kind == TRACE_VALUE_NONE) return DN_OK;
    if (!json_is_object(json))
        return dn_refuse(
            DN_EINVAL, fault, TRACE_FAULT,
            "default: %s is not an answer; use for example {\"result\":\"ok\",\"duration_ms\":500}",
            trace_value_show(&value, shown));
    trace_line_of(json, &line);
    rc = trace_judge_answer(&line, DEFAULT_MS, out_answer, sentence);
    return rc == DN_EINVAL ? dn_refuse(DN_EINVAL, fault, TRACE_FAULT, "default: %s", sentence) : rc;
}

static int number_read(trace_settings *s, const trace_number *number, const trace_value *value,
                       char *fault) {
    char   shown[TRACE_SHOWN];
    double read;

    if (value->kind == TRACE_VALUE_NUMBER) read = (double)value->number;
    else if (number->is_ratio && value->kind == TRACE_VALUE_OTHER && json_is_real(value->other))
        read = json_real_value(value->other);
    else read = number->least - 1;
    if (read >= number->least && read <= number->most) {
        number_store(s, number, read);
        return DN_OK;
    }
    if (number->is_ratio)
        return dn_refuse(DN_EINVAL, fault, TRACE_FAULT,
                         "%s: %s is not a ratio; use a number from 0 to 1", number->key,
                         trace_value_show(value, shown));
    return dn_refuse(DN_EINVAL, fault, TRACE_FAULT,
                     "%s: %s is out of bounds; use a whole number of %s, %.0f to %.0f", number->key,
                     trace_value_show(value, shown), number->unit, number->least, number->most);
}

static void number_store(trace_settings *s, const trace_number *number, double value) {
    const int64_t whole = (int64_t)value;
    char *const   field = (char *)s + number->offset;

    if (number->is_ratio) memcpy(field, &value, sizeof value);
    else memcpy(field, &whole, sizeof whole);
}
