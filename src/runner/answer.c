/* answer.c - see answer.h. */
#include "answer.h"

#include <jansson.h>
#include <string.h>
#include <strings.h>

/* The class an answer names itself; *cls stays where it says nothing of one. False: it is no JSON. */
static bool class_read(const char *body, size_t len, dn_error_class *cls) {
    json_t *all = json_loadb(
        body, len,
        JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, NULL);

    if (!all) return false;
    const json_t *named = json_object_get(all, "error_class"); /* NULL too if it is no object */
    if (named) {
        *cls = json_is_string(named)
                   ? dn_error_class_read(json_string_value(named), json_string_length(named))
                   : DN_CLASS_NONE;
        if (*cls == DN_CLASS_NONE) *cls = DN_CLASS_UNKNOWN;
    }
    json_decref(all);
    return true;
}

/* application/json, or anything/…+json; parameters do not matter. */
static bool claims_json(const char *content_type) {
    const size_t len = content_type ? strcspn(content_type, "; \t") : 0;

    if (len == strlen("application/json") &&
        strncasecmp(content_type, "application/json", len) == 0)
        return true;
    return len > 5 && strncasecmp(content_type + len - 5, "+json", 5) == 0;
}

static bool looks_like_object(const char *body, size_t len) {
    size_t i = 0;

    while (i < len && strchr(" \t\r\n", body[i]) && body[i]) i++;
    return i < len && body[i] == '{';
}

/* - A redirect is not followed and not listened to.
 * - An empty body claims nothing, whatever its type; nor does one too long to be read.
 * - JSON that is not declared as such counts if it is JSON: plenty of small servers forget to say it. */
static dn_error_class class_of_http(uint32_t status, const char *content_type, const char *body,
                                    size_t len, bool cut_short, bool *out_broken) {
    const bool     claims = claims_json(content_type);
    dn_error_class cls = DN_CLASS_REQ;

    *out_broken = false;
    if (status < 400 || len == 0 || cut_short) return DN_CLASS_REQ;
    if (!claims && !looks_like_object(body, len)) return DN_CLASS_REQ;
    *out_broken = !class_read(body, len, &cls) && claims;
    return *out_broken ? DN_CLASS_PARSE : cls;
}

dn_run_result answer_of_http(uint32_t status, const char *content_type, const char *body,
                             size_t len, bool cut_short, bool *out_broken) {
    const dn_error_class cls =
        class_of_http(status, content_type, body, len, cut_short, out_broken);

    if (status >= 200 && status < 300)
        return dn_run_result_of(DN_OUTCOME_OK, DN_CLASS_NONE, status);
    return dn_run_result_of(DN_OUTCOME_ERROR, cls, status);
}

dn_run_result answer_of_exit(int64_t exit_status, int term_signal, const char *line, size_t len,
                             bool cut_short) {
    const uint32_t code =
        term_signal != 0 ? 128 + (uint32_t)term_signal : (uint32_t)exit_status & 0xffff;
    dn_error_class cls = DN_CLASS_UNKNOWN;

    if (code == 0) return dn_run_result_of(DN_OUTCOME_OK, DN_CLASS_NONE, 0);
    /* A line that begins like an object claims to be one; any other, and one too long to be read, is just the last
     * thing it said. */
    if (term_signal == 0 && !cut_short && looks_like_object(line, len) &&
        !class_read(line, len, &cls))
        cls = DN_CLASS_PARSE;
    return dn_run_result_of(DN_OUTCOME_ERROR, cls, code);
}
