/* fields.c - see fields.h. */
#include "fields.h"

#include "base/text.h"
#include "domain/daily_rule.h"
#include "http/http_uri.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARAM_MAX = 1024 /* bytes of one value in a query */ };

void field_values_done(field_values *v) {
    free(v->at);
    free(v->text);
    json_decref(v->json);
    *v = (field_values){0};
}

int64_t field_number(const field_value *v, int64_t otherwise) {
    return v->given ? v->number : otherwise;
}

__attribute__((format(printf, 2, 3))) static int refuse(char *why, const char *format, ...) {
    va_list args;

    va_start(args, format);
    (void)vsnprintf(why, FIELDS_WHY, format, args);
    va_end(args);
    return DN_EINVAL;
}

static size_t fields_len(const field *fields) {
    size_t len = 0;

    while (fields && fields[len].name) len++;
    return len;
}

static int values_new(const field *fields, field_values *out) {
    *out = (field_values){.at = calloc(fields_len(fields) + 1, sizeof *out->at)};
    return out->at ? DN_OK : DN_ENOMEM;
}

/* A name as it came, to be quoted in a sentence: cut, and printable. */
static const char *printable(const char *text, size_t len, char out[48]) {
    size_t at = 0;

    for (; at < len && at < 40; at++)
        out[at] = text[at] >= ' ' && text[at] < 0x7f && text[at] != '"' ? text[at] : '?';
    out[at] = '\0';
    return out;
}

/* ---- One value ---- */

static bool is_utf8(const char *text, size_t len) {
    uint32_t c;

    for (size_t at = 0; at < len;) {
        const size_t one = dn_utf8_read(text + at, len - at, &c);
        if (one == 0) return false;
        at += one;
    }
    return true;
}

static int take_number(const field *f, int64_t number, field_value *v, char *why) {
    if (number < f->min || number > f->max)
        return refuse(why, "\"%s\" must be a whole number from %lld to %lld", f->name,
                      (long long)f->min, (long long)f->max);
    v->number = number;
    return DN_OK;
}

static int take_day(const field *f, const char *text, size_t len, field_value *v, char *why) {
    char   quoted[DN_TEXT_QUOTED];
    dn_day day;

    if (dn_day_read(text, len, &day) < 0)
        return refuse(why, "\"%s\": invalid date %s; use YYYY-MM-DD, for example 2026-01-31",
                      f->name, dn_text_quoted(text, len, quoted));
    v->number = day;
    return DN_OK;
}

static int take_time(const field *f, const char *text, size_t len, field_value *v, char *why) {
    char     quoted[DN_TEXT_QUOTED];
    uint32_t due;

    if (dn_due_read(text, len, &due) < 0)
        return refuse(why, "\"%s\": invalid time %s; use HH:MM, for example 08:00", f->name,
                      dn_text_quoted(text, len, quoted));
    v->number = due;
    return DN_OK;
}

static int take_text(const field *f, const char *text, size_t len, field_value *v, char *why) {
    switch (f->type) {
    case FIELD_DAY: return take_day(f, text, len, v, why);
    case FIELD_TIME: return take_time(f, text, len, v, why);
    case FIELD_NUMBER:
    case FIELD_TEXT: break;
    }
    if (!is_utf8(text, len)) return refuse(why, "\"%s\" is not UTF-8", f->name);
    if (f->max > 0 && len > (size_t)f->max)
        return refuse(why, "\"%s\" is longer than %lld bytes", f->name, (long long)f->max);
    v->text = text;
    v->len = len;
    return DN_OK;
}

static int check_required(const field *fields, const field_value *values, char *why) {
    for (size_t i = 0; fields && fields[i].name; i++)
        if (fields[i].required && !values[i].given)
            return refuse(why, "\"%s\" is missing", fields[i].name);
    return DN_OK;
}

/* ---- Queries ---- */

static int read_number(const field *f, const char *text, field_value *v, char *why) {
    char *end = NULL;

    errno = 0;
    const long long number = strtoll(text, &end, 10);
    const bool      digits = (*text >= '0' && *text <= '9') || *text == '-';
    if (!digits || *end || errno)
        return refuse(why, "\"%s\" must be a whole number from %lld to %lld", f->name,
                      (long long)f->min, (long long)f->max);
    return take_number(f, number, v, why);
}

/* Decodes the value to *text and moves that behind it. */
static int take_param(const field *f, http_text value, field_value *v, char **text, char *why) {
    size_t len = 0;

    if (v->given) return refuse(why, "\"%s\" is given twice", f->name);
    if (!value.at) return refuse(why, "\"%s\" has no value", f->name);
    if (http_uri_decode(value, /* in_query= */ true, *text, PARAM_MAX, &len) < 0)
        return refuse(why, "\"%s\" is longer than %d bytes", f->name, PARAM_MAX);
    if (len == 0) return DN_OK;
    char *const at = *text;
    at[len] = '\0';
    *text += len + 1;
    v->given = true;
    if (f->type != FIELD_NUMBER) return take_text(f, at, len, v, why);
    return strlen(at) == len ? read_number(f, at, v, why)
                             : refuse(why, "\"%s\" has a zero byte in it", f->name);
}

static size_t field_named(const field *fields, http_text name) {
    size_t i = 0;

    while (fields && fields[i].name && !http_text_is(name, fields[i].name)) i++;
    return i;
}

int fields_read_query(const field *fields, http_text query, field_values *out_values,
                      char why[FIELDS_WHY]) {
    const size_t len = fields_len(fields);
    char         shown[48];
    int          rc = values_new(fields, out_values);

    if (rc == DN_OK && !(out_values->text = malloc(query.len + len + PARAM_MAX + 1)))
        rc = DN_ENOMEM;
    char *text = out_values->text;
    for (http_text rest = query, name, value;
         rc == DN_OK && http_query_next(&rest, &name, &value);) {
        const size_t i = field_named(fields, name);
        rc = i == len ? refuse(why, "unknown parameter \"%s\"", printable(name.at, name.len, shown))
                      : take_param(&fields[i], value, &out_values->at[i], &text, why);
    }
    return rc == DN_OK ? check_required(fields, out_values->at, why) : rc;
}

/* ---- Bodies ---- */

static int take_member(const field *f, const json_t *value, field_value *v, char *why) {
    if (json_is_null(value) && f->nullable) return DN_OK;
    v->given = true;
    if (f->type == FIELD_NUMBER) {
        if (!json_is_integer(value))
            return refuse(why, "\"%s\" must be a whole number from %lld to %lld", f->name,
                          (long long)f->min, (long long)f->max);
        return take_number(f, json_integer_value(value), v, why);
    }
    if (!json_is_string(value)) return refuse(why, "\"%s\" must be a string", f->name);
    return take_text(f, json_string_value(value), json_string_length(value), v, why);
}

/* The library's message, without its quotation of the text, and without its name for a flag of ours. */
static const char *json_fault(json_error_t *error) {
    char *const near = strstr(error->text, " near '");

    switch (json_error_code(error)) {
    case json_error_null_character:
    case json_error_null_byte_in_key: return "\\u0000 is not allowed";
    default:
        if (near) *near = '\0';
        return error->text;
    }
}

static int load(const char *body, size_t len, json_t **out_json, char *why) {
    json_error_t error;

    if (len == 0) return refuse(why, "a body is required: a JSON object");
    *out_json = json_loadb(body, len, JSON_REJECT_DUPLICATES, &error);
    if (!*out_json)
        return refuse(why, "the body is not JSON: %s, line %d, column %d", json_fault(&error),
                      error.line, error.column);
    return json_is_object(*out_json) ? DN_OK : refuse(why, "the body must be a JSON object");
}

int fields_read_json(const field *fields, const char *body, size_t len, field_values *out_values,
                     char why[FIELDS_WHY]) {
    const size_t known = fields_len(fields);
    const char  *name;
    json_t      *value;
    char         shown[48];
    int          rc = values_new(fields, out_values);

    if (rc == DN_OK) rc = load(body, len, &out_values->json, why);
    if (rc < 0) return rc;
    json_object_foreach(out_values->json, name, value) {
        const size_t i = field_named(fields, (http_text){name, strlen(name)});
        rc = i == known ? refuse(why, "unknown field \"%s\"", printable(name, strlen(name), shown))
                        : take_member(&fields[i], value, &out_values->at[i], why);
        if (rc < 0) return rc;
    }
    return check_required(fields, out_values->at, why);
}
