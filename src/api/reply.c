/* reply.c - see reply.h. */
#include "reply.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { REAL_DIGITS = 15 /* 0.8, not 0.80000000000000004 */ };

route_step reply_response(exchange *x, http_response response) {
    x->response = response;
    return ROUTE_DONE;
}

route_step reply_json(exchange *x, int status, json_t *value) {
    char *text = value ? json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(REAL_DIGITS)) : NULL;

    json_decref(value);
    if (!text) return reply_no_memory(x);
    return reply_response(x, http_answer(status, "application/json", text, strlen(text)));
}

route_step reply_page(exchange *x, json_t *items, json_t *cursor) {
    /* json_pack frees what it was given where it fails, and fails where one is NULL. */
    return reply_json(x, 200, json_pack("{s:o, s:o}", "items", items, "next_cursor", cursor));
}

route_step reply_text(exchange *x, int status, const char *text) {
    return reply_response(x, http_answer_text(status, text));
}

route_step reply_empty(exchange *x) { return reply_response(x, (http_response){.status = 204}); }

route_step reply_problem(exchange *x, int status, const char *format, ...) {
    char    detail[HTTP_DETAIL_MAX];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(detail, sizeof detail, format, args);
    va_end(args);
    return reply_response(x, http_problem(status, detail));
}

route_step reply_no_memory(exchange *x) { return reply_problem(x, 503, "out of memory"); }

route_step reply_unauthorized(exchange *x, const char *detail) {
    http_response r = http_problem(401, detail);

    r.fields = "WWW-Authenticate: Bearer realm=\"diurnal\"\r\n";
    return reply_response(x, r);
}

route_step reply_unknown(exchange *x, const char *what) {
    const http_text id = x->captures.at[0];
    char            quoted[DN_TEXT_QUOTED];

    return reply_problem(x, 404, "unknown %s: %s", what, dn_text_quoted(id.at, id.len, quoted));
}

route_step reply_store_error(exchange *x, int status) {
    if (status == DN_EDEAD) return reply_unknown(x, "user");
    if (status == DN_EFULL)
        return reply_problem(
            x, 507, "the disk is full and nothing was written; free some space and try again");
    return reply_problem(x, 500, "%s", dn_error_text(status));
}

void reply_append(json_t **array, json_t *item) {
    if (json_array_append_new(*array, item) == 0) return;
    json_decref(*array);
    *array = NULL;
}
