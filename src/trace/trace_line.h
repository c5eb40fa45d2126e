/* trace_line.h - one line of a trace, taken apart: which of the keys there are it has, and with what. */
#ifndef DIURNAL_TRACE_TRACE_LINE_H
#define DIURNAL_TRACE_TRACE_LINE_H

#include <jansson.h>

#include "diurnal/base.h"

/* Of all ops together, and of "default" in the header. */
#define TRACE_KEY_NAMES(X)                                                                         \
    X(AT, at)                                                                                      \
    X(OP, op)                                                                                      \
    X(ID, id)                                                                                      \
    X(DUE, due)                                                                                    \
    X(STARTS_ON, starts_on)                                                                        \
    X(COUNT, count)                                                                                \
    X(PREFIX, prefix)                                                                              \
    X(DAY, day)                                                                                    \
    X(ATTEMPT, attempt)                                                                            \
    X(RESULT, result)                                                                              \
    X(ERROR_CLASS, error_class)                                                                    \
    X(DURATION_MS, duration_ms)                                                                    \
    X(DOWN_MS, down_ms)                                                                            \
    X(STEP_MS, step_ms)                                                                            \
    X(FOR_MS, for_ms)                                                                              \
    X(STOPPED, stopped)                                                                            \
    X(STOPPED_MS, stopped_ms)                                                                      \
    X(LAST_DATE, last_date)                                                                        \
    X(STATUS, status)                                                                              \
    X(LAST_RUN_AT, last_run_at)                                                                    \
    X(CONTEXT_EPOCH, context_epoch)

typedef enum trace_key {
#define TRACE_KEY_ENUM(NAME, name) TRACE_KEY_##NAME,
    TRACE_KEY_NAMES(TRACE_KEY_ENUM)
#undef TRACE_KEY_ENUM
        TRACE_KEYS,
} trace_key;

extern const char *const trace_key_names[TRACE_KEYS];

typedef enum trace_value_kind {
    TRACE_VALUE_NONE, /* the key is not there, or null */
    TRACE_VALUE_TEXT,
    TRACE_VALUE_NUMBER, /* a whole one */
    TRACE_VALUE_OTHER,
} trace_value_kind;

typedef struct trace_value {
    trace_value_kind kind;
    const char      *text; /* TEXT: UTF-8, maybe with NULs; no NUL behind it */
    size_t           len;
    int64_t          number;
    const json_t    *other; /* as its owner has it */
} trace_value;

/* What it has is borrowed from the text it was read from, until trace_line_done. */
typedef struct trace_line {
    trace_value values[TRACE_KEYS];
    json_t     *root; /* the whole line; NULL: trace_line_scan did without */
} trace_line;

/* A sentence about what is wrong with a line, and what would be right; a place is put before it later. */
enum { TRACE_FAULT = 512 };

/* Any object of JSON. DN_EINVAL: it is none, and fault says what it is; ended: a line end stands behind it, so that it
 * is not the begin of one. DN_ENOMEM. */
DN_MUST_USE int trace_line_parse(const char *text, size_t len, bool ended, trace_line *out_line,
                                 char fault[TRACE_FAULT]);

/* The same in a tenth of the time, for a line as programs write it: known keys, once each, plain ASCII without
 * escapes, whole numbers. False: it is another one, or none; out_line says nothing then. */
bool trace_line_scan(const char *text, size_t len, trace_line *out_line);

void trace_line_done(trace_line *line);

/* An object within a line. It goes with it, and there is no trace_line_done for it. */
void trace_line_of(const json_t *object, trace_line *out_line);

/* -1: there is none. */
int trace_key_find(const char *name, size_t len);

/* A value as a sentence may show it: escaped, and shortened. Returns out. */
enum { TRACE_SHOWN = 128 };
trace_value trace_value_of(const json_t *json);
const char *trace_value_show(const trace_value *value, char out[TRACE_SHOWN]);

#endif
