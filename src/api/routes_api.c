/* routes_api.c - a request of HTTP as one of ops.h, and its answer as a response.
 * What is not understood is refused by its name, in the query and in the body alike: a typing error is never passed over. */
#include "http/http_uri.h"
#include "routes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PARAM_MAX = 1024,
    DETAIL = HTTP_DETAIL_MAX,
    REAL_DIGITS = 15 /* 0.8, not 0.80000000000000004 */
};

http_response api_json(int status, json_t *value) {
    char *text = value ? json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(REAL_DIGITS)) : NULL;

    json_decref(value);
    if (!text) return http_problem(503, "out of memory");
    return http_answer(status, "application/json", text, strlen(text));
}

__attribute__((format(printf, 2, 3))) static bool refuse(exchange *x, const char *format, ...) {
    char    detail[DETAIL];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(detail, sizeof detail, format, args);
    va_end(args);
    x->response = http_problem(400, detail);
    return false;
}

/* A name as it came, to be shown in a sentence: cut, and without what is no plain character. */
static const char *shown(const char *text, size_t len, char out[48]) {
    size_t at = 0;

    for (; at < len && at < 40; at++)
        out[at] = text[at] >= ' ' && text[at] < 0x7f && text[at] != '"' ? text[at] : '?';
    out[at] = '\0';
    return out;
}

/* ---- The query ---- */

static json_t *number_of(const char *text, size_t len) {
    char *end = NULL;

    if (len == 0 || len > 19 || !((text[0] >= '0' && text[0] <= '9') || text[0] == '-'))
        return NULL;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    return end == text + len && errno == 0 ? json_integer(value) : NULL;
}

static const api_param *param_of(const route *r, http_text name) {
    for (const api_param *p = r->api ? r->api->params : NULL; p && p->name; p++)
        if (http_text_is(name, p->name)) return p;
    return NULL;
}

bool api_knows_query(exchange *x) {
    char name_shown[48];

    for (http_text rest = x->head->query, name, value; http_query_next(&rest, &name, &value);)
        if (!param_of(x->route, name))
            return refuse(x, "there is no parameter \"%s\" here",
                          shown(name.at, name.len, name_shown));
    return true;
}

static bool take_param(exchange *x, json_t *request, http_text name, http_text value) {
    const api_param *p = param_of(x->route, name);
    char             text[PARAM_MAX + 1];
    size_t           len = 0;

    if (json_object_get(request, p->member)) return refuse(x, "\"%s\" is said twice", p->name);
    if (!value.at || http_uri_decode(value, /* in_query= */ true, text, PARAM_MAX, &len) < 0)
        return refuse(x, "\"%s\" has no value, or a longer one than 1024 bytes", p->name);
    text[len] = '\0';
    if (len == 0) return true; /* as a form sends what is not filled in */
    json_t *member = p->is_number ? number_of(text, len) : json_stringn(text, len);
    if (!member)
        return refuse(x, "\"%s\" is %s", p->name, p->is_number ? "no whole number" : "not UTF-8");
    return json_object_set_new(request, p->member, member) == 0 || refuse(x, "out of memory");
}

static bool take_query(exchange *x, json_t *request) {
    for (http_text rest = x->head->query, name, value; http_query_next(&rest, &name, &value);)
        if (!take_param(x, request, name, value)) return false;
    return true;
}

/* ---- The body ---- */

static bool is_member(const api *a, const char *key) {
    for (const char *const *m = a->members; m && *m; m++)
        if (strcmp(*m, key) == 0) return true;
    return false;
}

static bool knows_members(exchange *x, json_t *body) {
    const char *key;
    json_t     *value;
    char        name_shown[48];

    if (!json_is_object(body)) return refuse(x, "the body is to be a JSON object");
    json_object_foreach(body, key, value) if (!is_member(x->route->api, key)) return refuse(
        x, "there is no member \"%s\" here", shown(key, strlen(key), name_shown));
    return true;
}

/* What is wrong with it, in words that mean something to who sent it: line and column say where, and the library's flags
 * are nothing to him. */
static const char *json_fault(json_error_t *error) {
    char *const near = strstr(error->text, " near '");

    switch (json_error_code(error)) {
    case json_error_null_character:
    case json_error_null_byte_in_key: return "\\u0000 stands for no character here";
    default:
        if (near) *near = '\0';
        return error->text;
    }
}

json_t *api_body(exchange *x) {
    json_error_t error;
    json_t      *body =
        x->body_len > 0 ? json_loadb(x->body, x->body_len, JSON_REJECT_DUPLICATES, &error) : NULL;

    if (x->body_len == 0) (void)refuse(x, "a body is wanted: a JSON object");
    else if (!body)
        (void)refuse(x, "the body is not JSON: %s, line %d, column %d", json_fault(&error),
                     error.line, error.column);
    if (body && knows_members(x, body)) return body;
    json_decref(body);
    return NULL;
}

static bool take_body(exchange *x, json_t *request) {
    json_t    *body = api_body(x);
    const bool taken = body && json_object_update(request, body) == 0;

    json_decref(body);
    return taken;
}

/* What stands in the path is meant, whatever else is said. */
static bool take_id(exchange *x, json_t *request) {
    const json_t *said = json_object_get(request, "id");
    json_t       *id = json_stringn(x->id, x->id_len);

    if (!id) return refuse(x, "the id is not UTF-8");
    if (said && !json_equal(said, id)) {
        json_decref(id);
        return refuse(x, "\"id\" is another one than that of the path");
    }
    return json_object_set_new(request, "id", id) == 0 || refuse(x, "out of memory");
}

/* NULL: x->response says why not. */
static json_t *request_of(exchange *x) {
    const api *a = x->route->api;
    json_t    *request = json_object();
    bool       taken = request && take_query(x, request);

    if (taken && x->route->body == ROUTE_JSON) taken = take_body(x, request);
    if (taken && a->has_id) taken = take_id(x, request);
    if (taken && json_object_set_new(request, "op", json_string(a->op)) == 0) return request;
    json_decref(request);
    if (!x->response.status) (void)refuse(x, "out of memory");
    return NULL;
}

/* ---- The answer ---- */

/* What ops.h calls a member is a parameter here, and may have another name. */
static const char *in_our_words(const exchange *x, char out[ASK_WHY]) {
    const char *why = x->ask.why, *end = *why == '"' ? strchr(why + 1, '"') : NULL;

    for (const api_param *p = x->route->api->params; end && p && p->name; p++) {
        const size_t len = strlen(p->member);
        if ((size_t)(end - why - 1) != len || memcmp(why + 1, p->member, len) != 0) continue;
        (void)snprintf(out, ASK_WHY, "\"%s%s", p->name, end);
        return out;
    }
    return why;
}

static http_response refused(const exchange *x) {
    static const struct {
        const char *code;
        int         status;
    } codes[] = {{"invalid", 400},
                 {"not_found", 404},
                 {"conflict", 409},
                 {"full", 507},
                 {"unavailable", 503}};

    char        words[ASK_WHY];
    const char *why = in_our_words(x, words);

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (strcmp(x->ask.code, codes[i].code) == 0) return http_problem(codes[i].status, why);
    return http_problem(500, why);
}

static route_step answered(const route_world *w, exchange *x, ask_step step) {
    if (step == ASK_WAITS) {
        x->call = x->ask.call;
        return ROUTE_WAITS;
    }
    if (step == ASK_REFUSED) return exchange_answer(x, refused(x));
    (void)json_object_del(x->ask.answer, "done");
    return exchange_answer(x, x->route->api->response ? x->route->api->response(w, x, x->ask.answer)
                                                      : api_json(200, json_incref(x->ask.answer)));
}

route_step route_api(dn_self *self, const route_world *w, exchange *x, const dn_msg *reply) {
    if (reply) return answered(w, x, ask_go_on(self, &w->ops, &x->ask, reply));
    json_t *request = request_of(x);
    if (!request) return ROUTE_DONE;
    return answered(w, x, ask_begin(self, &w->ops, &x->ask, request));
}
