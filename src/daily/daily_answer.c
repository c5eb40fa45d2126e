/* daily_answer.c - see daily_answer.h. */
#include "daily_answer.h"

#include "runner/last_line.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define NAMED_BEGIN "{\"error_class\":\""
#define NAMED_END   "\"}"

/* A longer text is not parsed, because that would hold up the loop. */
enum { READ_MAX = 64 * 1024 };

typedef struct text {
    const char *bytes;
    size_t      len;
} text;

/* An answer of the form that dn_daily_error_new writes needs no parser. DN_CLASS_NONE: it has another form. */
static dn_error_class class_at_once(text t) {
    const size_t begin = sizeof NAMED_BEGIN - 1, end = sizeof NAMED_END - 1;

    if (t.len <= begin + end || memcmp(t.bytes, NAMED_BEGIN, begin) != 0 ||
        memcmp(t.bytes + t.len - end, NAMED_END, end) != 0)
        return DN_CLASS_NONE;
    return dn_error_class_read(t.bytes + begin, t.len - begin - end);
}

/* The class that JSON names; *error_class stays as it is if it names none. False: it is no JSON. */
static bool class_read(text t, dn_error_class *error_class) {
    const dn_error_class at_once = class_at_once(t);

    if (at_once != DN_CLASS_NONE) {
        *error_class = at_once;
        return true;
    }
    json_t *all = json_loadb(
        t.bytes, t.len,
        JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, NULL);
    if (!all) return false;
    const json_t *named = json_object_get(all, "error_class"); /* NULL too if it is no object */
    if (named) {
        *error_class = json_is_string(named) ? dn_error_class_read(json_string_value(named),
                                                                   json_string_length(named))
                                             : DN_CLASS_NONE;
        if (*error_class == DN_CLASS_NONE) *error_class = DN_CLASS_UNKNOWN;
    }
    json_decref(all);
    return true;
}

static bool looks_like_object(text t) {
    size_t i = 0;

    while (i < t.len && memchr(" \t\r\n", t.bytes[i], 4)) i++;
    return i < t.len && t.bytes[i] == '{';
}

/* An empty body claims nothing, whatever its type. JSON that is not declared as such counts if it is JSON: plenty of small
 * servers forget to say it. */
static dn_error_class class_of_body(const dn_run_answer *a, text body, dn_error_class otherwise) {
    dn_error_class found = otherwise;

    if (body.len == 0 || body.len > READ_MAX || a->truncated) return otherwise;
    if (!a->json && !looks_like_object(body)) return otherwise;
    if (!class_read(body, &found)) return a->json ? DN_CLASS_PARSE : otherwise;
    return found;
}

/* A line that begins like an object claims to be one; any other, one too long to be read, and one whose beginning was
 * dropped are just the last thing the process said. */
static dn_error_class class_of_output(const dn_run_answer *a, text output) {
    dn_error_class found = DN_CLASS_UNKNOWN;
    text           line;

    line.bytes = dn_last_line(output.bytes, output.len, &line.len);
    const size_t before = (size_t)(line.bytes - output.bytes);
    if (a->truncated && !memchr(output.bytes, '\n', before)) return DN_CLASS_UNKNOWN;
    if (line.len > READ_MAX || !looks_like_object(line)) return DN_CLASS_UNKNOWN;
    return class_read(line, &found) ? found : DN_CLASS_PARSE;
}

dn_error_class dn_daily_classify(dn_run_result result, const dn_run_answer *a) {
    const text body = {dn_blob_bytes_borrow(a->body), dn_blob_len(a->body)};

    if (dn_run_outcome(result) == DN_OUTCOME_OK || dn_run_outcome(result) == DN_OUTCOME_TIMEOUT)
        return DN_CLASS_NONE;
    switch (dn_run_code_kind(result)) {
    case DN_CODE_TRANSPORT: return DN_CLASS_REQ;
    case DN_CODE_HTTP: /* a redirect is not listened to */
        return dn_run_code(result) < 400 ? DN_CLASS_REQ : class_of_body(a, body, DN_CLASS_REQ);
    case DN_CODE_EXIT: return class_of_output(a, body);
    case DN_CODE_SIGNAL: return DN_CLASS_UNKNOWN;
    case DN_CODE_NONE: break;
    }
    return class_of_body(a, body, DN_CLASS_UNKNOWN);
}

dn_blob *dn_daily_error_new(dn_error_class error_class) {
    char      body[64];
    const int len =
        snprintf(body, sizeof body, NAMED_BEGIN "%s" NAMED_END, dn_error_class_text(error_class));

    return dn_blob_of(body, (size_t)len);
}
