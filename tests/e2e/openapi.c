/* openapi.c - see openapi.h. */
#include "openapi.h"

#include "schema.h"
#include "test.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

extern const char openapi_json[]; /* of src/api */

const json_t *openapi(void) {
    static json_t *document;
    json_error_t   error;

    if (!document) document = json_loads(openapi_json, JSON_REJECT_DUPLICATES, &error);
    CHECK_MSG(document, "src/api/openapi.json:%d: %s", error.line, error.text);
    return document;
}

const json_t *openapi_at(const json_t *node, const char *path) {
    char step[128];

    node = schema_resolve(openapi(), node);
    while (node && *path) {
        size_t len = 0;
        for (; *path && *path != '/'; path++) {
            const bool escaped = path[0] == '~' && path[1] == '1';
            CHECK(len < sizeof step - 1);
            step[len++] = escaped ? '/' : *path;
            path += escaped;
        }
        step[len] = '\0';
        path += *path == '/';
        node = schema_resolve(openapi(), json_object_get(node, step));
    }
    return node;
}

/* ---- Which operation ---- */

static bool path_fits(const char *pattern, const char *path) {
    for (; *pattern; pattern++) {
        if (*pattern != '{') {
            if (*path++ != *pattern) return false;
            continue;
        }
        path += strcspn(path, "/");
        pattern = strchr(pattern, '}');
    }
    return *path == '\0';
}

const json_t *openapi_operation(const char *method, const char *path, const char **out_pattern) {
    const char *pattern;
    json_t     *item;
    char        key[16];

    (void)snprintf(key, sizeof key, "%s", method);
    for (char *at = key; *at; at++) *at = (char)tolower((unsigned char)*at);
    json_object_foreach(json_object_get(openapi(), "paths"), pattern, item) {
        if (!path_fits(pattern, path)) continue;
        if (out_pattern) *out_pattern = pattern;
        const json_t *own = json_object_get(item, key);
        /* HEAD is GET without the body. */
        if (own || strcmp(key, "head") != 0) return own;
        return json_object_get(item, "get");
    }
    return NULL;
}

/* ---- An answer ---- */

static char fault[2048];

__attribute__((format(printf, 1, 2))) static const char *refuse(const char *format, ...) {
    va_list args;

    va_start(args, format);
    (void)vsnprintf(fault, sizeof fault, format, args);
    va_end(args);
    return fault;
}

typedef struct said {
    const char *fields, *body; /* of the answer */
    int         status;
    bool        for_head;
    char        request[160]; /* "GET /path", for sentences */
} said;

/* The value of a field, or "" if it is not there; valid until the next call. */
static const char *field(const said *s, const char *name) {
    static char  value[512];
    const size_t len = strlen(name);

    for (const char *at = s->fields; at < s->body - 2; at = strstr(at, "\r\n") + 2) {
        if (strncasecmp(at, name, len) != 0 || at[len] != ':') continue;
        at += len + 1;
        at += strspn(at, " ");
        (void)snprintf(value, sizeof value, "%.*s", (int)strcspn(at, "\r"), at);
        return value;
    }
    return "";
}

static const char *json_fault(const said *s, const json_t *schema) {
    const size_t len = strtoul(field(s, "Content-Length"), NULL, 10);
    char         why[SCHEMA_WHY];
    json_t      *value = json_loadb(s->body, len, JSON_REJECT_DUPLICATES, NULL);

    if (!value) return refuse("%s is answered what is no JSON: %.500s", s->request, s->body);
    const bool does = schema_fits(openapi(), schema, value, why);
    json_decref(value);
    if (does) return NULL;
    return refuse("%s is answered %d, and not as src/api/openapi.json describes it: %s; mend its "
                  "schema there, or the answer:\n%.1000s",
                  s->request, s->status, why, s->body);
}

static const char *content_fault(const said *s, const json_t *content) {
    char type[128];

    (void)snprintf(type, sizeof type, "%s", field(s, "Content-Type"));
    type[strcspn(type, ";")] = '\0';
    if (!content && *type)
        return refuse("%s is answered %d with a body, and src/api/openapi.json has no \"content\" "
                      "there",
                      s->request, s->status);
    if (!content) return NULL;
    const json_t *schema = openapi_at(json_object_get(content, type), "schema");
    if (!schema)
        return refuse("%s is answered %d in \"%s\": add that type to the \"content\" of its %d in "
                      "src/api/openapi.json",
                      s->request, s->status, type, s->status);
    const bool unread = s->for_head || *field(s, "Content-Encoding") || !strstr(type, "json");
    return unread ? NULL : json_fault(s, schema);
}

static const char *response_fault(const said *s, const json_t *response) {
    const char *name;
    json_t     *unused;

    json_object_foreach((json_t *)(uintptr_t)json_object_get(response, "headers"), name, unused) {
        if (!*field(s, name))
            return refuse("%s is answered %d without the field %s that src/api/openapi.json "
                          "describes",
                          s->request, s->status, name);
    }
    return content_fault(s, json_object_get(response, "content"));
}

/* What can be answered to any request at all; each operation refers to it once. */
static bool is_of_all(int status) {
    static const int of_all[] = {400, 408, 414, 415, 417, 431, 500, 505};

    for (size_t i = 0; i < sizeof of_all / sizeof *of_all; i++)
        if (of_all[i] == status) return true;
    return false;
}

static const char *operation_fault(const said *s, const json_t *operation) {
    char at[32];

    (void)snprintf(at, sizeof at, "responses/%d", s->status);
    const json_t *own = openapi_at(operation, at);
    if (!own && is_of_all(s->status)) own = openapi_at(operation, "responses/default");
    if (own) return response_fault(s, own);
    return refuse("%s is answered %d: describe that status in its \"responses\" in "
                  "src/api/openapi.json:\n%.1000s",
                  s->request, s->status, s->body);
}

/* Whatever is refused before it comes to a route. */
static const char *problem_fault(const said *s) {
    if (s->status >= 400)
        return response_fault(s, openapi_at(openapi(), "components/responses/Problem"));
    return refuse("%s is answered %d and is not in src/api/openapi.json: add it to its \"paths\"",
                  s->request, s->status);
}

/* What every answer has, whoever asked for whatever. */
static const char *guards_fault(const said *s) {
    static const char *const guards[][2] = {{"X-Content-Type-Options", "nosniff"},
                                            {"Referrer-Policy", "no-referrer"}};

    for (size_t i = 0; i < sizeof guards / sizeof *guards; i++)
        if (strcmp(field(s, guards[i][0]), guards[i][1]) != 0)
            return refuse("%s is answered without %s: %s", s->request, guards[i][0], guards[i][1]);
    const char *policy = field(s, "Content-Security-Policy");
    if (!strstr(policy, "default-src 'none'") || !strstr(policy, "frame-ancestors 'none'") ||
        strstr(policy, "unsafe"))
        return refuse("%s is answered with a policy that is no good: %s", s->request, policy);
    return *field(s, "Cache-Control") ? NULL
                                      : refuse("%s is answered without Cache-Control", s->request);
}

const char *openapi_fault(const char *request, size_t len, const char *answer) {
    static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
    char              line[1024], method[16] = "", path[512] = "";
    said              s = {0};

    if (strncmp(answer, go_on, sizeof go_on - 1) == 0) answer += sizeof go_on - 1;
    s.fields = strstr(answer, "\r\n");
    s.body = strstr(answer, "\r\n\r\n");
    if (strncmp(answer, "HTTP/1.1 ", 9) != 0 || !s.body) return NULL; /* not all of one */
    s.fields += 2;
    s.body += 4;
    s.status = (int)strtol(answer + 9, NULL, 10);
    (void)snprintf(line, sizeof line, "%.*s", len < sizeof line ? (int)len : (int)sizeof line - 1,
                   request);
    const bool is_request = sscanf(line, "%15s %511s", method, path) == 2;
    (void)snprintf(s.request, sizeof s.request, "%s %.120s", method, path);
    s.for_head = strcmp(method, "HEAD") == 0;
    path[strcspn(path, "?")] = '\0';
    const json_t *operation = is_request ? openapi_operation(method, path, NULL) : NULL;
    const char   *guards = guards_fault(&s);
    if (guards) return guards;
    return operation ? operation_fault(&s, operation) : problem_fault(&s);
}

/* ---- Events ---- */

const char *openapi_events_fault(const char *heard) {
    const json_t *events = openapi_at(openapi_operation("GET", "/api/v1/events", NULL),
                                      "responses/200/content/text~1event-stream/x-events");
    char          name[32], why[SCHEMA_WHY];

    for (const char *at = heard; (at = strstr(at, "event: ")); at++) {
        const char *data = strstr(at, "\ndata: "), *end = data ? strstr(data, "\n\n") : NULL;
        if (!end) break; /* it is not whole yet */
        (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(at + 7, "\n"), at + 7);
        const json_t *schema = openapi_at(events, name);
        if (!schema)
            return refuse("an event %s: add it to \"x-events\" in src/api/openapi.json", name);
        json_t *value = json_loadb(data + 7, (size_t)(end - data - 7), 0, NULL);
        if (!value) return refuse("the data of an event %s are no JSON: %.500s", name, data);
        const bool does = schema_fits(openapi(), schema, value, why);
        json_decref(value);
        if (!does)
            return refuse("an event %s is not as src/api/openapi.json describes it: %s", name, why);
    }
    return NULL;
}
