/* trace_line.c - a line of a trace, taken apart.
 * Two ways lead to the same: jansson, which takes all of JSON and a dozen allocations for it, and a scanner
 * that takes the lines of programs, which is nearly all of a long trace. The scanner knows nothing of what is right:
 * what it does not take at first sight jansson gets, and refuses or not. */
#include "trace_line.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static_assert((int)DN_TEXT_QUOTED <= (int)TRACE_SHOWN, "a text fits");

const char *const trace_key_names[TRACE_KEYS] = {
#define TRACE_KEY_TEXT(NAME, name) #name,
    TRACE_KEY_NAMES(TRACE_KEY_TEXT)
#undef TRACE_KEY_TEXT
};
static const uint8_t key_lens[TRACE_KEYS] = {
#define TRACE_KEY_LEN(NAME, name) sizeof #name - 1,
    TRACE_KEY_NAMES(TRACE_KEY_LEN)
#undef TRACE_KEY_LEN
};

int trace_key_find(const char *name, size_t len) {
    for (int i = 0; i < TRACE_KEYS; i++)
        if (key_lens[i] == len && memcmp(trace_key_names[i], name, len) == 0) return i;
    return -1;
}

/* ---- By jansson ---- */

static int  parse_refuse(const char *text, size_t len, bool ended, const json_error_t *error,
                         char *fault);
static void excerpt(const char *text, size_t len, const json_error_t *error,
                    char quoted[DN_TEXT_QUOTED]);

int trace_line_parse(const char *text, size_t len, bool ended, trace_line *out_line,
                     char fault[TRACE_FAULT]) {
    const char *const nul = memchr(text, '\0', len);
    json_error_t      error;
    json_t           *root;

    if (nul)
        return dn_refuse(DN_EINVAL, fault, TRACE_FAULT,
                         "the line has a NUL byte at column %zu; a trace is text",
                         (size_t)(nul - text) + 1);
    root = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY, &error);
    if (!root) return parse_refuse(text, len, ended, &error, fault);
    if (!json_is_object(root)) {
        const trace_value value = trace_value_of(root);
        char              shown[TRACE_SHOWN];
        const int         rc = dn_refuse(DN_EINVAL, fault, TRACE_FAULT,
                                         "%s is not an object; each line is one, for example {\"op\":...}",
                                         trace_value_show(&value, shown));

        json_decref(root);
        return rc;
    }
    trace_line_of(root, out_line);
    out_line->root = root;
    return DN_OK;
}

static int parse_refuse(const char *text, size_t len, bool ended, const json_error_t *error,
                        char *fault) {
    const enum json_error_code code = json_error_code(error);
    char                       quoted[DN_TEXT_QUOTED];

    if (code == json_error_out_of_memory) return DN_ENOMEM;
    excerpt(text, len, error, quoted);
    if (code == json_error_duplicate_key)
        return dn_refuse(DN_EINVAL, fault, TRACE_FAULT,
                         "a key is there twice, near column %d: %s; remove one", error->column,
                         quoted);
    if (code == json_error_numeric_overflow)
        return dn_refuse(DN_EINVAL, fault, TRACE_FAULT,
                         "a number is too large, near column %d: %s; use at most 64 bits",
                         error->column, quoted);
    if (!ended)
        return dn_refuse(DN_EINVAL, fault, TRACE_FAULT,
                         "the line is truncated, near column %d: %s; complete or remove it",
                         error->column, quoted);
    if (code == json_error_invalid_utf8)
        return dn_refuse(DN_EINVAL, fault, TRACE_FAULT, "the line is not UTF-8: %s", quoted);
    return dn_refuse(DN_EINVAL, fault, TRACE_FAULT,
                     "the line is not JSON, near column %d: %s; each line is one JSON object",
                     error->column, quoted);
}

void trace_line_done(trace_line *line) { json_decref(line->root); }

void trace_line_of(const json_t *object, trace_line *out_line) {
    const char *name;
    json_t     *value;

    *out_line = (trace_line){0};
    json_object_foreach((json_t *)object, name, value) {
        const int key = trace_key_find(name, strlen(name));

        if (key >= 0) out_line->values[key] = trace_value_of(value);
    }
}

/* What stands where jansson gave up: it says how far it had read. */
static void excerpt(const char *text, size_t len, const json_error_t *error,
                    char quoted[DN_TEXT_QUOTED]) {
    enum { BEFORE = 32, SHOWN = 56 };
    const size_t at = error->position > 0 ? (size_t)error->position : 0;
    const size_t to = at < len ? at : len;
    const size_t from = to > BEFORE ? to - BEFORE : 0;

    dn_text_quoted(text + from, len - from < SHOWN ? len - from : SHOWN, quoted);
}

/* ---- Values ---- */

trace_value trace_value_of(const json_t *json) {
    if (!json || json_is_null(json)) return (trace_value){0};
    if (json_is_string(json))
        return (trace_value){.kind = TRACE_VALUE_TEXT,
                             .text = json_string_value(json),
                             .len = json_string_length(json)};
    if (json_is_integer(json))
        return (trace_value){.kind = TRACE_VALUE_NUMBER, .number = json_integer_value(json)};
    return (trace_value){.kind = TRACE_VALUE_OTHER, .other = json};
}

const char *trace_value_show(const trace_value *value, char out[TRACE_SHOWN]) {
    char *text;

    switch (value->kind) {
    case TRACE_VALUE_NONE: (void)snprintf(out, TRACE_SHOWN, "null"); break;
    case TRACE_VALUE_TEXT: return dn_text_quoted(value->text, value->len, out);
    case TRACE_VALUE_NUMBER:
        (void)snprintf(out, TRACE_SHOWN, "%lld", (long long)value->number);
        break;
    case TRACE_VALUE_OTHER:
        text = json_dumps(value->other, JSON_ENCODE_ANY | JSON_COMPACT | JSON_ENSURE_ASCII |
                                            JSON_REAL_PRECISION(15));
        /* Without memory for it, it is not shown. */
        (void)snprintf(out, TRACE_SHOWN, "%.60s%s", text ? text : "this",
                       text && strlen(text) > 60 ? "..." : "");
        free(text);
        break;
    }
    return out;
}

/* ---- By the scanner ---- */

static const char *blanks_skip(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r')) at++;
    return at;
}

/* The text behind a quote. NULL: it does not end, or has something in it that needs a closer look. */
static const char *text_scan(const char *at, const char *end, trace_value *out_value) {
    const char *const begin = at;

    while (at < end && *at != '"') {
        if ((uint8_t)*at < 0x20 || (uint8_t)*at >= 0x80 || *at == '\\') return NULL;
        at++;
    }
    if (at == end) return NULL;
    *out_value =
        (trace_value){.kind = TRACE_VALUE_TEXT, .text = begin, .len = (size_t)(at - begin)};
    return at + 1;
}

/* A whole number of up to 18 digits. What comes behind it the caller looks at: a point is nothing it takes. */
static const char *number_scan(const char *at, const char *end, trace_value *out_value) {
    const bool        negative = at < end && *at == '-';
    const char *const begin = at + negative;
    int64_t           number = 0;

    for (at = begin; at < end && *at >= '0' && *at <= '9' && at - begin < 18; at++)
        number = number * 10 + (*at - '0');
    if (at == begin || (*begin == '0' && (at - begin > 1 || negative))) return NULL;
    *out_value = (trace_value){.kind = TRACE_VALUE_NUMBER, .number = negative ? -number : number};
    return at;
}

static const char *value_scan(const char *at, const char *end, trace_value *out_value) {
    if (at == end) return NULL;
    if (*at == '"') return text_scan(at + 1, end, out_value);
    if (*at != 'n') return number_scan(at, end, out_value);
    if (end - at < 4 || memcmp(at, "null", 4) != 0) return NULL;
    *out_value = (trace_value){0};
    return at + 4;
}

bool trace_line_scan(const char *text, size_t len, trace_line *out_line) {
    const char *const end = text + len;
    const char       *at = blanks_skip(text, end);
    uint32_t          seen = 0;

    static_assert(TRACE_KEYS <= 32, "a bit for each key");
    *out_line = (trace_line){0};
    if (at == end || *at++ != '{') return false;
    for (;;) {
        trace_value name;
        int         key;

        at = blanks_skip(at, end);
        if (at == end || *at != '"') return false;
        at = text_scan(at + 1, end, &name);
        if (!at) return false;
        key = trace_key_find(name.text, name.len);
        if (key < 0 || (seen & UINT32_C(1) << key)) return false;
        seen |= UINT32_C(1) << key;
        at = blanks_skip(at, end);
        if (at == end || *at++ != ':') return false;
        at = value_scan(blanks_skip(at, end), end, &out_line->values[key]);
        if (!at) return false;
        at = blanks_skip(at, end);
        if (at == end) return false;
        if (*at == '}') return blanks_skip(at + 1, end) == end;
        if (*at++ != ',') return false;
    }
}
